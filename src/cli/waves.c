// Waves: what is made of a step is asked of the state, field by field.
#include <kedge/waves.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/march.h"
#include "core/number.h"

enum { FIRST = 3 };  ///< columns of the table before those of errors

/// The file of a probe: a row of t, step and fields at its points at the beginning, and behind each
/// step that `every` divides.
typedef struct probe {
  const kedge_probe *of;
  int64_t every;
  kg_table table;
} probe;

typedef struct own {
  kedge_wave_report report;  ///< of the last output
  char output_error[KG_CLI_SAID];
  int n_probes;
  probe *probes;   ///< [n_probes]
  double *values;  ///< a row of any of them
} own;

/// Energy and errors of the present state. Returns an exit code.
static int measure(kg_cli_march *r)
{
  own *const o = r->own;
  const kedge_status status = kedge_march_wave_report(r->march, &o->report);
  return status == KEDGE_OK ? KG_EXIT_SOLVED : kg_cli_march_fail(r, status);
}

/// Begin the file of a probe with the names of its columns. Returns an exit code.
static int open_probe(const kg_cli_march *r, probe *p)
{
  const own *const o = r->own;
  const int64_t points = kedge_probe_count(p->of), n = 2 + o->report.n_fields * points;
  char **const names = n < INT32_MAX ? calloc((size_t)n, sizeof *names) : NULL;
  bool good = names && (names[0] = strdup("t")) && (names[1] = strdup("step"));
  for (int64_t i = 0; good && i < n - 2; ++i)
    good = asprintf(&names[2 + i], "%s %lld", o->report.fields[i / points],
                    (long long)(i % points) + 1) >= 0;
  const int code = good ? kg_cli_march_open(r, &p->table, (int)n, (const char *const *)names)
                        : kg_cli_no_memory();
  for (int64_t i = 0; names && i < n; ++i) free(names[i]);
  free(names);
  return code;
}

/// Returns an exit code.
static int add_probe_row(const kg_cli_march *r, probe *p)
{
  const own *const o = r->own;
  int code = KG_EXIT_SOLVED;
  o->values[0] = r->marched.t;
  o->values[1] = (double)r->marched.steps;
  for (int f = 0; f < o->report.n_fields && code == KG_EXIT_SOLVED; ++f)
    kg_cli_task_tell(r->task,
                     kedge_march_probe_values(r->march, p->of, o->report.fields[f],
                                              o->values + 2 + f * kedge_probe_count(p->of)),
                     &code);
  return code == KG_EXIT_SOLVED ? kg_cli_march_add(r, &p->table, o->values) : code;
}

/// Add the rows of the step that is reached. Returns an exit code.
static int add_probe_rows(const kg_cli_march *r)
{
  const own *const o = r->own;
  int code = KG_EXIT_SOLVED;
  for (probe *p = o->probes; p < o->probes + o->n_probes && code == KG_EXIT_SOLVED; ++p)
    if (r->marched.steps % p->every == 0) code = add_probe_row(r, p);
  return code;
}

static void note_outside(kg_cli_march *r, const probe *p)
{
  char *note;
  if (kedge_probe_outside(p->of) > 0 &&
      asprintf(&note, "%s: %lld of %lld points lie outside of the mesh and have no values",
               p->table.path, (long long)kedge_probe_outside(p->of),
               (long long)kedge_probe_count(p->of)) >= 0)
    kg_notes_add(&r->notes, note);
}

/// Returns an exit code.
static int begin_probes(kg_cli_march *r)
{
  own *const o = r->own;
  kg_cli_beside *const b = &r->task->beside;
  int64_t most = 0;
  int code = KG_EXIT_SOLVED;
  o->probes = calloc((size_t)b->n_probes + 1, sizeof *o->probes);
  if (!o->probes) return kg_cli_no_memory();
  for (; o->n_probes < b->n_probes && code == KG_EXIT_SOLVED; ++o->n_probes) {
    kg_cli_beside_file *const file = &b->files[o->n_probes];
    probe *const p = &o->probes[o->n_probes];
    *p = (probe){.of = file->probe,
                 .every = kedge_problem_probe_every(r->task->problem, o->n_probes),
                 .table.path = file->path};
    p->table.every = p->every;
    code = open_probe(r, p);
    file->written = code == KG_EXIT_SOLVED;
    note_outside(r, p);
    if (kedge_probe_count(p->of) > most) most = kedge_probe_count(p->of);
  }
  o->values = calloc(2 + (size_t)most * KEDGE_WAVE_FIELDS_MAX, sizeof *o->values);
  if (!o->values && code == KG_EXIT_SOLVED) code = kg_cli_no_memory();
  // Where the beginning is an output, a look at it adds the rows.
  const bool adds = r->resumed == 0 && !kedge_march_is_output(r->march);
  return code == KG_EXIT_SOLVED && adds ? add_probe_rows(r) : code;
}

