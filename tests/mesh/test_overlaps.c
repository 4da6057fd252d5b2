// Lines and surfaces in several physical groups, and lines that a file calls periodic: what a mesh
// knows of them, and what that means to a problem.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kedge/solution.h"
#include "problem/problem.h"
#include "support.h"

#define NAMES                                                         \
  "$PhysicalNames\n4\n1 1 \"wall\"\n1 2 \"hot\"\n2 7 \"steel\"\n2 8 " \
  "\"magnet\"\n$EndPhysicalNames\n"
#define FORMAT22 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define NODES22  "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n"
/// The unit square in two triangles; its floor is a wall and hot, its first triangle of steel and a
/// magnet.
#define MESH22                                                                              \
  FORMAT22 NAMES NODES22                                                                    \
      "$Elements\n6\n1 1 1 1 1 2\n2 1 1 2 1 2\n3 1 1 1 2 3\n4 2 1 7 1 2 3\n5 2 1 8 1 2 3\n" \
      "6 2 1 7 1 3 4\n$EndElements\n"
#define MESH41                                                                                  \
  "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" NAMES                                                \
  "$Entities\n0 2 1 0\n1 0 0 0 1 0 0 2 1 2 0\n2 0 0 0 1 1 0 1 1 0\n5 0 0 0 1 1 0 2 7 8 0\n"     \
  "$EndEntities\n$Nodes\n1 4 1 4\n2 5 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n$EndNodes\n" \
  "$Elements\n3 4 1 4\n1 1 1 1\n1 1 2\n1 2 1 1\n2 2 3\n2 5 2 2\n3 1 2 3\n4 1 3 4\n$EndElements\n"

static const char *const meshes[] = {MESH22, MESH41};
enum { N_MESHES = sizeof meshes / sizeof *meshes };

static kedge_mesh *mesh_of(kedge_context *ctx, const char *text)
{
  kedge_mesh *mesh;
  assert_ok(ctx, build_from_text(ctx, text, &mesh));
  return mesh;
}

/// Resolve a problem; the sentence is that of its refusal, NULL where it goes with the mesh.
static void assert_resolves(kedge_context *ctx, const kedge_mesh *mesh, const char *text,
                            const char *sentence)
{
  kedge_problem *p;
  kg_resolved r;
  assert_ok(ctx, kg_problem_parse(ctx, "p.ini", text, strlen(text), NULL, 0, &p));
  const kedge_status status = kg_problem_resolve(ctx, p, mesh, &r);
  if (sentence)
    assert_refused(ctx, status, KEDGE_ERR_INPUT, sentence);
  else
    assert_ok(ctx, status);
  if (!sentence) kg_resolved_free(&r);
  kedge_problem_destroy(p);
}

#define REST "[boundary default]\ntype = dirichlet\nvalue = 0\n"

static void a_line_has_no_two_conditions(void **state)
{
  for (int k = 0; k < N_MESHES; ++k) {
    kedge_mesh *mesh = mesh_of(*state, meshes[k]);
    assert_int_equal(mesh->info.shared_lines, 1);
    assert_resolves(*state, mesh, REST, NULL);
    assert_resolves(*state, mesh, "[boundary wall]\ntype = neumann\nvalue = 0\n" REST, NULL);
    static const char *const sections[] = {"hot", "2"};
    for (int i = 0; i < 2; ++i) {
      char text[200], sentence[200];
      snprintf(text, sizeof text, "[boundary %s]\ntype = neumann\nvalue = 0\n" REST, sections[i]);
      snprintf(sentence, sizeof sentence,
               "p.ini:2: [boundary %s]: a line at (0, 0) in text.msh is in the groups 'wall' and "
               "'hot' and cannot have two conditions; leave it in one of them",
               sections[i]);
      assert_resolves(*state, mesh, text, sentence);
    }
    kedge_mesh_destroy(mesh);
  }
}

