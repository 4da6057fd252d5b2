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
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "expression/parser.h"

#define OPERAND_EXPECTED "expected a number, a name or '('"

static int32_t choice(kg_parser *p);
static int32_t sign(kg_parser *p);

static bool enter(kg_parser *p)
{
  if (++p->nesting <= KG_EXPRESSION_NESTING) return true;
  char hint[80];
  snprintf(hint, sizeof hint, "at most %d levels; name parts of it as [parameters] or simplify",
           KG_EXPRESSION_NESTING);
  kg_parser_fail(p, p->at, hint, "the expression is nested too deeply");
  return false;
}

static int32_t call(kg_parser *p, kg_op op, const char *name, int length)
{
  const char *const bracket = p->at++;
  int32_t argument[3] = {0};
  int n = 0;
  do {
    const int32_t a = choice(p);
    if (n < 3) argument[n] = a;
    ++n;
  } while (kg_parser_take(p, ","));
  if (p->failed) return 0;
  if (!kg_parser_take(p, ")")) return kg_parser_unclosed(p, "',' or ')' that closes '('", bracket);
  const int wanted = kg_ops_info[op].n_children;
  if (n != wanted)
    return kg_parser_fail(p, name, "", "'%.*s' takes %d argument%s but has %d", length, name,
                          wanted, wanted == 1 ? "" : "s", n);
  return kg_build(&p->builder, op, argument[0], argument[1], 0);
}

/// The number of the field of a name; -1: there is none such.
static int field_named(const kg_parser *p, const char *name, size_t length)
{
  for (int f = 0; p->fields && p->fields[f]; ++f)
    if (strlen(p->fields[f]) == length && strncmp(p->fields[f], name, length) == 0) return f;
  return -1;
}

/// The value of a name; false when there is none such.
static bool value_named(kg_parser *p, const char *name, size_t length, int32_t *out)
{
  const int field = field_named(p, name, length);
  for (int i = 0; i < p->n_constants; ++i) {
    const kg_constant *c = &p->constants[i];
    if (strlen(c->name) != length || strncmp(c->name, name, length) != 0) continue;
    if (field >= 0)
      kg_parser_fail(p, name, "give the parameter another name",
                     "'%s' is a parameter, and here also a field", c->name);
    *out = kg_build_constant(&p->builder, c->value);
    return true;
  }
  if (field >= 0)
    *out = kg_builder_intern(&p->builder, (kg_node){.op = KG_OP_FIELD, .value = field});
  else if (length == 2 && strncmp(name, "pi", 2) == 0)
    *out = kg_build_constant(&p->builder, M_PI);
  else if (length == 1 && *name == 'x')
    *out = kg_build(&p->builder, KG_OP_X, 0, 0, 0);
  else if (length == 1 && *name == 'y')
    *out = kg_build(&p->builder, KG_OP_Y, 0, 0, 0);
  else if (length == 1 && *name == 'z')
    *out = kg_build(&p->builder, KG_OP_Z, 0, 0, 0);
  else if (length == 1 && *name == 't')
    *out = kg_build(&p->builder, KG_OP_T, 0, 0, 0);
  else if (length == 6 && strncmp(name, "region", 6) == 0)
    *out = kg_build(&p->builder, KG_OP_REGION, 0, 0, 0);
  else
    return false;
  return true;
}

static int32_t name_or_call(kg_parser *p, size_t length)
{
  const char *const name = p->at;
  const kg_op op = kg_function_named(name, length);
  int32_t value;
  const bool known = value_named(p, name, length, &value);
  p->at += length;
  const bool bracket = kg_parser_peek(p) == '(';
  if (known && bracket)
    return kg_parser_fail(p, name, "write '*' between two factors", "'%.*s' is not a function",
                          (int)(length < 40 ? length : 40), name);
  if (known) return value;
  if (op == KG_OP_COUNT)
    return bracket ? kg_parser_unknown_function(p, name, (int)length)
                   : kg_parser_unknown_name(p, name, (int)length);
  if (!bracket)
    return kg_parser_fail(p, name, "its arguments follow in brackets",
                          "the function '%.*s' without '('", (int)length, name);
  return call(p, op, name, (int)length);
}

static int32_t in_brackets(kg_parser *p)
{
  const char *const bracket = p->at++;
  const int32_t inside = choice(p);
  if (p->failed || kg_parser_take(p, ")")) return inside;
  return kg_parser_unclosed(p, "')' that closes '('", bracket);
}

static int32_t primary(kg_parser *p)
{
  if (kg_parser_peek(p) == '(') return in_brackets(p);
  const size_t letters = kg_name_length(p->at);
  if (letters > 0) return name_or_call(p, letters);
  const size_t digits = kg_number_scan(p->at);
  if (digits == 0) return kg_parser_unexpected(p, OPERAND_EXPECTED);
  const double value = kg_number_value(p->at);
  if (!isfinite(value)) {
    return kg_parser_fail(p, p->at, "the largest is about 1.8e308",
                          "the number '%.*s' is too large", (int)(digits < 40 ? digits : 40),
                          p->at);
  }
  p->at += digits;
  return kg_build_constant(&p->builder, value);
}

