/// @file
/// All choices of a solve that its problem leaves open or implies: preconditioner, layout of local
/// matrices, number of smoothing steps and so on. They are made once, before memory is allocated.
#pragma once
#include "space/trace_layout.h"
#include "equation/equation.h"

/// Degrees: with a smaller angle edge blocks take more than some 25 iterations.
enum { KG_LINE_ANGLE = 20 };

typedef enum kg_precond_kind {
  KG_JACOBI,
  KG_BLOCKS,  ///< the smoother of multigrid alone
  KG_CYCLE    ///< multigrid
} kg_precond_kind;

/// How b - A x is made.
typedef enum kg_residual_kind {
  KG_PLAIN,             ///< by the product of the iteration, from a b that stays
  KG_REMADE,            ///< K^e are made again, chunk by chunk, in double precision
  KG_REMADE_WITH_LOADS  ///< K^e likewise, and b from the source
} kg_residual_kind;

/// The number of residuals that most solves with precision = compact make in double precision.
enum { KG_RESIDUALS = 3 };

typedef struct kg_choice {
  bool by_quadrature;       ///< of all elements; else of those that are no triangles
  bool varies;              ///< coefficients have values at the points of elements
  bool is_uniform;          ///< diffusion is a number; it and reaction are the same everywhere
  bool reads_regions;       ///< functions that a GPU evaluates do
  const kg_form *form;      ///< of all elements
  kedge_operator linear;    ///< the operator that makes A x
  kg_precond_kind precond;  ///< KG_JACOBI but with the product by patches
  kedge_smoother smoother;  ///< not AUTO; without KG_JACOBI
  int steps;                ///< of smoothing before and after a coarse correction; 0: there is none
  kg_layout layout;         ///< of K^e in the trace solve
  kg_number iterates;       ///< number of K^e and of the iteration
  kg_number cycles;         ///< number of the preconditioner on the trace
  bool resident;            ///< one kernel iterates (ops/trace/cg_resident.h)
  kg_residual_kind residual;
  bool loads_stay;          ///< through the trace solve; else load vectors are made again after it
  bool sides_stay;          ///< of the elements likewise (ops/trace/trace_sides.h)
  bool facet_sides_stay;    ///< sides of the edges stay until the trace system is solved
  bool repeats;             ///< one set-up, many solves
  bool marches;             ///< which are stages of steps in time
  bool apart;               ///< no array lies in another one: for programs that measure parts
  unsigned kept;            ///< fields of the solution: a set of solution/solution.h
  bool wants_means;         ///< over the elements, in place of u, q, u* and the trace
  bool wants_errors;        ///< against an exact solution
  int32_t recover_groups;   ///< groups handled at once where local solutions are held
  int32_t residual_groups;  ///< groups a chunk of K^e that are made again
} kg_choice;

typedef struct kg_choose_args {
  const kg_equation *equation;
  const kg_trace_counts *count;
  kedge_operator linear;  ///< that of the problem, or one that a plan compares with
  int n_batches;
} kg_choose_args;

/// Check that the settings of a problem are implemented for the shapes of the mesh's elements.
/// @retval KEDGE_ERR_INPUT  a setting is not implemented; the error message names it
kedge_status kg_choose_check(kedge_context *ctx, const kg_choose_args *args);

/// All but what depends on sizes of arrays: `loads_stay` is true, both numbers of groups are 0.
kg_choice kg_choose(kedge_context *ctx, const kg_choose_args *args);
/// The preconditioner's name in problem files and reports.
const char *kg_precond_name(kg_precond_kind kind);
