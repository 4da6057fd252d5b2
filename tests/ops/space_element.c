#include "space_element.h"

#include <math.h>
#include <stdlib.h>

#include "cmocka_all.h"

enum {
  MODES = (KG_SPACE_ORDER_MAX + 2) * (KG_SPACE_ORDER_MAX + 3) * (KG_SPACE_ORDER_MAX + 4) / 6,
  FACET_MODES = (KG_SPACE_ORDER_MAX + 1) * (KG_SPACE_ORDER_MAX + 2) / 2,
};

static long double *zeros(int count)
{
  long double *values = calloc((size_t)count, sizeof *values);
  assert_non_null(values);
  return values;
}

/// A product rule of `rows` points a direction, [dimension + 1][point], to be freed.
static long double *rule_of(const kg_cell *cell, int rows, int *n)
{
  *n = kg_cell_rule_points(cell, rows);
  long double *rule = zeros(*n * (cell->dimension + 1));
  long double *at[] = {rule, rule + *n, rule + 2 * *n};
  cell->rule(rows, at, rule + cell->dimension * *n);
  return rule;
}

/// dx/dr of the map and its inverse. Returns |det|.
static long double map_of(const space_element *e, long double map[3][3], long double inverse[3][3])
{
  for (int k = 0; k < 3; ++k)
    for (int a = 0; a < 3; ++a) map[k][a] = 0.5L * ((long double)e->x[a + 1][k] - e->x[0][k]);
  long double det = 0.0L;
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    for (int k = 0; k < 3; ++k) {
      const int l = (k + 1) % 3, m = (k + 2) % 3;
      inverse[a][k] = map[l][b] * map[m][c] - map[l][c] * map[m][b];
    }
    if (a == 0)
      det = map[0][0] * inverse[0][0] + map[1][0] * inverse[0][1] + map[2][0] * inverse[0][2];
  }
  for (int a = 0; a < 3; ++a)
    for (int k = 0; k < 3; ++k) inverse[a][k] /= det;
  return fabsl(det);
}

double space_element_jacobian(const space_element *e)
{
  long double map[3][3], inverse[3][3];
  return (double)map_of(e, map, inverse);
}

/// The outward unit normal of facet l; returns its area.
static long double normal_of(const space_element *e, int l, long double normal[3])
{
  const int *const corner = kg_tetrahedron.facet_corner[l];
  long double a[3], b[3], out = 0.0L, square = 0.0L;
  for (int k = 0; k < 3; ++k) {
    a[k] = (long double)e->x[corner[1]][k] - e->x[corner[0]][k];
    b[k] = (long double)e->x[corner[2]][k] - e->x[corner[0]][k];
  }
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    normal[k] = a[i] * b[j] - a[j] * b[i];
    square += normal[k] * normal[k];
    out += normal[k] * ((long double)e->x[corner[0]][k] - e->x[l][k]);
  }
  const long double length = copysignl(sqrtl(square), out);
  for (int k = 0; k < 3; ++k) normal[k] /= length;
  return 0.5L * fabsl(length);
}

double space_element_area(const space_element *e, int l)
{
  long double normal[3];
  return (double)normal_of(e, l, normal);
}

/// The physical point of a reference point.
static void place(const space_element *e, const long double *at, long double x[3])
{
  for (int k = 0; k < 3; ++k) {
    x[k] = -0.5L * (1.0L + at[0] + at[1] + at[2]) * e->x[0][k];
    for (int a = 0; a < 3; ++a) x[k] += 0.5L * (1.0L + at[a]) * e->x[a + 1][k];
  }
}

/// Modes and their gradients [3][modes] at a reference point.
static void modes_at(const long double inverse[3][3], int order, const long double *at,
                     long double *phi, long double gradient[3][MODES])
{
  long double slope[3][MODES];
  const int n = kg_tetrahedron.n_modes(order);
  kg_tetrahedron.modes(order, at, phi, (long double *const[]){slope[0], slope[1], slope[2]});
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < n; ++i)
      gradient[k][i] =
          inverse[0][k] * slope[0][i] + inverse[1][k] * slope[1][i] + inverse[2][k] * slope[2][i];
}

