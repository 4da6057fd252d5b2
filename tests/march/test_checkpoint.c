// Marches that are saved and go on from the file: bit for bit as if they had not ended. What is
// refused of files.
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "mesh/mesh.h"
#include "moving.h"

static char folder[] = "/tmp/kedge_test_XXXXXX";
static char path[64];  ///< of a file there

static int make_folder(void **state)
{
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/m.march", folder);
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  return rmdir(folder);  // fails when a test has left a file
}

#define HEATED                                                                                     \
  {"mesh", "generate", "square 5"}, {"space", "order", "2"}, {"equation", "source", "x*sin(4*t)"}, \
      {"initial", "u", "cos(x+2*y)"}, {"boundary left", "type", "dirichlet"},                      \
      {"boundary left", "value", "1+t"}, {"boundary default", "type", "robin"},                    \
      {"boundary default", "coefficient", "2"},                                                    \
  {                                                                                                \
    "boundary default", "value", "0"                                                               \
  }

enum { CASES = 9 };

/// Problems with all that a march may have: events, coefficients that move, shapes, conditions.
static const setting *case_of(int i)
{
  static const setting cases[CASES][20] = {
      {HEATED},
      {HEATED, {"equation", "mass", "1+x*t"}, {"equation", "diffusion", "1+t"}},
      {HEATED, {"time", "events", "0.11, 0.25"}, {"output", "every", "0.1"}},
      {HEATED, {"solver", "preconditioner", "multigrid"}, {"solver", "precision", "mixed"}},
      {HEATED, {"mesh", "generate", "mixed 4"}, {"equation", "mass", "2+x"}},
      {HEATED, {"equation", "diffusion", "1+x*y"}, {"boundary left", "type", "neumann"}},
      {HEATED, {"mesh", "map", "x+0.05*sin(2*pi*x)*sin(2*pi*y), y"}, {"mesh", "geometry", "2"}},
      {{"mesh", "generate", "cube 2"},
       {"space", "order", "2"},
       {"equation", "source", "x*t"},
       {"initial", "u", "x*z"},
       {"boundary default", "type", "dirichlet"},
       {"boundary default", "value", "y*t"}},
      {{"mesh", "generate", "square 12"},
       {"space", "order", "3"},
       {"initial", "u", "x"},
       {"boundary left", "type", "dirichlet"},
       {"boundary left", "value", "0"},
       {"boundary default", "type", "neumann"},
       {"boundary default", "value", "t"}},
  };
  return cases[i];
}

/// Begin where another march was saved, in a context, with a mesh and a problem of its own.
static moving resumed(const setting *settings, const char *scheme, double end, int steps)
{
  moving m = moving_of(settings, scheme, end, steps);
  kedge_march_destroy(m.march);
  must(m.ctx, kedge_march_restore(m.ctx, m.mesh, m.problem, path, &m.march));
  return m;
}

static fields fields_now(const moving *m)
{
  const kedge_solution *solution;
  must(m->ctx, kedge_march_solution(m->march, &solution));
  return fields_of(m->ctx, solution);
}

/// A field at nodes. The caller frees it.
static double *values_in_space(const moving *m, kedge_field field)
{
  enum { NODES = 20 };  // of a tetrahedron of order 3
  const kedge_solution *solution;
  double *const values = calloc((size_t)m->mesh->n_elements * NODES, sizeof *values);
  assert_non_null(values);
  must(m->ctx, kedge_march_solution(m->march, &solution));
  must(m->ctx, kedge_solution_values(solution, field, 3, values));
  return values;
}

static void assert_same_in_space(const moving *a, const moving *b)
{
  for (int k = 0; k < KEDGE_FIELD_COUNT; ++k) {
    double *const of_a = values_in_space(a, (kedge_field)k);
    double *const of_b = values_in_space(b, (kedge_field)k);
    assert_memory_equal(of_a, of_b, (size_t)a->mesh->n_elements * 20 * sizeof *of_a);
    free(of_a);
    free(of_b);
  }
}

