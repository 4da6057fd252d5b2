// Every refusal of the reader says what, where, and what to do.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "support.h"

#define FORMAT22 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define FORMAT41 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES22  "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n"
#define NODES41  "$Nodes\n1 3 1 3\n2 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n$EndNodes\n"
#define CONVERT  "convert it with: gmsh in.msh -save -format msh41 -o out.msh"
#define NOTHING                                                                               \
  "text.msh has no triangles, quadrilaterals or tetrahedra; if it has physical groups, Gmsh " \
  "saved "                                                                                    \
  "only their elements: put the surface, or volume, into one too, or set Mesh.SaveAll = 1"
#define ELEMENT22(line) FORMAT22 NODES22 "$Elements\n1\n" line "\n$EndElements\n"

typedef struct refusal {
  const char *text, *sentence;
} refusal;

static void assert_all_refused(kedge_context *ctx, const refusal *cases, size_t n)
{
  for (size_t i = 0; i < n; ++i) {
    kedge_mesh *mesh;
    const kedge_status status = build_from_text(ctx, cases[i].text, &mesh);
    assert_null(mesh);
    assert_refused(ctx, status, KEDGE_ERR_INPUT, cases[i].sentence);
  }
}
#define ASSERT_ALL_REFUSED(ctx, cases) \
  assert_all_refused((ctx), (cases), sizeof(cases) / sizeof *(cases))

static void files_that_are_no_gmsh_mesh_are_refused(void **state)
{
  static const refusal cases[] = {
      {"", "text.msh is empty: it is no Gmsh mesh"},
      {"\n\n", "text.msh is empty: it is no Gmsh mesh"},
      {"solid\n",
       "text.msh, line 1: this is not a Gmsh mesh: it does not begin with $MeshFormat; if Gmsh "
       "opens it, " CONVERT},
      {"\n$NOD\n1\n$ENDNOD\n",
       "text.msh, line 3: format version 1 cannot be read, only 2, 2.1, 2.2, 4.0 and "
       "4.1; " CONVERT},
      {"[mesh]\n",
       "text.msh, line 1: this is not a Gmsh mesh but looks like a problem file; those are for "
       "kedge solve and kedge plan"},
      {"$MeshFormat\n3 0 8\n$EndMeshFormat\n",
       "text.msh, line 2: format version 3 cannot be read, only 2, 2.1, 2.2, 4.0 and "
       "4.1; " CONVERT},
      {"$MeshFormat\n2.2 0 4\n$EndMeshFormat\n",
       "text.msh, line 2: file type 0 with data size 4 is not 0 or 1 with 8; " CONVERT},
      {"$MeshFormat\n4.1 7 8\n$EndMeshFormat\n",
       "text.msh, line 2: file type 7 with data size 8 is not 0 or 1 with 8; " CONVERT},
      {"$MeshFormat\nfour\n", "text.msh, line 2: \"four\" is not a number"},
      {"$MeshFormat\n4.1 1 8\nABCD\n$EndMeshFormat\n",
       "text.msh, byte 24: the integer 1 should be here, by which a binary file shows its byte "
       "order; the file is damaged: export it again"},
      {"$MeshFormat\n4.1 1 8\n$EndMeshFormat\n",
       "text.msh, line 3: the file goes on as text, but file type 1 in the line before marks it as "
       "binary; write 0 there, or export it again"},
      {FORMAT41 "$Nodes\n\1\2\n",
       "text.msh, line 5: bytes that are no text are where an integer should be; if $MeshFormat "
       "marks a binary file as text, by file type 0, export it again"},
      {FORMAT22 FORMAT22, "text.msh, line 5: there is a second $MeshFormat; the file is damaged"},
      {FORMAT22, NOTHING},
      {FORMAT22 NODES22 "$Elements\n1\n1 1 0 1 2\n$EndElements\n", NOTHING},
  };
  ASSERT_ALL_REFUSED(*state, cases);
}

