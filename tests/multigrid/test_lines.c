// Lines of edges across stretched triangles, and what multigrid smooths with along them.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "../grid.h"
#include "../ops/dense.h"
#include "compare.h"
#include "space/edge_lines.h"
#include "systems.h"

enum { MODES = KEDGE_ORDER_MAX + 1 };

/// The corner of the smallest angle, by its cosine; -1: it is not small.
static int pair_by_angles(const kedge_mesh *mesh, int32_t e)
{
  int best = -1;
  double most = cos(acos(-1.0) / 6.0);
  for (int i = 0; i < 3; ++i) {
    const int32_t *v = mesh->element_vertices + 3 * (int64_t)e;
    const double *p = mesh->vertices + 2 * v[i], *q = mesh->vertices + 2 * v[(i + 1) % 3],
                 *r = mesh->vertices + 2 * v[(i + 2) % 3];
    const double ax = q[0] - p[0], ay = q[1] - p[1], bx = r[0] - p[0], by = r[1] - p[1];
    const double cosine = (ax * bx + ay * by) / sqrt((ax * ax + ay * ay) * (bx * bx + by * by));
    if (cosine > most) most = cosine, best = i;
  }
  return best;
}

/// [trace edge][2]: neighbours in the line it belongs to, -1: none.
static int32_t *find_neighbours(const trace_system *s)
{
  const int32_t n_free = s->c.batch.count.n_free;
  int32_t *neighbour = malloc((size_t)(2 * n_free + 1) * sizeof *neighbour);
  assert_non_null(neighbour);
  for (int32_t i = 0; i < 2 * n_free; ++i) neighbour[i] = -1;
  const kg_edge_lines *lines = &s->lines;
  for (int32_t line = 0; line < lines->n_lines; ++line)
    for (int32_t k = lines->begin[line] + 1; k < lines->begin[line + 1]; ++k) {
      neighbour[2 * lines->edge[k]] = lines->edge[k - 1];
      neighbour[2 * lines->edge[k - 1] + 1] = lines->edge[k];
    }
  return neighbour;
}

static int32_t edge_of(const trace_system *s, int32_t e, int l)
{
  return (int32_t)(system_trace_row(s, e, l * s->c.size.n_edge) / s->c.size.n_edge);
}

/// Every pair is joined, but where a line that closes was cut; nothing else is.
static void check_pairs(trace_system *s)
{
  const int32_t n_free = s->c.batch.count.n_free;
  int32_t *neighbour = find_neighbours(s);
  int pairs = 0, joined = 0;
  for (int32_t e = 0; e < s->c.mesh->n_elements; ++e) {
    const int corner = pair_by_angles(s->c.mesh, e);
    if (corner < 0) continue;
    const int32_t a = edge_of(s, e, corner), b = edge_of(s, e, (corner + 2) % 3);
    if (a >= n_free || b >= n_free) continue;
    ++pairs;
    joined += neighbour[2 * a] == b || neighbour[2 * a + 1] == b;
  }
  const kg_edge_lines *lines = &s->lines;
  assert_int_equal(joined, lines->n_steps - lines->n_lines);
  assert_in_range(pairs - joined, 0, lines->n_lines);
  char *seen = calloc((size_t)n_free + 1, 1);
  assert_non_null(seen);
  for (int32_t k = 0; k < lines->n_steps; ++k) {
    assert_in_range(lines->edge[k], 0, n_free - 1);
    assert_int_equal(seen[lines->edge[k]]++, 0);
  }
  for (int32_t line = 0; line < lines->n_lines; ++line)
    assert_true(lines->begin[line + 1] - lines->begin[line] >= 2);
  free(seen), free(neighbour);
}

static void lines_join_the_pairs_of_stretched_triangles(void **state)
{
  (void)state;
  for_smoother(KEDGE_SMOOTHER_LINE, check_pairs, 1, 1.0);
}