static void assert_same(const moving *a, const moving *b)
{
  if (a->mesh->dimension == 3) {
    assert_same_in_space(a, b);
    return;
  }
  fields of_a = fields_now(a), of_b = fields_now(b);
  assert_same_bits(&of_a, &of_b);
  fields_free(&of_a);
  fields_free(&of_b);
}

static void assert_same_counts(const moving *a, const moving *b)
{
  kedge_marched of_a = KEDGE_MARCHED_INIT, of_b = KEDGE_MARCHED_INIT;
  must(a->ctx, kedge_march_report(a->march, &of_a));
  must(b->ctx, kedge_march_report(b->march, &of_b));
  assert_true(of_a.t == of_b.t && of_a.step == of_b.step && of_a.converged == of_b.converged);
  assert_int_equal(of_a.steps, of_b.steps);
  assert_int_equal(of_a.solves, of_b.solves);
  assert_int_equal(of_a.iterations, of_b.iterations);
}

/// Save after some steps, go on from there in another march, and compare both at each step.
static void assert_goes_on(const setting *settings, const char *scheme, int steps, int saved_after)
{
  moving m = moving_of(settings, scheme, 0.4, steps);
  for (int i = 0; i < saved_after; ++i) must(m.ctx, kedge_march_step(m.march));
  must(m.ctx, kedge_march_save(m.march, path));
  moving other = resumed(settings, scheme, 0.4, steps);
  assert_true(kedge_march_time(other.march) == kedge_march_time(m.march));
  if (saved_after > 0) assert_same(&m, &other);
  assert_same_counts(&m, &other);
  while (!kedge_march_ended(m.march)) {
    must(m.ctx, kedge_march_step(m.march));
    must(other.ctx, kedge_march_step(other.march));
    assert_int_equal(kedge_march_is_output(m.march), kedge_march_is_output(other.march));
    assert_same_counts(&m, &other);
  }
  assert_true(kedge_march_ended(other.march));
  assert_same(&m, &other);
  unlink(path);
  moving_free(&m);
  moving_free(&other);
}

static void what_was_saved_goes_on_bit_for_bit(void **state)
{
  static const char *const schemes[] = {"trbdf2", "esdirk4", "euler"};
  (void)state;
  for (int i = 0; i < CASES; ++i)
    for (int k = 0; k < 3; ++k)
      if (i % 3 == k || (i < 2 && !test_is_quick()))
        assert_goes_on(case_of(i), schemes[k], 5, 1 + i % 3);
}

static void so_does_what_was_saved_before_the_first_step_or_at_the_end(void **state)
{
  (void)state;
  assert_goes_on(case_of(2), "trbdf2", 4, 0);
  assert_goes_on(case_of(2), "esdirk4", 4, 2);  // at an event
  assert_goes_on(case_of(0), "trbdf2", 4, 4);
  assert_goes_on(case_of(1), "esdirk4", 3, 3);
}

static void so_do_steps_that_adapt_and_a_march_that_became_steady(void **state)
{
  (void)state;
  for (int steps = 1; steps < 40; steps += 4) {
    moving m = adapting_of(case_of(2), 0.4, 1e-5);
    for (int i = 0; i < steps && !kedge_march_ended(m.march); ++i)
      must(m.ctx, kedge_march_step(m.march));
    const bool is_over = kedge_march_ended(m.march);
    must(m.ctx, kedge_march_save(m.march, path));
    moving other = adapting_of(case_of(2), 0.4, 1e-5);
    kedge_march_destroy(other.march);
    must(other.ctx, kedge_march_restore(other.ctx, other.mesh, other.problem, path, &other.march));
    march_on(&m);
    march_on(&other);
    assert_same(&m, &other);
    assert_same_counts(&m, &other);
    assert_int_equal(marched_now(&m).rejected, marched_now(&other).rejected);
    unlink(path);
    moving_free(&m);
    moving_free(&other);
    if (is_over) break;
  }
  const setting *const steady =
      SETTINGS(HEATED, {"time", "until", "steady"}, {"time", "steady_tolerance", "1e3"});
  moving m = moving_of(steady, "trbdf2", 0.4, 4);
  must(m.ctx, kedge_march_step(m.march));
  must(m.ctx, kedge_march_save(m.march, path));
  moving other = resumed(steady, "trbdf2", 0.4, 4);
  assert_true(kedge_march_ended(other.march) && marched_now(&other).is_steady);
  assert_true(marched_now(&other).change == marched_now(&m).change);
  assert_same(&m, &other);
  unlink(path);
  moving_free(&m);
  moving_free(&other);
}

