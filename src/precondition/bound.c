#include "precondition/bound.h"

#include <float.h>
#include <math.h>

#include "device/context.h"
#include "ops/smooth/vertex_transfer.h"
#include "ops/vector/random_vector.h"
#include "ops/vector/round.h"

/// The tridiagonal matrix of Lanczos' method.
typedef struct tridiagonal {
  int n;
  double diagonal[KG_LANCZOS_STEPS];
  double square[KG_LANCZOS_STEPS];  ///< of the entry beside diagonal i and i + 1
} tridiagonal;

/// Eigenvalues above x: the signs of the pivots of T - x.
static int count_above(const tridiagonal *t, double x)
{
  int above = 0;
  double pivot = 1.0;
  for (int i = 0; i < t->n; ++i) {
    pivot = t->diagonal[i] - x - (i > 0 ? t->square[i - 1] / pivot : 0.0);
    if (pivot == 0.0) pivot = DBL_MIN;
    above += pivot > 0.0;
  }
  return above;
}

/// The largest eigenvalue of t, which lies in (0, most].
static double largest_eigenvalue(const tridiagonal *t, double most)
{
  double low = 0.0, high = most;
  while (high - low > 1e-6) {
    const double middle = 0.5 * (low + high);
    if (count_above(t, middle) > 0)
      low = middle;
    else
      high = middle;
  }
  return high;
}

/// Steps of Lanczos: the largest Ritz value of fewer would be too far from the largest eigenvalue
/// for a polynomial, and is near enough for a single step, which forgives a third.
static int steps_of(const kg_multigrid_shape *shape)
{
  return kg_multigrid_in_space(shape) || shape->smoothing_steps > 1 ? KG_LANCZOS_STEPS
                                                                    : KG_LANCZOS_STEPS_OF_ONE;
}

/// What the largest Ritz value is multiplied by. A polynomial of several steps grows fast beyond
/// its bound, and Ritz values come from below. A single step converges up to 4/3 of its bound, and
/// takes the fewest iterations with one below the largest eigenvalue, as on straight triangles
/// (kg_smoother_estimate()). In space the interval of the polynomial ends a tenth behind.
static double margin_of(const kg_multigrid_shape *shape)
{
  if (kg_multigrid_in_space(shape)) return 1.1;
  if (shape->smoothing_steps > 1) return 1.05;
  return kg_smoother_has_lines(shape->smoother) ? 0.965 : 0.915;
}

/// No eigenvalue is larger: those of the table's bound, and of vertex modes, of which an element
/// has as many as facets.
static double most_of(const kg_multigrid *m)
{
  const double facets = m->smoother.table->bound(&m->shape.count);
  if (!kg_multigrid_has_vertex_modes(&m->shape)) return facets;
  return facets + kg_vertex_mode_step(m->shape.order) * kg_smooth_facets_bound(&m->shape.count);
}

/// Make one step of conjugate gradients: z = B^-1 r, the next direction, its product, the new r.
static kedge_status step(kedge_context *ctx, const kg_cg *cg, const kg_cg_vectors_args *v,
                         const kg_precond *m)
{
  const kg_linear *a = cg->base.linear;
  kg_cg_state *state = v->state;
  const kg_pass inverse = {.stop = &state->stop, .sum = {v->partial, &state->rz_next, NULL}};
  const kg_pass product = {.stop = &state->stop, .sum = {cg->product_part, &state->p_ap, NULL}};
  KG_TRY(m->table->apply(ctx, m, cg->r, cg->z, &inverse));
  KG_TRY(kg_pcg_direction(ctx, v));
  KG_TRY(a->table->apply(ctx, a, cg->p, cg->ap, &product));
  return kg_pcg_update(ctx, v);
}

/// Make a random residual. That in double precision lies in x where the iteration has another.
static kedge_status start(kedge_context *ctx, const kg_cg *cg)
{
  const kg_linear *a = cg->base.linear;
  const size_t n = (size_t)a->all_rows;
  const bool single = a->number == KG_SINGLE;
  double *const r = single ? cg->base.x : cg->r;
  KG_TRY(kg_zero(ctx, cg->base.x, n * sizeof *cg->base.x));
  KG_TRY(kg_zero(ctx, cg->p, n * kg_number_bytes(a->number)));
  KG_TRY(kg_random_vector(ctx, &(kg_random_vector_args){a->rows, r}));
  return single ? kg_round(ctx, &(kg_round_args){.n = a->rows, .from = r, .to = cg->r}) : KEDGE_OK;
}

/// The coefficients of conjugate gradients are those of Lanczos: T_ii = 1 / alpha_i + beta_i-1 /
/// alpha_i-1, T_i,i+1 = sqrt(beta_i) / alpha_i.
static void extend(tridiagonal *t, const kg_cg_state *state, double *rz, double *alpha)
{
  const int i = t->n++;
  const double beta = i > 0 ? state->rz / *rz : 0.0, before = *alpha;
  *alpha = state->rz / state->p_ap;
  *rz = state->rz;
  t->diagonal[i] = 1.0 / *alpha + (i > 0 ? beta / before : 0.0);
  if (i > 0) t->square[i - 1] = beta / (before * before);
}

kedge_status kg_multigrid_bound(kedge_context *ctx, const kg_cg *cg, const kg_cycle *blocks,
                                double *out)
{
  const kg_multigrid *m = blocks->multigrid;
  kg_cg_vectors_args v = cg->v;
  tridiagonal t = {0};
  // A few unknowns leave no residual after as many steps as unknowns: 1e-10 of it is near enough.
  kg_cg_state state = {.max_iterations = steps_of(&m->shape), .target = 1e-20 * (double)v.n};
  double rz = 0.0, alpha = 0.0;
  const double one = 1.0;
  v.steps = NULL;
  KG_TRY(start(ctx, cg));
  KG_TRY(kg_copy_in(ctx, v.state, &state, sizeof state));
  KG_TRY(blocks->base.table->begin(ctx, &blocks->base, &one));
  while (v.n > 0 && state.stop == KG_CG_RUNNING) {
    KG_TRY(step(ctx, cg, &v, &blocks->base));
    KG_TRY(kg_copy_out(ctx, &state, v.state, sizeof state));
    KG_REQUIRE(ctx, state.stop <= KG_CG_LIMIT, KEDGE_ERR_NUMERIC,
               "multigrid cannot measure its smoother: the trace operator is not positive definite "
               "or not finite (p.Ap = %g, r.Mr = %g in step %d); check the mesh for nearly "
               "degenerate elements, and coefficients for overflow",
               state.p_ap, state.rz_next, t.n + 1);
    extend(&t, &state, &rz, &alpha);
  }
  const double most = most_of(m);
  *out = t.n > 0 ? fmin(most, margin_of(&m->shape) * largest_eigenvalue(&t, most)) : most;
  return KEDGE_OK;
}

kg_cost kg_multigrid_bound_cost(const kg_multigrid_shape *s)
{
  kg_multigrid_shape blocks = *s;
  blocks.smoothing_steps = 0;
  kg_cost step =
      kg_cost_plus(kg_trace_product_cost(s->m, &s->count, &s->locals), 1,
                   kg_pcg_vectors_cost((int64_t)s->count.n_free * s->m, s->locals.local[0].number));
  step = kg_cost_plus(step, 1, kg_multigrid_apply_cost(&blocks));
  if (kg_multigrid_has_vertex_modes(s))
    step = kg_cost_plus(step, 1,
                        kg_vertex_modes_restrict_cost(s->m, &s->count, s->n_vertices, s->number));
  return kg_cost_plus((kg_cost){0}, steps_of(s), step);
}
