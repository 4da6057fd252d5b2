// The stages before the trace solve: transfer and local matrices.
#include <stdlib.h>

#include "core/context.h"
#include "core/memory.h"
#include "ops/facet_sum.h"
#include "ops/local_matrices.h"
#include "ops/trace_arrays.h"
#include "solver/boundary.h"
#include "solver/compact.h"
#include "solver/pipeline.h"
#include "solver/source.h"

static kedge_status put(kg_pipeline *p, kg_array array, const void *host)
{
  if (p->buffers[array].data == NULL) return KEDGE_OK;  // this operator does not have it
  return kg_copy_in(p->ctx, p->buffers[array].data, host, kg_array_bytes(array, &p->shape));
}

/// The mesh's connectivity, and the arrays of the trace that the device makes from it.
static kedge_status put_mesh(kg_pipeline *p)
{
  const kg_trace_counts *count = &p->layout.count;
  const kg_buffer *b = p->buffers;
  size_t bytes;
  const kg_connectivity mesh = kg_connectivity_at(count, b[KG_ARRAY_CONNECTIVITY].data, &bytes);
  KG_TRY(kg_connectivity_put(p->ctx, p->mesh, &p->layout, &mesh));
  KG_TRY(put(p, KG_ARRAY_VERTICES, p->mesh->vertices));
  KG_TRY(put(p, KG_ARRAY_PATCH_EDGE, kg_section_first(&p->layout, KG_SECTION_INSIDE)));
  KG_TRY(put(p, KG_ARRAY_PATCH_HALO, p->layout.patch_halo));
  kg_stage_cost(p, kg_trace_arrays_cost(count), 1.0);
  return kg_trace_arrays_fill(
      p->ctx,
      &(kg_trace_arrays_args){.count = *count,
                              .batches = p->layout.batches,
                              .mesh = mesh,
                              .lanes = {{b[KG_ARRAY_VERTEX].data, b[KG_ARRAY_SIDE_EDGE].data,
                                         b[KG_ARRAY_SIDE_CODES].data}},
                              .edge_sides = b[KG_ARRAY_EDGE_SIDES].data,
                              .patch_halo = b[KG_ARRAY_PATCH_HALO].data,
                              .halo_edge = b[KG_ARRAY_HALO_EDGE].data});
}

static kedge_status put_reference(kg_pipeline *p)
{
  const double *reference;
  KG_TRY(put(p, KG_ARRAY_POINT_RULE, p->sampling.r));
  KG_TRY(put(p, KG_ARRAY_POINT_BASIS, p->sampling.basis));
  KG_TRY(kg_reference_of(p->ctx, p->shape.size.order, &reference));
  return put(p, KG_ARRAY_REFERENCE, reference);
}

kedge_status kg_make_loads(kg_pipeline *p)
{
  const kedge_status status =
      kg_source_loads(p, 0, p->layout.count.n_groups, p->buffers[KG_ARRAY_SOURCE_VALUES],
                      p->buffers[KG_ARRAY_LOAD].data);
  kg_source_rest(&p->source);
  return status;
}

/// Boundary data of the Neumann and Dirichlet sections, for the stages that use them.
static kedge_status make_boundary(kg_pipeline *p)
{
  const kg_trace_counts *n = &p->layout.count;
  const size_t edges = (size_t)(n->n_edges - n->n_free + n->n_neumann);
  KG_TRY(kg_host_alloc(p->ctx, edges * (size_t)p->shape.size.n_edge, sizeof *p->boundary,
                       &p->boundary));
  return kg_sample_boundary(p->ctx, p->mesh, &p->layout, p->problem, &p->resolved, p->boundary);
}

kedge_status kg_stage_transfer(kg_pipeline *p)
{
  KG_TRY(put_mesh(p));
  KG_TRY(put_reference(p));
  if (p->shape.choice.residual != KG_REMADE_WITH_LOADS) KG_TRY(kg_make_loads(p));
  return make_boundary(p);
}

/// The Neumann section is contiguous and small.
kedge_status kg_add_neumann(kg_pipeline *p, double *to, double times)
{
  const size_t n = (size_t)p->layout.count.n_neumann * (size_t)p->shape.size.n_edge;
  if (n == 0) return KEDGE_OK;
  const size_t first =
      (size_t)(p->layout.count.n_free - p->layout.count.n_neumann) * (size_t)p->shape.size.n_edge;
  double *section = to + first;
  double *rows;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *rows, &rows));
  kedge_status status = kg_copy_out(p->ctx, rows, section, n * sizeof *rows);
  if (status == KEDGE_OK) {
    for (size_t i = 0; i < n; ++i) rows[i] += times * p->scale * p->boundary[i];
    status = kg_copy_in(p->ctx, section, rows, n * sizeof *rows);
  }
  free(rows);
  return status;
}

/// The Jacobi preconditioner.
static kedge_status make_diagonal(kg_pipeline *p)
{
  kg_stage_cost(p, kg_facet_sum_cost(p->shape.size, p->layout.count.n_free), 1.0);
  return kg_facet_diagonal(
      p->ctx, &(kg_facet_diagonal_args){.batch = p->batch,
                                        .locals = kg_pipeline_locals(p),
                                        .inverse = p->buffers[KG_ARRAY_INVERSE_DIAGONAL].data});
}

static kedge_status make_local_matrices(kg_pipeline *p)
{
  if (p->shape.choice.iterates == KG_SINGLE) return kg_compact_local_matrices(p);
  return kg_local_matrices(
      p->ctx, &(kg_local_matrices_args){
                  .batch = p->batch,
                  .material = p->material,
                  .load = p->buffers[KG_ARRAY_LOAD].data,
                  .local = kg_pipeline_local(p, kg_shape_local(&p->shape), KG_ARRAY_LOCAL),
                  .condensed = p->buffers[KG_ARRAY_CONDENSED].data});
}

/// b, of F^e and Neumann data.
static kedge_status make_right_hand_side(kg_pipeline *p)
{
  double *b = p->buffers[KG_ARRAY_RIGHT_HAND_SIDE].data;
  kg_stage_cost(p, kg_facet_sum_cost(p->shape.size, p->layout.count.n_free), 1.0);
  KG_TRY(kg_facet_loads(
      p->ctx, &(kg_facet_loads_args){
                  .batch = p->batch, .condensed = p->buffers[KG_ARRAY_CONDENSED].data, .b = b}));
  return kg_add_neumann(p, b, 1.0);
}

kedge_status kg_stage_local_matrices(kg_pipeline *p)
{
  KG_TRY(make_local_matrices(p));
  kg_stage_cost(p,
                kg_local_matrices_cost(p->shape.size, kg_shape_made_local(&p->shape).layout,
                                       p->mesh->n_elements),
                1.0);
  if (p->shape.choice.precond == KG_JACOBI) KG_TRY(make_diagonal(p));
  return p->shape.choice.residual == KG_REMADE_WITH_LOADS ? KEDGE_OK : make_right_hand_side(p);
}
