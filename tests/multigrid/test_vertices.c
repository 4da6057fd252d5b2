// The coarse space of multigrid, at the vertices, against the mesh and linear finite elements.
#include <math.h>
#include <stdlib.h>

#include "../ops/dense.h"
#include "compare.h"
#include "ops/smooth/vertex_matrix.h"
#include "ops/smooth/vertex_transfer.h"
#include "systems.h"

/// A device vector of a free trace, zero. Inputs may be written to.
static void *zero_trace(trace_system *s)
{
  double *zero = calloc(s->n_rows + 1, sizeof *zero);
  assert_non_null(zero);
  void *device = case_input(&s->c, zero, s->n_rows);
  free(zero);
  return device;
}

/// P c, to be freed.
static double *prolonged(trace_system *s, const double *coarse)
{
  const kg_vertex_spread_args args = {
      .space = s->multigrid.space,
      .m = s->c.size.n_edge,
      .column = s->multigrid.matrix.column,
      .coarse = case_input(&s->c, coarse, (size_t)s->multigrid.space.n_rows),
      .z = zero_trace(s)};
  must(ctx, kg_vertex_spread(ctx, &args));
  return case_fetch(&s->c, args.z);
}

/// P c of a coarse vector, and A P c.
static double *prolonged_with(trace_system *s, const double *coarse, double **product)
{
  const kg_vertex_prolong_args args = {
      .correction = {.space = s->multigrid.space,
                     .materials = kg_one_material(s->c.material),
                     .n_edges = s->c.batch.count.n_free,
                     .coarse = case_input(&s->c, coarse, (size_t)s->multigrid.space.n_rows)},
      .m = s->c.size.n_edge,
      .z = zero_trace(s),
      .product = zero_trace(s)};
  must(ctx, kg_vertex_prolong(ctx, &args));
  *product = case_fetch(&s->c, args.product);
  return case_fetch(&s->c, args.z);
}

/// P^T r, to be freed.
static double *restricted(trace_system *s, const double *r)
{
  const kg_vertex_restrict_args args = {
      .space = s->multigrid.space,
      .m = s->c.size.n_edge,
      .r = case_input(&s->c, r, s->n_rows),
      .product = zero_trace(s),
      .coarse = case_output(&s->c, (size_t)s->multigrid.space.n_rows)};
  must(ctx, kg_vertex_restrict(ctx, &args));
  return case_fetch(&s->c, args.coarse);
}

/// A function that is linear but zero at vertices of Dirichlet edges: the integrals with psi_0 and
/// psi_1 over [-1, 1] are what its values at -1 and 1 say, by the trapezoidal and Simpson's rule.
static void check_prolongation(trace_system *s)
{
  const kedge_mesh *mesh = s->c.mesh;
  const int m = s->c.size.n_edge;
  bool *is_fixed = system_fixed_vertices(s);
  int32_t *vertex = system_edge_vertices(s);
  assert_int_equal(mesh->n_vertices, s->multigrid.space.n_rows);
  double *value = calloc((size_t)mesh->n_vertices, sizeof *value);
  assert_non_null(value);
  for (int32_t v = 0; v < mesh->n_vertices; ++v)
    if (!is_fixed[v])
      value[v] = 0.3 + 2.0 * mesh->vertices[2 * v] - 1.1 * mesh->vertices[2 * v + 1];
  double *z = prolonged(s, value);
  const double scale = 4.0 * largest((size_t)mesh->n_vertices, value);
  for (int32_t f = 0; f < s->c.batch.count.n_free; ++f) {
    const double low = value[vertex[2 * f]], high = value[vertex[2 * f + 1]], slope = sqrt(1.5);
    assert_at_most(fabs(z[f * m] - sqrt(0.5) * (low + high)), rounding(2) * scale);
    assert_at_most(fabs(z[f * m + 1] - (slope * high - slope * low) / 3), rounding(2) * scale);
    for (int k = 2; k < m; ++k) assert_true(z[f * m + k] == 0.0);
  }
  free(z), free(is_fixed), free(vertex), free(value);
}

