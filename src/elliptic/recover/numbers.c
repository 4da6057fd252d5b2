// What groups of the mesh say of a solution: sums over regions and fluxes through facets, collected
// chunk by chunk, and brought to the host when all are there.
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "elliptic/recover/recover.h"
#include "ops/numbers/facet_flux.h"
#include "ops/numbers/region_sums.h"
#include "solution/numbers.h"

void kg_numbers_declare(kg_plan *plan, const kg_shape *s, kg_number_arrays *a)
{
  const unsigned recover = KG_IN(RECOVER);
  const kg_grouped_count *const n = &s->grouped;
  kg_plan_array(plan, "lists of groups", kg_grouped_numbers(n), sizeof *a->list, recover, &a->list);
  kg_plan_array(plan, "sums of regions", (size_t)n->n_records, sizeof *a->records, recover,
                &a->records);
  kg_plan_array(plan, "fluxes of facets", (size_t)n->n_facets * (size_t)(1 + s->m),
                sizeof *a->facets, recover, &a->facets);
  for (int b = 0; b < s->n_batches; ++b) {
    const size_t n_modes = (size_t)s->batch[b].size.n_modes;
    const int kind = kg_cell_index(s->batch[b].cell);
    if (b == 0 || s->batch[b - 1].cell != s->batch[b].cell)
      kg_plan_array(plan, "modes at nodes", n_modes * n_modes, sizeof *a->nodes[kind], recover,
                    &a->nodes[kind]);
  }
}

/// Copy the modes of order P at the nodes of a shape to the device.
static kedge_status put_nodes(kg_elliptic *p, const kg_cell *cell, double *to)
{
  const int order = p->shape.size.order, n = cell->n_modes(order),
            n_star = cell->n_modes(order + 1);
  kg_cell_points nodes;
  double *values;
  KG_TRY(kg_cell_nodes_create(p->ctx, cell, order, p->shape.geometry, order, &values, &nodes));
  double *table;
  kedge_status status = kg_host_alloc(p->ctx, (size_t)n * (size_t)n, sizeof *table, &table);
  for (int q = 0; status == KEDGE_OK && q < n; ++q)
    for (int k = 0; k < n; ++k) table[q * n + k] = nodes.value[q * n_star + k];
  if (status == KEDGE_OK)
    status = kg_copy_in(p->ctx, to, table, (size_t)n * (size_t)n * sizeof *table);
  free(table);
  free(values);
  return status;
}

