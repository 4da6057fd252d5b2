/// @file
/// Every operator of a solve, called with inputs and outputs in host arrays, so that one result can
/// be held against another: of another backend, of another run, of a dense computation.
#pragma once
#include "case.h"

/// What goes into operators and comes out of them. [group] arrays are whole, not chunks.
typedef enum op_array {
  OP_SOURCE,     ///< in: [group][point][lane]
  OP_EXACT,      ///< in: [group][3][point][lane]
  OP_TRACE,      ///< in: [trace edge][mode], Dirichlet rows too
  OP_LOAD,       ///< [group][N][lane]
  OP_LOCAL,      ///< [group][n (n+1) / 2][lane]
  OP_CONDENSED,  ///< [group][n][lane]
  OP_RHS,        ///< [free edge][mode], facet_loads of CONDENSED
  OP_INVERSE,    ///< [free edge][mode], facet_diagonal of LOCAL
  OP_PRODUCT,    ///< [free edge][mode], K TRACE
  OP_PRODUCT_STATE,
  OP_OPEN,  ///< the product with open rows
  OP_HALO,  ///< [edge between patches][mode]: what is missing there
  OP_Z,     ///< of start: INVERSE (RHS - PRODUCT)
  OP_P,     ///< of start; [trace edge][mode], so below
  OP_START_STATE,
  OP_Z_NEXT,  ///< of update
  OP_UPDATE_STATE,
  OP_Z_OPEN,  ///< of update with open rows: Z_NEXT
  OP_OPEN_STATE,
  OP_X_NEXT,  ///< of direction: TRACE moved along P
  OP_P_NEXT,
  OP_DIRECTION_STATE,
  OP_U,          ///< [group][N][lane]
  OP_Q,          ///< [group][2 N][lane]
  OP_U_STAR,     ///< [group][N*][lane]
  OP_INDICATOR,  ///< [group][lane]
  OP_ERRORS,     ///< [group][4]: kg_error_sums
  OP_CONSTANT,   ///< [group][3][lane]
  OP_ARRAYS
} op_array;

typedef struct op_data {
  double *array[OP_ARRAYS];  ///< owned
} op_data;

/// States (kg_cg_state) as numbers.
enum {
  STATE_P_AP,
  STATE_RZ,
  STATE_RZ_NEXT,
  STATE_RR,
  STATE_ITERATIONS,
  STATE_STEPS,
  STATE_STOP,
  STATE_NUMBERS
};

typedef struct op_operation {
  const char *name;
  void (*run)(op_case *c, const op_data *in, op_data *out);
  op_array outputs[3];
  int n_outputs;
} op_operation;

enum { OPERATIONS = 14 };
/// The operators in the order of a solve: each finds its inputs among the outputs of those before.
extern const op_operation op_operations[OPERATIONS];

size_t op_count(const op_case *c, op_array array);
/// Rows of an array [group][row][lane]; 0: it is not of that kind.
int op_lane_rows(const op_case *c, op_array array);

/// Let the empty lanes of an input repeat the last element, as they do in a solve.
void op_repeat_last(const op_case *c, op_array array, double *values);
/// Random inputs.
void op_inputs(const op_case *c, op_data *data);
/// Run the first `count` of op_operations, each on the results of those before.
void op_run_first(op_case *c, int count, op_data *data);
/// Runs all operators.
void op_run_all(op_case *c, op_data *data);
/// Reduced K^e of the case (ops/local/reduced.h), which has no reaction, in its device memory; F^e
/// of the loads of `data` too, unless `condensed` is NULL.
kg_local op_reduced(op_case *c, const op_data *data, double **condensed);
size_t op_reduced_count(const op_case *c);
void op_free(op_data *data);

typedef void op_check(op_case *c, const op_data *data);
/// Check what all of them make of random inputs on the irregular mesh.
void op_with(kedge_context *ctx, int n_elements, int order, enum case_boundary boundary,
             kg_material material, op_check *check);
/// Runs a check at every order.
void op_with_every_order(kedge_context *ctx, kg_material material, op_check *check);
