// The parts of a stage on the host, in plain loops, and what they read.
#include "wave_parts.h"

#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "core/memory.h"
#include "device/loop.h"

enum { NODES = 220 };  ///< of an element, and of its facets, at order 9

/// sum_j matrix[j][i] x[j] of every i, added.
static void times(int n, int count, const float *matrix, const float *x, float *sum)
{
  for (int j = 0; j < count; ++j)
    for (int i = 0; i < n; ++i) sum[i] += matrix[j * n + i] * x[j];
}

static void gather(const wave_parts_args *a, int32_t e, float flux[WAVE_FIELDS][NODES])
{
  for (int column = 0; column < a->columns; ++column) {
    float f[WAVE_FIELDS];
    wave_flux(a, e, column, f);
    for (int i = 0; i < WAVE_FIELDS; ++i) flux[i][column] = f[i];
  }
}

static void differentiate(const wave_parts_args *a, int32_t e, float rhs[WAVE_FIELDS][NODES])
{
  for (int d = 0; d < 3; ++d) {
    float slope[WAVE_FIELDS][NODES] = {{0.0f}};
    for (int f = 0; f < WAVE_FIELDS; ++f)
      times(a->n, a->n, a->derivative + (int64_t)d * a->n * a->n, a->u + wave_place(a, f, e, 0),
            slope[f]);
    for (int i = 0; i < a->n; ++i) {
      float own[WAVE_FIELDS], sum[WAVE_FIELDS] = {0.0f};
      for (int f = 0; f < WAVE_FIELDS; ++f) own[f] = slope[f][i];
      wave_along(a->gradient + ((int64_t)e * 3 + d) * 3, own, sum);
      for (int f = 0; f < WAVE_FIELDS; ++f) rhs[f][i] += sum[f];
    }
  }
}

static void run_element(const wave_parts_args *a, wave_part part, int32_t e)
{
  float flux[WAVE_FIELDS][NODES], rhs[WAVE_FIELDS][NODES] = {{0.0f}};
  const bool one = part == WAVE_ONE;
  if (part == WAVE_GATHER || one) gather(a, e, flux);
  for (int f = 0; f < WAVE_FIELDS; ++f) {
    float *const there = a->flux + ((int64_t)f * a->n_elements + e) * a->columns;
    if (part == WAVE_GATHER)
      for (int k = 0; k < a->columns; ++k) there[k] = flux[f][k];
    if (part == WAVE_LIFT || one) times(a->n, a->columns, a->lift, one ? flux[f] : there, rhs[f]);
  }
  if (part == WAVE_DIFFERENTIATE || one) differentiate(a, e, rhs);
  for (int f = 0; f < WAVE_FIELDS; ++f)
    for (int i = 0; i < a->n; ++i) {
      const int64_t at = wave_place(a, f, e, i);
      if (part == WAVE_LIFT) a->rhs[at] = rhs[f][i];
      if (part == WAVE_DIFFERENTIATE) a->rhs[at] += rhs[f][i];
      if (part == WAVE_UPDATE) wave_end(a, at, a->rhs[at], a->u);
      if (one) wave_end(a, at, rhs[f][i], a->next);
    }
}

kedge_status wave_part_run(kedge_context *ctx, const wave_parts_args *a, wave_part part,
                           int elements)
{
#ifdef KEDGE_WITH_CUDA
  if (ctx->backend == KEDGE_BACKEND_CUDA) return wave_part_run_cuda(ctx, a, part, elements);
#endif
#pragma omp parallel for schedule(static, elements) \
    num_threads(kg_loop_threads(ctx, a->n_elements, (int64_t)a->n * a->n))
  for (int32_t e = 0; e < a->n_elements; ++e) run_element(a, part, e);
  return KEDGE_OK;
}

bool wave_part_fits(const wave_parts_args *a, wave_part part, int elements)
{
  const int threads = elements * (part == WAVE_GATHER ? a->columns : a->n);
  return threads <= WAVE_THREADS_MAX && wave_part_shared(a, part, elements) <= 96 << 10;
}

