/// @file
/// Local matrices by other means than kedge's, to compare: the algebra of docs/math.md#elimination
///
///   Z^-1 = L L^T,  W = L^-1 [R | f],  K^e = S0 - W^T W
///
/// of all modes, with dense matrices in column-major order, as libraries want them. A column of K^e
/// is followed by an entry of -F^e, which comes from the column f of W.
#pragma once
#include "device/backend.h"
#include "ops/local/triangle/local_matrices.h"
KEDGE_BEGIN_DECLS

/// A chunk of elements from the first on, in the memory of the context.
typedef struct baseline {
  kedge_context *ctx;
  kg_local_matrices_args args;  ///< of all elements; its outputs are not touched
  int64_t elements;
  kg_buffer operators;            ///< [element][N][N], lower triangles of Z^-1, then L
  kg_buffer lifts;                ///< [element][n + 1][N]: columns of [R | f], then W
  kg_buffer matrices;             ///< [element][n][n + 1]: columns of S0, 0; then of K^e, -F^e
  kg_buffer pointers, info;       ///< of the calls that want an address for every matrix
  struct batched_handles *batch;  ///< of the libraries of the GPU
} baseline;

/// One way to make them.
typedef struct baseline_variant {
  const char *name;
  bool lanes;  ///< matrices are [group][n (n+1) / 2][lane] as kedge's
  kedge_status (*open)(baseline *b);
  kedge_status (*call)(void *b);
  kedge_status (*build)(void *b);  ///< the part of call() that sets up; NULL: not apart
} baseline_variant;

/// Variants of a backend, and their number.
const baseline_variant *baseline_host_variants(int *n);
const baseline_variant *baseline_cuda_variants(int *n);

/// Bytes of a dense element.
size_t baseline_element_bytes(kg_sizes size);
void baseline_close(baseline *b);
void baseline_close_batched(struct batched_handles *batch);  ///< NULL is allowed

kedge_status baseline_build_cuda(baseline *b);
/// Addresses of every element's Z^-1, then of every element's [R | f].
kedge_status baseline_pointers_cuda(baseline *b);

/// Entry (i, j), j <= i, of Z^-1.
KG_INLINE double baseline_operator(const kg_reference *ref, const kg_element *e, int i, int j)
{
  const int k = i * (i + 1) / 2 + j;
  double sum = i == j ? e->mass : 0.0;
  for (int q = 0; q < 3; ++q)
    sum += e->stiffness[q] * ref->stiffness[q][k] + e->tau[q] * ref->edge_mass[q][k];
  return sum;
}

/// Entry (i, c) of R, without the sign of a reversed side.
KG_INLINE double baseline_lift(const kg_reference *ref, const kg_element *e, int i, int c)
{
  const int l = c / ref->size.n_edge, at = i * ref->size.n_trace + c;
  return e->tau[l] * ref->lift[at] + e->lift_r[l] * ref->lift_r[at] +
         e->lift_s[l] * ref->lift_s[at];
}

/// Entry (i, j), j <= i, of S0, without signs.
KG_INLINE double baseline_trace(const kg_reference *ref, const kg_element *e, int i, int j)
{
  const int m = ref->size.n_edge, l = i / m, k = j / m;
  return e->trace[l * (l + 1) / 2 + k] * ref->trace_mass[i * (i + 1) / 2 + j] +
         (i == j ? e->tau[l] : 0.0);
}

/// Sign of column c of R.
KG_INLINE double baseline_sign(const kg_trace_arrays *arrays, int m, int64_t element, int c)
{
  const int64_t at = (element / KG_LANES * 3 + c / m) * KG_LANES + element % KG_LANES;
  return kg_side_sign(arrays->side_edge[at], c % m);
}

KEDGE_END_DECLS
