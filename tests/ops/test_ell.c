// The ELL matrix against a dense assembly from the same random local matrices, and its product
// against the dense and the matrix-free one. Meshes are parts of a distorted grid: the first n of
// its triangles.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "cmocka_all.h"
#include "core/context.h"
#include "ops/ell.h"
#include "ops/trace_apply.h"

enum boundary { ALL_NEUMANN, MIXED, ALL_DIRICHLET, N_BOUNDARIES };
enum { WALL = 7, SIDE_CELLS = 12, GUARD_BYTES = 4096, GUARD = 0x5a };

static const int awkward_sizes[] = {1, 2, 31, 32, 33, 257};
enum { N_SIZES = sizeof awkward_sizes / sizeof *awkward_sizes };

/// One assembled problem: host copies for the checks, device copies for the operators.
typedef struct problem {
  kedge_context *ctx;
  kedge_mesh *mesh;
  kg_trace_layout layout;
  kg_sizes size;
  kg_batch batch;       ///< device arrays
  double *local;        ///< host, 0 in empty lanes
  double *dense, *sum;  ///< [rows][columns] the matrix; sums of |entries| that were added to each
  int64_t columns;
  kg_ell_matrix matrix;  ///< device
  int32_t *column;       ///< host copies of the matrix
  double *value;
  kg_buffer buffers[24];
  int n_buffers;
} problem;

static void must(kedge_context *ctx, kedge_status status)
{
  if (status != KEDGE_OK) fail_msg("%s", kedge_context_error(ctx));
}

/// Uniform in [-1, 1], the same sequence for the same seed.
static double random_number(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(int32_t)(*seed >> 32) / 2147483648.0;
}

static void *remember(problem *p, kg_buffer buffer)
{
  assert_true(p->n_buffers < (int)(sizeof p->buffers / sizeof *p->buffers));
  p->buffers[p->n_buffers++] = buffer;
  return buffer.data;
}

static void *device_copy(problem *p, const void *host, size_t count, size_t size)
{
  kg_buffer buffer;
  must(p->ctx, kg_upload(p->ctx, host, count, size, &buffer));
  return remember(p, buffer);
}

static void *device_array(problem *p, size_t count, size_t size)
{
  kg_buffer buffer;
  must(p->ctx, kg_alloc(p->ctx, count, size, &buffer));
  return remember(p, buffer);
}

/// The first n triangles of the grid, row by row; sides at the left and at the bottom are WALL.
static kedge_mesh *part_of_grid(kedge_context *ctx, int n)
{
  enum { V = SIDE_CELLS + 1 };
  double vertices[V * V][2];
  int32_t triangles[2 * SIDE_CELLS * SIDE_CELLS][3], lines[2 * SIDE_CELLS][2];
  int32_t tags[2 * SIDE_CELLS];
  assert_in_range(n, 1, 2 * SIDE_CELLS * SIDE_CELLS);
  uint64_t seed = (uint64_t)n;
  for (int v = 0; v < V * V; ++v) {
    vertices[v][0] = v % V + 0.2 * random_number(&seed);
    vertices[v][1] = v / V + 0.2 * random_number(&seed);
  }
  int n_lines = 0;
  for (int t = 0; t < n; ++t) {
    const int cell = t / 2, x = cell % SIDE_CELLS, y = cell / SIDE_CELLS, v = y * V + x;
    const int32_t lower[3] = {v, v + 1, v + V + 1}, upper[3] = {v, v + V + 1, v + V};
    memcpy(triangles[t], t % 2 ? upper : lower, sizeof lower);
    const bool bottom = y == 0 && t % 2 == 0, left = x == 0 && t % 2 == 1;
    if (!bottom && !left) continue;
    lines[n_lines][0] = v;
    lines[n_lines][1] = bottom ? v + 1 : v + V;
    tags[n_lines++] = WALL;
  }
  const kedge_mesh_arrays arrays = {.n_vertices = V * V,
                                    .vertices = vertices[0],
                                    .n_triangles = n,
                                    .triangles = triangles[0],
                                    .n_lines = n_lines,
                                    .lines = lines[0],
                                    .line_tags = tags};
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_create(ctx, &arrays, &mesh));
  return mesh;
}

