// Who evaluates source and exact solution, what the report says of it, and that it changes nothing.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "elliptic/stages.h"
#include "device/context.h"
#include "device/cuda_nvrtc.h"
#include "memory_case.h"
#include "support.h"

static kedge_mesh *mesh;

static const char no_library[] = "host: NVRTC was not found (";

static int open_mesh(void **state)
{
  assert_int_equal(open_context(state), 0);
  must(ctx, kedge_mesh_generate(ctx, "square 7", &mesh));
  return 0;
}

static int close_mesh(void **state)
{
  kedge_mesh_destroy(mesh);
  return close_context(state);
}

static int forget_wishes(void **state)
{
  (void)state;
  unsetenv("KEDGE_EVALUATE");
  unsetenv("KEDGE_NVRTC");
  return 0;
}

static bool on_gpu(void)
{
  return test_backend() == KEDGE_BACKEND_CUDA;
}

typedef struct outcome {
  kedge_report report;
  char evaluation[512];
} outcome;

static outcome solve_problem(const kedge_mesh *on, const kedge_problem *problem)
{
  outcome o;
  kedge_solution *solution;
  must(ctx, kedge_solve(ctx, on, problem, &solution));
  o.report = (kedge_report)KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &o.report);
  snprintf(o.evaluation, sizeof o.evaluation, "%s", o.report.evaluation);
  kedge_solution_destroy(solution);
  return o;
}

/// @param[in] wish  of KEDGE_EVALUATE, NULL: none
static outcome solve_as(const char *wish, const kedge_mesh *on, const setting *settings)
{
  if (wish)
    setenv("KEDGE_EVALUATE", wish, 1);
  else
    unsetenv("KEDGE_EVALUATE");
  kedge_problem *problem = problem_of(ctx, settings);
  const outcome o = solve_problem(on, problem);
  kedge_problem_destroy(problem);
  return o;
}

/// On the CUDA backend where NVRTC is missing there is nothing to compare.
static void skip_without_nvrtc(const outcome *o)
{
  if (strncmp(o->evaluation, no_library, sizeof no_library - 1) == 0) skip();
}

static void assert_same_errors(const kedge_report *a, const kedge_report *b)
{
  const double of_a[] = {a->u_l2, a->u_linf, a->q_l2, a->u_star_l2};
  const double of_b[] = {b->u_l2, b->u_linf, b->q_l2, b->u_star_l2};
  for (int k = 0; k < 4; ++k) {
    assert_true(of_b[k] > 1e-3);  // so that rounding cannot matter
    assert_at_most(fabs(of_a[k] - of_b[k]) / of_b[k], 1e-12);
  }
}

/// Three iterations: errors stay large, and rounding has no time to grow.
static const setting waves[] = {{"solver", "max_iterations", "3"},
                                {"space", "order", "2"},
                                {"equation", "reaction", "3"},
                                {"boundary default", "type", "dirichlet"},
                                {"exact", "u",
                                 "sin(9*x)*exp(-y)*hypot(x+1,y)^1.5+tanh(9*x-9*y^3)+sin(2*pi*x)*"
                                 "cos(pi*y/2)*cos(2*pi*x)+(x<y ? 1 : cos(5*(x-y)))"},
                                {0}};

static void errors_do_not_depend_on_who_evaluates(void **state)
{
  (void)state;
  const outcome host = solve_as("host", mesh, waves), gpu = solve_as("compile", mesh, waves);
  skip_without_nvrtc(&gpu);
  assert_string_equal(host.evaluation, on_gpu() ? "host: KEDGE_EVALUATE says so" : "host");
  assert_string_equal(gpu.evaluation, on_gpu() ? "gpu" : "host");
  assert_same_errors(&gpu.report, &host.report);
  const kg_stage stages[] = {KG_STAGE_TRANSFER, KG_STAGE_POSTPROCESS};
  for (int i = 0; on_gpu() && i < 2; ++i)  // values that never lie in memory are not counted
    assert_true(gpu.report.stages[stages[i]].bytes < host.report.stages[stages[i]].bytes);
}

static void the_sine_of_a_huge_number_is_left_to_the_interpreter(void **state)
{
  (void)state;
  static const char *const texts[] = {"x*sin(4e15+x)+y^2", "x*sin(pi*(4e15+x))+y^2",
                                      "y*(sin(4e15+x) < 0 ? 1 : x^3)+y^2"};
  for (int i = 0; i < 3; ++i) {
    const setting *settings = SETTINGS({"boundary default", "type", "dirichlet"},
                                       {"solver", "max_iterations", "3"}, {"exact", "u", texts[i]});
    const outcome host = solve_as("host", mesh, settings),
                  gpu = solve_as("compile", mesh, settings);
    skip_without_nvrtc(&gpu);
    assert_non_null(strstr(gpu.evaluation, on_gpu() ? "gpu, interpreted" : "host"));
    assert_same_errors(&gpu.report, &host.report);
  }
}

