// The stages before the trace solve: transfer and local matrices.
#include <math.h>
#include <stdlib.h>

#include "device/context.h"
#include "core/memory.h"
#include "ops/sample/points.h"
#include "ops/trace/facet_sum.h"
#include "integrals/boundary.h"
#include "elliptic/cells.h"
#include "elliptic/compact.h"
#include "elliptic/materials.h"
#include "elliptic/elliptic.h"

void kg_transfer_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const kg_choice *c = &s->choice;
  const size_t d = sizeof(double);
  const unsigned all = KG_FROM(TRANSFER, RECOVER), solve = KG_IN_SOLVE;
  const bool compact = c->iterates == KG_SINGLE;  // whose loads are a chunk's (elliptic/compact.h)
  unsigned edge_sides = KG_IN(TRANSFER) | KG_IN(LOCAL);
  if (c->precond != KG_JACOBI) edge_sides |= KG_FROM(ASSEMBLY, LEVELS);
  if (c->facet_sides_stay || c->linear == KEDGE_OPERATOR_MATRIX_FREE_PLAIN)
    edge_sides |= KG_FROM(ASSEMBLY, LEVELS) | solve;
  const unsigned sampled = c->repeats ? KG_IN(LOADS) : KG_IN(TRANSFER);
  unsigned load = sampled | KG_IN(LOCAL), values = compact ? 0 : sampled;
  if (c->repeats) load |= KG_IN(CONDENSE);
  if (c->loads_stay) load |= c->repeats ? KG_FROM(BOUND, RECOVER) : all;
  if (!c->loads_stay) values |= KG_IN(RECOVER);
  kg_space_declare(plan, &s->count, s->n_vertices,
                   &(kg_space_use){.making = KG_IN(TRANSFER),
                                   .all = all,
                                   .sides = c->sides_stay ? all : all & ~solve,
                                   .edge_sides = edge_sides,
                                   .has_patches = c->linear == KEDGE_OPERATOR_MATRIX_FREE,
                                   .has_regions = c->reads_regions},
                   &a->space);
  kg_plan_array(plan, "reference", kg_reference_count(s->size.order), d, all, &a->reference);
  const int rows[KG_SAMPLE_KINDS] = {kg_point_rows(s->size.order), s->fast_exact_rows};
  for (int k = 0; k < KG_SAMPLE_KINDS; ++k) {
    kg_plan_array(plan, "points", 3 * (size_t)kg_points_count(rows[k]), d, all, &a->point_rule[k]);
    kg_plan_array(plan, "modes at points", kg_points_table(s->size, rows[k]), d, all,
                  &a->point_basis[k]);
  }
  kg_cells_declare(plan, s, a);
  kg_materials_declare(plan, s, a);
  kg_plan_array(plan, "load vectors",
                compact ? 0 : kg_shape_numbers(s, KG_ROWS_MODES, s->n_batches), d, load | KG_ANEW,
                &a->load);
  kg_plan_array(plan, "rough loads", (size_t)s->count.n_groups * KG_LANES, 1, sampled, &a->rough);
  kg_plan_array(plan, "values of the source",
                values ? (size_t)kg_shape_source_points(s) * kg_shape_chunk_lanes(s) : 0, d, values,
                &a->source_values);
}

static kedge_status put_reference(kg_elliptic *p)
{
  const double *reference;
  const kg_shape *s = &p->shape;
  const kg_arrays *a = &p->arrays;
  const size_t d = sizeof(double);
  for (int k = 0; k < KG_SAMPLE_KINDS; ++k) {
    const kg_sampling *from = &p->sampling[k];
    KG_TRY(kg_copy_in(p->ctx, a->point_rule[k], from->r, 3 * (size_t)from->n * d));
    KG_TRY(kg_copy_in(p->ctx, a->point_basis[k], from->basis,
                      kg_points_table(s->size, from->rows) * d));
  }
  KG_TRY(kg_reference_of(p->ctx, p->shape.size.order, &reference));
  return kg_copy_in(p->ctx, a->reference, reference, kg_reference_count(s->size.order) * d);
}

