// Solves on unstructured tetrahedra from Gmsh: numbering, orders of convergence, coefficients.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "mesh/mesh.h"
#include "support.h"

#define DATA   KEDGE_SOURCE_DIR "/tests/solver/data/"
#define TENSOR "2, 0.5, -0.3, 1.5, 0.7, 3.5"
#define SMOOTH "exp(x + y/2)*sin(2*z + 3/10) + x*y^2*z"

static const char *text_of(int order)
{
  static const char *const of[] = {"0", "1", "2", "3", "4", "5", "6"};
  return of[order];
}

static kedge_mesh *mesh_of(const char *path, int refine)
{
  kedge_mesh *mesh, *fine;
  must(ctx, kedge_mesh_read(ctx, path, &mesh));
  if (refine == 0) return mesh;
  must(ctx, kedge_mesh_refine(ctx, mesh, refine, &fine));
  kedge_mesh_destroy(mesh);
  return fine;
}

enum { VERTICES = 64, ELEMENTS = 128, FACES = 128 };

/// The brick as arrays of the caller.
typedef struct arrays {
  int n_vertices, n_elements, n_faces;
  double vertex[VERTICES][3];
  int32_t element[ELEMENTS][4], region[ELEMENTS], face[FACES][3], tag[FACES];
} arrays;

static void arrays_of(const kedge_mesh *mesh, arrays *a)
{
  double at[ELEMENTS][4][3];
  int32_t elements[FACES], sides[FACES], groups[FACES];
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  must(ctx, kedge_mesh_get_info(mesh, &info));
  assert_true(info.vertices <= VERTICES && info.elements <= ELEMENTS &&
              info.boundary_edges <= FACES);
  a->n_vertices = (int)info.vertices;
  a->n_elements = (int)info.elements;
  a->n_faces = (int)info.boundary_edges;
  must(ctx, kedge_mesh_corners(mesh, a->element[0]));
  must(ctx, kedge_mesh_nodes(mesh, at[0][0]));
  must(ctx, kedge_mesh_regions(mesh, a->region));
  must(ctx, kedge_mesh_boundary(mesh, elements, sides, groups));
  for (int e = 0; e < a->n_elements; ++e)
    for (int l = 0; l < 4; ++l) memcpy(a->vertex[a->element[e][l]], at[e][l], sizeof at[e][l]);
  for (int f = 0; f < a->n_faces; ++f) {
    kedge_mesh_group group = KEDGE_MESH_GROUP_INIT;
    must(ctx, kedge_mesh_get_group(mesh, groups[f], &group));
    a->tag[f] = group.tag;
    for (int l = 0, k = 0; l < 4; ++l)
      if (l != sides[f]) a->face[f][k++] = a->element[elements[f]][l];
  }
}

static void shuffle(int n, int32_t *order)
{
  for (int i = 0; i < n; ++i) order[i] = i;
  for (int i = n - 1; i > 0; --i) {
    const int k = rand() % (i + 1);
    const int32_t was = order[i];
    order[i] = order[k];
    order[k] = was;
  }
}

/// The mesh with other numbers of vertices, elements and corners.
/// @param[out] origin  [element] which of the first mesh it is
static kedge_mesh *shuffled(const arrays *a, bool turn, int32_t *origin)
{
  static const char *const names[] = {"left", "right", "front", "rest"};
  static const int32_t tags[] = {1, 2, 3, 4};
  static const int dimensions[] = {3, 3, 2, 2};
  int32_t vertex[VERTICES], faces[FACES], corner[4];
  arrays to = *a;
  shuffle(a->n_vertices, vertex);
  shuffle(a->n_elements, origin);
  shuffle(a->n_faces, faces);
  for (int v = 0; v < a->n_vertices; ++v)
    memcpy(to.vertex[vertex[v]], a->vertex[v], sizeof a->vertex[v]);
  for (int e = 0; e < a->n_elements; ++e) {
    shuffle(4, corner);
    if (turn) corner[0] = 1, corner[1] = 0, corner[2] = 2, corner[3] = 3;  // all inside out
    to.region[e] = a->region[origin[e]];
    for (int l = 0; l < 4; ++l) to.element[e][l] = vertex[a->element[origin[e]][corner[l]]];
  }
  for (int f = 0; f < a->n_faces; ++f) {
    to.tag[f] = a->tag[faces[f]];
    for (int l = 0; l < 3; ++l) to.face[f][(l + f) % 3] = vertex[a->face[faces[f]][l]];
  }
  kedge_space_arrays given = KEDGE_SPACE_ARRAYS_INIT;
  given.n_vertices = to.n_vertices;
  given.vertices = to.vertex[0];
  given.n_tetrahedra = to.n_elements;
  given.tetrahedra = to.element[0];
  given.regions = to.region;
  given.n_triangles = to.n_faces;
  given.triangles = to.face[0];
  given.triangle_tags = to.tag;
  given.n_names = 4;
  given.name_tags = tags;
  given.names = names;
  given.name_dimensions = dimensions;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_create_space(ctx, &given, &mesh));
  return mesh;
}

