// Waves in a cube, whose errors are those of a reference in Python.
#include "moving_waves.h"

#define LOSSY                                                               \
  {"parameters", "w", "sqrt(3*pi^2-1)"}, {"equation", "conductivity", "2"}, \
      CUBE("exp(-t)*(cos(w*t)-sin(w*t)/w)", "exp(-t)*sin(w*t)/w")
#define SOUND_OF_CUBE                                                                              \
  {"equation", "system", "acoustics"}, {"boundary default", "type", "wall"},                       \
      {"parameters", "w", "pi*sqrt(3)"}, {"exact", "p", "cos(pi*x)*cos(pi*y)*cos(pi*z)*cos(w*t)"}, \
      {"exact", "vx", "pi*sin(pi*x)*cos(pi*y)*cos(pi*z)*sin(w*t)/w"},                              \
      {"exact", "vy", "pi*cos(pi*x)*sin(pi*y)*cos(pi*z)*sin(w*t)/w"},                              \
  {                                                                                                \
    "exact", "vz", "pi*cos(pi*x)*cos(pi*y)*sin(pi*z)*sin(w*t)/w"                                   \
  }
/// A plane wave whose tangential E is given on all of the boundary.
#define GIVEN                                                                      \
  {"equation", "system", "maxwell"}, {"boundary default", "type", "conductor"},    \
      {"boundary default", "Ex", "1/sqrt(2)*sin(4*((2*x+y+2*z)/3-t))"},            \
      {"boundary default", "Ez", "-1/sqrt(2)*sin(4*((2*x+y+2*z)/3-t))"},           \
      {"exact", "Ex", "1/sqrt(2)*sin(4*((2*x+y+2*z)/3-t))"}, {"exact", "Ey", "0"}, \
      {"exact", "Ez", "-1/sqrt(2)*sin(4*((2*x+y+2*z)/3-t))"},                      \
      {"exact", "Hx", "-1/sqrt(18)*sin(4*((2*x+y+2*z)/3-t))"},                     \
      {"exact", "Hy", "4/sqrt(18)*sin(4*((2*x+y+2*z)/3-t))"},                      \
  {                                                                                \
    "exact", "Hz", "-1/sqrt(18)*sin(4*((2*x+y+2*z)/3-t))"                          \
  }

static void errors_of_the_cavity_are_those_of_the_reference(void **state)
{
  static const row table[] = {{"1", "cube 1", 8.66026e-01, 7},  {"1", "cube 2", 5.46513e-01, 13},
                              {"1", "cube 4", 1.76105e-01, 26}, {"2", "cube 1", 5.73045e-01, 13},
                              {"2", "cube 2", 1.00332e-01, 25}, {"2", "cube 4", 1.15756e-02, 49},
                              {"3", "cube 1", 2.01694e-01, 20}, {"3", "cube 2", 1.72902e-02, 39},
                              {"3", "cube 4", 1.29157e-03, 78}, {"4", "cube 1", 7.36784e-02, 29},
                              {"4", "cube 2", 3.69849e-03, 57}, {"4", "cube 4", 1.29316e-04, 113},
                              {"5", "cube 1", 2.82261e-02, 39}, {"5", "cube 2", 6.35590e-04, 78},
                              {"6", "cube 1", 9.18426e-03, 51}, {"6", "cube 2", 1.02635e-04, 102}};
  (void)state;
  ASSERT_TABLE(SETTINGS(CAVITY_OF_CUBE, TO_ONE), table);
}

static void errors_with_conductivity_are_those_of_the_reference(void **state)
{
  static const row table[] = {{"1", "cube 2", 2.18451e-01, 13}, {"2", "cube 2", 3.93097e-02, 25},
                              {"3", "cube 2", 6.25076e-03, 39}, {"4", "cube 2", 1.35556e-03, 57},
                              {"1", "cube 4", 7.03625e-02, 26}, {"2", "cube 4", 4.26892e-03, 49},
                              {"3", "cube 4", 4.76643e-04, 78}, {"4", "cube 4", 4.55842e-05, 113}};
  (void)state;
  ASSERT_TABLE(SETTINGS(LOSSY, TO_ONE), table);
}

static void errors_of_a_given_field_are_those_of_the_reference(void **state)
{
  static const row table[] = {{"1", "cube 2", 5.00847e-01, 0}, {"2", "cube 2", 8.49969e-02, 0},
                              {"3", "cube 2", 1.35301e-02, 0}, {"4", "cube 2", 2.03201e-03, 0},
                              {"1", "cube 4", 1.38674e-01, 0}, {"2", "cube 4", 1.28655e-02, 0},
                              {"3", "cube 4", 9.75501e-04, 0}, {"4", "cube 4", 7.36636e-05, 0}};
  (void)state;
  ASSERT_TABLE(SETTINGS(GIVEN, TO_ONE), table);
}

