// What waves refuse, each with its sentence.
#include "moving_waves.h"

#include <string.h>

#include "waves/waves.h"

#define TM                                                                     \
  {"mesh", "generate", "square 3"}, {"equation", "system", "maxwell-tm"},      \
      {"boundary default", "type", "conductor"}, {"initial", "Ez", "x*(1-x)"}, \
  {                                                                            \
    "time", "end", "1"                                                         \
  }

#define SOUND                                                            \
  {"mesh", "generate", "square 3"}, {"equation", "system", "acoustics"}, \
      {"boundary default", "type", "wall"},                              \
  {                                                                      \
    "time", "end", "1"                                                   \
  }

static kedge_context *ctx;

static void assert_said(kedge_status status, kedge_status expected, const char *sentence)
{
  assert_int_equal(status, expected);
  if (!strstr(kedge_context_error(ctx), sentence))
    fail_msg("'%s' has not '%s'", kedge_context_error(ctx), sentence);
}

/// Begin a march that is refused.
static void assert_refused(const setting *settings, kedge_status expected, const char *sentence)
{
  kedge_problem *problem = problem_of(ctx, settings);
  kedge_mesh *mesh;
  kedge_march *march;
  must(ctx, kedge_problem_mesh(problem, &mesh));
  assert_said(kedge_march_create(ctx, mesh, problem, &march), expected, sentence);
  assert_null(march);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(problem);
}

