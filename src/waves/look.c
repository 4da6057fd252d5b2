// What is made of a state: energy, errors, values at nodes.
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/loop.h"
#include "mesh/build.h"
#include "ops/vector/first_bad.h"
#include "waves/waves.h"

/// What energies and errors are made with: the runs of a state, one after the other.
typedef struct sums {
  kg_wave_look look;
  int group;       ///< of the energy; -1: all
  double *weight;  ///< [look.n_points]: of a rule
  double *sum;     ///< [element of the run][field]
} sums;

void kg_waves_look_free(kg_wave_look *l)
{
  free(l->u);
  free(l->at);
  free(l->matrix);
}

static void sums_free(sums *s)
{
  kg_waves_look_free(&s->look);
  free(s->weight);
  free(s->sum);
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

kedge_status kg_waves_check(kg_waves *w)
{
  int64_t bad;
  KG_TRY(kg_enter(w->ctx));
  KG_TRY(kg_first_bad(
      w->ctx, &(kg_first_bad_args){kg_wave_state(&w->args), w->args.u, &bad, w->args.number}));
  return bad < 0 ? KEDGE_OK : refuse(w, bad);
}

int32_t kg_waves_run(const kg_waves *w)
{
  return w->mesh->n_elements < KG_WAVE_RUN ? w->mesh->n_elements : KG_WAVE_RUN;
}

kedge_status kg_waves_look(kg_waves *w, kg_wave_look *l)
{
  const size_t numbers = (size_t)w->law->n_fields * (size_t)w->nodal.n;
  *l = (kg_wave_look){.w = w};
  KG_TRY(kg_waves_check(w));
  return kg_host_alloc(w->ctx, (size_t)kg_waves_run(w) * numbers, sizeof *l->u, &l->u);
}

kedge_status kg_waves_look_at(kg_wave_look *l, int32_t first)
{
  const int32_t left = l->w->mesh->n_elements - first;
  l->first = first;
  l->n = left < KG_WAVE_RUN ? left : KG_WAVE_RUN;
  return kg_waves_get_elements(l->w, first, l->n, l->u);
}

/// Values of a field of an element of the run at its nodes.
static void gather(const kg_wave_look *l, int32_t e, int f, double *values)
{
  const double *const u = l->u + kg_wave_place(&l->w->args, e - l->first, f, 0);
  for (int i = 0; i < l->w->nodal.n; ++i) values[i] = u[i];
}

static kedge_status allocate_points(kg_wave_look *l, int n_sets, int n_points)
{
  const kg_waves *const w = l->w;
  const size_t n = (size_t)n_sets * (size_t)n_points;
  l->n_points = n_points;
  KG_TRY(kg_host_alloc(w->ctx, n * (size_t)w->mesh->dimension, sizeof *l->at, &l->at));
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

static void fill_matrix(const kg_wave_look *l, int n_sets)
{
  const int d = l->w->mesh->dimension, n = l->n_points;
  for (int i = 0; i < n_sets * n; ++i) {
    const double *const set = l->at + (ptrdiff_t)(i / n) * d * n;
    double at[3];
    for (int k = 0; k < d; ++k) at[k] = set[k * n + i % n];
    kg_waves_row(l->w, at, l->matrix + (ptrdiff_t)i * l->w->nodal.n);
  }
}

static kedge_status sums_begin(kg_waves *w, sums *s)
{
  *s = (sums){.look = {.w = w}};
  KG_TRY(kg_waves_look(w, &s->look));
  return kg_host_alloc(w->ctx, (size_t)kg_waves_run(w) * (size_t)w->law->n_fields, sizeof *s->sum,
                       &s->sum);
}

/// Sum what elements have, in their order, whatever the runs are.
/// @param[in]  work   of an element
/// @param[out] total  [field]
static kedge_status add_up(sums *s, void (*element)(const sums *, int32_t, double *), int64_t work,
                           double *total)
{
  const kg_waves *const w = s->look.w;
  const int fields = w->law->n_fields;
  for (int f = 0; f < fields; ++f) total[f] = 0.0;
  for (int32_t first = 0; first < w->mesh->n_elements; first += KG_WAVE_RUN) {
    KG_TRY(kg_waves_look_at(&s->look, first));
    const int32_t n = s->look.n;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(w->ctx, n, work))
    for (int32_t i = 0; i < n; ++i) element(s, first + i, s->sum + (ptrdiff_t)i * fields);
    for (int f = 0; f < fields; ++f)
      for (int32_t i = 0; i < n; ++i) total[f] += s->sum[(ptrdiff_t)i * fields + f];
  }
  return KEDGE_OK;
}

static void element_energy(const sums *s, int32_t e, double *out)
{
  const kg_waves *const w = s->look.w;
  const kedge_mesh *const mesh = w->mesh;
  const int n = w->nodal.n, fields = w->law->n_fields;
  double weight[KG_WAVE_FIELDS_MAX], u[KG_NODAL_MAX];
  for (int f = 0; f < fields; ++f) out[f] = 0.0;
  if (s->group >= 0 && mesh->element_region[e] != mesh->groups[s->group].tag) return;
  w->law->weights(w->number + (int64_t)e * w->law->n_numbers, weight);
  for (int f = 0; f < fields; ++f) {
    double sum = 0.0;
    gather(&s->look, e, f, u);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) sum += u[i] * w->nodal.mass[i * n + j] * u[j];
    out[f] = 0.5 * w->jacobian[e] * weight[f] * sum;
  }
}

