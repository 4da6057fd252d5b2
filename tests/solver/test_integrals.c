// Integrals of expressions over domain, regions and lines, against formulas and the numbers of the
// report.
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "kedge/kedge.h"
#include "moved.h"
#include "solution/solution.h"
#include "support.h"

static kedge_status create(const kedge_mesh *mesh, const char *of, const char *on, int quadrature,
                           kedge_integral **out)
{
  kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
  options.of = of;
  options.on = on;
  options.quadrature = quadrature;
  return kedge_integral_create(ctx, mesh, &options, out);
}

static double integral_of(const kedge_mesh *mesh, const kedge_solution *solution, const char *of,
                          const char *on)
{
  kedge_integral *integral;
  double value;
  must(ctx, create(mesh, of, on, 0, &integral));
  must(ctx, kedge_integral_evaluate(integral, solution, &value));
  kedge_integral_destroy(integral);
  return value;
}

static int32_t halves(int n, int i, int j)
{
  (void)j;
  return 2 * i < n ? 11 : 12;
}

/// Meshes of the unit square: straight and curved, of both shapes.
static const struct shape {
  enum cut cut;
  int geometry;
  moving *to;
} shapes[] = {{ALL, 1, shaken},       {WHOLE, 1, stay}, {WHOLE, 1, shaken},
              {CHECKERED, 1, shaken}, {ALL, 3, wave},   {CHECKERED, 2, wave}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static kedge_mesh *shape_mesh(int i)
{
  return grid_of(ctx, 5, shapes[i].cut, shapes[i].geometry, shapes[i].to, halves);
}

static void polynomials_of_the_place_are_exact(void **state)
{
  (void)state;
  for (int i = 0; i < SHAPES; ++i) {
    kedge_mesh *const mesh = shape_mesh(i);
    const double all[] = {integral_of(mesh, NULL, "1", NULL), integral_of(mesh, NULL, "x", "all"),
                          integral_of(mesh, NULL, "x^3*y^2", NULL),
                          integral_of(mesh, NULL, "(x + 1)^2*y^9", NULL)};
    const double exact[] = {1.0, 0.5, 1.0 / 12.0, 7.0 / 30.0};
    assert_close(4, all, exact, rounding(2000));
    // The two regions add up to the domain, in other blocks of elements.
    const double sum =
        integral_of(mesh, NULL, "x*region", "11") + integral_of(mesh, NULL, "x*region", "12");
    assert_at_most(fabs(sum - integral_of(mesh, NULL, "x*region", NULL)), 12.0 * rounding(2000));
    kedge_mesh_destroy(mesh);
  }
}

static void line_integrals_are_exact_on_straight_sides(void **state)
{
  (void)state;
  for (int i = 0; i < SHAPES; ++i) {
    kedge_mesh *const mesh = shape_mesh(i);
    const double all[] = {
        integral_of(mesh, NULL, "x^7", "1"), integral_of(mesh, NULL, "normal_x - 2*normal_y", "2"),
        integral_of(mesh, NULL, "normal_y*y*x", "3"), integral_of(mesh, NULL, "normal_x", "4")};
    const double exact[] = {0.125, 1.0, 0.5, -1.0};
    assert_close(4, all, exact, rounding(200));
    kedge_mesh_destroy(mesh);
  }
}

/// A quarter of a ring of radii 1 and 2, whose arcs have length pi / 2 and pi.
static void curved_sides_follow_the_circles(void **state)
{
  (void)state;
  for (int cut = WHOLE; cut <= ALL; cut += ALL - WHOLE) {
    kedge_mesh *const mesh = moved(ctx, 5, (enum cut)cut, 5, ring);
    const double arcs[] = {integral_of(mesh, NULL, "1", "2"), integral_of(mesh, NULL, "1", "4"),
                           integral_of(mesh, NULL, "(x*normal_x + y*normal_y)*exp(x*0)", "2"),
                           integral_of(mesh, NULL, "sqrt(x^2 + y^2)", "4")};
    const double exact[] = {M_PI, 0.5 * M_PI, 2.0 * M_PI, 0.5 * M_PI};
    assert_close(4, arcs, exact, 1e-8);
    // The divergence theorem holds on the mesh's own curves, to rounding.
    double flow = 0.0;
    const char *const groups[] = {"1", "2", "3", "4"};
    for (int g = 0; g < 4; ++g)
      flow += integral_of(mesh, NULL, "x*normal_x + y*normal_y", groups[g]);
    assert_at_most(fabs(0.5 * flow - integral_of(mesh, NULL, "1", NULL)), rounding(4000));
    kedge_mesh_destroy(mesh);
  }
}

#define SIDES                                                                 \
  {"boundary 4", "type", "dirichlet"}, {"boundary 4", "value", "1 + y"},      \
      {"boundary 2", "type", "dirichlet"}, {"boundary 2", "value", "sin(y)"}, \
      {"boundary 1", "type", "robin"}, {"boundary 1", "coefficient", "2"},    \
      {"boundary 1", "value", "x"}, {"boundary default", "type", "neumann"},  \
  {                                                                           \
    "boundary default", "value", "cos(x)"                                     \
  }

static const setting *const problems[] = {
    SETTINGS(SIDES, {"space", "order", "3"}, {"equation", "source", "x"},
             {"equation", "diffusion", "2.5"}, {"equation", "reaction", "0.7"}),
    SETTINGS(SIDES, {"space", "order", "2"}, {"equation", "diffusion", "1 + x*y"},
             {"equation", "source", "1"}),
    SETTINGS(SIDES, {"space", "order", "2"}, {"region 11", "diffusion", "2, 0.5, 1"},
             {"region 12", "diffusion", "30"}),
    SETTINGS(SIDES, {"space", "order", "4"}, {"space", "stabilization", "3/h"},
             {"space", "quadrature", "7"}, {"equation", "diffusion", "1, 0.5*x, 2"}),
    SETTINGS(SIDES, {"space", "order", "1"}, {"space", "stabilization", "5*h"})};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/// What differs by the residual of the solve does not count: both read the same fields.
static void check_numbers(const kedge_mesh *mesh, const kedge_solution *s)
{
  kedge_report r = KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(s, &r));
  double most = 0.0;
  for (int g = 0; g < r.n_groups; ++g) most = fmax(most, fabs(r.groups[g]->flux));
  for (int g = 0; g < r.n_groups; ++g) {
    const kedge_group_values *const of = r.groups[g];
    const double flux = integral_of(mesh, s, "flux", of->name);
    const double trace = integral_of(mesh, s, "trace", of->name);
    assert_at_most(fabs(flux - of->flux), most * 20.0 * rounding(1000));
    assert_at_most(fabs(trace - of->integral), 3.0 * rounding(1000));
  }
  for (int i = 0; i < r.n_regions; ++i) {
    const double u = integral_of(mesh, s, "u", r.regions[i]->name);
    assert_at_most(fabs(u - r.regions[i]->integral), 3.0 * rounding(2000));
  }
}

