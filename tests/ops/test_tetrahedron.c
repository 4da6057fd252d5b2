// Tetrahedra: K^e and F^e are those of the equations of the method, integrated and solved in
// another way; empty lanes, parts of a range and other threads.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "space_case.h"

enum { TENSORS = 4 };

/// [n][n] of a packed matrix, to be freed.
static double *unpacked(int n, const double *packed)
{
  double *full = malloc((size_t)(n * n) * sizeof *full);
  assert_non_null(full);
  for (int i = 0; i < n * n; ++i) full[i] = packed[kg_packed_entry(i / n, i % n)];
  return full;
}

/// K^e and F^e of one lane are those of the book.
static void compare_local(const space_element *book, int order, const double *load,
                          const double *packed, const double *condensed)
{
  const int n = kg_cell_sizes_of(&kg_tetrahedron, order).n_trace;
  double *expected = malloc((size_t)(n * n + n) * sizeof *expected), *full = unpacked(n, packed);
  assert_non_null(expected);
  space_element_local(book, order, load, expected, expected + n * n);
  assert_close((size_t)(n * n), full, expected, 1e-12);
  assert_close((size_t)n, condensed, expected + n * n, 1e-12);
  free(expected), free(full);
}

static void local_matrices_are_those_of_the_equations(void **state)
{
  (void)state;
  static const int picked[] = {0, 1, 2, 3, 4, 6, 8, 32};  // all space_materials, straight and flat
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    space_case r;
    double *out[OUTPUTS];
    space_case_create(&r, ctx, order, 33);
    space_case_run_all(&r, out);
    const int packed = r.size.n_packed, n = r.size.n_trace;
    for (int k = 0; k < (order > 4 || test_is_quick() ? 2 : 8); ++k) {
      const int e = picked[(k + order) % 8];
      const space_element book = space_case_book(&r, e);
      double *local = space_case_element(out[LOCAL], e, packed),
             *f = space_case_element(out[CONDENSED], e, n);
      compare_local(&book, order, r.load + e * r.size.n_modes, local, f);
      free(local), free(f);
    }
    space_case_free(out);
    space_case_destroy(&r);
  }
}

static void local_matrices_of_tensors_are_those_of_the_equations(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order)
    for (int e = order > 4 ? 2 : 0; e < TENSORS; ++e) {
      space_tensor t;
      space_tensor_create(&t, ctx, order, e);
      const int packed = t.ref.size.n_packed, n = t.ref.size.n_trace, N = t.ref.size.n_modes;
      double *load = case_randoms(8, (size_t)N), *f = space_lane(N, load);
      double *local = space_lane(packed, NULL), *condensed = space_lane(n, NULL);
      kg_tetrahedron_condense(&t.ref, &t.factors, t.team, t.scratch, f, local, condensed);
      double *k = space_case_element(local, 0, packed), *c = space_case_element(condensed, 0, n);
      compare_local(&t.book, order, load, k, c);
      free(load), free(f), free(local), free(condensed), free(k), free(c);
      space_tensor_destroy(&t);
    }
}

static void numbers_of_the_corner_element_are_known(void **state)
{
  (void)state;
  for (int order = 1; order <= 3; order += 2) {
    space_case r;
    double *out[OUTPUTS], trace = 0.0, sum = 0.0, square = 0.0;
    space_case_create(&r, ctx, order, 1);
    const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    r.elements.tetrahedra.vertices = case_upload(&r.memory, corner, 12, sizeof(double));
    space_case_run_all(&r, out);
    const int n = r.size.n_trace;
    double *packed = space_case_element(out[LOCAL], 0, r.size.n_packed), *k = unpacked(n, packed);
    for (int i = 0; i < n * n; ++i) {
      trace += i % (n + 1) == 0 ? k[i] : 0.0;
      sum += k[i];
      square += k[i] * k[i];
    }
    const double found[] = {trace, k[0], k[3], sum}, norm = sqrt(square);
    const double expected[] = {25.685760371579, 3.716401076533, -1.225531446792, 11.411011923315};
    if (order == 1)
      for (int i = 0; i < 4; ++i) assert_at_most(fabs(found[i] - expected[i]), 1e-12);
    else {
      assert_at_most(fabs(trace - 160.913923050351), 2e-12);
      assert_at_most(fabs(norm - 36.260714514011), 1e-12);
    }
    free(packed), free(k);
    space_case_free(out);
    space_case_destroy(&r);
  }
}

