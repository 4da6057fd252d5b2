/// @file
/// The problem: -div(diffusion grad u) + reaction u = source, its boundary conditions, the
/// discretisation and the solver's settings. From a problem file or from calls.
#pragma once
#include "kedge/mesh.h"
KEDGE_BEGIN_DECLS

typedef struct kedge_problem kedge_problem;

typedef enum kedge_boundary_type {
  KEDGE_BOUNDARY_DIRICHLET,  ///< u = value
  KEDGE_BOUNDARY_NEUMANN,    ///< diffusion grad u . n = value
  KEDGE_BOUNDARY_ROBIN,      ///< diffusion grad u . n + coefficient u = value
} kedge_boundary_type;

/// The stabilization of an element edge of length h is a number times one of these.
typedef enum kedge_scaling {
  KEDGE_SCALING_ONE,
  KEDGE_SCALING_H,
  KEDGE_SCALING_INVERSE_H
} kedge_scaling;

typedef enum kedge_operator {
  KEDGE_OPERATOR_MATRIX_FREE,        ///< packed local matrices, gathered by patches
  KEDGE_OPERATOR_MATRIX_FREE_PLAIN,  ///< full local matrices, edge by edge: to compare with
  KEDGE_OPERATOR_ELL,                ///< the assembled ELL matrix of King 2014: to compare with
  KEDGE_OPERATOR_COUNT
} kedge_operator;

/// The operator's name in problem files and reports.
KEDGE_API const char *kedge_operator_name(kedge_operator kind);

typedef enum kedge_preconditioner {
  KEDGE_PRECONDITIONER_AUTO,       ///< what is faster: the report says which of the others it was
  KEDGE_PRECONDITIONER_JACOBI,     ///< the diagonal of the trace operator
  KEDGE_PRECONDITIONER_MULTIGRID,  ///< two levels and below; with the matrix-free operator
  KEDGE_PRECONDITIONER_BLOCK_JACOBI,  ///< the smoother alone; with the matrix-free operator
  KEDGE_PRECONDITIONER_COUNT
} kedge_preconditioner;

/// The preconditioner's name in problem files and reports.
KEDGE_API const char *kedge_preconditioner_name(kedge_preconditioner kind);

/// Smoothers of multigrid on the trace; alone, the smoother is the preconditioner block-jacobi.
typedef enum kedge_smoother {
  KEDGE_SMOOTHER_EDGE,  ///< blocks of the edges
  KEDGE_SMOOTHER_LINE,  ///< lines of edges across stretched triangles; blocks of the other edges
  KEDGE_SMOOTHER_AUTO,  ///< lines where triangles are stretched: the report says what it took
  KEDGE_SMOOTHER_COUNT
} kedge_smoother;

/// The smoother's name in problem files and reports.
KEDGE_API const char *kedge_smoother_name(kedge_smoother kind);

/// The precision of the solver's numbers. The solution is equally accurate with each.
typedef enum kedge_precision {
  KEDGE_PRECISION_DOUBLE,
  KEDGE_PRECISION_MIXED,  ///< multigrid works on the trace in single precision; all else is double
  KEDGE_PRECISION_COMPACT,  ///< the iteration too, and K^e is kept in single precision only: 0.5
                            ///< to 0.7 of the memory; residuals are made in double precision
  KEDGE_PRECISION_COUNT
} kedge_precision;

/// The precision's name in problem files and reports.
KEDGE_API const char *kedge_precision_name(kedge_precision kind);

/// The most steps of smoothing before and after a coarse correction of multigrid.
#define KEDGE_SMOOTHING_STEPS_MAX 16

/// A block of points at which a function is asked for. The library makes it, and the arrays live as
/// long as the call. Later versions add members at the end.
typedef struct kedge_points {
  size_t n;
  const double *x, *y;                ///< [n]
  const double *normal_x, *normal_y;  ///< [n] outward, of length 1: where a boundary condition is
                                      ///< asked for; elsewhere NULL
  const double *region;  ///< [n] number of the physical surface that the element is of; 0: of none
  const kedge_mesh *mesh;
  const int32_t *element;  ///< [n] the element, in the caller's numbering
  const int32_t *place;    ///< [n] the element, as kedge numbers it
  /// [n] the point in the reference element: of a triangle (-1, -1), (1, -1), (-1, 1), of a
  /// quadrilateral [-1, 1]^2, corners in the order of kedge_mesh_nodes()
  const double *r, *s;
  /// [n] in space: the third coordinate, and the third parts of the normal and of the point in the
  /// reference tetrahedron (-1, -1, -1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1); NULL in the plane
  const double *z, *normal_z, *third;
  double t;  ///< the time, of all points; 0 where the problem has no [time]
} kedge_points;

