// Sums and extrema of u and u*, and numbers that are not finite, against plain loops.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cell_case.h"
#include "compare.h"
#include "context.h"
#include "ops/local/quadrature/field_sums.h"

/// A field of every kind, [element][rows].
typedef struct case_fields {
  cell_case c;
  double *u, *star, *means, *flux;
  int flux_rows;
  kg_cell_material material;
  bool by_quadrature;
  cell_function *diffusion;  ///< NULL: that of the material
  int n_points;
  double value[KG_FIELD_POINTS * (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 2)];
} case_fields;

enum { MEANS = 3, PIECES = 3 };

/// Squares of different sizes.
static void graded(int i, int j, int n, double at[2])
{
  at[0] = pow((double)i / n, 1.5);
  at[1] = 0.7 * j / n;
}

static void open_fields(case_fields *f, const kg_cell *cell, int order, int n)
{
  cell_case_grid(&f->c, ctx, cell, order, kg_cell_rows(order), n, graded);
  const size_t e = (size_t)f->c.n_elements;
  f->u = case_randoms(1, e * (size_t)f->c.size.n_modes);
  f->star = case_randoms(2, e * (size_t)f->c.size.n_star);
  f->means = case_randoms(3, e * MEANS);
  f->n_points = kg_field_points(cell, order, f->value);
  f->material = (kg_cell_material){.diffusion = {3.0, 0.7, 0.5}};
  f->by_quadrature = cell->n_facets == 4;
  f->diffusion = NULL;
  f->flux_rows = f->c.size.n_flux;
  f->flux = case_randoms(4, e * (size_t)f->flux_rows);
}

/// Keep the weak gradient, or integrate a triangle.
static void change_flux(case_fields *f, bool keeps_gradient)
{
  free(f->flux);
  f->by_quadrature = true;
  f->material.keeps_gradient = keeps_gradient;
  f->flux_rows = kg_cell_flux_rows(f->c.size.n_flux, keeps_gradient);
  f->flux = case_randoms(5, (size_t)f->c.n_elements * (size_t)f->flux_rows);
}

static void close_fields(case_fields *f)
{
  free(f->u), free(f->star), free(f->means), free(f->flux);
  cell_case_destroy(&f->c);
}

/// Sums by the operator, in chunks of so many groups.
static kg_field_sums sums_of(case_fields *f, int32_t groups_at_once)
{
  cell_case *c = &f->c;
  const kg_cell_sizes s = c->size;
  kg_field_sums pieces[PIECES], all = kg_no_field_sums();
  memset(pieces, 0xff, sizeof pieces);
  kg_field_sums *on_device = case_upload(&c->memory, pieces, PIECES, sizeof *pieces);
  const double *u = cell_case_input(c, s.n_modes, f->u);
  const double *star = cell_case_input(c, s.n_star, f->star);
  const double *means = cell_case_input(c, MEANS, f->means);
  const double *flux = cell_case_input(c, f->flux_rows, f->flux);
  const double *value = case_input(&c->memory, f->value, (size_t)f->n_points * (size_t)s.n_star);
  for (int32_t first = 0; first < c->n_groups; first += groups_at_once) {
    const kg_cells part = kg_cells_part(&c->cells, first, groups_at_once);
    const size_t lanes = (size_t)first * KG_LANES;
    must(ctx,
         kg_field_sums_add(ctx, &(kg_field_sums_args){.n_facets = s.n_facets,
                                                      .n_modes = s.n_modes,
                                                      .n_star = s.n_star,
                                                      .n_points = f->n_points,
                                                      .value = value,
                                                      .n_elements = part.n_elements,
                                                      .first_element = 100 + first * KG_LANES,
                                                      .vertices = part.vertices,
                                                      .vertex = part.vertex,
                                                      .u = u + lanes * (size_t)s.n_modes,
                                                      .u_star = star + lanes * (size_t)s.n_star,
                                                      .flux = flux + lanes * (size_t)f->flux_rows,
                                                      .material = f->material,
                                                      .by_quadrature = f->by_quadrature,
                                                      .cells = part,
                                                      .n_means = MEANS,
                                                      .means = means + lanes * MEANS,
                                                      .begins = first == 0,
                                                      .n_pieces = PIECES,
                                                      .sums = on_device}));
  }
  must(ctx, kg_copy_out(ctx, pieces, on_device, sizeof pieces));
  for (int i = 0; i < PIECES; ++i) kg_field_sums_join(&pieces[i], &all);
  case_release(&c->memory);
  return all;
}

static double value_at(const case_fields *f, int point, const double *c, int n)
{
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum += f->value[point * f->c.size.n_star + k] * c[k];
  return sum;
}

static double twice_area(const cell_case *c, int e)
{
  const int F = c->size.n_facets;
  double sum = 0.0;
  for (int l = 0; l < F; ++l) {
    const double *a = c->vertices + 2 * c->corners[F * e + l];
    const double *b = c->vertices + 2 * c->corners[F * e + (l + 1) % F];
    sum += a[0] * b[1] - a[1] * b[0];
  }
  return sum;
}

