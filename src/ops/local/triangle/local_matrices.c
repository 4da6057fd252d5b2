// Host code: eight elements at a time in SIMD lanes, modes of degree P eliminated
// (docs/math.md#by-hand); Z^-1 and [R | f] of a pack stay in the core's cache.
#include "ops/local/triangle/local_matrices.h"

#include "device/context.h"
#include "ops/local/triangle/lanes.h"

enum { MODES_MAX = (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 2) / 2 };
enum { TRACE_MAX = 3 * (KEDGE_ORDER_MAX + 1) };

/// Work of a pack of eight elements.
typedef struct pack_work {
  kg_element_pack e;
  kg_top_pack top;
  int n;                    ///< columns of W, but for that of f: those of K^e, packed or reduced
  int unknown[TRACE_MAX];   ///< of a column
  kg_pack sign[TRACE_MAX];  ///< of an unknown: -1 for the odd modes of reversed sides
  kg_pack keep;             ///< 0 in empty lanes
  kg_pack edge[TRACE_MAX];  ///< what modes of degree P add to F^e, but for its sign
} pack_work;

/// [R | f] with signs of reversed sides, [K][columns + 1].
static void build_lift(const kg_local_matrices_args *a, pack_work *p, const kg_pack *f, kg_pack *w)
{
  const kg_reference *ref = &a->batch.reference;
  const kg_element_pack *e = &p->e;
  const int n = ref->size.n_trace, m = ref->size.n_edge;
  for (int i = 0; i < ref->size.n_rotation; ++i) {
    for (int c = 0; c < p->n; ++c) {
      const int at = i * n + p->unknown[c], l = p->unknown[c] / m;
      const int next = (l + 1) % 3, before = (l + 2) % 3;
      *w++ = p->sign[p->unknown[c]] *
             (p->top.edge[l] * ref->lift[at] + e->lift_r[l] * ref->lift_r[at] +
              e->lift_s[l] * ref->lift_s[at] +
              p->top.pair[l + next - 1] * ref->eliminated_lift[0][at] +
              p->top.pair[l + before - 1] * ref->eliminated_lift[1][at]);
    }
    *w++ = f[i];
  }
}

/// W^T of four columns from c0 on, or less, and one row of W.
static void products(int rows, int ld, const kg_pack *w, int row, int c0, int width, kg_pack sum[4])
{
  for (int k = 0; k < 4; ++k) sum[k] = (kg_pack){0};
  if (width == 4)
    for (int i = 0; i < rows; ++i) {
      const kg_pack r = w[i * ld + row], *c = w + i * ld + c0;
      for (int k = 0; k < 4; ++k) sum[k] += r * c[k];
    }
  else
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < width; ++k) sum[k] += w[i * ld + row] * w[i * ld + c0 + k];
}

/// An entry of S0 less what modes of degree P take from it.
static void set_trace_entry(const kg_reference *ref, const pack_work *p, int a, int b,
                            kg_pack *entry)
{
  const int l = a / ref->size.n_edge, k = b / ref->size.n_edge, at = kg_packed_entry(a, b);
  kg_pack value = p->e.trace[kg_packed_entry(l, k)] * ref->trace_mass[at];
  if (l != k) value += p->top.pair[l + k - 1] * ref->trace_top[at];
  if (a == b) value += p->top.edge[l];
  *entry = p->sign[a] * p->sign[b] * value;
}

/// K^e = S0 - W^T W and F^e = W^T w_f, four columns at a time.
static void condense(const kg_local_matrices_args *a, const pack_work *p, int64_t group, int part,
                     const kg_pack *w)
{
  const kg_reference *ref = &a->batch.reference;
  const bool reduced = a->local.layout == KG_LAYOUT_REDUCED;
  const int n = p->n, first = reduced ? KG_REDUCED_FLUX : 0;
  double *local = a->local.data;
  for (int row = 0; row <= n; ++row)
    for (int c0 = 0; c0 <= row && c0 < n; c0 += 4) {
      const int width = n - c0 < 4 ? n - c0 : 4;
      kg_pack sum[4];
      products(ref->size.n_rotation, n + 1, w, row, c0, width, sum);
      for (int c = c0; c < c0 + width; ++c) {
        const int unknown = p->unknown[c];
        kg_pack value;
        if (row == n) {
          value = p->sign[unknown] * p->edge[unknown] + sum[c - c0];
          *kg_lanes_row(a->condensed, group, ref->size.n_trace, unknown, part) = value;
        } else if (c <= row) {
          set_trace_entry(ref, p, p->unknown[row], unknown, &value);
          value = p->keep * (value - sum[c - c0]);
          if (reduced && row == c && row < 3) value *= p->sign[unknown];
          *kg_lanes_row(local, group, a->local.rows, first + kg_packed_entry(row, c), part) = value;
        }
      }
    }
}

