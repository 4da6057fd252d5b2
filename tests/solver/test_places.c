// Where arrays lie: those that live together have memory of their own, or share that of K^e.
#include <stdlib.h>

#include "backend.h"
#include "compare.h"
#include "context.h"
#include "core/context.h"
#include "solver/need.h"
#include "solver/pipeline.h"
#include "support.h"

/// Two keys of [solver], the reaction, and whether the load vectors stay through the trace solve.
typedef struct variant {
  const char *key[2], *value[2];
  const char *reaction;
  bool forgets_load;
} variant;

static bool overlap(const kg_buffer *a, const kg_buffer *b)
{
  const char *begin_a = a->data, *begin_b = b->data;
  return begin_a < begin_b + b->bytes && begin_b < begin_a + a->bytes;
}

/// No two arrays of a stage overlap but those behind K^e; how many there are.
static int check_stage(const kg_pipeline *p, size_t reduced_bytes)
{
  const kg_buffer *b = p->buffers, *local = &b[KG_ARRAY_LOCAL];
  int n_parts = 0;
  for (kg_array i = 0; i < KG_ARRAY_COUNT; ++i)
    for (kg_array j = 0; j < i; ++j) {
      if (!b[i].data || !b[j].data || !overlap(&b[i], &b[j])) continue;
      const kg_buffer *part = j == KG_ARRAY_LOCAL ? &b[i] : &b[j];
      assert_true(i == KG_ARRAY_LOCAL || j == KG_ARRAY_LOCAL);
      assert_true((char *)part->data >= (char *)local->data + reduced_bytes);
      assert_true((char *)part->data + part->bytes <= (char *)local->data + local->bytes);
      ++n_parts;
    }
  return n_parts;
}

/// Arrays in the memory of K^e: those of all stages together.
static int count_parts(const kedge_mesh *mesh, const char *order, const variant *v)
{
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", order}, {"boundary default", "type", "dirichlet"},
                    {"boundary default", "value", "x"}, {"solver", "preconditioner", "multigrid"},
                    {"equation", "reaction", v->reaction}, {"solver", v->key[0], v->value[0]},
                    {"solver", v->key[1], v->value[1]}));
  kg_pipeline p = {.ctx = ctx, .mesh = mesh, .problem = problem};
  must(ctx, kg_pipeline_prepare(&p));
  p.shape.choice.loads_stay = !v->forgets_load;
  const kg_local local =
      kg_local_all(KG_LAYOUT_REDUCED, KG_DOUBLE, p.shape.size, &p.shape.count, NULL);
  const size_t reduced = kg_local_bytes(&local);
  int n_parts = 0;
  for (kedge_stage stage = KEDGE_STAGE_TRANSFER; stage <= KEDGE_STAGE_POSTPROCESS; ++stage) {
    must(ctx, kg_arrays_enter(ctx, stage, &p.shape, p.buffers));
    assert_int_equal(ctx->bytes_in_use, kg_stage_bytes(stage, &p.shape));
    n_parts += check_stage(&p, reduced);
    kg_arrays_leave(ctx, stage, &p.shape, p.buffers);
  }
  kg_pipeline_free(&p);
  kedge_problem_destroy(problem);
  assert_int_equal(ctx->bytes_in_use, 0);
  return n_parts;
}

static void arrays_that_live_together_do_not_overlap(void **state)
{
  (void)state;
  static const char *const orders[] = {"1", "4", "8"};
  static const variant variants[] = {
      {{"precision", "smoothing_steps"}, {"double", "1"}, "0"},
      {{"precision", "smoothing_steps"}, {"double", "3"}, "0", .forgets_load = true},
      {{"precision", "smoothing_steps"}, {"mixed", "2"}, "0"},
      {{"precision", "smoother"}, {"mixed", "line"}, "0", .forgets_load = true},
      {{"precision", "smoother"}, {"double", "line"}, "0"},
      {{"preconditioner", "smoother"}, {"block-jacobi", "line"}, "0"},
      {{"preconditioner", "tolerance"}, {"jacobi", "1e-8"}, "0"},
      {{"precision", "smoother"}, {"mixed", "edge"}, "1"},
      {{"precision", "smoother"}, {"double", "line"}, "1", .forgets_load = true},
      {{"precision", "smoother"}, {"compact", "line"}, "0"}};
  // More triangles than the kernel for small problems takes, which does not reduce K^e.
  kedge_mesh *mesh = square_mesh(ctx, 101);
  int n_parts = 0;
  for (int p = 0; p < 3; ++p)
    for (size_t k = 0; k < sizeof variants / sizeof *variants; ++k)
      n_parts += count_parts(mesh, orders[p], &variants[k]);
  assert_true(n_parts > 0);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_that_live_together_do_not_overlap)};
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
