// Norms of errors: their rule, and what is said where it has too few points.
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "support.h"

#define WAVES "sin(2*pi*x)*sin(2*pi*y)"
#define ANGLE "(atan2(y,x) < 0 ? atan2(y,x)+2*pi : atan2(y,x))"
/// Has an infinite gradient in the corner of the L.
#define SINGULAR "hypot(x,y)^(2/3)*sin(2/3*" ANGLE ")"

/// Narrow: the usual points do not see the gradient well, in some elements less than in others.
#define PEAKS "exp(-2000*((x-0.43)^2+(y-0.61)^2))+exp(-3900*((x-0.1)^2+(y-0.2)^2))"

/// @param[in] rows  points a direction of norms; 0: as many as there are unless a problem says
static kedge_report with_points(const char *generate, int order, const char *u, int rows)
{
  char order_text[8], rows_text[8];
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, generate, &mesh));
  snprintf(order_text, sizeof order_text, "%d", order);
  snprintf(rows_text, sizeof rows_text, "%d", rows);
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", order_text}, {"exact", "u", u}, {"equation", "reaction", "1"},
               {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-12"},
               {"exact", rows > 0 ? "quadrature" : "u", rows > 0 ? rows_text : u}));
  kedge_mesh_destroy(mesh);
  return r;
}

static void check_close(const kedge_report *a, const kedge_report *b, double tolerance)
{
  assert_at_most(fabs(a->u_l2 / b->u_l2 - 1.0), tolerance);
  assert_at_most(fabs(a->q_l2 / b->q_l2 - 1.0), tolerance);
  assert_at_most(fabs(a->sigma_l2 / b->sigma_l2 - 1.0), tolerance);
  assert_at_most(fabs(a->u_star_l2 / b->u_star_l2 - 1.0), tolerance);
}

static void norms_on_coarse_meshes_are_right_to_four_digits(void **state)
{
  (void)state;
  static const char *const meshes[] = {"square 4", "quads 4", "mixed 4", "disk 3"};
  for (size_t k = 0; k < sizeof meshes / sizeof *meshes; ++k)
    for (int order = 1; order <= 4; ++order) {
      const kedge_report usual = with_points(meshes[k], order, WAVES, 0);
      const kedge_report finest = with_points(meshes[k], order, WAVES, 24);
      check_close(&usual, &finest, 1e-4);
      assert_string_equal(usual.solver_note, "");
    }
}

static void any_number_of_points_gives_the_same_norms_where_all_are_enough(void **state)
{
  (void)state;
  static const char *const meshes[] = {"square 8", "quads 8", "mixed 8", "disk 6"};
  for (size_t k = 0; k < sizeof meshes / sizeof *meshes; ++k)
    for (int order = 1; order <= 5; order += 2) {
      const kedge_report all = with_points(meshes[k], order, WAVES, 24);
      for (int rows = order + 10; rows < 24; rows += 3) {
        const kedge_report some = with_points(meshes[k], order, WAVES, rows);
        check_close(&some, &all, 1e-7);
      }
    }
}

/// The percents that a note says norms move by; fails where it says nothing of it.
static double moves_of(const kedge_report *r, const char *norm)
{
  char before[80];
  snprintf(before, sizeof before, "more points move the norm of the error of %s by ", norm);
  const char *const found = strstr(r->solver_note, before);
  double percent;
  assert_non_null(found);
  assert_int_equal(sscanf(found + strlen(before), "%lf %%: raise [exact] quadrature", &percent), 1);
  return percent;
}

static void a_norm_that_more_points_move_is_noted_with_how_much(void **state)
{
  (void)state;
  static const char *const meshes[] = {"lshape 4", "lshape 12", "lshape 12 quads"};
  for (size_t k = 0; k < sizeof meshes / sizeof *meshes; ++k)
    for (int order = 1; order <= 5; order += 2) {
      const int rows = order + (k == 2 ? 6 : 5);
      const kedge_report usual = with_points(meshes[k], order, SINGULAR, 0);
      const kedge_report finer = with_points(meshes[k], order, SINGULAR, 2 * rows);
      const double percent = 100.0 * (finer.q_l2 / usual.q_l2 - 1.0);
      assert_at_most(1.5, percent);
      assert_at_most(fabs(moves_of(&usual, "q") - percent), 1.0);
    }
}

