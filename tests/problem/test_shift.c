// The equation of a stage of a step in time: mass, reaction + shift mass, and copies of problems.
#include "cmocka_all.h"

#include <string.h>

#include "fixture.h"
#include "kedge/mesh.h"

static void x_of(void *user, const kedge_points *points, double *value)
{
  for (size_t i = 0; i < points->n; ++i) value[i] = *(const double *)user * points->x[i];
}

enum { POINTS = 300 };

/// a + factor b at more points than a block has.
static void assert_sum(const kg_function *sum, const kg_function *a, double factor,
                       const kg_function *b)
{
  double x[POINTS], y[POINTS], region[POINTS], value[3][POINTS];
  for (int i = 0; i < POINTS; ++i) x[i] = 0.1 * i, y[i] = 1.0 - 0.03 * i, region[i] = i % 2;
  const kedge_points points = {.n = POINTS, .x = x, .y = y, .region = region};
  kg_function_evaluate(sum, &points, value[0]);
  kg_function_evaluate(a, &points, value[1]);
  kg_function_evaluate(b, &points, value[2]);
  for (int i = 0; i < POINTS; ++i) {
    const double expected = value[1][i] + factor * value[2][i];
    assert_true(fabs(value[0][i] - expected) <= 1e-14 * (1.0 + fabs(expected)));
  }
}

static void sums_of_functions_are_of_the_simplest_kind(void **state)
{
  const fixture *f = *state;
  double five = 5.0, numbers[POINTS];
  set(f, "equation", "diffusion", "1 + x*y");
  set(f, "equation", "reaction", "2");
  set(f, "equation", "mass", "3 + region");
  const kg_coefficients *const c = &f->problem->equation;
  const kg_function caller = {.kind = KG_FUNCTION_CALLER, .function = x_of, .user = &five};
  const kg_function array = {
      .kind = KG_FUNCTION_CALLER, .function = kedge_by_element, .user = numbers};
  const struct {
    const kg_function *a, *b;
    int kind;
    bool varies, by_element;
  } of[] = {{&c->reaction, &c->reaction, KG_FUNCTION_CONSTANT, false, false},
            {&c->reaction, &c->mass, KG_FUNCTION_EXPRESSION, false, false},
            {&c->diffusion[0], &c->mass, KG_FUNCTION_EXPRESSION, true, false},
            {&caller, &c->mass, KG_FUNCTION_SUM, true, false},
            {&c->reaction, &caller, KG_FUNCTION_SUM, true, false},
            {&c->reaction, &array, KG_FUNCTION_SUM, false, true}};
  for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
    kg_function sum, copy;
    assert_int_equal(kg_function_plus(f->ctx, of[i].a, 7.5, of[i].b, &sum), KEDGE_OK);
    assert_int_equal(sum.kind, of[i].kind);
    assert_int_equal(kg_function_varies(&sum), of[i].varies);
    assert_int_equal(kg_function_by_element(&sum), of[i].by_element);
    assert_int_equal(kg_function_copy(f->ctx, &sum, &copy), KEDGE_OK);
    kg_function_free(&sum);
    if (!of[i].by_element) assert_sum(&copy, of[i].a, 7.5, of[i].b);
    kg_function_free(&copy);
  }
}

static void numbers_of_elements_do_not_jump_within_them(void **state)
{
  double five = 5.0, numbers[POINTS];
  const kg_function caller = {.kind = KG_FUNCTION_CALLER, .function = x_of, .user = &five};
  const kg_function array = {
      .kind = KG_FUNCTION_CALLER, .function = kedge_by_element, .user = numbers};
  (void)state;
  assert_false(kg_function_may_jump(&array));
  assert_true(kg_function_may_jump(&caller));
}

/// The value of a function at (0.25, 0.5).
static double value_of(const kg_function *f)
{
  const double x = 0.25, y = 0.5, region = 0.0;
  double value;
  kg_function_evaluate(f, &(kedge_points){.n = 1, .x = &x, .y = &y, .region = &region}, &value);
  return value;
}

static kg_resolved resolve(const fixture *f)
{
  kg_resolved r;
  kedge_mesh *mesh;
  assert_int_equal(kedge_mesh_generate(f->ctx, "square 2", &mesh), KEDGE_OK);
  if (kg_problem_resolve(f->ctx, f->problem, mesh, &r) != KEDGE_OK)
    fail_msg("%s", kedge_context_error(f->ctx));
  kedge_mesh_destroy(mesh);
  return r;
}

