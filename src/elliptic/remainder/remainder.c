// Estimate of the error that the iteration leaves (docs/math.md#what-the-iteration-leaves). A bound
// that costs nothing tells whether the error may matter. Only then more iterations are made; what
// they add is the error of the trace before. K^e, which the solve has discarded, is made again.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "elliptic/elliptic.h"

/// A gradient is next to 0 where its norm times the diameter is less than this part of that of u.
static const double NO_GRADIENT = 1e-8;
/// r . z is brought down to this part for an estimate: the error to a tenth.
static const double PART = 0.01;
/// Going on aims at this part of the fields.
static const double AIM = 0.3 * KG_LEFT_MOST;

/// The size of a field is that of the solution once no more than this part of it is missing.
static const double SETTLED = 0.1;

enum { LOOKS = 8 };  // at most

/// Parts of the norms of the fields; NaN where a field is next to 0.
typedef struct errors {
  double u, u_star, q, sigma;
} errors;

static double diameter(const kedge_mesh *mesh)
{
  const double *const low = mesh->info.low, *const high = mesh->info.high;
  return hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
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
static errors parts(const kg_elliptic *p, const kg_field_sums *left, const kg_field_sums *size)
{
  const double per_length = NO_GRADIENT / diameter(p->mesh), q = per_length * per_length * size->u;
  return (errors){part_of(left->u, size->u, 0.0), part_of(left->star, size->star, 0.0),
                  part_of(left->q, size->q, q),
                  part_of(left->sigma, size->sigma, size->kappa_least * size->kappa_least * q)};
}

/// Return whether the error of a field may be more than KG_LEFT_MOST of it. The energy of the error
/// bounds the errors of q and sigma by the range of the diffusion, and u by Poincare's inequality.
static bool rings(const kg_elliptic *p)
{
  const double pi = 3.14159265358979323846;
  const kg_remainder *r = &p->remainder;
  const double squared = r->energy * r->rr, length = diameter(p->mesh) / pi;
  const double q = squared / r->size.kappa_least, u = length * length * q;
  const errors bounds =
      parts(p, &(kg_field_sums){.u = u, .q = q, .sigma = squared * r->size.kappa_most}, &r->size);
  return !p->data.takes_start && p->run.solution->report.stop != KEDGE_STOP_LIMIT &&
         worst_of(&bounds) > KG_LEFT_MOST;
}

/// Trace in host memory, all rows.
static size_t trace_numbers(const kg_elliptic *p)
{
  return (size_t)p->shape.count.n_edges * (size_t)p->shape.m;
}

/// Replace a solve that has come to its end by a new one of the same problem, which can iterate
/// again. After a failure the members that the solution takes over at the end are restored.
static kedge_status begin_again(kg_elliptic *p)
{
  const kg_shape shape = p->shape;
  kg_shared_layout *cut = kg_layout_use(p->space.cut);
  kg_coefficients equation = p->equation.resolved.equation;
  const kg_elliptic next = {.ctx = p->ctx,
                            .mesh = p->mesh,
                            .equation.problem = p->equation.problem,
                            .run.solution = p->run.solution,
                            .remainder = p->remainder};
  p->equation.resolved.equation = (kg_coefficients){0};
  kg_elliptic_free(p);
  *p = next;
  const kedge_status status = kg_elliptic_begin(p);
  if (status != KEDGE_OK) {
    kg_elliptic_free(p);
    *p = next;
    p->shape = shape;
    p->space.cut = cut;
    p->equation.resolved.equation = equation;
    return status;
  }
  kg_layout_leave(&cut);
  kg_coefficients_free(&equation);
  return KEDGE_OK;
}

/// Have the local solve make something of a trace.
static kedge_status make(kg_elliptic *p, const double *trace, kg_makes what)
{
  p->remainder.makes = what;
  KG_TRY(kg_copy_in(p->ctx, p->arrays.iteration.x, trace, trace_numbers(p) * sizeof *trace));
  return kg_stages_local(p);
}

/// Make what further iterations add to x: the trace in device memory.
static kedge_status go_on(kg_elliptic *p, const double *x, double part)
{
  if (!p->repeats) KG_TRY(begin_again(p));
  kg_remainder *const r = &p->remainder;
  const int64_t most = 2 * p->run.solution->report.iterations + 100;
  const int64_t limit = p->equation.problem->max_iterations;
  r->further = (kg_system_further){.part = part, .most = most < limit ? most : limit};
  p->data.start = x;
  if (p->repeats) {
    KG_TRY(kg_elliptic_stage(p, KG_STAGE_TRANSFER, kg_stage_loads));
    KG_TRY(kg_elliptic_stage(p, KG_STAGE_LOCAL_MATRICES, kg_stage_condense));
  } else {
    KG_TRY(kg_elliptic_set_up(p));
  }
  r->goes_on = true;
  const kedge_status status = kg_elliptic_stage(p, KG_STAGE_TRACE_SOLVE, kg_stage_trace_solve);
  r->goes_on = false;
  p->run.solution->report.extra_iterations += r->further.iterations;
  return status;
}

/// The work of a look: traces in host memory.
typedef struct look {
  kg_elliptic *p;
  double *x;            ///< the best there is
  double *more;         ///< what has been found for it
  double *first;        ///< the one that the iteration has left
  bool spoils;          ///< a solution is being made in place of the one that is there
  bool moved;           ///< x is another one now, and no solution has been made of it
  double rr_reference;  ///< to which residuals are relative
} look;

/// Estimate the error of x, and add to it what has been found.
static kedge_status estimate(look *l, double part, errors *e)
{
  kg_elliptic *const p = l->p;
  const kg_field_sums size = p->remainder.size;
  const size_t n = trace_numbers(p);
  KG_TRY(go_on(p, l->x, part));
  KG_TRY(kg_copy_out(p->ctx, l->more, p->arrays.iteration.x, n * sizeof *l->x));
  p->remainder.makes = KG_SIZES_PART;
  KG_TRY(kg_stages_local(p));
  *e = parts(p, &p->remainder.size, &size);
  p->remainder.size = size;
  return KEDGE_OK;
}

static kedge_status add(look *l, kg_makes what)
{
  const size_t n = trace_numbers(l->p);
  for (size_t i = 0; i < n; ++i) l->x[i] += l->more[i];
  // The local solve adds its own findings anew.
  if (what == KG_MAKES_SOLUTION) l->p->run.solution->note[l->p->remainder.note_end] = '\0';
  l->spoils = what == KG_MAKES_SOLUTION;
  KG_TRY(make(l->p, l->x, what));
  l->spoils = false;
  return KEDGE_OK;
}

/// Return the factor by which r . z is to be reduced next, after a reduction by `part` has found an
/// error of `worst`, relative to a field. If this is near 1 the size of the field is not known yet.
static double next_part(double worst, double part)
{
  const double left = worst * sqrt(part), times = AIM / left;
  if (worst > 0.5) return PART * PART;
  return left > KG_LEFT_MOST ? fmin(PART, times * times) : PART;
}

/// Tell the errors, and the tolerance that would leave less.
static void report_errors(const look *l, const errors *e)
{
  kedge_report *const r = &l->p->run.solution->report;
  const kg_system_further *const f = &l->p->remainder.further;
  r->iteration_u = e->u;
  r->iteration_u_star = e->u_star;
  r->iteration_q = e->q;
  r->iteration_sigma = e->sigma;
  const double needed =
      fmin(r->tolerance, r->relative_residual) * KG_LEFT_MOST / (3.0 * worst_of(e));
  const bool room = needed > KG_LEFT_ABOVE_ROUNDING * sqrt(f->rr_rounding / l->rr_reference);
  r->needed_tolerance = worst_of(e) > KG_LEFT_MOST && room ? needed : 0.0;
}

/// Whether what is known of an error does not suffice.
static bool wants_more(const kg_elliptic *p, const errors *e)
{
  return worst_of(e) > (p->equation.problem->accepts_rounding ? KG_LEFT_MOST : SETTLED);
}

/// What a look was like before another one.
typedef struct looked {
  double worst, rr;
} looked;

/// Whether the last look has found less than the one before: where it has not, that is rounding.
static bool helped(const kg_elliptic *p, const errors *e, const looked *before)
{
  return worst_of(e) < 0.5 * before->worst || p->remainder.further.rr < 0.25 * before->rr;
}

/// Estimate the error of the trace and add the correction, as long as that reduces the error. With
/// tolerance = auto the solution is made again each time; otherwise only the estimate improves.
static kedge_status go_on_while_it_helps(look *l, errors *e)
{
  kg_elliptic *const p = l->p;
  kedge_report *const report = &p->run.solution->report;
  const bool takes = p->equation.problem->accepts_rounding;
  looked before = {INFINITY, INFINITY};
  double part = PART;
  KG_TRY(estimate(l, part, e));
  for (int n = 1; wants_more(p, e) && helped(p, e, &before) && n < LOOKS; ++n) {
    before = (looked){worst_of(e), p->remainder.further.rr};
    KG_TRY(add(l, takes ? KG_MAKES_SOLUTION : KG_SIZES_SOLUTION));
    part = next_part(before.worst, part);
    KG_TRY(estimate(l, part, e));
    if (takes) report->relative_residual = sqrt(p->remainder.further.rr / l->rr_reference);
    l->moved = !takes;
  }
  return KEDGE_OK;
}

/// The error of the solution, where what is best has moved away from it, as parts of that.
static kedge_status compare(look *l, errors *e)
{
  kg_elliptic *const p = l->p;
  const size_t n = trace_numbers(p);
  const kg_field_sums size = p->remainder.size;
  for (size_t i = 0; i < n; ++i) l->more[i] = l->x[i] - l->first[i];
  KG_TRY(make(p, l->more, KG_SIZES_PART));
  *e = parts(p, &p->remainder.size, &size);
  return KEDGE_OK;
}

/// Put the finding in front of all others.
static kedge_status say(kg_elliptic *p)
{
  kedge_solution *const s = p->run.solution;
  char others[sizeof s->note];
  memcpy(others, s->note, sizeof others);
  s->note[0] = '\0';
  KG_TRY(kg_elliptic_diagnose(p, KG_ABOUT_LEFT));
  const size_t end = strlen(s->note);
  snprintf(s->note + end, sizeof s->note - end, "%s%s", end > 0 && others[0] ? "; " : "", others);
  return KEDGE_OK;
}

static kedge_status look_with(look *l)
{
  kg_elliptic *const p = l->p;
  const size_t bytes = trace_numbers(p) * sizeof *l->x;
  errors e;
  KG_TRY(kg_copy_out(p->ctx, l->x, p->arrays.iteration.x, bytes));
  memcpy(l->first, l->x, bytes);
  KG_TRY(go_on_while_it_helps(l, &e));
  if (l->moved) KG_TRY(compare(l, &e));
  report_errors(l, &e);
  return say(p);
}

/// Look, in host memory that no prediction counts: few solves need it, and go without.
static kedge_status look_at(kg_elliptic *p, look *l)
{
  const double relative = p->run.solution->report.relative_residual;
  const size_t n = trace_numbers(p);
  double *memory;
  KG_TRY(kg_host_alloc(p->ctx, 3 * n, sizeof *memory, &memory));
  *l = (look){.p = p,
              .x = memory,
              .more = memory + n,
              .first = memory + 2 * n,
              .rr_reference = p->remainder.rr / (relative * relative)};
  const kedge_status status = look_with(l);
  free(memory);
  return status;
}

kedge_status kg_remainder_look(kg_elliptic *p)
{
  if (!rings(p)) return KEDGE_OK;
  const kg_data data = p->data;
  look l = {0};
  p->data.taken = (kg_unknowns_args){0};
  kedge_status status = look_at(p, &l);
  p->remainder.makes = KG_MAKES_SOLUTION;
  p->data = data;
  // The solution is as good as it was before somebody asked how good that is.
  if (status == KEDGE_OK || status == KEDGE_ERR_CANCELLED || l.spoils) return status;
  snprintf(p->remainder.failure, sizeof p->remainder.failure, "%s", kedge_context_error(p->ctx));
  status = say(p);
  p->remainder.failure[0] = '\0';
  return status;
}
