// Checkpoints of waves: what goes on from them, and how they are written.
#include "moving_waves.h"

#include <stdio.h>
#include <unistd.h>

#include "core/target.h"
#include "kedge/waves.h"
#include "wrap.h"

static size_t most_copied;  ///< bytes, at once, to the host

WRAP(kedge_status, kg_copy_out, kedge_context *ctx, void *host, const void *device, size_t bytes)
{
  if (bytes > most_copied) most_copied = bytes;
  return REAL(kg_copy_out)(ctx, host, device, bytes);
}

static int n_writes;

WRAP(kedge_status, kg_target_write, const kg_target *target, int descriptor, int64_t offset,
     int64_t bytes, const void *values)
{
  ++n_writes;
  return REAL(kg_target_write)(target, descriptor, offset, bytes, values);
}

/// Go on from a file in the march's place, and remove the file.
static void restore(waves *w, const char *file)
{
  kedge_march_destroy(w->march);
  must(w->ctx, kedge_march_restore(w->ctx, w->mesh, w->problem, file, &w->march));
  remove(file);
}

/// Saved before the energy is seen to have grown, between two looks at it, and behind that.
static void a_checkpoint_knows_where_the_energy_has_grown(void **state)
{
  static const int saved[] = {20, 40};
  char file[64];
  (void)state;
  snprintf(file, sizeof file, "/tmp/kedge_grown_%ld.march", (long)getpid());
  for (int i = 0; i < 2; ++i) {
    waves w = waves_of(
        "square 4", "3",
        SETTINGS({"equation", "system", "maxwell-tm"}, {"boundary default", "type", "conductor"},
                 {"initial", "Ez", "sin(pi*x)*sin(pi*y)"}, {"time", "end", "100"},
                 {"time", "step", "0.04"}));
    for (int k = 0; k < saved[i]; ++k) must(w.ctx, kedge_march_step(w.march));
    must(w.ctx, kedge_march_save(w.march, file));
    restore(&w, file);
    for (int k = saved[i]; k < 45; ++k) must(w.ctx, kedge_march_step(w.march));
    kedge_marched marched = KEDGE_MARCHED_INIT;
    must(w.ctx, kedge_march_report(w.march, &marched));
    assert_int_equal(marched.grown_step, 32);
    assert_at_most(fabs(marched.grown_t - 0.04 * 32), 1e-9);
    assert_false(marched.converged);
    waves_free(&w);
  }
}

static void a_checkpoint_goes_on_to_a_later_end(void **state)
{
  static const char *const ends[] = {"0.6", "1.2"}, *const steps[] = {"0.02", "auto"};
  char file[64];
  (void)state;
  snprintf(file, sizeof file, "/tmp/kedge_longer_%ld.march", (long)getpid());
  for (int i = 0; i < 4; ++i) {  // steps that are given, and others; before the end, and at it
    const setting *const settings =
        SETTINGS(CAVITY, {"time", "step", steps[i / 2]}, {"time", "end", ends[1]});
    waves whole = waves_of("square 4", "3", settings), w = waves_before(settings);
    must(w.ctx, kedge_problem_set(w.problem, "mesh", "generate", "square 4"));
    must(w.ctx, kedge_problem_set(w.problem, "space", "order", "3"));
    must(w.ctx, kedge_problem_set(w.problem, "time", "end", ends[0]));
    waves_begin(&w);
    for (int k = 0; i % 2 == 0 ? k < 5 : !kedge_march_ended(w.march); ++k)
      must(w.ctx, kedge_march_step(w.march));
    must(w.ctx, kedge_march_save(w.march, file));
    must(w.ctx, kedge_problem_set(w.problem, "time", "end", ends[1]));
    restore(&w, file);
    waves_on(&whole);
    waves_on(&w);
    assert_true(kedge_march_time(w.march) == 1.2);
    const double error = waves_error(&w, "Ez"), expected = waves_error(&whole, "Ez");
    if (i == 0)
      assert_true(error == expected);
    else
      assert_at_most(fabs(error - expected), 0.01 * expected);
    waves_free(&whole);
    waves_free(&w);
  }
}

static void a_checkpoint_takes_no_copy_of_the_state(void **state)
{
  char file[64];
  (void)state;
  snprintf(file, sizeof file, "/tmp/kedge_runs_%ld.march", (long)getpid());
  waves w =
      waves_of("square 64", "4",
               SETTINGS({"equation", "system", "acoustics"}, {"boundary default", "type", "wall"},
                        {"initial", "p", "x*y"}, {"time", "end", "1"}));
  const size_t bytes = (size_t)(3 * 15 * 2 * 64 * 64) * sizeof(double);
  for (int k = 0; k < 2; ++k) must(w.ctx, kedge_march_step(w.march));
  const double energy = waves_energy(&w);
  most_copied = 0;
  must(w.ctx, kedge_march_save(w.march, file));
  assert_in_range(most_copied, 1, bytes - 1);
  for (int k = 0; k < 2; ++k) must(w.ctx, kedge_march_step(w.march));
  const double later = waves_energy(&w);
  restore(&w, file);
  assert_true(waves_energy(&w) == energy);
  for (int k = 0; k < 2; ++k) must(w.ctx, kedge_march_step(w.march));
  assert_true(waves_energy(&w) == later && later != energy);
  waves_free(&w);
}

/// There are 100,000 of them, more than a run of the file has.
static void times_of_outputs_are_written_in_runs(void **state)
{
  double t[2];
  char file[64];
  (void)state;
  snprintf(file, sizeof file, "/tmp/kedge_times_%ld.march", (long)getpid());
  waves w = waves_of("square 2", "1",
                     SETTINGS(CAVITY, {"time", "end", "1"}, {"output", "every", "1e-5"}));
  for (int k = 0; k < 2; ++k) must(w.ctx, kedge_march_step(w.march));
  n_writes = 0;
  must(w.ctx, kedge_march_save(w.march, file));
  assert_in_range(n_writes, 1, 10);
  restore(&w, file);
  for (int k = 0; k < 2; ++k) must(w.ctx, kedge_march_step(w.march));
  assert_int_equal(kedge_march_outputs(w.march, 2, t), 4);
  assert_true(t[0] == 1e-5 && t[1] == 2e-5 && kedge_march_time(w.march) == 4e-5);
  waves_free(&w);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_checkpoint_knows_where_the_energy_has_grown),
      cmocka_unit_test(a_checkpoint_goes_on_to_a_later_end),
      cmocka_unit_test(a_checkpoint_takes_no_copy_of_the_state),
      cmocka_unit_test(times_of_outputs_are_written_in_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
