// Every reference matrix against its definition, integrated by a rule of higher degree. One file,
// because all checks read one set of definitions, integrated once an order.
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "basis/edge_place.h"
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
      place_on_edge(l, t[q], &r, &s);
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

/// What elimination of the modes of degree P leaves of a pair of edges.
static void check_eliminated(const kg_reference *ref, const definition *d)
{
  const int K = ref->size.n_rotation;
  for (int l = 0; l < 2; ++l)
    for (int i = 0; i < K; ++i)
      for (int j = 0; j <= i; ++j) {
        const double *first = d->edge_mass[l][i] + K, *second = d->edge_mass[l + 1][j] + K;
        const double *third = d->edge_mass[l + 1][i] + K, *fourth = d->edge_mass[l][j] + K;
        assert_entry(ref->eliminated[l][i * (i + 1) / 2 + j],
                     row_product(d->m, first, second) + row_product(d->m, third, fourth));
      }
}

/// The elimination of R and K^e: columns of edge l times B_k of another edge, and what K^e has of
/// these modes.
static void check_eliminated_lift(const kg_reference *ref, const definition *d)
{
  const int K = ref->size.n_rotation;
  for (int a = 0; a < d->n; ++a) {
    double top[ORDER + 1];
    for (int j = 0; j < d->m; ++j) top[j] = d->lift[K + j][a];
    for (int q = 0; q < 2; ++q)
      for (int i = 0; i < K; ++i) {
        const int k = (a / d->m + 1 + q) % 3;
        assert_entry(ref->eliminated_lift[q][i * d->n + a],
                     row_product(d->m, d->edge_mass[k][i] + K, top));
      }
    for (int b = 0; b <= a; ++b) {
      double sum = 0.0;
      for (int j = 0; j < d->m; ++j) sum += top[j] * d->lift[K + j][b];
      assert_entry(ref->trace_top[a * (a + 1) / 2 + b], sum);
    }
  }
}

static int degree_of(int mode)
{
  int degree = 0;
  while (kg_triangle_modes(degree) <= mode) ++degree;
  return degree;
}

/// Degree along the base.
static int along(int mode)
{
  return mode - kg_triangle_modes(degree_of(mode) - 1);
}

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
static void check_side(const kg_reference *ref, int l)
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
  for (int l = 0; l < 3; ++l) check_side(ref, l);
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

static void eliminated_pairs_of_edges_are_products_of_edge_masses(void **state)
{
  (void)state;
  for_all_orders(check_eliminated);
}

static void condensed_terms_are_those_entries_by_parity(void **state)
{
  (void)state;
  for_all_orders(check_condensed_terms);
}

static void eliminated_lifts_are_products_of_edge_masses_and_lifts(void **state)
{
  (void)state;
  for_all_orders(check_eliminated_lift);
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

/// Against numbers that are known: (d + 1) I among modes of degree d, and by the divergence theorem
/// Dr + Dr^T = E_1 - E_2, Ds + Ds^T = E_1 - E_0.
static void check_units(const kg_reference *ref)
{
  const int N = ref->size.n_modes;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) {
      const int at = i * (i + 1) / 2 + j, ij = i * N + j, ji = j * N + i;
      const double mass[3] = {ref->edge_mass[0][at], ref->edge_mass[1][at], ref->edge_mass[2][at]};
      const double r = ref->gradient_r[ij] + ref->gradient_r[ji];
      const double s = ref->gradient_s[ij] + ref->gradient_s[ji];
      // Zeros are what long double leaves of them.
      const double large = 0.5 + fabs(mass[0]) + fabs(mass[1]) + fabs(mass[2]);
      assert_at_most(fabs(r - (mass[1] - mass[2])), DBL_EPSILON * large);
      assert_at_most(fabs(s - (mass[1] - mass[0])), DBL_EPSILON * large);
      for (int l = 0; l < 3 && degree_of(i) == degree_of(j); ++l)
        if (i == j)
          assert_true(mass[l] == degree_of(i) + 1.0);
        else
          assert_at_most(fabs(mass[l]), 0.5 * DBL_EPSILON);
    }
}

static void numbers_are_rounded_once(void **state)
{
  (void)state;
  if (LDBL_MANT_DIG == DBL_MANT_DIG) skip();  // then they are rounded as they are summed
  for (int order = KEDGE_ORDER_MIN; order <= ORDER; ++order) {
    double *values;
    assert_int_equal(kg_reference_create(NULL, order, &values), KEDGE_OK);
    const kg_reference ref = kg_reference_at(order, values);
    check_units(&ref);
    free(values);
  }
}

static void pieces_fill_the_array_without_gap_or_overlap(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order <= ORDER; ++order) {
    const kg_sizes z = kg_sizes_of(order);
    const size_t packed = (size_t)z.n_modes * (z.n_modes + 1) / 2;
    const size_t K = (size_t)z.n_rotation;
    assert_int_equal(K, order * (order + 1) / 2);
    const size_t total = 6 * packed + 3 * (size_t)z.n_modes * z.n_trace + 2 * (size_t)z.n_packed +
                         2 * K * z.n_trace + 2 * (size_t)z.n_modes * z.n_modes +
                         2 * (size_t)z.n_modes * K + 2 * K * (K + 1) +
                         KG_CONDENSED_TERMS * (K * (K + 1) / 2) +
                         2 * (size_t)z.n_modes * (z.n_star - 1);
    size_t of_local = 0;  // packed, reduced
    for (int reduced = 0; reduced < 2; ++reduced) {
      const kg_cut cut = kg_cut_of(order, reduced);
      const size_t modes = (size_t)cut.modes, down = (size_t)cut.traces;
      const size_t square = cut.border > 0 ? down + 1 : down;
      of_local += 2 * modes * (modes + 1) + 3 * down * modes + square * square;
    }
    const size_t across = (size_t)kg_tiles_of(z.n_modes);
    const size_t of_products =
        2 * (size_t)kg_tile_pairs_of(z.n_modes) *
            (4 * across + 2 * (size_t)kg_tiles_of(z.n_rotation)) +
        4 * across * (size_t)(kg_tile_pairs_of(z.n_rotation) + kg_tile_pairs_of(z.n_star - 1));
    const size_t tiles = of_local + of_products;
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
      cmocka_unit_test(eliminated_pairs_of_edges_are_products_of_edge_masses),
      cmocka_unit_test(condensed_terms_are_those_entries_by_parity),
      cmocka_unit_test(eliminated_lifts_are_products_of_edge_masses_and_lifts),
      cmocka_unit_test(entries_that_kernels_leave_out_are_zero),
      cmocka_unit_test(the_triangle_is_the_same_from_each_side),
      cmocka_unit_test(tiles_hold_the_same_entries_and_zeros_beyond),
      cmocka_unit_test(rotations_are_orthonormal_and_orthogonal_to_gradients),
      cmocka_unit_test(potentials_have_their_gradients),
      cmocka_unit_test(numbers_are_rounded_once),
      cmocka_unit_test(pieces_fill_the_array_without_gap_or_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
