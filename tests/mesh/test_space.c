// Meshes of tetrahedra: order, facets, groups, refusals, the layout of the trace.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kedge/solution.h"
#include "kedge/solver.h"
#include "mesh/build.h"
#include "mesh/generate.h"
#include "mesh/space/hilbert.h"
#include "space/trace_layout.h"
#include "support.h"

static kedge_mesh *cube(kedge_context *ctx, int n)
{
  char words[32];
  kedge_mesh *mesh;
  snprintf(words, sizeof words, "cube %d", n);
  assert_ok(ctx, kedge_mesh_generate(ctx, words, &mesh));
  return mesh;
}

static void assert_close(double value, double expected, double terms)
{
  if (!(fabs(value - expected) <= 4 * terms * DBL_EPSILON * fabs(expected)))
    fail_msg("%.17g is not %.17g", value, expected);
}

static double key_of(const double *p)
{
  const volatile double y = 0.7549 * p[1], z = 0.5698 * p[2];
  return p[0] + y + z;
}

/// Elements are a permutation, vertices and facets are numbered by first appearance, corners ascend
/// by place.
static void assert_order(const kedge_mesh *mesh)
{
  char *seen = calloc((size_t)mesh->n_elements, 1);
  int32_t vertices = 0, facets = 0;
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const int32_t *v = kg_element_vertices(mesh, e);
    assert_in_range(mesh->element_origin[e], 0, mesh->n_elements - 1);
    assert_int_equal(seen[mesh->element_origin[e]]++, 0);
    for (int l = 0; l < 4; ++l) {
      assert_true(v[l] <= vertices);
      vertices += v[l] == vertices;
      const int32_t facet = kg_side_edge(mesh, kg_side_of(e, l));
      assert_true(facet <= facets);
      facets += facet == facets;
      assert_int_equal(kg_element_edges(mesh, e)[l] & 1u, 0);
      if (l > 0)
        assert_true(key_of(mesh->vertices + 3 * v[l - 1]) < key_of(mesh->vertices + 3 * v[l]));
    }
  }
  assert_int_equal(vertices, mesh->n_vertices);
  assert_int_equal(facets, mesh->n_edges);
  free(seen);
}

/// Both elements of a facet have the same vertices there in the same order, and others opposite.
static void assert_facets(const kedge_mesh *mesh)
{
  int32_t boundary = 0;
  for (int32_t facet = 0; facet < mesh->n_edges; ++facet) {
    const kg_side *sides = mesh->edge_sides + 2 * (int64_t)facet;
    int32_t first[3], second[3];
    kg_side_corners(mesh, sides[0], first);
    assert_int_equal(kg_side_edge(mesh, sides[0]), facet);
    if (sides[1] == KG_NO_SIDE) {
      assert_in_range(mesh->edge_group[facet], 0, mesh->n_groups - 1);
      assert_true(kg_is_edge_group(mesh, &mesh->groups[mesh->edge_group[facet]]));
      ++boundary;
      continue;
    }
    kg_side_corners(mesh, sides[1], second);
    assert_true(sides[0] < sides[1]);
    assert_int_equal(kg_side_edge(mesh, sides[1]), facet);
    assert_memory_equal(first, second, sizeof first);
    assert_int_not_equal(mesh->element_vertices[kg_side_place(mesh, sides[0])],
                         mesh->element_vertices[kg_side_place(mesh, sides[1])]);
  }
  assert_int_equal(boundary, mesh->n_boundary_edges);
  assert_int_equal(kg_mesh_sides(mesh), 2 * (int64_t)mesh->n_edges - boundary);
}

static void cube_has_its_counts_volumes_and_groups(void **state)
{
  static const char *const names[] = {"x0", "x1", "y0", "y1", "z0", "z1"};
  static const int counts[] = {1, 2, 3, 5, 11};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    const int n = counts[i];
    kedge_mesh *mesh = cube(*state, n);
    kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
    assert_ok(*state, kedge_mesh_get_info(mesh, &info));
    assert_order(mesh);
    assert_facets(mesh);
    assert_int_equal(info.dimension, 3);
    assert_int_equal(info.elements, 6 * n * n * n);
    assert_int_equal(info.edges, 12 * n * n * n + 6 * n * n);
    assert_int_equal(info.boundary_edges, 12 * n * n);
    assert_int_equal(info.vertices, (n + 1) * (n + 1) * (n + 1));
    assert_int_equal(info.parts, 1);
    assert_int_equal(info.turned_elements + info.unused_vertices + info.quadrilaterals, 0);
    assert_close(info.area, 1.0, info.elements);
    assert_close(info.min_area, 1.0 / (double)info.elements, 16 * n);
    assert_close(info.max_area, 1.0 / (double)info.elements, 16 * n);
    const double quality = 3 * 0.5 / (1 + sqrt(2.0)) / (0.5 * sqrt(3.0));
    assert_close(info.min_quality, quality, 64 * n);
    assert_close(info.mean_quality, quality, 64 * n + info.elements);
    assert_close(info.min_angle, 45.0, 64 * n);
    for (int k = 0; k < 3; ++k) {
      assert_true(info.low[k] == 0.0);
      assert_true(info.high[k] == 1.0);
    }
    for (int g = 0; g < 6; ++g) {
      const kedge_mesh_group group = group_named(mesh, 2, names[g]);
      assert_int_equal(group.count, 2 * n * n);
      assert_int_equal(group.n_inner, 0);
      assert_close(group.measure, 1.0, 2 * n * n);
    }
    const kedge_mesh_group domain = group_named(mesh, 3, "domain");
    assert_int_equal(domain.count, info.elements);
    assert_close(domain.measure, 1.0, info.elements);
    assert_int_equal(mesh->n_groups, 7);
    for (int32_t facet = 0; facet < mesh->n_edges; ++facet) {
      int32_t v[3];
      if (mesh->edge_group[facet] < 0) continue;
      const char *const name = mesh->groups[mesh->edge_group[facet]].name;
      kg_side_corners(mesh, mesh->edge_sides[2 * facet], v);
      for (int k = 0; k < 3; ++k)
        assert_true(mesh->vertices[3 * v[k] + (name[0] - 'x')] == name[1] - '0');
    }
    kedge_mesh_destroy(mesh);
  }
}

