// The example of King 2014 (Figs. 3 and 4): two triangles, five edges, one unknown an edge.
// Triangle 0 has edges 0, 1, 2, triangle 1 has 0, 4, 3. The arrays that the paper prints are those
// of the work memory.
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "context.h"
#include "ell_problem.h"

enum { N_EDGES = 5, N_SIDES = 6 };

static const int32_t triangle_edges[2][3] = {{0, 1, 2}, {0, 4, 3}};
static const int32_t sorted_edges[N_SIDES] = {0, 0, 1, 2, 3, 4};
static const int32_t owners[N_SIDES] = {0, 1, 0, 0, 1, 1};
static const int32_t sides_of_edge[N_EDGES] = {2, 1, 1, 1, 1};
static const int32_t begins[N_EDGES] = {0, 2, 3, 4, 5};

/// The matrix of the example, and the work memory after its assembly; all in host memory.
typedef struct example {
  ell_problem p;
  int32_t *work;
  size_t n_work;
  int32_t column[N_EDGES][N_EDGES];  ///< [row][entry]
  double value[N_EDGES][N_EDGES];
} example;

/// The numbering of the paper takes the place of the mesh's.
static void number_as_printed(ell_problem *p)
{
  const size_t n = 3 * KG_LANES * (size_t)p->layout.count.n_groups;
  uint32_t *side_edge = calloc(n, sizeof *side_edge);
  assert_non_null(side_edge);
  for (int32_t e = 0; e < 2; ++e)
    for (int l = 0; l < 3; ++l) side_edge[l * KG_LANES + e] = (uint32_t)triangle_edges[e][l] << 1;
  must(p->ctx,
       kg_copy_in(p->ctx, (void *)p->batch.arrays.side_edge, side_edge, n * sizeof *side_edge));
  must(p->ctx, kg_sync(p->ctx));
  free(side_edge);
}

static void assemble(example *x)
{
  ell_problem *p = &x->p;
  kg_buffer local, work;
  const kg_local shape = kg_local_all(KG_LAYOUT_PACKED, KG_DOUBLE, p->size, &p->layout.count, NULL);
  kg_local packed = shape;
  kg_ell_assemble_args args = {.batch = p->batch, .matrix = p->matrix};
  must(p->ctx, kg_upload(p->ctx, p->local, kg_local_count(&shape), sizeof(double), &local));
  must(p->ctx, kg_ell_work_bytes(p->ctx, &p->layout.count, &args.work_bytes));
  must(p->ctx, kg_alloc(p->ctx, args.work_bytes, 1, &work));
  packed.data = local.data;
  args.locals = kg_locals_of(packed, p->batch.arrays.side_edge);
  args.work = work.data;
  must(p->ctx, kg_ell_assemble(p->ctx, &args));
  x->n_work = args.work_bytes / sizeof *x->work;
  x->work = malloc(args.work_bytes);
  assert_non_null(x->work);
  must(p->ctx, kg_copy_out(p->ctx, x->work, args.work, args.work_bytes));
  const size_t stride = (size_t)p->matrix.stride;
  for (size_t k = 0; k < N_EDGES; ++k) {
    int32_t column[N_EDGES];
    double value[N_EDGES];
    must(p->ctx, kg_copy_out(p->ctx, column, p->matrix.column + k * stride, sizeof column));
    must(p->ctx, kg_copy_out(p->ctx, value, p->matrix.value + k * stride, sizeof value));
    must(p->ctx, kg_sync(p->ctx));
    for (int row = 0; row < N_EDGES; ++row) {
      x->column[row][k] = column[row];
      x->value[row][k] = value[row];
    }
  }
  kg_free(p->ctx, &local);
  kg_free(p->ctx, &work);
}

static void create(example *x)
{
  ell_problem_create(&x->p, ctx, 2, 0, ALL_NEUMANN);
  assert_int_equal(x->p.layout.count.n_free, N_EDGES);
  assert_int_equal(x->p.matrix.width, N_EDGES);
  number_as_printed(&x->p);
  assemble(x);
}

static void destroy(example *x)
{
  free(x->work);
  ell_problem_destroy(&x->p);
}

/// Whether some place of the work memory holds these numbers.
static bool holds(const example *x, const int32_t *numbers, size_t n)
{
  for (size_t at = 0; at + n <= x->n_work; ++at)
    if (!memcmp(x->work + at, numbers, n * sizeof *numbers)) return true;
  return false;
}

/// The sides are the owners and the facet of each: sorted by edge they end up as printed.
static void owners_by_edge_and_their_places_are_those_printed(void **state)
{
  (void)state;
  example x;
  create(&x);
  kg_side sides[N_SIDES];
  for (int i = 0; i < N_SIDES; ++i) {
    int l = 0;
    while (triangle_edges[owners[i]][l] != sorted_edges[i]) ++l;
    sides[i] = kg_side_of(owners[i], l);
  }
  assert_int_equal(sizeof(kg_side), sizeof(int32_t));
  assert_true(holds(&x, (const int32_t *)sides, N_SIDES));
  assert_true(holds(&x, begins, N_EDGES));
  if (kedge_context_backend(ctx) == KEDGE_BACKEND_CUDA)  // on the host begin[f + 1] ends edge f
    assert_true(holds(&x, sides_of_edge, N_EDGES));
  destroy(&x);
}

static double local_entry(const example *x, int32_t e, int row, int col)
{
  const int k = row >= col ? row * (row + 1) / 2 + col : col * (col + 1) / 2 + row;
  return x->p.local[(size_t)k * KG_LANES + (size_t)e];
}

static void the_row_of_the_common_edge_has_entries_in_all_five_columns(void **state)
{
  (void)state;
  static const int32_t columns[N_EDGES] = {0, 1, 2, 4, 3};
  example x;
  create(&x);
  assert_memory_equal(x.column[0], columns, sizeof columns);
  assert_true(x.value[0][0] == local_entry(&x, 0, 0, 0) + local_entry(&x, 1, 0, 0));
  for (int k = 1; k < 3; ++k) {
    assert_true(x.value[0][k] == local_entry(&x, 0, 0, k));
    assert_true(x.value[0][k + 2] == local_entry(&x, 1, 0, k));
  }
  destroy(&x);
}

static void rows_of_the_other_edges_have_those_of_their_triangle(void **state)
{
  (void)state;
  static const int32_t columns[N_EDGES][3] = {{0}, {1, 0, 2}, {2, 0, 1}, {3, 0, 4}, {4, 0, 3}};
  example x;
  create(&x);
  for (int row = 1; row < N_EDGES; ++row) {
    assert_memory_equal(x.column[row], columns[row], sizeof columns[row]);
    for (int k = 3; k < N_EDGES; ++k) {
      assert_int_equal(x.column[row][k], -1);
      assert_true(x.value[row][k] == 0.0);
    }
  }
  destroy(&x);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(owners_by_edge_and_their_places_are_those_printed),
      cmocka_unit_test(the_row_of_the_common_edge_has_entries_in_all_five_columns),
      cmocka_unit_test(rows_of_the_other_edges_have_those_of_their_triangle),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
