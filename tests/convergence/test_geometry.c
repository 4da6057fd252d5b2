// Orders of convergence where the geometry has a say: quadrilaterals that stay away from
// parallelograms, and a disk with curved and with straight sides.
#include <stdio.h>

#include "compare.h"
#include "context.h"
#include "solver/moved.h"
#include "solver/support.h"

typedef struct norms {
  double of[3];  ///< errors of u, sigma and u*
} norms;

static norms norms_of(const kedge_report *r)
{
  assert_true(r->converged);
  return (norms){{r->u_l2, r->sigma_l2, r->u_star_l2}};
}

static norms on_trapezoids(int n, int order, const char *inverse)
{
  char order_text[8];
  kedge_mesh *mesh = moved(ctx, n, WHOLE, 1, trapezoids);
  snprintf(order_text, sizeof order_text, "%d", order);
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", order_text}, {"space", "inverse", inverse},
               {"exact", "u", "sin(2*pi*x)*sin(2*pi*y)+x*y"},
               {"boundary default", "type", "dirichlet"}, {"solver", "preconditioner", "multigrid"},
               {"solver", "tolerance", "1e-12"}));
  kedge_mesh_destroy(mesh);
  return norms_of(&r);
}

/// Rates of an independent implementation: with the adjusted inverse sigma loses half an order.
static void trapezoids_have_the_full_order_with_the_exact_inverse_alone(void **state)
{
  (void)state;
  static const struct {
    const char *inverse;
    double rate[3][3];
  } table[] = {{"auto", {{2.0, 2.0, 3.0}, {3.0, 3.0, 4.0}, {4.0, 4.0, 5.0}}},
               {"adjusted", {{2.0, 1.5, 2.5}, {3.0, 2.4, 3.9}, {4.0, 3.5, 5.0}}}};
  for (int k = 0; k < 2; ++k)
    for (int order = 1; order <= 3; ++order) {
      const int n = order < 3 ? 32 : 16;  // where the rates are these: adjusted, they fall further
      const norms coarse = on_trapezoids(n, order, table[k].inverse);
      const norms fine = on_trapezoids(2 * n, order, table[k].inverse);
      for (int i = 0; i < 3; ++i) {
        const double rate = log2(coarse.of[i] / fine.of[i]);
        assert_at_most(fabs(rate - table[k].rate[order - 1][i]), 0.1);
      }
    }
}

/// u is 0 on the circle, and the boundary value is that.
static norms on_disk(int n, int order, int geometry, const char *u)
{
  char generate[16], order_text[8], geometry_text[8];
  snprintf(generate, sizeof generate, "disk %d", n);
  snprintf(order_text, sizeof order_text, "%d", order);
  snprintf(geometry_text, sizeof geometry_text, "%d", geometry);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"mesh", "generate", generate}, {"mesh", "geometry", geometry_text},
                    {"space", "order", order_text}, {"exact", "u", u},
                    {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
                    {"solver", "preconditioner", "multigrid"}, {"solver", "tolerance", "1e-12"}));
  kedge_mesh *mesh;
  kedge_solution *solution;
  kedge_report r = KEDGE_REPORT_INIT;
  must(ctx, kedge_problem_mesh(problem, &mesh));
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  must(ctx, kedge_solution_report(solution, &r));
  const norms found = norms_of(&r);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(problem);
  return found;
}

static void a_disk_has_all_orders_with_geometry_of_one_order_more(void **state)
{
  (void)state;
  for (int order = 1; order <= 4; ++order) {
    const norms coarse = on_disk(8, order, order + 1, "(1-x^2-y^2)*exp(x)*cos(2*y)");
    const norms fine = on_disk(16, order, order + 1, "(1-x^2-y^2)*exp(x)*cos(2*y)");
    const double expected[3] = {order + 1, order + 1, order + 2};
    for (int i = 0; i < 3; ++i) assert_at_most(expected[i] - 0.25, log2(coarse.of[i] / fine.of[i]));
  }
}

/// The error is then that of the domain.
static void a_disk_with_straight_sides_has_one_error_at_every_order(void **state)
{
  (void)state;
  const norms second = on_disk(8, 2, 1, "1-x^2-y^2");
  for (int order = 2; order <= 6; ++order) {
    const norms found = on_disk(8, order, 1, "1-x^2-y^2");
    assert_at_most(fabs(found.of[0] / second.of[0] - 1.0), 0.02);
    assert_at_most(fabs(found.of[2] / second.of[2] - 1.0), 0.02);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trapezoids_have_the_full_order_with_the_exact_inverse_alone),
      cmocka_unit_test(a_disk_has_all_orders_with_geometry_of_one_order_more),
      cmocka_unit_test(a_disk_with_straight_sides_has_one_error_at_every_order),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