static void a_ring_of_thin_sectors_has_lines_that_close(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  kg_trace_layout layout;
  kg_edge_lines lines;
  must(ctx, kedge_mesh_generate(ctx, "ring 2 200", &mesh));
  const bool dirichlet[] = {true, true, true, true};
  must(ctx, kg_trace_layout_create(ctx, mesh, dirichlet, 8, 0, NULL, &layout));
  must(ctx, kg_edge_lines_create(ctx, mesh, &layout, &lines));
  assert_int_equal(lines.n_lines, 2);
  assert_int_equal(lines.begin[1], 400);
  assert_int_equal(lines.n_steps, 800);
  kg_edge_lines_free(&lines);
  kg_trace_layout_free(&layout);
  kedge_mesh_destroy(mesh);
}

static void well_shaped_triangles_have_no_lines(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  kg_trace_layout layout;
  kg_edge_lines lines;
  must(ctx, kedge_mesh_generate(ctx, "square 9", &mesh));
  const bool dirichlet[5] = {true};
  must(ctx, kg_trace_layout_create(ctx, mesh, dirichlet, 8, 0, NULL, &layout));
  must(ctx, kg_edge_lines_create(ctx, mesh, &layout, &lines));
  assert_int_equal(lines.n_lines, 0);
  assert_int_equal(lines.n_steps, 0);
  assert_at_most(fabs(lines.alignment - mesh->alignment), rounding(3));
  kg_edge_lines_free(&lines);
  kg_trace_layout_free(&layout);
  kedge_mesh_destroy(mesh);
}

/// B: A of edges with themselves and, of elements between neighbours in a line, with each other.
static double *assemble_lines(const trace_system *s)
{
  const int n = s->c.size.n_trace, m = s->c.size.n_edge;
  const int64_t rows = (int64_t)s->n_rows;
  int32_t *neighbour = find_neighbours(s);
  double *b = calloc((size_t)(rows * rows) + 1, sizeof *b);
  assert_non_null(b);
  for (int32_t e = 0; e < s->c.mesh->n_elements; ++e) {
    const int corner = pair_by_angles(s->c.mesh, e);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const int64_t row = system_trace_row(s, e, i), column = system_trace_row(s, e, j);
        if (row >= rows || column >= rows) continue;
        const int32_t from = (int32_t)(row / m), to = (int32_t)(column / m);
        const bool pair =
            corner >= 0 && i / m != j / m && i / m != (corner + 1) % 3 && j / m != (corner + 1) % 3;
        const bool joined = neighbour[2 * from] == to || neighbour[2 * from + 1] == to;
        if (i / m == j / m || (pair && joined))
          b[row * rows + column] += system_local_entry(s, e, i, j);
      }
  }
  free(neighbour);
  return b;
}

/// L of each step of a line but the first.
static void check_line(const trace_system *s, const double *b, const float *factor, int32_t line)
{
  const int m = s->c.size.n_edge;
  const size_t n = s->n_rows;
  const kg_edge_lines *lines = &s->lines;
  double inverse[MODES][MODES], coupling[MODES][MODES], l[MODES][MODES], d[MODES * MODES];
  for (int32_t step = lines->begin[line]; step < lines->begin[line + 1]; ++step) {
    const size_t row = (size_t)lines->edge[step] * (size_t)m;
    for (int i = 0; i < m * m; ++i) d[i] = b[(row + i / m) * n + row + i % m];
    if (step > lines->begin[line]) {
      const size_t before = (size_t)lines->edge[step - 1] * (size_t)m;
      double size = 0.0;
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) coupling[i][j] = b[(row + i) * n + before + j];
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) {
          l[i][j] = 0.0;
          for (int k = 0; k < m; ++k) l[i][j] += coupling[i][k] * inverse[k][j];
          size = fmax(size, fabs(l[i][j]));
        }
      const float *kept = factor + kg_line_factor_at(m, line, step);
      for (int i = 0; i < m * m; ++i) {
        assert_at_most(fabs(kept[i] - l[i / m][i % m]), FLT_EPSILON * size);
        for (int k = 0; k < m; ++k) d[i] -= l[i / m][k] * coupling[i % m][k];
      }
    }
    dense_invert(m, d);
    for (int i = 0; i < m * m; ++i) inverse[i / m][i % m] = d[i];
  }
}

