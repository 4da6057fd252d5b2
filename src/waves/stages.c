#include <math.h>

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

/// The parts of a stage, one in KG_WAVE_TIMED of which is timed.
typedef struct lap {
  bool is_timed;
  double from;  ///< kg_seconds()
} lap;

/// End a part. @param[in,out] sum  its time is added; NULL: nothing was before
static kedge_status end_part(kg_waves *w, lap *l, double *sum)
{
  if (!l->is_timed) return KEDGE_OK;
  KG_TRY(kg_sync(w->ctx));
  const double now = kg_seconds();
  if (sum) *sum += now - l->from;
  l->from = now;
  return KEDGE_OK;
}

/// Begin a stage, whose parts are timed where it has more than one.
static kedge_status begin_parts(kg_waves *w, lap *l)
{
  kg_wave_account *const a = &w->account;
  const bool has_parts = w->source.n > 0 || kg_wave_data_moves(&w->given);
  *l = (lap){.is_timed = a->stages++ % KG_WAVE_TIMED == 0 && has_parts};
  return end_part(w, l, NULL);
}

kedge_status kg_waves_stage(kg_waves *w, int stage, double step, double t)
{
  kg_wave_account *const account = &w->account;
  kg_wave_args *const a = &w->args;
  lap l;
  KG_TRY(begin_parts(w, &l));
  kg_problem_set_time(w->problem, t);
  KG_TRY(kg_wave_data_take(w, &w->given));
  KG_TRY(end_part(w, &l, &account->data_seconds));
  KG_TRY(kg_wave_data_take(w, &w->driven));
  KG_TRY(end_part(w, &l, &account->source_seconds));
  a->before = before[stage];
  a->after = after[stage];
  a->step = w->step = step;
  w->t = w->times[stage] = t;
  w->probes.is_current = false;
  KG_TRY(w->law->stage(w->ctx, a));
  KG_TRY(end_part(w, &l, &account->stage_seconds));
  w->source.stage = *a;
  if (w->source.n > 0) {
    KG_TRY(kg_wave_source(w->ctx, &w->source));
    KG_TRY(end_part(w, &l, &account->source_seconds));
  }
  kg_real *const next = a->next;
  a->next = (kg_real *)a->u;
  a->u = next;
  return KEDGE_OK;
}

kedge_status kg_waves_undriven_room(kg_waves *w)
{
  if (w->spare.data) return KEDGE_OK;
  return kg_alloc(w->ctx, (size_t)kg_wave_state(&w->args), kg_number_bytes(w->args.number),
                  &w->spare);
}

/// The stages. Between steps `next` and `residual` hold nothing; with a third array `u` is kept.
static kedge_status step_undriven(kg_waves *w, double step)
{
  kg_wave_args *const a = &w->args;
  kg_real *const room[] = {a->next, w->spare.data};
  a->boundary = w->quiet;
  a->step = step;
  for (int stage = 0; stage < KG_WAVE_STAGES; ++stage) {
    a->before = before[stage];
    a->after = after[stage];
    a->next = room[stage % 2];
    KG_TRY(w->law->stage(w->ctx, a));
    a->u = a->next;
  }
  return KEDGE_OK;
}

kedge_status kg_waves_undriven(kg_waves *w, double step, double *energy)
{
  const kg_wave_args kept = w->args;
  KG_TRY(kg_enter(w->ctx));
  KG_TRY(kg_waves_undriven_room(w));
  kedge_status status = step_undriven(w, step);
  if (status == KEDGE_OK) status = kg_waves_energy(w, -1, energy);
  w->args = kept;
  if (status != KEDGE_ERR_NUMERIC) return status;
  *energy = INFINITY;
  return KEDGE_OK;
}

kedge_status kg_waves_check_data(kg_waves *w)
{
  KG_TRY(kg_wave_data_check(w, &w->given));
  return kg_wave_data_check(w, &w->driven);
}
