// evaluate_cuda.cu: values of formulas at the points of elements, from register code.
// Layout  values [group of the chunk][result][point][lane]; a block's rows in shared memory
//         [row][thread]: x, y, temporaries, results at a thread's point, which has a column
// Code    an argument of the kernel, in constant memory: the same for all threads, like branches.
// Map     lane = element; warps of the blocks of a group (gridDim.y of them) take points in turn.
// Points  and operations are rounded as the host does (solver/sampling.c, expression/program.c):
//         compiled without fused multiply-adds
// Bad     the smallest index of a value that is not finite: an order of arrival does not matter
// Cost    kg_evaluate_cost()
#include "device/cuda_rt.h"
#include "ops/sample/evaluate.h"
#include "expression/expression_tree.h"

namespace
{

enum { WARPS = 4, THREADS = 32 * WARPS, ROW_BYTES = 8 * THREADS };

/// The corners of a thread's triangle.
struct corners {
  double x[3], y[3];

  __device__ void place(double r, double s, double *row) const
  {
    const double b = 0.5 * (1.0 + r), c = 0.5 * (1.0 + s), a = 1.0 - b - c;
    row[0] = a * x[0] + b * x[1] + c * x[2];
    row[THREADS] = a * y[0] + b * y[1] + c * y[2];
  }
};

/// A power by squaring, with the host's roundings; the last square is computed in vain and may
/// overflow.
__device__ __forceinline__ double integer_power(double a, int k)
{
  double power = 1.0, square = a;
  for (int bits = k < 0 ? -k : k; bits != 0; bits >>= 1) {
    if (bits & 1) power *= square;
    square *= square;
  }
  return k < 0 ? 1.0 / power : power;
}

#define CASE(name, children, word, formula) \
  case KG_OP_##name:                        \
    return formula;

__device__ __forceinline__ double operation(int op, int exponent, double a, double b, double c)
{
  switch (op) {
    case KG_PROGRAM_COPY:
      return a;
    case KG_PROGRAM_INTEGER_POWER:
      return integer_power(a, exponent);
      KG_OPERATIONS(CASE)
    default:
      return NAN;
  }
}

/// Run the code on a column of rows.
__device__ __forceinline__ void interpret(const kg_point_code &code, double *row)
{
  for (int k = 0; k < code.n_instructions; ++k) {
    const kg_code_instruction in = code.instruction[k];
    double o[3];
#pragma unroll
    for (int j = 0; j < 3; ++j)
      o[j] = in.operand[j] < KG_CODE_ROWS ? row[in.operand[j] * THREADS]
                                          : code.constant[in.operand[j] - KG_CODE_ROWS];
    row[in.result * THREADS] = operation(in.op, in.exponent, o[0], o[1], o[2]);
  }
}

struct evaluate_args {
  const double *vertices;
  const int32_t *vertex;
  const double *r, *s;
  double *values;
  unsigned long long *first_bad;
  int64_t first_group;
  int n_points, n_of_rule;
};

__global__ void __launch_bounds__(THREADS)
    evaluate_kernel(const __grid_constant__ evaluate_args a,
                    const __grid_constant__ kg_point_code code)
{
  extern __shared__ double s_row[];
  const int lane = threadIdx.x % 32;
  double *const row = s_row + threadIdx.x;
  const int64_t g = blockIdx.x;
  corners e;
  kg_element_corners(a.vertices, a.vertex, a.first_group + g, lane, e.x, e.y);
  for (int point = (int)(blockIdx.y * WARPS + threadIdx.x / 32); point < a.n_points;
       point += (int)gridDim.y * WARPS) {
    e.place(__ldg(a.r + point), __ldg(a.s + point), row);
    interpret(code, row);
    for (int f = 0; f < code.n_results; ++f) {
      const double value = row[(code.n_rows - code.n_results + f) * THREADS];
      const int64_t at = ((g * code.n_results + f) * a.n_points + point) * KG_LANES + lane;
      a.values[at] = value;
      if (!isfinite(value) && (f == 0 || point < a.n_of_rule))
        atomicMin(a.first_bad, (unsigned long long)at);
    }
  }
}

/// Blocks of a group: as many as fill the device twice, with a point for every warp.
unsigned blocks_of_group(kedge_context *ctx, int32_t n_groups, int n_points)
{
  const int wanted = (32 * kg_cuda(ctx)->multiprocessors + n_groups - 1) / n_groups;
  const int most = (n_points + WARPS - 1) / WARPS;
  return (unsigned)(wanted < most ? wanted : most);
}

}  // namespace

extern "C" int kg_evaluate_rows(kedge_context *ctx)
{
  const int rows = kg_cuda(ctx)->shared_limit / ROW_BYTES;
  return rows < KG_CODE_ROWS ? rows : KG_CODE_ROWS;
}

extern "C" kedge_status kg_evaluate(kedge_context *ctx, const kg_evaluate_args *args, int64_t *bad)
{
  const kg_evaluate_args &a = *args;
  *bad = -1;
  if (a.n_groups == 0) return KEDGE_OK;
  const kg_cuda_state *state = kg_cuda(ctx);
  const size_t shared = (size_t)a.code->n_rows * ROW_BYTES;
  KG_TRY(kg_cuda_ask_for_shared(ctx, (const void *)evaluate_kernel, shared, "evaluate"));
  KG_TRY(kg_cuda_check(
      ctx, cudaMemsetAsync(state->first_bad, 0xff, sizeof *state->first_bad, state->stream),
      "clearing memory"));
  const evaluate_args kernel_args = {a.batch.arrays.vertices,
                                     a.batch.arrays.vertex,
                                     a.points.r,
                                     a.points.s,
                                     a.values,
                                     state->first_bad,
                                     a.first_group,
                                     a.points.n,
                                     kg_points_of_rule(a.points).n};
  const dim3 grid((unsigned)a.n_groups, blocks_of_group(ctx, a.n_groups, a.points.n));
  evaluate_kernel<<<grid, THREADS, shared, state->stream>>>(kernel_args, *a.code);
  KG_TRY(kg_cuda_launched(ctx, "evaluate"));
  // All ones, where nothing is bad, are -1 here.
  return kg_copy_out(ctx, bad, state->first_bad, sizeof *bad);
}
