#include "element_case.h"

#include "compare.h"

void element_create(element *e, const op_case *c, int32_t number)
{
  e->number = number;
  const int32_t *v = c->mesh->element_vertices + 3 * number;
  for (int l = 0; l < 3; ++l) {
    e->reversed[l] = v[l] > v[(l + 1) % 3];
    for (int k = 0; k < 2; ++k) e->corner[l][k] = c->mesh->vertices[2 * v[l] + k];
  }
  dense_create(&e->dense, c->size.order, (const double(*)[2])e->corner, c->material, e->reversed);
  e->tolerance = rounding(3 * c->size.n_modes) * e->dense.condition;
}

void element_take(const op_case *c, const op_data *data, op_array array, int32_t e, double *rows)
{
  const int n = op_lane_rows(c, array);
  for (int i = 0; i < n; ++i)
    rows[i] = data->array[array][((e / KG_LANES) * n + i) * KG_LANES + e % KG_LANES];
}

double element_area(const element *e)
{
  return 0.5 * ((e->corner[1][0] - e->corner[0][0]) * (e->corner[2][1] - e->corner[0][1]) -
                (e->corner[2][0] - e->corner[0][0]) * (e->corner[1][1] - e->corner[0][1]));
}

void element_take_solution(const op_case *c, const op_data *data, int32_t e, double *solution)
{
  element_take(c, data, OP_U, e, solution);
  element_take(c, data, OP_Q, e, solution + c->size.n_modes);
}
