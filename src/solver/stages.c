// What happens inside King's stages.
#include <math.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/memory.h"
#include "ops/edge_sum.h"
#include "multigrid/bound.h"
#include "ops/ell.h"
#include "ops/load_vectors.h"
#include "ops/local_matrices.h"
#include "ops/local_reduced.h"
#include "ops/pcg_vectors.h"
#include "ops/rounding.h"
#include "ops/trace_arrays.h"
#include "solver/cg.h"
#include "solver/compact.h"
#include "solver/pipeline.h"
#include "solver/sampler.h"

static kedge_status put(kg_pipeline *p, kg_array array, const void *host, size_t bytes)
{
  if (p->buffers[array].data == NULL) return KEDGE_OK;  // this operator does not have it
  return kg_copy_in(p->ctx, p->buffers[array].data, host, bytes);
}

/// The mesh's connectivity, and the arrays of the trace that the device makes from it.
static kedge_status put_mesh(kg_pipeline *p)
{
  const kg_trace_counts *count = &p->layout.count;
  const kg_buffer *b = p->buffers;
  size_t bytes;
  const kg_connectivity mesh = kg_connectivity_at(count, b[KG_ARRAY_CONNECTIVITY].data, &bytes);
  KG_TRY(kg_connectivity_put(p->ctx, p->mesh, &p->layout, &mesh));
  const struct {
    kg_array array;
    const void *from;
  } copies[] = {
      {KG_ARRAY_VERTICES, p->mesh->vertices},
      {KG_ARRAY_PATCH_EDGE, kg_section_first(&p->layout, KG_SECTION_INSIDE)},
      {KG_ARRAY_PATCH_HALO, p->layout.patch_halo},
  };
  for (size_t i = 0; i < sizeof copies / sizeof *copies; ++i)
    KG_TRY(put(p, copies[i].array, copies[i].from, kg_array_bytes(copies[i].array, &p->shape)));
  kg_stage_cost(p, kg_trace_arrays_cost(count), 1.0);
  return kg_trace_arrays_fill(p->ctx,
                              &(kg_trace_arrays_args){.count = *count,
                                                      .mesh = mesh,
                                                      .vertex = b[KG_ARRAY_VERTEX].data,
                                                      .side_edge = b[KG_ARRAY_SIDE_EDGE].data,
                                                      .edge_sides = b[KG_ARRAY_EDGE_SIDES].data,
                                                      .side_codes = b[KG_ARRAY_SIDE_CODES].data,
                                                      .patch_halo = b[KG_ARRAY_PATCH_HALO].data,
                                                      .halo_edge = b[KG_ARRAY_HALO_EDGE].data});
}

static kedge_status put_reference(kg_pipeline *p)
{
  const struct {
    kg_array array;
    const void *from;
  } copies[] = {
      {KG_ARRAY_POINT_RULE, p->sampling.r},
      {KG_ARRAY_POINT_BASIS, p->sampling.basis},
  };
  for (size_t i = 0; i < sizeof copies / sizeof *copies; ++i)
    KG_TRY(put(p, copies[i].array, copies[i].from, kg_array_bytes(copies[i].array, &p->shape)));
  const double *reference;
  KG_TRY(kg_reference_of(p->ctx, p->shape.size.order, &reference));
  return put(p, KG_ARRAY_REFERENCE, reference, kg_array_bytes(KG_ARRAY_REFERENCE, &p->shape));
}

