// Keys that only problems of waves have, and which systems have which.
#include "kedge/waves.h"
#include "problem/waves.h"

#include <float.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "problem/problem.h"
#include "problem/values.h"

const char *const kg_system_words[KG_SYSTEM_KINDS] = {"elliptic", "maxwell", "maxwell-tm",
                                                      "acoustics"};
const char *const kg_wave_fields[KG_WAVE_FIELDS] = {"Ex", "Ey", "Ez", "Hx", "Hy",
                                                    "Hz", "p",  "vx", "vy", "vz"};
const char *const kg_wave_properties[KG_WAVE_PROPERTIES] = {"permittivity", "permeability",
                                                            "conductivity", "density", "bulk"};
const char *const kg_wave_boundaries[KG_WAVE_BOUNDARIES] = {"conductor", "absorbing", "incident",
                                                            "wall", "soft"};

const char *const kg_current_keys[KG_CURRENTS] = {"current", "current_y", "current_z"};

/// What a system has of these lists, for sentences too; NULL where a list ends.
static const struct {
  const char *fields[7], *properties[4], *boundaries[5];
  int currents;        ///< components of `current`
  const char *source;  ///< the key of what drives it
} has[KG_SYSTEM_KINDS] = {
    [KG_SYSTEM_MAXWELL] = {{"Ex", "Ey", "Ez", "Hx", "Hy", "Hz"},
                           {"permittivity", "permeability", "conductivity"},
                           {"conductor", "absorbing", "incident"},
                           KG_CURRENTS,
                           "current = jx, jy, jz"},
    [KG_SYSTEM_MAXWELL_TM] = {{"Ez", "Hx", "Hy"},
                              {"permittivity", "permeability", "conductivity"},
                              {"conductor", "absorbing", "incident"},
                              1,
                              "current = jz"},
    [KG_SYSTEM_ACOUSTICS] = {{"p", "vx", "vy", "vz"},
                             {"density", "bulk"},
                             {"wall", "soft", "absorbing", "incident"},
                             0,
                             "source"}};

int kg_word_among(const char *const *words, int n, const char *word)
{
  for (int i = 0; i < n && words[i]; ++i)
    if (strcmp(words[i], word) == 0) return i;
  return -1;
}

void kg_wave_values_free(kg_wave_values *values)
{
  for (int i = 0; i < KG_WAVE_FIELDS; ++i) kg_function_free(&values->of[i]);
}

void kg_wave_values_set_time(kg_wave_values *values, double t)
{
  for (int i = 0; i < KG_WAVE_FIELDS; ++i) kg_function_set_time(&values->of[i], t);
}

const char *kedge_problem_system(const kedge_problem *p)
{
  return p ? kg_system_words[p->wave.system] : NULL;
}

bool kg_problem_is_wave(const kedge_problem *p)
{
  return p->wave.system != KG_SYSTEM_ELLIPTIC;
}

static kedge_status read_system(kedge_problem *p, const kg_problem_key *key,
                                const kg_settings *settings, const kg_setting *s)
{
  int system;
  (void)key;
  KG_TRY(kg_value_word(settings, s, kg_system_words, KG_SYSTEM_KINDS, &system));
  p->wave.system = (kg_system_kind)system;
  return KEDGE_OK;
}

static kedge_status read_constant(const kedge_problem *p, const kg_settings *settings,
                                  const kg_setting *s, double least, double most, const char *range,
                                  double *out)
{
  KG_TRY(kg_value_constant(p->parameters, p->n_parameters, settings, s, out));
  if (*out >= least && *out <= most) return KEDGE_OK;
  return kg_setting_fail(settings, s, "%s must be %s, not '%s'", s->key, range, s->value);
}

static kedge_status read_upwind(kedge_problem *p, const kg_problem_key *key,
                                const kg_settings *settings, const kg_setting *s)
{
  (void)key;
  return read_constant(p, settings, s, 0.0, 1.0, "between 0 and 1", &p->wave.upwind);
}

static kedge_status read_cfl(kedge_problem *p, const kg_problem_key *key,
                             const kg_settings *settings, const kg_setting *s)
{
  (void)key;
  return read_constant(p, settings, s, DBL_MIN, DBL_MAX, "positive", &p->wave.cfl);
}

