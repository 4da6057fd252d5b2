// What Gmsh and its users write, and what kedge makes of it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "support.h"

static kedge_mesh *read_mesh(kedge_context *ctx, const char *path)
{
  kedge_mesh *mesh;
  assert_ok(ctx, kedge_mesh_read(ctx, path, &mesh));
  assert_sound(mesh);
  return mesh;
}

static kedge_mesh *read_text(kedge_context *ctx, const char *text)
{
  kedge_mesh *mesh;
  assert_ok(ctx, build_from_text(ctx, text, &mesh));
  assert_sound(mesh);
  return mesh;
}

static void all_four_formats_give_the_same_mesh(void **state)
{
  static const char *const others[] = {MESHES "inclusion41-binary.msh", MESHES "inclusion22.msh",
                                       MESHES "inclusion22-binary.msh"};
  kedge_mesh *mesh = read_mesh(*state, MESHES "inclusion41.msh");
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    kedge_mesh *other = read_mesh(*state, others[i]);
    assert_same_mesh(mesh, other);
    kedge_mesh_destroy(other);
  }
  kedge_mesh_destroy(mesh);
}

static void regions_boundaries_and_interior_lines_are_told_apart(void **state)
{
  kedge_mesh *mesh = read_mesh(*state, MESHES "inclusion41.msh");
  assert_int_equal(kedge_mesh_group_count(mesh), 7);
  assert_int_equal(group_named(mesh, 1, "inlet").tag, 11);
  assert_int_equal(group_named(mesh, 1, "outlet").tag, 12);
  assert_int_equal(group_named(mesh, 1, "floor").tag, 13);
  assert_int_equal(group_named(mesh, 1, "default").tag, 0);
  assert_true(fabs(group_named(mesh, 1, "default").measure - 2) < 1e-14);
  assert_int_equal(group_named(mesh, 2, "matrix").tag, 1);
  assert_int_equal(group_named(mesh, 2, "inclusion").tag, 2);
  assert_int_equal(mesh->info.interior_lines, 12);
  const kedge_mesh_group inner = group_named(mesh, 1, "interface");
  assert_true(inner.tag == 20 && inner.count == 0 && inner.measure == 0 && inner.n_inner == 12);
  // 12 sides of a regular polygon in the circle of radius 1/4
  assert_true(fabs(inner.inner_measure - 6 * sin(acos(-1) / 12)) < 1e-12);
  assert_true(fabs(mesh->info.area - 2) < 1e-14);
  kedge_mesh_destroy(mesh);
}

static void a_partitioned_file_gives_the_same_domain(void **state)
{
  kedge_mesh *mesh = read_mesh(*state, MESHES "inclusion41.msh");
  kedge_mesh *parts = read_mesh(*state, MESHES "inclusion41-parts.msh");
  assert_int_equal(parts->n_elements, mesh->n_elements);
  assert_int_equal(parts->n_edges, mesh->n_edges);
  assert_int_equal(parts->n_groups, mesh->n_groups + 2);  // lines between parts, of no name
  for (int i = 0; i < mesh->n_groups; ++i) {
    const kg_group *from = &mesh->groups[i];
    const kedge_mesh_group group = group_named(parts, from->dimension, from->name);
    assert_int_equal(group.count, from->count);
    assert_int_equal(group.n_inner, from->n_inner);
  }
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(parts);
}

static void lines_that_end_in_cr_lf_give_the_same_mesh(void **state)
{
  static const char *const files[] = {MESHES "inclusion41.msh", MESHES "inclusion22.msh"};
  for (int f = 0; f < 2; ++f) {
    char *data;
    size_t bytes, n = 0;
    assert_ok(*state, kg_file_read(*state, files[f], &data, &bytes));
    char *crlf = malloc(2 * bytes);
    for (size_t i = 0; i < bytes; ++i) {
      if (data[i] == '\n') crlf[n++] = '\r';
      crlf[n++] = data[i];
    }
    kedge_mesh *mesh = read_mesh(*state, files[f]), *other;
    assert_ok(*state, build_from_bytes(*state, crlf, n, &other));
    assert_same_mesh(mesh, other);
    kedge_mesh_destroy(mesh);
    kedge_mesh_destroy(other);
    free(crlf);
    free(data);
  }
}

