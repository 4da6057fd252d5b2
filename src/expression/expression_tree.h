/// @file
/// The inside of an expression: a shared tree (equal subtrees are one node), kept as an array in
/// which children come before their parents. Loops over the array replace recursion everywhere, so
/// no expression, however deep, can exhaust the stack.
///
/// Whoever turns an expression into something else (another language, another evaluator) walks
/// nodes[0 .. n_nodes) once; node i needs only results of nodes before it, and the last is the
/// value.
#pragma once
#include <math.h>

#include "expression/expression.h"
#include "expression/program.h"

/// The operations: ITEM(identifier, number of children, word of the language, formula in the
/// operands a, b and c). The formula is the one text for all that evaluate: the folding of
/// constants, register code, the kernel that reads it, and what is compiled for the GPU. Functions,
/// which are written word(argument, ...), stand last, from SIN on. A NaN among the operands of min
/// and max is the result: wrong data must not vanish.
// clang-format off
#define KG_OPERATIONS(ITEM)                                                     \
  ITEM(CHOOSE, 3, "?", a != 0.0 ? b : c) /* point by point */                   \
  ITEM(EQUAL, 2, "==", a == b ? 1.0 : 0.0)                                      \
  ITEM(UNEQUAL, 2, "!=", a != b ? 1.0 : 0.0)                                    \
  ITEM(LESS, 2, "<", a < b ? 1.0 : 0.0)                                         \
  ITEM(LESS_EQUAL, 2, "<=", a <= b ? 1.0 : 0.0)                                 \
  ITEM(GREATER, 2, ">", a > b ? 1.0 : 0.0)                                      \
  ITEM(GREATER_EQUAL, 2, ">=", a >= b ? 1.0 : 0.0)                              \
  ITEM(ADD, 2, "+", a + b) ITEM(SUBTRACT, 2, "-", a - b)                        \
  ITEM(MULTIPLY, 2, "*", a * b) ITEM(DIVIDE, 2, "/", a / b)                     \
  ITEM(NEGATE, 1, "-", -a) ITEM(POWER, 2, "^", pow(a, b))                       \
  ITEM(SIN, 1, "sin", sin(a)) ITEM(COS, 1, "cos", cos(a))                       \
  ITEM(TAN, 1, "tan", tan(a)) ITEM(ASIN, 1, "asin", asin(a))                    \
  ITEM(ACOS, 1, "acos", acos(a)) ITEM(ATAN, 1, "atan", atan(a))                 \
  ITEM(SINH, 1, "sinh", sinh(a)) ITEM(COSH, 1, "cosh", cosh(a))                 \
  ITEM(TANH, 1, "tanh", tanh(a)) ITEM(EXP, 1, "exp", exp(a))                    \
  ITEM(LOG, 1, "log", log(a)) ITEM(SQRT, 1, "sqrt", sqrt(a))                    \
  ITEM(ABS, 1, "abs", fabs(a)) ITEM(ERF, 1, "erf", erf(a))                      \
  ITEM(LOG10, 1, "log10", log10(a)) ITEM(LOG2, 1, "log2", log2(a))              \
  ITEM(CBRT, 1, "cbrt", cbrt(a)) ITEM(FLOOR, 1, "floor", floor(a))              \
  ITEM(CEIL, 1, "ceil", ceil(a)) ITEM(ROUND, 1, "round", round(a))              \
  ITEM(SIGN, 1, "sign", a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a) /* of 0 0 */        \
  ITEM(STEP, 1, "step", a >= 0.0 ? 1.0 : a < 0.0 ? 0.0 : a)                     \
  ITEM(MOD, 2, "mod", a - b * floor(a / b)) /* with the sign of b */            \
  ITEM(ATAN2, 2, "atan2", atan2(a, b))             \
  ITEM(MIN, 2, "min", a < b || a != a ? a : b)                                  \
  ITEM(MAX, 2, "max", a > b || a != a ? a : b) ITEM(HYPOT, 2, "hypot", hypot(a, b))
// clang-format on
#define KG_OP_ENUMERATOR(name, children, word, formula) KG_OP_##name,
typedef enum kg_op {
  KG_OP_CONSTANT,
  KG_OP_X,
  KG_OP_Y,
  KG_OP_Z,       ///< in space
  KG_OP_REGION,  ///< the tag of the element's region
  KG_OP_T,       ///< the time: of all points that are evaluated together
  KG_OP_FIELD,   ///< one of the names that a text may have beside these: its number is `value`
  KG_OPERATIONS(KG_OP_ENUMERATOR) KG_OP_COUNT
} kg_op;
#undef KG_OP_ENUMERATOR
#define KG_OP_FIRST_FUNCTION KG_OP_SIN

typedef struct kg_op_info {
  int n_children;
  const char *word;
} kg_op_info;
extern const kg_op_info kg_ops_info[KG_OP_COUNT];

typedef struct kg_node {
  kg_op op;
  int32_t child[3];  ///< indices of earlier nodes; unused ones are 0
  double value;      ///< of a CONSTANT, finite; of a FIELD its number; else 0
} kg_node;

