// Whole solutions from operators by quadrature, with a dense matrix: the errors that an independent
// implementation has, to 5 digits. All integrals with P + 6 points a direction, norms too.
#include <math.h>
#include <stdlib.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "cell_problems.h"
#include "cell_solve.h"
#include "compare.h"
#include "context.h"
#include "ops/local/quadrature/errors.h"
#include "ops/local/quadrature/loads.h"
#include "ops/local/quadrature/make.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"
#include "ops/local/quadrature/robin.h"

enum { SQUARES = 8, ORDERS = 4 };

typedef enum condition { DIRICHLET, NEUMANN, ROBIN } condition;

typedef struct problem {
  cell_function *solution;      ///< u, u_x, u_y, u_xx, u_xy, u_yy
  cell_function *coefficients;  ///< kappa_xx, _xy, _yy, c, and d_x xx, d_x xy, d_y xy, d_y yy
  cell_place *place;
  int geometry;
  cell_function *map;  ///< of nodes, or NULL
  bool exact;
  bool is_mixed;  ///< all kinds of conditions: condition_of()
} problem;

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

/// On the sides of the unit square.
static condition condition_of(const cell_case *c, int facet)
{
  const double *const a = c->vertices + 2 * c->ends[facet][0];
  const double *const b = c->vertices + 2 * c->ends[facet][1];
  if (!now->is_mixed || (a[1] == 0.0 && b[1] == 0.0)) return DIRICHLET;
  return a[0] == 1.0 && b[0] == 1.0 ? NEUMANN : ROBIN;
}

enum { FACET_POINTS = 16 };

/// <g, psi> of g = kappa grad u . n + a u on a facet, and what the operator takes of a.
static void facet_data(const cell_case *c, int facet, double *load, double *coefficient)
{
  double t[FACET_POINTS], w[FACET_POINTS], psi[KEDGE_ORDER_MAX + 1], at[2], n[2], u[6], k[8];
  const bool robin = condition_of(c, facet) == ROBIN;
  kg_gauss_jacobi(FACET_POINTS, 0, t, w);
  for (int q = 0; q < FACET_POINTS; ++q) {
    cell_case_facet_point(c, facet, t[q], at, n);
    now->solution(at[0], at[1], u);
    now->coefficients(at[0], at[1], k);
    const double a = robin ? (1.0 + at[0] * at[0]) * hypot(n[0], n[1]) : 0.0;
    const double flux = n[0] * (k[0] * u[1] + k[1] * u[2]) + n[1] * (k[1] * u[1] + k[2] * u[2]);
    coefficient[q] = w[q] * a;
    kg_legendre(c->size.order, t[q], psi);
    for (int i = 0; i < c->size.n_facet; ++i) load[i] += w[q] * psi[i] * (flux + a * u[0]);
  }
}

/// Conditions of all boundary facets; those of Robin are added to `local` on the device.
static void put_boundary(cell_case *c, double *local, bool *fixed, double *load, double *trace)
{
  const int m = c->size.n_facet, V = c->size.n_facets, most = c->n_facets;
  double t[FACET_POINTS], w[FACET_POINTS], psi[FACET_POINTS * (KEDGE_ORDER_MAX + 1)];
  double *coefficient = calloc((size_t)(most * FACET_POINTS), sizeof *coefficient);
  int32_t *side = calloc((size_t)most, sizeof *side), n = 0;
  assert_true(coefficient && side);
  kg_gauss_jacobi(FACET_POINTS, 0, t, w);
  for (int q = 0; q < FACET_POINTS; ++q) kg_legendre(c->size.order, t[q], psi + q * m);
  for (int s = 0; s < V * c->n_elements; ++s) {
    const int f = (int)(c->side[s] >> 1);
    if (c->n_sides[f] == 2) continue;
    fixed[f] = condition_of(c, f) == DIRICHLET;
    if (fixed[f])
      cell_case_project(c, f, now->solution, trace + f * m);
    else
      facet_data(c, f, load + f * m, coefficient + n * FACET_POINTS);
    if (condition_of(c, f) == ROBIN) side[n++] = s / V * KG_FACETS_MAX + s % V;
  }
  const kg_cell_robin_args args = {
      .size = c->size,
      .n_sides = n,
      .side = case_upload(&c->memory, side, (size_t)n + 1, sizeof *side),
      .rows = FACET_POINTS,
      .psi = case_input(&c->memory, psi, (size_t)(FACET_POINTS * m)),
      .coefficient = case_input(&c->memory, coefficient, (size_t)(n * FACET_POINTS)),
      .local = local};
  if (n > 0) must(ctx, kg_cell_robin(ctx, &args));
  free(coefficient);
  free(side);
}

