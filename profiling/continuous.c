// continuous: statically condensed continuous elements beside kedge's HDG on King's triangles: the
// unknowns, the local matrices, the condensed system assembled and solved on the host, the errors.
//
//   continuous host|cuda 20,40,80 1,3,6,9 [SAMPLES] > continuous.json
//
// One JSON object a line: the device, then one for each mesh and order. Times in seconds, those of
// local matrices the least of SAMPLES (9). With cuda HDG is solved on the GPU, which makes the
// local matrices of continuous elements too; they are assembled and solved on the host. The program
// ends with exit code 1 where those of the GPU (on the host: of its kernel, imitated) differ.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basis/quadrature.h"
#include "bench.h"
#include "continuous_block.h"
#include "core/clock.h"
#include "king.h"

enum { LIST_MAX = 16 };

typedef double lanes[CONT_LANES];

/// One order on one mesh.
typedef struct cont_run {
  kedge_context *ctx;
  cont_space space;
  cont_reference ref;
  kg_triangle_rule rule;
  double *phi;                 ///< [point of the rule][mode]
  double *load;                ///< [triangle][mode]
  double *local, *outer_load;  ///< [triangle][packed outer], [triangle][outer]: condensed
} cont_run;

static void *allocate(kedge_context *ctx, size_t n)
{
  double *data = malloc((n + 1) * sizeof *data);
  if (!data) bench_die(ctx, KG_FAIL(ctx, KEDGE_ERR_MEMORY, "no memory for %zu numbers", n));
  return data;
}

static void make_loads(cont_run *run)
{
  const int n = run->ref.n_modes;
#pragma omp parallel for schedule(static)
  for (int e = 0; e < run->space.n_triangles; ++e) {
    double x[3], y[3], factor[4], *load = run->load + (size_t)e * (size_t)n;
    king_corners(run->space.squares, e, x, y);
    cont_factors(x, y, factor);
    memset(load, 0, (size_t)n * sizeof *load);
    for (int k = 0; k < run->rule.n; ++k) {
      const double r = run->rule.r[k], s = run->rule.s[k];
      const double f =
          factor[3] * run->rule.w[k] * king_source(king_mapped(x, r, s), king_mapped(y, r, s));
      for (int i = 0; i < n; ++i) load[i] += f * run->phi[(size_t)k * (size_t)n + (size_t)i];
    }
  }
}

/// Eliminates the interior of the triangles from `first` on; lanes beyond the last repeat it.
static void eliminate(const cont_run *run, int first, lanes *rows)
{
  const int n = run->ref.n_modes;
  double factor[4][CONT_LANES];
  lanes load[CONT_MODES];
  for (int lane = 0; lane < CONT_LANES; ++lane) {
    const int last = run->space.n_triangles - 1, e = first + lane < last ? first + lane : last;
    double x[3], y[3], own[4];
    king_corners(run->space.squares, e, x, y);
    cont_factors(x, y, own);
    for (int k = 0; k < 4; ++k) factor[k][lane] = own[k];
    for (int i = 0; i < n; ++i) load[i][lane] = run->load[(size_t)e * (size_t)n + (size_t)i];
  }
  cont_eliminate(&run->ref, factor, load, rows);
}

static void make_local(cont_run *run)
{
  const int n = run->ref.n_modes, inner = run->ref.n_inner, outer = run->ref.n_outer;
  const size_t packed = (size_t)outer * (size_t)(outer + 1) / 2;
#pragma omp parallel for schedule(static)
  for (int first = 0; first < run->space.n_triangles; first += CONT_LANES) {
    lanes rows[CONT_ROWS];
    eliminate(run, first, rows);
    for (int lane = 0; lane < CONT_LANES && first + lane < run->space.n_triangles; ++lane) {
      const size_t e = (size_t)(first + lane);
      double *local = run->local + e * packed;
      for (int i = inner; i < n; ++i)
        for (int j = inner; j <= i; ++j) *local++ = rows[i * (i + 1) / 2 + j][lane];
      for (int i = 0; i < outer; ++i)
        run->outer_load[e * (size_t)outer + (size_t)i] = rows[n * (n + 1) / 2 + inner + i][lane];
    }
  }
}

