// Nodes of warp & blend and their matrices.
#include <math.h>
#include <stdlib.h>

#include "basis/nodal.h"
#include "basis/sectors.h"
#include "compare.h"
#include "context.h"

static kg_nodal nodal_of(const kg_cell *cell, int order)
{
  kg_nodal nodal;
  assert_int_equal(kg_nodal_create(ctx, cell, order, &nodal), KEDGE_OK);
  return nodal;
}

static double squares(int n, const double *x)
{
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  return sum;
}

static void those_of_tetrahedra_are_the_published_ones(void **state)
{
  static const struct {
    int order;
    double nodes, derivative, lift;
  } expected[] = {{3, 37.6, 18.8497503013, 67.0862220220},
                  {4, 62.036476717046, 39.7681740332, 115.2530413220},
                  {6, 140.568661446891, 123.9706051552, 271.6515771156}};
  (void)state;
  for (int k = 0; k < 3; ++k) {
    kg_nodal nodal = nodal_of(&kg_tetrahedron, expected[k].order);
    const int n = nodal.n;
    assert_at_most(fabs(squares(3 * n, nodal.at) - expected[k].nodes), 1e-12 * expected[k].nodes);
    for (int a = 0; a < 3; ++a)
      assert_at_most(
          fabs(sqrt(squares(n * n, nodal.derivative + a * n * n)) - expected[k].derivative), 1e-10);
    assert_at_most(fabs(sqrt(squares(n * 4 * nodal.n_facet, nodal.lift)) - expected[k].lift),
                   1e-10);
    kg_nodal_free(&nodal);
  }
}

/// x^a y^b z^c and its derivative along one of them.
static double power(const double x[3], const int e[3], int along)
{
  double value = along < 0 ? 1.0 : e[along];
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < e[k] - (k == along); ++i) value *= x[k];
  return value;
}

static void point(const kg_nodal *nodal, int i, double x[3])
{
  for (int k = 0; k < 3; ++k) x[k] = k < nodal->cell->dimension ? nodal->at[k * nodal->n + i] : 0.0;
}

static void polynomials_have_their_derivatives(void **state)
{
  (void)state;
  const kg_cell *const cells[] = {&kg_triangle, &kg_tetrahedron};
  for (int c = 0; c < 2; ++c)
    for (int order = 1; order <= KG_NODAL_ORDER_MAX; ++order) {
      kg_nodal nodal = nodal_of(cells[c], order);
      const int n = nodal.n, e[3] = {order - order / 2, order / 2, 0};
      for (int a = 0; a < cells[c]->dimension; ++a)
        for (int i = 0; i < n; ++i) {
          double sum = 0.0, x[3];
          for (int j = 0; j < n; ++j) {
            point(&nodal, j, x);
            sum += nodal.derivative[(a * n + i) * n + j] * power(x, e, -1);
          }
          point(&nodal, i, x);
          assert_at_most(fabs(sum - power(x, e, a)), 1e-12);
        }
      kg_nodal_free(&nodal);
    }
}

/// The integral over the element of v times what is lifted of w is that of v w over the facets.
static void what_is_lifted_is_the_integral_over_facets(void **state)
{
  (void)state;
  const kg_cell *const cells[] = {&kg_triangle, &kg_tetrahedron};
  for (int c = 0; c < 2; ++c) {
    const int order = 4, dimension = cells[c]->dimension;
    kg_nodal nodal = nodal_of(cells[c], order);
    const int n = nodal.n, m = nodal.n_facet, columns = cells[c]->n_facets * m;
    double ones = 0.0, line = 0.0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < columns; ++k) {
          double x[3];
          const double part = nodal.mass[i * n + j] * nodal.lift[j * columns + k];
          point(&nodal, nodal.facet_node[k], x);
          ones += part;
          line += part * x[0];
        }
    const double facet = 2.0;  // the length of a reference line, the area of a triangle
    assert_at_most(fabs(ones - cells[c]->n_facets * facet), 1e-12);
    // The middles of the facets of reference length or area: their coordinates r sum up.
    double middles = 0.0;
    for (int l = 0; l < cells[c]->n_facets; ++l)
      for (int v = 0; v < dimension; ++v)
        middles += facet * cells[c]->corner[cells[c]->facet_corner[l][v]][0] / dimension;
    assert_at_most(fabs(line - middles), 1e-12);
    kg_nodal_free(&nodal);
  }
}

static void neighbours_have_the_same_nodes_on_a_facet(void **state)
{
  (void)state;
  const kg_cell *const cells[] = {&kg_triangle, &kg_tetrahedron};
  for (int c = 0; c < 2; ++c)
    for (int order = 1; order <= KG_NODAL_ORDER_MAX; ++order) {
      kg_nodal nodal = nodal_of(cells[c], order);
      for (int l = 0; l < cells[c]->n_facets; ++l)
        for (int j = 0; j < nodal.n_facet; ++j) {
          // The share of each corner of the facet at its node j is the same for all facets.
          for (int v = 0; v < cells[c]->dimension; ++v) {
            double share[2] = {0.0, 0.0};
            for (int side = 0; side < 2; ++side) {
              double x[3], sum = 0.0;
              const int facet = side == 0 ? 0 : l, corner = cells[c]->facet_corner[facet][v];
              point(&nodal, nodal.facet_node[facet * nodal.n_facet + j], x);
              for (int k = 0; k < cells[c]->dimension; ++k) sum += 0.5 * (1.0 + x[k]);
              share[side] = corner == 0 ? 1.0 - sum : 0.5 * (1.0 + x[corner - 1]);
            }
            assert_at_most(fabs(share[0] - share[1]), 1e-14);
          }
        }
      kg_nodal_free(&nodal);
    }
}

