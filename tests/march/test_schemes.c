// Errors of the schemes at the end of a march, against those of another implementation.
#include "moving.h"

typedef struct row {
  const char *scheme;
  int steps;
  double u, sigma;  ///< errors at t = 1
} row;

static void assert_digits(double value, double expected, double relative)
{
  assert_at_most(fabs(value / expected - 1.0), relative);
}

static void assert_rows(const setting *settings, const row *rows, int n)
{
  for (int i = 0; i < n; ++i) {
    moving m = moving_of(settings, rows[i].scheme, 1.0, rows[i].steps);
    march_on(&m);
    const kedge_report report = report_now(&m);
    assert_digits(report.u_l2, rows[i].u, 1e-4);
    assert_digits(report.sigma_l2, rows[i].sigma, 1e-4);
    moving_free(&m);
  }
}

static void moving_walls_have_the_errors_of_another_implementation(void **state)
{
  static const row rows[] = {
      {"euler", 10, 7.90039e-03, 3.29232e-02},   {"euler", 20, 3.57730e-03, 1.48590e-02},
      {"euler", 40, 1.68969e-03, 7.00600e-03},   {"trbdf2", 10, 5.07811e-04, 2.20136e-03},
      {"trbdf2", 20, 1.21774e-04, 5.25866e-04},  {"trbdf2", 40, 2.97217e-05, 1.27799e-04},
      {"esdirk4", 10, 1.83179e-05, 1.81599e-04}, {"esdirk4", 20, 2.10530e-06, 3.00645e-05},
      {"esdirk4", 40, 2.35724e-07, 4.97367e-06}};
  (void)state;
  assert_rows(SETTINGS(TABLE_OF("3", MOVES)), rows, sizeof rows / sizeof *rows);
}

static void fixed_walls_have_the_errors_of_another_implementation(void **state)
{
  static const row rows[] = {
      {"euler", 10, 3.20831e-04, 1.30605e-03},   {"euler", 20, 1.44890e-04, 5.89717e-04},
      {"euler", 40, 6.83164e-05, 2.78027e-04},   {"trbdf2", 10, 2.11368e-05, 8.61876e-05},
      {"trbdf2", 20, 5.07633e-06, 2.06956e-05},  {"trbdf2", 40, 1.24066e-06, 5.05718e-06},
      {"esdirk4", 10, 4.00882e-07, 1.76172e-06}, {"esdirk4", 20, 2.86104e-08, 1.36371e-07}};
  (void)state;
  assert_rows(SETTINGS(TABLE_OF("4", FIXED)), rows, sizeof rows / sizeof *rows);
}

/// @param[in] before  times 0.05 before the event
static void assert_cooling(const setting *settings, int before)
{
  static const struct {
    const char *scheme;
    int steps;
    double u;
  } of[] = {{"trbdf2", 4, 1.23e-03},  {"trbdf2", 8, 2.95e-04},  {"trbdf2", 16, 1.00e-04},
            {"esdirk4", 4, 1.64e-04}, {"esdirk4", 8, 7.18e-05}, {"esdirk4", 16, 7.18e-05}};
  for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
    if (test_is_shadow() && of[i].steps > 4) continue;
    moving m = moving_of(settings, of[i].scheme, 0.05 * (1 + before), (1 + before) * of[i].steps);
    march_on(&m);
    assert_digits(report_now(&m).u_l2, of[i].u, 5e-3);
    moving_free(&m);
  }
}

static void walls_that_change_at_once_cost_no_digit(void **state)
{
  (void)state;
  assert_cooling(SETTINGS(SUDDEN("t", "0")), 0);
}

static void neither_do_walls_that_change_at_an_event(void **state)
{
  (void)state;
  assert_cooling(SETTINGS(SUDDEN("t-0.5", "t < 0.5 ? 1 : 0"), {"time", "events", "0.5"}), 10);
}

int main(void)
{
  test_skip_without_backend();
  moving_threads = 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moving_walls_have_the_errors_of_another_implementation),
      cmocka_unit_test(walls_that_change_at_once_cost_no_digit),
      cmocka_unit_test(neither_do_walls_that_change_at_an_event),
      cmocka_unit_test(fixed_walls_have_the_errors_of_another_implementation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