static void create_layout(problem *p, enum boundary boundary, int patch_groups)
{
  bool is_dirichlet[8] = {false};
  assert_in_range(p->mesh->n_groups, 1, 8);
  for (int g = 0; g < p->mesh->n_groups; ++g)
    is_dirichlet[g] =
        boundary == ALL_DIRICHLET || (boundary == MIXED && p->mesh->groups[g].tag == WALL);
  must(p->ctx, kg_trace_layout_create(p->ctx, p->mesh, is_dirichlet, patch_groups, &p->layout));
  const kg_trace_counts *count = &p->layout.count;
  const kg_trace_arrays *host = &p->layout.host;
  const size_t sides = 3 * KG_LANES * (size_t)count->n_groups, patches = (size_t)count->n_patches;
  p->batch.count = *count;
  p->batch.reference.size = p->size;
  p->batch.arrays = (kg_trace_arrays){
      .side_edge = device_copy(p, host->side_edge, sides, sizeof(uint32_t)),
      .side_local = device_copy(p, host->side_local, sides, sizeof(uint16_t)),
      .patch_edge = device_copy(p, host->patch_edge, patches + 1, sizeof(int32_t)),
      .patch_halo = device_copy(p, host->patch_halo, patches + 1, sizeof(int32_t)),
      .halo_edge = device_copy(p, host->halo_edge, (size_t)count->n_halo, sizeof(int32_t)),
      .local_sides =
          device_copy(p, host->local_sides, 2 * ((size_t)count->n_interior + (size_t)count->n_halo),
                      sizeof(uint16_t)),
      .edge_entries = device_copy(
          p, host->edge_entries, 2 * (size_t)(count->n_shared + count->n_neumann), sizeof(int32_t)),
      .edge_sides = device_copy(p, host->edge_sides, 2 * (size_t)count->n_edges, sizeof(int32_t)),
  };
}

static size_t local_count(const problem *p)
{
  return (size_t)p->size.n_packed * KG_LANES * (size_t)p->layout.count.n_groups;
}

/// Random and symmetric, positive definite through its diagonal.
static void create_local(problem *p)
{
  uint64_t seed = 1234u + (uint64_t)p->size.order;
  p->local = calloc(local_count(p), sizeof *p->local);
  assert_non_null(p->local);
  for (int32_t e = 0; e < p->layout.count.n_elements; ++e)
    for (int a = 0, k = 0; a < p->size.n_trace; ++a)
      for (int b = 0; b <= a; ++b, ++k) {
        double *entry = p->local + ((size_t)(e / KG_LANES) * p->size.n_packed + k) * KG_LANES;
        entry[e % KG_LANES] = random_number(&seed) + (a == b ? p->size.n_trace + 1.0 : 0.0);
      }
}

/// Element by element in ascending order, which is also the order of the ELL matrix' sums.
static void assemble_dense(problem *p)
{
  const kg_trace_counts *count = &p->layout.count;
  const int m = p->size.n_edge, n = p->size.n_trace;
  p->columns = (int64_t)count->n_edges * m;
  p->dense = calloc((size_t)(p->columns * p->columns), sizeof *p->dense);
  p->sum = calloc((size_t)(p->columns * p->columns), sizeof *p->sum);
  assert_true(p->dense && p->sum);
  for (int32_t e = 0; e < count->n_elements; ++e) {
    int64_t global[3 * (KEDGE_ORDER_MAX + 1)];
    for (int a = 0; a < n; ++a) {
      const size_t at = ((size_t)(e / KG_LANES) * 3 + a / m) * KG_LANES + e % KG_LANES;
      global[a] = (int64_t)(p->layout.host.side_edge[at] >> 1) * m + a % m;
    }
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) {
        const int k = a >= b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a;
        const double entry =
            p->local[((size_t)(e / KG_LANES) * p->size.n_packed + k) * KG_LANES + e % KG_LANES];
        p->dense[global[a] * p->columns + global[b]] += entry;
        p->sum[global[a] * p->columns + global[b]] += fabs(entry);
      }
  }
}

