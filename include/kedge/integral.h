/// @file
/// Integrals of expressions of a solution over the domain, a region, or a group of lines.
#pragma once
#include "kedge/solution.h"
KEDGE_BEGIN_DECLS

/// An integral, made once for a mesh and evaluated on solutions.
typedef struct kedge_integral kedge_integral;

/// What an integral is of. Begin with KEDGE_INTEGRAL_OPTIONS_INIT.
typedef struct kedge_integral_options {
  size_t size;  ///< sizeof(kedge_integral_options)
  /// An expression in x, y, region and the element's fields u, u_star, qx, qy, sigma_x, sigma_y. On
  /// lines in normal_x, normal_y, trace, and flux, the numerical flux sigma . n - tau (u - trace),
  /// too; t is the time of the solution. Or NULL: the function, which gets normals on lines
  const char *of;
  kedge_function *function;
  void *user;
  /// A group of lines or a region by its name, else its number; NULL or "all": the domain. Of a
  /// group of lines its edges on the boundary or, where it has none, those inside the domain. n
  /// points as that of kedge_group_values.flux, out of the elements whose fields are taken
  const char *on;
  /// Points a direction, at most 40. 0: enough for a polynomial in all of these; else enough for a
  /// product of two fields of order P + 1, and two more
  int quadrature;
  const kedge_problem *problem;  ///< whose [parameters] `of` may name; NULL: none
  /// A section [integral NAME] of the problem, in place of all members above it; NULL: none
  const char *name;
} kedge_integral_options;
#define KEDGE_INTEGRAL_OPTIONS_INIT \
  {                                 \
    sizeof(kedge_integral_options)  \
  }

/// @param[in]  mesh     borrowed; it must outlive the integral. The problem need not
/// @retval KEDGE_ERR_INPUT  an unknown group (the nearest name is given), an expression that cannot
///         be read or names what has no value there; of a section file and line are given
/// @retval KEDGE_ERR_ARG    there is neither expression nor function, or no such section;
///         `quadrature` is out of range
KEDGE_API kedge_status kedge_integral_create(kedge_context *ctx, const kedge_mesh *mesh,
                                             const kedge_integral_options *options,
                                             kedge_integral **out);
/// Evaluate an integral on the host. The sum has the same bits with any number of threads. Points
/// of reference elements and lists are made by the first call, and again for another order. From a
/// GPU the integral over a region or lines brings what belongs to its elements; that over the
/// domain brings the fields that it names, which stay on the host until they are solved for anew.
/// Threads take turns at one integral.
/// @param[in]  solution  of the same mesh; NULL where the expression names no field. Sentences of a
///                       failure are in the context of the integral
/// @param[out] value     finite
/// @retval KEDGE_ERR_INPUT  the integrand is not finite at a point, which the sentence names, or
///         its sum is not
/// @retval KEDGE_ERR_ARG  the solution, or that of kedge_by_solution(), is of another mesh, or has
///         kept its report or means alone
KEDGE_API kedge_status kedge_integral_evaluate(const kedge_integral *integral,
                                               const kedge_solution *solution, double *value);
KEDGE_API void kedge_integral_destroy(kedge_integral *integral);  ///< NULL is allowed

KEDGE_END_DECLS
