// Elements of higher order: Gmsh's node sets, what a mesh makes of them, refinement.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "mesh/nodes.h"
#include "support.h"

#define DATA KEDGE_SOURCE_DIR "/tests/mesh/data/"

static kedge_mesh *read_data(kedge_context *ctx, const char *name)
{
  char path[512];
  kedge_mesh *mesh;
  snprintf(path, sizeof path, DATA "%s.msh", name);
  assert_ok(ctx, kedge_mesh_read(ctx, path, &mesh));
  assert_sound(mesh);
  return mesh;
}

/// Neighbours have the same nodes on their edge, and corners are vertices.
static void assert_conforming(const kedge_mesh *mesh)
{
  const int g = mesh->geometry;
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
    const double *node[2][KG_GEOMETRY_MAX + 1];
    for (int k = 0; k < 2; ++k) {
      const kg_side side = mesh->edge_sides[2 * (int64_t)edge + k];
      if (side == KG_NO_SIDE) continue;
      const int32_t e = kg_side_element(side);
      int place[KG_GEOMETRY_MAX + 1];
      int32_t ends[2];
      kg_facet_nodes(kg_block_of(mesh, e)->cell, g, kg_side_facet(side), place);
      for (int i = 0; i <= g; ++i)
        node[k][k ? g - i : i] = kg_element_nodes(mesh, e) + 2 * (int64_t)place[i];
      kg_side_ends(mesh, side, ends);
      assert_memory_equal(node[k][k ? g : 0], mesh->vertices + 2 * (int64_t)ends[0], 16);
    }
    if (mesh->edge_sides[2 * (int64_t)edge + 1] == KG_NO_SIDE) continue;
    for (int i = 0; i <= g; ++i)
      for (int k = 0; k < 2; ++k) assert_true(fabs(node[0][i][k] - node[1][i][k]) < 1e-14);
  }
}

static void every_set_of_nodes_that_gmsh_writes_is_read(void **state)
{
  // Areas by Gmsh's own maps and rules of degree 14, gmsh.model.mesh.getJacobians().
  static const double area[] = {3.1391475703123923, 3.141946126359911, 3.1415963919541094,
                                3.1415922458339787};
  static const char *const sets[] = {"complete", "serendipity"};
  for (int k = 0; k < 8; ++k) {
    char name[64];
    const int g = 2 + k % 4;
    snprintf(name, sizeof name, "quarter-%s%d", sets[k / 4], g);
    kedge_mesh *mesh = read_data(*state, name);
    assert_conforming(mesh);
    assert_int_equal(mesh->geometry, g);
    assert_int_equal(mesh->info.geometry, g);
    assert_int_equal(mesh->info.quadrilaterals, 2);
    assert_int_equal(mesh->info.elements, 4);
    assert_int_equal(mesh->info.unused_vertices, 0);
    assert_int_equal(mesh->info.vertices, 7);
    assert_true(fabs(mesh->info.area - area[k % 4]) < 1e-12);
    assert_true(mesh->info.min_jacobian > 0.6 && mesh->info.min_jacobian < 0.75);
    const kedge_mesh_group rim = group_named(mesh, 1, "rim");
    assert_int_equal(rim.count, 2);
    static const double limit[] = {2e-3, 2e-4, 4e-6, 5e-7};
    assert_true(fabs(rim.measure - acos(-1)) < limit[k % 4]);
    assert_true(fabs(mesh->info.area - acos(-1)) < 2 * limit[k % 4]);
    kedge_mesh_destroy(mesh);
  }
}

/// But for the sixteenth digit of text.
static void assert_same_curves(const kedge_mesh *a, const kedge_mesh *b)
{
  assert_int_equal(a->geometry, b->geometry);
  assert_int_equal(a->n_elements, b->n_elements);
  assert_int_equal(a->n_edges, b->n_edges);
  const int32_t last = a->n_elements - 1;
  const double *end =
      kg_element_nodes(a, last) + 2 * (int64_t)kg_block_of(a, last)->cell->n_modes(a->geometry);
  for (int64_t i = 0; i < end - a->nodes; ++i) assert_true(fabs(a->nodes[i] - b->nodes[i]) < 2e-15);
  assert_int_equal(a->n_groups, b->n_groups);
  for (int i = 0; i < a->n_groups; ++i) {
    assert_string_equal(a->groups[i].name, b->groups[i].name);
    assert_int_equal(a->groups[i].count, b->groups[i].count);
  }
}

static void all_formats_give_the_same_curves(void **state)
{
  static const char *const others[] = {"quarter-2.2", "quarter-2.2-binary", "quarter-4.0",
                                       "quarter-4.1-binary"};
  kedge_mesh *mesh = read_data(*state, "quarter-complete3");
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    kedge_mesh *other = read_data(*state, others[i]);
    assert_same_curves(mesh, other);
    kedge_mesh_destroy(other);
  }
  kedge_mesh_destroy(mesh);
}

