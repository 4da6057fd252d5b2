// What multigrid on the trace is made of, against the mesh, dense matrices and linear finite elements.
#include <math.h>
#include <stdlib.h>

#include "../ops/context.h"
#include "../ops/dense.h"
#include "compare.h"
#include "exact_coarse.h"
#include "ops/cg_vectors.h"
#include "ops/edge_smooth.h"
#include "ops/vertex_transfer.h"
#include "ops/sweep.h"
#include "system.h"

typedef void system_check(trace_system *s);

/// Awkward sizes, all kinds of boundary; `reaction` in tenths of the diffusion.
static void for_smoother(kedge_smoother smoother, system_check *check, int most_order,
                         double reaction)
{
  const int sizes[] = {1, 2, 33, 129, 257};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int boundary = 0; boundary < CASE_BOUNDARIES; ++boundary)
      for (int order = 1; order <= (sizes[i] < 100 ? most_order : 2); ++order) {
        if (boundary == CASE_NEUMANN && reaction == 0.0) continue;  // singular
        trace_system s;
        system_create(&s, ctx,
                      (system_options){.n_elements = sizes[i],
                                       .order = order,
                                       .boundary = (enum case_boundary)boundary,
                                       .material = {0.8, 0.08 * reaction, 1.0, KEDGE_SCALING_ONE},
                                       .smoother = smoother,
                                       .smoothing_steps = 2,
                                       .solver = &exact_coarse});
        check(&s);
        system_destroy(&s);
      }
}

static void for_systems(system_check *check, int most_order, double reaction)
{
  for_smoother(KEDGE_SMOOTHER_EDGE, check, most_order, reaction);
}

/// The vertices of a trace edge, lower first, and whether they carry unknowns: from the mesh alone.
static void edge_of(const trace_system *s, int32_t trace, int32_t vertex[2])
{
  const kedge_mesh *mesh = s->c.mesh;
  const int32_t side = mesh->edge_sides[2 * s->c.layout.mesh_edge[trace]];
  const int32_t *corner = mesh->element_vertices + 3 * (side / 3);
  const int32_t a = corner[side % 3], b = corner[(side + 1) % 3];
  vertex[0] = a < b ? a : b;
  vertex[1] = a < b ? b : a;
}

/// row[vertex]: its unknown, or -1; returns how many. To be freed.
static int32_t *unknowns(const trace_system *s, int32_t *n)
{
  int32_t *row = calloc((size_t)s->c.mesh->n_vertices, sizeof *row);
  assert_non_null(row);
  for (int32_t f = s->c.batch.count.n_free; f < s->c.batch.count.n_edges; ++f) {
    int32_t vertex[2];
    edge_of(s, f, vertex);
    row[vertex[0]] = row[vertex[1]] = -1;
  }
  *n = 0;
  for (int32_t v = 0; v < s->c.mesh->n_vertices; ++v)
    if (row[v] == 0) row[v] = (*n)++;
  return row;
}

static void check_blocks(trace_system *s)
{
  const int m = s->c.size.n_edge, packed = m * (m + 1) / 2;
  double *inverse = system_fetch(
      s, s->multigrid.smoother.inverse,
      (size_t)(s->c.batch.count.n_free + KG_LANES - 1) / KG_LANES * KG_LANES * (size_t)packed * 8);
  for (int32_t f = 0; f < s->c.batch.count.n_free; ++f) {
    double block[(KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 1)] = {0};
    for (int k = 0; k < 2; ++k) {
      const int32_t side = s->c.mesh->edge_sides[2 * s->c.layout.mesh_edge[f] + k];
      for (int i = 0; side >= 0 && i < m * m; ++i)
        block[i] += system_local_entry(s, side / 3, side % 3 * m + i / m, side % 3 * m + i % m);
    }
    const double condition = dense_invert(m, block);
    const double scale = largest((size_t)(m * m), block);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j <= i; ++j) {
        const double value =
            inverse[(f / KG_LANES * packed + i * (i + 1) / 2 + j) * KG_LANES + f % KG_LANES];
        assert_at_most(fabs(value - block[i * m + j]), rounding(m) * condition * scale);
      }
  }
  free(inverse);
}

