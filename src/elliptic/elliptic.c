#include "elliptic/elliptic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "core/memory.h"
#include "core/nvtx.h"
#include "problem/located.h"
#include "ops/local/triangle/batch_part.h"
#include "ops/trace/trace_apply.h"
#include "elliptic/cells.h"
#include "elliptic/materials.h"
#include "elliptic/memory.h"
#include "solution/values.h"

/// The lines of edges, where the smoother has them: made once, counted in the shape.
static kedge_status count_lines(kg_elliptic *p, kg_shape *s)
{
  if (s->choice.precond == KG_JACOBI || !kg_smoother_has_lines(s->choice.smoother)) return KEDGE_OK;
  if (!p->space.lines.begin) KG_TRY(kg_edge_lines_create(p->ctx, p->mesh, &p->space.layout, &p->space.lines));
  s->alignment = p->space.lines.alignment;
  s->n_lines = p->space.lines.n_lines;
  s->n_line_steps = p->space.lines.n_steps;
  return KEDGE_OK;
}

/// The largest diffusion and reaction: of all materials, or where they vary at some points.
static void largest_coefficients(const kg_elliptic *p, double most[2])
{
  enum { SAMPLES = 256 };
  const kg_resolved *r = &p->equation.resolved;
  const kedge_mesh *mesh = p->mesh;
  double x[SAMPLES], y[SAMPLES], memory[KG_LOCATED * SAMPLES], value[4 * SAMPLES];
  const kg_located at = kg_located_in(memory, SAMPLES);
  most[0] = most[1] = 0.0;
  if (r->by_device) memcpy(most, r->summary.most, sizeof r->summary.most);
  for (int m = 0; m < r->n_materials && !r->by_device; ++m) {
    most[0] = fmax(most[0], fmax(r->material[m][0], r->material[m][2]));
    most[1] = fmax(most[1], r->material[m][3]);
  }
  if (!r->varies) return;
  const int64_t stride = (mesh->n_elements + SAMPLES - 1) / SAMPLES;
  int n = 0;
  for (int64_t e = 0; e < mesh->n_elements; e += stride, ++n) {
    const int32_t *v = kg_element_vertices(mesh, (int32_t)e);
    const double *a = mesh->vertices + 2 * (int64_t)v[0], *b = mesh->vertices + 2 * (int64_t)v[1];
    const double *c = mesh->vertices + 2 * (int64_t)v[2];
    x[n] = (a[0] + b[0] + c[0]) / 3.0;
    y[n] = (a[1] + b[1] + c[1]) / 3.0;
    const bool triangle = kg_block_of(mesh, (int32_t)e)->cell == &kg_triangle;
    kg_locate(&at, (size_t)n, mesh, (int32_t)e, triangle ? -1.0 / 3.0 : 1.0 / 3.0, -1.0 / 3.0);
  }
  const kedge_points points = kg_located_points(&at, mesh, (size_t)n, x, y);
  kg_coefficients_evaluate(&r->equation, &points, value);
  for (int i = 0; i < n; ++i) {
    most[0] = fmax(most[0], fmax(value[i], value[2 * n + i]));
    most[1] = fmax(most[1], value[3 * n + i]);
  }
}