static size_t entries(const problem *p)
{
  return (size_t)(p->matrix.stride * p->matrix.width);
}

/// Assemble with guard bytes behind the work memory and NaN in the lanes that hold no element.
static void assemble_ell(problem *p)
{
  const kg_trace_counts *count = &p->layout.count;
  p->matrix = kg_ell_shape(p->size, count);
  p->matrix.column = device_array(p, entries(p), sizeof(int32_t));
  p->matrix.value = device_array(p, entries(p), sizeof(double));
  double *local = malloc(local_count(p) * sizeof *local);
  assert_non_null(local);
  memcpy(local, p->local, local_count(p) * sizeof *local);
  for (int32_t e = count->n_elements; e < count->n_groups * KG_LANES; ++e)
    for (int k = 0; k < p->size.n_packed; ++k)
      local[((size_t)(e / KG_LANES) * p->size.n_packed + k) * KG_LANES + e % KG_LANES] = NAN;
  kg_ell_assemble_args args = {.batch = p->batch, .matrix = p->matrix};
  args.local = device_copy(p, local, local_count(p), sizeof *local);
  free(local);

  must(p->ctx, kg_ell_work_bytes(p->ctx, p->size, count, &args.work_bytes));
  unsigned char guard[GUARD_BYTES], after[GUARD_BYTES];
  memset(guard, GUARD, sizeof guard);
  args.work = device_array(p, args.work_bytes + GUARD_BYTES, 1);
  must(p->ctx, kg_copy_in(p->ctx, (char *)args.work + args.work_bytes, guard, GUARD_BYTES));
  must(p->ctx, kg_ell_assemble(p->ctx, &args));
  must(p->ctx, kg_copy_out(p->ctx, after, (char *)args.work + args.work_bytes, GUARD_BYTES));
  assert_memory_equal(after, guard, GUARD_BYTES);

  p->column = malloc(entries(p) * sizeof *p->column + 1);
  p->value = malloc(entries(p) * sizeof *p->value + 1);
  assert_true(p->column && p->value);
  must(p->ctx, kg_copy_out(p->ctx, p->column, p->matrix.column, entries(p) * sizeof *p->column));
  must(p->ctx, kg_copy_out(p->ctx, p->value, p->matrix.value, entries(p) * sizeof *p->value));
}

static void create_problem(problem *p, int n, int order, enum boundary boundary, int threads)
{
  *p = (problem){0};
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = test_backend();
  options.threads = threads;
  options.bind_threads = false;
  must(NULL, kedge_context_create(&options, &p->ctx));
  p->size = kg_sizes_of(order);
  p->mesh = part_of_grid(p->ctx, n);
  create_layout(p, boundary, kg_patch_groups(order));
  create_local(p);
  assemble_dense(p);
  assemble_ell(p);
}

static void destroy_problem(problem *p)
{
  must(p->ctx, kg_sync(p->ctx));
  for (int i = 0; i < p->n_buffers; ++i) kg_free(p->ctx, &p->buffers[i]);
  free(p->local);
  free(p->dense);
  free(p->sum);
  free(p->column);
  free(p->value);
  kg_trace_layout_free(&p->layout);
  kedge_mesh_destroy(p->mesh);
  kedge_context_destroy(p->ctx);
}

/// Call `check` for every size, order 1..5 and mix of boundary conditions.
static void for_all_problems(void (*check)(problem *))
{
  for (int s = 0; s < N_SIZES; ++s)
    for (int order = 1; order <= 5; ++order)
      for (int boundary = 0; boundary < N_BOUNDARIES; ++boundary) {
        problem p;
        create_problem(&p, awkward_sizes[s], order, (enum boundary)boundary, 2);
        check(&p);
        destroy_problem(&p);
      }
}

/// A vector and its product.
typedef struct product {
  double *x, *y;  ///< host: [columns], [rows]
  kg_cg_state state;
} product;

/// Zero on Dirichlet edges unless `everywhere`.
static double *random_vector(const problem *p, bool everywhere)
{
  uint64_t seed = 99;
  double *x = malloc((size_t)p->columns * sizeof *x);
  assert_non_null(x);
  for (int64_t i = 0; i < p->columns; ++i)
    x[i] = everywhere || i < p->matrix.rows ? random_number(&seed) : 0.0;
  return x;
}

