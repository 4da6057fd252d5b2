// Whole solutions from operators by quadrature, with a dense matrix: the errors that an independent
// implementation has, to 5 digits. All integrals with P + 6 points a direction, norms too.
#include <math.h>
#include <stdlib.h>

#include "cell_case.h"
#include "compare.h"
#include "context.h"
#include "ops/local/quadrature/errors.h"
#include "ops/local/quadrature/loads.h"
#include "ops/local/quadrature/make.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"

enum { SQUARES = 8, ORDERS = 4 };
static const double pi = 3.14159265358979323846;

typedef struct problem {
  cell_function *solution;      ///< u, u_x, u_y, u_xx, u_xy, u_yy
  cell_function *coefficients;  ///< kappa_xx, _xy, _yy, c, and d_x xx, d_x xy, d_y xy, d_y yy
  cell_place *place;
  int geometry;
  cell_function *map;  ///< of nodes, or NULL
  bool exact;
} problem;

static void waves(double x, double y, double *f)
{
  const double sx = sin(2 * pi * x), cx = cos(2 * pi * x), sy = sin(2 * pi * y);
  const double cy = cos(2 * pi * y), square = 4 * pi * pi;
  const double values[] = {sx * sy,           2 * pi * cx * sy, 2 * pi * sx * cy,
                           -square * sx * sy, square * cx * cy, -square * sx * sy};
  for (int k = 0; k < 6; ++k) f[k] = values[k];
}

static void waves_and_saddle(double x, double y, double *f)
{
  waves(x, y, f);
  f[0] += x * y;
  f[1] += y;
  f[2] += x;
  f[4] += 1.0;
}

/// sin(3x + y) cos(2y)
static void oblique(double x, double y, double *f)
{
  const double s = sin(3 * x + y), c = cos(3 * x + y), s2 = sin(2 * y), c2 = cos(2 * y);
  const double values[] = {s * c2,
                           3 * c * c2,
                           c * c2 - 2 * s * s2,
                           -9 * s * c2,
                           -3 * s * c2 - 6 * c * s2,
                           -5 * s * c2 - 4 * c * s2};
  for (int k = 0; k < 6; ++k) f[k] = values[k];
}

static void set_coefficients(const double values[8], double *f)
{
  for (int k = 0; k < 8; ++k) f[k] = values[k];
}

static void ones(double x, double y, double *f)
{
  (void)x;
  (void)y;
  set_coefficients((const double[8]){1, 0, 1, 1}, f);
}

static void laplace(double x, double y, double *f)
{
  (void)x;
  (void)y;
  set_coefficients((const double[8]){1, 0, 1}, f);
}

static void scalar(double x, double y, double *f)
{
  const double k = 1 + 0.5 * sin(3 * x + 2 * y), slope = cos(3 * x + 2 * y);
  set_coefficients((const double[8]){k, 0, k, 1 + x, 1.5 * slope, 0, 0, slope}, f);
}

static void tensor(double x, double y, double *f)
{
  const double s = sin(x * y);
  const double values[8] = {2 + sin(3 * x), 0.7 * cos(x * y), 1.5 + y * y,  1 + x,
                            3 * cos(3 * x), -0.7 * y * s,     -0.7 * x * s, 2 * y};
  set_coefficients(values, f);
}

static void tensor_alone(double x, double y, double *f)
{
  tensor(x, y, f);
  f[3] = 0.0;
}

/// 0.01 and 1 along axes turned by 30 degrees.
static void turned(double x, double y, double *f)
{
  (void)x;
  (void)y;
  const double c = sqrt(0.75), s = 0.5, e = 0.01;
  set_coefficients((const double[8]){c * c + e * s * s, (1 - e) * c * s, s * s + e * c * c}, f);
}

static void regular(int i, int j, int n, double at[2])
{
  at[0] = (double)i / n;
  at[1] = (double)j / n;
}

static void trapezoids(int i, int j, int n, double at[2])
{
  regular(i, j, n, at);
  if (j % 2 == 1) at[1] += (i % 2 == 0 ? -0.25 : 0.25) / n;
}

static void wave(double x, double y, double *f)
{
  const double w = 0.1 * sin(2 * pi * x) * sin(2 * pi * y);
  f[0] = x + w;
  f[1] = y + w;
}

static void ring(double x, double y, double *f)
{
  f[0] = (1 + x) * cos(0.5 * pi * y);
  f[1] = (1 + x) * sin(0.5 * pi * y);
}

