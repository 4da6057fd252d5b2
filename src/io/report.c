#include <math.h>

#include "core/sized.h"
#include "core/target.h"
#include "io/report_parts.h"
#include "kedge/solution.h"

static const char *const stop_names[KEDGE_STOP_COUNT] = {[KEDGE_STOP_TOLERANCE] = "tolerance",
                                                         [KEDGE_STOP_ROUNDING] = "rounding",
                                                         [KEDGE_STOP_LIMIT] = "max_iterations"};

const char *kedge_stop_name(kedge_stop stop)
{
  return (unsigned)stop < KEDGE_STOP_COUNT ? stop_names[stop] : "unknown";
}

void kg_report_mesh(kg_json *json, int dimension, int64_t elements, int64_t edges, int64_t vertices,
                    int64_t boundary_edges)
{
  kg_json_object(json, "mesh");
  if (dimension > 0) kg_json_integer(json, "dimension", dimension);
  kg_json_integer(json, "elements", elements);
  kg_json_integer(json, "edges", edges);
  kg_json_integer(json, "vertices", vertices);
  kg_json_integer(json, "boundary_edges", boundary_edges);
  kg_json_close(json);
}

void kg_report_backend(kg_json *json, const char *name, const char *device)
{
  kg_json_object(json, "backend");
  kg_json_string(json, "name", name);
  kg_json_string(json, "device", device);
  kg_json_close(json);
}

static void write_space(kg_json *json, const kedge_report *report)
{
  kg_json_object(json, "space");
  kg_json_integer(json, "order", report->order);
  kg_json_integer(json, "trace_unknowns", report->trace_unknowns);
  kg_json_integer(json, "element_unknowns", report->element_unknowns);
  kg_json_number(json, "length", report->stabilization_length);
  kg_json_object(json, "inverse");
  kg_json_string(json, "triangles", report->triangle_inverse ? report->triangle_inverse : "");
  kg_json_string(json, "quadrilaterals",
                 report->quadrilateral_inverse ? report->quadrilateral_inverse : "");
  kg_json_close(json);
  kg_json_close(json);
}

/// Where loads have more points than the rule.
static void write_loads(kg_json *json, const kedge_report *report)
{
  kg_json_object(json, "loads");
  kg_json_integer(json, "refined_elements", report->refined_elements);
  kg_json_integer(json, "refined_facets", report->refined_facets);
  kg_json_close(json);
}

static void write_solver(kg_json *json, const kedge_report *report)
{
  kg_json_object(json, "solver");
  kg_json_string(json, "operator", report->operator_name);
  kg_json_string(json, "preconditioner", report->preconditioner);
  kg_json_string(json, "precision", report->precision ? report->precision : "double");
  kg_json_string(json, "smoother", report->smoother ? report->smoother : "");
  kg_json_integer(json, "smoothing_steps", report->smoothing_steps);
  kg_json_integer(json, "levels", report->multigrid_levels);
  kg_json_number(json, "setup_seconds", report->setup_seconds);
  kg_json_number(json, "start_residual", report->start_residual);
  kg_json_integer(json, "iterations", report->iterations);
  kg_json_integer(json, "refinements", report->refinements);
  kg_json_number(json, "tolerance", report->tolerance);
  kg_json_number(json, "relative_residual", report->relative_residual);
  kg_json_number(json, "rounding_residual", report->rounding_residual);
  kg_json_object(json, "left");
  kg_json_number(json, "u", report->iteration_u);
  kg_json_number(json, "u_star", report->iteration_u_star);
  kg_json_number(json, "q", report->iteration_q);
  kg_json_number(json, "sigma", report->iteration_sigma);
  kg_json_close(json);
  kg_json_integer(json, "extra_iterations", report->extra_iterations);
  kg_json_number(json, "needed_tolerance", report->needed_tolerance);
  kg_json_string(json, "stop", kedge_stop_name(report->stop));
  kg_json_bool(json, "converged", report->converged);
  kg_json_string(json, "note", report->solver_note ? report->solver_note : "");
  kg_json_close(json);
}

