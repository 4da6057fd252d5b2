// Rules are those of algebra over finite numbers: 0 * f is 0 even where f is not finite. Results
// that are not finite are never folded, so that constants of a tree always are.
//
// Every rule ends in nodes on which no rule applies. Building a node again from its own children
// gives the same node; this is what makes printing and parsing each other's inverse.
#include <math.h>

#include "expression/expression_tree.h"

enum { LARGEST_MERGED_POWER = 32 };  // evaluated by multiplication, see program.c

static bool is_op(const kg_expression_builder *b, int32_t i, kg_op op)
{
  return b->nodes[i].op == op;
}

static bool is_constant(const kg_expression_builder *b, int32_t i)
{
  return is_op(b, i, KG_OP_CONSTANT);
}

static bool is_value(const kg_expression_builder *b, int32_t i, double value)
{
  return is_constant(b, i) && b->nodes[i].value == value;
}

static bool is_negative(const kg_expression_builder *b, int32_t i)
{
  return is_constant(b, i) && b->nodes[i].value < 0;
}

int32_t kg_build_constant(kg_expression_builder *b, double value)
{
  return kg_builder_intern(b, (kg_node){.op = KG_OP_CONSTANT, .value = value});
}

/// The node itself. Sums and products are shared whatever the order of their operands, which does
/// not change the rounded result; the order that came first stays.
static int32_t node(kg_expression_builder *b, kg_op op, int32_t a0, int32_t a1, int32_t a2)
{
  const kg_node straight = {.op = op, .child = {a0, a1, a2}};
  const kg_node swapped = {.op = op, .child = {a1, a0, a2}};
  if (op == KG_OP_ADD || op == KG_OP_MULTIPLY) {
    const int32_t found = kg_builder_find(b, &swapped);
    if (found >= 0) return found;
  }
  return kg_builder_intern(b, straight);
}

static int32_t build2(kg_expression_builder *b, kg_op op, int32_t a0, int32_t a1)
{
  return kg_build(b, op, a0, a1, 0);
}

static int32_t negate(kg_expression_builder *b, int32_t a)
{
  return kg_build(b, KG_OP_NEGATE, a, 0, 0);
}

/// Read a node as coefficient * rest.
static double coefficient(const kg_expression_builder *b, int32_t i, int32_t *rest)
{
  double c = 1.0;
  if (is_op(b, i, KG_OP_NEGATE)) {
    c = -1.0;
    i = b->nodes[i].child[0];
  } else if (is_op(b, i, KG_OP_MULTIPLY) && is_constant(b, b->nodes[i].child[0])) {
    c = b->nodes[b->nodes[i].child[0]].value;
    i = b->nodes[i].child[1];
  }
  *rest = i;
  return c;
}

/// ca * t + sign * cb * t as one product. Returns -1 when a and b are not multiples of one t.
static int32_t collect(kg_expression_builder *b, int32_t a0, int32_t a1, double sign)
{
  int32_t rest0, rest1;
  const double sum = coefficient(b, a0, &rest0) + sign * coefficient(b, a1, &rest1);
  if (rest0 != rest1 || is_constant(b, rest0) || !isfinite(sum)) return -1;
  return build2(b, KG_OP_MULTIPLY, kg_build_constant(b, sum), rest0);
}

static int32_t add(kg_expression_builder *b, int32_t a0, int32_t a1)
{
  if (is_value(b, a0, 0)) return a1;
  if (is_value(b, a1, 0)) return a0;
  if (is_constant(b, a0) && !is_constant(b, a1)) return build2(b, KG_OP_ADD, a1, a0);
  const int32_t collected = collect(b, a0, a1, 1.0);
  if (collected >= 0) return collected;
  int32_t rest;
  if (is_negative(b, a1) || coefficient(b, a1, &rest) < 0)
    return build2(b, KG_OP_SUBTRACT, a0, negate(b, a1));
  if (coefficient(b, a0, &rest) < 0) return build2(b, KG_OP_SUBTRACT, a1, negate(b, a0));
  return node(b, KG_OP_ADD, a0, a1, 0);
}

