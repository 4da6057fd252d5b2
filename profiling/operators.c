// operators: every operator of a solve on one backend: median time, share of its floor, agreement
// with the host.
//
//   operators [--backend host|cuda] [--orders 1-9] [--mesh "square 1000" | FILE.msh] [--samples 21]
//             [--only trace_apply,cg_iteration] [--no-check] > operators.json
//
// One JSON object a line: first the machine's roofs, then one for each order and operator. The
// floor is the larger of bytes / read bandwidth and flops / rate, with the operator's own cost
// formula (src/ops/*.c) and the roofs measured in the same run (profiling/METRICS.md). Beside the
// operators: `set_up`, from the mesh's arrays to device arrays that are ready for them, and
// `cg_iteration`, both once with the matrix-free operator. Operators that work by chunks go through
// all of them. Compared with the host's are all of a product, the first elements of what is local; the
// host goes on with the device's K^e.
#include <math.h>
#include <stdio.h>

#include "bench.h"

/// An operator of the bench: call, cost, and what it writes.
typedef struct operation {
  const char *name;
  kedge_status (*call)(bench *b);
  kg_cost (*cost)(const bench *b);
  kg_array result;  ///< compared with the host's; KG_ARRAY_COUNT: b->y
  size_t (*count)(const bench *b);
} operation;

static kedge_status call_local_matrices(bench *b)
{
  kg_local_matrices_args args = b->local_matrices;
  kg_trace_counts *n = &args.batch.count;
  if (b->one_chunk) {
    const int32_t elements = b->p.shape.chunk_groups * KG_LANES;
    n->n_groups = b->p.shape.chunk_groups;
    if (n->n_elements > elements) n->n_elements = elements;
  }
  return kg_local_matrices(b->p.ctx, &args);
}
static kedge_status call_diagonal(bench *b)
{
  return kg_edge_sum(b->p.ctx, &b->diagonal);
}
static kedge_status call_apply(bench *b)
{
  return kg_trace_apply(b->p.ctx, &b->apply);
}
static kedge_status call_apply_single(bench *b)
{
  if (!b->single.data) KG_TRY(bench_add_single(b));
  return kg_trace_apply(b->p.ctx, &b->apply_single);
}
static kedge_status call_reduced(bench *b)
{
  if (!b->reduced[KG_DOUBLE].data) KG_TRY(bench_add_reduced(b, KG_DOUBLE));
  return kg_trace_apply(b->p.ctx, &b->apply_reduced[KG_DOUBLE]);
}
static kedge_status call_reduced_single(bench *b)
{
  if (!b->reduced[KG_SINGLE].data) KG_TRY(bench_add_reduced(b, KG_SINGLE));
  return kg_trace_apply(b->p.ctx, &b->apply_reduced[KG_SINGLE]);
}
static kedge_status call_assemble(bench *b)
{
  return kg_ell_assemble(b->p.ctx, &b->assemble);
}
static kedge_status call_ell(bench *b)
{
  return kg_ell_apply(b->p.ctx, &b->ell);
}
/// Chunk by chunk; the first comes last, so that its results stay.
static kedge_status for_chunks(bench *b, int32_t *first, int32_t *count,
                               kedge_status (*call)(bench *b))
{
  const int32_t chunk = b->p.shape.chunk_groups, n = b->p.shape.count.n_groups;
  for (*first = b->one_chunk ? 0 : (n - 1) / chunk * chunk; *first >= 0; *first -= chunk) {
    *count = n - *first < chunk ? n - *first : chunk;
    KG_TRY(call(b));
  }
  return KEDGE_OK;
}
static kedge_status one_load_vectors(bench *b)
{
  return kg_load_vectors(b->p.ctx, &b->load_vectors);
}
static kedge_status one_local_solve(bench *b)
{
  return kg_local_solve(b->p.ctx, &b->local_solve);
}
static kedge_status one_postprocess(bench *b)
{
  return kg_postprocess(b->p.ctx, &b->postprocess);
}
static kedge_status one_errors(bench *b)
{
  return kg_errors(b->p.ctx, &b->errors);
}
static kedge_status one_source(bench *b)
{
  return kg_sampler_loads(&b->source, b->load_vectors.first_group, b->load_vectors.n_groups);
}
static kedge_status one_exact(bench *b)
{
  return kg_sampler_errors(&b->exact_solution, b->errors.first_group, b->errors.n_groups);
}
static kedge_status call_load_vectors(bench *b)
{
  return for_chunks(b, &b->load_vectors.first_group, &b->load_vectors.n_groups, one_load_vectors);
}
static kedge_status call_local_solve(bench *b)
{
  return for_chunks(b, &b->local_solve.first_group, &b->local_solve.n_groups, one_local_solve);
}
static kedge_status call_postprocess(bench *b)
{
  return for_chunks(b, &b->postprocess.first_group, &b->postprocess.n_groups, one_postprocess);
}
static kedge_status call_errors(bench *b)
{
  return for_chunks(b, &b->errors.first_group, &b->errors.n_groups, one_errors);
}
static kedge_status call_source(bench *b)
{
  return for_chunks(b, &b->load_vectors.first_group, &b->load_vectors.n_groups, one_source);
}
static kedge_status call_exact(bench *b)
{
  return for_chunks(b, &b->errors.first_group, &b->errors.n_groups, one_exact);
}
static kedge_status call_vectors(bench *b)
{
  KG_TRY(kg_cg_update(b->p.ctx, &b->vectors));
  return kg_cg_direction(b->p.ctx, &b->vectors);
}

