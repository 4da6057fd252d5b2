// What the iteration leaves of the error of each field.
#include <stdio.h>

#include "diagnose/predicates.h"

/// Say the errors above the threshold, the worst field first.
static bool say_errors(kg_diagnosis *d)
{
  static const char *const names[] = {"sigma", "q", "u", "u*"};
  const kedge_report *r = d->report;
  double error[] = {r->iteration_sigma, r->iteration_q, r->iteration_u, r->iteration_u_star};
  size_t end = 0;
  d->list[0] = '\0';
  for (int n = 0; n < 4; ++n) {
    int worst = -1;
    for (int k = 0; k < 4; ++k)
      if (error[k] > d->threshold && (worst < 0 || error[k] > error[worst])) worst = k;
    if (worst < 0) break;
    end += (size_t)snprintf(d->list + end, sizeof d->list - end, "%s%.1e of the size of %s",
                            n > 0 ? ", " : "", error[worst], names[worst]);
    error[worst] = 0.0;
  }
  kg_say_word(d, d->list);
  return end > 0;
}

/// Something failed that a solve does not need.
bool kg_finds_no_estimate(kg_diagnosis *d)
{
  kg_say_word(d, d->failure);
  return d->failure[0] != '\0';
}

bool kg_finds_left_by_tolerance(kg_diagnosis *d)
{
  const bool holds = say_errors(d) && d->report->needed_tolerance > 0.0;
  kg_say_number(d, "%.0e", d->report->needed_tolerance);
  return holds;
}

bool kg_finds_left_by_rounding(kg_diagnosis *d)
{
  return say_errors(d) && !(d->report->needed_tolerance > 0.0);
}
