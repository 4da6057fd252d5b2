/// @file
/// The phases of a trace solve, in which its arrays live (device/plan.h).
#pragma once
#include "device/plan.h"

typedef enum kg_phase {
  KG_PHASE_TRANSFER,  ///< mesh, tables and load vectors are brought to the device
  KG_PHASE_LOCAL,     ///< local matrices, right-hand side, inverse diagonal
  KG_PHASE_ASSEMBLY,  ///< other forms of the operator, the blocks of a smoother
  KG_PHASE_SPACE,     ///< the coarse space of multigrid
  KG_PHASE_GALERKIN,  ///< the matrix of the coarse space
  KG_PHASE_LEVELS,    ///< the solver of the coarse space
  KG_PHASE_BOUND,     ///< the largest eigenvalue of the smoother is measured
  KG_PHASE_RESIDUAL,  ///< b - A x is made
  KG_PHASE_ROUND,     ///< the residual is handed over to the iteration: both live
  KG_PHASE_DOWN,      ///< a cycle of multigrid: smoothing and its products
  KG_PHASE_RESTRICT,  ///< the residual goes to the coarse space
  KG_PHASE_COARSE,    ///< the coarse system is solved
  KG_PHASE_CORRECT,   ///< the coarse solution comes back
  KG_PHASE_UP,        ///< smoothing and its products
  KG_PHASE_STEP,      ///< the rest of an iteration: p, A p, x and r
  KG_PHASE_RECOVER,   ///< local solve and post-processing
  KG_PHASE_LOADS,     ///< the next solve of a set-up: boundary data and load vectors
  KG_PHASE_CONDENSE,  ///< its F^e and b
  KG_PHASE_COUNT
} kg_phase;

/// A phase as a set; from one phase to another one.
#define KG_IN(name)          (1u << KG_PHASE_##name)
#define KG_FROM(first, last) (2 * KG_IN(last) - KG_IN(first))
#define KG_IN_ITERATION      KG_FROM(DOWN, STEP)
#define KG_IN_SOLVE          KG_FROM(BOUND, STEP)
#define KG_IN_SETUP          KG_FROM(TRANSFER, LEVELS)
#define KG_IN_EACH           (KG_FROM(BOUND, RECOVER) | KG_IN(LOADS) | KG_IN(CONDENSE))

static const kg_phases kg_solve_phases = {KG_IN_SETUP, KG_IN_EACH};
