#include "basis/cell_tables.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/hand_out.h"
#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "basis/roughness.h"
#include "core/memory.h"

enum {
  MODES_MAX = (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 2),  // of tetrahedra 120
  FLUX_MAX = 2 * (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 2),
};
static_assert((int)FLUX_MAX >= (int)KG_SPACE_FLUX_MAX && (int)MODES_MAX >= (int)KG_SPACE_MODES_MAX,
              "in space too");

static int count_points(const kg_cell *cell, int rows, kg_cell_behind behind)
{
  const int n = behind == KG_BEHIND_FACETS ? cell->n_facets * kg_cell_rule_points(cell->facet, rows)
                : behind == KG_BEHIND_CORNERS ? cell->n_vertices
                                              : 0;
  return kg_cell_rule_points(cell, rows) + n;
}

/// @param[in] rows  of the rule; 0: the points are no rule's
static size_t lay_out_points(const kg_cell *cell, int order, int geometry, int rows, int n_points,
                             const double *base, kg_cell_points *p)
{
  *p = (kg_cell_points){.size = kg_cell_sizes_of(cell, order),
                        .geometry = geometry,
                        .n_nodes = cell->n_modes(geometry),
                        .n = n_points,
                        .n_map = n_points,
                        .rows = rows};
  const size_t n = (size_t)p->n, maps = n * (size_t)((1 + cell->dimension) * p->n_nodes);
  const bool in_plane = cell->dimension == 2;
  const kg_piece pieces[] = {
      {&p->r, n},
      {&p->s, n},
      {&p->t, in_plane ? 0 : n},
      {&p->weight, n},
      {&p->map, maps},
      {&p->map_by_point, maps},
      {&p->value, n * (size_t)p->size.n_star},
      {&p->flux, n * (size_t)p->size.n_flux},
      {&p->top, (size_t)rows},
      {&p->top_of_row, (size_t)rows},
      {&p->top_of_layer, in_plane ? 0 : (size_t)rows},
  };
  const size_t count = kg_hand_out(base, sizeof pieces / sizeof *pieces, pieces);
  if (in_plane) p->t = p->top_of_layer = NULL;
  return count;
}

size_t kg_cell_points_count(const kg_cell *cell, int order, int geometry, int rows,
                            kg_cell_behind behind)
{
  kg_cell_points ignored;
  return lay_out_points(cell, order, geometry, rows, count_points(cell, rows, behind), NULL,
                        &ignored);
}

kg_cell_points kg_cell_points_at(const kg_cell *cell, int order, int geometry, int rows,
                                 kg_cell_behind behind, const double *base)
{
  kg_cell_points points;
  lay_out_points(cell, order, geometry, rows, count_points(cell, rows, behind), base, &points);
  return points;
}

static void fill_map(const kg_cell *cell, const kg_cell_points *p, int q, const long double *at)
{
  const int n_shape = (1 + cell->dimension) * p->n_nodes;
  long double shape[3 * KG_NODES_MAX];
  cell->map(p->geometry, at, shape);
  kg_round_all(n_shape, shape, (double *)p->map + q * n_shape);
  for (int k = 0; k < n_shape; ++k)
    ((double *)p->map_by_point)[k * p->n_map + q] = (double)shape[k];
}

static void fill_point(const kg_cell *cell, const kg_cell_points *p, int q, const long double *at)
{
  long double phi[MODES_MAX], flux[FLUX_MAX];
  fill_map(cell, p, q, at);
  cell->modes(p->size.order + 1, at, phi, NULL);
  kg_round_all(p->size.n_star, phi, (double *)p->value + q * p->size.n_star);
  cell->flux(p->size.order, at, flux, NULL);
  kg_round_all(p->size.n_flux, flux, (double *)p->flux + q * p->size.n_flux);
}

/// A point behind those of the rule.
static void fill_behind(const kg_cell *cell, const kg_cell_points *p, int q, const long double *at)
{
  ((double *)p->r)[q] = (double)at[0];
  ((double *)p->s)[q] = (double)at[1];
  if (p->t) ((double *)p->t)[q] = (double)at[2];
  ((double *)p->weight)[q] = 0.0;
  fill_point(cell, p, q, at);
}