static void elements_of_other_kinds_are_named(void **state)
{
  static const refusal cases[] = {
      {ELEMENT22("1 42 0 1 2 3"),
       "text.msh, line 12: here is a triangle of order 6 or more (type 42); kedge reads curves of "
       "order 1 to 5: mesh with Mesh.ElementOrder = 5"},
      {ELEMENT22("1 61 0 1 2 3"),
       "text.msh, line 12: here is a quadrilateral of order 6 or more (type 61); kedge reads "
       "curves "
       "of order 1 to 5: mesh with Mesh.ElementOrder = 5"},
      {ELEMENT22("1 62 0 1 2 3"),
       "text.msh, line 12: here is a line of order 6 or more (type 62); kedge reads curves of "
       "order "
       "1 to 5: mesh with Mesh.ElementOrder = 5"},
      {ELEMENT22("1 11 0 1 2 3 4"),
       "text.msh, line 12: here is a curved tetrahedron (type 11); in space kedge reads straight "
       "ones so far: mesh with Mesh.ElementOrder = 1"},
      {ELEMENT22("1 5 0 1 2 3 4"),
       "text.msh, line 12: here is a hexahedron (type 5); in space kedge reads tetrahedra: mesh "
       "the volume with these alone"},
      {ELEMENT22("1 6 0 1 2 3 4"),
       "text.msh, line 12: here is a prism (type 6); in space kedge reads tetrahedra: mesh the "
       "volume with these alone"},
      {ELEMENT22("1 7 0 1 2 3 4"),
       "text.msh, line 12: here is a pyramid (type 7); in space kedge reads tetrahedra: mesh the "
       "volume with these alone"},
      {ELEMENT22("1 93 0 1 2 3 4"),
       "text.msh, line 12: here is a hexahedron (type 93); in space kedge reads tetrahedra: mesh "
       "the volume with these alone"},
      {ELEMENT22("1 34 0 1 2 3 4"),
       "text.msh, line 12: here is a polygon (type 34); only triangles and quadrilaterals are "
       "supported"},
      {ELEMENT22("1 777 0 1 2 3 4"),
       "text.msh, line 12: element type 777 is unknown; kedge reads triangles, quadrilaterals and "
       "tetrahedra: mesh without others"},
  };
  ASSERT_ALL_REFUSED(*state, cases);
}

#define NODES(n, six) "$Nodes\n" n "\n1 0 0 0\n2 1 0 0\n3 0 1 0\n" six "$EndNodes\n"

static void curves_that_turn_over_or_do_not_fit_are_refused(void **state)
{
  static const refusal cases[] = {
      {FORMAT22 NODES(
           "6",
           "4 .5 0 0\n5 .2 .2 0\n6 0 .5 0\n") "$Elements\n1\n1 9 0 1 2 3 4 5 6\n$EndElements\n",
       "text.msh: the triangle in line 15 with corners (0, 0), (1, 0), (0, 1) turns over at (1, "
       "0), "
       "where the determinant of its map is -1 of its mean; mesh finer along the curve, or with "
       "Mesh.HighOrderOptimize = 2; or are its nodes not in the order of Gmsh?"},
      // J = 1 - 1.05 * 4 r (1 - r), which is positive at four Gauss points and in corners.
      {FORMAT22
       "$Nodes\n9\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 .5 0 0\n6 1 .5 0\n7 .5 -.05 0\n8 0 .5 "
       "0\n9 .5 -.025 0\n$EndNodes\n$Elements\n1\n1 10 0 1 2 3 4 5 6 7 8 9\n$EndElements\n",
       "text.msh: the quadrilateral in line 18 with corners (0, 0), (1, 0), (1, 1), (0, 1) turns "
       "over at "
       "(0.437383296, -0.000309158307), where the determinant of its map is -0.112 of its mean; "
       "mesh finer "
       "along the curve, or with Mesh.HighOrderOptimize = 2; or are its nodes not in the order of "
       "Gmsh?"},
      // The nodes between are not in the order of Gmsh.
      {FORMAT22 NODES(
           "6",
           "4 .5 .1 0\n5 .5 .5 0\n6 0 .5 0\n") "$Elements\n1\n1 9 0 1 2 3 5 6 4\n$EndElements\n",
       "text.msh: the triangle in line 15 with corners (0, 0), (1, 0), (0, 1) turns over at "
       "(0.360318545, 0.352374842), where the determinant of its map is -0.229 of its mean; mesh "
       "finer along the curve, or with Mesh.HighOrderOptimize = 2; or are its nodes not in the "
       "order "
       "of Gmsh?"},
      {FORMAT22 NODES(
           "8",
           "4 .5 0 0\n5 .45 .45 0\n6 0 .5 0\n7 1 1 0\n8 0 0 0\n") "$Elements\n2\n1 9 0 1 2 3 4 5 "
                                                                  "6\n2 2 0 2 7 3\n$EndElements\n",
       "text.msh: the triangle in line 17 with corners (0, 0), (1, 0), (0, 1) and the triangle in "
       "line 18 with corners (1, 0), (1, 1), (0, 1) do not fit together: on their common edge one "
       "has a node at (0.45, 0.45) and the other at (0.5, 0.5); are their nodes in the order of "
       "Gmsh? Else mesh both with one Mesh.ElementOrder"},
      {FORMAT22 NODES(
           "6",
           "4 .5 0 0\n5 .5 .5 1\n6 0 .5 0\n") "$Elements\n1\n1 9 0 1 2 3 4 5 6\n$EndElements\n",
       "text.msh: there are no tetrahedra, and the surface is not in a plane z = const (the vertex "
       "(0.5, 0.5) has z = 1, another one z = 0); mesh the volume too, or project the surface to "
       "the plane before meshing"},
      {FORMAT22 NODES("3", "") "$Elements\n1\n1 9 0 1 2 3 4 5 6\n$EndElements\n",
       "text.msh, line 12: an element uses node 4, which does not exist; export the mesh again, "
       "with "
       "all nodes"},
  };
  ASSERT_ALL_REFUSED(*state, cases);
}

