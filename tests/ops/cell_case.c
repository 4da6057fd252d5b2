#include "cell_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"

static void *allocate(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

/// Facets by first appearance, compared with all earlier ones.
static void number_facets(cell_case *c)
{
  const int V = c->cell->n_vertices;
  for (int s = 0; s < V * c->n_elements; ++s) {
    const int e = s / V, l = s % V;
    const int32_t a = c->corners[e * V + c->cell->facet_corner[l][0]];
    const int32_t b = c->corners[e * V + c->cell->facet_corner[l][1]];
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    int f = 0;
    while (f < c->n_facets && (c->ends[f][0] != low || c->ends[f][1] != high)) ++f;
    if (f == c->n_facets) {
      c->ends[f][0] = low;
      c->ends[f][1] = high;
      ++c->n_facets;
    }
    ++c->n_sides[f];
    c->side[s] = (uint32_t)f << 1 | (uint32_t)(a > b);
  }
}

static void upload(cell_case *c, int n_vertices)
{
  const int V = c->cell->n_vertices;
  const size_t lanes = (size_t)(c->n_groups * KG_LANES), sides = lanes * (size_t)V;
  int32_t *vertex = allocate(sides, sizeof *vertex);
  uint32_t *side = allocate(sides, sizeof *side);
  for (int32_t lane = 0; lane < (int32_t)lanes; ++lane) {
    const int e = lane < c->n_elements ? lane : c->n_elements - 1;
    for (int l = 0; l < V; ++l) {
      vertex[kg_cell_at(lane, V, l)] = c->corners[e * V + l];
      side[kg_cell_at(lane, V, l)] = c->side[e * V + l];
    }
  }
  op_case *m = &c->memory;
  c->cells.n_elements = c->host.n_elements = c->n_elements;
  c->cells.vertices = case_upload(m, c->vertices, 2 * (size_t)n_vertices, sizeof *c->vertices);
  c->cells.vertex = case_upload(m, vertex, sides, sizeof *vertex);
  c->cells.side_edge = case_upload(m, side, sides, sizeof *side);
  free(vertex);
  free(side);
}

void cell_case_create(cell_case *c, kedge_context *ctx, const kg_cell *cell, int order, int rows,
                      int n_vertices, const double *vertices, int n_elements,
                      const int32_t *corners)
{
  const size_t sides = (size_t)(cell->n_vertices * n_elements);
  *c = (cell_case){.memory = {.ctx = ctx}, .cell = cell, .n_elements = n_elements};
  c->size = kg_cell_sizes_of(cell, order);
  c->n_groups = (n_elements + KG_LANES - 1) / KG_LANES;
  c->vertices = allocate(2 * (size_t)n_vertices, sizeof *c->vertices);
  c->corners = allocate(sides, sizeof *c->corners);
  memcpy(c->vertices, vertices, 2 * (size_t)n_vertices * sizeof *vertices);
  memcpy(c->corners, corners, sides * sizeof *corners);
  c->side = allocate(sides, sizeof *c->side);
  c->ends = allocate(sides, sizeof *c->ends);
  c->n_sides = allocate(sides, sizeof *c->n_sides);
  number_facets(c);
  upload(c, n_vertices);
  const int many = order + 6;
  must(ctx, kg_cell_tables_create(ctx, cell, order, rows, &c->tables));
  must(ctx, kg_cell_points_create(ctx, cell, order, many, true, &c->rule));
  const size_t n_tables = kg_cell_tables_count(cell, order, rows);
  const size_t n_rule = kg_cell_points_count(cell, order, many, true);
  const double *const tables = case_upload(&c->memory, c->tables, n_tables, sizeof *tables);
  const double *const rule = case_upload(&c->memory, c->rule, n_rule, sizeof *rule);
  c->host.tables = kg_cell_tables_at(cell, order, rows, c->tables);
  c->cells.tables = kg_cell_tables_at(cell, order, rows, tables);
  c->host_points = kg_cell_points_at(cell, order, many, true, c->rule);
  c->points = kg_cell_points_at(cell, order, many, true, rule);
  c->memory.n_lasting = c->memory.n_pieces;
}

void cell_case_grid(cell_case *c, kedge_context *ctx, const kg_cell *cell, int order, int rows,
                    int n, cell_place *place)
{
  const bool is_cut = cell == &kg_triangle;
  const int V = cell->n_vertices, n_vertices = (n + 1) * (n + 1);
  double *vertices = allocate(2 * (size_t)n_vertices, sizeof *vertices);
  int32_t *corners = allocate((size_t)(2 * n * n * V), sizeof *corners), *next = corners;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i) place(i, j, n, vertices + 2 * (j * (n + 1) + i));
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const int32_t a = j * (n + 1) + i, b = a + 1, d = a + n + 1, e = d + 1;
      const int32_t square[4] = {a, b, e, d}, cut[6] = {a, b, e, a, e, d};
      memcpy(next, is_cut ? cut : square, (is_cut ? 6 : 4) * sizeof *next);
      next += is_cut ? 6 : 4;
    }
  cell_case_create(c, ctx, cell, order, rows, n_vertices, vertices, is_cut ? 2 * n * n : n * n,
                   corners);
  free(vertices);
  free(corners);
}