enum { ORDER = 2, NODES = 20 };  ///< of u*

/// Fields at nodes, and where these are.
typedef struct sampled {
  double at[ELEMENTS][NODES][3], value[KEDGE_FIELD_COUNT][ELEMENTS][NODES];
  kedge_report report;
} sampled;

static sampled *sample(const kedge_mesh *mesh)
{
  sampled *const to = malloc(sizeof *to);
  assert_non_null(to);
  kedge_solution *const s =
      solve(ctx, mesh,
            SETTINGS({"space", "order", "2"}, {"region left", "diffusion", TENSOR},
                     {"region right", "diffusion", "1 + x*z"}, {"equation", "reaction", "1"},
                     {"exact", "u", SMOOTH}, {"boundary front", "type", "robin"},
                     {"boundary front", "coefficient", "1 + z"},
                     {"boundary rest", "type", "dirichlet"}, {"equation", "source", "exp(x*z)"},
                     {"solver", "tolerance", "1e-15"}, {"solver", "preconditioner", "multigrid"}));
  to->report = (kedge_report)KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(s, &to->report));
  must(ctx, kedge_solution_nodes(s, ORDER + 1, to->at[0][0]));
  for (kedge_field f = 0; f < KEDGE_FIELD_COUNT; ++f)
    must(ctx, kedge_solution_values(s, f, ORDER + 1, to->value[f][0]));
  kedge_solution_destroy(s);
  return to;
}

/// Fields of an element of two solutions, node by node wherever it is.
static void compare(const sampled *a, int32_t of_a, const sampled *b, int32_t of_b)
{
  for (int i = 0; i < NODES; ++i) {
    int found = -1;
    for (int k = 0; k < NODES; ++k) {
      double far = 0.0;
      for (int d = 0; d < 3; ++d) far += fabs(a->at[of_a][i][d] - b->at[of_b][k][d]);
      if (far < 1e-9) found = k;
    }
    assert_true(found >= 0);
    for (kedge_field f = 0; f < KEDGE_FIELD_COUNT; ++f) {
      const double x = a->value[f][of_a][i], y = b->value[f][of_b][found];
      const bool is_u = f == KEDGE_FIELD_U || f == KEDGE_FIELD_U_STAR;
      if (!(fabs(x - y) <= (is_u ? 1e-12 : 2e-11) * fmax(1.0, fabs(x))))
        fail_msg("field %d: %.17g is not %.17g", f, x, y);
    }
  }
}

static void numbers_of_vertices_corners_and_elements_do_not_matter(void **state)
{
  (void)state;
  static arrays a;
  kedge_mesh *mesh = mesh_of(DATA "brick.msh", 0);
  arrays_of(mesh, &a);
  sampled *const first = sample(mesh);
  srand(5);
  for (int i = 0; i < 4; ++i) {
    int32_t origin[ELEMENTS];
    kedge_mesh *other = shuffled(&a, i == 0, origin);
    sampled *const then = sample(other);
    for (int e = 0; e < a.n_elements; ++e) compare(then, e, first, origin[e]);
    assert_at_most(fabs(then->report.u_l2 - first->report.u_l2), 1e-12);
    kedge_mesh_destroy(other);
    free(then);
  }
  free(first);
  kedge_mesh_destroy(mesh);
}

