// The preconditioner on the trace with an exact coarse solver: what it has to be for conjugate
// gradients, and what it gives them. With the solver that is in use: tests/solver/test_multigrid.c.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "exact_coarse.h"
#include "system.h"

static const kg_material with_reaction = {0.8, 1.5, 1.0, KEDGE_SCALING_ONE};
/// The product is corrected by fluxes (ops/vertex_flux.h).
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

/// With random r and s: r . M s = M r . s, and r . M r > 0. Fluxes are kept in single precision.
static void check_symmetry(trace_system *s)
{
  const double coarser = s->multigrid.shape.reduced ? FLT_EPSILON / DBL_EPSILON : 1.0;
  const size_t n = s->n_rows;
  double *r = case_randoms(1, n), *q = case_randoms(2, n);
  double *mr = calloc(s->n_all + 1, sizeof *mr), *mq = calloc(s->n_all + 1, sizeof *mq);
  assert_true(mr && mq);
  system_precondition(s, r, mr);
  system_precondition(s, q, mq);
  // M adds up to rounding of what its steps multiply: |r| |M s|, and A between them.
  const double size = sqrt(dot(n, r, r) * dot(n, mq, mq)) + sqrt(dot(n, q, q) * dot(n, mr, mr));
  assert_at_most(fabs(dot(n, r, mq) - dot(n, mr, q)), coarser * rounding((double)n) * 100 * size);
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

/// Blocks, lines, coarse matrix and fluxes come from the same entries, up to rounding, which the blocks'
/// inverses magnify by their condition.
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

/// Make a multigrid of the system's matrices with K^e of element e spoilt; the sentence.
static const char *refusal(trace_system *s, kedge_smoother smoother, int32_t e)
{
  const size_t at = (size_t)(e / KG_LANES) * (size_t)s->c.size.n_packed * KG_LANES + e % KG_LANES;
  s->local[at] = -100.0;  // entry (0, 0): the first mode of side 0
  const size_t n_local = (size_t)s->c.size.n_packed * KG_LANES * (size_t)s->c.batch.count.n_groups;
  kg_multigrid_args args = {.shape = s->multigrid.shape,
                            .batch = s->c.batch,
                            .local = {case_input(&s->c, s->local, n_local), KG_DOUBLE},
                            .solver = &exact_coarse,
                            .trace = s->trace,
                            .space = s->space,
                            .work = s->work};
  assert_int_equal(smoother, args.shape.smoother);
  must(ctx, kg_multigrid_work_bytes(ctx, &args.shape, &args.work_bytes));
  kg_multigrid out;
  assert_int_equal(kg_multigrid_create(ctx, &args, &out), KEDGE_ERR_NUMERIC);
  kg_multigrid_destroy(ctx, &out);
  return kedge_context_error(ctx);
}

static void an_edge_without_an_inverse_is_named(void **state)
{
  (void)state;
  trace_system s;
  const int32_t e = 20;
  create(&s, 33, 2, CASE_NEUMANN, 1);
  const char *sentence = refusal(&s, KEDGE_SMOOTHER_EDGE, e);
  const kedge_mesh *mesh = s.c.mesh;
  const int32_t *corner = mesh->element_vertices + 3 * e;
  char names[2][160];
  for (int k = 0; k < 2; ++k) {  // the edge may be told from either end
    const double *a = mesh->vertices + 2 * corner[k], *b = mesh->vertices + 2 * corner[1 - k];
    snprintf(names[k], sizeof names[k], "on the edge from (%g, %g) to (%g, %g)", a[0], a[1], b[0],
             b[1]);
  }
  if (!strstr(sentence, names[0]) && !strstr(sentence, names[1]))
    fail_msg("%s (%s)", sentence, names[0]);
  system_destroy(&s);
}

static void an_element_without_an_inverse_is_named(void **state)
{
  (void)state;
  trace_system s;
  const int32_t e = 20;
  create_with(&s, KEDGE_SMOOTHER_ELEMENT, 33, 2, CASE_NEUMANN, 1, &with_reaction);
  const char *sentence = refusal(&s, KEDGE_SMOOTHER_ELEMENT, e);
  // The element beyond side 0 has the block of that edge, too, and may be the first.
  const kedge_mesh *mesh = s.c.mesh;
  const int32_t *sides = mesh->edge_sides + 2 * (mesh->side_edge[3 * e] >> 1);
  const int32_t first = sides[0] / 3;
  double centre[2] = {0};
  for (int i = 0; i < 6; ++i)
    centre[i % 2] += mesh->vertices[2 * mesh->element_vertices[3 * first + i / 2] + i % 2] / 3;
  char name[160];
  snprintf(name, sizeof name, "the block of the element around (%g, %g)", centre[0], centre[1]);
  if (!strstr(sentence, name)) fail_msg("%s (%s)", sentence, name);
  system_destroy(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_preconditioner_is_symmetric_and_positive_definite),
      cmocka_unit_test(with_fluxes_the_preconditioner_is_symmetric_and_positive_definite),
      cmocka_unit_test(the_preconditioned_operator_has_eigenvalues_up_to_one),
      cmocka_unit_test(reduced_matrices_make_the_same_preconditioner),
      cmocka_unit_test(the_same_residual_gives_the_same_bits),
      cmocka_unit_test(an_edge_without_an_inverse_is_named),
      cmocka_unit_test(an_element_without_an_inverse_is_named),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
