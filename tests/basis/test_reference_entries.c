// What kernels take for granted of the reference matrices: entries that are zero or equal to
// others, from each side; and the copies in which kernels read them.
#include "basis/local_tiles.h"
#include "definition.h"

/// The terms of the condensed matrix, entry by entry, modes even along the base first.
static void check_condensed_terms(const kg_reference *ref, const definition *d)
{
  (void)d;
  const int K = ref->size.n_rotation;
  const double *const matrix[KG_CONDENSED_TERMS] = {ref->stiffness[1],  ref->edge_mass[1],
                                                    ref->eliminated[0], ref->stiffness[2],
                                                    ref->edge_mass[0],  ref->eliminated[1]};
  int place[KG_CONDENSED_MODES_MAX], next = 0;
  for (int odd = 0; odd < 2; ++odd)
    for (int i = 0; i < K; ++i)
      if (along(i) % 2 == odd) place[i] = next++;
  assert_int_equal(next, K);
  for (int i = 0; i < K; ++i)
    for (int j = 0; j <= i; ++j) {
      const int row = place[i] > place[j] ? place[i] : place[j], col = place[i] + place[j] - row;
      for (int t = 0; t < KG_CONDENSED_TERMS; ++t)
        assert_true(ref->condensed_terms[(row * (row + 1) / 2 + col) * KG_CONDENSED_TERMS + t] ==
                    matrix[t][i * (i + 1) / 2 + j]);
    }
}

/// What ops/local/triangle/local_solve_table.cuh says of modes i and j.
static void check_zeros_of_pair(const kg_reference *ref, const definition *d, int i, int j)
{
  const int degree = degree_of(i), other = degree_of(j), at = i * (i + 1) / 2 + j;
  const bool alike = (along(i) - along(j)) % 2 == 0;
  const double half = 0.5 * ref->gradient_r[i * d->N + j];
  if (other == degree)
    for (int l = 0; l < 3; ++l) assert_entry(ref->edge_mass[l][at], i == j ? degree + 1.0 : 0.0);
  assert_entry(ref->edge_mass[2][at], (alike ? 1 : -1) * ref->edge_mass[1][at]);
  if (along(i) != along(j)) assert_entry(ref->edge_mass[0][at], 0.0);
  if (alike || along(j) > along(i)) assert_entry(ref->gradient_r[i * d->N + j], 0.0);
  if (!alike || along(j) > along(i)) assert_entry(ref->gradient_s[i * d->N + j], half);
  for (int k = 0; k < 3 && degree == ref->size.order; ++k) assert_entry(ref->stiffness[k][at], 0.0);
}

/// What is a multiple of the identity, or another entry, where modes of degree P are eliminated.
static void check_zeros_of_eliminated(const kg_reference *ref, const definition *d)
{
  static const int mirrored[] = {0, 2, 1};
  const int m = d->m, n = d->n;
  for (int l = 0; l < 3; ++l)
    for (int j = 0; j < m; ++j) {
      const int a = l * m + j, other = mirrored[l] * m + j;
      for (int b = l * m; b <= a; ++b)
        assert_entry(ref->trace_top[a * (a + 1) / 2 + b], a == b ? (double)m : 0.0);
      for (int i = 0; i < ref->size.n_rotation; ++i)
        assert_entry(ref->eliminated_lift[1][i * n + a],
                     ((along(i) + j) % 2 ? -1 : 1) * ref->eliminated_lift[0][i * n + other]);
    }
}

static void check_zeros(const kg_reference *ref, const definition *d)
{
  for (int i = 0; i < d->N; ++i) {
    const int degree = degree_of(i);
    const double *lift = ref->lift + i * d->n;
    for (int k = 0; k < d->m; ++k) {
      const double sign = (degree - along(i)) % 2 ? -1.0 : 1.0;
      assert_entry(lift[k], k == along(i) ? sign * sqrt(degree + 1.0) : 0.0);
      assert_entry(lift[2 * d->m + k], ((along(i) + k) % 2 ? -1 : 1) * lift[d->m + k]);
      if (k > degree) assert_entry(lift[d->m + k], 0.0);
    }
    for (int j = 0; j <= i; ++j) check_zeros_of_pair(ref, d, i, j);
  }
}

/// Entry (i, a) of a matrix of edge 0, a < m, turned to edge l: modes of one degree become
/// combinations of themselves, and F_0 F_l.
static double turned(const kg_reference *ref, const double *matrix, int l, int i, int a)
{
  const int n = ref->size.n_trace, m = ref->size.n_edge, degree = degree_of(i);
  double sum = 0.0;
  for (int j = 0, mode = kg_triangle_modes(degree - 1); j <= degree; ++j, ++mode)
    sum += ref->lift[i * n + l * m + j] / ref->lift[mode * n + j] * matrix[mode * n + a];
  return sum;
}