static void times_that_were_asked_for_are_hit_after_it(void **state)
{
  (void)state;
  moving m = moving_of(case_of(0), "trbdf2", 0.4, 4);
  must(m.ctx, kedge_march_hit(m.march, 0.33));
  must(m.ctx, kedge_march_step(m.march));
  must(m.ctx, kedge_march_save(m.march, path));
  moving other = resumed(case_of(0), "trbdf2", 0.4, 4);
  bool hit = false;
  while (!kedge_march_ended(other.march)) {
    must(m.ctx, kedge_march_step(m.march));
    must(other.ctx, kedge_march_step(other.march));
    hit = hit || kedge_march_time(other.march) == 0.33;
  }
  assert_true(hit);
  assert_same(&m, &other);
  unlink(path);
  moving_free(&m);
  moving_free(&other);
}

static void a_march_goes_on_twice(void **state)
{
  (void)state;
  moving m = moving_of(case_of(3), "trbdf2", 0.4, 6);
  moving other = moving_of(case_of(3), "trbdf2", 0.4, 6);
  while (!kedge_march_ended(m.march)) {
    must(m.ctx, kedge_march_step(m.march));
    must(other.ctx, kedge_march_step(other.march));
    must(other.ctx, kedge_march_save(other.march, path));
    moving_free(&other);
    other = resumed(case_of(3), "trbdf2", 0.4, 6);
  }
  assert_same(&m, &other);
  unlink(path);
  moving_free(&m);
  moving_free(&other);
}

/// A march with settings of its [time].
static moving timed(const setting *settings, const setting *time)
{
  moving m = {
      .ctx = open_backend(test_backend(), moving_threads > 0 ? moving_threads : test_threads())};
  m.problem = problem_of(m.ctx, settings);
  for (const setting *s = time; s->section; ++s)
    must(m.ctx, kedge_problem_set(m.problem, s->section, s->key, s->value));
  must(m.ctx, kedge_problem_mesh(m.problem, &m.mesh));
  must(m.ctx, kedge_march_create(m.ctx, m.mesh, m.problem, &m.march));
  return m;
}

/// Save after some steps, and go on from there to another end.
static moving moved(const setting *settings, const setting *before, const setting *behind,
                    int saved_after)
{
  moving m = timed(settings, before), other = timed(settings, behind);
  for (int i = 0; i < saved_after; ++i) must(m.ctx, kedge_march_step(m.march));
  must(m.ctx, kedge_march_save(m.march, path));
  kedge_march_destroy(other.march);
  must(other.ctx, kedge_march_restore(other.ctx, other.mesh, other.problem, path, &other.march));
  unlink(path);
  assert_true(kedge_march_time(other.march) == kedge_march_time(m.march));
  moving_free(&m);
  return other;
}

