// Host code: eight elements at a time in SIMD lanes, one half of their matrices after the other.
#include "ops/local/parallelogram/parallelogram.h"

#include <math.h>

#include "device/context.h"

enum {
  ORDER_MAX = 8,
  TRACE_MAX = 4 * (ORDER_MAX + 1),
  MODES_MAX = (ORDER_MAX + 2) * (ORDER_MAX + 2),
  FLUX_MAX = 2 * (ORDER_MAX + 1) * (ORDER_MAX + 2),
};
static const double per_root_2 = 0.70710678118654752440;

/// Constants of the elements of a pack.
typedef struct pack_constants {
  kg_pack term[KG_HALF_TERMS], jacobian, mass;
} pack_constants;

static void take_constants(const kg_cells *cells, const kg_cell_material *material, int32_t first,
                           pack_constants *out)
{
  for (int i = 0; i < KG_PACK; ++i) {
    const kg_parallelogram e = kg_parallelogram_of(cells, material, first + i);
    for (int k = 0; k < KG_HALF_TERMS; ++k) out->term[k][i] = e.term[k];
    out->jacobian[i] = e.jacobian;
    out->mass[i] = e.mass;
  }
}

static size_t triangle(int n)
{
  return (size_t)n * (size_t)(n + 1) / 2;
}

static kg_pack sum_terms(int terms, const kg_pack *term, const double *entry)
{
  kg_pack sum = term[0] * entry[0];
  for (int k = 1; k < terms; ++k) sum += term[k] * entry[k];
  return sum;
}

/// a = the first n rows of a matrix, packed, plus `mass` on its diagonal.
static void put_rows(int n, int terms, const pack_constants *c, const double *table, kg_pack mass,
                     kg_pack *a)
{
  for (size_t k = 0; k < triangle(n); ++k)
    a[k] = sum_terms(terms, c->term, table + k * (size_t)terms);
  for (int i = 0; i < n; ++i) a[triangle(i + 1) - 1] += mass;
}

static kg_pack mode_of(const double *array, int64_t group, int rows, kg_half_mode mode, int part)
{
  return *kg_lanes_row_const(array, group, rows, kg_half_mode_number(mode), part);
}

/// 1 in lanes that have an element, 0 in others.
static kg_pack elements_in(const kg_cells *cells, int32_t first)
{
  kg_pack keep;
  for (int i = 0; i < KG_PACK; ++i) keep[i] = first + i < cells->n_elements ? 1.0 : 0.0;
  return keep;
}

/// A load, which nobody has written in lanes without an element: there 0.
static kg_pack load_of(const double *load, int64_t group, int rows, kg_half_mode mode, int part,
                       kg_pack keep)
{
  kg_pack value = mode_of(load, group, rows, mode, part);
  for (int lane = 0; lane < KG_PACK; ++lane)
    if (keep[lane] == 0.0) value[lane] = 0.0;
  return value;
}

/// sum = column a of w times the columns from b on, four or less.
static void products(int rows, int columns, const kg_pack *w, int a, int b, int width,
                     kg_pack sum[4])
{
  for (int d = 0; d < 4; ++d) sum[d] = (kg_pack){0};
  if (width == 4)
    for (int i = 0; i < rows; ++i, w += columns)
      for (int d = 0; d < 4; ++d) sum[d] += w[a] * w[b + d];
  else
    for (int i = 0; i < rows; ++i, w += columns)
      for (int d = 0; d < width; ++d) sum[d] += w[a] * w[b + d];
}

/// K^e and F^e of a half, from w = L^-1 [R | f].
static void condense(int n_modes, int n_trace, const pack_constants *c, const double *table,
                     const kg_pack *w, kg_pack *k, kg_pack *f)
{
  for (int a = 0; a <= n_trace; ++a)
    for (int b = 0; b <= a && b < n_trace; b += 4) {
      const int width = n_trace - b < 4 ? n_trace - b : 4;
      const double *s0 = table + (triangle(n_modes + a) + (size_t)(n_modes + b)) * KG_HALF_TERMS;
      kg_pack sum[4];
      products(n_modes, n_trace + 1, w, a, b, width, sum);
      for (int d = 0; d < width; ++d, s0 += KG_HALF_TERMS)
        if (a == n_trace)
          f[b + d] = sum[d];
        else if (b + d <= a)
          k[triangle(a) + (size_t)(b + d)] = sum_terms(KG_HALF_TERMS, c->term, s0) - sum[d];
    }
}

