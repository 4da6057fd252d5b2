// Domains of squares: the unit square, the L, and the ring, whose squares are those of a strip.
#include <math.h>
#include <string.h>

#include "device/loop.h"
#include "mesh/generate.h"
#include "mesh/nodes.h"

kedge_status kg_form_names(kedge_context *ctx, kg_raw_mesh *raw, const char *const *names,
                           int n_names)
{
  for (int i = 0; i < n_names; ++i)
    KG_TRY(kg_raw_mesh_name(ctx, raw, raw->dimension - 1, i + 1, names[i], strlen(names[i])));
  return kg_raw_mesh_name(ctx, raw, raw->dimension, KG_FORM_REGION, "domain", strlen("domain"));
}

void kg_form_line(kg_raw_mesh *raw, int64_t a, int64_t b, int32_t tag)
{
  raw->lines[2 * raw->n_lines] = (int32_t)a;
  raw->lines[2 * raw->n_lines + 1] = (int32_t)b;
  raw->line_tags[raw->n_lines++] = tag;
}

static void put_element(const kg_raw_mesh *raw, int64_t k, int64_t a, int64_t b, int64_t c,
                        int64_t d)
{
  const int32_t v[4] = {(int32_t)a, (int32_t)b, (int32_t)c, (int32_t)d};
  memcpy(raw->corners + raw->width * k, v, (size_t)raw->width * sizeof *v);
  raw->regions[k] = KG_FORM_REGION;
}

/// Put a square of corners lower left, lower right, upper right, upper left, from element k on:
/// whole, or as two triangles.
static void put_square(const kg_raw_mesh *raw, bool whole, int64_t k, const int64_t corner[4])
{
  if (whole) {
    put_element(raw, k, corner[0], corner[1], corner[2], corner[3]);
    return;
  }
  put_element(raw, k, corner[0], corner[1], corner[2], -1);
  put_element(raw, k + 1, corner[0], corner[2], corner[3], -1);
}

/// Squares of n a row that a checkerboard splits before the one at (i, j).
static int64_t split_before(int64_t n, int64_t i, int64_t j)
{
  const int64_t rows = j / 2 * n + (j % 2 ? n / 2 : 0);
  return rows + (j % 2 ? (i + 1) / 2 : i / 2);
}

static int64_t element_of_square(const kg_form_args *args, int64_t i, int64_t j)
{
  const int64_t square = j * args->n + i;
  if (args->pattern == KG_PATTERN_CHECKERBOARD) return square + split_before(args->n, i, j);
  return args->pattern == KG_PATTERN_WHOLE ? square : 2 * square;
}

kedge_status kg_form_square(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw)
{
  static const char *const names[] = {"left", "right", "bottom", "top"};
  const int64_t n = args->n, w = n + 1;  // vertex (i, j) is j w + i
  KG_TRY(kg_raw_mesh_alloc(ctx, 2, w * w, element_of_square(args, 0, n),
                           kg_pattern_width(args->pattern), 4 * n, raw));
  raw->n_lines = 0;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements, 1))
  for (int64_t j = 0; j <= n; ++j) {
    for (int64_t i = 0; i <= n; ++i) {
      raw->vertices[2 * (j * w + i)] = (double)i / (double)n;
      raw->vertices[2 * (j * w + i) + 1] = (double)j / (double)n;
    }
  }
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements, 1))
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) {
      const bool whole = args->pattern == KG_PATTERN_WHOLE ||
                         (args->pattern == KG_PATTERN_CHECKERBOARD && (i + j) % 2 == 0);
      put_square(raw, whole, element_of_square(args, i, j),
                 (int64_t[]){j * w + i, j * w + i + 1, (j + 1) * w + i + 1, (j + 1) * w + i});
    }
  for (int64_t i = 0; i < n; ++i) {
    kg_form_line(raw, i * w, (i + 1) * w, 1);
    kg_form_line(raw, i * w + n, (i + 1) * w + n, 2);
    kg_form_line(raw, i, i + 1, 3);
    kg_form_line(raw, n * w + i, n * w + i + 1, 4);
  }
  return kg_form_names(ctx, raw, names, 4);
}

/// Number of vertex (i, j) of the L, 0 <= i, j <= 2 n: rows below n have only their left half.
static int64_t lshape_vertex(int64_t n, int64_t i, int64_t j)
{
  return j < n ? j * (n + 1) + i : n * (n + 1) + (j - n) * (2 * n + 1) + i;
}

