// $Sections one after the other. Formats: https://gmsh.info/doc/texinfo/gmsh.html#File-formats
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "mesh/gmsh.h"

#define VERSIONS "2, 2.1, 2.2, 4.0 and 4.1"
#define CONVERT  "convert it with: gmsh in.msh -save -format msh41 -o out.msh"

kedge_status kg_gmsh_reserve(kg_gmsh *g, void *array, size_t size, int64_t capacity)
{
  void *memory;
  memcpy(&memory, array, sizeof memory);  // `array` is the address of any object pointer
  memory = realloc(memory, size * (size_t)capacity);
  KG_REQUIRE(g->scan.ctx, memory, KEDGE_ERR_MEMORY, "%s: no host memory for %lld items of the mesh",
             g->scan.name, (long long)capacity);
  memcpy(array, &memory, sizeof memory);
  return KEDGE_OK;
}

kedge_status kg_gmsh_grow(kg_gmsh *g, void *array, size_t size, int64_t n, int64_t more,
                          int64_t *capacity)
{
  if (more <= *capacity - n) return KEDGE_OK;
  *capacity = kg_gmsh_capacity(*capacity, n, more);
  return kg_gmsh_reserve(g, array, size, *capacity);
}

/// "version binary data-size"; a binary file goes on with the integer 1.
static kedge_status read_format(kg_gmsh *g)
{
  kg_scan *s = &g->scan;
  double version;
  int64_t binary, size;
  KG_TRY(kg_text_double(s, &version));
  KG_TRY(kg_text_int(s, &binary));
  KG_TRY(kg_text_int(s, &size));
  const bool is_2 = version == 2.0 || version == 2.1 || version == 2.2;
  if (!is_2 && version != 4.0 && version != 4.1)
    return KG_SCAN_FAIL(s, "format version %g cannot be read, only " VERSIONS "; " CONVERT,
                        version);
  if ((binary != 0 && binary != 1) || size != 8)
    return KG_SCAN_FAIL(s, "file type %lld with data size %lld is not 0 or 1 with 8; " CONVERT,
                        (long long)binary, (long long)size);
  g->version = is_2 ? KG_GMSH_22 : version == 4.0 ? KG_GMSH_40 : KG_GMSH_41;
  s->binary = binary == 1;
  KG_TRY(kg_text_line_end(s));
  if (!s->binary) return KEDGE_OK;
  if (s->at < s->end && *s->at == '$') {
    s->binary = false;  // for the place
    return KG_SCAN_FAIL(s,
                        "the file goes on as text, but file type 1 in the line before marks it as "
                        "binary; write 0 there, or export it again");
  }
  int32_t one;
  KG_TRY(kg_scan_int32(s, &one));
  if (one == 1) return KEDGE_OK;
  return one == 1 << 24
             ? KG_SCAN_FAIL(s,
                            "the byte order is not this machine's; export the mesh as ASCII, or on "
                            "a machine of the same byte order")
             : KG_SCAN_FAIL(s,
                            "the integer 1 should be here, by which a binary file shows its byte "
                            "order; the file is damaged: export it again");
}

/// Lines 'dimension tag "name"', text in binary files too.
static kedge_status read_names(kg_gmsh *g)
{
  kg_scan *s = &g->scan;
  int64_t n;
  KG_TRY(kg_text_int(s, &n));
  KG_TRY(kg_scan_plausible(s, n, 6, "names"));
  KG_TRY(kg_text_line_end(s));
  for (int64_t i = 0; i < n; ++i) {
    int64_t dimension, tag;
    KG_TRY(kg_text_int(s, &dimension));
    KG_TRY(kg_text_int(s, &tag));
    if (dimension < 0 || dimension > 3 || tag <= -INT32_MAX || tag >= INT32_MAX)
      return KG_SCAN_FAIL(s, "there is no physical group of dimension %lld and tag %lld",
                          (long long)dimension, (long long)tag);
    const char *text, *where = s->at;
    size_t length;
    const int64_t line = s->line;
    kg_text_rest(s, &text, &length);
    if (length < 2 || text[0] != '"' || text[length - 1] != '"') {
      s->at = where;
      s->line = line;
      return KG_SCAN_FAIL(s, "the name of a physical group is not in quotes; put it in \"\"");
    }
    if (length == 2) continue;  // an empty name is none
    KG_TRY(kg_raw_mesh_name(s->ctx, g->raw, (int)dimension, (int32_t)llabs(tag), text + 1,
                            length - 2));
  }
  return KEDGE_OK;
}

