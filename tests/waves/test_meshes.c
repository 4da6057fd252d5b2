// Waves on meshes from arrays: regions, and numbers of vertices and elements.
#include "moving_waves.h"

#include <string.h>
#include <unistd.h>

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

static int threads = 1;

static waves march_of(int stride, const setting *settings)
{
  waves w = {.ctx = open_backend(test_backend(), threads)};
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

/// `cube 2` with other numbers; corners of every element are exchanged twice, or once.
static kedge_mesh *renumbered_cube(kedge_context *ctx, int stride)
{
  enum { CORNERS = 27, TETRAHEDRA = 48 };
  double at[TETRAHEDRA][4][3], vertices[CORNERS][3];
  int32_t corner[TETRAHEDRA][4], tetrahedra[TETRAHEDRA][4];
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "cube 2", &mesh));
  must(ctx, kedge_mesh_corners(mesh, corner[0]));
  must(ctx, kedge_mesh_nodes(mesh, at[0][0]));
  kedge_mesh_destroy(mesh);
  for (int e = 0; e < TETRAHEDRA; ++e)
    for (int l = 0; l < 4; ++l) {
      const int32_t number = corner[e][l] * stride % CORNERS;
      memcpy(vertices[number], at[e][l], sizeof at[e][l]);
      tetrahedra[e * stride % TETRAHEDRA][(l * stride + e) % 4] = number;
    }
  kedge_space_arrays arrays = KEDGE_SPACE_ARRAYS_INIT;
  arrays.n_vertices = CORNERS;
  arrays.vertices = vertices[0];
  arrays.n_tetrahedra = TETRAHEDRA;
  arrays.tetrahedra = tetrahedra[0];
  must(ctx, kedge_mesh_create_space(ctx, &arrays, &mesh));
  return mesh;
}

static void neither_do_they_in_space(void **state)
{
  static const int strides[] = {1, 5, 7, 25};
  double error = 0.0, energy = 0.0;
  (void)state;
  for (int i = 0; i < 4; ++i) {
    waves w = waves_before(SETTINGS(CAVITY_OF_CUBE, {"space", "order", "4"}, {"time", "end", "0.2"},
                                    {"equation", "permittivity", "1+z"}));
    w.mesh = renumbered_cube(w.ctx, strides[i]);
    must(w.ctx, kedge_march_create(w.ctx, w.mesh, w.problem, &w.march));
    waves_on(&w);
    if (i == 0) error = waves_error(&w, NULL), energy = waves_energy(&w);
    assert_at_most(fabs(waves_error(&w, NULL) - error), rounding(1e4) * error);
    assert_at_most(fabs(waves_energy(&w) - energy), rounding(1e4) * energy);
    waves_free(&w);
  }
  assert_true(error > 1e-3);
}

/// Whatever is done a second time gives the same bits, by two threads too.
static void runs_agree_bit_for_bit(void **state)
{
  enum { NODES = TRIANGLES * 21, RUNS = 4 };
  static double value[RUNS][NODES];
  (void)state;
  for (int i = 0; i < RUNS; ++i) {
    threads = 1 + i / 2;
    waves w = march_of(5, SETTINGS(CAVITY, {"space", "order", "5"}, {"time", "end", "0.2"}));
    must(w.ctx, kedge_march_values(w.march, "Ez", 5, value[i]));
    waves_free(&w);
    assert_memory_equal(value[i], value[0], sizeof value[0]);
  }
  threads = 1;
}

static void assert_goes_on(const char *mesh, const char *field, const setting *settings)
{
  enum { NODES = 48 * 20 };  // of `cube 2`; `square 4` has fewer
  char file[64];  // of this process: the entries of all backends run side by side in one folder
  snprintf(file, sizeof file, "/tmp/kedge_waves_%ld.march", (long)getpid());
  for (int single = 0; single < 2; ++single) {
    double value[2][NODES] = {{0.0}};
    waves w = waves_before(settings);
    must(w.ctx, kedge_problem_set(w.problem, "mesh", "generate", mesh));
    must(w.ctx, kedge_problem_set(w.problem, "space", "order", "3"));
    must(w.ctx, kedge_problem_set(w.problem, "solver", "precision", single ? "single" : "double"));
    waves_begin(&w);
    kedge_march *rest;
    for (int i = 0; i < 7; ++i) must(w.ctx, kedge_march_step(w.march));
    must(w.ctx, kedge_march_save(w.march, file));
    must(w.ctx, kedge_march_restore(w.ctx, w.mesh, w.problem, file, &rest));
    waves_on(&w);
    must(w.ctx, kedge_march_values(w.march, field, 3, value[0]));
    const int64_t steps = waves_steps(&w);
    kedge_march_destroy(w.march);
    w.march = rest;
    waves_on(&w);
    must(w.ctx, kedge_march_values(w.march, field, 3, value[1]));
    assert_int_equal(waves_steps(&w), steps);
    assert_true(steps > 10 && largest(NODES, value[0]) > 0.01);
    assert_memory_equal(value[0], value[1], sizeof value[0]);
    waves_free(&w);
    remove(file);
  }
}

static void a_run_that_was_cut_has_the_bits_of_one_run(void **state)
{
  (void)state;
  assert_goes_on("square 4", "Hy",
                 SETTINGS(CAVITY, {"time", "end", "0.4"}, {"output", "every", "0.1"}));
  assert_goes_on("square 4", "Hy",
                 SETTINGS(CAVITY, {"time", "end", "0.4"}, {"time", "steps", "41"}));
  assert_goes_on(
      "cube 2", "Hy",
      SETTINGS(CAVITY_OF_CUBE, {"time", "end", "0.4"}, {"boundary x0", "type", "incident"},
               {"boundary x0", "Ey", "sin(9*t)"}, {"equation", "conductivity", "x"}));
  assert_goes_on("cube 2", "vz",
                 SETTINGS({"equation", "system", "acoustics"}, {"boundary default", "type", "soft"},
                          {"boundary default", "p", "sin(9*t)"}, {"initial", "vz", "x*y"},
                          {"time", "end", "0.3"}, {"time", "steps", "25"}));
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(properties_of_regions_are_those_of_a_function),
      cmocka_unit_test(numbers_of_vertices_and_elements_change_nothing_above_rounding),
      cmocka_unit_test(neither_do_they_in_space),
      cmocka_unit_test(runs_agree_bit_for_bit),
      cmocka_unit_test(a_run_that_was_cut_has_the_bits_of_one_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
