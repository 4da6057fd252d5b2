// Meshes of tetrahedra: values at points anywhere, and probes.
#include <float.h>
#include <math.h>
#include <unistd.h>

#include "compare.h"
#include "context.h"
#include "support.h"

/// Orders above 3 have no kernel of the trace product on a GPU yet.
static const char *order_of_solves(void)
{
  return test_backend() == KEDGE_BACKEND_CUDA ? "3" : "4";
}

/// Cubes, moved: no face is along an axis, sizes differ, some lie far from the origin.
static const struct {
  const char *generate, *map;
} samples[] = {
    {"cube 3", "x + 0.1*y^2, y + 0.05*sin(3*z), z*(1 + 0.2*x)"},
    {"cube 5", "x, y, z"},
    {"cube 2", "1000 + x + 0.2*y, y - 300, 0.02*z + 0.01*x"},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static kedge_mesh *mesh_of(int sample)
{
  kedge_mesh *mesh;
  kedge_problem *const problem =
      problem_of(ctx, SETTINGS({"mesh", "generate", samples[sample].generate},
                               {"mesh", "map", samples[sample].map}));
  must(ctx, kedge_problem_mesh(problem, &mesh));
  kedge_problem_destroy(problem);
  return mesh;
}

/// A mesh, its tree, and places of its elements.
typedef struct bench {
  kedge_mesh *mesh;
  kedge_locator *locator;
  int64_t n_elements;
  double *corner;   ///< [element][4][3]
  int32_t *vertex;  ///< [element][4]
} bench;

static bench bench_of(int sample)
{
  bench b = {.mesh = mesh_of(sample)};
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  must(ctx, kedge_mesh_get_info(b.mesh, &info));
  must(ctx, kedge_locator_create(ctx, b.mesh, &b.locator));
  b.n_elements = info.elements;
  b.corner = calloc(12 * (size_t)b.n_elements, sizeof *b.corner);
  b.vertex = calloc(4 * (size_t)b.n_elements, sizeof *b.vertex);
  must(ctx, kedge_mesh_nodes(b.mesh, b.corner));
  must(ctx, kedge_mesh_corners(b.mesh, b.vertex));
  return b;
}

static void bench_free(bench *b)
{
  kedge_locator_destroy(b->locator);
  kedge_mesh_destroy(b->mesh);
  free(b->corner);
  free(b->vertex);
}

/// Points, one array a coordinate.
typedef struct cloud {
  size_t n;
  double *x[3];
} cloud;

static cloud cloud_of(size_t n)
{
  cloud c = {.n = n};
  for (int d = 0; d < 3; ++d) c.x[d] = calloc(n, sizeof *c.x[d]);
  return c;
}

static void cloud_free(cloud *c)
{
  for (int d = 0; d < 3; ++d) free(c->x[d]);
}

/// Point i at barycentric coordinates of an element.
static void put(const bench *b, int64_t e, const double share[4], cloud *to, size_t i)
{
  for (int d = 0; d < 3; ++d) {
    to->x[d][i] = 0.0;
    for (int l = 0; l < 4; ++l) to->x[d][i] += share[l] * b->corner[12 * e + 3 * l + d];
  }
}

/// A number that is none of a lattice, from 0 to 1.
static double shuffled(size_t i, int k)
{
  static const double step[] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
  return fmod(0.31 + step[k] * (double)(i + 1), 1.0);
}

/// In every element points inside, on each face, on each edge and at each corner.
/// @param[in] kept  numbers that are not 0 of the barycentric coordinates, 1 to 4
static cloud points_with(const bench *b, int kept)
{
  cloud c = cloud_of(4 * (size_t)b->n_elements);
  for (size_t i = 0; i < c.n; ++i) {
    double share[4] = {0}, sum = 0.0;
    for (int k = 0; k < kept; ++k)
      sum += share[(i + (size_t)k) % 4] = k < 3 ? 0.01 + shuffled(i, k) : 0.5;
    for (int l = 0; l < 4; ++l) share[l] /= sum;
    put(b, (int64_t)i / 4, share, &c, i);
  }
  return c;
}

/// Values of a field by its values at nodes.
static double *values_at(const bench *b, int order, int64_t n_nodes, const double *nodes,
                         const cloud *c)
{
  const double *there;
  double *values = calloc(c->n, sizeof *values);
  kg_buffer arrays[4];
  must(ctx, kedge_locator_keep(b->locator, n_nodes, nodes, &there));
  for (int d = 0; d < 3; ++d) must(ctx, kg_upload(ctx, c->x[d], c->n, sizeof **c->x, &arrays[d]));
  must(ctx, kg_alloc(ctx, c->n, sizeof *values, &arrays[3]));
  must(ctx, kedge_locator_values_space(b->locator, order, there, (int64_t)c->n, arrays[0].data,
                                       arrays[1].data, arrays[2].data, arrays[3].data));
  must(ctx, kg_copy_out(ctx, values, arrays[3].data, c->n * sizeof *values));
  for (int k = 0; k < 4; ++k) kg_free(ctx, &arrays[k]);
  must(ctx, kg_sync(ctx));
  return values;
}

/// A polynomial of a degree, whose values are of the size of 1 on the mesh.
static double polynomial(const bench *b, int degree, double x, double y, double z)
{
  const double *const first = b->corner;
  return pow(0.2 + 0.5 * (x - first[0]) - 0.3 * (y - first[1]) + 0.4 * (z - first[2]), degree) +
         0.25 * (x - first[0]);
}

static kedge_solution *solution_on(const kedge_mesh *mesh, const char *diffusion, const char *value)
{
  return solve(
      ctx, mesh,
      SETTINGS({"space", "order", order_of_solves()}, {"equation", "diffusion", diffusion},
               {"equation", "source", "1 + x*y - z"}, {"boundary default", "type", "dirichlet"},
               {"boundary default", "value", value}, {"solver", "tolerance", "1e-13"}));
}

/// The order of nodes goes beyond that of any solve.
static void polynomials_come_back_inside_on_faces_on_edges_and_at_corners(void **state)
{
  (void)state;
  for (int s = 0; s < SAMPLES; s += test_is_quick() ? 2 : 1) {
    bench b = bench_of(s);
    kedge_solution *const solution = solution_on(b.mesh, "1", "x");
    for (int order = 1; order <= KEDGE_ORDER_MAX + 1; order += test_is_quick() ? 5 : 1) {
      const int each = (order + 1) * (order + 2) * (order + 3) / 6;
      const int64_t n = b.n_elements * each;
      double *xyz = calloc(3 * (size_t)n, sizeof *xyz), *nodes = calloc((size_t)n, sizeof *nodes);
      must(ctx, kedge_solution_nodes(solution, order, xyz));
      for (int64_t i = 0; i < n; ++i)
        nodes[i] = polynomial(&b, order, xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]);
      for (int kept = 1; kept <= 4; ++kept) {
        cloud c = points_with(&b, kept);
        double *found = values_at(&b, order, n, nodes, &c);
        double *expected = calloc(c.n, sizeof *expected);
        for (size_t i = 0; i < c.n; ++i)
          expected[i] = polynomial(&b, order, c.x[0][i], c.x[1][i], c.x[2][i]);
        // Coordinates of the third mesh are rounded to 1e-13 of its thickness.
        assert_close(c.n, found, expected, s == 2 ? 1e-10 : 1e-11);
        free(found);
        free(expected);
        cloud_free(&c);
      }
      free(xyz);
      free(nodes);
    }
    kedge_solution_destroy(solution);
    bench_free(&b);
  }
}

