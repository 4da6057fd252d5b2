// stage_loops.cuh: the stage where tables are too long for instructions. Text behind
// stage_fused.cuh.
//
// Map      a thread adds up a part, PLACES places of one sector, of all fields of an element: a
//          number of the table serves KG_LAW_FIELDS products, one of u or f PLACES.
// Layout   u and f become their values in the sectors where they lie: that of a sector has the
//          place of the orbit's member of the same number. Sums take the place of u, as soon as no
//          thread reads it. TABLE [part][term][WIDTH], in the order in which a part adds the terms.
//          residual as u lies.

static_assert(PARTS * ELEMENTS <= THREADS, "each part has threads");

/// work(member, values) of all orbits of all fields of all elements.
/// @param[in] stride  from one field to the next, in a row of `length` numbers
template <int N, class Work>
__device__ __forceinline__ void for_orbits(const int (&orbit)[N][SECTORS], kg_real *row, int length,
                                           int stride, const Work &work)
{
  row += threadIdx.x % ELEMENTS * length;
#pragma unroll 1
  for (int o = threadIdx.x / ELEMENTS; o < N; o += TEAMS) {
    int member[SECTORS];
    UNROLL
    for (int g = 0; g < SECTORS; ++g) member[g] = orbit[o][g];
    UNROLL
    for (int i = 0; i < KG_LAW_FIELDS; ++i) work(member, row + i * stride);
  }
}

/// Values in the sectors in place of those at nodes.
template <int N>
__device__ __forceinline__ void change_to_sectors(const int (&orbit)[N][SECTORS], kg_real *row,
                                                  int length, int stride)
{
  if (SECTORS == 1) return;
  for_orbits(orbit, row, length, stride, [](const int *member, kg_real *values) {
    kg_real x[SECTORS];
    to_sectors(values, member, x);
    UNROLL
    for (int s = SECTORS - 1; s >= 0; --s) values[member[s]] = x[s];  // those that are none first
  });
}

__device__ __forceinline__ void change_to_nodes(kg_real *s_u)
{
  if (SECTORS == 1) return;
  for_orbits(ORBIT, s_u, U_ROW, NODES, [](const int *member, kg_real *values) {
    kg_real y[SECTORS], value[SECTORS];
    UNROLL
    for (int s = 0; s < SECTORS; ++s) y[s] = is_again(member, s) ? (kg_real)0 : values[member[s]];
    to_nodes(y, value);
    UNROLL
    for (int g = 0; g < SECTORS; ++g) values[member[g]] = value[g];
  });
}

/// A row of the table. Rows, and slots, are read one ahead of those that are used.
struct entries {
  kg_real of[PLACES];

  __device__ __forceinline__ void read(const kg_real *row)
  {
    const kg_real *const from = (const kg_real *)__builtin_assume_aligned(row, 16);
    UNROLL
    for (int p = 0; p < PLACES; ++p) of[p] = from[p];
  }
};

/// What a thread adds up.
struct places {
  kg_real sum[PLACES][KG_LAW_FIELDS];
  const kg_real *row;
  entries next;

  __device__ __forceinline__ void add(const kg_real (&x)[KG_LAW_FIELDS])
  {
    const entries now = next;
    row += WIDTH;
    next.read(row);
    UNROLL
    for (int p = 0; p < PLACES; ++p) UNROLL
    for (int i = 0; i < KG_LAW_FIELDS; ++i) sum[p][i] += now.of[p] * x[i];
  }

  /// sum_a D_a A(g_a) u. @param[in] u  the element's row
  __device__ __forceinline__ void add_slopes(const kg_wave_args &a, int32_t e, int sector,
                                             const kg_real *u)
  {
#pragma unroll 1
    for (int b = 0; b < KG_LAW_DIMENSION; ++b) {
      const int from = sector ^ SHIFT[b], last = NODE_BEGIN[from + 1];
      kg_real g[KG_LAW_DIMENSION];
      gradient(a, e, b, g);
      int slot = NODE_SLOT[NODE_BEGIN[from]];
#pragma unroll 2
      for (int j = NODE_BEGIN[from]; j < last; ++j) {
        const kg_real *const value = u + slot;
        slot = NODE_SLOT[j + 1];
        kg_real x[KG_LAW_FIELDS], w[KG_LAW_FIELDS];
        UNROLL
        for (int i = 0; i < KG_LAW_FIELDS; ++i) x[i] = value[i * NODES];
        law_along(g, x, w);
        add(w);
      }
    }
  }

  /// g_b = sum_d COMBINE_bd g_d
  static __device__ __forceinline__ void gradient(const kg_wave_args &a, int32_t e, int b,
                                                  kg_real *g)
  {
    const kg_real *const from =
        a.gradient +
        (int64_t)(e / KG_WAVE_LANES) * KG_LAW_DIMENSION * KG_LAW_DIMENSION * KG_WAVE_LANES +
        e % KG_WAVE_LANES;
    UNROLL
    for (int k = 0; k < KG_LAW_DIMENSION; ++k) {
      g[k] = 0;
      UNROLL
      for (int d = 0; d < KG_LAW_DIMENSION; ++d)
        g[k] += COMBINE[b][d] * from[(d * KG_LAW_DIMENSION + k) * KG_WAVE_LANES];
    }
  }

