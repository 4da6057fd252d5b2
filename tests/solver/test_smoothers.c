// Iterations of multigrid with each smoother, through the public API.
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "elliptic/stages.h"
#include "grid.h"
#include "support.h"

static kedge_report smooth_problem_with(const char *smoother, const char *generate, int order,
                                        const char *steps)
{
  char text[8];
  snprintf(text, sizeof text, "%d", order);
  return converged_on(
      ctx, generate,
      SETTINGS({"space", "order", text}, {"boundary default", "type", "dirichlet"},
               {"exact", "u", "sin(2*pi*x)*sin(2*pi*y)+x"}, {"solver", "smoothing_steps", steps},
               {"solver", "preconditioner", "multigrid"}, {"solver", "smoother", smoother},
               {"output", "fields", "cells"}));
}

static kedge_report smooth_problem(const char *generate, int order, const char *steps)
{
  return smooth_problem_with("edge", generate, order, steps);
}

/// At most 20 at every order, on squares and on the L.
static void iterations_do_not_grow_with_the_mesh(void **state)
{
  (void)state;
  for (int order = 1; order <= 9; ++order) {
    const int64_t coarse = smooth_problem("square 16", order, "1").iterations;
    const int64_t fine = smooth_problem("square 32", order, "1").iterations;
    const int64_t corner = smooth_problem("lshape 12", order, "1").iterations;
    assert_in_range(coarse, 1, 20);
    assert_in_range(fine, 1, coarse + 2);
    assert_in_range(corner, 1, 20);
  }
}

/// Source 1 and u = 0 on the boundary around a corner: rough data, and the slowest of good
/// triangles. 17 at most at orders 5 to 9, where it was 23.
static void vertex_modes_keep_high_orders_as_fast_as_low_ones(void **state)
{
  (void)state;
  for (int order = 5; order <= 9; order += 2) {
    char text[8];
    snprintf(text, sizeof text, "%d", order);
    // This mesh has no lines, and `line` moves no vertex modes.
    static const char *const smoothers[] = {"edge", "line"};
    int64_t iterations[2];
    for (int i = 0; i < 2; ++i)
      iterations[i] = converged_on(ctx, "lshape 12",
                                   SETTINGS({"space", "order", text}, {"equation", "source", "1"},
                                            {"boundary default", "type", "dirichlet"},
                                            {"boundary default", "value", "0"},
                                            {"solver", "preconditioner", "multigrid"},
                                            {"solver", "smoother", smoothers[i]},
                                            {"output", "fields", "cells"}))
                          .iterations;
    assert_in_range(iterations[0], 1, 18);
    assert_in_range(iterations[0], 1, iterations[1] - (order - 3) / 2);
  }
}

/// Squares whose diagonals alternate: at vertices of four and of eight edges, by turns.
static kedge_mesh *alternating_mesh(int n)
{
  const int row = n + 1;
  test_grid grid = {.n_vertices = row * row, .n_triangles = 2 * n * n};
  grid.vertices = malloc(2 * (size_t)grid.n_vertices * sizeof *grid.vertices);
  grid.triangles = malloc(3 * (size_t)grid.n_triangles * sizeof *grid.triangles);
  assert_true(grid.vertices && grid.triangles);
  for (int v = 0; v < grid.n_vertices; ++v) {
    grid.vertices[2 * v] = (double)(v % row) / n;
    grid.vertices[2 * v + 1] = (double)(v / row) / n;
  }
  for (int cell = 0; cell < n * n; ++cell) {
    const int i = cell % n, j = cell / n, v = j * row + i;
    const int32_t corner[4] = {v, v + 1, v + row + 1, v + row};
    for (int k = 0; k < 6; ++k) {
      static const int places[6] = {0, 1, 2, 0, 2, 3};
      grid.triangles[6 * cell + k] = corner[(places[k] + (i + j)) % 4];
    }
  }
  kedge_mesh *mesh = test_grid_mesh(&grid, ctx);
  test_grid_destroy(&grid);
  return mesh;
}

static kedge_report alternating_problem(const kedge_mesh *mesh, int order)
{
  char text[8];
  snprintf(text, sizeof text, "%d", order);
  return report_of(
      ctx, mesh,
      SETTINGS({"space", "order", text}, {"boundary default", "type", "dirichlet"},
               {"boundary default", "value", "0"}, {"equation", "source", "1"},
               {"solver", "preconditioner", "multigrid"}, {"output", "fields", "cells"}));
}

static void alternating_diagonals_take_no_more_iterations_than_other_good_triangles(void **state)
{
  (void)state;
  kedge_mesh *mesh = alternating_mesh(48);
  const int orders[] = {1, 4, 5, 6, 8};
  for (int i = 0; i < 5; ++i) {
    const kedge_report r = alternating_problem(mesh, orders[i]);
    assert_true(r.converged);
    assert_in_range(r.iterations, 1, 20);
  }
  kedge_mesh_destroy(mesh);
}

