// Bases and tables of the shapes: orthonormal, complete to their order, and integrated by parts.
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"

#include "basis/cell_tables.h"
#include "basis/reference.h"

enum { ORDERS = 6, MODES = 64 };

static const kg_cell *const cells[] = {&kg_triangle, &kg_quadrilateral};

typedef void table_check(const kg_cell *cell, const kg_cell_tables *t);

static void for_all_tables(table_check *check)
{
  for (int k = 0; k < 2; ++k)
    for (int order = 1; order <= ORDERS; ++order) {
      double *values;
      const int rows = kg_cell_rows(order);
      must(ctx, kg_cell_tables_create(ctx, cells[k], order, 1, rows, &values));
      const kg_cell_tables tables = kg_cell_tables_at(cells[k], order, 1, rows, values);
      check(cells[k], &tables);
      free(values);
    }
}

static void check_orthonormal(const kg_cell *cell, const kg_cell_tables *t)
{
  (void)cell;
  const kg_cell_points *p = &t->points;
  const int n_star = t->size.n_star, S = t->size.n_flux;
  for (int i = 0; i < n_star; ++i)
    for (int j = 0; j < n_star; ++j) {
      double sum = i == j ? -1.0 : 0.0;
      for (int q = 0; q < p->n; ++q)
        sum += p->weight[q] * p->value[q * n_star + i] * p->value[q * n_star + j];
      assert_at_most(fabs(sum), rounding(p->n));
    }
  for (int half = 0; half < S; half += S / 2)
    for (int i = half; i < half + S / 2; ++i)
      for (int j = half; j < half + S / 2; ++j) {
        double sum = i == j ? -1.0 : 0.0;
        for (int q = 0; q < p->n; ++q)
          sum += p->weight[q] * p->flux[q * S + i] * p->flux[q * S + j];
        assert_at_most(fabs(sum), rounding(p->n));
      }
}

static void modes_and_flux_functions_are_orthonormal(void **state)
{
  (void)state;
  for_all_tables(check_orthonormal);
}

static void a_basis_is_the_beginning_of_that_of_the_next_order(void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k)
    for (int order = 1; order < ORDERS; ++order) {
      long double low[MODES], high[2 * MODES];
      cells[k]->modes(order, (const long double[]){-0.3L, 0.1L}, low, NULL);
      cells[k]->modes(order + 1, (const long double[]){-0.3L, 0.1L}, high, NULL);
      for (int i = 0; i < cells[k]->n_modes(order); ++i) assert_true(low[i] == high[i]);
    }
}

/// (phi_i, div Phi_j) + (grad phi_i, Phi_j) = <phi_i, Phi_j . n>, in which the trace of phi_i is a
/// polynomial of order P on each facet, so that modes psi carry all of it.
static void check_parts(const kg_cell *cell, const kg_cell_tables *t)
{
  (void)cell;
  const int N = t->size.n_modes, S = t->size.n_flux, n = t->size.n_trace;
  const int star = t->size.n_star - 1;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < S; ++j) {
      double sum = t->divergence[i * S + j];
      for (int q = 0; i > 0 && q < t->points.n; ++q)
        sum += t->points.weight[q] * t->star[(2 * q + (j >= S / 2)) * star + i - 1] *
               t->points.flux[q * S + j];
      for (int a = 0; a < n; ++a) sum -= t->lift[a * N + i] * t->flux_lift[j * n + a];
      assert_at_most(fabs(sum), 1e2 * rounding(t->points.n));
    }
}

static void divergence_lift_and_derivatives_are_related_by_parts(void **state)
{
  (void)state;
  for_all_tables(check_parts);
}

static void check_facet_mass(const kg_cell *cell, const kg_cell_tables *t)
{
  const int N = t->size.n_modes, m = t->size.n_facet, packed = N * (N + 1) / 2;
  for (int l = 0; l < cell->n_facets; ++l)
    for (int i = 0; i < N; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = -t->facet_mass[l * packed + i * (i + 1) / 2 + j];
        for (int a = l * m; a < (l + 1) * m; ++a) sum += t->lift[a * N + i] * t->lift[a * N + j];
        assert_at_most(fabs(sum), 1e2 * rounding(N));
      }
}

static void traces_of_modes_are_modes_of_the_facet(void **state)
{
  (void)state;
  for_all_tables(check_facet_mass);
}

