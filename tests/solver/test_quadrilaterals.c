// Solves on quadrilaterals, alone and among triangles, through the public API.
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "mesh/mesh.h"
#include "moved.h"
#include "support.h"

enum { ORDERS = 8 };

#define WAVES "sin(2*pi*x)*sin(2*pi*y)"

static const char *const order_text[ORDERS + 1] = {"", "1", "2", "3", "4", "5", "6", "7", "8"};

static kedge_mesh *squares(int n, bool is_mixed, moving *to)
{
  return moved(ctx, n, is_mixed ? CHECKERED : WHOLE, 1, to);
}

static void check_polynomial(kedge_mesh *mesh, const char *u, int order, const char *reaction)
{
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", order_text[order]}, {"equation", "diffusion", "0.8"},
               {"equation", "reaction", reaction}, {"exact", "u", u},
               {"boundary default", "type", "dirichlet"}, {"solver", "preconditioner", "multigrid"},
               {"solver", "tolerance", "1e-13"}));
  assert_true(r.converged);
  assert_at_most(r.u_l2, 1e-11);
  assert_at_most(r.q_l2, 1e-11);
  assert_at_most(r.u_star_l2, 1e-11);
}

static void linear_functions_are_exact_on_any_quadrilaterals(void **state)
{
  (void)state;
  for (int order = 1; order <= ORDERS; ++order)
    for (int is_mixed = 0; is_mixed < 2; ++is_mixed) {
      kedge_mesh *mesh = squares(7, is_mixed, shaken);
      check_polynomial(mesh, "0.3+x-0.5*y", order, "0");
      check_polynomial(mesh, "0.3+x-0.5*y", order, "1.5");
      kedge_mesh_destroy(mesh);
    }
}

/// The waves of high orders are short, so that errors on fine meshes are still above rounding.
static kedge_report waves_on(int n, bool is_mixed, int order)
{
  kedge_mesh *mesh = squares(n, is_mixed, stay);
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", order_text[order]}, {"equation", "reaction", "1"},
               {"exact", "u", order > 4 ? "sin(8*x+1)*cos(9*y)" : WAVES "+x*y"},
               {"boundary default", "type", "dirichlet"}, {"solver", "preconditioner", "multigrid"},
               {"solver", "tolerance", order > 4 ? "1e-13" : "1e-10"}));
  kedge_mesh_destroy(mesh);
  assert_true(r.converged);
  assert_in_range(r.iterations, 1, order > 4 ? 25 : 20);
  return r;
}

static void assert_order(double coarse, double fine, double expected)
{
  assert_at_most(expected - 0.25, log2(coarse / fine));
}

static void u_and_q_converge_with_order_p_plus_1_and_u_star_with_p_plus_2(void **state)
{
  (void)state;
  for (int order = 1; order <= ORDERS; ++order)
    for (int is_mixed = 0; is_mixed < 2; ++is_mixed) {
      const int n = order > 4 ? 4 : 12;
      const kedge_report coarse = waves_on(n, is_mixed, order);
      const kedge_report fine = waves_on(2 * n, is_mixed, order);
      assert_order(coarse.u_l2, fine.u_l2, order + 1);
      assert_order(coarse.q_l2, fine.q_l2, order + 1);
      assert_order(coarse.u_star_l2, fine.u_star_l2, order + 2);
    }
}

static void operators_and_preconditioners_give_one_solution(void **state)
{
  (void)state;
  static const setting methods[] = {{"solver", "preconditioner", "multigrid"},
                                    {"solver", "preconditioner", "block-jacobi"},
                                    {"solver", "operator", "ell"}};
  for (int order = 1; order <= ORDERS; ++order) {
    kedge_mesh *mesh = squares(4, true, shaken);
    double u_star[3];
    for (int k = 0; k < 3; ++k) {
      const kedge_report r = report_of(
          ctx, mesh,
          SETTINGS({"space", "order", order_text[order]}, {"equation", "reaction", "1"},
                   {"exact", "u", "sin(12*x)*cos(9*y)"}, {"boundary default", "type", "dirichlet"},
                   {"solver", "tolerance", "1e-11"}, methods[k]));
      assert_true(r.converged);
      u_star[k] = r.u_star_l2;
    }
    for (int k = 1; k < 3; ++k) assert_at_most(fabs(u_star[k] / u_star[0] - 1.0), 1e-4);
    kedge_mesh_destroy(mesh);
  }
}

