#include "device/loop.h"
#include "ops/smooth/line_sweep.h"
#include "ops/real.h"

/// x -= L y
static void subtract(int m, const float *factor, const kg_real *y, kg_real *x)
{
  for (int i = 0; i < m; ++i) {
    kg_real sum = 0;
    for (int j = 0; j < m; ++j) sum += factor[i * m + j] * y[j];
    x[i] -= sum;
  }
}

/// x -= L^T y
static void subtract_transposed(int m, const float *factor, const kg_real *y, kg_real *x)
{
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) x[j] -= factor[i * m + j] * y[i];
}

kedge_status KG_REAL(kg_line_sweep_host)(kedge_context *ctx, const kg_line_sweep_args *a)
{
  const int m = a->m;
  const int threads = kg_loop_threads(ctx, a->lines.n_steps, m * m);
  kg_real *x = a->x;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
  for (int32_t line = 0; line < a->lines.n_lines; ++line) {
    const int32_t first = a->lines.begin[line] + 1, n = a->lines.begin[line + 1] - first;
    for (int32_t k = 0; k < n; ++k) {
      const int32_t step = a->backward ? first + n - 1 - k : first + k;
      kg_real *here = x + (int64_t)a->lines.edge[step] * m;
      kg_real *before = x + (int64_t)a->lines.edge[step - 1] * m;
      const float *factor = a->factor + kg_line_factor_at(m, line, step);
      if (a->backward)
        subtract_transposed(m, factor, here, before);
      else
        subtract(m, factor, before, here);
    }
  }
  return KEDGE_OK;
}
