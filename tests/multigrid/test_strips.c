// Strips of elements across stretched, irregular triangles, and what multigrid smooths with on
// them.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "../grid.h"
#include "../ops/dense.h"
#include "compare.h"
#include "mesh/edge_lines.h"
#include "systems.h"

/// The corner of an element's smallest angle: across its shortest side.
static int corner_of(const kedge_mesh *mesh, int32_t e)
{
  int best = 0;
  double least = INFINITY;
  for (int l = 0; l < 3; ++l) {
    const int32_t *v = mesh->element_vertices + 3 * (int64_t)e;
    const double *p = mesh->vertices + 2 * v[l], *q = mesh->vertices + 2 * v[(l + 1) % 3];
    const double length = hypot(q[0] - p[0], q[1] - p[1]);
    if (length < least) least = length, best = (l + 2) % 3;
  }
  return best;
}

static int32_t edge_of(const trace_system *s, int32_t e, int l)
{
  return (int32_t)(system_trace_row(s, e, l * s->c.size.n_edge) / s->c.size.n_edge);
}

/// Every edge of a pair is in a line, once; lines of more than one edge come first and join pairs.
static void check_lines(trace_system *s)
{
  const int32_t n_free = s->c.batch.count.n_free;
  const kg_edge_lines *lines = &s->lines;
  int *wanted = calloc((size_t)n_free + 1, sizeof *wanted);
  assert_non_null(wanted);
  for (int32_t e = 0; e < s->c.mesh->n_elements; ++e) {
    assert_int_equal(lines->corner[e], corner_of(s->c.mesh, e));
    for (int k = 0; k <= 2; k += 2) {
      const int32_t edge = edge_of(s, e, (corner_of(s->c.mesh, e) + k) % 3);
      if (edge < n_free) wanted[edge] = 1;
    }
  }
  for (int32_t k = 0; k < lines->n_steps; ++k) assert_int_equal(wanted[lines->edge[k]]--, 1);
  for (int32_t f = 0; f < n_free; ++f) assert_int_equal(wanted[f], 0);
  assert_int_equal(lines->begin[lines->n_lines], lines->n_steps);
  for (int32_t line = 0; line < lines->n_lines; ++line) {
    const int32_t n = lines->begin[line + 1] - lines->begin[line];
    assert_true(line < lines->n_chains ? n > 1 : n == 1);
  }
  free(wanted);
}

static void strips_have_the_pairs_of_all_elements_in_line(void **state)
{
  (void)state;
  for_smoother(KEDGE_SMOOTHER_STRIP, check_lines, 1, 1.0);
}

/// The matrix of all strips, and where its blocks lie.
typedef struct strip_matrix {
  int m, n;      ///< n: rows
  int32_t *row;  ///< [copy]: the first row of a copy, or -1; free edges of lines, then third
                 ///< edges of elements
  double *a;     ///< [n][n]
} strip_matrix;

static void add_block(const trace_system *s, strip_matrix *a, const int32_t at[2], int32_t e,
                      const int side[2])
{
  if (at[0] < 0 || at[1] < 0) return;
  for (int i = 0; i < a->m; ++i)
    for (int j = 0; j < a->m; ++j)
      a->a[(at[0] + i) * a->n + at[1] + j] +=
          system_local_entry(s, e, side[0] * a->m + i, side[1] * a->m + j);
}

/// The block of A of the edge of a copy: of all its elements.
static void add_edge(const trace_system *s, strip_matrix *a, int32_t at, int32_t edge)
{
  for (int k = 0; at >= 0 && k < 2; ++k) {
    const kg_side side = s->c.mesh->edge_sides[2 * s->c.layout.mesh_edge[edge] + k];
    const int l = kg_side_facet(side);
    if (side != KG_NO_SIDE)
      add_block(s, a, (int32_t[]){at, at}, kg_side_element(side), (int[]){l, l});
  }
}

static bool are_joined(const trace_system *s, int32_t p, int32_t q)
{
  const kg_edge_lines *lines = &s->lines;
  for (int32_t line = 0; line < lines->n_chains; ++line)
    for (int32_t k = lines->begin[line] + 1; k < lines->begin[line + 1]; ++k)
      if ((lines->edge[k] == p && lines->edge[k - 1] == q) ||
          (lines->edge[k] == q && lines->edge[k - 1] == p))
        return true;
  return false;
}

