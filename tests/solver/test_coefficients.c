// Coefficients that vary, tensors, and regions, through the public API.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "mesh/mesh.h"
#include "moved.h"
#include "problem/problem.h"
#include "support.h"

enum { ORDERS = 4 };

static const char *const order_text[ORDERS + 1] = {"", "1", "2", "3", "4"};

/// diag(1, 0.01) turned by 30 degrees.
#define TURNED "0.7525, 0.99*sqrt(3)/4, 0.2575"

/// The unit square, of which the lower half is cut into triangles. Region 3 is the left half.
static int32_t halves(int n, int i, int j)
{
  (void)j;
  return i < n / 2 ? 3 : 7;
}

static kedge_mesh *grid(int n)
{
  return grid_of(ctx, n, LOWER_HALF, 1, stay, halves);
}

/// All modes of two solutions.
static void assert_same_solution(kedge_solution *a, kedge_solution *b, double tolerance)
{
  fields of_a = fields_of(ctx, a), of_b = fields_of(ctx, b);
  for (int k = 0; k < FIELDS; ++k)
    assert_close(of_a.n[k], of_b.values[k], of_a.values[k], tolerance);
  fields_free(&of_a);
  fields_free(&of_b);
}

#define COMMON                                                                               \
  {"space", "order", "3"}, {"space", "stabilization", "2"}, {"equation", "source", "1+x*y"}, \
      {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x-y"},       \
      {"solver", "tolerance", "1e-13"},                                                      \
  {                                                                                          \
    "solver", "preconditioner", "multigrid"                                                  \
  }

static void a_constant_written_as_a_field_is_that_constant(void **state)
{
  (void)state;
  static const char *const meshes[] = {"square 6", "quads 6"};
  for (int k = 0; k < 2; ++k) {
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, meshes[k], &mesh));
    kedge_solution *constant =
        solve(ctx, mesh,
              SETTINGS(COMMON, {"equation", "diffusion", "0.7"}, {"equation", "reaction", "1.5"}));
    kedge_solution *field = solve(ctx, mesh,
                                  SETTINGS(COMMON, {"equation", "diffusion", "0.7+0*exp(x)+x-x"},
                                           {"equation", "reaction", "1.5+y*0+y-y"}));
    kedge_solution *tensor = solve(ctx, mesh,
                                   SETTINGS(COMMON, {"equation", "diffusion", "0.7, 0, 0.7"},
                                            {"equation", "reaction", "1.5"}));
    assert_same_solution(constant, field, 1e-10);
    assert_same_solution(constant, tensor, 1e-10);
    kedge_solution_destroy(constant);
    kedge_solution_destroy(field);
    kedge_solution_destroy(tensor);
    kedge_mesh_destroy(mesh);
  }
}

/// The flux is 2 x + 1: kinks of u are on edges, where the diffusion jumps.
static void materials_by_region_are_exact_for_broken_lines(void **state)
{
  (void)state;
  static const char u[] = "region == 3 ? x : 0.5 + (x - 0.5)/4";
  kedge_mesh *mesh = grid(6);
  for (int order = 1; order <= 3; ++order) {
    const setting *const ways[] = {
        SETTINGS({"region 3", "diffusion", "2"}, {"region default", "diffusion", "8"},
                 {"exact", "u", u}, {"boundary default", "type", "dirichlet"},
                 {"space", "order", order_text[order]}, {"solver", "tolerance", "1e-13"},
                 {"solver", "preconditioner", "multigrid"}),
        SETTINGS({"equation", "diffusion", "region == 3 ? 2 : 8"}, {"exact", "u", u},
                 {"boundary default", "type", "dirichlet"}, {"space", "order", order_text[order]},
                 {"solver", "tolerance", "1e-13"}, {"solver", "preconditioner", "multigrid"}),
        SETTINGS({"region 3", "diffusion", "2, 0, 1"}, {"region default", "diffusion", "8"},
                 {"exact", "u", u}, {"boundary default", "type", "dirichlet"},
                 {"space", "order", order_text[order]}, {"solver", "tolerance", "1e-13"},
                 {"solver", "preconditioner", "multigrid"}, {"solver", "precision", "compact"})};
    for (int k = 0; k < 3; ++k) {
      const kedge_report r = report_of(ctx, mesh, ways[k]);
      assert_true(r.converged);
      assert_at_most(r.u_l2, 1e-11);
      assert_at_most(r.q_l2, 1e-10);
      assert_at_most(r.u_star_l2, 1e-11);
    }
  }
  kedge_mesh_destroy(mesh);
}

