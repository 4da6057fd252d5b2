// kedge solve of a problem with [time]: steps, with what is written at each and at outputs. What
// is made of a step is asked of its solution alone, whatever the equation.
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/march_line.h"
#include "cli/task.h"
#include "core/clock.h"

enum { NOTES = 8 };  ///< that are kept, at most

typedef struct run {
  kg_cli_task *task;
  kedge_march *march;
  kedge_marched marched;
  kedge_solution *solution;  ///< of the last step that was looked at, which the march owns
  kg_march_line line;
  int n_notes;
  char *notes[NOTES];   ///< sentences with their steps
  char *not_converged;  ///< likewise of the first step that has not
  double *values;       ///< [table->n] a row of the table
  int64_t resumed;      ///< steps of the checkpoint that the run goes on from; 0: it begins
} run;

/// What is written of a step: nothing, its row of the table, or its files too.
typedef enum looking { LOOKS_ALONE, LOOKS_AND_LISTS, LOOKS_AND_WRITES } looking;

/// Whether two notes are one but for their numbers.
static bool are_alike(const char *a, const char *b)
{
  static const char numbers[] = "0123456789.e+-";
  for (;; ++a, ++b) {
    a += strspn(a, numbers);
    b += strspn(b, numbers);
    if (*a != *b) return false;
    if (!*a) return true;
  }
}

/// A sentence with the step in front.
static char *with_step(const run *r, const char *sentence)
{
  char *text;
  const int n = asprintf(&text, "step %lld, t = %.9g: %s", (long long)r->marched.steps,
                         r->marched.t, sentence);
  return n < 0 ? NULL : text;
}

/// Keep the note of a solution, unless one like it is kept.
static void keep_note(run *r, const char *note)
{
  if (!note || !note[0] || r->n_notes == NOTES) return;
  for (int i = 0; i < r->n_notes; ++i)
    if (are_alike(strstr(r->notes[i], ": ") + 2, note)) return;
  char *const text = with_step(r, note);
  if (text) r->notes[r->n_notes++] = text;
}

/// All notes as one text, which the caller frees; NULL: there are none, or there is no memory.
static char *join_notes(const run *r)
{
  size_t size = 0;
  for (int i = 0; i < r->n_notes; ++i) size += strlen(r->notes[i]) + 2;
  char *const text = size > 0 ? calloc(size + 1, 1) : NULL;
  for (int i = 0; text && i < r->n_notes; ++i) {
    if (i > 0) strcat(text, "; ");
    strcat(text, r->notes[i]);
  }
  return text;
}

/// Names of the columns, one behind the other. @param[out] names  [n] strings that are owned
/// @return how many; -1: no memory
static int name_columns(const run *r, const kedge_report *report, char ***names)
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

/// Returns an exit code.
static int tell_of_table(const run *r, int error)
{
  if (!error) return KG_EXIT_SOLVED;
  if (r->task->line) kg_progress_clear(r->task->line);
  if (error == KG_TABLE_OTHER) {
    fprintf(stderr,
            "kedge: cannot go on with the table %s: it has other columns; take it away, or give "
            "another output\n",
            kg_cli_shown(r->task->beside.steps.path));
    return KG_EXIT_INPUT;
  }
  fprintf(stderr, "kedge: cannot write the table %s: %s\n",
          kg_cli_shown(r->task->beside.steps.path), strerror(error));
  return KG_EXIT_FAILED;
}

/// Begin the table, once the first solution says which groups there are. Returns an exit code.
static int open_table(run *r, const kedge_report *report)
{
  char **names = NULL;
  const int n = name_columns(r, report, &names);
  r->values = n > 0 ? calloc((size_t)n, sizeof *r->values) : NULL;
  kg_table *const table = &r->task->beside.steps;
  const char *const *const known = (const char *const *)names;
  const int error = !r->values       ? ENOMEM
                    : r->resumed > 0 ? kg_table_resume(table, n, known, r->resumed)
                                     : kg_table_open(table, n, known);
  for (int i = 0; names && i < n; ++i) free(names[i]);
  free(names);
  return tell_of_table(r, error);
}

