#include "ops/sample_kernel.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "problem/expression_cuda.h"
#include "problem/number.h"

static_assert(KG_LANES == 32, "a lane is a thread of a warp");

// Layout  values [group of the chunk][function][point][lane]: lanes are neighbouring words.
// Map     block = group, lane = element, warps share out the points.
// Bits    coordinates are computed as the host does (solver/sampling.c), in its order.
// Bad     the smallest index of a value that is not finite: an order of arrival does not matter.
static const char kernel[] =
    "__device__ unsigned long long first_bad = ~0ull;\n"
    "\n"
    "#ifdef __cplusplus\n"
    "extern \"C\"\n"
    "#endif\n"
    "__global__ void __launch_bounds__(32 * WARPS)\n"
    "    sample(const double *vertices, const int *vertex, long long first_group, double *values)\n"
    "{\n"
    "  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;\n"
    "  const long long group = first_group + blockIdx.x;\n"
    "  double x[3], y[3], value[FUNCTIONS];\n"
    "  for (int l = 0; l < 3; ++l) {\n"
    "    const long long v = vertex[(group * 3 + l) * 32 + lane];\n"
    "    x[l] = vertices[2 * v];\n"
    "    y[l] = vertices[2 * v + 1];\n"
    "  }\n"
    "  for (int q = warp; q < POINTS; q += WARPS) {\n"
    "    const double b = 0.5 * (1.0 + point[q][0]), c = 0.5 * (1.0 + point[q][1]);\n"
    "    const double a = 1.0 - b - c;\n"
    "    evaluate(a * x[0] + b * x[1] + c * x[2], a * y[0] + b * y[1] + c * y[2], value);\n"
    "    for (int f = 0; f < FUNCTIONS; ++f) {\n"
    "      const unsigned long long at =\n"
    "          (((unsigned long long)blockIdx.x * FUNCTIONS + f) * POINTS + q) * 32 + lane;\n"
    "      values[at] = value[f];\n"
    "      if (!isfinite(value[f])) atomicMin(&first_bad, at);\n"
    "    }\n"
    "  }\n"
    "}\n";

static void write_points(FILE *out, kg_sample_points points)
{
  fprintf(out, "__constant__ double point[POINTS][2] = {\n");
  for (int q = 0; q < points.n; ++q) {
    char r[32], s[32];
    kg_number_print(r, points.r[q]);
    kg_number_print(s, points.s[q]);
    fprintf(out, "  {%s, %s},\n", r, s);
  }
  fprintf(out, "};\n\n");
}

kedge_status kg_sample_kernel_source(kedge_context *ctx, kg_sample_points points, int n_functions,
                                     const kg_function *const *functions, char **source)
{
  *source = NULL;
  char *evaluate;
  KG_TRY(kg_functions_emit(ctx, n_functions, functions, &evaluate));
  size_t size;
  FILE *out = open_memstream(source, &size);
  if (out) {
    fprintf(out, "enum { WARPS = %d, POINTS = %d, FUNCTIONS = %d };\n\n", KG_SAMPLE_WARPS, points.n,
            n_functions);
    write_points(out, points);
    fprintf(out, "%s\n%s", evaluate, kernel);
  }
  free(evaluate);
  if (out && !(ferror(out) | fclose(out))) return KEDGE_OK;
  free(*source);
  *source = NULL;
  return KG_FAIL(ctx, KEDGE_ERR_MEMORY, "no memory for the source of a kernel");
}
