/// @file
/// One solve as it moves through King's stages.
#pragma once
#include <math.h>

#include "core/clock.h"
#include "diagnose/diagnose.h"
#include "integrals/boundary.h"
#include "linear/system.h"
#include "ops/form/form.h"
#include "ops/local/quadrature/strength.h"
#include "ops/ops.h"
#include "ops/local/quadrature/field_sums.h"
#include "ops/sample/node_values.h"
#include "ops/vector/unknowns.h"
#include "problem/problem.h"
#include "elliptic/evaluation.h"
#include "elliptic/memory.h"
#include "elliptic/sampler.h"
#include "elliptic/sampling.h"
#include "solution/solution.h"
#include "elliptic/source.h"

/// A field of which a solve gives values to its caller in device memory.
typedef struct kg_given {
  kg_held_field field;                     ///< whose modes are read
  kg_node_values_args of[KG_BATCHES_MAX];  ///< of all chunks, but for `from`
} kg_given;

/// What the local solve makes. The last two only find how large it is (kg_remainder.size).
typedef enum kg_makes {
  KG_MAKES_SOLUTION,
  KG_SIZES_SOLUTION,
  KG_SIZES_PART  ///< of a part of the trace: there is no source
} kg_makes;

/// What the iteration leaves (elliptic/remainder/remainder.c).
typedef struct kg_remainder {
  double energy, rr;          ///< of the trace solve (kg_system_result)
  double most_energy;         ///< of all solves of a set-up
  kg_field_sums size;         ///< of what the local solve has made last
  size_t note_end;            ///< of the note that the trace solve has left
  bool goes_on;               ///< the trace solve makes what there is to add to `start`
  kg_system_further further;  ///< by this
  kg_makes makes;
  char failure[256];  ///< why no estimate was made; "": one was, or none was wanted
} kg_remainder;

typedef struct kg_elliptic {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  const kedge_problem *problem;
  kg_resolved resolved;
  kg_trace_layout layout;
  const kedge_mesh *refined;  ///< the mesh, if multigrid uses the levels of its refinement; or NULL
  kg_edge_lines lines;        ///< of smoothers that have lines, until assembly
  kg_sampling sampling[KG_SAMPLE_KINDS];
  // By shape, of elements that are integrated by quadrature, in host memory (elliptic/cells.h):
  double *cell_points[KG_SAMPLE_KINDS][KG_CELL_KINDS];
  double *value_points[KG_CELL_KINDS];  ///< where coefficients have values
  kg_coefficient_values values;         ///< of coefficients, where they vary
  kg_robin_range robin;                 ///< known when K^e are
  kg_loads_left loads_left;             ///< known when loads are
  double norm_moves[KG_NORMS];          ///< known when errors are (kg_norms_moves())
  kg_field_sums fields;                 ///< of all elements, once the local solve has ended
  kg_lost_field lost;                   ///< likewise
  int32_t lost_error;                   ///< an element whose errors are not finite, if one's are
  bool repeats;                         ///< set up once, to solve many times
  bool has_mesh;                        ///< in device memory, and tables
  bool is_set_up;                       ///< with `repeats`: solves follow
  /// An earlier set-up for this mesh, whose cut into patches and device memory may serve; or NULL.
  const struct kg_elliptic *before;
  bool is_cut_as_before;
  struct kg_methods *methods;  ///< with `repeats`, when it is set up: what a GPU has recorded stays
  /// [free row] in host memory: the trace that the iteration begins with, or NULL; or, with
  /// `takes_start`, the trace as it is, without an iteration.
  const double *start;
  /// Instead of `start`, from device memory: all but `to`; zeros: nothing; without `unknown` the
  /// trace is in the order of rows.
  kg_unknowns_args taken;
  bool takes_start;
  const kg_system_begun
      *begun;  ///< NULL, or what is left is to go on with a solve that put() brings
  /// Bring x; where it is to be iterated on, b too, and then p and z are zero.
  kedge_status (*put)(struct kg_elliptic *p, void *user);
  void *put_user;
  int n_given;
  const kg_given *given;  ///< [n_given], borrowed for a solve
  bool gives_source;      ///< the caller of a solve gives the source, not the problem
  const int32_t *origin;  ///< [element] of the device: the caller gives a source there; or NULL
  double *boundary;  ///< [edge of sections 3 and 4][m] of kg_sample_boundary(), made in transfer
  /// The equation is multiplied by a power of four that brings its numbers near 1
  /// (docs/math.md#units): diffusion, reaction and stabilization here, right-hand sides by `scale`.
  kg_material material;        ///< of the most diffusion and reaction that is met
  kg_coefficient coefficient;  ///< without values at points
  double scale;
  bool is_affine;                       ///< all quadrilaterals are parallelograms
  kg_strength strength[KG_CELL_KINDS];  ///< of a tensor, of elements by quadrature; else zeros
  kg_shape shape;
  kg_plan plan;  ///< of the device memory
  kg_arrays arrays;
  double *made[KG_HELD_FIELDS];          ///< on the device: of the chunk of the local solve
  kg_batch batch;                        ///< pointers into arrays, of all lanes
  kg_elements elements[KG_BATCHES_MAX];  ///< those of the batches of the shape, one by one
  const kg_form *form;
  kg_points points[KG_SAMPLE_KINDS];
  kg_source source;
  kg_remainder remainder;
  kg_lost_gradient gradient;
  kedge_solution *solution;
  kg_stage stage;  ///< running
  double stage_began;
} kg_elliptic;