static void the_nodes_of_triangles_are_those_of_the_book(void **state)
{
  (void)state;
  // Order 2 has the middles; order 3 Gauss-Lobatto points +-1/sqrt(5) on edges, and the centre.
  kg_nodal two = nodal_of(&kg_triangle, 2), three = nodal_of(&kg_triangle, 3);
  assert_at_most(fabs(two.at[1]), 1e-15);
  assert_at_most(fabs(three.at[1] + 1.0 / sqrt(5.0)), 1e-15);
  assert_at_most(fabs(three.at[5] + 1.0 / 3.0), 1e-15);
  assert_at_most(fabs(three.at[10 + 5] + 1.0 / 3.0), 1e-15);
  kg_nodal_free(&two);
  kg_nodal_free(&three);
}

/// Whether a member of an orbit is another than those before it.
static bool is_first(const int32_t *member, int g)
{
  for (int h = 0; h < g; ++h)
    if (member[h] == member[g]) return false;
  return true;
}

/// sum_a D_a w_a, and LIFT f, by sectors.
/// @param[out] sum  [2][n]
static void by_sectors(const kg_nodal *nodal, int n_sectors, const double *w, const double *f,
                       double *sum)
{
  const int n = nodal->n, d = nodal->cell->dimension;
  kg_sectors of;
  assert_int_equal(kg_sectors_create(ctx, nodal, n_sectors, &of), KEDGE_OK);
  int size[KG_SECTORS_MAX];
  kg_sector_sizes(nodal, n_sectors, size);
  for (int s = 0; s < KG_SECTORS_MAX; ++s) assert_int_equal(of.begin[s + 1] - of.begin[s], size[s]);
  double *const part = calloc(2 * (size_t)n, sizeof *part);
  for (int s = 0; s < of.n; ++s) {
    for (int o = 0; o < of.n_orbits; ++o)
      for (int b = 0; b < d; ++b) {
        double value = 0.0;
        for (int g = 0; g < KG_SECTORS_MAX; ++g)
          for (int a = 0; a < d && is_first(of.orbit[o], g); ++a)
            value += kg_sector_sign(s, g) * of.combine[b][a] * w[a * n + of.orbit[o][g]];
        const int to = s ^ of.shift[b];
        for (int p = of.begin[to]; p < of.begin[to + 1]; ++p)
          part[p] += of.derivative[(o * d + b) * n + p] * value;
      }
    for (int c = 0; c < of.n_columns; ++c) {
      double value = 0.0;
      for (int g = 0; g < KG_SECTORS_MAX; ++g)
        if (is_first(of.column[c], g)) value += kg_sector_sign(s, g) * f[of.column[c][g]];
      for (int p = of.begin[s]; p < of.begin[s + 1]; ++p) part[n + p] += of.lift[c * n + p] * value;
    }
  }
  for (int k = 0; k < 2; ++k)
    for (int o = 0; o < of.n_orbits; ++o)
      for (int g = 0; g < KG_SECTORS_MAX; ++g) {
        double value = 0.0;
        for (int s = 0; s < of.n; ++s)
          if (of.row[o][s] >= 0) value += kg_sector_sign(s, g) * part[k * n + of.row[o][s]];
        sum[k * n + of.orbit[o][g]] = value;
      }
  free(part);
  kg_sectors_free(&of);
}

static void assert_products(const kg_nodal *nodal, int n_sectors)
{
  const int d = nodal->cell->dimension, n = nodal->n;
  const int columns = nodal->cell->n_facets * nodal->n_facet;
  double *const memory = calloc((size_t)(d * n + columns + 2 * n), sizeof *memory);
  double *const w = memory, *const f = w + d * n, *const sum = f + columns;
  for (int i = 0; i < d * n + columns; ++i) w[i] = sin(12.9898 * (i + 1));
  by_sectors(nodal, n_sectors, w, f, sum);
  for (int i = 0; i < n; ++i) {
    double slope = 0.0, lifted = 0.0, scale = 0.0;
    for (int a = 0; a < d; ++a)
      for (int j = 0; j < n; ++j) {
        const double entry = nodal->derivative[(a * n + i) * n + j];
        slope += entry * w[a * n + j], scale += fabs(entry);
      }
    for (int c = 0; c < columns; ++c) {
      lifted += nodal->lift[i * columns + c] * f[c];
      scale += fabs(nodal->lift[i * columns + c]);
    }
    assert_at_most(fabs(sum[i] - slope), 1e-13 * scale);
    assert_at_most(fabs(sum[n + i] - lifted), 1e-13 * scale);
  }
  free(memory);
}

static void products_by_sectors_are_those_of_the_matrices(void **state)
{
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    const kg_cell *const cell = d == 2 ? &kg_triangle : &kg_tetrahedron;
    for (int order = 1; order <= KG_NODAL_ORDER_MAX; ++order) {
      kg_nodal nodal = nodal_of(cell, order);
      assert_products(&nodal, 1);
      if (d == 3) assert_products(&nodal, KG_SECTORS_MAX);
      kg_nodal_free(&nodal);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_by_sectors_are_those_of_the_matrices),
      cmocka_unit_test(those_of_tetrahedra_are_the_published_ones),
      cmocka_unit_test(polynomials_have_their_derivatives),
      cmocka_unit_test(what_is_lifted_is_the_integral_over_facets),
      cmocka_unit_test(neighbours_have_the_same_nodes_on_a_facet),
      cmocka_unit_test(the_nodes_of_triangles_are_those_of_the_book),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