/// t, step, mean and extrema of u. @return how many
static int put_u(const run *r, const kedge_report *report, double *values)
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
static int add_row(run *r, const kedge_report *report)
{
  kg_cli_task *const task = r->task;
  kg_cli_beside *const b = &task->beside;
  int code = b->steps.is_open ? KG_EXIT_SOLVED : open_table(r, report);
  if (code != KG_EXIT_SOLVED) return code;
  kg_cli_task_tell(task, kg_cli_task_integrate(task, r->solution), &code);
  int k = put_u(r, report, r->values);
  for (int i = 0; i < report->n_groups; ++i) r->values[k++] = report->groups[i]->flux;
  for (int i = 0; i < task->n_integrals; ++i) r->values[k++] = task->values[i].value;
  for (int p = 0; p < b->n_probes && code == KG_EXIT_SOLVED; ++p) {
    const kedge_probe *const probe = b->files[p].probe;
    kg_cli_task_tell(task, kedge_probe_values(probe, r->solution, KEDGE_FIELD_U, r->values + k),
                     &code);
    k += (int)kedge_probe_count(probe);
  }
  return code == KG_EXIT_SOLVED ? tell_of_table(r, kg_table_add(&b->steps, r->values)) : code;
}

static kedge_status write_fields(void *user, const char *path)
{
  return kedge_solution_write(((run *)user)->solution, path);
}

static kedge_status write_boundary(void *user, const char *path)
{
  return kedge_solution_write_boundary(((run *)user)->solution, path);
}

/// Write the files of an output. Returns an exit code.
static int write_outputs(run *r)
{
  kg_cli_task *const task = r->task;
  kg_cli_beside *const b = &task->beside;
  const double t = r->marched.t;
  int code = KG_EXIT_SOLVED;
  if (task->output)
    kg_cli_task_tell(task, kg_series_add(task->ctx, &b->outputs, t, write_fields, r), &code);
  if (b->boundary && code == KG_EXIT_SOLVED)
    kg_cli_task_tell(task, kg_series_add(task->ctx, &b->boundaries, t, write_boundary, r), &code);
  return code;
}

/// Look at the solution of a step, which is made for it. Returns an exit code.
static int look(run *r, looking how)
{
  const kedge_solution *solution;
  const kedge_status status = kedge_march_solution(r->march, &solution);
  if (status != KEDGE_OK) return kg_cli_task_fail(r->task, status, false);
  r->solution = (kedge_solution *)solution;  // writing adds its time to the report
  kedge_report report = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &report);
  keep_note(r, report.solver_note);
  if (!r->marched.converged && !r->not_converged)
    r->not_converged =
        with_step(r, report.converged ? "a solve of this step has not reached its tolerance"
                                      : report.solver_note);
  const bool lists = how >= LOOKS_AND_LISTS && r->task->beside.table;
  const int code = lists ? add_row(r, &report) : KG_EXIT_SOLVED;
  return code == KG_EXIT_SOLVED && how == LOOKS_AND_WRITES ? write_outputs(r) : code;
}

/// Write the checkpoint. Returns an exit code.
static int save(const run *r)
{
  kg_cli_beside_file *const file = r->task->beside.checkpoint;
  const kedge_status status = kedge_march_save(r->march, file->path);
  if (status != KEDGE_OK) return kg_cli_task_fail(r->task, status, false);
  file->written = true;
  return KG_EXIT_SOLVED;
}

static volatile sig_atomic_t asked_to_end;  ///< SIGTERM or SIGINT; 0: nobody has asked

/// The first signal is for the loop of steps, which saves; the second ends at once.
static void ask_to_end(int signal_number)
{
  if (asked_to_end) {
    kedge_partial_files_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
  }
  asked_to_end = signal_number;
}

/// What somebody ignores stays ignored.
static void watch_for_end(void)
{
  static const int signals[] = {SIGTERM, SIGINT};
  for (int i = 0; i < 2; ++i) {
    struct sigaction before;
    const struct sigaction action = {.sa_handler = ask_to_end};
    if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(signals[i], &action, NULL);
  }
}