static void lshape_boundary(int64_t n, kg_raw_mesh *raw)
{
  const int64_t corners[7][2] = {{0, 0},         {n, 0},     {n, n}, {2 * n, n},
                                 {2 * n, 2 * n}, {0, 2 * n}, {0, 0}};
  for (int k = 0; k < 6; ++k) {
    const int64_t *from = corners[k], *to = corners[k + 1];
    const int64_t di = (to[0] > from[0]) - (to[0] < from[0]);
    const int64_t dj = (to[1] > from[1]) - (to[1] < from[1]);
    for (int64_t i = from[0], j = from[1]; i != to[0] || j != to[1]; i += di, j += dj)
      kg_form_line(raw, lshape_vertex(n, i, j), lshape_vertex(n, i + di, j + dj), 1);
  }
}

kedge_status kg_form_lshape(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw)
{
  static const char *const names[] = {"boundary"};
  const int64_t n = args->n;
  const bool whole = args->pattern == KG_PATTERN_WHOLE;
  const int parts = whole ? 1 : 2;
  KG_TRY(kg_raw_mesh_alloc(ctx, 2, lshape_vertex(n, 2 * n, 2 * n) + 1, 3 * parts * n * n,
                           kg_pattern_width(args->pattern), 8 * n, raw));
  raw->n_lines = 0;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements, 1))
  for (int64_t j = 0; j <= 2 * n; ++j) {
    for (int64_t i = 0; i <= (j < n ? n : 2 * n); ++i) {
      double *xy = raw->vertices + 2 * lshape_vertex(n, i, j);
      xy[0] = (double)(i - n) / (double)n;
      xy[1] = (double)(j - n) / (double)n;
    }
  }
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements, 1))
  for (int64_t j = 0; j < 2 * n; ++j)
    for (int64_t i = 0; i < (j < n ? n : 2 * n); ++i)
      put_square(raw, whole, parts * ((j < n ? j : 2 * j - n) * n + i),
                 (int64_t[]){lshape_vertex(n, i, j), lshape_vertex(n, i + 1, j),
                             lshape_vertex(n, i + 1, j + 1), lshape_vertex(n, i, j + 1)});
  lshape_boundary(n, raw);
  return kg_form_names(ctx, raw, names, 1);
}

/// Radius of layer i and angle of sector j of a ring, where fractions lie between.
static void ring_place(const kg_form_args *args, double i, double j, double xy[2])
{
  const double radius = 1 + i / (double)args->n;
  const double angle = 2 * acos(-1.0) * j / (double)args->m;
  xy[0] = radius * cos(angle);
  xy[1] = radius * sin(angle);
}

kedge_status kg_form_ring(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw)
{
  static const char *const names[] = {"inner", "outer"};
  const int64_t n = args->n, m = args->m;  // vertex (layer i, sector j) is i m + j
  const bool whole = args->pattern == KG_PATTERN_WHOLE;
  const int parts = whole ? 1 : 2;
  KG_TRY(kg_raw_mesh_alloc(ctx, 2, (n + 1) * m, parts * n * m, kg_pattern_width(args->pattern),
                           2 * m, raw));
  raw->n_lines = 0;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements, 1))
  for (int64_t i = 0; i <= n; ++i)
    for (int64_t j = 0; j < m; ++j)
      ring_place(args, (double)i, (double)j, raw->vertices + 2 * (i * m + j));
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements, 1))
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      const int64_t k = (j + 1) % m;
      put_square(raw, whole, parts * (i * m + j),
                 (int64_t[]){i * m + j, (i + 1) * m + j, (i + 1) * m + k, i * m + k});
    }
  }
  for (int64_t j = 0; j < m; ++j) {
    kg_form_line(raw, j, (j + 1) % m, 1);
    kg_form_line(raw, n * m + j, n * m + (j + 1) % m, 2);
  }
  return kg_form_names(ctx, raw, names, 2);
}

void kg_bend_ring(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw)
{
  const int64_t m = args->m;
  const kg_cell *cell = raw->width == 3 ? &kg_triangle : &kg_quadrilateral;
  kg_node_matrix straight;
  kg_node_matrix_raise(cell, 1, raw->geometry, &straight);
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements, 1))
  for (int64_t e = 0; e < raw->n_elements; ++e) {
    double corner[KG_FACETS_MAX][2], strip[KG_NODES_MAX][2], *nodes = kg_raw_nodes(raw, e);
    const int64_t sector = e / (raw->width == 3 ? 2 : 1) % m;
    for (int k = 0; k < cell->n_vertices; ++k) {
      const int64_t v = kg_raw_corners(raw, e)[k], j = v % m;
      corner[k][0] = (double)(v / m);
      corner[k][1] = (double)(j < sector ? j + m : j);  // behind the last sector comes the first
    }
    kg_nodes_make(&straight, corner[0], strip[0]);
    for (int k = 0; k < straight.rows; ++k)
      ring_place(args, strip[k][0], strip[k][1], nodes + 2 * k);
  }
}
