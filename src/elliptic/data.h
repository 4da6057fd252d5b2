/// @file
/// The data of one solve, which it only reads: source, boundary values, initial trace, and the list
/// of the caller's arrays to fill.
#pragma once
#include "equation/mass.h"
#include "ops/sample/node_values.h"
#include "ops/vector/unknowns.h"
#include "problem/problem.h"
#include "solution/solution.h"

/// A field of which a solve gives values to its caller in device memory.
typedef struct kg_given {
  kg_held_field field;                     ///< whose modes are read
  kg_node_values_args of[KG_BATCHES_MAX];  ///< of all chunks, but for `from`
} kg_given;

/// A stage of a step in time: the solve of an equation with reaction + factor mass, whose load
/// vectors have factor (mass base, phi) beside the source.
typedef struct kg_moving {
  const kg_mass *mass;
  double factor;
  const double *base;  ///< [batch][group][N][lane]
  double *u;           ///< out, likewise
  double *work;        ///< as much, for the numbers of a solution that is made of it
} kg_moving;

/// Everything is borrowed.
typedef struct kg_data {
  /// The equation's own, or a view of it with the source and boundary values of this solve.
  const kg_resolved *resolved;
  bool gives_source;      ///< the caller of a solve gives the source, not the problem
  const int32_t *origin;  ///< [element] of the device: the caller gives a source there; or NULL
  /// [free row] in host memory: the initial trace of the iteration; NULL: zeros, or `taken`. With
  /// `takes_start` it is the trace itself, and there is no iteration.
  const double *start;
  /// The initial trace in device memory, used instead of `start`; all zeros: there is none. `to` is
  /// not set. Without `unknown` the trace is in the order of rows.
  kg_unknowns_args taken;
  bool takes_start;
  const kg_moving *moving;  ///< NULL: the problem is steady
  int n_given;
  const kg_given *given;  ///< [n_given]
} kg_data;
