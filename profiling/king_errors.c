// king_errors: the errors of Table 1 of King 2014, by the quadrature with which they were taken,
// and by rules that integrate enough.
//
//   king_errors host|cuda 40 1 9 > king_errors.json
//
// One JSON object a line: the device, then one for each order. `source` and norms are "rule", that
// quadrature (king.h), or "exact": kedge's load vectors and norms.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "bench.h"
#include "king.h"

typedef struct grid {
  int n, order;  ///< n x n squares
  king_rule rule;
  double *load;  ///< [triangle][mode]: the integrals of the source with the modes, by the rule
} grid;

static void make_load(grid *g)
{
  const int modes = kg_triangle_modes(g->order);
  for (int e = 0; e < 2 * g->n * g->n; ++e) {
    double x[3], y[3], *load = g->load + (size_t)e * (size_t)modes;
    king_corners(g->n, e, x, y);
    memset(load, 0, (size_t)modes * sizeof *load);
    for (int k = 0; k < g->rule.n; ++k) {
      const double r = g->rule.r[k], s = g->rule.s[k];
      const double f = g->rule.w[k] * king_source(king_mapped(x, r, s), king_mapped(y, r, s));
      for (int i = 0; i < modes; ++i) load[i] += f * g->rule.phi[k][i];
    }
  }
}

/// The function of order P on each triangle whose integrals with all modes are those of the rule;
/// points lie inside triangles.
static void rule_source(void *user, const kedge_points *points, double *value)
{
  const grid *g = user;
  const int modes = kg_triangle_modes(g->order);
  for (size_t k = 0; k < points->n; ++k) {
    const double x = points->x[k] * g->n, y = points->y[k] * g->n;
    const int i = (int)x, j = (int)y;
    const double dx = x - i, dy = y - j;
    const bool upper = dy > dx;
    // (a, b, c): c - a = (1, 1), b - a = (1, 0); (a, c, d): c - a = (1, 1), d - a = (0, 1)
    const double r = upper ? 2 * dx - 1 : 2 * (dx - dy) - 1,
                 s = upper ? 2 * (dy - dx) - 1 : 2 * dy - 1;
    const double *load = g->load + (size_t)(2 * (j * g->n + i) + upper) * (size_t)modes;
    double phi[KING_MODES], sum = 0;
    kg_dubiner(g->order, r, s, phi, NULL, NULL);
    for (int m = 0; m < modes; ++m) sum += load[m] * phi[m];
    value[k] = sum;
  }
}

/// at[k][node]: what takes nodal values to the point k of the rule.
static void interpolation(const grid *g, double at[KING_LINE * KING_LINE][KING_MODES])
{
  static double values[KING_MODES][KING_MODES], inverse[KING_MODES][KING_MODES];
  const int modes = kg_triangle_modes(g->order);
  double r[KING_MODES], s[KING_MODES];
  kg_lagrange_nodes(g->order, r, s);
  for (int node = 0; node < modes; ++node)
    kg_dubiner(g->order, r[node], s[node], values[node], NULL, NULL);
  king_invert(modes, values, inverse);
  for (int k = 0; k < g->rule.n; ++k)
    for (int node = 0; node < modes; ++node) {
      at[k][node] = 0;
      for (int i = 0; i < modes; ++i) at[k][node] += g->rule.phi[k][i] * inverse[i][node];
    }
}

typedef struct norms {
  double l2, linf;
} norms;

