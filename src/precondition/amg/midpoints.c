#include "precondition/amg/midpoints.h"

#include "device/loop.h"

static kedge_status find_ends(kedge_context *ctx, const kg_midpoints_make_args *args)
{
#pragma omp parallel num_threads(kg_loop_threads(ctx, args->a.n_rows, 16))
  {
#pragma omp for schedule(static)
    for (int32_t i = 0; i < args->n_next; ++i) kg_midpoints_number(args, i);
#pragma omp for schedule(static)
    for (int32_t i = 0; i < args->a.n_rows; ++i) kg_midpoints_ends(args, i);
  }
  return KEDGE_OK;
}

static kedge_status fill(kedge_context *ctx, const kg_midpoints_make_args *args,
                         const kg_csr *place)
{
  const int64_t *begin = args->work.begin;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, args->n_next, 64))
  for (int32_t i = 0; i < args->n_next; ++i) kg_midpoints_row(args, i, begin, place);
  place->row[args->n_next] = (int32_t)begin[args->n_next];
  return KEDGE_OK;
}

kedge_status kg_midpoints_make(kedge_context *ctx, const kg_midpoints_make_args *args,
                               kg_arena *arena, kg_csr *next)
{
  int64_t total;
  KG_TRY(kg_zero(ctx, args->number, (size_t)args->a.n_rows * sizeof *args->number));
  KG_TRY(KG_IMPLEMENTATION(ctx, find_ends, kg_midpoints_ends_cuda)(ctx, args));
  KG_TRY(kg_scan(ctx, &args->work, args->n_next, &total));
  KG_TRY(kg_csr_take(ctx, arena, (kg_csr_form){.square = true}, args->n_next, total, next));
  return KG_IMPLEMENTATION(ctx, fill, kg_midpoints_fill_cuda)(ctx, args, next);
}

KG_OPERATOR(kg_midpoints_restrict, kg_midpoints_apply_args)
KG_OPERATOR(kg_midpoints_prolong, kg_midpoints_apply_args)

kedge_status kg_midpoints_restrict_host(kedge_context *ctx, const kg_midpoints_apply_args *args)
{
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, args->midpoints.n_next, 16))
  for (int32_t i = 0; i < args->midpoints.n_next; ++i)
    if (!args->many)
      kg_midpoints_restrict_row(args, i);
    else
      for (int v = 0; v < KG_VECTORS; ++v) kg_midpoints_restrict_of(args, i, KG_VECTORS, v);
  return KEDGE_OK;
}

kedge_status kg_midpoints_prolong_host(kedge_context *ctx, const kg_midpoints_apply_args *args)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, args->a.n_rows, 4))
  for (int32_t i = 0; i < args->a.n_rows; ++i)
    if (!args->many)
      kg_midpoints_prolong_row(args, i);
    else
      for (int v = 0; v < KG_VECTORS; ++v) kg_midpoints_prolong_of(args, i, KG_VECTORS, v);
  return KEDGE_OK;
}
