// Shapes: facets run around, counterclockwise, and the reference shapes have the areas that
// quadrature counts on.
#include "cmocka_all.h"

#include "basis/cell.h"

static double area_of(const kg_cell *cell)
{
  double twice = 0.0;
  for (int l = 0; l < cell->n_facets; ++l) {
    const double *a = cell->corner[cell->facet_corner[l][0]];
    const double *b = cell->corner[cell->facet_corner[l][1]];
    twice += a[0] * b[1] - a[1] * b[0];
  }
  return 0.5 * twice;
}

static void test_facets_run_around_from_corner_to_corner(void **state)
{
  (void)state;
  const kg_cell *const cells[] = {&kg_triangle, &kg_quadrilateral};
  for (int k = 0; k < 2; ++k) {
    assert_int_equal(cells[k]->n_facets, cells[k]->n_vertices);
    assert_true(cells[k]->n_facets <= KG_FACETS_MAX);
    for (int l = 0; l < cells[k]->n_facets; ++l) {
      assert_int_equal(cells[k]->facet_corner[l][0], l);
      assert_int_equal(cells[k]->facet_corner[l][1], (l + 1) % cells[k]->n_facets);
    }
  }
}

static void test_reference_shapes_are_counterclockwise_and_have_their_area(void **state)
{
  (void)state;
  assert_true(area_of(&kg_triangle) == 2.0);
  assert_true(area_of(&kg_quadrilateral) == 4.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_facets_run_around_from_corner_to_corner),
      cmocka_unit_test(test_reference_shapes_are_counterclockwise_and_have_their_area),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
