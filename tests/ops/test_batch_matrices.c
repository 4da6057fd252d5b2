// The matrices of the vertices and of ELL from the K^e of several batches, against A assembled by
// its definition.
#include <stdlib.h>
#include <string.h>

#include "batch_case.h"
#include "compare.h"
#include "context.h"
#include "grid.h"
#include "ops/assembled/ell.h"
#include "ops/smooth/edge_smooth.h"
#include "ops/smooth/vertex_matrix.h"
#include "ops/smooth/vertex_modes.h"
#include "ops/smooth/vertex_transfer.h"

static const double tolerance = 1e-13;

/// P, [unknown][vertex], zero for Dirichlet edges and at their vertices.
static double *prolongation(const batch_case *c, bool *is_fixed)
{
  const size_t n = (size_t)c->mesh->n_vertices;
  double *p = calloc(batch_case_unknowns(c) * n + 1, sizeof *p);
  assert_non_null(p);
  int32_t end[2];
  memset(is_fixed, 0, n);
  for (int32_t edge = 0; edge < c->mesh->n_edges; ++edge)
    if (!batch_case_is_free(c, edge)) {
      batch_case_ends(c, edge, end);
      is_fixed[end[0]] = is_fixed[end[1]] = true;
    }
  for (int32_t edge = 0; edge < c->mesh->n_edges; ++edge) {
    batch_case_ends(c, edge, end);
    for (int k = 0; k < 2 && batch_case_is_free(c, edge); ++k) {
      if (is_fixed[end[k]]) continue;
      p[(size_t)(edge * c->m) * n + (size_t)end[k]] = sqrt(0.5);
      p[(size_t)(edge * c->m + 1) * n + (size_t)end[k]] = (k ? 1.0 : -1.0) / sqrt(6.0);
    }
  }
  return p;
}

/// P^T A P, [vertex][vertex].
static double *galerkin(const batch_case *c, const double *p)
{
  const size_t n = (size_t)c->mesh->n_vertices, rows = batch_case_unknowns(c);
  double *a = batch_case_dense(c), *g = calloc(n * n + 1, sizeof *g);
  assert_non_null(g);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < rows; ++j) {
      if (a[i * rows + j] == 0.0) continue;
      for (size_t v = 0; v < n; ++v)
        for (size_t w = 0; p[i * n + v] != 0.0 && w < n; ++w)
          g[v * n + w] += p[i * n + v] * a[i * rows + j] * p[j * n + w];
    }
  free(a);
  return g;
}

static kg_vertex_space fill_space(batch_case *c)
{
  kedge_context *context = c->memory.ctx;
  const kg_trace_counts *count = &c->layout.count;
  const size_t n = (size_t)c->mesh->n_vertices;
  kg_vertex_space space = {.begin = (int32_t *)case_output(&c->memory, n / 2 + 1),
                           .ends = (int32_t *)case_output(&c->memory, (size_t)count->n_free + 1),
                           .row = kg_has_lanes_of(&count->lanes, KG_QUADRILATERALS)
                                      ? (int32_t *)case_output(&c->memory, n / 2 + 1)
                                      : NULL};
  kg_vertex_space_args args = {.batch = c->batch, .n_vertices = (int32_t)n, .space = &space};
  must(context, kg_vertex_space_work_bytes(context, count, args.n_vertices, &args.work_bytes));
  args.work = case_output(&c->memory, args.work_bytes / sizeof(double) + 1);
  must(context, kg_vertex_space_fill(context, &args));
  assert_in_range(space.n_entries, space.n_ends, kg_vertex_entries_max(count, args.n_vertices));
  return space;
}

/// An entry is that of P^T A P rounded to single precision, and a row keeps its sum.
static void check_row(const double *wanted, const bool *is_fixed, int32_t n, int32_t v,
                      double diagonal, int32_t n_entries, const int32_t *column, const float *value)
{
  double *row = calloc((size_t)n, sizeof *row), sum = diagonal, expected = wanted[v];
  assert_non_null(row);
  if (is_fixed[v]) assert_true(n_entries == 0 && diagonal == KG_VERTEX_FIXED);
  for (int32_t k = 0; k < n_entries; ++k) {
    assert_in_range(column[k], 0, n - 1);
    assert_true(row[column[k]] == 0.0);  // every entry once
    row[column[k]] = (double)value[k];
    sum += (double)value[k];
  }
  for (int32_t w = 0; w < n; ++w) {
    if (w == v) continue;
    expected += wanted[w];
    assert_at_most(fabs(row[w] - wanted[w]), 6e-8 * fabs(wanted[w]) + tolerance * wanted[v]);
  }
  if (!is_fixed[v]) assert_at_most(fabs(sum - expected), tolerance * wanted[v]);
  free(row);
}

