// The grammar; each rule is a function of the same name.
//
//   choice  = compare [ "?" choice ":" choice ]
//   compare = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//   sum     = product { ("+" | "-") product }
//   product = sign { ("*" | "/") sign }
//   sign    = ("-" | "+") sign | power
//   power   = primary [ "^" sign ]
//   primary = number | name | function "(" choice { "," choice } ")" | "(" choice ")"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "problem/expression_tree.h"
#include "problem/nearest.h"
#include "problem/number.h"

#define OPERAND_EXPECTED "expected a number, a name or '('"

typedef struct parser {
  const char *text, *at;
  const kg_constant *constants;
  int n_constants;
  int nesting;
  bool failed;
  kg_builder builder;
  kg_syntax_error *error;
} parser;

static int32_t choice(parser *p);
static int32_t sign(parser *p);

/// The first failure stands. The text is moved to its end, so that every rule returns.
__attribute__((format(printf, 4, 5))) static int32_t fail(parser *p, const char *where,
                                                          const char *hint, const char *format, ...)
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

static char peek(parser *p)
{
  p->at += strspn(p->at, " \t\r\n");
  return *p->at;
}

static bool take(parser *p, const char *token)
{
  peek(p);
  const size_t length = strlen(token);
  if (strncmp(p->at, token, length) != 0) return false;
  p->at += length;
  return true;
}

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t name_length(const char *text)
{
  size_t n = 0;
  if (!is_letter(text[0])) return 0;
  while (is_letter(text[n]) || (text[n] >= '0' && text[n] <= '9')) ++n;
  return n;
}

