// The energy of waves in materials that differ from element to element.
#include "moving_waves.h"

#include "waves/waves.h"

enum { ELEMENTS = 400 };

static double pseudo_random(int i)
{
  const double x = sin(12.9898 * (i + 1)) * 43758.5453;
  return x - floor(x);
}

/// A system on a mesh of Gmsh, with walls that lose nothing.
typedef struct {
  const char *file, *system, *wall, *property[2];
  const setting *fields;
} lossless;

#define MESHES KEDGE_SOURCE_DIR "/meshes/"
static const lossless cases[] = {
    {MESHES "inclusion41.msh",
     "maxwell-tm",
     "conductor",
     {"permittivity", "permeability"},
     SETTINGS({"initial", "Ez", "sin(20*x)*cos(19*y)"}, {"initial", "Hx", "cos(21*x*y)"},
              {"initial", "Hy", "x-y"})},
    {MESHES "inclusion41.msh",
     "acoustics",
     "wall",
     {"density", "bulk"},
     SETTINGS({"initial", "p", "sin(20*x)*cos(19*y)"}, {"initial", "vx", "cos(21*x*y)"},
              {"initial", "vy", "x-y"})},
    {MESHES "inclusion41.msh",
     "acoustics",
     "soft",
     {"density", "bulk"},
     SETTINGS({"initial", "p", "sin(20*x)*cos(19*y)"}, {"initial", "vx", "cos(21*x*y)"},
              {"initial", "vy", "x-y"})},
    {MESHES "fichera.msh",
     "maxwell",
     "conductor",
     {"permittivity", "permeability"},
     SETTINGS({"initial", "Ex", "sin(9*x)*cos(8*y-z)"}, {"initial", "Ey", "cos(7*x*y+z)"},
              {"initial", "Ez", "x-y*z"}, {"initial", "Hx", "sin(9*z)"},
              {"initial", "Hy", "cos(9*x)"}, {"initial", "Hz", "x*y"})},
    {MESHES "fichera.msh",
     "acoustics",
     "wall",
     {"density", "bulk"},
     SETTINGS({"initial", "p", "sin(9*x)*cos(8*y-z)"}, {"initial", "vx", "cos(7*x*y+z)"},
              {"initial", "vy", "x-y*z"}, {"initial", "vz", "sin(9*z)"})}};
enum { CASES = sizeof cases / sizeof *cases };

static waves before(const lossless *c, const char *order, const char *upwind)
{
  static double material[2][ELEMENTS];
  waves w = waves_before(c->fields);
  const setting more[] = {{"mesh", "file", c->file},
                          {"space", "order", order},
                          {"space", "upwind", upwind},
                          {"equation", "system", c->system},
                          {"boundary default", "type", c->wall},
                          {"time", "end", "1"}};
  for (size_t i = 0; i < sizeof more / sizeof *more; ++i)
    must(w.ctx, kedge_problem_set(w.problem, more[i].section, more[i].key, more[i].value));
  must(w.ctx, kedge_problem_mesh(w.problem, &w.mesh));
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  must(w.ctx, kedge_mesh_get_info(w.mesh, &info));
  assert_true(info.elements <= ELEMENTS);
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < ELEMENTS; ++i) material[k][i] = 1.0 + 3.0 * pseudo_random(i + 999 * k);
    must(w.ctx, kedge_problem_set_function(w.problem, "equation", c->property[k], kedge_by_element,
                                           material[k]));
  }
  return w;
}

/// The energy of u + s r of what a stage without memory makes of u; r is the rate of u.
static double energy_along(const waves *w, double s)
{
  kg_waves own;
  double energy;
  must(w->ctx, kg_waves_create(w->ctx, w->mesh, w->problem, &own));
  must(w->ctx, kg_waves_stage(&own, 0, s * own.longest, 0.0));
  must(w->ctx, kg_waves_energy(&own, -1, &energy));
  kg_waves_free(&own);
  return energy;
}

/// The energy is quadratic: those of u + s r and u - s r differ by 2 s times its rate.
static void central_fluxes_keep_the_energy_to_rounding_and_upwind_ones_lose_some(void **state)
{
  static const char *const orders[] = {"1", "2", "3", "4", "5", "6"};
  (void)state;
  for (int c = 0; c < CASES; ++c)
    for (int i = 0; i < (test_is_quick() ? 1 : test_is_shadow() ? 2 : 6); ++i) {
      double ahead[2], back[2];
      for (int upwind = 0; upwind < 2; ++upwind) {
        waves w = before(&cases[c], orders[i], upwind ? "1" : "0");
        ahead[upwind] = energy_along(&w, 6.0);
        back[upwind] = energy_along(&w, -6.0);
        waves_free(&w);
      }
      assert_at_most(fabs(ahead[0] - back[0]), 1e-14 * ahead[0]);
      assert_true(ahead[1] < 0.9999 * back[1]);
    }
}

/// What central fluxes lose is that of the steps, of order 5.
static void steps_alone_lose_energy(void **state)
{
  static const char *const steps[] = {"150", "300"};
  (void)state;
  for (int c = 0; c < (test_is_quick() || test_is_shadow() ? 1 : CASES); ++c) {
    double loss[2];
    for (int i = 0; i < 2; ++i) {
      waves w = before(&cases[c], "2", "0");
      must(w.ctx, kedge_problem_set(w.problem, "time", "steps", steps[i]));
      must(w.ctx, kedge_march_create(w.ctx, w.mesh, w.problem, &w.march));
      const double first = waves_energy(&w);
      waves_on(&w);
      loss[i] = 1.0 - waves_energy(&w) / first;
      waves_free(&w);
    }
    assert_true(loss[1] > 0.0);
    assert_at_most(loss[1], loss[0] / 20.0);
  }
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(central_fluxes_keep_the_energy_to_rounding_and_upwind_ones_lose_some),
      cmocka_unit_test(steps_alone_lose_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
