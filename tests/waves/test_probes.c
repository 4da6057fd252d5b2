// Fields of waves at points, and the energy of regions.
#include "moving_waves.h"

#include <stdlib.h>
#include <string.h>

#include "device/backend.h"
#include "device/context.h"
#include "mesh/mesh.h"
#include "wrap.h"

enum { POINTS = 5 };

/// A wave of the plane or of space that goes on.
static waves wave_in(int dimension, const char *precision)
{
  return dimension == 2
             ? waves_of("square 3", "3",
                        SETTINGS(CAVITY, TO_ONE, {"solver", "precision", precision}))
             : waves_of("cube 2", "3",
                        SETTINGS(CAVITY_OF_CUBE, TO_ONE, {"solver", "precision", precision}));
}

static const double places[3][POINTS] = {
    {0.21, 0.5, 1.0, 7.0, 0.83}, {0.37, 0.5, 0.0, 0.1, 0.12}, {0.44, 0.5, 1.0, 0.2, 0.61}};

static kedge_probe *probe_of(const waves *w, int n)
{
  kedge_probe *probe;
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  must(w->ctx, kedge_mesh_get_info(w->mesh, &info));
  must(w->ctx,
       info.dimension == 3
           ? kedge_probe_create_space(w->ctx, w->mesh, n, places[0], places[1], places[2], &probe)
           : kedge_probe_create(w->ctx, w->mesh, n, places[0], places[1], &probe));
  return probe;
}

static int64_t nodes_of(const waves *w)
{
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  must(w->ctx, kedge_mesh_get_info(w->mesh, &info));
  return info.elements * (int64_t)(info.dimension == 3 ? 20 : 10);
}

/// What a locator finds of values at nodes.
static void located(const waves *w, const char *field, double *values)
{
  kedge_context *const host = open_backend(KEDGE_BACKEND_HOST, 1);
  kedge_locator *locator;
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  double *const nodes = calloc((size_t)nodes_of(w), sizeof *nodes);
  must(w->ctx, kedge_mesh_get_info(w->mesh, &info));
  must(w->ctx, kedge_march_values(w->march, field, 3, nodes));
  must(host, kedge_locator_create(host, w->mesh, &locator));
  must(w->ctx, info.dimension == 3
                   ? kedge_locator_values_space(locator, 3, nodes, POINTS, places[0], places[1],
                                                places[2], values)
                   : kedge_locator_values(locator, 3, nodes, POINTS, places[0], places[1], values));
  kedge_locator_destroy(locator);
  kedge_context_destroy(host);
  free(nodes);
}

/// Fields are continuous but for the error, which is as large where elements meet.
static void values_are_those_of_nodes_and_nan_outside(void **state)
{
  (void)state;
  for (int dimension = 2; dimension <= 3; ++dimension)
    for (int single = 0; single < 2; ++single) {
      waves w = wave_in(dimension, single ? "single" : "double");
      kedge_probe *const probe = probe_of(&w, POINTS);
      for (int step = 0; step < 3; ++step) {
        for (int f = 0; kedge_march_field(w.march, f); ++f) {
          double values[POINTS], expected[POINTS];
          const char *const field = kedge_march_field(w.march, f);
          must(w.ctx, kedge_march_probe_values(w.march, probe, field, values));
          located(&w, field, expected);
          for (int i = 0; i < POINTS; ++i) {
            const bool is_corner = i == 1 || i == 2;
            if (i == 3)
              assert_true(isnan(values[i]));
            else
              assert_at_most(fabs(values[i] - expected[i]), is_corner ? 0.2 : 1e-13);
          }
        }
        must(w.ctx, kedge_march_step(w.march));
      }
      kedge_probe_destroy(probe);
      waves_free(&w);
    }
}

static double first_of(const waves *w, const kedge_probe *probe)
{
  double values[POINTS];
  must(w->ctx, kedge_march_probe_values(w->march, probe, "Ez", values));
  return values[0];
}

/// Probes that come and go, some of which are asked for now and then.
static void any_number_of_probes_have_the_same_values(void **state)
{
  enum { PROBES = 70 };
  kedge_probe *probe[PROBES];
  (void)state;
  waves w = wave_in(2, "double");
  for (int i = 0; i < PROBES; ++i) probe[i] = probe_of(&w, 1 + i % POINTS);
  for (int step = 0; step < 5; ++step) {
    double expected[POINTS];
    located(&w, "Ez", expected);
    for (int i = step % 2; i < PROBES; i += 1 + step % 3)
      assert_at_most(fabs(first_of(&w, probe[i]) - expected[0]), 1e-13);
    kedge_probe *const passing = probe_of(&w, 2);
    assert_at_most(fabs(first_of(&w, passing) - expected[0]), 1e-13);
    kedge_probe_destroy(passing);
    must(w.ctx, kedge_march_step(w.march));
  }
  for (int i = 0; i < PROBES; ++i) kedge_probe_destroy(probe[i]);
  waves_free(&w);
}

