// Results on triangles and quadrilaterals: what calls and files give of polynomials, whose
// coefficients are put into a solution here.
#include <hdf5.h>
#include <stdlib.h>
#include <unistd.h>

#include "compare.h"
#include "context.h"
#include "ops/local/quadrature/means.h"
#include "solution/solution.h"
#include "support.h"

enum { SQUARES = 5, ORDERS = 5, ROWS = 10 };

static const double diffusion = 2.5, scale = 4.0;

/// Polynomials of degree P for u and P + 1 for u*, of which q is the gradient.
static double power(double x, double y, int degree)
{
  return pow(0.3 + x - 0.5 * y, degree) + y;
}

static double exact(kedge_field field, int order, double x, double y)
{
  const double slope = (order + 1) * pow(0.3 + x - 0.5 * y, order);
  const double values[KEDGE_FIELD_COUNT_PLANE] = {
      power(x, y, order), slope,
      1.0 - 0.5 * slope,  power(x, y, order + 1),
      diffusion * slope,  diffusion * (1.0 - 0.5 * slope)};
  return values[field];
}

/// Squares of which every third is cut, moved so that none is a parallelogram; in turns the shapes
/// follow each other in the caller's numbering.
static kedge_mesh *create_mesh(bool is_mixed)
{
  enum { VERTICES = (SQUARES + 1) * (SQUARES + 1), ELEMENTS = 2 * SQUARES * SQUARES };
  double vertices[2 * VERTICES];
  int32_t corners[4 * ELEMENTS], regions[ELEMENTS];
  kg_raw_mesh raw = {.dimension = 2,
                     .n_vertices = VERTICES,
                     .vertices = vertices,
                     .width = 4,
                     .corners = corners,
                     .regions = regions};
  for (int v = 0; v < VERTICES; ++v) {
    const int i = v % (SQUARES + 1), j = v / (SQUARES + 1);
    vertices[2 * v] = (i + 0.2 * sin(3.0 * i + j)) / SQUARES;
    vertices[2 * v + 1] = (j + 0.2 * cos(i + 2.0 * j)) / SQUARES;
  }
  for (int j = 0; j < SQUARES; ++j)
    for (int i = 0; i < SQUARES; ++i) {
      const int32_t a = j * (SQUARES + 1) + i, b = a + 1, d = a + SQUARES + 1, e = d + 1;
      const bool is_cut = is_mixed && (i + j) % 3 == 0;
      const int32_t square[4] = {a, b, e, d}, cut[8] = {a, b, e, -1, a, e, d, -1};
      for (int k = 0; k < (is_cut ? 8 : 4); ++k)
        corners[4 * raw.n_elements + k] = is_cut ? cut[k] : square[k];
      raw.n_elements += is_cut ? 2 : 1;
    }
  for (int e = 0; e < raw.n_elements; ++e) regions[e] = 1 + e % 7;
  kedge_mesh *mesh;
  must(ctx, kg_mesh_build(ctx, &raw, "shapes", &mesh));
  return mesh;
}

static void *allocate(size_t count)
{
  void *memory = calloc(count, sizeof(double));
  assert_non_null(memory);
  return memory;
}

/// s at a point: the flux diffusion grad u on the reference element, of the equation as solved.
static void flux_at(int order, const kg_cell_place *at, double s[2])
{
  const double x = scale * diffusion * exact(KEDGE_FIELD_QX, order, at->x, at->y);
  const double y = scale * diffusion * exact(KEDGE_FIELD_QY, order, at->x, at->y);
  s[0] = at->y_s * x - at->x_s * y;
  s[1] = at->x_r * y - at->y_r * x;
}

