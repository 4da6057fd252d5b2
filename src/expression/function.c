#include "expression/function.h"

#include <stdlib.h>

#include "core/memory.h"
#include "expression/expression_tree.h"

void kg_function_evaluate(const kg_function *f, const kedge_points *points, double *value)
{
  switch (f->kind) {
    case KG_FUNCTION_EXPRESSION:
      kg_expression_evaluate(f->expression, points, value);
      return;
    case KG_FUNCTION_CALLER:
      f->function(f->user, points, value);
      return;
    default:
      break;
  }
  const double constant = f->kind == KG_FUNCTION_CONSTANT ? f->constant : 0.0;
  for (size_t i = 0; i < points->n; ++i) value[i] = constant;
}

bool kg_function_uses_region(const kg_function *f)
{
  return f->kind == KG_FUNCTION_EXPRESSION && kg_expression_uses(f->expression, KG_OP_REGION);
}

bool kg_function_varies(const kg_function *f)
{
  if (f->kind != KG_FUNCTION_EXPRESSION) return f->kind == KG_FUNCTION_CALLER;
  return kg_expression_uses(f->expression, KG_OP_X) || kg_expression_uses(f->expression, KG_OP_Y);
}

kedge_status kg_functions_gather(kedge_context *ctx, int n_functions,
                                 const kg_function *const *functions, kg_expression_builder *b,
                                 int32_t **out)
{
  *out = NULL;
  KG_TRY(kg_builder_open(ctx, b));
  KG_TRY(kg_host_alloc(ctx, (size_t)n_functions, sizeof **out, out));
  int32_t *const roots = *out;
  for (int f = 0; f < n_functions; ++f) {
    const kg_function *function = functions[f];
    KG_REQUIRE(b->ctx, function->kind != KG_FUNCTION_CALLER, KEDGE_ERR_UNSUPPORTED,
               "a function of the calling program cannot be evaluated on the GPU");
    if (function->kind == KG_FUNCTION_EXPRESSION)
      KG_TRY(kg_builder_import(b, function->expression, &roots[f]));
    else
      roots[f] = kg_builder_intern(
          b, (kg_node){.op = KG_OP_CONSTANT,
                       .value = function->kind == KG_FUNCTION_NONE ? 0.0 : function->constant});
  }
  KG_REQUIRE(b->ctx, !b->full, KEDGE_ERR_UNSUPPORTED,
             "more than %d terms and operations are too many for the GPU", KG_EXPRESSION_NODES);
  return KEDGE_OK;
}

int kg_functions_operations(int n_functions, const kg_function *const *functions)
{
  int operations = 0;
  for (int f = 0; f < n_functions; ++f)
    if (functions[f]->kind == KG_FUNCTION_EXPRESSION)
      operations += functions[f]->expression->program.n_instructions;
  return operations;
}

kedge_status kg_functions_compile(kedge_context *ctx, int n_functions,
                                  const kg_function *const *functions, kg_program *program)
{
  *program = (kg_program){0};
  kg_expression_builder builder;
  int32_t *roots;
  kedge_status status = kg_functions_gather(ctx, n_functions, functions, &builder, &roots);
  if (status == KEDGE_OK)
    status = kg_program_compile(ctx, builder.nodes, builder.n_nodes, roots, n_functions, program);
  free(roots);
  kg_builder_close(&builder);
  return status;
}