/// Scale the equation, so that numbers kept in single precision stay in its range. Factors and
/// roots of powers of four are exact: the division changes no bit of a result. The stabilization is
/// diffusion over a length, where the problem says nothing else (docs/math.md#units).
static void scale_equation(kg_elliptic *p)
{
  const kedge_problem *problem = p->equation.problem;
  const double hh = kg_mean_square(p->mesh), length = kg_stabilization_length(p);
  const bool given = !(length > 0.0);
  double most[2];
  int exponent;
  largest_coefficients(p, most);
  frexp(most[0] + most[1] * hh, &exponent);
  const int shift = exponent < -1000 ? 1000 : exponent > 1000 ? -1000 : -exponent / 2 * 2;
  const double tau = given ? problem->stabilization : most[0] / length;
  p->equation.scale = ldexp(1.0, shift);
  p->equation.material = (kg_material){ldexp(most[0], shift), ldexp(most[1], shift), ldexp(tau, shift),
                              problem->stabilization_scaling};
  p->equation.coefficient =
      (kg_coefficient){.constant = kg_one_material(p->equation.material),
                       .cells = {.diffusion = {p->equation.material.diffusion, 0.0, p->equation.material.diffusion},
                                 .reaction = p->equation.material.reaction,
                                 .stabilization = p->equation.material.stabilization,
                                 .scaling = p->equation.material.scaling}};
  if (p->equation.resolved.equation.n_diffusion == 1 && !p->equation.resolved.varies && p->equation.resolved.n_materials == 1)
    return;
  kg_cell_material *const cells = &p->equation.coefficient.cells;
  if (!given) cells->length = length;
  if (p->equation.resolved.varies) return;
  const kg_resolved *const r = &p->equation.resolved;
  const double *first = r->by_device ? r->first : r->material[0];
  for (int k = 0; k < 3; ++k) cells->diffusion[k] = ldexp(first[k], shift);
  p->equation.coefficient.constant = kg_one_material(kg_material_of(p, first, cells->length));
}

/// The fields that the solution of a solve keeps.
static unsigned kept_fields(const kg_elliptic *p, const kg_choice *c)
{
  if (p->run.solution && p->run.solution->only_report) return 0;
  return c->wants_means ? KG_HOLDS_INDICATOR | KG_HOLDS_MEANS
                        : KG_HOLDS_MODES | KG_HOLDS_INDICATOR | KG_HOLDS_TRACE;
}

/// What a set-up keeps anyway, or a later source may need.
static void keep_for_repeats(const kg_elliptic *p, kg_choice *c)
{
  c->repeats = c->sides_stay = c->facet_sides_stay = true;
  c->reads_regions = p->ctx->backend == KEDGE_BACKEND_CUDA;
}

/// Choose how the mass matrix of the flux is inverted, also for `inverse = auto`
/// (docs/math.md#strong-tensors).
static int choose_inverse(const kg_elliptic *p, const kg_cell *cell)
{
  const bool affine = cell == &kg_triangle || p->space.is_affine;
  if (p->equation.problem->inverse != KG_INVERSE_AUTO) return (int)p->equation.problem->inverse;
  if (kg_is_strong(p, cell)) return KG_INVERSE_GRADIENT;
  return affine ? KG_INVERSE_ADJUSTED : KG_INVERSE_EXACT;
}

