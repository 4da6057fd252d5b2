#include "ops/sample_kernel.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "problem/expression_cuda.h"
#include "problem/number.h"

static_assert(KG_LANES == 32, "a lane is a thread of a warp");

extern const char kg_point_sums_text[], kg_sample_kernels_text[];  // the files' (CMakeLists.txt)

static const int shares[] = KG_ERROR_SHARES;

/// A table in constant memory.
static void write_table(FILE *out, const char *name, int rows, int columns, const double *values)
{
  fprintf(out, "__constant__ double %s[%d][%d] = {\n", name, rows, columns);
  for (int i = 0; i < rows * columns; ++i) {
    char number[32];
    kg_number_print(number, values[i]);
    fprintf(out, "%s%s,%s", i % columns == 0 ? "  {" : " ", number,
            i % columns == columns - 1 ? "},\n" : "");
  }
  fprintf(out, "};\n\n");
}

/// What the corners weigh at the points.
static void write_points(FILE *out, kg_sample_points p)
{
  fprintf(out, "__constant__ double point_table[%d][3] = {\n", p.points.n);
  for (int q = 0; q < p.points.n; ++q) {
    const double second = 0.5 * (1.0 + p.points.r[q]), third = 0.5 * (1.0 + p.points.s[q]);
    const double corner[] = {1.0 - second - third, second, third};
    for (int l = 0; l < 3; ++l) {
      char number[32];
      kg_number_print(number, corner[l]);
      fprintf(out, "%s%s%s", l == 0 ? "  {" : ", ", number, l == 2 ? "},\n" : "");
    }
  }
  fprintf(out, "};\n\n");
}

kedge_status kg_sample_kernel_source(kedge_context *ctx, kg_sample_kind kind, kg_sample_points p,
                                     const kg_function *const *functions, char **source)
{
  *source = NULL;
  const int n_functions = kind == KG_SAMPLE_LOADS ? 1 : 3, rows = p.points.rows;
  char *evaluate;
  KG_TRY(kg_functions_emit(ctx, n_functions, functions, &evaluate));
  size_t size;
  FILE *out = open_memstream(source, &size);
  if (out) {
    if (kind == KG_SAMPLE_LOADS) fprintf(out, "#define LOADS\n");
    fprintf(out, "enum { ORDER = %d, POINTS = %d, FUNCTIONS = %d, SHARE = %d };\n\n", p.order,
            p.points.n, n_functions, shares[p.order - 1]);
    write_points(out, p);
    fprintf(out, "__constant__ double weight_table[%d] = {", rows * rows);
    for (int q = 0; q < rows * rows; ++q) {
      char number[32];
      kg_number_print(number, p.points.weight[q]);
      fprintf(out, "%s,%s", number, q % 4 == 3 ? "\n" : " ");
    }
    fprintf(out, "};\n\n");
    write_table(out, "along_table", rows, p.order + 2, p.points.along);
    write_table(out, "across_table", rows, p.points.n_star, p.points.across);
    fprintf(out, "%s\n%s\n%s", evaluate, kg_point_sums_text, kg_sample_kernels_text);
  }
  free(evaluate);
  if (out && !(ferror(out) | fclose(out))) return KEDGE_OK;
  free(*source);
  *source = NULL;
  return KG_FAIL(ctx, KEDGE_ERR_MEMORY, "no memory for the source of a kernel");
}
