/// @file
/// What a solve may hide, or should say: findings, each one sentence of the solution's note.
#pragma once
#include "kedge/solution.h"
#include "space/trace_layout.h"
#include "ops/local/quadrature/strength.h"
#include "ops/local/triangle/element.h"
#include "ops/local/quadrature/field_sums.h"
#include "problem/problem.h"

/// The topics of findings, in the order of the note. The note says the first finding of a topic
/// that holds, and no other of that topic.
typedef enum kg_topic {
  KG_ABOUT_END,     ///< how the iteration ended, but for the tolerance reached
  KG_ABOUT_CAUSE,   ///< why rounding is so large
  KG_ABOUT_MESH,    ///< what is in the mesh and not in the solution, or the other way round
  KG_ABOUT_PARTS,   ///< whether elements that touch hang together
  KG_ABOUT_UNUSED,  ///< what the problem has and nothing uses
  KG_ABOUT_MEAN,    ///< whether the mean of u has its digits
  KG_ABOUT_INPUT,   ///< what a solve that went well may hide
  KG_ABOUT_TENSOR,  ///< what a strong tensor leaves of q
  KG_ABOUT_TIME,    ///< whether steps know when data jump
  KG_ABOUT_LOADS,   ///< whether loads and boundary data are integrated well
  KG_ABOUT_EXACT,   ///< whether the exact solution is that of the problem
  KG_ABOUT_LOSS,    ///< fields that are not finite; this and what follows when fields are known
  KG_ABOUT_FIELDS,  ///< u or u* that misleads
  KG_ABOUT_ERROR,   ///< whether the error is that of the method; asked when errors are known
  KG_ABOUT_NORMS,   ///< whether norms of errors have points enough; likewise
  KG_ABOUT_LEFT     ///< what the iteration leaves; it goes before all others
} kg_topic;

/// From this part of a field's norm on the error that the iteration leaves is worth a note.
#define KG_LEFT_MOST 1e-3
/// A tolerance is within reach from so many times the residual that storing x makes.
enum { KG_LEFT_ABOVE_ROUNDING = 10 };

enum { KG_WORDS = 7 };

/// What coefficients of Robin conditions are, as they are given; all 0 where there are none.
typedef struct kg_robin_range {
  int least_group, most_group;  ///< of the mesh: where the next two are
  double least, most;           ///< where it is negative, the least; where positive, the largest
} kg_robin_range;

/// A field beside u that is not finite.
typedef struct kg_lost_field {
  const char *field;  ///< NULL: none is
  int32_t element;    ///< of the mesh, where it is first
} kg_lost_field;
/// Where q has no value, as diffusion is next to 0 or no number: it is looked for once a set-up.
typedef struct kg_lost_gradient {
  bool known;  ///< it has been looked for
  bool found;  ///< what follows is set
  double at[3];
  double diffusion;  ///< there, its least entry; NaN where one is no number
} kg_lost_gradient;
/// What loads still move by with more points, where these had to end.
typedef struct kg_loads_left {
  double source, source_at[3];      ///< as a part of the integral of |source|; where most is
  double boundary, boundary_at[3];  ///< likewise of boundary values
  int64_t untried;  ///< elements, about, that were too many to be integrated by parts
  double moved;     ///< what parts change, of either, likewise
  /// A coefficient that is as rough as the source, and keeps its points; NULL: none
  const char *coefficient;
  double coefficient_at[3];
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
  const kg_strength *strength;         ///< [KG_CELL_KINDS] of a tensor diffusion
  bool keeps_gradient[KG_CELL_KINDS];  ///< of elements of the shape q is the weak gradient
  double scale;  ///< right-hand sides are multiplied by it (docs/math.md#units)
  kg_robin_range robin;
  kg_loads_left loads_left;
  double square;                ///< h^2: a square of two triangles of mean area
  double stabilization_ratio;   ///< that of kg_system_rule
  const kedge_report *report;   ///< of the trace solve; for the last topics also the errors
  double norm_moves[KG_NORMS];  ///< of u, q, u* and the flux, with more points (KG_ABOUT_NORMS)
  const kg_field_sums *fields;  ///< from KG_ABOUT_LOSS on, as what follows
  kg_lost_field lost;
  kg_lost_gradient *gradient;  ///< in and out
  const char *failure;         ///< KG_ABOUT_LEFT: why no estimate was made; "": one was
  int32_t lost_error;    ///< KG_ABOUT_ERROR: an element whose errors are not finite, if one's are
  bool keeps_means;      ///< in place of fields
  bool is_stretched;     ///< the mesh has angles for which the smoother has lines
  bool has_plain_cycle;  ///< multigrid with a coarse correction and a smoother without lines
  bool integrates;       ///< local matrices of some elements are made by quadrature
  bool is_compact;       ///< the iteration is in single precision
  bool takes_data;       ///< of each solve, whose texts may use the problem's parameters
  char *note;            ///< [room]: sentences are added, behind "; " where there is one
  size_t room;
  // The finding that is looked at has this threshold, and writes the rest:
  double threshold;
  kedge_status status;
  int n_words;
  const char *word[KG_WORDS];
  char text[KG_WORDS][48];  ///< of words that are numbers
  char place[96];           ///< of a word that is a place
  char list[128];           ///< likewise of a longer one
} kg_diagnosis;

/// @retval KEDGE_ERR_NUMERIC  KG_ABOUT_INPUT: the right-hand side is not 0, but its squares are;
///                            KG_ABOUT_LOSS: u is not finite
kedge_status kg_diagnose(kg_diagnosis *d, kg_topic topic);