static void versions_2_and_2_1_are_read_as_2_2(void **state)
{
  static const char *const versions[] = {"2  ", "2.0", "2.1"};
  kedge_mesh *mesh = read_data(*state, "quarter-2.2");
  char *data;
  size_t bytes;
  assert_ok(*state, kg_file_read(*state, DATA "quarter-2.2.msh", &data, &bytes));
  for (int i = 0; i < 3; ++i) {
    kedge_mesh *other;
    memcpy(data + strlen("$MeshFormat\n"), versions[i], 3);
    assert_ok(*state, build_from_bytes(*state, data, bytes, &other));
    assert_same_mesh(mesh, other);
    kedge_mesh_destroy(other);
  }
  free(data);
  kedge_mesh_destroy(mesh);
}

/// The nodes of Gmsh as it lists them (getElementProperties), two digits each: steps along r and s.
static const struct set {
  int type, order;
  const char *steps;
} sets[] = {
    {9, 2, "00 20 02 10 11 01"},
    {23, 4, "00 40 04 10 20 30 31 22 13 03 02 01 11 21 12"},
    {25, 5, "00 50 05 10 20 30 40 41 32 23 14 04 03 02 01 11 31 13 21 22 12"},
    {20, 3, "00 30 03 10 20 21 12 02 01"},
    {24, 5, "00 50 05 10 20 30 40 41 32 23 14 04 03 02 01"},
    {10, 2, "00 20 22 02 10 21 12 01 11"},
    {37, 4, "00 40 44 04 10 20 30 41 42 43 34 24 14 03 02 01 11 31 33 13 21 32 23 12 22"},
    {38, 5,
     "00 50 55 05 10 20 30 40 51 52 53 54 45 35 25 15 04 03 02 01 11 41 44 14 21 31 42 43 34 24 13 "
     "12 22 32 33 23"},
    {16, 2, "00 20 22 02 10 21 12 01"},
    {41, 5, "00 50 55 05 10 20 30 40 51 52 53 54 45 35 25 15 04 03 02 01"},
};

static bool is_quadrilateral(const struct set *set)
{
  return set->type == 10 || set->type == 16 || (set->type >= 36 && set->type <= 41);
}

/// A map that every set reproduces: of order 2 in triangles, blended from sides in quadrilaterals.
static void place_of(const struct set *set, double a, double b, double xy[2])
{
  xy[0] = 2 * a + 0.1 * b + 0.2 * a * b - 0.3 * b * b;
  xy[1] = b - 0.1 * a + 0.25 * a * a;
  if (is_quadrilateral(set)) xy[1] += 0.1 * pow(a, set->order) * (1 - 2 * b);
}

