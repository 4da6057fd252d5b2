// Operators by quadrature on curved elements and with values of coefficients at points: published
// norms of single elements, positive K^e, and values against constants.
#include <math.h>
#include <stdlib.h>

#include "cell_case.h"
#include "compare.h"
#include "context.h"
#include "ops/local/quadrature/errors.h"
#include "ops/local/quadrature/means.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"

static const kg_cell *const cells[] = {&kg_triangle, &kg_quadrilateral};

enum { ORDERS = 3 };
typedef const double table[ORDERS][2];

/// Nodes of an element, x and then y, and the corners of the straight one.
typedef struct element {
  const kg_cell *cell;
  int geometry;
  double nodes[2][6];
} element;
static const element curved = {
    &kg_triangle, 2, {{0.0, 1.0, 0.3, 0.5, 0.7, 0.1}, {0.0, 0.2, 1.1, 0.0, 0.7, 0.5}}};
static const element straight = {
    &kg_quadrilateral, 1, {{0.0, 2.0, 1.5, 0.0}, {0.0, 0.0, 1.0, 1.2}}};

/// Trace and Frobenius norm of K^e.
static void check_norms(const element *e, int order, bool exact, const double expected[2])
{
  static const int32_t corners[KG_FACETS_MAX] = {0, 1, 2, 3};
  const kg_cell_material material = {.diffusion = {2.0, 0.5, 1.0},
                                     .reaction = 1.0,
                                     .stabilization = 1.0,
                                     .scaling = KEDGE_SCALING_ONE,
                                     .exact = exact};
  cell_case c;
  double at[2 * KG_FACETS_MAX], *local, *condensed, trace = 0.0, square = 0.0;
  for (int v = 0; v < 2 * KG_FACETS_MAX; ++v) at[v] = e->nodes[v % 2][v / 2];
  cell_case_create(&c, ctx, e->cell, order, 16, e->cell->n_vertices, at, 1, corners);
  if (e->geometry > 1) cell_case_bend(&c, e->geometry, e->nodes[0], NULL);
  double *load = case_randoms(1, (size_t)c.size.n_modes);
  const int n = c.size.n_trace;
  cell_case_make(&c, &material, load, &local, &condensed);
  for (int i = 0; i < n * n; ++i) square += local[i] * local[i];
  for (int i = 0; i < n; ++i) trace += local[i * n + i];
  if (!(fabs(trace - expected[0]) <= 6e-9 && fabs(sqrt(square) - expected[1]) <= 6e-9))
    fail_msg("%s, order %d, %s: %.9f, %.9f, expected %.8f, %.8f", e->cell->name, order,
             exact ? "exact" : "adjusted", trace, sqrt(square), expected[0], expected[1]);
  free(load);
  free(local);
  free(condensed);
  cell_case_destroy(&c);
}

static void norms_of_elements_are_those_of_an_independent_implementation(void **state)
{
  (void)state;
  static table expected[2][2] = {
      {{{19.73185921, 11.03072192}, {39.96359902, 19.01831775}, {68.72062802, 29.40729526}},
       {{18.88582853, 10.55415745}, {38.75227867, 18.45757196}, {67.05780535, 28.74272002}}},
      {{{32.34538680, 15.53181109}, {67.48256320, 28.02783462}, {117.26529243, 44.21583277}},
       {{28.98817483, 13.54127813}, {62.02536573, 25.17839033}, {109.35681627, 40.43021037}}}};
  for (int order = 1; order <= ORDERS; ++order)
    for (int exact = 0; exact < 2; ++exact) {
      check_norms(&curved, order, exact == 1, expected[0][exact][order - 1]);
      check_norms(&straight, order, exact == 1, expected[1][exact][order - 1]);
    }
}

