#include "problem/settings.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "expression/nearest.h"
#include "problem/keys.h"

static void free_setting(kg_setting *s)
{
  free(s->section);
  free(s->key);
  free(s->value);
  *s = (kg_setting){0};
}

const char *const kg_named_sections[] = {"boundary", "region", "integral", "probe", NULL};

void kg_section_normalize(char *section)
{
  const char *begin = section + strspn(section, " \t");
  size_t length = strlen(begin);
  while (length > 0 && isspace((unsigned char)begin[length - 1])) --length;
  memmove(section, begin, length);
  section[length] = '\0';
  const char *const *word = kg_named_sections;
  while (*word && (strncmp(section, *word, strlen(*word)) != 0 ||
                   !isspace((unsigned char)section[strlen(*word)])))
    ++word;
  if (!*word) return;
  const size_t n = strlen(*word);
  const char *group = section + n;
  while (isspace((unsigned char)*group)) ++group;
  section[n] = ' ';
  memmove(section + n + 1, group, strlen(group) + 1);
}

static kedge_status copy_setting(kedge_context *ctx, const kg_setting *from, kg_setting *to)
{
  *to = *from;
  to->section = to->key = to->value = NULL;
  to->whole = NULL;
  kedge_status status = kg_copy_text(ctx, from->section, strlen(from->section), &to->section);
  if (status == KEDGE_OK) kg_section_normalize(to->section);
  if (status == KEDGE_OK) status = kg_copy_text(ctx, from->key, strlen(from->key), &to->key);
  if (status == KEDGE_OK && from->value)
    status = kg_copy_text(ctx, from->value, strlen(from->value), &to->value);
  if (status != KEDGE_OK) free_setting(to);
  return status;
}

kg_setting *kg_settings_find(const kg_settings *settings, const char *section, const char *key)
{
  for (int i = 0; i < settings->n; ++i) {
    kg_setting *s = &settings->items[i];
    if (strcmp(s->section, section) == 0 && strcmp(s->key, key) == 0) return s;
  }
  return NULL;
}

void kg_settings_remove(kg_settings *settings, const char *section, const char *key)
{
  kg_setting *s = kg_settings_find(settings, section, key);
  if (s == NULL) return;
  free_setting(s);
  const int after = settings->n - 1 - (int)(s - settings->items);
  memmove(s, s + 1, (size_t)after * sizeof *s);
  --settings->n;
}

const char *kg_section_group(const char *section, const char *word)
{
  const size_t n = strlen(word);
  return strncmp(section, word, n) == 0 && section[n] == ' ' ? section + n + 1 : NULL;
}

static kedge_status grow(kg_settings *settings)
{
  if (settings->n < settings->capacity) return KEDGE_OK;
  const int capacity = settings->capacity ? 2 * settings->capacity : 16;
  kg_setting *items;
  KG_TRY(kg_host_alloc(settings->ctx, (size_t)capacity, sizeof *items, &items));
  if (settings->n > 0) memcpy(items, settings->items, (size_t)settings->n * sizeof *items);
  free(settings->items);
  settings->items = items;
  settings->capacity = capacity;
  return KEDGE_OK;
}

kedge_status kg_settings_put(kg_settings *settings, const kg_setting *setting)
{
  KG_TRY(grow(settings));
  kg_setting copy;
  KG_TRY(copy_setting(settings->ctx, setting, &copy));
  kg_setting *old = kg_settings_find(settings, copy.section, copy.key);
  if (old) {
    if (copy.line == 0) copy.line = old->line;
    free_setting(old);
  } else {
    old = &settings->items[settings->n++];
  }
  *old = copy;
  return KEDGE_OK;
}

kedge_status kg_settings_extend(kg_settings *settings, kg_setting *setting, int newlines,
                                const char *text)
{
  const size_t before = strlen(setting->value), gap = (size_t)newlines, after = strlen(text);
  char *joined;
  KG_TRY(kg_host_alloc(settings->ctx, before + gap + after + 1, 1, &joined));
  memcpy(joined, setting->value, before);
  memset(joined + before, '\n', gap);
  memcpy(joined + before + gap, text, after + 1);
  free(setting->value);
  setting->value = joined;
  return KEDGE_OK;
}

kedge_status kg_settings_copy(const kg_settings *from, kg_settings *to)
{
  *to = (kg_settings){.ctx = from->ctx};
  kedge_status status = KEDGE_OK;
  if (from->name) status = kg_copy_text(from->ctx, from->name, strlen(from->name), &to->name);
  for (int i = 0; i < from->n && status == KEDGE_OK; ++i)
    status = kg_settings_put(to, &from->items[i]);
  if (status != KEDGE_OK) kg_settings_free(to);
  return status;
}