static product apply_ell(problem *p, const double *x, const kg_cg_state *before)
{
  const int kept = p->n_buffers;
  product out = {.y = malloc((size_t)p->matrix.rows * sizeof(double) + 1)};
  assert_non_null(out.y);
  kg_ell_apply_args args = {
      .matrix = p->matrix,
      .x = device_copy(p, x, (size_t)p->columns, sizeof *x),
      .y = device_array(p, (size_t)p->matrix.rows, sizeof(double)),
      .partial = device_array(p, KG_ELL_PARTIALS, sizeof(double)),
      .state = before ? device_copy(p, before, 1, sizeof *before) : NULL,
  };
  must(p->ctx, kg_zero(p->ctx, args.y, (size_t)p->matrix.rows * sizeof(double)));
  must(p->ctx, kg_ell_apply(p->ctx, &args));
  must(p->ctx, kg_copy_out(p->ctx, out.y, args.y, (size_t)p->matrix.rows * sizeof(double)));
  if (before) must(p->ctx, kg_copy_out(p->ctx, &out.state, args.state, sizeof out.state));
  while (p->n_buffers > kept) kg_free(p->ctx, &p->buffers[--p->n_buffers]);
  return out;
}

static product apply_matrix_free(problem *p, const double *x, const kg_cg_state *before)
{
  const int kept = p->n_buffers;
  const size_t m = (size_t)p->size.n_edge;
  product out = {.y = malloc((size_t)p->matrix.rows * sizeof(double) + 1)};
  assert_non_null(out.y);
  kg_trace_apply_args args = {
      .batch = p->batch,
      .local = device_copy(p, p->local, local_count(p), sizeof(double)),
      .x = device_copy(p, x, (size_t)p->columns, sizeof *x),
      .y = device_array(p, (size_t)p->matrix.rows, sizeof(double)),
      .halo = device_array(p, (size_t)p->layout.count.n_halo * m, sizeof(double)),
      .partial = device_array(p, (size_t)p->layout.count.n_patches, sizeof(double)),
      .state = device_copy(p, before, 1, sizeof *before),
  };
  must(p->ctx, kg_trace_apply(p->ctx, &args));
  must(p->ctx, kg_copy_out(p->ctx, out.y, args.y, (size_t)p->matrix.rows * sizeof(double)));
  must(p->ctx, kg_copy_out(p->ctx, &out.state, args.state, sizeof out.state));
  while (p->n_buffers > kept) kg_free(p->ctx, &p->buffers[--p->n_buffers]);
  return out;
}

/// Sum of |a_ij| |x_j|: what the rounding errors of a row's product are measured by.
static double row_scale(const problem *p, int64_t row, const double *x)
{
  double sum = 0.0;
  for (int64_t j = 0; j < p->columns; ++j) sum += p->sum[row * p->columns + j] * fabs(x[j]);
  return sum;
}

/// Two sums of the same `terms` products differ by no more than this times the sum of their sizes.
static double rounding(int64_t terms)
{
  return 2.0 * (double)terms * DBL_EPSILON;
}

static void check_entries(problem *p)
{
  const int64_t rows = p->matrix.rows;
  char *seen = malloc((size_t)p->columns);
  assert_non_null(seen);
  for (int64_t row = 0; row < rows; ++row) {
    memset(seen, 0, (size_t)p->columns);
    for (int k = 0; k < p->matrix.width; ++k) {
      const int32_t column = p->column[k * p->matrix.stride + row];
      const double value = p->value[k * p->matrix.stride + row];
      if (column < 0) {
        assert_int_equal(column, -1);
        assert_true(value == 0.0);
        continue;
      }
      assert_true(column < p->columns && !seen[column]);
      seen[column] = 1;
      assert_true(value == p->dense[row * p->columns + column]);
    }
    for (int64_t j = 0; j < p->columns; ++j)
      assert_true(seen[j] || p->dense[row * p->columns + j] == 0.0);
  }
  free(seen);
}

static void entries_are_those_of_a_dense_assembly_bit_for_bit(void **state)
{
  (void)state;
  for_all_problems(check_entries);
}

