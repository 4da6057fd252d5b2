// Sums and extrema of the fields of tetrahedra, and eigenvalues of tensors, against plain loops.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "grid.h"
#include "ops/local/tetrahedron/field_sums.h"
#include "space_case.h"

enum { PIECES = 3, FIRST = 100, OF_MEANS = 4, VALUES = KG_FIELD_POINTS * KG_SPACE_MODES_MAX };

/// Fields at random, [element][rows].
typedef struct case_fields {
  space_case c;
  double *u, *star, *flux, *means;
  int n_points;
  double value[VALUES];
} case_fields;

static void open_fields(case_fields *f, int order, int n_elements)
{
  space_case_create(&f->c, ctx, order, n_elements);
  const size_t e = (size_t)n_elements, N = (size_t)f->c.size.n_modes;
  f->u = case_randoms(1, e * N);
  f->star = case_randoms(2, e * (size_t)f->c.size.n_star);
  f->flux = case_randoms(3, e * 3 * N);
  f->means = case_randoms(4, e * OF_MEANS);
  f->n_points = kg_field_points(&kg_tetrahedron, order, f->value);
  assert_int_equal(f->n_points, 9);
}

static void close_fields(case_fields *f)
{
  free(f->u), free(f->star), free(f->flux), free(f->means);
  space_case_destroy(&f->c);
}

static double *input(case_fields *f, int rows, const double *by_element)
{
  double *const lanes = space_case_lanes(&f->c, rows, by_element);
  double *const there = case_input(&f->c.memory, lanes, (size_t)(f->c.n_groups * rows * KG_LANES));
  free(lanes);
  return there;
}

/// Sums by the operator, in chunks of so many groups.
static kg_field_sums sums_of(case_fields *f, int32_t groups_at_once)
{
  const kg_cell_sizes z = f->c.size;
  const int M = OF_MEANS;
  kg_field_sums pieces[PIECES], all = kg_no_field_sums();
  memset(pieces, 0xff, sizeof pieces);
  kg_field_sums *there = case_upload(&f->c.memory, pieces, PIECES, sizeof *pieces);
  const double *u = input(f, z.n_modes, f->u), *star = input(f, z.n_star, f->star);
  const double *flux = input(f, 3 * z.n_modes, f->flux), *means = input(f, M, f->means);
  const double *value = case_input(&f->c.memory, f->value, (size_t)(f->n_points * z.n_star));
  for (int32_t first = 0; first < f->c.n_groups; first += groups_at_once) {
    const size_t lanes = (size_t)first * KG_LANES;
    kg_space_field_sums_args args = {
        .cells = kg_tetrahedra_part(&f->c.elements.tetrahedra, first, groups_at_once),
        .materials = f->c.coefficient.space,
        .sums = {.n_facets = 4,
                 .n_modes = z.n_modes,
                 .n_star = z.n_star,
                 .n_points = f->n_points,
                 .value = value,
                 .first_element = FIRST + first * KG_LANES,
                 .u = u + lanes * (size_t)z.n_modes,
                 .u_star = star + lanes * (size_t)z.n_star,
                 .flux = flux + lanes * 3 * (size_t)z.n_modes,
                 .n_means = M,
                 .means = means + lanes * (size_t)M,
                 .begins = first == 0,
                 .n_pieces = PIECES,
                 .sums = there}};
    args.materials.index += lanes;
    args.sums.n_elements = args.cells.n_elements;
    must(ctx, kg_space_field_sums_add(ctx, &args));
  }
  must(ctx, kg_copy_out(ctx, pieces, there, sizeof pieces));
  for (int i = 0; i < PIECES; ++i) kg_field_sums_join(&pieces[i], &all);
  return all;
}

static double at_point(const case_fields *f, int q, int n, const double *modes)
{
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum += f->value[q * f->c.size.n_star + k] * modes[k];
  return sum;
}

