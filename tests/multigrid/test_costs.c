// What the operators of multigrid say that they move.
#include <math.h>

#include "cmocka_all.h"
#include "precondition/bound.h"
#include "ops/smooth/vertex_matrix.h"

static const kg_trace_counts count = {.n_elements = 1000,
                                      .n_groups = 32,
                                      .n_edges = 1530,
                                      .n_interior = 1200,
                                      .n_shared = 250,
                                      .n_neumann = 20,
                                      .n_free = 1470};
enum { STEPS = 700, VERTICES = 531 };

static kg_local local_of(kg_layout layout, kg_number number, int order)
{
  return kg_local_all(layout, number, kg_sizes_of(order), &count, NULL);
}

static kg_multigrid_shape shape_of(kedge_smoother smoother, int steps, kg_number number)
{
  return (kg_multigrid_shape){
      .order = 6,
      .m = 7,
      .count = count,
      .n_vertices = VERTICES,
      .smoother = smoother,
      .smoothing_steps = steps,
      .n_line_steps = kg_smoother_has_lines(smoother) ? STEPS : 0,
      .number = number,
      .locals = kg_locals_of(local_of(KG_LAYOUT_REDUCED, KG_DOUBLE, 6), NULL)};
}

static kg_cost step_cost(kedge_smoother kind, int order, kg_number local, kg_number number)
{
  kg_multigrid_shape shape = shape_of(kind, 1, number);
  shape.order = order;
  shape.m = order + 1;
  shape.locals = kg_locals_of(local_of(KG_LAYOUT_REDUCED, local, order), NULL);
  shape.n_line_steps = STEPS;
  const kg_smoother smoother = kg_multigrid_smoother(&shape);
  return smoother.table->step_cost(&smoother);
}

static double make_bytes(const kg_multigrid_shape *shape)
{
  const kg_smoother smoother = kg_multigrid_smoother(shape);
  return smoother.table->make_cost(&smoother, KG_DOUBLE).bytes;
}

static void in_single_precision_numbers_are_half_and_indices_and_factors_are_not(void **state)
{
  (void)state;
  const double indices[] = {[KEDGE_SMOOTHER_EDGE] = 0.0, [KEDGE_SMOOTHER_LINE] = 2 * 4.0 * STEPS};
  for (kedge_smoother kind = 0; kind < KEDGE_SMOOTHER_AUTO; ++kind)
    for (int order = 1; order <= KEDGE_ORDER_MAX; ++order) {
      const kg_sizes size = kg_sizes_of(order);
      const kg_cost whole = step_cost(kind, order, KG_DOUBLE, KG_DOUBLE);
      const kg_cost half = step_cost(kind, order, KG_DOUBLE, KG_SINGLE);
      const kg_cost compact = step_cost(kind, order, KG_SINGLE, KG_SINGLE);
      assert_true(whole.flops == half.flops && whole.flops == compact.flops);
      const double m = size.n_edge, blocks = 4.0 * m * (m + 1) / 2 * count.n_free;
      const double lines = kg_smoother_has_lines(kind) ? 2 * 4.0 * m * m * STEPS : 0.0;
      const double same = indices[kind] + blocks + lines;
      assert_true(fabs(2 * half.bytes - whole.bytes - same) < 1e-6 * whole.bytes);
      const double less = kind == KEDGE_SMOOTHER_EDGE ? 0.5 * blocks : 0.0;
      assert_true(fabs(half.bytes - compact.bytes - less) < 1e-6 * whole.bytes);
    }
}

static void of_reduced_matrices_the_coarse_one_reads_three_fluxes(void **state)
{
  (void)state;
  const kg_local locals[] = {local_of(KG_LAYOUT_PACKED, KG_DOUBLE, 6),
                             local_of(KG_LAYOUT_REDUCED, KG_DOUBLE, 6),
                             local_of(KG_LAYOUT_REDUCED, KG_SINGLE, 6)};
  const kg_cost packed = kg_vertex_matrix_cost(&count, VERTICES, &locals[0]);
  const kg_cost reduced = kg_vertex_matrix_cost(&count, VERTICES, &locals[1]);
  const kg_cost single = kg_vertex_matrix_cost(&count, VERTICES, &locals[2]);
  assert_true(packed.bytes - reduced.bytes == 8.0 * (21 - 3) * count.n_elements);
  assert_true(reduced.bytes - single.bytes == 4.0 * 3 * count.n_elements);
  assert_true(reduced.flops < packed.flops);
}

static void vertex_modes_copies_and_what_is_below_the_trace_are_counted(void **state)
{
  (void)state;
  const kg_multigrid_shape one = shape_of(KEDGE_SMOOTHER_EDGE, 1, KG_DOUBLE);
  const kg_multigrid_shape two = shape_of(KEDGE_SMOOTHER_EDGE, 2, KG_DOUBLE);
  kg_multigrid_shape mixed = one;
  mixed.number = KG_SINGLE;
  const double modes = kg_vertex_modes_cost(one.m, &count, VERTICES, KG_DOUBLE).bytes;
  const double copies = 12.0 * one.locals.local[0].rows * KG_LANES * count.n_groups;
  const double blocks = make_bytes(&one);
  const double below = kg_vertex_space_cost(&count, VERTICES).bytes +
                       kg_vertex_matrix_cost(&count, VERTICES, one.locals.local).bytes;
  assert_true(fabs(kg_multigrid_create_cost(&two).bytes - blocks - below) < 1.0);
  const double bytes = kg_multigrid_create_cost(&one).bytes;
  assert_true(fabs(bytes - blocks - modes - below) < 1.0);
  assert_true(fabs(kg_multigrid_create_cost(&mixed).bytes - bytes - copies) < 1.0);
}

static void lines_cost_more_to_make_than_edges(void **state)
{
  (void)state;
  double cost[KEDGE_SMOOTHER_AUTO];
  for (kedge_smoother kind = 0; kind < KEDGE_SMOOTHER_AUTO; ++kind) {
    const kg_multigrid_shape shape = shape_of(kind, 1, KG_DOUBLE);
    cost[kind] = make_bytes(&shape);
  }
  assert_true(cost[KEDGE_SMOOTHER_LINE] > cost[KEDGE_SMOOTHER_EDGE]);
}

static void a_measured_eigenvalue_costs_its_steps(void **state)
{
  (void)state;
  const kg_multigrid_shape two = shape_of(KEDGE_SMOOTHER_EDGE, 2, KG_DOUBLE);
  const double product = kg_trace_product_cost(two.m, &count, &two.locals).bytes;
  const double bytes = kg_multigrid_bound_cost(&two).bytes;
  assert_true(bytes > KG_LANCZOS_STEPS * product);
  assert_true(bytes < KG_LANCZOS_STEPS * (product + kg_multigrid_apply_cost(&two).bytes));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_single_precision_numbers_are_half_and_indices_and_factors_are_not),
      cmocka_unit_test(of_reduced_matrices_the_coarse_one_reads_three_fluxes),
      cmocka_unit_test(vertex_modes_copies_and_what_is_below_the_trace_are_counted),
      cmocka_unit_test(lines_cost_more_to_make_than_edges),
      cmocka_unit_test(a_measured_eigenvalue_costs_its_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
