// Gmsh files of tetrahedra: every format, groups of faces and of volumes, refusals, and what is
// written.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "mesh/build.h"
#include "support.h"

#define FORMAT22 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define FORMAT40 "$MeshFormat\n4 0 8\n$EndMeshFormat\n"
#define FORMAT41 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"

// Two tetrahedra on both sides of a triangle, two more triangles on the boundary, a line and a
// point; all of these in groups. The second tetrahedron has a negative determinant.
#define NAMES                                                                                   \
  "$PhysicalNames\n6\n0 6 \"corner\"\n1 5 \"rim\"\n2 7 \"wall\"\n2 8 \"cut\"\n3 11 \"upper\"\n" \
  "3 12 \"lower\"\n$EndPhysicalNames\n"
#define NODES22 "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0 0 -1\n$EndNodes\n"
#define TWO22                                                                         \
  FORMAT22 NAMES NODES22                                                              \
      "$Elements\n7\n1 15 2 6 1 1\n2 1 2 5 1 1 2\n3 2 2 7 1 2 3 4\n4 2 2 7 1 1 2 5\n" \
      "5 2 2 8 2 3 2 1\n6 4 2 11 1 1 2 3 4\n7 4 2 12 2 1 2 3 5\n$EndElements\n"
#define TETRAHEDRA_FIRST22                                                               \
  FORMAT22 NAMES NODES22                                                                 \
      "$Elements\n7\n1 1 2 5 1 1 2\n2 4 2 11 1 1 2 3 4\n3 2 2 7 1 2 3 4\n4 15 2 6 1 1\n" \
      "5 2 2 8 2 3 2 1\n6 4 2 12 2 1 2 3 5\n7 2 2 7 1 1 2 5\n$EndElements\n"
#define ENTITIES(point)                                              \
  "$Entities\n1 1 2 2\n" point                                       \
  "1 0 0 0 1 0 0 1 5 0\n1 0 0 -1 1 1 1 1 7 0\n2 0 0 0 1 1 0 1 8 0\n" \
  "1 0 0 0 1 1 1 1 11 0\n2 0 0 -1 1 1 0 1 12 0\n$EndEntities\n"
#define NODES41 \
  "$Nodes\n1 5 1 5\n3 1 0 5\n1\n2\n3\n4\n5\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n0 0 -1\n$EndNodes\n"
#define TWO41                                                                          \
  FORMAT41 NAMES ENTITIES("1 0 0 0 1 6\n") NODES41                                     \
      "$Elements\n6 7 1 7\n0 1 15 1\n1 1\n1 1 1 1\n2 1 2\n2 1 2 2\n3 2 3 4\n4 1 2 5\n" \
      "2 2 2 1\n5 3 2 1\n3 1 4 1\n6 1 2 3 4\n3 2 4 1\n7 1 2 3 5\n$EndElements\n"
#define TWO40 \
  FORMAT40 NAMES ENTITIES("1 0 0 0 0 0 0 1 6\n")                                              \
      "$Nodes\n1 5\n1 3 0 5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0 0 -1\n$EndNodes\n"       \
      "$Elements\n6 7\n1 0 15 1\n1 1\n1 1 1 1\n2 1 2\n1 2 2 2\n3 2 3 4\n4 1 2 5\n"            \
      "2 2 2 1\n5 3 2 1\n1 3 4 1\n6 1 2 3 4\n2 3 4 1\n7 1 2 3 5\n$EndElements\n"

static kedge_mesh *read_text(kedge_context *ctx, const char *text)
{
  kedge_mesh *mesh;
  assert_ok(ctx, build_from_text(ctx, text, &mesh));
  assert_int_equal(mesh->dimension, 3);
  return mesh;
}

/// Bytes of a binary file.
typedef struct bytes {
  size_t n;
  char data[4096];
} bytes;

