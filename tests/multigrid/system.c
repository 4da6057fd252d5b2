#include "system.h"

#include <math.h>
#include <stdlib.h>

#include "../grid.h"
#include "cmocka_all.h"
#include "compare.h"
#include "precondition/bound.h"
#include "ops/smooth/edge_blocks.h"
#include "ops/local/triangle/local_matrices.h"
#include "ops/smooth/vertex_transfer.h"

static double *zeros(op_case *c, size_t count)
{
  double *device = case_output(c, count);
  must(c->ctx, kg_zero(c->ctx, device, count * sizeof(double)));
  return device;
}

static kg_local make_local(op_case *c, kg_layout layout)
{
  const size_t lanes = KG_LANES * (size_t)c->batch.count.n_groups;
  kg_local local = case_local(c, layout, KG_DOUBLE, NULL);
  local.data = case_output(c, kg_local_count(&local));
  must(c->ctx,
       kg_local_matrices(c->ctx, &(kg_local_matrices_args){
                                     .batch = c->batch,
                                     .materials = kg_one_material(c->material),
                                     .load = zeros(c, (size_t)c->size.n_modes * lanes),
                                     .local = local,
                                     .condensed = zeros(c, (size_t)c->size.n_trace * lanes)}));
  return local;
}

static void make_operator(trace_system *s)
{
  op_case *c = &s->c;
  const kg_trace_counts *n = &c->batch.count;
  const size_t shared = (size_t)n->n_shared * (size_t)c->size.n_edge;
  const size_t vertices = (size_t)c->mesh->n_vertices;
  s->device_local = make_local(c, KG_LAYOUT_PACKED);
  s->local = case_fetch(c, s->device_local.data);
  s->a = kg_patches_of(
      &(kg_trace_product_args){.batch = c->batch,
                               .locals = kg_locals_of(s->device_local, s->c.batch.arrays.side_edge),
                               .halo = case_output(c, shared > vertices ? shared : vertices)});
}

static void reduce_operator(trace_system *s)
{
  s->device_local = make_local(&s->c, KG_LAYOUT_REDUCED);
  s->a.args.locals = kg_locals_of(s->device_local, s->c.batch.arrays.side_edge);
}

static void measure(trace_system *s)
{
  kg_cycle blocks = s->cycle;
  blocks.blocks = true;
  must(s->ctx, kg_multigrid_bound(s->ctx, &s->cg, &blocks, &s->multigrid.largest_eigenvalue));
}

static void make_lines(trace_system *s, kg_multigrid_shape *shape)
{
  const kg_trace_layout *layout = &s->c.layout.cut;
  must(s->ctx, kg_edge_lines_create(s->ctx, s->c.mesh, layout, &s->lines));
  shape->alignment = s->lines.alignment;
  shape->n_lines = s->lines.n_lines;
  shape->n_line_steps = s->lines.n_steps;
}

static void make_multigrid(trace_system *s, const system_options *o)
{
  op_case *c = &s->c;
  kg_multigrid_shape shape = {.order = c->size.order,
                              .m = c->size.n_edge,
                              .count = c->batch.count,
                              .n_vertices = c->mesh->n_vertices,
                              .smoother = o->smoother,
                              .smoothing_steps = o->smoothing_steps,
                              .alignment = c->mesh->alignment,
                              .locals = kg_locals_of(s->device_local, s->c.batch.arrays.side_edge)};
  if (kg_smoother_has_lines(o->smoother)) make_lines(s, &shape);
  must(s->ctx,
       kg_vertex_space_work_bytes(s->ctx, &shape.count, shape.n_vertices, &shape.space_work_bytes));
  s->plan.apart = true;
  s->multigrid = (kg_multigrid){.shape = shape, .solver = o->solver};
  s->cycle = kg_cycle_of(&s->multigrid, &s->a.base);
  s->cg.base = (kg_krylov){.table = &kg_cg_loop, .linear = &s->a.base, .precond = &s->cycle.base};
  kg_cg_loop.declare(&s->plan, &s->cg.base);
  kg_plan_place(&s->plan);
  must(s->ctx, kg_plan_commit(s->ctx, &s->plan));
  kg_cg_loop.bind(&s->cg.base);
  must(s->ctx, kg_zero(s->ctx, s->cg.base.x, s->n_all * sizeof(double)));
  must(s->ctx,
       kg_multigrid_create(s->ctx,
                           &(kg_multigrid_args){.batch = c->batch,
                                                .materials = kg_one_material(o->material),
                                                .lines = &s->lines,
                                                .locals = kg_locals_of(
                                                    s->device_local, s->c.batch.arrays.side_edge)},
                           &s->multigrid));
  if (kg_multigrid_is_measured(&shape)) measure(s);
}

