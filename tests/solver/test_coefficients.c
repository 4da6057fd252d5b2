// Coefficients that vary, tensors, and regions, through the public API.
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "mesh/mesh.h"
#include "support.h"

enum { ORDERS = 4 };

static const char *const order_text[ORDERS + 1] = {"", "1", "2", "3", "4"};

#define WAVES  "sin(2*pi*x)*sin(2*pi*y)"
#define SCALAR "1+sin(3*x+2*y)/2"
#define TENSOR "2+sin(3*x), 0.7*cos(x*y), 1.5+y^2"
/// diag(1, 0.01) turned by 30 degrees.
#define TURNED "0.7525, 0.99*sqrt(3)/4, 0.2575"
/// On a chess board of four fields.
#define JUMP "region == 7 ? 1e6 : 1"

enum cut { WHOLE, LOWER_HALF, ALL };

/// The unit square in n x n squares, of which some are cut into two triangles. Region 3 is the left
/// half; or, of a chess board of four fields, where it is not 7.
static kedge_mesh *grid(int n, enum cut cut, bool is_board)
{
  const int row = n + 1;
  kg_raw_mesh raw = {.n_vertices = (int64_t)row * row, .width = 4};
  raw.vertices = calloc(2 * (size_t)raw.n_vertices, sizeof *raw.vertices);
  raw.corners = calloc(8 * (size_t)(n * n), sizeof *raw.corners);
  raw.regions = calloc(2 * (size_t)(n * n), sizeof *raw.regions);
  assert_true(raw.vertices && raw.corners && raw.regions);
  for (int v = 0; v < row * row; ++v) {
    raw.vertices[2 * v] = (double)(v % row) / n;
    raw.vertices[2 * v + 1] = (double)(v / row) / n;
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const int32_t a = j * row + i, b = a + 1, d = a + row, e = d + 1;
      const bool is_cut = cut == ALL || (cut == LOWER_HALF && j < n / 2), left = i < n / 2;
      const int32_t square[4] = {a, b, e, d}, parts[8] = {a, b, e, -1, a, e, d, -1};
      for (int k = 0; k < (is_cut ? 8 : 4); ++k)
        raw.corners[4 * raw.n_elements + k] = is_cut ? parts[k] : square[k];
      for (int k = 0; k < (is_cut ? 2 : 1); ++k)
        raw.regions[raw.n_elements++] = (is_board ? left == (j < n / 2) : left) ? 3 : 7;
    }
  kedge_mesh *mesh;
  must(ctx, kg_mesh_build(ctx, &raw, "grid", &mesh));
  free(raw.vertices);
  free(raw.corners);
  free(raw.regions);
  return mesh;
}

/// Norms of the errors of u, sigma = diffusion grad u, and u* by an independent implementation with
/// over-integrated rules.
typedef struct reference {
  enum cut cut;
  const char *diffusion, *reaction, *u;
  int most;  ///< iterations: of strong anisotropy many
  double norm[ORDERS + 1][3];
} reference;

static const reference references[] = {
    {ALL,
     "1",
     "1",
     WAVES,
     25,
     {{0},
      {9.12495e-02, 1.95433e-01, 3.62262e-03},
      {9.38923e-03, 2.16298e-02, 3.13741e-04},
      {7.88857e-04, 1.87968e-03, 2.24607e-05},
      {5.54698e-05, 1.34381e-04, 1.40973e-06}}},
    {WHOLE,
     "1",
     "1",
     WAVES,
     25,
     {{0},
      {1.61295e-02, 1.05881e-01, 2.28064e-03},
      {1.07144e-03, 6.94477e-03, 1.01137e-04},
      {5.30585e-05, 3.42081e-04, 3.64696e-06},
      {2.09574e-06, 1.34708e-05, 1.15271e-07}}},
    {ALL,
     SCALAR,
     "1+x",
     WAVES "+x*y",
     25,
     {{0},
      {9.71300e-02, 2.47622e-01, 3.73100e-03},
      {1.04809e-02, 3.01966e-02, 3.18449e-04},
      {9.97364e-04, 2.96632e-03, 2.29006e-05},
      {8.46693e-05, 2.55343e-04, 1.45546e-06}}},
    {WHOLE,
     SCALAR,
     "1+x",
     WAVES "+x*y",
     25,
     {{0},
      {1.61296e-02, 1.32947e-01, 2.27770e-03},
      {1.07148e-03, 9.87800e-03, 1.03433e-04},
      {5.30590e-05, 5.38604e-04, 3.72401e-06},
      {2.09577e-06, 2.69525e-05, 1.21140e-07}}},
    {ALL,
     TENSOR,
     "1+x",
     WAVES "+x*y",
     25,
     {{0},
      {1.24994e-01, 5.47205e-01, 3.57555e-03},
      {1.38183e-02, 6.32138e-02, 3.06126e-04},
      {1.22340e-03, 5.70451e-03, 2.20251e-05},
      {8.98905e-05, 4.28024e-04, 1.37061e-06}}},
    {WHOLE,
     TENSOR,
     "1+x",
     WAVES "+x*y",
     25,
     {{0},
      {1.61401e-02, 2.54526e-01, 2.34263e-03},
      {1.07175e-03, 1.67872e-02, 1.03662e-04},
      {5.30659e-05, 8.30017e-04, 3.69200e-06},
      {2.09594e-06, 3.29490e-05, 1.17526e-07}}},
    {ALL,
     TURNED,
     "0",
     WAVES "+x*y",
     100,
     {{0},
      {2.35436e-01, 1.65913e-01, 2.25521e-02},
      {2.58868e-02, 1.89465e-02, 8.92084e-04},
      {2.22803e-03, 1.66826e-03, 3.93430e-05},
      {1.57522e-04, 1.19860e-04, 1.88674e-06}}},
    {WHOLE,
     TURNED,
     "0",
     WAVES "+x*y",
     40,
     {{0},
      {1.62946e-02, 7.54315e-02, 3.50248e-03},
      {1.07693e-03, 4.93758e-03, 2.47905e-04},
      {5.31839e-05, 2.42456e-04, 1.02542e-05},
      {2.09864e-06, 9.55025e-06, 3.14848e-07}}},
    {ALL,
     JUMP,
     "0",
     WAVES "/(" JUMP ")",
     40,
     {{0},
      {6.51752e-02, 1.96031e-01, 2.42627e-03},
      {6.67997e-03, 2.16798e-02, 2.21556e-04},
      {5.60284e-04, 1.88234e-03, 1.58974e-05},
      {3.93617e-05, 1.34501e-04, 9.95841e-07}}},
    {WHOLE,
     JUMP,
     "0",
     WAVES "/(" JUMP ")",
     40,
     {{0},
      {1.14056e-02, 1.05886e-01, 1.61636e-03},
      {7.57622e-04, 6.94487e-03, 7.15180e-05},
      {3.75181e-05, 3.42082e-04, 2.57885e-06},
      {1.48191e-06, 1.34709e-05, 8.15094e-08}}},
};

