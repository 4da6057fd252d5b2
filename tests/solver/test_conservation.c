// The discrete flux q^ . n = diffusion q . n - tau (u - lambda), computed from the public results,
// is conserved: from element to element, to the Neumann or Robin data, and in every element's
// balance.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "compare.h"
#include "grid.h"
#include "ops/dense.h"
#include "support.h"

enum { TRIANGLES = 21, ORDER = 6, POINTS = ORDER + 5, NODES = (ORDER + 1) * (ORDER + 2) / 2 };

#define DIFFUSION 0.6
#define REACTION  1.3

/// Problems, one for each order % 3.
static const struct {
  const char *text;
  double number, power;  // tau = number * length^power
} stabilizations[] = {{"1.5", 1.5, 0.0}, {"0.8*h", 0.8, 1.0}, {"1.2/h", 1.2, -1.0}};

/// A solution and what the fluxes are made of.
typedef struct flux_case {
  kedge_context *ctx;
  test_grid grid;
  kedge_mesh *mesh;
  kedge_solution *solution;
  kedge_report report;
  fields values;
  double *corners;  ///< [element][3][2], counterclockwise
  int32_t *edges;   ///< [edge][2]
  int order;
  bool is_robin;  ///< of the boundary that has no values: else Neumann
  double t[POINTS], w[POINTS];
} flux_case;

static double neumann_value(double x, double y)
{
  return cos(x) - 0.5 * y;
}

static void neumann_function(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = neumann_value(points->x[i], points->y[i]);
}

/// 1 + x^2, or of Neumann conditions 0.
static double robin_coefficient(const flux_case *c, double x)
{
  return c->is_robin ? 1.0 + x * x : 0.0;
}

static void solve_case(flux_case *c)
{
  char order[8];
  snprintf(order, sizeof order, "%d", c->order);
  kedge_problem *problem = problem_of(
      c->ctx, SETTINGS({"space", "order", order},
                       {"space", "stabilization", stabilizations[c->order % 3].text},
                       {"equation", "diffusion", "0.6"}, {"equation", "reaction", "1.3"},
                       {"equation", "source", "1+x*y"}, {"boundary 7", "type", "dirichlet"},
                       {"boundary 7", "value", "sin(x)+y"}, {"solver", "tolerance", "1e-14"}));
  if (c->is_robin)
    must(c->ctx, kedge_problem_set(problem, "boundary default", "coefficient", "1+x^2"));
  must(c->ctx, kedge_problem_set_boundary(
                   problem, "default", c->is_robin ? KEDGE_BOUNDARY_ROBIN : KEDGE_BOUNDARY_NEUMANN,
                   neumann_function, NULL));
  must(c->ctx, kedge_solve(c->ctx, c->mesh, problem, &c->solution));
  kedge_problem_destroy(problem);
}

static void case_open(flux_case *c, int order, bool is_robin)
{
  *c = (flux_case){.ctx = open_backend(test_backend(), 1), .order = order, .is_robin = is_robin};
  test_grid_create(&c->grid, TRIANGLES);
  c->mesh = test_grid_mesh(&c->grid, c->ctx);
  solve_case(c);
  c->report = (kedge_report)KEDGE_REPORT_INIT;
  kedge_solution_report(c->solution, &c->report);
  c->values = fields_of(c->ctx, c->solution);
  c->corners = malloc(6 * TRIANGLES * sizeof *c->corners);
  c->edges = malloc(2 * (size_t)c->report.edges * sizeof *c->edges);
  assert_true(c->corners && c->edges);
  must(c->ctx, kedge_solution_nodes(c->solution, 1, c->corners));
  must(c->ctx, kedge_solution_trace(c->solution, c->edges, NULL));
  kg_gauss_jacobi(POINTS, 0, c->t, c->w);
}

static void case_close(flux_case *c)
{
  free(c->corners);
  free(c->edges);
  fields_free(&c->values);
  kedge_solution_destroy(c->solution);
  kedge_mesh_destroy(c->mesh);
  test_grid_destroy(&c->grid);
  kedge_context_destroy(c->ctx);
}

