// The coarse space of multigrid on tetrahedra: linear functions on facets, P^T A P from random K^e
// against A assembled by its definition, P and its transpose.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/cell.h"
#include "batch_case.h"
#include "compare.h"
#include "context.h"
#include "mesh/build.h"
#include "mesh/generate.h"
#include "ops/smooth/corner_matrix.h"
#include "ops/smooth/corner_transfer.h"

static const double tolerance = 1e-13;

static void modes_are_those_of_linear_functions(void **state)
{
  (void)state;
  const double value[KG_CORNERS] = {0.3, -1.2, 2.0}, r[2] = {-0.4, 0.1};
  double mode[KG_CORNERS], at = 0.0, back[KG_CORNERS], left = 0.0, right = 0.0;
  long double psi[KG_CORNERS];
  kg_corner_modes(value, mode);
  kg_triangle.modes(1, (const long double[]){r[0], r[1]}, psi, NULL);
  for (int k = 0; k < KG_CORNERS; ++k) at += mode[k] * (double)psi[k];
  // Barycentric coordinates of r in the reference facet.
  const double share[KG_CORNERS] = {-0.5 * (r[0] + r[1]), 0.5 * (1 + r[0]), 0.5 * (1 + r[1])};
  for (int c = 0; c < KG_CORNERS; ++c) at -= share[c] * value[c];
  assert_at_most(fabs(at), 1e-15);
  const double other[KG_CORNERS] = {0.7, 0.2, -1.1};
  kg_corner_values(other, back);
  for (int c = 0; c < KG_CORNERS; ++c) {
    left += other[c] * mode[c], right += back[c] * value[c];
    assert_true(back[c] == kg_corner_value(other, c));
  }
  assert_at_most(fabs(left - right), 1e-15);
}

/// P, [unknown][vertex], zero for Dirichlet facets and at their vertices.
static double *prolongation(const batch_case *c, bool *is_fixed)
{
  const size_t n = (size_t)c->mesh->n_vertices;
  double *p = calloc(batch_case_unknowns(c) * n + 1, sizeof *p);
  assert_non_null(p);
  memset(is_fixed, 0, n);
  for (int pass = 0; pass < 2; ++pass)
    for (int32_t facet = 0; facet < c->mesh->n_edges; ++facet) {
      int32_t vertex[3];
      kg_side_corners(c->mesh, c->mesh->edge_sides[2 * (size_t)facet], vertex);
      for (int corner = 0; corner < 3; ++corner) {
        const size_t v = (size_t)vertex[corner];
        if (pass == 0) is_fixed[v] = is_fixed[v] || !batch_case_is_free(c, facet);
        if (pass == 0 || is_fixed[v]) continue;
        double value[3] = {0.0}, mode[3];
        value[corner] = 1.0;
        kg_corner_modes(value, mode);
        for (int k = 0; k < 3; ++k) p[(size_t)(facet * c->m + k) * n + v] = mode[k];
      }
    }
  return p;
}

/// P^T A P, [vertex][vertex].
static double *galerkin(const batch_case *c, const double *p)
{
  const size_t n = (size_t)c->mesh->n_vertices;
  double *g = calloc(n * n + 1, sizeof *g);
  assert_non_null(g);
  for (int32_t e = 0; e < c->mesh->n_elements; ++e)
    for (int i = 0; i < batch_case_rows(c, e); ++i)
      for (int j = 0; j < batch_case_rows(c, e); ++j) {
        if (i % c->m > 2 || j % c->m > 2) continue;
        const double *left = p + (size_t)batch_case_unknown(c, e, i) * n;
        const double *right = p + (size_t)batch_case_unknown(c, e, j) * n;
        for (size_t v = 0; v < n; ++v)
          for (size_t w = 0; left[v] != 0.0 && w < n; ++w)
            g[v * n + w] += left[v] * batch_case_local(c, e, i, j) * right[w];
      }
  return g;
}

/// Whether two vertices are of one element.
static bool are_near(const kedge_mesh *mesh, int32_t v, int32_t w)
{
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const int32_t *corner = kg_element_vertices(mesh, e);
    int found = 0;
    for (int k = 0; k < 4; ++k) found += corner[k] == v || corner[k] == w;
    if (found == 2) return true;
  }
  return false;
}

/// A row has an entry for each near vertex, that of P^T A P in single precision, and keeps its sum.
static void check_row(const batch_case *c, const double *wanted, const bool *is_fixed, int32_t v,
                      double diagonal, int32_t n_entries, const int32_t *column, const float *value)
{
  const int32_t n = c->mesh->n_vertices;
  double *row = calloc((size_t)n, sizeof *row), sum = diagonal, expected = wanted[v];
  bool *has = calloc((size_t)n, sizeof *has);
  assert_true(row && has);
  if (is_fixed[v]) assert_true(n_entries == 0 && diagonal == KG_VERTEX_FIXED);
  for (int32_t k = 0; k < n_entries; ++k) {
    assert_in_range(column[k], 0, n - 1);
    assert_false(has[column[k]]);
    has[column[k]] = true;
    row[column[k]] = (double)value[k];
    sum += (double)value[k];
  }
  for (int32_t w = 0; w < n && !is_fixed[v]; ++w) {
    if (w == v) continue;
    assert_true(has[w] == are_near(c->mesh, v, w));
    expected += wanted[w];
    assert_at_most(fabs(row[w] - wanted[w]), 6e-8 * fabs(wanted[w]) + tolerance * wanted[v]);
  }
  if (!is_fixed[v]) assert_at_most(fabs(sum - expected), tolerance * wanted[v]);
  free(row), free(has);
}