static void K_times_constants_is_zero_without_reaction(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    space_case r;
    double *out[OUTPUTS];
    space_case_create(&r, ctx, order, 12);
    space_case_run_all(&r, out);
    const int n = r.size.n_trace, m = r.size.n_facet, packed = r.size.n_packed;
    int without = 0;
    for (int e = 0; e < r.n_elements; ++e) {
      if (space_materials[r.index[e]].reaction != 0.0) continue;
      double *k = space_case_element(out[LOCAL], e, packed);
      for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int l = 0; l < 4; ++l) sum += k[kg_packed_entry(i, l * m)];
        assert_at_most(fabs(sum), 1e-12 * largest((size_t)packed, k));
      }
      free(k);
      ++without;
    }
    assert_int_equal(without, 5);
    space_case_free(out);
    space_case_destroy(&r);
  }
}

static void means_are_the_constant_modes(void **state)
{
  (void)state;
  space_case r;
  double *out[OUTPUTS];
  space_case_create(&r, ctx, 2, 33);
  space_case_run_all(&r, out);
  const int N = r.size.n_modes;
  for (int e = 0; e < r.n_elements; ++e) {
    assert_true(out[MEANS][kg_cell_at(e, 4, 0)] == out[U][kg_cell_at(e, N, 0)]);
    for (int k = 0; k < 3; ++k)
      assert_true(out[MEANS][kg_cell_at(e, 4, k + 1)] == out[FLUX][kg_cell_at(e, 3 * N, k * N)]);
  }
  space_case_free(out);
  space_case_destroy(&r);
}

static void empty_lanes_have_zero_local_matrices(void **state)
{
  (void)state;
  static const int sizes[] = {1, 33};
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order)
    for (int s = 0; s < 2; ++s) {
      space_case r;
      double *out[OUTPUTS];
      space_case_create(&r, ctx, order, sizes[s]);
      space_case_run_all(&r, out);
      const int packed = r.size.n_packed, n = r.size.n_trace;
      for (int lane = 0; lane < r.n_groups * KG_LANES; ++lane) {
        const bool empty = lane >= r.n_elements;
        for (int i = 0; i < packed; ++i) {
          const double entry = out[LOCAL][kg_cell_at(lane, packed, i)];
          assert_true(empty ? entry == 0.0 : isfinite(entry));
        }
        for (int i = 0; i < n; ++i) {
          const double entry = out[CONDENSED][kg_cell_at(lane, n, i)];
          assert_true(empty ? entry == 0.0 : isfinite(entry));
        }
      }
      space_case_free(out);
      space_case_destroy(&r);
    }
}

/// Lanes that have an element hold the same bits.
static void assert_same(const space_case *r, int first_group, double *const all[OUTPUTS],
                        double *const part[OUTPUTS])
{
  int rows[OUTPUTS];
  space_case_rows(r->size, rows);
  for (int k = 0; k < OUTPUTS; ++k)
    for (int e = first_group * KG_LANES; e < r->n_elements; ++e)
      for (int i = 0; i < rows[k]; ++i)
        assert_true(all[k][kg_cell_at(e, rows[k], i)] ==
                    part[k][kg_cell_at(e - first_group * KG_LANES, rows[k], i)]);
}

