#include "equation/shape.h"

#include "device/context.h"
#include "ops/trace/cg_resident.h"
#include "ops/assembled/ell.h"
#include "ops/sample/points.h"
#include "basis/cell_tables.h"
#include "ops/local/quadrature/coefficients.h"

int kg_batch_rows(const kg_shape_batch *batch, kg_rows rows)
{
  const kg_cell_sizes *size = &batch->size;
  const int of[] = {[KG_ROWS_SIDES] = size->n_facets,
                    [KG_ROWS_CODES] = kg_code_words(size->n_facets),
                    [KG_ROWS_MODES] = size->n_modes,
                    [KG_ROWS_FLUX] = kg_cell_flux_rows(size->n_flux, batch->keeps_gradient),
                    [KG_ROWS_STAR] = size->n_star,
                    [KG_ROWS_TRACE] = size->n_trace,
                    [KG_ROWS_NODES] = 2 * batch->n_nodes,
                    [KG_ROWS_MEANS] = batch->n_means};
  return of[rows];
}

size_t kg_shape_numbers(const kg_shape *s, kg_rows rows, int n)
{
  size_t sum = 0;
  for (const kg_shape_batch *b = s->batch; b < s->batch + n; ++b)
    sum += (size_t)kg_batch_rows(b, rows) * KG_LANES * (size_t)b->lanes.n_groups;
  return sum;
}

size_t kg_shape_most_rows(const kg_shape *s, kg_rows rows)
{
  int most = 0;
  for (const kg_shape_batch *b = s->batch; b < s->batch + s->n_batches; ++b)
    if (kg_batch_rows(b, rows) > most) most = kg_batch_rows(b, rows);
  return (size_t)most;
}

static kg_locals locals(const kg_shape *s, kg_layout layout, kg_number number)
{
  kg_locals all = {.n_locals = s->n_batches};
  for (int i = 0; i < s->n_batches; ++i)
    all.local[i] = kg_local_of_batch(layout, number, s->m, &s->batch[i].lanes, NULL);
  return all;
}

kg_locals kg_shape_made_locals(const kg_shape *s)
{
  const bool reduced = s->choice.layout == KG_LAYOUT_REDUCED;
  return locals(s, reduced ? KG_LAYOUT_REDUCED : KG_LAYOUT_PACKED, KG_DOUBLE);
}

size_t kg_shape_most_local_rows(const kg_shape *s)
{
  const kg_locals made = kg_shape_made_locals(s);
  return (size_t)made.local[made.n_locals - 1].rows;  // quadrilaterals, the larger ones, come last
}

kg_locals kg_shape_locals(const kg_shape *s)
{
  return locals(s, s->choice.layout, s->choice.iterates);
}

kg_local kg_shape_full_local(const kg_shape *s)
{
  kg_lane_batch all = s->batch[s->n_batches - 1].lanes;
  all.n_elements += all.first_group * KG_LANES;
  all.first_group = 0;
  return kg_local_of_batch(KG_LAYOUT_FULL, KG_DOUBLE, s->m, &all, NULL);
}

/// Return the bytes that the coarse solver of multigrid may use for speed alone. At higher orders
/// the limits leave room: multigrid may need a quarter more memory than Jacobi, and with precision
/// = compact six tenths of that sum (tests/solver/test_footprint.c). The coupling factors of lines,
/// where a smoother has them, use part of this room.
static int64_t spare_bytes(const kg_shape *s)
{
  int64_t spare = (s->choice.iterates == KG_SINGLE ? 20 : 40) * (int64_t)(s->size.order - 1);
  spare *= s->count.n_elements;
  if (kg_smoother_has_lines(s->choice.smoother))
    spare -= (int64_t)(kg_line_factor_count(s->m, s->n_lines, s->n_line_steps) * sizeof(float));
  return spare > 0 ? spare : 0;
}

bool kg_shape_has_quadrature(const kg_shape *s)
{
  bool has = false;
  for (int i = 0; i < s->n_batches; ++i) has = has || s->batch[i].by_quadrature;
  return has;
}

const kg_cell *kg_shape_cell(const kg_shape *s, int index)
{
  for (const kg_shape_batch *b = s->batch; b < s->batch + s->n_batches; ++b)
    if (b->samples_cells && kg_cell_index(b->cell) == index) return b->cell;
  return NULL;
}