static strip_matrix assemble(const trace_system *s)
{
  const int32_t n_free = s->c.batch.count.n_free, n_elements = s->c.mesh->n_elements;
  const int m = s->c.size.n_edge;
  strip_matrix a = {.m = m};
  a.row = malloc((size_t)(n_free + n_elements) * sizeof *a.row);
  assert_non_null(a.row);
  for (int32_t i = 0; i < n_free + n_elements; ++i) a.row[i] = -1;
  for (int32_t k = 0; k < s->lines.n_steps; ++k, a.n += m) a.row[s->lines.edge[k]] = a.n;
  for (int32_t e = 0; e < n_elements; ++e) {
    if (edge_of(s, e, (corner_of(s->c.mesh, e) + 1) % 3) >= n_free) continue;
    a.row[n_free + e] = a.n;
    a.n += m;
  }
  a.a = calloc((size_t)(a.n * a.n) + 1, sizeof *a.a);
  assert_non_null(a.a);
  for (int32_t f = 0; f < n_free; ++f) add_edge(s, &a, a.row[f], f);
  for (int32_t e = 0; e < n_elements; ++e) {
    const int corner = corner_of(s->c.mesh, e),
              side[3] = {corner, (corner + 1) % 3, (corner + 2) % 3};
    int32_t edge[3], at[3];
    for (int k = 0; k < 3; ++k) {
      edge[k] = edge_of(s, e, side[k]);
      at[k] = k == 1 ? a.row[n_free + e] : edge[k] < n_free ? a.row[edge[k]] : -1;
    }
    add_edge(s, &a, at[1], edge[1]);
    for (int k = 0; k < 6; ++k) {
      const int p = k / 2, q = (p + 1 + k % 2) % 3;
      if (p != 1 && q != 1 && !are_joined(s, edge[0], edge[2])) continue;
      add_block(s, &a, (int32_t[]){at[p], at[q]}, e, (int[]){side[p], side[q]});
    }
  }
  return a;
}

/// Values of the edges to all their copies (from = 0), or back, added.
static void exchange(const trace_system *s, const strip_matrix *a, double *edges, double *copies,
                     bool back)
{
  const int32_t n_free = s->c.batch.count.n_free;
  for (int32_t i = 0; i < n_free + s->c.mesh->n_elements; ++i) {
    if (a->row[i] < 0) continue;
    const int32_t e = i - n_free;
    const int32_t edge = e < 0 ? i : edge_of(s, e, (corner_of(s->c.mesh, e) + 1) % 3);
    for (int k = 0; k < a->m; ++k) {
      double *value = edges + edge * a->m + k, *copy = copies + a->row[i] + k;
      if (back)
        *value += *copy;
      else
        *copy = *value;
    }
  }
}

/// No closed line was cut: where one is, the matrix that is solved with is condensed first.
static bool has_all_pairs(const trace_system *s)
{
  int pairs = 0;
  for (int32_t e = 0; e < s->c.mesh->n_elements; ++e) {
    const int corner = corner_of(s->c.mesh, e);
    pairs += edge_of(s, e, corner) < s->c.batch.count.n_free &&
             edge_of(s, e, (corner + 2) % 3) < s->c.batch.count.n_free;
  }
  return pairs == s->lines.n_steps - s->lines.n_lines;
}

/// Factors are rounded to single precision, which changes the roots of the matrix by as much.
static void check_solve(trace_system *s)
{
  if (s->n_rows == 0 || s->c.mesh->n_elements > 40 || !has_all_pairs(s)) return;
  strip_matrix a = assemble(s);
  double *v = case_randoms(5, s->n_rows), *z = calloc(s->n_rows, sizeof *z);
  double *expected = calloc(s->n_rows, sizeof *expected);
  double *x = calloc((size_t)a.n + 1, sizeof *x), *y = calloc((size_t)a.n + 1, sizeof *y);
  assert_true(z && expected && x && y);
  const double condition = dense_invert(a.n, a.a);
  exchange(s, &a, v, x, false);
  for (int i = 0; i < a.n; ++i)
    for (int j = 0; j < a.n; ++j) y[i] += 0.5 * a.a[i * a.n + j] * x[j];
  exchange(s, &a, expected, y, true);
  system_smooth(s, v, z);
  assert_close(s->n_rows, z, expected, FLT_EPSILON * sqrt(condition));
  free(a.row), free(a.a), free(v), free(z), free(expected), free(x), free(y);
}

static void a_step_is_half_the_sum_over_the_strips(void **state)
{
  (void)state;
  for_smoother(KEDGE_SMOOTHER_STRIP, check_solve, 4, 1.0);
}

static void the_estimate_is_enough_for_one_step(void **state)
{
  (void)state;
  const double stretches[] = {1.0, 20.0, 100.0};
  for (int order = 1; order <= 9; order += 2)
    for (int i = 0; i < 3; ++i)
      for_materials(
          (system_options){
              .order = order, .stretch = stretches[i], .smoother = KEDGE_SMOOTHER_STRIP},
          check_estimate);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strips_have_the_pairs_of_all_elements_in_line),
      cmocka_unit_test(a_step_is_half_the_sum_over_the_strips),
      cmocka_unit_test(the_estimate_is_enough_for_one_step),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
