// Operators by quadrature, element by element: what holds on any element. One file, because all
// claims are about one case of two shapes.
#include <math.h>
#include <stdlib.h>

#include "cell_case.h"
#include "compare.h"
#include "context.h"
#include "ops/local/quadrature/make.h"
#include "ops/local/quadrature/means.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"

enum { ORDERS = 8, TRACE_MAX = 4 * (ORDERS + 2) };

/// Nine corners and three elements of each shape that see a facet in both directions.
static const double vertices[9][2] = {{0, 0},     {2, 0},      {1.5, 1},   {0, 1.2},  {3.1, -0.2},
                                      {2.9, 1.6}, {-0.4, 2.1}, {1.2, 2.3}, {0.7, 0.6}};
static const int32_t quadrilaterals[3][4] = {{0, 1, 2, 3}, {4, 5, 2, 1}, {7, 6, 3, 2}};
static const int32_t triangles[3][3] = {{0, 1, 2}, {4, 2, 1}, {2, 3, 0}};

static const kg_cell *const cells[] = {&kg_triangle, &kg_quadrilateral};

static void create(cell_case *c, const kg_cell *cell, int order, int rows)
{
  const int32_t *corners = cell == &kg_triangle ? triangles[0] : quadrilaterals[0];
  cell_case_create(c, ctx, cell, order, rows, 9, vertices[0], 3, corners);
}

static void bulge(double x, double y, double *f)
{
  f[0] = x + 0.08 * sin(3.0 * y + x);
  f[1] = y + 0.06 * cos(2.0 * x - y);
}

typedef void variant_check(cell_case *c, bool exact);

/// Both shapes, orders 1, 2, 3, 5, 8, geometry orders up to the order or to `most` if that is
/// larger, both fluxes. There are points enough for a mass matrix of two modes and J.
static void for_all_variants(int most, variant_check *check)
{
  static const int orders[] = {1, 2, 3, 5, 8};
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 5; ++i)
      for (int g = 1; g <= KG_GEOMETRY_MAX && (g <= orders[i] || g <= most); ++g)
        for (int exact = 0; exact < 2; ++exact) {
          cell_case c;
          create(&c, cells[k], orders[i], orders[i] + 6);
          if (g > 1) cell_case_bend(&c, g, NULL, bulge);
          check(&c, exact == 1);
          cell_case_destroy(&c);
        }
}

static void varying(double x, double y, double *f)
{
  f[0] = 2.0 + sin(3.0 * x);
  f[1] = 0.7 * cos(x * y);
  f[2] = 1.5 + y * y;
  f[3] = NAN;  // is not read where a material has no reaction
}

/// Constants on straight elements, else values, and by them the stabilization.
static void check_constants(cell_case *c, bool exact)
{
  kg_cell_material material = {.diffusion = {2.0, 0.5, 1.0},
                               .stabilization = 0.7,
                               .scaling = KEDGE_SCALING_INVERSE_H,
                               .exact = exact};
  if (c->host_points.geometry > 1) {
    material.length = 1.4;
    material.values = cell_case_values(c, &material, varying);
  }
  const int n = c->size.n_trace, m = c->size.n_facet, N = c->size.n_modes;
  double *load = case_randoms(2, (size_t)(c->n_elements * N)), *local, *condensed;
  cell_case_make(c, &material, load, &local, &condensed);
  for (int e = 0; e < c->n_elements; ++e) {
    // u = 1 is sqrt(2) in mode 0 of each facet, and 1 / phi_0 in that of the element.
    double total = -load[e * N] / c->host.tables.points.value[0];
    for (int a = 0; a < n; a += m) total += sqrt(2.0) * condensed[e * n + a];
    assert_at_most(fabs(total), 1e2 * rounding(n));
    for (int i = 0; i < n; ++i) {
      double sum = 0.0, size = 1.0;
      for (int a = 0; a < n; a += m) sum += sqrt(2.0) * local[(e * n + i) * n + a];
      for (int a = 0; a < n; a += m) size += sqrt(2.0) * fabs(local[(e * n + i) * n + a]);
      assert_at_most(fabs(sum), 5.0 * rounding(n) * size);
    }
  }
  free(load);
  free(local);
  free(condensed);
}