static void the_demo_plate_has_its_boundaries(void **state)
{
  kedge_mesh *mesh = read_mesh(*state, MESHES "plate.msh");
  static const char *const names[] = {"hot",        "cold",        "insulated",
                                      "hole-large", "hole-medium", "hole-small"};
  for (size_t i = 0; i < 6; ++i) assert_true(group_named(mesh, 1, names[i]).count > 0);
  assert_int_equal(kedge_mesh_group_count(mesh), 7);
  assert_int_equal(mesh->n_vertices - mesh->n_edges + mesh->n_elements, 1 - 3);
  kedge_mesh_destroy(mesh);
}

#define FORMAT22 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define FORMAT41 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"

/// The unit square in 2.2 with whatever tags its four nodes have; nodes are not in order.
#define SQUARE22(a, b, c, d)                                                                 \
  FORMAT22 "$Nodes\n4\n" c " 1 1 0\n" a " 0 0 0\n" d " 0 1 0\n" b                            \
           " 1 0 0\n$EndNodes\n"                                                             \
           "$Elements\n4\n1 15 2 0 1 " a "\n2 1 2 7 1 " a " " b "\n3 2 2 1 1 " a " " b " " c \
           "\n4 2 2 1 1 " c " " d " " a "\n$EndElements\n"

static void node_tags_may_be_compact_sparse_or_of_64_bits(void **state)
{
  kedge_mesh *mesh = read_text(*state, SQUARE22("1", "2", "3", "4"));
  assert_int_equal(mesh->n_elements, 2);
  assert_int_equal(group_named(mesh, 1, "7").count, 1);
  static const char *const others[] = {
      SQUARE22("12", "10", "17", "13"),
      SQUARE22("1", "200000", "3", "400000000000000000"),
      SQUARE22("999999999999999999", "2", "77", "5"),
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    kedge_mesh *other = read_text(*state, others[i]);
    assert_same_mesh(mesh, other);
    kedge_mesh_destroy(other);
  }
  kedge_mesh_destroy(mesh);
}

static void unused_nodes_are_dropped_and_clockwise_elements_turned(void **state)
{
  kedge_mesh *mesh = read_text(*state, FORMAT22
                               "$Nodes\n5\n1 9 9 0\n2 0 0 0\n3 1 0 0\n4 1 1 0\n5 0 1 0\n$EndNodes\n"
                               "$Elements\n2\n1 2 0 2 4 3\n2 2 0 2 4 5\n$EndElements\n");
  assert_int_equal(mesh->info.unused_vertices, 1);
  assert_int_equal(mesh->info.turned_elements, 1);
  assert_int_equal(mesh->n_vertices, 4);
  assert_int_equal(mesh->n_groups, 2);  // no physical groups: "default" and region "0"
  assert_int_equal(group_named(mesh, 1, "default").count, 4);
  kedge_mesh_destroy(mesh);
}

static void unknown_sections_comments_and_blank_lines_are_skipped(void **state)
{
  kedge_mesh *mesh =
      read_text(*state, "\n$Comments\nmade by hand\n$EndComments\n" FORMAT22
                        "\n$NodeData\n1\n\"$End\"\n$EndNode\n$EndNodeData\n\n"
                        "$Nodes\n3\n\n1 0 0 0\n2 1 0 0\n\n3 0 1 0\n\n$EndNodes\n"
                        "$Elements\n1\n1 2 0 1 2 3\n$EndElements\n$Periodic\n0\n$EndPeriodic\n");
  assert_int_equal(mesh->n_elements, 1);
  kedge_mesh_destroy(mesh);
}

static void the_first_of_several_names_and_groups_counts(void **state)
{
  kedge_mesh *mesh = read_text(
      *state, FORMAT41
      "$PhysicalNames\n4\n1 7 \"first name\"\n1 7 \"second\"\n1 8 \"other\"\n2 3 \"\"\n"
      "$EndPhysicalNames\n"
      "$Entities\n1 2 1 0\n1 0 0 0 0\n1 0 0 0 1 0 0 2 7 8 2 1 -1\n2 0 0 0 1 0 0 1 -8 0\n"
      "5 0 0 0 1 1 0 1 3 1 1\n$EndEntities\n"
      "$Nodes\n1 3 1 3\n2 5 1 3\n1\n2\n3\n0 0 2 .25 .5\n1 0 2 .25 .5\n0 1 2 .25 .5\n$EndNodes\n"
      "$Elements\n4 4 1 4\n0 1 15 1\n1 1\n1 1 1 1\n2 1 2\n1 2 1 1\n3 2 3\n2 5 2 1\n4 1 2 3\n"
      "$EndElements\n");
  assert_int_equal(group_named(mesh, 1, "first name").tag, 7);
  assert_int_equal(group_named(mesh, 1, "other").tag, 8);  // the sign is an orientation
  assert_int_equal(group_named(mesh, 1, "default").count, 1);
  assert_int_equal(group_named(mesh, 2, "3").count, 1);
  kedge_mesh_destroy(mesh);
}

