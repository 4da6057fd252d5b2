// Assembly, which makes of the local matrices what the trace solve needs, and the trace solve.
#include <math.h>
#include <stdio.h>

#include "core/context.h"
#include "multigrid/bound.h"
#include "ops/ell.h"
#include "ops/pcg_vectors.h"
#include "ops/rounding.h"
#include "solver/cg.h"
#include "solver/compact.h"
#include "solver/pipeline.h"

static kg_ell_matrix ell_matrix(const kg_pipeline *p)
{
  kg_ell_matrix matrix = kg_ell_shape(p->shape.size, &p->shape.count);
  matrix.column = p->buffers[KG_ARRAY_ELL_COLUMN].data;
  matrix.value = p->buffers[KG_ARRAY_ELL_VALUE].data;
  return matrix;
}

static kedge_status expand(kg_pipeline *p)
{
  kg_stage_cost(p, kg_trace_expand_cost(p->shape.size, &p->shape.count), 1.0);
  return kg_trace_expand(p->ctx,
                         &(kg_trace_expand_args){.batch = p->batch,
                                                 .local = p->buffers[KG_ARRAY_LOCAL].data,
                                                 .full = p->buffers[KG_ARRAY_FULL_LOCAL].data});
}

static kedge_status make_multigrid(kg_pipeline *p)
{
  const kg_multigrid_args args = {
      .shape = kg_shape_multigrid(&p->shape),
      .batch = p->batch,
      .local = {p->buffers[KG_ARRAY_LOCAL].data, kg_shape_local(&p->shape),
                kg_shape_form(&p->shape), p->batch.arrays.side_edge},
      .lines = &p->lines,
      .solver = &kg_amg,
      .refined = p->refined,
      .trace = p->buffers[KG_ARRAY_MULTIGRID_TRACE].data,
      .space = p->buffers[KG_ARRAY_MULTIGRID_SPACE].data,
      .work = p->buffers[KG_ARRAY_MULTIGRID_WORK].data,
      .work_bytes = p->shape.multigrid_work_bytes,
      .coarse = p->buffers[KG_ARRAY_MULTIGRID_COARSE].data,
      .coarse_bytes = p->buffers[KG_ARRAY_MULTIGRID_COARSE].bytes};
  kedge_report *r = &p->solution->report;
  const double began = kg_seconds();
  KG_TRY(kg_multigrid_create(p->ctx, &args, &p->multigrid));
  KG_TRY(kg_sync(p->ctx));
  r->setup_seconds = kg_seconds() - began;
  kg_edge_lines_free(&p->lines);
  r->smoother = kedge_smoother_name(p->shape.smoother);
  r->smoothing_steps = p->shape.smoothing_steps;
  r->multigrid_levels = kg_multigrid_levels(&p->multigrid);
  kg_stage_cost(p, kg_multigrid_create_cost(&args.shape), 1.0);
  return KEDGE_OK;
}

/// The operator in another form than packed local matrices; multigrid.
kedge_status kg_stage_assembly(kg_pipeline *p)
{
  if (p->shape.operator_kind == KEDGE_OPERATOR_MATRIX_FREE)
    return kg_shape_has_multigrid(&p->shape) ? make_multigrid(p) : KEDGE_OK;
  if (p->shape.operator_kind == KEDGE_OPERATOR_MATRIX_FREE_PLAIN) return expand(p);
  kg_stage_cost(p, kg_ell_assemble_cost(p->shape.size, &p->shape.count), 1.0);
  return kg_ell_assemble(p->ctx, &(kg_ell_assemble_args){.batch = p->batch,
                                                         .local = p->buffers[KG_ARRAY_LOCAL].data,
                                                         .matrix = ell_matrix(p),
                                                         .work = p->buffers[KG_ARRAY_ELL_WORK].data,
                                                         .work_bytes = p->shape.ell_work_bytes});
}

/// x: zero, but the Dirichlet values in their rows; p, and with multigrid z: zero.
static kedge_status start_vectors(kg_pipeline *p)
{
  const kg_trace_counts *n = &p->layout.count;
  const size_t m = (size_t)p->shape.size.n_edge;
  kg_buffer *x = &p->buffers[KG_ARRAY_TRACE], *direction = &p->buffers[KG_ARRAY_DIRECTION];
  kg_buffer *z = &p->buffers[KG_ARRAY_PRECONDITIONED];
  KG_TRY(kg_zero(p->ctx, x->data, x->bytes));
  KG_TRY(kg_zero(p->ctx, direction->data, direction->bytes));
  if (kg_shape_has_multigrid(&p->shape) && z->data) KG_TRY(kg_zero(p->ctx, z->data, z->bytes));
  return kg_copy_in(p->ctx, (double *)x->data + (size_t)n->n_free * m,
                    p->boundary + (size_t)n->n_neumann * m,
                    (size_t)(n->n_edges - n->n_free) * m * sizeof(double));
}

