// recurrences: how many iterations a solve takes with multigrid in double and in single precision,
// by recurrence (docs/adr/0003-mixed-precision.md). On the host.
//
//   recurrences [--orders 1-9] [--mesh "square 100" | FILE.msh] > recurrences.json
//
// One JSON object a line: first the machine, then one for each order, reaction and stabilization.
// To a relative residual of 1e-10, from zero:
//   double      conjugate gradients, multigrid in double precision
//   standard    multigrid in single precision, beta = r . z / r_0 . z_0
//   flexible    the same with beta = (r - r_0) . z / r_0 . z_0
//   refinement  all of the iteration in single precision to `gain`, then the residual in double
//               precision, and again: outer steps, and iterations altogether
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/memory.h"
#include "ops/vector/round.h"

enum { ITERATIONS_MAX = 500, OUTER_MAX = 20 };
#define TOLERANCE 1e-10

/// A trace system on the host with its preconditioner.
typedef struct trace_system {
  kg_elliptic p;
  kedge_problem *problem;
  kedge_solution solution;
  kg_trace_product_args op;
  kg_cg_vectors_args v;
  const double *b;
  int32_t exponent;
  double *r_before;
  float *p_single, *ap_single;
} trace_system;

/// What a recurrence took; `residual` is the true one.
typedef struct taken {
  int iterations, outer;
  double residual;
} taken;

static double *vector(kedge_context *ctx, size_t n, size_t size)
{
  void *memory;
  BENCH_TRY(ctx, kg_host_calloc(ctx, n + 8, size, &memory));
  return memory;
}

static void run_stage(kg_elliptic *p, kg_stage stage, kedge_status (*work)(kg_elliptic *))
{
  BENCH_TRY(p->ctx, kg_run_begin(&p->run, stage));
  BENCH_TRY(p->ctx, kg_run_end(&p->run, work(p)));
}

/// The cycle of the pipeline, over these vectors.
static kg_cycle cycle_of(trace_system *s)
{
  kg_cycle c = s->p.arrays.iteration.cycle;
  c.base.product = s->v.ap;
  c.base.exponent = &s->exponent;
  return c;
}

static void system_open(trace_system *s, kedge_context *ctx, const kedge_mesh *mesh, int order,
                        const char *reaction, const char *stabilization, const char *precision)
{
  *s = (trace_system){.p = {.ctx = ctx, .mesh = mesh}, .problem = bench_problem(ctx, order)};
  bench_set(ctx, s->problem, "equation", "reaction", reaction);
  bench_set(ctx, s->problem, "space", "stabilization", stabilization);
  bench_set(ctx, s->problem, "solver", "preconditioner", "multigrid");
  bench_set(ctx, s->problem, "solver", "precision", precision);
  kg_elliptic *p = &s->p;
  p->equation.problem = s->problem;
  p->run.solution = &s->solution;
  BENCH_TRY(ctx, kg_elliptic_prepare(p));
  p->shape.choice.apart = true;
  kg_memory_plan(&p->shape, &p->plan, &p->arrays);
  run_stage(p, KG_STAGE_TRANSFER, kg_stage_transfer);
  run_stage(p, KG_STAGE_LOCAL_MATRICES, kg_stage_local_matrices);
  run_stage(p, KG_STAGE_ASSEMBLY, kg_stage_assembly);
  run_stage(p, KG_STAGE_TRACE_SOLVE, kg_stage_bound);
  const kg_arrays *a = &p->arrays;
  const size_t m = (size_t)p->shape.m, all = (size_t)p->shape.count.n_edges * m;
  s->op = (kg_trace_product_args){
      .batch = p->space.batch, .locals = kg_elliptic_locals(p), .halo = a->iteration.halo};
  s->b = a->b;
  s->v = (kg_cg_vectors_args){.n = (int64_t)p->shape.count.n_free * (int64_t)m,
                              .x = vector(ctx, all, sizeof(double)),
                              .z = vector(ctx, all, sizeof(double)),
                              .z_single = p->arrays.iteration.multigrid.single.z,
                              .p = vector(ctx, all, sizeof(double)),
                              .r = vector(ctx, all, sizeof(double)),
                              .ap = vector(ctx, all, sizeof(double)),
                              .partial = a->iteration.method.cg.part,
                              .state = a->iteration.method.cg.states->of};
  s->r_before = vector(ctx, all, sizeof(double));
  s->p_single = (float *)vector(ctx, all, sizeof(float));
  s->ap_single = (float *)vector(ctx, all, sizeof(float));
}

