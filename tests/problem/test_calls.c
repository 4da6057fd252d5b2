// Problems made by calls: all or nothing, replacing, functions of the caller.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixture.h"

static void refused(const fixture *f, const char *section, const char *key, const char *value,
                    const char *sentence)
{
  assert_int_equal(kedge_problem_set(f->problem, section, key, value), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(f->ctx), sentence);
}

static double at(const kg_function *f, double x, double y)
{
  double value;
  kg_function_evaluate(f, &(kedge_points){.n = 1, .x = &x, .y = &y}, &value);
  return value;
}

/// user points to a factor
static void scaled_sum(void *user, const kedge_points *points, double *value)
{
  const double factor = *(const double *)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = factor * (points->x[i] + points->y[i]);
}

static void setting_again_replaces(void **state)
{
  const fixture *f = *state;
  set(f, "space", "order", "3");
  set(f, "space", "order", "5");
  set(f, "equation", "source", "x");
  set(f, "equation", "source", "2*y");
  set(f, "boundary left", "type", "dirichlet");
  set(f, "boundary left", "value", "1");
  set(f, " boundary   left ", "type", "neumann");
  assert_int_equal(f->problem->order, 5);
  assert_true(at(&f->problem->equation.source, 7, 2) == 4);
  assert_int_equal(f->problem->n_boundaries, 1);
  assert_int_equal(f->problem->boundaries[0].type, KEDGE_BOUNDARY_NEUMANN);
}

static void a_parameter_that_changes_changes_what_uses_it(void **state)
{
  const fixture *f = *state;
  set(f, "parameters", "a", "2");
  set(f, "parameters", "b", "a^2");
  set(f, "equation", "source", "b*x");
  set(f, "equation", "diffusion", "b");
  assert_true(at(&f->problem->equation.source, 1, 0) == 4 &&
              f->problem->equation.diffusion[0].constant == 4);
  set(f, "parameters", "a", "3");
  assert_true(at(&f->problem->equation.source, 1, 0) == 9 &&
              f->problem->equation.diffusion[0].constant == 9);
}

static void a_refused_setting_changes_nothing(void **state)
{
  const fixture *f = *state;
  set(f, "space", "order", "3");
  set(f, "equation", "source", "x");
  refused(f, "space", "order", "40",
          "[space] order: order must be a whole number from 1 to 12, not '40'");
  refused(f, "space", "ordr", "4",
          "[space] ordr: unknown key 'ordr' in [space]; did you mean 'order'?");
  refused(f, "", "order", "4",
          "[] order: 'order' stands before the first [section]; put it into one");
  refused(f, "equation", "source", "x+q",
          "[equation] source: column 3 of source: unknown name 'q': known here are x, y, z, "
          "t, region, "
          "pi; others "
          "are set in [parameters], above those that use them");
  refused(f, "exact", "du_dx", "1",
          "[exact] du_dx: unknown key 'du_dx' in [exact]; its keys are u, quadrature");
  assert_int_equal(f->problem->order, 3);
  assert_true(at(&f->problem->equation.source, 7, 0) == 7);
}

static void functions_of_the_caller_and_text_replace_each_other(void **state)
{
  const fixture *f = *state;
  kedge_problem *p = f->problem;
  double three = 3, four = 4;
  set(f, "equation", "source", "x");
  assert_int_equal(kedge_problem_set_source(p, scaled_sum, &three), KEDGE_OK);
  assert_true(at(&p->equation.source, 1, 1) == 6);
  set(f, "space", "order", "2");
  assert_true(at(&p->equation.source, 1, 1) == 6);
  set(f, "equation", "source", "x");
  assert_true(at(&p->equation.source, 1, 1) == 1);

  assert_int_equal(kedge_problem_set_boundary(p, "left", KEDGE_BOUNDARY_NEUMANN, scaled_sum, &four),
                   KEDGE_OK);
  assert_int_equal(p->boundaries[0].type, KEDGE_BOUNDARY_NEUMANN);
  assert_true(at(&p->boundaries[0].value, 1, 1) == 8);
  set(f, "boundary left", "value", "5");
  assert_true(at(&p->boundaries[0].value, 1, 1) == 5);

  assert_int_equal(kedge_problem_set_exact(p, scaled_sum, scaled_sum, scaled_sum, &three),
                   KEDGE_OK);
  assert_true(at(&p->exact_u, 1, 1) == 6 && at(&p->exact_dy, 2, 1) == 9);
  set(f, "exact", "u", "x*y^2");
  assert_true(at(&p->exact_u, 2, 3) == 18 && at(&p->exact_dx, 2, 3) == 9);
  assert_true(at(&p->exact_dy, 2, 3) == 12);
  assert_int_equal(kedge_problem_set_exact(p, scaled_sum, scaled_sum, scaled_sum, &three),
                   KEDGE_OK);
  assert_true(at(&p->exact_u, 1, 1) == 6 && at(&p->exact_dx, 1, 1) == 6);
}

