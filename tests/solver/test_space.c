// Solves on tetrahedra: norms of errors against those of an independent implementation, exact
// polynomials, the same bits from run to run, and what is refused so far.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "support.h"

#define WAVES "sin(pi*x)*sin(pi*y)*sin(pi*z)"
#define OTHER "exp(x+y/2)*sin(2*z+3/10)+x*y^2*z"

/// Norms of the errors of u, q and u* on `cube n` with diffusion, reaction and tau 1, all integrals
/// over-integrated.
typedef struct reference {
  const char *u;
  int order, n;
  double norm[3];
} reference;

static const reference references[] = {
    {WAVES, 1, 2, {1.09207e-01, 3.87875e-01, 2.99470e-02}},
    {WAVES, 1, 4, {3.22783e-02, 1.08017e-01, 4.20968e-03}},
    {WAVES, 1, 8, {8.50726e-03, 2.77590e-02, 5.38332e-04}},
    {WAVES, 2, 2, {2.98289e-02, 1.10186e-01, 6.69689e-03}},
    {WAVES, 2, 4, {4.33280e-03, 1.54559e-02, 4.49892e-04}},
    {WAVES, 3, 2, {6.77723e-03, 2.58484e-02, 1.35376e-03}},
    {WAVES, 3, 4, {4.88750e-04, 1.80092e-03, 4.54223e-05}},
    {WAVES, 4, 2, {1.32178e-03, 5.11259e-03, 2.33971e-04}},
    {WAVES, 6, 2, {3.32292e-05, 1.29467e-04, 4.76340e-06}},
    {OTHER, 1, 2, {5.36658e-02, 1.58382e-01, 1.09246e-02}},
    {OTHER, 1, 4, {1.37781e-02, 4.27548e-02, 1.56062e-03}},
    {OTHER, 1, 8, {3.46406e-03, 1.10752e-02, 2.07016e-04}},
    {OTHER, 2, 2, {5.25371e-03, 1.42270e-02, 6.70065e-04}},
    {OTHER, 2, 4, {6.62206e-04, 1.88419e-03, 4.28582e-05}},
    {OTHER, 3, 2, {3.53050e-04, 1.09862e-03, 3.81406e-05}},
    {OTHER, 3, 4, {2.25404e-05, 7.16851e-05, 1.21826e-06}},
    {OTHER, 4, 2, {2.13053e-05, 6.47999e-05, 1.91828e-06}},
    {OTHER, 6, 2, {4.50858e-08, 1.31246e-07, 2.76663e-09}},
};

static void norms_are_those_of_the_reference(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof references / sizeof *references; ++i) {
    const reference *const r = &references[i];
    char words[16], order[16];
    snprintf(words, sizeof words, "cube %d", r->n);
    snprintf(order, sizeof order, "%d", r->order);
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, words, &mesh));
    const kedge_report report = report_of(
        ctx, mesh,
        SETTINGS({"space", "order", order}, {"space", "stabilization", "1"},
                 {"equation", "reaction", "1"}, {"exact", "u", r->u},
                 {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-13"}));
    assert_true(report.converged);
    const double norm[3] = {report.u_l2, report.q_l2, report.u_star_l2};
    for (int k = 0; k < 3; ++k) assert_at_most(fabs(norm[k] / r->norm[k] - 1.0), 1e-5);
    assert_at_most(fabs(report.sigma_l2 / norm[1] - 1.0), 1e-12);
    kedge_mesh_destroy(mesh);
  }
}

/// kappa 3, lambda 0.5, tau 2, Neumann conditions on x = 0 and z = 1.
static void coefficients_and_neumann_faces_are_those_of_the_reference(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "cube 4", &mesh));
  const kedge_report report =
      report_of(ctx, mesh,
                SETTINGS({"space", "order", "2"}, {"space", "stabilization", "2"},
                         {"equation", "diffusion", "3"}, {"equation", "reaction", "0.5"},
                         {"exact", "u", OTHER}, {"boundary default", "type", "dirichlet"},
                         {"boundary x0", "type", "neumann"}, {"boundary z1", "type", "neumann"},
                         {"solver", "tolerance", "1e-13"}));
  assert_at_most(fabs(report.u_l2 / 7.22300e-04 - 1.0), 1e-5);
  assert_at_most(fabs(report.q_l2 / 1.83245e-03 - 1.0), 1e-5);
  assert_at_most(fabs(report.u_star_l2 / 3.94266e-05 - 1.0), 1e-5);
  assert_at_most(fabs(report.sigma_l2 / report.q_l2 / 3.0 - 1.0), 1e-12);
  kedge_mesh_destroy(mesh);
}

static void polynomials_of_the_order_come_back(void **state)
{
  static const char *const u[] = {"1+2*x-3*y+z/2",     "x*y-z^2+y",   "x*y*z+x^3-2*z^2*y",
                                  "x^4+y^2*z^2-x*y*z", "x^5-z^4*y+x", "x^6+y^3*z^3-z"};
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "cube 2", &mesh));
  for (int order = 1; order <= 6; ++order) {
    char text[16];
    snprintf(text, sizeof text, "%d", order);
    const kedge_report report =
        report_of(ctx, mesh,
                  SETTINGS({"space", "order", text}, {"equation", "diffusion", "2"},
                           {"exact", "u", u[order - 1]}, {"boundary default", "type", "dirichlet"},
                           {"boundary y1", "type", "neumann"}, {"solver", "tolerance", "1e-14"}));
    assert_at_most(report.u_linf, 1e-11);
    assert_at_most(report.q_l2, 1e-11);
    assert_at_most(report.u_star_l2, 1e-11);
  }
  kedge_mesh_destroy(mesh);
}