kedge_status kg_elliptic_shape(kg_elliptic *p, kedge_operator linear, kg_shape *s)
{
  const kg_trace_counts *count = &p->space.layout.count;
  const int exact = p->equation.problem->exact_quadrature;
  const kg_choose_args args = {p->equation.problem, &p->equation.resolved, p->mesh,
                               count,      linear,       p->space.layout.batches.n};
  KG_TRY(kg_choose_check(p->ctx, &args));
  *s = (kg_shape){
      .size = kg_sizes_of(p->equation.problem->order),
      .count = *count,
      .n_batches = p->space.layout.batches.n,
      .n_vertices = p->mesh->info.vertices,
      .geometry = p->mesh->geometry,
      .boundary_rows = kg_boundary_points(p->equation.problem),
      .rows = p->equation.problem->quadrature > 0 ? p->equation.problem->quadrature : kg_cell_rows(p->equation.problem->order),
      .exact_rows = exact > 0 ? exact : kg_cell_sample_rows(p->equation.problem->order),
      .fast_exact_rows = exact > 0 ? exact : kg_error_rows(p->equation.problem->order),
      .choice = kg_choose(p->ctx, &args),
      .n_materials = p->equation.resolved.n_materials,
      .alignment = p->mesh->alignment,
      .n_robin = p->equation.resolved.has_robin ? count->n_neumann : 0,
      .forgets_constants = kg_forgets_constants(&p->equation.resolved)};
  for (int i = 0; i < s->n_batches; ++i) {
    const kg_lane_batch *lanes = &p->space.layout.batches.batch[i];
    const kg_cell *cell = lanes->n_facets == 3 ? &kg_triangle : &kg_quadrilateral;
    const bool by_quadrature = cell != &kg_triangle || s->choice.by_quadrature;
    const int inverse = by_quadrature ? choose_inverse(p, cell) : KG_INVERSE_ADJUSTED;
    s->batch[i] = (kg_shape_batch){.cell = cell,
                                   .size = kg_cell_sizes_of(cell, p->equation.problem->order),
                                   .lanes = *lanes,
                                   .n_nodes = s->geometry > 1 ? cell->n_modes(s->geometry) : 0,
                                   .exact = inverse == KG_INVERSE_EXACT,
                                   .keeps_gradient = inverse == KG_INVERSE_GRADIENT,
                                   .by_quadrature = by_quadrature};
  }
  s->choice.apart = p->ctx->arrays_apart;
  s->choice.kept = kept_fields(p, &s->choice);
  if (p->repeats) keep_for_repeats(p, &s->choice);
  KG_TRY(count_lines(p, s));
  KG_TRY(kg_shape_work(p->ctx, s));
  s->choice.residual_groups = kg_compact_groups(s);
  s->choice.recover_groups = kg_chunk_groups(s, p->ctx->backend == KEDGE_BACKEND_CUDA);
  return KEDGE_OK;
}

/// Whether all quadrilaterals are parallelograms, where the adjusted flux has its full order, but
/// for 1e-10 of their heights.
static bool has_parallelograms(const kedge_mesh *mesh)
{
  const int32_t n = kg_mesh_quadrilaterals(mesh);
  if (mesh->geometry > 1) return n == 0;
  for (int32_t e = mesh->n_elements - n; e < mesh->n_elements; ++e) {
    const int32_t *v = kg_element_vertices(mesh, e);
    double gap = 0.0, size = 0.0, diagonal[2][2];
    for (int k = 0; k < 2; ++k) {
      double x[4];
      for (int l = 0; l < 4; ++l) x[l] = mesh->vertices[2 * (int64_t)v[l] + k];
      gap = fmax(gap, fabs(x[0] - x[1] + x[2] - x[3]));
      for (int d = 0; d < 2; ++d) {
        diagonal[d][k] = x[2 + d] - x[d];
        size = fmax(size, fabs(diagonal[d][k]));
      }
    }
    const double twice_area = diagonal[0][0] * diagonal[1][1] - diagonal[0][1] * diagonal[1][0];
    if (gap * size > 1e-10 * twice_area) return false;
  }
  return true;
}

bool kg_is_strong(const kg_elliptic *p, const kg_cell *cell)
{
  const kg_strength *const s = &p->equation.strength[kg_cell_index(cell)];
  const double lost = s->bend * sqrt((double)p->mesh->n_elements);
  return s->most > KG_STRONG + (cell == &kg_triangle ? 0.0 : lost);
}

/// Look at a tensor on all elements by quadrature.
static kedge_status find_strength(kg_elliptic *p)
{
  const kedge_mesh *mesh = p->mesh;
  const bool any = mesh->geometry > 1 || p->equation.resolved.varies;
  for (int i = 0; i < KG_CELL_KINDS; ++i) p->equation.strength[i] = (kg_strength){0};
  if (p->equation.resolved.equation.n_diffusion != 3) return KEDGE_OK;
  for (int k = 0; k < mesh->n_blocks; ++k) {
    const kg_block *const block = &mesh->block[k];
    if (any || block->cell == &kg_quadrilateral)
      KG_TRY(kg_strength_find(p->ctx, mesh, &p->equation.resolved, block, p->equation.problem->order,
                              &p->equation.strength[kg_cell_index(block->cell)]));
  }
  return KEDGE_OK;
}