/// u, flux and u* on the device from what the device has of a problem.
static void recover(cell_case *c, const double *load, const kg_cell_material *material,
                    kg_cell_errors_args *errors)
{
  const size_t n_trace = (size_t)(c->n_facets * c->size.n_facet);
  bool *fixed = calloc((size_t)c->n_facets, sizeof *fixed);
  double *trace = calloc(2 * n_trace, sizeof *trace), *const g = trace + n_trace;
  assert_true(fixed && trace);
  const kg_cell_make_args args = {c->cells, *material, load, cell_case_output(c, c->size.n_packed),
                                  cell_case_output(c, c->size.n_trace)};
  must(ctx, kg_cell_make(ctx, &args));
  put_boundary(c, args.local, fixed, g, trace);
  double *local = cell_case_fetch(c, c->size.n_packed, args.local);
  double *condensed = cell_case_fetch(c, c->size.n_trace, args.condensed);
  cell_case_solve(c, local, condensed, fixed, g, trace);
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
  free(fixed);
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
  if (now->solution == linear) return;
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
  kg_cell_material material = {.reaction = 1.0, .length = 1.0, .exact = p->exact};
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
                                .n_diffusion = n,
                                .diffusion = cell_case_input(&c, 3 * n, diffusion),
                                .exact = cell_case_input(&c, 3 * n, exact),
                                .by_group = (kg_error_sums *)sums,
                                .flux_by_group = sums + 4 * c.n_groups};
  recover(&c, loads.load, &material, &errors);
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

static void all_conditions_have_the_errors_of_an_independent_implementation(void **state)
{
  (void)state;
  static table tri = {{1.88475e-02, 1.49012e-01, 2.46508e-03},
                      {1.73231e-03, 1.31860e-02, 1.02669e-04},
                      {1.17712e-04, 1.07359e-03, 6.10612e-06},
                      {8.84053e-06, 9.33056e-05, 3.32313e-07}};
  static table quad = {{8.08116e-03, 7.23534e-02, 1.15629e-03},
                       {5.23771e-04, 4.75311e-03, 4.56066e-05},
                       {2.41960e-05, 3.34023e-04, 1.81404e-06},
                       {1.03392e-06, 1.76165e-05, 7.21949e-08}};
  const problem p = {.solution = growing,
                     .coefficients = tensor,
                     .place = regular,
                     .geometry = 2,
                     .map = wave,
                     .is_mixed = true};
  compare_table("H Robin, tri", &kg_triangle, &p, tri);
  compare_table("H Robin, quad", &kg_quadrilateral, &p, quad);
}

static void linear_functions_are_exact_with_all_conditions_on_curves(void **state)
{
  (void)state;
  for (int i = 0; i < 4; ++i)
    for (int order = 2; order <= ORDERS; ++order) {
      const problem p = {.solution = linear,
                         .coefficients = skew,
                         .place = regular,
                         .geometry = 2,
                         .map = ring,
                         .exact = i % 2 == 1,
                         .is_mixed = true};
      double norms[3];
      errors_of(i < 2 ? &kg_triangle : &kg_quadrilateral, order, &p, norms);
      for (int k = 0; k < 3; ++k) assert_at_most(norms[k], 1e-11);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(problems_with_constants_have_the_errors_of_an_independent_implementation),
      cmocka_unit_test(varying_coefficients_have_the_errors_of_an_independent_implementation),
      cmocka_unit_test(trapezoids_have_the_errors_of_an_independent_implementation),
      cmocka_unit_test(curves_have_the_errors_of_an_independent_implementation),
      cmocka_unit_test(all_conditions_have_the_errors_of_an_independent_implementation),
      cmocka_unit_test(linear_functions_are_exact_with_all_conditions_on_curves),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
