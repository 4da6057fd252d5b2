#include "precondition/precond.h"

#include "device/context.h"
#include "core/nvtx.h"
#include "ops/vector/round.h"
#include "ops/smooth/vertex_transfer.h"

static kg_cost no_cost(const kg_precond *base)
{
  (void)base;
  return (kg_cost){0};
}

static const kg_precond_table jacobi = {.name = "Jacobi", .cost = no_cost};

kg_precond kg_jacobi_of(const kg_linear *a, const double *inverse)
{
  return (kg_precond){
      .table = &jacobi, .linear = a, .symmetric = true, .pointwise = true, .inverse = inverse};
}

/// Name, for a sentence, what helps where one step smooths too far: with more steps its bound is
/// measured (precondition/smoother.h).
static const char *remedy_of(const kg_multigrid_shape *shape)
{
  if (shape->smoothing_steps != 1 || kg_multigrid_is_measured(shape)) return KG_WITHOUT_MULTIGRID;
  return !kg_smoother_has_lines(shape->smoother)
             ? "smoothing_steps = 2, which measures the bound of its smoother, smoother = line "
               "where triangles are thin, or " KG_WITHOUT_MULTIGRID
             : "smoothing_steps = 2, which measures the bound of its smoother, "
               "or " KG_WITHOUT_MULTIGRID;
}

/// Whether the vectors of the cycle are its own.
static bool has_copies(const kg_cycle *c)
{
  return kg_multigrid_has_copies(&c->multigrid->shape);
}

static void declare(kg_plan *plan, kg_precond *base)
{
  kg_multigrid *const m = ((kg_cycle *)base)->multigrid;
  if (base->linear->n_rhs > 1)
    kg_multigrid_declare_vectors(plan, m);
  else
    kg_multigrid_declare(plan, m);
}

static kedge_status begin(kedge_context *ctx, const kg_precond *base, const double *rr)
{
  const int n = base->linear->n_rhs;
  int32_t exponent[KG_VECTORS];
  for (int v = 0; v < n; ++v) exponent[v] = kg_round_exponent(rr[v]);
  if (!has_copies((const kg_cycle *)base)) return KEDGE_OK;
  return kg_copy_in(ctx, base->exponent, exponent, (size_t)n * sizeof *exponent);
}

/// Vectors that an application works on, in the number of the cycle.
typedef struct work {
  const kg_cycle *cycle;
  const void *r;              ///< [free trace edge][mode]
  void *z;                    ///< [trace edge][mode]; Dirichlet rows are zero
  kg_sum sum;                 ///< r . z, with KG_PIECES parts
  void *product;              ///< [free trace edge][mode]: A z
  bool many;                  ///< of KG_VECTORS vectors
  const kg_advance *advance;  ///< NULL, or a step of r that who reads it first has to make
} work;

static kedge_status multiply(kedge_context *ctx, const work *w)
{
  const kg_linear *a = w->cycle->base.linear;
  return a->table->apply(ctx, a, w->z, w->product, &(kg_pass){0});
}

/// The step that r takes where a smoothing begins, unless rounding r has made it.
static kg_advance advance_of(const work *w, bool from_zero)
{
  return from_zero && w->advance && !has_copies(w->cycle) ? *w->advance : (kg_advance){0};
}

/// The vertex modes that a step has to move: of r - A z, with the product at hand, or of r.
static kedge_status find_modes(kedge_context *ctx, const work *w, bool from_zero)
{
  const kg_multigrid *m = w->cycle->multigrid;
  if (!m->modes.value) return KEDGE_OK;
  return kg_vertex_modes_restrict(
      ctx, &(kg_vertex_modes_restrict_args){.modes = m->modes,
                                            .m = m->shape.m,
                                            .n_edges = m->shape.count.n_free,
                                            .number = m->shape.number,
                                            .r = w->r,
                                            .product = from_zero ? NULL : w->product,
                                            .advance = advance_of(w, from_zero),
                                            .many = w->many});
}

/// How a smoothing begins and ends.
typedef struct smoothing {
  kg_phase phase;                   ///< of its products
  bool from_zero;                   ///< z is zero; else the product is at hand
  kg_vertex_correction correction;  ///< of z and of the product, still to be added
  kg_sum sum;                       ///< of r . z, made by the last step
} smoothing;

