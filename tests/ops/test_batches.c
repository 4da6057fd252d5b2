// Operators on K^e with the K^e of several batches: of quadrilaterals, of both shapes, and of
// triangles cut into batches, against A assembled by its definition.
#include <stdlib.h>
#include <string.h>

#include "batch_case.h"
#include "compare.h"
#include "context.h"
#include "grid.h"
#include "ops/local/convert.h"
#include "ops/smooth/edge_blocks.h"
#include "ops/trace/facet_sum.h"
#include "ops/trace/trace_apply.h"
#include "ops/trace/trace_sides.h"
#include "ops/vector/round.h"

static const double tolerance = 1e-13;

/// The product, by mesh edges.
static double *product(batch_case *c, const double *x, bool open, double *dot)
{
  kedge_context *context = c->memory.ctx;
  const kg_trace_counts *n = &c->layout.count;
  const size_t m = (size_t)c->m, first = (size_t)n->n_interior * m,
               shared = (size_t)n->n_shared * m;
  kg_open left;
  const int32_t exponent = 3;
  const kg_trace_product_args args = {
      .batch = c->batch,
      .locals = c->locals,
      .x = batch_case_put(c, x),
      .y = case_output(&c->memory, (size_t)n->n_free * m),
      .halo = case_output(&c->memory, shared),
      .pass = {.sum = {.part = case_output(&c->memory, (size_t)n->n_patches),
                       .total = case_output(&c->memory, 1),
                       .exponent = case_upload(&c->memory, &exponent, 1, sizeof exponent)},
               .open = open ? &left : NULL}};
  must(context, kg_trace_product(context, &args));
  if (open) {
    assert_true(left.first == (int64_t)first && left.n == (int64_t)shared);
    double *y = case_fetch(&c->memory, args.y), *halo = case_fetch(&c->memory, args.halo);
    for (size_t i = 0; i < shared; ++i) y[first + i] += halo[i];
    must(context, kg_copy_in(context, args.y, y, (size_t)n->n_free * m * sizeof *y));
    free(y);
    free(halo);
  }
  double *y = batch_case_get(c, args.y), *total = case_fetch(&c->memory, args.pass.sum.total);
  free(case_fetch(&c->memory, args.pass.sum.part));
  *dot = ldexp(*total, exponent);
  free(total);
  case_release(&c->memory);
  return y;
}

static void check_product(batch_case *c)
{
  double *x = case_randoms(5, batch_case_unknowns(c)), dot[3];
  double *expected = batch_case_product(c, x, &dot[0]);
  double *closed = product(c, x, false, &dot[1]), *open = product(c, x, true, &dot[2]);
  assert_close(batch_case_unknowns(c), closed, expected, tolerance);
  assert_close(1, &dot[1], &dot[0], tolerance);
  assert_memory_equal(open, closed, batch_case_unknowns(c) * sizeof *open);
  assert_memory_equal(&dot[2], &dot[1], sizeof *dot);
  free(x), free(expected), free(closed), free(open);
}

/// Numbers of single precision, [count].
static float *floats(batch_case *c, size_t count)
{
  return (float *)case_output(&c->memory, (count + 1) / 2);
}

/// K' of all K^e, in single precision.
static kg_locals differences(batch_case *c)
{
  kg_locals all = c->locals;
  for (kg_local *local = all.local; local < all.local + all.n_locals; ++local) {
    const kg_local from = *local;
    local->layout = KG_LAYOUT_DIFFERENCES;
    local->number = KG_SINGLE;
    local->data = floats(c, kg_local_count(local));
    must(c->memory.ctx,
         kg_local_convert(c->memory.ctx,
                          &(kg_local_convert_args){.m = c->m, .from = from, .to = *local}));
  }
  return all;
}

/// The product with K' is that with K^e, to rounding.
static void check_single(batch_case *c)
{
  kedge_context *context = c->memory.ctx;
  const size_t rows = (size_t)c->layout.count.n_free * (size_t)c->m, n = batch_case_unknowns(c);
  double *x = case_randoms(15, n), dot, *expected = batch_case_product(c, x, &dot);
  float *single_x = floats(c, n);
  must(context,
       kg_round(context,
                &(kg_round_args){.n = (int64_t)n, .from = batch_case_put(c, x), .to = single_x}));
  const kg_trace_product_args args = {
      .batch = c->batch,
      .locals = differences(c),
      .x = single_x,
      .y = floats(c, rows),
      .halo = floats(c, (size_t)c->layout.count.n_shared * (size_t)c->m)};
  must(context, kg_trace_product(context, &args));
  float *trace = (float *)case_fetch(&c->memory, args.y);
  double *y = calloc(n + 1, sizeof *y);
  assert_non_null(y);
  for (size_t i = 0; i < n; ++i) {
    const size_t edge = i / (size_t)c->m, mode = i % (size_t)c->m;
    if (batch_case_is_free(c, (int32_t)edge))
      y[i] = (double)trace[(size_t)c->trace_of_edge[edge] * (size_t)c->m + mode];
  }
  assert_close(n, y, expected, 1e-6);
  free(x), free(expected), free(trace), free(y);
  case_release(&c->memory);
}

