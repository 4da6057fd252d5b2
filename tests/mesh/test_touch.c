// Boundary edges that lie on others, elements that lie on others, and vertices that are joined.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expression/function.h"
#include "mesh/mesh.h"
#include "support.h"

/// A rectangle of columns x rows squares, each cut in two.
typedef struct block {
  double x, y, width, height;
  int columns, rows;
} block;

enum { MOST = 4000 };

typedef struct pile {
  int n_vertices, n_triangles, n_lines;
  double vertices[MOST][2];
  int32_t triangles[MOST][3], regions[MOST], lines[MOST][2], tags[MOST];
} pile;

/// Blocks that share no vertices. Group k + 1 is the right side of block k, k + 101 its left side.
static void pile_up(int n, const block *blocks, pile *p)
{
  *p = (pile){0};
  for (int k = 0; k < n; ++k) {
    const block *b = &blocks[k];
    const int row = b->columns + 1, first = p->n_vertices;
    for (int v = 0; v < row * (b->rows + 1); ++v) {
      double *at = p->vertices[p->n_vertices++];
      at[0] = b->x + b->width * (v % row) / b->columns;
      at[1] = b->y + b->height * (v / row) / b->rows;
    }
    for (int s = 0; s < b->columns * b->rows; ++s) {
      const int32_t a = first + s / b->columns * row + s % b->columns, c = a + row + 1;
      const int32_t both[2][3] = {{a, a + 1, c}, {a, c, c - 1}};
      for (int i = 0; i < 2; ++i) {
        p->regions[p->n_triangles] = k + 1;
        memcpy(p->triangles[p->n_triangles++], both[i], sizeof both[i]);
      }
    }
    for (int i = 0; i < b->rows; ++i)
      for (int side = 0; side < 2; ++side) {
        const int32_t v = first + i * row + (side ? 0 : b->columns);
        p->tags[p->n_lines] = k + 1 + 100 * side;
        memcpy(p->lines[p->n_lines++], (int32_t[]){v, v + row}, sizeof *p->lines);
      }
  }
}

static kedge_mesh *mesh_of(kedge_context *ctx, const pile *p)
{
  const kedge_mesh_arrays arrays = {.n_vertices = p->n_vertices,
                                    .vertices = p->vertices[0],
                                    .n_triangles = p->n_triangles,
                                    .triangles = p->triangles[0],
                                    .regions = p->regions,
                                    .n_lines = p->n_lines,
                                    .lines = p->lines[0],
                                    .line_tags = p->tags};
  kedge_mesh *mesh;
  assert_ok(ctx, kedge_mesh_create(ctx, &arrays, &mesh));
  return mesh;
}

static kedge_mesh_info info_of(const kedge_mesh *mesh)
{
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  kedge_mesh_get_info(mesh, &info);
  return info;
}

static kedge_mesh_info info_of_pile(kedge_context *ctx, const pile *p)
{
  kedge_mesh *mesh = mesh_of(ctx, p);
  const kedge_mesh_info info = info_of(mesh);
  kedge_mesh_destroy(mesh);
  return info;
}

static pile pile_of_two;

static kedge_mesh_info info_of_two(kedge_context *ctx, block a, block b)
{
  pile_up(2, (block[]){a, b}, &pile_of_two);
  return info_of_pile(ctx, &pile_of_two);
}

/// Around (1, y), 0 <= y <= 1.
static void assert_on_interface(const double at[2])
{
  assert_true(fabs(at[0] - 1.0) < 1e-5 && at[1] > 0.0 && at[1] < 1.0);
}

static void parts_that_touch_within_rounding_are_found(void **state)
{
  static const double offs[] = {0.0, 1e-15, -3e-12, 1e-9, -1e-7};
  for (size_t i = 0; i < sizeof offs / sizeof *offs; ++i) {
    const kedge_mesh_info info =
        info_of_two(*state, (block){0, 0, 1, 1, 2, 3}, (block){1 + offs[i], offs[i], 1, 1, 5, 3});
    assert_int_equal(info.coincident_edges, 6);
    assert_int_equal(info.overlapping_edges, 0);
    assert_on_interface(info.coincident_at);
    assert_true(info.join_distance > fabs(offs[i]) && info.join_distance < 1e-6);
  }
}