/// A function of the plane or of space: value[i] is that at point i, for i < points->n. May be
/// called from several threads at once, and again for points it was called for before (the source,
/// where memory is short, and with precision = compact): it must give the same values then.
typedef void kedge_function(void *user, const kedge_points *points, double *value);

/// The function that is constant in each element. Coefficients that are this function, or constant
/// in each region, are as fast as constants, and the GPU has them in a table.
/// @param[in] user  const double [element], in the caller's order
KEDGE_API void kedge_by_element(void *user, const kedge_points *points, double *value);

/// Likewise by an array in memory of the device of the context that solves; with a backend of the
/// host, in its memory. Diffusion and reaction of all regions are gathered and looked at there. As
/// a source, in regions, beside coefficients that vary in an element, and where sigma is read, the
/// host makes itself a copy. A boundary value it is not.
/// @param[in] user  const double [element], in the caller's order; numbers stay as they are as long
///            as problem and solutions live
KEDGE_API void kedge_by_element_device(void *user, const kedge_points *points, double *value);

/// A function of the program that is the same at all times, which kedge cannot know: as a
/// coefficient of a march (march.h) it is evaluated once, any other at each stage.
typedef struct kedge_steady_function {
  kedge_function *function;
  void *user;
} kedge_steady_function;
/// Evaluate a function that is the same at all times.
/// @param[in] user  const kedge_steady_function, which must live as long as problem and march
KEDGE_API void kedge_steady(void *user, const kedge_points *points, double *value);

/// A problem with the defaults of the problem file: order 1, diffusion 1, reaction
/// 0, no source, no boundary condition.
KEDGE_API kedge_status kedge_problem_create(kedge_context *ctx, kedge_problem **out);

/// Read a problem file (docs/problem-file.md).
/// @param[in] overrides    [n_overrides] strings "section.key=value", applied after the file;
///                         without a value the key is taken away; may be NULL
/// @retval KEDGE_ERR_IO     the file cannot be opened or read
/// @retval KEDGE_ERR_INPUT  refused; the sentence names file, line and column
KEDGE_API kedge_status kedge_problem_read(kedge_context *ctx, const char *path,
                                          const char *const *overrides, int n_overrides,
                                          kedge_problem **out);
/// Write a problem file, whole or not at all, that kedge_problem_read() takes back as it was. The
/// [mesh] file gets an absolute path.
/// @retval KEDGE_ERR_INPUT  a file cannot hold it: functions, names with ']' or a comment's mark
/// @retval KEDGE_ERR_IO     it cannot be written; a file that was there stays
KEDGE_API kedge_status kedge_problem_write(const kedge_problem *problem, const char *path);
KEDGE_API void kedge_problem_destroy(kedge_problem *problem);  ///< NULL is allowed

/// Set one key of the problem file: kedge_problem_set(p, "equation", "diffusion", "2.5"). This is
/// how every setting that is text or a number is made; functions below take what text cannot say.
/// Setting again replaces; a refused setting changes nothing. A name must be set in "parameters"
/// before an expression uses it, and can be given another value later. Key and value "" make a
/// section [region NAME] without keys.
/// @param[in] section  "space", "equation", "parameters", "boundary NAME", "exact", "solver", ...
/// @retval KEDGE_ERR_INPUT  unknown section or key (the nearest valid one is named), bad value
KEDGE_API kedge_status kedge_problem_set(kedge_problem *problem, const char *section,
                                         const char *key, const char *value);
/// One setting of a list: a value as text, or else functions.
typedef struct kedge_setting {
  const char *section, *key;
  const char *value;  ///< NULL: the functions
  /// One, as kedge_problem_set_function() takes it; or of the key "diffusion" a tensor, three or in
  /// space six; or of "u" in "exact" u and its gradient, three or in space four. Others are NULL
  kedge_function *function[6];
  void *user[6];  ///< of each
} kedge_setting;

/// Make settings all at once, or none: kedge_problem_set() reads all of the problem anew for each,
/// this function for all of them. Of two of one key the later counts; else their order is free.
/// @param[in] settings  [n]
/// @retval KEDGE_ERR_ARG    a section, key or user's function is missing
/// @retval KEDGE_ERR_INPUT  as of kedge_problem_set(), and a key that takes no function
KEDGE_API kedge_status kedge_problem_set_all(kedge_problem *problem, int n,
                                             const kedge_setting *settings);