static void a_part_gives_what_the_whole_does_bit_for_bit(void **state)
{
  (void)state;
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    space_case r;
    double *all[OUTPUTS], *again[OUTPUTS], *part[OUTPUTS];
    space_case_create(&r, ctx, order, 33);
    const kg_elements second = kg_elements_part(&r.elements, 1, 5);
    kg_coefficient coefficient = r.coefficient;
    coefficient.space.index += KG_LANES;
    assert_int_equal(second.n_elements, 1);
    assert_int_equal(second.tetrahedra.n_elements, 1);
    double *load = space_case_lanes(&r, r.size.n_modes, r.load);
    space_case_run(&r, &r.elements, &r.coefficient, load, all);
    space_case_run(&r, &r.elements, &r.coefficient, load, again);
    space_case_run(&r, &second, &coefficient, load + r.size.n_modes * KG_LANES, part);
    assert_same(&r, 0, all, again);
    assert_same(&r, 1, all, part);
    free(load);
    space_case_free(all), space_case_free(again), space_case_free(part);
    space_case_destroy(&r);
  }
}

/// Run with another context in place of that of the tests.
static void run_elsewhere(kedge_context *other, int order, int n_elements, double *out[OUTPUTS])
{
  space_case r;
  space_case_create(&r, other, order, n_elements);
  space_case_run_all(&r, out);
  space_case_destroy(&r);
}

static void one_thread_of_the_host_gives_the_same(void **state)
{
  (void)state;
  kedge_context *const host = open_backend(KEDGE_BACKEND_HOST, 1);
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; ++order) {
    space_case r;
    double *expected[OUTPUTS], *out[OUTPUTS];
    int rows[OUTPUTS];
    space_case_create(&r, ctx, order, 33);
    space_case_rows(r.size, rows);
    space_case_run_all(&r, out);
    run_elsewhere(host, order, 33, expected);
    if (ctx->backend == KEDGE_BACKEND_HOST)
      assert_same(&r, 0, expected, out);
    else
      for (int e = 0; e < r.n_elements; ++e)
        for (int k = 0; k < OUTPUTS; ++k) {
          double *a = space_case_element(out[k], e, rows[k]),
                 *b = space_case_element(expected[k], e, rows[k]);
          // The system of u* has the square of a flat element's 100 in its condition number.
          const bool hard = (k == U_STAR || k == INDICATOR) && e % 4 > 1;
          assert_close((size_t)rows[k], a, b, hard ? 1e-10 : 1e-12);
          free(a), free(b);
        }
    space_case_free(out), space_case_free(expected);
    space_case_destroy(&r);
  }
  kedge_context_destroy(host);
}

static void costs_are_those_of_so_many_elements(void **state)
{
  (void)state;
  const kg_form *const form = &kg_form_elliptic;
  kg_elements one = {
      .cell = &kg_tetrahedron, .size = kg_cell_sizes_of(&kg_tetrahedron, 3), .n_elements = 1};
  kg_elements many = one;
  many.n_elements = 10;
  const kg_cost a[] = {form->make_cost(&one, KG_LAYOUT_PACKED), form->recover_cost(&one),
                       form->postprocess_cost(&one), form->means_cost(&one)};
  const kg_cost b[] = {form->make_cost(&many, KG_LAYOUT_PACKED), form->recover_cost(&many),
                       form->postprocess_cost(&many), form->means_cost(&many)};
  for (int k = 0; k < 4; ++k) {
    assert_true(a[k].bytes > 0.0 && b[k].bytes == 10.0 * a[k].bytes);
    assert_at_most(fabs(b[k].flops - 10.0 * a[k].flops), 1e-12 * b[k].flops);
  }
  assert_true(a[0].bytes >= 6560.0 && a[0].flops > 2.0 * 20 * 840);  // K^e, and its sums
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(local_matrices_are_those_of_the_equations),
      cmocka_unit_test(local_matrices_of_tensors_are_those_of_the_equations),
      cmocka_unit_test(numbers_of_the_corner_element_are_known),
      cmocka_unit_test(K_times_constants_is_zero_without_reaction),
      cmocka_unit_test(means_are_the_constant_modes),
      cmocka_unit_test(empty_lanes_have_zero_local_matrices),
      cmocka_unit_test(a_part_gives_what_the_whole_does_bit_for_bit),
      cmocka_unit_test(one_thread_of_the_host_gives_the_same),
      cmocka_unit_test(costs_are_those_of_so_many_elements),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
