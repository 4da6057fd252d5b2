/// @file
/// precision = compact: of K^e only those in single precision stay, reduced, or with reaction K'
/// (ops/local_entry.h), and the system is solved by iterative refinement (docs/math.md#compact).
/// K^e in double precision is made chunk by chunk, of so many consecutive patches, once for those
/// and again for every residual b - A x, up to order 3 with the chunk's part of b.
#pragma once
#include "solver/cg.h"
#include "solver/pipeline.h"

/// The residual is made anew when that of the recurrence has fallen by so much.
#define KG_COMPACT_GAIN 1e5

/// Local matrices, in single precision, and F^e of all elements, where b is kept.
kedge_status kg_compact_local_matrices(kg_pipeline *p);

/// The vectors of the iteration, in single precision, and where a residual lies in double: where p
/// and z lie otherwise. r and A p lie where a chunk of K^e does while a residual is made.
void kg_compact_vectors(const kg_pipeline *p, kg_cg_vectors_args *vectors);

/// What kg_compact_start() works on.
typedef struct kg_compact {
  kg_pipeline *pipeline;
  const kg_cg_vectors_args *vectors;
} kg_compact;

/// A kg_cg_refinement's start: r = b - A x with A in double precision, or b alone, then rounded;
/// p = z = 0.
/// @param[in] user  a kg_compact
kedge_status kg_compact_start(void *user, bool of_zero);
kg_cost kg_compact_start_cost(const kg_shape *shape);
