#include "equation/rules.h"

#include <stdlib.h>
#include <string.h>

#include "device/loop.h"
#include "core/memory.h"
#include "ops/sample/points.h"

/// What the tables of a shape depend on.
typedef struct cell_kind {
  const kg_cell *cell;  ///< NULL: functions are sampled at cell points in no element of the shape
  int order, geometry, rows;
  int sample_rows[KG_SAMPLE_KINDS];  ///< of sources and of errors
  bool varies;                       ///< coefficients do
} cell_kind;

static cell_kind kind_of(const kg_shape *s, int k)
{
  const int order = s->size.order;
  return (cell_kind){
      kg_shape_cell(s, k), order, s->geometry, s->rows, {kg_cell_sample_rows(order), s->exact_rows},
      s->choice.varies};
}

static cell_kind kind_of_batch(const kg_rules *rules, int batch)
{
  return kind_of(rules->shape, kg_cell_index(rules->shape->batch[batch].cell));
}

static size_t table_count(const cell_kind *k)
{
  if (k->cell == &kg_tetrahedron)
    return kg_tetrahedron_reference_count(k->order) +
           (k->varies ? kg_tetrahedron_points_count(k->order, k->rows) : 0);
  return kg_cell_tables_count(k->cell, k->order, k->geometry, k->rows);
}

/// Corners are where errors are sampled too.
static kg_cell_behind behind(kg_sample_kind kind)
{
  return kind == KG_SAMPLE_ERRORS ? KG_BEHIND_CORNERS : KG_BEHIND_NOTHING;
}

/// The stabilization of tetrahedra takes the mean of what their points have.
static kg_cell_behind behind_values(const cell_kind *k)
{
  return k->cell == &kg_tetrahedron ? KG_BEHIND_NOTHING : KG_BEHIND_FACETS;
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

void kg_rules_declare(kg_plan *plan, const kg_shape *s, kg_rule_arrays *a)
{
  const size_t d = sizeof(double);
  const unsigned all = KG_FROM(TRANSFER, RECOVER);
  const int rows[KG_SAMPLE_KINDS] = {kg_point_rows(s->size.order), s->fast_exact_rows};
  for (int k = 0; k < KG_SAMPLE_KINDS; ++k) {
    kg_plan_array(plan, "points", 3 * (size_t)kg_points_count(rows[k]), d, all, &a->point_rule[k]);
    kg_plan_array(plan, "modes at points", kg_points_table(s->size, rows[k]), d, all,
                  &a->point_basis[k]);
  }
  for (int i = 0; i < KG_CELL_KINDS; ++i) {
    const cell_kind k = kind_of(s, i);
    if (!k.cell) continue;
    kg_plan_array(plan, "tables of cells", table_count(&k), d, all, &a->cell_tables[i]);
    for (kg_sample_kind j = 0; j < KG_SAMPLE_KINDS; ++j)
      kg_plan_array(plan, "points of cells", sample_count(&k, j), d, all, &a->cell_points[j][i]);
  }
  kg_plan_array(plan, "nodes of cells", kg_shape_numbers(s, KG_ROWS_NODES, s->n_batches), d, all,
                &a->nodes);
}

kedge_status kg_rules_make(kg_rules *rules)
{
  const kg_shape *const s = rules->shape;
  const int rows[KG_SAMPLE_KINDS] = {kg_point_rows(s->size.order), s->fast_exact_rows};
  for (kg_sample_kind j = 0; j < KG_SAMPLE_KINDS; ++j)
    KG_TRY(kg_sampling_create(rules->ctx, s->size.order, rows[j], &rules->sampling[j]));
  for (int i = 0; i < KG_CELL_KINDS; ++i) {
    const cell_kind k = kind_of(s, i);
    if (!k.cell) continue;
    for (kg_sample_kind j = 0; j < KG_SAMPLE_KINDS; ++j)
      KG_TRY(kg_cell_points_create(rules->ctx, k.cell, k.order, k.geometry, k.sample_rows[j],
                                   behind(j), &rules->cell_points[j][i]));
    if (k.cell == &kg_tetrahedron && !k.varies) continue;
    KG_TRY(kg_cell_points_create(rules->ctx, k.cell, k.order, k.geometry, k.rows, behind_values(&k),
                                 &rules->value_points[i]));
  }
  return KEDGE_OK;
}

void kg_rules_free(kg_rules *rules)
{
  for (int j = 0; j < KG_SAMPLE_KINDS; ++j) kg_sampling_free(&rules->sampling[j]);
  for (int i = 0; i < KG_CELL_KINDS; ++i) {
    for (int j = 0; j < KG_SAMPLE_KINDS; ++j) free(rules->cell_points[j][i]);
    free(rules->value_points[i]);
  }
}

/// Nodes of the elements of a batch, [group][2][node][lane]; empty lanes repeat the last element.
static kedge_status put_nodes(const kg_rules *rules, int batch)
{
  enum { GROUPS = 1024 };  // at a time
  kedge_context *const ctx = rules->ctx;
  const kg_shape_batch *b = &rules->shape->batch[batch];
  const int n = b->n_nodes;
  const int32_t n_groups = kg_elements_groups(&rules->elements[batch]);
  const size_t group = 2 * (size_t)n * KG_LANES;
  double *to = rules->arrays->nodes + kg_shape_numbers(rules->shape, KG_ROWS_NODES, batch), *nodes;
  KG_TRY(kg_host_alloc(ctx, GROUPS * group, sizeof *nodes, &nodes));
  kedge_status status = KEDGE_OK;
  for (int32_t first = 0; status == KEDGE_OK && first < n_groups; first += GROUPS) {
    const int32_t count = n_groups - first < GROUPS ? n_groups - first : GROUPS;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, count, KG_LANES * 4 * n))
    for (int32_t lane = 0; lane < count * KG_LANES; ++lane) {
      const int32_t e = first * KG_LANES + lane, last = b->lanes.n_elements - 1;
      const double *from =
          kg_element_nodes(rules->mesh, b->lanes.first_element + (e < last ? e : last));
      for (int i = 0; i < 2 * n; ++i) nodes[kg_cell_at(lane, 2 * n, i % 2 * n + i / 2)] = from[i];
    }
    status =
        kg_copy_in(ctx, to + group * (size_t)first, nodes, group * (size_t)count * sizeof *nodes);
  }
  free(nodes);
  return status;
}

