// evaluate_cuda.cu: values of formulas at the points of elements, from register code.
// Layout  values [group of the chunk][result][point][lane]; a block's rows in shared memory
//         [row][thread]: variables, temporaries, results at a thread's point, which has a column
// Code    an argument of the kernel, in constant memory: the same for all threads, like branches.
// Map     lane = element; warps of the blocks of a group (gridDim.y of them) take points in turn.
// Points  and operations are rounded as the host does (solver/sampling.c, expression/program.c):
//         compiled without fused multiply-adds
// Bad     the smallest index of a value that is not finite: an order of arrival does not matter
// Cost    kg_evaluate_cost()
#include "device/cuda_launch.cuh"
#include "ops/sample/cell_values.cuh"
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

/// What is evaluated, without the points.
struct run_args {
  double *values;
  unsigned long long *first_bad;
  const int32_t *region;
  double scale;
  int64_t n_elements, first_group;
  int n_points, n_used;
  bool elliptic;
};

/// The region of a lane's element; an empty lane repeats the last one.
__device__ __forceinline__ double region_of(const run_args &a, int64_t group, int lane)
{
  const int64_t e = group * KG_LANES + lane;
  return a.region[e < a.n_elements ? e : a.n_elements - 1];
}

/// Evaluate at the points of group blockIdx.x that are a warp's. @param[in] place(point, row)  puts
/// x and y into rows 0 and 1
template <class Place>
__device__ __forceinline__ void run(const run_args &a, const kg_point_code &code, Place place)
{
  KG_SHARED(double, s_row);
  const int lane = threadIdx.x % 32;
  double *const row = s_row + threadIdx.x;
  const kg::cell_output out = {a.values,       a.first_bad, a.scale,  blockIdx.x, lane,
                               code.n_results, a.n_points,  a.n_used, a.elliptic};
  const double *const results = row + (code.n_rows - code.n_results) * THREADS;
  for (int point = (int)(blockIdx.y * WARPS + threadIdx.x / 32); point < a.n_points;
       point += (int)gridDim.y * WARPS) {
    place(point, row);
    if (code.reads_region) row[2 * THREADS] = region_of(a, a.first_group + blockIdx.x, lane);
    interpret(code, row);
    out.put(point, results, THREADS);
  }
}

__global__ void __launch_bounds__(THREADS)
    evaluate_kernel(const __grid_constant__ run_args a, const double *vertices,
                    const int32_t *vertex, const double *r, const double *s,
                    const __grid_constant__ kg_point_code code)
{
  corners e;
  kg_element_corners(vertices, vertex, a.first_group + blockIdx.x, threadIdx.x % 32, e.x, e.y);
  run(a, code, [&](int point, double *row) { e.place(__ldg(r + point), __ldg(s + point), row); });
}

__global__ void __launch_bounds__(THREADS)
    evaluate_cells_kernel(const __grid_constant__ run_args a, const double *vertices,
                          const int32_t *vertex, const double *nodes, const double *map,
                          int n_nodes, const __grid_constant__ kg_point_code code)
{
  const kg::cell_nodes e(vertices, vertex, nodes, n_nodes, blockIdx.x, threadIdx.x % 32);
  run(a, code, [&](int point, double *row) {
    e.place(map + (int64_t)point * 3 * n_nodes, row, row + THREADS);
  });
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

/// What both kernels need: shared memory, and no bad value yet.
static kedge_status prepare(kedge_context *ctx, const void *kernel, size_t shared)
{
  const kg_cuda_state *state = kg_cuda(ctx);
  KG_TRY(kg_cuda_ask_for_shared(ctx, kernel, shared, "evaluate"));
  return kg_cuda_check(
      ctx, cudaMemsetAsync(state->first_bad, 0xff, sizeof *state->first_bad, state->stream),
      "clearing memory");
}

/// All ones, where nothing is bad, are -1 here.
static kedge_status finish(kedge_context *ctx, int64_t *bad)
{
  return kg_copy_out(ctx, bad, kg_cuda(ctx)->first_bad, sizeof *bad);
}

extern "C" kedge_status kg_evaluate(kedge_context *ctx, const kg_evaluate_args *args, int64_t *bad)
{
  const kg_evaluate_args &a = *args;
  *bad = -1;
  if (a.n_groups == 0) return KEDGE_OK;
  const kg_cuda_state *state = kg_cuda(ctx);
  const size_t shared = (size_t)a.code->n_rows * ROW_BYTES;
  KG_TRY(prepare(ctx, (const void *)evaluate_kernel, shared));
  const run_args run = {a.values,
                        state->first_bad,
                        a.region,
                        1.0,
                        a.batch.count.n_elements,
                        a.first_group,
                        a.points.n,
                        kg_points_of_rule(a.points).n,
                        false};
  const dim3 grid((unsigned)a.n_groups, blocks_of_group(ctx, a.n_groups, a.points.n));
  KG_TRY(kg_launch(ctx, "evaluate", grid, THREADS, shared, evaluate_kernel, run,
                   a.batch.arrays.vertices, a.batch.arrays.vertex, a.points.r, a.points.s,
                   *a.code));
  return finish(ctx, bad);
}

extern "C" kedge_status kg_evaluate_cells(kedge_context *ctx, const kg_point_code *code,
                                          const kg_cell_values_args *args, int64_t *bad)
{
  const kg_cell_values_args &a = *args;
  const int32_t n_groups = kg_cell_values_groups(&a);
  *bad = -1;
  if (n_groups == 0) return KEDGE_OK;
  const kg_cuda_state *state = kg_cuda(ctx);
  const size_t shared = (size_t)code->n_rows * ROW_BYTES;
  KG_TRY(prepare(ctx, (const void *)evaluate_cells_kernel, shared));
  const run_args run = {a.values, state->first_bad, a.region, a.scale,   a.n_elements,
                        0,        a.points.n,       a.n_used, a.elliptic};
  const dim3 grid((unsigned)n_groups, blocks_of_group(ctx, n_groups, a.points.n));
  KG_TRY(kg_launch(ctx, "evaluate", grid, THREADS, shared, evaluate_cells_kernel, run, a.vertices,
                   a.vertex, a.nodes, a.points.map, a.points.n_nodes, *code));
  return finish(ctx, bad);
}