/// What math.md#from-each-side says of edge l, in coordinates that begin at its corner.
static void check_side(const kg_reference *ref, const definition *d, int l)
{
  const int n = ref->size.n_trace, m = ref->size.n_edge;
  for (int a = 0; a < m; ++a) {
    for (int i = 0; i < ref->size.n_modes; ++i) {
      const int at = i * n + l * m + a;
      const double r = turned(ref, ref->lift_r, l, i, a), s = turned(ref, ref->lift_s, l, i, a);
      assert_entry(ref->lift[at], turned(ref, ref->lift, l, i, a));
      assert_entry(ref->lift_r[at], l == 0 ? r : l == 1 ? -s : s - r);
      assert_entry(ref->lift_s[at], l == 0 ? s : l == 1 ? r - s : -r);
      for (int k = 0; k < 2 && i < ref->size.n_rotation; ++k)
        assert_entry(ref->eliminated_lift[k][at], turned(ref, ref->eliminated_lift[k], l, i, a));
    }
    for (int b = 0; b < m; ++b) {
      const int next = (l + 1) % 3 * m + b, own = kg_packed_entry(l * m + a, l * m + b);
      const int to_next = kg_packed_entry(l * m + a, next), of_0 = kg_packed_entry(a, m + b);
      assert_entry(ref->trace_mass[own], ref->trace_mass[kg_packed_entry(a, b)]);
      assert_entry(ref->trace_mass[to_next], ref->trace_mass[of_0]);
      assert_entry(ref->trace_top[to_next], ref->trace_top[of_0]);
    }
  }
}

static void check_sides(const kg_reference *ref, const definition *d)
{
  for (int l = 0; l < 3; ++l) check_side(ref, d, l);
  // In columns of edge 0 derivatives have the zeros of Dr and Ds - Dr / 2.
  for (int i = 0; i < d->N; ++i)
    for (int a = 0; a < d->m; ++a) {
      const bool alike = (along(i) - a) % 2 == 0;
      const double half = 0.5 * ref->lift_r[i * d->n + a];
      if (alike || along(i) > a) assert_entry(ref->lift_r[i * d->n + a], 0.0);
      if (!alike || along(i) > a) assert_entry(ref->lift_s[i * d->n + a], half);
    }
}

static int odd_modes_of(int count)
{
  int odd = 0;
  for (int i = 0; i < count; ++i) odd += along(i) % 2;
  return odd;
}

/// What ops/local/recover/postprocess_table.cuh says of rotations and potentials.
static void check_zeros_of_fields(const kg_reference *ref, const definition *d)
{
  const int K = ref->size.n_rotation, S = d->S - 1, even = K - odd_modes_of(K);
  for (int j = 0; j < d->N; ++j)
    for (int c = 0; c < 2; ++c) {
      for (int k = 0; k < K; ++k)
        if (j == 0 || (along(j) % 2 == c) != (k < even))
          assert_entry(ref->rotation[c][j * K + k], 0.0);
      for (int i = 1; i <= S; ++i)
        if ((along(j) - along(i) + c) % 2 == 0 ||
            (degree_of(j) < 2 && degree_of(i) > 2 * degree_of(j) + 1))
          assert_entry(ref->potential[c][j * S + i - 1], 0.0);
    }
  for (int i = 0; i < K; ++i)
    for (int k = 0; k <= i; ++k) {
      if (k < i) assert_entry(ref->rotation_mass[0][i * (i + 1) / 2 + k], 0.0);
      if ((i < even) == (k < even)) assert_entry(ref->rotation_mass[1][i * (i + 1) / 2 + k], 0.0);
    }
}

/// Tiles for products with `matrices` side by side: entry (i, j) of one is [i * down + j * along]
/// of its matrix, and zero beyond rows and columns.
static void check_product_tiles(const double *tiles, int rows, int cols, int down, int along,
                                int matrices, const double *const matrix[])
{
  const int tile_cols = kg_tiles_of(cols);
  for (int I = 0; I < 2 * kg_tile_pairs_of(rows); ++I)
    for (int J = 0; J < tile_cols; ++J)
      for (int q = 0; q < matrices; ++q, tiles += KG_TILE_ENTRIES)
        for (int at = 0; at < KG_TILE_ENTRIES; ++at) {
          const int i = KG_TILE * I + at / KG_TILE, j = KG_TILE * J + at % KG_TILE;
          assert_true(tiles[at] == (i < rows && j < cols ? matrix[q][i * down + j * along] : 0.0));
        }
}

static void check_tiles_of_products(const kg_reference *ref, const definition *d)
{
  const int N = d->N, K = ref->size.n_rotation, S = d->S - 1;
  const double *const gradient[2] = {ref->gradient_r, ref->gradient_s};
  check_product_tiles(ref->derivative_tiles, N, N, 1, N, 2, gradient);
  check_product_tiles(ref->gradient_tiles, N, N, N, 1, 2, gradient);
  check_product_tiles(ref->rotation_tiles, K, N, 1, K, 2, ref->rotation);
  check_product_tiles(ref->rotation_row_tiles, N, K, K, 1, 2, ref->rotation);
  check_product_tiles(ref->potential_tiles, S, N, 1, S, 2, ref->potential);
}

static void condensed_terms_are_those_entries_by_parity(void **state)
{
  (void)state;
  for_all_orders(check_condensed_terms);
}

static void entries_that_kernels_leave_out_are_zero(void **state)
{
  (void)state;
  for_all_orders(check_zeros);
  for_all_orders(check_zeros_of_eliminated);
  for_all_orders(check_zeros_of_fields);
}

static void the_triangle_is_the_same_from_each_side(void **state)
{
  (void)state;
  for_all_orders(check_sides);
}

static void tiles_hold_the_same_entries_and_zeros_beyond(void **state)
{
  (void)state;
  for_all_orders(check_tiles_of_products);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(condensed_terms_are_those_entries_by_parity),
      cmocka_unit_test(entries_that_kernels_leave_out_are_zero),
      cmocka_unit_test(the_triangle_is_the_same_from_each_side),
      cmocka_unit_test(tiles_hold_the_same_entries_and_zeros_beyond),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