/// Where entry (i, j) of a tensor lies.
static const int entry[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

/// By Jacobi's rotations.
static void eigenvalues_of(const double *k, double eigenvalue[3])
{
  double a[3][3];
  for (int i = 0; i < 9; ++i) a[i / 3][i % 3] = k[entry[i / 3][i % 3]];
  for (int turn = 0; turn < 30; ++turn) {
    const int p = turn % 3 == 2 ? 1 : 0, q = turn % 3 == 0 ? 1 : 2;
    const double angle = 0.5 * atan2(2.0 * a[p][q], a[q][q] - a[p][p]);
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; ++i) {
      const double x = a[i][p], y = a[i][q];
      a[i][p] = c * x - s * y, a[i][q] = s * x + c * y;
    }
    for (int i = 0; i < 3; ++i) {
      const double x = a[p][i], y = a[q][i];
      a[p][i] = c * x - s * y, a[q][i] = s * x + c * y;
    }
  }
  for (int i = 0; i < 3; ++i) eigenvalue[i] = a[i][i];
}

static kg_field_sums expected_sums(const case_fields *f)
{
  const int N = f->c.size.n_modes, S = f->c.size.n_star;
  kg_field_sums all = kg_no_field_sums();
  for (int e = 0; e < f->c.n_elements; ++e) {
    const double *const u = f->u + e * N, *const star = f->star + e * S;
    const space_element book = space_case_book(&f->c, e);
    const double jacobian = space_element_jacobian(&book);
    double eigenvalue[3];
    for (int k = 0; k < S; ++k) {
      const double less = k < N ? star[k] - u[k] : star[k];
      if (k < N) all.u += jacobian * u[k] * u[k];
      all.star += jacobian * star[k] * star[k];
      *(k < N ? &all.shared : &all.rest) += jacobian * less * less;
    }
    for (int i = 0; i < N; ++i)
      for (int k = 0; k < 3; ++k) {
        double sigma = 0.0;
        for (int j = 0; j < 3; ++j)
          sigma += book.diffusion[entry[k][j]] * f->flux[e * 3 * N + j * N + i];
        all.q += jacobian * f->flux[e * 3 * N + k * N + i] * f->flux[e * 3 * N + k * N + i];
        all.sigma += jacobian * sigma * sigma;
      }
    for (int q = 0; q < f->n_points; ++q) {
      const double here = at_point(f, q, N, u), there = at_point(f, q, S, star);
      all.u_least = fmin(all.u_least, here);
      all.u_most = fmax(all.u_most, here);
      if (there < all.star_least) all.star_least = there, all.least_at = FIRST + e;
      if (there > all.star_most) all.star_most = there, all.most_at = FIRST + e;
    }
    eigenvalues_of(book.diffusion, eigenvalue);
    for (int k = 0; k < 3; ++k) {
      all.kappa_least = fmin(all.kappa_least, eigenvalue[k]);
      all.kappa_most = fmax(all.kappa_most, eigenvalue[k]);
    }
    ++all.n;
  }
  return all;
}

static void sums_and_extrema_are_those_of_loops_in_any_chunks(void **state)
{
  (void)state;
  const int most = test_is_quick() ? 3 : KG_SPACE_ORDER_MAX;
  for (int order = 1; order <= most; ++order) {
    case_fields f;
    open_fields(&f, order, 4 * KG_LANES + 13);
    const kg_field_sums expected = expected_sums(&f);
    const kg_field_sums found = sums_of(&f, f.c.n_groups), parts = sums_of(&f, 2);
    const kg_field_sums again = sums_of(&f, 2);
    const double *const a = &expected.u, *const b = &found.u, *const p = &parts.u;
    assert_memory_equal(&parts, &again, sizeof parts);
    for (int k = 0; k < 12; ++k) {
      assert_at_most(fabs(b[k] - a[k]), 1e-12 * fabs(a[k]));
      assert_at_most(fabs(p[k] - a[k]), 1e-12 * fabs(a[k]));
    }
    assert_int_equal(found.least_at, expected.least_at);
    assert_int_equal(found.most_at, expected.most_at);
    assert_int_equal(parts.n, f.c.n_elements);
    assert_true(found.bad_u == -1 && found.bad_star == -1 && found.bad_mean == -1);
    close_fields(&f);
  }
}