/// 227 KiB, which a block of an H100 may have.
static void scratch_of_an_element_of_order_8_fits_shared_memory(void **state)
{
  (void)state;
  const kg_cell_material material = {.length = 1.0, .exact = true};
  for (int k = 0; k < 2; ++k) {
    const int rows = kg_cell_rows(8);
    const kg_cell_tables t = kg_cell_tables_at(cells[k], 8, KG_GEOMETRY_MAX, rows, NULL);
    const size_t most = 227 * 1024 / sizeof(double);
    assert_true(kg_cell_make_scratch(&t, &material) <= most);
    assert_true(kg_cell_recover_scratch(&t, &material) <= most);
    assert_true(kg_cell_postprocess_scratch(&t) <= most);
  }
}

/// A grid of no two elements alike.
static void irregular(int i, int j, int n, double at[2])
{
  at[0] = (i + 0.03 * i * i + 0.2 * sin(3.0 * i + j)) / n;
  at[1] = (j + 0.02 * i * j + 0.2 * cos(2.0 * i + 5.0 * j)) / n;
}

static void bulge(double x, double y, double *f)
{
  f[0] = x + 0.08 * sin(3.0 * y + x);
  f[1] = y + 0.06 * cos(2.0 * x - y);
}

static void create(cell_case *c, const kg_cell *cell, int order, int geometry)
{
  cell_case_grid(c, ctx, cell, order, kg_cell_rows(order), 3, irregular);
  if (geometry > 1) cell_case_bend(c, geometry, NULL, bulge);
}

static void varying(double x, double y, double *f)
{
  f[0] = 2.0 + sin(3.0 * x);
  f[1] = 0.7 * cos(x * y);
  f[2] = 1.5 + y * y;
  f[3] = 1.0 + x * x;
}

/// Least of the squares of the pivots of a full matrix, which is destroyed.
static double least_pivot(int n, double *a)
{
  double least = INFINITY;
  for (int k = 0; k < n; ++k) {
    least = fmin(least, a[k * n + k]);
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] * a[k * n + j] / a[k * n + k];
  }
  return least;
}

static void K_is_positive_definite_with_reaction(void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k)
    for (int g = 1; g <= KG_GEOMETRY_MAX; ++g)
      for (int exact = 0; exact < 2; ++exact) {
        cell_case c;
        create(&c, cells[k], 3, g);
        kg_cell_material material = {.reaction = 1.0, .length = 1.0, .exact = exact == 1};
        material.values = cell_case_values(&c, &material, varying);
        const int n = c.size.n_trace;
        double *load = case_randoms(1, (size_t)(c.n_elements * c.size.n_modes));
        double *local, *condensed;
        cell_case_make(&c, &material, load, &local, &condensed);
        for (int e = 0; e < c.n_elements; ++e)
          assert_true(least_pivot(n, local + e * n * n) > 1e-3);
        free(load);
        free(local);
        free(condensed);
        cell_case_destroy(&c);
      }
}

enum { OUTPUTS = 8 };

/// All operators: K^e, F^e, u, flux, u*, indicator, means; and sums of errors, by group.
static void run_all(cell_case *c, const kg_cell_material *material, const double *error_diffusion,
                    double *out[OUTPUTS])
{
  const kg_cell_sizes z = c->size;
  const int points = c->points.n, N = z.n_modes;
  const size_t n_trace = (size_t)(c->n_facets * z.n_facet);
  double *random = case_randoms(9, n_trace + (size_t)(c->n_elements * (N + 3 * points)));
  const double *trace = case_input(&c->memory, random, n_trace);
  const double *load = cell_case_input(c, N, random + n_trace);
  const double *exact = cell_case_input(c, 3 * points, random + n_trace + c->n_elements * N);
  const int n_flux = kg_cell_flux_rows(z.n_flux, material->keeps_gradient);
  const int rows[OUTPUTS - 1] = {z.n_packed, z.n_trace, N, n_flux, z.n_star, 1, KG_CELL_MEANS};
  double *device[OUTPUTS];
  for (int k = 0; k < OUTPUTS - 1; ++k) device[k] = cell_case_output(c, rows[k]);
  device[7] = case_output(&c->memory, 5 * (size_t)c->n_groups);
  const kg_cell_make_args make = {c->cells, *material, load, device[0], device[1]};
  const kg_cell_recover_args recover = {c->cells, *material, trace, load, device[2], device[3]};
  const kg_cell_postprocess_args star = {c->cells,  *material, device[2],
                                         device[3], device[4], device[5]};
  const kg_cell_means_args means = {c->cells, *material, device[2], device[3], device[6]};
  const kg_cell_errors_args errors = {.cells = c->cells,
                                      .material = *material,
                                      .points = c->points,
                                      .n_diffusion = c->points.n,
                                      .diffusion = error_diffusion,
                                      .u = device[2],
                                      .flux = device[3],
                                      .u_star = device[4],
                                      .exact = exact,
                                      .by_group = (kg_error_sums *)device[7],
                                      .flux_by_group = device[7] + 4 * c->n_groups};
  must(ctx, kg_cell_make(ctx, &make));
  must(ctx, kg_cell_recover(ctx, &recover));
  must(ctx, kg_cell_postprocess(ctx, &star));
  must(ctx, kg_cell_means(ctx, &means));
  must(ctx, kg_cell_errors(ctx, &errors));
  for (int k = 0; k < OUTPUTS - 1; ++k) out[k] = cell_case_fetch(c, rows[k], device[k]);
  out[7] = case_fetch(&c->memory, device[7]);
  free(random);
}

