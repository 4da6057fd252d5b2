/// @file
/// Integrals of a function times the modes of an element or a facet, over parts of it: the part
/// that moves most when it is cut is cut, until what is left is small or a bound is reached.
#pragma once
#include "core/error.h"

enum {
  KG_PARTS_MAX = 8,   ///< that a part is cut into
  KG_PART_DEPTH = 40  ///< the most cuts one in the other
};

/// What is left of an integral, beside it and what is near.
#define KG_INTEGRAL_TOLERANCE 1e-6

/// A part of the reference element: of a triangle the triangle of these corners, of a
/// quadrilateral the parallelogram of which they are three, the first between the others; of a
/// tetrahedron, the one of all four. Of a facet in the plane, the interval between corner[0][0] and
/// corner[1][0]. What a shape has no use for is 0.
typedef struct kg_part {
  double corner[4][3];
  int depth;
  bool is_found;  ///< a cut found far more there than was seen, and its neighbours are not cut yet
} kg_part;

/// What a part is of.
typedef enum kg_part_shape {
  KG_PART_TRIANGLE,
  KG_PART_SQUARE,
  KG_PART_INTERVAL,
  KG_PART_TETRAHEDRON,
} kg_part_shape;

/// What is integrated. Threads call side by side.
typedef struct kg_integrand {
  int n;  ///< integrals: one a mode
  kg_part_shape (*shape)(const void *user, int32_t item);
  /// Integrate over some parts, KG_PARTS_MAX at most.
  /// @param[in]  item  of which element or facet they are
  /// @param[out] sums  [part][n]
  /// @param[out] size  [part]: the integral of the absolute value
  /// @param[out] rough [part]: the absolute part of highest degree (basis/roughness.h)
  void (*sum)(const void *user, int32_t item, int n_parts, const kg_part *parts, double *sums,
              double *size, double *rough);
  const void *user;
} kg_integrand;

/// The integrals over an element or a facet.
typedef struct kg_integral {
  double *sums;     ///< [n], the caller's
  double size;      ///< the integral of the absolute value
  double seen;      ///< what the whole, uncut, has for it
  double rough;     ///< and the part of highest degree
  double moved;     ///< the norm of what the first cut changes
  double left;      ///< likewise, what is estimated to be left
  bool is_bounded;  ///< the bound was reached
} kg_integral;

/// The whole reference element.
kg_part kg_whole_part(kg_part_shape shape);

/// The size of a function in an element or on a facet, uncut.
double kg_integral_size(const kg_integrand *of, int32_t item, double *sums);
/// The norm of what the integrals of parts, [part][n], change; not a number where a value was none.
double kg_integral_change(int n, const double *whole, int n_parts, const double *parts);
/// See what one cut changes. @param[out] sums  [KG_PARTS_MAX + 1][n]: work
void kg_integral_try(const kg_integrand *of, int32_t item, double *sums, kg_integral *out);
/// Integrate by as many cuts as are needed.
/// @param[in] scale   what is left is compared with this, or with the size where that is larger
/// @param[in] before  levels of cuts made everywhere, before any is judged
/// @param[in] most    cuts, at most
/// @retval KEDGE_ERR_MEMORY  there is none for the parts
kedge_status kg_integral_make(kedge_context *ctx, const kg_integrand *of, int32_t item,
                              double scale, int before, int most, kg_integral *out);