/// Write what is known of reduced K^e and of F^e without W: fluxes, and F^e in mode 0.
static void put_known(const kg_local_matrices_args *a, const pack_work *p, int64_t group, int part)
{
  const kg_sizes z = a->batch.reference.size;
  const double *load = a->load + group * z.n_modes * KG_LANES + part * KG_PACK;
  kg_pack *condensed[TRACE_MAX];
  for (int c = 0; c < z.n_trace; ++c)
    condensed[c] = kg_lanes_row(a->condensed, group, z.n_trace, c, part);
  for (int l = 0; l < 3; ++l) {
    *kg_lanes_row(a->local.data, group, a->local.rows, l, part) =
        p->keep * p->e.trace[kg_reduced_trace(l)];
    for (int i = 0; i < KG_PACK; ++i) {
      double first[3];
      for (int k = 0; k < 3; ++k)
        first[k] = p->sign[k * z.n_edge + 1][i] * (*condensed[k * z.n_edge + 1])[i];
      (*condensed[l * z.n_edge])[i] =
          kg_reduced_mean(a->batch.reference.lift, z.n_edge, l, load + i, first);
    }
  }
}

static void begin_pack(const kg_local_matrices_args *a, int64_t group, int part, pack_work *p)
{
  const kg_sizes z = a->batch.reference.size;
  kg_lanes_elements(&a->batch.arrays, &a->materials, group, part, &p->e);
  kg_lanes_top(z.order, &p->e, &p->top);
  const bool reduced = a->local.layout == KG_LAYOUT_REDUCED;
  p->n = reduced ? z.n_trace - 3 : z.n_trace;
  for (int c = 0; c < p->n; ++c) p->unknown[c] = reduced ? kg_reduced_unknown(z.n_edge, c) : c;
  for (int i = 0; i < KG_PACK; ++i) {
    const int lane = part * KG_PACK + i;
    p->keep[i] = group * KG_LANES + lane < a->batch.count.n_elements ? 1.0 : 0.0;
    for (int c = 0; c < z.n_trace; ++c)
      p->sign[c][i] = kg_side_sign(
          a->batch.arrays.side_edge[(group * 3 + c / z.n_edge) * KG_LANES + lane], c % z.n_edge);
  }
}

static void pack_of_elements(const void *args, int64_t group, int part, kg_pack *scratch)
{
  const kg_local_matrices_args *a = args;
  const kg_reference *ref = &a->batch.reference;
  const int K = ref->size.n_rotation;
  kg_pack *z_inverse = scratch, *w = scratch + K * (K + 1) / 2, f[MODES_MAX];
  pack_work p;
  begin_pack(a, group, part, &p);
  for (int i = 0; i < ref->size.n_modes; ++i)
    f[i] = *kg_lanes_row_const(a->load, group, ref->size.n_modes, i, part);
  kg_lanes_local_operator(ref, &p.e, &p.top, z_inverse);
  kg_lanes_eliminate(ref, &p.e, &p.top, f, p.edge);
  build_lift(a, &p, f, w);
  kg_lanes_cholesky(K, z_inverse);
  kg_lanes_forward(K, p.n + 1, z_inverse, w);
  condense(a, &p, group, part, w);
  if (a->local.layout == KG_LAYOUT_REDUCED) put_known(a, &p, group, part);
}

kedge_status kg_local_matrices_host(kedge_context *ctx, const kg_local_matrices_args *args)
{
  const kg_sizes z = args->batch.reference.size;
  const size_t K = (size_t)z.n_rotation, packs = K * (K + 1) / 2 + K * ((size_t)z.n_trace + 1);
  return kg_lanes_run(ctx, args->batch.count.n_groups, packs, pack_of_elements, args);
}

kedge_status kg_local_matrices(kedge_context *ctx, const kg_local_matrices_args *args)
{
  assert(args->local.layout == KG_LAYOUT_PACKED || args->local.layout == KG_LAYOUT_REDUCED);
  assert(args->local.number == KG_DOUBLE);
  assert(args->local.n_lanes == args->batch.count.n_groups * KG_LANES);
  return KG_IMPLEMENTATION(ctx, kg_local_matrices_host, kg_local_matrices_cuda)(ctx, args);
}

/// Modes of degree P are eliminated by hand; reduced K^e need no columns of W for mode 0 of the
/// edges.
kg_cost kg_local_matrices_cost(kg_sizes size, kg_layout layout, int64_t n_elements)
{
  const double N = size.n_modes, K = size.n_rotation, m = size.n_edge, trace = size.n_trace;
  const double n = trace - (layout == KG_LAYOUT_REDUCED ? 3 : 0);
  const double rows = kg_local_rows(layout, size.n_trace);
  const double build = 9 * K * (K + 1) / 2 + K + 9 * K * n + n * n;   // Z^-1, R, S0 of what is left
  const double top = 2 * (m + K) * trace;                             // f: F_p^T f_p, F_x of that
  const double algebra = K * K * K / 3 + K * K * (n + 1)              // Cholesky, triangular solve
                         + K * n * (n + 1) + 2 * K * n;               // rank-K update, F^e
  const double bytes = 8.0 * (N + rows + trace) + 3 * 8 + 3 * 4 + 8;  // f, K, F, ids, half a vertex
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + top + algebra) * (double)n_elements};
}
