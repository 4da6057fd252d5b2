#include "elliptic/evaluation.h"

#include <stdlib.h>

#include "device/loop.h"
#include "core/memory.h"
#include "elliptic/cells.h"

static const char *const names[] = {"diffusion", "diffusion xy", "diffusion yy", "reaction"};
static const char *const keys[] = {"diffusion", "diffusion", "diffusion", "reaction"};

static void open_values(kg_elliptic *p)
{
  static const kg_function zero = {.kind = KG_FUNCTION_CONSTANT};
  kg_coefficient_values *v = &p->values;
  const kg_coefficients *c = &p->equation.resolved.equation;
  const bool scalar = c->n_diffusion == 1;
  v->functions[0] = &c->diffusion[0];
  v->functions[1] = scalar ? &zero : &c->diffusion[1];
  v->functions[2] = &c->diffusion[scalar ? 0 : 2];
  v->functions[3] = &c->reaction;
  v->equation = (kg_evaluation){.elliptic = p,
                                .set = {4, v->functions, names, "", p->equation.problem, keys},
                                .what = KG_EVALUATED_COEFFICIENTS};
  v->diffusion = v->equation;
  v->diffusion.set.n = 3;
}

void kg_coefficients_close(kg_coefficient_values *v)
{
  kg_evaluation_close(&v->equation);
  kg_evaluation_close(&v->diffusion);
  free(v->staging);
  *v = (kg_coefficient_values){0};
}

/// Fail for a point where the equation is not elliptic.
static kedge_status check_point(const kg_elliptic *p, const kg_places *places, int32_t group, int q,
                                int lane, const double value[4])
{
  double at[2];
  if (kg_is_elliptic(value)) return KEDGE_OK;
  kg_place_at(places, group, q, lane, at);
  const kg_spot spot = {at[0], at[1], kg_lane_element(places, group, lane)};
  return kg_coefficients_refuse(p->ctx, p->equation.problem, p->mesh,
                                p->mesh->element_region[spot.element], &spot, value);
}

/// Diffusion and reaction at a point of a group.
static void values_at(const kg_places *places, int n_functions, const double *value, int q,
                      int lane, double here[4])
{
  const size_t n = (size_t)places->n * KG_LANES;
  for (int k = 0; k < 4; ++k)
    here[k] = k < n_functions ? value[(size_t)k * n + (size_t)(q * KG_LANES + lane)] : 0.0;
}

/// The first bad value of a group; all is well if there is none.
static kedge_status check_group(const kg_elliptic *p, const kg_places *places, int32_t group,
                                int n_functions, const double *value)
{
  for (int q = 0; q < places->n_rule; ++q)
    for (int lane = 0; lane < KG_LANES; ++lane) {
      double here[4];
      values_at(places, n_functions, value, q, lane, here);
      KG_TRY(check_point(p, places, group, q, lane, here));
    }
  return KEDGE_OK;
}

/// Multiply the values of a group by the scale of the equation. Returns whether all are good.
static bool scale_group(const kg_elliptic *p, const kg_places *places, int n_functions,
                        double *value)
{
  bool good = true;
  for (int q = 0; q < places->n_rule; ++q)
    for (int lane = 0; lane < KG_LANES; ++lane) {
      double here[4];
      values_at(places, n_functions, value, q, lane, here);
      good = good && kg_is_elliptic(here);
    }
  const size_t n = (size_t)n_functions * (size_t)places->n * KG_LANES;
  for (size_t i = 0; good && i < n; ++i) value[i] *= p->equation.scale;
  return good;
}

static kedge_status open_staging(kg_elliptic *p)
{
  const int values = 4 * kg_shape_value_points(&p->shape);
  const int errors = 3 * kg_shape_exact_points(&p->shape);
  const size_t most = (size_t)(values > errors ? values : errors);
  const kg_choice *c = &p->shape.choice;
  const bool remakes = c->residual != KG_PLAIN && c->residual_groups > c->recover_groups;
  const size_t groups = (size_t)(remakes ? c->residual_groups : c->recover_groups);
  if (p->values.staging) return KEDGE_OK;
  return kg_host_alloc(p->ctx, most * groups * KG_LANES, sizeof *p->values.staging,
                       &p->values.staging);
}

/// The host evaluates, and the values are copied.
static kedge_status put_by_host(kg_elliptic *p, const kg_coefficient_chunk *c,
                                const kg_sample_set *set, double *to)
{
  const kg_lane_batch *lanes = &p->shape.batch[c->batch].lanes;
  const size_t group = (size_t)set->n * (size_t)c->host.n * KG_LANES;
  const int32_t first = c->first, count = c->count;
  kg_places places = kg_cell_places(&c->host, c->host.n, p->mesh);
  places.first_element = lanes->first_element;
  places.n_elements = lanes->n_elements;
  KG_TRY(open_staging(p));
  double *const staging = p->values.staging;
  KG_TRY(kg_sample(p->ctx, places, first, count, set, staging));
  int32_t bad = count;
#pragma omp parallel for reduction(min    \
                                   : bad) \
    num_threads(kg_loop_threads(p->ctx, count, 16 * (int64_t)group))
  for (int32_t g = 0; g < count; ++g)
    if (!scale_group(p, &places, set->n, staging + group * (size_t)g) && g < bad) bad = g;
  if (bad < count)
    return check_group(p, &places, first + bad, set->n, staging + group * (size_t)bad);
  return kg_copy_in(p->ctx, to, staging, group * (size_t)count * sizeof *to);
}

kedge_status kg_coefficients_put(kg_elliptic *p, const kg_coefficient_chunk *c, int n_functions,
                                 int times, double *to)
{
  if (!p->values.functions[0]) open_values(p);
  kg_evaluation *e = n_functions == 4 ? &p->values.equation : &p->values.diffusion;
  bool done;
  KG_TRY(kg_evaluation_prepare(e, (double)times * c->host.n));
  const kg_cells cells = kg_cells_part(&p->elements[c->batch].cells, c->first, c->count);
  const kg_cell_values_args args = {.n_elements = cells.n_elements,
                                    .vertices = cells.vertices,
                                    .vertex = cells.vertex,
                                    .nodes = cells.nodes,
                                    .points = c->device,
                                    .n_used = c->device.n,
                                    .elliptic = true,
                                    .scale = p->equation.scale,
                                    .region = kg_evaluation_regions(e, c->batch, c->first),
                                    .values = to};
  KG_TRY(kg_evaluation_cells(e, &args, &done));
  return done ? KEDGE_OK : put_by_host(p, c, &e->set, to);
}
