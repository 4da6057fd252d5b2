// The error that the iteration leaves: estimated and said where it is there, and nowhere else.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "device/context.h"
#include "support.h"

enum { ERRORS = 4 };  ///< of sigma, q, u, u*
static const char *const names[ERRORS] = {"sigma", "q", "u", "u*"};
static const kedge_field components[ERRORS][2] = {{KEDGE_FIELD_SIGMA_X, KEDGE_FIELD_SIGMA_Y},
                                                  {KEDGE_FIELD_QX, KEDGE_FIELD_QY},
                                                  {KEDGE_FIELD_U, KEDGE_FIELD_U},
                                                  {KEDGE_FIELD_U_STAR, KEDGE_FIELD_U_STAR}};

/// A problem for which a residual says little.
typedef struct hard {
  const char *name, *generate;
  const setting *settings;
} hard;

static const setting contrast[] = {{"space", "order", "3"},
                                   {"equation", "diffusion", "x<0.5 ? 1 : 1e9"},
                                   {"boundary default", "type", "neumann"},
                                   {"boundary default", "value", "0"},
                                   {"boundary left", "type", "dirichlet"},
                                   {"boundary left", "value", "0"},
                                   {"boundary right", "type", "dirichlet"},
                                   {"boundary right", "value", "0.5+0.5e-9"},
                                   {0}};
static const setting pointwise[] = {{"space", "order", "2"},
                                    {"equation", "diffusion", "y<0.500001 ? 1e7 : 1"},
                                    {"equation", "source", "1+x"},
                                    {"solver", "preconditioner", "jacobi"},
                                    {"boundary default", "type", "neumann"},
                                    {"boundary default", "value", "0"},
                                    {"boundary bottom", "type", "dirichlet"},
                                    {"boundary bottom", "value", "x"},
                                    {0}};
static const setting turned[] = {{"space", "order", "2"},
                                 {"equation", "diffusion", "883022, 321394, 116978.6"},
                                 {"equation", "source", "1"},
                                 {"boundary default", "type", "dirichlet"},
                                 {"boundary default", "value", "x*y"},
                                 {0}};
static const setting turned_more[] = {
    {"space", "order", "2"},
    {"equation", "diffusion", "75000000.25, 43301269.8, 25000000.75"},
    {"boundary default", "type", "dirichlet"},
    {"boundary default", "value", "sin(3*(0.866*y-0.5*x))"},
    {0}};
static const setting robin[] = {{"space", "order", "3"},
                                {"equation", "diffusion", "1, 0.9999999, 1"},
                                {"equation", "source", "sin(3*x)"},
                                {"boundary default", "type", "robin"},
                                {"boundary default", "coefficient", "1"},
                                {"boundary default", "value", "x"},
                                {0}};
static const setting near_singular[] = {{"space", "order", "2"},
                                        {"equation", "diffusion", "1, -0.99999, 1"},
                                        {"equation", "source", "x"},
                                        {"boundary default", "type", "robin"},
                                        {"boundary default", "coefficient", "0.5"},
                                        {"boundary default", "value", "y"},
                                        {0}};
static const setting offset[] = {{"space", "order", "2"},
                                 {"equation", "source", "1"},
                                 {"boundary default", "type", "dirichlet"},
                                 {"boundary default", "value", "1e7"},
                                 {0}};
static const hard problems[] = {{"contrast of regions", "square 6", contrast},
                                {"contrast, pointwise", "quads 8", pointwise},
                                {"turned tensor on a ring", "ring 20 4", turned},
                                {"turned tensor", "square 10", turned_more},
                                {"near-singular tensor, Robin", "square 8", robin},
                                {"near-singular tensor, Robin, turned", "quads 8", near_singular},
                                {"large constant", "square 8", offset}};

/// The fields of a solution at nodes, and its report.
typedef struct solved {
  kedge_report report;
  char note[640];
  fields f;
} solved;

static void forget(solved *s)
{
  fields_free(&s->f);
}

static solved solve_to(const hard *problem, const char *tolerance)
{
  solved s = {.report = KEDGE_REPORT_INIT};
  kedge_problem *p = problem_of(ctx, problem->settings);
  kedge_mesh *mesh;
  kedge_solution *solution;
  must(ctx, kedge_problem_set(p, "mesh", "generate", problem->generate));
  must(ctx, kedge_problem_set(p, "solver", "tolerance", tolerance));
  must(ctx, kedge_problem_mesh(p, &mesh));
  must(ctx, kedge_solve(ctx, mesh, p, &solution));
  must(ctx, kedge_solution_report(solution, &s.report));
  strcpy(s.note, s.report.solver_note);
  s.f = fields_of(ctx, solution);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(p);
  return s;
}

