// Steps in time of the elliptic problem: what is made of a step is asked of its solution alone.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/march.h"

typedef struct own {
  kedge_solution *solution;  ///< of the last step that was looked at, which the march owns
  char *not_converged;       ///< the sentence of the first step that has not, with the step
} own;

static own *of(const kg_cli_march *r)
{
  return r->own;
}

/// What of each step is asked for, and has no file.
static void note_no_table(kg_cli_march *r)
{
  const kg_cli_beside *const b = &r->task->beside;
  if (b->table || (b->n_probes == 0 && r->task->n_integrals == 0)) return;
  kg_notes_add(&r->notes,
               strdup("the table of steps needs [output] file or -o: without it probes and "
                      "integrals have their values at the end alone"));
}

/// Names of the columns, one behind the other. @param[out] names  [n] strings that are owned
/// @return how many; -1: no memory
static int name_columns(const kg_cli_march *r, const kedge_report *report, char ***names)
{
  static const char *const first[] = {"t", "step", "mean", "min", "max"};
  enum { FIRST = sizeof first / sizeof *first };
  const kg_cli_beside *const b = &r->task->beside;
  int64_t n = FIRST + report->n_groups + r->task->n_integrals;
  for (int p = 0; p < b->n_probes; ++p) n += kedge_probe_count(b->files[p].probe);
  char **const all = n < INT32_MAX ? calloc((size_t)n, sizeof *all) : NULL;
  int k = 0;
  bool good = all != NULL;
  *names = all;
  for (; good && k < FIRST; ++k) good = (all[k] = strdup(first[k])) != NULL;
  for (int i = 0; good && i < report->n_groups; ++i)
    good = asprintf(&all[k++], "flux %s%s", report->groups[i]->name,
                    report->groups[i]->inside ? " (inside)" : "") >= 0;
  for (int i = 0; good && i < r->task->n_integrals; ++i)
    good = asprintf(&all[k++], "integral %s", r->task->values[i].name) >= 0;
  for (int p = 0; good && p < b->n_probes; ++p)
    for (int64_t i = 0; good && i < kedge_probe_count(b->files[p].probe); ++i)
      good = asprintf(&all[k++], "probe %s %lld", kedge_problem_probe_name(r->task->problem, p),
                      (long long)i + 1) >= 0;
  return good ? k : -1;
}

/// Begin the table, once the first solution says which groups there are. Returns an exit code.
static int open_table(kg_cli_march *r, const kedge_report *report)
{
  char **names = NULL;
  const int n = name_columns(r, report, &names);
  r->values = n > 0 ? calloc((size_t)n, sizeof *r->values) : NULL;
  const int code = r->values
                       ? kg_cli_march_open(r, &r->task->beside.steps, n, (const char *const *)names)
                       : kg_cli_no_memory();
  for (int i = 0; names && i < n; ++i) free(names[i]);
  free(names);
  return code;
}

/// t, step, mean and extrema of u. @return how many
static int put_u(const kg_cli_march *r, const kedge_report *report, double *values)
{
  double integral = 0.0, area = 0.0, least = INFINITY, most = -INFINITY;
  for (int i = 0; i < report->n_regions; ++i) {
    const kedge_region_values *const v = report->regions[i];
    integral += v->integral;
    area += v->area;
    least = fmin(least, v->least);
    most = fmax(most, v->most);
  }
  values[0] = r->marched.t;
  values[1] = (double)r->marched.steps;
  values[2] = integral / area;
  values[3] = least;
  values[4] = most;
  return 5;
}

/// Add the row of a step. Returns an exit code.
static int add_row(kg_cli_march *r, const kedge_report *report)
{
  kg_cli_task *const task = r->task;
  kg_cli_beside *const b = &task->beside;
  int code = b->steps.is_open ? KG_EXIT_SOLVED : open_table(r, report);
  if (code != KG_EXIT_SOLVED) return code;
  kg_cli_task_tell(task, kg_cli_task_integrate(task, of(r)->solution), &code);
  int k = put_u(r, report, r->values);
  for (int i = 0; i < report->n_groups; ++i) r->values[k++] = report->groups[i]->flux;
  for (int i = 0; i < task->n_integrals; ++i) r->values[k++] = task->values[i].value;
  for (int p = 0; p < b->n_probes && code == KG_EXIT_SOLVED; ++p) {
    const kedge_probe *const probe = b->files[p].probe;
    kg_cli_task_tell(task, kedge_probe_values(probe, of(r)->solution, KEDGE_FIELD_U, r->values + k),
                     &code);
    k += (int)kedge_probe_count(probe);
  }
  return code == KG_EXIT_SOLVED ? kg_cli_march_add(r, &b->steps, r->values) : code;
}

static kedge_status write_fields(void *user, const char *path)
{
  return kedge_solution_write(of(user)->solution, path);
}

static kedge_status write_boundary(void *user, const char *path)
{
  return kedge_solution_write_boundary(of(user)->solution, path);
}

static int begin(kg_cli_march *r)
{
  r->own = calloc(1, sizeof(own));
  if (!r->own) return kg_cli_no_memory();
  note_no_table(r);
  return KG_EXIT_SOLVED;
}

static kg_cli_look wanted(const kg_cli_march *r)
{
  const bool fails = r->had_converged && !r->marched.converged;
  return fails || r->task->beside.table ? KG_CLI_LISTS : KG_CLI_PASSES;
}

/// Look at the solution of a step, which is made for it.
static int look(kg_cli_march *r, kg_cli_look how)
{
  own *const o = r->own;
  const kedge_solution *solution;
  o->solution = NULL;
  const kedge_status status = kedge_march_solution(r->march, &solution);
  if (status != KEDGE_OK) return kg_cli_march_fail(r, status);
  o->solution = (kedge_solution *)solution;  // writing adds its time to the report
  kedge_report report = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &report);
  kg_notes_keep(&r->notes, &r->marched, report.solver_note);
  if (!r->marched.converged && !o->not_converged)
    o->not_converged = kg_notes_with_step(
        &r->marched, report.converged ? "a solve of this step has not reached its tolerance"
                                      : report.solver_note);
  return how >= KG_CLI_LISTS && r->task->beside.table ? add_row(r, &report) : KG_EXIT_SOLVED;
}

static int deliver(kg_cli_march *r, int code)
{
  const own *const o = r->own;
  if (r->is_lost)
    kg_cli_task_report_failure(
        r->task, &(kedge_report){.solver_note = r->marched.note,
                                 .march = &r->marched,
                                 .output_error = r->task->output ? r->failure : NULL});
  if (!o || !o->solution || r->is_lost) return code;
  return kg_cli_task_deliver(r->task,
                             &(kg_cli_result){.solution = o->solution,
                                              .march = &r->marched,
                                              .output = kg_series_last(&r->task->beside.outputs),
                                              .not_converged = o->not_converged,
                                              .code = code});
}

static void end(kg_cli_march *r)
{
  if (r->own) free(of(r)->not_converged);
  free(r->own);
}

const kg_cli_march_method kg_cli_march_parabolic = {.begin = begin,
                                                    .wanted = wanted,
                                                    .look = look,
                                                    .write = write_fields,
                                                    .write_boundary = write_boundary,
                                                    .deliver = deliver,
                                                    .end = end,
                                                    .lists_steps = true};