/// Note that the plain kernel serves, and why.
static void note_kernel(kg_cli_march *r)
{
  static const char plain[] = "plain: ";
  const char *const kernel = ((const own *)r->own)->report.kernel;
  char *note;
  if (strncmp(kernel, plain, sizeof plain - 1) != 0) return;
  if (asprintf(&note, "stages take the plain kernel of the GPU, which is slower: %s",
               kernel + sizeof plain - 1) >= 0)
    kg_notes_add(&r->notes, note);
}

/// Say before the first step what may be wrong, as a run may take hours.
static void warn(const kg_cli_march *r, const char *note)
{
  if (r->task->from->quiet) return;
  if (r->task->line) kg_progress_clear(r->task->line);
  fprintf(stderr, "kedge: note: %s\n", note);
}

static void warn_of_data(kg_cli_march *r)
{
  const char *const note = ((const own *)r->own)->report.note;
  if (!note[0]) return;
  warn(r, note);
  kg_notes_add(&r->notes, strdup(note));
}

/// Whether steps are longer than what is stable on every mesh.
static bool is_long(const kg_cli_march *r)
{
  return r->marched.step > ((const own *)r->own)->report.longest * (1.0 + 1e-9);
}

static void warn_of_step(const kg_cli_march *r)
{
  const double longest = ((const own *)r->own)->report.longest;
  char note[200];
  if (!is_long(r)) return;
  snprintf(note, sizeof note,
           "steps of %.4g are longer than %.4g, the longest that is stable on every mesh; leave "
           "step, steps and cfl out of [time], or set step <= %.4g",
           r->marched.step, longest, longest);
  warn(r, note);
}

static int begin(kg_cli_march *r)
{
  own *const o = r->own = calloc(1, sizeof *o);
  r->values = calloc(FIRST + KEDGE_WAVE_FIELDS_MAX, sizeof *r->values);
  if (!o || !r->values) return kg_cli_no_memory();
  o->report = (kedge_wave_report)KEDGE_WAVE_REPORT_INIT;
  const int code = measure(r);
  if (code != KG_EXIT_SOLVED) return code;
  note_kernel(r);
  warn_of_data(r);
  warn_of_step(r);
  return begin_probes(r);
}

static kg_cli_look wanted(const kg_cli_march *r)
{
  return ((const own *)r->own)->n_probes > 0 ? KG_CLI_LISTS : KG_CLI_PASSES;
}

/// Add the row of an output. Returns an exit code.
static int add_row(kg_cli_march *r)
{
  const kedge_wave_report *const w = &((const own *)r->own)->report;
  kg_table *const table = &r->task->beside.steps;
  char names[KEDGE_WAVE_FIELDS_MAX][40];
  const char *columns[FIRST + KEDGE_WAVE_FIELDS_MAX] = {"t", "step", "energy"};
  int n = FIRST;
  r->values[0] = r->marched.t;
  r->values[1] = (double)r->marched.steps;
  r->values[2] = w->energy;
  for (int f = 0; f < w->n_fields; ++f) {
    if (isnan(w->errors[f])) continue;
    snprintf(names[f], sizeof names[f], "error %s", w->fields[f]);
    columns[n] = names[f];
    r->values[n++] = w->errors[f];
  }
  const int code = table->is_open ? KG_EXIT_SOLVED : kg_cli_march_open(r, table, n, columns);
  return code == KG_EXIT_SOLVED ? kg_cli_march_add(r, table, r->values) : code;
}

/// Keep the note on energy that has grown, once.
static void note_energy(kg_cli_march *r)
{
  kedge_marched at = r->marched;
  kedge_march_report(r->march, &at);
  r->marched.grown_step = at.grown_step;
  r->marched.grown_t = at.grown_t;
  r->marched.converged = at.converged;
  if (at.grown_step == 0) return;
  at.steps = at.grown_step;
  at.t = at.grown_t;
  kg_notes_keep(&r->notes, &at, "the energy has grown by more than came in");
}

/// Keep the note on a step that is too long, once.
static void note_step(kg_cli_march *r)
{
  const double longest = ((const own *)r->own)->report.longest;
  char note[160];
  if (!is_long(r)) return;
  snprintf(note, sizeof note,
           "steps of %.4g are longer than %.4g, the longest that is stable on every mesh",
           r->marched.step, longest);
  kg_notes_keep(&r->notes, &r->marched, note);
}

static int look(kg_cli_march *r, kg_cli_look how)
{
  int code = how == KG_CLI_LOOKS ? KG_EXIT_SOLVED : add_probe_rows(r);
  if (how == KG_CLI_LISTS || code != KG_EXIT_SOLVED) return code;
  note_step(r);
  code = measure(r);
  if (code != KG_EXIT_SOLVED) return code;
  note_energy(r);
  return how == KG_CLI_WRITES && r->task->beside.table ? add_row(r) : code;
}

