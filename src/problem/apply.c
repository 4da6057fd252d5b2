#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/number.h"
#include "problem/keys.h"
#include "expression/nearest.h"
#include "expression/parser.h"
#include "problem/problem.h"
#include "problem/waves.h"

bool kg_key_covers(const kg_problem_key *key, const char *section)
{
  for (const char *const *word = kg_named_sections; *word; ++word)
    if (kg_section_group(key->section, *word)) return kg_section_group(section, *word) != NULL;
  return strcmp(key->section, section) == 0;
}

/// The sections of the table in one line: "[mesh], [space], ...".
static const char *list_sections(char out[240])
{
  const char *before = "";
  size_t length = 0;
  for (const kg_problem_key *key = kg_problem_keys; key->section && length < 240; ++key) {
    if (strcmp(key->section, before) == 0) continue;
    length +=
        (size_t)snprintf(out + length, 240 - length, "%s[%s]", *before ? ", " : "", key->section);
    before = key->section;
  }
  return out;
}

/// A section without its name, which is mostly that of a group of the mesh, or written like the
/// path of a key: boundary.left for [boundary left].
static kedge_status refuse_named(const kg_settings *settings, const kg_setting *s, const char *word)
{
  const char *const group = s->section + strlen(word) + 1;
  if (s->section[strlen(word)] == '\0' && strcmp(word, "integral") == 0)
    return kg_setting_fail(settings, s, "[integral] needs a name: [integral NAME]");
  if (s->section[strlen(word)] == '\0' && strcmp(word, "probe") == 0)
    return kg_setting_fail(settings, s, "[probe] needs a name of its own: [probe axis]");
  if (s->section[strlen(word)] == '\0')
    return kg_setting_fail(settings, s,
                           "[%s] needs the name or number of a group of the mesh, or default: "
                           "[%s default]",
                           word, word);
  if (s->origin == KG_FROM_OVERRIDE)
    return kg_setting_fail(settings, s, "unknown section [%s]; did you mean \"%s %s.%s=%s\"?",
                           s->section, word, group, s->key, s->value);
  return kg_setting_fail(settings, s, "unknown section [%s]; did you mean [%s %s]?", s->section,
                         word, group);
}

/// "boundary" for "boundry left"; NULL: none is near, or the section has no blank.
static const char *nearest_word(const char *section)
{
  char first[16];
  const size_t length = strcspn(section, " ");
  if (section[length] == '\0' || length >= sizeof first) return NULL;
  memcpy(first, section, length);
  first[length] = '\0';
  kg_nearest nearest = kg_nearest_to(first);
  for (const char *const *word = kg_named_sections; *word; ++word)
    kg_nearest_offer(&nearest, *word);
  return nearest.best;
}

kedge_status kg_periodic_refuse(const kg_settings *settings, const kg_setting *s)
{
  return kg_setting_fail(settings, s,
                         "kedge has no periodic boundaries yet; give both sides dirichlet, neumann "
                         "or robin conditions");
}

kedge_status kg_section_check(const kg_settings *settings, const kg_setting *setting)
{
  const char *const section = setting->section;
  if (strncmp(section, "periodic", strlen("periodic")) == 0)
    return kg_periodic_refuse(settings, setting);
  kg_nearest nearest = kg_nearest_to(section);
  for (const kg_problem_key *key = kg_problem_keys; key->section; ++key) {
    if (kg_key_covers(key, section)) return KEDGE_OK;
    kg_nearest_offer(&nearest, key->section);
  }
  const char *const meant = nearest_word(section);
  if (section[0] == '\0')
    return kg_setting_fail(settings, setting,
                           "'%s' stands before the first [section]; put it into one", setting->key);
  for (const char *const *word = kg_named_sections; *word; ++word) {
    const size_t length = strlen(*word);
    if (strncmp(section, *word, length) != 0) continue;
    if (section[length] == '\0' || (section[length] == '.' && section[length + 1] != '\0'))
      return refuse_named(settings, setting, *word);
  }
  if (meant)
    return kg_setting_fail(settings, setting, "unknown section [%s]; did you mean [%s%s]?", section,
                           meant, strchr(section, ' '));
  if (nearest.best)
    return kg_setting_fail(settings, setting, "unknown section [%s]; did you mean [%s]?", section,
                           nearest.best);
  char list[240];
  return kg_setting_fail(settings, setting,
                         "unknown section [%s]; there are %s; a boundary group is [boundary %s]",
                         section, list_sections(list), section);
}

