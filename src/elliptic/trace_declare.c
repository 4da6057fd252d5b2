// The arrays that assembly and the trace solve begin with.
#include "device/context.h"
#include "ops/assembled/ell.h"
#include "ops/trace/trace_apply.h"
#include "ops/trace/trace_gather.h"
#include "elliptic/declare.h"

static const unsigned solve = KG_IN_SOLVE, kept = KG_FROM(ASSEMBLY, STEP);

/// The cycle of multigrid has vectors of its own, in single precision.
static bool has_copies(const kg_choice *c)
{
  return c->precond != KG_JACOBI && c->cycles != c->iterates;
}

static void declare_patches(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const size_t halo = (size_t)s->count.n_shared * (size_t)s->size.n_edge;
  const size_t n_patches = (size_t)s->count.n_patches;
  const unsigned products = KG_IN(BOUND) | KG_IN(RESIDUAL) | KG_IN(STEP);
  const unsigned of_cycle = has_copies(&s->choice) ? 0 : KG_IN(DOWN) | KG_IN(UP);
  kg_plan_array(plan, "halo", halo, sizeof *a->halo,
                products | of_cycle | kg_phase_of_b(&s->choice), &a->halo);
  kg_plan_array(plan, "parts of p . A p", n_patches, sizeof *a->operator_part, solve,
                &a->operator_part);
  kg_plan_array(plan, "one kernel", s->resident_bytes, 1, solve, &a->resident);
}

static void declare_gather(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const kg_local full = kg_shape_full_local(s);
  const size_t parts = (size_t)kg_trace_gather_partials(s->size, &s->count);
  kg_plan_array(plan, "full K^e", kg_local_bytes(&full), 1, kept, &a->full_local);
  kg_plan_array(plan, "parts of p . A p", parts, sizeof *a->operator_part, solve,
                &a->operator_part);
}

static void declare_ell(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const kg_ell_matrix matrix = kg_ell_shape(s->size, &s->count);
  const size_t n = (size_t)matrix.width * (size_t)matrix.stride;
  kg_plan_array(plan, "ELL columns", n, sizeof *a->ell_column, kept, &a->ell_column);
  kg_plan_array(plan, "ELL values", n, sizeof *a->ell_value, kept, &a->ell_value);
  kg_plan_array(plan, "ELL work", s->ell_work_bytes, 1, KG_IN(ASSEMBLY), &a->ell_work);
  kg_plan_array(plan, "parts of p . A p", KG_PIECES, sizeof *a->operator_part, solve,
                &a->operator_part);
}

/// Conjugate gradients with the diagonal of A.
static void declare_pointwise(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const size_t m = (size_t)s->size.n_edge, n_free = (size_t)s->count.n_free * m;
  const size_t n = (size_t)s->count.n_edges * m, d = sizeof(double);
  kg_plan_array(plan, "z", n_free, d, solve, &a->z);
  kg_plan_array(plan, "p", n, d, solve, &a->p);
  kg_plan_array(plan, "A p", n_free, d, solve, &a->ap);
}

/// Conjugate gradients with multigrid. In double precision Dirichlet rows of p and z, and p itself,
/// stay from one iteration to the next; in single precision they are zeros again after a residual,
/// which is made in double precision beside.
static void declare_preconditioned(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const kg_multigrid_shape shape = kg_shape_multigrid(s);
  const bool single = s->choice.iterates == KG_SINGLE, copies = has_copies(&s->choice);
  const size_t m = (size_t)s->size.n_edge, n_free = (size_t)s->count.n_free * m;
  const size_t n = (size_t)s->count.n_edges * m, real = kg_number_bytes(s->choice.iterates);
  const unsigned iterates = single ? KG_IN(BOUND) | KG_IN_ITERATION : solve;
  const unsigned rests = kg_multigrid_z_rests(&shape) ? KG_IN(RESTRICT) | KG_IN(COARSE) : 0;
  const unsigned product = copies ? 0 : kg_multigrid_product_phases(&shape);
  kg_multigrid_declare(plan, &shape, &kg_amg, &a->multigrid);
  kg_plan_array(plan, "r", n_free, real, iterates | KG_IN(ROUND), &a->r);
  kg_plan_array(plan, "z", copies ? 0 : n, real, iterates & ~rests, &a->z);
  kg_plan_array(plan, "p", n, real, iterates, &a->p);
  kg_plan_array(plan, "A p", n_free, real, KG_IN(BOUND) | KG_IN(STEP) | product, &a->ap);
  kg_plan_array(plan, "residual", single ? n_free : 0, sizeof *a->residual,
                KG_IN(RESIDUAL) | KG_IN(ROUND), &a->residual);
  // The first iteration lends p, which it has not made yet, to the coarse solver.
  const size_t room = 2 * (size_t)s->n_vertices;
  kg_plan_array(plan, "coarse directions", n * real < room * sizeof *a->room ? room : 0,
                sizeof *a->room, KG_IN(COARSE), &a->room);
}

void kg_trace_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  static void (*const operators[])(kg_plan *, const kg_shape *, kg_arrays *) = {
      [KEDGE_OPERATOR_MATRIX_FREE] = declare_patches,
      [KEDGE_OPERATOR_MATRIX_FREE_PLAIN] = declare_gather,
      [KEDGE_OPERATOR_ELL] = declare_ell};
  operators[s->choice.linear](plan, s, a);
  const size_t n = (size_t)s->count.n_edges * (size_t)s->size.n_edge, d = sizeof(double);
  kg_plan_array(plan, "x", n, d, KG_FROM(BOUND, RECOVER), &a->x);
  const unsigned sums = solve | kg_phase_of_b(&s->choice);
  kg_plan_array(plan, "parts of vectors", 2 * KG_PIECES, d, sums, &a->vector_part);
  kg_plan_array(plan, "state", 1, sizeof *a->state, sums, &a->state);
  kg_plan_array(plan, "steps of the iteration", KG_CG_STEPS, sizeof *a->steps,
                KG_IN_ITERATION | KG_IN(RESIDUAL), &a->steps);
  kg_plan_array(plan, "exponent", 1, sizeof *a->exponent, solve, &a->exponent);
  if (s->choice.precond == KG_JACOBI)
    declare_pointwise(plan, s, a);
  else
    declare_preconditioned(plan, s, a);
}

