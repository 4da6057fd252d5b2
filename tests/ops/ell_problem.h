/// @file
/// A mesh, random local matrices, and the trace matrix made of them: dense, matrix-free and as ELL.
#pragma once
#include "backend.h"
#include "device/context.h"
#include "layout.h"
#include "ops/assembled/ell.h"
#include "ops/local/convert.h"
#include "ops/trace/trace_apply.h"
#include "ops/trace/trace_gather.h"

enum boundary { ALL_NEUMANN, MIXED, ALL_DIRICHLET, N_BOUNDARIES };

/// Host copies for the checks, device copies for the operators.
typedef struct ell_problem {
  kedge_context *ctx;
  kedge_mesh *mesh;
  test_layout layout;
  kg_sizes size;
  kg_batch batch;  ///< device arrays
  double *local;   ///< host, 0 in empty lanes
  double *dense,
      *sum;  ///< [columns][columns] the matrix; sums of |entries| that were added to each
  int64_t columns;
  kg_ell_matrix matrix;  ///< device
  int32_t *column;       ///< host copies of the matrix
  double *value;
  kg_buffer buffers[24];
  int n_buffers;
} ell_problem;

/// What a product finds and leaves in device memory beside its vectors.
typedef struct pass_state {
  double dot;  ///< x . y
  int32_t stop;
} pass_state;

/// A product and what became of the state; the caller frees y.
typedef struct ell_product {
  double *y;  ///< [rows]
  pass_state state;
} ell_product;

/// The first n triangles of a distorted grid. Dirichlet in a MIXED problem: sides at its left and
/// bottom.
void ell_problem_create(ell_problem *p, kedge_context *ctx, int n, int order,
                        enum boundary boundary);
void ell_problem_destroy(ell_problem *p);

/// Numbers of the ELL matrix, its missing ones and padding included.
size_t ell_problem_entries(const ell_problem *p);
/// Random x [columns], to be freed; zero on Dirichlet edges unless `everywhere`.
double *ell_problem_vector(const ell_problem *p, bool everywhere);
/// An operator's product, from a y of NaN. `before` may be NULL: no state.
typedef ell_product ell_problem_operator(ell_problem *p, const double *x, const pass_state *before);
ell_problem_operator ell_problem_apply, ell_problem_apply_matrix_free, ell_problem_apply_plain;
/// Full local matrices as the device has made them; the caller frees them.
double *ell_problem_full(ell_problem *p);

/// How far two computations of a row of the product may be apart: the errors of its sums.
double ell_problem_rounding(const ell_problem *p, int64_t row, const double *x);

/// x . A x is that of the matrix-free operator to rounding, is positive, and is all that the
/// operator changes of the state.
void ell_problem_check_dot(ell_problem *p, ell_problem_operator *apply);
/// Product, state and matrix are the same to the bit in another run and with other threads.
void ell_problem_check_repeatable(ell_problem_operator *apply);
/// Nothing happens after a stop.
void ell_problem_check_stopped(kedge_context *ctx, ell_problem_operator *apply);
/// x . A x of a matrix that is not positive definite is negative.
void ell_problem_check_indefinite(kedge_context *ctx, ell_problem_operator *apply);
