#include "elliptic/elliptic.h"

#include <stdlib.h>

#include "device/context.h"
#include "core/memory.h"
#include "ops/local/quadrature/means.h"
#include "ops/local/tetrahedron/tetrahedron.h"
#include "ops/local/triangle/batch_part.h"

/// The lines of edges, where the smoother has them: made once, counted in the shape.
static kedge_status count_lines(kg_elliptic *p, kg_shape *s)
{
  if (s->choice.precond == KG_JACOBI || !kg_smoother_has_lines(s->choice.smoother)) return KEDGE_OK;
  if (!p->space.lines.begin)
    KG_TRY(kg_edge_lines_create(p->ctx, p->mesh, &p->space.cut->layout, &p->space.lines));
  s->alignment = p->space.lines.alignment;
  s->n_lines = p->space.lines.n_lines;
  s->n_line_steps = p->space.lines.n_steps;
  return KEDGE_OK;
}

/// The fields that the solution of a solve keeps.
static unsigned kept_fields(const kg_elliptic *p, const kg_choice *c)
{
  if (p->run.solution && p->run.solution->only_report) return 0;
  return c->wants_means ? KG_HOLDS_INDICATOR | KG_HOLDS_MEANS
                        : KG_HOLDS_MODES | KG_HOLDS_INDICATOR | KG_HOLDS_TRACE;
}

kedge_status kg_elliptic_shape(kg_elliptic *p, kedge_operator linear, kg_shape *s)
{
  const kg_trace_counts *count = &p->space.cut->layout.count;
  const kedge_problem *const problem = p->equation.problem;
  const int order = problem->order, exact = problem->exact_quadrature;
  const kg_choose_args args = {&p->equation, count, linear, p->space.cut->layout.batches.n};
  KG_TRY(kg_choose_check(p->ctx, &args));
  *s = (kg_shape){.m = kg_facet_modes(p->mesh->block[0].cell, order),
                  .size = kg_sizes_of(order),
                  .count = *count,
                  .grouped = p->grouped.count,
                  .n_batches = p->space.cut->layout.batches.n,
                  .n_vertices = p->mesh->info.vertices,
                  .geometry = p->mesh->geometry,
                  .boundary_points = kg_cell_rule_points(p->mesh->block[0].cell->facet,
                                                         kg_boundary_points(problem)),
                  .rows = problem->quadrature > 0 ? problem->quadrature : kg_cell_rows(order),
                  .exact_rows = exact > 0 ? exact : kg_cell_sample_rows(order),
                  .fast_exact_rows = exact > 0 ? exact : kg_error_rows(order),
                  .choice = kg_choose(p->ctx, &args),
                  .n_materials = p->equation.resolved.n_materials,
                  .alignment = p->mesh->alignment,
                  .n_robin = p->equation.resolved.has_robin ? count->n_neumann : 0,
                  .forgets_constants = kg_forgets_constants(&p->equation.resolved)};
  for (int i = 0; i < s->n_batches; ++i) {
    const kg_lane_batch *lanes = &p->space.cut->layout.batches.batch[i];
    const kg_cell *cell = lanes->cell;
    const bool in_space = cell == &kg_tetrahedron;
    const bool by_quadrature = cell == &kg_quadrilateral || s->choice.by_quadrature;
    const int inverse = by_quadrature ? kg_equation_inverse(&p->equation, cell, p->space.is_affine)
                                      : KG_INVERSE_ADJUSTED;
    s->batch[i] =
        (kg_shape_batch){.cell = cell,
                         .size = kg_cell_sizes_of(cell, order),
                         .lanes = *lanes,
                         .n_nodes = s->geometry > 1 ? cell->n_modes(s->geometry) : 0,
                         .exact = inverse == KG_INVERSE_EXACT,
                         .keeps_gradient = inverse == KG_INVERSE_GRADIENT,
                         .by_quadrature = by_quadrature,
                         .n_means = by_quadrature ? KG_CELL_MEANS
                                    : in_space    ? kg_tetrahedron_means_count(s->choice.varies)
                                                  : 3,
                         .samples_cells = by_quadrature || in_space};
  }
  s->choice.apart = p->ctx->arrays_apart;
  s->choice.kept = kept_fields(p, &s->choice);
  if (p->repeats) {  // what a set-up keeps anyway, or a later source may need
    s->choice.repeats = s->choice.sides_stay = s->choice.facet_sides_stay = true;
    s->choice.reads_regions = p->ctx->backend == KEDGE_BACKEND_CUDA;
  }
  s->choice.marches = p->march_vectors > 0;
  if (s->choice.marches)
    s->march_bytes = kg_march_bytes(s, &p->equation, p->space.is_affine, p->march_vectors);
  KG_TRY(count_lines(p, s));
  KG_TRY(kg_shape_work(p->ctx, s));
  s->choice.residual_groups = kg_compact_groups(s);
  s->choice.recover_groups = kg_chunk_groups(s, p->ctx->backend == KEDGE_BACKEND_CUDA);
  return KEDGE_OK;
}

