// Dispatch, loops of the host and costs of the operators by quadrature: what each does with an
// element is in its header, for host and GPU.
#include "ops/local/quadrature/errors.h"
#include "ops/local/quadrature/loads.h"
#include "ops/local/quadrature/make.h"
#include "ops/local/quadrature/means.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"
#include "ops/local/quadrature/robin.h"
#include "ops/local/quadrature/team_run.h"

/// Bytes of nodes, of which straight elements share vertices, about one an element.
static double node_bytes(const kg_cell_points *points)
{
  return points->geometry == 1 ? 4.0 * points->n_nodes + 16.0 : 16.0 * points->n_nodes;
}

static double value_bytes(const kg_cell_tables *t, const kg_cell_material *material)
{
  const double reaction = material->reaction != 0.0 ? t->points.n : 0.0;
  return material->values ? 8.0 * (3.0 * kg_cell_value_points(t, material) + reaction) : 0.0;
}

/// Operations of a point that make its part in the geometry.
static double point_flops(const kg_cell_points *points)
{
  return 60.0 + 12.0 * (points->n_nodes - points->size.n_facets);
}

/// Operations that the exact flux takes in place of the `rows` rows of the sum over points: the
/// mass matrix, its inverse, and products, in which most of B is zero on quadrilaterals.
static double exact_flops(const kg_cell_tables *t, double rows)
{
  const double S = t->size.n_flux, column = t->size.n_facets == 4 ? t->size.order + 2 : S;
  return t->points.n * S * (S + 1) + S * S * S + rows * (2 * S * column + S * (rows + 1));
}

KG_TEAM_OPERATOR(kg_cell_make, kg_cell_make_things(args),
                 kg_cell_make_scratch(&args->cells.tables, &args->material), kg_cell_make_lane)

kg_cost kg_cell_make_cost(const kg_cell_tables *t, const kg_cell_material *material,
                          int64_t n_elements)
{
  const kg_cell_sizes *size = &t->size;
  const double N = size->n_modes, n = size->n_trace, p = N + n, V = size->n_facets;
  const double points = t->points.n;
  const double flux = material->exact ? exact_flops(t, p) : points * (6 * p + 2 * p * (p + 1));
  const double build = points * (point_flops(&t->points) + N + N * (N + 1)) + flux;
  const double edges = 2 * V * N * (N + 1) / 2 + N * n;
  const double algebra = N * N * N / 3 + N * N * (n + 1) + N * n * (n + 1) + 2 * N * n;
  const double bytes =
      8.0 * (N + size->n_packed + n) + 4 * V + node_bytes(&t->points) + value_bytes(t, material);
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + edges + algebra) * (double)n_elements};
}

KG_TEAM_OPERATOR(kg_cell_recover, args->cells.n_elements,
                 kg_cell_recover_scratch(&args->cells.tables, &args->material),
                 kg_cell_recover_element)

kg_cost kg_cell_recover_cost(const kg_cell_tables *t, const kg_cell_material *material,
                             int64_t n_elements)
{
  const kg_cell_sizes *size = &t->size;
  const double N = size->n_modes, n = size->n_trace, S = size->n_flux, V = size->n_facets;
  const double points = t->points.n;
  const double flux = material->exact ? exact_flops(t, N) : points * (6 * N + 2 * N * (N + 1));
  const double build =
      points * (point_flops(&t->points) + N + N * (N + 1)) + flux + V * N * (N + 1);
  const double of_points = points * (4 * (n + N) + 4 * N + 2 * S);
  const double of_flux = 2 * S * (n + 2 * N) + 4 * S * S;
  const double vectors = (material->exact ? of_flux : of_points) + 3 * n * N;
  const double algebra = N * N * N / 3 + 2 * N * N;
  const double bytes =
      8.0 * (2 * N + S + n / 2.0) + 4 * V + node_bytes(&t->points) + value_bytes(t, material);
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + vectors + algebra) * (double)n_elements};
}

KG_TEAM_OPERATOR(kg_cell_postprocess, args->cells.n_elements,
                 kg_cell_postprocess_scratch(&args->cells.tables), kg_cell_postprocess_element)

kg_cost kg_cell_postprocess_cost(const kg_cell_tables *t, const kg_cell_material *material,
                                 int64_t n_elements)
{
  const kg_cell_sizes *size = &t->size;
  const double N = size->n_modes, S = size->n_flux, star = size->n_star;
  const double points = t->points.n;
  const double build =
      points * (point_flops(&t->points) + 6 * star + 2 * star * (star + 1) + 2 * S + 4 * star);
  const double algebra = star * star * star / 3 + 2 * star * star + points * 2 * (N + star);
  const double bytes = 8.0 * (N + S + star + 1) + node_bytes(&t->points) + value_bytes(t, material);
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + algebra) * (double)n_elements};
}

KG_TEAM_OPERATOR(kg_cell_means, args->cells.n_elements,
                 kg_cell_means_scratch(&args->cells.tables.points), kg_cell_means_element)

kg_cost kg_cell_means_cost(const kg_cell_tables *t, const kg_cell_material *material,
                           int64_t n_elements)
{
  const double N = t->size.n_modes, S = t->size.n_flux, nodes = t->points.n_nodes;
  const double bytes =
      8.0 * (N + S + KG_CELL_MEANS) + node_bytes(&t->points) + value_bytes(t, material);
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = t->points.n * (2 * (N + S) + 12 * nodes + 18) * (double)n_elements};
}

KG_TEAM_OPERATOR(kg_cell_robin, args->n_sides, 0, kg_cell_robin_side)

kg_cost kg_cell_robin_cost(kg_cell_sizes size, int rows, int64_t n_sides)
{
  const double entries = size.n_facet * (size.n_facet + 1) / 2.0;
  return (kg_cost){.bytes = (4.0 + 8.0 * (rows + 2.0 * entries)) * (double)n_sides,
                   .flops = entries * (3.0 * rows + 1.0) * (double)n_sides};
}

KG_TEAM_OPERATOR(kg_cell_loads, args->cells.n_elements, kg_cell_loads_scratch(&args->points),
                 kg_cell_loads_element)

kg_cost kg_cell_loads_cost(const kg_cell_points *points, int64_t n_elements)
{
  const double N = points->size.n_modes, q = points->n;
  return (kg_cost){.bytes = (8.0 * (q + N) + node_bytes(points)) * (double)n_elements,
                   .flops = q * (2 * N + 12 * points->n_nodes + 6) * (double)n_elements};
}

KG_TEAM_OPERATOR(kg_cell_errors, kg_cells_groups(&args->cells),
                 kg_cell_errors_scratch(&args->points), kg_cell_errors_group)

kg_cost kg_cell_errors_cost(const kg_cell_points *points, int64_t n_elements)
{
  const double coefficients = points->size.n_modes + points->size.n_flux + points->size.n_star;
  const double q = points->n, nodes = points->n_nodes;
  const double bytes = 8.0 * (coefficients + 3 * q) + node_bytes(points);
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = q * (2 * coefficients + 12 * nodes + 50) * (double)n_elements};
}