static void assert_refused(kedge_mesh *mesh, const setting *settings, const char *sentence)
{
  kedge_problem *problem = problem_of(ctx, settings);
  kedge_solution *solution = NULL;
  assert_int_equal(kedge_solve(ctx, mesh, problem, &solution), KEDGE_ERR_INPUT);
  assert_null(solution);
  assert_string_equal(kedge_context_error(ctx), sentence);
  kedge_problem_destroy(problem);
}

#define GIVEN                                                             \
  {"equation", "source", "1"}, {"boundary default", "type", "dirichlet"}, \
  {                                                                       \
    "boundary default", "value", "0"                                      \
  }

static void what_is_not_elliptic_or_not_a_region_is_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh = grid(4);
  assert_refused(mesh, SETTINGS(GIVEN, {"region 4", "diffusion", "2"}),
                 "[region 4]: grid has no region '4' among 3, 7");
  assert_refused(
      mesh, SETTINGS(GIVEN, {"region 3", "diffusion", "2"}),
      "[region 3] has diffusion, and region '7' of grid has no section; add [region 7] or "
      "[region default]");
  assert_refused(mesh, SETTINGS(GIVEN, {"equation", "diffusion", "region - 5"}),
                 "diffusion in region '3' must be positive, not -2");
  assert_refused(mesh, SETTINGS(GIVEN, {"equation", "diffusion", "1, 2, 1"}),
                 "diffusion in region '3' must be positive definite, and its least eigenvalue is "
                 "-1");
  assert_refused(mesh, SETTINGS(GIVEN, {"equation", "reaction", "6 - region"}),
                 "reaction in region '7' must be zero or positive, not -1");
  assert_refused(mesh,
                 SETTINGS(GIVEN, {"space", "order", "9"}, {"equation", "diffusion", "2+x, 1, 2"}),
                 "with an expression for diffusion or reaction order is 1 to 8, not 9");
  kedge_mesh *fine;
  must(ctx, kedge_mesh_refine(ctx, mesh, 2, &fine));
  assert_refused(fine, SETTINGS(GIVEN, {"region 4", "diffusion", "2"}),
                 "[region 4]: grid has no region '4' among 3, 7");
  kedge_mesh_destroy(fine);
  kedge_mesh_destroy(mesh);
}