static kg_cost cost_local_matrices(const bench *b)
{
  return kg_local_matrices_cost(b->p.shape.size, b->p.mesh->n_elements);
}
static kg_cost cost_diagonal(const bench *b)
{
  return kg_edge_sum_cost(b->p.shape.size, b->p.shape.count.n_free);
}
static kg_cost cost_apply(const bench *b)
{
  return kg_trace_apply_cost(b->p.shape.size, &b->p.shape.count);
}
static kg_cost cost_apply_single(const bench *b)
{
  return kg_trace_apply_cost_single(b->p.shape.size, &b->p.shape.count);
}
static kg_cost cost_reduced(const bench *b)
{
  return kg_trace_apply_cost_reduced(b->p.shape.size, &b->p.shape.count);
}
static kg_cost cost_reduced_single(const bench *b)
{
  kg_cost cost = cost_reduced(b);
  cost.bytes /= 2;
  return cost;
}
static kg_cost cost_assemble(const bench *b)
{
  return kg_ell_assemble_cost(b->p.shape.size, &b->p.shape.count);
}
static kg_cost cost_ell(const bench *b)
{
  return kg_ell_apply_cost(b->p.shape.size, &b->p.shape.count);
}
static kg_cost cost_vectors(const bench *b)
{
  return kg_cg_vectors_cost(b->vectors.n);
}
static kg_cost cost_local_solve(const bench *b)
{
  return kg_local_solve_cost(b->p.shape.size, b->p.mesh->n_elements);
}
static kg_cost cost_postprocess(const bench *b)
{
  return kg_postprocess_cost(b->p.shape.size, b->p.mesh->n_elements);
}
static kg_cost cost_load_vectors(const bench *b)
{
  return kg_load_vectors_cost(b->p.shape.size, b->p.shape.n_points, b->p.mesh->n_elements);
}
static kg_cost cost_errors(const bench *b)
{
  return kg_errors_cost(b->p.shape.size, b->p.shape.n_points, b->p.mesh->n_elements);
}

/// Evaluating is not in them, nor are values that nobody stores.
static kg_cost cost_source(const bench *b)
{
  kg_cost cost = cost_load_vectors(b);
  cost.bytes = 8.0 * b->p.shape.size.n_modes * b->p.mesh->n_elements;
  return cost;
}
static kg_cost cost_exact(const bench *b)
{
  kg_cost cost = cost_errors(b);
  cost.bytes = 8.0 * (3 * b->p.shape.size.n_modes + b->p.shape.size.n_star) * b->p.mesh->n_elements;
  return cost;
}

static size_t all_of(const bench *b, kg_array array)
{
  return kg_array_bytes(array, &b->p.shape) / sizeof(double);
}
static size_t count_local(const bench *b)
{
  return (size_t)b->p.shape.size.n_packed * KG_LANES * (size_t)b->p.shape.chunk_groups;
}
static size_t count_rows(const bench *b)
{
  return (size_t)b->vectors.n;
}
static size_t count_u(const bench *b)
{
  return all_of(b, KG_ARRAY_U);
}
static size_t count_star(const bench *b)
{
  return all_of(b, KG_ARRAY_U_STAR);
}
/// Of the first chunk, as far as that is computed.
static size_t count_load(const bench *b)
{
  return (size_t)b->p.shape.size.n_modes * KG_LANES * (size_t)b->p.shape.chunk_groups;
}
static size_t count_sums(const bench *b)
{
  return sizeof(kg_error_sums) / sizeof(double) * (size_t)b->p.shape.chunk_groups;
}
static size_t count_none(const bench *b)
{
  return (void)b, 0;
}

