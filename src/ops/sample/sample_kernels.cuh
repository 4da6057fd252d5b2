// sample_kernels.cuh: load vectors of a source, or errors against an exact solution, evaluated
// where they are needed: point values never lie in memory. Text for NVRTC, behind point_sums.cuh
// and what sample_kernel.c writes: ORDER, ROWS, FUNCTIONS, POINTS, COPIES, SHARE, BLOCKS,
// evaluate(), the tables of the rule, and LOADS for load vectors.
//
// Layout, Map  as load_vectors_cuda.cu and errors_cuda.cu
// Points       of a row lie on a line: two multiply-adds for the two coordinates of a point
// Bad          the smallest index [group][function][point][lane] of a value that is not
//              finite: an order of arrival does not matter. A lane looks where a sum is not finite

__device__ unsigned long long first_bad = ~0ull;

struct table_rule {
  __device__ static constexpr int rows()
  {
    return ROWS;
  }
  __device__ double along(int a, int i) const
  {
    return along_table[a][i];
  }
  __device__ double across(int row, int mode) const
  {
    return across_table[row][mode];
  }
  __device__ double weight(int point) const
  {
    return weight_table[point];
  }
#ifdef LOADS
  __device__ double top(int a) const
  {
    return top_table[a];
  }
  __device__ double top_of_row(int row) const
  {
    return top_of_row_table[row];
  }
#else
  __device__ double corner(int k, int mode) const
  {
    return corner_table[k][mode];
  }
#endif
};

/// Points of a row of the rule, on the triangle of a lane.
struct points_of_row {
  double x, y, step_x, step_y, region, t;

  __device__ void values(int a, double *value) const
  {
    evaluate(fma(along_point[a], step_x, x), fma(along_point[a], step_y, y), 0.0, region, t, value);
  }
  /// The value of the first function at point a of the row.
  __device__ double value(int a) const
  {
    double value[FUNCTIONS];
    values(a, value);
    return value[0];
  }
};

/// Functions on the triangle of a lane.
struct formulas {
  static constexpr int UNROLL = COPIES;
  double x[3], y[3], region, t;
  unsigned long long index;  ///< of the lane's first value

  /// @param[in] regions [element], null where no function reads it; empty lanes repeat the last one
  __device__ formulas(const double *vertices, const int *vertex, const int *regions,
                      long long n_elements, double t, long long group)
      : region(0.0),
        t(t),
        index((unsigned long long)group * FUNCTIONS * POINTS * 32 + threadIdx.x % 32)
  {
    const long long e = group * 32 + threadIdx.x % 32;
    if (regions) region = regions[e < n_elements ? e : n_elements - 1];
    for (int l = 0; l < 3; ++l) {
      const long long v = vertex[(group * 3 + l) * 32 + threadIdx.x % 32];
      x[l] = vertices[2 * v];
      y[l] = vertices[2 * v + 1];
    }
  }
  __device__ double jacobian() const
  {
    return 0.25 * ((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]));
  }
  __device__ points_of_row row(int number) const
  {
    const double c = across_point[number], rest = 1.0 - c;
    return {fma(c, x[2] - x[0], x[0]),
            fma(c, y[2] - y[0], y[0]),
            rest * (x[1] - x[0]),
            rest * (y[1] - y[0]),
            region,
            t};
  }
#ifndef LOADS
  /// Evaluate f_0 at corner k.
  __device__ double corner(int k) const
  {
    double value[FUNCTIONS];
    evaluate(x[k], y[k], 0.0, region, t, value);
    return value[0];
  }
#endif
  __device__ void report(double value, int f, int point) const
  {
    if (!isfinite(value)) atomicMin(&first_bad, index + (f * POINTS + point) * 32);
  }
  /// Look for what is not finite, where a sum is not.
  __device__ void check(double sum) const
  {
    if (isfinite(sum)) return;
#pragma unroll 1
    for (int point = 0; point < ROWS * ROWS; ++point) {
      double value[FUNCTIONS];
      row(point / ROWS).values(point % ROWS, value);
      for (int f = 0; f < FUNCTIONS; ++f) report(value[f], f, point);
    }
#ifndef LOADS
#pragma unroll
    for (int k = 0; k < 3; ++k) report(corner(k), 0, ROWS * ROWS + k);
#endif
  }
};

#ifdef LOADS

extern "C" __global__ void __launch_bounds__(128, BLOCKS)
    sample(const double *vertices, const int *vertex, const int *region, long long first_group,
           long long n_groups, long long n_elements, double t, double scale, double *load,
           unsigned char *rough, double least)
{
  const long long g = (long long)blockIdx.x * 4 + threadIdx.x / 32, group = first_group + g;
  if (g >= n_groups) return;
  const formulas source(vertices, vertex, region, n_elements, t, group);
  kg::load_of_points<ORDER>(table_rule{}, source, scale * source.jacobian(),
                            load + g * kg::point_shape<ORDER>::N * 32 + threadIdx.x % 32,
                            {rough ? rough + g * 32 + threadIdx.x % 32 : nullptr, least});
}

#else

typedef kg::error_shape<SHARE> shape;

extern "C" __global__ void __launch_bounds__(32 * shape::WARPS, BLOCKS)
    sample(const double *vertices, const int *vertex, const int *region, long long first_group,
           long long n_groups, long long n_elements, double t, const double *u, const double *q,
           const double *u_star, double *sums, double *fluxes, const double *diffusion,
           const int *material)
{
  typedef kg::point_shape<ORDER> modes;
  const int lane = threadIdx.x % 32;
  const long long g = ((long long)blockIdx.x * shape::WARPS + threadIdx.x / 32) / shape::SHARE;
  const long long group = first_group + g;
  if (g >= n_groups) return;
  const formulas exact(vertices, vertex, region, n_elements, t, group);
  const double *mine = q + g * 2 * modes::N * 32 + lane;
  const kg::point_fields field = {u + g * modes::N * 32 + lane, mine, mine + modes::N * 32,
                                  u_star + g * modes::S * 32 + lane};
  const kg::point_flux flux(diffusion, material, group * 32 + lane,
                            fluxes ? fluxes + group : nullptr);
  kg::errors_of_group<ORDER, shape>(table_rule{}, exact, field, flux,
                                    group * 32 + lane < n_elements ? exact.jacobian() : 0.0,
                                    sums + group * 4);
}

#endif