static bool is_word(const char *text, size_t length, const char *word)
{
  return length == strlen(word) && memcmp(text, word, length) == 0;
}

/// Move behind the line "$End<name>".
static kedge_status skip_section(kg_gmsh *g, const char *name, size_t length)
{
  kg_scan *s = &g->scan;
  const char *text;
  size_t n;
  const int64_t first_line = s->line;
  const char *first = s->at;
  while (s->at < s->end) {
    kg_text_rest(s, &text, &n);
    if (n == length + 4 && memcmp(text, "$End", 4) == 0 && memcmp(text + 4, name, length) == 0)
      return KEDGE_OK;
  }
  s->at = first;
  s->line = first_line;
  return KG_SCAN_FAIL(s, "section $%.*s has no end; the file is truncated",
                      length > 40 ? 40 : (int)length, name);
}

static kedge_status end_section(kg_gmsh *g, const char *name)
{
  kg_scan *s = &g->scan;
  kg_text_skip_blank(s);
  if (s->at == s->end)
    return KG_SCAN_FAIL(s, "the file ends inside section $%s; it is truncated", name);
  const size_t length = strlen(name);
  const bool ends = (size_t)(s->end - s->at) >= length + 4 && memcmp(s->at, "$End", 4) == 0 &&
                    memcmp(s->at + 4, name, length) == 0;
  if (!ends)
    return KG_SCAN_FAIL(s, "$End%s should be here; the section is longer than its counts say",
                        name);
  s->at += length + 4;
  return kg_text_line_end(s);
}

static const struct section {
  const char *name;
  bool only_4;
  kedge_status (*read)(kg_gmsh *);
} sections[] = {
    {"MeshFormat", false, read_format},
    {"PhysicalNames", false, read_names},
    {"Entities", true, kg_gmsh_entities},
    {"PartitionedEntities", true, kg_gmsh_partitioned_entities},
    {"Nodes", false, kg_gmsh_nodes},
    {"ParametricNodes", false, kg_gmsh_parametric_nodes},
    {"Elements", false, kg_gmsh_elements},
};

/// Refuse a file that is no Gmsh mesh: say what it may be, and what to do with it.
static kedge_status refuse_other_file(const kg_scan *s)
{
  const size_t length = strlen(s->name);
  if (length > 4 && strcmp(s->name + length - 4, ".geo") == 0)
    return KG_SCAN_FAIL(s, "this is a Gmsh geometry, not a mesh; mesh it with: gmsh -2 %s",
                        s->name);
  if (s->at < s->end && *s->at == '[')
    return KG_SCAN_FAIL(s,
                        "this is not a Gmsh mesh but looks like a problem file; those are for "
                        "kedge solve and kedge plan");
  return KG_SCAN_FAIL(s,
                      "this is not a Gmsh mesh: it does not begin with $MeshFormat; if Gmsh opens "
                      "it, " CONVERT);
}

static kedge_status read_section(kg_gmsh *g)
{
  kg_scan *s = &g->scan;
  const char *name;
  size_t length;
  if (*s->at != '$')
    return g->version ? KG_SCAN_FAIL(s, "a $section should begin here; the file is damaged")
                      : refuse_other_file(s);
  ++s->at;
  kg_text_rest(s, &name, &length);
  const struct section *section = NULL;
  for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i)
    if (is_word(name, length, sections[i].name)) section = &sections[i];
  if (section && section->read == read_format && g->version)
    return KG_SCAN_FAIL(s, "there is a second $MeshFormat; the file is damaged");
  if (!g->version && (!section || section->read != read_format)) {
    if (!is_word(name, length, "Comments"))
      return is_word(name, length, "NOD")
                 ? KG_SCAN_FAIL(s, "format version 1 cannot be read, only " VERSIONS "; " CONVERT)
                 : refuse_other_file(s);
    section = NULL;
  }
  if (is_word(name, length, "Periodic")) g->raw->n_periodic += kg_gmsh_count_periodic(g);
  if (!section || (section->only_4 && g->version == KG_GMSH_22))
    return skip_section(g, name, length);
  KG_TRY(section->read(g));
  return end_section(g, section->name);
}

