// inih splits the text into sections, keys and values. It would cut lines of more than 200 bytes
// and sections of more than 49, and takes every indented line for the continuation of the value
// above; so it gets the text line by line from next_line(), which refuses, strips and indents
// first. Of a longer line inih sees the beginning, with the key; its value is taken from the text.
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "problem/keys.h"

enum { LONGEST_SECTION = 49 };  // bytes inih keeps

typedef struct source {
  kg_settings *settings, *sections;
  const char *at, *end;
  int line;           ///< the one last handed over, from 1
  int value_line;     ///< the last line of the value that is open
  bool value_open;    ///< a key has come since the last [section]
  bool continuation;  ///< the line continues that value
  const char *value;  ///< of a line of which inih sees the beginning only, else NULL
  size_t value_length;
  kedge_status status;
} source;

static kg_setting place(const source *s, char *section, char *key)
{
  return (kg_setting){.section = section, .key = key, .origin = KG_FROM_FILE, .line = s->line};
}

#define REFUSE(s, ...)                                                 \
  do {                                                                 \
    const kg_setting here_ = place((s), NULL, NULL);                   \
    (s)->status = kg_setting_fail((s)->settings, &here_, __VA_ARGS__); \
  } while (0)

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/// Length of a line without its comment ('#' or ';' at the start or after a blank), blanks and
/// line end.
static size_t content_length(const char *line, size_t length)
{
  size_t n = 0;
  for (; n < length; ++n)
    if ((line[n] == '#' || line[n] == ';') && (n == 0 || is_blank(line[n - 1]))) break;
  while (n > 0 && (is_blank(line[n - 1]) || line[n - 1] == '\r')) --n;
  return n;
}

/// A '=' that does not belong to a comparison: the line sets a key.
static bool sets_a_key(const char *line, size_t length)
{
  for (size_t i = 0; i < length; ++i) {
    if (line[i] != '=') continue;
    const bool before = i > 0 && strchr("<>!=", line[i - 1]) != NULL;
    const bool after = i + 1 < length && line[i + 1] == '=';
    if (!before && !after) return true;
  }
  return false;
}

/// "[name]" and nothing else; the section must exist, even when no key follows.
static void check_section(source *s, const char *line, size_t length)
{
  const char *const close = memchr(line, ']', length);
  if (close == NULL || close + 1 != line + length) {
    REFUSE(s,
           "a section is written [name], alone on its line; a group of the mesh with ']', ' #' or "
           "' ;' in its name is given by its number");
    return;
  }
  char name[LONGEST_SECTION + 1];
  if (length - 2 > LONGEST_SECTION) {
    REFUSE(s,
           "the section's name is longer than %d bytes; a group of the mesh can also be given by "
           "its number",
           LONGEST_SECTION);
    return;
  }
  snprintf(name, sizeof name, "%.*s", (int)length - 2, line + 1);
  kg_settings one = {.ctx = s->settings->ctx};
  char key[] = "";
  const kg_setting raw = place(s, name, key);
  s->status = kg_settings_put(&one, &raw);  // brings the name into its normal form
  if (s->status == KEDGE_OK && one.items[0].section[0] == '\0')
    REFUSE(s, "the section has no name");
  if (s->status == KEDGE_OK) s->status = kg_section_check(s->settings, &one.items[0]);
  if (s->status == KEDGE_OK) s->status = kg_settings_put(s->sections, &raw);
  kg_settings_free(&one);
}

static bool has_control_character(const char *line, size_t length)
{
  for (size_t i = 0; i < length; ++i)
    if ((unsigned char)line[i] < 0x20 && line[i] != '\t') return true;
  return false;
}

/// Remember the value of a line that is longer than the `room` inih has. Returns how much of the
/// line inih gets.
static size_t keep_value(source *s, const char *line, size_t length, size_t room)
{
  size_t begin = 0;
  if (!s->continuation) {
    while (begin < length && line[begin] != '=' && line[begin] != ':') ++begin;
    if (begin == length) return room;  // no key: inih refuses it
    if (begin >= room) {
      REFUSE(s, "the key is longer than %zu bytes", room - 1);
      return 0;
    }
    for (++begin; begin < length && is_blank(line[begin]);) ++begin;
  }
  s->value = line + begin;
  s->value_length = length - begin;
  return room;
}

