/// @file
/// Solve a problem on a mesh; read, report and write what came out; predict the memory before.
#pragma once
#include "kedge/problem.h"
KEDGE_BEGIN_DECLS

typedef struct kedge_solution kedge_solution;
struct kedge_marched;

/// The most stages that a solve has, and the most operators: room for those of later versions.
#define KEDGE_STAGES_MAX    16
#define KEDGE_OPERATORS_MAX 8

/// A stage of a solve. Those of today are, in their order, mesh, transfer, local_matrices (B1 and
/// B2 of King 2014), assembly (B3), trace_solve (B4), local_solve (B5, B6), postprocess, output.
typedef struct kedge_stage_report {
  const char *name;
  /// Wall time; device work is waited for at the end of a stage. That of `output` is for results to
  /// host memory, a look at norms of errors there (solver_note), and kedge_solution_write().
  double seconds;
  double bytes;  ///< moved through memory by the cost formulas; 0 where none is defined
  double flops;  ///< by the cost formulas
} kedge_stage_report;

/// The reason for which the iteration ended.
typedef enum kedge_stop {
  KEDGE_STOP_TOLERANCE,
  KEDGE_STOP_ROUNDING,  ///< double precision has no better residual
  KEDGE_STOP_LIMIT,     ///< max_iterations
  KEDGE_STOP_COUNT
} kedge_stop;

/// The name of a reason to stop, as in reports.
KEDGE_API const char *kedge_stop_name(kedge_stop stop);

/// Numbers of the edges of a group, those on the boundary or those inside the domain.
typedef struct kedge_group_values {
  size_t size;  ///< sizeof(kedge_group_values) of the library
  const char *name;
  int tag;
  bool inside;      ///< of the edges inside the domain; a group that has both is there twice
  int64_t edges;    ///< in space faces
  double length;    ///< in space their area
  double integral;  ///< of the trace of u along the edges, or over the faces
  double mean;      ///< of the trace
  /// Integral of the numerical flux sigma . n - tau (u - trace), sigma = diffusion grad u. n points
  /// out of the domain. Inside the domain it points out of the region of the lower tag; within one
  /// region out of a closed line, and through an open one to where x grows or, if it runs along x,
  /// to where y grows. In space, through surfaces, likewise, and z comes after y.
  double flux;
} kedge_group_values;

/// Numbers of the elements of a region.
typedef struct kedge_region_values {
  size_t size;  ///< sizeof(kedge_region_values) of the library
  const char *name;
  int tag;
  int64_t elements;
  double area;                     ///< in space the volume
  double integral, mean;           ///< of u
  double energy;                   ///< integral of q . sigma
  double source, reaction;         ///< integrals of the source, and of the reaction times u
  double least, most;              ///< of u at the nodes of order P
  double least_at[2], most_at[2];  ///< where: x and y
  double least_z, most_z;          ///< and z; 0 in the plane
  double storage;                  ///< integral of mass u_t, of a march; else 0
} kedge_region_values;

/// The balance of a solution: reaction - source - flux = remainder, which is what the iteration
/// leaves and rounding. That of a march has kedge_report.storage on the left.
typedef struct kedge_balance {
  double source;    ///< integral of the source
  double reaction;  ///< integral of the reaction times u
  double flux;      ///< of all boundary groups
  double remainder;
} kedge_balance;

/// The value of an integral (integral.h), as a caller gives it to a report. Begin with
/// KEDGE_INTEGRAL_VALUE_INIT, as with a report.
typedef struct kedge_integral_value {
  size_t size;  ///< sizeof(kedge_integral_value) of the caller
  const char *name;
  double value;
} kedge_integral_value;
#define KEDGE_INTEGRAL_VALUE_INIT \
  {                               \
    sizeof(kedge_integral_value)  \
  }

