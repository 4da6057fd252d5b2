// waves: steps of waves through the public functions, and the parts of a stage in kernels of their
// own.
//
//   waves [--backend host|cuda] [--orders 1-9] [--mesh "cube 40" | FILE.msh] [--samples 5]
//         [--only steps,probes,parts,tilings,run] [--check|--no-check]
//         [--set equation.system=maxwell --set time.end=1 ...] > waves.json
//
// One JSON object a line: the machine, then one for each order and what is measured; orders that
// nodes do not reach are left out.
//   steps  the median time of kedge_march_step()
//   probes likewise, with all fields read at ten points behind it, in space
//   parts  a stage of kedge and of wave_parts.h; of Maxwell in vacuum in a cavity alone
//   tilings  a stage of kedge on a GPU, cut into blocks and threads in many ways; with --only alone
//   run    all steps to the end: the error against [exact], or Ey in the plane z = middle of the
//          box, at nodes of the order, [x, y, value]
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basis/nodal.h"
#include "core/clock.h"
#include "core/memory.h"
#include "kedge/probe.h"
#include "kedge/waves.h"
#include "mesh/mesh.h"
#include "problem/problem.h"
#include "waves.h"

enum { STAGES = 5, POINTS = 10 };

kedge_problem *waves_problem(const bench_settings *settings, const bench_machine *machine,
                             int order)
{
  kedge_problem *problem;
  char text[16];
  snprintf(text, sizeof text, "%d", order);
  BENCH_TRY(machine->ctx, kedge_problem_create(machine->ctx, &problem));
  bench_set(machine->ctx, problem, "space", "order", text);
  bench_apply_sets(machine->ctx, problem, settings, false);
  return problem;
}

void waves_print(const char *name, const kedge_mesh *mesh, int order)
{
  printf("{\"measured\":\"%s\",\"order\":%d,\"elements\":%d", name, order, mesh->n_elements);
}

static double unknowns_of(const kedge_march *march, const kedge_mesh *mesh, int order)
{
  int fields = 0;
  while (kedge_march_field(march, fields)) ++fields;
  const double nodes = mesh->dimension == 3 ? (order + 1.0) * (order + 2.0) * (order + 3.0) / 6.0
                                            : (order + 1.0) * (order + 2.0) / 2.0;
  return fields * nodes * mesh->n_elements;
}

/// System, unknowns and their rate a stage.
static void print_rate(const bench_machine *m, const kedge_problem *problem,
                       const kedge_march *march, int order, double stage_seconds)
{
  const double unknowns = unknowns_of(march, m->mesh, order);
  const double bytes = problem->wave.single ? sizeof(float) : sizeof(double);
  const double floor_seconds = bench_floor(&m->roof, (kg_cost){4.0 * bytes * unknowns, 0.0});
  bench_print_text("system", kedge_problem_system(problem));
  bench_print_text("precision", problem->wave.single ? "single" : "double");
  bench_print_number("unknowns", unknowns);
  bench_print_number("stage_seconds", stage_seconds);
  bench_print_number("unknowns_per_second", unknowns / stage_seconds);
  bench_print_number("share_of_floor", floor_seconds / stage_seconds);
}

/// What a step is timed with: a march, and a probe or NULL.
typedef struct stepping {
  kedge_march *march;
  kedge_probe *probe;
} stepping;

static kedge_status call_step(void *user)
{
  const stepping *const s = user;
  double values[POINTS];
  KG_TRY(kedge_march_step(s->march));
  for (int f = 0; s->probe && kedge_march_field(s->march, f); ++f)
    KG_TRY(kedge_march_probe_values(s->march, s->probe, kedge_march_field(s->march, f), values));
  return KEDGE_OK;
}

/// Points on a line through the box, off its diagonals.
static kedge_probe *probe_of(const bench_machine *m)
{
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  double at[3][POINTS];
  kedge_probe *probe;
  BENCH_TRY(m->ctx, kedge_mesh_get_info(m->mesh, &info));
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < POINTS; ++i)
      at[k][i] = info.low[k] + (info.high[k] - info.low[k]) * (0.11 + 0.02 * k + 0.08 * i);
  BENCH_TRY(m->ctx, kedge_probe_create_space(m->ctx, m->mesh, POINTS, at[0], at[1], at[2], &probe));
  return probe;
}

