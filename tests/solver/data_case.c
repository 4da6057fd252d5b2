#include "data_case.h"

#include <string.h>

#include "compare.h"
#include "support.h"

const struct grid grids[GRIDS] = {
    {ALL, 1, shaken}, {WHOLE, 1, shaken}, {CHECKERED, 1, shaken}, {CHECKERED, 3, wave}};

static int32_t thirds(int n, int i, int j)
{
  (void)j;
  return 1 + 3 * i / n;
}

kedge_mesh *mesh_of(kedge_context *ctx, const struct grid *g, int n)
{
  return grid_of(ctx, n, g->cut, g->geometry, g->to, thirds);
}

kedge_solution *solve_problem(kedge_context *ctx, const kedge_mesh *mesh,
                              const kedge_problem *problem)
{
  kedge_solution *solution;
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  return solution;
}

void assert_same(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *a,
                 const kedge_problem *b, double tolerance)
{
  kedge_solution *one = solve_problem(ctx, mesh, a), *two = solve_problem(ctx, mesh, b);
  fields of_one = fields_of(ctx, one), of_two = fields_of(ctx, two);
  if (tolerance == 0.0)
    assert_same_bits(&of_one, &of_two);
  else
    assert_at_most(fields_distance(&of_one, &of_two), tolerance);
  fields_free(&of_one);
  fields_free(&of_two);
  kedge_solution_destroy(one);
  kedge_solution_destroy(two);
}

void assert_refused(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                    kedge_status status, const char *words)
{
  const char *const sentence = refusal_of(ctx, mesh, problem, status);
  if (!strstr(sentence, words)) fail_msg("'%s' is not in '%s'", words, sentence);
}
