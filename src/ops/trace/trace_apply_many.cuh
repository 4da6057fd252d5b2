// trace_apply_many.cuh: the patch kernel of many vectors, for GPUs with a copy engine.
//
// K^e is read once for all vectors, and by each of them from shared memory. A thread has an element
// and a vector, so that it needs no more registers than with one vector: a warp has 8 elements and
// their 4 vectors, whose numbers [edge][mode][vector] are 32 bytes each; 4 warps, a team, have the
// 32 elements of a group and one ring of K^e (team_ring.cuh). A patch has more groups than there
// are teams where registers want it so: the teams then take them one after the other.
//
// Persistent blocks walk over the patches, one on each multiprocessor: vectors fill its shared
// memory. While the last groups of a patch are computed, x of the next patch is on its way.
#pragma once
#include <cuda_pipeline.h>

#include "device/cuda_chain.cuh"
#include "device/cuda_only.cuh"
#include "ops/by_order.cuh"
#include "ops/trace/element_codes.cuh"
#include "ops/trace/element_product.cuh"
#include "ops/trace/patch_place.cuh"
#include "ops/trace/team_ring.cuh"
#include "ops/trace/trace_apply.h"
#include "ops/vector/grid_sum.cuh"

namespace
{

constexpr int K = KG_VECTORS;

/// As ring_shape (trace_apply_stream.cuh), and the teams of a block.
struct team_shape {
  int entries, slots, teams;
};
constexpr team_shape PACKED_TEAMS[] = {{7, 3, 4},  {15, 2, 4}, {13, 2, 4},
                                       {10, 3, 4}, {19, 3, 4}, {21, 3, 4}};
constexpr team_shape REDUCED_TEAMS[] = {{9, 2, 4}, {12, 2, 4}, {12, 2, 4},
                                        {9, 3, 4}, {21, 3, 4}, {29, 2, 4}};
static_assert(sizeof PACKED_TEAMS / sizeof *PACKED_TEAMS == KG_MANY_MODES_MAX - 1 &&
                  sizeof REDUCED_TEAMS / sizeof *REDUCED_TEAMS == KG_MANY_MODES_MAX - 1,
              "one entry per number of modes");

template <int MODES, bool REDUCED>
struct many_shape {
  static constexpr team_shape of = (REDUCED ? REDUCED_TEAMS : PACKED_TEAMS)[MODES - KG_MODES_MIN];
  static constexpr int M = MODES, n = 3 * M;
  static constexpr int groups = kg_patch_groups(MODES), rounds = groups / of.teams;
  static constexpr int threads = 32 * of.teams * K;
  static constexpr int total = ELEMENT_ENTRIES<3, M, REDUCED>;
  static constexpr int word = 16 / sizeof(kg_real);  // numbers of a copy
  static constexpr int words = M * K / word;         // of an edge
  // Numbers between edges in shared memory: an odd multiple of those of a mode, so that edges that
  // a warp reads lie in different banks.
  static constexpr int row = (M | 1) * K;
  static constexpr int ring_numbers = of.slots * of.entries * 32;
  /// Bytes of shared memory: barriers and counters, rings, products of all sides, x, halo lists.
  static size_t bytes(const kg_trace_counts &count)
  {
    const size_t edges = 3 * 32 * groups + (size_t)count.max_local;
    return 1024 + sizeof(kg_real) * (of.teams * ring_numbers + edges * row) +
           3 * sizeof(uint32_t) * (size_t)count.max_halo;
  }
};

/// The groups of a team: those of a patch, then those of the block's next patch.
template <class shape>
struct team_walk {
  int64_t group;
  int round, step;  ///< patches between those of a block

  __device__ __forceinline__ void next()
  {
    group += shape::of.teams;
    if (++round < shape::rounds) return;
    round = 0;
    group += (int64_t)(step - 1) * shape::groups;
  }
};

struct alignas(16) many_word {
  kg_real value[16 / sizeof(kg_real)];
};

/// The shared memory of a block. x is that of one patch; halo lists are held for the patch being
/// computed, the next and the one after it (`turn` 0 to 2).
template <class shape>
struct many_memory {
  static constexpr int T = shape::threads;
  const kg_trace_apply_args &a;
  kg_real *s_y;      ///< [place of a side][row]: products
  kg_real *s_x;      ///< [edge of the patch][row]
  uint32_t *s_halo;  ///< [turn][halo entry of the patch]