/// The mesh as raw arrays with numbers of vertices, elements and corners at random.
static kg_raw_mesh shuffled(kedge_context *ctx, const kedge_mesh *mesh, uint64_t seed)
{
  kg_raw_mesh old, out;
  assert_ok(ctx, kg_mesh_to_raw(ctx, mesh, &old));
  assert_ok(ctx, kg_raw_mesh_alloc(ctx, 3, old.n_vertices, old.n_elements, 4, old.n_lines, &out));
  assert_ok(ctx, kg_raw_mesh_names(ctx, &out, mesh));
  int32_t *number = malloc((size_t)old.n_vertices * sizeof *number);
  int32_t *at = malloc((size_t)old.n_elements * sizeof *at), order[4];
  shuffle(&seed, number, (int32_t)old.n_vertices);
  shuffle(&seed, at, (int32_t)old.n_elements);
  for (int64_t v = 0; v < old.n_vertices; ++v)
    memcpy(out.vertices + 3 * number[v], old.vertices + 3 * v, 3 * sizeof(double));
  for (int64_t e = 0; e < old.n_elements; ++e) {
    shuffle(&seed, order, 4);
    for (int i = 0; i < 4; ++i)
      out.corners[4 * e + i] = number[old.corners[4 * (int64_t)at[e] + order[i]]];
    out.regions[e] = old.regions[at[e]];
  }
  for (int64_t i = 0; i < old.n_lines; ++i) {
    shuffle(&seed, order, 3);
    for (int k = 0; k < 3; ++k) out.lines[3 * i + k] = number[old.lines[3 * i + order[k]]];
    out.line_tags[i] = old.line_tags[i];
  }
  free(number);
  free(at);
  kg_raw_mesh_free(&old);
  return out;
}

static void numbers_of_the_caller_do_not_matter(void **state)
{
  for (int n = 1; n < 6; ++n) {
    kedge_mesh *mesh = cube(*state, n), *other;
    kg_raw_mesh raw = shuffled(*state, mesh, 1234567u + (unsigned)n);
    assert_ok(*state, kg_mesh_build(*state, &raw, "shuffled", &other));
    const size_t ns = (size_t)kg_mesh_sides(mesh), nf = (size_t)mesh->n_edges;
    assert_order(other);
    assert_facets(other);
    assert_int_equal(other->n_vertices, mesh->n_vertices);
    assert_int_equal(other->n_edges, mesh->n_edges);
    assert_memory_equal(other->vertices, mesh->vertices,
                        3 * (size_t)mesh->n_vertices * sizeof(double));
    assert_memory_equal(other->element_vertices, mesh->element_vertices, ns * sizeof(int32_t));
    assert_memory_equal(other->side_edge, mesh->side_edge, ns * sizeof(uint32_t));
    assert_memory_equal(other->edge_sides, mesh->edge_sides, 2 * nf * sizeof(kg_side));
    assert_memory_equal(other->edge_group, mesh->edge_group, nf * sizeof(int32_t));
    kg_raw_mesh_free(&raw);
    kedge_mesh_destroy(mesh);
    kedge_mesh_destroy(other);
  }
}

static void rounding_of_coordinates_keeps_elements_congruent(void **state)
{
  enum { N = 7 };
  kedge_mesh *mesh = cube(*state, N), *moved;
  kg_raw_mesh raw = shuffled(*state, mesh, 99);
  uint64_t seed = 5;
  for (int64_t i = 0; i < 3 * raw.n_vertices; ++i)
    raw.vertices[i] += 1e-15 * ((double)next_random(&seed, 1000) - 500.0) / 500.0;
  assert_ok(*state, kg_mesh_build(*state, &raw, "noise", &moved));
  int shapes[6][9], n = 0;  // edges from the first corner, in steps of the lattice
  for (int32_t e = 0; e < moved->n_elements; ++e) {
    const int32_t *v = kg_element_vertices(moved, e);
    int shape[9], k = 0;
    for (int i = 0; i < 9; ++i)
      shape[i] = (int)lround(
          N * (moved->vertices[3 * v[1 + i / 3] + i % 3] - moved->vertices[3 * v[0] + i % 3]));
    while (k < n && memcmp(shapes[k], shape, sizeof shape) != 0) ++k;
    assert_in_range(k, 0, 5);
    memcpy(shapes[k], shape, sizeof shape);
    if (k == n) ++n;
  }
  assert_int_equal(n, 6);
  kg_raw_mesh_free(&raw);
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(moved);
}

