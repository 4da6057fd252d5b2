#include <stdlib.h>

#include "expression/expression_tree.h"

int kg_text_column(const char *text, size_t offset, int *lines_before)
{
  int column = 1, lines = 0;
  for (size_t i = 0; i < offset && text[i] != '\0'; ++i) {
    if (text[i] == '\n') {
      column = 1;
      ++lines;
    } else if (((unsigned char)text[i + 1] & 0xc0) != 0x80) {
      ++column;  // bytes within a character of UTF-8 do not count
    }
  }
  if (lines_before) *lines_before = lines;
  return column;
}

void kg_expression_free(kg_expression *e)
{
  if (e == NULL) return;
  free(e->nodes);
  kg_program_free(&e->program);
  free(e);
}

bool kg_expression_constant(const kg_expression *e, double *value)
{
  for (int32_t i = 0; i < e->n_nodes; ++i)
    if (e->nodes[i].op == KG_OP_X || e->nodes[i].op == KG_OP_Y) return false;
  const double zero = 0.0;
  kg_expression_evaluate(e, 1, &zero, &zero, value);
  return true;
}

void kg_expression_evaluate(const kg_expression *e, size_t n, const double *x, const double *y,
                            double *value)
{
  kg_program_run(&e->program, n, x, y, value);
}