static void check_sentinels(problem *p)
{
  const int m = p->size.n_edge;
  for (int64_t row = 0; row < p->matrix.stride; ++row) {
    const bool exists = row < p->matrix.rows;
    const bool boundary = exists && p->layout.host.edge_sides[2 * (row / m) + 1] < 0;
    const int present = !exists ? 0 : boundary ? 3 * m : 5 * m;
    for (int k = 0; k < p->matrix.width; ++k)
      assert_int_equal(p->column[k * p->matrix.stride + row] >= 0, k < present);
  }
}

static void rows_have_five_blocks_on_interior_and_three_on_boundary_edges(void **state)
{
  (void)state;
  for_all_problems(check_sentinels);
}

static void check_block_order(problem *p)
{
  const int m = p->size.n_edge;
  const uint32_t *side_edge = p->layout.host.side_edge;
  for (int64_t row = 0; row < p->matrix.rows; row += m) {
    const int32_t *sides = p->layout.host.edge_sides + 2 * (row / m);
    assert_int_equal(p->column[row], row);
    int q = 1;
    for (int s = 0; s < 2 && sides[s] >= 0; ++s)
      for (int l = 0; l < 3; ++l) {
        if (l == sides[s] % 3) continue;
        const int32_t e = sides[s] / 3;
        const size_t at = ((size_t)(e / KG_LANES) * 3 + (size_t)l) * KG_LANES + e % KG_LANES;
        assert_int_equal(p->column[(q++ * m) * p->matrix.stride + row], (side_edge[at] >> 1) * m);
      }
  }
}

static void blocks_are_the_own_edge_then_those_of_the_lower_element(void **state)
{
  (void)state;
  for_all_problems(check_block_order);
}

static void check_products(problem *p)
{
  double *x = random_vector(p, true);
  const kg_cg_state running = {.stop = KG_CG_RUNNING};
  product ell = apply_ell(p, x, NULL), free_of_matrix = apply_matrix_free(p, x, &running);
  const int64_t terms = 2 * p->size.n_trace;
  for (int64_t row = 0; row < p->matrix.rows; ++row) {
    double exact = 0.0;
    for (int64_t j = 0; j < p->columns; ++j) exact += p->dense[row * p->columns + j] * x[j];
    const double bound = rounding(terms) * row_scale(p, row, x);
    assert_true(fabs(ell.y[row] - exact) <= bound);
    assert_true(fabs(ell.y[row] - free_of_matrix.y[row]) <= bound);
  }
  free(x);
  free(ell.y);
  free(free_of_matrix.y);
}

static void product_is_that_of_the_dense_and_of_the_matrix_free_operator(void **state)
{
  (void)state;
  for_all_problems(check_products);
}

static void check_dot(problem *p)
{
  if (p->matrix.rows == 0) return;
  double *x = random_vector(p, false);
  const kg_cg_state before = {.p_ap = NAN, .rz = 3.0, .iterations = 5, .stop = KG_CG_RUNNING};
  product ell = apply_ell(p, x, &before), free_of_matrix = apply_matrix_free(p, x, &before);
  double scale = 0.0;
  for (int64_t row = 0; row < p->matrix.rows; ++row) scale += fabs(x[row]) * row_scale(p, row, x);
  const double bound = rounding(p->matrix.rows + 2 * p->size.n_trace) * scale;
  assert_true(fabs(ell.state.p_ap - free_of_matrix.state.p_ap) <= bound);
  assert_true(ell.state.p_ap > 0.0);
  assert_int_equal(ell.state.stop, KG_CG_RUNNING);
  assert_int_equal(ell.state.iterations, 5);
  assert_true(ell.state.rz == 3.0);
  free(x);
  free(ell.y);
  free(free_of_matrix.y);
}

static void p_ap_is_that_of_the_matrix_free_operator(void **state)
{
  (void)state;
  for_all_problems(check_dot);
}

