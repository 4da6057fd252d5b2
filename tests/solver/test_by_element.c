// Coefficients, sources and boundary values as one number an element, and as functions: against the
// same data as text.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "data_case.h"
#include "support.h"

/// One of three numbers for each element, by its region.
static double *by_region(const kedge_mesh *mesh, double a, double b, double c)
{
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  must(ctx, kedge_mesh_get_info(mesh, &info));
  int32_t *region = calloc((size_t)info.elements, sizeof *region);
  double *values = calloc((size_t)info.elements, sizeof *values);
  assert_true(region && values);
  must(ctx, kedge_mesh_regions(mesh, region));
  for (int64_t e = 0; e < info.elements; ++e)
    values[e] = region[e] == 1 ? a : region[e] == 2 ? b : c;
  free(region);
  return values;
}

#define ZERO_AROUND                          \
  {"boundary default", "type", "dirichlet"}, \
  {                                          \
    "boundary default", "value", "x*y"       \
  }

static void coefficients_by_element_are_those_of_regions_to_the_bit(void **state)
{
  (void)state;
  const char *const precisions[] = {"double", "compact"};
  for (int i = 0; i < 2 * GRIDS; ++i) {
    const setting *const settings = SETTINGS(
        ZERO_AROUND, {"space", "order", "2"}, {"equation", "source", "x"},
        {"solver", "precision", precisions[i % 2]}, {"solver", "preconditioner", "multigrid"});
    kedge_mesh *mesh = mesh_of(ctx, &grids[i / 2], N);
    kedge_problem *text = problem_of(ctx, settings), *array = problem_of(ctx, settings);
    const char *const names[] = {"region 1", "region 2", "region 3"};
    const char *const diffusion[] = {"45", "0.25", "3"}, *const reaction[] = {"0", "2", "1"};
    for (int t = 0; t < 3; ++t) {
      must(ctx, kedge_problem_set(text, names[t], "diffusion", diffusion[t]));
      must(ctx, kedge_problem_set(text, names[t], "reaction", reaction[t]));
    }
    double *k = by_region(mesh, 45.0, 0.25, 3.0), *a = by_region(mesh, 0.0, 2.0, 1.0);
    must(ctx, kedge_problem_set_function(array, "equation", "diffusion", kedge_by_element, k));
    must(ctx, kedge_problem_set_function(array, "equation", "reaction", kedge_by_element, a));
    assert_same(ctx, mesh, text, array, 0.0);
    free(k);
    free(a);
    kedge_problem_destroy(text);
    kedge_problem_destroy(array);
    kedge_mesh_destroy(mesh);
  }
}

/// Asked for in region 2 alone.
static void twice_x(void *user, const kedge_points *points, double *value)
{
  int *calls = user;
#pragma omp atomic
  *calls += 1;
  for (size_t i = 0; i < points->n; ++i)
    value[i] = points->region[i] == 2.0 ? 2.0 * points->x[i] : NAN;
}

static void regions_have_functions_of_their_own(void **state)
{
  (void)state;
  static const char *const keys[] = {"diffusion", "reaction", "source"};
  for (int i = 0; i < 3 * GRIDS; ++i) {
    const char *const key = keys[i / GRIDS];
    const setting *const settings =
        SETTINGS(ZERO_AROUND, {"space", "order", "2"}, {"solver", "tolerance", "1e-13"},
                 {"region 1", key, "3"}, {"region 2", key, "2*x"}, {"region 3", key, "0.5"});
    kedge_mesh *mesh = mesh_of(ctx, &grids[i % GRIDS], N);
    kedge_problem *text = problem_of(ctx, settings), *data = problem_of(ctx, settings);
    double *k = by_region(mesh, -1.0, -1.0, 0.5);
    int calls = 0;
    must(ctx, kedge_problem_set_function(data, "region 3", key, kedge_by_element, k));
    must(ctx, kedge_problem_set_function(data, "region 2", key, twice_x, &calls));
    assert_same(ctx, mesh, text, data, 1e-10);
    assert_true(calls > 0);
    free(k);
    kedge_problem_destroy(text);
    kedge_problem_destroy(data);
    kedge_mesh_destroy(mesh);
  }
}