struct kg_expression {
  int32_t n_nodes;
  kg_node *nodes;      ///< children first, the root last, every node in use
  kg_program program;  ///< the same as register code
  bool may_jump;       ///< a comparison, or a function with jumps, has a coordinate in it
};

#define KG_EXPRESSION_NODES   10000  ///< most nodes while an expression is built or differentiated
#define KG_EXPRESSION_NESTING 200    ///< deepest nesting the parser accepts

/// Whether a leaf is a variable.
static inline bool kg_is_variable(kg_op op)
{
  return op == KG_OP_X || op == KG_OP_Y || op == KG_OP_Z || op == KG_OP_REGION || op == KG_OP_T ||
         op == KG_OP_FIELD;
}
/// Whether an expression has a variable in it.
bool kg_expression_uses(const kg_expression *e, kg_op variable);
/// Whether an expression may jump at times that are the same everywhere: a comparison, or a
/// function with jumps, has t in it, and neither a coordinate nor a field.
bool kg_expression_jumps_in_time(const kg_expression *e);

/// The value of one operation: constant folding, and the definition the register code must meet.
double kg_op_apply(kg_op op, double a, double b, double c);

/// True for a power whose exponent is a whole constant of at most 32 in magnitude: evaluation then
/// multiplies, by repeated squaring.
bool kg_node_integer_power(const kg_node *nodes, const kg_node *node, int32_t *exponent);

/// True when e depends on no variable; *value is then its value, finite or not.
bool kg_expression_constant(const kg_expression *e, double *value);

/// A builder holds expressions in the making. Errors are remembered and the functions below go on
/// harmlessly with node 0, so that formulas can be nested; kg_builder_finish() reports them.
typedef struct kg_expression_builder {
  kedge_context *ctx;
  kg_node *nodes;  ///< [KG_EXPRESSION_NODES]; node 0 is the constant 0
  int32_t n_nodes;
  int32_t *slots;  ///< open hash table of node numbers, -1 free
  bool full;
} kg_expression_builder;

kedge_status kg_builder_open(kedge_context *ctx, kg_expression_builder *b);
void kg_builder_close(kg_expression_builder *b);  ///< also after a failed open

/// The node with these contents, made unless it exists; not simplified. `value` matters for
/// constants only.
int32_t kg_builder_intern(kg_expression_builder *b, kg_node node);
/// Find again what was interned, without adding. Returns -1 when there is none.
int32_t kg_builder_find(const kg_expression_builder *b, const kg_node *node);

/// Simplified operations (simplify.c).
int32_t kg_build_constant(kg_expression_builder *b, double value);
int32_t kg_build(kg_expression_builder *b, kg_op op, int32_t a0, int32_t a1, int32_t a2);

/// Derivatives of the tree under `root` by KG_OP_X, KG_OP_Y, KG_OP_Z or KG_OP_T (derivative.c).
/// Memory failures and overfull builders alike are left for kg_builder_finish().
kedge_status kg_build_derivative(kg_expression_builder *b, int32_t root, kg_op variable,
                                 int32_t *out);

/// Add the nodes of expression e to the builder.
kedge_status kg_builder_import(kg_expression_builder *b, const kg_expression *e, int32_t *root);
/// Make the expression under `root`. `what` names it when it has become too large ("the
/// expression").
kedge_status kg_builder_finish(kg_expression_builder *b, int32_t root, const char *what,
                               kg_expression **out);

/// An error in a text and its place: "<what> at column N: <hint>".
typedef struct kg_syntax_error {
  size_t offset;  ///< bytes from the start of the text
  char what[120];
  char hint[160];  ///< may be empty
} kg_syntax_error;

/// Parse. When `error->what` comes back empty, the failure is another (memory, size) and its
/// sentence is in the context.
/// @param[in] constants  named parameters, beside x, y, z, t, region and pi; one that is called t
///                       hides the time
kedge_status kg_expression_parse(kedge_context *ctx, const char *text, const kg_constant *constants,
                                 int n_constants, kg_syntax_error *error, kg_expression **out);
/// Parse a text that may name fields too, whose values kg_expression_evaluate_fields() is given. A
/// name that is both a field and a constant is refused.
/// @param[in] fields  NULL: none; ends with NULL
kedge_status kg_expression_parse_fields(kedge_context *ctx, const char *text,
                                        const kg_constant *constants, int n_constants,
                                        const char *const *fields, kg_syntax_error *error,
                                        kg_expression **out);
/// The set of fields that an expression names: bit k stands for field k.
unsigned kg_expression_fields(const kg_expression *e);
/// The column (from 1, in characters of UTF-8) and the number of line ends before a byte of a text.
int kg_text_column(const char *text, size_t offset, int *lines_before);
/// True for x, y, z, region and pi; and for the names of functions too: they cannot be parameters.
/// t is none of them: where a problem has no time it may be a parameter.
bool kg_expression_variable(const char *name);
bool kg_expression_reserved(const char *name);
