// parallelogram_threads.cuh: a thread an element, for orders whose halves stay in its registers, so
// that warps read and write whole rows of 32 lanes. Entries of tables are the same for all threads.
#pragma once
#include "ops/local/parallelogram/parallelogram.h"
#include "ops/local/triangle/tiles.cuh"

namespace kg
{

/// Entry of a packed lower triangle.
__host__ __device__ constexpr int lower(int i, int j)
{
  return i * (i + 1) / 2 + j;
}

template <int TERMS>
__device__ __forceinline__ double sum_of_terms(const double *table, int entry, const double *term)
{
  double sum = 0.0;
#pragma unroll
  for (int k = 0; k < TERMS; ++k) sum = fma(term[k], __ldg(table + entry * TERMS + k), sum);
  return sum;
}

/// z = L of the first N rows with `mass` on the diagonal: the diagonal holds 1 / L_ii.
template <int N, int TERMS>
__device__ __forceinline__ void factor_terms(const double *table, const double *term, double mass,
                                             double *z)
{
#pragma unroll
  for (int i = 0; i < N; ++i)
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      double sum = sum_of_terms<TERMS>(table, lower(i, j), term);
      if (i == j) sum += mass;
#pragma unroll
      for (int k = 0; k < j; ++k) sum = fma(-z[lower(i, k)], z[lower(j, k)], sum);
      z[lower(i, j)] = i == j ? reciprocal_root(sum) : sum * z[lower(j, j)];
    }
}

/// x = L^-1 x, x [N], its numbers `step` apart.
template <int N>
__device__ __forceinline__ void substitute(const double *z, int step, double *x)
{
#pragma unroll
  for (int i = 0; i < N; ++i) {
    double sum = x[i * step];
#pragma unroll
    for (int k = 0; k < i; ++k) sum = fma(-z[lower(i, k)], x[k * step], sum);
    x[i * step] = sum * z[lower(i, i)];
  }
}

/// x = A^-1 x.
template <int N, int TERMS>
__device__ __forceinline__ void solve_terms(const double *table, const double *term, double mass,
                                            double *x)
{
  double z[N * (N + 1) / 2];
  factor_terms<N, TERMS>(table, term, mass, z);
  substitute<N>(z, 1, x);
#pragma unroll
  for (int i = N - 1; i >= 0; --i) {
    double sum = x[i];
#pragma unroll
    for (int k = i + 1; k < N; ++k) sum = fma(-z[lower(k, i)], x[k], sum);
    x[i] = sum * z[lower(i, i)];
  }
}

/// K^e and F^e of a half.
template <int P, int HALF>
__device__ __forceinline__ void condense_half(const kg_cell_make_args &args, int32_t e,
                                              const kg_parallelogram &c, double *k, double *f)
{
  constexpr int m = P + 1, N = (m * m + 1 - HALF) / 2, TRACE = 2 * m, COLUMNS = TRACE + 1;
  const double *const table = args.cells.tables.halves.sums[HALF];
  double z[N * (N + 1) / 2], w[N * COLUMNS];
  factor_terms<N, KG_HALF_TERMS>(table, c.term, c.mass, z);
#pragma unroll
  for (int b = 0; b <= TRACE; ++b) {
#pragma unroll
    for (int i = 0; i < N; ++i)
      w[i * COLUMNS + b] =
          b < TRACE
              ? -sum_of_terms<KG_HALF_TERMS>(table, lower(N + b, i), c.term)
              : args.load[kg_cell_at(e, m * m, kg_half_mode_number(kg_half_mode_at(m, HALF, i)))];
    substitute<N>(z, COLUMNS, w + b);
  }
#pragma unroll
  for (int a = 0; a <= TRACE; ++a)
#pragma unroll
    for (int b = 0; b <= a && b < TRACE; ++b) {
      double sum = 0.0;
#pragma unroll
      for (int i = 0; i < N; ++i) sum = fma(w[i * COLUMNS + a], w[i * COLUMNS + b], sum);
      if (a < TRACE)
        k[lower(a, b)] = sum_of_terms<KG_HALF_TERMS>(table, lower(N + a, N + b), c.term) - sum;
      else
        f[b] = sum;
    }
}

template <int P>
__device__ __forceinline__ void make_by_thread(const kg_cell_make_args &args, int32_t e)
{
  constexpr int m = P + 1, n = 4 * m, TRACE = 2 * m, PACKED = n * (n + 1) / 2;
  double *const local = args.local + kg_cell_at(e, PACKED, 0);
  double *const condensed = args.condensed + kg_cell_at(e, n, 0);
  if (e >= args.cells.n_elements) {
    for (int i = 0; i < PACKED; ++i) local[i * KG_LANES] = 0.0;
    for (int i = 0; i < n; ++i) condensed[i * KG_LANES] = 0.0;
    return;
  }
  const kg_parallelogram c = kg_parallelogram_of(&args.cells, &args.material, e);
  double k[2][TRACE * (TRACE + 1) / 2], f[2][TRACE], sign[n];
  condense_half<P, 0>(args, e, c, k[0], f[0]);
  condense_half<P, 1>(args, e, c, k[1], f[1]);
#pragma unroll
  for (int a = 0; a < n; ++a) sign[a] = kg_cell_sign(&args.cells, e, a);
#pragma unroll
  for (int p = 0; p < TRACE; ++p) {
    const int r = p + TRACE;  // of the facet opposite
#pragma unroll
    for (int q = 0; q <= p; ++q) {
      const int s = q + TRACE;
      const double even = k[0][lower(p, q)], odd = k[1][lower(p, q)];
      const double same = 0.5 * (even + odd), other = 0.5 * (even - odd);
      local[lower(p, q) * KG_LANES] = sign[p] * sign[q] * same;
      local[lower(r, s) * KG_LANES] = sign[r] * sign[s] * same;
      local[lower(r, q) * KG_LANES] = sign[r] * sign[q] * other;
      if (q < p) local[lower(s, p) * KG_LANES] = sign[s] * sign[p] * other;
    }
    const double root = 0.70710678118654752440;
    condensed[p * KG_LANES] = root * sign[p] * (f[0][p] + f[1][p]);
    condensed[r * KG_LANES] = root * sign[r] * (f[0][p] - f[1][p]);
  }
}

