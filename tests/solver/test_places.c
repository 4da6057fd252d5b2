// Where arrays lie: those that share the memory of K^e, and what that saves.
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "compare.h"
#include "context.h"
#include "core/context.h"
#include "solver/need.h"
#include "solver/pipeline.h"
#include "support.h"

typedef struct prepared {
  kg_pipeline p;
  kedge_mesh *mesh;
  kedge_problem *problem;
} prepared;

/// Two keys of [solver], and whether the load vectors stay through the trace solve.
typedef struct variant {
  const char *key[2], *value[2];
  bool forgets_load;
} variant;

static void prepared_open(prepared *s, const char *order, const variant *v, const char *reaction)
{
  *s = (prepared){0};
  // More triangles than the kernel for small problems takes, which does not reduce K^e.
  must(ctx, kedge_mesh_generate(ctx, "square 101", &s->mesh));
  s->problem = problem_of(
      ctx, SETTINGS({"space", "order", order}, {"boundary default", "type", "dirichlet"},
                    {"boundary default", "value", "x"}, {"solver", "preconditioner", "multigrid"},
                    {"equation", "reaction", reaction}, {"solver", v->key[0], v->value[0]},
                    {"solver", v->key[1], v->value[1]}));
  s->p = (kg_pipeline){.ctx = ctx, .mesh = s->mesh, .problem = s->problem};
  must(ctx, kg_pipeline_prepare(&s->p));
  s->p.shape.keeps_load = !v->forgets_load;
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
static int count_parts(const char *order, const variant *v, const char *reaction)
{
  prepared s;
  prepared_open(&s, order, v, reaction);
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

static const char *const orders[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"};
enum { ORDERS = sizeof orders / sizeof *orders };

static void arrays_that_live_together_do_not_overlap(void **state)
{
  (void)state;
  static const variant variants[] = {
      {{"precision", "smoothing_steps"}, {"double", "1"}},
      {{"precision", "smoothing_steps"}, {"double", "3"}},
      {{"precision", "smoothing_steps"}, {"double", "1"}, .forgets_load = true},
      {{"precision", "smoothing_steps"}, {"mixed", "2"}},
      {{"precision", "smoother"}, {"mixed", "line"}, .forgets_load = true},
      {{"smoother", "smoothing_steps"}, {"strip", "1"}},
      {{"smoother", "smoothing_steps"}, {"element", "2"}},
      {{"preconditioner", "smoother"}, {"block-jacobi", "strip"}},
      {{"preconditioner", "tolerance"}, {"jacobi", "1e-8"}}};
  for (int p = 0; p < ORDERS; ++p)
    for (size_t k = 0; k < sizeof variants / sizeof *variants; ++k)
      assert_true(count_parts(orders[p], &variants[k], "0") > 0);
}

static void with_reaction_or_compact_every_array_has_memory_of_its_own(void **state)
{
  (void)state;
  static const variant variants[] = {{{"precision", "smoother"}, {"mixed", "edge"}},
                                     {{"precision", "smoother"}, {"compact", "line"}},
                                     {{"precision", "smoother"}, {"double", "strip"}, true}};
  for (int p = 0; p < ORDERS; ++p)
    for (int k = 0; k < 3; ++k)
      assert_int_equal(count_parts(orders[p], &variants[k], k == 1 ? "0" : "1"), 0);
}

static const int32_t sizes[] = {5000, 10000, 40000, 100000, 1000000, 10000000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const char good[] = "square 200";
/// Meshes with lines: of short patches, and of ones that are a triangle wide.
static const char *const thin[] = {"ring 200 25", "ring 50 50", "ring 1000 12", "ring 5000 4"};

/// The most that a solve holds at once, with so many triangles.
static void peaks_of(const char *generate, const char *order, const char *preconditioner,
                     const char *precision, bool reaction, double bytes[SIZES])
{
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, generate, &mesh));
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"space", "order", order}, {"boundary default", "type", "dirichlet"},
                               {"boundary default", "value", "x"},
                               {"equation", "reaction", reaction ? "1" : "0"},
                               {"solver", "preconditioner", preconditioner},
                               {"solver", "precision", precision}, {"output", "fields", "cells"}));
  kg_pipeline p = {.ctx = ctx, .mesh = mesh, .problem = problem};
  must(ctx, kg_pipeline_prepare(&p));
  for (int i = 0; i < SIZES; ++i) {
    kg_shape shape = kg_shape_scaled(&p.shape, sizes[i]);
    shape.keeps_load = strcmp(precision, "compact") != 0;
    must(ctx, kg_shape_work(ctx, &shape));
    bytes[i] = (double)kg_peak_bytes(&shape);
  }
  kg_pipeline_free(&p);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

