#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "waves/waves.h"

enum { LANES = KG_WAVE_LANES };

/// What the device reads of the elements, in host memory first.
typedef struct tables {
  kg_waves *w;
  int facets;
  double *gradient, *facet;
  int32_t *beyond;
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
  }
}

double kg_waves_radius(const kg_waves *w, int32_t element)
{
  return shape_of(w->mesh, element).radius;
}

void kg_waves_normal(const kg_waves *w, int32_t element, int facet, double normal[3])
{
  const shape s = shape_of(w->mesh, element);
  double square = 0.0;
  for (int k = 0; k < w->mesh->dimension; ++k) square += s.slope[facet][k] * s.slope[facet][k];
  for (int k = 0; k < w->mesh->dimension; ++k) normal[k] = -s.slope[facet][k] / sqrt(square);
}

/// Copy to the device. @param[in,out] used  bytes of the buffer
static kedge_status put(kg_waves *w, const kg_wave_table *t, char *all, size_t *used)
{
  char *const there = all + *used;
  const size_t size = t->size ? t->size : kg_number_bytes(w->args.number);
  *used += kg_rounded(t->n * size);
  memcpy(t->to, &there, sizeof there);
  return t->size ? kg_copy_in(w->ctx, there, t->from, t->n * size)
                 : kg_waves_put(w, there, t->from, (int64_t)t->n);
}

int64_t kg_waves_table_bytes(const kg_waves *w, int n, const kg_wave_table *list)
{
  size_t all = 0;
  for (int i = 0; i < n; ++i)
    all += kg_rounded(list[i].n * (list[i].size ? list[i].size : kg_number_bytes(w->args.number)));
  return (int64_t)all;
}

kedge_status kg_waves_upload(kg_waves *w, int n, const kg_wave_table *list, kg_buffer *out)
{
  size_t used = 0;
  KG_TRY(kg_alloc(w->ctx, (size_t)kg_waves_table_bytes(w, n, list), 1, out));
  for (int i = 0; i < n; ++i) KG_TRY(put(w, &list[i], out->data, &used));
  return KEDGE_OK;
}

enum { TABLES = 6 };

/// The tables of the device. @param[out] a  where they will be
static void list_tables(const tables *t, kg_wave_args *a, kg_wave_table list[TABLES])
{
  const kg_nodal *const nodal = &t->w->nodal;
  const size_t n = (size_t)nodal->n, d = (size_t)a->dimension, facets = d + 1;
  const size_t lanes = (size_t)a->n_groups * LANES, columns = facets * (size_t)nodal->n_facet;
  const kg_wave_table all[TABLES] = {{nodal->derivative, d * n * n, 0, &a->derivative},
                                     {nodal->lift, n * columns, 0, &a->lift},
                                     {nodal->facet_node, columns, sizeof(int32_t), &a->facet_node},
                                     {t->gradient, lanes * d * d, 0, &a->gradient},
                                     {t->facet, lanes * facets * (d + 1), 0, &a->facet},
                                     {t->beyond, lanes * facets, sizeof(int32_t), &a->beyond}};
  memcpy(list, all, sizeof all);
}

int64_t kg_waves_mesh_bytes(const kg_waves *w)
{
  kg_wave_args args = w->args;
  kg_wave_table list[TABLES];
  list_tables(&(tables){.w = (kg_waves *)w}, &args, list);
  return kg_waves_table_bytes(w, TABLES, list);
}

static kedge_status upload(const tables *t)
{
  kg_wave_table list[TABLES];
  list_tables(t, &t->w->args, list);
  return kg_waves_upload(t->w, TABLES, list, &t->w->tables);
}

/// Sides on the boundary are numbered in the order of their edges.
static void make(const tables *t, int32_t *number)
{
  const kedge_mesh *const mesh = t->w->mesh;
  int32_t n = 0;
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge)
    if (mesh->edge_sides[2 * (int64_t)edge + 1] == KG_NO_SIDE) number[edge] = n++;
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const shape s = shape_of(mesh, e);
    t->w->jacobian[e] = s.jacobian;
    put_shape(t, e, &s);
    put_neighbours(t, e, number);
  }
  fill_group(t);
}

/// The longest side of the box round a mesh.
static double size_of(const kedge_mesh *mesh)
{
  const int n = mesh->dimension;
  double size = 0.0;
  for (int k = 0; k < n; ++k) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t v = 0; v < mesh->n_vertices; ++v) {
      low = fmin(low, mesh->vertices[n * v + k]);
      high = fmax(high, mesh->vertices[n * v + k]);
    }
    size = fmax(size, high - low);
  }
  return size;
}

kedge_status kg_waves_set_up(kg_waves *w)
{
  kedge_context *const ctx = w->ctx;
  const kedge_mesh *const mesh = w->mesh;
  const size_t d = (size_t)mesh->dimension, lanes = (size_t)w->args.n_groups * LANES;
  tables t = {.w = w, .facets = mesh->dimension + 1};
  int32_t *number = NULL;
  const struct {
    size_t n, size;
    void *to;
  } arrays[] = {{lanes * d * d, sizeof(double), &t.gradient},
                {lanes * (d + 1) * (d + 1), sizeof(double), &t.facet},
                {lanes * (d + 1), sizeof(int32_t), &t.beyond},
                {(size_t)mesh->n_edges, sizeof *number, &number},
                {(size_t)mesh->n_elements, sizeof *w->jacobian, &w->jacobian}};
  kedge_status status = KEDGE_OK;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == KEDGE_OK; ++i)
    status = kg_host_calloc(ctx, arrays[i].n, arrays[i].size, arrays[i].to);
  if (status == KEDGE_OK) make(&t, number);
  // Gmsh's coordinates are right to 2e-12 of the length of a curve, however small elements are.
  w->pull = 1e-11 * size_of(mesh);
  if (status == KEDGE_OK) status = upload(&t);
  free(number);
  free(t.beyond);
  free(t.facet);
  free(t.gradient);
  return status;
}
