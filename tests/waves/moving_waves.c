#include "moving_waves.h"

#include <string.h>

kedge_problem *waves_problem(kedge_context *ctx, const setting *settings)
{
  kedge_problem *const problem = problem_of(ctx, settings);
  bool named = false;
  for (const setting *s = settings; s->section; ++s)
    named = named || strcmp(s->key, "precision") == 0;
  if (!named) must(ctx, kedge_problem_set(problem, "solver", "precision", "double"));
  return problem;
}

waves waves_before(const setting *settings)
{
  waves w = {.ctx = open_backend(test_backend(), 1)};
  w.problem = waves_problem(w.ctx, settings);
  return w;
}

void waves_begin(waves *w)
{
  must(w->ctx, kedge_problem_mesh(w->problem, &w->mesh));
  must(w->ctx, kedge_march_create(w->ctx, w->mesh, w->problem, &w->march));
}

waves waves_with(const setting *settings)
{
  waves w = waves_before(settings);
  waves_begin(&w);
  return w;
}

waves waves_of(const char *generate, const char *order, const setting *settings)
{
  waves w = waves_before(settings);
  must(w.ctx, kedge_problem_set(w.problem, "mesh", "generate", generate));
  must(w.ctx, kedge_problem_set(w.problem, "space", "order", order));
  waves_begin(&w);
  return w;
}

void waves_free(waves *w)
{
  kedge_march_destroy(w->march);
  kedge_problem_destroy(w->problem);
  kedge_mesh_destroy(w->mesh);
  kedge_context_destroy(w->ctx);
}

void waves_on(const waves *w)
{
  while (!kedge_march_ended(w->march)) must(w->ctx, kedge_march_step(w->march));
}

double waves_error(const waves *w, const char *field)
{
  double error;
  must(w->ctx, kedge_march_error(w->march, field, &error));
  return error;
}

double waves_energy(const waves *w)
{
  double energy;
  must(w->ctx, kedge_march_energy(w->march, &energy));
  return energy;
}

int64_t waves_steps(const waves *w)
{
  kedge_marched marched = KEDGE_MARCHED_INIT;
  must(w->ctx, kedge_march_report(w->march, &marched));
  return marched.steps;
}

void assert_digits(double value, double expected)
{
  if (!(fabs(value - expected) <= 6e-6 * fabs(expected)))
    fail_msg("%.6e, not %.5e", value, expected);
}

void assert_table(const setting *settings, int n, const row *table)
{
  for (int i = 0; i < n; ++i) {
    // Shadow runs the code of the host, so that small meshes show what it does.
    if (test_backend() == KEDGE_BACKEND_SHADOW && strcmp(table[i].mesh, "cube 4") == 0) continue;
    waves w = waves_of(table[i].mesh, table[i].order, settings);
    waves_on(&w);
    if (table[i].steps > 0) assert_int_equal(waves_steps(&w), table[i].steps);
    assert_digits(waves_error(&w, NULL), table[i].error);
    waves_free(&w);
  }
}

void assert_stable(const char *const *mesh, int order, int steps, const setting *settings)
{
  const char text[2] = {(char)('0' + order), '\0'};
  waves w = waves_before(settings);
  must(w.ctx, kedge_problem_set(w.problem, "mesh", "generate", mesh[0]));
  must(w.ctx, kedge_problem_set(w.problem, "mesh", "map", mesh[1]));
  must(w.ctx, kedge_problem_set(w.problem, "space", "order", text));
  waves_begin(&w);
  const double first = waves_energy(&w);
  assert_true(first > 0.0);
  for (int k = 1; k <= steps; ++k) {
    must(w.ctx, kedge_march_step(w.march));
    if (k % (steps / 20) > 0) continue;
    const double energy = waves_energy(&w);
    if (!(energy <= first * (1.0 + 1e-11)))
      fail_msg("%s, map %s, order %d, step %d: the energy is %.17g, and was %.17g", mesh[0],
               mesh[1], order, k, energy, first);
  }
  waves_free(&w);
}

double waves_error_of(const char *generate, const char *order, const setting *settings)
{
  waves w = waves_of(generate, order, settings);
  waves_on(&w);
  const double error = waves_error(&w, NULL);
  waves_free(&w);
  return error;
}