/// K^e, nine vectors, load vectors and the mesh: a solve by Jacobi in which no memory is shared.
static double without_sharing(const char *order)
{
  const double P = atoi(order), m = P + 1, n = 3 * m;
  return 8 * (n * (n + 1) / 2 + 6 * 1.5 * m + (P + 1) * (P + 2) / 2) + 36;
}

static void multigrid_adds_a_quarter_at_most_to_packed_matrices_and_vectors(void **state)
{
  (void)state;
  for (int p = 0; p < ORDERS; ++p) {
    double bytes[SIZES];
    peaks_of(good, orders[p], "multigrid", "double", false, bytes);
    assert_at_most(bytes[SIZES - 1] / (sizes[SIZES - 1] * without_sharing(orders[p])), 1.25);
  }
}

/// Compares the memory of multigrid in double precision with that of Jacobi.
/// @param[in] first  most of it at order 1; a quarter is with the others
static void check_beside_jacobi(const char *generate, double first)
{
  for (int p = 0; p < ORDERS; ++p)
    for (int reaction = 0; reaction < 2; ++reaction) {
      double jacobi[SIZES], multigrid[SIZES];
      peaks_of(generate, orders[p], "jacobi", "double", reaction, jacobi);
      peaks_of(generate, orders[p], "multigrid", "double", reaction, multigrid);
      for (int i = 0; i < SIZES; ++i)
        assert_at_most(multigrid[i] / jacobi[i], p == 0 ? first : 1.25);
    }
}

static void multigrid_adds_a_quarter_at_most_to_jacobi(void **state)
{
  (void)state;
  check_beside_jacobi(good, 1.25);
}

/// Order 1 is the exception: couplings of 16 bytes a triangle beside some 350, and halos of 20 on
/// the thinnest.
static void with_lines_it_adds_a_quarter_at_most_from_order_2_on(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof thin / sizeof *thin; ++i) check_beside_jacobi(thin[i], 1.31);
}

/// At order 1 on smaller meshes what has one size counts, of which tables of the basis are most.
static void compact_needs_six_tenths_of_the_memory(void **state)
{
  (void)state;
  for (int p = 0; p < ORDERS; ++p)
    for (int reaction = 0; reaction < 2; ++reaction) {
      double compact[SIZES], multigrid[SIZES];
      peaks_of(good, orders[p], "multigrid", "compact", reaction, compact);
      peaks_of(good, orders[p], "multigrid", "double", reaction, multigrid);
      for (int i = 0; i < SIZES; ++i) {
        const double first = sizes[i] < 40000 ? 0.65 : sizes[i] < 1000000 ? 0.605 : 0.6;
        assert_at_most(compact[i] / multigrid[i], p == 0 ? first : 0.6);
      }
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_that_live_together_do_not_overlap),
      cmocka_unit_test(with_reaction_or_compact_every_array_has_memory_of_its_own),
      cmocka_unit_test(multigrid_adds_a_quarter_at_most_to_packed_matrices_and_vectors),
      cmocka_unit_test(multigrid_adds_a_quarter_at_most_to_jacobi),
      cmocka_unit_test(with_lines_it_adds_a_quarter_at_most_from_order_2_on),
      cmocka_unit_test(compact_needs_six_tenths_of_the_memory),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
