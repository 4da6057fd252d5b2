// Every reference matrix against its definition, integrated by a rule of higher degree.
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "basis/reference.h"
#include "basis/local_tiles.h"
#include "compare.h"
#include "kedge/base.h"

enum {
  ORDER = KEDGE_ORDER_MAX,
  STAR = (ORDER + 2) * (ORDER + 3) / 2,
  TRACE = 3 * (ORDER + 1),
  EDGE_POINTS = ORDER + 3
};

/// Integrals by definition; full matrices.
typedef struct definition {
  int N, S, m, n;
  double dr[STAR][STAR], ds[STAR][STAR];  ///< (phi_i, d phi_j)
  double stiff[3][STAR][STAR];            ///< (d_a phi_i, d_b phi_j): rr, rs + sr, ss
  double lift[STAR][TRACE];               ///< <phi_i, psi_j>
  double edge_mass[3][STAR][STAR];        ///< <phi_i, phi_j>_l
} definition;

static void integrate_inside(int order, definition *d)
{
  kg_triangle_rule rule;
  assert_int_equal(kg_triangle_rule_create(NULL, 2 * order + 7, &rule), KEDGE_OK);
  double f[STAR], r[STAR], s[STAR];
  for (int q = 0; q < rule.n; ++q) {
    kg_dubiner(order + 1, rule.r[q], rule.s[q], f, r, s);
    for (int i = 0; i < d->S; ++i)
      for (int j = 0; j < d->S; ++j) {
        d->dr[i][j] += rule.w[q] * f[i] * r[j];
        d->ds[i][j] += rule.w[q] * f[i] * s[j];
        d->stiff[0][i][j] += rule.w[q] * r[i] * r[j];
        d->stiff[1][i][j] += rule.w[q] * (r[i] * s[j] + s[i] * r[j]);
        d->stiff[2][i][j] += rule.w[q] * s[i] * s[j];
      }
  }
  kg_triangle_rule_free(&rule);
}

static void integrate_over_edges(int order, definition *d)
{
  double t[EDGE_POINTS], w[EDGE_POINTS], f[STAR], psi[ORDER + 1], r, s;
  kg_gauss_jacobi(EDGE_POINTS, 0, t, w);
  for (int l = 0; l < 3; ++l)
    for (int q = 0; q < EDGE_POINTS; ++q) {
      kg_edge_point(l, t[q], &r, &s);
      kg_dubiner(order, r, s, f, NULL, NULL);
      kg_legendre(order, t[q], psi);
      for (int i = 0; i < d->N; ++i) {
        for (int j = 0; j < d->m; ++j) d->lift[i][l * d->m + j] += w[q] * f[i] * psi[j];
        for (int j = 0; j < d->N; ++j) d->edge_mass[l][i][j] += w[q] * f[i] * f[j];
      }
    }
}

static definition *define(int order)
{
  definition *d = calloc(1, sizeof *d);
  assert_non_null(d);
  d->N = kg_triangle_modes(order);
  d->S = kg_triangle_modes(order + 1);
  d->m = order + 1;
  d->n = 3 * d->m;
  integrate_inside(order, d);
  integrate_over_edges(order, d);
  return d;
}