static void a_shift_changes_the_reaction_and_no_derived_source(void **state)
{
  const fixture *f = *state;
  set(f, "time", "end", "1");
  set(f, "time", "step", "1");
  set(f, "equation", "reaction", "3");
  set(f, "exact", "u", "x^2 + y");
  set(f, "boundary default", "type", "dirichlet");
  kg_resolved plain = resolve(f);
  assert_true(value_of(&plain.equation.mass) == 1.0);
  f->problem->shift = 10.0;
  kg_resolved shifted = resolve(f);
  assert_int_equal(shifted.equation.reaction.kind, KG_FUNCTION_CONSTANT);
  assert_true(value_of(&shifted.equation.reaction) == 13.0);
  assert_true(kg_material_of(&shifted, 0)[3] == 13.0);
  assert_true(value_of(&plain.equation.source) == value_of(&shifted.equation.source));
  set(f, "equation", "mass", "1 + x");  // settings that are read anew have no shift
  assert_true(f->problem->shift == 0.0);
  f->problem->shift = 8.0;
  kg_resolved varying = resolve(f);
  assert_true(varying.varies);
  assert_true(value_of(&varying.equation.reaction) == 13.0);
  assert_true(value_of(&plain.equation.source) == value_of(&varying.equation.source));
  kg_resolved_free(&plain);
  kg_resolved_free(&shifted);
  kg_resolved_free(&varying);
}

static void regions_have_a_mass_of_their_own(void **state)
{
  const fixture *f = *state;
  set(f, "time", "end", "1");
  set(f, "time", "step", "1");
  set(f, "equation", "mass", "2");
  set(f, "region default", "mass", "5");
  set(f, "boundary default", "type", "dirichlet");
  set(f, "boundary default", "value", "0");
  kg_resolved r = resolve(f);
  assert_true(value_of(&r.equation.mass) == 5.0);
  assert_string_equal(r.unread, "mass");
  kg_resolved_free(&r);
}

static void a_mass_that_is_not_positive_is_refused(void **state)
{
  const fixture *f = *state;
  assert_int_equal(kedge_problem_set(f->problem, "equation", "mass", "0"), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(f->ctx), "mass must be positive"));
  assert_int_equal(kedge_problem_set(f->problem, "region a", "mass", "-1"), KEDGE_ERR_INPUT);
}

static void a_copy_of_a_problem_shares_nothing_with_it(void **state)
{
  const fixture *f = *state;
  double two = 2.0;
  kedge_problem *copy = NULL;
  set(f, "space", "order", "3");
  set(f, "parameters", "a", "4");
  set(f, "region left", "mass", "a + x");
  set(f, "boundary 1", "type", "neumann");
  set(f, "probe p", "points", "0.5 0.5");
  assert_int_equal(kedge_problem_set_source(f->problem, x_of, &two), KEDGE_OK);
  assert_int_equal(kg_problem_clone(f->problem, &copy), KEDGE_OK);
  kedge_problem *const same = copy;
  set(f, "space", "order", "5");
  set(f, "parameters", "a", "1");
  assert_int_equal(copy->order, 3);
  assert_true(value_of(&copy->regions[0].mass) == 4.25);
  assert_true(value_of(&copy->equation.source) == 0.5);
  assert_int_equal(copy->n_probes, 1);
  const int64_t version = copy->version;
  assert_int_equal(kg_problem_clone(f->problem, &copy), KEDGE_OK);
  assert_ptr_equal(copy, same);
  assert_int_equal(copy->order, 5);
  assert_true(copy->version > version);
  assert_true(value_of(&copy->regions[0].mass) == 1.25);
  kedge_problem_destroy(copy);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(sums_of_functions_are_of_the_simplest_kind),
      cmocka_unit_test(numbers_of_elements_do_not_jump_within_them),
      FIXTURE_TEST(a_shift_changes_the_reaction_and_no_derived_source),
      FIXTURE_TEST(regions_have_a_mass_of_their_own),
      FIXTURE_TEST(a_mass_that_is_not_positive_is_refused),
      FIXTURE_TEST(a_copy_of_a_problem_shares_nothing_with_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
