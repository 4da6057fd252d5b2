// The edges of groups as curves, in space their faces: the trace at their nodes, and the numerical
// flux of each.
#include <math.h>
#include <stdlib.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "core/memory.h"
#include "core/writable.h"
#include "io/vtkhdf.h"
#include "solution/solution.h"

enum { CHUNK = 4096, NODES = KG_SPACE_FACET_MAX };
_Static_assert(NODES > KG_VTKHDF_ORDER_MAX, "curves have fewer nodes than faces");

/// The nodes of a face: where they are, as shares of its second and third corner, and the modes of
/// the trace there.
typedef struct face_nodes {
  double share[NODES][2], psi[NODES][KG_SPACE_FACET_MAX];
} face_nodes;

/// Work of one writer.
typedef struct writer {
  const kedge_solution *s;
  int order;               ///< of the cells
  int nodes;               ///< of a cell
  face_nodes *face[2];     ///< in space: as their corners are sorted; the last two exchanged
  double *values;          ///< [CHUNK][node][3]
  double *trace, *number;  ///< [CHUNK][node], [CHUNK]
  int32_t *tag, *inside;   ///< [CHUNK]
} writer;

/// Where node k of a curve of an order is, from -1 to 1: both ends, then those between.
static double place_of(int order, int k)
{
  const int i = k == 0 ? 0 : k == 1 ? order : k - 1;
  return -1.0 + 2.0 * i / order;
}

/// The nodes of a curve, and the trace there, whose modes run from the lower vertex.
static void fill_curve(const writer *w, int32_t facet, double *xyz, double *trace)
{
  const kedge_mesh *const mesh = w->s->mesh;
  const int m = w->s->m;
  const kg_side side = w->s->numbers.side[facet];
  const double *const modes = w->s->numbers.facets + (int64_t)facet * (1 + m) + 1;
  int32_t ends[2];
  kg_side_ends(mesh, side, ends);
  for (int k = 0; k <= w->order; ++k) {
    const double t = place_of(w->order, k);
    double psi[KEDGE_ORDER_MAX + 1], at[2], along[2], value = 0.0;
    kg_side_point(mesh, side, t, at, along);
    kg_legendre(m - 1, ends[0] > ends[1] ? -t : t, psi);
    for (int i = 0; i < m; ++i) value += psi[i] * modes[i];
    for (int d = 0; d < 2; ++d) xyz[3 * k + d] = at[d];
    xyz[3 * k + 2] = 0.0;
    trace[k] = value;
  }
}

static void fill_face_nodes(int order, bool turned, face_nodes *of)
{
  double r[NODES], t[NODES];
  kg_lagrange_nodes(order, r, t);
  for (int k = 0; k < kg_triangle_modes(order); ++k) {
    const double at[2] = {turned ? t[k] : r[k], turned ? r[k] : t[k]};
    for (int d = 0; d < 2; ++d) of->share[k][d] = 0.5 * (1.0 + at[d]);
    kg_dubiner(order, at[0], at[1], of->psi[k], NULL, NULL);
  }
}

/// The nodes of a face, in an order seen from outside as counterclockwise, and the trace there.
static void fill_face(const writer *w, int32_t facet, double *xyz, double *trace)
{
  const kedge_mesh *const mesh = w->s->mesh;
  const int m = w->s->m;
  const kg_side side = w->s->numbers.side[facet];
  const double *const modes = w->s->numbers.facets + (int64_t)facet * (1 + m) + 1;
  const face_nodes *const of = w->face[kg_space_is_above(mesh, side)];
  int32_t v[3];
  kg_side_corners(mesh, side, v);
  const double *const a = mesh->vertices + 3 * (int64_t)v[0];
  const double *const b = mesh->vertices + 3 * (int64_t)v[1];
  const double *const c = mesh->vertices + 3 * (int64_t)v[2];
  for (int k = 0; k < w->nodes; ++k) {
    const double to_b = of->share[k][0], to_c = of->share[k][1];
    for (int d = 0; d < 3; ++d)
      xyz[3 * k + d] = (1.0 - to_b - to_c) * a[d] + to_b * b[d] + to_c * c[d];
    trace[k] = 0.0;
    for (int i = 0; i < m; ++i) trace[k] += of->psi[k][i] * modes[i];
  }
}

/// The length of a side, by a rule that curves of every order have enough points of.
static double length_of(const kedge_mesh *mesh, kg_side side)
{
  enum { N = 4 * KG_GEOMETRY_MAX };
  double t[N], weight[N], length = 0.0;
  const int n = mesh->nodes ? N : 1;
  kg_gauss_jacobi(n, 0, t, weight);
  for (int q = 0; q < n; ++q) {
    double at[2], along[2];
    kg_side_point(mesh, side, t[q], at, along);
    length += weight[q] * hypot(along[0], along[1]);
  }
  return length;
}

/// The length of a side, in space its area.
static double size_of(const kedge_mesh *mesh, kg_side side)
{
  return kg_mesh_in_space(mesh) ? kg_space_area(mesh, kg_side_edge(mesh, side))
                                : length_of(mesh, side);
}

