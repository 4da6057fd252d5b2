#include "expression/expression_tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { SLOTS = 32768 };  // a power of two, more than three times KG_EXPRESSION_NODES

#define INFO(name, children, word_, formula) [KG_OP_##name] = {children, word_},
const kg_op_info kg_ops_info[KG_OP_COUNT] = {[KG_OP_CONSTANT] = {0, ""},     [KG_OP_X] = {0, "x"},
                                             [KG_OP_Y] = {0, "y"},           [KG_OP_Z] = {0, "z"},
                                             [KG_OP_REGION] = {0, "region"}, [KG_OP_T] = {0, "t"},
                                             [KG_OP_FIELD] = {0, ""},        KG_OPERATIONS(INFO)};

#define CASE(name, children, word, formula) \
  case KG_OP_##name:                        \
    return formula;

double kg_op_apply(kg_op op, double a, double b, double c)
{
  switch (op) {
    KG_OPERATIONS(CASE)
    default:
      return NAN;  // constants and variables are no operations
  }
}

static uint64_t hash(const kg_node *node)
{
  uint64_t bits, h = (uint64_t)node->op;
  memcpy(&bits, &node->value, sizeof bits);
  const uint64_t words[4] = {bits, (uint64_t)node->child[0], (uint64_t)node->child[1],
                             (uint64_t)node->child[2]};
  for (int i = 0; i < 4; ++i) {
    h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

/// Bits, not values, of a constant are compared: 0 and -0 are two nodes.
static bool same(const kg_node *a, const kg_node *b)
{
  return a->op == b->op && a->child[0] == b->child[0] && a->child[1] == b->child[1] &&
         a->child[2] == b->child[2] && memcmp(&a->value, &b->value, sizeof a->value) == 0;
}

/// The slot that holds the node, or the free one where it belongs.
static uint64_t slot_of(const kg_expression_builder *b, const kg_node *node)
{
  uint64_t slot = hash(node) % SLOTS;
  while (b->slots[slot] >= 0 && !same(&b->nodes[b->slots[slot]], node)) slot = (slot + 1) % SLOTS;
  return slot;
}

int32_t kg_builder_find(const kg_expression_builder *b, const kg_node *node)
{
  return b->slots[slot_of(b, node)];
}

int32_t kg_builder_intern(kg_expression_builder *b, kg_node node)
{
  const uint64_t slot = slot_of(b, &node);
  if (b->slots[slot] >= 0) return b->slots[slot];
  if (b->n_nodes == KG_EXPRESSION_NODES) {
    b->full = true;
    return 0;
  }
  b->nodes[b->n_nodes] = node;
  b->slots[slot] = b->n_nodes;
  return b->n_nodes++;
}

kedge_status kg_builder_open(kedge_context *ctx, kg_expression_builder *b)
{
  *b = (kg_expression_builder){.ctx = ctx};
  KG_TRY(kg_host_alloc(ctx, KG_EXPRESSION_NODES, sizeof *b->nodes, &b->nodes));
  KG_TRY(kg_host_alloc(ctx, SLOTS, sizeof *b->slots, &b->slots));
  memset(b->slots, 0xff, SLOTS * sizeof *b->slots);
  kg_builder_intern(b, (kg_node){.op = KG_OP_CONSTANT});
  return KEDGE_OK;
}

void kg_builder_close(kg_expression_builder *b)
{
  free(b->nodes);
  free(b->slots);
  *b = (kg_expression_builder){0};
}

void kg_expression_free(kg_expression *e)
{
  if (e == NULL) return;
  free(e->nodes);
  kg_program_free(&e->program);
  free(e);
}

bool kg_expression_uses(const kg_expression *e, kg_op variable)
{
  for (int32_t i = 0; i < e->n_nodes; ++i)
    if (e->nodes[i].op == variable) return true;
  return false;
}

static bool jumps(kg_op op)
{
  switch (op) {
    case KG_OP_EQUAL:
    case KG_OP_UNEQUAL:
    case KG_OP_LESS:
    case KG_OP_LESS_EQUAL:
    case KG_OP_GREATER:
    case KG_OP_GREATER_EQUAL:
    case KG_OP_FLOOR:
    case KG_OP_CEIL:
    case KG_OP_ROUND:
    case KG_OP_SIGN:
    case KG_OP_STEP:
    case KG_OP_MOD:
      return true;
    default:
      return false;
  }
}

enum { TIME = 1, PLACE = 2 };

/// @param[in] has  [n_nodes]: room for what is below each node
static bool finds_jump(const kg_expression *e, bool in_space, unsigned char *has)
{
  for (int32_t i = 0; i < e->n_nodes; ++i) {
    const kg_node *const n = &e->nodes[i];
    has[i] = n->op == KG_OP_T ? TIME : kg_is_variable(n->op) && n->op != KG_OP_REGION ? PLACE : 0;
    for (int c = 0; c < kg_ops_info[n->op].n_children; ++c) has[i] |= has[n->child[c]];
    if (in_space && (jumps(n->op) || n->op == KG_OP_ATAN2) && (has[i] & PLACE)) return true;
    if (!in_space && jumps(n->op) && has[i] == TIME) return true;
  }
  return false;
}

bool kg_expression_jumps_in_time(const kg_expression *e)
{
  unsigned char *const has = kg_expression_uses(e, KG_OP_T) ? malloc((size_t)e->n_nodes) : NULL;
  const bool found = has && finds_jump(e, false, has);
  free(has);
  return found;
}

unsigned kg_expression_fields(const kg_expression *e)
{
  unsigned fields = 0;
  for (int32_t i = 0; i < e->n_nodes; ++i)
    if (e->nodes[i].op == KG_OP_FIELD) fields |= 1u << (int)e->nodes[i].value;
  return fields;
}

bool kg_expression_constant(const kg_expression *e, double *value)
{
  for (int32_t i = 0; i < e->n_nodes; ++i)
    if (kg_is_variable(e->nodes[i].op)) return false;
  const double zero = 0.0;
  kg_expression_evaluate(e, &(kedge_points){.n = 1, .x = &zero, .y = &zero, .z = &zero}, value);
  return true;
}

void kg_expression_evaluate(const kg_expression *e, const kedge_points *points, double *value)
{
  kg_program_run(&e->program, points, NULL, value);
}

void kg_expression_evaluate_fields(const kg_expression *e, const kedge_points *points,
                                   const double *const *fields, double *value)
{
  kg_program_run(&e->program, points, fields, value);
}

kedge_status kg_builder_import(kg_expression_builder *b, const kg_expression *e, int32_t *root)
{
  int32_t *number;  // [node of e]: node of b
  KG_TRY(kg_host_alloc(b->ctx, (size_t)e->n_nodes, sizeof *number, &number));
  for (int32_t i = 0; i < e->n_nodes; ++i) {
    kg_node node = e->nodes[i];
    for (int k = 0; k < kg_ops_info[node.op].n_children; ++k) node.child[k] = number[node.child[k]];
    number[i] = kg_builder_intern(b, node);
  }
  *root = number[e->n_nodes - 1];
  free(number);
  return KEDGE_OK;
}

/// Registers a subtree needs when its children are evaluated the neediest first, as if nothing
/// were shared.
static int32_t registers_needed(const kg_node *node, const int32_t *need)
{
  int32_t most = 1, children[3] = {0};
  const int n = kg_ops_info[node->op].n_children;
  for (int k = 0; k < n; ++k) {
    const int32_t mine = need[node->child[k]];
    int at = k;
    for (; at > 0 && children[at - 1] < mine; --at) children[at] = children[at - 1];
    children[at] = mine;
  }
  for (int k = 0; k < n; ++k)
    if (children[k] + k > most) most = children[k] + k;
  return most;
}

/// The unvisited child that needs most registers, -1: none.
static int32_t next_child(const kg_node *node, const int32_t *need, const int32_t *number)
{
  int32_t best = -1;
  for (int k = 0; k < kg_ops_info[node->op].n_children; ++k) {
    const int32_t child = node->child[k];
    if (number[child] < 0 && (best < 0 || need[child] > need[best])) best = child;
  }
  return best;
}

/// Copy what is under `root` into e, children first, the neediest child first.
static void copy_in_order(const kg_expression_builder *b, int32_t root, int32_t *work,
                          kg_expression *e)
{
  int32_t *const need = work, *const number = work + b->n_nodes, *const stack = number + b->n_nodes;
  for (int32_t i = 0; i <= root; ++i) {
    need[i] = registers_needed(&b->nodes[i], need);
    number[i] = -1;
  }
  int32_t depth = 0;
  stack[depth++] = root;
  while (depth > 0) {
    const int32_t i = stack[depth - 1];
    const int32_t child = next_child(&b->nodes[i], need, number);
    if (child >= 0) {
      stack[depth++] = child;  // never one that is on the stack already: there are no cycles
      continue;
    }
    --depth;
    kg_node node = b->nodes[i];
    for (int k = 0; k < kg_ops_info[node.op].n_children; ++k) node.child[k] = number[node.child[k]];
    e->nodes[e->n_nodes] = node;
    number[i] = e->n_nodes++;
  }
}

kedge_status kg_builder_finish(kg_expression_builder *b, int32_t root, const char *what,
                               kg_expression **out)
{
  KG_REQUIRE(b->ctx, !b->full, KEDGE_ERR_INPUT,
             "%s needs more than %d terms and operations; write it more simply, or pass a function "
             "through the C API",
             what, KG_EXPRESSION_NODES);
  kg_expression *e = NULL;
  int32_t *work = NULL;
  kedge_status status = kg_host_calloc(b->ctx, 1, sizeof *e, &e);
  if (status == KEDGE_OK)
    status = kg_host_alloc(b->ctx, (size_t)b->n_nodes, 3 * sizeof *work, &work);
  if (status == KEDGE_OK)
    status = kg_host_alloc(b->ctx, (size_t)b->n_nodes, sizeof *e->nodes, &e->nodes);
  if (status != KEDGE_OK) goto done;
  copy_in_order(b, root, work, e);
  e->may_jump = finds_jump(e, true, (unsigned char *)work);
  const int32_t last = e->n_nodes - 1;
  status = kg_program_compile(b->ctx, e->nodes, e->n_nodes, &last, 1, &e->program);
done:
  free(work);
  if (status != KEDGE_OK) kg_expression_free(e), e = NULL;
  *out = e;
  return status;
}
