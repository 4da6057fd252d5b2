// The tetrahedron as a shape of elements: basis, rule, facets, nodes.
#include "cmocka_all.h"

#include <math.h>

#include "basis/cell.h"
#include "compare.h"

enum { MODES = 120, ROWS = 9, POINTS = ROWS * ROWS * ROWS };

static const kg_cell *const cell = &kg_tetrahedron;

static void the_rule_integrates_monomials(void **state)
{
  (void)state;
  static long double at[3][POINTS], w[POINTS];
  cell->rule(ROWS, (long double *const[]){at[0], at[1], at[2]}, w);
  long double volume = 0.0L, r2st = 0.0L;
  for (int q = 0; q < POINTS; ++q) {
    assert_true(w[q] > 0.0L && at[0][q] + at[1][q] + at[2][q] < -1.0L);
    volume += w[q];
    // In barycentric coordinates x = (1 + r) / 2 the integral of x^2 y z is 8 * 2! 1! 1! / 7!.
    const long double x = 0.5L * (1 + at[0][q]), y = 0.5L * (1 + at[1][q]);
    r2st += w[q] * x * x * y * 0.5L * (1 + at[2][q]);
  }
  assert_at_most(fabsl(volume - (cell->measure)), 1e-15);
  assert_at_most(fabsl(r2st - (16.0 / 5040.0)), 1e-16);
}

static void modes_are_orthonormal(void **state)
{
  (void)state;
  enum { P = KG_SPACE_ORDER_MAX + 1 };
  static long double at[3][POINTS], w[POINTS], phi[MODES], sum[MODES][MODES];
  const int n = cell->n_modes(P);
  assert_int_equal(n, MODES);
  cell->rule(ROWS, (long double *const[]){at[0], at[1], at[2]}, w);
  for (int q = 0; q < POINTS; ++q) {
    cell->modes(P, (const long double[]){at[0][q], at[1][q], at[2][q]}, phi, NULL);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) sum[i][j] += w[q] * phi[i] * phi[j];
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) assert_at_most(fabsl(sum[i][j] - (i == j)), 1e-15);
}

static void an_order_begins_with_the_one_below(void **state)
{
  (void)state;
  const long double at[3] = {-0.7L, -0.4L, -0.2L};
  long double low[MODES], high[MODES];
  for (int order = 0; order <= KG_SPACE_ORDER_MAX; ++order) {
    cell->modes(order, at, low, NULL);
    cell->modes(order + 1, at, high, NULL);
    for (int i = 0; i < cell->n_modes(order); ++i) assert_true(low[i] == high[i]);
  }
  assert_at_most(fabsl(low[0] - (sqrt(0.75))), 1e-15);
}

/// By differences, inside and, where the collapsed coordinates are singular, from inside.
static void gradients_are_those_of_the_modes(void **state)
{
  (void)state;
  static const long double places[][3] = {
      {-0.7L, -0.4L, -0.2L}, {-1.0L, -1.0L, 1.0L}, {-1.0L, 0.2L, -0.2L}, {1.0L, -1.0L, -1.0L}};
  const long double h = 1e-6L;
  long double phi[MODES], grad[3][MODES], one[MODES], two[MODES];
  for (int p = 0; p < 4; ++p) {
    const long double *const x = places[p];
    cell->modes(6, x, phi, (long double *const[]){grad[0], grad[1], grad[2]});
    for (int k = 0; k < 3; ++k) {
      // Towards the middle (-1/2, -1/2, -1/2), along k alone where that stays inside.
      long double d[3] = {-0.5L - x[0], -0.5L - x[1], -0.5L - x[2]}, a[3], b[3];
      if (p == 0)
        for (int c = 0; c < 3; ++c) d[c] = c == k;
      for (int c = 0; c < 3; ++c) a[c] = x[c] + h * d[c], b[c] = x[c] + 2.0L * h * d[c];
      cell->modes(6, a, one, NULL);
      cell->modes(6, b, two, NULL);
      for (int i = 0; i < cell->n_modes(6); ++i) {
        const long double slope = (4.0L * one[i] - 3.0L * phi[i] - two[i]) / (2.0L * h);
        long double expected = 0.0L;
        for (int c = 0; c < 3; ++c) expected += grad[c][i] * d[c];
        assert_at_most(fabsl(slope - (expected)), 1e-5);
      }
    }
  }
}

