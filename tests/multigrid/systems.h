/// @file
/// Systems of awkward sizes with all kinds of boundary, and a check of each.
#pragma once
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

static inline void for_systems(system_check *check, int most_order, double reaction)
{
  for_smoother(KEDGE_SMOOTHER_EDGE, check, most_order, reaction);
}
