// stage_straight.cuh: the stage where tables are short. Text behind stage_fused.cuh.
//
// Map      a thread is an element and a field that it makes, so that threads of a warp run the same
//          code. All loops over nodes are unrolled and the tables become operands of instructions.
// Layout   residual [block][node][thread]

static_assert(TEAMS == KG_LAW_FIELDS, "a thread has a field of an element");

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

/// What a thread adds up: places of all sectors, for one field of one element.
struct places {
  kg_real sum[NODES];

  __device__ __forceinline__ void add(int sector, const kg_real *table, kg_real x)
  {
    UNROLL
    for (int p = 0; p < NODES; ++p)
      if (p >= BEGIN[sector] && p < BEGIN[sector + 1])
        if (table[p] != 0) sum[p] += table[p] * x;
  }

  /// sum_a D_a A(g_a) u. @param[in] u  the element's row
  __device__ __forceinline__ void add_slopes(const kg_real *u, const kg_real *along,
                                             const int *from)
  {
    in_line<0, ORBITS>([&](int o) __attribute__((always_inline)) {
      kg_real x[INPUTS][SECTORS];
      UNROLL
      for (int i = 0; i < INPUTS; ++i) to_sectors(u + from[i], ORBIT[o], x[i]);
      UNROLL
      for (int b = 0; b < KG_LAW_DIMENSION; ++b) UNROLL
      for (int s = 0; s < SECTORS; ++s) {
        if (PLACE[o][s] < 0) continue;
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
    in_line<0, COLUMN_ORBITS>([&](int c) __attribute__((always_inline)) {
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
    to_nodes(y, value);
  }
};

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

  kg_real of_rhs[KG_LAW_FIELDS], of_u[KG_LAW_FIELDS], q = 0, damping = 0;
  settle_ones(a, e, of_rhs, of_u);
  UNROLL
  for (int i = 0; i < KG_LAW_FIELDS; ++i)
    if (i == field) q = of_rhs[i], damping = of_u[i];
  const kg_real step = a.step, after = a.after, factor = a.before;
  kg_real *const own = s_u + lane * U_ROW + field * NODES;
  UNROLL
  for (int o = 0; o < ORBITS; ++o) {
    kg_real value[SECTORS];
    at.at_nodes(o, value);
    UNROLL
    for (int g = 0; g < SECTORS; ++g) {
      const int n = ORBIT[o][g];
      if (is_again(ORBIT[o], g)) continue;
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