static int32_t power(kg_parser *p)
{
  const int32_t base = primary(p);
  if (!kg_parser_take(p, "^")) return base;
  return kg_build(&p->builder, KG_OP_POWER, base, sign(p), 0);
}

static int32_t sign(kg_parser *p)
{
  if (!enter(p)) return 0;
  int32_t value;
  if (kg_parser_take(p, "-"))
    value = kg_build(&p->builder, KG_OP_NEGATE, sign(p), 0, 0);
  else if (kg_parser_take(p, "+"))
    value = sign(p);
  else
    value = power(p);
  --p->nesting;
  return value;
}

/// Move past the operator that stands here, if it is of a list, which KG_OP_COUNT ends.
static bool take_operator(kg_parser *p, const kg_op *list, kg_op *op)
{
  for (; *list != KG_OP_COUNT; ++list) {
    if (!kg_parser_take(p, kg_ops_info[*list].word)) continue;
    *op = *list;
    return true;
  }
  return false;
}

static int32_t product(kg_parser *p)
{
  static const kg_op operators[] = {KG_OP_MULTIPLY, KG_OP_DIVIDE, KG_OP_COUNT};
  int32_t value = sign(p);
  kg_op op;
  while (take_operator(p, operators, &op)) {
    if (op == KG_OP_MULTIPLY && *p->at == '*')
      return kg_parser_fail(p, p->at - 1, "powers are written '^'", "unexpected '**'");
    value = kg_build(&p->builder, op, value, sign(p), 0);
  }
  return value;
}

static int32_t sum(kg_parser *p)
{
  static const kg_op operators[] = {KG_OP_ADD, KG_OP_SUBTRACT, KG_OP_COUNT};
  int32_t value = product(p);
  kg_op op;
  while (take_operator(p, operators, &op)) {
    if (p->builder.full) return value;  // no use in reading on
    value = kg_build(&p->builder, op, value, product(p), 0);
  }
  return value;
}

static int32_t compare(kg_parser *p)
{
  static const kg_op operators[] = {// none behind its own beginning
                                    KG_OP_LESS_EQUAL, KG_OP_GREATER_EQUAL, KG_OP_EQUAL,
                                    KG_OP_UNEQUAL,    KG_OP_LESS,          KG_OP_GREATER,
                                    KG_OP_COUNT};
  const int32_t left = sum(p);
  kg_op op;
  if (!take_operator(p, operators, &op)) return left;
  const int32_t value = kg_build(&p->builder, op, left, sum(p), 0);
  kg_parser_peek(p);
  const char *const second = p->at;
  if (take_operator(p, operators, &op))
    return kg_parser_fail(p, second, "write (a < b)*(b < c) or use brackets",
                          "comparisons cannot be chained: unexpected '%s'", kg_ops_info[op].word);
  return value;
}

static int32_t choice(kg_parser *p)
{
  if (!enter(p)) return 0;
  int32_t value = compare(p);
  kg_parser_peek(p);
  const char *const question = p->at;
  if (kg_parser_take(p, "?")) {
    const int32_t yes = choice(p);
    if (!kg_parser_take(p, ":"))
      value = kg_parser_unclosed(p, "':' that belongs to '?'", question);
    else
      value = kg_build(&p->builder, KG_OP_CHOOSE, value, yes, choice(p));
  }
  --p->nesting;
  return value;
}

/// Fail if anything follows a complete expression.
static void expect_end(kg_parser *p)
{
  if (p->failed || p->builder.full) return;
  switch (kg_parser_peek(p)) {
    case '\0':
      return;
    case '=':
      kg_parser_unexpected(p, "comparisons for equality are written '=='");
      return;
    case ')':
      kg_parser_unexpected(p, "no '(' is open here");
      return;
    default:
      break;
  }
  const bool factor = *p->at == '(' || kg_name_length(p->at) > 0;
  kg_parser_unexpected(
      p, factor ? "expected an operator (write '*' between two factors)" : "expected an operator");
}

kedge_status kg_expression_parse(kedge_context *ctx, const char *text, const kg_constant *constants,
                                 int n_constants, kg_syntax_error *error, kg_expression **out)
{
  return kg_expression_parse_fields(ctx, text, constants, n_constants, NULL, error, out);
}

kedge_status kg_expression_parse_fields(kedge_context *ctx, const char *text,
                                        const kg_constant *constants, int n_constants,
                                        const char *const *fields, kg_syntax_error *error,
                                        kg_expression **out)
{
  *out = NULL;
  *error = (kg_syntax_error){0};
  kg_parser p = {.text = text,
                 .at = text,
                 .constants = constants,
                 .n_constants = n_constants,
                 .fields = fields,
                 .error = error};
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

bool kg_expression_variable(const char *name)
{
  static const char *const names[] = {"x", "y", "z", "region", "pi"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

bool kg_expression_reserved(const char *name)
{
  return kg_expression_variable(name) || kg_function_named(name, strlen(name)) != KG_OP_COUNT;
}
