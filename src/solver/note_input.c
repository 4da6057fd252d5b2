// What a solve that went well may hide: a right-hand side that was forgotten, or cannot be squared;
// a mean of u that has few digits.
#include <float.h>
#include <stdio.h>

#include "solver/pipeline.h"

/// Neither a source nor boundary values other than 0.
static bool has_no_data(const kg_pipeline *p)
{
  const kg_trace_counts *n = &p->layout.count;
  const size_t edges = (size_t)(n->n_edges - n->n_free + n->n_neumann);
  const size_t values = edges * (size_t)p->shape.size.n_edge;
  for (size_t i = 0; i < values; ++i)
    if (p->boundary[i] != 0.0) return false;
  return p->resolved.source.kind == KG_FUNCTION_NONE;
}

/// What is left of the digits of the mean of u, beside the unit of rounding: with Neumann
/// conditions alone reaction has to hold it against entries of K^e that are 1 over this times as
/// large (docs/math.md#little-reaction).
static double part_of_reaction(const kg_pipeline *p)
{
  return p->material.reaction * kg_mean_square(p->mesh) / p->material.diffusion;
}

/// The most that rounding was seen to make of the mean on triangles that are not stretched, over
/// DBL_EPSILON / part_of_reaction(); the least was 1.
#define ROUNDING_OF_MEAN 2000.0

void kg_note_input(const kg_pipeline *p, double start_residual)
{
  kedge_solution *s = p->solution;
  const kg_trace_counts *n = &p->layout.count;
  const bool all_neumann = n->n_free == n->n_edges;
  const double part = part_of_reaction(p);
  if (start_residual == 0.0 && n->n_free > 0 && has_no_data(p))
    snprintf(s->note, sizeof s->note,
             "the right-hand side is 0: the problem has neither a source nor an exact solution, "
             "and boundary values are 0, and so is u");
  else if (start_residual == 0.0 && n->n_free > 0)
    snprintf(
        s->note, sizeof s->note,
        "the right-hand side is 0, or too small for its square to be more in double precision: "
        "u is 0 but for boundary values");
  else if (all_neumann && ROUNDING_OF_MEAN * DBL_EPSILON > 1e-6 * part)
    snprintf(
        s->note, sizeof s->note,
        "all boundaries are neumann and reaction * h^2 is only %.0e of the diffusion: rounding "
        "takes as many digits from the mean of u, and up to three more at high orders",
        part);
}
