// The fast operators of straight triangles give what operators by quadrature do: with numbers,
// tensors, and materials by element.
#include <math.h>
#include <stdlib.h>

#include "case.h"
#include "compare.h"
#include "context.h"
#include "mesh/mesh.h"
#include "ops/local/quadrature/make.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"
#include "ops/local/triangle/local_matrices.h"
#include "ops/local/triangle/local_solve.h"
#include "ops/local/recover/postprocess.h"
#include "ops/sample/errors.h"

enum { ORDERS = 8, FLUX_MAX = (ORDERS + 1) * (ORDERS + 2) };

/// The batch of a case of triangles for operators by quadrature.
static kg_cells cells_of(op_case *c, double **tables)
{
  const int order = c->size.order, rows = kg_cell_rows(order);
  must(ctx, kg_cell_tables_create(ctx, &kg_triangle, order, 1, rows, tables));
  const size_t count = kg_cell_tables_count(&kg_triangle, order, 1, rows);
  return (kg_cells){
      .tables = kg_cell_tables_at(&kg_triangle, order, 1, rows,
                                  case_upload(c, *tables, count, sizeof(double))),
      .n_elements = c->batch.count.n_elements,
      .vertices = c->batch.arrays.vertices,
      .vertex = c->batch.arrays.vertex,
      .side_edge = c->batch.arrays.side_edge,
  };
}

/// All lanes of elements of two outputs.
static void compare(op_case *c, int rows, const double *a, const double *b, double tolerance)
{
  const size_t count = (size_t)(c->batch.count.n_elements * rows);
  double *x = case_fetch(c, a), *y = case_fetch(c, b);
  double *p = calloc(count, sizeof *p), *q = calloc(count, sizeof *q);
  assert_true(p && q);
  for (int32_t e = 0; e < c->batch.count.n_elements; ++e)
    for (int i = 0; i < rows; ++i) {
      p[e * rows + i] = x[kg_cell_at(e, rows, i)];
      q[e * rows + i] = y[kg_cell_at(e, rows, i)];
    }
  assert_close(count, p, q, tolerance);
  free(x);
  free(y);
  free(p);
  free(q);
}

enum { MATERIALS = 5 };

/// Diffusion xx, xy, yy and reaction; the last two are numbers.
static const double of_region[MATERIALS][4] = {{2.0, 0.5, 1.0, 0.0},
                                               {0.3, -0.4, 5.0, 1.2},
                                               {1.0, 0.9, 1.0, 3.0},
                                               {0.7, 0, 0.7, 2.0},
                                               {4.0, 0, 4.0, 0.0}};

/// Elements of several regions, each in every group.
static int region_of(int32_t lane)
{
  return lane * 7 % MATERIALS;
}

/// Coefficients of both kinds of operators.
typedef struct both {
  kg_materials fast;
  kg_cell_material cells;  ///< without values: the same in all elements, else those of region_of()
} both;