static void check_sums(batch_case *c)
{
  kedge_context *context = c->memory.ctx;
  const size_t rows = (size_t)c->layout.count.n_free * (size_t)c->m;
  const kg_facet_loads_args loads = {c->batch, c->condensed, case_output(&c->memory, rows)};
  const kg_facet_diagonal_args diagonal = {c->batch, c->locals, case_output(&c->memory, rows)};
  double *sum[2] = {calloc(batch_case_unknowns(c) + 1, sizeof(double)),
                    calloc(batch_case_unknowns(c) + 1, sizeof(double))};
  assert_true(sum[0] && sum[1]);
  for (int32_t e = 0; e < c->mesh->n_elements; ++e)
    for (int i = 0; i < batch_case_rows(c, e); ++i) {
      const int64_t row = batch_case_unknown(c, e, i);
      if (!batch_case_is_free(c, (int32_t)(row / c->m))) continue;
      sum[0][row] += c->load[(int64_t)e * 4 * c->m + i];
      sum[1][row] += batch_case_local(c, e, i, i);
    }
  for (size_t i = 0; i < batch_case_unknowns(c); ++i)
    if (sum[1][i] != 0.0) sum[1][i] = 1.0 / sum[1][i];
  must(context, kg_facet_loads(context, &loads));
  must(context, kg_facet_diagonal(context, &diagonal));
  double *b = batch_case_get(c, loads.b), *inverse = batch_case_get(c, diagonal.inverse);
  assert_close(batch_case_unknowns(c), b, sum[0], tolerance);
  assert_close(batch_case_unknowns(c), inverse, sum[1], tolerance);
  free(b), free(inverse), free(sum[0]), free(sum[1]);
  case_release(&c->memory);
}

/// W^T W B = I, to the rounding of W.
static void check_blocks(batch_case *c)
{
  kedge_context *context = c->memory.ctx;
  const int m = c->m;
  const int64_t n = (int64_t)batch_case_unknowns(c);
  const size_t count = kg_edge_blocks_count(c->batch.m, &c->layout.count);
  const kg_edge_blocks_args args = {.batch = c->batch,
                                    .locals = c->locals,
                                    .number = KG_DOUBLE,
                                    .form = KG_BLOCK_FACTOR,
                                    .inverse = case_output(&c->memory, (count + 1) / 2),
                                    .fault = (int32_t *)case_output(&c->memory, 1)};
  must(context, kg_edge_blocks(context, &args));
  float *w = (float *)case_fetch(&c->memory, args.inverse);
  enum { MODES = KEDGE_ORDER_MAX + 1 };
  double *a = batch_case_dense(c), product[MODES * MODES], wanted[MODES * MODES];
  for (int32_t edge = 0; edge < c->mesh->n_edges; ++edge) {
    if (!batch_case_is_free(c, edge)) continue;
    const float *factor = w + kg_edge_block_at(m, c->trace_of_edge[edge]);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) {
        double sum = 0.0;
        for (int k = 0; k < m; ++k)
          for (int l = k > i ? k : i; l < m; ++l)
            sum += (double)factor[kg_packed_entry(l, i) * KG_LANES] *
                   (double)factor[kg_packed_entry(l, k) * KG_LANES] *
                   a[(edge * m + k) * n + edge * m + j];
        product[i * m + j] = sum;
        wanted[i * m + j] = i == j;
      }
    assert_close((size_t)(m * m), product, wanted, 1e-6);
  }
  free(w), free(a);
  case_release(&c->memory);
}

