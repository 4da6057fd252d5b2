// stage_fused.cuh: a stage of waves in one kernel. Text for NVRTC, behind what stage_kernel.c
// writes: types, a system's header, stage_node.h, and sizes and tables of the order as constants.
// What the kernels of stage_straight.cuh and stage_loops.cuh share, of which one follows.
//
// Map      a block is ELEMENTS elements
// Layout   rows of u of the block's elements in shared memory, one element behind the other, at
//          odd distances: threads of a warp, which read the same node of different elements, find
//          it in different banks. Behind them rows of the facets' nodes, [facet][field][node]:
//          first the neighbours' values, where these are not of this block, then f.
// Sectors  basis/sectors.h

enum {
  ROW = KG_LAW_FIELDS * NODES,
  U_ROW = ROW | 1,
  COLUMNS = FACETS * FACET_NODES,
  F_ROW = FACETS * FACET_ROW | 1,
  WARPS = THREADS / 32,
  TEAMS = THREADS / ELEMENTS,  // threads of an element, where all do the same
};

static_assert(THREADS % 32 == 0, "warps are whole: lanes of one work together");
static_assert(THREADS % ELEMENTS == 0, "all elements have as many threads");

#define UNROLL _Pragma("unroll")

/// Parts of an orbit in the sectors. @param[in] member  [SECTORS]: places of `row`
__device__ __forceinline__ void to_sectors(const kg_real *row, const int *member, kg_real *x)
{
  if (SECTORS == 1) {
    x[0] = row[member[0]];
    return;
  }
  const bool first = member[1] == member[0], second = member[2] == member[0];  // stays there
  const kg_real v0 = row[member[0]], v1 = row[member[1]], v2 = row[member[2]], v3 = row[member[3]];
  const kg_real sum[2] = {first ? v0 : v0 + v1, first ? v2 : v2 + v3};
  const kg_real difference[2] = {v0 - v1, v2 - v3};
  x[0] = second ? sum[0] : sum[0] + sum[1];
  x[1 % SECTORS] = second ? difference[0] : difference[0] + difference[1];
  x[2 % SECTORS] = sum[0] - sum[1];
  x[3 % SECTORS] = difference[0] - difference[1];
}

/// Make the values at the nodes of an orbit of its parts in the sectors.
/// @param[in] y  [SECTORS]: 0 where a sector has no part
__device__ __forceinline__ void to_nodes(const kg_real *y, kg_real *value)
{
  if (SECTORS == 1) {
    value[0] = y[0];
    return;
  }
  const kg_real plus[2] = {y[0] + y[1 % SECTORS], y[2 % SECTORS] + y[3 % SECTORS]};
  const kg_real minus[2] = {y[0] - y[1 % SECTORS], y[2 % SECTORS] - y[3 % SECTORS]};
  value[0] = plus[0] + plus[1];
  value[1 % SECTORS] = minus[0] + minus[1];
  value[2 % SECTORS] = plus[0] - plus[1];
  value[3 % SECTORS] = minus[0] - minus[1];
}

/// Whether member g of an orbit is one before it.
__device__ __forceinline__ bool is_again(const int *member, int g)
{
  bool again = false;
  UNROLL
  for (int k = 0; k < g; ++k) again = again || member[k] == member[g];
  return again;
}

/// work(element, i) of all numbers i of the rows of all elements: a warp takes a row.
template <class Work>
__device__ __forceinline__ void for_rows(const Work &work)
{
#pragma unroll 1
  for (int element = threadIdx.x / 32; element < ELEMENTS; element += WARPS) {
    UNROLL
    for (int k = 0; k < ROW; k += 32)
      if (k + 32 <= ROW || threadIdx.x % 32 < ROW - k) work(element, k + threadIdx.x % 32);
  }
}

/// Begin to copy u of the block's elements.
__device__ __forceinline__ void copy_own(const kg_wave_args &a, int32_t begin, kg_real *s_u)
{
  const kg_real *const from = a.u + (int64_t)begin * ROW;
  for_rows([&](int element, int i) __attribute__((always_inline)) {
    copy_async(s_u + element * U_ROW + i, from + element * ROW + i);
  });
}