/// The caller's number of corner k: the vertex of the triangle that lies there.
static int32_t corner_vertex(const flux_case *c, int e, int k)
{
  for (int i = 0; i < 3; ++i) {
    const int32_t v = c->grid.triangles[3 * e + i];
    if (memcmp(c->grid.vertices + 2 * v, c->corners + 6 * e + 2 * k, 2 * sizeof(double)) == 0)
      return v;
  }
  fail_msg("corner %d of element %d is none of its vertices", k, e);
  return -1;
}

static int64_t edge_number(const flux_case *c, int32_t a, int32_t b)
{
  const int32_t low = a < b ? a : b, high = a < b ? b : a;
  for (int64_t f = 0; f < c->report.edges; ++f)
    if (c->edges[2 * f] == low && c->edges[2 * f + 1] == high) return f;
  fail_msg("no edge from %d to %d", low, high);
  return -1;
}

/// Value at t of the polynomial with the given values at order + 1 equispaced points of [-1,1].
static double interpolate(int order, const double *values, double t)
{
  double sum = 0.0;
  for (int i = 0; i <= order; ++i) {
    double factor = 1.0;
    for (int j = 0; j <= order; ++j)
      if (j != i) factor *= (0.5 * (1.0 + t) * order - j) / (i - j);
    sum += factor * values[i];
  }
  return sum;
}

/// Values of a field along side l of element e, from its nodes on that edge.
static void values_on_side(const flux_case *c, kedge_field field, int e, int l, double *values)
{
  const int P = c->order;
  const double *of_element = c->values.values[field] + (size_t)e * (size_t)kedge_node_count(P);
  values[0] = of_element[l];
  for (int i = 1; i < P; ++i) values[i] = of_element[3 + l * (P - 1) + i - 1];
  values[P] = of_element[(l + 1) % 3];
}

typedef struct side {
  int64_t edge;
  double from[2], to[2], normal[2], length;
  double direction;  ///< -1: against the trace edge
} side;

static side side_of(const flux_case *c, int e, int l)
{
  side s;
  const double *from = c->corners + 6 * e + 2 * l, *to = c->corners + 6 * e + 2 * ((l + 1) % 3);
  const int32_t a = corner_vertex(c, e, l), b = corner_vertex(c, e, (l + 1) % 3);
  memcpy(s.from, from, sizeof s.from);
  memcpy(s.to, to, sizeof s.to);
  s.edge = edge_number(c, a, b);
  s.direction = a < b ? 1.0 : -1.0;
  s.length = hypot(to[0] - from[0], to[1] - from[1]);
  s.normal[0] = (to[1] - from[1]) / s.length;
  s.normal[1] = (from[0] - to[0]) / s.length;
  return s;
}

/// moments[k] = <q^ . n, psi_k> on side l, outward from element e.
static void flux_moments(const flux_case *c, int e, int l, const side *s, double *moments)
{
  const int P = c->order;
  const double tau = stabilizations[P % 3].number * pow(s->length, stabilizations[P % 3].power);
  const double *trace = c->values.values[FIELD_TRACE] + (size_t)s->edge * (size_t)(P + 1);
  double u[ORDER + 1], qx[ORDER + 1], qy[ORDER + 1], psi[ORDER + 1];
  values_on_side(c, KEDGE_FIELD_U, e, l, u);
  values_on_side(c, KEDGE_FIELD_QX, e, l, qx);
  values_on_side(c, KEDGE_FIELD_QY, e, l, qy);
  for (int k = 0; k <= P; ++k) moments[k] = 0.0;
  for (int q = 0; q < POINTS; ++q) {
    kg_legendre(P, s->direction * c->t[q], psi);
    double lambda = 0.0;
    for (int k = 0; k <= P; ++k) lambda += trace[k] * psi[k];
    const double flux = DIFFUSION * (s->normal[0] * interpolate(P, qx, c->t[q]) +
                                     s->normal[1] * interpolate(P, qy, c->t[q])) -
                        tau * (interpolate(P, u, c->t[q]) - lambda);
    for (int k = 0; k <= P; ++k) moments[k] += 0.5 * s->length * c->w[q] * flux * psi[k];
  }
}