static const operation operations[] = {
    {"load_vectors", call_load_vectors, cost_load_vectors, KG_ARRAY_LOAD, count_load},
    {"local_matrices", call_local_matrices, cost_local_matrices, KG_ARRAY_LOCAL, count_local},
    {"edge_sum", call_diagonal, cost_diagonal, KG_ARRAY_INVERSE_DIAGONAL, count_rows},
    {"trace_apply", call_apply, cost_apply, KG_ARRAY_COUNT, count_rows},
    {"trace_apply_single", call_apply_single, cost_apply_single, KG_ARRAY_COUNT, count_none},
    {"trace_apply_reduced", call_reduced, cost_reduced, KG_ARRAY_COUNT, count_rows},
    {"trace_apply_reduced_single", call_reduced_single, cost_reduced_single, KG_ARRAY_COUNT,
     count_none},
    {"ell_assemble", call_assemble, cost_assemble, KG_ARRAY_COUNT, count_none},
    {"ell_apply", call_ell, cost_ell, KG_ARRAY_COUNT, count_rows},
    {"cg_vectors", call_vectors, cost_vectors, KG_ARRAY_COUNT, count_none},
    {"local_solve", call_local_solve, cost_local_solve, KG_ARRAY_U, count_u},
    {"postprocess", call_postprocess, cost_postprocess, KG_ARRAY_U_STAR, count_star},
    {"errors", call_errors, cost_errors, KG_ARRAY_ERROR_SUMS, count_sums},
    {"load_vectors_of_formula", call_source, cost_source, KG_ARRAY_LOAD, count_load},
    {"errors_of_formula", call_exact, cost_exact, KG_ARRAY_ERROR_SUMS, count_sums},
};
enum {
  OPERATIONS = sizeof operations / sizeof *operations,
  CHECKED_GROUPS = 512,  ///< whose local results are compared
};

/// An operator at work on one bench; on the host memory is read before every sample, so that its
/// floor is that of the same time.
typedef struct running {
  const operation *op;
  bench *b;
  roof_probe probe;
  double reads[BENCH_SAMPLES_MAX + 2];  ///< bytes a second; two samples warm up
  int n_reads;
} running;

static kedge_status call_running(void *user)
{
  const running *r = user;
  return r->op->call(r->b);
}

static kedge_status read_memory(void *user)
{
  running *r = user;
  r->reads[r->n_reads++] = roof_probe_read(&r->probe);
  return KEDGE_OK;
}

static const double *result_of(const bench *b, const operation *op)
{
  if (op->result == KG_ARRAY_COUNT) return b->y.data;
  return b->p.buffers[op->result].data;
}

/// Distance of what the operator wrote from the host's; NaN when there is nothing to compare.
static double error_against(bench *host, bench *device, const operation *op)
{
  const size_t n = op->count(host);
  BENCH_TRY(host->p.ctx, op->call(host));
  if (n == 0) return NAN;
  const double *values = result_of(device, op), *expected = result_of(host, op);
  double error;
  BENCH_TRY(device->p.ctx, bench_difference(device->p.ctx, values, expected, n, &error));
  return error;
}

/// What a line is printed from.
typedef struct measured {
  const char *name;
  double seconds, error;
  kg_cost cost;
} measured;

static void print_measured(const bench_settings *s, const roofs *roof, const bench *b, measured r)
{
  const int order = b->p.shape.size.order;
  const double floor_seconds = bench_floor(roof, r.cost);
  printf("{\"order\":%d,\"elements\":%d,\"samples\":%d", order, b->p.mesh->n_elements, s->samples);
  bench_print_text("operator", r.name);
  bench_print_number("seconds", r.seconds);
  bench_print_number("bytes", r.cost.bytes);
  bench_print_number("flops", r.cost.flops);
  bench_print_number("floor_seconds", floor_seconds);
  bench_print_number("share_of_floor", floor_seconds / r.seconds);
  bench_print_number("read_bytes_per_second", roof->read_bytes_per_second);
  bench_print_number("error_against_host", r.error);
  printf("}\n");
  fflush(stdout);
  fprintf(stderr, "P%-2d %-23s %12.3f us  %4.2f of the floor  error %.1e\n", order, r.name,
          1e6 * r.seconds, floor_seconds / r.seconds, r.error);
}

/// On the host with the bandwidth of the same time as the roof.
static kedge_status time_running(const bench_settings *s, const bench_machine *m, running *r,
                                 roofs *roof, double *seconds)
{
  *roof = m->roof;
  if (m->ctx->backend == KEDGE_BACKEND_CUDA)
    return bench_time(m->ctx, (bench_work){call_running, NULL, r}, s->samples, seconds);
  KG_TRY(roof_probe_open(m->ctx, &r->probe));
  const kedge_status status =
      bench_time(m->ctx, (bench_work){call_running, read_memory, r}, s->samples, seconds);
  roof_probe_close(&r->probe);
  if (r->n_reads) roof->read_bytes_per_second = bench_median(r->reads, r->n_reads);
  return status;
}

