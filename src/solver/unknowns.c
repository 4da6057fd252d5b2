#include "solver/unknowns.h"

#include <stdlib.h>

#include "core/memory.h"
#include "space/caller_order.h"

/// List the edges that have unknowns, in the order of the mesh's edges.
/// @param[out] unknowns  [free edge]: as kedge_solver.unknowns; NULL: not wanted
/// @param[out] edges     [free edge]: the number of the edge in the mesh; NULL: not wanted
static void list(const kg_elliptic *p, uint32_t *unknowns, int32_t *edges)
{
  int32_t next[KG_SECTION_COUNT];  // trace edges of a section ascend with those of the mesh
  for (int k = 0; k < KG_SECTION_COUNT; ++k)
    next[k] = *kg_section_first(&p->space.cut->layout, (kg_section)k);
  int32_t n = 0;
  for (int32_t edge = 0; edge < p->shape.count.n_edges; ++edge) {
    const kg_section section = (kg_section)p->space.cut->layout.edge_section[edge];
    const int32_t trace = next[section]++;
    if (section == KG_SECTION_DIRICHLET) continue;
    if (edges) edges[n] = edge;
    if (unknowns) unknowns[n] = (uint32_t)trace << 1 | kg_edge_is_turned(p->mesh, edge);
    ++n;
  }
}

kedge_status kg_unknowns_find(kedge_solver *solver)
{
  const kg_elliptic *const p = solver->elliptic;
  if (solver->unknowns) return KEDGE_OK;
  KG_TRY(kg_host_alloc(p->ctx, (size_t)p->shape.count.n_free, sizeof *solver->unknowns,
                       &solver->unknowns));
  list(p, solver->unknowns, NULL);
  return KEDGE_OK;
}

kedge_status kg_unknowns_upload(kedge_solver *solver)
{
  const kg_elliptic *const p = solver->elliptic;
  KG_TRY(kg_unknowns_find(solver));
  if (solver->device_unknowns.data) return KEDGE_OK;
  return kg_upload(p->ctx, solver->unknowns, (size_t)p->shape.count.n_free,
                   sizeof *solver->unknowns, &solver->device_unknowns);
}

void kg_unknowns_forget(kedge_solver *solver, kedge_context *ctx)
{
  kg_free(ctx, &solver->device_unknowns);
  free(solver->unknowns);
  solver->unknowns = NULL;
}

kg_unknowns_args kg_unknowns_taken(const kedge_solver *solver, bool there, const double *unknowns,
                                   double *rows)
{
  return (kg_unknowns_args){.n_edges = solver->elliptic->shape.count.n_free,
                            .m = solver->elliptic->shape.m,
                            .unknown = there ? solver->device_unknowns.data : solver->unknowns,
                            .factor = 1.0,
                            .from = unknowns,
                            .to = rows};
}

kg_unknowns_args kg_unknowns_given(const kedge_solver *solver, bool there, const double *rows,
                                   double *unknowns)
{
  kg_unknowns_args args = kg_unknowns_taken(solver, there, rows, unknowns);
  args.gives = true;
  args.factor = 1.0 / solver->elliptic->equation.scale;
  return args;
}

kedge_status kg_element_order_upload(kedge_solver *s)
{
  if (s->element_order.data) return KEDGE_OK;
  return kg_caller_order_upload(s->elliptic->ctx, s->elliptic->mesh, &s->element_order);
}

kedge_status kedge_solver_edges(const kedge_solver *solver, int32_t *edges)
{
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "kedge_solver_edges: the solver is NULL");
  KG_REQUIRE(solver->elliptic->ctx, edges, KEDGE_ERR_ARG, "kedge_solver_edges: the array is NULL");
  KG_TRY(kg_solver_check(solver, "kedge_solver_edges"));
  list(solver->elliptic, NULL, edges);
  return KEDGE_OK;
}
