// What multigrid smooths with refuses a matrix that is not positive definite, by the place.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/smooth/edge_blocks.h"
#include "systems.h"

static void create(trace_system *s, kedge_smoother smoother, int n_elements, int order,
                   enum case_boundary boundary)
{
  system_create(s, ctx,
                (system_options){.n_elements = n_elements,
                                 .order = order,
                                 .boundary = boundary,
                                 .material = {0.8, 0.3, 1.0, KEDGE_SCALING_ONE},
                                 .smoother = smoother,
                                 .smoothing_steps = 1,
                                 .solver = &exact_coarse});
}

/// Make a multigrid of these matrices; the sentence.
static const char *refusal_of_local(trace_system *s, kg_local local)
{
  const kg_multigrid_args args = {.batch = s->c.batch,
                                  .locals = kg_locals_of(local, s->c.batch.arrays.side_edge)};
  kg_plan plan = {.apart = true};
  kg_multigrid out = {.shape = s->multigrid.shape, .solver = &exact_coarse};
  out.shape.locals = args.locals;
  kg_multigrid_declare(&plan, &out);
  kg_plan_place(&plan);
  must(ctx, kg_plan_commit(ctx, &plan));
  assert_int_equal(kg_multigrid_create(ctx, &args, &out), KEDGE_ERR_NUMERIC);
  kg_multigrid_destroy(ctx, &out);
  kg_plan_free(ctx, &plan);
  return kedge_context_error(ctx);
}

/// The sentence that refuses the system's matrices where K^e of element e is spoilt.
static const char *refusal(trace_system *s, int32_t e)
{
  const size_t at = (size_t)(e / KG_LANES) * (size_t)s->c.size.n_packed * KG_LANES + e % KG_LANES;
  s->local[at] = -100.0;  // entry (0, 0): the first mode of side 0
  const size_t n_local = (size_t)s->c.size.n_packed * KG_LANES * (size_t)s->c.batch.count.n_groups;
  return refusal_of_local(
      s, case_local(&s->c, KG_LAYOUT_PACKED, KG_DOUBLE, case_input(&s->c, s->local, n_local)));
}

/// One of the first sides of element e, from either end.
static void assert_edge_is_named(const trace_system *s, int32_t e, int n_sides,
                                 const char *sentence)
{
  const kedge_mesh *mesh = s->c.mesh;
  const int32_t *corner = mesh->element_vertices + 3 * e;
  for (int k = 0; k < 2 * n_sides; ++k) {
    const double *a = mesh->vertices + 2 * corner[(k / 2 + k % 2) % 3];
    const double *b = mesh->vertices + 2 * corner[(k / 2 + 1 - k % 2) % 3];
    char name[160];
    snprintf(name, sizeof name, "on the edge from (%g, %g) to (%g, %g)", a[0], a[1], b[0], b[1]);
    if (strstr(sentence, name)) return;
  }
  fail_msg("%s (element %d)", sentence, (int)e);
}

static void an_edge_without_an_inverse_is_named(void **state)
{
  (void)state;
  trace_system s;
  const int32_t e = 20;
  create(&s, KEDGE_SMOOTHER_EDGE, 33, 2, CASE_NEUMANN);
  assert_edge_is_named(&s, e, 1, refusal(&s, e));
  system_destroy(&s);
}

/// Their diagonal of mode 1 has the sign of the side, which must not hide its own. It is part of
/// mode 0 of the other two sides.
static void a_diagonal_of_reduced_matrices_that_is_negative_is_named(void **state)
{
  (void)state;
  for (int32_t e = 20; e < 26; ++e) {
    trace_system s;
    system_create(&s, ctx,
                  (system_options){.n_elements = 33,
                                   .order = 1 + e % 3,
                                   .boundary = CASE_NEUMANN,
                                   .material = {0.8, 0.0, 1.0, KEDGE_SCALING_ONE},
                                   .smoother = KEDGE_SMOOTHER_EDGE,
                                   .smoothing_steps = 0});  // a coarse matrix would be singular
    const size_t rows = (size_t)s.device_local.rows;
    const size_t n = rows * KG_LANES * (size_t)s.c.batch.count.n_groups;
    double *local = case_fetch(&s.c, s.device_local.data);
    const size_t row = (size_t)(e / KG_LANES) * rows + KG_REDUCED_FLUX;  // entry (0, 0)
    local[row * KG_LANES + (size_t)(e % KG_LANES)] *= -1e3;
    kg_local spoilt = s.device_local;
    spoilt.data = case_input(&s.c, local, n);
    assert_edge_is_named(&s, e, 3, refusal_of_local(&s, spoilt));
    free(local);
    system_destroy(&s);
  }
}