/// Tensors and gradients of the plane, of space and as text take each other's place.
static void tensors_and_gradients_of_other_dimensions_replace_each_other(void **state)
{
  const fixture *f = *state;
  kedge_problem *p = f->problem;
  double number[6] = {1, 2, 3, 4, 5, 6};
  kedge_function *const functions[6] = {scaled_sum, scaled_sum, scaled_sum,
                                        scaled_sum, scaled_sum, scaled_sum};
  void *const users[6] = {&number[0], &number[1], &number[2], &number[3], &number[4], &number[5]};
  static const char *const sections[] = {"equation", "region 7"};
  for (int i = 0; i < 2; ++i) {
    const char *const section = sections[i];
    for (int again = 0; again < 2; ++again) {
      assert_int_equal(kedge_problem_set_tensor(p, section, functions, users), KEDGE_OK);
      const kg_coefficients *c = i ? &p->regions[0] : &p->equation;
      assert_int_equal(c->n_diffusion, 3);
      for (int k = 0; k < 3; ++k) assert_true(at(&c->diffusion[k], 1, 1) == 2 * (k + 1));
      assert_int_equal(kedge_problem_set_tensor_space(p, section, functions, users), KEDGE_OK);
      c = i ? &p->regions[0] : &p->equation;
      assert_int_equal(c->n_diffusion, 6);
      for (int k = 0; k < 6; ++k) assert_true(at(&c->diffusion[k], 1, 1) == 2 * (k + 1));
    }
    set(f, section, "diffusion", "5");
    assert_int_equal((i ? &p->regions[0] : &p->equation)->n_diffusion, 1);
  }
  assert_int_equal(
      kedge_problem_set_exact_space(p, scaled_sum, scaled_sum, scaled_sum, scaled_sum, &number[2]),
      KEDGE_OK);
  assert_true(at(&p->exact_u, 1, 1) == 6 && at(&p->exact_dz, 2, 1) == 9);
  assert_int_equal(kedge_problem_set_exact(p, scaled_sum, scaled_sum, scaled_sum, &number[0]),
                   KEDGE_OK);
  assert_int_equal(p->exact_dz.kind, KG_FUNCTION_NONE);
  assert_int_equal(kedge_problem_set_exact_space(p, scaled_sum, scaled_sum, scaled_sum, NULL, NULL),
                   KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_set_tensor_space(p, "exact", functions, users), KEDGE_ERR_INPUT);
  assert_string_equal(
      kedge_context_error(f->ctx),
      "kedge_problem_set_tensor_space: [exact] takes no diffusion, or a function is NULL");
}

static void an_exact_solution_too_large_to_differentiate_is_refused(void **state)
{
  const fixture *f = *state;
  char *text = malloc(100000);
  assert_non_null(text);
  size_t length = 0;
  for (int i = 0; i < 900; ++i)
    length += (size_t)sprintf(text + length, "%ssin(%d.5*x)*tan(x/%d.5)", i ? "+" : "", i, i);
  const kedge_status status = kedge_problem_set(f->problem, "exact", "u", text);
  free(text);
  assert_int_equal(status, KEDGE_ERR_INPUT);
  assert_string_equal(
      kedge_context_error(f->ctx),
      "[exact] u: the derivative of u by x needs more than 10000 terms and operations; "
      "write u more simply");
}

static void an_expression_too_long_is_refused(void **state)
{
  const fixture *f = *state;
  char *text = malloc(200000);
  assert_non_null(text);
  size_t length = 0;
  for (int i = 0; i < 6000; ++i)
    length += (size_t)sprintf(text + length, "%ssin(%d.5*x)", i ? "+" : "", i);
  const kedge_status status = kedge_problem_set(f->problem, "equation", "source", text);
  free(text);
  assert_int_equal(status, KEDGE_ERR_INPUT);
  assert_string_equal(
      kedge_context_error(f->ctx),
      "[equation] source: source is too long: it needs more than 10000 terms and operations");
}