/// The report of a solve. Errors are absolute norms and NaN when the problem has no exact solution.
/// Strings belong to the library: `device` lives as long as the context, `solver_note` and
/// `evaluation` as long as the solution, names of groups as long as the mesh, the others for ever.
/// Begin with KEDGE_REPORT_INIT: later versions add members at the end, and `size` says which of
/// them the caller knows.
typedef struct kedge_report {
  size_t size;  ///< sizeof(kedge_report)
  int64_t elements, edges, vertices, boundary_edges;
  int order;
  int64_t trace_unknowns;    ///< modes on edges that are not Dirichlet edges
  int64_t element_unknowns;  ///< of u
  const char *backend, *device;
  const char *operator_name, *preconditioner;
  const char *precision;  ///< "double", "mixed" or "compact"
  const char *smoother;   ///< of multigrid and block-jacobi, what `auto` took; else ""
  int smoothing_steps;    ///< of multigrid, before and after each coarse correction; else 0
  int multigrid_levels;   ///< the trace and those below it; 0: no multigrid
  double setup_seconds;   ///< making the preconditioner: assembly, trace solve (eigenvalue)
  int64_t iterations;
  int refinements;  ///< of precision = compact: residuals that began the iteration anew; else 0
  double start_residual;  ///< as relative_residual, of x_0: 1, or more with a large stabilization;
                          ///< of the trace that kedge_data.start gives, where there is one
  double tolerance;
  double relative_residual;  ///< ||b - A x|| / ||b - A x_0||, recomputed after the last iteration;
                             ///< x_0 holds the Dirichlet values and is 0 elsewhere; a large
                             ///< stabilization is left out of the latter
  double rounding_residual;  ///< of that, what storing the solution in double precision makes; 0:
                             ///< not measured, as the tolerance or the limit came first
  kedge_stop stop;           ///< what ended the iteration
  bool converged;            ///< relative_residual <= tolerance, or tolerance = auto and rounding
                             ///< has no less
  const char *solver_note;   ///< one sentence when the tolerance was not reached, or there is
                             ///< another reason to doubt u; else ""
  /// Where source, exact solution and varying coefficients were evaluated: "host", "gpu,
  /// interpreted", "gpu" (compiled) or "host: " and why not there; "" when there was nothing to
  /// evaluate
  const char *evaluation;
  bool has_exact;
  double u_l2, u_linf, q_l2, u_star_l2;
  int n_stages;
  kedge_stage_report stages[KEDGE_STAGES_MAX];
  int64_t peak_device_bytes, predicted_device_bytes;
  int64_t local_matrices_bytes;  ///< of the memory that K^e are given
  int64_t operator_bytes;        ///< read by one application of the trace operator
  double sigma_l2;  ///< error of the flux diffusion grad u, as u_l2 and those beside it
  /// How the flux's mass matrix was inverted: "adjusted", "gradient" or "exact", what `auto`
  /// took; "" where there are no such elements, or no matrix is needed
  const char *triangle_inverse, *quadrilateral_inverse;
  double stabilization_length;  ///< L of diffusion / L; 0: the problem gives a stabilization
  /// Why the last kedge_solution_write() of this solution has failed, its sentence; "": it wrote
  /// the file; NULL: there was none
  const char *output_error;
  /// About the error that the iteration leaves, as a part of the field's L2 norm; NaN: its residual
  /// says that this is little, or the field is next to 0
  double iteration_u, iteration_u_star, iteration_q, iteration_sigma;
  int64_t extra_iterations;  ///< that these estimates took, beside `iterations`
  double
      needed_tolerance;  ///< to leave less than 1e-3; 0: no other is needed, or rounding has none
  /// Elements whose loads, and facets whose boundary values, were integrated by parts, as they move
  /// with more points
  int64_t refined_elements, refined_facets;
  int64_t solution_bytes;  ///< of the device that hold the fields; 0: they are in host memory
  /// By group of edges that has some, in the order of the mesh, and by region. They belong to the
  /// solution. Each says its own size, which later versions may raise
  int n_groups, n_regions;
  const kedge_group_values *const *groups;
  const kedge_region_values *const *regions;
  kedge_balance balance;
  /// Flux between two groups with constant values for a difference of 1, where all else is
  /// insulated and there is neither source nor reaction: a capacitance, where the diffusion is a
  /// permittivity. From the fluxes, and from the discrete energy; NaN elsewhere
  double conductance, energy_conductance;
  /// [n_integrals]: what the caller has evaluated, for kedge_report_write(); a solve gives none
  const kedge_integral_value *const *integrals;
  int n_integrals;
  /// Which files of kedge_probe_write() have points that lie outside of the mesh, and how many; "":
  /// none; NULL: no probe was written
  const char *probe_note;
  int dimension;  ///< of the mesh: 2, or 3
  /// Integral of mass u_t at the end of a step of a march, by its last stage; else 0
  double storage;
  /// What the caller has marched (march.h), for kedge_report_write(); a solution gives NULL
  const struct kedge_marched *march;
} kedge_report;
#define KEDGE_REPORT_INIT \
  {                       \
    sizeof(kedge_report)  \
  }

