// What comes out of solves on tetrahedra: the file of faces of groups, the trace of every face,
// means over elements, and files that are read back.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basis/polynomials.h"
#include "compare.h"
#include "context.h"
#include "support.h"

static char path[64];  ///< of this process alone

/// A cube whose vertices are moved, so that no face inside is parallel to another one.
static kedge_mesh *bent_cube(const char *words)
{
  kedge_mesh *mesh;
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"mesh", "generate", words},
                               {"mesh", "map", "x+0.2*y*z, y-0.1*x+0.1*x*z, z+0.1*x*y"}));
  must(ctx, kedge_problem_mesh(problem, &mesh));
  kedge_problem_destroy(problem);
  return mesh;
}

#define QUADRATIC "1+2*x-y+x*z-y^2"

static double exact(const double *at)
{
  return 1 + 2 * at[0] - at[1] + at[0] * at[2] - at[1] * at[1];
}

/// The diffusion is 3. A solution of order 1 has another function, which is linear.
static void flux_at(const double *at, double flux[3])
{
  flux[0] = 3 * (2 + at[2]);
  flux[1] = 3 * (-1 - 2 * at[1]);
  flux[2] = 3 * at[0];
}

static kedge_solution *solution_on(const kedge_mesh *mesh, const char *order, const char *kept)
{
  return solve(ctx, mesh,
               SETTINGS({"space", "order", order}, {"exact", "u", QUADRATIC},
                        {"equation", "diffusion", "3"}, {"solver", "tolerance", "1e-14"},
                        {"boundary default", "type", "dirichlet"}, {"output", "fields", kept}));
}

static double *numbers(const char *name, int64_t expected)
{
  int64_t n = 0;
  must(ctx, kedge_output_read(ctx, path, name, &n, NULL));
  assert_int_equal(n, expected);
  double *values = malloc((size_t)n * sizeof *values);
  assert_non_null(values);
  must(ctx, kedge_output_read(ctx, path, name, &n, values));
  return values;
}

/// A file of faces.
typedef struct faces {
  int64_t n;
  int nodes;
  double *xyz, *trace, *group, *inside, *flux;
} faces;

static faces faces_of(const kedge_solution *solution, int order, int64_t n)
{
  faces f = {.n = n, .nodes = kedge_node_count(order)};
  must(ctx, kedge_solution_write_boundary(solution, path));
  double *types = numbers("Types", n), *offsets = numbers("Offsets", n + 1);
  for (int64_t i = 0; i < n; ++i) {
    assert_true(types[i] == 69);
    assert_true(offsets[i + 1] == (double)((i + 1) * f.nodes));
  }
  f.xyz = numbers("Points", 3 * n * f.nodes);
  f.trace = numbers("PointData/trace", n * f.nodes);
  f.group = numbers("CellData/group", n);
  f.inside = numbers("CellData/inside", n);
  f.flux = numbers("CellData/flux", n);
  free(types);
  free(offsets);
  unlink(path);
  return f;
}

static void faces_free(faces *f)
{
  free(f->xyz);
  free(f->trace);
  free(f->group);
  free(f->inside);
  free(f->flux);
}

/// The normal of a face whose corners are counterclockwise, times its area; and its middle.
static double measure(const faces *f, int64_t i, double normal[3], double middle[3])
{
  const double *const p = f->xyz + 3 * f->nodes * i;
  double a[3], b[3];
  for (int k = 0; k < 3; ++k) {
    a[k] = p[3 + k] - p[k];
    b[k] = p[6 + k] - p[k];
    middle[k] = (p[k] + p[3 + k] + p[6 + k]) / 3;
  }
  for (int k = 0; k < 3; ++k)
    normal[k] = 0.5 * (a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]);
  return sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
}