static kedge_status make_loads(kg_elliptic *p)
{
  const kg_buffer values = kg_plan_buffer(&p->plan, &p->arrays.source_values);
  const bool moves = kg_source_moves(p);
  kedge_status status = KEDGE_OK;
  if (moves) kg_source_look(p);
  for (int i = 0; status == KEDGE_OK && i < p->shape.n_batches; ++i)
    status = kg_source_loads(p, i, 0, kg_elements_groups(&p->elements[i]), values,
                             kg_elliptic_rows(p, p->arrays.load, KG_ROWS_MODES, i));
  if (moves && status == KEDGE_OK) status = kg_source_refine(p);
  for (int i = 0; moves && status == KEDGE_OK && i < p->shape.n_batches; ++i)
    status = kg_source_patch(p, i, 0, kg_elements_groups(&p->elements[i]),
                             kg_elliptic_rows(p, p->arrays.load, KG_ROWS_MODES, i));
  kg_source_rest(&p->source);
  return status;
}

void kg_boundary_note(kg_elliptic *p, const kg_boundary_moves *moves)
{
  kg_loads_left *const left = &p->loads_left;
  p->run.solution->report.refined_facets += moves->n;
  left->moved = fmax(left->moved, moves->moved);
  if (moves->left <= left->boundary) return;
  left->boundary = moves->left;
  for (int k = 0; k < 2; ++k) left->boundary_at[k] = moves->left_at[k];
}

/// Boundary data of the Neumann and Dirichlet sections, for the stages that use them.
kedge_status kg_stage_boundary(kg_elliptic *p)
{
  const kg_trace_counts *n = &p->space.layout.count;
  const size_t edges = (size_t)(n->n_edges - n->n_free + n->n_neumann);
  if (!p->boundary)
    KG_TRY(kg_host_alloc(p->ctx, edges * (size_t)p->shape.size.n_edge, sizeof *p->boundary,
                         &p->boundary));
  kg_boundary_moves moves = {0};
  KG_TRY(kg_sample_boundary(p->ctx, p->mesh, &p->space.layout, p->equation.problem,
                            p->data.resolved, p->boundary, &moves));
  p->loads_left.boundary = 0.0;
  kg_boundary_note(p, &moves);
  return KEDGE_OK;
}

kedge_status kg_stage_transfer(kg_elliptic *p)
{
  KG_TRY(kg_elliptic_commit(p));
  if (!p->space.has_mesh) {
    kg_run_cost(&p->run, kg_trace_arrays_cost(&p->space.layout.count), 1.0);
    KG_TRY(kg_space_put(p->ctx, p->mesh, &p->space, &p->arrays.space));
    KG_TRY(put_reference(p));
    KG_TRY(kg_cells_put(p));
  }
  p->space.has_mesh = true;
  KG_TRY(kg_materials_put(p));
  return p->repeats ? KEDGE_OK : kg_stage_loads(p);
}

kedge_status kg_stage_loads(kg_elliptic *p)
{
  p->loads_left = (kg_loads_left){0};
  KG_TRY(p->shape.choice.iterates == KG_DOUBLE ? make_loads(p) : kg_compact_look(p));
  KG_TRY(kg_source_judge(p));
  return kg_stage_boundary(p);
}

/// The Neumann section is contiguous and small.
kedge_status kg_add_neumann(kg_elliptic *p, double *to, double times)
{
  const size_t n = (size_t)p->space.layout.count.n_neumann * (size_t)p->shape.size.n_edge;
  if (n == 0) return KEDGE_OK;
  const size_t first = (size_t)(p->space.layout.count.n_free - p->space.layout.count.n_neumann) *
                       (size_t)p->shape.size.n_edge;
  double *section = to + first;
  double *rows;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *rows, &rows));
  kedge_status status = kg_copy_out(p->ctx, rows, section, n * sizeof *rows);
  if (status == KEDGE_OK) {
    for (size_t i = 0; i < n; ++i) rows[i] += times * p->equation.scale * p->boundary[i];
    status = kg_copy_in(p->ctx, section, rows, n * sizeof *rows);
  }
  free(rows);
  return status;
}

/// Groups of which F^e are made at once by a set-up that stands: their K^e take no more memory than
/// a chunk of the local solve.
static int32_t condensed_groups(const kg_shape *s)
{
  const size_t chunk = kg_shape_most_rows(s, KG_ROWS_MODES) + kg_shape_most_rows(s, KG_ROWS_FLUX) +
                       kg_shape_most_rows(s, KG_ROWS_STAR);
  const size_t n = (size_t)s->choice.recover_groups * chunk / kg_shape_most_local_rows(s);
  return n < (size_t)s->choice.recover_groups ? (int32_t)n + 1 : s->choice.recover_groups;
}

