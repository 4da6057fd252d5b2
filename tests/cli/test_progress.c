// The progress line: its words, and the estimate of what is left.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/progress.h"
#include "cmocka_all.h"

static kedge_progress moment(int64_t iteration, double seconds, double residual)
{
  return (kedge_progress){.stage = "trace_solve",
                          .iteration = iteration,
                          .seconds = seconds,
                          .relative_residual = residual,
                          .tolerance = 1e-12};
}

static void a_steady_fall_is_estimated_exactly(void **state)
{
  (void)state;
  kg_convergence c = {0};
  kedge_progress p;
  for (int64_t i = 1; i <= 500; ++i) {  // a digit in 50 iterations, 10 ms each
    p = moment(i, 0.01 * (double)i, pow(10, -(double)i / 50));
    kg_convergence_add(&c, &p);
  }
  double rate, left;
  assert_true(kg_convergence_estimate(&c, &p, &rate, &left));
  assert_true(fabs(rate - 2) < 1e-9);
  assert_true(fabs(left - 1.0) < 1e-9);  // 2 digits are missing
}

static void the_rate_is_that_of_the_latter_half(void **state)
{
  (void)state;
  kg_convergence c = {0};
  kedge_progress p;
  for (int64_t i = 1; i <= 2000; ++i) {  // a plateau, then a fall
    p = moment(i, 0.001 * (double)i, i <= 1000 ? 1.0 : pow(10, -(double)(i - 1000) / 200));
    kg_convergence_add(&c, &p);
  }
  double rate, left;
  assert_true(kg_convergence_estimate(&c, &p, &rate, &left));
  assert_true(fabs(rate - 0.5) < 0.05);
  assert_true(fabs(left - 1.4) < 0.2);
}

static void spikes_of_the_residual_do_not_move_the_estimate(void **state)
{
  (void)state;
  kg_convergence smooth = {0}, spiky = {0};
  kedge_progress p, q;
  for (int64_t i = 1; i <= 300; ++i) {
    p = moment(i, 0.01 * (double)i, pow(10, -(double)i / 50));
    q = moment(i, p.seconds,
               i % 7 == 0 || i == 300 ? 100 * p.relative_residual : p.relative_residual);
    kg_convergence_add(&smooth, &p);
    kg_convergence_add(&spiky, &q);
  }
  double rate[2], left[2];
  assert_true(kg_convergence_estimate(&smooth, &p, &rate[0], &left[0]));
  assert_true(kg_convergence_estimate(&spiky, &q, &rate[1], &left[1]));
  assert_true(fabs(rate[1] - rate[0]) < 0.05 * rate[0]);
  assert_true(fabs(left[1] - left[0]) < 0.05 * left[0]);
}

static void nothing_is_promised_while_the_residual_does_not_fall(void **state)
{
  (void)state;
  kg_convergence c = {0};
  double rate, left;
  kedge_progress p = moment(1, 0.1, 1);
  assert_false(kg_convergence_estimate(&c, &p, &rate, &left));
  for (int64_t i = 1; i <= 100; ++i) {
    p = moment(i, 0.1 * (double)i, (double)i);
    kg_convergence_add(&c, &p);
  }
  assert_false(kg_convergence_estimate(&c, &p, &rate, &left));
}

static void a_residual_that_is_zero_or_nan_is_left_out(void **state)
{
  (void)state;
  kg_convergence c = {0};
  kedge_progress p = moment(1, 0.1, 0);
  kg_convergence_add(&c, &p);
  p = moment(2, 0.2, NAN);
  kg_convergence_add(&c, &p);
  assert_int_equal(c.n, 0);
}

static void samples_stay_within_their_array(void **state)
{
  (void)state;
  kg_convergence c = {0};
  for (int64_t i = 1; i <= 100000; ++i) {
    const kedge_progress p = moment(i, (double)i, 1.0 / (double)i);
    kg_convergence_add(&c, &p);
    assert_in_range(c.n, 1, KG_PROGRESS_SAMPLES);
  }
  for (int i = 1; i < c.n; ++i) assert_true(c.samples[i].iteration > c.samples[i - 1].iteration);
}

static void assert_line(const kg_progress_line *line, kedge_progress p, const char *expected)
{
  char text[256];
  kg_progress_format(line, &p, text, sizeof text);
  assert_string_equal(text, expected);
}

static void lines_say_what_is_known(void **state)
{
  (void)state;
  kg_progress_line line = {0};
  assert_line(&line, (kedge_progress){.stage = "local_matrices"}, "local matrices (B1-B2) ...");
  assert_line(&line, (kedge_progress){.stage = "output", .finished = true, .seconds = 1.25},
              "output: 1.250 s");
  assert_line(&line, moment(7, 0.1, 0.5), "trace solve: iteration 7, residual 5.0e-01 -> 1e-12");
  for (int64_t i = 1; i <= 12345; ++i) {
    const kedge_progress p = moment(i, 0.5 * (double)i, pow(10, -(double)i / 1500));
    kg_convergence_add(&line.convergence, &p);
  }
  const char *expected =
      "trace solve: iteration 12345, residual 5.9e-09 -> 1e-12, 0.067 digits/100, 47 min left";
  assert_line(&line, moment(12345, 0.5 * 12345, pow(10, -12345.0 / 1500)), expected);
}

static void a_narrow_terminal_gets_whole_parts(void **state)
{
  (void)state;
  static const char line[] =
      "trace solve: iteration 7, residual 5.0e-01 -> 1e-12, 2 digits/100, 9 s left";
  static const struct {
    int columns;
    const char *text;
  } cases[] = {
      {75, line},
      {74, "trace solve: iteration 7, residual 5.0e-01 -> 1e-12, 2 digits/100"},
      {60, "trace solve: iteration 7, residual 5.0e-01 -> 1e-12"},
      {24, "trace solve: iteration 7"},
      {10, "trace solv"},
  };
  assert_int_equal(strlen(line), 75);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[sizeof line];
    memcpy(text, line, sizeof line);
    kg_progress_cut(text, cases[i].columns);
    assert_string_equal(text, cases[i].text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_steady_fall_is_estimated_exactly),
      cmocka_unit_test(the_rate_is_that_of_the_latter_half),
      cmocka_unit_test(spikes_of_the_residual_do_not_move_the_estimate),
      cmocka_unit_test(nothing_is_promised_while_the_residual_does_not_fall),
      cmocka_unit_test(a_residual_that_is_zero_or_nan_is_left_out),
      cmocka_unit_test(samples_stay_within_their_array),
      cmocka_unit_test(lines_say_what_is_known),
      cmocka_unit_test(a_narrow_terminal_gets_whole_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