/// Hand `line` over as inih has to see it: indented only where it continues a value.
static void hand_over(source *s, const char *line, size_t length, char *out, size_t size)
{
  size_t indent = 0;
  while (indent < length && is_blank(line[indent])) ++indent;
  const char *const text = line + indent;
  length -= indent;
  out[0] = '\0';
  s->continuation = false;
  s->value = NULL;
  if (has_control_character(text, length)) {
    REFUSE(s, "the line holds a control character; a problem file is plain text");
  } else if (length > 0 && text[0] == '[') {
    s->value_open = false;
    check_section(s, text, length);
  } else {
    s->continuation = length > 0 && indent > 0 && s->value_open && !sets_a_key(text, length);
  }
  if (s->status == KEDGE_OK && length + 3 > size)  // an indentation, '\n' and '\0' are added
    length = keep_value(s, text, length, size - 3);
  if (s->status == KEDGE_OK)
    snprintf(out, size, "%s%.*s\n", s->continuation ? " " : "", (int)length, text);
}

/// inih's reader, like fgets().
static char *next_line(char *out, int size, void *stream)
{
  source *const s = stream;
  if (s->status != KEDGE_OK || s->at == s->end) return NULL;
  const char *const line = s->at;
  const char *const newline = memchr(line, '\n', (size_t)(s->end - line));
  const size_t length = (size_t)((newline ? newline : s->end) - line);
  s->at = newline ? newline + 1 : s->end;
  ++s->line;
  hand_over(s, line, content_length(line, length), out, (size_t)size);
  return s->status == KEDGE_OK ? out : NULL;
}

static kedge_status take_key(source *s, kg_setting *setting)
{
  const kg_problem_key *key;
  const kg_setting *const old = kg_settings_find(s->settings, setting->section, setting->key);
  if (old)
    return kg_setting_fail(s->settings, setting,
                           "duplicate key '%s' in [%s]; it has been set on line %d", setting->key,
                           setting->section, old->line);
  KG_TRY(kg_key_find(s->settings, setting, &key));
  return kg_settings_put(s->settings, setting);
}

static void take_value(source *s, const char *section, const char *key, const char *value)
{
  kg_settings *const settings = s->settings;
  if (s->continuation) {
    kg_setting *const last = &settings->items[settings->n - 1];
    s->status = kg_settings_extend(settings, last, s->line - s->value_line, value);
  } else {
    const kg_setting raw = {.section = (char *)section,
                            .key = (char *)key,
                            .value = (char *)value,
                            .origin = KG_FROM_FILE,
                            .line = s->line};
    kg_settings one = {.ctx = settings->ctx};
    s->status = kg_settings_put(&one, &raw);
    if (s->status == KEDGE_OK) s->status = take_key(s, &one.items[0]);
    kg_settings_free(&one);
  }
}

static int take_line(void *user, const char *section, const char *key, const char *value)
{
  source *const s = user;
  if (s->status != KEDGE_OK) return 0;
  char *whole = NULL;
  if (s->value) {
    s->status = kg_copy_text(s->settings->ctx, s->value, s->value_length, &whole);
    if (s->status != KEDGE_OK) return 0;
  }
  take_value(s, section, key, whole ? whole : value);
  free(whole);
  s->value_open = true;
  s->value_line = s->line;
  return s->status == KEDGE_OK;
}

kedge_status kg_settings_read(kg_settings *settings, kg_settings *sections, const char *text,
                              size_t bytes)
{
  static const char mark[] = "\xef\xbb\xbf";  // of UTF-8, as some editors put it
  source s = {.settings = settings, .sections = sections, .at = text, .end = text + bytes};
  if (bytes >= 3 && memcmp(text, mark, 3) == 0) s.at += 3;
  const int bad = ini_parse_stream(next_line, &s, take_line, &s);
  if (bad < 0)
    return KG_FAIL(settings->ctx, KEDGE_ERR_MEMORY, "no memory to read %s", settings->name);
  if (bad > 0 && (s.status == KEDGE_OK || bad < s.line)) {
    s.line = bad;
    REFUSE(&s, "expected key = value or [section]");
  }
  return s.status;
}
