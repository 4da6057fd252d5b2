#include "expression/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "expression/nearest.h"

int kg_text_column(const char *text, size_t offset, int *lines_before)
{
  int column = 1, lines = 0;
  for (size_t i = 0; i < offset && text[i] != '\0'; ++i) {
    if (text[i] == '\n') {
      column = 1;
      ++lines;
    } else if (((unsigned char)text[i + 1] & 0xc0) != 0x80) {
      ++column;  // bytes within a character of UTF-8 do not count
    }
  }
  if (lines_before) *lines_before = lines;
  return column;
}

int32_t kg_parser_fail(kg_parser *p, const char *where, const char *hint, const char *format, ...)
{
  if (p->failed) return 0;
  p->failed = true;
  p->error->offset = (size_t)(where - p->text);
  va_list args;
  va_start(args, format);
  vsnprintf(p->error->what, sizeof p->error->what, format, args);
  va_end(args);
  snprintf(p->error->hint, sizeof p->error->hint, "%s", hint);
  p->at = p->text + strlen(p->text);
  return 0;
}

char kg_parser_peek(kg_parser *p)
{
  p->at += strspn(p->at, " \t\r\n");
  return *p->at;
}

bool kg_parser_take(kg_parser *p, const char *token)
{
  kg_parser_peek(p);
  const size_t length = strlen(token);
  if (strncmp(p->at, token, length) != 0) return false;
  p->at += length;
  return true;
}

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

size_t kg_name_length(const char *text)
{
  size_t n = 0;
  if (!is_letter(text[0])) return 0;
  while (is_letter(text[n]) || (text[n] >= '0' && text[n] <= '9')) ++n;
  return n;
}

/// Quote what stands at the place of an error: a name, a number, a sign, a character of UTF-8.
static const char *here(kg_parser *p, char out[48])
{
  const unsigned char c = (unsigned char)kg_parser_peek(p);
  size_t n = kg_name_length(p->at);
  if (n == 0) n = kg_number_scan(p->at);
  if (n == 0) n = 1;
  if (c >= 0xc0)
    while (n < 4 && ((unsigned char)p->at[n] & 0xc0) == 0x80) ++n;
  if (c == 0)
    snprintf(out, 48, "end");
  else if (c < 0x20 || c == 0x7f || (c >= 0x80 && n == 1))
    snprintf(out, 48, "byte 0x%02x", c);
  else
    snprintf(out, 48, "'%.*s'", (int)(n < 40 ? n : 40), p->at);
  return out;
}

/// How the language says what other languages write "and" and "or" for; NULL: neither stands here.
static const char *logic_hint(const kg_parser *p)
{
  const size_t n = kg_name_length(p->at);
  if (*p->at == '&' || (n == 3 && strncmp(p->at, "and", 3) == 0))
    return "for 'and' multiply the two comparisons: (a < b)*(c < d)";
  if (*p->at == '|' || (n == 2 && strncmp(p->at, "or", 2) == 0))
    return "for 'or' take the max of the two comparisons: max(a < b, c < d)";
  return NULL;
}

int32_t kg_parser_unexpected(kg_parser *p, const char *expected)
{
  char token[48];
  here(p, token);
  const char *const logic = logic_hint(p);
  return kg_parser_fail(p, p->at, logic ? logic : expected, "unexpected %s", token);
}

int32_t kg_parser_unclosed(kg_parser *p, const char *partner, const char *opening)
{
  char expected[100];
  snprintf(expected, sizeof expected, "expected the %s at column %d", partner,
           kg_text_column(p->text, (size_t)(opening - p->text), NULL));
  return kg_parser_unexpected(p, expected);
}

kg_op kg_function_named(const char *name, size_t length)
{
  if (length == 3 && strncmp(name, "pow", 3) == 0) return KG_OP_POWER;
  for (int op = KG_OP_FIRST_FUNCTION; op < KG_OP_COUNT; ++op) {
    const char *word = kg_ops_info[op].word;
    if (strlen(word) == length && strncmp(word, name, length) == 0) return (kg_op)op;
  }
  return KG_OP_COUNT;
}

static void suggest(kg_nearest nearest, const char *otherwise, char hint[160])
{
  if (nearest.best)
    snprintf(hint, 160, "did you mean '%s'?", nearest.best);
  else
    snprintf(hint, 160, "%s", otherwise);
}

int32_t kg_parser_unknown_function(kg_parser *p, const char *name, int length)
{
  char word[64], hint[160];
  snprintf(word, sizeof word, "%.*s", length, name);
  if (strcmp(word, "sgn") == 0)
    return kg_parser_fail(p, name, "did you mean 'sign'?", "unknown function '%s'", word);
  kg_nearest nearest = kg_nearest_to(word);
  kg_nearest_offer(&nearest, "pow");
  for (int op = KG_OP_FIRST_FUNCTION; op < KG_OP_COUNT; ++op)
    kg_nearest_offer(&nearest, kg_ops_info[op].word);
  if (strcmp(word, "ln") == 0) nearest.best = "log";
  suggest(nearest, "'kedge help expressions' lists the functions", hint);
  return kg_parser_fail(p, name, hint, "unknown function '%s'", word);
}

/// The names that this text can use, as many as there is room for.
static void list_names(const kg_parser *p, char text[160])
{
  enum { ROOM = 68 };
  if (p->fields) {
    size_t end = (size_t)snprintf(text, 160, "known here are x, y, z, t, region, pi");
    for (int f = 0; p->fields[f] && end < 160; ++f)
      end += (size_t)snprintf(text + end, 160 - end, ", %s", p->fields[f]);
    if (end < 160) snprintf(text + end, 160 - end, " and [parameters]");
    return;
  }
  char names[ROOM] = "";
  size_t length = 0;
  for (int i = 0; i < p->n_constants; ++i) {
    const size_t more = strlen(p->constants[i].name) + 2;
    const bool fits = length + more + sizeof ", ..." <= ROOM;
    length += (size_t)snprintf(names + length, ROOM - length, ", %s",
                               fits ? p->constants[i].name : "...");
    if (!fits) break;
  }
  snprintf(
      text, 160,
      "known here are x, y, z, t, region, pi%s; others are set in [parameters], above those that "
      "use them",
      names);
}

int32_t kg_parser_unknown_name(kg_parser *p, const char *name, int length)
{
  char word[64], hint[160];
  snprintf(word, sizeof word, "%.*s", length, name);
  kg_nearest nearest = kg_nearest_to(word);
  for (int i = 0; i < p->n_constants; ++i) kg_nearest_offer(&nearest, p->constants[i].name);
  for (int f = 0; p->fields && p->fields[f]; ++f) kg_nearest_offer(&nearest, p->fields[f]);
  kg_nearest_offer(&nearest, "pi");
  char known[160];
  list_names(p, known);
  if (strcmp(word, "h") == 0)
    return kg_parser_fail(
        p, name,
        "it is the length of an edge, for stabilization alone; give a constant of "
        "your own another name",
        "h has no meaning here");
  if (name[length] == '.') {
    snprintf(hint, sizeof hint, "leave '%s.' out, as in sin(x) and pi", word);
    return kg_parser_fail(p, name, hint, "unknown name '%s'", word);
  }
  suggest(nearest,
          strcmp(word, "e") == 0 ? "e^x is written exp(x), and e is exp(1); names of your own are "
                                   "set in [parameters]"
                                 : known,
          hint);
  return kg_parser_fail(p, name, hint, "unknown name '%s'", word);
}
