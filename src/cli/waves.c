// kedge solve of waves: steps, with the fields and a row of the table at every output and at the
// end.
#include <kedge/waves.h>
#include <stdlib.h>
#include <string.h>

#include "cli/march_line.h"
#include "cli/task.h"
#include "core/clock.h"

enum { FIELDS = 8, FIRST = 3 };  ///< of any system, at most; columns before those of errors

typedef struct run {
  kg_cli_task *task;
  kedge_march *march;
  kedge_marched marched;
  kg_march_line line;
  double energy;  ///< at the last output
  int n_errors;
  const char *names[FIELDS];  ///< [n_errors] fields that have an exact solution
  double errors[FIELDS];
} run;

/// Refuse what only solutions of elliptic problems have. Returns an exit code.
static int check(const kg_cli_task *task)
{
  const char *const option = task->from->report       ? "--report"
                             : task->from->checkpoint ? "--checkpoint"
                             : task->from->resume     ? "--resume"
                             : task->beside.picture   ? "--picture"
                                                      : NULL;
  if (!option) return KG_EXIT_SOLVED;
  if (task->line) kg_progress_clear(task->line);
  fprintf(stderr, "kedge: %s: waves have none yet; leave it out\n", option);
  return KG_EXIT_INPUT;
}

/// Energy and errors of the present state. Returns an exit code.
static int measure(run *r)
{
  kedge_status status = kedge_march_energy(r->march, &r->energy);
  for (int i = 0; i < r->n_errors && status == KEDGE_OK; ++i)
    status = kedge_march_error(r->march, r->names[i], &r->errors[i]);
  return status == KEDGE_OK ? KG_EXIT_SOLVED : kg_cli_task_fail(r->task, status, false);
}

/// Which fields have an exact solution.
static void list_fields(run *r)
{
  double error;
  const char *name;
  for (int i = 0; i < FIELDS && (name = kedge_march_field(r->march, i)); ++i)
    if (kedge_march_error(r->march, name, &error) == KEDGE_OK) r->names[r->n_errors++] = name;
}

/// Returns an exit code.
static int tell_of_table(const run *r, int error)
{
  if (!error) return KG_EXIT_SOLVED;
  if (r->task->line) kg_progress_clear(r->task->line);
  fprintf(stderr, "kedge: cannot write the table %s: %s\n",
          kg_cli_shown(r->task->beside.steps.path), strerror(error));
  return KG_EXIT_FAILED;
}

/// Add the row of an output. Returns an exit code.
static int add_row(run *r)
{
  kg_table *const table = &r->task->beside.steps;
  double values[FIRST + FIELDS] = {r->marched.t, (double)r->marched.steps, r->energy};
  char names[FIELDS][40];
  const char *columns[FIRST + FIELDS] = {"t", "step", "energy"};
  for (int i = 0; i < r->n_errors; ++i) {
    snprintf(names[i], sizeof names[i], "error %s", r->names[i]);
    columns[FIRST + i] = names[i];
    values[FIRST + i] = r->errors[i];
  }
  int error = table->is_open ? 0 : kg_table_open(table, FIRST + r->n_errors, columns);
  if (!error) error = kg_table_add(table, values);
  return tell_of_table(r, error);
}

static kedge_status write_fields(void *user, const char *path)
{
  return kedge_march_write(((run *)user)->march, path);
}

/// Look at the state, and write it. Returns an exit code.
static int look(run *r)
{
  kg_cli_task *const task = r->task;
  int code = measure(r);
  if (code == KG_EXIT_SOLVED && task->beside.table) code = add_row(r);
  if (task->output && code == KG_EXIT_SOLVED)
    kg_cli_task_tell(task,
                     kg_series_add(task->ctx, &task->beside.outputs, r->marched.t, write_fields, r),
                     &code);
  return code;
}

/// All steps to the end, or to what fails. Returns an exit code.
static int step_on(run *r)
{
  int code = KG_EXIT_SOLVED;
  while (code == KG_EXIT_SOLVED && !kedge_march_ended(r->march)) {
    const kedge_status status = kedge_march_step(r->march);
    if (status != KEDGE_OK) return kg_cli_task_fail(r->task, status, false);
    kedge_march_report(r->march, &r->marched);
    r->line.t = r->marched.t;
    r->line.steps = r->marched.steps;
    if (r->task->line) kg_march_line_draw(&r->line, &(kedge_progress){.stage = "march"});
    if (kedge_march_is_output(r->march) || kedge_march_ended(r->march)) code = look(r);
  }
  return code;
}

static void print_summary(const run *r, double first_energy)
{
  const kg_cli_task *const task = r->task;
  const kedge_marched *const m = &r->marched;
  const double longest = kedge_march_longest(r->march);
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  kedge_mesh_get_info(task->mesh, &info);
  printf("%s: %s, %lld element%s\n", kg_cli_shown(task->from->file),
         kedge_problem_system(task->problem), (long long)info.elements,
         kg_cli_plural(info.elements));
  printf("march        %s, %lld step%s of %.4g to t = %.9g of %.9g, %.4g s\n", m->scheme,
         (long long)m->steps, kg_cli_plural(m->steps), m->step, m->t, m->end, m->seconds);
  if (m->step > longest * (1.0 + 1e-9))
    printf("note         steps are longer than %.4g, the longest that is stable on every mesh\n",
           longest);
  printf("energy       %.9g, at the beginning %.9g\n", r->energy, first_energy);
  for (int i = 0; i < r->n_errors; ++i)
    printf("%-12s %s: L2 %.5e\n", i == 0 ? "errors" : "", r->names[i], r->errors[i]);
  kg_series_print(&task->beside.outputs, "output");
  if (task->beside.steps.rows > 0)
    printf("table        %s (%lld row%s)\n", kg_cli_shown(task->beside.steps.path),
           (long long)task->beside.steps.rows, kg_cli_plural(task->beside.steps.rows));
}

int kg_cli_waves(kg_cli_task *task)
{
  run r = {.task = task, .marched = KEDGE_MARCHED_INIT};
  int code = check(task);
  if (code != KG_EXIT_SOLVED) return code;
  const kedge_status status = kedge_march_create(task->ctx, task->mesh, task->problem, &r.march);
  if (status != KEDGE_OK) return kg_cli_task_fail(task, status, false);
  kedge_march_report(r.march, &r.marched);
  r.line = (kg_march_line){.begun = kg_seconds(), .end = r.marched.end};
  list_fields(&r);
  code = measure(&r);
  const double first_energy = r.energy;
  if (code == KG_EXIT_SOLVED) code = step_on(&r);
  if (task->line) kg_progress_clear(task->line);
  if (code == KG_EXIT_SOLVED && !task->from->quiet) print_summary(&r, first_energy);
  kedge_march_destroy(r.march);
  return code;
}
