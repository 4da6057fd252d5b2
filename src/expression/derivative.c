#include <stdlib.h>

#include "core/memory.h"
#include "expression/expression_tree.h"
#include "expression/function.h"

static int32_t op2(kg_expression_builder *b, kg_op op, int32_t a0, int32_t a1)
{
  return kg_build(b, op, a0, a1, 0);
}

static int32_t op1(kg_expression_builder *b, kg_op op, int32_t a)
{
  return kg_build(b, op, a, 0, 0);
}

static int32_t number(kg_expression_builder *b, double value)
{
  return kg_build_constant(b, value);
}

static int32_t square(kg_expression_builder *b, int32_t a)
{
  return op2(b, KG_OP_POWER, a, number(b, 2));
}

/// sqrt(1 - a^2)
static int32_t circle(kg_expression_builder *b, int32_t a)
{
  return op1(b, KG_OP_SQRT, op2(b, KG_OP_SUBTRACT, number(b, 1), square(b, a)));
}

/// The outer derivative of the function in node i: f'(a).
static int32_t outer(kg_expression_builder *b, int32_t i)
{
  const kg_op op = b->nodes[i].op;
  const int32_t a = b->nodes[i].child[0], one = number(b, 1);
  switch (op) {
    case KG_OP_SIN:
      return op1(b, KG_OP_COS, a);
    case KG_OP_COS:
      return op1(b, KG_OP_NEGATE, op1(b, KG_OP_SIN, a));
    case KG_OP_TAN:
      return op2(b, KG_OP_ADD, one, square(b, i));
    case KG_OP_ASIN:
      return op2(b, KG_OP_DIVIDE, one, circle(b, a));
    case KG_OP_ACOS:
      return op2(b, KG_OP_DIVIDE, number(b, -1), circle(b, a));
    case KG_OP_ATAN:
      return op2(b, KG_OP_DIVIDE, one, op2(b, KG_OP_ADD, one, square(b, a)));
    case KG_OP_SINH:
      return op1(b, KG_OP_COSH, a);
    case KG_OP_COSH:
      return op1(b, KG_OP_SINH, a);
    case KG_OP_TANH:
      return op2(b, KG_OP_SUBTRACT, one, square(b, i));
    case KG_OP_EXP:
      return i;
    case KG_OP_LOG:
      return op2(b, KG_OP_DIVIDE, one, a);
    case KG_OP_SQRT:
      return op2(b, KG_OP_DIVIDE, number(b, 0.5), i);
    case KG_OP_ERF:
      return op2(b, KG_OP_MULTIPLY, number(b, M_2_SQRTPI),
                 op1(b, KG_OP_EXP, op1(b, KG_OP_NEGATE, square(b, a))));
    case KG_OP_LOG10:
      return op2(b, KG_OP_DIVIDE, number(b, M_LOG10E), a);
    case KG_OP_LOG2:
      return op2(b, KG_OP_DIVIDE, number(b, M_LOG2E), a);
    case KG_OP_CBRT:
      return op2(b, KG_OP_DIVIDE, number(b, 1.0 / 3.0), square(b, i));
    case KG_OP_FLOOR:
    case KG_OP_CEIL:
    case KG_OP_ROUND:
    case KG_OP_SIGN:
    case KG_OP_STEP:
      return 0;
    default:  // ABS
      return kg_build(b, KG_OP_CHOOSE, op2(b, KG_OP_LESS, a, number(b, 0)), number(b, -1), one);
  }
}

/// (p ^ q)' = q p^(q-1) p' + p^q log(p) q'; a term is left out where p' or q' is 0, so that a
/// negative p with a constant exponent meets no logarithm.
static int32_t power(kg_expression_builder *b, int32_t i, int32_t dp, int32_t dq)
{
  const int32_t p = b->nodes[i].child[0], q = b->nodes[i].child[1];
  const int32_t less = op2(b, KG_OP_SUBTRACT, q, number(b, 1));
  int32_t sum = number(b, 0);
  if (dp != 0)
    sum = op2(b, KG_OP_MULTIPLY, op2(b, KG_OP_MULTIPLY, q, op2(b, KG_OP_POWER, p, less)), dp);
  if (dq == 0) return sum;
  const int32_t grow = op2(b, KG_OP_MULTIPLY, i, op1(b, KG_OP_LOG, p));
  return op2(b, KG_OP_ADD, sum, op2(b, KG_OP_MULTIPLY, grow, dq));
}

/// (p' q - p q') / (p^2 + q^2)
static int32_t arc_tangent(kg_expression_builder *b, int32_t p, int32_t q, int32_t dp, int32_t dq)
{
  const int32_t top =
      op2(b, KG_OP_SUBTRACT, op2(b, KG_OP_MULTIPLY, dp, q), op2(b, KG_OP_MULTIPLY, p, dq));
  return op2(b, KG_OP_DIVIDE, top, op2(b, KG_OP_ADD, square(b, p), square(b, q)));
}

