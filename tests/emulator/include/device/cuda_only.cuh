/// @file
/// In place of src/device/cuda_only.cuh: the same functions on the CPU (emulator.h).
#pragma once
#include "cuda_runtime.h"

#define KG_SHARED(type, name) type *const name = (type *)::emulated::shared_memory()

template <typename... Parameters, typename... Arguments>
void kg_start(const char *name, dim3 blocks, dim3 threads, size_t shared, cudaStream_t,
              void (*kernel)(Parameters...), const Arguments &...arguments)
{
  emulated::enqueue(
      [=] { emulated::launch(name, blocks, threads, shared, [&] { kernel(arguments...); }); });
}

inline uint64_t kg_leave_first()
{
  return 0;
}
inline uint64_t kg_leave_last()
{
  return 0;
}
template <class Real>
void kg_store(Real *to, Real value, uint64_t)
{
  *to = value;
}
inline void kg_chain_wait()
{
}
inline void kg_chain_next()
{
}

namespace kg
{

/// in: a, b; c is lane / 4 by 2 (lane % 4) and the next.
inline void multiply_tiles(emulated::exchange *const *lane, unsigned)
{
  double a[8][4], b[8][4];
  for (int l = 0; l < 32; ++l) {
    memcpy(&a[l / 4][l % 4], &lane[l]->in[0], sizeof(double));
    memcpy(&b[l / 4][l % 4], &lane[l]->in[1], sizeof(double));
  }
  for (int l = 0; l < 32; ++l)
    for (int h = 0; h < 2; ++h)
      for (int k = 0; k < 4; ++k)
        lane[l]->c[h] = fma(a[l / 4][k], b[l % 4 * 2 + h][k], lane[l]->c[h]);
}

inline void tensor_multiply(double2 &c, double a, double b)
{
  emulated::exchange mine = {};
  memcpy(&mine.in[0], &a, sizeof a);
  memcpy(&mine.in[1], &b, sizeof b);
  mine.c[0] = c.x, mine.c[1] = c.y;
  emulated::meet(0xffffffffu, multiply_tiles, &mine);
  c.x = mine.c[0], c.y = mine.c[1];
}

inline void tensor_multiply(double2 &c, double2 &d, double a, double e, double b)
{
  tensor_multiply(c, a, b);
  tensor_multiply(d, e, b);
}

/// As coarse as the hardware's, some 20 bits.
inline double root_estimate(double d)
{
  return (double)(float)(1.0 / sqrt(d));
}
inline double reciprocal_estimate(double d)
{
  return (double)(float)(1.0 / d);
}

inline void store_if(bool condition, double *to, double value)
{
  if (condition) *to = value;
}
inline void part_barrier(int number, int threads)
{
  emulated::barrier(number, threads);
}
inline void meeting_barrier()
{
  emulated::barrier(0, 0);
}
inline void send_pair(void *to, long long first, uint64_t second)
{
  memcpy(to, &first, sizeof first);
  memcpy((char *)to + sizeof first, &second, sizeof second);
}
inline void peek_pair(const void *from, long long *first, uint64_t *second)
{
  memcpy(first, from, sizeof *first);
  memcpy(second, (const char *)from + sizeof *first, sizeof *second);
}

/// A barrier of the copy engine: its parity, and that copies to it are on their way.
inline void barrier_init(uint64_t *barrier, unsigned)
{
  *barrier = 0;
}
inline void barrier_init_fence()
{
}
inline void read_fence()
{
}
inline void bulk_copy(void *to, const void *from, unsigned bytes, uint64_t *barrier)
{
  emulated::bulk_copy(to, from, bytes, barrier);
}
inline void barrier_wait(uint64_t *barrier, unsigned parity)
{
  emulated::bulk_wait(barrier, parity);
}

}  // namespace kg