static void facets_have_their_corners(void **state)
{
  (void)state;
  for (int l = 0; l < 4; ++l)
    for (int c = 0; c < 3; ++c) {
      long double on[2] = {kg_triangle.corner[c][0], kg_triangle.corner[c][1]}, at[3];
      kg_cell_on_facet(cell, l, on, at);
      const int corner = cell->facet_corner[l][c];
      assert_int_not_equal(corner, l);
      if (c) assert_true(corner > cell->facet_corner[l][c - 1]);
      for (int k = 0; k < 3; ++k) assert_true(at[k] == cell->corner[corner][k]);
    }
  assert_int_equal(kg_cell_sizes_of(cell, 3).n_facet, 10);
  assert_int_equal(kg_cell_sizes_of(cell, 3).n_trace, 40);
  assert_int_equal(kg_cell_sizes_of(&kg_quadrilateral, 3).n_facet, 4);
}

static void the_map_takes_corners_to_corners(void **state)
{
  (void)state;
  for (int v = 0; v < 4; ++v) {
    long double at[3], shape[16];
    for (int k = 0; k < 3; ++k) at[k] = cell->corner[v][k];
    cell->map(1, at, shape);
    for (int w = 0; w < 4; ++w) assert_true(shape[w] == (v == w));
    for (int k = 0; k < 3; ++k) {
      long double slope = 0.0L;
      for (int w = 0; w < 4; ++w) slope += shape[4 * (1 + k) + w] * cell->corner[w][k];
      assert_true(slope == 1.0L);
    }
  }
}

static void nodes_are_all_places_of_a_lattice(void **state)
{
  (void)state;
  double at[3][MODES];
  for (int order = 1; order <= KG_SPACE_ORDER_MAX + 1; ++order) {
    bool seen[8][8][8] = {0};
    const int n = cell->n_modes(order);
    cell->nodes(order, (double *const[]){at[0], at[1], at[2]});
    for (int q = 0; q < n; ++q) {
      int step[3];
      for (int k = 0; k < 3; ++k) step[k] = (int)lround(0.5 * order * (at[k][q] + 1.0));
      assert_in_range(step[0] + step[1] + step[2], 0, order);
      assert_false(seen[step[0]][step[1]][step[2]]);
      seen[step[0]][step[1]][step[2]] = true;
    }
    for (int v = 0; v < 4; ++v)
      for (int k = 0; k < 3; ++k) assert_true(at[k][v] == cell->corner[v][k]);
  }
}

/// Order 4 in VTK's order (vtkHigherOrderTetra): some nodes of each kind, in quarters.
static void nodes_are_in_the_order_of_vtk(void **state)
{
  (void)state;
  static const int expected[][4] = {{4, 1, 0, 0},  {9, 1, 3, 0},  {10, 0, 3, 0}, {13, 0, 0, 1},
                                    {16, 3, 0, 1}, {21, 0, 1, 3}, {22, 1, 0, 1}, {23, 2, 0, 1},
                                    {24, 1, 0, 2}, {25, 1, 2, 1}, {26, 1, 1, 2}, {27, 2, 1, 1},
                                    {28, 0, 1, 1}, {29, 0, 1, 2}, {30, 0, 2, 1}, {31, 1, 1, 0},
                                    {32, 1, 2, 0}, {33, 2, 1, 0}, {34, 1, 1, 1}};
  double at[3][MODES];
  cell->nodes(4, (double *const[]){at[0], at[1], at[2]});
  for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i)
    for (int k = 0; k < 3; ++k)
      assert_true(at[k][expected[i][0]] == 0.5 * expected[i][1 + k] - 1.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_rule_integrates_monomials),
      cmocka_unit_test(modes_are_orthonormal),
      cmocka_unit_test(an_order_begins_with_the_one_below),
      cmocka_unit_test(gradients_are_those_of_the_modes),
      cmocka_unit_test(facets_have_their_corners),
      cmocka_unit_test(the_map_takes_corners_to_corners),
      cmocka_unit_test(nodes_are_all_places_of_a_lattice),
      cmocka_unit_test(nodes_are_in_the_order_of_vtk),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
