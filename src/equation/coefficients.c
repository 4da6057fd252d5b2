#include "equation/coefficients.h"

#include <stdlib.h>

#include "device/loop.h"
#include "core/memory.h"

static const char *const plane_names[] = {"diffusion", "diffusion xy", "diffusion yy", "reaction"};
static const char *const space_names[] = {"diffusion",    "diffusion xy", "diffusion xz",
                                          "diffusion yy", "diffusion yz", "diffusion zz",
                                          "reaction"};
static const char *const plane_keys[] = {"diffusion", "diffusion", "diffusion", "reaction"};
static const char *const space_keys[] = {"diffusion", "diffusion", "diffusion", "diffusion",
                                         "diffusion", "diffusion", "reaction"};

static int functions_of(const kg_coefficient_values *v)
{
  return kg_shape_value_functions(v->rules->shape);
}

/// Groups of a batch, and points of its elements.
typedef struct chunk {
  int batch;
  int32_t first, count;
  kg_cell_points host, device;  ///< the same points, in the two memories
} chunk;

void kg_coefficients_declare(kg_plan *plan, const kg_shape *s, kg_coefficient_arrays *a)
{
  const size_t d = sizeof(double), lanes = kg_shape_chunk_lanes(s);
  const unsigned plain = KG_IN(LOCAL) | (s->choice.repeats ? KG_IN(CONDENSE) : 0);
  const unsigned made = s->choice.iterates == KG_SINGLE ? 0 : plain;
  kg_plan_array(plan, "coefficients",
                (size_t)kg_shape_value_functions(s) * (size_t)kg_shape_value_points(s) * lanes, d,
                made | KG_IN(RECOVER) | KG_ANEW, &a->values);
  const bool errors = s->choice.varies && s->choice.wants_errors;
  kg_plan_array(
      plan, "diffusion of errors",
      errors ? (size_t)(kg_shape_value_functions(s) - 1) * (size_t)kg_shape_exact_points(s) * lanes
             : 0,
      d, KG_IN(RECOVER), &a->diffusion);
}

static void open_values(kg_coefficient_values *v)
{
  const int n = functions_of(v);
  const bool in_space = kg_mesh_in_space(v->rules->mesh);
  for (int k = 0; k < n; ++k)
    v->functions[k] = kg_coefficient_number(&v->equation->resolved.equation, k);
  v->all = (kg_evaluation){.rules = v->rules,
                           .set = {n, v->functions, in_space ? space_names : plane_names, "",
                                   v->equation->problem, in_space ? space_keys : plane_keys},
                           .what = KG_EVALUATED_COEFFICIENTS};
  v->diffusion = v->all;
  v->diffusion.set.n = n - 1;
}

void kg_coefficients_close(kg_coefficient_values *v)
{
  kg_evaluation_close(&v->all);
  kg_evaluation_close(&v->diffusion);
  free(v->staging);
  *v = (kg_coefficient_values){0};
}

/// Find the first point of a group, q * KG_LANES + lane, where the equation is not elliptic; -1:
/// there is none.
/// @param[out] here  diffusion and reaction there
static int find_bad(const kg_places *places, int n_functions, const double *value,
                    double here[KG_COEFFICIENTS_MAX])
{
  const int n = places->n * KG_LANES;
  for (int i = 0; i < places->n_rule * KG_LANES; ++i) {
    for (int k = 0; k < KG_COEFFICIENTS_MAX; ++k)
      here[k] = k < n_functions ? value[k * n + i] : 0.0;
    if (!kg_is_elliptic(places->mesh->dimension, here)) return i;
  }
  return -1;
}

/// Fail for the first bad point of a group.
static kedge_status refuse(const kg_coefficient_values *v, const kg_places *places, int32_t group,
                           int n_functions, const double *value)
{
  const kedge_mesh *const mesh = v->rules->mesh;
  double at[3], here[KG_COEFFICIENTS_MAX];
  const int i = find_bad(places, n_functions, value, here), lane = i % KG_LANES;
  kg_place_at(places, group, i / KG_LANES, lane, at);
  const kg_spot spot = {{at[0], at[1], at[2]}, kg_lane_element(places, group, lane)};
  return kg_coefficients_refuse(v->rules->ctx, v->equation->problem, mesh,
                                mesh->element_region[spot.element], &spot, here);
}

