/// @file
/// What the measuring programs share: their options, one order's solve laid out in memory with the
/// arguments of all its operators, timing, comparison with the host, numbers as JSON.
#pragma once
#include "ops/vector/cg_vectors.h"
#include "ops/trace/facet_sum.h"
#include "ops/assembled/ell.h"
#include "ops/sample/errors.h"
#include "ops/sample/load_vectors.h"
#include "ops/local/triangle/local_matrices.h"
#include "ops/local/triangle/local_solve.h"
#include "ops/local/recover/postprocess.h"
#include "ops/smooth/edge_smooth.h"
#include "ops/trace/trace_apply.h"
#include "bench_work.h"
#include "roofs.h"
#include "linear/cg.h"
#include "linear/linears.h"
#include "linear/system.h"
#include "precondition/precond.h"
#include "elliptic/elliptic.h"
#include "equation/sampler.h"
KEDGE_BEGIN_DECLS

/// The programs end at the first failure that leaves nothing to measure.
void bench_die(kedge_context *ctx, kedge_status status);
#define BENCH_TRY(ctx, call)                    \
  do {                                          \
    const kedge_status st_ = (call);            \
    if (st_ != KEDGE_OK) bench_die((ctx), st_); \
  } while (0)

enum { BENCH_SAMPLES_MAX = 101, BENCH_SETS_MAX = 16, BENCH_TEXT = 128 };

typedef struct bench_settings {
  kedge_backend backend;
  bool orders[KEDGE_ORDER_MAX + 1];  ///< those to measure
  int samples;
  const char *mesh;  ///< words of a generator, of bench_halves(), or a file .msh
  int n_sets;
  const char *sets[BENCH_SETS_MAX];  ///< SECTION.KEY=VALUE
  const char *only;  ///< names of operators to measure, with commas between; NULL: all
  bool check;
  bool no_roofs;  ///< the machine's are not measured, and shares of floors are null
  bool profile;   ///< time nothing: call every operator once where a profiler looks
} bench_settings;

/// Reads --orders, --mesh, --only, --samples, --profile, --no-roofs, --check, --no-check and,
/// unless `backend` decides, --backend.
/// Ends the program with its usage when they make no sense.
bench_settings bench_parse(int argc, char **argv, kedge_backend backend);
/// Read these options, and --set SECTION.KEY=VALUE as often as it is there.
bench_settings bench_parse_sets(int argc, char **argv, kedge_backend backend);
/// Set the keys of [mesh], or those of all other sections.
void bench_apply_sets(kedge_context *ctx, kedge_problem *problem, const bench_settings *settings,
                      bool of_mesh);
/// Whether an operator is to be measured.
bool bench_wants(const bench_settings *settings, const char *operator_name);

/// Where a program measures.
typedef struct bench_machine {
  kedge_context *ctx, *host_ctx;
  kedge_mesh *mesh;
  roofs roof;
  int64_t free_bytes;  ///< of the device, before anything was measured
} bench_machine;

void bench_machine_open(const bench_settings *settings, bench_machine *out);
void bench_machine_close(bench_machine *machine);
/// The first line of the output, without its closing brace.
void bench_print_machine(const bench_settings *settings, const bench_machine *machine);

/// "halves K [squares|triangles]": 12 K^2 elements, a region of squares beside one of squares in
/// halves; or one of them alone. The last words are left out where both are wanted.
bool bench_halves_wanted(const char *words);
kedge_status bench_halves(kedge_context *ctx, const char *words, kedge_mesh **out);

/// Runs a program that measures order by order: the line of the machine, the orders.
/// @param[in] run_order  returns how many results are wrong
/// @return what main() returns: 1 where a result is wrong
int bench_run(bench_settings settings, int (*run_order)(const bench_settings *settings,
                                                        const bench_machine *machine, int order));

/// All arrays of a solve at once on one backend, and the arguments of its operators. Those of the
/// ELL matrix are there after bench_add_ell().
typedef struct bench {
  kg_elliptic p;
  kedge_problem *problem;
  kedge_solution solution;  ///< takes the report of the stages
  kg_buffer x, y, ell_partial;
  double set_up_seconds;  ///< of the numbering of the trace and of the stage `transfer`
  kg_local_matrices_args local_matrices;
  kg_facet_loads_args right_hand_side;
  kg_facet_diagonal_args diagonal;
  kg_trace_apply_args apply;
  kg_trace_apply_args apply_single;               ///< after bench_add_single()
  kg_trace_apply_args apply_reduced[KG_NUMBERS];  ///< after bench_add_reduced()
  kg_ell_assemble_args assemble;
  kg_ell_apply_args ell;
  kg_cg_vectors_args vectors;
  kg_local_solve_args local_solve;
  kg_postprocess_args postprocess;
  kg_load_vectors_args load_vectors;
  kg_errors_args errors;
  kg_buffer exact, exact_values, error_sums;
  kg_plan ell_plan;
  const kg_function *functions[4];  ///< source; u, u_x, u_y of the exact solution
  kg_sampler source, exact_solution;
  kg_buffer single;  ///< K^e, x, y and halo in single precision
  kg_buffer reduced[KG_NUMBERS];
  kg_buffer many;     ///< x, y, halo and a residual of many vectors, blocks of the edges
  void *edge_blocks;  ///< after bench_add_many(), as what follows
  kg_trace_apply_args apply_many;
  kg_edge_smooth_args smooth, smooth_many;
  bool one_chunk;  ///< operators that work by chunks take the first one only
} bench;

