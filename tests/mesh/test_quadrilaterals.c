// Quadrilaterals, alone and among triangles: generated, read, refused, refined and written.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static kedge_mesh *generate(kedge_context *ctx, const char *words)
{
  kedge_mesh *mesh;
  assert_ok(ctx, kedge_mesh_generate(ctx, words, &mesh));
  assert_sound(mesh);
  return mesh;
}

static void the_unit_square_has_n_squares_and_the_groups_of_its_sides(void **state)
{
  static const char *const sides[] = {"left", "right", "bottom", "top"};
  for (int n = 1; n <= 7; n += 3) {
    char words[16];
    snprintf(words, sizeof words, "quads %d", n);
    kedge_mesh *mesh = generate(*state, words);
    assert_int_equal(mesh->n_blocks, 1);
    assert_ptr_equal(mesh->block[0].cell, &kg_quadrilateral);
    assert_int_equal(mesh->info.elements, n * n);
    assert_int_equal(mesh->info.quadrilaterals, n * n);
    assert_int_equal(mesh->info.edges, 2 * n * (n + 1));
    assert_int_equal(mesh->info.vertices, (n + 1) * (n + 1));
    assert_true(fabs(mesh->info.area - 1.0) < 1e-14);
    assert_true(fabs(mesh->info.min_angle - 90.0) < 1e-12);
    assert_true(fabs(mesh->info.min_quality - 1.0) < 1e-12);
    for (int k = 0; k < 4; ++k) assert_int_equal(group_named(mesh, 1, sides[k]).count, n);
    assert_int_equal(group_named(mesh, 2, "domain").count, n * n);
    for (int32_t e = 0; e < n * n; ++e) {  // the caller's element j n + i begins at (i, j) / n
      const double *p = mesh->vertices + 2 * kg_element_vertices(mesh, e)[0];
      assert_true(p[0] == (double)(mesh->element_origin[e] % n) / n);
      assert_true(p[1] == (double)(mesh->element_origin[e] / n) / n);
    }
    kedge_mesh_destroy(mesh);
  }
}

#define NODES                                                                                  \
  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n1 5 \"wall\"\n$EndPhysicalNames\n" \
  "$Nodes\n7\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2.5 1 0\n7 0.5 2 0\n$EndNodes\n"  \
  "$Elements\n"

/// A quadrilateral, a triangle, a quadrilateral that runs clockwise, and a line.
static const char mixed[] = NODES
    "4\n1 3 2 8 1 1 2 5 4\n2 2 2 9 1 4 5 7\n3 3 2 8 1 2 5 6 3\n"
    "4 1 2 5 1 1 2\n$EndElements\n";

static void nodes_regions_and_boundary_are_told_in_the_order_of_the_caller(void **state)
{
  static const double nodes[] = {0, 0,   1, 0, 1, 1, 0, 1,   0, 1, 1,
                                 1, 0.5, 2, 1, 0, 2, 0, 2.5, 1, 1, 1};
  static const double box[][2] = {{0, 0}, {0, 1}, {1, 0}};  // the first corner of each element
  kedge_mesh *mesh;
  int64_t offsets[4];
  double xy[22];
  int32_t regions[3], elements[7], sides[7], groups[7];
  assert_ok(*state, build_from_text(*state, mixed, &mesh));
  assert_ok(*state, kedge_mesh_offsets(mesh, offsets));
  assert_ok(*state, kedge_mesh_nodes(mesh, xy));
  assert_ok(*state, kedge_mesh_regions(mesh, regions));
  assert_ok(*state, kedge_mesh_boundary(mesh, elements, sides, groups));
  for (int e = 0; e < 3; ++e) {
    assert_int_equal(offsets[e + 1] - offsets[e], e == 1 ? 3 : 4);
    assert_int_equal(regions[e], e == 1 ? 9 : 8);
    bool found = false;
    for (int64_t i = offsets[e]; i < offsets[e + 1]; ++i)
      found = found || (xy[2 * i] == box[e][0] && xy[2 * i + 1] == box[e][1]);
    assert_true(found);
  }
  double sums[2] = {0}, expected[2] = {0};
  for (int i = 0; i < 22; ++i) sums[i % 2] += xy[i], expected[i % 2] += nodes[i];
  assert_true(sums[0] == expected[0] && sums[1] == expected[1]);
  assert_int_equal(mesh->info.boundary_edges, 7);
  int walls = 0;
  for (int i = 0; i < 7; ++i) {
    const double *from = xy + 2 * (offsets[elements[i]] + sides[i]);
    const bool is_wall = from[0] == 0.0 && from[1] == 0.0;
    assert_string_equal(mesh->groups[groups[i]].name, is_wall ? "wall" : "default");
    walls += is_wall;
  }
  assert_int_equal(walls, 1);
  kedge_mesh_destroy(mesh);
}

