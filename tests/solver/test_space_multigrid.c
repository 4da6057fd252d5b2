// Multigrid on tetrahedra: iterations, however fine the mesh; what is chosen; the same solution in
// every precision and from every solve of a set-up.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "kedge/solver.h"
#include "support.h"

/// Iterations to 1e-10 of pure diffusion with Dirichlet conditions.
static int64_t iterations(int n, int order, setting a, setting b)
{
  char words[16], text[16];
  snprintf(words, sizeof words, "cube %d", n);
  snprintf(text, sizeof text, "%d", order);
  const kedge_report report = converged_on(
      ctx, words,
      SETTINGS({"space", "order", text}, {"equation", "source", "1+x*y-exp(z)"},
               {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x-z"},
               {"solver", "preconditioner", "multigrid"}, {"solver", "tolerance", "1e-10"}, a, b));
  assert_string_equal(report.preconditioner, "multigrid");
  return report.iterations;
}

static const setting none;

/// With an exact solver of the coarse system cube 8 takes 17, 19, 21 and 23.
static void iterations_hardly_grow_on_finer_meshes(void **state)
{
  static const int most[] = {20, 22, 25, 27, 29, 31};
  (void)state;
  for (int order = 1; order <= (test_is_shadow() ? 2 : test_is_quick() ? 4 : 6); ++order) {
    const int64_t coarse = iterations(order > 4 ? 4 : 8, order, none, none);
    assert_in_range(coarse, 5, most[order - 1]);
    if (order > 3 || test_is_quick() || test_is_shadow()) continue;
    const int64_t fine = iterations(16, order, none, none);
    assert_in_range(fine, coarse - 4, coarse + 2);
  }
}

static void cycles_in_single_precision_take_as_many_iterations(void **state)
{
  (void)state;
  for (int order = 1; order <= (test_is_shadow() ? 2 : 4); ++order) {
    const int64_t exact = iterations(6, order, none, none);
    const int64_t mixed = iterations(6, order, (setting){"solver", "precision", "mixed"}, none);
    assert_in_range(mixed, exact - 1, exact + 1);
  }
}

static void more_steps_take_fewer_iterations(void **state)
{
  (void)state;
  int64_t before = 60;
  for (int steps = 1; steps <= 4; ++steps) {
    char text[16];
    snprintf(text, sizeof text, "%d", steps);
    const int64_t n = iterations(6, 2, (setting){"solver", "smoothing_steps", text}, none);
    assert_in_range(n, 5, before - 1);
    before = n;
  }
}

static void neumann_faces_and_a_reaction_take_no_more(void **state)
{
  (void)state;
  static const setting face = {"boundary x1", "type", "neumann"},
                       value = {"boundary x1", "value", "1"};
  assert_in_range(iterations(8, 2, face, value), 5, 25);
  assert_in_range(iterations(8, 2, (setting){"equation", "reaction", "10"}, none), 5, 22);
}

static void small_meshes_have_jacobi_and_others_multigrid(void **state)
{
  (void)state;
  const struct {
    const char *words, *name;
  } cases[] = {{"cube 4", "jacobi"}, {"cube 5", "multigrid"}};
  for (int i = 0; i < 2; ++i) {
    const kedge_report report = converged_on(
        ctx, cases[i].words,
        SETTINGS({"equation", "source", "1"}, {"boundary default", "type", "dirichlet"},
                 {"boundary default", "value", "0"}));
    assert_string_equal(report.preconditioner, cases[i].name);
  }
}

/// Blocks of facets alone take fewer iterations than Jacobi and more than multigrid.
static void blocks_of_facets_are_a_preconditioner(void **state)
{
  (void)state;
  int64_t n[3];
  const char *const names[] = {"jacobi", "block-jacobi", "multigrid"};
  for (int i = 0; i < 3; ++i)
    n[i] = converged_on(
               ctx, "cube 5",
               SETTINGS({"space", "order", "3"}, {"equation", "source", "x"},
                        {"boundary default", "type", "dirichlet"},
                        {"boundary default", "value", "0"}, {"solver", "preconditioner", names[i]}))
               .iterations;
  assert_true(n[0] > n[1] && n[1] > n[2]);
}

/// `cube 1` has no vertex without a Dirichlet facet, `cube 2` one.
static void cubes_of_few_vertices_are_solved(void **state)
{
  (void)state;
  for (int n = 1; n <= 2; ++n)
    for (int order = 1; order <= 2; ++order) {
      assert_in_range(iterations(n, order, none, none), 2, 20);
      assert_in_range(iterations(n, order, (setting){"solver", "precision", "mixed"}, none), 2, 20);
    }
}

static void a_facet_whose_block_has_no_inverse_is_named(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "cube 2", &mesh));
  kedge_problem *const problem = problem_of(
      ctx, SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
                    {"space", "stabilization", "1e300"}, {"equation", "source", "1"},
                    {"solver", "preconditioner", "multigrid"}));
  const char *const sentence = refusal_of(ctx, mesh, problem, KEDGE_ERR_NUMERIC);
  assert_non_null(strstr(sentence, "cannot smooth on the facet with corners ("));
  assert_non_null(strstr(sentence, "preconditioner = jacobi"));
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// u* of a solution at the vertices of the elements of `cube 4`.
enum { VALUES = 384 * 4, SOURCES = 4 };

