// The order of Lagrange nodes is that of Gmsh and VTK.
#include <assert.h>

#include "basis/cell.h"
#include "basis/edge_place.h"
#include "basis/polynomials.h"
#include "compare.h"
#include "kedge/base.h"

/// Orders of output, and of places on curved elements that a locator looks at.
enum { ORDER = 15, NODES = (ORDER + 1) * (ORDER + 2) / 2 };
static_assert(ORDER >= KEDGE_ORDER_MAX + 1 && ORDER >= 3 * KG_GEOMETRY_MAX, "orders in use");

/// Steps along the first and second direction from the first vertex, as Gmsh's manual draws them.
static const int order_1[][2] = {{0, 0}, {1, 0}, {0, 1}};
static const int order_2[][2] = {{0, 0}, {2, 0}, {0, 2}, {1, 0}, {1, 1}, {0, 1}};
static const int order_3[][2] = {{0, 0}, {3, 0}, {0, 3}, {1, 0}, {2, 0},
                                 {2, 1}, {1, 2}, {0, 2}, {0, 1}, {1, 1}};
static const int order_4[][2] = {{0, 0}, {4, 0}, {0, 4}, {1, 0}, {2, 0}, {3, 0}, {3, 1}, {2, 2},
                                 {1, 3}, {0, 3}, {0, 2}, {0, 1}, {1, 1}, {2, 1}, {1, 2}};

static void nodes_of_low_orders_are_in_the_order_of_gmsh(void **state)
{
  (void)state;
  const int(*const tables[])[2] = {order_1, order_2, order_3, order_4};
  for (int order = 1; order <= 4; ++order) {
    double r[NODES], s[NODES];
    kg_lagrange_nodes(order, r, s);
    for (int i = 0; i < kg_triangle_modes(order); ++i) {
      assert_at_most(fabs(r[i] - (2.0 * tables[order - 1][i][0] / order - 1.0)), rounding(1));
      assert_at_most(fabs(s[i] - (2.0 * tables[order - 1][i][1] / order - 1.0)), rounding(1));
    }
  }
}

static void every_point_of_the_lattice_is_a_node_once(void **state)
{
  (void)state;
  for (int order = 1; order <= ORDER; ++order) {
    double r[NODES], s[NODES];
    bool seen[ORDER + 1][ORDER + 1] = {{false}};
    kg_lagrange_nodes(order, r, s);
    for (int k = 0; k < kg_triangle_modes(order); ++k) {
      const double i = 0.5 * (1.0 + r[k]) * order, j = 0.5 * (1.0 + s[k]) * order;
      const int a = (int)lround(i), b = (int)lround(j);
      assert_at_most(fabs(i - a) + fabs(j - b), order * rounding(1));
      assert_true(a >= 0 && b >= 0 && a + b <= order);
      assert_false(seen[a][b]);
      seen[a][b] = true;
    }
  }
}

static void edge_nodes_run_counterclockwise_and_the_interior_repeats_the_pattern(void **state)
{
  (void)state;
  for (int order = 4; order <= ORDER; ++order) {
    double r[NODES], s[NODES], inner_r[NODES], inner_s[NODES];
    kg_lagrange_nodes(order, r, s);
    for (int l = 0; l < 3; ++l)
      for (int step = 1; step < order; ++step) {
        double edge_r, edge_s;
        place_on_edge(l, 2.0 * step / order - 1.0, &edge_r, &edge_s);
        const int k = 3 + l * (order - 1) + step - 1;
        assert_at_most(fabs(r[k] - edge_r) + fabs(s[k] - edge_s), rounding(1));
      }
    kg_lagrange_nodes(order - 3, inner_r, inner_s);
    for (int k = 0; k < kg_triangle_modes(order - 3) && order > 3; ++k) {
      const double shrink = (order - 3.0) / order;
      const double centre = -1.0 / 3.0;  // of both triangles
      assert_at_most(fabs(r[3 * order + k] - (centre + shrink * (inner_r[k] - centre))),
                     rounding(4));
      assert_at_most(fabs(s[3 * order + k] - (centre + shrink * (inner_s[k] - centre))),
                     rounding(4));
    }
  }
}

/// VTK's vtkHigherOrderQuadrilateral::PointIndexFromIJK: the place of the node (i, j).
static int vtk_place(int order, int i, int j)
{
  const bool at_i = i == 0 || i == order, at_j = j == 0 || j == order;
  const int inner = order - 1;
  if (at_i && at_j) return i ? (j ? 2 : 1) : (j ? 3 : 0);
  if (at_j) return 4 + i - 1 + (j ? 2 * inner : 0);
  if (at_i) return 4 + j - 1 + (i ? inner : 3 * inner);
  return 4 + 4 * inner + i - 1 + inner * (j - 1);
}

static void nodes_of_quadrilaterals_are_in_the_order_of_vtk(void **state)
{
  (void)state;
  double r[(ORDER + 1) * (ORDER + 1)], s[(ORDER + 1) * (ORDER + 1)];
  for (int order = 1; order <= ORDER; ++order) {
    assert_int_equal(kg_quadrilateral.n_modes(order), (order + 1) * (order + 1));
    kg_quadrilateral.nodes(order, (double *const[]){r, s});
    for (int i = 0; i <= order; ++i)
      for (int j = 0; j <= order; ++j) {
        const int k = vtk_place(order, i, j);
        assert_true(r[k] == 2.0 * i / order - 1.0 && s[k] == 2.0 * j / order - 1.0);
      }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_of_low_orders_are_in_the_order_of_gmsh),
      cmocka_unit_test(every_point_of_the_lattice_is_a_node_once),
      cmocka_unit_test(edge_nodes_run_counterclockwise_and_the_interior_repeats_the_pattern),
      cmocka_unit_test(nodes_of_quadrilaterals_are_in_the_order_of_vtk),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
