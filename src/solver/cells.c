#include "solver/cells.h"

#include <stdlib.h>

#include "device/context.h"
#include "ops/local/quadrature/errors.h"
#include "ops/local/quadrature/loads.h"
#include "ops/sample/points.h"

const kg_cell *kg_shape_cell(const kg_shape *s)
{
  const kg_cell *last = s->batch[s->n_batches - 1].cell;  // triangles come first
  return last == &kg_triangle ? NULL : last;
}

static int cell_points(const kg_shape *s)
{
  const int rows = kg_cell_sample_rows(s->size.order);
  return kg_shape_cell(s) ? rows * rows : 0;
}

int kg_shape_source_points(const kg_shape *s)
{
  const int of_cells = cell_points(s), of_triangles = kg_rule_points(s->size.order);
  return of_cells > of_triangles ? of_cells : of_triangles;
}

int kg_shape_exact_points(const kg_shape *s)
{
  const int of_cells = kg_shape_cell(s) ? cell_points(s) + kg_shape_cell(s)->n_vertices : 0;
  return of_cells > s->n_points ? of_cells : s->n_points;
}

void kg_cells_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const kg_cell *cell = kg_shape_cell(s);
  const int order = s->size.order, rows = kg_cell_sample_rows(order);
  const size_t d = sizeof(double);
  const unsigned all = KG_FROM(TRANSFER, RECOVER);
  if (!cell) return;
  kg_plan_array(plan, "tables of cells", kg_cell_tables_count(cell, order, 1, kg_cell_rows(order)),
                d, all, &a->cell_tables);
  kg_plan_array(plan, "points of cells",
                kg_cell_points_count(cell, order, 1, rows, KG_BEHIND_CORNERS), d, all,
                &a->cell_points);
}

kedge_status kg_cells_prepare(kg_pipeline *p)
{
  const kg_cell *cell = kg_shape_cell(&p->shape);
  const int order = p->shape.size.order;
  if (!cell) return KEDGE_OK;
  return kg_cell_points_create(p->ctx, cell, order, 1, kg_cell_sample_rows(order),
                               KG_BEHIND_CORNERS, &p->cell_points);
}

kedge_status kg_cells_put(kg_pipeline *p)
{
  const kg_cell *cell = kg_shape_cell(&p->shape);
  const int order = p->shape.size.order, rows = kg_cell_rows(order);
  const size_t d = sizeof(double);
  double *tables;
  if (!cell) return KEDGE_OK;
  KG_TRY(kg_copy_in(
      p->ctx, p->arrays.cell_points, p->cell_points,
      kg_cell_points_count(cell, order, 1, kg_cell_sample_rows(order), KG_BEHIND_CORNERS) * d));
  KG_TRY(kg_cell_tables_create(p->ctx, cell, order, 1, rows, &tables));
  const kedge_status status = kg_copy_in(p->ctx, p->arrays.cell_tables, tables,
                                         kg_cell_tables_count(cell, order, 1, rows) * d);
  free(tables);
  return status;
}

kg_cells kg_cells_of(const kg_pipeline *p, int batch)
{
  const kg_shape_batch *b = &p->shape.batch[batch];
  const int order = p->shape.size.order;
  const size_t sides = kg_shape_numbers(&p->shape, KG_ROWS_SIDES, batch);
  return (kg_cells){
      .tables = kg_cell_tables_at(b->cell, order, 1, kg_cell_rows(order), p->arrays.cell_tables),
      .n_elements = b->lanes.n_elements,
      .vertices = p->arrays.vertices,
      .vertex = p->arrays.vertex + sides,
      .side_edge = p->arrays.side_edge + sides};
}

static kg_cell_points points_at(const kg_pipeline *p, const double *base, bool corners)
{
  const kg_cell *cell = kg_shape_cell(&p->shape);
  const int order = p->shape.size.order;
  kg_cell_points points =
      kg_cell_points_at(cell, order, 1, kg_cell_sample_rows(order), KG_BEHIND_CORNERS, base);
  if (!corners) points.n -= cell->n_vertices;
  return points;
}

kg_cell_points kg_cells_host_points(const kg_pipeline *p, bool corners)
{
  return points_at(p, p->cell_points, corners);
}

kedge_status kg_cells_loads(kg_pipeline *p, int batch, int32_t first, int32_t count,
                            const double *values, double *load)
{
  const kg_cell_loads_args args = {.cells = kg_cells_part(&p->elements[batch].cells, first, count),
                                   .points = points_at(p, p->arrays.cell_points, false),
                                   .scale = p->scale,
                                   .values = values,
                                   .load = load};
  kg_stage_cost(p, kg_cell_loads_cost(&args.points, args.cells.n_elements), 1.0);
  return kg_cell_loads(p->ctx, &args);
}

kedge_status kg_cells_errors(kg_pipeline *p, int batch, int32_t first, int32_t count)
{
  const kg_arrays *a = &p->arrays;
  const kg_cell_errors_args args = {
      .cells = kg_cells_part(&p->elements[batch].cells, first, count),
      .material = kg_cell_material_of(&p->material),
      .points = points_at(p, a->cell_points, true),
      .u = a->u,
      .flux = a->q,
      .u_star = a->u_star,
      .exact = a->exact_values,
      .by_group = a->error_sums + p->shape.batch[batch].lanes.first_group + first};
  kg_stage_cost(p, kg_cell_errors_cost(&args.points, args.cells.n_elements), 1.0);
  return kg_cell_errors(p->ctx, &args);
}