static kedge_status read_property(kedge_problem *p, const kg_problem_key *key,
                                  const kg_settings *settings, const kg_setting *s)
{
  kg_coefficients *c;
  (void)key;
  KG_TRY(kg_section_coefficients(p, settings, s, &c));
  return kg_value_function(
      p, settings, s, &c->property[kg_word_among(kg_wave_properties, KG_WAVE_PROPERTIES, s->key)]);
}

/// jx, jy, jz or jz: how many it has to be is checked once the system is known.
static kedge_status read_current(kedge_problem *p, const kg_problem_key *key,
                                 const kg_settings *settings, const kg_setting *s)
{
  const char *comma[KG_LIST_MAX] = {0};
  kg_coefficients *c;
  (void)key;
  KG_TRY(kg_section_coefficients(p, settings, s, &c));
  const int n = s->value ? kg_count_parts(s->value, comma) : 1;
  if (s->value && kg_is_bracketed(s->value))
    return kg_setting_fail(settings, s,
                           "current is written jx, jy, jz, without brackets around them");
  if (n != 1 && n != KG_CURRENTS)
    return kg_setting_fail(settings, s,
                           "current is three expressions, jx, jy, jz, or in the plane one, jz; not "
                           "%d",
                           n);
  for (int k = 0; k < KG_CURRENTS; ++k) kg_function_free(&c->current[k]);
  if (n == 1) return kg_value_function(p, settings, s, &c->current[0]);
  for (int k = 0; k < n; ++k)
    KG_TRY(kg_value_function_part(p, settings, s, comma, n, k, &c->current[k]));
  return KEDGE_OK;
}

/// The rest of a current of functions, of which jx is there already.
kedge_status kg_read_current_part(kedge_problem *p, const kg_problem_key *key,
                                  const kg_settings *settings, const kg_setting *s)
{
  kg_coefficients *c;
  KG_TRY(kg_section_coefficients(p, settings, s, &c));
  return kg_value_function(p, settings, s,
                           &c->current[kg_word_among(kg_current_keys, KG_CURRENTS, key->name)]);
}

/// A field of [initial], [exact] or [boundary NAME].
static kedge_status read_field(kedge_problem *p, const kg_problem_key *key,
                               const kg_settings *settings, const kg_setting *s)
{
  const int field = kg_word_among(kg_wave_fields, KG_WAVE_FIELDS, s->key);
  kg_boundary *b;
  if (strcmp(key->section, "initial") == 0)
    return kg_value_function(p, settings, s, &p->wave.initial.of[field]);
  if (strcmp(key->section, "exact") == 0)
    return kg_value_function(p, settings, s, &p->wave.exact.of[field]);
  KG_TRY(kg_section_boundary(p, settings, s, &b));
  b->value_at = s;
  return kg_value_function(p, settings, s, &b->wave.of[field]);
}

static kedge_status read_every(kedge_problem *p, const kg_problem_key *key,
                               const kg_settings *settings, const kg_setting *s)
{
  kg_probe *probe;
  (void)key;
  KG_TRY(kg_probe_of(p, settings, s, &probe));
  return kg_value_integer(settings, s, 1, INT32_MAX, &probe->every);
}

// clang-format off
const kg_problem_key kg_wave_keys[] = {
  {"equation", "system", "elliptic, maxwell, maxwell-tm or acoustics", read_system},
  {"equation", "permittivity", "an expression > 0", read_property, true},
  {"equation", "permeability", "an expression > 0", read_property, true},
  {"equation", "conductivity", "an expression >= 0", read_property, true},
  {"equation", "density", "an expression > 0", read_property, true},
  {"equation", "bulk", "an expression > 0", read_property, true},
  {"equation", "current", "an expression, or three: jx, jy, jz", read_current, true},
  {"region NAME", "permittivity", "an expression > 0", read_property, true},
  {"region NAME", "permeability", "an expression > 0", read_property, true},
  {"region NAME", "conductivity", "an expression >= 0", read_property, true},
  {"region NAME", "density", "an expression > 0", read_property, true},
  {"region NAME", "bulk", "an expression > 0", read_property, true},
  {"region NAME", "current", "an expression, or three: jx, jy, jz", read_current, true},
  {"space", "upwind", "a constant from 0 to 1", read_upwind, true},
  {"time", "cfl", "a constant > 0", read_cfl, true},
  {"initial", "FIELD", "an expression", read_field, true},
  {"exact", "FIELD", "an expression", read_field, true},
  {"boundary NAME", "FIELD", "an expression", read_field, true},
  {"probe NAME", "every", "a whole number of steps", read_every},
  {NULL},
};
// clang-format on

