#include "ops/sample/load_vectors.h"

#include <math.h>
#include <string.h>

#include "device/loop.h"

/// Whether the values of the elements of a group are rough.
static void look(const kg_load_vectors_args *args, int32_t group)
{
  const kg_points *p = &args->points;
  const double *const values = args->values + (size_t)group * p->n * KG_LANES;
  for (int i = 0; i < KG_LANES; ++i) {
    kg_roughness of = {0};
    for (int row = 0; row < p->rows; ++row) {
      double weighted[KG_POINT_ROWS_MAX];
      for (int a = 0; a < p->rows; ++a) {
        const int q = row * p->rows + a;
        weighted[a] = p->weight[q] * values[q * KG_LANES + i];
      }
      kg_roughness_add(p->rows, p->top, p->top_of_row[row], weighted, 1, &of);
    }
    args->rough[group * KG_LANES + i] = kg_is_rough(&of, 2.0 * args->least);
  }
}

kedge_status kg_load_vectors_host(kedge_context *ctx, const kg_load_vectors_args *args)
{
  const int N = args->batch.reference.size.n_modes, n_points = args->points.n;
  const kg_materials unit = kg_one_material(kg_unit_material());
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, args->n_groups, (int64_t)KG_LANES *n_points *N))
  for (int32_t g = 0; g < args->n_groups; ++g) {
    const int64_t group = args->first_group + g;
    double scaled[KG_LANES];
    for (int i = 0; i < KG_LANES; ++i)
      scaled[i] = args->scale * kg_element_at(&args->batch.arrays, group, i, &unit).jacobian;
    double(*load)[KG_LANES] = (double(*)[KG_LANES])(args->load + (int64_t)g * N * KG_LANES);
    memset(load, 0, (size_t)N * sizeof *load);
    for (int q = 0; q < n_points; ++q) {
      const double *value = args->values + ((size_t)g * n_points + q) * KG_LANES;
      double weighted[KG_LANES];
      for (int i = 0; i < KG_LANES; ++i)
        weighted[i] = args->points.weight[q] * scaled[i] * value[i];
      for (int k = 0; k < N; ++k) {
        const double phi = args->points.basis[q * args->points.n_star + k];
        for (int i = 0; i < KG_LANES; ++i) load[k][i] += phi * weighted[i];
      }
    }
    if (args->rough) look(args, g);
  }
  return KEDGE_OK;
}

KG_OPERATOR(kg_load_vectors, kg_load_vectors_args)

// The cost counts points and modes as kg_errors_cost() does.
kg_cost kg_load_vectors_cost(kg_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, rows = kg_point_rows(size.order), q = rows * rows;
  const double flops = q * (2.0 * size.n_edge + 1) + rows * 2 * N + N;
  return (kg_cost){.bytes = (8.0 * (q + N) + 3 * 4 + 8) * (double)n_elements,
                   .flops = flops * (double)n_elements};
}
