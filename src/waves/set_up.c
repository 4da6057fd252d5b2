#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/loop.h"
#include "problem/located.h"
#include "waves/waves.h"

enum { LANES = KG_WAVE_LANES };

/// What the device reads of the elements, in host memory first.
typedef struct tables {
  kg_waves *w;
  int facets;
  double *gradient, *facet, *medium;
  int32_t *beyond;
  kg_wave_side *boundary;
  const kg_boundary **of;  ///< [group]
} tables;

/// A straight element.
typedef struct shape {
  double g[3][3];  ///< g_a
  double jacobian;
  double slope[KG_FACETS_MAX][3];  ///< grad L of the corner opposite each facet
  double radius;                   ///< of the inscribed circle or sphere
} shape;

static void invert(int n, const double m[3][3], double inverse[3][3], double *determinant)
{
  if (n == 2) {
    *determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    inverse[0][0] = m[1][1] / *determinant;
    inverse[0][1] = -m[0][1] / *determinant;
    inverse[1][0] = -m[1][0] / *determinant;
    inverse[1][1] = m[0][0] / *determinant;
    return;
  }
  double cofactor[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
      cofactor[i][j] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
    }
  *determinant = m[0][0] * cofactor[0][0] + m[0][1] * cofactor[0][1] + m[0][2] * cofactor[0][2];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) inverse[i][j] = cofactor[j][i] / *determinant;
}

static shape shape_of(const kedge_mesh *mesh, int32_t element)
{
  const int n = mesh->dimension;
  const int32_t *const v = kg_element_vertices(mesh, element);
  const double *const origin = mesh->vertices + (int64_t)n * v[0];
  double to[3][3] = {{0.0}}, determinant, sum = 0.0;
  shape s;
  for (int a = 0; a < n; ++a)  // dx_k / dr_a
    for (int k = 0; k < n; ++k)
      to[k][a] = 0.5 * (mesh->vertices[(int64_t)n * v[a + 1] + k] - origin[k]);
  invert(n, to, s.g, &determinant);
  s.jacobian = fabs(determinant);
  for (int l = 0; l <= n; ++l) {
    const int corner = n == 2 ? (l + 2) % 3 : l;
    double square = 0.0;
    for (int k = 0; k < n; ++k) {
      s.slope[l][k] = corner > 0 ? 0.5 * s.g[corner - 1][k] : 0.0;
      for (int a = 0; corner == 0 && a < n; ++a) s.slope[l][k] -= 0.5 * s.g[a][k];
      square += s.slope[l][k] * s.slope[l][k];
    }
    sum += sqrt(square);
  }
  s.radius = 1.0 / sum;
  return s;
}

static void put_shape(const tables *t, int32_t element, const shape *s)
{
  const int n = t->w->mesh->dimension, lane = element % LANES;
  const int64_t group = element / LANES;
  for (int a = 0; a < n; ++a)
    for (int k = 0; k < n; ++k) t->gradient[((group * n + a) * n + k) * LANES + lane] = s->g[a][k];
  for (int l = 0; l < t->facets; ++l) {
    double *const facet = t->facet + (group * t->facets + l) * (n + 1) * LANES + lane;
    double square = 0.0;
    for (int k = 0; k < n; ++k) square += s->slope[l][k] * s->slope[l][k];
    for (int k = 0; k < n; ++k) facet[k * LANES] = -s->slope[l][k] / sqrt(square);
    facet[n * LANES] = 2.0 * sqrt(square);
  }
}

/// Sides of neighbours, and the boundary in the order of its edges.
static void put_neighbours(const tables *t, int32_t element, const int32_t *boundary_of)
{
  const kedge_mesh *const mesh = t->w->mesh;
  const int64_t group = element / LANES;
  for (int l = 0; l < t->facets; ++l) {
    const kg_side own = kg_side_of(element, l);
    const int64_t edge = kg_side_edge(mesh, own);
    const kg_side *const sides = mesh->edge_sides + 2 * edge;
    const kg_side other = sides[0] == own ? sides[1] : sides[0];
    t->beyond[(group * t->facets + l) * LANES + element % LANES] =
        other == KG_NO_SIDE ? -1 - boundary_of[edge] : (int32_t)other;
  }
}

/// Elements that fill the last group: they are their own neighbours, and nothing moves them.
static void fill_group(const tables *t)
{
  const kg_waves *const w = t->w;
  for (int32_t e = w->mesh->n_elements; e < w->args.n_groups * LANES; ++e) {
    const int64_t group = e / LANES;
    for (int l = 0; l < t->facets; ++l)
      t->beyond[(group * t->facets + l) * LANES + e % LANES] = (int32_t)kg_side_of(e, l);
    for (int k = 0; k < w->law->n_numbers; ++k)
      t->medium[(group * w->law->n_numbers + k) * LANES + e % LANES] = 1;
  }
}

