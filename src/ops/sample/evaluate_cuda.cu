// evaluate_cuda.cu: values of formulas at the points of elements, from register code.
// Layout  values [group of the chunk][result][point][lane]; a block's rows in shared memory
//         [row][point][lane]: variables, temporaries, results at the points of a lane
// Code    an argument of the kernel, in constant memory: the same for all threads, like branches.
//         Reading an instruction costs more than most do: it is done for some points at once.
// Map     lane = element; blocks of a group (gridDim.y of them), a warp each, take points in turn.
// Points  and operations are rounded as the host does (equation/sampling.c, expression/program.c):
//         compiled without fused multiply-adds. Sines are those of circle.cuh.
// Bad     the smallest index of a value that is not finite: an order of arrival does not matter
// Cost    kg_evaluate_cost()
#include "device/cuda_launch.cuh"
#include "ops/sample/at_points.h"
#include "ops/sample/cell_values.cuh"
#include "ops/sample/circle.cuh"
#include "ops/sample/evaluate.h"
#include "ops/sample/point_output.cuh"
#include "expression/expression_tree.h"

namespace
{

enum {
  AT_ONCE = 4,  ///< points of a thread for which an instruction is read once
  THREADS = 32,
  ROW = AT_ONCE * THREADS,
  ROW_BYTES = 8 * ROW
};

/// The corners of a thread's triangle.
struct corners {
  double x[3], y[3];

