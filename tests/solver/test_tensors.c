// Strong diffusion tensors on elements by quadrature, which inverse = auto treats so that all
// fields keep their orders.
#include <math.h>
#include <stdio.h>

#include "compare.h"
#include "context.h"
#include "mesh/mesh.h"
#include "moved.h"
#include "support.h"

/// diag(1, 1e-4) by 50 degrees.
#define FOUR "0.4132345936, 0.4923546361, 0.5868654064"
/// diag(1, 1e-5), by an angle of x + y / 2: no tensor is constant in an element.
#define C       "cos(x + y/2)"
#define S       "sin(x + y/2)"
#define VARYING C "^2 + 1e-5*" S "^2, 0.99999*" C "*" S ", " S "^2 + 1e-5*" C "^2"
#define SMOOTH  "sin(2*x + y) + x*y"

/// Trapezoids and others, which become parallelograms when they are refined.
static void leaning(int n, const double from[2], double to[2])
{
  (void)n;
  to[0] = from[0] + 0.3 * from[1] * (from[0] - 0.5);
  to[1] = from[1] + 0.2 * from[0] * from[0] * from[1];
}

static void sheared(int n, const double from[2], double to[2])
{
  (void)n;
  to[0] = from[0] + 0.6 * from[1];
  to[1] = 0.8 * from[1];
}

static int32_t halves(int n, int i, int j)
{
  (void)j;
  return 2 * i < n ? 1 : 2;
}

/// A strong tensor and elements that it is turned against.
typedef struct strong {
  const char *name;
  enum cut cut;
  int geometry;
  moving *to;
  regions *region;
  const char *diffusion;
  bool is_along;  ///< in some elements an axis of the tensor is almost one of theirs
} strong;

static const strong cases[] = {
    {"leaning, 1e4", WHOLE, 1, leaning, NULL, FOUR, false},
    // The flux across the line between the regions is that of both.
    {"4e3 by region", WHOLE, 1, stay, halves, "1, 1, region == 1 ? 5 : 1.001", false},
    {"ring of quadrilaterals, 1e4", WHOLE, 2, ring, NULL, FOUR, true},
    {"leaning, 1e5, varying", WHOLE, 1, leaning, NULL, VARYING, true},
    {"wave of triangles, 1e4", ALL, 2, wave, NULL, FOUR, true},
};

static kedge_mesh *mesh_of(const strong *c, int n)
{
  return c->region ? grid_of(ctx, n, c->cut, c->geometry, c->to, c->region)
                   : moved(ctx, n, c->cut, c->geometry, c->to);
}