static void K_times_constants_is_zero_without_reaction_and_loads_are_conserved(void **state)
{
  (void)state;
  for_all_variants(KG_GEOMETRY_MAX, check_constants);
}

static void K_does_not_depend_on_the_corner_with_which_an_element_begins(void **state)
{
  (void)state;
  const kg_cell_material material = {.diffusion = {2.0, 0.5, 1.0},
                                     .reaction = 3.0,
                                     .stabilization = 0.7,
                                     .scaling = KEDGE_SCALING_H};
  for (int k = 0; k < 2; ++k)
    for (int order = 1; order <= ORDERS; ++order) {
      const int V = cells[k]->n_vertices;
      int32_t turned[2 * KG_FACETS_MAX];
      for (int l = 0; l < V; ++l) {
        turned[l] = k == 0 ? triangles[0][l] : quadrilaterals[0][l];
        turned[V + l] = k == 0 ? triangles[0][(l + 1) % V] : quadrilaterals[0][(l + 1) % V];
      }
      cell_case c;
      // Collapsed points do not turn with a triangle; they are exact there.
      cell_case_create(&c, ctx, cells[k], order, kg_cell_rows(order), 9, vertices[0], 2, turned);
      const int n = c.size.n_trace, m = c.size.n_facet;
      double *load = case_randoms(3, (size_t)(2 * c.size.n_modes)), *local, *condensed;
      double other[TRACE_MAX * TRACE_MAX];
      cell_case_make(&c, &material, load, &local, &condensed);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) other[(i + m) % n * n + (j + m) % n] = local[(n + i) * n + j];
      assert_close((size_t)(n * n), other, local, 1e2 * rounding(n));
      free(load);
      free(local);
      free(condensed);
      cell_case_destroy(&c);
    }
}

/// A linear function; its gradient (2, -3); the load is reaction times it.
static const double kappa[3] = {2.0, 0.5, 1.0};
enum { REACTION = 5 };

static void linear(double x, double y, double *f)
{
  f[0] = 0.3 + 2.0 * x - 3.0 * y;
}

/// (c u, phi) by the rule of the case, of an element.
static void loads_of_linear(const cell_case *c, double *load)
{
  const kg_cell_points *p = &c->host_points;
  const int N = c->size.n_modes;
  double *values = cell_case_sample(c, 1, linear);
  for (int e = 0; e < c->n_elements; ++e) {
    const double *const x = cell_case_nodes(c, e), *const y = x + p->n_nodes;
    for (int i = 0; i < N; ++i) {
      load[e * N + i] = 0.0;
      for (int q = 0; q < p->n; ++q)
        load[e * N + i] += REACTION * p->weight[q] * p->value[q * c->size.n_star + i] *
                           kg_cell_place_at(p, q, x, y).jacobian * values[e * p->n + q];
    }
  }
  free(values);
}

typedef struct recovered {
  double *trace, *load;  ///< [facet][m], [element][N]
  double *u, *flux, *star, *indicator;
  double *constant;  ///< [element][3]
} recovered;

