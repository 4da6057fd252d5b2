// Curved elements through the public API, on meshes whose nodes a function has moved.
#include <stdio.h>

#include "compare.h"
#include "context.h"
#include "mesh/mesh.h"
#include "moved.h"
#include "support.h"

static const char *const order_text[] = {"", "1", "2", "3", "4", "5", "6", "7", "8"};

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
      cmocka_unit_test(linear_functions_are_exact_up_to_the_order_of_the_map),
      cmocka_unit_test(nodes_that_stay_make_a_straight_mesh),
      cmocka_unit_test(neumann_data_are_integrated_along_the_curve),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
