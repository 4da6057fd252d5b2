// precision = compact where local matrices are integrated: it ends where double precision does.
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "moved.h"
#include "support.h"

/// Solve in double precision and with compact. @param[in] order  up to 3 loads are made again too
static void assert_compact_agrees(const kedge_mesh *mesh, const char *order, const char *diffusion,
                                  const char *reaction)
{
  kedge_report r[2];
  fields f[2];
  for (int k = 0; k < 2; ++k) {
    kedge_solution *solution =
        solve(ctx, mesh,
              SETTINGS({"space", "order", order}, {"equation", "diffusion", diffusion},
                       {"equation", "reaction", reaction}, {"exact", "u", "sin(3*x)*exp(y)"},
                       {"boundary default", "type", "dirichlet"},
                       {"solver", "preconditioner", "multigrid"}, {"solver", "tolerance", "1e-12"},
                       {"solver", "precision", k == 0 ? "double" : "compact"}));
    r[k] = (kedge_report)KEDGE_REPORT_INIT;
    kedge_solution_report(solution, &r[k]);
    assert_true(r[k].converged);
    assert_int_equal(r[k].peak_device_bytes, r[k].predicted_device_bytes);
    f[k] = fields_of(ctx, solution);
    kedge_solution_destroy(solution);
  }
  assert_at_most(r[1].iterations, r[0].iterations + 2);
  assert_in_range(r[1].refinements, 1, 4);
  for (int i = 0; i < FIELDS; ++i) assert_close(f[0].n[i], f[1].values[i], f[0].values[i], 1e-9);
  fields_free(&f[0]);
  fields_free(&f[1]);
}

static void fields_on_curves_have_the_solution_of_double(void **state)
{
  (void)state;
  static const enum cut cuts[] = {WHOLE, ALL, CHECKERED};
  for (int k = 0; k < 3; ++k) {
    kedge_mesh *mesh = moved(ctx, 14, cuts[k], 2, wave);
    assert_compact_agrees(mesh, "2", "2+sin(3*x), 0.7*cos(x*y), 1.5+y^2", "1+x");
    assert_compact_agrees(mesh, "4", "2+sin(3*x), 0.7*cos(x*y), 1.5+y^2", "0");
    assert_compact_agrees(mesh, "3", "0.5", "0");
    kedge_mesh_destroy(mesh);
  }
}

static void fields_on_straight_elements_have_the_solution_of_double(void **state)
{
  (void)state;
  static const char *const words[] = {"square 14", "quads 14", "mixed 14"};
  for (int k = 0; k < 3; ++k) {
    kedge_mesh *mesh;
    must(ctx, kedge_mesh_generate(ctx, words[k], &mesh));
    assert_compact_agrees(mesh, "1", "1+x*y", "0");
    assert_compact_agrees(mesh, "5", "1+x*y", "y");
    kedge_mesh_destroy(mesh);
  }
}

/// Rounded as they are, local matrices would give constants an energy, and the solve six iterations
/// more.
static void constants_lose_nothing_on_quadrilaterals(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "quads 160", &mesh));
  assert_compact_agrees(mesh, "2", "1", "0");
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_on_curves_have_the_solution_of_double),
      cmocka_unit_test(fields_on_straight_elements_have_the_solution_of_double),
      cmocka_unit_test(constants_lose_nothing_on_quadrilaterals),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