static void a_field_that_is_not_positive_is_refused_with_the_place(void **state)
{
  (void)state;
  kedge_mesh *mesh = grid(4);
  kedge_problem *problem = problem_of(ctx, SETTINGS(GIVEN, {"equation", "diffusion", "x - 0.25"}));
  kedge_solution *solution = NULL;
  assert_int_equal(kedge_solve(ctx, mesh, problem, &solution), KEDGE_ERR_INPUT);
  double x, y, least;
  assert_int_equal(
      sscanf(kedge_context_error(ctx),
             "diffusion must be positive, and at x = %lf, y = %lf it is %lf", &x, &y, &least),
      3);
  assert_true(x < 0.25 && least < 0.0 && fabs(least - (x - 0.25)) < 1e-5);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// Refused with a sentence that begins so. @param[in] equation  what [equation] has from line 3 on
static void assert_refusal_begins(const char *equation, const char *sections, const char *begin)
{
  char text[600];
  snprintf(text, sizeof text,
           "[equation]\n%s\n%s\n[boundary default]\ntype = dirichlet\nvalue = 0\n", equation,
           sections);
  kedge_mesh *mesh = grid(4);
  kedge_problem *problem;
  kedge_solution *solution = NULL;
  must(ctx, kg_problem_parse(ctx, "magnet.ini", text, strlen(text), NULL, 0, &problem));
  assert_int_equal(kedge_solve(ctx, mesh, problem, &solution), KEDGE_ERR_INPUT);
  assert_null(solution);
  if (strncmp(kedge_context_error(ctx), begin, strlen(begin)) != 0)
    fail_msg("\"%s\" does not begin with \"%s\"", kedge_context_error(ctx), begin);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static void a_bad_coefficient_is_refused_with_its_line_and_region(void **state)
{
  (void)state;
  assert_refusal_begins(
      "source = 1\ndiffusion = 1",
      "[region default]\nreaction = 1\n[region 3]\nreaction = 2\ndiffusion = x - 3",
      "magnet.ini:8: diffusion in region '3' must be positive, and at x = ");
  assert_refusal_begins(
      "source = 1\ndiffusion = 1, 0, 2",
      "[region default]\nreaction = x - 3\n[region 3]\nreaction = 1",
      "magnet.ini:5: reaction in region '7' must be zero or positive, and at x = ");
  assert_refusal_begins(
      "source = 1\ndiffusion = x, 2, x", "[region default]\nreaction = x",
      "magnet.ini:3: diffusion in region '3' must be positive definite, and at x = ");
  assert_refusal_begins("source = 1\ndiffusion = 1\nreaction = sqrt(x-9)", "",
                        "magnet.ini:4: reaction is nan at x = ");
  assert_refusal_begins("source = 1\ndiffusion = x + 1",
                        "[region default]\nreaction = 1\n[region 7]\ndiffusion = 1, 0, sqrt(x-9)",
                        "magnet.ini:7: diffusion yy in region '7' is nan at x = ");
  assert_refusal_begins("source = 1\ndiffusion = 1",
                        "[region default]\nreaction = 1\n[region 7]\nsource = sqrt(x-9)",
                        "magnet.ini:7: source in region '7' is nan at x = ");
  assert_refusal_begins("source = 1",
                        "[region default]\ndiffusion = 2\n[region 7]\nreaction = -3 + region - 7",
                        "magnet.ini:6: reaction in region '7' must be zero or positive, not -3");
}

static void multigrid_takes_strong_anisotropy(void **state)
{
  (void)state;
  static const char *const tensors[] = {"1, 0, 0.01", "0.01, 0, 1", TURNED};
  for (int k = 0; k < 3; ++k)
    for (int order = 1; order <= ORDERS; ++order)
      converged_on(
          ctx, "square 24",
          SETTINGS({"equation", "diffusion", tensors[k]}, {"equation", "source", "1"},
                   {"space", "order", order_text[order]}, {"boundary default", "type", "dirichlet"},
                   {"boundary default", "value", "0"}, {"solver", "preconditioner", "multigrid"}));
}

/// The distance from the origin, which is a corner of elements: no integral looks there.
static void diffusion_may_be_zero_at_a_corner(void **state)
{
  (void)state;
  const kedge_report r = converged_on(
      ctx, "square 4",
      SETTINGS({"equation", "diffusion", "hypot(x,y)"}, {"exact", "u", "1+x"},
               {"space", "order", "2"}, {"boundary default", "type", "dirichlet"},
               {"equation", "source", "-x/hypot(x,y)"}, {"space", "quadrature", "12"}));
  assert_at_most(r.u_l2, 1e-3);  // the flux has a kink there
}

/// Infinite in the origin: norms of errors, of u at corners too, want no diffusion there.
static void diffusion_may_be_infinite_at_a_corner(void **state)
{
  (void)state;
  static const char *const meshes[] = {"square 4", "quads 4"};
  for (int k = 0; k < 2; ++k) {
    const kedge_report r = converged_on(
        ctx, meshes[k],
        SETTINGS({"equation", "diffusion", "1+hypot(x,y)^-0.2"}, {"exact", "u", "1+x^2-y^2"},
                 {"space", "order", "2"}, {"boundary default", "type", "dirichlet"},
                 {"equation", "source", "0.4*(x^2-y^2)*hypot(x,y)^-2.2"},
                 {"space", "quadrature", "12"}));
    assert_at_most(r.u_l2, 1e-4);
    assert_true(r.sigma_l2 > 2.0 * r.q_l2 && r.sigma_l2 < 10.0 * r.q_l2);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_constant_written_as_a_field_is_that_constant),
      cmocka_unit_test(materials_by_region_are_exact_for_broken_lines),
      cmocka_unit_test(what_is_not_elliptic_or_not_a_region_is_refused),
      cmocka_unit_test(a_field_that_is_not_positive_is_refused_with_the_place),
      cmocka_unit_test(a_bad_coefficient_is_refused_with_its_line_and_region),
      cmocka_unit_test(multigrid_takes_strong_anisotropy),
      cmocka_unit_test(diffusion_may_be_zero_at_a_corner),
      cmocka_unit_test(diffusion_may_be_infinite_at_a_corner),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