kedge_status kg_waves_energy(kg_waves *w, int group, double *energy)
{
  double total[KG_WAVE_FIELDS_MAX];
  sums s;
  kedge_status status = sums_begin(w, &s);
  s.group = group;
  *energy = 0.0;
  if (status == KEDGE_OK)
    status = add_up(&s, element_energy, (int64_t)w->nodal.n * w->nodal.n, total);
  for (int f = 0; f < w->law->n_fields && status == KEDGE_OK; ++f) *energy += total[f];
  sums_free(&s);
  return status;
}

/// Squares of the errors of an element at the points of a rule.
static void element_errors(const sums *s, int32_t e, double *out)
{
  const kg_wave_look *const l = &s->look;
  const kg_waves *const w = l->w;
  const int n = w->nodal.n, fields = w->law->n_fields;
  double u[KG_WAVE_FIELDS_MAX][KG_NODAL_MAX], exact[KG_WAVE_FIELDS_MAX * KG_WAVE_POINTS];
  for (int f = 0; f < fields; ++f) gather(l, e, f, u[f]), out[f] = 0.0;
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
        out[f] += w->jacobian[e] * s->weight[first + q] * value * value;
      }
  }
}

/// Points of a rule of so many a direction.
static kedge_status rule_of(sums *s, int rows)
{
  kg_wave_look *const l = &s->look;
  const kg_cell *const cell = l->w->nodal.cell;
  const int d = cell->dimension, n = kg_cell_rule_points(cell, rows);
  long double *wide;
  KG_TRY(allocate_points(l, 1, n));
  KG_TRY(kg_host_alloc(l->w->ctx, (size_t)n, sizeof *s->weight, &s->weight));
  KG_TRY(kg_host_alloc(l->w->ctx, (size_t)(n * (d + 1)), sizeof *wide, &wide));
  cell->rule(rows, (long double *const[]){wide, wide + n, wide + 2 * n}, wide + d * n);
  for (int i = 0; i < n * d; ++i) l->at[i] = (double)wide[i];
  for (int i = 0; i < n; ++i) s->weight[i] = (double)wide[d * n + i];
  free(wide);
  fill_matrix(l, 1);
  return KEDGE_OK;
}

