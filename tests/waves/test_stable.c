// Automatic steps are stable: energies of ten thousand steps. With an argument it makes as many
// at orders that take seconds.
#include "moving_waves.h"

#include <string.h>

enum { STEPS = 10000, FEW = 300 };
static bool is_long;
static const char *const upwinds[] = {"0", "0.5", "1"};
static const char *const conductivities[] = {"0", "40", "1000*x*x"};
/// Two triangles; eight slivers; some that are perturbed; fifty.
static const char *const plane[][2] = {{"square 1", "x, y"},
                                       {"square 2", "x+30*y, y"},
                                       {"square 2", "x+0.2*sin(9*y), y+0.2*sin(8*x+1)"},
                                       {"square 5", "x+0.1*sin(29*y), y+0.1*sin(28*x+1)"}};
static const char *const space[][2] = {{"cube 1", "x, y, z"},
                                       {"cube 1", "x+20*y, y+2*z, z"},
                                       {"cube 1", "x+0.3*sin(9*y), y+0.2*sin(8*x+z), z-0.2*x*y"},
                                       {"cube 2", "x+0.1*y*z, y, z+0.1*sin(9*x)"}};

/// @param[in] most   order whose steps take little time
/// @param[in] slow   likewise, where seconds do not matter
/// @return 0: none
static int steps_of(int order, int most, int slow)
{
  if (is_long) return order > most && order <= slow ? STEPS : 0;
  return order > most || test_is_shadow() || test_is_quick() ? FEW : STEPS;
}

static void steps_in_the_plane_are_stable_at_all_orders(void **state)
{
  (void)state;
  for (int order = 1; order <= 9; ++order)
    for (int upwind = 0; upwind < 3; ++upwind) {
      const int steps = steps_of(order, 4, 9);
      if (steps == 0 || (test_is_shadow() && upwind != order % 3)) continue;
      assert_stable(plane[(order + upwind) % 3], order, steps,
                    SETTINGS(ROUGH("maxwell-tm", "conductor", upwinds[upwind]), ROUGH_FIELDS,
                             {"equation", "conductivity", conductivities[(order + upwind) % 2]}));
    }
}

static void so_they_are_in_space(void **state)
{
  (void)state;
  for (int order = 1; order <= 7; ++order)
    for (int upwind = 0; upwind < 3; ++upwind) {
      const int steps = steps_of(order, 1, 4);
      if (steps == 0 || ((test_is_shadow() || order > 5) && upwind != order % 3)) continue;
      assert_stable(space[(order + upwind) % 3], order, steps,
                    SETTINGS(ROUGH("maxwell", "conductor", upwinds[upwind]), ROUGH_FIELDS,
                             {"boundary x0", "type", order % 2 ? "absorbing" : "conductor"},
                             {"equation", "conductivity", conductivities[(order + upwind) % 2]}));
    }
}

static void sound_is_stable_too(void **state)
{
  (void)state;
  for (int order = 1; order <= 9; ++order)
    for (int dimension = 2; dimension <= 3; ++dimension) {
      const int steps = dimension == 2 ? steps_of(order, 4, 9) : steps_of(order, 1, 3);
      if (steps == 0 || (dimension == 3 && order > 7)) continue;
      assert_stable(
          (dimension == 2 ? plane : space)[order % 3], order, steps,
          SETTINGS(ROUGH("acoustics", order % 2 ? "wall" : "soft", upwinds[order / 3 % 3]),
                   {"initial", "p", dimension == 2 ? "sin(40*x)*cos(39*y)" : "sin(40*x)*cos(38*z)"},
                   {"initial", "vx", "cos(41*x*y)"}, {"equation", "density", "x > 0.5 ? 9 : 1"}));
    }
}

/// Losses that limit the step, and more elements.
static void conductivities_do_not_change_that(void **state)
{
  (void)state;
  for (int k = 0; k < 18; ++k) {
    if (is_long || (test_is_shadow() && k % 4 > 0)) continue;
    const int order = 1 + k / 9 * 2;
    const char *const conductivity = conductivities[k % 3], *const upwind = upwinds[k / 3 % 3];
    assert_stable(plane[3], order, 500,
                  SETTINGS(ROUGH("maxwell-tm", "conductor", upwind), ROUGH_FIELDS,
                           {"equation", "conductivity", conductivity}));
    assert_stable(space[3], order, 100,
                  SETTINGS(ROUGH("maxwell", "conductor", upwind), ROUGH_FIELDS,
                           {"equation", "conductivity", conductivity}));
  }
}

int main(int argc, char **argv)
{
  test_skip_without_backend();
  is_long = argc == 2 && strcmp(argv[1], "long") == 0;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_in_the_plane_are_stable_at_all_orders),
      cmocka_unit_test(so_they_are_in_space),
      cmocka_unit_test(sound_is_stable_too),
      cmocka_unit_test(conductivities_do_not_change_that),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
