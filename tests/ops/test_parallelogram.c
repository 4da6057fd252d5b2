// Closed forms of parallelograms give what quadrature does: with numbers, tensors, and materials by
// element.
#include <math.h>
#include <stdlib.h>

#include "cell_case.h"
#include "compare.h"
#include "context.h"
#include "ops/local/parallelogram/parallelogram.h"

enum { ORDERS = 8, MATERIALS = 4, OUTPUTS = 6 };

/// Diffusion xx, xy, yy and reaction.
static const double of_region[MATERIALS][4] = {
    {2.0, 0.5, 1.0, 0.0}, {0.3, -0.4, 5.0, 1.2}, {1.0, 0.9, 1.0, 3.0}, {0.7, 0.0, 0.7, 2.0}};

/// Parallelograms of which no two are alike.
static void oblique(int i, int j, int n, double at[2])
{
  const double a = (i + 0.07 * i * i) / n, b = (j + 0.05 * j * j) / n;
  at[0] = a + 0.4 * b;
  at[1] = 1.3 * b - 0.3 * a;
}

/// By quadrature or in closed form: K^e, F^e, u, flux, u* and the indicator.
static void run(cell_case *c, bool closed, const kg_cell_material *material, const double *random,
                double *out[OUTPUTS])
{
  const kg_cell_sizes z = c->size;
  const double *trace = case_input(&c->memory, random, (size_t)(c->n_facets * z.n_facet));
  const double *load = cell_case_input(c, z.n_modes, random + c->n_facets * z.n_facet);
  const int rows[OUTPUTS] = {z.n_packed, z.n_trace, z.n_modes, z.n_flux, z.n_star, 1};
  double *device[OUTPUTS];
  for (int k = 0; k < OUTPUTS; ++k) device[k] = cell_case_output(c, rows[k]);
  const kg_cell_make_args make = {c->cells, *material, load, device[0], device[1]};
  const kg_cell_recover_args recover = {c->cells, *material, trace, load, device[2], device[3]};
  const kg_cell_postprocess_args star = {c->cells,  *material, device[2],
                                         device[3], device[4], device[5]};
  must(ctx, closed ? kg_parallelogram_make(ctx, &make) : kg_cell_make(ctx, &make));
  must(ctx, closed ? kg_parallelogram_recover(ctx, &recover) : kg_cell_recover(ctx, &recover));
  must(ctx, closed ? kg_parallelogram_postprocess(ctx, &star) : kg_cell_postprocess(ctx, &star));
  for (int k = 0; k < OUTPUTS; ++k) out[k] = cell_case_fetch(c, rows[k], device[k]);
}

static double *randoms(const cell_case *c)
{
  return case_randoms(9, (size_t)(c->n_facets * c->size.n_facet + c->n_elements * c->size.n_modes));
}

static void compare(int order, kg_cell_material material, bool by_element)
{
  cell_case c;
  cell_case_grid(&c, ctx, &kg_quadrilateral, order, kg_cell_rows(order), 6, oblique);
  const kg_cell_sizes z = c.size;
  int32_t index[2 * KG_LANES];
  assert_true(c.n_elements % KG_LANES != 0 && c.n_groups == 2);
  for (int i = 0; i < 2 * KG_LANES; ++i) index[i] = i * 3 % MATERIALS;
  for (int k = 0; k < 3; ++k) material.diffusion[k] = of_region[1][k];
  material.reaction = of_region[1][3];
  if (by_element) {
    material.table = case_upload(&c.memory, of_region, 4 * MATERIALS, sizeof(double));
    material.index = case_upload(&c.memory, index, 2 * KG_LANES, sizeof *index);
  }
  double *random = randoms(&c), *closed[OUTPUTS], *quadrature[OUTPUTS];
  run(&c, true, &material, random, closed);
  run(&c, false, &material, random, quadrature);
  const int rows[OUTPUTS] = {z.n_packed, z.n_trace, z.n_modes, z.n_flux, z.n_star, 1};
  for (int k = 0; k < OUTPUTS; ++k) {
    assert_close((size_t)(rows[k] * c.n_elements), closed[k], quadrature[k], 1e-12);
    free(closed[k]);
    free(quadrature[k]);
  }
  free(random);
  cell_case_destroy(&c);
}

static void closed_forms_are_what_quadrature_gives(void **state)
{
  (void)state;
  static const kg_cell_material stabilizations[] = {
      {.length = 1.3},
      {.stabilization = 1.5, .scaling = KEDGE_SCALING_ONE},
      {.stabilization = 0.7, .scaling = KEDGE_SCALING_H},
      {.stabilization = 0.4, .scaling = KEDGE_SCALING_INVERSE_H}};
  for (int order = 1; order <= ORDERS; ++order)
    for (int k = 0; k < 4; ++k)
      for (int by_element = 0; by_element < 2; ++by_element)
        if (!test_is_quick() || k == order % 4) compare(order, stabilizations[k], by_element == 1);
}

static void empty_lanes_have_zero_local_matrices(void **state)
{
  (void)state;
  const kg_cell_material material = {.diffusion = {1.0, 0.0, 1.0}, .length = 1.0};
  for (int order = 1; order <= ORDERS; ++order) {
    cell_case c;
    cell_case_grid(&c, ctx, &kg_quadrilateral, order, kg_cell_rows(order), 3, oblique);
    const int N = c.size.n_modes, n = c.size.n_trace, packed = c.size.n_packed;
    double *load = case_randoms(5, (size_t)(N * KG_LANES));
    for (int i = 0; i < N * KG_LANES; ++i)
      if (i % KG_LANES >= c.n_elements) load[i] = NAN;
    const kg_cell_make_args args = {c.cells, material,
                                    case_input(&c.memory, load, (size_t)(N * KG_LANES)),
                                    cell_case_output(&c, packed), cell_case_output(&c, n)};
    must(ctx, kg_parallelogram_make(ctx, &args));
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
}

static void K_times_constants_is_zero_without_reaction(void **state)
{
  (void)state;
  const kg_cell_material material = {.diffusion = {2.0, 0.5, 1.0}, .length = 1.0};
  for (int order = 1; order <= ORDERS; ++order) {
    cell_case c;
    cell_case_grid(&c, ctx, &kg_quadrilateral, order, kg_cell_rows(order), 3, oblique);
    double *random = randoms(&c), *out[OUTPUTS];
    run(&c, true, &material, random, out);
    const int n = c.size.n_trace, m = c.size.n_facet;
    for (int e = 0; e < c.n_elements; ++e)
      for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int l = 0; l < 4; ++l) sum += out[0][e * c.size.n_packed + kg_packed_entry(i, l * m)];
        assert_at_most(fabs(sum), 1e-12);
      }
    for (int k = 0; k < OUTPUTS; ++k) free(out[k]);
    free(random);
    cell_case_destroy(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closed_forms_are_what_quadrature_gives),
      cmocka_unit_test(empty_lanes_have_zero_local_matrices),
      cmocka_unit_test(K_times_constants_is_zero_without_reaction),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
