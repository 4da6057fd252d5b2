// Every element balances: the numerical fluxes through its facets add up to the integral of its
// reaction less that of its source, to rounding, and two neighbours have fluxes that are equal and
// opposite, to the residual. Sums over groups of the mesh are asked for by facet and element here.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "elliptic/elliptic.h"
#include "elliptic/recover/recover.h"
#include "solver/solver.h"
#include "support.h"

/// The numbers of all facets and elements of a mesh.
typedef struct numbers {
  double *facet;            ///< [element][KG_FACETS_MAX]: flux out of the element
  kg_region_sums *element;  ///< [element]
} numbers;

static void *room(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

/// List all sides as facets of groups, and each element as a region.
static void list_all(kg_elliptic *p)
{
  const kedge_mesh *const mesh = p->mesh;
  const kg_lane_batches *const batches = &p->space.cut->layout.batches;
  kg_grouped *const g = &p->grouped;
  kg_grouped_free(g);
  g->count.n_facets = (int32_t)kg_mesh_sides(mesh);
  g->count.n_records = mesh->n_elements;
  for (int b = 0; b < batches->n; ++b)
    g->count.n_runs += (batches->batch[b].n_elements + KG_LANES - 1) / KG_LANES;
  g->count.n_mixed = g->count.n_runs;
  g->list = room(kg_grouped_numbers(&g->count), sizeof *g->list);
  g->edge = room((size_t)g->count.n_facets, sizeof *g->edge);
  g->region = room((size_t)g->count.n_records, sizeof *g->region);
  g->runs = kg_grouped_at(&g->count, g->list, &g->side);
  kg_side *side = (kg_side *)g->side;
  for (int32_t e = 0; e < mesh->n_elements; ++e)
    for (int l = 0; l < kg_block_of(mesh, e)->cell->n_facets; ++l) {
      g->edge[side - g->side] = mesh->group_edges[0];  // only those of groups are added up
      *side++ = kg_side_of(e, l);
    }
  for (int32_t e = 0; e < mesh->n_elements; ++e) g->region[e] = mesh->n_groups - 1;
  int32_t *const first = (int32_t *)g->runs.first, *const record = (int32_t *)g->runs.record;
  int32_t *const mixed = (int32_t *)g->runs.mixed;
  int32_t run = 0;
  for (const kg_lane_batch *b = batches->batch; b < batches->batch + batches->n; ++b)
    for (int32_t i = 0; i < b->n_elements; i += KG_LANES, ++run) {
      first[run] = b->first_group + i / KG_LANES;
      record[run] = b->first_element + i;
      mixed[run] = run * KG_LANES;
      for (int lane = 0; lane < KG_LANES; ++lane)
        ((uint8_t *)g->runs.slot)[run * KG_LANES + lane] = (uint8_t)lane;
    }
  first[run] = first[run - 1] + 1;
  record[run] = mesh->n_elements;
  p->shape.grouped = g->count;
}

static void run(kg_elliptic *p, kg_stage stage, kedge_status (*work)(kg_elliptic *))
{
  must(ctx, kg_run_begin(&p->run, stage));
  must(ctx, kg_run_end(&p->run, work(p)));
}

static numbers numbers_of(const kedge_mesh *mesh, const kedge_problem *problem)
{
  kedge_solution *solution;
  must(ctx, kg_solution_create(ctx, &solution));
  kg_elliptic p = {.ctx = ctx, .mesh = mesh, .equation.problem = problem, .run.solution = solution};
  must(ctx, kg_elliptic_prepare(&p));
  list_all(&p);
  p.shape.choice.kept = KG_HOLDS_MODES | KG_HOLDS_INDICATOR | KG_HOLDS_TRACE;
  kg_memory_choose(ctx, &p.shape, kg_memory_free(ctx), &p.plan, &p.arrays);
  kg_report_fill(&p);
  must(ctx, kg_results_allocate(&p, KG_ON_HOST));
  run(&p, KG_STAGE_TRANSFER, kg_stage_transfer);
  run(&p, KG_STAGE_LOCAL_MATRICES, kg_stage_local_matrices);
  run(&p, KG_STAGE_ASSEMBLY, kg_stage_assembly);
  run(&p, KG_STAGE_TRACE_SOLVE, kg_stage_trace_solve);
  assert_true(solution->report.converged);
  must(ctx, kg_stages_local(&p));
  const size_t m = (size_t)p.shape.m, n = (size_t)p.grouped.count.n_facets * (1 + m);
  const size_t n_elements = (size_t)mesh->n_elements;
  numbers out = {.facet = room(n_elements * KG_FACETS_MAX, sizeof(double)),
                 .element = room(n_elements, sizeof(kg_region_sums))};
  double *facets = room(n, sizeof *facets);
  must(ctx, kg_copy_out(ctx, facets, p.arrays.numbers.facets, n * sizeof *facets));
  must(ctx,
       kg_copy_out(ctx, out.element, p.arrays.numbers.records, n_elements * sizeof *out.element));
  for (int32_t i = 0; i < p.grouped.count.n_facets; ++i)
    out.facet[p.grouped.side[i] % 4 + p.grouped.side[i] / 4 * KG_FACETS_MAX] =
        facets[(size_t)i * (1 + m)];
  free(facets);
  kg_elliptic_free(&p);
  kedge_solution_destroy(solution);
  return out;
}

/// Check the elements of a problem, whose mesh its settings name.
/// @param[in] opposite  bound of the sums of the fluxes of two neighbours, relative to the largest
static void check(const setting *settings, double opposite)
{
  kedge_problem *problem = problem_of(ctx, settings);
  kedge_mesh *mesh;
  must(ctx, kedge_problem_mesh(problem, &mesh));
  const numbers n = numbers_of(mesh, problem);
  double most = 0.0, worst = 0.0;
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const kg_region_sums *const of = &n.element[e];
    const int facets = kg_block_of(mesh, e)->cell->n_facets;
    double sum = of->source - of->reaction, largest = fmax(fabs(of->source), fabs(of->reaction));
    for (int l = 0; l < facets; ++l) {
      sum += n.facet[e * KG_FACETS_MAX + l];
      largest = fmax(largest, fabs(n.facet[e * KG_FACETS_MAX + l]));
      most = fmax(most, fabs(n.facet[e * KG_FACETS_MAX + l]));
    }
    // tau u and tau times the trace, which nearly cancel, are terms of their own.
    largest = fmax(largest, 4.0 * fmax(fabs(of->least), fabs(of->most)));
    worst = fmax(worst, fabs(sum) / largest);
  }
  assert_at_most(worst, 1e-12);
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
    const kg_side *const s = mesh->edge_sides + 2 * (int64_t)edge;
    if (s[1] == KG_NO_SIDE) continue;
    const double *const a = &n.facet[kg_side_element(s[0]) * KG_FACETS_MAX + kg_side_facet(s[0])];
    const double *const b = &n.facet[kg_side_element(s[1]) * KG_FACETS_MAX + kg_side_facet(s[1])];
    assert_at_most(fabs(*a + *b), opposite * most);
  }
  free(n.facet);
  free(n.element);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(problem);
}