static void constant(double x, double y, double *f)
{
  (void)x;
  (void)y;
  f[0] = 2.0;
  f[1] = 0.5;
  f[2] = 1.0;
  f[3] = 3.0;
}

static void compare_outputs(const cell_case *c, int n_flux, double *a[OUTPUTS], double *b[OUTPUTS])
{
  const kg_cell_sizes z = c->size;
  const int rows[OUTPUTS - 1] = {z.n_packed, z.n_trace, z.n_modes,    n_flux,
                                 z.n_star,   1,         KG_CELL_MEANS};
  for (int k = 0; k < OUTPUTS; ++k) {
    const int count = k < OUTPUTS - 1 ? rows[k] * c->n_elements : 5 * c->n_groups;
    assert_close((size_t)count, a[k], b[k], 1e-13);
    free(a[k]);
    free(b[k]);
  }
}

static void values_that_are_constant_are_constants(void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k)
    for (int g = 1; g <= 3; g += 2)
      for (int i = 0; i < 6; ++i) {
        cell_case c;
        double *of_constants[OUTPUTS], *of_values[OUTPUTS];
        create(&c, cells[k], 2, g);
        kg_cell_material material = {.diffusion = {2.0, 0.5, 1.0},
                                     .reaction = 3.0,
                                     .stabilization = 0.7,
                                     .scaling = KEDGE_SCALING_H,
                                     .length = i % 2 == 1 ? 1.3 : 0.0,
                                     .exact = i / 2 == 1,
                                     .keeps_gradient = i / 2 == 2};
        run_all(&c, &material, NULL, of_constants);
        material.values = cell_case_values(&c, &material, constant);
        for (int d = 0; d < 3; ++d) material.diffusion[d] = NAN;
        material.reaction = NAN;
        double *diffusion = cell_case_sample(&c, 3, constant);
        run_all(&c, &material, cell_case_input(&c, 3 * c.points.n, diffusion), of_values);
        compare_outputs(&c, kg_cell_flux_rows(c.size.n_flux, material.keeps_gradient), of_values,
                        of_constants);
        free(diffusion);
        cell_case_destroy(&c);
      }
}

/// Means of u, q = kappa^-1 sigma and sigma from u and flux of element e, point by point.
static void sum_means(const cell_case *c, int e, const double *u, const double *flux,
                      double means[KG_CELL_MEANS])
{
  const kg_cell_points *p = &c->host.tables.points;
  const int N = c->size.n_modes, S = c->size.n_flux;
  const double *const x = cell_case_nodes(c, e);
  double area = 0.0, sums[KG_CELL_MEANS] = {0.0}, kappa[4], along[2], sigma[2];
  for (int q = 0; q < p->n; ++q) {
    const kg_cell_place at = kg_cell_place_at(p, q, x, x + p->n_nodes);
    const double w = p->weight[q] * at.jacobian;
    varying(at.x, at.y, kappa);
    kg_cell_flux_at(p, q, flux + e * S, along);
    kg_cell_flux_of(&at, along[0], along[1], sigma);
    const double det = kappa[0] * kappa[2] - kappa[1] * kappa[1];
    area += w;
    for (int i = 0; i < N; ++i) sums[0] += w * p->value[q * c->size.n_star + i] * u[e * N + i];
    sums[1] += w * (kappa[2] * sigma[0] - kappa[1] * sigma[1]) / det;
    sums[2] += w * (kappa[0] * sigma[1] - kappa[1] * sigma[0]) / det;
    for (int k = 0; k < 2; ++k) sums[3 + k] += w * sigma[k];
  }
  for (int k = 0; k < KG_CELL_MEANS; ++k) means[k] = sums[k] / area;
}

