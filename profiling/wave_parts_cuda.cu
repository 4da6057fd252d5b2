// wave_parts_cuda.cu: the parts of a stage of waves on a GPU (wave_parts.h).
// Map      gather: a thread is a node of a facet; lift, differentiate, one: a thread is a node, and
//          a block's elements lie in shared memory first; update: a thread is a number. Kernels are
//          compiled by order, so that sums over nodes are unrolled.
#include "device/cuda_launch.cuh"
#include "wave_parts.h"

namespace
{

template <int ORDER>
constexpr int NODES = (ORDER + 1) * (ORDER + 2) * (ORDER + 3) / 6;
template <int ORDER>
constexpr int COLUMNS = 2 * (ORDER + 1) * (ORDER + 2);

template <int ORDER>
__global__ void __launch_bounds__(WAVE_THREADS_MAX)
    gather_kernel(const __grid_constant__ wave_parts_args a)
{
  constexpr int columns = COLUMNS<ORDER>;
  const int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int32_t e = (int32_t)(t / columns);
  if (e >= a.n_elements) return;
  float f[WAVE_FIELDS];
  wave_flux(&a, e, (int)(t % columns), f);
  for (int i = 0; i < WAVE_FIELDS; ++i) a.flux[(int64_t)i * a.n_elements * columns + t] = f[i];
}

/// Copy what a block reads of arrays of `count` numbers an element. @param[out] to [field][block]
__device__ void load(const wave_parts_args &a, const float *from, int count, int elements,
                     float *to)
{
  const int64_t all = (int64_t)a.n_elements * count, first = (int64_t)blockIdx.x * elements * count;
  for (int k = (int)threadIdx.x; k < elements * count; k += (int)blockDim.x)
    for (int f = 0; f < WAVE_FIELDS; ++f)
      to[f * elements * count + k] = first + k < all ? from[f * all + first + k] : 0.0f;
}

/// LIFT flux at a node. @param[in] flux  [field][element of the block][column]
template <int ORDER>
__device__ void lift_node(const wave_parts_args &a, const float *flux, int elements, int own, int i,
                          float *rhs)
{
  constexpr int columns = COLUMNS<ORDER>, n = NODES<ORDER>;
#pragma unroll 4
  for (int k = 0; k < columns; ++k) {
    const float entry = a.lift[k * n + i];
    for (int f = 0; f < WAVE_FIELDS; ++f)
      rhs[f] += entry * flux[(f * elements + own) * columns + k];
  }
}

template <int ORDER>
__device__ void differentiate_node(const wave_parts_args &a, const float *u, int elements, int own,
                                   int i, int32_t e, float *rhs)
{
  constexpr int n = NODES<ORDER>;
  float slope[3][WAVE_FIELDS] = {};
#pragma unroll 4
  for (int j = 0; j < n; ++j)
    for (int d = 0; d < 3; ++d) {
      const float entry = a.derivative[(d * n + j) * n + i];
      for (int f = 0; f < WAVE_FIELDS; ++f) slope[d][f] += entry * u[(f * elements + own) * n + j];
    }
  for (int d = 0; d < 3; ++d) wave_along(a.gradient + ((int64_t)e * 3 + d) * 3, slope[d], rhs);
}

template <int ORDER>
__global__ void __launch_bounds__(WAVE_THREADS_MAX)
    lift_kernel(const __grid_constant__ wave_parts_args a, int elements)
{
  constexpr int n = NODES<ORDER>;
  KG_SHARED(float, s_flux);
  load(a, a.flux, COLUMNS<ORDER>, elements, s_flux);
  __syncthreads();
  const int own = (int)threadIdx.x / n, i = (int)threadIdx.x % n;
  const int32_t e = (int32_t)blockIdx.x * elements + own;
  if (own >= elements || e >= a.n_elements) return;
  float rhs[WAVE_FIELDS] = {};
  lift_node<ORDER>(a, s_flux, elements, own, i, rhs);
  for (int f = 0; f < WAVE_FIELDS; ++f) a.rhs[wave_place(&a, f, e, i)] = rhs[f];
}

template <int ORDER>
__global__ void __launch_bounds__(WAVE_THREADS_MAX)
    differentiate_kernel(const __grid_constant__ wave_parts_args a, int elements)
{
  constexpr int n = NODES<ORDER>;
  KG_SHARED(float, s_u);
  load(a, a.u, n, elements, s_u);
  __syncthreads();
  const int own = (int)threadIdx.x / n, i = (int)threadIdx.x % n;
  const int32_t e = (int32_t)blockIdx.x * elements + own;
  if (own >= elements || e >= a.n_elements) return;
  float rhs[WAVE_FIELDS];
  for (int f = 0; f < WAVE_FIELDS; ++f) rhs[f] = a.rhs[wave_place(&a, f, e, i)];
  differentiate_node<ORDER>(a, s_u, elements, own, i, e, rhs);
  for (int f = 0; f < WAVE_FIELDS; ++f) a.rhs[wave_place(&a, f, e, i)] = rhs[f];
}

__global__ void __launch_bounds__(WAVE_THREADS_MAX)
    update_kernel(const __grid_constant__ wave_parts_args a)
{
  const int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (t < (int64_t)WAVE_FIELDS * a.n_elements * a.n) wave_end(&a, t, a.rhs[t], a.u);
}

template <int ORDER>
__global__ void __launch_bounds__(WAVE_THREADS_MAX)
    one_kernel(const __grid_constant__ wave_parts_args a, int elements)
{
  constexpr int n = NODES<ORDER>, columns = COLUMNS<ORDER>;
  KG_SHARED(float, s_all);
  float *const s_flux = s_all + WAVE_FIELDS * elements * n;
  load(a, a.u, n, elements, s_all);
  for (int k = (int)threadIdx.x; k < elements * columns; k += (int)blockDim.x) {
    const int32_t e = (int32_t)blockIdx.x * elements + k / columns;
    float f[WAVE_FIELDS] = {};
    if (e < a.n_elements) wave_flux(&a, e, k % columns, f);
    for (int i = 0; i < WAVE_FIELDS; ++i) s_flux[i * elements * columns + k] = f[i];
  }
  __syncthreads();
  const int own = (int)threadIdx.x / n, i = (int)threadIdx.x % n;
  const int32_t e = (int32_t)blockIdx.x * elements + own;
  if (own >= elements || e >= a.n_elements) return;
  float rhs[WAVE_FIELDS] = {};
  lift_node<ORDER>(a, s_flux, elements, own, i, rhs);
  differentiate_node<ORDER>(a, s_all, elements, own, i, e, rhs);
  for (int f = 0; f < WAVE_FIELDS; ++f) wave_end(&a, wave_place(&a, f, e, i), rhs[f], a.next);
}

unsigned blocks_of(int64_t n, int64_t block)
{
  return (unsigned)((n + block - 1) / block);
}

/// Threads of whole warps.
unsigned threads_of(int wanted)
{
  return (unsigned)(wanted + 31) / 32 * 32;
}

template <int ORDER>
kedge_status launch(kedge_context *ctx, const wave_parts_args &a, wave_part part, int elements)
{
  constexpr int n = NODES<ORDER>, columns = COLUMNS<ORDER>;
  const unsigned blocks = blocks_of(a.n_elements, elements), threads = threads_of(elements * n);
  const size_t shared = wave_part_shared(&a, part, elements);
  switch (part) {
    case WAVE_GATHER: {
      const unsigned block = threads_of(elements * columns);
      return kg_launch(ctx, "wave gather", blocks_of((int64_t)a.n_elements * columns, block), block,
                       0, gather_kernel<ORDER>, a);
    }
    case WAVE_LIFT:
      return kg_launch_shared(ctx, "wave lift", blocks, threads, shared, lift_kernel<ORDER>, a,
                              elements);
    case WAVE_DIFFERENTIATE:
      return kg_launch_shared(ctx, "wave differentiate", blocks, threads, shared,
                              differentiate_kernel<ORDER>, a, elements);
    case WAVE_UPDATE:
      return kg_launch(ctx, "wave update",
                       blocks_of((int64_t)WAVE_FIELDS * a.n_elements * n, threads), threads, 0,
                       update_kernel, a);
    default:
      return kg_launch_shared(ctx, "wave in one", blocks, threads, shared, one_kernel<ORDER>, a,
                              elements);
  }
}

}  // namespace

extern "C" kedge_status wave_part_run_cuda(kedge_context *ctx, const wave_parts_args *a,
                                           wave_part part, int elements)
{
  switch (a->order) {
    case 1:
      return launch<1>(ctx, *a, part, elements);
    case 2:
      return launch<2>(ctx, *a, part, elements);
    case 3:
      return launch<3>(ctx, *a, part, elements);
    case 4:
      return launch<4>(ctx, *a, part, elements);
    case 5:
      return launch<5>(ctx, *a, part, elements);
    case 6:
      return launch<6>(ctx, *a, part, elements);
    case 7:
      return launch<7>(ctx, *a, part, elements);
    case 8:
      return launch<8>(ctx, *a, part, elements);
    default:
      return launch<9>(ctx, *a, part, elements);
  }
}
