// What a march of waves reports, beside its steps.
#include <math.h>

#include "core/clock.h"
#include "core/sized.h"
#include "device/context.h"
#include "kedge/waves.h"
#include "march/march.h"
#include "march/waves.h"
#include "waves/waves.h"

/// What a stage of a step costs in the mean: the first one reads no residual.
static kg_cost mean_cost(const kg_waves *w)
{
  kg_wave_args first = w->args, other = w->args;
  first.before = 0.0;
  other.before = 1.0;
  const kg_cost a = kg_wave_cost(&first, w->mesh->n_elements),
                b = kg_wave_cost(&other, w->mesh->n_elements);
  const double part = 1.0 / KG_WAVE_STAGES;
  return (kg_cost){part * a.bytes + (1.0 - part) * b.bytes, b.flops};
}

/// Times by part. What all stages took is divided as those that were timed by part: there, none of
/// the parts is nothing, however much one of them had to wait.
static void put_stages(const kg_waves *w, kedge_wave_report *r)
{
  const kg_wave_account *const a = &w->account;
  const double n = (double)a->stages;
  const double timed = a->stage_seconds + a->data_seconds + a->source_seconds;
  const double scale = timed > 0.0 ? a->step_seconds / timed : 0.0;
  const double data = scale * a->data_seconds, source = scale * a->source_seconds;
  const kg_cost cost = mean_cost(w), driven = kg_wave_source_cost(&w->source);
  r->stages_done = a->stages;
  r->step_seconds = a->step_seconds;
  const kedge_stage_report all[] = {
      {"stage", a->step_seconds - data - source, n * cost.bytes, n * cost.flops},
      {"data", data, 0.0, 0.0},
      {"source", source, n * driven.bytes, n * driven.flops},
      {"probes", a->probe_seconds, 0.0, 0.0},
      {"output", a->output_seconds, 0.0, 0.0}};
  r->n_stages = sizeof all / sizeof *all;
  for (int i = 0; i < r->n_stages; ++i) r->stages[i] = all[i];
}

static kedge_status put_errors(const kedge_march *m, kg_waves *w, kedge_wave_report *r)
{
  double errors[KG_WAVE_FIELDS_MAX];
  if (!kg_waves_has_exact(w, -1)) return KEDGE_OK;
  // Fields whose squares are too large are at fault themselves, and not [exact].
  if (isfinite(r->energy))
    KG_TRY(kg_waves_errors(w, m->plan.t, errors));
  else
    for (int f = 0; f < r->n_fields; ++f) errors[f] = INFINITY;
  for (int f = 0; f < r->n_fields; ++f)
    if (kg_waves_has_exact(w, f)) r->errors[f] = errors[f];
  return KEDGE_OK;
}

/// What is made of the state.
static kedge_status measure(const kedge_march *m, kg_waves *w, kedge_wave_report *r)
{
  double energy;
  KG_TRY(kedge_march_energy(m, &energy));  // which adds its own time
  r->energy = energy;
  const double begun = kg_seconds();
  KG_TRY(put_errors(m, w, r));
  w->account.output_seconds += kg_seconds() - begun;
  return KEDGE_OK;
}

static void put_sizes(const kg_waves *w, kedge_wave_report *r)
{
  const kedge_mesh *const mesh = w->mesh;
  r->dimension = mesh->dimension;
  r->order = w->nodal.order;
  r->elements = mesh->n_elements;
  r->edges = mesh->n_edges;
  r->vertices = mesh->n_vertices;
  r->boundary_edges = mesh->n_boundary_edges;
  r->unknowns = (int64_t)mesh->n_elements * w->nodal.n * w->law->n_fields;
  r->n_fields = w->law->n_fields;
  for (int f = 0; f < r->n_fields; ++f) {
    r->fields[f] = w->law->fields[f];
    r->errors[f] = NAN;
  }
}

kedge_status kedge_march_wave_report(const kedge_march *m, kedge_wave_report *report)
{
  kg_waves *w;
  kedge_status status = kg_waves_of(m, __func__, report, &w);
  if (!w) return status;
  KG_TRY(kg_check_sized(m->ctx, "KEDGE_WAVE_REPORT_INIT", report->size));
  kedge_wave_report r = {.size = sizeof r,
                         .system = w->law->name,
                         .precision = w->args.number == KG_SINGLE ? "single" : "double",
                         .backend = kedge_backend_name(m->ctx->backend),
                         .device = m->ctx->device,
                         .upwind = w->args.upwind,
                         .longest = w->longest,
                         .first_energy = w->account.first_energy,
                         .energy = NAN,
                         .peak_device_bytes = w->account.device_bytes,
                         .kernel = w->kernel,
                         .note = w->note};
  put_sizes(w, &r);
  if (status == KEDGE_OK) status = measure(m, w, &r);
  put_stages(w, &r);
  kg_copy_sized(&r, report);
  return status;
}