/// sum_k a[i][k] b[j][k].
static double row_product(int n, const double *a, const double *b)
{
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

static const double *tolerance_of;  // set by each check: scale of the matrix that is compared

#define assert_entry(value, exact) assert_at_most(fabs((value) - (exact)), *tolerance_of)

static void check_gradients(const kg_reference *ref, const definition *d)
{
  for (int i = 0; i < d->N; ++i)
    for (int j = 0; j < d->N; ++j) {
      assert_entry(ref->gradient_r[i * d->N + j], d->dr[j][i]);
      assert_entry(ref->gradient_s[i * d->N + j], d->ds[j][i]);
    }
}

static void check_stiffness(const kg_reference *ref, const definition *d)
{
  for (int i = 0; i < d->N; ++i)
    for (int j = 0; j <= i; ++j) {
      const int at = i * (i + 1) / 2 + j;
      const double rs = row_product(d->N, d->dr[i], d->ds[j]);
      const double sr = row_product(d->N, d->ds[i], d->dr[j]);
      assert_entry(ref->stiffness[0][at], row_product(d->N, d->dr[i], d->dr[j]));
      assert_entry(ref->stiffness[1][at], rs + sr);
      assert_entry(ref->stiffness[2][at], row_product(d->N, d->ds[i], d->ds[j]));
      for (int l = 0; l < 3; ++l) assert_entry(ref->edge_mass[l][at], d->edge_mass[l][i][j]);
    }
}

static void check_lifts(const kg_reference *ref, const definition *d)
{
  for (int a = 0; a < d->n; ++a) {
    double column[STAR];
    for (int i = 0; i < d->N; ++i) column[i] = d->lift[i][a];
    for (int i = 0; i < d->N; ++i) {
      assert_entry(ref->lift[i * d->n + a], column[i]);
      assert_entry(ref->lift_r[i * d->n + a], row_product(d->N, d->dr[i], column));
      assert_entry(ref->lift_s[i * d->n + a], row_product(d->N, d->ds[i], column));
    }
    for (int b = 0; b <= a; ++b) {
      double sum = 0.0;
      for (int i = 0; i < d->N; ++i) sum += d->lift[i][a] * d->lift[i][b];
      assert_entry(ref->trace_mass[a * (a + 1) / 2 + b], sum);
    }
  }
}

/// Tiles for products with `matrices` side by side: entry (i, j) of one is [i * down + j * along] of
/// its matrix, and zero beyond rows and columns.
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
  const int N = d->N, n = d->n, K = ref->size.n_rotation, S = d->S - 1;
  const double *const gradient[2] = {ref->gradient_r, ref->gradient_s};
  check_product_tiles(ref->lift_row_tiles, N, n, n, 1, 1, &ref->lift);
  check_product_tiles(ref->derivative_tiles, N, N, 1, N, 2, gradient);
  check_product_tiles(ref->gradient_tiles, N, N, N, 1, 2, gradient);
  check_product_tiles(ref->rotation_tiles, K, N, 1, K, 2, ref->rotation);
  check_product_tiles(ref->rotation_row_tiles, N, K, K, 1, 2, ref->rotation);
  check_product_tiles(ref->potential_tiles, S, N, 1, S, 2, ref->potential);
}

/// Component c of the gradient of phi*_i in mode j.
static double gradient(const definition *d, int c, int i, int j)
{
  return c == 0 ? d->dr[j][i] : (2.0 * d->ds[j][i] - d->dr[j][i]) / sqrt(3.0);
}

/// Sum over modes of component a of rotation i times component b of rotation k.
static double rotation_product(const kg_reference *ref, int a, int i, int b, int k)
{
  const int K = ref->size.n_rotation;
  double sum = 0.0;
  for (int j = 0; j < ref->size.n_modes; ++j)
    sum += ref->rotation[a][j * K + i] * ref->rotation[b][j * K + k];
  return sum;
}

static void check_rotations(const kg_reference *ref, const definition *d)
{
  const int K = ref->size.n_rotation;
  for (int i = 0; i < K; ++i) {
    for (int k = 1; k < d->S; ++k) {
      double sum = 0.0;
      for (int c = 0; c < 2; ++c)
        for (int j = 0; j < d->N; ++j) sum += ref->rotation[c][j * K + i] * gradient(d, c, k, j);
      assert_entry(sum, 0.0);
    }
    for (int k = 0; k <= i; ++k) {
      const int at = i * (i + 1) / 2 + k;
      const double first = rotation_product(ref, 0, i, 0, k);
      assert_entry(first + rotation_product(ref, 1, i, 1, k), i == k ? 1.0 : 0.0);
      assert_entry(ref->rotation_mass[0][at], first);
      assert_entry(ref->rotation_mass[1][at],
                   rotation_product(ref, 0, i, 1, k) + rotation_product(ref, 1, i, 0, k));
    }
  }
}

static void check_potentials(const kg_reference *ref, const definition *d)
{
  const int S = d->S - 1;
  for (int i = 0; i < S; ++i)
    for (int k = 0; k < S; ++k) {
      double sum = 0.0;
      for (int c = 0; c < 2; ++c)
        for (int j = 0; j < d->N; ++j)
          sum += ref->potential[c][j * S + i] * gradient(d, c, k + 1, j);
      assert_entry(sum, i == k ? 1.0 : 0.0);
    }
}

