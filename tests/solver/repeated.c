#include "repeated.h"

#include "backend.h"

#define TOP_NEUMANN                                                                  \
  {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x - y"}, \
      {"boundary top", "type", "neumann"},                                           \
  {                                                                                  \
    "boundary top", "value", "x"                                                     \
  }

const sample samples[SAMPLES] = {
    {"square 9", {{"space", "order", "1"}, TOP_NEUMANN}},
    {"square 9", {{"space", "order", "4"}, TOP_NEUMANN, {"solver", "preconditioner", "jacobi"}}},
    {"square 9",
     {{"space", "order", "3"},
      TOP_NEUMANN,
      {"solver", "preconditioner", "multigrid"},
      {"equation", "reaction", "2"}}},
    {"square 9",
     {{"space", "order", "5"},
      TOP_NEUMANN,
      {"solver", "preconditioner", "multigrid"},
      {"solver", "smoothing_steps", "2"}}},
    {"square 9",
     {{"space", "order", "2"}, TOP_NEUMANN, {"solver", "preconditioner", "block-jacobi"}}},
    {"square 9",
     {{"space", "order", "3"},
      TOP_NEUMANN,
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "mixed"}}},
    {"square 9",
     {{"space", "order", "2"},
      TOP_NEUMANN,
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "compact"}}},
    {"square 9",
     {{"space", "order", "4"},
      TOP_NEUMANN,
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "compact"}}},
    {"square 9", {{"space", "order", "2"}, TOP_NEUMANN, {"solver", "operator", "ell"}}},
    {"square 9",
     {{"space", "order", "2"}, TOP_NEUMANN, {"solver", "operator", "matrix-free-plain"}}},
    {"square 9",
     {{"space", "order", "3"},
      TOP_NEUMANN,
      {"equation", "diffusion", "1 + x*y"},
      {"solver", "preconditioner", "multigrid"}}},
    {"square 9",
     {{"space", "order", "2"},
      TOP_NEUMANN,
      {"equation", "diffusion", "2, 0.5, 1"},
      {"equation", "reaction", "1 + x"},
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "compact"}}},
    {"quads 9", {{"space", "order", "2"}, TOP_NEUMANN}},
    {"mixed 9", {{"space", "order", "3"}, TOP_NEUMANN, {"solver", "precision", "mixed"}}},
    {"mixed 9",
     {{"space", "order", "4"},
      TOP_NEUMANN,
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "compact"}}},
    {"square 9",
     {{"space", "order", "2"},
      {"boundary default", "type", "robin"},
      {"boundary default", "coefficient", "1 + x"},
      {"boundary default", "value", "x - y"},
      {"boundary top", "type", "neumann"},
      {"boundary top", "value", "x"}}},
    {"square 9",
     {{"space", "order", "3"},
      {"exact", "u", "sin(x)*y"},
      {"boundary default", "type", "dirichlet"},
      {"boundary top", "type", "neumann"}}},
};

const char *const sources[DATA] = {"1", "exp(x)*y", "0"};
const char *const tops[DATA] = {"x", "0", "cos(3*x)"};

static kedge_problem *problem_with(kedge_context *ctx, const sample *s, int k)
{
  kedge_problem *problem = problem_of(ctx, s->settings);
  must(ctx, kedge_problem_set(problem, "equation", "source", sources[k]));
  must(ctx, kedge_problem_set(problem, "boundary top", "value", tops[k]));
  return problem;
}

kedge_solution *solve_fresh(kedge_context *ctx, const kedge_mesh *mesh, const sample *s, int k)
{
  kedge_problem *problem = problem_with(ctx, s, k);
  kedge_solution *solution = NULL;
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  kedge_problem_destroy(problem);
  return solution;
}

void solve_again(kedge_context *ctx, kedge_solver *solver, int k, kedge_solution **solution)
{
  const kedge_boundary_value top = {.group = "top", .text = tops[k]};
  kedge_data data = KEDGE_DATA_INIT;
  data.source = sources[k];
  data.n_values = 1;
  data.values = &top;
  must(ctx, kedge_solver_solve(solver, &data, solution));
}

void assert_same_solve(kedge_context *ctx, const kedge_solution *a, const kedge_solution *b)
{
  kedge_report of_a = KEDGE_REPORT_INIT, of_b = KEDGE_REPORT_INIT;
  kedge_solution_report(a, &of_a);
  kedge_solution_report(b, &of_b);
  assert_int_equal(of_a.iterations, of_b.iterations);
  assert_int_equal(of_a.refinements, of_b.refinements);
  assert_true(of_a.relative_residual == of_b.relative_residual);
  assert_int_equal(of_a.multigrid_levels, of_b.multigrid_levels);
  assert_string_equal(of_a.solver_note, of_b.solver_note);
  assert_string_equal(of_a.evaluation, of_b.evaluation);
  assert_true(of_a.u_l2 == of_b.u_l2 || of_a.u_l2 != of_a.u_l2);
  fields f = fields_of(ctx, a), g = fields_of(ctx, b);
  assert_same_bits(&f, &g);
  fields_free(&f);
  fields_free(&g);
}

bench bench_of(const sample *s)
{
  bench b = {.ctx = open_backend(test_backend(), 2)};
  must(b.ctx, kedge_mesh_generate(b.ctx, s->generate, &b.mesh));
  b.problem = problem_of(b.ctx, s->settings);
  bench_set_up(&b);
  return b;
}

void refuse(const bench *b, const kedge_data *data, kedge_status status, const char *words)
{
  kedge_solution *solution = NULL;
  assert_int_equal(kedge_solver_solve(b->solver, data, &solution), status);
  assert_null(solution);
  if (!strstr(kedge_context_error(b->ctx), words))
    fail_msg("'%s' is not in '%s'", words, kedge_context_error(b->ctx));
}