/// The solution to the least tolerance that converges.
static solved truth_of(const hard *problem)
{
  static const char *const tolerances[] = {"1e-15", "3e-15", "1e-14", "1e-13", "1e-12", "1e-11"};
  for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; ++i) {
    solved s = solve_to(problem, tolerances[i]);
    if (s.report.converged) return s;
    forget(&s);
  }
  fail_msg("%s: no tolerance converges", problem->name);
  return (solved){0};
}

/// Errors at nodes, as parts of the fields. @return the largest
static double errors_of(const solved *s, const solved *truth, double error[ERRORS])
{
  double most = 0.0;
  for (int k = 0; k < ERRORS; ++k) {
    double square = 0.0, all = 0.0;
    for (int c = 0; c < 2; ++c) {
      const kedge_field field = components[k][c];
      for (size_t i = 0; i < truth->f.n[field]; ++i) {
        const double value = truth->f.values[field][i], gap = s->f.values[field][i] - value;
        square += gap * gap;
        all += value * value;
      }
    }
    error[k] = sqrt(square / all);
    most = fmax(most, error[k]);
  }
  return most;
}

static bool is_said(const solved *s)
{
  return strncmp(s->note, "the iteration leaves an error of ", 33) == 0;
}

/// The number of the field named first is right within ten.
static void check_first(const hard *problem, const solved *s, const double error[ERRORS])
{
  double number;
  char name[8] = "";
  const int n = sscanf(s->note, "the iteration leaves an error of %lf of the size of %7[a-z*]",
                       &number, name);
  assert_int_equal(n, 2);
  int k = 0;
  while (k < ERRORS && strcmp(name, names[k]) != 0) ++k;
  assert_true(k < ERRORS);
  if (!(number < 10 * error[k] && number > 0.1 * error[k]))
    fail_msg("%s: %g of %s is said, and it is %g", problem->name, number, name, error[k]);
}

static void an_error_that_is_left_is_said_and_no_other(void **state)
{
  (void)state;
  static const char *const tolerances[] = {"1e-4", "1e-7", "1e-10"};
  int said = 0, silent = 0;
  for (size_t i = 0; i < sizeof problems / sizeof *problems; ++i) {
    solved truth = truth_of(&problems[i]);
    for (int t = 0; t < 3; ++t) {
      double error[ERRORS];
      solved s = solve_to(&problems[i], tolerances[t]);
      const double most = errors_of(&s, &truth, error);
      if (is_said(&s)) check_first(&problems[i], &s, error);
      if (most > 2e-3 && !is_said(&s))
        fail_msg("%s at %s: %g is left, and not said", problems[i].name, tolerances[t], most);
      if (most < 5e-4 && is_said(&s))
        fail_msg("%s at %s: %g is left: %s", problems[i].name, tolerances[t], most, s.note);
      said += is_said(&s);
      silent += !is_said(&s);
      forget(&s);
    }
    forget(&truth);
  }
  assert_true(said >= 7 && silent >= 5);
}

/// The tolerance that is asked for leaves no more than a few parts in a thousand.
static void the_tolerance_that_is_asked_for_is_enough(void **state)
{
  (void)state;
  int asked = 0;
  for (size_t i = 0; i < sizeof problems / sizeof *problems; ++i) {
    solved s = solve_to(&problems[i], "1e-4");
    if (s.report.needed_tolerance > 0.0) {
      double error[ERRORS];
      char text[32];
      const char *const at = strstr(s.note, "ask for tolerance = ");
      assert_non_null(at);
      assert_int_equal(sscanf(at, "ask for tolerance = %31[0-9.e-]", text), 1);
      solved truth = truth_of(&problems[i]), better = solve_to(&problems[i], text);
      assert_true(better.report.converged);
      assert_at_most(errors_of(&better, &truth, error), 3e-3);
      forget(&truth);
      forget(&better);
      ++asked;
    }
    forget(&s);
  }
  assert_true(asked >= 5);
}

static void tolerance_auto_goes_on_or_says_that_rounding_is_left(void **state)
{
  (void)state;
  int went_on = 0;
  for (size_t i = 0; i < sizeof problems / sizeof *problems; ++i) {
    double error[ERRORS];
    solved truth = truth_of(&problems[i]), s = solve_to(&problems[i], "auto");
    solved exact = solve_to(&problems[i], "1e-10");
    const double most = errors_of(&s, &truth, error);
    if (most > 1e-3 && !strstr(s.note, "that is rounding"))
      fail_msg("%s: %g is left: %s", problems[i].name, most, s.note);
    went_on += is_said(&exact) && !is_said(&s);
    assert_true(s.report.converged);
    forget(&exact);
    forget(&truth);
    forget(&s);
  }
  assert_true(went_on >= 2);
}

