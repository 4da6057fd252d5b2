// What the tests of assembled and of plain operators share: problem, matrices and the checks of
// products. One file, so that both are held to the same.
#include "ell_problem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "cmocka_all.h"

enum { WALL = 7, SIDE_CELLS = 12, GUARD_BYTES = 4096, GUARD = 0x5a };

/// Uniform in [-1, 1], the same sequence for the same seed.
static double random_number(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(int32_t)(*seed >> 32) / 2147483648.0;
}

static void *remember(ell_problem *p, kg_buffer buffer)
{
  assert_true(p->n_buffers < (int)(sizeof p->buffers / sizeof *p->buffers));
  p->buffers[p->n_buffers++] = buffer;
  return buffer.data;
}

static void *device_copy(ell_problem *p, const void *host, size_t count, size_t size)
{
  kg_buffer buffer;
  must(p->ctx, kg_upload(p->ctx, host, count, size, &buffer));
  return remember(p, buffer);
}

static void *device_array(ell_problem *p, size_t count, size_t size)
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

static void create_layout(ell_problem *p, enum boundary boundary, int patch_groups)
{
  bool is_dirichlet[8] = {false};
  assert_in_range(p->mesh->n_groups, 1, 8);
  for (int g = 0; g < p->mesh->n_groups; ++g)
    is_dirichlet[g] =
        boundary == ALL_DIRICHLET || (boundary == MIXED && p->mesh->groups[g].tag == WALL);
  test_layout_create(p->ctx, p->mesh, is_dirichlet, patch_groups, &p->layout);
  assert_int_equal(p->layout.count.n_free < p->mesh->n_edges, boundary != ALL_NEUMANN);
  const kg_trace_counts *count = &p->layout.count;
  const kg_trace_arrays *host = &p->layout.host;
  const size_t sides = 3 * KG_LANES * (size_t)count->n_groups, patches = (size_t)count->n_patches;
  p->batch.count = *count;
  p->batch.m = p->size.n_edge;
  p->batch.arrays = (kg_trace_arrays){
      .lanes = count->lanes,
      .side_edge = device_copy(p, host->side_edge, sides, sizeof(uint32_t)),
      .side_codes = device_copy(p, host->side_codes, sides / 3, sizeof(uint32_t)),
      .patch_edge = device_copy(p, host->patch_edge, patches + 1, sizeof(int32_t)),
      .patch_halo = device_copy(p, host->patch_halo, patches + 1, sizeof(int32_t)),
      .halo_edge = device_copy(p, host->halo_edge, (size_t)count->n_halo, sizeof(uint32_t)),
      .edge_sides = device_copy(p, host->edge_sides, 2 * (size_t)count->n_edges, sizeof(kg_side)),
  };
}

static size_t local_count(const ell_problem *p)
{
  return (size_t)p->size.n_packed * KG_LANES * (size_t)p->layout.count.n_groups;
}

static kg_local packed_at(const ell_problem *p, void *data)
{
  return kg_local_all(KG_LAYOUT_PACKED, KG_DOUBLE, p->size, &p->layout.count, data);
}

/// Random and symmetric, positive definite through its diagonal.
static void create_local(ell_problem *p)
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
static void assemble_dense(ell_problem *p)
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

size_t ell_problem_entries(const ell_problem *p)
{
  return (size_t)(p->matrix.stride * p->matrix.width);
}

/// Assemble with guard bytes behind the work memory and NaN in the lanes that hold no element.
static void assemble_ell(ell_problem *p)
{
  const kg_trace_counts *count = &p->layout.count;
  p->matrix = kg_ell_shape(p->size.n_edge, count);
  p->matrix.column = device_array(p, ell_problem_entries(p), sizeof(int32_t));
  p->matrix.value = device_array(p, ell_problem_entries(p), sizeof(double));
  double *local = malloc(local_count(p) * sizeof *local);
  assert_non_null(local);
  memcpy(local, p->local, local_count(p) * sizeof *local);
  for (int32_t e = count->n_elements; e < count->n_groups * KG_LANES; ++e)
    for (int k = 0; k < p->size.n_packed; ++k)
      local[((size_t)(e / KG_LANES) * p->size.n_packed + k) * KG_LANES + e % KG_LANES] = NAN;
  kg_ell_assemble_args args = {.batch = p->batch, .matrix = p->matrix};
  args.locals = kg_locals_of(packed_at(p, device_copy(p, local, local_count(p), sizeof *local)),
                             p->batch.arrays.side_edge);
  free(local);

  must(p->ctx, kg_ell_work_bytes(p->ctx, count, &args.work_bytes));
  unsigned char guard[GUARD_BYTES], after[GUARD_BYTES];
  memset(guard, GUARD, sizeof guard);
  args.work = device_array(p, args.work_bytes + GUARD_BYTES, 1);
  must(p->ctx, kg_copy_in(p->ctx, (char *)args.work + args.work_bytes, guard, GUARD_BYTES));
  must(p->ctx, kg_ell_assemble(p->ctx, &args));
  must(p->ctx, kg_copy_out(p->ctx, after, (char *)args.work + args.work_bytes, GUARD_BYTES));
  assert_memory_equal(after, guard, GUARD_BYTES);

  p->column = malloc(ell_problem_entries(p) * sizeof *p->column + 1);
  p->value = malloc(ell_problem_entries(p) * sizeof *p->value + 1);
  assert_true(p->column && p->value);
  must(p->ctx, kg_copy_out(p->ctx, p->column, p->matrix.column,
                           ell_problem_entries(p) * sizeof *p->column));
  must(p->ctx,
       kg_copy_out(p->ctx, p->value, p->matrix.value, ell_problem_entries(p) * sizeof *p->value));
}

