// Errors of the schemes at the end of a march, against those of another implementation.
#include "moving.h"

/// Settings of the tables: a tensor, tau = 1, Dirichlet conditions, a source that is derived.
#define OF(order_text, exact_text)                                                       \
  {"space", "order", order_text}, {"space", "stabilization", "1"},                       \
      {"equation", "diffusion", "1, 0.2, 0.8"}, {"exact", "u", exact_text},              \
      {"boundary default", "type", "dirichlet"}, {"solver", "preconditioner", "jacobi"}, \
  {                                                                                      \
    "solver", "tolerance", "1e-13"                                                       \
  }

typedef struct row {
  const kg_tableau *scheme;
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
    moving m = moving_of("square 3", settings, rows[i].scheme, 1.0, rows[i].steps);
    march_on(&m);
    const kedge_report report = report_now(&m);
    assert_digits(report.u_l2, rows[i].u, 1e-4);
    assert_digits(report.sigma_l2, rows[i].sigma, 1e-4);
    moving_free(&m);
  }
}

static void moving_walls_have_the_errors_of_another_implementation(void **state)
{
  static const row rows[] = {{&kg_tableau_trbdf2, 10, 5.07811e-04, 2.20136e-03},
                             {&kg_tableau_trbdf2, 20, 1.21774e-04, 5.25866e-04}};
  (void)state;
  assert_rows(SETTINGS(OF("3", MOVES)), rows, sizeof rows / sizeof *rows);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moving_walls_have_the_errors_of_another_implementation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
