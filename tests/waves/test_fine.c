// Fine meshes of the cube, on the host alone, as they take seconds.
#include "moving_waves.h"

static void errors_of_fine_meshes_are_those_of_the_reference(void **state)
{
  static const row table[] = {{"1", "cube 8", 4.42957e-02, 52},  {"2", "cube 8", 1.39863e-03, 97},
                              {"3", "cube 8", 8.76731e-05, 155}, {"4", "cube 8", 4.09065e-06, 226},
                              {"5", "cube 4", 1.13290e-05, 155}, {"6", "cube 4", 8.73023e-07, 203}};
  (void)state;
  ASSERT_TABLE(SETTINGS(CAVITY_OF_CUBE, TO_ONE), table);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_of_fine_meshes_are_those_of_the_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