/// Project onto the modes of an element.
static void project(const kedge_mesh *mesh, const kg_results *r, const kg_cell_points *rule,
                    int32_t e)
{
  const int V = r->size.n_facets, order = r->size.order, n_star = r->size.n_star;
  const int N = r->size.n_modes, S = r->size.n_flux;
  double x[KG_FACETS_MAX], y[KG_FACETS_MAX];
  for (int v = 0; v < V; ++v) {
    const int32_t vertex = kg_element_vertices(mesh, r->first_element + e)[v];
    x[v] = mesh->vertices[2 * vertex];
    y[v] = mesh->vertices[2 * vertex + 1];
  }
  for (int q = 0; q < rule->n; ++q) {
    const kg_cell_place at = kg_cell_place_of(V, rule->map + 3 * q * V, 1, x, y);
    const double w = rule->weight[q], *const phi = rule->value + q * n_star;
    double s[2];
    flux_at(order, &at, s);
    for (int i = 0; i < n_star; ++i)
      r->u_star[kg_cell_at(e, n_star, i)] +=
          w * phi[i] * exact(KEDGE_FIELD_U_STAR, order, at.x, at.y);
    for (int i = 0; i < N; ++i)
      r->u[kg_cell_at(e, N, i)] += w * phi[i] * exact(KEDGE_FIELD_U, order, at.x, at.y);
    for (int i = 0; i < S; ++i) {
      const int component = i >= S / 2;
      const kedge_field field = component ? KEDGE_FIELD_QY : KEDGE_FIELD_QX;
      r->flux[kg_cell_at(e, S, i)] += w * (V == 3 ? phi[i % N] * exact(field, order, at.x, at.y)
                                                  : rule->flux[q * S + i] * s[component]);
    }
  }
  r->indicator[e] = 0.5 * mesh->element_origin[r->first_element + e];
}

/// A solution in which all modes are there, a batch of each block.
static kedge_solution *create_solution(const kedge_mesh *mesh, int order)
{
  kedge_solution *s;
  must(ctx, kg_solution_create(ctx, &s));
  s->mesh = mesh;
  s->m = order + 1;
  s->size = kg_sizes_of(order);
  s->scale = scale;
  s->equation =
      (kg_coefficients){.dimension = 2,
                        .n_diffusion = 1,
                        .diffusion = {{.kind = KG_FUNCTION_CONSTANT, .constant = diffusion}},
                        .reaction = {.kind = KG_FUNCTION_CONSTANT}};
  s->n_batches = mesh->n_blocks;
  for (int b = 0; b < mesh->n_blocks; ++b) {
    const kg_block *const block = &mesh->block[b];
    s->batch[b] = (kg_results){.by_quadrature = block->cell != &kg_triangle,
                               .n_means = block->cell != &kg_triangle ? 5 : 3,
                               .cell = block->cell,
                               .size = kg_cell_sizes_of(block->cell, order),
                               .first_element = block->first,
                               .n_elements = block->n,
                               .n_groups = (block->n + KG_LANES - 1) / KG_LANES};
  }
  must(ctx, kg_solution_allocate(s, KG_HOLDS_MODES | KG_HOLDS_INDICATOR, KG_ON_HOST, 0));
  for (kg_held_field f = 0; f < KG_HELD_FIELDS; ++f)
    if (kg_holds(s, f)) memset(s->held[f].host, 0, s->held[f].numbers * sizeof(double));
  for (int b = 0; b < mesh->n_blocks; ++b) {
    const kg_block *const block = &mesh->block[b];
    double *values;
    must(ctx, kg_cell_points_create(ctx, block->cell, order, 1, ROWS, KG_BEHIND_NOTHING, &values));
    const kg_cell_points rule =
        kg_cell_points_at(block->cell, order, 1, ROWS, KG_BEHIND_NOTHING, values);
    for (int32_t e = 0; e < block->n; ++e) project(mesh, &s->batch[b], &rule, e);
    free(values);
  }
  return s;
}

/// @param[in] n  nodes of order P + 1 of all elements
typedef void solution_check(kedge_solution *s, int order, int64_t n);

/// On a mesh of quadrilaterals and on one of both shapes.
static void for_all(solution_check *check)
{
  for (int is_mixed = 0; is_mixed < 2; ++is_mixed) {
    kedge_mesh *mesh = create_mesh(is_mixed);
    assert_int_equal(mesh->n_blocks, 1 + is_mixed);
    for (int order = 1; order <= ORDERS; ++order) {
      kedge_solution *s = create_solution(mesh, order);
      int64_t *offsets = allocate((size_t)mesh->n_elements + 1);
      must(ctx, kedge_solution_offsets(s, order + 1, offsets));
      check(s, order, offsets[mesh->n_elements]);
      free(offsets);
      kedge_solution_destroy(s);
    }
    kedge_mesh_destroy(mesh);
  }
}