static void fluxes_and_means_are_those_of_the_report(void **state)
{
  (void)state;
  for (int i = 0; i < SHAPES; ++i) {
    kedge_mesh *const mesh = shape_mesh(i);
    for (int k = 0; k < PROBLEMS; ++k) {
      if (test_is_quick() && i != k) continue;
      kedge_solution *const s = solve(ctx, mesh, problems[k]);
      check_numbers(mesh, s);
      kedge_solution_destroy(s);
    }
    kedge_mesh_destroy(mesh);
  }
}

/// u = 1 + x + 2 y and its fields are in the spaces of straight elements.
static void products_of_fields_are_exact(void **state)
{
  (void)state;
  const setting *const settings =
      SETTINGS({"space", "order", "2"}, {"equation", "diffusion", "3"},
               {"exact", "u", "1 + x + 2*y"}, {"boundary default", "type", "dirichlet"});
  for (int i = 0; i < SHAPES; ++i) {
    if (shapes[i].geometry > 1) continue;
    kedge_mesh *const mesh = shape_mesh(i);
    kedge_solution *const s = solve(ctx, mesh, settings);
    const double all[] = {integral_of(mesh, s, "(u - 1 - x - 2*y)^2 + u*u_star", NULL),
                          integral_of(mesh, s, "qx*sigma_x + qy*sigma_y", NULL),
                          integral_of(mesh, s, "u^3 - u_star^3 + u_star", NULL),
                          integral_of(mesh, s, "u*x", "2"),
                          integral_of(mesh, s, "flux*u_star", "1"),
                          integral_of(mesh, s, "sigma_x > 2.9 ? 2 : 0", "all")};
    const double exact[] = {
        1.0 + 1.0 / 3.0 + 4.0 / 3.0 + 1.0 + 2.0 + 1.0, 15.0, 2.5, 3.0, -9.0, 2.0};
    assert_close(6, all, exact, 1e-8);
    kedge_solution_destroy(s);
    kedge_mesh_destroy(mesh);
  }
}

