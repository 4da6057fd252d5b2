#include "precondition/multigrid.h"

#include "device/context.h"
#include "ops/local/convert.h"
#include "ops/smooth/vertex_matrix.h"

kg_locals kg_multigrid_cycle_locals(const kg_multigrid_shape *shape)
{
  kg_locals locals = shape->locals;
  if (!kg_multigrid_has_copies(shape)) return locals;
  for (int i = 0; i < locals.n_locals; ++i) {
    locals.local[i].layout =
        kg_multigrid_is_reduced(shape) ? KG_LAYOUT_REDUCED : KG_LAYOUT_DIFFERENCES;
    locals.local[i].number = KG_SINGLE;
  }
  return locals;
}

static size_t z_count(const kg_multigrid_shape *shape)
{
  return (size_t)shape->count.n_edges * (size_t)shape->m;
}

static const unsigned kept = KG_FROM(ASSEMBLY, STEP);

static void declare_copies(kg_plan *plan, const kg_multigrid_shape *shape, kg_multigrid_single *s)
{
  const size_t m = (size_t)shape->m, rows = (size_t)shape->count.n_free * m;
  const size_t halo = (size_t)shape->count.n_shared * m, real = sizeof(float);
  const unsigned cycle = KG_IN(BOUND) | KG_FROM(DOWN, UP);
  const unsigned products = KG_IN(BOUND) | KG_IN(DOWN) | KG_IN(UP);
  s->locals = kg_multigrid_cycle_locals(shape);
  for (kg_local *local = s->locals.local; local < s->locals.local + s->locals.n_locals; ++local)
    kg_plan_array(plan, "K^e of cycles", kg_local_count(local), real, kept, &local->data);
  kg_plan_array(plan, "r of cycles", rows, real, cycle, &s->r);
  kg_plan_array(plan, "A z of cycles", rows, real, kg_multigrid_product_phases(shape), &s->product);
  kg_plan_array(plan, "halo of cycles", halo, real, products, &s->halo);
  kg_plan_array(plan, "z of cycles", z_count(shape), real, kept, &s->z);
}

kg_smoother kg_multigrid_smoother(const kg_multigrid_shape *shape)
{
  const kg_smoother_table *table = kg_smoother_table_of(shape->smoother);
  const bool halves = table->halves && shape->locals.local[0].number == KG_SINGLE;
  return (kg_smoother){.table = table,
                       .m = shape->m,
                       .count = shape->count,
                       .number = shape->number,
                       .form = halves ? KG_BLOCK_HALF : KG_BLOCK_FACTOR,
                       .lines = {.n_lines = shape->n_lines, .n_steps = shape->n_line_steps}};
}

static void declare_smoother(kg_plan *plan, kg_smoother *s)
{
  kg_line_steps *lines = &s->lines;
  const size_t i = sizeof(int32_t);
  kg_plan_array(plan, "blocks", kg_edge_blocks_count(s->m, &s->count),
                kg_block_number_bytes(s->form), kept, &s->inverse);
  if (!s->table->has_lines) return;
  kg_plan_array(plan, "couplings", kg_line_factor_count(s->m, lines->n_lines, lines->n_steps),
                sizeof *s->factor, kept, &s->factor);
  kg_plan_array(plan, "lines", (size_t)lines->n_lines + 1, i, kept, &lines->begin);
  kg_plan_array(plan, "edges of lines", (size_t)lines->n_steps, i, kept, &lines->edge);
}

/// Declare the arrays that move vertex modes.
static void declare_modes(kg_plan *plan, const kg_multigrid_shape *shape, kg_vertex_modes *modes)
{
  const size_t n = (size_t)shape->n_vertices, d = sizeof(double);
  const unsigned bound = kg_multigrid_is_measured(shape) ? KG_IN(BOUND) : 0;
  const unsigned smoothing = bound | KG_IN(DOWN) | KG_IN(CORRECT) | KG_IN(UP);
  kg_vertex_mode_shape(shape->order, modes->shape);
  kg_plan_array(plan, "weights of modes", n, d, KG_FROM(GALERKIN, STEP), &modes->weight);
  kg_plan_array(plan, "vertex modes", n, d, smoothing, &modes->value);
  kg_plan_array(plan, "parts of modes", 2 * (size_t)shape->count.n_free, d, smoothing,
                &modes->part);
}