const kg_problem_key *kg_wave_key_of(const kg_setting *s)
{
  const bool is_field = kg_word_among(kg_wave_fields, KG_WAVE_FIELDS, s->key) >= 0;
  for (const kg_problem_key *key = kg_wave_keys; key->section; ++key)
    if (kg_key_covers(key, s->section) &&
        (strcmp(key->name, s->key) == 0 || (is_field && strcmp(key->name, "FIELD") == 0)))
      return key;
  return NULL;
}

bool kg_wave_takes_function(const char *section, const char *key)
{
  const kg_setting wanted = {.section = (char *)section, .key = (char *)key};
  const kg_problem_key *const row = kg_wave_key_of(&wanted);
  return row &&
         (row->read == read_property || row->read == read_field || row->read == read_current);
}

/// "a, b or c" @param[in] words  ends with NULL
static const char *join(const char *const *words, char text[120])
{
  size_t n = 0;
  text[0] = '\0';
  for (; *words && n < 120; ++words)
    n += (size_t)snprintf(text + n, 120 - n, "%s%s", *words,
                          !words[1]   ? ""
                          : !words[2] ? " or "
                                      : ", ");
  return text;
}

/// The number of the system that settings name; 0: it is elliptic, or what they name is refused.
static int system_of(const kg_settings *settings)
{
  const kg_setting *const at = kg_settings_find(settings, "equation", "system");
  const int system =
      at && at->value ? kg_word_among(kg_system_words, KG_SYSTEM_KINDS, at->value) : 0;
  return system > 0 ? system : 0;
}

enum { PRECISIONS = 2 };
static const char *const precisions[PRECISIONS] = {"double", "single"};

kedge_status kg_wave_read_precision(kg_wave_settings *waves, const kg_settings *settings,
                                    const kg_setting *s, bool *is_wave)
{
  int word = kg_word_among(precisions, PRECISIONS, s->value);
  *is_wave = system_of(settings) > 0 || word == 1;
  if (word < 0 && *is_wave) KG_TRY(kg_value_word(settings, s, precisions, PRECISIONS, &word));
  waves->single = word != 0;
  return KEDGE_OK;
}

kedge_status kg_wave_type(const kg_settings *settings, const kg_setting *s, int *type)
{
  const int system = system_of(settings);
  char list[120];
  *type = -1;
  if (system > 0) {
    if (kg_word_among(has[system].boundaries, 5, s->value) < 0)
      return kg_setting_fail(settings, s, "type of a boundary of system = %s must be %s, not '%s'",
                             kg_system_words[system], join(has[system].boundaries, list), s->value);
  }
  *type = kg_word_among(kg_wave_boundaries, KG_WAVE_BOUNDARIES, s->value);
  return KEDGE_OK;
}

bool kg_settings_are_wave(const kg_settings *settings)
{
  return system_of(settings) > 0;
}

const char *kg_boundary_types(const kg_settings *settings, char text[120])
{
  const int system = system_of(settings);
  return system > 0 ? join(has[system].boundaries, text) : "dirichlet, neumann or robin";
}

/// A system that has a setting: the first one of the plane, else another.
static const char *system_with(const kg_setting *s)
{
  static const kg_system_kind order[] = {KG_SYSTEM_MAXWELL_TM, KG_SYSTEM_ACOUSTICS,
                                         KG_SYSTEM_MAXWELL};
  for (size_t i = 0; i < sizeof order / sizeof *order; ++i)
    if (kg_word_among(has[order[i]].properties, 4, s->key) >= 0 ||
        kg_word_among(has[order[i]].fields, 7, s->key) >= 0 ||
        (strcmp(s->key, "type") == 0 && kg_word_among(has[order[i]].boundaries, 5, s->value) >= 0))
      return kg_system_words[order[i]];
  return kg_system_words[KG_SYSTEM_MAXWELL_TM];
}

