/// @file
/// The inside of a problem, and its meeting with a mesh.
#pragma once
#include "problem/elements.h"
#include "problem/probes.h"
#include "kedge/problem.h"
#include "expression/function.h"
#include "mesh/mesh.h"
#include "problem/settings.h"
#include "problem/time.h"
#include "problem/waves.h"

enum { KG_BOUNDARY_TYPES = KEDGE_BOUNDARY_ROBIN + 1 };
extern const char *const kg_boundary_words[KG_BOUNDARY_TYPES];  ///< of problem files

typedef struct kg_boundary {
  char *group;  ///< name or number as given
  kedge_boundary_type type;
  kg_function value, coefficient;
  const kg_setting *type_at, *value_at, *coefficient_at;  ///< borrowed from settings; NULL: not set
  int wave_type;        ///< of kg_wave_boundaries, in a problem of waves
  kg_wave_values wave;  ///< fields of the data of waves
} kg_boundary;

/// Coefficients as [equation] or a section [region NAME] gives them; of kind NONE where it does
/// not.
/// Functions are owned.
typedef struct kg_coefficients {
  char *group;      ///< name or number as given; NULL: [equation]
  int dimension;    ///< of the mesh where it is resolved; 0: it is not
  int n_diffusion;  ///< 0: none is given; 1: a scalar; kg_tensor_numbers(): a tensor
  kg_function diffusion[KG_TENSOR_MAX];  ///< the scalar, or the numbers of the tensor
  kg_function reaction, source;
  kg_function mass;                          ///< of u_t
  kg_function property[KG_WAVE_PROPERTIES];  ///< of waves
  kg_function current[KG_CURRENTS];          ///< of waves, in the plane [0] alone
  const kg_setting *at;                      ///< one of its settings; borrowed
} kg_coefficients;

/// An integral as a section [integral NAME] or a caller gives it.
typedef struct kg_wanted_integral {
  char *name;         ///< owned by the problem
  const char *who;    ///< without a name: what sentences begin with; NULL: "the integral"
  kg_expression *of;  ///< with fields, kg_integral_names; owned; NULL: not given
  char *on;           ///< name or number of a group; owned; NULL: the domain
  int quadrature;     ///< points a direction; 0: kedge chooses
  const kg_setting *of_at, *on_at;  ///< borrowed from settings; NULL: not set
} kg_wanted_integral;

/// Names that only expressions of integrals may use. The first KG_NAMES_OF_FIELDS are the fields,
/// in the order of kedge_field; the names behind them have a value on lines, in space on faces,
/// alone.
enum {
  KG_NAMES_OF_FIELDS = 8,
  KG_NAME_NORMAL_X = KG_NAMES_OF_FIELDS,
  KG_NAME_NORMAL_Y,
  KG_NAME_NORMAL_Z,
  KG_NAME_FLUX,
  KG_NAME_TRACE,
  KG_NAMES,
  // Sets of names.
  KG_NAMES_OF_LINES = 31 << KG_NAMES_OF_FIELDS,
  KG_NAMES_OF_NORMAL = 7 << KG_NAMES_OF_FIELDS,
  KG_NAMES_OF_TRACE = 24 << KG_NAMES_OF_FIELDS,
  KG_NAMES_OF_SPACE = 3 << 6 | 1 << KG_NAME_NORMAL_Z,
};
extern const char *const kg_integral_names[];  ///< [KG_NAMES], ends with NULL

#define KG_INTEGRAL_POINTS_MAX 40  ///< points a direction of integrals

enum { KG_QUADRATURE_MAX = 24 };  ///< points a direction

/// The tolerance that `tolerance = auto` asks for where rounding allows it.
#define KG_TOLERANCE_AUTO 1e-10