/// (p - q floor(p / q))' = p' - floor(p / q) q'
static int32_t remainder_of(kg_expression_builder *b, int32_t p, int32_t q, int32_t dp, int32_t dq)
{
  const int32_t whole = op1(b, KG_OP_FLOOR, op2(b, KG_OP_DIVIDE, p, q));
  return op2(b, KG_OP_SUBTRACT, dp, op2(b, KG_OP_MULTIPLY, whole, dq));
}

/// The derivative of node i from those of its children, d0, d1, d2.
static int32_t derive(kg_expression_builder *b, int32_t i, int32_t d0, int32_t d1, int32_t d2)
{
  const kg_node n = b->nodes[i];
  const int32_t p = n.child[0], q = n.child[1];
  if (n.op >= KG_OP_EQUAL && n.op <= KG_OP_GREATER_EQUAL) return 0;  // steps
  switch (n.op) {
    case KG_OP_ADD:
    case KG_OP_SUBTRACT:
      return op2(b, n.op, d0, d1);
    case KG_OP_NEGATE:
      return op1(b, KG_OP_NEGATE, d0);
    case KG_OP_MULTIPLY:
      return op2(b, KG_OP_ADD, op2(b, KG_OP_MULTIPLY, d0, q), op2(b, KG_OP_MULTIPLY, p, d1));
    case KG_OP_DIVIDE:  // (p' - (p/q) q') / q shares the quotient
      return op2(b, KG_OP_DIVIDE, op2(b, KG_OP_SUBTRACT, d0, op2(b, KG_OP_MULTIPLY, i, d1)), q);
    case KG_OP_POWER:
      return power(b, i, d0, d1);
    case KG_OP_ATAN2:
      return arc_tangent(b, p, q, d0, d1);
    case KG_OP_HYPOT:
      return op2(b, KG_OP_DIVIDE,
                 op2(b, KG_OP_ADD, op2(b, KG_OP_MULTIPLY, p, d0), op2(b, KG_OP_MULTIPLY, q, d1)),
                 i);
    case KG_OP_MOD:
      return remainder_of(b, p, q, d0, d1);
    case KG_OP_MIN:
      return kg_build(b, KG_OP_CHOOSE, op2(b, KG_OP_LESS, p, q), d0, d1);
    case KG_OP_MAX:
      return kg_build(b, KG_OP_CHOOSE, op2(b, KG_OP_GREATER, p, q), d0, d1);
    case KG_OP_CHOOSE:
      return kg_build(b, KG_OP_CHOOSE, p, d1, d2);
    default:
      return d0 == 0 ? 0 : op2(b, KG_OP_MULTIPLY, outer(b, i), d0);
  }
}

kedge_status kg_build_derivative(kg_expression_builder *b, int32_t root, kg_op variable,
                                 int32_t *out)
{
  *out = 0;
  int32_t
      *d;  // [node up to root]: node of its derivative; -1: the root does not need it; 0 is zero
  KG_TRY(kg_host_alloc(b->ctx, (size_t)root + 1, sizeof *d, &d));
  for (int32_t i = 0; i <= root; ++i) d[i] = i == root ? 0 : -1;
  for (int32_t i = root; i >= 0; --i)
    for (int k = 0; d[i] == 0 && k < kg_ops_info[b->nodes[i].op].n_children; ++k)
      d[b->nodes[i].child[k]] = 0;

  for (int32_t i = 0; i <= root && !b->full; ++i) {
    const kg_node n = b->nodes[i];
    if (d[i] < 0) continue;
    if (n.op == variable)
      d[i] = number(b, 1);
    else if (kg_ops_info[n.op].n_children > 0)
      d[i] = derive(b, i, d[n.child[0]], d[n.child[1]], d[n.child[2]]);
  }
  *out = d[root];
  free(d);
  return KEDGE_OK;
}

kedge_status kg_expression_differentiate(kedge_context *ctx, const kg_expression *e, char variable,
                                         kg_expression **out)
{
  *out = NULL;
  const kg_op op = variable == 'x'   ? KG_OP_X
                   : variable == 'y' ? KG_OP_Y
                   : variable == 'z' ? KG_OP_Z
                                     : KG_OP_T;
  kg_expression_builder b;
  int32_t root;
  kedge_status status = kg_builder_open(ctx, &b);
  if (status == KEDGE_OK) status = kg_builder_import(&b, e, &root);
  if (status == KEDGE_OK) status = kg_build_derivative(&b, root, op, &root);
  if (status == KEDGE_OK) status = kg_builder_finish(&b, root, "the derivative", out);
  kg_builder_close(&b);
  return status;
}