kedge_status kg_make_loads(kg_pipeline *p)
{
  const kg_function *const source = &p->resolved.source;
  if (source->kind == KG_FUNCTION_NONE)
    return kg_zero(p->ctx, p->buffers[KG_ARRAY_LOAD].data, p->buffers[KG_ARRAY_LOAD].bytes);
  const char *const name =
      p->resolved.owns_source ? "source, derived from u of [exact]," : "source";
  kg_sampler sampler =
      kg_sampler_of(p, "source", KG_SAMPLE_LOADS, (kg_sample_set){1, &source, &name});
  kedge_status status = KEDGE_OK;
  const int32_t n_groups = p->layout.count.n_groups, chunk = p->shape.chunk_groups;
  for (int32_t first = 0; first < n_groups && status == KEDGE_OK; first += chunk)
    status = kg_sampler_loads(&sampler, first, n_groups - first < chunk ? n_groups - first : chunk);
  kg_sampler_close(&sampler);
  kg_stage_cost(p, kg_load_vectors_cost(p->shape.size, p->sampling.n, p->mesh->n_elements), 1.0);
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
  KG_TRY(kg_make_loads(p));
  return make_boundary(p);
}

/// b += <g_N, psi>: the Neumann section is contiguous and small.
static kedge_status add_neumann(kg_pipeline *p)
{
  const size_t n = (size_t)p->layout.count.n_neumann * (size_t)p->shape.size.n_edge;
  if (n == 0) return KEDGE_OK;
  const size_t first =
      (size_t)(p->layout.count.n_free - p->layout.count.n_neumann) * (size_t)p->shape.size.n_edge;
  double *section = (double *)p->buffers[KG_ARRAY_RIGHT_HAND_SIDE].data + first;
  double *rows;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *rows, &rows));
  kedge_status status = kg_copy_out(p->ctx, rows, section, n * sizeof *rows);
  if (status == KEDGE_OK) status = kg_sync(p->ctx);
  if (status == KEDGE_OK) {
    for (size_t i = 0; i < n; ++i) rows[i] += p->boundary[i];
    status = kg_copy_in(p->ctx, section, rows, n * sizeof *rows);
  }
  free(rows);
  return status;
}

/// The Jacobi preconditioner.
static kedge_status make_diagonal(kg_pipeline *p)
{
  const kg_sizes z = p->shape.size;
  kg_stage_cost(p, kg_edge_sum_cost(z, p->layout.count.n_free), 1.0);
  return kg_edge_sum(p->ctx, &(kg_edge_sum_args){.batch = p->batch,
                                                 .rows = p->buffers[KG_ARRAY_LOCAL].data,
                                                 .width = z.n_packed,
                                                 .diagonal = true,
                                                 .y = p->buffers[KG_ARRAY_INVERSE_DIAGONAL].data});
}

static kedge_status make_local_matrices(kg_pipeline *p)
{
  if (kg_shape_is_compact(&p->shape)) return kg_compact_local_matrices(p);
  return kg_local_matrices(
      p->ctx, &(kg_local_matrices_args){.batch = p->batch,
                                        .material = p->material,
                                        .load = p->buffers[KG_ARRAY_LOAD].data,
                                        .local = p->buffers[KG_ARRAY_LOCAL].data,
                                        .condensed = p->buffers[KG_ARRAY_CONDENSED].data});
}

kedge_status kg_stage_local_matrices(kg_pipeline *p)
{
  const kg_sizes z = p->shape.size;
  KG_TRY(make_local_matrices(p));
  KG_TRY(kg_edge_sum(p->ctx, &(kg_edge_sum_args){.batch = p->batch,
                                                 .rows = p->buffers[KG_ARRAY_CONDENSED].data,
                                                 .width = z.n_trace,
                                                 .y = p->buffers[KG_ARRAY_RIGHT_HAND_SIDE].data}));
  kg_stage_cost(p, kg_local_matrices_cost(z, p->mesh->n_elements), 1.0);
  kg_stage_cost(p, kg_edge_sum_cost(z, p->layout.count.n_free), 1.0);
  if (!kg_shape_has_multigrid(&p->shape)) KG_TRY(make_diagonal(p));
  return add_neumann(p);
}

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
  const kg_multigrid_args args = {.shape = kg_shape_multigrid(&p->shape),
                                  .batch = p->batch,
                                  .local = {p->buffers[KG_ARRAY_LOCAL].data,
                                            kg_shape_local(&p->shape), kg_shape_form(&p->shape)},
                                  .lines = &p->lines,
                                  .solver = kg_coarse_table_of(p->shape.coarse_solver),
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
  if (p->shape.smoothing_steps > 0)
    r->coarse_solver = kedge_coarse_solver_name(p->shape.coarse_solver);
  r->smoothing_steps = p->shape.smoothing_steps;
  r->multigrid_levels = kg_multigrid_levels(&p->multigrid);
  kg_stage_cost(p, kg_multigrid_create_cost(&args.shape), 1.0);
  return KEDGE_OK;
}

