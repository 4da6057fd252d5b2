// Levels that are the meshes a mesh was refined from, against linear interpolation along their
// edges and dense products.
#include <float.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "grid.h"
#include "matrix.h"
#include "mesh/mesh.h"
#include "precondition/amg/midpoints.h"
#include "precondition/amg/scan.h"
#include "ops/smooth/vertex_matrix.h"

/// A mesh, the one that it was refined from, and what lies between them.
typedef struct refinement {
  kedge_mesh *mesh, *coarse;
  bool *fixed;  ///< [vertex]: it has a Dirichlet edge
  double *p;    ///< [vertex][next row]: zero where a vertex is fixed
  fe_matrix m;
  device_matrix device;
  kg_arena arena;
  kg_midpoints points;
  kg_csr next;
} refinement;

enum { IRREGULAR = 150 };

/// Dirichlet are groups of odd numbers: GRID_WALL, all of the L, of the ring the inner circle.
static bool *fixed_vertices(const kedge_mesh *mesh)
{
  bool *fixed = get((size_t)mesh->n_vertices, sizeof *fixed);
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
    const int32_t group = mesh->edge_group[edge];
    int32_t ends[2];
    if (group < 0 || mesh->groups[group].tag % 2 == 0) continue;
    kg_side_ends(mesh, mesh->edge_sides[2 * edge], ends);
    fixed[ends[0]] = fixed[ends[1]] = true;
  }
  return fixed;
}

static int32_t vertex_at(const kedge_mesh *mesh, double x, double y)
{
  int32_t v = 0;
  while (mesh->vertices[2 * v] != x || mesh->vertices[2 * v + 1] != y) ++v;
  return v;
}

/// The interpolation by coordinates; `number` is that of the coarse vertices among the next rows.
static double *interpolation(const refinement *r, const int32_t *number)
{
  const kedge_mesh *mesh = r->mesh, *coarse = r->coarse;
  const size_t n = (size_t)mesh->n_vertices, n_next = (size_t)coarse->n_vertices;
  double *p = get(n * n_next, sizeof *p);
  for (int32_t w = 0; w < coarse->n_vertices; ++w) {
    const double *x = coarse->vertices + 2 * w;
    p[(size_t)vertex_at(mesh, x[0], x[1]) * n_next + (size_t)number[w]] = 1.0;
  }
  for (int32_t edge = 0; edge < coarse->n_edges; ++edge) {
    int32_t a, b;
    kg_side_vertices(coarse, coarse->edge_sides[2 * edge], &a, &b);
    const double *x = coarse->vertices + 2 * a, *y = coarse->vertices + 2 * b;
    double *row =
        p + (size_t)vertex_at(mesh, 0.5 * x[0] + 0.5 * y[0], 0.5 * x[1] + 0.5 * y[1]) * n_next;
    row[number[a]] = row[number[b]] = 0.5;
  }
  for (size_t v = 0; v < n; ++v)
    for (size_t k = 0; k < n_next; ++k)
      if (r->fixed[v] || r->fixed[mesh->levels.vertex[k]]) p[v * n_next + k] = 0.0;
  return p;
}

/// Rows of Dirichlet vertices have their diagonal alone, and entries of others for them are zero.
static void fix_rows(fe_matrix *m, const bool *fixed)
{
  int32_t to = 0;
  for (int32_t i = 0; i < m->n; ++i) {
    const int32_t begin = m->row[i], end = fixed[i] ? begin + 1 : m->row[i + 1];
    m->row[i] = to;
    for (int32_t e = begin; e < end; ++e, ++to) {
      m->column[to] = m->column[e];
      m->value[to] = fixed[i] ? KG_VERTEX_FIXED : fixed[m->column[e]] ? 0.0 : m->value[e];
    }
  }
  m->row[m->n] = m->n_entries = to;
}

static void *take(refinement *r, size_t count, size_t size)
{
  void *array;
  must(ctx, kg_arena_take(ctx, &r->arena, count, size, &array));
  return array;
}

static void make_next(refinement *r)
{
  const size_t n = (size_t)r->mesh->n_vertices, n_next = (size_t)r->mesh->levels.count[0];
  int32_t *fine = take(r, n_next, sizeof *fine);
  must(ctx, kg_copy_in(ctx, fine, r->mesh->levels.vertex, n_next * sizeof *fine));
  kg_midpoints_make_args args = {.a = r->device.csr,
                                 .n_next = (int32_t)n_next,
                                 .fine = fine,
                                 .ends = take(r, 2 * n, sizeof(int32_t)),
                                 .number = take(r, n, sizeof(int32_t))};
  must(ctx, kg_scan_take(ctx, &r->arena, r->device.csr.n_rows, &args.work));
  must(ctx, kg_midpoints_make(ctx, &args, &r->arena, &r->next));
  r->points = (kg_midpoints){.n_next = (int32_t)n_next, .fine = fine, .ends = args.ends};
}

