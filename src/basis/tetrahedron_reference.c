#include "basis/tetrahedron_reference.h"

#include <stdlib.h>

#include "basis/hand_out.h"
#include "basis/polynomials.h"
#include "core/memory.h"

enum {
  STAR_MAX = (KG_SPACE_ORDER_MAX + 2) * (KG_SPACE_ORDER_MAX + 3) * (KG_SPACE_ORDER_MAX + 4) / 6,
  FACET_MAX = (KG_SPACE_ORDER_MAX + 1) * (KG_SPACE_ORDER_MAX + 2) / 2,
};
static const int pair[KG_SPACE_PAIRS][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};

static size_t lay_out(int order, const double *base, kg_tetrahedron_reference *ref)
{
  ref->size = kg_cell_sizes_of(&kg_tetrahedron, order);
  const size_t N = (size_t)ref->size.n_modes, S = (size_t)ref->size.n_star - 1;
  const size_t lift = N * (size_t)ref->size.n_trace, upper = N * (N + 1) / 2;
  const kg_piece pieces[] = {
      {&ref->lift, lift},
      {&ref->trace_mass, (size_t)ref->size.n_packed},
      {&ref->lift_d[0], lift},
      {&ref->lift_d[1], lift},
      {&ref->lift_d[2], lift},
      {&ref->gradient[0], (S + 1) * N},
      {&ref->gradient[1], (S + 1) * N},
      {&ref->gradient[2], (S + 1) * N},
  };
  size_t total = kg_hand_out(base, sizeof pieces / sizeof *pieces, pieces);
  for (int l = 0; l < 4; ++l, total += upper) ref->facet_mass[l] = base ? base + total : NULL;
  for (int p = 0; p < KG_SPACE_PAIRS; ++p, total += upper)
    ref->stiffness[p] = base ? base + total : NULL;
  for (int p = 0; p < KG_SPACE_PAIRS; ++p, total += S * (S + 1) / 2)
    ref->star[p] = base ? base + total : NULL;
  return total;
}

size_t kg_tetrahedron_reference_count(int order)
{
  kg_tetrahedron_reference ignored;
  return lay_out(order, NULL, &ignored);
}

kg_tetrahedron_reference kg_tetrahedron_reference_at(int order, const double *base)
{
  kg_tetrahedron_reference ref;
  lay_out(order, base, &ref);
  return ref;
}

/// A product rule: `rows` points a direction. @param[out] rule  [dimension + 1][point]: the weights
/// are the last
static kedge_status create_rule(kedge_context *ctx, const kg_cell *cell, int rows,
                                long double **rule)
{
  const int n = kg_cell_rule_points(cell, rows), d = cell->dimension;
  KG_TRY(kg_host_alloc(ctx, (size_t)(n * (d + 1)), sizeof **rule, rule));
  long double *at[3] = {*rule, *rule + n, d == 3 ? *rule + 2 * n : NULL};
  cell->rule(rows, at, *rule + d * n);
  return KEDGE_OK;
}

/// gradient [3][N*][N] of zeros: add (d_a phi_i, phi_j).
static kedge_status integrate_gradients(kedge_context *ctx, kg_cell_sizes z, long double *gradient)
{
  const int rows = z.order + 2, n = kg_cell_rule_points(&kg_tetrahedron, rows);
  long double *rule, phi[STAR_MAX], slope[3 * STAR_MAX];
  KG_TRY(create_rule(ctx, &kg_tetrahedron, rows, &rule));
  long double *const slopes[] = {slope, slope + z.n_star, slope + 2 * z.n_star};
  for (int q = 0; q < n; ++q) {
    const long double at[] = {rule[q], rule[n + q], rule[2 * n + q]}, weight = rule[3 * n + q];
    kg_tetrahedron.modes(z.order + 1, at, phi, slopes);
    long double *sum = gradient;
    for (int i = 0; i < 3 * z.n_star; ++i, sum += z.n_modes)
      for (int j = 0; j < z.n_modes; ++j) sum[j] += weight * slope[i] * phi[j];
  }
  free(rule);
  return KEDGE_OK;
}