/// Writes the errors; null without an exact solution.
static void write_errors(kg_json *json, const kedge_report *report)
{
  if (!report->has_exact) {
    kg_json_string(json, "errors", NULL);
    return;
  }
  kg_json_object(json, "errors");
  kg_json_object(json, "u");
  kg_json_number(json, "l2", report->u_l2);
  kg_json_number(json, "linf", report->u_linf);
  kg_json_close(json);
  kg_json_object(json, "q");
  kg_json_number(json, "l2", report->q_l2);
  kg_json_close(json);
  kg_json_object(json, "flux");
  kg_json_number(json, "l2", report->sigma_l2);
  kg_json_close(json);
  kg_json_object(json, "u_star");
  kg_json_number(json, "l2", report->u_star_l2);
  kg_json_close(json);
  kg_json_close(json);
}

static void write_groups(kg_json *json, const kedge_report *report)
{
  const bool in_space = report->dimension == 3;
  kg_json_array(json, "groups");
  for (int i = 0; i < report->n_groups; ++i) {
    const kedge_group_values *const v = report->groups[i];
    kg_json_object(json, NULL);
    kg_json_string(json, "name", v->name);
    kg_json_integer(json, "tag", v->tag);
    kg_json_bool(json, "inside", v->inside);
    kg_json_integer(json, in_space ? "faces" : "edges", v->edges);
    kg_json_number(json, in_space ? "area" : "length", v->length);
    kg_json_number(json, "integral", v->integral);
    kg_json_number(json, "mean", v->mean);
    kg_json_number(json, "flux", v->flux);
    kg_json_close(json);
  }
  kg_json_close(json);
}

/// @param[in] z  NULL: in the plane
static void write_extremum(kg_json *json, const char *key, double value, const double at[2],
                           const double *z)
{
  kg_json_object(json, key);
  kg_json_number(json, "value", value);
  kg_json_array(json, "at");
  kg_json_number(json, NULL, at[0]);
  kg_json_number(json, NULL, at[1]);
  if (z) kg_json_number(json, NULL, *z);
  kg_json_close(json);
  kg_json_close(json);
}

static void write_regions(kg_json *json, const kedge_report *report)
{
  const bool in_space = report->dimension == 3;
  kg_json_array(json, "regions");
  for (int i = 0; i < report->n_regions; ++i) {
    const kedge_region_values *const v = report->regions[i];
    kg_json_object(json, NULL);
    kg_json_string(json, "name", v->name);
    kg_json_integer(json, "tag", v->tag);
    kg_json_integer(json, "elements", v->elements);
    kg_json_number(json, in_space ? "volume" : "area", v->area);
    kg_json_number(json, "integral", v->integral);
    kg_json_number(json, "mean", v->mean);
    kg_json_number(json, "energy", v->energy);
    kg_json_number(json, "source", v->source);
    kg_json_number(json, "reaction", v->reaction);
    if (report->march) kg_json_number(json, "storage", v->storage);
    write_extremum(json, "minimum", v->least, v->least_at, in_space ? &v->least_z : NULL);
    write_extremum(json, "maximum", v->most, v->most_at, in_space ? &v->most_z : NULL);
    kg_json_close(json);
  }
  kg_json_close(json);
}

/// Write what a solution has by group, by region and as a whole. A report without a solve has no
/// regions, and null in place of balance and conductance.
static void write_numbers(kg_json *json, const kedge_report *report)
{
  const kedge_balance *const b = &report->balance;
  write_groups(json, report);
  write_regions(json, report);
  if (report->n_regions == 0) {
    kg_json_string(json, "balance", NULL);
  } else {
    kg_json_object(json, "balance");
    if (report->march) kg_json_number(json, "storage", report->storage);
    kg_json_number(json, "source", b->source);
    kg_json_number(json, "reaction", b->reaction);
    kg_json_number(json, "flux", b->flux);
    kg_json_number(json, "remainder", b->remainder);
    kg_json_close(json);
  }
  if (report->n_regions == 0 || isnan(report->conductance)) {
    kg_json_string(json, "conductance", NULL);
  } else {
    kg_json_object(json, "conductance");
    kg_json_number(json, "flux", report->conductance);
    kg_json_number(json, "energy", report->energy_conductance);
    kg_json_close(json);
  }
}

static void write_integrals(kg_json *json, const kedge_report *report)
{
  kg_json_object(json, "integrals");
  for (int i = 0; i < report->n_integrals; ++i)
    kg_json_number(json, report->integrals[i]->name, report->integrals[i]->value);
  kg_json_close(json);
}

void kg_report_output(kg_json *json, const char *error)
{
  if (!error) {
    kg_json_string(json, "output", NULL);
    return;
  }
  kg_json_object(json, "output");
  kg_json_bool(json, "written", !error[0]);
  kg_json_string(json, "error", error);
  kg_json_close(json);
}

