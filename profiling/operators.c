// operators: every operator of a solve on one backend: median time, share of its floor, agreement with the host.
//
//   operators [--backend host|cuda] [--orders 1-9] [--mesh "square 1000" | FILE.msh] [--samples 21]
//             [--no-check] > operators.json
//
// One JSON object a line: first the machine's roofs, then one for each order and operator. The floor is the larger
// of bytes / read bandwidth and flops / rate, with the operator's own cost formula (src/ops/*.c) and the
// roofs measured in the same run (profiling/METRICS.md).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "ops/cg_vectors.h"
#include "ops/edge_sum.h"
#include "ops/ell.h"
#include "ops/load_vectors.h"
#include "ops/local_matrices.h"
#include "ops/local_solve.h"
#include "ops/postprocess.h"
#include "ops/trace_apply.h"
#include "roofs.h"
#include "solver/pipeline.h"

typedef struct settings {
  kedge_backend backend;
  int first_order, last_order, samples;
  const char *mesh;
  bool check;
} settings;

static void die(kedge_context *ctx, kedge_status status)
{
  fprintf(stderr, "operators: %s: %s\n", kedge_status_text(status), kedge_context_error(ctx));
  exit(1);
}

#define TRY(ctx, call)                              \
  do {                                              \
    const kedge_status st_ = (call);                \
    if (st_ != KEDGE_OK) die((ctx), st_);           \
  } while (0)

/// All arrays of a solve at once on one backend, and the arguments of its operators.
typedef struct bench {
  kg_pipeline p;
  kedge_problem *problem;
  kedge_solution solution;  ///< takes the report of the stages
  kg_buffer x, y, ell_partial;
  kg_local_matrices_args local_matrices;
  kg_edge_sum_args right_hand_side, diagonal;
  kg_trace_apply_args apply;
  kg_ell_assemble_args assemble;
  kg_ell_apply_args ell;
  kg_cg_vectors_args vectors;
  kg_local_solve_args local_solve;
  kg_postprocess_args postprocess;
} bench;

static double random_value(uint64_t i)
{
  uint64_t h = (i + 1) * 0x9E3779B97F4A7C15u;
  h = (h ^ (h >> 31)) * 0xBF58476D1CE4E5B9u;
  return (double)((h ^ (h >> 29)) >> 11) / 9007199254740992.0 - 0.5;
}

static void set(bench *b, const char *section, const char *key, const char *value)
{
  TRY(b->p.ctx, kedge_problem_set(b->problem, section, key, value));
}

static void fill_arguments(bench *b)
{
  const kg_buffer *a = b->p.buffers;
  const kg_sizes z = b->p.shape.size;
  kg_ell_matrix matrix = kg_ell_shape(z, &b->p.shape.count);
  matrix.column = a[KG_ARRAY_ELL_COLUMN].data;
  matrix.value = a[KG_ARRAY_ELL_VALUE].data;
  double *local = a[KG_ARRAY_LOCAL].data, *load = a[KG_ARRAY_LOAD].data;
  double *condensed = a[KG_ARRAY_CONDENSED].data, *partial = a[KG_ARRAY_OPERATOR_PARTIAL].data;
  b->local_matrices = (kg_local_matrices_args){b->p.batch, b->p.material, load, local, condensed};
  b->right_hand_side = (kg_edge_sum_args){b->p.batch, condensed, z.n_trace, false,
                                          a[KG_ARRAY_RIGHT_HAND_SIDE].data};
  b->diagonal =
      (kg_edge_sum_args){b->p.batch, local, z.n_packed, true, a[KG_ARRAY_INVERSE_DIAGONAL].data};
  b->apply = (kg_trace_apply_args){b->p.batch, local, b->x.data, b->y.data, a[KG_ARRAY_HALO].data,
                                   partial, NULL};
  b->assemble = (kg_ell_assemble_args){b->p.batch, local, matrix, a[KG_ARRAY_ELL_WORK].data,
                                       b->p.shape.ell_work_bytes};
  b->ell = (kg_ell_apply_args){matrix, b->x.data, b->y.data, b->ell_partial.data, NULL};
  b->vectors = (kg_cg_vectors_args){(int64_t)b->p.shape.count.n_free * z.n_edge,
                                    a[KG_ARRAY_INVERSE_DIAGONAL].data,
                                    a[KG_ARRAY_RIGHT_HAND_SIDE].data,
                                    a[KG_ARRAY_TRACE].data,
                                    a[KG_ARRAY_RESIDUAL].data,
                                    a[KG_ARRAY_DIRECTION].data,
                                    a[KG_ARRAY_PRODUCT].data,
                                    a[KG_ARRAY_VECTOR_PARTIAL].data,
                                    a[KG_ARRAY_CG_STATE].data};
  b->local_solve = (kg_local_solve_args){b->p.batch, b->p.material, 0, b->p.shape.chunk_groups,
                                         b->x.data, load, a[KG_ARRAY_U].data, a[KG_ARRAY_Q].data};
  b->postprocess =
      (kg_postprocess_args){b->p.batch, 0, b->p.shape.chunk_groups, a[KG_ARRAY_U].data,
                            a[KG_ARRAY_Q].data, a[KG_ARRAY_U_STAR].data, a[KG_ARRAY_INDICATOR].data};
}

