// What the boundaries of a problem of waves do, and where their data are from.
#include <stdio.h>
#include <string.h>

#include "waves/waves.h"

static bool is_given(const kg_wave_values *values)
{
  bool any = false;
  for (int i = 0; i < KG_WAVE_FIELDS; ++i) any = any || values->of[i].kind != KG_FUNCTION_NONE;
  return any;
}

void kg_waves_list_fields(const kg_law *law, unsigned fields, size_t room, char *text)
{
  size_t n = 0;
  text[0] = '\0';
  for (int f = 0; f < law->n_fields && n < room; ++f)
    if (fields >> f & 1)
      n += (size_t)snprintf(text + n, room - n, "%s%s", n ? ", " : "", law->fields[f]);
}

/// Refuse data that a boundary would not read.
static kedge_status check_read(const kg_waves *w, const kg_boundary *b, int32_t kind)
{
  const kg_law *const law = w->law;
  char section[KG_PLACE_BYTES], list[80];
  const char *unread = NULL;
  for (int f = 0; f < law->n_fields; ++f) {
    const int field = kg_word_among(kg_wave_fields, KG_WAVE_FIELDS, law->fields[f]);
    const bool is_read = law->reads[kind] >> f & 1;
    if (!is_read && b->wave.of[field].kind != KG_FUNCTION_NONE) unread = law->fields[f];
  }
  if (!unread) return KEDGE_OK;
  kg_waves_list_fields(law, law->reads[kind], sizeof list, list);
  snprintf(section, sizeof section, "boundary %s", b->group);
  return kg_problem_fail(
      w->ctx, w->problem, kg_settings_find(&w->problem->settings, section, unread),
      "%s in [%s] is not read: type = %s reads %s alone; leave it out or change the type", unread,
      section, law->boundaries[kind], list);
}

static kedge_status refuse_no_type(const kg_waves *w, const kg_boundary *b)
{
  char list[120];
  return kg_problem_fail(w->ctx, w->problem, b->value_at,
                         "[boundary %s] has no type; add type = %s", b->group,
                         kg_boundary_types(&w->problem->settings, list));
}

kedge_status kg_waves_boundary(const kg_waves *w, const kg_boundary *b, int32_t *kind,
                               const kg_wave_values **values)
{
  if (!b->type_at) return refuse_no_type(w, b);
  for (int k = 0; k < KG_WAVE_KINDS; ++k)
    if (w->law->boundaries[k] &&
        strcmp(w->law->boundaries[k], kg_wave_boundaries[b->wave_type]) == 0)
      *kind = k;
  *values = is_given(&b->wave) ? &b->wave : NULL;
  if (*values && *kind == KG_WAVE_ABSORBS)
    return kg_problem_fail(w->ctx, w->problem, b->value_at,
                           "[boundary %s] is absorbing and has fields, which only type = incident "
                           "lets in; leave them out or change the type",
                           b->group);
  if (*values) return *kind == KG_WAVE_ENTERS ? KEDGE_OK : check_read(w, b, *kind);
  if (*kind != KG_WAVE_ENTERS) return KEDGE_OK;
  if (is_given(&w->problem->wave.exact)) {
    *values = &w->problem->wave.exact;
    return KEDGE_OK;
  }
  return kg_problem_fail(
      w->ctx, w->problem, b->type_at,
      "[boundary %s] is incident and has no field, and there is none in [exact]; "
      "add %s = ...",
      b->group, w->law->fields[0]);
}
