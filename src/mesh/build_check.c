#include <math.h>
#include <stdio.h>

#include "device/loop.h"
#include "core/memory.h"
#include "mesh/build.h"
#include "mesh/triangle.h"

void kg_build_describe(const kg_mesh_builder *b, int64_t raw_element, char text[KG_ELEMENT_TEXT])
{
  const kg_raw_mesh *raw = b->raw;
  const int32_t *v = kg_raw_corners(raw, raw_element);
  const kg_cell *cell = kg_raw_cell(raw, raw_element);
  int n;
  if (raw->element_lines)
    n = snprintf(text, KG_ELEMENT_TEXT, "the %s in line %lld", cell->name,
                 (long long)raw->element_lines[raw_element]);
  else
    n = snprintf(text, KG_ELEMENT_TEXT, "%s %lld (from 0)", cell->name, (long long)raw_element);
  for (int i = 0; i < cell->n_vertices; ++i) {
    if (v[i] < 0 || v[i] >= raw->n_vertices) continue;
    const double *p = raw->vertices + raw->dimension * (int64_t)v[i];
    n += snprintf(text + n, (size_t)(KG_ELEMENT_TEXT - n), "%s(%.9g, %.9g",
                  i ? ", " : " with corners ", p[0], p[1]);
    n += raw->dimension == 3 ? snprintf(text + n, (size_t)(KG_ELEMENT_TEXT - n), ", %.9g)", p[2])
                             : snprintf(text + n, (size_t)(KG_ELEMENT_TEXT - n), ")");
  }
}

/// A quadrilateral is convex when it turns the same way in all of its corners: where two sides
/// cross or a corner points inwards, it turns both ways.
static kg_fault examine_quadrilateral(const double *vertices, int64_t n_vertices, const int32_t *v,
                                      bool *clockwise)
{
  const double *p[4];
  for (int i = 0; i < 4; ++i) {
    if (v[i] < 0 || v[i] >= n_vertices) return KG_BAD_NUMBER;
    for (int k = 0; k < i; ++k)
      if (v[k] == v[i]) return KG_REPEATED;
    p[i] = vertices + 2 * (int64_t)v[i];
  }
  double longest = 0.0;
  for (int i = 0; i < 4; ++i) longest = fmax(longest, kg_distance_squared(p[i], p[(i + 1) % 4]));
  int left = 0, right = 0;
  for (int i = 0; i < 4; ++i) {
    const double *before = p[(i + 3) % 4], *next = p[(i + 1) % 4];
    const double turn =
        (p[i][0] - before[0]) * (next[1] - p[i][1]) - (p[i][1] - before[1]) * (next[0] - p[i][0]);
    left += turn > KG_FLATNESS * longest;
    right += turn < -KG_FLATNESS * longest;
  }
  *clockwise = right > left;
  if (left == 4 || right == 4) return KG_SOUND;
  return left && right ? KG_NOT_CONVEX : KG_FLAT;
}

/// A curved element is sound when J has one sign at the points of a rule and in the corners.
static kg_fault examine_curved(const kg_mesh_builder *b, int64_t e, bool *clockwise)
{
  const kg_raw_mesh *raw = b->raw;
  const int32_t *v = kg_raw_corners(raw, e);
  const kg_curve *curve = kg_curve_of(b->curves, kg_raw_cell(raw, e));
  for (int i = 0; i < curve->cell->n_vertices; ++i) {
    if (v[i] < 0 || v[i] >= raw->n_vertices) return KG_BAD_NUMBER;
    for (int k = 0; k < i; ++k)
      if (v[k] == v[i]) return KG_REPEATED;
  }
  double smallest;
  *clockwise = kg_curve_area(curve, kg_raw_nodes(raw, e), &smallest, NULL) < 0.0;
  return smallest > KG_FLATNESS ? KG_SOUND : KG_TURNED_OVER;
}

static kg_fault examine(const kg_mesh_builder *b, int64_t e, bool *clockwise)
{
  const kg_raw_mesh *raw = b->raw;
  const int32_t *v = kg_raw_corners(raw, e);
  if (raw->dimension == 3) return kg_space_examine(raw, v);
  if (raw->nodes) return examine_curved(b, e, clockwise);
  if (kg_raw_cell(raw, e) == &kg_quadrilateral)
    return examine_quadrilateral(raw->vertices, raw->n_vertices, v, clockwise);
  return kg_examine_triangle(raw->vertices, raw->n_vertices, v, KG_FLATNESS, clockwise);
}

static kedge_status refuse_number(const kg_mesh_builder *b, int64_t e, const char *text)
{
  const int32_t *v = kg_raw_corners(b->raw, e);
  char list[64];
  int n = 0;
  for (int i = 0; i < kg_raw_cell(b->raw, e)->n_vertices; ++i)
    n += snprintf(list + n, sizeof list - (size_t)n, "%s%d", i ? ", " : "", v[i]);
  return KG_FAIL(b->ctx, KEDGE_ERR_INPUT,
                 "%s: %s uses vertices %s, but vertices are numbered from 0 to %lld", b->source,
                 text, list, (long long)b->raw->n_vertices - 1);
}

