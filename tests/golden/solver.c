// What a kedge_solver gives: other data, warm starts, several at once, arrays of the device,
// systems, updates.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

/// Arrays in memory that calls for the device take: of a GPU, by CUDA's driver, which the library
/// has loaded, or of the host.
typedef struct device {
  bool is_gpu;
  int (*allocate)(unsigned long long *, size_t);
  int (*release)(unsigned long long);
  int (*put)(unsigned long long, const void *, size_t);
  int (*get)(void *, unsigned long long, size_t);
} device;

static void succeed(bool good, const char *what)
{
  if (!good) fail("CUDA's driver", what);
}

static device open_device(bool is_gpu)
{
  device d = {.is_gpu = is_gpu};
  if (!is_gpu) return d;
  void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
  succeed(driver, "is not there");
  void *const retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
  void *const take = dlsym(driver, "cuCtxSetCurrent");
  *(void **)&d.allocate = dlsym(driver, "cuMemAlloc_v2");
  *(void **)&d.release = dlsym(driver, "cuMemFree_v2");
  *(void **)&d.put = dlsym(driver, "cuMemcpyHtoD_v2");
  *(void **)&d.get = dlsym(driver, "cuMemcpyDtoH_v2");
  succeed(retain && take && d.allocate && d.release && d.put && d.get, "lacks a function");
  void *current;
  succeed(((int (*)(void **, int))retain)(&current, 0) == 0, "has no context");
  succeed(((int (*)(void *))take)(current) == 0, "does not take its context");
  return d;
}

/// An array of zeros.
static double *device_array(const device *d, size_t count)
{
  double *const zeros = room_for(count, sizeof *zeros);
  unsigned long long there = 0;
  if (!d->is_gpu) return zeros;
  succeed(d->allocate(&there, count * sizeof *zeros) == 0, "has no memory");
  succeed(d->put(there, zeros, count * sizeof *zeros) == 0, "does not copy");
  free(zeros);
  return (double *)(uintptr_t)there;
}

static void to_device(const device *d, double *there, const double *values, size_t count)
{
  if (!d->is_gpu)
    memcpy(there, values, count * sizeof *values);
  else
    succeed(d->put((uintptr_t)there, values, count * sizeof *values) == 0, "does not copy");
}

/// The values of such an array, which is freed, in host memory.
static double *from_device(const device *d, double *there, size_t count)
{
  if (!d->is_gpu) return there;
  double *const values = room_for(count, sizeof *values);
  succeed(d->get(values, (uintptr_t)there, count * sizeof *values) == 0, "does not copy");
  succeed(d->release((uintptr_t)there) == 0, "does not free");
  return values;
}

/// A boundary group that the problem names.
static const char *group_of(const kedge_problem *problem)
{
  static const char BOUNDARY[] = "boundary ";
  for (int i = 0; i < kedge_problem_setting_count(problem); ++i) {
    const char *section, *key, *value;
    must(kedge_problem_get_setting(problem, i, &section, &key, &value), "settings");
    if (strncmp(section, BOUNDARY, sizeof BOUNDARY - 1) == 0) return section + sizeof BOUNDARY - 1;
  }
  return "default";
}

static void print_plan(const char *name, const char *of, const kedge_plan *plan)
{
  for (int op = 0; op < KEDGE_OPERATOR_COUNT; ++op)
    printf("%s bytes.%s.%s %lld\n", name, of, kedge_operator_name((kedge_operator)op),
           (long long)plan->peak_bytes[op]);
  printf("%s bytes.%s.host %lld\n", name, of, (long long)plan->host_bytes);
  printf("%s bytes.%s.needed %lld\n", name, of, (long long)plan->needed_bytes[plan->operator_kind]);
}

