// Boundary edges that lie on other ones, or whose elements lie on other elements.
//
// Boundary edges are found near each other by a tree of boxes. Two lie on each other where their
// ends are on the other one along some length: with the elements on both sides nothing passes
// between them that should; with both on one side area counts twice, as it does where edges cross.
// Shapes within each other have no edges that meet: where a mesh has several parts, an element that
// has the middle of a boundary element in it shows them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/loop.h"
#include "mesh/build.h"
#include "mesh/touch/box_tree.h"

// Places are one within this part of the shorter edge, which is far below the size of any gap that
// a mesh shows,
#define SAME_PLACE 1e-6
// or within what six digits, as many programs write, leave of coordinates; but no more than that
// of the edge.
#define SIX_DIGITS      1.2e-6
#define SIX_DIGITS_MOST 1e-3
// Edges lie on each other along this part of the shorter one at least.
#define SOME_LENGTH 1e-2

enum {
  PIECES = 8,        ///< chords of a curved edge
  LOOK_MOST = 2000,  ///< boxes that an edge, or element, looks at; a sound mesh takes a hundred
  PAIRS_MOST = 64    ///< of these, what it is compared with; a sound mesh takes five
};

/// A boundary edge, along its element.
typedef struct rim {
  int32_t edge, element, vertex[2];
  kg_side side;
  int n;                    ///< chords, 1 where it is straight
  double (*point)[2];       ///< [n + 1]: ends of chords
  double length;            ///< between the ends
  double bend;              ///< most that it is off its chords
  double middle[2], reach;  ///< of a circle around it and what is near to it
  double size;              ///< the largest coordinate
} rim;

typedef struct finder {
  const kg_mesh_builder *b;
  rim *rims;
  double (*points)[2];  ///< of all rims
  kg_box_tree tree;
  int32_t *touches;  ///< [rim]: one that it lies on; -1: none
  bool *laps;        ///< [rim]: it crosses another, or its element lies on one
  double (*at)[2];   ///< [rim]: where
  double *gap;       ///< [rim]: most that ends which lie on each other are apart; INFINITY: one
                     ///< lies on an edge where that has no end
} finder;

static double distance(const double a[2], const double b[2])
{
  const double x = a[0] - b[0], y = a[1] - b[1];
  return sqrt(x * x + y * y);
}

static int chords_of(const kedge_mesh *mesh)
{
  return mesh->nodes ? PIECES : 1;
}

/// @param[in] points  room for the ends of its chords
static rim rim_of(const kedge_mesh *mesh, int32_t edge, double (*points)[2])
{
  rim r = {.edge = edge,
           .side = mesh->edge_sides[2 * (int64_t)edge],
           .n = chords_of(mesh),
           .point = points};
  double along[2];
  r.element = kg_side_element(r.side);
  kg_side_ends(mesh, r.side, r.vertex);
  for (int i = 0; i <= r.n; ++i) {
    kg_side_point(mesh, r.side, 2.0 * i / r.n - 1.0, r.point[i], along);
    for (int k = 0; k < 2; ++k) r.size = fmax(r.size, fabs(r.point[i][k]));
  }
  for (int i = 0; mesh->nodes && i < r.n; ++i) {
    double at[2];
    kg_side_point(mesh, r.side, (2.0 * i + 1.0) / r.n - 1.0, at, along);
    const double middle[2] = {0.5 * (r.point[i][0] + r.point[i + 1][0]),
                              0.5 * (r.point[i][1] + r.point[i + 1][1])};
    r.bend = fmax(r.bend, 1.5 * distance(at, middle));
  }
  r.length = distance(r.point[0], r.point[r.n]);
  kg_side_point(mesh, r.side, 0.0, r.middle, along);
  for (int i = 0; i <= r.n; ++i) r.reach = fmax(r.reach, distance(r.point[i], r.middle));
  r.reach += r.bend + SIX_DIGITS_MOST * r.length;
  return r;
}

/// How far places of two edges are apart that are one.
static double tolerance_of(const rim *a, const rim *b)
{
  const double length = fmin(a->length, b->length), size = fmax(a->size, b->size);
  return fmax(SAME_PLACE * length, fmin(SIX_DIGITS * size, SIX_DIGITS_MOST * length));
}

static kg_box box_of(const rim *r)
{
  const double by = r->bend + tolerance_of(r, r);
  kg_box box = kg_box_around(r->point[0], by);
  for (int i = 1; i <= r->n; ++i) {
    const kg_box other = kg_box_around(r->point[i], by);
    kg_box_add(&box, &other);
  }
  return box;
}