static kg_vertex_space fill_space(batch_case *c)
{
  kedge_context *context = c->memory.ctx;
  const kg_trace_counts *count = &c->layout.count;
  const size_t n = (size_t)c->mesh->n_vertices, ends = 3 * (size_t)count->n_free;
  kg_vertex_space space = {.begin = (int32_t *)case_output(&c->memory, n / 2 + 1),
                           .ends = (int32_t *)case_output(&c->memory, ends / 2 + 1),
                           .row = (int32_t *)case_output(&c->memory, n / 2 + 1)};
  kg_vertex_space_args args = {.batch = c->batch, .n_vertices = (int32_t)n, .space = &space};
  must(context, kg_vertex_space_work_bytes(context, count, args.n_vertices, &args.work_bytes));
  args.work = case_output(&c->memory, args.work_bytes / sizeof(double) + 1);
  must(context, kg_vertex_space_fill(context, &args));
  assert_in_range(space.n_entries, 0, kg_vertex_entries_max(count, (int32_t)n));
  return space;
}

/// P^T A P; how many vertices have no Dirichlet facet.
static int check_matrix(batch_case *c, kg_vertex_space space, const bool *is_fixed, const double *p)
{
  kedge_context *context = c->memory.ctx;
  const int32_t n = c->mesh->n_vertices;
  const size_t entries = (size_t)space.n_entries;
  int left = 0;
  const kg_vertex_matrix_args args = {
      .batch = c->batch,
      .locals = c->locals,
      .space = space,
      .element = case_output(&c->memory, kg_vertex_element_numbers(&c->layout.count)),
      .wide = case_output(&c->memory, entries + 1),
      .column = (int32_t *)case_output(&c->memory, entries / 2 + 1),
      .value = (float *)case_output(&c->memory, entries / 2 + 1),
      .diagonal = case_output(&c->memory, (size_t)n)};
  must(context, kg_vertex_matrix_fill(context, &args));
  int32_t *row = (int32_t *)case_fetch(&c->memory, (double *)space.row);
  int32_t *column = (int32_t *)case_fetch(&c->memory, (double *)args.column);
  float *value = (float *)case_fetch(&c->memory, (double *)args.value);
  double *diagonal = case_fetch(&c->memory, args.diagonal), *g = galerkin(c, p);
  assert_int_equal(row[0], 0);
  assert_int_equal(row[n], space.n_entries);
  for (int32_t v = 0; v < n; ++v) {
    check_row(c, g + (int64_t)v * n, is_fixed, v, diagonal[v], row[v + 1] - row[v], column + row[v],
              value + row[v]);
    left += !is_fixed[v];
  }
  free(row), free(column), free(value), free(diagonal), free(g);
  return left;
}

/// z = P c and A P c, where c is zero at vertices of Dirichlet facets; and P^T (r - A z). Rows of A
/// P are in single precision.
static void check_transfer(batch_case *c, kg_vertex_space space, const bool *is_fixed,
                           const double *p)
{
  kedge_context *context = c->memory.ctx;
  const size_t n = (size_t)c->mesh->n_vertices, rows = batch_case_unknowns(c);
  double *coarse = case_randoms(9, n), *zero = calloc(rows + 1, sizeof *zero);
  double *expected = calloc(rows + 1, sizeof *expected), *back = calloc(n, sizeof *back);
  double *r = case_randoms(10, rows), *product = case_randoms(11, rows);
  assert_true(zero && expected && back);
  for (size_t v = 0; v < n; ++v) coarse[v] = is_fixed[v] ? 0.0 : coarse[v];
  for (size_t i = 0; i < rows; ++i)
    for (size_t v = 0; v < n; ++v) {
      expected[i] += p[i * n + v] * coarse[v];
      back[v] += p[i * n + v] * (r[i] - product[i]);
    }
  const kg_vertex_rows kept = {
      (float *)case_output(&c->memory, kg_vertex_rows_count(c->m, &c->layout.count) / 2 + 1),
      kg_vertex_row_width(&c->layout.count)};
  must(context, kg_vertex_rows_fill(context, &(kg_vertex_rows_args){c->batch, c->locals, kept}));
  const kg_vertex_prolong_args prolong = {
      .correction = {.space = space,
                     .rows = kept,
                     .n_edges = c->layout.count.n_free,
                     .coarse = case_input(&c->memory, coarse, n)},
      .m = c->batch.m,
      .number = KG_DOUBLE,
      .z = batch_case_put(c, zero),
      .product = batch_case_put(c, zero)};
  must(context, kg_vertex_prolong(context, &prolong));
  const kg_vertex_restrict_args restricts = {.space = space,
                                             .m = c->batch.m,
                                             .number = KG_DOUBLE,
                                             .r = batch_case_put(c, r),
                                             .product = batch_case_put(c, product),
                                             .coarse = case_output(&c->memory, n)};
  must(context, kg_vertex_restrict(context, &restricts));
  double *z = batch_case_get(c, prolong.z), *got = case_fetch(&c->memory, restricts.coarse), dot;
  double *az = batch_case_get(c, prolong.product), *known = batch_case_product(c, expected, &dot);
  assert_close(rows, az, known, 5e-7);
  assert_close(rows, z, expected, tolerance);
  assert_close(n, got, back, tolerance);
  free(coarse), free(zero), free(expected), free(back), free(r), free(product), free(z), free(got);
  free(az), free(known);
}