/// Settings of earlier versions that are gone, and what to write instead.
static const struct removed {
  const char *section, *key;
  const char *value;  ///< NULL: the key is gone, whatever its value
  const char *instead;
} removed_settings[] = {
    {"solver", "coarse_solver", NULL,
     "multigrid always takes kedge's own levels; leave the line out"},
    {"solver", "start", NULL, "the iteration always starts from zero; leave the line out"},
    {"solver", "smoother", "strip",
     "write smoother = line and smoothing_steps = 4, which need the same iterations and less time"},
    {"solver", "smoother", "element",
     "write smoother = edge, or smoother = line on stretched triangles"},
};

static kedge_status check_removed(const kg_settings *settings, const kg_setting *s)
{
  for (size_t i = 0; i < sizeof removed_settings / sizeof *removed_settings; ++i) {
    const struct removed *r = &removed_settings[i];
    if (strcmp(r->section, s->section) != 0 || strcmp(r->key, s->key) != 0) continue;
    if (!r->value)
      return kg_setting_fail(settings, s, "%s in [%s] is gone: %s", r->key, r->section, r->instead);
    if (s->value && strcmp(r->value, s->value) == 0)
      return kg_setting_fail(settings, s, "%s = %s is gone: %s", r->key, r->value, r->instead);
  }
  return KEDGE_OK;
}

kedge_status kg_key_find(const kg_settings *settings, const kg_setting *setting,
                         const kg_problem_key **out)
{
  KG_TRY(kg_section_check(settings, setting));
  KG_TRY(check_removed(settings, setting));
  kg_nearest nearest = kg_nearest_to(setting->key);
  char list[200] = "";
  size_t length = 0;
  const char *names[KG_WAVE_NAMES_MAX];
  for (const kg_problem_key *key = kg_problem_keys; key->section; ++key) {
    if (!kg_key_covers(key, setting->section)) continue;
    *out = key;
    if (strcmp(key->section, "parameters") == 0) return KEDGE_OK;  // any name
    if (strcmp(key->name, setting->key) == 0) return KEDGE_OK;
    kg_nearest_offer(&nearest, key->name);
    length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length ? ", " : "",
                               key->name);
  }
  *out = kg_wave_key_of(setting);
  if (*out) return KEDGE_OK;
  const int n = kg_wave_names(settings, setting->section, names);
  if (kg_settings_are_wave(settings)) {
    nearest = kg_nearest_to(setting->key);
    length = 0;
    for (int i = 0; i < n && length < sizeof list; ++i)
      length +=
          (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", names[i]);
  }
  for (int i = 0; i < n; ++i) kg_nearest_offer(&nearest, names[i]);
  if (nearest.best)
    return kg_setting_fail(settings, setting, "unknown key '%s' in [%s]; did you mean '%s'?",
                           setting->key, setting->section, nearest.best);
  return kg_setting_fail(settings, setting, "unknown key '%s' in [%s]; its keys are %s",
                         setting->key, setting->section, list);
}

/// The row of a setting that is a function of the caller.
static const kg_problem_key *function_key(const kg_setting *setting)
{
  for (const kg_problem_key *key = kg_function_keys; key->section; ++key)
    if (kg_key_covers(key, setting->section) && strcmp(key->name, setting->key) == 0) return key;
  return NULL;
}

kedge_status kg_settings_replace(kg_settings *settings, const kg_setting *setting)
{
  // [later key][keys it makes void]; all of one section
  static const char *const voids[][2] = {
      {"file", "generate"},
      {"generate", "file"},
      {"u", "du_dx"},
      {"u", "du_dy"},
      {"u", "du_dz"},
      {"diffusion", "diffusion_xy"},
      {"diffusion", "diffusion_xz"},
      {"diffusion", "diffusion_yy"},
      {"diffusion", "diffusion_yz"},
      {"diffusion", "diffusion_zz"},
      {"points", "line"},
      {"points", "file"},
      {"line", "points"},
      {"line", "file"},
      {"file", "points"},
      {"file", "line"},
  };
  KG_TRY(kg_settings_put(settings, setting));
  kg_setting normal = *setting;
  KG_TRY(kg_copy_text(settings->ctx, setting->section, strlen(setting->section), &normal.section));
  kg_section_normalize(normal.section);
  for (size_t i = 0; i < sizeof voids / sizeof *voids; ++i)
    if (strcmp(setting->key, voids[i][0]) == 0 && strcmp(normal.section, "parameters") != 0)
      kg_settings_remove(settings, normal.section, voids[i][1]);
  free(normal.section);
  return KEDGE_OK;
}

static bool is_quoted(const char *value)
{
  const size_t n = value ? strlen(value) : 0;
  return n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n - 1] == value[0];
}