/// K^e and F^e of one half. @param[in,out] z  scratch
static void make_half(const kg_cell_make_args *args, int half, int64_t group, int part,
                      const pack_constants *c, kg_pack keep, kg_pack *z, kg_pack *k, kg_pack *f)
{
  const kg_cell_sizes size = args->cells.tables.size;
  const int m = size.n_facet, n_modes = kg_half_modes(m, half), n_trace = 2 * m;
  const double *const table = args->cells.tables.halves.sums[half];
  kg_pack *const w = z + triangle(n_modes);
  put_rows(n_modes, KG_HALF_TERMS, c, table, c->mass, z);
  for (int b = 0; b < n_trace; ++b) {
    const double *const row = table + triangle(n_modes + b) * KG_HALF_TERMS;
    for (int i = 0; i < n_modes; ++i)
      w[i * (n_trace + 1) + b] = -sum_terms(KG_HALF_TERMS, c->term, row + i * KG_HALF_TERMS);
  }
  for (int i = 0; i < n_modes; ++i) {
    w[i * (n_trace + 1) + n_trace] =
        load_of(args->load, group, size.n_modes, kg_half_mode_at(m, half, i), part, keep);
  }
  kg_lanes_cholesky(n_modes, z);
  kg_lanes_forward(n_modes, n_trace + 1, z, w);
  condense(n_modes, n_trace, c, table, w, k, f);
}

/// Write K^e and F^e from those of the halves, with signs of reversed facets.
static void write_matrices(const kg_cell_make_args *args, int64_t group, int part, kg_pack keep,
                           const kg_pack *k[2], const kg_pack *f[2])
{
  const kg_cell_sizes size = args->cells.tables.size;
  const int n = size.n_trace, n_half = n / 2, rows = size.n_packed;
  kg_pack sign[TRACE_MAX];
  for (int a = 0; a < n; ++a)
    for (int i = 0; i < KG_PACK; ++i)
      sign[a][i] = kg_cell_sign(&args->cells, (int32_t)group * KG_LANES + part * KG_PACK + i, a);
  for (int p = 0, at = 0; p < n_half; ++p) {
    const kg_pack *const s = sign, *const t = sign + n_half;
    for (int q = 0; q <= p; ++q, ++at) {
      const kg_pack same = 0.5 * keep * (k[0][at] + k[1][at]);
      const kg_pack other = 0.5 * keep * (k[0][at] - k[1][at]);
      const int behind = (int)triangle(n_half + p) + n_half + q;
      *kg_lanes_row(args->local, group, rows, at, part) = s[p] * s[q] * same;
      *kg_lanes_row(args->local, group, rows, behind, part) = t[p] * t[q] * same;
      *kg_lanes_row(args->local, group, rows, behind - n_half, part) = t[p] * s[q] * other;
      *kg_lanes_row(args->local, group, rows, (int)triangle(n_half + q) + p, part) =
          t[q] * s[p] * other;
    }
    const kg_pack even = per_root_2 * keep * f[0][p], odd = per_root_2 * keep * f[1][p];
    *kg_lanes_row(args->condensed, group, n, p, part) = s[p] * (even + odd);
    *kg_lanes_row(args->condensed, group, n, n_half + p, part) = t[p] * (even - odd);
  }
}

/// Packs of scratch of a half: Z^-1 and `columns` columns.
static size_t half_packs(int n_modes, int columns)
{
  return triangle(n_modes) + (size_t)n_modes * (size_t)columns;
}

static void make_pack(const void *arguments, int64_t group, int part, kg_pack *scratch)
{
  const kg_cell_make_args *const args = arguments;
  const int n_trace = args->cells.tables.size.n_trace / 2;
  const int32_t first = (int32_t)group * KG_LANES + part * KG_PACK;
  const size_t results = triangle(n_trace) + (size_t)n_trace;
  const kg_pack keep = elements_in(&args->cells, first);
  pack_constants c;
  take_constants(&args->cells, &args->material, first, &c);
  const kg_pack *k[2] = {scratch, scratch + results};
  const kg_pack *f[2] = {k[0] + triangle(n_trace), k[1] + triangle(n_trace)};
  for (int half = 0; half < KG_HALVES; ++half)
    make_half(args, half, group, part, &c, keep, scratch + 2 * results, (kg_pack *)k[half],
              (kg_pack *)f[half]);
  write_matrices(args, group, part, keep, k, f);
}