static void fill_facet_points(const kg_cell *cell, const kg_cell_points *p, int rows)
{
  const int n_rule = kg_cell_rule_points(cell, rows);
  const int n = kg_cell_rule_points(cell->facet, rows);
  long double on[2][KG_GAUSS_MAX * KG_GAUSS_MAX], w[KG_GAUSS_MAX * KG_GAUSS_MAX], at[3], along[2];
  cell->facet->rule(rows, (long double *const[]){on[0], on[1]}, w);
  for (int k = 0; k < cell->n_facets * n; ++k) {
    if (cell->dimension == 2)
      kg_cell_facet_point(cell, k / n, on[0][k % n], at, along);
    else
      kg_cell_on_facet(cell, k / n, (const long double[]){on[0][k % n], on[1][k % n]}, at);
    fill_behind(cell, p, n_rule + k, at);
  }
}

/// Point q of a rule that fill_rule() left.
static void scratch_point(const kg_cell *cell, int n_rule, const long double *scratch, int q,
                          long double *at)
{
  for (int k = 0; k < cell->dimension; ++k) at[k] = scratch[k * n_rule + q];
}

/// @param[in] scratch  [dimension + 1][points]; the rule is left there: r, s, in space t, weights
static void fill_rule(const kg_cell *cell, int rows, long double *scratch, const kg_cell_points *p)
{
  const int n_rule = kg_cell_rule_points(cell, rows);
  long double *const r = scratch, *const s = r + n_rule, *const t = s + n_rule;
  long double *const w = r + (size_t)cell->dimension * (size_t)n_rule;
  cell->rule(rows, (long double *const[]){r, s, t}, w);
  kg_round_all(n_rule, r, (double *)p->r);
  kg_round_all(n_rule, s, (double *)p->s);
  kg_round_all(n_rule, w, (double *)p->weight);
  double x[KG_GAUSS_MAX], weight[KG_GAUSS_MAX];
  kg_gauss_jacobi(rows, 0, x, weight);
  kg_roughness_top(rows, x, weight, (double *)p->top);
  kg_gauss_jacobi(rows, cell == &kg_quadrilateral ? 0 : 1, x, weight);
  kg_roughness_top(rows, x, weight, (double *)p->top_of_row);
  if (cell->dimension == 2) return;
  kg_round_all(n_rule, t, (double *)p->t);
  kg_gauss_jacobi(rows, 2, x, weight);
  kg_roughness_top(rows, x, weight, (double *)p->top_of_layer);
}

/// @param[in] scratch  as for fill_rule()
static void fill_points(const kg_cell *cell, int rows, kg_cell_behind behind, long double *scratch,
                        const kg_cell_points *p)
{
  const int n_rule = kg_cell_rule_points(cell, rows);
  long double at[3];
  fill_rule(cell, rows, scratch, p);
  for (int q = 0; q < n_rule; ++q) {
    scratch_point(cell, n_rule, scratch, q, at);
    fill_point(cell, p, q, at);
  }
  for (int v = 0; behind == KG_BEHIND_CORNERS && v < cell->n_vertices; ++v) {
    for (int k = 0; k < 3; ++k) at[k] = cell->corner[v][k];
    fill_behind(cell, p, n_rule + v, at);
  }
  if (behind == KG_BEHIND_FACETS) fill_facet_points(cell, p, rows);
}

kedge_status kg_cell_points_create(kedge_context *ctx, const kg_cell *cell, int order, int geometry,
                                   int rows, kg_cell_behind behind, double **values)
{
  const size_t count = kg_cell_points_count(cell, order, geometry, rows, behind);
  long double *scratch;
  *values = NULL;
  const size_t n_scratch = (size_t)(1 + cell->dimension) * (size_t)kg_cell_rule_points(cell, rows);
  KG_TRY(kg_host_alloc(ctx, n_scratch, sizeof *scratch, &scratch));
  const kedge_status status = kg_host_alloc(ctx, count, sizeof **values, values);
  if (status == KEDGE_OK) {
    const kg_cell_points points = kg_cell_points_at(cell, order, geometry, rows, behind, *values);
    fill_points(cell, rows, behind, scratch, &points);
  }
  free(scratch);
  return status;
}

