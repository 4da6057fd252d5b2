// Coefficients that are constant in each region: the fast kernels of triangles, in all methods, and
// the closed forms of parallelograms, against quadrature and against exact solutions.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "elliptic/stages.h"
#include "mesh/mesh.h"
#include "moved.h"
#include "support.h"

/// Loads of it are integrated exactly both ways. Where the diffusion jumps its flux does too: it is
/// then no solution, but errors against it are numbers to compare.
#define POLYNOMIAL "x^7-x*y^6+x^3*y^2"
/// Zero for all that double precision knows, but not to a compiler of expressions: a coefficient
/// with it goes by quadrature.
#define FIELD "+1e-300*x"
#define DIRICHLET                           \
  {                                         \
    "boundary default", "type", "dirichlet" \
  }

/// The unit square in n x n squares of two triangles each. Regions 1, 2, ... are n_regions strips
/// of a width, from left to right; n is a multiple of their number.
static kedge_mesh *strips(int n, int n_regions)
{
  const int row = n + 1;
  kg_raw_mesh raw = {.dimension = 2, .n_vertices = (int64_t)row * row, .width = 3};
  raw.vertices = calloc(2 * (size_t)raw.n_vertices, sizeof *raw.vertices);
  raw.corners = calloc(6 * (size_t)(n * n), sizeof *raw.corners);
  raw.regions = calloc(2 * (size_t)(n * n), sizeof *raw.regions);
  assert_true(raw.vertices && raw.corners && raw.regions);
  for (int v = 0; v < row * row; ++v) {
    raw.vertices[2 * v] = (double)(v % row) / n;
    raw.vertices[2 * v + 1] = (double)(v / row) / n;
  }
  for (int k = 0; k < n * n; ++k) {
    const int i = k % n, a = k / n * row + i, b = a + 1, d = a + row, e = d + 1;
    const int32_t corners[6] = {a, b, e, a, e, d};
    memcpy(raw.corners + 6 * k, corners, sizeof corners);
    raw.regions[2 * k] = raw.regions[2 * k + 1] = 1 + i * n_regions / n;
  }
  raw.n_elements = 2 * (int64_t)n * n;
  kedge_mesh *mesh;
  must(ctx, kg_mesh_build(ctx, &raw, "strips", &mesh));
  free(raw.vertices);
  free(raw.corners);
  free(raw.regions);
  return mesh;
}

static void assert_same_solution(const fields *a, const fields *b, double tolerance)
{
  for (int k = 0; k < FIELDS; ++k) assert_close(a->n[k], b->values[k], a->values[k], tolerance);
}

/// The coefficients of a problem; `field` is FIELD or nothing.
#define ONE_TENSOR(field)                         \
  {                                               \
    "equation", "diffusion", "2" field ", 0.5, 1" \
  }
#define NUMBERS(field)                  \
  {"region 1", "diffusion", "2" field}, \
  {                                     \
    "region default", "diffusion", "8"  \
  }
#define FIVE(field)                                                                \
  {"region 1", "diffusion", "2" field ", 0.5, 1"}, {"region 1", "reaction", "1"},  \
      {"region 2", "diffusion", "0.1"}, {"region 3", "diffusion", "0.3, -0.4, 5"}, \
      {"region 3", "reaction", "2.5"}, {"region 4", "diffusion", "30"},            \
      {"region 4", "reaction", "7"},                                               \
  {                                                                                \
    "region 5", "diffusion", "1, 0, 0.01"                                          \
  }
#define PROBLEM(order, stabilization, coefficients)                                            \
  SETTINGS(coefficients, {"space", "order", order}, {"space", "stabilization", stabilization}, \
           {"space", "quadrature", "9"}, {"exact", "quadrature", "11"},                        \
           {"exact", "u", POLYNOMIAL}, DIRICHLET, {"solver", "tolerance", "1e-13"},            \
           {"solver", "preconditioner", "multigrid"}, {"solver", "smoothing_steps", "1"})
/// One way and the other.
#define BOTH(order, stabilization, coefficients)            \
  {                                                         \
    PROBLEM(order, stabilization, coefficients("")),        \
        PROBLEM(order, stabilization, coefficients(FIELD)), \
  }

