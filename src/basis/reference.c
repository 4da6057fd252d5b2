// All reference matrices of an order: one file, because later ones are made from earlier ones, in
// long double before any is rounded.
#include "basis/reference.h"

#include <math.h>
#include <stdlib.h>

#include "basis/cell.h"
#include "basis/hand_out.h"
#include "basis/local_tiles.h"
#include "basis/polynomials.h"
#include "basis/potential.h"
#include "basis/quadrature.h"
#include "device/context.h"
#include "core/memory.h"

kg_sizes kg_sizes_of(int order)
{
  const int m = order + 1, n = 3 * m;
  return (kg_sizes){.order = order,
                    .n_modes = kg_triangle_modes(order),
                    .n_edge = m,
                    .n_trace = n,
                    .n_star = kg_triangle_modes(order + 1),
                    .n_rotation = kg_triangle_modes(order - 1),
                    .n_packed = n * (n + 1) / 2};
}

/// The tiles of local matrices.
static size_t tiles_of(const kg_cut *cut)
{
  return kg_cut_operator_count(cut) + kg_cut_lift_count(cut) + kg_cut_trace_count(cut);
}

/// @param[in] base  NULL: only the total counts
static size_t lay_out(int order, const double *base, kg_reference *ref)
{
  const kg_sizes z = kg_sizes_of(order);
  const size_t packed = (size_t)z.n_modes * (z.n_modes + 1) / 2;
  const size_t K = (size_t)z.n_rotation, rotation = (size_t)z.n_modes * K;
  const size_t lift = (size_t)z.n_modes * z.n_trace, square = (size_t)z.n_modes * z.n_modes;
  const size_t potential = (size_t)z.n_modes * (size_t)(z.n_star - 1);
  const kg_cut cut = kg_cut_of(order, false), reduced = kg_cut_of(order, true);
  const size_t across = (size_t)cut.modes;
  const size_t K_across = (size_t)kg_tiles_of(z.n_rotation);
  const size_t N_down = 2 * (size_t)kg_tile_pairs_of(z.n_modes);
  const size_t K_down = 2 * (size_t)kg_tile_pairs_of(z.n_rotation);
  const size_t S_down = 2 * (size_t)kg_tile_pairs_of(z.n_star - 1);
  const double *reduced_tiles;
  const kg_piece pieces[] = {
      // Tiles and terms first: they are read 16 bytes at a time.
      {&ref->operator_tiles, kg_cut_operator_count(&cut)},
      {&ref->lift_tiles, kg_cut_lift_count(&cut)},
      {&ref->trace_tiles, kg_cut_trace_count(&cut)},
      {&reduced_tiles, tiles_of(&reduced)},
      {&ref->derivative_tiles, 2 * KG_TILE_ENTRIES * N_down * across},
      {&ref->gradient_tiles, 2 * KG_TILE_ENTRIES * N_down * across},
      {&ref->rotation_tiles, 2 * KG_TILE_ENTRIES * K_down * across},
      {&ref->rotation_row_tiles, 2 * KG_TILE_ENTRIES * N_down * K_across},
      {&ref->potential_tiles, 2 * KG_TILE_ENTRIES * S_down * across},
      {&ref->condensed_terms, KG_CONDENSED_TERMS * (K * (K + 1) / 2)},
      {&ref->stiffness[0], packed},
      {&ref->stiffness[1], packed},
      {&ref->stiffness[2], packed},
      {&ref->edge_mass[0], packed},
      {&ref->edge_mass[1], packed},
      {&ref->edge_mass[2], packed},
      {&ref->eliminated[0], K * (K + 1) / 2},
      {&ref->eliminated[1], K * (K + 1) / 2},
      {&ref->eliminated_lift[0], K * (size_t)z.n_trace},
      {&ref->eliminated_lift[1], K * (size_t)z.n_trace},
      {&ref->lift, lift},
      {&ref->lift_r, lift},
      {&ref->lift_s, lift},
      {&ref->trace_mass, (size_t)z.n_packed},
      {&ref->trace_top, (size_t)z.n_packed},
      {&ref->gradient_r, square},
      {&ref->gradient_s, square},
      {&ref->rotation[0], rotation},
      {&ref->rotation[1], rotation},
      {&ref->rotation_mass[0], K * (K + 1) / 2},
      {&ref->rotation_mass[1], K * (K + 1) / 2},
      {&ref->potential[0], potential},
      {&ref->potential[1], potential},
  };
  ref->size = z;
  return kg_hand_out(base, sizeof pieces / sizeof *pieces, pieces);
}