  __device__ many_memory(const kg_trace_apply_args &args, kg_real *memory) : a(args)
  {
    s_y = memory;
    s_x = s_y + 3 * 32 * shape::groups * shape::row;
    s_halo = (uint32_t *)(s_x + a.batch.count.max_local * shape::row);
  }
  __device__ uint32_t *halo(int turn) const
  {
    return s_halo + turn * a.batch.count.max_halo;
  }

  /// Send for x of a patch whose halo list is here.
  __device__ __forceinline__ void fetch_patch(const patch_place &p, int turn) const
  {
    const uint32_t *entries = halo(turn);
    const auto *const x = (const many_word *)a.x;
    for (int i = threadIdx.x; i < (p.n_inside + p.n_halo) * shape::words; i += T) {
      const int local = i / shape::words, word = i % shape::words;
      const int64_t edge = local < p.n_inside ? p.edge0 + local : entries[local - p.n_inside] >> 1;
      __pipeline_memcpy_async(s_x + local * shape::row + word * shape::word,
                              x + edge * shape::words + word, sizeof *x);
    }
  }

  __device__ __forceinline__ many_word product(int place, int word) const
  {
    return *(const many_word *)(s_y + place * shape::row + word * shape::word);
  }

  /// Each edge of the patch adds its one or two products into its row.
  __device__ __forceinline__ void gather(const patch_place &p, int turn) const
  {
    auto *const y = (many_word *)a.y + (int64_t)p.edge0 * shape::words;
    for (int i = threadIdx.x; i < p.n_inside * shape::words; i += T) {
      const int local = i / shape::words, word = i % shape::words;
      many_word sum = product(2 * local, word);
      const many_word other = product(2 * local + 1, word);
#pragma unroll
      for (int k = 0; k < shape::word; ++k) sum.value[k] += other.value[k];
      y[i] = sum;
    }
    for (int i = threadIdx.x; i < p.n_halo * shape::words; i += T) {
      const int local = i / shape::words, word = i % shape::words;
      auto *const row = (many_word *)kg_halo_row(&a, halo(turn)[local], shape::words * 16);
      if (row) row[word] = product(2 * p.n_inside + local, word);
    }
  }
};

/// The numbers of this thread's element, as the ring of its team brings them.
template <class shape, class Ring>
struct team_entries {
  Ring &ring;
  const kg_real *rows;
  int lane;

