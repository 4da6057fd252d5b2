// What a solution does not depend on, whatever the method: the units of fluxes and of lengths.
#include <math.h>

#include "compare.h"
#include "context.h"
#include "grid.h"
#include "mesh/mesh.h"
#include "methods.h"
#include "support.h"

/// Everything but u multiplied by a factor, which is then taken out of sigma.
static fields fields_multiplied(const kedge_mesh *mesh, const char *factor, double number,
                                const char *stabilization, const char *reaction, const method *m,
                                int64_t *iterations)
{
  kedge_solution *solution =
      solve(ctx, mesh,
            SETTINGS({"parameters", "k", factor}, {"space", "order", "3"},
                     {"space", "stabilization", stabilization}, {"equation", "diffusion", "0.8*k"},
                     {"equation", "reaction", reaction}, {"equation", "source", "k*(x+y)"},
                     {"boundary 7", "type", "dirichlet"}, {"boundary 7", "value", "x*y"},
                     {"boundary default", "type", "neumann"},
                     {"boundary default", "value", "k*(x-y)"}, METHOD(m)));
  kedge_report r = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &r);
  assert_true(r.converged);
  *iterations = r.iterations;
  const fields found = fields_of(ctx, solution);
  for (int k = KEDGE_FIELD_SIGMA_X; k <= KEDGE_FIELD_SIGMA_Y; ++k)
    for (size_t i = 0; i < found.n[k]; ++i) found.values[k][i] /= number;
  kedge_solution_destroy(solution);
  return found;
}

static void check_multiplied(const kedge_mesh *mesh, const char *stabilization,
                             const char *reaction, const method *m)
{
  static const char *const factors[] = {"1", "4^68", "4^-68", "4^450", "1e40", "1e-46"};
  static const double numbers[] = {1.0, 0x1p136, 0x1p-136, 0x1p900, 1e40, 1e-46};
  int64_t iterations;
  fields expected = fields_multiplied(mesh, "1", 1.0, stabilization, reaction, m, &iterations);
  for (int i = 0; i < 6; ++i) {
    int64_t n;
    const bool exact = i <= 3;  // powers of four: the same bits
    fields found = fields_multiplied(mesh, factors[i], numbers[i], stabilization, reaction, m, &n);
    assert_in_range(n, iterations - !exact, iterations + !exact);
    assert_at_most(fields_distance(&found, &expected), exact ? 0.0 : 1e-8);
    fields_free(&found);
  }
  fields_free(&expected);
}

static void an_equation_multiplied_by_any_number_has_the_same_solution(void **state)
{
  (void)state;
  kedge_mesh *mesh = test_irregular_mesh(ctx, 400);
  for (const method *m = methods; m < methods + METHODS; ++m) {
    check_multiplied(mesh, "1.3*k/h", "0", m);
    check_multiplied(mesh, "1.3*k", "1.5*k", m);
  }
  kedge_mesh_destroy(mesh);
}

/// A domain in another unit of length, with the same function of the place on it and the default
/// stabilization: the report.
static kedge_report solve_in(const char *length, double unit, const method *m)
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
               METHOD(m)));
  kedge_mesh_destroy(mesh);
  test_grid_destroy(&grid);
  assert_true(r.converged);
  return r;
}

static void errors_do_not_depend_on_the_unit_of_length(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    double unit;
  } lengths[] = {{"1e-6", 1e-6}, {"1e9", 1e9}};
  for (const method *m = methods; m < methods + METHODS; ++m) {
    const kedge_report metre = solve_in("1", 1.0, m);
    for (int i = 0; i < 2; ++i) {
      const double unit = lengths[i].unit;
      const kedge_report r = solve_in(lengths[i].text, unit, m);
      assert_in_range(r.iterations, metre.iterations - 1, metre.iterations + 1);
      assert_at_most(fabs(r.u_l2 / unit / metre.u_l2 - 1.0), 1e-4);
      assert_at_most(fabs(r.q_l2 / metre.q_l2 - 1.0), 1e-4);
      assert_at_most(fabs(r.u_star_l2 / unit / metre.u_star_l2 - 1.0), 1e-4);
    }
  }
}

static kedge_report report_with(const kedge_mesh *mesh, const char *key, const char *value)
{
  return report_of(
      ctx, mesh,
      SETTINGS({"space", "order", "3"}, {"space", key, value}, {"equation", "diffusion", "2"},
               {"exact", "u", "sin(x)*cos(y)"}, {"boundary default", "type", "dirichlet"}));
}

static void diffusion_over_the_length_is_the_stabilization_that_auto_takes(void **state)
{
  (void)state;
  kedge_mesh *mesh = test_irregular_mesh(ctx, 400);
  const kedge_report length = report_with(mesh, "length", "0.25");
  const kedge_report number = report_with(mesh, "stabilization", "8");
  const kedge_report alone = report_with(mesh, "stabilization", "auto");
  assert_true(length.u_l2 == number.u_l2 && length.q_l2 == number.q_l2);
  assert_true(length.stabilization_length == 0.25 && number.stabilization_length == 0.0);
  assert_true(alone.stabilization_length == sqrt(mesh->info.area));
  assert_true(alone.u_l2 != length.u_l2);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_equation_multiplied_by_any_number_has_the_same_solution),
      cmocka_unit_test(errors_do_not_depend_on_the_unit_of_length),
      cmocka_unit_test(diffusion_over_the_length_is_the_stabilization_that_auto_takes),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