static kg_trace_operator trace_operator(const kg_pipeline *p)
{
  return (kg_trace_operator){
      .kind = p->shape.operator_kind,
      .partial = p->buffers[KG_ARRAY_OPERATOR_PARTIAL].data,
      .matrix_free = {.batch = p->batch,
                      .local = p->buffers[KG_ARRAY_LOCAL].data,
                      .number = kg_shape_local(&p->shape),
                      .differences = kg_shape_form(&p->shape) == KG_LOCAL_DIFFERENCES,
                      .reduced = kg_shape_reduces(&p->shape),
                      .halo = p->buffers[KG_ARRAY_HALO].data,
                      .pass.sum.part = p->buffers[KG_ARRAY_OPERATOR_PARTIAL].data},
      .plain = {.batch = p->batch, .full = p->buffers[KG_ARRAY_FULL_LOCAL].data},
      .ell = {.matrix = ell_matrix(p)},
  };
}

static kg_cost operator_cost(const kg_pipeline *p)
{
  const kg_shape *s = &p->shape;
  if (s->operator_kind == KEDGE_OPERATOR_MATRIX_FREE_PLAIN)
    return kg_trace_plain_cost(s->size, &s->count);
  if (s->operator_kind == KEDGE_OPERATOR_ELL) return kg_ell_apply_cost(s->size, &s->count);
  return kg_trace_apply_cost(s->size, &s->count, kg_shape_reduces(s), kg_shape_local(s));
}

/// What making a residual from x costs, but for the vectors beside the product.
static kg_cost residual_cost(const kg_pipeline *p)
{
  if (!kg_shape_is_compact(&p->shape)) return operator_cost(p);
  return kg_compact_start_cost(&p->shape);
}

/// What an iteration does beside its product A p.
static kg_cost iteration_cost(const kg_pipeline *p, int64_t n)
{
  if (!kg_shape_has_multigrid(&p->shape)) return kg_cg_vectors_cost(n);
  const kg_multigrid_shape shape = kg_shape_multigrid(&p->shape);
  const kg_cost vectors = kg_pcg_vectors_cost(n, kg_shape_local(&p->shape));
  const kg_cost cycle = kg_multigrid_apply_cost(&shape);
  return kg_cost_plus(vectors, 1, cycle);
}

/// The last part of making the preconditioner, with the vectors of the iteration as work. With
/// precision = compact the residual in double precision, which lies over p, is made in x.
static kedge_status measure_smoother(kg_pipeline *p, const kg_trace_apply_args *op,
                                     const kg_cg_vectors_args *vectors)
{
  const double began = kg_seconds();
  const kg_buffer *x = &p->buffers[KG_ARRAY_TRACE], *direction = &p->buffers[KG_ARRAY_DIRECTION];
  KG_TRY(kg_zero(p->ctx, x->data, x->bytes));
  KG_TRY(kg_zero(p->ctx, direction->data, direction->bytes));
  kg_cg_vectors_args work = *vectors;
  if (kg_shape_is_compact(&p->shape)) work.r = work.x;
  KG_TRY(kg_multigrid_bound(p->ctx, &p->multigrid, op, &work, &p->multigrid.largest_eigenvalue));
  kg_stage_cost(p, kg_multigrid_bound_cost(&p->multigrid.shape), 1.0);
  p->solution->report.setup_seconds += kg_seconds() - began;
  return KEDGE_OK;
}

static kg_cg_vectors_args cg_vectors(const kg_pipeline *p)
{
  const kg_buffer *b = p->buffers;
  kg_cg_vectors_args vectors = {.n = (int64_t)p->layout.count.n_free * p->shape.size.n_edge,
                                .inverse = b[KG_ARRAY_INVERSE_DIAGONAL].data,
                                .b = b[KG_ARRAY_RIGHT_HAND_SIDE].data,
                                .x = b[KG_ARRAY_TRACE].data,
                                .z = b[KG_ARRAY_PRECONDITIONED].data,
                                .z_single = p->multigrid.single.z,
                                .p = b[KG_ARRAY_DIRECTION].data,
                                .r = b[KG_ARRAY_RESIDUAL].data,
                                .ap = b[KG_ARRAY_PRODUCT].data,
                                .partial = b[KG_ARRAY_VECTOR_PARTIAL].data,
                                .state = b[KG_ARRAY_CG_STATE].data};
  if (kg_shape_is_compact(&p->shape)) kg_compact_vectors(p, &vectors);
  return vectors;
}

