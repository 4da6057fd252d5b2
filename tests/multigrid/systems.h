/// @file
/// Systems of awkward sizes with all kinds of boundary, and a check of each.
#pragma once
#include "compare.h"
#include "context.h"
#include "exact_coarse.h"
#include "system.h"

typedef void system_check(trace_system *s);

/// Awkward sizes, all kinds of boundary; `reaction` in tenths of the diffusion.
static inline void for_smoother(kedge_smoother smoother, system_check *check, int most_order,
                                double reaction)
{
  const int sizes[] = {1, 2, 33, 129, 257};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int boundary = 0; boundary < CASE_BOUNDARIES; ++boundary)
      for (int order = 1; order <= (sizes[i] < 100 ? most_order : 2); ++order) {
        if (boundary == CASE_NEUMANN && reaction == 0.0) continue;  // singular
        trace_system s;
        system_create(&s, ctx,
                      (system_options){.n_elements = sizes[i],
                                       .order = order,
                                       .stretch = kg_smoother_has_lines(smoother) ? 20.0 : 1.0,
                                       .boundary = (enum case_boundary)boundary,
                                       .material = {0.8, 0.08 * reaction, 1.0, KEDGE_SCALING_ONE},
                                       .smoother = smoother,
                                       .smoothing_steps = 2,
                                       .solver = &exact_coarse});
        check(&s);
        system_destroy(&s);
      }
}

/// Five stabilizations and no reaction or a large one, on a mesh with Dirichlet and Neumann edges;
/// one step of smoothing.
static inline void for_materials(system_options options, system_check *check)
{
  const double stabilizations[] = {1e-3, 1.0, 50.0, 1e3, 1e6}, reactions[] = {0.0, 1e4};
  options.n_elements = 129;
  options.boundary = CASE_MIXED;
  options.smoothing_steps = 1;
  options.solver = &exact_coarse;
  for (int i = 0; i < 10; ++i) {
    trace_system s;
    options.material =
        (kg_material){1.0, reactions[i % 2], stabilizations[i / 2], KEDGE_SCALING_ONE};
    system_create(&s, ctx, options);
    check(&s);
    system_destroy(&s);
  }
}

/// A step of 1.5 / estimate: it stops to converge where an eigenvalue is 4/3 of the estimate.
static inline void check_estimate(trace_system *s)
{
  assert_false(kg_multigrid_is_measured(&s->multigrid.shape));
  assert_at_most(system_largest_of_steps(s, 100), 1.3 * s->multigrid.largest_eigenvalue);
}

static inline void for_systems(system_check *check, int most_order, double reaction)
{
  for_smoother(KEDGE_SMOOTHER_EDGE, check, most_order, reaction);
}