static void wrong_arguments_are_errors_not_crashes(void **state)
{
  const fixture *f = *state;
  kedge_problem *const p = f->problem;
  assert_int_equal(kedge_problem_create(f->ctx, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_set(NULL, "space", "order", "1"), KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_set(p, NULL, "order", "1"), KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_set(p, "space", NULL, "1"), KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_set(p, "space", "order", NULL), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(f->ctx),
                      "kedge_problem_set: section, key or value is NULL");
  assert_int_equal(kedge_problem_set_source(p, NULL, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_set_source(NULL, scaled_sum, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_set_exact(p, scaled_sum, NULL, NULL, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_set_boundary(p, NULL, KEDGE_BOUNDARY_NEUMANN, scaled_sum, NULL),
                   KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_set_boundary(p, "a", (kedge_boundary_type)9, scaled_sum, NULL),
                   KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_set_boundary(p, "a", KEDGE_BOUNDARY_NEUMANN, NULL, NULL),
                   KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_mesh(p, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_mesh(NULL, NULL), KEDGE_ERR_ARG);
  kedge_problem *out;
  const char *const overrides[] = {"space.order=2", NULL};
  assert_int_equal(kedge_problem_read(f->ctx, "a.ini", NULL, 1, &out), KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_read(f->ctx, "a.ini", overrides, 2, &out), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(f->ctx), "kedge_problem_read: overrides[1] is NULL");
  assert_int_equal(kedge_problem_create(NULL, &out), KEDGE_OK);  // without a context: no mesh
  assert_int_equal(kedge_problem_set(out, "mesh", "generate", "square 1"), KEDGE_OK);
  kedge_mesh *mesh;
  assert_int_equal(kedge_problem_mesh(out, &mesh), KEDGE_ERR_ARG);
  kedge_problem_destroy(out);
  assert_null(kedge_problem_output(NULL));
  assert_null(kedge_problem_mesh_file(NULL));
  kedge_problem_destroy(NULL);
}

static void settings_are_told_in_their_order(void **state)
{
  static const char text[] =
      "[parameters]\nk = 2\n[region air]\n[equation]\nsource = k*x  # heat\n";
  static const char *const expected[][3] = {
      {"parameters", "k", "2"}, {"region air", "", NULL}, {"equation", "source", "k*x"}};
  const fixture *f = *state;
  const char *section, *key, *value;
  kedge_problem *p;
  assert_int_equal(kg_problem_parse(f->ctx, "a.ini", text, sizeof text - 1, NULL, 0, &p), KEDGE_OK);
  assert_int_equal(kedge_problem_setting_count(p), 3);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(kedge_problem_get_setting(p, i, &section, &key, &value), KEDGE_OK);
    assert_string_equal(section, expected[i][0]);
    assert_string_equal(key, expected[i][1]);
    if (expected[i][2])
      assert_string_equal(value, expected[i][2]);
    else
      assert_null(value);
  }
  assert_int_equal(kedge_problem_get_setting(p, 3, &section, &key, &value), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(f->ctx),
                      "kedge_problem_get_setting: index is 3 and there are 3 settings");
  assert_int_equal(kedge_problem_set(p, "region iron", "", ""), KEDGE_OK);
  assert_int_equal(p->n_regions, 2);
  assert_int_equal(kedge_problem_set(p, "boundary iron", "", ""), KEDGE_ERR_INPUT);
  kedge_problem_destroy(p);
}

static void a_written_problem_is_read_back_or_refused(void **state)
{
  static const char *const bad[][3] = {{"boundary a]b", "type", "neumann"},
                                       {"region a ;b", "reaction", "1"},
                                       {"output", "file", "a #1.hdf"},
                                       {"output", "file", " a.hdf"}};
  const fixture *f = *state;
  char path[] = "/tmp/kedge-problem-XXXXXX";
  kedge_problem *p, *read;
  struct stat info;
  assert_true(close(mkstemp(path)) == 0 && chmod(path, 0640) == 0);
  assert_int_equal(kedge_problem_create(f->ctx, &p), KEDGE_OK);
  assert_int_equal(kedge_problem_set(p, "mesh", "file", "here/a.msh"), KEDGE_OK);
  assert_int_equal(kedge_problem_set(p, "equation", "source", " x +\n\n  y "), KEDGE_OK);
  assert_int_equal(kedge_problem_set(p, "region  W\xc3\xa4nde ", "", ""), KEDGE_OK);
  assert_int_equal(kedge_problem_write(p, path), KEDGE_OK);
  assert_int_equal(kedge_problem_read(f->ctx, path, NULL, 0, &read), KEDGE_OK);
  assert_int_equal(read->settings.n, 3);
  assert_string_equal(kg_settings_find(&read->settings, "equation", "source")->value, "x +\n\ny");
  assert_non_null(kg_settings_find(&read->settings, "region W\xc3\xa4nde", ""));
  const char *const mesh = kedge_problem_mesh_file(read);  // that of the other, from anywhere
  assert_true(mesh[0] == '/' && strcmp(mesh + strlen(mesh) - 11, "/here/a.msh") == 0);
  kedge_problem_destroy(read);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    kedge_problem *other;
    assert_int_equal(kedge_problem_create(f->ctx, &other), KEDGE_OK);
    assert_int_equal(kedge_problem_set(other, bad[i][0], bad[i][1], bad[i][2]), KEDGE_OK);
    assert_int_equal(kedge_problem_write(other, path), KEDGE_ERR_INPUT);
    assert_non_null(strstr(kedge_context_error(f->ctx), "a problem file cannot hold"));
    kedge_problem_destroy(other);
  }
  double two = 2;
  assert_int_equal(kedge_problem_set_source(p, scaled_sum, &two), KEDGE_OK);
  assert_int_equal(kedge_problem_write(p, path), KEDGE_ERR_INPUT);
  assert_string_equal(
      kedge_context_error(f->ctx),
      "[equation] source is a function; a problem file holds expressions as text alone");
  assert_int_equal(kedge_problem_write(NULL, path), KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_write(p, NULL), KEDGE_ERR_ARG);
  assert_true(stat(path, &info) == 0 && (info.st_mode & 0777) == 0640);
  unlink(path);
  kedge_problem_destroy(p);
}

static void settings_are_made_all_at_once_or_none(void **state)
{
  const fixture *f = *state;
  double two = 2, three = 3, five = 5;
  const kedge_setting list[] = {
      {"equation", "source", "k*x", {NULL}, {NULL}},  // before the parameter that it takes
      {"parameters", "k", "4", {NULL}, {NULL}},
      {"equation", "reaction", NULL, {scaled_sum}, {&five}},
      {"region iron", "", "", {NULL}, {NULL}},
      {"region air",
       "diffusion",
       NULL,
       {scaled_sum, scaled_sum, scaled_sum},
       {&two, &three, &five}},
      {"exact", "u", NULL, {scaled_sum, scaled_sum, scaled_sum}, {&two, &three, &five}},
      {"space", "order", "3", {NULL}, {NULL}},
      {"space", "order", "4", {NULL}, {NULL}},
  };
  const int n = sizeof list / sizeof *list;
  assert_int_equal(kedge_problem_set_all(f->problem, n, list), KEDGE_OK);
  const kedge_problem *p = f->problem;
  assert_int_equal(p->order, 4);
  assert_int_equal(p->n_regions, 2);
  assert_true(at(&p->equation.source, 7, 2) == 28);
  assert_true(at(&p->equation.reaction, 1, 2) == 15);
  assert_int_equal(p->regions[1].n_diffusion, 3);
  assert_true(at(&p->regions[1].diffusion[2], 1, 2) == 15);
  assert_true(at(&p->exact_u, 1, 2) == 6);
  assert_true(at(&p->exact_dx, 1, 2) == 9);
  assert_true(at(&p->exact_dy, 1, 2) == 15);
  const kedge_setting bad[] = {{"space", "order", "2", {NULL}, {NULL}},
                               {"space", "order", "13", {NULL}, {NULL}}};
  assert_int_equal(kedge_problem_set_all(f->problem, 2, bad), KEDGE_ERR_INPUT);
  assert_int_equal(p->order, 4);
  assert_int_equal(kedge_problem_set_all(f->problem, 0, NULL), KEDGE_OK);
}

static void settings_that_lack_something_are_refused(void **state)
{
  const fixture *f = *state;
  static const struct {
    kedge_setting setting;
    kedge_status status;
    const char *sentence;
  } cases[] = {
      {{"space", NULL, "2", {NULL}, {NULL}},
       KEDGE_ERR_ARG,
       "kedge_problem_set_all: settings[1]: section or key is NULL"},
      {{"equation", "source", NULL, {NULL}, {NULL}},
       KEDGE_ERR_ARG,
       "kedge_problem_set_all: settings[1], [equation] source: it has a value as text, or one "
       "function, or three, four or six"},
      {{"equation", "source", "x", {scaled_sum}, {NULL}},
       KEDGE_ERR_ARG,
       "kedge_problem_set_all: settings[1], [equation] source: it has a value as text, or one "
       "function, or three, four or six"},
      {{"equation", "diffusion", NULL, {scaled_sum, scaled_sum}, {NULL}},
       KEDGE_ERR_ARG,
       "kedge_problem_set_all: settings[1], [equation] diffusion: it has a value as text, or one "
       "function, or three, four or six"},
      {{"exact", "u", NULL, {scaled_sum}, {NULL}},
       KEDGE_ERR_INPUT,
       "[exact] u takes no function: diffusion, reaction and source of [equation] and [region "
       "NAME] do, value and coefficient of [boundary NAME], and u of [initial]; u of [exact] takes "
       "three, with its "
       "gradient, in space four"},
      {{"equation", "source", NULL, {scaled_sum, scaled_sum, scaled_sum}, {NULL}},
       KEDGE_ERR_INPUT,
       "[equation] source takes no three functions: diffusion of [equation] and [region NAME] "
       "takes three, in space six, and u of [exact] three, in space four"},
      {{"equation", "diffusion", NULL, {scaled_sum, scaled_sum, scaled_sum, scaled_sum}, {NULL}},
       KEDGE_ERR_INPUT,
       "[equation] diffusion takes no four functions: diffusion of [equation] and [region NAME] "
       "takes three, in space six, and u of [exact] three, in space four"},
      {{"exact", "u", NULL, {scaled_sum, NULL, NULL, scaled_sum}, {NULL}},
       KEDGE_ERR_ARG,
       "kedge_problem_set_all: settings[1], [exact] u: it has a value as text, or one function, or "
       "three, four or six"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const kedge_setting list[] = {{"space", "order", "7", {NULL}, {NULL}}, cases[i].setting};
    assert_int_equal(kedge_problem_set_all(f->problem, 2, list), cases[i].status);
    assert_string_equal(kedge_context_error(f->ctx), cases[i].sentence);
    assert_int_equal(f->problem->order, 1);
  }
  assert_int_equal(kedge_problem_set_all(f->problem, 1, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_set_all(NULL, 0, NULL), KEDGE_ERR_ARG);
}

static void settings_are_taken_back_from_a_copy(void **state)
{
  fixture *const f = *state;
  kedge_problem *copy;
  assert_int_equal(kedge_problem_create(f->ctx, &copy), KEDGE_OK);
  assert_int_equal(kedge_problem_assign(copy, f->problem), KEDGE_OK);
  const int n = kedge_problem_setting_count(f->problem);
  assert_int_equal(kedge_problem_set(f->problem, "space", "order", "5"), KEDGE_OK);
  assert_int_equal(kedge_problem_set(f->problem, "region iron", "diffusion", "2"), KEDGE_OK);
  assert_int_equal(kedge_problem_assign(f->problem, copy), KEDGE_OK);
  kedge_problem_destroy(copy);
  assert_int_equal(kedge_problem_setting_count(f->problem), n);
  assert_int_equal(f->problem->order, 1);
  assert_int_equal(f->problem->n_regions, 0);
  assert_int_equal(kedge_problem_assign(f->problem, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_problem_assign(NULL, f->problem), KEDGE_ERR_ARG);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(setting_again_replaces),
      FIXTURE_TEST(a_parameter_that_changes_changes_what_uses_it),
      FIXTURE_TEST(a_refused_setting_changes_nothing),
      FIXTURE_TEST(functions_of_the_caller_and_text_replace_each_other),
      FIXTURE_TEST(tensors_and_gradients_of_other_dimensions_replace_each_other),
      FIXTURE_TEST(an_exact_solution_too_large_to_differentiate_is_refused),
      FIXTURE_TEST(an_expression_too_long_is_refused),
      FIXTURE_TEST(wrong_arguments_are_errors_not_crashes),
      FIXTURE_TEST(settings_are_told_in_their_order),
      FIXTURE_TEST(a_written_problem_is_read_back_or_refused),
      FIXTURE_TEST(settings_are_made_all_at_once_or_none),
      FIXTURE_TEST(settings_that_lack_something_are_refused),
      FIXTURE_TEST(settings_are_taken_back_from_a_copy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
