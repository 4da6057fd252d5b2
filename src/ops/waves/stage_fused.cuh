// stage_fused.cuh: a stage of waves in one kernel. Text for NVRTC, behind what stage_kernel.c
// writes: types, a system's header, stage_node.h, and sizes and tables of the order as constants.
//
// Map      a block is ELEMENTS elements; a thread is an element and a field that it makes, so that
//          threads of a warp run the same code. Where STRAIGHT, all loops over nodes are unrolled
//          and the tables become operands of instructions.
// Layout   rows of u of the block's elements in shared memory, one element behind the other, at
//          odd distances: threads of a warp, which read the same node of different elements, find
//          it in different banks. Behind them rows of the facets' nodes, [facet][field][node]: first
//          the neighbours' values, where these are not of this block, then f. residual
//          [block][node][thread].
// Sectors  basis/sectors.h

enum {
  ROW = KG_LAW_FIELDS * NODES,
  U_ROW = ROW | 1,
  COLUMNS = FACETS * FACET_NODES,
  F_ROW = FACETS * FACET_ROW | 1,
  THREADS = KG_LAW_FIELDS * ELEMENTS,
  WARPS = THREADS / 32,
};

static_assert(THREADS % 32 == 0, "warps are whole: lanes of one work together");

#define UNROLL _Pragma("unroll")

/// work(FIRST) and so on, one behind the other: what compilers do not unroll, as it is too long.
template <int FIRST, int LAST, class Work>
__device__ __forceinline__ void in_line(const Work &work)
{
  if constexpr (LAST - FIRST == 1) {
    work(FIRST);
  } else {
    in_line<FIRST, (FIRST + LAST) / 2>(work);
    in_line<(FIRST + LAST) / 2, LAST>(work);
  }
}

/// work(i) of all orbits.
template <int N, class Work>
__device__ __forceinline__ void for_orbits(const Work &work)
{
  if constexpr (STRAIGHT) {
    in_line<0, N>(work);
  } else {
#pragma unroll 1
    for (int i = 0; i < N; ++i) work(i);
  }
}

/// Which fields a field's derivatives are of, and A_k of them: w = sum_i A_k(field, i) g_k u_i.
struct inputs {
  int n;
  int field[KG_LAW_FIELDS][KG_LAW_FIELDS];
  kg_real a[KG_LAW_FIELDS][KG_LAW_FIELDS][KG_LAW_DIMENSION];
};

constexpr inputs inputs_of_law()
{
  inputs to = {};
  int count[KG_LAW_FIELDS] = {};
  for (int i = 0; i < KG_LAW_FIELDS; ++i) {
    kg_real w[KG_LAW_DIMENSION][KG_LAW_FIELDS] = {};
    for (int k = 0; k < KG_LAW_DIMENSION; ++k) {
      kg_real g[KG_LAW_DIMENSION] = {}, u[KG_LAW_FIELDS] = {};
      g[k] = 1;
      u[i] = 1;
      law_along(g, u, w[k]);
    }
    for (int f = 0; f < KG_LAW_FIELDS; ++f) {
      bool any = false;
      for (int k = 0; k < KG_LAW_DIMENSION; ++k) any = any || w[k][f] != 0;
      if (!any) continue;
      to.field[f][count[f]] = i;
      for (int k = 0; k < KG_LAW_DIMENSION; ++k) to.a[f][count[f]][k] = w[k][f];
      if (++count[f] > to.n) to.n = count[f];
    }
  }
  return to;
}

constexpr int INPUTS = inputs_of_law().n;
__device__ const inputs input = inputs_of_law();

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

/// What a thread adds up: places of all sectors, for one field of one element.
struct places {
  kg_real sum[NODES];

  __device__ __forceinline__ void add(int sector, const kg_real *table, kg_real x)
  {
    UNROLL
    for (int p = 0; p < NODES; ++p)
      if (p >= BEGIN[sector] && p < BEGIN[sector + 1])
        if (!STRAIGHT || table[p] != 0) sum[p] += table[p] * x;
  }

  /// sum_a D_a A(g_a) u. @param[in] u  the element's row
  __device__ __forceinline__ void add_slopes(const kg_real *u, const kg_real *along,
                                             const int *from)
  {
    for_orbits<ORBITS>([&](int o) __attribute__((always_inline)) {
      kg_real x[INPUTS][SECTORS];
      UNROLL
      for (int i = 0; i < INPUTS; ++i) to_sectors(u + from[i], ORBIT[o], x[i]);
      UNROLL
      for (int b = 0; b < KG_LAW_DIMENSION; ++b) UNROLL
      for (int s = 0; s < SECTORS; ++s) {
        if (STRAIGHT && PLACE[o][s] < 0) continue;
        kg_real w = 0;
        UNROLL
        for (int i = 0; i < INPUTS; ++i) w += along[b * INPUTS + i] * x[i][s];
        add(s ^ SHIFT[b], DERIVATIVE + (o * KG_LAW_DIMENSION + b) * NODES, w);
      }
    });
  }

  /// @param[in] f  the field's part of the element's row
  __device__ __forceinline__ void add_lifted(const kg_real *f)
  {
    for_orbits<COLUMN_ORBITS>([&](int c) __attribute__((always_inline)) {
      kg_real x[SECTORS];
      to_sectors(f, COLUMN[c], x);
      UNROLL
      for (int s = 0; s < SECTORS; ++s) add(s, LIFT + c * NODES, x[s]);
    });
  }

