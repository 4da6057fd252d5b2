// Solutions that the spaces hold are found to rounding, whatever the boundary conditions and the
// method.
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "grid.h"
#include "solver/methods.h"
#include "solver/support.h"

enum { TRIANGLES = 33, ORDERS = 9 };

static kedge_mesh *mesh;

static int open_mesh(void **state)
{
  assert_int_equal(open_context(state), 0);
  test_grid grid;
  test_grid_create(&grid, TRIANGLES);
  mesh = test_grid_mesh(&grid, ctx);
  test_grid_destroy(&grid);
  return 0;
}

static int close_mesh(void **state)
{
  kedge_mesh_destroy(mesh);
  return close_context(state);
}

/// A polynomial of degree P about as large as 1 on the mesh, whose coordinates run from 0 to 5.
static const char *polynomial(int order, char *text, size_t n)
{
  snprintf(text, n, "((x-0.6*y)/4)^%d+((y+0.3*x)/5)^%d-x/3+0.2", order, order);
  return text;
}

static void check(const method *m, int order, const char *stabilization, const char *reaction,
                  const char *wall, const char *others)
{
  char degree[8], u[128];
  snprintf(degree, sizeof degree, "%d", order);
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", degree}, {"space", "stabilization", stabilization},
               {"equation", "diffusion", "0.7"}, {"equation", "reaction", reaction},
               {"exact", "u", polynomial(order, u, sizeof u)}, {"boundary 7", "type", wall},
               {"boundary default", "type", others}, {"solver", "tolerance", "1e-14"}, METHOD(m)));
  if (!(r.u_l2 <= 1e-11 && r.u_linf <= 1e-11 && r.q_l2 <= 1e-11 && r.u_star_l2 <= 1e-11))
    fail_msg(
        METHOD_FORMAT ", P = %d, stabilization %s, reaction %s, %s and %s: u %.2e, q %.2e, u* %.2e",
        METHOD_WORDS(m), order, stabilization, reaction, wall, others, r.u_l2, r.q_l2, r.u_star_l2);
}

/// Runs every order over the methods: each stabilization, with and without reaction.
static void check_all(const char *wall, const char *others, bool without_reaction)
{
  static const char *const stabilizations[] = {"1.5", "0.8*h", "1.2/h"};
  for (int order = 1; order <= ORDERS; ++order)
    for (int k = 0; k < METHODS; ++k) {
      const char *reaction = without_reaction && (order + k) / 3 % 2 ? "0" : "1";
      check(methods + k, order, stabilizations[(order + k) % 3], reaction, wall, others);
    }
}

static void polynomials_are_reproduced_with_dirichlet_conditions(void **state)
{
  (void)state;
  check_all("dirichlet", "dirichlet", true);
}

static void polynomials_are_reproduced_with_mixed_conditions(void **state)
{
  (void)state;
  check_all("dirichlet", "neumann", true);
  check_all("neumann", "dirichlet", true);
}

static void polynomials_are_reproduced_with_neumann_conditions_and_reaction(void **state)
{
  (void)state;
  check_all("neumann", "neumann", false);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomials_are_reproduced_with_dirichlet_conditions),
      cmocka_unit_test(polynomials_are_reproduced_with_mixed_conditions),
      cmocka_unit_test(polynomials_are_reproduced_with_neumann_conditions_and_reaction),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_mesh, close_mesh);
}
