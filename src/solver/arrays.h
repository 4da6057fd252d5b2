/// @file
/// Every array a solve keeps in device memory: its size and the stages it lives in, in one table.
/// Allocation, release and prediction all walk this table (solver/places.h), so a prediction cannot
/// drift from what is then allocated.
#pragma once
#include "backend/backend.h"
#include "basis/reference.h"
#include "kedge/solution.h"
#include "mesh/trace_layout.h"
#include "multigrid/multigrid.h"
#include "ops/local/local.h"
#include "solver/choose.h"

/// What sizes depend on.
typedef struct kg_shape {
  kg_sizes size;
  kg_trace_counts count;
  int64_t n_vertices;
  int n_points;  ///< of the sampling rule
  kg_choice choice;
  double diffusion;               ///< of the equation, scaled (kg_pipeline)
  double alignment;               ///< of the mesh's elements; with lines, of those without a pair
  int32_t n_lines, n_line_steps;  ///< mesh/edge_lines.h
  bool has_reaction;
  size_t ell_work_bytes, multigrid_work_bytes;
  size_t resident_bytes;  ///< of ops/cg_resident.h; 0: the ordinary loop
} kg_shape;

kg_multigrid_shape kg_shape_multigrid(const kg_shape *shape);

/// The vectors below the trace lie in one of the iteration, which is not used while they are
/// (kg_multigrid_vector_bytes()).
bool kg_shape_lends_vector(const kg_shape *shape);
/// The shape of the local matrices that the trace solve reads.
static inline kg_local kg_shape_local(const kg_shape *shape)
{
  return kg_local_all(shape->choice.layout, shape->choice.iterates, shape->size, &shape->count,
                      NULL);
}
/// The shape of the local matrices as they are made, in double precision. With precision = compact
/// the trace solve reads copies.
static inline kg_local kg_shape_made_local(const kg_shape *shape)
{
  const bool reduced = shape->choice.layout == KG_LAYOUT_REDUCED;
  return kg_local_all(reduced ? KG_LAYOUT_REDUCED : KG_LAYOUT_PACKED, KG_DOUBLE, shape->size,
                      &shape->count, NULL);
}
/// The shape of the full local matrices, which operator = matrix-free-plain multiplies with.
static inline kg_local kg_shape_full_local(const kg_shape *shape)
{
  return kg_local_all(KG_LAYOUT_FULL, KG_DOUBLE, shape->size, &shape->count, NULL);
}
/// Fill in the sizes of work that the backend says: those that depend on `count`.
kedge_status kg_shape_work(kedge_context *ctx, kg_shape *shape);

