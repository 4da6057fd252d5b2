// Errors against smooth exact solutions, whatever the method: values of an independent
// implementation, orders of convergence, and how small an error gets at high order.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "solver/methods.h"
#include "solver/support.h"
#include "solution/values.h"

#define WAVES "sin(2*pi*x)*sin(2*pi*y)"
#define PEAK  "exp(-200*((x-0.4)^2+(y-0.55)^2))"

static kedge_solution *solved(const kedge_mesh *mesh, const method *m, int order, const char *exact,
                              const char *reaction, const char *tolerance)
{
  char text[16];
  snprintf(text, sizeof text, "%d", order);
  return solve(ctx, mesh,
               SETTINGS({"space", "order", text}, {"equation", "reaction", reaction},
                        {"exact", "u", exact}, {"boundary default", "type", "dirichlet"},
                        {"solver", "tolerance", tolerance}, METHOD(m)));
}

static kedge_report waves(const kedge_mesh *mesh, const method *m, int order, const char *reaction,
                          const char *tolerance)
{
  kedge_solution *solution = solved(mesh, m, order, WAVES, reaction, tolerance);
  kedge_report report = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &report);
  kedge_solution_destroy(solution);
  return report;
}

/// From one method to the next: shadow computes what the host does, and a third has to do there, at
/// each order another.
static int method_step(void)
{
  return test_backend() == KEDGE_BACKEND_SHADOW ? 3 : 1;
}

static int first_method(int order)
{
  return order % method_step();
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
    kedge_mesh *mesh = square_mesh(ctx, table[i].n);
    for (int order = 1; order <= 3; ++order) {
      char expected[16], actual[16];
      snprintf(expected, sizeof expected, "%.5e", table[i].u_l2[order - 1]);
      for (const method *m = methods + first_method(order); m < methods + METHODS;
           m += method_step()) {
        snprintf(actual, sizeof actual, "%.5e", waves(mesh, m, order, "1", "1e-12").u_l2);
        if (strcmp(actual, expected) != 0)
          fail_msg(METHOD_FORMAT ", P = %d: %s is not %s", METHOD_WORDS(m), order, actual,
                   expected);
      }
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

static void assert_optimal(const method *m, int order, rates r)
{
  if (!(fabs(r.u - order - 1) <= 0.1 && fabs(r.q - order - 1) <= 0.1 &&
        fabs(r.u_star - order - 2) <= 0.1))
    fail_msg(METHOD_FORMAT ", P = %d: orders %.3f of u, %.3f of q, %.3f of u*", METHOD_WORDS(m),
             order, r.u, r.q, r.u_star);
}

/// Every method takes its turn, with and without reaction.
static void orders_are_optimal_on_structured_meshes(void **state)
{
  (void)state;
  static const int squares[] = {0, 32, 20, 16, 12, 10, 8};
  for (int order = 1; order <= 6; ++order) {
    kedge_mesh *coarse = square_mesh(ctx, squares[order]),
               *fine = square_mesh(ctx, 2 * squares[order]);
    for (const method *m = methods + first_method(order); m < methods + METHODS;
         m += method_step()) {
      const char *reaction = (order + (m - methods)) % 2 ? "0" : "1";
      const kedge_report a = waves(coarse, m, order, reaction, "1e-12"),
                         b = waves(fine, m, order, reaction, "1e-12");
      assert_optimal(m, order, rates_of(&a, &b));
    }
    kedge_mesh_destroy(fine);
    kedge_mesh_destroy(coarse);
  }
}

/// A mesh of Gmsh, with Dirichlet and Neumann conditions, and every coefficient another. Waves are
/// shorter for high orders, whose errors would otherwise vanish in rounding.
static kedge_report on_gmsh_mesh(const kedge_mesh *mesh, const method *m, int order)
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
               {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-12"},
               METHOD(m)));
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
    for (const method *m = methods + order % 3; m < methods + METHODS; m += 3) {
      const kedge_report a = on_gmsh_mesh(coarse, m, order), b = on_gmsh_mesh(fine, m, order);
      assert_optimal(m, order, rates_of(&a, &b));
    }
    kedge_mesh_destroy(fine);
    kedge_mesh_destroy(coarse);
  }
  kedge_mesh_destroy(mesh);
}

static void the_error_at_order_9_falls_below_1e_11(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 40);
  for (const method *m = methods; m < methods + METHODS; m += method_step())
    assert_at_most(waves(mesh, m, 9, "1", "1e-14").u_l2, 1e-11);
  kedge_mesh_destroy(mesh);
}

/// Rows of a rule much finer than the solver's.
enum { FINE_ROWS = 16, FINE_POINTS = FINE_ROWS * FINE_ROWS };

/// u, u_x and u_y of an exact solution.
typedef void exact_function(double x, double y, double value[3]);