struct kedge_problem {
  kedge_context *ctx;
  int64_t version;   ///< counts changes
  double t;          ///< the time that its functions are taken at: kg_problem_set_time()
  const char *path;  ///< of the problem file, NULL: none; borrowed from settings
  char *mesh_file;   ///< with the folder of the problem file before it, unless it is absolute
  char *mesh_generate;
  int geometry;        ///< order of the maps of elements; 0: that of the file, 1 of generators
  kg_function map[3];  ///< x, y and in space z of every node of the mesh; of kind NONE: nodes stay
  double join;         ///< distance of vertices that are joined; 0: none are
  int refine;
  int order;
  enum { KG_INVERSE_AUTO, KG_INVERSE_ADJUSTED, KG_INVERSE_EXACT, KG_INVERSE_GRADIENT } inverse;
  int quadrature;        ///< points a direction of local matrices by quadrature; 0: order + 2
  double stabilization;  ///< 0: diffusion over a length
  kedge_scaling stabilization_scaling;
  double length;  ///< of the stabilization; 0: the root of the area of the domain
  kg_coefficients equation;
  /// What is resolved has reaction + shift mass in place of the reaction: the equation of a stage
  /// of a step in time. 0: the problem as it is read.
  double shift;
  int load_quadrature;  ///< points a direction of loads and boundary data; 0: kedge chooses
  int n_regions;
  kg_coefficients *regions;  ///< sections [region NAME]
  int exact_quadrature;      ///< points a direction of norms of errors; 0: kedge chooses
  kg_function exact_u;
  kg_function exact_dx, exact_dy, exact_dz;  ///< symbolic derivatives when u is text
  kg_time_settings time;
  kg_function initial;  ///< u at the time 0; of kind NONE: 0
  kg_wave_settings wave;
  int n_parameters;
  kg_constant *parameters;  ///< names borrowed from settings
  int n_boundaries;
  kg_boundary *boundaries;
  int n_integrals;
  kg_wanted_integral *integrals;
  kedge_operator operator_kind;
  kedge_preconditioner preconditioner;
  kedge_smoother smoother;
  int smoothing_steps;  ///< 0: not given
  kedge_precision precision;
  double tolerance;
  bool accepts_rounding;  ///< no tolerance was given: what rounding makes of the residual is enough
  int64_t max_iterations;
  char *output;
  char *boundary_output;
  int n_probes;
  kg_probe *probes;
  bool cells_only;       ///< of the fields, only means over the cells are wanted
  kg_settings settings;  ///< the text all of this was read from
};

/// Put settings into a copy and read the problem anew from it: all or nothing.
kedge_status kg_problem_set_all(kedge_problem *problem, const kg_setting *list, int n);

/// Read a problem anew from the settings of another one: a copy that shares nothing with it.
/// @param[in,out] copy  NULL: it is made; else a copy whose settings are replaced, or which stays
///                      as it is after a failure
kedge_status kg_problem_clone(const kedge_problem *problem, kedge_problem **copy);

/// kedge_problem_mesh() of other words and another number of refinements; words are not read where
/// the problem names a file.
kedge_status kg_problem_generate(const kedge_problem *problem, const char *words, int refine,
                                 kedge_mesh **out);

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

/// Points of an edge at which boundary values and coefficients are taken.
static inline int kg_boundary_points(const kedge_problem *problem)
{
  return problem->load_quadrature > 0 ? problem->load_quadrature : problem->order + 5;
}

/// What holds the mean of u in the part of the domain that is held least, where parts have no
/// Dirichlet edges.
typedef struct kg_hold {
  double share;   ///< (reaction + Robin coefficients, integrated) h^2 over diffusion; INFINITY: all
                  ///< parts have Dirichlet edges, or Robin coefficients that are negative in sum
  bool by_robin;  ///< some Robin coefficient is positive there
  int32_t part;   ///< as kg_mesh_parts() numbers it; -1: there is one
  double at[3];   ///< a point of it
} kg_hold;

/// A problem on a mesh: every boundary group has its condition, left-out data are derived from the
/// exact solution.
typedef struct kg_resolved {
  kg_coefficients equation;  ///< of all regions: owned, but for functions of the caller
  kg_function reaction;      ///< of the problem, where it has a shift; else of kind NONE
  bool derives_source;       ///< from the exact solution
  const char *unread;        ///< key of [equation] that is set and no region takes; NULL: none
  bool varies;               ///< diffusion or reaction may differ inside of a region and element
  bool has_robin;            ///< on some boundary of the mesh
  bool by_element;           ///< else: materials are those of the elements, in the mesh's order
  int n_materials;           ///< of the regions, in their order, no two alike; or of the elements
  double *material;          ///< [material][kg_tensor_numbers() + 1]: diffusion, reaction
  int *material_of;          ///< [mesh group]: that of a region; of boundaries 0. NULL: by element
  /// Coefficients of elements lie in device memory, and no material is here.
  bool by_device;
  kg_element_coefficients elements;
  kg_element_summary summary;
  double first[KG_COEFFICIENTS_MAX];  ///< of the mesh's first element
  kg_hold hold;
  /// Indexed by mesh group; entries of groups of dimension 2 are unused.
  struct kg_resolved_boundary {
    kedge_boundary_type type;
    /// NULL: from the exact solution (u, diffusion grad u . n, or that + coefficient u)
    const kg_function *value;
    const kg_function *coefficient;  ///< NULL: not Robin
    const kg_setting *at;  ///< of the value, or of the exact solution; NULL: set by functions
    const kg_setting *coefficient_at;
    bool is_rest;  ///< the condition is that of [boundary default]
  } * boundaries;
} kg_resolved;