kg_cost wave_part_cost(const wave_parts_args *a, wave_part part)
{
  const double n = a->n, columns = a->columns, numbers = WAVE_FIELDS * n;
  const double over = WAVE_FIELDS * columns;
  const kg_cost of[WAVE_ONE] = {
      // Neighbours are read in caches where one kernel does all.
      [WAVE_GATHER] = {3.0 * over + 16.0 + 4.0, 64.0 * columns},
      [WAVE_LIFT] = {over + numbers, 2.0 * columns * numbers},
      [WAVE_DIFFERENTIATE] = {3.0 * numbers + 9.0, 6.0 * n * numbers + 72.0 * n},
      [WAVE_UPDATE] = {5.0 * numbers, 5.0 * numbers}};
  kg_cost sum = {4.0 * numbers + 29.0, 0.0};
  for (int i = 0; i < WAVE_ONE; ++i) sum.flops += of[i].flops;
  if (part != WAVE_ONE) sum = of[part];
  return (kg_cost){4.0 * sum.bytes * a->n_elements, sum.flops * a->n_elements};
}

/// An array for the device, filled from doubles.
static kedge_status put(kedge_context *ctx, const double *from, size_t n, kg_buffer *out)
{
  float *copy;
  KG_TRY(kg_host_alloc(ctx, n, sizeof *copy, &copy));
  for (size_t i = 0; i < n; ++i) copy[i] = (float)from[i];
  const kedge_status status = kg_upload(ctx, copy, n, sizeof *copy, out);
  free(copy);
  return status;
}

/// g_a, and n and |F| / (2 J) of facets, which lie opposite their corners.
static void shape(const kedge_mesh *mesh, int32_t e, double *gradient, double *facet)
{
  const int32_t *const v = kg_element_vertices(mesh, e);
  double to[3][3], slope[4][3] = {{0.0}}, cross[3][3], volume = 0.0;
  for (int d = 0; d < 3; ++d)
    for (int k = 0; k < 3; ++k)
      to[d][k] =
          0.5 * (mesh->vertices[3 * (int64_t)v[d + 1] + k] - mesh->vertices[3 * (int64_t)v[0] + k]);
  for (int d = 0; d < 3; ++d) {
    const double *const p = to[(d + 1) % 3], *const q = to[(d + 2) % 3];
    for (int k = 0; k < 3; ++k)
      cross[d][k] = p[(k + 1) % 3] * q[(k + 2) % 3] - p[(k + 2) % 3] * q[(k + 1) % 3];
  }
  for (int k = 0; k < 3; ++k) volume += to[0][k] * cross[0][k];
  for (int d = 0; d < 3; ++d)
    for (int k = 0; k < 3; ++k) {
      gradient[3 * d + k] = cross[d][k] / volume;
      slope[d + 1][k] = 0.5 * gradient[3 * d + k];
      slope[0][k] -= slope[d + 1][k];
    }
  for (int l = 0; l < 4; ++l) {
    const double *const s = slope[l];
    const double length = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
    for (int k = 0; k < 3; ++k) facet[4 * l + k] = -s[k] / length;
    facet[4 * l + 3] = 2.0 * length;
  }
}