static void errors_are_those_of_another_implementation(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof references / sizeof *references; ++k)
    for (int order = 1; order <= ORDERS; ++order) {
      const reference *ref = &references[k];
      kedge_mesh *mesh = grid(8, ref->cut, true);
      char rows[8];
      snprintf(rows, sizeof rows, "%d", order + 6);
      const kedge_report r = report_of(
          ctx, mesh,
          SETTINGS({"space", "quadrature", rows}, {"exact", "quadrature", rows},
                   {"space", "order", order_text[order]}, {"equation", "diffusion", ref->diffusion},
                   {"equation", "reaction", ref->reaction}, {"exact", "u", ref->u},
                   {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-12"},
                   {"solver", "preconditioner", "multigrid"}));
      assert_at_most(fabs(r.u_l2 / ref->norm[order][0] - 1.0), 1e-5);
      assert_at_most(fabs(r.sigma_l2 / ref->norm[order][1] - 1.0), 2e-5);
      assert_at_most(fabs(r.u_star_l2 / ref->norm[order][2] - 1.0), 1e-5);
      assert_true(r.converged);
      assert_in_range(r.iterations, 1, ref->most);
      kedge_mesh_destroy(mesh);
    }
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
  kedge_mesh *mesh = grid(6, LOWER_HALF, false);
  for (int order = 1; order <= 3; ++order) {
    const setting *const ways[] = {
        SETTINGS({"region 3", "diffusion", "2"}, {"region default", "diffusion", "8"},
                 {"exact", "u", u}, {"boundary default", "type", "dirichlet"},
                 {"space", "order", order_text[order]}, {"solver", "tolerance", "1e-13"},
                 {"solver", "preconditioner", "multigrid"}),
        SETTINGS({"equation", "diffusion", "region == 3 ? 2 : 8"}, {"exact", "u", u},
                 {"boundary default", "type", "dirichlet"}, {"space", "order", order_text[order]},
                 {"solver", "tolerance", "1e-13"}, {"solver", "preconditioner", "multigrid"})};
    for (int k = 0; k < 2; ++k) {
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
  kedge_mesh *mesh = grid(4, LOWER_HALF, false);
  assert_refused(mesh, SETTINGS(GIVEN, {"region 4", "diffusion", "2"}),
                 "[region 4]: grid has no region '4' among 3, 7");
  assert_refused(mesh, SETTINGS(GIVEN, {"region 3", "diffusion", "2"}),
                 "region '7' of grid has no section; add [region 7] or [region default]");
  assert_refused(mesh, SETTINGS(GIVEN, {"equation", "diffusion", "region - 5"}),
                 "diffusion in region '3' must be positive, not -2");
  assert_refused(mesh, SETTINGS(GIVEN, {"equation", "diffusion", "1, 2, 1"}),
                 "diffusion in region '3' must be positive definite, and its least eigenvalue is "
                 "-1");
  assert_refused(mesh, SETTINGS(GIVEN, {"equation", "reaction", "6 - region"}),
                 "reaction in region '7' must be zero or positive, not -1");
  assert_refused(
      mesh,
      SETTINGS(GIVEN, {"equation", "diffusion", "1+x"}, {"solver", "precision", "compact"},
               {"solver", "preconditioner", "multigrid"}),
      "with an expression for diffusion or reaction precision is double or mixed, not compact");
  assert_refused(mesh,
                 SETTINGS(GIVEN, {"space", "order", "9"}, {"equation", "diffusion", "2+x, 1, 2"}),
                 "with an expression for diffusion or reaction order is 1 to 8, not 9");
  assert_refused(
      mesh,
      SETTINGS(GIVEN, {"region 3", "diffusion", "2"}, {"region 7", "diffusion", "1"},
               {"solver", "precision", "compact"}, {"solver", "preconditioner", "multigrid"}),
      "with quadrilaterals in regions of different coefficients precision is double or "
      "mixed, not compact");
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
  kedge_mesh *mesh = grid(4, LOWER_HALF, false);
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_those_of_another_implementation),
      cmocka_unit_test(a_constant_written_as_a_field_is_that_constant),
      cmocka_unit_test(materials_by_region_are_exact_for_broken_lines),
      cmocka_unit_test(what_is_not_elliptic_or_not_a_region_is_refused),
      cmocka_unit_test(a_field_that_is_not_positive_is_refused_with_the_place),
      cmocka_unit_test(multigrid_takes_strong_anisotropy),
      cmocka_unit_test(diffusion_may_be_zero_at_a_corner),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