static void to_another_end_it_goes_on_bit_for_bit_where_steps_do_not_depend_on_it(void **state)
{
  static const setting given[][2][3] = {{{{"time", "end", "0.4"}, {"time", "step", "0.1"}},
                                         {{"time", "end", "0.6"}, {"time", "step", "0.1"}}},
                                        {{{"time", "end", "0.4"}, {"time", "steps", "4"}},
                                         {{"time", "end", "0.8"}, {"time", "steps", "8"}}},
                                        {{{"time", "end", "0.9"}, {"time", "step", "0.1"}},
                                         {{"time", "end", "0.37"}, {"time", "step", "0.1"}}}};
  (void)state;
  // The third case has events and outputs; steps to 0.2 are planned there, and stay.
  for (int i = 0; i < 3; ++i) {
    const setting *const settings = case_of(i < 2 ? 0 : 2);
    moving whole = timed(settings, given[i][1]);
    moving other = moved(settings, given[i][0], given[i][1], 2);
    march_on(&whole);
    march_on(&other);
    assert_true(kedge_march_time(other.march) == kedge_march_time(whole.march));
    assert_true(marched_now(&other).end == marched_now(&whole).end);
    assert_same(&whole, &other);
    assert_same_counts(&whole, &other);
    moving_free(&whole);
    moving_free(&other);
  }
}

static void a_march_that_had_ended_or_whose_steps_the_end_changes_goes_on_to_another_end_too(
    void **state)
{
  const setting *const before[] = {SETTINGS({"time", "end", "0.4"}, {"time", "step", "0.1"}),
                                   SETTINGS({"time", "end", "0.4"}, {"time", "step", "0.03"}),
                                   SETTINGS({"time", "end", "0.4"}, {"time", "tolerance", "1e-4"}),
                                   SETTINGS({"time", "end", "0.4"}, {"time", "tolerance", "1e-4"})};
  const setting *const behind[] = {
      SETTINGS({"time", "end", "0.75"}, {"time", "step", "0.1"}),
      SETTINGS({"time", "end", "0.75"}, {"time", "step", "0.03"}),
      SETTINGS({"time", "end", "0.75"}, {"time", "tolerance", "1e-4"}),
      SETTINGS({"time", "end", "0.75"}, {"time", "tolerance", "1e-4"})};
  static const int saved_after[] = {4, 3, 2, -1};
  (void)state;
  for (int i = 0; i < 4; ++i) {
    moving whole = timed(case_of(0), behind[i]), short_one = timed(case_of(0), before[i]);
    march_on(&short_one);
    const int64_t all = marched_now(&short_one).steps;
    moving_free(&short_one);
    moving other =
        moved(case_of(0), before[i], behind[i], saved_after[i] < 0 ? (int)all : saved_after[i]);
    const int64_t done = marched_now(&other).steps;
    assert_false(kedge_march_ended(other.march));
    march_on(&whole);
    march_on(&other);
    assert_true(kedge_march_time(other.march) == 0.75);
    assert_true(marched_now(&other).steps > done);
    fields a = fields_now(&whole), b = fields_now(&other);
    assert_at_most(fields_distance(&a, &b), 1e-3);
    fields_free(&a);
    fields_free(&b);
    moving_free(&whole);
    moving_free(&other);
  }
}

static void an_end_that_was_an_output_stays_one_and_times_asked_for_are_hit(void **state)
{
  const setting *const before = SETTINGS({"time", "end", "0.25"}, {"time", "step", "0.05"});
  const setting *const behind = SETTINGS({"time", "end", "0.4"}, {"time", "step", "0.05"});
  const setting *const settings = SETTINGS(HEATED, {"output", "every", "0.1"});
  double t[5];
  (void)state;
  moving m = moved(settings, before, behind, 5);  // at the end
  march_on(&m);
  assert_int_equal(kedge_march_outputs(m.march, 5, t), 5);
  assert_true(t[1] == 0.2 && t[2] == 0.25 && t[3] == 0.3 && t[4] == 0.4);
  moving_free(&m);
  m = moved(settings, before, behind, 3);  // the end is none of the times then
  march_on(&m);
  assert_int_equal(kedge_march_outputs(m.march, 5, t), 4);
  assert_true(t[1] == 0.2 && t[2] == 0.3 && t[3] == 0.4);
  moving_free(&m);
  m = timed(settings, before);
  must(m.ctx, kedge_march_hit(m.march, 0.22));
  must(m.ctx, kedge_march_save(m.march, path));
  must(m.ctx, kedge_problem_set(m.problem, "time", "end", "0.4"));
  kedge_march_destroy(m.march);
  must(m.ctx, kedge_march_restore(m.ctx, m.mesh, m.problem, path, &m.march));
  bool hit = false;
  while (!kedge_march_ended(m.march)) {
    must(m.ctx, kedge_march_step(m.march));
    hit = hit || kedge_march_time(m.march) == 0.22;
  }
  assert_true(hit);
  unlink(path);
  moving_free(&m);
}

