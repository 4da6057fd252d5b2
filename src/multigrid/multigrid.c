#include "multigrid/multigrid.h"

#include <assert.h>

#include "core/context.h"
#include "ops/local/convert.h"
#include "ops/vertex_matrix.h"

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
  return (size_t)shape->count.n_edges * (size_t)shape->size.n_edge;
}

static kg_multigrid_single single_at(const kg_multigrid_shape *shape, void *memory, size_t *bytes)
{
  const size_t m = (size_t)shape->size.n_edge, rows = (size_t)shape->count.n_free * m;
  const size_t real = sizeof(float);
  kg_multigrid_single s;
  s.locals = kg_multigrid_cycle_locals(shape);
  for (int i = 0; i < s.locals.n_locals; ++i)
    s.locals.local[i].data = kg_piece(memory, kg_local_count(&s.locals.local[i]), real, bytes);
  s.r = kg_piece(memory, rows, real, bytes);
  s.product = kg_piece(memory, rows, real, bytes);
  s.halo = kg_piece(memory, (size_t)shape->count.n_shared * m, real, bytes);
  s.z = kg_piece(memory, z_count(shape), real, bytes);
  return s;
}

static void place_lines(const kg_multigrid_shape *shape, void *memory, kg_smoother *s,
                        size_t *bytes)
{
  const size_t lines = (size_t)shape->n_lines, steps = (size_t)shape->n_line_steps;
  const size_t i = sizeof(int32_t);
  s->lines = (kg_line_steps){.n_lines = shape->n_lines, .n_steps = shape->n_line_steps};
  s->lines.begin = kg_piece(memory, lines + 1, i, bytes);
  s->lines.edge = kg_piece(memory, steps, i, bytes);
}

static kedge_status put_lines(kedge_context *ctx, const kg_edge_lines *from, kg_smoother *s)
{
  const size_t lines = (size_t)from->n_lines, steps = (size_t)from->n_steps, i = sizeof(int32_t);
  KG_TRY(kg_copy_in(ctx, s->lines.begin, from->begin, (lines + 1) * i));
  return kg_copy_in(ctx, s->lines.edge, from->edge, steps * i);
}

/// What a smoother keeps.
static void place_blocks(const kg_multigrid_shape *shape, void *memory, kg_smoother *s,
                         size_t *bytes)
{
  s->inverse = kg_piece(memory, kg_edge_blocks_count(shape->size, &shape->count),
                        kg_block_number_bytes(s->form), bytes);
  if (kg_smoother_has_lines(shape->smoother))
    s->factor =
        kg_piece(memory, kg_line_factor_count(shape->size, shape->n_lines, shape->n_line_steps),
                 sizeof(float), bytes);
}

/// Where that lies which a cycle works with on the trace, in memory that may be NULL for its size.
static kg_multigrid trace_at(const kg_multigrid_shape *shape, void *memory, size_t *bytes)
{
  const size_t n_free = (size_t)shape->count.n_free, n_edge = (size_t)shape->size.n_edge;
  const size_t real = kg_number_bytes(shape->number);
  const kg_smoother_table *table = kg_smoother_table_of(shape->smoother);
  kg_multigrid m = {.shape = *shape};
  *bytes = 0;
  m.smoother = (kg_smoother){.table = table,
                             .size = shape->size,
                             .count = shape->count,
                             .number = shape->number,
                             .form = table->form(shape->locals.local[0].number)};
  place_blocks(shape, memory, &m.smoother, bytes);
  if (shape->smoothing_steps == 0) return m;
  if (shape->smoothing_steps > 1) m.d = kg_piece(memory, n_free * n_edge, real, bytes);
  if (kg_multigrid_has_vertex_modes(shape)) {
    m.modes.weight = kg_piece(memory, (size_t)shape->n_vertices, sizeof(double), bytes);
    m.modes.value = kg_piece(memory, (size_t)shape->n_vertices, sizeof(double), bytes);
    m.modes.part = kg_piece(memory, 2 * n_free, sizeof(double), bytes);
    kg_vertex_mode_shape(shape->size.order, m.modes.shape);
  }
  if (kg_multigrid_has_copies(shape)) m.single = single_at(shape, memory, bytes);
  return m;
}

