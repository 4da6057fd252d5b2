// sample_kernels.cuh: load vectors of a source, or errors against an exact solution, evaluated where
// they are needed: point values never lie in memory. Text for NVRTC, behind point_sums.cuh and what
// sample_kernel.c writes: ORDER, FUNCTIONS, POINTS, SHARE, evaluate(), the tables of the rule, and LOADS
// for load vectors.
//
// Layout, Map  as load_vectors_cuda.cu and errors_cuda.cu
// Points       are computed as the host does (solver/sampling.c), in its order
// Bad          the smallest index [group of the call][function][point][lane] of a value that is not
//              finite: an order of arrival does not matter

__device__ unsigned long long first_bad = ~0ull;

struct table_rule {
  const double *basis;  ///< [point][mode of order P + 1]

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
  __device__ double node(int k, int mode) const
  {
    typedef kg::point_shape<ORDER> shape;
    return basis[(shape::R * shape::R + k) * shape::S + mode];
  }
};

/// Functions on the triangle of a lane.
struct formulas {
  static constexpr int UNROLL = 1, NODES = 2;  // each copy is compiled
  double x[3], y[3];
  unsigned long long index;  ///< of the lane's first value

  __device__ formulas(const double *vertices, const int *vertex, long long group, long long g)
      : index((unsigned long long)g * FUNCTIONS * POINTS * 32 + threadIdx.x % 32)
  {
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
  __device__ void evaluate_at(int point, double *value) const
  {
    const double a = point_table[point][0], b = point_table[point][1], c = point_table[point][2];
    evaluate(a * x[0] + b * x[1] + c * x[2], a * y[0] + b * y[1] + c * y[2], value);
  }
  __device__ void check(double value, int f, int point) const
  {
    if (!isfinite(value)) atomicMin(&first_bad, index + (f * POINTS + point) * 32);
  }
  __device__ void values(int point, double *value) const
  {
    evaluate_at(point, value);
    for (int f = 0; f < FUNCTIONS; ++f) check(value[f], f, point);
  }
  /// Of the first function.
  __device__ double value(int point) const
  {
    double value[FUNCTIONS];
    values(point, value);
    return value[0];
  }
};

#ifdef LOADS

extern "C" __global__ void __launch_bounds__(128)
    sample(const double *vertices, const int *vertex, long long first_group, long long n_groups,
           double *load)
{
  const long long g = (long long)blockIdx.x * 4 + threadIdx.x / 32, group = first_group + g;
  if (g >= n_groups) return;
  const formulas source(vertices, vertex, group, g);
  kg::load_of_points<ORDER>(table_rule{nullptr}, source, source.jacobian(),
                            load + group * kg::point_shape<ORDER>::N * 32 + threadIdx.x % 32);
  for (int node = kg::point_shape<ORDER>::R * kg::point_shape<ORDER>::R; node < POINTS; ++node)
    source.value(node);  // has to be finite there too
}

#else

typedef kg::error_shape<ORDER, SHARE> shape;

extern "C" __global__ void __launch_bounds__(32 * shape::WARPS, shape::BLOCKS)
    sample(const double *vertices, const int *vertex, long long first_group, long long n_groups,
           long long n_elements, const double *basis, const double *u, const double *q,
           const double *u_star, double *sums)
{
  typedef kg::point_shape<ORDER> modes;
  const int lane = threadIdx.x % 32;
  const long long at = ((long long)blockIdx.x * shape::WARPS + threadIdx.x / 32) / shape::SHARE;
  const long long g = at < n_groups ? at : n_groups - 1;  // whole blocks meet at a barrier
  const long long group = first_group + g;
  const formulas exact(vertices, vertex, group, g);
  const double *mine = q + g * 2 * modes::N * 32 + lane;
  const kg::point_fields field = {u + g * modes::N * 32 + lane, mine, mine + modes::N * 32,
                                  u_star + g * modes::S * 32 + lane};
  kg::errors_of_group<ORDER, SHARE>(table_rule{basis}, exact, field,
                                    group * 32 + lane < n_elements ? exact.jacobian() : 0.0,
                                    at < n_groups, sums + group * 4);
}

#endif