/// Each element has its own number as values at its corners.
static double *numbers_of(const bench *b)
{
  double *nodes = calloc(4 * (size_t)b->n_elements, sizeof *nodes);
  for (int64_t i = 0; i < 4 * b->n_elements; ++i) nodes[i] = (double)(i / 4);
  return nodes;
}

static void a_point_belongs_to_the_lowest_number_of_the_elements_around_it(void **state)
{
  (void)state;
  for (int s = 0; s < SAMPLES; ++s) {
    bench b = bench_of(s);
    double *nodes = numbers_of(&b);
    for (int kept = 1; kept <= 4; ++kept) {
      cloud c = points_with(&b, kept);
      double *found = values_at(&b, 1, 4 * b.n_elements, nodes, &c);
      for (size_t i = 0; i < c.n; ++i) {
        int64_t lowest = -1;
        for (int64_t e = 0; e < b.n_elements && lowest < 0; ++e) {
          int shared = 0;  // corners between which the point lies
          for (int k = 0; k < kept; ++k)
            for (int l = 0; l < 4; ++l)
              shared += b.vertex[4 * e + l] == b.vertex[4 * (i / 4) + (i + (size_t)k) % 4];
          if (shared == kept) lowest = e;
        }
        assert_int_equal(lround(found[i]), lowest);
      }
      free(found);
      cloud_free(&c);
    }
    free(nodes);
    bench_free(&b);
  }
}

