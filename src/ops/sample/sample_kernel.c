#include "ops/sample/sample_kernel.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/file.h"
#include "core/number.h"
#include "expression/expression_cuda.h"
#include "expression/function.h"

static_assert(KG_LANES == 32, "a lane is a thread of a warp");

// The text of source files, which CMakeLists.txt makes into strings.
extern const char kg_circle_text[], kg_point_sums_text[], kg_sample_kernels_text[];

/// Write numbers as an array in constant memory.
static void write_list(FILE *out, const char *name, int n, const double *values)
{
  fprintf(out, "__constant__ double %s[%d] = {", name, n);
  for (int i = 0; i < n; ++i) {
    char number[32];
    kg_number_print(number, values[i]);
    fprintf(out, "%s,%s", number, i % 4 == 3 ? "\n" : " ");
  }
  fprintf(out, "};\n\n");
}

/// Write a table as an array in constant memory.
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

/// Write the places of the points: of a point along its row, from the row's first end; of a row
/// across the triangle, from its base.
static void write_points(FILE *out, kg_points p)
{
  double along[KG_POINT_ROWS_MAX], across[KG_POINT_ROWS_MAX];
  const int rows = p.rows;
  for (int k = 0; k < rows; ++k) {
    across[k] = 0.5 * (1.0 + p.s[k * rows]);
    along[k] = 0.5 * (1.0 + p.r[k]) / (1.0 - across[0]);
  }
  write_list(out, "along_point", rows, along);
  write_list(out, "across_point", rows, across);
}

kg_sample_shape kg_sample_shape_of(kg_sample_kind kind, int order)
{
  static const kg_sample_shape loads[KEDGE_ORDER_MAX] = {
      {1, 4}, {1, 4}, {1, 4}, {1, 4}, {1, 4}, {1, 4},
      {1, 3}, {1, 3}, {1, 4}, {1, 2}, {1, 2}, {1, 2},
  };
  // At orders of many rows, which read the modes again and again, the modes of one group a warp do
  // not fit the L1 cache.
  static const kg_sample_shape errors[KEDGE_ORDER_MAX] = {
      {1, 4}, {1, 4}, {1, 4}, {3, 5}, {5, 3}, {4, 3},
      {4, 3}, {4, 3}, {4, 3}, {5, 2}, {5, 2}, {5, 2},
  };
  return kind == KG_SAMPLE_LOADS ? loads[order - 1] : errors[order - 1];
}

/// Points of a row that are compiled side by side: all of them while the formulas are short and
/// there are registers: what belongs to a point is an operand then, which no load has to bring.
static int copies_of(kg_sample_kind kind, kg_points points, int n_functions,
                     const kg_function *const *functions)
{
  enum { OPERATIONS_MAX = 256, LOADS_ORDER_MAX = 6, ERRORS_ORDER_MAX = 3 };
  const bool loads = kind == KG_SAMPLE_LOADS;
  const int order = points.order, rows = points.rows;
  const int operations = kg_functions_operations(n_functions, functions);
  if (order <= (loads ? LOADS_ORDER_MAX : ERRORS_ORDER_MAX) && operations * rows <= OPERATIONS_MAX)
    return rows;
  return loads ? 4 : 1;
}

kg_cost kg_sample_cost(kg_sample_kind kind, kg_sizes size, int rows, bool flux, double operations,
                       int64_t n_elements)
{
  const bool loads = kind == KG_SAMPLE_LOADS;
  const int rule = loads ? kg_rule_points(size.order) : rows * rows,
            corners = loads ? 0 : KG_POINT_CORNERS;
  const double values = loads ? rule : 3 * rule + corners;
  kg_cost cost =
      loads ? kg_load_vectors_cost(size, n_elements) : kg_errors_cost(size, rows, flux, n_elements);
  cost.bytes -= 8.0 * values * (double)n_elements;
  cost.flops += operations * (rule + corners) * (double)n_elements;
  return cost;
}

kedge_status kg_sample_kernel_source(kedge_context *ctx, kg_sample_kind kind, kg_points p,
                                     const kg_function *const *functions, char **source)
{
  *source = NULL;
  const int n_functions = kind == KG_SAMPLE_LOADS ? 1 : 3, rows = p.rows;
  const int order = p.order;
  if (kind == KG_SAMPLE_LOADS) p = kg_points_of_rule(p);
  char *evaluate;
  KG_TRY(kg_functions_emit(ctx, n_functions, functions, &evaluate));
  size_t size;
  FILE *out = open_memstream(source, &size);
  if (out) {
    const int rule = rows * rows, n_star = p.n_star;
    if (kind == KG_SAMPLE_LOADS) fprintf(out, "#define LOADS\n");
    const kg_sample_shape shape = kg_sample_shape_of(kind, order);
    fprintf(out, "enum { ORDER = %d, ROWS = %d, POINTS = %d, FUNCTIONS = %d };\n", order, rows, p.n,
            n_functions);
    fprintf(out, "enum { COPIES = %d, SHARE = %d, BLOCKS = %d };\n\n",
            copies_of(kind, p, n_functions, functions), shape.share, shape.blocks);
    write_points(out, p);
    write_list(out, "weight_table", rule, p.weight);
    if (kind == KG_SAMPLE_LOADS) {
      char roughness[32];
      kg_number_print(roughness, KG_ROUGHNESS);
      fprintf(out, "#define KG_ROUGHNESS %s\n", roughness);
      write_list(out, "top_table", rows, p.top);
      write_list(out, "top_of_row_table", rows, p.top_of_row);
    }
    write_table(out, "along_table", rows, order + 2, p.along);
    write_table(out, "across_table", rows, n_star, p.across);
    if (p.n > rule) write_table(out, "corner_table", p.n - rule, n_star, p.basis + rule * n_star);
    fprintf(out, "%s\n%s\n%s\n%s", kg_circle_text, evaluate, kg_point_sums_text,
            kg_sample_kernels_text);
  }
  free(evaluate);
  return kg_text_end(ctx, out, "the source of a kernel", source);
}
