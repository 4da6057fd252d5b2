// Whether a Gmsh file is of a mesh in space. Triangles come before tetrahedra in most files, so
// that the reader would not know yet whether they are elements or faces.
#include "mesh/gmsh.h"

/// Whether a type decides: it is that of tetrahedra, or not read at all.
static bool decides(int32_t type)
{
  const kg_gmsh_type what = kg_gmsh_describe(type);
  return what.order == 0 || what.kind == KG_GMSH_TETRAHEDRON;
}

static kedge_status skip_lines(kg_scan *s, int64_t n)
{
  const char *text;
  size_t length;
  for (int64_t i = 0; i < n && s->at < s->end; ++i) {
    kg_text_rest(s, &text, &length);
    kg_text_skip_blank(s);
  }
  return KEDGE_OK;
}

/// Move behind n elements of a type of 2.2, binary, or of 4.0 and 4.1.
/// @param[in] n_before  numbers in front of the nodes
static kedge_status skip_elements(kg_scan *s, int64_t n, int32_t type, int64_t n_before,
                                  size_t bytes)
{
  if (!s->binary) return skip_lines(s, n);
  const size_t numbers = (size_t)n_before + (size_t)kg_gmsh_describe(type).n_nodes;
  return kg_scan_skip(s, n, numbers * bytes);
}

/// Look for a type that decides.
/// @param[in,out] s      at the end, where the reader refuses types
/// @param[out]    found  0: there is none
static kedge_status look_22(kg_scan *s, int32_t *found)
{
  int64_t n, n_block = 1, number;
  int32_t type, n_int32, n_tags;
  KG_TRY(kg_text_int(s, &n));
  KG_TRY(kg_text_line_end(s));
  for (; n > 0; n -= n_block) {
    if (!s->binary) KG_TRY(kg_text_int(s, &number));
    KG_TRY(kg_scan_int32(s, &type));
    if (s->binary) KG_TRY(kg_scan_int32(s, &n_int32));
    KG_TRY(kg_scan_int32(s, &n_tags));
    *found = decides(type) ? type : 0;
    if (s->binary) n_block = n_int32;
    if (*found != 0 || n_block < 1) break;
    KG_TRY(kg_scan_plausible(s, n_tags, 1, "tags"));
    KG_TRY(skip_elements(s, n_block, type, 1 + (int64_t)n_tags, sizeof n_tags));
  }
  return KEDGE_OK;
}

static kedge_status look_4(kg_scan *s, bool is_40, int32_t *found)
{
  int64_t n_blocks, n;
  int32_t type;
  KG_TRY(kg_scan_int64(s, &n_blocks));
  KG_TRY(kg_scan_skip(s, is_40 ? 1 : 3, sizeof n));
  KG_TRY(kg_scan_record_end(s));
  for (int64_t k = 0; k < n_blocks; ++k) {
    KG_TRY(kg_scan_skip(s, 2, sizeof type));  // dimension and entity
    KG_TRY(kg_scan_int32(s, &type));
    KG_TRY(kg_scan_int64(s, &n));
    *found = n > 0 && decides(type) ? type : 0;
    if (*found != 0) break;
    KG_TRY(kg_scan_record_end(s));
    KG_TRY(skip_elements(s, n, type, 1, is_40 ? sizeof type : sizeof n));
  }
  return KEDGE_OK;
}

kedge_status kg_gmsh_find_dimension(kg_gmsh *g)
{
  kg_scan s = g->scan;
  int32_t type = 0;
  kg_gmsh_type what;
  // What cannot be read here is damaged, and the reader will come to it.
  (void)(g->version == KG_GMSH_22 ? look_22(&s, &type)
                                  : look_4(&s, g->version == KG_GMSH_40, &type));
  if (type == 0) return KEDGE_OK;
  g->raw->dimension = 3;
  return kg_gmsh_find_type(&s, type, &what);
}
