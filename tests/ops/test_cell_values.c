// Values of functions at points of cells as a GPU makes them: those of the host. Without a GPU the
// host's compiler takes the text of the compiled kernel, which then runs thread after thread; with
// one the interpreter and the compiled kernel run.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "compiled.h"
#include "context.h"
#include "mesh/mesh.h"
#include "ops/local/quadrature/elements.h"
#include "ops/sample/cell_kernel.h"
#include "ops/sample/evaluate.h"
#include "problem/expression_text.h"
#ifdef KEDGE_WITH_CUDA
#include "device/cuda_nvrtc.h"
#endif

enum { SET = 4, ROWS = 4 };

static const double time_of_all = 0.375;

/// The last block of a mesh, with regions 0, 1, 2 in turn, and points of its elements.
typedef struct cells_case {
  kedge_mesh *mesh;
  const kg_block *block;
  int32_t n_groups;
  double *rule;
  kg_cell_points points;
  int n_used;
  kg_function function[SET];
  const kg_function *pointer[SET];
  kg_sample_set set;
  bool elliptic;
  double scale;
  // In host memory, as kg_cells has them.
  int32_t *vertex;
  double *nodes;
} cells_case;

static kg_function function_of(const char *text)
{
  kg_function f = {.kind = KG_FUNCTION_EXPRESSION};
  must(ctx, expression_parse(ctx, text, NULL, 0, &f.expression));
  return f;
}

static void fill_lanes(cells_case *c)
{
  const int V = c->block->cell->n_vertices, n = c->points.n_nodes;
  const size_t lanes = (size_t)c->n_groups * KG_LANES;
  c->vertex = calloc(lanes * (size_t)V, sizeof *c->vertex);
  c->nodes = calloc(lanes * 2 * (size_t)n, sizeof *c->nodes);  // in the plane alone
  assert_true(c->vertex && c->nodes);
  for (int32_t lane = 0; lane < (int32_t)lanes; ++lane) {
    const int32_t e = c->block->first + (lane < c->block->n ? lane : c->block->n - 1);
    for (int l = 0; l < V; ++l)
      c->vertex[kg_cell_at(lane, V, l)] = kg_element_vertices(c->mesh, e)[l];
    for (int i = 0; c->mesh->nodes && i < 2 * n; ++i)
      c->nodes[kg_cell_at(lane, 2 * n, i % 2 * n + i / 2)] = kg_element_nodes(c->mesh, e)[i];
  }
}

/// A plane mesh whose vertices, and with a geometry of more than 1 nodes too, are moved.
static kedge_mesh *moved_mesh(const char *words, int geometry)
{
  kg_function x = function_of("x+0.1*sin(2*y)"), y = function_of("y+0.07*x*x");
  kedge_mesh *straight, *moved;
  must(ctx, kg_mesh_generate(ctx, words, 1, &straight));
  must(ctx, kg_mesh_map(ctx, straight, geometry, &x, &y, &moved));
  kedge_mesh_destroy(straight);
  kg_expression_free(x.expression);
  kg_expression_free(y.expression);
  assert_int_equal(moved->geometry, geometry);
  return moved;
}

/// @param[in] mesh  which is the case's from now on
static void open_mesh(cells_case *c, kedge_mesh *mesh)
{
  *c = (cells_case){.scale = 1.0, .mesh = mesh};
  const int geometry = mesh->geometry;
  for (int32_t e = 0; e < mesh->n_elements; ++e) mesh->element_region[e] = e % 3;
  c->block = &mesh->block[mesh->n_blocks - 1];
  c->n_groups = (c->block->n + KG_LANES - 1) / KG_LANES;
  assert_true(c->block->n % KG_LANES != 0);
  must(ctx,
       kg_cell_points_create(ctx, c->block->cell, 2, geometry, ROWS, KG_BEHIND_CORNERS, &c->rule));
  c->points = kg_cell_points_at(c->block->cell, 2, geometry, ROWS, KG_BEHIND_CORNERS, c->rule);
  c->n_used = mesh->dimension == 3 ? ROWS * ROWS * ROWS : ROWS * ROWS;
  fill_lanes(c);
}

static void open_cells(cells_case *c, const char *words, int geometry)
{
  open_mesh(c, moved_mesh(words, geometry));
}

static void set_functions(cells_case *c, int n, const char *const *texts)
{
  static const char *const names[SET] = {"a", "b", "c", "d"};
  for (int f = 0; f < n; ++f) {
    c->function[f] = function_of(texts[f]);
    kg_function_set_time(&c->function[f], time_of_all);
    c->pointer[f] = &c->function[f];
  }
  c->set = (kg_sample_set){n, c->pointer, names, ""};
}

