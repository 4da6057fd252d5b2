// Local matrices on the host: by OpenBLAS, one element a call in every thread, and by plain loops
// over eight elements that the compiler makes SIMD code of.
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "device/context.h"
#include "core/memory.h"
#include "local_baseline.h"

enum { LANES = 8 };

static kg_element element_of(const kg_local_matrices_args *a, int64_t element)
{
  double x[3], y[3];
  kg_element_corners(a->batch.arrays.vertices, a->batch.arrays.vertex, element / KG_LANES,
                     (int)(element % KG_LANES), x, y);
  return kg_element_of(x, y, a->materials.one);
}

#ifdef HAVE_OPENBLAS
void openblas_set_num_threads(int threads);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dtrsm_(const char *side, const char *uplo, const char *transpose, const char *diagonal,
            const int *rows, const int *columns, const double *alpha, const double *a,
            const int *lda, double *b, const int *ldb);
void dsyrk_(const char *uplo, const char *transpose, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *beta, double *c,
            const int *ldc);
void dgemv_(const char *transpose, const int *rows, const int *columns, const double *alpha,
            const double *a, const int *lda, const double *x, const int *incx, const double *beta,
            double *y, const int *incy);

/// Lower triangles of Z^-1 and S0, and [R | f], of one element.
static void build_element(const kg_local_matrices_args *a, int64_t element, double *z, double *w,
                          double *k)
{
  const kg_reference *ref = &a->batch.reference;
  const int N = ref->size.n_modes, n = ref->size.n_trace, m = ref->size.n_edge;
  const kg_element e = element_of(a, element);
  double sign[3 * (KEDGE_ORDER_MAX + 1)];
  for (int c = 0; c < n; ++c) sign[c] = baseline_sign(&a->batch.arrays, m, element, c);
  for (int j = 0; j < N; ++j)
    for (int i = j; i < N; ++i) z[j * N + i] = baseline_operator(ref, &e, i, j);
  for (int c = 0; c < n; ++c)
    for (int i = 0; i < N; ++i) w[c * N + i] = sign[c] * baseline_lift(ref, &e, i, c);
  const double *load = a->load + element / KG_LANES * N * KG_LANES + element % KG_LANES;
  for (int i = 0; i < N; ++i) w[n * N + i] = load[i * KG_LANES];
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i)
      k[j * (n + 1) + i] = sign[i] * sign[j] * baseline_trace(ref, &e, i, j);
    k[j * (n + 1) + n] = 0.0;
  }
}

static void one_element(const kg_local_matrices_args *a, int64_t element, double *z, double *k)
{
  const int N = a->batch.reference.size.n_modes, n = a->batch.reference.size.n_trace;
  const int columns = n + 1, step = 1;
  const double one = 1.0, minus_one = -1.0;
  double *w = z + N * N;
  int info;
  build_element(a, element, z, w, k);
  dpotrf_("L", &N, z, &N, &info);
  dtrsm_("L", "L", "N", "N", &N, &columns, &one, z, &N, w, &N);
  dsyrk_("L", "T", &n, &N, &minus_one, w, &N, &one, k, &columns);
  dgemv_("T", &N, &n, &minus_one, w, &N, w + n * N, &step, &one, k + n, &columns);
}

static kedge_status call_openblas(void *user)
{
  const baseline *b = user;
  const kg_sizes size = b->args.batch.reference.size;
  const size_t N = (size_t)size.n_modes, n = (size_t)size.n_trace, dense = n * (n + 1);
  const size_t words = (N * N + N * (n + 1) + 7) / 8 * 8;
  double *scratch;
  KG_TRY(kg_host_alloc(b->ctx, words * (size_t)b->ctx->threads, sizeof *scratch, &scratch));
  openblas_set_num_threads(1);
#pragma omp parallel for schedule(static) num_threads(b->ctx->threads)
  for (int64_t e = 0; e < b->elements; ++e)
    one_element(&b->args, e, scratch + words * (size_t)omp_get_thread_num(),
                (double *)b->matrices.data + (size_t)e * dense);
  free(scratch);
  return KEDGE_OK;
}
#endif