/// Blocks that are the identity, in device memory.
static const float *identity_blocks(batch_case *c)
{
  const size_t m = (size_t)c->m, entries = m * (m + 1) / 2;
  const size_t groups = ((size_t)c->layout.count.n_free + KG_LANES - 1) / KG_LANES;
  float *w = calloc(groups * entries * KG_LANES + 2, sizeof *w);
  assert_non_null(w);
  for (size_t group = 0; group < groups; ++group)
    for (int i = 0; i < c->m; ++i)
      for (size_t lane = 0; lane < KG_LANES; ++lane)
        w[(group * entries + (size_t)kg_packed_entry(i, i)) * KG_LANES + lane] = 1.0f;
  const float *kept =
      (const float *)case_input(&c->memory, (double *)w, groups * entries * KG_LANES / 2 + 1);
  free(w);
  return kept;
}

/// A step with the identity that corrects on its way, from zero: z = P c - A P c.
static void check_step(batch_case *c, kg_vertex_correction correction, const double *z,
                       const double *product, double most)
{
  const size_t n = batch_case_unknowns(c);
  double *zero = calloc(n + 1, sizeof *zero);
  assert_non_null(zero);
  const kg_edge_smooth_args step = {.m = c->batch.m,
                                    .n_edges = c->layout.count.n_free,
                                    .number = KG_DOUBLE,
                                    .inverse = identity_blocks(c),
                                    .r = batch_case_put(c, zero),
                                    .product = batch_case_put(c, zero),
                                    .z = batch_case_put(c, zero),
                                    .correction = correction,
                                    .step = 1.0};
  must(c->memory.ctx, kg_edge_smooth(c->memory.ctx, &step));
  double *stepped = batch_case_get(c, step.z);
  for (size_t i = 0; i < n; ++i)
    assert_at_most(fabs(stepped[i] - (z[i] - product[i])), 5e-7 * most);
  free(zero), free(stepped);
}

/// z = P c and its product by rows of A P, which are in single precision; `z` is P c.
static void check_rows(batch_case *c, kg_vertex_space space, const double *coarse, const double *z)
{
  kedge_context *context = c->memory.ctx;
  const kg_trace_counts *count = &c->layout.count;
  const size_t n = batch_case_unknowns(c);
  const kg_vertex_rows rows = {
      (float *)case_output(&c->memory, kg_vertex_rows_count(c->m, count) / 2 + 1),
      kg_vertex_row_width(count)};
  must(context, kg_vertex_rows_fill(context, &(kg_vertex_rows_args){c->batch, c->locals, rows}));
  double *zero = calloc(n + 1, sizeof *zero), *a = batch_case_dense(c), most = 0.0;
  double *expected = calloc(n + 1, sizeof *expected);
  assert_true(zero && expected);
  for (size_t i = 0; i < n; ++i) {
    if (!batch_case_is_free(c, (int32_t)i / c->m)) continue;
    for (size_t j = 0; j < n; ++j) expected[i] += a[i * n + j] * z[j];
    most = fmax(most, fabs(expected[i]));
  }
  const kg_vertex_prolong_args correct = {
      .correction = {.space = space, .rows = rows, .n_edges = count->n_free, .coarse = coarse},
      .m = c->m,
      .number = KG_DOUBLE,
      .z = batch_case_put(c, zero),
      .product = batch_case_put(c, zero)};
  must(context, kg_vertex_prolong(context, &correct));
  double *corrected = batch_case_get(c, correct.z), *product = batch_case_get(c, correct.product);
  assert_close(n, corrected, z, tolerance);
  for (size_t i = 0; i < n; ++i) assert_at_most(fabs(product[i] - expected[i]), 5e-7 * most);
  check_step(c, correct.correction, z, expected, most);
  free(zero), free(a), free(expected), free(corrected), free(product);
}