/// Whether the cut into patches is that of the set-up before.
static bool is_cut_already(const kg_elliptic *p, const bool *is_dirichlet)
{
  const kg_elliptic *const b = p->before;
  bool same = b && b->shape.size.order == p->equation.problem->order;
  for (int i = 0; same && i < p->mesh->n_groups; ++i)
    same = p->mesh->groups[i].dimension != 1 ||
           is_dirichlet[i] == (b->equation.resolved.boundaries[i].type == KEDGE_BOUNDARY_DIRICHLET);
  return same;
}

static kedge_status cut(kg_elliptic *p)
{
  const kedge_mesh *mesh = p->mesh;
  bool *is_dirichlet;
  KG_TRY(kg_host_calloc(p->ctx, (size_t)mesh->n_groups, sizeof *is_dirichlet, &is_dirichlet));
  for (int i = 0; i < mesh->n_groups; ++i)
    is_dirichlet[i] = mesh->groups[i].dimension == 1 &&
                      p->equation.resolved.boundaries[i].type == KEDGE_BOUNDARY_DIRICHLET;
  p->space.is_cut_as_before = is_cut_already(p, is_dirichlet);
  const kedge_status status =
      p->space.is_cut_as_before
          ? kg_trace_layout_copy(p->ctx, &p->before->space.layout, &p->space.layout)
          : kg_trace_layout_create(p->ctx, mesh, is_dirichlet, kg_patch_groups(p->equation.problem->order),
                                   p->ctx->n_cuts, p->ctx->cuts, &p->space.layout);
  free(is_dirichlet);
  return status;
}

kedge_status kg_elliptic_prepare(kg_elliptic *p)
{
  const kedge_problem *problem = p->equation.problem;
  const kedge_mesh *mesh = p->mesh;
  KG_TRY(kg_problem_resolve(p->ctx, problem, mesh, &p->equation.resolved));
  KG_TRY(kg_fields_check(p->ctx, mesh, &p->equation.resolved, NULL));
  scale_equation(p);
  p->space.is_affine = has_parallelograms(mesh);
  KG_TRY(find_strength(p));
  // On longer elements aggregates, which follow the strong connections, take fewer iterations.
  const bool refined = mesh->info.min_angle >= KG_LINE_ANGLE && kg_mesh_quadrilaterals(mesh) == 0;
  p->space.refined = refined ? mesh : NULL;
  KG_TRY(cut(p));
  KG_TRY(kg_elliptic_shape(p, problem->operator_kind, &p->shape));
  KG_TRY(kg_sampling_create(p->ctx, problem->order, kg_point_rows(problem->order),
                            &p->sampling[KG_SAMPLE_LOADS]));
  KG_TRY(kg_sampling_create(p->ctx, problem->order, p->shape.fast_exact_rows,
                            &p->sampling[KG_SAMPLE_ERRORS]));
  return kg_cells_prepare(p);
}