/// @retval KEDGE_ERR_INPUT  a group that the mesh has not (the nearest name is given), a group
///         without a condition, a value missing without exact solution, a coefficient missing, or
///         given where no Robin condition is, a part of the mesh whose u nothing determines
///         (problem/hold.h); a preconditioner that the operator does not
///         have
kedge_status kg_problem_resolve(kedge_context *ctx, const kedge_problem *problem,
                                const kedge_mesh *mesh, kg_resolved *out);
void kg_resolved_free(kg_resolved *resolved);
/// Check that the exact solution has the coordinates and derivatives that a mesh has.
kedge_status kg_problem_check_exact(kedge_context *ctx, const kedge_problem *problem,
                                    const kedge_mesh *mesh);

/// The coefficients that a setting of [equation] or [region NAME] belongs to, and the boundary that
/// one of [boundary NAME] belongs to (keys.c); made when they are new.
kedge_status kg_section_coefficients(kedge_problem *problem, const kg_settings *settings,
                                     const kg_setting *setting, kg_coefficients **out);
kedge_status kg_section_boundary(kedge_problem *problem, const kg_settings *settings,
                                 const kg_setting *setting, kg_boundary **out);
/// Find the section of every group on the boundary of a mesh, and, of waves, of every region.
/// @param[out] of  [mesh->n_groups]; NULL where a group is of another kind
/// @retval KEDGE_ERR_INPUT  as from kg_problem_resolve()
kedge_status kg_problem_match(kedge_context *ctx, const kedge_problem *problem,
                              const kedge_mesh *mesh, const kg_boundary **of);
kedge_status kg_regions_match(kedge_context *ctx, const kedge_problem *problem,
                              const kedge_mesh *mesh, const kg_coefficients **of);

/// Set the time at which all functions of a problem are evaluated from now on (time.c), but for the
/// initial state, which is that at 0. That is no change of the problem: its version stays, and so
/// does what was compiled of them.
void kg_problem_set_time(kedge_problem *problem, double t);
/// Likewise of the functions that a resolved problem has as copies; those of boundary conditions
/// are the problem's. Its materials are not made anew.
void kg_resolved_set_time(kg_resolved *resolved, double t);
/// The time of the functions of a resolved problem.
double kg_coefficients_time(const kg_coefficients *coefficients);

/// The setting that names the mesh; NULL: the program brought it.
const kg_setting *kg_mesh_setting(const kedge_problem *problem);
/// How many groups of the mesh are of lines: they stand first, before the regions.
int kg_line_groups(const kedge_mesh *mesh);
/// The group of that name, else of that number, that has boundary edges or elements; -1: none.
int kg_group_named(int n_groups, const kg_group *groups, const char *name);

/// What an integral is taken on.
typedef struct kg_integral_place {
  int group;    ///< of the mesh; -1: the domain
  bool inside;  ///< edges of the group inside the domain, as it has none on the boundary
} kg_integral_place;

/// Find what an integral is taken on, and refuse what its expression has no value for there
/// (integrals.c).
/// @param[in] problem   that has it as a section; NULL: none has
/// @retval KEDGE_ERR_INPUT  an unknown group (the nearest name is given), a name that is a group of
///         lines and a region, names of lines elsewhere, no expression
kedge_status kg_integral_find(kedge_context *ctx, const kedge_problem *problem,
                              const kg_wanted_integral *integral, const kedge_mesh *mesh,
                              kg_integral_place *out);
/// Find the places of all sections [integral NAME] of a problem.
kedge_status kg_integrals_check(kedge_context *ctx, const kedge_problem *problem,
                                const kedge_mesh *mesh);

/// Bring the coefficients of a problem to the regions of a mesh (coefficients.c).
/// @retval KEDGE_ERR_INPUT  a section for no region, a region without one, two sections for one; a
///         diffusion that is not positive (definite), a reaction that is negative
kedge_status kg_coefficients_resolve(kedge_context *ctx, const kedge_problem *problem,
                                     const kedge_mesh *mesh, kg_resolved *out);
/// Make the materials of a problem whose coefficients do not vary (materials.c).
/// @retval KEDGE_ERR_INPUT  as above
kedge_status kg_materials_make(kedge_context *ctx, const kedge_problem *problem,
                               const kedge_mesh *mesh, kg_resolved *out);
/// Copy diffusion and reaction. @param[out] to  kg_coefficients_free()
kedge_status kg_coefficients_copy(kedge_context *ctx, const kg_coefficients *from,
                                  kg_coefficients *to);
