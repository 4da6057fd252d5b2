#include "grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "mesh/mesh.h"

double test_random(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(int32_t)(*seed >> 32) / 2147483648.0;
}

/// A random order of 0..n-1.
static int32_t *permutation(int32_t n, uint64_t *seed)
{
  int32_t *order = malloc((size_t)n * sizeof *order);
  assert_non_null(order);
  for (int32_t i = 0; i < n; ++i) order[i] = i;
  for (int32_t i = n - 1; i > 0; --i) {
    const int32_t j = (int32_t)(0.5 * (1.0 + test_random(seed)) * (i + 1)) % (i + 1);
    const int32_t swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  return order;
}

static void add_line(test_grid *grid, int32_t from, int32_t to)
{
  grid->lines[2 * grid->n_lines] = from;
  grid->lines[2 * grid->n_lines + 1] = to;
  grid->line_tags[grid->n_lines++] = GRID_WALL;
}

static void add_triangles(test_grid *grid, int width, const int32_t *number, uint64_t *seed)
{
  const int row = width + 1;
  for (int t = 0; t < grid->n_triangles; ++t) {
    const int cell = t / 2, i = cell % width, j = cell / width, v = j * row + i;
    const int lower[3] = {v, v + 1, v + row + 1}, upper[3] = {v, v + row + 1, v + row};
    const int turn = (int)(1.5 * (1.0 + test_random(seed))) % 3;
    for (int k = 0; k < 3; ++k) {
      const int corner = t % 5 == 3 ? 2 - k : k;
      grid->triangles[3 * t + k] = number[(t % 2 ? upper : lower)[(corner + turn) % 3]];
    }
    if (j == 0 && t % 2 == 0) add_line(grid, number[v], number[v + 1]);
    if (i == 0 && t % 2 == 1) add_line(grid, number[v + row], number[v]);
  }
}

void test_grid_create(test_grid *grid, int n_triangles)
{
  const int width = (int)ceil(sqrt(0.5 * n_triangles)), row = width + 1;
  const size_t n = (size_t)n_triangles;
  uint64_t seed = 17u + (uint64_t)n;
  *grid =
      (test_grid){.n_vertices = row * (n_triangles / 2 / width + 2), .n_triangles = n_triangles};
  grid->vertices = malloc(2 * (size_t)grid->n_vertices * sizeof *grid->vertices);
  grid->triangles = malloc(3 * n * sizeof *grid->triangles);
  grid->lines = malloc(2 * n * sizeof *grid->lines);
  grid->line_tags = malloc(n * sizeof *grid->line_tags);
  assert_true(grid->vertices && grid->triangles && grid->lines && grid->line_tags);
  int32_t *number = permutation(grid->n_vertices, &seed);
  for (int v = 0; v < grid->n_vertices; ++v) {
    grid->vertices[2 * number[v]] = v % row + 0.2 * test_random(&seed);
    grid->vertices[2 * number[v] + 1] = v / row + 0.2 * test_random(&seed);
  }
  add_triangles(grid, width, number, &seed);
  free(number);
}

void test_grid_destroy(test_grid *grid)
{
  free(grid->vertices);
  free(grid->triangles);
  free(grid->lines);
  free(grid->line_tags);
  *grid = (test_grid){0};
}

kedge_mesh *test_grid_mesh(const test_grid *grid, kedge_context *ctx)
{
  const kedge_mesh_arrays arrays = {.n_vertices = grid->n_vertices,
                                    .vertices = grid->vertices,
                                    .n_triangles = grid->n_triangles,
                                    .triangles = grid->triangles,
                                    .n_lines = grid->n_lines,
                                    .lines = grid->lines,
                                    .line_tags = grid->line_tags};
  kedge_mesh *mesh = NULL;
  if (kedge_mesh_create(ctx, &arrays, &mesh) != KEDGE_OK) fail_msg("%s", kedge_context_error(ctx));
  return mesh;
}

kedge_mesh *test_irregular_mesh(kedge_context *ctx, int n_triangles)
{
  return test_stretched_mesh(ctx, n_triangles, 1.0);
}

kedge_mesh *test_stretched_mesh(kedge_context *ctx, int n_triangles, double stretch)
{
  test_grid grid;
  test_grid_create(&grid, n_triangles);
  for (int v = 0; v < grid.n_vertices; ++v) grid.vertices[2 * v] *= stretch;
  kedge_mesh *mesh = test_grid_mesh(&grid, ctx);
  test_grid_destroy(&grid);
  return mesh;
}

kedge_mesh *test_obtuse_mesh(kedge_context *ctx, int n_triangles, double degrees)
{
  test_grid grid;
  test_grid_create(&grid, n_triangles);
  const double angle = degrees * M_PI / 180.0;
  for (int v = 0; v < grid.n_vertices; ++v) {
    double *x = grid.vertices + 2 * (size_t)v;
    const double i = round(x[0]), j = round(x[1]);  // less the random part
    x[0] = i - j * cos(angle);
    x[1] = j * sin(angle);
  }
  kedge_mesh *mesh = test_grid_mesh(&grid, ctx);
  test_grid_destroy(&grid);
  return mesh;
}

kedge_mesh *test_checkerboard(kedge_context *ctx, int n)
{
  kg_raw_mesh raw;
  kedge_mesh *mesh;
  const int w = n + 1;
  assert_int_equal(kg_raw_mesh_alloc(ctx, 2, w * w, n * n + (n * n + 1) / 2, 4, 4 * n, &raw),
                   KEDGE_OK);
  for (int v = 0; v < w * w; ++v) {
    raw.vertices[2 * v] = (double)(v % w) / n;
    raw.vertices[2 * v + 1] = (double)(v / w) / n;
  }
  int32_t *to = raw.corners;
  for (int k = 0; k < n * n; ++k) {
    const int32_t a = k / n * w + k % n, b = a + 1, c = b + w, d = a + w;
    const int32_t both[8] = {a, b, c, -1, a, c, d, -1}, whole[4] = {a, b, c, d};
    const bool is_split = (k / n + k % n) % 2 == 0;
    memcpy(to, is_split ? both : whole, is_split ? sizeof both : sizeof whole);
    to += is_split ? 8 : 4;
  }
  for (int64_t e = 0; e < raw.n_elements; ++e) raw.regions[e] = 0;
  for (int i = 0; i < n; ++i) {
    const int32_t lines[8] = {i,     i + 1,       n * w + i, n * w + i + 1,
                              i * w, (i + 1) * w, i * w + n, (i + 1) * w + n};
    memcpy(raw.lines + 8 * i, lines, sizeof lines);
    for (int k = 0; k < 4; ++k) raw.line_tags[4 * i + k] = 1 + k;
  }
  assert_int_equal(kg_mesh_build(ctx, &raw, "checkerboard", &mesh), KEDGE_OK);
  kg_raw_mesh_free(&raw);
  return mesh;
}
