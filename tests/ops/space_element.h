/// @file
/// One tetrahedron by the book: the equations of the method integrated one by one on the element
/// itself, in long double, and all unknowns eliminated as they are. Nothing here is shared with the
/// operators but the bases.
///
///   (q, v) + (u, div v)                                        = <x, v . n>
///   (K q, grad w) - <K q . n, w> + (c u, w) + <tau (u - x), w> = (f, w)
///   y = <K q . n - tau (u - x), mu> = K^e x - F^e
#pragma once
#include "basis/cell.h"

typedef struct space_element {
  double x[4][3];
  double diffusion[6];  ///< K: xx, xy, xz, yy, yz, zz
  double reaction;      ///< c
  double tau[4];
} space_element;

/// A function of a point of the element: `values` of it.
typedef void space_function(const void *context, const long double at[3], long double *values);

double space_element_area(const space_element *e, int l);
/// |det| of the map from the reference element.
double space_element_jacobian(const space_element *e);
/// K^e [n][n] and F^e [n]. @param[in] load  [N]: (f, phi_i)
void space_element_local(const space_element *e, int order, const double *load, double *k,
                         double *f);
/// Coefficients of functions in the modes of an order: [values][N]. Sums over points are exact to
/// degree 2 (order + 4) of function times mode.
void space_element_project(const space_element *e, int order, int values, space_function *f,
                           const void *context, double *modes);
/// Coefficients in the modes of the facets, of the first of its values: [4][m].
void space_element_project_trace(const space_element *e, int order, space_function *f,
                                 const void *context, double *modes);
/// The largest of |(K (grad u* - q), grad w)| over the modes w of order P + 1, beside that of
/// |(K q, grad w)|; and ||u* - u||.
/// @param[in] u, q, u_star  [N], [3][N], [N*]
void space_element_star(const space_element *e, int order, const double *u, const double *q,
                        const double *u_star, double *residual, double *scale, double *difference);
