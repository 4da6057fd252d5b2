// The plan of device memory: places, the prediction, and what is found in arrays that do not live.
#include "device/plan.h"

#include <string.h>

#include "cmocka_all.h"
#include "context.h"
#include "linear/phases.h"

enum { MANY = 60, MIB = 1 << 20 };

static bool host_may_touch_memory(void)
{
  return test_backend() != KEDGE_BACKEND_CUDA;
}

/// Arrays with sizes and sets of phases that repeat from one call to the next.
static void declare_many(kg_plan *plan, uint32_t seed, void **pointers)
{
  uint32_t random = seed;
  for (int i = 0; i < MANY; ++i) {
    random = random * 1664525u + 1013904223u;
    const size_t count = 1 + (random >> 12) % 100000;
    const unsigned phases = 1 + (random >> 3) % ((1u << KG_PHASE_COUNT) - 1);
    kg_plan_array(plan, "one of many", count, 8, phases, &pointers[i]);
  }
}

static void arrays_that_live_together_do_not_overlap(void **state)
{
  (void)state;
  for (uint32_t seed = 1; seed < 50; ++seed) {
    kg_plan plan = {0};
    void *pointers[MANY];
    declare_many(&plan, seed, pointers);
    kg_plan_place(&plan);
    for (int i = 0; i < plan.n; ++i)
      for (int j = 0; j < i; ++j) {
        const kg_plan_entry *a = &plan.entry[i], *b = &plan.entry[j];
        const bool overlap = a->at < b->at + b->bytes && b->at < a->at + a->bytes;
        assert_false(overlap && (a->phases & b->phases));
        assert_true(a->at + a->bytes <= plan.bytes);
      }
  }
}

static void places_depend_on_declarations_alone(void **state)
{
  (void)state;
  kg_plan plans[2] = {0};
  void *pointers[2][MANY];
  for (int i = 0; i < 2; ++i) {
    declare_many(&plans[i], 7, pointers[i]);
    kg_plan_place(&plans[i]);
  }
  kg_plan_place(&plans[1]);  // again
  assert_int_equal(plans[0].bytes, plans[1].bytes);
  for (int i = 0; i < plans[0].n; ++i) assert_int_equal(plans[0].entry[i].at, plans[1].entry[i].at);
}

/// A p of an iteration and what a cycle works with; K^e, and the chunk that residuals make again.
static void arrays_of_other_phases_lie_over_each_other(void **state)
{
  (void)state;
  void *kept, *product, *coarse, *chunk;
  kg_plan plan = {0};
  kg_plan_array(&plan, "kept", 10, MIB, KG_FROM(LOCAL, RECOVER), &kept);
  kg_plan_array(&plan, "A p", 5, MIB, KG_IN(STEP), &product);
  kg_plan_array(&plan, "coarse vectors", 3, MIB, KG_IN(COARSE), &coarse);
  kg_plan_array(&plan, "chunk", 4, MIB, KG_IN(RESIDUAL), &chunk);
  assert_int_equal(kg_plan_place(&plan), 15 * MIB);
  assert_int_equal(kg_plan_live_bytes(&plan, KG_FROM(DOWN, UP)), 13 * MIB);
  assert_int_equal(kg_plan_live_bytes(&plan, ~0u), 15 * MIB);
  plan.apart = true;
  assert_int_equal(kg_plan_place(&plan), 22 * MIB);
}

/// The heaviest, which goes first, and the next, which may lie over it, leave no room for a third
/// but above both. Beside the third alone they fit.
static void other_orders_find_places_that_the_heaviest_first_does_not(void **state)
{
  (void)state;
  static const struct {
    size_t count;
    unsigned phases;
  } arrays[] = {{3, KG_IN(LOCAL)},
                {5, KG_IN(RESIDUAL)},
                {3, KG_IN(LOCAL) | KG_IN(ASSEMBLY) | KG_IN(RESIDUAL)},
                {3, KG_IN(LOCAL) | KG_IN(ASSEMBLY)}};
  kg_plan plan = {0};
  void *pointers[4];
  for (int i = 0; i < 4; ++i)
    kg_plan_array(&plan, "array", arrays[i].count, MIB, arrays[i].phases, &pointers[i]);
  assert_int_equal(kg_plan_live_bytes(&plan, ~0u), 9 * MIB);
  assert_int_equal(kg_plan_place(&plan), 9 * MIB);
}

