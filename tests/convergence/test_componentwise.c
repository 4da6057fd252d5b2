// HDG with the flux componentwise in [Q_P]^2 on quadrilaterals, as other codes have it, by dense
// matrices: what the spaces of kedge are compared with (docs/math.md#cells). Of kedge this program
// has Gauss points and Legendre polynomials alone.
#include <string.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "compare.h"

enum {
  SQUARES = 8,
  ORDERS = 4,
  M = ORDERS + 1,            ///< modes of a facet, at most
  STAR = (M + 1) * (M + 1),  ///< of order P + 1
  ROWS = ORDERS + 6,         ///< points a direction
  UNKNOWNS = 3 * M * M,      ///< of an element: u, q_x, q_y
  COLUMNS = 4 * M + 1,       ///< the trace of an element, and the source
  LYING = SQUARES * (SQUARES + 1),
  EDGES = 2 * LYING,  ///< those from left to right, row by row, then those upwards
};

typedef struct equation {
  double reaction, slope;  ///< u = sin(2 pi x) sin(2 pi y) + slope x y; the diffusion is 1
  double shift;            ///< of every other row of vertices, up and down in turns
} equation;

static double exact(const equation *e, const double at[2])
{
  return sin(2 * M_PI * at[0]) * sin(2 * M_PI * at[1]) + e->slope * at[0] * at[1];
}

/// A point of an element: place, derivatives of the map ([x or y][r or s]), and the modes of order
/// P + 1 with their gradients in x and y.
typedef struct point {
  double at[2], map[2][2], jacobian, weight;
  double value[STAR], gradient[2][STAR];
} point;

/// Orthonormal Legendre polynomials and their derivatives.
static void legendre(int order, double t, double *psi, double *slope)
{
  kg_legendre(order, t, psi);
  for (int k = 0; k <= order; ++k) {
    slope[k] = 0.0;  // P_k' = (2 k - 1) P_k-1 + (2 k - 5) P_k-3 + ...
    for (int j = k - 1; j >= 0; j -= 2) slope[k] += sqrt((2 * k + 1) * (2 * j + 1.0)) * psi[j];
  }
}

/// @param[in] corner  counterclockwise from (-1, -1)
static void put_point(int order, const double (*corner)[2], double r, double s, point *p)
{
  static const double signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  double a[M + 1], a_r[M + 1], b[M + 1], b_s[M + 1];
  *p = (point){0};
  for (int v = 0; v < 4; ++v)
    for (int d = 0; d < 2; ++d) {
      const double in_r = 1 + signs[v][0] * r, in_s = 1 + signs[v][1] * s;
      p->at[d] += in_r * in_s / 4 * corner[v][d];
      p->map[d][0] += signs[v][0] * in_s / 4 * corner[v][d];
      p->map[d][1] += in_r * signs[v][1] / 4 * corner[v][d];
    }
  p->jacobian = p->map[0][0] * p->map[1][1] - p->map[0][1] * p->map[1][0];
  legendre(order + 1, r, a, a_r);
  legendre(order + 1, s, b, b_s);
  for (int k = 0; k < (order + 2) * (order + 2); ++k) {
    const int i = k / (order + 2), j = k % (order + 2);
    const double in_r = a_r[i] * b[j], in_s = a[i] * b_s[j];
    p->value[k] = a[i] * b[j];
    p->gradient[0][k] = (p->map[1][1] * in_r - p->map[1][0] * in_s) / p->jacobian;
    p->gradient[1][k] = (p->map[0][0] * in_s - p->map[0][1] * in_r) / p->jacobian;
  }
}

/// Solve a x = b for m columns, [row][column], by elimination with pivots: b becomes x.
static void solve(int n, int m, double *a, double *b)
{
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
    for (int j = 0; pivot != k && j < n + m; ++j) {
      double *const x = j < n ? a + k * n + j : b + k * m + j - n;
      double *const y = j < n ? a + pivot * n + j : b + pivot * m + j - n, keep = *x;
      *x = *y;
      *y = keep;
    }
    for (int i = 0; i < n; ++i) {
      const double times = i == k ? 0.0 : a[i * n + k] / a[k * n + k];
      for (int j = k; j < n && times != 0.0; ++j) a[i * n + j] -= times * a[k * n + j];
      for (int j = 0; j < m && times != 0.0; ++j) b[i * m + j] -= times * b[k * m + j];
    }
  }
  for (int i = 0; i < n * m; ++i) b[i] /= a[i / m * n + i / m];
}

typedef struct element {
  point points[ROWS * ROWS];
  double solution[UNKNOWNS * COLUMNS];  ///< [unknown][column]
  double flux[4 * M][UNKNOWNS];         ///< <q . n - tau u, psi>
  double tau[4];                        ///< t_l
  double data[4 * M];                   ///< the projection of u along the facets
  int edge[4];
} element;

/// The numbers of the modes of order P among those of order P + 1.
static int mode(int order, int k)
{
  return k / (order + 1) * (order + 2) + k % (order + 1);
}