/// -div(kappa grad u) + c u of the problem `now`.
static const problem *now;
static void source(double x, double y, double *f)
{
  double u[6], k[8];
  now->solution(x, y, u);
  now->coefficients(x, y, k);
  f[0] = k[3] * u[0] - (k[0] * u[3] + 2 * k[1] * u[4] + k[2] * u[5]) -
         (k[4] * u[1] + k[5] * u[2] + k[6] * u[1] + k[7] * u[2]);
}

/// The system of the facets that two elements share; the others have the values of the trace.
typedef struct dense_system {
  int n;           ///< unknowns
  int *unknown;    ///< [facet]: its first, -1 on the boundary
  double *matrix;  ///< packed lower
  double *rhs;
} dense_system;

static void add_element(const cell_case *c, int e, const double *local, const double *condensed,
                        const double *trace, dense_system *s)
{
  const int V = c->size.n_facets, m = c->size.n_facet, n = c->size.n_trace;
  for (int i = 0; i < n; ++i) {
    const int f = (int)(c->side[e * V + i / m] >> 1);
    if (s->unknown[f] < 0) continue;
    const int row = s->unknown[f] + i % m;
    s->rhs[row] += condensed[e * n + i];
    for (int j = 0; j < n; ++j) {
      const int g = (int)(c->side[e * V + j / m] >> 1);
      const double k = local[e * c->size.n_packed + kg_packed_entry(i, j)];
      const int column = s->unknown[g] + j % m;
      if (s->unknown[g] < 0)
        s->rhs[row] -= k * trace[g * m + j % m];
      else if (column <= row)
        s->matrix[(size_t)row * (size_t)(row + 1) / 2 + (size_t)column] += k;
    }
  }
}

/// Cholesky, then both substitutions: rhs becomes the solution.
static void solve_dense(dense_system *s)
{
  double **row = calloc((size_t)s->n, sizeof *row);
  assert_non_null(row);
  for (int i = 0; i < s->n; ++i) row[i] = s->matrix + (size_t)i * (size_t)(i + 1) / 2;
  for (int i = 0; i < s->n; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = row[i][j];
      for (int k = 0; k < j; ++k) sum -= row[i][k] * row[j][k];
      row[i][j] = i == j ? sqrt(sum) : sum / row[j][j];
    }
  for (int i = 0; i < s->n; ++i) {
    for (int k = 0; k < i; ++k) s->rhs[i] -= row[i][k] * s->rhs[k];
    s->rhs[i] /= row[i][i];
  }
  for (int i = s->n - 1; i >= 0; --i) {
    s->rhs[i] /= row[i][i];
    for (int k = 0; k < i; ++k) s->rhs[k] -= row[i][k] * s->rhs[i];
  }
  free(row);
}

/// The trace of all facets, [facet][mode], to be freed.
static double *solve_trace(cell_case *c, const problem *p, const double *local,
                           const double *condensed)
{
  const int m = c->size.n_facet;
  double *trace = calloc((size_t)(c->n_facets * m), sizeof *trace);
  dense_system s = {.unknown = calloc((size_t)c->n_facets, sizeof *s.unknown)};
  assert_true(trace && s.unknown);
  for (int f = 0; f < c->n_facets; ++f)
    if (c->n_sides[f] == 2) {
      s.unknown[f] = s.n;
      s.n += m;
    } else {
      s.unknown[f] = -1;
      cell_case_project(c, f, p->solution, trace + f * m);
    }
  s.matrix = calloc((size_t)s.n * (size_t)(s.n + 1) / 2, sizeof *s.matrix);
  s.rhs = calloc((size_t)s.n, sizeof *s.rhs);
  assert_true(s.matrix && s.rhs);
  for (int e = 0; e < c->n_elements; ++e) add_element(c, e, local, condensed, trace, &s);
  solve_dense(&s);
  for (int f = 0; f < c->n_facets; ++f)
    for (int k = 0; s.unknown[f] >= 0 && k < m; ++k) trace[f * m + k] = s.rhs[s.unknown[f] + k];
  free(s.unknown);
  free(s.matrix);
  free(s.rhs);
  return trace;
}