static void results_do_not_depend_on_run_or_threads(void **state)
{
  (void)state;
  const int threads[] = {1, 1, 3};
  kg_cg_state first_state = {0};
  double *first_y = NULL, *first_value = NULL;
  for (int run = 0; run < 3; ++run) {
    problem p;
    create_problem(&p, 257, 3, MIXED, threads[run]);
    double *x = random_vector(&p, false);
    const kg_cg_state running = {.stop = KG_CG_RUNNING};
    product result = apply_ell(&p, x, &running);
    free(x);
    if (run == 0) {
      first_state = result.state;
      first_y = result.y;
      first_value = p.value;
      p.value = NULL;
    } else {
      assert_memory_equal(p.value, first_value, entries(&p) * sizeof *p.value);
      assert_memory_equal(result.y, first_y, (size_t)p.matrix.rows * sizeof *first_y);
      assert_memory_equal(&result.state, &first_state, sizeof first_state);
      free(result.y);
    }
    destroy_problem(&p);
  }
  free(first_y);
  free(first_value);
}

static void nothing_happens_after_a_stop(void **state)
{
  (void)state;
  problem p;
  create_problem(&p, 33, 2, MIXED, 2);
  double *x = random_vector(&p, true);
  const kg_cg_state stopped = {.p_ap = 0.25, .stop = KG_CG_CONVERGED};
  product result = apply_ell(&p, x, &stopped);
  for (int64_t row = 0; row < p.matrix.rows; ++row) assert_true(result.y[row] == 0.0);
  assert_memory_equal(&result.state, &stopped, sizeof stopped);
  free(x);
  free(result.y);
  destroy_problem(&p);
}

static void an_indefinite_matrix_stops_the_iteration(void **state)
{
  (void)state;
  problem p;
  create_problem(&p, 33, 2, MIXED, 2);
  double *x = random_vector(&p, false);
  for (size_t k = 0; k < entries(&p); ++k) p.value[k] = -p.value[k];
  must(p.ctx, kg_copy_in(p.ctx, p.matrix.value, p.value, entries(&p) * sizeof *p.value));
  const kg_cg_state running = {.stop = KG_CG_RUNNING};
  product result = apply_ell(&p, x, &running);
  assert_true(result.state.p_ap < 0.0);
  assert_int_equal(result.state.stop, KG_CG_INDEFINITE);
  free(x);
  free(result.y);
  destroy_problem(&p);
}

static void a_nan_stops_the_iteration_and_reaches_its_neighbours_only(void **state)
{
  (void)state;
  problem p;
  create_problem(&p, 33, 2, ALL_NEUMANN, 2);
  double *x = random_vector(&p, true);
  x[0] = NAN;  // the word that missing entries load
  const kg_cg_state running = {.stop = KG_CG_RUNNING};
  product result = apply_ell(&p, x, &running);
  assert_int_equal(result.state.stop, KG_CG_NOT_FINITE);
  for (int64_t row = 0; row < p.matrix.rows; ++row)
    assert_int_equal(isnan(result.y[row]), p.dense[row * p.columns] != 0.0);
  free(x);
  free(result.y);
  destroy_problem(&p);
}

static void too_little_work_memory_is_refused(void **state)
{
  (void)state;
  problem p;
  create_problem(&p, 33, 2, MIXED, 2);
  kg_ell_assemble_args args = {.batch = p.batch, .matrix = p.matrix};
  size_t needed;
  must(p.ctx, kg_ell_work_bytes(p.ctx, p.size, &p.layout.count, &needed));
  args.work_bytes = needed - 1;
  assert_int_equal(kg_ell_assemble(p.ctx, &args), KEDGE_ERR_INTERNAL);
  char expected[128];
  snprintf(expected, sizeof expected, "the ELL assembly got %zu bytes of work memory and needs %zu",
           needed - 1, needed);
  assert_non_null(strstr(kedge_context_error(p.ctx), expected));
  destroy_problem(&p);
}

static void a_matrix_of_another_shape_is_refused(void **state)
{
  (void)state;
  problem p;
  create_problem(&p, 33, 2, MIXED, 2);
  kg_ell_assemble_args args = {.batch = p.batch, .matrix = p.matrix};
  args.matrix.rows -= 1;
  assert_int_equal(kg_ell_assemble(p.ctx, &args), KEDGE_ERR_INTERNAL);
  char expected[128];
  snprintf(expected, sizeof expected, "the ELL matrix is %lld x 15 where the trace needs %lld x 15",
           (long long)p.matrix.rows - 1, (long long)p.matrix.rows);
  assert_non_null(strstr(kedge_context_error(p.ctx), expected));
  destroy_problem(&p);
}

