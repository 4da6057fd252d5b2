#include "core/clock.h"
#include "device/context.h"
#include "waves/waves.h"

/// Carpenter & Kennedy, NASA Technical Memorandum 109112 (1994): five stages of order 4, with one
/// vector beside the state.
static const double before[KG_WAVE_STAGES] = {
    0.0, -567301805773.0 / 1357537059087.0, -2404267990393.0 / 2016746695238.0,
    -3550918686646.0 / 2091501179385.0, -1275806237668.0 / 842570457699.0};
static const double after[KG_WAVE_STAGES] = {
    1432997174477.0 / 9575080441755.0, 5161836677717.0 / 13612068292357.0,
    1720146321549.0 / 2090206949498.0, 3134564353537.0 / 4481467310338.0,
    2277821191437.0 / 14882151754819.0};

/// Data at the time of the problem, timed now and then.
static kedge_status data_of_stage(kg_waves *w)
{
  kg_wave_account *const a = &w->account;
  const bool timed = a->stages++ % KG_WAVE_TIMED == 0;
  if (w->n_moving == 0) return KEDGE_OK;
  if (timed) KG_TRY(kg_sync(w->ctx));
  const double begun = kg_seconds();
  KG_TRY(kg_waves_data(w, w->n_moving));
  if (!timed) return KEDGE_OK;
  KG_TRY(kg_sync(w->ctx));
  a->data_seconds += kg_seconds() - begun;
  ++a->timed;
  return KEDGE_OK;
}

kedge_status kg_waves_stage(kg_waves *w, int stage, double step, double t)
{
  kg_problem_set_time(w->problem, t);
  KG_TRY(data_of_stage(w));
  kg_wave_args *const a = &w->args;
  a->before = before[stage];
  a->after = after[stage];
  a->step = w->step = step;
  w->t = t;
  w->probes.is_current = false;
  KG_TRY(w->law->stage(w->ctx, a));
  kg_real *const next = a->next;
  a->next = (kg_real *)a->u;
  a->u = next;
  return KEDGE_OK;
}