/// Sums of the file are the numbers of groups.
static void assert_sums(const kedge_solution *solution, const faces *f)
{
  kedge_report report = KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(solution, &report));
  int64_t all = 0;
  for (int g = 0; g < report.n_groups; ++g) {
    const kedge_group_values *const v = report.groups[g];
    double area = 0.0, flux = 0.0, normal[3], middle[3];
    int64_t n = 0;
    for (int64_t i = 0; i < f->n; ++i) {
      if (f->group[i] != v->tag || (f->inside[i] != 0.0) != v->inside) continue;
      const double here = measure(f, i, normal, middle);
      area += here;
      flux += here * f->flux[i];
      ++n;
    }
    assert_int_equal(n, v->edges);
    assert_at_most(fabs(area - v->length), 1e-12);
    assert_at_most(fabs(flux - v->flux), 1e-11);
    all += n;
  }
  assert_int_equal(all, f->n);
}

/// Nodes lie in VTK's order: those of an edge one behind the other between its corners.
static void assert_nodes(const faces *f, int order)
{
  for (int64_t i = 0; i < f->n; ++i)
    for (int edge = 0; edge < 3; ++edge)
      for (int j = 1; j < order; ++j) {
        const double *const p = f->xyz + 3 * f->nodes * i, t = (double)j / order;
        const double *const a = p + 3 * edge, *const b = p + 3 * ((edge + 1) % 3);
        const double *const at = p + 3 * (3 + edge * (order - 1) + j - 1);
        for (int k = 0; k < 3; ++k) assert_at_most(fabs((1 - t) * a[k] + t * b[k] - at[k]), 1e-14);
      }
}

static void the_trace_and_fluxes_of_every_face_are_written(void **state)
{
  (void)state;
  kedge_mesh *mesh = bent_cube("cube 3");
  for (int order = 2; order <= 6; ++order) {
    const char text[] = {(char)('0' + order), 0};
    kedge_solution *solution = solution_on(mesh, text, "full");
    faces f = faces_of(solution, order, 6 * 2 * 9);
    assert_nodes(&f, order);
    assert_sums(solution, &f);
    for (int64_t i = 0; i < f.n; ++i) {
      double normal[3], middle[3], flux[3], through = 0.0;
      const double area = measure(&f, i, normal, middle);
      for (int j = 0; j < f.nodes; ++j) {
        const int64_t node = i * f.nodes + j;
        assert_at_most(fabs(f.trace[node] - exact(f.xyz + 3 * node)), 1e-11);
      }
      flux_at(middle, flux);  // which is linear
      for (int k = 0; k < 3; ++k) through += flux[k] * normal[k] / area;
      assert_at_most(fabs(f.flux[i] - through), 1e-10);
      assert_true(f.inside[i] == 0.0);
    }
    faces_free(&f);
    kedge_solution_destroy(solution);
  }
  kedge_mesh_destroy(mesh);
}

/// A solution for the report alone has them too; so has one of order 1.
static void a_report_has_the_same_faces(void **state)
{
  (void)state;
  kedge_mesh *mesh = bent_cube("cube 2");
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", "1"}, {"boundary default", "type", "dirichlet"},
                    {"boundary default", "value", "x-2*y+3*z"}, {"solver", "tolerance", "1e-14"}));
  kedge_solution *full, *alone;
  must(ctx, kedge_solve(ctx, mesh, problem, &full));
  must(ctx, kedge_solve_report(ctx, mesh, problem, &alone));
  faces a = faces_of(full, 1, 48), b = faces_of(alone, 1, 48);
  assert_sums(full, &a);
  for (int64_t i = 0; i < 3 * a.n; ++i)
    assert_at_most(fabs(a.trace[i] - a.xyz[3 * i] + 2 * a.xyz[3 * i + 1] - 3 * a.xyz[3 * i + 2]),
                   1e-12);
  assert_memory_equal(a.xyz, b.xyz, 9 * (size_t)a.n * sizeof *a.xyz);
  assert_memory_equal(a.trace, b.trace, 3 * (size_t)a.n * sizeof *a.trace);
  assert_memory_equal(a.flux, b.flux, (size_t)a.n * sizeof *a.flux);
  faces_free(&a);
  faces_free(&b);
  kedge_solution_destroy(full);
  kedge_solution_destroy(alone);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static const double two_vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, 1, 0.1, 0.3, -1};

