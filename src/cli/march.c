// kedge solve of what moves: steps, with what is written at each and at outputs.
#include "cli/march.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"

/// Seconds after which a checkpoint is written where no output comes before.
static const double SAVE_EVERY = 60.0;

/// Files of the run before have another name, or are gone. @param[in] outputs  that there were
static void note_new_table(kg_cli_march *r, int64_t outputs)
{
  const kg_cli_beside *const b = &r->task->beside;
  const bool had_rows = r->method->lists_steps || outputs > 0;
  char *note;
  if (!b->table || !had_rows || access(b->steps.path, F_OK) == 0) return;
  if (asprintf(&note, "there was no %s to go on with: it%s at the checkpoint, t = %.9g",
               b->steps.path, b->list ? " and the series begin" : " begins", r->marched.t) >= 0)
    kg_notes_add(&r->notes, note);
}

/// Returns an exit code. @param[in] error  0, errno or KG_TABLE_OTHER
static int tell_of_table(const kg_cli_march *r, const kg_table *table, int error)
{
  const char *const path = kg_cli_shown(table->path);
  if (!error) return KG_EXIT_SOLVED;
  if (r->task->line) kg_progress_clear(r->task->line);
  if (error == KG_TABLE_OTHER) {
    fprintf(stderr,
            "kedge: cannot go on with the table %s: it has other columns%s; take it away, or "
            "give another output\n",
            path, table->every > 0 ? ", or rows of another every" : "");
    return KG_EXIT_INPUT;
  }
  fprintf(stderr, "kedge: cannot write the table %s: %s\n", path, strerror(error));
  return KG_EXIT_FAILED;
}

int kg_cli_march_open(const kg_cli_march *r, kg_table *table, int n, const char *const *names)
{
  return tell_of_table(r, table,
                       r->resumed > 0 ? kg_table_resume(table, n, names, r->resumed)
                                      : kg_table_open(table, n, names));
}

int kg_cli_march_add(const kg_cli_march *r, kg_table *table, const double *values)
{
  return tell_of_table(r, table, kg_table_add(table, values));
}

int kg_cli_march_fail(kg_cli_march *r, kedge_status status)
{
  char *note;
  r->is_lost = true;
  r->marched.converged = false;
  snprintf(r->failure, sizeof r->failure, "%s", kedge_context_error(r->task->ctx));
  if (asprintf(&note, "failed behind step %lld, t = %.9g: %s", (long long)r->marched.steps,
               r->marched.t, r->failure) >= 0)
    kg_notes_add(&r->notes, note);
  return kg_cli_task_fail(r->task, status, false);
}

/// Write the files of an output. Returns an exit code.
static int write_outputs(kg_cli_march *r)
{
  kg_cli_task *const task = r->task;
  kg_cli_beside *const b = &task->beside;
  const double t = r->marched.t;
  int code = KG_EXIT_SOLVED;
  if (task->output)
    kg_cli_task_tell(task, kg_series_add(task->ctx, &b->outputs, t, r->method->write, r), &code);
  if (b->boundary && code == KG_EXIT_SOLVED)
    kg_cli_task_tell(
        task, kg_series_add(task->ctx, &b->boundaries, t, r->method->write_boundary, r), &code);
  return code;
}

/// What is wanted of a step. Returns an exit code.
static int look(kg_cli_march *r, kg_cli_look how)
{
  const int code = how == KG_CLI_PASSES ? KG_EXIT_SOLVED : r->method->look(r, how);
  return code == KG_EXIT_SOLVED && how == KG_CLI_WRITES ? write_outputs(r) : code;
}

/// Write the checkpoint. Returns an exit code.
static int save(kg_cli_march *r)
{
  kg_cli_beside_file *const file = r->task->beside.checkpoint;
  const kedge_status status = kedge_march_save(r->march, file->path);
  if (status != KEDGE_OK) return kg_cli_task_fail(r->task, status, false);
  file->written = true;
  r->saved_at = kg_seconds();
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
static int end_by_signal(kg_cli_march *r)
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
static int resume(kg_cli_march *r)
{
  kg_cli_beside *const b = &r->task->beside;
  int code = KG_EXIT_SOLVED;
  const int64_t n = kedge_march_outputs(r->march, 0, NULL);
  double *const t = calloc((size_t)n + 1, sizeof *t);
  if (!t) return kg_cli_no_memory();
  kedge_march_outputs(r->march, n, t);
  note_new_table(r, n);
  kg_cli_task_tell(r->task, kg_series_resume(r->task->ctx, &b->outputs, n, t), &code);
  if (b->boundary)
    kg_cli_task_tell(r->task, kg_series_resume(r->task->ctx, &b->boundaries, n, t), &code);
  free(t);
  // Nothing but the summary and its files is left where it was saved at the end.
  return code == KG_EXIT_SOLVED && kedge_march_ended(r->march) ? look(r, KG_CLI_LOOKS) : code;
}

/// All steps to the end, or to what fails. Returns an exit code.
static int step_on(kg_cli_march *r)
{
  int code = KG_EXIT_SOLVED;
  while (code == KG_EXIT_SOLVED && !kedge_march_ended(r->march)) {
    r->had_converged = r->marched.converged;
    const kedge_status status = kedge_march_step(r->march);
    if (status != KEDGE_OK) return kg_cli_march_fail(r, status);
    kedge_march_report(r->march, &r->marched);
    r->line.t = r->marched.t;
    r->line.steps = r->marched.steps;
    r->line.iterations = r->marched.iterations;
    const bool is_output = kedge_march_is_output(r->march) || kedge_march_ended(r->march);
    code = look(r, is_output ? KG_CLI_WRITES : r->method->wanted(r));
    const bool saves = code == KG_EXIT_SOLVED && r->task->beside.checkpoint;
    if (saves && asked_to_end && !kedge_march_ended(r->march)) return end_by_signal(r);
    if (saves && (is_output || kg_seconds() - r->saved_at >= SAVE_EVERY)) code = save(r);
  }
  return code;
}

int kg_cli_march_run(kg_cli_task *task, const kg_cli_march_method *method)
{
  kg_cli_march r = {.task = task, .method = method, .marched = KEDGE_MARCHED_INIT};
  const char *const from = task->from->resume;
  const kedge_status status =
      from ? kedge_march_restore(task->ctx, task->mesh, task->problem, from, &r.march)
           : kedge_march_create(task->ctx, task->mesh, task->problem, &r.march);
  if (status != KEDGE_OK) return kg_cli_task_fail(task, status, from != NULL);
  kedge_march_report(r.march, &r.marched);
  r.resumed = from ? r.marched.steps : 0;
  r.saved_at = kg_seconds();
  r.line = (kg_march_line){
      .begun = kg_seconds(), .from = r.marched.t, .t = r.marched.t, .end = r.marched.end};
  if (task->line) kedge_context_set_progress(task->ctx, kg_march_line_draw, &r.line);
  if (task->beside.checkpoint) watch_for_end();
  int code = method->begin(&r);
  if (code == KG_EXIT_SOLVED && r.resumed > 0)
    code = resume(&r);
  else if (code == KG_EXIT_SOLVED && kedge_march_is_output(r.march))
    code = look(&r, KG_CLI_WRITES);
  if (code == KG_EXIT_SOLVED) code = step_on(&r);
  char *const notes = kg_notes_join(&r.notes);
  r.marched.note = notes;
  code = method->deliver(&r, code);
  method->end(&r);
  free(notes);
  free(r.values);
  kg_notes_free(&r.notes);
  kedge_march_destroy(r.march);
  return code;
}
