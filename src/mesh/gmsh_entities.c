// Formats 4.0 and 4.1 give physical groups to entities (curves, surfaces, volumes), and elements
// belong to entities.
// The elements of a partitioned mesh belong to the pieces in $PartitionedEntities. $Periodic says
// which curves or surfaces are identified with others; what it says of their nodes is not needed,
// and a section that cannot be understood says nothing.
#include <stdlib.h>
#include <string.h>

#include "mesh/gmsh.h"

static int compare(const void *a, const void *b)
{
  const kg_entity *p = a, *q = b;
  if (p->dimension != q->dimension) return p->dimension < q->dimension ? -1 : 1;
  return (p->tag > q->tag) - (p->tag < q->tag);
}

void kg_gmsh_sort_entities(kg_gmsh *g)
{
  for (int64_t i = 0; i < g->n_entities; ++i)
    if (g->entities[i].is_ghost) g->entities[i].dimension = g->raw->dimension;
  if (g->n_entities) qsort(g->entities, (size_t)g->n_entities, sizeof *g->entities, compare);
}

kg_entity *kg_gmsh_find_entity(const kg_gmsh *g, int32_t dimension, int32_t tag)
{
  const kg_entity key = {.dimension = dimension, .tag = tag};
  return g->n_entities ? bsearch(&key, g->entities, (size_t)g->n_entities, sizeof key, compare)
                       : NULL;
}

static kedge_status add_entity(kg_gmsh *g, kg_entity entity)
{
  KG_TRY(kg_gmsh_grow(g, &g->entities, sizeof entity, g->n_entities, 1, &g->entity_capacity));
  g->entities[g->n_entities++] = entity;
  return KEDGE_OK;
}

static kedge_status skip_counted(kg_scan *s)
{
  int64_t n;
  KG_TRY(kg_scan_int64(s, &n));
  return kg_scan_skip(s, n, sizeof(int32_t));
}

/// The partitions of an entity, of which those of elements have one.
static kedge_status read_partitions(kg_scan *s, int32_t *first)
{
  int64_t n;
  KG_TRY(kg_scan_int64(s, &n));
  KG_TRY(kg_scan_plausible(s, n, 2, "partitions"));
  if (n < 1) return KEDGE_OK;
  KG_TRY(kg_scan_int32(s, first));
  return kg_scan_skip(s, n - 1, sizeof(int32_t));
}

void kg_gmsh_note_partition(kg_gmsh *g, int32_t partition)
{
  const bool same = partition > 0 && (g->partition == 0 || g->partition == partition);
  g->partition = same ? partition : -1;
}

kedge_status kg_gmsh_group(const kg_scan *s, int32_t tag, int32_t *physical)
{
  if (tag < -INT32_MAX) return KG_SCAN_FAIL(s, "%d is no physical tag", tag);
  *physical = abs(tag);  // the sign is an orientation
  return KEDGE_OK;
}

/// The first physical tag, and those behind it.
static kedge_status read_physical(kg_gmsh *g, kg_entity *entity)
{
  kg_scan *s = &g->scan;
  int64_t n;
  KG_TRY(kg_scan_int64(s, &n));
  KG_TRY(kg_scan_plausible(s, n, 2, "physical groups"));
  entity->is_shared = n > 1;
  entity->more = g->n_more;
  entity->n_more = n > 1 ? n - 1 : 0;
  KG_TRY(kg_gmsh_grow(g, &g->more_groups, sizeof *g->more_groups, g->n_more, entity->n_more,
                      &g->more_capacity));
  for (int64_t i = 0; i < n; ++i) {
    int32_t *group = i == 0 ? &entity->physical : &g->more_groups[g->n_more++];
    KG_TRY(kg_scan_int32(s, group));
    KG_TRY(kg_gmsh_group(s, *group, group));
  }
  return KEDGE_OK;
}