/// Two tetrahedra with a face of group 3 between them, and one on the boundary.
static kedge_mesh *two_tetrahedra(int32_t above, int32_t below)
{
  static const int32_t corners[] = {3, 0, 2, 1, 4, 2, 0, 1}, triangles[] = {2, 1, 0, 0, 1, 3};
  static const int32_t tags[] = {3, 3};
  const int32_t regions[] = {above, below};
  kedge_space_arrays arrays = KEDGE_SPACE_ARRAYS_INIT;
  kedge_mesh *mesh;
  arrays.n_vertices = 5;
  arrays.vertices = two_vertices;
  arrays.n_tetrahedra = 2;
  arrays.tetrahedra = corners;
  arrays.regions = regions;
  arrays.n_triangles = 2;
  arrays.triangles = triangles;
  arrays.triangle_tags = tags;
  must(ctx, kedge_mesh_create_space(ctx, &arrays, &mesh));
  return mesh;
}

/// Seen from the region of the lower tag, n points out of it, and corners are counterclockwise.
static void faces_inside_the_domain_are_told_from_the_boundary(void **state)
{
  (void)state;
  for (int up = 0; up < 2; ++up) {
    kedge_mesh *mesh = two_tetrahedra(up ? 8 : 7, up ? 7 : 8);
    kedge_solution *solution = solution_on(mesh, "3", "full");
    faces f = faces_of(solution, 3, 7);
    assert_sums(solution, &f);
    int inside = 0;
    for (int64_t i = 0; i < f.n; ++i) {
      double normal[3], middle[3];
      if (f.inside[i] == 0.0) continue;
      ++inside;
      assert_true(f.group[i] == 3);
      measure(&f, i, normal, middle);
      assert_at_most(fabs(normal[2] - (up ? 0.5 : -0.5)), 1e-15);
      assert_at_most(fabs(f.flux[i] - (up ? 1.0 : -1.0)), 1e-10);  // 3 x in the middle of the face
    }
    assert_int_equal(inside, 1);
    faces_free(&f);
    kedge_solution_destroy(solution);
    kedge_mesh_destroy(mesh);
  }
}

/// The trace of a solution.
typedef struct traces {
  int64_t n;
  int m;
  int32_t *faces;
  double *modes;
} traces;

static traces traces_of(const kedge_solution *solution)
{
  kedge_report report = KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(solution, &report));
  traces t = {.n = report.edges, .m = kg_triangle_modes(report.order)};
  t.faces = malloc(3 * (size_t)t.n * sizeof *t.faces);
  t.modes = malloc((size_t)(t.n * t.m) * sizeof *t.modes);
  assert_true(t.faces && t.modes);
  must(ctx, kedge_solution_trace(solution, t.faces, t.modes));
  return t;
}

static void traces_free(traces *t)
{
  free(t->faces);
  free(t->modes);
}

/// A mesh as arrays, whose vertices may have other numbers and whose elements another order.
typedef struct copy {
  int64_t n_vertices, n_elements;
  double *vertices;
  int32_t *corners;
} copy;

/// Vertex v becomes the step v, modulo their number, which has no factor in common with it.
static copy copy_of(const kedge_mesh *mesh, int64_t step)
{
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  must(ctx, kedge_mesh_get_info(mesh, &info));
  copy c = {info.vertices, info.elements, calloc((size_t)info.vertices, 3 * sizeof(double)),
            malloc((size_t)info.elements * 4 * sizeof(int32_t))};
  double *const nodes = malloc((size_t)info.elements * 12 * sizeof *nodes);
  assert_true(c.vertices && c.corners && nodes);
  must(ctx, kedge_mesh_corners(mesh, c.corners));
  must(ctx, kedge_mesh_nodes(mesh, nodes));
  for (int64_t i = 0; i < 4 * c.n_elements; ++i) {
    c.corners[i] = (int32_t)(c.corners[i] * step % c.n_vertices);
    memcpy(c.vertices + 3 * (int64_t)c.corners[i], nodes + 3 * i, 3 * sizeof *nodes);
  }
  free(nodes);
  return c;
}

static void copy_free(copy *c)
{
  free(c->vertices);
  free(c->corners);
}