/// z and the product are corrected, in a pass of its own.
static kedge_status add_correction(kedge_context *ctx, const work *w,
                                   kg_vertex_correction *correction)
{
  const kg_multigrid *m = w->cycle->multigrid;
  if (!correction->coarse) return KEDGE_OK;
  KG_TRY(kg_vertex_prolong(ctx, &(kg_vertex_prolong_args){.correction = *correction,
                                                          .m = m->shape.m,
                                                          .number = m->shape.number,
                                                          .z = w->z,
                                                          .product = w->product,
                                                          .many = w->many}));
  correction->coarse = NULL;
  return KEDGE_OK;
}

/// A step of Chebyshev's iteration: d = momentum d + step B^-1 (r - A z),  z += d.
typedef struct chebyshev {
  double step, momentum;
  double ratio;  ///< of the first kind: T_i-1 / T_i at the middle of its interval
} chebyshev;

/// Take step i of the fourth kind, which needs no smallest eigenvalue (Lottes, Optimal polynomial
/// smoothers for multigrid V-cycles, 2023); a step alone is 9/8 of it, the best there is for one.
static void take_fourth_kind(const kg_multigrid *m, int i, chebyshev *c)
{
  const double scale = (m->shape.smoothing_steps == 1 ? 1.125 : 1.0) / m->largest_eigenvalue;
  c->step = scale * (8 * i - 4) / (2 * i + 1);
  c->momentum = i == 1 ? 0.0 : (2.0 * i - 3) / (2 * i + 1);
}

/// Take step i of the first kind, for the upper ten elevenths of the eigenvalues: in space it takes
/// fewer iterations than the fourth kind, by a seventh.
static void take_first_kind(const kg_multigrid *m, int i, chebyshev *c)
{
  const double top = m->largest_eigenvalue, middle = 6.0 / 11.0 * top, half = 5.0 / 11.0 * top;
  const double before = i == 1 ? 0.0 : c->ratio;
  c->ratio = 1.0 / ((i == 1 ? 1.0 : 2.0) * middle / half - before);
  c->momentum = before * c->ratio;
  c->step = i == 1 ? 1.0 / middle : 2.0 * c->ratio / half;
}

/// Steps of smoothing, in space of the first kind.
static kedge_status smooth(kedge_context *ctx, const work *w, smoothing how)
{
  const kg_multigrid *m = w->cycle->multigrid;
  const kg_smoother_table *table = m->smoother.table;
  const int steps = m->shape.smoothing_steps;
  chebyshev c = {0};
  // Rows of A P move the vertex modes of r - A z, fluxes do not. No step corrects in space.
  if (!table->corrects || kg_multigrid_in_space(&m->shape) || (m->modes.value && m->rows.value))
    KG_TRY(add_correction(ctx, w, &how.correction));
  KG_TRY(find_modes(ctx, w, how.from_zero));
  for (int i = 1; i <= steps; ++i) {
    if (i > 1) {
      KG_TRY(kg_plan_enter(ctx, m->plan, how.phase));
      KG_TRY(multiply(ctx, w));
    }
    (kg_multigrid_in_space(&m->shape) ? take_first_kind : take_fourth_kind)(m, i, &c);
    const kg_smoother_args args = {
        .r = w->r,
        .product = w->product,
        .correction = how.correction,
        .modes = m->modes,
        .advance = advance_of(w, how.from_zero && i == 1 && !m->modes.value),
        .from_zero = how.from_zero && i == 1,
        .again = !how.from_zero && kg_multigrid_repeats(&m->shape),
        .z = w->z,
        .d = m->d,
        .step = c.step,
        .momentum = c.momentum,
        .sum = i == steps ? how.sum : (kg_sum){0},
        .many = w->many,
    };
    KG_TRY(table->step(ctx, &m->smoother, &args));
    how.correction.coarse = NULL;
  }
  return KEDGE_OK;
}

/// c = C P^T (r - A z), with the product at hand.
static kedge_status solve_coarse(kedge_context *ctx, const work *w, kg_vertex_correction *out)
{
  const kg_multigrid *m = w->cycle->multigrid;
  *out = (kg_vertex_correction){0};
  if (!m->coarse) return kg_plan_enter(ctx, m->plan, KG_PHASE_UP);
  KG_TRY(kg_plan_enter(ctx, m->plan, KG_PHASE_RESTRICT));
  KG_TRY(kg_vertex_restrict(ctx, &(kg_vertex_restrict_args){.space = m->space,
                                                            .m = m->shape.m,
                                                            .number = m->shape.number,
                                                            .r = w->r,
                                                            .product = w->product,
                                                            .coarse = m->residual,
                                                            .many = w->many}));
  KG_TRY(kg_plan_enter(ctx, m->plan, KG_PHASE_COARSE));
  kg_range_push("coarse_solve", m->shape.count.n_elements, m->space.n_rows);
  const kedge_status status = m->solver->solve(
      ctx, m->coarse, w->cycle->well ? w->cycle->base.room : NULL, m->residual, m->correction);
  kg_range_pop();
  *out = (kg_vertex_correction){.space = m->space,
                                .materials = m->materials,
                                .rows = m->rows,
                                .n_edges = m->shape.count.n_free,
                                .coarse = m->correction};
  return status == KEDGE_OK ? kg_plan_enter(ctx, m->plan, KG_PHASE_CORRECT) : status;
}

