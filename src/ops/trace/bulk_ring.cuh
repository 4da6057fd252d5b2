// bulk_ring.cuh: a ring in shared memory through which one warp streams its part of a large array.
//
// The copy engine (cp.async.bulk, Hopper and later) fills the ring; an mbarrier a slot tells when a
// slot is full. The warp that empties a slot refills it at once with the piece `slots` further on,
// so loads run ahead of the arithmetic by the length of the ring, across the ends of groups and
// patches too.
//
// What lanes have read may still be on its way into their registers when they meet: only a fence
// between the proxies holds the copy engine back until it is there.
#pragma once
#include "device/cuda_only.cuh"

namespace kg
{

/// One warp's ring. ENTRIES rows of 32 numbers a slot; a group has TOTAL rows, its last slot may be
/// shorter. Groups follow each other by `stride` groups.
template <class Real, int ENTRIES, int SLOTS, int TOTAL>
struct bulk_ring {
  static constexpr int PIECES = (TOTAL + ENTRIES - 1) / ENTRIES;
  static constexpr int LAST = TOTAL - (PIECES - 1) * ENTRIES;
  static constexpr int ROW = 32;
  Real *slots;         ///< [SLOTS][ENTRIES][32] in shared memory
  uint64_t *barriers;  ///< [SLOTS]
  const Real *array;
  int64_t next_group, n_groups, stride;
  int next_piece, slot;
  int started;  ///< slots that start() asked for
  unsigned parity;

  /// Fill the ring. Called by the whole warp.
  __device__ void start(Real *memory, uint64_t *bars, const Real *from, int64_t first,
                        int64_t count, int64_t step)
  {
    slots = memory, barriers = bars, array = from;
    next_group = first, n_groups = count, stride = step;
    next_piece = 0, slot = 0, started = 0, parity = 0;
    if ((threadIdx.x & 31) == 0) {
      for (int i = 0; i < SLOTS; ++i) barrier_init(barriers + i, 1);
      barrier_init_fence();
    }
    __syncwarp();
    for (int i = 0; i < SLOTS; ++i) {
      if (next_group < n_groups) ++started;
      request(i);
    }
  }

  /// Wait for what start() asked for, instead of using it: a block must not end before.
  __device__ void drain()
  {
    for (int i = 0; i < started; ++i) barrier_wait(barriers + i, 0);
  }

  /// Ask for the next piece of the stream, if there is one.
  __device__ __forceinline__ void request(int into)
  {
    if (next_group >= n_groups) return;
    if ((threadIdx.x & 31) == 0) {
      const unsigned rows = next_piece == PIECES - 1 ? LAST : ENTRIES;
      bulk_copy(slots + into * ENTRIES * ROW,
                array + (next_group * TOTAL + next_piece * ENTRIES) * ROW,
                rows * ROW * (unsigned)sizeof(Real), barriers + into);
    }
    if (++next_piece == PIECES) {
      next_piece = 0;
      next_group += stride;
    }
  }

  /// Wait for the next piece; its rows, until release().
  __device__ __forceinline__ const Real *wait()
  {
    barrier_wait(barriers + slot, parity);
    return slots + slot * ENTRIES * ROW;
  }

  /// The warp has read the piece: refill its slot.
  __device__ __forceinline__ void release()
  {
    read_fence();
    __syncwarp();
    request(slot);
    if (++slot == SLOTS) {
      slot = 0;
      parity ^= 1u;
    }
  }
};

}  // namespace kg
