// What a solution does not depend on: the units of fluxes and of lengths.
#include <math.h>

#include "compare.h"
#include "context.h"
#include "grid.h"
#include "support.h"

enum { METHODS = 4 };
static const char *const methods[METHODS][2] = {{"jacobi", "double"},
                                                {"multigrid", "double"},
                                                {"multigrid", "mixed"},
                                                {"multigrid", "compact"}};

/// Everything but u multiplied by a factor.
static kedge_solution *solve_multiplied(const kedge_mesh *mesh, const char *factor,
                                        const char *stabilization, const char *reaction,
                                        const char *const method[2])
{
  return solve(
      ctx, mesh,
      SETTINGS({"parameters", "k", factor}, {"space", "order", "3"},
               {"space", "stabilization", stabilization}, {"equation", "diffusion", "0.8*k"},
               {"equation", "reaction", reaction}, {"equation", "source", "k*(x+y)"},
               {"boundary 7", "type", "dirichlet"}, {"boundary 7", "value", "x*y"},
               {"boundary default", "type", "neumann"}, {"boundary default", "value", "k*(x-y)"},
               {"solver", "preconditioner", method[0]}, {"solver", "precision", method[1]}));
}

/// The iterations; the largest distance to another solution.
static int64_t compare_multiplied(kedge_solution *solution, const fields *expected,
                                  double *distance)
{
  kedge_report r;
  kedge_solution_report(solution, &r);
  assert_true(r.converged);
  fields found = fields_of(ctx, solution);
  *distance = fields_distance(&found, expected);
  fields_free(&found);
  kedge_solution_destroy(solution);
  return r.iterations;
}

static void check_multiplied(const kedge_mesh *mesh, const char *stabilization,
                             const char *reaction, const char *const method[2])
{
  static const char *const factors[] = {"1", "4^68", "4^-68", "4^450", "1e40", "1e-46"};
  kedge_solution *first = solve_multiplied(mesh, "1", stabilization, reaction, method);
  fields expected = fields_of(ctx, first);
  kedge_report r;
  kedge_solution_report(first, &r);
  for (int i = 0; i < 6; ++i) {
    double distance;
    const int64_t iterations = compare_multiplied(
        solve_multiplied(mesh, factors[i], stabilization, reaction, method), &expected, &distance);
    assert_in_range(iterations, r.iterations - (i > 3), r.iterations + (i > 3));
    assert_at_most(distance, i > 3 ? 1e-8 : 0.0);  // powers of four: the same bits
  }
  fields_free(&expected);
  kedge_solution_destroy(first);
}

static void an_equation_multiplied_by_any_number_has_the_same_solution(void **state)
{
  (void)state;
  kedge_mesh *mesh = test_irregular_mesh(ctx, 400);
  for (int k = 0; k < METHODS; ++k) {
    check_multiplied(mesh, "1.3*k/h", "0", methods[k]);
    check_multiplied(mesh, "1.3*k", "1.5*k", methods[k]);
  }
  kedge_mesh_destroy(mesh);
}

/// A domain in another unit of length, with the same function of the place on it and the default
/// stabilization: the report.
static kedge_report solve_in(const char *length, double unit, const char *const method[2])
{
  test_grid grid;
  test_grid_create(&grid, 400);
  for (int i = 0; i < 2 * grid.n_vertices; ++i) grid.vertices[i] *= unit;
  kedge_mesh *mesh = test_grid_mesh(&grid, ctx);
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"parameters", "l", length}, {"space", "order", "3"},
               {"equation", "diffusion", "50"}, {"exact", "u", "sin(x/(3*l))*cos(y/(4*l))"},
               {"boundary 7", "type", "dirichlet"}, {"boundary default", "type", "neumann"},
               {"solver", "preconditioner", method[0]}, {"solver", "precision", method[1]}));
  kedge_mesh_destroy(mesh);
  test_grid_destroy(&grid);
  assert_true(r.converged);
  return r;
}

static void errors_do_not_depend_on_the_unit_of_length(void **state)
{
  (void)state;
  for (int k = 0; k < METHODS; ++k) {
    const kedge_report metre = solve_in("1", 1.0, methods[k]);
    const kedge_report small = solve_in("1e-6", 1e-6, methods[k]);
    const kedge_report large = solve_in("1e9", 1e9, methods[k]);
    assert_in_range(small.iterations, metre.iterations - 1, metre.iterations + 1);
    assert_in_range(large.iterations, metre.iterations - 1, metre.iterations + 1);
    assert_at_most(fabs(small.u_l2 * 1e6 / metre.u_l2 - 1.0), 1e-4);
    assert_at_most(fabs(large.u_l2 * 1e-9 / metre.u_l2 - 1.0), 1e-4);
    assert_at_most(fabs(small.q_l2 / metre.q_l2 - 1.0), 1e-4);
    assert_at_most(fabs(large.q_l2 / metre.q_l2 - 1.0), 1e-4);
    assert_at_most(fabs(small.u_star_l2 * 1e6 / metre.u_star_l2 - 1.0), 1e-4);
    assert_at_most(fabs(large.u_star_l2 * 1e-9 / metre.u_star_l2 - 1.0), 1e-4);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_equation_multiplied_by_any_number_has_the_same_solution),
      cmocka_unit_test(errors_do_not_depend_on_the_unit_of_length),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
