// The edges of groups as curves: the trace at their nodes, and the numerical flux of each.
#include <math.h>
#include <stdlib.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "core/memory.h"
#include "core/writable.h"
#include "io/vtkhdf.h"
#include "solution/solution.h"

enum { CHUNK = 4096, NODES = KG_VTKHDF_ORDER_MAX + 1 };

/// Work of one writer.
typedef struct writer {
  const kedge_solution *s;
  int order;               ///< of the curves
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

/// The nodes of a facet, and the trace there, whose modes run from the lower vertex.
static void fill_nodes(const writer *w, int32_t facet, double *xyz, double *trace)
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

static kedge_status write_chunk(const writer *w, kg_vtkhdf *file, int32_t first, int32_t count)
{
  const kg_numbers *const of = &w->s->numbers;
  const kedge_mesh *const mesh = w->s->mesh;
  const int n = w->order + 1, row = 1 + w->s->m;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t facet = first + i, mark = mesh->edge_group[of->edge[facet]];
    fill_nodes(w, facet, w->values + (int64_t)3 * n * i, w->trace + (int64_t)n * i);
    w->tag[i] = mesh->groups[kg_group_of_edge(mark)].tag;
    w->inside[i] = mark < 0;
    w->number[i] = of->facets[(int64_t)facet * row] / length_of(mesh, of->side[facet]);
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
  KG_TRY(kg_host_alloc(ctx, CHUNK, 3 * NODES * sizeof *w->values, &w->values));
  KG_TRY(kg_host_alloc(ctx, CHUNK, NODES * sizeof *w->trace, &w->trace));
  KG_TRY(kg_host_alloc(ctx, CHUNK, sizeof *w->number, &w->number));
  KG_TRY(kg_host_alloc(ctx, CHUNK, sizeof *w->tag, &w->tag));
  return kg_host_alloc(ctx, CHUNK, sizeof *w->inside, &w->inside);
}

static int larger(int a, int b)
{
  return a > b ? a : b;
}

kedge_status kedge_solution_write_boundary(const kedge_solution *s, const char *path)
{
  KG_REQUIRE(NULL, s, KEDGE_ERR_ARG, "kedge_solution_write_boundary: the solution is NULL");
  KG_REQUIRE(s->ctx, path, KEDGE_ERR_ARG, "kedge_solution_write_boundary: path is NULL");
  kg_writable named = {.path = path, .what = "output"};
  KG_REQUIRE(s->ctx, kg_writable_named(&named, ".vtkhdf", ".hdf"), KEDGE_ERR_ARG, "%s",
             named.sentence);
  KG_REQUIRE(s->ctx, s->numbers.n_facets > 0, KEDGE_ERR_ARG,
             "kedge_solution_write_boundary: the solution has no edges of groups");
  // A straight edge has the trace as a polynomial of order P; a curve needs that of the mesh too.
  const int order = larger(s->size.order, s->mesh->nodes ? s->mesh->geometry : 1);
  writer w = {.s = s, .order = order < KG_VTKHDF_ORDER_MAX ? order : KG_VTKHDF_ORDER_MAX};
  kg_vtkhdf *file = NULL;
  kedge_status status = allocate(&w);
  if (status == KEDGE_OK) {
    const kg_vtkhdf_cells cells = {.n = s->numbers.n_facets, .lines = true};
    status = kg_vtkhdf_create(s->ctx, path, w.order, &cells, &file);
  }
  if (status == KEDGE_OK) status = write_all(&w, file);
  if (status == KEDGE_OK)
    status = kg_vtkhdf_finish(file);
  else
    kg_vtkhdf_abandon(file);
  free(w.values);
  free(w.trace);
  free(w.number);
  free(w.tag);
  free(w.inside);
  return status;
}
