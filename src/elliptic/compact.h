/// @file
/// Solves with precision = compact. Only single precision copies of the local matrices K^e stay in
/// memory: reduced, or with a reaction or quadrilaterals as K' (ops/local/differences.h). The trace
/// system is solved by iterative refinement (docs/math.md#compact).
/// K^e in double precision is computed chunk by chunk (some consecutive patches), once for the
/// copies and again for each residual b - A x; up to order 3 the chunk's part of b is recomputed
/// too. From order 4 on b is kept. It is computed with the first K^e or, if one set-up serves many
/// solves, in each solve. Load vectors and F^e exist for one chunk at a time.
#pragma once
#include "linear/cg.h"
#include "elliptic/elliptic.h"

/// The residual is made anew when that of the recurrence has fallen by so much.
#define KG_COMPACT_GAIN 1e5

/// Find elements whose load vectors change with more points, and integrate their source by parts.
kedge_status kg_compact_look(kg_elliptic *p);
/// Compute local matrices in single precision and, if it is kept and this is no set-up, also b.
kedge_status kg_compact_local_matrices(kg_elliptic *p);
/// Compute b, if it is kept, for a solve after a set-up.
kedge_status kg_compact_condense(kg_elliptic *p);

/// r = b - A x with A in double precision, made again.
typedef struct kg_remade_residual {
  kg_residual base;
  kg_elliptic *elliptic;
} kg_remade_residual;
kg_remade_residual kg_remade_residual_of(kg_elliptic *p);