static void files_that_do_not_exist_are_refused(void **state)
{
  kedge_mesh *mesh;
  assert_refused(*state, kedge_mesh_read(*state, MESHES "none.msh", &mesh), KEDGE_ERR_IO,
                 "cannot open " MESHES "none.msh: No such file or directory");
}

static void damaged_elements_are_refused(void **state)
{
  static const refusal cases[] = {
      {ELEMENT22("1 2 0 1 2 4"),
       "text.msh, line 12: an element uses node 4, which does not exist; export the "
       "mesh again, with all nodes"},
      {ELEMENT22("1 2 0 1 2"),
       "text.msh, line 12: here is a triangle of order 1 (type 2) with 2 nodes, and Gmsh's has 3; "
       "export the mesh again"},
      {ELEMENT22("1 2 0 1 2 3 4"),
       "text.msh, line 12: here is a triangle of order 1 (type 2) with 4 nodes, and Gmsh's has 3; "
       "export the mesh again"},
      {ELEMENT22("1 2 0 1 2 x3"), "text.msh, line 12: \"x3\" is not an integer"},
      {ELEMENT22("1 2 99 1 2 3"),
       "text.msh, line 12: 99 tags are announced, but 20 bytes are left; "
       "the file is damaged or truncated"},
      {ELEMENT22("1 2 1 99999999999 1 2 3"),
       "text.msh, line 12: 99999999999 is too large for a tag or type"},
      {FORMAT22 "$Elements\n0\n$EndElements\n",
       "text.msh, line 5: $Elements comes before $Nodes; export the mesh again"},
      {FORMAT22 NODES22 "$Elements\n0\n$EndElements\n$Elements\n0\n$EndElements\n",
       "text.msh, line 14: there is a second section $Elements; the file is damaged"},
      {FORMAT22 NODES22 "$Elements\n9000000000\n1 2 0 1 2 3\n$EndElements\n",
       "text.msh, line 11: 9000000000 elements are announced, but 26 bytes are left; the file is "
       "damaged or truncated"},
      {FORMAT22 NODES22 "$Elements\n1\n1 2 0 1 2 3\n2 2 0 1 2 3\n$EndElements\n",
       "text.msh, line 13: $EndElements should be here; the section is longer than its counts say"},
      {FORMAT41 NODES41 "$Elements\n1 1 1 1\n2 1 2 2\n1 1 2 3\n2 2 3 1\n$EndElements\n",
       "text.msh, line 16: a block of 2 elements does not fit the 1 elements that are left; the "
       "file "
       "is damaged"},
      {FORMAT41 NODES41 "$Elements\n1 2 1 2\n2 1 2 1\n1 1 2 3\n$EndElements\n",
       "text.msh, line 18: the blocks hold 1 elements less than announced; the file is damaged"},
      {FORMAT22 NODES22 "$Elements\n1\n1 2 0 1 2 3\n$EndElements\n17\n",
       "text.msh, line 14: a $section should begin here; the file is damaged"},
  };
  ASSERT_ALL_REFUSED(*state, cases);
}

