#include "space/edge_lines.h"

#include <math.h>
#include <stdlib.h>

#include "device/loop.h"
#include "core/memory.h"
#include "mesh/triangle.h"

enum { NO_PAIR = 3 };

/// Arrays of a walk along lines.
typedef struct walk {
  const kedge_mesh *mesh;
  uint8_t *pair;   ///< [element]: the corner between the sides of the pair, or NO_PAIR
  uint8_t *seen;   ///< [mesh edge]: in a line, or without one
  int32_t *trace;  ///< [mesh edge]: trace edge
} walk;

/// The corner of the smallest angle, if that is small enough; else the element's part of
/// `alignment`.
static int find_pair(const walk *w, int64_t e, double *alignment)
{
  const kedge_mesh *mesh = w->mesh;
  double dx[3], dy[3], most = KG_LINE_COTANGENT;
  int pair = NO_PAIR;
  for (int l = 0; l < 3; ++l) {
    const double *p = mesh->vertices + 2 * (int64_t)mesh->element_vertices[3 * e + l];
    const double *q = mesh->vertices + 2 * (int64_t)mesh->element_vertices[3 * e + (l + 1) % 3];
    dx[l] = q[0] - p[0];
    dy[l] = q[1] - p[1];
  }
  const double twice_area = dx[0] * dy[1] - dx[1] * dy[0];
  for (int l = 0; l < 3; ++l) {  // sides l and l + 2 meet in corner l
    const int k = (l + 2) % 3;
    const double cotangent = -(dx[l] * dx[k] + dy[l] * dy[k]) / twice_area;
    if (cotangent > most) most = cotangent, pair = l;
  }
  if (pair == NO_PAIR) *alignment = fmax(*alignment, sqrt(kg_alignment_squared(dx, dy)));
  return pair;
}

/// Find the pairs; return the largest alignment of the elements that have none.
static double find_pairs(kedge_context *ctx, const walk *w)
{
  double alignment = 0.0;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, w->mesh->n_elements, 1)) \
    reduction(max                                                                  \
              : alignment)
  for (int32_t e = 0; e < w->mesh->n_elements; ++e)
    w->pair[e] = (uint8_t)find_pair(w, e, &alignment);
  return alignment;
}

/// Trace edges of mesh edges: within a section they keep their order.
static void number_edges(const kg_trace_layout *layout, int32_t n_edges, int32_t *trace)
{
  int32_t next[KG_SECTION_COUNT];
  for (int s = 0; s < KG_SECTION_COUNT; ++s) next[s] = kg_section_first(layout, (kg_section)s)[0];
  for (int32_t edge = 0; edge < n_edges; ++edge) trace[edge] = next[layout->edge_section[edge]]++;
}

/// The edge with which an edge is paired in the k-th of its elements; -1: none.
static int32_t partner(const walk *w, int32_t edge, int k)
{
  const kg_side side = w->mesh->edge_sides[2 * (int64_t)edge + k];
  if (side == KG_NO_SIDE) return -1;
  const int32_t e = kg_side_element(side);
  const int corner = w->pair[e], l = kg_side_facet(side), before = (corner + 2) % 3;
  if (corner == NO_PAIR || (l != corner && l != before)) return -1;
  return kg_side_edge(w->mesh, kg_side_of(e, l == corner ? before : corner));
}

/// partner(), unless a line has been there: then -1.
static int32_t unseen_partner(const walk *w, int32_t edge, int k)
{
  const int32_t other = partner(w, edge, k);
  return other >= 0 && !w->seen[other] ? other : -1;
}

/// The next edge of a line that nobody has seen; -1: there is none.
static int32_t next_edge(const walk *w, int32_t edge)
{
  const int32_t next = unseen_partner(w, edge, 0);
  return next >= 0 ? next : unseen_partner(w, edge, 1);
}

static void add_step(const walk *w, kg_edge_lines *lines, int32_t edge)
{
  lines->edge[lines->n_steps++] = w->trace[edge];
  w->seen[edge] = true;
}

