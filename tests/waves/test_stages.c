// Stages of every system, order and type of numbers are those of the host, whatever the number of
// elements: the fused kernel, and the plain one that serves without NVRTC.
#include "moving_waves.h"

#include <string.h>

#include "kedge/waves.h"
#include "mesh/mesh.h"

/// Cubes in a row, of six tetrahedra, or squares of two triangles; the first n of these.
static kedge_mesh *row_of(kedge_context *ctx, int dimension, int n)
{
  enum { MOST = 80, CORNERS = 8 * MOST };
  static double vertices[CORNERS * 3];
  static int32_t cells[MOST * 4];
  const int corners = dimension == 3 ? 4 : 2, parts = dimension == 3 ? 6 : 2;
  const int length = (n + parts - 1) / parts;
  for (int i = 0; i <= length; ++i)
    for (int c = 0; c < corners; ++c) {
      double *const at = vertices + (size_t)(i * corners + c) * (size_t)dimension;
      at[0] = i + 0.1 * sin(12.9898 * (i * corners + c));
      at[1] = c % 2 + 0.1 * sin(78.233 * (i * corners + c));
      if (dimension == 3) at[2] = c / 2 + 0.1 * sin(37.719 * (i * corners + c));
    }
  static const int paths[6][2] = {{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}};
  for (int k = 0; k < n; ++k) {
    const int square = k / parts * corners;
    int32_t *const cell = cells + (size_t)k * (size_t)(dimension + 1);
    if (dimension == 2) {  // squares' corners are 0, 2, 3, 1 counterclockwise
      const int two[2][3] = {{0, 2, 3}, {0, 3, 1}};
      for (int i = 0; i < 3; ++i) cell[i] = square + two[k % 2][i];
    } else {
      const int step[3] = {corners, 1, 2}, *const path = paths[k % parts];
      cell[0] = square;
      cell[1] = cell[0] + step[path[0]];
      cell[2] = cell[1] + step[path[1]];
      cell[3] = square + corners + 1 + 2;
    }
  }
  kedge_mesh *mesh;
  const int64_t n_vertices = (int64_t)(length + 1) * corners;
  if (dimension == 2) {
    must(ctx, kedge_mesh_create(ctx,
                                &(kedge_mesh_arrays){.n_vertices = n_vertices,
                                                     .vertices = vertices,
                                                     .n_triangles = n,
                                                     .triangles = cells},
                                &mesh));
    return mesh;
  }
  kedge_space_arrays arrays = KEDGE_SPACE_ARRAYS_INIT;
  arrays.n_vertices = n_vertices;
  arrays.vertices = vertices;
  arrays.n_tetrahedra = n;
  arrays.tetrahedra = cells;
  must(ctx, kedge_mesh_create_space(ctx, &arrays, &mesh));
  return mesh;
}

/// How the kernel of a GPU is named.
static const char *kernels = "compiled";

typedef struct system_case {
  const char *system;
  int dimension;
  const char *first, *second, *field[2], *damping;
  const char *types[4];
} system_case;

static const system_case systems[] = {
    {"maxwell",
     3,
     "permittivity",
     "permeability",
     {"Ex", "Hy"},
     "conductivity",
     {"conductor", "absorbing", "incident", "conductor"}},
    {"maxwell-tm",
     2,
     "permittivity",
     "permeability",
     {"Ez", "Hy"},
     "conductivity",
     {"conductor", "absorbing", "incident", "conductor"}},
    {"acoustics",
     2,
     "density",
     "bulk",
     {"p", "vy"},
     NULL,
     {"wall", "absorbing", "incident", "soft"}},
    {"acoustics",
     3,
     "density",
     "bulk",
     {"p", "vy"},
     NULL,
     {"wall", "absorbing", "incident", "soft"}},
};