static void assert_same_errors(const kedge_solution *a, const kedge_solution *b)
{
  kedge_report p = KEDGE_REPORT_INIT, q = KEDGE_REPORT_INIT;
  kedge_solution_report(a, &p);
  kedge_solution_report(b, &q);
  assert_true(p.converged && q.converged);
  assert_at_most(fabs(p.u_l2 - q.u_l2), 1e-10 * (1.0 + q.u_l2));
  assert_at_most(fabs(p.q_l2 - q.q_l2), 1e-10 * (1.0 + q.q_l2));
  assert_at_most(fabs(p.sigma_l2 - q.sigma_l2), 1e-10 * (1.0 + q.sigma_l2));
  assert_at_most(fabs(p.u_star_l2 - q.u_star_l2), 1e-10 * (1.0 + q.u_star_l2));
  assert_in_range(p.iterations, q.iterations - 2, q.iterations + 2);
}

/// Solve one way and the other.
static void compare_both(const kedge_mesh *mesh, const setting *const pair[2])
{
  kedge_solution *fast = solve(ctx, mesh, pair[0]), *general = solve(ctx, mesh, pair[1]);
  fields of_fast = fields_of(ctx, fast), of_general = fields_of(ctx, general);
  assert_same_solution(&of_general, &of_fast, 1e-11);
  assert_same_errors(fast, general);
  fields_free(&of_fast);
  fields_free(&of_general);
  kedge_solution_destroy(fast);
  kedge_solution_destroy(general);
}

static void what_quadrature_solves_fast_kernels_do_too(void **state)
{
  (void)state;
  const setting *const pairs[][2] = {BOTH("1", "2", ONE_TENSOR),   BOTH("3", "1/h", ONE_TENSOR),
                                     BOTH("5", "2*h", ONE_TENSOR), BOTH("1", "3", NUMBERS),
                                     BOTH("3", "2/h", NUMBERS),    BOTH("1", "1/h", FIVE),
                                     BOTH("2", "2", FIVE),         BOTH("4", "1", FIVE)};
  kedge_mesh *mesh = strips(10, 5);
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k) compare_both(mesh, pairs[k]);
  kedge_mesh_destroy(mesh);
}

static void oblique(int n, const double from[2], double to[2])
{
  const double a = from[0] + 0.2 * from[0] * from[0];
  (void)n;
  to[0] = a + 0.3 * from[1];
  to[1] = from[1] - 0.4 * a;
}

static int32_t fifth(int n, int i, int j)
{
  (void)j;
  return 1 + i * 5 / n;
}

/// Parallelograms, alone or with triangles among them.
static void parallelograms_have_the_solution_of_quadrature_without_it(void **state)
{
  (void)state;
  const setting *const pairs[][2] = {BOTH("1", "2", ONE_TENSOR), BOTH("4", "1/h", ONE_TENSOR),
                                     BOTH("2", "3", NUMBERS),    BOTH("3", "1", FIVE),
                                     BOTH("5", "2*h", FIVE),     BOTH("7", "1", FIVE)};
  for (int checkered = 0; checkered < 2; ++checkered) {
    kedge_mesh *mesh = grid_of(ctx, 5, checkered ? CHECKERED : WHOLE, 1, oblique, fifth);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k) compare_both(mesh, pairs[k]);
    const kedge_report closed = report_of(ctx, mesh, pairs[1][0]);
    const kedge_report general = report_of(ctx, mesh, pairs[1][1]);
    for (kg_stage stage = KG_STAGE_LOCAL_SOLVE; stage <= KG_STAGE_POSTPROCESS; ++stage)
      assert_true(closed.stages[stage].flops < general.stages[stage].flops);
    assert_true(closed.stages[KG_STAGE_LOCAL_MATRICES].flops <
                0.5 * general.stages[KG_STAGE_LOCAL_MATRICES].flops);
    kedge_mesh_destroy(mesh);
  }
}

/// The stabilization n . diffusion n / L, which both find.
static void the_stabilization_of_an_edge_follows_the_diffusion_there(void **state)
{
  (void)state;
  const setting *const pairs[][2] = {
      {SETTINGS(ONE_TENSOR(""), {"exact", "u", POLYNOMIAL}, DIRICHLET,
                {"solver", "tolerance", "1e-13"}),
       SETTINGS(ONE_TENSOR(FIELD), {"exact", "u", POLYNOMIAL}, DIRICHLET,
                {"solver", "tolerance", "1e-13"})},
      {SETTINGS(FIVE(""), {"space", "order", "2"}, {"exact", "u", POLYNOMIAL}, DIRICHLET,
                {"solver", "tolerance", "1e-13"}),
       SETTINGS(FIVE(FIELD), {"space", "order", "2"}, {"exact", "u", POLYNOMIAL}, DIRICHLET,
                {"solver", "tolerance", "1e-13"})}};
  kedge_mesh *mesh = strips(10, 5);
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k) {
    kedge_solution *fast = solve(ctx, mesh, pairs[k][0]), *general = solve(ctx, mesh, pairs[k][1]);
    fields of_fast = fields_of(ctx, fast), of_general = fields_of(ctx, general);
    assert_at_most(distance(of_fast.n[FIELD_TRACE], of_fast.values[FIELD_TRACE],
                            of_general.values[FIELD_TRACE]),
                   1e-11);
    fields_free(&of_fast);
    fields_free(&of_general);
    kedge_solution_destroy(fast);
    kedge_solution_destroy(general);
  }
  kedge_mesh_destroy(mesh);
}