kedge_status kg_cell_rule_create(kedge_context *ctx, const kg_cell *cell, int order, int geometry,
                                 int rows, double **values, kg_cell_points *rule)
{
  const int n = kg_cell_rule_points(cell, rows);
  const size_t count = lay_out_points(cell, order, geometry, rows, n, NULL, rule);
  long double *r, at[3];
  *values = NULL;
  KG_TRY(kg_host_alloc(ctx, (size_t)(1 + cell->dimension) * (size_t)n, sizeof *r, &r));
  const kedge_status status = kg_host_alloc(ctx, count, sizeof **values, values);
  lay_out_points(cell, order, geometry, rows, n, *values, rule);
  if (status == KEDGE_OK) {
    fill_rule(cell, rows, r, rule);
    cell->products(order, rows, (long double *const[]){r, r + n, r + 2 * n}, (double *)rule->value,
                   (double *)rule->flux);
    for (int q = 0; q < n; ++q) {
      scratch_point(cell, n, r, q, at);
      fill_map(cell, rule, q, at);
    }
  }
  free(r);
  return status;
}

kedge_status kg_cell_nodes_create(kedge_context *ctx, const kg_cell *cell, int order, int geometry,
                                  int node_order, double **values, kg_cell_points *nodes)
{
  const int n = cell->n_modes(node_order), n_nodes = cell->n_modes(geometry);
  const size_t count = lay_out_points(cell, order, geometry, 0, n, NULL, nodes);
  KG_TRY(kg_host_alloc(ctx, count, sizeof **values, values));
  lay_out_points(cell, order, geometry, 0, n, *values, nodes);
  double *const r = (double *)nodes->r, *const s = (double *)nodes->s;
  double *const t = (double *)nodes->t;
  cell->nodes(node_order, (double *const[]){r, s, t});
  memset((double *)nodes->weight, 0, (size_t)n * sizeof(double));
  for (int q = 0; q < n; ++q) {
    fill_point(cell, nodes, q,
               (const long double[]){r[q], s[q], cell->dimension == 3 ? t[q] : 0.0});
    double *const map = (double *)nodes->map + (1 + cell->dimension) * q * n_nodes;
    map[0] = 1.0;
    for (int v = 1; v < n_nodes; ++v) map[0] -= map[v];
    ((double *)nodes->map_by_point)[q] = map[0];
  }
  return KEDGE_OK;
}

/// Whether elements may be parallelograms.
static bool has_halves(const kg_cell *cell, int geometry)
{
  return cell == &kg_quadrilateral && geometry == 1;
}

static size_t lay_out_tables(const kg_cell *cell, int order, int geometry, int rows,
                             const double *base, kg_cell_tables *t)
{
  const kg_cell_sizes z = kg_cell_sizes_of(cell, order);
  const size_t N = (size_t)z.n_modes, S = (size_t)z.n_flux, n = (size_t)z.n_trace;
  const size_t points = (size_t)(rows * rows);
  const double *of_points;
  const kg_piece pieces[] = {
      {&of_points, kg_cell_points_count(cell, order, geometry, rows, KG_BEHIND_FACETS)},
      {&t->facet_weight, (size_t)rows},
      {&t->facet_direction, 2 * (size_t)z.n_facets},
      {&t->divergence, N * S},
      {&t->flux_lift, S * n},
      {&t->lift, n * N},
      {&t->facet_mass, (size_t)z.n_facets * N * (N + 1) / 2},
      {&t->weak, S * (N + n)},
      {&t->gradient, points * 2 * (N + n)},
      {&t->star, points * 2 * (size_t)(z.n_star - 1)},
  };
  const size_t total = kg_hand_out(base, sizeof pieces / sizeof *pieces, pieces);
  t->size = z;
  t->rows = rows;
  t->points = kg_cell_points_at(cell, order, geometry, rows, KG_BEHIND_FACETS, of_points);
  t->points.n = rows * rows;
  size_t end = total + total % 2;
  end += kg_cell_tiles_lay_out(t, base ? base + end : NULL, &t->tiles);
  t->halves = (kg_halves){0};
  if (!has_halves(cell, geometry)) return end;
  return end + kg_halves_lay_out(order, base ? base + end : NULL, &t->halves);
}