void kg_coefficients_free(kg_coefficients *coefficients);
/// The setting that gives a region of the mesh a coefficient; NULL: there is none.
/// @param[in]  region  its number
/// @param[in]  key     diffusion, reaction or source
/// @param[out] name    of the region; NULL where no section is of a region
const kg_setting *kg_coefficient_setting(const kedge_problem *problem, const kedge_mesh *mesh,
                                         int32_t region, const char *key, const char **name);
/// A point of an element.
typedef struct kg_spot {
  double at[3];
  int32_t element;
} kg_spot;
/// Fail with KEDGE_ERR_INPUT for values of a region that are not elliptic.
/// @param[in] spot   where they are; NULL: in all of the region
/// @param[in] value  diffusion, a tensor, and reaction
kedge_status kg_coefficients_refuse(kedge_context *ctx, const kedge_problem *problem,
                                    const kedge_mesh *mesh, int32_t region, const kg_spot *spot,
                                    const double *value);
/// Fail with KEDGE_ERR_INPUT for a mass that is not positive. Arguments as above.
kedge_status kg_mass_refuse(kedge_context *ctx, const kedge_problem *problem,
                            const kedge_mesh *mesh, int32_t region, const kg_spot *spot,
                            double value);
/// Whether diffusion or reaction is a function of the caller, which has no derivative.
bool kg_coefficients_of_caller(const kg_coefficients *equation);
/// Whether nothing reacts anywhere.
bool kg_has_no_reaction(const kg_resolved *resolved);
/// Whether K^e times a constant is 0: there is neither reaction nor a Robin condition.
static inline bool kg_forgets_constants(const kg_resolved *resolved)
{
  return !resolved->has_robin && kg_has_no_reaction(resolved);
}
/// Bring diffusion and reaction to the host (kg_function_bring()), before they are evaluated.
kedge_status kg_coefficients_bring(const kg_coefficients *equation);
/// Numbers of diffusion and reaction of a resolved problem.
static inline int kg_coefficients_numbers(const kg_coefficients *equation)
{
  return kg_tensor_numbers(equation->dimension) + 1;
}
/// One of these functions, diffusion being a tensor also where it is a number.
const kg_function *kg_coefficient_number(const kg_coefficients *equation, int k);
/// Diffusion and reaction of one of the materials of a resolved problem.
static inline double *kg_material_of(const kg_resolved *resolved, int material)
{
  return resolved->material +
         (size_t)material * (size_t)kg_coefficients_numbers(&resolved->equation);
}
/// Diffusion, a tensor also where it is a number, and reaction at points of a resolved problem.
/// @param[out] value  [kg_coefficients_numbers()][points->n]
void kg_coefficients_evaluate(const kg_coefficients *equation, const kedge_points *points,
                              double *value);
/// The largest entry of the diagonal of the diffusion. @param[in] k  as kg_normal_flux() has it
static inline double kg_largest_entry(const kg_coefficients *equation, const double *k,
                                      size_t stride)
{
  if (equation->dimension == 2) return fmax(k[0], k[2 * stride]);
  return fmax(k[0], fmax(k[3 * stride], k[5 * stride]));
}
/// n . diffusion grad u. @param[in] k  xx, xy, yy, each `stride` behind the one before
static inline double kg_normal_flux(const double *k, size_t stride, double u_x, double u_y,
                                    double n_x, double n_y)
{
  const double xx = k[0], xy = k[stride], yy = k[2 * stride];
  if (xy == 0.0 && xx == yy) return xx * (n_x * u_x + n_y * u_y);
  return n_x * (xx * u_x + xy * u_y) + n_y * (xy * u_x + yy * u_y);
}

/// n . diffusion grad u in the plane or in space. @param[in] k  kg_tensor_numbers() entries,
/// likewise
static inline double kg_flux_along(int dimension, const double *k, size_t stride,
                                   const double slope[3], const double n[3])
{
  if (dimension == 2) return kg_normal_flux(k, stride, slope[0], slope[1], n[0], n[1]);
  double sum = 0.0;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j, k += stride)
      sum += *k * (i == j ? n[i] * slope[i] : n[i] * slope[j] + n[j] * slope[i]);
  return sum;
}

/// Read from memory (so that a fuzzer can call it). `name` goes into messages.
kedge_status kg_problem_parse(kedge_context *ctx, const char *name, const char *text, size_t bytes,
                              const char *const *overrides, int n_overrides, kedge_problem **out);

enum { KG_LOST_BYTES = 300 };
/// What to do where a file names groups and none of its lines, or elements, is in one, as the
/// dimension of groups says: the end of a sentence, behind "; "; "" where that is not so.
void kg_lost_groups(const kedge_mesh *mesh, int dimension, char text[KG_LOST_BYTES]);
