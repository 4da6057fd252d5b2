// A step of smoothing with the blocks of facets of tetrahedra, by its definition from W: orders
// whose modes lie in registers, and those above.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch_case.h"
#include "compare.h"
#include "context.h"
#include "ops/smooth/edge_smooth.h"

static const double tolerance = 1e-13;

/// B^-1 x of the free facets, zero elsewhere; vectors are [mesh facet][mode].
static void multiply(const batch_case *c, const float *w, const double *x, double *y)
{
  const int m = c->m;
  for (int32_t facet = 0; facet < c->mesh->n_edges; ++facet)
    for (int j = 0; j < m; ++j) {
      double sum = 0.0;
      const float *factor = w + kg_edge_block_at(m, c->trace_of_edge[facet]);
      for (int i = j; i < m && batch_case_is_free(c, facet); ++i) {
        double row = 0.0;
        for (int k = 0; k <= i; ++k)
          row += (double)factor[kg_packed_entry(i, k) * KG_LANES] * x[facet * m + k];
        sum += (double)factor[kg_packed_entry(i, j) * KG_LANES] * row;
      }
      y[facet * m + j] = sum;
    }
}

/// A step of these arguments, of which r, A z, z and d are replaced by random vectors.
static void check_step(batch_case *c, const float *w, kg_edge_smooth_args args, bool has_sum)
{
  const size_t n = batch_case_unknowns(c);
  double *v[6], dot = 0.0, total;
  for (int k = 0; k < 6; ++k)
    v[k] = k < 4 ? case_randoms(20 + (uint64_t)k, n) : calloc(n, sizeof *v[k]);
  double *const r = v[0], *const product = v[1], *const z = v[2], *const d = v[3];
  double *const x = v[4], *const y = v[5];
  double *const got_total = case_output(&c->memory, 1);
  args.r = batch_case_put(c, r);
  args.product = args.product ? batch_case_put(c, product) : NULL;
  args.z = batch_case_put(c, z);
  args.d = args.d ? batch_case_put(c, d) : NULL;
  if (has_sum) args.sum = (kg_sum){.total = got_total, .part = case_output(&c->memory, KG_PIECES)};
  must(c->memory.ctx, kg_edge_smooth(c->memory.ctx, &args));
  for (size_t i = 0; i < n; ++i)
    x[i] = r[i] - (args.product ? product[i] : 0.0) + (args.again ? r[i] : 0.0);
  multiply(c, w, x, y);
  for (int32_t facet = 0; facet < c->mesh->n_edges; ++facet)
    for (int k = 0; k < c->m; ++k) {
      const int64_t i = (int64_t)facet * c->m + k;
      const bool free = batch_case_is_free(c, facet);
      d[i] = free ? args.step * y[i] + args.momentum * d[i] : 0.0;
      z[i] = free ? d[i] + (args.product && !args.again ? z[i] : 0.0) : 0.0;
      if (free) dot += r[i] * z[i];
    }
  double *const got = batch_case_get(c, args.z);
  assert_close(n, got, z, tolerance);
  free(got);
  if (args.d) {
    double *const kept = batch_case_get(c, args.d);
    assert_close(n, kept, d, tolerance);
    free(kept);
  }
  if (has_sum) {
    double *const sum = case_fetch(&c->memory, got_total);
    total = *sum;
    assert_at_most(fabs(total - dot), tolerance * (double)n);
    free(sum);
  }
  for (int k = 0; k < 6; ++k) free(v[k]);
}

static void check_mesh(const kedge_mesh *mesh, int m)
{
  batch_case c;
  batch_case_create(&c, ctx, mesh, m, 0, NULL);
  kedge_context *const context = c.memory.ctx;
  const size_t count = kg_edge_blocks_count(m, &c.layout.count);
  const kg_edge_blocks_args blocks = {.batch = c.batch,
                                      .locals = c.locals,
                                      .number = KG_DOUBLE,
                                      .form = KG_BLOCK_FACTOR,
                                      .inverse = case_output(&c.memory, (count + 1) / 2),
                                      .fault = (int32_t *)case_output(&c.memory, 1)};
  must(context, kg_edge_blocks(context, &blocks));
  float *const w = (float *)case_fetch(&c.memory, blocks.inverse);
  double any;
  const kg_edge_smooth_args step = {.m = m,
                                    .n_edges = c.layout.count.n_free,
                                    .number = KG_DOUBLE,
                                    .inverse = blocks.inverse,
                                    .form = KG_BLOCK_FACTOR,
                                    .step = 0.7};
  kg_edge_smooth_args first = step, next = step, again = step, last = step;
  first.d = &any;
  next.product = next.d = &any, next.momentum = 0.3;
  again.product = &any, again.again = true;
  last.product = last.d = &any, last.momentum = 0.3;
  check_step(&c, w, first, false);
  check_step(&c, w, next, false);
  check_step(&c, w, again, false);
  check_step(&c, w, last, true);
  free(w);
  case_release(&c.memory);
  batch_case_destroy(&c);
}

static void a_step_is_that_of_its_definition(void **state)
{
  (void)state;
  for (int n = 1; n <= 3; n += 2)
    for (int order = 1; order <= 6; ++order) {
      char words[16];
      kedge_mesh *mesh;
      snprintf(words, sizeof words, "cube %d", n);
      must(ctx, kedge_mesh_generate(ctx, words, &mesh));
      check_mesh(mesh, (order + 1) * (order + 2) / 2);
      kedge_mesh_destroy(mesh);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_step_is_that_of_its_definition)};
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