/// Declare the arrays below the trace: the vertex space, its matrix, the coarse solver's memory.
static void declare_space(kg_plan *plan, const kg_multigrid_shape *shape, kg_multigrid *m)
{
  const kg_lane_runs *lanes = &shape->count.lanes;
  const size_t n = (size_t)shape->n_vertices;
  const size_t ends = (size_t)kg_facet_ends(lanes) * (size_t)shape->count.n_free;
  const size_t entries = (size_t)kg_vertex_entries_max(&shape->count, shape->n_vertices);
  const size_t i = sizeof(int32_t), d = sizeof(double);
  const unsigned space = KG_FROM(SPACE, STEP), matrix = KG_FROM(GALERKIN, STEP);
  const kg_coarse_bytes *bytes = &m->bytes;
  m->rows.width = kg_vertex_row_width(&shape->count);
  if (kg_multigrid_has_rows(shape))
    kg_plan_array(plan, "rows of A P", kg_vertex_rows_count(shape->m, &shape->count),
                  sizeof *m->rows.value, matrix, &m->rows.value);
  m->bytes = m->solver->bytes(shape->n_vertices, (int64_t)entries, shape->spare);
  kg_plan_array(plan, "ends at vertices", n + 1, i, space, &m->space.begin);
  kg_plan_array(plan, "ends", ends, i, space, &m->space.ends);
  kg_plan_array(plan, "rows", kg_vertex_rows_differ(lanes) ? n + 1 : 0, i, space, &m->space.row);
  kg_plan_array(plan, "work of ends", shape->space_work_bytes, 1, KG_IN(SPACE), &m->space_work);
  kg_plan_array(plan, "coarse columns", entries, i, matrix, &m->matrix.column);
  kg_plan_array(plan, "coarse values", entries, sizeof(float), matrix, &m->matrix.value);
  kg_plan_array(plan, "coarse diagonal", n, d, matrix, &m->matrix.diagonal);
  kg_plan_array(plan, "matrices at vertices", kg_vertex_element_numbers(&shape->count), d,
                KG_IN(GALERKIN), &m->element);
  kg_plan_array(plan, "sums of rows", kg_multigrid_in_space(shape) ? entries : 0, d,
                KG_IN(GALERKIN), &m->wide);
  kg_plan_array(plan, "fault of modes", 1, i, KG_IN(GALERKIN), &m->mode_fault);
  kg_plan_array(plan, "coarse levels", (size_t)bytes->kept, 1, KG_FROM(LEVELS, STEP),
                &m->coarse_kept);
  kg_plan_array(plan, "work of levels", (size_t)bytes->work, 1, KG_IN(LEVELS), &m->coarse_work);
  kg_plan_array(plan, "coarse vectors", (size_t)bytes->vectors, 1, KG_IN(COARSE),
                &m->coarse_vectors);
  kg_plan_array(plan, "coarse residual", n, d, KG_IN(RESTRICT) | KG_IN(COARSE), &m->residual);
  kg_plan_array(plan, "coarse correction", n, d, KG_IN(COARSE) | KG_IN(CORRECT), &m->correction);
}

void kg_multigrid_declare(kg_plan *plan, kg_multigrid *m)
{
  const kg_multigrid_shape *const shape = &m->shape;
  const size_t rows = (size_t)shape->count.n_free * (size_t)shape->m;
  const size_t real = kg_number_bytes(shape->number);
  const unsigned smoothing = KG_IN(DOWN) | KG_IN(CORRECT) | KG_IN(UP);
  m->smoother = kg_multigrid_smoother(shape);
  m->plan = plan;
  declare_smoother(plan, &m->smoother);
  kg_plan_array(plan, "fault of blocks", 1, sizeof(int32_t), KG_IN(ASSEMBLY), &m->block_fault);
  if (kg_multigrid_has_copies(shape) && shape->smoothing_steps > 0)
    declare_copies(plan, shape, &m->single);
  if (shape->smoothing_steps == 0) return;
  kg_plan_array(plan, "Chebyshev", shape->smoothing_steps > 1 ? rows : 0, real, smoothing, &m->d);
  if (kg_multigrid_has_vertex_modes(shape)) declare_modes(plan, shape, &m->modes);
  declare_space(plan, shape, m);
}