static const setting strong[] = {
    {"space", "order", "2"},
    {"equation", "diffusion", "681179.1960594596, 466019.0769640702, 318821.80394054047"},
    {"boundary default", "type", "dirichlet"},
    {"boundary default", "value", "sin(3*(0.8253356149096783*y-0.5646424733950354*x))"},
    {0}};
static const setting stronger_in_part[] = {
    {"space", "order", "3"},
    {"equation", "diffusion", "20000.6*(1+x), 34640.4*(1+x), 60000.2*(1+x)"},
    {"boundary default", "type", "dirichlet"},
    {"boundary default", "value", "(0.8660254037844386*x-0.5*y)*exp(0.8660254037844386*x-0.5*y)"},
    {0}};

/// q is the weak gradient of strong tensors on quadrilaterals, and lies behind sigma.
static void errors_of_fluxes_that_keep_the_gradient_are_told(void **state)
{
  (void)state;
  static const hard kept[] = {{"strong tensor", "quads 24", strong},
                              {"strong tensor that varies", "quads 12", stronger_in_part}};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) {
    double error[ERRORS];
    solved truth = truth_of(&kept[i]), s = solve_to(&kept[i], "1e-6");
    assert_true(errors_of(&s, &truth, error) > 2e-3);
    if (!is_said(&s)) fail_msg("%s: sigma is off by %g", kept[i].name, error[0]);
    check_first(&kept[i], &s, error);
    forget(&truth);
    forget(&s);
  }
}

static void estimates_repeat_bit_for_bit(void **state)
{
  (void)state;
  solved a = solve_to(&problems[0], "1e-8"), b = solve_to(&problems[0], "1e-8");
  assert_true(a.report.iteration_sigma > 1e-3);
  assert_memory_equal(&a.report.iteration_sigma, &b.report.iteration_sigma, sizeof(double));
  assert_memory_equal(&a.report.iteration_u, &b.report.iteration_u, sizeof(double));
  assert_int_equal(a.report.extra_iterations, b.report.extra_iterations);
  forget(&a);
  forget(&b);
}

static void every_precision_and_operator_says_it(void **state)
{
  (void)state;
  static const char *const keys[][2] = {
      {"precision", "mixed"}, {"precision", "compact"}, {"operator", "ell"}};
  solved truth = truth_of(&problems[0]);
  for (int k = 0; k < 3; ++k) {
    setting more[16] = {{"solver", keys[k][0], keys[k][1]}};
    const hard problem = {keys[k][1], problems[0].generate, more};
    for (int i = 0; problems[0].settings[i].section; ++i) more[i + 1] = problems[0].settings[i];
    solved s = solve_to(&problem, "1e-8");
    double error[ERRORS];
    assert_true(errors_of(&s, &truth, error) > 2e-3 && is_said(&s));
    check_first(&problem, &s, error);
    forget(&s);
  }
  forget(&truth);
}

/// A solve that begins with its own solution has nothing to iterate, and says the same.
static void a_set_up_estimates_as_a_solve_does(void **state)
{
  (void)state;
  solved alone = solve_to(&problems[0], "1e-8");
  kedge_problem *p = problem_of(ctx, problems[0].settings);
  kedge_mesh *mesh;
  kedge_solver *solver;
  kedge_solution *first = NULL, *again = NULL;
  kedge_report r = KEDGE_REPORT_INIT;
  must(ctx, kedge_problem_set(p, "mesh", "generate", problems[0].generate));
  must(ctx, kedge_problem_set(p, "solver", "tolerance", "1e-8"));
  must(ctx, kedge_problem_mesh(p, &mesh));
  must(ctx, kedge_solver_create(ctx, mesh, p, &solver));
  for (int i = 0; i < 2; ++i) {
    must(ctx, kedge_solver_solve(solver, NULL, &first));
    must(ctx, kedge_solution_report(first, &r));
    assert_string_equal(r.solver_note, alone.note);
    assert_memory_equal(&r.iteration_sigma, &alone.report.iteration_sigma, sizeof(double));
    assert_int_equal(r.extra_iterations, alone.report.extra_iterations);
  }
  kedge_data data = KEDGE_DATA_INIT;
  data.start = first;
  must(ctx, kedge_solver_solve(solver, &data, &again));
  must(ctx, kedge_solution_report(again, &r));
  assert_int_equal(r.iterations, 0);
  assert_true(fabs(r.iteration_sigma / alone.report.iteration_sigma - 1.0) < 0.1);
  assert_string_equal(r.solver_note, alone.note);
  kedge_solution_destroy(again);
  kedge_solution_destroy(first);
  kedge_solver_destroy(solver);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(p);
  forget(&alone);
}

/// Solve a problem that is complete, and forget it. @return iterations that estimates took
static int64_t extra_of(kedge_problem *problem)
{
  kedge_mesh *mesh;
  kedge_solution *solution;
  kedge_report r = KEDGE_REPORT_INIT;
  must(ctx, kedge_problem_mesh(problem, &mesh));
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  must(ctx, kedge_solution_report(solution, &r));
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(problem);
  return r.extra_iterations;
}