/// Matrices and preconditioner of the start, after those of the solve.
static kedge_status make_nested(kg_pipeline *p)
{
  kg_stage_cost(p, kg_nested_create_cost(&p->shape), 1.0);
  return kg_nested_create(
      p->ctx,
      &(kg_nested_args){.shape = &p->shape,
                        .batch = p->batch,
                        .local = p->buffers[KG_ARRAY_LOCAL].data,
                        .inverse_diagonal = p->buffers[KG_ARRAY_INVERSE_DIAGONAL].data,
                        .multigrid = &p->multigrid,
                        .memory = p->buffers[KG_ARRAY_NESTED].data,
                        .work = p->buffers[KG_ARRAY_MULTIGRID_WORK].data},
      &p->nested);
}

/// From here on there is room behind K^e (solver/places.h).
static kedge_status reduce(kg_pipeline *p)
{
  kg_stage_cost(p, kg_local_reduce_cost(p->shape.size, p->mesh->n_elements, KG_DOUBLE), 1.0);
  KG_TRY(kg_local_reduce_in_place(p->ctx, &p->batch, p->buffers[KG_ARRAY_LOCAL].data));
  kg_arrays_reduced(p->ctx, &p->shape, p->buffers);
  return KEDGE_OK;
}

/// The operator in another form than packed local matrices; multigrid and a start from a lower order.
kedge_status kg_stage_assembly(kg_pipeline *p)
{
  if (p->shape.operator_kind == KEDGE_OPERATOR_MATRIX_FREE) {
    if (kg_shape_reduces_in_place(&p->shape)) KG_TRY(reduce(p));
    if (kg_shape_has_multigrid(&p->shape)) KG_TRY(make_multigrid(p));
    return kg_shape_is_nested(&p->shape) ? make_nested(p) : KEDGE_OK;
  }
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
      .matrix_free = {.batch = p->batch,
                      .local = p->buffers[KG_ARRAY_LOCAL].data,
                      .number = kg_shape_local(&p->shape),
                      .differences = kg_shape_form(&p->shape) == KG_LOCAL_DIFFERENCES,
                      .reduced = kg_shape_reduces(&p->shape),
                      .halo = p->buffers[KG_ARRAY_HALO].data,
                      .partial = p->buffers[KG_ARRAY_OPERATOR_PARTIAL].data},
      .plain = {.batch = p->batch,
                .full = p->buffers[KG_ARRAY_FULL_LOCAL].data,
                .partial = p->buffers[KG_ARRAY_OPERATOR_PARTIAL].data},
      .ell = {.matrix = ell_matrix(p), .partial = p->buffers[KG_ARRAY_OPERATOR_PARTIAL].data},
  };
}

static kg_cost operator_cost(const kg_pipeline *p)
{
  static kg_cost (*const cost[])(kg_sizes, const kg_trace_counts *) = {
      [KEDGE_OPERATOR_MATRIX_FREE] = kg_trace_apply_cost,
      [KEDGE_OPERATOR_MATRIX_FREE_PLAIN] = kg_trace_plain_cost,
      [KEDGE_OPERATOR_ELL] = kg_ell_apply_cost};
  kg_cost sum = kg_shape_reduces(&p->shape)
                    ? kg_trace_apply_cost_reduced(p->shape.size, &p->shape.count)
                    : cost[p->shape.operator_kind](p->shape.size, &p->shape.count);
  if (kg_shape_is_compact(&p->shape)) sum.bytes /= 2;  // single precision
  return sum;
}