/// Entry (k, c) of the diffusion.
static long double diffusion(const space_element *e, int k, int c)
{
  static const int place_of[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  return e->diffusion[place_of[k][c]];
}

/// The systems of an element: A U = B x + (f, 0), y = C U + G x, U = (u, q_x, q_y, q_z).
typedef struct book {
  int N, n, m;
  long double *a;  ///< [4 N][4 N]
  long double *b;  ///< [4 N][n + 1], the last column (f, 0)
  long double *c;  ///< [n][4 N]
  long double *g;  ///< [n][n]
} book;

static void add_volume(const space_element *e, int order, const book *s)
{
  int n;
  const int N = s->N, size = 4 * N;
  long double *rule = rule_of(&kg_tetrahedron, order + 2, &n), map[3][3], inverse[3][3];
  long double phi[MODES], grad[3][MODES];
  const long double jacobian = map_of(e, map, inverse);
  for (int p = 0; p < n; ++p) {
    const long double at[] = {rule[p], rule[n + p], rule[2 * n + p]};
    const long double w = jacobian * rule[3 * n + p];
    modes_at(inverse, order, at, phi, grad);
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        const long double mass = w * phi[i] * phi[j];
        s->a[i * size + j] += e->reaction * mass;
        for (int k = 0; k < 3; ++k) {
          const int q = (k + 1) * N;
          long double turned = 0.0L;  // (K e_k) . grad w_i
          for (int c = 0; c < 3; ++c) turned += diffusion(e, c, k) * grad[c][i];
          s->a[i * size + q + j] += w * turned * phi[j];
          s->a[(q + i) * size + q + j] += mass;
          s->a[(q + i) * size + j] += w * grad[k][i] * phi[j];
        }
      }
  }
  free(rule);
}

static void add_facet_point(const space_element *e, const book *s, int l, long double w,
                            const long double *normal, const long double *phi,
                            const long double *psi)
{
  const int N = s->N, n = s->n, size = 4 * N, first = l * s->m;
  long double turned[3];  // K n
  for (int k = 0; k < 3; ++k)
    turned[k] = diffusion(e, k, 0) * normal[0] + diffusion(e, k, 1) * normal[1] +
                diffusion(e, k, 2) * normal[2];
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      s->a[i * size + j] += w * e->tau[l] * phi[i] * phi[j];
      for (int k = 0; k < 3; ++k)
        s->a[i * size + (k + 1) * N + j] -= w * turned[k] * phi[j] * phi[i];
    }
    for (int j = 0; j < s->m; ++j) {
      const long double both = w * phi[i] * psi[j];
      s->b[i * (n + 1) + first + j] += e->tau[l] * both;
      s->c[(first + j) * size + i] -= e->tau[l] * both;
      for (int k = 0; k < 3; ++k) {
        s->b[((k + 1) * N + i) * (n + 1) + first + j] += normal[k] * both;
        s->c[(first + j) * size + (k + 1) * N + i] += turned[k] * both;
      }
    }
  }
  for (int i = 0; i < s->m; ++i)
    for (int j = 0; j < s->m; ++j)
      s->g[(first + i) * n + first + j] += w * e->tau[l] * psi[i] * psi[j];
}

static void add_facets(const space_element *e, int order, const book *s)
{
  int n;
  long double *rule = rule_of(&kg_triangle, order + 2, &n);
  long double normal[3], at[3], phi[MODES], psi[FACET_MODES];
  for (int l = 0; l < 4; ++l) {
    const long double area = normal_of(e, l, normal);
    for (int p = 0; p < n; ++p) {
      const long double on[] = {rule[p], rule[n + p]};
      kg_cell_on_facet(&kg_tetrahedron, l, on, at);
      kg_tetrahedron.modes(order, at, phi, NULL);
      kg_triangle.modes(order, on, psi, NULL);
      add_facet_point(e, s, l, 0.5L * area * rule[2 * n + p], normal, phi, psi);
    }
  }
  free(rule);
}

/// b = a^-1 b, b [n][columns], by elimination with pivots.
static void solve(int n, int columns, long double *a, long double *b)
{
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (fabsl(a[i * n + k]) > fabsl(a[best * n + k])) best = i;
    for (int j = 0; j < n && best != k; ++j) {
      const long double other = a[k * n + j];
      a[k * n + j] = a[best * n + j], a[best * n + j] = other;
    }
    for (int j = 0; j < columns && best != k; ++j) {
      const long double other = b[k * columns + j];
      b[k * columns + j] = b[best * columns + j], b[best * columns + j] = other;
    }
    for (int i = k + 1; i < n; ++i) {
      const long double times = a[i * n + k] / a[k * n + k];
      if (times == 0.0L) continue;
      for (int j = k + 1; j < n; ++j) a[i * n + j] -= times * a[k * n + j];
      for (int j = 0; j < columns; ++j) b[i * columns + j] -= times * b[k * columns + j];
    }
  }
  for (int k = n - 1; k >= 0; --k)
    for (int j = 0; j < columns; ++j) {
      long double sum = b[k * columns + j];
      for (int i = k + 1; i < n; ++i) sum -= a[k * n + i] * b[i * columns + j];
      b[k * columns + j] = sum / a[k * n + k];
    }
}

