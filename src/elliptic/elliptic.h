/// @file
/// An elliptic solve: its state, and the functions that take it through the stages of King 2014.
#pragma once
#include <math.h>

#include "diagnose/diagnose.h"
#include "integrals/boundary.h"
#include "linear/system.h"
#include "ops/local/quadrature/field_sums.h"
#include "elliptic/data.h"
#include "elliptic/memory.h"
#include "solution/numbers.h"
#include "solution/solution.h"
#include "elliptic/stages.h"

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
  kg_space space;
  kg_grouped grouped;  ///< what is summed by groups of the mesh
  kg_equation equation;
  kg_data data;  ///< of the solve that runs
  kg_run run;
  kg_rules rules;
  kg_coefficient_values coefficients;
  kg_robin_range robin;         ///< known when K^e are
  kg_loads_left loads_left;     ///< known when loads are
  double norm_moves[KG_NORMS];  ///< known when errors are (kg_norms_moves())
  kg_field_sums fields;         ///< of all elements, once the local solve has ended
  kg_lost_field lost;           ///< likewise
  kg_conductor conductor;       ///< of the solve that runs
  int32_t lost_error;           ///< an element whose errors are not finite, if one's are
  bool repeats;                 ///< set up once, to solve many times
  /// Vectors of u that a march has beside, of whose steps these solves are stages; 0: there is
  /// none.
  int march_vectors;
  /// An earlier set-up for this mesh, whose cut into patches and device memory may serve; or NULL.
  const struct kg_elliptic *before;
  double *boundary;  ///< [edge of sections 3 and 4][m] of kg_sample_boundary(), made in transfer
  kg_shape shape;
  kg_plan plan;  ///< of the device memory
  kg_arrays arrays;
  double *made[KG_HELD_FIELDS];          ///< on the device: of the chunk of the local solve
  kg_elements elements[KG_BATCHES_MAX];  ///< those of the batches of the shape, one by one
  kg_source source;
  kg_remainder remainder;
  kg_lost_gradient gradient;
} kg_elliptic;

/// Check the problem against the mesh, cut the mesh into patches, and fill in the shape of the
/// solve. No device memory is allocated.
kedge_status kg_elliptic_prepare(kg_elliptic *p);
/// Choose the settings that are `auto`, for the operator `linear` (the problem's or another one),
/// and fill in the shape, which determines the sizes of arrays. If the smoother is along lines of
/// edges, find and count the lines, unless an earlier call has.
kedge_status kg_elliptic_shape(kg_elliptic *p, kedge_operator linear, kg_shape *shape);
/// Allocate the arrays that kg_memory_plan() has arranged. `p` must not be moved afterwards,
/// because pointers into it are kept.
kedge_status kg_elliptic_commit(kg_elliptic *p);
void kg_elliptic_free(kg_elliptic *p);

/// Local matrices in memory, from their shape: those of the batches lie one behind the other.
kg_locals kg_elliptic_locals_at(const kg_elliptic *p, kg_locals shape, void *memory);
/// The local matrices that the trace solve reads.
static inline kg_locals kg_elliptic_locals(const kg_elliptic *p)
{
  return kg_elliptic_locals_at(p, kg_shape_locals(&p->shape), p->arrays.local);
}
/// Groups first .. first + n of a batch, as many as are handled at once, and their coefficients.
typedef struct kg_chunk {
  int batch;
  int32_t first, n;
  kg_coefficient coefficient;
} kg_chunk;
/// Advance to the next chunk: the next groups of the batch, at most `most`, or the first ones of
/// the next batch. A chunk of zeros stands before the first one.
/// @return false: there is no chunk left
bool kg_next_chunk(const kg_elliptic *p, int32_t most, kg_chunk *chunk);
/// Return where a chunk begins in `array`, which is [batch][group][row][lane].
double *kg_elliptic_rows(const kg_elliptic *p, double *array, kg_rows rows, const kg_chunk *chunk);
/// The cost of making all K^e.
kg_cost kg_elliptic_make_cost(const kg_elliptic *p);

/// Add boundary edges that were integrated by parts to the report and to the data for findings.
void kg_boundary_note(kg_elliptic *p, const kg_boundary_moves *moves);

/// Set where the local solve writes the results of a chunk that begins with group `first` of a
/// batch: in the solution, if its fields are on the device and `is_kept`; otherwise, and after
/// kg_elliptic_commit(), in arrays for one chunk.
void kg_elliptic_place_chunk(kg_elliptic *p, int batch, int32_t first, bool is_kept);

