// cuda_only.cuh: what only CUDA's compiler understands: launches, dynamic shared memory, and PTX
// for what CUDA C++ has no word for. All of it stands here (but empty statements that only hold the
// compiler back), so that tests can run kernels on the CPU (tests/emulator).
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

/// The dynamic shared memory of a kernel, as the array `name`.
#define KG_SHARED(type, name) extern __shared__ type name[]

/// Start a kernel; `name` is for tests. Call kg_launch() (cuda_launch.cuh), which checks.
template <typename... Parameters, typename... Arguments>
void kg_start(const char *, dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream,
              void (*kernel)(Parameters...), const Arguments &...arguments)
{
  kernel<<<blocks, threads, shared, stream>>>(arguments...);
}

// ---- the L2 cache: a policy goes with an access (sm_90 and later; older GPUs store plainly) ----

/// The policy of the L2 cache for data that streams through once: it leaves before anything else.
__device__ __forceinline__ uint64_t kg_leave_first()
{
  uint64_t policy = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

/// The policy of the L2 cache for a little data that is soon read again: it leaves last.
__device__ __forceinline__ uint64_t kg_leave_last()
{
  uint64_t policy = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

__device__ __forceinline__ void kg_store(double *to, double value, uint64_t policy)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(to), "d"(value), "l"(policy)
               : "memory");
#else
  (void)policy;
  *to = value;
#endif
}

__device__ __forceinline__ void kg_store(float *to, float value, uint64_t policy)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(to), "f"(value), "l"(policy)
               : "memory");
#else
  (void)policy;
  *to = value;
#endif
}

// ---- kernels that follow each other closely (cuda_chain.cuh; sm_90 and later) ----

/// Wait until the kernels before this one have ended and all they wrote can be read.
__device__ __forceinline__ void kg_chain_wait()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Let the next kernel start when all blocks of this one have called it.
__device__ __forceinline__ void kg_chain_next()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

namespace kg
{

// ---- arithmetic ----

/// c += a b on the tensor cores, by a warp; a 8 x 4, b 4 x 8 (sm_80 and later).
__device__ __forceinline__ void tensor_multiply(double2 &c, double a, double b)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c.x), "+d"(c.y)
      : "d"(a), "d"(b));
#endif
}

/// c += a b and d += e b: for the price of one where the tensor cores take 16 rows (sm_90).
__device__ __forceinline__ void tensor_multiply(double2 &c, double2 &d, double a, double e,
                                                double b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(c.x), "+d"(c.y), "+d"(d.x), "+d"(d.y)
      : "d"(a), "d"(e), "d"(b));
#else
  tensor_multiply(c, a, b);
  tensor_multiply(d, e, b);
#endif
}

/// The hardware's estimate of 1 / sqrt(d); NaN for d < 0.
__device__ __forceinline__ double root_estimate(double d)
{
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
  return y;
}

/// The hardware's estimate of 1 / d.
__device__ __forceinline__ double reciprocal_estimate(double d)
{
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
  return y;
}

/// A store by some lanes, which nothing branches around: the compiler would move the computation of
/// the value behind the branch, where it could not be mixed with others.
__device__ __forceinline__ void store_if(bool condition, double *to, double value)
{
  asm volatile(
      "{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @p st.global.f64 [%0], %1;\n}" ::"l"(to),
      "d"(value), "r"((int)condition)
      : "memory");
}

// ---- barriers of a block ----

/// Barrier `number` (1 to 15; 0 is that of the block) of `threads` threads, whole warps.
__device__ __forceinline__ void part_barrier(int number, int threads)
{
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/// The barrier of the block, which warps may come to from different places of the code:
/// __syncthreads() does not promise to allow that; a barrier that is not `aligned` does.
__device__ __forceinline__ void meeting_barrier()
{
  asm volatile("barrier.sync 0;" ::: "memory");
}

// ---- messages between blocks ----

/// Both numbers, 16 aligned bytes, are seen together or not at all.
__device__ __forceinline__ void send_pair(void *to, long long first, uint64_t second)
{
  asm volatile(
      "{\n.reg .b128 m;\nmov.b128 m, {%1, %2};\nst.relaxed.gpu.global.b128 [%0], m;\n}\n" ::"l"(to),
      "l"(first), "l"(second)
      : "memory");
}

__device__ __forceinline__ void peek_pair(const void *from, long long *first, uint64_t *second)
{
  long long one;
  uint64_t two;
  asm volatile("{\n.reg .b128 m;\nld.relaxed.gpu.global.b128 m, [%2];\nmov.b128 {%0, %1}, m;\n}\n"
               : "=l"(one), "=l"(two)
               : "l"(from)
               : "memory");
  *first = one;
  *second = two;
}

// ---- the copy engine (bulk_ring.cuh; sm_90 and later: older GPUs never run this) ----

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define KG_COPY_ENGINE 1
#endif

__device__ __forceinline__ uint32_t shared_address(const void *pointer)
{
  return (uint32_t)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ void barrier_init(uint64_t *barrier, unsigned arrivals)
{
#ifdef KG_COPY_ENGINE
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
#endif
}

/// Make initialised barriers visible to the copy engine.
__device__ __forceinline__ void barrier_init_fence()
{
#ifdef KG_COPY_ENGINE
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

__device__ __forceinline__ void barrier_wait(uint64_t *barrier, unsigned parity)
{
#ifdef KG_COPY_ENGINE
  asm volatile(
      "{\n"
      ".reg .pred ready;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 ready, [%0], %1;\n"
      "@!ready bra again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
#endif
}

/// What this thread has read of shared memory is in its registers: the copy engine may write there.
__device__ __forceinline__ void read_fence()
{
#ifdef KG_COPY_ENGINE
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Copy `bytes` (a multiple of 16) to shared memory; the barrier completes when they are there.
/// They leave the L2 cache first.
__device__ __forceinline__ void bulk_copy(void *to, const void *from, unsigned bytes,
                                          uint64_t *barrier)
{
#ifdef KG_COPY_ENGINE
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier)), "l"(kg_leave_first())
      : "memory");
#endif
}

}  // namespace kg