/// The function of a property of a region: its own, else that of [equation].
static const kg_function *property_of(const kg_waves *w, const kg_coefficients *section, int k)
{
  const int place = kg_word_among(kg_wave_properties, KG_WAVE_PROPERTIES, w->law->properties[k]);
  const kg_function *const own = &section->property[place];
  return own->kind != KG_FUNCTION_NONE ? own : &w->problem->equation.property[place];
}

static kedge_status refuse_property(const kg_waves *w, int32_t element, int k, double value)
{
  const char *const key = w->law->properties[k], *name;
  double at[3];
  kg_element_middle(w->mesh, element, at);
  const kg_setting *const setting =
      kg_coefficient_setting(w->problem, w->mesh, w->mesh->element_region[element], key, &name);
  return kg_problem_fail(w->ctx, w->problem, setting,
                         "%s must be %s, and in element %d (from 0) at x = %.6g, y = %.6g it is %g",
                         key, w->law->may_be_zero[k] ? "zero or positive" : "positive",
                         w->mesh->element_origin[element], at[0], at[1],
                         isnan(value) ? (double)NAN : value);
}

/// Properties are those of the middle of each element.
static kedge_status put_media(const tables *t, const kg_coefficients **section)
{
  const kg_waves *const w = t->w;
  const kg_law *const law = w->law;
  const kedge_mesh *const mesh = w->mesh;
  const int first = kg_line_groups(mesh);
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    double memory[KG_LOCATED], x[3], property[KG_WAVE_PROPERTIES_MAX];
    const kg_located at = kg_located_in(memory, 1);
    kg_locate_middle(&at, 0, 1, mesh, e, x);
    const kedge_points point = kg_located_at(&at, mesh, 1, x, 1);
    int g = first;
    while (g + 1 < mesh->n_groups && mesh->groups[g].tag != mesh->element_region[e]) ++g;
    const kg_coefficients *const own = g < mesh->n_groups ? section[g] : &w->problem->equation;
    for (int k = 0; k < law->n_properties; ++k) {
      const kg_function *const f = property_of(w, own, k);
      property[k] = law->may_be_zero[k] ? 0.0 : 1.0;
      if (f->kind != KG_FUNCTION_NONE) kg_function_evaluate(f, &point, &property[k]);
      const bool good = property[k] > 0.0 || (law->may_be_zero[k] && property[k] == 0.0);
      if (!good || !isfinite(property[k])) return refuse_property(w, e, k, property[k]);
    }
    double *const number = w->number + (int64_t)e * law->n_numbers;
    law->medium(property, number);
    for (int k = 0; k < law->n_numbers; ++k)
      t->medium[((int64_t)(e / LANES) * law->n_numbers + k) * LANES + e % LANES] = number[k];
  }
  return KEDGE_OK;
}

static bool is_given(const kg_wave_values *values)
{
  bool any = false;
  for (int i = 0; i < KG_WAVE_FIELDS; ++i) any = any || values->of[i].kind != KG_FUNCTION_NONE;
  return any;
}

static bool moves(const kg_wave_values *values)
{
  bool any = false;
  for (int i = 0; i < KG_WAVE_FIELDS; ++i)
    any = any || kg_function_uses_t(&values->of[i]) || kg_function_of_caller(&values->of[i]);
  return any;
}

/// What a boundary does, and its data; NULL: they are 0. What lets waves in has those of [exact]
/// where it has none of its own.
static kedge_status boundary_of(const kg_waves *w, const kg_boundary *b, int32_t *kind,
                                const kg_wave_values **values)
{
  if (!b->type_at)
    return kg_problem_fail(w->ctx, w->problem, b->value_at, "[boundary %s] has no type", b->group);
  for (int k = 0; k < KG_WAVE_KINDS; ++k)
    if (w->law->boundaries[k] &&
        strcmp(w->law->boundaries[k], kg_wave_boundaries[b->wave_type]) == 0)
      *kind = k;
  *values = is_given(&b->wave) ? &b->wave : NULL;
  if (*values && *kind == KG_WAVE_ABSORBS)
    return kg_problem_fail(w->ctx, w->problem, b->value_at,
                           "[boundary %s] is absorbing and has fields, which only type = incident "
                           "lets in; leave them out or change the type",
                           b->group);
  if (*values || *kind != KG_WAVE_ENTERS) return KEDGE_OK;
  *values = &w->problem->wave.exact;
  if (is_given(*values)) return KEDGE_OK;
  return kg_problem_fail(
      w->ctx, w->problem, b->type_at,
      "[boundary %s] is incident and has no field, and there is none in [exact]; "
      "add %s = ...",
      b->group, w->law->fields[0]);
}