/// `host`: the host's copy of the bench, when results are compared; NULL: they are not.
static void run_operation(const bench_settings *s, const bench_machine *m, bench *b, bench *host,
                          const operation *op)
{
  running r = {.op = op, .b = b};
  const bool alone =
      op->call == call_apply_single || op->call == call_reduced || op->call == call_reduced_single;
  if (alone && !bench_wants(s, op->name)) return;  // nobody needs it
  const bool makes_local = op->call == call_local_matrices;
  if (!bench_wants(s, op->name)) {  // those after it work on what it makes
    BENCH_TRY(m->ctx, op->call(b));
    if (host) BENCH_TRY(m->host_ctx, makes_local ? bench_take_local(host, b) : op->call(host));
    return;
  }
  if (s->profile) {
    BENCH_TRY(m->ctx, bench_profile(m->ctx, (bench_work){call_running, NULL, &r}, op->name));
    return;
  }
  roofs roof;
  measured found = {.name = op->name, .error = NAN, .cost = op->cost(b)};
  BENCH_TRY(m->ctx, time_running(s, m, &r, &roof, &found.seconds));
  if (host) found.error = error_against(host, b, op);
  if (host && makes_local) BENCH_TRY(m->ctx, bench_take_local(host, b));
  print_measured(s, &roof, b, found);
}

static bool is_of_ell(const operation *op)
{
  return op->call == call_assemble || op->call == call_ell;
}

static bool is_of_formula(const operation *op)
{
  return op->call == call_source || op->call == call_exact;
}

static bool wants_ell(const bench_settings *s)
{
  for (int i = 0; i < OPERATIONS; ++i)
    if (is_of_ell(&operations[i]) && bench_wants(s, operations[i].name)) return true;
  return false;
}

/// Whether formulas can be measured.
static bool open_all(bench *b, kedge_context *ctx, const kedge_mesh *mesh, int order, bool ell)
{
  bench_open(b, ctx, mesh, order);
  if (ell) BENCH_TRY(ctx, bench_add_ell(b));
  bench_add_exact(b);
  return bench_add_formulas(b);
}

/// The bench that results are compared with, of the first groups alone where it can be.
static void open_host(bench *host, const bench_machine *m, int order, bool ell)
{
  open_all(host, m->host_ctx, m->mesh, order, ell);
  host->one_chunk = true;
  int32_t *groups = &host->p.shape.chunk_groups;
  if (*groups > CHECKED_GROUPS) *groups = CHECKED_GROUPS;
}

static void run_iteration(const bench_settings *s, const bench_machine *m, bench *b)
{
  const kg_cost apply = cost_apply(b);
  measured found = {.name = "cg_iteration", .error = NAN};
  found.cost = kg_cost_plus(apply, 1, cost_vectors(b));
  BENCH_TRY(m->ctx, bench_iteration(b, KEDGE_OPERATOR_MATRIX_FREE, s->samples,
                                    bench_floor(&m->roof, apply), &found.seconds));
  print_measured(s, &m->roof, b, found);
}

static void run_order(const bench_settings *s, const bench_machine *m, int order)
{
  bench b, host;
  const bool ell = wants_ell(s);
  const bool formulas = open_all(&b, m->ctx, m->mesh, order, ell);
  if (s->check) open_host(&host, m, order, ell);
  if (!s->profile && bench_wants(s, "set_up"))
    print_measured(
        s, &m->roof, &b,
        (measured){.name = "set_up", .seconds = m->mesh->seconds + b.set_up_seconds, .error = NAN});
  for (int i = 0; i < OPERATIONS; ++i)
    if ((ell || !is_of_ell(&operations[i])) && (formulas || !is_of_formula(&operations[i])))
      run_operation(s, m, &b, s->check ? &host : NULL, &operations[i]);
  if (!s->profile && bench_wants(s, "cg_iteration")) run_iteration(s, m, &b);
  bench_close(&b);
  if (s->check) bench_close(&host);
}

int main(int argc, char **argv)
{
  const bench_settings s = bench_parse(argc, argv, KEDGE_BACKEND_AUTO);
  bench_machine machine;
  bench_machine_open(&s, &machine);
  bench_print_machine(&s, &machine);
  printf("}\n");
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    if (s.orders[order]) run_order(&s, &machine, order);
  bench_machine_close(&machine);
  return 0;
}