static void a_commit_allocates_what_was_predicted_in_one_piece(void **state)
{
  (void)state;
  kg_plan plan = {0};
  double *numbers;
  int32_t *indices, *none = &(int32_t){0};
  kg_plan_array(&plan, "numbers", 1000, sizeof *numbers, KG_IN(LOCAL), &numbers);
  kg_plan_array(&plan, "indices", 3, sizeof *indices, KG_IN(LOCAL), &indices);
  kg_plan_array(&plan, "none", 0, sizeof *none, KG_IN(LOCAL), &none);
  assert_null(numbers);
  const size_t predicted = kg_plan_place(&plan);
  const int64_t before = ctx->bytes_in_use;
  must(ctx, kg_plan_commit(ctx, &plan));
  assert_int_equal(ctx->bytes_in_use - before, predicted);
  assert_int_equal(predicted, kg_rounded(8000) + KG_ALIGNMENT);
  assert_null(none);
  assert_int_equal((char *)indices - (char *)numbers, kg_rounded(8000));
  assert_ptr_equal(kg_plan_buffer(&plan, &indices).data, indices);
  assert_int_equal(kg_plan_buffer(&plan, &numbers).bytes, kg_rounded(8000));
  assert_null(kg_plan_buffer(&plan, &none).data);
  kg_plan_free(ctx, &plan);
  assert_int_equal(ctx->bytes_in_use, before);
  assert_null(numbers);
}

static bool is_nan(const double *array, size_t n)
{
  for (size_t i = 0; i < n; ++i)
    if (array[i] == array[i]) return false;
  return true;
}

static void what_does_not_live_in_a_phase_is_nan(void **state)
{
  (void)state;
  if (!host_may_touch_memory()) skip();
  kg_plan plan = {.poison = true};
  double *kept, *early, *late;
  kg_plan_array(&plan, "kept", 100, sizeof *kept, KG_IN(LOCAL) | KG_IN(RESIDUAL), &kept);
  kg_plan_array(&plan, "early", 100, sizeof *early, KG_IN(LOCAL), &early);
  kg_plan_array(&plan, "late", 100, sizeof *late, KG_IN(RESIDUAL), &late);
  kg_plan_place(&plan);
  must(ctx, kg_plan_commit(ctx, &plan));
  assert_ptr_equal(early, late);
  must(ctx, kg_plan_enter(ctx, &plan, KG_PHASE_LOCAL));
  assert_true(is_nan(kept, 100) && is_nan(early, 100));
  for (int i = 0; i < 100; ++i) kept[i] = early[i] = i;
  must(ctx, kg_plan_enter(ctx, &plan, KG_PHASE_LOCAL));
  assert_true(kept[99] == 99.0 && early[99] == 99.0);
  must(ctx, kg_plan_enter(ctx, &plan, KG_PHASE_RESIDUAL));
  assert_true(kept[99] == 99.0);
  assert_true(is_nan(late, 100));
  must(ctx, kg_plan_enter(ctx, &plan, KG_PHASE_RECOVER));
  assert_true(is_nan(kept, 100) && is_nan(late, 100));
  kg_plan_free(ctx, &plan);
}

static void a_write_to_what_does_not_live_is_found(void **state)
{
  (void)state;
  if (!host_may_touch_memory()) skip();
  kg_plan plan = {.poison = true};
  double *early, *late;
  kg_plan_array(&plan, "early", 100, sizeof *early, KG_IN(LOCAL), &early);
  kg_plan_array(&plan, "late", 1000, sizeof *late, KG_IN(RESIDUAL), &late);
  kg_plan_place(&plan);
  must(ctx, kg_plan_commit(ctx, &plan));
  must(ctx, kg_plan_enter(ctx, &plan, KG_PHASE_LOCAL));
  late[999] = 1.0;
  assert_int_equal(kg_plan_enter(ctx, &plan, KG_PHASE_RESIDUAL), KEDGE_ERR_INTERNAL);
  assert_non_null(strstr(kedge_context_error(ctx), "the array late was written in phase"));
  kg_plan_free(ctx, &plan);
}

