#include "solver/nested.h"

#include <math.h>

#include "core/clock.h"
#include "core/context.h"
#include "core/nvtx.h"
#include "ops/order_transfer.h"
#include "ops/pcg_vectors.h"

/// Half the order, or the lowest whose patches are those of the order, where that is lower enough
/// to pay: an iteration costs (P' + 1)^2 / (P + 1)^2.
int kg_nested_order(int order)
{
  int lower = order / 2;
  while (lower < order && kg_patch_groups(lower) != kg_patch_groups(order)) ++lower;
  return 4 * lower <= 3 * order ? lower : 0;
}

/// With K^e of the form that the solve has.
static kg_multigrid_shape lower_shape(const kg_shape *shape)
{
  kg_multigrid_shape lower = kg_shape_multigrid(shape);
  lower.size = kg_sizes_of(shape->start_order);
  return lower;
}

static size_t local_count(const kg_shape *s)
{
  const kg_sizes lower = kg_sizes_of(s->start_order);
  const int rows = kg_shape_reduces(s) ? kg_reduced_rows(lower) : lower.n_packed;
  return (size_t)rows * KG_LANES * (size_t)s->count.n_groups;
}

/// Where everything lies in memory that may be NULL for its size.
static kg_nested nested_at(const kg_shape *s, void *memory, void **multigrid, size_t *bytes)
{
  const kg_multigrid_shape lower = lower_shape(s);
  const size_t d = sizeof(double), m = (size_t)lower.size.n_edge;
  const size_t free_rows = (size_t)s->count.n_free * m, all_rows = (size_t)s->count.n_edges * m;
  kg_nested n = {
      .size = lower.size, .upper_size = s->size, .has_multigrid = kg_shape_has_multigrid(s)};
  *bytes = 0;
  kg_trace_apply_args *op = &n.op.matrix_free;
  op->reduced = kg_shape_reduces(s);
  op->local = kg_piece(memory, local_count(s), d, bytes);
  op->halo = kg_piece(memory, (size_t)s->count.n_shared * m, d, bytes);
  op->partial = kg_piece(memory, (size_t)s->count.n_patches, d, bytes);
  kg_cg_vectors_args *v = &n.vectors;
  n.b = kg_piece(memory, free_rows, d, bytes);
  v->b = n.b;
  v->x = kg_piece(memory, all_rows, d, bytes);
  v->p = kg_piece(memory, all_rows, d, bytes);
  v->ap = kg_piece(memory, free_rows, d, bytes);
  if (!kg_shape_is_mixed(s)) v->z = kg_piece(memory, all_rows, d, bytes);
  if (n.has_multigrid)
    v->r = kg_piece(memory, free_rows, d, bytes);
  else
    v->inverse = kg_piece(memory, free_rows, d, bytes);
  v->state = kg_piece(memory, 1, sizeof *v->state, bytes);
  v->n = (int64_t)free_rows;
  *multigrid = kg_piece(memory, n.has_multigrid ? kg_multigrid_trace_bytes(&lower) : 0, 1, bytes);
  return n;
}

size_t kg_nested_bytes(const kg_shape *shape)
{
  size_t bytes;
  void *multigrid;
  if (!kg_shape_is_nested(shape)) return 0;
  nested_at(shape, NULL, &multigrid, &bytes);
  return bytes;
}

kedge_status kg_nested_create(kedge_context *ctx, const kg_nested_args *a, kg_nested *out)
{
  const kg_trace_counts *count = &a->shape->count;
  size_t bytes;
  void *memory;
  *out = nested_at(a->shape, a->memory, &memory, &bytes);
  out->n_elements = count->n_elements;
  kg_batch batch = a->batch;
  batch.reference = (kg_reference){.size = out->size};  // products need no more of it
  out->op.matrix_free.batch = batch;
  KG_TRY(kg_order_local(ctx, &(kg_order_local_args){.from_size = a->shape->size,
                                                    .to_size = out->size,
                                                    .n_groups = count->n_groups,
                                                    .reduced = kg_shape_reduces(a->shape),
                                                    .from = a->local,
                                                    .to = (double *)out->op.matrix_free.local}));
  if (!out->has_multigrid)
    return kg_order_restrict(ctx, &(kg_order_vector_args){.n_edges = count->n_free,
                                                          .m_from = a->shape->size.n_edge,
                                                          .m_to = out->size.n_edge,
                                                          .from = a->inverse_diagonal,
                                                          .to = (double *)out->vectors.inverse});
  const kg_multigrid_args args = {.shape = lower_shape(a->shape),
                                  .batch = batch,
                                  .local = {out->op.matrix_free.local, KG_DOUBLE,
                                            kg_shape_form(a->shape), batch.arrays.side_edge},
                                  .trace = memory,
                                  .work = a->work};
  KG_TRY(kg_multigrid_lower(ctx, &args, a->multigrid, &out->multigrid));
  out->vectors.z_single = out->multigrid.single.z;
  return KEDGE_OK;
}