static kedge_status write_chunk(const writer *w, kg_vtkhdf *file, int32_t first, int32_t count)
{
  const kg_numbers *const of = &w->s->numbers;
  const kedge_mesh *const mesh = w->s->mesh;
  const int n = w->nodes, row = 1 + w->s->m;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t facet = first + i, mark = mesh->edge_group[of->edge[facet]];
    double *const xyz = w->values + (int64_t)3 * n * i, *const trace = w->trace + (int64_t)n * i;
    if (kg_mesh_in_space(mesh))
      fill_face(w, facet, xyz, trace);
    else
      fill_curve(w, facet, xyz, trace);
    w->tag[i] = mesh->groups[kg_group_of_edge(mark)].tag;
    w->inside[i] = mark < 0;
    w->number[i] = of->facets[(int64_t)facet * row] / size_of(mesh, of->side[facet]);
  }
  KG_TRY(kg_vtkhdf_write_points(file, first, count, w->values));
  KG_TRY(kg_vtkhdf_write(file, "trace", first, count, w->trace));
  KG_TRY(kg_vtkhdf_write(file, "group", first, count, w->tag));
  KG_TRY(kg_vtkhdf_write(file, "inside", first, count, w->inside));
  return kg_vtkhdf_write(file, "flux", first, count, w->number);
}

static kedge_status write_all(const writer *w, kg_vtkhdf *file)
{
  const int32_t n = w->s->numbers.n_facets;
  kg_vtkhdf_point_field(file, "trace", 1);
  kg_vtkhdf_cell_field(file, "group", KG_ITEM_I32, 1);
  kg_vtkhdf_cell_field(file, "inside", KG_ITEM_I32, 1);
  kg_vtkhdf_cell_field(file, "flux", KG_ITEM_F64, 1);
  kg_vtkhdf_number(file, "order", w->s->report.order);
  kg_vtkhdf_number(file, "converged", w->s->report.converged);
  kg_vtkhdf_number(file, "relative_residual", w->s->report.relative_residual);
  for (int32_t first = 0; first < n; first += CHUNK)
    KG_TRY(write_chunk(w, file, first, n - first < CHUNK ? n - first : CHUNK));
  return KEDGE_OK;
}

static kedge_status allocate(writer *w)
{
  kedge_context *const ctx = w->s->ctx;
  for (int turned = 0; turned < 2 && kg_mesh_in_space(w->s->mesh); ++turned) {
    KG_TRY(kg_host_alloc(ctx, 1, sizeof *w->face[turned], &w->face[turned]));
    fill_face_nodes(w->order, turned, w->face[turned]);
  }
  KG_TRY(kg_host_alloc(ctx, CHUNK, 3 * NODES * sizeof *w->values, &w->values));
  KG_TRY(kg_host_alloc(ctx, CHUNK, NODES * sizeof *w->trace, &w->trace));
  KG_TRY(kg_host_alloc(ctx, CHUNK, sizeof *w->number, &w->number));
  KG_TRY(kg_host_alloc(ctx, CHUNK, sizeof *w->tag, &w->tag));
  return kg_host_alloc(ctx, CHUNK, sizeof *w->inside, &w->inside);
}

/// The order of the cells. A straight edge has the trace as a polynomial of order P; a curve needs
/// that of the mesh too.
static int order_of(const kedge_solution *s)
{
  const int geometry = s->mesh->nodes ? s->mesh->geometry : 1;
  const int order = s->size.order > geometry ? s->size.order : geometry;
  return order < KG_VTKHDF_ORDER_MAX ? order : KG_VTKHDF_ORDER_MAX;
}

kedge_status kedge_solution_write_boundary(const kedge_solution *s, const char *path)
{
  KG_REQUIRE(NULL, s, KEDGE_ERR_ARG, "kedge_solution_write_boundary: the solution is NULL");
  KG_REQUIRE(s->ctx, path, KEDGE_ERR_ARG, "kedge_solution_write_boundary: path is NULL");
  const bool in_space = kg_mesh_in_space(s->mesh);
  kg_writable named = {.path = path, .what = "output"};
  KG_REQUIRE(s->ctx, kg_writable_named(&named, ".vtkhdf", ".hdf"), KEDGE_ERR_ARG, "%s",
             named.sentence);
  KG_REQUIRE(s->ctx, s->numbers.n_facets > 0, KEDGE_ERR_ARG,
             "kedge_solution_write_boundary: the solution has no %s of groups",
             in_space ? "faces" : "edges");
  writer w = {.s = s, .order = order_of(s)};
  w.nodes = in_space ? kg_triangle_modes(w.order) : w.order + 1;
  kg_vtkhdf *file = NULL;
  kedge_status status = allocate(&w);
  if (status == KEDGE_OK) {
    const kg_vtkhdf_cells cells = {.n = s->numbers.n_facets, .lines = !in_space};
    status = kg_vtkhdf_create(s->ctx, path, w.order, &cells, &file);
  }
  if (status == KEDGE_OK) status = write_all(&w, file);
  if (status == KEDGE_OK)
    status = kg_vtkhdf_finish(file);
  else
    kg_vtkhdf_abandon(file);
  for (int turned = 0; turned < 2; ++turned) free(w.face[turned]);
  free(w.values);
  free(w.trace);
  free(w.number);
  free(w.tag);
  free(w.inside);
  return status;
}
