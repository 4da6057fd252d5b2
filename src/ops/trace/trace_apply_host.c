// A thread takes a patch: x and the elements' products stay in its cache while K^e streams through.
// Between the products of two groups values are gathered and scattered; K^e is asked for so far
// ahead that memory is busy meanwhile. Functions that know the number of modes of an edge when they
// are compiled make that part short.
#include <assert.h>
#include <omp.h>
#include <string.h>

#include "device/loop.h"
#include "ops/local/reduced.h"
#include "ops/vector/pieces.h"
#include "ops/trace/trace_apply.h"

enum {
  TRACE_MAX = 4 * KG_SPACE_FACET_MAX,
  /// Two places a side in patches of four facets and the most modes. Patches of fewer modes, of
  /// kg_patch_groups(), need no more.
  PRODUCTS_MAX = 2 * 4 * KG_LANES * 2 * KG_SPACE_FACET_MAX,
  AHEAD = 16384 / sizeof(kg_real),  // numbers of K^e between what is used and what is asked for
};

#define INLINE __attribute__((always_inline)) static inline

/// Work of one thread: the gathered x and y of one group, x of the
/// patch's edges and the products of its sides.
typedef struct patch_work {
  _Alignas(64) kg_real x[TRACE_MAX][KG_LANES];
  kg_real y[TRACE_MAX][KG_LANES];
  kg_real products[PRODUCTS_MAX];    ///< [side code][mode]: two places an edge of the patch
  kg_real values[PRODUCTS_MAX / 2];  ///< [edge of the patch][mode] of x: inside ones, then its halo
  int32_t code[4][KG_LANES];         ///< of the sides of the group
} patch_work;
_Static_assert(sizeof(patch_work) <= KG_LOOP_SCRATCH, "work of a thread is predicted");

/// One entry of 32 elements, into the second level of the cache. It may lie behind the end of K^e.
INLINE void ask_for(const kg_real *k)
{
  for (int i = 0; i < KG_LANES; i += 64 / (int)sizeof *k) __builtin_prefetch(k + i, 0, 2);
}

/// Rows first .. n - 1 of y = K x for 32 elements, every entry of the packed triangle used twice.
/// Rows before have their sums.
INLINE void multiply_rows(int first, int n, const kg_real *restrict k,
                          const kg_real (*restrict x)[KG_LANES], kg_real (*restrict y)[KG_LANES])
{
  for (int a = first; a < n; ++a) {
    kg_real sum[KG_LANES] = {0}, xa[KG_LANES];
    memcpy(xa, x[a], sizeof xa);
    for (int b = 0; b < a; ++b, k += KG_LANES) {
      ask_for(k + AHEAD);
#pragma omp simd
      for (int i = 0; i < KG_LANES; ++i) {
        sum[i] += k[i] * x[b][i];
        y[b][i] += k[i] * xa[i];
      }
    }
    ask_for(k + AHEAD);
#pragma omp simd
    for (int i = 0; i < KG_LANES; ++i) y[a][i] = sum[i] + k[i] * xa[i];
    k += KG_LANES;
  }
}

/// x . y of 32 elements.
INLINE double dot_group(int n, const kg_real (*restrict x)[KG_LANES],
                        const kg_real (*restrict y)[KG_LANES])
{
  double dot[KG_LANES] = {0}, total = 0.0;
  for (int a = 0; a < n; ++a)
#pragma omp simd
    for (int i = 0; i < KG_LANES; ++i) dot[i] += (double)x[a][i] * y[a][i];
  for (int i = 0; i < KG_LANES; ++i) total += dot[i];
  return total;
}

/// x to its differences, or what their product is to that of x (ops/local/differences.h).
INLINE void take_differences(int n, int m, kg_real (*x)[KG_LANES])
{
  for (int a = 0; a < n - m; a += m)
#pragma omp simd
    for (int i = 0; i < KG_LANES; ++i) x[a][i] -= x[n - m][i];
}

INLINE void give_differences(int n, int m, kg_real (*y)[KG_LANES])
{
  kg_real sum[KG_LANES];
  memcpy(sum, y[0], sizeof sum);
  for (int a = m; a < n - m; a += m)
#pragma omp simd
    for (int i = 0; i < KG_LANES; ++i) sum[i] += y[a][i];
#pragma omp simd
  for (int i = 0; i < KG_LANES; ++i) y[n - m][i] -= sum[i];
}

/// Return the row of mode k of side l in the vector of an element's trace unknowns. It is the order
/// of K^e; in a reduced K^e mode 0 of all sides comes after the other modes.
INLINE int row_of(int m, bool reduced, int l, int k)
{
  if (!reduced) return l * m + k;
  return k == 0 ? 3 * (m - 1) + l : k == 1 ? l : 3 + l * (m - 2) + k - 2;
}

