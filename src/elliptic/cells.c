#include "elliptic/cells.h"

#include <stdlib.h>

#include "device/loop.h"
#include "core/memory.h"
#include "ops/local/quadrature/errors.h"
#include "ops/sample/points.h"
#include "elliptic/materials.h"

/// What the tables of a shape depend on.
typedef struct cell_kind {
  const kg_cell *cell;  ///< NULL: no element of the shape is integrated by quadrature
  int order, geometry, rows;
  int sample_rows[KG_SAMPLE_KINDS];  ///< of sources and of errors
} cell_kind;

static cell_kind kind_of(const kg_shape *s, int k)
{
  const int order = s->size.order;
  cell_kind kind = {NULL, order, s->geometry, s->rows, {kg_cell_sample_rows(order), s->exact_rows}};
  for (int i = 0; i < s->n_batches; ++i)
    if (s->batch[i].by_quadrature && kg_cell_index(s->batch[i].cell) == k)
      kind.cell = s->batch[i].cell;
  return kind;
}

static size_t table_count(const cell_kind *k)
{
  return kg_cell_tables_count(k->cell, k->order, k->geometry, k->rows);
}

/// Corners are where errors are sampled too.
static kg_cell_behind behind(kg_sample_kind kind)
{
  return kind == KG_SAMPLE_ERRORS ? KG_BEHIND_CORNERS : KG_BEHIND_NOTHING;
}

static size_t sample_count(const cell_kind *k, kg_sample_kind kind)
{
  return kg_cell_points_count(k->cell, k->order, k->geometry, k->sample_rows[kind], behind(kind));
}

static kg_cell_points sample_at(const cell_kind *k, kg_sample_kind kind, const double *base)
{
  return kg_cell_points_at(k->cell, k->order, k->geometry, k->sample_rows[kind], behind(kind),
                           base);
}

static int larger(int a, int b)
{
  return a > b ? a : b;
}

int kg_shape_source_points(const kg_shape *s)
{
  int most = kg_rule_points(s->size.order);
  for (int i = 0; i < KG_CELL_KINDS; ++i) {
    const cell_kind k = kind_of(s, i);
    const int rows = k.sample_rows[KG_SAMPLE_LOADS];
    if (k.cell) most = larger(most, rows * rows);
  }
  return most;
}

int kg_shape_exact_points(const kg_shape *s)
{
  int most = kg_points_count(s->fast_exact_rows);
  for (int i = 0; i < KG_CELL_KINDS; ++i) {
    const cell_kind k = kind_of(s, i);
    const int rows = k.sample_rows[KG_SAMPLE_ERRORS];
    if (k.cell) most = larger(most, rows * rows + k.cell->n_vertices);
  }
  return most;
}

int kg_shape_value_points(const kg_shape *s)
{
  int most = 0;
  for (int i = 0; i < KG_CELL_KINDS; ++i) {
    const cell_kind k = kind_of(s, i);
    if (k.cell) most = larger(most, k.rows * (k.rows + k.cell->n_facets));
  }
  return s->choice.varies ? most : 0;
}

void kg_cells_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const size_t d = sizeof(double), lanes = kg_shape_chunk_lanes(s);
  const unsigned all = KG_FROM(TRANSFER, RECOVER);
  for (int i = 0; i < KG_CELL_KINDS; ++i) {
    const cell_kind k = kind_of(s, i);
    if (!k.cell) continue;
    kg_plan_array(plan, "tables of cells", table_count(&k), d, all, &a->cell_tables[i]);
    for (kg_sample_kind j = 0; j < KG_SAMPLE_KINDS; ++j)
      kg_plan_array(plan, "points of cells", sample_count(&k, j), d, all, &a->cell_points[j][i]);
  }
  kg_plan_array(plan, "nodes of cells", kg_shape_numbers(s, KG_ROWS_NODES, s->n_batches), d, all,
                &a->nodes);
  const unsigned plain = KG_IN(LOCAL) | (s->choice.repeats ? KG_IN(CONDENSE) : 0);
  const unsigned made = s->choice.iterates == KG_SINGLE ? 0 : plain;
  kg_plan_array(plan, "coefficients", KG_CELL_FUNCTIONS * (size_t)kg_shape_value_points(s) * lanes,
                d, made | KG_IN(RECOVER) | KG_ANEW, &a->coefficients);
  const bool errors = s->choice.varies && s->choice.wants_errors;
  kg_plan_array(plan, "diffusion of errors",
                errors ? 3 * (size_t)kg_shape_exact_points(s) * lanes : 0, d, KG_IN(RECOVER),
                &a->error_diffusion);
}