/// Facets with data, those that move first. @param[out] number  [edge]
static kedge_status put_boundary(tables *t, int32_t *number)
{
  kg_waves *const w = t->w;
  const kedge_mesh *const mesh = w->mesh;
  int32_t n = 0;
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge)
    if (mesh->edge_sides[2 * (int64_t)edge + 1] == KG_NO_SIDE) number[edge] = n++;
  for (int wanted = 1; wanted >= 0; --wanted) {
    for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
      if (mesh->edge_sides[2 * (int64_t)edge + 1] != KG_NO_SIDE) continue;
      kg_wave_side *const side = &t->boundary[number[edge]];
      const kg_wave_values *values = NULL;
      KG_TRY(boundary_of(w, t->of[mesh->edge_group[edge]], &side->kind, &values));
      if (!values && wanted == 1) side->data = -1;
      if (!values || moves(values) != (wanted == 1)) continue;
      side->data = w->n_facets;
      w->facet[w->n_facets++] = (kg_wave_facet){mesh->edge_sides[2 * (int64_t)edge], values};
    }
    if (wanted == 1) w->n_moving = w->n_facets;
  }
  return KEDGE_OK;
}

static void evaluate_facet(const kg_waves *w, int32_t i)
{
  const int n = w->nodal.n_facet, dimension = w->mesh->dimension;
  const kg_wave_facet *const f = &w->facet[i];
  const int l = kg_side_facet(f->side);
  const shape s = shape_of(w->mesh, kg_side_element(f->side));
  double place[3 * KG_WAVE_POINTS], normal[3] = {0.0}, square = 0.0;
  for (int k = 0; k < dimension; ++k) square += s.slope[l][k] * s.slope[l][k];
  for (int k = 0; k < dimension; ++k) normal[k] = -s.slope[l][k] / sqrt(square);
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < dimension; ++k)
      place[k * n + j] = w->nodal.at[k * w->nodal.n + w->nodal.facet_node[l * n + j]];
  kg_waves_evaluate(w, f->values, kg_side_element(f->side), n, place, normal, (size_t)n,
                    w->data + (int64_t)i * w->law->n_fields * n);
}

kedge_status kg_waves_data(kg_waves *w, int32_t n)
{
  const int64_t size = (int64_t)w->law->n_fields * w->nodal.n_facet;
  if (n == 0) return KEDGE_OK;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(w->ctx, n, 10 * size))
  for (int32_t i = 0; i < n; ++i) evaluate_facet(w, i);
  for (int64_t i = 0; i < n * size; ++i)
    KG_REQUIRE(w->ctx, isfinite(w->data[i]), KEDGE_ERR_INPUT,
               "the field %s of a boundary is %g at t = %.9g",
               w->law->fields[i / w->nodal.n_facet % w->law->n_fields],
               isnan(w->data[i]) ? (double)NAN : w->data[i], w->problem->t);
  return kg_waves_put(w, w->boundary.data, w->data, n * size);
}

/// The longest step of cfl 1, which damping shortens too.
static void find_step(kg_waves *w)
{
  const int order = w->nodal.order;
  const double by_order = 6.0 / ((order + 1.0) * (order + 3.0));
  w->longest = INFINITY;
  for (int32_t e = 0; e < w->mesh->n_elements; ++e) {
    const double *const number = w->number + (int64_t)e * w->law->n_numbers;
    const shape s = shape_of(w->mesh, e);
    w->jacobian[e] = s.jacobian;
    w->longest = fmin(w->longest, by_order * s.radius / w->law->speed(number));
    w->longest = fmin(w->longest, 1.0 / w->law->damping(number));
  }
}

/// A table for the device.
typedef struct table {
  const void *from;
  size_t n;
  size_t size;  ///< of an entry; 0: it is a double here, and of args.number there
  void *to;     ///< address of the pointer of kg_wave_args
} table;

/// Copy to the device, where tables lie one behind the other.
static kedge_status put(kg_waves *w, size_t *used, const table *t)
{
  char *const there = (char *)w->tables.data + *used;
  const size_t size = t->size ? t->size : kg_number_bytes(w->args.number);
  *used += kg_rounded(t->n * size);
  memcpy(t->to, &there, sizeof there);
  return t->size ? kg_copy_in(w->ctx, there, t->from, t->n * size)
                 : kg_waves_put(w, there, t->from, (int64_t)t->n);
}

