// Who evaluates at points of elements that are integrated by quadrature, what the report says of
// it, and that it changes nothing.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "mesh/mesh.h"
#include "moved.h"
#include "support.h"

static const char *const wishes[] = {"host", "interpret", "compile"};
enum { WAYS = 3 };

static int forget_wishes(void **state)
{
  (void)state;
  unsetenv("KEDGE_EVALUATE");
  return 0;
}

static bool on_gpu(void)
{
  return test_backend() == KEDGE_BACKEND_CUDA;
}

/// What the report of a way says where it was possible.
static const char *words_of(int way)
{
  static const char *const words[] = {"host: KEDGE_EVALUATE says so", "gpu, interpreted", "gpu"};
  return on_gpu() ? words[way] : "host";
}

/// Solve in all ways: each says that it was taken, and errors are those of the host.
static void assert_ways_agree(const kedge_mesh *mesh, const setting *settings)
{
  kedge_report host = KEDGE_REPORT_INIT;
  for (int k = 0; k < WAYS; ++k) {
    setenv("KEDGE_EVALUATE", wishes[k], 1);
    kedge_problem *problem = problem_of(ctx, settings);
    kedge_solution *solution;
    kedge_report r = KEDGE_REPORT_INIT;
    must(ctx, kedge_solve(ctx, mesh, problem, &solution));
    kedge_solution_report(solution, &r);
    const bool no_library = strstr(r.evaluation, "NVRTC was not found") != NULL;
    if (!no_library) assert_string_equal(r.evaluation, words_of(k));
    kedge_problem_destroy(problem);
    kedge_solution_destroy(solution);
    if (k == 0) host = r;
    const double of_way[] = {r.u_l2, r.u_linf, r.q_l2, r.u_star_l2, r.sigma_l2};
    const double of_host[] = {host.u_l2, host.u_linf, host.q_l2, host.u_star_l2, host.sigma_l2};
    for (int i = 0; i < 5; ++i) {
      assert_true(of_host[i] > 1e-4);  // so that rounding cannot matter
      assert_at_most(fabs(of_way[i] / of_host[i] - 1.0), 1e-11);
    }
  }
}

/// Three iterations: errors stay large, and rounding has no time to grow.
#define FEW                                                                  \
  {"solver", "max_iterations", "3"}, {"solver", "preconditioner", "jacobi"}, \
      {"boundary default", "type", "dirichlet"},                             \
  {                                                                          \
    "space", "order", "2"                                                    \
  }
#define WAVY "sin(5*x)*exp(-y)+hypot(x+1,y)^1.5+cos(2*pi*x)"

static void tensors_on_curves_do_not_depend_on_who_evaluates(void **state)
{
  (void)state;
  static const enum cut cuts[] = {WHOLE, ALL, CHECKERED};
  for (int k = 0; k < 3; ++k) {
    kedge_mesh *mesh = moved(ctx, 9, cuts[k], 2, wave);
    assert_ways_agree(mesh, SETTINGS(FEW, {"exact", "u", WAVY}, {"equation", "reaction", "1+x*x"},
                                     {"equation", "diffusion", "2+sin(3*x), 0.7*cos(x*y), 2+y^2"}));
    kedge_mesh_destroy(mesh);
  }
}

static void constants_on_straight_elements_do_not_depend_on_who_evaluates(void **state)
{
  (void)state;
  static const char *const words[] = {"quads 9", "mixed 9"};
  for (int k = 0; k < 2; ++k) {
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, words[k], &mesh));
    assert_ways_agree(mesh, SETTINGS(FEW, {"exact", "u", WAVY}));
    kedge_mesh_destroy(mesh);
  }
}

static void regions_do_not_depend_on_who_evaluates(void **state)
{
  (void)state;
  const setting *const problems[] = {
      // The kernels of straight triangles, then those by quadrature.
      SETTINGS(FEW, {"exact", "u", WAVY}, {"equation", "diffusion", "1"},
               {"equation", "source", "region == 2 ? sin(9*x) : exp(y)*region"}),
      SETTINGS(FEW, {"exact", "u", WAVY}, {"equation", "source", "x"},
               {"equation", "diffusion", "region + x*x"},
               {"equation", "reaction", "region == 2 ? 2 : y"}),
      SETTINGS(FEW, {"exact", "u", WAVY}, {"equation", "source", "x"},
               {"region inclusion", "diffusion", "2"}, {"region matrix", "diffusion", "8"})};
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_read(ctx, KEDGE_SOURCE_DIR "/meshes/inclusion41.msh", &mesh));
  for (size_t k = 0; k < sizeof problems / sizeof *problems; ++k)
    assert_ways_agree(mesh, problems[k]);
  kedge_mesh_destroy(mesh);

  must(ctx, kedge_mesh_generate(ctx, "mixed 9", &mesh));
  for (int32_t e = 0; e < mesh->n_elements; ++e) mesh->element_region[e] = e % 2;
  assert_ways_agree(mesh, SETTINGS(FEW, {"exact", "u", WAVY},
                                   {"equation", "source", "region == 1 ? sin(9*x) : exp(y)"}));
  kedge_mesh_destroy(mesh);
}