/// y = K x from a reduced K^e (ops/local/reduced.h). x is spoilt. Returns x . y.
INLINE double multiply_reduced(int m, const kg_real *restrict k, kg_real (*restrict x)[KG_LANES],
                               kg_real (*restrict y)[KG_LANES])
{
  const int n = 3 * (m - 1);
  kg_real(*const mean)[KG_LANES] = x + n, (*const flux)[KG_LANES] = y + n;
  kg_real slope[3][KG_LANES], block[KG_REDUCED_FIRST - KG_REDUCED_FLUX][KG_LANES];
  memcpy(block, k + KG_REDUCED_FLUX * KG_LANES, sizeof block);
  for (int l = 0; l < 3; ++l) {
    kg_real *diagonal = block[l * (l + 3) / 2];
    const kg_real *next = mean[(l + 1) % 3], *before = mean[(l + 2) % 3];
#pragma omp simd
    for (int i = 0; i < KG_LANES; ++i) {
      slope[l][i] = diagonal[i] < 0 ? (kg_real)-KG_REDUCED_SLOPE : (kg_real)KG_REDUCED_SLOPE;
      diagonal[i] = diagonal[i] < 0 ? -diagonal[i] : diagonal[i];
      x[l][i] -= slope[l][i] * (next[i] - before[i]);
    }
  }
  multiply_rows(0, 3, block[0], (const kg_real(*)[KG_LANES])x, y);
  multiply_rows(3, n, k + KG_REDUCED_FIRST * KG_LANES, (const kg_real(*)[KG_LANES])x, y);

  double energy[KG_LANES], total = 0.0;
#pragma omp simd
  for (int i = 0; i < KG_LANES; ++i) {
    const kg_real to_1 = mean[1][i] - mean[0][i], to_2 = mean[2][i] - mean[0][i];
    const kg_real between = mean[2][i] - mean[1][i];
    const kg_real f_01 = k[i] * to_1, f_02 = k[KG_LANES + i] * to_2;
    const kg_real f_12 = k[2 * KG_LANES + i] * between;
    energy[i] = -(double)f_01 * to_1 - (double)f_02 * to_2 - (double)f_12 * between;
    flux[0][i] = f_01 + f_02 + slope[1][i] * y[1][i] - slope[2][i] * y[2][i];
    flux[1][i] = f_12 - f_01 + slope[2][i] * y[2][i] - slope[0][i] * y[0][i];
    flux[2][i] = -f_02 - f_12 + slope[0][i] * y[0][i] - slope[1][i] * y[1][i];
  }
  for (int i = 0; i < KG_LANES; ++i) total += energy[i];
  return total + dot_group(n, (const kg_real(*)[KG_LANES])x, (const kg_real(*)[KG_LANES])y);
}

/// y = K x of a group. x is spoilt. Returns x . y.
INLINE double multiply_group(const kg_trace_apply_args *a, int32_t group, int n_facets, int m,
                             bool reduced, patch_work *w)
{
  const int n = n_facets * m,
            rows = kg_local_rows(reduced ? KG_LAYOUT_REDUCED : KG_LAYOUT_PACKED, n);
  const bool differences = a->local.layout == KG_LAYOUT_DIFFERENCES;
  const kg_real *k = (const kg_real *)a->local.data + (size_t)group * (size_t)rows * KG_LANES;
  if (reduced) return multiply_reduced(m, k, w->x, w->y);
  if (differences) take_differences(n, m, w->x);
  multiply_rows(0, n, k, (const kg_real(*)[KG_LANES])w->x, w->y);
  const double dot =
      dot_group(n, (const kg_real(*)[KG_LANES])w->x, (const kg_real(*)[KG_LANES])w->y);
  if (differences) give_differences(n, m, w->y);
  return dot;
}

/// Products of a group to their places; lanes beyond the last element have none.
INLINE void store_products(const kg_trace_apply_args *a, int32_t group, int n_facets, int m,
                           bool reduced, patch_work *w)
{
  const int32_t left = a->batch.count.n_elements - group * KG_LANES;
  for (int i = 0; i < KG_LANES && i < left; ++i) {
    for (int l = 0; l < n_facets; ++l) {
      kg_real *place = w->products + w->code[l][i] * m;
      for (int k = 0; k < m; ++k) place[k] = w->y[row_of(m, reduced, l, k)][i];
    }
  }
}

INLINE void decode_sides(const kg_trace_apply_args *a, int32_t group, int n_facets, patch_work *w)
{
  const size_t words = (size_t)kg_code_words(n_facets) * KG_LANES;
  const uint32_t *codes = a->batch.arrays.side_codes + (size_t)group * words;
  for (int l = 0; l < n_facets; ++l)
#pragma omp simd
    for (int i = 0; i < KG_LANES; ++i) w->code[l][i] = kg_side_code_at(codes, n_facets, i, l);
}