static void problems_of_meshes_take_no_step_more(void **state)
{
  (void)state;
  static const char *const files[] = {"annulus", "inclusion", "pipe", "plate", "wave"};
  for (int i = 0; i < 5; ++i) {
    char path[512];
    kedge_problem *problem;
    snprintf(path, sizeof path, "%s/meshes/%s.ini", KEDGE_SOURCE_DIR, files[i]);
    must(ctx, kedge_problem_read(ctx, path, NULL, 0, &problem));
    assert_int_equal(extra_of(problem), 0);
  }
}

/// What happens to an estimate: it gets no memory, or is cancelled.
typedef struct moody {
  bool refuses, cancels;
  int refused;
} moody;

static const kg_backend_table *true_table;
static kg_backend_table scarce_table;
static moody mood;
static bool is_solved;

static kedge_status scarce_alloc(kedge_context *context, size_t bytes, void **out)
{
  if (!is_solved || !mood.refuses) return true_table->alloc(context, bytes, out);
  *out = NULL;
  ++mood.refused;
  return KG_FAIL(context, KEDGE_ERR_MEMORY, "no room for %zu bytes", bytes);
}

/// The local solve has ended once postprocessing has; from there on an estimate begins.
static bool watch(void *user, const kedge_progress *progress)
{
  (void)user;
  if (is_solved && mood.cancels) return false;
  if (strcmp(progress->stage, "postprocess") == 0 && progress->finished) is_solved = true;
  return true;
}

static kedge_status solve_in_mood(const kedge_mesh *mesh, bool refuses, bool cancels,
                                  kedge_solution **out)
{
  kedge_problem *p = problem_of(ctx, problems[0].settings);
  must(ctx, kedge_problem_set(p, "solver", "tolerance", "1e-8"));
  is_solved = false;
  mood = (moody){refuses, cancels, 0};
  true_table = ctx->table;
  scarce_table = *true_table;
  scarce_table.alloc = scarce_alloc;
  ctx->table = &scarce_table;
  kedge_context_set_progress(ctx, watch, NULL);
  *out = NULL;
  const kedge_status status = kedge_solve(ctx, mesh, p, out);
  kedge_context_set_progress(ctx, NULL, NULL);
  ctx->table = true_table;
  kedge_problem_destroy(p);
  return status;
}

static void an_estimate_that_fails_leaves_the_solution_and_says_so(void **state)
{
  (void)state;
  kedge_solution *s, *plain;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, problems[0].generate, &mesh));
  kedge_report r = KEDGE_REPORT_INIT, expected = KEDGE_REPORT_INIT;
  must(ctx, solve_in_mood(mesh, false, false, &plain));
  must(ctx, kedge_solution_report(plain, &expected));
  must(ctx, solve_in_mood(mesh, true, false, &s));
  must(ctx, kedge_solution_report(s, &r));
  assert_true(mood.refused > 0);
  assert_non_null(strstr(r.solver_note, "could not be estimated: no room for "));
  assert_true(r.converged && isnan(r.iteration_sigma));
  assert_int_equal(r.iterations, expected.iterations);
  int64_t *offsets = malloc(((size_t)r.elements + 1) * sizeof *offsets);
  assert_non_null(offsets);
  must(ctx, kedge_solution_offsets(s, r.order, offsets));
  const size_t n = (size_t)offsets[r.elements];
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  assert_true(a && b);
  must(ctx, kedge_solution_values(s, KEDGE_FIELD_QX, r.order, a));
  must(ctx, kedge_solution_values(plain, KEDGE_FIELD_QX, r.order, b));
  assert_memory_equal(a, b, n * sizeof *a);
  free(offsets);
  free(a);
  free(b);
  kedge_solution_destroy(s);
  kedge_solution_destroy(plain);
  assert_int_equal(solve_in_mood(mesh, false, true, &s), KEDGE_ERR_CANCELLED);
  assert_null(s);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_error_that_is_left_is_said_and_no_other),
      cmocka_unit_test(the_tolerance_that_is_asked_for_is_enough),
      cmocka_unit_test(tolerance_auto_goes_on_or_says_that_rounding_is_left),
      cmocka_unit_test(errors_of_fluxes_that_keep_the_gradient_are_told),
      cmocka_unit_test(estimates_repeat_bit_for_bit),
      cmocka_unit_test(every_precision_and_operator_says_it),
      cmocka_unit_test(a_set_up_estimates_as_a_solve_does),
      cmocka_unit_test(problems_of_meshes_take_no_step_more),
      cmocka_unit_test(an_estimate_that_fails_leaves_the_solution_and_says_so),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
