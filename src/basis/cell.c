#include "basis/cell.h"

#include "basis/polynomials.h"
#include "basis/quadrature.h"

enum { ORDERS = KEDGE_ORDER_MAX + 2 };  ///< most modes along a line: u* is of order P + 1

static int flux_of_triangle(int order)
{
  return 2 * kg_triangle_modes(order);
}

static void triangle_modes(int order, const long double *at, long double *phi,
                           long double *const *grad)
{
  kg_wide_dubiner(order, at[0], at[1], phi, grad ? grad[0] : NULL, grad ? grad[1] : NULL);
}

static void triangle_flux(int order, const long double *at, long double *value,
                          long double *divergence)
{
  const int N = kg_triangle_modes(order);
  kg_wide_dubiner(order, at[0], at[1], value, divergence, divergence ? divergence + N : NULL);
  for (int i = 0; i < N; ++i) value[N + i] = value[i];
}

/// Silvester's polynomials R_i(x) = prod_{k < i} (g x - k) / (k + 1), i = 0 .. g, and derivatives:
/// Lagrange functions of equispaced nodes are their products, of barycentric coordinates x.
static void silvester(int g, long double x, long double *value, long double *slope)
{
  value[0] = 1.0L;
  slope[0] = 0.0L;
  for (int i = 0; i < g; ++i) {
    const long double factor = g * x - i;
    value[i + 1] = value[i] * factor / (i + 1);
    slope[i + 1] = (slope[i] * factor + g * value[i]) / (i + 1);
  }
}

/// Steps from coordinate -1 to that of a node of order g.
static int step_of(int g, double coordinate)
{
  return (int)(0.5 * g * (1.0 + coordinate) + 0.5);
}

static void triangle_nodes(int order, double *const *at)
{
  kg_lagrange_nodes(order, at[0], at[1]);
}

static void triangle_map(int g, const long double *at, long double *shape)
{
  const long double r = at[0], s = at[1];
  enum { STEPS = KG_GEOMETRY_MAX + 1 };
  const int n = kg_triangle_modes(g);
  long double a[STEPS], da[STEPS], b[STEPS], db[STEPS], c[STEPS], dc[STEPS];
  double node_r[KG_NODES_MAX], node_s[KG_NODES_MAX];
  silvester(g, -0.5L * (r + s), a, da);
  silvester(g, 0.5L * (1.0L + r), b, db);
  silvester(g, 0.5L * (1.0L + s), c, dc);
  kg_lagrange_nodes(g, node_r, node_s);
  for (int v = 0; v < n; ++v) {
    const int i = step_of(g, node_r[v]), j = step_of(g, node_s[v]), k = g - i - j;
    const long double by_a = -0.5L * da[k] * b[i] * c[j];
    shape[v] = a[k] * b[i] * c[j];
    shape[n + v] = by_a + 0.5L * a[k] * db[i] * c[j];
    shape[2 * n + v] = by_a + 0.5L * a[k] * b[i] * dc[j];
  }
}

/// Fill the rule of rows x rows points on the triangle, in collapsed coordinates.
static void triangle_rule(int rows, long double *const *at, long double *weight)
{
  long double *const r = at[0], *const s = at[1];
  long double a[KG_GAUSS_MAX], b[KG_GAUSS_MAX], along[KG_GAUSS_MAX], across[KG_GAUSS_MAX];
  kg_wide_gauss_jacobi(rows, 0, a, along);
  kg_wide_gauss_jacobi(rows, 1, b, across);
  for (int q = 0; q < rows * rows; ++q) {
    const int x = q % rows, y = q / rows;
    r[q] = 0.5L * (1.0L + a[x]) * (1.0L - b[y]) - 1.0L;
    s[q] = b[y];
    weight[q] = 0.5L * along[x] * across[y];
  }
}