INLINE void gather_values(int n_facets, int m, bool reduced, patch_work *w)
{
  for (int l = 0; l < n_facets; ++l)
    for (int i = 0; i < KG_LANES; ++i) {
      const kg_real *x = w->values + w->code[l][i] / 2 * m;
      for (int k = 0; k < m; ++k) w->x[row_of(m, reduced, l, k)][i] = x[k];
    }
}

/// Numbers i to i + n - 1 of one of K interleaved vectors.
INLINE void copy_numbers(kg_real *to, const kg_real *from, size_t i, int n, int K, int vector)
{
  if (K == 1)
    for (int k = 0; k < n; ++k) to[k] = from[i + (size_t)k];
  else
    for (int k = 0; k < n; ++k) to[k] = from[(i + (size_t)k) * (size_t)K + (size_t)vector];
}

/// x of the edges of a patch, of one of K vectors.
INLINE void copy_values(const kg_trace_apply_args *a, int32_t patch, int m, int K, int vector,
                        patch_work *w)
{
  const kg_trace_arrays *arrays = &a->batch.arrays;
  const int32_t edge0 = arrays->patch_edge[patch], halo0 = arrays->patch_halo[patch];
  const int32_t n_inside = arrays->patch_edge[patch + 1] - edge0;
  const int32_t n_halo = arrays->patch_halo[patch + 1] - halo0;
  const kg_real *x = a->x;
  copy_numbers(w->values, x, (size_t)edge0 * m, n_inside * m, K, vector);
  kg_real *value = w->values + n_inside * m;
  for (int32_t f = 0; f < n_halo; ++f, value += m)
    copy_numbers(value, x, (size_t)(arrays->halo_edge[halo0 + f] >> 1) * m, m, K, vector);
}

/// Rows of the edges of a patch, from the products of its sides.
INLINE void gather_rows(const kg_trace_apply_args *a, int32_t patch, int m, int K, int vector,
                        const patch_work *w)
{
  const kg_trace_arrays *arrays = &a->batch.arrays;
  const int32_t edge0 = arrays->patch_edge[patch], halo0 = arrays->patch_halo[patch];
  const int32_t n_inside = arrays->patch_edge[patch + 1] - edge0;
  const int32_t n_halo = arrays->patch_halo[patch + 1] - halo0;
  const kg_real *product = w->products;
  kg_real *y = (kg_real *)a->y + (size_t)edge0 * m * K + vector;
  for (int32_t f = 0; f < n_inside; ++f, product += 2 * m)
    for (int k = 0; k < m; ++k, y += K) *y = product[k] + product[m + k];
  for (int32_t f = 0; f < n_halo; ++f, product += 2 * m) {
    kg_real *row = kg_halo_row(a, arrays->halo_edge[halo0 + f], K * m * (int64_t)sizeof *row);
    for (int k = 0; row && k < m; ++k) row[k * K + vector] = product[k];
  }
}

/// A part for each group of the rows of y that the patch will write, and of as many behind them of
/// x, which are those of the next patch, into the second level of the cache.
INLINE void ask_for_rows(const kg_trace_apply_args *a, int32_t patch, int32_t group, int m)
{
  const int32_t groups = a->batch.count.patch_groups, part = group - patch * groups + 1;
  const int64_t row0 = (int64_t)a->batch.arrays.patch_edge[patch] * m;
  const int64_t n = (int64_t)a->batch.arrays.patch_edge[patch + 1] * m - row0;
  const kg_real *x = a->x, *y = a->y;
  for (int64_t i = row0 + n * part / groups; i < row0 + n * (part + 1) / groups;
       i += 64 / (int)sizeof *x) {
    __builtin_prefetch(x + n + i, 0, 2);
    __builtin_prefetch(y + i, 1, 2);
  }
}

/// A patch of one of K vectors.
INLINE void apply_vector(const kg_trace_apply_args *a, int32_t patch, int n_facets, int m,
                         bool reduced, int K, int vector, patch_work *w)
{
  const kg_trace_counts *count = &a->batch.count;
  const int32_t first = patch * count->patch_groups;
  int32_t last = first + count->patch_groups;
  if (last > count->n_groups) last = count->n_groups;

  copy_values(a, patch, m, K, vector, w);
  double sum = 0.0;
  for (int32_t group = first; group < last; ++group) {
    if (K == 1) ask_for_rows(a, patch, group, m);
    decode_sides(a, group, n_facets, w);
    gather_values(n_facets, m, reduced, w);
    sum += multiply_group(a, group, n_facets, m, reduced, w);
    store_products(a, group, n_facets, m, reduced, w);
  }
  if (a->pass.sum.total) a->pass.sum.part[vector * a->pass.sum.parts + patch] = sum;
  gather_rows(a, patch, m, K, vector, w);
}