static int larger(int a, int b)
{
  return a > b ? a : b;
}

int kg_shape_source_points(const kg_shape *s)
{
  int most = kg_rule_points(s->size.order);
  for (int i = 0; i < KG_CELL_KINDS; ++i) {
    const kg_cell *const cell = kg_shape_cell(s, i);
    if (cell) most = larger(most, kg_cell_rule_points(cell, kg_cell_sample_rows(s->size.order)));
  }
  return most;
}

int kg_shape_exact_points(const kg_shape *s)
{
  int most = kg_points_count(s->fast_exact_rows);
  for (int i = 0; i < KG_CELL_KINDS; ++i) {
    const kg_cell *const cell = kg_shape_cell(s, i);
    if (cell) most = larger(most, kg_cell_rule_points(cell, s->exact_rows) + cell->n_vertices);
  }
  return most;
}

int kg_shape_value_points(const kg_shape *s)
{
  int most = 0;
  for (int i = 0; i < KG_CELL_KINDS && s->choice.varies; ++i) {
    const kg_cell *const cell = kg_shape_cell(s, i);
    if (cell == &kg_tetrahedron)
      most = kg_cell_rule_points(cell, s->rows);
    else if (cell)
      most = larger(most, s->rows * (s->rows + cell->n_facets));
  }
  return most;
}

int kg_shape_value_functions(const kg_shape *s)
{
  return kg_tensor_numbers(s->batch[0].size.dimension) + 1;
}

kg_multigrid_shape kg_shape_multigrid(const kg_shape *s)
{
  return (kg_multigrid_shape){.order = s->size.order,
                              .m = s->m,
                              .count = s->count,
                              .n_vertices = (int32_t)s->n_vertices,
                              .smoother = s->choice.smoother,
                              .smoothing_steps = s->choice.steps,
                              .alignment = s->alignment,
                              .is_general = s->choice.by_quadrature || !s->choice.is_uniform ||
                                            !kg_all_lanes_are(&s->count.lanes, KG_TRIANGLES),
                              .by_quadrature = s->choice.by_quadrature,
                              .n_lines = s->n_lines,
                              .n_line_steps = s->n_line_steps,
                              .number = s->choice.cycles,
                              .locals = kg_shape_locals(s),
                              .spare = spare_bytes(s),
                              .space_work_bytes = s->space_work_bytes};
}

kedge_status kg_shape_work(kedge_context *ctx, kg_shape *s)
{
  s->resident_bytes = s->choice.resident ? kg_cg_resident_bytes(ctx, s->m, &s->count) : 0;
  if (s->choice.steps > 0)
    KG_TRY(
        kg_vertex_space_work_bytes(ctx, &s->count, (int32_t)s->n_vertices, &s->space_work_bytes));
  return kg_ell_work_bytes(ctx, &s->count, &s->ell_work_bytes);
}

/// Return the bytes of K^e, coefficients, load vectors, F^e and sides of one group, in a chunk with
/// precision = compact.
static size_t chunk_group_bytes(const kg_shape *s)
{
  const size_t numbers = kg_shape_most_local_rows(s) + kg_shape_most_rows(s, KG_ROWS_MODES) +
                         kg_shape_most_rows(s, KG_ROWS_TRACE) +
                         (size_t)kg_shape_value_functions(s) * (size_t)kg_shape_value_points(s);
  const size_t sides = s->choice.sides_stay ? 0 : kg_shape_most_rows(s, KG_ROWS_SIDES);
  return KG_LANES * (numbers * sizeof(double) + sides * sizeof(uint32_t));
}

int32_t kg_compact_groups(const kg_shape *shape)
{
  const int64_t n = shape->count.n_patches, patch = shape->count.patch_groups;
  const size_t rows = (size_t)shape->count.n_free * (size_t)shape->m;
  const size_t vector = kg_rounded(rows * sizeof(float));
  const int64_t bytes = patch * (int64_t)chunk_group_bytes(shape);  // of a patch
  const int64_t room = 2 * (int64_t)vector / bytes;
  const int64_t busy = ((int64_t)16 << 20) / bytes + 1, tenth = (n + 9) / 10;
  const int64_t least = busy < tenth ? busy : tenth, part = room > least ? room : least;
  return (int32_t)((part < n ? part : n) * patch);
}