static void check_nodes(kedge_solution *s, int order, int64_t n)
{
  const kedge_mesh *mesh = s->mesh;
  double *xy = allocate(2 * (size_t)n), *values = allocate((size_t)n);
  int64_t *offsets = allocate((size_t)mesh->n_elements + 1);
  must(ctx, kedge_solution_offsets(s, order + 1, offsets));
  must(ctx, kedge_solution_nodes(s, order + 1, xy));
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const int32_t origin = mesh->element_origin[e], *const v = kg_element_vertices(mesh, e);
    const kg_cell *const cell = kg_block_of(mesh, e)->cell;
    assert_int_equal(offsets[origin + 1] - offsets[origin], cell->n_modes(order + 1));
    for (int l = 0; l < cell->n_vertices; ++l)
      for (int k = 0; k < 2; ++k)
        assert_true(xy[2 * (offsets[origin] + l) + k] == mesh->vertices[2 * v[l] + k]);
  }
  for (int field = 0; field < KEDGE_FIELD_COUNT_PLANE; ++field) {
    must(ctx, kedge_solution_values(s, (kedge_field)field, order + 1, values));
    for (int64_t i = 0; i < n; ++i)
      assert_at_most(fabs(values[i] - exact((kedge_field)field, order, xy[2 * i], xy[2 * i + 1])),
                     1e-12 * (order + 1) * pow(1.5, order + 1));
  }
  free(offsets);
  free(values);
  free(xy);
}

static void polynomials_are_exact_at_the_nodes_of_both_shapes(void **state)
{
  (void)state;
  for_all(check_nodes);
}

/// The mean of a field over an element (the mesh's number), by the rule of its shape.
static double exact_mean(const kedge_solution *s, kedge_field field, int32_t e)
{
  const kg_cell *const cell = kg_block_of(s->mesh, e)->cell;
  const int V = cell->n_vertices, order = s->size.order;
  double *values, x[KG_FACETS_MAX], y[KG_FACETS_MAX], sum = 0.0, area = 0.0;
  must(ctx, kg_cell_points_create(ctx, cell, order, 1, ROWS, KG_BEHIND_NOTHING, &values));
  const kg_cell_points rule = kg_cell_points_at(cell, order, 1, ROWS, KG_BEHIND_NOTHING, values);
  for (int v = 0; v < V; ++v) {
    x[v] = s->mesh->vertices[2 * kg_element_vertices(s->mesh, e)[v]];
    y[v] = s->mesh->vertices[2 * kg_element_vertices(s->mesh, e)[v] + 1];
  }
  for (int q = 0; q < rule.n; ++q) {
    const kg_cell_place at = kg_cell_place_of(V, rule.map + 3 * q * V, 1, x, y);
    sum += rule.weight[q] * at.jacobian * exact(field, order, at.x, at.y);
    area += rule.weight[q] * at.jacobian;
  }
  free(values);
  return sum / area;
}

static void check_means(kedge_solution *s, int order, int64_t n)
{
  (void)n;
  double *values = allocate((size_t)s->mesh->n_elements);
  for (int field = 0; field < KEDGE_FIELD_COUNT_PLANE; ++field) {
    if (field == KEDGE_FIELD_U_STAR) continue;  // whose mean is that of u
    must(ctx, kedge_solution_means(s, (kedge_field)field, values));
    for (int32_t e = 0; e < s->mesh->n_elements; ++e)
      assert_at_most(
          fabs(values[s->mesh->element_origin[e]] - exact_mean(s, (kedge_field)field, e)),
          1e-13 * (order + 1) * pow(1.5, order + 1));
  }
  must(ctx, kedge_solution_indicator(s, values));
  for (int32_t e = 0; e < s->mesh->n_elements; ++e) assert_true(values[e] == 0.5 * e);
  free(values);
}

static void means_are_those_over_the_elements(void **state)
{
  (void)state;
  for_all(check_means);
}

static char path[] = "/tmp/kedge_shapes_XXXXXX.hdf";

