// How the iteration ended, and what makes rounding large.
#include <math.h>

#include "diagnose/predicates.h"

bool kg_finds_limit(kg_diagnosis *d)
{
  const kedge_report *r = d->report;
  kg_say_number(d, "%.0f", (double)d->problem->max_iterations);
  kg_say_number(d, "%.2e", r->relative_residual);
  return r->stop == KEDGE_STOP_LIMIT;
}

/// Storing the solution in double precision would leave room for the tolerance.
static bool has_room(const kg_diagnosis *d)
{
  return d->report->rounding_residual < d->problem->tolerance;
}

static bool is_rounding(kg_diagnosis *d)
{
  kg_say_number(d, "%.2e", d->report->relative_residual);
  kg_say_number(d, "%.2e", d->report->rounding_residual);
  kg_say_number(d, "%.1e", d->problem->tolerance);
  return d->report->stop == KEDGE_STOP_ROUNDING;
}

bool kg_finds_rounding_reached(kg_diagnosis *d)
{
  const bool holds = is_rounding(d) && d->report->converged;
  kg_say_word(d, !has_room(d) ? "cannot be reached"
                 : d->is_compact
                     ? "is out of reach of precision = compact; take precision = double for it"
                     : "is out of reach of restarts");
  return holds;
}

bool kg_finds_no_solution(kg_diagnosis *d)
{
  return is_rounding(d) && d->problem->accepts_rounding &&
         d->report->relative_residual > d->threshold;
}

bool kg_finds_undetermined(kg_diagnosis *d)
{
  const bool holds = kg_finds_no_solution(d);
  d->n_words = 0;
  kg_say_word(d, d->resolved->has_robin ? ", or a larger robin coefficient" : "");
  return holds;
}

/// Round a residual that was reached up to one digit: a tolerance that can be reached.
static double attainable(double residual)
{
  const double unit = pow(10.0, floor(log10(residual)));
  return ceil(residual / unit) * unit;
}

bool kg_finds_out_of_reach(kg_diagnosis *d)
{
  if (!is_rounding(d)) return false;
  const bool is_single = has_room(d) && d->is_compact;
  kg_say_word(d, is_single ? "with precision = compact" : "in double precision");
  kg_say_word(d, is_single ? "take precision = double, or " : "");
  kg_say_number(d, "%.0e", attainable(d->report->relative_residual));
  kg_say_word(d, d->problem->accepts_rounding ? "" : ", or leave tolerance = auto");
  return true;
}

/// Rounding is a part of the stabilization: with one that is this many times smaller the tolerance
/// would have been reached.
bool kg_finds_large_stabilization(kg_diagnosis *d)
{
  const double ratio = d->stabilization_ratio;
  kg_say_number(d, "%.0e", ratio);
  return d->report->stop == KEDGE_STOP_ROUNDING && ratio > d->threshold &&
         d->report->relative_residual <= d->problem->tolerance * ratio;
}

bool kg_finds_single_precision(kg_diagnosis *d)
{
  return kg_finds_no_solution(d) && d->is_compact && has_room(d);
}
