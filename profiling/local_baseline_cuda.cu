// local_baseline_cuda.cu: dense matrices of a chunk of elements for the batched libraries, one
// block an element, one thread an entry after the other.
#include "device/cuda_rt.h"
#include "local_baseline.h"

namespace
{
constexpr int BLOCK = 128;

__global__ void __launch_bounds__(BLOCK)
    build_kernel(const kg_local_matrices_args a, double *operators, double *lifts, double *matrices)
{
  const kg_reference &ref = a.batch.reference;
  const int N = ref.size.n_modes, n = ref.size.n_trace, m = ref.size.n_edge;
  const int64_t element = blockIdx.x, group = element / KG_LANES, lane = element % KG_LANES;
  __shared__ kg_element e;
  if (threadIdx.x == 0) {
    double x[3], y[3];
    kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, (int)lane, x, y);
    e = kg_element_of(x, y, a.materials.one);
  }
  __syncthreads();
  double *z = operators + element * N * N, *w = lifts + element * N * (n + 1);
  double *k = matrices + element * n * (n + 1);
  for (int at = threadIdx.x; at < N * N; at += BLOCK) {
    const int j = at / N, i = at % N;
    z[at] = i < j ? 0.0 : baseline_operator(&ref, &e, i, j);
  }
  for (int at = threadIdx.x; at < N * (n + 1); at += BLOCK) {
    const int c = at / N, i = at % N;
    w[at] = c == n ? a.load[(group * N + i) * KG_LANES + lane]
                   : baseline_sign(&a.batch.arrays, m, element, c) * baseline_lift(&ref, &e, i, c);
  }
  for (int at = threadIdx.x; at < n * (n + 1); at += BLOCK) {
    const int j = at / (n + 1), i = at % (n + 1);
    const double sign = i == n ? 0.0
                               : baseline_sign(&a.batch.arrays, m, element, i) *
                                     baseline_sign(&a.batch.arrays, m, element, j);
    k[at] = i == n ? 0.0 : sign * baseline_trace(&ref, &e, i > j ? i : j, i > j ? j : i);
  }
}

__global__ void __launch_bounds__(BLOCK)
    pointers_kernel(double *operators, double *lifts, int64_t operator_size, int64_t lift_size,
                    int64_t elements, double **pointers)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (i >= elements) return;
  pointers[i] = operators + i * operator_size;
  pointers[elements + i] = lifts + i * lift_size;
}
}  // namespace

extern "C" kedge_status baseline_build_cuda(baseline *b)
{
  build_kernel<<<(unsigned)b->elements, BLOCK, 0, kg_cuda_stream(b->ctx)>>>(
      b->args, (double *)b->operators.data, (double *)b->lifts.data, (double *)b->matrices.data);
  return kg_cuda_launched(b->ctx, "building dense local matrices");
}

extern "C" kedge_status baseline_pointers_cuda(baseline *b)
{
  const kg_sizes z = b->args.batch.reference.size;
  pointers_kernel<<<(unsigned)((b->elements + BLOCK - 1) / BLOCK), BLOCK, 0,
                    kg_cuda_stream(b->ctx)>>>((double *)b->operators.data, (double *)b->lifts.data,
                                              z.n_modes * z.n_modes, z.n_modes * (z.n_trace + 1),
                                              b->elements, (double **)b->pointers.data);
  return kg_cuda_launched(b->ctx, "listing the matrices of a batch");
}