static int32_t subtract(kg_expression_builder *b, int32_t a0, int32_t a1)
{
  if (a0 == a1) return kg_build_constant(b, 0);
  if (is_value(b, a1, 0)) return a0;
  if (is_value(b, a0, 0)) return negate(b, a1);
  const int32_t collected = collect(b, a0, a1, -1.0);
  if (collected >= 0) return collected;
  int32_t rest;
  if (is_negative(b, a1) || coefficient(b, a1, &rest) < 0)
    return build2(b, KG_OP_ADD, a0, negate(b, a1));
  if (is_op(b, a0, KG_OP_NEGATE)) return negate(b, build2(b, KG_OP_ADD, b->nodes[a0].child[0], a1));
  return node(b, KG_OP_SUBTRACT, a0, a1, 0);
}

static int32_t simplify_negate(kg_expression_builder *b, int32_t a)
{
  const kg_node n = b->nodes[a];
  if (n.op == KG_OP_NEGATE) return n.child[0];
  if (n.op == KG_OP_SUBTRACT) return build2(b, KG_OP_SUBTRACT, n.child[1], n.child[0]);
  const bool leading = n.op == KG_OP_MULTIPLY || n.op == KG_OP_DIVIDE;
  if (leading && is_constant(b, n.child[0]))
    return build2(b, n.op, negate(b, n.child[0]), n.child[1]);
  return node(b, KG_OP_NEGATE, a, 0, 0);
}

/// Read a node as base ^ n with n = 1, 2, ...
static double integer_power(const kg_expression_builder *b, int32_t i, int32_t *base)
{
  *base = i;
  const kg_node *n = &b->nodes[i];
  if (n->op != KG_OP_POWER || !is_constant(b, n->child[1])) return 1;
  const double exponent = b->nodes[n->child[1]].value;
  if (exponent < 1 || exponent > LARGEST_MERGED_POWER || exponent != rint(exponent)) return 1;
  *base = n->child[0];
  return exponent;
}

/// c * a1 with a constant c that is neither 0 nor 1.
static int32_t scale(kg_expression_builder *b, int32_t c, int32_t a1)
{
  if (is_value(b, c, -1)) return negate(b, a1);
  const kg_node n = b->nodes[a1];
  const bool leading = n.op == KG_OP_MULTIPLY || n.op == KG_OP_DIVIDE;
  if (leading && is_constant(b, n.child[0])) {
    const double product = b->nodes[c].value * b->nodes[n.child[0]].value;
    if (isfinite(product)) return build2(b, n.op, kg_build_constant(b, product), n.child[1]);
  }
  return node(b, KG_OP_MULTIPLY, c, a1, 0);
}

static int32_t multiply(kg_expression_builder *b, int32_t a0, int32_t a1)
{
  if (is_constant(b, a1) && !is_constant(b, a0)) return build2(b, KG_OP_MULTIPLY, a1, a0);
  if (is_value(b, a0, 0)) return a0;
  if (is_value(b, a0, 1)) return a1;
  if (is_op(b, a1, KG_OP_NEGATE))
    return negate(b, build2(b, KG_OP_MULTIPLY, a0, b->nodes[a1].child[0]));
  if (is_constant(b, a0)) return scale(b, a0, a1);
  if (is_op(b, a0, KG_OP_NEGATE))
    return negate(b, build2(b, KG_OP_MULTIPLY, b->nodes[a0].child[0], a1));

  int32_t rest;  // constants move to the front
  if (coefficient(b, a0, &rest) != 1)
    return build2(b, KG_OP_MULTIPLY, b->nodes[a0].child[0], build2(b, KG_OP_MULTIPLY, rest, a1));
  if (coefficient(b, a1, &rest) != 1)
    return build2(b, KG_OP_MULTIPLY, b->nodes[a1].child[0], build2(b, KG_OP_MULTIPLY, a0, rest));
  int32_t base0, base1;
  const double power = integer_power(b, a0, &base0) + integer_power(b, a1, &base1);
  if (base0 == base1 && power <= LARGEST_MERGED_POWER)
    return build2(b, KG_OP_POWER, base0, kg_build_constant(b, power));
  return node(b, KG_OP_MULTIPLY, a0, a1, 0);
}

