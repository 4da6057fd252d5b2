/// @file
/// What a solve may hide, or should say: findings, each one sentence of the solution's note.
#pragma once
#include "kedge/solution.h"
#include "space/trace_layout.h"
#include "ops/local/triangle/element.h"
#include "problem/problem.h"

/// The topics of findings, in the order of the note. The note says the first finding of a topic
/// that holds, and no other of that topic.
typedef enum kg_topic {
  KG_ABOUT_END,     ///< how the iteration ended, but for the tolerance reached
  KG_ABOUT_CAUSE,   ///< why rounding is so large
  KG_ABOUT_MESH,    ///< what is in the mesh and not in the solution, or the other way round
  KG_ABOUT_UNUSED,  ///< what the problem has and nothing uses
  KG_ABOUT_INPUT,   ///< what a solve that went well may hide
  KG_ABOUT_LOADS,   ///< whether loads and boundary data are integrated well
  KG_ABOUT_EXACT,   ///< whether the exact solution is that of the problem
  KG_ABOUT_ERROR,   ///< whether the error is that of the method; asked when errors are known
  KG_ABOUT_NORMS    ///< whether norms of errors have points enough; likewise
} kg_topic;

enum { KG_WORDS = 7 };

/// What coefficients of Robin conditions are, as they are given; all 0 where there are none.
typedef struct kg_robin_range {
  int least_group, most_group;  ///< of the mesh: where the next two are
  double least, most;           ///< where it is negative, the least; where positive, the largest
  double total;                 ///< integral along the boundary, times the scale of the equation
} kg_robin_range;

/// What loads still move by with more points, where these had to end.
typedef struct kg_loads_left {
  double source, source_at[2];      ///< as a part of the integral of |source|; where most is
  double boundary, boundary_at[2];  ///< likewise of boundary values
} kg_loads_left;

enum { KG_NORMS = 4 };  ///< of errors: of u, q, u* and the flux

/// Findings read these, all borrowed, and write the last members.
typedef struct kg_diagnosis {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  const kedge_problem *problem;
  const kg_resolved *resolved;
  const kg_trace_layout *layout;
  const double *boundary;  ///< [n_boundary]: coefficients of all boundary values that are given
  size_t n_boundary;
  kg_material material;
  double scale;  ///< right-hand sides are multiplied by it (docs/math.md#units)
  kg_robin_range robin;
  kg_loads_left loads_left;
  double square;                ///< h^2: a square of two triangles of mean area
  double stabilization_ratio;   ///< that of kg_system_rule
  const kedge_report *report;   ///< of the trace solve; for the last topics also the errors
  double norm_moves[KG_NORMS];  ///< of u, q, u* and the flux, with more points (KG_ABOUT_NORMS)
  bool is_stretched;            ///< the mesh has angles for which the smoother has lines
  bool has_plain_cycle;         ///< multigrid with a coarse correction and a smoother without lines
  bool integrates;              ///< local matrices of some elements are made by quadrature
  bool is_compact;              ///< the iteration is in single precision
  bool takes_data;              ///< of each solve, whose texts may use the problem's parameters
  char *note;                   ///< [room]: sentences are added, behind "; " where there is one
  size_t room;
  // The finding that is looked at has this threshold, and writes the rest:
  double threshold;
  kedge_status status;
  int n_words;
  const char *word[KG_WORDS];
  char text[KG_WORDS][24];  ///< of words that are numbers
} kg_diagnosis;

/// @retval KEDGE_ERR_NUMERIC  KG_ABOUT_INPUT: the right-hand side is not 0, but its squares are
kedge_status kg_diagnose(kg_diagnosis *d, kg_topic topic);