/// What stands at the place of an error, quoted: a name, a number, a sign, a character of UTF-8.
static const char *here(parser *p, char out[48])
{
  const unsigned char c = (unsigned char)peek(p);
  size_t n = name_length(p->at);
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
static const char *logic_hint(const parser *p)
{
  const size_t n = name_length(p->at);
  if (*p->at == '&' || (n == 3 && strncmp(p->at, "and", 3) == 0))
    return "for 'and' multiply the two comparisons: (a < b)*(c < d)";
  if (*p->at == '|' || (n == 2 && strncmp(p->at, "or", 2) == 0))
    return "for 'or' take the max of the two comparisons: max(a < b, c < d)";
  return NULL;
}

static int32_t unexpected(parser *p, const char *expected)
{
  char token[48];
  here(p, token);
  const char *const logic = logic_hint(p);
  return fail(p, p->at, logic ? logic : expected, "unexpected %s", token);
}

/// `partner` is missing; what it belongs to stands at `opening`.
static int32_t unclosed(parser *p, const char *partner, const char *opening)
{
  char expected[100];
  snprintf(expected, sizeof expected, "expected the %s at column %d", partner,
           kg_text_column(p->text, (size_t)(opening - p->text), NULL));
  return unexpected(p, expected);
}

static bool enter(parser *p)
{
  if (++p->nesting <= KG_EXPRESSION_NESTING) return true;
  char hint[80];
  snprintf(hint, sizeof hint, "at most %d levels; name parts of it as [parameters] or simplify",
           KG_EXPRESSION_NESTING);
  fail(p, p->at, hint, "the expression is nested too deeply");
  return false;
}

/// The operation called `name`, or KG_OP_COUNT.
static kg_op function_named(const char *name, size_t length)
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

static int32_t unknown_function(parser *p, const char *name, int length)
{
  char word[64], hint[160];
  snprintf(word, sizeof word, "%.*s", length, name);
  kg_nearest nearest = kg_nearest_to(word);
  kg_nearest_offer(&nearest, "pow");
  for (int op = KG_OP_FIRST_FUNCTION; op < KG_OP_COUNT; ++op)
    kg_nearest_offer(&nearest, kg_ops_info[op].word);
  if (strcmp(word, "ln") == 0) nearest.best = "log";
  suggest(nearest, "'kedge help expressions' lists the functions", hint);
  return fail(p, name, hint, "unknown function '%s'", word);
}

static int32_t unknown_name(parser *p, const char *name, int length)
{
  char word[64], hint[160];
  snprintf(word, sizeof word, "%.*s", length, name);
  kg_nearest nearest = kg_nearest_to(word);
  for (int i = 0; i < p->n_constants; ++i) kg_nearest_offer(&nearest, p->constants[i].name);
  kg_nearest_offer(&nearest, "pi");
  suggest(nearest, "known are x, y, pi and the names in [parameters]", hint);
  return fail(p, name, hint, "unknown name '%s'", word);
}

static int32_t call(parser *p, kg_op op, const char *name, int length)
{
  const char *const bracket = p->at++;
  int32_t argument[3] = {0};
  int n = 0;
  do {
    const int32_t a = choice(p);
    if (n < 3) argument[n] = a;
    ++n;
  } while (take(p, ","));
  if (p->failed) return 0;
  if (!take(p, ")")) return unclosed(p, "',' or ')' that closes '('", bracket);
  const int wanted = kg_ops_info[op].n_children;
  if (n != wanted)
    return fail(p, name, "", "'%.*s' takes %d argument%s but has %d", length, name, wanted,
                wanted == 1 ? "" : "s", n);
  return kg_build(&p->builder, op, argument[0], argument[1], 0);
}

/// The value of a name; false when there is none such.
static bool value_named(parser *p, const char *name, size_t length, int32_t *out)
{
  for (int i = 0; i < p->n_constants; ++i) {
    const kg_constant *c = &p->constants[i];
    if (strlen(c->name) != length || strncmp(c->name, name, length) != 0) continue;
    *out = kg_build_constant(&p->builder, c->value);
    return true;
  }
  if (length == 2 && strncmp(name, "pi", 2) == 0)
    *out = kg_build_constant(&p->builder, M_PI);
  else if (length == 1 && *name == 'x')
    *out = kg_build(&p->builder, KG_OP_X, 0, 0, 0);
  else if (length == 1 && *name == 'y')
    *out = kg_build(&p->builder, KG_OP_Y, 0, 0, 0);
  else
    return false;
  return true;
}

static int32_t name_or_call(parser *p, size_t length)
{
  const char *const name = p->at;
  const kg_op op = function_named(name, length);
  int32_t value;
  const bool known = value_named(p, name, length, &value);
  p->at += length;
  const bool bracket = peek(p) == '(';
  if (known && bracket)
    return fail(p, name, "write '*' between two factors", "'%.*s' is not a function",
                (int)(length < 40 ? length : 40), name);
  if (known) return value;
  if (op == KG_OP_COUNT)
    return bracket ? unknown_function(p, name, (int)length) : unknown_name(p, name, (int)length);
  if (!bracket)
    return fail(p, name, "its arguments follow in brackets", "the function '%.*s' without '('",
                (int)length, name);
  return call(p, op, name, (int)length);
}

static int32_t in_brackets(parser *p)
{
  const char *const bracket = p->at++;
  const int32_t inside = choice(p);
  if (p->failed || take(p, ")")) return inside;
  return unclosed(p, "')' that closes '('", bracket);
}

static int32_t primary(parser *p)
{
  if (peek(p) == '(') return in_brackets(p);
  const size_t letters = name_length(p->at);
  if (letters > 0) return name_or_call(p, letters);
  const size_t digits = kg_number_scan(p->at);
  if (digits == 0) return unexpected(p, OPERAND_EXPECTED);
  const double value = kg_number_value(p->at);
  if (!isfinite(value)) {
    return fail(p, p->at, "the largest is about 1.8e308", "the number '%.*s' is too large",
                (int)(digits < 40 ? digits : 40), p->at);
  }
  p->at += digits;
  return kg_build_constant(&p->builder, value);
}

static int32_t power(parser *p)
{
  const int32_t base = primary(p);
  if (!take(p, "^")) return base;
  return kg_build(&p->builder, KG_OP_POWER, base, sign(p), 0);
}

static int32_t sign(parser *p)
{
  if (!enter(p)) return 0;
  int32_t value;
  if (take(p, "-"))
    value = kg_build(&p->builder, KG_OP_NEGATE, sign(p), 0, 0);
  else if (take(p, "+"))
    value = sign(p);
  else
    value = power(p);
  --p->nesting;
  return value;
}

static int32_t product(parser *p)
{
  int32_t value = sign(p);
  for (;;) {
    kg_op op;
    if (take(p, "*"))
      op = KG_OP_MULTIPLY;
    else if (take(p, "/"))
      op = KG_OP_DIVIDE;
    else
      return value;
    if (op == KG_OP_MULTIPLY && *p->at == '*')
      return fail(p, p->at - 1, "powers are written '^'", "unexpected '**'");
    value = kg_build(&p->builder, op, value, sign(p), 0);
  }
}

static int32_t sum(parser *p)
{
  int32_t value = product(p);
  for (;;) {
    kg_op op;
    if (take(p, "+"))
      op = KG_OP_ADD;
    else if (take(p, "-"))
      op = KG_OP_SUBTRACT;
    else
      return value;
    if (p->builder.full) return value;  // no use in reading on
    value = kg_build(&p->builder, op, value, product(p), 0);
  }
}

static bool take_comparison(parser *p, kg_op *op)
{
  if (take(p, "<="))
    *op = KG_OP_LESS_EQUAL;
  else if (take(p, ">="))
    *op = KG_OP_GREATER_EQUAL;
  else if (take(p, "=="))
    *op = KG_OP_EQUAL;
  else if (take(p, "!="))
    *op = KG_OP_UNEQUAL;
  else if (take(p, "<"))
    *op = KG_OP_LESS;
  else if (take(p, ">"))
    *op = KG_OP_GREATER;
  else
    return false;
  return true;
}

static int32_t compare(parser *p)
{
  const int32_t left = sum(p);
  kg_op op;
  if (!take_comparison(p, &op)) return left;
  const int32_t value = kg_build(&p->builder, op, left, sum(p), 0);
  peek(p);
  const char *const second = p->at;
  if (take_comparison(p, &op))
    return fail(p, second, "write (a < b)*(b < c) or use brackets",
                "comparisons cannot be chained: unexpected '%s'", kg_ops_info[op].word);
  return value;
}

static int32_t choice(parser *p)
{
  if (!enter(p)) return 0;
  int32_t value = compare(p);
  peek(p);
  const char *const question = p->at;
  if (take(p, "?")) {
    const int32_t yes = choice(p);
    if (!take(p, ":"))
      value = unclosed(p, "':' that belongs to '?'", question);
    else
      value = kg_build(&p->builder, KG_OP_CHOOSE, value, yes, choice(p));
  }
  --p->nesting;
  return value;
}

/// What may follow a complete expression: nothing.
static void expect_end(parser *p)
{
  if (p->failed || p->builder.full) return;
  switch (peek(p)) {
    case '\0':
      return;
    case '=':
      unexpected(p, "comparisons for equality are written '=='");
      return;
    case ')':
      unexpected(p, "no '(' is open here");
      return;
    default:
      break;
  }
  const bool factor = *p->at == '(' || name_length(p->at) > 0;
  unexpected(
      p, factor ? "expected an operator (write '*' between two factors)" : "expected an operator");
}

kedge_status kg_expression_parse_text(kedge_context *ctx, const char *text,
                                      const kg_constant *constants, int n_constants,
                                      kg_syntax_error *error, kg_expression **out)
{
  *out = NULL;
  *error = (kg_syntax_error){0};
  parser p = {
      .text = text, .at = text, .constants = constants, .n_constants = n_constants, .error = error};
  kedge_status status = kg_builder_open(ctx, &p.builder);
  if (status != KEDGE_OK) goto done;
  const int32_t root = choice(&p);
  expect_end(&p);
  if (p.failed)
    status = KEDGE_ERR_INPUT;
  else
    status = kg_builder_finish(&p.builder, root, "the expression", out);
done:
  kg_builder_close(&p.builder);
  return status;
}

bool kg_expression_reserved(const char *name)
{
  const bool variable = !strcmp(name, "x") || !strcmp(name, "y") || !strcmp(name, "pi");
  return variable || function_named(name, strlen(name)) != KG_OP_COUNT;
}