void kg_settings_free(kg_settings *settings)
{
  for (int i = 0; i < settings->n; ++i) free_setting(&settings->items[i]);
  free(settings->items);
  free(settings->name);
  *settings = (kg_settings){0};
}

/// Refuse a section with a name, or a parameter, that no setting has: it is misspelt.
static kedge_status check_name(const kg_settings *settings, const kg_setting *s)
{
  const bool is_parameter = strcmp(s->section, "parameters") == 0;
  const char *const wanted = is_parameter ? s->key : s->section;
  kg_nearest nearest = kg_nearest_to(wanted);
  if (!is_parameter && !strchr(s->section, ' ')) return KEDGE_OK;
  for (int i = 0; i < settings->n; ++i) {
    const kg_setting *const other = &settings->items[i];
    const char *const name = is_parameter ? other->key : other->section;
    if (is_parameter && strcmp(other->section, "parameters") != 0) continue;
    if (strcmp(name, wanted) == 0) return KEDGE_OK;
    kg_nearest_offer(&nearest, name);
  }
  const char *const meant = nearest.best;
  if (is_parameter)
    return kg_setting_fail(settings, s, "there is no parameter '%s'%s%s%s", wanted,
                           meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
  return kg_setting_fail(settings, s, "there is no section [%s]%s%s%s", wanted,
                         meant ? "; did you mean [" : "", meant ? meant : "", meant ? "]?" : "");
}

/// Take a key away, which there may be none of, but which has to be one of problems.
static kedge_status take_away(kg_settings *settings, kg_setting *s)
{
  const kg_problem_key *key;
  kg_section_normalize(s->section);
  KG_TRY(kg_key_find(settings, s, &key));
  KG_TRY(check_name(settings, s));
  kg_settings_remove(settings, s->section, s->key);
  return KEDGE_OK;
}

kedge_status kg_settings_override(kg_settings *settings, const char *text)
{
  kedge_context *const ctx = settings->ctx;
  const char *const equal = strchr(text, '=');
  const char *dot = equal ? memrchr(text, '.', (size_t)(equal - text)) : NULL;
  KG_REQUIRE(ctx, dot != NULL && dot > text && dot + 1 < equal, KEDGE_ERR_INPUT,
             "--set '%s': expected section.key=value, as in space.order=4", text);
  kg_setting s = {.origin = KG_FROM_OVERRIDE};
  const char *key = dot + 1 + strspn(dot + 1, " \t");
  size_t key_length = (size_t)(equal - key);
  while (key_length > 0 && isspace((unsigned char)key[key_length - 1])) --key_length;
  const char *value = equal + 1 + strspn(equal + 1, " \t");
  size_t value_length = strlen(value);
  while (value_length > 0 && isspace((unsigned char)value[value_length - 1])) --value_length;

  kedge_status status = kg_copy_text(ctx, text, (size_t)(dot - text), &s.section);
  if (status == KEDGE_OK) status = kg_copy_text(ctx, key, key_length, &s.key);
  if (status == KEDGE_OK) status = kg_copy_text(ctx, value, value_length, &s.value);
  if (status == KEDGE_OK)
    status = value_length > 0 ? kg_settings_replace(settings, &s) : take_away(settings, &s);
  free_setting(&s);
  return status;
}

void kg_setting_place(const kg_settings *settings, const kg_setting *setting,
                      char text[KG_PLACE_BYTES])
{
  text[0] = '\0';
  if (setting && setting->origin == KG_FROM_FILE)
    snprintf(text, KG_PLACE_BYTES, "%.300s:%d: ", settings->name, setting->line);
  if (setting && setting->origin == KG_FROM_OVERRIDE)
    snprintf(text, KG_PLACE_BYTES, "--set %s.%s=%.80s: ", setting->section, setting->key,
             setting->whole ? setting->whole : setting->value);
}

kedge_status kg_setting_fail(const kg_settings *settings, const kg_setting *setting,
                             const char *format, ...)
{
  char sentence[900], place[KG_PLACE_BYTES];
  va_list args;
  va_start(args, format);
  vsnprintf(sentence, sizeof sentence, format, args);
  va_end(args);
  if (setting->origin == KG_FROM_CALL)
    return KG_FAIL(settings->ctx, KEDGE_ERR_INPUT, "[%s] %s: %s", setting->section, setting->key,
                   sentence);
  kg_setting_place(settings, setting, place);
  return KG_FAIL(settings->ctx, KEDGE_ERR_INPUT, "%s%s", place, sentence);
}