static void free_functions(cells_case *c)
{
  for (int f = 0; f < c->set.n; ++f) kg_expression_free(c->function[f].expression);
  c->set.n = 0;
}

static void close_cells(cells_case *c)
{
  free_functions(c);
  free(c->vertex);
  free(c->nodes);
  free(c->rule);
  kedge_mesh_destroy(c->mesh);
}

static size_t count_values(const cells_case *c)
{
  return (size_t)c->n_groups * (size_t)(c->set.n * c->points.n) * KG_LANES;
}

/// What the host has: values, and the status that it ends with.
static double *expected_values(const cells_case *c, kedge_status status)
{
  double *values = malloc(count_values(c) * sizeof *values);
  assert_non_null(values);
  kg_places places = kg_cell_places(&c->points, c->n_used, c->mesh);
  assert_int_equal(kg_sample(ctx, places, 0, c->n_groups, &c->set, values), status);
  return values;
}

/// A way to make the values, which are to be freed. @param[out] bad  as of the operators
typedef double *way(const cells_case *c, int64_t *bad);

typedef void kernel_function(const double *vertices, const int *vertex, const double *nodes,
                             const double *map, const int *region, double t, double *values,
                             double scale, long long n_elements, int n_nodes, int n_points,
                             int n_used, int elliptic);

/// The text of the last kernel, and what became of it: functions do not change with the mesh.
static struct last {
  char *source;
  void *library;
} last;

static void forget_text(void)
{
  if (last.library) dlclose(last.library);
  free(last.source);
  last = (struct last){0};
}

static void *library_of(const cells_case *c)
{
  char *source;
  must(ctx, kg_cell_kernel_source(ctx, c->mesh->dimension, c->set.n, c->pointer, &source));
  if (!last.source || strcmp(source, last.source) != 0) {
    forget_text();
    last = (struct last){source, compiled_as("c++", source)};
  } else {
    free(source);
  }
  return last.library;
}

static double *by_text(const cells_case *c, int64_t *bad)
{
  void *const library = library_of(c);
  unsigned *const thread = dlsym(library, "threadIdx"), *const block = dlsym(library, "blockIdx");
  void *const symbol = dlsym(library, "cell_values"), *const first = dlsym(library, "first_bad");
  kernel_function *kernel;
  memcpy(&kernel, &symbol, sizeof symbol);
  assert_true(thread && block && kernel && first);
  *bad = -1;
  memcpy(first, bad, sizeof *bad);
  const size_t n = count_values(c);
  double *values = malloc((n + 1) * sizeof *values);
  assert_non_null(values);
  for (size_t i = 0; i <= n; ++i) values[i] = -77.0;
  for (*block = 0; *block < (unsigned)c->n_groups; ++*block)
    for (*thread = 0; *thread < 128; ++*thread)
      kernel(c->mesh->vertices, c->vertex, c->mesh->nodes ? c->nodes : NULL, c->points.map,
             c->mesh->element_region + c->block->first, time_of_all, values, c->scale, c->block->n,
             c->points.n_nodes, c->points.n, c->n_used, c->elliptic);
  assert_true(values[n] == -77.0);
  memcpy(bad, first, sizeof *bad);
  return values;
}

#ifdef KEDGE_WITH_CUDA

/// @param[in] made  a kg_cell_kernel if it is compiled, else a kg_point_code
static double *on_gpu(const cells_case *c, const void *made, bool compiled, int64_t *bad)
{
  op_case memory = {.ctx = ctx};
  const size_t lanes = (size_t)c->n_groups * KG_LANES, n_nodes = (size_t)c->points.n_nodes;
  const size_t n_rule =
      kg_cell_points_count(c->block->cell, 2, c->mesh->geometry, ROWS, KG_BEHIND_CORNERS);
  const double *const rule = case_upload(&memory, c->rule, n_rule, sizeof *rule);
  const kg_cell_values_args args = {
      .dimension = c->mesh->dimension,
      .n_elements = c->block->n,
      .vertices = case_upload(&memory, c->mesh->vertices,
                              (size_t)(c->mesh->dimension * c->mesh->n_vertices), sizeof(double)),
      .vertex = case_upload(&memory, c->vertex, lanes * (size_t)c->block->cell->n_vertices,
                            sizeof(int32_t)),
      .nodes = c->mesh->nodes ? case_upload(&memory, c->nodes, lanes * 2 * n_nodes, sizeof(double))
                              : NULL,
      .points =
          kg_cell_points_at(c->block->cell, 2, c->mesh->geometry, ROWS, KG_BEHIND_CORNERS, rule),
      .n_used = c->n_used,
      .elliptic = c->elliptic,
      .scale = c->scale,
      .t = time_of_all,
      .region = case_upload(&memory, c->mesh->element_region + c->block->first, (size_t)c->block->n,
                            sizeof(int32_t)),
      .values = case_output(&memory, count_values(c))};
  must(ctx, compiled ? kg_cell_kernel_run(ctx, made, &args, bad)
                     : kg_evaluate_cells(ctx, made, &args, bad));
  double *values = case_fetch(&memory, args.values);
  case_release(&memory);
  return values;
}