/// Memory of one solve, predicted from counts alone, in bytes. Stages hold device memory, which is
/// host memory for the host backend. Multigrid counts where the operator has it; others are planned
/// with Jacobi. Begin with KEDGE_PLAN_INIT, as with a report.
typedef struct kedge_plan {
  size_t size;  ///< sizeof(kedge_plan)
  int64_t elements, edges, vertices, boundary_edges;
  int order;
  int64_t trace_unknowns;        ///< modes on edges that are not Dirichlet edges
  kedge_operator operator_kind;  ///< that the problem asks for
  const char *preconditioner;    ///< of the matrix-free operator; that of the others is "jacobi"
  const char *precision;         ///< "double", "mixed" or "compact"
  const char *smoother;          ///< of multigrid and block-jacobi, what `auto` takes; else ""
  int n_stages;
  const char *stage_name[KEDGE_STAGES_MAX];
  int64_t stage_bytes[KEDGE_OPERATORS_MAX][KEDGE_STAGES_MAX];  ///< held while the stage runs
  int64_t peak_bytes[KEDGE_OPERATORS_MAX];
  int64_t needed_bytes[KEDGE_OPERATORS_MAX];  ///< what kedge_solve() compares with free_bytes: the
                                              ///< peak, on the host with results, samples and
                                              ///< work of threads
  int64_t host_bytes;              ///< beside, in host memory: mesh, numbering, results, samples
  int64_t free_bytes;              ///< now, on the context's device
  int64_t host_free_bytes;         ///< now, for this process; mesh and numbering are there already,
                                   ///< or, where they are only counted, taken off
  bool fits[KEDGE_OPERATORS_MAX];  ///< what kedge_solve() would say
  double stabilization_length;     ///< as in a report
  // By kedge_solver_plan(), device memory that a solver takes beside, once it is asked for:
  /// Kept from the first kedge_solver_solve_many() on that solves several at once, to an update; 0:
  /// none does.
  int64_t many_bytes;
  /// Kept from the first call with unknowns on the device, or kedge_solver_precondition(), to an
  /// update
  int64_t apply_bytes;
  int64_t
      values_bytes;     ///< kept from the first solve with kedge_data.device, or a source there, on
  int64_t table_bytes;  ///< for each array there, during that solve: at most
  /// A sentence where the mesh was counted instead of made, and numbers are estimates, or where
  /// conductivity sets the step of waves; else "". It lives until the context's next plan.
  const char *note;
  /// By kedge_solver_plan(): device memory of each solution, from its solve on until it is
  /// destroyed. Where that is not free, it is host memory.
  int64_t solution_bytes;
  int dimension;  ///< 2, or 3: edges are faces
  /// By kedge_march_plan(): device memory of vectors beside the solver, which needed_bytes counts
  int64_t march_bytes;
  /// By kedge_march_plan(), of all fields of waves; 0: the problem is elliptic. There are no
  /// operators then: every entry of peak_bytes is the device memory of the march, without that of
  /// probes, and of needed_bytes and `fits` what kedge_march_create() compares with free_bytes.
  int64_t wave_unknowns;
  /// Waves have a longest step, that of [time] or the automatic one, and so many steps to the end.
  double wave_step;
  int64_t wave_steps;
  double wave_longest;  ///< what is longer than this is not stable on every mesh
  /// By kedge_march_plan(), but of waves: the longest step and how many there are to the end; 0:
  /// they adapt
  double march_step;
  int64_t march_steps;
} kedge_plan;
#define KEDGE_PLAN_INIT \
  {                     \
    sizeof(kedge_plan)  \
  }

/// Predict the memory of kedge_solve() without allocating on the device. Where fits[operator_kind]
/// is false, kedge_context_error() is then the sentence with which kedge_solve() would refuse.
/// @param[in]     mesh  NULL: the one that the problem names. A generated one of 10^7 elements and
///                more is then not made, if no setting is a function: it takes less than a second,
///                and what is not exact is within 2 % (plan->note)
/// @param[in,out] plan  its `size` is read
/// @retval KEDGE_ERR_INPUT    as from kedge_solve(), and with mesh NULL as from
/// kedge_problem_mesh()
/// @retval KEDGE_ERR_ARG      `size` was not set by KEDGE_PLAN_INIT
KEDGE_API kedge_status kedge_plan_make(kedge_context *ctx, const kedge_mesh *mesh,
                                       const kedge_problem *problem, kedge_plan *plan);