/// A file of one element. @param[in] turned  exchange r and s: it runs clockwise
static void put_file(const struct set *set, bool turned, char *out)
{
  int n = 0, at = 0;
  for (const char *s = set->steps; *s; s += strcspn(s, " "), s += *s == ' ') ++n;
  at += sprintf(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", n);
  for (int i = 0; i < n; ++i) {
    const double a = (double)(set->steps[3 * i] - '0') / set->order;
    const double b = (double)(set->steps[3 * i + 1] - '0') / set->order;
    double xy[2];
    place_of(set, turned ? b : a, turned ? a : b, xy);
    at += sprintf(out + at, "%d %.17g %.17g 0\n", i + 1, xy[0], xy[1]);
  }
  at += sprintf(out + at, "$EndNodes\n$Elements\n1\n1 %d 0", set->type);
  for (int i = 0; i < n; ++i) at += sprintf(out + at, " %d", i + 1);
  sprintf(out + at, "\n$EndElements\n");
}

static void nodes_are_put_into_the_order_of_cells_and_completed(void **state)
{
  for (size_t i = 0; i < 2 * sizeof sets / sizeof *sets; ++i) {
    const struct set *set = &sets[i / 2];
    const bool turned = i % 2;
    char text[4096];
    kedge_mesh *mesh;
    put_file(set, turned, text);
    assert_ok(*state, build_from_text(*state, text, &mesh));
    const kg_cell *cell = mesh->block[0].cell;
    double r[KG_NODES_MAX], s[KG_NODES_MAX];
    assert_int_equal(mesh->geometry, set->order);
    assert_int_equal(mesh->info.turned_elements, turned);
    assert_int_equal(mesh->info.unused_vertices, 0);
    cell->nodes(set->order, (double *const[]){r, s});
    for (int k = 0; k < cell->n_modes(set->order); ++k) {
      double expected[2];
      place_of(set, 0.5 + 0.5 * r[k], 0.5 + 0.5 * s[k], expected);
      for (int j = 0; j < 2; ++j)
        assert_true(fabs(kg_element_nodes(mesh, 0)[2 * k + j] - expected[j]) < 1e-14);
    }
    kedge_mesh_destroy(mesh);
  }
}

#define FORMAT "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"

/// A triangle of order 2 on a straight one, the quadratic edge outside.
static const char mixed_orders[] = FORMAT
    "$Nodes\n7\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n5 .6 1.1 0\n6 1 .5 0\n7 .5 .5 0\n$EndNodes\n"
    "$Elements\n3\n1 2 0 1 2 3\n2 9 0 2 4 3 6 5 7\n3 8 2 9 1 3 4 5\n$EndElements\n";

static void lower_orders_are_raised_to_the_highest(void **state)
{
  kedge_mesh *mesh;
  assert_ok(*state, build_from_text(*state, mixed_orders, &mesh));
  assert_sound(mesh);
  assert_conforming(mesh);
  assert_int_equal(mesh->geometry, 2);
  // Under the parabola with its top 0.1 above the chord are two thirds of the rectangle.
  assert_true(fabs(mesh->info.area - (1.0 + 0.2 / 3)) < 1e-15);
  assert_int_equal(group_named(mesh, 1, "9").count, 1);
  assert_true(group_named(mesh, 1, "9").measure > 1.02);
  assert_true(mesh->info.box[3] == 1.1);
  kedge_mesh_destroy(mesh);
}

static void straight_elements_of_higher_order_are_straight(void **state)
{
  kedge_mesh *mesh, *straight;
  assert_ok(*state, build_from_text(
                        *state,
                        FORMAT "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 .5 1e-12 0\n5 .5 .5 0\n"
                               "6 0 .5 0\n$EndNodes\n"
                               "$Elements\n2\n1 9 0 1 2 3 4 5 6\n2 8 2 4 1 1 2 4\n$EndElements\n",
                        &mesh));
  assert_ok(*state,
            build_from_text(*state,
                            FORMAT "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n"
                                   "$Elements\n2\n1 2 0 1 2 3\n2 1 2 4 1 1 2\n$EndElements\n",
                            &straight));
  assert_int_equal(mesh->geometry, 1);
  assert_null(mesh->nodes);
  assert_int_equal(mesh->info.unused_vertices, 0);
  assert_true(mesh->info.min_jacobian == 1.0);
  assert_same_mesh(mesh, straight);
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(straight);
}

static void refinement_places_nodes_on_the_curves_of_elements(void **state)
{
  static const char *const names[] = {"quarter-complete2", "quarter-complete5",
                                      "quarter-serendipity4"};
  for (int k = 0; k < 3; ++k) {
    kedge_mesh *mesh = read_data(*state, names[k]), *fine;
    assert_ok(*state, kedge_mesh_refine(*state, mesh, 2, &fine));
    assert_sound(fine);
    assert_conforming(fine);
    assert_int_equal(fine->geometry, mesh->geometry);
    assert_int_equal(fine->n_elements, 16 * mesh->n_elements);
    assert_int_equal(fine->info.turned_elements, 0);
    assert_true(fabs(fine->info.area - mesh->info.area) < 1e-13);
    for (int g = 0; g < mesh->n_groups; ++g) {
      const kg_group *group = &mesh->groups[g];
      const kedge_mesh_group same = group_named(fine, group->dimension, group->name);
      assert_true(fabs(same.measure - group->measure) < 1e-9);
    }
    assert_true(fine->info.min_jacobian > mesh->info.min_jacobian);
    kedge_mesh_destroy(mesh);
    kedge_mesh_destroy(fine);
  }
}

static void curves_are_written_and_read_back(void **state)
{
  static const char *const names[] = {"quarter-complete2", "quarter-complete5",
                                      "quarter-serendipity4", "quarter-4.0"};
  for (int k = 0; k < 8; ++k) {
    kedge_mesh *mesh = read_data(*state, names[k / 2]), *fine, *back;
    assert_ok(*state, kedge_mesh_refine(*state, mesh, k / 4, &fine));
    assert_ok(*state, kedge_mesh_write(*state, fine, "curves.msh", k % 2 == 1));
    assert_ok(*state, kedge_mesh_read(*state, "curves.msh", &back));
    remove("curves.msh");
    assert_sound(back);
    assert_conforming(back);
    assert_same_curves(fine, back);
    assert_int_equal(back->info.unused_vertices, 0);
    assert_int_equal(back->info.vertices, fine->info.vertices);
    kedge_mesh_destroy(mesh);
    kedge_mesh_destroy(fine);
    kedge_mesh_destroy(back);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_set_of_nodes_that_gmsh_writes_is_read),
      cmocka_unit_test(all_formats_give_the_same_curves),
      cmocka_unit_test(versions_2_and_2_1_are_read_as_2_2),
      cmocka_unit_test(nodes_are_put_into_the_order_of_cells_and_completed),
      cmocka_unit_test(lower_orders_are_raised_to_the_highest),
      cmocka_unit_test(straight_elements_of_higher_order_are_straight),
      cmocka_unit_test(refinement_places_nodes_on_the_curves_of_elements),
      cmocka_unit_test(curves_are_written_and_read_back),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