/// The flux at the points of a rule in all elements: diffusion q from the modes of q, and from the
/// coefficients of flux functions.
static void compare_fluxes(op_case *c, const double *tables, const both *of, const double *modes,
                           const double *coefficients)
{
  const int N = c->size.n_modes, rows = kg_cell_rows(c->size.order);
  const kg_cell_tables host = kg_cell_tables_at(&kg_triangle, c->size.order, 1, rows, tables);
  const kg_cell_points *points = &host.points;
  const int S = points->size.n_flux, n = points->n;
  const int32_t n_elements = c->batch.count.n_elements;
  const size_t count = (size_t)n_elements * (size_t)(2 * n);
  double *q = case_fetch(c, modes), *s = case_fetch(c, coefficients);
  double *fast = calloc(count, sizeof *fast), *cells = calloc(count, sizeof *cells);
  assert_true(fast && cells);
  for (int32_t e = 0; e < n_elements; ++e) {
    const double *kappa = of->cells.values ? of_region[region_of(e)] : of->cells.diffusion;
    double x[3], y[3], own[FLUX_MAX];
    for (int v = 0; v < 3; ++v) {
      const double *at = c->mesh->vertices + 2 * (int64_t)kg_element_vertices(c->mesh, e)[v];
      x[v] = at[0];
      y[v] = at[1];
    }
    for (int i = 0; i < S; ++i) own[i] = s[kg_cell_at(e, S, i)];
    for (int k = 0; k < n; ++k) {
      const kg_cell_place place = kg_cell_place_of(3, points->map + 9 * k, 1, x, y);
      const double *phi = points->value + k * points->size.n_star;
      double along[2], gradient[2] = {0.0, 0.0};
      kg_cell_flux_at(points, k, own, along);
      kg_cell_flux_of(&place, along[0], along[1], cells + 2 * ((size_t)e * (size_t)n + (size_t)k));
      for (int i = 0; i < 2 * N; ++i) gradient[i / N] += phi[i % N] * q[kg_cell_at(e, 2 * N, i)];
      double *const flux = fast + 2 * ((size_t)e * (size_t)n + (size_t)k);
      flux[0] = kappa[0] * gradient[0] + kappa[1] * gradient[1];
      flux[1] = kappa[1] * gradient[0] + kappa[2] * gradient[1];
    }
  }
  assert_close(count, cells, fast, 1e3 * rounding(N));
  free(q);
  free(s);
  free(fast);
  free(cells);
}

/// Both kinds of operators on the same triangles, from the same loads and trace.
static void compare_triangles(op_case *c, const kg_cells *these, const double *tables,
                              const both *of)
{
  const kg_materials fast = of->fast;
  const kg_cell_material material = of->cells;
  const kg_sizes z = c->size;
  const int32_t groups = c->batch.count.n_groups;
  const size_t lanes = (size_t)groups * KG_LANES, N = (size_t)z.n_modes;
  const size_t n_trace = (size_t)(c->batch.count.n_edges * z.n_edge);
  double *random = case_randoms(11, N * lanes + n_trace);
  const double *load = case_input(c, random, N * lanes);
  const double *trace = case_input(c, random + N * lanes, n_trace);
  const size_t rows[] = {(size_t)z.n_packed, (size_t)z.n_trace, N, 2 * N, (size_t)z.n_star, 1};
  double *out[6][2];
  for (int k = 0; k < 6; ++k)
    for (int i = 0; i < 2; ++i) out[k][i] = case_output(c, rows[k] * lanes);
  const kg_local_matrices_args make = {
      .batch = c->batch,
      .materials = fast,
      .load = load,
      .local = case_local(c, KG_LAYOUT_PACKED, KG_DOUBLE, out[0][0]),
      .condensed = out[1][0]};
  const kg_local_solve_args solve = {c->batch, fast, 0, groups, trace, load, out[2][0], out[3][0]};
  const kg_postprocess_args star = {c->batch,  fast,      0,         groups,
                                    out[2][0], out[3][0], out[4][0], out[5][0]};
  must(ctx, kg_local_matrices(ctx, &make));
  must(ctx, kg_local_solve(ctx, &solve));
  must(ctx, kg_postprocess(ctx, &star));
  const kg_cell_make_args make_args = {*these, material, load, out[0][1], out[1][1]};
  const kg_cell_recover_args recover = {*these, material, trace, load, out[2][1], out[3][1]};
  const kg_cell_postprocess_args post = {*these,    material,  out[2][1],
                                         out[3][1], out[4][1], out[5][1]};
  must(ctx, kg_cell_make(ctx, &make_args));
  must(ctx, kg_cell_recover(ctx, &recover));
  must(ctx, kg_cell_postprocess(ctx, &post));
  for (int k = 0; k < 6; ++k)
    if (k != 3) compare(c, (int)rows[k], out[k][1], out[k][0], 1e3 * rounding(z.n_modes));
  compare_fluxes(c, tables, of, out[3][0], out[3][1]);
  free(random);
}