static void the_curve_in_space_goes_from_neighbour_to_neighbour(void **state)
{
  enum { SIDE = 16, CELLS = SIDE * SIDE * SIDE };
  (void)state;
  static int32_t at[CELLS];
  memset(at, 0xff, sizeof at);
  for (int32_t c = 0; c < CELLS; ++c) {
    const uint64_t key = kg_space_key((uint32_t)(c % SIDE), (uint32_t)(c / SIDE % SIDE),
                                      (uint32_t)(c / (SIDE * SIDE)));
    assert_in_range(key, 0, CELLS - 1);
    assert_int_equal(at[key], -1);
    at[key] = c;
  }
  for (int i = 1; i < CELLS; ++i) {
    const int p = at[i - 1], q = at[i];
    const int steps = abs(p % SIDE - q % SIDE) + abs(p / SIDE % SIDE - q / SIDE % SIDE) +
                      abs(p / (SIDE * SIDE) - q / (SIDE * SIDE));
    assert_int_equal(steps, 1);
  }
  const uint32_t last = (1u << KG_SPACE_LEVELS) - 1;
  assert_true(kg_space_key(last, last, last) < (uint64_t)1 << 3 * KG_SPACE_LEVELS);
}

/// Two tetrahedra on both sides of the triangle 0 1 2, and what tests put beside them.
typedef struct pair {
  double vertices[7][3];
  int32_t corners[3][4], regions[3], lines[4][3], tags[4];
  kg_raw_mesh raw;
} pair;

static void start(pair *p)
{
  *p = (pair){.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}, {1, 1, 2}},
              .corners = {{0, 1, 2, 3}, {4, 2, 1, 0}},
              .lines = {{2, 1, 3}}};
  p->raw = (kg_raw_mesh){.dimension = 3,
                         .n_vertices = 6,
                         .n_elements = 2,
                         .n_lines = 0,
                         .vertices = p->vertices[0],
                         .width = 4,
                         .corners = p->corners[0],
                         .regions = p->regions,
                         .geometry = 1,
                         .lines = p->lines[0],
                         .line_tags = p->tags};
}

static void assert_pair_refused(kedge_context *ctx, const pair *p, const char *sentence)
{
  kedge_mesh *mesh;
  const kedge_status status = kg_mesh_build(ctx, &p->raw, "two.msh", &mesh);
  assert_null(mesh);
  assert_refused(ctx, status, KEDGE_ERR_INPUT, sentence);
}

static void two_tetrahedra_share_a_face_and_drop_a_vertex(void **state)
{
  pair p;
  kedge_mesh *mesh;
  start(&p);
  assert_ok(*state, kg_mesh_build(*state, &p.raw, "two.msh", &mesh));
  assert_order(mesh);
  assert_facets(mesh);
  assert_int_equal(mesh->n_edges, 7);
  assert_int_equal(mesh->n_boundary_edges, 6);
  assert_int_equal(mesh->info.unused_vertices, 1);
  assert_close(mesh->info.area, 1.0 / 3.0, 8);
  assert_close(group_named(mesh, 2, "default").measure, 2.0 + sqrt(3.0), 16);
  assert_int_equal(mesh->info.parts, 1);
  kedge_mesh_destroy(mesh);
  memcpy(p.vertices[5], (double[]){0, -1, 0}, sizeof p.vertices[5]);
  memcpy(p.corners[1], (int32_t[]){4, 1, 5, 0}, sizeof p.corners[1]);  // they share an edge alone
  assert_ok(*state, kg_mesh_build(*state, &p.raw, "two.msh", &mesh));
  assert_int_equal(mesh->info.parts, 2);
  assert_int_equal(mesh->n_boundary_edges, 8);
  kedge_mesh_destroy(mesh);
}

static void a_regular_tetrahedron_has_quality_one(void **state)
{
  pair p;
  kedge_mesh *mesh;
  start(&p);
  const double corner[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  for (int scaled = 0; scaled < 3; ++scaled) {  // sizes whose squares are no numbers any more
    const double scale = scaled == 0 ? 1.0 : scaled == 1 ? 1e-90 : 1e95;
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 3; ++k) p.vertices[i][k] = scale * corner[i][k];
    p.raw.n_elements = 1;
    assert_ok(*state, kg_mesh_build(*state, &p.raw, "one", &mesh));
    assert_close(mesh->info.min_quality, 1.0, 16);
    assert_close(mesh->info.min_angle, acos(1.0 / 3.0) * 180 / acos(-1.0), 16);
    assert_close(mesh->info.area, 8.0 / 3.0 * scale * scale * scale, 16);
    kedge_mesh_destroy(mesh);
  }
}