/// The shape of K^e of a layout; packed ones in double precision are b->apply.local.
static inline kg_local bench_local(const bench *b, kg_layout layout, kg_number number)
{
  return kg_local_all(layout, number, b->p.shape.size, &b->p.shape.count, NULL);
}

/// The problem of all programs: -div grad u = sin(3 x) y, u = 0 on the whole boundary.
kedge_problem *bench_problem(kedge_context *ctx, int order);
void bench_set(kedge_context *ctx, kedge_problem *problem, const char *section, const char *key,
               const char *value);

/// Straight triangles with constant coefficients; the program ends where the mesh has others.
void bench_open(bench *b, kedge_context *ctx, const kedge_mesh *mesh, int order);
/// A solve of any elements, whose problem the bench owns from there on: pipeline, x and y, vectors,
/// no arguments of operators. A chunk is all elements.
void bench_open_any(bench *b, kedge_context *ctx, const kedge_mesh *mesh, kedge_problem *problem);
/// @retval KEDGE_ERR_MEMORY  it does not fit beside the rest; bench_close() frees what there is
kedge_status bench_add_ell(bench *b);
/// The operands of the product in single precision, once K^e is there.
/// @retval KEDGE_ERR_MEMORY  they do not fit beside the rest; bench_close() frees what there is
kedge_status bench_add_single(bench *b);
/// Memory for reduced K^e (ops/local/reduced.h), in double or single precision, and their maker.
kedge_status bench_allocate_reduced(bench *b, kg_number number);
kg_local_matrices_args bench_local_reduced(const bench *b);
/// Reduced K^e, and the operands of their product.
kedge_status bench_add_reduced(bench *b, kg_number number);
/// The operands of many vectors at once, and of smoothing with one, once K^e is there.
kedge_status bench_add_many(bench *b);
/// Where results are compared, the host goes on with the K^e of the device: their products are of
/// the same matrices, and it need not make all of them.
kedge_status bench_take_local(bench *host, const bench *device);
/// What `errors` compares with: random values, the same on every backend.
void bench_add_exact(bench *b);
/// The source and an exact solution as formulas, for load vectors and errors with evaluation.
/// @return whether they can be measured: false where the GPU would need NVRTC and has none
bool bench_add_formulas(bench *b);
/// Errors of groups against these formulas.
kedge_status bench_sample_errors(bench *b, int32_t first, int32_t count);
void bench_close(bench *b);

/// Random values in [-0.5, 0.5), the same on every backend: what b->x holds.
double bench_random(uint64_t i);

/// The median of 1 or more values, which it sorts.
double bench_median(double *values, int n);

/// Median seconds of one call, after two to warm up; a sample is as many calls as take about 3 ms.
kedge_status bench_time(kedge_context *ctx, bench_work work, int samples, double *seconds);

/// Solves of one problem, one after the other in one process.
typedef struct bench_solves {
  kedge_report first, median;  ///< the first may load kernels; that of the median time of `samples`
  int samples;                 ///< after the first
  char evaluation[BENCH_TEXT];  ///< who evaluated functions
} bench_solves;
bench_solves bench_solve_often(const bench_machine *m, const kedge_problem *problem, int samples);
/// Their members of a line, and a line on stderr.
/// @param[in] name  of the way to solve
void bench_print_solves(const char *name, const bench_solves *solves);

/// Conjugate gradients for A x = b, x = 0 and b random.
typedef struct bench_solve {
  const bench *b;
  kedge_operator kind;
  bool resident;  ///< in the one kernel for small problems (ops/trace/cg_resident.h)
  double tolerance;
  int64_t most;  ///< iterations
  kg_system_result did;
} bench_solve;
/// The function of a bench_work whose data is a bench_solve. It changes the vectors of the bench.
kedge_status bench_call_solve(void *user);

/// Seconds of an iteration of conjugate gradients, from solves of n and of 3 n iterations: what
/// starts and ends a solve drops out of the difference. Changes the vectors of the bench.
/// @param[in] apply_seconds  of one product, by which n is chosen
kedge_status bench_iteration(const bench *b, kedge_operator kind, int samples, double apply_seconds,
                             double *seconds);

/// One call, after one to warm up, between cudaProfilerStart() and cudaProfilerStop(), its kernels
/// preceded by `profile_marker_kernel`; prints {"profiled":"name"}.
kedge_status bench_profile(kedge_context *ctx, bench_work work, const char *name);

/// ||device - host|| / ||host|| of n values.
/// @param[in] values    in the memory of ctx
/// @param[in] expected  in host memory
kedge_status bench_difference(kedge_context *ctx, const double *values, const double *expected,
                              size_t n, double *difference);

/// Seconds that bytes and flops must take under the roofs.
double bench_floor(const roofs *roof, kg_cost cost);

void bench_print_number(const char *name, double value);    ///< ,"name":value or null
void bench_print_text(const char *name, const char *text);  ///< ,"name":"text"

KEDGE_END_DECLS