/// The place t of an edge, -1 to 1, that is nearest to a point near to it.
/// @return how far it is
static double project(const kedge_mesh *mesh, const rim *r, const double p[2], double *t)
{
  double at[2], along[2];
  if (!(distance(p, r->middle) <= r->reach)) return INFINITY;
  const double *a = r->point[0], *b = r->point[r->n];
  const double d[2] = {b[0] - a[0], b[1] - a[1]};
  *t = 2.0 * ((p[0] - a[0]) * d[0] + (p[1] - a[1]) * d[1]) / (d[0] * d[0] + d[1] * d[1]) - 1.0;
  for (int steps = mesh->nodes ? 6 : 0; steps > 0; --steps) {
    *t = fmin(fmax(*t, -1.0), 1.0);
    kg_side_point(mesh, r->side, *t, at, along);
    *t += ((p[0] - at[0]) * along[0] + (p[1] - at[1]) * along[1]) /
          (along[0] * along[0] + along[1] * along[1]);
  }
  *t = fmin(fmax(*t, -1.0), 1.0);
  kg_side_point(mesh, r->side, *t, at, along);
  return distance(p, at);
}

/// The part of an edge that lies on another one.
typedef struct contact {
  double begin, end;  ///< -1 to 1, of the first edge
  double gap;         ///< as of the finder
} contact;

/// Widen a contact by an end of one edge that lies on the other; `place` is where on the first.
static void widen(const rim *on, const double p[2], double tolerance, double place, contact *c)
{
  const double gap = fmin(distance(p, on->point[0]), distance(p, on->point[on->n]));
  c->begin = fmin(c->begin, place);
  c->end = fmax(c->end, place);
  c->gap = fmax(c->gap, gap <= tolerance ? gap : INFINITY);
}

/// Whether two edges lie on each other along some length. @param[out] at  the middle of that
static bool lie_on_each_other(const kedge_mesh *mesh, const rim *a, const rim *b, contact *c,
                              double at[2], bool *is_one_side)
{
  const double tolerance = tolerance_of(a, b);
  *c = (contact){INFINITY, -INFINITY, 0.0};
  for (int k = 0; k < 2; ++k) {
    double t;
    const double *p = a->point[k * a->n], *q = b->point[k * b->n];
    if (project(mesh, b, p, &t) <= tolerance) widen(b, p, tolerance, 2.0 * k - 1.0, c);
    if (project(mesh, a, q, &t) <= tolerance) widen(a, q, tolerance, t, c);
  }
  const double length = 0.5 * (c->end - c->begin) * a->length;
  if (!(length > SOME_LENGTH * fmin(a->length, b->length))) return false;
  double t, along[2], other[2], unused[2];
  kg_side_point(mesh, a->side, 0.5 * (c->begin + c->end), at, along);
  if (!(project(mesh, b, at, &t) <= tolerance)) return false;
  kg_side_point(mesh, b->side, t, unused, other);
  *is_one_side = along[0] * other[0] + along[1] * other[1] > 0.0;
  return true;
}

/// Twice the area of a triangle over the length of its side from a to b: how far p is left of that.
static double left_of(const double a[2], const double b[2], const double p[2])
{
  return ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])) / distance(a, b);
}

/// Whether p and q are on two sides of a line, farther off it than `margin`.
static bool are_apart(const double a[2], const double b[2], const double p[2], const double q[2],
                      double margin)
{
  const double s = left_of(a, b, p), t = left_of(a, b, q);
  return (s > margin && t < -margin) || (s < -margin && t > margin);
}

/// Whether two edges that have no vertex in common cross. @param[out] at  near where
static bool cross(const rim *a, const rim *b, double at[2])
{
  const double margin = tolerance_of(a, b) + a->bend + b->bend;
  for (int i = 0; i < a->n; ++i)
    for (int k = 0; k < b->n; ++k) {
      const double *p = a->point[i], *q = a->point[i + 1], *r = b->point[k], *s = b->point[k + 1];
      if (!are_apart(p, q, r, s, margin) || !are_apart(r, s, p, q, margin)) continue;
      const double d = fabs(left_of(r, s, p)), e = fabs(left_of(r, s, q)), part = d / (d + e);
      for (int j = 0; j < 2; ++j) at[j] = p[j] + part * (q[j] - p[j]);
      return true;
    }
  return false;
}

/// An edge that is compared with others.
typedef struct look {
  finder *f;
  int32_t which;
  int pairs;
} look;

static bool have_common_vertex(const rim *a, const rim *b)
{
  return a->vertex[0] == b->vertex[0] || a->vertex[0] == b->vertex[1] ||
         a->vertex[1] == b->vertex[0] || a->vertex[1] == b->vertex[1];
}

