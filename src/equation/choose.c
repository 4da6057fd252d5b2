#include "equation/choose.h"

#include "device/context.h"
#include "precondition/multigrid.h"
#include "ops/trace/cg_resident.h"
#include "ops/trace/trace_apply.h"

enum {
  KG_GENERAL_ORDER_MAX = 8,
  LEAST = 64,             // triangles: with fewer, Jacobi is done before multigrid is set up
  LEAST_IN_SPACE = 512,   // tetrahedra, likewise
  RESIDENT_WORK = 18000,  // elements times order: up to it, Jacobi in one kernel is as fast
};

/// With a smaller angle, degrees, Jacobi takes so many iterations that one kernel is no help.
static const double RESIDENT_ANGLE = 0.5;

static int facet_modes(const kg_choose_args *a)
{
  return kg_facet_modes(a->equation->mesh->block[0].cell, a->equation->problem->order);
}

/// Quadrilaterals, and triangles in several batches, have the kernels that every shape has.
static bool can_be_resident(kedge_context *ctx, const kg_choose_args *a)
{
  return a->n_batches == 1 && kg_all_lanes_are(&a->count->lanes, KG_TRIANGLES) &&
         kg_cg_resident_bytes(ctx, facet_modes(a), a->count) > 0;
}

/// Choose the preconditioner, also for `preconditioner = auto` (docs/multigrid.md#which-one).
static kg_precond_kind choose_preconditioner(kedge_context *ctx, const kg_choose_args *a)
{
  static const kg_precond_kind given[] = {[KEDGE_PRECONDITIONER_JACOBI] = KG_JACOBI,
                                          [KEDGE_PRECONDITIONER_BLOCK_JACOBI] = KG_BLOCKS,
                                          [KEDGE_PRECONDITIONER_MULTIGRID] = KG_CYCLE};
  const kedge_problem *problem = a->equation->problem;
  if (a->linear != KEDGE_OPERATOR_MATRIX_FREE) return KG_JACOBI;
  if (problem->preconditioner != KEDGE_PRECONDITIONER_AUTO) return given[problem->preconditioner];
  if (kg_problem_asks_multigrid(problem)) return KG_CYCLE;
  const int64_t n = a->count->n_elements;
  const bool resident = ctx->backend == KEDGE_BACKEND_CUDA && n * problem->order <= RESIDENT_WORK &&
                        can_be_resident(ctx, a);
  const bool jacobi = n < (kg_lanes_in_space(&a->count->lanes) ? LEAST_IN_SPACE : LEAST) ||
                      (resident && a->equation->mesh->info.min_angle >= RESIDENT_ANGLE);
  return jacobi ? KG_JACOBI : KG_CYCLE;
}

/// Choose the smoother, also for `smoother = auto` (docs/multigrid.md#which-one).
static kedge_smoother choose_smoother(const kg_choose_args *a)
{
  if (a->equation->problem->smoother != KEDGE_SMOOTHER_AUTO) return a->equation->problem->smoother;
  if (!kg_all_lanes_are(&a->count->lanes, KG_TRIANGLES)) return KEDGE_SMOOTHER_EDGE;
  return a->equation->mesh->info.min_angle < KG_LINE_ANGLE ? KEDGE_SMOOTHER_LINE
                                                           : KEDGE_SMOOTHER_EDGE;
}

/// Choose the layout of the local matrices K^e. Without reaction and Robin conditions K^e maps
/// constants to zero, and products by patches, also in multigrid, use the reduced K^e of the fast
/// kernels. Other K^e in single precision are stored for differences (ops/local/differences.h), as
/// plain rounding would lose digits of constant vectors. All others are packed.
static kg_layout choose_layout(const kg_choose_args *a, const kg_choice *c)
{
  const bool by_patches = c->linear == KEDGE_OPERATOR_MATRIX_FREE && !c->resident;
  const bool reduces =
      c->form->reduces && kg_all_lanes_are(&a->count->lanes, KG_TRIANGLES) && !c->by_quadrature;
  if (by_patches && reduces && kg_forgets_constants(&a->equation->resolved))
    return KG_LAYOUT_REDUCED;
  return c->iterates == KG_SINGLE ? KG_LAYOUT_DIFFERENCES : KG_LAYOUT_PACKED;
}

