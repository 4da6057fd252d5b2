#include <math.h>

#include "core/sized.h"
#include "core/target.h"
#include "io/report_parts.h"
#include "kedge/waves.h"

static void write_waves(kg_json *json, const kedge_wave_report *r)
{
  const double seconds = r->step_seconds, n = (double)r->unknowns * (double)r->stages_done;
  kg_json_object(json, "waves");
  kg_json_string(json, "system", r->system);
  kg_json_array(json, "fields");
  for (int f = 0; f < r->n_fields; ++f) kg_json_string(json, NULL, r->fields[f]);
  kg_json_close(json);
  kg_json_string(json, "precision", r->precision);
  kg_json_string(json, "kernel", r->kernel);
  kg_json_number(json, "upwind", r->upwind);
  kg_json_number(json, "longest_step", r->longest);
  kg_json_object(json, "energy");
  kg_json_number(json, "beginning", r->first_energy);
  kg_json_number(json, "end", r->energy);
  kg_json_integer(json, "grown_step", r->march ? r->march->grown_step : 0);
  kg_json_close(json);
  kg_json_integer(json, "stages", r->stages_done);
  kg_json_number(json, "seconds", seconds);
  kg_json_number(json, "unknowns_per_second", seconds > 0.0 ? n / seconds : NAN);
  kg_json_close(json);
}

/// Writes the errors of the fields that have an exact solution; null where none has.
static void write_errors(kg_json *json, const kedge_wave_report *r)
{
  int n = 0;
  for (int f = 0; f < r->n_fields; ++f) {
    if (isnan(r->errors[f])) continue;
    if (n++ == 0) kg_json_object(json, "errors");
    kg_json_object(json, r->fields[f]);
    kg_json_number(json, "l2", r->errors[f]);
    kg_json_close(json);
  }
  if (n > 0)
    kg_json_close(json);
  else
    kg_json_string(json, "errors", NULL);
}

static void write_stream(FILE *stream, void *user)
{
  const kedge_wave_report *const r = user;
  kg_json json = {.stream = stream};
  kg_json_object(&json, NULL);
  kg_json_string(&json, "version", kedge_version());
  kg_report_mesh(&json, r->dimension, r->elements, r->edges, r->vertices, r->boundary_edges);
  kg_json_object(&json, "space");
  kg_json_integer(&json, "order", r->order);
  kg_json_integer(&json, "unknowns", r->unknowns);
  kg_json_close(&json);
  kg_report_backend(&json, r->backend, r->device);
  kg_report_march(&json, r->march);
  write_waves(&json, r);
  write_errors(&json, r);
  kg_report_output(&json, r->output_error);
  kg_report_stages(&json, r->n_stages, r->stages);
  kg_json_object(&json, "memory");
  kg_json_integer(&json, "peak_device_bytes", r->peak_device_bytes);
  kg_json_close(&json);
  kg_json_close(&json);
}

kedge_status kedge_wave_report_write(kedge_context *ctx, const kedge_wave_report *report,
                                     const char *path)
{
  KG_REQUIRE(ctx, report && path, KEDGE_ERR_ARG, "kedge_wave_report_write: report or path is NULL");
  kedge_wave_report known = KEDGE_WAVE_REPORT_INIT;
  kedge_marched marched = KEDGE_MARCHED_INIT;
  KG_TRY(kg_check_sized(ctx, "KEDGE_WAVE_REPORT_INIT", report->size));
  kg_copy_sized(report, &known);
  if (known.march) {
    KG_TRY(kg_check_sized(ctx, "KEDGE_MARCHED_INIT", known.march->size));
    kg_copy_sized(known.march, &marched);
    known.march = &marched;
  }
  return kg_target_stream(ctx, path, "report", write_stream, &known);
}
