// local_baseline: the local matrices of kedge against other ways to make them (local_baseline.h),
// in one run on one machine.
//
//   local_baseline [--backend host|cuda] [--orders 1-9] [--mesh "square 1000" | FILE.msh]
//                  [--samples 21] [--no-check] > local_baseline.json
//
// One JSON object a line: first the machine; then for each order kedge and every other way: the
// time of all elements of the mesh, or of a chunk whose dense matrices take 2 GiB, and that of one
// element (profiling/METRICS.md). K^e of the others are compared with kedge's.
#include "local_baseline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "core/memory.h"

/// K^e agree to rounding times the condition of Z; what is further away is wrong.
static const double error_limit = 1e-11;
static const size_t chunk_bytes = (size_t)2 << 30;

typedef struct result {
  const char *name;
  int64_t elements;
  double seconds, build_seconds, error;
} result;

size_t baseline_element_bytes(kg_sizes size)
{
  const size_t N = (size_t)size.n_modes, n = (size_t)size.n_trace;
  return (N * N + N * (n + 1) + n * (n + 1)) * sizeof(double);
}

void baseline_close(baseline *b)
{
#ifdef HAVE_BATCHED
  baseline_close_batched(b->batch);
#endif
  kg_free(b->ctx, &b->operators);
  kg_free(b->ctx, &b->lifts);
  kg_free(b->ctx, &b->matrices);
  kg_free(b->ctx, &b->pointers);
  kg_free(b->ctx, &b->info);
}

static kedge_status baseline_open(baseline *b, const bench *of, const baseline_variant *variant)
{
  const kg_sizes z = of->p.shape.size;
  const size_t N = (size_t)z.n_modes, n = (size_t)z.n_trace;
  const int64_t lanes = (int64_t)of->p.shape.count.n_groups * KG_LANES;
  const int64_t most = (int64_t)(chunk_bytes / baseline_element_bytes(z)) / KG_LANES * KG_LANES;
  *b = (baseline){.ctx = of->p.ctx, .args = of->local_matrices};
  b->elements = lanes < most ? lanes : most;
  const size_t elements = (size_t)b->elements;
  KG_TRY(kg_alloc(b->ctx, n * (n + 1) * elements, sizeof(double), &b->matrices));
  if (variant->open == NULL) return KEDGE_OK;  // no dense matrices beside K^e
  KG_TRY(kg_alloc(b->ctx, N * N * elements, sizeof(double), &b->operators));
  KG_TRY(kg_alloc(b->ctx, N * (n + 1) * elements, sizeof(double), &b->lifts));
  return variant->open(b);
}

/// Relative l2 distance of a chunk's K^e from kedge's, over elements that exist.
static double distance(const baseline *b, bool lanes, const double *matrices, const double *local)
{
  const kg_sizes z = b->args.batch.reference.size;
  const int n = z.n_trace;
  const int64_t exist = b->args.batch.count.n_elements;
  const int64_t elements = b->elements < exist ? b->elements : exist;
  double sum = 0.0, norm = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : sum, norm)
  for (int64_t e = 0; e < elements; ++e)
    for (int i = 0, k = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j, ++k) {
        const int64_t packed = (e / KG_LANES * z.n_packed + k) * KG_LANES + e % KG_LANES;
        const double other = lanes ? matrices[packed] : matrices[(e * n + j) * (n + 1) + i];
        sum += (other - local[packed]) * (other - local[packed]);
        norm += local[packed] * local[packed];
      }
  return sqrt(sum / norm);
}

static kedge_status check_result(const baseline *b, bool lanes, double *error)
{
  kedge_context *ctx = b->ctx;
  const size_t n = (size_t)b->args.batch.reference.size.n_packed * (size_t)b->elements;
  const size_t dense = b->matrices.bytes / sizeof(double);
  double *matrices, *local = NULL;
  KG_TRY(kg_host_alloc(ctx, dense, sizeof *matrices, &matrices));
  kedge_status status = kg_host_alloc(ctx, n, sizeof *local, &local);
  if (status == KEDGE_OK) status = kg_copy_out(ctx, local, b->args.local.data, n * sizeof *local);
  if (status == KEDGE_OK)
    status = kg_copy_out(ctx, matrices, b->matrices.data, dense * sizeof *matrices);
  if (status == KEDGE_OK) status = kg_sync(ctx);
  if (status == KEDGE_OK) *error = distance(b, lanes, matrices, local);
  free(local);
  free(matrices);
  return status;
}