static int32_t divide(kg_expression_builder *b, int32_t a0, int32_t a1)
{
  if (is_value(b, a1, 0)) return node(b, KG_OP_DIVIDE, a0, a1, 0);  // a value that is not finite
  if (is_value(b, a0, 0)) return a0;
  if (is_value(b, a1, 1)) return a0;
  if (is_op(b, a0, KG_OP_NEGATE))
    return negate(b, build2(b, KG_OP_DIVIDE, b->nodes[a0].child[0], a1));
  if (is_op(b, a1, KG_OP_NEGATE))
    return negate(b, build2(b, KG_OP_DIVIDE, a0, b->nodes[a1].child[0]));
  if (is_negative(b, a1) && !is_constant(b, a0))
    return negate(b, build2(b, KG_OP_DIVIDE, a0, negate(b, a1)));
  int32_t rest;
  const double c = coefficient(b, a0, &rest);
  if (c == 1) return node(b, KG_OP_DIVIDE, a0, a1, 0);
  if (is_constant(b, a1) && isfinite(c / b->nodes[a1].value))
    return build2(b, KG_OP_MULTIPLY, kg_build_constant(b, c / b->nodes[a1].value), rest);
  return build2(b, KG_OP_MULTIPLY, b->nodes[a0].child[0], build2(b, KG_OP_DIVIDE, rest, a1));
}

static int32_t power(kg_expression_builder *b, int32_t a0, int32_t a1)
{
  if (is_value(b, a0, 1)) return a0;
  if (!is_constant(b, a1)) return node(b, KG_OP_POWER, a0, a1, 0);
  const double exponent = b->nodes[a1].value;
  if (exponent == 0) return kg_build_constant(b, 1);
  if (exponent == 1) return a0;
  if (exponent == -1) return build2(b, KG_OP_DIVIDE, kg_build_constant(b, 1), a0);
  if (exponent == 0.5) return kg_build(b, KG_OP_SQRT, a0, 0, 0);
  if (is_op(b, a0, KG_OP_NEGATE) && exponent == rint(exponent)) {
    const int32_t positive = build2(b, KG_OP_POWER, b->nodes[a0].child[0], a1);
    return fmod(exponent, 2) == 0 ? positive : negate(b, positive);
  }
  int32_t base;
  const double inner = integer_power(b, a0, &base), both = inner * exponent;
  if (inner > 1 && exponent > 1 && exponent == rint(exponent) && both <= LARGEST_MERGED_POWER)
    return build2(b, KG_OP_POWER, base, kg_build_constant(b, both));
  return node(b, KG_OP_POWER, a0, a1, 0);
}

/// Even functions drop the sign of their argument, odd ones pass it on.
static int32_t unary(kg_expression_builder *b, kg_op op, int32_t a)
{
  if (!is_op(b, a, KG_OP_NEGATE)) return node(b, op, a, 0, 0);
  const int32_t positive = b->nodes[a].child[0];
  switch (op) {
    case KG_OP_COS:
    case KG_OP_COSH:
    case KG_OP_ABS:
      return kg_build(b, op, positive, 0, 0);
    case KG_OP_SIN:
    case KG_OP_TAN:
    case KG_OP_ASIN:
    case KG_OP_ATAN:
    case KG_OP_SINH:
    case KG_OP_TANH:
      return negate(b, kg_build(b, op, positive, 0, 0));
    default:
      return node(b, op, a, 0, 0);
  }
}

static bool fold(kg_expression_builder *b, kg_op op, const int32_t *a, int32_t *out)
{
  double value[3] = {0};
  for (int k = 0; k < kg_ops_info[op].n_children; ++k) {
    if (!is_constant(b, a[k])) return false;
    value[k] = b->nodes[a[k]].value;
  }
  const double result = kg_op_apply(op, value[0], value[1], value[2]);
  if (!isfinite(result)) return false;
  *out = kg_build_constant(b, result);
  return true;
}

int32_t kg_build(kg_expression_builder *b, kg_op op, int32_t a0, int32_t a1, int32_t a2)
{
  if (b->full) return 0;
  if (kg_is_variable(op)) return node(b, op, 0, 0, 0);
  int32_t folded;
  if (fold(b, op, (const int32_t[3]){a0, a1, a2}, &folded)) return folded;
  switch (op) {
    case KG_OP_ADD:
      return add(b, a0, a1);
    case KG_OP_SUBTRACT:
      return subtract(b, a0, a1);
    case KG_OP_NEGATE:
      return simplify_negate(b, a0);
    case KG_OP_MULTIPLY:
      return multiply(b, a0, a1);
    case KG_OP_DIVIDE:
      return divide(b, a0, a1);
    case KG_OP_POWER:
      return power(b, a0, a1);
    case KG_OP_CHOOSE:
      if (a1 == a2) return a1;
      if (is_constant(b, a0)) return b->nodes[a0].value != 0 ? a1 : a2;
      return node(b, op, a0, a1, a2);
    default:
      return kg_ops_info[op].n_children == 1 ? unary(b, op, a0) : node(b, op, a0, a1, 0);
  }
}
