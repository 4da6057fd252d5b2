// The tiles that tensor cores take: which row of which matrix stands where, written down a second
// time, and what the modes' order promises.
#include <stdlib.h>

#include "basis/local_tiles.h"
#include "basis/reference.h"
#include "compare.h"
#include "ops/local/reduced.h"

enum { MODES = (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 2) / 2 };

/// Checks every order, for packed and for reduced K^e.
static void for_all_orders(void (*check)(const kg_reference *, const kg_cut *))
{
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order) {
    double *values;
    assert_int_equal(kg_reference_create(NULL, order, &values), KEDGE_OK);
    const kg_reference ref = kg_reference_at(order, values);
    for (int reduced = 0; reduced < 2; ++reduced) {
      const kg_cut cut = kg_cut_of(order, reduced);
      assert_int_equal(cut.N, ref.size.n_modes);
      assert_int_equal(cut.n, ref.size.n_trace);
      assert_int_equal(cut.rows, ref.size.n_trace - 3 * reduced);
      for (int i = 0; i < cut.rows; ++i)
        assert_int_equal(cut.unknown[i], reduced ? kg_reduced_unknown(order + 1, i) : i);
      check(&ref, &cut);
    }
    free(values);
  }
}

/// Where the tiles of a cut begin: those of reduced K^e lie behind those of packed ones.
static const double *tiles_of(const kg_reference *ref, const kg_cut *cut)
{
  if (cut->rows == cut->n) return ref->operator_tiles;
  const kg_cut packed = kg_cut_of(ref->size.order, false);
  return ref->trace_tiles + kg_cut_trace_count(&packed);
}

/// The number of a mode along the base of the reference triangle is its number in its degree.
static int along_base(int mode)
{
  int degree = 0;
  for (; mode > degree; ++degree) mode -= degree + 1;
  return mode;
}

static double packed(const double *matrix, int i, int j)
{
  return i > j ? matrix[i * (i + 1) / 2 + j] : matrix[j * (j + 1) / 2 + i];
}

static void check_order(const kg_reference *ref, const kg_cut *cut)
{
  int seen[MODES] = {0}, changes = 0;
  for (int i = 0; i < cut->N; ++i) {
    assert_in_range(cut->mode[i], 0, cut->N - 1);
    assert_int_equal(seen[cut->mode[i]]++, 0);
    const int even = (along_base(cut->mode[i]) + ref->size.order) % 2 == 0;
    const int even_before = i > 0 && (along_base(cut->mode[i - 1]) + ref->size.order) % 2 == 0;
    if (even == even_before) continue;
    ++changes;
    assert_true(even);
    assert_int_equal(i % 2, 0);  // neighbours in a lane are of one parity
  }
  assert_int_equal(changes, 1);
}

static void modes_of_a_parity_stand_together_and_pairs_are_never_mixed(void **state)
{
  (void)state;
  for_all_orders(check_order);
}

static double largest_entry(const kg_reference *ref)
{
  double largest = 1.0;
  for (int i = 0; i < ref->size.n_modes; ++i)
    for (int k = 0; k < 3; ++k) largest = fmax(largest, fabs(packed(ref->stiffness[k], i, i)));
  return largest;
}

static void check_parity(const kg_reference *ref, const kg_cut *cut)
{
  const double tolerance = rounding(cut->N) * largest_entry(ref);
  for (int i = 0; i < cut->N; ++i)
    for (int j = 0; j <= i; ++j) {
      double s[3], e[3];
      for (int k = 0; k < 3; ++k) {
        s[k] = packed(ref->stiffness[k], i, j);
        e[k] = packed(ref->edge_mass[k], i, j);
      }
      const int same = (along_base(i) + along_base(j)) % 2 == 0;
      assert_at_most(fabs(s[1] - (same ? s[0] : 2.0 * s[2])), tolerance);
      assert_at_most(fabs(e[2] - (same ? e[1] : -e[1])), tolerance);
      if (!same) assert_at_most(fabs(s[0]) + fabs(e[0]), tolerance);
    }
}

static void four_matrices_of_six_suffice(void **state)
{
  (void)state;
  for_all_orders(check_parity);
}

/// The row of R^T that stands in row k of the last tile of modes, or -1.
static int behind_modes(const kg_cut *cut, int k)
{
  const int after_load = KG_TILE * (cut->modes - 1) + k - cut->N - 1;
  return after_load >= 0 && after_load < cut->border ? cut->rows - cut->border + after_load : -1;
}

