// cell_vectors.cuh: what recovery and post-processing do with vectors of an element, for sizes that
// the compiler knows (small_shape) or not (any_shape). Threads of a team have neighbouring points
// or modes, and tables lie so that they read neighbouring numbers.
#pragma once
#include "ops/local/quadrature/geometry.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"

namespace kg
{

struct any_shape {
  int V, m, n, N, S, N_STAR, POINTS;

  __device__ __forceinline__ explicit any_shape(const kg_cell_tables *t)
      : V(t->size.n_facets),
        m(t->size.n_facet),
        n(t->size.n_trace),
        N(t->size.n_modes),
        S(t->size.n_flux),
        N_STAR(t->size.n_star),
        POINTS(t->points.n)
  {
  }
};

template <int FACETS, int P>
struct small_shape {
  static constexpr bool QUAD = FACETS == 4;
  static constexpr int V = FACETS, m = P + 1, n = V * m;
  static constexpr int N = QUAD ? (P + 1) * (P + 1) : (P + 1) * (P + 2) / 2;
  static constexpr int S = QUAD ? 2 * (P + 1) * (P + 2) : (P + 1) * (P + 2);
  static constexpr int N_STAR = QUAD ? (P + 2) * (P + 2) : (P + 2) * (P + 3) / 2;
  static constexpr int POINTS = (P + 2) * (P + 2), PACKED = n * (n + 1) / 2;
  static constexpr int MODES = (N + 7) / 8, TRACES = (n + 7) / 8, STAR = (N_STAR + 6) / 8;
  static constexpr int FLUX = (S + 7) / 8;
  static constexpr bool JOINT = (N + n) / 8 < MODES + n / 8;  ///< are there fewer strips