/// As files have them that were written with seven digits, far from 0.
static void coordinates_of_single_precision_touch(void **state)
{
  pile *const p = &pile_of_two;
  pile_up(2, (block[]){{700.1, 1.3, 1, 1, 10, 10}, {701.1, 1.3, 2, 1, 20, 10}}, p);
  for (int v = 0; v < p->n_vertices; ++v) p->vertices[v][0] += v % 3 * 1.9e-5;
  const kedge_mesh_info info = info_of_pile(*state, p);
  assert_int_equal(info.coincident_edges, 20);
  assert_true(info.join_distance > 3.8e-5);
}

static void edges_that_lie_on_a_part_of_others_are_found(void **state)
{
  const block left = {0, 0, 1, 1, 2, 2};
  kedge_mesh_info info = info_of_two(*state, left, (block){1, 0, 1, 1, 2, 4});
  assert_int_equal(info.coincident_edges, 6);
  assert_true(info.join_distance == 0.0);
  info = info_of_two(*state, left, (block){1 + 1e-10, 0.1, 1, 0.3, 2, 2});
  assert_int_equal(info.coincident_edges, 3);
  info = info_of_two(*state, left, (block){1, 0.9, 1, 1, 2, 1});
  assert_int_equal(info.coincident_edges, 2);
  assert_int_equal(info.overlapping_edges, 0);
}

static void what_touches_in_a_point_or_not_at_all_is_not_said(void **state)
{
  static const block others[] = {
      {1, 1, 1, 1, 2, 2}, {1 + 1e-3, 0, 1, 1, 2, 3}, {3, 0, 1, 1, 2, 2}, {0, 1.0001, 1, 1, 4, 4}};
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    const kedge_mesh_info info = info_of_two(*state, (block){0, 0, 1, 1, 2, 3}, others[i]);
    assert_int_equal(info.coincident_edges, 0);
    assert_int_equal(info.overlapping_edges, 0);
  }
  pile *const p = &pile_of_two;  // a corner in the middle of an edge
  pile_up(2, (block[]){{0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 1, 1}}, p);
  for (int v = 4; v < 8; ++v) {
    const double x = p->vertices[v][0], y = p->vertices[v][1];
    p->vertices[v][0] = 1.0 + x + y;
    p->vertices[v][1] = 0.5 + y - x;
  }
  const kedge_mesh_info info = info_of_pile(*state, p);
  assert_int_equal(info.coincident_edges, 0);
  assert_int_equal(info.overlapping_edges, 0);
}

static void elements_on_elements_are_found(void **state)
{
  static const block others[] = {{0.55, 0.35, 1, 1, 3, 3},      // across the boundary
                                 {0.5, 0, 1, 1, 2, 4},          // on edges of the mesh
                                 {0.25, 0.25, 0.5, 0.5, 2, 2},  // within it, on its edges
                                 {0.3, 0.3, 0.2, 0.1, 1, 1},    // within one element or two
                                 {-1, -1, 3, 3, 1, 1},          // around it
                                 {0, 0, 1, 1, 4, 4},            // the same once more
                                 {0.999, 0, 1, 1, 2, 3}};       // by little
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    const kedge_mesh_info info = info_of_two(*state, (block){0, 0, 1, 1, 4, 4}, others[i]);
    if (info.overlapping_edges == 0) fail_msg("case %zu", i);
    assert_true(info.overlapping_at[0] > -1 && info.overlapping_at[0] < 2);
  }
}

/// A ring whose first and last vertices are not one.
static void the_seam_of_one_part_is_found_and_joined(void **state)
{
  enum { ROUND = 12 };
  pile *const p = &pile_of_two;
  pile_up(1, &(block){0, 1, 1, 1, ROUND, 2}, p);
  for (int v = 0; v < p->n_vertices; ++v) {
    const double angle = 2 * acos(-1.0) * (1.0 - p->vertices[v][0]), r = p->vertices[v][1];
    p->vertices[v][0] = r * cos(angle);
    p->vertices[v][1] = r * sin(angle);
  }
  kedge_mesh *mesh = mesh_of(*state, p), *joined;
  const kedge_mesh_info info = info_of(mesh);
  assert_int_equal(info.parts, 1);
  assert_int_equal(info.coincident_edges, 4);
  assert_ok(*state, kedge_mesh_join(*state, mesh, info.join_distance, &joined));
  const kedge_mesh_info after = info_of(joined);
  assert_int_equal(after.coincident_edges, 0);
  assert_int_equal(after.joined_vertices, 3);
  assert_int_equal(after.vertices, 3 * ROUND);
  assert_int_equal(after.boundary_edges, 2 * ROUND);
  kedge_mesh_destroy(joined);
  kedge_mesh_destroy(mesh);
}

