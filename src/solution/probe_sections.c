// Probes of problem files.
#include <stdlib.h>

#include "kedge/probe.h"
#include "problem/problem.h"

kedge_status kedge_problem_probe_create(kedge_context *ctx, const kedge_mesh *mesh,
                                        const kedge_problem *problem, int index, kedge_probe **out)
{
  KG_REQUIRE(ctx, out, KEDGE_ERR_ARG, "kedge_problem_probe_create: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh && problem, KEDGE_ERR_ARG,
             "kedge_problem_probe_create: context, mesh or problem is NULL");
  KG_REQUIRE(ctx, index >= 0 && index < problem->n_probes, KEDGE_ERR_ARG,
             "kedge_problem_probe_create: index is %d and there are %d probes", index,
             problem->n_probes);
  const kg_probe *const p = &problem->probes[index];
  KG_REQUIRE(ctx, p->at, KEDGE_ERR_INPUT, "[probe %s] has no points; set points, line or file",
             p->name);
  int64_t n;
  double *x = NULL, *y = NULL;
  kedge_status status = kg_probe_points(ctx, p, &n, &x, &y);
  if (status == KEDGE_OK) status = kedge_probe_create(ctx, mesh, n, x, y, out);
  free(x);
  free(y);
  return kg_probe_blame(ctx, problem, p, status);
}