void kg_local_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const kg_choice *c = &s->choice;
  const kg_locals locals = kg_shape_locals(s);
  const bool compact = c->iterates == KG_SINGLE;
  const size_t rows = (size_t)s->count.n_free * (size_t)s->size.n_edge, d = sizeof(double);
  const unsigned kept = KG_FROM(LOCAL, STEP), condenses = c->repeats ? KG_IN(CONDENSE) : 0;
  // Once another form of the operator stands, packed K^e are gone.
  const bool stays = c->linear == KEDGE_OPERATOR_MATRIX_FREE;
  kg_plan_array(plan, "K^e", kg_locals_bytes(&locals), 1,
                stays ? kept : KG_IN(LOCAL) | KG_IN(ASSEMBLY), &a->local);
  kg_robin_declare(plan, s, a);
  kg_plan_array(plan, "F^e", compact ? 0 : kg_shape_numbers(s, KG_ROWS_TRACE, s->n_batches), d,
                KG_IN(LOCAL) | condenses | KG_ANEW, &a->condensed);
  kg_plan_array(plan, "K^e of loads",
                c->repeats && !compact
                    ? kg_shape_most_local_rows(s) * KG_LANES * (size_t)condensed_groups(s)
                    : 0,
                d, KG_IN(CONDENSE), &a->load_local);
  kg_plan_array(plan, "b", c->residual == KG_REMADE_WITH_LOADS ? 0 : rows, d,
                c->repeats ? condenses | KG_IN_SOLVE : kept, &a->b);
  kg_plan_array(plan, "inverse diagonal", c->precond == KG_JACOBI ? rows : 0, d, kept,
                &a->inverse_diagonal);
}

/// Make the Jacobi preconditioner: the inverse diagonal of A.
static kedge_status make_diagonal(kg_elliptic *p)
{
  kg_run_cost(&p->run, kg_facet_sum_cost(p->shape.size, p->space.layout.count.n_free), 1.0);
  return kg_facet_diagonal(p->ctx,
                           &(kg_facet_diagonal_args){.batch = p->space.batch,
                                                     .locals = kg_elliptic_locals(p),
                                                     .inverse = p->arrays.inverse_diagonal});
}

/// Groups whose local matrices a host makes in about a second, so that a solve can be cancelled in
/// between. Other backends make all in less time.
static int32_t groups_at_once(const kg_elliptic *p, int batch)
{
  const double flops_a_second = 1e9;
  const kg_elements *e = &p->elements[batch];
  const int32_t n_groups = kg_elements_groups(e);
  // Values of varying coefficients have room for a chunk.
  const bool varies = p->shape.choice.varies && e->by_quadrature;
  const int32_t most = varies ? p->shape.choice.recover_groups : n_groups;
  if (p->ctx->backend == KEDGE_BACKEND_CUDA) return most;
  const kg_local local = kg_elliptic_locals(p).local[batch];
  const double seconds = p->equation.form->make_cost(e, local.layout).flops / flops_a_second;
  const int32_t groups = 1 + (int32_t)(n_groups / (1.0 + seconds));
  return groups < most ? groups : most;
}

/// Local matrices and F^e of some groups of a batch.
static kedge_status make_groups(kg_elliptic *p, int batch, int32_t first, int32_t n_groups)
{
  const kg_elements part = kg_elements_part(&p->elements[batch], first, n_groups);
  const kg_shape_batch *b = &p->shape.batch[batch];
  const size_t lanes = (size_t)first * KG_LANES;
  kg_local local = kg_elliptic_locals(p).local[batch];
  local = kg_local_part(&local, local.first_lane + first * KG_LANES,
                        kg_elements_groups(&part) * KG_LANES);
  double *const load = kg_elliptic_rows(p, p->arrays.load, KG_ROWS_MODES, batch);
  double *const condensed = kg_elliptic_rows(p, p->arrays.condensed, KG_ROWS_TRACE, batch);
  kg_coefficient coefficient;
  KG_TRY(kg_cells_coefficient(p, batch, first, kg_elements_groups(&part), p->arrays.coefficients,
                              &coefficient));
  return p->equation.form->make(p->ctx, &part, &coefficient,
                                load + lanes * (size_t)kg_batch_rows(b, KG_ROWS_MODES), local,
                                condensed + lanes * (size_t)kg_batch_rows(b, KG_ROWS_TRACE));
}