/// x = L^-T W^T W L^-1 x, with numbers as they are kept.
static void solve_with(const trace_system *s, const float *factor, const float *w, double *x)
{
  const int m = s->c.size.n_edge;
  const kg_edge_lines *lines = &s->lines;
  for (int32_t line = 0; line < lines->n_lines; ++line)
    for (int32_t step = lines->begin[line] + 1; step < lines->begin[line + 1]; ++step)
      for (int i = 0; i < m * m; ++i)
        x[lines->edge[step] * m + i / m] -=
            factor[kg_line_factor_at(m, line, step) + i] * x[lines->edge[step - 1] * m + i % m];
  for (int32_t f = 0; f < s->c.batch.count.n_free; ++f) {
    double y[MODES] = {0};
    for (int i = 0; i < m; ++i)
      for (int j = 0; j <= i; ++j)
        y[i] += w[kg_edge_block_at(m, f) + kg_packed_entry(i, j) * KG_LANES] * x[f * m + j];
    for (int j = 0; j < m; ++j) {
      x[f * m + j] = 0.0;
      for (int i = j; i < m; ++i)
        x[f * m + j] += w[kg_edge_block_at(m, f) + kg_packed_entry(i, j) * KG_LANES] * y[i];
    }
  }
  for (int32_t line = 0; line < lines->n_lines; ++line)
    for (int32_t step = lines->begin[line + 1] - 1; step > lines->begin[line]; --step)
      for (int i = 0; i < m * m; ++i)
        x[lines->edge[step - 1] * m + i % m] -=
            factor[kg_line_factor_at(m, line, step) + i] * x[lines->edge[step] * m + i / m];
}

/// Factors are those of double precision, rounded to single, which changes B by as much; a step
/// works with them in double.
static void check_solve(trace_system *s)
{
  const size_t n = s->n_rows;
  if (n == 0 || n > 700) return;
  const kg_smoother *smoother = &s->multigrid.smoother;
  const size_t n_factor =
                   kg_line_factor_count(s->c.size.n_edge, s->lines.n_lines, s->lines.n_steps),
               n_w = kg_edge_blocks_count(s->c.size.n_edge, &s->c.batch.count);
  float *factor = system_fetch(s, smoother->factor, n_factor * sizeof *factor),
        *w = system_fetch(s, smoother->inverse, n_w * sizeof *w);
  double *b = assemble_lines(s), *y = case_randoms(5, n), *z = calloc(n, sizeof *z);
  assert_non_null(z);
  for (int32_t line = 0; line < s->lines.n_lines; ++line) check_line(s, b, factor, line);
  system_smooth(s, y, z);
  double scale = 0.0;
  for (size_t i = 0; i < n * n; ++i) scale = fmax(scale, fabs(b[i]));
  for (size_t i = 0; i < n; ++i) {
    double sum = 0.0;
    for (size_t j = 0; j < n; ++j) sum += b[i * n + j] * z[j];
    assert_at_most(fabs(sum - y[i]), 0.25 * FLT_EPSILON * s->c.size.n_edge * scale * largest(n, z));
  }
  solve_with(s, factor, w, y);
  assert_close(n, z, y, rounding((double)n));
  free(b), free(y), free(z), free(factor), free(w);
}

static void a_step_solves_along_the_lines(void **state)
{
  (void)state;
  for_smoother(KEDGE_SMOOTHER_LINE, check_solve, 9, 1.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_join_the_pairs_of_stretched_triangles),
      cmocka_unit_test(a_ring_of_thin_sectors_has_lines_that_close),
      cmocka_unit_test(well_shaped_triangles_have_no_lines),
      cmocka_unit_test(a_step_solves_along_the_lines),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
