// How large the arrays of operations are, and what goes into the first of them.
#include <stdlib.h>

#include "operations.h"
#include "ops/sample/points.h"

int op_lane_rows(const op_case *c, op_array array)
{
  const kg_sizes z = c->size;
  switch (array) {
    case OP_SOURCE:
      return kg_rule_points(c->size.order);
    case OP_EXACT:
      return 3 * c->sampling.n;
    case OP_LOAD:
    case OP_U:
      return z.n_modes;
    case OP_LOCAL:
      return z.n_packed;
    case OP_CONDENSED:
      return z.n_trace;
    case OP_Q:
      return 2 * z.n_modes;
    case OP_U_STAR:
      return z.n_star;
    case OP_INDICATOR:
      return 1;
    case OP_CONSTANT:
      return 3;
    default:
      return 0;
  }
}

size_t op_count(const op_case *c, op_array array)
{
  const kg_trace_counts *n = &c->layout.count;
  const size_t m = (size_t)c->size.n_edge;
  switch (array) {
    case OP_TRACE:
    case OP_P:
    case OP_X_NEXT:
    case OP_P_NEXT:
      return (size_t)n->n_edges * m;
    case OP_RHS:
    case OP_INVERSE:
    case OP_PRODUCT:
    case OP_OPEN:
    case OP_Z:
    case OP_Z_NEXT:
    case OP_Z_OPEN:
      return (size_t)n->n_free * m;
    case OP_PRODUCT_STATE:
    case OP_START_STATE:
    case OP_UPDATE_STATE:
    case OP_OPEN_STATE:
    case OP_DIRECTION_STATE:
      return STATE_NUMBERS;
    case OP_HALO:
      return (size_t)n->n_shared * m;
    case OP_ERRORS:
      return 4 * (size_t)n->n_groups;
    default:
      return (size_t)op_lane_rows(c, array) * KG_LANES * (size_t)n->n_groups;
  }
}

void op_repeat_last(const op_case *c, op_array array, double *values)
{
  const int rows = op_lane_rows(c, array);
  const int32_t n = c->layout.count.n_elements, group = c->layout.count.n_groups - 1;
  const int32_t last = n - 1 - group * KG_LANES;
  for (int row = 0; row < rows; ++row) {
    double *of_row = values + ((size_t)group * (size_t)rows + (size_t)row) * KG_LANES;
    for (int lane = last + 1; lane < KG_LANES; ++lane) of_row[lane] = of_row[last];
  }
}

void op_inputs(const op_case *c, op_data *data)
{
  const op_array inputs[] = {OP_SOURCE, OP_EXACT, OP_TRACE};
  *data = (op_data){0};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; ++i) {
    data->array[inputs[i]] = case_randoms(100 + i, op_count(c, inputs[i]));
    op_repeat_last(c, inputs[i], data->array[inputs[i]]);
  }
}

void op_free(op_data *data)
{
  for (int i = 0; i < OP_ARRAYS; ++i) free(data->array[i]);
  *data = (op_data){0};
}