/// Coefficients of a + b r + c s: of the element, then of its facets, psi_0 = 1 / sqrt(2) and psi_1
/// = sqrt(3/2) t.
static void interpolate(const kg_cell *cell, const kg_cell_tables *t, const double linear[3],
                        double *coefficients)
{
  const int N = t->size.n_modes, m = t->size.n_facet;
  for (int i = 0; i < N + t->size.n_trace; ++i) coefficients[i] = 0.0;
  for (int q = 0; q < t->points.n; ++q)
    for (int i = 0; i < N; ++i)
      coefficients[i] += t->points.weight[q] * t->points.value[q * t->size.n_star + i] *
                         (linear[0] + linear[1] * t->points.r[q] + linear[2] * t->points.s[q]);
  for (int l = 0; l < cell->n_facets; ++l) {
    double end[2];
    for (int k = 0; k < 2; ++k) {
      const double *const at = cell->corner[cell->facet_corner[l][k]];
      end[k] = linear[0] + linear[1] * at[0] + linear[2] * at[1];
    }
    coefficients[N + l * m] = (end[0] + end[1]) / sqrt(2.0);
    coefficients[N + l * m + 1] = (end[1] - end[0]) / sqrt(6.0);
  }
}

static void check_gradient(const kg_cell *cell, const kg_cell_tables *t)
{
  double x[3 * MODES];
  const int p = t->size.n_modes + t->size.n_trace;
  for (int k = 0; k < 3; ++k) {
    const double linear[3] = {k == 0, k == 1, k == 2};
    interpolate(cell, t, linear, x);
    for (int q = 0; q < t->points.n; ++q)
      for (int c = 0; c < 2; ++c) {
        double sum = -linear[1 + c];
        for (int j = 0; j < p; ++j) sum += t->gradient[(2 * q + c) * p + j] * x[j];
        assert_at_most(fabs(sum), 1e3 * rounding(p));
      }
  }
}

static void weak_gradients_of_linear_functions_are_exact(void **state)
{
  (void)state;
  for_all_tables(check_gradient);
}

static void check_weak(const kg_cell *cell, const kg_cell_tables *t)
{
  const int N = t->size.n_modes, S = t->size.n_flux, n = t->size.n_trace, p = N + n;
  for (int j = 0; j < p; ++j) {
    int count = 0;
    for (int i = 0; i < S; ++i) {
      const double entry = j < N ? -t->divergence[j * S + i] : t->flux_lift[i * n + j - N];
      assert_at_most(fabs(t->weak[i * p + j] - entry), 1e-15);
      count += t->weak[i * p + j] != 0.0;
    }
    if (cell == &kg_quadrilateral) assert_true(count <= t->size.order + 2);
  }
}

static void the_weak_gradient_is_made_of_divergence_and_lift_without_rounded_zeros(void **state)
{
  (void)state;
  for_all_tables(check_weak);
}

static void the_map_takes_nodes_to_nodes(void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k)
    for (int g = 1; g <= KG_GEOMETRY_MAX; ++g) {
      const int n = cells[k]->n_modes(g);
      double r[KG_NODES_MAX], s[KG_NODES_MAX];
      long double shape[3 * KG_NODES_MAX];
      cells[k]->nodes(g, (double *const[]){r, s});
      for (int v = 0; v < n; ++v) {
        cells[k]->map(g, (const long double[]){r[v], s[v]}, shape);
        for (int w = 0; w < n; ++w) assert_at_most(fabs((double)shape[w] - (v == w)), 1e-14);
      }
    }
}

/// r^a s^b and its derivatives are reproduced, with a + b <= g on triangles, a, b <= g on others.
static void the_map_is_exact_for_polynomials_of_its_order(void **state)
{
  (void)state;
  const double r0 = -0.25, s0 = 0.125;
  for (int k = 0; k < 2; ++k)
    for (int g = 1; g <= KG_GEOMETRY_MAX; ++g)
      for (int a = 0; a <= g; ++a)
        for (int b = 0; b <= (k == 0 ? g - a : g); ++b) {
          const int n = cells[k]->n_modes(g);
          double r[KG_NODES_MAX], s[KG_NODES_MAX], sum[3] = {0.0, 0.0, 0.0};
          long double shape[3 * KG_NODES_MAX];
          cells[k]->nodes(g, (double *const[]){r, s});
          cells[k]->map(g, (const long double[]){r0, s0}, shape);
          for (int v = 0; v < n; ++v)
            for (int d = 0; d < 3; ++d)
              sum[d] += (double)shape[d * n + v] * pow(r[v], a) * pow(s[v], b);
          assert_at_most(fabs(sum[0] - pow(r0, a) * pow(s0, b)), 1e-14);
          assert_at_most(fabs(sum[1] - (a == 0 ? 0.0 : a * pow(r0, a - 1) * pow(s0, b))), 1e-13);
          assert_at_most(fabs(sum[2] - (b == 0 ? 0.0 : b * pow(r0, a) * pow(s0, b - 1))), 1e-13);
        }
}