/// K^e of a patch stay in the cache from one vector to the next.
INLINE void apply_patch(const kg_trace_apply_args *a, int32_t patch, int n_facets, int m,
                        bool reduced, patch_work *w)
{
  if (!a->pass.many)
    apply_vector(a, patch, n_facets, m, reduced, 1, 0, w);
  else
    for (int v = 0; v < KG_VECTORS; ++v)
      apply_vector(a, patch, n_facets, m, reduced, KG_VECTORS, v, w);
}

typedef void patch_function(const kg_trace_apply_args *a, int32_t patch, patch_work *w);

/// Numbers of modes of quadrilaterals, and of tetrahedra up to order 3; of triangles.
#define EACH_OF_FOUR(ITEM)  ITEM(2) ITEM(3) ITEM(4) ITEM(5) ITEM(6) ITEM(7) ITEM(8) ITEM(9) ITEM(10)
#define EACH_OF_THREE(ITEM) EACH_OF_FOUR(ITEM) ITEM(11) ITEM(12) ITEM(13)

#define OF_THREE(M)                                                                       \
  static void apply_three_##M(const kg_trace_apply_args *a, int32_t patch, patch_work *w) \
  {                                                                                       \
    if (a->local.layout == KG_LAYOUT_REDUCED)                                             \
      apply_patch(a, patch, 3, M, true, w);                                               \
    else                                                                                  \
      apply_patch(a, patch, 3, M, false, w);                                              \
  }
EACH_OF_THREE(OF_THREE)

#define OF_THREE_ENTRY(M) [M - 2] = apply_three_##M,
static patch_function *const of_three[] = {EACH_OF_THREE(OF_THREE_ENTRY)};
_Static_assert(sizeof of_three / sizeof *of_three == KEDGE_ORDER_MAX, "one function an order");

#define OF_FOUR(M)                                                                       \
  static void apply_four_##M(const kg_trace_apply_args *a, int32_t patch, patch_work *w) \
  {                                                                                      \
    apply_patch(a, patch, 4, M, false, w);                                               \
  }
EACH_OF_FOUR(OF_FOUR)

#define OF_FOUR_ENTRY(M) [M - 2] = apply_four_##M,
static patch_function *const of_four[] = {EACH_OF_FOUR(OF_FOUR_ENTRY)};
enum { OF_FOUR_MAX = sizeof of_four / sizeof *of_four + 1 };

/// Four facets with more modes, which are known when it runs.
static void apply_many_modes(const kg_trace_apply_args *a, int32_t patch, patch_work *w)
{
  apply_patch(a, patch, 4, a->batch.m, false, w);
}

static patch_function *function_of(int n_facets, int m)
{
  if (n_facets == 3) return of_three[m - 2];
  return m <= OF_FOUR_MAX ? of_four[m - 2] : apply_many_modes;
}

/// Rows of edges between patches are complete with what the second patch adds.
static void add_halo(kedge_context *ctx, const kg_trace_apply_args *a)
{
  const int64_t m = a->batch.m * (a->pass.many ? KG_VECTORS : 1);
  const int64_t n = a->batch.count.n_shared * m;
  kg_real *y = (kg_real *)a->y + a->batch.count.n_interior * m;
  const kg_real *halo = a->halo;
#pragma omp parallel for simd schedule(static) num_threads(kg_loop_threads(ctx, n, 2))
  for (int64_t i = 0; i < n; ++i) y[i] += halo[i];
}

kedge_status KG_REAL(kg_trace_apply_host)(kedge_context *ctx, const kg_trace_apply_args *args)
{
  if (kg_stopped(args->pass.stop)) return KEDGE_OK;
  const int n_facets = args->batch.arrays.lanes.run[0].n_facets;
  assert(2 * n_facets * KG_LANES * args->batch.count.patch_groups * args->batch.m <= PRODUCTS_MAX);
  patch_function *const apply = function_of(n_facets, args->batch.m);
  patch_work *work;  // [thread]
  KG_TRY(kg_loop_scratch(ctx, sizeof *work, &work));
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, args->batch.count.n_elements, args->local.rows))
  for (int32_t patch = 0; patch < args->batch.count.n_patches; ++patch)
    apply(args, patch, work + omp_get_thread_num());
  if (!args->pass.open) add_halo(ctx, args);
  for (int v = 0; args->pass.sum.total && v < (args->pass.many ? KG_VECTORS : 1); ++v) {
    const kg_sum sum = kg_sum_of(&args->pass.sum, v);
    kg_sum_end(&sum, sum_in_order(sum.part, args->batch.count.n_patches));
  }
  return KEDGE_OK;
}