/// Norms of u - exact, by the rule. The nodes of a triangle begin with its vertices, as they were
/// given.
static norms rule_norms(kedge_context *ctx, const grid *g, const kedge_solution *solution)
{
  static double at[KING_LINE * KING_LINE][KING_MODES];
  const size_t modes = (size_t)kg_triangle_modes(g->order),
               elements = 2 * (size_t)g->n * (size_t)g->n;
  double *u = malloc(elements * modes * sizeof *u), sum = 0, most = 0;
  if (!u) bench_die(ctx, KEDGE_ERR_MEMORY);
  BENCH_TRY(ctx, kedge_solution_values(solution, KEDGE_FIELD_U, g->order, u));
  interpolation(g, at);
  for (size_t e = 0; e < elements; ++e) {
    double x[3], y[3];
    king_corners(g->n, (int)e, x, y);
    for (int k = 0; k < g->rule.n; ++k) {
      const double r = g->rule.r[k], s = g->rule.s[k];
      double error = -king_u(king_mapped(x, r, s), king_mapped(y, r, s));
      for (size_t node = 0; node < modes; ++node) error += at[k][node] * u[e * modes + node];
      sum += g->rule.w[k] * error * error;
      most = fmax(most, fabs(error));
    }
  }
  free(u);
  return (norms){sqrt(sum / 4 / (g->n * g->n)),
                 most};  // a triangle has 1 / (2 n^2), its reference 2
}

static kedge_problem *make_problem(kedge_context *ctx, const grid *g, bool by_rule)
{
  kedge_problem *problem = king_problem(ctx, g->order);
  bench_set(ctx, problem, "boundary default", "value", "0");
  bench_set(ctx, problem, "solver", "tolerance", "1e-13");
  if (by_rule) BENCH_TRY(ctx, kedge_problem_set_source(problem, rule_source, (void *)g));
  return problem;
}

static void print_norms(const char *name, norms e)
{
  printf(",\"%s\":{\"linf\":%.9e,\"l2\":%.9e}", name, e.linf, e.l2);
}

static void run_order(kedge_context *ctx, grid *g)
{
  kedge_mesh *mesh;
  BENCH_TRY(ctx, king_mesh(ctx, g->n, &mesh));
  king_make_rule(g->order, &g->rule);
  g->load = malloc(2 * (size_t)g->n * (size_t)g->n * KING_MODES * sizeof *g->load);
  if (!g->load) bench_die(ctx, KEDGE_ERR_MEMORY);
  make_load(g);
  for (int by_rule = 1; by_rule >= 0; --by_rule) {
    kedge_problem *problem = make_problem(ctx, g, by_rule);
    kedge_solution *solution;
    kedge_report report = KEDGE_REPORT_INIT;
    BENCH_TRY(ctx, kedge_solve(ctx, mesh, problem, &solution));
    BENCH_TRY(ctx, kedge_solution_report(solution, &report));
    printf("{\"order\":%d,\"squares\":%d,\"source\":\"%s\"", g->order, g->n,
           by_rule ? "rule" : "exact");
    print_norms("rule", rule_norms(ctx, g, solution));
    print_norms("exact", (norms){report.u_l2, report.u_linf});
    printf(",\"iterations\":%lld,\"relative_residual\":%.3e}\n", (long long)report.iterations,
           report.relative_residual);
    kedge_solution_destroy(solution);
    kedge_problem_destroy(problem);
  }
  fflush(stdout);
  free(g->load);
  kedge_mesh_destroy(mesh);
}

int main(int argc, char **argv)
{
  static grid g;
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  kedge_context *ctx;
  const int first = argc == 5 ? atoi(argv[3]) : 0, last = argc == 5 ? atoi(argv[4]) : 0;
  if (first < KEDGE_ORDER_MIN || last < first || last > KEDGE_ORDER_MAX ||
      (g.n = atoi(argv[2])) < 1) {
    fprintf(stderr, "usage: king_errors host|cuda SQUARES FIRST_ORDER LAST_ORDER\n");
    return 2;
  }
  options.backend = strcmp(argv[1], "cuda") ? KEDGE_BACKEND_HOST : KEDGE_BACKEND_CUDA;
  const kedge_status status = kedge_context_create(&options, &ctx);
  if (status) bench_die(NULL, status);
  printf("{\"device\":\"%s\"}\n", kedge_context_device(ctx));
  for (g.order = first; g.order <= last; ++g.order) run_order(ctx, &g);
  kedge_context_destroy(ctx);
  return 0;
}