/// Solve. Not converging is KEDGE_OK with report.converged == false.
/// @param[in]  mesh, problem  borrowed; the mesh must outlive the solution
/// @retval KEDGE_ERR_INPUT    the problem does not fit the mesh (a group that does not exist, a
///         boundary that is not covered, pure Neumann without reaction, values that are not finite)
/// @retval KEDGE_ERR_MEMORY   predicted not to fit; nothing was allocated
/// @retval KEDGE_ERR_NUMERIC  the trace operator is not positive definite or produced NaN, or u is
///         not finite; of other fields that are not, solver_note tells
/// @retval KEDGE_ERR_DEVICE   the GPU or its driver failed
KEDGE_API kedge_status kedge_solve(kedge_context *ctx, const kedge_mesh *mesh,
                                   const kedge_problem *problem, kedge_solution **out);
/// Solve for the report: its solution keeps no fields, and what reads them refuses it with
/// KEDGE_ERR_ARG. On a GPU nearly nothing is brought to the host. Else as kedge_solve().
KEDGE_API kedge_status kedge_solve_report(kedge_context *ctx, const kedge_mesh *mesh,
                                          const kedge_problem *problem, kedge_solution **out);
KEDGE_API void kedge_solution_destroy(kedge_solution *solution);  ///< NULL is allowed

/// @param[in,out] report  its `size` is read
/// @retval KEDGE_ERR_ARG  an argument is NULL, or `size` was not set by KEDGE_REPORT_INIT
KEDGE_API kedge_status kedge_solution_report(const kedge_solution *solution, kedge_report *report);

/// Fields of a solution. Arrays are in the caller's element order.
typedef enum kedge_field {
  KEDGE_FIELD_U,   ///< order P
  KEDGE_FIELD_QX,  ///< order P; q = grad u
  KEDGE_FIELD_QY,
  KEDGE_FIELD_U_STAR,   ///< order P + 1
  KEDGE_FIELD_SIGMA_X,  ///< order P; the flux sigma = diffusion q
  KEDGE_FIELD_SIGMA_Y,
  KEDGE_FIELD_COUNT_PLANE,  ///< how many a solution in the plane has; those behind are of space
  KEDGE_FIELD_QZ = KEDGE_FIELD_COUNT_PLANE,
  KEDGE_FIELD_SIGMA_Z,
  KEDGE_FIELD_COUNT
} kedge_field;

/// Nodes of a triangle of the given order: (order+1)(order+2)/2. A quadrilateral has (order+1)^2,
/// a tetrahedron (order+1)(order+2)(order+3)/6; kedge_solution_offsets() counts those of any mesh.
KEDGE_API int kedge_node_count(int order);

/// The mean of a field over every element; that of u* is that of u.
/// @param[out] values  [element]
KEDGE_API kedge_status kedge_solution_means(const kedge_solution *solution, kedge_field field,
                                            double *values);

// The problem's [output] fields = cells keeps means and the indicator only, a few numbers for each
// element; values and trace are then refused with KEDGE_ERR_ARG. So is an order of nodes that is
// not 1 to KEDGE_ORDER_MAX + 1.

/// Write where each element begins in arrays over nodes: element e has nodes offsets[e] to
/// offsets[e + 1] - 1, and offsets[elements] is how many all have. On triangles offsets[e] is e *
/// kedge_node_count(order).
/// @param[out] offsets  [elements + 1]
KEDGE_API kedge_status kedge_solution_offsets(const kedge_solution *solution, int order,
                                              int64_t *offsets);
/// Coordinates of the equispaced Lagrange nodes (in VTK's order, which is Gmsh's on triangles) of
/// all elements. In space corners are those of the element as kedge sorts them, the last two
/// exchanged where that makes its volume positive, as VTK wants it.
/// @param[out] xy  [element][node][2], in space [element][node][3]
KEDGE_API kedge_status kedge_solution_nodes(const kedge_solution *solution, int order, double *xy);
/// Values of a field at those nodes.
/// @param[out] values  [element][node]
KEDGE_API kedge_status kedge_solution_values(const kedge_solution *solution, kedge_field field,
                                             int order, double *values);