static void sound_meshes_have_no_edges_on_others(void **state)
{
  static const char *const words[] = {"square 7", "mixed 6", "lshape 3 quads", "ring 3 17",
                                      "disk 5"};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    for (int geometry = 1; geometry <= 4; geometry += 3) {
      kedge_mesh *mesh;
      assert_ok(*state, kg_mesh_generate(*state, words[i], geometry, &mesh));
      assert_int_equal(info_of(mesh).coincident_edges, 0);
      assert_int_equal(info_of(mesh).overlapping_edges, 0);
      kedge_mesh_destroy(mesh);
    }
}

static void bend_x(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i)
    value[i] = points->x[i] + 0.2 * points->y[i] * points->y[i] * points->y[i];
}

static void keep_y(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = points->y[i];
}

static kedge_mesh *bent(kedge_context *ctx, const block *blocks, int n)
{
  const kg_function x = {.kind = KG_FUNCTION_CALLER, .function = bend_x};
  const kg_function y = {.kind = KG_FUNCTION_CALLER, .function = keep_y};
  kedge_mesh *mesh, *out;
  pile_up(n, blocks, &pile_of_two);
  mesh = mesh_of(ctx, &pile_of_two);
  assert_ok(ctx, kg_mesh_map(ctx, mesh, 3, &x, &y, &out));
  kedge_mesh_destroy(mesh);
  return out;
}

static void curves_that_lie_on_each_other_are_found_and_joined(void **state)
{
  kedge_mesh *mesh = bent(*state, (block[]){{0, 0, 1, 1, 2, 3}, {1 + 2e-12, 0, 1, 1, 2, 3}}, 2),
             *joined;
  const kedge_mesh_info info = info_of(mesh);
  assert_int_equal(info.geometry, 3);
  assert_int_equal(info.coincident_edges, 6);
  assert_int_equal(info.overlapping_edges, 0);
  assert_ok(*state, kedge_mesh_join(*state, mesh, 1e-9, &joined));
  const kedge_mesh_info after = info_of(joined);
  assert_int_equal(after.parts, 1);
  assert_int_equal(after.geometry, 3);
  assert_int_equal(after.coincident_edges, 0);
  assert_int_equal(after.joined_vertices, 4);
  assert_true(fabs(after.area - info.area) < 1e-10);
  kedge_mesh_destroy(joined);
  kedge_mesh_destroy(mesh);

  mesh = bent(*state, (block[]){{0, 0, 1, 1, 2, 3}, {1, 0, 1, 1, 2, 6}}, 2);
  assert_int_equal(info_of(mesh).overlapping_edges, 0);
  kedge_mesh_destroy(mesh);
  mesh = bent(*state, (block[]){{0, 0, 1, 1, 2, 3}, {0.9, 0, 1, 1, 2, 3}}, 2);
  assert_true(info_of(mesh).overlapping_edges > 0);
  kedge_mesh_destroy(mesh);
}

static const kg_group *group_of(const kedge_mesh *mesh, const char *name)
{
  for (int g = 0; g < mesh->n_groups; ++g)
    if (mesh->groups[g].dimension == 1 && strcmp(mesh->groups[g].name, name) == 0)
      return &mesh->groups[g];
  return NULL;
}

/// Edges inside keep one of their groups, which takes no condition; elements keep their order.
/// One side has edges half as long as the other: vertices lie on edges once their ends are joined.
static void a_vertex_that_lies_on_an_edge_once_parts_are_joined_is_refused_with_what_helps(
    void **state)
{
  static const struct {
    block a, b;
  } pairs[] = {{{0, 0, 1, 1, 2, 2}, {1 + 1e-7, 0, 1, 1, 2, 4}},
               {{0, 0, 2, 1, 1, 1}, {0, 1 - 1e-8, 2, 1, 3, 2}}};
  for (int i = 0; i < 2; ++i) {
    pile_up(2, (block[]){pairs[i].a, pairs[i].b}, &pile_of_two);
    pile_of_two.n_lines = 0;
    kedge_mesh *mesh = mesh_of(*state, &pile_of_two), *joined = NULL;
    assert_int_equal(kedge_mesh_join(*state, mesh, 1e-3, &joined), KEDGE_ERR_INPUT);
    assert_non_null(strstr(kedge_context_error(*state), "(a hanging node); split that "));
    assert_non_null(strstr(kedge_context_error(*state), "not to edges"));
    assert_null(strstr(kedge_context_error(*state), "physical group"));
    assert_null(joined);
    kedge_mesh_destroy(mesh);
  }
}

