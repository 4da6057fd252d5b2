// point_kernel.cuh: values of functions at points (at_points.h). Text for NVRTC, behind
// point_output.cuh and what point_kernel.c writes: FUNCTIONS and evaluate().
//
// Map  a thread a point

extern "C" __global__ void __launch_bounds__(128)
    point_values(const double *x, const int *region, double t, long long n, double *wide,
                 float *narrow, unsigned *bad, int piece)
{
  const long long i = blockIdx.x * 128ll + threadIdx.x;
  if (i >= n) return;
  const kg::point_output out = {wide, narrow, bad, piece, FUNCTIONS};
  double value[FUNCTIONS];
  evaluate(x[i], x[n + i], x[2 * n + i], region[i], t, value);
  out.put(i, value, 1);
}
