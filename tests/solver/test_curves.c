// Curved elements through the public API, on meshes whose nodes a function has moved.
#include <stdio.h>

#include "compare.h"
#include "context.h"
#include "mesh/mesh.h"
#include "moved.h"
#include "support.h"

enum { ORDERS = 4, SQUARES = 8 };

static const char *const order_text[] = {"", "1", "2", "3", "4", "5", "6", "7", "8"};

#define WAVES  "sin(2*pi*x)*sin(2*pi*y)"
#define TENSOR "2+sin(3*x), 0.7*cos(x*y), 1.5+y^2"

/// Norms of the errors of u, sigma = diffusion grad u, and u* by an independent implementation with
/// over-integrated rules.
static const struct reference {
  enum cut cut;
  int geometry;
  moving *to;
  const char *inverse, *reaction, *u;
  double norm[ORDERS + 1][3];
} references[] = {
    {ALL,
     2,
     wave,
     "exact",
     "1+x",
     WAVES "+x*y",
     {{0},
      {1.85471e-01, 9.92202e-01, 2.09679e-02},
      {3.21769e-02, 1.84730e-01, 1.54252e-03},
      {4.99527e-03, 2.94951e-02, 2.32055e-04},
      {6.29960e-04, 3.72090e-03, 2.15003e-05}}},
    {WHOLE,
     2,
     wave,
     "auto",
     "1+x",
     WAVES "+x*y",
     {{0},
      {3.07915e-02, 4.60994e-01, 7.86827e-03},
      {3.43634e-03, 5.83663e-02, 8.05799e-04},
      {4.57399e-04, 5.71882e-03, 4.56738e-05},
      {2.42356e-05, 7.16549e-04, 6.35207e-06}}},
    {ALL,
     2,
     wave,
     "adjusted",
     "1+x",
     WAVES "+x*y",
     {{0},
      {1.85241e-01, 9.91825e-01, 2.06251e-02},
      {3.21652e-02, 1.84689e-01, 1.54285e-03},
      {4.99406e-03, 2.94885e-02, 2.31727e-04},
      {6.29718e-04, 3.72212e-03, 2.14694e-05}}},
    {WHOLE,
     2,
     wave,
     "adjusted",
     "1+x",
     WAVES "+x*y",
     {{0},
      {3.08340e-02, 4.64408e-01, 8.05329e-03},
      {3.43554e-03, 5.85570e-02, 8.06370e-04},
      {4.57727e-04, 5.74524e-03, 4.56294e-05},
      {2.42438e-05, 7.18227e-04, 6.35411e-06}}},
    {CHECKERED,
     2,
     wave,
     "adjusted",
     "1+x",
     WAVES "+x*y",
     {{0},
      {1.54897e-01, 8.84299e-01, 1.77183e-02},
      {1.61002e-02, 1.02220e-01, 1.01015e-03},
      {4.00987e-03, 2.33718e-02, 1.53375e-04},
      {4.21977e-04, 2.50589e-03, 1.67443e-05}}},
    {ALL,
     3,
     ring,
     "adjusted",
     "0",
     "sin(3*x+y)*cos(2*y)",
     {{0},
      {3.77726e-02, 2.28105e-01, 4.02262e-03},
      {3.23329e-03, 2.46326e-02, 2.85863e-04},
      {2.81017e-04, 2.48081e-03, 2.16689e-05},
      {2.10278e-05, 2.51209e-04, 1.80624e-06}}},
    {WHOLE,
     3,
     ring,
     "adjusted",
     "0",
     "sin(3*x+y)*cos(2*y)",
     {{0},
      {2.01371e-02, 1.70921e-01, 3.88039e-03},
      {1.73335e-03, 1.49454e-02, 2.32095e-04},
      {1.10576e-04, 1.36242e-03, 1.42204e-05},
      {6.86836e-06, 1.24241e-04, 8.10859e-07}}},
};