static void bad_tetrahedra_are_refused(void **state)
{
  pair p;
  start(&p);
  for (int k = 0; k < 3; ++k) p.vertices[4][k] = k == 1 ? 0.25 : 0.5;
  p.vertices[4][2] = 0.0;
  assert_pair_refused(*state, &p,
                      "two.msh: tetrahedron 1 (from 0) with corners (0.5, 0.25, 0), (0, 1, 0), (1, "
                      "0, 0), (0, 0, 0) is degenerate: it has no volume; remove it or move its "
                      "vertices");
  start(&p);
  memset(p.vertices, 0, sizeof p.vertices);
  assert_pair_refused(*state, &p,
                      "two.msh: tetrahedron 0 (from 0) with corners (0, 0, 0), (0, 0, 0), (0, 0, "
                      "0), (0, 0, 0) is degenerate: it has no volume; remove it or move its "
                      "vertices");
  start(&p);
  for (int i = 0; i < 18; ++i) p.vertices[i / 3][i % 3] *= 1e-120;
  kedge_mesh *mesh;
  assert_int_equal(kg_mesh_build(*state, &p.raw, "two.msh", &mesh), KEDGE_ERR_INPUT);
  start(&p);
  p.corners[1][2] = 2;
  assert_pair_refused(*state, &p,
                      "two.msh: tetrahedron 1 (from 0) with corners (0, 0, -1), (0, 1, 0), (0, 1, "
                      "0), (0, 0, 0) is degenerate: it uses a vertex twice; remove it from the "
                      "mesh");
  start(&p);
  p.corners[0][3] = 6;
  assert_pair_refused(*state, &p,
                      "two.msh: tetrahedron 0 (from 0) with corners (0, 0, 0), (1, 0, 0), (0, 1, "
                      "0) uses vertices 0, 1, 2, 6, but vertices are numbered from 0 to 5");
  start(&p);
  p.vertices[3][2] = NAN;
  assert_pair_refused(*state, &p,
                      "two.msh: vertex 3 (from 0) has the coordinates (0, 0, nan); they must be "
                      "finite and below 1e100");
  start(&p);
  p.vertices[3][2] = 1e101;
  assert_pair_refused(*state, &p,
                      "two.msh: vertex 3 (from 0) has the coordinates (0, 0, 1e+101); they must be "
                      "finite and below 1e100");
  start(&p);
  p.raw.n_elements = 0;
  assert_pair_refused(*state, &p, "two.msh: the mesh has no elements");
}

static void a_face_has_two_tetrahedra_at_most(void **state)
{
  pair p;
  start(&p);
  memcpy(p.corners[2], (int32_t[]){5, 0, 1, 2}, sizeof p.corners[2]);
  p.raw.n_elements = 3;
  kedge_mesh *mesh;
  assert_int_equal(kg_mesh_build(*state, &p.raw, "two.msh", &mesh), KEDGE_ERR_INPUT);
  assert_null(mesh);
  assert_non_null(strstr(kedge_context_error(*state),
                         "share a face with a third tetrahedron, and a face has two at most; "
                         "repair the mesh"));
  memcpy(p.corners[2], (int32_t[]){3, 2, 1, 0}, sizeof p.corners[2]);
  assert_pair_refused(*state, &p,
                      "two.msh: tetrahedron 0 (from 0) with corners (0, 0, 0), (1, 0, 0), (0, 1, "
                      "0), (0, 0, 1) and tetrahedron 2 (from 0) with corners (0, 0, 1), (0, 1, 0), "
                      "(1, 0, 0), (0, 0, 0) are duplicates: they have the same vertices; repair "
                      "the mesh");
  start(&p);
  p.corners[1][0] = 5;
  assert_pair_refused(*state, &p,
                      "two.msh: tetrahedron 0 (from 0) with corners (0, 0, 0), (1, 0, 0), (0, 1, "
                      "0), (0, 0, 1) and tetrahedron 1 (from 0) with corners (1, 1, 2), (0, 1, 0), "
                      "(1, 0, 0), (0, 0, 0) lie on the same side of their common face (the mesh is "
                      "folded); repair the mesh");
}

/// A tetrahedron below the triangle 0 1 2, and above it two whose faces are its halves.
static void a_face_on_halves_of_it_is_refused(void **state)
{
  pair p;
  kedge_mesh *mesh;
  start(&p);
  memcpy(p.vertices[5], (double[]){0.5, 0.5, 0}, sizeof p.vertices[5]);
  memcpy(p.corners, (int32_t[3][4]){{4, 2, 1, 0}, {0, 1, 5, 3}, {0, 5, 2, 3}}, sizeof p.corners);
  p.raw.n_elements = 3;
  assert_pair_refused(*state, &p,
                      "two.msh: at (0, 0, 0) faces of tetrahedron 0 (from 0) with corners (0, 0, "
                      "-1), (0, 1, 0), (1, 0, 0), (0, 0, 0) and of tetrahedron 1 (from 0) with "
                      "corners (0, 0, 0), (1, 0, 0), (0.5, 0.5, 0), (0, 0, 1) lie on each other, "
                      "and do not have the same corners (hanging nodes); mesh both sides together, "
                      "or, if both are boundary, give their faces a physical group");
  memcpy(p.lines[0], (int32_t[]){0, 1, 2}, sizeof p.lines[0]);  // a group says that it is meant
  p.tags[0] = 7;
  p.raw.n_lines = 1;
  assert_ok(*state, kg_mesh_build(*state, &p.raw, "two.msh", &mesh));
  kedge_mesh_destroy(mesh);
  start(&p);  // a slit, whose banks have two corners in common
  memcpy(p.vertices[5], (double[]){0, 1, 1e-9}, sizeof p.vertices[5]);
  memcpy(p.corners[0], (int32_t[]){0, 1, 5, 3}, sizeof p.corners[0]);
  assert_ok(*state, kg_mesh_build(*state, &p.raw, "two.msh", &mesh));
  assert_int_equal(mesh->n_boundary_edges, 8);
  kedge_mesh_destroy(mesh);
  start(&p);  // a thin gap whose faces differ by a visible angle
  memcpy(p.vertices[5], (double[]){0.5, 0.6, 1e-3}, sizeof p.vertices[5]);
  memcpy(p.corners[0], (int32_t[]){0, 1, 5, 3}, sizeof p.corners[0]);
  assert_ok(*state, kg_mesh_build(*state, &p.raw, "two.msh", &mesh));
  kedge_mesh_destroy(mesh);
}