  __device__ void place(double r, double s, double *row) const
  {
    const double b = 0.5 * (1.0 + r), c = 0.5 * (1.0 + s), a = 1.0 - b - c;
    row[0] = a * x[0] + b * x[1] + c * x[2];
    row[ROW] = a * y[0] + b * y[1] + c * y[2];
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

/// A value for each of a thread's points.
struct values {
  double at[AT_ONCE];
};

/// The sine of large angles, or the cosine, by CUDA's functions. Each time what was first becomes
/// last.
__device__ __forceinline__ void repeat_circle(values a, bool cosine, values *to)
{
#pragma unroll 1
  for (int k = 0; k < AT_ONCE; ++k) {
    const double value = cosine ? cos(a.at[0]) : sin(a.at[0]);
#pragma unroll
    for (int i = 1; i < AT_ONCE; ++i) {
      a.at[i - 1] = a.at[i];
      to->at[i - 1] = to->at[i];
    }
    to->at[AT_ONCE - 1] = value;
  }
}

__device__ __forceinline__ void circles(const values &a, values *sine, values *cosine)
{
  int angle = 0;
#pragma unroll
  for (int i = 0; i < AT_ONCE; ++i) {
    const on_circle point = circle(a.at[i], &angle);
    sine->at[i] = point.sine;
    cosine->at[i] = point.cosine;
  }
  if (is_known(angle)) return;
  repeat_circle(a, false, sine);
  repeat_circle(a, true, cosine);
}

/// An operand.
__device__ __forceinline__ values read(const kg_point_code &code, int number, const double *row)
{
  values from;
  if (number < KG_CODE_ROWS) {
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) from.at[i] = row[number * ROW + i * THREADS];
  } else {
    const double constant = code.constant[number - KG_CODE_ROWS];
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) from.at[i] = constant;
  }
  return from;
}

__device__ __forceinline__ void write(const values &to, int number, double *row)
{
#pragma unroll
  for (int i = 0; i < AT_ONCE; ++i) row[number * ROW + i * THREADS] = to.at[i];
}

template <class Formula>
__device__ __forceinline__ values at_all(const values &a, const values &b, const values &c,
                                         Formula formula)
{
  values to;
#pragma unroll
  for (int i = 0; i < AT_ONCE; ++i) to.at[i] = formula(a.at[i], b.at[i], c.at[i]);
  return to;
}

/// A case of a switch, where the first two operands have been read. Sines and cosines do not come
/// here.
#define CASE(name, children, word, formula)                                                \
  case KG_OP_##name:                                                                       \
    if constexpr (KG_OP_##name == KG_OP_SIN || KG_OP_##name == KG_OP_COS)                  \
      break;                                                                               \
    else                                                                                   \
      return at_all(first, second, children == 3 ? read(code, in.operand[2], row) : first, \
                    [](double a, double b, double c) {                                     \
                      (void)b, (void)c;                                                    \
                      return formula;                                                      \
                    });

__device__ __forceinline__ values operation(const kg_point_code &code, kg_code_instruction in,
                                            double *row)
{
  const values first = read(code, in.operand[0], row), second = read(code, in.operand[1], row);
  switch (in.op) {
    case KG_PROGRAM_COPY:
      return first;
    case KG_PROGRAM_INTEGER_POWER:
      return at_all(first, first, first,
                    [=](double a, double, double) { return integer_power(a, in.exponent); });
      KG_OPERATIONS(CASE)
    default:
      break;
  }
  values sine, cosine;
  circles(first, &sine, &cosine);
  if (in.op == KG_CODE_CIRCLE) write(cosine, in.operand[1], row);
  return in.op == KG_OP_COS ? cosine : sine;
}

/// An instruction, by one load.
__device__ __forceinline__ kg_code_instruction instruction_of(const kg_point_code &code, int k)
{
  uint2 word;
  memcpy(&word, __builtin_assume_aligned(&code.instruction[k], 8), sizeof word);
  const unsigned x = word.x, y = word.y;
  return {(uint8_t)x,
          (int8_t)(x >> 8),
          (uint8_t)(x >> 16),
          {(uint8_t)(x >> 24), (uint8_t)y, (uint8_t)(y >> 8)}};
}

/// Run the code on columns of rows.
__device__ __forceinline__ void interpret(const kg_point_code &code, double *row)
{
  for (int k = 0; k < code.n_instructions; ++k) {
    const kg_code_instruction in = instruction_of(code, k);
    write(operation(code, in, row), in.result, row);
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

/// Put results without a look at each value.
/// @param[in] n  points from `first` on that there are. @return whether all are finite
__device__ __forceinline__ bool put_at_once(const kg::cell_output &out, int first, int n,
                                            const double *results)
{
  double *to = out.values + ((out.group * out.n_functions * out.n_points + first) * 32 + out.lane);
  bool finite = true;
#pragma unroll 1
  for (int f = 0; f < out.n_functions; ++f, results += ROW, to += (int64_t)out.n_points * 32)
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
      const double value = results[i * THREADS];
      if (i < n) to[i * 32] = out.scale * value;
      finite &= isfinite(value) != 0;
    }
  return finite;
}

/// Evaluate at the points of group blockIdx.x that are a warp's. @param[in] place(point, row)  puts
/// x and y into rows 0 and 1, and z, if it is read, into row 3
template <class Place>
__device__ __forceinline__ void run(const run_args &a, const kg_point_code &code, Place place)
{
  KG_SHARED(double, s_row);
  const int lane = threadIdx.x;
  double *const row = s_row + threadIdx.x;
  const kg::cell_output out = {a.values,       a.first_bad, a.scale,  blockIdx.x, lane,
                               code.n_results, a.n_points,  a.n_used, a.elliptic};
  const double *const results = row + (code.n_rows - code.n_results) * ROW;
  const double region = code.reads_region ? region_of(a, a.first_group + blockIdx.x, lane) : 0.0;
  for (int first = (int)blockIdx.y * AT_ONCE; first < a.n_points;
       first += (int)gridDim.y * AT_ONCE) {
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {  // behind the last point it is repeated
      place(min(first + i, a.n_points - 1), row + i * THREADS);
      if (code.reads_region) row[2 * ROW + i * THREADS] = region;
    }
    interpret(code, row);
    const int n = min(AT_ONCE, a.n_points - first);
    const bool good = put_at_once(out, first, n, results);
    for (int i = 0; i < n && (a.elliptic || !good); ++i)
      out.put(first + i, results + i * THREADS, ROW);
  }
}

__global__ void __launch_bounds__(THREADS)
    evaluate_kernel(const __grid_constant__ run_args a, const double *vertices,
                    const int32_t *vertex, const double *r, const double *s,
                    const __grid_constant__ kg_point_code code)
{
  corners e;
  kg_element_corners(vertices, vertex, a.first_group + blockIdx.x, threadIdx.x, e.x, e.y);
  run(a, code, [&](int point, double *row) { e.place(__ldg(r + point), __ldg(s + point), row); });
}

template <int D>
__global__ void __launch_bounds__(THREADS)
    evaluate_cells_kernel(const __grid_constant__ run_args a, const double *vertices,
                          const int32_t *vertex, const double *nodes, const double *map,
                          int n_nodes, const __grid_constant__ kg_point_code code)
{
  const kg::cell_nodes<D> e(vertices, vertex, nodes, n_nodes, blockIdx.x, threadIdx.x);
  run(a, code, [&](int point, double *row) {
    double at[D];
    e.place(map + (int64_t)point * (1 + D) * n_nodes, at);
    row[0] = at[0];
    row[ROW] = at[1];
    if (D == 3 && code.reads_z) row[3 * ROW] = at[D - 1];
  });
}

/// Points that lie in memory: a thread takes AT_ONCE of them. Behind the last one it is repeated.
__global__ void __launch_bounds__(THREADS)
    evaluate_points_kernel(const __grid_constant__ kg_at_points_args a,
                           const __grid_constant__ kg_point_code code)
{
  KG_SHARED(double, s_row);
  double *const row = s_row + threadIdx.x;
  const double *const results = row + (code.n_rows - code.n_results) * ROW;
  const int64_t first = (int64_t)blockIdx.x * ROW + threadIdx.x;
  const bool narrow = a.number == KG_SINGLE;
  const kg::point_output out = {narrow ? nullptr : (double *)a.values,
                                narrow ? (float *)a.values : nullptr, a.bad, a.piece,
                                code.n_results};
#pragma unroll
  for (int i = 0; i < AT_ONCE; ++i) {
    const int64_t point = min(first + i * THREADS, a.n - 1);
    row[i * THREADS] = a.x[point];
    row[ROW + i * THREADS] = a.x[a.n + point];
    if (code.reads_region) row[2 * ROW + i * THREADS] = a.region[point];
    if (code.reads_z) row[3 * ROW + i * THREADS] = a.x[2 * a.n + point];
  }
  interpret(code, row);
  for (int i = 0; i < AT_ONCE; ++i)
    if (first + i * THREADS < a.n) out.put(first + i * THREADS, results + i * THREADS, ROW);
}

/// Blocks of a group: as many as fill the device twice, with a point for every thread.
unsigned blocks_of_group(kedge_context *ctx, int32_t n_groups, int n_points)
{
  const int wanted = (64 * kg_cuda(ctx)->multiprocessors + n_groups - 1) / n_groups;
  const int most = (n_points + AT_ONCE - 1) / AT_ONCE;
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
extern "C" kedge_status kg_evaluate_bad(kedge_context *ctx, int64_t *bad)
{
  return kg_copy_out(ctx, bad, kg_cuda(ctx)->first_bad, sizeof *bad);
}

extern "C" kedge_status kg_evaluate(kedge_context *ctx, const kg_evaluate_args *args)
{
  const kg_evaluate_args &a = *args;
  const kg_cuda_state *state = kg_cuda(ctx);
  const size_t shared = (size_t)a.code->n_rows * ROW_BYTES;
  KG_TRY(prepare(ctx, (const void *)evaluate_kernel, shared));
  if (a.n_groups == 0) return KEDGE_OK;
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
  return kg_launch(ctx, "evaluate", grid, THREADS, shared, evaluate_kernel, run,
                   a.batch.arrays.vertices, a.batch.arrays.vertex, a.points.r, a.points.s, *a.code);
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
  const auto kernel = a.dimension == 3 ? evaluate_cells_kernel<3> : evaluate_cells_kernel<2>;
  KG_TRY(prepare(ctx, (const void *)kernel, shared));
  const run_args run = {a.values, state->first_bad, a.region, a.scale,   a.n_elements,
                        0,        a.points.n,       a.n_used, a.elliptic};
  const dim3 grid((unsigned)n_groups, blocks_of_group(ctx, n_groups, a.points.n));
  KG_TRY(kg_launch(ctx, "evaluate", grid, THREADS, shared, kernel, run, a.vertices, a.vertex,
                   a.nodes, a.points.map, a.points.n_nodes, *code));
  return kg_evaluate_bad(ctx, bad);
}

extern "C" kedge_status kg_evaluate_points(kedge_context *ctx, kg_point_code *code,
                                           const kg_at_points_args *args)
{
  const unsigned blocks = (unsigned)((args->n + ROW - 1) / ROW);
  if (blocks == 0) return KEDGE_OK;
  kg_point_code_set_time(code, args->t);
  return kg_launch_shared(ctx, "evaluate_points", blocks, THREADS, (size_t)code->n_rows * ROW_BYTES,
                          evaluate_points_kernel, *args, *code);
}
