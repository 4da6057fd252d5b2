#include "elements.h"

#include <stdio.h>
#include <string.h>

#include "ops/local/quadrature/make.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"

static elements_batch batch_of(kg_elliptic *p, int i)
{
  const kg_shape *const s = &p->shape;
  const kg_arrays *const a = &p->arrays;
  const size_t lanes = KG_LANES * (size_t)s->batch[i].lanes.first_group;
  const size_t values = KG_CELL_FUNCTIONS * (size_t)kg_shape_value_points(s) * lanes;
  const kg_chunk all = {.batch = i};
  elements_batch out = {.elements = &p->elements[i],
                        .load = kg_elliptic_rows(p, a->load, KG_ROWS_MODES, &all),
                        .local = kg_elliptic_locals(p).local[i],
                        .condensed = kg_elliptic_rows(p, a->condensed, KG_ROWS_TRACE, &all),
                        .u = a->u + kg_shape_most_rows(s, KG_ROWS_MODES) * lanes,
                        .flux = a->q + kg_shape_most_rows(s, KG_ROWS_FLUX) * lanes,
                        .u_star = a->u_star + kg_shape_most_rows(s, KG_ROWS_STAR) * lanes,
                        .indicator = a->indicator + lanes};
  double *const to = a->coefficients.values ? a->coefficients.values + values : NULL;
  BENCH_TRY(p->ctx, kg_coefficients_put(&p->coefficients, i, 0, kg_elements_groups(out.elements),
                                        to, &out.coefficient));
  return out;
}

static void zero(kg_elliptic *p, const void *pointer)
{
  const kg_buffer array = kg_plan_buffer(&p->plan, pointer);
  BENCH_TRY(p->ctx, kg_zero(p->ctx, array.data, array.bytes));
}

void elements_open(elements_bench *e, kedge_context *ctx, const kedge_mesh *mesh,
                   kedge_problem *problem)
{
  kg_elliptic *const p = &e->b.p;
  bench_open_any(&e->b, ctx, mesh, problem);
  zero(p, &p->arrays.u);  // operators by quadrature leave empty lanes as they are
  zero(p, &p->arrays.u_star);
  e->n_batches = p->shape.n_batches;
  for (int i = 0; i < e->n_batches; ++i) e->batch[i] = batch_of(p, i);
}

void elements_close(elements_bench *e)
{
  bench_close(&e->b);
}

kedge_status elements_make(void *user)
{
  elements_bench *const e = user;
  for (const elements_batch *i = e->batch; i < e->batch + e->n_batches; ++i)
    KG_TRY(e->b.p.equation.form->make(e->b.p.ctx, i->elements, &i->coefficient, i->load, i->local,
                                      i->condensed));
  return KEDGE_OK;
}

kedge_status elements_recover(void *user)
{
  elements_bench *const e = user;
  for (const elements_batch *i = e->batch; i < e->batch + e->n_batches; ++i)
    KG_TRY(e->b.p.equation.form->recover(e->b.p.ctx, i->elements, &i->coefficient, i->load,
                                         e->b.x.data, i->u, i->flux));
  return KEDGE_OK;
}

kedge_status elements_postprocess(void *user)
{
  elements_bench *const e = user;
  for (const elements_batch *i = e->batch; i < e->batch + e->n_batches; ++i)
    KG_TRY(e->b.p.equation.form->postprocess(e->b.p.ctx, i->elements, &i->coefficient, i->u,
                                             i->flux, i->u_star, i->indicator));
  return KEDGE_OK;
}

kedge_status elements_apply(void *user)
{
  elements_bench *const e = user;
  const kg_elliptic *const p = &e->b.p;
  return kg_trace_product(
      p->ctx,
      &(kg_trace_product_args){
          .batch = p->space.batch,
          .locals = kg_elliptic_locals(p),
          .x = e->b.x.data,
          .y = e->b.y.data,
          .halo = p->arrays.iteration.halo,
          .pass = {.sum.part = p->arrays.iteration.method.cg.product_part, .after_vectors = true}});
}

kedge_status elements_diagonal(elements_bench *e)
{
  const kg_elliptic *const p = &e->b.p;
  return kg_facet_diagonal(p->ctx,
                           &(kg_facet_diagonal_args){.batch = p->space.batch,
                                                     .locals = kg_elliptic_locals(p),
                                                     .inverse = p->arrays.inverse_diagonal});
}

/// Whether points are involved; else closed forms.
static bool is_integrated(const kg_elements *elements)
{
  return elements->by_quadrature && !elements->are_parallelograms;
}

/// Sum a cost over the batches: `closed` of the form, `cells` of elements by quadrature.
static kg_cost sum_costs(const elements_bench *e, kg_cost (*closed)(const kg_elements *),
                         kg_cost (*cells)(const kg_cell_tables *, const kg_cell_material *,
                                          int64_t))
{
  kg_cost sum = {0};
  for (const elements_batch *i = e->batch; i < e->batch + e->n_batches; ++i) {
    const kg_elements *const of = i->elements;
    const kg_cost cost = is_integrated(of)
                             ? cells(&of->cells.tables, &i->coefficient.cells, of->n_elements)
                             : closed(of);
    sum = kg_cost_plus(sum, 1, cost);
  }
  return sum;
}

static kg_cost closed_make_cost(const kg_elements *elements)
{
  return kg_form_elliptic.make_cost(elements, KG_LAYOUT_PACKED);
}

kg_cost elements_make_cost(const elements_bench *e)
{
  return sum_costs(e, closed_make_cost, kg_cell_make_cost);
}

kg_cost elements_recover_cost(const elements_bench *e)
{
  return sum_costs(e, kg_form_elliptic.recover_cost, kg_cell_recover_cost);
}

kg_cost elements_postprocess_cost(const elements_bench *e)
{
  return sum_costs(e, kg_form_elliptic.postprocess_cost, kg_cell_postprocess_cost);
}

kg_cost elements_apply_cost(const elements_bench *e)
{
  const kg_locals locals = kg_elliptic_locals(&e->b.p);
  return kg_trace_product_cost(e->b.p.shape.m, &e->b.p.shape.count, &locals);
}

static double make_flops(const kg_cell_tables *t, bool exact)
{
  const double N = t->size.n_modes, n = t->size.n_trace, S = t->size.n_flux, p = N + n;
  const double points = t->points.n;
  const double flux = exact ? points * S * (S + 1) + S * S * S / 3 + S * S * p + S * p * (p + 1)
                            : 6 * points * p + 2 * points * p * (p + 1);
  return flux + N * N * N / 3 + N * N * n + N * n * n;
}

double elements_make_flops(const elements_bench *e)
{
  double sum = 0.0;
  for (const elements_batch *i = e->batch; i < e->batch + e->n_batches; ++i) {
    const kg_elements *const of = i->elements;
    sum += is_integrated(of)
               ? make_flops(&of->cells.tables, i->coefficient.cells.exact) * of->n_elements
               : closed_make_cost(of).flops;
  }
  return sum;
}

void elements_ways(const elements_bench *e, char text[32])
{
  text[0] = '\0';
  for (const elements_batch *i = e->batch; i < e->batch + e->n_batches; ++i) {
    const bool exact = i->coefficient.cells.exact;
    if (text[0]) strcat(text, "+");
    strcat(text, !i->elements->by_quadrature       ? "fast"
                 : i->elements->are_parallelograms ? "closed"
                 : exact                           ? "exact"
                                                   : "adjusted");
  }
}