void print_plans(kedge_context *ctx, const char *name, const kedge_mesh *mesh,
                 const kedge_problem *problem)
{
  kedge_plan plan = KEDGE_PLAN_INIT;
  must(kedge_plan_make(ctx, mesh, problem, &plan), name);
  print_plan(name, "solve", &plan);
  must(kedge_solver_plan(ctx, mesh, problem, &plan), name);
  print_plan(name, "solver", &plan);
  printf("%s bytes.many %lld\n%s bytes.apply %lld\n%s bytes.values %lld\n%s bytes.table %lld\n",
         name, (long long)plan.many_bytes, name, (long long)plan.apply_bytes, name,
         (long long)plan.values_bytes, name, (long long)plan.table_bytes);
}

/// The data of these solves: those of the problem, others, and another source alone.
typedef struct data_set {
  kedge_boundary_value value;
  kedge_data of[3];
} data_set;

static void make_data(const kedge_problem *problem, data_set *set)
{
  *set = (data_set){{.group = group_of(problem), .text = "2 + x - y*y"},
                    {KEDGE_DATA_INIT, KEDGE_DATA_INIT, KEDGE_DATA_INIT}};
  set->of[1].source = "1 + x*y";
  set->of[1].n_values = 1;
  set->of[1].values = &set->value;
  set->of[2].source = "sin(5*x) - y";
}

/// The unknowns of a solution's trace.
static double *unknowns_of(const kedge_solver *solver, const kedge_solution *solution,
                           size_t *count)
{
  kedge_report r = KEDGE_REPORT_INIT;
  must(kedge_solution_report(solution, &r), "report");
  const size_t m = (size_t)r.order + 1, n = (size_t)r.trace_unknowns / m;
  double *const trace = room_for((size_t)r.edges * m, sizeof *trace);
  double *const x = room_for(n * m, sizeof *x);
  int32_t *const edges = room_for(n, sizeof *edges);
  must(kedge_solution_trace(solution, NULL, trace), "trace");
  must(kedge_solver_edges(solver, edges), "edges");
  for (size_t i = 0; i < n; ++i) memcpy(x + i * m, trace + (size_t)edges[i] * m, m * sizeof *x);
  free(edges);
  free(trace);
  *count = n * m;
  return x;
}

/// A solution of other data, overwritten by one of others again that begins with it.
static void solve_again(const char *name, kedge_solver *solver, const data_set *set)
{
  kedge_solution *solution = NULL;
  kedge_data from = set->of[2];
  must(kedge_solver_solve(solver, &set->of[1], &solution), name);
  print_solution(name, "other.", solution);
  from.start = solution;
  must(kedge_solver_solve(solver, &from, &solution), name);
  print_solution(name, "start.", solution);
  must(kedge_solver_solve(solver, NULL, &solution), name);
  print_solution(name, "again.", solution);
  kedge_solution_destroy(solution);
}

static void solve_many(const char *name, kedge_solver *solver, const data_set *set)
{
  static const char *const parts[] = {"many0.", "many1.", "many2."};
  const kedge_data *const all[3] = {NULL, &set->of[1], &set->of[2]};
  kedge_solution *many[3] = {NULL};
  must(kedge_solver_solve_many(solver, 3, all, many), name);
  for (int i = 0; i < 3; ++i) {
    print_solution(name, parts[i], many[i]);
    kedge_solution_destroy(many[i]);
  }
}