/// -(div q, w) + (c u, w) = (f, w) and (q, v) + (u, div v) = 0, inside.
static void add_points(int order, const equation *eq, element *e, double *a)
{
  const int N = (order + 1) * (order + 1), n = 3 * N, columns = 4 * (order + 1) + 1;
  for (const point *p = e->points; p < e->points + (order + 6) * (order + 6); ++p) {
    const double waves = exact(&(equation){0}, p->at);
    const double f = 8 * M_PI * M_PI * waves + eq->reaction * exact(eq, p->at);
    for (int i = 0; i < N; ++i) {
      const double phi = p->weight * p->value[mode(order, i)];
      e->solution[i * columns + columns - 1] += phi * f;
      for (int j = 0; j < N; ++j) {
        a[i * n + j] += eq->reaction * phi * p->value[mode(order, j)];
        for (int d = 0; d < 2; ++d) {
          const int row = (d + 1) * N, k = mode(order, j);
          a[(row + i) * n + row + j] += phi * p->value[k];
          a[i * n + row + j] -= phi * p->gradient[d][k];
          a[(row + j) * n + i] += phi * p->gradient[d][k];
        }
      }
    }
  }
}

/// <tau (u - lambda), w> and -<lambda, v . n>. Facets run from left to right and upwards: bottom,
/// right, top, left.
static void add_facets(int order, const equation *eq, const double (*corner)[2], element *e,
                       double *a)
{
  const int m = order + 1, N = m * m, n = 3 * N, columns = 4 * m + 1, rows = order + 6;
  double t[ROWS], w[ROWS], psi[M];
  kg_gauss_jacobi(rows, 0, t, w);
  for (int q = 0; q < 4 * rows; ++q) {
    const int l = q / rows, upwards = l % 2;
    const double s = t[q % rows], side = l == 1 || l == 2 ? 1.0 : -1.0, sign = l < 2 ? 1.0 : -1.0;
    point p;
    put_point(order, corner, upwards ? side : s, upwards ? s : side, &p);
    const double dx = p.map[0][upwards], dy = p.map[1][upwards];
    e->tau[l] = hypot(dx, dy);  // tau = 1, for the weight dt
    kg_legendre(order, s, psi);
    for (int k = 0; k < m; ++k) e->data[l * m + k] += w[q % rows] * psi[k] * exact(eq, p.at);
    for (int i = 0; i < N; ++i) {
      const double phi = w[q % rows] * p.value[mode(order, i)];
      const double parts[3] = {e->tau[l] * phi, sign * dy * phi, -sign * dx * phi};
      for (int j = 0; j < N; ++j) a[i * n + j] += parts[0] * p.value[mode(order, j)];
      for (int k = 0; k < 3 * m; ++k) {
        const int row = k / m * N + i, at = l * m + k % m;
        e->solution[row * columns + at] += parts[k / m] * psi[k % m];
        e->flux[at][row] += (k < m ? -1.0 : 1.0) * parts[k / m] * psi[k % m];
      }
    }
  }
}

static void make_element(int order, const equation *eq, int i, int j, element *e)
{
  static double a[UNKNOWNS * UNKNOWNS];
  const int rows = order + 6, S = SQUARES, left = LYING + j * (S + 1) + i;
  double corner[4][2], t[ROWS], w[ROWS];
  memset(a, 0, sizeof a);
  memset(e, 0, sizeof *e);
  memcpy(e->edge, (const int[]){j * S + i, left + 1, (j + 1) * S + i, left}, sizeof e->edge);
  for (int v = 0; v < 4; ++v) {
    const int column = i + (v == 1 || v == 2), row = j + (v > 1);
    const double shift = row % 2 == 0 ? 0.0 : column % 2 == 0 ? -eq->shift : eq->shift;
    corner[v][0] = (double)column / S;
    corner[v][1] = (row + shift) / S;
  }
  kg_gauss_jacobi(rows, 0, t, w);
  for (int q = 0; q < rows * rows; ++q) {
    point *p = &e->points[q];
    put_point(order, corner, t[q % rows], t[q / rows], p);
    p->weight = w[q % rows] * w[q / rows] * p->jacobian;
  }
  add_points(order, eq, e, a);
  add_facets(order, eq, corner, e, a);
  solve(3 * (order + 1) * (order + 1), 4 * (order + 1) + 1, a, e->solution);
}

/// K^e and F^e to their rows of the trace system, where fluxes of both sides cancel. At the
/// boundary, the first and last line of edges of a kind, the trace is given.
static void add_element(int order, const element *e, double *k, double *b)
{
  const int m = order + 1, columns = 4 * m + 1, all = EDGES * m, S = SQUARES;
  for (int i = 0; i < 4 * m; ++i) {
    const int edge = e->edge[i / m], row = edge * m + i % m;
    const int line = edge < LYING ? edge / S : (edge - LYING) % (S + 1);
    const bool given = line == 0 || line == S;
    if (given) k[(size_t)row * all + row] = 1.0, b[row] = e->data[i];
    for (int j = 0; j < columns && !given; ++j) {
      double sum = i == j ? e->tau[i / m] : 0.0;
      for (int s = 0; s < 3 * m * m; ++s) sum += e->flux[i][s] * e->solution[s * columns + j];
      if (j == columns - 1)
        b[row] -= sum;
      else
        k[(size_t)row * all + e->edge[j / m] * m + j % m] += sum;
    }
  }
}