void kg_multigrid_declare_vectors(kg_plan *plan, kg_multigrid *m)
{
  const kg_multigrid_shape *const shape = &m->shape;
  const bool copies = kg_multigrid_has_copies(shape), modes = kg_multigrid_has_vertex_modes(shape);
  const unsigned all = KG_IN_SOLVE;
  const size_t K = KG_VECTORS, d = sizeof(double), real = kg_number_bytes(shape->number);
  const size_t edge = (size_t)shape->m, n = K * (size_t)shape->count.n_free * edge;
  const size_t halo = K * (size_t)shape->count.n_shared * edge, edges = (size_t)shape->count.n_free;
  const size_t vertices = K * (size_t)shape->n_vertices;
  kg_multigrid_single *const s = &m->single;
  m->bytes = m->solver->bytes(
      shape->n_vertices, kg_vertex_entries_max(&shape->count, shape->n_vertices), shape->spare);
  kg_plan_array(plan, "residual", vertices, d, all, &m->residual);
  kg_plan_array(plan, "correction", vertices, d, all, &m->correction);
  kg_plan_array(plan, "modes", modes ? vertices : 0, d, all, &m->modes.value);
  kg_plan_array(plan, "parts of modes", modes ? 2 * K * edges : 0, d, all, &m->modes.part);
  kg_plan_array(plan, "Chebyshev", shape->smoothing_steps > 1 ? n : 0, real, all, &m->d);
  kg_plan_array(plan, "r of cycles", copies ? n : 0, real, all, &s->r);
  kg_plan_array(plan, "A z of cycles", copies ? n : 0, real, all, &s->product);
  kg_plan_array(plan, "halo of cycles", copies ? halo : 0, real, all, &s->halo);
  kg_plan_array(plan, "coarse vectors", K * (size_t)m->bytes.vectors, 1, all, &m->coarse_vectors);
}

kedge_status kg_multigrid_share(kedge_context *ctx, const kg_multigrid *of, kg_multigrid *m)
{
  const kg_multigrid own = *m;
  *m = *of;
  m->plan = NULL;
  m->coarse = NULL;
  m->residual = own.residual;
  m->correction = own.correction;
  m->d = own.d;
  m->modes.value = own.modes.value;
  m->modes.part = own.modes.part;
  m->single.r = own.single.r;
  m->single.product = own.single.product;
  m->single.halo = own.single.halo;
  m->coarse_vectors = own.coarse_vectors;
  KG_TRY(of->solver->of_many(ctx, of->coarse, &m->coarse));
  return of->solver->lend(ctx, m->coarse, m->coarse_vectors,
                          KG_VECTORS * (size_t)of->bytes.vectors);
}

bool kg_multigrid_is_measured(const kg_multigrid_shape *shape)
{
  return shape->smoothing_steps > 1 || (shape->smoothing_steps == 1 && shape->is_general);
}

bool kg_multigrid_has_vertex_modes(const kg_multigrid_shape *shape)
{
  const int least = kg_smoother_table_of(shape->smoother)->modes_order_min;
  return least > 0 && !kg_multigrid_in_space(shape) && shape->smoothing_steps == 1 &&
         shape->order >= least;
}

bool kg_multigrid_reads_edge_sides(const kg_multigrid_shape *shape)
{
  return kg_multigrid_knows_product(shape) || kg_multigrid_has_vertex_modes(shape);
}

bool kg_multigrid_repeats(const kg_multigrid_shape *shape)
{
  return kg_smoother_table_of(shape->smoother)->repeats && !kg_multigrid_in_space(shape) &&
         shape->smoothing_steps == 1 && kg_multigrid_knows_product(shape) &&
         !kg_multigrid_has_vertex_modes(shape);
}

static kedge_status make_coarse(kedge_context *ctx, const kg_multigrid_args *a, kg_multigrid *m)
{
  m->matrix.n_rows = m->space.n_rows;
  m->matrix.n_entries = m->space.n_entries;
  m->matrix.row = m->space.row;
  const kg_vertex_matrix_args args = {.batch = a->batch,
                                      .locals = a->locals,
                                      .space = m->space,
                                      .element = m->element,
                                      .wide = m->wide,
                                      .column = m->matrix.column,
                                      .value = m->matrix.value,
                                      .diagonal = m->matrix.diagonal};
  KG_TRY(kg_vertex_matrix_fill(ctx, &args));
  if (m->rows.value)
    KG_TRY(kg_vertex_rows_fill(ctx, &(kg_vertex_rows_args){a->batch, a->locals, m->rows}));
  KG_TRY(kg_plan_enter(ctx, m->plan, KG_PHASE_LEVELS));
  const kg_coarse_memory memory = {
      .kept = m->coarse_kept,
      .work = m->coarse_work,
      .kept_bytes = (size_t)m->bytes.kept,
      .work_bytes = (size_t)m->bytes.work,
      .refined = a->refined,
      .has_corners = kg_has_lanes_of(&m->shape.count.lanes, KG_QUADRILATERALS),
      .by_quadrature = m->shape.by_quadrature};
  KG_TRY(m->solver->create(ctx, &m->matrix, memory, &m->coarse));
  return m->solver->lend(ctx, m->coarse, m->coarse_vectors, (size_t)m->bytes.vectors);
}

static kedge_status make_single(kedge_context *ctx, const kg_multigrid_args *a,
                                const kg_multigrid *m)
{
  const kg_multigrid_single *single = &m->single;
  KG_TRY(kg_zero(ctx, single->z, z_count(&m->shape) * sizeof *single->z));
  for (int i = 0; i < a->locals.n_locals; ++i)
    KG_TRY(kg_local_convert(
        ctx, &(kg_local_convert_args){
                 .m = m->shape.m, .from = a->locals.local[i], .to = single->locals.local[i]}));
  return KEDGE_OK;
}