/// The square of the error of one triangle.
static double error_of(const cont_run *run, int e, const lanes *u, int lane)
{
  const int n = run->ref.n_modes;
  double x[3], y[3], factor[4], sum = 0;
  king_corners(run->space.squares, e, x, y);
  cont_factors(x, y, factor);
  for (int k = 0; k < run->rule.n; ++k) {
    const double r = run->rule.r[k], s = run->rule.s[k];
    double error = -king_u(king_mapped(x, r, s), king_mapped(y, r, s));
    for (int i = 0; i < n; ++i) error += u[i][lane] * run->phi[(size_t)k * (size_t)n + (size_t)i];
    sum += factor[3] * run->rule.w[k] * error * error;
  }
  return sum;
}

/// L2 norm of u - exact; the interior is made again from the solution x of the condensed system.
static double error_norm(const cont_run *run, const double *solution)
{
  const int inner = run->ref.n_inner, outer = run->ref.n_outer;
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int first = 0; first < run->space.n_triangles; first += CONT_LANES) {
    lanes rows[CONT_ROWS], u[CONT_MODES] = {{0}};
    int32_t unknown[3 * CONT_ORDER_MAX];
    double sign[3 * CONT_ORDER_MAX];
    eliminate(run, first, rows);
    for (int lane = 0; lane < CONT_LANES && first + lane < run->space.n_triangles; ++lane) {
      cont_unknowns(&run->space, first + lane, unknown, sign);
      for (int i = 0; i < outer; ++i)
        u[inner + i][lane] = unknown[i] < 0 ? 0 : sign[i] * solution[unknown[i]];
    }
    cont_substitute(&run->ref, rows, u);
    for (int lane = 0; lane < CONT_LANES && first + lane < run->space.n_triangles; ++lane)
      sum += error_of(run, first + lane, u, lane);
  }
  return sqrt(sum);
}

static void open_run(cont_run *run, kedge_context *ctx, int squares, int order)
{
  *run = (cont_run){.ctx = ctx, .space = cont_make_space(squares, order)};
  BENCH_TRY(ctx, cont_make_reference(ctx, order, &run->ref));
  BENCH_TRY(ctx, kg_triangle_rule_create(ctx, 2 * order + 8, &run->rule));
  const size_t n = (size_t)run->ref.n_modes, outer = (size_t)run->ref.n_outer;
  const size_t triangles = (size_t)run->space.n_triangles;
  run->phi = allocate(ctx, (size_t)run->rule.n * n);
  for (int k = 0; k < run->rule.n; ++k)
    cont_modes(order, run->rule.r[k], run->rule.s[k], run->phi + (size_t)k * n, NULL, NULL);
  run->load = allocate(ctx, triangles * n);
  run->local = allocate(ctx, triangles * outer * (outer + 1) / 2);
  run->outer_load = allocate(ctx, triangles * outer);
  make_loads(run);
}

static void close_run(cont_run *run)
{
  kg_triangle_rule_free(&run->rule);
  free(run->phi);
  free(run->load);
  free(run->local);
  free(run->outer_load);
}

/// HDG of the same problem by kedge: the report of a solve, with the least time of the local
/// matrices of `samples` more, which iterate once.
static kedge_report solve_hdg(kedge_context *ctx, int squares, int order, int samples)
{
  kedge_mesh *mesh;
  kedge_report best = KEDGE_REPORT_INIT;
  kedge_problem *problem = king_problem(ctx, order);
  BENCH_TRY(ctx, king_mesh(ctx, squares, &mesh));
  bench_set(ctx, problem, "solver", "tolerance", "1e-12");
  bench_set(ctx, problem, "solver", "preconditioner", "jacobi");
  for (int k = 0; k <= samples; ++k) {
    kedge_solution *solution;
    kedge_report report = KEDGE_REPORT_INIT;
    BENCH_TRY(ctx, kedge_solve(ctx, mesh, problem, &solution));
    BENCH_TRY(ctx, kedge_solution_report(solution, &report));
    double *const least = &best.stages[KG_STAGE_LOCAL_MATRICES].seconds;
    if (k == 0)
      best = report;
    else
      *least = fmin(*least, report.stages[KG_STAGE_LOCAL_MATRICES].seconds);
    bench_set(ctx, problem, "solver", "max_iterations", "1");
    kedge_solution_destroy(solution);
  }
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
  return best;
}

static double time_local(cont_run *run, int samples)
{
  double least = INFINITY;
  for (int k = 0; k <= samples; ++k) {  // the first warms up
    const double begin = kg_seconds();
    make_local(run);
    const double seconds = kg_seconds() - begin;
    if (k > 0) least = fmin(least, seconds);
  }
  return least;
}

