#include "problem/expression_text.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/number.h"
#include "expression/expression_tree.h"

enum { LONGEST_TEXT = 1 << 24 };  // a tree shared often can be very long as text

/// How tightly an operation binds; grammar.c from the outside in.
enum { CHOICE, COMPARISON, SUM, PRODUCT, SIGN, POWER, PRIMARY };

/// A node that must bind at least as tightly as `least`, or, when word is set, a piece of text.
typedef struct item {
  const char *word;
  int32_t node;
  int least;
} item;

typedef struct printer {
  const kg_node *nodes;
  char *text;
  size_t size;
  int length;
  item *stack;  ///< what is still to be printed, the next on top
  int32_t depth;
} printer;

static int binding(const kg_node *node)
{
  switch (node->op) {
    case KG_OP_CONSTANT:
      return signbit(node->value) ? SIGN : PRIMARY;
    case KG_OP_CHOOSE:
      return CHOICE;
    case KG_OP_EQUAL:
    case KG_OP_UNEQUAL:
    case KG_OP_LESS:
    case KG_OP_LESS_EQUAL:
    case KG_OP_GREATER:
    case KG_OP_GREATER_EQUAL:
      return COMPARISON;
    case KG_OP_ADD:
    case KG_OP_SUBTRACT:
      return SUM;
    case KG_OP_MULTIPLY:
    case KG_OP_DIVIDE:
      return PRODUCT;
    case KG_OP_NEGATE:
      return SIGN;
    case KG_OP_POWER:
      return POWER;
    default:
      return PRIMARY;
  }
}

static void put(printer *p, const char *word)
{
  for (; *word; ++word, ++p->length)
    if ((size_t)p->length + 1 < p->size) p->text[p->length] = *word;
}

static void push(printer *p, const char *word)
{
  p->stack[p->depth++] = (item){.word = word};
}

static void push_node(printer *p, int32_t node, int least)
{
  p->stack[p->depth++] = (item){.node = node, .least = least};
}

static void push_infix(printer *p, const kg_node *n, int left, int right)
{
  push_node(p, n->child[1], right);
  push(p, kg_ops_info[n->op].word);
  push_node(p, n->child[0], left);
}

static void push_call(printer *p, const kg_node *n)
{
  push(p, ")");
  for (int k = kg_ops_info[n->op].n_children - 1; k >= 0; --k) {
    push_node(p, n->child[k], CHOICE);
    if (k > 0) push(p, ",");
  }
  push(p, "(");
  push(p, kg_ops_info[n->op].word);
}

/// Replace a node by its pieces, the last one pushed first.
static void expand(printer *p, item top)
{
  const kg_node *n = &p->nodes[top.node];
  const int mine = binding(n);
  if (mine < top.least) {
    push(p, ")");
    push_node(p, top.node, CHOICE);
    push(p, "(");
    return;
  }
  switch (mine) {
    case CHOICE:
      push_node(p, n->child[2], CHOICE);
      push(p, ":");
      push_node(p, n->child[1], CHOICE);
      push(p, "?");
      push_node(p, n->child[0], COMPARISON);
      break;
    case COMPARISON:
      push_infix(p, n, SUM, SUM);
      break;
    case SUM:
      push_infix(p, n, SUM, PRODUCT);
      break;
    case PRODUCT:
      push_infix(p, n, PRODUCT, SIGN);
      break;
    case SIGN:
      push_node(p, n->child[0], SIGN);
      push(p, "-");
      break;
    case POWER:
      push_infix(p, n, PRIMARY, SIGN);
      break;
    default:
      push_call(p, n);
  }
}

int expression_print(const kg_expression *e, char *text, size_t size)
{
  // A node becomes at most 6 items, and a level of the tree leaves at most 5 of them waiting.
  printer p = {.nodes = e->nodes, .text = text, .size = size};
  if (kg_host_alloc(NULL, (size_t)e->n_nodes * 8 + 8, sizeof *p.stack, &p.stack) != KEDGE_OK)
    return -1;
  push_node(&p, e->n_nodes - 1, CHOICE);
  while (p.depth > 0 && p.length < LONGEST_TEXT) {
    const item top = p.stack[--p.depth];
    const kg_node *n = &p.nodes[top.node];
    if (top.word) {
      put(&p, top.word);
    } else if (n->op == KG_OP_CONSTANT && binding(n) >= top.least) {
      char digits[32];
      kg_number_print(digits, n->value);
      put(&p, digits);
    } else if (kg_ops_info[n->op].n_children == 0 && n->op != KG_OP_CONSTANT) {
      put(&p, kg_ops_info[n->op].word);
    } else {
      expand(&p, top);
    }
  }
  free(p.stack);
  if (size > 0) text[(size_t)p.length < size ? (size_t)p.length : size - 1] = '\0';
  return p.depth == 0 ? p.length : -1;
}

kedge_status expression_parse(kedge_context *ctx, const char *text, const kg_constant *constants,
                              int n_constants, kg_expression **out)
{
  kg_syntax_error error;
  const kedge_status status = kg_expression_parse(ctx, text, constants, n_constants, &error, out);
  if (error.what[0] == '\0') return status;
  int lines;
  const int column = kg_text_column(text, error.offset, &lines);
  const char *const colon = error.hint[0] ? ": " : "";
  if (lines == 0)
    return KG_FAIL(ctx, status, "%s at column %d%s%s", error.what, column, colon, error.hint);
  return KG_FAIL(ctx, status, "%s at line %d, column %d%s%s", error.what, lines + 1, column, colon,
                 error.hint);
}