#define CONDITIONS                                                                   \
  {"equation", "source", "1 + x*y"}, {"boundary default", "type", "dirichlet"},      \
      {"boundary default", "value", "sin(x) + y"}, {"solver", "tolerance", "1e-13"}, \
  {                                                                                  \
    "space", "stabilization", "1.5"                                                  \
  }

static void straight_triangles_with_constants(void **state)
{
  (void)state;
  const char *const orders[] = {"1", "2", "3", "6"};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i) {
    check(SETTINGS({"mesh", "generate", "square 5"}, {"space", "order", orders[i]},
                   {"equation", "diffusion", "0.6"}, {"equation", "reaction", "1.3"}, CONDITIONS),
          1e-11);
    check(SETTINGS({"mesh", "generate", "square 3"}, {"space", "order", orders[i]},
                   {"equation", "diffusion", "2, 0.5, 1"}, {"space", "stabilization", "0.8*h"},
                   {"equation", "source", "exp(x)"}, {"boundary left", "type", "neumann"},
                   {"boundary left", "value", "y"}, {"boundary right", "type", "robin"},
                   {"boundary right", "coefficient", "1 + y"}, {"boundary right", "value", "x"},
                   {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "0"},
                   {"solver", "tolerance", "1e-13"}),
          1e-11);
  }
}