/// The number of entries of an ascending list that are below a value.
static int32_t below(const int32_t *list, int32_t n, int64_t value)
{
  int32_t first = 0, end = n;
  while (first < end) {
    const int32_t middle = first + (end - first) / 2;
    if ((int64_t)(uint32_t)list[middle] < value)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

static kedge_status add_facets(kg_elliptic *p, const kg_chunk *c, const kg_elements *part)
{
  const kg_number_arrays *const a = &p->arrays.numbers;
  const int32_t first = p->shape.batch[c->batch].lanes.first_element + c->first * KG_LANES;
  const int32_t n = p->grouped.count.n_facets, *const sides = (const int32_t *)p->grouped.side;
  const int32_t begin = below(sides, n, kg_side_of(first, 0));
  const int32_t end = below(sides, n, kg_side_of(first + part->n_elements, 0));
  const kg_side *there;
  kg_grouped_at(&p->grouped.count, a->list, &there);
  return kg_facet_flux(p->ctx,
                       &(kg_facet_flux_args){.elements = *part,
                                             .coefficient = c->coefficient,
                                             .n = end - begin,
                                             .side = there + begin,
                                             .first = first,
                                             .trace = p->arrays.iteration.x,
                                             .u = p->made[KG_HELD_U],
                                             .flux = p->made[KG_HELD_FLUX],
                                             .to = a->facets + (int64_t)begin * (1 + p->shape.m)});
}

static kedge_status add_regions(kg_elliptic *p, const kg_chunk *c, const kg_elements *part,
                                const double *load)
{
  const kg_number_arrays *const a = &p->arrays.numbers;
  const kg_lane_batch *const lanes = &p->shape.batch[c->batch].lanes;
  const kg_region_runs *const runs = &p->grouped.runs;
  const int32_t first = lanes->first_group + c->first, end = first + kg_elements_groups(part);
  // The run that has the first group of the chunk, and those that begin before its end.
  const int32_t begin = below(runs->first, runs->n, (int64_t)first + 1) - 1;
  const kg_side *side;
  const kg_region_sums_args args = {.elements = *part,
                                    .coefficient = c->coefficient,
                                    .first_element = lanes->first_element + c->first * KG_LANES,
                                    .first_group = first,
                                    .first_run = begin,
                                    .n_runs = below(runs->first, runs->n, end) - begin,
                                    .runs = kg_grouped_at(&p->grouped.count, a->list, &side),
                                    .nodes = a->nodes[kg_cell_index(part->cell)],
                                    .n_nodes = part->size.n_modes,
                                    .load = load,
                                    .u = p->made[KG_HELD_U],
                                    .flux = p->made[KG_HELD_FLUX],
                                    .trace = p->conductor.there ? p->arrays.iteration.x : NULL,
                                    .sums = a->records};
  kg_run_cost(&p->run, kg_region_sums_cost(&args), 1.0);
  return kg_region_sums_add(p->ctx, &args);
}

kedge_status kg_numbers_add(kg_elliptic *p, const kg_chunk *c, const double *load)
{
  const kg_elements part = kg_elements_part(&p->elements[c->batch], c->first, c->n);
  KG_TRY(add_facets(p, c, &part));
  return add_regions(p, c, &part, load);
}

/// The value of a boundary condition that is one number; NaN: it is not.
static double number_of(const kg_function *f)
{
  return f && f->kind == KG_FUNCTION_CONSTANT ? f->constant : NAN;
}

static bool is_nothing(const kg_function *f)
{
  return f->kind == KG_FUNCTION_NONE || (f->kind == KG_FUNCTION_CONSTANT && f->constant == 0.0);
}

/// Find the two groups between which all flows, if there are two.
static kg_conductor conductor_of(const kg_elliptic *p)
{
  const kg_resolved *const data = p->data.resolved;
  const kg_conductor none = {.there = false};
  kg_conductor found = none;
  double value[2];
  int n = 0;
  if (p->equation.material.reaction != 0.0 || data->derives_source ||
      !is_nothing(&data->equation.source))
    return none;
  for (int g = 0; g < p->mesh->n_groups; ++g) {
    const kg_group *const group = &p->mesh->groups[g];
    if (!kg_is_edge_group(p->mesh, group) || group->count == 0) continue;
    const struct kg_resolved_boundary *const b = &data->boundaries[g];
    const double here = number_of(b->value);
    if (b->type == KEDGE_BOUNDARY_NEUMANN && here == 0.0) continue;
    if (b->type != KEDGE_BOUNDARY_DIRICHLET || isnan(here) || n == 2) return none;
    value[n++] = here;
    if (n == 1) found.group = g;
  }
  if (n < 2 || value[0] == value[1]) return none;
  found.there = true;
  found.difference = value[0] - value[1];
  return found;
}

kedge_status kg_numbers_begin(kg_elliptic *p)
{
  const kg_number_arrays *const a = &p->arrays.numbers;
  p->conductor = conductor_of(p);
  for (int k = 0; k < KG_CELL_KINDS; ++k)
    if (a->nodes[k]) KG_TRY(put_nodes(p, kg_cell_list[k], a->nodes[k]));
  return kg_copy_in(p->ctx, a->list, p->grouped.list,
                    kg_grouped_numbers(&p->grouped.count) * sizeof *a->list);
}

/// Integrals of mass u over elements, from the lanes of all batches.
static kedge_status bring_integrals(kg_elliptic *p, const double *u, double *lanes, double *out)
{
  const kg_moving *const moving = p->data.moving;
  const size_t n = (size_t)p->shape.count.n_groups * KG_LANES;
  const double times = moving->factor;
  KG_TRY(kg_mass_integrals(&p->rules, moving->mass, u, moving->work));
  KG_TRY(kg_copy_out(p->ctx, lanes, moving->work, n * sizeof *lanes));
  for (int b = 0; b < p->shape.n_batches; ++b) {
    const kg_lane_batch *const of = &p->shape.batch[b].lanes;
    const double *const from = lanes + (size_t)of->first_group * KG_LANES;
    for (int32_t i = 0; i < of->n_elements; ++i) out[of->first_element + i] = times * from[i];
  }
  return KEDGE_OK;
}

/// Numbers of a stage become those of the equation with u_t.
static kedge_status move_numbers(kg_elliptic *p)
{
  const size_t n = (size_t)p->mesh->n_elements;
  double *of_u, *of_base, *lanes;
  if (!p->data.moving) return KEDGE_OK;
  KG_TRY(kg_host_alloc(p->ctx, 2 * n + (size_t)p->shape.count.n_groups * KG_LANES, sizeof *of_u,
                       &of_u));
  of_base = of_u + n;
  lanes = of_base + n;
  kedge_status status = bring_integrals(p, p->data.moving->u, lanes, of_u);
  if (status == KEDGE_OK) status = bring_integrals(p, p->data.moving->base, lanes, of_base);
  if (status == KEDGE_OK) kg_numbers_move(p->run.solution, of_u, of_base);
  free(of_u);
  return status;
}

kedge_status kg_numbers_judge(kg_elliptic *p)
{
  const kg_number_arrays *const a = &p->arrays.numbers;
  const size_t n_records = (size_t)p->grouped.count.n_records;
  const size_t n = (size_t)p->grouped.count.n_facets * (size_t)(1 + p->shape.m);
  kg_group_sums sums = {.grouped = &p->grouped, .conductor = p->conductor};
  kg_region_sums *records = NULL;
  double *facets = NULL;
  kedge_status status = kg_host_alloc(p->ctx, n_records, sizeof *records, &records);
  if (status == KEDGE_OK) status = kg_host_alloc(p->ctx, n, sizeof *facets, &facets);
  if (status == KEDGE_OK)
    status = kg_copy_out(p->ctx, records, a->records, n_records * sizeof *records);
  if (status == KEDGE_OK) status = kg_copy_out(p->ctx, facets, a->facets, n * sizeof *facets);
  sums.records = records;
  sums.facets = facets;
  if (status == KEDGE_OK) status = kg_numbers_make(p->run.solution, &sums);
  free(records);
  free(facets);
  return status == KEDGE_OK ? move_numbers(p) : status;
}