kg_cost kg_nested_create_cost(const kg_shape *shape)
{
  const kg_multigrid_shape lower = lower_shape(shape);
  const kg_cost local =
      kg_order_local_cost(lower.size, kg_shape_reduces(shape), shape->count.n_elements);
  return kg_cost_plus(local, 1,
                      kg_shape_has_multigrid(shape)
                          ? kg_multigrid_lower_cost(&lower)
                          : (kg_cost){.bytes = 2 * 8.0 * lower.size.n_edge * shape->count.n_free});
}

void kg_nested_prepare(kg_nested *n, const kg_multigrid *multigrid, const kg_cg_vectors_args *upper,
                       const kg_cg_settings *settings)
{
  n->upper = *upper;
  n->vectors.partial = upper->partial;
  n->multigrid.residual = multigrid->residual;
  n->multigrid.correction = multigrid->correction;
  if (n->has_multigrid && kg_multigrid_is_measured(&multigrid->shape))
    n->multigrid.largest_eigenvalue = multigrid->largest_eigenvalue;
  n->tolerance = fmax(KG_NESTED_TOLERANCE, settings->tolerance);
  n->max_iterations = settings->max_iterations;
  n->boundary_residual = settings->boundary_residual;
}

kg_cost kg_nested_cost(const kg_nested *n)
{
  const kg_batch *batch = &n->op.matrix_free.batch;
  const kg_cost product =
      kg_trace_apply_cost(n->size, &batch->count, n->op.matrix_free.reduced, KG_DOUBLE);
  const kg_cost beside = n->has_multigrid ? kg_multigrid_apply_cost(&n->multigrid.shape)
                                          : kg_cg_vectors_cost(n->vectors.n);
  kg_cost iteration = kg_cost_plus(product, 1, beside);
  if (n->has_multigrid)
    iteration = kg_cost_plus(iteration, 1, kg_pcg_vectors_cost(n->vectors.n, KG_DOUBLE));
  const kg_cost transfer = kg_order_vector_cost(batch->count.n_free, n->size.n_edge);
  return kg_cost_plus(transfer, (double)n->iterations, iteration);
}

/// Vectors of the lower order: b restricted, others zero where they have to be.
static kedge_status begin(kedge_context *ctx, kg_nested *n)
{
  const kg_trace_counts *count = &n->op.matrix_free.batch.count;
  const size_t all = (size_t)count->n_edges * (size_t)n->size.n_edge * sizeof(double);
  KG_TRY(kg_zero(ctx, n->vectors.x, all));
  KG_TRY(kg_zero(ctx, n->vectors.p, all));
  if (n->vectors.z) KG_TRY(kg_zero(ctx, n->vectors.z, all));
  KG_TRY(kg_zero(ctx, n->vectors.state, sizeof *n->vectors.state));
  return kg_order_restrict(ctx, &(kg_order_vector_args){.n_edges = count->n_free,
                                                        .m_from = n->upper_size.n_edge,
                                                        .m_to = n->size.n_edge,
                                                        .from = n->upper.b,
                                                        .minus = n->upper.ap,
                                                        .to = n->b});
}

static kedge_status improve(kedge_context *ctx, kg_nested *n, double rr)
{
  const kg_cg_settings settings = {.tolerance = n->tolerance,
                                   .max_iterations = n->max_iterations,
                                   .n_elements = n->n_elements,
                                   .rr_start = rr,
                                   .boundary_residual = n->boundary_residual,
                                   .rough = true,
                                   .multigrid = n->has_multigrid ? &n->multigrid : NULL};
  KG_TRY(begin(ctx, n));
  kg_cg_result result;
  KG_TRY(kg_cg_solve(ctx, &n->op, &n->vectors, settings, &result));
  n->iterations = result.iterations;
  KG_TRY(kg_order_add(ctx, &(kg_order_vector_args){.n_edges = n->op.matrix_free.batch.count.n_free,
                                                   .m_from = n->size.n_edge,
                                                   .m_to = n->upper_size.n_edge,
                                                   .from = n->vectors.x,
                                                   .to = n->upper.x}));
  return kg_sync(ctx);
}

kedge_status kg_nested_improve(kedge_context *ctx, void *user, double rr)
{
  kg_nested *n = user;
  const double began = kg_seconds();
  kg_range_push("nested_start", n->n_elements, n->vectors.n);
  const kedge_status status = improve(ctx, n, rr);
  kg_range_pop();
  n->seconds = kg_seconds() - began;
  return status;
}