/// The first edge that one lies on, or that it crosses, is enough.
static bool compare(void *user, int32_t item)
{
  look *l = user;
  finder *f = l->f;
  const rim *a = &f->rims[l->which], *b = &f->rims[item];
  contact c;
  double at[2];
  bool laps;
  if (a->element == b->element) return true;
  const bool touches = lie_on_each_other(f->b->mesh, a, b, &c, at, &laps);
  if (!touches) laps = !have_common_vertex(a, b) && cross(a, b, at);
  if (!touches && !laps) return ++l->pairs < PAIRS_MOST;
  memcpy(f->at[l->which], at, sizeof at);
  f->laps[l->which] = laps;
  if (!laps) f->touches[l->which] = item;
  f->gap[l->which] = c.gap;
  return false;
}

static kedge_status open_finder(finder *f)
{
  const kedge_mesh *mesh = f->b->mesh;
  const size_t n = (size_t)mesh->n_boundary_edges;
  kedge_context *ctx = f->b->ctx;
  KG_TRY(kg_host_alloc(ctx, n, sizeof *f->rims, &f->rims));
  KG_TRY(kg_host_alloc(ctx, n * (size_t)(chords_of(mesh) + 1), sizeof *f->points, &f->points));
  KG_TRY(kg_host_alloc(ctx, n, sizeof *f->touches, &f->touches));
  KG_TRY(kg_host_calloc(ctx, n, sizeof *f->laps, &f->laps));
  KG_TRY(kg_host_alloc(ctx, n, sizeof *f->at, &f->at));
  KG_TRY(kg_host_calloc(ctx, n, sizeof *f->gap, &f->gap));
  kg_box *boxes;
  KG_TRY(kg_host_alloc(ctx, n, sizeof *boxes, &boxes));
#pragma omp parallel for num_threads(kg_loop_threads(ctx, (int64_t)n, 100))
  for (size_t i = 0; i < n; ++i) {
    double(*const points)[2] = f->points + i * (size_t)(chords_of(mesh) + 1);
    f->rims[i] = rim_of(mesh, mesh->group_edges[i], points);
    boxes[i] = box_of(&f->rims[i]);
    f->touches[i] = -1;
  }
  const kedge_status status = kg_box_tree_create(ctx, (int32_t)n, boxes, &f->tree);
  free(boxes);
  return status;
}

static void close_finder(finder *f)
{
  free(f->rims);
  free(f->points);
  free(f->touches);
  free(f->laps);
  free(f->at);
  free(f->gap);
  kg_box_tree_free(&f->tree);
}

static void compare_all(finder *f)
{
  const int32_t n = f->b->mesh->n_boundary_edges;
#pragma omp parallel for num_threads(kg_loop_threads(f->b->ctx, n, 100))
  for (int32_t i = 0; i < n; ++i)
    kg_box_tree_find(&f->tree, &f->tree.box[0][i], LOOK_MOST, compare, &(look){f, i, 0});
}

/// An element as others may lie in it.
typedef struct room {
  finder *f;
  int32_t element;
  double bend;  ///< its sides are off their chords by that, at most
  int32_t found;
  int items;
} room;

/// Items 2 i and 2 i + 1 are the middles of the element of rim i and of the rim itself.
static void item_at(const finder *f, int32_t item, double at[2])
{
  const rim *r = &f->rims[item / 2];
  if (item % 2)
    memcpy(at, r->middle, sizeof r->middle);
  else
    kg_element_middle(f->b->mesh, r->element, at);
}

/// Whether an item lies in an element, off its sides. The middle of another element may be on them.
static bool enter(void *user, int32_t item)
{
  room *to = user;
  const rim *r = &to->f->rims[item / 2];
  const kedge_mesh *mesh = to->f->b->mesh;
  const int n = kg_block_of(mesh, to->element)->cell->n_vertices;
  const int32_t *v = kg_element_vertices(mesh, to->element);
  const double off = item % 2 ? r->bend + tolerance_of(r, r) : 0.0;
  double at[2];
  if (r->element == to->element) return true;
  item_at(to->f, item, at);
  for (int i = 0; i < n; ++i) {
    const double *a = mesh->vertices + 2 * (int64_t)v[i];
    const double *b = mesh->vertices + 2 * (int64_t)v[(i + 1) % n];
    if (!(left_of(a, b, at) >= to->bend + off - 1e-9 * distance(a, b)))
      return ++to->items < PAIRS_MOST;
  }
  to->found = item;
  return false;
}

/// How far the sides of an element are off their chords.
static double bend_of(const kedge_mesh *mesh, int32_t e)
{
  double bend = 0.0;
  for (int l = 0; mesh->nodes && l < kg_block_of(mesh, e)->cell->n_facets; ++l) {
    double p[3][2], along[2];
    for (int k = 0; k < 3; ++k) kg_side_point(mesh, kg_side_of(e, l), k - 1.0, p[k], along);
    bend = fmax(bend, 1.5 * fabs(left_of(p[0], p[2], p[1])));
  }
  return bend;
}