static void assert_orders(int order, const kedge_report *coarse, const kedge_report *fine)
{
  const double rate[] = {log2(coarse->u_l2 / fine->u_l2), log2(coarse->q_l2 / fine->q_l2),
                         log2(coarse->u_star_l2 / fine->u_star_l2)};
  const int expected[] = {order + 1, order + 1, order + 2};
  for (int i = 0; i < 3; ++i)
    if (!(rate[i] > expected[i] - 0.25))
      fail_msg("order %d: the rates of u, q, u* are %.2f, %.2f, %.2f", order, rate[0], rate[1],
               rate[2]);
}

static void unstructured_meshes_have_the_orders_of_all_fields(void **state)
{
  (void)state;
  static const char *const paths[] = {DATA "ball.msh", DATA "brick.msh"};
  for (int i = 0; i < 2; ++i)
    for (int order = 1; order <= (i == 0 && !test_is_shadow() ? 4 : 1); ++order) {
      kedge_report report[2];
      for (int k = 0; k < 2; ++k) {
        kedge_mesh *mesh = mesh_of(paths[i], 1 + k);  // refined ones are alike
        report[k] =
            report_of(ctx, mesh,
                      SETTINGS({"space", "order", text_of(order)}, {"equation", "diffusion", "1"},
                               {"exact", "u", SMOOTH}, {"boundary default", "type", "dirichlet"},
                               {"solver", "tolerance", "1e-12"}));
        assert_true(report[k].converged);
        kedge_mesh_destroy(mesh);
      }
      assert_orders(order, &report[0], &report[1]);
    }
}

/// Fields whose moments the sums over points have exactly, continuous fluxes through x = 1/2, and a
/// u of the degree of u.
static void polynomials_come_back_with_fields_and_regions_at_all_orders(void **state)
{
  (void)state;
  static const char *const power[] = {"", "1", "y", "y*z", "y^2*z", "y^2*z^2", "y^3*z^2"};
  kedge_mesh *mesh = mesh_of(DATA "brick.msh", 0);
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; order += test_is_shadow() ? 2 : 1)
    for (int by_section = 0; by_section < 2; ++by_section) {
      char u[160];
      snprintf(u, sizeof u, "(x - 1/2)*%s*(region == 1 ? 1 : 1/4) + z^%d - y", power[order], order);
      const kedge_report r = report_of(
          ctx, mesh,
          by_section
              ? SETTINGS({"space", "order", text_of(order)}, {"exact", "u", u},
                         {"region left", "diffusion", "1 + y/2"},
                         {"region right", "diffusion", "4 + 2*y, 0, 0, 2 + x, 0.1*z, 3 - y"},
                         {"region right", "reaction", "2"}, {"solver", "tolerance", "1e-14"},
                         {"boundary front", "type", "robin"},
                         {"boundary front", "coefficient", "1 + x"},
                         {"boundary default", "type", "dirichlet"})
              : SETTINGS({"space", "order", text_of(order)}, {"exact", "u", u},
                         {"equation", "diffusion", "region == 1 ? 1 + y/2 : 4 + 2*y"},
                         {"boundary front", "type", "neumann"}, {"solver", "tolerance", "1e-14"},
                         {"boundary default", "type", "dirichlet"}));
      assert_at_most(r.u_l2, 1e-11);
      assert_at_most(r.q_l2, 1e-10);
      assert_at_most(r.sigma_l2, 1e-10);
      assert_at_most(r.u_star_l2, 1e-11);
    }
  kedge_mesh_destroy(mesh);
}

/// Whether a facet's elements have no face with Dirichlet values, x = 0.
static bool is_far(const kedge_mesh *mesh, int32_t facet)
{
  for (int k = 0; k < 2; ++k) {
    const kg_side side = mesh->edge_sides[2 * (size_t)facet + (size_t)k];
    if (side == KG_NO_SIDE) continue;
    const int32_t *const v = kg_element_vertices(mesh, kg_side_element(side));
    for (int l = 0; l < 4; ++l)
      if (mesh->vertices[3 * (int64_t)v[l]] < 1e-9) return false;
  }
  return true;
}