/// Refuse a word of waves in an elliptic problem, whose system might have been set later.
static kedge_status check_word(kedge_context *ctx, const kedge_problem *p, const kg_setting *s)
{
  if (strcmp(s->section, "solver") == 0 && strcmp(s->key, "precision") == 0 &&
      kg_word_among(precisions, PRECISIONS, s->value) == 1)
    return kg_problem_fail(ctx, p, s,
                           "precision = single is of waves, and the problem is elliptic; take "
                           "double, mixed or compact");
  if (kg_section_group(s->section, "boundary") && strcmp(s->key, "type") == 0 &&
      kg_word_among(kg_wave_boundaries, KG_WAVE_BOUNDARIES, s->value) >= 0)
    return kg_problem_fail(
        ctx, p, s,
        "type = %s is of waves, and [equation] has no system of them; add system "
        "= %s, or take dirichlet, neumann or robin",
        s->value, system_with(s));
  return KEDGE_OK;
}

/// Sections and keys that waves have nothing to do with; NULL: all of its keys.
static const char *const of_elliptic[][2] = {
    {"space", "inverse"},
    {"space", "quadrature"},
    {"space", "stabilization"},
    {"space", "length"},
    {"equation", "diffusion"},
    {"equation", "reaction"},
    {"equation", "mass"},
    {"equation", "source"},
    {"equation", "quadrature"},
    {"region", "diffusion"},
    {"region", "reaction"},
    {"region", "mass"},
    {"region", "source"},
    {"boundary", "value"},
    {"boundary", "coefficient"},
    {"integral", NULL},
    {"exact", "u"},
    {"exact", "quadrature"},
    {"initial", "u"},
    {"time", "tolerance"},
    {"time", "scheme"},
    {"time", "until"},
    {"solver", "operator"},
    {"solver", "preconditioner"},
    {"solver", "smoother"},
    {"solver", "smoothing_steps"},
    {"solver", "tolerance"},
    {"solver", "max_iterations"},
    {"output", "boundary"},
    {"output", "fields"},
};

static bool is_elliptic(const kg_setting *s)
{
  for (size_t i = 0; i < sizeof of_elliptic / sizeof *of_elliptic; ++i) {
    const char *const section = of_elliptic[i][0], *const key = of_elliptic[i][1];
    if ((strcmp(s->section, section) == 0 || kg_section_group(s->section, section)) &&
        (!key || strcmp(s->key, key) == 0))
      return true;
  }
  return false;
}

bool kg_wave_leaves(const kg_settings *settings, const kg_setting *s)
{
  const int system = system_of(settings);
  if (system == KG_SYSTEM_ELLIPTIC || !is_elliptic(s)) return false;
  return strcmp(s->key, "source") != 0 || has[system].currents > 0;
}

/// A key of another system: a field or a property that this one has not.
static bool is_other(kg_system_kind system, const kg_setting *s)
{
  if (kg_word_among(kg_wave_properties, KG_WAVE_PROPERTIES, s->key) >= 0)
    return kg_word_among(has[system].properties, 4, s->key) < 0;
  return kg_word_among(kg_wave_fields, KG_WAVE_FIELDS, s->key) >= 0 &&
         kg_word_among(has[system].fields, 7, s->key) < 0;
}

static bool is_current_part(const kg_setting *s)
{
  return kg_word_among(kg_current_keys, KG_CURRENTS, s->key) > 0;
}

static kedge_status check_current(kedge_context *ctx, const kedge_problem *p, const kg_setting *s)
{
  const char *comma[KG_LIST_MAX];
  const int wanted = has[p->wave.system].currents;
  const bool more = kg_settings_find(&p->settings, s->section, kg_current_keys[2]) != NULL;
  const int n = s->value ? kg_count_parts(s->value, comma) : more ? KG_CURRENTS : 1;
  if (n == wanted) return KEDGE_OK;
  return kg_problem_fail(ctx, p, s, "current of system = %s is %s, %s: write %s",
                         kg_system_words[p->wave.system],
                         wanted == 1 ? "one expression" : "three expressions",
                         n == 1 ? "not one" : "not three", has[p->wave.system].source);
}