static void errors_are_those_of_another_implementation(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof references / sizeof *references; ++k)
    for (int order = 1; order <= ORDERS; ++order) {
      const struct reference *ref = &references[k];
      kedge_mesh *mesh = moved(ctx, SQUARES, ref->cut, ref->geometry, ref->to);
      mesh->info.area = 1.0;  // L of the reference is 1 on the ring too
      char rows[8];
      snprintf(rows, sizeof rows, "%d", order + 6);
      const kedge_report r = report_of(
          ctx, mesh,
          SETTINGS({"space", "order", order_text[order]}, {"equation", "diffusion", TENSOR},
                   {"space", "quadrature", rows}, {"space", "inverse", ref->inverse},
                   {"equation", "reaction", ref->reaction}, {"exact", "u", ref->u},
                   {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-12"},
                   {"solver", "preconditioner", "multigrid"}));
      assert_true(r.converged);
      assert_in_range(r.iterations, 1, 30);
      assert_at_most(fabs(r.u_l2 / ref->norm[order][0] - 1.0), 1e-5);
      assert_at_most(fabs(r.sigma_l2 / ref->norm[order][1] - 1.0), 1e-5);
      assert_at_most(fabs(r.u_star_l2 / ref->norm[order][2] - 1.0), 1e-5);
      kedge_mesh_destroy(mesh);
    }
}

/// Nodes on a ring, of which a linear function is no polynomial of order P < g on an element.
static void linear_functions_are_exact_up_to_the_order_of_the_map(void **state)
{
  (void)state;
  static const enum cut cuts[] = {ALL, WHOLE, CHECKERED};
  for (int geometry = 2; geometry <= 5; ++geometry)
    for (int k = 0; k < 3; ++k) {
      kedge_mesh *mesh = moved(ctx, 4, cuts[k], geometry, k == 2 ? wave : ring);
      for (int order = geometry; order <= 6; order += 2) {
        const kedge_report r = report_of(
            ctx, mesh,
            SETTINGS({"space", "order", order_text[order]}, {"equation", "diffusion", "2, 0.5, 1"},
                     {"equation", "reaction", "1.5"}, {"exact", "u", "0.3+x-0.5*y"},
                     {"space", "quadrature", "10"}, {"boundary default", "type", "dirichlet"},
                     {"solver", "preconditioner", "multigrid"}, {"solver", "tolerance", "1e-13"}));
        assert_true(r.converged);
        assert_at_most(r.u_l2, 1e-12);
        assert_at_most(r.q_l2, 1e-11);
        assert_at_most(r.u_star_l2, 1e-12);
      }
      kedge_mesh_destroy(mesh);
    }
}

/// The nodes of a curved mesh in the places of a straight one.
static void nodes_that_stay_make_a_straight_mesh(void **state)
{
  (void)state;
  kedge_mesh *mesh = moved(ctx, 4, CHECKERED, 3, stay);
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  kedge_mesh_get_info(mesh, &info);
  assert_int_equal(info.geometry, 1);
  assert_null(mesh->nodes);
  kedge_mesh_destroy(mesh);
}

static void neumann_data_are_integrated_along_the_curve(void **state)
{
  (void)state;
  static const enum cut cuts[] = {ALL, WHOLE};
  for (int k = 0; k < 2; ++k)
    for (int order = 3; order <= 5; ++order) {
      kedge_mesh *mesh = moved(ctx, 4, cuts[k], 3, ring);
      const kedge_report r = report_of(
          ctx, mesh,
          SETTINGS({"space", "order", order_text[order]}, {"equation", "diffusion", "2, 0.5, 1"},
                   {"equation", "reaction", "1.5"}, {"exact", "u", "0.3+x-0.5*y"},
                   {"space", "quadrature", "10"}, {"boundary default", "type", "neumann"},
                   {"solver", "preconditioner", "multigrid"}, {"solver", "tolerance", "1e-13"}));
      assert_true(r.converged);
      assert_at_most(r.u_l2, 1e-11);
      assert_at_most(r.q_l2, 1e-10);
      kedge_mesh_destroy(mesh);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_those_of_another_implementation),
      cmocka_unit_test(linear_functions_are_exact_up_to_the_order_of_the_map),
      cmocka_unit_test(nodes_that_stay_make_a_straight_mesh),
      cmocka_unit_test(neumann_data_are_integrated_along_the_curve),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
