// Robin conditions diffusion grad u . n + a u = g through the public API.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "moved.h"
#include "support.h"

static const char *const order_text[] = {"", "1", "2", "3", "4", "5", "6", "7", "8"};

static const enum cut cuts[] = {ALL, WHOLE, CHECKERED};

#define TENSOR "2+sin(3*x), 0.7*cos(x*y), 1.5+y^2"
/// All three conditions.
#define CONDITIONS                                                        \
  {"boundary 1", "type", "dirichlet"}, {"boundary 2", "type", "neumann"}, \
      {"boundary default", "type", "robin"},                              \
  {                                                                       \
    "boundary default", "coefficient", "1+x^2"                            \
  }

/// With every way to solve, of which the first takes fast local matrices.
static void linear_functions_are_exact_with_all_three_conditions(void **state)
{
  (void)state;
  static const struct {
    moving *to;
    int geometry;
    const char *diffusion, *section, *key, *value;
  } ways[] = {{stay, 1, "2", "solver", "preconditioner", "multigrid"},
              {stay, 1, "2", "solver", "smoothing_steps", "2"},
              {stay, 1, "2", "solver", "preconditioner", "block-jacobi"},
              {stay, 1, "2", "solver", "preconditioner", "jacobi"},
              {stay, 1, "2", "solver", "operator", "ell"},
              {stay, 1, "2", "solver", "precision", "mixed"},
              {stay, 1, "2, 0.5, 1", "solver", "preconditioner", "jacobi"},
              {ring, 3, "2, 0.5, 1", "solver", "preconditioner", "multigrid"},
              {ring, 3, "2, 0.5, 1", "solver", "preconditioner", "jacobi"}};
  for (size_t w = 0; w < sizeof ways / sizeof *ways; ++w)
    for (int k = 0; k < 3; ++k) {
      kedge_mesh *mesh = moved(ctx, 5, cuts[k], ways[w].geometry, ways[w].to);
      for (int order = ways[w].geometry; order <= 5; order += 2) {
        const kedge_report r = report_of(
            ctx, mesh,
            SETTINGS(
                {"space", "order", order_text[order]}, {"equation", "diffusion", ways[w].diffusion},
                {"exact", "u", "0.3+x-0.5*y"}, {"space", "quadrature", "10"}, CONDITIONS,
                {ways[w].section, ways[w].key, ways[w].value}, {"solver", "tolerance", "1e-13"}));
        assert_true(r.converged);
        assert_at_most(r.u_l2, 2e-12);
        assert_at_most(r.sigma_l2, 1e-10);
        assert_at_most(r.u_star_l2, 2e-12);
      }
      kedge_mesh_destroy(mesh);
    }
}

/// a grows along edges that run with and against their elements.
static void fast_and_general_local_matrices_have_the_same_condition(void **state)
{
  (void)state;
  static const char *const diffusion[] = {"0.7", "0.7+0*exp(x)+x-x"};
  kedge_mesh *mesh = moved(ctx, 6, ALL, 1, stay);
  for (int order = 1; order <= 8; ++order) {
    fields of[2];
    for (int k = 0; k < 2; ++k) {
      kedge_solution *s =
          solve(ctx, mesh,
                SETTINGS({"space", "order", order_text[order]}, {"space", "stabilization", "2"},
                         {"equation", "diffusion", diffusion[k]}, {"equation", "source", "1+x*y"},
                         {"boundary default", "type", "robin"},
                         {"boundary default", "coefficient", "exp(x-2*y)"},
                         {"boundary default", "value", "x-y"}, {"solver", "tolerance", "1e-13"},
                         {"solver", "preconditioner", "multigrid"}));
      of[k] = fields_of(ctx, s);
      kedge_solution_destroy(s);
    }
    for (int k = 0; k < FIELDS; ++k)
      assert_close(of[0].n[k], of[1].values[k], of[0].values[k], 1e-10);
    fields_free(&of[0]);
    fields_free(&of[1]);
  }
  kedge_mesh_destroy(mesh);
}

static void a_coefficient_of_zero_is_a_neumann_condition(void **state)
{
  (void)state;
  kedge_mesh *mesh = moved(ctx, 4, CHECKERED, 2, wave);
  fields of[2];
  for (int k = 0; k < 2; ++k) {
    const setting *const settings[] = {
        SETTINGS({"space", "order", "3"}, {"exact", "u", "sin(x)+y"},
                 {"boundary 1", "type", "dirichlet"}, {"boundary default", "type", "neumann"}),
        SETTINGS({"space", "order", "3"}, {"exact", "u", "sin(x)+y"},
                 {"boundary 1", "type", "dirichlet"}, {"boundary default", "type", "robin"},
                 {"boundary default", "coefficient", "0"})};
    kedge_solution *s = solve(ctx, mesh, settings[k]);
    of[k] = fields_of(ctx, s);
    kedge_solution_destroy(s);
  }
  assert_same_bits(&of[0], &of[1]);
  fields_free(&of[0]);
  fields_free(&of[1]);
  kedge_mesh_destroy(mesh);
}

/// Iterations on meshes that kedge refined, whose coarser levels know no Robin condition.
static void iterations_do_not_grow_with_the_mesh(void **state)
{
  (void)state;
  for (int refine = 1; refine <= 4; ++refine) {
    kedge_mesh *coarse = moved(ctx, 4, ALL, 1, stay), *mesh;
    must(ctx, kedge_mesh_refine(ctx, coarse, refine, &mesh));
    const kedge_report r = report_of(
        ctx, mesh,
        SETTINGS({"space", "order", "2"}, {"exact", "u", "sin(2*x+y)*exp(y)"},
                 {"boundary default", "type", "robin"}, {"boundary default", "coefficient", "0.5"},
                 {"solver", "preconditioner", "multigrid"}));
    assert_true(r.converged);
    assert_string_equal(r.solver_note, "");
    assert_in_range(r.iterations, 1, 20);
    kedge_mesh_destroy(mesh);
    kedge_mesh_destroy(coarse);
  }
}

