#include "memory_case.h"

#include "compare.h"
#include "support.h"

kedge_problem *dirichlet(kedge_context *ctx, const char *order, const char *op)
{
  return problem_of(
      ctx, SETTINGS({"space", "order", order}, {"exact", "u", "x*y"},
                    {"boundary default", "type", "dirichlet"}, {"solver", "operator", op},
                    {"solver", "preconditioner", "jacobi"}, {"solver", "max_iterations", "2"}));
}

kg_shape shape_of(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem)
{
  kg_elliptic p = {.ctx = ctx, .mesh = mesh, .equation.problem = problem};
  must(ctx, kg_elliptic_prepare(&p));
  const kg_shape shape = p.shape;
  kg_elliptic_free(&p);
  return shape;
}