static kg_box box_of_element(const kedge_mesh *mesh, int32_t e)
{
  const int32_t *v = kg_element_vertices(mesh, e);
  kg_box box = kg_box_around(mesh->vertices + 2 * (int64_t)v[0], 0.0);
  for (int i = 1; i < kg_block_of(mesh, e)->cell->n_vertices; ++i) {
    const kg_box other = kg_box_around(mesh->vertices + 2 * (int64_t)v[i], 0.0);
    kg_box_add(&box, &other);
  }
  return box;
}

/// A tree of all items.
static kedge_status plant_items(finder *f)
{
  const int32_t n = 2 * f->b->mesh->n_boundary_edges;
  kg_box *boxes;
  kg_box_tree_free(&f->tree);
  KG_TRY(kg_host_alloc(f->b->ctx, (size_t)n, sizeof *boxes, &boxes));
  for (int32_t i = 0; i < n; ++i) {
    double at[2];
    item_at(f, i, at);
    boxes[i] = kg_box_around(at, 0.0);
  }
  const kedge_status status = kg_box_tree_create(f->b->ctx, n, boxes, &f->tree);
  free(boxes);
  return status;
}

/// Elements of other parts that boundary elements lie in.
static kedge_status find_within(finder *f)
{
  const kedge_mesh *mesh = f->b->mesh;
  const int32_t n = mesh->n_elements;
  int32_t *found;
  KG_TRY(plant_items(f));
  KG_TRY(kg_host_alloc(f->b->ctx, (size_t)n, sizeof *found, &found));
#pragma omp parallel for num_threads(kg_loop_threads(f->b->ctx, n, 20))
  for (int32_t e = 0; e < n; ++e) {
    room r = {f, e, bend_of(mesh, e), -1, 0};
    const kg_box box = box_of_element(mesh, e);
    kg_box_tree_find(&f->tree, &box, LOOK_MOST, enter, &r);
    found[e] = r.found;
  }
  for (int32_t e = 0; e < n; ++e) {
    const int32_t i = found[e] / 2;
    if (found[e] < 0 || f->laps[i]) continue;
    f->laps[i] = true;
    item_at(f, found[e], f->at[i]);
  }
  free(found);
  return KEDGE_OK;
}

/// Take what was found into the mesh.
static kedge_status take(const finder *f)
{
  kedge_mesh *mesh = f->b->mesh;
  kedge_mesh_info *info = &mesh->info;
  const int32_t n = mesh->n_boundary_edges;
  int32_t *part = NULL, n_parts, n_touches = 0;
  double gap = 0.0, shortest = INFINITY;
  for (int32_t i = 0; i < n; ++i) {
    n_touches += f->touches[i] >= 0 && !f->laps[i];
    if (!f->laps[i]) continue;
    if (info->overlapping_edges++ == 0) memcpy(info->overlapping_at, f->at[i], sizeof f->at[i]);
  }
  if (n_touches == 0) return KEDGE_OK;
  if (info->parts > 1) KG_TRY(kg_mesh_parts(f->b->ctx, mesh, &part, &n_parts));
  const kedge_status status =
      kg_host_alloc(f->b->ctx, (size_t)n_touches, sizeof *mesh->touches, &mesh->touches);
  for (int32_t i = 0; status == KEDGE_OK && i < n; ++i) {
    if (f->touches[i] < 0 || f->laps[i]) continue;
    if (mesh->n_touches == 0) memcpy(info->coincident_at, f->at[i], sizeof f->at[i]);
    const rim *a = &f->rims[i], *b = &f->rims[f->touches[i]];
    kg_touch *to = &mesh->touches[mesh->n_touches++];
    *to = (kg_touch){
        a->edge, b->edge, part && part[a->element] != part[b->element], {f->at[i][0], f->at[i][1]}};
    ++mesh->groups[mesh->edge_group[a->edge]].coincident;
    gap = fmax(gap, f->gap[i]);
    shortest = fmin(shortest, a->length);
  }
  free(part);
  info->coincident_edges = mesh->n_touches;
  // Vertices join where ends lie on ends; twice their distance, or a part of the edges, does it.
  info->join_distance = gap < INFINITY ? fmax(2.0 * gap, 1e-9 * shortest) : 0.0;
  return status;
}

kedge_status kg_build_touch(kg_mesh_builder *b)
{
  finder f = {.b = b};
  kedge_status status = open_finder(&f);
  if (status == KEDGE_OK) compare_all(&f);
  const bool fits = b->mesh->n_boundary_edges <= INT32_MAX / 2;
  if (status == KEDGE_OK && b->mesh->info.parts > 1 && fits) status = find_within(&f);
  if (status == KEDGE_OK) status = take(&f);
  close_finder(&f);
  return status;
}