/// u, flux and u* on the device from what the device has of a problem.
static void recover(cell_case *c, const problem *p, const double *load,
                    const kg_cell_material *material, kg_cell_errors_args *errors)
{
  const kg_cell_make_args args = {c->cells, *material, load, cell_case_output(c, c->size.n_packed),
                                  cell_case_output(c, c->size.n_trace)};
  must(ctx, kg_cell_make(ctx, &args));
  double *local = cell_case_fetch(c, c->size.n_packed, args.local);
  double *condensed = cell_case_fetch(c, c->size.n_trace, args.condensed);
  double *trace = solve_trace(c, p, local, condensed);
  const size_t n_trace = (size_t)(c->n_facets * c->size.n_facet);
  const kg_cell_recover_args solve = {c->cells,
                                      *material,
                                      case_input(&c->memory, trace, n_trace),
                                      load,
                                      cell_case_output(c, c->size.n_modes),
                                      cell_case_output(c, c->size.n_flux)};
  const kg_cell_postprocess_args star = {c->cells,
                                         *material,
                                         solve.u,
                                         solve.flux,
                                         cell_case_output(c, c->size.n_star),
                                         cell_case_output(c, 1)};
  must(ctx, kg_cell_recover(ctx, &solve));
  must(ctx, kg_cell_postprocess(ctx, &star));
  errors->u = solve.u;
  errors->flux = solve.flux;
  errors->u_star = star.u_star;
  free(local);
  free(condensed);
  free(trace);
}

/// Where errors of a case go: by group four sums, then those of the flux.
static void take_norms(const cell_case *c, const double *by_group, double norms[3])
{
  double sums[4] = {0.0}, most = 0.0, flux = 0.0;
  for (int g = 0; g < c->n_groups; ++g) {
    for (int k = 0; k < 3; ++k) sums[k] += by_group[4 * g + k];
    most = fmax(most, by_group[4 * g + 3]);
    flux += by_group[4 * c->n_groups + g];
  }
  norms[0] = sqrt(sums[0]);
  norms[1] = sqrt(flux);
  norms[2] = sqrt(sums[2]);
  // The area is 1 to 2.4; on the ring u - u_h is largest in few elements.
  assert_true(most > 0.6 * norms[0] && most < 25.0 * norms[0]);
  if (now->coefficients == ones || now->coefficients == laplace)
    assert_at_most(fabs(sums[1] - flux), 1e-12 * flux);
}

/// L2 errors of u, the flux and u*.
static void errors_of(const kg_cell *cell, int order, const problem *p, double norms[3])
{
  cell_case c;
  now = p;
  cell_case_grid(&c, ctx, cell, order, order + 6, SQUARES, p->place);
  if (p->map) cell_case_bend(&c, p->geometry, NULL, p->map);
  kg_cell_material material = {.length = 1.0, .exact = p->exact};
  material.values = cell_case_values(&c, &material, p->coefficients);
  const int n = c.host_points.n;
  double *f = cell_case_sample(&c, 1, source);
  double *exact = cell_case_sample(&c, 3, p->solution);
  double *diffusion = cell_case_sample(&c, 3, p->coefficients);
  for (int i = 0; i < c.n_elements * n; ++i) f[i] *= 4.0;
  const kg_cell_loads_args loads = {c.cells, c.points, 0.25, cell_case_input(&c, n, f),
                                    cell_case_output(&c, c.size.n_modes)};
  must(ctx, kg_cell_loads(ctx, &loads));
  double *const sums = case_output(&c.memory, 5 * (size_t)c.n_groups);
  kg_cell_errors_args errors = {.cells = c.cells,
                                .material = material,
                                .points = c.points,
                                .diffusion = cell_case_input(&c, 3 * n, diffusion),
                                .exact = cell_case_input(&c, 3 * n, exact),
                                .by_group = (kg_error_sums *)sums,
                                .flux_by_group = sums + 4 * c.n_groups};
  recover(&c, p, loads.load, &material, &errors);
  must(ctx, kg_cell_errors(ctx, &errors));
  double *by_group = case_fetch(&c.memory, sums);
  take_norms(&c, by_group, norms);
  free(f);
  free(exact);
  free(diffusion);
  free(by_group);
  cell_case_destroy(&c);
}

typedef const double table[ORDERS][3];

static void compare_table(const char *name, const kg_cell *cell, const problem *p, table expected)
{
  for (int order = 1; order <= ORDERS; ++order) {
    double norms[3];
    errors_of(cell, order, p, norms);
    for (int k = 0; k < 3; ++k) {
      const double e = expected[order - 1][k];
      if (!(fabs(norms[k] - e) <= 6e-6 * e))
        fail_msg("%s, order %d, norm %d: %.6e, expected %.5e", name, order, k, norms[k], e);
    }
  }
}

