// What is made of a state: energy, errors, values at nodes.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/loop.h"
#include "mesh/build.h"
#include "ops/vector/first_bad.h"
#include "waves/waves.h"

/// A state in host memory, and a matrix from values at nodes to those at other points.
typedef struct look {
  kg_waves *w;
  double *u;
  int n_points;
  double *at;      ///< [dimension][n_points]
  double *weight;  ///< [n_points]
  double *matrix;  ///< [n_points][n]
  double *sum;     ///< [element][field]
} look;

static void look_free(look *l)
{
  free(l->u);
  free(l->at);
  free(l->matrix);
  free(l->sum);
}

kedge_status kg_waves_refuse(const kg_waves *w, int f)
{
  char why[120] = "";
  if (w->step > w->longest)
    snprintf(why, sizeof why, ": steps of %.6g are longer than %.6g, which is stable", w->step,
             w->longest);
  return KG_FAIL(w->ctx, KEDGE_ERR_NUMERIC, "%s is not finite at t = %.9g, in step %" PRId64 "%s",
                 w->law->fields[f], w->t, w->steps, why);
}

static kedge_status refuse(const kg_waves *w, int64_t i)
{
  const kg_wave_args *const a = &w->args;
  return kg_waves_refuse(w, (int)(i / a->n % a->n_fields));
}

static kedge_status look_begin(kg_waves *w, look *l)
{
  const size_t n = (size_t)kg_wave_state(&w->args);
  *l = (look){.w = w};
  KG_TRY(kg_enter(w->ctx));
  KG_TRY(kg_host_alloc(w->ctx, n, sizeof *l->u, &l->u));
  KG_TRY(kg_host_alloc(w->ctx, (size_t)(w->mesh->n_elements * (int64_t)w->law->n_fields),
                       sizeof *l->sum, &l->sum));
  KG_TRY(kg_waves_get(w, l->u));
  for (size_t i = 0; i < n; ++i)
    if (!isfinite(l->u[i])) return refuse(w, (int64_t)i);
  return KEDGE_OK;
}

kedge_status kg_waves_check(kg_waves *w)
{
  int64_t bad;
  KG_TRY(kg_enter(w->ctx));
  KG_TRY(kg_first_bad(
      w->ctx, &(kg_first_bad_args){kg_wave_state(&w->args), w->args.u, &bad, w->args.number}));
  return bad < 0 ? KEDGE_OK : refuse(w, bad);
}

/// Values of a field of an element at its nodes.
static void gather(const look *l, int32_t e, int f, double *values)
{
  for (int i = 0; i < l->w->nodal.n; ++i) values[i] = l->u[kg_wave_place(&l->w->args, e, f, i)];
}

static kedge_status allocate_points(look *l, int n_points)
{
  const kg_waves *const w = l->w;
  const size_t n = (size_t)n_points, d = (size_t)w->mesh->dimension;
  l->n_points = n_points;
  KG_TRY(kg_host_alloc(w->ctx, n * (d + 1), sizeof *l->at, &l->at));
  l->weight = l->at + n * d;
  return kg_host_alloc(w->ctx, n * (size_t)w->nodal.n, sizeof *l->matrix, &l->matrix);
}

/// Modes at the point times V^-1.
void kg_waves_row(const kg_waves *w, const double *at, double *row)
{
  const kg_nodal *const nodal = &w->nodal;
  long double place[3] = {0}, phi[KG_NODAL_MAX];
  for (int k = 0; k < w->mesh->dimension; ++k) place[k] = at[k];
  nodal->cell->modes(nodal->order, place, phi, NULL);
  for (int j = 0; j < nodal->n; ++j) {
    long double sum = 0.0L;
    for (int i = 0; i < nodal->n; ++i) sum += phi[i] * nodal->modes[i * nodal->n + j];
    row[j] = (double)sum;
  }
}

static void fill_matrix(const look *l)
{
  for (int q = 0; q < l->n_points; ++q) {
    double at[3];
    for (int k = 0; k < l->w->mesh->dimension; ++k) at[k] = l->at[k * l->n_points + q];
    kg_waves_row(l->w, at, l->matrix + q * l->w->nodal.n);
  }
}

/// Sums of the elements, in their order.
static double sum_of(const look *l, int f)
{
  double sum = 0.0;
  for (int64_t e = 0; e < l->w->mesh->n_elements; ++e) sum += l->sum[e * l->w->law->n_fields + f];
  return sum;
}

