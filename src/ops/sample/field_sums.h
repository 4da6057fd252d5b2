/// @file
/// What the fields of a solution are like, as sums, extrema and the first numbers that are not
/// finite, over the elements of a chunk: how large u is, how far u* is from it, between which
/// values both lie. Who reads the sums judges (diagnose/fields.c).
///
/// Modes are orthonormal on the reference element, and those of u are the first of u*. So u* - u
/// falls apart into modes that u has too, where u misses what it could be, and modes of order P + 1
/// alone, which no u has. Squares are times the area of the corners' polygon over that of the
/// reference element: L2 norms on parallelograms and straight triangles, near them elsewhere.
#pragma once
#include <math.h>
#include <stdbool.h>

#include "basis/cell.h"
#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

enum {
  KG_FIELD_PIECES = 512,                    ///< at most
  KG_FIELD_POINTS = 2 * KG_FACETS_MAX + 1,  ///< at most
};

/// Sums of a piece, or of all.
typedef struct kg_field_sums {
  double u, star;                                 ///< squares of ||u|| and ||u*||
  double shared;                                  ///< of u* - u, in the modes of u
  double rest;                                    ///< of u*, in the modes that u has not
  double u_least, u_most, star_least, star_most;  ///< of u and u*, at the points
  int32_t least_at, most_at;                      ///< elements of the last two; -1: of no element
  int32_t bad_u, bad_star, bad_mean;  ///< the first elements with a mode that is not finite; -1
  int32_t n;                          ///< elements
} kg_field_sums;

/// Group g of a chunk is in piece g modulo n_pieces. A piece has one writer, and its groups an order:
/// sums do not depend on threads.
typedef struct kg_field_sums_args {
  int n_facets;           ///< 3 or 4
  int n_modes, n_star;    ///< N, N*
  int n_points;           ///< at which extrema are looked for
  const double *value;    ///< [point][N*]: modes there (kg_field_points())
  int32_t n_elements;     ///< of the chunk
  int32_t first_element;  ///< of the chunk, in the mesh
  const double *vertices;
  const int32_t *vertex;  ///< [group of the chunk][corner][lane]
  const double *u;        ///< [group of the chunk][N][lane]
  const double *u_star;   ///< [group of the chunk][N*][lane]
  int n_means;
  const double *means;  ///< [group of the chunk][n_means][lane]; NULL: no means are wanted
  bool begins;          ///< it is the first chunk: sums are written, and else added to
  int n_pieces;         ///< of all chunks: kg_field_pieces()
  kg_field_sums *sums;  ///< in and out: [n_pieces]
} kg_field_sums_args;

KG_DECLARE_OPERATOR(kg_field_sums_add, kg_field_sums_args);
kg_cost kg_field_sums_cost(const kg_field_sums_args *args);

/// As many pieces as there are groups, up to KG_FIELD_PIECES.
static inline int kg_field_pieces(int32_t n_groups)
{
  return n_groups < KG_FIELD_PIECES ? (int)n_groups : KG_FIELD_PIECES;
}
/// The modes of order P + 1 of a shape at 2 F + 1 points: corners, centre, and as many between
/// where u* goes farthest beyond u in an element that holds a jump at a facet. There u* - u is the
/// integral of the projection of a point load on polynomials of order P, which turns at the zeros of
/// the Jacobi polynomial P_P^(1, 0); the first is near cos(j / (P + 1)), j the first zero of the
/// Bessel function J_1.
/// @param[out] value  [point][N*] @return how many points there are
int kg_field_points(const kg_cell *cell, int order, double *value);

KG_INLINE kg_field_sums kg_no_field_sums(void)
{
  kg_field_sums none;
  none.u = none.star = none.shared = none.rest = 0.0;
  none.u_least = none.star_least = INFINITY;
  none.u_most = none.star_most = -INFINITY;
  none.least_at = none.most_at = none.bad_u = none.bad_star = none.bad_mean = -1;
  none.n = 0;
  return none;
}

/// The lower number of two elements, of which -1 is none.
KG_INLINE int32_t kg_lower_element(int32_t a, int32_t b)
{
  return a < 0 || (b >= 0 && b < a) ? b : a;
}