/// Add the squares of sigma and q at a point of the rule of an element.
static void add_point(const case_fields *f, int e, int q, kg_field_sums *all)
{
  const kg_cell_points *const points = &f->c.host.tables.points;
  const double *const s = f->flux + (size_t)e * (size_t)f->flux_rows, *const nodes =
                                                                          cell_case_nodes(&f->c, e);
  const double *const phi = points->value + q * points->size.n_star;
  const kg_cell_place place = kg_cell_place_at(points, q, nodes, nodes + points->n_nodes);
  double kappa[KG_CELL_FUNCTIONS];
  if (f->diffusion) f->diffusion(place.x, place.y, kappa);
  const double *const k = f->diffusion ? kappa : f->material.diffusion,
                      w = points->weight[q] * place.jacobian;
  const int N = f->c.size.n_modes;
  double sigma[2] = {0.0, 0.0}, gradient[2] = {0.0, 0.0}, at[2];
  if (!f->by_quadrature) {
    for (int i = 0; i < N; ++i)
      for (int c = 0; c < 2; ++c) gradient[c] += phi[i] * s[c * N + i];
    for (int c = 0; c < 2; ++c) sigma[c] = k[c] * gradient[0] + k[c + 1] * gradient[1];
  } else {
    kg_cell_flux_at(points, q, s, at);
    kg_cell_flux_of(&place, at[0], at[1], sigma);
    kg_cell_gradient_of(k, sigma, gradient);
  }
  if (f->material.keeps_gradient) {
    kg_cell_flux_at(points, q, s + points->size.n_flux, at);
    kg_cell_gradient_at(&place, at[0], at[1], gradient);
  }
  all->sigma += w * (sigma[0] * sigma[0] + sigma[1] * sigma[1]);
  all->q += w * (gradient[0] * gradient[0] + gradient[1] * gradient[1]);
}

/// Sum by plain loops over the elements.
static kg_field_sums expected_sums(const case_fields *f)
{
  const int N = f->c.size.n_modes, S = f->c.size.n_star, F = f->c.size.n_facets;
  kg_field_sums all = kg_no_field_sums();
  for (int e = 0; e < f->c.n_elements; ++e) {
    const double *u = f->u + e * N, *star = f->star + e * S;
    const double area = 0.5 * twice_area(&f->c, e) / (F == 4 ? 4.0 : 2.0);
    for (int k = 0; k < S; ++k) {
      all.star += area * star[k] * star[k];
      if (k < N) all.u += area * u[k] * u[k];
      *(k < N ? &all.shared : &all.rest) += area * pow(star[k] - (k < N ? u[k] : 0.0), 2);
    }
    for (int q = 0; q < f->n_points; ++q) {
      const double here = value_at(f, q, u, N), there = value_at(f, q, star, S);
      all.u_least = fmin(all.u_least, here);
      all.u_most = fmax(all.u_most, here);
      if (there < all.star_least) all.star_least = there, all.least_at = 100 + e;
      if (there > all.star_most) all.star_most = there, all.most_at = 100 + e;
    }
    for (int q = 0; q < f->c.host.tables.points.n; ++q) add_point(f, e, q, &all);
    ++all.n;
  }
  return all;
}

enum { AS_IT_IS, BY_QUADRATURE, KEEPS_GRADIENT, FLUXES };

static void check_sums(const kg_cell *cell, int order, int n, int flux)
{
  case_fields f;
  open_fields(&f, cell, order, n);
  if (flux != AS_IT_IS) change_flux(&f, flux == KEEPS_GRADIENT);
  const kg_field_sums expected = expected_sums(&f);
  const kg_field_sums found = sums_of(&f, f.c.n_groups), parts = sums_of(&f, 2);
  const kg_field_sums again = sums_of(&f, 2);
  const double *const a = &expected.u, *const b = &found.u, *const p = &parts.u;
  assert_memory_equal(&parts, &again, sizeof parts);
  for (int k = 0; k < 10; ++k) {
    assert_at_most(fabs(b[k] - a[k]), 1e-12 * fabs(a[k]));
    assert_at_most(fabs(p[k] - a[k]), 1e-12 * fabs(a[k]));
  }
  assert_int_equal(found.least_at, expected.least_at);
  assert_int_equal(found.most_at, expected.most_at);
  assert_int_equal(parts.n, f.c.n_elements);
  assert_true(found.bad_u == -1 && found.bad_star == -1 && found.bad_mean == -1);
  close_fields(&f);
}

static void sums_and_extrema_are_those_of_loops_in_any_chunks(void **state)
{
  (void)state;
  static const int orders[] = {1, 2, 3, 6};
  const int n_orders = test_is_quick() ? 2 : 4;
  for (int k = 0; k < n_orders; ++k) {
    for (int flux = 0; flux < FLUXES; ++flux) {
      check_sums(&kg_triangle, orders[k], 11, flux);
      check_sums(&kg_quadrilateral, orders[k], 13, flux);
    }
  }
}