static void elements_in_several_groups_are_in_the_first(void **state)
{
  // Formats 2 to 2.2 have such an element once in each group, one behind the other.
  kedge_mesh *mesh =
      read_text(*state, FORMAT22
                "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n"
                "$Elements\n6\n1 2 2 7 1 1 2 3\n2 2 2 8 1 1 2 3\n3 2 2 9 1 1 2 3\n4 2 2 7 1 1 3 4\n"
                "5 2 2 8 1 1 3 4\n6 1 2 3 1 1 2\n$EndElements\n");
  assert_int_equal(mesh->n_elements, 2);
  assert_int_equal(group_named(mesh, 2, "7").count, 2);
  assert_int_equal(mesh->info.shared_elements, 2);
  kedge_mesh_destroy(mesh);
  mesh = read_text(*state, FORMAT41
                   "$Entities\n0 0 1 0\n5 0 0 0 1 1 0 2 7 8 0\n$EndEntities\n"
                   "$Nodes\n1 3 1 3\n2 5 0 3\n1\n2\n3\n0 0 2\n1 0 2\n0 1 2\n$EndNodes\n"
                   "$Elements\n1 1 1 1\n2 5 2 1\n1 1 2 3\n$EndElements\n");
  assert_int_equal(group_named(mesh, 2, "7").count, 1);
  assert_int_equal(mesh->info.shared_elements, 1);
  kedge_mesh_destroy(mesh);
}

static void rounding_in_z_is_not_a_third_dimension(void **state)
{
  kedge_mesh *mesh = read_text(*state, FORMAT22
                               "$Nodes\n4\n1 0 0 2.5\n2 1 0 2.5000000000000004\n3 0 1 2.5\n"
                               "4 0 0 0\n$EndNodes\n"  // a node of no triangle may lie anywhere
                               "$Elements\n1\n1 2 0 1 2 3\n$EndElements\n");
  assert_int_equal(mesh->n_elements, 1);
  kedge_mesh_destroy(mesh);
}

static void the_origin_is_the_place_in_the_file(void **state)
{
  kedge_mesh *mesh = read_text(*state, SQUARE22("12", "10", "17", "13"));
  static const double file_order[4][2] = {{1, 1}, {0, 0}, {0, 1}, {1, 0}};
  for (int v = 0; v < 4; ++v)
    assert_memory_equal(mesh->vertices + 2 * v, file_order[mesh->vertex_origin[v]],
                        2 * sizeof(double));
  for (int e = 0; e < 2; ++e) {  // the first triangle has the corner (1, 0)
    bool corner = false;
    for (int l = 0; l < 3; ++l)
      corner |= mesh->vertex_origin[mesh->element_vertices[3 * e + l]] == 3;
    assert_int_equal(corner, mesh->element_origin[e] == 0);
  }
  assert_string_equal(mesh->source, "text.msh");
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_four_formats_give_the_same_mesh),
      cmocka_unit_test(regions_boundaries_and_interior_lines_are_told_apart),
      cmocka_unit_test(a_partitioned_file_gives_the_same_domain),
      cmocka_unit_test(lines_that_end_in_cr_lf_give_the_same_mesh),
      cmocka_unit_test(the_demo_plate_has_its_boundaries),
      cmocka_unit_test(node_tags_may_be_compact_sparse_or_of_64_bits),
      cmocka_unit_test(unused_nodes_are_dropped_and_clockwise_elements_turned),
      cmocka_unit_test(unknown_sections_comments_and_blank_lines_are_skipped),
      cmocka_unit_test(the_first_of_several_names_and_groups_counts),
      cmocka_unit_test(elements_in_several_groups_are_in_the_first),
      cmocka_unit_test(rounding_in_z_is_not_a_third_dimension),
      cmocka_unit_test(the_origin_is_the_place_in_the_file),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
