/// @file
/// A start from a lower order (docs/multigrid.md#a-start-from-a-lower-order): the trace system
/// restricted to the first modes of every edge is solved roughly, and its solution added to x. Its
/// matrices are parts of K^e and its coarse space is that of multigrid: little has to be made.
#pragma once
#include "solver/arrays.h"
#include "solver/cg.h"

/// It ends where its residual is so small beside that of a start from zero, or the solve would end.
#define KG_NESTED_TOLERANCE 1e-7

/// Order of the start for a solve of an order; 0: there is none that pays.
int kg_nested_order(int order);

typedef struct kg_nested {
  kg_sizes size, upper_size;
  kg_trace_operator op;
  kg_multigrid multigrid;  ///< of the lower order; unused with Jacobi
  bool has_multigrid;
  kg_cg_vectors_args vectors, upper;
  double *b;  ///< behind vectors.b
  double tolerance, boundary_residual;
  int64_t n_elements, max_iterations;
  int64_t iterations;  ///< that it took
  double seconds;      ///< of them
} kg_nested;

/// Bytes of all it keeps; 0 without such a start.
size_t kg_nested_bytes(const kg_shape *shape);

typedef struct kg_nested_args {
  const kg_shape *shape;
  kg_batch batch;
  const double *local;             ///< K^e
  const double *inverse_diagonal;  ///< Jacobi
  const kg_multigrid *multigrid;   ///< made already; with Jacobi not used
  void *memory;                    ///< kg_nested_bytes()
  void *work;                      ///< multigrid: as that of the solve
} kg_nested_args;

/// Matrices and preconditioner of the lower order.
kedge_status kg_nested_create(kedge_context *ctx, const kg_nested_args *args, kg_nested *out);

kg_cost kg_nested_create_cost(const kg_shape *shape);
/// What is known when the solve begins: the largest eigenvalue of multigrid, if it was measured,
/// which bounds that of the lower order, whose space and blocks are parts of those of the solve;
/// its vectors and settings.
void kg_nested_prepare(kg_nested *nested, const kg_multigrid *multigrid,
                       const kg_cg_vectors_args *upper, const kg_cg_settings *settings);
/// What kg_cg_settings.improve is to be, with the kg_nested as user: x += the solution for the
/// residual b - ap of nested->upper, whose partial is work.
kg_cg_improve kg_nested_improve;
/// What that did.
kg_cost kg_nested_cost(const kg_nested *nested);