static kedge_status write_fields(void *user, const char *path)
{
  const kg_cli_march *const r = user;
  own *const o = r->own;
  const kedge_status status = kedge_march_write(r->march, path);
  if (status != KEDGE_OK)
    snprintf(o->output_error, sizeof o->output_error, "%s", kedge_context_error(r->task->ctx));
  return status;
}

/// A rate in 1e9 a second.
static double rate(double amount, double seconds)
{
  return seconds > 0.0 ? 1e-9 * amount / seconds : 0.0;
}

static void print_times(const kedge_wave_report *w)
{
  const kedge_stage_report *const stage = &w->stages[0];
  printf("speed        %.3g unknowns a second and stage, %.3g GB/s, %.3g GFlop/s\n",
         1e9 * rate((double)w->unknowns * (double)w->stages_done, w->step_seconds),
         rate(stage->bytes, stage->seconds), rate(stage->flops, stage->seconds));
  printf("times        ");
  for (int s = 0; s < w->n_stages; ++s)
    printf("%s%s %.4g s", s > 0 ? ", " : "", w->stages[s].name, w->stages[s].seconds);
  putchar('\n');
}

static void print_summary(const kg_cli_march *r)
{
  const kedge_wave_report *const w = &((const own *)r->own)->report;
  const kg_cli_task *const task = r->task;
  const kedge_marched *const m = &r->marched;
  char memory[16];
  printf("%s: %s, %lld element%s, order %d, %lld unknowns, %s precision\n",
         kg_cli_shown(task->from->file), w->system, (long long)w->elements,
         kg_cli_plural(w->elements), w->order, (long long)w->unknowns, w->precision);
  printf("backend %s on %s (%s)\n\n", w->backend, w->device, kedge_context_reason(task->ctx));
  printf("march        %s, %lld step%s of %.4g to t = %.9g of %.9g, %.4g s\n", m->scheme,
         (long long)m->steps, kg_cli_plural(m->steps), m->step, m->t, m->end, m->seconds);
  if (m->note) printf("note         %s\n", m->note);
  if (strcmp(w->kernel, "host") != 0) printf("kernel       %s\n", w->kernel);
  if (w->stages_done > 0) print_times(w);
  if (isfinite(w->energy))
    printf("energy       %.9g, at the beginning %.9g\n", w->energy, w->first_energy);
  else
    printf("energy       not finite, as fields are too large; at the beginning %.9g\n",
           w->first_energy);
  for (int f = 0, n = 0; f < w->n_fields; ++f)
    if (!isnan(w->errors[f]))
      printf("%-12s %s: L2 %.5e\n", n++ == 0 ? "errors" : "", w->fields[f], w->errors[f]);
  printf("memory       %s\n", kg_bytes_text((double)w->peak_device_bytes, memory));
  kg_cli_beside_print(&task->beside, NULL);
}

/// Say that what was marched is no wave, also where all else is quiet. Returns the exit code.
static int refuse_growth(const kg_cli_march *r)
{
  const double longest = ((const own *)r->own)->report.longest;
  const kedge_marched *const m = &r->marched;
  char step[100] = "";
  if (is_long(r))
    snprintf(step, sizeof step, ": leave step, steps and cfl out of [time], or set step <= %.4g",
             longest);
  fprintf(
      stderr,
      "kedge: not converged: at step %lld, t = %.9g, the energy had grown by more than came in%s\n",
      (long long)m->grown_step, m->grown_t, step);
  return KG_EXIT_NOT_CONVERGED;
}

static int deliver(kg_cli_march *r, int code)
{
  own *const o = r->own;
  kg_cli_task *const task = r->task;
  if (!o || o->report.system == NULL) return code;
  if (r->is_lost)
    (void)kedge_march_wave_report(r->march, &o->report);  // what is known all the same
  o->report.march = &r->marched;
  const char *const error = r->is_lost ? r->failure : o->output_error;
  o->report.output_error = task->output ? error : NULL;
  if (task->from->report)
    kg_cli_task_tell(task, kedge_wave_report_write(task->ctx, &o->report, task->from->report),
                     &code);
  if (r->is_lost) return code;
  if (task->line) kg_progress_clear(task->line);
  if (task->beside.picture && code == KG_EXIT_SOLVED)
    code = kg_cli_beside_draw(task->ctx, &task->beside, kg_series_last(&task->beside.outputs),
                              write_fields, r);
  if (!task->from->quiet) print_summary(r);
  return code == KG_EXIT_SOLVED && !r->marched.converged ? refuse_growth(r) : code;
}

static void end(kg_cli_march *r)
{
  own *const o = r->own;
  if (!o) return;
  for (int i = 0; i < o->n_probes; ++i) kg_table_close(&o->probes[i].table);
  free(o->probes);
  free(o->values);
  free(o);
}

const kg_cli_march_method kg_cli_march_waves = {.begin = begin,
                                                .wanted = wanted,
                                                .look = look,
                                                .write = write_fields,
                                                .deliver = deliver,
                                                .end = end};
