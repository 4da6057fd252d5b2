/// @file
/// What conjugate gradients know of M A, whose tridiagonal matrix T of Lanczos their scalars are:
/// T = L D L^T, with D_k = 1 / alpha_k, and L one below its diagonal, sqrt(beta_k).
#pragma once
#include "device/backend.h"
#include "ops/vector/cg_state.h"
KEDGE_BEGIN_DECLS

/// The steps of an iteration, in host memory. Zero-initialise; an iteration sets `first`, and n to
/// 0; kg_lanczos_free().
typedef struct kg_lanczos {
  int64_t first;    ///< number of the first step, as the iteration counts
  int64_t n, room;  ///< steps that have been taken
  kg_cg_step *step;
} kg_lanczos;

/// Take all steps before `end` from device memory, [KG_CG_STEPS], which has had no more since.
/// @param[in] steps  NULL: none are kept
kedge_status kg_lanczos_take(kedge_context *ctx, kg_lanczos *lanczos, const kg_cg_step *steps,
                             int64_t end);
/// Take them if `more` that come would overwrite some: each time waits for the device.
kedge_status kg_lanczos_spare(kedge_context *ctx, kg_lanczos *lanczos, const kg_cg_step *steps,
                              int64_t end, int64_t more);
/// An upper estimate of r . A^-1 r over r . r at the end of the iteration.
/// @param[in] rz_part  r . z over r . r there; 0: not known, the most of the second half of the
///                     steps stands for it
double kg_lanczos_energy(const kg_lanczos *lanczos, double rz_part);
void kg_lanczos_free(kg_lanczos *lanczos);

KEDGE_END_DECLS
