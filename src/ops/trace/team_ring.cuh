// team_ring.cuh: a ring in shared memory (bulk_ring.cuh) whose pieces several warps read: a team.
//
// The last warp of a team to have read a piece refills its slot. All warps know the order of the
// pieces, so whichever comes last knows which one to ask for.
#pragma once
#include "device/cuda_only.cuh"

namespace kg
{

/// The ring of a team. ENTRIES rows of 32 numbers a slot; a group has TOTAL rows, its last slot may
/// be shorter. `Walk` says which groups follow each other: `group`, which is beyond the last one
/// where there is none, and next().
template <class Real, int ENTRIES, int SLOTS, int TOTAL, int WARPS, class Walk>
struct team_ring {
  static constexpr int PIECES = (TOTAL + ENTRIES - 1) / ENTRIES;
  static constexpr int LAST = TOTAL - (PIECES - 1) * ENTRIES;
  static constexpr int ROW = 32;
  Real *slots;         ///< [SLOTS][ENTRIES][32] in shared memory
  uint64_t *barriers;  ///< [SLOTS]
  unsigned *readings;  ///< [SLOTS]: of warps, that have ended
  const Real *array;
  Walk walk;
  int64_t n_groups;
  int next_piece, slot;
  int started;  ///< slots that start() asked for
  unsigned parity;

  /// Fill the ring. Called by whole warps; they meet before the first wait().
  __device__ void start(Real *memory, uint64_t *bars, unsigned *counts, const Real *from,
                        const Walk &groups, int64_t count, bool leads)
  {
    slots = memory, barriers = bars, readings = counts, array = from;
    walk = groups, n_groups = count;
    next_piece = 0, slot = 0, started = 0, parity = 0;
    if (leads) {
      for (int i = 0; i < SLOTS; ++i) {
        barrier_init(barriers + i, 1);
        readings[i] = 0;
      }
      barrier_init_fence();
    }
    for (int i = 0; i < SLOTS; ++i) {
      if (walk.group < n_groups) ++started;
      request(i, leads);
    }
  }

  /// Wait for what start() asked for, instead of using it: a block must not end before.
  __device__ void drain()
  {
    for (int i = 0; i < started; ++i) barrier_wait(barriers + i, 0);
  }

  /// Go on to the next piece of the stream; one thread asks for it.
  __device__ __forceinline__ void request(int into, bool asks)
  {
    if (walk.group >= n_groups) return;
    if (asks) {
      const unsigned rows = next_piece == PIECES - 1 ? LAST : ENTRIES;
      bulk_copy(slots + into * ENTRIES * ROW,
                array + (walk.group * TOTAL + next_piece * ENTRIES) * ROW,
                rows * ROW * (unsigned)sizeof(Real), barriers + into);
    }
    if (++next_piece == PIECES) {
      next_piece = 0;
      walk.next();
    }
  }

  /// Wait for the next piece; its rows, until release().
  __device__ __forceinline__ const Real *wait()
  {
    barrier_wait(barriers + slot, parity);
    return slots + slot * ENTRIES * ROW;
  }

  /// The warp has read the piece: the slot is refilled if it is the last one of its team.
  __device__ __forceinline__ void release()
  {
    bool last = false;
    read_fence();
    __syncwarp();
    if ((threadIdx.x & 31) == 0) {
      __threadfence_block();
      last = (atomicAdd(readings + slot, 1u) + 1) % WARPS == 0;
      __threadfence_block();
    }
    request(slot, last);
    if (++slot == SLOTS) {
      slot = 0;
      parity ^= 1u;
    }
  }
};

}  // namespace kg