/// @return vertices without a Dirichlet facet
static int check_mesh(const kedge_mesh *mesh, int m)
{
  batch_case c;
  batch_case_create(&c, ctx, mesh, m, 0, NULL);
  bool *is_fixed = calloc((size_t)mesh->n_vertices, sizeof *is_fixed);
  assert_non_null(is_fixed);
  double *p = prolongation(&c, is_fixed);
  const kg_vertex_space space = fill_space(&c);
  const int left = check_matrix(&c, space, is_fixed, p);
  check_transfer(&c, space, is_fixed, p);
  free(p), free(is_fixed);
  case_release(&c.memory);
  batch_case_destroy(&c);
  return left;
}

static void cubes_have_the_entries_of_their_matrices(void **state)
{
  (void)state;
  for (int n = 1; n <= 3; ++n)
    for (int order = 1; order <= 3; ++order) {
      char words[16];
      kedge_mesh *mesh;
      if (n == 3 && order > 1) continue;
      snprintf(words, sizeof words, "cube %d", n);
      must(ctx, kedge_mesh_generate(ctx, words, &mesh));
      assert_int_equal(check_mesh(mesh, (order + 1) * (order + 2) / 2), n * n * n);
      kedge_mesh_destroy(mesh);
    }
}

/// Elements of these vertices; the facet `fixed` alone has a Dirichlet condition.
static kedge_mesh *mesh_of(int n_vertices, const double (*x)[3], int n_elements,
                           const int32_t (*corner)[4], const int32_t fixed[3])
{
  kg_raw_mesh raw;
  kedge_mesh *mesh;
  must(ctx, kg_raw_mesh_alloc(ctx, 3, n_vertices, n_elements, 4, 4 * n_elements, &raw));
  memcpy(raw.vertices, x, (size_t)n_vertices * sizeof *x);
  memcpy(raw.corners, corner, (size_t)n_elements * sizeof *corner);
  raw.n_lines = 0;
  for (int e = 0; e < n_elements; ++e) {
    raw.regions[e] = 0;
    for (int l = 0; l < 4; ++l) {
      int32_t *const line = raw.lines + 3 * raw.n_lines;
      int same = 0;
      for (int c = 0; c < 3; ++c) line[c] = corner[e][kg_facet_corner(l, c)];
      for (int c = 0; c < 9; ++c) same += line[c / 3] == fixed[c % 3];
      raw.line_tags[raw.n_lines++] = same == 3 ? 1 : 2;
    }
  }
  must(ctx, kg_mesh_build(ctx, &raw, "a few elements", &mesh));
  kg_raw_mesh_free(&raw);
  return mesh;
}

/// One element, and two that share a vertex or an edge alone: links that are several triangles.
static void elements_that_touch_in_less_than_a_facet_have_all_entries(void **state)
{
  (void)state;
  static const double x[7][3] = {{0, 0, 0},  {1, 0, 0},  {0, 1, 0}, {0, 0, 1},
                                 {0, -1, 0}, {0, 0, -1}, {-1, 0, 0}};
  static const int32_t point[][4] = {{0, 1, 2, 3}, {0, 4, 5, 6}};
  static const int32_t line[][4] = {{0, 1, 2, 3}, {0, 1, 4, 5}};
  static const int32_t opposite[3] = {1, 2, 3}, beside[3] = {0, 2, 3};
  static const struct {
    int n_vertices, n_elements;
    const int32_t (*corner)[4], *fixed;
    int left;
  } cases[] = {{4, 1, point, opposite, 1}, {7, 2, point, opposite, 4}, {6, 2, line, beside, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_mesh *mesh =
        mesh_of(cases[i].n_vertices, x, cases[i].n_elements, cases[i].corner, cases[i].fixed);
    assert_int_equal(check_mesh(mesh, 3), cases[i].left);
    kedge_mesh_destroy(mesh);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modes_are_those_of_linear_functions),
      cmocka_unit_test(cubes_have_the_entries_of_their_matrices),
      cmocka_unit_test(elements_that_touch_in_less_than_a_facet_have_all_entries),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