/// Values at nodes are those of the polynomial there, and elements of nodes have positive volumes.
static void nodes_and_values_belong_together(void **state)
{
  enum { ORDER = 2, NODES = 20 };
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "cube 2", &mesh));
  kedge_solution *const s = solve(
      ctx, mesh,
      SETTINGS({"space", "order", "2"}, {"equation", "diffusion", "2"}, {"exact", "u", "x*y-z^2+y"},
               {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-14"}));
  const int64_t n = 48 * NODES;
  double *const at = malloc(3 * (size_t)n * sizeof *at), *value = malloc((size_t)n * sizeof *value);
  int64_t offsets[49];
  assert_true(at && value);
  must(ctx, kedge_solution_offsets(s, ORDER + 1, offsets));
  assert_int_equal(offsets[48], n);
  must(ctx, kedge_solution_nodes(s, ORDER + 1, at));
  for (int64_t e = 0; e < 48; ++e) {
    const double *const a = at + 3 * NODES * e;
    double d[3][3];
    for (int l = 0; l < 3; ++l)
      for (int k = 0; k < 3; ++k) d[l][k] = a[3 * (l + 1) + k] - a[k];
    const double volume = d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
                          d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
                          d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
    assert_at_most(fabs(volume - 0.125), 1e-15);
  }
  for (kedge_field f = 0; f < KEDGE_FIELD_COUNT; ++f) {
    must(ctx, kedge_solution_values(s, f, ORDER + 1, value));
    for (int64_t i = 0; i < n; ++i) {
      const double x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2], u = x * y - z * z + y;
      const double exact[] = {[KEDGE_FIELD_U] = u,
                              [KEDGE_FIELD_QX] = y,
                              [KEDGE_FIELD_QY] = x + 1,
                              [KEDGE_FIELD_QZ] = -2 * z,
                              [KEDGE_FIELD_U_STAR] = u,
                              [KEDGE_FIELD_SIGMA_X] = 2 * y,
                              [KEDGE_FIELD_SIGMA_Y] = 2 * (x + 1),
                              [KEDGE_FIELD_SIGMA_Z] = -4 * z};
      assert_at_most(fabs(value[i] - exact[f]), 1e-11);
    }
  }
  double means[48];
  must(ctx, kedge_solution_means(s, KEDGE_FIELD_QZ, means));
  for (int e = 0; e < 48; ++e) {
    double mean = 0.0;
    for (int l = 0; l < 4; ++l) mean -= 0.5 * at[3 * (NODES * e + l) + 2];
    assert_at_most(fabs(means[e] - mean), 1e-11);
  }
  free(at);
  free(value);
  kedge_solution_destroy(s);
  kedge_mesh_destroy(mesh);
}

/// A set-up solves many times, with the bits of a single solve.
static void a_solver_and_a_solve_have_the_same_bits(void **state)
{
  enum { NODES = 4, COUNT = 162 * NODES };
  (void)state;
  kedge_mesh *mesh;
  kedge_solver *solver;
  kedge_solution *made = NULL;
  double first[COUNT], again[COUNT];
  must(ctx, kedge_mesh_generate(ctx, "cube 3", &mesh));
  kedge_problem *const problem = problem_of(
      ctx, SETTINGS({"space", "order", "3"}, {"equation", "source", "1+x*z"},
                    {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "y"}));
  kedge_solution *one;
  must(ctx, kedge_solve(ctx, mesh, problem, &one));
  must(ctx, kedge_solution_values(one, KEDGE_FIELD_U_STAR, 1, first));
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  for (int i = 0; i < 2; ++i) {
    must(ctx, kedge_solver_solve(solver, NULL, &made));
    must(ctx, kedge_solution_values(made, KEDGE_FIELD_U_STAR, 1, again));
    assert_memory_equal(first, again, sizeof first);
  }
  kedge_solution_destroy(made);
  kedge_solver_destroy(solver);
  kedge_solution_destroy(one);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static void a_source_that_is_not_finite_is_refused_with_its_place(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "cube 1", &mesh));
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"equation", "source", "1/(z < 2 ? 0 : z)"},
                    {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"}));
  assert_non_null(strstr(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT), ", z = "));
  kedge_problem_destroy(problem);
  problem = problem_of(
      ctx, SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
                    {"boundary z1", "type", "dirichlet"}, {"boundary z1", "value", "log(x-2)"}));
  assert_non_null(strstr(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT),
                         "the value on boundary z1 is nan at x = "));
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static void what_is_of_the_plane_so_far_is_refused(void **state)
{
  static const setting asked[] = {
      {"space", "order", "7"}, {"solver", "smoother", "line"}, {"solver", "precision", "compact"}};
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "cube 1", &mesh));
  for (size_t i = 0; i < sizeof asked / sizeof *asked; ++i) {
    kedge_problem *const problem =
        problem_of(ctx, SETTINGS({"boundary default", "type", "dirichlet"},
                                 {"boundary default", "value", "0"}, asked[i]));
    assert_non_null(strstr(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT),
                           "cube 1 is of tetrahedra, on which kedge solves with "));
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(norms_are_those_of_the_reference),
      cmocka_unit_test(coefficients_and_neumann_faces_are_those_of_the_reference),
      cmocka_unit_test(polynomials_of_the_order_come_back),
      cmocka_unit_test(nodes_and_values_belong_together),
      cmocka_unit_test(a_solver_and_a_solve_have_the_same_bits),
      cmocka_unit_test(a_source_that_is_not_finite_is_refused_with_its_place),
      cmocka_unit_test(what_is_of_the_plane_so_far_is_refused),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