static void system_close(trace_system *s)
{
  double *const vectors[] = {s->v.x, s->v.z, s->v.p, s->v.r, s->v.ap, s->r_before};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) free(vectors[i]);
  free(s->p_single);
  free(s->ap_single);
  kg_elliptic_free(&s->p);
  kedge_problem_destroy(s->problem);
}

static double dot(const trace_system *s, const double *a, const double *b)
{
  double sum = 0.0;
  for (int64_t i = 0; i < s->v.n; ++i) sum += a[i] * b[i];
  return sum;
}

static void multiply(trace_system *s, const double *x, double *y)
{
  kg_trace_product_args op = s->op;
  op.x = x;
  op.y = y;
  BENCH_TRY(s->p.ctx, kg_trace_product(s->p.ctx, &op));
}

/// y = A x with everything in single precision; x and y hold numbers of it.
static void multiply_single(trace_system *s, const double *x, double *y)
{
  kg_trace_product_args op = s->op;
  op.locals = s->p.arrays.iteration.multigrid.single.locals;
  op.halo = s->p.arrays.iteration.multigrid.single.halo;
  op.x = s->p_single;
  op.y = s->ap_single;
  for (int64_t i = 0; i < s->v.n; ++i) s->p_single[i] = (float)x[i];
  BENCH_TRY(s->p.ctx, kg_trace_product(s->p.ctx, &op));
  for (int64_t i = 0; i < s->v.n; ++i) y[i] = s->ap_single[i];
}

/// z = M r, also in v.z; returns r . z.
static double precondition(trace_system *s, double rr)
{
  const kg_cg_vectors_args *v = &s->v;
  const kg_cycle c = cycle_of(s);
  double rz;
  BENCH_TRY(s->p.ctx, c.base.table->begin(s->p.ctx, &c.base, &rr));
  BENCH_TRY(s->p.ctx,
            c.base.table->apply(s->p.ctx, &c.base, v->r, v->z_single ? (void *)v->z_single : v->z,
                                &(kg_pass){.sum = {v->partial, &rz, NULL}}));
  for (int64_t i = 0; v->z_single && i < v->n; ++i) v->z[i] = v->z_single[i];
  return rz;
}

/// r = b - A x; returns r . r.
static double residual(trace_system *s)
{
  multiply(s, s->v.x, s->v.ap);
  for (int64_t i = 0; i < s->v.n; ++i) s->v.r[i] = s->b[i] - s->v.ap[i];
  return dot(s, s->v.r, s->v.r);
}

/// Begins the recurrence anew from x = 0.
static double restart(trace_system *s)
{
  memset(s->v.x, 0, (size_t)s->v.n * sizeof *s->v.x);
  memset(s->v.p, 0, (size_t)s->v.n * sizeof *s->v.p);
  return residual(s);
}

static taken conjugate_gradients(trace_system *s, bool flexible)
{
  const kg_cg_vectors_args *v = &s->v;
  const double rr_start = restart(s);
  double rr = rr_start, rz_before = 1.0;
  taken t = {0};
  while (t.iterations < ITERATIONS_MAX && rr > TOLERANCE * TOLERANCE * rr_start) {
    const double rz = precondition(s, rr_start);
    const double change = flexible && t.iterations > 0 ? rz - dot(s, s->r_before, v->z) : rz;
    const double beta = t.iterations > 0 ? change / rz_before : 0.0;
    for (int64_t i = 0; i < v->n; ++i) v->p[i] = v->z[i] + beta * v->p[i];
    multiply(s, v->p, v->ap);
    const double alpha = rz / dot(s, v->p, v->ap);
    memcpy(s->r_before, v->r, (size_t)v->n * sizeof *v->r);
    for (int64_t i = 0; i < v->n; ++i) {
      v->x[i] += alpha * v->p[i];
      v->r[i] -= alpha * v->ap[i];
    }
    rr = dot(s, v->r, v->r);
    rz_before = rz;
    ++t.iterations;
  }
  t.residual = sqrt(residual(s) / rr_start);
  return t;
}