/// The work of the stages, in order, between kg_run_begin() and kg_run_end().
kedge_status kg_stage_transfer(kg_elliptic *p);
kedge_status kg_stage_local_matrices(kg_elliptic *p);
kedge_status kg_stage_assembly(kg_elliptic *p);
kedge_status kg_stage_trace_solve(kg_elliptic *p);
/// The rule by which the trace solve of the present data ends.
kg_system_rule kg_trace_rule(const kg_elliptic *p);
/// Local solve and post-processing alternate chunk by chunk: begins and ends both stages itself.
kedge_status kg_stages_local(kg_elliptic *p);
/// The local solve of a stage of a step in time that is followed by another one: u alone, into
/// kg_moving.u.
kedge_status kg_stage_modes(kg_elliptic *p);

/// With `repeats`, one set-up for many solves, the stages transfer and local matrices skip what
/// depends on the data of a solve. kg_stage_loads() then computes boundary data and load vectors,
/// and kg_stage_condense() F^e and the right-hand side b.
kedge_status kg_stage_loads(kg_elliptic *p);
kedge_status kg_stage_condense(kg_elliptic *p);
/// The last part of a set-up: measure the smoother, where multigrid asks for that.
kedge_status kg_stage_bound(kg_elliptic *p);
/// The last part of a commit: the iteration learns where its arrays are.
kedge_status kg_trace_bind(kg_elliptic *p);
/// The report of a trace solve, and what is to be said of it, in its stage.
kedge_status kg_trace_report(kg_elliptic *p, const kg_system_result *result);
/// Compute y = A x in device memory, in two steps, after a set-up. kg_trace_begin() returns the
/// array [free row] into which the caller writes x; kg_trace_end() computes y and returns where it
/// is. A is the matrix of the scaled equation, equation.scale times that of the problem. Not for
/// precision = compact, whose A is in single precision.
kedge_status kg_trace_begin(kg_elliptic *p, double **x);
kedge_status kg_trace_end(kg_elliptic *p, const double **y);
/// Compute z = M r in device memory likewise, with the preconditioner M of the iterations.
/// kg_trace_residual() returns the array [free row] into which the caller writes r, and another
/// one [free row] for the caller's own use; kg_trace_precondition() computes z and sets where and
/// how it is read: `from`, `from_single` and `diagonal` of `z`, whose `factor` it multiplies.
kedge_status kg_trace_residual(kg_elliptic *p, double **r, double **spare);
kedge_status kg_trace_precondition(kg_elliptic *p, kg_unknowns_args *z);
/// Compute the right-hand side of the free rows: b - A x_0, where x_0 is zero but for the Dirichlet
/// values. Load vectors and F^e must have been computed.
/// @param[out] b  [free row] in device memory, valid until the next call
kedge_status kg_trace_right_side(kg_elliptic *p, const double **b);

/// The data that the problem of a prepared solve says.
kg_data kg_elliptic_data(const kg_elliptic *p);
/// Check the problem against the mesh, predict the memory, or refuse. The first part of a solve.
kedge_status kg_elliptic_begin(kg_elliptic *p);
/// Fill the report of the solution with what is known before the first stage.
void kg_report_fill(kg_elliptic *p);
/// Run transfer, local matrices and, where there is one, assembly.
kedge_status kg_elliptic_set_up(kg_elliptic *p);
/// Begin a stage, do its work, end and announce it.
kedge_status kg_elliptic_stage(kg_elliptic *p, kg_stage stage, kedge_status (*work)(kg_elliptic *));
/// If a solve has failed because A is not positive definite, and a Robin coefficient is negative,
/// replace the error message by one that names this coefficient as the cause. @return status
kedge_status kg_elliptic_name_robin(const kg_elliptic *p, kedge_status status);

/// After the local solve, estimate the error that the iteration has left, if it may be more than
/// 1e-3 of a field; with tolerance = auto, iterate on until it is less. `p` may be replaced by a
/// new state for the same mesh and problem, which takes over its memory.
kedge_status kg_remainder_look(kg_elliptic *p);

/// to += times <g_N, psi>, of [free trace edge][mode] in device memory.
kedge_status kg_add_neumann(kg_elliptic *p, double *to, double times);

/// Return the ratio of two sizes: the entries of the trace matrix are of the size of the
/// stabilization tau, the coupling of edges is of the size of diffusion / h + reaction * h.
double kg_stabilization_ratio(const kg_elliptic *p);
/// Add to the note of the solution what there is to say about a topic (kg_diagnose()).
kedge_status kg_elliptic_diagnose(kg_elliptic *p, kg_topic topic);