static kedge_status apply_one(const kg_settings *settings, const kg_setting *s,
                              kedge_problem *problem)
{
  if (!s->value && !s->function) return kg_region_add(problem, settings, s);
  const kg_problem_key *key = s->value ? NULL : function_key(s);
  if (key == NULL) KG_TRY(kg_key_find(settings, s, &key));
  if (s->value && s->value[strspn(s->value, "\n")] == '\0' && !key->may_be_empty)
    return kg_setting_fail(settings, s, "%s in [%s] has no value; it takes %s", s->key, s->section,
                           key->values);
  if (is_quoted(s->value))
    return kg_setting_fail(settings, s, "values are not quoted; write %s = %.*s", s->key,
                           (int)strlen(s->value) - 2, s->value + 1);
  if (s->value && !key->is_expression) {
    const size_t first = strcspn(s->value, "\n");
    kg_setting next = *s;
    next.line += (int)strspn(s->value + first, "\n");
    if (s->value[first] != '\0')
      return kg_setting_fail(
          settings, &next,
          "%s in [%s] must fit on one line; an indented line continues the value "
          "before it",
          s->key, s->section);
  }
  // kg_problem_check_waves() refuses this setting with the whole problem, whatever its value is.
  if (kg_wave_leaves(settings, s)) return KEDGE_OK;
  return key->read(problem, key, settings, s);
}

/// True when `name` stands in an expression.
static bool text_names(const char *text, const char *name)
{
  const size_t length = strlen(name);
  while (*text) {
    const size_t n = kg_name_length(text);
    if (n == length && strncmp(text, name, n) == 0) return true;
    const size_t digits = kg_number_scan(text);  // the e of 2e3 is no name
    text += n ? n : digits ? digits : 1;
  }
  return false;
}

const kg_setting *kg_settings_naming(const kg_settings *settings, const char *name)
{
  for (int i = 0; i < settings->n; ++i) {
    const kg_setting *s = &settings->items[i];
    const kg_problem_key *key;
    if (s->value && kg_key_find(settings, s, &key) == KEDGE_OK && key->is_expression &&
        text_names(s->value, name))
      return s;
  }
  return NULL;
}

const char *kg_settings_unused(const kg_settings *settings)
{
  for (int i = 0; i < settings->n; ++i)
    if (strcmp(settings->items[i].section, "parameters") == 0 &&
        !kg_settings_naming(settings, settings->items[i].key))
      return settings->items[i].key;
  return NULL;
}

kedge_status kg_settings_check_parameters(const kg_settings *settings)
{
  for (int i = 0; i < settings->n; ++i) {
    const kg_setting *s = &settings->items[i];
    const bool added = s->origin == KG_FROM_OVERRIDE && s->line == 0;
    if (!added || strcmp(s->section, "parameters") != 0 || kg_settings_naming(settings, s->key))
      continue;
    kg_nearest nearest = kg_nearest_to(s->key);
    for (int j = 0; j < settings->n; ++j)
      if (j != i && strcmp(settings->items[j].section, "parameters") == 0)
        kg_nearest_offer(&nearest, settings->items[j].key);
    if (nearest.best)
      return kg_setting_fail(settings, s, "no expression uses '%s'; did you mean '%s'?", s->key,
                             nearest.best);
    return kg_setting_fail(settings, s, "no expression uses '%s'", s->key);
  }
  return KEDGE_OK;
}

kedge_status kg_settings_apply(const kg_settings *settings, kedge_problem *problem)
{
  kedge_context *const ctx = settings->ctx;
  const size_t n = (size_t)settings->n;  // bounds what each list below can hold
  KG_TRY(kg_host_calloc(ctx, n, sizeof *problem->parameters, &problem->parameters));
  KG_TRY(kg_host_calloc(ctx, n, sizeof *problem->boundaries, &problem->boundaries));
  KG_TRY(kg_host_calloc(ctx, n, sizeof *problem->regions, &problem->regions));
  KG_TRY(kg_host_calloc(ctx, n, sizeof *problem->integrals, &problem->integrals));
  KG_TRY(kg_host_calloc(ctx, n, sizeof *problem->probes, &problem->probes));
  for (int i = 0; i < settings->n; ++i)
    problem->time.is_set = problem->time.is_set || strcmp(settings->items[i].section, "time") == 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < settings->n; ++i) {
      const kg_setting *s = &settings->items[i];
      const bool parameter = strcmp(s->section, "parameters") == 0;
      if (parameter == (pass == 0)) KG_TRY(apply_one(settings, s, problem));
    }
  }
  kg_time_settle(&problem->time, kg_settings_find(settings, "time", "scheme") != NULL);
  if (problem->mesh_file && problem->mesh_generate)
    return kg_setting_fail(settings, kg_settings_find(settings, "mesh", "generate"),
                           "[mesh] has both file and generate; keep one of them");
  return kg_probes_check(settings, problem);
}