static void errors_of_sound_are_those_of_the_reference(void **state)
{
  static const row table[] = {{"1", "cube 4", 7.68013e-02, 0},
                              {"2", "cube 4", 4.54551e-03, 0},
                              {"3", "cube 4", 4.92507e-04, 0},
                              {"4", "cube 4", 5.04177e-05, 0},
                              {"5", "cube 4", 4.56723e-06, 0}};
  (void)state;
  ASSERT_TABLE(SETTINGS(SOUND_OF_CUBE, TO_ONE), table);
}

/// Half of the cube is a dielectric; the field is continuous at x = 1/2 and its slope too.
static void errors_of_two_materials_are_those_of_the_reference(void **state)
{
  static const row one[] = {{"1", "cube 2", 2.11191e-01, 0}, {"2", "cube 2", 3.22285e-02, 0},
                            {"3", "cube 2", 5.58674e-03, 0}, {"4", "cube 2", 9.55260e-04, 0},
                            {"1", "cube 4", 6.07068e-02, 0}, {"2", "cube 4", 3.85369e-03, 0},
                            {"3", "cube 4", 3.78943e-04, 0}, {"4", "cube 4", 3.10760e-05, 0}};
  static const row zero[] = {{"1", "cube 4", 1.00920e-01, 0},
                             {"2", "cube 4", 1.06225e-02, 0},
                             {"3", "cube 4", 1.18128e-03, 0},
                             {"4", "cube 4", 1.03688e-04, 0}};
  (void)state;
  // w^2 < pi^2, so that k1 is imaginary: sinh stands where x < 1/2. The angular frequency solves
  // the condition of continuity.
  const double w = 2.624532818065193, k1 = sqrt(M_PI * M_PI - w * w),
               k2 = sqrt(4.0 * w * w - M_PI * M_PI);
  const double a = sinh(k1 / 2) / k1 / (sin(k2 / 2) / k2);
  char numbers[4][32];
  const double value[4] = {w, k1, k2, a};
  for (int i = 0; i < 4; ++i) snprintf(numbers[i], sizeof numbers[i], "%.17g", value[i]);
#define INSIDE  "sinh(k1*x)/k1"
#define OUTSIDE "a*sin(k2*(1-x))/k2"
#define MATERIALS                                                                                  \
  {"equation", "system", "maxwell"}, {"boundary default", "type", "conductor"},                    \
      {"parameters", "w", numbers[0]}, {"parameters", "k1", numbers[1]},                           \
      {"parameters", "k2", numbers[2]}, {"parameters", "a", numbers[3]},                           \
      {"equation", "permittivity", "x < 0.5 ? 1 : 4"}, {"exact", "Ex", "0"}, {"exact", "Ey", "0"}, \
      {"exact", "Hz", "0"},                                                                        \
      {"exact", "Ez", "(x < 0.5 ? " INSIDE " : " OUTSIDE ")*sin(pi*y)*cos(w*t)"},                  \
      {"exact", "Hx", "-pi*(x < 0.5 ? " INSIDE " : " OUTSIDE ")*cos(pi*y)*sin(w*t)/w"},            \
      {"exact", "Hy", "(x < 0.5 ? cosh(k1*x) : -a*cos(k2*(1-x)))*sin(pi*y)*sin(w*t)/w"},           \
      {"time", "end", "1"}
  ASSERT_TABLE(SETTINGS(MATERIALS), one);
  ASSERT_TABLE(SETTINGS(MATERIALS, {"space", "upwind", "0"}), zero);
}

static void energies_are_those_of_the_reference(void **state)
{
  static const struct {
    const char *upwind;
    double energy;
  } table[] = {{"0", 3.777962939e-01}, {"0.5", 3.751033419e-01}, {"1", 3.747601966e-01}};
  (void)state;
  for (int i = 0; i < 3; ++i) {
    waves w = waves_of(
        "cube 2", "3",
        SETTINGS(CAVITY_OF_CUBE, {"time", "end", "2"}, {"space", "upwind", table[i].upwind}));
    assert_at_most(fabs(waves_energy(&w) - 3.778054805e-01), 6e-10);
    waves_on(&w);
    assert_int_equal(waves_steps(&w), 78);
    assert_at_most(fabs(waves_energy(&w) - table[i].energy), 6e-10);
    waves_free(&w);
  }
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_of_the_cavity_are_those_of_the_reference),
      cmocka_unit_test(errors_with_conductivity_are_those_of_the_reference),
      cmocka_unit_test(errors_of_a_given_field_are_those_of_the_reference),
      cmocka_unit_test(errors_of_sound_are_those_of_the_reference),
      cmocka_unit_test(errors_of_two_materials_are_those_of_the_reference),
      cmocka_unit_test(energies_are_those_of_the_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