KG_OPERATOR(kg_parallelogram_make, kg_cell_make_args)
kedge_status kg_parallelogram_make_host(kedge_context *ctx, const kg_cell_make_args *args)
{
  const int m = args->cells.tables.size.n_facet, n_trace = 2 * m;
  const size_t results = 2 * (triangle(n_trace) + (size_t)n_trace);
  return kg_lanes_run(ctx, kg_cells_groups(&args->cells),
                      results + half_packs(kg_half_modes(m, 0), n_trace + 1), make_pack, args);
}

/// x = A^-1 x in the first n unknowns of a half.
static void solve_half(int n, kg_pack *a, kg_pack *x)
{
  kg_lanes_cholesky(n, a);
  kg_lanes_forward(n, 1, a, x);
  kg_lanes_backward(n, a, x);
}

/// The trace of a pack, by halves: lambda [half][2 m].
static void take_trace(const kg_cell_recover_args *args, int32_t first, kg_pack *lambda)
{
  const kg_cells *const cells = &args->cells;
  const int m = cells->tables.size.n_facet, n_half = 2 * m;
  for (int c = 0; c < n_half; ++c)
    for (int i = 0; i < KG_PACK; ++i) {
      double value[2];
      for (int k = 0; k < 2; ++k) {
        const int unknown = c + k * n_half;
        const uint32_t side = cells->side_edge[kg_cell_at(first + i, 4, unknown / m)];
        value[k] =
            kg_cell_sign(cells, first + i, unknown) * args->trace[(int64_t)(side >> 1) * m + c % m];
      }
      lambda[c][i] = per_root_2 * (value[0] + value[1]);
      lambda[n_half + c][i] = per_root_2 * (value[0] - value[1]);
    }
}

static void recover_pack(const void *arguments, int64_t group, int part, kg_pack *scratch)
{
  const kg_cell_recover_args *const args = arguments;
  const kg_cell_sizes size = args->cells.tables.size;
  const kg_halves *const halves = &args->cells.tables.halves;
  const int m = size.n_facet, N = size.n_modes, S = size.n_flux;
  const int32_t first = (int32_t)group * KG_LANES + part * KG_PACK;
  const kg_pack keep = elements_in(&args->cells, first);
  kg_pack lambda[TRACE_MAX], u[MODES_MAX], gradient[FLUX_MAX], flux[FLUX_MAX];
  pack_constants c;
  take_constants(&args->cells, &args->material, first, &c);
  take_trace(args, first, lambda);
  for (int k = 0; k < S; ++k) gradient[k] = kg_half_weak(halves->root, m, k, lambda, NULL);
  for (int k = 0; k < S; ++k) flux[k] = kg_half_flux(c.term, m, k, gradient);
  for (int half = 0; half < KG_HALVES; ++half) {
    const int n = kg_half_modes(m, half);
    kg_pack *const x = scratch + triangle(n);
    for (int a = 0; a < n; ++a) {
      const kg_half_mode mode = kg_half_mode_at(m, half, a);
      x[a] = load_of(args->load, group, N, mode, part, keep) +
             kg_half_lift(halves->root, c.term, m, mode, lambda, flux);
    }
    put_rows(n, KG_HALF_TERMS, &c, halves->sums[half], c.mass, scratch);
    solve_half(n, scratch, x);
    for (int a = 0; a < n; ++a) u[kg_half_mode_number(kg_half_mode_at(m, half, a))] = x[a];
  }
  for (int i = 0; i < N; ++i) *kg_lanes_row(args->u, group, N, i, part) = u[i];
  for (int k = 0; k < S; ++k) gradient[k] = kg_half_weak(halves->root, m, k, lambda, u);
  for (int k = 0; k < S; ++k)
    *kg_lanes_row(args->flux, group, S, k, part) = kg_half_flux(c.term, m, k, gradient);
}

KG_OPERATOR(kg_parallelogram_recover, kg_cell_recover_args)
kedge_status kg_parallelogram_recover_host(kedge_context *ctx, const kg_cell_recover_args *args)
{
  const int m = args->cells.tables.size.n_facet;
  return kg_lanes_run(ctx, kg_cells_groups(&args->cells), half_packs(kg_half_modes(m, 0), 1),
                      recover_pack, args);
}