static void joined_edges_are_inside_and_elements_where_they_were(void **state)
{
  pile *const p = &pile_of_two;
  pile_up(3, (block[]){{0, 0, 1, 1, 2, 3}, {1 - 2e-9, 0, 1, 1, 3, 3}, {2, 0, 1, 1, 2, 3}}, p);
  kedge_mesh *mesh = mesh_of(*state, p), *joined;
  assert_ok(*state, kedge_mesh_join(*state, mesh, 1e-8, &joined));
  const kedge_mesh_info info = info_of(joined);
  int32_t regions[MOST];
  assert_int_equal(info.parts, 1);
  assert_int_equal(info.elements, p->n_triangles);
  assert_int_equal(info.joined_vertices, 8);
  assert_int_equal(info.unused_vertices, 0);
  assert_true(fabs(info.area - 3.0) < 1e-8);
  kedge_mesh_regions(joined, regions);
  assert_memory_equal(regions, p->regions, (size_t)p->n_triangles * sizeof *regions);
  const kg_group *a = group_of(joined, "1"), *b = group_of(joined, "102");
  assert_int_equal((a ? a->n_inner : 0) + (b ? b->n_inner : 0), 3);
  assert_int_equal((a ? a->count : 0) + (b ? b->count : 0), 0);
  assert_int_equal(group_of(joined, "101")->count, 3);
  kedge_mesh *fine;
  assert_ok(*state, kedge_mesh_refine(*state, joined, 1, &fine));
  assert_int_equal(info_of(fine).joined_vertices, 8);
  kedge_mesh_destroy(fine);
  kedge_mesh_destroy(joined);
  kedge_mesh_destroy(mesh);
}

/// Each vertex is within the distance of the next alone.
static void chains_of_vertices_become_one(void **state)
{
  static const double vertices[][2] = {{0, 0},    {1, 0},     {0, 1},     {8e-4, 0}, {0, -1},
                                       {1, -0.5}, {16e-4, 0}, {-1, -0.3}, {-0.5, -1}};
  static const int32_t triangles[][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}};
  const kedge_mesh_arrays arrays = {
      .n_vertices = 9, .vertices = vertices[0], .n_triangles = 3, .triangles = triangles[0]};
  kedge_mesh *mesh, *joined;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  for (int k = 0; k < 2; ++k) {
    assert_ok(*state, kedge_mesh_join(*state, mesh, k ? 1e-3 : 7e-4, &joined));
    assert_int_equal(info_of(joined).joined_vertices, 2 * k);
    if (k) assert_int_equal(info_of(joined).vertices, 7);
    kedge_mesh_destroy(joined);
  }
  kedge_mesh_destroy(mesh);
}

static void assert_no_join(kedge_context *ctx, const kedge_mesh *mesh, double distance,
                           const char *says)
{
  kedge_mesh *joined;
  assert_int_not_equal(kedge_mesh_join(ctx, mesh, distance, &joined), KEDGE_OK);
  assert_null(joined);
  assert_non_null(strstr(kedge_context_error(ctx), says));
}

static void joins_that_break_the_mesh_are_refused(void **state)
{
  kedge_context *ctx = *state;
  pile *const p = &pile_of_two;
  pile_up(2, (block[]){{0, 0, 1, 1, 2, 3}, {1.2, 0, 1, 1, 2, 3}}, p);
  kedge_mesh *mesh = mesh_of(ctx, p);
  assert_no_join(ctx, mesh, 0.4, "joins two corners of triangle ");
  assert_no_join(ctx, mesh, 0.0, "must be positive, not 0");
  assert_no_join(ctx, mesh, NAN, "must be positive, not nan");
  assert_no_join(ctx, mesh, INFINITY, "must be positive, not inf");
  assert_no_join(ctx, mesh, 1e300, "joins two corners of triangle ");
  kedge_mesh_destroy(mesh);
  pile_up(2, (block[]){{0, 0, 1, 1, 1, 1}, {0, 1e-3, 1, 1, 1, 1}}, p);
  mesh = mesh_of(ctx, p);
  assert_no_join(ctx, mesh, 1e-2, "are duplicates");
  kedge_mesh_destroy(mesh);
  // The tip of the first triangle passes its base.
  static const double vertices[][2] = {{0, 0}, {1, 0}, {0.5, 0.1}, {0.5, -0.05}, {1, -1}, {0, -1}};
  static const int32_t triangles[][3] = {{0, 1, 2}, {3, 5, 4}};
  const kedge_mesh_arrays arrays = {
      .n_vertices = 6, .vertices = vertices[0], .n_triangles = 2, .triangles = triangles[0]};
  assert_ok(ctx, kedge_mesh_create(ctx, &arrays, &mesh));
  kedge_mesh *joined;
  assert_ok(ctx,
            kedge_mesh_join(ctx, mesh, 0.2, &joined));  // the first in the caller's numbers stays
  assert_true(info_of(joined).area > 0.0);
  kedge_mesh_destroy(joined);
  kedge_mesh_destroy(mesh);
}

