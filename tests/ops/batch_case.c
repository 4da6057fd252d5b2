#include "batch_case.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "grid.h"
#include "ops/trace/trace_apply.h"
#include "ops/numbering/trace_arrays.h"

static void *allocate(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

size_t batch_case_unknowns(const batch_case *c)
{
  return (size_t)c->mesh->n_edges * (size_t)c->m;
}

int batch_case_rows(const batch_case *c, int32_t e)
{
  return kg_block_of(c->mesh, e)->cell->n_facets * c->m;
}

double batch_case_local(const batch_case *c, int32_t e, int row, int column)
{
  const int most = 4 * c->m;
  return c->local[(int64_t)e * most * most + row * batch_case_rows(c, e) + column];
}

int64_t batch_case_unknown(const batch_case *c, int32_t e, int row)
{
  const int64_t edge = kg_element_edges(c->mesh, e)[row / c->m] >> 1;
  return edge * c->m + row % c->m;
}

bool batch_case_is_free(const batch_case *c, int32_t edge)
{
  return c->trace_of_edge[edge] < c->layout.count.n_free;
}

void batch_case_ends(const batch_case *c, int32_t edge, int32_t vertex[2])
{
  const kg_side side = c->mesh->edge_sides[2 * (size_t)edge];
  const int32_t e = kg_side_element(side);
  const int l = kg_side_facet(side), n = kg_block_of(c->mesh, e)->cell->n_facets;
  const int32_t *v = kg_element_vertices(c->mesh, e);
  const int32_t a = v[l], b = v[(l + 1) % n];
  vertex[0] = a < b ? a : b;
  vertex[1] = a < b ? b : a;
}

/// Random numbers of an element, whatever the cut; K^e is positive definite by its diagonal.
static void make_random(batch_case *c)
{
  const int most = 4 * c->m;
  c->local = allocate((size_t)c->mesh->n_elements * (size_t)(most * most), sizeof *c->local);
  c->load = allocate((size_t)c->mesh->n_elements * (size_t)most, sizeof *c->load);
  for (int32_t e = 0; e < c->mesh->n_elements; ++e) {
    const int n = batch_case_rows(c, e);
    uint64_t seed = 77 + (uint64_t)e;
    double *local = c->local + (int64_t)e * most * most;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j <= i; ++j) local[i * n + j] = local[j * n + i] = test_random(&seed);
      local[i * n + i] += n;
      c->load[(int64_t)e * most + i] = test_random(&seed);
    }
  }
}

/// A number for each row of all lanes.
static void *put_lanes(batch_case *c, double (*value)(const batch_case *, int32_t, int))
{
  const kg_trace_arrays *arrays = &c->batch.arrays;
  const size_t count = (size_t)c->m * kg_lane_sides(&arrays->lanes);
  double *host = allocate(count, sizeof *host);
  for (size_t i = 0; i < count; ++i) host[i] = NAN;
  for (int32_t e = 0; e < c->mesh->n_elements; ++e) {
    const int32_t lane = kg_lane_of(&c->layout.batches, e);
    for (int row = 0; row < batch_case_rows(c, e); ++row)
      host[kg_facet_row(arrays, c->m, lane, row / c->m, row % c->m)] = value(c, e, row);
  }
  double *device = case_input(&c->memory, host, count);
  free(host);
  return device;
}

static double load_of(const batch_case *c, int32_t e, int row)
{
  return c->load[(int64_t)e * 4 * c->m + row];
}

/// Empty lanes of groups with an element are 0, as makers leave them.
static kg_local put_local(batch_case *c, const kg_lane_batch *b)
{
  kg_local local = kg_local_of_batch(KG_LAYOUT_PACKED, KG_DOUBLE, c->m, b, NULL);
  double *host = allocate(kg_local_count(&local), sizeof *host);
  for (int32_t i = 0; i < b->n_elements; ++i)
    for (int row = 0, at = 0; row < local.n; ++row)
      for (int column = 0; column <= row; ++column, ++at)
        host[((int64_t)(i / KG_LANES) * local.rows + at) * KG_LANES + i % KG_LANES] =
            batch_case_local(c, b->first_element + i, row, column);
  local.data = case_input(&c->memory, host, kg_local_count(&local));
  free(host);
  return local;
}

/// Numbers of half a double each, between guards.
static void *halves(batch_case *c, size_t count)
{
  return case_output(&c->memory, (count + 1) / 2);
}

/// The lanes of a batch in arrays of all lanes.
static kg_lane_arrays lanes_of_batch(const kg_trace_counts *count, const kg_lane_batch *batch,
                                     kg_lane_arrays all)
{
  const kg_trace_arrays shape = {.lanes = count->lanes};
  const int32_t lane = batch->first_group * KG_LANES;
  const int64_t sides = kg_facet_at(&shape, lane, 0);
  return (kg_lane_arrays){
      .vertex = all.vertex + sides,
      .side_edge = all.side_edge + sides,
      .side_codes = all.side_codes ? all.side_codes + kg_codes_at(&shape, lane) : NULL};
}