size_t kg_cell_tables_count(const kg_cell *cell, int order, int geometry, int rows)
{
  kg_cell_tables ignored;
  return lay_out_tables(cell, order, geometry, rows, NULL, &ignored);
}

kg_cell_tables kg_cell_tables_at(const kg_cell *cell, int order, int geometry, int rows,
                                 const double *base)
{
  kg_cell_tables tables;
  lay_out_tables(cell, order, geometry, rows, base, &tables);
  return tables;
}

/// Integrals in extended precision, from which the rounded tables are made.
typedef struct wide_tables {
  long double *rule;        ///< r, s, weights of the points
  long double *divergence;  ///< [N][S]
  long double *flux_lift;   ///< [S][n]
  long double *facet_mass;  ///< [facet] packed
  long double *lift;        ///< [n][N]
} wide_tables;

/// D by the rule of the points, and the derivatives at them.
static void fill_interior(const kg_cell *cell, const kg_cell_tables *t, const wide_tables *wide)
{
  const kg_cell_sizes z = t->size;
  const int n_points = t->points.n, N = z.n_modes, S = z.n_flux, N_star = z.n_star;
  long double phi[MODES_MAX], phi_r[MODES_MAX], phi_s[MODES_MAX], flux[FLUX_MAX], div[FLUX_MAX];
  for (int q = 0; q < n_points; ++q) {
    const long double w = wide->rule[2 * n_points + q];
    const long double at[] = {wide->rule[q], wide->rule[n_points + q]};
    cell->modes(z.order + 1, at, phi, (long double *const[]){phi_r, phi_s});
    cell->flux(z.order, at, flux, div);
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < S; ++j) wide->divergence[i * S + j] += w * phi[i] * div[j];
    double *const star = (double *)t->star + 2 * q * (N_star - 1);
    kg_round_all(N_star - 1, phi_r + 1, star);
    kg_round_all(N_star - 1, phi_s + 1, star + N_star - 1);
  }
}

/// F~, F and E of a facet, by P + 1 points along it.
static void fill_facet(const kg_cell *cell, kg_cell_sizes z, int l, const wide_tables *wide)
{
  const int N = z.n_modes, S = z.n_flux, m = z.n_facet, n = z.n_trace, packed = N * (N + 1) / 2;
  long double x[KG_GAUSS_MAX], w[KG_GAUSS_MAX], psi[KEDGE_ORDER_MAX + 1], at[2], along[2];
  long double phi[MODES_MAX], flux[FLUX_MAX];
  kg_wide_gauss_jacobi(m, 0, x, w);
  for (int q = 0; q < m; ++q) {
    kg_cell_facet_point(cell, l, x[q], at, along);
    const long double normal[2] = {along[1], -along[0]};  // outward; its length is ds/dt
    kg_wide_legendre(z.order, x[q], psi);
    cell->modes(z.order, at, phi, NULL);
    cell->flux(z.order, at, flux, NULL);
    for (int k = 0; k < m; ++k) {
      const long double weighted = w[q] * psi[k];
      const int c = l * m + k;
      for (int i = 0; i < N; ++i) wide->lift[c * N + i] += weighted * phi[i];
      for (int i = 0; i < S; ++i)
        wide->flux_lift[i * n + c] += weighted * normal[i >= S / 2] * flux[i];
    }
    for (int i = 0; i < N; ++i)
      for (int j = 0; j <= i; ++j)
        wide->facet_mass[l * packed + i * (i + 1) / 2 + j] += w[q] * phi[i] * phi[j];
  }
}

/// Entry (i, j) of B.
static long double weak_entry(const kg_cell_tables *t, const wide_tables *wide, int i, int j)
{
  const int N = t->size.n_modes;
  return j < N ? -wide->divergence[j * t->size.n_flux + i]
               : wide->flux_lift[i * t->size.n_trace + j - N];
}

static void fill_weak(const kg_cell_tables *t, const wide_tables *wide)
{
  const int p = t->size.n_modes + t->size.n_trace;
  for (int k = 0; k < t->size.n_flux * p; ++k) {
    const long double entry = weak_entry(t, wide, k / p, k % p);
    ((double *)t->weak)[k] = fabsl(entry) < 1e-15L ? 0.0 : (double)entry;
  }
}

