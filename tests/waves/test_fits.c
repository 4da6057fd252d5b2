// Whether waves fit: the memory, the mesh, its groups, and settings in any order.
#include "moving_waves.h"

#include <string.h>

#include "kedge/waves.h"

#define WAVES                           \
  {"equation", "system", "maxwell-tm"}, \
  {                                     \
    "time", "end", "1"                  \
  }

static kedge_context *ctx;

static void assert_said(kedge_status status, kedge_status expected, const char *sentence)
{
  assert_int_equal(status, expected);
  if (!strstr(kedge_context_error(ctx), sentence))
    fail_msg("'%s' has not '%s'", kedge_context_error(ctx), sentence);
}

static int64_t one_megabyte(kedge_context *context)
{
  (void)context;
  return 1000000;
}

static void waves_that_are_predicted_not_to_fit_are_refused_before_they_allocate(void **state)
{
  (void)state;
  const kg_backend_table *const table = ctx->table;
  kg_backend_table small = *table;
  small.free_bytes = one_megabyte;
  kedge_problem *const problem = problem_of(
      ctx, SETTINGS(WAVES, {"mesh", "generate", "square 40"}, {"space", "order", "5"},
                    {"solver", "precision", "double"}, {"boundary default", "type", "absorbing"}));
  kedge_mesh *mesh;
  kedge_march *march;
  kedge_plan plan = KEDGE_PLAN_INIT;
  must(ctx, kedge_problem_mesh(problem, &mesh));
  ctx->table = &small;
  ctx->bytes_peak = 0;
  must(ctx, kedge_march_plan(ctx, mesh, problem, &plan));
  assert_int_equal(plan.free_bytes, 1000000);
  assert_false(plan.fits[plan.operator_kind]);
  assert_true(plan.needed_bytes[plan.operator_kind] > 3 * 8 * plan.wave_unknowns);
  assert_true(plan.wave_steps > 100 && plan.wave_step > 0.0);
  char *const planned = strdup(kedge_context_error(ctx));
  assert_said(kedge_march_create(ctx, mesh, problem, &march), KEDGE_ERR_MEMORY,
              " (3200 elements, order 5, precision double) and 0.00 GB are free; see `kedge plan`, "
              "and take precision = single, fewer elements or a lower order");
  assert_null(march);
  assert_string_equal(kedge_context_error(ctx), planned);
  assert_int_equal(ctx->bytes_peak, 0);
  free(planned);
  must(ctx, kedge_problem_set(problem, "equation", "permittivity", "x-2"));
  assert_said(kedge_march_plan(ctx, mesh, problem, &plan), KEDGE_ERR_INPUT,
              "permittivity must be positive");
  ctx->table = table;
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(problem);
}

static int64_t says_free;

static int64_t say_free(kedge_context *context)
{
  (void)context;
  return says_free;
}

/// A longer step than is stable has one state more, with which its waves are watched.
static void the_room_of_longer_steps_is_judged_before_it_is_taken(void **state)
{
  static const char *const keys[][2] = {{"step", "1"}, {"cfl", "1.5"}};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    waves w =
        waves_before(SETTINGS(WAVES, {"mesh", "generate", "square 8"}, {"space", "order", "3"},
                              {"boundary default", "type", "conductor"}));
    const kg_backend_table *const table = w.ctx->table;
    kg_backend_table small = *table;
    kedge_plan stable = KEDGE_PLAN_INIT, longer = KEDGE_PLAN_INIT;
    must(w.ctx, kedge_problem_mesh(w.problem, &w.mesh));
    must(w.ctx, kedge_march_plan(w.ctx, w.mesh, w.problem, &stable));
    must(w.ctx, kedge_problem_set(w.problem, "time", keys[i][0], keys[i][1]));
    must(w.ctx, kedge_march_plan(w.ctx, w.mesh, w.problem, &longer));
    const int op = longer.operator_kind;
    assert_true(longer.needed_bytes[op] >= stable.needed_bytes[op] + 8 * stable.wave_unknowns);
    small.free_bytes = say_free;
    says_free = longer.needed_bytes[op] - 1;
    w.ctx->table = &small;
    w.ctx->bytes_peak = 0;
    assert_int_equal(kedge_march_create(w.ctx, w.mesh, w.problem, &w.march), KEDGE_ERR_MEMORY);
    assert_non_null(strstr(kedge_context_error(w.ctx), "these waves need "));
    assert_int_equal(w.ctx->bytes_peak, 0);
    ++says_free;
    must(w.ctx, kedge_march_create(w.ctx, w.mesh, w.problem, &w.march));
    w.ctx->table = table;
    waves_free(&w);
  }
}