static void make_trace(batch_case *c)
{
  kedge_context *ctx = c->memory.ctx;
  const kg_trace_counts *n = &c->layout.count;
  const size_t n_edges = (size_t)n->n_edges, patches = (size_t)n->n_patches + 1;
  kg_plan source = {0};
  const kg_lane_arrays all = {.vertex = halves(c, kg_lane_sides(&n->lanes)),
                              .side_edge = halves(c, kg_lane_sides(&n->lanes)),
                              .side_codes = halves(c, kg_lane_codes(&n->lanes))};
  kg_trace_arrays_args args = {
      .count = *n,
      .batches = c->layout.batches,
      .edge_sides = halves(c, 2 * n_edges),
      .patch_halo = case_upload(&c->memory, c->layout.patch_halo, patches, sizeof(int32_t)),
      .halo_edge = halves(c, (size_t)n->n_halo)};
  kg_connectivity_declare(&source, n, 1, &args.mesh);
  kg_plan_place(&source);
  must(ctx, kg_plan_commit(ctx, &source));
  for (int k = 0; k < c->layout.batches.n; ++k)
    args.lanes[k] = lanes_of_batch(n, &c->layout.batches.batch[k], all);
  must(ctx, kg_connectivity_put(ctx, c->mesh, &c->layout, &args.mesh));
  must(ctx, kg_trace_arrays_fill(ctx, &args));
  c->trace_of_edge = allocate(n_edges, sizeof *c->trace_of_edge);
  must(ctx, kg_copy_out(ctx, c->trace_of_edge, args.mesh.trace_of_edge,
                        n_edges * sizeof *c->trace_of_edge));
  kg_plan_free(ctx, &source);
  const int32_t *inside = kg_section_first(&c->layout, KG_SECTION_INSIDE);
  c->batch.count = *n;
  c->batch.arrays = (kg_trace_arrays){
      .lanes = n->lanes,
      .vertices =
          case_upload(&c->memory, c->mesh->vertices,
                      (size_t)c->mesh->dimension * (size_t)c->mesh->n_vertices, sizeof(double)),
      .vertex = all.vertex,
      .side_edge = all.side_edge,
      .side_codes = all.side_codes,
      .patch_edge = case_upload(&c->memory, inside, patches, sizeof(int32_t)),
      .patch_halo = args.patch_halo,
      .halo_edge = args.halo_edge,
      .edge_sides = args.edge_sides};
}

void batch_case_create(batch_case *c, kedge_context *ctx, const kedge_mesh *mesh, int m, int n_cuts,
                       const int32_t *cut)
{
  bool is_dirichlet[16];
  for (int g = 0; g < 16; ++g) is_dirichlet[g] = g % 2 == 0;
  *c = (batch_case){.memory = {.ctx = ctx}, .mesh = mesh, .m = m};
  must(ctx, kg_trace_layout_create(ctx, mesh, is_dirichlet, kg_patch_groups(m), n_cuts, cut,
                                   &c->layout));
  make_random(c);
  make_trace(c);
  c->batch.m = m;
  c->condensed = put_lanes(c, load_of);
  c->locals = (kg_locals){.n_locals = c->layout.batches.n};
  for (int k = 0; k < c->layout.batches.n; ++k)
    c->locals.local[k] = put_local(c, &c->layout.batches.batch[k]);
  c->memory.n_lasting = c->memory.n_pieces;
}

void batch_case_destroy(batch_case *c)
{
  kg_trace_layout_free(&c->layout);
  free(c->trace_of_edge);
  free(c->local);
  free(c->load);
  case_destroy(&c->memory);
}

double *batch_case_put(batch_case *c, const double *values)
{
  const size_t m = (size_t)c->m, n_edges = (size_t)c->mesh->n_edges;
  double *trace = allocate(n_edges * m, sizeof *trace);
  for (size_t f = 0; f < n_edges; ++f)
    memcpy(trace + (size_t)c->trace_of_edge[f] * m, values + f * m, m * sizeof *trace);
  double *device = case_input(&c->memory, trace, n_edges * m);
  free(trace);
  return device;
}

double *batch_case_get(batch_case *c, const double *device)
{
  const size_t m = (size_t)c->m, n_edges = (size_t)c->mesh->n_edges;
  double *trace = case_fetch(&c->memory, device);
  double *values = allocate(n_edges * m, sizeof *values);
  for (size_t f = 0; f < n_edges; ++f)
    if (batch_case_is_free(c, (int32_t)f))
      memcpy(values + f * m, trace + (size_t)c->trace_of_edge[f] * m, m * sizeof *trace);
  free(trace);
  return values;
}

double *batch_case_dense(const batch_case *c)
{
  const int64_t n = (int64_t)c->mesh->n_edges * c->m;
  double *a = allocate((size_t)(n * n), sizeof *a);
  for (int32_t e = 0; e < c->mesh->n_elements; ++e)
    for (int i = 0; i < batch_case_rows(c, e); ++i)
      for (int j = 0; j < batch_case_rows(c, e); ++j)
        a[batch_case_unknown(c, e, i) * n + batch_case_unknown(c, e, j)] +=
            batch_case_local(c, e, i, j);
  return a;
}

/// A x of free edges, by mesh edges; and x . A x over all.
double *batch_case_product(const batch_case *c, const double *x, double *dot)
{
  double *y = calloc(batch_case_unknowns(c) + 1, sizeof *y);
  assert_non_null(y);
  *dot = 0.0;
  for (int32_t e = 0; e < c->mesh->n_elements; ++e)
    for (int i = 0; i < batch_case_rows(c, e); ++i) {
      const int64_t row = batch_case_unknown(c, e, i);
      double sum = 0.0;
      for (int j = 0; j < batch_case_rows(c, e); ++j)
        sum += batch_case_local(c, e, i, j) * x[batch_case_unknown(c, e, j)];
      *dot += x[row] * sum;
      if (batch_case_is_free(c, (int32_t)(row / c->m))) y[row] += sum;
    }
  return y;
}

void batch_case_with(kedge_context *ctx, const kedge_mesh *mesh, int n_cuts, const int32_t *cut,
                     void (*check)(batch_case *))
{
  for (int m = 2; m <= kg_modes_max(4); ++m) {
    batch_case c;
    batch_case_create(&c, ctx, mesh, m, n_cuts, cut);
    check(&c);
    batch_case_destroy(&c);
  }
}