static void what_does_not_fit_is_refused_with_a_sentence(void **state)
{
  (void)state;
  const struct {
    const setting *settings;
    const char *sentence;
  } cases[] = {
      {SETTINGS(TM, {"equation", "diffusion", "2"}),
       "diffusion in [equation] is of elliptic problems, and system = maxwell-tm; leave it out"},
      {SETTINGS(TM, {"boundary default", "value", "2"}),
       "value in [boundary default] is of elliptic"},
      {SETTINGS(TM, {"equation", "bulk", "2"}),
       "bulk in [equation] is of another system; system = maxwell-tm has permittivity, "
       "permeability "
       "or conductivity"},
      {SETTINGS(TM, {"initial", "p", "2"}),
       "p in [initial] is of another system; system = maxwell-tm has Ez, Hx or Hy"},
      {SETTINGS(TM, {"equation", "permittivity", "x-0.5"}),
       "permittivity must be positive, and in element"},
      {SETTINGS(TM, {"equation", "conductivity", "-1"}),
       "conductivity must be zero or positive, and in element"},
      {SETTINGS(TM, {"mesh", "generate", "quads 3"}),
       "system = maxwell-tm takes meshes of triangles, and quads 3 is of quadrilaterals"},
      {SETTINGS(TM, {"mesh", "generate", "mixed 3"}), "mixed 3 is of triangles and quadrilaterals"},
      {SETTINGS(SOUND, {"mesh", "generate", "quads 3"}),
       "acoustics takes meshes of triangles, and"},
      {SETTINGS(TM, {"integral a", "of", "u"}),
       "waves have no integrals yet; leave [integral a] out"},
      {SETTINGS(TM, {"time", "scheme", "rk4"}), "scheme in [time] is of elliptic problems"},
      {SETTINGS(TM, {"mesh", "generate", "cube 2"}), "takes meshes of triangles"},
      {SETTINGS(TM, {"equation", "system", "maxwell"}, {"mesh", "generate", "square 2"}),
       "takes meshes of tetrahedra"},
      {SETTINGS(TM, {"mesh", "generate", "disk 3"}, {"mesh", "geometry", "2"}),
       "waves need straight elements"},
      {SETTINGS(TM, {"initial", "Hx", "log(x-0.5)"}), "initial Hx is nan in element"},
      {SETTINGS(TM, {"initial", "Hx", "1e99"}, {"solver", "precision", "single"}),
       "initial Hx is 1e+99 in element 1 (from 0) at x = 0, y = 0, which single precision does not "
       "hold"},
      {SETTINGS(TM, {"boundary default", "type", "incident"}),
       "[boundary default] is incident and has no field"},
      {SETTINGS(TM, {"boundary default", "type", "absorbing"}, {"boundary default", "Ez", "1"}),
       "[boundary default] is absorbing and has fields"},
      {SETTINGS(TM, {"boundary default", "Ez", "1"}, {"boundary default", "Hy", "1"}),
       "Hy in [boundary default] is not read: type = conductor reads Ez alone; leave it out or"},
      {SETTINGS({"mesh", "generate", "cube 1"}, {"equation", "system", "maxwell"},
                {"boundary default", "type", "conductor"}, {"time", "end", "1"},
                {"boundary default", "Hz", "0"}),
       "Hz in [boundary default] is not read: type = conductor reads Ex, Ey, Ez alone"},
      {SETTINGS(SOUND, {"boundary default", "p", "1"}),
       "p in [boundary default] is not read: type = wall reads vx, vy alone"},
      {SETTINGS(SOUND, {"boundary left", "type", "soft"}, {"boundary left", "vx", "1"}),
       "vx in [boundary left] is not read: type = soft reads p alone"},
      {SETTINGS(SOUND, {"initial", "vz", "1"}),
       "vz in [initial] is a field in space alone, and square 3 is a mesh of the plane; leave it"},
      {SETTINGS(SOUND, {"exact", "vz", "1"}), "vz in [exact] is a field in space alone"},
      {SETTINGS(SOUND, {"boundary default", "vz", "1"}), "vz in [boundary default] is a field in"},
      {SETTINGS(TM, {"boundary default", "Ez", "log(x-0.5)"}), "the field Ez of a boundary is nan"},
      {SETTINGS(TM, {"boundary lef", "type", "conductor"}), "did you mean 'left'?"},
      {SETTINGS(TM, {"region glass", "permittivity", "2"}), "has no region 'glass'"},
      {SETTINGS(TM, {"equation", "current", "1, 2, 3"}),
       "current of system = maxwell-tm is one expression, not three: write current = jz"},
      {SETTINGS(TM, {"region domain", "source", "1"}), "source in [region domain] is of elliptic"},
      {SETTINGS({"mesh", "generate", "cube 1"}, {"equation", "system", "maxwell"},
                {"boundary default", "type", "conductor"}, {"time", "end", "1"},
                {"equation", "current", "1"}),
       "current of system = maxwell is three expressions, not one: write current = jx, jy, jz"},
      {SETTINGS({"mesh", "generate", "square 3"}, {"equation", "system", "acoustics"},
                {"boundary default", "type", "wall"}, {"time", "end", "1"},
                {"equation", "current", "1"}),
       "current in [equation] is of another system; system = acoustics has source"},
      {SETTINGS(TM, {"equation", "permittivity", "1+t"}),
       "permittivity in [equation] names t, and materials of waves do not move in time"},
      {SETTINGS(TM, {"region domain", "conductivity", "t > 1"}),
       "conductivity in [region domain] names t"},
      {SETTINGS(TM, {"initial", "Ez", "x*z"}),
       "Ez in [initial] names z, and square 3 is a mesh of the plane: write it in x and y"},
      {SETTINGS(TM, {"boundary default", "Ez", "z"}), "Ez in [boundary default] names z"},
      {SETTINGS(TM, {"equation", "current", "z"}), "current in [equation] names z"},
      {SETTINGS(TM, {"equation", "permeability", "z+1"}), "permeability in [equation] names z"},
      {SETTINGS(TM, {"time", "end", "1e9"}), "of which end = 1e+09 takes more than 1000000000"},
      {SETTINGS(TM, {"time", "step", "1e-10"}), "of which end = 1 takes more than 1000000000"},
      {SETTINGS(TM, {"output", "at", "0.5, 2"}), "at in [output] has 2, which is behind end = 1"},
      {SETTINGS(TM, {"time", "scheme", "euler"}), "scheme in [time] is of elliptic problems"},
      {SETTINGS({"mesh", "generate", "square 3"}, {"equation", "system", "acoustics"},
                {"boundary default", "type", "wall"}),
       "system = acoustics moves in time, and there is no [time]"},
      {SETTINGS({"mesh", "generate", "square 3"}, {"boundary default", "type", "dirichlet"},
                {"boundary default", "value", "0"}, {"time", "end", "1"}, {"time", "step", "auto"}),
       "step = auto is of waves"},
      {SETTINGS({"mesh", "generate", "square 3"}, {"boundary default", "type", "dirichlet"},
                {"boundary default", "value", "0"}, {"time", "end", "1"}, {"time", "steps", "3"},
                {"equation", "permittivity", "1"}),
       "permittivity in [equation] is of waves, and the problem is elliptic"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    assert_refused(cases[i].settings, KEDGE_ERR_INPUT, cases[i].sentence);
}

static void wrong_words_are_refused_where_they_are_read(void **state)
{
  static const setting cases[][2] = {
      {{"boundary left", "type", "dirichlet"},
       {0, 0,
        "type of a boundary of system = maxwell-tm must be conductor, absorbing or incident"}},
      {{"boundary left", "type", "wall"}, {0, 0, "must be conductor, absorbing or incident, not"}},
      {{"space", "order", "10"}, {0, 0, "from 1 to 9, not '10'"}},
      {{"time", "step", "fast"}, {0, 0, "step must be auto or a constant > 0, not 'fast'"}},
      {{"equation", "permitivity", "1"}, {0, 0, "did you mean 'permittivity'?"}},
      {{"initial", "ez", "1"}, {0, 0, "did you mean 'Ez'?"}},
      {{"exact", "e_z", "1"}, {0, 0, "did you mean 'Ez'?"}},
      {{"exact", "field", "1"}, {0, 0, "its keys are Ez, Hx, Hy"}},
      {{"space", "upwind", "1.5"}, {0, 0, "upwind must be between 0 and 1"}},
      {{"solver", "precision", "mixed"}, {0, 0, "double or single"}},
      {{"time", "cfl", "0"}, {0, 0, "cfl must be positive"}},
      {{"time", "end", "0"}, {0, 0, "end must be positive"}},
      {{"output", "at", "0.5, 0.2"}, {0, 0, "at"}},
      {{"equation", "current", "1, 2"},
       {0, 0, "three expressions, jx, jy, jz, or in the plane one, jz; not 2"}},
      {{"equation", "current", "(1, 2, 3)"}, {0, 0, "without brackets"}},
      {{"equation", "current", "1, , 3"}, {0, 0, "nothing between two commas"}},
      {{"equation", "system", "maxwel"}, {0, 0, "did you mean 'maxwell'?"}},
  };
  (void)state;
  kedge_problem *problem = problem_of(ctx, SETTINGS(TM));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    assert_said(kedge_problem_set(problem, cases[i][0].section, cases[i][0].key, cases[i][0].value),
                KEDGE_ERR_INPUT, cases[i][1].value);
  kedge_problem_destroy(problem);
}

static void calls_that_make_no_sense_are_refused(void **state)
{
  (void)state;
  waves w = waves_of("square 3", "2", SETTINGS(TM));
  kedge_context *const own = ctx;
  ctx = w.ctx;
  const kedge_solution *solution;
  const kedge_data data = KEDGE_DATA_INIT;
  double value[1000];
  must(ctx, kedge_march_step(w.march));
  assert_said(kedge_march_solution(w.march, &solution), KEDGE_ERR_UNSUPPORTED, "by name");
  assert_said(kedge_march_values(w.march, "Hz", 2, value), KEDGE_ERR_ARG, "has no field 'Hz'");
  assert_said(kedge_march_values(w.march, "Ez", 0, value), KEDGE_ERR_ARG, "order of nodes is 0");
  assert_said(kedge_march_error(w.march, NULL, value), KEDGE_ERR_ARG, "[exact] has no field");
  assert_said(kedge_march_error(w.march, "Ez", value), KEDGE_ERR_ARG, "[exact] has no Ez");
  assert_said(kedge_march_energy(w.march, NULL), KEDGE_ERR_ARG, "an argument is NULL");
  assert_said(kedge_march_data(w.march, &data), KEDGE_ERR_UNSUPPORTED, "kedge_march_update()");
  assert_said(kedge_march_write(w.march, "waves.txt"), KEDGE_ERR_ARG, ".vtkhdf");
  assert_said(kedge_solve(ctx, w.mesh, w.problem, (kedge_solution **)&solution), KEDGE_ERR_INPUT,
              "march with it");
  ctx = own;
  waves_free(&w);
}

static void a_step_that_is_too_long_ends_in_a_sentence(void **state)
{
  (void)state;
  waves w = waves_of("square 3", "4", SETTINGS(TM, {"time", "steps", "10"}));
  kedge_context *const own = ctx;
  double energy;
  ctx = w.ctx;
  assert_true(kedge_march_longest(w.march) < 0.1);
  waves_free(&w);
  ctx = own;
  w = waves_of("square 3", "4", SETTINGS(TM, {"time", "end", "1000"}, {"time", "step", "0.5"}));
  ctx = w.ctx;
  kedge_status status = KEDGE_OK;
  while (status == KEDGE_OK && !kedge_march_ended(w.march)) status = kedge_march_step(w.march);
  assert_said(status, KEDGE_ERR_NUMERIC, "is not finite at t =");
  assert_said(status, KEDGE_ERR_NUMERIC, "steps of 0.5 are longer than");
  assert_said(kedge_march_energy(w.march, &energy), KEDGE_ERR_ARG, "left no state");
  assert_said(kedge_march_step(w.march), KEDGE_ERR_ARG, "begin another march");
  ctx = own;
  waves_free(&w);
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

/// What stands behind a note stays what it is, however many sentences come.
static void notes_end_where_their_room_does(void **state)
{
  struct {
    kg_waves w;
    char behind[64];
  } of = {0};
  (void)state;
  for (int k = 0; k < 200; ++k) kg_waves_add_note(&of.w, "%.*s", 1 + k % 7, "sentence");
  assert_int_equal(strlen(of.w.note), sizeof of.w.note - 1);
  assert_memory_equal(of.w.note, "s; se; sen", 10);
  for (size_t i = 0; i < sizeof of.behind; ++i) assert_int_equal(of.behind[i], 0);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_does_not_fit_is_refused_with_a_sentence),
      cmocka_unit_test(wrong_words_are_refused_where_they_are_read),
      cmocka_unit_test(calls_that_make_no_sense_are_refused),
      cmocka_unit_test(a_step_that_is_too_long_ends_in_a_sentence),
      cmocka_unit_test(notes_end_where_their_room_does),
  };
  return cmocka_run_group_tests(tests, open, close);
}