/// Values of a field at the points that a function is asked for, without a search: for functions
/// that make data of one problem from solutions of others on the same mesh. It may be called from
/// several threads and from functions that a solve calls, and leaves no sentence. Before a solve a
/// call with n = 0 brings the field to the host, which the first of these calls would wait for.
/// @param[out] values  [points->n]
/// @retval KEDGE_ERR_ARG  the points are of another mesh, an argument is NULL or no field, or the
///         problem of the solution says [output] fields = cells
/// @retval KEDGE_ERR_MEMORY, KEDGE_ERR_DEVICE  the field cannot be brought to the host
KEDGE_API kedge_status kedge_solution_at(const kedge_solution *solution, kedge_field field,
                                         const kedge_points *points, double *values);
/// u* of a solution as a function.
/// @param[in] user  const kedge_solution *, of the same mesh, which a solve must not overwrite
KEDGE_API void kedge_by_solution(void *user, const kedge_points *points, double *value);
/// The trace on every edge: vertices of the edge, lower number first, and the coefficients of the
/// orthonormal Legendre basis on [-1,1] along that direction.
/// In space the trace on every face: its vertices in the order of corners of kedge_mesh_nodes(),
/// and the coefficients of the orthonormal basis on the triangle in which they are (-1, -1),
/// (1, -1) and (-1, 1): sqrt(2) P_i(2 (1 + r)/(1 - s) - 1) (1 - s)^i P_j^(2 i + 1, 0)(s), P
/// orthonormal Jacobi polynomials, has the number (i + j)(i + j + 1)/2 + i.
/// @param[out] edges  [edge][2] caller's vertex numbers, in space [face][3]; may be NULL
/// @param[out] modes  [edge][order + 1], in space [face][(order + 1)(order + 2)/2]; may be NULL
KEDGE_API kedge_status kedge_solution_trace(const kedge_solution *solution, int32_t *edges,
                                            double *modes);
/// Norms of the errors of a solution, all in L2, of the error of:
typedef struct kedge_errors {
  size_t size;  ///< sizeof(kedge_errors): begin with KEDGE_ERRORS_INIT, as with a report
  double u, u_star;
  double q;       ///< grad u
  double sigma;   ///< diffusion grad u
  double energy;  ///< the root of the integral of diffusion^-1 |sigma - diffusion grad u|^2, where
                  ///< |.|^2 is a product with the inverse tensor
} kedge_errors;
#define KEDGE_ERRORS_INIT \
  {                       \
    sizeof(kedge_errors)  \
  }
/// Measure a solution against an exact one, on the host. They are NaN where that has no value at a
/// point inside of an element.
/// @param[in]     problem  whose exact solution it is, text or functions; the solution may be of
///                         another one, whose diffusion it keeps
/// @param[in]     points   of quadrature, a direction, at most 40; 0: order + 6
/// @param[in,out] errors   its `size` is read
/// @retval KEDGE_ERR_ARG  an argument is NULL or `points` out of range, the problem has no exact
///         solution, or the solution keeps means alone
/// @retval KEDGE_ERR_INPUT  the exact solution is one of space, and the mesh of the plane, or the
///         other way around
KEDGE_API kedge_status kedge_solution_errors(const kedge_solution *solution,
                                             const kedge_problem *problem, int points,
                                             kedge_errors *errors);
/// L2 norm of u* - u in every element, an error indicator.
/// @param[out] values  [element]
KEDGE_API kedge_status kedge_solution_indicator(const kedge_solution *solution, double *values);

/// Values at points anywhere: which element holds each is found on the context's device.
typedef struct kedge_locator kedge_locator;
/// Make a tree of boxes over the elements.
/// @param[in] mesh  borrowed; it must outlive the locator
/// @retval KEDGE_ERR_MEMORY  the device has less than kedge_locator_bytes() free
KEDGE_API kedge_status kedge_locator_create(kedge_context *ctx, const kedge_mesh *mesh,
                                            kedge_locator **out);
KEDGE_API void kedge_locator_destroy(kedge_locator *locator);  ///< NULL is allowed
/// Device memory of a locator. @return 0 where mesh is NULL
KEDGE_API int64_t kedge_locator_bytes(const kedge_mesh *mesh);
/// Copy values at nodes to the device. They stay until the next ones, or the end of the locator.
/// @param[in]  from  [n] in host memory
/// @param[out] to    where they are
/// @retval KEDGE_ERR_MEMORY  the device has not 8 n bytes free
KEDGE_API kedge_status kedge_locator_keep(kedge_locator *locator, int64_t n, const double *from,
                                          const double **to);