static void a_surface_is_of_its_first_group(void **state)
{
  static const int n_shared[N_MESHES] = {1, 2};  // in 4.1 all of the surface is in both
  for (int k = 0; k < N_MESHES; ++k) {
    kedge_mesh *mesh = mesh_of(*state, meshes[k]), *fine;
    assert_int_equal(mesh->info.shared_elements, n_shared[k]);
    assert_ok(*state, kedge_mesh_refine(*state, mesh, 1, &fine));  // which remembers the groups
    assert_resolves(*state, fine, "[region steel]\ndiffusion = 2\n" REST, NULL);
    for (int i = 0; i < 2; ++i)
      assert_resolves(*state, i ? fine : mesh,
                      "[region magnet]\ndiffusion = 2\n[region default]\n" REST,
                      "p.ini:1: [region magnet]: a surface at (0, 0) in text.msh is in the "
                      "groups 'steel' and 'magnet', of which the first counts; take it out of "
                      "one of them, or the section out");
    kedge_mesh_destroy(fine);
    kedge_mesh_destroy(mesh);
  }
}

static void two_tags_of_one_name_are_one_group(void **state)
{
  kedge_mesh *mesh =
      mesh_of(*state, FORMAT22
              "$PhysicalNames\n2\n1 1 \"wall\"\n1 2 \"wall\"\n$EndPhysicalNames\n" NODES22
              "$Elements\n4\n1 1 1 1 1 2\n2 1 1 2 1 2\n3 2 0 1 2 3\n4 2 0 1 3 4\n$EndElements\n");
  assert_int_equal(mesh->overlaps.n, 0);
  assert_resolves(*state, mesh, "[boundary wall]\ntype = neumann\nvalue = 0\n" REST, NULL);
  kedge_mesh_destroy(mesh);
}

/// Two squares beside each other, their sides in groups as given: [left, floor, roof, right, the
/// side between], each "n tags"; in format 4.1.
static kedge_mesh *two_squares(kedge_context *ctx, const char *names, const char *const groups[5])
{
  char text[3000];
  size_t n = (size_t)snprintf(text, sizeof text,
                              "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n%s"
                              "$Entities\n0 5 2 0\n",
                              names);
  for (int i = 0; i < 5; ++i)
    n += (size_t)snprintf(text + n, sizeof text - n, "%d 0 0 0 2 1 0 %s 0\n", i + 1, groups[i]);
  snprintf(text + n, sizeof text - n,
           "1 0 0 0 1 1 0 1 7 0\n2 1 0 0 2 1 0 1 8 0\n$EndEntities\n"
           "$Nodes\n1 6 1 6\n2 1 0 6\n1\n2\n3\n4\n5\n6\n0 0 0\n1 0 0\n2 0 0\n0 1 0\n1 1 0\n"
           "2 1 0\n$EndNodes\n$Elements\n7 9 1 9\n1 1 1 1\n1 1 4\n1 2 1 2\n2 1 2\n3 2 3\n"
           "1 3 1 2\n4 4 5\n5 5 6\n1 4 1 1\n6 3 6\n1 5 1 1\n7 2 5\n2 1 3 1\n8 1 2 5 4\n"
           "2 2 3 1\n9 2 3 6 5\n$EndElements\n");
  return mesh_of(ctx, text);
}

#define SECTION(name) "[boundary " name "]\ntype = neumann\nvalue = 0\n" REST

/// The side between is in two groups, of which the second has a boundary line of its own.
static void lines_inside_the_domain_share_nothing(void **state)
{
  static const char *const groups[5] = {"1 1", "0", "0", "1 2", "2 1 2"};
  kedge_mesh *mesh = two_squares(*state, "", groups);
  assert_int_equal(mesh->overlaps.n, 0);
  assert_int_equal(mesh->info.shared_lines, 0);
  assert_resolves(*state, mesh, SECTION("2"), NULL);
  kedge_mesh_destroy(mesh);
}

