// The tetrahedron as a shape of elements (basis/cell.h), straight.
#include <assert.h>
#include <math.h>

#include "basis/cell.h"
#include "basis/polynomials.h"
#include "basis/quadrature.h"

enum {
  ORDERS = 10,  ///< most modes along a line: those of nodes of order 9 (basis/nodal.h)
  FACE_NODES = (KEDGE_ORDER_MAX - 1) * KEDGE_ORDER_MAX / 2,  ///< inside of a face, at most
};

static int modes_of(int order)
{
  return (order + 1) * (order + 2) * (order + 3) / 6;
}

static int flux_of(int order)
{
  return 3 * modes_of(order);
}

/// The number of mode (i, j, k): modes are ordered by total degree, then as those of the triangle.
static int mode_of(int i, int j, int k)
{
  const int d = i + j + k, e = i + j;
  return modes_of(d - 1) + e * (e + 1) / 2 + i;
}

/// phi_ijk = sqrt(8) 2^(2i+j) A_i B_ij C_ijk with
///   A_i   = P_i(a) g^i,            g = -(s + t) / 2,  a = (1 + r) / g - 1,
///   B_ij  = P_j^(2i+1,0)(b) h^j,   h = (1 - t) / 2,   b = (1 + s) / h - 1,
///   C_ijk = P_k^(2i+2j+2,0)(t),
/// P orthonormal. The powers keep every term finite where g or h is zero.
static void modes(int order, const long double *at, long double *phi, long double *const *grad)
{
  const long double r = at[0], s = at[1], t = at[2], g = -0.5L * (s + t), h = 0.5L * (1.0L - t);
  const long double a = g > 0.0L ? (1.0L + r) / g - 1.0L : -1.0L;
  const long double b = h > 0.0L ? (1.0L + s) / h - 1.0L : -1.0L;
  long double pa[ORDERS], da[ORDERS], pb[ORDERS], db[ORDERS], pc[ORDERS], dc[ORDERS];
  kg_wide_jacobi(order, 0, a, pa, da);
  long double gi = 1.0L, lower_g = 0.0L;  // g^i, and g^(i-1) but for i = 0, whose slope is 0
  for (int i = 0; i <= order; ++i, lower_g = gi, gi *= g) {
    const long double A = pa[i] * gi, A_r = da[i] * lower_g;
    const long double A_s = (0.5L * (1.0L + a) * da[i] - 0.5L * i * pa[i]) * lower_g;  // and by t
    kg_wide_jacobi(order - i, 2 * i + 1, b, pb, db);
    long double hj = 1.0L, lower_h = 0.0L;
    for (int j = 0; i + j <= order; ++j, lower_h = hj, hj *= h) {
      const long double B = pb[j] * hj, B_s = db[j] * lower_h;
      const long double B_t = (0.5L * (1.0L + b) * db[j] - 0.5L * j * pb[j]) * lower_h;
      const long double norm = ldexpl(sqrtl(8.0L), 2 * i + j);
      kg_wide_jacobi(order - i - j, 2 * (i + j) + 2, t, pc, dc);
      for (int k = 0; i + j + k <= order; ++k) {
        const int mode = mode_of(i, j, k);
        phi[mode] = norm * A * B * pc[k];
        if (!grad) continue;
        grad[0][mode] = norm * A_r * B * pc[k];
        grad[1][mode] = norm * (A_s * B + A * B_s) * pc[k];
        grad[2][mode] = norm * ((A_s * B + A * B_t) * pc[k] + A * B * dc[k]);
      }
    }
  }
}

static void flux(int order, const long double *at, long double *value, long double *divergence)
{
  const int N = modes_of(order);
  long double *const grad[] = {divergence, divergence ? divergence + N : NULL,
                               divergence ? divergence + 2 * N : NULL};
  modes(order, at, value, divergence ? grad : NULL);
  for (int i = 0; i < 2 * N; ++i) value[N + i] = value[i];
}

static void map(int geometry, const long double *at, long double *shape)
{
  assert(geometry == 1), (void)geometry;
  shape[0] = -0.5L * (1.0L + at[0] + at[1] + at[2]);
  for (int v = 1; v < 4; ++v) shape[v] = 0.5L * (1.0L + at[v - 1]);
  for (int k = 0; k < 3; ++k)
    for (int v = 0; v < 4; ++v) shape[4 * (1 + k) + v] = v == 0 ? -0.5L : v == k + 1 ? 0.5L : 0.0L;
}