static kedge_report report(const strong *c, int n, const char *order, const char *inverse)
{
  kedge_mesh *mesh = mesh_of(c, n);
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", order}, {"space", "inverse", inverse},
               {"equation", "diffusion", c->diffusion}, {"exact", "u", SMOOTH},
               {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-12"}));
  assert_true(r.converged);
  kedge_mesh_destroy(mesh);
  return r;
}

static const char *inverse_of(const kedge_report *r)
{
  return r->quadrilateral_inverse[0] ? r->quadrilateral_inverse : r->triangle_inverse;
}

/// Where an axis of the tensor is almost one of an element, and on triangles, q has the order P as
/// long as h is not below the root of the ratio, and u* one more.
static void strong_tensors_keep_the_orders_of_all_fields(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
    for (int order = 1; order <= 3; ++order) {
      const char text[2] = {(char)('0' + order), '\0'};
      const kedge_report coarse = report(&cases[k], 6, text, "auto");
      const kedge_report fine = report(&cases[k], 12, text, "auto");
      const int less = cases[k].is_along;
      assert_string_equal(inverse_of(&fine), "gradient");
      const double rate[] = {log2(coarse.u_l2 / fine.u_l2), log2(coarse.sigma_l2 / fine.sigma_l2),
                             log2(coarse.q_l2 / fine.q_l2),
                             log2(coarse.u_star_l2 / fine.u_star_l2)};
      const int expected[] = {order + 1, order + 1, order + 1 - less, order + 2 - less};
      for (int i = 0; i < 4; ++i)
        if (rate[i] < expected[i] - 0.4)
          fail_msg("%s, order %d: the rates of u, sigma, q, u* are %.2f, %.2f, %.2f, %.2f",
                   cases[k].name, order, rate[0], rate[1], rate[2], rate[3]);
    }
}

static void no_inverse_has_half_the_errors_of_auto(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
    for (int order = 1; order <= 3; ++order) {
      const char text[2] = {(char)('0' + order), '\0'};
      const kedge_report a = report(&cases[k], 8, text, "auto");
      assert_string_equal(inverse_of(&a), "gradient");
      assert_at_most(a.u_star_l2, 2.0 * a.u_l2);
      for (int i = 0; i < 2; ++i) {
        const char *const other = i == 0 ? "adjusted" : "exact";
        const kedge_report o = report(&cases[k], 8, text, other);
        assert_non_null(strstr(o.solver_note, "the diffusion is a strong tensor"));
        if (a.u_l2 > 2.0 * o.u_l2 || a.sigma_l2 > 2.0 * o.sigma_l2 || a.q_l2 > 0.5 * o.q_l2 ||
            a.u_star_l2 > 2.0 * o.u_star_l2)
          fail_msg(
              "%s, order %d: u, sigma, q, u* are %.1e, %.1e, %.1e, %.1e, with %s %.1e, %.1e, "
              "%.1e, %.1e",
              cases[k].name, order, a.u_l2, a.sigma_l2, a.q_l2, a.u_star_l2, other, o.u_l2,
              o.sigma_l2, o.q_l2, o.u_star_l2);
      }
    }
}

static void what_is_no_strong_tensor_against_the_elements_is_as_it_was(void **state)
{
  (void)state;
  static const struct {
    strong of;
    const char *inverse;
  } kept[] = {{{"", WHOLE, 1, stay, NULL, "7", false}, "adjusted"},
              {{"", WHOLE, 1, sheared, NULL, "1 + 1e4*x^2"}, "adjusted"},
              {{"", WHOLE, 3, ring, NULL, "7"}, "exact"},
              {{"", ALL, 3, ring, NULL, "1 + x"}, "adjusted"},
              {{"", WHOLE, 1, stay, NULL, "1, 0, 1e-8"}, "adjusted"},
              {{"", WHOLE, 1, sheared, NULL, "2, 0.5, 1"}, "adjusted"},
              {{"", WHOLE, 1, leaning, NULL, "2, 0.5, 1"}, "exact"},
              {{"", ALL, 3, wave, NULL, "2 + x, 0.5, 1"}, "adjusted"},
              {{"", ALL, 1, sheared, NULL, FOUR}, ""}};
  for (size_t k = 0; k < sizeof kept / sizeof *kept; ++k) {
    const kedge_report r = report(&kept[k].of, 4, "3", "auto");
    assert_string_equal(inverse_of(&r), kept[k].inverse);
    assert_null(strstr(r.solver_note, "strong tensor"));
  }
}

/// Errors of a solution that is asked afterwards are those of the solve.
static void fields_of_a_solution_are_those_of_its_report(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    const strong *c = &cases[k];
    kedge_mesh *mesh = mesh_of(c, 3);
    const setting settings[] = {
        {"space", "order", "2"},      {"equation", "diffusion", c->diffusion},
        {"exact", "u", SMOOTH},       {"boundary default", "type", "dirichlet"},
        {"output", "fields", "full"}, {0}};
    setting of_means[sizeof settings / sizeof *settings];
    memcpy(of_means, settings, sizeof settings);
    of_means[4].value = "cells";
    kedge_problem *problem = problem_of(ctx, settings);
    kedge_solution *solution = solve(ctx, mesh, settings), *means = solve(ctx, mesh, of_means);
    kedge_report r = KEDGE_REPORT_INIT;
    kedge_errors e = KEDGE_ERRORS_INIT;
    must(ctx, kedge_solution_report(solution, &r));
    must(ctx, kedge_solution_errors(solution, problem, 0, &e));
    assert_at_most(fabs(e.q / r.q_l2 - 1.0), 1e-6);
    assert_at_most(fabs(e.sigma / r.sigma_l2 - 1.0), 1e-6);
    assert_at_most(fabs(e.u_star / r.u_star_l2 - 1.0), 1e-6);
    assert_at_most(e.q, 1.0);
    for (kedge_field f = 0; f < KEDGE_FIELD_COUNT_PLANE; ++f) {
      double of_all[64], of_cells[64];
      must(ctx, kedge_solution_means(solution, f, of_all));
      must(ctx, kedge_solution_means(means, f, of_cells));
      assert_close((size_t)r.elements, of_cells, of_all, 1e-8);
    }
    kedge_solution_destroy(solution);
    kedge_solution_destroy(means);
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
  }
}