void system_create(trace_system *s, kedge_context *ctx, system_options o)
{
  *s = (trace_system){.ctx = ctx};
  kedge_mesh *mesh = o.angle ? test_obtuse_mesh(ctx, o.n_elements, o.angle)
                             : test_stretched_mesh(ctx, o.n_elements, o.stretch ? o.stretch : 1.0);
  case_create_on(&s->c, ctx, mesh, o.order, o.boundary, o.material);
  s->n_rows = (size_t)s->c.batch.count.n_free * (size_t)s->c.size.n_edge;
  s->n_all = (size_t)s->c.batch.count.n_edges * (size_t)s->c.size.n_edge;
  make_operator(s);
  if (o.material.reaction == 0.0 && !o.packed) reduce_operator(s);
  make_multigrid(s, &o);
  double *b = case_randoms(3, s->n_rows);
  s->b = case_input(&s->c, b, s->n_rows);
  free(b);
  s->n_pieces = s->c.n_pieces;
}

void system_release(trace_system *s)
{
  while (s->c.n_pieces > s->n_pieces) kg_free(s->ctx, &s->c.pieces[--s->c.n_pieces].buffer);
}

void system_destroy(trace_system *s)
{
  kg_multigrid_destroy(s->ctx, &s->multigrid);
  kg_plan_free(s->ctx, &s->plan);
  free(s->local);
  kg_edge_lines_free(&s->lines);
  case_destroy(&s->c);
}

void *system_fetch(trace_system *s, const void *device, size_t bytes)
{
  void *host = malloc(bytes + 1);
  assert_non_null(host);
  must(s->ctx, kg_copy_out(s->ctx, host, device, bytes));
  must(s->ctx, kg_sync(s->ctx));
  return host;
}

double *system_edge_blocks(trace_system *s)
{
  const int m = s->c.size.n_edge;
  const size_t count = kg_edge_blocks_count(s->c.size.n_edge, &s->c.batch.count);
  float *factor = system_fetch(s, s->multigrid.smoother.inverse, count * sizeof *factor);
  double *inverse = calloc(count + 1, sizeof *inverse);
  assert_non_null(inverse);
  for (int32_t f = 0; f < s->c.batch.count.n_free; ++f) {
    const float *w = factor + kg_edge_block_at(m, f);
    double *out = inverse + kg_edge_block_at(m, f);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j <= i; ++j)
        for (int k = i; k < m; ++k)
          out[kg_packed_entry(i, j) * KG_LANES] += (double)w[kg_packed_entry(k, i) * KG_LANES] *
                                                   (double)w[kg_packed_entry(k, j) * KG_LANES];
  }
  free(factor);
  return inverse;
}

static void vertices_of(const trace_system *s, int32_t trace, int32_t vertex[2])
{
  const kedge_mesh *mesh = s->c.mesh;
  kg_side_vertices(mesh, mesh->edge_sides[2 * s->c.layout.mesh_edge[trace]], &vertex[0],
                   &vertex[1]);
}

int32_t *system_edge_vertices(const trace_system *s)
{
  const int32_t n = s->c.batch.count.n_free;
  int32_t *vertices = calloc(2 * (size_t)n + 1, sizeof *vertices);
  assert_non_null(vertices);
  for (int32_t f = 0; f < n; ++f) vertices_of(s, f, vertices + 2 * f);
  return vertices;
}

bool *system_fixed_vertices(const trace_system *s)
{
  bool *is_fixed = calloc((size_t)s->c.mesh->n_vertices, sizeof *is_fixed);
  assert_non_null(is_fixed);
  for (int32_t f = s->c.batch.count.n_free; f < s->c.batch.count.n_edges; ++f) {
    int32_t vertex[2];
    vertices_of(s, f, vertex);
    is_fixed[vertex[0]] = is_fixed[vertex[1]] = true;
  }
  return is_fixed;
}