static void means_are_those_of_kappa_at_every_point(void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k)
    for (int length = 0; length < 2; ++length) {
      cell_case c;
      double *out[OUTPUTS], means[KG_CELL_MEANS];
      create(&c, cells[k], 2, 3);
      kg_cell_material material = {.stabilization = 0.7, .scaling = KEDGE_SCALING_H};
      material.length = length;
      material.values = cell_case_values(&c, &material, varying);
      double *diffusion = cell_case_sample(&c, 3, varying);
      run_all(&c, &material, cell_case_input(&c, 3 * c.points.n, diffusion), out);
      for (int e = 0; e < c.n_elements; ++e) {
        sum_means(&c, e, out[2], out[3], means);
        for (int i = 0; i < KG_CELL_MEANS; ++i) means[i] /= c.host.tables.points.value[0];
        assert_close(KG_CELL_MEANS, out[6] + KG_CELL_MEANS * e, means, 1e-12);
      }
      for (int i = 0; i < OUTPUTS; ++i) free(out[i]);
      free(diffusion);
      cell_case_destroy(&c);
    }
}

/// n . kappa n is kappa where it is a number, and |l| does not depend on the rule.
static void stabilization_by_length_is_the_number_kappa_over_length_of_isotropic_diffusion(
    void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k)
    for (int g = 1; g <= 3; g += 2) {
      cell_case c;
      double *by_length[OUTPUTS], *by_number[OUTPUTS];
      create(&c, cells[k], 2, g);
      kg_cell_material material = {.diffusion = {2.6, 0.0, 2.6}, .reaction = 1.0, .length = 1.3};
      run_all(&c, &material, NULL, by_length);
      material.length = 0.0;
      material.stabilization = 2.0;
      run_all(&c, &material, NULL, by_number);
      compare_outputs(&c, c.size.n_flux, by_length, by_number);
      cell_case_destroy(&c);
    }
}

/// The map of order g of straight elements is theirs.
static void nodes_of_a_straight_element_are_its_corners(void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k)
    for (int g = 2; g <= KG_GEOMETRY_MAX; ++g) {
      const kg_cell_material material = {.diffusion = {2.0, 0.5, 1.0},
                                         .reaction = 3.0,
                                         .stabilization = 0.7,
                                         .scaling = KEDGE_SCALING_H};
      cell_case c, d;
      double *bent[OUTPUTS], *straight_ones[OUTPUTS];
      create(&c, cells[k], 2, 1);
      create(&d, cells[k], 2, 1);
      cell_case_bend(&d, g, NULL, NULL);
      run_all(&c, &material, NULL, straight_ones);
      run_all(&d, &material, NULL, bent);
      compare_outputs(&c, c.size.n_flux, bent, straight_ones);
      cell_case_destroy(&c);
      cell_case_destroy(&d);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(norms_of_elements_are_those_of_an_independent_implementation),
      cmocka_unit_test(scratch_of_an_element_of_order_8_fits_shared_memory),
      cmocka_unit_test(K_is_positive_definite_with_reaction),
      cmocka_unit_test(values_that_are_constant_are_constants),
      cmocka_unit_test(means_are_those_of_kappa_at_every_point),
      cmocka_unit_test(
          stabilization_by_length_is_the_number_kappa_over_length_of_isotropic_diffusion),
      cmocka_unit_test(nodes_of_a_straight_element_are_its_corners),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
