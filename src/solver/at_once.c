#include "solver/at_once.h"

#include <stdlib.h>

#include "core/clock.h"
#include "core/memory.h"
#include "core/nvtx.h"
#include "device/context.h"
#include "ops/vector/pcg_many.h"

struct kg_many {
  kg_plan plan;
  kg_many_arrays arrays;   ///< on the way in and out, p and r are [vector][row]
  kg_multigrid multigrid;  ///< that of the pipeline, with vectors of its own
  kg_patches a;
  kg_cycle cycle, first;
  kg_cg_many cg, first_cg;
  double *dirichlet;  ///< [row of Dirichlet edges][vector] in host memory
  kg_system_rule rule[KG_VECTORS];
  kg_system_begun begun[KG_VECTORS];
};

static size_t free_rows(const kg_elliptic *p)
{
  return (size_t)p->space.layout.count.n_free * (size_t)p->shape.size.n_edge;
}

static size_t all_rows(const kg_elliptic *p)
{
  return (size_t)p->space.layout.count.n_edges * (size_t)p->shape.size.n_edge;
}

/// Numbers of the load vectors of a right-hand side.
static size_t load_numbers(const kg_elliptic *p)
{
  return kg_shape_numbers(&p->shape, KG_ROWS_MODES, p->shape.n_batches);
}

/// The multigrid of the pipeline with vectors of its own.
static kedge_status make_multigrid(kg_elliptic *p, kg_many *m)
{
  const kg_multigrid *const of = &p->arrays.multigrid;
  const kg_many_arrays *const a = &m->arrays;
  kg_multigrid *const to = &m->multigrid;
  *to = *of;
  to->plan = NULL;
  to->coarse = NULL;
  to->residual = a->residual;
  to->correction = a->correction;
  to->d = a->d;
  to->modes.value = a->mode_value;
  to->modes.part = a->mode_part;
  if (kg_multigrid_has_copies(&of->shape)) {
    to->single.z = a->z;
    to->single.r = a->cycle_r;
    to->single.product = a->cycle_product;
    to->single.halo = a->cycle_halo;
  }
  KG_TRY(of->solver->of_many(p->ctx, of->coarse, &to->coarse));
  return of->solver->lend(p->ctx, to->coarse, a->coarse_vectors,
                          KG_VECTORS * (size_t)of->bytes.vectors);
}

static void make_methods(const kg_elliptic *p, kg_many *m)
{
  const kg_many_arrays *const a = &m->arrays;
  m->a = kg_patches_of(&(kg_trace_product_args){
      .batch = p->space.batch, .locals = kg_elliptic_locals(p), .halo = a->halo});
  m->cycle = m->first = kg_cycle_of(&m->multigrid, &m->a, a->ap, a->exponent);
  m->first.room = a->p;
  kg_cg_many_args args = {.linear = &m->a.base,
                          .precond = &m->cycle.base,
                          .x = a->x,
                          .r = a->r,
                          .p = a->p,
                          .ap = a->ap,
                          .z = a->z,
                          .part = a->part,
                          .product_part = a->product_part,
                          .product_parts = p->space.layout.count.n_patches,
                          .total = a->total,
                          .states = a->states,
                          .steps = a->steps};
  m->cg = kg_cg_many_of(&args);
  args.precond = &m->first.base;
  m->first_cg = kg_cg_many_of(&args);
}

static kedge_status open(kg_elliptic *p, kg_many *m)
{
  kg_many_declare(&m->plan, &p->shape, &m->arrays);
  kg_plan_place(&m->plan);
  KG_TRY(kg_plan_commit(p->ctx, &m->plan));
  KG_TRY(make_multigrid(p, m));
  make_methods(p, m);
  return kg_host_alloc(p->ctx, KG_VECTORS * (all_rows(p) - free_rows(p)) + 1, sizeof *m->dirichlet,
                       &m->dirichlet);
}

kedge_status kg_many_open(kg_elliptic *p, kg_many **out)
{
  KG_TRY(kg_host_calloc(p->ctx, 1, sizeof **out, out));
  const kedge_status status = open(p, *out);
  if (status == KEDGE_OK) return KEDGE_OK;
  kg_many_close(p->ctx, *out);
  *out = NULL;
  return status;
}

void kg_many_close(kedge_context *ctx, kg_many *m)
{
  if (!m) return;
  kg_cg_many_free(ctx, &m->cg);
  kg_cg_many_free(ctx, &m->first_cg);
  if (m->multigrid.solver) m->multigrid.solver->destroy(ctx, m->multigrid.coarse);
  kg_plan_free(ctx, &m->plan);
  free(m->dirichlet);
  free(m);
}