/// The group 3 has lines in common with the groups 1 (inside) and 2 (outside); in a second mesh 3
/// is the name of a fourth group too.
static void any_line_in_common_counts_and_names_go_first(void **state)
{
  static const char *const groups[5] = {"1 1", "2 2 3", "1 4", "0", "2 1 3"};
  static const char *const say =
      "p.ini:2: [boundary %s]: a line at (0, 0) in text.msh%s is in the groups '%s' and '%s' and "
      "cannot have two conditions; leave it in one of them";
  char sentence[200];
  kedge_mesh *mesh = two_squares(*state, "", groups), *fine;
  assert_int_equal(mesh->info.shared_lines, 2);
  assert_ok(*state, kedge_mesh_refine(*state, mesh, 1, &fine));
  assert_int_equal(fine->info.shared_lines, 2);
  snprintf(sentence, sizeof sentence, say, "3", "", "2", "3");
  assert_resolves(*state, mesh, SECTION("3"), sentence);
  snprintf(sentence, sizeof sentence, say, "3", ", refined once", "2", "3");
  assert_resolves(*state, fine, SECTION("3"), sentence);
  kedge_mesh_destroy(fine);
  kedge_mesh_destroy(mesh);
  mesh = two_squares(*state,
                     "$PhysicalNames\n3\n1 2 \"two\"\n1 3 \"three\"\n1 4 \"3\"\n"
                     "$EndPhysicalNames\n",
                     groups);
  assert_resolves(*state, mesh, SECTION("3"), NULL);
  snprintf(sentence, sizeof sentence, say, "three", "", "two", "three");
  assert_resolves(*state, mesh, SECTION("three"), sentence);
  kedge_mesh_destroy(mesh);
}

/// Two tags have one name; the second has a line in common with another group.
static void each_tag_of_a_name_counts(void **state)
{
  static const char *const groups[5] = {"1 1", "2 2 3", "0", "0", "0"};
  kedge_mesh *mesh = two_squares(
      *state, "$PhysicalNames\n3\n1 1 \"wall\"\n1 2 \"wall\"\n1 3 \"hot\"\n$EndPhysicalNames\n",
      groups);
  assert_resolves(*state, mesh, SECTION("hot"),
                  "p.ini:2: [boundary hot]: a line at (0, 0) in text.msh is in the groups 'wall' "
                  "and 'hot' and cannot have two conditions; leave it in one of them");
  kedge_mesh_destroy(mesh);
}

static void overlaps_are_unique_in_whatever_order_they_come(void **state)
{
  enum { GROUPS = 50, TIMES = 40 };
  kg_overlaps overlaps = {0};
  for (int i = 0; i < GROUPS * TIMES; ++i) {
    const int32_t other = (int32_t)(i * 7 % GROUPS) + 2;
    const kg_overlap o = {2, 1, other, {(double)(i / GROUPS), 0.0}, NULL};
    assert_ok(*state, kg_overlaps_add(*state, &o, &overlaps));
  }
  assert_in_range(overlaps.capacity, GROUPS, 4 * GROUPS);
  kg_overlaps_unite(&overlaps);
  assert_int_equal(overlaps.n, GROUPS);
  for (int i = 0; i < GROUPS; ++i) {
    assert_int_equal(overlaps.item[i].other, i + 2);
    assert_true(overlaps.item[i].at[0] == 0.0);
  }
  kg_overlaps_free(&overlaps);
}

static void a_mesh_that_is_refined_keeps_names_and_counts(void **state)
{
  kedge_mesh *mesh = mesh_of(*state, MESH22), *fine;
  kg_raw_mesh raw;
  assert_ok(*state, kedge_mesh_refine(*state, mesh, 3, &fine));
  assert_ok(*state, kg_mesh_to_raw(*state, fine, &raw));
  assert_int_equal(raw.n_names, 4);
  assert_int_equal(raw.overlaps.n, 2);
  assert_int_equal(fine->info.shared_elements, 1);
  assert_int_equal(fine->info.shared_lines, 1);
  kg_raw_mesh_free(&raw);
  kedge_mesh_destroy(fine);
  kedge_mesh_destroy(mesh);
}

static int64_t periodic_lines(kedge_context *ctx, const char *text)
{
  kedge_mesh *mesh = mesh_of(ctx, text), *fine;
  assert_ok(ctx, kedge_mesh_refine(ctx, mesh, 1, &fine));
  const int64_t n = fine->info.periodic_lines;
  assert_int_equal(n, mesh->info.periodic_lines);
  kedge_mesh_destroy(fine);
  kedge_mesh_destroy(mesh);
  return n;
}