static void a_join_that_turns_an_element_over_is_refused(void **state)
{
  static const double vertices[][2] = {{0.5, -0.05}, {1, -1}, {0, -1}, {0, 0}, {1, 0}, {0.5, 0.1}};
  static const int32_t triangles[][3] = {{0, 2, 1}, {3, 4, 5}};
  const kedge_mesh_arrays arrays = {
      .n_vertices = 6, .vertices = vertices[0], .n_triangles = 2, .triangles = triangles[0]};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  assert_no_join(*state, mesh, 0.2, "turns an element over");
  kedge_mesh_destroy(mesh);
}

/// Far away, and tiny: nothing is joined, and nothing goes wrong.
static void coordinates_of_any_size_can_be_joined(void **state)
{
  static const double sizes[] = {1e-140, 1e-3, 1e140};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    pile *const p = &pile_of_two;
    kedge_mesh *joined;
    pile_up(2, (block[]){{0, 0, 1, 1, 2, 3}, {1, 0, 1, 1, 2, 3}}, p);
    for (int v = 0; v < p->n_vertices; ++v)
      for (int j = 0; j < 2; ++j) p->vertices[v][j] *= sizes[i];
    kedge_mesh *mesh = mesh_of(*state, p);
    for (int k = 0; k < 2; ++k) {
      assert_ok(*state, kedge_mesh_join(*state, mesh, k ? 1e-300 : 1e-2 * sizes[i], &joined));
      assert_int_equal(info_of(joined).joined_vertices, 4);
      kedge_mesh_destroy(joined);
    }
    assert_int_equal(info_of(mesh).coincident_edges, 6);
    kedge_mesh_destroy(mesh);
  }
}

/// Triangles that all meet in a place do not take quadratic time; more than can be are refused.
static void crowds_are_refused(void **state)
{
  enum { MANY = 1100 };
  static double vertices[3 * MANY][2];
  static int32_t triangles[MANY][3];
  for (int i = 0; i < 3 * MANY; ++i) {
    const double angle = 2.0 * acos(-1.0) * (i / 3 + 0.8 * (i % 3 == 2)) / MANY;
    vertices[i][0] = i % 3 ? cos(angle) : 1e-9 * i;
    vertices[i][1] = i % 3 ? sin(angle) : 0.0;
    triangles[i / 3][i % 3] = i;
  }
  const kedge_mesh_arrays arrays = {.n_vertices = 3 * MANY,
                                    .vertices = vertices[0],
                                    .n_triangles = MANY,
                                    .triangles = triangles[0]};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  assert_no_join(*state, mesh, 1e-3,
                 "more than 1000 vertices of the boundary lie within 0.001 of ");
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_that_touch_within_rounding_are_found),
      cmocka_unit_test(coordinates_of_single_precision_touch),
      cmocka_unit_test(edges_that_lie_on_a_part_of_others_are_found),
      cmocka_unit_test(what_touches_in_a_point_or_not_at_all_is_not_said),
      cmocka_unit_test(elements_on_elements_are_found),
      cmocka_unit_test(the_seam_of_one_part_is_found_and_joined),
      cmocka_unit_test(sound_meshes_have_no_edges_on_others),
      cmocka_unit_test(curves_that_lie_on_each_other_are_found_and_joined),
      cmocka_unit_test(
          a_vertex_that_lies_on_an_edge_once_parts_are_joined_is_refused_with_what_helps),
      cmocka_unit_test(joined_edges_are_inside_and_elements_where_they_were),
      cmocka_unit_test(chains_of_vertices_become_one),
      cmocka_unit_test(joins_that_break_the_mesh_are_refused),
      cmocka_unit_test(a_join_that_turns_an_element_over_is_refused),
      cmocka_unit_test(coordinates_of_any_size_can_be_joined),
      cmocka_unit_test(crowds_are_refused),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