/// Four squares a side, of two triangles each; group 5 is x = 1/2, between regions 11 and 12, group
/// 6 is y = 1/2 on the right, inside region 12, and group 7 the side y = 0.
static kedge_mesh *mesh_with_lines(void)
{
  enum { N = 4, ROW = N + 1 };
  double vertices[2 * ROW * ROW];
  int32_t triangles[6 * N * N], tag[2 * N * N], lines[2 * (2 * N + N / 2)], tags[2 * N + N / 2];
  for (int v = 0; v < ROW * ROW; ++v) {
    vertices[2 * v] = (double)(v % ROW) / N;
    vertices[2 * v + 1] = (double)(v / ROW) / N;
  }
  for (int q = 0; q < N * N; ++q) {
    const int32_t a = q / N * ROW + q % N, b = a + 1, c = b + ROW, d = a + ROW;
    const int32_t both[6] = {a, b, c, a, c, d};
    memcpy(triangles + 6 * q, both, sizeof both);
    tag[2 * q] = tag[2 * q + 1] = 2 * (q % N) < N ? 11 : 12;
  }
  int n = 0;
  for (int k = 0; k < N; ++k) {
    lines[2 * n] = k * ROW + N / 2, lines[2 * n + 1] = (k + 1) * ROW + N / 2, tags[n++] = 5;
    lines[2 * n] = k, lines[2 * n + 1] = k + 1, tags[n++] = 7;
  }
  for (int i = N / 2; i < N; ++i)
    lines[2 * n] = N / 2 * ROW + i, lines[2 * n + 1] = N / 2 * ROW + i + 1, tags[n++] = 6;
  const kedge_mesh_arrays arrays = {.n_vertices = ROW * ROW,
                                    .vertices = vertices,
                                    .n_triangles = 2 * N * N,
                                    .triangles = triangles,
                                    .regions = tag,
                                    .n_lines = n,
                                    .lines = lines,
                                    .line_tags = tags};
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_create(ctx, &arrays, &mesh));
  return mesh;
}

static const char *refusal(const kedge_mesh *mesh, const char *of, const char *on)
{
  kedge_integral *integral = NULL;
  assert_int_equal(create(mesh, of, on, 0, &integral), KEDGE_ERR_INPUT);
  assert_null(integral);
  return kedge_context_error(ctx);
}