static void points_of_facets_lie_behind_those_of_tables_and_measure_them(void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k) {
    const int rows = kg_cell_rows(3), V = cells[k]->n_facets;
    double *values, *alone;
    must(ctx, kg_cell_tables_create(ctx, cells[k], 3, 2, rows, &values));
    must(ctx, kg_cell_points_create(ctx, cells[k], 3, 2, rows, KG_BEHIND_FACETS, &alone));
    const kg_cell_tables t = kg_cell_tables_at(cells[k], 3, 2, rows, values);
    const kg_cell_points p = kg_cell_points_and_facets(&t);
    const kg_cell_points q = kg_cell_points_at(cells[k], 3, 2, rows, KG_BEHIND_FACETS, alone);
    assert_int_equal(p.n, rows * rows + V * rows);
    assert_int_equal(q.n, p.n);
    for (int i = 0; i < 3 * p.n * p.n_nodes; ++i) assert_true(p.map[i] == q.map[i]);
    for (int i = 0; i < p.n; ++i) assert_true(p.r[i] == q.r[i] && p.s[i] == q.s[i]);
    for (int l = 0; l < V; ++l) {
      // The mean of the points is the middle, and the direction leads from there to the end.
      double at[3] = {0.0, 0.0, 0.0};
      const double *const end = cells[k]->corner[cells[k]->facet_corner[l][1]];
      for (int i = 0; i < rows; ++i) {
        const int point = rows * rows + l * rows + i;
        assert_true(p.weight[point] == 0.0);
        at[0] += 0.5 * t.facet_weight[i] * p.r[point];
        at[1] += 0.5 * t.facet_weight[i] * p.s[point];
        at[2] += 0.5 * t.facet_weight[i];
      }
      assert_at_most(fabs(at[2] - 1.0), rounding(rows));
      for (int d = 0; d < 2; ++d)
        assert_at_most(fabs(at[d] + t.facet_direction[2 * l + d] - end[d]), rounding(rows));
    }
    free(values);
    free(alone);
  }
}

static void points_end_with_the_corners_where_these_are_asked_for(void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k) {
    const int rows = 5, V = cells[k]->n_vertices;
    double *values, area = 0.0;
    must(ctx, kg_cell_points_create(ctx, cells[k], 2, 1, rows, KG_BEHIND_CORNERS, &values));
    const kg_cell_points p = kg_cell_points_at(cells[k], 2, 1, rows, KG_BEHIND_CORNERS, values);
    assert_int_equal(p.n, rows * rows + V);
    for (int q = 0; q < p.n; ++q) area += p.weight[q];
    assert_at_most(fabs(area - (k == 0 ? 2.0 : 4.0)), rounding(p.n));
    for (int v = 0; v < V; ++v) {
      const int q = rows * rows + v;
      assert_true(p.weight[q] == 0.0);
      assert_true(p.r[q] == cells[k]->corner[v][0] && p.s[q] == cells[k]->corner[v][1]);
      for (int w = 0; w < V; ++w) assert_true(p.map[3 * q * V + w] == (v == w));
    }
    free(values);
  }
}

static void nodes_of_a_cell_carry_its_map_and_modes(void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k)
    for (int order = 1; order <= KEDGE_ORDER_MAX + 1; order += 3) {
      const int V = cells[k]->n_vertices;
      double *values;
      kg_cell_points p;
      must(ctx, kg_cell_nodes_create(ctx, cells[k], 2, 1, order, &values, &p));
      assert_int_equal(p.n, cells[k]->n_modes(order));
      for (int q = 0; q < p.n; ++q) {
        double r = 0.0, s = 0.0, sum = 0.0;
        for (int v = 0; v < V; ++v) {
          r += p.map[3 * q * V + v] * cells[k]->corner[v][0];
          s += p.map[3 * q * V + v] * cells[k]->corner[v][1];
          sum += p.map[3 * q * V + v];
          if (q < V) assert_true(p.map[3 * q * V + v] == (v == q));
        }
        assert_at_most(fabs(r - p.r[q]) + fabs(s - p.s[q]) + fabs(sum - 1.0), 4 * rounding(V));
        long double phi[MODES];
        cells[k]->modes(3, (const long double[]){p.r[q], p.s[q]}, phi, NULL);
        for (int i = 0; i < p.size.n_star; ++i)
          assert_true(p.value[q * p.size.n_star + i] == (double)phi[i]);
        assert_true(p.weight[q] == 0.0);
      }
      free(values);
    }
}

