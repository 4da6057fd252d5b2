// BoomerAMG as a solver of coarse systems, and as the check of ours.
#include <malloc.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "grid.h"
#include "matrix.h"
#include "multigrid/coarse_hypre.h"

/// A matrix with its solver.
typedef struct coarse_case {
  fe_matrix m;
  device_matrix device;
  kg_coarse *coarse;
} coarse_case;

static void open_case(coarse_case *c)
{
  device_matrix_create(ctx, &c->m, &c->device);
  must(ctx, kg_hypre.create(ctx, &c->device.csr, (kg_coarse_memory){0}, &c->coarse));
}

static void close_case(coarse_case *c)
{
  kg_hypre.destroy(ctx, c->coarse);
  device_matrix_destroy(ctx, &c->device);
  fe_matrix_free(&c->m);
}

static double *random_vector(int32_t n, uint64_t seed)
{
  double *v = calloc((size_t)n, sizeof *v);
  assert_non_null(v);
  for (int32_t i = 0; i < n; ++i) v[i] = test_random(&seed);
  return v;
}

static double dot(int32_t n, const double *a, const double *b)
{
  double sum = 0.0;
  for (int32_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// With reaction most rows have no strong connections: the last level is too large to be solved
// exactly.
static const fe_grid grids[] = {
    {.nx = 19, .ny = 23, .height = 1.0},
    {.nx = 90, .ny = 70, .height = 1.0, .jitter = 0.5},
    {.nx = 150, .ny = 150, .height = 0.02},
    {.nx = 60, .ny = 60, .height = 1.0, .neumann = true, .reaction = 10},
    {.nx = 60, .ny = 60, .height = 1.0, .neumann = true, .reaction = 1e6}};
enum { GRIDS = sizeof grids / sizeof *grids };

static void the_cycle_is_symmetric_and_positive(void **state)
{
  (void)state;
  for (int k = 0; k < GRIDS; ++k) {
    coarse_case c;
    fe_grid_matrix(grids[k], &c.m);
    open_case(&c);
    const int32_t n = c.m.n;
    double *x = random_vector(n, 3), *y = random_vector(n, 4), *mx = random_vector(n, 5),
           *my = random_vector(n, 6);
    solve_on_device(ctx, &kg_hypre, c.coarse, n, x, mx);
    solve_on_device(ctx, &kg_hypre, c.coarse, n, y, my);
    const double xx = dot(n, x, mx), yy = dot(n, y, my);
    assert_true(xx > 0.0 && yy > 0.0);
    assert_true(fabs(dot(n, x, my) - dot(n, y, mx)) <= 10.0 * rounding(n) * sqrt(xx * yy));
    solve_on_device(ctx, &kg_hypre, c.coarse, n, x, my);
    assert_memory_equal(mx, my, (size_t)n * sizeof *mx);
    free(x);
    free(y);
    free(mx);
    free(my);
    close_case(&c);
  }
}

/// Ours may take up to twice as many: its cycle is built for what a GPU does well.
static void ours_converges_like_boomeramg(void **state)
{
  (void)state;
  for (int k = 0; k < GRIDS + 1; ++k) {
    fe_matrix m;
    if (k < GRIDS)
      fe_grid_matrix(grids[k], &m);
    else
      fe_irregular_matrix(7001, &m);
    const int theirs = coarse_iterations(ctx, &kg_hypre, &m);
    const int ours = coarse_iterations(ctx, &kg_amg, &m);
    assert_in_range(theirs, 1, 20);
    assert_in_range(ours, 1, 2 * theirs);
    fe_matrix_free(&m);
  }
}

static void levels_are_described(void **state)
{
  (void)state;
  coarse_case c;
  fe_grid_matrix((fe_grid){.nx = 50, .ny = 50, .height = 1.0}, &c.m);
  open_case(&c);
  kg_coarse_info info;
  kg_hypre.describe(c.coarse, &info);
  assert_in_range(info.n_levels, 2, KG_COARSE_LEVELS);
  assert_int_equal(info.rows[0], c.m.n);
  assert_int_equal(info.entries[0], c.m.n_entries);
  double entries = 0.0;
  for (int l = 0; l < info.n_levels; ++l) {
    if (l > 0) assert_true(info.rows[l] < info.rows[l - 1]);
    entries += (double)info.entries[l];
  }
  assert_true(info.direct);
  assert_true(info.operator_complexity == entries / c.m.n_entries);
  close_case(&c);
}

static double heap_bytes(void)
{
  const struct mallinfo2 info = mallinfo2();
  return (double)info.uordblks + (double)info.hblkhd;
}

static void it_keeps_no_more_than_it_says_and_most_of_that(void **state)
{
  (void)state;
  const fe_grid some[] = {{.nx = 150, .ny = 150, .height = 1.0, .jitter = 0.5},
                          {.nx = 150, .ny = 150, .height = 1.0},
                          {.nx = 150, .ny = 150, .height = 0.02}};
  for (int k = 0; k < 3; ++k) {
    coarse_case c;
    fe_grid_matrix(some[k], &c.m);
    device_matrix_create(ctx, &c.m, &c.device);
    const double before = heap_bytes();
    must(ctx, kg_hypre.create(ctx, &c.device.csr, (kg_coarse_memory){0}, &c.coarse));
    const double kept = heap_bytes() - before;
    const double said = (double)kg_hypre.bytes(c.m.n, c.m.n_entries, 0).kept;
    assert_true(kept <= said && said <= 2.0 * kept);
    close_case(&c);
  }
}

static void a_matrix_that_is_not_positive_definite_is_refused(void **state)
{
  (void)state;
  coarse_case c;
  fe_grid_matrix((fe_grid){.nx = 9, .ny = 9, .height = 1.0}, &c.m);
  c.m.value[c.m.row[17]] = -1.0;
  device_matrix_create(ctx, &c.m, &c.device);
  assert_int_equal(kg_hypre.create(ctx, &c.device.csr, (kg_coarse_memory){0}, &c.coarse),
                   KEDGE_ERR_NUMERIC);
  assert_null(c.coarse);
  assert_string_equal(kedge_context_error(ctx),
                      "the coarse matrix is not positive definite: -1 on the diagonal of row 17");
  close_case(&c);
}

static void mpi_is_initialised_once(void **state)
{
  (void)state;
  for (int k = 0; k < 2; ++k) {
    coarse_case c;
    fe_grid_matrix((fe_grid){.nx = 5, .ny = 5, .height = 1.0}, &c.m);
    open_case(&c);
    close_case(&c);
    int begun;
    MPI_Initialized(&begun);
    assert_true(begun);
  }
}

static void a_gpu_is_refused(void **state)
{
  (void)state;
  coarse_case c;
  fe_grid_matrix((fe_grid){.nx = 5, .ny = 5, .height = 1.0}, &c.m);
  device_matrix_create(ctx, &c.m, &c.device);
  assert_int_equal(kg_hypre.create(ctx, &c.device.csr, (kg_coarse_memory){0}, &c.coarse),
                   KEDGE_ERR_UNSUPPORTED);
  assert_string_equal(kedge_context_error(ctx),
                      "hypre solves coarse systems in host memory: take kedge's own on a GPU");
  close_case(&c);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest on_host[] = {
      cmocka_unit_test(mpi_is_initialised_once),
      cmocka_unit_test(the_cycle_is_symmetric_and_positive),
      cmocka_unit_test(ours_converges_like_boomeramg),
      cmocka_unit_test(levels_are_described),
      cmocka_unit_test(it_keeps_no_more_than_it_says_and_most_of_that),
      cmocka_unit_test(a_matrix_that_is_not_positive_definite_is_refused),
  };
  const struct CMUnitTest on_gpu[] = {cmocka_unit_test(a_gpu_is_refused)};
  if (test_backend() == KEDGE_BACKEND_CUDA)
    return cmocka_run_group_tests_name("multigrid.hypre", on_gpu, open_context, close_context);
  return cmocka_run_group_tests_name("multigrid.hypre", on_host, open_context, close_context);
}