void ell_problem_create(ell_problem *p, kedge_context *ctx, int n, int order,
                        enum boundary boundary)
{
  *p = (ell_problem){.ctx = ctx};
  p->size = kg_sizes_of(order);
  p->mesh = part_of_grid(p->ctx, n);
  create_layout(p, boundary, kg_patch_groups(order + 1));
  create_local(p);
  assemble_dense(p);
  assemble_ell(p);
}

void ell_problem_destroy(ell_problem *p)
{
  must(p->ctx, kg_sync(p->ctx));
  for (int i = 0; i < p->n_buffers; ++i) kg_free(p->ctx, &p->buffers[i]);
  free(p->local);
  free(p->dense);
  free(p->sum);
  free(p->column);
  free(p->value);
  test_layout_free(&p->layout);
  kedge_mesh_destroy(p->mesh);
}

double *ell_problem_vector(const ell_problem *p, bool everywhere)
{
  uint64_t seed = 99;
  double *x = malloc((size_t)p->columns * sizeof *x);
  assert_non_null(x);
  for (int64_t i = 0; i < p->columns; ++i)
    x[i] = everywhere || i < p->matrix.rows ? random_number(&seed) : 0.0;
  return x;
}

static void release_after(ell_problem *p, int kept)
{
  while (p->n_buffers > kept) kg_free(p->ctx, &p->buffers[--p->n_buffers]);
}

/// y of NaN, as long as the trace.
static ell_product product_begin(const ell_problem *p)
{
  ell_product out = {.y = malloc((size_t)p->matrix.rows * sizeof(double) + 1)};
  assert_non_null(out.y);
  for (int64_t i = 0; i < p->matrix.rows; ++i) out.y[i] = NAN;
  return out;
}

/// A sum to the state, and the stop that is there; no pass at all without a state.
static kg_pass pass_with(ell_problem *p, const pass_state *before, size_t parts)
{
  if (!before) return (kg_pass){0};
  pass_state *state = device_copy(p, before, 1, sizeof *before);
  return (kg_pass){.stop = &state->stop,
                   .sum = {device_array(p, parts, sizeof(double)), &state->dot, NULL}};
}

/// @param[in] dot  the first member of a state in device memory
static void product_end(ell_problem *p, ell_product *out, const double *y, const double *dot)
{
  const pass_state *state = (const pass_state *)dot;
  must(p->ctx, kg_copy_out(p->ctx, out->y, y, (size_t)p->matrix.rows * sizeof(double)));
  if (state) must(p->ctx, kg_copy_out(p->ctx, &out->state, state, sizeof out->state));
  must(p->ctx, kg_sync(p->ctx));
}

ell_product ell_problem_apply(ell_problem *p, const double *x, const pass_state *before)
{
  const int kept = p->n_buffers;
  ell_product out = product_begin(p);
  const kg_ell_apply_args args = {
      .matrix = p->matrix,
      .x = device_copy(p, x, (size_t)p->columns, sizeof *x),
      .y = device_copy(p, out.y, (size_t)p->matrix.rows, sizeof(double)),
      .pass = pass_with(p, before, KG_PIECES),
  };
  must(p->ctx, kg_ell_apply(p->ctx, &args));
  product_end(p, &out, args.y, args.pass.sum.total);
  release_after(p, kept);
  return out;
}

ell_product ell_problem_apply_matrix_free(ell_problem *p, const double *x, const pass_state *before)
{
  const int kept = p->n_buffers;
  const size_t m = (size_t)p->size.n_edge;
  ell_product out = product_begin(p);
  const kg_trace_apply_args args = {
      .batch = p->batch,
      .local = packed_at(p, device_copy(p, p->local, local_count(p), sizeof(double))),
      .x = device_copy(p, x, (size_t)p->columns, sizeof *x),
      .y = device_copy(p, out.y, (size_t)p->matrix.rows, sizeof(double)),
      .halo = device_array(p, (size_t)p->layout.count.n_shared * m, sizeof(double)),
      .pass = pass_with(p, before, (size_t)p->layout.count.n_patches),
  };
  must(p->ctx, kg_trace_apply(p->ctx, &args));
  product_end(p, &out, args.y, args.pass.sum.total);
  release_after(p, kept);
  return out;
}