static void tetrahedra_with_constants(void **state)
{
  (void)state;
  const char *const orders[] = {"1", "2", "3", "6"};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i) {
    check(SETTINGS({"mesh", "generate", "cube 3"}, {"space", "order", orders[i]},
                   {"equation", "diffusion", "0.6"}, {"equation", "reaction", "1.3"}, CONDITIONS),
          1e-11);
    check(SETTINGS({"mesh", "generate", "cube 2"}, {"space", "order", orders[i]},
                   {"equation", "diffusion", "45"}, {"space", "stabilization", "0.8/h"},
                   {"equation", "source", "exp(x)*z"}, {"boundary x0", "type", "neumann"},
                   {"boundary x0", "value", "y - z"}, {"boundary default", "type", "dirichlet"},
                   {"boundary default", "value", "x*z"}, {"solver", "tolerance", "1e-13"}),
          1e-11);
  }
}

static void quadrilaterals_of_all_forms(void **state)
{
  (void)state;
  const char *const inverses[] = {"adjusted", "exact", "gradient"};
  check(SETTINGS({"mesh", "generate", "quads 4"}, {"space", "order", "3"}, CONDITIONS), 1e-11);
  for (size_t i = 0; i < sizeof inverses / sizeof *inverses; ++i)
    check(SETTINGS({"mesh", "generate", "quads 4"}, {"mesh", "map", "x + 0.1*y*x, y - 0.1*x*y"},
                   {"space", "order", "2"}, {"space", "inverse", inverses[i]},
                   {"equation", "diffusion", "3, 1, 1"}, {"equation", "reaction", "1 + x"},
                   CONDITIONS),
          1e-11);
}

static void curves_and_coefficients_that_vary(void **state)
{
  (void)state;
  const char *const inverses[] = {"adjusted", "exact", "gradient"};
  for (size_t i = 0; i < sizeof inverses / sizeof *inverses; ++i) {
    check(
        SETTINGS({"mesh", "generate", "ring 2 8"}, {"mesh", "geometry", "3"},
                 {"space", "order", "2"}, {"space", "inverse", inverses[i]},
                 {"equation", "diffusion", "1 + x^2"}, {"equation", "reaction", "0.5"}, CONDITIONS),
        1e-11);
    check(SETTINGS({"mesh", "generate", "quads 3"}, {"space", "order", "3"},
                   {"space", "inverse", inverses[i]}, {"equation", "diffusion", "1 + x*y"},
                   {"equation", "source", "sin(x)"}, {"boundary default", "type", "dirichlet"},
                   {"boundary default", "value", "x"}, {"solver", "tolerance", "1e-13"}),
          1e-11);
  }
}

static void every_precision_and_preconditioner(void **state)
{
  (void)state;
  const char *const precisions[] = {"double", "mixed", "compact"};
  for (size_t i = 0; i < sizeof precisions / sizeof *precisions; ++i)
    check(SETTINGS({"mesh", "generate", "square 9"}, {"space", "order", "3"},
                   {"solver", "preconditioner", "multigrid"},
                   {"solver", "precision", precisions[i]}, CONDITIONS),
          1e-11);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(straight_triangles_with_constants),
      cmocka_unit_test(tetrahedra_with_constants),
      cmocka_unit_test(quadrilaterals_of_all_forms),
      cmocka_unit_test(curves_and_coefficients_that_vary),
      cmocka_unit_test(every_precision_and_preconditioner),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