static kedge_status refuse(const kg_mesh_builder *b, int64_t e)
{
  char text[KG_ELEMENT_TEXT];
  kg_build_describe(b, e, text);
  bool unused;
  const kg_fault fault = examine(b, e, &unused);
  if (fault == KG_BAD_NUMBER) return refuse_number(b, e, text);
  if (fault == KG_TURNED_OVER) return kg_build_refuse_turned(b, e);
  KG_REQUIRE(b->ctx, fault != KG_SOUND, KEDGE_ERR_INTERNAL, "%s: nothing is wrong with %s",
             b->source, text);
  const char *const what =
      fault == KG_NOT_CONVEX   ? "not convex; move its vertices, give them in the order around it, "
                                 "or split it into two triangles"
      : fault == KG_REPEATED   ? "degenerate: it uses a vertex twice; remove it from the mesh"
      : b->raw->dimension == 3 ? "degenerate: it has no volume; remove it or move its vertices"
      : kg_raw_cell(b->raw, e) == &kg_triangle
          ? "degenerate: it has no area; remove it or move its vertices"
          : "degenerate: three of its corners lie on a line; move its vertices, or make it a "
            "triangle";
  return KG_FAIL(b->ctx, KEDGE_ERR_INPUT, "%s: %s is %s", b->source, text, what);
}

static bool has_place(const kg_raw_mesh *raw, int64_t v)
{
  const double *p = raw->vertices + raw->dimension * v;
  if (raw->dimension == 2) return kg_is_coordinate(p[0]) && kg_is_coordinate(p[1]);
  return fmax(fabs(p[0]), fmax(fabs(p[1]), fabs(p[2]))) <= KG_SPACE_COORDINATE_MAX &&
         !isnan(p[0] + p[1] + p[2]);
}

/// The first vertex without a place that an element uses; INT64_MAX: there is none. Others are
/// spare: numbers that only fill a gap.
static int64_t used_without_place(const kg_raw_mesh *raw)
{
  int64_t first = INT64_MAX;
  for (int64_t e = 0; e < raw->n_elements; ++e)
    for (int i = 0; i < kg_raw_cell(raw, e)->n_vertices; ++i) {
      const int32_t v = kg_raw_corners(raw, e)[i];
      if (v >= 0 && v < raw->n_vertices && v < first && !has_place(raw, v)) first = v;
    }
  return first;
}

static kedge_status check_vertices(const kg_mesh_builder *b)
{
  const kg_raw_mesh *raw = b->raw;
  int64_t bad = INT64_MAX;
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, raw->n_vertices, 1)) reduction(min \
                                                                                            : bad)
  for (int64_t v = 0; v < raw->n_vertices; ++v)
    if (!has_place(raw, v) && v < bad) bad = v;
  if (bad != INT64_MAX) bad = used_without_place(raw);
  if (bad == INT64_MAX) return KEDGE_OK;
  const double *p = raw->vertices + raw->dimension * bad;
  if (raw->dimension == 3)
    return KG_FAIL(b->ctx, KEDGE_ERR_INPUT,
                   "%s: vertex %lld (from 0) has the coordinates (%g, %g, %g); they must be finite "
                   "and below 1e100",
                   b->source, (long long)bad, p[0], p[1], p[2]);
  return KG_FAIL(b->ctx, KEDGE_ERR_INPUT,
                 "%s: vertex %lld (from 0) has the coordinates (%g, %g); they must be finite and "
                 "below 1e150",
                 b->source, (long long)bad, p[0], p[1]);
}

kedge_status kg_build_check(kg_mesh_builder *b)
{
  const kg_raw_mesh *raw = b->raw;
  KG_REQUIRE(b->ctx, raw->n_elements > 0, KEDGE_ERR_INPUT, "%s: the mesh has no elements",
             b->source);
  KG_REQUIRE(b->ctx, raw->n_elements <= KG_ELEMENTS_MAX && raw->n_vertices <= INT32_MAX,
             KEDGE_ERR_INPUT,
             "%s: %lld elements and %lld vertices are more than kedge can number (%d elements)",
             b->source, (long long)raw->n_elements, (long long)raw->n_vertices, KG_ELEMENTS_MAX);
  KG_TRY(check_vertices(b));
  KG_TRY(kg_host_calloc(b->ctx, (size_t)raw->n_elements, sizeof *b->clockwise, &b->clockwise));
  int64_t bad = INT64_MAX, turned = 0;
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, raw->n_elements, 1)) \
    reduction(min : bad) reduction(+ : turned)
  for (int64_t e = 0; e < raw->n_elements; ++e) {
    if (examine(b, e, &b->clockwise[e]) != KG_SOUND && e < bad) bad = e;
    turned += b->clockwise[e];
  }
  if (bad != INT64_MAX) return refuse(b, bad);
  b->mesh->info.turned_elements = turned;
  return KEDGE_OK;
}