static void waves_at(double x, double y, double value[3])
{
  const double w = 2.0 * acos(-1.0);
  value[0] = sin(w * x) * sin(w * y);
  value[1] = w * cos(w * x) * sin(w * y);
  value[2] = w * sin(w * x) * cos(w * y);
}

static void peak_at(double x, double y, double value[3])
{
  value[0] = exp(-200.0 * (pow(x - 0.4, 2) + pow(y - 0.55, 2)));
  value[1] = -400.0 * (x - 0.4) * value[0];
  value[2] = -400.0 * (y - 0.55) * value[0];
}

/// Squared errors of one element, and its largest of u.
static void add_errors(const kedge_solution *solution, const kg_cell_points *fine,
                       exact_function *at, int32_t e, kedge_report *sum)
{
  const int n = fine->n;
  double xy[2 * FINE_POINTS], value[KEDGE_FIELD_COUNT_PLANE][FINE_POINTS];
  kg_place_points(solution, fine, e, 2, xy);
  const int32_t *const v = kg_element_vertices(solution->mesh, e);
  const double *const a = solution->mesh->vertices + 2 * (size_t)v[0];
  const double *const b = solution->mesh->vertices + 2 * (size_t)v[1];
  const double *const c = solution->mesh->vertices + 2 * (size_t)v[2];
  const double jacobian = 0.25 * ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
  for (int field = 0; field < KEDGE_FIELD_COUNT_PLANE; ++field)
    kg_field_at(solution, fine, (kedge_field)field, e, value[field]);
  for (int q = 0; q < n; ++q) {
    double exact[3];
    at(xy[2 * q], xy[2 * q + 1], exact);
    const double weight = jacobian * fine->weight[q], u = value[KEDGE_FIELD_U][q] - exact[0];
    const double q_x = value[KEDGE_FIELD_QX][q] - exact[1];
    const double q_y = value[KEDGE_FIELD_QY][q] - exact[2];
    sum->u_l2 += weight * u * u;
    sum->q_l2 += weight * (q_x * q_x + q_y * q_y);
    sum->u_star_l2 += weight * pow(value[KEDGE_FIELD_U_STAR][q] - exact[0], 2);
    sum->u_linf = fmax(sum->u_linf, fabs(u));
  }
}

/// @param[in] most  relative distance of the errors of u, q and u*
static void check_errors(const kedge_solution *solution, const kg_cell_points *fine,
                         exact_function *at, const double most[3])
{
  kedge_report report = KEDGE_REPORT_INIT, expected = {0};
  kedge_solution_report(solution, &report);
  for (int32_t e = 0; e < solution->mesh->n_elements; ++e)
    add_errors(solution, fine, at, e, &expected);
  assert_at_most(fabs(report.u_l2 / sqrt(expected.u_l2) - 1.0), most[0]);
  assert_at_most(fabs(report.q_l2 / sqrt(expected.q_l2) - 1.0), most[1]);
  assert_at_most(fabs(report.u_star_l2 / sqrt(expected.u_star_l2) - 1.0), most[2]);
  assert_at_most(expected.u_linf, report.u_linf);  // which looks at the corners too
}

static void check_orders(const char *text, exact_function *at, const double most[3])
{
  kedge_mesh *mesh = square_mesh(ctx, 12);
  for (int order = 1; order <= 6; ++order) {
    double *values;
    must(ctx,
         kg_cell_points_create(ctx, &kg_triangle, order, 1, FINE_ROWS, KG_BEHIND_NOTHING, &values));
    const kg_cell_points fine =
        kg_cell_points_at(&kg_triangle, order, 1, FINE_ROWS, KG_BEHIND_NOTHING, values);
    for (const method *m = methods + order % 3; m < methods + METHODS; m += 3) {
      kedge_solution *solution = solved(mesh, m, order, text, "1", "1e-12");
      check_errors(solution, &fine, at, most);
      kedge_solution_destroy(solution);
    }
    free(values);
  }
  kedge_mesh_destroy(mesh);
}

static void errors_are_those_of_a_much_finer_rule(void **state)
{
  (void)state;
  check_orders(WAVES, waves_at, (const double[]){1e-6, 1e-5, 1e-3});
}

/// Triangles as large as the peak is wide.
static void errors_of_what_the_mesh_does_not_resolve_are_right_to_two_percent(void **state)
{
  (void)state;
  check_orders(PEAK, peak_at, (const double[]){1e-4, 5e-3, 2e-2});
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_those_of_an_independent_implementation_to_five_digits),
      cmocka_unit_test(orders_are_optimal_on_structured_meshes),
      cmocka_unit_test(orders_are_optimal_on_a_mesh_of_gmsh),
      cmocka_unit_test(the_error_at_order_9_falls_below_1e_11),
      cmocka_unit_test(errors_are_those_of_a_much_finer_rule),
      cmocka_unit_test(errors_of_what_the_mesh_does_not_resolve_are_right_to_two_percent),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
