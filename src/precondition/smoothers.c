#include <math.h>

#include "precondition/smoother.h"

const kg_smoother_table *kg_smoother_table_of(kedge_smoother kind)
{
  static const kg_smoother_table *const tables[] = {
      [KEDGE_SMOOTHER_EDGE] = &kg_smooth_edges, [KEDGE_SMOOTHER_LINE] = &kg_smooth_lines};
  return tables[kind];
}

double kg_smoother_estimate(kedge_smoother kind, int order, double alignment)
{
  const double share = kg_smoother_table_of(kind)->share[order < 5 ? 0 : 1];
  return share * fmax(2.0, 0.85 * (1.5 + 0.5 * alignment));
}