static void facets_of_groups_are_found_and_counted(void **state)
{
  pair p;
  kedge_mesh *mesh;
  start(&p);
  memcpy(p.lines, (int32_t[4][3]){{2, 1, 3}, {3, 2, 1}, {1, 0, 2}, {4, 0, 1}}, sizeof p.lines);
  memcpy(p.tags, (int32_t[]){7, 9, 9, 7}, sizeof p.tags);  // the second is the first again
  p.raw.n_lines = 4;
  assert_ok(*state, kg_mesh_build(*state, &p.raw, "two.msh", &mesh));
  assert_int_equal(group_named(mesh, 2, "7").count, 2);
  assert_close(group_named(mesh, 2, "7").measure, 0.5 * sqrt(3.0) + 0.5, 8);
  assert_int_equal(group_named(mesh, 2, "9").count, 0);
  assert_int_equal(group_named(mesh, 2, "9").n_inner, 1);
  assert_close(group_named(mesh, 2, "9").inner_measure, 0.5, 8);
  assert_int_equal(group_named(mesh, 2, "default").count, 4);
  assert_int_equal(mesh->info.shared_lines, 1);
  assert_int_equal(mesh->info.interior_lines, 1);
  assert_int_equal(mesh->overlaps.n, 1);
  assert_int_equal(mesh->overlaps.item[0].dimension, 2);
  assert_int_equal(mesh->overlaps.item[0].first, 7);
  assert_int_equal(mesh->overlaps.item[0].other, 9);
  assert_true(mesh->overlaps.item[0].at[2] == 1.0);
  kedge_mesh_destroy(mesh);
  p.lines[2][0] = 3, p.lines[2][2] = 4;
  assert_pair_refused(*state, &p,
                      "two.msh: the triangle of (0, 0, 1), (0, 0, 0), (0, 0, -1) of boundary group "
                      "9 is no face of any tetrahedron; join the meshes at their interface or take "
                      "the triangle out of the group");
  p.lines[2][0] = -1;
  assert_pair_refused(*state, &p,
                      "two.msh: the triangle of (no vertex -1), (0, 0, 0), (0, 0, -1) of boundary "
                      "group 9 is no face of any tetrahedron; join the meshes at their interface "
                      "or take the triangle out of the group");
}

/// Corners of an element, in the order of their places, as whole numbers of 1 / n.
static void cube_corners(const kedge_mesh *mesh, int32_t element, int n, int32_t at[12])
{
  const int32_t *v = kg_element_vertices(mesh, element);
  for (int i = 0; i < 12; ++i)
    at[i] = (int32_t)lrint(n * mesh->vertices[3 * (int64_t)v[i / 3] + i % 3]);
}

static int compare_corners(const void *a, const void *b)
{
  return memcmp(a, b, 12 * sizeof(int32_t));
}

static void a_refined_cube_is_the_cube_of_twice_the_number(void **state)
{
  static const int counts[] = {1, 3};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    kedge_mesh *coarse = cube(*state, counts[i]), *fine, *whole = cube(*state, 4 * counts[i]);
    assert_ok(*state, kedge_mesh_refine(*state, coarse, 2, &fine));
    assert_order(fine);
    assert_facets(fine);
    assert_int_equal(fine->n_elements, whole->n_elements);
    assert_int_equal(fine->n_vertices, whole->n_vertices);
    assert_int_equal(fine->n_edges, whole->n_edges);
    assert_int_equal(fine->levels.n, 0);  // multigrid knows those of triangles
    const size_t n = (size_t)whole->n_elements;
    int32_t(*a)[12] = malloc(n * sizeof *a), (*b)[12] = malloc(n * sizeof *b);
    for (size_t e = 0; e < n; ++e) {
      cube_corners(fine, (int32_t)e, 4 * counts[i], a[e]);
      cube_corners(whole, (int32_t)e, 4 * counts[i], b[e]);
    }
    qsort(a, n, sizeof *a, compare_corners);
    qsort(b, n, sizeof *b, compare_corners);
    assert_memory_equal(a, b, n * sizeof *a);
    for (int g = 0; g < whole->n_groups; ++g) {
      const kg_group *of = &whole->groups[g];
      const kedge_mesh_group group = group_named(fine, of->dimension, of->name);
      assert_int_equal(group.count, of->count);
      assert_close(group.measure, of->measure, 64);
    }
    free(a);
    free(b);
    kedge_mesh_destroy(coarse);
    kedge_mesh_destroy(fine);
    kedge_mesh_destroy(whole);
  }
}