kedge_status kg_many_put(kg_elliptic *p, kg_many *m, int vector)
{
  const size_t n = free_rows(p), rows = all_rows(p) - n;
  const double *const values =
      p->boundary + (size_t)p->space.layout.count.n_neumann * (size_t)p->shape.size.n_edge;
  for (size_t i = 0; i < rows; ++i) m->dirichlet[i * KG_VECTORS + (size_t)vector] = values[i];
  m->rule[vector] = kg_trace_rule(p);
  if (m->arrays.load)
    KG_TRY(kg_copy(p->ctx, m->arrays.load + (size_t)vector * load_numbers(p), p->arrays.load,
                   load_numbers(p) * sizeof(double)));
  return kg_copy(p->ctx, m->arrays.p + (size_t)vector * n, p->arrays.b, n * sizeof(double));
}

/// Vectors at the beginning of an iteration: x zero but for Dirichlet values, p and z zero in their
/// rows. What p and z hold elsewhere is finite, and does not matter. Right-hand sides that are not
/// there are zero, and end at once.
static kedge_status start(kg_elliptic *p, kg_many *m, int n_vectors)
{
  const size_t K = KG_VECTORS, n = free_rows(p), fixed = all_rows(p) - n, d = sizeof(double);
  const size_t real = kg_number_bytes(m->multigrid.shape.number);
  for (size_t v = (size_t)n_vectors; v < K; ++v) {
    for (size_t i = 0; i < fixed; ++i) m->dirichlet[i * K + v] = 0.0;
    m->rule[v] = m->rule[0];
    KG_TRY(kg_zero(p->ctx, m->arrays.p + v * n, n * d));
  }
  const kg_interleave_args b = {.n = (int64_t)n, .from = m->arrays.p, .to = m->arrays.b};
  KG_TRY(kg_interleave(p->ctx, &b));
  KG_TRY(kg_zero(p->ctx, m->arrays.x, K * n * d));
  KG_TRY(kg_copy_in(p->ctx, m->arrays.x + K * n, m->dirichlet, K * fixed * d));
  KG_TRY(kg_zero(p->ctx, m->arrays.p + K * n, K * fixed * d));
  return kg_zero(p->ctx, (char *)m->arrays.z + K * n * real, K * fixed * real);
}

/// x one vector behind the other, in p; b too, in r, where a solve goes on.
static kedge_status part(kg_elliptic *p, kg_many *m)
{
  const kg_interleave_args x = {
      .n = (int64_t)all_rows(p), .apart = true, .from = m->arrays.x, .to = m->arrays.p};
  const kg_interleave_args b = {
      .n = (int64_t)free_rows(p), .apart = true, .from = m->arrays.b, .to = m->arrays.r};
  bool all_done = true;
  for (int v = 0; v < KG_VECTORS; ++v) all_done = all_done && kg_system_is_done(&m->begun[v]);
  KG_TRY(kg_interleave(p->ctx, &x));
  return all_done ? KEDGE_OK : kg_interleave(p->ctx, &b);
}

kedge_status kg_many_solve(kg_elliptic *p, kg_many *m, int n, double *seconds)
{
  const double began = kg_seconds();
  const kg_system_many system = {&m->cg, &m->first_cg, m->arrays.b};
  KG_TRY(kg_plan_enter(p->ctx, &p->plan, KG_PHASE_STEP));
  kg_range_push("trace_solve", p->mesh->n_elements, (int64_t)free_rows(p));
  kedge_status status = start(p, m, n);
  if (status == KEDGE_OK) status = kg_system_solve_many(p->ctx, &system, m->rule, m->begun);
  if (status == KEDGE_OK) status = part(p, m);
  if (status == KEDGE_OK) status = kg_sync(p->ctx);
  kg_range_pop();
  *seconds = (kg_seconds() - began) / n;
  return status;
}

kedge_status kg_many_take(kg_elliptic *p, const kg_many *m, int vector)
{
  const size_t n = free_rows(p), all = all_rows(p), d = sizeof(double), at = (size_t)vector;
  const size_t load = load_numbers(p);
  if (m->arrays.load) KG_TRY(kg_copy(p->ctx, p->arrays.load, m->arrays.load + at * load, load * d));
  KG_TRY(kg_copy(p->ctx, p->arrays.x, m->arrays.p + at * all, all * d));
  if (kg_system_is_done(&m->begun[vector])) return KEDGE_OK;
  return kg_copy(p->ctx, p->arrays.b, m->arrays.r + at * n, n * d);
}

const kg_system_begun *kg_many_begun(const kg_many *m, int vector)
{
  return &m->begun[vector];
}