static kedge_status refuse_memory(kedge_context *context, size_t bytes, void **out)
{
  (void)out;
  return KG_FAIL(context, KEDGE_ERR_MEMORY, "no room for %zu bytes", bytes);
}

/// An update makes its step too long, after which there is no memory for a while.
static void a_look_for_which_there_is_no_memory_is_left_out(void **state)
{
  kedge_marched marched = KEDGE_MARCHED_INIT;
  (void)state;
  waves w = waves_before(SETTINGS(
      {"mesh", "generate", "square 4"}, {"space", "order", "3"},
      {"equation", "system", "maxwell-tm"}, {"equation", "current", "sin(pi*x)*sin(pi*y)*cos(4*t)"},
      {"boundary default", "type", "conductor"}, {"initial", "Ez", "sin(pi*x)*sin(pi*y)"},
      {"time", "end", "100"}, {"time", "step", "0.018"}));
  waves_begin(&w);
  const kg_backend_table *const table = w.ctx->table;
  kg_backend_table full = *table;
  full.alloc = refuse_memory;
  must(w.ctx, kedge_problem_set(w.problem, "equation", "permittivity", "0.16"));
  must(w.ctx, kedge_march_update(w.march));
  w.ctx->table = &full;
  for (int k = 0; k < 40; ++k) must(w.ctx, kedge_march_step(w.march));
  assert_string_equal(kedge_context_error(w.ctx), "");
  must(w.ctx, kedge_march_report(w.march, &marched));
  assert_int_equal(marched.grown_step, 0);
  w.ctx->table = table;
  for (int k = 0; k < 24; ++k) must(w.ctx, kedge_march_step(w.march));
  must(w.ctx, kedge_march_report(w.march, &marched));
  assert_int_equal(marched.grown_step, 64);
  waves_free(&w);
}

