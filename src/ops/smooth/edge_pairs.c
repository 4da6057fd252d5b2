#include "ops/smooth/edge_pairs.h"

#include "device/loop.h"
#include "ops/numbering/fault.h"

static kedge_status do_step(kedge_context *ctx, const kg_edge_pairs_args *a, kg_pairs_step step)
{
  const int32_t n = a->batch.count.n_free;
  int32_t fault = *a->fault;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, 32)) \
    reduction(min                                                                  \
              : fault)
  for (int32_t edge = 0; edge < n; ++edge) {
    if (step == KG_PAIRS_WANT) kg_pair_want(a, edge);
    if (step == KG_PAIRS_MATCH) kg_pair_match(a, edge);
    if (step == KG_PAIRS_FACTOR && !kg_pair_factor(a, edge) && edge < fault) fault = edge;
  }
  *a->fault = fault;
  return KEDGE_OK;
}

static kedge_status run_step(kedge_context *ctx, const kg_edge_pairs_args *args, kg_pairs_step step)
{
  return KG_IMPLEMENTATION(ctx, do_step, kg_edge_pairs_cuda)(ctx, args, step);
}

kedge_status kg_edge_pairs(kedge_context *ctx, const kg_edge_pairs_args *args, bool *any)
{
  const size_t n = (size_t)args->batch.count.n_free, word = sizeof(int32_t);
  int32_t found = n > 0;
  KG_TRY(kg_fault_clear(ctx, args->fault));
  KG_TRY(kg_zero(ctx, args->pair, n * word));
  KG_TRY(kg_zero(ctx, args->want, n * word));
  while (found) {
    KG_TRY(kg_zero(ctx, args->want + n, word));
    for (int round = 0; round < KG_PAIR_ROUNDS; ++round) {
      KG_TRY(run_step(ctx, args, KG_PAIRS_WANT));
      KG_TRY(run_step(ctx, args, KG_PAIRS_MATCH));
    }
    KG_TRY(kg_copy_out(ctx, &found, args->want + n, word));
  }
  KG_TRY(kg_zero(ctx, args->want + n, word));
  KG_TRY(run_step(ctx, args, KG_PAIRS_FACTOR));
  KG_TRY(kg_copy_out(ctx, &found, args->want + n, word));
  *any = found != 0;
  return kg_edge_blocks_check(ctx, &args->batch, args->number, args->fault);
}

/// The first round looks at all entries of modes 0, the others at those of edges that have a strong
/// neighbour. Blocks of pairs are not counted, of which there are few.
kg_cost kg_edge_pairs_cost(const kg_trace_counts *count, kg_number local)
{
  const double entries = 10.0 * count->n_elements;
  return (kg_cost){.bytes = (double)kg_number_bytes(local) * entries +
                            (8.0 + 16.0 * KG_PAIR_ROUNDS) * count->n_free,
                   .flops = 2.0 * entries};
}

KG_OPERATOR_OF_NUMBERS(kg_pair_smooth, kg_pair_smooth_args, args->number)

kg_cost kg_pair_smooth_cost(const kg_trace_counts *count)
{
  return (kg_cost){.bytes = 4.0 * count->n_free};
}