  __device__ __forceinline__ kg_real take(int t)
  {
    constexpr int E = shape::of.entries;
    if (t % E == 0) rows = ring.wait();
    const kg_real value = rows[t % E * 32 + lane];
    if (t % E == E - 1 || t == shape::total - 1) ring.release();
    return value;
  }
};

template <int MODES, bool REDUCED>
__global__ void __launch_bounds__((many_shape<MODES, REDUCED>::threads), 1)
    KG_REAL(trace_apply_many)(const kg_trace_apply_args a, unsigned *counter)
{
  using shape = many_shape<MODES, REDUCED>;
  constexpr int M = shape::M, n = shape::n, TEAMS = shape::of.teams, SLOTS = shape::of.slots;
  using walk = team_walk<shape>;
  using team = kg::team_ring<kg_real, shape::of.entries, SLOTS, shape::total, K, walk>;
  KG_SHARED(__align__(1024) unsigned char, s_memory);
  __shared__ double s_sum[TEAMS * K * K];
  kg_chain_next();
  const int thread = threadIdx.x, warp = thread / 32, step = gridDim.x, number = warp / K;
  const int lane = warp % K * (32 / K) + thread % 32 / K, vector = thread % K;
  kg_real *s_ring = (kg_real *)(s_memory + 1024);
  const many_memory<shape> memory(a, s_ring + TEAMS * shape::ring_numbers);
  team ring;
  ring.start(s_ring + number * shape::ring_numbers, (uint64_t *)s_memory + number * SLOTS,
             (unsigned *)(s_memory + 512) + number * SLOTS, (const kg_real *)a.local.data,
             walk{(int64_t)blockIdx.x * shape::groups + number, 0, step}, a.batch.count.n_groups,
             thread % (32 * K) == 0);

  int patch = blockIdx.x;
  patch_place now = place_of(a, patch), next = place_of(a, patch + step);
  fetch_halo<shape::threads>(a, now, memory.halo(0));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  kg_chain_wait();  // so far nothing that the kernel in front writes
  if (kg_stopped(a.pass.stop)) {
    ring.drain();
    return;
  }
  memory.fetch_patch(now, 0);
  fetch_halo<shape::threads>(a, next, memory.halo(1));
  __pipeline_commit();
  double dot = 0.0;
  const auto codes_of = [&](int64_t group) {
    element_codes<3> codes = {};
    const int64_t element = group * 32 + lane;
    if (element < a.batch.count.n_elements) codes.load(a.batch.arrays.side_codes, element);
    return codes;
  };
  element_codes<3> next_codes = codes_of((int64_t)patch * shape::groups + number);

  for (int turn = 0; patch < a.batch.count.n_patches; patch += step) {
    const int next_turn = turn == 2 ? 0 : turn + 1;
    const patch_place after = place_of(a, patch + 2 * step);
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int round = 0; round < shape::rounds; ++round) {
      const int64_t group = (int64_t)patch * shape::groups + round * TEAMS + number;
      const int64_t element = group * 32 + lane;
      const bool active = group < a.batch.count.n_groups;
      const element_codes<3> codes = next_codes;
      kg_real x[n], y[n];
      if (active) {
#pragma unroll
        for (int i = 0; i < n; ++i)
          x[i] = memory.s_x[(codes.code(i / M) >> 1) * shape::row + i % M * K + vector];
      }
      if (round == shape::rounds - 1) {
        __syncthreads();  // s_x is free for the next patch
        memory.fetch_patch(next, next_turn);
        fetch_halo<shape::threads>(a, after, memory.halo(3 - turn - next_turn));
        __pipeline_commit();
      }
      next_codes =
          codes_of(round < shape::rounds - 1 ? group + TEAMS
                                             : (int64_t)(patch + step) * shape::groups + number);
      if (!active) continue;
      team_entries<shape, team> entries = {ring, nullptr, lane};
      dot +=
          multiply_element<3, M, REDUCED>(entries, a.local.layout == KG_LAYOUT_DIFFERENCES, x, y);
      if (element < a.batch.count.n_elements) {
#pragma unroll
        for (int i = 0; i < n; ++i)
          memory.s_y[kg_code_place(codes.code(i / M), now.n_inside) * shape::row + i % M * K +
                     vector] = y[i];
      }
    }
    __syncthreads();
    memory.gather(now, turn);
    turn = next_turn;
    now = next;
    next = after;
  }
  if (a.pass.sum.total != nullptr) kg_grid_sums_end<K>(dot, a.pass.sum, counter, s_sum);
}

/// Launches a block a multiprocessor; each walks over the patches.
template <int MODES, bool REDUCED>
kedge_status launch_many(kedge_context *ctx, const kg_trace_apply_args &a)
{
  using shape = many_shape<MODES, REDUCED>;
  const auto kernel = KG_REAL(trace_apply_many)<MODES, REDUCED>;
  const size_t shared = shape::bytes(a.batch.count);
  KG_TRY(kg_cuda_ask_for_shared(ctx, (const void *)kernel, shared, "trace_apply"));
  const unsigned grid = kg_cuda_blocks(ctx, a.batch.count.n_patches, 1);
  return kg_chain_launch(ctx, "trace_apply", kernel, grid, shape::threads, shared,
                         a.pass.after_vectors, a, kg_cuda(ctx)->counters + KG_COUNTER_TRACE_APPLY);
}

}  // namespace