size_t kg_reference_count(int order)
{
  kg_reference ignored;
  return lay_out(order, NULL, &ignored);
}

kg_reference kg_reference_at(int order, const double *base)
{
  kg_reference ref;
  lay_out(order, base, &ref);
  return ref;
}

// Sums and what they are made of are long double, so that what kernels read is rounded once. On
// small elements the product of K^e with a constant, zero without reaction, is what rounding leaves
// of sums of these matrices, with the same sign in all elements of one shape.

/// c (packed lower, rows x rows) = alpha (a b^T + b a^T) / 2, a and b [rows][inner].
static void multiply_packed(int rows, int inner, long double alpha, const long double *a,
                            const long double *b, double *c)
{
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j <= i; ++j) {
      long double sum = 0.0L;
      for (int k = 0; k < inner; ++k)
        sum += a[i * inner + k] * b[j * inner + k] + b[i * inner + k] * a[j * inner + k];
      c[i * (i + 1) / 2 + j] = (double)(0.5L * alpha * sum);
    }
}

/// c [rows][cols] = a [rows][inner] b [inner][cols].
static void multiply(int rows, int inner, int cols, const long double *a, const long double *b,
                     double *c)
{
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      long double sum = 0.0L;
      for (int k = 0; k < inner; ++k) sum += a[i * inner + k] * b[k * cols + j];
      c[i * cols + j] = (double)sum;
    }
}

enum {
  RULE_MAX = (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 2),
  STAR_MAX = (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 3) / 2
};

/// Values of the basis of order P + 1 and of its derivatives at the points of a rule that is exact
/// to degree 2 P + 2, weighted by the square roots of the weights, so that integrals are plain
/// products of these arrays.
typedef struct sampled {
  int n;                             ///< points
  long double *value, *by_r, *by_s;  ///< [N*][n]
} sampled;

static void sample(int order, long double *scratch, sampled *out)
{
  const int n_star = kg_triangle_modes(order + 1), rows = order + 2, n = rows * rows;
  *out = (sampled){n, scratch, scratch + n_star * n, scratch + 2 * n_star * n};
  long double r[RULE_MAX], s[RULE_MAX], weight[RULE_MAX];
  long double phi[STAR_MAX], pr[STAR_MAX], ps[STAR_MAX];
  kg_triangle.rule(rows, (long double *const[]){r, s}, weight);
  for (int q = 0; q < n; ++q) {
    kg_wide_dubiner(order + 1, r[q], s[q], phi, pr, ps);
    const long double root = sqrtl(weight[q]);
    for (int i = 0; i < n_star; ++i) {
      out->value[i * n + q] = root * phi[i];
      out->by_r[i * n + q] = root * pr[i];
      out->by_s[i * n + q] = root * ps[i];
    }
  }
}

/// F: the three edges side by side, by a Gauss rule on the edge.
static void fill_lift(kg_sizes z, long double *lift)
{
  long double t[KEDGE_ORDER_MAX + 1], w[KEDGE_ORDER_MAX + 1], psi[KEDGE_ORDER_MAX + 1];
  long double phi[STAR_MAX];
  kg_wide_gauss_jacobi(z.n_edge, 0, t, w);
  for (int i = 0; i < z.n_modes * z.n_trace; ++i) lift[i] = 0.0L;
  for (int l = 0; l < 3; ++l)
    for (int q = 0; q < z.n_edge; ++q) {
      const long double r = l == 0 ? t[q] : l == 1 ? -t[q] : -1.0L;
      const long double s = l == 0 ? -1.0L : l == 1 ? t[q] : -t[q];
      kg_wide_dubiner(z.order, r, s, phi, NULL, NULL);
      kg_wide_legendre(z.order, t[q], psi);
      for (int i = 0; i < z.n_modes; ++i)
        for (int j = 0; j < z.n_edge; ++j)
          lift[i * z.n_trace + l * z.n_edge + j] += w[q] * phi[i] * psi[j];
    }
}