/// Values of all fields after three steps. @param[in] mesh  NULL: cubes with all types of boundary
static double *values_of(kedge_context *ctx, const system_case *s, int order, bool single,
                         int n_elements, size_t *n)
{
  char text[8];
  snprintf(text, sizeof text, "%d", order);
  kedge_problem *const problem = problem_of(
      ctx, SETTINGS({"equation", "system", s->system}, {"space", "order", text},
                    {"space", "upwind", "0.4"}, {"time", "end", "0.03"}, {"time", "steps", "3"},
                    {"solver", "precision", single ? "single" : "double"},
                    {"equation", s->first, "1.5 + sin(5*x) + 0.3*cos(7*y)"},
                    {"equation", s->second, "1.3 + 0.9*cos(3*x + 4*y)"},
                    {"initial", s->field[0], "sin(2*x + y) + y^2"},
                    {"initial", s->field[1], "cos(x - 3*y)"}));
  if (s->damping) must(ctx, kedge_problem_set(problem, "equation", s->damping, "2 + x"));
  kedge_mesh *mesh;
  if (n_elements > 0) {
    mesh = row_of(ctx, s->dimension, n_elements);
    must(ctx, kedge_problem_set(problem, "boundary default", "type", s->types[n_elements % 4]));
    if (n_elements % 4 != 1)
      must(ctx, kedge_problem_set(problem, "boundary default", s->field[0], "sin(x + y + 9*t)"));
  } else {
    static const char *const sides[2][4] = {
        {"boundary left", "boundary right", "boundary top", "boundary default"},
        {"boundary x0", "boundary x1", "boundary y0", "boundary default"}};
    for (int k = 0; k < 4; ++k) {
      const char *const side = sides[s->dimension == 3][k];
      must(ctx, kedge_problem_set(problem, side, "type", s->types[k]));
      if (k > 1) must(ctx, kedge_problem_set(problem, side, s->field[0], "cos(2*y - t)"));
    }
    must(ctx,
         kedge_problem_set(problem, "mesh", "generate", s->dimension == 3 ? "cube 2" : "square 5"));
    must(ctx, kedge_problem_mesh(problem, &mesh));
  }
  kedge_march *march;
  must(ctx, kedge_march_create(ctx, mesh, problem, &march));
  const char *const kernel = ctx->backend == KEDGE_BACKEND_CUDA ? kernels : "host";
  if (strncmp(kedge_march_kernel(march), kernel, strlen(kernel)) != 0)
    fail_msg("'%s', not '%s'", kedge_march_kernel(march), kernel);
  while (!kedge_march_ended(march)) must(ctx, kedge_march_step(march));
  const size_t nodes = s->dimension == 3 ? (size_t)((order + 1) * (order + 2) * (order + 3) / 6)
                                         : (size_t)((order + 1) * (order + 2) / 2);
  const size_t one = nodes * (size_t)mesh->n_elements;
  *n = 0;
  double *const values = malloc(6 * one * sizeof *values);
  for (int f = 0; kedge_march_field(march, f); ++f, *n += one)
    must(ctx, kedge_march_values(march, kedge_march_field(march, f), order, values + *n));
  kedge_march_destroy(march);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(problem);
  return values;
}

static void assert_as_on_the_host(kedge_context *ctx, kedge_context *host, const system_case *s,
                                  int order, bool single)
{
  static const int sizes[] = {0, 1, 31, 33, 65};
  for (int i = 0; i < 5; ++i) {
    size_t n, m;
    double *const value = values_of(ctx, s, order, single, sizes[i], &n);
    double *const expected = values_of(host, s, order, single, sizes[i], &m);
    assert_int_equal(n, m);
    double scale = 0.0, difference = 0.0;
    for (size_t k = 0; k < n; ++k) {
      assert_true(isfinite(value[k]));
      scale = fmax(scale, fabs(expected[k]));
      difference = fmax(difference, fabs(value[k] - expected[k]));
    }
    if (!(difference <= (single ? 2e-5 : 2e-14) * scale))
      fail_msg("%s of order %d in %s, %d elements: differs by %g of %g", s->system, order,
               single ? "single" : "double", sizes[i], difference, scale);
    free(value);
    free(expected);
  }
}

static void assert_all(int first, int last)
{
  kedge_context *const host = open_backend(KEDGE_BACKEND_HOST, 2);
  for (size_t k = 0; k < sizeof systems / sizeof *systems; ++k)
    for (int order = first; order <= last; ++order)
      for (int single = 0; single < 2; ++single) {
        kedge_context *const ctx = open_backend(test_backend(), 2);
        assert_as_on_the_host(ctx, host, &systems[k], order, single == 1);
        kedge_context_destroy(ctx);
      }
  kedge_context_destroy(host);
}

static void stages_are_those_of_the_host(void **state)
{
  (void)state;
  assert_all(1, test_backend() == KEDGE_BACKEND_CUDA && !test_is_quick() ? 4 : 2);
}

/// These have tables in memory, and blocks of 16 or 8 elements.
static void stages_of_high_order_are_those_of_the_host(void **state)
{
  (void)state;
  kedge_context *const host = open_backend(KEDGE_BACKEND_HOST, 2);
  kedge_context *const ctx = open_backend(test_backend(), 2);
  if (test_backend() == KEDGE_BACKEND_CUDA) {
    assert_as_on_the_host(ctx, host, &systems[0], 6, true);
    assert_as_on_the_host(ctx, host, &systems[1], 9, false);
  }
  if (test_backend() == KEDGE_BACKEND_CUDA && !test_is_quick()) {
    assert_as_on_the_host(ctx, host, &systems[0], 5, false);
    assert_as_on_the_host(ctx, host, &systems[0], 8, false);
    assert_as_on_the_host(ctx, host, &systems[3], 7, false);
  }
  kedge_context_destroy(ctx);
  kedge_context_destroy(host);
}

static void stages_without_nvrtc_are_those_of_the_host(void **state)
{
  (void)state;
  if (test_backend() != KEDGE_BACKEND_CUDA) return;
  const char *const chosen = getenv("KEDGE_NVRTC");
  char *const kept = chosen ? strdup(chosen) : NULL;
  setenv("KEDGE_NVRTC", "none.so", 1);
  kernels = "plain: NVRTC was not found (none.so: cannot open";
  assert_all(2, test_is_quick() ? 2 : 3);
  kernels = "compiled";
  if (kept)
    setenv("KEDGE_NVRTC", kept, 1);
  else
    unsetenv("KEDGE_NVRTC");
  free(kept);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stages_are_those_of_the_host),
      cmocka_unit_test(stages_of_high_order_are_those_of_the_host),
      cmocka_unit_test(stages_without_nvrtc_are_those_of_the_host),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