/// Where that lies which is below the trace, and the lines.
static void space_at(const kg_multigrid_shape *shape, void *memory, kg_multigrid *m, size_t *bytes)
{
  const size_t n_free = (size_t)shape->count.n_free, n_vertices = (size_t)shape->n_vertices;
  const size_t n_entries = (size_t)kg_vertex_entries_max(&shape->count);
  const size_t i = sizeof(int32_t), d = sizeof(double);
  *bytes = 0;
  if (kg_smoother_has_lines(shape->smoother)) place_lines(shape, memory, &m->smoother, bytes);
  if (shape->smoothing_steps == 0) return;
  m->space.begin = kg_piece(memory, n_vertices + 1, i, bytes);
  m->space.ends = kg_piece(memory, 2 * n_free, i, bytes);
  if (shape->count.n_wide_groups > 0) m->space.row = kg_piece(memory, n_vertices + 1, i, bytes);
  m->matrix.column = kg_piece(memory, n_entries, i, bytes);
  m->matrix.value = kg_piece(memory, n_entries, sizeof(float), bytes);
  m->matrix.diagonal = kg_piece(memory, n_vertices, d, bytes);
}

bool kg_multigrid_is_measured(const kg_multigrid_shape *shape)
{
  return shape->smoothing_steps > 1;
}

bool kg_multigrid_has_vertex_modes(const kg_multigrid_shape *shape)
{
  const int least = kg_smoother_table_of(shape->smoother)->modes_order_min;
  return least > 0 && shape->smoothing_steps == 1 && shape->size.order >= least;
}

bool kg_multigrid_reads_edge_sides(const kg_multigrid_shape *shape)
{
  return kg_multigrid_is_reduced(shape) || kg_multigrid_has_vertex_modes(shape);
}

size_t kg_multigrid_trace_bytes(const kg_multigrid_shape *shape)
{
  size_t bytes;
  trace_at(shape, NULL, &bytes);
  return bytes;
}

size_t kg_multigrid_space_bytes(const kg_multigrid_shape *shape)
{
  kg_multigrid m;
  size_t bytes;
  space_at(shape, NULL, &m, &bytes);
  return bytes;
}

bool kg_multigrid_repeats(const kg_multigrid_shape *shape)
{
  return kg_smoother_table_of(shape->smoother)->repeats && shape->smoothing_steps == 1 &&
         kg_multigrid_is_reduced(shape) && !kg_multigrid_has_vertex_modes(shape);
}

size_t kg_multigrid_vector_bytes(const kg_multigrid_shape *shape, const kg_coarse_table *solver)
{
  if (shape->smoothing_steps == 0) return 0;
  return kg_rounded((size_t)shape->n_vertices * sizeof(double)) +
         (size_t)solver->bytes(shape->n_vertices, kg_vertex_entries_max(&shape->count), 0).vectors;
}

kedge_status kg_multigrid_lend(kedge_context *ctx, kg_multigrid *m, kg_buffer halo, void *vectors,
                               size_t bytes)
{
  size_t used = 0;
  if (m->shape.smoothing_steps == 0) return KEDGE_OK;
  double *const lent = kg_piece(vectors, (size_t)m->shape.n_vertices, sizeof *lent, &used);
  assert(halo.bytes >= (size_t)m->shape.n_vertices * sizeof *lent);
  const bool reduced = kg_multigrid_is_reduced(&m->shape);
  m->residual = reduced ? lent : halo.data;
  m->correction = reduced ? halo.data : lent;
  if (!m->coarse) return KEDGE_OK;
  return m->solver->lend(ctx, m->coarse, (char *)vectors + used, bytes - used);
}

/// Matrices of the elements for their vertices, which stay while the coarse matrix is made.
static size_t element_bytes(const kg_multigrid_shape *shape)
{
  return kg_rounded(kg_vertex_element_numbers(&shape->count) * sizeof(double));
}

kedge_status kg_multigrid_work_bytes(kedge_context *ctx, const kg_multigrid_shape *shape,
                                     size_t *bytes)
{
  size_t space;
  *bytes = sizeof(int32_t);  // the fault of the blocks
  if (shape->smoothing_steps == 0) return KEDGE_OK;
  KG_TRY(kg_vertex_space_work_bytes(ctx, &shape->count, shape->n_vertices, &space));
  const size_t modes = element_bytes(shape) + sizeof(int32_t);  // and their fault
  if (kg_multigrid_has_vertex_modes(shape) && *bytes < modes) *bytes = modes;
  if (*bytes < space) *bytes = space;
  if (*bytes < element_bytes(shape)) *bytes = element_bytes(shape);
  return KEDGE_OK;
}

static kedge_status make_coarse(kedge_context *ctx, const kg_multigrid_args *a, kg_multigrid *m)
{
  const kg_csr matrix = {.n_rows = m->space.n_rows,
                         .n_entries = m->space.n_entries,
                         .row = m->space.row,
                         .column = m->matrix.column,
                         .value = m->matrix.value,
                         .diagonal = m->matrix.diagonal};
  const kg_vertex_matrix_args args = {.batch = a->batch,
                                      .locals = a->locals,
                                      .space = m->space,
                                      .element = a->work,
                                      .column = m->matrix.column,
                                      .value = m->matrix.value,
                                      .diagonal = m->matrix.diagonal};
  KG_TRY(kg_vertex_matrix_fill(ctx, &args));
  kg_coarse_memory memory = {.kept = a->coarse,
                             .work = a->work,
                             .kept_bytes = a->coarse_bytes,
                             .work_bytes = a->work_bytes,
                             .refined = a->refined};
  return a->solver->create(ctx, &matrix, memory, &m->coarse);
}