static void refine(refinement *r, int kind, int times, double reaction)
{
  kedge_mesh *base;
  *r = (refinement){0};
  if (kind == 0)
    base = test_irregular_mesh(ctx, IRREGULAR);
  else
    must(ctx, kedge_mesh_generate(ctx, kind == 1 ? "lshape 2" : "ring 2 9", &base));
  must(ctx, kedge_mesh_refine(ctx, base, times, &r->mesh));
  must(ctx, kedge_mesh_refine(ctx, base, times - 1, &r->coarse));
  kedge_mesh_destroy(base);
  r->fixed = fixed_vertices(r->mesh);
  fe_mesh_matrix(r->mesh, reaction, &r->m);
  fix_rows(&r->m, r->fixed);
  device_matrix_create(ctx, &r->m, &r->device);
  fe_matrix_round(&r->m);
  assert_int_equal(r->mesh->levels.count[0], r->coarse->n_vertices);
  int32_t *number = get((size_t)r->coarse->n_vertices, sizeof *number);
  for (int32_t k = 0; k < r->coarse->n_vertices; ++k) {
    const double *x = r->mesh->vertices + 2 * r->mesh->levels.vertex[k];
    number[vertex_at(r->coarse, x[0], x[1])] = k;
  }
  r->p = interpolation(r, number);
  free(number);
  make_next(r);
}

static void forget(refinement *r)
{
  kedge_mesh_destroy(r->mesh);
  kedge_mesh_destroy(r->coarse);
  fe_matrix_free(&r->m);
  device_matrix_destroy(ctx, &r->device);
  kg_arena_free(ctx, &r->arena);
  free(r->fixed), free(r->p);
}

/// P^T A P, to be freed.
static double *expected_next(const refinement *r)
{
  const size_t n = (size_t)r->m.n, n_next = (size_t)r->points.n_next;
  double *product = get(n * n_next, sizeof *product);
  double *out = get(n_next * n_next, sizeof *out);
  for (size_t i = 0; i < n; ++i)
    for (int32_t e = r->m.row[i]; e < r->m.row[i + 1]; ++e)
      for (size_t k = 0; k < n_next; ++k)
        product[i * n_next + k] += r->m.value[e] * r->p[(size_t)r->m.column[e] * n_next + k];
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < n_next; ++k)
      for (size_t l = 0; r->p[i * n_next + k] != 0.0 && l < n_next; ++l)
        out[k * n_next + l] += r->p[i * n_next + k] * product[i * n_next + l];
  free(product);
  return out;
}

static double *found_next(const refinement *r)
{
  fe_matrix m;
  fe_matrix_fetch(ctx, &r->next, &m);
  double *dense = fe_dense(&m, m.n);
  for (int32_t k = 0; k < m.n; ++k)
    if (r->fixed[r->mesh->levels.vertex[k]]) {
      assert_int_equal(m.row[k + 1] - m.row[k], 1);
      assert_true(m.value[m.row[k]] == KG_VERTEX_FIXED);
    }
  fe_matrix_free(&m);
  return dense;
}

static void of_diffusion_the_next_matrix_is_the_product(void **state)
{
  (void)state;
  for (int k = 0; k < 6; ++k) {
    refinement r;
    refine(&r, k % 3, 1 + k / 3, 0.0);
    double *expected = expected_next(&r), *found = found_next(&r);
    const size_t n_next = (size_t)r.points.n_next;
    assert_close(n_next * n_next, found, expected, 8.0 * (double)FLT_EPSILON);
    free(expected), free(found);
    forget(&r);
  }
}

/// The mass of the next matrix is M / 4 + 3/4 L, where M is that of the product and L is M lumped:
/// M <= L <= 4 M.
static void with_reaction_the_next_matrix_is_between_one_and_three_and_a_quarter_products(
    void **state)
{
  (void)state;
  const double reactions[] = {1.0, 1e2, 1e4, 1e6};
  for (int k = 0; k < 12; ++k) {
    refinement r;
    refine(&r, k % 3, 1, reactions[k / 3]);
    double *expected = expected_next(&r), *found = found_next(&r);
    const int32_t n = r.points.n_next;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      double *x = randoms(seed, n), of_found = 0.0, of_expected = 0.0;
      for (int32_t i = 0; seed % 2 && i < n; ++i) x[i] = 2.0 + x[i];  // smooth
      for (int32_t i = 0; i < n; ++i)
        if (r.fixed[r.mesh->levels.vertex[i]]) x[i] = 0.0;
      for (int32_t i = 0; i < n * n; ++i) {
        of_found += x[i / n] * found[i] * x[i % n];
        of_expected += x[i / n] * expected[i] * x[i % n];
      }
      assert_true(of_expected > 0.0);
      assert_at_most(of_expected, of_found * (1.0 + 1e-6));
      assert_at_most(of_found, 3.25 * of_expected * (1.0 + 1e-6));
      free(x);
    }
    free(expected), free(found);
    forget(&r);
  }
}