static kedge_status cut(kg_elliptic *p)
{
  const kedge_mesh *mesh = p->mesh;
  bool *is_dirichlet;
  KG_TRY(kg_host_calloc(p->ctx, (size_t)mesh->n_groups, sizeof *is_dirichlet, &is_dirichlet));
  for (int i = 0; i < mesh->n_groups; ++i)
    is_dirichlet[i] = kg_is_edge_group(mesh, &mesh->groups[i]) &&
                      p->equation.resolved.boundaries[i].type == KEDGE_BOUNDARY_DIRICHLET;
  const int m = kg_facet_modes(mesh->block[0].cell, p->equation.problem->order);
  return kg_space_create(p->ctx, mesh, kg_patch_groups(m), is_dirichlet,
                         p->before ? &p->before->space : NULL, &p->space);
}

/// What does not depend on where the solve is.
static kg_run run_of(kg_elliptic *p)
{
  kg_run run = p->run;
  run.ctx = p->ctx;
  run.method = &kg_elliptic_method;
  run.plan = &p->plan;
  run.n_elements = p->mesh->n_elements;
  run.n_rows = (int64_t)p->shape.count.n_free * p->shape.m;
  return run;
}

kedge_status kg_elliptic_prepare(kg_elliptic *p)
{
  const kedge_mesh *mesh = p->mesh;
  KG_TRY(kg_equation_make(p->ctx, mesh, &p->equation));
  KG_TRY(cut(p));
  KG_TRY(kg_grouped_create(p->ctx, mesh, &p->space.cut->layout.batches, &p->grouped));
  // On longer elements aggregates, which follow the strong connections, take fewer iterations.
  const bool refined = mesh->info.min_angle >= KG_LINE_ANGLE && kg_mesh_quadrilaterals(mesh) == 0;
  p->space.refined = refined ? mesh : NULL;
  KG_TRY(kg_elliptic_shape(p, p->equation.problem->operator_kind, &p->shape));
  p->run = run_of(p);
  p->data = kg_elliptic_data(p);
  p->rules = (kg_rules){.ctx = p->ctx,
                        .mesh = mesh,
                        .shape = &p->shape,
                        .run = &p->run,
                        .elements = p->elements,
                        .space = &p->arrays.space,
                        .arrays = &p->arrays.rules};
  p->coefficients = (kg_coefficient_values){
      .rules = &p->rules, .equation = &p->equation, .materials = &p->arrays.materials};
  p->source = (kg_source){.coefficients = &p->coefficients, .arrays = &p->arrays.source};
  return kg_rules_make(&p->rules);
}

void kg_elliptic_free(kg_elliptic *p)
{
  kg_source_close(&p->source);
  kg_iteration_free(p->ctx, &p->arrays.iteration);
  kg_plan_free(p->ctx, &p->plan);
  free(p->boundary);
  kg_coefficients_close(&p->coefficients);
  kg_rules_free(&p->rules);
  kg_grouped_free(&p->grouped);
  kg_space_free(&p->space);
  kg_resolved_free(&p->equation.resolved);
}