static void compare_solves(const kedge_mesh *mesh, const char *precision)
{
  static double values[VALUES], again[VALUES];
  const char *const sources[SOURCES] = {"1+x*z", "0", "sin(9*x*y)", "-z"};
  kedge_data data[SOURCES];
  const kedge_data *each[SOURCES];
  kedge_solution *many[SOURCES] = {NULL}, *one;
  kedge_solver *solver;
  kedge_problem *const problem = problem_of(
      ctx, SETTINGS({"space", "order", "2"}, {"equation", "source", "x"},
                    {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "y"},
                    {"solver", "preconditioner", "multigrid"}, {"solver", "precision", precision}));
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  for (int k = 0; k < SOURCES; ++k) {
    data[k] = (kedge_data)KEDGE_DATA_INIT;
    data[k].source = sources[k];
    each[k] = &data[k];
  }
  must(ctx, kedge_solver_solve_many(solver, SOURCES, each, many));
  for (int k = 0; k < SOURCES; ++k) {
    must(ctx, kedge_problem_set(problem, "equation", "source", sources[k]));
    must(ctx, kedge_solve(ctx, mesh, problem, &one));
    must(ctx, kedge_solution_values(many[k], KEDGE_FIELD_U_STAR, 1, values));
    must(ctx, kedge_solution_values(one, KEDGE_FIELD_U_STAR, 1, again));
    assert_memory_equal(values, again, sizeof values);
    kedge_solution_destroy(one);
    kedge_solution_destroy(many[k]);
  }
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
}

static void several_right_hand_sides_have_the_bits_of_single_solves(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "cube 4", &mesh));
  compare_solves(mesh, "double");
  compare_solves(mesh, "mixed");
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(iterations_hardly_grow_on_finer_meshes),
      cmocka_unit_test(cycles_in_single_precision_take_as_many_iterations),
      cmocka_unit_test(more_steps_take_fewer_iterations),
      cmocka_unit_test(neumann_faces_and_a_reaction_take_no_more),
      cmocka_unit_test(small_meshes_have_jacobi_and_others_multigrid),
      cmocka_unit_test(blocks_of_facets_are_a_preconditioner),
      cmocka_unit_test(cubes_of_few_vertices_are_solved),
      cmocka_unit_test(a_facet_whose_block_has_no_inverse_is_named),
      cmocka_unit_test(several_right_hand_sides_have_the_bits_of_single_solves),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
