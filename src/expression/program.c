// Evaluation costs one pass of a simple loop a node and block. The values of a block stay in the
// first two cache levels; every loop but those that call libm is vectorised. A point's value is the
// same bits wherever in a block it stands: each loop rounds once an operation.
#include "expression/program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "expression/expression_tree.h"

enum {
  BLOCK = 256,      // points
  SCRATCH = 10240,  // doubles on the stack; more than 40 registers shorten the block
};
static_assert(SCRATCH >= KG_EXPRESSION_NODES, "a block of one point must always fit");

static_assert((int)KG_OP_COUNT <= (int)KG_PROGRAM_COPY, "operations have numbers of their own");
enum { LARGEST_INTEGER_POWER = 32 };  // 8 roundings at most; beyond it pow() is better

typedef struct compiler {
  const kg_node *nodes;
  int32_t *place;     // [node]: its register
  int32_t *last_use;  // [node]: the last node that reads it
  int32_t *released;  // stack of free temporaries
  int32_t n_released;
  kg_program *program;
} compiler;

bool kg_node_integer_power(const kg_node *nodes, const kg_node *node, int32_t *exponent)
{
  if (node->op != KG_OP_POWER || nodes[node->child[1]].op != KG_OP_CONSTANT) return false;
  const double value = nodes[node->child[1]].value;
  if (!(fabs(value) <= LARGEST_INTEGER_POWER) || value != rint(value)) return false;
  *exponent = (int32_t)value;
  return true;
}

static bool is_operation(const kg_node *node)
{
  return kg_ops_info[node->op].n_children > 0;
}

/// Variables and constants get their registers; uses are noted.
static void place_leaves(compiler *c, int32_t n_nodes)
{
  kg_program *const p = c->program;
  for (int32_t i = 0; i < n_nodes; ++i) {
    const kg_node *node = &c->nodes[i];
    if (node->op == KG_OP_X) c->place[i] = 0;
    if (node->op == KG_OP_Y) c->place[i] = 1;
    if (node->op == KG_OP_REGION) c->place[i] = 2;
    if (node->op == KG_OP_Z) c->place[i] = 3;
    if (node->op == KG_OP_CONSTANT || node->op == KG_OP_T) {
      c->place[i] = KG_PROGRAM_VARIABLES + p->n_constants;
      if (node->op == KG_OP_T) p->time = p->n_constants;
      if (p->fields) p->fields[p->n_constants] = -1;
      p->constants[p->n_constants++] = node->value;
    }
    if (node->op == KG_OP_FIELD) {
      c->place[i] = KG_PROGRAM_VARIABLES + p->n_constants;
      p->fields[p->n_constants++] = (int32_t)node->value;
    }
    for (int k = 0; k < kg_ops_info[node->op].n_children; ++k) c->last_use[node->child[k]] = i;
  }
}

static void release_operands(compiler *c, int32_t i)
{
  const kg_node *node = &c->nodes[i];
  for (int k = 0; k < kg_ops_info[node->op].n_children; ++k) {
    const int32_t child = node->child[k];
    if (!is_operation(&c->nodes[child]) || c->last_use[child] != i || c->place[child] < 0) continue;
    c->last_use[child] = -1;  // a * a releases once
    c->released[c->n_released++] = c->place[child];
  }
}

/// @param[in] result  of the program that node i is; -1: none
static void emit(compiler *c, int32_t i, int32_t result)
{
  const kg_node *node = &c->nodes[i];
  kg_program *const p = c->program;
  kg_instruction in = {.op = (int32_t)node->op};
  for (int k = 0; k < kg_ops_info[node->op].n_children; ++k)
    in.operand[k] = c->place[node->child[k]];
  if (kg_node_integer_power(c->nodes, node, &in.exponent)) in.op = KG_PROGRAM_INTEGER_POWER;
  release_operands(c, i);  // the result may take the place of an operand
  if (result >= 0)
    in.result = -1 - result;
  else if (c->n_released > 0)
    in.result = c->released[--c->n_released];
  else
    in.result = KG_PROGRAM_VARIABLES + p->n_constants + p->n_temporaries++;
  c->place[i] = in.result;
  p->instructions[p->n_instructions++] = in;
}

static int32_t result_of(int32_t node, const int32_t *roots, int32_t n_results)
{
  for (int32_t f = 0; f < n_results; ++f)
    if (roots[f] == node) return f;
  return -1;
}

/// Results that are a variable, a constant, or another result.
static void emit_copies(compiler *c, const int32_t *roots)
{
  kg_program *const p = c->program;
  for (int32_t f = 0; f < p->n_results; ++f)
    if (c->place[roots[f]] != -1 - f)
      p->instructions[p->n_instructions++] = (kg_instruction){
          .op = KG_PROGRAM_COPY, .result = -1 - f, .operand = {c->place[roots[f]]}};
}

static bool has_fields(const kg_node *nodes, int32_t n_nodes)
{
  for (int32_t i = 0; i < n_nodes; ++i)
    if (nodes[i].op == KG_OP_FIELD) return true;
  return false;
}

