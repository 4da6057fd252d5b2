// Every reference matrix against its definition, integrated by a rule of higher degree.
#include <float.h>
#include <stdlib.h>

#include "basis/local_tiles.h"
#include "definition.h"

/// sum_k a[i][k] b[j][k].
static double row_product(int n, const double *a, const double *b)
{
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

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

static void eliminated_lifts_are_products_of_edge_masses_and_lifts(void **state)
{
  (void)state;
  for_all_orders(check_eliminated_lift);
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
      cmocka_unit_test(eliminated_lifts_are_products_of_edge_masses_and_lifts),
      cmocka_unit_test(rotations_are_orthonormal_and_orthogonal_to_gradients),
      cmocka_unit_test(potentials_have_their_gradients),
      cmocka_unit_test(numbers_are_rounded_once),
      cmocka_unit_test(pieces_fill_the_array_without_gap_or_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
