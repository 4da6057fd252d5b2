#include "ops/assembled/ell.h"

#include "device/context.h"
#include "ops/assembled/ell_block.h"

static int blocks_of(const kg_trace_counts *count)
{
  return count->n_wide_groups > 0 ? KG_ELL_WIDE_BLOCKS : KG_ELL_BLOCKS;
}

kg_ell_matrix kg_ell_shape(kg_sizes size, const kg_trace_counts *count)
{
  const int64_t rows = (int64_t)count->n_free * size.n_edge;
  return (kg_ell_matrix){.rows = rows,
                         .stride = (rows + KG_LANES - 1) / KG_LANES * KG_LANES,
                         .blocks = blocks_of(count),
                         .width = blocks_of(count) * size.n_edge};
}

kedge_status kg_ell_work_bytes(kedge_context *ctx, const kg_trace_counts *count, size_t *bytes)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_trace_counts *, size_t *) =
      KG_IMPLEMENTATIONS(kg_ell_work_bytes_host, kg_ell_work_bytes_cuda);
  return impl[ctx->backend](ctx, count, bytes);
}

/// Columns are 32-bit numbers in King's format, and widening them would cost a third more traffic.
static kedge_status check_columns(kedge_context *ctx, kg_sizes size, const kg_trace_counts *count)
{
  const int64_t columns = (int64_t)count->n_edges * size.n_edge;
  KG_REQUIRE(ctx, columns <= INT32_MAX, KEDGE_ERR_UNSUPPORTED,
             "the ELL matrix numbers its columns with 32 bits, too few for %lld trace unknowns: "
             "use the matrix-free operator",
             (long long)columns);
  return KEDGE_OK;
}

kedge_status kg_ell_assemble(kedge_context *ctx, const kg_ell_assemble_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_ell_assemble_args *) =
      KG_IMPLEMENTATIONS(kg_ell_assemble_host, kg_ell_assemble_cuda);
  const kg_sizes size = args->batch.reference.size;
  const kg_ell_matrix shape = kg_ell_shape(size, &args->batch.count), *given = &args->matrix;
  KG_TRY(check_columns(ctx, size, &args->batch.count));
  KG_REQUIRE(
      ctx,
      given->rows == shape.rows && given->stride == shape.stride && given->width == shape.width,
      KEDGE_ERR_INTERNAL, "the ELL matrix is %lld x %d where the trace needs %lld x %d",
      (long long)given->rows, (int)given->width, (long long)shape.rows, (int)shape.width);
  size_t needed;
  KG_TRY(kg_ell_work_bytes(ctx, &args->batch.count, &needed));
  KG_REQUIRE(ctx, args->work_bytes >= needed, KEDGE_ERR_INTERNAL,
             "the ELL assembly got %zu bytes of work memory and needs %zu", args->work_bytes,
             needed);
  if (shape.rows == 0) return KEDGE_OK;  // every edge is a Dirichlet edge
  return impl[ctx->backend](ctx, args);
}

kg_cost kg_ell_assemble_cost(kg_sizes size, const kg_trace_counts *count)
{
  const kg_ell_matrix shape = kg_ell_shape(size, count);
  const double sides = (double)count->n_sides, edges = count->n_edges;
  int passes = 1;  // of a radix sort by eight bits at a time
  while (passes < 4 && count->n_edges >> 8 * passes) ++passes;
  // A side: its edge and itself are made from the element's edges (12), moved by every pass (16),
  // the edge read by the sort's histogram and for the run lengths (8), the side read by its rows
  // (4). An edge: number and length written, length scanned (16), place and length read by its rows
  // (8).
  const double map = sides * (12.0 + 16.0 * passes + 8.0 + 4.0) + edges * (16.0 + 8.0);
  const double local = 8.0 * size.n_packed * count->n_elements;
  const double matrix = 12.0 * shape.width * (double)shape.stride;
  const double summed = (double)size.n_edge * size.n_edge;  // entries of an edge with two elements
  return (kg_cost){.bytes = map + local + matrix,
                   .flops = summed * ((double)count->n_interior + count->n_shared)};
}

kedge_status kg_ell_apply(kedge_context *ctx, const kg_ell_apply_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_ell_apply_args *) =
      KG_IMPLEMENTATIONS(kg_ell_apply_host, kg_ell_apply_cuda);
  if (args->pass.open) *args->pass.open = (kg_open){0};
  return impl[ctx->backend](ctx, args);
}

kg_cost kg_ell_apply_cost(kg_sizes size, const kg_trace_counts *count)
{
  const kg_ell_matrix shape = kg_ell_shape(size, count);
  const double entries = (double)shape.width * (double)shape.rows;
  const double vectors = 8.0 * ((double)size.n_edge * count->n_edges + (double)shape.rows);
  return (kg_cost){.bytes = 12.0 * entries + vectors, .flops = 2.0 * entries};
}
