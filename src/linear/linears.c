#include "linear/linears.h"

#include "core/nvtx.h"
#include "device/context.h"
#include "ops/local/convert.h"

kg_linear kg_linear_of(const kg_linear_table *table, const kg_batch *batch, kg_number number)
{
  const int64_t m = batch->m;
  int64_t parts = KG_PIECES;
  if (table == &kg_patches_table) parts = batch->count.n_patches;
  if (table == &kg_gather_table) parts = kg_trace_gather_partials(batch->m, &batch->count);
  return (kg_linear){.table = table,
                     .number = number,
                     .n_rhs = 1,
                     .symmetric = true,
                     .rows = m * batch->count.n_free,
                     .all_rows = m * batch->count.n_edges,
                     .n_elements = batch->count.n_elements,
                     .n_parts = parts};
}

kedge_status kg_linear_apply(kedge_context *ctx, const kg_linear *linear, const void *x, void *y,
                             const kg_pass *pass)
{
  kg_range_push("trace_apply", linear->n_elements, linear->rows);
  const kedge_status status = linear->table->apply(ctx, linear, x, y, pass);
  kg_range_pop();
  return status;
}

kg_patches kg_patches_of(const kg_trace_product_args *args)
{
  const kg_number number = args->locals.local[0].number;
  return (kg_patches){.base = kg_linear_of(&kg_patches_table, &args->batch, number), .args = *args};
}

static kedge_status patches_apply(kedge_context *ctx, const kg_linear *base, const void *x, void *y,
                                  const kg_pass *pass)
{
  kg_trace_product_args args = ((const kg_patches *)base)->args;
  args.x = x;
  args.y = y;
  args.pass = *pass;
  args.pass.many = base->n_rhs > 1;
  return kg_trace_product(ctx, &args);
}

static kg_cost patches_cost(const kg_linear *base)
{
  const kg_trace_product_args *a = &((const kg_patches *)base)->args;
  return kg_trace_product_cost(a->batch.m, &a->batch.count, &a->locals);
}

const kg_linear_table kg_patches_table = {.apply = patches_apply, .cost = patches_cost};

static kedge_status gather_setup(kedge_context *ctx, const kg_linear *base)
{
  const kg_gather *a = (const kg_gather *)base;
  for (int i = 0; i < a->made.n_locals; ++i) {
    const kg_local *from = &a->made.local[i];
    KG_TRY(kg_local_convert(
        ctx, &(kg_local_convert_args){
                 .m = a->batch.m,
                 .from = *from,
                 .to = kg_local_part(&a->full, from->first_lane, from->n_elements)}));
  }
  return KEDGE_OK;
}

static kg_cost gather_setup_cost(const kg_linear *base)
{
  const kg_gather *a = (const kg_gather *)base;
  return kg_local_convert_cost(&a->made.local[0], &a->full, a->batch.count.n_elements);
}

static kedge_status gather_apply(kedge_context *ctx, const kg_linear *base, const void *x, void *y,
                                 const kg_pass *pass)
{
  const kg_gather *a = (const kg_gather *)base;
  return kg_trace_gather(
      ctx,
      &(kg_trace_gather_args){.batch = a->batch, .local = a->full, .x = x, .y = y, .pass = *pass});
}

static kg_cost gather_cost(const kg_linear *base)
{
  const kg_batch *batch = &((const kg_gather *)base)->batch;
  return kg_trace_gather_cost(batch->m, &batch->count);
}

const kg_linear_table kg_gather_table = {.setup = gather_setup,
                                         .setup_cost = gather_setup_cost,
                                         .apply = gather_apply,
                                         .cost = gather_cost};

static kedge_status ell_setup(kedge_context *ctx, const kg_linear *base)
{
  const kg_ell *a = (const kg_ell *)base;
  return kg_ell_assemble(ctx, &(kg_ell_assemble_args){.batch = a->batch,
                                                      .locals = a->locals,
                                                      .matrix = a->matrix,
                                                      .work = a->work,
                                                      .work_bytes = a->work_bytes});
}

static kg_cost ell_setup_cost(const kg_linear *base)
{
  const kg_batch *batch = &((const kg_ell *)base)->batch;
  return kg_ell_assemble_cost(batch->m, &batch->count);
}

static kedge_status ell_apply(kedge_context *ctx, const kg_linear *base, const void *x, void *y,
                              const kg_pass *pass)
{
  return kg_ell_apply(ctx,
                      &(kg_ell_apply_args){
                          .matrix = ((const kg_ell *)base)->matrix, .x = x, .y = y, .pass = *pass});
}

static kg_cost ell_cost(const kg_linear *base)
{
  const kg_batch *batch = &((const kg_ell *)base)->batch;
  return kg_ell_apply_cost(batch->m, &batch->count);
}

const kg_linear_table kg_ell_table = {
    .setup = ell_setup, .setup_cost = ell_setup_cost, .apply = ell_apply, .cost = ell_cost};
