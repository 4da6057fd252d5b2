// csr_make_cuda.cu: sparse matrices made row by row (csr_make.h).
// Layout  the lists of a block [place][row], in shared memory
// Map     a group of lanes a row: lane = addend while addends are looked up, then lane = term of
//         one addend after another. The terms of an addend have different columns, so that each
//         lane finds its own place and adds to it: one writer, the order of the addends. Then
//         lane = entry.
// Cost    every entry of the left matrix reads a row of the right one, twice; bound by latency in
//         small matrices, where a row's loads follow one another.
#include "device/cuda_launch.cuh"
#include "precondition/amg/csr_make.h"

namespace
{
enum { BLOCK = 128 };

/// The lanes of a row.
template <int LANES>
struct Group {
  int lane, row;         // in the group; of the block
  unsigned shift, mask;  // of its lanes in the warp

  __device__ Group()
      : lane(threadIdx.x % LANES),
        row(threadIdx.x / LANES),
        shift(threadIdx.x % 32 / LANES * LANES),
        mask((LANES == 32 ? 0xffffffffu : (1u << LANES % 32) - 1u) << shift)
  {
  }
  template <class T>
  __device__ T from(T value, int k) const
  {
    return __shfl_sync(mask, value, k, LANES);
  }
  __device__ unsigned ballot(bool value) const
  {
    return __ballot_sync(mask, value) >> shift;
  }
  __device__ void sync() const
  {
    __syncwarp(mask);
  }
};

/// A part of a row in the making: the columns that are `part` modulo `parts`.
template <int LANES, int LIST, bool VALUES>
struct RowList {
  static constexpr int ROWS = BLOCK / LANES;
  typedef int32_t columns[LIST][ROWS];
  typedef double values[VALUES ? LIST : 1][ROWS];

  Group<LANES> group;
  columns &column;
  values &value;
  int32_t parts, part;
  int n;  // of its columns; more than LIST: there is no room for all

  /// The terms of an addend from e on, a lane each.
  __device__ void add(const kg_csr_make_args &a, const kg_csr_addend &addend, int32_t e)
  {
    const bool exists = e < addend.end;
    const int32_t j = exists ? kg_csr_term_column(&a, &addend, e) : 0;
    const bool belongs = exists && (j & (parts - 1)) == part;
    int at = 0;
    if (belongs)
      while (at < n && column[at][group.row] != j) ++at;
    const bool fresh = belongs && at == n;
    const unsigned all = group.ballot(fresh);
    if (fresh) at += __popc(all & ((1u << group.lane) - 1u));
    if (belongs && at < LIST) {
      if (fresh) column[at][group.row] = j;
      if (VALUES) {
        const double before = fresh ? 0.0 : value[at][group.row];
        value[at][group.row] = before + kg_csr_term_value(&a, &addend, e);
      }
    }
    n += __popc(all);
    group.sync();
  }

  __device__ void make(const kg_csr_make_args &a, int32_t i, double scale)
  {
    const int32_t addends = kg_csr_addends(&a, i);
    n = 0;
    for (int32_t first = 0; first < addends && n <= LIST; first += LANES) {
      kg_csr_addend mine = {0, 0, 0, 0.0};
      if (first + group.lane < addends) mine = kg_csr_addend_at(&a, i, first + group.lane, scale);
      for (int k = 0; k < LANES && first + k < addends && n <= LIST; ++k) {
        const kg_csr_addend addend = {group.from(mine.begin, k), group.from(mine.end, k),
                                      group.from(mine.column, k), group.from(mine.factor, k)};
        for (int32_t e = addend.begin; e < addend.end && n <= LIST; e += LANES)
          add(a, addend, e + group.lane);
      }
    }
  }

  /// The place of column j in the list, or LIST.
  __device__ int find(int32_t j) const
  {
    for (int first = 0; first < n; first += LANES) {
      const int k = first + group.lane;
      const unsigned found = group.ballot(k < n && column[k][group.row] == j);
      if (found) return first + __ffs(found) - 1;
    }
    return LIST;
  }

