#include "io/json.h"

#include <assert.h>
#include <math.h>

#include "core/number.h"
#include "core/text.h"

static void put_string(FILE *stream, const char *value)
{
  static const char letters[] = "\b\f\n\r\t\"\\";
  static const char escapes[] = "bfnrt\"\\";
  putc('"', stream);
  for (const char *c = value; *c;) {
    const int length = kg_utf8_length(c);
    int k = 0;
    while (letters[k] && letters[k] != *c) ++k;
    if (letters[k])
      fprintf(stream, "\\%c", escapes[k]);
    else if (length == 0)
      fputs("\\ufffd", stream);
    else if (kg_utf8_steers(c, length))
      fprintf(stream, "\\u%04x", kg_utf8_number(c, length));
    else
      fwrite(c, 1, (size_t)length, stream);
    c += length ? length : 1;
  }
  putc('"', stream);
}

/// The comma, line break and indentation before a member, and its key.
static void begin_member(kg_json *json, const char *key)
{
  if (json->depth > 0) {
    bool *has_members = &json->has_members[json->depth - 1];
    if (*has_members) putc(',', json->stream);
    *has_members = true;
    fprintf(json->stream, "\n%*s", 2 * json->depth, "");
  }
  if (key) {
    put_string(json->stream, key);
    fputs(": ", json->stream);
  }
}

static void open_level(kg_json *json, const char *key, char opening, char closing)
{
  assert(json->depth < KG_JSON_DEPTH);
  begin_member(json, key);
  putc(opening, json->stream);
  json->closing[json->depth] = closing;
  json->has_members[json->depth++] = false;
}

void kg_json_object(kg_json *json, const char *key)
{
  open_level(json, key, '{', '}');
}

void kg_json_array(kg_json *json, const char *key)
{
  open_level(json, key, '[', ']');
}

void kg_json_close(kg_json *json)
{
  assert(json->depth > 0);
  --json->depth;
  if (json->has_members[json->depth]) fprintf(json->stream, "\n%*s", 2 * json->depth, "");
  putc(json->closing[json->depth], json->stream);
  if (json->depth == 0) putc('\n', json->stream);
}

void kg_json_string(kg_json *json, const char *key, const char *value)
{
  begin_member(json, key);
  if (value)
    put_string(json->stream, value);
  else
    fputs("null", json->stream);
}

void kg_json_integer(kg_json *json, const char *key, int64_t value)
{
  begin_member(json, key);
  fprintf(json->stream, "%lld", (long long)value);
}

void kg_json_number(kg_json *json, const char *key, double value)
{
  begin_member(json, key);
  if (!isfinite(value)) {
    fputs("null", json->stream);
    return;
  }
  char text[32];
  kg_number_print(text, value);
  fputs(text, json->stream);
}

void kg_json_bool(kg_json *json, const char *key, bool value)
{
  begin_member(json, key);
  fputs(value ? "true" : "false", json->stream);
}