/// Fill in the terms that modes of degree P, when they are eliminated, leave in the other modes and
/// in K^e. `scratch` holds N n numbers.
static void fill_eliminated(const kg_reference *ref, const long double *lift, long double *scratch)
{
  const int K = ref->size.n_rotation, m = ref->size.n_edge, n = ref->size.n_trace;
  long double *const top = scratch, *const b = scratch + n * m;  // F_p^T [n][m]; B_l [edge][K][m]
  for (int a = 0; a < n; ++a)
    for (int j = 0; j < m; ++j) top[a * m + j] = lift[(K + j) * n + a];
  for (int l = 0; l < 3; ++l)
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < m; ++j) {
        long double *sum = &b[(l * K + i) * m + j];
        *sum = 0.0L;
        for (int c = 0; c < m; ++c) *sum += lift[i * n + l * m + c] * top[(l * m + c) * m + j];
      }
  multiply_packed(n, m, 1.0L, top, top, (double *)ref->trace_top);
  for (int q = 0; q < 2; ++q) {
    multiply_packed(K, m, 2.0L, b + q * K * m, b + (q + 1) * K * m, (double *)ref->eliminated[q]);
    for (int i = 0; i < K; ++i)
      for (int a = 0; a < n; ++a) {
        const long double *row = b + ((a / m + 1 + q) % 3 * K + i) * m;
        long double sum = 0.0L;
        for (int j = 0; j < m; ++j) sum += row[j] * top[a * m + j];
        ((double *)ref->eliminated_lift[q])[i * n + a] = (double)sum;
      }
  }
}

/// Everything that needs F alone: F, edge masses E_l = F_l F_l^T (exact: phi on an edge is a
/// polynomial of degree P), F^T F, and what is made of these. `scratch` holds N n numbers.
static void fill_edges(const kg_reference *ref, long double *lift, long double *scratch)
{
  const kg_sizes z = ref->size;
  const int n = z.n_trace, m = z.n_edge;
  fill_lift(z, lift);
  kg_round_all(z.n_modes * n, lift, (double *)ref->lift);
  for (int l = 0; l < 3; ++l) {
    for (int i = 0; i < z.n_modes; ++i)
      for (int j = 0; j < m; ++j) scratch[i * m + j] = lift[i * n + l * m + j];
    multiply_packed(z.n_modes, m, 1.0L, scratch, scratch, (double *)ref->edge_mass[l]);
  }
  for (int a = 0; a < n; ++a)
    for (int i = 0; i < z.n_modes; ++i) scratch[a * z.n_modes + i] = lift[i * n + a];
  multiply_packed(n, z.n_modes, 1.0L, scratch, scratch, (double *)ref->trace_mass);
  fill_eliminated(ref, lift, scratch);
}

/// The first mode of the degree of mode i.
static int first_of_degree(int i)
{
  int degree = 0;
  while (kg_triangle_modes(degree) <= i) ++degree;
  return kg_triangle_modes(degree - 1);
}

