/// @file
/// What operations compute, in one text for all that evaluate them: the folding of constants, the
/// register code of the host and the kernel that reads such code.
#pragma once
#include <math.h>

#include "expression/expression_tree.h"

/// ITEM(identifier of a kg_op, formula in the operands a, b and c). A NaN among the operands of min
/// and max is the result: wrong data must not vanish.
// clang-format off
#define KG_OP_FORMULAS(ITEM)                                                             \
  ITEM(CHOOSE, a != 0.0 ? b : c)                                                         \
  ITEM(EQUAL, a == b ? 1.0 : 0.0) ITEM(UNEQUAL, a != b ? 1.0 : 0.0)                      \
  ITEM(LESS, a < b ? 1.0 : 0.0) ITEM(LESS_EQUAL, a <= b ? 1.0 : 0.0)                     \
  ITEM(GREATER, a > b ? 1.0 : 0.0) ITEM(GREATER_EQUAL, a >= b ? 1.0 : 0.0)               \
  ITEM(ADD, a + b) ITEM(SUBTRACT, a - b) ITEM(MULTIPLY, a * b) ITEM(DIVIDE, a / b)       \
  ITEM(NEGATE, -a) ITEM(POWER, pow(a, b))                                                \
  ITEM(SIN, sin(a)) ITEM(COS, cos(a)) ITEM(TAN, tan(a))                                  \
  ITEM(ASIN, asin(a)) ITEM(ACOS, acos(a)) ITEM(ATAN, atan(a))                            \
  ITEM(SINH, sinh(a)) ITEM(COSH, cosh(a)) ITEM(TANH, tanh(a))                            \
  ITEM(EXP, exp(a)) ITEM(LOG, log(a)) ITEM(SQRT, sqrt(a)) ITEM(ABS, fabs(a))             \
  ITEM(ATAN2, atan2(a, b)) ITEM(HYPOT, hypot(a, b))                                      \
  ITEM(MIN, a < b || a != a ? a : b) ITEM(MAX, a > b || a != a ? a : b)
// clang-format on
