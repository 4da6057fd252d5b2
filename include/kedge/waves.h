/// @file
/// Waves: problems whose [equation] system is maxwell, maxwell-tm or acoustics (docs/waves.md),
/// step by step.
///
/// A march of them is made, stepped, asked for its time and reported on as any other (march.h); its
/// report has no solves. It has no kedge_solution: fields are read here. A failure in a step leaves
/// no state to go on from: later steps are refused, and so is to read or to save it.
#pragma once
#include "kedge/march.h"
#include "kedge/probe.h"
KEDGE_BEGIN_DECLS

/// The system of a problem, by its word: "elliptic" where it names none; NULL where it is NULL.
KEDGE_API const char *kedge_problem_system(const kedge_problem *problem);

/// The longest step that is stable on every mesh: that of step = auto with cfl = 1; 0 where the
/// problem is elliptic.
KEDGE_API double kedge_march_longest(const kedge_march *march);

/// The order of its polynomials; 0 where the problem is elliptic.
KEDGE_API int kedge_march_order(const kedge_march *march);

/// The kernel of stages is "compiled", for this system and order; "plain: WHY", a slower one of the
/// GPU, where that cannot be; or "host". NULL where the problem is elliptic. The text lives as long
/// as the march.
KEDGE_API const char *kedge_march_kernel(const kedge_march *march);

/// Why the waves may not be those that are meant, and where conductivity, not speed, sets the step
/// and makes it more than 10 times shorter: sentences with "; " between them, "" where there is
/// none; NULL where the problem is elliptic. The text lives until kedge_march_update().
KEDGE_API const char *kedge_march_note(const kedge_march *march);

/// The name of a field of the system: "Ez", "p". @return NULL where there is no such index, and
/// where the problem is elliptic
KEDGE_API const char *kedge_march_field(const kedge_march *march, int index);

// Functions below are KEDGE_ERR_ARG where the problem is elliptic, or the system has no such field,
// and KEDGE_ERR_MEMORY or KEDGE_ERR_DEVICE where the state cannot be brought to the host.

/// Values at the equispaced nodes of an order, 1 to KEDGE_ORDER_MAX + 1, as of
/// kedge_solution_values().
/// @param[out] values  [element][node], in the caller's order of elements
KEDGE_API kedge_status kedge_march_values(const kedge_march *march, const char *field, int order,
                                          double *values);
/// Likewise in memory of the context's device, or of the host with a backend of the host; the
/// device's default stream is waited for as by kedge_solver_apply_device(). Numbers that are not
/// finite are there as they are. The first call takes device memory for a table, which stays.
/// @retval KEDGE_ERR_ARG  also an array that is not in memory of this GPU
KEDGE_API kedge_status kedge_march_values_device(const kedge_march *march, const char *field,
                                                 int order, double *values);
/// These nodes, as of kedge_solution_nodes(). @param[out] at  [element][node][dimension]
KEDGE_API kedge_status kedge_march_nodes(const kedge_march *march, int order, double *at);

/// The field's polynomials at the points of a probe of the same mesh (probe.h). From a GPU these
/// numbers alone are brought, by one kernel and one copy a step, however many fields and probes are
/// asked for. Points anywhere, once: kedge_march_values_device() at the order of the problem, and
/// kedge_locator_values().
/// @param[out] values  [kedge_probe_count()]; NaN outside
/// @retval KEDGE_ERR_ARG      also where the probe is of another mesh object
/// @retval KEDGE_ERR_NUMERIC  the field is not finite there
KEDGE_API kedge_status kedge_march_probe_values(const kedge_march *march, const kedge_probe *probe,
                                                const char *field, double *values);