static void points_outside_are_nan(void **state)
{
  (void)state;
  static const double outside[][3] = {{-1e-6, 0.5, 0.5}, {0.5, 1 + 1e-6, 0.5}, {0.5, 0.5, -1e-6},
                                      {NAN, 0.5, 0.5},   {0.5, NAN, 0.5},      {0.5, 0.5, NAN},
                                      {1e300, 0.5, 0.5}, {0.5, -INFINITY, 0.5}};
  enum { N = sizeof outside / sizeof *outside };
  bench b = bench_of(1);
  double *nodes = numbers_of(&b);
  cloud c = cloud_of(N);
  for (int i = 0; i < N; ++i)
    for (int d = 0; d < 3; ++d) c.x[d][i] = outside[i][d];
  double *found = values_at(&b, 1, 4 * b.n_elements, nodes, &c);
  for (int i = 0; i < N; ++i) assert_true(isnan(found[i]));
  free(found);
  free(nodes);
  cloud_free(&c);
  bench_free(&b);
}

static void the_memory_of_points_is_predicted(void **state)
{
  (void)state;
  bench b = bench_of(0);
  double *nodes = numbers_of(&b);
  cloud c = points_with(&b, 4);
  kedge_locator_destroy(b.locator);
  const int64_t before = ctx->bytes_in_use;
  must(ctx, kedge_locator_create(ctx, b.mesh, &b.locator));
  assert_int_equal(ctx->bytes_in_use - before, kedge_locator_bytes(b.mesh));
  for (int i = 0; i < 2; ++i) {
    free(values_at(&b, 1, 4 * b.n_elements, nodes, &c));
    const int64_t field = (int64_t)kg_rounded(4 * (size_t)b.n_elements * sizeof *nodes);
    assert_int_equal(ctx->bytes_in_use - before, kedge_locator_bytes(b.mesh) + field);
  }
  free(nodes);
  cloud_free(&c);
  bench_free(&b);
}

static kedge_probe *probe_of(const kedge_mesh *mesh, const cloud *c)
{
  kedge_probe *probe;
  must(ctx, kedge_probe_create_space(ctx, mesh, (int64_t)c->n, c->x[0], c->x[1], c->x[2], &probe));
  return probe;
}