static kedge_mesh *mesh_of(const copy *c)
{
  kedge_space_arrays arrays = KEDGE_SPACE_ARRAYS_INIT;
  kedge_mesh *mesh;
  arrays.n_vertices = c->n_vertices;
  arrays.vertices = c->vertices;
  arrays.n_tetrahedra = c->n_elements;
  arrays.tetrahedra = c->corners;
  must(ctx, kedge_mesh_create_space(ctx, &arrays, &mesh));
  return mesh;
}

/// On faces of vertices that the caller numbers anyhow, those inside and of the boundary.
static void the_trace_of_every_face_is_that_of_the_function(void **state)
{
  (void)state;
  kedge_mesh *bent = bent_cube("cube 2");
  for (int k = 0; k < 5; ++k) {
    const char text[] = {(char)('2' + k), 0};
    copy c = copy_of(bent, 1 + 3 * k);  // of 27 vertices
    kedge_mesh *mesh = mesh_of(&c);
    kedge_solution *solution = solution_on(mesh, text, "full");
    traces t = traces_of(solution);
    assert_int_equal(t.n, 48 * 2 + 24);
    for (int64_t i = 0; i < t.n; ++i)
      for (int j = 0; j < 4; ++j) {
        static const double places[4][2] = {{-1, -1}, {0.3, -0.5}, {-0.9, 0.8}, {0.25, -0.3}};
        const double r = places[j][0], s = places[j][1];
        const double share[3] = {-0.5 * (r + s), 0.5 * (1 + r), 0.5 * (1 + s)};
        double psi[28], at[3] = {0}, value = 0.0;
        kg_dubiner(2 + k, r, s, psi, NULL, NULL);
        for (int l = 0; l < t.m; ++l) value += psi[l] * t.modes[i * t.m + l];
        for (int l = 0; l < 9; ++l)
          at[l % 3] += share[l / 3] * c.vertices[3 * (int64_t)t.faces[3 * i + l / 3] + l % 3];
        assert_at_most(fabs(value - exact(at)), 1e-11);
      }
    traces_free(&t);
    kedge_solution_destroy(solution);
    kedge_mesh_destroy(mesh);
    copy_free(&c);
  }
  kedge_mesh_destroy(bent);
}

/// The unknowns of a solver are the trace of a solution, on faces that have no Dirichlet values.
static void a_trace_that_was_kept_makes_the_solution_again(void **state)
{
  (void)state;
  kedge_mesh *bent = bent_cube("cube 2"), *mesh;
  copy c = copy_of(bent, 5);
  mesh = mesh_of(&c);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", "3"}, {"equation", "source", "exp(x*y)-z"},
                    {"solver", "tolerance", "1e-13"}, {"boundary default", "type", "dirichlet"},
                    {"boundary default", "value", "sin(x+2*y+3*z)"}));
  kedge_solver *solver;
  kedge_solution *first = NULL, *again = NULL;
  kedge_report report = KEDGE_REPORT_INIT;
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  must(ctx, kedge_solver_solve(solver, NULL, &first));
  must(ctx, kedge_solver_report(solver, &report));
  traces t = traces_of(first);
  const int64_t n = report.trace_unknowns / t.m;
  int32_t *const edges = malloc((size_t)n * sizeof *edges);
  double *const unknowns = malloc((size_t)report.trace_unknowns * sizeof *unknowns);
  assert_true(edges && unknowns);
  assert_int_equal(n, 48 * 2 - 24);
  must(ctx, kedge_solver_edges(solver, edges));
  for (int64_t i = 0; i < n; ++i)
    memcpy(unknowns + i * t.m, t.modes + (int64_t)edges[i] * t.m, (size_t)t.m * sizeof *unknowns);
  must(ctx, kedge_solver_recover(solver, NULL, unknowns, &again));
  must(ctx, kedge_solution_report(again, &report));
  assert_true(report.converged);
  enum { NODES = 20 * 48 };
  double a[NODES], b[NODES];
  must(ctx, kedge_solution_values(first, KEDGE_FIELD_U, 3, a));
  must(ctx, kedge_solution_values(again, KEDGE_FIELD_U, 3, b));
  assert_close(NODES, a, b, 1e-13);
  free(edges);
  free(unknowns);
  traces_free(&t);
  kedge_solution_destroy(first);
  kedge_solution_destroy(again);
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(bent);
  copy_free(&c);
}

