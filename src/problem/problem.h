/// @file
/// The inside of a problem, and its meeting with a mesh.
#pragma once
#include "kedge/problem.h"
#include "expression/function.h"
#include "problem/settings.h"

typedef struct kg_boundary {
  char *group;  ///< name or number as given
  kedge_boundary_type type;
  kg_function value;
  const kg_setting *type_at, *value_at;  ///< borrowed from settings; NULL: not set
} kg_boundary;

/// The tolerance that `tolerance = auto` asks for where rounding allows it.
#define KG_TOLERANCE_AUTO 1e-10

struct kedge_problem {
  kedge_context *ctx;
  const char *path;  ///< of the problem file, NULL: none; borrowed from settings
  char *mesh_file;   ///< with the folder of the problem file before it, unless it is absolute
  char *mesh_generate;
  int refine;
  int order;
  double stabilization;  ///< 0: diffusion over the length of the domain
  kedge_scaling stabilization_scaling;
  double diffusion, reaction;
  kg_function source;
  kg_function exact_u, exact_dx, exact_dy;  ///< dx, dy are symbolic derivatives when u is text
  int n_parameters;
  kg_constant *parameters;  ///< names borrowed from settings
  int n_boundaries;
  kg_boundary *boundaries;
  kedge_operator operator_kind;
  kedge_preconditioner preconditioner;
  kedge_smoother smoother;
  int smoothing_steps;
  kedge_precision precision;
  double tolerance;
  bool accepts_rounding;  ///< no tolerance was given: what rounding makes of the residual is enough
  int64_t max_iterations;
  char *output;
  bool cells_only;       ///< of the fields, only means over the cells are wanted
  kg_settings settings;  ///< the text all of this was read from
};

/// Fail with KEDGE_ERR_INPUT in any context, with the place of a setting before the sentence, if it
/// has one (kg_setting_place()).
kedge_status kg_problem_fail(kedge_context *ctx, const kedge_problem *problem,
                             const kg_setting *setting, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/// The settings of the trace solve ask for multigrid: by name, or, with preconditioner = auto, by
/// what only multigrid has.
bool kg_problem_asks_multigrid(const kedge_problem *problem);
/// Refuse settings of the trace solve that do not go together, and of multigrid without it.
kedge_status kg_problem_check_solver(kedge_context *ctx, const kedge_problem *problem);

/// A problem on a mesh: every boundary group has its condition, left-out data are derived from the
/// exact solution.
typedef struct kg_resolved {
  kg_function source;  ///< borrowed from the problem, or owns_source
  bool owns_source;
  /// Indexed by mesh group; entries of groups of dimension 2 are unused.
  struct kg_resolved_boundary {
    kedge_boundary_type type;
    const kg_function *value;  ///< NULL: from the exact solution (u, or diffusion grad u . n)
    const kg_setting *at;      ///< of the value, or of the exact solution; NULL: set by functions
  } * boundaries;
} kg_resolved;

/// @retval KEDGE_ERR_INPUT  a group that the mesh has not (the nearest name is given), a group
///         without a condition, a Dirichlet or Neumann value missing without exact solution, pure
///         Neumann with reaction 0; a preconditioner that the operator does not have
kedge_status kg_problem_resolve(kedge_context *ctx, const kedge_problem *problem,
                                const kedge_mesh *mesh, kg_resolved *out);
void kg_resolved_free(kg_resolved *resolved);

/// Read from memory (so that a fuzzer can call it). `name` goes into messages.
kedge_status kg_problem_parse(kedge_context *ctx, const char *name, const char *text, size_t bytes,
                              const char *const *overrides, int n_overrides, kedge_problem **out);