static void prolongation_gives_the_modes_of_linear_functions(void **state)
{
  (void)state;
  for_systems(check_prolongation, 3, 1.0);
}

static void check_transposition(trace_system *s)
{
  const size_t n = (size_t)s->multigrid.space.n_rows;
  double *coarse = system_coarse_randoms(s, 5), *r = case_randoms(6, s->n_rows);
  double *z = prolonged(s, coarse), *c = restricted(s, r), left = 0.0, right = 0.0, size = 0.0;
  for (size_t i = 0; i < s->n_rows; ++i) left += z[i] * r[i], size += fabs(z[i] * r[i]);
  for (size_t i = 0; i < n; ++i) right += coarse[i] * c[i];
  assert_at_most(fabs(left - right), rounding((double)s->n_rows) * (size + 1.0));
  free(coarse), free(r), free(z), free(c);
}

static void restriction_is_the_transpose_of_prolongation(void **state)
{
  (void)state;
  for_systems(check_transposition, 3, 1.0);
}

/// The coarse matrix, full: [unknown][unknown], to be freed. Checks the form of the rows.
static double *coarse_matrix(trace_system *s)
{
  const size_t n = (size_t)s->multigrid.space.n_rows;
  const kg_csr *matrix = &s->multigrid.matrix;
  double *full = calloc(n * n + 1, sizeof *full);
  assert_non_null(full);
  if (s->multigrid.space.n_ends == 0) return full;  // nothing is made
  int32_t *row = system_fetch(s, s->multigrid.space.begin, (n + 1) * sizeof *row);
  const size_t entries = (size_t)row[n];
  int32_t *column = system_fetch(s, matrix->column, entries * sizeof *column);
  float *value = system_fetch(s, matrix->value, entries * sizeof *value);
  double *diagonal = system_fetch(s, matrix->diagonal, n * sizeof *diagonal);
  assert_int_equal(row[0], 0);
  for (size_t i = 0; i < n; ++i) {
    full[i * n + i] = diagonal[i];
    for (int32_t k = row[i]; k < row[i + 1]; ++k) {
      assert_in_range(column[k], 0, n - 1);
      assert_true(full[i * n + (size_t)column[k]] ==
                  0.0);  // every entry once, none on the diagonal
      full[i * n + (size_t)column[k]] = (double)value[k];
    }
  }
  free(row), free(column), free(value), free(diagonal);
  return full;
}

/// Entries beside the diagonal are rounded to single precision once, rows have the same sums.
static void assert_rounded(size_t n, const double *a, const double *exact, double tolerance)
{
  for (size_t i = 0; i < n; ++i) {
    double row = 0.0;
    for (size_t j = 0; j < n; ++j) {
      const double wrong = a[i * n + j] - exact[i * n + j];
      if (i != j) assert_at_most(fabs(wrong), 0x1p-24 * fabs(exact[i * n + j]) + tolerance);
      row += wrong;
    }
    assert_at_most(fabs(row), (double)n * tolerance);
  }
}

/// Stiffness of linear finite elements, from gradients of the barycentric coordinates.
static void add_stiffness(const trace_system *s, int32_t e, const bool *is_fixed, size_t n,
                          double *a)
{
  const int32_t *corner = s->c.mesh->element_vertices + 3 * e;
  double x[3], y[3];
  for (int k = 0; k < 3; ++k) {
    x[k] = s->c.mesh->vertices[2 * corner[k]];
    y[k] = s->c.mesh->vertices[2 * corner[k] + 1];
  }
  const double area2 = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      const double product = (x[i2] - x[i1]) * (x[j2] - x[j1]) + (y[i2] - y[i1]) * (y[j2] - y[j1]);
      if (!is_fixed[corner[i]] && !is_fixed[corner[j]])
        a[(size_t)corner[i] * n + (size_t)corner[j]] +=
            s->c.material.diffusion * product / (2 * area2);
    }
}

/// P^T K^e P cancels most of K^e: rounding is relative to that.
static double matrix_tolerance(const trace_system *s)
{
  const size_t lanes = KG_LANES * (size_t)s->c.batch.count.n_groups;
  return rounding(16.0 * s->c.size.n_modes) *
         largest((size_t)s->c.size.n_packed * lanes, s->local) * s->c.size.n_modes;
}