static bool have_enough(void *user, const kedge_progress *progress)
{
  (void)progress;
  return --*(int *)user > 0;
}

static void behind_a_cancelled_step_there_is_no_solution_and_the_march_goes_on(void **state)
{
  (void)state;
  moving m = moving_of(case_of(3), "trbdf2", 0.4, 4);
  int most = 5;
  must(m.ctx, kedge_march_step(m.march));
  kedge_context_set_progress(m.ctx, have_enough, &most);
  assert_int_equal(kedge_march_step(m.march), KEDGE_ERR_CANCELLED);
  kedge_context_set_progress(m.ctx, NULL, NULL);
  must(m.ctx, kedge_march_save(m.march, path));
  moving other = resumed(case_of(3), "trbdf2", 0.4, 4);
  const kedge_solution *none;
  assert_int_equal(kedge_march_solution(other.march, &none), KEDGE_ERR_ARG);
  assert_null(none);
  march_on(&m);
  march_on(&other);
  const kedge_solution *one, *two;
  must(m.ctx, kedge_march_solution(m.march, &one));
  must(other.ctx, kedge_march_solution(other.march, &two));
  fields a = fields_of(m.ctx, one), b = fields_of(other.ctx, two);
  assert_at_most(fields_distance(&a, &b), 1e-8);  // iterations have begun elsewhere
  fields_free(&a);
  fields_free(&b);
  unlink(path);
  moving_free(&m);
  moving_free(&other);
}

/// What is computed is of no account to where results go.
static void the_names_of_outputs_may_be_others(void **state)
{
  (void)state;
  moving m = moving_of(case_of(0), "trbdf2", 0.4, 4);
  must(m.ctx, kedge_march_step(m.march));
  must(m.ctx, kedge_march_save(m.march, path));
  must(m.ctx, kedge_problem_set(m.problem, "output", "file", "x.vtkhdf"));
  must(m.ctx, kedge_problem_set(m.problem, "integral heat", "of", "u"));
  kedge_march *march;
  must(m.ctx, kedge_march_restore(m.ctx, m.mesh, m.problem, path, &march));
  kedge_march_destroy(march);
  unlink(path);
  moving_free(&m);
}

static void assert_not_restored(const moving *m, kedge_status expected, const char *sentence)
{
  kedge_march *march;
  char whole[400];
  const kedge_status status = kedge_march_restore(m->ctx, m->mesh, m->problem, path, &march);
  assert_int_equal(status, expected);
  assert_null(march);
  snprintf(whole, sizeof whole, sentence, path);
  if (strcmp(kedge_context_error(m->ctx), whole) != 0)
    fail_msg("'%s' is not '%s'", kedge_context_error(m->ctx), whole);
}

static void no_number(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = NAN;
}