static void blocks_of_edges_are_inverted(void **state)
{
  (void)state;
  for_systems(check_blocks, 9, 1.0);
}

/// The block of an element by the book: rows and columns of the assembled matrix of its free edges.
static void assemble_element(const trace_system *s, int32_t e, double *block)
{
  const int n = s->c.size.n_trace;
  int64_t row[KG_SWEEP_MAX];
  for (int a = 0; a < n; ++a) row[a] = system_trace_row(s, e, a);
  for (int32_t other = 0; other < s->c.mesh->n_elements; ++other)
    for (int a = 0; a < n; ++a) {
      const int64_t i = system_trace_row(s, other, a);
      for (int p = 0; p < n; ++p) {
        if (row[p] != i) continue;
        for (int b = 0; b < n; ++b) {
          const int64_t j = system_trace_row(s, other, b);
          for (int q = 0; q < n; ++q)
            if (row[q] == j) block[p * n + q] += system_local_entry(s, other, a, b);
        }
      }
    }
  for (int p = 0; p < n; ++p)
    for (int q = 0; q < n; ++q)
      if (row[p] >= (int64_t)s->n_rows || row[q] >= (int64_t)s->n_rows)
        block[p * n + q] = p == q ? 1.0 : 0.0;
}

static bool is_free(const trace_system *s, int32_t e, int a)
{
  return system_trace_row(s, e, a) < (int64_t)s->n_rows;
}

static void check_element_blocks(trace_system *s)
{
  const int n = s->c.size.n_trace, packed = s->c.size.n_packed;
  const size_t lanes = KG_LANES * (size_t)s->c.batch.count.n_groups;
  double *inverse =
      system_fetch(s, s->multigrid.smoother.inverse, (size_t)packed * lanes * sizeof *inverse);
  for (int32_t e = 0; e < s->c.mesh->n_elements; e += 1 + e / 8) {
    double block[KG_SWEEP_MAX * KG_SWEEP_MAX] = {0};
    assemble_element(s, e, block);
    const double condition = dense_invert(n, block);
    const double scale = largest((size_t)(n * n), block);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        const double expected = is_free(s, e, i) && is_free(s, e, j) ? 0.5 * block[i * n + j] : 0.0;
        const double value =
            inverse[(e / KG_LANES * packed + i * (i + 1) / 2 + j) * KG_LANES + e % KG_LANES];
        assert_at_most(fabs(value - expected), rounding(n) * condition * scale);
      }
  }
  for (size_t e = (size_t)s->c.mesh->n_elements; e < lanes; ++e)
    for (int i = 0; i < packed; ++i)
      assert_true(inverse[(e / KG_LANES * (size_t)packed + (size_t)i) * KG_LANES + e % KG_LANES] ==
                  0.0);
  free(inverse);
}

static void blocks_of_elements_are_inverted_and_halved(void **state)
{
  (void)state;
  for_smoother(KEDGE_SMOOTHER_ELEMENT, check_element_blocks, 9, 1.0);
}

/// y = B^-1 x by the packed inverses.
static void multiply_blocks(trace_system *s, const double *inverse, const double *x, double *y)
{
  const int m = s->c.size.n_edge, packed = m * (m + 1) / 2;
  for (size_t i = 0; i < s->n_rows; ++i) {
    const size_t f = i / (size_t)m;
    y[i] = 0.0;
    for (int j = 0; j < m; ++j) {
      const int a = (int)(i % (size_t)m), high = a > j ? a : j, low = a > j ? j : a;
      y[i] += inverse[(f / KG_LANES * (size_t)packed + (size_t)(high * (high + 1) / 2 + low)) *
                          KG_LANES +
                      f % KG_LANES] *
              x[f * (size_t)m + (size_t)j];
    }
  }
}