/// Trapezoids, most of them narrower at one end by a third.
static void bent(int i, int j, int n, double at[2])
{
  at[0] = (i + (j % 2 ? 0.25 : -0.25) * (i % 2 ? 1.0 : -1.0)) / n;
  at[1] = 0.7 * j / n;
}

/// A tensor that turns and grows by a factor of twenty, and a reaction.
static void turning(double x, double y, double *f)
{
  const double c = cos(x + y), s = sin(x + y), size = exp(3.0 * x);
  f[0] = size * (5.0 * c * c + s * s);
  f[1] = size * 4.0 * c * s;
  f[2] = size * (5.0 * s * s + c * c);
  f[3] = 1.0;
}

static void sizes_are_right_to_a_tenth_on_any_map_and_with_any_diffusion(void **state)
{
  (void)state;
  for (int flux = BY_QUADRATURE; flux < FLUXES; ++flux) {
    case_fields f;
    open_fields(&f, &kg_quadrilateral, 3, 8);
    cell_case_destroy(&f.c);
    cell_case_grid(&f.c, ctx, &kg_quadrilateral, 3, kg_cell_rows(3), 8, bent);
    change_flux(&f, flux == KEEPS_GRADIENT);
    const kg_field_sums plain = expected_sums(&f), found = sums_of(&f, 1);
    assert_at_most(fabs(found.q - plain.q), 0.1 * plain.q);
    assert_at_most(fabs(found.sigma - plain.sigma), 0.1 * plain.sigma);
    assert_at_most(fabs(found.kappa_least * found.kappa_most - 1.01), 1e-12);
    f.material.values = cell_case_values(&f.c, &f.material, turning);
    f.diffusion = turning;
    const kg_field_sums all = expected_sums(&f), varied = sums_of(&f, f.c.n_groups);
    assert_at_most(fabs(varied.q - all.q), 0.1 * all.q);
    assert_at_most(fabs(varied.sigma - all.sigma), 0.1 * all.sigma);
    const double beyond = 0.25 / 8, least = exp(-3.0 * beyond),
                 most = 5.0 * exp(3.0 + 3.0 * beyond);
    assert_true(varied.kappa_least > least && varied.kappa_least < 1.1 * least);
    assert_true(varied.kappa_most < most && varied.kappa_most > 0.9 * most);
    close_fields(&f);
  }
}

static void the_first_element_of_each_field_that_is_not_finite_is_told(void **state)
{
  (void)state;
  static const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < 3; ++k) {
    case_fields f;
    open_fields(&f, &kg_triangle, 2, 9);
    f.means[MEANS * 131 + 1] = bad[k];
    f.star[f.c.size.n_star * 77 + f.c.size.n_star - 1] = bad[k];
    f.star[f.c.size.n_star * 150] = bad[(k + 1) % 3];
    f.u[f.c.size.n_modes * 140] = bad[k];
    const kg_field_sums found = sums_of(&f, 2);
    assert_int_equal(found.bad_mean, 231);
    assert_int_equal(found.bad_star, 177);
    assert_int_equal(found.bad_u, 240);
    close_fields(&f);
  }
}

/// The integral up to x of the projection of a point load at -1 on polynomials of the order.
static double jump_at(int order, double x)
{
  double before = 1.0, here = x, sum = 0.5 * (x + 1.0);  // L_(i-1), L_i
  for (int i = 1; i <= order; ++i) {
    const double next = ((2 * i + 1) * x * here - i * before) / (i + 1);
    sum += (i % 2 ? -0.5 : 0.5) * (next - before);
    before = here;
    here = next;
  }
  return sum;
}

static void the_points_see_how_far_a_jump_at_a_facet_bends(void **state)
{
  (void)state;
  enum { SCAN = 20000 };
  for (int order = 1; order <= KEDGE_ORDER_MAX; ++order) {
    double value[KG_FIELD_POINTS * (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 2)];
    const int n = kg_field_points(&kg_quadrilateral, order, value);
    const int n_star = kg_quadrilateral.n_modes(order + 1);
    double most = 0.0, found = 0.0;
    for (int i = 0; i <= SCAN; ++i) most = fmax(most, jump_at(order, -1.0 + 2.0 * i / SCAN));
    for (int q = 0; q < n; ++q) {
      const double x = value[q * n_star + 1] / value[q * n_star] / sqrt(3.0);
      found = fmax(found, jump_at(order, x));
    }
    assert_true(most > 1.3);
    assert_at_most(fabs(found - most), 1e-3);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_and_extrema_are_those_of_loops_in_any_chunks),
      cmocka_unit_test(sizes_are_right_to_a_tenth_on_any_map_and_with_any_diffusion),
      cmocka_unit_test(the_first_element_of_each_field_that_is_not_finite_is_told),
      cmocka_unit_test(the_points_see_how_far_a_jump_at_a_facet_bends),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