/// Vectors of the conjugate gradients that stay bounded however often they are updated.
static void fill_vectors(bench *b, const double *x)
{
  kedge_context *ctx = b->p.ctx;
  const size_t n = (size_t)b->vectors.n * sizeof(double);
  const kg_array arrays[] = {KG_ARRAY_TRACE, KG_ARRAY_RESIDUAL, KG_ARRAY_DIRECTION, KG_ARRAY_PRODUCT};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i)
    TRY(ctx, kg_copy_in(ctx, b->p.buffers[arrays[i]].data, x, n));
  const kg_cg_state state = {.p_ap = 1e6, .rz = 1.0, .rz_next = 0.5, .max_iterations = INT64_MAX};
  TRY(ctx, kg_copy_in(ctx, b->vectors.state, &state, sizeof state));
}

static void open_bench(bench *b, kedge_context *ctx, const kedge_mesh *mesh, int order)
{
  *b = (bench){.p = {.ctx = ctx, .mesh = mesh}};
  TRY(ctx, kedge_problem_create(ctx, &b->problem));
  char text[16];
  snprintf(text, sizeof text, "%d", order);
  set(b, "space", "order", text);
  set(b, "equation", "reaction", "1");
  set(b, "equation", "source", "sin(3*x)*y");
  set(b, "boundary default", "type", "dirichlet");
  set(b, "boundary default", "value", "0");
  b->p.problem = b->problem;
  b->p.solution = &b->solution;
  TRY(ctx, kg_pipeline_prepare(&b->p));
  // ELL beside matrix-free: allocate the arrays of both.
  kg_shape ell = b->p.shape;
  ell.operator_kind = KEDGE_OPERATOR_ELL;
  for (kedge_stage stage = KEDGE_STAGE_TRANSFER; stage <= KEDGE_STAGE_POSTPROCESS; ++stage) {
    TRY(ctx, kg_stage_begin(&b->p, stage));
    TRY(ctx, kg_stage_end(&b->p, stage == KEDGE_STAGE_TRANSFER ? kg_stage_transfer(&b->p) : KEDGE_OK));
    TRY(ctx, kg_arrays_enter(ctx, stage, &ell, b->p.buffers));
  }
  const size_t n = (size_t)b->p.shape.count.n_edges * (size_t)b->p.shape.size.n_edge;
  double *x;
  TRY(ctx, kg_host_alloc(ctx, n, sizeof *x, &x));
  for (size_t i = 0; i < n; ++i) x[i] = random_value(i);
  TRY(ctx, kg_upload(ctx, x, n, sizeof *x, &b->x));
  TRY(ctx, kg_alloc(ctx, n, sizeof *x, &b->y));
  TRY(ctx, kg_alloc(ctx, KG_ELL_PARTIALS, sizeof(double), &b->ell_partial));
  fill_arguments(b);
  fill_vectors(b, x);
  free(x);
}

static void close_bench(bench *b)
{
  kg_free(b->p.ctx, &b->x);
  kg_free(b->p.ctx, &b->y);
  kg_free(b->p.ctx, &b->ell_partial);
  kg_pipeline_free(&b->p);
  kedge_problem_destroy(b->problem);
}

/// An operator of the bench: call, cost, and what it writes.
typedef struct operation {
  const char *name;
  kedge_status (*call)(bench *b);
  kg_cost (*cost)(const bench *b);
  kg_array result;  ///< compared with the host's; KG_ARRAY_COUNT: b->y
  size_t (*count)(const bench *b);
} operation;

static kedge_status call_local_matrices(bench *b) { return kg_local_matrices(b->p.ctx, &b->local_matrices); }
static kedge_status call_diagonal(bench *b) { return kg_edge_sum(b->p.ctx, &b->diagonal); }
static kedge_status call_apply(bench *b) { return kg_trace_apply(b->p.ctx, &b->apply); }
static kedge_status call_assemble(bench *b) { return kg_ell_assemble(b->p.ctx, &b->assemble); }
static kedge_status call_ell(bench *b) { return kg_ell_apply(b->p.ctx, &b->ell); }
static kedge_status call_local_solve(bench *b) { return kg_local_solve(b->p.ctx, &b->local_solve); }
static kedge_status call_postprocess(bench *b) { return kg_postprocess(b->p.ctx, &b->postprocess); }
static kedge_status call_vectors(bench *b)
{
  KG_TRY(kg_cg_update(b->p.ctx, &b->vectors));
  return kg_cg_direction(b->p.ctx, &b->vectors);
}