static void numbers_are_those_of_quadrature(void **state)
{
  (void)state;
  for (int order = 1; order <= 6; ++order)
    for (int scaling = 0; scaling < 3; ++scaling) {
      const kg_material m = {0.5 + 0.75 * scaling, scaling == 1 ? 0.0 : 3.0, 1.5 - 0.4 * scaling,
                             (kedge_scaling)scaling};
      const both of = {.fast = kg_one_material(m),
                       .cells = {.diffusion = {m.diffusion, 0.0, m.diffusion},
                                 .reaction = m.reaction,
                                 .stabilization = m.stabilization,
                                 .scaling = m.scaling}};
      op_case c;
      double *tables;
      case_create(&c, ctx, 40, order, CASE_MIXED, m);
      const kg_cells these = cells_of(&c, &tables);
      compare_triangles(&c, &these, tables, &of);
      free(tables);
      case_destroy(&c);
    }
}

/// A material with the stabilization of `like`: a number, or n . diffusion n / length.
static kg_material material_of(int region, const kg_cell_material *like)
{
  const double *k = of_region[region], s = sqrt(k[0] * k[2] - k[1] * k[1]);
  kg_material m = {s, k[3], like->stabilization, like->scaling};
  m.is_tensor = k[1] != 0.0;
  m.root[2] = sqrt(k[2] / s);
  m.root[1] = k[1] / (s * m.root[2]);
  m.root[0] = 1.0 / m.root[2];
  if (!(like->length > 0.0)) return m;
  m.by_normal = m.is_tensor;
  m.stabilization = s / like->length;
  m.scaling = KEDGE_SCALING_ONE;
  return m;
}

static both of_regions(op_case *c, const kg_cells *these, kg_cell_material like)
{
  const int32_t lanes = c->batch.count.n_groups * KG_LANES;
  const int points = kg_cell_value_points(&these->tables, &like);
  const size_t count = (size_t)(KG_CELL_FUNCTIONS * points * lanes);
  kg_material table[MATERIALS];
  int32_t *index = calloc((size_t)lanes, sizeof *index);
  double *values = calloc(count, sizeof *values);
  assert_true(index && values);
  for (int m = 0; m < MATERIALS; ++m) table[m] = material_of(m, &like);
  for (int32_t lane = 0; lane < lanes; ++lane) {
    index[lane] = region_of(lane);
    for (int k = 0; k < KG_CELL_FUNCTIONS * points; ++k)
      values[kg_cell_at(lane, KG_CELL_FUNCTIONS * points, k)] = of_region[index[lane]][k / points];
  }
  like.reaction = 1.0;
  like.values = case_input(c, values, count);
  const both of = {.fast = {.table = case_upload(c, table, MATERIALS, sizeof *table),
                            .index = case_upload(c, index, (size_t)lanes, sizeof *index)},
                   .cells = like};
  free(index);
  free(values);
  return of;
}

static void compare_regions(int order, kg_cell_material like, bool by_region)
{
  op_case c;
  double *tables;
  case_create(&c, ctx, 75, order, CASE_MIXED, kg_unit_material());
  const kg_cells these = cells_of(&c, &tables);
  both of = {.fast = kg_one_material(material_of(1, &like)), .cells = like};
  for (int k = 0; k < 3; ++k) of.cells.diffusion[k] = of_region[1][k];
  of.cells.reaction = of_region[1][3];
  if (by_region) of = of_regions(&c, &these, like);
  compare_triangles(&c, &these, tables, &of);
  free(tables);
  case_destroy(&c);
}

static void tensors_and_materials_by_element_are_those_of_quadrature(void **state)
{
  (void)state;
  static const kg_cell_material stabilizations[] = {
      {.length = 1.3},
      {.stabilization = 1.5, .scaling = KEDGE_SCALING_ONE},
      {.stabilization = 0.7, .scaling = KEDGE_SCALING_H},
      {.stabilization = 0.4, .scaling = KEDGE_SCALING_INVERSE_H}};
  for (int order = 1; order <= ORDERS; ++order)
    for (size_t k = 0; k < sizeof stabilizations / sizeof *stabilizations; ++k) {
      compare_regions(order, stabilizations[k], false);
      compare_regions(order, stabilizations[k], true);
    }
}