kg_locals kg_elliptic_locals_at(const kg_elliptic *p, kg_locals shape, void *memory)
{
  char *next = memory;
  shape.side_edge = p->space.batch.arrays.side_edge;
  for (int i = 0; i < shape.n_locals; ++i) {
    shape.local[i].data = next;
    next += kg_local_bytes(&shape.local[i]);
  }
  return shape;
}

bool kg_next_chunk(const kg_elliptic *p, int32_t most, kg_chunk *c)
{
  kg_chunk next = {.batch = c->batch, .first = c->first + c->n};
  while (next.batch < p->shape.n_batches &&
         next.first >= kg_elements_groups(&p->elements[next.batch]))
    next = (kg_chunk){.batch = next.batch + 1};
  if (next.batch == p->shape.n_batches) return false;
  const int32_t left = kg_elements_groups(&p->elements[next.batch]) - next.first;
  next.n = left < most ? left : most;
  *c = next;
  return true;
}

double *kg_elliptic_rows(const kg_elliptic *p, double *array, kg_rows rows, const kg_chunk *c)
{
  const size_t n = (size_t)kg_batch_rows(&p->shape.batch[c->batch], rows);
  return array + kg_shape_numbers(&p->shape, rows, c->batch) + n * KG_LANES * (size_t)c->first;
}

/// The elements of a batch, with pointers into the arrays that all share.
static kg_elements elements_of(const kg_elliptic *p, int i)
{
  const kg_shape_batch *b = &p->shape.batch[i];
  const int32_t n = b->lanes.n_elements, groups = (n + KG_LANES - 1) / KG_LANES;
  kg_elements e = {
      .cell = b->cell, .size = b->size, .n_elements = n, .by_quadrature = b->by_quadrature};
  e.batch =
      kg_batch_of_lanes(&p->space.batch, b->lanes.first_group * KG_LANES, groups * KG_LANES, n);
  if (b->by_quadrature) e.cells = kg_rules_cells(&p->rules, i);
  if (b->cell == &kg_tetrahedron) e.tetrahedra = kg_rules_tetrahedra(&p->rules, i);
  e.are_parallelograms = b->cell == &kg_quadrilateral && p->space.is_affine && b->n_nodes == 0 &&
                         !b->exact && !b->keeps_gradient && !p->shape.choice.varies;
  return e;
}

void kg_elliptic_place_chunk(kg_elliptic *p, int batch, int32_t first, bool is_kept)
{
  const kg_arrays *const a = &p->arrays;
  const kedge_solution *const s = p->run.solution;
  double *const of_chunk[] = {a->u, a->q, a->u_star, a->indicator, a->constant};
  for (kg_held_field f = 0; f < KG_HELD_TRACE; ++f) {
    double *const there = is_kept ? kg_solution_there(s, f, batch) : NULL;
    p->made[f] =
        there ? there + kg_held_rows(&s->batch[batch], f) * KG_LANES * (size_t)first : of_chunk[f];
  }
}

kedge_status kg_elliptic_commit(kg_elliptic *p)
{
  const kg_arrays *a = &p->arrays;
  p->plan.poison = p->ctx->backend == KEDGE_BACKEND_SHADOW;
  KG_TRY(kg_plan_commit(p->ctx, &p->plan));
  kg_space_view(&p->space, &a->space, p->shape.m,
                kg_reference_at(p->shape.size.order, a->reference));
  kg_elliptic_place_chunk(p, 0, 0, false);
  for (int i = 0; i < p->shape.n_batches; ++i) p->elements[i] = elements_of(p, i);
  KG_TRY(kg_trace_bind(p));
  return kg_plan_enter(p->ctx, &p->plan, KG_PHASE_TRANSFER);
}
