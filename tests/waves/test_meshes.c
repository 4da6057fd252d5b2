// Waves on meshes from arrays: regions, and numbers of vertices and elements.
#include "moving_waves.h"

#include <string.h>

enum { N = 6, VERTICES = (N + 1) * (N + 1), TRIANGLES = 2 * N * N };

/// A square whose inner vertices are moved.
/// @param[in] stride  vertex i of the lattice has the number i stride modulo VERTICES; triangles
///                    likewise, and their corners are turned and exchanged
static kedge_mesh *moved_mesh(kedge_context *ctx, int stride)
{
  static double vertices[VERTICES][2];
  static int32_t triangles[TRIANGLES][3], regions[TRIANGLES];
  int32_t number[VERTICES];
  for (int i = 0; i < VERTICES; ++i) {
    const int x = i % (N + 1), y = i / (N + 1), inside = x % N != 0 && y % N != 0;
    const int at_interface = 2 * x == N;
    number[i] = i * stride % VERTICES;
    vertices[number[i]][0] =
        (x + (inside && !at_interface ? 0.25 * sin(12.9898 * i) : 0.0)) / (double)N;
    vertices[number[i]][1] = (y + (inside ? 0.25 * sin(78.233 * i) : 0.0)) / (double)N;
  }
  for (int i = 0; i < TRIANGLES; ++i) {
    const int x = i / 2 % N, y = i / 2 / N, low = y * (N + 1) + x, to = i * stride % TRIANGLES;
    const int corner[2][3] = {{low, low + 1, low + N + 2}, {low, low + N + 2, low + N + 1}};
    for (int k = 0; k < 3; ++k) triangles[to][(stride * k + i) % 3] = number[corner[i % 2][k]];
    regions[to] = 2 * x < N ? 5 : 9;
  }
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_create(ctx,
                              &(kedge_mesh_arrays){.n_vertices = VERTICES,
                                                   .vertices = vertices[0],
                                                   .n_triangles = TRIANGLES,
                                                   .triangles = triangles[0],
                                                   .regions = regions},
                              &mesh));
  return mesh;
}

static waves march_of(int stride, const setting *settings)
{
  waves w = {.ctx = open_backend(test_backend(), 1)};
  w.problem = waves_problem(w.ctx, settings);
  w.mesh = moved_mesh(w.ctx, stride);
  must(w.ctx, kedge_march_create(w.ctx, w.mesh, w.problem, &w.march));
  waves_on(&w);
  return w;
}

static void properties_of_regions_are_those_of_a_function(void **state)
{
  enum { NODES = TRIANGLES * 10 };
  double value[2][NODES];
  (void)state;
  waves w[2] = {
      march_of(1, SETTINGS(CAVITY, {"space", "order", "3"}, {"time", "end", "0.5"},
                           {"equation", "conductivity", "0.3"}, {"region 9", "permittivity", "4"},
                           {"region default", "permittivity", "1"})),
      march_of(1, SETTINGS(CAVITY, {"space", "order", "3"}, {"time", "end", "0.5"},
                           {"equation", "conductivity", "0.3"},
                           {"equation", "permittivity", "x < 0.5 ? 1 : 4"}))};
  for (int i = 0; i < 2; ++i) {
    must(w[i].ctx, kedge_march_values(w[i].march, "Hx", 3, value[i]));
    waves_free(&w[i]);
  }
  assert_true(largest(NODES, value[0]) > 0.1);
  assert_memory_equal(value[0], value[1], sizeof value[0]);
}

static void numbers_of_vertices_and_elements_change_nothing_above_rounding(void **state)
{
  static const int strides[] = {1, 5, 31};
  double error[3], energy[3];
  (void)state;
  for (int i = 0; i < 3; ++i) {
    waves w =
        march_of(strides[i], SETTINGS(CAVITY, {"space", "order", "4"}, {"time", "end", "0.3"}));
    error[i] = waves_error(&w, NULL);
    energy[i] = waves_energy(&w);
    assert_at_most(fabs(error[i] - error[0]), 1e-8 * error[0]);
    assert_at_most(fabs(energy[i] - energy[0]), rounding(1e4) * energy[0]);
    waves_free(&w);
  }
  assert_at_most(error[0], 1e-4);
}

/// Whatever is done a second time gives the same bits.
static void runs_agree_bit_for_bit(void **state)
{
  enum { NODES = TRIANGLES * 21 };
  static double value[2][NODES];
  (void)state;
  for (int i = 0; i < 2; ++i) {
    waves w = march_of(5, SETTINGS(CAVITY, {"space", "order", "5"}, {"time", "end", "0.2"}));
    must(w.ctx, kedge_march_values(w.march, "Ez", 5, value[i]));
    waves_free(&w);
  }
  assert_memory_equal(value[0], value[1], sizeof value[0]);
}

static void a_run_that_was_cut_has_the_bits_of_one_run(void **state)
{
  enum { NODES = 2 * 4 * 4 * 10 };
  static const char file[] = "waves_checkpoint.tmp";
  (void)state;
  for (int single = 0; single < 2; ++single) {
    double value[2][NODES];
    waves w = waves_of("square 4", "3",
                       SETTINGS(CAVITY, {"time", "end", "0.4"}, {"output", "every", "0.1"},
                                {"solver", "precision", single ? "single" : "double"}));
    kedge_march *rest;
    for (int i = 0; i < 7; ++i) must(w.ctx, kedge_march_step(w.march));
    must(w.ctx, kedge_march_save(w.march, file));
    must(w.ctx, kedge_march_restore(w.ctx, w.mesh, w.problem, file, &rest));
    waves_on(&w);
    must(w.ctx, kedge_march_values(w.march, "Hy", 3, value[0]));
    const int64_t steps = waves_steps(&w);
    kedge_march_destroy(w.march);
    w.march = rest;
    waves_on(&w);
    must(w.ctx, kedge_march_values(w.march, "Hy", 3, value[1]));
    assert_int_equal(waves_steps(&w), steps);
    assert_true(largest(NODES, value[0]) > 0.1);
    assert_memory_equal(value[0], value[1], sizeof value[0]);
    waves_free(&w);
    remove(file);
  }
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(properties_of_regions_are_those_of_a_function),
      cmocka_unit_test(numbers_of_vertices_and_elements_change_nothing_above_rounding),
      cmocka_unit_test(runs_agree_bit_for_bit),
      cmocka_unit_test(a_run_that_was_cut_has_the_bits_of_one_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