kedge_status kg_cells_prepare(kg_elliptic *p)
{
  for (int i = 0; i < KG_CELL_KINDS; ++i) {
    const cell_kind k = kind_of(&p->shape, i);
    if (!k.cell) continue;
    for (kg_sample_kind j = 0; j < KG_SAMPLE_KINDS; ++j)
      KG_TRY(kg_cell_points_create(p->ctx, k.cell, k.order, k.geometry, k.sample_rows[j], behind(j),
                                   &p->cell_points[j][i]));
    KG_TRY(kg_cell_points_create(p->ctx, k.cell, k.order, k.geometry, k.rows, KG_BEHIND_FACETS,
                                 &p->value_points[i]));
  }
  return KEDGE_OK;
}

void kg_cells_free(kg_elliptic *p)
{
  for (int i = 0; i < KG_CELL_KINDS; ++i) {
    for (int j = 0; j < KG_SAMPLE_KINDS; ++j) free(p->cell_points[j][i]);
    free(p->value_points[i]);
  }
  kg_coefficients_close(&p->values);
}

/// Nodes of the elements of a batch, [group][2][node][lane]; empty lanes repeat the last element.
static kedge_status put_nodes(kg_elliptic *p, int batch)
{
  enum { GROUPS = 1024 };  // at a time
  const kg_shape_batch *b = &p->shape.batch[batch];
  const int n = b->n_nodes;
  const int32_t n_groups = kg_elements_groups(&p->elements[batch]);
  const size_t group = 2 * (size_t)n * KG_LANES;
  double *to = p->arrays.nodes + kg_shape_numbers(&p->shape, KG_ROWS_NODES, batch), *nodes;
  KG_TRY(kg_host_alloc(p->ctx, GROUPS * group, sizeof *nodes, &nodes));
  kedge_status status = KEDGE_OK;
  for (int32_t first = 0; status == KEDGE_OK && first < n_groups; first += GROUPS) {
    const int32_t count = n_groups - first < GROUPS ? n_groups - first : GROUPS;
#pragma omp parallel for num_threads(kg_loop_threads(p->ctx, count, KG_LANES * 4 * n))
    for (int32_t lane = 0; lane < count * KG_LANES; ++lane) {
      const int32_t e = first * KG_LANES + lane, last = b->lanes.n_elements - 1;
      const double *from =
          kg_element_nodes(p->mesh, b->lanes.first_element + (e < last ? e : last));
      for (int i = 0; i < 2 * n; ++i) nodes[kg_cell_at(lane, 2 * n, i % 2 * n + i / 2)] = from[i];
    }
    status = kg_copy_in(p->ctx, to + group * (size_t)first, nodes,
                        group * (size_t)count * sizeof *nodes);
  }
  free(nodes);
  return status;
}

kedge_status kg_cells_put(kg_elliptic *p)
{
  for (int i = 0; i < p->shape.n_batches; ++i)
    if (p->shape.batch[i].n_nodes > 0) KG_TRY(put_nodes(p, i));
  for (int i = 0; i < KG_CELL_KINDS; ++i) {
    const cell_kind k = kind_of(&p->shape, i);
    const size_t d = sizeof(double);
    double *tables;
    if (!k.cell) continue;
    for (kg_sample_kind j = 0; j < KG_SAMPLE_KINDS; ++j)
      KG_TRY(kg_copy_in(p->ctx, p->arrays.cell_points[j][i], p->cell_points[j][i],
                        sample_count(&k, j) * d));
    KG_TRY(kg_cell_tables_create(p->ctx, k.cell, k.order, k.geometry, k.rows, &tables));
    const kedge_status status =
        kg_copy_in(p->ctx, p->arrays.cell_tables[i], tables, table_count(&k) * d);
    free(tables);
    KG_TRY(status);
  }
  return KEDGE_OK;
}

kg_cells kg_cells_of(const kg_elliptic *p, int batch)
{
  const kg_shape_batch *b = &p->shape.batch[batch];
  const int i = kg_cell_index(b->cell);
  const cell_kind k = kind_of(&p->shape, i);
  const kg_arrays *a = &p->arrays;
  const size_t sides = kg_shape_numbers(&p->shape, KG_ROWS_SIDES, batch);
  const size_t nodes = kg_shape_numbers(&p->shape, KG_ROWS_NODES, batch);
  return (kg_cells){
      .tables = kg_cell_tables_at(k.cell, k.order, k.geometry, k.rows, a->cell_tables[i]),
      .n_elements = b->lanes.n_elements,
      .vertices = a->vertices,
      .vertex = a->vertex + sides,
      .nodes = b->n_nodes > 0 ? a->nodes + nodes : NULL,
      .side_edge = a->side_edge + sides};
}