static void problems_with_constants_have_the_errors_of_an_independent_implementation(void **state)
{
  (void)state;
  static table a_const_tri = {{9.12495e-02, 1.95433e-01, 3.62262e-03},
                              {9.38923e-03, 2.16298e-02, 3.13741e-04},
                              {7.88857e-04, 1.87968e-03, 2.24607e-05},
                              {5.54698e-05, 1.34381e-04, 1.40973e-06}};
  static table a_const_quad = {{1.61295e-02, 1.05881e-01, 2.28064e-03},
                               {1.07144e-03, 6.94477e-03, 1.01137e-04},
                               {5.30585e-05, 3.42081e-04, 3.64696e-06},
                               {2.09574e-06, 1.34708e-05, 1.15271e-07}};
  static table g_aniso_tri = {{2.35436e-01, 1.65913e-01, 2.25521e-02},
                              {2.58868e-02, 1.89465e-02, 8.92084e-04},
                              {2.22803e-03, 1.66826e-03, 3.93430e-05},
                              {1.57522e-04, 1.19860e-04, 1.88674e-06}};
  static table g_aniso_quad = {{1.62946e-02, 7.54315e-02, 3.50248e-03},
                               {1.07693e-03, 4.93758e-03, 2.47905e-04},
                               {5.31839e-05, 2.42456e-04, 1.02542e-05},
                               {2.09864e-06, 9.55025e-06, 3.14848e-07}};
  const problem p0 = {.solution = waves, .coefficients = ones, .place = regular};
  const problem p1 = {.solution = waves_and_saddle, .coefficients = turned, .place = regular};
  compare_table("A const, tri", &kg_triangle, &p0, a_const_tri);
  compare_table("A const, quad", &kg_quadrilateral, &p0, a_const_quad);
  compare_table("G aniso, tri", &kg_triangle, &p1, g_aniso_tri);
  compare_table("G aniso, quad", &kg_quadrilateral, &p1, g_aniso_quad);
}

static void varying_coefficients_have_the_errors_of_an_independent_implementation(void **state)
{
  (void)state;
  static table b_scalar_tri = {{9.71300e-02, 2.47622e-01, 3.73100e-03},
                               {1.04809e-02, 3.01966e-02, 3.18449e-04},
                               {9.97364e-04, 2.96632e-03, 2.29006e-05},
                               {8.46693e-05, 2.55343e-04, 1.45546e-06}};
  static table b_scalar_quad = {{1.61296e-02, 1.32947e-01, 2.27770e-03},
                                {1.07148e-03, 9.87800e-03, 1.03433e-04},
                                {5.30590e-05, 5.38604e-04, 3.72401e-06},
                                {2.09577e-06, 2.69525e-05, 1.21140e-07}};
  static table c_tensor_tri = {{1.24994e-01, 5.47205e-01, 3.57555e-03},
                               {1.38183e-02, 6.32138e-02, 3.06126e-04},
                               {1.22340e-03, 5.70451e-03, 2.20251e-05},
                               {8.98905e-05, 4.28024e-04, 1.37061e-06}};
  static table c_tensor_quad = {{1.61401e-02, 2.54526e-01, 2.34263e-03},
                                {1.07175e-03, 1.67872e-02, 1.03662e-04},
                                {5.30659e-05, 8.30017e-04, 3.69200e-06},
                                {2.09594e-06, 3.29490e-05, 1.17526e-07}};
  const problem p0 = {.solution = waves_and_saddle, .coefficients = scalar, .place = regular};
  const problem p1 = {.solution = waves_and_saddle, .coefficients = tensor, .place = regular};
  compare_table("B scalar, tri", &kg_triangle, &p0, b_scalar_tri);
  compare_table("B scalar, quad", &kg_quadrilateral, &p0, b_scalar_quad);
  compare_table("C tensor, tri", &kg_triangle, &p1, c_tensor_tri);
  compare_table("C tensor, quad", &kg_quadrilateral, &p1, c_tensor_quad);
}

