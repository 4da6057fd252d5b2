// Fluxes through lines inside the domain have the side that the header says: between two regions
// out of the lower tag, within one out of a closed line and through an open one to larger x or y.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "support.h"

enum { N = 4, ROW = N + 1, LINES_MAX = 32 };

/// Lines of a mesh of N x N squares on the unit square, as pairs of grid points.
typedef struct drawing {
  int n;
  int32_t line[2 * LINES_MAX], tag[LINES_MAX];
} drawing;

/// Add the lines of a path along the grid, each second one against its direction, the last first.
static void draw(drawing *d, int32_t tag, int n, const int (*points)[2])
{
  for (int i = n - 2; i >= 0; --i) {
    int x = points[i][0], y = points[i][1];
    const int dx = (points[i + 1][0] > x) - (points[i + 1][0] < x);
    const int dy = (points[i + 1][1] > y) - (points[i + 1][1] < y);
    for (; x != points[i + 1][0] || y != points[i + 1][1]; x += dx, y += dy) {
      const int32_t from = y * ROW + x, to = (y + dy) * ROW + x + dx;
      const bool turned = (x + y) % 2;
      assert_true(d->n < LINES_MAX);
      d->line[2 * d->n] = turned ? to : from;
      d->line[2 * d->n + 1] = turned ? from : to;
      d->tag[d->n++] = tag;
    }
  }
}

/// @param[in] right  tag of the elements with x > 1/2; that of the others is 5
static kedge_mesh *mesh_of(const drawing *d, int32_t right)
{
  double vertices[2 * ROW * ROW];
  int32_t triangles[6 * N * N], regions[2 * N * N];
  for (int v = 0; v < ROW * ROW; ++v) {
    vertices[2 * v] = (double)(v % ROW) / N;
    vertices[2 * v + 1] = (double)(v / ROW) / N;
  }
  for (int i = 0; i < N * N; ++i) {
    const int32_t a = i / N * ROW + i % N, b = a + 1, c = a + ROW + 1, e = a + ROW;
    memcpy(triangles + 6 * i, (int32_t[]){a, b, c, a, c, e}, 6 * sizeof *triangles);
    regions[2 * i] = regions[2 * i + 1] = i % N < N / 2 ? 5 : right;
  }
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_create(ctx,
                              &(kedge_mesh_arrays){.n_vertices = ROW * ROW,
                                                   .vertices = vertices,
                                                   .n_triangles = 2 * N * N,
                                                   .triangles = triangles,
                                                   .regions = regions,
                                                   .n_lines = d->n,
                                                   .lines = d->line,
                                                   .line_tags = d->tag},
                              &mesh));
  return mesh;
}

/// Check the flux of u = x + 2 y + x^2 + y^2 through the lines with tag 1.
static void check(const drawing *d, int32_t right, double expected)
{
  kedge_mesh *mesh = mesh_of(d, right);
  kedge_solution *solution =
      solve(ctx, mesh,
            SETTINGS({"space", "order", "2"}, {"exact", "u", "x + 2*y + x^2 + y^2"},
                     {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-14"}));
  kedge_report report = KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(solution, &report));
  bool found = false;
  for (int i = 0; i < report.n_groups; ++i) {
    const kedge_group_values *const g = report.groups[i];
    if (g->tag != 1) continue;
    found = true;
    assert_true(g->inside);
    assert_int_equal(g->edges, d->n);
    assert_at_most(fabs(g->flux - expected), 1e-11);
  }
  assert_true(found);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
}

static void a_line_between_regions_is_seen_from_the_lower_tag(void **state)
{
  (void)state;
  drawing d = {0};
  draw(&d, 1, 2, (const int[][2]){{2, 0}, {2, 4}});
  check(&d, 6, 2.0);   // du/dx = 1 + 2 x
  check(&d, 4, -2.0);  // n is -x
}

static void an_open_line_lets_through_to_where_x_grows_or_y(void **state)
{
  (void)state;
  drawing up = {0}, down = {0}, along = {0}, corner = {0};
  draw(&up, 1, 2, (const int[][2]){{1, 0}, {1, 4}});
  draw(&down, 1, 2, (const int[][2]){{1, 4}, {1, 0}});
  draw(&along, 1, 2, (const int[][2]){{4, 1}, {0, 1}});
  draw(&corner, 1, 3, (const int[][2]){{1, 4}, {1, 2}, {0, 2}});
  check(&up, 5, 1.5);
  check(&down, 5, 1.5);
  check(&along, 5, 2.5);
  // The line goes down and to the left: what goes through to larger x also goes down.
  check(&corner, 5, 0.5 * 1.5 - 0.25 * 3.0);
}

static void a_closed_line_is_left(void **state)
{
  (void)state;
  drawing d = {0}, turned = {0};
  draw(&d, 1, 5, (const int[][2]){{1, 1}, {3, 1}, {3, 3}, {1, 3}, {1, 1}});
  draw(&turned, 1, 5, (const int[][2]){{1, 1}, {1, 3}, {3, 3}, {3, 1}, {1, 1}});
  check(&d, 5, 4.0 * 0.25);  // the Laplacian of u is 4
  check(&turned, 5, 4.0 * 0.25);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_between_regions_is_seen_from_the_lower_tag),
      cmocka_unit_test(an_open_line_lets_through_to_where_x_grows_or_y),
      cmocka_unit_test(a_closed_line_is_left),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