/// u, q_x and q_y at a point.
static void evaluate(int order, const point *p, const double *unknowns, double at[3])
{
  const int N = (order + 1) * (order + 1);
  for (int c = 0; c < 3; ++c) {
    at[c] = 0.0;
    for (int k = 0; k < N; ++k) at[c] += p->value[mode(order, k)] * unknowns[c * N + k];
  }
}

/// (grad u*, grad w) = (q, grad w) in Q_{P+1}, with the mean of u.
static void make_star(int order, const element *e, const double *unknowns, double *star)
{
  const int n = (order + 2) * (order + 2);
  double a[STAR * STAR] = {0}, here[3];
  memset(star, 0, STAR * sizeof *star);
  for (const point *p = e->points; p < e->points + (order + 6) * (order + 6); ++p) {
    evaluate(order, p, unknowns, here);
    star[0] += p->weight * here[0];
    for (int j = 0; j < n; ++j) a[j] += p->weight * p->value[j];
    for (int i = 1; i < n; ++i)
      for (int d = 0; d < 2; ++d) {
        const double slope = p->weight * p->gradient[d][i];
        star[i] += slope * here[d + 1];
        for (int j = 0; j < n; ++j) a[i * n + j] += slope * p->gradient[d][j];
      }
  }
  solve(n, 1, a, star);
}

/// Add the squares of the errors of u, q and u*.
static void add_errors(int order, const equation *eq, const element *e, const double *trace,
                       double squares[3])
{
  const int m = order + 1, columns = 4 * m + 1;
  const double w = 2 * M_PI;
  double unknowns[UNKNOWNS], star[STAR], here[3];
  for (int s = 0; s < 3 * m * m; ++s) {
    unknowns[s] = e->solution[s * columns + columns - 1];
    for (int i = 0; i < 4 * m; ++i)
      unknowns[s] += e->solution[s * columns + i] * trace[e->edge[i / m] * m + i % m];
  }
  make_star(order, e, unknowns, star);
  for (const point *p = e->points; p < e->points + (order + 6) * (order + 6); ++p) {
    const double x = p->at[0], y = p->at[1];
    double u_star = -exact(eq, p->at);
    evaluate(order, p, unknowns, here);
    for (int k = 0; k < (m + 1) * (m + 1); ++k) u_star += p->value[k] * star[k];
    squares[0] += p->weight * pow(here[0] - exact(eq, p->at), 2);
    squares[1] += p->weight * pow(here[1] - w * cos(w * x) * sin(w * y) - eq->slope * y, 2);
    squares[1] += p->weight * pow(here[2] - w * sin(w * x) * cos(w * y) - eq->slope * x, 2);
    squares[2] += p->weight * u_star * u_star;
  }
}

static void check(int order, const equation *eq, const double expected[3])
{
  static element elements[SQUARES * SQUARES];
  static double k[EDGES * M * EDGES * M], b[EDGES * M];
  double squares[3] = {0};
  memset(k, 0, sizeof k);
  memset(b, 0, sizeof b);
  for (int e = 0; e < SQUARES * SQUARES; ++e) {
    make_element(order, eq, e % SQUARES, e / SQUARES, &elements[e]);
    add_element(order, &elements[e], k, b);
  }
  solve(EDGES * (order + 1), 1, k, b);
  for (int e = 0; e < SQUARES * SQUARES; ++e) add_errors(order, eq, &elements[e], b, squares);
  for (int i = 0; i < 3; ++i) assert_at_most(fabs(sqrt(squares[i]) / expected[i] - 1.0), 1e-5);
}

static void errors_are_those_of_another_implementation(void **state)
{
  (void)state;
  static const double on_squares[ORDERS][3] = {{7.35888e-02, 4.49474e-01, 1.59541e-02},
                                               {5.29674e-03, 3.41428e-02, 2.48556e-04},
                                               {2.79249e-04, 1.79131e-03, 8.28256e-06},
                                               {1.14514e-05, 7.32871e-05, 2.11903e-07}};
  static const double on_trapezoids[ORDERS][3] = {{8.09445e-02, 4.64041e-01, 1.66508e-02},
                                                  {5.53013e-03, 4.32871e-02, 6.18602e-04},
                                                  {3.26515e-04, 3.03024e-03, 2.36285e-05},
                                                  {1.67504e-05, 1.71017e-04, 9.49888e-07}};
  for (int order = 1; order <= ORDERS; ++order) {
    check(order, &(equation){.reaction = 1.0}, on_squares[order - 1]);
    check(order, &(equation){.slope = 1.0, .shift = 0.25}, on_trapezoids[order - 1]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_those_of_another_implementation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