static void *read_all(hid_t file, const char *name, hid_t type, int64_t count)
{
  void *values = allocate((size_t)count);
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
  assert_int_equal(H5Sget_simple_extent_npoints(space), count);
  assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  H5Dclose(dataset);
  return values;
}

/// What all files have of each cell, whose type depends on its shape.
static void check_cells(const kedge_mesh *mesh, hid_t file, int triangle, int quadrilateral)
{
  const int32_t n = mesh->n_elements;
  int *types = read_all(file, "VTKHDF/Types", H5T_NATIVE_INT, n);
  int *regions = read_all(file, "VTKHDF/CellData/region", H5T_NATIVE_INT, n);
  double *error = read_all(file, "VTKHDF/CellData/error_indicator", H5T_NATIVE_DOUBLE, n);
  for (int32_t e = 0; e < n; ++e) {
    const int32_t origin = mesh->element_origin[e];
    const bool is_triangle = kg_block_of(mesh, e)->cell == &kg_triangle;
    assert_int_equal(types[origin], is_triangle ? triangle : quadrilateral);
    assert_int_equal(regions[origin], 1 + origin % 7);
    assert_true(error[origin] == 0.5 * origin);
  }
  free(types);
  free(regions);
  free(error);
}

static void check_file(kedge_solution *s, int order, int64_t n)
{
  static const char *const names[] = {"u", "q", "q", "u_star", "sigma", "sigma"};
  double *expected = allocate(2 * (size_t)n);
  must(ctx, kedge_solution_write(s, path));
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  check_cells(s->mesh, file, 69, 70);
  double *xyz = read_all(file, "VTKHDF/Points", H5T_NATIVE_DOUBLE, 3 * n);
  must(ctx, kedge_solution_nodes(s, order + 1, expected));
  for (int64_t i = 0; i < n; ++i)
    assert_true(xyz[3 * i] == expected[2 * i] && xyz[3 * i + 1] == expected[2 * i + 1] &&
                xyz[3 * i + 2] == 0.0);
  for (int field = 0; field < KEDGE_FIELD_COUNT_PLANE; ++field) {
    const bool is_vector = field != KEDGE_FIELD_U && field != KEDGE_FIELD_U_STAR;
    const int component = field == KEDGE_FIELD_QY || field == KEDGE_FIELD_SIGMA_Y;
    const int step = is_vector ? 3 : 1;
    char name[32];
    snprintf(name, sizeof name, "VTKHDF/PointData/%s", names[field]);
    double *values = read_all(file, name, H5T_NATIVE_DOUBLE, step * n);
    must(ctx, kedge_solution_values(s, (kedge_field)field, order + 1, expected));
    for (int64_t i = 0; i < n; ++i) assert_true(values[step * i + component] == expected[i]);
    free(values);
  }
  int64_t *offsets = read_all(file, "VTKHDF/Offsets", H5T_NATIVE_INT64, s->mesh->n_elements + 1);
  int64_t *of_call = allocate((size_t)s->mesh->n_elements + 1);
  must(ctx, kedge_solution_offsets(s, order + 1, of_call));
  assert_memory_equal(offsets, of_call, ((size_t)s->mesh->n_elements + 1) * sizeof *offsets);
  free(of_call);
  free(offsets);
  free(xyz);
  free(expected);
  H5Fclose(file);
}

static void files_hold_what_the_calls_give(void **state)
{
  (void)state;
  for_all(check_file);
}