kedge_status kg_program_compile(kedge_context *ctx, const struct kg_node *nodes, int32_t n_nodes,
                                const int32_t *roots, int32_t n_results, kg_program *out)
{
  *out = (kg_program){.n_results = n_results, .time = -1};
  const size_t n_most = (size_t)n_nodes + (size_t)n_results;
  int32_t *work = NULL;
  kedge_status status = kg_host_alloc(ctx, (size_t)n_nodes, 3 * sizeof *work, &work);
  if (status == KEDGE_OK)
    status = kg_host_alloc(ctx, n_most, sizeof *out->instructions, &out->instructions);
  if (status == KEDGE_OK)
    status = kg_host_alloc(ctx, (size_t)n_nodes, sizeof *out->constants, &out->constants);
  if (status == KEDGE_OK && has_fields(nodes, n_nodes))
    status = kg_host_alloc(ctx, (size_t)n_nodes, sizeof *out->fields, &out->fields);
  if (status != KEDGE_OK) goto done;

  compiler c = {nodes, work, work + n_nodes, work + 2 * n_nodes, 0, out};
  place_leaves(&c, n_nodes);
  for (int32_t i = 0; i < n_nodes; ++i)
    if (is_operation(&nodes[i])) emit(&c, i, result_of(i, roots, n_results));
  emit_copies(&c, roots);
done:
  free(work);
  if (status != KEDGE_OK) kg_program_free(out);
  return status;
}

void kg_program_free(kg_program *program)
{
  free(program->instructions);
  free(program->constants);
  free(program->fields);
  *program = (kg_program){0};
}

/// r = a^k by squaring; r may be a.
static void integer_power(size_t n, const double *a, int k, double *r)
{
  double square[BLOCK];
  unsigned bits = (unsigned)abs(k);
  bool first = true;
  for (size_t i = 0; i < n; ++i) square[i] = a[i];
  for (; bits != 0; bits >>= 1) {
    if (bits & 1) {
      if (first)
        for (size_t i = 0; i < n; ++i) r[i] = square[i];
      else
        for (size_t i = 0; i < n; ++i) r[i] *= square[i];
      first = false;
    }
    if (bits > 1)
      for (size_t i = 0; i < n; ++i) square[i] *= square[i];
  }
  if (first)
    for (size_t i = 0; i < n; ++i) r[i] = 1.0;
  if (k < 0)
    for (size_t i = 0; i < n; ++i) r[i] = 1.0 / r[i];
}

// The result may stand in the place of an operand, exactly: no iteration reads what another wrote.
#define LOOP(name, children, word, formula)               \
  case KG_OP_##name:                                      \
    _Pragma("GCC ivdep") for (size_t i = 0; i < n; ++i)   \
    {                                                     \
      const double a = o[0][i], b = o[1][i], c = o[2][i]; \
      (void)b, (void)c;                                   \
      r[i] = (formula);                                   \
    }                                                     \
    break;

/// @param[in] o  the operands; those beyond the operation's own may be any
static void execute(const kg_instruction *in, size_t n, const double *const *o, double *r)
{
  switch (in->op) {
    KG_OPERATIONS(LOOP)
    case KG_PROGRAM_COPY:
      memmove(r, o[0], n * sizeof *r);
      break;
    case KG_PROGRAM_INTEGER_POWER:
      integer_power(n, o[0], in->exponent, r);
      break;
  }
}

/// The registers of a block of points.
typedef struct block_registers {
  const double *variable[KG_PROGRAM_VARIABLES];
  double *own;    // constants and temporaries, [register][size]
  double *value;  // [result][stride]
  size_t size, stride;
} block_registers;

static double *result_at(const block_registers *b, int32_t number)
{
  return number < 0 ? b->value + (size_t)(-1 - number) * b->stride
                    : b->own + (size_t)(number - KG_PROGRAM_VARIABLES) * b->size;
}

static const double *operand_at(const block_registers *b, int32_t number)
{
  return number >= 0 && number < KG_PROGRAM_VARIABLES ? b->variable[number] : result_at(b, number);
}

/// Whether a register of the constants is that of a field.
static bool is_field(const kg_program *p, int32_t k)
{
  return p->fields && p->fields[k] >= 0;
}

/// Copy `count` values of fields from a point on into their registers.
static void put_fields(const kg_program *p, const double *const *fields, size_t start, size_t count,
                       size_t block, double *registers)
{
  for (int32_t k = 0; p->fields && k < p->n_constants; ++k)
    if (is_field(p, k))
      memcpy(registers + (size_t)k * block, fields[p->fields[k]] + start,
             count * sizeof *registers);
}

void kg_program_run(const kg_program *p, const kedge_points *points, const double *const *fields,
                    double *value)
{
  const size_t n = points->n;
  static const double plane[BLOCK];  // z of points that have none
  double registers[SCRATCH] __attribute__((aligned(64)));
  const size_t n_registers = (size_t)(p->n_constants + p->n_temporaries);
  size_t block = n_registers * BLOCK <= SCRATCH ? BLOCK : SCRATCH / n_registers;
  if (block > 8) block -= block % 8;
  for (int32_t k = 0; k < p->n_constants; ++k)
    for (size_t i = 0; i < block && i < n && !is_field(p, k); ++i)
      registers[(size_t)k * block + i] = k == p->time ? points->t : p->constants[k];

  for (size_t start = 0; start < n; start += block) {
    const size_t count = n - start < block ? n - start : block;
    put_fields(p, fields, start, count, block, registers);
    const block_registers at = {
        {points->x + start, points->y + start, points->region ? points->region + start : NULL,
         points->z ? points->z + start : plane},
        registers,
        value + start,
        block,
        n};
    for (int32_t k = 0; k < p->n_instructions; ++k) {
      const kg_instruction *in = &p->instructions[k];
      const double *o[3];
      for (int j = 0; j < 3; ++j) o[j] = operand_at(&at, in->operand[j]);
      execute(in, count, o, result_at(&at, in->result));
    }
  }
}
