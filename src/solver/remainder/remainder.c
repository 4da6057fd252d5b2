// The error that the iteration leaves (docs/math.md#what-the-iteration-leaves): an alarm that costs
// nothing, and where it rings more iterations, whose gain is the error of what was there before. A
// solve has given up its K^e by then, and makes them again.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "solver/pipeline.h"

/// Of a field's norm: a gradient that is less, times the diameter, of u is next to 0.
static const double NO_GRADIENT = 1e-6;
/// r . z is brought down to this part for an estimate: the error to a tenth.
static const double PART = 0.01;
/// Going on aims at this part of the fields.
static const double AIM = 0.3 * KG_LEFT_MOST;

enum { LOOKS = 6 };  // at most, of a solve that goes on

/// Parts of the norms of the fields; NaN where a field is next to 0.
typedef struct errors {
  double u, u_star, q, sigma;
} errors;

static double diameter(const kedge_mesh *mesh)
{
  const double *const box = mesh->info.box;
  return hypot(box[2] - box[0], box[3] - box[1]);
}

static double worst_of(const errors *e)
{
  return fmax(fmax(e->u, e->u_star), fmax(e->q, e->sigma));
}

static double part_of(double error, double size, double least)
{
  return size > 0.0 && size >= least ? sqrt(error / size) : NAN;
}

/// @param[in] left  of what is missing, squares
static errors parts(const kg_pipeline *p, const kg_magnitudes *left, const kg_magnitudes *size)
{
  const double per_length = NO_GRADIENT / diameter(p->mesh), q = per_length * per_length * size->u;
  return (errors){part_of(left->u, size->u, 0.0), part_of(left->u_star, size->u_star, 0.0),
                  part_of(left->q, size->q, q),
                  part_of(left->sigma, size->sigma, size->least * size->least * q)};
}

/// Whether a field may have lost digits that count. The energy bounds q and sigma by the range of
/// the diffusion, and u by Poincare's inequality.
static bool rings(const kg_pipeline *p)
{
  const double pi = 3.14159265358979323846;
  const kg_remainder *r = &p->remainder;
  const double squared = r->energy * r->energy, length = diameter(p->mesh) / pi;
  const double q = squared / r->size.least, u = length * length * q;
  const errors bounds =
      parts(p, &(kg_magnitudes){u, 0.0, q, squared * r->size.most, 0.0, 0.0}, &r->size);
  return p->solution->report.stop != KEDGE_STOP_LIMIT && worst_of(&bounds) > KG_LEFT_MOST;
}

/// Trace in host memory, all rows.
static size_t trace_numbers(const kg_pipeline *p)
{
  return (size_t)p->layout.count.n_edges * (size_t)p->shape.size.n_edge;
}

/// A pipeline of the same solve, in place of one that has come to its end.
static kedge_status begin_again(kg_pipeline *p)
{
  const kg_pipeline next = {.ctx = p->ctx,
                            .mesh = p->mesh,
                            .problem = p->problem,
                            .solution = p->solution,
                            .remainder = p->remainder};
  kg_pipeline_free(p);
  *p = next;
  return kg_pipeline_begin(p);
}

/// Make what further iterations add to x, and its size.
static kedge_status go_on(kg_pipeline *p, const double *x, double part)
{
  if (!p->repeats) KG_TRY(begin_again(p));
  kg_remainder *const r = &p->remainder;
  const kedge_report *const report = &p->solution->report;
  const int64_t most = 2 * report->iterations + 100, limit = p->problem->max_iterations;
  r->further = (kg_system_further){.part = part, .most = most < limit ? most : limit};
  r->looks = true;
  p->start = x;
  if (p->repeats) {
    KG_TRY(kg_stage_run(p, KG_STAGE_TRANSFER, kg_stage_loads));
    KG_TRY(kg_stage_run(p, KG_STAGE_LOCAL_MATRICES, kg_stage_condense));
  } else {
    KG_TRY(kg_pipeline_set_up(p));
  }
  KG_TRY(kg_stage_run(p, KG_STAGE_TRACE_SOLVE, kg_stage_trace_solve));
  return kg_stages_local(p);
}