static void triangle_products(int order, int rows, long double *const *at, double *value,
                              double *flux)
{
  const long double *const r = at[0], *const s = at[1];
  enum { MODES = ORDERS * (ORDERS + 1) / 2 };
  double along[KG_GAUSS_MAX][ORDERS], across[KG_GAUSS_MAX][MODES];
  const int N = kg_triangle_modes(order), n_star = kg_triangle_modes(order + 1);
  for (int k = 0; k < rows; ++k) {
    const double a = (double)(2.0L * (1.0L + r[k]) / (1.0L - s[k]) - 1.0L);
    kg_dubiner_factors(order + 1, a, (double)s[k * rows], along[k], across[k]);
  }
  for (int q = 0; q < rows * rows; ++q, value += n_star, flux += 2 * N) {
    for (int d = 0, mode = 0; d <= order + 1; ++d)
      for (int i = 0; i <= d; ++i, ++mode)
        value[mode] = along[q % rows][i] * across[q / rows][mode];
    for (int i = 0; i < N; ++i) flux[i] = flux[N + i] = value[i];
  }
}

static int modes_of_quadrilateral(int order)
{
  return (order + 1) * (order + 1);
}

static int flux_of_quadrilateral(int order)
{
  return 2 * (order + 1) * (order + 2);
}

/// Orthonormal Legendre polynomials and their derivatives, unless slope is NULL.
static void legendre(int order, long double t, long double *value, long double *slope)
{
  kg_wide_legendre(order, t, value);
  if (!slope) return;
  // Plain P_k have P'_k = P'_k-2 + (2 k - 1) P_k-1; here all are scaled by sqrt(k + 1/2).
  long double scale[ORDERS];
  kg_wide_legendre(order, 1.0L, scale);
  for (int k = 0; k <= order; ++k) {
    const long double before = k < 2 ? 0.0L : slope[k - 2] / scale[k - 2];
    const long double one = k < 1 ? 0.0L : (2 * k - 1) * value[k - 1] / scale[k - 1];
    slope[k] = scale[k] * (before + one);
  }
}

/// The number of the mode L_i(r) L_j(s): modes are ordered by d = max(i, j), then those with i < d
/// by i, then those with i = d by j.
static int mode_of_quadrilateral(int i, int j)
{
  return i < j ? j * j + i : i * i + i + j;
}

static void quadrilateral_modes(int order, const long double *at, long double *phi,
                                long double *const *grad)
{
  long double a[ORDERS], da[ORDERS], b[ORDERS], db[ORDERS];
  legendre(order, at[0], a, grad ? da : NULL);
  legendre(order, at[1], b, grad ? db : NULL);
  for (int i = 0; i <= order; ++i)
    for (int j = 0; j <= order; ++j) {
      const int mode = mode_of_quadrilateral(i, j);
      phi[mode] = a[i] * b[j];
      if (!grad) continue;
      grad[0][mode] = da[i] * b[j];
      grad[1][mode] = a[i] * db[j];
    }
}

/// Along r: L_i(r) L_j(s), i <= P + 1, j <= P, at i (P + 1) + j; along s the same with r and s
/// exchanged.
static void quadrilateral_flux(int order, const long double *at, long double *value,
                               long double *divergence)
{
  long double a[ORDERS], da[ORDERS], b[ORDERS], db[ORDERS];
  legendre(order + 1, at[0], a, divergence ? da : NULL);
  legendre(order + 1, at[1], b, divergence ? db : NULL);
  const int half = flux_of_quadrilateral(order) / 2;
  for (int i = 0; i <= order + 1; ++i)
    for (int j = 0; j <= order; ++j) {
      const int k = i * (order + 1) + j;
      value[k] = a[i] * b[j];
      value[half + k] = b[i] * a[j];
      if (!divergence) continue;
      divergence[k] = da[i] * b[j];
      divergence[half + k] = db[i] * a[j];
    }
}

