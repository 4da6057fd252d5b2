// Where arrays lie: those that share the memory of K^e, and what that saves.
#include <stdlib.h>

#include "backend.h"
#include "context.h"
#include "core/context.h"
#include "solver/pipeline.h"
#include "support.h"

typedef struct prepared {
  kg_pipeline p;
  kedge_mesh *mesh;
  kedge_problem *problem;
} prepared;

static void prepared_open(prepared *s, const char *order, const char *const solver[2],
                          const char *reaction)
{
  *s = (prepared){0};
  // More triangles than the kernel for small problems takes, which does not reduce K^e.
  must(ctx, kedge_mesh_generate(ctx, "square 101", &s->mesh));
  s->problem = problem_of(
      ctx, SETTINGS({"space", "order", order}, {"boundary default", "type", "dirichlet"},
                    {"boundary default", "value", "x"}, {"solver", "preconditioner", "multigrid"},
                    {"equation", "reaction", reaction}, {"solver", solver[0], solver[1]}));
  s->p = (kg_pipeline){.ctx = ctx, .mesh = s->mesh, .problem = s->problem};
  must(ctx, kg_pipeline_prepare(&s->p));
}

static void prepared_close(prepared *s)
{
  kg_pipeline_free(&s->p);
  kedge_problem_destroy(s->problem);
  kedge_mesh_destroy(s->mesh);
}

static bool overlap(const kg_buffer *a, const kg_buffer *b)
{
  const char *begin_a = a->data, *begin_b = b->data;
  return begin_a < begin_b + b->bytes && begin_b < begin_a + a->bytes;
}

/// No two arrays of a stage overlap but those behind K^e; how many there are.
static int check_stage(const prepared *s, size_t reduced_bytes)
{
  const kg_buffer *b = s->p.buffers, *local = &b[KG_ARRAY_LOCAL];
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
static int count_parts(const char *order, const char *const solver[2], const char *reaction)
{
  prepared s;
  prepared_open(&s, order, solver, reaction);
  const kg_shape *shape = &s.p.shape;
  const size_t reduced = (size_t)kg_reduced_rows(shape->size) * KG_LANES *
                         (size_t)shape->count.n_groups * sizeof(double);
  int n_parts = 0;
  for (kedge_stage stage = KEDGE_STAGE_TRANSFER; stage <= KEDGE_STAGE_POSTPROCESS; ++stage) {
    const int64_t before = ctx->bytes_in_use;
    must(ctx, kg_arrays_enter(ctx, stage, shape, s.p.buffers));
    assert_true(ctx->bytes_in_use >= before);
    assert_int_equal(ctx->bytes_in_use, kg_stage_bytes(stage, shape));
    n_parts += check_stage(&s, reduced);
    kg_arrays_leave(ctx, stage, shape, s.p.buffers);
  }
  prepared_close(&s);
  assert_int_equal(ctx->bytes_in_use, 0);
  return n_parts;
}

static const char *const orders[] = {"1", "2", "3", "4", "7", "9"};
enum { ORDERS = sizeof orders / sizeof *orders };

static void arrays_that_live_together_do_not_overlap(void **state)
{
  (void)state;
  static const char *const solvers[][2] = {{"precision", "double"},      {"precision", "mixed"},
                                           {"smoother", "line"},         {"start", "nested"},
                                           {"preconditioner", "jacobi"}, {"smoothing_steps", "3"}};
  for (int p = 0; p < ORDERS; ++p)
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k)
      assert_true(count_parts(orders[p], solvers[k], "0") > 0);
}

static void with_reaction_or_compact_every_array_has_memory_of_its_own(void **state)
{
  (void)state;
  static const char *const mixed[] = {"precision", "mixed"}, *const compact[] = {"precision",
                                                                                 "compact"};
  for (int p = 0; p < ORDERS; ++p) {
    assert_int_equal(count_parts(orders[p], mixed, "1"), 0);
    assert_int_equal(count_parts(orders[p], compact, "0"), 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_that_live_together_do_not_overlap),
      cmocka_unit_test(with_reaction_or_compact_every_array_has_memory_of_its_own),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