void cell_case_destroy(cell_case *c)
{
  case_destroy(&c->memory);
  free(c->vertices);
  free(c->corners);
  free(c->side);
  free(c->ends);
  free(c->n_sides);
  free(c->tables);
  free(c->rule);
}

double *cell_case_input(cell_case *c, int rows, const double *by_element)
{
  const int32_t lanes = c->n_groups * KG_LANES;
  double *values = allocate((size_t)(rows * lanes), sizeof *values);
  for (int32_t lane = 0; lane < lanes; ++lane) {
    const int32_t e = lane < c->n_elements ? lane : c->n_elements - 1;
    for (int i = 0; i < rows; ++i) values[kg_cell_at(lane, rows, i)] = by_element[e * rows + i];
  }
  double *const device = case_input(&c->memory, values, (size_t)(rows * lanes));
  free(values);
  return device;
}

double *cell_case_output(cell_case *c, int rows)
{
  return case_output(&c->memory, (size_t)(rows * c->n_groups * KG_LANES));
}

double *cell_case_fetch(cell_case *c, int rows, const double *device)
{
  double *values = case_fetch(&c->memory, device);
  double *out = allocate((size_t)(rows * c->n_elements), sizeof *out);
  for (int32_t e = 0; e < c->n_elements; ++e)
    for (int i = 0; i < rows; ++i) out[e * rows + i] = values[kg_cell_at(e, rows, i)];
  free(values);
  return out;
}

double *cell_case_sample(const cell_case *c, int functions, cell_function *f)
{
  const int V = c->cell->n_vertices, n = c->host_points.n;
  double *values = allocate((size_t)(c->n_elements * functions * n), sizeof *values);
  double x[KG_FACETS_MAX], y[KG_FACETS_MAX], results[8];
  assert_in_range(functions, 1, 8);
  for (int e = 0; e < c->n_elements; ++e) {
    for (int v = 0; v < V; ++v) {
      x[v] = c->vertices[2 * c->corners[e * V + v]];
      y[v] = c->vertices[2 * c->corners[e * V + v] + 1];
    }
    for (int q = 0; q < n; ++q) {
      const kg_cell_place at = kg_cell_place_of(V, c->host_points.map + 3 * q * V, x, y);
      f(at.x, at.y, results);
      for (int k = 0; k < functions; ++k) values[(e * functions + k) * n + q] = results[k];
    }
  }
  return values;
}

void cell_case_project(const cell_case *c, int facet, cell_function *f, double *modes)
{
  enum { POINTS = 16 };
  const double *const a = c->vertices + 2 * c->ends[facet][0];
  const double *const b = c->vertices + 2 * c->ends[facet][1];
  double t[POINTS], w[POINTS], psi[KEDGE_ORDER_MAX + 1], values[8];
  kg_gauss_jacobi(POINTS, 0, t, w);
  for (int k = 0; k < c->size.n_facet; ++k) modes[k] = 0.0;
  for (int q = 0; q < POINTS; ++q) {
    const double x = 0.5 * ((1.0 - t[q]) * a[0] + (1.0 + t[q]) * b[0]);
    const double y = 0.5 * ((1.0 - t[q]) * a[1] + (1.0 + t[q]) * b[1]);
    f(x, y, values);
    kg_legendre(c->size.order, t[q], psi);
    for (int k = 0; k < c->size.n_facet; ++k) modes[k] += w[q] * values[0] * psi[k];
  }
}