static kg_local full_of(ell_problem *p)
{
  kg_local full = kg_local_all(KG_LAYOUT_FULL, KG_DOUBLE, p->size, &p->layout.count, NULL);
  full.data = device_array(p, kg_local_count(&full), sizeof(double));
  void *packed = device_copy(p, p->local, local_count(p), sizeof(double));
  must(p->ctx, kg_local_convert(
                   p->ctx, &(kg_local_convert_args){
                               .m = p->size.n_edge, .from = packed_at(p, packed), .to = full}));
  return full;
}

double *ell_problem_full(ell_problem *p)
{
  const int kept = p->n_buffers;
  const kg_local local = full_of(p);
  double *full = malloc(kg_local_bytes(&local));
  assert_non_null(full);
  must(p->ctx, kg_copy_out(p->ctx, full, local.data, kg_local_bytes(&local)));
  must(p->ctx, kg_sync(p->ctx));
  release_after(p, kept);
  return full;
}

ell_product ell_problem_apply_plain(ell_problem *p, const double *x, const pass_state *before)
{
  const int kept = p->n_buffers;
  ell_product out = product_begin(p);
  const kg_trace_gather_args args = {
      .batch = p->batch,
      .local = full_of(p),
      .x = device_copy(p, x, (size_t)p->columns, sizeof *x),
      .y = device_copy(p, out.y, (size_t)p->matrix.rows, sizeof(double)),
      .pass =
          pass_with(p, before, (size_t)kg_trace_gather_partials(p->size.n_edge, &p->layout.count)),
  };
  must(p->ctx, kg_trace_gather(p->ctx, &args));
  product_end(p, &out, args.y, args.pass.sum.total);
  release_after(p, kept);
  return out;
}

/// Sum of |a_ij| |x_j|.
static double row_scale(const ell_problem *p, int64_t row, const double *x)
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

double ell_problem_rounding(const ell_problem *p, int64_t row, const double *x)
{
  return rounding(2 * p->size.n_trace) * row_scale(p, row, x);
}

void ell_problem_check_dot(ell_problem *p, ell_problem_operator *apply)
{
  if (p->matrix.rows == 0) return;
  double *x = ell_problem_vector(p, false), scale = 0.0;
  const pass_state before = {.dot = NAN};
  ell_product one = apply(p, x, &before), other = ell_problem_apply_matrix_free(p, x, &before);
  for (int64_t row = 0; row < p->matrix.rows; ++row) scale += fabs(x[row]) * row_scale(p, row, x);
  const double bound = rounding(p->matrix.rows + 2 * p->size.n_trace) * scale;
  assert_true(fabs(one.state.dot - other.state.dot) <= bound);
  assert_true(one.state.dot > 0.0);
  assert_int_equal(one.state.stop, before.stop);
  free(x);
  free(one.y);
  free(other.y);
}

void ell_problem_check_repeatable(ell_problem_operator *apply)
{
  const int threads[] = {1, 1, 3};
  ell_product first = {0};
  double *first_value = NULL;
  for (int run = 0; run < 3; ++run) {
    ell_problem p;
    kedge_context *ctx = open_backend(test_backend(), threads[run]);
    ell_problem_create(&p, ctx, 257, 3, MIXED);
    double *x = ell_problem_vector(&p, false);
    const pass_state running = {0};
    ell_product result = apply(&p, x, &running);
    free(x);
    if (run == 0) {
      first = result;
      first_value = p.value;
      p.value = NULL;
    } else {
      assert_memory_equal(p.value, first_value, ell_problem_entries(&p) * sizeof *p.value);
      assert_memory_equal(result.y, first.y, (size_t)p.matrix.rows * sizeof *first.y);
      assert_memory_equal(&result.state, &first.state, sizeof first.state);
      free(result.y);
    }
    ell_problem_destroy(&p);
    kedge_context_destroy(ctx);
  }
  free(first.y);
  free(first_value);
}

void ell_problem_check_stopped(kedge_context *ctx, ell_problem_operator *apply)
{
  ell_problem p;
  ell_problem_create(&p, ctx, 33, 2, MIXED);
  double *x = ell_problem_vector(&p, true);
  const pass_state stopped = {.dot = 0.25, .stop = 1};
  ell_product result = apply(&p, x, &stopped);
  for (int64_t row = 0; row < p.matrix.rows; ++row) assert_true(isnan(result.y[row]));
  assert_memory_equal(&result.state, &stopped, sizeof stopped);
  free(x);
  free(result.y);
  ell_problem_destroy(&p);
}

void ell_problem_check_indefinite(kedge_context *ctx, ell_problem_operator *apply)
{
  ell_problem p;
  ell_problem_create(&p, ctx, 33, 2, MIXED);
  double *x = ell_problem_vector(&p, false);
  const size_t entries = ell_problem_entries(&p);
  for (size_t k = 0; k < local_count(&p); ++k) p.local[k] = -p.local[k];
  for (size_t k = 0; k < entries; ++k) p.value[k] = -p.value[k];
  must(p.ctx, kg_copy_in(p.ctx, p.matrix.value, p.value, entries * sizeof *p.value));
  const pass_state running = {0};
  ell_product result = apply(&p, x, &running);
  assert_true(result.state.dot < 0.0);
  assert_int_equal(result.state.stop, 0);
  free(x);
  free(result.y);
  ell_problem_destroy(&p);
}