/// Sides of all lanes made anew from the arrays of patches; groups without an element belong to the
/// patch in front.
static void check_sides(batch_case *c)
{
  kedge_context *context = c->memory.ctx;
  const size_t sides = kg_lane_sides(&c->layout.count.lanes);
  double *anew = case_output(&c->memory, (sides + 1) / 2);
  must(context, kg_trace_sides(context, &(kg_trace_sides_args){c->batch, (uint32_t *)anew}));
  double *made = case_fetch(&c->memory, anew);
  uint32_t *kept = malloc(sides * sizeof *kept);
  assert_non_null(kept);
  must(context, kg_copy_out(context, kept, c->batch.arrays.side_edge, sides * sizeof *kept));
  assert_memory_equal(made, kept, sides * sizeof(uint32_t));
  free(made), free(kept);
  case_release(&c->memory);
}

static void check_all(batch_case *c)
{
  check_sides(c);
  check_product(c);
  check_single(c);
  check_sums(c);
  check_blocks(c);
}

static void quadrilaterals_have_the_operators_of_their_matrices(void **state)
{
  (void)state;
  const char *const words[] = {"quads 1", "quads 5"};
  kedge_mesh *mesh;
  for (int i = 0; i < 2; ++i) {
    must(ctx, kedge_mesh_generate(ctx, words[i], &mesh));
    batch_case_with(ctx, mesh, 0, NULL, check_all);
    const int32_t cut = 7;
    if (i > 0) batch_case_with(ctx, mesh, 1, &cut, check_all);
    kedge_mesh_destroy(mesh);
  }
  must(ctx, kedge_mesh_generate(ctx, "quads 23", &mesh));
  batch_case_with(ctx, mesh, 0, NULL, check_product);
  batch_case_with(ctx, mesh, 0, NULL, check_single);
  batch_case_with(ctx, mesh, 0, NULL, check_sums);
  kedge_mesh_destroy(mesh);
}

/// Four facets with as many modes as triangular ones have: m is no order.
static void facets_of_many_modes_have_products_and_sums(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "quads 13", &mesh));
  for (int order = 4; order <= 6; ++order) {
    const int m = (order + 1) * (order + 2) / 2;
    batch_case c;
    batch_case_create(&c, ctx, mesh, m, 0, NULL);
    check_sums(&c);
    check_sides(&c);
    check_product(&c);
    check_single(&c);
    batch_case_destroy(&c);
  }
  kedge_mesh_destroy(mesh);
}

static void both_shapes_have_the_operators_of_their_matrices(void **state)
{
  (void)state;
  kedge_mesh *mesh = test_checkerboard(ctx, 5);
  const int32_t cuts[] = {5, mesh->n_elements - 4};
  batch_case_with(ctx, mesh, 0, NULL, check_all);
  batch_case_with(ctx, mesh, 2, cuts, check_all);
  kedge_mesh_destroy(mesh);
  mesh = test_checkerboard(ctx, 25);
  batch_case_with(ctx, mesh, 0, NULL, check_product);
  batch_case_with(ctx, mesh, 0, NULL, check_single);
  batch_case_with(ctx, mesh, 0, NULL, check_sums);
  kedge_mesh_destroy(mesh);
}

static void triangles_in_two_batches_have_the_operators_of_their_matrices(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 4", &mesh));
  for (int32_t cut = 1; cut < mesh->n_elements; cut += 10)
    batch_case_with(ctx, mesh, 1, &cut, check_all);
  kedge_mesh_destroy(mesh);
}

static void a_product_of_two_batches_is_that_of_one(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 24", &mesh));
  for (int order = 1; order <= 6; order += test_is_quick() ? 5 : 1) {
    batch_case one;
    batch_case_create(&one, ctx, mesh, order + 1, 0, NULL);
    double *x = case_randoms(5, batch_case_unknowns(&one)), dot[2],
           *whole = product(&one, x, false, &dot[0]);
    for (int32_t cut = 1; cut < mesh->n_elements; cut += 255) {
      batch_case two;
      batch_case_create(&two, ctx, mesh, order + 1, 1, &cut);
      assert_int_equal(two.locals.n_locals, 2);
      double *parts = product(&two, x, false, &dot[1]);
      assert_close(batch_case_unknowns(&one), parts, whole, tolerance);
      assert_close(1, &dot[1], &dot[0], tolerance);
      free(parts);
      batch_case_destroy(&two);
    }
    free(x), free(whole);
    batch_case_destroy(&one);
  }
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quadrilaterals_have_the_operators_of_their_matrices),
      cmocka_unit_test(facets_of_many_modes_have_products_and_sums),
      cmocka_unit_test(both_shapes_have_the_operators_of_their_matrices),
      cmocka_unit_test(triangles_in_two_batches_have_the_operators_of_their_matrices),
      cmocka_unit_test(a_product_of_two_batches_is_that_of_one),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
