// Points whose elements are found once, and the fields of solutions there.
#include "kedge/probe.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/number.h"
#include "core/target.h"
#include "device/context.h"
#include "device/loop.h"
#include "ops/local/quadrature/coefficients.h"
#include "solution/find_points.h"
#include "solution/gather.h"
#include "solution/values.h"

void kedge_probe_destroy(kedge_probe *p)
{
  if (!p) return;
  for (int d = 0; d < 3; ++d) free(p->x[d]);
  free(p->inside);
  free(p->read);
  free(p->element);
  free(p->at);
  free(p);
}

int64_t kedge_probe_count(const kedge_probe *p)
{
  return p ? p->n : 0;
}

int64_t kedge_probe_outside(const kedge_probe *p)
{
  return p ? p->n - p->n_inside : 0;
}

/// A point and its element, to sort.
typedef struct placed {
  int32_t element;
  int64_t point;
} placed;

static int compare_placed(const void *a, const void *b)
{
  const placed *const p = a, *const q = b;
  if (p->element != q->element) return p->element < q->element ? -1 : 1;
  return p->point < q->point ? -1 : p->point > q->point;
}

/// List the points inside by their elements: neighbours share what is brought of a solution.
static kedge_status list_inside(kedge_probe *p)
{
  placed *list;
  KG_TRY(kg_host_alloc(p->ctx, (size_t)p->n, sizeof *list, &list));
  for (int64_t i = 0; i < p->n; ++i)
    if (p->element[i] >= 0) list[p->n_inside++] = (placed){p->element[i], i};
  const size_t n = (size_t)p->n_inside;
  kedge_status status = kg_host_alloc(p->ctx, n, sizeof *p->inside, &p->inside);
  if (status == KEDGE_OK) status = kg_host_alloc(p->ctx, n, sizeof *p->read, &p->read);
  if (status == KEDGE_OK) {
    qsort(list, (size_t)p->n_inside, sizeof *list, compare_placed);
    for (size_t k = 0; k < n; ++k) {
      p->inside[k] = list[k].point;
      p->read[k] = list[k].element;
    }
  }
  free(list);
  return status;
}

/// Say that no point lies in the mesh.
static kedge_status refuse(const kedge_probe *p)
{
  const double *const low = p->mesh->info.low, *const high = p->mesh->info.high;
  if (kg_mesh_in_space(p->mesh))
    return KG_FAIL(
        p->ctx, KEDGE_ERR_INPUT,
        "no point of the probe lies in %s, which has x from %.9g to %.9g, y from %.9g to "
        "%.9g and z from %.9g to %.9g; the first of %lld is (%.9g, %.9g, %.9g)",
        p->mesh->source, low[0], high[0], low[1], high[1], low[2], high[2], (long long)p->n,
        p->x[0][0], p->x[1][0], p->x[2][0]);
  return KG_FAIL(p->ctx, KEDGE_ERR_INPUT,
                 "no point of the probe lies in %s, which has x from %.9g to %.9g and y from %.9g "
                 "to %.9g; the first of %lld is (%.9g, %.9g)",
                 p->mesh->source, low[0], high[0], low[1], high[1], (long long)p->n, p->x[0][0],
                 p->x[1][0]);
}

static kedge_status fill(kedge_probe *p, const double *const *x, const int32_t *element,
                         const double *at)
{
  const size_t n = (size_t)p->n, dimension = (size_t)p->mesh->dimension;
  for (size_t d = 0; d < dimension; ++d) {
    KG_TRY(kg_host_alloc(p->ctx, n, sizeof *p->x[d], &p->x[d]));
    memcpy(p->x[d], x[d], n * sizeof *p->x[d]);
  }
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *p->element, &p->element));
  KG_TRY(kg_host_alloc(p->ctx, n, dimension * sizeof *p->at, &p->at));
  memcpy(p->element, element, n * sizeof *element);
  memcpy(p->at, at, dimension * n * sizeof *at);
  KG_TRY(list_inside(p));
  return p->n_inside > 0 ? KEDGE_OK : refuse(p);
}

kedge_status kg_probe_make(kedge_context *ctx, const kedge_mesh *mesh, int64_t n,
                           const double *const *x, const int32_t *element, const double *at,
                           kedge_probe **out)
{
  static atomic_llong numbers;
  kedge_probe *p;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *p, &p));
  p->ctx = ctx;
  p->number = atomic_fetch_add(&numbers, 1) + 1;
  p->mesh = mesh;
  p->n = n;
  const kedge_status status = fill(p, x, element, at);
  if (status == KEDGE_OK)
    *out = p;
  else
    kedge_probe_destroy(p);
  return status;
}