static void check_vertices(batch_case *c)
{
  kedge_context *context = c->memory.ctx;
  const int32_t n = c->mesh->n_vertices;
  const kg_vertex_space space = fill_space(c);
  const size_t numbers = kg_vertex_element_numbers(&c->layout.count);
  const size_t entries = (size_t)space.n_entries;
  const kg_vertex_matrix_args args = {.batch = c->batch,
                                      .locals = c->locals,
                                      .space = space,
                                      .element = case_output(&c->memory, numbers),
                                      .column = (int32_t *)case_output(&c->memory, entries / 2 + 1),
                                      .value = (float *)case_output(&c->memory, entries / 2 + 1),
                                      .diagonal = case_output(&c->memory, (size_t)n)};
  must(context, kg_vertex_matrix_fill(context, &args));
  int32_t *row = malloc(((size_t)n + 1) * sizeof *row);
  bool *is_fixed = malloc((size_t)n * sizeof *is_fixed);
  assert_true(row && is_fixed);
  must(context, kg_copy_out(context, row, space.row, ((size_t)n + 1) * sizeof *row));
  must(context, kg_sync(context));
  assert_int_equal(row[n], space.n_entries);
  int32_t *column = (int32_t *)case_fetch(&c->memory, (double *)args.column);
  float *value = (float *)case_fetch(&c->memory, (double *)args.value);
  double *diagonal = case_fetch(&c->memory, args.diagonal);
  double *p = prolongation(c, is_fixed), *g = galerkin(c, p);
  for (int32_t v = 0; v < n; ++v)
    check_row(g + (int64_t)v * n, is_fixed, n, v, diagonal[v], row[v + 1] - row[v], column + row[v],
              value + row[v]);

  // z = P c, where c is what is given at vertices without a Dirichlet edge.
  double *coarse = case_randoms(9, (size_t)n),
         *zero = calloc(batch_case_unknowns(c) + 1, sizeof *zero);
  double *expected = calloc(batch_case_unknowns(c) + 1, sizeof *expected);
  assert_true(zero && expected);
  for (int32_t v = 0; v < n; ++v) coarse[v] = is_fixed[v] ? 0.0 : coarse[v];
  for (size_t i = 0; i < batch_case_unknowns(c); ++i)
    for (int32_t v = 0; v < n; ++v) expected[i] += p[i * (size_t)n + (size_t)v] * coarse[v];
  const kg_vertex_spread_args spread = {.space = space,
                                        .m = c->batch.m,
                                        .number = KG_DOUBLE,
                                        .column = args.column,
                                        .coarse = case_input(&c->memory, coarse, (size_t)n),
                                        .z = batch_case_put(c, zero)};
  must(context, kg_vertex_spread(context, &spread));
  double *z = batch_case_get(c, spread.z);
  assert_close(batch_case_unknowns(c), z, expected, tolerance);
  check_rows(c, space, spread.coarse, expected);
  free(row), free(is_fixed), free(column), free(value), free(diagonal), free(p), free(g);
  free(coarse), free(zero), free(expected), free(z);
  case_release(&c->memory);
}

/// phi of vertex v, and its energy; `a` is A.
static double mode_energy(const batch_case *c, const double *a, const double *shape, int32_t v)
{
  const size_t n = batch_case_unknowns(c);
  double *phi = calloc(n + 1, sizeof *phi), energy = 0.0;
  assert_non_null(phi);
  for (int32_t edge = 0; edge < c->mesh->n_edges; ++edge) {
    int32_t end[2];
    batch_case_ends(c, edge, end);
    for (int k = 0; k < c->m && batch_case_is_free(c, edge); ++k) {
      if (end[1] == v) phi[edge * c->m + k] = shape[k];
      if (end[0] == v) phi[edge * c->m + k] = k % 2 ? -shape[k] : shape[k];
    }
  }
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; phi[i] != 0.0 && j < n; ++j) energy += phi[i] * a[i * n + j] * phi[j];
  free(phi);
  return energy;
}

/// Weights are what the energies of the vertex modes make them.
static void check_modes(batch_case *c)
{
  kedge_context *context = c->memory.ctx;
  const int32_t n = c->mesh->n_vertices;
  kg_vertex_modes_args args = {
      .batch = c->batch,
      .locals = c->locals,
      .modes = {.space = fill_space(c), .weight = case_output(&c->memory, (size_t)n)},
      .element = case_output(&c->memory, kg_vertex_element_numbers(&c->layout.count)),
      .fault = (int32_t *)case_output(&c->memory, 1)};
  kg_vertex_mode_shape(c->m - 1, args.modes.shape);
  must(context, kg_vertex_modes_fill(context, &args));
  double *weight = case_fetch(&c->memory, args.modes.weight), *a = batch_case_dense(c);
  bool *is_fixed = malloc((size_t)n * sizeof *is_fixed);
  assert_non_null(is_fixed);
  free(prolongation(c, is_fixed));
  for (int32_t v = 0; v < n; ++v) {
    if (is_fixed[v]) assert_true(weight[v] == 0.0);
    if (is_fixed[v]) continue;
    const double energy = mode_energy(c, a, args.modes.shape, v);
    assert_at_most(fabs(weight[v] * energy / kg_vertex_mode_step(c->m - 1) - 1.0), 1e-12);
  }
  free(weight), free(a), free(is_fixed);
  case_release(&c->memory);
}