/// Return the property of a problem that excludes the fast kernels, as words for a message, or
/// NULL. They need straight triangles with diffusion and reaction that are constant in each.
static const char *what_is_general(const kg_choose_args *a)
{
  if (a->equation->mesh->geometry > 1) return "curved elements";
  return a->equation->resolved.varies ? "an expression for diffusion or reaction" : NULL;
}

static bool is_uniform(const kg_resolved *r)
{
  return !r->varies && r->n_materials == 1 &&
         kg_is_number(r->equation.dimension, kg_material_of(r, 0));
}

/// Refuse what tetrahedra do not have yet.
static kedge_status check_space(kedge_context *ctx, const kg_choose_args *a)
{
  const kedge_problem *p = a->equation->problem;
  const struct {
    bool asked;
    const char *section, *key, *what;
  } table[] = {{p->order > KG_SPACE_ORDER_MAX, "space", "order", "orders 1 to 6"},
               {a->linear == KEDGE_OPERATOR_MATRIX_FREE_PLAIN, "solver", "operator",
                "operator = matrix-free or ell"},
               {p->smoother == KEDGE_SMOOTHER_LINE, "solver", "smoother", "smoother = edge"},
               {p->precision == KEDGE_PRECISION_COMPACT, "solver", "precision",
                "precision = double or mixed"}};
  for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
    if (table[i].asked)
      return kg_problem_fail(ctx, p, kg_settings_find(&p->settings, table[i].section, table[i].key),
                             "%s is of tetrahedra, on which kedge solves with %s so far",
                             a->equation->mesh->source, table[i].what);
  return KEDGE_OK;
}

kedge_status kg_choose_check(kedge_context *ctx, const kg_choose_args *a)
{
  if (kg_mesh_in_space(a->equation->mesh)) return check_space(ctx, a);
  const kedge_problem *problem = a->equation->problem;
  const struct {
    bool asked;
    const char *section, *key, *what;
  } table[] = {
      {problem->order > KG_GENERAL_ORDER_MAX, "space", "order", "orders 1 to 8: take one of them"},
      {a->linear == KEDGE_OPERATOR_MATRIX_FREE_PLAIN, "solver", "operator",
       "operator = matrix-free or ell: take one"},
      {problem->smoother == KEDGE_SMOOTHER_LINE, "solver", "smoother",
       "smoother = edge: take that"}};
  const int32_t n = kg_mesh_quadrilaterals(a->equation->mesh);
  const char *const general = what_is_general(a);
  if (general && problem->order > KG_GENERAL_ORDER_MAX)
    return kg_problem_fail(ctx, problem, kg_settings_find(&problem->settings, "space", "order"),
                           "with %s order is 1 to %d, not %d", general, KG_GENERAL_ORDER_MAX,
                           problem->order);
  if (a->equation->resolved.has_robin && problem->precision == KEDGE_PRECISION_COMPACT)
    return kg_problem_fail(ctx, problem,
                           kg_settings_find(&problem->settings, "solver", "precision"),
                           "with a robin boundary precision is double or mixed, not compact");
  for (size_t i = 0; n > 0 && i < sizeof table / sizeof *table; ++i)
    if (table[i].asked)
      return kg_problem_fail(
          ctx, problem, kg_settings_find(&problem->settings, table[i].section, table[i].key),
          "%s: the mesh has %d quadrilateral%s, on which kedge solves with %s, or mesh without "
          "recombination",
          a->equation->mesh->source, n, n == 1 ? "" : "s", table[i].what);
  return KEDGE_OK;
}

