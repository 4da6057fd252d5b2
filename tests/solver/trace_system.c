#include "trace_system.h"

#include "backend.h"
#include "grid.h"
#include "moved.h"

/// Conditions on grids, and on test_irregular_mesh().
#define ON_GRID                                                            \
  {"boundary 1", "type", "dirichlet"}, {"boundary 1", "value", "x"},       \
      {"boundary 2", "type", "neumann"}, {"boundary 2", "value", "y"},     \
      {"boundary 3", "type", "robin"}, {"boundary 3", "coefficient", "2"}, \
      {"boundary 3", "value", "1"}, {"boundary 4", "type", "neumann"},     \
  {                                                                        \
    "boundary 4", "value", "0"                                             \
  }
#define ON_WALL                                                          \
  {"boundary 7", "type", "dirichlet"}, {"boundary 7", "value", "x - y"}, \
      {"boundary default", "type", "neumann"},                           \
  {                                                                      \
    "boundary default", "value", "x"                                     \
  }

const sample samples[SAMPLES] = {
    {IRREGULAR, {{"space", "order", "1"}, ON_WALL, {"equation", "diffusion", "45"}}},
    {IRREGULAR, {{"space", "order", "4"}, ON_WALL, {"solver", "preconditioner", "jacobi"}}},
    {IRREGULAR,
     {{"space", "order", "3"},
      ON_WALL,
      {"equation", "reaction", "2"},
      {"solver", "preconditioner", "multigrid"}}},
    {IRREGULAR,
     {{"space", "order", "2"},
      ON_WALL,
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "mixed"}}},
    {IRREGULAR, {{"space", "order", "2"}, ON_WALL, {"solver", "operator", "ell"}}},
    {IRREGULAR, {{"space", "order", "2"}, ON_WALL, {"solver", "operator", "matrix-free-plain"}}},
    {IRREGULAR, {{"space", "order", "2"}, ON_WALL, {"equation", "diffusion", "1 + x*x, 0.5, 2"}}},
    {IRREGULAR,
     {{"space", "order", "2"},
      {"equation", "reaction", "3"},
      {"boundary 7", "type", "neumann"},
      {"boundary 7", "value", "1"},
      {"boundary default", "type", "neumann"},
      {"boundary default", "value", "x"}}},
    {CURVED, {{"space", "order", "3"}, ON_GRID}},
    {SQUARES, {{"space", "order", "2"}, ON_GRID}},
    {CURVED_SQUARES, {{"space", "order", "3"}, ON_GRID}},
    {BOTH, {{"space", "order", "2"}, ON_GRID}},
};

const sample compact = {IRREGULAR,
                        {{"space", "order", "2"},
                         ON_WALL,
                         {"solver", "preconditioner", "multigrid"},
                         {"solver", "precision", "compact"}}};

static kedge_mesh *mesh_of(kedge_context *ctx, domain of)
{
  switch (of) {
    case IRREGULAR:
      return test_irregular_mesh(ctx, 150);
    case CURVED:
      return moved(ctx, 5, ALL, 2, ring);
    case SQUARES:
      return moved(ctx, 6, WHOLE, 1, trapezoids);
    case CURVED_SQUARES:
      return moved(ctx, 5, WHOLE, 3, ring);
    default:
      return moved(ctx, 6, CHECKERED, 2, wave);
  }
}

bench bench_with(kedge_context *ctx, const sample *s)
{
  bench b = {.ctx = ctx, .mesh = mesh_of(ctx, s->domain), .problem = problem_of(ctx, s->settings)};
  must(ctx, kedge_problem_set(b.problem, "equation", "source", "exp(x)*y"));
  must(ctx, kedge_problem_set(b.problem, "solver", "tolerance", "1e-13"));
  bench_set_up(&b);
  return b;
}

bench bench_of(const sample *s)
{
  return bench_with(open_backend(test_backend(), 2), s);
}

double *vector(size_t n)
{
  double *v = calloc(n + 1, sizeof *v);
  assert_non_null(v);
  return v;
}

double *noise(size_t n, uint32_t seed)
{
  double *v = vector(n);
  for (size_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    v[i] = (double)(seed >> 8) / (1 << 23) - 1.0;
  }
  return v;
}

double *product(const bench *b, const double *x)
{
  double *y = vector(b->n);
  must(b->ctx, kedge_solver_apply(b->solver, x, y));
  return y;
}

double *unknowns_of(const bench *b, const kedge_solution *solution)
{
  kedge_report report = KEDGE_REPORT_INIT;
  must(b->ctx, kedge_solution_report(solution, &report));
  double *modes = vector((size_t)report.edges * b->m), *x = vector(b->n);
  int32_t *edges = calloc(b->n / b->m + 1, sizeof *edges);
  must(b->ctx, kedge_solution_trace(solution, NULL, modes));
  must(b->ctx, kedge_solver_edges(b->solver, edges));
  for (size_t k = 0; k < b->n / b->m; ++k) {
    assert_true(edges[k] >= 0 && edges[k] < report.edges && (k == 0 || edges[k] > edges[k - 1]));
    memcpy(x + k * b->m, modes + (size_t)edges[k] * b->m, b->m * sizeof *x);
  }
  free(modes);
  free(edges);
  return x;
}

static const kedge_boundary_value wall = {.group = "7", .text = "1 + y"};

kedge_data other_data(void)
{
  kedge_data data = KEDGE_DATA_INIT;
  data.source = "cos(x)";
  data.n_values = 1;
  data.values = &wall;
  return data;
}

double *through_device(const bench *b, device_call *call, const double *x, bool in_place)
{
  kg_buffer from, to = {0};
  double *y = vector(b->n);
  must(b->ctx, kg_upload(b->ctx, x, b->n, sizeof *x, &from));
  if (!in_place) must(b->ctx, kg_alloc(b->ctx, b->n, sizeof *y, &to));
  double *const at = in_place ? from.data : to.data;
  must(b->ctx, call(b->solver, from.data, at));
  must(b->ctx, kg_copy_out(b->ctx, y, at, b->n * sizeof *y));
  kg_free(b->ctx, &from);
  kg_free(b->ctx, &to);
  must(b->ctx, kg_sync(b->ctx));
  return y;
}