/// Peaks that the usual rule does not see well, in every element alike: a few speak for all.
static void narrow_peaks_everywhere_are_noted_too(void **state)
{
  (void)state;
  static const char peaks[] = "(sin(16*pi*x)*sin(16*pi*y))^60";
  const kedge_report usual = with_points("square 16", 1, peaks, 0);
  const kedge_report finer = with_points("square 16", 1, peaks, 12);
  const double moves[3] = {finer.u_l2 / usual.u_l2 - 1.0, finer.q_l2 / usual.q_l2 - 1.0,
                           finer.u_star_l2 / usual.u_star_l2 - 1.0};
  static const char *const names[] = {"u", "q", "u*"};
  int most = 0;
  for (int k = 1; k < 3; ++k)
    if (fabs(moves[k]) > fabs(moves[most])) most = k;
  assert_at_most(0.015, fabs(moves[most]));
  assert_at_most(fabs(moves_of(&usual, names[most]) / (100.0 * fabs(moves[most])) - 1.0), 0.5);
}

/// Diffusion is large in a narrow place alone, with little of q: q has points enough, the flux not.
static void the_flux_is_looked_at_too(void **state)
{
  (void)state;
  kedge_mesh *const mesh = square_mesh(ctx, 16);
  kedge_report r[2];
  for (int k = 0; k < 2; ++k) {
    const setting *const settings =
        SETTINGS({"space", "order", "1"}, {"exact", "u", "x+y"},
                 {"equation", "diffusion", "1+300*exp(-9000*((x-0.42)^2+(y-0.59)^2))"},
                 {"equation", "source", "1"}, {"boundary default", "type", "dirichlet"},
                 {"exact", "quadrature", k == 0 ? "6" : "12"});
    r[k] = report_of(ctx, mesh, settings);
    assert_noted_by_all(ctx, mesh, settings, r[k].solver_note);
  }
  kedge_mesh_destroy(mesh);
  const double percent = 100.0 * fabs(r[1].sigma_l2 / r[0].sigma_l2 - 1.0);
  assert_at_most(fabs(r[1].q_l2 / r[0].q_l2 - 1.0), 5e-3);
  assert_at_most(1.5, percent);
  assert_at_most(fabs(moves_of(&r[0], "the flux") / percent - 1.0), 0.5);
}

/// Nothing is left to be guessed from others.
static void few_groups_are_all_looked_at(void **state)
{
  (void)state;
  for (int n = 6; n <= 10; n += 4) {
    char mesh[24];
    snprintf(mesh, sizeof mesh, "square %d", n);  // 3 and 7 groups
    const kedge_report usual = with_points(mesh, 1, PEAKS, 6);
    const kedge_report finer = with_points(mesh, 1, PEAKS, 12);
    // On the coarse mesh the error of u* is so small beside that of q that its norm moves more.
    const double q = 100.0 * fabs(finer.q_l2 / usual.q_l2 - 1.0);
    const double star = 100.0 * fabs(finer.u_star_l2 / usual.u_star_l2 - 1.0);
    assert_at_most(1.5, q);
    assert_int_equal(star > q, n == 6);
    assert_at_most(n == 6 ? fabs(moves_of(&usual, "u*") - star) : fabs(moves_of(&usual, "q") - q),
                   0.51);
  }
}

static void errors_of_rounding_have_no_note(void **state)
{
  (void)state;
  static const char *const meshes[] = {"square 5", "quads 5", "disk 3"};
  for (size_t k = 0; k < sizeof meshes / sizeof *meshes; ++k) {
    const kedge_report r = with_points(meshes[k], 2, "1+x-3*y", 0);
    assert_null(strstr(r.solver_note, "more points"));
  }
}

static void too_few_points_are_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  kedge_solution *solution = NULL;
  must(ctx, kedge_mesh_generate(ctx, "square 3", &mesh));
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", "4"}, {"exact", "u", "x*y"}, {"exact", "quadrature", "5"},
                    {"boundary default", "type", "dirichlet"}));
  assert_int_equal(kedge_solve(ctx, mesh, problem, &solution), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(ctx),
                      "[exact] quadrature = 5 is too little for order 4: take 6 "
                      "points a direction or more");
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(norms_on_coarse_meshes_are_right_to_four_digits),
      cmocka_unit_test(any_number_of_points_gives_the_same_norms_where_all_are_enough),
      cmocka_unit_test(a_norm_that_more_points_move_is_noted_with_how_much),
      cmocka_unit_test(narrow_peaks_everywhere_are_noted_too),
      cmocka_unit_test(the_flux_is_looked_at_too),
      cmocka_unit_test(few_groups_are_all_looked_at),
      cmocka_unit_test(errors_of_rounding_have_no_note),
      cmocka_unit_test(too_few_points_are_refused),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