/// Vertex modes are what keeps counts so low from order 5 on.
static void multigrid_is_flat_on_any_quadrilaterals(void **state)
{
  (void)state;
  static moving *const ways[] = {stay, shaken};
  for (int order = 1; order <= ORDERS; ++order)
    for (int k = 0; k < 4; ++k) {
      int iterations[2];
      for (int fine = 0; fine < 2; ++fine) {
        kedge_mesh *mesh = squares(fine ? 24 : 12, k % 2 == 1, ways[k / 2]);
        const kedge_report r = report_of(
            ctx, mesh,
            SETTINGS({"space", "order", order_text[order]},
                     {"equation", "source", "sin(3*x)*exp(y)"},
                     {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
                     {"solver", "tolerance", "1e-10"}, {"solver", "preconditioner", "multigrid"}));
        kedge_mesh_destroy(mesh);
        assert_true(r.converged);
        assert_in_range(r.iterations, 1, 20);
        iterations[fine] = r.iterations;
      }
      assert_at_most(iterations[1] - iterations[0], 2);
    }
}

static void multigrid_takes_any_stabilization(void **state)
{
  (void)state;
  static const char *const stabilizations[] = {"1", "1e3", "1e6"};
  for (int order = 1; order <= ORDERS; ++order)
    for (int k = 0; k < 3; ++k) {
      const kedge_report r = converged_on(
          ctx, order > 4 ? "quads 16" : "quads 32",
          SETTINGS({"space", "order", order_text[order]},
                   {"space", "stabilization", stabilizations[k]}, {"equation", "source", "1"},
                   {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
                   {"solver", "preconditioner", "multigrid"}));
      assert_in_range(r.iterations, 1, k == 2 ? 30 : 20);
    }
}

/// Residuals of 1e-12 leave errors of that, in q times what a derivative multiplies by.
static void all_precisions_have_one_solution(void **state)
{
  (void)state;
  static const char *const precisions[] = {"double", "mixed", "compact"};
  for (int order = 1; order <= ORDERS; ++order)
    for (int is_mixed = 0; is_mixed < 2; ++is_mixed) {
      kedge_mesh *mesh = squares(10, is_mixed, shaken);
      fields found[3];
      kedge_report report[3] = {KEDGE_REPORT_INIT, KEDGE_REPORT_INIT, KEDGE_REPORT_INIT};
      for (int k = 0; k < 3; ++k) {
        kedge_solution *s = solve(
            ctx, mesh,
            SETTINGS({"space", "order", order_text[order]}, {"equation", "source", WAVES},
                     {"equation", "reaction", is_mixed ? "1" : "0"},
                     {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x"},
                     {"solver", "tolerance", "1e-12"}, {"solver", "preconditioner", "multigrid"},
                     {"solver", "precision", precisions[k]}));
        must(ctx, kedge_solution_report(s, &report[k]));
        found[k] = fields_of(ctx, s);
        kedge_solution_destroy(s);
        assert_true(report[k].converged);
      }
      assert_in_range(report[1].iterations, report[0].iterations - 1, report[0].iterations + 1);
      assert_true(report[2].refinements > 0);
      for (int k = 1; k < 3; ++k)
        for (int i = 0; i < FIELDS; ++i)
          assert_close(found[0].n[i], found[k].values[i], found[0].values[i],
                       1e-12 * 1e3 * order * order);
      for (int k = 0; k < 3; ++k) fields_free(&found[k]);
      kedge_mesh_destroy(mesh);
    }
}

/// Sides of the square are boundaries of their own there.
static void neumann_conditions_are_met_on_quadrilaterals(void **state)
{
  (void)state;
  const kedge_report r = converged_on(
      ctx, "quads 12",
      SETTINGS({"space", "order", "3"}, {"equation", "diffusion", "0.8"},
               {"exact", "u", "sin(x)*cos(0.7*y)+0.1*x*y"}, {"boundary left", "type", "dirichlet"},
               {"boundary right", "type", "neumann"}, {"boundary bottom", "type", "neumann"},
               {"boundary top", "type", "neumann"}, {"solver", "preconditioner", "multigrid"}));
  assert_at_most(r.u_l2, 1e-7);
  assert_at_most(r.q_l2, 1e-6);
  assert_at_most(r.u_star_l2, 1e-8);
}

static void means_that_are_kept_are_those_of_the_full_solution(void **state)
{
  (void)state;
  kedge_mesh *mesh = squares(9, true, shaken);
  static const char *const kept[] = {"full", "cells"};
  double *means[2];
  for (int k = 0; k < 2; ++k) {
    kedge_solution *s =
        solve(ctx, mesh,
              SETTINGS({"space", "order", "2"}, {"exact", "u", WAVES "+x"},
                       {"boundary default", "type", "dirichlet"}, {"output", "fields", kept[k]}));
    means[k] = calloc((size_t)mesh->n_elements, sizeof **means);
    assert_non_null(means[k]);
    must(ctx, kedge_solution_means(s, KEDGE_FIELD_QX, means[k]));
    kedge_solution_destroy(s);
  }
  assert_close((size_t)mesh->n_elements, means[1], means[0], 1e-13);
  free(means[0]);
  free(means[1]);
  kedge_mesh_destroy(mesh);
}

static void batches_of_both_shapes_give_what_one_of_each_gives(void **state)
{
  (void)state;
  static const int32_t cuts[] = {100, 700};  // triangles, quadrilaterals
  kedge_mesh *mesh = squares(30, true, shaken);
  assert_int_equal(mesh->block[1].first, 900);
  const setting *const settings =
      SETTINGS({"space", "order", "2"}, {"equation", "reaction", "1"}, {"exact", "u", WAVES},
               {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-13"},
               {"solver", "preconditioner", "multigrid"});
  kedge_solution *two = solve(ctx, mesh, settings);
  ctx->n_cuts = 2;
  ctx->cuts = cuts;
  kedge_solution *four = solve(ctx, mesh, settings);
  ctx->n_cuts = 0;
  fields of_two = fields_of(ctx, two), of_four = fields_of(ctx, four);
  for (int k = 0; k < FIELDS; ++k)
    assert_close(of_two.n[k], of_four.values[k], of_two.values[k], 1e-11);
  fields_free(&of_two);
  fields_free(&of_four);
  kedge_solution_destroy(two);
  kedge_solution_destroy(four);
  kedge_mesh_destroy(mesh);
}

static void flat(int n, const double from[2], double to[2])
{
  (void)n;
  to[0] = from[0];
  to[1] = 1e-5 * from[1];
}

static void flat_and_oblique(int n, const double from[2], double to[2])
{
  (void)n;
  to[0] = from[0];
  to[1] = 1e-5 * from[1] * (1.0 + 1e-6 * from[0]);
}

/// What makes little of the length of an element may be much of its height.
static void flat_elements_are_parallelograms_by_their_height(void **state)
{
  (void)state;
  static const struct {
    moving *to;
    const char *inverse;
  } cases[] = {{flat, "adjusted"}, {flat_and_oblique, "exact"}};
  for (int k = 0; k < 2; ++k) {
    kedge_mesh *mesh = squares(4, false, cases[k].to);
    const kedge_report r = report_of(
        ctx, mesh, SETTINGS({"exact", "u", "x"}, {"boundary default", "type", "dirichlet"}));
    assert_string_equal(r.quadrilateral_inverse, cases[k].inverse);
    kedge_mesh_destroy(mesh);
  }
}

/// n squares in a row.
static kedge_mesh *row_of_squares(int n)
{
  kg_raw_mesh raw = {.dimension = 2, .n_vertices = 2 * (int64_t)n + 2, .n_elements = n, .width = 4};
  raw.vertices = calloc(2 * (size_t)raw.n_vertices, sizeof *raw.vertices);
  raw.corners = calloc(4 * (size_t)n, sizeof *raw.corners);
  raw.regions = calloc((size_t)n, sizeof *raw.regions);
  assert_true(raw.vertices && raw.corners && raw.regions);
  for (int v = 0; v < raw.n_vertices; ++v) {
    raw.vertices[2 * v] = v / 2;
    raw.vertices[2 * v + 1] = v % 2;
  }
  for (int k = 0; k < 4 * n; ++k) raw.corners[k] = k / 4 * 2 + (const int[]){0, 2, 3, 1}[k % 4];
  kedge_mesh *mesh;
  must(ctx, kg_mesh_build(ctx, &raw, "row", &mesh));
  kg_raw_mesh_free(&raw);
  return mesh;
}

/// A row has 3 edges for 2 vertices: at order 1 in single precision p is smaller than what the
/// first iteration lends to the coarse solver.
static void rows_of_squares_have_room_for_the_coarse_solver(void **state)
{
  (void)state;
  kedge_mesh *mesh = row_of_squares(5000);
  int64_t iterations[2];
  for (int compact = 0; compact < 2; ++compact) {
    const kedge_report r = report_of(
        ctx, mesh,
        SETTINGS({"space", "order", "1"}, {"equation", "reaction", "1"},
                 {"equation", "source", "1+x*y"}, {"boundary default", "type", "neumann"},
                 {"boundary default", "value", "0"}, {"solver", "preconditioner", "multigrid"},
                 {"solver", "precision", compact ? "compact" : "double"}));
    assert_true(r.converged);
    iterations[compact] = r.iterations;
  }
  assert_in_range(iterations[1], 1, iterations[0] + 2);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_functions_are_exact_on_any_quadrilaterals),
      cmocka_unit_test(u_and_q_converge_with_order_p_plus_1_and_u_star_with_p_plus_2),
      cmocka_unit_test(operators_and_preconditioners_give_one_solution),
      cmocka_unit_test(multigrid_is_flat_on_any_quadrilaterals),
      cmocka_unit_test(multigrid_takes_any_stabilization),
      cmocka_unit_test(all_precisions_have_one_solution),
      cmocka_unit_test(rows_of_squares_have_room_for_the_coarse_solver),
      cmocka_unit_test(neumann_conditions_are_met_on_quadrilaterals),
      cmocka_unit_test(means_that_are_kept_are_those_of_the_full_solution),
      cmocka_unit_test(batches_of_both_shapes_give_what_one_of_each_gives),
      cmocka_unit_test(flat_elements_are_parallelograms_by_their_height),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
