#include "basis/tetrahedron_points.h"

#include <stdlib.h>

#include "basis/hand_out.h"
#include "core/memory.h"

static size_t lay_out(int order, int rows, const double *base, kg_tetrahedron_points *out)
{
  const kg_cell_sizes z = kg_cell_sizes_of(&kg_tetrahedron, order);
  const size_t n = (size_t)kg_cell_rule_points(&kg_tetrahedron, rows), N = (size_t)z.n_modes;
  const kg_piece pieces[] = {{&out->weight, n},
                             {&out->value, n * N},
                             {&out->weak, n * 3 * N},
                             {&out->trace, n * (size_t)z.n_trace},
                             {&out->star, n * 3 * (size_t)(z.n_star - 1)}};
  out->n = (int)n;
  return kg_hand_out(base, sizeof pieces / sizeof *pieces, pieces);
}

size_t kg_tetrahedron_points_count(int order, int rows)
{
  kg_tetrahedron_points ignored;
  return lay_out(order, rows, NULL, &ignored);
}

kg_tetrahedron_points kg_tetrahedron_points_at(int order, int rows, const double *base)
{
  kg_tetrahedron_points points;
  lay_out(order, rows, base, &points);
  return points;
}

/// sum[j] = sum_i phi_i matrix[i][j].
static void combine(int n, int columns, const long double *phi, const double *matrix,
                    const double *sum)
{
  for (int j = 0; j < columns; ++j) {
    long double all = 0.0L;
    for (int i = 0; i < n; ++i) all += phi[i] * matrix[i * columns + j];
    ((double *)sum)[j] = (double)all;
  }
}

static void fill_point(const kg_tetrahedron_reference *ref, const long double at[3],
                       long double weight, int q, const kg_tetrahedron_points *p)
{
  const int N = ref->size.n_modes, n = ref->size.n_trace, S = ref->size.n_star;
  long double phi[KG_SPACE_MODES_MAX], slope[3][KG_SPACE_MODES_MAX];
  kg_tetrahedron.modes(ref->size.order + 1, at, phi,
                       (long double *const[]){slope[0], slope[1], slope[2]});
  ((double *)p->weight)[q] = (double)weight;
  for (int i = 0; i < N; ++i) ((double *)p->value)[q * N + i] = (double)phi[i];
  for (int a = 0; a < 3; ++a) {
    combine(N, N, phi, ref->gradient[a], p->weak + (3 * q + a) * N);
    for (int i = 1; i < S; ++i)
      ((double *)p->star)[(3 * q + a) * (S - 1) + i - 1] = (double)slope[a][i];
  }
  combine(N, n, phi, ref->lift, p->trace + q * n);
}

kedge_status kg_tetrahedron_points_fill(kedge_context *ctx, int order, int rows, double *values)
{
  const kg_tetrahedron_points points = kg_tetrahedron_points_at(order, rows, values);
  const size_t n = (size_t)points.n;
  double *tables = NULL;
  long double *rule = NULL;
  kedge_status status = kg_tetrahedron_reference_create(ctx, order, &tables);
  if (status == KEDGE_OK) status = kg_host_alloc(ctx, 4 * n, sizeof *rule, &rule);
  if (status == KEDGE_OK) {
    const kg_tetrahedron_reference ref = kg_tetrahedron_reference_at(order, tables);
    kg_tetrahedron.rule(rows, (long double *const[]){rule, rule + n, rule + 2 * n}, rule + 3 * n);
    for (size_t q = 0; q < n; ++q) {
      const long double at[3] = {rule[q], rule[n + q], rule[2 * n + q]};
      fill_point(&ref, at, rule[3 * n + q], (int)q, &points);
    }
  }
  free(rule);
  free(tables);
  return status;
}