/// In collapsed coordinates, those of `modes`.
static void rule(int rows, long double *const *at, long double *weight)
{
  long double x[3][KG_GAUSS_MAX], w[3][KG_GAUSS_MAX];
  for (int alpha = 0; alpha < 3; ++alpha) kg_wide_gauss_jacobi(rows, alpha, x[alpha], w[alpha]);
  for (int q = 0; q < rows * rows * rows; ++q) {
    const int i = q % rows, j = q / rows % rows, k = q / (rows * rows);
    const long double h = 0.5L * (1.0L - x[2][k]), g = 0.5L * (1.0L - x[1][j]) * h;
    at[0][q] = (1.0L + x[0][i]) * g - 1.0L;
    at[1][q] = (1.0L + x[1][j]) * h - 1.0L;
    at[2][q] = x[2][k];
    weight[q] = 0.125L * w[0][i] * w[1][j] * w[2][k];
  }
}

static void products(int order, int rows, long double *const *at, double *value, double *flux)
{
  enum { MODES = ORDERS * (ORDERS + 1) * (ORDERS + 2) / 6 };
  long double phi[MODES];
  const int N = modes_of(order), n_star = modes_of(order + 1);
  for (int q = 0; q < rows * rows * rows; ++q, value += n_star, flux += 3 * N) {
    modes(order + 1, (const long double[]){at[0][q], at[1][q], at[2][q]}, phi, NULL);
    kg_round_all(n_star, phi, value);
    for (int i = 0; i < 3 * N; ++i) flux[i] = value[i % N];
  }
}

/// A node by the number of steps from three of the facets: r = 2 step[0] / order - 1, and so on.
static void put(double *const *at, int *n, int order, const int step[3])
{
  for (int k = 0; k < 3; ++k) at[k][*n] = 2.0 * step[k] / order - 1.0;
  ++*n;
}

/// Nodes of the tetrahedron of `size` steps whose corner 0 lies `c` steps inside: those of its
/// corners, edges and faces. Inside the faces lie those of triangles, turned as VTK turns them.
static void shell(int order, int size, int c, double *const *at, int *n)
{
  static const int corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const int edge[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
  static const int face[4][3] = {{0, 1, 3}, {2, 3, 1}, {0, 3, 2}, {0, 2, 1}};
  for (int v = 0; v < (size > 0 ? 4 : 1); ++v) {
    const int step[3] = {c + size * corner[v][0], c + size * corner[v][1], c + size * corner[v][2]};
    put(at, n, order, step);
  }
  for (int e = 0; e < 6; ++e)
    for (int i = 1; i < size; ++i) {
      int step[3];
      for (int k = 0; k < 3; ++k)
        step[k] = c + (size - i) * corner[edge[e][0]][k] + i * corner[edge[e][1]][k];
      put(at, n, order, step);
    }
  if (size < 3) return;
  double r[FACE_NODES], s[FACE_NODES];
  const int inner = size - 3, many = kg_triangle_modes(inner);
  if (inner > 0) kg_lagrange_nodes(inner, r, s);
  for (int f = 0; f < 4; ++f)
    for (int q = 0; q < many; ++q) {
      const int i = inner ? (int)lround(0.5 * inner * (r[q] + 1.0)) : 0;
      const int j = inner ? (int)lround(0.5 * inner * (s[q] + 1.0)) : 0;
      const int share[3] = {1 + inner - i - j, 1 + i, 1 + j};
      int step[3] = {c, c, c};
      for (int v = 0; v < 3; ++v)
        for (int k = 0; k < 3; ++k) step[k] += share[v] * corner[face[f][v]][k];
      put(at, n, order, step);
    }
}

static void nodes(int order, double *const *at)
{
  int n = 0;
  for (int c = 0, size = order; size >= 0; ++c, size -= 4) shell(order, size, c, at, &n);
}

const kg_cell kg_tetrahedron = {
    .name = "tetrahedron",
    .plural = "tetrahedra",
    .dimension = 3,
    .n_vertices = 4,
    .n_facets = 4,
    .facet = &kg_triangle,
    .facet_corner = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}},
    .corner = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}},
    .measure = 4.0 / 3.0,
    .n_modes = modes_of,
    .n_flux = flux_of,
    .modes = modes,
    .flux = flux,
    .map = map,
    .rule = rule,
    .products = products,
    .nodes = nodes,
};