static void columns_beyond_32_bits_are_refused(void **state)
{
  (void)state;
  problem p;
  create_problem(&p, 1, 1, MIXED, 1);
  kg_ell_assemble_args args = {.batch = p.batch};
  args.batch.count.n_edges = args.batch.count.n_free = INT32_MAX / 2;
  args.matrix = kg_ell_shape(p.size, &args.batch.count);
  assert_int_equal(kg_ell_assemble(p.ctx, &args), KEDGE_ERR_INTERNAL);  // the work memory is next
  args.batch.count.n_edges += 1;
  assert_int_equal(kg_ell_assemble(p.ctx, &args), KEDGE_ERR_UNSUPPORTED);
  assert_string_equal(kedge_context_error(p.ctx),
                      "the ELL matrix numbers its columns with 32 bits, too few for 2147483648 "
                      "trace unknowns: use the matrix-free operator");
  destroy_problem(&p);
}

static void work_memory_is_known_for_any_counts(void **state)
{
  (void)state;
  problem p;
  create_problem(&p, 1, 1, MIXED, 1);
  const int32_t elements[] = {0, 1, 1000, INT32_MAX / 3};
  size_t before = 0, bytes;
  for (size_t i = 0; i < sizeof elements / sizeof *elements; ++i) {
    const kg_trace_counts count = {.n_elements = elements[i], .n_edges = elements[i] / 2 * 3};
    must(p.ctx, kg_ell_work_bytes(p.ctx, p.size, &count, &bytes));
    assert_true(bytes >= before && bytes % KG_ALIGNMENT == 0);
    assert_true(bytes >= 3 * (size_t)elements[i] * sizeof(int32_t));
    before = bytes;
  }
  destroy_problem(&p);
}

/// Where rows fill whole lines, the priced bytes are the sizes of the arrays.
static void check_costs(problem *p)
{
  if (p->matrix.rows != p->matrix.stride) return;
  const size_t arrays = entries(p) * (sizeof(int32_t) + sizeof(double)) +
                        (size_t)(p->columns + p->matrix.rows) * sizeof(double);
  assert_true(kg_ell_apply_cost(p->size, &p->layout.count).bytes == (double)arrays);
  const double floor = (double)(p->layout.count.n_elements * p->size.n_packed) * sizeof(double) +
                       (double)entries(p) * (sizeof(int32_t) + sizeof(double));
  assert_true(kg_ell_assemble_cost(p->size, &p->layout.count).bytes > floor);
}

static void an_application_costs_its_arrays_once(void **state)
{
  (void)state;
  for_all_problems(check_costs);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entries_are_those_of_a_dense_assembly_bit_for_bit),
      cmocka_unit_test(rows_have_five_blocks_on_interior_and_three_on_boundary_edges),
      cmocka_unit_test(blocks_are_the_own_edge_then_those_of_the_lower_element),
      cmocka_unit_test(product_is_that_of_the_dense_and_of_the_matrix_free_operator),
      cmocka_unit_test(p_ap_is_that_of_the_matrix_free_operator),
      cmocka_unit_test(results_do_not_depend_on_run_or_threads),
      cmocka_unit_test(nothing_happens_after_a_stop),
      cmocka_unit_test(an_indefinite_matrix_stops_the_iteration),
      cmocka_unit_test(a_nan_stops_the_iteration_and_reaches_its_neighbours_only),
      cmocka_unit_test(too_little_work_memory_is_refused),
      cmocka_unit_test(a_matrix_of_another_shape_is_refused),
      cmocka_unit_test(columns_beyond_32_bits_are_refused),
      cmocka_unit_test(work_memory_is_known_for_any_counts),
      cmocka_unit_test(an_application_costs_its_arrays_once),
  };
  return cmocka_run_group_tests_name("ops.ell", tests, NULL, NULL);
}