static void lines_inside_are_seen_from_the_lower_region(void **state)
{
  (void)state;
  kedge_mesh *const mesh = mesh_with_lines();
  kedge_solution *const s = solve(
      ctx, mesh,
      SETTINGS({"space", "order", "2"}, {"region 11", "diffusion", "2"},
               {"region 12", "diffusion", "5"}, {"equation", "source", "x"},
               {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "y"}));
  assert_at_most(fabs(integral_of(mesh, s, "normal_x", "5") - 1.0), rounding(100));
  assert_at_most(fabs(integral_of(mesh, s, "x", "6") - 0.375), rounding(100));
  assert_at_most(fabs(integral_of(mesh, s, "region", "5") - 11.0), 11.0 * rounding(100));
  kedge_report r = KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(s, &r));
  int seen = 0;
  for (int g = 0; g < r.n_groups; ++g) {
    if (!r.groups[g]->inside) continue;
    const char *const name = r.groups[g]->name;
    assert_at_most(fabs(integral_of(mesh, s, "trace", name) - r.groups[g]->integral),
                   rounding(100));
    assert_at_most(fabs(integral_of(mesh, s, "flux", name) - r.groups[g]->flux),
                   10.0 * rounding(1000));
    ++seen;
  }
  assert_int_equal(seen, 2);
  kedge_solution_destroy(s);
  kedge_mesh_destroy(mesh);
}

static void sums_do_not_depend_on_threads(void **state)
{
  (void)state;
  double value[3][2];
  for (int t = 0; t < 3; ++t) {
    kedge_context *const other = open_backend(test_backend(), t + 1);
    kedge_mesh *mesh;
    must(other, kedge_mesh_generate(other, "mixed 40", &mesh));
    kedge_solution *const s = solve(
        other, mesh,
        SETTINGS({"space", "order", "2"}, {"exact", "u", "sin(3*x)*y"},
                 {"solver", "max_iterations", "1"}, {"boundary default", "type", "dirichlet"}));
    const char *const on[2] = {NULL, "left"};
    for (int k = 0; k < 2; ++k) {
      kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
      options.of = k ? "flux*x + y" : "exp(x)*sigma_x";
      options.on = on[k];
      kedge_integral *integral;
      must(other, kedge_integral_create(other, mesh, &options, &integral));
      assert_int_equal(kedge_integral_evaluate(integral, NULL, &value[t][k]), KEDGE_ERR_ARG);
      must(other, kedge_integral_evaluate(integral, s, &value[t][k]));
      kedge_integral_destroy(integral);
    }
    kedge_solution_destroy(s);
    kedge_mesh_destroy(mesh);
    kedge_context_destroy(other);
  }
  assert_int_equal(memcmp(value[0], value[1], sizeof value[0]), 0);
  assert_int_equal(memcmp(value[0], value[2], sizeof value[0]), 0);
}

static double value_of(const kedge_integral *integral, const kedge_solution *solution)
{
  double value;
  must(ctx, kedge_integral_evaluate(integral, solution, &value));
  return value;
}

/// One step of the iteration: the fields need not be good.
static const setting *const unlike[] = {
    SETTINGS({"space", "order", "2"}, {"exact", "u", "sin(3*x)*y"},
             {"solver", "max_iterations", "1"}, {"boundary default", "type", "dirichlet"}),
    SETTINGS({"space", "order", "2"}, {"equation", "source", "x"},
             {"equation", "diffusion", "1 + x*y"}, {"solver", "max_iterations", "1"},
             {"boundary left", "type", "neumann"}, {"boundary left", "value", "y"},
             {"boundary default", "value", "x"}, {"boundary default", "type", "dirichlet"}),
    SETTINGS({"space", "order", "3"}, {"exact", "u", "sin(3*x)*y"},
             {"solver", "max_iterations", "1"}, {"boundary default", "type", "dirichlet"})};
enum { UNLIKE = sizeof unlike / sizeof *unlike };

static void one_integral_serves_solutions_of_any_order_and_boundary(void **state)
{
  (void)state;
  static const char *const of[] = {"flux*x + trace + u", "u^2*x + sigma_y"};
  static const char *const on[] = {"left", "domain"};
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "mixed 13", &mesh));
  kedge_solution *s[UNLIKE];
  for (int i = 0; i < UNLIKE; ++i) s[i] = solve(ctx, mesh, unlike[i]);
  for (int k = 0; k < 2; ++k) {
    kedge_integral *integral;
    must(ctx, create(mesh, of[k], on[k], 0, &integral));
    for (int turn = 0; turn < 2 * UNLIKE; ++turn) {
      const kedge_solution *const one = s[turn % UNLIKE];
      assert_true(value_of(integral, one) == integral_of(mesh, one, of[k], on[k]));
    }
    kedge_solution_destroy(s[k]);
    s[k] = solve(ctx, mesh, unlike[k]);
    assert_true(value_of(integral, s[k]) == integral_of(mesh, s[k], of[k], on[k]));
    kedge_integral_destroy(integral);
  }
  for (int i = 0; i < UNLIKE; ++i) kedge_solution_destroy(s[i]);
  kedge_mesh_destroy(mesh);
}