/// One step with everything there is, against plain loops.
static void check_smoothing(trace_system *s)
{
  op_case *c = &s->c;
  const size_t n = s->n_rows;
  const int m = c->size.n_edge;
  double *r = case_randoms(1, n), *t = case_randoms(2, n), *z = case_randoms(3, n),
         *d = case_randoms(4, n), *y = calloc(n + 1, sizeof *y), *x = calloc(n + 1, sizeof *x);
  assert_true(x && y);
  double *inverse = system_fetch(s, s->multigrid.smoother.inverse,
                                 ((size_t)c->batch.count.n_free + KG_LANES - 1) / KG_LANES *
                                     KG_LANES * (size_t)(m * (m + 1) / 2) * 8);
  kg_edge_smooth_args args = {.size = c->size,
                              .n_edges = c->batch.count.n_free,
                              .inverse = s->multigrid.smoother.inverse,
                              .r = case_input(c, r, n),
                              .product = case_input(c, t, n),
                              .z = case_input(c, z, n),
                              .d = case_input(c, d, n),
                              .step = 0.7,
                              .momentum = 0.3,
                              .partial = case_output(c, KG_CG_PARTIALS),
                              .state = s->vectors.state};
  case_must(ctx, kg_zero(ctx, args.state, sizeof *args.state));
  case_must(ctx, kg_edge_smooth(ctx, &args));
  double *z_new = case_fetch(c, args.z), *d_new = case_fetch(c, args.d), dot = 0.0, size = 0.0;
  for (size_t i = 0; i < n; ++i) x[i] = r[i] - t[i];
  multiply_blocks(s, inverse, x, y);
  const double scale = largest(n, y) + 2.0;
  for (size_t i = 0; i < n; ++i) {
    const double step = 0.3 * d[i] + 0.7 * y[i];
    assert_at_most(fabs(d_new[i] - step), rounding(m) * scale);
    assert_at_most(fabs(z_new[i] - (z[i] + step)), rounding(m) * scale);
    dot += r[i] * z_new[i];
    size += fabs(r[i] * z_new[i]);
  }
  kg_cg_state *after = system_fetch(s, args.state, sizeof *after);
  assert_at_most(fabs(after->rz_next - dot), rounding((double)n) * size);
  assert_int_equal(after->stop, dot > 0 ? KG_CG_RUNNING : KG_CG_PRECONDITIONER);

  args.product = NULL;  // from zero, and nothing after it
  args.d = NULL;
  args.momentum = 0.0;
  args.state = NULL;
  case_must(ctx, kg_edge_smooth(ctx, &args));
  free(z_new);
  z_new = case_fetch(c, args.z);
  multiply_blocks(s, inverse, r, y);
  for (size_t i = 0; i < n; ++i)
    assert_at_most(fabs(z_new[i] - 0.7 * y[i]), rounding(m) * largest(n, y));
  free(r), free(t), free(z), free(d), free(x), free(y), free(z_new), free(d_new), free(inverse);
  free(after);
}

static void a_step_smooths_edge_by_edge_and_sums_r_z(void **state)
{
  (void)state;
  for_systems(check_smoothing, 9, 1.0);
}

static kg_vertex_transfer_args transfer_args(trace_system *s, const double *coarse, const double *r)
{
  op_case *c = &s->c;
  double *zero = calloc(s->n_rows + 1, sizeof *zero);
  assert_non_null(zero);
  const kg_vertex_transfer_args args = {
      .space = s->multigrid.space,
      .size = c->size,
      .n_edges = c->batch.count.n_free,
      .r = case_input(c, r ? r : zero, s->n_rows),
      .product = case_input(c, zero, s->n_rows),
      .coarse = case_input(c, coarse, (size_t)s->multigrid.space.n_rows),
      .z = case_input(c, zero, s->n_rows)};
  free(zero);
  return args;
}

/// P c, to be freed.
static double *prolonged(trace_system *s, const double *coarse)
{
  const kg_vertex_transfer_args args = transfer_args(s, coarse, NULL);
  case_must(ctx, kg_vertex_prolong(ctx, &args));
  return case_fetch(&s->c, args.z);
}

/// P^T r, to be freed.
static double *restricted(trace_system *s, const double *r)
{
  double *nothing = calloc((size_t)s->multigrid.space.n_rows + 1, sizeof *nothing);
  assert_non_null(nothing);
  const kg_vertex_transfer_args args = transfer_args(s, nothing, r);
  case_must(ctx, kg_vertex_restrict(ctx, &args));
  free(nothing);
  return case_fetch(&s->c, args.coarse);
}