static void postprocess_pack(const void *arguments, int64_t group, int part, kg_pack *scratch)
{
  const kg_cell_postprocess_args *const args = arguments;
  const kg_cell_sizes size = args->cells.tables.size;
  const kg_halves *const halves = &args->cells.tables.halves;
  const int m = size.n_facet, N = size.n_modes, S = size.n_flux;
  const int32_t first = (int32_t)group * KG_LANES + part * KG_PACK;
  kg_pack flux[FLUX_MAX], square = {0};
  pack_constants c;
  take_constants(&args->cells, &args->material, first, &c);
  for (int k = 0; k < S; ++k) flux[k] = *kg_lanes_row_const(args->flux, group, S, k, part);
  *kg_lanes_row(args->u_star, group, size.n_star, 0, part) =
      *kg_lanes_row_const(args->u, group, N, 0, part);
  for (int half = 0; half < KG_HALVES; ++half) {
    const int constant = 1 - half, n = kg_half_modes(m + 1, half) - constant;
    kg_pack *const x = scratch + triangle(n);
    for (int a = 0; a < n; ++a)
      x[a] = kg_half_star_load(halves->root, m, kg_half_mode_at(m + 1, half, a + constant), flux);
    put_rows(n, KG_HALF_STAR_TERMS, &c, halves->stars[half], (kg_pack){0}, scratch);
    solve_half(n, scratch, x);
    for (int a = 0; a < n; ++a) {
      const kg_half_mode mode = kg_half_mode_at(m + 1, half, a + constant);
      kg_pack d = x[a];
      *kg_lanes_row(args->u_star, group, size.n_star, kg_half_mode_number(mode), part) = d;
      if (mode.i < m && mode.j < m) d -= mode_of(args->u, group, N, mode, part);
      square += d * d;
    }
  }
  for (int i = 0; i < KG_PACK; ++i) square[i] = sqrt(c.jacobian[i] * square[i]);
  *kg_lanes_row(args->indicator, group, 1, 0, part) = square;
}

KG_OPERATOR(kg_parallelogram_postprocess, kg_cell_postprocess_args)
kedge_status kg_parallelogram_postprocess_host(kedge_context *ctx,
                                               const kg_cell_postprocess_args *args)
{
  const int m = args->cells.tables.size.n_facet;
  return kg_lanes_run(ctx, kg_cells_groups(&args->cells), half_packs(kg_half_modes(m + 1, 1), 1),
                      postprocess_pack, args);
}

/// Operations of the elimination of `pivots` of n unknowns, in both halves.
static double half_flops(double pivots, double n)
{
  const double behind = n - pivots;
  return 2.0 *
         (pivots * pivots * pivots / 3 + pivots * pivots * behind + pivots * behind * (behind + 1));
}

/// Operations of solving for n unknowns by a matrix of that band (half_band.cuh).
static double band_flops(double n, double band)
{
  return n * band * (band + 5);
}

enum { CONSTANT_FLOPS = 60, GEOMETRY_BYTES = 4 * 4 + 16 };  // a vertex an element, and its corners

kg_cost kg_parallelogram_make_cost(kg_cell_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, n = size.n_trace;
  const double flops = half_flops(N / 2, N / 2 + n / 2) + N * N / 2 + 2 * N * n / 2 +
                       2.0 * size.n_packed + CONSTANT_FLOPS;
  const double bytes = 8.0 * (N + size.n_packed + n) + 4 * 4 + GEOMETRY_BYTES;
  return (kg_cost){.bytes = bytes * (double)n_elements, .flops = flops * (double)n_elements};
}

kg_cost kg_parallelogram_recover_cost(kg_cell_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, n = size.n_trace, S = size.n_flux, m = size.n_facet;
  const double vectors = S * (m + 10) + N * (2 * m + 10) + 4 * n;
  const double flops = band_flops(N, m + 1) + vectors + CONSTANT_FLOPS;
  const double bytes = 8.0 * (2 * N + S + n / 2) + 4 * 4 + GEOMETRY_BYTES;
  return (kg_cost){.bytes = bytes * (double)n_elements, .flops = flops * (double)n_elements};
}

kg_cost kg_parallelogram_postprocess_cost(kg_cell_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, S = size.n_flux, star = size.n_star, m = size.n_facet;
  const double flops = band_flops(star, m + 1) + star * (2 * m + 6) + CONSTANT_FLOPS;
  const double bytes = 8.0 * (N + S + star + 1) + GEOMETRY_BYTES;
  return (kg_cost){.bytes = bytes * (double)n_elements, .flops = flops * (double)n_elements};
}