/// Iterations for a correction of x that gains `gain`, every vector rounded to single precision.
static int correct(trace_system *s, double rr_start, double gain)
{
  const kg_cg_vectors_args *v = &s->v;
  double *const correction = s->r_before;
  double rr = rr_start, rz_before = 1.0;
  int iterations = 0;
  memset(correction, 0, (size_t)v->n * sizeof *correction);
  memset(v->p, 0, (size_t)v->n * sizeof *v->p);
  const double scale = ldexp(1.0, kg_round_exponent(rr_start));
  for (int64_t i = 0; i < v->n; ++i) v->r[i] = (float)(scale * v->r[i]);
  while (iterations < ITERATIONS_MAX && rr > gain * gain * rr_start) {
    const double rz = precondition(s, 1.0), beta = iterations > 0 ? rz / rz_before : 0.0;
    for (int64_t i = 0; i < v->n; ++i) v->p[i] = (float)(v->z[i] + beta * v->p[i]);
    multiply_single(s, v->p, v->ap);
    const double alpha = rz / dot(s, v->p, v->ap);
    for (int64_t i = 0; i < v->n; ++i) {
      correction[i] = (float)(correction[i] + alpha * v->p[i]);
      v->r[i] = (float)(v->r[i] - alpha * v->ap[i]);
    }
    rr = dot(s, v->r, v->r) / (scale * scale);
    rz_before = rz;
    ++iterations;
  }
  for (int64_t i = 0; i < v->n; ++i) v->x[i] += correction[i] / scale;
  return iterations;
}

static taken refinement(trace_system *s, double gain)
{
  const double rr_start = restart(s), target = TOLERANCE * TOLERANCE * rr_start;
  double rr = rr_start;
  taken t = {0};
  while (t.outer < OUTER_MAX && rr > target) {
    const double missing = 0.9 * sqrt(target / rr);
    t.iterations += correct(s, rr, missing > gain ? missing : gain);
    rr = residual(s);
    ++t.outer;
  }
  t.residual = sqrt(rr / rr_start);
  return t;
}

static void print_taken(const char *name, taken t)
{
  printf(",\"%s\":{\"iterations\":%d,\"outer\":%d,\"residual\":%.3e}", name, t.iterations, t.outer,
         t.residual);
  fprintf(stderr, "  %s %d", name, t.iterations);
  if (t.outer > 0) fprintf(stderr, " in %d", t.outer);
  if (t.residual > 1.1 * TOLERANCE) fprintf(stderr, " (residual %.1e)", t.residual);
}

static void run_case(const bench_machine *m, int order, const char *reaction,
                     const char *stabilization)
{
  trace_system s;
  printf("{\"order\":%d,\"elements\":%d", order, m->mesh->n_elements);
  bench_print_text("reaction", reaction);
  bench_print_text("stabilization", stabilization);
  fprintf(stderr, "P%d reaction %s, stabilization %s:", order, reaction, stabilization);
  system_open(&s, m->ctx, m->mesh, order, reaction, stabilization, "double");
  print_taken("double", conjugate_gradients(&s, false));
  system_close(&s);
  system_open(&s, m->ctx, m->mesh, order, reaction, stabilization, "mixed");
  print_taken("standard", conjugate_gradients(&s, false));
  print_taken("flexible", conjugate_gradients(&s, true));
  print_taken("refinement 1e-2", refinement(&s, 1e-2));
  print_taken("refinement 1e-4", refinement(&s, 1e-4));
  system_close(&s);
  printf("}\n");
  fprintf(stderr, "\n");
  fflush(stdout);
}

static int run_order(const bench_settings *settings, const bench_machine *m, int order)
{
  static const char *const cases[][2] = {
      {"0", "1"}, {"1e3", "1"}, {"1e6", "1"}, {"0", "1*h"}, {"0", "1/h"}};
  (void)settings;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    run_case(m, order, cases[i][0], cases[i][1]);
  return 0;
}

int main(int argc, char **argv)
{
  return bench_run(bench_parse(argc, argv, KEDGE_BACKEND_HOST), run_order);
}