/// A function that is linear but zero at vertices of Dirichlet edges: the integrals with psi_0 and
/// psi_1 over [-1, 1] are what its values at -1 and 1 say, by the trapezoidal and Simpson's rule.
static void check_prolongation(trace_system *s)
{
  int32_t n;
  const int m = s->c.size.n_edge;
  int32_t *row = unknowns(s, &n);
  assert_int_equal(n, s->multigrid.space.n_rows);
  double *value = calloc((size_t)s->c.mesh->n_vertices, sizeof *value);
  double *coarse = calloc((size_t)n + 1, sizeof *coarse);
  assert_true(value && coarse);
  for (int32_t v = 0; v < s->c.mesh->n_vertices; ++v) {
    if (row[v] < 0) continue;
    value[v] = 0.3 + 2.0 * s->c.mesh->vertices[2 * v] - 1.1 * s->c.mesh->vertices[2 * v + 1];
    coarse[row[v]] = value[v];
  }
  double *z = prolonged(s, coarse);
  const double scale = 4.0 * largest((size_t)s->c.mesh->n_vertices, value);
  for (int32_t f = 0; f < s->c.batch.count.n_free; ++f) {
    int32_t v[2];
    edge_of(s, f, v);
    const double low = value[v[0]], high = value[v[1]], slope = sqrt(1.5);
    assert_at_most(fabs(z[f * m] - sqrt(0.5) * (low + high)), rounding(2) * scale);
    assert_at_most(fabs(z[f * m + 1] - (slope * high - slope * low) / 3), rounding(2) * scale);
    for (int k = 2; k < m; ++k) assert_true(z[f * m + k] == 0.0);
  }
  free(z), free(row), free(value), free(coarse);
}

static void prolongation_gives_the_modes_of_linear_functions(void **state)
{
  (void)state;
  for_systems(check_prolongation, 3, 1.0);
}

static void check_transposition(trace_system *s)
{
  const size_t n = (size_t)s->multigrid.space.n_rows;
  double *coarse = case_randoms(5, n), *r = case_randoms(6, s->n_rows);
  double *z = prolonged(s, coarse), *c = restricted(s, r), left = 0.0, right = 0.0, size = 0.0;
  for (size_t i = 0; i < s->n_rows; ++i) left += z[i] * r[i], size += fabs(z[i] * r[i]);
  for (size_t i = 0; i < n; ++i) right += coarse[i] * c[i];
  assert_at_most(fabs(left - right), rounding((double)s->n_rows) * (size + 1.0));
  free(coarse), free(r), free(z), free(c);
}

static void restriction_is_the_transpose_of_prolongation(void **state)
{
  (void)state;
  for_systems(check_transposition, 3, 1.0);
}

/// The coarse matrix, full: [unknown][unknown], to be freed. Checks the form of the rows.
static double *coarse_matrix(trace_system *s)
{
  const size_t n = (size_t)s->multigrid.space.n_rows;
  double *full = calloc(n * n + 1, sizeof *full);
  assert_non_null(full);
  if (n == 0) return full;
  int32_t *row = system_fetch(s, s->multigrid.row, (n + 1) * sizeof *row);
  const size_t entries = (size_t)row[n];
  int32_t *column = system_fetch(s, s->multigrid.column, entries * sizeof *column);
  double *value = system_fetch(s, s->multigrid.value, entries * sizeof *value);
  assert_int_equal(row[0], 0);
  for (size_t i = 0; i < n; ++i) {
    assert_int_equal(column[row[i]], i);  // the diagonal is first
    for (int32_t k = row[i]; k < row[i + 1]; ++k) {
      assert_in_range(column[k], 0, n - 1);
      assert_true(full[i * n + (size_t)column[k]] == 0.0);  // every entry once
      full[i * n + (size_t)column[k]] = value[k];
    }
  }
  free(row), free(column), free(value);
  return full;
}