/// <g - a lambda, psi_k> on a side.
static void data_moments(const flux_case *c, const side *s, double *moments)
{
  const double *trace = c->values.values[FIELD_TRACE] + s->edge * (c->order + 1);
  double psi[ORDER + 1];
  for (int k = 0; k <= c->order; ++k) moments[k] = 0.0;
  for (int q = 0; q < POINTS; ++q) {
    const double a = 0.5 * (1.0 - c->t[q]), b = 0.5 * (1.0 + c->t[q]);
    const double x = a * s->from[0] + b * s->to[0], y = a * s->from[1] + b * s->to[1];
    double g = neumann_value(x, y);
    kg_legendre(c->order, s->direction * c->t[q], psi);
    for (int k = 0; k <= c->order; ++k) g -= robin_coefficient(c, x) * trace[k] * psi[k];
    for (int k = 0; k <= c->order; ++k) moments[k] += 0.5 * s->length * c->w[q] * g * psi[k];
  }
}

static bool on_wall(const flux_case *c, int64_t edge)
{
  for (int i = 0; i < c->grid.n_lines; ++i) {
    const int32_t *line = c->grid.lines + 2 * i, *ends = c->edges + 2 * edge;
    if ((line[0] == ends[0] && line[1] == ends[1]) || (line[0] == ends[1] && line[1] == ends[0]))
      return true;
  }
  return false;
}

/// Nodal values are interpolated (the Lebesgue constant of these orders is below 2^order) and tau,
/// q and u multiplied by up to 10; what is left is the residual of the trace solve.
static double tolerance_of(const flux_case *c, double largest_moment)
{
  return largest_moment * 10.0 *
         (rounding(NODES) * pow(2.0, c->order) + c->report.relative_residual);
}

typedef struct sums {
  double *moments;  ///< [edge][order + 1], both sides added
  int *n_sides;     ///< [edge]
  double largest;   ///< of one side
} sums;

static sums sum_fluxes(const flux_case *c)
{
  const int m = c->order + 1;
  sums s = {calloc((size_t)c->report.edges * (size_t)m, sizeof *s.moments),
            calloc((size_t)c->report.edges, sizeof *s.n_sides), 0.0};
  assert_true(s.moments && s.n_sides);
  for (int e = 0; e < TRIANGLES; ++e)
    for (int l = 0; l < 3; ++l) {
      const side one = side_of(c, e, l);
      double moments[ORDER + 1];
      flux_moments(c, e, l, &one, moments);
      s.largest = fmax(s.largest, largest((size_t)m, moments));
      ++s.n_sides[one.edge];
      for (int k = 0; k < m; ++k) s.moments[one.edge * m + k] += moments[k];
    }
  return s;
}

static void check_interior_edges(const flux_case *c)
{
  sums s = sum_fluxes(c);
  const int m = c->order + 1;
  int interior = 0;
  for (int64_t f = 0; f < c->report.edges; ++f) {
    if (s.n_sides[f] != 2) continue;
    ++interior;
    assert_at_most(largest((size_t)m, s.moments + f * m), tolerance_of(c, s.largest));
  }
  assert_int_equal(interior, c->report.edges - c->report.boundary_edges);
  free(s.moments);
  free(s.n_sides);
}