static kg_cost cost_local_matrices(const bench *b) { return kg_local_matrices_cost(b->p.shape.size, b->p.mesh->n_elements); }
static kg_cost cost_diagonal(const bench *b) { return kg_edge_sum_cost(b->p.shape.size, b->p.shape.count.n_free); }
static kg_cost cost_apply(const bench *b) { return kg_trace_apply_cost(b->p.shape.size, &b->p.shape.count); }
static kg_cost cost_assemble(const bench *b) { return kg_ell_assemble_cost(b->p.shape.size, &b->p.shape.count); }
static kg_cost cost_ell(const bench *b) { return kg_ell_apply_cost(b->p.shape.size, &b->p.shape.count); }
static kg_cost cost_vectors(const bench *b) { return kg_cg_vectors_cost(b->vectors.n); }
static kg_cost cost_local_solve(const bench *b) { return kg_local_solve_cost(b->p.shape.size, (int64_t)KG_LANES * b->p.shape.chunk_groups); }
static kg_cost cost_postprocess(const bench *b) { return kg_postprocess_cost(b->p.shape.size, (int64_t)KG_LANES * b->p.shape.chunk_groups); }

static size_t all_of(const bench *b, kg_array array) { return kg_array_bytes(array, &b->p.shape) / sizeof(double); }
static size_t count_local(const bench *b) { return all_of(b, KG_ARRAY_LOCAL); }
static size_t count_rows(const bench *b) { return (size_t)b->vectors.n; }
static size_t count_u(const bench *b) { return all_of(b, KG_ARRAY_U); }
static size_t count_star(const bench *b) { return all_of(b, KG_ARRAY_U_STAR); }
static size_t count_none(const bench *b) { return (void)b, 0; }