static kedge_status second_derivative(kg_expression_builder *b, int32_t root, kg_op variable,
                                      int32_t *out)
{
  KG_TRY(kg_build_derivative(b, root, variable, out));
  return kg_build_derivative(b, *out, variable, out);
}

/// The variables that are coordinates.
static const kg_op coordinates[] = {KG_OP_X, KG_OP_Y, KG_OP_Z};

/// div(diffusion grad u) of a scalar that is constant in each region.
static kedge_status scaled_laplacian(kg_expression_builder *b, int32_t u, int dimension,
                                     int32_t diffusion, int32_t *out)
{
  int32_t sum, second;
  KG_TRY(second_derivative(b, u, KG_OP_X, &sum));
  for (int i = 1; i < dimension; ++i) {
    KG_TRY(second_derivative(b, u, coordinates[i], &second));
    sum = op2(b, KG_OP_ADD, sum, second);
  }
  *out = op2(b, KG_OP_MULTIPLY, diffusion, sum);
  return KEDGE_OK;
}

/// div(diffusion grad u). @param[in] k  [row][column] of the tensor
static kedge_status divergence(kg_expression_builder *b, int32_t u, int dimension, int32_t k[3][3],
                               int32_t *out)
{
  int32_t slope[3], along;
  for (int i = 0; i < dimension; ++i) KG_TRY(kg_build_derivative(b, u, coordinates[i], &slope[i]));
  for (int i = 0; i < dimension; ++i) {
    int32_t flux = op2(b, KG_OP_MULTIPLY, k[i][0], slope[0]);
    for (int j = 1; j < dimension; ++j)
      flux = op2(b, KG_OP_ADD, flux, op2(b, KG_OP_MULTIPLY, k[i][j], slope[j]));
    KG_TRY(kg_build_derivative(b, flux, coordinates[i], &along));
    *out = i == 0 ? along : op2(b, KG_OP_ADD, *out, along);
  }
  return KEDGE_OK;
}

/// source + mass u_t
static kedge_status add_rate(kg_expression_builder *b, int32_t u, const kg_function *mass,
                             int32_t *source)
{
  int32_t rate, factor = number(b, 1);
  KG_TRY(kg_build_derivative(b, u, KG_OP_T, &rate));
  if (mass && mass->kind != KG_FUNCTION_NONE) KG_TRY(kg_function_import(b, mass, &factor));
  *source = op2(b, KG_OP_ADD, *source, op2(b, KG_OP_MULTIPLY, factor, rate));
  return KEDGE_OK;
}

static kedge_status build_source(kg_expression_builder *b, int32_t u, int dimension,
                                 int n_diffusion, const kg_function *diffusion,
                                 const kg_function *reaction, int32_t *out)
{
  int32_t k[3][3], react, flux = 0;
  for (int i = 0, entry = 0; i < dimension; ++i)
    for (int j = i; j < dimension; ++j, ++entry) {
      if (n_diffusion > 1)
        KG_TRY(kg_function_import(b, &diffusion[entry], &k[i][j]));
      else if (entry == 0)
        KG_TRY(kg_function_import(b, diffusion, &k[0][0]));
      else
        k[i][j] = i == j ? k[0][0] : number(b, 0);
      k[j][i] = k[i][j];
    }
  KG_TRY(kg_function_import(b, reaction, &react));
  if (n_diffusion == 1 && !kg_function_varies(diffusion))
    KG_TRY(scaled_laplacian(b, u, dimension, k[0][0], &flux));
  else
    KG_TRY(divergence(b, u, dimension, k, &flux));
  *out = op2(b, KG_OP_SUBTRACT, op2(b, KG_OP_MULTIPLY, react, u), flux);
  return KEDGE_OK;
}

kedge_status kg_expression_source(kedge_context *ctx, const kg_expression *u, int dimension,
                                  int n_diffusion, const kg_function *diffusion,
                                  const kg_function *reaction, const kg_function *mass,
                                  kg_expression **out)
{
  *out = NULL;
  kg_expression_builder b;
  int32_t of, root;
  kedge_status status = kg_builder_open(ctx, &b);
  if (status == KEDGE_OK) status = kg_builder_import(&b, u, &of);
  if (status == KEDGE_OK)
    status = build_source(&b, of, dimension, n_diffusion, diffusion, reaction, &root);
  if (status == KEDGE_OK && kg_expression_uses(u, KG_OP_T)) status = add_rate(&b, of, mass, &root);
  if (status == KEDGE_OK)
    status = kg_builder_finish(&b, root, "the source derived from the exact solution", out);
  kg_builder_close(&b);
  return status;
}