void kg_elliptic_free(kg_elliptic *p)
{
  kg_source_close(&p->source);
  kg_methods_free(p);
  kg_multigrid_destroy(p->ctx, &p->arrays.multigrid);
  kg_plan_free(p->ctx, &p->plan);
  free(p->boundary);
  kg_cells_free(p);
  kg_edge_lines_free(&p->space.lines);
  kg_trace_layout_free(&p->space.layout);
  for (int i = 0; i < KG_SAMPLE_KINDS; ++i) kg_sampling_free(&p->sampling[i]);
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

/// The elements of a batch, with pointers into the arrays that all share.
static kg_elements elements_of(const kg_elliptic *p, int i)
{
  const kg_shape_batch *b = &p->shape.batch[i];
  const int32_t n = b->lanes.n_elements, groups = (n + KG_LANES - 1) / KG_LANES;
  kg_elements e = {
      .cell = b->cell, .size = b->size, .n_elements = n, .by_quadrature = b->by_quadrature};
  e.batch = kg_batch_of_lanes(&p->space.batch, b->lanes.first_group * KG_LANES, groups * KG_LANES, n);
  if (b->by_quadrature) e.cells = kg_cells_of(p, i);
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
  p->space.batch = (kg_batch){.count = p->space.layout.count,
                        .arrays = {.n_facets = kg_first_facets(&p->space.layout.count),
                                   .first_wide = kg_first_wide(&p->space.layout.count),
                                   .vertices = a->vertices,
                                   .vertex = a->vertex,
                                   .side_edge = a->side_edge,
                                   .side_codes = a->side_codes,
                                   .patch_edge = a->patch_edge,
                                   .patch_halo = a->patch_halo,
                                   .halo_edge = a->halo_edge,
                                   .edge_sides = a->edge_sides},
                        .reference = kg_reference_at(p->shape.size.order, a->reference)};
  kg_elliptic_place_chunk(p, 0, 0, false);
  for (int i = 0; i < p->shape.n_batches; ++i) p->elements[i] = elements_of(p, i);
  p->equation.form = p->shape.choice.form;
  for (int i = 0; i < KG_SAMPLE_KINDS; ++i)
    p->points[i] =
        kg_points_at(p->shape.size, p->sampling[i].rows, a->point_rule[i], a->point_basis[i]);
  return kg_plan_enter(p->ctx, &p->plan, KG_PHASE_TRANSFER);
}

static const kg_phase phases[KG_STAGE_COUNT] = {
    [KG_STAGE_TRANSFER] = KG_PHASE_TRANSFER,   [KG_STAGE_LOCAL_MATRICES] = KG_PHASE_LOCAL,
    [KG_STAGE_ASSEMBLY] = KG_PHASE_ASSEMBLY,   [KG_STAGE_TRACE_SOLVE] = KG_PHASE_BOUND,
    [KG_STAGE_LOCAL_SOLVE] = KG_PHASE_RECOVER, [KG_STAGE_POSTPROCESS] = KG_PHASE_RECOVER,
    [KG_STAGE_OUTPUT] = KG_PHASE_RECOVER};

/// The phase with which a stage begins.
static kg_phase phase_of(const kg_elliptic *p, kg_stage stage)
{
  if (p->is_set_up && stage == KG_STAGE_TRANSFER) return KG_PHASE_LOADS;
  if (p->is_set_up && stage == KG_STAGE_LOCAL_MATRICES) return KG_PHASE_CONDENSE;
  return phases[stage];
}

kedge_status kg_stage_begin(kg_elliptic *p, kg_stage stage)
{
  assert(stage == KG_STAGE_TRANSFER || phases[stage] > KG_PHASE_TRANSFER);
  p->run.stage = stage;
  p->run.stage_began = kg_seconds();
  kg_range_push(kg_stage_name(stage), p->mesh->n_elements,
                (int64_t)p->space.layout.count.n_free * p->shape.size.n_edge);
  const kedge_status status = kg_plan_enter(p->ctx, &p->plan, phase_of(p, stage));
  if (status != KEDGE_OK) kg_range_pop();
  return status;
}

kedge_status kg_stage_end(kg_elliptic *p, kedge_status status)
{
  if (status == KEDGE_OK) status = kg_sync(p->ctx);
  kg_range_pop();
  p->run.solution->report.stages[p->run.stage].seconds += kg_seconds() - p->run.stage_began;
  return status;
}

kedge_status kg_stage_announce(kg_elliptic *p, kg_stage stage, bool finished)
{
  return kg_progress(p->ctx,
                     &(kedge_progress){.stage = kg_stage_name(stage),
                                       .finished = finished,
                                       .seconds = p->run.solution->report.stages[stage].seconds});
}

void kg_stage_cost(kg_elliptic *p, kg_cost cost, double times)
{
  p->run.solution->report.stages[p->run.stage].bytes += times * cost.bytes;
  p->run.solution->report.stages[p->run.stage].flops += times * cost.flops;
}