static void errors_agree_over_several_chunks(void **state)
{
  (void)state;
  if (!on_gpu()) skip();
  const setting *settings =
      SETTINGS({"boundary default", "type", "dirichlet"}, {"solver", "max_iterations", "3"},
               {"exact", "u", "sin(9*x)*exp(-y)+x*y"});
  kedge_mesh *large;
  must(ctx, kedge_mesh_generate(ctx, "square 421", &large));
  const outcome host = solve_as("host", large, settings),
                gpu = solve_as("compile", large, settings);
  kedge_mesh_destroy(large);
  skip_without_nvrtc(&gpu);
  assert_string_equal(gpu.evaluation, "gpu");
  assert_same_errors(&gpu.report, &host.report);
}

static void few_points_are_interpreted(void **state)
{
  (void)state;
  const outcome host = solve_as("host", mesh, waves), gpu = solve_as(NULL, mesh, waves);
  assert_string_equal(gpu.evaluation, on_gpu() ? "gpu, interpreted" : "host");
  assert_same_errors(&gpu.report, &host.report);
}

static void interpreting_needs_no_nvrtc(void **state)
{
  (void)state;
  setenv("KEDGE_NVRTC", "/nonexistent", 1);
  const outcome o = solve_as(NULL, mesh, waves);
  assert_string_equal(o.evaluation, on_gpu() ? "gpu, interpreted" : "host");
  assert_string_equal(kedge_context_error(ctx), "");
}

static void a_formula_too_long_to_interpret_stays_with_the_host(void **state)
{
  (void)state;
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  for (int i = 0; i < 200; ++i) fprintf(out, "%s(x-%d)/(y+%d)", i ? "+" : "", i, i + 2);
  assert_int_equal(fclose(out), 0);
  const setting settings[] = {{"boundary default", "type", "dirichlet"},
                              {"boundary default", "value", "0"},
                              {"equation", "source", text},
                              {0}};
  const outcome o = solve_as(NULL, mesh, settings);
  free(text);
  static const char too_long[] = "host: more than 304 operations, 128 constants or ";
  assert_int_equal(strncmp(o.evaluation, on_gpu() ? too_long : "host",
                           on_gpu() ? sizeof too_long - 1 : sizeof "host"),
                   0);
}

static void nothing_to_evaluate_is_reported_as_nothing(void **state)
{
  (void)state;
  const setting *settings =
      SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x"});
  assert_string_equal(solve_as("compile", mesh, settings).evaluation, "");
}

static void without_nvrtc_the_host_evaluates_and_the_report_says_why(void **state)
{
  (void)state;
  setenv("KEDGE_NVRTC", "/nonexistent", 1);
  const outcome o =
      solve_as("compile", mesh,
               SETTINGS({"boundary default", "type", "dirichlet"}, {"exact", "u", "x^5*sin(7*y)"}));
  assert_true(o.report.u_l2 > 0.0);
  assert_string_equal(
      o.evaluation, on_gpu() ? "host: NVRTC was not found (/nonexistent: cannot open shared object "
                               "file: No such file or directory)"
                             : "host");
  assert_string_equal(kedge_context_error(ctx), "");
}

static void the_second_solve_compiles_nothing(void **state)
{
  (void)state;
  if (!on_gpu()) skip();
  const outcome first = solve_as("compile", mesh, waves);
  skip_without_nvrtc(&first);
  const int compiled = ctx->images->compiled;
  const outcome second = solve_as("compile", mesh, waves);
  assert_string_equal(second.evaluation, "gpu");
  assert_int_equal(ctx->images->compiled, compiled);
  assert_true(memcmp(&first.report.u_l2, &second.report.u_l2, sizeof(double)) == 0);
}

static void one(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = 1.0;
}

static void a_callers_function_stays_with_the_host(void **state)
{
  (void)state;
  setenv("KEDGE_EVALUATE", "compile", 1);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"boundary default", "type", "dirichlet"}, {"exact", "u", "x*y*sin(9*x)"}));
  must(ctx, kedge_problem_set_source(problem, one, NULL));
  const outcome o = solve_problem(mesh, problem);
  kedge_problem_destroy(problem);
  assert_true(o.report.converged);
  if (on_gpu() && strstr(o.evaluation, no_library)) skip();
  assert_string_equal(o.evaluation,
                      on_gpu() ? "source: host: a function of the calling program cannot be "
                                 "evaluated on the GPU; exact solution: gpu"
                               : "host");
}

static const char *const wishes[] = {"host", "compile", "interpret"};

/// All ways of evaluation say the same.
static void assert_refused_alike(const setting *settings, const char *beginning)
{
  char first[512] = "";
  for (int k = 0; k < 3; ++k) {
    setenv("KEDGE_EVALUATE", wishes[k], 1);
    kedge_problem *problem = problem_of(ctx, settings);
    const char *const sentence = refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT);
    if (k == 0) snprintf(first, sizeof first, "%s", sentence);
    assert_string_equal(sentence, first);
    assert_int_equal(strncmp(sentence, beginning, strlen(beginning)), 0);
    assert_non_null(strstr(sentence, ", in element "));
    assert_non_null(strstr(sentence, " (from 0); change it so that it is finite everywhere"));
    kedge_problem_destroy(problem);
  }
}