static double *by_interpreter(const cells_case *c, int64_t *bad)
{
  kg_program program;
  kg_point_code code;
  must(ctx, kg_functions_compile(ctx, c->set.n, c->pointer, &program));
  must(ctx, kg_point_code_of(ctx, &program, kg_evaluate_rows(ctx), &code));
  kg_point_code_set_time(&code, time_of_all);
  kg_program_free(&program);
  return on_gpu(c, &code, false, bad);
}

static double *by_kernel(const cells_case *c, int64_t *bad)
{
  kg_cell_kernel *kernel;
  if (kg_cell_kernel_create(ctx, c->mesh->dimension, c->set.n, c->pointer, &kernel) != KEDGE_OK) {
    if (strncmp(ctx->error, "NVRTC was not found", 19) != 0) fail_msg("%s", ctx->error);
    return NULL;
  }
  double *values = on_gpu(c, kernel, true, bad);
  kg_cell_kernel_free(kernel);
  return values;
}

static way *const ways_of_gpu[] = {by_interpreter, by_kernel};

#endif

/// The values of way number k, NULL: there is no such way here.
static double *values_by(int k, const cells_case *c, int64_t *bad)
{
#ifdef KEDGE_WITH_CUDA
  if (test_backend() == KEDGE_BACKEND_CUDA) return k < 2 ? ways_of_gpu[k](c, bad) : NULL;
#endif
  return k == 0 ? by_text(c, bad) : NULL;
}

enum { WAYS = 2 };

static const struct {
  const char *words;
  int geometry;
} meshes[] = {{"quads 7", 2}, {"square 5", 1}, {"quads 7", 1}, {"square 5", 4}, {"mixed 7", 3}};

enum { MESHES = sizeof meshes / sizeof *meshes };

static void assert_as_on_host(cells_case *c)
{
  double *const expected = expected_values(c, KEDGE_OK);
  for (int k = 0; k < WAYS; ++k) {
    int64_t bad;
    double *const values = values_by(k, c, &bad);
    if (!values) continue;
    assert_int_equal(bad, -1);
    for (size_t i = 0; i < count_values(c); ++i)
      if (values[i] != c->scale * expected[i])
        fail_msg("value %zu by way %d: %.17g, not %.17g", i, k, values[i], c->scale * expected[i]);
    free(values);
  }
  free(expected);
}

static void values_are_those_of_the_host_to_the_last_bit(void **state)
{
  (void)state;
  static const char *const tensor[] = {"3+x*y+region", "0.25*t*x/(1+y*y)",
                                       "4+y^2+(region == 2 ? x : -y)", "abs(x)+1"};
  for (int n = 1; n <= SET; n += n == 1 ? 2 : 1)
    for (int m = 0; m < MESHES; ++m) {
      cells_case c;
      open_cells(&c, meshes[m].words, meshes[m].geometry);
      c.elliptic = n >= 3;
      c.scale = n == SET ? 0.25 : 1.0;
      set_functions(&c, n, tensor);
      assert_as_on_host(&c);
      close_cells(&c);
    }
}

static void in_space_they_are_too(void **state)
{
  (void)state;
  static const char *const texts[] = {"3+x*y*z+region", "z/(1+x*x)-t*y", "z"};
  for (int n = 1; n <= 3; ++n) {
    kedge_mesh *cube;
    cells_case c;
    must(ctx, kg_mesh_generate(ctx, "cube 3", 1, &cube));
    open_mesh(&c, cube);
    set_functions(&c, n == 3 ? 1 : n, texts + (n == 3 ? 2 : 0));
    assert_as_on_host(&c);
    close_cells(&c);
  }
}

/// @param[in] index  that all ways have to find
static void assert_bad(const cells_case *c, int64_t index)
{
  for (int k = 0; k < WAYS; ++k) {
    int64_t bad;
    double *const values = values_by(k, c, &bad);
    if (values) assert_int_equal(bad, index);
    free(values);
  }
}

static void the_first_value_that_is_not_finite_is_found(void **state)
{
  (void)state;
  static const char *const texts[] = {"x", "sqrt(x-0.3)"};
  for (int m = 0; m < MESHES; ++m) {
    cells_case c;
    open_cells(&c, meshes[m].words, meshes[m].geometry);
    set_functions(&c, 2, texts);
    double *const expected = expected_values(&c, KEDGE_ERR_INPUT);
    int64_t smallest = 0;
    while (isfinite(expected[smallest])) ++smallest;
    assert_bad(&c, smallest);
    free(expected);
    close_cells(&c);
  }
}