static void check_operator(const kg_reference *ref, const kg_cut *cut)
{
  const double *const matrix[KG_OPERATOR_TILES] = {ref->stiffness[0], ref->stiffness[2],
                                                   ref->edge_mass[0], ref->edge_mass[1]};
  const double *const lift[KG_OPERATOR_TILES] = {ref->lift, ref->lift_r, ref->lift_s, NULL};
  const double *tile = tiles_of(ref, cut);
  for (int I = 0; I < cut->modes; ++I)
    for (int J = 0; J <= I; ++J)
      for (int q = 0; q < KG_OPERATOR_TILES; ++q, tile += KG_TILE_ENTRIES)
        for (int at = 0; at < KG_TILE_ENTRIES; ++at) {
          const int i = KG_TILE * I + at / KG_TILE, j = KG_TILE * J + at % KG_TILE;
          const int border = I == cut->modes - 1 ? behind_modes(cut, at / KG_TILE) : -1;
          double expected = 0.0;
          if (i < cut->N && j < cut->N) expected = packed(matrix[q], cut->mode[i], cut->mode[j]);
          if (border >= 0 && j < cut->N && lift[q])
            expected = lift[q][cut->mode[j] * cut->n + cut->unknown[border]];
          assert_true(tile[at] == expected);
        }
  assert_ptr_equal(tile, tiles_of(ref, cut) + kg_cut_operator_count(cut));
  assert_true(cut->rows < cut->n || tile == ref->lift_tiles);
}

static void check_lift(const kg_reference *ref, const kg_cut *cut)
{
  const double *const lift[KG_LIFT_TILES] = {ref->lift, ref->lift_r, ref->lift_s};
  const double *tile = tiles_of(ref, cut) + kg_cut_operator_count(cut);
  for (int I = 0; I < cut->traces; ++I)
    for (int J = 0; J < cut->modes; ++J)
      for (int q = 0; q < KG_LIFT_TILES; ++q, tile += KG_TILE_ENTRIES)
        for (int at = 0; at < KG_TILE_ENTRIES; ++at) {
          const int c = KG_TILE * I + at / KG_TILE, i = KG_TILE * J + at % KG_TILE;
          const int exists = c < cut->rows - cut->border && i < cut->N;
          assert_true(tile[at] ==
                      (exists ? lift[q][cut->mode[i] * cut->n + cut->unknown[c]] : 0.0));
        }
  assert_true(cut->rows < cut->n || tile == ref->trace_tiles);
}

/// The trace mode of a row of the tiles of the trace, or -1.
static int trace_mode(const kg_cut *cut, int row)
{
  if (row / KG_TILE == cut->traces)
    row = behind_modes(cut, row % KG_TILE);
  else if (row >= cut->rows - cut->border)
    row = -1;
  return row >= 0 ? cut->unknown[row] : -1;
}

static void check_trace(const kg_reference *ref, const kg_cut *cut)
{
  const int tiles = cut->border > 0 ? cut->traces + 1 : cut->traces;
  const double *tile = tiles_of(ref, cut) + kg_cut_operator_count(cut) + kg_cut_lift_count(cut);
  for (int I = 0; I < tiles; ++I)
    for (int J = 0; J < tiles; ++J, tile += KG_TILE_ENTRIES)
      for (int at = 0; at < KG_TILE_ENTRIES; ++at) {
        const int i = trace_mode(cut, KG_TILE * I + at / KG_TILE);
        const int j = trace_mode(cut, KG_TILE * J + at % KG_TILE);
        assert_true(tile[at] == (i >= 0 && j >= 0 ? packed(ref->trace_mass, i, j) : 0.0));
      }
  assert_true(cut->rows == cut->n || tile == ref->derivative_tiles);
}

static void tiles_hold_the_entries_of_their_matrices_and_zeros_beyond(void **state)
{
  (void)state;
  for_all_orders(check_operator);
  for_all_orders(check_lift);
  for_all_orders(check_trace);
}

static void check_border(const kg_reference *ref, const kg_cut *cut)
{
  (void)ref;
  const int load = cut->N / KG_TILE;  // the tile row of the load
  assert_int_equal(cut->modes, load + 1);
  assert_true(cut->N + 1 + cut->border <= KG_TILE * cut->modes);
  const int rows = KG_TILE * cut->traces;
  assert_true(rows >= cut->rows - cut->border && rows < cut->rows + KG_TILE);
  if (cut->border > 0) assert_int_equal(rows + cut->border, cut->rows);
}

static void the_load_has_room_behind_the_modes_and_a_border_saves_a_row_of_tiles(void **state)
{
  (void)state;
  for_all_orders(check_border);
  assert_int_equal(kg_cut_of(5, false).border, 2);
  assert_int_equal(kg_cut_of(6, false).border, 0);
  assert_int_equal(kg_cut_of(6, true).border, 2);
  assert_int_equal(kg_cut_of(10, false).border, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modes_of_a_parity_stand_together_and_pairs_are_never_mixed),
      cmocka_unit_test(four_matrices_of_six_suffice),
      cmocka_unit_test(tiles_hold_the_entries_of_their_matrices_and_zeros_beyond),
      cmocka_unit_test(the_load_has_room_behind_the_modes_and_a_border_saves_a_row_of_tiles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