static void another_array_is_refused_by_its_key(void **state)
{
  enum { ELEMENTS = 50 };
  double one[ELEMENTS], other[ELEMENTS];
  void *there;
  (void)state;
  for (int i = 0; i < ELEMENTS; ++i) one[i] = other[i] = 1.0 + i;
  moving m = moving_of(case_of(0), "trbdf2", 0.4, 4);
  kedge_march_destroy(m.march);
  must(m.ctx,
       kedge_problem_set_function(m.problem, "equation", "diffusion", kedge_by_element, one));
  must(m.ctx, kedge_march_create(m.ctx, m.mesh, m.problem, &m.march));
  must(m.ctx, kedge_march_step(m.march));
  must(m.ctx, kedge_march_save(m.march, path));
  must(m.ctx,
       kedge_problem_set_function(m.problem, "equation", "diffusion", kedge_by_element, other));
  kedge_march *march;
  must(m.ctx, kedge_march_restore(m.ctx, m.mesh, m.problem, path, &march));  // the same numbers
  kedge_march_destroy(march);
  kg_buffer on_device;
  must(m.ctx, kg_alloc(m.ctx, ELEMENTS, sizeof *one, &on_device));
  there = on_device.data;
  must(m.ctx, kg_copy_in(m.ctx, there, one, sizeof one));
  must(m.ctx, kedge_problem_set_function(m.problem, "equation", "diffusion",
                                         kedge_by_element_device, there));
  must(m.ctx, kedge_march_restore(m.ctx, m.mesh, m.problem, path, &march));  // elsewhere
  kedge_march_destroy(march);
  other[ELEMENTS - 1] *= 1.0 + 1e-15;
  assert_true(other[ELEMENTS - 1] != one[ELEMENTS - 1]);
  must(m.ctx, kg_copy_in(m.ctx, there, other, sizeof other));
  const char *const says =
      "the checkpoint %s is of another problem: [equation] diffusion is an "
      "array there, and another here";
  assert_not_restored(&m, KEDGE_ERR_INPUT, says);
  must(m.ctx,
       kedge_problem_set_function(m.problem, "equation", "diffusion", kedge_by_element, other));
  assert_not_restored(&m, KEDGE_ERR_INPUT, says);
  must(m.ctx, kedge_problem_set(m.problem, "equation", "diffusion", "2"));
  assert_not_restored(&m, KEDGE_ERR_INPUT,
                      "the checkpoint %s is of another problem: [equation] diffusion is an array "
                      "there, and = 2 here");
  kg_free(m.ctx, &on_device);
  unlink(path);
  moving_free(&m);
}

static void another_problem_is_refused_by_its_key(void **state)
{
  static const struct {
    setting other;
    const char *says;
  } of[] = {
      {{"equation", "diffusion", "2"},
       "the checkpoint %s is of another problem: [equation] diffusion is not set there, and = 2 "
       "here"},
      {{"equation", "source", "x*sin(5*t)"},
       "the checkpoint %s is of another problem: [equation] source = x*sin(4*t) there, and = "
       "x*sin(5*t) here"},
      {{"time", "steps", "5"},
       "the checkpoint %s has steps of 0.1, and [time] steps = 5 to end = 0.4 are of 0.08: give "
       "steps = 4 so that a step is 0.1 again"},
      {{"time", "end", "0.8"},
       "the checkpoint %s has steps of 0.1, and [time] steps = 4 to end = 0.8 are of 0.2: give "
       "steps = 8 so that a step is 0.1 again"},
      {{"time", "end", "0.55"},
       "the checkpoint %s has steps of 0.1, and [time] steps = 4 to end = 0.55 are of 0.1375: give "
       "an end that is a multiple of 0.1"},
      {{"time", "end", "0.1"},
       "the checkpoint %s has reached t = 0.1, and [time] end = 0.1: give a later end"},
      {{"time", "scheme", "euler"},
       "the checkpoint %s is of another problem: [time] scheme = trbdf2 there, and = euler here"},
      {{"space", "order", "1"},
       "the checkpoint %s is of another problem: [space] order = 2 there, and = 1 here"},
      {{"output", "every", "0.1"},
       "the checkpoint %s is of another problem: [output] every is not set there, and = 0.1 here"}};
  (void)state;
  moving m = moving_of(case_of(0), "trbdf2", 0.4, 4);
  must(m.ctx, kedge_march_step(m.march));
  must(m.ctx, kedge_march_save(m.march, path));
  for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
    moving other = moving_of(case_of(0), "trbdf2", 0.4, 4);
    must(other.ctx,
         kedge_problem_set(other.problem, of[i].other.section, of[i].other.key, of[i].other.value));
    assert_not_restored(&other, KEDGE_ERR_INPUT, of[i].says);
    moving_free(&other);
  }
  must(m.ctx, kedge_problem_set_function(m.problem, "equation", "source", no_number, NULL));
  assert_not_restored(&m, KEDGE_ERR_INPUT,
                      "the checkpoint %s is of another problem: [equation] source = x*sin(4*t) "
                      "there, and is a function here");
  unlink(path);
  moving_free(&m);
}