/// Add a part. An extremum that both have is that of the element with the lower number: in another
/// order of parts nothing but the rounding of sums differs.
KG_INLINE void kg_field_sums_join(const kg_field_sums *part, kg_field_sums *sum)
{
  const bool ties_least = part->star_least == sum->star_least;
  const bool ties_most = part->star_most == sum->star_most;
  sum->u += part->u;
  sum->star += part->star;
  sum->shared += part->shared;
  sum->rest += part->rest;
  if (part->u_least < sum->u_least) sum->u_least = part->u_least;
  if (part->u_most > sum->u_most) sum->u_most = part->u_most;
  if (ties_least) sum->least_at = kg_lower_element(sum->least_at, part->least_at);
  if (ties_most) sum->most_at = kg_lower_element(sum->most_at, part->most_at);
  if (part->star_least < sum->star_least) {
    sum->star_least = part->star_least;
    sum->least_at = part->least_at;
  }
  if (part->star_most > sum->star_most) {
    sum->star_most = part->star_most;
    sum->most_at = part->most_at;
  }
  sum->bad_u = kg_lower_element(sum->bad_u, part->bad_u);
  sum->bad_star = kg_lower_element(sum->bad_star, part->bad_star);
  sum->bad_mean = kg_lower_element(sum->bad_mean, part->bad_mean);
  sum->n += part->n;
}

/// The area of an element over that of the reference element: of a triangle half the product of two
/// sides, of a quadrilateral that of its diagonals.
KG_INLINE double kg_field_area(const kg_field_sums_args *a, int64_t group, int lane)
{
  const bool wide = a->n_facets == 4;
  const int32_t *const corner = a->vertex + group * a->n_facets * KG_LANES + lane;
  const double *const v0 = a->vertices + 2 * (int64_t)corner[0];
  const double *const v1 = a->vertices + 2 * (int64_t)corner[KG_LANES];
  const double *const v2 = a->vertices + 2 * (int64_t)corner[2 * KG_LANES];
  const double *const begin = wide ? v1 : v0;
  const double *const end = wide ? a->vertices + 2 * (int64_t)corner[3 * KG_LANES] : v1;
  const double product =
      (v2[0] - v0[0]) * (end[1] - begin[1]) - (v2[1] - v0[1]) * (end[0] - begin[0]);
  return (wide ? 0.125 : 0.25) * fabs(product);
}

/// Least and most of a field at the points. @param[in] c  modes, KG_LANES apart
KG_INLINE void kg_field_range(const kg_field_sums_args *a, const double *c, int n, double *least,
                              double *most)
{
  for (int q = 0; q < a->n_points; ++q) {
    double sum = 0.0;
    for (int k = 0; k < n; ++k) sum += a->value[q * a->n_star + k] * c[(int64_t)k * KG_LANES];
    if (sum < *least) *least = sum;
    if (sum > *most) *most = sum;
  }
}

/// Add the element of a lane of a group of the chunk.
KG_INLINE void kg_field_sums_element(const kg_field_sums_args *a, int64_t group, int lane,
                                     kg_field_sums *sum)
{
  const double *const u = a->u + group * a->n_modes * KG_LANES + lane;
  const double *const star = a->u_star + group * a->n_star * KG_LANES + lane;
  const int32_t element = a->first_element + (int32_t)(group * KG_LANES) + lane;
  kg_field_sums e = kg_no_field_sums();
  double zero_u = 0.0, zero_star = 0.0, zero_mean = 0.0;  // NaN where a number is not finite
  for (int k = 0; k < a->n_modes; ++k) {
    const double c = u[(int64_t)k * KG_LANES], d = star[(int64_t)k * KG_LANES] - c;
    zero_u += 0.0 * c;
    zero_star += 0.0 * d;
    e.u += c * c;
    e.star += (c + d) * (c + d);
    e.shared += d * d;
  }
  for (int k = a->n_modes; k < a->n_star; ++k) {
    const double c = star[(int64_t)k * KG_LANES];
    zero_star += 0.0 * c;
    e.rest += c * c;
  }
  e.star += e.rest;
  for (int k = 0; a->means && k < a->n_means; ++k)
    zero_mean += 0.0 * a->means[(group * a->n_means + k) * KG_LANES + lane];
  kg_field_range(a, u, a->n_modes, &e.u_least, &e.u_most);
  kg_field_range(a, star, a->n_star, &e.star_least, &e.star_most);
  const double area = kg_field_area(a, group, lane);
  e.u *= area;
  e.star *= area;
  e.shared *= area;
  e.rest *= area;
  e.least_at = e.most_at = element;
  if (!(zero_u == 0.0)) e.bad_u = element;
  if (!(zero_star == 0.0)) e.bad_star = element;
  if (!(zero_mean == 0.0)) e.bad_mean = element;
  e.n = 1;
  kg_field_sums_join(&e, sum);
}

/// Lanes of a group of the chunk that have an element.
KG_INLINE int kg_field_lanes(const kg_field_sums_args *a, int64_t group)
{
  const int64_t left = a->n_elements - group * KG_LANES;
  return left < KG_LANES ? (int)left : KG_LANES;
}

KEDGE_END_DECLS
