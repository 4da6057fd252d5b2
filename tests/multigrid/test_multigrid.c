// The preconditioner on the trace with an exact coarse solver: what it has to be for conjugate
// gradients, and what it gives them. With the solver that is in use: tests/solver/test_multigrid.c.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "exact_coarse.h"
#include "linear/system.h"
#include "system.h"

static const kg_material with_reaction = {0.8, 1.5, 1.0, KEDGE_SCALING_ONE};
/// The product is corrected by fluxes (ops/smooth/vertex_flux.h).
static const kg_material pure_diffusion = {0.8, 0.0, 1.0, KEDGE_SCALING_ONE};

static void create_with(trace_system *s, kedge_smoother smoother, int n_elements, int order,
                        enum case_boundary boundary, int smoothing_steps,
                        const kg_material *material)
{
  system_create(s, ctx,
                (system_options){.n_elements = n_elements,
                                 .order = order,
                                 .boundary = boundary,
                                 .material = *material,
                                 .smoother = smoother,
                                 .smoothing_steps = smoothing_steps,
                                 .solver = &exact_coarse});
}

static void create(trace_system *s, int n_elements, int order, enum case_boundary boundary,
                   int smoothing_steps)
{
  create_with(s, KEDGE_SMOOTHER_EDGE, n_elements, order, boundary, smoothing_steps, &with_reaction);
}

static double dot(size_t n, const double *a, const double *b)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// Checks with random r and s that r . M s = M r . s, and r . M r > 0.
static void check_symmetry(trace_system *s)
{
  const size_t n = s->n_rows;
  double *r = case_randoms(1, n), *q = case_randoms(2, n);
  double *mr = calloc(s->n_all + 1, sizeof *mr), *mq = calloc(s->n_all + 1, sizeof *mq);
  assert_true(mr && mq);
  system_precondition(s, r, mr);
  system_precondition(s, q, mq);
  // M adds up to rounding of what its steps multiply: |r| |M s|, and A between them.
  const double size = sqrt(dot(n, r, r) * dot(n, mq, mq)) + sqrt(dot(n, q, q) * dot(n, mr, mr));
  assert_at_most(fabs(dot(n, r, mq) - dot(n, mr, q)), rounding((double)n) * 100 * size);
  if (n > 0) assert_true(dot(n, r, mr) > 0.0 && dot(n, q, mq) > 0.0);
  for (size_t i = n; i < s->n_all; ++i) assert_true(mr[i] == 0.0);  // Dirichlet rows
  free(r), free(q), free(mr), free(mq);
}

static void check_symmetries(const kg_material *material)
{
  const int sizes[] = {1, 2, 33, 129, 257};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int boundary = 0; boundary < CASE_BOUNDARIES; ++boundary)
      for (int order = 1; order <= (sizes[i] < 100 ? 5 : 2); ++order)
        for (int steps = 1; steps <= 3; ++steps) {
          trace_system s;
          if (boundary == CASE_NEUMANN && material->reaction == 0.0) continue;  // singular
          for (kedge_smoother k = 0; k < KEDGE_SMOOTHER_AUTO; ++k) {
            create_with(&s, k, sizes[i], order, (enum case_boundary)boundary, steps, material);
            check_symmetry(&s);
            system_destroy(&s);
          }
        }
}

static void the_preconditioner_is_symmetric_and_positive_definite(void **state)
{
  (void)state;
  check_symmetries(&with_reaction);
}

static void with_fluxes_the_preconditioner_is_symmetric_and_positive_definite(void **state)
{
  (void)state;
  check_symmetries(&pure_diffusion);
}

/// What is continuous and linear on every element has no error after the coarse correction, and
/// smoothing leaves it: M A P c is close to P c even where A P c says little.
static void the_preconditioned_operator_has_eigenvalues_up_to_one(void **state)
{
  (void)state;
  for (int k = 0; k < 12; ++k) {
    const int steps = 1 + k % 3;
    trace_system s;
    create_with(&s, (kedge_smoother)(k / 3 % 2), 129, 3, CASE_MIXED, steps,
                k < 6 ? &with_reaction : &pure_diffusion);
    double *x = case_randoms(3, s.n_all), *y = calloc(s.n_rows + 1, sizeof *y);
    assert_non_null(y);
    for (size_t i = s.n_rows; i < s.n_all; ++i) x[i] = 0.0;
    double quotient = 0.0;
    for (int power = 0; power < 50; ++power) {  // steps of M A, with its Rayleigh quotient
      system_multiply(&s, x, y);
      const double energy = dot(s.n_rows, x, y);
      system_precondition(&s, y, x);
      quotient = dot(s.n_rows, x, y) / energy;
      const double scale = 1.0 / largest(s.n_rows, x);
      for (size_t i = 0; i < s.n_rows; ++i) x[i] *= scale;
      assert_true(quotient > 0.0);
    }
    // I - M A = (I - S A)(I - P C P^T A)(I - S A) is positive semidefinite.
    assert_at_most(quotient, 1.0 + rounding((double)s.n_rows));
    free(x), free(y);
    system_destroy(&s);
  }
}