/// At nodes inside of elements, where kedge_solution_values() has the values of polynomials too.
static void a_probe_has_every_field_of_the_element(void **state)
{
  static const char *const diffusions[] = {"2", "2, 0.5, 0.1, 3, 0, 1", "1 + x^2"};
  enum { NODES = 5, EACH = 56, INSIDE = 4 };  // the last ones lie inside
  (void)state;
  for (int k = 0; k < 3; ++k) {
    bench b = bench_of(0);
    kedge_solution *const solution = solution_on(b.mesh, diffusions[k], "sin(x) - y + z^2");
    double *xyz = calloc(3 * EACH * (size_t)b.n_elements, sizeof *xyz);
    double *nodes = calloc(EACH * (size_t)b.n_elements, sizeof *nodes);
    cloud c = cloud_of(INSIDE * (size_t)b.n_elements);
    must(ctx, kedge_solution_nodes(solution, NODES, xyz));
    for (size_t i = 0; i < c.n; ++i)  // backwards
      for (int d = 0; d < 3; ++d) {
        const size_t e = (size_t)b.n_elements - 1 - i / INSIDE, node = EACH - 1 - i % INSIDE;
        c.x[d][i] = xyz[3 * (EACH * e + node) + (size_t)d];
      }
    kedge_probe *const probe = probe_of(b.mesh, &c);
    assert_int_equal(kedge_probe_count(probe), c.n);
    assert_int_equal(kedge_probe_outside(probe), 0);
    double *found = calloc(c.n, sizeof *found), *expected = calloc(c.n, sizeof *expected);
    for (int f = 0; f < KEDGE_FIELD_COUNT; ++f) {
      must(ctx, kedge_probe_values(probe, solution, (kedge_field)f, found));
      must(ctx, kedge_solution_values(solution, (kedge_field)f, NODES, nodes));
      for (size_t i = 0; i < c.n; ++i)
        expected[i] = nodes[EACH * ((size_t)b.n_elements - 1 - i / INSIDE) + EACH - 1 - i % INSIDE];
      assert_close(c.n, found, expected, 1e-11);
    }
    kedge_probe_destroy(probe);
    kedge_solution_destroy(solution);
    free(xyz);
    free(nodes);
    free(found);
    free(expected);
    cloud_free(&c);
    bench_free(&b);
  }
}

static void rounding_outside_counts_as_inside_and_more_does_not(void **state)
{
  static const double off[] = {1e-12, 0.9e-9, 1.1e-9, 1e-6};
  (void)state;
  bench b = bench_of(1);
  kedge_solution *const solution = solution_on(b.mesh, "1", "x");
  for (int axis = 0; axis < 3; ++axis)
    for (int i = 0; i < 4; ++i) {
      cloud c = cloud_of(2);
      double value[2];
      for (int d = 0; d < 3; ++d) c.x[d][0] = c.x[d][1] = 0.31 + 0.1 * d;
      c.x[axis][0] = 1.0 + off[i];
      kedge_probe *const probe = probe_of(b.mesh, &c);
      assert_int_equal(kedge_probe_outside(probe), i >= 2);
      must(ctx, kedge_probe_values(probe, solution, KEDGE_FIELD_U, value));
      assert_true(isnan(value[0]) == (i >= 2) && isfinite(value[1]));
      kedge_probe_destroy(probe);
      cloud_free(&c);
    }
  kedge_solution_destroy(solution);
  bench_free(&b);
}

static void a_table_in_space_has_z_and_three_parts_of_vectors(void **state)
{
  (void)state;
  char path[64], line[400];
  double row[12];
  snprintf(path, sizeof path, "/tmp/kedge_space_probe_%ld.csv", (long)getpid());
  kedge_problem *const problem =
      problem_of(ctx, SETTINGS({"mesh", "generate", "cube 2"}, {"equation", "diffusion", "2"},
                               {"boundary default", "type", "dirichlet"},
                               {"boundary default", "value", "x - 2*y + 3*z"},
                               {"solver", "tolerance", "1e-14"},
                               {"probe axis", "line", "0 0.25 0.5, 2 0.25 0.5, 5"}));
  kedge_mesh *mesh;
  kedge_probe *probe;
  kedge_solution *solution;
  must(ctx, kedge_problem_mesh(problem, &mesh));
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  must(ctx, kedge_problem_probes_create(ctx, mesh, problem, &probe));
  must(ctx, kedge_probe_write(probe, solution, path));
  FILE *const file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(line, "x,y,z,region,u,u_star,qx,qy,qz,sigma_x,sigma_y,sigma_z\n");
  for (int i = 0; i < 5; ++i) {
    assert_non_null(fgets(line, sizeof line, file));
    if (i > 2) {
      assert_string_equal(line, i == 3 ? "1.5,0.25,0.5,,,,,,,,,\n" : "2,0.25,0.5,,,,,,,,,\n");
      continue;
    }
    char *at = line;
    for (int k = 0; k < 12; ++k) row[k] = strtod(at, &at), ++at;
    const double u = 0.5 * i - 0.5 + 1.5;
    const double expected[12] = {0.5 * i, 0.25, 0.5, 1, u, u, 1, -2, 3, 2, -4, 6};
    assert_close(12, row, expected, 1e-12);
  }
  assert_null(fgets(line, sizeof line, file));
  fclose(file);
  unlink(path);
  kedge_probe_destroy(probe);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(problem);
}