/// Check the problem against the mesh, cut it into patches, fill the shape. Allocates no device
/// memory.
kedge_status kg_elliptic_prepare(kg_elliptic *p);
/// Choose what `auto` leaves open, with the operator `linear` (the problem's or another one), and
/// fill the shape, on which sizes depend. A smoother with lines makes them if no call before has,
/// and counts them.
kedge_status kg_elliptic_shape(kg_elliptic *p, kedge_operator linear, kg_shape *shape);
/// Whether the diffusion is too strong a tensor for the adjusted and the exact inverse on the
/// elements of a shape. On quadrilaterals that stay trapezoids when they are refined the weak
/// gradient has an error of a lower order, bend times a length over h of those that the mesh
/// explains.
bool kg_is_strong(const kg_elliptic *p, const kg_cell *cell);
/// Allocate the arrays for which kg_memory_plan() found places. The pipeline must not move from
/// there on.
kedge_status kg_elliptic_commit(kg_elliptic *p);
void kg_elliptic_free(kg_elliptic *p);

/// Begin a stage or a part of it: its phase, its NVTX range, its clock. Stages do not nest.
kedge_status kg_stage_begin(kg_elliptic *p, kg_stage stage);
/// Wait for the device and add the time since kg_stage_begin() to the report. `status` is that of
/// the stage's work: returned if it is a failure.
kedge_status kg_stage_end(kg_elliptic *p, kedge_status status);
/// Tell the progress function that a stage has begun, goes on, or has ended, with the time in the
/// report.
/// @retval KEDGE_ERR_CANCELLED  the progress function does not want to go on
kedge_status kg_stage_announce(kg_elliptic *p, kg_stage stage, bool finished);

/// Local matrices in memory, from their shape: those of the batches lie one behind the other.
kg_locals kg_elliptic_locals_at(const kg_elliptic *p, kg_locals shape, void *memory);
/// The local matrices that the trace solve reads.
static inline kg_locals kg_elliptic_locals(const kg_elliptic *p)
{
  return kg_elliptic_locals_at(p, kg_shape_locals(&p->shape), p->arrays.local);
}
/// Find a batch in `array`, [batch][group][row][lane].
static inline double *kg_elliptic_rows(const kg_elliptic *p, double *array, kg_rows rows, int batch)
{
  return array + kg_shape_numbers(&p->shape, rows, batch);
}

/// Note what moves of boundary values, in the report and for findings.
void kg_boundary_note(kg_elliptic *p, const kg_boundary_moves *moves);

/// Say where a chunk of the local solve is made: from a group of a batch on in the solution, if that is
/// on the device and what is made is kept; else, and after kg_elliptic_commit(), in its own memory.
void kg_elliptic_place_chunk(kg_elliptic *p, int batch, int32_t first, bool is_kept);

