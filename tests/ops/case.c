#include "case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum { WALL = 7, GUARD = 64 };  // 64 doubles keep the alignment of kg_alloc()
static const double guard_word = -7.25e77;

void case_must(kedge_context *ctx, kedge_status status)
{
  if (status != KEDGE_OK) fail_msg("%s", kedge_context_error(ctx));
}

kedge_context *case_context(kedge_backend backend, int threads)
{
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = backend;
  options.threads = threads;
  options.bind_threads = false;
  kedge_context *ctx = NULL;
  case_must(NULL, kedge_context_create(&options, &ctx));
  return ctx;
}

double case_random(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(int32_t)(*seed >> 32) / 2147483648.0;
}

double *case_randoms(uint64_t seed, size_t count)
{
  double *values = malloc((count + 1) * sizeof *values);
  assert_non_null(values);
  for (size_t i = 0; i < count; ++i) values[i] = case_random(&seed);
  return values;
}

/// A random order of 0..n-1.
static int32_t *permutation(int32_t n, uint64_t *seed)
{
  int32_t *order = malloc((size_t)n * sizeof *order);
  assert_non_null(order);
  for (int32_t i = 0; i < n; ++i) order[i] = i;
  for (int32_t i = n - 1; i > 0; --i) {
    const int32_t j = (int32_t)(0.5 * (1.0 + case_random(seed)) * (i + 1)) % (i + 1);
    const int32_t swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  return order;
}

kedge_mesh *case_mesh(kedge_context *ctx, int n)
{
  const int width = (int)ceil(sqrt(0.5 * n)), row = width + 1,
            n_vertices = row * (n / 2 / width + 2);
  uint64_t seed = 17u + (uint64_t)n;
  int32_t *number = permutation(n_vertices, &seed);
  double *vertices = malloc(2 * (size_t)n_vertices * sizeof *vertices);
  int32_t *triangles = malloc(3 * (size_t)n * sizeof *triangles);
  int32_t *lines = malloc(2 * (size_t)n * sizeof *lines), *tags = malloc((size_t)n * sizeof *tags);
  assert_true(vertices && triangles && lines && tags);
  for (int v = 0; v < n_vertices; ++v) {
    vertices[2 * number[v]] = v % row + 0.2 * case_random(&seed);
    vertices[2 * number[v] + 1] = v / row + 0.2 * case_random(&seed);
  }
  int n_lines = 0;
  for (int t = 0; t < n; ++t) {
    const int cell = t / 2, i = cell % width, j = cell / width, v = j * row + i;
    const int lower[3] = {v, v + 1, v + row + 1}, upper[3] = {v, v + row + 1, v + row};
    const int turn = (int)(1.5 * (1.0 + case_random(&seed))) % 3;
    for (int k = 0; k < 3; ++k)
      triangles[3 * t + k] = number[(t % 2 ? upper : lower)[(k + turn) % 3]];
    const bool bottom = j == 0 && t % 2 == 0, left = i == 0 && t % 2 == 1;
    if (!bottom && !left) continue;
    lines[2 * n_lines] = number[v];
    lines[2 * n_lines + 1] = number[bottom ? v + 1 : v + row];
    tags[n_lines++] = WALL;
  }
  const kedge_mesh_arrays arrays = {.n_vertices = n_vertices,
                                    .vertices = vertices,
                                    .n_triangles = n,
                                    .triangles = triangles,
                                    .n_lines = n_lines,
                                    .lines = lines,
                                    .line_tags = tags};
  kedge_mesh *mesh = NULL;
  case_must(ctx, kedge_mesh_create(ctx, &arrays, &mesh));
  free(number);
  free(vertices);
  free(triangles);
  free(lines);
  free(tags);
  return mesh;
}

static const void *device_copy(op_case *c, const void *host, size_t count, size_t size)
{
  assert_true(c->n_pieces < CASE_PIECES);
  struct case_piece *piece = &c->pieces[c->n_pieces++];
  *piece = (struct case_piece){0};
  case_must(c->ctx, kg_upload(c->ctx, host, count, size, &piece->buffer));
  return piece->buffer.data;
}

static void upload_layout(op_case *c)
{
  const kg_trace_counts *n = &c->layout.count;
  const kg_trace_arrays *host = &c->layout.host;
  const size_t sides = 3 * KG_LANES * (size_t)n->n_groups, patches = (size_t)n->n_patches;
  const size_t halo = (size_t)n->n_halo, summed = (size_t)(n->n_shared + n->n_neumann);
  const size_t vertices = 2 * (size_t)c->layout.n_vertices;
  c->batch.count = *n;
  c->batch.arrays = (kg_trace_arrays){
      .vertices = device_copy(c, host->vertices, vertices, sizeof(double)),
      .vertex = device_copy(c, host->vertex, sides, sizeof(int32_t)),
      .side_edge = device_copy(c, host->side_edge, sides, sizeof(uint32_t)),
      .side_local = device_copy(c, host->side_local, sides, sizeof(uint16_t)),
      .patch_edge = device_copy(c, host->patch_edge, patches + 1, sizeof(int32_t)),
      .patch_halo = device_copy(c, host->patch_halo, patches + 1, sizeof(int32_t)),
      .halo_edge = device_copy(c, host->halo_edge, halo, sizeof(int32_t)),
      .local_sides =
          device_copy(c, host->local_sides, 2 * ((size_t)n->n_interior + halo), sizeof(uint16_t)),
      .edge_entries = device_copy(c, host->edge_entries, 2 * summed, sizeof(int32_t)),
      .edge_sides = device_copy(c, host->edge_sides, 2 * (size_t)n->n_edges, sizeof(int32_t)),
  };
}

void case_create(op_case *c, kedge_context *ctx, int n_elements, int order,
                 enum case_boundary boundary, kg_material material)
{
  *c = (op_case){.ctx = ctx, .size = kg_sizes_of(order), .material = material};
  c->mesh = case_mesh(ctx, n_elements);
  bool is_dirichlet[8] = {false};
  assert_in_range(c->mesh->n_groups, 1, 8);
  for (int g = 0; g < c->mesh->n_groups; ++g)
    is_dirichlet[g] =
        boundary == CASE_DIRICHLET || (boundary == CASE_MIXED && c->mesh->groups[g].tag == WALL);
  const int patch_groups = order <= 3 ? 8 : 4;
  case_must(ctx, kg_trace_layout_create(ctx, c->mesh, is_dirichlet, patch_groups, &c->layout));
  upload_layout(c);
  case_must(ctx, kg_reference_create(ctx, order, &c->reference));
  case_must(ctx, kg_sampling_create(ctx, order, &c->sampling));
  c->batch.reference = kg_reference_at(
      order, device_copy(c, c->reference, kg_reference_count(order), sizeof(double)));
  const size_t n_points = (size_t)c->sampling.n, n_star = (size_t)c->size.n_star;
  c->points = (kg_points){
      .n = c->sampling.n,
      .n_star = c->size.n_star,
      .weight = device_copy(c, c->sampling.weight, n_points, sizeof(double)),
      .basis = device_copy(c, c->sampling.basis, n_points * n_star, sizeof(double)),
  };
  c->n_lasting = c->n_pieces;
}

void case_destroy(op_case *c)
{
  case_must(c->ctx, kg_sync(c->ctx));
  for (int i = 0; i < c->n_pieces; ++i) kg_free(c->ctx, &c->pieces[i].buffer);
  free(c->reference);
  kg_sampling_free(&c->sampling);
  kg_trace_layout_free(&c->layout);
  kedge_mesh_destroy(c->mesh);
}

static double *guarded(op_case *c, const double *values, size_t count)
{
  const size_t total = count + 2 * GUARD;
  double *host = malloc(total * sizeof *host);
  assert_non_null(host);
  for (size_t i = 0; i < total; ++i) host[i] = guard_word;
  for (size_t i = 0; i < count; ++i) host[GUARD + i] = values ? values[i] : NAN;
  double *device = (double *)device_copy(c, host, total, sizeof *host);
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
  case_must(c->ctx, kg_copy_out(c->ctx, host, piece->buffer.data, total * sizeof *host));
  case_must(c->ctx, kg_sync(c->ctx));
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