/// X(name, first stage, last stage): see arrays.c for the sizes and for what lives less.
#define KG_ARRAY_LIST(X)                           \
  X(CONNECTIVITY, TRANSFER, TRANSFER)              \
  X(VERTICES, TRANSFER, POSTPROCESS)               \
  X(VERTEX, TRANSFER, POSTPROCESS)                 \
  X(SIDE_EDGE, TRANSFER, POSTPROCESS)              \
  X(EDGE_SIDES, TRANSFER, TRACE_SOLVE)             \
  X(SIDE_CODES, TRANSFER, LOCAL_SOLVE)             \
  X(PATCH_EDGE, TRANSFER, LOCAL_SOLVE)             \
  X(PATCH_HALO, TRANSFER, LOCAL_SOLVE)             \
  X(HALO_EDGE, TRANSFER, LOCAL_SOLVE)              \
  X(REFERENCE, TRANSFER, POSTPROCESS)              \
  X(POINT_RULE, TRANSFER, POSTPROCESS)             \
  X(POINT_BASIS, TRANSFER, POSTPROCESS)            \
  X(LOAD, TRANSFER, POSTPROCESS)                   \
  X(SOURCE_VALUES, TRANSFER, POSTPROCESS)          \
  X(LOCAL, LOCAL_MATRICES, TRACE_SOLVE)            \
  X(LOCAL_CHUNK, LOCAL_MATRICES, TRACE_SOLVE)      \
  X(CONDENSED, LOCAL_MATRICES, LOCAL_MATRICES)     \
  X(RIGHT_HAND_SIDE, LOCAL_MATRICES, TRACE_SOLVE)  \
  X(INVERSE_DIAGONAL, LOCAL_MATRICES, TRACE_SOLVE) \
  X(FULL_LOCAL, ASSEMBLY, TRACE_SOLVE)             \
  X(ELL_COLUMN, ASSEMBLY, TRACE_SOLVE)             \
  X(ELL_VALUE, ASSEMBLY, TRACE_SOLVE)              \
  X(ELL_WORK, ASSEMBLY, ASSEMBLY)                  \
  X(MULTIGRID_TRACE, ASSEMBLY, TRACE_SOLVE)        \
  X(MULTIGRID_SPACE, ASSEMBLY, TRACE_SOLVE)        \
  X(MULTIGRID_COARSE, ASSEMBLY, TRACE_SOLVE)       \
  X(MULTIGRID_VECTORS, TRACE_SOLVE, TRACE_SOLVE)   \
  X(MULTIGRID_WORK, ASSEMBLY, ASSEMBLY)            \
  X(TRACE, TRACE_SOLVE, POSTPROCESS)               \
  X(RESIDUAL, TRACE_SOLVE, TRACE_SOLVE)            \
  X(PRECONDITIONED, TRACE_SOLVE, TRACE_SOLVE)      \
  X(DIRECTION, TRACE_SOLVE, TRACE_SOLVE)           \
  X(PRODUCT, TRACE_SOLVE, TRACE_SOLVE)             \
  X(HALO, TRACE_SOLVE, TRACE_SOLVE)                \
  X(OPERATOR_PARTIAL, TRACE_SOLVE, TRACE_SOLVE)    \
  X(VECTOR_PARTIAL, TRACE_SOLVE, TRACE_SOLVE)      \
  X(CG_STATE, TRACE_SOLVE, TRACE_SOLVE)            \
  X(CG_RESIDENT, TRACE_SOLVE, TRACE_SOLVE)         \
  X(U, LOCAL_SOLVE, POSTPROCESS)                   \
  X(Q, LOCAL_SOLVE, POSTPROCESS)                   \
  X(U_STAR, LOCAL_SOLVE, POSTPROCESS)              \
  X(INDICATOR, LOCAL_SOLVE, POSTPROCESS)           \
  X(CONSTANT_MODES, LOCAL_SOLVE, POSTPROCESS)      \
  X(EXACT_VALUES, LOCAL_SOLVE, POSTPROCESS)        \
  X(ERROR_SUMS, LOCAL_SOLVE, POSTPROCESS)

#define KG_ARRAY_ENUMERATOR(name, first, last) KG_ARRAY_##name,
typedef enum kg_array { KG_ARRAY_LIST(KG_ARRAY_ENUMERATOR) KG_ARRAY_COUNT } kg_array;
#undef KG_ARRAY_ENUMERATOR

/// Bytes of an array; 0: this solve does not have it.
size_t kg_array_bytes(kg_array array, const kg_shape *shape);
bool kg_array_lives(kg_array array, kedge_stage stage, const kg_shape *shape);

/// Groups a chunk of precision = compact: whole patches, as many as the memory of r and A p has
/// room for, or those that keep a GPU busy, 16 MiB; of small meshes a tenth, so that these too
/// take less memory than in double precision.
int32_t kg_compact_groups(const kg_shape *shape);
/// Bytes for the K^e of a chunk. The values of the source at the points of a group lie there too,
/// and are more than reduced K^e of a group at orders 1 and 2.
size_t kg_compact_local_bytes(const kg_shape *shape);
/// Bytes of r, and of A p: between residuals both lie in the memory of the chunk.
size_t kg_compact_vector_bytes(const kg_shape *shape);