static double *upload(const double *values, int32_t n, kg_buffer *out)
{
  must(ctx, kg_upload(ctx, values, (size_t)n, sizeof *values, out));
  return out->data;
}

static double *fetch(const kg_buffer *from, int32_t n)
{
  double *values = get((size_t)n, sizeof *values);
  must(ctx, kg_copy_out(ctx, values, from->data, (size_t)n * sizeof *values));
  must(ctx, kg_sync(ctx));
  return values;
}

/// x is zero at Dirichlet vertices, as residuals and corrections are.
static void vectors_go_to_the_next_level_and_back(void **state)
{
  (void)state;
  for (int kind = 0; kind < 3; ++kind) {
    refinement r;
    refine(&r, kind, 2, 1.0);
    const int32_t n = r.m.n, n_next = r.points.n_next;
    double *x = randoms(1, n), *y = randoms(2, n), *c = randoms(3, n_next);
    for (int32_t v = 0; v < n; ++v) x[v] *= !r.fixed[v];
    for (int32_t k = 0; k < n_next; ++k) c[k] *= !r.fixed[r.mesh->levels.vertex[k]];
    kg_buffer device[5];
    kg_midpoints_apply_args args = {r.device.csr, r.points, .weight = 0.7};
    args.x = upload(x, n, &device[0]);
    args.y = upload(c, n_next, &device[1]);
    args.z = upload(c, n_next, &device[2]);
    args.diagonal = r.next.diagonal;
    must(ctx, kg_midpoints_restrict(ctx, &args));
    args.x = upload(c, n_next, &device[3]);
    args.y = upload(y, n, &device[4]);
    must(ctx, kg_midpoints_prolong(ctx, &args));
    double *down = get((size_t)n_next, sizeof *down);
    for (int32_t v = 0; v < n; ++v)
      for (int32_t k = 0; k < n_next; ++k) {
        down[k] += r.p[(size_t)v * (size_t)n_next + (size_t)k] * x[v];
        y[v] += r.p[(size_t)v * (size_t)n_next + (size_t)k] * c[k];
      }
    double *found = fetch(&device[1], n_next), *step = fetch(&device[2], n_next);
    assert_close((size_t)n_next, found, down, rounding(10));
    double *next = found_next(&r);
    for (int32_t k = 0; k < n_next; ++k)
      down[k] *= 0.7 / next[(size_t)k * (size_t)n_next + (size_t)k];
    assert_close((size_t)n_next, step, down, rounding(10));
    double *up = fetch(&device[4], n);
    assert_close((size_t)n, up, y, rounding(10));
    for (int k = 0; k < 5; ++k) kg_free(ctx, &device[k]);
    free(x), free(y), free(c), free(down), free(found), free(step), free(next), free(up);
    forget(&r);
  }
}

/// What smoothing without an estimate counts on (precondition/amg/amg_create.c).
static void eigenvalues_are_no_larger_than_the_alignment_of_elements_says(void **state)
{
  (void)state;
  for (int k = 0; k < 9; ++k) {
    refinement r;
    refine(&r, k % 3, 2, k / 3 == 0 ? 0.0 : k / 3 == 1 ? 1e3 : 1e8);
    double *x = randoms(5, r.m.n), *y = get((size_t)r.m.n, sizeof *y), growth = 0.0;
    for (int step = 0; step < 200; ++step) {
      fe_multiply(&r.m, x, y);
      for (int32_t i = 0; i < r.m.n; ++i) y[i] /= r.m.value[r.m.row[i]];
      double before = 0.0, after = 0.0;
      for (int32_t i = 0; i < r.m.n; ++i) {
        const double d = r.fixed[i] ? 0.0 : r.m.value[r.m.row[i]];
        before += d * x[i] * x[i];
        after += d * y[i] * y[i];
      }
      growth = sqrt(after / before);
      for (int32_t i = 0; i < r.m.n; ++i) x[i] = y[i] / growth;
    }
    const double bound = fmax(2.0, 1.5 + 0.5 * r.mesh->alignment);
    assert_at_most(growth, bound * (1.0 + 1e-6));
    assert_true(growth > 1.3);
    free(x), free(y);
    forget(&r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(of_diffusion_the_next_matrix_is_the_product),
      cmocka_unit_test(
          with_reaction_the_next_matrix_is_between_one_and_three_and_a_quarter_products),
      cmocka_unit_test(vectors_go_to_the_next_level_and_back),
      cmocka_unit_test(eigenvalues_are_no_larger_than_the_alignment_of_elements_says),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