/// A solution of a solver, which leaves it on the device.
static kedge_solution *left_there(kedge_solver *solver)
{
  kedge_solution *s = NULL;
  must(ctx, kedge_solver_solve(solver, NULL, &s));
  assert_int_equal(s->place, KG_ON_DEVICE);
  return s;
}

/// Elements at the left side lie apart in the memory of a field.
static void lines_bring_the_elements_beside_them_alone(void **state)
{
  (void)state;
  static const char *const of = "flux*y + trace*u_star + qx";
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 150", &mesh));
  const bool is_apart = test_backend() != KEDGE_BACKEND_HOST;
  for (int i = 0; i < 2; ++i) {
    kedge_problem *const problem = problem_of(ctx, unlike[i]);
    kedge_solver *solver;
    must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
    kedge_solution *const s = left_there(solver), *const t = left_there(solver);
    kedge_integral *integral;
    must(ctx, create(mesh, of, "left", 0, &integral));
    const double value = value_of(integral, s);
    for (int f = 0; f < KG_HELD_FIELDS; ++f)
      assert_int_equal(s->held[f].is_current, kg_holds(s, f) && !is_apart);
    must(ctx, kg_solution_bring(s, (1u << KG_HELD_FIELDS) - 1));
    assert_true(value_of(integral, s) == value);
    kedge_integral_destroy(integral);
    // The whole domain brings what it names; whoever reads it next finds it there.
    integral_of(mesh, t, "u", NULL);
    assert_true(t->held[KG_HELD_U].is_current);
    assert_int_equal(t->held[KG_HELD_FLUX].is_current, !is_apart);
    kedge_solution_destroy(t);
    kedge_solution_destroy(s);
    kedge_solver_destroy(solver);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

static void be_x_or_the_normal(void *user, const kedge_points *points, double *value)
{
  assert_int_equal(points->normal_x != NULL, *(bool *)user);
  for (size_t i = 0; i < points->n; ++i)
    value[i] = points->normal_y ? points->normal_y[i] : points->x[i];
}

static void functions_of_the_caller_are_integrated(void **state)
{
  (void)state;
  kedge_mesh *const mesh = shape_mesh(3);
  for (int lines = 0; lines < 2; ++lines) {
    bool has_normals = lines;
    kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
    options.function = be_x_or_the_normal;
    options.user = &has_normals;
    options.on = lines ? "1" : NULL;
    kedge_integral *integral;
    double value;
    must(ctx, kedge_integral_create(ctx, mesh, &options, &integral));
    must(ctx, kedge_integral_evaluate(integral, NULL, &value));
    assert_at_most(fabs(value - (lines ? -1.0 : 0.5)), rounding(1000));
    kedge_integral_destroy(integral);
  }
  kedge_mesh_destroy(mesh);
}

static void sections_of_the_problem_are_integrals(void **state)
{
  (void)state;
  kedge_mesh *const mesh = shape_mesh(0);
  const setting *const settings = SETTINGS(
      {"parameters", "k", "3"}, {"exact", "u", "x"}, {"boundary default", "type", "dirichlet"},
      {"integral heat", "on", "12"}, {"integral heat", "of", "k*u"},
      {"integral heat", "quadrature", "4"}, {"integral  two words", "of", "1"});
  kedge_problem *problem = problem_of(ctx, settings);
  kedge_solution *s;
  must(ctx, kedge_solve(ctx, mesh, problem, &s));
  assert_string_equal(kedge_problem_integral(problem, 0), "heat");
  assert_string_equal(kedge_problem_integral(problem, 1), "two words");
  assert_null(kedge_problem_integral(problem, 2));
  assert_null(kedge_problem_integral(problem, -1));
  kedge_integral *integral;
  kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
  options.problem = problem;
  options.name = "heat";
  must(ctx, kedge_integral_create(ctx, mesh, &options, &integral));
  options.name = "heap";
  kedge_integral *none;
  assert_int_equal(kedge_integral_create(ctx, mesh, &options, &none), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx),
                      "kedge_integral_create: the problem has no section [integral heap]");
  kedge_problem_destroy(problem);  // the integral does without it
  double value;
  must(ctx, kedge_integral_evaluate(integral, s, &value));
  assert_at_most(fabs(value - 3.0 * integral_of(mesh, s, "x", "12")), 1e-8);
  kedge_integral_destroy(integral);
  kedge_solution_destroy(s);
  kedge_mesh_destroy(mesh);
}

static const char *refused_section(const kedge_mesh *mesh, const char *key, const char *value)
{
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"exact", "u", "x"}, {"boundary default", "type", "dirichlet"},
                               {"integral heat", key, value}));
  const char *const sentence = refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT);
  kedge_problem_destroy(problem);
  return sentence;
}