static int copies;  ///< from the device

WRAP(kedge_status, kg_copy_out, kedge_context *ctx, void *host, const void *device, size_t bytes)
{
  ++copies;
  return REAL(kg_copy_out)(ctx, host, device, bytes);
}

/// Some of which come later, or are asked for in every other state.
static void all_probes_of_a_state_come_by_one_copy(void **state)
{
  enum { PROBES = 200, MORE = 3, STEPS = 6 };
  kedge_probe *probe[PROBES + MORE];
  (void)state;
  waves w = wave_in(2, "double");
  for (int i = 0; i < PROBES + MORE; ++i) probe[i] = probe_of(&w, 1);
  for (int step = 0; step < STEPS; ++step) {
    copies = 0;
    for (int i = 0; i < PROBES; i += 1 + step % 2) first_of(&w, probe[i]);
    assert_int_equal(copies, step == 0 ? PROBES : 1);
    if (step == 2)
      for (int i = 0; i < MORE; ++i) first_of(&w, probe[PROBES + i]);
    assert_int_equal(copies, step == 0 ? PROBES : step == 2 ? 1 + MORE : 1);
    must(w.ctx, kedge_march_step(w.march));
  }
  for (int i = 0; i < PROBES + MORE; ++i) kedge_probe_destroy(probe[i]);
  waves_free(&w);
}

/// Where so many probes have passed that the first ones are not kept any more.
static void probes_that_pass_are_forgotten(void **state)
{
  (void)state;
  waves w = waves_of("square 3", "3", SETTINGS(CAVITY, TO_ONE, {"time", "steps", "200"}));
  kedge_probe *const stays = probe_of(&w, 1);
  const int64_t before = w.ctx->bytes_in_use;
  int64_t later = 0;
  for (int step = 0; step < 150; ++step) {
    kedge_probe *const passing = probe_of(&w, 2);
    assert_true(first_of(&w, stays) == first_of(&w, passing));
    kedge_probe_destroy(passing);
    if (step == 99) later = w.ctx->bytes_in_use;
    must(w.ctx, kedge_march_step(w.march));
  }
  assert_true(later > before);
  assert_int_equal(w.ctx->bytes_in_use, later);
  kedge_probe_destroy(stays);
  waves_free(&w);
}

/// More points than stay where nobody asks for them.
static void large_probes_come_and_go(void **state)
{
  enum { MANY = 9000, PROBES = 3 };
  double *const x = calloc(4 * MANY, sizeof *x), *const y = x + MANY, *const values = y + MANY;
  double *const first = values + MANY;
  kedge_probe *probe[PROBES];
  (void)state;
  waves w = wave_in(2, "double");
  for (int i = 0; i < MANY; ++i) x[i] = 0.1 + 0.8 * i / MANY, y[i] = 0.37;
  for (int k = 0; k < PROBES; ++k)
    must(w.ctx, kedge_probe_create(w.ctx, w.mesh, MANY, x, y, &probe[k]));
  for (int step = 0; step < 9; ++step) {
    for (int k = 0; k < PROBES; ++k) {
      if (step % (k + 1) != 0) continue;
      double *const out = k == 0 ? first : values;
      must(w.ctx, kedge_march_probe_values(w.march, probe[k], "Ez", out));
      assert_true(largest(MANY, out) > 1e-3);
      assert_true(k == 0 || distance(MANY, first, values) == 0.0);
    }
    must(w.ctx, kedge_march_step(w.march));
  }
  for (int k = 0; k < PROBES; ++k) kedge_probe_destroy(probe[k]);
  free(x);
  waves_free(&w);
}

static void assert_said(const waves *w, kedge_status status, kedge_status expected,
                        const char *sentence)
{
  assert_int_equal(status, expected);
  if (!strstr(kedge_context_error(w->ctx), sentence))
    fail_msg("'%s' has not '%s'", kedge_context_error(w->ctx), sentence);
}