/// Add the correction of z, and make its product from scratch.
static kedge_status correct_and_multiply(kedge_context *ctx, const work *w,
                                         const kg_vertex_correction *correction)
{
  const kg_multigrid *m = w->cycle->multigrid;
  KG_TRY(kg_vertex_spread(ctx, &(kg_vertex_spread_args){.space = m->space,
                                                        .m = m->shape.m,
                                                        .number = m->shape.number,
                                                        .column = m->matrix.column,
                                                        .coarse = correction->coarse,
                                                        .z = w->z,
                                                        .many = w->many}));
  KG_TRY(kg_plan_enter(ctx, m->plan, KG_PHASE_UP));
  return multiply(ctx, w);
}

static kedge_status apply_blocks(kedge_context *ctx, const work *w)
{
  const kg_multigrid *m = w->cycle->multigrid;
  KG_TRY(find_modes(ctx, w, true));
  return m->smoother.table->step(ctx, &m->smoother,
                                 &(kg_smoother_args){.r = w->r,
                                                     .product = w->product,
                                                     .modes = m->modes,
                                                     .from_zero = true,
                                                     .z = w->z,
                                                     .step = 1.0,
                                                     .sum = w->sum});
}

static kedge_status smooth_down(kedge_context *ctx, const work *w)
{
  return smooth(ctx, w, (smoothing){.phase = KG_PHASE_DOWN, .from_zero = true});
}

/// A cycle from its first product on.
static kedge_status apply_rest(kedge_context *ctx, const work *w)
{
  const kg_multigrid *m = w->cycle->multigrid;
  kg_vertex_correction correction;
  KG_TRY(multiply(ctx, w));
  KG_TRY(solve_coarse(ctx, w, &correction));
  if (correction.coarse && !kg_multigrid_knows_product(&m->shape)) {
    KG_TRY(correct_and_multiply(ctx, w, &correction));
    correction.coarse = NULL;
  }
  return smooth(ctx, w, (smoothing){.phase = KG_PHASE_UP, .correction = correction, .sum = w->sum});
}

/// Zeros in the rows of z that steps do not write.
static kedge_status zero_dirichlet(kedge_context *ctx, const kg_cycle *c, void *z)
{
  const kg_linear *a = c->base.linear;
  const size_t real = kg_number_bytes(a->number);
  return kg_zero(ctx, (char *)z + (size_t)a->rows * real, (size_t)(a->all_rows - a->rows) * real);
}

/// Vectors of a cycle in its own number, if it has one.
static work work_of(const kg_cycle *c, const void *r, void *z, kg_sum sum)
{
  work w = {.cycle = c,
            .r = r,
            .z = z,
            .sum = sum,
            .product = c->base.product,
            .many = c->base.linear->n_rhs > 1};
  if (!has_copies(c)) return w;
  w.r = c->multigrid->single.r;
  w.product = c->multigrid->single.product;
  w.sum.exponent = c->base.exponent;
  return w;
}

/// r of a cycle with a number of its own.
static kedge_status round_residual(kedge_context *ctx, const work *w, const void *r)
{
  const kg_cycle *c = w->cycle;
  if (!has_copies(c)) return KEDGE_OK;
  return kg_round(ctx, &(kg_round_args){.n = c->base.linear->rows * c->base.linear->n_rhs,
                                        .from = r,
                                        .to = c->multigrid->single.r,
                                        .exponent = c->base.exponent,
                                        .advance = w->advance ? *w->advance : (kg_advance){0},
                                        .many = w->many});
}

