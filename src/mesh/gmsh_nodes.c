#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "mesh/gmsh.h"

static kedge_status allocate(kg_gmsh *g, int64_t n)
{
  kg_scan *s = &g->scan;
  if (g->has_nodes) return KG_SCAN_FAIL(s, "there is a second section $Nodes; the file is damaged");
  g->has_nodes = true;
  KG_TRY(kg_scan_plausible(s, n, 8, "nodes"));
  if (n > INT32_MAX)
    return KG_SCAN_FAIL(
        s, "%lld nodes are more than kedge can number; take a coarser mesh, and refine = K",
        (long long)n);
  KG_TRY(kg_host_alloc(s->ctx, (size_t)n, 3 * sizeof(double), &g->raw->vertices));
  return kg_host_alloc(s->ctx, (size_t)n, sizeof *g->tags, &g->tags);
}

/// Store vertex i, whose coordinates were just read.
static kedge_status put_vertex(kg_gmsh *g, int64_t i, const double xyz[3])
{
  if (!(isfinite(xyz[0]) && isfinite(xyz[1]) && isfinite(xyz[2])))
    return KG_SCAN_FAIL(&g->scan,
                        "node %lld has a coordinate that is not finite (%g, %g, %g); repair the "
                        "geometry and mesh it again",
                        (long long)g->tags[i], xyz[0], xyz[1], xyz[2]);
  memcpy(g->raw->vertices + 3 * i, xyz, 3 * sizeof *xyz);
  return KEDGE_OK;
}

static kedge_status refuse_duplicate(const kg_gmsh *g, int64_t tag)
{
  return KG_SCAN_FAIL(
      &g->scan,
      "node %lld is defined twice in the section $Nodes before this; export the mesh again",
      (long long)tag);
}

static kedge_status map_dense(kg_gmsh *g, int64_t n)
{
  kg_node_map *map = &g->map;
  KG_TRY(kg_host_alloc(g->scan.ctx, (size_t)map->span, sizeof *map->dense, &map->dense));
  memset(map->dense, 0xff, (size_t)map->span * sizeof *map->dense);
  for (int64_t i = 0; i < n; ++i) {
    int32_t *place = &map->dense[g->tags[i] - map->first];
    if (*place >= 0) return refuse_duplicate(g, g->tags[i]);
    *place = (int32_t)i;
  }
  return KEDGE_OK;
}

static kedge_status map_sorted(kg_gmsh *g, int64_t n)
{
  kg_node_map *map = &g->map;
  KG_TRY(kg_host_alloc(g->scan.ctx, (size_t)n, sizeof *map->sorted, &map->sorted));
  for (int64_t i = 0; i < n; ++i) map->sorted[i] = (kg_pair){(uint64_t)g->tags[i], i};
  KG_TRY(kg_radix_sort(g->scan.ctx, &map->sorted, (size_t)n, 64));
  for (int64_t i = 1; i < n; ++i)
    if (map->sorted[i].key == map->sorted[i - 1].key)
      return refuse_duplicate(g, (int64_t)map->sorted[i].key);
  return KEDGE_OK;
}

/// All nodes are read: make the map from tags to vertices.
static kedge_status finish(kg_gmsh *g, int64_t n)
{
  kg_node_map *map = &g->map;
  g->raw->n_vertices = map->n = n;
  int64_t smallest = INT64_MAX, largest = INT64_MIN;
  bool consecutive = true;
  for (int64_t i = 0; i < n; ++i) {
    smallest = g->tags[i] < smallest ? g->tags[i] : smallest;
    largest = g->tags[i] > largest ? g->tags[i] : largest;
    // Unsigned: a binary file may hold any two numbers.
    consecutive = consecutive && (i == 0 || (uint64_t)g->tags[i] - (uint64_t)g->tags[i - 1] == 1);
  }
  map->first = smallest;
  map->consecutive = consecutive;
  const uint64_t span = (uint64_t)largest - (uint64_t)smallest;
  kedge_status status = KEDGE_OK;
  if (!consecutive && span < 4 * (uint64_t)n + 1024) {
    map->span = (int64_t)span + 1;
    status = map_dense(g, n);
  } else if (!consecutive) {
    status = map_sorted(g, n);
  }
  free(g->tags);
  g->tags = NULL;
  return status;
}

/// Behind the coordinates of a node in $ParametricNodes: dimension and tag of its entity, and as
/// many parameters as that is a curve or a surface.
static kedge_status skip_parameters(kg_scan *s)
{
  int32_t dimension, tag;
  KG_TRY(kg_scan_int32(s, &dimension));
  KG_TRY(kg_scan_int32(s, &tag));
  if (dimension < 0 || dimension > 3)
    return KG_SCAN_FAIL(s,
                        "a node in $ParametricNodes is of an entity of dimension %d; the file is "
                        "damaged: export it again with Mesh.SaveParametric = 0",
                        dimension);
  return kg_scan_skip(s, dimension < 3 ? dimension : 0, sizeof(double));
}