static void recover_linear(cell_case *c, const kg_cell_material *material, recovered *r)
{
  const int N = c->size.n_modes, S = c->size.n_flux, m = c->size.n_facet;
  r->trace = calloc((size_t)(c->n_facets * m), sizeof *r->trace);
  r->load = calloc((size_t)(c->n_elements * N), sizeof *r->load);
  assert_true(r->trace && r->load);
  for (int f = 0; f < c->n_facets; ++f) cell_case_project(c, f, linear, r->trace + f * m);
  loads_of_linear(c, r->load);
  const kg_cell_recover_args args = {c->cells,
                                     *material,
                                     case_input(&c->memory, r->trace, (size_t)(c->n_facets * m)),
                                     cell_case_input(c, N, r->load),
                                     cell_case_output(c, N),
                                     cell_case_output(c, S)};
  must(ctx, kg_cell_recover(ctx, &args));
  const kg_cell_postprocess_args star = {c->cells,
                                         *material,
                                         args.u,
                                         args.flux,
                                         cell_case_output(c, c->size.n_star),
                                         cell_case_output(c, 1)};
  must(ctx, kg_cell_postprocess(ctx, &star));
  const kg_cell_means_args means = {c->cells, *material, args.u, args.flux,
                                    cell_case_output(c, KG_CELL_MEANS)};
  must(ctx, kg_cell_means(ctx, &means));
  r->constant = cell_case_fetch(c, KG_CELL_MEANS, means.constant);
  r->u = cell_case_fetch(c, N, args.u);
  r->flux = cell_case_fetch(c, S, args.flux);
  r->star = cell_case_fetch(c, c->size.n_star, star.u_star);
  r->indicator = cell_case_fetch(c, 1, star.indicator);
}

static void recovered_free(recovered *r)
{
  free(r->trace);
  free(r->load);
  free(r->u);
  free(r->flux);
  free(r->star);
  free(r->indicator);
  free(r->constant);
}

/// u, u* and the flux at the points of the rule of element e, and the means.
static void check_linear(const cell_case *c, const recovered *r, int e)
{
  const kg_cell_points *p = &c->host_points;
  const int V = c->cell->n_vertices, N = c->size.n_modes, S = c->size.n_flux;
  const double *const x = cell_case_nodes(c, e), *const y = x + p->n_nodes;
  double area = 0.0, integral = 0.0;
  for (int q = 0; q < p->n; ++q) {
    const kg_cell_place at = kg_cell_place_at(p, q, x, y);
    double u, star, s[2] = {0.0, 0.0}, sigma[2], gradient[2];
    linear(at.x, at.y, &u);
    area += p->weight[q] * at.jacobian;
    integral += p->weight[q] * at.jacobian * u;
    star = u;
    for (int i = 0; i < N; ++i) u -= p->value[q * c->size.n_star + i] * r->u[e * N + i];
    for (int i = 0; i < c->size.n_star; ++i)
      star -= p->value[q * c->size.n_star + i] * r->star[e * c->size.n_star + i];
    for (int i = 0; i < S; ++i) s[i >= S / 2] += p->flux[q * S + i] * r->flux[e * S + i];
    kg_cell_flux_of(&at, s[0], s[1], sigma);
    kg_cell_gradient_of(kappa, sigma, gradient);
    assert_at_most(fabs(u), 1e-12);
    assert_at_most(fabs(star), 1e-12);
    assert_at_most(fabs(sigma[0] / 2.5 - 1.0), 1e-11);
    assert_at_most(fabs(sigma[1] / 2.0 + 1.0), 1e-11);
    assert_at_most(fabs(gradient[0] - 2.0), 1e-11);
    assert_at_most(fabs(gradient[1] + 3.0), 1e-11);
  }
  assert_at_most(r->indicator[e], 1e-12);
  const double mode = V == 3 ? sqrt(0.5) : 0.5;  // one over the root of the area
  const double means[KG_CELL_MEANS] = {integral / area, 2.0, -3.0, 2.5, -2.0};
  for (int k = 0; k < KG_CELL_MEANS; ++k)
    assert_at_most(fabs(mode * r->constant[KG_CELL_MEANS * e + k] - means[k]), 1e-11);
}

static const kg_cell_material of_linear = {.diffusion = {2.0, 0.5, 1.0},
                                           .reaction = REACTION,
                                           .stabilization = 0.7,
                                           .scaling = KEDGE_SCALING_ONE};