static kedge_status open_staging(kg_coefficient_values *v)
{
  const kg_shape *const s = v->rules->shape;
  const int values = functions_of(v) * kg_shape_value_points(s);
  const int errors = (functions_of(v) - 1) * kg_shape_exact_points(s);
  const size_t most = (size_t)(values > errors ? values : errors);
  const kg_choice *c = &s->choice;
  const bool remakes = c->residual != KG_PLAIN && c->residual_groups > c->recover_groups;
  const size_t groups = (size_t)(remakes ? c->residual_groups : c->recover_groups);
  if (v->staging) return KEDGE_OK;
  return kg_host_alloc(v->rules->ctx, most * groups * KG_LANES, sizeof *v->staging, &v->staging);
}

/// The host evaluates, and the values are copied.
static kedge_status put_by_host(kg_coefficient_values *v, const chunk *c, const kg_sample_set *set,
                                double *to)
{
  kedge_context *const ctx = v->rules->ctx;
  const kg_lane_batch *lanes = &v->rules->shape->batch[c->batch].lanes;
  const size_t group = (size_t)set->n * (size_t)c->host.n * KG_LANES;
  const int32_t first = c->first, count = c->count;
  kg_places places = kg_cell_places(&c->host, c->host.n, v->rules->mesh);
  places.first_element = lanes->first_element;
  places.n_elements = lanes->n_elements;
  KG_TRY(open_staging(v));
  double *const staging = v->staging;
  KG_TRY(kg_sample(ctx, places, first, count, set, staging));
  int32_t bad = count;
#pragma omp parallel for reduction(min    \
                                   : bad) \
    num_threads(kg_loop_threads(ctx, count, 16 * (int64_t)group))
  for (int32_t g = 0; g < count; ++g) {
    double *const value = staging + group * (size_t)g, here[KG_COEFFICIENTS_MAX];
    const bool good = find_bad(&places, set->n, value, here) < 0;
    for (size_t i = 0; good && i < group; ++i) value[i] *= v->equation->scale;
    if (!good && g < bad) bad = g;
  }
  if (bad < count) return refuse(v, &places, first + bad, set->n, staging + group * (size_t)bad);
  return kg_copy_in(ctx, to, staging, group * (size_t)count * sizeof *to);
}

/// @param[in] times  that such values are made in a solve, to choose the way by
static kedge_status put(kg_coefficient_values *v, const chunk *c, int n_functions, int times,
                        double *to)
{
  if (!v->functions[0]) open_values(v);
  kg_evaluation *e = n_functions == functions_of(v) ? &v->all : &v->diffusion;
  bool done;
  if (kg_mesh_in_space(v->rules->mesh)) return put_by_host(v, c, &e->set, to);
  KG_TRY(kg_evaluation_prepare(e, (double)times * c->host.n));
  const kg_cell_values_args args = {.points = c->device,
                                    .n_used = c->device.n,
                                    .elliptic = true,
                                    .scale = v->equation->scale,
                                    .values = to};
  KG_TRY(kg_evaluation_cells(e, c->batch, c->first, c->count, args, &done));
  return done ? KEDGE_OK : put_by_host(v, c, &e->set, to);
}

kedge_status kg_coefficients_put(kg_coefficient_values *v, int batch, int32_t first, int32_t count,
                                 double *to, kg_coefficient *out)
{
  const kg_shape *const s = v->rules->shape;
  *out = kg_materials_from(v->equation, s, v->materials, batch, first);
  if (!s->choice.varies || !s->batch[batch].samples_cells) return KEDGE_OK;
  if (kg_mesh_in_space(v->rules->mesh)) {
    const chunk in_space = {batch, first, count, kg_rules_value_points(v->rules, batch),
                            kg_rules_value_points(v->rules, batch)};
    out->space.values = to;
    return put(v, &in_space, functions_of(v), 2, to);
  }
  chunk c = {batch, first, count, kg_rules_value_points(v->rules, batch),
             kg_cell_points_and_facets(&v->rules->elements[batch].cells.tables)};
  if (!(out->cells.length > 0.0)) c.host.n = c.device.n = s->rows * s->rows;
  out->cells.values = to;
  out->cells.reaction = kg_has_no_reaction(&v->equation->resolved) ? 0.0 : 1.0;
  const int residuals = s->choice.residual == KG_PLAIN ? 0 : KG_RESIDUALS;
  return put(v, &c, functions_of(v), 2 + residuals, to);
}

kedge_status kg_coefficients_put_diffusion(kg_coefficient_values *v, int batch, int32_t first,
                                           int32_t count, double *to, int *n_points)
{
  chunk c = {batch, first, count, kg_rules_host_cell_points(v->rules, batch, KG_SAMPLE_ERRORS),
             kg_rules_cell_points(v->rules, batch, KG_SAMPLE_ERRORS)};
  *n_points = c.device.n - v->rules->shape->batch[batch].cell->n_vertices;
  c.host.n = c.device.n = *n_points;
  return put(v, &c, functions_of(v) - 1, 1, to);
}