/// Sources and values that are arrays of the device.
static void solve_on_device(const char *name, const device *d, kedge_solver *solver,
                            const kedge_solution *like)
{
  kedge_report r = KEDGE_REPORT_INIT;
  must(kedge_solution_report(like, &r), name);
  int64_t *const offsets = room_for((size_t)r.elements + 1, sizeof *offsets);
  must(kedge_solution_offsets(like, r.order + 1, offsets), name);
  const size_t n = (size_t)offsets[r.elements], n_elements = (size_t)r.elements;
  free(offsets);
  double *const source = device_array(d, n_elements), *const u_star = device_array(d, n);
  double *const numbers = room_for(n_elements, sizeof *numbers);
  for (size_t e = 0; e < n_elements; ++e) numbers[e] = 1.0 + (double)(e % 7);
  to_device(d, source, numbers, n_elements);
  free(numbers);
  const kedge_device_values values = {KEDGE_FIELD_U_STAR, r.order + 1, u_star};
  kedge_data data = KEDGE_DATA_INIT;
  data.source_by_element = source;
  data.n_device = 1;
  data.device = &values;
  kedge_solution *solution = NULL;
  must(kedge_solver_solve(solver, &data, &solution), name);
  print_solution(name, "into.", solution);
  print_array(name, "into.array", from_device(d, u_star, n), n);
  free(from_device(d, source, n_elements));
  kedge_solution_destroy(solution);
}

/// The system's right-hand side, and solutions of a trace that is given, here and on the device.
static void use_system(const char *name, const device *d, kedge_solver *solver,
                       const kedge_solution *like, const data_set *set)
{
  size_t n;
  double *const x = unknowns_of(solver, like, &n), *const b = room_for(n, sizeof *b);
  double *const there = device_array(d, n);
  kedge_solution *solution = NULL;
  must(kedge_solver_rhs(solver, &set->of[1], b), name);
  print_array(name, "rhs", b, n);
  must(kedge_solver_recover(solver, NULL, x, &solution), name);
  print_solution(name, "recover.", solution);
  to_device(d, there, x, n);
  must(kedge_solver_recover_device(solver, &set->of[1], there, &solution), name);
  print_solution(name, "recover_device.", solution);
  must(kedge_solver_rhs_device(solver, &set->of[2], there), name);
  print_array(name, "rhs_device", from_device(d, there, n), n);
  kedge_solution_destroy(solution);
  free(x);
}

static void print_means(const char *name, const kedge_solution *solution)
{
  static const char *const names[] = {"cells.u", "cells.qx", "cells.indicator"};
  kedge_report r = KEDGE_REPORT_INIT;
  must(kedge_solution_report(solution, &r), name);
  const size_t n = (size_t)r.elements;
  for (int i = 0; i < 3; ++i) {
    double *const values = room_for(n, sizeof *values);
    must(i < 2 ? kedge_solution_means(solution, i ? KEDGE_FIELD_QX : KEDGE_FIELD_U, values)
               : kedge_solution_indicator(solution, values),
         name);
    print_array(name, names[i], values, n);
  }
}

void solve_with_solver(kedge_context *ctx, const char *name, const kedge_mesh *mesh,
                       kedge_problem *problem, golden_ways ways, bool on_device)
{
  const device d = open_device(on_device);
  kedge_solver *solver;
  kedge_solution *first = NULL, *updated = NULL, *cells = NULL;
  data_set set_of;
  must(kedge_solver_create(ctx, mesh, problem, &solver), name);
  must(kedge_solver_solve(solver, NULL, &first), name);
  print_solution(name, "first.", first);
  make_data(problem, &set_of);
  solve_again(name, solver, &set_of);
  if (ways == GOLDEN_ALL) {
    solve_many(name, solver, &set_of);
    solve_on_device(name, &d, solver, first);
    use_system(name, &d, solver, first, &set_of);
  }
  set(problem, name, "equation.reaction = 2.5");
  must(kedge_solver_update(solver), name);
  must(kedge_solver_solve(solver, NULL, &updated), name);
  print_solution(name, "update.", updated);
  print_solution(name, "kept.", first);
  if (ways == GOLDEN_FEW) goto done;
  set(problem, name, "output.fields = cells");
  must(kedge_solver_update(solver), name);
  must(kedge_solver_solve(solver, NULL, &cells), name);
  print_means(name, cells);
done:
  kedge_solver_destroy(solver);
  print_solution(name, "outlives.", updated);
  kedge_solution_destroy(cells);
  kedge_solution_destroy(updated);
  kedge_solution_destroy(first);
}