double *system_coarse_randoms(const trace_system *s, uint64_t seed)
{
  bool *is_fixed = system_fixed_vertices(s);
  double *values = case_randoms(seed, (size_t)s->c.mesh->n_vertices);
  for (int32_t v = 0; v < s->c.mesh->n_vertices; ++v)
    if (is_fixed[v]) values[v] = 0.0;
  free(is_fixed);
  return values;
}

static void put(trace_system *s, double *device, const double *host, size_t count)
{
  must(s->ctx, kg_copy_in(s->ctx, device, host, count * sizeof *host));
}

static void get(trace_system *s, double *host, const double *device, size_t count)
{
  must(s->ctx, kg_copy_out(s->ctx, host, device, count * sizeof *host));
  must(s->ctx, kg_sync(s->ctx));
}

void system_precondition(trace_system *s, const double *r, double *z)
{
  const kg_cg *k = &s->cg;
  const kg_pass pass = {.sum = {s->cg.v.partial, &s->cg.v.state->rz_next, NULL}};
  put(s, k->r, r, s->n_rows);
  must(s->ctx, kg_zero(s->ctx, k->z, s->n_all * sizeof *z));
  must(s->ctx, s->cycle.base.table->apply(s->ctx, &s->cycle.base, k->r, k->z, &pass));
  get(s, z, k->z, s->n_all);
}

void system_smooth(trace_system *s, const double *y, double *z)
{
  const kg_cg *k = &s->cg;
  const kg_vertex_modes modes = s->multigrid.modes;
  put(s, k->r, y, s->n_rows);
  if (modes.value)
    must(s->ctx, kg_vertex_modes_restrict(
                     s->ctx, &(kg_vertex_modes_restrict_args){.modes = modes,
                                                              .m = s->c.size.n_edge,
                                                              .n_edges = s->c.batch.count.n_free,
                                                              .r = k->r}));
  must(s->ctx, s->multigrid.smoother.table->step(s->ctx, &s->multigrid.smoother,
                                                 &(kg_smoother_args){.r = k->r,
                                                                     .product = k->ap,
                                                                     .modes = modes,
                                                                     .from_zero = true,
                                                                     .z = k->z,
                                                                     .step = 1.0}));
  get(s, z, k->z, s->n_rows);
}

void system_multiply(trace_system *s, const double *x, double *y)
{
  const kg_cg *k = &s->cg;
  put(s, k->z, x, s->n_all);
  must(s->ctx, kg_linear_apply(s->ctx, &s->a.base, k->z, k->ap, &(kg_pass){0}));
  get(s, y, k->ap, s->n_rows);
}

double system_local_entry(const trace_system *s, int32_t e, int a, int b)
{
  const int k = a >= b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a;
  return s->local[((int64_t)(e / KG_LANES) * s->c.size.n_packed + k) * KG_LANES + e % KG_LANES];
}

int64_t system_trace_row(const trace_system *s, int32_t e, int a)
{
  const int m = s->c.size.n_edge;
  const int32_t edge = (int32_t)(s->c.mesh->side_edge[3 * e + a / m] >> 1);
  int32_t trace = 0;
  while (s->c.layout.mesh_edge[trace] != edge) ++trace;
  return (int64_t)trace * m + a % m;
}

double system_largest_of_steps(trace_system *s, int steps)
{
  double quotient = 0.0;
  double *x = case_randoms(9, s->n_all), *y = calloc(s->n_rows + 1, sizeof *y);
  double *z = calloc(s->n_all + 1, sizeof *z);
  assert_true(y && z);
  for (size_t i = s->n_rows; i < s->n_all; ++i) x[i] = 0.0;
  for (int step = 0; step < steps && s->n_rows > 0; ++step) {
    system_multiply(s, x, y);
    system_smooth(s, y, z);
    double energy = 0.0, next = 0.0;
    for (size_t i = 0; i < s->n_rows; ++i) energy += x[i] * y[i], next += z[i] * y[i];
    quotient = fmax(quotient, next / energy);
    const double scale = 1.0 / largest(s->n_rows, z);
    for (size_t i = 0; i < s->n_rows; ++i) x[i] = scale * z[i];
  }
  free(x), free(y), free(z);
  return quotient;
}