static kedge_status upload(const tables *t, int64_t n_boundary)
{
  enum { TABLES = 8 };
  kg_waves *const w = t->w;
  kg_wave_args *const a = &w->args;
  const kg_nodal *const nodal = &w->nodal;
  const size_t n = (size_t)nodal->n, d = (size_t)a->dimension, facets = d + 1;
  const size_t lanes = (size_t)a->n_groups * LANES, columns = facets * (size_t)nodal->n_facet;
  const table list[TABLES] = {
      {nodal->derivative, d * n * n, 0, &a->derivative},
      {nodal->lift, n * columns, 0, &a->lift},
      {nodal->facet_node, columns, sizeof(int32_t), &a->facet_node},
      {t->gradient, lanes * d * d, 0, &a->gradient},
      {t->facet, lanes * facets * (d + 1), 0, &a->facet},
      {t->medium, lanes * (size_t)a->n_numbers, 0, &a->medium},
      {t->beyond, lanes * facets, sizeof(int32_t), &a->beyond},
      {t->boundary, (size_t)n_boundary, sizeof(kg_wave_side), &a->boundary}};
  const size_t real = kg_number_bytes(a->number);
  size_t all = 0, used = 0;
  for (int i = 0; i < TABLES; ++i)
    all += kg_rounded(list[i].n * (list[i].size ? list[i].size : real));
  KG_TRY(kg_alloc(w->ctx, all, 1, &w->tables));
  for (int i = 0; i < TABLES; ++i) KG_TRY(put(w, &used, &list[i]));
  const size_t data = (size_t)w->n_facets * (size_t)(a->n_fields * nodal->n_facet);
  KG_TRY(kg_host_calloc(w->ctx, data, sizeof *w->data, &w->data));
  KG_TRY(kg_alloc(w->ctx, data, real, &w->boundary));
  a->data = w->boundary.data;
  return kg_waves_data(w, w->n_facets);
}

static kedge_status make(tables *t, int32_t *number, const kg_coefficients **section)
{
  kg_waves *const w = t->w;
  KG_TRY(kg_problem_match(w->ctx, w->problem, w->mesh, t->of));
  KG_TRY(kg_regions_match(w->ctx, w->problem, w->mesh, section));
  KG_TRY(put_boundary(t, number));
  KG_TRY(put_media(t, section));
  for (int32_t e = 0; e < w->mesh->n_elements; ++e) {
    const shape s = shape_of(w->mesh, e);
    put_shape(t, e, &s);
    put_neighbours(t, e, number);
  }
  fill_group(t);
  find_step(w);
  return upload(t, w->mesh->n_boundary_edges);
}

kedge_status kg_waves_set_up(kg_waves *w)
{
  kedge_context *const ctx = w->ctx;
  const kedge_mesh *const mesh = w->mesh;
  const size_t d = (size_t)mesh->dimension, boundary = (size_t)mesh->n_boundary_edges;
  const size_t elements = (size_t)mesh->n_elements, lanes = (size_t)w->args.n_groups * LANES;
  const size_t numbers = (size_t)w->law->n_numbers, n_groups = (size_t)mesh->n_groups;
  tables t = {.w = w, .facets = mesh->dimension + 1};
  const kg_coefficients **section = NULL;
  int32_t *number = NULL;
  const struct {
    size_t n, size;
    void *to;
  } arrays[] = {{lanes * d * d, sizeof(double), &t.gradient},
                {lanes * (d + 1) * (d + 1), sizeof(double), &t.facet},
                {lanes * numbers, sizeof(double), &t.medium},
                {lanes * (d + 1), sizeof(int32_t), &t.beyond},
                {boundary, sizeof(kg_wave_side), &t.boundary},
                {n_groups, sizeof *t.of, &t.of},
                {n_groups, sizeof *section, &section},
                {(size_t)mesh->n_edges, sizeof *number, &number},
                {boundary, sizeof *w->facet, &w->facet},
                {elements * numbers, sizeof *w->number, &w->number},
                {elements, sizeof *w->jacobian, &w->jacobian}};
  kedge_status status = KEDGE_OK;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == KEDGE_OK; ++i)
    status = kg_host_calloc(ctx, arrays[i].n, arrays[i].size, arrays[i].to);
  if (status == KEDGE_OK) status = make(&t, number, section);
  free(number);
  free(section);
  free(t.of);
  free(t.boundary);
  free(t.beyond);
  free(t.medium);
  free(t.facet);
  free(t.gradient);
  return status;
}
