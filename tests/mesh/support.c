#include "support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int open_context(void **state)
{
  const kedge_context_options options = {.backend = KEDGE_BACKEND_HOST, .device = -1, .threads = 2};
  kedge_context *ctx;
  const kedge_status status = kedge_context_create(&options, &ctx);
  *state = ctx;
  return status == KEDGE_OK ? 0 : -1;
}

int close_context(void **state)
{
  kedge_context_destroy(*state);
  return 0;
}

void assert_ok(kedge_context *ctx, kedge_status status)
{
  if (status != KEDGE_OK) fail_msg("%s", kedge_context_error(ctx));
}

void assert_refused(kedge_context *ctx, kedge_status status, kedge_status expected,
                    const char *sentence)
{
  assert_string_equal(kedge_context_error(ctx), sentence);
  assert_int_equal(status, expected);
}

kedge_status build_from_bytes(kedge_context *ctx, const char *bytes, size_t n, kedge_mesh **out)
{
  *out = NULL;
  kg_raw_mesh raw;
  KG_TRY(kg_gmsh_parse(ctx, "text.msh", bytes, n, &raw));
  const kedge_status status = kg_mesh_build(ctx, &raw, "text.msh", out);
  kg_raw_mesh_free(&raw);
  return status;
}

kedge_status build_from_text(kedge_context *ctx, const char *text, kedge_mesh **out)
{
  return build_from_bytes(ctx, text, strlen(text), out);
}

kedge_mesh_group group_named(const kedge_mesh *mesh, int dimension, const char *name)
{
  kedge_mesh_group group = KEDGE_MESH_GROUP_INIT;
  for (int i = 0; i < kedge_mesh_group_count(mesh); ++i) {
    kedge_mesh_get_group(mesh, i, &group);
    if (group.dimension == dimension && strcmp(group.name, name) == 0) return group;
  }
  fail_msg("no group \"%s\" of dimension %d", name, dimension);
  return (kedge_mesh_group){0};
}

/// Elements are a permutation of the caller's, counterclockwise; vertices and edges are numbered by
/// first appearance.
static void assert_numbering(const kedge_mesh *mesh)
{
  char *seen = calloc((size_t)mesh->n_elements, 1);
  int32_t vertices = 0, edges = 0;
  for (int64_t e = 0; e < mesh->n_elements; ++e) {
    assert_in_range(mesh->element_origin[e], 0, mesh->n_elements - 1);
    assert_int_equal(seen[mesh->element_origin[e]]++, 0);
    const int32_t *v = kg_element_vertices(mesh, (int32_t)e);
    const int n = kg_block_of(mesh, (int32_t)e)->cell->n_vertices;
    for (int l = 0; l < n; ++l) {
      assert_true(v[l] <= vertices);
      vertices += v[l] == vertices;
      const int32_t edge = kg_side_edge(mesh, kg_side_of((int32_t)e, l));
      assert_true(edge <= edges);
      edges += edge == edges;
    }
    for (int l = 0; l < n; ++l) {
      const double *p = mesh->vertices + 2 * (int64_t)v[l];
      const double *q = mesh->vertices + 2 * (int64_t)v[(l + 1) % n];
      const double *r = mesh->vertices + 2 * (int64_t)v[(l + 2) % n];
      assert_true((q[0] - p[0]) * (r[1] - p[1]) > (r[0] - p[0]) * (q[1] - p[1]));
    }
  }
  assert_int_equal(vertices, mesh->n_vertices);
  assert_int_equal(edges, mesh->n_edges);
  free(seen);
}

static void assert_side(const kedge_mesh *mesh, int32_t edge, kg_side side, int32_t ends[2])
{
  const uint32_t both = mesh->side_edge[kg_side_place(mesh, side)];
  kg_side_ends(mesh, side, ends);
  assert_int_equal(both >> 1, edge);
  assert_int_equal(both & 1u, ends[0] > ends[1]);
}

/// Every interior edge has two sides that run in opposite directions.
static void assert_edges(const kedge_mesh *mesh)
{
  int32_t boundary = 0;
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
    const kg_side *sides = mesh->edge_sides + 2 * (int64_t)edge;
    int32_t first[2], second[2];
    assert_side(mesh, edge, sides[0], first);
    if (sides[1] == KG_NO_SIDE) {
      assert_in_range(mesh->edge_group[edge], 0, mesh->n_groups - 1);
      assert_int_equal(mesh->groups[mesh->edge_group[edge]].dimension, 1);
      ++boundary;
      continue;
    }
    assert_true(sides[0] < sides[1]);
    assert_side(mesh, edge, sides[1], second);
    assert_int_equal(first[0], second[1]);
    assert_int_equal(first[1], second[0]);
    assert_in_range(kg_group_of_edge(mesh->edge_group[edge]) + 1, 0, mesh->n_groups);
  }
  assert_int_equal(boundary, mesh->n_boundary_edges);
  assert_int_equal(kg_mesh_sides(mesh), 2 * mesh->n_edges - boundary);
}