static void quadrilateral_rule(int rows, long double *const *at, long double *weight)
{
  long double x[KG_GAUSS_MAX], w[KG_GAUSS_MAX], *const r = at[0], *const s = at[1];
  kg_wide_gauss_jacobi(rows, 0, x, w);
  for (int q = 0; q < rows * rows; ++q) {
    r[q] = x[q % rows];
    s[q] = x[q / rows];
    weight[q] = w[q % rows] * w[q / rows];
  }
}

static void quadrilateral_products(int order, int rows, long double *const *at, double *value,
                                   double *flux)
{
  double line[KG_GAUSS_MAX][ORDERS];
  const int n_star = modes_of_quadrilateral(order + 1), half = flux_of_quadrilateral(order) / 2;
  // Both coordinates run through the same numbers.
  for (int k = 0; k < rows; ++k) kg_legendre(order + 1, (double)at[0][k], line[k]);
  for (int q = 0; q < rows * rows; ++q, value += n_star, flux += 2 * half) {
    const double *const a = line[q % rows], *const b = line[q / rows];
    for (int i = 0; i <= order + 1; ++i) {
      for (int j = 0; j <= order + 1; ++j) value[mode_of_quadrilateral(i, j)] = a[i] * b[j];
      for (int j = 0; j <= order; ++j) {
        flux[i * (order + 1) + j] = a[i] * b[j];
        flux[half + i * (order + 1) + j] = b[i] * a[j];
      }
    }
  }
}

/// Facets 0-1 and 1-2, then 3-2 and 0-3: all run with r or s, unlike those of triangles. The inside
/// goes row by row.
static void quadrilateral_nodes(int order, double *const *at)
{
  double *const r = at[0], *const s = at[1];
  int n = 0;
  for (; n < 4; ++n) {
    r[n] = kg_quadrilateral.corner[n][0];
    s[n] = kg_quadrilateral.corner[n][1];
  }
  for (int l = 0; l < 4; ++l)
    for (int i = 1; i < order; ++i, ++n) {
      const double along = 2.0 * i / order - 1.0, across = l == 1 || l == 2 ? 1.0 : -1.0;
      r[n] = l % 2 == 0 ? along : across;
      s[n] = l % 2 == 0 ? across : along;
    }
  for (int j = 1; j < order; ++j)
    for (int i = 1; i < order; ++i, ++n) {
      r[n] = 2.0 * i / order - 1.0;
      s[n] = 2.0 * j / order - 1.0;
    }
}

/// Lagrange functions of a line of order g, and their derivatives.
static void lagrange(int g, long double t, long double *value, long double *slope)
{
  long double a[KG_GEOMETRY_MAX + 1], da[KG_GEOMETRY_MAX + 1];
  long double b[KG_GEOMETRY_MAX + 1], db[KG_GEOMETRY_MAX + 1];
  silvester(g, 0.5L * (1.0L - t), a, da);
  silvester(g, 0.5L * (1.0L + t), b, db);
  for (int i = 0; i <= g; ++i) {
    value[i] = b[i] * a[g - i];
    slope[i] = 0.5L * (db[i] * a[g - i] - b[i] * da[g - i]);
  }
}

static void quadrilateral_map(int g, const long double *at, long double *shape)
{
  const int n = modes_of_quadrilateral(g);
  long double a[KG_GEOMETRY_MAX + 1], da[KG_GEOMETRY_MAX + 1];
  long double b[KG_GEOMETRY_MAX + 1], db[KG_GEOMETRY_MAX + 1];
  double node_r[KG_NODES_MAX], node_s[KG_NODES_MAX];
  lagrange(g, at[0], a, da);
  lagrange(g, at[1], b, db);
  quadrilateral_nodes(g, (double *const[]){node_r, node_s});
  for (int v = 0; v < n; ++v) {
    const int i = step_of(g, node_r[v]), j = step_of(g, node_s[v]);
    shape[v] = a[i] * b[j];
    shape[n + v] = da[i] * b[j];
    shape[2 * n + v] = a[i] * db[j];
  }
}