static void tables_of_the_triangle_are_those_of_its_fast_operators(void **state)
{
  (void)state;
  for (int order = 1; order <= ORDERS; ++order) {
    const int rows = kg_cell_rows(order);
    double *values, *reference;
    must(ctx, kg_cell_tables_create(ctx, &kg_triangle, order, 1, rows, &values));
    must(ctx, kg_reference_create(ctx, order, &reference));
    const kg_cell_tables t = kg_cell_tables_at(&kg_triangle, order, 1, rows, values);
    const kg_reference ref = kg_reference_at(order, reference);
    const int N = t.size.n_modes, n = t.size.n_trace, S = t.size.n_flux;
    assert_int_equal(N, ref.size.n_modes);
    assert_int_equal(t.size.n_star, ref.size.n_star);
    for (int i = 0; i < N; ++i) {
      for (int a = 0; a < n; ++a)
        assert_at_most(fabs(t.lift[a * N + i] - ref.lift[i * n + a]), 1e2 * rounding(N));
      for (int j = 0; j < N; ++j) {  // D has (phi_i, d phi_j), these are transposed
        assert_at_most(fabs(t.divergence[i * S + j] - ref.gradient_r[j * N + i]),
                       1e3 * rounding(N));
        assert_at_most(fabs(t.divergence[i * S + N + j] - ref.gradient_s[j * N + i]),
                       1e3 * rounding(N));
      }
    }
    free(values);
    free(reference);
  }
}

static void assert_all_near(const double *a, const double *b, int n, double tolerance)
{
  for (int i = 0; i < n; ++i) assert_at_most(fabs(a[i] - b[i]), tolerance * (1.0 + fabs(b[i])));
}

/// From products it is made in a part of the time.
static void a_rule_has_the_points_and_functions_of_its_cell(void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k)
    for (int order = 1; order <= (k == 0 ? KEDGE_ORDER_MAX : 8); ++order) {
      const int rows = 2 * order + 10, geometry = 1 + order % 3, n = rows * rows;
      double *values[2];
      kg_cell_points rule;
      must(ctx, kg_cell_points_create(ctx, cells[k], order, geometry, rows, KG_BEHIND_NOTHING,
                                      &values[0]));
      must(ctx, kg_cell_rule_create(ctx, cells[k], order, geometry, rows, &values[1], &rule));
      const kg_cell_points points =
          kg_cell_points_at(cells[k], order, geometry, rows, KG_BEHIND_NOTHING, values[0]);
      const double tolerance = rounding(n);
      assert_int_equal(rule.n, n);
      assert_memory_equal(rule.r, points.r, (size_t)n * sizeof(double));
      assert_memory_equal(rule.s, points.s, (size_t)n * sizeof(double));
      assert_memory_equal(rule.weight, points.weight, (size_t)n * sizeof(double));
      const size_t n_map = 3 * (size_t)(n * rule.n_nodes);
      assert_memory_equal(rule.map, points.map, n_map * sizeof(double));
      assert_memory_equal(rule.map_by_point, points.map_by_point, n_map * sizeof(double));
      assert_all_near(rule.value, points.value, n * rule.size.n_star, tolerance);
      assert_all_near(rule.flux, points.flux, n * rule.size.n_flux, tolerance);
      free(values[0]);
      free(values[1]);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modes_and_flux_functions_are_orthonormal),
      cmocka_unit_test(a_basis_is_the_beginning_of_that_of_the_next_order),
      cmocka_unit_test(divergence_lift_and_derivatives_are_related_by_parts),
      cmocka_unit_test(traces_of_modes_are_modes_of_the_facet),
      cmocka_unit_test(weak_gradients_of_linear_functions_are_exact),
      cmocka_unit_test(the_weak_gradient_is_made_of_divergence_and_lift_without_rounded_zeros),
      cmocka_unit_test(the_map_takes_nodes_to_nodes),
      cmocka_unit_test(the_map_is_exact_for_polynomials_of_its_order),
      cmocka_unit_test(points_of_facets_lie_behind_those_of_tables_and_measure_them),
      cmocka_unit_test(nodes_of_a_cell_carry_its_map_and_modes),
      cmocka_unit_test(a_rule_has_the_points_and_functions_of_its_cell),
      cmocka_unit_test(points_end_with_the_corners_where_these_are_asked_for),
      cmocka_unit_test(tables_of_the_triangle_are_those_of_its_fast_operators),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