enum { ELEMENTS = 6 * 27, CORNERS = 64 };

/// The means of a field, and the indicator behind them.
static void means_of(const kedge_solution *solution, double *values)
{
  for (int f = 0; f < KEDGE_FIELD_COUNT; ++f)
    must(ctx, kedge_solution_means(solution, (kedge_field)f, values + ELEMENTS * f));
  must(ctx, kedge_solution_indicator(solution, values + ELEMENTS * KEDGE_FIELD_COUNT));
}

/// Diffusion as a number and as a tensor, where means are those of the full solution to the bit,
/// and functions, which have the means of their integrals.
static void means_that_are_kept_are_those_of_the_full_solution(void **state)
{
  enum { ALL = ELEMENTS * (KEDGE_FIELD_COUNT + 1) };
  static const char *const diffusion[] = {"3", "2, 0.5, 0.1, 1, -0.2, 3", "1 + x*y + z",
                                          "2 + x, 0.5*y, 0.1, 1 + z, -0.2, 3 - x*z"};
  (void)state;
  kedge_mesh *mesh = bent_cube("cube 3");
  double *const full = malloc(ALL * sizeof *full), *const cells = malloc(ALL * sizeof *cells);
  assert_true(full && cells);
  for (int k = 0; k < 8; ++k) {
    for (int kept = 0; kept < 2; ++kept) {
      kedge_solution *solution =
          solve(ctx, mesh,
                SETTINGS({"space", "order", k % 2 ? "4" : "1"}, {"exact", "u", "exp(x)*y+z^3"},
                         {"equation", "diffusion", diffusion[k / 2]}, {"equation", "reaction", "2"},
                         {"boundary default", "type", "dirichlet"},
                         {"output", "fields", kept ? "cells" : "full"}));
      means_of(solution, kept ? cells : full);
      kedge_solution_destroy(solution);
    }
    if (k < 4)
      assert_memory_equal(full, cells, ALL * sizeof *full);
    else
      for (int f = 0; f <= KEDGE_FIELD_COUNT; ++f)
        assert_close(ELEMENTS, cells + ELEMENTS * f, full + ELEMENTS * f, 1e-12);
  }
  free(full);
  free(cells);
  kedge_mesh_destroy(mesh);
}

/// A linear function: its means are its values in the middles of elements.
static void cells_share_their_corners_and_have_means(void **state)
{
  (void)state;
  kedge_mesh *mesh = bent_cube("cube 3");
  kedge_solution *solution =
      solve(ctx, mesh,
            SETTINGS({"space", "order", "2"}, {"exact", "u", "1+2*x-3*y+z"},
                     {"equation", "diffusion", "3"}, {"boundary default", "type", "dirichlet"},
                     {"solver", "tolerance", "1e-14"}, {"output", "fields", "cells"}));
  must(ctx, kedge_solution_write(solution, path));
  double *const xyz = numbers("Points", 3 * CORNERS), *const types = numbers("Types", ELEMENTS);
  double *const corners = numbers("Connectivity", 4 * ELEMENTS);
  double *const offsets = numbers("Offsets", ELEMENTS + 1);
  double *const u = numbers("CellData/u", ELEMENTS), *const q = numbers("CellData/q", 3 * ELEMENTS);
  double *const sigma = numbers("CellData/sigma", 3 * ELEMENTS);
  double *const region = numbers("CellData/region", ELEMENTS);
  double *const indicator = numbers("CellData/error_indicator", ELEMENTS);
  double volume = 0.0, of_cells[ELEMENTS];
  must(ctx, kedge_solution_indicator(solution, of_cells));
  assert_memory_equal(of_cells, indicator, sizeof of_cells);
  for (int e = 0; e < ELEMENTS; ++e) {
    static const double gradient[3] = {2, -3, 1};
    const double *at[4];
    double middle[3] = {0}, d[3][3];
    assert_true(types[e] == 10 && offsets[e + 1] == 4 * (e + 1) && region[e] == 1);
    for (int l = 0; l < 4; ++l) at[l] = xyz + 3 * (int)corners[4 * e + l];
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 4; ++l) middle[k] += 0.25 * at[l][k];
      for (int l = 0; l < 3; ++l) d[l][k] = at[l + 1][k] - at[0][k];
      assert_at_most(fabs(q[3 * e + k] - gradient[k]), 1e-11);
      assert_at_most(fabs(sigma[3 * e + k] - 3 * gradient[k]), 1e-11);
    }
    const double six = d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
                       d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
                       d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
    assert_true(six > 0.0);
    volume += six / 6;
    assert_at_most(fabs(u[e] - (1 + 2 * middle[0] - 3 * middle[1] + middle[2])), 1e-12);
  }
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  must(ctx, kedge_mesh_get_info(mesh, &info));
  assert_at_most(fabs(volume - info.area), 1e-14);
  double *const all[] = {xyz, types, corners, offsets, u, q, sigma, region, indicator};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free(all[i]);
  double value;
  assert_int_equal(kedge_solution_values(solution, KEDGE_FIELD_U, 1, &value), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "only the means over the elements were kept"));
  assert_int_equal(kedge_solution_trace(solution, NULL, &value), KEDGE_ERR_ARG);
  unlink(path);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
}

