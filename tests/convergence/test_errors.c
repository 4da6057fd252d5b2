// Errors against smooth exact solutions: values of an independent implementation, orders of
// convergence, and how small an error gets at high order.
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "solver/support.h"

#define WAVES "sin(2*pi*x)*sin(2*pi*y)"

static kedge_report waves(const kedge_mesh *mesh, int order, const char *tolerance)
{
  char text[16];
  snprintf(text, sizeof text, "%d", order);
  return report_of(
      ctx, mesh,
      SETTINGS({"space", "order", text}, {"equation", "reaction", "1"}, {"exact", "u", WAVES},
               {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", tolerance}));
}

static kedge_mesh *square(int n)
{
  char words[32];
  kedge_mesh *mesh;
  snprintf(words, sizeof words, "square %d", n);
  must(ctx, kedge_mesh_generate(ctx, words, &mesh));
  return mesh;
}

static void errors_are_those_of_an_independent_implementation_to_five_digits(void **state)
{
  (void)state;
  static const struct {
    int n;
    double u_l2[3];  // of orders 1, 2, 3
  } table[] = {{20, {1.52402e-02, 6.22440e-04, 2.08110e-05}},
               {40, {3.84418e-03, 7.83746e-05, 1.30868e-06}}};
  for (int i = 0; i < 2; ++i) {
    kedge_mesh *mesh = square(table[i].n);
    for (int order = 1; order <= 3; ++order) {
      char expected[16], actual[16];
      snprintf(expected, sizeof expected, "%.5e", table[i].u_l2[order - 1]);
      snprintf(actual, sizeof actual, "%.5e", waves(mesh, order, "1e-12").u_l2);
      assert_string_equal(actual, expected);
    }
    kedge_mesh_destroy(mesh);
  }
}

/// Errors of u, q and u* on a mesh and on its refinement.
typedef struct rates {
  double u, q, u_star;
} rates;

static rates rates_of(const kedge_report *coarse, const kedge_report *fine)
{
  return (rates){log2(coarse->u_l2 / fine->u_l2), log2(coarse->q_l2 / fine->q_l2),
                 log2(coarse->u_star_l2 / fine->u_star_l2)};
}

static void assert_optimal(int order, rates r)
{
  if (!(fabs(r.u - order - 1) <= 0.1 && fabs(r.q - order - 1) <= 0.1 &&
        fabs(r.u_star - order - 2) <= 0.1))
    fail_msg("P = %d: orders %.3f of u, %.3f of q, %.3f of u*", order, r.u, r.q, r.u_star);
}

static void orders_are_optimal_on_structured_meshes(void **state)
{
  (void)state;
  static const int squares[] = {0, 32, 20, 16, 12, 10, 8};
  for (int order = 1; order <= 6; ++order) {
    kedge_mesh *coarse = square(squares[order]), *fine = square(2 * squares[order]);
    const kedge_report a = waves(coarse, order, "1e-12"), b = waves(fine, order, "1e-12");
    assert_optimal(order, rates_of(&a, &b));
    kedge_mesh_destroy(fine);
    kedge_mesh_destroy(coarse);
  }
}

/// A mesh of Gmsh, with Dirichlet and Neumann conditions, and every coefficient another. Waves are
/// shorter for high orders, whose errors would otherwise vanish in rounding.
static kedge_report on_gmsh_mesh(const kedge_mesh *mesh, int order)
{
  char text[16];
  snprintf(text, sizeof text, "%d", order);
  return report_of(
      ctx, mesh,
      SETTINGS({"space", "order", text}, {"space", "stabilization", "1.5"},
               {"equation", "diffusion", "0.8"}, {"equation", "reaction", "2"},
               {"parameters", "k", order > 4 ? "2" : "1"},
               {"exact", "u", "sin(4*k*x+1)*cos(5*k*y)+cos(3*x*y)"},
               {"boundary inlet", "type", "dirichlet"}, {"boundary outlet", "type", "neumann"},
               {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-12"}));
}

static void orders_are_optimal_on_a_mesh_of_gmsh(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_read(ctx, KEDGE_SOURCE_DIR "/meshes/inclusion41.msh", &mesh));
  for (int order = 1; order <= 6; ++order) {
    const int refine = order == 1 ? 2 : order <= 3 ? 1 : 0;
    kedge_mesh *coarse, *fine;
    must(ctx, kedge_mesh_refine(ctx, mesh, refine, &coarse));
    must(ctx, kedge_mesh_refine(ctx, mesh, refine + 1, &fine));
    const kedge_report a = on_gmsh_mesh(coarse, order), b = on_gmsh_mesh(fine, order);
    assert_optimal(order, rates_of(&a, &b));
    kedge_mesh_destroy(fine);
    kedge_mesh_destroy(coarse);
  }
  kedge_mesh_destroy(mesh);
}

static void the_error_at_order_9_falls_below_1e_11(void **state)
{
  (void)state;
  kedge_mesh *mesh = square(40);
  const kedge_report report = waves(mesh, 9, "1e-14");
  assert_at_most(report.u_l2, 1e-11);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_those_of_an_independent_implementation_to_five_digits),
      cmocka_unit_test(orders_are_optimal_on_structured_meshes),
      cmocka_unit_test(orders_are_optimal_on_a_mesh_of_gmsh),
      cmocka_unit_test(the_error_at_order_9_falls_below_1e_11),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
