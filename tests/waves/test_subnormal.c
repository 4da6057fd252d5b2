// Numbers that are too small for a full mantissa: none in a state, and all that the caller has.
#include "moving_waves.h"

#include <float.h>
#include <omp.h>

#include "device/subnormal.h"
#include "kedge/waves.h"

#if defined(__SSE2__) || defined(__aarch64__)
static const bool has_mode = true;
#else
static const bool has_mode = false;
#endif

enum { ELEMENTS = 2 * 16 * 16, NODES = 15 * ELEMENTS };

/// Enough elements for a team of threads.
static waves quiet(void)
{
  waves w = {.ctx = open_backend(KEDGE_BACKEND_HOST, 2)};
  w.problem =
      waves_problem(w.ctx, SETTINGS({"mesh", "generate", "square 16"}, {"space", "order", "4"},
                                    {"equation", "system", "acoustics"},
                                    {"boundary default", "type", "wall"}, {"initial", "p", "1e-40"},
                                    {"solver", "precision", "single"}, {"time", "end", "1"}));
  waves_begin(&w);
  return w;
}

static void what_is_too_small_becomes_nothing(void **state)
{
  static double p[NODES];
  (void)state;
  waves w = quiet();
  must(w.ctx, kedge_march_values(w.march, "p", 4, p));
  assert_true(largest(NODES, p) > 0.0);
  must(w.ctx, kedge_march_step(w.march));
  must(w.ctx, kedge_march_values(w.march, "p", 4, p));
  assert_int_equal(largest(NODES, p) > 0.0, !has_mode);
  waves_free(&w);
}

static volatile float least = FLT_MIN;

/// Threads of a team in which half of the least number of full mantissa is a number.
static int threads_with_subnormals(void)
{
  int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
  n += 0.5f * least > 0.0f;
  return n;
}

static void threads_keep_their_own(void **state)
{
  (void)state;
  waves w = quiet();
  assert_int_equal(threads_with_subnormals(), 2);
  must(w.ctx, kedge_march_step(w.march));
  assert_int_equal(threads_with_subnormals(), 2);
  const uint64_t mode = kg_subnormals_begin();  // of this thread
  must(w.ctx, kedge_march_step(w.march));
  assert_int_equal(threads_with_subnormals(), has_mode ? 1 : 2);
  kg_subnormals_end(mode);
  assert_int_equal(threads_with_subnormals(), 2);
  waves_free(&w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_too_small_becomes_nothing),
      cmocka_unit_test(threads_keep_their_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