/// lift [N][n] of zeros: add F.
static kedge_status integrate_facets(kedge_context *ctx, kg_cell_sizes z, long double *lift)
{
  const int rows = z.order + 1, n = kg_cell_rule_points(&kg_triangle, rows);
  long double *rule, phi[STAR_MAX], psi[FACET_MAX], at[3];
  KG_TRY(create_rule(ctx, &kg_triangle, rows, &rule));
  for (int q = 0; q < n; ++q)
    for (int l = 0; l < 4; ++l) {
      const long double on[] = {rule[q], rule[n + q]}, weight = rule[2 * n + q];
      kg_cell_on_facet(&kg_tetrahedron, l, on, at);
      kg_tetrahedron.modes(z.order, at, phi, NULL);
      kg_triangle.modes(z.order, on, psi, NULL);
      for (int i = 0; i < z.n_modes; ++i)
        for (int j = 0; j < z.n_facet; ++j)
          lift[i * z.n_trace + l * z.n_facet + j] += weight * phi[i] * psi[j];
    }
  free(rule);
  return KEDGE_OK;
}

/// A matrix with its rows and columns so far apart.
typedef struct matrix {
  const long double *entry;
  int row, column;
} matrix;

static matrix transposed(matrix a)
{
  return (matrix){a.entry, a.column, a.row};
}

/// Entry (i, j) of a b^T.
static long double product(int inner, matrix a, matrix b, int i, int j)
{
  long double sum = 0.0L;
  for (int k = 0; k < inner; ++k)
    sum += a.entry[i * a.row + k * a.column] * b.entry[j * b.row + k * b.column];
  return sum;
}

/// out, upper n x n: a b^T, and where they differ b a^T added.
static void multiply_upper(int n, int inner, matrix a, matrix b, const double *out)
{
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) {
      long double sum = product(inner, a, b, i, j);
      if (a.entry != b.entry) sum += product(inner, b, a, i, j);
      ((double *)out)[kg_upper_entry(n, i, j)] = (double)sum;
    }
}

/// @param[in] gradient  [3][N*][N]
/// @param[in] lift      [N][n]
static void fill(const kg_tetrahedron_reference *ref, const long double *gradient,
                 const long double *lift)
{
  const kg_cell_sizes z = ref->size;
  const int N = z.n_modes, n = z.n_trace, m = z.n_facet, rounded = z.n_star * N;
  const matrix f = {lift, n, 1};
  matrix slope[3];  // all but that of the constant
  kg_round_all(N * n, lift, (double *)ref->lift);
  for (int a = 0; a < 3; ++a) {
    const matrix d = {gradient + a * rounded, 1, N};  // D_a
    kg_round_all(rounded, d.entry, (double *)ref->gradient[a]);
    for (int i = 0; i < N * n; ++i)
      ((double *)ref->lift_d[a])[i] = (double)product(N, d, transposed(f), i / n, i % n);
    slope[a] = (matrix){d.entry + N, N, 1};
  }
  for (int p = 0; p < KG_SPACE_PAIRS; ++p) {
    const matrix a = {gradient + pair[p][0] * rounded, 1, N};
    const matrix b = {gradient + pair[p][1] * rounded, 1, N};
    multiply_upper(N, N, a, b, ref->stiffness[p]);
    multiply_upper(z.n_star - 1, N, slope[pair[p][0]], slope[pair[p][1]], ref->star[p]);
  }
  for (int l = 0; l < 4; ++l) {
    const matrix facet = {lift + l * m, n, 1};
    multiply_upper(N, m, facet, facet, ref->facet_mass[l]);
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      ((double *)ref->trace_mass)[i * (i + 1) / 2 + j] =
          (double)product(N, transposed(f), transposed(f), i, j);
}

kedge_status kg_tetrahedron_reference_create(kedge_context *ctx, int order, double **values)
{
  const kg_cell_sizes z = kg_cell_sizes_of(&kg_tetrahedron, order);
  const size_t gradients = 3 * (size_t)z.n_star * (size_t)z.n_modes;
  long double *gradient = NULL;
  *values = NULL;
  kedge_status status =
      kg_host_calloc(ctx, gradients + (size_t)(z.n_modes * z.n_trace), sizeof *gradient, &gradient);
  if (status == KEDGE_OK) status = integrate_gradients(ctx, z, gradient);
  if (status == KEDGE_OK) status = integrate_facets(ctx, z, gradient + gradients);
  if (status == KEDGE_OK)
    status = kg_host_alloc(ctx, kg_tetrahedron_reference_count(order), sizeof **values, values);
  if (status == KEDGE_OK) {
    const kg_tetrahedron_reference ref = kg_tetrahedron_reference_at(order, *values);
    fill(&ref, gradient, gradient + gradients);
  }
  free(gradient);
  return status;
}