/// The line from an edge on, unless it is alone.
static void follow(const walk *w, kg_edge_lines *lines, int32_t edge)
{
  int32_t next = next_edge(w, edge);
  if (next < 0) return;
  lines->begin[lines->n_lines++] = lines->n_steps;
  add_step(w, lines, edge);
  for (; next >= 0; next = next_edge(w, next)) add_step(w, lines, next);
}

/// Unseen edges that a line may end at: those with one neighbour.
static bool is_end(const walk *w, int32_t edge)
{
  return (unseen_partner(w, edge, 0) >= 0) != (unseen_partner(w, edge, 1) >= 0);
}

static void follow_all(const walk *w, const kg_trace_layout *layout, kg_edge_lines *lines)
{
  const int32_t n_edges = w->mesh->n_edges;
  for (int32_t edge = 0; edge < n_edges; ++edge)
    w->seen[edge] = layout->edge_section[edge] == KG_SECTION_DIRICHLET;
  for (int32_t edge = 0; edge < n_edges; ++edge)
    if (!w->seen[edge] && is_end(w, edge)) follow(w, lines, edge);
  for (int32_t edge = 0; edge < n_edges; ++edge)  // what is left closes
    if (!w->seen[edge]) follow(w, lines, edge);
  lines->begin[lines->n_lines] = lines->n_steps;
}

/// The edges of pairs are steps at most, and lines half of them.
static kedge_status alloc_lines(kedge_context *ctx, const walk *w, const kg_trace_layout *layout,
                                kg_edge_lines *out)
{
  size_t steps = 0;
  for (int32_t edge = 0; edge < w->mesh->n_edges; ++edge)
    steps += layout->edge_section[edge] != KG_SECTION_DIRICHLET &&
             (partner(w, edge, 0) >= 0 || partner(w, edge, 1) >= 0);
  KG_TRY(kg_host_alloc(ctx, steps / 2 + 1, sizeof *out->begin, &out->begin));
  return kg_host_alloc(ctx, steps + 1, sizeof *out->edge, &out->edge);
}

/// Give back what lies behind the first numbers of an array.
static void shrink(int32_t **array, size_t count)
{
  int32_t *const smaller = realloc(*array, (count ? count : 1) * sizeof **array);
  if (smaller) *array = smaller;
}

static kedge_status make(kedge_context *ctx, walk *w, const kg_trace_layout *layout,
                         kg_edge_lines *out)
{
  const size_t n_edges = (size_t)w->mesh->n_edges;
  KG_TRY(kg_host_alloc(ctx, (size_t)w->mesh->n_elements, 1, &w->pair));
  out->alignment = find_pairs(ctx, w);
  KG_TRY(alloc_lines(ctx, w, layout, out));
  KG_TRY(kg_host_alloc(ctx, n_edges, 1, &w->seen));
  KG_TRY(kg_host_alloc(ctx, n_edges, sizeof *w->trace, &w->trace));
  number_edges(layout, w->mesh->n_edges, w->trace);
  follow_all(w, layout, out);
  shrink(&out->begin, (size_t)out->n_lines + 1);
  shrink(&out->edge, (size_t)out->n_steps);
  return KEDGE_OK;
}

kedge_status kg_edge_lines_create(kedge_context *ctx, const kedge_mesh *mesh,
                                  const kg_trace_layout *layout, kg_edge_lines *out)
{
  walk w = {.mesh = mesh};
  *out = (kg_edge_lines){0};
  const kedge_status status = make(ctx, &w, layout, out);
  free(w.pair);
  free(w.seen);
  free(w.trace);
  if (status != KEDGE_OK) kg_edge_lines_free(out);
  return status;
}

int64_t kg_edge_lines_bytes(int32_t n_lines, int32_t n_steps)
{
  return (n_lines + 1 + (int64_t)n_steps) * (int64_t)sizeof(int32_t);
}

void kg_edge_lines_free(kg_edge_lines *lines)
{
  free(lines->begin);
  free(lines->edge);
  *lines = (kg_edge_lines){0};
}