/// Entries are sums over at most N modes or the rule's points of numbers that are at most about
/// the largest entry of the stiffness matrix.
static double entry_tolerance(const definition *d)
{
  double scale = 1.0;
  for (int k = 0; k < 3; ++k) scale = fmax(scale, largest(STAR * STAR, d->stiff[k][0]));
  return rounding(STAR) * scale;
}

static void for_all_orders(void (*check)(const kg_reference *, const definition *))
{
  for (int order = KEDGE_ORDER_MIN; order <= ORDER; ++order) {
    double *values;
    assert_int_equal(kg_reference_create(NULL, order, &values), KEDGE_OK);
    definition *d = define(order);
    const kg_reference ref = kg_reference_at(order, values);
    const double tolerance = entry_tolerance(d);
    tolerance_of = &tolerance;
    check(&ref, d);
    free(d);
    free(values);
  }
}

static void gradients_are_their_integrals(void **state)
{
  (void)state;
  for_all_orders(check_gradients);
}

static void stiffness_and_edge_masses_are_their_integrals(void **state)
{
  (void)state;
  for_all_orders(check_stiffness);
}

static void lifts_and_trace_masses_are_their_integrals(void **state)
{
  (void)state;
  for_all_orders(check_lifts);
}

static void tiles_hold_the_same_entries_and_zeros_beyond(void **state)
{
  (void)state;
  for_all_orders(check_tiles_of_products);
}

static void rotations_are_orthonormal_and_orthogonal_to_gradients(void **state)
{
  (void)state;
  for_all_orders(check_rotations);
}

static void potentials_have_their_gradients(void **state)
{
  (void)state;
  for_all_orders(check_potentials);
}

static void pieces_fill_the_array_without_gap_or_overlap(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order <= ORDER; ++order) {
    const kg_sizes z = kg_sizes_of(order);
    const size_t packed = (size_t)z.n_modes * (z.n_modes + 1) / 2;
    const size_t K = (size_t)z.n_rotation;
    assert_int_equal(K, order * (order + 1) / 2);
    const size_t total = 6 * packed + 3 * (size_t)z.n_modes * z.n_trace + (size_t)z.n_packed +
                         2 * (size_t)z.n_modes * z.n_modes + 2 * (size_t)z.n_modes * K +
                         K * (K + 1) + 2 * (size_t)z.n_modes * (z.n_star - 1);
    const kg_cut cut = kg_cut_of(order);
    const size_t across = (size_t)cut.modes, down = (size_t)cut.traces;
    const size_t square = cut.border > 0 ? down + 1 : down;
    const size_t of_products =
        2 * (size_t)kg_tile_pairs_of(z.n_modes) *
            ((size_t)kg_tiles_of(z.n_trace) + 4 * across + 2 * (size_t)kg_tiles_of(z.n_rotation)) +
        4 * across * (size_t)(kg_tile_pairs_of(z.n_rotation) + kg_tile_pairs_of(z.n_star - 1));
    const size_t tiles =
        2 * across * (across + 1) + 3 * down * across + square * square + of_products;
    assert_int_equal(kg_reference_count(order), total + tiles * KG_TILE_ENTRIES);
    const double base = 0.0;
    const kg_reference ref = kg_reference_at(order, &base);
    assert_ptr_equal(ref.operator_tiles, &base);
    assert_int_equal(ref.potential[1] - &base,
                     kg_reference_count(order) - (size_t)(z.n_star - 1) * z.n_modes);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_are_their_integrals),
      cmocka_unit_test(stiffness_and_edge_masses_are_their_integrals),
      cmocka_unit_test(lifts_and_trace_masses_are_their_integrals),
      cmocka_unit_test(tiles_hold_the_same_entries_and_zeros_beyond),
      cmocka_unit_test(rotations_are_orthonormal_and_orthogonal_to_gradients),
      cmocka_unit_test(potentials_have_their_gradients),
      cmocka_unit_test(pieces_fill_the_array_without_gap_or_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