bool kg_many_pays(const kedge_context *ctx, int n)
{
  return ctx->backend == KEDGE_BACKEND_CUDA && n >= 3;
}

/// Whether there is a product of many vectors with all K^e.
static bool multiplies_many(kedge_context *ctx, const kg_shape *s, const kg_locals *locals)
{
  kg_trace_apply_args args = {.local = locals->local[0]};
  args.batch.count = s->count;
  args.batch.arrays.n_facets = 3;
  args.batch.reference.size = s->size;
  return locals->n_locals == 1 && kg_trace_takes_many(ctx, &args);
}

bool kg_many_takes(kedge_context *ctx, const kg_shape *s)
{
  const kg_choice *c = &s->choice;
  if (c->linear != KEDGE_OPERATOR_MATRIX_FREE || c->precond != KG_CYCLE ||
      c->iterates != KG_DOUBLE || s->count.n_wide_groups > 0 || !c->form->symmetric ||
      !kg_smoother_table_of(c->smoother)->takes_many)
    return false;
  const kg_multigrid_shape multigrid = kg_shape_multigrid(s);
  const kg_locals locals = kg_shape_locals(s), copies = kg_multigrid_cycle_locals(&multigrid);
  return multiplies_many(ctx, s, &locals) && multiplies_many(ctx, s, &copies);
}

/// What the cycle has for many vectors.
static void declare_many_cycle(kg_plan *plan, const kg_shape *s, kg_many_arrays *a)
{
  const kg_multigrid_shape shape = kg_shape_multigrid(s);
  const bool copies = kg_multigrid_has_copies(&shape),
             modes = kg_multigrid_has_vertex_modes(&shape);
  const size_t K = KG_VECTORS, d = sizeof(double), real = kg_number_bytes(shape.number);
  const size_t m = (size_t)s->size.n_edge, n = K * (size_t)s->count.n_free * m;
  const size_t halo = K * (size_t)s->count.n_shared * m, vertices = K * (size_t)s->n_vertices;
  const size_t edges = 2 * K * (size_t)s->count.n_free;
  const kg_coarse_bytes coarse =
      kg_amg.bytes(shape.n_vertices, kg_vertex_entries_max(&s->count), shape.spare);
  kg_plan_array(plan, "residual", vertices, d, solve, &a->residual);
  kg_plan_array(plan, "correction", vertices, d, solve, &a->correction);
  kg_plan_array(plan, "modes", modes ? vertices : 0, d, solve, &a->mode_value);
  kg_plan_array(plan, "parts of modes", modes ? edges : 0, d, solve, &a->mode_part);
  kg_plan_array(plan, "Chebyshev", shape.smoothing_steps > 1 ? n : 0, real, solve, &a->d);
  kg_plan_array(plan, "r of cycles", copies ? n : 0, real, solve, &a->cycle_r);
  kg_plan_array(plan, "A z of cycles", copies ? n : 0, real, solve, &a->cycle_product);
  kg_plan_array(plan, "halo of cycles", copies ? halo : 0, real, solve, &a->cycle_halo);
  kg_plan_array(plan, "coarse vectors", K * (size_t)coarse.vectors, 1, solve, &a->coarse_vectors);
}

void kg_many_declare(kg_plan *plan, const kg_shape *s, kg_many_arrays *a)
{
  const size_t K = KG_VECTORS, d = sizeof(double), m = (size_t)s->size.n_edge;
  const size_t n = K * (size_t)s->count.n_free * m, all = K * (size_t)s->count.n_edges * m;
  const size_t load = s->choice.loads_stay ? kg_shape_numbers(s, KG_ROWS_MODES, s->n_batches) : 0;
  kg_plan_array(plan, "load vectors", K * load, d, solve, &a->load);
  kg_plan_array(plan, "b", n, d, solve, &a->b);
  kg_plan_array(plan, "r", n, d, solve, &a->r);
  kg_plan_array(plan, "A p", n, d, solve, &a->ap);
  kg_plan_array(plan, "x", all, d, solve, &a->x);
  kg_plan_array(plan, "p", all, d, solve, &a->p);
  kg_plan_array(plan, "z", all, kg_number_bytes(s->choice.cycles), solve, &a->z);
  kg_plan_array(plan, "halo", K * (size_t)s->count.n_shared * m, d, solve, &a->halo);
  kg_plan_array(plan, "parts of p . A p", K * (size_t)s->count.n_patches, d, solve,
                &a->product_part);
  kg_plan_array(plan, "parts", K * KG_PIECES, d, solve, &a->part);
  kg_plan_array(plan, "totals", K, d, solve, &a->total);
  kg_plan_array(plan, "states", 1, sizeof *a->states, solve, &a->states);
  kg_plan_array(plan, "steps of the iterations", K * KG_CG_STEPS, sizeof *a->steps, solve,
                &a->steps);
  kg_plan_array(plan, "exponents", K, sizeof *a->exponent, solve, &a->exponent);
  declare_many_cycle(plan, s, a);
}

int64_t kg_many_bytes(const kg_shape *shape)
{
  kg_plan plan = {0};
  kg_many_arrays arrays;
  kg_many_declare(&plan, shape, &arrays);
  return (int64_t)kg_plan_place(&plan);
}