/// K^e in device memory, multiplied by `factor` from an element's group on.
static kg_local spoilt(trace_system *s, double factor, int32_t first_group)
{
  const size_t group = (size_t)s->c.size.n_packed * KG_LANES;
  const size_t n = group * (size_t)s->c.batch.count.n_groups;
  double *local = malloc(n * sizeof *local);
  assert_non_null(local);
  for (size_t i = 0; i < n; ++i)
    local[i] = i < group * (size_t)first_group ? s->local[i] : factor * s->local[i];
  const kg_local device =
      case_local(&s->c, KG_LAYOUT_PACKED, KG_DOUBLE, case_input(&s->c, local, n));
  free(local);
  return device;
}

static void numbers_beyond_single_precision_are_refused(void **state)
{
  (void)state;
  trace_system s;
  create(&s, KEDGE_SMOOTHER_LINE, 33, 2, CASE_MIXED);
  const kg_smoother *smoother = &s.multigrid.smoother;
  const char *part = "or its numbers leave the range of single precision (precision = double";
  for (int i = 0; i < 8; ++i) {
    const kg_number number = i / 4 ? KG_DOUBLE : KG_SINGLE;
    const kg_locals locals =
        kg_locals_of(spoilt(&s, i / 2 % 2 ? 1e30 : 1e-30, 0), s.c.batch.arrays.side_edge);
    int32_t *const fault = (int32_t *)case_output(&s.c, 1);
    const kedge_status status =
        i % 2 ? kg_edge_blocks(ctx, &(kg_edge_blocks_args){.batch = s.c.batch,
                                                           .locals = locals,
                                                           .number = number,
                                                           .form = KG_BLOCK_FACTOR,
                                                           .inverse = smoother->inverse,
                                                           .fault = fault})
              : kg_line_factor(ctx, &(kg_line_factor_args){.batch = s.c.batch,
                                                           .locals = locals,
                                                           .lines = smoother->lines,
                                                           .number = number,
                                                           .inverse = smoother->inverse,
                                                           .factor = smoother->factor,
                                                           .fault = fault});
    assert_int_equal(status, number == KG_SINGLE ? KEDGE_ERR_NUMERIC : KEDGE_OK);
    if (number == KG_SINGLE && !strstr(kedge_context_error(ctx), part))
      fail_msg("%s", kedge_context_error(ctx));
  }
  system_destroy(&s);
}

/// The lowest vertex without a Dirichlet edge of the elements of a group from `first` on.
static int32_t lowest_vertex(const trace_system *s, int32_t first)
{
  const kedge_mesh *mesh = s->c.mesh;
  bool *is_fixed = system_fixed_vertices(s);
  int32_t lowest = mesh->n_vertices;
  for (int32_t i = 3 * KG_LANES * first; i < 3 * mesh->n_elements; ++i) {
    const int32_t vertex = mesh->element_vertices[i];
    if (!is_fixed[vertex] && vertex < lowest) lowest = vertex;
  }
  free(is_fixed);
  return lowest;
}

static void a_vertex_whose_mode_has_no_positive_energy_is_named(void **state)
{
  (void)state;
  const double factors[] = {-1e3, NAN, INFINITY};
  for (int i = 0; i < 9; ++i) {
    trace_system s;
    create(&s, KEDGE_SMOOTHER_EDGE, 257, 5, CASE_MIXED);
    const int32_t first = i / 3 * 3;
    const double *at = s.c.mesh->vertices + 2 * (size_t)lowest_vertex(&s, first);
    char sentence[128];
    snprintf(sentence, sizeof sentence, "cannot smooth at the vertex (%g, %g)", at[0], at[1]);
    const size_t groups = (size_t)s.c.batch.count.n_groups;
    const kg_vertex_modes_args args = {
        .batch = s.c.batch,
        .locals = kg_locals_of(spoilt(&s, factors[i % 3], first), s.c.batch.arrays.side_edge),
        .modes = s.multigrid.modes,
        .element = case_output(&s.c, 3 * KG_LANES * groups),
        .fault = (int32_t *)case_output(&s.c, 1)};
    assert_int_equal(kg_vertex_modes_fill(ctx, &args), KEDGE_ERR_NUMERIC);
    if (!strstr(kedge_context_error(ctx), sentence))
      fail_msg("%s (%s)", kedge_context_error(ctx), sentence);
    system_destroy(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_edge_without_an_inverse_is_named),
      cmocka_unit_test(a_diagonal_of_reduced_matrices_that_is_negative_is_named),
      cmocka_unit_test(numbers_beyond_single_precision_are_refused),
      cmocka_unit_test(a_vertex_whose_mode_has_no_positive_energy_is_named),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