static void check_recovery(cell_case *c, bool exact)
{
  kg_cell_material material = of_linear;
  recovered r;
  material.exact = exact;
  recover_linear(c, &material, &r);
  for (int e = 0; e < c->n_elements; ++e) check_linear(c, &r, e);
  recovered_free(&r);
}

static void linear_functions_their_fluxes_and_means_are_recovered_exactly(void **state)
{
  (void)state;
  for_all_variants(1, check_recovery);
}

/// Two sides of an inner facet give opposite rows of K^e lambda - F^e = <sigma . n, psi>.
static void check_rows(cell_case *c, bool exact)
{
  kg_cell_material material = of_linear;
  recovered r;
  material.exact = exact;
  recover_linear(c, &material, &r);
  const int V = c->size.n_facets, m = c->size.n_facet, n = c->size.n_trace;
  double *local, *condensed, *row = calloc((size_t)(c->n_facets * m), sizeof *row);
  assert_non_null(row);
  cell_case_make(c, &material, r.load, &local, &condensed);
  for (int e = 0; e < c->n_elements; ++e)
    for (int i = 0; i < n; ++i) {
      double *const sum = &row[(c->side[e * V + i / m] >> 1) * (uint32_t)m + (uint32_t)(i % m)];
      *sum -= condensed[e * n + i];
      for (int j = 0; j < n; ++j)
        *sum += local[(e * n + i) * n + j] *
                r.trace[(c->side[e * V + j / m] >> 1) * (uint32_t)m + (uint32_t)(j % m)];
    }
  int inner = 0;
  for (int f = 0; f < c->n_facets; ++f) {
    double size = 0.0;
    for (int i = 0; i < m; ++i) size = fmax(size, fabs(row[f * m + i]));
    inner += c->n_sides[f] == 2;
    if (c->n_sides[f] == 2)
      assert_at_most(size, 1e-11);
    else
      assert_true(size > 0.1);
  }
  assert_int_equal(inner, 2);
  free(local);
  free(condensed);
  free(row);
  recovered_free(&r);
}

static void rows_of_two_elements_at_a_facet_add_up_to_zero_for_linear_functions(void **state)
{
  (void)state;
  for_all_variants(1, check_rows);
}

/// No two elements alike.
static void irregular(int i, int j, int n, double at[2])
{
  at[0] = (i + 0.03 * i * i + 0.2 * sin(3.0 * i + j)) / n;
  at[1] = (j + 0.02 * i * j + 0.2 * cos(2.0 * i + 5.0 * j)) / n;
}

enum { RANGE_OUTPUTS = 6 };

/// All operators on groups `first` .. of a case, into out, whose arrays are those of the whole
/// case.
static void run_range(const cell_case *c, int32_t first, int32_t n_groups, const double *trace,
                      const double *load, double *const out[RANGE_OUTPUTS])
{
  const kg_cell_material material = {.diffusion = {2.0, 0.5, 1.0},
                                     .reaction = 3.0,
                                     .stabilization = 0.7,
                                     .scaling = KEDGE_SCALING_ONE};
  const kg_cells part = kg_cells_part(&c->cells, first, n_groups);
  const int rows[RANGE_OUTPUTS] = {c->size.n_packed, c->size.n_trace, c->size.n_modes,
                                   c->size.n_flux,   c->size.n_star,  1};
  double *at[RANGE_OUTPUTS];
  for (int k = 0; k < RANGE_OUTPUTS; ++k) at[k] = out[k] + first * rows[k] * KG_LANES;
  const double *const f = load + first * c->size.n_modes * KG_LANES;
  const kg_cell_make_args args = {part, material, f, at[0], at[1]};
  const kg_cell_recover_args solve = {part, material, trace, f, at[2], at[3]};
  const kg_cell_postprocess_args star = {part, material, at[2], at[3], at[4], at[5]};
  must(ctx, kg_cell_make(ctx, &args));
  must(ctx, kg_cell_recover(ctx, &solve));
  must(ctx, kg_cell_postprocess(ctx, &star));
}