/// Slowly, but without a breakdown: even orders come nearest to one.
static void blocks_of_edges_converge_on_thin_triangles_at_every_order(void **state)
{
  (void)state;
  for (int order = 5; order <= 10; ++order) smooth_problem("ring 50 8", order, "1");
}

/// Triangles of a ring are twice as long as wide.
static void stretched_triangles_take_a_few_iterations_more(void **state)
{
  (void)state;
  for (int order = 1; order <= 9; order += 2) {
    const int64_t coarse = smooth_problem("ring 8 32", order, "1").iterations;
    const int64_t fine = smooth_problem("ring 16 64", order, "1").iterations;
    assert_in_range(coarse, 1, 28);
    assert_in_range(fine, 1, coarse + 2);
  }
}

/// Triangles 60 and 150 times as long as wide, in lines of 100 and of 400 edges; and lines that
/// close, which costs some iterations where they are cut.
static void lines_need_no_more_iterations_on_stretched_triangles(void **state)
{
  (void)state;
  static const char *const meshes[] = {"ring 50 8", "ring 200 12", "ring 3 300"};
  const int64_t most[] = {20, 20, 30};
  for (int order = 1; order <= 9; order += 4)
    for (int i = 0; i < 3; ++i) {
      const kedge_report by_lines = smooth_problem_with("line", meshes[i], order, "1");
      assert_in_range(by_lines.iterations, 1, most[i]);
      const kedge_report chosen = smooth_problem_with("auto", meshes[i], order, "1");
      assert_string_equal(chosen.smoother, "line");
      assert_int_equal(chosen.iterations, by_lines.iterations);
    }
}

static void auto_smooths_edge_by_edge_on_good_triangles(void **state)
{
  (void)state;
  const kedge_report by_edges = smooth_problem("square 16", 3, "1");
  const kedge_report chosen = smooth_problem_with("auto", "square 16", 3, "1");
  const kedge_report by_lines = smooth_problem_with("line", "square 16", 3, "1");
  assert_string_equal(chosen.smoother, "edge");
  assert_int_equal(chosen.iterations, by_edges.iterations);
  assert_int_equal(by_lines.iterations, by_edges.iterations);  // there are no lines
}

/// Blocks of edges take fewer iterations than the diagonal, those of lines on stretched triangles
/// again.
static void blocks_alone_beat_the_diagonal(void **state)
{
  (void)state;
  static const char *const names[][2] = {
      {"jacobi", "auto"}, {"block-jacobi", "edge"}, {"block-jacobi", "line"}};
  int64_t before = INT64_MAX;
  for (int i = 0; i < 3; ++i) {
    const kedge_report r = converged_on(
        ctx, "ring 40 8",
        SETTINGS({"space", "order", "4"}, {"boundary default", "type", "dirichlet"},
                 {"exact", "u", "sin(2*pi*x)+x*y"}, {"solver", "preconditioner", names[i][0]},
                 {"solver", "smoother", names[i][1]}, {"output", "fields", "cells"}));
    assert_string_equal(r.preconditioner, names[i][0]);
    assert_string_equal(r.smoother, i == 0 ? "" : names[i][1]);
    assert_in_range(r.iterations, 1, before - before / 8);
    before = r.iterations;
  }
}

static void more_smoothing_steps_take_fewer_iterations(void **state)
{
  (void)state;
  for (int order = 1; order <= 7; order += 3) {
    const int64_t one = smooth_problem("square 16", order, "1").iterations;
    const int64_t two = smooth_problem("square 16", order, "2").iterations;
    const int64_t three = smooth_problem("square 16", order, "3").iterations;
    assert_true(two < one && three < two);
  }
}

static void the_report_tells_what_multigrid_was(void **state)
{
  (void)state;
  const kedge_report r = smooth_problem("square 16", 2, "3");
  assert_string_equal(r.preconditioner, "multigrid");
  assert_string_equal(r.smoother, "edge");
  assert_int_equal(r.smoothing_steps, 3);
  assert_true(r.multigrid_levels >= 2);
  assert_true(r.setup_seconds > 0 && r.setup_seconds < r.stages[KG_STAGE_ASSEMBLY].seconds +
                                                           r.stages[KG_STAGE_TRACE_SOLVE].seconds);
  assert_true(r.stages[KG_STAGE_ASSEMBLY].bytes > 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(iterations_do_not_grow_with_the_mesh),
      cmocka_unit_test(vertex_modes_keep_high_orders_as_fast_as_low_ones),
      cmocka_unit_test(alternating_diagonals_take_no_more_iterations_than_other_good_triangles),
      cmocka_unit_test(blocks_of_edges_converge_on_thin_triangles_at_every_order),
      cmocka_unit_test(stretched_triangles_take_a_few_iterations_more),
      cmocka_unit_test(lines_need_no_more_iterations_on_stretched_triangles),
      cmocka_unit_test(auto_smooths_edge_by_edge_on_good_triangles),
      cmocka_unit_test(blocks_alone_beat_the_diagonal),
      cmocka_unit_test(more_smoothing_steps_take_fewer_iterations),
      cmocka_unit_test(the_report_tells_what_multigrid_was),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
