// The data of a solve: load vectors, and boundary data.
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "elliptic/compact.h"

static kedge_status make_loads(kg_elliptic *p)
{
  const kg_buffer values = kg_plan_buffer(&p->plan, &p->arrays.source.values);
  kg_source *const source = &p->source;
  const bool moves = kg_source_moves(source);
  const int32_t all = p->shape.count.n_groups;
  kedge_status status = KEDGE_OK;
  if (moves) kg_source_look(source);
  for (kg_chunk c = {0}; status == KEDGE_OK && kg_next_chunk(p, all, &c);)
    status = kg_source_loads(source, c.batch, 0, c.n, values,
                             kg_elliptic_rows(p, p->arrays.load, KG_ROWS_MODES, &c));
  if (moves && status == KEDGE_OK) status = kg_source_refine(source, &p->loads_left);
  for (kg_chunk c = {0}; moves && status == KEDGE_OK && kg_next_chunk(p, all, &c);)
    status = kg_source_patch(source, c.batch, 0, c.n,
                             kg_elliptic_rows(p, p->arrays.load, KG_ROWS_MODES, &c));
  kg_sampler_rest(&source->sampler);
  const kg_moving *const moving = p->data.moving;
  if (!moving || status != KEDGE_OK) return status;
  return kg_mass_add_all(&p->rules, moving->mass, p->equation.scale * moving->factor, moving->base,
                         p->arrays.load);
}

void kg_boundary_note(kg_elliptic *p, const kg_boundary_moves *moves)
{
  kg_loads_left *const left = &p->loads_left;
  p->run.solution->report.refined_facets += moves->n;
  left->moved = fmax(left->moved, moves->moved);
  if (moves->left <= left->boundary) return;
  left->boundary = moves->left;
  for (int k = 0; k < 3; ++k) left->boundary_at[k] = moves->left_at[k];
}

kedge_status kg_stage_loads(kg_elliptic *p)
{
  const kg_trace_counts *n = &p->shape.count;
  const size_t edges = (size_t)(n->n_edges - n->n_free + n->n_neumann);
  kg_boundary_moves moves = {0};
  p->loads_left = (kg_loads_left){0};
  kg_source_open(&p->source, p->data.resolved, p->data.gives_source, p->data.origin);
  KG_TRY(p->shape.choice.iterates == KG_DOUBLE ? make_loads(p) : kg_compact_look(p));
  KG_TRY(kg_source_judge(&p->source, &p->loads_left));
  // Boundary data of the Neumann and Dirichlet sections, for the stages that use them.
  if (!p->boundary)
    KG_TRY(kg_host_alloc(p->ctx, edges * (size_t)p->shape.m, sizeof *p->boundary, &p->boundary));
  KG_TRY(kg_sample_boundary(p->ctx, p->mesh, &p->space.cut->layout, p->equation.problem,
                            p->data.resolved, p->boundary, &moves));
  kg_boundary_note(p, &moves);
  return KEDGE_OK;
}

/// The Neumann section is contiguous and small.
kedge_status kg_add_neumann(kg_elliptic *p, double *to, double times)
{
  const size_t m = (size_t)p->shape.m, n = (size_t)p->shape.count.n_neumann * m;
  double *const section = to + (size_t)p->shape.count.n_free * m - n, *rows;
  if (n == 0) return KEDGE_OK;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *rows, &rows));
  kedge_status status = kg_copy_out(p->ctx, rows, section, n * sizeof *rows);
  if (status == KEDGE_OK) {
    for (size_t i = 0; i < n; ++i) rows[i] += times * p->equation.scale * p->boundary[i];
    status = kg_copy_in(p->ctx, section, rows, n * sizeof *rows);
  }
  free(rows);
  return status;
}
