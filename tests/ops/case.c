#include "case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "grid.h"
#include "ops/trace/trace_apply.h"
#ifdef KEDGE_WITH_CUDA
#include "device/cuda_rt.h"
#endif

enum { GUARD = 64 };  // 64 doubles keep the alignment of kg_alloc()
static const double guard_word = -7.25e77;

double *case_randoms(uint64_t seed, size_t count)
{
  double *values = malloc((count + 1) * sizeof *values);
  assert_non_null(values);
  for (size_t i = 0; i < count; ++i) values[i] = test_random(&seed);
  return values;
}

int case_limit_shared(kedge_context *ctx, int bytes)
{
#ifdef KEDGE_WITH_CUDA
  if (ctx->backend == KEDGE_BACKEND_CUDA) {
    const int had = kg_cuda(ctx)->shared_limit + KG_STATIC_SHARED;
    kg_cuda(ctx)->shared_limit = bytes - KG_STATIC_SHARED;
    return had;
  }
#endif
  (void)ctx;
  return bytes;
}

void *case_upload(op_case *c, const void *host, size_t count, size_t size)
{
  assert_true(c->n_pieces < CASE_PIECES);
  struct case_piece *piece = &c->pieces[c->n_pieces++];
  *piece = (struct case_piece){0};
  must(c->ctx, kg_upload(c->ctx, host, count, size, &piece->buffer));
  return piece->buffer.data;
}

static void upload_layout(op_case *c)
{
  const kg_trace_counts *n = &c->layout.count;
  const kg_trace_arrays *host = &c->layout.host;
  const size_t sides = 3 * KG_LANES * (size_t)n->n_groups, patches = (size_t)n->n_patches;
  const size_t halo = (size_t)n->n_halo;
  const size_t vertices = 2 * (size_t)c->mesh->n_vertices;
  c->batch.m = c->size.n_edge;
  c->batch.count = *n;
  c->batch.arrays = (kg_trace_arrays){
      .lanes = n->lanes,
      .vertices = case_upload(c, host->vertices, vertices, sizeof(double)),
      .vertex = case_upload(c, host->vertex, sides, sizeof(int32_t)),
      .side_edge = case_upload(c, host->side_edge, sides, sizeof(uint32_t)),
      .side_codes = case_upload(c, host->side_codes, sides / 3, sizeof(uint32_t)),
      .patch_edge = case_upload(c, host->patch_edge, patches + 1, sizeof(int32_t)),
      .patch_halo = case_upload(c, host->patch_halo, patches + 1, sizeof(int32_t)),
      .halo_edge = case_upload(c, host->halo_edge, halo, sizeof(uint32_t)),
      .edge_sides = case_upload(c, host->edge_sides, 2 * (size_t)n->n_edges, sizeof(kg_side)),
  };
}

void case_create(op_case *c, kedge_context *ctx, int n_elements, int order,
                 enum case_boundary boundary, kg_material material)
{
  case_create_on(c, ctx, test_irregular_mesh(ctx, n_elements), order, boundary, material);
}

void case_create_on(op_case *c, kedge_context *ctx, kedge_mesh *mesh, int order,
                    enum case_boundary boundary, kg_material material)
{
  *c = (op_case){.ctx = ctx, .mesh = mesh, .size = kg_sizes_of(order), .material = material};
  bool is_dirichlet[8] = {false};
  assert_in_range(c->mesh->n_groups, 1, 8);
  for (int g = 0; g < c->mesh->n_groups; ++g)
    is_dirichlet[g] = boundary == CASE_DIRICHLET ||
                      (boundary == CASE_MIXED && c->mesh->groups[g].tag == GRID_WALL);
  const int patch_groups = kg_patch_groups(order + 1);
  test_layout_create(ctx, c->mesh, is_dirichlet, patch_groups, &c->layout);
  upload_layout(c);
  must(ctx, kg_reference_create(ctx, order, &c->reference));
  must(ctx, kg_sampling_create(ctx, order, kg_point_rows(order), &c->sampling));
  c->batch.reference = kg_reference_at(
      order, case_upload(c, c->reference, kg_reference_count(order), sizeof(double)));
  c->points = kg_points_at(c->size, c->sampling.rows,
                           case_upload(c, c->sampling.r, 3 * (size_t)c->sampling.n, sizeof(double)),
                           case_upload(c, c->sampling.basis,
                                       kg_points_table(c->size, c->sampling.rows), sizeof(double)));
  c->n_lasting = c->n_pieces;
}

void case_destroy(op_case *c)
{
  must(c->ctx, kg_sync(c->ctx));
  for (int i = 0; i < c->n_pieces; ++i) kg_free(c->ctx, &c->pieces[i].buffer);
  free(c->reference);
  kg_sampling_free(&c->sampling);
  test_layout_free(&c->layout);
  kedge_mesh_destroy(c->mesh);
}

static double *guarded(op_case *c, const double *values, size_t count)
{
  const size_t total = count + 2 * GUARD;
  double *host = malloc(total * sizeof *host);
  assert_non_null(host);
  for (size_t i = 0; i < total; ++i) host[i] = guard_word;
  for (size_t i = 0; i < count; ++i) host[GUARD + i] = values ? values[i] : NAN;
  double *device = case_upload(c, host, total, sizeof *host);
  free(host);
  c->pieces[c->n_pieces - 1].count = count;
  return device + GUARD;
}

double *case_input(op_case *c, const double *values, size_t count)
{
  return guarded(c, values, count);
}

double *case_output(op_case *c, size_t count)
{
  return guarded(c, NULL, count);
}

double *case_fetch(op_case *c, const double *device)
{
  const struct case_piece *piece = c->pieces + c->n_lasting;
  while (piece < c->pieces + c->n_pieces && (double *)piece->buffer.data + GUARD != device) ++piece;
  assert_true(piece < c->pieces + c->n_pieces);
  const size_t total = piece->count + 2 * GUARD;
  double *host = malloc(total * sizeof *host);
  assert_non_null(host);
  must(c->ctx, kg_copy_out(c->ctx, host, piece->buffer.data, total * sizeof *host));
  must(c->ctx, kg_sync(c->ctx));
  for (size_t i = 0; i < GUARD; ++i) {
    assert_true(host[i] == guard_word);
    assert_true(host[GUARD + piece->count + i] == guard_word);
  }
  memmove(host, host + GUARD, piece->count * sizeof *host);
  return host;
}

void case_release(op_case *c)
{
  while (c->n_pieces > c->n_lasting) kg_free(c->ctx, &c->pieces[--c->n_pieces].buffer);
}