#define OF_A_FILE           \
  {                         \
    "region domain", "", "" \
  }
#define WITH_KEYS                     \
  {                                   \
    "region domain", "diffusion", "2" \
  }

static void a_file_and_calls_that_describe_one_problem_resume_each_other(void **state)
{
  const setting *const file = SETTINGS(HEATED, OF_A_FILE, WITH_KEYS);
  const setting *const calls = SETTINGS(HEATED, WITH_KEYS);
  (void)state;
  for (int i = 0; i < 2; ++i) {
    moving one = moving_of(i == 0 ? file : calls, "trbdf2", 0.4, 4);
    must(one.ctx, kedge_march_step(one.march));
    must(one.ctx, kedge_march_save(one.march, path));
    moving other = resumed(i == 0 ? calls : file, "trbdf2", 0.4, 4);
    march_on(&one);
    march_on(&other);
    assert_same(&one, &other);
    moving_free(&one);
    moving_free(&other);
  }
  unlink(path);
}

static void a_region_without_keys_is_compared(void **state)
{
  (void)state;
  moving m = moving_of(SETTINGS(HEATED, OF_A_FILE), "trbdf2", 0.4, 4);
  moving other = moving_of(case_of(0), "trbdf2", 0.4, 4);
  must(m.ctx, kedge_march_save(m.march, path));
  assert_not_restored(&other, KEDGE_ERR_INPUT,
                      "the checkpoint %s is of another problem: [region domain] is empty there, "
                      "and is not here");
  unlink(path);
  moving_free(&m);
  moving_free(&other);
}

static void another_mesh_is_refused(void **state)
{
  static const struct {
    const char *key, *value, *says;
  } of[] = {
      {"generate", "square 6",
       "the checkpoint %s is of another mesh: it has 50 elements, and this one 72"},
      {"map", "x+0.001*x*(1-x), y",
       "the checkpoint %s is of another mesh, of as many elements with other places or groups"}};
  (void)state;
  moving m = moving_of(case_of(0), "trbdf2", 0.4, 4);
  must(m.ctx, kedge_march_save(m.march, path));
  for (int i = 0; i < 2; ++i) {
    must(m.ctx, kedge_problem_set(m.problem, "mesh", of[i].key, of[i].value));
    kedge_mesh_destroy(m.mesh);
    kedge_march_destroy(m.march);
    must(m.ctx, kedge_problem_mesh(m.problem, &m.mesh));
    assert_not_restored(&m, KEDGE_ERR_INPUT, of[i].says);
    must(m.ctx, kedge_problem_set(m.problem, "mesh", "generate", "square 5"));
    m.march = NULL;
  }
  unlink(path);
  moving_free(&m);
}

static void put_file(const char *data, size_t bytes)
{
  FILE *const stream = fopen(path, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(data, 1, bytes, stream), bytes);
  assert_int_equal(fclose(stream), 0);
}

