// The elliptic form: the fast kernels of triangles, those of tetrahedra, closed forms of
// parallelograms, quadrature for every other element.
#include "ops/local/recover/constant_modes.h"
#include "ops/form/form.h"
#include "ops/local/parallelogram/parallelogram.h"
#include "ops/local/quadrature/make.h"
#include "ops/local/quadrature/means.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"
#include "ops/local/tetrahedron/tetrahedron.h"
#include "ops/local/triangle/local_matrices.h"
#include "ops/local/triangle/local_solve.h"
#include "ops/local/recover/postprocess.h"

static const kg_cell_material of_constants;  // what costs depend on

static bool in_space(const kg_elements *e)
{
  return e->cell == &kg_tetrahedron;
}

static kedge_status make(kedge_context *ctx, const kg_elements *e,
                         const kg_coefficient *coefficient, const double *load, kg_local local,
                         double *condensed)
{
  if (in_space(e)) {
    assert(local.layout == KG_LAYOUT_PACKED && local.number == KG_DOUBLE);
    return kg_tetrahedron_make(ctx, &(kg_tetrahedron_make_args){.cells = e->tetrahedra,
                                                                .materials = coefficient->space,
                                                                .load = load,
                                                                .local = local.data,
                                                                .condensed = condensed});
  }
  if (!e->by_quadrature)
    return kg_local_matrices(ctx, &(kg_local_matrices_args){.batch = e->batch,
                                                            .materials = coefficient->constant,
                                                            .load = load,
                                                            .local = local,
                                                            .condensed = condensed});
  assert(local.layout == KG_LAYOUT_PACKED && local.number == KG_DOUBLE);
  const kg_cell_make_args args = {.cells = e->cells,
                                  .material = coefficient->cells,
                                  .load = load,
                                  .local = local.data,
                                  .condensed = condensed};
  return e->are_parallelograms ? kg_parallelogram_make(ctx, &args) : kg_cell_make(ctx, &args);
}

static kedge_status recover(kedge_context *ctx, const kg_elements *e,
                            const kg_coefficient *coefficient, const double *load,
                            const double *trace, double *u, double *flux)
{
  if (in_space(e))
    return kg_tetrahedron_recover(ctx,
                                  &(kg_tetrahedron_recover_args){.cells = e->tetrahedra,
                                                                 .materials = coefficient->space,
                                                                 .load = load,
                                                                 .trace = trace,
                                                                 .u = u,
                                                                 .flux = flux});
  if (!e->by_quadrature)
    return kg_local_solve(ctx, &(kg_local_solve_args){.batch = e->batch,
                                                      .materials = coefficient->constant,
                                                      .n_groups = kg_elements_groups(e),
                                                      .trace = trace,
                                                      .load = load,
                                                      .u = u,
                                                      .q = flux});
  const kg_cell_recover_args args = {.cells = e->cells,
                                     .material = coefficient->cells,
                                     .trace = trace,
                                     .load = load,
                                     .u = u,
                                     .flux = flux};
  return e->are_parallelograms ? kg_parallelogram_recover(ctx, &args) : kg_cell_recover(ctx, &args);
}

/// On straight triangles the flux is the second half of the work; others make it with u.
static kedge_status modes(kedge_context *ctx, const kg_elements *e,
                          const kg_coefficient *coefficient, const double *load,
                          const double *trace, double *u, double *work)
{
  const bool apart = !e->by_quadrature && !in_space(e);
  return recover(ctx, e, coefficient, load, trace, u, apart ? NULL : work);
}