  /// Values at the members of an orbit.
  __device__ __forceinline__ void at_nodes(int o, kg_real *value) const
  {
    kg_real y[SECTORS];
    UNROLL
    for (int s = 0; s < SECTORS; ++s) y[s] = PLACE[o][s] < 0 ? (kg_real)0 : sum[PLACE[o][s]];
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
};

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
/// other, and its lanes the nodes, which lie in few sectors of memory.
__device__ __forceinline__ void copy_others(const kg_wave_args &a, int32_t begin, kg_real *s_f)
{
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int task = threadIdx.x / 32 * 32; task < FACETS * ELEMENTS; task += THREADS) {
    const int own = task + lane, e = begin + own % ELEMENTS;
    const int32_t group = e / KG_WAVE_LANES;
    const int32_t beyond =
        a.beyond[(group * FACETS + own / ELEMENTS) * KG_WAVE_LANES + e % KG_WAVE_LANES];
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
  const int first = part * COLUMNS / KG_LAW_FIELDS, last = (part + 1) * COLUMNS / KG_LAW_FIELDS;
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

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    wave_fused(const __grid_constant__ kg_wave_args a)
{
  KG_SHARED(kg_real, s_u);
  kg_real *const s_f = s_u + ELEMENTS * U_ROW;
  const int thread = threadIdx.x, lane = thread % ELEMENTS, field = thread / ELEMENTS;
  const int32_t begin = (int32_t)blockIdx.x * ELEMENTS, e = begin + lane, group = e / KG_WAVE_LANES;
  kg_real *const residual = a.residual + (int64_t)begin * ROW;
  copy_own(a, begin, s_u);
  copies_commit();
  if (thread == 0 && a.before != 0) prefetch(residual, ELEMENTS * ROW * sizeof(kg_real));
  copy_others(a, begin, s_f);
  copies_commit();

  kg_real along[KG_LAW_DIMENSION * INPUTS];
  int from[INPUTS];
  {
    kg_real g[KG_LAW_DIMENSION][KG_LAW_DIMENSION];
    UNROLL
    for (int k = 0; k < KG_LAW_DIMENSION * KG_LAW_DIMENSION; ++k)
      g[k / KG_LAW_DIMENSION][k % KG_LAW_DIMENSION] =
          a.gradient[((int64_t)group * KG_LAW_DIMENSION * KG_LAW_DIMENSION + k) * KG_WAVE_LANES +
                     e % KG_WAVE_LANES];
    UNROLL
    for (int i = 0; i < INPUTS; ++i) {
      from[i] = input.field[field][i] * NODES;
      UNROLL
      for (int b = 0; b < KG_LAW_DIMENSION; ++b) {
        kg_real sum = 0;
        UNROLL
        for (int d = 0; d < KG_LAW_DIMENSION; ++d) UNROLL
        for (int k = 0; k < KG_LAW_DIMENSION; ++k)
          sum += COMBINE[b][d] * g[d][k] * input.a[field][i][k];
        along[b * INPUTS + i] = sum;
      }
    }
  }
  places at = {};
  copies_wait<1>();
  __syncthreads();
  at.add_slopes(s_u + lane * U_ROW, along, from);
  copies_wait<0>();
  __syncthreads();
  make_flux(a, begin, s_u, s_f);
  kg_real before[HOLDS ? NODES : 1] = {};
  if (HOLDS && a.before != 0) {
    UNROLL
    for (int n = 0; n < NODES; ++n) before[HOLDS * n] = residual[n * THREADS + thread];
  }
  __syncthreads();
  at.add_lifted(s_f + lane * F_ROW + field * FACET_NODES);

  // The medium's part is diagonal: what it makes of 1 in rhs, and of 1 in u.
  kg_real number[KG_LAW_NUMBERS], ones[KG_LAW_FIELDS], zeros[KG_LAW_FIELDS], q = 0, damping = 0;
  kg_wave_medium(&a, e, number);
  {
    kg_real rhs[KG_LAW_FIELDS], damped[KG_LAW_FIELDS];
    UNROLL
    for (int i = 0; i < KG_LAW_FIELDS; ++i) ones[i] = rhs[i] = 1, zeros[i] = damped[i] = 0;
    law_settle(number, zeros, rhs);
    law_settle(number, ones, damped);
    UNROLL
    for (int i = 0; i < KG_LAW_FIELDS; ++i)
      if (i == field) q = rhs[i], damping = damped[i];
  }
  const kg_real step = a.step, after = a.after, factor = a.before;
  kg_real *const own = s_u + lane * U_ROW + field * NODES;
  UNROLL
  for (int o = 0; o < ORBITS; ++o) {
    kg_real value[SECTORS];
    at.at_nodes(o, value);
    UNROLL
    for (int g = 0; g < SECTORS; ++g) {
      const int n = ORBIT[o][g];
      if ((g == 1 && n == ORBIT[o][0]) || (g == 2 && n == ORBIT[o][0]) ||
          (g == 3 && (n == ORBIT[o][1 % SECTORS] || n == ORBIT[o][2 % SECTORS])))
        continue;
      kg_real was = 0;
      if (HOLDS)
        was = before[HOLDS * n];
      else if (a.before != 0)
        was = residual[n * THREADS + thread];
      const kg_real now = factor * was + step * (q * value[g] + damping * own[n]);
      residual[n * THREADS + thread] = now;
      own[n] += after * now;
    }
  }
  __syncthreads();
  kg_real *const next = a.next + (int64_t)begin * ROW;
  for_rows([&](int element, int i) __attribute__((always_inline)) {
    next[element * ROW + i] = s_u[element * U_ROW + i];
  });
}
