#include "linear/lanczos.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"

kedge_status kg_lanczos_take(kedge_context *ctx, kg_lanczos *l, const kg_cg_step *steps,
                             int64_t end)
{
  int64_t first = l->first + l->n;
  if (!steps) return KEDGE_OK;
  if (l->n + end - first > l->room) {
    const int64_t room = 2 * l->room + (end - first);
    kg_cg_step *more;
    KG_TRY(kg_host_alloc(ctx, (size_t)room, sizeof *more, &more));
    if (l->n > 0) memcpy(more, l->step, (size_t)l->n * sizeof *more);
    free(l->step);
    l->step = more;
    l->room = room;
  }
  while (first < end) {
    const int64_t at = first % KG_CG_STEPS, left = KG_CG_STEPS - at;
    const int64_t n = end - first < left ? end - first : left;
    KG_TRY(kg_copy_out(ctx, l->step + l->n, steps + at, (size_t)n * sizeof *steps));
    l->n += n;
    first += n;
  }
  return KEDGE_OK;
}

kedge_status kg_lanczos_spare(kedge_context *ctx, kg_lanczos *l, const kg_cg_step *steps,
                              int64_t end, int64_t more)
{
  const int64_t kept = end - l->first - l->n;
  return kept + more > KG_CG_STEPS ? kg_lanczos_take(ctx, l, steps, end) : KEDGE_OK;
}

/// Whether an eigenvalue of T is below `value`: a pivot of T - value is not positive. They follow
/// from those of T without cancellation.
static bool has_below(const kg_lanczos *l, double value)
{
  double shift = -value;
  for (int64_t k = 0; k < l->n; ++k) {
    const kg_cg_step *const s = &l->step[k];
    const double d = s->p_ap / s->rz, pivot = d + shift;
    if (!(pivot > 0.0)) return true;
    if (k + 1 < l->n) shift = shift * (s[1].rz / s->rz) * d / pivot - value;
  }
  return false;
}

/// The least eigenvalue of T, to 1 %, where there is a step: above that of M A, and near it where
/// the iteration has had to find it.
static double least_eigenvalue(const kg_lanczos *l)
{
  double above = INFINITY;
  for (int64_t k = 0; k < l->n; ++k) above = fmin(above, l->step[k].p_ap / l->step[k].rz);
  double below = above;
  while (below > 0.0 && has_below(l, below)) {
    above = below;
    below /= 4.0;
  }
  while (above > 1.01 * below) {
    const double middle = sqrt(above * below);
    *(has_below(l, middle) ? &above : &below) = middle;
  }
  return below;
}

double kg_lanczos_energy(const kg_lanczos *l, double rz_part)
{
  for (int64_t k = l->n / 2; rz_part == 0.0 && k < l->n; ++k)
    rz_part = fmax(rz_part, l->step[k].rz / l->step[k].rr);
  return rz_part / least_eigenvalue(l);
}

void kg_lanczos_free(kg_lanczos *l)
{
  free(l->step);
  *l = (kg_lanczos){0};
}
