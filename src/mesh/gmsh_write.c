// Format 4.1. One node block, one curve for each boundary group, one surface for each region.
// Elements are written in runs of one region and shape, so that they keep their order.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/number.h"
#include "core/target.h"
#include "mesh/mesh.h"

typedef struct writer {
  FILE *stream;
  bool binary;
  const kedge_mesh *mesh;
  const kg_raw_mesh *raw;
  int n_groups[4];  ///< [dimension]
} writer;

static void put_int(const writer *w, int32_t value, char after)
{
  if (w->binary)
    fwrite(&value, sizeof value, 1, w->stream);
  else
    fprintf(w->stream, "%d%c", value, after);
}

static void put_count(const writer *w, int64_t value, char after)
{
  if (w->binary)
    fwrite(&value, sizeof value, 1, w->stream);
  else
    fprintf(w->stream, "%lld%c", (long long)value, after);
}

/// Text: as few digits as give the same number back.
static void put_double(const writer *w, double value, char after)
{
  if (w->binary) {
    fwrite(&value, sizeof value, 1, w->stream);
    return;
  }
  char text[32];
  kg_number_print(text, value);
  fprintf(w->stream, "%s%c", text, after);
}

static void end_section(const writer *w, const char *name)
{
  fprintf(w->stream, "%s$End%s\n", w->binary ? "\n" : "", name);
}

static void put_format(const writer *w)
{
  fprintf(w->stream, "$MeshFormat\n4.1 %d 8\n", w->binary);
  if (w->binary) put_int(w, 1, '\n');
  end_section(w, "MeshFormat");
}

static void put_names(const writer *w)
{
  if (w->raw->n_names == 0) return;
  fprintf(w->stream, "$PhysicalNames\n%d\n", w->raw->n_names);
  for (int i = 0; i < w->raw->n_names; ++i) {
    const struct kg_raw_name *name = &w->raw->names[i];
    fprintf(w->stream, "%d %d \"%s\"\n", name->dimension, name->tag, name->name);
  }
  fprintf(w->stream, "$EndPhysicalNames\n");
}

/// Order of the groups of a dimension: by tag, but lines without a group come last.
static uint32_t rank_of(int dimension, int32_t tag)
{
  return dimension == 1 ? (uint32_t)tag - 1 : (uint32_t)tag;
}

/// Entity of the group of a tag: numbered from 1 in its dimension.
static int entity_of(const writer *w, int dimension, int32_t tag)
{
  const kg_group *groups = w->mesh->groups + (dimension == 1 ? 0 : w->n_groups[1]);
  int begin = 0, end = w->n_groups[dimension];
  while (end - begin > 1) {
    const int middle = begin + (end - begin) / 2;
    if (rank_of(dimension, groups[middle].tag) <= rank_of(dimension, tag))
      begin = middle;
    else
      end = middle;
  }
  return begin + 1;
}

static void put_entity(const writer *w, const kg_group *group, int entity)
{
  const double *box = w->mesh->info.box;
  put_int(w, entity, ' ');
  for (int k = 0; k < 6; ++k) put_double(w, k % 3 < 2 ? box[k / 3 * 2 + k % 3] : 0, ' ');
  put_count(w, group->tag != 0, ' ');
  if (group->tag != 0) put_int(w, group->tag, ' ');
  put_count(w, 0, '\n');  // nothing is said about what bounds it
}

static void put_entities(const writer *w)
{
  const kg_group *group = w->mesh->groups;
  fprintf(w->stream, "$Entities\n");
  for (int d = 0; d < 4; ++d) put_count(w, w->n_groups[d], d < 3 ? ' ' : '\n');
  for (int d = 1; d <= 2; ++d)
    for (int i = 0; i < w->n_groups[d]; ++i) put_entity(w, group++, i + 1);
  end_section(w, "Entities");
}

/// (dimension, entity, type or parametric, count): begins a block of nodes or elements.
static void put_block(const writer *w, int dimension, int entity, int third, int64_t n)
{
  put_int(w, dimension, ' ');
  put_int(w, entity, ' ');
  put_int(w, third, ' ');
  put_count(w, n, '\n');
}

static void put_totals(const writer *w, int64_t n_blocks, int64_t n)
{
  put_count(w, n_blocks, ' ');
  put_count(w, n, ' ');
  put_count(w, 1, ' ');
  put_count(w, n, '\n');
}

static void put_nodes(const writer *w)
{
  const int64_t n = w->raw->n_vertices;
  fprintf(w->stream, "$Nodes\n");
  put_totals(w, 1, n);
  put_block(w, 2, 1, 0, n);
  for (int64_t v = 0; v < n; ++v) put_count(w, v + 1, '\n');
  for (int64_t v = 0; v < n; ++v) {
    put_double(w, w->raw->vertices[2 * v], ' ');
    put_double(w, w->raw->vertices[2 * v + 1], ' ');
    put_double(w, 0, '\n');
  }
  end_section(w, "Nodes");
}