static void damaged_nodes_are_refused(void **state)
{
  static const refusal cases[] = {
      {FORMAT22 "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n",
       "text.msh, line 8: node 1 is defined twice in the section $Nodes before this; export the "
       "mesh again"},
      {FORMAT22 "$Nodes\n3\n1 0 0 0\n9000000 1 0 0\n1 1 0 0\n$EndNodes\n",
       "text.msh, line 9: node 1 is defined twice in the section $Nodes before this; export the "
       "mesh again"},
      {FORMAT22 "$Nodes\n1\n5 0 nan 0\n$EndNodes\n",
       "text.msh, line 6: node 5 has a coordinate that is not finite (0, nan, 0); repair the "
       "geometry and mesh it again"},
      {FORMAT22 "$Nodes\n1\n5 0 1e999 0\n$EndNodes\n",
       "text.msh, line 6: node 5 has a coordinate that is not finite (0, inf, 0); repair the "
       "geometry and mesh it again"},
      {FORMAT22 "$Nodes\n-1\n$EndNodes\n",
       "text.msh, line 5: -1 nodes are announced, but 11 bytes are left; the file is damaged or "
       "truncated"},
      {FORMAT22 "$Nodes\n123456789012345\n1 0 0 0\n",
       "text.msh, line 5: 123456789012345 nodes are announced, but 9 bytes are left; the file is "
       "damaged or truncated"},
      {FORMAT22 NODES22 NODES22,
       "text.msh, line 11: there is a second section $Nodes; the file is damaged"},
      {FORMAT41 "$Nodes\n1 2 1 3\n2 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n$EndNodes\n",
       "text.msh, line 6: a block of 3 nodes of dimension 2 does not fit the 2 nodes of the "
       "section; "
       "the file is damaged"},
      {FORMAT41 "$Nodes\n1 3 1 3\n2 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n",
       "text.msh, line 11: the blocks hold 2 nodes, but 3 are announced; the file is damaged"},
      {FORMAT22 "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0.25\n$EndNodes\n"
                "$Elements\n1\n1 2 0 1 2 3\n$EndElements\n",
       "text.msh: there are no tetrahedra, and the surface is not in a plane z = const (the vertex "
       "(0, 1) has z = 0.25, another one z = 0); mesh the volume too, or project the surface to "
       "the "
       "plane before meshing"},
  };
  ASSERT_ALL_REFUSED(*state, cases);
}

static void damaged_names_and_entities_are_refused(void **state)
{
  static const refusal cases[] = {
      {FORMAT22 "$PhysicalNames\n1\n1 7 wall\n$EndPhysicalNames\n",
       "text.msh, line 6: the name of a physical group is not in quotes; put it in \"\""},
      {FORMAT22 "$PhysicalNames\n1\n4 7 \"wall\"\n$EndPhysicalNames\n",
       "text.msh, line 6: there is no physical group of dimension 4 and tag 7"},
      {FORMAT22 "$PhysicalNames\n1\n1 7 \"wall\"\n",
       "text.msh, line 7: the file ends inside section $PhysicalNames; it is truncated"},
      {FORMAT41 "$Entities\n0 0 5000 0\n$EndEntities\n",
       "text.msh, line 5: 5000 entities are announced, but 16 bytes are left; the file is damaged "
       "or "
       "truncated"},
      {FORMAT41 "$Entities\n0 0 1 0\n1 0 0 0 1 1 0 7000 1\n$EndEntities\n",
       "text.msh, line 6: 7000 physical groups are announced, but 16 bytes are left; the file is "
       "damaged "
       "or "
       "truncated"},
      {FORMAT41 "$Periodic\n1\n",
       "text.msh, line 5: section $Periodic has no end; the file is truncated"},
  };
  ASSERT_ALL_REFUSED(*state, cases);
}