/// What is 1 on every face, in the rows of elements whose faces have no given values.
static void products_with_constants_are_zero_without_reaction(void **state)
{
  (void)state;
  static const char *const diffusion[] = {TENSOR, "1 + x*z",
                                          "2 + x, 0.5*y, -0.2*z, 1.5 + y, 0.3*x, 3 - x*z"};
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "cube 2", &mesh));
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; order += test_is_shadow() ? 2 : 1)
    for (size_t k = 0; k < sizeof diffusion / sizeof *diffusion; ++k) {
      kedge_problem *problem = problem_of(
          ctx,
          SETTINGS({"space", "order", text_of(order)}, {"equation", "diffusion", diffusion[k]},
                   {"equation", "source", "1"}, {"solver", "preconditioner", "jacobi"},
                   {"boundary x0", "type", "dirichlet"}, {"boundary x0", "value", "0"},
                   {"boundary default", "type", "neumann"}, {"boundary default", "value", "0"}));
      kedge_solver *solver;
      kedge_report r = KEDGE_REPORT_INIT;
      must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
      must(ctx, kedge_solver_report(solver, &r));
      const size_t m = (size_t)((order + 1) * (order + 2) / 2), n = (size_t)r.trace_unknowns;
      double *const x = calloc(2 * n, sizeof *x), *const y = x + n;
      int32_t *const facets = malloc(n / m * sizeof *facets);
      assert_true(x && facets);
      must(ctx, kedge_solver_edges(solver, facets));
      for (size_t f = 0; f < n / m; ++f) x[f * m] = 1.0;  // the constant mode of each
      must(ctx, kedge_solver_apply(solver, x, y));
      double largest = 0.0;
      for (size_t i = 0; i < n; ++i) largest = fmax(largest, fabs(y[i]));
      int far = 0;
      for (size_t f = 0; f < n / m; ++f) {
        if (!is_far(mesh, facets[f])) continue;
        for (size_t i = 0; i < m; ++i) assert_at_most(fabs(y[f * m + i]), 1e-11 * largest);
        ++far;
      }
      assert_true(far > 20 && largest > 1e-3);
      free(x);
      free(facets);
      kedge_solver_destroy(solver);
      kedge_problem_destroy(problem);
    }
  kedge_mesh_destroy(mesh);
}

/// A problem on a mesh, refused with this sentence.
static void assert_refused_with(const kedge_mesh *mesh, const setting *settings,
                                const char *sentence)
{
  kedge_problem *problem = problem_of(ctx, settings);
  assert_string_equal(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT), sentence);
  kedge_problem_destroy(problem);
}

#define HELD                                 \
  {"boundary default", "type", "dirichlet"}, \
  {                                          \
    "boundary default", "value", "0"         \
  }

/// Two tetrahedra, with a triangle between them that is a group, and one that is in two.
static kedge_mesh *two_tetrahedra(bool is_shared)
{
  static const double vertices[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}};
  static const int32_t corners[2][4] = {{0, 1, 2, 3}, {0, 1, 2, 4}};
  static const int32_t faces[3][3] = {{0, 1, 2}, {1, 2, 3}, {1, 2, 3}};
  static const int32_t tags[3] = {20, 21, 22}, numbers[3] = {20, 21, 1};
  static const char *const names[3] = {"cut", "wall", "rock"};
  static const int dimensions[3] = {2, 2, 3};
  kedge_space_arrays a = KEDGE_SPACE_ARRAYS_INIT;
  a.n_vertices = 5;
  a.vertices = vertices[0];
  a.n_tetrahedra = 2;
  a.tetrahedra = corners[0];
  a.regions = (const int32_t[]){1, 2};
  a.n_triangles = is_shared ? 3 : 2;
  a.triangles = faces[0];
  a.triangle_tags = tags;
  a.n_names = 3;
  a.name_tags = numbers;
  a.names = names;
  a.name_dimensions = dimensions;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_create_space(ctx, &a, &mesh));
  return mesh;
}