/// The index of the first function at the first point where the functions are not elliptic.
static int64_t first_not_elliptic(const cells_case *c, const double *values)
{
  const int64_t n = (int64_t)c->points.n * KG_LANES;
  for (int64_t i = 0; i < c->n_groups * n; ++i) {
    const int64_t first = i / n * c->set.n * n + i % n;
    const double *const v = values + first;
    const double tensor[3] = {v[0], v[n], v[2 * n]};
    if (i % n / KG_LANES >= c->n_used) continue;
    if (!(kg_least_eigenvalue(2, tensor) >= DBL_MIN && (c->set.n < 4 || v[3 * n] >= 0.0)))
      return first;
  }
  return -1;
}

static void the_first_point_that_is_not_elliptic_is_found(void **state)
{
  (void)state;
  static const char *const sets[][SET] = {{"1", "x+0.35", "1", "0"},
                                          {"1", "0", "y-0.4", "1"},
                                          {"2", "1", "1", "region == 2 ? 0.7-x : 0"}};
  for (int i = 0; i < 3; ++i)
    for (int m = 0; m < MESHES; ++m) {
      cells_case c;
      open_cells(&c, meshes[m].words, meshes[m].geometry);
      c.elliptic = true;
      set_functions(&c, i == 1 ? 3 : 4, sets[i]);
      double *const values = expected_values(&c, KEDGE_OK);
      const int64_t first = first_not_elliptic(&c, values);
      assert_true(first >= 0);
      assert_bad(&c, first);
      free(values);
      close_cells(&c);
    }
}

static void at_corners_only_the_first_function_is_used(void **state)
{
  (void)state;
  cells_case c;
  open_cells(&c, "quads 7", 1);
  const double *const corner = c.mesh->vertices + 2 * c.vertex[kg_cell_at(3, 4, 2)];
  char pole[200], dip[200];
  snprintf(pole, sizeof pole, "1/((x-(%.17g))^2+(y-(%.17g))^2)", corner[0], corner[1]);
  snprintf(dip, sizeof dip, "(x-(%.17g))^2+(y-(%.17g))^2", corner[0], corner[1]);
  const char *const behind[] = {"x", pole}, *const first[] = {pole, "x"};
  const char *const singular[] = {dip, "0", "1"};
  set_functions(&c, 2, behind);
  assert_bad(&c, -1);
  free_functions(&c);

  set_functions(&c, 2, first);
  double *const expected = expected_values(&c, KEDGE_ERR_INPUT);
  int64_t smallest = 0;
  while (isfinite(expected[smallest])) ++smallest;
  assert_bad(&c, smallest);
  free(expected);
  free_functions(&c);

  c.elliptic = true;
  set_functions(&c, 3, singular);
  assert_bad(&c, -1);
  close_cells(&c);
}

#ifdef KEDGE_WITH_CUDA
static void nvrtc_takes_the_text(void **state)
{
  (void)state;
  kg_function f[2] = {function_of("sin(3*x)+region"), function_of("exp(y)")};
  const kg_function *const functions[] = {&f[0], &f[1]};
  char *source;
  void *image;
  must(ctx, kg_cell_kernel_source(ctx, 2, 2, functions, &source));
  const kedge_status status = kg_nvrtc_compile(ctx, source, 90, &image);
  free(source);
  for (int i = 0; i < 2; ++i) kg_expression_free(f[i].expression);
  if (status != KEDGE_OK && strncmp(ctx->error, "NVRTC was not found", 19) == 0) skip();
  must(ctx, status);
  assert_memory_equal(image, "\177ELF", 4);
  free(image);
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_the_host_to_the_last_bit),
      cmocka_unit_test(in_space_they_are_too),
      cmocka_unit_test(the_first_value_that_is_not_finite_is_found),
      cmocka_unit_test(the_first_point_that_is_not_elliptic_is_found),
      cmocka_unit_test(at_corners_only_the_first_function_is_used),
#ifdef KEDGE_WITH_CUDA
      cmocka_unit_test(nvrtc_takes_the_text),
#endif
  };
  test_skip_without_backend();
  if (test_backend() == KEDGE_BACKEND_SHADOW) return 77;  // it evaluates as the host does
  if (test_backend() == KEDGE_BACKEND_HOST && !compiles_cxx()) return 77;
  const int failures = cmocka_run_group_tests(tests, open_context, close_context);
  forget_text();
  return failures;
}