static kedge_status apply(kedge_context *ctx, const kg_precond *base, const void *r, void *z,
                          const kg_pass *pass)
{
  const kg_cycle *c = (const kg_cycle *)base;
  const kg_multigrid *m = c->multigrid;
  const work w = work_of(c, r, z, pass->sum);
  if (w.many) return apply_rest(ctx, &w);
  if (!c->blocks) KG_TRY(kg_plan_enter(ctx, m->plan, KG_PHASE_DOWN));
  if (kg_multigrid_z_rests(&m->shape)) KG_TRY(zero_dirichlet(ctx, c, z));
  KG_TRY(round_residual(ctx, &w, r));
  if (c->blocks || m->shape.smoothing_steps == 0) return apply_blocks(ctx, &w);
  KG_TRY(smooth_down(ctx, &w));
  return apply_rest(ctx, &w);
}

static kedge_status start(kedge_context *ctx, const kg_precond *base, const void *r, void *z,
                          const kg_advance *advance)
{
  work w = work_of((const kg_cycle *)base, r, z, (kg_sum){0});
  w.advance = advance;
  KG_TRY(round_residual(ctx, &w, r));
  return smooth_down(ctx, &w);
}

/// The cost of a cycle, without that of rounding the residual at its begin.
static kg_cost cycle_cost(const kg_multigrid_shape *s, kg_cost step)
{
  const bool reduced = kg_multigrid_is_reduced(s), rows = kg_multigrid_has_rows(s);
  const double k = s->smoothing_steps, products = kg_multigrid_knows_product(s) ? 2 * k - 1 : 2 * k;
  const kg_locals locals = kg_multigrid_cycle_locals(s);
  const kg_cost product = kg_trace_product_cost(s->m, &s->count, &locals);
  kg_cost sum = kg_cost_plus((kg_cost){0}, products, product);
  sum = kg_cost_plus(sum, 2 * k, step);
  sum = kg_cost_plus(sum, 1, kg_vertex_transfer_cost(&s->count, s->n_vertices, s->number));
  if (kg_multigrid_repeats(s))  // z is not read
    sum.bytes -= (double)kg_number_bytes(s->number) * s->m * s->count.n_free;
  if (reduced)  // the second side of an edge, elements and vertices, once
    sum.bytes += 4.0 * s->count.n_free + 12.0 * s->count.n_elements + 24.0 * s->n_vertices;
  else if (rows)
    sum = kg_cost_plus(sum, 1, kg_vertex_rows_product_cost(s->m, &s->count));
  if (kg_multigrid_in_space(s))  // the product, in the pass that corrects it
    sum.bytes += 2.0 * (double)kg_number_bytes(s->number) * s->m * s->count.n_free;
  else  // the other vertices of the ends of edges, and where a vertex's begin
    sum.bytes += 8.0 * s->count.n_free + 4.0 * s->n_vertices;
  if (!kg_multigrid_has_vertex_modes(s)) return sum;
  // of r - A z, and of r, which counts as much
  return kg_cost_plus(sum, 2,
                      kg_vertex_modes_restrict_cost(s->m, &s->count, s->n_vertices, s->number));
}

kg_cost kg_multigrid_apply_cost(const kg_multigrid_shape *s)
{
  const kg_smoother smoother = kg_multigrid_smoother(s);
  const kg_cost step = smoother.table->step_cost(&smoother);
  kg_cost sum = s->smoothing_steps > 0 ? cycle_cost(s, step) : step;
  if (kg_multigrid_has_copies(s)) sum.bytes += kg_round_cost((int64_t)s->count.n_free * s->m).bytes;
  return sum;
}

static kg_cost cost(const kg_precond *base)
{
  return kg_multigrid_apply_cost(&((const kg_cycle *)base)->multigrid->shape);
}

static const kg_precond_table cycle = {.name = "multigrid",
                                       .declare = declare,
                                       .begin = begin,
                                       .apply = apply,
                                       .start = start,
                                       .cost = cost};

kg_cycle kg_cycle_of(kg_multigrid *m, const kg_linear *a)
{
  const kg_multigrid_shape *s = &m->shape;
  const bool copies = kg_multigrid_has_copies(s);
  const size_t vertices = (size_t)a->n_rhs * (size_t)s->n_vertices;
  return (kg_cycle){.base = {.table = &cycle,
                             .linear = a,
                             .symmetric = true,
                             .z = copies && a->n_rhs == 1 ? &m->single.z : NULL,
                             .remedy = remedy_of(s),
                             .product_phases = copies ? 0 : kg_multigrid_product_phases(s),
                             .rests = kg_multigrid_z_rests(s) ? KG_IN(RESTRICT) | KG_IN(COARSE) : 0,
                             .room_bytes = 2 * vertices * sizeof(double)},
                    .multigrid = m};
}