/// K^e of a set-up are made with loads that are zero.
static kedge_status zero_loads(kg_elliptic *p)
{
  const kg_buffer load = kg_plan_buffer(&p->plan, &p->arrays.load);
  return p->repeats ? kg_zero(p->ctx, load.data, load.bytes) : KEDGE_OK;
}

static kedge_status make_local_matrices(kg_elliptic *p)
{
  KG_TRY(zero_loads(p));
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const int32_t n_groups = kg_elements_groups(&p->elements[i]), most = groups_at_once(p, i);
    for (int32_t first = 0; first < n_groups; first += most) {
      if (first > 0) KG_TRY(kg_run_announce(&p->run, KG_STAGE_LOCAL_MATRICES, false));
      KG_TRY(make_groups(p, i, first, most));
    }
  }
  return KEDGE_OK;
}

/// b, of F^e, Neumann and Robin data.
static kedge_status make_right_hand_side(kg_elliptic *p)
{
  double *b = p->arrays.b;
  kg_run_cost(&p->run, kg_facet_sum_cost(p->shape.size, p->space.layout.count.n_free), 1.0);
  KG_TRY(kg_facet_loads(
      p->ctx,
      &(kg_facet_loads_args){.batch = p->space.batch, .condensed = p->arrays.condensed, .b = b}));
  return kg_add_neumann(p, b, 1.0);
}

/// F^e of some groups of a batch. The kernel that makes K^e makes them too, with the same bits as
/// in a solve of its own; its K^e are work.
static kedge_status condense_groups(kg_elliptic *p, int batch, int32_t first, int32_t n_groups)
{
  const kg_elements part = kg_elements_part(&p->elements[batch], first, n_groups);
  const kg_shape_batch *b = &p->shape.batch[batch];
  const int32_t groups = kg_elements_groups(&part);
  const size_t lanes = (size_t)first * KG_LANES;
  kg_local local = kg_shape_made_locals(&p->shape).local[batch];
  local.first_lane += first * KG_LANES;
  local.n_lanes = groups * KG_LANES;
  local.n_elements = part.n_elements;
  local.data = p->arrays.load_local;
  const double *const load = kg_elliptic_rows(p, p->arrays.load, KG_ROWS_MODES, batch);
  double *const condensed = kg_elliptic_rows(p, p->arrays.condensed, KG_ROWS_TRACE, batch);
  kg_coefficient coefficient;
  KG_TRY(kg_cells_coefficient(p, batch, first, groups, p->arrays.coefficients, &coefficient));
  return p->equation.form->make(p->ctx, &part, &coefficient,
                                load + lanes * (size_t)kg_batch_rows(b, KG_ROWS_MODES), local,
                                condensed + lanes * (size_t)kg_batch_rows(b, KG_ROWS_TRACE));
}

kedge_status kg_stage_condense(kg_elliptic *p)
{
  const int32_t most = condensed_groups(&p->shape);
  const kg_layout layout = kg_shape_made_locals(&p->shape).local[0].layout;
  if (p->shape.choice.iterates == KG_SINGLE) return kg_compact_condense(p);
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const int32_t n_groups = kg_elements_groups(&p->elements[i]);
    for (int32_t first = 0; first < n_groups; first += most) {
      if (first > 0) KG_TRY(kg_run_announce(&p->run, KG_STAGE_LOCAL_MATRICES, false));
      KG_TRY(condense_groups(p, i, first, most));
    }
    kg_run_cost(&p->run, p->equation.form->make_cost(&p->elements[i], layout), 1.0);
  }
  return make_right_hand_side(p);
}

kedge_status kg_stage_local_matrices(kg_elliptic *p)
{
  const bool compact = p->shape.choice.iterates == KG_SINGLE;
  KG_TRY(compact ? kg_compact_local_matrices(p) : make_local_matrices(p));
  const kg_layout layout = kg_shape_made_locals(&p->shape).local[0].layout;
  for (int i = 0; i < p->shape.n_batches; ++i)
    kg_run_cost(&p->run, p->equation.form->make_cost(&p->elements[i], layout), 1.0);
  KG_TRY(kg_robin_add(p));
  if (p->shape.choice.precond == KG_JACOBI) KG_TRY(make_diagonal(p));
  return p->repeats || compact ? KEDGE_OK : make_right_hand_side(p);
}