static void trapezoids_have_the_errors_of_an_independent_implementation(void **state)
{
  (void)state;
  static table e_trapez_quad = {{1.87626e-02, 1.15634e-01, 3.40466e-03},
                                {1.48962e-03, 8.76293e-03, 1.76562e-04},
                                {9.22953e-05, 5.27863e-04, 8.34705e-06},
                                {4.72272e-06, 2.67702e-05, 3.50411e-07}};
  static table e_trapez_quad_exact = {{1.87427e-02, 1.14123e-01, 3.21086e-03},
                                      {1.49074e-03, 8.52981e-03, 1.75380e-04},
                                      {9.24257e-05, 4.96871e-04, 8.31336e-06},
                                      {4.73157e-06, 2.40501e-05, 3.48640e-07}};
  const problem p0 = {.solution = waves_and_saddle, .coefficients = laplace, .place = trapezoids};
  const problem p1 = {
      .solution = waves_and_saddle, .coefficients = laplace, .place = trapezoids, .exact = true};
  compare_table("E trapez, quad", &kg_quadrilateral, &p0, e_trapez_quad);
  compare_table("E trapez, quad exact", &kg_quadrilateral, &p1, e_trapez_quad_exact);
}

static void curves_have_the_errors_of_an_independent_implementation(void **state)
{
  (void)state;
  static table d_wave_tri = {{1.85241e-01, 9.91825e-01, 2.06251e-02},
                             {3.21652e-02, 1.84689e-01, 1.54285e-03},
                             {4.99406e-03, 2.94885e-02, 2.31727e-04},
                             {6.29718e-04, 3.72212e-03, 2.14694e-05}};
  static table d_wave_tri_exact = {{1.85471e-01, 9.92202e-01, 2.09679e-02},
                                   {3.21769e-02, 1.84730e-01, 1.54252e-03},
                                   {4.99527e-03, 2.94951e-02, 2.32055e-04},
                                   {6.29960e-04, 3.72090e-03, 2.15003e-05}};
  static table d_wave_quad = {{3.08340e-02, 4.64408e-01, 8.05329e-03},
                              {3.43554e-03, 5.85570e-02, 8.06370e-04},
                              {4.57727e-04, 5.74524e-03, 4.56294e-05},
                              {2.42438e-05, 7.18227e-04, 6.35411e-06}};
  static table d_wave_quad_exact = {{3.07915e-02, 4.60994e-01, 7.86827e-03},
                                    {3.43634e-03, 5.83663e-02, 8.05799e-04},
                                    {4.57399e-04, 5.71882e-03, 4.56738e-05},
                                    {2.42356e-05, 7.16549e-04, 6.35207e-06}};
  static table j_ring_g3_tri = {{3.77726e-02, 2.28105e-01, 4.02262e-03},
                                {3.23329e-03, 2.46326e-02, 2.85863e-04},
                                {2.81017e-04, 2.48081e-03, 2.16689e-05},
                                {2.10278e-05, 2.51209e-04, 1.80624e-06}};
  static table j_ring_g3_quad = {{2.01371e-02, 1.70921e-01, 3.88039e-03},
                                 {1.73335e-03, 1.49454e-02, 2.32095e-04},
                                 {1.10576e-04, 1.36242e-03, 1.42204e-05},
                                 {6.86836e-06, 1.24241e-04, 8.10859e-07}};
  const problem p0 = {.solution = waves_and_saddle,
                      .coefficients = tensor,
                      .place = regular,
                      .geometry = 2,
                      .map = wave};
  const problem p1 = {.solution = waves_and_saddle,
                      .coefficients = tensor,
                      .place = regular,
                      .geometry = 2,
                      .map = wave,
                      .exact = true};
  const problem p2 = {.solution = oblique,
                      .coefficients = tensor_alone,
                      .place = regular,
                      .geometry = 3,
                      .map = ring};
  compare_table("D wave, tri", &kg_triangle, &p0, d_wave_tri);
  compare_table("D wave, tri exact", &kg_triangle, &p1, d_wave_tri_exact);
  compare_table("D wave, quad", &kg_quadrilateral, &p0, d_wave_quad);
  compare_table("D wave, quad exact", &kg_quadrilateral, &p1, d_wave_quad_exact);
  compare_table("J ring g=3, tri", &kg_triangle, &p2, j_ring_g3_tri);
  compare_table("J ring g=3, quad", &kg_quadrilateral, &p2, j_ring_g3_quad);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(problems_with_constants_have_the_errors_of_an_independent_implementation),
      cmocka_unit_test(varying_coefficients_have_the_errors_of_an_independent_implementation),
      cmocka_unit_test(trapezoids_have_the_errors_of_an_independent_implementation),
      cmocka_unit_test(curves_have_the_errors_of_an_independent_implementation),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