/// ELL has the entries of A, each once, and its product.
static void check_ell(batch_case *c)
{
  kedge_context *context = c->memory.ctx;
  const kg_trace_counts *count = &c->layout.count;
  const int m = c->m;
  const int64_t n = (int64_t)batch_case_unknowns(c);
  kg_ell_assemble_args args = {
      .batch = c->batch, .locals = c->locals, .matrix = kg_ell_shape(c->batch.m, count)};
  kg_ell_matrix *matrix = &args.matrix;
  const size_t entries = (size_t)matrix->width * (size_t)matrix->stride;
  assert_int_equal(matrix->width, (kg_has_lanes_of(&count->lanes, KG_QUADRILATERALS) ? 7 : 5) * m);
  matrix->column = (int32_t *)case_output(&c->memory, entries / 2 + 1);
  matrix->value = case_output(&c->memory, entries);
  must(context, kg_ell_work_bytes(context, count, &args.work_bytes));
  args.work = case_output(&c->memory, args.work_bytes / sizeof(double) + 1);
  must(context, kg_ell_assemble(context, &args));
  int32_t *column = (int32_t *)case_fetch(&c->memory, (double *)matrix->column);
  double *value = case_fetch(&c->memory, matrix->value), *a = batch_case_dense(c), scale = 0.0;
  double *x = case_randoms(11, (size_t)n), dot;
  int32_t *edge_of = malloc((size_t)count->n_edges * sizeof *edge_of);
  assert_non_null(edge_of);
  for (int32_t f = 0; f < count->n_edges; ++f) edge_of[c->trace_of_edge[f]] = f;
  for (int64_t i = 0; i < n * n; ++i) scale = fmax(scale, fabs(a[i]));
  for (int64_t row = 0; row < matrix->rows; ++row)
    for (int k = 0; k < matrix->width; ++k) {
      const int64_t at = k * matrix->stride + row;
      if (column[at] < 0) {
        assert_true(value[at] == 0.0);
        continue;
      }
      const int64_t i = edge_of[row / m] * m + row % m;
      a[i * n + edge_of[column[at] / m] * m + column[at] % m] -= value[at];
    }
  for (int64_t i = 0; i < n * n; ++i)
    if (batch_case_is_free(c, (int32_t)(i / n / m))) assert_at_most(fabs(a[i]), tolerance * scale);
  const kg_ell_apply_args apply = {.matrix = *matrix,
                                   .x = batch_case_put(c, x),
                                   .y = case_output(&c->memory, (size_t)matrix->rows)};
  must(context, kg_ell_apply(context, &apply));
  double *y = batch_case_get(c, apply.y), *expected = batch_case_product(c, x, &dot);
  assert_close((size_t)n, y, expected, tolerance);
  free(column), free(value), free(a), free(x), free(edge_of), free(y), free(expected);
  case_release(&c->memory);
}

static void check_all(batch_case *c)
{
  check_vertices(c);
  check_modes(c);
  check_ell(c);
}

static void quadrilaterals_have_the_entries_of_their_matrices(void **state)
{
  (void)state;
  const char *const words[] = {"quads 1", "quads 5"};
  for (int i = 0; i < 2; ++i) {
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, words[i], &mesh));
    batch_case_with(ctx, mesh, 0, NULL, check_all);
    const int32_t cut = 7;
    if (i > 0) batch_case_with(ctx, mesh, 1, &cut, check_all);
    kedge_mesh_destroy(mesh);
  }
}

static void both_shapes_have_the_entries_of_their_matrices(void **state)
{
  (void)state;
  kedge_mesh *mesh = test_checkerboard(ctx, 5);
  const int32_t cuts[] = {5, mesh->n_elements - 4};
  batch_case_with(ctx, mesh, 0, NULL, check_all);
  batch_case_with(ctx, mesh, 2, cuts, check_all);
  kedge_mesh_destroy(mesh);
}

static void triangles_in_two_batches_have_the_entries_of_their_matrices(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 4", &mesh));
  for (int32_t cut = 1; cut < mesh->n_elements; cut += 10)
    batch_case_with(ctx, mesh, 1, &cut, check_all);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quadrilaterals_have_the_entries_of_their_matrices),
      cmocka_unit_test(both_shapes_have_the_entries_of_their_matrices),
      cmocka_unit_test(triangles_in_two_batches_have_the_entries_of_their_matrices),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