static void files_that_are_damaged_or_of_others_are_refused(void **state)
{
  (void)state;
  moving m = moving_of(case_of(0), "trbdf2", 0.4, 4);
  must(m.ctx, kedge_march_step(m.march));
  must(m.ctx, kedge_march_save(m.march, path));
  char *data;
  size_t bytes;
  must(m.ctx, kg_file_read(m.ctx, path, &data, &bytes));
  const char *const damaged = "the checkpoint %s is damaged: begin anew";
  const size_t lengths[] = {8, 100, 400, bytes - 8, bytes - 1};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    put_file(data, lengths[i]);
    assert_not_restored(&m, KEDGE_ERR_INPUT, damaged);
  }
  for (size_t at = 16; at < bytes; at += at < 400 ? 8 : 4001) {
    data[at] ^= 4;
    put_file(data, bytes);
    assert_not_restored(&m, KEDGE_ERR_INPUT, damaged);
    data[at] ^= 4;
  }
  data[8] = 1;
  put_file(data, bytes);
  assert_not_restored(&m, KEDGE_ERR_INPUT,
                      "the checkpoint %s has version 1 of the format, and this kedge reads 2: "
                      "resume it with the kedge that wrote it");
  put_file("[mesh]\n", 7);
  assert_not_restored(&m, KEDGE_ERR_INPUT, "%s is no checkpoint of kedge");
  unlink(path);
  assert_not_restored(&m, KEDGE_ERR_IO, "cannot open %s: No such file or directory");
  free(data);
  moving_free(&m);
}

static void assert_not_saved(const moving *m, const char *to, kedge_status expected,
                             const char *sentence)
{
  assert_int_equal(kedge_march_save(m->march, to), expected);
  if (!strstr(kedge_context_error(m->ctx), sentence))
    fail_msg("'%s' has not '%s'", kedge_context_error(m->ctx), sentence);
}

static void what_a_file_does_not_hold_is_not_saved(void **state)
{
  (void)state;
  moving m = moving_of(case_of(0), "trbdf2", 0.4, 4);
  kedge_march *march;
  assert_not_saved(&m, NULL, KEDGE_ERR_ARG, "path is NULL");
  assert_not_saved(&m, folder, KEDGE_ERR_IO, "cannot write the checkpoint");
  assert_not_saved(&m, "/dev/null", KEDGE_ERR_IO, "it must be a regular file");
  assert_int_equal(kedge_march_restore(m.ctx, m.mesh, m.problem, NULL, &march), KEDGE_ERR_ARG);
  must(m.ctx, kedge_march_update(m.march));
  assert_not_saved(&m, path, KEDGE_ERR_UNSUPPORTED, "have changed on the way");
  moving_free(&m);
  m = moving_of(case_of(0), "trbdf2", 0.4, 4);
  must(m.ctx, kedge_march_data(m.march, NULL));
  assert_not_saved(&m, path, KEDGE_ERR_UNSUPPORTED, "have changed on the way");
  moving_free(&m);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_saved_goes_on_bit_for_bit),
      cmocka_unit_test(so_does_what_was_saved_before_the_first_step_or_at_the_end),
      cmocka_unit_test(so_do_steps_that_adapt_and_a_march_that_became_steady),
      cmocka_unit_test(times_that_were_asked_for_are_hit_after_it),
      cmocka_unit_test(a_march_goes_on_twice),
      cmocka_unit_test(to_another_end_it_goes_on_bit_for_bit_where_steps_do_not_depend_on_it),
      cmocka_unit_test(
          a_march_that_had_ended_or_whose_steps_the_end_changes_goes_on_to_another_end_too),
      cmocka_unit_test(an_end_that_was_an_output_stays_one_and_times_asked_for_are_hit),
      cmocka_unit_test(behind_a_cancelled_step_there_is_no_solution_and_the_march_goes_on),
      cmocka_unit_test(the_names_of_outputs_may_be_others),
      cmocka_unit_test(another_problem_is_refused_by_its_key),
      cmocka_unit_test(a_file_and_calls_that_describe_one_problem_resume_each_other),
      cmocka_unit_test(a_region_without_keys_is_compared),
      cmocka_unit_test(another_array_is_refused_by_its_key),
      cmocka_unit_test(another_mesh_is_refused),
      cmocka_unit_test(files_that_are_damaged_or_of_others_are_refused),
      cmocka_unit_test(what_a_file_does_not_hold_is_not_saved),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