/// All ways refuse in the same words. @param[in] beginning  of the sentence
static void assert_refused_alike(const kedge_mesh *mesh, const setting *settings,
                                 const char *beginning)
{
  char first[512] = "";
  for (int k = 0; k < WAYS; ++k) {
    setenv("KEDGE_EVALUATE", wishes[k], 1);
    kedge_problem *problem = problem_of(ctx, settings);
    const char *const sentence = refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT);
    if (k == 0) snprintf(first, sizeof first, "%s", sentence);
    assert_string_equal(sentence, first);
    assert_int_equal(strncmp(sentence, beginning, strlen(beginning)), 0);
    kedge_problem_destroy(problem);
  }
}

#define ZERO                                                                     \
  {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"}, \
  {                                                                              \
    "space", "order", "2"                                                        \
  }

static void what_is_bad_at_a_point_is_refused_in_the_same_words(void **state)
{
  (void)state;
  kedge_mesh *mesh = moved(ctx, 9, CHECKERED, 2, wave);
  assert_refused_alike(
      mesh, SETTINGS(ZERO, {"equation", "source", "1"}, {"equation", "diffusion", "sqrt(x-0.3)"}),
      "diffusion is nan at x = ");
  assert_refused_alike(
      mesh, SETTINGS(ZERO, {"equation", "source", "1"}, {"equation", "diffusion", "x-0.3"}),
      "diffusion must be positive, and at x = ");
  assert_refused_alike(
      mesh, SETTINGS(ZERO, {"equation", "source", "1"}, {"equation", "diffusion", "1, 2*x, 1"}),
      "diffusion must be positive definite, and at x = ");
  assert_refused_alike(
      mesh, SETTINGS(ZERO, {"equation", "source", "1"}, {"equation", "reaction", "0.6-x"}),
      "reaction must be zero or positive, and at x = ");
  assert_refused_alike(
      mesh, SETTINGS(ZERO, {"equation", "source", "log(x-0.4)"}, {"equation", "reaction", "x"}),
      "source is nan at x = ");
  assert_refused_alike(mesh,
                       SETTINGS(ZERO, {"equation", "source", "1"}, {"exact", "u", "log(x-0.4)"}),
                       "exact u is nan at x = ");
  kedge_mesh_destroy(mesh);
}

static void the_sine_of_a_huge_number_is_left_to_the_interpreter(void **state)
{
  (void)state;
  setenv("KEDGE_EVALUATE", "compile", 1);
  kedge_mesh *mesh = moved(ctx, 6, WHOLE, 2, wave);
  kedge_problem *problem =
      problem_of(ctx, SETTINGS(FEW, {"boundary default", "value", "0"}, {"equation", "source", "1"},
                               {"equation", "diffusion", "2+sin(4e15+x)"}));
  kedge_solution *solution;
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  kedge_report r = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &r);
  if (!strstr(r.evaluation, "NVRTC was not found"))
    assert_string_equal(r.evaluation,
                        on_gpu() ? "source: gpu; coefficients: gpu, interpreted" : "host");
  kedge_problem_destroy(problem);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, forget_wishes, forget_wishes)
  const struct CMUnitTest tests[] = {
      TEST(tensors_on_curves_do_not_depend_on_who_evaluates),
      TEST(constants_on_straight_elements_do_not_depend_on_who_evaluates),
      TEST(regions_do_not_depend_on_who_evaluates),
      TEST(what_is_bad_at_a_point_is_refused_in_the_same_words),
      TEST(the_sine_of_a_huge_number_is_left_to_the_interpreter),
  };
  test_skip_without_backend();
  const int n_failed = cmocka_run_group_tests(tests, open_context, close_context);
  return n_failed == 0 && !on_gpu() ? 77 : n_failed;  // without a GPU all ways are one: skipped
}