static kedge_status make_single(kedge_context *ctx, const kg_multigrid_args *a,
                                const kg_multigrid_single *single)
{
  KG_TRY(kg_zero(ctx, single->z, z_count(&a->shape) * sizeof *single->z));
  for (int i = 0; i < a->locals.n_locals; ++i)
    KG_TRY(kg_local_convert(ctx, &(kg_local_convert_args){.m = a->shape.size.n_edge,
                                                          .from = a->locals.local[i],
                                                          .to = single->locals.local[i]}));
  return KEDGE_OK;
}

static kedge_status make_trace(kedge_context *ctx, const kg_multigrid_args *a, kg_multigrid *m)
{
  m->largest_eigenvalue =
      kg_multigrid_is_measured(&a->shape)
          ? m->smoother.table->bound
          : kg_smoother_estimate(a->shape.smoother, a->shape.size.order, a->shape.alignment);
  if (kg_multigrid_has_copies(&a->shape)) KG_TRY(make_single(ctx, a, &m->single));
  return m->smoother.table->make(ctx, &m->smoother, &a->batch, &a->locals, a->work);
}

/// The vertex space is there.
static kedge_status make_modes(kedge_context *ctx, const kg_multigrid_args *a, kg_multigrid *m)
{
  if (!kg_multigrid_has_vertex_modes(&a->shape)) return KEDGE_OK;
  m->modes.space = m->space;
  return kg_vertex_modes_fill(
      ctx,
      &(kg_vertex_modes_args){.batch = a->batch,
                              .locals = a->locals,
                              .modes = m->modes,
                              .element = a->work,
                              .fault = (int32_t *)((char *)a->work + element_bytes(&a->shape))});
}

kedge_status kg_multigrid_create(kedge_context *ctx, const kg_multigrid_args *a, kg_multigrid *out)
{
  size_t bytes;
  *out = trace_at(&a->shape, a->trace, &bytes);
  space_at(&a->shape, a->space, out, &bytes);
  out->solver = a->solver;
  if (kg_smoother_has_lines(a->shape.smoother)) KG_TRY(put_lines(ctx, a->lines, &out->smoother));
  KG_TRY(make_trace(ctx, a, out));
  if (a->shape.smoothing_steps == 0) return KEDGE_OK;
  const kg_vertex_space_args space = {.batch = a->batch,
                                      .n_vertices = a->shape.n_vertices,
                                      .space = &out->space,
                                      .work = a->work,
                                      .work_bytes = a->work_bytes};
  KG_TRY(kg_vertex_space_fill(ctx, &space));
  KG_TRY(make_modes(ctx, a, out));
  if (out->space.n_ends > 0) KG_TRY(make_coarse(ctx, a, out));
  if (!kg_multigrid_reads_edge_sides(&a->shape)) out->space.mesh.edge_sides = NULL;
  return KEDGE_OK;
}

void kg_multigrid_destroy(kedge_context *ctx, kg_multigrid *multigrid)
{
  if (multigrid->solver) multigrid->solver->destroy(ctx, multigrid->coarse);
  *multigrid = (kg_multigrid){0};
}

int kg_multigrid_levels(const kg_multigrid *multigrid)
{
  if (!multigrid->coarse) return 1;
  kg_coarse_info info;
  multigrid->solver->describe(multigrid->coarse, &info);
  return 1 + info.n_levels;
}

kg_cost kg_multigrid_create_cost(const kg_multigrid_shape *s)
{
  const kg_smoother_table *table = kg_smoother_table_of(s->smoother);
  const kg_locals copies = kg_multigrid_cycle_locals(s);
  const kg_local *given = s->locals.local;
  kg_cost sum = table->make_cost(s->size, &s->count, s->n_line_steps, given->number);
  if (s->smoothing_steps == 0) return sum;
  if (kg_multigrid_has_vertex_modes(s))
    sum = kg_cost_plus(sum, 1,
                       kg_vertex_modes_cost(s->size, &s->count, s->n_vertices, given->number));
  for (int i = 0; kg_multigrid_has_copies(s) && i < copies.n_locals; ++i)
    sum = kg_cost_plus(sum, 1,
                       kg_local_convert_cost(&given[i], &copies.local[i], given[i].n_elements));
  sum = kg_cost_plus(sum, 1, kg_vertex_space_cost(&s->count, s->n_vertices));
  return kg_cost_plus(sum, 1, kg_vertex_matrix_cost(&s->count, s->n_vertices, given));
}