/// Operations of an element of a variant: W of all modes, where kedge eliminates some by hand.
static double variant_flops(kg_sizes size)
{
  const double N = size.n_modes, n = size.n_trace;
  const double build = 11 * N * (N + 1) / 2 + 5 * N * n;
  return build + N * N * N / 3 + N * N * (n + 1) + N * n * (n + 1) + 2 * N * n;
}

/// `flops`: of an element.
static void print_result(const bench_settings *s, const bench *of, const result *r, double flops,
                         double own)
{
  const double each = r->seconds / (double)r->elements;
  printf("{\"order\":%d,\"elements\":%lld,\"samples\":%d", of->p.shape.size.order,
         (long long)r->elements, s->samples);
  bench_print_text("variant", r->name);
  bench_print_number("seconds", r->seconds);
  bench_print_number("build_seconds", r->build_seconds);
  bench_print_number("seconds_per_element", each);
  bench_print_number("flops_per_second", flops / each);
  bench_print_number("times_kedge", each / own);
  bench_print_number("times_kedge_without_build",
                     (r->seconds - r->build_seconds) / (double)r->elements / own);
  bench_print_number("error_against_kedge", r->error);
  printf("}\n");
  fflush(stdout);
  fprintf(stderr, "P%-2d %-62s %9.2f ns an element  %6.2f times kedge's  error %.1e\n",
          of->p.shape.size.order, r->name, 1e9 * each, each / own, r->error);
}

/// Returns true when its matrices are wrong.
static bool run_variant(const bench_settings *s, bench *of, const baseline_variant *variant,
                        double own)
{
  kedge_context *ctx = of->p.ctx;
  baseline b;
  BENCH_TRY(ctx, baseline_open(&b, of, variant));
  result r = {variant->name, b.elements, 0.0, NAN, NAN};
  BENCH_TRY(ctx, bench_time(ctx, (bench_work){variant->call, NULL, &b}, s->samples, &r.seconds));
  if (s->check) BENCH_TRY(ctx, check_result(&b, variant->lanes, &r.error));
  if (variant->build)
    BENCH_TRY(
        ctx, bench_time(ctx, (bench_work){variant->build, NULL, &b}, s->samples, &r.build_seconds));
  print_result(s, of, &r, variant_flops(of->p.shape.size), own);
  baseline_close(&b);
  return s->check && !(r.error <= error_limit);
}

static kedge_status call_kedge(void *user)
{
  const bench *b = user;
  return kg_local_matrices(b->p.ctx, &b->local_matrices);
}

static int run_order(const bench_settings *s, const bench_machine *m, int order)
{
  bench b;
  bench_open(&b, m->ctx, m->mesh, order);
  result own = {"kedge", m->mesh->n_elements, 0.0, NAN, NAN};
  BENCH_TRY(m->ctx,
            bench_time(m->ctx, (bench_work){call_kedge, NULL, &b}, s->samples, &own.seconds));
  const double each = own.seconds / (double)own.elements;
  print_result(s, &b, &own, kg_local_matrices_cost(b.p.shape.size, KG_LAYOUT_PACKED, 1).flops,
               each);
  int n = 0, wrong = 0;
  const baseline_variant *variants = NULL;
  if (m->ctx->backend == KEDGE_BACKEND_HOST) variants = baseline_host_variants(&n);
#ifdef HAVE_BATCHED
  if (m->ctx->backend == KEDGE_BACKEND_CUDA) variants = baseline_cuda_variants(&n);
#endif
  for (int i = 0; i < n; ++i) wrong += run_variant(s, &b, &variants[i], each);
  bench_close(&b);
  return wrong;
}

int main(int argc, char **argv)
{
  return bench_run(bench_parse(argc, argv, KEDGE_BACKEND_AUTO), run_order);
}