  /// @param[in] f  the element's row
  __device__ __forceinline__ void add_lifted(int sector, const kg_real *f)
  {
    const int last = COLUMN_BEGIN[sector + 1];
    int slot = COLUMN_SLOT[COLUMN_BEGIN[sector]];
#pragma unroll 2
    for (int j = COLUMN_BEGIN[sector]; j < last; ++j) {
      const kg_real *const value = f + slot;
      slot = COLUMN_SLOT[j + 1];
      kg_real x[KG_LAW_FIELDS];
      UNROLL
      for (int i = 0; i < KG_LAW_FIELDS; ++i) x[i] = value[i * FACET_NODES];
      add(x);
    }
  }

  /// @param[out] u  the element's row
  __device__ __forceinline__ void put(int first, int last, kg_real *u) const
  {
    UNROLL
    for (int p = 0; p < PLACES; ++p) {
      if (first + p >= last) continue;
      kg_real *const value = u + NODE_SLOT[first + p];
      UNROLL
      for (int i = 0; i < KG_LAW_FIELDS; ++i) value[i * NODES] = sum[p][i];
    }
  }
};

/// What ends a stage, in rows. @param[in] s_rhs  [element][U_ROW]  @param[in] s_settle
/// [element][field][2]: what the medium makes of 1 in rhs, and of 1 in u
__device__ __forceinline__ void end_stage(const kg_wave_args &a, int32_t begin,
                                          const kg_real *s_rhs, const kg_real *s_settle)
{
  enum { AHEAD = 8 };  // numbers that a thread reads before it goes on
  const kg_real step = a.step, after = a.after, factor = a.before;
#pragma unroll 1
  for (int element = threadIdx.x / 32; element < ELEMENTS; element += WARPS) {
    const int64_t at = (int64_t)(begin + element) * ROW;
#pragma unroll 1
    for (int first = threadIdx.x % 32; first < ROW; first += 32 * AHEAD) {
      kg_real was[AHEAD] = {}, own[AHEAD];
      UNROLL
      for (int k = 0; k < AHEAD; ++k) {
        const int i = first + 32 * k;
        if (i < ROW) own[k] = a.u[at + i];
        if (i < ROW && factor != 0) was[k] = a.residual[at + i];
      }
      UNROLL
      for (int k = 0; k < AHEAD; ++k) {
        const int i = first + 32 * k;
        if (i >= ROW) continue;
        const kg_real *const settle = s_settle + (element * KG_LAW_FIELDS + i / NODES) * 2;
        const kg_real rhs = settle[0] * s_rhs[element * U_ROW + i] + settle[1] * own[k];
        const kg_real now = factor * was[k] + step * rhs;
        a.residual[at + i] = now;
        a.next[at + i] = own[k] + after * now;
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    wave_fused(const __grid_constant__ kg_wave_args a)
{
  KG_SHARED(kg_real, s_u);
  kg_real *const s_f = s_u + ELEMENTS * U_ROW;
  const int thread = threadIdx.x, lane = thread % ELEMENTS, part = thread / ELEMENTS;
  const int32_t begin = (int32_t)blockIdx.x * ELEMENTS;
  copy_own(a, begin, s_u);
  if (thread == 0 && a.before != 0)
    prefetch(a.residual + (int64_t)begin * ROW, ELEMENTS * ROW * sizeof(kg_real));
  copy_others(a, begin, s_f);
  copies_commit();
  copies_wait<0>();
  __syncthreads();
  make_flux(a, begin, s_u, s_f);
  __syncthreads();
  change_to_sectors(ORBIT, s_u, U_ROW, NODES);
  change_to_sectors(COLUMN, s_f, F_ROW, FACET_NODES);
  __syncthreads();

  const bool has_part = part < PARTS;
  const int sector = has_part ? PART[part][0] : 0;
  places at = {};
  if (has_part) {
    at.row = TABLE + PART[part][2] * WIDTH;
    at.next.read(at.row);
    at.add_slopes(a, begin + lane, sector, s_u + lane * U_ROW);
    at.add_lifted(sector, s_f + lane * F_ROW);
  }
  __syncthreads();
  if (has_part) at.put(PART[part][1], NODE_BEGIN[sector + 1], s_u + lane * U_ROW);
  kg_real *const s_settle = s_f;
  if (thread < ELEMENTS) {
    kg_real of_rhs[KG_LAW_FIELDS], of_u[KG_LAW_FIELDS];
    settle_ones(a, begin + thread, of_rhs, of_u);
    UNROLL
    for (int i = 0; i < KG_LAW_FIELDS; ++i) {
      s_settle[(thread * KG_LAW_FIELDS + i) * 2] = of_rhs[i];
      s_settle[(thread * KG_LAW_FIELDS + i) * 2 + 1] = of_u[i];
    }
  }
  __syncthreads();
  change_to_nodes(s_u);
  __syncthreads();
  end_stage(a, begin, s_u, s_settle);
}