static void entry(void *user, const kedge_points *points, double *value)
{
  for (size_t i = 0; i < points->n; ++i) value[i] = *(const double *)user;
}

/// The tensor of functions and of arrays, which a solver that stands exchanges.
static void an_update_with_another_tensor_chooses_again(void **state)
{
  (void)state;
  kedge_mesh *mesh = moved(ctx, 6, WHOLE, 1, sheared);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", "2"}, {"exact", "u", SMOOTH}, {"equation", "source", "x"},
                    {"boundary default", "type", "dirichlet"}));
  double k[3] = {1.0, 0.0, 1.0}, array[3][36];
  void *const users[3] = {&k[0], &k[1], &k[2]};
  void *const arrays[3] = {array[0], array[1], array[2]};
  kedge_function *const entries[3] = {entry, entry, entry};
  kedge_function *const by_element[3] = {kedge_by_element, kedge_by_element, kedge_by_element};
  kedge_solver *solver = NULL;
  kedge_solution *solution = NULL;
  for (int round = 0; round < 5; ++round) {
    const bool is_strong = round % 2 == 1, is_array = round >= 2;
    k[0] = is_strong ? 0.5868655 : 1.0;
    k[1] = is_strong ? 0.4923546 : 0.0;
    k[2] = is_strong ? 0.4132345 : 1.0;
    for (int e = 0; e < 36; ++e)
      for (int i = 0; i < 3; ++i) array[i][e] = e == 20 ? k[i] : i == 1 ? 0.0 : 1.0;
    must(ctx, is_array ? kedge_problem_set_tensor(problem, "equation", by_element, arrays)
                       : kedge_problem_set_tensor(problem, "equation", entries, users));
    if (solver)
      must(ctx, kedge_solver_update(solver));
    else
      must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
    must(ctx, kedge_solver_solve(solver, NULL, &solution));
    kedge_report r = KEDGE_REPORT_INIT;
    must(ctx, kedge_solution_report(solution, &r));
    assert_true(r.converged);
    assert_string_equal(r.quadrilateral_inverse, is_strong ? "gradient" : "adjusted");
    kedge_solution *once;
    must(ctx, kedge_solve(ctx, mesh, problem, &once));
    fields a = fields_of(ctx, solution), b = fields_of(ctx, once);
    assert_at_most(fields_distance(&a, &b), 1e-8);
    fields_free(&a);
    fields_free(&b);
    kedge_solution_destroy(once);
  }
  kedge_solution_destroy(solution);
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strong_tensors_keep_the_orders_of_all_fields),
      cmocka_unit_test(no_inverse_has_half_the_errors_of_auto),
      cmocka_unit_test(what_is_no_strong_tensor_against_the_elements_is_as_it_was),
      cmocka_unit_test(fields_of_a_solution_are_those_of_its_report),
      cmocka_unit_test(an_update_with_another_tensor_chooses_again),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
