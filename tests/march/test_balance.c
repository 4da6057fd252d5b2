// The balance of a step: what is stored is what has come in.
#include "moving.h"

/// A problem with all that can come in: a source, a reaction, three kinds of conditions.
#define BALANCED(generate, left, top)                                                  \
  {"mesh", "generate", generate}, {"space", "order", "2"}, {"initial", "u", "x*y"},    \
      {"equation", "diffusion", "0.6"}, {"equation", "reaction", "0.4"},               \
      {"equation", "source", "1+x*sin(3*t)"}, {"boundary " left, "type", "robin"},     \
      {"boundary " left, "coefficient", "1.5"}, {"boundary " left, "value", "t"},      \
      {"boundary " top, "type", "neumann"}, {"boundary " top, "value", "cos(t)"},      \
      {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x*y"}, \
  {                                                                                    \
    "solver", "tolerance", "1e-13"                                                     \
  }
#define WAVY                                                                        \
  {                                                                                 \
    "mesh", "map", "x+0.05*sin(2*pi*x)*sin(2*pi*y), y+0.05*sin(2*pi*x)*sin(2*pi*y)" \
  }

enum { CASES = 6 };

static const setting *case_of(int i)
{
  static const setting cases[CASES][18] = {
      {BALANCED("square 3", "left", "top"), {"equation", "mass", "2"}},
      {BALANCED("quads 3", "left", "top"), {"equation", "mass", "2"}},
      {BALANCED("mixed 4", "left", "top"), {"equation", "mass", "1+x+t"}},
      {BALANCED("square 3", "left", "top"), WAVY, {"mesh", "geometry", "2"}},
      {BALANCED("cube 2", "x0", "z1"), {"equation", "mass", "2"}},
      {BALANCED("cube 2", "x0", "z1"), {"equation", "mass", "1+z"}},
  };
  return cases[i];
}

/// Sums over regions are those of the whole.
static void assert_sums(const kedge_report *r)
{
  double storage = 0.0, source = 0.0;
  for (int i = 0; i < r->n_regions; ++i) {
    storage += r->regions[i]->storage;
    source += r->regions[i]->source;
  }
  assert_at_most(fabs(storage - r->storage), 1e-14 * fabs(r->storage));
  assert_at_most(fabs(source - r->balance.source), 1e-14 * fabs(source));
}

static void what_is_stored_has_come_in(void **state)
{
  static const char *const schemes[] = {"euler", "trbdf2", "esdirk4"};
  (void)state;
  for (int i = 0; i < 3 * CASES; ++i) {
    if (test_is_quick() && (i % 3 != 1 || i / 3 % 3 != 0)) continue;
    moving m = moving_of(case_of(i / 3), schemes[i % 3], 0.5, 3);
    while (!kedge_march_ended(m.march)) {
      must(m.ctx, kedge_march_step(m.march));
      const kedge_report r = report_now(&m);
      const kedge_balance *const b = &r.balance;
      const double left = r.storage + b->reaction - b->source - b->flux;
      assert_at_most(fabs(left), 1e-11 * (fabs(r.storage) + fabs(b->flux) + fabs(b->source)));
      assert_at_most(fabs(left - b->remainder), 1e-11);
      assert_true(fabs(r.storage) > 1e-3);
      assert_sums(&r);
    }
    moving_free(&m);
  }
}

/// The integral of u, of which the mass is twice as much.
static double content(const kedge_report *r)
{
  double sum = 0.0;
  for (int i = 0; i < r->n_regions; ++i) sum += 2.0 * r->regions[i]->integral;
  return sum;
}

static void a_step_of_euler_changes_the_content_by_its_storage(void **state)
{
  (void)state;
  moving m = moving_of(case_of(0), "euler", 0.6, 5);
  double before = 0.0;
  for (int i = 0; i < 5; ++i) {
    must(m.ctx, kedge_march_step(m.march));
    const kedge_report r = report_now(&m);
    const double now = content(&r);
    if (i > 0) assert_at_most(fabs(now - before - 0.6 / 5 * r.storage), 1e-12);
    before = now;
  }
  moving_free(&m);
}

/// What comes in by a stage.
static double income(const moving *m)
{
  const kedge_solution *solution;
  kedge_report r = KEDGE_REPORT_INIT;
  must(m->ctx, m->march->method->solution(m->march->state, &solution));
  must(m->ctx, kedge_solution_report(solution, &r));
  return r.balance.source + r.balance.flux - r.balance.reaction;
}

/// The stages of a step, and the sum of what comes in by them, with their weights.
/// @param[in,out] last  what came in by the last stage of the step before; by that of this one
static double income_of_step(const moving *m, const kg_tableau *scheme, double t, double step,
                             double *last)
{
  const kg_march_method *const method = m->march->method;
  const int end = scheme->n_stages - 1;
  double in[KG_STAGES_MAX] = {*last}, sum = 0.0;
  must(m->ctx, method->prepare(m->march->state, 1.0 / (scheme->gamma * step)));
  for (int i = scheme->explicit_first; i <= end; ++i) {
    kg_march_stage stage = {t + scheme->c[i] * step, i, i, {0}, i == end};
    for (int j = 0; j < i; ++j) stage.factor[j] = step * scheme->a[i][j];
    must(m->ctx, method->stage(m->march->state, &stage));
    if (i == end) must(m->ctx, method->accept(m->march->state));
    in[i] = income(m);
  }
  for (int i = 0; i < end; ++i) sum += step * scheme->a[end][i] * in[i];
  *last = in[end];
  return sum + step * scheme->gamma * in[end];
}

static void a_step_changes_the_content_by_the_weighted_income_of_its_stages(void **state)
{
  static const kg_tableau *const schemes[] = {&kg_tableau_trbdf2, &kg_tableau_esdirk4};
  const double step = 0.15;
  (void)state;
  for (int i = 0; i < (test_is_quick() ? 1 : 2); ++i) {
    moving m = moving_of(case_of(0), schemes[i]->name, 0.6, 4);
    double before = 2.0 * 0.25, last = 0.0;  // of x y, twice
    for (int k = 0; k < 3; ++k) {
      const kg_tableau *const scheme = k == 0 ? schemes[i]->first : schemes[i];
      const double in = income_of_step(&m, scheme, k * step, step, &last);
      const kedge_solution *solution;
      kedge_report r = KEDGE_REPORT_INIT;
      must(m.ctx, m.march->method->solution(m.march->state, &solution));
      must(m.ctx, kedge_solution_report(solution, &r));
      assert_at_most(fabs(content(&r) - before - in), 1e-12);
      assert_true(fabs(in) > 1e-3);
      before = content(&r);
    }
    moving_free(&m);
  }
}

/// u is (1 + 2 t) (x^2 - x y + y) and the mass 2, on the unit square.
static void storage_is_the_integral_of_mass_times_u_t(void **state)
{
  const setting *const settings =
      SETTINGS({"mesh", "generate", "square 3"}, {"space", "order", "2"}, {"equation", "mass", "2"},
               {"equation", "reaction", "1"}, {"exact", "u", "(1+2*t)*(x^2-x*y+y)"},
               {"initial", "u", "x^2-x*y+y"}, {"boundary default", "type", "dirichlet"},
               {"solver", "tolerance", "1e-13"});
  (void)state;
  moving m = moving_of(settings, "esdirk4", 1.0, 4);
  march_on(&m);
  const kedge_report r = report_now(&m);
  assert_at_most(fabs(r.storage - 4.0 * (1.0 / 3.0 - 0.25 + 0.5)), 1e-10);
  assert_at_most(fabs(r.balance.reaction - 3.0 * (1.0 / 3.0 - 0.25 + 0.5)), 1e-10);
  moving_free(&m);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_stored_has_come_in),
      cmocka_unit_test(a_step_of_euler_changes_the_content_by_its_storage),
      cmocka_unit_test(a_step_changes_the_content_by_the_weighted_income_of_its_stages),
      cmocka_unit_test(storage_is_the_integral_of_mass_times_u_t),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