static kedge_status put_elements(wave_parts *p, const kedge_mesh *mesh)
{
  const size_t elements = (size_t)mesh->n_elements;
  double *gradient = NULL, *facet = NULL;
  int32_t *beyond = NULL;
  kedge_status status = kg_host_alloc(p->ctx, 9 * elements, sizeof *gradient, &gradient);
  if (status == KEDGE_OK) status = kg_host_alloc(p->ctx, 16 * elements, sizeof *facet, &facet);
  if (status == KEDGE_OK) status = kg_host_alloc(p->ctx, 4 * elements, sizeof *beyond, &beyond);
  for (int32_t e = 0; e < mesh->n_elements && status == KEDGE_OK; ++e) {
    shape(mesh, e, gradient + 9 * (int64_t)e, facet + 16 * (int64_t)e);
    for (int l = 0; l < 4; ++l) {
      const kg_side own = kg_side_of(e, l);
      const kg_side *const sides = mesh->edge_sides + 2 * (int64_t)kg_side_edge(mesh, own);
      const kg_side other = sides[0] == own ? sides[1] : sides[0];
      beyond[4 * (int64_t)e + l] = other == KG_NO_SIDE ? -1 : (int32_t)other;
    }
  }
  if (status == KEDGE_OK) status = put(p->ctx, gradient, 9 * elements, &p->tables[3]);
  if (status == KEDGE_OK) status = put(p->ctx, facet, 16 * elements, &p->tables[4]);
  if (status == KEDGE_OK)
    status = kg_upload(p->ctx, beyond, 4 * elements, sizeof *beyond, &p->tables[5]);
  free(gradient);
  free(facet);
  free(beyond);
  return status;
}

static kedge_status put_reference(wave_parts *p, const kg_nodal *nodal)
{
  const size_t n = (size_t)nodal->n, columns = 4 * (size_t)nodal->n_facet;
  double *copy;
  KG_TRY(kg_host_alloc(p->ctx, n * (3 * n + columns), sizeof *copy, &copy));
  double *const lift = copy + 3 * n * n;
  for (size_t i = 0; i < n; ++i) {
    for (size_t d = 0; d < 3; ++d)
      for (size_t j = 0; j < n; ++j)
        copy[(d * n + j) * n + i] = nodal->derivative[(d * n + i) * n + j];
    for (size_t k = 0; k < columns; ++k) lift[k * n + i] = nodal->lift[i * columns + k];
  }
  kedge_status status = put(p->ctx, copy, 3 * n * n, &p->tables[0]);
  if (status == KEDGE_OK) status = put(p->ctx, lift, n * columns, &p->tables[1]);
  if (status == KEDGE_OK)
    status = kg_upload(p->ctx, nodal->facet_node, columns, sizeof(int32_t), &p->tables[2]);
  free(copy);
  return status;
}

kedge_status wave_parts_open(kedge_context *ctx, const kedge_mesh *mesh, const kg_nodal *nodal,
                             wave_parts *p)
{
  const int columns = 4 * nodal->n_facet;
  const size_t numbers = WAVE_FIELDS * (size_t)mesh->n_elements * (size_t)nodal->n;
  const size_t over = WAVE_FIELDS * (size_t)mesh->n_elements * (size_t)columns;
  *p = (wave_parts){.ctx = ctx};
  KG_TRY(put_reference(p, nodal));
  KG_TRY(put_elements(p, mesh));
  KG_TRY(kg_alloc(ctx, 4 * numbers + over, sizeof(float), &p->state));
  KG_TRY(kg_zero(ctx, p->state.data, p->state.bytes));
  float *const u = p->state.data;
  p->args = (wave_parts_args){.n_elements = mesh->n_elements,
                              .order = nodal->order,
                              .n = nodal->n,
                              .columns = columns,
                              .derivative = p->tables[0].data,
                              .lift = p->tables[1].data,
                              .facet_node = p->tables[2].data,
                              .gradient = p->tables[3].data,
                              .facet = p->tables[4].data,
                              .beyond = p->tables[5].data,
                              .u = u,
                              .next = u + numbers,
                              .residual = u + 2 * numbers,
                              .rhs = u + 3 * numbers,
                              .flux = u + 4 * numbers};
  return KEDGE_OK;
}

void wave_parts_close(wave_parts *p)
{
  for (size_t i = 0; i < sizeof p->tables / sizeof *p->tables; ++i) kg_free(p->ctx, &p->tables[i]);
  kg_free(p->ctx, &p->state);
}