static kedge_status check_key(kedge_context *ctx, const kedge_problem *p, const kg_setting *s)
{
  const kg_system_kind system = p->wave.system;
  const char *const word = kg_system_words[system];
  const bool is_wave = kg_wave_key_of(s) != NULL || is_current_part(s);
  char list[120];
  if (system == KG_SYSTEM_ELLIPTIC) {
    KG_TRY(check_word(ctx, p, s));
    return !is_wave || strcmp(s->key, "system") == 0
               ? KEDGE_OK
               : kg_problem_fail(ctx, p, s,
                                 "%s in [%s] is of waves, and the problem is elliptic; add system "
                                 "= %s to [equation], or leave it out",
                                 s->key, s->section, system_with(s));
  }
  if (strcmp(s->key, "current") == 0 && has[system].currents > 0) return check_current(ctx, p, s);
  if (strcmp(s->key, "source") == 0 && has[system].currents == 0) return KEDGE_OK;
  if (kg_section_group(s->section, "integral"))
    return kg_problem_fail(ctx, p, s, "waves have no integrals yet; leave [%s] out", s->section);
  if (is_elliptic(s))
    return kg_problem_fail(ctx, p, s,
                           "%s in [%s] is of elliptic problems, and system = %s; leave it out",
                           s->key, s->section, word);
  if (strncmp(s->key, "current", 7) == 0 && has[system].currents == 0)
    return kg_problem_fail(ctx, p, s, "current in [%s] is of another system; system = %s has %s",
                           s->section, word, has[system].source);
  if (!is_wave || !is_other(system, s)) return KEDGE_OK;
  const bool property = kg_word_among(kg_wave_properties, KG_WAVE_PROPERTIES, s->key) >= 0;
  return kg_problem_fail(ctx, p, s, "%s in [%s] is of another system; system = %s has %s", s->key,
                         s->section, word,
                         join(property ? has[system].properties : has[system].fields, list));
}

/// Whether a system has a key of the tables in a section; 0: any system of waves.
static bool has_key(int system, const char *section, const char *name)
{
  const kg_setting s = {.section = (char *)section, .key = (char *)name};
  if (system == KG_SYSTEM_ELLIPTIC) return !is_elliptic(&s);
  if (strcmp(name, "source") == 0) return has[system].currents == 0;
  if (strcmp(name, "current") == 0) return has[system].currents > 0;
  return !is_elliptic(&s) && !is_other((kg_system_kind)system, &s);
}

static void add_name(int system, const char *section, const char *name, int *n,
                     const char *names[KG_WAVE_NAMES_MAX])
{
  if (*n < KG_WAVE_NAMES_MAX && has_key(system, section, name)) names[(*n)++] = name;
}

int kg_wave_names(const kg_settings *settings, const char *section,
                  const char *names[KG_WAVE_NAMES_MAX])
{
  const int system = system_of(settings);
  int n = 0;
  for (int table = 0; table < 2; ++table)
    for (const kg_problem_key *key = table ? kg_wave_keys : kg_problem_keys; key->section; ++key) {
      if (!kg_key_covers(key, section)) continue;
      if (strcmp(key->name, "FIELD") != 0)
        add_name(system, section, key->name, &n, names);
      else
        for (int f = 0; f < KG_WAVE_FIELDS; ++f)
          add_name(system, section, kg_wave_fields[f], &n, names);
    }
  return n;
}

kedge_status kg_problem_check_waves(kedge_context *ctx, const kedge_problem *p)
{
  const kg_settings *const settings = &p->settings;
  for (int i = 0; i < settings->n; ++i) {
    const kg_setting *const s = &settings->items[i];
    if (strcmp(s->section, "parameters") != 0 && s->key[0]) KG_TRY(check_key(ctx, p, s));
  }
  if (!kg_problem_is_wave(p) || p->time.is_set) return KEDGE_OK;
  return kg_problem_fail(ctx, p, kg_settings_find(settings, "equation", "system"),
                         "system = %s moves in time, and there is no [time]; add [time] with end",
                         kg_system_words[p->wave.system]);
}