static void element_energy(const look *l, int32_t e)
{
  const kg_waves *const w = l->w;
  const int n = w->nodal.n, fields = w->law->n_fields;
  double weight[KG_WAVE_FIELDS_MAX], u[KG_NODAL_MAX];
  w->law->weights(w->number + (int64_t)e * w->law->n_numbers, weight);
  for (int f = 0; f < fields; ++f) {
    double sum = 0.0;
    gather(l, e, f, u);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) sum += u[i] * w->nodal.mass[i * n + j] * u[j];
    l->sum[(int64_t)e * fields + f] = 0.5 * w->jacobian[e] * weight[f] * sum;
  }
}

kedge_status kg_waves_energy(kg_waves *w, int group, double *energy)
{
  const kedge_mesh *const mesh = w->mesh;
  look l;
  kedge_status status = look_begin(w, &l);
  *energy = 0.0;
  if (status == KEDGE_OK) {
    const int64_t work = (int64_t)w->nodal.n * w->nodal.n;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(w->ctx, w->mesh->n_elements, work))
    for (int32_t e = 0; e < mesh->n_elements; ++e) {
      if (group < 0 || mesh->element_region[e] == mesh->groups[group].tag)
        element_energy(&l, e);
      else
        memset(l.sum + (int64_t)e * w->law->n_fields, 0, sizeof *l.sum * (size_t)w->law->n_fields);
    }
    for (int f = 0; f < w->law->n_fields; ++f) *energy += sum_of(&l, f);
  }
  look_free(&l);
  return status;
}

/// Squares of the errors of an element at the points of a rule.
static void element_errors(const look *l, int32_t e)
{
  const kg_waves *const w = l->w;
  const int n = w->nodal.n, fields = w->law->n_fields;
  double u[KG_WAVE_FIELDS_MAX][KG_NODAL_MAX], exact[KG_WAVE_FIELDS_MAX * KG_WAVE_POINTS];
  double *const sum = l->sum + (int64_t)e * fields;
  for (int f = 0; f < fields; ++f) gather(l, e, f, u[f]), sum[f] = 0.0;
  for (int first = 0; first < l->n_points; first += KG_WAVE_POINTS) {
    const int left = l->n_points - first, count = left < KG_WAVE_POINTS ? left : KG_WAVE_POINTS;
    double place[3 * KG_WAVE_POINTS];
    for (int k = 0; k < w->mesh->dimension; ++k)
      for (int q = 0; q < count; ++q)
        place[k * KG_WAVE_POINTS + q] = l->at[k * l->n_points + first + q];
    kg_waves_evaluate(w, &w->problem->wave.exact, e, count, place, NULL, KG_WAVE_POINTS, exact);
    for (int f = 0; f < fields; ++f)
      for (int q = 0; q < count; ++q) {
        const double *const row = l->matrix + (size_t)(first + q) * (size_t)n;
        double value = -exact[f * KG_WAVE_POINTS + q];
        for (int i = 0; i < n; ++i) value += row[i] * u[f][i];
        sum[f] += w->jacobian[e] * l->weight[first + q] * value * value;
      }
  }
}

/// Points of a rule of so many a direction.
static kedge_status rule_of(look *l, int rows)
{
  const kg_cell *const cell = l->w->nodal.cell;
  const int d = cell->dimension, n = kg_cell_rule_points(cell, rows);
  long double *wide;
  KG_TRY(allocate_points(l, n));
  KG_TRY(kg_host_alloc(l->w->ctx, (size_t)(n * (d + 1)), sizeof *wide, &wide));
  cell->rule(rows, (long double *const[]){wide, wide + n, wide + 2 * n}, wide + d * n);
  for (int i = 0; i < n * d; ++i) l->at[i] = (double)wide[i];
  for (int i = 0; i < n; ++i) l->weight[i] = (double)wide[d * n + i];
  free(wide);
  fill_matrix(l);
  return KEDGE_OK;
}

/// The state is finite, as look_begin() has seen.
static kedge_status refuse_exact(const kg_waves *w, int f, double t)
{
  const char *const field = w->law->fields[f];
  return kg_problem_fail(w->ctx, w->problem,
                         kg_settings_find(&w->problem->settings, "exact", field),
                         "%s of [exact] is not finite everywhere at t = %.9g; change it so that it "
                         "is, or leave it out",
                         field, t);
}

