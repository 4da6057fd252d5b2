/// @file
/// What the fields of a solution are like, as sums, extrema and the first numbers that are not
/// finite, over the elements of a chunk: how large u, q and sigma are, how far u* is from u,
/// between which values both lie, and the eigenvalues of the diffusion. Who reads the sums judges
/// (diagnose/fields.c, elliptic/remainder/remainder.c).
///
/// Modes are orthonormal on the reference element, and those of u are the first of u*. So u* - u
/// falls apart into modes that u has too, where u misses what it could be, and modes of order P + 1
/// alone, which no u has. Squares are times the area of the corners' polygon over that of the
/// reference element: L2 norms on parallelograms and straight triangles, near them elsewhere.
///
/// Flux functions are orthonormal too. The square of a flux over an element is the sum over pairs
/// of components of their product, integrated on the reference element, times a matrix of the map
/// and the diffusion, of which the mean over a few points is taken: coefficients are read once.
/// Where the map is affine and the diffusion constant, that is the L2 norm.
#pragma once
#include <math.h>
#include <stdbool.h>

#include "basis/cell.h"
#include "core/inline.h"
#include "ops/local/quadrature/elements.h"
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
  double q, sigma;                                ///< squares of their norms
  double kappa_least, kappa_most;                 ///< eigenvalues of the diffusion, at points
  int32_t least_at, most_at;          ///< elements of star_least and star_most; -1: of no element
  int32_t bad_u, bad_star, bad_mean;  ///< the first elements with a mode that is not finite; -1
  int32_t n;                          ///< elements
} kg_field_sums;