static void periodic_lines_are_counted(void **state)
{
  static const struct {
    const char *text;
    int n;
  } cases[] = {
      {MESH22 "$Periodic\n0\n$EndPeriodic\n", 0},
      {MESH22 "$Periodic\n1\n0 3 1\n1\n3 2\n$EndPeriodic\n", 0},  // points alone
      {MESH22 "$Periodic\n1\n1 3 3\n1\n3 3\n$EndPeriodic\n", 0},  // a curve is itself
      {MESH22 "$Periodic\n2\n0 3 1\n1\n3 2\n1 3 1\n2\n3 2\n4 1\n$EndPeriodic\n", 1},
      {MESH22 "$Periodic\n2\n1 3 1\nAffine 1 0 0\n1\n3 2\n\n1 4 2\n0\n$EndPeriodic\n", 2},
      {MESH41 "$Periodic\n2\n0 3 1\n0\n1\n3 2\n1 3 1\n2 1 0\n1\n3 2\n$EndPeriodic\n", 1},
      {MESH22 "$Periodic\nas usual\n$EndPeriodic\n", 0},
      {MESH22 "$Periodic\n3\n1 3 1\n7\n$EndPeriodic\n", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    assert_int_equal(periodic_lines(*state, cases[i].text), cases[i].n);
}

/// The binary form of 4.1, with a point, a curve with an affine map, and a section that ends early.
static void periodic_lines_are_counted_in_binary_files(void **state)
{
  static const char *const head = "$MeshFormat\n4.1 1 8\n";
  static const char *const rest = "\n$EndMeshFormat\n";
  for (int cut = 0; cut < 2; ++cut) {
    char bytes[1000], *to = bytes;
#define PUT(type, ...)                   \
  do {                                   \
    const type values[] = {__VA_ARGS__}; \
    memcpy(to, values, sizeof values);   \
    to += sizeof values;                 \
  } while (0)
#define SAY(text) (memcpy(to, text, strlen(text)), to += strlen(text))
    SAY(head);
    PUT(int32_t, 1);
    SAY(rest);
    SAY("$Nodes\n");
    PUT(int64_t, 1, 3, 1, 3);
    PUT(int32_t, 2, 1, 0);
    PUT(int64_t, 3, 1, 2, 3);
    PUT(double, 0, 0, 0, 1, 0, 0, 0, 1, 0);
    SAY("\n$EndNodes\n$Elements\n");
    PUT(int64_t, 1, 1, 1, 1);
    PUT(int32_t, 2, 1, 2);
    PUT(int64_t, 1, 1, 1, 2, 3);
    SAY("\n$EndElements\n$Periodic\n");
    PUT(int64_t, 3);
    PUT(int32_t, 0, 2, 1);
    PUT(int64_t, 0, 1, 2, 1);
    PUT(int32_t, 1, 2, 1);
    PUT(int64_t, 1);
    PUT(double, 0.5);
    PUT(int64_t, cut ? INT64_MAX : 1, 2, 1);
    PUT(int32_t, 1, 3, 1);
    PUT(int64_t, 0, 0);
    SAY("\n$EndPeriodic\n");
    kedge_mesh *mesh;
    assert_ok(*state, build_from_bytes(*state, bytes, (size_t)(to - bytes), &mesh));
    assert_int_equal(mesh->info.periodic_lines, cut ? 1 : 2);
    kedge_mesh_destroy(mesh);
  }
}

static void structs_of_meshes_have_sizes(void **state)
{
  kedge_mesh *mesh = mesh_of(*state, MESH22);
  kedge_mesh_info info = {.size = 0};
  assert_int_equal(kedge_mesh_get_info(mesh, &info), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(NULL), "begin with KEDGE_MESH_INFO_INIT"));
  info = (kedge_mesh_info)KEDGE_MESH_INFO_INIT;
  info.size = offsetof(kedge_mesh_info, vertices);  // of a program that knows no more
  info.vertices = -1;
  assert_int_equal(kedge_mesh_get_info(mesh, &info), KEDGE_OK);
  assert_int_equal(info.elements, 2);
  assert_int_equal(info.vertices, -1);
  kedge_mesh_group group = {.size = 0};
  assert_int_equal(kedge_mesh_get_group(mesh, 0, &group), KEDGE_ERR_ARG);
  group.size = sizeof group;
  assert_int_equal(kedge_mesh_get_group(mesh, 99, &group), KEDGE_ERR_ARG);
  assert_int_equal(kedge_mesh_get_group(mesh, 0, &group), KEDGE_OK);
  assert_string_equal(group.name, "wall");
  kedge_mesh_destroy(mesh);
}

#define PARAMETRIC22(nodes) \
  FORMAT22 "$ParametricNodes\n4\n" nodes "$EndParametricNodes\n" ELEMENTS22
#define ELEMENTS22 "$Elements\n3\n1 1 2 2 2 2 3\n2 2 2 7 7 1 2 3\n3 2 2 7 7 1 3 4\n$EndElements\n"

/// What Mesh.SaveParametric = 1 writes: nodes of points, of curves and of surfaces.
static void nodes_with_parameters_are_read(void **state)
{
  static const char *const texts[] = {
      PARAMETRIC22("1 0 0 0 0 1\n2 1 0 0 0 2\n3 1 1 0 0 3\n4 0 1 0 0 4\n"),
      PARAMETRIC22("1 0 0 0 0 1\n2 1 0 0 1 2 0.5\n3 1 1 0 2 3 1e22 -.5\n4 0 1 0 3 1\n"),
      "$MeshFormat\n4 0 8\n$EndMeshFormat\n$ParametricNodes\n2 4\n1 1 1 1\n1 0 0 0 .5\n"
      "5 2 1 3\n2 1 0 0 1 1\n3 1 1 0 0 .5\n4 0 1 0 0 0\n$EndParametricNodes\n$Elements\n1 2\n"
      "5 2 2 2\n3 1 2 3\n4 1 3 4\n$EndElements\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    kedge_mesh *mesh = mesh_of(*state, texts[i]);
    assert_true(mesh->info.area == 1.0 && mesh->n_elements == 2);
    assert_int_equal(mesh->info.vertices, 4);
    kedge_mesh_destroy(mesh);
  }
  kedge_mesh *mesh;
  assert_refused(*state, build_from_text(*state, PARAMETRIC22("1 0 0 0 4 1\n2 1 0 0 0 2\n"), &mesh),
                 KEDGE_ERR_INPUT,
                 "text.msh, line 6: a node in $ParametricNodes is of an entity of dimension 4; the "
                 "file is damaged: export it again with Mesh.SaveParametric = 0");
  assert_refused(*state, build_from_text(*state, PARAMETRIC22("1 0 0 0 1 1\n2 1 0 0 0 2\n"), &mesh),
                 KEDGE_ERR_INPUT, "text.msh, line 6: the line ends where a number should be");
}

static void put(char **at, const void *from, size_t bytes)
{
  memcpy(*at, from, bytes);
  *at += bytes;
}

static void binary_nodes_with_parameters_are_read(void **state)
{
  static const char head[] = "$MeshFormat\n2.2 1 8\n", format_end[] = "\n$EndMeshFormat\n",
                    nodes[] = "$ParametricNodes\n3\n", nodes_end[] = "\n$EndParametricNodes\n",
                    elements[] = "$Elements\n1\n", elements_end[] = "\n$EndElements\n";
  static const double xyz[3][3] = {{0, 0, 0}, {2, 0, 0}, {0, 1, 0}}, parameters[2] = {0.25, 7};
  const int32_t one = 1, element[] = {2, 1, 2, 1, 5, 5, 1, 2, 3};
  char text[500], *at = text;
  put(&at, head, strlen(head));
  put(&at, &one, sizeof one);
  put(&at, format_end, strlen(format_end));
  put(&at, nodes, strlen(nodes));
  for (int32_t i = 0; i < 3; ++i) {  // of a point, a curve, a surface
    const int32_t tag = i + 1, entity[2] = {i, 10};
    put(&at, &tag, sizeof tag);
    put(&at, xyz[i], sizeof xyz[i]);
    put(&at, entity, sizeof entity);
    put(&at, parameters, (size_t)i * sizeof *parameters);
  }
  put(&at, nodes_end, strlen(nodes_end));
  put(&at, elements, strlen(elements));
  put(&at, element, sizeof element);
  put(&at, elements_end, strlen(elements_end));
  kg_raw_mesh raw;
  kedge_mesh *mesh;
  assert_ok(*state, kg_gmsh_parse(*state, "a.msh", text, (size_t)(at - text), &raw));
  assert_ok(*state, kg_mesh_build(*state, &raw, "a.msh", &mesh));
  assert_true(mesh->info.area == 1.0);
  kg_raw_mesh_free(&raw);
  kedge_mesh_destroy(mesh);
}

#define SAVED                                                                                  \
  "as Mesh.SaveAll = 1 leaves them out of format 2.2: export it with Mesh.SaveAll = 0, or in " \
  "format 4.1"

/// Format 2.2 with Mesh.SaveAll = 1: names, but no group of a line or an element.
static void names_of_groups_that_nothing_has_are_told(void **state)
{
  static const char text[] = FORMAT22 NAMES NODES22
      "$Elements\n3\n1 1 2 0 2 2 3\n2 2 2 0 7 1 2 3\n3 2 2 0 7 1 3 4\n$EndElements\n";
  kedge_mesh *meshes_of[2];
  meshes_of[0] = mesh_of(*state, text);
  assert_ok(*state, kedge_mesh_refine(*state, meshes_of[0], 1, &meshes_of[1]));
  for (int i = 0; i < 2; ++i) {
    char sentence[500];
    const char *const source = i ? "text.msh, refined once" : "text.msh", *const n = i ? "8" : "4";
    snprintf(sentence, sizeof sentence,
             "p.ini:2: [boundary hot]: %s has no boundary group 'hot' among default; the file "
             "names the group 'wall', but no line in it has a group, " SAVED,
             source);
    assert_resolves(*state, meshes_of[i], "[boundary hot]\ntype = neumann\nvalue = 1\n" REST,
                    sentence);
    snprintf(sentence, sizeof sentence,
             "%s boundary edges of %s without a group have no condition; add [boundary default]; "
             "the file names the group 'wall', but no line in it has a group, " SAVED,
             n, source);
    assert_resolves(*state, meshes_of[i], "[equation]\nsource = 1\n", sentence);
    assert_resolves(*state, meshes_of[i], "[region magnet]\ndiffusion = 2\n" REST,
                    "p.ini:1: [region magnet]: text.msh has no region 'magnet' among 0; the file "
                    "names the group 'steel', but no element in it has a group, " SAVED);
    assert_resolves(*state, meshes_of[i], REST, NULL);
    kedge_mesh_destroy(meshes_of[i]);
  }
  kedge_mesh *mesh = mesh_of(*state, MESH22);  // all has groups here
  assert_true(!mesh->lost[0] && !mesh->lost[1]);
  kedge_mesh_destroy(mesh);
}

#define PARTS41(ghosts, elements)                                                               \
  "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 1 0\n1 0 0 0 1 1 0 0 0\n$EndEntities\n" \
  "$PartitionedEntities\n2\n" ghosts                                                            \
  "0 0 2 0\n2 2 1 1 1 0 0 0 1 1 0 0 0\n"                                                        \
  "3 2 1 1 2 0 0 0 1 1 0 0 0\n$EndPartitionedEntities\n$Nodes\n1 4 1 4\n2 2 0 4\n1\n2\n3\n4\n"  \
  "0 0 0\n1 0 0\n1 1 0\n0 1 0\n$EndNodes\n$Elements\n2 2 1 2\n" elements "$EndElements\n"
#define PARTS22(first, second) \
  FORMAT22 NODES22 "$Elements\n2\n1 2 " first " 1 2 3\n2 2 " second " 1 3 4\n$EndElements\n"

static void one_part_of_a_split_mesh_is_known(void **state)
{
  static const struct {
    const char *text;
    int partition, partitions, ghosts, elements;
  } cases[] = {
      {PARTS41("0\n", "2 2 2 1\n1 1 2 3\n2 3 2 1\n2 1 3 4\n"), 0, 0, 0, 2},  // whole
      {PARTS41("0\n", "2 2 2 1\n1 1 2 3\n2 3 2 0\n"), 0, 0, 0, 0},           // damaged: refused
      {PARTS41("0\n", "2 2 2 1\n1 1 2 3\n2 2 2 1\n2 1 3 4\n"), 1, 2, 0, 2},  // without ghosts
      {PARTS41("2\n5 1\n6 2\n", "2 3 2 1\n1 1 2 3\n2 6 2 1\n2 1 3 4\n"), 2, 2, 1, 1},
      {PARTS41("2\n5 1\n6 2\n", "2 6 2 1\n1 1 2 3\n2 2 3 1\n2 1 2 3 4\n"), 1, 2, 1, 1},
      {PARTS22("4 1 1 1 3", "4 1 1 1 3"), 3, 0, 0, 2},
      {PARTS22("4 1 1 1 3", "4 1 1 1 1"), 0, 0, 0, 2},
      {PARTS22("5 1 1 2 3 -1", "4 1 1 1 3"), 3, 0, 0, 2},
      {PARTS22("2 1 1", "2 1 1"), 0, 0, 0, 2},
      {PARTS22("4 1 1 1 1", "4 1 1 1 1"), 0, 0, 0, 2},  // all may be in the first
      {PARTS22("4 1 1 0 3", "4 1 1 0 3"), 0, 0, 0, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_mesh *mesh[2];
    if (cases[i].elements == 0) {
      assert_int_equal(build_from_text(*state, cases[i].text, mesh), KEDGE_ERR_INPUT);
      continue;
    }
    mesh[0] = mesh_of(*state, cases[i].text);
    assert_int_equal(mesh[0]->n_elements, cases[i].elements);
    assert_ok(*state, kedge_mesh_refine(*state, mesh[0], 1, &mesh[1]));
    for (int k = 0; k < 2; ++k) {
      assert_int_equal(mesh[k]->info.partition, cases[i].partition);
      assert_int_equal(mesh[k]->info.partitions, cases[i].partitions);
      assert_int_equal(mesh[k]->info.ghost_elements, cases[i].ghosts);
      kedge_mesh_destroy(mesh[k]);
    }
  }
}

static void the_cuts_of_a_part_are_told(void **state)
{
  kedge_mesh *mesh = mesh_of(*state, PARTS22("4 0 1 1 3", "4 0 1 1 3"));
  assert_resolves(*state, mesh, "[equation]\nsource = 1\n",
                  "4 boundary edges of text.msh without a group have no condition; add [boundary "
                  "default]; the file is part 3 of a mesh that was split, whose cuts are among "
                  "them: solve the whole mesh");
  kedge_problem *p;
  kedge_solution *solution;
  kedge_report report = KEDGE_REPORT_INIT;
  assert_ok(*state, kg_problem_parse(*state, "p.ini", REST, strlen(REST), NULL, 0, &p));
  assert_ok(*state, kedge_solve(*state, mesh, p, &solution));
  kedge_solution_report(solution, &report);
  assert_non_null(strstr(report.solver_note,
                         "the mesh file is part 3 of a mesh that was split, and its cuts are "
                         "boundaries here: solve the whole mesh"));
  kedge_solution_destroy(solution);
  kedge_problem_destroy(p);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_has_no_two_conditions),
      cmocka_unit_test(a_surface_is_of_its_first_group),
      cmocka_unit_test(two_tags_of_one_name_are_one_group),
      cmocka_unit_test(lines_inside_the_domain_share_nothing),
      cmocka_unit_test(any_line_in_common_counts_and_names_go_first),
      cmocka_unit_test(each_tag_of_a_name_counts),
      cmocka_unit_test(overlaps_are_unique_in_whatever_order_they_come),
      cmocka_unit_test(a_mesh_that_is_refined_keeps_names_and_counts),
      cmocka_unit_test(periodic_lines_are_counted),
      cmocka_unit_test(periodic_lines_are_counted_in_binary_files),
      cmocka_unit_test(nodes_with_parameters_are_read),
      cmocka_unit_test(binary_nodes_with_parameters_are_read),
      cmocka_unit_test(names_of_groups_that_nothing_has_are_told),
      cmocka_unit_test(one_part_of_a_split_mesh_is_known),
      cmocka_unit_test(the_cuts_of_a_part_are_told),
      cmocka_unit_test(structs_of_meshes_have_sizes),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
