#include "moved.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "mesh/mesh.h"
#include "support.h"

void stay(int n, const double from[2], double to[2])
{
  (void)n;
  to[0] = from[0];
  to[1] = from[1];
}

void wave(int n, const double from[2], double to[2])
{
  (void)n;
  const double w = 0.1 * sin(2.0 * M_PI * from[0]) * sin(2.0 * M_PI * from[1]);
  to[0] = from[0] + w;
  to[1] = from[1] + w;
}

void ring(int n, const double from[2], double to[2])
{
  (void)n;
  to[0] = (1.0 + from[0]) * cos(0.5 * M_PI * from[1]);
  to[1] = (1.0 + from[0]) * sin(0.5 * M_PI * from[1]);
}

/// Moves every other row of vertices, up and down in turns, at the boundary too.
void trapezoids(int n, const double from[2], double to[2])
{
  const int i = (int)lround(n * from[0]), j = (int)lround(n * from[1]);
  to[0] = from[0];
  to[1] = from[1] + (j % 2 == 0 ? 0.0 : i % 2 == 0 ? -0.25 / n : 0.25 / n);
}

void shaken(int n, const double from[2], double to[2])
{
  const int i = (int)lround(n * from[0]), j = (int)lround(n * from[1]);
  const double shift = i > 0 && i < n && j > 0 && j < n ? 0.2 / n : 0.0;
  to[0] = from[0] + shift * sin(3.0 * i + j);
  to[1] = from[1] + shift * cos(i + 2.0 * j);
}

static int32_t no_region(int n, int i, int j)
{
  (void)n, (void)i, (void)j;
  return 0;
}

kedge_mesh *moved(kedge_context *ctx, int n, enum cut cut, int geometry, moving *to)
{
  return grid_of(ctx, n, cut, geometry, to, no_region);
}

static void put_line(kg_raw_mesh *raw, int32_t tag, int32_t from, int32_t to)
{
  raw->lines[2 * raw->n_lines] = from;
  raw->lines[2 * raw->n_lines + 1] = to;
  raw->line_tags[raw->n_lines++] = tag;
}

static bool is_cut_at(enum cut cut, int n, int i, int j)
{
  return cut == ALL || (cut == CHECKERED && (i + j) % 2 == 1) || (cut == LOWER_HALF && j < n / 2);
}

kedge_mesh *grid_of(kedge_context *ctx, int n, enum cut cut, int geometry, moving *to,
                    regions *region)
{
  const int row = n + 1;
  kg_raw_mesh raw = {.dimension = 2, .n_vertices = (int64_t)row * row, .width = cut == ALL ? 3 : 4};
  raw.vertices = calloc(2 * (size_t)raw.n_vertices, sizeof *raw.vertices);
  raw.corners = calloc(8 * (size_t)(n * n), sizeof *raw.corners);
  raw.regions = calloc(2 * (size_t)(n * n), sizeof *raw.regions);
  raw.lines = calloc(8 * (size_t)n, sizeof *raw.lines);
  raw.line_tags = calloc(4 * (size_t)n, sizeof *raw.line_tags);
  assert_true(raw.vertices && raw.corners && raw.regions && raw.lines && raw.line_tags);
  for (int i = 0; i < n; ++i) {
    put_line(&raw, 1, i, i + 1);
    put_line(&raw, 2, i * row + n, (i + 1) * row + n);
    put_line(&raw, 3, n * row + i, n * row + i + 1);
    put_line(&raw, 4, i * row, (i + 1) * row);
  }
  for (int v = 0; v < row * row; ++v) {
    raw.vertices[2 * v] = (double)(v % row) / n;
    raw.vertices[2 * v + 1] = (double)(v / row) / n;
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const int32_t a = j * row + i, b = a + 1, d = a + row, e = d + 1;
      const bool is_cut = is_cut_at(cut, n, i, j);
      const int32_t whole[2][4] = {{a, b, e, d}}, parts[2][4] = {{a, b, e, -1}, {a, e, d, -1}};
      for (int k = 0; k < (is_cut ? 2 : 1); ++k, ++raw.n_elements) {
        raw.regions[raw.n_elements] = region(n, i, j);
        memcpy(raw.corners + raw.width * raw.n_elements, is_cut ? parts[k] : whole[k],
               (size_t)raw.width * sizeof *raw.corners);
      }
    }
  must(ctx, kg_raw_mesh_set_geometry(ctx, geometry, &raw));
  for (int64_t i = 0; i < raw.n_elements * kg_raw_stride(&raw); ++i) {
    const double from[2] = {raw.nodes[2 * i], raw.nodes[2 * i + 1]};
    to(n, from, raw.nodes + 2 * i);
  }
  for (int64_t v = 0; v < raw.n_vertices; ++v) {
    const double from[2] = {raw.vertices[2 * v], raw.vertices[2 * v + 1]};
    to(n, from, raw.vertices + 2 * v);
  }
  kedge_mesh *mesh;
  must(ctx, kg_mesh_build(ctx, &raw, "grid", &mesh));
  kg_raw_mesh_free(&raw);
  return mesh;
}