/// Group g of a chunk is in piece g modulo n_pieces. A piece has one writer, and its groups an
/// order: sums do not depend on threads.
typedef struct kg_field_sums_args {
  int n_facets;           ///< 3 or 4
  int n_modes, n_star;    ///< N, N*
  int n_points;           ///< at which extrema are looked for
  const double *value;    ///< [point][N*]: modes there (kg_field_points())
  int32_t n_elements;     ///< of the chunk
  int32_t first_element;  ///< of the chunk, in the mesh
  const double *vertices;
  const int32_t *vertex;      ///< [group of the chunk][corner][lane]
  const double *u;            ///< [group of the chunk][N][lane]
  const double *u_star;       ///< [group of the chunk][N*][lane]
  const double *flux;         ///< likewise, as forms leave it (ops/form/form.h)
  kg_cell_material material;  ///< the diffusion is read
  bool by_quadrature;         ///< else straight triangles, and `cells` is not read
  kg_cells cells;             ///< of the chunk; side_edge is not read
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
/// integral of the projection of a point load on polynomials of order P, which turns at the zeros
/// of the Jacobi polynomial P_P^(1, 0); the first is near cos(j / (P + 1)), j the first zero of the
/// Bessel function J_1.
/// @param[out] value  [point][N*] @return how many points there are
int kg_field_points(const kg_cell *cell, int order, double *value);

KG_INLINE kg_field_sums kg_no_field_sums(void)
{
  kg_field_sums none;
  none.u = none.star = none.shared = none.rest = none.q = none.sigma = none.kappa_most = 0.0;
  none.u_least = none.star_least = none.kappa_least = INFINITY;
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
  sum->q += part->q;
  sum->sigma += part->sigma;
  if (part->kappa_least < sum->kappa_least) sum->kappa_least = part->kappa_least;
  if (part->kappa_most > sum->kappa_most) sum->kappa_most = part->kappa_most;
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

/// Add mode k of a field to its values at the points.
KG_INLINE void kg_field_at_points(const kg_field_sums_args *a, int k, double c,
                                  double at[KG_FIELD_POINTS])
{
  for (int q = 0; q < KG_FIELD_POINTS; ++q)  // of a fixed length: values stay in registers
    if (q < a->n_points) at[q] += a->value[q * a->n_star + k] * c;
}

/// Least and most of the values of a field at the points.
KG_INLINE void kg_field_range(const kg_field_sums_args *a, const double at[KG_FIELD_POINTS],
                              double *least, double *most)
{
  for (int q = 0; q < KG_FIELD_POINTS; ++q) {
    if (q >= a->n_points) continue;
    if (at[q] < *least) *least = at[q];
    if (at[q] > *most) *most = at[q];
  }
}

/// Sums and extrema of u and u*, of an element of area 1.
KG_INLINE void kg_field_sums_of_u(const kg_field_sums_args *a, const double *u, const double *star,
                                  int32_t element, kg_field_sums *e)
{
  double at_u[KG_FIELD_POINTS] = {0.0}, at_star[KG_FIELD_POINTS] = {0.0};
  double zero_u = 0.0, zero_star = 0.0;  // NaN where a number is not finite
  for (int k = 0; k < a->n_modes; ++k) {
    const double c = u[(int64_t)k * KG_LANES], b = star[(int64_t)k * KG_LANES], d = b - c;
    zero_u += 0.0 * c;
    zero_star += 0.0 * d;
    e->u += c * c;
    e->star += (c + d) * (c + d);
    e->shared += d * d;
    kg_field_at_points(a, k, c, at_u);
    kg_field_at_points(a, k, b, at_star);
  }
  for (int k = a->n_modes; k < a->n_star; ++k) {
    const double c = star[(int64_t)k * KG_LANES];
    zero_star += 0.0 * c;
    e->rest += c * c;
    kg_field_at_points(a, k, c, at_star);
  }
  e->star += e->rest;
  kg_field_range(a, at_u, &e->u_least, &e->u_most);
  kg_field_range(a, at_star, &e->star_least, &e->star_most);
  if (!(zero_u == 0.0)) e->bad_u = element;
  if (!(zero_star == 0.0)) e->bad_star = element;
}

/// Widen the range of the eigenvalues by those of a tensor.
KG_INLINE void kg_field_widen(const double kappa[3], kg_field_sums *e)
{
  const double mean = 0.5 * (kappa[0] + kappa[2]), half = 0.5 * (kappa[0] - kappa[2]);
  const double most = mean + sqrt(half * half + kappa[1] * kappa[1]);
  // As a quotient: a difference would lose the digits of the least one.
  const double least = (kappa[0] * kappa[2] - kappa[1] * kappa[1]) / most;
  if (least < e->kappa_least) e->kappa_least = least;
  if (most > e->kappa_most) e->kappa_most = most;
}

/// Sums of q and sigma, of a straight triangle of area 1: the modes of q are those of u.
KG_INLINE void kg_field_sums_of_q(const kg_field_sums_args *a, int32_t element, kg_field_sums *e)
{
  const int N = a->n_modes;
  const double *const kappa = kg_cell_constant_diffusion(&a->material, element);
  const double xx = kappa[0], xy = kappa[1], yy = kappa[2];
  for (int i = 0; i < N; ++i) {
    const double x = a->flux[kg_cell_at(element, 2 * N, i)];
    const double y = a->flux[kg_cell_at(element, 2 * N, N + i)];
    const double along = xx * x + xy * y, across = xy * x + yy * y;
    e->q += x * x + y * y;
    e->sigma += along * along + across * across;
  }
  kg_field_widen(kappa, e);
}

/// The flux function along s that has the values of number i along r; -1: none has.
KG_INLINE int kg_field_partner(const kg_cell_sizes *size, int i)
{
  const int m = size->n_facet, along = i / m, across = i % m;
  if (size->n_facets == 3) return i;
  return along < m ? across * m + along : -1;
}

/// Integrals over the reference element of the products of the components of a flux: rr, rs, ss.
/// @param[in] s  coefficients, KG_LANES apart
KG_INLINE void kg_field_moments(const kg_cell_sizes *size, const double *s, double moment[3])
{
  const int half = size->n_flux / 2;
  moment[0] = moment[1] = moment[2] = 0.0;
  for (int i = 0; i < half; ++i) {
    const double r = s[(int64_t)i * KG_LANES], t = s[(int64_t)(half + i) * KG_LANES];
    const int partner = kg_field_partner(size, i);
    moment[0] += r * r;
    moment[2] += t * t;
    if (partner >= 0) moment[1] += r * s[(int64_t)(half + partner) * KG_LANES];
  }
}

/// The place of a point of an element, whose nodes are read where they lie.
KG_INLINE kg_cell_place kg_field_place(const kg_cells *cells, int32_t e, int q)
{
  const kg_cell_points *const points = &cells->tables.points;
  const int n = points->n_nodes;
  const double *const map = points->map + 3 * q * n;
  kg_cell_place p = {0, 0, 0, 0, 0, 0, 0};
  for (int v = 0; v < n; ++v) {
    const bool straight = points->geometry == 1;
    const int64_t vertex = straight ? cells->vertex[kg_cell_at(e, n, v)] : 0;
    const double x = straight ? cells->vertices[2 * vertex] : cells->nodes[kg_cell_at(e, 2 * n, v)];
    const double y =
        straight ? cells->vertices[2 * vertex + 1] : cells->nodes[kg_cell_at(e, 2 * n, n + v)];
    p.x_r += map[n + v] * x;
    p.y_r += map[n + v] * y;
    p.x_s += map[2 * n + v] * x;
    p.y_s += map[2 * n + v] * y;
  }
  p.jacobian = p.x_r * p.y_s - p.x_s * p.y_r;
  return p;
}

/// Add the matrices of a point, rr, rs, ss, that make squares of sigma and q of products of the
/// components of the coefficients that they are read from.
KG_INLINE void kg_field_matrices(const kg_cell_place *p, const double kappa[3], bool keeps_gradient,
                                 double weight, double of_sigma[3], double of_q[3])
{
  const double along_r[2] = {p->x_r, p->y_r}, along_s[2] = {p->x_s, p->y_s};
  const double w = weight / p->jacobian;
  const double rr = p->x_r * p->x_r + p->y_r * p->y_r;
  const double rs = p->x_r * p->x_s + p->y_r * p->y_s;
  const double ss = p->x_s * p->x_s + p->y_s * p->y_s;
  double r[2], s[2];
  of_sigma[0] += w * rr;
  of_sigma[1] += w * rs;
  of_sigma[2] += w * ss;
  if (keeps_gradient) {
    of_q[0] += w * ss;
    of_q[1] -= w * rs;
    of_q[2] += w * rr;
    return;
  }
  kg_cell_gradient_of(kappa, along_r, r);
  kg_cell_gradient_of(kappa, along_s, s);
  of_q[0] += w * (r[0] * r[0] + r[1] * r[1]);
  of_q[1] += w * (r[0] * s[0] + r[1] * s[1]);
  of_q[2] += w * (s[0] * s[0] + s[1] * s[1]);
}

/// Sums of q and sigma, of an element by quadrature. Of the rows of the rule three are taken, each
/// way: the middle and two near the ends.
KG_INLINE void kg_field_sums_of_flux(const kg_field_sums_args *a, int32_t element, kg_field_sums *e)
{
  const kg_cell_tables *const t = &a->cells.tables;
  const bool keeps_gradient = a->material.keeps_gradient;
  const int S = t->size.n_flux, rows = t->points.rows, end = rows / 6;
  const double *const s = a->flux + kg_cell_at(element, kg_cell_flux_rows(S, keeps_gradient), 0);
  const kg_cell_diffusion diffusion = kg_cell_diffusion_of(t, &a->material, element);
  double of_sigma[3] = {0.0}, of_q[3] = {0.0}, moment[3], kappa[3], all = 0.0;
  for (int k = 0; k < 9; ++k) {
    const int i = k % 3, j = k / 3;
    const int column = i == 0 ? end : i == 1 ? rows / 2 : rows - 1 - end;
    const int row = j == 0 ? end : j == 1 ? rows / 2 : rows - 1 - end, q = row * rows + column;
    const kg_cell_place place = kg_field_place(&a->cells, element, q);
    kg_cell_diffusion_at(&diffusion, q, kappa);
    kg_field_widen(kappa, e);
    kg_field_matrices(&place, kappa, keeps_gradient, t->points.weight[q], of_sigma, of_q);
    all += t->points.weight[q];
  }
  kg_field_moments(&t->size, s, moment);
  e->sigma =
      (of_sigma[0] * moment[0] + 2.0 * of_sigma[1] * moment[1] + of_sigma[2] * moment[2]) / all;
  if (keeps_gradient) kg_field_moments(&t->size, s + (int64_t)S * KG_LANES, moment);
  e->q = (of_q[0] * moment[0] + 2.0 * of_q[1] * moment[1] + of_q[2] * moment[2]) / all;
}

/// Add the element of a lane of a group of the chunk.
KG_INLINE void kg_field_sums_element(const kg_field_sums_args *a, int64_t group, int lane,
                                     kg_field_sums *sum)
{
  const int32_t of_chunk = (int32_t)(group * KG_LANES) + lane;
  const int32_t element = a->first_element + of_chunk;
  const double area = kg_field_area(a, group, lane);
  kg_field_sums e = kg_no_field_sums();
  double zero = 0.0;
  kg_field_sums_of_u(a, a->u + group * a->n_modes * KG_LANES + lane,
                     a->u_star + group * a->n_star * KG_LANES + lane, element, &e);
  if (a->by_quadrature) {
    kg_field_sums_of_flux(a, of_chunk, &e);
  } else {
    kg_field_sums_of_q(a, of_chunk, &e);
    e.q *= area;
    e.sigma *= area;
  }
  for (int k = 0; a->means && k < a->n_means; ++k)
    zero += 0.0 * a->means[(group * a->n_means + k) * KG_LANES + lane];
  e.u *= area;
  e.star *= area;
  e.shared *= area;
  e.rest *= area;
  e.least_at = e.most_at = element;
  if (!(zero == 0.0)) e.bad_mean = element;
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