static void assert_groups(const kedge_mesh *mesh)
{
  int64_t count[3] = {0};
  double measure[3] = {0};
  for (int i = 0; i < mesh->n_groups; ++i) {
    const kg_group *group = &mesh->groups[i];
    assert_in_range(group->dimension, 1, 2);
    assert_true(i == 0 || mesh->groups[i - 1].dimension <= group->dimension);
    assert_true(group->count > 0 || (group->dimension == 1 && group->n_inner > 0));
    count[group->dimension] += group->count;
    measure[group->dimension] += group->measure;
  }
  assert_int_equal(count[1], mesh->n_boundary_edges);
  assert_int_equal(count[2], mesh->n_elements);
  const double rounding = mesh->n_elements * DBL_EPSILON * mesh->info.area;
  assert_true(fabs(measure[2] - mesh->info.area) <= rounding);
}

void assert_sound(const kedge_mesh *mesh)
{
  assert_numbering(mesh);
  assert_edges(mesh);
  assert_groups(mesh);
  assert_int_equal(mesh->info.elements, mesh->n_elements);
  assert_int_equal(mesh->info.vertices, mesh->n_vertices);
  assert_int_equal(mesh->info.edges, mesh->n_edges);
  assert_int_equal(mesh->info.boundary_edges, mesh->n_boundary_edges);
}

void assert_same_mesh(const kedge_mesh *a, const kedge_mesh *b)
{
  assert_int_equal(a->n_vertices, b->n_vertices);
  assert_int_equal(a->n_elements, b->n_elements);
  assert_int_equal(a->n_edges, b->n_edges);
  assert_int_equal(a->n_groups, b->n_groups);
  assert_int_equal(a->n_blocks, b->n_blocks);
  assert_int_equal(kg_mesh_sides(a), kg_mesh_sides(b));
  const size_t nv = (size_t)a->n_vertices, ne = (size_t)a->n_elements, nf = (size_t)a->n_edges;
  const size_t ns = (size_t)kg_mesh_sides(a);
  assert_int_equal(a->dimension, b->dimension);
  assert_memory_equal(a->vertices, b->vertices, nv * (size_t)a->dimension * sizeof(double));
  assert_int_equal(a->geometry, b->geometry);
  size_t n_nodes = 0;
  for (int k = 0; k < a->n_blocks && a->nodes; ++k)
    n_nodes += (size_t)a->block[k].n * (size_t)a->block[k].cell->n_modes(a->geometry);
  if (n_nodes) assert_memory_equal(a->nodes, b->nodes, n_nodes * 2 * sizeof(double));
  assert_memory_equal(a->element_vertices, b->element_vertices, ns * sizeof(int32_t));
  assert_memory_equal(a->element_region, b->element_region, ne * sizeof(int32_t));
  assert_memory_equal(a->element_origin, b->element_origin, ne * sizeof(int32_t));
  assert_memory_equal(a->vertex_origin, b->vertex_origin, nv * sizeof(int32_t));
  assert_memory_equal(a->side_edge, b->side_edge, ns * sizeof(uint32_t));
  assert_memory_equal(a->edge_sides, b->edge_sides, nf * 2 * sizeof(int32_t));
  assert_memory_equal(a->edge_group, b->edge_group, nf * sizeof(int32_t));
  for (int i = 0; i < a->n_groups; ++i) {
    const kg_group *g = &a->groups[i], *h = &b->groups[i];
    assert_string_equal(g->name, h->name);
    assert_int_equal(g->tag, h->tag);
    assert_int_equal(g->dimension, h->dimension);
    assert_int_equal(g->count, h->count);
    assert_true(g->measure == h->measure);
    assert_int_equal(g->n_inner, h->n_inner);
    assert_true(g->inner_measure == h->inner_measure);
  }
}

uint64_t next_random(uint64_t *state, uint64_t bound)
{
  // xorshift64*, far from its end for these lengths; the state must not be 0
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (*state * 0x2545f4914f6cdd1d >> 16) % bound;
}

void shuffle(uint64_t *state, int32_t *order, int32_t n)
{
  for (int32_t i = 0; i < n; ++i) order[i] = i;
  for (int32_t i = n - 1; i > 0; --i) {
    const int32_t j = (int32_t)next_random(state, (uint64_t)i + 1), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}