static void put(bytes *to, const void *from, size_t n)
{
  assert_true(to->n + n <= sizeof to->data);
  memcpy(to->data + to->n, from, n);
  to->n += n;
}
static void put_text(bytes *to, const char *text)
{
  put(to, text, strlen(text));
}
/// Numbers of 4 bytes, or of 8.
static void put_all(bytes *to, size_t size, int n, const int64_t *number)
{
  for (int i = 0; i < n; ++i) {
    const int32_t small = (int32_t)number[i];
    put(to, size == 8 ? (const void *)&number[i] : (const void *)&small, size);
  }
}
#define PUT(to, size, ...) \
  put_all((to), (size), (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__})

static void put_place(bytes *to, int node)
{
  static const double at[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}};
  put(to, at[node], sizeof at[node]);
}

/// TWO22 in binary.
static void make_22(bytes *to)
{
  to->n = 0;
  put_text(to, "$MeshFormat\n2.2 1 8\n");
  PUT(to, 4, 1);
  put_text(to, "\n$EndMeshFormat\n" NAMES "$Nodes\n5\n");
  for (int i = 0; i < 5; ++i) {
    PUT(to, 4, i + 1);
    put_place(to, i);
  }
  put_text(to, "\n$EndNodes\n$Elements\n7\n");
  PUT(to, 4, 15, 1, 2, 1, 6, 1, 1);
  PUT(to, 4, 1, 1, 2, 2, 5, 1, 1, 2);
  PUT(to, 4, 2, 3, 2, 3, 7, 1, 2, 3, 4, 4, 7, 1, 1, 2, 5, 5, 8, 2, 3, 2, 1);
  PUT(to, 4, 4, 2, 2, 6, 11, 1, 1, 2, 3, 4, 7, 12, 2, 1, 2, 3, 5);
  put_text(to, "\n$EndElements\n");
}

/// An entity of one group: its tag, its box, what bounds it.
static void put_entity(bytes *to, int64_t tag, int64_t group)
{
  const double box[6] = {0, 0, -1, 1, 1, 1};
  PUT(to, 4, tag);
  put(to, box, sizeof box);
  PUT(to, 8, 1);
  PUT(to, 4, group);
  PUT(to, 8, 0);
}

/// TWO40 or TWO41 in binary. 4.0 has tags of 4 bytes, and entities before their dimensions.
static void make_4(bytes *to, bool is_40)
{
  const size_t size = is_40 ? 4 : 8;
  const double origin[6] = {0};
  to->n = 0;
  put_text(to, is_40 ? "$MeshFormat\n4 1 8\n" : "$MeshFormat\n4.1 1 8\n");
  PUT(to, 4, 1);
  put_text(to, "\n$EndMeshFormat\n" NAMES "$Entities\n");
  PUT(to, 8, 1, 1, 2, 2);
  PUT(to, 4, 1);
  put(to, origin, (is_40 ? 6 : 3) * sizeof *origin);
  PUT(to, 8, 1);
  PUT(to, 4, 6);
  for (int i = 0; i < 5; ++i)
    put_entity(to, i % 2 ? 1 : i > 0 ? 2 : 1, (int[]){5, 7, 8, 11, 12}[i]);
  put_text(to, "\n$EndEntities\n$Nodes\n");
  PUT(to, 8, 1, 5);
  if (!is_40) PUT(to, 8, 1, 5);
  PUT(to, 4, is_40 ? 1 : 3, is_40 ? 3 : 1, 0);
  PUT(to, 8, 5);
  for (int i = 0; i < 5; ++i) {
    PUT(to, size, i + 1);
    if (is_40) put_place(to, i);
  }
  for (int i = 0; i < 5 && !is_40; ++i) put_place(to, i);
  put_text(to, "\n$EndNodes\n$Elements\n");
  PUT(to, 8, 6, 7);
  if (!is_40) PUT(to, 8, 1, 7);
  static const struct {
    int dimension, entity, type, n, n_numbers;
    int64_t numbers[8];
  } blocks[] = {{0, 1, 15, 1, 2, {1, 1}},
                {1, 1, 1, 1, 3, {2, 1, 2}},
                {2, 1, 2, 2, 8, {3, 2, 3, 4, 4, 1, 2, 5}},
                {2, 2, 2, 1, 4, {5, 3, 2, 1}},
                {3, 1, 4, 1, 5, {6, 1, 2, 3, 4}},
                {3, 2, 4, 1, 5, {7, 1, 2, 3, 5}}};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; ++i) {
    const int d = blocks[i].dimension, entity = blocks[i].entity;
    PUT(to, 4, is_40 ? entity : d, is_40 ? d : entity, blocks[i].type);
    PUT(to, 8, blocks[i].n);
    put_all(to, size, blocks[i].n_numbers, blocks[i].numbers);
  }
  put_text(to, "\n$EndElements\n");
}