/// Phi^T B at all points.
static void fill_gradient(const kg_cell *cell, const kg_cell_tables *t, const wide_tables *wide)
{
  const int S = t->size.n_flux, p = t->size.n_modes + t->size.n_trace;
  long double flux[FLUX_MAX];
  for (int q = 0; q < t->points.n; ++q) {
    const long double at[] = {wide->rule[q], wide->rule[t->points.n + q]};
    cell->flux(t->size.order, at, flux, NULL);
    for (int c = 0; c < 2; ++c) {
      double *const row = (double *)t->gradient + (2 * q + c) * p;
      for (int j = 0; j < p; ++j) {
        long double sum = 0.0L;
        for (int i = c * S / 2; i < (c + 1) * S / 2; ++i)
          sum += flux[i] * weak_entry(t, wide, i, j);
        row[j] = (double)sum;
      }
    }
  }
}

/// Fill the weights and directions that integrals along a curved facet take.
static void fill_curve(const kg_cell *cell, const kg_cell_tables *t)
{
  long double x[KG_GAUSS_MAX], w[KG_GAUSS_MAX], at[2], along[2];
  kg_wide_gauss_jacobi(t->rows, 0, x, w);
  kg_round_all(t->rows, w, (double *)t->facet_weight);
  for (int l = 0; l < cell->n_facets; ++l) {
    kg_cell_facet_point(cell, l, 0.0L, at, along);
    kg_round_all(2, along, (double *)t->facet_direction + 2 * l);
  }
}

static void fill_tables(const kg_cell *cell, const kg_cell_tables *t, const wide_tables *wide)
{
  const kg_cell_sizes z = t->size;
  const kg_cell_points points = kg_cell_points_and_facets(t);
  fill_points(cell, t->rows, KG_BEHIND_FACETS, wide->rule, &points);
  fill_curve(cell, t);
  fill_interior(cell, t, wide);
  for (int l = 0; l < z.n_facets; ++l) fill_facet(cell, z, l, wide);
  fill_weak(t, wide);
  fill_gradient(cell, t, wide);
  kg_round_all(z.n_modes * z.n_flux, wide->divergence, (double *)t->divergence);
  kg_round_all(z.n_flux * z.n_trace, wide->flux_lift, (double *)t->flux_lift);
  kg_round_all(z.n_trace * z.n_modes, wide->lift, (double *)t->lift);
  kg_round_all(z.n_facets * z.n_modes * (z.n_modes + 1) / 2, wide->facet_mass,
               (double *)t->facet_mass);
  kg_cell_tiles_fill(t);
  if (has_halves(cell, t->points.geometry)) kg_halves_fill(z.order, &t->halves);
}

kedge_status kg_cell_tables_create(kedge_context *ctx, const kg_cell *cell, int order, int geometry,
                                   int rows, double **values)
{
  const size_t count = kg_cell_tables_count(cell, order, geometry, rows);
  const kg_cell_sizes z = kg_cell_sizes_of(cell, order);
  const size_t N = (size_t)z.n_modes, S = (size_t)z.n_flux, n = (size_t)z.n_trace;
  const size_t rule = 3 * (size_t)(rows * rows);
  const size_t mass = (size_t)z.n_facets * N * (N + 1) / 2;
  const size_t total = rule + N * S + S * n + mass + n * N;
  *values = NULL;
  wide_tables wide;
  KG_TRY(kg_host_calloc(ctx, total, sizeof *wide.rule, &wide.rule));
  wide.divergence = wide.rule + rule;
  wide.flux_lift = wide.divergence + N * S;
  wide.facet_mass = wide.flux_lift + S * n;
  wide.lift = wide.facet_mass + mass;
  const kedge_status status = kg_host_alloc(ctx, count, sizeof **values, values);
  if (status == KEDGE_OK) {
    const kg_cell_tables tables = kg_cell_tables_at(cell, order, geometry, rows, *values);
    fill_tables(cell, &tables, &wide);
  }
  free(wide.rule);
  return status;
}