static void check_stiffness(trace_system *s)
{
  const size_t n = (size_t)s->c.mesh->n_vertices;
  if (s->multigrid.space.n_ends == 0) return;
  bool *is_fixed = system_fixed_vertices(s);
  double *a = coarse_matrix(s), *expected = calloc(n * n + 1, sizeof *expected);
  assert_non_null(expected);
  for (int32_t e = 0; e < s->c.mesh->n_elements; ++e) add_stiffness(s, e, is_fixed, n, expected);
  for (size_t v = 0; v < n; ++v)
    if (is_fixed[v]) expected[v * n + v] = KG_VERTEX_FIXED;
  assert_rounded(n, a, expected, matrix_tolerance(s));
  free(is_fixed), free(a), free(expected);
}

static void the_coarse_matrix_of_diffusion_is_that_of_linear_finite_elements(void **state)
{
  (void)state;
  for_systems(check_stiffness, 5, 0.0);
}

/// Row by row, which are columns too, with the operators themselves: P^T A P.
static void check_galerkin(trace_system *s)
{
  const size_t n = (size_t)s->multigrid.space.n_rows, checked = n < 20 ? n : 20;
  bool *is_fixed = system_fixed_vertices(s);
  double *a = coarse_matrix(s), *unit = calloc(n + 1, sizeof *unit);
  double *x = calloc(s->n_all + 1, sizeof *x), *y = calloc(s->n_rows + 1, sizeof *y);
  assert_true(unit && x && y);
  for (size_t i = 0; i < checked; ++i) {
    double sum = 0.0;
    if (is_fixed[i]) continue;
    unit[i] = 1.0;
    double *z = prolonged(s, unit);
    for (size_t k = 0; k < s->n_rows; ++k) x[k] = z[k];
    system_multiply(s, x, y);
    double *row = restricted(s, y);
    for (size_t j = 0; j < n; ++j) {
      const double wrong = a[i * n + j] - row[j];
      if (i != j) assert_at_most(fabs(wrong), 0x1p-24 * fabs(row[j]) + matrix_tolerance(s));
      sum += wrong;
    }
    assert_at_most(fabs(sum), (double)n * matrix_tolerance(s));
    unit[i] = 0.0;
    system_release(s);
    free(z), free(row);
  }
  free(is_fixed), free(a), free(unit), free(x), free(y);
}

static void the_coarse_matrix_is_the_operator_between_prolongation_and_restriction(void **state)
{
  (void)state;
  for_systems(check_galerkin, 3, 3.0);
}

/// Random values at the vertices: the fluxes are those of the operator, up to rounding of K^e, and
/// both ways to P c give the same numbers.
static void check_fluxes(trace_system *s)
{
  double *coarse = system_coarse_randoms(s, 7), *flux;
  double *x = calloc(s->n_all + 1, sizeof *x), *y = calloc(s->n_rows + 1, sizeof *y);
  assert_true(x && y);
  double *z = prolonged_with(s, coarse, &flux), *alone = prolonged(s, coarse);
  assert_close(s->n_rows, alone, z, rounding(2));
  for (size_t i = 0; i < s->n_rows; ++i) x[i] = z[i];
  system_multiply(s, x, y);
  for (size_t i = 0; i < s->n_rows; ++i) assert_at_most(fabs(flux[i] - y[i]), matrix_tolerance(s));
  free(coarse), free(flux), free(x), free(y), free(z), free(alone);
}

static void without_reaction_the_product_of_a_coarse_function_is_its_flux(void **state)
{
  (void)state;
  for_systems(check_fluxes, 9, 0.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prolongation_gives_the_modes_of_linear_functions),
      cmocka_unit_test(restriction_is_the_transpose_of_prolongation),
      cmocka_unit_test(the_coarse_matrix_of_diffusion_is_that_of_linear_finite_elements),
      cmocka_unit_test(the_coarse_matrix_is_the_operator_between_prolongation_and_restriction),
      cmocka_unit_test(without_reaction_the_product_of_a_coarse_function_is_its_flux),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