static const operation operations[] = {
    {"local_matrices", call_local_matrices, cost_local_matrices, KG_ARRAY_LOCAL, count_local},
    {"edge_sum", call_diagonal, cost_diagonal, KG_ARRAY_INVERSE_DIAGONAL, count_rows},
    {"trace_apply", call_apply, cost_apply, KG_ARRAY_COUNT, count_rows},
    {"ell_assemble", call_assemble, cost_assemble, KG_ARRAY_COUNT, count_none},
    {"ell_apply", call_ell, cost_ell, KG_ARRAY_COUNT, count_rows},
    {"cg_vectors", call_vectors, cost_vectors, KG_ARRAY_COUNT, count_none},
    {"local_solve", call_local_solve, cost_local_solve, KG_ARRAY_U, count_u},
    {"postprocess", call_postprocess, cost_postprocess, KG_ARRAY_U_STAR, count_star},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static int compare_doubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/// Median seconds of one call; a sample holds as many calls as make it about 3 ms.
static double time_operation(bench *b, const operation *op, int samples)
{
  kedge_context *ctx = b->p.ctx;
  double seconds[101];
  TRY(ctx, op->call(b));
  TRY(ctx, kg_sync(ctx));
  double began = kg_seconds();
  TRY(ctx, op->call(b));
  TRY(ctx, kg_sync(ctx));
  const int calls = 1 + (int)(3e-3 / (kg_seconds() - began));
  for (int i = 0; i < samples; ++i) {
    began = kg_seconds();
    for (int k = 0; k < calls; ++k) TRY(ctx, op->call(b));
    TRY(ctx, kg_sync(ctx));
    seconds[i] = (kg_seconds() - began) / calls;
  }
  qsort(seconds, (size_t)samples, sizeof *seconds, compare_doubles);
  return seconds[samples / 2];
}

/// ||device - host|| / ||host|| of what the operator wrote; NaN when there is nothing to compare.
static double difference(bench *device, bench *host, const operation *op)
{
  const size_t n = op->count(host);
  if (n == 0) return NAN;
  kedge_context *ctx = device->p.ctx;
  const bool y = op->result == KG_ARRAY_COUNT;
  const double *from = y ? device->y.data : device->p.buffers[op->result].data;
  const double *expected = y ? host->y.data : host->p.buffers[op->result].data;
  double *values, sum = 0.0, norm = 0.0;
  TRY(ctx, kg_host_alloc(ctx, n, sizeof *values, &values));
  TRY(ctx, kg_copy_out(ctx, values, from, n * sizeof *values));
  TRY(ctx, kg_sync(ctx));
  for (size_t i = 0; i < n; ++i) {
    sum += (values[i] - expected[i]) * (values[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  free(values);
  return sqrt(sum / norm);
}

static void print_number(const char *name, double value)
{
  if (isfinite(value)) printf(",\"%s\":%.9g", name, value);
  else printf(",\"%s\":null", name);
}

static void run_order(const settings *s, kedge_context *ctx, kedge_context *host_ctx,
                      const kedge_mesh *mesh, const roofs *roof, int order)
{
  bench b, host;
  open_bench(&b, ctx, mesh, order);
  if (s->check) open_bench(&host, host_ctx, mesh, order);
  for (int i = 0; i < OPERATIONS; ++i) {
    const operation *op = &operations[i];
    const double seconds = time_operation(&b, op, s->samples);
    const kg_cost cost = op->cost(&b);
    const double floor_seconds =
        fmax(cost.bytes / roof->read_bytes_per_second, cost.flops / roof->flops_per_second);
    double error = NAN;
    if (s->check) {
      TRY(host_ctx, op->call(&host));
      error = difference(&b, &host, op);
    }
    printf("{\"order\":%d,\"elements\":%d,\"operator\":\"%s\"", order, mesh->n_elements, op->name);
    print_number("seconds", seconds);
    print_number("bytes", cost.bytes);
    print_number("flops", cost.flops);
    print_number("floor_seconds", floor_seconds);
    print_number("share_of_floor", floor_seconds / seconds);
    print_number("error_against_host", error);
    printf(",\"samples\":%d}\n", s->samples);
    fflush(stdout);
    fprintf(stderr, "P%-2d %-15s %10.3f us  %4.2f of the floor  error %.1e\n", order, op->name,
            1e6 * seconds, floor_seconds / seconds, error);
  }
  close_bench(&b);
  if (s->check) close_bench(&host);
}

static settings parse(int argc, char **argv)
{
  settings s = {KEDGE_BACKEND_AUTO, 1, 9, 21, "square 1000", true};
  for (int i = 1; i < argc; ++i) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--no-check") == 0) {
      s.check = false;
      continue;
    }
    ++i;
    if (strcmp(argv[i - 1], "--backend") == 0)
      s.backend = strcmp(value, "cuda") == 0 ? KEDGE_BACKEND_CUDA : KEDGE_BACKEND_HOST;
    else if (strcmp(argv[i - 1], "--mesh") == 0) s.mesh = value;
    else if (strcmp(argv[i - 1], "--samples") == 0) s.samples = atoi(value);
    else if (strcmp(argv[i - 1], "--orders") == 0) {
      const int n = sscanf(value, "%d-%d", &s.first_order, &s.last_order);
      if (n == 1) s.last_order = s.first_order;
      if (n < 1) s.samples = 0;
    } else s.samples = 0;
  }
  const bool valid = s.samples >= 1 && s.samples <= 101 && s.first_order >= KEDGE_ORDER_MIN &&
                     s.last_order <= KEDGE_ORDER_MAX;
  if (!valid) {
    fprintf(stderr, "usage: operators [--backend host|cuda] [--orders A-B] [--mesh WORDS|FILE.msh] "
                    "[--samples 1..101] [--no-check]\n");
    exit(2);
  }
  return s;
}

int main(int argc, char **argv)
{
  const settings s = parse(argc, argv);
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = s.backend;
  kedge_context *ctx, *host_ctx;
  TRY(NULL, kedge_context_create(&options, &ctx));
  options.backend = KEDGE_BACKEND_HOST;
  TRY(NULL, kedge_context_create(&options, &host_ctx));
  kedge_mesh *mesh;
  const size_t length = strlen(s.mesh);
  const bool file = length > 4 && strcmp(s.mesh + length - 4, ".msh") == 0;
  TRY(ctx, file ? kedge_mesh_read(ctx, s.mesh, &mesh) : kedge_mesh_generate(ctx, s.mesh, &mesh));
  roofs roof;
  TRY(ctx, measure_roofs(ctx, &roof));
  printf("{\"kedge\":\"%s\",\"backend\":\"%s\",\"device\":\"%s\",\"mesh\":\"%s\",\"threads\":%d",
         kedge_version(), kedge_backend_name(ctx->backend), ctx->device, s.mesh, ctx->threads);
  print_number("read_bytes_per_second", roof.read_bytes_per_second);
  print_number("flops_per_second", roof.flops_per_second);
  printf("}\n");
  fprintf(stderr, "%s: reads %.1f GB/s, %.0f GFlop/s\n", ctx->device,
          1e-9 * roof.read_bytes_per_second, 1e-9 * roof.flops_per_second);
  for (int order = s.first_order; order <= s.last_order; ++order)
    run_order(&s, ctx, host_ctx, mesh, &roof, order);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(host_ctx);
  kedge_context_destroy(ctx);
  return 0;
}