/// M r of pure diffusion with packed or with reduced K^e; to be freed.
static double *preconditioned(kedge_smoother smoother, int order, int steps, bool reduced,
                              size_t *n)
{
  trace_system s;
  system_create(&s, ctx,
                (system_options){.n_elements = 129,
                                 .order = order,
                                 .boundary = CASE_MIXED,
                                 .material = pure_diffusion,
                                 .smoother = smoother,
                                 .smoothing_steps = steps,
                                 .packed = !reduced,
                                 .solver = &exact_coarse});
  double *r = case_randoms(1, s.n_rows), *z = calloc(s.n_all + 1, sizeof *z);
  assert_non_null(z);
  system_precondition(&s, r, z);
  *n = s.n_all;
  system_destroy(&s);
  free(r);
  return z;
}

/// Blocks, lines, coarse matrix and fluxes come from the same entries, up to rounding, which the
/// blocks' inverses magnify by their condition.
static void reduced_matrices_make_the_same_preconditioner(void **state)
{
  (void)state;
  const double coarser = FLT_EPSILON / DBL_EPSILON;  // fluxes, and the coarse matrix
  for (kedge_smoother smoother = 0; smoother < KEDGE_SMOOTHER_AUTO; ++smoother)
    for (int order = 1; order <= (test_is_quick() ? 2 : 7); order += order < 4 ? 1 : 3) {
      size_t n;
      double *packed = preconditioned(smoother, order, 1 + order % 2, false, &n);
      double *reduced = preconditioned(smoother, order, 1 + order % 2, true, &n);
      assert_close(n, reduced, packed, coarser * rounding(100.0));
      free(packed);
      free(reduced);
    }
}

static void the_same_residual_gives_the_same_bits(void **state)
{
  (void)state;
  trace_system s;
  create(&s, 257, 3, CASE_MIXED, 2);
  double *r = case_randoms(1, s.n_rows);
  double *z = calloc(s.n_all + 1, sizeof *z), *again = calloc(s.n_all + 1, sizeof *again);
  assert_true(z && again);
  system_precondition(&s, r, z);
  system_precondition(&s, r, again);
  assert_memory_equal(z, again, s.n_all * sizeof *z);
  free(r), free(z), free(again);
  system_destroy(&s);
}

/// Iterations of conjugate gradients to 1e-10, with this solver at some 1600 vertices.
static int64_t iterations_with(const kg_coarse_table *solver, int order)
{
  trace_system s;
  system_create(&s, ctx,
                (system_options){.n_elements = 3200,
                                 .order = order,
                                 .boundary = CASE_MIXED,
                                 .material = pure_diffusion,
                                 .smoother = KEDGE_SMOOTHER_EDGE,
                                 .smoothing_steps = 1,
                                 .solver = solver});
  const kg_system_rule rule = {.tolerance = 1e-10, .max_iterations = 100};
  kg_plain_residual residual = kg_plain_residual_of(&s.a.base, s.b);
  kg_cycle well = s.cycle;
  well.well = true;
  const kg_system system = {.residual = &residual.base, .krylov = &s.cg.base, .first = &well.base};
  kg_system_result result;
  must(ctx, kg_system_solve(ctx, &system, &rule, &result));
  assert_true(result.converged);
  assert_int_equal(kg_multigrid_levels(&s.multigrid) > 2, solver == &kg_amg);
  system_destroy(&s);
  return result.iterations;
}

/// Better levels, for example those of a refined mesh, could save no iteration
/// (docs/multigrid.md#below-the-trace).
static void aggregates_take_as_many_iterations_as_an_exact_coarse_solver(void **state)
{
  (void)state;
  if (test_backend() == KEDGE_BACKEND_CUDA) skip();  // the exact one cannot be recorded
  for (int order = 1; order <= 9; order += 4) {
    const int64_t exact = iterations_with(&exact_coarse, order);
    const int64_t aggregates = iterations_with(&kg_amg, order);
    print_message("order %d: %d iterations, exact %d\n", order, (int)aggregates, (int)exact);
    assert_true(aggregates <= exact + 1 && exact <= aggregates + 1);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_preconditioner_is_symmetric_and_positive_definite),
      cmocka_unit_test(with_fluxes_the_preconditioner_is_symmetric_and_positive_definite),
      cmocka_unit_test(the_preconditioned_operator_has_eigenvalues_up_to_one),
      cmocka_unit_test(reduced_matrices_make_the_same_preconditioner),
      cmocka_unit_test(the_same_residual_gives_the_same_bits),
      cmocka_unit_test(aggregates_take_as_many_iterations_as_an_exact_coarse_solver),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