/// The worst and the mean quality of a tetrahedron whose coordinates are permuted and reflected.
static void refined_qualities(kedge_context *ctx, int turn, int times, double quality[2])
{
  static const double corner[4][3] = {{0, 0, 0}, {1, .13, -.21}, {.37, .92, .08}, {-.4, .31, 1.3}};
  static const int axis[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  pair p;
  kedge_mesh *mesh, *fine;
  start(&p);
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k)
      p.vertices[i][k] = (turn >> k & 1 ? -1.0 : 1.0) * corner[i][axis[turn / 8][k]];
  p.raw.n_elements = 1;
  assert_ok(ctx, kg_mesh_build(ctx, &p.raw, "one", &mesh));
  assert_ok(ctx, kedge_mesh_refine(ctx, mesh, times, &fine));
  assert_order(fine);
  assert_facets(fine);
  assert_int_equal(fine->n_elements, 1 << 3 * times);
  assert_close(fine->info.area, mesh->info.area, 4096);
  assert_true(fabs(fine->info.min_area / fine->info.max_area - 1.0) < 1e-12);
  quality[0] = fine->info.min_quality;
  quality[1] = fine->info.mean_quality;
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(fine);
}

static void tetrahedra_are_refined_alike_in_every_position(void **state)
{
  for (int times = 0; times < 5; ++times) {
    double quality[2], other[2];
    refined_qualities(*state, 0, times, quality);
    for (int turn = 1; turn < 48; ++turn) {
      refined_qualities(*state, turn, times, other);
      for (int i = 0; i < 2; ++i) assert_true(fabs(other[i] - quality[i]) < 1e-10);
    }
  }
}

static void a_refined_ball_keeps_its_quality(void **state)
{
  kedge_mesh *mesh, *fine;
  assert_ok(*state, kedge_mesh_read(*state, KEDGE_SOURCE_DIR "/tests/solver/data/ball.msh", &mesh));
  assert_true(mesh->info.min_quality > 0.5);
  for (int times = 1; times <= 2; ++times) {
    assert_ok(*state, kedge_mesh_refine(*state, mesh, times, &fine));
    assert_true(fine->info.min_quality > 0.5 * mesh->info.min_quality);
    kedge_mesh_destroy(fine);
  }
  kedge_mesh_destroy(mesh);
}

static void refined_tetrahedra_inherit_groups_and_regions(void **state)
{
  pair p;
  kedge_mesh *mesh, *fine;
  int32_t regions[16];
  start(&p);
  memcpy(p.lines, (int32_t[2][3]){{2, 1, 3}, {0, 2, 1}}, 6 * sizeof(int32_t));
  memcpy(p.tags, (int32_t[]){7, 9}, 2 * sizeof(int32_t));
  p.raw.n_lines = 2;
  p.raw.regions[1] = 5;
  assert_ok(*state, kg_mesh_build(*state, &p.raw, "two.msh", &mesh));
  assert_ok(*state, kedge_mesh_refine(*state, mesh, 1, &fine));
  assert_string_equal(fine->source, "two.msh, refined once");
  assert_facets(fine);
  assert_int_equal(fine->n_elements, 16);
  assert_int_equal(fine->n_vertices, 5 + 9);
  assert_int_equal(group_named(fine, 2, "7").count, 4);
  assert_close(group_named(fine, 2, "7").measure, 0.5 * sqrt(3.0), 16);
  assert_int_equal(group_named(fine, 2, "9").n_inner, 4);
  assert_close(group_named(fine, 2, "9").inner_measure, 0.5, 16);
  assert_int_equal(group_named(fine, 2, "default").count, 20);
  assert_ok(*state, kedge_mesh_regions(fine, regions));
  for (int e = 0; e < 16; ++e) assert_int_equal(regions[e], e < 8 ? 0 : 5);
  kedge_mesh_destroy(fine);
  assert_refused(*state, kedge_mesh_refine(*state, mesh, 10, &fine), KEDGE_ERR_INPUT,
                 "two.msh: 2 tetrahedra refined 10 times are more than kedge can number "
                 "(1073739776); refine less");
  assert_refused(*state, kedge_mesh_refine(*state, mesh, KEDGE_REFINE_MAX, &fine), KEDGE_ERR_INPUT,
                 "two.msh: 2 tetrahedra refined 14 times are more than kedge can number "
                 "(1073739776); refine less");
  kedge_mesh_destroy(mesh);
}

/// What the API gives in the caller's numbers fits together.
static void arrays_of_the_caller_have_three_coordinates(void **state)
{
  enum { N = 3, ELEMENTS = 6 * N * N * N, W = N + 1 };
  kedge_mesh *mesh = cube(*state, N);
  static int64_t offsets[ELEMENTS + 1];
  static double nodes[4 * ELEMENTS][3];
  static int32_t corners[4 * ELEMENTS], elements[12 * N * N], sides[12 * N * N], groups[12 * N * N];
  assert_ok(*state, kedge_mesh_offsets(mesh, offsets));
  assert_ok(*state, kedge_mesh_nodes(mesh, nodes[0]));
  assert_ok(*state, kedge_mesh_corners(mesh, corners));
  assert_ok(*state, kedge_mesh_boundary(mesh, elements, sides, groups));
  for (int e = 0; e < ELEMENTS; ++e) assert_int_equal(offsets[e + 1], 4 * (e + 1));
  for (int i = 0; i < 4 * ELEMENTS; ++i) {
    const int32_t v = corners[i], at[3] = {v % W, v / W % W, v / (W * W)};
    for (int k = 0; k < 3; ++k) assert_true(nodes[i][k] == (double)at[k] / N);
  }
  for (int i = 0; i < 12 * N * N; ++i) {
    const char *const name = mesh->groups[groups[i]].name;
    for (int l = 0; l < 4; ++l)
      if (l != sides[i])
        assert_true(nodes[4 * elements[i] + l][name[0] - 'x'] == (double)(name[1] - '0'));
  }
  kedge_mesh_destroy(mesh);
}