/// Take all settings of another problem in place of those that are there, or none after a failure:
/// by a copy made before, changes can be undone.
/// @retval KEDGE_ERR_ARG  an argument is NULL
KEDGE_API kedge_status kedge_problem_assign(kedge_problem *problem, const kedge_problem *from);
/// The source as a function; it takes the place of a source that is text, and the other way round.
/// @param[in] user  handed to the function; must live as long as the problem (so below)
KEDGE_API kedge_status kedge_problem_set_source(kedge_problem *problem, kedge_function *function,
                                                void *user);
/// Any key that takes an expression as a function: diffusion, reaction and source of "equation" or
/// "region NAME", value and coefficient of "boundary NAME", u of "initial". The functions of
/// coefficients, and their data, must live as long as solutions too, which evaluate them where q or
/// sigma is read.
KEDGE_API kedge_status kedge_problem_set_function(kedge_problem *problem, const char *section,
                                                  const char *key, kedge_function *function,
                                                  void *user);
/// Diffusion as a tensor of functions: xx, xy, yy.
/// @param[in] section    "equation" or "region NAME"
/// @param[in] functions, users  [3]
KEDGE_API kedge_status kedge_problem_set_tensor(kedge_problem *problem, const char *section,
                                                kedge_function *const *functions,
                                                void *const *users);
/// In space: xx, xy, xz, yy, yz, zz. @param[in] functions, users  [6]
KEDGE_API kedge_status kedge_problem_set_tensor_space(kedge_problem *problem, const char *section,
                                                      kedge_function *const *functions,
                                                      void *const *users);
/// @param[in] group  name or number of a physical group, or "default"
KEDGE_API kedge_status kedge_problem_set_boundary(kedge_problem *problem, const char *group,
                                                  kedge_boundary_type type,
                                                  kedge_function *function, void *user);
/// Exact solution and its gradient, for errors and for data that is left out except the source.
KEDGE_API kedge_status kedge_problem_set_exact(kedge_problem *problem, kedge_function *u,
                                               kedge_function *du_dx, kedge_function *du_dy,
                                               void *user);
KEDGE_API kedge_status kedge_problem_set_exact_space(kedge_problem *problem, kedge_function *u,
                                                     kedge_function *du_dx, kedge_function *du_dy,
                                                     kedge_function *du_dz,
                                                     void *user);  ///< likewise in space

/// Settings of a problem, those of its file too: how many, and each in the order in which it was
/// made.
KEDGE_API int kedge_problem_setting_count(const kedge_problem *problem);
/// @param[in]  index  0 .. kedge_problem_setting_count() - 1
/// @param[out] section, key, value borrowed until the problem is changed; the key "" stands for a
/// section
///         [region NAME] itself; a value that is a function of the caller is NULL; of a tensor of
///         functions (kedge_problem_set_tensor()) the parts behind the first are diffusion_xy,
///         diffusion_yy and so on, keys that no problem file has
/// @retval KEDGE_ERR_ARG  an argument is NULL, or there is no such index
KEDGE_API kedge_status kedge_problem_get_setting(const kedge_problem *problem, int index,
                                                 const char **section, const char **key,
                                                 const char **value);

/// Read or generate, and refine, the mesh that the problem's [mesh] section names. A relative path
/// is relative to the problem file.
/// @retval KEDGE_ERR_INPUT  the problem names no mesh, or the mesh is refused
/// @retval KEDGE_ERR_IO     its file cannot be opened or read
KEDGE_API kedge_status kedge_problem_mesh(const kedge_problem *problem, kedge_mesh **out);

/// The [mesh] file as it is opened, in the folder of the problem file unless its path is absolute;
/// NULL when the problem names none.
KEDGE_API const char *kedge_problem_mesh_file(const kedge_problem *problem);

/// The [output] file, relative to the current directory; NULL when the problem names none, or its
/// value is empty.
KEDGE_API const char *kedge_problem_output(const kedge_problem *problem);

/// The name of a section [integral NAME] (integral.h), in the order in which they were made.
/// @return borrowed until the problem is changed; NULL where there is no such index
KEDGE_API const char *kedge_problem_integral(const kedge_problem *problem, int index);
/// The [output] boundary, likewise.
KEDGE_API const char *kedge_problem_boundary_output(const kedge_problem *problem);

/// Write where a key was set, as a sentence about it begins: "plate.ini:12: ", or
/// "--set space.order=4: " for an override; "" when it was not set, or by a call.
/// @param[out] text  cut to `size` bytes
KEDGE_API void kedge_problem_place(const kedge_problem *problem, const char *section,
                                   const char *key, char *text, size_t size);

KEDGE_END_DECLS
