#include "expression/expression_cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/number.h"
#include "expression/parser.h"

// The CUDA text of an integer power, in the order of program.c's squaring, so that every rounding
// is the same; the last square is computed in vain and may overflow.
static const char integer_power[] =
    "static __device__ double integer_power(double a, int k)\n"
    "{\n"
    "  double power = 1.0, square = a;\n"
    "  for (int bits = k < 0 ? -k : k; bits != 0; bits >>= 1) {\n"
    "    if (bits & 1) power *= square;\n"
    "    square *= square;\n"
    "  }\n"
    "  return k < 0 ? 1.0 / power : power;\n"
    "}\n\n";

// How each operation is written, but for sine and cosine (ops/sample/circle.cuh).
#define FORM(name, children, word, formula) [KG_OP_##name] = #formula,
static const char *const forms[KG_OP_COUNT] = {KG_OPERATIONS(FORM)};

static void write_number(FILE *out, double value)
{
  char number[32];
  kg_number_print(number, value);
  fprintf(out, number[0] == '-' ? "(%s%s)" : "%s%s", number, strpbrk(number, ".e") ? "" : ".0");
}

/// A node where it is used: leaves stand for themselves, operations are locals.
static void write_operand(FILE *out, const kg_node *nodes, int32_t node)
{
  switch (nodes[node].op) {
    case KG_OP_X:
      fputc('x', out);
      break;
    case KG_OP_Y:
      fputc('y', out);
      break;
    case KG_OP_Z:
      fputc('z', out);
      break;
    case KG_OP_REGION:
      fputs("region", out);
      break;
    case KG_OP_T:
      fputc('t', out);
      break;
    case KG_OP_CONSTANT:
      write_number(out, nodes[node].value);
      break;
    default:
      fprintf(out, "v%d", (int)node);
  }
}

/// If the argument of a sine or cosine is pi 2^k times a node, return 2^k and that node in *of;
/// else return 0. The quadrant of such an argument is found exactly, and in fewer steps.
static double multiple_of_pi(const kg_node *nodes, const kg_node *node, int32_t *of)
{
  const kg_node *product = &nodes[node->child[0]];
  for (int k = 0; product->op == KG_OP_MULTIPLY && k < 2; ++k) {
    const kg_node *factor = &nodes[product->child[k]];
    const double multiple = factor->op == KG_OP_CONSTANT ? factor->value / M_PI : 0.0;
    int exponent;
    if (fabs(frexp(multiple, &exponent)) != 0.5 || multiple * M_PI != factor->value) continue;
    *of = product->child[1 - k];
    return multiple;
  }
  return 0.0;
}

/// circle_of_pi(multiple * argument, &angle).sine, or circle(argument, &angle).sine, or .cosine.
static void write_circle(FILE *out, const kg_node *nodes, const kg_node *node)
{
  int32_t of = node->child[0];
  const double multiple = multiple_of_pi(nodes, node, &of);
  if (multiple != 0.0) {
    fputs("circle_of_pi(", out);
    write_number(out, multiple);
    fputs(" * ", out);
  } else {
    fputs("circle(", out);
  }
  write_operand(out, nodes, of);
  fprintf(out, ", &angle).%s;\n", node->op == KG_OP_SIN ? "sine" : "cosine");
}

static bool is_circle(const kg_node *node)
{
  return node->op == KG_OP_SIN || node->op == KG_OP_COS;
}

/// Whether an expression has a sine or cosine: only then are the sizes of angles noted.
static bool has_circle(const kg_expression_builder *b)
{
  for (int32_t i = 0; i < b->n_nodes; ++i)
    if (is_circle(&b->nodes[i])) return true;
  return false;
}

static void write_operation(FILE *out, const kg_expression_builder *b, int32_t i)
{
  const kg_node *nodes = b->nodes, *node = &nodes[i];
  int32_t exponent;
  fprintf(out, "  const double v%d = ", (int)i);
  if (is_circle(node)) {
    write_circle(out, nodes, node);
    return;
  }
  if (kg_node_integer_power(nodes, node, &exponent)) {
    fputs("integer_power(", out);
    write_operand(out, nodes, node->child[0]);
    fprintf(out, ", %d);\n", (int)exponent);
    return;
  }
  for (const char *c = forms[node->op]; *c;) {
    const size_t n = kg_name_length(c);
    if (n == 1)
      write_operand(out, nodes, node->child[*c - 'a']);
    else
      fwrite(c, 1, n ? n : 1, out);
    c += n ? n : 1;
  }
  fputs(";\n", out);
}

static kedge_status check_length(const kg_expression_builder *b)
{
  int operations = 0;
  for (int32_t i = 0; i < b->n_nodes; ++i) operations += kg_ops_info[b->nodes[i].op].n_children > 0;
  KG_REQUIRE(b->ctx, operations <= KG_EMITTED_MAX, KEDGE_ERR_UNSUPPORTED,
             "more than %d operations take too long to compile for the GPU", KG_EMITTED_MAX);
  return KEDGE_OK;
}

static void write_function(FILE *out, const kg_expression_builder *b, int n_functions,
                           const int32_t *roots)
{
  const bool angles = has_circle(b);
  fputs(integer_power, out);
  fputs(
      "static __device__ void evaluate(double x, double y, double z, double region, double t, "
      "double *value)\n"
      "{\n",
      out);
  if (angles) fputs("  int angle = 0;\n", out);
  for (int32_t i = 0; i < b->n_nodes; ++i)
    if (kg_ops_info[b->nodes[i].op].n_children > 0) write_operation(out, b, i);
  for (int f = 0; f < n_functions; ++f) {
    fprintf(out, "  value[%d] = %s", f, angles && f == 0 ? "known(" : "");
    write_operand(out, b->nodes, roots[f]);
    fputs(angles && f == 0 ? ", angle);\n" : ";\n", out);
  }
  fputs("}\n", out);
}

kedge_status kg_functions_emit(kedge_context *ctx, int n_functions,
                               const kg_function *const *functions, char **text)
{
  *text = NULL;
  kg_expression_builder builder;
  int32_t *roots;
  FILE *out = NULL;
  size_t size;
  kedge_status status = kg_functions_gather(ctx, n_functions, functions, &builder, &roots);
  if (status == KEDGE_OK) status = check_length(&builder);
  if (status != KEDGE_OK) goto done;

  out = open_memstream(text, &size);
  if (out) write_function(out, &builder, n_functions, roots);
  status = kg_text_end(ctx, out, "the text of an expression", text);
done:
  free(roots);
  kg_builder_close(&builder);
  return status;
}