static void bad_meshes_name_the_line_of_the_element(void **state)
{
  static const refusal cases[] = {
      {FORMAT22 NODES22 "$Elements\n2\n1 2 0 1 2 3\n2 2 0 3 1 2\n$EndElements\n",
       "text.msh: the triangle in line 12 with corners (0, 0), (1, 0), (0, 1) and the triangle in "
       "line 13 with corners (0, 1), (0, 0), (1, 0) are duplicates: they have the same vertices; "
       "repair the mesh"},
      {FORMAT22 NODES22 "$Elements\n1\n1 2 0 1 2 2\n$EndElements\n",
       "text.msh: the triangle in line 12 with corners (0, 0), (1, 0), (1, 0) is degenerate: it "
       "uses "
       "a vertex twice; remove it from the mesh"},
  };
  ASSERT_ALL_REFUSED(*state, cases);
}

static void every_truncation_is_refused(void **state)
{
  static const char *const files[] = {MESHES "inclusion41.msh", MESHES "inclusion41-binary.msh",
                                      MESHES "inclusion22.msh", MESHES "inclusion22-binary.msh",
                                      MESHES "inclusion41-parts.msh"};
  for (size_t f = 0; f < sizeof files / sizeof *files; ++f) {
    char *data;
    size_t bytes;
    kedge_mesh *mesh;
    assert_ok(*state, kg_file_read(*state, files[f], &data, &bytes));
    // Without the last line end the file is still whole.
    for (size_t n = 0; n < bytes - 1; n += 1 + n / 500) {
      char *copy = malloc(n + 1);  // so that reading beyond its end is caught
      memcpy(copy, data, n);
      assert_int_equal(build_from_bytes(*state, copy, n, &mesh), KEDGE_ERR_INPUT);
      assert_null(mesh);
      free(copy);
    }
    assert_ok(*state, build_from_bytes(*state, data, bytes - 1, &mesh));
    kedge_mesh_destroy(mesh);
    free(data);
  }
}

static void another_byte_order_is_told_from_damage(void **state)
{
  static const char text[] = "$MeshFormat\n4.1 1 8\n\0\0\0\1\n$EndMeshFormat\n";
  kedge_mesh *mesh;
  const kedge_status status = build_from_bytes(*state, text, sizeof text - 1, &mesh);
  assert_refused(*state, status, KEDGE_ERR_INPUT,
                 "text.msh, byte 24: the byte order is not this machine's; export the mesh as "
                 "ASCII, or on a machine of the same byte order");
}

static void a_truncated_binary_file_names_the_byte(void **state)
{
  char *data;
  size_t bytes;
  kedge_mesh *mesh;
  assert_ok(*state, kg_file_read(*state, MESHES "inclusion41-binary.msh", &data, &bytes));
  const kedge_status status = build_from_bytes(*state, data, bytes - 1000, &mesh);
  char sentence[256];
  // The last block, of 278 triangles of 32 bytes, and "\n$EndElements\n" end the file.
  const size_t begin = bytes - 278 * 32 - strlen("\n$EndElements\n");
  snprintf(sentence, sizeof sentence,
           "text.msh, byte %zu: 278 elements are announced, but %zu bytes are left; the file is "
           "damaged or truncated",
           begin, bytes - 1000 - begin);
  assert_refused(*state, status, KEDGE_ERR_INPUT, sentence);
  free(data);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_that_are_no_gmsh_mesh_are_refused),
      cmocka_unit_test(elements_of_other_kinds_are_named),
      cmocka_unit_test(curves_that_turn_over_or_do_not_fit_are_refused),
      cmocka_unit_test(files_that_do_not_exist_are_refused),
      cmocka_unit_test(damaged_elements_are_refused),
      cmocka_unit_test(damaged_nodes_are_refused),
      cmocka_unit_test(damaged_names_and_entities_are_refused),
      cmocka_unit_test(bad_meshes_name_the_line_of_the_element),
      cmocka_unit_test(every_truncation_is_refused),
      cmocka_unit_test(another_byte_order_is_told_from_damage),
      cmocka_unit_test(a_truncated_binary_file_names_the_byte),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