static void measure_steps(const bench_settings *settings, const bench_machine *m, int order,
                          bool probes)
{
  kedge_problem *const problem = waves_problem(settings, m, order);
  stepping s = {NULL};
  double seconds;
  const double began = kg_seconds();
  BENCH_TRY(m->ctx, kedge_march_create(m->ctx, m->mesh, problem, &s.march));
  const double set_up = kg_seconds() - began;
  if (probes) s.probe = probe_of(m);
  BENCH_TRY(m->ctx,
            bench_time(m->ctx, (bench_work){call_step, NULL, &s}, settings->samples, &seconds));
  waves_print(probes ? "probes" : "steps", m->mesh, order);
  print_rate(m, problem, s.march, order, seconds / STAGES);
  bench_print_number("set_up_seconds", set_up);
  bench_print_number("bytes", (double)m->ctx->bytes_in_use);
  printf("}\n");
  fprintf(stderr, "steps, order %d: %.3f ms a stage, %.3f Gdof/s\n", order, 1e3 * seconds / STAGES,
          1e-9 * STAGES * unknowns_of(s.march, m->mesh, order) / seconds);
  kedge_probe_destroy(s.probe);
  kedge_march_destroy(s.march);
  kedge_problem_destroy(problem);
}

/// Ey at nodes on the plane z = middle of the box, of the elements above it.
static void print_plane(const bench_machine *m, const kedge_march *march, int order)
{
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  BENCH_TRY(m->ctx, kedge_mesh_get_info(m->mesh, &info));
  const int nodes = (order + 1) * (order + 2) * (order + 3) / 6;
  const size_t n = (size_t)m->mesh->n_elements * (size_t)nodes;
  const double middle = 0.5 * (info.low[2] + info.high[2]);
  const double close = 1e-9 * (info.high[2] - info.low[2]);
  double *at, *value;
  BENCH_TRY(m->ctx, kg_host_alloc(m->ctx, 3 * n, sizeof *at, &at));
  BENCH_TRY(m->ctx, kg_host_alloc(m->ctx, n, sizeof *value, &value));
  BENCH_TRY(m->ctx, kedge_march_nodes(march, order, at));
  BENCH_TRY(m->ctx, kedge_march_values(march, "Ey", order, value));
  bool first = true;
  printf(",\"plane\":[");
  for (size_t e = 0; e < n; e += (size_t)nodes) {
    double low = INFINITY;
    int on = 0;
    for (size_t i = e; i < e + (size_t)nodes; ++i) {
      low = fmin(low, at[3 * i + 2]);
      on += fabs(at[3 * i + 2] - middle) < close;
    }
    if (low < middle - close || on < (order + 1) * (order + 2) / 2) continue;
    for (size_t i = e; i < e + (size_t)nodes; ++i) {
      if (fabs(at[3 * i + 2] - middle) >= close) continue;
      printf("%s[%.6g,%.6g,%.4g]", first ? "" : ",", at[3 * i], at[3 * i + 1], value[i]);
      first = false;
    }
  }
  printf("]");
  free(at);
  free(value);
}

static void measure_run(const bench_settings *settings, const bench_machine *m, int order)
{
  kedge_problem *const problem = waves_problem(settings, m, order);
  kedge_march *march;
  int64_t steps = 0;
  double error;
  BENCH_TRY(m->ctx, kedge_march_create(m->ctx, m->mesh, problem, &march));
  const double began = kg_seconds();
  for (; !kedge_march_ended(march); ++steps) BENCH_TRY(m->ctx, kedge_march_step(march));
  const double seconds = kg_seconds() - began;
  waves_print("run", m->mesh, order);
  print_rate(m, problem, march, order, seconds / (double)(STAGES * steps));
  bench_print_number("steps", (double)steps);
  bench_print_number("seconds", seconds);
  bench_print_number("end", kedge_march_time(march));
  if (kedge_march_error(march, NULL, &error) == KEDGE_OK)
    bench_print_number("error", error);
  else
    print_plane(m, march, order);
  printf("}\n");
  fprintf(stderr, "run, order %d: %lld steps in %.3f s\n", order, (long long)steps, seconds);
  kedge_march_destroy(march);
  kedge_problem_destroy(problem);
}

static int run_order(const bench_settings *settings, const bench_machine *m, int order)
{
  if (order > KG_NODAL_ORDER_MAX) return 0;
  if (bench_wants(settings, "steps")) measure_steps(settings, m, order, false);
  if (bench_wants(settings, "probes")) measure_steps(settings, m, order, true);
  if (bench_wants(settings, "run")) measure_run(settings, m, order);
  if (settings->only && bench_wants(settings, "tilings")) waves_measure_tilings(settings, m, order);
  return bench_wants(settings, "parts") ? waves_measure_parts(settings, m, order) : 0;
}

int main(int argc, char **argv)
{
  return bench_run(bench_parse_sets(argc, argv, KEDGE_BACKEND_AUTO), run_order);
}