static void assert_refused(kedge_status status, const char *sentence)
{
  assert_int_equal(status, KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(ctx), sentence);
}

static void points_of_another_dimension_are_refused(void **state)
{
  (void)state;
  const double at = 0.5;
  double value;
  bench b = bench_of(1);
  kedge_mesh *const plane = square_mesh(ctx, 2);
  kedge_locator *flat;
  kedge_probe *none;
  must(ctx, kedge_locator_create(ctx, plane, &flat));
  assert_refused(kedge_locator_values(b.locator, 1, &at, 1, &at, &at, &value),
                 "kedge_locator_values: cube 5, mapped is a mesh of tetrahedra, and a point has "
                 "x, y, z: call kedge_locator_values_space");
  assert_refused(kedge_locator_values_space(flat, 1, &at, 1, &at, &at, &at, &value),
                 "kedge_locator_values_space: square 2 is a mesh of the plane, and a point has "
                 "x, y: call kedge_locator_values");
  assert_refused(kedge_probe_create(ctx, b.mesh, 1, &at, &at, &none),
                 "kedge_probe_create: cube 5, mapped is a mesh of tetrahedra, and a point has "
                 "x, y, z: call kedge_probe_create_space");
  assert_refused(kedge_probe_create_space(ctx, plane, 1, &at, &at, &at, &none),
                 "kedge_probe_create_space: square 2 is a mesh of the plane, and a point has "
                 "x, y: call kedge_probe_create");
  assert_int_equal(kedge_probe_create_space(ctx, b.mesh, 1, &at, &at, NULL, &none), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx), "kedge_probe_create_space: x, y or z is NULL");
  const double far = 3.0;
  assert_refused(kedge_probe_create_space(ctx, b.mesh, 1, &far, &at, &at, &none),
                 "no point of the probe lies in cube 5, mapped, which has x from 0 to 1, y from 0 "
                 "to 1 and z from 0 to 1; the first of 1 is (3, 0.5, 0.5)");
  static const struct {
    const char *key, *value;
    bool in_space;
    const char *sentence;
  } sections[] = {
      {"points", "0.5 0.5", true,
       "a point has two numbers, and the mesh is of tetrahedra: write x y z"},
      {"line", "0 0, 1 1, 3", true,
       "a point has two numbers, and the mesh is of tetrahedra: write x y z"},
      {"points", "0.5 0.5 0.5", false,
       "a point has three numbers, and the mesh is of the plane: write x y"},
      {"line", "0 0 0, 1 1 1, 3", false,
       "a point has three numbers, and the mesh is of the plane: write x y"},
  };
  for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i) {
    kedge_problem *const problem =
        problem_of(ctx, SETTINGS({"probe a", sections[i].key, sections[i].value}));
    assert_int_equal(
        kedge_problem_probes_create(ctx, sections[i].in_space ? b.mesh : plane, problem, &none),
        KEDGE_ERR_INPUT);
    assert_non_null(strstr(kedge_context_error(ctx), sections[i].sentence));
    kedge_problem_destroy(problem);
  }
  kedge_locator_destroy(flat);
  kedge_mesh_destroy(plane);
  bench_free(&b);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomials_come_back_inside_on_faces_on_edges_and_at_corners),
      cmocka_unit_test(a_point_belongs_to_the_lowest_number_of_the_elements_around_it),
      cmocka_unit_test(points_outside_are_nan),
      cmocka_unit_test(the_memory_of_points_is_predicted),
      cmocka_unit_test(a_probe_has_every_field_of_the_element),
      cmocka_unit_test(rounding_outside_counts_as_inside_and_more_does_not),
      cmocka_unit_test(a_table_in_space_has_z_and_three_parts_of_vectors),
      cmocka_unit_test(points_of_another_dimension_are_refused),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
