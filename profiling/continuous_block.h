/// @file
/// The elimination of continuous.h for one triangle by a block of threads, as King 2014 makes local
/// matrices: its packed rows in shared memory, the load as row n_modes. Between two barriers each
/// thread does a phase.
#pragma once
#include <math.h>

#include "continuous.h"
#include "core/inline.h"

/// Device memory of all triangles.
typedef struct cont_block_args {
  const cont_reference *ref;
  const double *factor;        ///< [triangle][4]
  const double *load;          ///< [triangle][mode]
  double *local, *outer_load;  ///< [triangle][packed outer], [triangle][outer]: condensed
  int n_triangles, n_modes, n_inner, n_outer;
} cont_block_args;

enum { CONT_BLOCK = 128, CONT_ACROSS = 16 };  ///< threads; of them along a row

KG_INLINE void cont_block_fill(const cont_block_args *a, int triangle, double *rows, int thread,
                               int threads)
{
  const int packed = a->n_modes * (a->n_modes + 1) / 2;
  const double *factor = a->factor + (size_t)triangle * 4;
  for (int at = thread; at < packed; at += threads)
    rows[at] = factor[0] * a->ref->stiffness[0][at] + factor[1] * a->ref->stiffness[1][at] +
               factor[2] * a->ref->stiffness[2][at] + factor[3] * a->ref->mass[at];
  for (int i = thread; i < a->n_modes; i += threads)
    rows[packed + i] = a->load[(size_t)triangle * (size_t)a->n_modes + (size_t)i];
}

/// Column k divided by the root of its pivot, which stays as it is: its row is not read again.
KG_INLINE void cont_block_scale(const cont_block_args *a, double *rows, int k, double root,
                                int thread, int threads)
{
  for (int i = k + 1 + thread; i <= a->n_modes; i += threads) rows[i * (i + 1) / 2 + k] /= root;
}

KG_INLINE void cont_block_update(const cont_block_args *a, double *rows, int k, int thread,
                                 int threads)
{
  for (int i = k + 1 + thread / CONT_ACROSS; i <= a->n_modes; i += threads / CONT_ACROSS) {
    double *row = rows + i * (i + 1) / 2;
    const int last = i < a->n_modes ? i : a->n_modes - 1;
    for (int j = k + 1 + thread % CONT_ACROSS; j <= last; j += CONT_ACROSS)
      row[j] -= row[k] * rows[j * (j + 1) / 2 + k];
  }
}

KG_INLINE void cont_block_store(const cont_block_args *a, int triangle, const double *rows,
                                int thread, int threads)
{
  const int n = a->n_modes, inner = a->n_inner, outer = a->n_outer;
  double *local = a->local + (size_t)triangle * (size_t)(outer * (outer + 1) / 2);
  for (int i = thread / CONT_ACROSS; i < outer; i += threads / CONT_ACROSS)
    for (int j = thread % CONT_ACROSS; j <= i; j += CONT_ACROSS)
      local[i * (i + 1) / 2 + j] = rows[(inner + i) * (inner + i + 1) / 2 + inner + j];
  for (int i = thread; i < outer; i += threads)
    a->outer_load[(size_t)triangle * (size_t)outer + (size_t)i] = rows[n * (n + 1) / 2 + inner + i];
}

/// Fill, scale and update for each interior mode, store.
KG_INLINE int cont_block_phases(const cont_block_args *a)
{
  return 2 * a->n_inner + 2;
}

KG_INLINE void cont_block_phase(const cont_block_args *a, int triangle, double *rows, int phase,
                                int thread)
{
  const int k = (phase - 1) / 2;
  if (phase == 0)
    cont_block_fill(a, triangle, rows, thread, CONT_BLOCK);
  else if (phase > 2 * a->n_inner)
    cont_block_store(a, triangle, rows, thread, CONT_BLOCK);
  else if (phase % 2 == 1)
    cont_block_scale(a, rows, k, sqrt(rows[k * (k + 1) / 2 + k]), thread, CONT_BLOCK);
  else
    cont_block_update(a, rows, k, thread, CONT_BLOCK);
}

#ifdef __cplusplus
extern "C"
#endif
    kedge_status
    cont_eliminate_cuda(kedge_context *ctx, const cont_block_args *args);