kedge_status kg_waves_errors(kg_waves *w, double t, double *error)
{
  look l;
  kedge_status status = look_begin(w, &l);
  if (status == KEDGE_OK) status = rule_of(&l, w->nodal.order + 6);
  if (status == KEDGE_OK) {
    const int64_t work = (int64_t)l.n_points * w->nodal.n;
    kg_problem_set_time(w->problem, t);
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(w->ctx, w->mesh->n_elements, work))
    for (int32_t e = 0; e < w->mesh->n_elements; ++e) element_errors(&l, e);
    for (int f = 0; f < w->law->n_fields && status == KEDGE_OK; ++f) {
      error[f] = kg_waves_has_exact(w, f) ? sqrt(sum_of(&l, f)) : 0.0;
      if (!isfinite(error[f])) status = refuse_exact(w, f, t);
    }
  }
  look_free(&l);
  return status;
}

bool kg_waves_is_turned(const kedge_mesh *mesh, int32_t e)
{
  return kg_mesh_in_space(mesh) &&
         kg_space_determinant(mesh->vertices, kg_element_vertices(mesh, e)) < 0.0;
}

void kg_waves_nodes_of(const kg_cell *cell, int order, bool turned, double *at)
{
  const int n = cell->n_modes(order);
  double *const r = at, *const s = at + n, *const t = at + 2 * n;
  cell->nodes(order, (double *const[]){r, turned ? t : s, turned ? s : t});
}

static kedge_status nodes_of(look *l, int order, bool turned)
{
  const kg_cell *const cell = l->w->nodal.cell;
  const int n = cell->n_modes(order);
  free(l->at);
  free(l->matrix);
  l->at = l->matrix = NULL;
  KG_TRY(allocate_points(l, n));
  kg_waves_nodes_of(cell, order, turned, l->at);
  fill_matrix(l);
  return KEDGE_OK;
}

static void element_values(const look *l, int32_t e, int field, double *values)
{
  const int n = l->w->nodal.n;
  double u[KG_NODAL_MAX];
  gather(l, e, field, u);
  double *const out = values + (int64_t)l->w->mesh->element_origin[e] * l->n_points;
  for (int q = 0; q < l->n_points; ++q) {
    out[q] = 0.0;
    for (int i = 0; i < n; ++i) out[q] += l->matrix[q * n + i] * u[i];
  }
}

kedge_status kg_waves_values(kg_waves *w, int field, int order, double *values)
{
  look l;
  kedge_status status = look_begin(w, &l);
  for (int turned = 0; turned <= kg_mesh_in_space(w->mesh) && status == KEDGE_OK; ++turned) {
    status = nodes_of(&l, order, turned);
    if (status != KEDGE_OK) break;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(w->ctx, w->mesh->n_elements, (int64_t)l.n_points * w->nodal.n))
    for (int32_t e = 0; e < w->mesh->n_elements; ++e)
      if (kg_waves_is_turned(w->mesh, e) == turned) element_values(&l, e, field, values);
  }
  look_free(&l);
  return status;
}

kedge_status kg_waves_nodes(const kg_waves *w, int order, double *at)
{
  const kedge_mesh *const mesh = w->mesh;
  const int d = mesh->dimension;
  look l = {.w = (kg_waves *)w};
  kedge_status status = KEDGE_OK;
  for (int turned = 0; turned <= kg_mesh_in_space(mesh) && status == KEDGE_OK; ++turned) {
    status = nodes_of(&l, order, turned);
    for (int32_t e = 0; e < mesh->n_elements && status == KEDGE_OK; ++e) {
      const int32_t *const v = kg_element_vertices(mesh, e);
      double *const out = at + (int64_t)mesh->element_origin[e] * l.n_points * d;
      if (kg_waves_is_turned(mesh, e) != turned) continue;
      for (int q = 0; q < l.n_points; ++q)
        for (int k = 0; k < d; ++k) {
          const double first = mesh->vertices[(int64_t)d * v[0] + k];
          double sum = first;
          for (int a = 0; a < d; ++a)
            sum += 0.5 * (1.0 + l.at[a * l.n_points + q]) *
                   (mesh->vertices[(int64_t)d * v[a + 1] + k] - first);
          out[q * d + k] = sum;
        }
    }
  }
  look_free(&l);
  return status;
}