/// Whether a function that is evaluated at points of elements has `region` in it.
static bool read_regions(const kg_choose_args *a)
{
  const kg_coefficients *c = &a->equation->resolved.equation;
  const kg_function *const functions[] = {
      &c->source, &a->equation->problem->exact_u, &a->equation->problem->exact_dx,
      &a->equation->problem->exact_dy, &a->equation->problem->exact_dz};
  bool any = false;  // coefficients by region are in a table
  for (int k = 0; a->equation->resolved.varies && k < c->n_diffusion; ++k)
    any = any || kg_function_uses_region(&c->diffusion[k]);
  if (a->equation->resolved.varies) any = any || kg_function_uses_region(&c->reaction);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
    any = any || kg_function_uses_region(functions[i]);
  return any;
}

/// Return the number of smoothing steps of multigrid: as the problem says, else 1. At order 1
/// curved elements or varying coefficients get 2: with 1 they need up to 24 iterations, with 2 up
/// to 17, and a product takes little time there beside the coarse system. In space 2 take six
/// tenths of the iterations of 1.
static int choose_steps(const kg_choose_args *a)
{
  if (a->equation->problem->smoothing_steps > 0) return a->equation->problem->smoothing_steps;
  if (kg_lanes_in_space(&a->count->lanes)) return 2;
  return a->equation->problem->order == 1 && what_is_general(a) ? 2 : 1;
}

kg_choice kg_choose(kedge_context *ctx, const kg_choose_args *a)
{
  const kedge_problem *problem = a->equation->problem;
  // In space kernels of the same family take coefficients that vary.
  const bool general = what_is_general(a) != NULL && !kg_mesh_in_space(a->equation->mesh);
  kg_choice c = {.form = a->equation->form,
                 .by_quadrature = general,
                 .varies = a->equation->resolved.varies,
                 .is_uniform = is_uniform(&a->equation->resolved),
                 .reads_regions = ctx->backend == KEDGE_BACKEND_CUDA && read_regions(a),
                 .linear = a->linear,
                 .precond = choose_preconditioner(ctx, a),
                 .smoother = choose_smoother(a),
                 .loads_stay = true,
                 .wants_means = problem->cells_only,
                 .wants_errors = problem->exact_u.kind != KG_FUNCTION_NONE};
  const bool jacobi = c.precond == KG_JACOBI;
  const kedge_precision precision = jacobi ? KEDGE_PRECISION_DOUBLE : problem->precision;
  c.steps = c.precond == KG_CYCLE ? choose_steps(a) : 0;
  c.iterates = precision == KEDGE_PRECISION_COMPACT ? KG_SINGLE : KG_DOUBLE;
  c.cycles = precision == KEDGE_PRECISION_DOUBLE ? KG_DOUBLE : KG_SINGLE;
  c.resident = jacobi && c.linear == KEDGE_OPERATOR_MATRIX_FREE && can_be_resident(ctx, a);
  c.layout = choose_layout(a, &c);
  // From order 4 on b takes at most a thirteenth of the memory of a compact solve, and load vectors
  // take as long as K^e.
  c.residual = c.iterates == KG_DOUBLE ? KG_PLAIN
               : problem->order <= 3   ? KG_REMADE_WITH_LOADS
                                       : KG_REMADE;
  c.sides_stay = jacobi;
  c.facet_sides_stay =
      !jacobi && kg_multigrid_reads_edge_sides(&(kg_multigrid_shape){
                     .order = problem->order,
                     .m = facet_modes(a),
                     .count = *a->count,
                     .smoother = c.smoother,
                     .smoothing_steps = c.steps,
                     .is_general = general || !c.is_uniform ||
                                   !kg_all_lanes_are(&a->count->lanes, KG_TRIANGLES),
                     .locals.local[0] = {.layout = c.layout, .number = c.iterates}});
  return c;
}

const char *kg_precond_name(kg_precond_kind kind)
{
  static const kedge_preconditioner public[] = {[KG_JACOBI] = KEDGE_PRECONDITIONER_JACOBI,
                                                [KG_BLOCKS] = KEDGE_PRECONDITIONER_BLOCK_JACOBI,
                                                [KG_CYCLE] = KEDGE_PRECONDITIONER_MULTIGRID};
  return kedge_preconditioner_name(public[kind]);
}