static void triangles_come_first_whatever_the_order_of_the_file(void **state)
{
  kedge_mesh *mesh;
  assert_ok(*state, build_from_text(*state, mixed, &mesh));
  assert_sound(mesh);
  assert_int_equal(mesh->n_blocks, 2);
  assert_ptr_equal(mesh->block[0].cell, &kg_triangle);
  assert_int_equal(mesh->block[0].n, 1);
  assert_ptr_equal(mesh->block[1].cell, &kg_quadrilateral);
  assert_int_equal(mesh->block[1].first, 1);
  assert_int_equal(mesh->block[1].n, 2);
  assert_int_equal(mesh->block[1].first_side, 3);
  assert_int_equal(mesh->element_origin[0], 1);
  assert_int_equal(mesh->info.turned_elements, 1);
  assert_int_equal(mesh->n_edges, 9);
  assert_int_equal(mesh->n_boundary_edges, 7);
  assert_true(fabs(mesh->info.area - (1.0 + 0.5 + 1.25)) < 1e-15);
  assert_true(fabs(group_named(mesh, 2, "8").measure - 2.25) < 1e-15);
  assert_true(fabs(group_named(mesh, 2, "9").measure - 0.5) < 1e-15);
  assert_true(fabs(group_named(mesh, 1, "wall").measure - 1.0) < 1e-15);
  assert_true(fabs(mesh->info.min_angle - 2 * atan2(0.5, 1.0) * 180.0 / acos(-1.0)) < 1e-12);
  kedge_mesh_destroy(mesh);
}

static void what_is_written_is_read_back(void **state)
{
  for (int k = 0; k < 4; ++k) {
    kedge_mesh *mesh, *back;
    if (k < 2)
      mesh = generate(*state, "quads 5");
    else
      assert_ok(*state, build_from_text(*state, mixed, &mesh));
    assert_ok(*state, kedge_mesh_write(*state, mesh, "quadrilaterals.msh", k % 2 == 1));
    assert_ok(*state, kedge_mesh_read(*state, "quadrilaterals.msh", &back));
    remove("quadrilaterals.msh");
    assert_same_mesh(mesh, back);
    kedge_mesh_destroy(mesh);
    kedge_mesh_destroy(back);
  }
}

/// The mixed mesh in 2.2, binary.
static size_t put_binary(char *to)
{
  static const double x[7][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2.5, 1}, {0.5, 2}};
  static const int32_t elements[] = {
      3, 1, 2, 1, 8, 1, 1, 2, 5, 4,  // type, count, tags; number, tags, nodes
      2, 1, 2, 2, 9, 1, 4, 5, 7,     //
      3, 1, 2, 3, 8, 1, 2, 5, 6, 3,  //
      1, 1, 2, 4, 5, 1, 1, 2};
  const int32_t one = 1;
  char *at = to;
  at += sprintf(at, "$MeshFormat\n2.2 1 8\n");
  memcpy(at, &one, sizeof one), at += sizeof one;
  at += sprintf(at, "\n$EndMeshFormat\n$PhysicalNames\n1\n1 5 \"wall\"\n$EndPhysicalNames\n");
  at += sprintf(at, "$Nodes\n7\n");
  for (int32_t v = 1; v <= 7; ++v) {
    const double z = 0.0;
    memcpy(at, &v, sizeof v), at += sizeof v;
    memcpy(at, x[v - 1], sizeof x[0]), at += sizeof x[0];
    memcpy(at, &z, sizeof z), at += sizeof z;
  }
  at += sprintf(at, "\n$EndNodes\n$Elements\n4\n");
  memcpy(at, elements, sizeof elements), at += sizeof elements;
  at += sprintf(at, "\n$EndElements\n");
  return (size_t)(at - to);
}