/// A whole number that the report has as a double: formulas of costs are averages, of an edge say.
static void write_count(kg_json *json, const char *key, double count)
{
  if (fabs(count) < 0x1p63)
    kg_json_integer(json, key, llround(count));
  else
    kg_json_number(json, key, count);
}

void kg_report_stages(kg_json *json, int n, const kedge_stage_report *stages)
{
  kg_json_array(json, "stages");
  for (int s = 0; s < n; ++s) {
    kg_json_object(json, NULL);
    kg_json_string(json, "name", stages[s].name);
    kg_json_number(json, "seconds", stages[s].seconds);
    write_count(json, "bytes", stages[s].bytes);
    write_count(json, "flops", stages[s].flops);
    kg_json_close(json);
  }
  kg_json_close(json);
}

static void write_costs(kg_json *json, const kedge_report *report)
{
  kg_report_stages(json, report->n_stages, report->stages);
  kg_json_object(json, "memory");
  kg_json_integer(json, "peak_device_bytes", report->peak_device_bytes);
  kg_json_integer(json, "predicted_device_bytes", report->predicted_device_bytes);
  kg_json_integer(json, "local_matrices_bytes", report->local_matrices_bytes);
  kg_json_integer(json, "operator_bytes", report->operator_bytes);
  kg_json_close(json);
}

void kg_report_march(kg_json *json, const kedge_marched *m)
{
  if (!m) {
    kg_json_string(json, "march", NULL);
    return;
  }
  kg_json_object(json, "march");
  kg_json_string(json, "scheme", m->scheme);
  kg_json_number(json, "t", m->t);
  kg_json_number(json, "end", m->end);
  kg_json_number(json, "step", m->step);
  kg_json_integer(json, "steps", m->steps);
  kg_json_integer(json, "rejected", m->rejected);
  kg_json_integer(json, "solves", m->solves);
  kg_json_integer(json, "iterations", m->iterations);
  kg_json_integer(json, "set_ups", m->set_ups);
  kg_json_bool(json, "remakes", m->remakes);
  kg_json_bool(json, "converged", m->converged);
  kg_json_bool(json, "steady", m->is_steady);
  kg_json_number(json, "change", m->change);
  kg_json_number(json, "seconds", m->seconds);
  kg_json_string(json, "note", m->note ? m->note : "");
  kg_json_close(json);
}

static void write_report(kg_json *json, const kedge_report *report)
{
  kg_report_mesh(json, report->dimension, report->elements, report->edges, report->vertices,
                 report->boundary_edges);
  write_space(json, report);
  kg_report_backend(json, report->backend, report->device);
  write_loads(json, report);
  kg_report_march(json, report->march);
  write_solver(json, report);
  write_errors(json, report);
  write_numbers(json, report);
  write_integrals(json, report);
  kg_json_string(json, "evaluation", report->evaluation ? report->evaluation : "");
  kg_report_output(json, report->output_error);
  kg_json_string(json, "probe_note", report->probe_note ? report->probe_note : "");
  write_costs(json, report);
}

static void write_plan_operator(kg_json *json, const kedge_plan *plan, kedge_operator op)
{
  kg_json_object(json, NULL);
  kg_json_string(json, "name", kedge_operator_name(op));
  kg_json_bool(json, "fits", plan->fits[op]);
  kg_json_integer(json, "peak_bytes", plan->peak_bytes[op]);
  kg_json_integer(json, "needed_bytes", plan->needed_bytes[op]);
  kg_json_array(json, "stages");
  for (int s = 0; s < plan->n_stages; ++s) {
    kg_json_object(json, NULL);
    kg_json_string(json, "name", plan->stage_name[s]);
    kg_json_integer(json, "bytes", plan->stage_bytes[op][s]);
    kg_json_close(json);
  }
  kg_json_close(json);
  kg_json_close(json);
}

/// What solves take: solver and operators.
static void write_plan_solver(kg_json *json, const kedge_plan *plan)
{
  const bool described = plan->operator_kind == KEDGE_OPERATOR_MATRIX_FREE;
  kg_json_object(json, "solver");
  kg_json_string(json, "operator", kedge_operator_name(plan->operator_kind));
  kg_json_string(json, "preconditioner", described ? plan->preconditioner : "jacobi");
  kg_json_string(json, "precision", described ? plan->precision : "double");
  kg_json_string(json, "smoother", described ? plan->smoother : "");
  kg_json_close(json);
  if (plan->march_bytes > 0) {
    kg_json_object(json, "march");
    kg_json_number(json, "step", plan->march_step);
    kg_json_integer(json, "steps", plan->march_steps);
    kg_json_close(json);
  }
  kg_json_array(json, "operators");
  for (int op = 0; op < KEDGE_OPERATOR_COUNT; ++op)
    write_plan_operator(json, plan, (kedge_operator)op);
  kg_json_close(json);
}