static void a_negative_coefficient_is_noted_and_named_where_the_solve_fails(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 6);
  const kedge_report r =
      report_of(ctx, mesh,
                SETTINGS({"exact", "u", "sin(x)+y"}, {"equation", "reaction", "3"},
                         {"boundary default", "type", "robin"},
                         {"boundary default", "coefficient", "x-0.25"}));
  assert_true(r.converged);
  assert_non_null(strstr(r.solver_note,
                         "on boundary 'left' the robin coefficient is as small as "
                         "-0.25: where it is negative the solution may not be the "
                         "only one"));
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"exact", "u", "sin(x)+y"}, {"boundary default", "type", "dirichlet"},
                    {"boundary left", "type", "robin"}, {"boundary left", "coefficient", "-50"}));
  assert_string_equal(refusal_of(ctx, mesh, problem, KEDGE_ERR_NUMERIC),
                      "on boundary 'left' the robin coefficient is as small as -50: with it the "
                      "operator is not positive definite, and kedge cannot solve the problem");
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static void coefficients_far_from_the_diffusion_are_noted(void **state)
{
  (void)state;
  static const struct {
    const char *coefficient, *note;
  } cases[] = {{"1", ""},
               {"1e7",
                "on boundary 'left' the robin coefficient is up to 1e+06 times diffusion "
                "/ h, and the residual is mostly that of its edges: compare with a smaller "
                "tolerance, or take dirichlet"},
               {"1e-9",
                "all boundaries are neumann or robin and (reaction + coefficient * "
                "boundary / area) * h^2 is only 6e-11 of the diffusion: rounding may "
                "change the mean of u by some 7e-03 of its size (digits left: 2)"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    const kedge_report r = report_on(
        ctx, "square 8",
        SETTINGS({"exact", "u", "sin(2*x+y)*exp(y)"}, {"boundary default", "type", "robin"},
                 {"boundary default", "coefficient", cases[k].coefficient}));
    assert_true(r.converged);
    assert_string_equal(r.solver_note, cases[k].note);
  }
}

static void assert_refused(kedge_mesh *mesh, const setting *settings, const char *sentence)
{
  kedge_problem *problem = problem_of(ctx, settings);
  assert_string_equal(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT), sentence);
  kedge_problem_destroy(problem);
}

#define ROBIN                                                         \
  {"equation", "source", "1"}, {"boundary default", "type", "robin"}, \
  {                                                                   \
    "boundary default", "value", "0"                                  \
  }

static void what_is_no_robin_condition_is_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 4);
  assert_refused(mesh, SETTINGS(ROBIN),
                 "[boundary default] is robin and has no coefficient; add coefficient = a of "
                 "diffusion grad u . n + a u = value");
  assert_refused(mesh,
                 SETTINGS(ROBIN, {"boundary default", "type", "neumann"},
                          {"boundary default", "coefficient", "1"}),
                 "[boundary default] has a coefficient, which only type = robin takes; leave it "
                 "out or change the type");
  assert_refused(
      mesh, SETTINGS(ROBIN, {"boundary default", "coefficient", "-(x^2)"}),
      "robin coefficients are negative, boundaries are neumann but for them, and reaction is "
      "0: the operator is not positive definite, and kedge cannot solve the problem; make one "
      "boundary dirichlet, or reaction or coefficients positive");
  assert_refused(mesh, SETTINGS(ROBIN, {"boundary default", "coefficient", "0*x"}),
                 "all boundaries are neumann or robin without a positive coefficient and reaction "
                 "is 0: the solution is determined only up to a constant; make one boundary "
                 "dirichlet or reaction positive");
  assert_refused(
      mesh,
      SETTINGS(ROBIN, {"boundary default", "coefficient", "1"}, {"solver", "precision", "compact"}),
      "with a robin boundary precision is double or mixed, not compact");
  kedge_problem *problem =
      problem_of(ctx, SETTINGS(ROBIN, {"boundary default", "coefficient", "1/(x*(1-x)*y*(1-y))"}));
  assert_non_null(strstr(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT), "the coefficient on "));
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static void a_given_value_that_is_not_the_exact_one_is_noted(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 4);
  static const char *const values[] = {
      "x == 0 ? -1 + 2*y : x == 1 ? 1 + 2*(1+y) : y == 0 ? -1 + "
      "2*x : 1 + 2*(1+x)",
      "3"};
  for (int k = 0; k < 2; ++k) {
    const kedge_report r =
        report_of(ctx, mesh,
                  SETTINGS({"exact", "u", "x+y"}, {"boundary default", "type", "robin"},
                           {"boundary default", "coefficient", "2"},
                           {"boundary default", "value", values[k]}));
    assert_true((strstr(r.solver_note, "diffusion grad u . n + coefficient u of [exact]") !=
                 NULL) == (k == 1));
  }
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_functions_are_exact_with_all_three_conditions),
      cmocka_unit_test(fast_and_general_local_matrices_have_the_same_condition),
      cmocka_unit_test(a_coefficient_of_zero_is_a_neumann_condition),
      cmocka_unit_test(iterations_do_not_grow_with_the_mesh),
      cmocka_unit_test(a_negative_coefficient_is_noted_and_named_where_the_solve_fails),
      cmocka_unit_test(coefficients_far_from_the_diffusion_are_noted),
      cmocka_unit_test(what_is_no_robin_condition_is_refused),
      cmocka_unit_test(a_given_value_that_is_not_the_exact_one_is_noted),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
