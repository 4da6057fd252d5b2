// Whether the expressions of a problem are of the mesh and of what may move.
#include <stdio.h>

#include "waves/waves.h"

static kedge_status check_z(const kg_waves *w, const kg_function *f, const char *section,
                            const char *key)
{
  if (w->mesh->dimension == 3 || !kg_function_uses_z(f)) return KEDGE_OK;
  return kg_problem_fail(w->ctx, w->problem, kg_settings_find(&w->problem->settings, section, key),
                         "%s in [%s] names z, and %s is a mesh of the plane: write it in x and y",
                         key, section, w->mesh->source ? w->mesh->source : "the mesh");
}

static kedge_status check_values(const kg_waves *w, const kg_wave_values *values,
                                 const char *section)
{
  for (int i = 0; i < KG_WAVE_FIELDS; ++i) {
    const char *const field = kg_wave_fields[i];
    // Others have been refused with the problem, which has no dimension.
    if (values->of[i].kind != KG_FUNCTION_NONE && kg_waves_field(w, field) < 0)
      return kg_problem_fail(
          w->ctx, w->problem, kg_settings_find(&w->problem->settings, section, field),
          "%s in [%s] is a field in space alone, and %s is a mesh of the plane; leave it out",
          field, section, w->mesh->source ? w->mesh->source : "the mesh");
    KG_TRY(check_z(w, &values->of[i], section, field));
  }
  return KEDGE_OK;
}

static kedge_status check_coefficients(const kg_waves *w, const kg_coefficients *c)
{
  char section[KG_PLACE_BYTES] = "equation";
  if (c->group) snprintf(section, sizeof section, "region %s", c->group);
  for (int k = 0; k < KG_WAVE_PROPERTIES; ++k) {
    const char *const key = kg_wave_properties[k];
    if (kg_function_uses_t(&c->property[k]))
      return kg_problem_fail(
          w->ctx, w->problem, kg_settings_find(&w->problem->settings, section, key),
          "%s in [%s] names t, and materials of waves do not move in time", key, section);
    KG_TRY(check_z(w, &c->property[k], section, key));
  }
  for (int k = 0; k < KG_CURRENTS; ++k) KG_TRY(check_z(w, &c->current[k], section, "current"));
  return check_z(w, &c->source, section, "source");
}

kedge_status kg_waves_fit(const kg_waves *w)
{
  const kedge_problem *const p = w->problem;
  KG_TRY(check_coefficients(w, &p->equation));
  for (int i = 0; i < p->n_regions; ++i) KG_TRY(check_coefficients(w, &p->regions[i]));
  KG_TRY(check_values(w, &p->wave.initial, "initial"));
  KG_TRY(check_values(w, &p->wave.exact, "exact"));
  for (int i = 0; i < p->n_boundaries; ++i) {
    char section[KG_PLACE_BYTES];
    snprintf(section, sizeof section, "boundary %s", p->boundaries[i].group);
    KG_TRY(check_values(w, &p->boundaries[i].wave, section));
  }
  return KEDGE_OK;
}
