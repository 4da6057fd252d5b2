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
// all of them. Compared with the host's are all of a product, the first elements of what is local;
// the host goes on with the device's K^e. A result that is wrong ends the program with exit code 1.
#include <math.h>
#include <stdio.h>

#include "operations.h"

enum { CHECKED_GROUPS = 512 };  // whose local results are compared
/// Results agree to rounding, at worst times the condition of a local problem; what is further away
/// is wrong.
static const double error_limit = 1e-11;

/// An operator at work on one bench; on the host memory is read before every sample, so that its
/// floor is that of the same time.
typedef struct running {
  const operation *op;
  bench *b;
  roof_probe *probe;                    ///< NULL on a GPU
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
  r->reads[r->n_reads++] = roof_probe_read(r->probe);
  return KEDGE_OK;
}

static const double *result_of(const bench *b, const operation *op)
{
  if (op->reduced) return b->reduced[KG_DOUBLE].data;
  if (op->result == OPERATION_Y) return b->y.data;
  const double *result;
  memcpy(&result, (const char *)&b->p.arrays + op->result, sizeof result);
  return result;
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

/// Times an operator; on the host the roof is the bandwidth that is measured beside it.
static kedge_status time_running(const bench_settings *s, const bench_machine *m, running *r,
                                 roofs *roof, double *seconds)
{
  *roof = m->roof;
  const bench_work work = {call_running, r->probe ? read_memory : NULL, r};
  KG_TRY(bench_time(m->ctx, work, s->samples, seconds));
  if (r->n_reads) roof->read_bytes_per_second = bench_median(r->reads, r->n_reads);
  return KEDGE_OK;
}

/// Returns true when the result is wrong.
/// `host`: the host's copy of the bench, when results are compared; NULL: they are not.
static bool run_operation(const bench_settings *s, const bench_machine *m, bench *b, bench *host,
                          const operation *op, roof_probe *probe)
{
  running r = {.op = op, .b = b, .probe = probe};
  if (op->alone && !bench_wants(s, op->name)) return false;
  if (!bench_wants(s, op->name)) {  // those after it work on what it makes
    BENCH_TRY(m->ctx, op->call(b));
    if (host) BENCH_TRY(m->host_ctx, op->makes_local ? bench_take_local(host, b) : op->call(host));
    return false;
  }
  if (s->profile) {
    BENCH_TRY(m->ctx, bench_profile(m->ctx, (bench_work){call_running, NULL, &r}, op->name));
    return false;
  }
  roofs roof;
  measured found = {.name = op->name, .error = NAN, .cost = op->cost(b)};
  BENCH_TRY(m->ctx, time_running(s, m, &r, &roof, &found.seconds));
  if (host) found.error = error_against(host, b, op);
  if (host && op->makes_local) BENCH_TRY(m->ctx, bench_take_local(host, b));
  print_measured(s, &roof, b, found);
  return host && op->count(host) && !(found.error <= error_limit);
}

static bool wants_ell(const bench_settings *s)
{
  for (int i = 0; i < OPERATIONS; ++i)
    if (operations[i].ell && bench_wants(s, operations[i].name)) return true;
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
  int32_t *groups = &host->p.shape.choice.recover_groups;
  if (*groups > CHECKED_GROUPS) *groups = CHECKED_GROUPS;
}

static void run_iteration(const bench_settings *s, const bench_machine *m, bench *b)
{
  const kg_locals locals = kg_locals_of(b->apply.local, NULL);
  const kg_cost apply = kg_trace_product_cost(b->p.shape.m, &b->p.shape.count, &locals);
  measured found = {.name = "cg_iteration", .error = NAN};
  found.cost = kg_cost_plus(apply, 1, kg_cg_vectors_cost(b->vectors.n));
  BENCH_TRY(m->ctx, bench_iteration(b, KEDGE_OPERATOR_MATRIX_FREE, s->samples,
                                    bench_floor(&m->roof, apply), &found.seconds));
  print_measured(s, &m->roof, b, found);
}

static int run_order(const bench_settings *s, const bench_machine *m, int order)
{
  bench b, host;
  const bool probes = m->ctx->backend != KEDGE_BACKEND_CUDA && !s->profile;
  roof_probe memory, *const probe = probes ? &memory : NULL;
  const bool ell = wants_ell(s);
  const bool formulas = open_all(&b, m->ctx, m->mesh, order, ell);
  if (s->check) open_host(&host, m, order, ell);
  if (probe) BENCH_TRY(m->ctx, roof_probe_open(m->ctx, probe));
  if (!s->profile && bench_wants(s, "set_up"))
    print_measured(
        s, &m->roof, &b,
        (measured){.name = "set_up", .seconds = m->mesh->seconds + b.set_up_seconds, .error = NAN});
  int wrong = 0;
  for (int i = 0; i < OPERATIONS; ++i)
    if ((ell || !operations[i].ell) && (formulas || !operations[i].formula) &&
        (order < KG_MANY_MODES_MAX || !operations[i].many))
      wrong += run_operation(s, m, &b, s->check ? &host : NULL, &operations[i], probe);
  if (!s->profile && bench_wants(s, "cg_iteration")) run_iteration(s, m, &b);
  if (probe) roof_probe_close(probe);
  bench_close(&b);
  if (s->check) bench_close(&host);
  return wrong;
}

int main(int argc, char **argv)
{
  return bench_run(bench_parse(argc, argv, KEDGE_BACKEND_AUTO), run_order);
}