/// Tables of tetrahedra, and behind them those of points where coefficients vary.
static kedge_status create_in_space(kedge_context *ctx, const cell_kind *k, double **out)
{
  const size_t n = kg_tetrahedron_reference_count(k->order);
  double *tables;
  KG_TRY(kg_tetrahedron_reference_create(ctx, k->order, &tables));
  *out = tables;
  if (!k->varies) return KEDGE_OK;
  kedge_status status = kg_host_alloc(ctx, table_count(k), sizeof *tables, out);
  if (status == KEDGE_OK) {
    memcpy(*out, tables, n * sizeof *tables);
    status = kg_tetrahedron_points_fill(ctx, k->order, k->rows, *out + n);
    if (status != KEDGE_OK) free(*out);
  }
  free(tables);
  return status;
}

/// Points and tables of a shape.
static kedge_status put_kind(const kg_rules *rules, int index)
{
  const cell_kind k = kind_of(rules->shape, index);
  double *tables;
  if (!k.cell) return KEDGE_OK;
  for (kg_sample_kind j = 0; j < KG_SAMPLE_KINDS; ++j)
    KG_TRY(kg_copy_in(rules->ctx, rules->arrays->cell_points[j][index],
                      rules->cell_points[j][index], sample_count(&k, j) * sizeof(double)));
  if (k.cell == &kg_tetrahedron)
    KG_TRY(create_in_space(rules->ctx, &k, &tables));
  else
    KG_TRY(kg_cell_tables_create(rules->ctx, k.cell, k.order, k.geometry, k.rows, &tables));
  const kedge_status status = kg_copy_in(rules->ctx, rules->arrays->cell_tables[index], tables,
                                         table_count(&k) * sizeof *tables);
  free(tables);
  return status;
}

kedge_status kg_rules_put(const kg_rules *rules)
{
  const kg_rule_arrays *const a = rules->arrays;
  const size_t d = sizeof(double);
  for (int j = 0; j < KG_SAMPLE_KINDS; ++j) {
    const kg_sampling *from = &rules->sampling[j];
    KG_TRY(kg_copy_in(rules->ctx, a->point_rule[j], from->r, 3 * (size_t)from->n * d));
    KG_TRY(kg_copy_in(rules->ctx, a->point_basis[j], from->basis,
                      kg_points_table(rules->shape->size, from->rows) * d));
  }
  for (int i = 0; i < rules->shape->n_batches; ++i)
    if (rules->shape->batch[i].n_nodes > 0) KG_TRY(put_nodes(rules, i));
  for (int i = 0; i < KG_CELL_KINDS; ++i) KG_TRY(put_kind(rules, i));
  return KEDGE_OK;
}