static void the_first_element_of_each_field_that_is_not_finite_is_told(void **state)
{
  (void)state;
  static const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < 3; ++k) {
    case_fields f;
    open_fields(&f, 2, 3 * KG_LANES + 5);
    f.means[OF_MEANS * 31 + 3] = bad[k];
    f.star[f.c.size.n_star * 77 + f.c.size.n_star - 1] = bad[k];
    f.star[f.c.size.n_star * 90] = bad[(k + 1) % 3];
    f.u[f.c.size.n_modes * 88] = bad[k];
    const kg_field_sums found = sums_of(&f, 2);
    assert_int_equal(found.bad_mean, FIRST + 31);
    assert_int_equal(found.bad_star, FIRST + 77);
    assert_int_equal(found.bad_u, FIRST + 88);
    close_fields(&f);
  }
}

/// The points are the corners, one towards each of them, and the centre.
static void constants_and_linear_functions_have_their_values_at_the_points(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    double value[VALUES];
    const int n_star = kg_tetrahedron.n_modes(order + 1);
    assert_int_equal(kg_field_points(&kg_tetrahedron, order, value), 9);
    for (int k = 1; k < 4; ++k) {  // linear modes have no mean
      double corners = 0.0, between = 0.0;
      for (int l = 0; l < 4; ++l) corners += value[l * n_star + k];
      for (int l = 4; l < 8; ++l) between += value[l * n_star + k];
      assert_at_most(fabs(corners), 1e-13);
      assert_at_most(fabs(between), 1e-13);
      assert_at_most(fabs(value[8 * n_star + k]), 1e-14);
    }
    for (int q = 0; q < 9; ++q) assert_at_most(fabs(value[q * n_star] - sqrt(0.75)), 1e-15);
  }
}

/// Tensors with these eigenvalues, turned about two axes.
static void eigenvalues_of_tensors_are_found(void **state)
{
  static const double known[][3] = {{1.0, 1.0, 1.0},       {0.1, 0.1, 0.1},   {2.0, 2.0, 5.0},
                                    {2.0, 5.0, 5.0},       {1.0, 2.0, 3.0},   {1e-6, 1.0, 1e6},
                                    {1e-30, 2e-30, 1e-29}, {1e30, 7e30, 2e31}};
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    for (int turn = 0; turn < 7; ++turn) {
      const double c = cos(0.7 * turn), s = sin(0.7 * turn), C = cos(0.4 * turn),
                   S = sin(0.4 * turn);
      const double axis[3][3] = {{c, s, 0}, {-s * C, c * C, S}, {s * S, -c * S, C}};
      double k[KG_SPACE_PAIRS];
      for (int a = 0, p = 0; a < 3; ++a)
        for (int b = a; b < 3; ++b, ++p) {
          k[p] = 0.0;
          for (int d = 0; d < 3; ++d) k[p] += known[i][d] * axis[d][a] * axis[d][b];
        }
      kg_field_sums e = kg_no_field_sums();
      kg_space_widen(k, &e);
      assert_at_most(fabs(e.kappa_most - known[i][2]), 1e-14 * known[i][2]);
      assert_at_most(fabs(e.kappa_least - known[i][0]), 1e-14 * known[i][2]);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_and_extrema_are_those_of_loops_in_any_chunks),
      cmocka_unit_test(the_first_element_of_each_field_that_is_not_finite_is_told),
      cmocka_unit_test(constants_and_linear_functions_have_their_values_at_the_points),
      cmocka_unit_test(eigenvalues_of_tensors_are_found),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