static cont_block_args block_args(const cont_run *run, const cont_reference *ref,
                                  const double *factor, const double *load, double *local,
                                  double *outer_load)
{
  return (cont_block_args){.ref = ref,
                           .factor = factor,
                           .load = load,
                           .local = local,
                           .outer_load = outer_load,
                           .n_triangles = run->space.n_triangles,
                           .n_modes = run->ref.n_modes,
                           .n_inner = run->ref.n_inner,
                           .n_outer = run->ref.n_outer};
}

/// factor[triangle][4] of the first triangles.
static void make_factors(const cont_run *run, int n_triangles, double *factor)
{
  for (int e = 0; e < n_triangles; ++e) {
    double x[3], y[3];
    king_corners(run->space.squares, e, x, y);
    cont_factors(x, y, factor + 4 * (size_t)e);
  }
}

/// What the GPU takes and makes.
typedef struct device_run {
  kedge_context *ctx;
  cont_block_args args;
  kg_buffer ref, factor, load, local, outer_load;
} device_run;

static kedge_status call_device(void *user)
{
  const device_run *d = user;
#ifdef KEDGE_WITH_CUDA
  return cont_eliminate_cuda(d->ctx, &d->args);
#else
  return KG_FAIL(d->ctx, KEDGE_ERR_UNSUPPORTED, "this build has no CUDA");
#endif
}

static void open_device(const cont_run *run, device_run *d)
{
  kedge_context *ctx = run->ctx;
  const size_t triangles = (size_t)run->space.n_triangles, outer = (size_t)run->ref.n_outer;
  const size_t modes = (size_t)run->ref.n_modes;
  double *factor = allocate(ctx, 4 * triangles);
  make_factors(run, run->space.n_triangles, factor);
  *d = (device_run){.ctx = ctx};
  BENCH_TRY(ctx, kg_upload(ctx, &run->ref, 1, sizeof run->ref, &d->ref));
  BENCH_TRY(ctx, kg_upload(ctx, factor, 4 * triangles, sizeof *factor, &d->factor));
  BENCH_TRY(ctx, kg_upload(ctx, run->load, modes * triangles, sizeof *run->load, &d->load));
  BENCH_TRY(ctx, kg_alloc(ctx, triangles * outer * (outer + 1) / 2, sizeof(double), &d->local));
  BENCH_TRY(ctx, kg_alloc(ctx, triangles * outer, sizeof(double), &d->outer_load));
  BENCH_TRY(ctx, kg_sync(ctx));
  free(factor);
  d->args =
      block_args(run, d->ref.data, d->factor.data, d->load.data, d->local.data, d->outer_load.data);
}

/// Median seconds of the GPU, and the distance of its matrices and loads from the host's.
static double time_device(const cont_run *run, int samples, double *difference)
{
  device_run d;
  double seconds, of_loads;
  open_device(run, &d);
  const size_t outer = (size_t)run->ref.n_outer, triangles = (size_t)run->space.n_triangles;
  BENCH_TRY(run->ctx, bench_time(run->ctx, (bench_work){call_device, NULL, &d}, samples, &seconds));
  BENCH_TRY(run->ctx, bench_difference(run->ctx, d.args.local, run->local,
                                       triangles * outer * (outer + 1) / 2, difference));
  BENCH_TRY(run->ctx, bench_difference(run->ctx, d.args.outer_load, run->outer_load,
                                       triangles * outer, &of_loads));
  if (!(of_loads <= *difference)) *difference = of_loads;  // also where it is no number
  kg_buffer *const buffers[] = {&d.ref, &d.factor, &d.load, &d.local, &d.outer_load};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i) kg_free(run->ctx, buffers[i]);
  return seconds;
}

/// On the host the kernel's block is imitated for the first triangles, its threads one after
/// another between two barriers, first to last or last to first: the distance of what it makes from
/// the host's.
static double imitate_block(const cont_run *run, bool backwards)
{
  const int outer = run->ref.n_outer, packed = outer * (outer + 1) / 2, n_triangles = 4;
  double rows[CONT_ROWS], factor[16], local[4 * CONT_ROWS], load[4 * 3 * CONT_ORDER_MAX], most = 0;
  const cont_block_args a = block_args(run, &run->ref, factor, run->load, local, load);
  make_factors(run, n_triangles, factor);
  for (int e = 0; e < n_triangles; ++e)
    for (int phase = 0; phase < cont_block_phases(&a); ++phase)
      for (int i = 0; i < CONT_BLOCK; ++i)
        cont_block_phase(&a, e, rows, phase, backwards ? CONT_BLOCK - 1 - i : i);
  for (int i = 0; i < n_triangles * packed; ++i) most = fmax(most, fabs(local[i] - run->local[i]));
  for (int i = 0; i < n_triangles * outer; ++i)
    most = fmax(most, fabs(load[i] - run->outer_load[i]));
  return most;
}

