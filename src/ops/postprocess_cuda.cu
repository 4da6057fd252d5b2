// postprocess_cuda.cu: u* from q and the mean of u; the indicator ||u* - u||.
// Layout  u [group][N][lane], q [group][2 N][lane], u_star [group][N*][lane], of the chunk.
// Map     block = element, panel = [stiffness of modes 1..; right-hand side^T] (panel_cuda.cuh).
#include "backend/cuda_rt.h"
#include "ops/panel_cuda.cuh"
#include "ops/postprocess.h"

namespace
{

/// The stiffness matrix over J of all modes but the constant.
__device__ void fill_stiffness(double *panel, int ld, const kg_reference &ref, const kg_element &e)
{
  const int S = ref.size.n_star - 1;
  const double rr = e.grad_r[0] * e.grad_r[0] + e.grad_r[1] * e.grad_r[1];
  const double rs = e.grad_r[0] * e.grad_s[0] + e.grad_r[1] * e.grad_s[1];
  const double ss = e.grad_s[0] * e.grad_s[0] + e.grad_s[1] * e.grad_s[1];
  for (int i = threadIdx.x; i < S * S; i += blockDim.x) {
    const int row = i / S, col = i % S;
    if (col > row) continue;
    const int k = (row + 1) * (row + 2) / 2 + col + 1;
    panel[row * ld + col] = rr * ref.star_stiffness[0][k] + rs * ref.star_stiffness[1][k] +
                            ss * ref.star_stiffness[2][k];
  }
}

/// x_i = (q, grad phi*_{i+1}) / J.
__device__ void right_hand_side(const kg_postprocess_args &a, int64_t g, int lane,
                                const kg_element &e, double *s_r, double *s_s, double *x)
{
  const kg_reference &ref = a.batch.reference;
  const int N = ref.size.n_modes, S = ref.size.n_star - 1;
  for (int j = threadIdx.x; j < N; j += blockDim.x) {
    const double qx = a.q[(g * 2 * N + j) * KG_LANES + lane];
    const double qy = a.q[(g * 2 * N + N + j) * KG_LANES + lane];
    s_r[j] = e.grad_r[0] * qx + e.grad_r[1] * qy;
    s_s[j] = e.grad_s[0] * qx + e.grad_s[1] * qy;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < S; i += blockDim.x) {
    double sum = 0.0;
    for (int j = 0; j < N; ++j)
      sum += ref.star_gradient_r[(i + 1) * N + j] * s_r[j] +
             ref.star_gradient_s[(i + 1) * N + j] * s_s[j];
    x[i] = sum;
  }
}

__device__ void write_star(const kg_postprocess_args &a, int64_t g, int lane, double jacobian,
                           const double *x, double *s_warp)
{
  const int N = a.batch.reference.size.n_modes, S = a.batch.reference.size.n_star;
  double difference = 0.0;
  for (int i = threadIdx.x; i < S; i += blockDim.x) {
    const double u = i < N ? a.u[(g * N + i) * KG_LANES + lane] : 0.0;
    const double star = i == 0 ? u : x[i - 1];
    a.u_star[(g * S + i) * KG_LANES + lane] = star;
    difference += (star - u) * (star - u);
  }
  difference = kg_block_sum(difference, s_warp);
  if (threadIdx.x == 0) a.indicator[g * KG_LANES + lane] = sqrt(jacobian * difference);
}

__global__ void postprocess_kernel(const kg_postprocess_args a)
{
  extern __shared__ double2 s_memory[];
  __shared__ double s_warp[32];
  __shared__ kg_element e;
  const int N = a.batch.reference.size.n_modes, S = a.batch.reference.size.n_star - 1;
  const int np = kg_panel_padded(S), ld = kg_panel_ld(S);
  double *panel = (double *)s_memory, *x = panel + np * ld, *s_inverse = x + ld;
  double *s_r = s_inverse + np, *s_s = s_r + N;
  const int64_t g = blockIdx.x / KG_LANES;
  const int lane = (int)(blockIdx.x % KG_LANES);
  const kg_material unit = {1.0, 0.0, 0.0, KEDGE_SCALING_ONE};
  kg_block_element(a.batch, {a.first_group + g, lane}, unit, &e);
  fill_stiffness(panel, ld, a.batch.reference, e);
  right_hand_side(a, g, lane, e, s_r, s_s, x);
  kg_panel_pad(panel, np + 1, S, np, ld);
  kg_panel_factor(panel, np + 1, np, ld, s_inverse);
  kg_panel_backward(panel, np, ld, s_inverse, x);
  __syncthreads();
  write_star(a, g, lane, e.jacobian, x, s_warp);
}

}  // namespace

extern "C" kedge_status kg_postprocess_cuda(kedge_context *ctx, const kg_postprocess_args *a)
{
  if (a->n_groups == 0) return KEDGE_OK;
  const int N = a->batch.reference.size.n_modes, S = a->batch.reference.size.n_star - 1;
  const int np = kg_panel_padded(S);
  const size_t shared = sizeof(double) * ((size_t)(np + 1) * kg_panel_ld(S) + np + 2 * (size_t)N);
  KG_TRY(
      kg_cuda_check(ctx,
                    cudaFuncSetAttribute(postprocess_kernel,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
                    "postprocess: asking for shared memory"));
  postprocess_kernel<<<(unsigned)a->n_groups * KG_LANES, kg_panel_threads(np + 1), shared,
                       kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "postprocess");
}
