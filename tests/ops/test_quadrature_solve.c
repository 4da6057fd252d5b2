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

/// u, u_x, u_y and the source of a problem with kappa = 1.
typedef struct problem {
  cell_function *exact, *source;
  double reaction;
  cell_place *place;
} problem;

static void waves(double x, double y, double *f)
{
  f[0] = sin(2 * pi * x) * sin(2 * pi * y);
  f[1] = 2 * pi * cos(2 * pi * x) * sin(2 * pi * y);
  f[2] = 2 * pi * sin(2 * pi * x) * cos(2 * pi * y);
}

static void source_of_waves(double x, double y, double *f)
{
  f[0] = (8 * pi * pi + 1) * sin(2 * pi * x) * sin(2 * pi * y);
}

static void regular(int i, int j, int n, double at[2])
{
  at[0] = (double)i / n;
  at[1] = (double)j / n;
}

static void waves_and_saddle(double x, double y, double *f)
{
  waves(x, y, f);
  f[0] += x * y;
  f[1] += y;
  f[2] += x;
}

static void source_without_reaction(double x, double y, double *f)
{
  f[0] = 8 * pi * pi * sin(2 * pi * x) * sin(2 * pi * y);
}

static void trapezoids(int i, int j, int n, double at[2])
{
  regular(i, j, n, at);
  if (j % 2 == 1) at[1] += (i % 2 == 0 ? -0.25 : 0.25) / n;
}

static const problem constant = {waves, source_of_waves, 1.0, regular};
static const problem trapezoidal = {waves_and_saddle, source_without_reaction, 0.0, trapezoids};

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
      cell_case_project(c, f, p->exact, trace + f * m);
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

/// L2 errors of u, q and u*.
static void errors_of(const kg_cell *cell, int order, const problem *p, double norms[3])
{
  cell_case c;
  cell_case_grid(&c, ctx, cell, order, order + 6, SQUARES, p->place);
  const kg_cell_material material = {{1.0, 0.0, 1.0}, p->reaction, 1.0, KEDGE_SCALING_ONE};
  const int n = c.host_points.n;
  double *source = cell_case_sample(&c, 1, p->source);
  double *exact = cell_case_sample(&c, 3, p->exact);
  for (int i = 0; i < c.n_elements * n; ++i) source[i] *= 4.0;
  const kg_cell_loads_args loads = {c.cells, c.points, 0.25, cell_case_input(&c, n, source),
                                    cell_case_output(&c, c.size.n_modes)};
  must(ctx, kg_cell_loads(ctx, &loads));
  // A group's sums are four doubles.
  double *const sums = case_output(&c.memory, 4 * (size_t)c.n_groups);
  kg_cell_errors_args errors = {.cells = c.cells,
                                .material = material,
                                .points = c.points,
                                .exact = cell_case_input(&c, 3 * n, exact),
                                .by_group = (kg_error_sums *)sums};
  recover(&c, p, loads.load, &material, &errors);
  must(ctx, kg_cell_errors(ctx, &errors));
  double *by_group = case_fetch(&c.memory, sums), most = 0.0;
  for (int k = 0; k < 3; ++k) {
    norms[k] = 0.0;
    for (int g = 0; g < c.n_groups; ++g) norms[k] += by_group[4 * g + k];
    norms[k] = sqrt(norms[k]);
  }
  for (int g = 0; g < c.n_groups; ++g) most = fmax(most, by_group[4 * g + 3]);
  assert_true(most > norms[0] && most < 20.0 * norms[0]);  // the domain has area 1
  free(source);
  free(exact);
  free(by_group);
  cell_case_destroy(&c);
}

static void compare_table(const kg_cell *cell, const problem *p, const double expected[ORDERS][3])
{
  for (int order = 1; order <= ORDERS; ++order) {
    double norms[3];
    errors_of(cell, order, p, norms);
    for (int k = 0; k < 3; ++k) {
      const double e = expected[order - 1][k];
      if (!(fabs(norms[k] - e) <= 6e-6 * e))
        fail_msg("order %d, norm %d: %.6e, expected %.5e", order, k, norms[k], e);
    }
  }
}

static void squares_have_the_errors_of_an_independent_implementation(void **state)
{
  (void)state;
  static const double expected[ORDERS][3] = {{1.61295e-02, 1.05881e-01, 2.28064e-03},
                                             {1.07144e-03, 6.94477e-03, 1.01137e-04},
                                             {5.30585e-05, 3.42081e-04, 3.64696e-06},
                                             {2.09574e-06, 1.34708e-05, 1.15271e-07}};
  compare_table(&kg_quadrilateral, &constant, expected);
}

static void triangles_have_the_errors_of_an_independent_implementation(void **state)
{
  (void)state;
  static const double expected[ORDERS][3] = {{9.12495e-02, 1.95433e-01, 3.62262e-03},
                                             {9.38923e-03, 2.16298e-02, 3.13741e-04},
                                             {7.88857e-04, 1.87968e-03, 2.24607e-05},
                                             {5.54698e-05, 1.34381e-04, 1.40973e-06}};
  compare_table(&kg_triangle, &constant, expected);
}

static void trapezoids_have_the_errors_of_an_independent_implementation(void **state)
{
  (void)state;
  static const double expected[ORDERS][3] = {{1.87626e-02, 1.15634e-01, 3.40466e-03},
                                             {1.48962e-03, 8.76293e-03, 1.76562e-04},
                                             {9.22953e-05, 5.27863e-04, 8.34705e-06},
                                             {4.72272e-06, 2.67702e-05, 3.50411e-07}};
  compare_table(&kg_quadrilateral, &trapezoidal, expected);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(squares_have_the_errors_of_an_independent_implementation),
      cmocka_unit_test(triangles_have_the_errors_of_an_independent_implementation),
      cmocka_unit_test(trapezoids_have_the_errors_of_an_independent_implementation),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
