/// @file
/// The matrix-free trace operator: y = sum_e A_e^T K^e A_e x (docs/layout.md#patches).
///
/// Patch by patch: the patch's part of x is staged, every element multiplies by its K^e, and
/// each edge inside the patch adds its two rows. Of an edge between two patches, the first writes y
/// and the second the halo buffer; a second pass adds that, or who reads y does
/// (ops/pass.h). No atomics: results repeat bit for bit.
#pragma once
#include "ops/local/local.h"
#include "ops/pass.h"
KEDGE_BEGIN_DECLS

typedef struct kg_trace_apply_args {
  kg_batch batch;
  /// K^e of the lanes of `batch`: PACKED, DIFFERENCES in single precision, or REDUCED of triangles
  kg_local local;
  const void *x;  ///< [trace edge][mode], of the number of `local`; Dirichlet rows are read too
  void *y;        ///< [free trace edge][mode], likewise
  void *halo;     ///< work: [edge between patches][mode], likewise
  kg_pass pass;   ///< a sum has a part a patch; `open` may be the halo's rows of y
} kg_trace_apply_args;

/// Whether there is a product of many vectors at once, with x, y and halo [edge][mode][vector]:
/// K^e are read once for all of them. On GPUs that is one of their shared memory.
bool kg_trace_takes_many(kedge_context *ctx, const kg_trace_apply_args *args);
/// Whether a GPU has a copy engine, and the shared memory for it.
bool kg_trace_many_fits(kedge_context *ctx, const kg_trace_apply_args *args);
bool kg_trace_many_fits_single(kedge_context *ctx, const kg_trace_apply_args *args);

/// The place of a side's numbers, from its code: an edge inside the patch has two places, then an
/// edge of the halo has one.
KG_INLINE int kg_code_place(int code, int n_inside)
{
  return code < 2 * n_inside ? code : n_inside + code / 2;
}

/// The row of y or halo that a patch writes for an edge of its halo; NULL for a Dirichlet edge.
KG_INLINE void *kg_halo_row(const kg_trace_apply_args *a, uint32_t halo_edge, int64_t row_bytes)
{
  const int64_t edge = halo_edge >> 1;
  if (edge >= a->batch.count.n_free) return NULL;
  return halo_edge & 1u ? (char *)a->halo + (edge - a->batch.count.n_interior) * row_bytes
                        : (char *)a->y + edge * row_bytes;
}

/// The most modes of a facet for which GPUs have a product in registers: with three facets those of
/// triangles of all orders; with four those of quadrilaterals up to order 8, of tetrahedra up to
/// order 3. With more, four facets have one in shared memory (trace_apply_any.cuh).
KG_CONSTEXPR int kg_modes_max(int n_facets)
{
  return n_facets == 3 ? KEDGE_ORDER_MAX + 1 : 10;
}

KG_DECLARE_OPERATOR_OF_NUMBERS(kg_trace_apply, kg_trace_apply_args);

typedef struct kg_trace_product_args {
  kg_batch batch;    ///< of all lanes
  kg_locals locals;  ///< each begins with a patch; all of one number
  const void *x;     ///< x, y, halo and pass as in kg_trace_apply_args
  void *y, *halo;
  kg_pass pass;
} kg_trace_product_args;

/// y = A x of all K^e: one kg_trace_apply() after another, each of the patches of a kg_local. Edges
/// between two of these lie between patches, so that none of them knows of the others; the last
/// one adds the halo, and each one adds what the sum has been before.
kedge_status kg_trace_product(kedge_context *ctx, const kg_trace_product_args *args);
/// The floor of one application: K^e once, x and y once.
kg_cost kg_trace_product_cost(int m, const kg_trace_counts *count, const kg_locals *locals);

/// Groups a patch for m modes of a facet: about the elements whose traces and products fit the
/// shared memory of a GPU block several times over.
KG_CONSTEXPR int kg_patch_groups(int m)
{
  return m <= 5 ? 8 : m <= KEDGE_ORDER_MAX + 1 ? 4 : 2;
}

KEDGE_END_DECLS