static void what_has_no_value_is_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 2", &mesh));
  assert_string_equal(refusal(mesh, "u", "lefft"),
                      "the integral: square 2 has no group or region 'lefft' among left, right, "
                      "bottom, top, domain; did you mean 'left'?");
  assert_string_equal(refusal(mesh, "u", ""),
                      "the integral: square 2 has no group or region '' among left, right, bottom, "
                      "top, domain");
  assert_string_equal(refusal(mesh, "u*normal_x", NULL),
                      "the integral: normal_x has a value on lines alone, and 'all' is the whole "
                      "domain; take a group of lines with on");
  assert_string_equal(refusal(mesh, "flux", "domain"),
                      "the integral: flux has a value on lines alone, and 'domain' is a region; "
                      "take a group of lines with on");
  assert_string_equal(
      refusal(mesh, "2*v", NULL),
      "column 3 of the integral of '2*v': unknown name 'v': known here are x, y, "
      "z, t, region, pi, u, qx, qy, u_star, sigma_x, sigma_y, qz, sigma_z, normal_x, normal_y, "
      "normal_z, flux, trace and [parameters]");
  assert_string_equal(refusal(mesh, "u_stra", NULL),
                      "column 1 of the integral of 'u_stra': unknown name 'u_stra': did you mean "
                      "'u_star'?");
  assert_string_equal(refused_section(mesh, "on", "left"),
                      "[integral heat]: there is no expression; add of = u, for example");
  assert_string_equal(refused_section(mesh, "of", "trace"),
                      "[integral heat]: trace has a value on lines alone, and 'all' is the whole "
                      "domain; take a group of lines with on");
  kedge_integral *integral;
  assert_int_equal(create(mesh, "u", NULL, 41, &integral), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx),
                      "the integral: quadrature is 41; it is 1 to 40 points, or 0");
  assert_int_equal(create(mesh, NULL, NULL, 0, &integral), KEDGE_ERR_ARG);
  kedge_mesh_destroy(mesh);
}

/// The sentence with which a value is refused.
static const char *no_value(const kedge_mesh *mesh, const kedge_integral_options *options)
{
  kedge_integral *integral;
  double value = 5.0;
  must(ctx, kedge_integral_create(ctx, mesh, options, &integral));
  assert_int_equal(kedge_integral_evaluate(integral, NULL, &value), KEDGE_ERR_INPUT);
  assert_true(value == 5.0);
  kedge_integral_destroy(integral);
  return kedge_context_error(ctx);
}

static void be_infinite_on_the_right(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = points->region[i] == 12.0 ? INFINITY : 1.0;
}