static void arrays_of_tetrahedra_make_the_same_mesh(void **state)
{
  pair p;
  kedge_mesh *mesh, *other;
  start(&p);
  memcpy(p.lines, (int32_t[2][3]){{2, 1, 3}, {3, 2, 1}}, sizeof p.lines[0] * 2);
  memcpy(p.tags, (int32_t[]){7, 9}, sizeof p.tags[0] * 2);
  p.raw.n_lines = 2;
  p.raw.regions[0] = 4;
  p.vertices[5][1] = NAN;  // of no tetrahedron
  assert_ok(*state, kg_raw_mesh_name(*state, &p.raw, 2, 7, "wall", 4));
  assert_ok(*state, kg_raw_mesh_name(*state, &p.raw, 3, 4, "steel", 5));
  assert_ok(*state, kg_mesh_build(*state, &p.raw, "arrays", &mesh));
  kedge_space_arrays arrays = KEDGE_SPACE_ARRAYS_INIT;
  arrays.n_vertices = p.raw.n_vertices;
  arrays.vertices = p.raw.vertices;
  arrays.n_tetrahedra = p.raw.n_elements;
  arrays.tetrahedra = p.raw.corners;
  arrays.regions = (int32_t[]){-4, 0};  // the sign is an orientation
  arrays.n_triangles = 2;
  arrays.triangles = p.raw.lines;
  arrays.triangle_tags = p.raw.line_tags;
  arrays.n_names = 2;
  arrays.name_tags = (int32_t[]){7, 4};
  arrays.names = (const char *[]){"wall", "steel"};
  arrays.name_dimensions = (int[]){2, 3};
  assert_ok(*state, kedge_mesh_create_space(*state, &arrays, &other));
  assert_same_mesh(mesh, other);
  kedge_mesh_destroy(other);

  const kedge_space_arrays good = arrays;
#define REFUSED(status, sentence)                                                               \
  assert_refused(*state, kedge_mesh_create_space(*state, &arrays, &other), (status), sentence); \
  assert_null(other);                                                                           \
  arrays = good
  arrays.name_dimensions = (int[]){2, 1};
  REFUSED(KEDGE_ERR_ARG,
          "kedge_mesh_create_space: name_dimensions[1] is 1, and groups are of dimension 2 or 3");
  arrays.tetrahedra = NULL;
  REFUSED(KEDGE_ERR_ARG, "kedge_mesh_create_space: vertices or tetrahedra is NULL");
  arrays.triangle_tags = NULL;
  REFUSED(KEDGE_ERR_ARG,
          "kedge_mesh_create_space: triangles or triangle_tags is NULL although n_triangles is not "
          "0");
  arrays.n_tetrahedra = INT32_MAX;
  REFUSED(KEDGE_ERR_INPUT,
          "arrays: 6 vertices, 2147483647 tetrahedra and 2 triangles are more than kedge can "
          "number (2147483647, 1073739776 and 2147483647)");
  arrays.n_tetrahedra = 0;
  REFUSED(KEDGE_ERR_INPUT, "arrays: the mesh has no elements");
  arrays.size = 0;
  REFUSED(KEDGE_ERR_ARG,
          "the size at the beginning of a struct of results is 0 bytes: begin with "
          "KEDGE_SPACE_ARRAYS_INIT");
  // A caller whose struct ended with the names has them for triangles alone.
  arrays.size = offsetof(kedge_space_arrays, name_dimensions);
  assert_ok(*state, kedge_mesh_create_space(*state, &arrays, &other));
  assert_int_equal(group_named(other, 2, "wall").count, 1);
  assert_int_equal(group_named(other, 3, "4").count, 1);
  kedge_mesh_destroy(other);
  kedge_mesh_destroy(mesh);
  for (int i = 0; i < 2; ++i) free(p.raw.names[i].name);
  free(p.raw.names);
}

static void counts_of_a_cube_are_known_without_it(void **state)
{
  kg_form_size size;
  kedge_mesh *mesh;
  assert_ok(*state, kg_form_count(*state, "cube 4", &size));
  assert_int_equal(size.dimension, 3);
  assert_int_equal(size.elements[0], 384);
  assert_refused(*state, kedge_mesh_generate(*state, "cube 564", &mesh), KEDGE_ERR_INPUT,
                 "\"cube 564\" has more tetrahedra than kedge can number (1073739776); use "
                 "smaller numbers");
  assert_refused(*state, kedge_mesh_generate(*state, "cube 1000000000", &mesh), KEDGE_ERR_INPUT,
                 "\"cube 1000000000\" has more tetrahedra than kedge can number (1073739776); use "
                 "smaller numbers");
}