/// Memory for the vectors below the trace (solver/arrays.h).
static kedge_status lend_vectors(kg_pipeline *p, const kg_cg_vectors_args *v)
{
  const kg_multigrid_shape shape = kg_shape_multigrid(&p->shape);
  void *const product = kg_shape_is_compact(&p->shape) ? (void *)v->ap_single : v->ap;
  void *const unused = shape.reduced && !kg_shape_is_mixed(&p->shape) ? v->z_single : product;
  return kg_multigrid_lend(
      p->ctx, &p->multigrid, p->buffers[KG_ARRAY_HALO],
      kg_shape_lends_vector(&p->shape) ? unused : p->buffers[KG_ARRAY_MULTIGRID_VECTORS].data,
      kg_multigrid_vector_bytes(&shape, &kg_amg));
}

/// The trace matrix is made of numbers of the size of the stabilization tau; what couples the edges
/// is of the size of diffusion / h, or of reaction * h.
static double stabilization_ratio(const kg_pipeline *p)
{
  const kg_material *k = &p->material;
  const double h = sqrt(kg_mean_square(p->mesh));
  const double scale[] = {
      [KEDGE_SCALING_ONE] = 1.0, [KEDGE_SCALING_H] = h, [KEDGE_SCALING_INVERSE_H] = 1.0 / h};
  const double tau = k->stabilization * scale[k->scaling];
  return tau * h / (k->diffusion + k->reaction * h * h);
}

/// An estimate of |A x_0|: diffusion times |x_0|, of the Dirichlet values. It leaves out Neumann
/// data, though a flux is a layer at the boundary too, and the part of A that the reaction and the
/// stabilization make. That is harmless: an estimate that is too small makes the first iteration
/// solve the coarse system well without need, which is one iteration more or less, to the same
/// tolerance (docs/multigrid.md#the-first-iteration).
static double boundary_residual(const kg_pipeline *p)
{
  const kg_trace_counts *n = &p->layout.count;
  const size_t m = (size_t)p->shape.size.n_edge;
  const double *values = p->boundary + (size_t)n->n_neumann * m;
  double sum = 0.0;
  for (size_t i = 0; i < (size_t)(n->n_edges - n->n_free) * m; ++i) sum += values[i] * values[i];
  return p->material.diffusion * sqrt(sum);
}

static kedge_status report_solve(kg_pipeline *p, const kg_cg_result *result, int64_t n)
{
  kedge_solution *s = p->solution;
  s->report.iterations = result->iterations;
  s->report.start_residual = result->start_residual;
  s->report.relative_residual = result->relative_residual;
  s->report.rounding_residual = result->rounding_residual;
  s->report.stop = result->stop;
  s->report.converged = result->converged;
  snprintf(s->note, sizeof s->note, "%s", result->note);
  if (result->converged) KG_TRY(kg_note_input(p, result->start_residual));
  KG_TRY(kg_note_contradiction(p));
  s->report.operator_bytes = (int64_t)operator_cost(p).bytes;
  kg_stage_cost(p, operator_cost(p), (double)result->iterations);
  kg_stage_cost(p, iteration_cost(p, n), (double)result->iterations);
  kg_stage_cost(p, kg_cost_plus(kg_rounding_cost(n), 1, operator_cost(p)), result->roundings);
  kg_stage_cost(p, residual_cost(p), result->residuals);
  if (kg_shape_is_compact(&p->shape)) s->report.refinements = result->starts;
  return KEDGE_OK;
}

kedge_status kg_stage_trace_solve(kg_pipeline *p)
{
  const bool multigrid = kg_shape_has_multigrid(&p->shape);
  const kg_trace_operator op = trace_operator(p);
  const kg_cg_vectors_args vectors = cg_vectors(p);
  kg_compact compact = {.pipeline = p, .vectors = &vectors};
  const kg_cg_refinement refinement = {kg_compact_start, &compact, KG_COMPACT_GAIN};
  const kg_cg_settings settings = {
      .tolerance = p->problem->tolerance,
      .accepts_rounding = p->problem->accepts_rounding,
      .stabilization_ratio = stabilization_ratio(p),
      .boundary_residual = boundary_residual(p),
      .max_iterations = p->problem->max_iterations,
      .n_elements = p->mesh->n_elements,
      .multigrid = multigrid ? &p->multigrid : NULL,
      .resident_work = p->buffers[KG_ARRAY_CG_RESIDENT].data,
      .refinement = kg_shape_is_compact(&p->shape) ? &refinement : NULL};
  if (multigrid) KG_TRY(lend_vectors(p, &vectors));
  if (multigrid && kg_multigrid_is_measured(&p->multigrid.shape))
    KG_TRY(measure_smoother(p, &op.matrix_free, &vectors));
  KG_TRY(start_vectors(p));
  KG_TRY(kg_zero(p->ctx, vectors.state, sizeof *vectors.state));
  kg_cg_result result;
  const kedge_status status = kg_cg_solve(p->ctx, &op, &vectors, settings, &result);
  kg_source_rest(&p->source);
  KG_TRY(status);
  kg_multigrid_destroy(p->ctx, &p->multigrid);
  return report_solve(p, &result, vectors.n);
}