static void what_has_no_values_is_refused(void **state)
{
  double values[POINTS];
  (void)state;
  waves w = wave_in(2, "double"), other = wave_in(2, "double");
  kedge_probe *const own = probe_of(&w, 1), *const far = probe_of(&other, 1);
  assert_said(&w, kedge_march_probe_values(w.march, own, "p", values), KEDGE_ERR_ARG,
              "kedge_march_probe_values: system = maxwell-tm has no field 'p'");
  assert_said(&w, kedge_march_probe_values(w.march, far, "Ez", values), KEDGE_ERR_ARG,
              "kedge_march_probe_values: probe and march are of two mesh objects");
  assert_said(&w, kedge_march_probe_values(w.march, NULL, "Ez", values), KEDGE_ERR_ARG,
              "kedge_march_probe_values: an argument is NULL");
  kedge_probe_destroy(own);
  kedge_probe_destroy(far);
  waves_free(&w);
  waves_free(&other);
}

/// At nodes of every order, of elements that are turned too.
static void values_in_device_memory_are_those_of_the_host(void **state)
{
  static const int orders[] = {3, 1, 1, 5};
  (void)state;
  for (int dimension = 2; dimension <= 3; ++dimension)
    for (int single = 0; single < 2; ++single) {
      waves w = wave_in(dimension, single ? "single" : "double");
      must(w.ctx, kedge_march_step(w.march));
      for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i) {
        const kg_cell *const cell = w.mesh->block[0].cell;
        const size_t n = (size_t)(w.mesh->n_elements * cell->n_modes(orders[i]));
        double *const host = calloc(2 * n, sizeof *host), *const copy = host + n;
        kg_buffer there = {0};
        must(w.ctx, kg_alloc(w.ctx, n, sizeof *host, &there));
        must(w.ctx, kedge_march_values(w.march, "Ez", orders[i], host));
        must(w.ctx, kedge_march_values_device(w.march, "Ez", orders[i], there.data));
        must(w.ctx, kg_copy_out(w.ctx, copy, there.data, n * sizeof *copy));
        for (size_t k = 0; k < n; ++k) assert_at_most(fabs(copy[k] - host[k]), 1e-14);
        kg_free(w.ctx, &there);
        free(host);
      }
      waves_free(&w);
    }
}

static void energies_of_regions_add_up(void **state)
{
  static const double vertices[][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}};
  static const int32_t triangles[][3] = {{0, 1, 4}, {0, 4, 3}, {1, 2, 5}, {1, 5, 4}},
                       regions[] = {1, 1, 2, 2}, line[] = {1, 4}, tag[] = {7};
  const kedge_mesh_arrays arrays = {.n_vertices = 6,
                                    .vertices = vertices[0],
                                    .n_triangles = 4,
                                    .triangles = triangles[0],
                                    .regions = regions,
                                    .n_lines = 1,
                                    .lines = line,
                                    .line_tags = tag};
  double energy[3];
  (void)state;
  waves w = {.ctx = open_backend(test_backend(), 1)};
  w.problem = waves_problem(
      w.ctx, SETTINGS({"equation", "system", "maxwell-tm"}, {"space", "order", "2"},
                      {"region 1", "permittivity", "4"}, {"region default", "", ""},
                      {"initial", "Ez", "1"}, {"boundary default", "type", "absorbing"}, TO_ONE));
  must(w.ctx, kedge_mesh_create(w.ctx, &arrays, &w.mesh));
  must(w.ctx, kedge_march_create(w.ctx, w.mesh, w.problem, &w.march));
  must(w.ctx, kedge_march_energy_of(w.march, NULL, &energy[0]));
  must(w.ctx, kedge_march_energy_of(w.march, "1", &energy[1]));
  must(w.ctx, kedge_march_energy_of(w.march, "2", &energy[2]));
  assert_at_most(fabs(energy[1] - 2.0), 1e-6);
  assert_at_most(fabs(energy[2] - 0.5), 1e-6);
  assert_at_most(fabs(energy[0] - waves_energy(&w)), 1e-15);
  assert_said(&w, kedge_march_energy_of(w.march, "3", &energy[0]), KEDGE_ERR_INPUT, "'3'");
  assert_said(&w, kedge_march_energy_of(w.march, "3", &energy[0]), KEDGE_ERR_INPUT,
              "kedge_march_energy_of: ");
  assert_said(&w, kedge_march_energy_of(w.march, "7", &energy[0]), KEDGE_ERR_INPUT,
              "kedge_march_energy_of: '7' is no region of the mesh");
  waves_free(&w);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_nodes_and_nan_outside),
      cmocka_unit_test(any_number_of_probes_have_the_same_values),
      cmocka_unit_test(all_probes_of_a_state_come_by_one_copy),
      cmocka_unit_test(probes_that_pass_are_forgotten),
      cmocka_unit_test(large_probes_come_and_go),
      cmocka_unit_test(what_has_no_values_is_refused),
      cmocka_unit_test(values_in_device_memory_are_those_of_the_host),
      cmocka_unit_test(energies_of_regions_add_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