void space_element_local(const space_element *e, int order, const double *load, double *k,
                         double *f)
{
  const kg_cell_sizes z = kg_cell_sizes_of(&kg_tetrahedron, order);
  const int N = z.n_modes, n = z.n_trace, size = 4 * N;
  const book s = {
      N, n, z.n_facet, zeros(size * size), zeros(size * (n + 1)), zeros(n * size), zeros(n * n)};
  for (int i = 0; i < N; ++i) s.b[i * (n + 1) + n] = load[i];
  add_volume(e, order, &s);
  add_facets(e, order, &s);
  solve(size, n + 1, s.a, s.b);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= n; ++j) {
      long double sum = j < n ? s.g[i * n + j] : 0.0L;
      for (int c = 0; c < size; ++c) sum += s.c[i * size + c] * s.b[c * (n + 1) + j];
      if (j < n)
        k[i * n + j] = (double)sum;
      else
        f[i] = -(double)sum;
    }
  free(s.a), free(s.b), free(s.c), free(s.g);
}

void space_element_project(const space_element *e, int order, int values, space_function *f,
                           const void *context, double *modes)
{
  int n;
  const int N = kg_tetrahedron.n_modes(order);
  long double *rule = rule_of(&kg_tetrahedron, order + 5, &n), *sum = zeros(values * N);
  long double phi[MODES], x[3], value[8];
  assert_true(values <= 8);
  for (int p = 0; p < n; ++p) {
    const long double at[] = {rule[p], rule[n + p], rule[2 * n + p]};
    kg_tetrahedron.modes(order, at, phi, NULL);
    place(e, at, x);
    f(context, x, value);
    for (int v = 0; v < values; ++v)
      for (int i = 0; i < N; ++i) sum[v * N + i] += rule[3 * n + p] * value[v] * phi[i];
  }
  for (int i = 0; i < values * N; ++i) modes[i] = (double)sum[i];
  free(rule), free(sum);
}

void space_element_project_trace(const space_element *e, int order, space_function *f,
                                 const void *context, double *modes)
{
  int n;
  const int m = kg_triangle.n_modes(order);
  long double *rule = rule_of(&kg_triangle, order + 5, &n), *sum = zeros(4 * m);
  long double psi[FACET_MODES], at[3], x[3], value[8];
  for (int p = 0; p < n; ++p)
    for (int l = 0; l < 4; ++l) {
      const long double on[] = {rule[p], rule[n + p]};
      kg_triangle.modes(order, on, psi, NULL);
      kg_cell_on_facet(&kg_tetrahedron, l, on, at);
      place(e, at, x);
      f(context, x, value);
      for (int i = 0; i < m; ++i) sum[l * m + i] += rule[2 * n + p] * value[0] * psi[i];
    }
  for (int i = 0; i < 4 * m; ++i) modes[i] = (double)sum[i];
  free(rule), free(sum);
}

void space_element_star(const space_element *e, int order, const double *u, const double *q,
                        const double *u_star, double *residual, double *scale, double *difference)
{
  static const int entry[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  int n;
  const int N = kg_tetrahedron.n_modes(order), S = kg_tetrahedron.n_modes(order + 1);
  long double *rule = rule_of(&kg_tetrahedron, order + 3, &n), map[3][3], inverse[3][3];
  long double phi[MODES], grad[3][MODES], left[MODES] = {0}, right[MODES] = {0}, square = 0.0L;
  const long double jacobian = map_of(e, map, inverse);
  for (int p = 0; p < n; ++p) {
    const long double at[] = {rule[p], rule[n + p], rule[2 * n + p]};
    const long double w = jacobian * rule[3 * n + p];
    modes_at(inverse, order + 1, at, phi, grad);
    long double d = 0.0L;
    for (int i = 0; i < S; ++i) d += phi[i] * (i < N ? (long double)u_star[i] - u[i] : u_star[i]);
    square += w * d * d;
    long double slope[3] = {0.0L}, flux[3] = {0.0L};
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < S; ++i) slope[k] += grad[k][i] * u_star[i];
      for (int i = 0; i < N; ++i) flux[k] += phi[i] * q[k * N + i];
      slope[k] -= flux[k];
    }
    for (int k = 0; k < 9; ++k) {
      const long double weight = w * e->diffusion[entry[k / 3][k % 3]];
      for (int i = 0; i < S; ++i) {
        left[i] += weight * slope[k % 3] * grad[k / 3][i];
        right[i] += weight * flux[k % 3] * grad[k / 3][i];
      }
    }
  }
  *residual = *scale = 0.0;
  for (int i = 0; i < S; ++i) {
    if (!(fabsl(left[i]) <= *residual)) *residual = (double)fabsl(left[i]);
    *scale = fmax(*scale, (double)fabsl(right[i]));
  }
  *difference = (double)sqrtl(square);
  free(rule);
}
