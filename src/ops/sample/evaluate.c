#include "ops/sample/evaluate.h"

#include <string.h>

#include "core/error.h"
#include "expression/expression_tree.h"

_Static_assert(sizeof(kg_point_code) <= 3600, "room for the other arguments of the kernel");

enum { REGION = 2, Z };  ///< registers of variables

/// Operands that an operation does not have are register 0.
static bool reads(const kg_program *p, int32_t variable)
{
  for (int32_t k = 0; k < p->n_instructions; ++k)
    for (int j = 0; j < 3; ++j)
      if (p->instructions[k].operand[j] == variable) return true;
  return false;
}

/// Rows are variables, temporaries, results.
static int row_of(const kg_program *p, int n_variables, int32_t number)
{
  if (number < 0) return n_variables + p->n_temporaries - 1 - number;
  if (number < KG_PROGRAM_VARIABLES) return number;
  const int32_t own = number - KG_PROGRAM_VARIABLES;
  return own < p->n_constants ? KG_CODE_ROWS + own : n_variables + own - p->n_constants;
}

static bool writes(const kg_code_instruction *in, int row)
{
  return in->result == row || (in->op == KG_CODE_CIRCLE && in->operand[1] == row);
}

/// Whether instruction i may do what a later one, j, does: both are of one angle, and nobody needs
/// what is in the place of j's result until then.
static bool is_pair(const kg_point_code *code, int i, int j)
{
  const kg_code_instruction *const all = code->instruction, *const a = all + i, *const b = all + j;
  const bool ops =
      (a->op == KG_OP_SIN && b->op == KG_OP_COS) || (a->op == KG_OP_COS && b->op == KG_OP_SIN);
  bool pair = ops && a->operand[0] == b->operand[0];
  for (int k = i; pair && k < j; ++k) {
    pair = !writes(&all[k], a->operand[0]) && !writes(&all[k], b->result);
    for (int o = 0; pair && k > i && o < 3; ++o) pair = all[k].operand[o] != b->result;
  }
  return pair;
}

/// Have sines and cosines of the same angle made together. A code has KG_CODE_INSTRUCTIONS at most,
/// so that all their pairs are few.
static void make_pairs(kg_point_code *code)
{
  kg_code_instruction *const all = code->instruction;
  for (int i = 0; i < code->n_instructions; ++i)
    for (int j = i + 1; j < code->n_instructions; ++j) {
      if (!is_pair(code, i, j)) continue;
      const bool sine_first = all[i].op == KG_OP_SIN;
      const uint8_t rows[] = {all[i].result, all[j].result};
      all[i].op = KG_CODE_CIRCLE;
      all[i].result = rows[sine_first ? 0 : 1];
      all[i].operand[1] = rows[sine_first ? 1 : 0];
      --code->n_instructions;
      memmove(all + j, all + j + 1, (size_t)(code->n_instructions - j) * sizeof *all);
    }
}

kedge_status kg_point_code_of(kedge_context *ctx, const kg_program *p, int rows, kg_point_code *out)
{
  const bool reads_region = reads(p, REGION), reads_z = reads(p, Z);
  const int variables = reads_z ? Z + 1 : reads_region ? REGION + 1 : REGION;
  *out = (kg_point_code){.n_instructions = p->n_instructions,
                         .n_rows = variables + p->n_temporaries + p->n_results,
                         .n_results = p->n_results,
                         .reads_region = reads_region,
                         .reads_z = reads_z,
                         .time = p->time};
  KG_REQUIRE(ctx,
             p->n_instructions <= KG_CODE_INSTRUCTIONS && p->n_constants <= KG_CODE_CONSTANTS &&
                 out->n_rows <= rows,
             KEDGE_ERR_UNSUPPORTED,
             "more than %d operations, %d constants or %d values of a point are too many to "
             "interpret on this GPU",
             KG_CODE_INSTRUCTIONS, KG_CODE_CONSTANTS, rows);
  for (int32_t k = 0; k < p->n_constants; ++k) out->constant[k] = p->constants[k];
  for (int32_t k = 0; k < p->n_instructions; ++k) {
    const kg_instruction *from = &p->instructions[k];
    kg_code_instruction *to = &out->instruction[k];
    to->op = (uint8_t)from->op;
    to->exponent = (int8_t)from->exponent;
    to->result = (uint8_t)row_of(p, variables, from->result);
    for (int j = 0; j < 3; ++j) to->operand[j] = (uint8_t)row_of(p, variables, from->operand[j]);
  }
  make_pairs(out);
  return KEDGE_OK;
}

void kg_point_code_set_time(kg_point_code *code, double t)
{
  if (code->time >= 0) code->constant[code->time] = t;
}

kg_cost kg_evaluate_cost(int n_results, double operations, int n_points, int64_t n_elements)
{
  const double points = (double)n_points * (double)n_elements;
  return (kg_cost){.bytes = 8.0 * n_results * points, .flops = operations * points};
}