static kedge_status postprocess(kedge_context *ctx, const kg_elements *e,
                                const kg_coefficient *coefficient, const double *u,
                                const double *flux, double *u_star, double *indicator)
{
  if (in_space(e))
    return kg_tetrahedron_postprocess(
        ctx, &(kg_tetrahedron_postprocess_args){.cells = e->tetrahedra,
                                                .materials = coefficient->space,
                                                .u = u,
                                                .flux = flux,
                                                .u_star = u_star,
                                                .indicator = indicator});
  if (!e->by_quadrature)
    return kg_postprocess(ctx, &(kg_postprocess_args){.batch = e->batch,
                                                      .materials = coefficient->constant,
                                                      .n_groups = kg_elements_groups(e),
                                                      .u = u,
                                                      .q = flux,
                                                      .u_star = u_star,
                                                      .indicator = indicator});
  const kg_cell_postprocess_args args = {.cells = e->cells,
                                         .material = coefficient->cells,
                                         .u = u,
                                         .flux = flux,
                                         .u_star = u_star,
                                         .indicator = indicator};
  return e->are_parallelograms ? kg_parallelogram_postprocess(ctx, &args)
                               : kg_cell_postprocess(ctx, &args);
}

static kedge_status means(kedge_context *ctx, const kg_elements *e,
                          const kg_coefficient *coefficient, const double *u, const double *flux,
                          double *constant)
{
  if (in_space(e))
    return kg_tetrahedron_means(ctx, &(kg_tetrahedron_means_args){.cells = e->tetrahedra,
                                                                  .materials = coefficient->space,
                                                                  .u = u,
                                                                  .flux = flux,
                                                                  .constant = constant});
  if (!e->by_quadrature)  // the constant modes have the means
    return kg_constant_modes(ctx, &(kg_constant_modes_args){.size = e->batch.reference.size,
                                                            .n_groups = kg_elements_groups(e),
                                                            .u = u,
                                                            .q = flux,
                                                            .constant = constant});
  return kg_cell_means(ctx, &(kg_cell_means_args){.cells = e->cells,
                                                  .material = coefficient->cells,
                                                  .u = u,
                                                  .flux = flux,
                                                  .constant = constant});
}

static kg_cost make_cost(const kg_elements *e, kg_layout layout)
{
  if (in_space(e)) return kg_tetrahedron_make_cost(e->size, e->n_elements);
  if (!e->by_quadrature)
    return kg_local_matrices_cost(e->batch.reference.size, layout, e->n_elements);
  return e->are_parallelograms ? kg_parallelogram_make_cost(e->size, e->n_elements)
                               : kg_cell_make_cost(&e->cells.tables, &of_constants, e->n_elements);
}

static kg_cost recover_cost(const kg_elements *e)
{
  if (in_space(e)) return kg_tetrahedron_recover_cost(e->size, e->n_elements);
  if (!e->by_quadrature) return kg_local_solve_cost(e->batch.reference.size, e->n_elements);
  return e->are_parallelograms
             ? kg_parallelogram_recover_cost(e->size, e->n_elements)
             : kg_cell_recover_cost(&e->cells.tables, &of_constants, e->n_elements);
}

static kg_cost postprocess_cost(const kg_elements *e)
{
  if (in_space(e)) return kg_tetrahedron_postprocess_cost(e->size, e->n_elements);
  if (!e->by_quadrature) return kg_postprocess_cost(e->batch.reference.size, e->n_elements);
  return e->are_parallelograms
             ? kg_parallelogram_postprocess_cost(e->size, e->n_elements)
             : kg_cell_postprocess_cost(&e->cells.tables, &of_constants, e->n_elements);
}

static kg_cost means_cost(const kg_elements *e)
{
  if (in_space(e)) return kg_tetrahedron_means_cost(e->n_elements);
  return !e->by_quadrature ? kg_constant_modes_cost(e->n_elements)
                           : kg_cell_means_cost(&e->cells.tables, &of_constants, e->n_elements);
}

const kg_form kg_form_elliptic = {.symmetric = true,
                                  .reduces = true,
                                  .make = make,
                                  .recover = recover,
                                  .modes = modes,
                                  .postprocess = postprocess,
                                  .means = means,
                                  .make_cost = make_cost,
                                  .recover_cost = recover_cost,
                                  .postprocess_cost = postprocess_cost,
                                  .means_cost = means_cost};