/// Begin to copy values at facets of elements of other blocks: a warp takes one facet after the
/// other of its share, and its lanes the nodes, which lie in few sectors of memory.
__device__ __forceinline__ void copy_others(const kg_wave_args &a, int32_t begin, kg_real *s_f)
{
  enum { ALL = FACETS * ELEMENTS, SHARE = (ALL + WARPS - 1) / WARPS };
  const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * SHARE;
  const int last = first + SHARE < ALL ? first + SHARE : ALL;
#pragma unroll 1
  for (int task = first; task < last; task += 32) {
    const int own = task + lane, e = begin + own % ELEMENTS;
    const int32_t group = e / KG_WAVE_LANES;
    const int32_t beyond =
        own < last ? a.beyond[(group * FACETS + own / ELEMENTS) * KG_WAVE_LANES + e % KG_WAVE_LANES]
                   : -1;
    const int32_t other = kg_side_element((kg_side)beyond);
    unsigned wanted =
        __ballot_sync(0xffffffffu, beyond >= 0 && (other < begin || other >= begin + ELEMENTS));
#pragma unroll 1
    for (; wanted; wanted &= wanted - 1) {
      const int k = __ffs(wanted) - 1, to = task + k;
      const kg_side side = (kg_side)__shfl_sync(0xffffffffu, beyond, k);
      const kg_real *const from = a.u + (int64_t)kg_side_element(side) * ROW;
      const int *const node = OTHER[kg_side_facet(side)] + lane;
      kg_real *const row = s_f + to % ELEMENTS * F_ROW + to / ELEMENTS * FACET_ROW + lane;
      UNROLL
      for (int i = 0; i < FACET_ROW; i += 32)
        if (i + 32 <= FACET_ROW || lane < FACET_ROW - i) copy_async(row + i, from + node[i]);
    }
  }
}

/// f of nodes of an element's facets, in place of the neighbours' values.
__device__ __forceinline__ void make_flux(const kg_wave_args &a, int32_t begin, const kg_real *s_u,
                                          kg_real *s_f)
{
  const int lane = threadIdx.x % ELEMENTS, part = threadIdx.x / ELEMENTS;
  const int32_t e = begin + lane, group = e / KG_WAVE_LANES;
  const int first = part * COLUMNS / TEAMS, last = (part + 1) * COLUMNS / TEAMS;
  kg_real in[KG_LAW_NUMBERS];
  kg_wave_medium(&a, e, in);
#pragma unroll 1
  for (int l = first / FACET_NODES; l * FACET_NODES < last; ++l) {
    const int from = first > l * FACET_NODES ? first : l * FACET_NODES;
    const int to = last < (l + 1) * FACET_NODES ? last : (l + 1) * FACET_NODES;
    const int32_t beyond = a.beyond[(group * FACETS + l) * KG_WAVE_LANES + e % KG_WAVE_LANES];
    const kg_real *const facet =
        a.facet + ((int64_t)group * FACETS + l) * (KG_LAW_DIMENSION + 1) * KG_WAVE_LANES +
        e % KG_WAVE_LANES;
    kg_real normal[KG_LAW_DIMENSION], out[KG_LAW_NUMBERS];
    UNROLL
    for (int k = 0; k < KG_LAW_DIMENSION; ++k) normal[k] = facet[k * KG_WAVE_LANES];
    const kg_real scale = facet[KG_LAW_DIMENSION * KG_WAVE_LANES];
    const int32_t other = beyond >= 0 ? kg_side_element((kg_side)beyond) : e;
    const bool inside = other >= begin && other < begin + ELEMENTS;
    const int *const there = OTHER[inside ? kg_side_facet((kg_side)beyond) : FACETS];
    kg_real *const row = s_f + lane * F_ROW + l * FACET_ROW;
    const kg_real *const values = inside ? s_u + (other - begin) * U_ROW : row;
    const int stride = inside ? NODES : FACET_NODES;
    const kg_real upwind = kg_wave_upwind(&a, beyond);
    kg_wave_medium(&a, other, out);
#pragma unroll 1
    for (int c = from; c < to; ++c) {
      const int j = c - l * FACET_NODES;
      const kg_real *const here = s_u + lane * U_ROW + FACET_NODE[c];
      kg_real own[KG_LAW_FIELDS], jump[KG_LAW_FIELDS], f[KG_LAW_FIELDS];
      UNROLL
      for (int i = 0; i < KG_LAW_FIELDS; ++i) own[i] = here[i * NODES];
      if (beyond >= 0) {
        const kg_real *const value = values + there[j];
        UNROLL
        for (int i = 0; i < KG_LAW_FIELDS; ++i) jump[i] = own[i] - value[i * stride];
      } else {
        kg_wave_boundary(&a, beyond, j, normal, own, jump);
      }
      law_flux(normal, in, out, jump, upwind, f);
      UNROLL
      for (int i = 0; i < KG_LAW_FIELDS; ++i) row[i * FACET_NODES + j] = f[i] * scale;
    }
  }
}

/// What a law makes of 1 in the right-hand side, and of 1 in u, as the medium's part is diagonal.
__device__ __forceinline__ void settle_ones(const kg_wave_args &a, int32_t e, kg_real *of_rhs,
                                            kg_real *of_u)
{
  kg_real number[KG_LAW_NUMBERS], ones[KG_LAW_FIELDS], zeros[KG_LAW_FIELDS];
  kg_wave_medium(&a, e, number);
  UNROLL
  for (int i = 0; i < KG_LAW_FIELDS; ++i) {
    ones[i] = of_rhs[i] = 1;
    zeros[i] = of_u[i] = 0;
  }
  law_settle(number, zeros, of_rhs);
  law_settle(number, ones, of_u);
}
