// Formats 4.0 and 4.1 give physical groups to entities (curves, surfaces), and elements belong to
// entities.
// The elements of a partitioned mesh belong to the pieces in $PartitionedEntities.
#include <stdlib.h>

#include "mesh/gmsh.h"

static int compare(const void *a, const void *b)
{
  const kg_entity *p = a, *q = b;
  if (p->dimension != q->dimension) return p->dimension < q->dimension ? -1 : 1;
  return (p->tag > q->tag) - (p->tag < q->tag);
}

void kg_gmsh_sort_entities(kg_gmsh *g)
{
  if (g->n_entities) qsort(g->entities, (size_t)g->n_entities, sizeof *g->entities, compare);
}

const kg_entity *kg_gmsh_find_entity(const kg_gmsh *g, int32_t dimension, int32_t tag)
{
  const kg_entity key = {.dimension = dimension, .tag = tag};
  return g->n_entities ? bsearch(&key, g->entities, (size_t)g->n_entities, sizeof key, compare)
                       : NULL;
}

static kedge_status add_entity(kg_gmsh *g, kg_entity entity)
{
  if (g->n_entities == g->entity_capacity) {
    const int64_t capacity = g->entity_capacity ? 2 * g->entity_capacity : 64;
    KG_TRY(kg_gmsh_reserve(g, &g->entities, sizeof entity, capacity));
    g->entity_capacity = capacity;
  }
  g->entities[g->n_entities++] = entity;
  return KEDGE_OK;
}

static kedge_status skip_counted(kg_scan *s)
{
  int64_t n;
  KG_TRY(kg_scan_int64(s, &n));
  return kg_scan_skip(s, n, sizeof(int32_t));
}

kedge_status kg_gmsh_group(const kg_scan *s, int32_t tag, int32_t *physical)
{
  if (tag < -INT32_MAX) return KG_SCAN_FAIL(s, "%d is no physical tag", tag);
  *physical = abs(tag);  // the sign is an orientation
  return KEDGE_OK;
}

/// The first physical tag.
static kedge_status read_physical(kg_scan *s, kg_entity *entity)
{
  int64_t n;
  int32_t *physical = &entity->physical;
  KG_TRY(kg_scan_int64(s, &n));
  entity->has_more = n > 1;
  if (n == 0) return KEDGE_OK;
  KG_TRY(kg_scan_plausible(s, n, 2, "physical groups"));
  KG_TRY(kg_scan_int32(s, physical));
  KG_TRY(kg_gmsh_group(s, *physical, physical));
  return kg_scan_skip(s, n - 1, sizeof(int32_t));
}

static kedge_status read_entity(kg_gmsh *g, int dimension, bool partitioned)
{
  kg_scan *s = &g->scan;
  kg_entity entity = {.dimension = dimension};
  KG_TRY(kg_scan_int32(s, &entity.tag));
  if (partitioned) {
    KG_TRY(kg_scan_skip(s, 2, sizeof(int32_t)));  // dimension and tag of the parent
    KG_TRY(skip_counted(s));                      // partitions
  }
  const bool is_place = dimension == 0 && g->version == KG_GMSH_41;  // else a bounding box
  KG_TRY(kg_scan_skip(s, is_place ? 3 : 6, sizeof(double)));
  KG_TRY(read_physical(s, &entity));
  if (dimension > 0) KG_TRY(skip_counted(s));  // what bounds it
  KG_TRY(kg_scan_record_end(s));
  return dimension == 1 || dimension == 2 ? add_entity(g, entity) : KEDGE_OK;
}

static kedge_status read_lists(kg_gmsh *g, bool partitioned)
{
  kg_scan *s = &g->scan;
  int64_t counts[4];
  for (int d = 0; d < 4; ++d) {
    KG_TRY(kg_scan_int64(s, &counts[d]));
    KG_TRY(kg_scan_plausible(s, counts[d], 10, "entities"));
  }
  KG_TRY(kg_scan_record_end(s));
  for (int d = 0; d < 4; ++d)
    for (int64_t i = 0; i < counts[d]; ++i) KG_TRY(read_entity(g, d, partitioned));
  return KEDGE_OK;
}

kedge_status kg_gmsh_entities(kg_gmsh *g)
{
  return read_lists(g, false);
}

kedge_status kg_gmsh_partitioned_entities(kg_gmsh *g)
{
  kg_scan *s = &g->scan;
  int64_t n_partitions, n_ghosts;
  KG_TRY(kg_scan_int64(s, &n_partitions));
  KG_TRY(kg_scan_record_end(s));
  KG_TRY(kg_scan_int64(s, &n_ghosts));
  KG_TRY(kg_scan_plausible(s, n_ghosts, 4, "ghost entities"));
  KG_TRY(kg_scan_record_end(s));
  for (int64_t i = 0; i < n_ghosts; ++i) {
    KG_TRY(kg_scan_skip(s, 2, sizeof(int32_t)));
    KG_TRY(kg_scan_record_end(s));
  }
  return read_lists(g, true);
}
