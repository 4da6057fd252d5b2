// The standing wave of a square cavity, whose errors are those of a reference in Python.
#include "moving_waves.h"

static void errors_and_steps_are_those_of_the_reference(void **state)
{
  static const struct {
    const char *order, *mesh;
    int steps;
    double ez, all;
  } table[] = {
      {"1", "square 4", 19, 2.52741e-02, 7.22056e-02},
      {"1", "square 8", 37, 6.01162e-03, 1.72097e-02},
      {"2", "square 4", 35, 1.28186e-03, 3.15601e-03},
      {"2", "square 8", 69, 1.51602e-04, 3.60017e-04},
      {"3", "square 4", 55, 1.14795e-04, 2.60579e-04},
      {"3", "square 8", 110, 7.09225e-06, 1.64786e-05},
      {"4", "square 4", 80, 7.59066e-06, 1.80107e-05},
      {"4", "square 8", 160, 2.28687e-07, 5.46012e-07},
      {"5", "square 4", 110, 5.36193e-07, 1.12513e-06},
      {"5", "square 8", 219, 8.47961e-09, 1.75575e-08},
      {"6", "square 4", 144, 2.89018e-08, 5.84061e-08},
      {"6", "square 8", 287, 4.42853e-10, 6.10008e-10},
  };
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
    waves w = waves_of(table[i].mesh, table[i].order, SETTINGS(CAVITY, {"time", "end", "1"}));
    waves_on(&w);
    assert_int_equal(waves_steps(&w), table[i].steps);
    assert_digits(waves_error(&w, "Ez"), table[i].ez);
    assert_digits(waves_error(&w, NULL), table[i].all);
    waves_free(&w);
  }
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_and_steps_are_those_of_the_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
