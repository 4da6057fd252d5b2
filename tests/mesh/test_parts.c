// Connected parts of a mesh.
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"
#include "support.h"

enum { WIDE = 37, HIGH = 41 };

/// Squares of a WIDE x HIGH checkerboard, cut in two, for which `is_in` holds. Corners are common
/// to all squares around them.
static kedge_mesh *board(kedge_context *ctx, bool (*is_in)(int i, int j))
{
  static double vertices[(WIDE + 1) * (HIGH + 1)][2];
  static int32_t triangles[2 * WIDE * HIGH][3];
  int32_t n = 0;
  for (int v = 0; v < (WIDE + 1) * (HIGH + 1); ++v) {
    vertices[v][0] = v % (WIDE + 1);
    vertices[v][1] = v / (WIDE + 1);
  }
  for (int s = 0; s < WIDE * HIGH; ++s) {
    const int i = s % WIDE, j = s / WIDE;
    if (!is_in(i, j)) continue;
    const int32_t a = j * (WIDE + 1) + i, c = a + WIDE + 2;
    memcpy(triangles[n++], (int32_t[]){a, a + 1, c}, 3 * sizeof(int32_t));
    memcpy(triangles[n++], (int32_t[]){a, c, c - 1}, 3 * sizeof(int32_t));
  }
  const kedge_mesh_arrays arrays = {.n_vertices = (WIDE + 1) * (HIGH + 1),
                                    .vertices = vertices[0],
                                    .n_triangles = n,
                                    .triangles = triangles[0]};
  kedge_mesh *mesh;
  assert_ok(ctx, kedge_mesh_create(ctx, &arrays, &mesh));
  return mesh;
}

static bool everywhere(int i, int j)
{
  return i >= 0 && j >= 0;
}

static bool on_black(int i, int j)
{
  return (i + j) % 2 == 0;
}

/// Walls at every third column, open at one end in turn: one long snake.
static bool in_snake(int i, int j)
{
  return i % 3 != 2 || j == (i % 2 ? 0 : HIGH - 1);
}

/// Squares within squares, not connected with each other.
static bool in_frames(int i, int j)
{
  const int x = i < WIDE - 1 - i ? i : WIDE - 1 - i, y = j < HIGH - 1 - j ? j : HIGH - 1 - j;
  return (x < y ? x : y) % 2 == 0;
}

/// The numbers of parts agree across edges, start at 0 and are all used; there are `expected`.
static void assert_parts(kedge_context *ctx, kedge_mesh *mesh, int32_t expected)
{
  int32_t *part, n_parts, used = 0;
  assert_ok(ctx, kg_mesh_parts(ctx, mesh, &part, &n_parts));
  assert_int_equal(n_parts, expected);
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    assert_in_range(part[e], 0, used);
    used += part[e] == used;
  }
  assert_int_equal(used, expected);
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge) {
    const kg_side *side = mesh->edge_sides + 2 * edge;
    if (side[1] != KG_NO_SIDE)
      assert_int_equal(part[kg_side_element(side[0])], part[kg_side_element(side[1])]);
  }
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  kedge_mesh_get_info(mesh, &info);
  assert_int_equal(info.parts, expected);
  free(part);
  kedge_mesh_destroy(mesh);
}

static void a_common_edge_connects(void **state)
{
  assert_parts(*state, board(*state, everywhere), 1);
  assert_parts(*state, board(*state, in_snake), 1);
}

static void a_common_vertex_does_not_connect(void **state)
{
  assert_parts(*state, board(*state, on_black), (WIDE * HIGH + 1) / 2);
}

static void parts_may_lie_within_each_other(void **state)
{
  assert_parts(*state, board(*state, in_frames), (WIDE + 3) / 4);
}

static void a_refined_mesh_has_the_same_parts(void **state)
{
  kedge_mesh *mesh = board(*state, in_frames), *fine;
  assert_ok(*state, kedge_mesh_refine(*state, mesh, 1, &fine));
  assert_parts(*state, mesh, (WIDE + 3) / 4);
  assert_parts(*state, fine, (WIDE + 3) / 4);
}

static void the_banks_of_a_slit_are_one_part(void **state)
{
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_read(*state, MESHES "slit.msh", &mesh));
  assert_parts(*state, mesh, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_common_edge_connects),
      cmocka_unit_test(a_common_vertex_does_not_connect),
      cmocka_unit_test(parts_may_lie_within_each_other),
      cmocka_unit_test(a_refined_mesh_has_the_same_parts),
      cmocka_unit_test(the_banks_of_a_slit_are_one_part),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