/// Lines (dimension 1) or elements (2) as the file has them.
typedef struct items {
  int dimension;
  int64_t n;
  const int32_t *tags, *vertices;
  int width;  ///< of vertices
} items;

/// Nodes of an item; Gmsh's type is one less.
static int nodes_of(const items *list, int64_t i)
{
  const int32_t *v = list->vertices + list->width * i;
  return list->width == 4 && v[3] < 0 ? 3 : list->width;
}

/// End of the run of items of one tag and one type that begins at `begin`.
static int64_t run_end(const items *list, int64_t begin)
{
  int64_t end = begin + 1;
  while (end < list->n && list->tags[end] == list->tags[begin] &&
         nodes_of(list, end) == nodes_of(list, begin))
    ++end;
  return end;
}

static int64_t count_runs(const items *list)
{
  int64_t runs = 0;
  for (int64_t i = 0; i < list->n; i = run_end(list, i)) ++runs;
  return runs;
}

/// Write the items, numbered on from *number.
static void put_items(const writer *w, const items *list, int64_t *number)
{
  for (int64_t begin = 0, end; begin < list->n; begin = end) {
    end = run_end(list, begin);
    const int n_nodes = nodes_of(list, begin), d = list->dimension;
    put_block(w, d, entity_of(w, d, list->tags[begin]), n_nodes - 1, end - begin);
    for (int64_t i = begin; i < end; ++i) {
      put_count(w, ++*number, ' ');
      for (int k = 0; k < n_nodes; ++k)
        put_count(w, (int64_t)list->vertices[list->width * i + k] + 1,
                  k == n_nodes - 1 ? '\n' : ' ');
    }
  }
}

static void put_elements(const writer *w)
{
  const kg_raw_mesh *raw = w->raw;
  const items lines = {1, raw->n_lines, raw->line_tags, raw->lines, 2};
  const items elements = {2, raw->n_elements, raw->regions, raw->corners, raw->width};
  int64_t number = 0;
  fprintf(w->stream, "$Elements\n");
  put_totals(w, count_runs(&lines) + count_runs(&elements), raw->n_lines + raw->n_elements);
  put_items(w, &lines, &number);
  put_items(w, &elements, &number);
  end_section(w, "Elements");
}

static void write_stream(FILE *stream, void *user)
{
  writer *w = user;
  w->stream = stream;
  put_format(w);
  put_names(w);
  put_entities(w);
  put_nodes(w);
  put_elements(w);
}

/// Boundary edges come in edge order; runs of one group make longer blocks.
static int compare_tags(const void *a, const void *b)
{
  const int32_t *p = a, *q = b;
  for (int i = 0; i < 3; ++i)
    if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
  return 0;
}

/// Sort lines by (tag, vertices).
static kedge_status sort_lines(kedge_context *ctx, kg_raw_mesh *raw)
{
  int32_t(*records)[3];
  KG_TRY(kg_host_alloc(ctx, (size_t)raw->n_lines, sizeof *records, &records));
  for (int64_t i = 0; i < raw->n_lines; ++i) {
    records[i][0] = raw->line_tags[i];
    memcpy(&records[i][1], raw->lines + 2 * i, 2 * sizeof(int32_t));
  }
  qsort(records, (size_t)raw->n_lines, sizeof *records, compare_tags);
  for (int64_t i = 0; i < raw->n_lines; ++i) {
    raw->line_tags[i] = records[i][0];
    memcpy(raw->lines + 2 * i, &records[i][1], 2 * sizeof(int32_t));
  }
  free(records);
  return KEDGE_OK;
}

kedge_status kedge_mesh_write(kedge_context *ctx, const kedge_mesh *mesh, const char *path,
                              bool binary)
{
  KG_REQUIRE(ctx, ctx && mesh && path, KEDGE_ERR_ARG,
             "kedge_mesh_write: ctx, mesh or path is NULL");
  KG_REQUIRE(ctx, !mesh->nodes, KEDGE_ERR_UNSUPPORTED,
             "%s: the mesh has curved elements of order %d, which kedge cannot write; write it "
             "with geometry order 1",
             mesh->source, mesh->geometry);
  kg_raw_mesh raw;
  KG_TRY(kg_mesh_to_raw(ctx, mesh, &raw));
  writer w = {.binary = binary, .mesh = mesh, .raw = &raw};
  for (int i = 0; i < mesh->n_groups; ++i) ++w.n_groups[mesh->groups[i].dimension];
  kedge_status status = sort_lines(ctx, &raw);
  if (status == KEDGE_OK) status = kg_target_stream(ctx, path, "", write_stream, &w);
  kg_raw_mesh_free(&raw);
  return status;
}