static void faces_volumes_and_inner_triangles_are_told_apart(void **state)
{
  kedge_mesh *mesh = read_text(*state, TWO22);
  assert_int_equal(mesh->n_elements, 2);
  assert_int_equal(mesh->n_edges, 7);
  assert_int_equal(mesh->n_boundary_edges, 6);
  assert_int_equal(kedge_mesh_group_count(mesh), 5);  // a line and a point are not read
  assert_int_equal(group_named(mesh, 2, "wall").tag, 7);
  assert_int_equal(group_named(mesh, 2, "wall").count, 2);
  assert_true(fabs(group_named(mesh, 2, "wall").measure - 0.5 * sqrt(3.0) - 0.5) < 1e-15);
  assert_int_equal(group_named(mesh, 2, "cut").count, 0);
  assert_int_equal(group_named(mesh, 2, "cut").n_inner, 1);
  assert_int_equal(group_named(mesh, 2, "default").count, 4);
  assert_int_equal(group_named(mesh, 3, "upper").tag, 11);
  assert_true(fabs(group_named(mesh, 3, "upper").measure - 1.0 / 6) < 1e-15);
  assert_int_equal(group_named(mesh, 3, "lower").count, 1);
  assert_int_equal(mesh->info.interior_lines, 1);
  assert_int_equal(mesh->info.unused_vertices, 0);
  assert_int_equal(mesh->info.dimension, 3);
  assert_true(mesh->info.low[2] == -1.0 && mesh->info.high[2] == 1.0);
  kedge_mesh_destroy(mesh);
}

static void all_formats_give_the_same_tetrahedra(void **state)
{
  static const char *const texts[] = {TWO22, TETRAHEDRA_FIRST22, TWO40, TWO41};
  kedge_mesh *mesh = read_text(*state, TWO22), *other;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    other = read_text(*state, texts[i]);
    assert_same_mesh(mesh, other);
    kedge_mesh_destroy(other);
  }
  for (int format = 0; format < 3; ++format) {
    bytes file;
    if (format == 0)
      make_22(&file);
    else
      make_4(&file, format == 1);
    assert_ok(*state, build_from_bytes(*state, file.data, file.n, &other));
    assert_same_mesh(mesh, other);
    kedge_mesh_destroy(other);
  }
  kedge_mesh_destroy(mesh);
}

static void every_truncation_of_tetrahedra_is_refused(void **state)
{
  bytes files[5];
  static const char *const texts[] = {TWO22, TWO41};
  make_22(&files[0]);
  make_4(&files[1], true);
  make_4(&files[2], false);
  for (int i = 0; i < 2; ++i) {
    files[3 + i].n = 0;
    put_text(&files[3 + i], texts[i]);
  }
  for (int f = 0; f < 5; ++f)
    for (size_t n = 0; n < files[f].n - 1; ++n) {
      kedge_mesh *mesh;
      char *copy = malloc(n + 1);  // so that reading beyond its end is caught
      memcpy(copy, files[f].data, n);
      assert_int_equal(build_from_bytes(*state, copy, n, &mesh), KEDGE_ERR_INPUT);
      assert_null(mesh);
      free(copy);
    }
}