static void a_binary_file_of_version_2_gives_the_same_mesh(void **state)
{
  char bytes[1024];
  kedge_mesh *mesh, *binary;
  assert_ok(*state, build_from_text(*state, mixed, &mesh));
  assert_ok(*state, build_from_bytes(*state, bytes, put_binary(bytes), &binary));
  assert_same_mesh(mesh, binary);
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(binary);
}

static void gmsh_s_quadrilaterals_are_read(void **state)
{
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_read(*state, MESHES "quadrilaterals.msh", &mesh));
  assert_sound(mesh);
  assert_int_equal(mesh->info.quadrilaterals, 4);
  assert_true(fabs(mesh->info.area - 1.0) < 1e-14);
  kedge_mesh_destroy(mesh);
}

static void bad_quadrilaterals_are_refused_by_place(void **state)
{
  static const struct {
    const char *elements, *sentence;
  } cases[] = {
      {"1\n1 3 2 0 1 1 2 4 5\n$EndElements\n",
       "text.msh: the quadrilateral in line 20 with corners (0, 0), (1, 0), (0, 1), (1, 1) is not "
       "convex; move its vertices, give them in the order around it, or split it into two "
       "triangles"},
      {"1\n1 3 2 0 1 1 3 5 7\n$EndElements\n",
       "text.msh: the quadrilateral in line 20 with corners (0, 0), (2, 0), (1, 1), (0.5, 2) is "
       "not convex; move its vertices, give them in the order around it, or split it into two "
       "triangles"},
      {"1\n1 3 2 0 1 4 5 1 7\n$EndElements\n",
       "text.msh: the quadrilateral in line 20 with corners (0, 1), (1, 1), (0, 0), (0.5, 2) is "
       "not convex; move its vertices, give them in the order around it, or split it into two "
       "triangles"},
      {"1\n1 3 2 0 1 1 2 3 5\n$EndElements\n",
       "text.msh: the quadrilateral in line 20 with corners (0, 0), (1, 0), (2, 0), (1, 1) is "
       "degenerate: three of its corners lie on a line; move its vertices, or make it a triangle"},
      {"1\n1 3 2 0 1 1 2 5 2\n$EndElements\n",
       "text.msh: the quadrilateral in line 20 with corners (0, 0), (1, 0), (1, 1), (1, 0) is "
       "degenerate: it uses a vertex twice; remove it from the mesh"},
      {"2\n1 3 2 0 1 1 2 5 4\n2 3 2 0 1 4 1 2 5\n$EndElements\n",
       "text.msh: the quadrilateral in line 20 with corners (0, 0), (1, 0), (1, 1), (0, 1) and the "
       "quadrilateral in line 21 with corners (0, 1), (0, 0), (1, 0), (1, 1) are duplicates: they "
       "have the same vertices; repair the mesh"},
      {"2\n1 3 2 0 1 1 2 5 4\n2 2 2 0 1 1 2 7\n$EndElements\n",
       "text.msh: the quadrilateral in line 20 with corners (0, 0), (1, 0), (1, 1), (0, 1) and the "
       "triangle in line 21 with corners (0, 0), (1, 0), (0.5, 2) lie on the same side of their "
       "common edge (the mesh is folded); repair the mesh"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[1024];
    snprintf(text, sizeof text, "%s%s", NODES, cases[i].elements);
    kedge_mesh *mesh;
    const kedge_status status = build_from_text(*state, text, &mesh);
    assert_null(mesh);
    assert_refused(*state, status, KEDGE_ERR_INPUT, cases[i].sentence);
  }
}

static void a_hanging_node_on_a_quadrilateral_is_refused(void **state)
{
  // Two squares above one of twice their width.
  static const char text[] =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n1 0 0 0\n2 2 0 0\n3 2 2 0\n4 0 2 0\n"
      "5 1 2 0\n6 0 3 0\n7 1 3 0\n8 2 3 0\n$EndNodes\n"
      "$Elements\n3\n1 3 2 0 1 1 2 3 4\n2 3 2 0 1 4 5 7 6\n3 3 2 0 1 5 3 8 7\n$EndElements\n";
  kedge_mesh *mesh;
  assert_refused(*state, build_from_text(*state, text, &mesh), KEDGE_ERR_INPUT,
                 "text.msh: the vertex at (1, 2) lies on an edge of the quadrilateral in line 17 "
                 "with corners (0, 0), (2, 0), (2, 2), (0, 2), and is no corner of it (a hanging "
                 "node); split that quadrilateral, or, if both sides are boundary, give their "
                 "edges a physical group");
}

/// The caller's element 4 e + k of a refined mesh lies inside its element e.
static void assert_children(const kedge_mesh *mesh, const kedge_mesh *fine)
{
  int32_t *at = malloc((size_t)mesh->n_elements * sizeof *at);
  assert_non_null(at);
  for (int32_t e = 0; e < mesh->n_elements; ++e) at[mesh->element_origin[e]] = e;
  for (int32_t e = 0; e < fine->n_elements; ++e) {
    const int32_t parent = at[fine->element_origin[e] / 4];
    const int32_t *v = kg_element_vertices(mesh, parent), *w = kg_element_vertices(fine, e);
    const kg_cell *cell = kg_block_of(mesh, parent)->cell;
    assert_ptr_equal(kg_block_of(fine, e)->cell, cell);
    for (int l = 0; l < cell->n_facets; ++l)
      for (int k = 0; k < cell->n_vertices; ++k) {
        const double *p = mesh->vertices + 2 * v[l];
        const double *q = mesh->vertices + 2 * v[(l + 1) % cell->n_facets];
        const double *x = fine->vertices + 2 * w[k];
        assert_true((q[0] - p[0]) * (x[1] - p[1]) - (q[1] - p[1]) * (x[0] - p[0]) > -1e-12);
      }
  }
  free(at);
}

static void refining_splits_every_element_into_four(void **state)
{
  kedge_mesh *mesh, *fine, *finest;
  assert_ok(*state, build_from_text(*state, mixed, &mesh));
  assert_ok(*state, kedge_mesh_refine(*state, mesh, 1, &fine));
  assert_sound(fine);
  assert_int_equal(fine->n_elements, 4 * mesh->n_elements);
  assert_int_equal(fine->info.quadrilaterals, 4 * mesh->info.quadrilaterals);
  assert_int_equal(fine->n_vertices, mesh->n_vertices + mesh->n_edges + mesh->info.quadrilaterals);
  assert_true(fabs(fine->info.area - mesh->info.area) < 1e-14);
  assert_int_equal(group_named(fine, 1, "wall").count, 2);
  assert_children(mesh, fine);
  assert_ok(*state, kedge_mesh_refine(*state, mesh, 3, &finest));
  assert_sound(finest);
  assert_int_equal(finest->n_elements, 64 * mesh->n_elements);
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(fine);
  kedge_mesh_destroy(finest);
}

static void neighbours_in_the_plane_are_neighbours_in_memory(void **state)
{
  kedge_mesh *mesh = generate(*state, "quads 64");
  double distance = 0.0;
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
    const kg_side *side = mesh->edge_sides + 2 * edge;
    if (side[1] == KG_NO_SIDE) continue;
    distance += (double)(kg_side_element(side[1]) - kg_side_element(side[0])) / mesh->n_edges;
  }
  assert_true(distance < 2 * sqrt(mesh->n_elements));
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_unit_square_has_n_squares_and_the_groups_of_its_sides),
      cmocka_unit_test(nodes_regions_and_boundary_are_told_in_the_order_of_the_caller),
      cmocka_unit_test(triangles_come_first_whatever_the_order_of_the_file),
      cmocka_unit_test(what_is_written_is_read_back),
      cmocka_unit_test(a_binary_file_of_version_2_gives_the_same_mesh),
      cmocka_unit_test(gmsh_s_quadrilaterals_are_read),
      cmocka_unit_test(bad_quadrilaterals_are_refused_by_place),
      cmocka_unit_test(a_hanging_node_on_a_quadrilateral_is_refused),
      cmocka_unit_test(refining_splits_every_element_into_four),
      cmocka_unit_test(neighbours_in_the_plane_are_neighbours_in_memory),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
