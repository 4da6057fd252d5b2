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

/// Tables and points, of which the last ones are forgotten.
static void put_tables(cell_case *c, int geometry)
{
  const int order = c->size.order, many = order + 6, rows = c->rows;
  const kg_cell_behind corners = KG_BEHIND_CORNERS;
  free(c->tables);
  free(c->rule);
  must(c->memory.ctx,
       kg_cell_tables_create(c->memory.ctx, c->cell, order, geometry, rows, &c->tables));
  must(c->memory.ctx,
       kg_cell_points_create(c->memory.ctx, c->cell, order, geometry, many, corners, &c->rule));
  const size_t n_tables = kg_cell_tables_count(c->cell, order, geometry, rows);
  const size_t n_rule = kg_cell_points_count(c->cell, order, geometry, many, corners);
  const double *const tables = case_upload(&c->memory, c->tables, n_tables, sizeof *tables);
  const double *const rule = case_upload(&c->memory, c->rule, n_rule, sizeof *rule);
  c->host.tables = kg_cell_tables_at(c->cell, order, geometry, rows, c->tables);
  c->cells.tables = kg_cell_tables_at(c->cell, order, geometry, rows, tables);
  c->host_points = kg_cell_points_at(c->cell, order, geometry, many, corners, c->rule);
  c->points = kg_cell_points_at(c->cell, order, geometry, many, corners, rule);
}

/// The nodes of straight elements.
static void put_nodes(cell_case *c, int geometry)
{
  const int V = c->cell->n_vertices, n = c->cell->n_modes(geometry);
  double r[KG_NODES_MAX], s[KG_NODES_MAX];
  long double shape[3 * KG_FACETS_MAX];
  free(c->nodes);
  c->nodes = allocate((size_t)(c->n_elements * 2 * n), sizeof *c->nodes);
  c->cell->nodes(geometry, (double *const[]){r, s});
  for (int i = 0; i < c->n_elements * n; ++i) {
    const int e = i / n, v = i % n;
    c->cell->map(1, (const long double[]){r[v], s[v]}, shape);
    for (int d = 0; d < 2; ++d)
      for (int k = 0; k < V; ++k)
        c->nodes[(2 * e + d) * n + v] +=
            (double)shape[k] * c->vertices[2 * c->corners[e * V + k] + d];
  }
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
  c->rows = rows;
  put_tables(c, 1);
  put_nodes(c, 1);
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

void cell_case_bend(cell_case *c, int geometry, const double *nodes, cell_function *map)
{
  const int n = c->cell->n_modes(geometry), count = c->n_elements * 2 * n;
  put_tables(c, geometry);
  put_nodes(c, geometry);
  if (nodes) memcpy(c->nodes, nodes, (size_t)count * sizeof *nodes);
  for (int i = 0; map && i < c->n_elements * n; ++i) {
    double *const at = c->nodes + i / n * 2 * n + i % n, out[2];
    map(at[0], at[n], out);
    at[0] = out[0];
    at[n] = out[1];
  }
  c->cells.nodes = cell_case_input(c, 2 * n, c->nodes);
  c->cells.vertices = NULL;
  c->cells.vertex = NULL;
  c->memory.n_lasting = c->memory.n_pieces;
}

void cell_case_destroy(cell_case *c)
{
  free(c->nodes);
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

const double *cell_case_nodes(const cell_case *c, int e)
{
  return c->nodes + (size_t)(e * 2 * c->host_points.n_nodes);
}

/// Values of f at points of all elements, [element][function][point], to be freed.
static double *sample(const cell_case *c, const kg_cell_points *points, int functions,
                      cell_function *f)
{
  const int n = points->n;
  double *values = allocate((size_t)(c->n_elements * functions * n), sizeof *values), results[8];
  assert_in_range(functions, 1, 8);
  for (int i = 0; i < c->n_elements * n; ++i) {
    const int e = i / n, q = i % n;
    const double *const x = cell_case_nodes(c, e);
    const kg_cell_place at = kg_cell_place_at(points, q, x, x + points->n_nodes);
    f(at.x, at.y, results);
    for (int k = 0; k < functions; ++k) values[(e * functions + k) * n + q] = results[k];
  }
  return values;
}

double *cell_case_sample(const cell_case *c, int functions, cell_function *f)
{
  return sample(c, &c->host_points, functions, f);
}

const double *cell_case_values(cell_case *c, const kg_cell_material *material, cell_function *f)
{
  const kg_cell_tables *t = &c->host.tables;
  const kg_cell_points points = material->length > 0.0 ? kg_cell_points_and_facets(t) : t->points;
  assert_int_equal(points.n, kg_cell_value_points(t, material));
  double *values = sample(c, &points, KG_CELL_FUNCTIONS, f);
  const double *const device = cell_case_input(c, KG_CELL_FUNCTIONS * points.n, values);
  free(values);
  return device;
}

void cell_case_facet_point(const cell_case *c, int facet, double t, double at[2], double normal[2])
{
  const int V = c->cell->n_vertices, n = c->host_points.n_nodes;
  long double shape[3 * KG_NODES_MAX], point[2], along[2];
  double tangent[2];
  int s = 0;
  while ((int)(c->side[s] >> 1) != facet) ++s;
  kg_cell_facet_point(c->cell, s % V, c->side[s] & 1 ? -t : t, point, along);
  c->cell->map(c->host_points.geometry, point, shape);
  const double *const x = cell_case_nodes(c, s / V);
  for (int d = 0; d < 2; ++d) {
    at[d] = 0.0;
    tangent[d] = 0.0;
    for (int v = 0; v < n; ++v) {
      at[d] += (double)shape[v] * x[d * n + v];
      tangent[d] += (double)(shape[n + v] * along[0] + shape[2 * n + v] * along[1]) * x[d * n + v];
    }
  }
  normal[0] = tangent[1];
  normal[1] = -tangent[0];
}

void cell_case_project(const cell_case *c, int facet, cell_function *f, double *modes)
{
  enum { POINTS = 16 };
  double t[POINTS], w[POINTS], psi[KEDGE_ORDER_MAX + 1], values[8], at[2], normal[2];
  kg_gauss_jacobi(POINTS, 0, t, w);
  for (int k = 0; k < c->size.n_facet; ++k) modes[k] = 0.0;
  for (int q = 0; q < POINTS; ++q) {
    cell_case_facet_point(c, facet, t[q], at, normal);
    f(at[0], at[1], values);
    kg_legendre(c->size.order, t[q], psi);
    for (int k = 0; k < c->size.n_facet; ++k) modes[k] += w[q] * values[0] * psi[k];
  }
}

void cell_case_make(cell_case *c, const kg_cell_material *material, const double *load,
                    double **local, double **condensed)
{
  const int n = c->size.n_trace, packed = c->size.n_packed;
  const kg_cell_make_args args = {c->cells, *material, cell_case_input(c, c->size.n_modes, load),
                                  cell_case_output(c, packed), cell_case_output(c, n)};
  must(c->memory.ctx, kg_cell_make(c->memory.ctx, &args));
  double *rows = cell_case_fetch(c, packed, args.local);
  *condensed = cell_case_fetch(c, n, args.condensed);
  *local = allocate((size_t)(c->n_elements * n * n), sizeof **local);
  for (int e = 0; e < c->n_elements; ++e)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        (*local)[(e * n + i) * n + j] = (*local)[(e * n + j) * n + i] =
            rows[e * packed + i * (i + 1) / 2 + j];
  free(rows);
}