static void sections_that_do_not_fit_the_mesh_are_refused(void **state)
{
  (void)state;
  kedge_mesh *brick = mesh_of(DATA "brick.msh", 0), *two = two_tetrahedra(false),
             *shared = two_tetrahedra(true), *cube;
  must(ctx, kedge_mesh_generate(ctx, "cube 1", &cube));
  assert_refused_with(
      two, SETTINGS(HELD, {"boundary cut", "type", "neumann"}, {"boundary cut", "value", "1"}),
      "[boundary cut]: 'cut' in arrays is a group of faces inside the domain, where there are no "
      "boundary conditions; take the section out, or, for a slit, have Gmsh's plugin Crack open "
      "the mesh there");
  assert_refused_with(
      two, SETTINGS(HELD, {"boundary rock", "type", "neumann"}, {"boundary rock", "value", "1"}),
      "[boundary rock]: 'rock' in arrays is a group of elements, not of boundary faces");
  assert_refused_with(
      two, SETTINGS({"boundary wall", "type", "dirichlet"}, {"boundary wall", "value", "1"}),
      "5 boundary faces of arrays without a group have no condition; add [boundary default]");
  assert_refused_with(
      shared, SETTINGS(HELD, {"boundary 22", "type", "neumann"}, {"boundary 22", "value", "1"}),
      "[boundary 22]: a triangle at (1, 0, 0) in arrays is in the groups 'wall' and '22' and "
      "cannot have two conditions; leave it in one of them");
  assert_refused_with(two, SETTINGS(HELD, {"region rock", "diffusion", "1"}),
                      "[region rock] has diffusion, and region '2' of arrays has no section; add "
                      "[region 2] or [region default]");
  assert_refused_with(two, SETTINGS(HELD, {"region rokc", "diffusion", "1"}),
                      "[region rokc]: arrays has no region 'rokc' among rock, 2; did you mean "
                      "'rock'?");
  assert_refused_with(
      cube, SETTINGS({"boundary x0", "type", "dirichlet"}, {"boundary x0", "value", "1"}),
      "boundary group 'x1' of cube 1 (2 faces) has no condition; add [boundary x1] or [boundary "
      "default]");
  char sentence[300];
  snprintf(sentence, sizeof sentence,
           "boundary group 'rest' of %s (72 faces) has no condition; add [boundary rest] or "
           "[boundary default]",
           DATA "brick.msh");
  assert_refused_with(
      brick, SETTINGS({"boundary front", "type", "dirichlet"}, {"boundary front", "value", "1"}),
      sentence);
  kedge_mesh_destroy(brick);
  kedge_mesh_destroy(two);
  kedge_mesh_destroy(shared);
  kedge_mesh_destroy(cube);
}

/// What tetrahedra do not have, and the sentence that says so.
static void settings_of_the_plane_alone_are_refused_by_name(void **state)
{
  (void)state;
  static const struct {
    setting of;
    const char *has;
  } cases[] = {{{"space", "order", "7"}, "orders 1 to 6"},
               {{"space", "order", "12"}, "orders 1 to 6"},
               {{"solver", "operator", "matrix-free-plain"}, "operator = matrix-free or ell"},
               {{"solver", "smoother", "line"}, "smoother = edge"},
               {{"solver", "precision", "compact"}, "precision = double or mixed"}};
  kedge_mesh *cube;
  must(ctx, kedge_mesh_generate(ctx, "cube 1", &cube));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char sentence[200];
    snprintf(sentence, sizeof sentence,
             "cube 1 is of tetrahedra, on which kedge solves with %s so far", cases[i].has);
    assert_refused_with(cube, SETTINGS(HELD, cases[i].of), sentence);
  }
  kedge_mesh_destroy(cube);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_of_vertices_corners_and_elements_do_not_matter),
      cmocka_unit_test(unstructured_meshes_have_the_orders_of_all_fields),
      cmocka_unit_test(polynomials_come_back_with_fields_and_regions_at_all_orders),
      cmocka_unit_test(products_with_constants_are_zero_without_reaction),
      cmocka_unit_test(sections_that_do_not_fit_the_mesh_are_refused),
      cmocka_unit_test(settings_of_the_plane_alone_are_refused_by_name),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