/// Stiffness of linear finite elements, from gradients of the barycentric coordinates.
static void add_stiffness(const trace_system *s, int32_t e, const int32_t *row, size_t n, double *a)
{
  const int32_t *corner = s->c.mesh->element_vertices + 3 * e;
  double x[3], y[3];
  for (int k = 0; k < 3; ++k) {
    x[k] = s->c.mesh->vertices[2 * corner[k]];
    y[k] = s->c.mesh->vertices[2 * corner[k] + 1];
  }
  const double area2 = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      const double product = (x[i2] - x[i1]) * (x[j2] - x[j1]) + (y[i2] - y[i1]) * (y[j2] - y[j1]);
      if (row[corner[i]] >= 0 && row[corner[j]] >= 0)
        a[(size_t)row[corner[i]] * n + (size_t)row[corner[j]]] +=
            s->c.material.diffusion * product / (2 * area2);
    }
}

/// P^T K^e P cancels most of K^e: rounding is relative to that.
static double matrix_tolerance(const trace_system *s)
{
  const size_t lanes = KG_LANES * (size_t)s->c.batch.count.n_groups;
  return rounding(16.0 * s->c.size.n_modes) *
         largest((size_t)s->c.size.n_packed * lanes, s->local) * s->c.size.n_modes;
}

static void check_stiffness(trace_system *s)
{
  int32_t count;
  int32_t *row = unknowns(s, &count);
  const size_t n = (size_t)count;
  double *a = coarse_matrix(s), *expected = calloc(n * n + 1, sizeof *expected);
  assert_non_null(expected);
  for (int32_t e = 0; e < s->c.mesh->n_elements; ++e) add_stiffness(s, e, row, n, expected);
  for (size_t i = 0; i < n * n; ++i) assert_at_most(fabs(a[i] - expected[i]), matrix_tolerance(s));
  free(row), free(a), free(expected);
}

static void the_coarse_matrix_of_diffusion_is_that_of_linear_finite_elements(void **state)
{
  (void)state;
  for_systems(check_stiffness, 5, 0.0);
}

/// Column by column with the operators themselves: P^T A P.
static void check_galerkin(trace_system *s)
{
  const size_t n = (size_t)s->multigrid.space.n_rows;
  double *a = coarse_matrix(s), *unit = calloc(n + 1, sizeof *unit);
  double *x = calloc(s->n_all + 1, sizeof *x), *y = calloc(s->n_rows + 1, sizeof *y);
  assert_true(unit && x && y);
  for (size_t j = 0; j < n && j < 20; ++j) {
    unit[j] = 1.0;
    double *z = prolonged(s, unit);
    for (size_t i = 0; i < s->n_rows; ++i) x[i] = z[i];
    system_multiply(s, x, y);
    double *column = restricted(s, y);
    for (size_t i = 0; i < n; ++i)
      assert_at_most(fabs(a[i * n + j] - column[i]), matrix_tolerance(s));
    unit[j] = 0.0;
    system_release(s);
    free(z), free(column);
  }
  free(a), free(unit), free(x), free(y);
}

static void the_coarse_matrix_is_the_operator_between_prolongation_and_restriction(void **state)
{
  (void)state;
  for_systems(check_galerkin, 3, 3.0);
}

/// z = B^-1 y, of host vectors.
static void apply_smoother(trace_system *s, const double *y, double *z)
{
  const kg_cg_vectors_args *v = &s->vectors;
  case_must(ctx, kg_copy_in(ctx, v->r, y, s->n_rows * sizeof *y));
  case_must(ctx, kg_smoother_step(ctx, &s->multigrid.smoother,
                                  &(kg_smoother_args){.op = s->op.matrix_free,
                                                      .r = v->r,
                                                      .product = v->ap,
                                                      .from_zero = true,
                                                      .z = v->z,
                                                      .step = 1.0}));
  case_must(ctx, kg_copy_out(ctx, z, v->z, s->n_rows * sizeof *z));
  case_must(ctx, kg_sync(ctx));
}