/// The state is finite, as kg_waves_look() has seen.
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
  double total[KG_WAVE_FIELDS_MAX];
  sums s;
  kedge_status status = sums_begin(w, &s);
  if (status == KEDGE_OK) status = rule_of(&s, w->nodal.order + 6);
  if (status == KEDGE_OK) {
    kg_problem_set_time(w->problem, t);
    status = add_up(&s, element_errors, (int64_t)s.look.n_points * w->nodal.n, total);
  }
  for (int f = 0; f < w->law->n_fields && status == KEDGE_OK; ++f) {
    error[f] = kg_waves_has_exact(w, f) ? sqrt(total[f]) : 0.0;
    if (!isfinite(error[f])) status = refuse_exact(w, f, t);
  }
  sums_free(&s);
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

kedge_status kg_waves_look_nodes(kg_wave_look *l, int order)
{
  const kg_cell *const cell = l->w->nodal.cell;
  const int n = cell->n_modes(order), n_sets = 1 + kg_mesh_in_space(l->w->mesh);
  KG_TRY(allocate_points(l, n_sets, n));
  for (int set = 0; set < n_sets; ++set)
    kg_waves_nodes_of(cell, order, set == 1, l->at + (ptrdiff_t)set * cell->dimension * n);
  fill_matrix(l, n_sets);
  return KEDGE_OK;
}

void kg_waves_look_values(const kg_wave_look *l, int32_t e, int field, double *values)
{
  const int n = l->w->nodal.n;
  const int set = kg_waves_is_turned(l->w->mesh, e);
  const double *const matrix = l->matrix + (ptrdiff_t)set * l->n_points * n;
  double u[KG_NODAL_MAX];
  gather(l, e, field, u);
  for (int q = 0; q < l->n_points; ++q) {
    values[q] = 0.0;
    for (int i = 0; i < n; ++i) values[q] += matrix[q * n + i] * u[i];
  }
}

void kg_waves_look_places(const kg_wave_look *l, int32_t e, int stride, double *at)
{
  const kedge_mesh *const mesh = l->w->mesh;
  const int d = mesh->dimension, n = l->n_points;
  const int32_t *const v = kg_element_vertices(mesh, e);
  const double *const set = l->at + (ptrdiff_t)kg_waves_is_turned(mesh, e) * d * n;
  for (int q = 0; q < n; ++q)
    for (int k = 0; k < d; ++k) {
      const double first = mesh->vertices[(int64_t)d * v[0] + k];
      double sum = first;
      for (int a = 0; a < d; ++a)
        sum += 0.5 * (1.0 + set[a * n + q]) * (mesh->vertices[(int64_t)d * v[a + 1] + k] - first);
      at[q * stride + k] = sum;
    }
}

kedge_status kg_waves_values(kg_waves *w, int field, int order, double *values)
{
  const kedge_mesh *const mesh = w->mesh;
  kg_wave_look l;
  kedge_status status = kg_waves_look(w, &l);
  if (status == KEDGE_OK) status = kg_waves_look_nodes(&l, order);
  for (int32_t first = 0; first < mesh->n_elements && status == KEDGE_OK; first += KG_WAVE_RUN) {
    status = kg_waves_look_at(&l, first);
    if (status != KEDGE_OK) break;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(w->ctx, l.n, (int64_t)l.n_points * w->nodal.n))
    for (int32_t e = first; e < first + l.n; ++e)
      kg_waves_look_values(&l, e, field, values + (int64_t)mesh->element_origin[e] * l.n_points);
  }
  kg_waves_look_free(&l);
  return status;
}

kedge_status kg_waves_nodes(const kg_waves *w, int order, double *at)
{
  const kedge_mesh *const mesh = w->mesh;
  const int d = mesh->dimension;
  kg_wave_look l = {.w = (kg_waves *)w};
  const kedge_status status = kg_waves_look_nodes(&l, order);
  for (int32_t e = 0; e < mesh->n_elements && status == KEDGE_OK; ++e)
    kg_waves_look_places(&l, e, d, at + (int64_t)mesh->element_origin[e] * l.n_points * d);
  kg_waves_look_free(&l);
  return status;
}