static void without_poison_a_phase_leaves_memory_as_it_is(void **state)
{
  (void)state;
  if (!host_may_touch_memory()) skip();
  kg_plan plan = {0};
  double *array;
  kg_plan_array(&plan, "array", 1, sizeof *array, KG_IN(LOCAL), &array);
  kg_plan_place(&plan);
  must(ctx, kg_plan_commit(ctx, &plan));
  *array = 1.0;
  must(ctx, kg_plan_enter(ctx, &plan, KG_PHASE_LOCAL));
  must(ctx, kg_plan_enter(ctx, &plan, KG_PHASE_RESIDUAL));
  assert_true(*array == 1.0);
  kg_plan_free(ctx, &plan);
}

static void a_plan_of_many_solves_keeps_what_a_set_up_made(void **state)
{
  (void)state;
  kg_plan once = {0}, many = {.repeats = &kg_solve_phases};
  kg_plan *const plans[] = {&once, &many};
  double *made, *work, *loads;
  size_t bytes[2];
  for (int i = 0; i < 2; ++i) {
    kg_plan *const p = plans[i];
    kg_plan_array(p, "made", 1000, 8, KG_IN(LOCAL) | KG_IN(STEP), &made);
    kg_plan_array(p, "work", 100, 8, KG_IN(LOCAL) | KG_IN(RECOVER) | KG_ANEW, &work);
    kg_plan_array(p, "loads", 1000, 8, KG_IN(LOADS), &loads);
    bytes[i] = kg_plan_place(p);
  }
  assert_int_equal(bytes[0], kg_rounded(8000) + kg_rounded(800));  // loads lie over the others
  assert_int_equal(bytes[1], 2 * kg_rounded(8000));
}

static void a_plan_takes_the_memory_of_one_before_if_it_is_enough(void **state)
{
  (void)state;
  kg_plan first = {0}, same = {0}, larger = {0};
  double *a, *b, *c;
  kg_plan_array(&first, "a", 1000, 8, KG_IN(LOCAL), &a);
  kg_plan_array(&same, "b", 900, 8, KG_IN(LOCAL), &b);
  kg_plan_array(&larger, "c", 2000, 8, KG_IN(LOCAL), &c);
  kg_plan_place(&first);
  kg_plan_place(&same);
  kg_plan_place(&larger);
  const int64_t before = ctx->bytes_in_use;
  must(ctx, kg_plan_commit(ctx, &first));
  const double *const at = a;
  kg_plan_take(&same, &first);
  assert_null(a);
  kg_plan_free(ctx, &first);
  must(ctx, kg_plan_commit(ctx, &same));
  assert_ptr_equal(b, at);
  assert_int_equal(ctx->bytes_in_use - before, kg_rounded(8000));
  kg_plan_take(&larger, &same);
  assert_ptr_equal(b, at);
  kg_plan_free(ctx, &same);
  must(ctx, kg_plan_commit(ctx, &larger));
  assert_int_equal(ctx->bytes_in_use - before, kg_rounded(16000));
  kg_plan_free(ctx, &larger);
  assert_int_equal(ctx->bytes_in_use, before);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_that_live_together_do_not_overlap),
      cmocka_unit_test(places_depend_on_declarations_alone),
      cmocka_unit_test(arrays_of_other_phases_lie_over_each_other),
      cmocka_unit_test(other_orders_find_places_that_the_heaviest_first_does_not),
      cmocka_unit_test(a_commit_allocates_what_was_predicted_in_one_piece),
      cmocka_unit_test(what_does_not_live_in_a_phase_is_nan),
      cmocka_unit_test(a_write_to_what_does_not_live_is_found),
      cmocka_unit_test(without_poison_a_phase_leaves_memory_as_it_is),
      cmocka_unit_test(a_plan_of_many_solves_keeps_what_a_set_up_made),
      cmocka_unit_test(a_plan_takes_the_memory_of_one_before_if_it_is_enough),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
