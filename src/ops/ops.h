/// @file
/// Operators: <op>.h gives formula, layouts and arguments; <op>.c checks, dispatches, prices, and
/// has the host code, which is the specification (<op>_host.c where that is long or compiled
/// twice); <op>_cuda.cu has the kernels.
#pragma once
#include "basis/reference.h"
#include "space/trace_layout.h"

/// Work of one call: bytes moved through memory if every operand is touched once, and flops.
typedef struct kg_cost {
  double bytes, flops;
} kg_cost;

/// Add `times` parts to a sum.
static inline kg_cost kg_cost_plus(kg_cost sum, double times, kg_cost part)
{
  return (kg_cost){sum.bytes + times * part.bytes, sum.flops + times * part.flops};
}

/// Select the function of a context's backend. Shadow runs the host's function on shadow memory;
/// only a build with CUDA has contexts of the CUDA backend.
#define KG_IMPLEMENTATION(ctx, host, cuda) \
  ((ctx)->backend == KEDGE_BACKEND_CUDA ? KG_IF_CUDA(cuda) : (host))

/// The type of an operator's numbers, where it takes two. Sums over many of them are double.
typedef enum kg_number { KG_DOUBLE, KG_SINGLE, KG_NUMBERS } kg_number;

static inline size_t kg_number_bytes(kg_number number)
{
  return number == KG_SINGLE ? sizeof(float) : sizeof(double);
}

/// Name, for the sentence of an error, another reason why a matrix may have no inverse in these
/// numbers; "" if there is none.
static inline const char *kg_number_remedy(kg_number number)
{
  return number == KG_SINGLE ? ", or its numbers leave the range of single precision (precision = "
                               "double holds them)"
                             : "";
}

/// The settings, for the sentence of an error, that work where multigrid does not. Jacobi refuses
/// settings that it would not read.
#define KG_WITHOUT_MULTIGRID "preconditioner = jacobi without settings of multigrid"

/// Select the function of a number and of a context's backend, for an operator that takes two
/// numbers.
#define KG_IMPLEMENTATION_OF_NUMBER(ctx, number, host, cuda)                    \
  ((number) == KG_SINGLE ? KG_IMPLEMENTATION(ctx, host##_single, cuda##_single) \
                         : KG_IMPLEMENTATION(ctx, host, cuda))

/// Most operators read these: counts, device arrays of the trace layout, reference matrices, which
/// are those of triangles. Operators on the trace read no order: m says what they need.
typedef struct kg_batch {
  int m;  ///< modes of a facet
  kg_trace_counts count;
  kg_trace_arrays arrays;
  kg_reference reference;
} kg_batch;

/// Points of an element at which functions are sampled: a quadrature rule, followed by the corners
/// of the element with weight 0 (so that maxima see them). The rule is a product: rows of as many
/// points, on which mode k = (i, j) is along[point of the row][i] across[row][k]
/// (kg_dubiner_factors()).
typedef struct kg_points {
  int order;                       ///< P
  int n;                           ///< points
  int n_star;                      ///< columns of basis
  int rows;                        ///< of the rule, and points of a row
  const double *r, *s;             ///< [point]: coordinates in the reference triangle
  const double *weight;            ///< [point]
  const double *basis;             ///< [point][n_star]: Dubiner modes of order P + 1
  const double *along;             ///< [point of a row][P + 2]
  const double *across;            ///< [row][n_star]
  const double *top, *top_of_row;  ///< [point of a row], [row]: kg_roughness_top()
} kg_points;

enum {
  KG_POINT_ROWS_MAX = 24,
  KG_POINT_CORNERS = 3,  ///< behind the points of the rule
};

/// Rows of the rule of load vectors (docs/math.md#sums-over-points).
static inline int kg_point_rows(int order)
{
  return order + 3;
}
/// Rows of the rule of errors, unless the problem says how many: it is exact to degree 2 P + 9. The
/// square of the error of u* has degree 2 P + 4 where the mesh is fine; on coarse ones, two more
/// rows keep norms right to four digits.
static inline int kg_error_rows(int order)
{
  return order + 5;
}
static inline int kg_points_count(int rows)
{
  return rows * rows + KG_POINT_CORNERS;
}
/// `basis` and what follows it lie one behind the other: doubles of all of them.
static inline size_t kg_points_table(kg_sizes size, int n_rows)
{
  const size_t rows = (size_t)n_rows, n_star = (size_t)size.n_star;
  return (size_t)kg_points_count(n_rows) * n_star + rows * ((size_t)size.order + 2) +
         rows * n_star + 2 * rows;
}
/// Points with r, s and weights, [3][point], and their tables at these places.
static inline kg_points kg_points_at(kg_sizes size, int rows, const double *rule,
                                     const double *table)
{
  const int n = kg_points_count(rows);
  const double *along = table + (size_t)n * (size_t)size.n_star;
  const double *across = along + rows * (size.order + 2), *top = across + rows * size.n_star;
  return (kg_points){size.order,   n,     size.n_star, rows,   rule, rule + n,
                     rule + 2 * n, table, along,       across, top,  top + rows};
}

/// Declares an operator and its implementations: name, name_host and name_cuda.
#define KG_DECLARE_OPERATOR(name, arguments)                           \
  kedge_status name(kedge_context *ctx, const arguments *args);        \
  kedge_status name##_host(kedge_context *ctx, const arguments *args); \
  kedge_status name##_cuda(kedge_context *ctx, const arguments *args)

/// Declares an operator that takes numbers of two types: name_host_single and name_cuda_single too.
#define KG_DECLARE_OPERATOR_OF_NUMBERS(name, arguments)                       \
  KG_DECLARE_OPERATOR(name, arguments);                                       \
  kedge_status name##_host_single(kedge_context *ctx, const arguments *args); \
  kedge_status name##_cuda_single(kedge_context *ctx, const arguments *args)

/// Defines kedge_status name(kedge_context *ctx, const arguments *args): name_host or name_cuda, by
/// backend.
#define KG_OPERATOR(name, arguments)                                    \
  kedge_status name(kedge_context *ctx, const arguments *args)          \
  {                                                                     \
    return KG_IMPLEMENTATION(ctx, name##_host, name##_cuda)(ctx, args); \
  }

/// Defines an operator that takes numbers of two types: `number` is that of `args`.
#define KG_OPERATOR_OF_NUMBERS(name, arguments, number)                                   \
  kedge_status name(kedge_context *ctx, const arguments *args)                            \
  {                                                                                       \
    return KG_IMPLEMENTATION_OF_NUMBER(ctx, number, name##_host, name##_cuda)(ctx, args); \
  }
