#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

kedge_problem *problem_of(kedge_context *ctx, const setting *settings)
{
  kedge_problem *problem = NULL;
  must(ctx, kedge_problem_create(ctx, &problem));
  for (const setting *s = settings; s->section; ++s)
    must(ctx, kedge_problem_set(problem, s->section, s->key, s->value));
  return problem;
}

kedge_solution *solve(kedge_context *ctx, const kedge_mesh *mesh, const setting *settings)
{
  kedge_problem *problem = problem_of(ctx, settings);
  kedge_solution *solution = NULL;
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  kedge_problem_destroy(problem);
  return solution;
}

void assert_noted_by_all(kedge_context *ctx, const kedge_mesh *mesh, const setting *settings,
                         const char *note)
{
  kedge_problem *problem = problem_of(ctx, settings);
  kedge_solution *solutions[2] = {NULL};
  kedge_solver *solver = NULL;
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  must(ctx, kedge_solver_solve(solver, NULL, &solutions[0]));
  must(ctx, kedge_solve_report(ctx, mesh, problem, &solutions[1]));
  for (int k = 0; k < 2; ++k) {
    kedge_report report = KEDGE_REPORT_INIT;
    must(ctx, kedge_solution_report(solutions[k], &report));
    assert_string_equal(report.solver_note, note);
    kedge_solution_destroy(solutions[k]);
  }
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
}

kedge_report report_of(kedge_context *ctx, const kedge_mesh *mesh, const setting *settings)
{
  static struct {
    char text[1200];
  } notes[REPORTS];
  static int next;
  char *const note = notes[next].text;
  next = (next + 1) % REPORTS;
  kedge_problem *problem = problem_of(ctx, settings);
  kedge_solution *solution = NULL;
  must(ctx, (next % 2 ? kedge_solve_report : kedge_solve)(ctx, mesh, problem, &solution));
  kedge_problem_destroy(problem);
  kedge_report report = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &report);
  assert_true(strlen(report.solver_note) < sizeof notes->text);
  report.solver_note = strcpy(note, report.solver_note);
  kedge_solution_destroy(solution);
  return report;
}

kedge_report report_on(kedge_context *ctx, const char *generate, const setting *settings)
{
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, generate, &mesh));
  const kedge_report report = report_of(ctx, mesh, settings);
  kedge_mesh_destroy(mesh);
  return report;
}

kedge_report converged_on(kedge_context *ctx, const char *generate, const setting *settings)
{
  const kedge_report report = report_on(ctx, generate, settings);
  assert_true(report.converged);
  return report;
}

kedge_mesh *square_mesh(kedge_context *ctx, int n)
{
  char words[32];
  kedge_mesh *mesh;
  snprintf(words, sizeof words, "square %d", n);
  must(ctx, kedge_mesh_generate(ctx, words, &mesh));
  return mesh;
}

const char *refusal_of(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                       kedge_status expected)
{
  kedge_solution *solution = (kedge_solution *)&expected;
  assert_int_equal(kedge_solve(ctx, mesh, problem, &solution), expected);
  assert_null(solution);
  return kedge_context_error(ctx);
}

bool be_patient(void *user, const kedge_progress *progress)
{
  (void)progress;
  patience *p = user;
  return ++p->calls < p->most;
}

fields fields_of(kedge_context *ctx, const kedge_solution *solution)
{
  fields f;
  kedge_report r = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &r);
  for (int k = 0; k < KEDGE_FIELD_COUNT_PLANE; ++k) {
    const int order = r.order + (k == KEDGE_FIELD_U_STAR);
    int64_t *offsets = malloc(((size_t)r.elements + 1) * sizeof *offsets);
    assert_non_null(offsets);
    must(ctx, kedge_solution_offsets(solution, order, offsets));
    f.n[k] = (size_t)offsets[r.elements];
    free(offsets);
    f.values[k] = malloc(f.n[k] * sizeof(double));
    assert_non_null(f.values[k]);
    must(ctx, kedge_solution_values(solution, (kedge_field)k, order, f.values[k]));
  }
  f.n[FIELD_TRACE] = (size_t)r.edges * (size_t)(r.order + 1);
  f.values[FIELD_TRACE] = malloc(f.n[FIELD_TRACE] * sizeof(double));
  assert_non_null(f.values[FIELD_TRACE]);
  must(ctx, kedge_solution_trace(solution, NULL, f.values[FIELD_TRACE]));
  return f;
}

void fields_free(fields *f)
{
  for (int k = 0; k < FIELDS; ++k) free(f->values[k]);
}

double fields_distance(const fields *a, const fields *b)
{
  double most = 0.0;
  for (int k = 0; k < KEDGE_FIELD_COUNT_PLANE; ++k) {
    assert_int_equal(a->n[k], b->n[k]);
    const double d = distance(a->n[k], a->values[k], b->values[k]);
    if (!(d <= most)) most = d;
  }
  return most;
}

void assert_same_bits(const fields *a, const fields *b)
{
  for (int k = 0; k < FIELDS; ++k) {
    assert_int_equal(a->n[k], b->n[k]);
    assert_memory_equal(a->values[k], b->values[k], a->n[k] * sizeof(double));
  }
}