/// Add to x what there is for it, and make the fields again.
static kedge_status take(kg_pipeline *p, double *x)
{
  const size_t n = trace_numbers(p), bytes = n * sizeof *x;
  double *more;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *more, &more));
  kedge_status status = kg_copy_out(p->ctx, more, p->arrays.x, bytes);
  for (size_t i = 0; status == KEDGE_OK && i < n; ++i) x[i] += more[i];
  free(more);
  KG_TRY(status);
  KG_TRY(kg_copy_in(p->ctx, p->arrays.x, x, bytes));
  p->remainder.looks = false;
  p->solution->note[p->remainder.note_end] = '\0';  // the local solve adds its own anew
  return kg_stages_local(p);
}

/// Tell the errors, and the tolerance that would leave less.
/// @param[in] rr_reference  to which residuals are relative
static void report_errors(kg_pipeline *p, const errors *e, double rr_reference)
{
  kedge_report *const r = &p->solution->report;
  const kg_system_further *const f = &p->remainder.further;
  r->iteration_u = e->u;
  r->iteration_u_star = e->u_star;
  r->iteration_q = e->q;
  r->iteration_sigma = e->sigma;
  r->relative_residual = sqrt(f->rr / rr_reference);
  const double reached = fmin(r->tolerance, r->relative_residual);
  const double needed = reached * KG_LEFT_MOST / (3.0 * worst_of(e));
  const bool room = needed > KG_LEFT_ABOVE_ROUNDING * sqrt(f->rr_rounding / rr_reference);
  r->needed_tolerance = worst_of(e) > KG_LEFT_MOST && room ? needed : 0.0;
}

/// Put the finding in front of all others.
static kedge_status say(kg_pipeline *p)
{
  kedge_solution *const s = p->solution;
  char others[sizeof s->note];
  memcpy(others, s->note, sizeof others);
  s->note[0] = '\0';
  KG_TRY(kg_pipeline_diagnose(p, KG_ABOUT_LEFT));
  const size_t end = strlen(s->note);
  snprintf(s->note + end, sizeof s->note - end, "%s%s", end > 0 && others[0] ? "; " : "", others);
  return KEDGE_OK;
}

/// Look, and go on while that helps.
static kedge_status look(kg_pipeline *p, double *x)
{
  kg_remainder *const r = &p->remainder;
  kedge_report *const report = &p->solution->report;
  const double rr_reference = r->rr / (report->relative_residual * report->relative_residual);
  double part = PART, before = INFINITY;
  for (int n = 0;; ++n) {
    const kg_magnitudes size = r->size;
    KG_TRY(go_on(p, x, part));
    report->extra_iterations += r->further.iterations;
    const errors e = parts(p, &r->size, &size);
    const double worst = worst_of(&e), after = worst * sqrt(part);
    report_errors(p, &e, rr_reference);
    const bool helps = worst < 0.5 * before && n < LOOKS;
    if (!(worst > KG_LEFT_MOST) || !p->problem->accepts_rounding || !helps) break;
    KG_TRY(take(p, x));
    part = after > KG_LEFT_MOST ? fmin(PART, AIM / after * (AIM / after)) : PART;
    before = worst;
  }
  return say(p);
}

kedge_status kg_remainder_look(kg_pipeline *p)
{
  double *x;
  if (!rings(p)) return KEDGE_OK;
  const kg_pipeline whole = *p;
  KG_TRY(kg_host_alloc(p->ctx, trace_numbers(p), sizeof *x, &x));
  kedge_status status = kg_copy_out(p->ctx, x, p->arrays.x, trace_numbers(p) * sizeof *x);
  p->begun = NULL;
  p->taken = (kg_unknowns_args){0};
  if (status == KEDGE_OK) status = look(p, x);
  p->remainder.looks = false;
  p->begun = whole.begun;
  p->taken = whole.taken;
  p->start = whole.start;
  free(x);
  return status;
}