/// Power steps of B^-1 A: with y = A x and z = B^-1 y, the quotient z . A x / x . A x.
static void check_bound(trace_system *s)
{
  const double bound = s->multigrid.largest_eigenvalue;
  assert_true(bound > 0.0 && bound <= kg_smoother_bound(s->multigrid.smoother.kind));
  double *x = case_randoms(9, s->n_all), *y = calloc(s->n_rows + 1, sizeof *y);
  double *z = calloc(s->n_all + 1, sizeof *z);
  assert_true(y && z);
  for (size_t i = s->n_rows; i < s->n_all; ++i) x[i] = 0.0;
  for (int step = 0; step < 100 && s->n_rows > 0; ++step) {
    system_multiply(s, x, y);
    apply_smoother(s, y, z);
    double energy = 0.0, next = 0.0;
    for (size_t i = 0; i < s->n_rows; ++i) energy += x[i] * y[i], next += z[i] * y[i];
    assert_at_most(next / energy, bound * (1 + rounding((double)s->n_rows)));
    const double scale = 1.0 / largest(s->n_rows, z);
    for (size_t i = 0; i < s->n_rows; ++i) x[i] = scale * z[i];
  }
  free(x), free(y), free(z);
}

static void power_steps_stay_below_the_measured_bound(void **state)
{
  (void)state;
  for (kedge_smoother k = 0; k < KEDGE_SMOOTHER_COUNT; ++k) for_smoother(k, check_bound, 5, 1.0);
}

/// Steps from zero and from a z, with and without a direction before: the same as with the vectors at
/// hand.
static void check_element_step(trace_system *s)
{
  const size_t n = s->n_rows;
  op_case *c = &s->c;
  double *r = case_randoms(1, n), *t = case_randoms(2, n), *z = case_randoms(3, n),
         *d = case_randoms(4, n), *v = calloc(n + 1, sizeof *v),
         *y = calloc(s->n_all + 1, sizeof *y);
  assert_true(v && y);
  for (size_t i = 0; i < n; ++i) v[i] = r[i] - t[i];
  apply_smoother(s, v, y);
  case_must(ctx, kg_zero(ctx, s->vectors.state, sizeof *s->vectors.state));
  const kg_smoother_args args = {.op = s->op.matrix_free,
                                 .r = case_input(c, r, n),
                                 .product = case_input(c, t, n),
                                 .z = case_input(c, z, n),
                                 .d = case_input(c, d, n),
                                 .step = 0.7,
                                 .momentum = 0.3,
                                 .partial = s->vectors.partial,
                                 .state = s->vectors.state};
  case_must(ctx, kg_smoother_step(ctx, &s->multigrid.smoother, &args));
  double *z_new = case_fetch(c, args.z), *d_new = case_fetch(c, args.d), dot = 0.0, size = 0.0;
  const double scale = largest(n, y) + 2.0;
  for (size_t i = 0; i < n; ++i) {
    const double step = 0.3 * d[i] + 0.7 * y[i];
    assert_at_most(fabs(d_new[i] - step), rounding(2) * scale);
    assert_at_most(fabs(z_new[i] - (z[i] + step)), rounding(2) * scale);
    dot += r[i] * z_new[i];
    size += fabs(r[i] * z_new[i]);
  }
  kg_cg_state *after = system_fetch(s, args.state, sizeof *after);
  assert_at_most(fabs(after->rz_next - dot), rounding((double)n) * size);
  free(r), free(t), free(z), free(d), free(v), free(y), free(z_new), free(d_new), free(after);
}

static void a_step_by_elements_advances_direction_and_z(void **state)
{
  (void)state;
  for_smoother(KEDGE_SMOOTHER_ELEMENT, check_element_step, 5, 1.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_of_edges_are_inverted),
      cmocka_unit_test(blocks_of_elements_are_inverted_and_halved),
      cmocka_unit_test(a_step_smooths_edge_by_edge_and_sums_r_z),
      cmocka_unit_test(a_step_by_elements_advances_direction_and_z),
      cmocka_unit_test(prolongation_gives_the_modes_of_linear_functions),
      cmocka_unit_test(restriction_is_the_transpose_of_prolongation),
      cmocka_unit_test(the_coarse_matrix_of_diffusion_is_that_of_linear_finite_elements),
      cmocka_unit_test(the_coarse_matrix_is_the_operator_between_prolongation_and_restriction),
      cmocka_unit_test(power_steps_stay_below_the_measured_bound),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