/// Evaluate a field at points. On an edge, and on a face in space, it is that of the neighbour of
/// the lowest number; outside of the mesh NaN. Arrays are in memory of the context's device, with a
/// backend of the host in its memory; what the device's default stream has been given is waited
/// for, and values are there when the call returns. With a backend of the host several threads may
/// call it at once.
/// @param[in]  order   of the nodes, 1 to KEDGE_ORDER_MAX + 1
/// @param[in]  nodes   [element][node], as of kedge_solution_values() or kedge_data.device
/// @param[in]  x, y    [n]
/// @param[out] values  [n]; it may be x or y
/// @retval KEDGE_ERR_ARG    also an array that is not in memory of this GPU
/// @retval KEDGE_ERR_INPUT  the mesh is of tetrahedra
KEDGE_API kedge_status kedge_locator_values(kedge_locator *locator, int order, const double *nodes,
                                            int64_t n, const double *x, const double *y,
                                            double *values);
/// Likewise on a mesh of tetrahedra, which the former refuses, as this refuses others.
KEDGE_API kedge_status kedge_locator_values_space(kedge_locator *locator, int order,
                                                  const double *nodes, int64_t n, const double *x,
                                                  const double *y, const double *z, double *values);

/// Write VTKHDF (docs/output.md): Lagrange cells of order P + 1 (at most 10) with u, q, sigma,
/// u_star, the region tag and the error indicator; with [output] fields = cells the elements of the
/// mesh with the means of u, q and sigma, region and indicator. Written under a temporary name,
/// then renamed. Its time is added to the report's output stage.
/// @param[in] path  ends in .vtkhdf or .hdf, by which ParaView knows the format
/// @retval KEDGE_ERR_ARG  the path does not end in one of these
/// @retval KEDGE_ERR_IO   the file could not be written; an old file there is as it was
/// @retval KEDGE_ERR_UNSUPPORTED  as kedge_output_ready()
KEDGE_API kedge_status kedge_solution_write(kedge_solution *solution, const char *path);

/// Write the edges of all groups, on the boundary and inside the domain, as VTKHDF
/// (docs/output.md#the-boundary): curves with the trace of u, and the tag of the group, the flux
/// density and where an edge is for each. A solution that keeps its report alone has them too. In
/// space these are the faces of groups, triangles whose normal points to whom they are
/// counterclockwise for.
/// @param[in] path  as above
/// @retval KEDGE_ERR_ARG, KEDGE_ERR_IO, KEDGE_ERR_UNSUPPORTED  as above
KEDGE_API kedge_status kedge_solution_write_boundary(const kedge_solution *solution,
                                                     const char *path);

/// Load HDF5, as the calls around this one do when they are first made. Call it before a long
/// solve whose solution is to be written: what it lacks is known then.
/// @retval KEDGE_ERR_UNSUPPORTED  HDF5, or the file of kedge that calls it, cannot be loaded
KEDGE_API kedge_status kedge_output_ready(kedge_context *ctx);

/// Read an array of a file that kedge_solution_write() has made, as doubles, by its name in it:
/// "Points", "Offsets", "Types", "PointData/u", "CellData/region", "FieldData/converged".
/// @param[in,out] count  numbers that there is room for; becomes how many the file has
/// @param[out]    values  [count]; NULL: they are only counted
/// @retval KEDGE_ERR_IO     the file cannot be read, or is damaged: the array, or what it is
///                          compared with, is not as its file, counts and cells say
/// @retval KEDGE_ERR_INPUT  it is no output of kedge, or holds no array of that name
/// @retval KEDGE_ERR_ARG    there is not room enough, or an argument is NULL
/// @retval KEDGE_ERR_UNSUPPORTED  as kedge_output_ready()
KEDGE_API kedge_status kedge_output_read(kedge_context *ctx, const char *path, const char *name,
                                         int64_t *count, double *values);

/// Write the report as JSON (docs/report.md) under a temporary name, then rename.
/// @retval KEDGE_ERR_IO  as above
KEDGE_API kedge_status kedge_report_write(kedge_context *ctx, const kedge_report *report,
                                          const char *path);
/// Writes a plan as JSON (docs/report.md, plans), whole or not at all.
/// @param[in] ctx  that it was made with
KEDGE_API kedge_status kedge_plan_write(kedge_context *ctx, const kedge_plan *plan,
                                        const char *path);

KEDGE_END_DECLS