/// Save, and end as the signal would have ended the run. Returns an exit code where that fails.
static int end_by_signal(const run *r)
{
  const int code = save(r);
  if (code == KG_EXIT_SOLVED) {
    if (r->task->line) kg_progress_clear(r->task->line);
    fprintf(stderr, "kedge: ended by %s behind step %lld, t = %.9g; --resume %s goes on\n",
            asked_to_end == SIGINT ? "SIGINT" : "SIGTERM", (long long)r->marched.steps,
            r->marched.t, kg_cli_shown(r->task->beside.checkpoint->path));
  }
  signal(asked_to_end, SIG_DFL);
  raise(asked_to_end);
  return code;
}

/// Look at what the checkpoint has, and go on with the files of the run before. Returns an exit
/// code.
static int resume(run *r)
{
  kg_cli_beside *const b = &r->task->beside;
  int code = KG_EXIT_SOLVED;
  r->resumed = r->marched.steps;
  const int64_t n = kedge_march_outputs(r->march, 0, NULL);
  double *const t = calloc((size_t)n + 1, sizeof *t);
  if (!t) return kg_cli_no_memory();
  kedge_march_outputs(r->march, n, t);
  kg_cli_task_tell(r->task, kg_series_resume(r->task->ctx, &b->outputs, n, t), &code);
  if (b->boundary)
    kg_cli_task_tell(r->task, kg_series_resume(r->task->ctx, &b->boundaries, n, t), &code);
  free(t);
  // Nothing but the summary and its files is left where it was saved at the end.
  return code == KG_EXIT_SOLVED && kedge_march_ended(r->march) ? look(r, LOOKS_ALONE) : code;
}

/// All steps to the end, or to what fails. Returns an exit code.
static int step_on(run *r)
{
  int code = KG_EXIT_SOLVED;
  while (code == KG_EXIT_SOLVED && !kedge_march_ended(r->march)) {
    const bool converged = r->marched.converged;
    r->solution = NULL;  // the step overwrites it
    const kedge_status status = kedge_march_step(r->march);
    if (status != KEDGE_OK) return kg_cli_task_fail(r->task, status, false);
    kedge_march_report(r->march, &r->marched);
    r->line.t = r->marched.t;
    r->line.steps = r->marched.steps;
    r->line.iterations = r->marched.iterations;
    const bool is_output = kedge_march_is_output(r->march) || kedge_march_ended(r->march);
    if (is_output || r->task->beside.table || (converged && !r->marched.converged))
      code = look(r, is_output ? LOOKS_AND_WRITES : LOOKS_AND_LISTS);
    const bool saves = code == KG_EXIT_SOLVED && r->task->beside.checkpoint;
    if (saves && asked_to_end && !kedge_march_ended(r->march)) return end_by_signal(r);
    if (saves && is_output) code = save(r);
  }
  return code;
}

int kg_cli_march(kg_cli_task *task)
{
  run r = {.task = task, .marched = KEDGE_MARCHED_INIT};
  const char *const from = task->from->resume;
  const kedge_status status =
      from ? kedge_march_restore(task->ctx, task->mesh, task->problem, from, &r.march)
           : kedge_march_create(task->ctx, task->mesh, task->problem, &r.march);
  if (status != KEDGE_OK) return kg_cli_task_fail(task, status, from != NULL);
  kedge_march_report(r.march, &r.marched);
  r.line = (kg_march_line){
      .begun = kg_seconds(), .from = r.marched.t, .t = r.marched.t, .end = r.marched.end};
  if (task->line) kedge_context_set_progress(task->ctx, kg_march_line_draw, &r.line);
  if (task->beside.checkpoint) watch_for_end();
  int code = from ? resume(&r) : KG_EXIT_SOLVED;
  if (code == KG_EXIT_SOLVED) code = step_on(&r);
  char *const notes = join_notes(&r);
  r.marched.note = notes;
  if (r.solution)
    code =
        kg_cli_task_deliver(task, &(kg_cli_result){.solution = r.solution,
                                                   .march = &r.marched,
                                                   .output = kg_series_last(&task->beside.outputs),
                                                   .not_converged = r.not_converged,
                                                   .code = code});
  free(notes);
  free(r.not_converged);
  free(r.values);
  for (int i = 0; i < r.n_notes; ++i) free(r.notes[i]);
  kedge_march_destroy(r.march);
  return code;
}
