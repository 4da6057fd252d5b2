/// @file
/// The solver of the coarse system of the multigrid preconditioner: roughly in each iteration, or
/// well in a first one, whose residual is smooth. It is kg_amg, or in tests an exact solver in its
/// place.
#pragma once
#include "mesh/mesh.h"
#include "precondition/amg/csr.h"
KEDGE_BEGIN_DECLS

typedef struct kg_coarse kg_coarse;  ///< of the solver

/// Device memory that a solver takes.
typedef struct kg_coarse_bytes {
  int64_t kept;     ///< bytes held as long as the solver lives
  int64_t vectors;  ///< bytes lent to the solver while it solves
  int64_t work;     ///< more bytes, held while it is created
} kg_coarse_bytes;

/// A solver is given this beside the matrix: device memory, as much as its `bytes` says (where it
/// needs more, it allocates the rest), and what is known of the mesh.
typedef struct kg_coarse_memory {
  void *kept, *work;
  size_t kept_bytes, work_bytes;
  const kedge_mesh
      *refined;        ///< NULL, or the mesh with a vertex a row, whose levels are to be used
  bool has_corners;    ///< there are entries for opposite corners of quadrilaterals
  bool by_quadrature;  ///< the matrix is of curved elements or coefficients that vary in them
} kg_coarse_memory;

typedef struct kg_coarse_table {
  /// The memory that create() needs for a matrix of linear finite elements with n_entries entries
  /// beside the diagonal: enough for any but strange ones.
  /// @param[in] spare  bytes that may be kept for speed alone
  kg_coarse_bytes (*bytes)(int64_t n_rows, int64_t n_entries, int64_t spare);
  /// The matrix is symmetric and positive definite; its arrays stay with the caller, who keeps
  /// them, as is `memory`.
  /// @retval KEDGE_ERR_NUMERIC  the matrix is not positive definite
  kedge_status (*create)(kedge_context *ctx, const kg_csr *matrix, kg_coarse_memory memory,
                         kg_coarse **out);
  /// Lend the solver memory for its vectors before it solves; it allocates what it lacks. Between
  /// solves the memory may hold something else.
  kedge_status (*lend)(kedge_context *ctx, kg_coarse *coarse, void *vectors, size_t bytes);
  /// x = M b, M a symmetric positive definite approximation of the inverse; or, with room, an x
  /// that is nearer to the solution, and no linear function of b. Only launches.
  /// @param  room  NULL, or work, [2 n_rows], for the better and dearer x: of a smooth b next to
  ///               nothing is left in the residual. What is written there is zero afterwards
  /// @param  b     [n_rows]; with room it may be spoilt
  /// @param  x     [n_rows]: out; not b
  kedge_status (*solve)(kedge_context *ctx, kg_coarse *coarse, double *room, double *b, double *x);
  /// A solver of the same matrix for KG_VECTORS vectors, [row][vector], to which as many times the
  /// memory is lent. It reads what the other one keeps, and is destroyed before it.
  kedge_status (*of_many)(kedge_context *ctx, const kg_coarse *coarse, kg_coarse **out);
  int (*levels)(const kg_coarse *coarse);
  void (*destroy)(kedge_context *ctx, kg_coarse *coarse);  ///< NULL is allowed
} kg_coarse_table;

extern const kg_coarse_table kg_amg;  ///< smoothed aggregation (amg.h)

KEDGE_END_DECLS