/// What making a residual from x costs, but for the vectors beside the product.
static kg_cost residual_cost(const kg_pipeline *p)
{
  if (!kg_shape_is_compact(&p->shape)) return operator_cost(p);
  return kg_compact_start_cost(p->shape.size, &p->shape.count);
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

/// The last part of making the preconditioner, with the vectors of the iteration as work. With precision =
/// compact the residual in double precision, which lies over p, is made in x.
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

static void report_solve(kg_pipeline *p, const kg_cg_result *result, int64_t n)
{
  kedge_solution *s = p->solution;
  s->report.iterations = result->iterations;
  s->report.start_order = p->shape.start_order;
  s->report.start_iterations = p->nested.iterations;
  s->report.start_seconds = p->nested.seconds;
  s->report.start_residual = result->start_residual;
  s->report.relative_residual = result->relative_residual;
  s->report.rounding_residual = result->rounding_residual;
  s->report.stop = result->stop;
  s->report.converged = result->converged;
  for (size_t i = 0; i < sizeof result->note && i < sizeof s->note; ++i)
    s->note[i] = result->note[i];
  s->report.operator_bytes = (int64_t)operator_cost(p).bytes;
  kg_stage_cost(p, operator_cost(p), (double)result->iterations);
  kg_stage_cost(p, iteration_cost(p, n), (double)result->iterations);
  if (kg_shape_is_nested(&p->shape)) kg_stage_cost(p, kg_nested_cost(&p->nested), 1.0);
  kg_stage_cost(p, kg_cost_plus(kg_rounding_cost(n), 1, operator_cost(p)), result->roundings);
  kg_stage_cost(p, residual_cost(p), result->residuals);
  if (kg_shape_is_compact(&p->shape)) s->report.refinements = result->starts;
}

kedge_status kg_stage_trace_solve(kg_pipeline *p)
{
  const bool multigrid = kg_shape_has_multigrid(&p->shape);
  const kg_trace_operator op = trace_operator(p);
  const kg_cg_vectors_args vectors = cg_vectors(p);
  kg_compact compact = {p, &vectors};
  const kg_cg_refinement refinement = {kg_compact_start, &compact, KG_COMPACT_GAIN};
  const kg_cg_settings settings = {
      .tolerance = p->problem->tolerance,
      .accepts_rounding = p->problem->accepts_rounding,
      .max_iterations = p->problem->max_iterations,
      .n_elements = p->mesh->n_elements,
      .n_unknowns = vectors.n,
      .improve = kg_shape_is_nested(&p->shape) ? kg_nested_improve : NULL,
      .improve_user = &p->nested,
      .multigrid = multigrid ? &p->multigrid : NULL,
      .resident_work = p->buffers[KG_ARRAY_CG_RESIDENT].data,
      .refinement = kg_shape_is_compact(&p->shape) ? &refinement : NULL};
  if (multigrid && kg_multigrid_is_measured(&p->multigrid.shape))
    KG_TRY(measure_smoother(p, &op.matrix_free, &vectors));
  if (kg_shape_is_nested(&p->shape))
    kg_nested_prepare(&p->nested, &p->multigrid, &vectors, &settings);
  KG_TRY(start_vectors(p));
  KG_TRY(kg_zero(p->ctx, vectors.state, sizeof *vectors.state));
  kg_cg_result result;
  KG_TRY(kg_cg_solve(p->ctx, &op, &vectors, settings, &result));
  kg_multigrid_destroy(p->ctx, &p->multigrid);
  report_solve(p, &result, vectors.n);
  return KEDGE_OK;
}