/// Every facet has one place in the sections, and patches are as compact as the curve makes them.
static void the_layout_of_a_cube_counts_its_facets(void **state)
{
  static const int counts[] = {1, 3, 8};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    const int n = counts[i];
    kedge_mesh *mesh = cube(*state, n);
    bool is_dirichlet[7] = {true, true, false, true, true, true, false};  // y0 is not
    kg_trace_layout layout;
    assert_ok(*state, kg_trace_layout_create(*state, mesh, is_dirichlet, 2, 0, NULL, &layout));
    const kg_trace_counts *c = &layout.count;
    assert_int_equal(layout.batches.n, 1);
    assert_int_equal(layout.batches.batch[0].n_facets, 4);
    assert_int_equal(c->n_elements, 6 * n * n * n);
    assert_int_equal(c->n_sides, 24 * n * n * n);
    assert_int_equal(c->n_edges, 12 * n * n * n + 6 * n * n);
    assert_int_equal(c->n_neumann, 2 * n * n);
    assert_int_equal(c->n_free, 12 * n * n * n - 4 * n * n);
    assert_int_equal(c->n_interior + c->n_shared, 12 * n * n * n - 6 * n * n);
    assert_int_equal(c->n_halo, 2 * c->n_shared + 12 * n * n);
    int64_t sections[KG_SECTION_COUNT] = {0};
    for (int32_t facet = 0; facet < mesh->n_edges; ++facet) ++sections[layout.edge_section[facet]];
    assert_int_equal(sections[KG_SECTION_INSIDE], c->n_interior);
    assert_int_equal(sections[KG_SECTION_SHARED], c->n_shared);
    assert_int_equal(sections[KG_SECTION_NEUMANN], 2 * n * n);
    assert_int_equal(sections[KG_SECTION_DIRICHLET], 10 * n * n);
    // 64 elements along a curve have most of their sides among themselves.
    if (n == 8) assert_true(c->n_interior > 2 * c->n_shared);
    int32_t *boundary;
    assert_ok(*state, kg_trace_boundary(*state, &layout, &boundary));
    for (int k = 0; k < 12 * n * n; ++k) {
      assert_int_equal(mesh->edge_sides[2 * boundary[k] + 1], KG_NO_SIDE);
      assert_int_equal(is_dirichlet[mesh->edge_group[boundary[k]]], k >= 2 * n * n);
    }
    free(boundary);
    kg_trace_layout_free(&layout);
    kedge_mesh_destroy(mesh);
  }
}

static void what_is_for_plane_meshes_is_refused(void **state)
{
  kedge_context *ctx = *state;
  kedge_mesh *mesh = cube(ctx, 2), *other = NULL;
  kedge_problem *problem;
  assert_ok(ctx, kedge_problem_create(ctx, &problem));
  assert_ok(ctx, kedge_problem_set(problem, "boundary default", "type", "dirichlet"));
  assert_ok(ctx, kedge_problem_set(problem, "boundary default", "value", "0"));
#define PLANE(what) "cube 2 is a mesh of tetrahedra, and " what " is for plane meshes so far"
  assert_refused(ctx, kedge_mesh_join(ctx, mesh, 0.1, &other), KEDGE_ERR_INPUT,
                 PLANE("the joining of vertices"));
  assert_refused(ctx, kg_mesh_map(ctx, mesh, 2, NULL, NULL, &other), KEDGE_ERR_INPUT,
                 PLANE("an order of curves"));
  assert_ok(ctx, kedge_problem_set(problem, "mesh", "generate", "cube 2"));
  assert_ok(ctx, kedge_problem_set(problem, "mesh", "join", "0.1"));
  assert_int_equal(kedge_problem_mesh(problem, &other), KEDGE_ERR_INPUT);
  assert_null(other);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cube_has_its_counts_volumes_and_groups),
      cmocka_unit_test(numbers_of_the_caller_do_not_matter),
      cmocka_unit_test(rounding_of_coordinates_keeps_elements_congruent),
      cmocka_unit_test(the_curve_in_space_goes_from_neighbour_to_neighbour),
      cmocka_unit_test(two_tetrahedra_share_a_face_and_drop_a_vertex),
      cmocka_unit_test(a_regular_tetrahedron_has_quality_one),
      cmocka_unit_test(bad_tetrahedra_are_refused),
      cmocka_unit_test(a_face_has_two_tetrahedra_at_most),
      cmocka_unit_test(a_face_on_halves_of_it_is_refused),
      cmocka_unit_test(facets_of_groups_are_found_and_counted),
      cmocka_unit_test(a_refined_cube_is_the_cube_of_twice_the_number),
      cmocka_unit_test(tetrahedra_are_refined_alike_in_every_position),
      cmocka_unit_test(a_refined_ball_keeps_its_quality),
      cmocka_unit_test(refined_tetrahedra_inherit_groups_and_regions),
      cmocka_unit_test(arrays_of_the_caller_have_three_coordinates),
      cmocka_unit_test(arrays_of_tetrahedra_make_the_same_mesh),
      cmocka_unit_test(counts_of_a_cube_are_known_without_it),
      cmocka_unit_test(the_layout_of_a_cube_counts_its_facets),
      cmocka_unit_test(what_is_for_plane_meshes_is_refused),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