/// Two triangles, or tetrahedra, each a region, with the group 7 between them.
static kedge_mesh *halves(bool in_space)
{
  static const double plane[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  static const double space[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  static const int32_t triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};
  static const int32_t tetrahedra[2][4] = {{0, 1, 2, 3}, {4, 1, 2, 3}};
  static const int32_t edges[1][2] = {{0, 2}}, faces[1][3] = {{1, 2, 3}}, tags[1] = {7};
  static const int32_t regions[2] = {1, 2};
  kedge_mesh *mesh;
  if (in_space) {
    kedge_space_arrays arrays = KEDGE_SPACE_ARRAYS_INIT;
    arrays.n_vertices = 5;
    arrays.vertices = space[0];
    arrays.n_tetrahedra = 2;
    arrays.tetrahedra = tetrahedra[0];
    arrays.regions = regions;
    arrays.n_triangles = 1;
    arrays.triangles = faces[0];
    arrays.triangle_tags = tags;
    must(ctx, kedge_mesh_create_space(ctx, &arrays, &mesh));
    return mesh;
  }
  must(ctx, kedge_mesh_create(ctx,
                              &(kedge_mesh_arrays){.n_vertices = 4,
                                                   .vertices = plane[0],
                                                   .n_triangles = 2,
                                                   .triangles = triangles[0],
                                                   .regions = regions,
                                                   .n_lines = 1,
                                                   .lines = edges[0],
                                                   .line_tags = tags},
                              &mesh));
  return mesh;
}

static void groups_inside_and_regions_are_those_of_all_problems(void **state)
{
  static const char *const inside[] = {"is a group of lines inside the domain",
                                       "is a group of faces inside the domain"};
  (void)state;
  for (int in_space = 0; in_space < 2; ++in_space) {
    kedge_mesh *const mesh = halves(in_space);
    kedge_problem *const problem =
        problem_of(ctx, SETTINGS(WAVES, {"equation", "system", in_space ? "maxwell" : "maxwell-tm"},
                                 {"boundary default", "type", "absorbing"},
                                 {"region 1", "permittivity", "2"}));
    kedge_march *march;
    assert_said(kedge_march_create(ctx, mesh, problem, &march), KEDGE_ERR_INPUT,
                "has no section; add [region 2] or [region default]");
    must(ctx, kedge_problem_set(problem, "region default", "permittivity", "3"));
    must(ctx, kedge_march_create(ctx, mesh, problem, &march));
    must(ctx, kedge_march_step(march));
    kedge_march_destroy(march);
    must(ctx, kedge_problem_set(problem, "boundary 7", "type", "conductor"));
    assert_said(kedge_march_create(ctx, mesh, problem, &march), KEDGE_ERR_INPUT, inside[in_space]);
    assert_said(kedge_march_create(ctx, mesh, problem, &march), KEDGE_ERR_INPUT,
                "where there are no boundary conditions; take the section out");
    kedge_problem_destroy(problem);
    kedge_mesh_destroy(mesh);
  }
}

static void settings_come_in_any_order(void **state)
{
  (void)state;
  kedge_problem *problem;
  kedge_mesh *mesh;
  kedge_march *march;
  must(ctx, kedge_mesh_generate(ctx, "square 3", &mesh));
  must(ctx, kedge_problem_create(ctx, &problem));
  static const char *const settings[][3] = {{"solver", "precision", "single"},
                                            {"boundary default", "type", "conductor"},
                                            {"boundary default", "Ez", "t"},
                                            {"equation", "permittivity", "2"},
                                            {"time", "end", "0.1"},
                                            {"equation", "system", "maxwell-tm"}};
  for (size_t i = 0; i < sizeof settings / sizeof *settings; ++i)
    must(ctx, kedge_problem_set(problem, settings[i][0], settings[i][1], settings[i][2]));
  must(ctx, kedge_march_create(ctx, mesh, problem, &march));
  must(ctx, kedge_march_step(march));
  kedge_march_destroy(march);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static void what_no_longer_is_of_the_system_is_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 3", &mesh));
  const struct {
    const char *section, *key, *value, *sentence;
  } cases[] = {
      {"solver", "precision", "mixed", "unknown precision 'mixed'; it must be double or single"},
      {"boundary left", "type", "dirichlet", "must be conductor, absorbing or incident"},
      {"boundary left", "type", "wall", "must be conductor, absorbing or incident"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_problem *problem;
    kedge_march *march = NULL;
    must(ctx, kedge_problem_create(ctx, &problem));
    must(ctx, kedge_problem_set(problem, "time", "end", "1"));
    kedge_status status =
        kedge_problem_set(problem, cases[i].section, cases[i].key, cases[i].value);
    if (status == KEDGE_OK) status = kedge_problem_set(problem, "equation", "system", "maxwell-tm");
    if (status == KEDGE_OK)
      status = kedge_problem_set(problem, "boundary default", "type", "conductor");
    if (status == KEDGE_OK) status = kedge_march_create(ctx, mesh, problem, &march);
    assert_said(status, KEDGE_ERR_INPUT, cases[i].sentence);
    kedge_march_destroy(march);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

static int open(void **state)
{
  (void)state;
  ctx = open_backend(test_backend(), 1);
  return 0;
}

static int close(void **state)
{
  (void)state;
  kedge_context_destroy(ctx);
  return 0;
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waves_that_are_predicted_not_to_fit_are_refused_before_they_allocate),
      cmocka_unit_test(the_room_of_longer_steps_is_judged_before_it_is_taken),
      cmocka_unit_test(a_look_for_which_there_is_no_memory_is_left_out),
      cmocka_unit_test(groups_inside_and_regions_are_those_of_all_problems),
      cmocka_unit_test(settings_come_in_any_order),
      cmocka_unit_test(what_no_longer_is_of_the_system_is_refused),
  };
  return cmocka_run_group_tests(tests, open, close);
}