/// @param[in] x     coordinates, `dimension` arrays
/// @param[in] call  for sentences
static kedge_status create(kedge_context *ctx, const kedge_mesh *mesh, int dimension, int64_t n,
                           const double *const *x, kedge_probe **out, const char *call)
{
  KG_REQUIRE(ctx, out, KEDGE_ERR_ARG, "%s: out is NULL", call);
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh, KEDGE_ERR_ARG, "%s: context or mesh is NULL", call);
  KG_TRY(kg_mesh_check_points(ctx, mesh, dimension, call));
  KG_REQUIRE(ctx, n > 0, KEDGE_ERR_ARG, "%s: the probe has no points", call);
  for (int d = 0; d < dimension; ++d)
    KG_REQUIRE(ctx, x[d], KEDGE_ERR_ARG, "%s: %s is NULL", call,
               dimension == 3 ? "x, y or z" : "x or y");
  int32_t *element;
  double *at = NULL;
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *element, &element));
  kedge_status status = kg_host_alloc(ctx, (size_t)n, (size_t)dimension * sizeof *at, &at);
  if (status == KEDGE_OK) status = kg_points_find(ctx, mesh, n, x, element, at);
  if (status == KEDGE_OK) status = kg_probe_make(ctx, mesh, n, x, element, at, out);
  free(element);
  free(at);
  return status;
}

kedge_status kedge_probe_create(kedge_context *ctx, const kedge_mesh *mesh, int64_t n,
                                const double *x, const double *y, kedge_probe **out)
{
  return create(ctx, mesh, 2, n, (const double *const[]){x, y}, out, "kedge_probe_create");
}

kedge_status kedge_probe_create_space(kedge_context *ctx, const kedge_mesh *mesh, int64_t n,
                                      const double *x, const double *y, const double *z,
                                      kedge_probe **out)
{
  return create(ctx, mesh, 3, n, (const double *const[]){x, y, z}, out, "kedge_probe_create_space");
}

enum { HELD = KG_HELD_U_STAR + 1 };

/// Evaluate fields at a point inside.
static void evaluate(const kedge_probe *p, const kedge_solution *s, const kg_gathered g[HELD],
                     int64_t k, int n_fields, const kedge_field *fields, double *const *values)
{
  const int64_t i = p->inside[k];
  const kg_cell *const cell = kg_block_of(p->mesh, p->element[i])->cell;
  bool scalar = true;
  for (int f = 0; f < n_fields; ++f) scalar = scalar && kg_held_of(fields[f]) != KG_HELD_FLUX;
  kg_point_tables tables;
  kg_point_tables_fill(s, cell, scalar, p->at + cell->dimension * i, &tables);
  for (int f = 0; f < n_fields; ++f)
    kg_field_of(s, &tables.points, fields[f], p->element[i], g[kg_held_of(fields[f])].of[k],
                &values[f][i]);
}

/// @param[out] values  [field] of arrays [n]
static kedge_status evaluate_all(const kedge_probe *p, const kedge_solution *s, int n_fields,
                                 const kedge_field *fields, double *const *values)
{
  kg_gathered g[HELD] = {{0}};
  kedge_status status = KEDGE_OK;
  for (int f = 0; f < n_fields && status == KEDGE_OK; ++f) {
    const kg_held_field held = kg_held_of(fields[f]);
    if (held == KG_HELD_FLUX) status = kg_coefficients_bring(&s->equation);
    if (status == KEDGE_OK && !g[held].of)
      status = kg_gather(s, held, p->n_inside, p->read, &g[held]);
  }
  if (status == KEDGE_OK) {
    for (int f = 0; f < n_fields; ++f)
      for (int64_t i = 0; i < p->n; ++i) values[f][i] = NAN;
#pragma omp parallel for schedule(dynamic, 16) \
    num_threads(kg_loop_threads(s->ctx, p->n_inside, 1000))
    for (int64_t k = 0; k < p->n_inside; ++k) evaluate(p, s, g, k, n_fields, fields, values);
  }
  for (int h = 0; h < HELD; ++h) kg_gathered_free(&g[h]);
  return status;
}

static kedge_status check(const kedge_probe *p, const kedge_solution *s, const char *call)
{
  KG_REQUIRE(p ? p->ctx : NULL, p && s, KEDGE_ERR_ARG, "%s: probe or solution is NULL", call);
  KG_REQUIRE(s->ctx, p->mesh == s->mesh, KEDGE_ERR_ARG,
             "%s: probe and solution are of two mesh objects", call);
  return kg_solution_check_full(s, call);
}