static void a_range_of_groups_gets_what_it_gets_in_the_whole(void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k) {
    cell_case c;
    cell_case_grid(&c, ctx, cells[k], 2, kg_cell_rows(2), 9, irregular);
    const size_t n_trace = (size_t)(c.n_facets * c.size.n_facet);
    const size_t n_load = (size_t)(c.n_elements * c.size.n_modes);
    double *random = case_randoms(7, n_trace + n_load);
    const double *trace = case_input(&c.memory, random, n_trace);
    const double *load = cell_case_input(&c, c.size.n_modes, random + n_trace);
    const int rows[RANGE_OUTPUTS] = {c.size.n_packed, c.size.n_trace, c.size.n_modes,
                                     c.size.n_flux,   c.size.n_star,  1};
    double *out[2][RANGE_OUTPUTS];
    for (int i = 0; i < 2 * RANGE_OUTPUTS; ++i)
      out[i / RANGE_OUTPUTS][i % RANGE_OUTPUTS] = cell_case_output(&c, rows[i % RANGE_OUTPUTS]);
    assert_true(c.n_groups >= 3 && c.n_elements % KG_LANES != 0);
    run_range(&c, 0, c.n_groups, trace, load, out[0]);
    run_range(&c, 0, 2, trace, load, out[1]);
    run_range(&c, 2, c.n_groups, trace, load, out[1]);
    for (int i = 0; i < RANGE_OUTPUTS; ++i) {
      double *whole = cell_case_fetch(&c, rows[i], out[0][i]);
      double *parts = cell_case_fetch(&c, rows[i], out[1][i]);
      for (int j = 0; j < rows[i] * c.n_elements; ++j) assert_true(whole[j] == parts[j]);
      free(whole);
      free(parts);
    }
    free(random);
    cell_case_destroy(&c);
  }
}

static void empty_lanes_have_zero_local_matrices(void **state)
{
  (void)state;
  const kg_cell_material material = {.diffusion = {1.0, 0.0, 1.0},
                                     .reaction = 1.0,
                                     .stabilization = 1.0,
                                     .scaling = KEDGE_SCALING_ONE};
  cell_case c;
  create(&c, &kg_quadrilateral, 2, kg_cell_rows(2));
  const int n = c.size.n_trace, packed = c.size.n_packed;
  double *load = case_randoms(5, (size_t)(c.n_elements * c.size.n_modes));
  const kg_cell_make_args args = {c.cells, material, cell_case_input(&c, c.size.n_modes, load),
                                  cell_case_output(&c, packed), cell_case_output(&c, n)};
  must(ctx, kg_cell_make(ctx, &args));
  double *local = case_fetch(&c.memory, args.local), *f = case_fetch(&c.memory, args.condensed);
  for (int lane = c.n_elements; lane < KG_LANES; ++lane) {
    for (int i = 0; i < packed; ++i) assert_true(local[kg_cell_at(lane, packed, i)] == 0.0);
    for (int i = 0; i < n; ++i) assert_true(f[kg_cell_at(lane, n, i)] == 0.0);
  }
  free(load);
  free(local);
  free(f);
  cell_case_destroy(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(K_times_constants_is_zero_without_reaction_and_loads_are_conserved),
      cmocka_unit_test(K_does_not_depend_on_the_corner_with_which_an_element_begins),
      cmocka_unit_test(linear_functions_their_fluxes_and_means_are_recovered_exactly),
      cmocka_unit_test(rows_of_two_elements_at_a_facet_add_up_to_zero_for_linear_functions),
      cmocka_unit_test(a_range_of_groups_gets_what_it_gets_in_the_whole),
      cmocka_unit_test(empty_lanes_have_zero_local_matrices),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