static void tensors_by_element_are_those_of_regions_to_the_bit(void **state)
{
  (void)state;
  for (int i = 0; i < GRIDS; ++i) {
    const setting *const settings =
        SETTINGS(ZERO_AROUND, {"space", "order", "3"}, {"equation", "source", "1"});
    kedge_mesh *mesh = mesh_of(ctx, &grids[i], N);
    kedge_problem *text = problem_of(ctx, settings), *array = problem_of(ctx, settings);
    must(ctx, kedge_problem_set(text, "region 1", "diffusion", "2, 0.5, 1"));
    must(ctx, kedge_problem_set(text, "region default", "diffusion", "1, -0.25, 4"));
    double *values[] = {by_region(mesh, 2.0, 1.0, 1.0), by_region(mesh, 0.5, -0.25, -0.25),
                        by_region(mesh, 1.0, 4.0, 4.0)};
    kedge_function *const functions[] = {kedge_by_element, kedge_by_element, kedge_by_element};
    must(ctx, kedge_problem_set_tensor(array, "equation", functions, (void **)values));
    assert_same(ctx, mesh, text, array, 0.0);
    for (int k = 0; k < 3; ++k) free(values[k]);
    kedge_problem_destroy(text);
    kedge_problem_destroy(array);
    kedge_mesh_destroy(mesh);
  }
}

static void a_number_takes_the_place_of_a_tensor_of_functions(void **state)
{
  (void)state;
  const setting *const settings =
      SETTINGS(ZERO_AROUND, {"space", "order", "1"}, {"equation", "source", "1"});
  kedge_mesh *mesh = mesh_of(ctx, &grids[0], N);
  kedge_problem *text = problem_of(ctx, settings), *array = problem_of(ctx, settings);
  double *values[] = {by_region(mesh, 2.0, 1.0, 1.0), by_region(mesh, 0.5, -0.25, -0.25),
                      by_region(mesh, 1.0, 4.0, 4.0)};
  kedge_function *const functions[] = {kedge_by_element, kedge_by_element, kedge_by_element};
  must(ctx, kedge_problem_set_tensor(array, "equation", functions, (void **)values));
  must(ctx, kedge_problem_set(array, "equation", "diffusion", "1"));
  assert_same(ctx, mesh, text, array, 0.0);
  for (int k = 0; k < 3; ++k) free(values[k]);
  kedge_problem_destroy(text);
  kedge_problem_destroy(array);
  kedge_mesh_destroy(mesh);
}

static void sources_and_boundary_values_by_element_are_those_of_regions(void **state)
{
  (void)state;
  for (int i = 0; i < GRIDS; ++i) {
    kedge_mesh *mesh = mesh_of(ctx, &grids[i], N);
    kedge_problem *text = problem_of(
        ctx, SETTINGS({"boundary default", "type", "neumann"}, {"space", "order", "2"},
                      {"equation", "reaction", "1"}, {"solver", "tolerance", "1e-13"},
                      {"boundary default", "value", "region == 1 ? 1 : region == 2 ? -2 : 5"},
                      {"region 1", "source", "1"}, {"region 2", "source", "-2"},
                      {"region 3", "source", "5"}));
    kedge_problem *array =
        problem_of(ctx, SETTINGS({"boundary default", "type", "neumann"}, {"space", "order", "2"},
                                 {"equation", "reaction", "1"}, {"solver", "tolerance", "1e-13"}));
    double *f = by_region(mesh, 1.0, -2.0, 5.0);
    must(ctx, kedge_problem_set_function(array, "equation", "source", kedge_by_element, f));
    must(ctx, kedge_problem_set_function(array, "boundary default", "value", kedge_by_element, f));
    assert_same(ctx, mesh, text, array, 1e-10);
    free(f);
    kedge_problem_destroy(text);
    kedge_problem_destroy(array);
    kedge_mesh_destroy(mesh);
  }
}

static void what_functions_cannot_be_is_said(void **state)
{
  (void)state;
  kedge_mesh *mesh = mesh_of(ctx, &grids[0], 3);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"boundary default", "type", "dirichlet"}, {"exact", "u", "sin(x)"}));
  double *k = by_region(mesh, 1.0, -2.0, 3.0);
  assert_int_equal(kedge_problem_set_function(problem, "space", "order", kedge_by_element, k),
                   KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(ctx), "[space] order takes no function"));
  must(ctx, kedge_problem_set_function(problem, "equation", "diffusion", kedge_by_element, k));
  assert_refused(ctx, mesh, problem, KEDGE_ERR_INPUT, "diffusion must be positive, and at x = 0.3");
  free(k);
  k = by_region(mesh, 1.0, 2.0, 3.0);
  must(ctx, kedge_problem_set_function(problem, "equation", "diffusion", kedge_by_element, k));
  assert_refused(ctx, mesh, problem, KEDGE_ERR_INPUT, "a coefficient is a function of the caller");
  free(k);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coefficients_by_element_are_those_of_regions_to_the_bit),
      cmocka_unit_test(regions_have_functions_of_their_own),
      cmocka_unit_test(tensors_by_element_are_those_of_regions_to_the_bit),
      cmocka_unit_test(a_number_takes_the_place_of_a_tensor_of_functions),
      cmocka_unit_test(sources_and_boundary_values_by_element_are_those_of_regions),
      cmocka_unit_test(what_functions_cannot_be_is_said),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