kedge_status kedge_probe_values(const kedge_probe *p, const kedge_solution *s, kedge_field field,
                                double *values)
{
  KG_TRY(check(p, s, "kedge_probe_values"));
  KG_REQUIRE(s->ctx, values && (int)field >= 0 && (int)field < kg_mesh_fields(s->mesh),
             KEDGE_ERR_ARG, "kedge_probe_values: there is no field %d, or the array is NULL",
             (int)field);
  return evaluate_all(p, s, 1, &field, &values);
}

/// The columns behind coordinates and region; a table of the plane has those of its fields.
static const kedge_field columns[KEDGE_FIELD_COUNT] = {
    KEDGE_FIELD_U,  KEDGE_FIELD_U_STAR,  KEDGE_FIELD_QX,      KEDGE_FIELD_QY,
    KEDGE_FIELD_QZ, KEDGE_FIELD_SIGMA_X, KEDGE_FIELD_SIGMA_Y, KEDGE_FIELD_SIGMA_Z};

typedef struct table {
  const kedge_probe *probe;
  int n_fields;
  kedge_field field[KEDGE_FIELD_COUNT];
  double *values[KEDGE_FIELD_COUNT];  ///< [n] of each column
} table;

static void put_number(FILE *to, const char *before, double value)
{
  char text[32];
  kg_number_print(text, value);
  fprintf(to, "%s%s", before, text);
}

static void put_table(FILE *to, void *user)
{
  static const char *const before[] = {"", ",", ","};
  const table *const t = user;
  const kedge_probe *const p = t->probe;
  fputs(kg_mesh_in_space(p->mesh) ? "x,y,z,region,u,u_star,qx,qy,qz,sigma_x,sigma_y,sigma_z\n"
                                  : "x,y,region,u,u_star,qx,qy,sigma_x,sigma_y\n",
        to);
  for (int64_t i = 0; i < p->n; ++i) {
    for (int d = 0; d < p->mesh->dimension; ++d) put_number(to, before[d], p->x[d][i]);
    if (p->element[i] >= 0)
      fprintf(to, ",%d", (int)p->mesh->element_region[p->element[i]]);
    else
      putc(',', to);
    for (int f = 0; f < t->n_fields; ++f)
      if (p->element[i] >= 0)
        put_number(to, ",", t->values[f][i]);
      else
        putc(',', to);
    putc('\n', to);
  }
}

/// Whether a list, with "; " between its sentences, has one of them.
static bool has_sentence(const char *list, const char *sentence)
{
  for (const char *at = list; (at = strstr(at, sentence)) != NULL; ++at)
    if (at == list || (at - list >= 2 && memcmp(at - 2, "; ", 2) == 0)) return true;
  return false;
}

/// Have the report say, once, that a file has points without values.
static void note(const kedge_probe *p, kedge_solution *s, const char *path)
{
  if (!s->report.probe_note) s->probe_note[0] = '\0';  // a solve has begun a new report
  s->report.probe_note = s->probe_note;
  if (kedge_probe_outside(p) == 0) return;
  char sentence[400];
  snprintf(sentence, sizeof sentence,
           "%.300s: %lld of %lld points lie outside of the mesh and have no values", path,
           (long long)kedge_probe_outside(p), (long long)p->n);
  const size_t n = strlen(s->probe_note);
  if (!has_sentence(s->probe_note, sentence))
    snprintf(s->probe_note + n, sizeof s->probe_note - n, "%s%s", n > 0 ? "; " : "", sentence);
}

kedge_status kedge_probe_write(const kedge_probe *p, kedge_solution *s, const char *path)
{
  KG_TRY(check(p, s, "kedge_probe_write"));
  KG_REQUIRE(s->ctx, path, KEDGE_ERR_ARG, "kedge_probe_write: path is NULL");
  table t = {.probe = p};
  double *memory;
  for (int f = 0; f < KEDGE_FIELD_COUNT; ++f)
    if ((int)columns[f] < kg_mesh_fields(p->mesh)) t.field[t.n_fields++] = columns[f];
  KG_TRY(kg_host_alloc(s->ctx, (size_t)p->n, (size_t)t.n_fields * sizeof *memory, &memory));
  for (int f = 0; f < t.n_fields; ++f) t.values[f] = memory + f * p->n;
  kedge_status status = evaluate_all(p, s, t.n_fields, t.field, t.values);
  if (status == KEDGE_OK) status = kg_target_stream(s->ctx, path, "probe", put_table, &t);
  free(memory);
  if (status == KEDGE_OK) note(p, s, path);
  return status;
}