/// The vertices of all elements of a plane mesh must lie in one plane z = const, but for rounding.
static kedge_status check_plane(const kg_gmsh *g)
{
  const kg_raw_mesh *raw = g->raw;
  const double z0 = raw->vertices[3 * (int64_t)raw->corners[0] + 2];
  double extent = 0, largest = 0;
  int64_t farthest = raw->corners[0];
  const int64_t n_corners = raw->width * raw->n_elements;
  for (int64_t i = 0; i < n_corners + g->n_between; ++i) {
    const int64_t v = i < n_corners ? raw->corners[i] : g->between[i - n_corners];
    if (v < 0) continue;
    const double *at = raw->vertices + 3 * v;
    extent = fmax(extent, fmax(fabs(at[0]), fabs(at[1])));
    if (fabs(at[2] - z0) > largest) {
      largest = fabs(at[2] - z0);
      farthest = v;
    }
  }
  const double *at = raw->vertices + 3 * farthest;
  KG_REQUIRE(g->scan.ctx, largest <= 1e-10 * extent, KEDGE_ERR_INPUT,
             "%s: there are no tetrahedra, and the surface is not in a plane z = const (the vertex "
             "(%g, %g) has z = %g, another one z = %g); mesh the volume too, or project the "
             "surface to the plane before meshing",
             g->scan.name, at[0], at[1], at[2], z0);
  return KEDGE_OK;
}

/// Leave x and y of the vertices of a plane mesh.
static kedge_status drop_z(kg_gmsh *g)
{
  const kg_raw_mesh *raw = g->raw;
  for (int64_t v = 0; v < raw->n_vertices; ++v)
    memmove(raw->vertices + 2 * v, raw->vertices + 3 * v, 2 * sizeof *raw->vertices);
  return kg_gmsh_reserve(g, &g->raw->vertices, 2 * sizeof *raw->vertices, raw->n_vertices);
}

/// Names of groups where no facet, or no element, has a group.
static kedge_status find_lost(const kg_gmsh *g)
{
  kg_raw_mesh *raw = g->raw;
  bool has[2] = {raw->n_lines > 0, false};
  for (int64_t e = 0; e < raw->n_elements && !has[1]; ++e) has[1] = raw->regions[e] != 0;
  for (int i = 0; i < raw->n_names; ++i) {
    const int d = raw->names[i].dimension - raw->dimension + 1;
    if (d < 0 || d > 1 || has[d] || raw->lost[d]) continue;
    const char *const name = raw->names[i].name;
    KG_TRY(kg_copy_text(g->scan.ctx, name, strlen(name), &raw->lost[d]));
  }
  return KEDGE_OK;
}

static kedge_status check_whole(kg_gmsh *g)
{
  kedge_context *ctx = g->scan.ctx;
  KG_REQUIRE(ctx, g->version, KEDGE_ERR_INPUT, "%s is empty: it is no Gmsh mesh", g->scan.name);
  KG_REQUIRE(ctx, g->raw->n_elements > 0, KEDGE_ERR_INPUT,
             "%s has no triangles, quadrilaterals or tetrahedra; if it has physical groups, Gmsh "
             "saved only their elements: put the surface, or volume, into one too, or set "
             "Mesh.SaveAll = 1",
             g->scan.name);
  // 2.2 does not say how many partitions there are: all elements of the first may be all there are.
  if (g->version == KG_GMSH_22 ? g->partition > 1 : g->partition > 0 && g->raw->n_partitions > 1)
    g->raw->partition = g->partition;
  else
    g->raw->n_partitions = 0;
  KG_TRY(find_lost(g));
  if (g->raw->dimension == 3) return KEDGE_OK;
  KG_TRY(check_plane(g));
  return drop_z(g);
}

kedge_status kg_gmsh_parse(kedge_context *ctx, const char *name, const void *data, size_t bytes,
                           kg_raw_mesh *out)
{
  *out = (kg_raw_mesh){.dimension = 2};
  kg_gmsh g = {.raw = out};
  kedge_status status = kg_scan_open(ctx, name, data, bytes, &g.scan);
  while (status == KEDGE_OK) {
    kg_text_skip_blank(&g.scan);
    if (g.scan.at == g.scan.end) break;
    status = read_section(&g);
  }
  if (status == KEDGE_OK) status = check_whole(&g);
  if (status == KEDGE_OK) status = kg_gmsh_geometry(&g);
  kg_scan_close(&g.scan);
  free(g.tags);
  free(g.map.dense);
  free(g.map.sorted);
  free(g.entities);
  free(g.more_groups);
  free(g.types);
  free(g.between);
  if (status != KEDGE_OK) kg_raw_mesh_free(out);
  return status;
}