/// Returns how many results are wrong.
static int run_order(kedge_context *ctx, int squares, int order, int samples)
{
  static cont_run run;
  cont_system system;
  double residual;
  const kedge_report hdg = solve_hdg(ctx, squares, order, samples);
  open_run(&run, ctx, squares, order);
  const double host_local = time_local(&run, samples);
  const bool gpu = kedge_context_backend(ctx) == KEDGE_BACKEND_CUDA;
  double difference = gpu ? 0 : fmax(imitate_block(&run, false), imitate_block(&run, true));
  const double local = gpu ? time_device(&run, samples, &difference) : host_local;
  double begin = kg_seconds();
  BENCH_TRY(ctx,
            cont_assemble(ctx, &run.space, run.ref.n_outer, run.local, run.outer_load, &system));
  const double assembly = kg_seconds() - begin;
  double *x = allocate(ctx, (size_t)system.n);
  begin = kg_seconds();
  const int iterations = cont_solve(&system, 1e-12, 20000, x, &residual);
  const double solve = kg_seconds() - begin;
  printf("{\"squares\":%d,\"order\":%d", squares, order);
  printf(",\"dg_unknowns\":%lld,\"hdg_unknowns\":%lld,\"unknowns\":%d,\"entries\":%lld",
         (long long)hdg.element_unknowns, (long long)hdg.trace_unknowns, system.n,
         (long long)system.begin[system.n]);
  bench_print_number("hdg_local_seconds", hdg.stages[KG_STAGE_LOCAL_MATRICES].seconds);
  bench_print_number("local_seconds", local);
  bench_print_number("host_local_seconds", host_local);
  bench_print_number("device_difference", difference);
  bench_print_number("assembly_seconds", assembly);
  bench_print_number("hdg_solve_seconds", hdg.stages[KG_STAGE_TRACE_SOLVE].seconds);
  bench_print_number("solve_seconds", solve);
  printf(",\"hdg_iterations\":%lld,\"iterations\":%d", (long long)hdg.iterations, iterations);
  bench_print_number("relative_residual", residual);
  bench_print_number("hdg_u_l2", hdg.u_l2);
  bench_print_number("hdg_u_star_l2", hdg.u_star_l2);
  bench_print_number("u_l2", error_norm(&run, x));
  printf(",\"samples\":%d}\n", samples);
  fflush(stdout);
  free(x);
  cont_free(&system);
  close_run(&run);
  return difference < 1e-11 ? 0 : 1;
}

/// The numbers of a list "1,2,9"; how many, or -1 where one is not from `least` to `most`.
static int numbers(const char *text, int least, int most, int out[LIST_MAX])
{
  int n = 0;
  for (const char *at = text; at && n < LIST_MAX;
       at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    out[n] = atoi(at);
    if (out[n] < least || out[n++] > most) return -1;
  }
  return n;
}

int main(int argc, char **argv)
{
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  kedge_context *ctx;
  int squares[LIST_MAX], orders[LIST_MAX], wrong = 0;
  const int n_squares = argc > 3 ? numbers(argv[2], 2, 1000, squares) : -1;
  const int n_orders = argc > 3 ? numbers(argv[3], 1, CONT_ORDER_MAX, orders) : -1;
  const int samples = argc > 4 ? atoi(argv[4]) : 9;
  if (n_squares < 1 || n_orders < 1 || samples < 1 || samples > BENCH_SAMPLES_MAX) {
    fprintf(stderr,
            "usage: continuous host|cuda SQUARES,... ORDER,... [SAMPLES]; orders are 1 to %d\n",
            CONT_ORDER_MAX);
    return 2;
  }
  options.backend = strcmp(argv[1], "cuda") ? KEDGE_BACKEND_HOST : KEDGE_BACKEND_CUDA;
  const kedge_status status = kedge_context_create(&options, &ctx);
  if (status) bench_die(NULL, status);
  printf("{\"device\":\"%s\"}\n", kedge_context_device(ctx));
  for (int i = 0; i < n_squares; ++i)
    for (int k = 0; k < n_orders; ++k) wrong += run_order(ctx, squares[i], orders[k], samples);
  kedge_context_destroy(ctx);
  if (wrong)
    fprintf(stderr, "continuous: %d results of the kernel differ from the host's\n", wrong);
  return wrong ? 1 : 0;
}