/// The energy of the state: half of the integral of permittivity |E|^2 + permeability |H|^2, or of
/// p^2 / bulk + density |v|^2.
KEDGE_API kedge_status kedge_march_energy(const kedge_march *march, double *energy);
/// The energy of a region.
/// @param[in] region  its name, else its number; NULL: all
/// @retval KEDGE_ERR_INPUT  the mesh has no such region, or several of this name
KEDGE_API kedge_status kedge_march_energy_of(const kedge_march *march, const char *region,
                                             double *energy);

/// The L2 norm of the error of a field against [exact] at the time that is reached.
/// @param[in] field  NULL: of all fields that [exact] has, together
/// @retval KEDGE_ERR_ARG    also where [exact] has no such field
/// @retval KEDGE_ERR_INPUT  [exact] is not finite
KEDGE_API kedge_status kedge_march_error(const kedge_march *march, const char *field,
                                         double *error);

/// Room for the fields of any system, later ones too.
#define KEDGE_WAVE_FIELDS_MAX 8

/// What a march of waves is of, and has done beside kedge_marched. Strings belong to the library;
/// `device` lives as long as the context. Begin with KEDGE_WAVE_REPORT_INIT: later versions add
/// members at the end.
typedef struct kedge_wave_report {
  size_t size;            ///< sizeof(kedge_wave_report)
  const char *system;     ///< as the problem names it
  const char *precision;  ///< "single" or "double"
  const char *backend, *device;
  int dimension, order;
  int64_t elements, edges, vertices, boundary_edges;  ///< in space edges are faces
  int64_t unknowns;                                   ///< of all fields
  int n_fields;
  const char *fields[KEDGE_WAVE_FIELDS_MAX];
  double errors[KEDGE_WAVE_FIELDS_MAX];  ///< in L2, of each field; NaN: [exact] has none
  double upwind;
  double longest;               ///< kedge_march_longest()
  double first_energy, energy;  ///< at t = 0, and now
  int64_t stages_done;          ///< five a step, by this process
  double step_seconds;          ///< that they took
  /// Parts of the time of this process: stage; data of the boundary, and source, measured in some
  /// of the stages; probes; output: fields, energies and errors.
  int n_stages;
  kedge_stage_report stages[KEDGE_STAGES_MAX];
  int64_t peak_device_bytes;
  // What the caller gives for kedge_wave_report_write(); a march gives NULL.
  const struct kedge_marched *march;
  const char *output_error;  ///< why an output was not written; "": all were; NULL: there is none
  const char *kernel;        ///< kedge_march_kernel()
  const char *note;          ///< kedge_march_note()
} kedge_wave_report;
#define KEDGE_WAVE_REPORT_INIT \
  {                            \
    sizeof(kedge_wave_report)  \
  }

/// Energy and errors are made for it, of the present state. Where that fails, or a step has failed
/// and left no state, they are NaN and all else is there.
/// @param[in,out] report  its `size` is read
/// @retval KEDGE_ERR_ARG      also where `size` was not set by KEDGE_WAVE_REPORT_INIT: nothing is
///                            written
/// @retval KEDGE_ERR_NUMERIC  the state is not finite
KEDGE_API kedge_status kedge_march_wave_report(const kedge_march *march, kedge_wave_report *report);
/// Write it as JSON (docs/report.md, waves), whole or not at all.
/// @retval KEDGE_ERR_IO  the file cannot be written; an old one there is as it was
KEDGE_API kedge_status kedge_wave_report_write(kedge_context *ctx, const kedge_wave_report *report,
                                               const char *path);

/// Write VTKHDF: Lagrange cells of the order of the problem with all fields by name, and the
/// region. Written under a temporary name, then renamed.
/// @param[in] path  ends in .vtkhdf or .hdf
/// @retval KEDGE_ERR_ARG  also where the path does not end in one of these
/// @retval KEDGE_ERR_IO   the file could not be written; an old file there is as it was
/// @retval KEDGE_ERR_UNSUPPORTED  as kedge_output_ready()
KEDGE_API kedge_status kedge_march_write(const kedge_march *march, const char *path);

KEDGE_END_DECLS
