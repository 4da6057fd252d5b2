// The sort is compared with qsort() of (key, original place), which is what stable means.
#include <stdlib.h>
#include <string.h>

#include "device/loop.h"
#include "core/memory.h"
#include "mesh/radix.h"
#include "support.h"

static int compare(const void *a, const void *b)
{
  const kg_pair *p = a, *q = b;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return (p->value > q->value) - (p->value < q->value);
}

static void check(kedge_context *ctx, size_t n, uint64_t bound, int bits)
{
  kg_pair *pairs, *expected = malloc((n + 1) * sizeof *expected);
  uint64_t random = 88172645463325252u;
  assert_ok(ctx, kg_host_alloc(ctx, n, sizeof *pairs, &pairs));
  for (size_t i = 0; i < n; ++i)
    pairs[i] = expected[i] = (kg_pair){next_random(&random, bound), (int64_t)i};
  qsort(expected, n, sizeof *expected, compare);
  assert_ok(ctx, kg_radix_sort(ctx, &pairs, n, bits));
  if (n) assert_memory_equal(pairs, expected, n * sizeof *pairs);
  free(pairs);
  free(expected);
}

static void pairs_are_sorted_and_ties_keep_their_order(void **state)
{
  kedge_context *ctx = *state;
  static const size_t sizes[] = {0, 1, 2, 3, 255, 4099};
  static const uint64_t bounds[] = {1, 2, 300, (uint64_t)1 << 47};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (size_t j = 0; j < sizeof bounds / sizeof *bounds; ++j) check(ctx, sizes[i], bounds[j], 48);
}

static void a_team_keeps_the_order_of_ties(void **state)
{
  kedge_context *ctx = *state;
  const int threads = ctx->threads;
  ctx->threads = 7;
  const size_t n = 70003;
  assert_int_equal(kg_loop_threads(ctx, (int64_t)n, 1), 7);
  check(ctx, n, 1000, 64);
  ctx->threads = threads;
}

static void keys_of_all_64_bits_are_sorted(void **state)
{
  kedge_context *ctx = *state;
  kg_pair *pairs;
  assert_ok(ctx, kg_host_alloc(ctx, 3, sizeof *pairs, &pairs));
  pairs[0] = (kg_pair){UINT64_MAX, 0};
  pairs[1] = (kg_pair){0, 1};
  pairs[2] = (kg_pair){(uint64_t)1 << 63, 2};
  assert_ok(ctx, kg_radix_sort(ctx, &pairs, 3, 64));
  assert_int_equal(pairs[0].value, 1);
  assert_int_equal(pairs[1].value, 2);
  assert_int_equal(pairs[2].value, 0);
  free(pairs);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_are_sorted_and_ties_keep_their_order),
      cmocka_unit_test(a_team_keeps_the_order_of_ties),
      cmocka_unit_test(keys_of_all_64_bits_are_sorted),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
