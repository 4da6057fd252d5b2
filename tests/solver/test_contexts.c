// Several contexts in turn and at once, and one context in several threads.
#include <pthread.h>
#include <unistd.h>

#include "backend.h"
#include "compare.h"
#include "support.h"

typedef struct job {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  const char *order;
  const char *path;  ///< of an output to write; NULL: none
  fields result;
} job;

/// No cmocka assertion in here but those that hold: it may run in a thread of its own.
static void *solve_once(void *user)
{
  job *j = user;
  kedge_solution *solution = solve(
      j->ctx, j->mesh,
      SETTINGS({"space", "order", j->order}, {"exact", "u", "sin(x)*y"},
               {"boundary default", "type", "dirichlet"}, {"boundary top", "type", "neumann"}));
  j->result = fields_of(j->ctx, solution);
  if (j->path) must(j->ctx, kedge_solution_write(solution, j->path));
  kedge_solution_destroy(solution);
  return NULL;
}

static void a_context_gives_the_same_bits_in_another_thread(void **state)
{
  (void)state;
  job here = {.ctx = open_backend(test_backend(), 2), .order = "3"};
  kedge_mesh *mesh;
  must(here.ctx, kedge_mesh_generate(here.ctx, "square 7", &mesh));
  here.mesh = mesh;
  job there = here;
  solve_once(&here);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, solve_once, &there), 0);
  pthread_join(thread, NULL);
  assert_same_bits(&there.result, &here.result);
  fields_free(&here.result);
  fields_free(&there.result);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(here.ctx);
}

/// The second GPU where there are two; else a second context of the same device.
static kedge_context *open_second(void)
{
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = test_backend();
  options.threads = 2;
  options.device = 1;
  kedge_context *ctx = NULL;
  if (kedge_context_create(&options, &ctx) == KEDGE_OK) return ctx;
  return open_backend(test_backend(), 2);
}

static void contexts_that_take_turns_do_not_disturb_each_other(void **state)
{
  (void)state;
  job jobs[2] = {{.ctx = open_backend(test_backend(), 2)}, {.ctx = open_second()}};
  kedge_mesh *mesh;
  must(jobs[0].ctx, kedge_mesh_generate(jobs[0].ctx, "square 7", &mesh));
  fields first = {0};
  for (int turn = 0; turn < 4; ++turn) {
    job *j = &jobs[turn % 2];
    j->mesh = mesh;
    j->order = "3";
    solve_once(j);
    if (turn == 0) {
      first = j->result;
      continue;
    }
    assert_same_bits(&j->result, &first);
    fields_free(&j->result);
  }
  fields_free(&first);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(jobs[0].ctx);  // the device of the other is the thread's
  kedge_context_destroy(jobs[1].ctx);
}

enum { AT_ONCE = 4, ROUNDS = 3 };

static void *solve_and_write(void *user)
{
  job *j = user;
  for (int round = 0; round < ROUNDS; ++round) {
    if (round > 0) fields_free(&j->result);
    solve_once(j);
  }
  return NULL;
}

/// The solves have two orders, whose kernels ask a GPU for different amounts of shared memory.
static void contexts_at_once_give_the_same_bits_and_write_their_files(void **state)
{
  (void)state;
  static const char *const orders[2] = {"3", "7"};
  job jobs[AT_ONCE] = {{0}};
  char paths[AT_ONCE][64];
  pthread_t threads[AT_ONCE];
  kedge_mesh *mesh;
  for (int i = 0; i < AT_ONCE; ++i) {
    snprintf(paths[i], sizeof paths[i], "contexts-%d-%d.hdf", (int)getpid(), i);
    jobs[i] = (job){.ctx = open_backend(test_backend(), 1 + i % 2),
                    .order = orders[i / 2 % 2],
                    .path = paths[i]};
  }
  must(jobs[0].ctx, kedge_mesh_generate(jobs[0].ctx, "square 7", &mesh));
  job alone[2];
  for (int k = 0; k < 2; ++k) {
    alone[k] = (job){.ctx = jobs[0].ctx, .mesh = mesh, .order = orders[k]};
    solve_once(&alone[k]);
  }
  for (int i = 0; i < AT_ONCE; ++i) {
    jobs[i].mesh = mesh;
    assert_int_equal(pthread_create(&threads[i], NULL, solve_and_write, &jobs[i]), 0);
  }
  for (int i = 0; i < AT_ONCE; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < AT_ONCE; ++i) {
    assert_same_bits(&jobs[i].result, &alone[i / 2 % 2].result);
    assert_int_equal(remove(paths[i]), 0);
    fields_free(&jobs[i].result);
  }
  for (int k = 0; k < 2; ++k) fields_free(&alone[k].result);
  kedge_mesh_destroy(mesh);
  for (int i = 0; i < AT_ONCE; ++i) kedge_context_destroy(jobs[i].ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_context_gives_the_same_bits_in_another_thread),
      cmocka_unit_test(contexts_that_take_turns_do_not_disturb_each_other),
      cmocka_unit_test(contexts_at_once_give_the_same_bits_and_write_their_files),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