  /// Elements of this shape, of whose tables the compiler knows the sizes then.
  static __device__ __forceinline__ kg_cells known(kg_cells cells)
  {
    cells.tables.size = {P, 2, V, N, S, m, n, N_STAR, PACKED};
    cells.tables.rows = P + 2;
    cells.tables.points.n = POINTS;
    cells.tables.tiles.traces = TRACES;
    return cells;
  }
};

/// The trace of an element, with its own signs.
template <class Shape>
__device__ __forceinline__ void take_trace(Shape z, const kg_cell_recover_args &a, int32_t e,
                                           kg_team team, double *lambda)
{
  KG_TEAM_EACH(team, c, 0, z.n)
  {
    const uint32_t side = a.cells.side_edge[kg_cell_at(e, z.V, c / z.m)];
    lambda[c] = kg_cell_sign(&a.cells, e, c) * a.trace[(int64_t)(side >> 1) * z.m + c % z.m];
  }
}

/// The covariant gradient at the points from columns of Y, those of x, and what G makes of it. The
/// team may read them afterwards.
template <class Shape>
__device__ __forceinline__ void flux_of_columns(Shape z, const kg_cell_tables *t, const double *g,
                                                int begin, int end, const double *x, bool add,
                                                kg_team team, double *gradient, double *flux)
{
  const int rows = 2 * z.POINTS;
  const double *const columns = t->tiles.gradient_by_point + begin * rows;
  KG_TEAM_EACH(team, k, 0, rows)
  {
    double sum = add ? gradient[k] : 0.0;
#pragma unroll 8
    for (int j = 0; j < end - begin; ++j) sum = fma(__ldg(columns + j * rows + k), x[j], sum);
    gradient[k] = sum;
  }
  kg_team_wait(team);
  KG_TEAM_EACH(team, q, 0, z.POINTS)
  {
    const double along = gradient[2 * q], across = gradient[2 * q + 1];
    flux[2 * q] = g[3 * q] * along + g[3 * q + 1] * across;
    flux[2 * q + 1] = g[3 * q + 1] * along + g[3 * q + 2] * across;
  }
  kg_team_wait(team);
}

/// Entry i of f + R lambda. @param[in] flux  that of lambda at the points; NULL leaves it out
template <class Shape>
__device__ __forceinline__ double right_hand_side(Shape z, const kg_cell_recover_args &a, int32_t e,
                                                  const double *tau, const double *lambda,
                                                  const double *flux, int i)
{
  const kg_cell_tables *t = &a.cells.tables;
  if (i >= z.N) return 0.0;
  double sum = a.load[kg_cell_at(e, z.N, i)];
#pragma unroll 4
  for (int c = 0; c < z.n; ++c) sum = fma(tau[c] * lambda[c], __ldg(t->lift + c * z.N + i), sum);
  if (!flux) return sum;
#pragma unroll 8
  for (int k = 0; k < 2 * z.POINTS; ++k)
    sum = fma(-__ldg(t->gradient + k * (z.N + z.n) + i), flux[k], sum);
  return sum;
}

/// s_i, from the flux at the points.
template <class Shape>
__device__ __forceinline__ double flux_coefficient(Shape z, const kg_cell_tables *t,
                                                   const double *flux, int i)
{
  const double *const component = flux + (i >= z.S / 2);
  double sum = 0.0;
#pragma unroll 8
  for (int q = 0; q < z.POINTS; ++q)
    sum = fma(__ldg(t->points.flux + q * z.S + i), component[2 * q], sum);
  return sum;
}

/// values [point][component]: weight times s, or times G g where post-processing has g in place of
/// s; the team may read them afterwards. @param[in] g  [point][3]: weight times G
template <class Shape>
__device__ __forceinline__ void weighted_flux(Shape z, const kg_cell_postprocess_args &a,
                                              const kg_cell_tables *t, const double *s,
                                              const double *g, kg_team team, double *values)
{
  const bool keeps_gradient = a.material.keeps_gradient;
  const int half = z.S / 2;
  KG_TEAM_EACH(team, k, 0, 2 * z.POINTS)
  {
    const int c = k >= z.POINTS, q = k - c * z.POINTS;
    const double *const table = t->tiles.flux_by_point + c * half * z.POINTS + q;
    double sum = 0.0;
#pragma unroll 5
    for (int i = 0; i < half; ++i) sum = fma(__ldg(table + i * z.POINTS), s[c * half + i], sum);
    values[2 * q + c] = keeps_gradient ? sum : __ldg(t->points.weight + q) * sum;
  }
  if (keeps_gradient) kg_cell_weigh_gradient(g, z.POINTS, team, values);
  kg_team_wait(team);
}

/// Entry i of (s, grad phi), of the modes of u* but the constant.
template <class Shape>
__device__ __forceinline__ double star_load(Shape z, const kg_cell_tables *t, const double *values,
                                            int i)
{
  const int n = z.N_STAR - 1;
  double sum = 0.0;
  if (i >= n) return sum;
#pragma unroll 8
  for (int k = 0; k < 2 * z.POINTS; ++k) sum = fma(__ldg(t->star + k * n + i), values[k], sum);
  return sum;
}

/// u* - u at a point, without the constant mode of u*.
template <class Shape>
__device__ __forceinline__ double difference_at(Shape z, const kg_cell_tables *t, const double *u,
                                                const double *x, int q)
{
  const double *const phi = t->tiles.value_by_point + q;
  double d = 0.0;
#pragma unroll 8
  for (int i = 1; i < z.N_STAR; ++i) d = fma(__ldg(phi + i * z.POINTS), x[i - 1], d);
#pragma unroll 8
  for (int i = 0; i < z.N; ++i) d = fma(-__ldg(phi + i * z.POINTS), u[i], d);
  return d;
}

/// Write u* and the indicator, from its modes x but the constant. By one warp; `values` is scratch.
template <class Shape>
__device__ __forceinline__ void write_star(Shape z, const kg_cell_postprocess_args &a, int32_t e,
                                           const kg_cell_geometry &geometry, const double *u,
                                           const double *x, double *values)
{
  const kg_cell_tables *t = &a.cells.tables;
  double sum = 0.0, area = 0.0, square = 0.0;
  for (int q = threadIdx.x % 32; q < z.POINTS; q += 32) {
    values[q] = difference_at(z, t, u, x, q);
    sum += geometry.jacobian[q] * values[q];
    area += geometry.jacobian[q];
  }
  const double mean = kg_team_sum(sum) / kg_team_sum(area);
  for (int q = threadIdx.x % 32; q < z.POINTS; q += 32)
    square += geometry.jacobian[q] * (values[q] - mean) * (values[q] - mean);
  square = kg_team_sum(square);
  for (int i = threadIdx.x % 32; i < z.N_STAR - 1; i += 32)
    a.u_star[kg_cell_at(e, z.N_STAR, i + 1)] = x[i];
  if (threadIdx.x % 32 != 0) return;
  a.u_star[kg_cell_at(e, z.N_STAR, 0)] = -mean / t->points.value[0];
  a.indicator[kg_cell_at(e, 1, 0)] = sqrt(square);
}

}  // namespace kg