static void a_value_that_is_not_finite_is_refused_with_its_place(void **state)
{
  (void)state;
  kedge_mesh *const mesh = grid_of(ctx, 2, WHOLE, 1, stay, halves);
  kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
  options.quadrature = 1;
  options.of = "sqrt(0.5 - y)";
  assert_string_equal(no_value(mesh, &options),
                      "the integrand 'sqrt(0.5 - y)' is nan at x = 0.25, y = 0.75, in element 2 "
                      "(from 0); change it so that it is finite everywhere");
  options.of = "1/(region - 12)";
  assert_string_equal(no_value(mesh, &options),
                      "the integrand '1/(region - 12)' is inf at x = 0.75, y = 0.75, in element 3 "
                      "(from 0); change it so that it is finite everywhere");
  options.of = "0/0*x";
  options.on = "2";
  assert_string_equal(no_value(mesh, &options),
                      "the integrand '0/0*x' is nan at x = 1, y = 0.75, in element 3 (from 0); "
                      "change it so that it is finite everywhere");
  options.of = NULL;
  options.on = "all";
  options.function = be_infinite_on_the_right;
  assert_string_equal(no_value(mesh, &options),
                      "the function of the integral is inf at x = 0.75, y = 0.75, in element 3 "
                      "(from 0); change it so that it is finite everywhere");
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"boundary default", "type", "dirichlet"},
                    {"integral heat", "of", "log(x - 1)"}, {"integral heat", "quadrature", "1"}));
  const kedge_integral_options section = {
      .size = sizeof section, .problem = problem, .name = "heat"};
  assert_string_equal(no_value(mesh, &section),
                      "[integral heat]: of is nan at x = 0.25, y = 0.25, in element 0 (from 0); "
                      "change it so that it is finite everywhere");
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static void a_sum_that_leaves_double_precision_is_refused(void **state)
{
  (void)state;
  kedge_mesh *const mesh = moved(ctx, 5, WHOLE, 5, ring);
  kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
  options.of = "-1.7e308*x^0";
  options.on = "2";
  assert_string_equal(
      no_value(mesh, &options),
      "the integrand '-1.7e308*x^0' has finite values that add up to -inf; scale it "
      "so that double precision holds their sum");
  kedge_mesh_destroy(mesh);
}

/// An integral in a context of its own, of a function.
static kedge_integral *elsewhere(kedge_context *other, const kedge_mesh *mesh,
                                 const kedge_solution *of)
{
  kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
  options.of = of ? NULL : "u";
  options.function = of ? kedge_by_solution : NULL;
  options.user = (void *)of;
  kedge_integral *integral;
  must(other, kedge_integral_create(other, mesh, &options, &integral));
  return integral;
}

static void solutions_that_do_not_fit_are_refused_in_the_context_of_the_integral(void **state)
{
  (void)state;
  const setting *const settings = SETTINGS({"space", "order", "2"}, {"exact", "u", "x"},
                                           {"boundary default", "type", "dirichlet"});
  kedge_context *const other = open_backend(test_backend(), 2);
  kedge_mesh *const mesh = shape_mesh(3), *const another = shape_mesh(3);
  kedge_problem *const problem = problem_of(ctx, settings);
  kedge_solution *const full = solve(ctx, mesh, settings), *cells;
  must(ctx, kedge_problem_set(problem, "output", "fields", "cells"));
  must(ctx, kedge_solve(ctx, mesh, problem, &cells));
  double value = 5.0;
  for (int k = 0; k < 2; ++k) {  // the solution is read as one, or as the integrand
    kedge_integral *one = elsewhere(other, mesh, k ? full : NULL);
    must(other, kedge_integral_evaluate(one, k ? NULL : full, &value));
    assert_at_most(fabs(value - 0.5), 1e-8);
    kedge_integral_destroy(one);
    one = elsewhere(other, another, k ? full : NULL);
    assert_int_equal(kedge_integral_evaluate(one, k ? NULL : full, &value), KEDGE_ERR_ARG);
    assert_string_equal(
        kedge_context_error(other),
        "kedge_integral_evaluate: the solution is of another mesh object than the integral");
    kedge_integral_destroy(one);
    one = elsewhere(other, mesh, k ? cells : NULL);
    assert_int_equal(kedge_integral_evaluate(one, k ? NULL : cells, &value), KEDGE_ERR_ARG);
    assert_non_null(
        strstr(kedge_context_error(other), "[output] fields = cells, so only the means"));
    kedge_integral_destroy(one);
  }
  kedge_problem_destroy(problem);
  kedge_solution_destroy(cells);
  kedge_solution_destroy(full);
  kedge_mesh_destroy(another);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(other);
}