/// u of a half from f + R lambda. @param[in] flux  that of lambda
template <int P, int HALF>
__device__ __forceinline__ void recover_half(const kg_cell_recover_args &args, int32_t e,
                                             const kg_parallelogram &c, const double *lambda,
                                             const double *flux, double *u)
{
  constexpr int m = P + 1, N = (m * m + 1 - HALF) / 2;
  const kg_halves *const halves = &args.cells.tables.halves;
  double x[N];
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const kg_half_mode mode = kg_half_mode_at(m, HALF, i);
    x[i] = args.load[kg_cell_at(e, m * m, kg_half_mode_number(mode))] +
           kg_half_lift(halves->root, c.term, m, mode, lambda, flux);
  }
  solve_terms<N, KG_HALF_TERMS>(halves->sums[HALF], c.term, c.mass, x);
#pragma unroll
  for (int i = 0; i < N; ++i) u[kg_half_mode_number(kg_half_mode_at(m, HALF, i))] = x[i];
}

template <int P>
__device__ __forceinline__ void recover_by_thread(const kg_cell_recover_args &args, int32_t e)
{
  constexpr int m = P + 1, N = m * m, S = 2 * m * (m + 1), TRACE = 2 * m;
  if (e >= args.cells.n_elements) return;
  const double *const root = args.cells.tables.halves.root;
  const kg_parallelogram c = kg_parallelogram_of(&args.cells, &args.material, e);
  double lambda[2 * TRACE], gradient[S], flux[S], u[N];
#pragma unroll
  for (int a = 0; a < TRACE; ++a) {
    double value[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const int unknown = a + k * TRACE;
      const uint32_t side = args.cells.side_edge[kg_cell_at(e, 4, unknown / m)];
      value[k] =
          kg_cell_sign(&args.cells, e, unknown) * args.trace[(int64_t)(side >> 1) * m + a % m];
    }
    lambda[a] = 0.70710678118654752440 * (value[0] + value[1]);
    lambda[TRACE + a] = 0.70710678118654752440 * (value[0] - value[1]);
  }
#pragma unroll
  for (int k = 0; k < S; ++k) gradient[k] = kg_half_weak(root, m, k, lambda, nullptr);
#pragma unroll
  for (int k = 0; k < S; ++k) flux[k] = kg_half_flux(c.term, m, k, gradient);
  recover_half<P, 0>(args, e, c, lambda, flux, u);
  recover_half<P, 1>(args, e, c, lambda, flux, u);
#pragma unroll
  for (int i = 0; i < N; ++i) args.u[kg_cell_at(e, N, i)] = u[i];
#pragma unroll
  for (int k = 0; k < S; ++k) gradient[k] = kg_half_weak(root, m, k, lambda, u);
#pragma unroll
  for (int k = 0; k < S; ++k) args.flux[kg_cell_at(e, S, k)] = kg_half_flux(c.term, m, k, gradient);
}

/// The modes of u* of a half but the constant. Returns the square of their distance from u.
template <int P, int HALF>
__device__ __forceinline__ double star_half(const kg_cell_postprocess_args &args, int32_t e,
                                            const kg_parallelogram &c, const double *flux)
{
  constexpr int m = P + 1, CONSTANT = 1 - HALF, N = ((m + 1) * (m + 1) + 1 - HALF) / 2 - CONSTANT;
  const kg_halves *const halves = &args.cells.tables.halves;
  double x[N], square = 0.0;
#pragma unroll
  for (int i = 0; i < N; ++i)
    x[i] = kg_half_star_load(halves->root, m, kg_half_mode_at(m + 1, HALF, i + CONSTANT), flux);
  solve_terms<N, KG_HALF_STAR_TERMS>(halves->stars[HALF], c.term, 0.0, x);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const kg_half_mode mode = kg_half_mode_at(m + 1, HALF, i + CONSTANT);
    const int number = kg_half_mode_number(mode);
    double d = x[i];
    args.u_star[kg_cell_at(e, (m + 1) * (m + 1), number)] = d;
    if (mode.i < m && mode.j < m) d -= args.u[kg_cell_at(e, m * m, number)];
    square = fma(d, d, square);
  }
  return square;
}

template <int P>
__device__ __forceinline__ void postprocess_by_thread(const kg_cell_postprocess_args &args,
                                                      int32_t e)
{
  constexpr int m = P + 1, S = 2 * m * (m + 1);
  if (e >= args.cells.n_elements) return;
  const kg_parallelogram c = kg_parallelogram_of(&args.cells, &args.material, e);
  double flux[S];
#pragma unroll
  for (int k = 0; k < S; ++k) flux[k] = args.flux[kg_cell_at(e, S, k)];
  const double even = star_half<P, 0>(args, e, c, flux), odd = star_half<P, 1>(args, e, c, flux);
  args.u_star[kg_cell_at(e, (m + 1) * (m + 1), 0)] = args.u[kg_cell_at(e, m * m, 0)];
  args.indicator[kg_cell_at(e, 1, 0)] = sqrt(c.jacobian * (even + odd));
}

}  // namespace kg