/// Cell i of a file is element i of the caller; its nodes are those of kedge_solution_nodes().
static void a_file_of_tetrahedra_is_read_back(void **state)
{
  enum { ORDER = 3, NODES = 35, ALL = ELEMENTS * NODES };  // cells are of order 4
  static const struct {
    const char *name;
    kedge_field of[3];
  } arrays[] = {{"u", {KEDGE_FIELD_U}},
                {"u_star", {KEDGE_FIELD_U_STAR}},
                {"q", {KEDGE_FIELD_QX, KEDGE_FIELD_QY, KEDGE_FIELD_QZ}},
                {"sigma", {KEDGE_FIELD_SIGMA_X, KEDGE_FIELD_SIGMA_Y, KEDGE_FIELD_SIGMA_Z}}};
  (void)state;
  kedge_mesh *mesh = bent_cube("cube 3");
  kedge_solution *solution = solution_on(mesh, "3", "full");
  must(ctx, kedge_solution_write(solution, path));
  double *const types = numbers("Types", ELEMENTS), *const offsets =
                                                        numbers("Offsets", ELEMENTS + 1);
  for (int e = 0; e < ELEMENTS; ++e)
    assert_true(types[e] == 71 && offsets[e + 1] == NODES * (e + 1));
  double *const xyz = numbers("Points", 3 * ALL), *const values = malloc(3 * ALL * sizeof *values);
  assert_non_null(values);
  must(ctx, kedge_solution_nodes(solution, ORDER + 1, values));
  assert_memory_equal(xyz, values, 3 * ALL * sizeof *xyz);
  for (int f = 0; f < 4; ++f) {
    char name[32];
    const int parts = f < 2 ? 1 : 3;
    snprintf(name, sizeof name, "PointData/%s", arrays[f].name);
    double *const read = numbers(name, parts * ALL);
    for (int k = 0; k < parts; ++k) {
      must(ctx, kedge_solution_values(solution, arrays[f].of[k], ORDER + 1, values));
      for (int i = 0; i < ALL; ++i) assert_true(read[parts * i + k] == values[i]);
    }
    free(read);
  }
  free(types);
  free(offsets);
  free(xyz);
  free(values);
  unlink(path);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
}

static int make_path(void **state)
{
  snprintf(path, sizeof path, "/tmp/kedge_space_%ld.vtkhdf", (long)getpid());
  return open_context(state);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_trace_and_fluxes_of_every_face_are_written),
      cmocka_unit_test(a_report_has_the_same_faces),
      cmocka_unit_test(faces_inside_the_domain_are_told_from_the_boundary),
      cmocka_unit_test(the_trace_of_every_face_is_that_of_the_function),
      cmocka_unit_test(a_trace_that_was_kept_makes_the_solution_again),
      cmocka_unit_test(means_that_are_kept_are_those_of_the_full_solution),
      cmocka_unit_test(cells_share_their_corners_and_have_means),
      cmocka_unit_test(a_file_of_tetrahedra_is_read_back),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, make_path, close_context);
}
