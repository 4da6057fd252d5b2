// Media of elements, and the longest step that they allow.
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "waves/waves.h"

enum { LANES = KG_WAVE_LANES };

int kg_waves_group(const kedge_mesh *mesh, int32_t e)
{
  int g = kg_line_groups(mesh);
  while (g + 1 < mesh->n_groups && mesh->groups[g].tag != mesh->element_region[e]) ++g;
  return g;
}

const kg_coefficients *kg_waves_coefficients(const kg_waves *w,
                                             const kg_coefficients *const *section, int group)
{
  return section[group] ? section[group] : &w->problem->equation;
}

/// The function of a property of a region: its own, else that of [equation].
static const kg_function *property_of(const kg_waves *w, const kg_coefficients *section, int k)
{
  const int place = kg_word_among(kg_wave_properties, KG_WAVE_PROPERTIES, w->law->properties[k]);
  const kg_function *const own = &section->property[place];
  return own->kind != KG_FUNCTION_NONE ? own : &w->problem->equation.property[place];
}

static kedge_status refuse_property(const kg_waves *w, int32_t element, int k, double value)
{
  const char *const key = w->law->properties[k], *name;
  double at[3];
  char z[24] = "";
  kg_element_middle(w->mesh, element, at);
  if (w->mesh->dimension == 3) snprintf(z, sizeof z, ", z = %.6g", at[2]);
  const kg_setting *const setting =
      kg_coefficient_setting(w->problem, w->mesh, w->mesh->element_region[element], key, &name);
  return kg_problem_fail(
      w->ctx, w->problem, setting,
      "%s must be %s, and in element %d (from 0) at x = %.6g, y = %.6g%s it is %g", key,
      w->law->may_be_zero[k] ? "zero or positive" : "positive", w->mesh->element_origin[element],
      at[0], at[1], z, isnan(value) ? (double)NAN : value);
}

/// Whether the type of numbers of a state holds a number of a medium.
static bool is_held(const kg_waves *w, double number)
{
  if (w->args.number == KG_DOUBLE) return number <= DBL_MAX;
  return number == 0.0 || (number >= FLT_MIN && number <= FLT_MAX);
}

static kedge_status refuse_medium(const kg_waves *w, int32_t element, double number)
{
  return kg_problem_fail(
      w->ctx, w->problem, kg_settings_find(&w->problem->settings, "solver", "precision"),
      "the material of element %d (from 0) has a wave impedance or another number of %g, which %s "
      "precision does not hold%s",
      w->mesh->element_origin[element], number, w->args.number == KG_SINGLE ? "single" : "double",
      number <= DBL_MAX ? "; take precision = double in [solver], or other units" : "");
}

kedge_status kg_waves_media(kg_waves *w, const kg_coefficients *const *section, double *medium)
{
  const kg_law *const law = w->law;
  const kedge_mesh *const mesh = w->mesh;
  for (int32_t e = 0; e < w->args.n_groups * LANES; ++e) {
    double memory[KG_LOCATED], x[3], property[KG_WAVE_PROPERTIES_MAX], filling[KG_WAVE_NUMBERS_MAX];
    double *const number = e < mesh->n_elements ? w->number + (int64_t)e * law->n_numbers : filling;
    for (int k = 0; k < law->n_properties; ++k) property[k] = law->may_be_zero[k] ? 0.0 : 1.0;
    if (e < mesh->n_elements) {
      const kg_located at = kg_located_in(memory, 1);
      kg_locate_middle(&at, 0, 1, mesh, e, x);
      const kedge_points point = kg_located_at(&at, mesh, 1, x, 1);
      const kg_coefficients *const own = kg_waves_coefficients(w, section, kg_waves_group(mesh, e));
      for (int k = 0; k < law->n_properties; ++k) {
        const kg_function *const f = property_of(w, own, k);
        if (f->kind != KG_FUNCTION_NONE) kg_function_evaluate(f, &point, &property[k]);
        const bool good = property[k] > 0.0 || (law->may_be_zero[k] && property[k] == 0.0);
        if (!good || !isfinite(property[k])) return refuse_property(w, e, k, property[k]);
      }
    }
    law->medium(property, number);
    for (int k = 0; k < law->n_numbers; ++k) {
      if (!is_held(w, number[k])) return refuse_medium(w, e, number[k]);
      medium[((int64_t)(e / LANES) * law->n_numbers + k) * LANES + e % LANES] = number[k];
    }
  }
  return KEDGE_OK;
}

void kg_waves_limit(kg_waves *w)
{
  const int order = w->nodal.order;
  const double by_order = 6.0 / ((order + 1.0) * (order + 3.0));
  w->undamped = w->longest = INFINITY;
  for (int32_t e = 0; e < w->mesh->n_elements; ++e) {
    const double *const number = w->number + (int64_t)e * w->law->n_numbers;
    w->undamped = fmin(w->undamped, by_order * kg_waves_radius(w, e) / w->law->speed(number));
    w->longest = fmin(w->longest, 1.0 / w->law->damping(number));
  }
  w->longest = fmin(w->longest, w->undamped);
}
