// The lines of a problem file become settings. A copy of the text is cut in place into lines, keys
// and values.
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "problem/keys.h"

typedef struct source {
  kg_settings *settings, *sections;
  const char *section;  ///< the last one; "" before the first
  int line;             ///< the one that is read, from 1
  int value_line;       ///< the last line of the last value; 0: no key has come since the [section]
} source;

static kedge_status refuse(const source *s, const char *sentence)
{
  const kg_setting here = {.origin = KG_FROM_FILE, .line = s->line};
  return kg_setting_fail(s->settings, &here, "%s", sentence);
}

/// Length of a line without its comment ('#' or ';' at the start or after a blank), blanks and
/// line end.
static size_t content_length(const char *line, size_t length)
{
  size_t n = 0;
  for (; n < length; ++n)
    if ((line[n] == '#' || line[n] == ';') && (n == 0 || kg_is_blank(line[n - 1]))) break;
  while (n > 0 && (kg_is_blank(line[n - 1]) || line[n - 1] == '\r')) --n;
  return n;
}

static bool has_control_character(const char *line, size_t length)
{
  for (size_t i = 0; i < length; ++i)
    if ((unsigned char)line[i] < 0x20 && line[i] != '\t') return true;
  return false;
}

/// A '=' that does not belong to a comparison: the line sets a key.
static bool sets_a_key(const char *line)
{
  for (const char *at = line; (at = strchr(at, '=')); ++at) {
    const bool before = at > line && strchr("<>!=", at[-1]) != NULL;
    if (!before && at[1] != '=') return true;
  }
  return false;
}

/// "[name]" and nothing else; the section must exist, even when no key follows. One of a region
/// without keys counts: the coefficients there are those of [equation].
static kedge_status read_section(source *s, char *text)
{
  char *const close = strchr(text, ']'), key[] = "";
  if (close == NULL || close[1] != '\0')
    return refuse(s,
                  "a section is written [name], alone on its line; a group of the mesh with ']', "
                  "' #' or ' ;' in its name is given by its number");
  *close = '\0';
  kg_section_normalize(text + 1);
  const kg_setting setting = {
      .section = text + 1, .key = key, .origin = KG_FROM_FILE, .line = s->line};
  if (text[1] == '\0') return refuse(s, "the section has no name");
  KG_TRY(kg_section_check(s->settings, &setting));
  s->section = setting.section;
  s->value_line = 0;
  if (kg_section_group(setting.section, "region")) KG_TRY(kg_settings_put(s->settings, &setting));
  return kg_settings_put(s->sections, &setting);
}

static kedge_status read_key(source *s, char *text)
{
  char *end = text + strcspn(text, "=:");
  if (*end == '\0') return refuse(s, "expected key = value or [section]");
  const kg_setting setting = {.section = (char *)s->section,
                              .key = text,
                              .value = end + 1 + strspn(end + 1, " \t"),
                              .origin = KG_FROM_FILE,
                              .line = s->line};
  while (end > text && kg_is_blank(end[-1])) --end;
  *end = '\0';
  const kg_setting *const old = kg_settings_find(s->settings, setting.section, setting.key);
  if (old && old->value)
    return kg_setting_fail(s->settings, &setting,
                           "duplicate key '%s' in [%s]; it has been set on line %d", setting.key,
                           setting.section, old->line);
  const kg_problem_key *key;
  KG_TRY(kg_key_find(s->settings, &setting, &key));
  s->value_line = s->line;
  return kg_settings_put(s->settings, &setting);
}

/// An indented line that sets no key continues the value above it.
static kedge_status read_line(source *s, char *line, size_t length)
{
  length = content_length(line, length);
  line[length] = '\0';
  const size_t indent = strspn(line, " \t");
  char *const text = line + indent;
  if (has_control_character(text, length - indent))
    return refuse(s, "the line holds a control character; a problem file is plain text");
  if (text[0] == '\0') return KEDGE_OK;
  if (text[0] == '[') return read_section(s, text);
  if (indent == 0 || s->value_line == 0 || sets_a_key(text)) return read_key(s, text);
  const int newlines = s->line - s->value_line;
  s->value_line = s->line;
  return kg_settings_extend(s->settings, &s->settings->items[s->settings->n - 1], newlines, text);
}

kedge_status kg_settings_read(kg_settings *settings, kg_settings *sections, const char *text,
                              size_t bytes)
{
  static const char mark[] = "\xef\xbb\xbf";  // of UTF-8, as some editors put it
  const size_t skipped = bytes >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
  source s = {.settings = settings, .sections = sections, .section = ""};
  kedge_status status = KEDGE_OK;
  char *copy;
  KG_TRY(kg_copy_text(settings->ctx, text + skipped, bytes - skipped, &copy));
  char *const end = copy + bytes - skipped;
  for (char *line = copy, *next; line < end && status == KEDGE_OK; line = next) {
    char *const newline = memchr(line, '\n', (size_t)(end - line));
    next = newline ? newline + 1 : end;
    ++s.line;
    status = read_line(&s, line, (size_t)((newline ? newline : end) - line));
  }
  free(copy);
  return status;
}