static void a_value_that_is_not_finite_is_refused_in_the_same_words(void **state)
{
  (void)state;
  assert_refused_alike(
      SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
               {"equation", "source", "sqrt(0.6-x)"}),
      "source is nan at x = ");
  assert_refused_alike(
      SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
               {"exact", "u", "sqrt(min(x,0))"}),
      "source, derived from u of [exact], is nan at x = ");
  assert_refused_alike(
      SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
               {"equation", "source", "1"}, {"exact", "u", "sqrt(min(x,0))"}),
      "du/dx of exact u is nan at x = ");
  assert_refused_alike(
      SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
               {"equation", "source", "1"}, {"exact", "u", "log(x^2+y^2)"}),
      "exact u is -inf at x = 0, y = 0");
}

static void assert_has_chunks(const setting *settings)
{
  kedge_problem *problem = problem_of(ctx, settings);
  const kg_shape shape = shape_of(ctx, mesh, problem);
  assert_true(shape.count.n_groups > shape.choice.recover_groups);
  kedge_problem_destroy(problem);
}

/// The elements at the corners of the square are far from each other, in several chunks.
static void a_value_of_any_chunk_is_refused_in_the_same_words(void **state)
{
  (void)state;
  static const char *const bad[] = {"x^2+y^2", "(x-1)^2+y^2", "x^2+(y-1)^2", "(x-1)^2+(y-1)^2"};
  kedge_mesh *const small = mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 40", &mesh));
  for (int k = 0; k < 4; ++k) {
    char u[64], source[64], at[64];
    snprintf(u, sizeof u, "log(%s)", bad[k]);
    snprintf(source, sizeof source, "sqrt(%s-1e-4)", bad[k]);
    snprintf(at, sizeof at, "exact u is -inf at x = %d, y = %d", k % 2, k / 2);
    const setting *settings[] = {
        SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
                 {"solver", "max_iterations", "3"}, {"equation", "source", "1"}, {"exact", "u", u}),
        SETTINGS({"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
                 {"exact", "u", "x"}, {"equation", "source", source})};
    for (int i = 0; i < 2; ++i) {
      assert_has_chunks(settings[i]);
      assert_refused_alike(settings[i], i == 0 ? at : "source is nan at x = ");
    }
  }
  kedge_mesh_destroy(mesh);
  mesh = small;
}

static void source_and_gradient_may_be_infinite_at_a_vertex(void **state)
{
  (void)state;
  const setting *settings =
      SETTINGS({"boundary default", "type", "dirichlet"}, {"solver", "max_iterations", "3"},
               {"boundary default", "value", "0"}, {"equation", "source", "1/hypot(x,y)"},
               {"exact", "u", "sqrt(x)*sqrt(y)"});
  const outcome host = solve_as("host", mesh, settings);
  for (int k = 1; k < 3; ++k) {
    const outcome other = solve_as(wishes[k], mesh, settings);
    assert_same_errors(&other.report, &host.report);
  }
}

static void a_word_that_is_no_way_to_evaluate_is_refused(void **state)
{
  (void)state;
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"boundary default", "type", "dirichlet"},
                               {"boundary default", "value", "0"}, {"equation", "source", "1"}));
  setenv("KEDGE_EVALUATE", "gpu", 1);
  assert_string_equal(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT),
                      "the environment variable KEDGE_EVALUATE is \"gpu\", and may be host, "
                      "interpret or compile; choose one of them, or unset it");
  setenv("KEDGE_EVALUATE", "", 1);  // as good as none
  const outcome o = solve_problem(mesh, problem);
  assert_true(o.report.converged);
  kedge_problem_destroy(problem);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, forget_wishes, forget_wishes)
  const struct CMUnitTest tests[] = {
      TEST(errors_do_not_depend_on_who_evaluates),
      TEST(the_sine_of_a_huge_number_is_left_to_the_interpreter),
      TEST(errors_agree_over_several_chunks),
      TEST(few_points_are_interpreted),
      TEST(interpreting_needs_no_nvrtc),
      TEST(the_second_solve_compiles_nothing),
      TEST(a_formula_too_long_to_interpret_stays_with_the_host),
      TEST(nothing_to_evaluate_is_reported_as_nothing),
      TEST(without_nvrtc_the_host_evaluates_and_the_report_says_why),
      TEST(a_callers_function_stays_with_the_host),
      TEST(a_word_that_is_no_way_to_evaluate_is_refused),
      TEST(a_value_that_is_not_finite_is_refused_in_the_same_words),
      TEST(a_value_of_any_chunk_is_refused_in_the_same_words),
      TEST(source_and_gradient_may_be_infinite_at_a_vertex),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_mesh, close_mesh);
}