/// The work of the stages, in order, between kg_stage_begin() and kg_stage_end().
kedge_status kg_stage_transfer(kg_elliptic *p);
kedge_status kg_stage_local_matrices(kg_elliptic *p);
kedge_status kg_stage_assembly(kg_elliptic *p);
kedge_status kg_stage_trace_solve(kg_elliptic *p);
/// When the trace solve of the pipeline's data ends.
kg_system_rule kg_trace_rule(const kg_elliptic *p);
/// Local solve and post-processing alternate chunk by chunk: begins and ends both stages itself.
kedge_status kg_stages_local(kg_elliptic *p);

/// With `repeats` transfer and local matrices make what does not depend on the data of a solve, and
/// these the rest: boundary data and load vectors; F^e and b.
kedge_status kg_stage_loads(kg_elliptic *p);
kedge_status kg_stage_boundary(kg_elliptic *p);  ///< the boundary data alone
kedge_status kg_stage_condense(kg_elliptic *p);
/// The last part of a set-up: make the methods of its solves, and measure the smoother, where
/// multigrid asks for that.
kedge_status kg_stage_bound(kg_elliptic *p);
void kg_methods_free(kg_elliptic *p);
/// With a set-up that stands: y = A x, of the equation as it is solved, which is p->scale times
/// that of the problem. Not with precision = compact, whose A is one in single precision.
/// @param[in]  x  [free row] in host memory, as y
kedge_status kg_trace_multiply(kg_elliptic *p, const double *x, double *y);
/// Likewise in device memory, in two steps. Begin: where x is to be written, [free row]. End: where
/// y lies then.
kedge_status kg_trace_begin(kg_elliptic *p, double **x);
kedge_status kg_trace_end(kg_elliptic *p, const double **y);
/// Likewise b, less what Dirichlet values take to it: b - A x_0. Loads and F^e are there.
/// @param[out] b  [free row] in device memory, until the next call
kedge_status kg_trace_right_side(kg_elliptic *p, const double **b);

/// Check the problem against the mesh, predict the memory, or refuse. The first part of a solve.
kedge_status kg_elliptic_begin(kg_elliptic *p);
/// Fill the report of the pipeline's solution with what is known before the first stage.
void kg_report_fill(kg_elliptic *p);
/// Have memory for the results, or adapt that of an earlier set-up of the same mesh.
kedge_status kg_results_allocate(kg_elliptic *p, kg_place place);
/// Run transfer, local matrices and, where there is one, assembly.
kedge_status kg_elliptic_set_up(kg_elliptic *p);
/// Begin a stage, do its work, end and announce it.
kedge_status kg_elliptic_stage(kg_elliptic *p, kg_stage stage, kedge_status (*work)(kg_elliptic *));
/// Where the operator is not positive definite, a negative Robin coefficient is why, and advice on
/// the mesh or the preconditioner does not apply. @return status
kedge_status kg_elliptic_name_robin(const kg_elliptic *p, kedge_status status);

/// Behind the local solve: where the iteration may leave more than 1e-3 of a field, estimate that,
/// and with tolerance = auto go on until it is less. The pipeline may have become another one of
/// the same mesh and problem, whose memory it takes.
kedge_status kg_remainder_look(kg_elliptic *p);

/// Bytes of host memory that kg_robin_add() takes.
int64_t kg_robin_host_bytes(const kg_shape *shape);
/// Add the Robin conditions to packed K^e, which are made; and tell the least coefficient.
/// @retval KEDGE_ERR_INPUT  a coefficient is not finite
kedge_status kg_robin_add(kg_elliptic *p);

/// to += times <g_N, psi>, of [free trace edge][mode] in device memory.
kedge_status kg_add_neumann(kg_elliptic *p, double *to, double times);

/// h^2: a square of two triangles of mean area.
static inline double kg_mean_square(const kedge_mesh *mesh)
{
  return 2.0 * mesh->info.area / (double)mesh->n_elements;
}

/// L of the stabilization diffusion / L; 0: the problem gives a stabilization without one.
static inline double kg_stabilization_length(const kg_elliptic *p)
{
  if (p->equation.problem->stabilization > 0.0) return 0.0;
  return p->equation.problem->length > 0.0 ? p->equation.problem->length : sqrt(p->mesh->info.area);
}

/// Add to the note of the solution what there is to say about a topic (kg_diagnose()).
kedge_status kg_elliptic_diagnose(kg_elliptic *p, kg_topic topic);

/// Add the cost of an operator to the running stage of the report.
void kg_stage_cost(kg_elliptic *p, kg_cost cost, double times);