#define ELEMENTS22(n, lines) FORMAT22 NODES22 "$Elements\n" n "\n" lines "$EndElements\n"
#define TWO                  "1 4 2 1 1 1 2 3 4\n2 4 2 1 1 1 2 3 5\n"

static void what_no_mesh_of_tetrahedra_has_is_refused(void **state)
{
  static const struct {
    const char *text, *sentence;
  } cases[] = {
      {ELEMENTS22("3", TWO "3 2 2 7 1 1 4 5\n"),
       "text.msh: the triangle of (0, 0, 0), (0, 0, 1), (0, 0, -1) of boundary group 7 is no face "
       "of any tetrahedron; join the meshes at their interface or take the triangle out of the "
       "group"},
      {ELEMENTS22("3", "3 3 2 7 1 1 2 3 4\n" TWO),
       "text.msh, line 14: here is a quadrilateral of order 1 (type 3) in a mesh of tetrahedra, "
       "whose faces are triangles of order 1; mesh with tetrahedra alone and Mesh.ElementOrder = "
       "1"},
      {ELEMENTS22("3", TWO "3 9 2 7 1 1 2 3 1 2 3\n"),
       "text.msh, line 16: here is a triangle of order 2 (type 9) in a mesh of tetrahedra, whose "
       "faces are triangles of order 1; mesh with tetrahedra alone and Mesh.ElementOrder = 1"},
      {ELEMENTS22("3", TWO "3 5 2 7 1 1 2 3 4 5 1 2 3\n"),
       "text.msh, line 16: here is a hexahedron (type 5); in space kedge reads tetrahedra: mesh "
       "the "
       "volume with these alone"},
      {ELEMENTS22("2", "1 3 2 7 1 1 2 3 4\n2 5 2 7 1 1 2 3 4 5 1 2 3\n"),
       "text.msh, line 15: here is a hexahedron (type 5); in space kedge reads tetrahedra: mesh "
       "the "
       "volume with these alone"},
      {FORMAT41 NODES41 "$Elements\n2 2 1 2\n2 1 3 1\n1 1 2 3 4\n3 1 7 1\n2 1 2 3 4 5\n"
                        "$EndElements\n",
       "text.msh, line 22: here is a pyramid (type 7); in space kedge reads tetrahedra: mesh the "
       "volume with these alone"},
      {FORMAT41 NODES41 "$Elements\n2 2 1 2\n2 1 3 1\n1 1 2 3 4\n3 1 6 1\n2 1 2 3 4 5 1\n"
                        "$EndElements\n",
       "text.msh, line 22: here is a prism (type 6); in space kedge reads tetrahedra: mesh the "
       "volume with these alone"},
      {FORMAT41 NODES41 "$Elements\n2 2 1 2\n2 1 9 1\n1 1 2 3 4 5 1\n3 1 11 1\n"
                        "2 1 2 3 4 5 1 2 3 4 5\n$EndElements\n",
       "text.msh, line 22: here is a curved tetrahedron (type 11); in space kedge reads straight "
       "ones so far: mesh with Mesh.ElementOrder = 1"},
      {ELEMENTS22("1", "1 4 2 1 1 1 2 3\n"),
       "text.msh, line 14: here is a tetrahedron of order 1 (type 4) with 3 nodes, and Gmsh's has "
       "4; export the mesh again"},
      {ELEMENTS22("1", "1 4 2 1 1 1 2 3 6\n"),
       "text.msh, line 14: an element uses node 6, which does not exist; export the mesh again, "
       "with all nodes"},
      {ELEMENTS22("1", "1 4 2 1 1 1 2 3 3\n"),
       "text.msh: the tetrahedron in line 14 with corners (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 1, "
       "0) is degenerate: it uses a vertex twice; remove it from the mesh"},
      {ELEMENTS22("2", "1 2 2 7 1 1 2 3\n2 2 2 7 1 1 2 4\n"),
       "text.msh: there are no tetrahedra, and the surface is not in a plane z = const (the vertex "
       "(0, 0) has z = 1, another one z = 0); mesh the volume too, or project the surface to the "
       "plane before meshing"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_mesh *mesh;
    const kedge_status status = build_from_text(*state, cases[i].text, &mesh);
    assert_null(mesh);
    assert_refused(*state, status, KEDGE_ERR_INPUT, cases[i].sentence);
  }
}

static void the_first_of_several_groups_counts_in_space(void **state)
{
  kedge_mesh *mesh = read_text(
      *state, ELEMENTS22("7",
                         "1 2 2 7 1 2 3 4\n2 2 2 8 1 2 3 4\n3 2 2 8 1 1 2 3\n4 4 2 11 1 1 2 3 4\n"
                         "5 4 2 12 1 1 2 3 4\n6 4 2 11 1 1 2 3 5\n7 4 2 12 1 1 2 3 5\n"));
  assert_int_equal(mesh->n_elements, 2);
  assert_int_equal(mesh->info.shared_elements, 2);
  assert_int_equal(mesh->info.shared_lines, 1);
  assert_int_equal(mesh->overlaps.n, 2);
  assert_int_equal(mesh->overlaps.item[0].dimension, 2);
  assert_int_equal(mesh->overlaps.item[0].other, 8);
  assert_int_equal(mesh->overlaps.item[1].dimension, 3);
  assert_int_equal(mesh->overlaps.item[1].first, 11);
  assert_int_equal(mesh->overlaps.item[1].other, 12);
  kedge_mesh_destroy(mesh);
  mesh = read_text(
      *state, FORMAT41
      "$Entities\n0 0 1 1\n1 0 0 -1 1 1 1 2 7 8 0\n1 0 0 0 1 1 1 2 11 -12 0\n$EndEntities\n" NODES41
      "$Elements\n2 4 1 4\n2 1 2 2\n1 2 3 4\n2 1 2 3\n3 1 4 2\n3 1 2 3 4\n"
      "4 1 2 3 5\n$EndElements\n");
  assert_int_equal(group_named(mesh, 2, "7").count, 1);
  assert_int_equal(group_named(mesh, 2, "7").n_inner, 1);
  assert_int_equal(group_named(mesh, 3, "11").count, 2);
  assert_int_equal(mesh->info.shared_elements, 2);
  assert_int_equal(mesh->info.shared_lines, 1);
  assert_int_equal(mesh->overlaps.n, 2);
  assert_int_equal(mesh->overlaps.item[1].other, 12);
  kedge_mesh_destroy(mesh);
}

static void names_without_elements_are_known_as_lost(void **state)
{
  kedge_mesh *mesh =
      read_text(*state, FORMAT22 NAMES NODES22 "$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n");
  assert_string_equal(mesh->lost[0], "wall");
  assert_string_equal(mesh->lost[1], "upper");
  assert_int_equal(mesh->info.unused_vertices, 1);
  kedge_mesh_destroy(mesh);
}

static void ghosts_are_left_out_and_periodic_surfaces_counted(void **state)
{
  kedge_mesh *mesh =
      read_text(*state, FORMAT41
                "$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n"
                "$PartitionedEntities\n2\n1\n3 2\n0 0 0 1\n2 3 1 1 1 0 0 0 1 1 1 0 0\n"
                "$EndPartitionedEntities\n" NODES41
                "$Elements\n2 2 1 2\n3 2 4 1\n1 1 2 3 4\n3 3 4 1\n2 1 2 3 5\n$EndElements\n"
                "$Periodic\n2\n1 4 5\n0\n0\n2 6 7\n0\n0\n$EndPeriodic\n");
  assert_int_equal(mesh->n_elements, 1);
  assert_int_equal(mesh->info.ghost_elements, 1);
  assert_int_equal(mesh->info.partition, 1);
  assert_int_equal(mesh->info.partitions, 2);
  assert_int_equal(mesh->info.periodic_lines, 1);
  kedge_mesh_destroy(mesh);
}

/// Write, read back, remove.
static void assert_survives(kedge_context *ctx, const kedge_mesh *mesh)
{
  char path[] = "/tmp/kedge-space-XXXXXX.msh";
  const int file = mkstemps(path, 4);
  assert_true(file >= 0);
  close(file);
  for (int binary = 0; binary < 2; ++binary) {
    kedge_mesh *again;
    char *data;
    size_t n;
    kg_raw_mesh raw;
    assert_ok(ctx, kedge_mesh_write(ctx, mesh, path, binary));
    assert_ok(ctx, kedge_mesh_read(ctx, path, &again));
    assert_same_mesh(mesh, again);
    kedge_mesh_destroy(again);
    assert_ok(ctx, kg_file_read(ctx, path, &data, &n));
    assert_ok(ctx, kg_gmsh_parse(ctx, path, data, n, &raw));
    const double *const p = raw.vertices;
    double volume = 0.0, flux = 0.0;
    for (int64_t e = 0; e < raw.n_elements; ++e) {
      const int32_t *v = raw.corners + 4 * e;
      double a[3][3];
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) a[i][k] = p[3 * v[i + 1] + k] - p[3 * v[0] + k];
      double six = 0.0;
      for (int k = 0; k < 3; ++k)
        six += a[0][k] *
               (a[1][(k + 1) % 3] * a[2][(k + 2) % 3] - a[1][(k + 2) % 3] * a[2][(k + 1) % 3]);
      assert_true(six > 0.0);
      volume += six / 6;
    }
    // Faces that are seen counterclockwise from outside have a volume by the theorem of Gauss; only
    // those in a group are in the file's lines.
    for (int64_t i = 0; i < raw.n_lines; ++i) {
      const double *q[3];
      for (int k = 0; k < 3; ++k) q[k] = p + 3 * raw.lines[3 * i + k];
      for (int k = 0; k < 3; ++k)
        flux += q[0][k] *
                (q[1][(k + 1) % 3] * q[2][(k + 2) % 3] - q[1][(k + 2) % 3] * q[2][(k + 1) % 3]) / 6;
    }
    assert_true(fabs(volume - mesh->info.area) < 1e-14 * volume);
    if (raw.n_lines == mesh->n_boundary_edges) assert_true(fabs(flux - volume) < 1e-13);
    kg_raw_mesh_free(&raw);
    free(data);
  }
  assert_int_equal(unlink(path), 0);
}

static void tetrahedra_are_written_and_read_back_bit_for_bit(void **state)
{
  static const char *const words[] = {"cube 1", "cube 3"};
  kedge_mesh *mesh;
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    assert_ok(*state, kedge_mesh_generate(*state, words[i], &mesh));
    assert_survives(*state, mesh);
    kedge_mesh_destroy(mesh);
  }
  mesh = read_text(*state, TWO22);  // groups inside the domain, and faces without one
  assert_survives(*state, mesh);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faces_volumes_and_inner_triangles_are_told_apart),
      cmocka_unit_test(all_formats_give_the_same_tetrahedra),
      cmocka_unit_test(every_truncation_of_tetrahedra_is_refused),
      cmocka_unit_test(what_no_mesh_of_tetrahedra_has_is_refused),
      cmocka_unit_test(the_first_of_several_groups_counts_in_space),
      cmocka_unit_test(names_without_elements_are_known_as_lost),
      cmocka_unit_test(ghosts_are_left_out_and_periodic_surfaces_counted),
      cmocka_unit_test(tetrahedra_are_written_and_read_back_bit_for_bit),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