/// 2.2: a count in text, then (tag, x, y, z), and what parametric nodes have.
static kedge_status read_22(kg_gmsh *g, bool parametric)
{
  kg_scan *s = &g->scan;
  int64_t n;
  KG_TRY(kg_text_int(s, &n));
  KG_TRY(allocate(g, n));
  KG_TRY(kg_text_line_end(s));
  for (int64_t i = 0; i < n; ++i) {
    double xyz[3];
    if (s->binary) {
      int32_t tag;
      KG_TRY(kg_scan_int32(s, &tag));
      g->tags[i] = tag;
    } else {
      KG_TRY(kg_text_int(s, &g->tags[i]));
    }
    for (int k = 0; k < 3; ++k) KG_TRY(kg_scan_double(s, &xyz[k]));
    KG_TRY(put_vertex(g, i, xyz));
    if (parametric) KG_TRY(skip_parameters(s));
    KG_TRY(kg_scan_record_end(s));
  }
  return finish(g, n);
}

/// Coordinates, then the parameters of an entity.
static kedge_status read_place(kg_gmsh *g, int64_t i, int n_parameters)
{
  double xyz[3];
  for (int k = 0; k < 3; ++k) KG_TRY(kg_scan_double(&g->scan, &xyz[k]));
  KG_TRY(put_vertex(g, i, xyz));
  KG_TRY(kg_scan_skip(&g->scan, n_parameters, sizeof(double)));
  return kg_scan_record_end(&g->scan);
}

/// A block of 4.0: (tag, x, y, z, parameters of the entity); of 4.1: the tags of all its nodes,
/// then the rest of each.
static kedge_status read_block(kg_gmsh *g, int64_t n_announced, int64_t *n_read)
{
  kg_scan *s = &g->scan;
  const bool by_node = g->version == KG_GMSH_40;
  int32_t dimension, tag, parametric;
  int64_t n;
  KG_TRY(kg_scan_int32(s, by_node ? &tag : &dimension));
  KG_TRY(kg_scan_int32(s, by_node ? &dimension : &tag));
  KG_TRY(kg_scan_int32(s, &parametric));
  KG_TRY(kg_scan_int64(s, &n));
  if (n < 0 || n > n_announced - *n_read || dimension < 0 || dimension > 3)
    return KG_SCAN_FAIL(s,
                        "a block of %lld nodes of dimension %d does not fit the %lld nodes of the "
                        "section; the file is damaged",
                        (long long)n, dimension, (long long)n_announced);
  KG_TRY(kg_scan_record_end(s));
  for (int64_t i = *n_read; i < *n_read + n; ++i) {
    if (by_node) {
      KG_TRY(kg_scan_int32(s, &tag));
      g->tags[i] = tag;
      KG_TRY(read_place(g, i, parametric && dimension < 3 ? dimension : 0));
    } else {
      KG_TRY(kg_scan_int64(s, &g->tags[i]));
      KG_TRY(kg_scan_record_end(s));
    }
  }
  for (int64_t i = *n_read; i < *n_read + n && !by_node; ++i)
    KG_TRY(read_place(g, i, parametric ? dimension : 0));
  *n_read += n;
  return KEDGE_OK;
}

/// (blocks, nodes, and in 4.1 smallest tag, largest tag), then the blocks.
static kedge_status read_blocks(kg_gmsh *g)
{
  kg_scan *s = &g->scan;
  int64_t n_blocks, n, n_read = 0;
  KG_TRY(kg_scan_int64(s, &n_blocks));
  KG_TRY(kg_scan_int64(s, &n));
  if (g->version == KG_GMSH_41) KG_TRY(kg_scan_skip(s, 2, sizeof(int64_t)));
  KG_TRY(kg_scan_plausible(s, n_blocks, 8, "blocks"));
  KG_TRY(allocate(g, n));
  KG_TRY(kg_scan_record_end(s));
  for (int64_t k = 0; k < n_blocks; ++k) KG_TRY(read_block(g, n, &n_read));
  if (n_read != n)
    return KG_SCAN_FAIL(s,
                        "the blocks hold %lld nodes, but %lld are announced; the file is damaged",
                        (long long)n_read, (long long)n);
  return finish(g, n);
}

kedge_status kg_gmsh_nodes(kg_gmsh *g)
{
  return g->version == KG_GMSH_22 ? read_22(g, false) : read_blocks(g);
}

kedge_status kg_gmsh_parametric_nodes(kg_gmsh *g)
{
  return g->version == KG_GMSH_22 ? read_22(g, true) : read_blocks(g);
}