/// A plane with a kink on a line between two regions, where n . diffusion grad u is 2.5 on both
/// sides.
#define KINKED                                                                   \
  {"region 1", "diffusion", "2, 0.5, 1"}, {"region 2", "diffusion", "8, -1, 3"}, \
      {"exact", "u", "region == 1 ? x+y : 0.4375*x+0.28125+y"}, DIRICHLET,       \
  {                                                                              \
    "solver", "tolerance", "1e-13"                                               \
  }

static void a_broken_plane_is_exact_at_every_order_and_in_every_method(void **state)
{
  (void)state;
  static const struct {
    const char *op, *preconditioner, *precision, *smoother;
    double bound;
  } methods[] = {{"matrix-free", "multigrid", "double", "edge", 1e-11},
                 {"matrix-free", "multigrid", "mixed", "line", 1e-11},
                 {"matrix-free", "multigrid", "compact", "auto", 1e-11},
                 {"matrix-free", "jacobi", "double", "auto", 1e-10},
                 {"matrix-free-plain", "jacobi", "double", "auto", 1e-10},
                 {"ell", "jacobi", "double", "auto", 1e-10}};
  kedge_mesh *mesh = strips(12, 2);
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    for (size_t k = order <= 3 ? 0 : 2; k < (order <= 3 ? sizeof methods / sizeof *methods : 3);
         ++k) {
      char text[8];
      snprintf(text, sizeof text, "%d", order);
      const kedge_report r = report_of(
          ctx, mesh,
          SETTINGS(KINKED, {"space", "order", text}, {"solver", "operator", methods[k].op},
                   {"solver", "preconditioner", methods[k].preconditioner},
                   {"solver", "precision", methods[k].precision},
                   {"solver", "smoother", methods[k].smoother}));
      assert_true(r.converged);
      assert_at_most(r.u_l2, methods[k].bound);
      assert_at_most(r.q_l2, 100 * methods[k].bound);
      assert_at_most(r.sigma_l2, 1000 * methods[k].bound);
      assert_at_most(r.u_star_l2, methods[k].bound);
    }
  kedge_mesh_destroy(mesh);
}

static void their_table_and_index_are_predicted(void **state)
{
  (void)state;
  kedge_mesh *mesh = strips(20, 5);
  kedge_problem *problem =
      problem_of(ctx, SETTINGS(FIVE(""), DIRICHLET, {"exact", "u", POLYNOMIAL},
                               {"space", "order", "2"}, {"solver", "preconditioner", "jacobi"}));
  kedge_plan plan = KEDGE_PLAN_INIT;
  must(ctx, kedge_plan_make(ctx, mesh, problem, &plan));
  kedge_solution *solution;
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  kedge_report report = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &report);
  assert_int_equal(report.predicted_device_bytes, plan.peak_bytes[plan.operator_kind]);
  assert_int_equal(report.peak_device_bytes, report.predicted_device_bytes);
  kedge_solution_destroy(solution);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static void an_element_of_no_region_is_a_defect_that_is_said(void **state)
{
  (void)state;
  kedge_mesh *mesh = strips(8, 2);
  mesh->element_region[mesh->n_elements / 2] = 99;
  kedge_problem *p =
      problem_of(ctx, SETTINGS({"region 1", "diffusion", "2"}, {"region 2", "diffusion", "3"},
                               {"exact", "u", "x"}, DIRICHLET));
  const char *const sentence = refusal_of(ctx, mesh, p, KEDGE_ERR_INTERNAL);
  assert_non_null(strstr(sentence, "strips: elements have region 99, which is no group"));
  kedge_problem_destroy(p);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_quadrature_solves_fast_kernels_do_too),
      cmocka_unit_test(parallelograms_have_the_solution_of_quadrature_without_it),
      cmocka_unit_test(the_stabilization_of_an_edge_follows_the_diffusion_there),
      cmocka_unit_test(a_broken_plane_is_exact_at_every_order_and_in_every_method),
      cmocka_unit_test(their_table_and_index_are_predicted),
      cmocka_unit_test(an_element_of_no_region_is_a_defect_that_is_said),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