static void check_data_edges(const flux_case *c)
{
  sums s = sum_fluxes(c);
  int given = 0;
  for (int e = 0; e < TRIANGLES; ++e)
    for (int l = 0; l < 3; ++l) {
      const side one = side_of(c, e, l);
      if (s.n_sides[one.edge] == 2 || on_wall(c, one.edge)) continue;
      double data[ORDER + 1];
      data_moments(c, &one, data);
      ++given;
      for (int k = 0; k <= c->order; ++k)
        assert_at_most(fabs(s.moments[one.edge * (c->order + 1) + k] - data[k]),
                       tolerance_of(c, s.largest));
    }
  assert_int_equal(given, c->report.boundary_edges - c->grid.n_lines);
  free(s.moments);
  free(s.n_sides);
}

/// Coefficient 0 of a polynomial from its nodal values: row 0 of the inverse Vandermonde matrix.
static void mean_weights(int order, double *weights)
{
  double r[NODES], s[NODES], matrix[NODES * NODES];
  const int n = kg_triangle_modes(order);
  kg_lagrange_nodes(order, r, s);
  for (int i = 0; i < n; ++i) kg_dubiner(order, r[i], s[i], matrix + i * n, NULL, NULL);
  dense_invert(n, matrix);
  memcpy(weights, matrix, (size_t)n * sizeof *weights);
}

/// Integral of reaction u - source over an element; the source is 1 + x y.
static double balance_of(const flux_case *c, int e, const double *weights)
{
  const double *p = c->corners + 6 * e;
  const int n = kedge_node_count(c->order);
  const double area = 0.5 * ((p[2] - p[0]) * (p[5] - p[1]) - (p[4] - p[0]) * (p[3] - p[1]));
  double mean = 0.0, source = 0.0;
  for (int i = 0; i < n; ++i) mean += weights[i] * c->values.values[KEDGE_FIELD_U][e * n + i];
  mean /= sqrt(2.0);             // phi_0 = 1 / sqrt(2)
  for (int l = 0; l < 3; ++l) {  // edge midpoints: exact for degree 2
    const double *a = p + 2 * l, *b = p + 2 * ((l + 1) % 3);
    source += area / 3.0 * (1.0 + 0.25 * (a[0] + b[0]) * (a[1] + b[1]));
  }
  return REACTION * area * mean - source;
}

static void check_balance(const flux_case *c)
{
  double weights[NODES], total = 0.0, boundary = 0.0;
  mean_weights(c->order, weights);
  sums s = sum_fluxes(c);
  const double tolerance = tolerance_of(c, s.largest);
  for (int e = 0; e < TRIANGLES; ++e) {
    double outward = 0.0;
    for (int l = 0; l < 3; ++l) {
      const side one = side_of(c, e, l);
      double moments[ORDER + 1];
      flux_moments(c, e, l, &one, moments);
      outward += sqrt(2.0) * moments[0];
      if (s.n_sides[one.edge] == 1) boundary += sqrt(2.0) * moments[0];
    }
    const double balance = balance_of(c, e, weights);
    assert_at_most(fabs(outward - balance), tolerance);
    total += balance;
  }
  assert_at_most(fabs(boundary - total), tolerance * TRIANGLES);
  free(s.moments);
  free(s.n_sides);
}

static void for_all_orders(void (*check)(const flux_case *))
{
  for (int order = 1; order <= ORDER; ++order)
    for (int is_robin = 0; is_robin < 2; ++is_robin) {
      flux_case c;
      case_open(&c, order, is_robin);
      check(&c);
      case_close(&c);
    }
}

static void the_flux_is_conserved_on_every_interior_edge(void **state)
{
  (void)state;
  for_all_orders(check_interior_edges);
}

static void the_flux_on_neumann_and_robin_edges_is_the_given_one(void **state)
{
  (void)state;
  for_all_orders(check_data_edges);
}

static void what_flows_out_is_reaction_less_source_in_every_element_and_in_all(void **state)
{
  (void)state;
  for_all_orders(check_balance);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_flux_is_conserved_on_every_interior_edge),
      cmocka_unit_test(the_flux_on_neumann_and_robin_edges_is_the_given_one),
      cmocka_unit_test(what_flows_out_is_reaction_less_source_in_every_element_and_in_all),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
