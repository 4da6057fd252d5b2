// Times are numbers that people would write.
#include "march/times.h"

#include <math.h>
#include <stdint.h>

#include "cmocka_all.h"

static void multiples_of_a_decimal_are_decimals(void **state)
{
  static const struct {
    double every;
    double per_unit;  ///< 1 / every, exactly
  } of[] = {{0.1, 10.0}, {0.01, 100.0}, {1e-3, 1000.0}, {1e-5, 1e5}, {0.2, 5.0}, {0.05, 20.0}};
  (void)state;
  assert_false(3 * 0.3 == 0.9);
  assert_true(kg_time_round(3 * 0.3) == 0.9);
  assert_true(kg_time_round(3 * 0.1) == 0.3);
  for (size_t k = 0; k < sizeof of / sizeof *of; ++k)
    for (int i = 1; i <= 200000; ++i)
      assert_true(kg_time_round(i * of[k].every) == i / of[k].per_unit);
}

static void what_is_no_decimal_stays(void **state)
{
  static const double stay[] = {
      1.0 / 3.0, 2.0 / 3.0, 3.14159265358979312,   1e-300 / 3.0, 1e300 / 3.0,
      0.0,       5e-324,    1.7976931348623157e308};
  (void)state;
  for (size_t k = 0; k < sizeof stay / sizeof *stay; ++k)
    assert_true(kg_time_round(stay[k]) == stay[k]);
}

static void no_time_moves_by_more_than_two_units(void **state)
{
  uint64_t random = 1;
  (void)state;
  for (int i = 0; i < 100000; ++i) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const double t = ldexp((double)(random >> 11), (int)(random % 40) - 60);
    const double rounded = kg_time_round(t);
    assert_true(fabs(rounded - t) <= 2.0 * (nextafter(t, INFINITY) - t));
    assert_true(kg_time_round(rounded) == rounded);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(multiples_of_a_decimal_are_decimals),
      cmocka_unit_test(what_is_no_decimal_stays),
      cmocka_unit_test(no_time_moves_by_more_than_two_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