/// Gradients [N*][N] of the basis of order P + 1: (phi_j, d_r phi*_i), (phi_j, d_s phi*_i). A
/// derivative is of lower degree, and d_r of a mode that is even along the base is odd. So modes of
/// degree P are invisible to the diffusion; rounding here would be much against the stabilization,
/// which alone determines them.
static void integrate_gradients(kg_sizes z, const sampled *f, long double *by_r, long double *by_s)
{
  const int N = z.n_modes, n = f->n;
  for (int i = 0; i < z.n_star * N; ++i) by_r[i] = by_s[i] = 0.0L;
  for (int i = 0; i < z.n_star; ++i)
    for (int j = 0; j < first_of_degree(i) && j < N; ++j) {
      const bool alike = (i - first_of_degree(i) - j + first_of_degree(j)) % 2 == 0;
      long double r = 0.0L, s = 0.0L;
      for (int q = 0; q < n; ++q) s += f->by_s[i * n + q] * f->value[j * n + q];
      for (int q = 0; q < n && !alike; ++q) r += f->by_r[i * n + q] * f->value[j * n + q];
      by_r[i * N + j] = r;
      by_s[i * N + j] = s;
    }
}

/// Fill the tables of the post-process: fields orthogonal to gradients, their masses, potentials.
/// The gradients are overwritten.
static kedge_status fill_potential(kedge_context *ctx, const kg_reference *ref, long double *by_r,
                                   long double *by_s)
{
  const kg_sizes z = ref->size;
  const int N = z.n_modes, K = z.n_rotation;
  double *const rotation[2] = {(double *)ref->rotation[0], (double *)ref->rotation[1]};
  double *const potential[2] = {(double *)ref->potential[0], (double *)ref->potential[1]};
  const int count = z.n_star * N;
  double *rounded;
  KG_TRY(kg_host_alloc(ctx, 2 * (size_t)count, sizeof *rounded, &rounded));
  kg_round_all(count, by_r, rounded);
  kg_round_all(count, by_s, rounded + count);
  const kedge_status status =
      kg_potential_create(ctx, z.order, rounded, rounded + count, rotation, potential);
  free(rounded);
  KG_TRY(status);
  for (int i = 0; i < K * N; ++i) {
    by_r[i] = rotation[0][i % N * K + i / N];
    by_s[i] = rotation[1][i % N * K + i / N];
  }
  multiply_packed(K, N, 1.0L, by_r, by_r, (double *)ref->rotation_mass[0]);
  multiply_packed(K, N, 2.0L, by_r, by_s, (double *)ref->rotation_mass[1]);
  return KEDGE_OK;
}

/// Dr, Ds [N][N], the transposes of the gradients, which the recovery of q needs.
static void fill_gradients(const kg_reference *ref, const long double *by_r,
                           const long double *by_s, long double *dr, long double *ds)
{
  const int N = ref->size.n_modes;
  kg_round_all(N * N, by_r, (double *)ref->gradient_r);
  kg_round_all(N * N, by_s, (double *)ref->gradient_s);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      dr[i * N + j] = by_r[j * N + i];
      ds[i * N + j] = by_s[j * N + i];
    }
}

static void fill_products(const kg_reference *ref, const long double *dr, const long double *ds,
                          const long double *lift)
{
  const int N = ref->size.n_modes, n = ref->size.n_trace;
  multiply_packed(N, N, 1.0L, dr, dr, (double *)ref->stiffness[0]);
  multiply_packed(N, N, 2.0L, dr, ds, (double *)ref->stiffness[1]);
  multiply_packed(N, N, 1.0L, ds, ds, (double *)ref->stiffness[2]);
  multiply(N, N, n, dr, lift, (double *)ref->lift_r);
  multiply(N, N, n, ds, lift, (double *)ref->lift_s);
}

