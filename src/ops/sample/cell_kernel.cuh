// cell_kernel.cuh: values of functions at points of cells (cell_values.h). Text for NVRTC, behind
// cell_values.cuh and what cell_kernel.c writes: FUNCTIONS, DIMENSION and evaluate().
//
// Map  a block a group, lane = element; its warps take points in turn

__device__ unsigned long long first_bad = ~0ull;

extern "C" __global__ void __launch_bounds__(128)
    cell_values(const double *vertices, const int *vertex, const double *nodes, const double *map,
                const int *region, double t, double *values, double scale, long long n_elements,
                int n_nodes, int n_points, int n_used, int elliptic)
{
  const int lane = threadIdx.x % 32;
  const long long group = blockIdx.x, e = group * 32 + lane;
  const double tag = region ? region[e < n_elements ? e : n_elements - 1] : 0;
  const kg::cell_nodes<DIMENSION> element(vertices, vertex, nodes, n_nodes, group, lane);
  const kg::cell_output out = {values,    &first_bad, scale,  group,        lane,
                               FUNCTIONS, n_points,   n_used, elliptic != 0};
#pragma unroll 1
  for (int point = threadIdx.x / 32; point < n_points; point += 4) {
    double at[3] = {}, value[FUNCTIONS];
    element.place(map + (long long)point * (1 + DIMENSION) * n_nodes, at);
    evaluate(at[0], at[1], at[2], tag, t, value);
    out.put(point, value, 1);
  }
}
