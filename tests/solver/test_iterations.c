// Iterations of multigrid on any elements with any smooth coefficients: few, and as many on a finer
// mesh.
#include <math.h>

#include "compare.h"
#include "context.h"
#include "moved.h"
#include "support.h"

/// The coarse system of the smaller mesh is solved by its inverse, that of the other one is not.
enum { MOST = 20, GROWTH = 5, COARSE = 24, FINE = 48 };

#define ONE    "1"
#define TENSOR "2+sin(3*x), 0.7*cos(x*y), 1.5+y^2"

/// The line between the halves of the square becomes a wave.
static void bend(int n, const double from[2], double to[2])
{
  (void)n;
  to[0] = from[0];
  to[1] = from[1] + 0.05 * sin(6.283185307179586 * from[0]);
}

static int32_t halves(int n, int i, int j)
{
  (void)i;
  return j < n / 2 ? 3 : 7;
}

typedef struct kind {
  enum cut cut;
  int geometry;
  moving *to;
  const char *diffusion, *reaction;
} kind;

static int64_t iterations(const kind *k, int n, const char *order)
{
  kedge_mesh *mesh = grid_of(ctx, n, k->cut, k->geometry, k->to, halves);
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", order}, {"equation", "diffusion", k->diffusion},
               {"equation", "reaction", k->reaction}, {"equation", "source", "1"},
               {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x"},
               {"solver", "preconditioner", "multigrid"}, {"solver", "tolerance", "1e-10"}));
  kedge_mesh_destroy(mesh);
  assert_true(r.converged);
  return r.iterations;
}

static void assert_few_and_flat(const kind *kinds, size_t n_kinds)
{
  static const char *const orders[] = {"1", "2"};
  for (size_t k = 0; k < n_kinds; ++k) {
    for (size_t p = 0; p < sizeof orders / sizeof *orders; ++p) {
      const int64_t coarse = iterations(&kinds[k], COARSE, orders[p]);
      const int64_t fine = iterations(&kinds[k], FINE, orders[p]);
      assert_in_range(coarse, 1, MOST);
      assert_in_range(fine, 1, coarse + GROWTH < MOST ? coarse + GROWTH : MOST);
    }
    assert_in_range(iterations(&kinds[k], COARSE, "4"), 1, MOST);
    assert_in_range(iterations(&kinds[k], COARSE, "6"), 1, MOST);
  }
}

#define FEW_AND_FLAT(kinds) assert_few_and_flat(kinds, sizeof kinds / sizeof *kinds)

static void distorted_quadrilaterals_take_few_iterations(void **state)
{
  (void)state;
  static const kind kinds[] = {{WHOLE, 1, stay, ONE, "0"}, {WHOLE, 1, trapezoids, ONE, "0"}};
  FEW_AND_FLAT(kinds);
}

static void curves_take_few_iterations(void **state)
{
  (void)state;
  static const kind kinds[] = {
      {WHOLE, 2, wave, ONE, "0"}, {CHECKERED, 2, wave, ONE, "0"}, {ALL, 2, wave, ONE, "0"}};
  FEW_AND_FLAT(kinds);
}

static void smooth_tensors_take_few_iterations(void **state)
{
  (void)state;
  static const kind kinds[] = {{WHOLE, 1, stay, TENSOR, "0"},
                               {ALL, 1, stay, TENSOR, "0"},
                               {WHOLE, 2, wave, TENSOR, "1+x"},
                               {CHECKERED, 2, wave, TENSOR, "1+x"},
                               {ALL, 2, wave, TENSOR, "1+x"}};
  FEW_AND_FLAT(kinds);
}

static void a_jump_of_a_thousand_along_a_smooth_line_takes_few_iterations(void **state)
{
  (void)state;
  static const char jump[] = "region == 3 ? 1 : 1000";
  static const kind kinds[] = {{WHOLE, 2, bend, jump, "0"},
                               {CHECKERED, 2, bend, jump, "0"},
                               {ALL, 2, bend, jump, "0"},
                               {ALL, 1, bend, jump, "0"}};
  FEW_AND_FLAT(kinds);
}

/// A step of aggregation across the weak direction takes 29 iterations.
static void rectangles_of_one_to_five_take_few_iterations(void **state)
{
  (void)state;
  static const kind kinds[] = {{WHOLE, 1, stay, "1, 0, 0.04", "0"}};
  FEW_AND_FLAT(kinds);
}

/// Vertex modes reach further there than the blocks of edges.
static void vertex_modes_are_measured_on_stretched_quadrilaterals(void **state)
{
  (void)state;
  static const char *const orders[] = {"5", "8"};
  for (int p = 0; p < 2; ++p)
    converged_on(
        ctx, "quads 20",
        SETTINGS({"space", "order", orders[p]}, {"equation", "diffusion", "1, 0, 1e-4"},
                 {"equation", "source", "1"}, {"boundary default", "type", "dirichlet"},
                 {"boundary default", "value", "x"}, {"solver", "preconditioner", "multigrid"}));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distorted_quadrilaterals_take_few_iterations),
      cmocka_unit_test(curves_take_few_iterations),
      cmocka_unit_test(smooth_tensors_take_few_iterations),
      cmocka_unit_test(a_jump_of_a_thousand_along_a_smooth_line_takes_few_iterations),
      cmocka_unit_test(rectangles_of_one_to_five_take_few_iterations),
      cmocka_unit_test(vertex_modes_are_measured_on_stretched_quadrilaterals),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