static void fill_tiles(const kg_reference *ref)
{
  const kg_sizes z = ref->size;
  const double *const whole[KG_OPERATOR_TILES] = {ref->stiffness[0], ref->stiffness[2],
                                                  ref->edge_mass[0], ref->edge_mass[1]};
  const double *const lift[KG_LIFT_TILES] = {ref->lift, ref->lift_r, ref->lift_s};
  double *to = (double *)ref->operator_tiles;
  for (int reduced = 0; reduced < 2; ++reduced) {
    const kg_cut cut = kg_cut_of(z.order, reduced);
    kg_cut_operator(&cut, whole, lift, to);
    kg_cut_lift(&cut, lift, to + kg_cut_operator_count(&cut));
    kg_cut_trace(&cut, ref->trace_mass, to + kg_cut_operator_count(&cut) + kg_cut_lift_count(&cut));
    to += tiles_of(&cut);
  }
  const int N = z.n_modes, K = z.n_rotation, S = z.n_star - 1;
  const int N_down = 2 * kg_tile_pairs_of(N);
  const double *const gradient[2] = {ref->gradient_r, ref->gradient_s};
  kg_cut_transposes(N, N, N_down, 2, gradient, (double *)ref->derivative_tiles);
  kg_cut_rows(N, N, N_down, 2, gradient, (double *)ref->gradient_tiles);
  kg_cut_transposes(N, K, 2 * kg_tile_pairs_of(K), 2, ref->rotation, (double *)ref->rotation_tiles);
  kg_cut_rows(N, K, N_down, 2, ref->rotation, (double *)ref->rotation_row_tiles);
  kg_cut_transposes(N, S, 2 * kg_tile_pairs_of(S), 2, ref->potential,
                    (double *)ref->potential_tiles);
}

/// Modes that are even along the base come first.
static void fill_condensed_terms(const kg_reference *ref)
{
  const double *const matrix[KG_CONDENSED_TERMS] = {ref->stiffness[1],  ref->edge_mass[1],
                                                    ref->eliminated[0], ref->stiffness[2],
                                                    ref->edge_mass[0],  ref->eliminated[1]};
  int mode[KG_CONDENSED_MODES_MAX], count = 0;
  for (int parity = 0; parity < 2; ++parity)
    for (int degree = 0, i = 0; degree < ref->size.order; ++degree)
      for (int along = 0; along <= degree; ++along, ++i)
        if (along % 2 == parity) mode[count++] = i;
  double *to = (double *)ref->condensed_terms;
  for (int i = 0; i < count; ++i)
    for (int j = 0; j <= i; ++j) {
      const int row = mode[i] > mode[j] ? mode[i] : mode[j], col = mode[i] + mode[j] - row;
      for (int t = 0; t < KG_CONDENSED_TERMS; ++t) *to++ = matrix[t][row * (row + 1) / 2 + col];
    }
}

kedge_status kg_reference_create(kedge_context *ctx, int order, double **values)
{
  const kg_sizes z = kg_sizes_of(order);
  const size_t N = (size_t)z.n_modes, S = (size_t)z.n_star, lift = N * (size_t)z.n_trace;
  const size_t samples = 3 * S * (size_t)(order + 2) * (size_t)(order + 2);
  long double *by_r = NULL;
  *values = NULL;
  kedge_status status = kg_host_calloc(ctx, kg_reference_count(order), sizeof **values, values);
  if (status == KEDGE_OK)
    status = kg_host_alloc(ctx, 2 * S * N + 2 * N * N + lift + samples, sizeof *by_r, &by_r);
  if (status == KEDGE_OK) {
    const kg_reference ref = kg_reference_at(order, *values);
    long double *const by_s = by_r + S * N, *const dr = by_s + S * N, *const ds = dr + N * N;
    long double *const f_lift = ds + N * N, *const scratch = f_lift + lift;
    sampled f;
    sample(order, scratch, &f);
    integrate_gradients(z, &f, by_r, by_s);
    fill_gradients(&ref, by_r, by_s, dr, ds);
    status = fill_potential(ctx, &ref, by_r, by_s);
    fill_edges(&ref, f_lift, scratch);  // the samples are no longer needed
    fill_products(&ref, dr, ds, f_lift);
    fill_tiles(&ref);
    fill_condensed_terms(&ref);
  }
  if (status != KEDGE_OK) {
    free(*values);
    *values = NULL;
  }
  free(by_r);
  return status;
}

kedge_status kg_reference_of(kedge_context *ctx, int order, const double **values)
{
  double **const kept = &ctx->reference[order];
  if (*kept == NULL) KG_TRY(kg_reference_create(ctx, order, kept));
  *values = *kept;
  return KEDGE_OK;
}
