// Waves: what is made of a step is asked of the state, field by field.
#include <kedge/waves.h>
#include <stdlib.h>
#include <string.h>

#include "cli/march.h"

enum { FIELDS = 8, FIRST = 3 };  ///< of any system, at most; columns before those of errors

typedef struct own {
  double first_energy, energy;  ///< at the beginning, and at the last output
  int n_errors;
  const char *names[FIELDS];  ///< [n_errors] fields that have an exact solution
  double errors[FIELDS];
} own;

/// Energy and errors of the present state. Returns an exit code.
static int measure(kg_cli_march *r)
{
  own *const o = r->own;
  kedge_status status = kedge_march_energy(r->march, &o->energy);
  for (int i = 0; i < o->n_errors && status == KEDGE_OK; ++i)
    status = kedge_march_error(r->march, o->names[i], &o->errors[i]);
  return status == KEDGE_OK ? KG_EXIT_SOLVED : kg_cli_task_fail(r->task, status, false);
}

static int begin(kg_cli_march *r)
{
  double error;
  const char *name;
  own *const o = r->own = calloc(1, sizeof *o);
  r->values = calloc(FIRST + FIELDS, sizeof *r->values);
  if (!o || !r->values) return kg_cli_no_memory();
  for (int i = 0; i < FIELDS && (name = kedge_march_field(r->march, i)); ++i)
    if (kedge_march_error(r->march, name, &error) == KEDGE_OK) o->names[o->n_errors++] = name;
  const int code = measure(r);
  o->first_energy = o->energy;
  return code;
}

static kg_cli_look wanted(const kg_cli_march *r)
{
  (void)r;
  return KG_CLI_PASSES;
}

/// Add the row of an output. Returns an exit code.
static int add_row(kg_cli_march *r)
{
  const own *const o = r->own;
  kg_table *const table = &r->task->beside.steps;
  char names[FIELDS][40];
  const char *columns[FIRST + FIELDS] = {"t", "step", "energy"};
  r->values[0] = r->marched.t;
  r->values[1] = (double)r->marched.steps;
  r->values[2] = o->energy;
  for (int i = 0; i < o->n_errors; ++i) {
    snprintf(names[i], sizeof names[i], "error %s", o->names[i]);
    columns[FIRST + i] = names[i];
    r->values[FIRST + i] = o->errors[i];
  }
  const int code =
      table->is_open ? KG_EXIT_SOLVED : kg_cli_march_open(r, table, FIRST + o->n_errors, columns);
  return code == KG_EXIT_SOLVED ? kg_cli_march_add(r, table, r->values) : code;
}

static int look(kg_cli_march *r, kg_cli_look how)
{
  const int code = measure(r);
  const bool lists = code == KG_EXIT_SOLVED && how >= KG_CLI_LISTS && r->task->beside.table;
  return lists ? add_row(r) : code;
}

static kedge_status write_fields(void *user, const char *path)
{
  return kedge_march_write(((kg_cli_march *)user)->march, path);
}

static void print_summary(const kg_cli_march *r)
{
  const own *const o = r->own;
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
  if (m->note) printf("note         %s\n", m->note);
  printf("energy       %.9g, at the beginning %.9g\n", o->energy, o->first_energy);
  for (int i = 0; i < o->n_errors; ++i)
    printf("%-12s %s: L2 %.5e\n", i == 0 ? "errors" : "", o->names[i], o->errors[i]);
  kg_cli_beside_print(&task->beside, NULL);
}

static int deliver(kg_cli_march *r, int code)
{
  if (code != KG_EXIT_SOLVED) return code;
  if (r->task->line) kg_progress_clear(r->task->line);
  if (!r->task->from->quiet) print_summary(r);
  return code;
}

static void end(kg_cli_march *r)
{
  free(r->own);
}

const kg_cli_march_method kg_cli_march_waves = {.begin = begin,
                                                .wanted = wanted,
                                                .look = look,
                                                .write = write_fields,
                                                .deliver = deliver,
                                                .end = end};