static void a_number_of_lines_and_of_a_region_is_refused(void **state)
{
  (void)state;
  kedge_mesh *const mesh = grid_of(ctx, 2, ALL, 1, stay, halves);
  assert_at_most(fabs(integral_of(mesh, NULL, "1", "11") - 0.5), rounding(10));
  kedge_mesh_destroy(mesh);
  const double vertices[] = {0, 0, 1, 0, 0, 1};
  const int32_t triangle[] = {0, 1, 2}, region = 3, line[] = {0, 1}, tag = 3;
  const kedge_mesh_arrays arrays = {.n_vertices = 3,
                                    .vertices = vertices,
                                    .n_triangles = 1,
                                    .triangles = triangle,
                                    .regions = &region,
                                    .n_lines = 1,
                                    .lines = line,
                                    .line_tags = &tag};
  kedge_mesh *both;
  must(ctx, kedge_mesh_create(ctx, &arrays, &both));
  assert_string_equal(refusal(both, "1", "3"),
                      "the integral: '3' is a group of lines of the mesh and also a region; give "
                      "one of them another name");
  kedge_mesh_destroy(both);
}

static void solutions_without_fields_are_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 2", &mesh));
  const setting *const settings =
      SETTINGS({"exact", "u", "x"}, {"boundary default", "type", "dirichlet"});
  kedge_problem *problem = problem_of(ctx, settings);
  kedge_solution *s;
  kedge_integral *integral;
  double value;
  must(ctx, create(mesh, "u", NULL, 0, &integral));
  must(ctx, kedge_solve_report(ctx, mesh, problem, &s));
  assert_int_equal(kedge_integral_evaluate(integral, s, &value), KEDGE_ERR_ARG);
  kedge_solution_destroy(s);
  kedge_mesh *other;
  must(ctx, kedge_mesh_generate(ctx, "square 2", &other));
  must(ctx, kedge_solve(ctx, other, problem, &s));
  assert_int_equal(kedge_integral_evaluate(integral, s, &value), KEDGE_ERR_ARG);
  assert_string_equal(
      kedge_context_error(ctx),
      "kedge_integral_evaluate: the solution is of another mesh object than the integral");
  kedge_solution_destroy(s);
  kedge_integral_destroy(integral);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(other);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomials_of_the_place_are_exact),
      cmocka_unit_test(line_integrals_are_exact_on_straight_sides),
      cmocka_unit_test(curved_sides_follow_the_circles),
      cmocka_unit_test(fluxes_and_means_are_those_of_the_report),
      cmocka_unit_test(products_of_fields_are_exact),
      cmocka_unit_test(lines_inside_are_seen_from_the_lower_region),
      cmocka_unit_test(sums_do_not_depend_on_threads),
      cmocka_unit_test(one_integral_serves_solutions_of_any_order_and_boundary),
      cmocka_unit_test(lines_bring_the_elements_beside_them_alone),
      cmocka_unit_test(functions_of_the_caller_are_integrated),
      cmocka_unit_test(sections_of_the_problem_are_integrals),
      cmocka_unit_test(what_has_no_value_is_refused),
      cmocka_unit_test(a_value_that_is_not_finite_is_refused_with_its_place),
      cmocka_unit_test(a_sum_that_leaves_double_precision_is_refused),
      cmocka_unit_test(solutions_that_do_not_fit_are_refused_in_the_context_of_the_integral),
      cmocka_unit_test(a_number_of_lines_and_of_a_region_is_refused),
      cmocka_unit_test(solutions_without_fields_are_refused),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