/// Diffusion of two materials: little of it along x, along y.
static const double thin[2][4] = {{1.0, 0.0, 1e8, 0.0}, {1e8, 0.0, 1.0, 0.0}};

/// Multiply gradients [group][2][points][lane] by `thin`, behind `before` rows of each group.
static void by_diffusion(int32_t groups, int before, int points, double *gradient)
{
  const int rows = before + 2 * points;
  for (int32_t e = 0; e < groups * KG_LANES; ++e)
    for (int k = before; k < rows; ++k)
      gradient[kg_cell_at(e, rows, k)] *= thin[e % 2][k - before < points ? 0 : 2];
}

/// Errors of gradients that are a lot in a direction of little diffusion, and those of these
/// gradients times the diffusion. @param[out] sums  [2][group][4] and behind them fluxes [group]
static double *thin_errors(op_case *c, double *q, double *exact)
{
  const int32_t groups = c->batch.count.n_groups;
  const size_t lanes = (size_t)groups * KG_LANES, n = (size_t)c->points.n;
  const size_t N = (size_t)c->size.n_modes, S = (size_t)c->size.n_star;
  double *values = case_randoms(5, (N + S) * lanes), *sums = case_output(c, 9 * (size_t)groups);
  int32_t *index = calloc(lanes, sizeof *index);
  assert_non_null(index);
  for (size_t i = 0; i < lanes; ++i) index[i] = i % 2;
  kg_errors_args args = {.batch = c->batch,
                         .points = c->points,
                         .n_groups = groups,
                         .u = case_input(c, values, N * lanes),
                         .q = case_input(c, q, 2 * N * lanes),
                         .u_star = case_input(c, values + N * lanes, S * lanes),
                         .exact = case_input(c, exact, 3 * n * lanes),
                         .by_group = (kg_error_sums *)sums,
                         .flux_by_group = sums + 8 * groups,
                         .diffusion = case_upload(c, thin, 8, sizeof(double)),
                         .material = case_upload(c, index, lanes, sizeof *index)};
  must(c->ctx, kg_errors(c->ctx, &args));
  by_diffusion(groups, 0, (int)N, q);
  by_diffusion(groups, (int)n, (int)n, exact);
  args.q = case_input(c, q, 2 * N * lanes);
  args.exact = case_input(c, exact, 3 * n * lanes);
  args.by_group += groups;
  args.flux_by_group = NULL;
  must(c->ctx, kg_errors(c->ctx, &args));
  free(values);
  free(index);
  return case_fetch(c, sums);
}

static void the_flux_of_an_error_in_a_direction_of_little_diffusion_is_right(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    for (int k = 0; k < 2; ++k) {
      op_case c;
      case_create(&c, ctx, 75, order, CASE_MIXED, kg_unit_material());
      const int32_t groups = c.batch.count.n_groups;
      const int n = c.points.n, N = c.size.n_modes;
      double *q = case_randoms(3, (size_t)(2 * N * groups * KG_LANES));
      double *exact = case_randoms(4, (size_t)(3 * n * groups * KG_LANES));
      for (int32_t e = 0; e < groups * KG_LANES; ++e) {
        const double across = k == 0 ? 0.0 : 1e-8;
        for (int i = 0; i < N; ++i) q[kg_cell_at(e, 2 * N, e % 2 ? i : N + i)] *= across;
        for (int i = 0; i < n; ++i)
          exact[kg_cell_at(e, 3 * n, e % 2 ? n + i : 2 * n + i)] *= across;
      }
      double *sums = thin_errors(&c, q, exact);
      for (int32_t g = 0; g < groups; ++g) {
        const double flux = sums[8 * groups + g], expected = sums[4 * (groups + g) + 1];
        assert_true(expected > 0.0);
        assert_at_most(fabs(flux / expected - 1.0), rounding(n * N));
      }
      free(q);
      free(exact);
      free(sums);
      case_destroy(&c);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_those_of_quadrature),
      cmocka_unit_test(tensors_and_materials_by_element_are_those_of_quadrature),
      cmocka_unit_test(the_flux_of_an_error_in_a_direction_of_little_diffusion_is_right),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