/// Replace the modes of a solution by its means.
static void keep_means(kedge_solution *s)
{
  static const kedge_field kinds[KG_CELL_MEANS] = {KEDGE_FIELD_U, KEDGE_FIELD_QX, KEDGE_FIELD_QY,
                                                   KEDGE_FIELD_SIGMA_X, KEDGE_FIELD_SIGMA_Y};
  const int32_t n = s->mesh->n_elements;
  double *values = allocate((size_t)n),
         *next = allocate(KG_CELL_MEANS * ((size_t)n + 2 * KG_LANES));
  s->held[KG_HELD_MEANS].numbers = KG_CELL_MEANS * ((size_t)n + 2 * KG_LANES);
  s->held[KG_HELD_MEANS].host = next;
  s->held[KG_HELD_MEANS].is_current = true;
  for (int b = 0; b < s->n_batches; ++b) {
    kg_results *const r = &s->batch[b];
    double *const constant = next;
    const int n_means = r->by_quadrature ? KG_CELL_MEANS : 3;
    for (int k = 0; k < n_means; ++k) {
      must(ctx, kedge_solution_means(s, kinds[k], values));
      for (int32_t e = 0; e < r->n_elements; ++e)
        constant[kg_cell_at(e, n_means, k)] =
            values[s->mesh->element_origin[r->first_element + e]] * (k < 3 ? 1.0 : s->scale) *
            (r->cell == &kg_triangle ? sqrt(2.0) : 2.0);
    }
    next += n_means * r->n_groups * KG_LANES;
    r->constant = constant;
  }
  free(values);
}

static void check_file_of_means(kedge_solution *s, int order, int64_t n)
{
  const kedge_mesh *mesh = s->mesh;
  const int32_t cells = mesh->n_elements;
  (void)n;
  keep_means(s);
  must(ctx, kedge_solution_write(s, path));
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  check_cells(mesh, file, 5, 9);
  double *u = read_all(file, "VTKHDF/CellData/u", H5T_NATIVE_DOUBLE, cells);
  double *q = read_all(file, "VTKHDF/CellData/q", H5T_NATIVE_DOUBLE, 3 * (int64_t)cells);
  double *sigma = read_all(file, "VTKHDF/CellData/sigma", H5T_NATIVE_DOUBLE, 3 * (int64_t)cells);
  double *xyz = read_all(file, "VTKHDF/Points", H5T_NATIVE_DOUBLE, 3 * (int64_t)mesh->n_vertices);
  int64_t *offsets = read_all(file, "VTKHDF/Offsets", H5T_NATIVE_INT64, cells + 1);
  int64_t *points = read_all(file, "VTKHDF/Connectivity", H5T_NATIVE_INT64, kg_mesh_sides(mesh));
  const double tolerance = 1e-13 * (order + 1) * pow(1.5, order + 1);
  for (int32_t e = 0; e < cells; ++e) {
    const int32_t origin = mesh->element_origin[e], *const v = kg_element_vertices(mesh, e);
    const int V = kg_block_of(mesh, e)->cell->n_vertices;
    assert_at_most(fabs(u[origin] - exact_mean(s, KEDGE_FIELD_U, e)), tolerance);
    assert_at_most(fabs(q[3 * origin] - exact_mean(s, KEDGE_FIELD_QX, e)), tolerance);
    assert_at_most(fabs(q[3 * origin + 1] - exact_mean(s, KEDGE_FIELD_QY, e)), tolerance);
    assert_at_most(fabs(sigma[3 * origin] - exact_mean(s, KEDGE_FIELD_SIGMA_X, e)), tolerance);
    assert_at_most(fabs(sigma[3 * origin + 1] - exact_mean(s, KEDGE_FIELD_SIGMA_Y, e)), tolerance);
    assert_int_equal(offsets[origin + 1] - offsets[origin], V);
    for (int l = 0; l < V; ++l)
      for (int k = 0; k < 2; ++k)
        assert_true(xyz[3 * points[offsets[origin] + l] + k] == mesh->vertices[2 * v[l] + k]);
  }
  free(u);
  free(q);
  free(sigma);
  free(xyz);
  free(offsets);
  free(points);
  H5Fclose(file);
}

static void files_of_means_have_linear_cells_of_both_shapes(void **state)
{
  (void)state;
  for_all(check_file_of_means);
}

int main(void)
{
  test_skip_without_backend();
  const int descriptor = mkstemps(path, 4);
  if (descriptor < 0) return 1;
  close(descriptor);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomials_are_exact_at_the_nodes_of_both_shapes),
      cmocka_unit_test(means_are_those_over_the_elements),
      cmocka_unit_test(files_hold_what_the_calls_give),
      cmocka_unit_test(files_of_means_have_linear_cells_of_both_shapes),
  };
  const int failed = cmocka_run_group_tests(tests, open_context, close_context);
  unlink(path);
  return failed;
}