kg_cells kg_rules_cells(const kg_rules *rules, int batch)
{
  const kg_shape_batch *b = &rules->shape->batch[batch];
  const cell_kind k = kind_of_batch(rules, batch);
  const kg_rule_arrays *a = rules->arrays;
  const size_t sides = kg_shape_numbers(rules->shape, KG_ROWS_SIDES, batch);
  const size_t nodes = kg_shape_numbers(rules->shape, KG_ROWS_NODES, batch);
  const double *const tables = a->cell_tables[kg_cell_index(b->cell)];
  return (kg_cells){.tables = kg_cell_tables_at(k.cell, k.order, k.geometry, k.rows, tables),
                    .n_elements = b->lanes.n_elements,
                    .vertices = rules->space->vertices,
                    .vertex = rules->space->vertex + sides,
                    .nodes = b->n_nodes > 0 ? a->nodes + nodes : NULL,
                    .side_edge = rules->space->side_edge + sides};
}

kg_tetrahedra kg_rules_tetrahedra(const kg_rules *rules, int batch)
{
  const kg_shape_batch *b = &rules->shape->batch[batch];
  const double *const tables = rules->arrays->cell_tables[kg_cell_index(b->cell)];
  const size_t sides = kg_shape_numbers(rules->shape, KG_ROWS_SIDES, batch);
  const cell_kind k = kind_of_batch(rules, batch);
  const double *const behind_them = tables + kg_tetrahedron_reference_count(k.order);
  kg_tetrahedron_points points = {0};
  if (k.varies) points = kg_tetrahedron_points_at(k.order, k.rows, behind_them);
  return (kg_tetrahedra){.reference = kg_tetrahedron_reference_at(b->size.order, tables),
                         .points = points,
                         .n_elements = b->lanes.n_elements,
                         .vertices = rules->space->vertices,
                         .vertex = rules->space->vertex + sides,
                         .side_edge = rules->space->side_edge + sides};
}

static kg_points used(kg_points points, kg_sample_kind kind)
{
  return kind == KG_SAMPLE_LOADS ? kg_points_of_rule(points) : points;
}

kg_points kg_rules_points(const kg_rules *rules, kg_sample_kind kind)
{
  const kg_rule_arrays *const a = rules->arrays;
  return used(kg_points_at(rules->shape->size, rules->sampling[kind].rows, a->point_rule[kind],
                           a->point_basis[kind]),
              kind);
}

kg_points kg_rules_host_points(const kg_rules *rules, kg_sample_kind kind)
{
  return used(kg_sampling_points(&rules->sampling[kind]), kind);
}

kg_cell_points kg_rules_cell_points(const kg_rules *rules, int batch, kg_sample_kind kind)
{
  const cell_kind k = kind_of_batch(rules, batch);
  return sample_at(&k, kind, rules->arrays->cell_points[kind][kg_cell_index(k.cell)]);
}

kg_cell_points kg_rules_host_cell_points(const kg_rules *rules, int batch, kg_sample_kind kind)
{
  const cell_kind k = kind_of_batch(rules, batch);
  return sample_at(&k, kind, rules->cell_points[kind][kg_cell_index(k.cell)]);
}

kg_cell_points kg_rules_value_points(const kg_rules *rules, int batch)
{
  const cell_kind k = kind_of_batch(rules, batch);
  return kg_cell_points_at(k.cell, k.order, k.geometry, k.rows, behind_values(&k),
                           rules->value_points[kg_cell_index(k.cell)]);
}

kg_places kg_rules_places(const kg_rules *rules, int batch, kg_sample_kind kind)
{
  const kg_shape_batch *const b = &rules->shape->batch[batch];
  kg_places places;
  if (b->samples_cells) {
    const kg_cell_points points = kg_rules_host_cell_points(rules, batch, kind);
    const int corners = kind == KG_SAMPLE_ERRORS ? b->lanes.n_facets : 0;
    places = kg_cell_places(&points, points.n - corners, rules->mesh);
  } else {
    const kg_points points = kg_rules_host_points(rules, kind);
    places = kg_triangle_places(&points, rules->mesh);
  }
  places.first_element = b->lanes.first_element;
  places.n_elements = b->lanes.n_elements;
  return places;
}

const int32_t *kg_rules_regions(const kg_rules *rules, int batch, int32_t first)
{
  const int32_t *const regions = rules->space->regions;
  return regions ? regions + rules->shape->batch[batch].lanes.first_element + first * KG_LANES
                 : NULL;
}