kg_cell_points kg_cells_device_points(const kg_elliptic *p, int batch, kg_sample_kind kind)
{
  const int i = kg_cell_index(p->shape.batch[batch].cell);
  const cell_kind k = kind_of(&p->shape, i);
  return sample_at(&k, kind, p->arrays.cell_points[kind][i]);
}

kg_cell_points kg_cells_host_points(const kg_elliptic *p, int batch, kg_sample_kind kind)
{
  const int i = kg_cell_index(p->shape.batch[batch].cell);
  const cell_kind k = kind_of(&p->shape, i);
  return sample_at(&k, kind, p->cell_points[kind][i]);
}

kedge_status kg_cells_coefficient(kg_elliptic *p, int batch, int32_t first, int32_t count,
                                  double *values, kg_coefficient *out)
{
  *out = kg_materials_from(p, batch, first);
  if (!p->shape.choice.varies || !p->shape.batch[batch].by_quadrature) return KEDGE_OK;
  const int i = kg_cell_index(p->shape.batch[batch].cell);
  const cell_kind k = kind_of(&p->shape, i);
  kg_coefficient_chunk chunk = {
      .batch = batch,
      .first = first,
      .count = count,
      .host = kg_cell_points_at(k.cell, k.order, k.geometry, k.rows, KG_BEHIND_FACETS,
                                p->value_points[i]),
      .device = kg_cell_points_and_facets(&p->elements[batch].cells.tables)};
  if (!(out->cells.length > 0.0)) chunk.host.n = chunk.device.n = k.rows * k.rows;
  out->cells.values = values;
  out->cells.reaction = kg_has_no_reaction(&p->equation.resolved) ? 0.0 : 1.0;
  const int residuals = p->shape.choice.residual == KG_PLAIN ? 0 : KG_RESIDUALS;
  return kg_coefficients_put(p, &chunk, KG_CELL_FUNCTIONS, 2 + residuals, values);
}

kedge_status kg_cells_loads(kg_elliptic *p, int batch, int32_t first, int32_t count,
                            const kg_cell_loads_args *to)
{
  const int i = kg_cell_index(p->shape.batch[batch].cell);
  const cell_kind k = kind_of(&p->shape, i);
  kg_cell_loads_args args = *to;
  args.cells = kg_cells_part(&p->elements[batch].cells, first, count);
  args.points = sample_at(&k, KG_SAMPLE_LOADS, p->arrays.cell_points[KG_SAMPLE_LOADS][i]);
  args.scale = p->equation.scale;
  kg_run_cost(&p->run, kg_cell_loads_cost(&args.points, args.cells.n_elements), 1.0);
  return kg_cell_loads(p->ctx, &args);
}

kedge_status kg_cells_errors(kg_elliptic *p, int batch, int32_t first, int32_t count)
{
  const kg_arrays *a = &p->arrays;
  const int i = kg_cell_index(p->shape.batch[batch].cell);
  const cell_kind k = kind_of(&p->shape, i);
  kg_cell_errors_args args = {
      .cells = kg_cells_part(&p->elements[batch].cells, first, count),
      .material = kg_materials_from(p, batch, first).cells,
      .points = sample_at(&k, KG_SAMPLE_ERRORS, a->cell_points[KG_SAMPLE_ERRORS][i]),
      .u = p->made[KG_HELD_U],
      .flux = p->made[KG_HELD_FLUX],
      .u_star = p->made[KG_HELD_U_STAR],
      .exact = a->exact_values,
      .by_group = a->error_sums + p->shape.batch[batch].lanes.first_group + first,
      .flux_by_group =
          a->flux_sums ? a->flux_sums + p->shape.batch[batch].lanes.first_group + first : NULL};
  if (p->shape.choice.varies) {
    kg_coefficient_chunk chunk = {.batch = batch,
                                  .first = first,
                                  .count = count,
                                  .host = kg_cells_host_points(p, batch, KG_SAMPLE_ERRORS),
                                  .device = args.points};
    chunk.host.n = chunk.device.n = args.n_diffusion = args.points.n - k.cell->n_vertices;
    KG_TRY(kg_coefficients_put(p, &chunk, 3, 1, a->error_diffusion));
    args.diffusion = a->error_diffusion;
  }
  kg_run_cost(&p->run, kg_cell_errors_cost(&args.points, args.cells.n_elements), 1.0);
  return kg_cell_errors(p->ctx, &args);
}