/// What waves take, which have no operators.
static void write_plan_waves(kg_json *json, const kedge_plan *plan)
{
  kg_json_object(json, "waves");
  kg_json_string(json, "precision", plan->precision);
  kg_json_number(json, "step", plan->wave_step);
  kg_json_number(json, "longest_step", plan->wave_longest);
  kg_json_integer(json, "steps", plan->wave_steps);
  kg_json_integer(json, "peak_bytes", plan->peak_bytes[0]);
  kg_json_integer(json, "needed_bytes", plan->needed_bytes[0]);
  kg_json_close(json);
}

static void write_plan(kg_json *json, const kedge_context *ctx, const kedge_plan *plan)
{
  const bool waves = plan->wave_unknowns > 0;
  kg_report_mesh(json, plan->dimension, plan->elements, plan->edges, plan->vertices,
                 plan->boundary_edges);
  kg_json_object(json, "space");
  kg_json_integer(json, "order", plan->order);
  if (waves) {
    kg_json_integer(json, "unknowns", plan->wave_unknowns);
  } else {
    kg_json_integer(json, "trace_unknowns", plan->trace_unknowns);
    kg_json_number(json, "length", plan->stabilization_length);
  }
  kg_json_close(json);
  kg_report_backend(json, kedge_backend_name(kedge_context_backend(ctx)),
                    kedge_context_device(ctx));
  kg_json_bool(json, "fits", plan->fits[plan->operator_kind]);
  kg_json_object(json, "memory");
  kg_json_integer(json, "free_bytes", plan->free_bytes);
  kg_json_integer(json, "host_free_bytes", plan->host_free_bytes);
  kg_json_integer(json, "host_bytes", plan->host_bytes);
  kg_json_close(json);
  (waves ? write_plan_waves : write_plan_solver)(json, plan);
  kg_json_string(json, "note", plan->note ? plan->note : "");
}

/// A file is written from `report` or from `plan`; the other one is NULL.
typedef struct content {
  const kedge_context *ctx;
  const kedge_report *report;
  const kedge_plan *plan;
} content;

static void write_stream(FILE *stream, void *user)
{
  const content *c = user;
  kg_json json = {.stream = stream};
  kg_json_object(&json, NULL);
  kg_json_string(&json, "version", kedge_version());
  if (c->report) write_report(&json, c->report);
  if (c->plan) write_plan(&json, c->ctx, c->plan);
  kg_json_close(&json);
}

kedge_status kedge_report_write(kedge_context *ctx, const kedge_report *report, const char *path)
{
  KG_REQUIRE(ctx, report && path, KEDGE_ERR_ARG, "kedge_report_write: report or path is NULL");
  kedge_report known = KEDGE_REPORT_INIT;
  KG_TRY(kg_check_sized(ctx, "KEDGE_REPORT_INIT", report->size));
  kg_copy_sized(report, &known);
  for (int i = 0; i < known.n_integrals; ++i)
    KG_TRY(kg_check_sized(ctx, "KEDGE_INTEGRAL_VALUE_INIT", known.integrals[i]->size));
  kedge_marched marched = KEDGE_MARCHED_INIT;
  if (known.march) {
    KG_TRY(kg_check_sized(ctx, "KEDGE_MARCHED_INIT", known.march->size));
    kg_copy_sized(known.march, &marched);
    known.march = &marched;
  }
  content c = {ctx, &known, NULL};
  return kg_target_stream(ctx, path, "report", write_stream, &c);
}

kedge_status kedge_plan_write(kedge_context *ctx, const kedge_plan *plan, const char *path)
{
  KG_REQUIRE(ctx, ctx && plan && path, KEDGE_ERR_ARG,
             "kedge_plan_write: context, plan or path is NULL");
  kedge_plan known = KEDGE_PLAN_INIT;
  KG_TRY(kg_check_sized(ctx, "KEDGE_PLAN_INIT", plan->size));
  kg_copy_sized(plan, &known);
  content c = {ctx, NULL, &known};
  return kg_target_stream(ctx, path, "report", write_stream, &c);
}