  /// Append the list to the row, from entry `to` on, but for the entry at `own`, which only has its
  /// column if it has a place at all. Returns this lane's part of that entry: its value, and what
  /// rounding the others leaves.
  __device__ double keep(const kg_csr_make_args &a, const kg_csr &place, int64_t to, int own) const
  {
    double left = 0.0;
    for (int k = group.lane; k < n; k += LANES) {
      const double entry = value[k][group.row];
      const int64_t at = to + k - (a.square && k > own);
      if (!a.square || k != own) place.column[at] = column[k][group.row];
      if (a.wide) {
        place.wide[at] = entry;
      } else if (k == own) {
        left += entry;
      } else {
        left += entry - kg_csr_put(&a, &place, at, entry);
      }
    }
    return left;
  }
};

template <int LANES, int LIST, bool VALUES>
__global__ void __launch_bounds__(BLOCK)
    make_kernel(const kg_csr_make_args a, const int64_t *begin, int32_t *length, const kg_csr place)
{
  typedef RowList<LANES, LIST, VALUES> List;
  __shared__ typename List::columns s_column;
  __shared__ typename List::values s_value;
  List list = {Group<LANES>(), s_column, s_value, 1, 0, 0};
  const int32_t i = (int32_t)blockIdx.x * List::ROWS + list.group.row;
  if (VALUES && i == a.a.n_rows && list.group.lane == 0) place.row[i] = (int32_t)begin[i];
  if (i >= a.a.n_rows) return;
  const double scale = VALUES ? kg_csr_scale(&a, i) : 1.0;
  const int64_t first = VALUES ? begin[i] : 0;
  const int32_t own_column = kg_csr_own_column(&a, i);
  int32_t entries = 0;
  int64_t own_at = -1;
  double left = 0.0;
  for (bool full = true; full; list.parts *= 2) {
    full = false, entries = 0, left = 0.0;
    for (list.part = 0; list.part < list.parts && !full; ++list.part) {
      list.make(a, i, scale);
      full = list.n > LIST;
      if (full) break;
      const int own = own_column >= 0 ? list.find(own_column) : LIST;
      if (own < LIST) own_at = first + entries + own;
      if (VALUES) left += list.keep(a, place, first + entries, own);
      entries += list.n - (a.square && own < LIST);
      list.group.sync();  // before the next part
    }
  }
  for (int k = LANES / 2; VALUES && k > 0; k /= 2)
    left += __shfl_down_sync(list.group.mask, left, k, LANES);
  if (list.group.lane != 0) return;
  if (!VALUES) {
    length[i] = entries;
    return;
  }
  place.row[i] = (int32_t)first;
  if (a.square)
    place.diagonal[i] = left;
  else if (own_at >= 0)
    kg_csr_put(&a, &place, own_at, left);
}

template <int LANES, int LIST, bool VALUES>
kedge_status launch(kedge_context *ctx, const kg_csr_make_args *a, const int64_t *begin,
                    int32_t *length, const kg_csr &place)
{
  const int64_t rows = BLOCK / LANES, n = (int64_t)a->a.n_rows + VALUES;
  if (n == 0) return KEDGE_OK;  // an empty grid is a launch error
  return kg_launch(ctx, VALUES ? "csr_fill" : "csr_count", (unsigned)((n + rows - 1) / rows), BLOCK,
                   0, make_kernel<LANES, LIST, VALUES>, *a, begin, length, place);
}

/// Lanes as many as an addend has terms.
template <bool VALUES>
kedge_status make(kedge_context *ctx, const kg_csr_make_args *a, const int64_t *begin,
                  int32_t *length, const kg_csr &place)
{
  if (a->source == KG_CSR_PROLONGATION) return launch<1, 16, VALUES>(ctx, a, begin, length, place);
  if (a->b.n_entries <= 4 * (int64_t)a->b.n_rows)
    return launch<4, 64, VALUES>(ctx, a, begin, length, place);
  return launch<8, 64, VALUES>(ctx, a, begin, length, place);
}
}  // namespace

extern "C" kedge_status kg_csr_count_cuda(kedge_context *ctx, const kg_csr_make_args *args,
                                          int32_t *length)
{
  return make<false>(ctx, args, nullptr, length, kg_csr{});
}

extern "C" kedge_status kg_csr_fill_cuda(kedge_context *ctx, const kg_csr_make_args *args,
                                         const int64_t *begin, kg_csr place)
{
  return make<true>(ctx, args, begin, nullptr, place);
}