/// Z^-1 = L L^T row by row, [i (i+1) / 2 + j][lane]; the diagonal holds 1 / L_ii.
static void factor(int n, double (*restrict a)[LANES])
{
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double(*ai)[LANES] = a + i * (i + 1) / 2, (*aj)[LANES] = a + j * (j + 1) / 2;
      double sum[LANES];
      for (int v = 0; v < LANES; ++v) sum[v] = ai[j][v];
      for (int k = 0; k < j; ++k)
#pragma omp simd
        for (int v = 0; v < LANES; ++v) sum[v] -= ai[k][v] * aj[k][v];
#pragma omp simd
      for (int v = 0; v < LANES; ++v) ai[j][v] = i == j ? 1.0 / sqrt(sum[v]) : sum[v] * aj[j][v];
    }
}

/// w = L^-1 w, column by column, [column][i][lane].
static void solve(int n, int columns, const double (*restrict l)[LANES],
                  double (*restrict w)[LANES])
{
  for (int c = 0; c < columns; ++c, w += n)
    for (int i = 0; i < n; ++i) {
      const double(*li)[LANES] = l + i * (i + 1) / 2;
      double sum[LANES];
      for (int v = 0; v < LANES; ++v) sum[v] = w[i][v];
      for (int k = 0; k < i; ++k)
#pragma omp simd
        for (int v = 0; v < LANES; ++v) sum[v] -= li[k][v] * w[k][v];
      for (int v = 0; v < LANES; ++v) w[i][v] = sum[v] * li[i][v];
    }
}

/// Eight elements; `out` is the first lane of theirs in packed K^e.
static void eight_elements(const kg_local_matrices_args *a, int64_t first, double (*z)[LANES],
                           double *restrict out)
{
  const kg_reference *ref = &a->batch.reference;
  const int N = ref->size.n_modes, n = ref->size.n_trace, m = ref->size.n_edge;
  double(*w)[LANES] = z + N * (N + 1) / 2, sign[3 * (KEDGE_ORDER_MAX + 1)][LANES];
  kg_element e[LANES];
  for (int v = 0; v < LANES; ++v) {
    e[v] = element_of(a, first + v);
    for (int c = 0; c < n; ++c) sign[c][v] = baseline_sign(&a->batch.arrays, m, first + v, c);
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j)
      for (int v = 0; v < LANES; ++v)
        z[i * (i + 1) / 2 + j][v] = baseline_operator(ref, &e[v], i, j);
  const double *load = a->load + first / KG_LANES * N * KG_LANES + first % KG_LANES;
  for (int i = 0; i < N; ++i)
    for (int v = 0; v < LANES; ++v) w[n * N + i][v] = load[i * KG_LANES + v];
  for (int c = 0; c < n; ++c)
    for (int i = 0; i < N; ++i)
      for (int v = 0; v < LANES; ++v)
        w[c * N + i][v] = sign[c][v] * baseline_lift(ref, &e[v], i, c);
  factor(N, z);
  solve(N, n + 1, (const double(*)[LANES])z, w);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j, out += KG_LANES) {
      double sum[LANES];
      for (int v = 0; v < LANES; ++v)
        sum[v] = sign[i][v] * sign[j][v] * baseline_trace(ref, &e[v], i, j);
      for (int k = 0; k < N; ++k)
#pragma omp simd
        for (int v = 0; v < LANES; ++v) sum[v] -= w[i * N + k][v] * w[j * N + k][v];
      for (int v = 0; v < LANES; ++v) out[v] = sum[v];
    }
}

static kedge_status call_simd(void *user)
{
  const baseline *b = user;
  const kg_sizes size = b->args.batch.reference.size;
  const size_t N = (size_t)size.n_modes;
  const size_t packs = N * (N + 1) / 2 + N * ((size_t)size.n_trace + 1);
  double(*scratch)[LANES];
  KG_TRY(kg_host_alloc(b->ctx, packs * (size_t)b->ctx->threads, sizeof *scratch, &scratch));
#pragma omp parallel for schedule(static) num_threads(b->ctx->threads)
  for (int64_t first = 0; first < b->elements; first += LANES)
    eight_elements(&b->args, first, scratch + packs * (size_t)omp_get_thread_num(),
                   (double *)b->matrices.data + first / KG_LANES * size.n_packed * KG_LANES +
                       first % KG_LANES);
  free(scratch);
  return KEDGE_OK;
}

const baseline_variant *baseline_host_variants(int *n)
{
  static const baseline_variant variants[] = {
#ifdef HAVE_OPENBLAS
      {"OpenBLAS dpotrf, dtrsm, dsyrk", false, NULL, call_openblas, NULL},
#endif
      {"plain loops over 8 lanes", true, NULL, call_simd, NULL}};
  *n = sizeof variants / sizeof *variants;
  return variants;
}