static void segment_modes(int order, const long double *at, long double *phi,
                          long double *const *grad)
{
  legendre(order, at[0], phi, grad ? grad[0] : NULL);
}

static int modes_of_segment(int order)
{
  return order + 1;
}

static void segment_rule(int rows, long double *const *at, long double *weight)
{
  kg_wide_gauss_jacobi(rows, 0, at[0], weight);
}

const kg_cell kg_segment = {
    .name = "segment",
    .plural = "segments",
    .dimension = 1,
    .n_vertices = 2,
    .n_facets = 2,
    .corner = {{-1}, {1}},
    .measure = 2.0,
    .n_modes = modes_of_segment,
    .modes = segment_modes,
    .rule = segment_rule,
};

const kg_cell kg_triangle = {
    .name = "triangle",
    .plural = "triangles",
    .dimension = 2,
    .n_vertices = 3,
    .n_facets = 3,
    .facet = &kg_segment,
    .facet_corner = {{0, 1}, {1, 2}, {2, 0}},
    .corner = {{-1, -1}, {1, -1}, {-1, 1}},
    .measure = 2.0,
    .n_modes = kg_triangle_modes,
    .n_flux = flux_of_triangle,
    .modes = triangle_modes,
    .flux = triangle_flux,
    .map = triangle_map,
    .rule = triangle_rule,
    .products = triangle_products,
    .nodes = triangle_nodes,
};

const kg_cell kg_quadrilateral = {
    .name = "quadrilateral",
    .plural = "quadrilaterals",
    .dimension = 2,
    .n_vertices = 4,
    .n_facets = 4,
    .facet = &kg_segment,
    .facet_corner = {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
    .corner = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}},
    .measure = 4.0,
    .n_modes = modes_of_quadrilateral,
    .n_flux = flux_of_quadrilateral,
    .modes = quadrilateral_modes,
    .flux = quadrilateral_flux,
    .map = quadrilateral_map,
    .rule = quadrilateral_rule,
    .products = quadrilateral_products,
    .nodes = quadrilateral_nodes,
};

const kg_cell *const kg_cell_list[KG_CELL_KINDS] = {&kg_triangle, &kg_quadrilateral,
                                                    &kg_tetrahedron};

kg_cell_sizes kg_cell_sizes_of(const kg_cell *cell, int order)
{
  const int m = cell->facet->n_modes(order), n = m * cell->n_facets;
  return (kg_cell_sizes){.order = order,
                         .dimension = cell->dimension,
                         .n_facets = cell->n_facets,
                         .n_modes = cell->n_modes(order),
                         .n_flux = cell->n_flux(order),
                         .n_facet = m,
                         .n_trace = n,
                         .n_star = cell->n_modes(order + 1),
                         .n_packed = n * (n + 1) / 2};
}

void kg_cell_facet_point(const kg_cell *cell, int l, long double t, long double at[2],
                         long double along[2])
{
  const double *const a = cell->corner[cell->facet_corner[l][0]];
  const double *const b = cell->corner[cell->facet_corner[l][1]];
  for (int k = 0; k < 2; ++k) {
    at[k] = 0.5L * ((1.0L - t) * a[k] + (1.0L + t) * b[k]);
    along[k] = 0.5L * (b[k] - a[k]);
  }
}

void kg_cell_on_facet(const kg_cell *cell, int l, const long double *on, long double *at)
{
  const kg_cell *const facet = cell->facet;
  long double weight[3] = {0.5L * (1.0L - on[0]), 0.5L * (1.0L + on[0])};
  if (facet->dimension == 2) {
    weight[0] = -0.5L * (on[0] + on[1]);
    weight[2] = 0.5L * (1.0L + on[1]);
  }
  for (int k = 0; k < cell->dimension; ++k) {
    at[k] = 0.0L;
    for (int c = 0; c < facet->n_vertices; ++c)
      at[k] += weight[c] * cell->corner[cell->facet_corner[l][c]][k];
  }
}