static kedge_status make_trace(kedge_context *ctx, const kg_multigrid_args *a, kg_multigrid *m)
{
  m->largest_eigenvalue =
      kg_multigrid_is_measured(&m->shape)
          ? m->smoother.table->bound(&m->shape.count)
          : kg_smoother_estimate(m->shape.smoother, m->shape.order, m->shape.alignment);
  if (kg_multigrid_has_copies(&m->shape)) KG_TRY(make_single(ctx, a, m));
  return m->smoother.table->make(ctx, &m->smoother, &a->batch, &a->locals, m->block_fault);
}

/// Make the vertex modes, once the vertex space exists.
static kedge_status make_modes(kedge_context *ctx, const kg_multigrid_args *a, kg_multigrid *m)
{
  if (!kg_multigrid_has_vertex_modes(&m->shape)) return KEDGE_OK;
  m->modes.space = m->space;
  return kg_vertex_modes_fill(ctx, &(kg_vertex_modes_args){.batch = a->batch,
                                                           .locals = a->locals,
                                                           .modes = m->modes,
                                                           .element = m->element,
                                                           .fault = m->mode_fault});
}

kedge_status kg_multigrid_create(kedge_context *ctx, const kg_multigrid_args *a, kg_multigrid *m)
{
  const kg_multigrid_shape *shape = &m->shape;
  m->materials = a->materials;
  if (kg_smoother_has_lines(shape->smoother)) {
    const size_t lines = (size_t)a->lines->n_lines, steps = (size_t)a->lines->n_steps;
    const kg_line_steps *const to = &m->smoother.lines;
    KG_TRY(kg_copy_in(ctx, to->begin, a->lines->begin, (lines + 1) * sizeof *to->begin));
    KG_TRY(kg_copy_in(ctx, to->edge, a->lines->edge, steps * sizeof *to->edge));
  }
  KG_TRY(make_trace(ctx, a, m));
  if (shape->smoothing_steps == 0) return KEDGE_OK;
  KG_TRY(kg_plan_enter(ctx, m->plan, KG_PHASE_SPACE));
  const kg_vertex_space_args space = {.batch = a->batch,
                                      .n_vertices = shape->n_vertices,
                                      .space = &m->space,
                                      .work = m->space_work,
                                      .work_bytes = shape->space_work_bytes};
  KG_TRY(kg_vertex_space_fill(ctx, &space));
  KG_TRY(kg_plan_enter(ctx, m->plan, KG_PHASE_GALERKIN));
  KG_TRY(make_modes(ctx, a, m));
  if (m->space.n_ends > 0) KG_TRY(make_coarse(ctx, a, m));
  if (!kg_multigrid_reads_edge_sides(shape)) m->space.mesh.edge_sides = NULL;
  return KEDGE_OK;
}

void kg_multigrid_destroy(kedge_context *ctx, kg_multigrid *multigrid)
{
  if (multigrid->solver) multigrid->solver->destroy(ctx, multigrid->coarse);
  *multigrid = (kg_multigrid){0};
}

int kg_multigrid_levels(const kg_multigrid *multigrid)
{
  return multigrid->coarse ? 1 + multigrid->solver->levels(multigrid->coarse) : 1;
}

kg_cost kg_multigrid_create_cost(const kg_multigrid_shape *s)
{
  const kg_smoother smoother = kg_multigrid_smoother(s);
  const kg_locals copies = kg_multigrid_cycle_locals(s);
  const kg_local *given = s->locals.local;
  kg_cost sum = smoother.table->make_cost(&smoother, given->number);
  if (s->smoothing_steps == 0) return sum;
  if (kg_multigrid_has_vertex_modes(s))
    sum = kg_cost_plus(sum, 1, kg_vertex_modes_cost(s->m, &s->count, s->n_vertices, given->number));
  for (int i = 0; kg_multigrid_has_copies(s) && i < copies.n_locals; ++i)
    sum = kg_cost_plus(sum, 1,
                       kg_local_convert_cost(&given[i], &copies.local[i], given[i].n_elements));
  if (kg_multigrid_has_rows(s))
    sum = kg_cost_plus(sum, 1, kg_vertex_rows_cost(s->m, &s->count, given->number));
  sum = kg_cost_plus(sum, 1, kg_vertex_space_cost(&s->count, s->n_vertices));
  return kg_cost_plus(sum, 1, kg_vertex_matrix_cost(&s->count, s->n_vertices, given));
}