static kedge_status read_entity(kg_gmsh *g, int dimension, bool partitioned)
{
  kg_scan *s = &g->scan;
  kg_entity entity = {.dimension = dimension};
  KG_TRY(kg_scan_int32(s, &entity.tag));
  if (partitioned) {
    KG_TRY(kg_scan_skip(s, 2, sizeof(int32_t)));  // dimension and tag of the parent
    KG_TRY(read_partitions(s, &entity.partition));
  }
  const bool is_place = dimension == 0 && g->version == KG_GMSH_41;  // else a bounding box
  KG_TRY(kg_scan_skip(s, is_place ? 3 : 6, sizeof(double)));
  KG_TRY(read_physical(g, &entity));
  if (dimension > 0) KG_TRY(skip_counted(s));  // what bounds it
  KG_TRY(kg_scan_record_end(s));
  return dimension > 0 ? add_entity(g, entity) : KEDGE_OK;
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
    kg_entity ghost = {.is_ghost = true};  // of the dimension of the mesh
    KG_TRY(kg_scan_int32(s, &ghost.tag));
    KG_TRY(kg_scan_int32(s, &ghost.partition));
    KG_TRY(kg_scan_record_end(s));
    KG_TRY(add_entity(g, ghost));
  }
  g->raw->n_partitions = n_partitions < 0 || n_partitions > INT32_MAX ? 0 : (int32_t)n_partitions;
  return read_lists(g, true);
}

enum { NUMBERS_MAX = 3 };

/// The integers of the next line; 0: there are other words, or more than NUMBERS_MAX.
static int read_numbers(kg_scan *s, int64_t number[NUMBERS_MAX])
{
  const char *text;
  size_t length;
  char copy[80], *word = copy, *end;
  kg_text_skip_blank(s);
  kg_text_rest(s, &text, &length);
  if (length == 0 || length >= sizeof copy) return 0;
  memcpy(copy, text, length);
  copy[length] = '\0';
  for (int n = 0; n < NUMBERS_MAX; ++n) {
    number[n] = strtoll(word, &end, 10);
    if (end == word) return 0;
    if (*end == '\0') return n + 1;
    word = end;
  }
  return 0;
}

/// Links: "dimension tag master", then a line with an affine map, which 4.1 always has, the number
/// of pairs of nodes, and these.
static int64_t count_in_text(kg_scan s, int dimension, bool always_map)
{
  int64_t number[NUMBERS_MAX], n_links, n_found = 0;
  if (read_numbers(&s, number) != 1) return 0;
  n_links = number[0];
  for (int64_t i = 0; i < n_links; ++i) {
    if (read_numbers(&s, number) != 3) return n_found;
    n_found += number[0] == dimension && number[1] != number[2];
    const char *text;
    size_t length;
    kg_text_skip_blank(&s);
    if (always_map || (s.at < s.end && *s.at == 'A')) kg_text_rest(&s, &text, &length);
    if (read_numbers(&s, number) != 1) return n_found;
    for (int64_t k = number[0]; k > 0 && s.at < s.end; --k) kg_text_rest(&s, &text, &length);
  }
  return n_found;
}

static bool take(kg_scan *s, void *to, size_t bytes)
{
  if ((size_t)(s->end - s->at) < bytes) return false;
  memcpy(to, s->at, bytes);
  s->at += bytes;
  return true;
}

/// Skip n items behind their number.
static bool skip_items(kg_scan *s, size_t bytes)
{
  uint64_t n;
  if (!take(s, &n, sizeof n) || n > (size_t)(s->end - s->at) / bytes) return false;
  s->at += n * bytes;
  return true;
}

/// As text of 4.1, in numbers of 8 bytes, but for dimension and tags.
static int64_t count_in_binary(kg_scan s, int dimension)
{
  int64_t n_links, n_found = 0;
  int32_t link[3];
  if (!take(&s, &n_links, sizeof n_links)) return 0;
  for (int64_t i = 0; i < n_links; ++i) {
    if (!take(&s, link, sizeof link)) return n_found;
    n_found += link[0] == dimension && link[1] != link[2];
    if (!skip_items(&s, sizeof(double)) || !skip_items(&s, 2 * sizeof(int64_t))) return n_found;
  }
  return n_found;
}

int64_t kg_gmsh_count_periodic(const kg_gmsh *g)
{
  const int dimension = g->raw->dimension - 1;
  if (!g->scan.binary || g->version == KG_GMSH_22)
    return count_in_text(g->scan, dimension, g->version == KG_GMSH_41);
  return g->version == KG_GMSH_41 ? count_in_binary(g->scan, dimension) : 0;
}
