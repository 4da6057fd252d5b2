#include <kedge/march.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "core/number.h"

/// A rate in 1e9 a second; "-" where no cost is defined or nothing was timed.
static void print_rate(double amount, double seconds)
{
  if (amount > 0 && seconds > 0)
    printf("%10.1f", 1e-9 * amount / seconds);
  else
    printf("%10s", "-");
}

static void print_stages(const kedge_report *report)
{
  double total = 0;
  for (int s = 0; s < report->n_stages; ++s) total += report->stages[s].seconds;
  printf("%-24s%10s%9s%10s%10s\n", "stage", "seconds", "share", "GB/s", "GFlop/s");
  for (int s = 0; s < report->n_stages; ++s) {
    const kedge_stage_report *stage = &report->stages[s];
    if (strcmp(stage->name, "assembly") == 0 && stage->seconds == 0)
      continue;  // there was nothing to make
    const char *title = kg_cli_stage_title(stage->name);
    // The stage is not part of this solve, or takes nothing that four decimals show.
    if (stage->seconds < 5e-5) {
      printf("%-24s%10s%9s%10s%10s\n", title, "-", "-", "-", "-");
      continue;
    }
    printf("%-24s%10.4f%7.1f %%", title, stage->seconds, 100 * stage->seconds / total);
    print_rate(stage->bytes, stage->seconds);
    print_rate(stage->flops, stage->seconds);
    putchar('\n');
  }
  printf("%-24s%10.4f\n\n", "total", total);
}

enum { ROWS = 20 };  ///< of a table of numbers, at most

/// What the name of a row is followed by.
static const char *addition(const kedge_group_values *v)
{
  return v->inside ? " (inside)" : "";
}

/// Columns that the names of a table take.
static int name_width(const kedge_report *report, bool regions)
{
  const int n = regions ? report->n_regions : report->n_groups;
  int width = 8;
  for (int i = 0; i < n && i < ROWS; ++i) {
    const char *const name = regions ? report->regions[i]->name : report->groups[i]->name;
    const char *const more = regions ? "" : addition(report->groups[i]);
    const int columns = kg_cli_width(kg_cli_shown(name)) + kg_cli_width(more);
    if (columns > width) width = columns;
  }
  return width;
}

static void print_name(int width, const char *name, const char *more)
{
  const char *const shown = kg_cli_shown(name);
  printf("%s%s%*s", shown, more, width - kg_cli_width(shown) - kg_cli_width(more), "");
}

/// A number of a table; "-" where there is none.
static void print_number(double value)
{
  if (isnan(value))
    printf("%18s", "-");
  else
    printf("%18.9g", value);
}

/// @param[in] z      NULL: in the plane
/// @param[in] width  columns of the place, which the next number follows
static void print_extremum(double value, const double at[2], const double *z, int width)
{
  char place[64];
  if (z)
    snprintf(place, sizeof place, "(%.6g, %.6g, %.6g)", at[0], at[1], *z);
  else
    snprintf(place, sizeof place, "(%.6g, %.6g)", at[0], at[1]);
  print_number(value);
  printf("  %-*s", width, place);
}

/// End a table of n rows.
static void print_rest(int n)
{
  if (n > ROWS) printf("... and %d more, which a report has (--report FILE.json)\n", n - ROWS);
  putchar('\n');
}

static void print_groups(const kedge_report *report)
{
  const int width = name_width(report, false);
  printf("%-*s%18s%18s%18s\n", width, "group", report->dimension == 3 ? "area" : "length",
         "mean of u", "flux");
  for (int i = 0; i < report->n_groups && i < ROWS; ++i) {
    const kedge_group_values *const v = report->groups[i];
    print_name(width, v->name, addition(v));
    print_number(v->length);
    print_number(v->mean);
    print_number(v->flux);
    putchar('\n');
  }
  print_rest(report->n_groups);
}

static void print_regions(const kedge_report *report)
{
  const bool in_space = report->dimension == 3;
  const int width = name_width(report, true), place = in_space ? 33 : 22;
  printf("%-*s%18s%18s%18s  %-*s%18s  at\n", width, "region", in_space ? "volume" : "area",
         "mean of u", "least u", place, "at", "most u");
  for (int i = 0; i < report->n_regions && i < ROWS; ++i) {
    const kedge_region_values *const v = report->regions[i];
    print_name(width, v->name, "");
    print_number(v->area);
    print_number(v->mean);
    print_extremum(v->least, v->least_at, in_space ? &v->least_z : NULL, place);
    print_extremum(v->most, v->most_at, in_space ? &v->most_z : NULL, 0);
    putchar('\n');
  }
  print_rest(report->n_regions);
}

static void print_balance(const kedge_report *report)
{
  const kedge_balance *const b = &report->balance;
  printf("balance      ");
  if (report->march) printf("storage %.9g, ", report->storage);
  printf("source %.9g, reaction %.9g, flux %.9g, remainder %.1e\n", b->source, b->reaction, b->flux,
         b->remainder);
  if (!isnan(report->conductance))
    printf("conductance  %.9g (by energy %.9g)\n", report->conductance, report->energy_conductance);
}

static const char *outcome(const kedge_report *report)
{
  if (!report->converged) return "NOT CONVERGED";
  return report->stop == KEDGE_STOP_ROUNDING ? "converged to rounding" : "converged";
}

static void print_solver(const kedge_report *report)
{
  printf("solver       %s after %lld iteration%s (%s, %s", outcome(report),
         (long long)report->iterations, kg_cli_plural(report->iterations), report->operator_name,
         report->preconditioner);
  if (report->smoother[0]) printf(", smoother %s", report->smoother);
  if (report->smoothing_steps > 1) printf(", %d steps", report->smoothing_steps);
  if (strcmp(report->precision, "double") != 0) printf(", precision %s", report->precision);
  printf("): relative residual %.2e, tolerance %.0e", report->relative_residual, report->tolerance);
  if (report->stop == KEDGE_STOP_ROUNDING) printf(", rounding %.1e", report->rounding_residual);
  putchar('\n');
  if (report->converged && report->solver_note[0] && !report->march)
    printf("note         %s\n", report->solver_note);
  if (report->has_exact)
    printf("errors       u: L2 %.5e, max %.5e; q: L2 %.5e; flux: L2 %.5e; u*: L2 %.5e\n",
           report->u_l2, report->u_linf, report->q_l2, report->sigma_l2, report->u_star_l2);
}

/// How the flux's mass matrix was inverted.
static void print_matrices(const kedge_report *report)
{
  const char *const triangle = report->triangle_inverse;
  const char *const quadrilateral = report->quadrilateral_inverse;
  if (!triangle[0] && !quadrilateral[0]) return;
  printf("matrices     ");
  if (triangle[0]) printf("triangles: inverse %s", triangle);
  if (triangle[0] && quadrilateral[0]) printf(", ");
  if (quadrilateral[0]) printf("quadrilaterals: inverse %s", quadrilateral);
  putchar('\n');
}

static void print_integrals(const kedge_report *report)
{
  for (int i = 0; i < report->n_integrals; ++i)
    printf("%-12s %s = %.10g\n", i == 0 ? "integrals" : "",
           kg_cli_shown(report->integrals[i]->name), report->integrals[i]->value);
}

static void print_memory(const kedge_report *report)
{
  char peak[16], predicted[16], matrices[16], operator_reads[16];
  printf(
      "memory       peak %s (predicted %s); local matrices %s; one operator application reads %s\n",
      kg_bytes_text((double)report->peak_device_bytes, peak),
      kg_bytes_text((double)report->predicted_device_bytes, predicted),
      kg_bytes_text((double)report->local_matrices_bytes, matrices),
      kg_bytes_text((double)report->operator_bytes, operator_reads));
}

static void print_march(const kedge_marched *m)
{
  printf(
      "march        %s, %lld step%s to t = %.9g of %.9g: %lld solve%s, %lld iteration%s, %lld "
      "set-up%s, %.4g s\n",
      m->scheme, (long long)m->steps, kg_cli_plural(m->steps), m->t, m->end, (long long)m->solves,
      kg_cli_plural(m->solves), (long long)m->iterations, kg_cli_plural(m->iterations),
      (long long)m->set_ups, kg_cli_plural(m->set_ups), m->seconds);
  if (m->rejected > 0)
    printf("             (%lld step%s more did not meet the tolerance, and were made shorter)\n",
           (long long)m->rejected, kg_cli_plural(m->rejected));
  if (isfinite(m->change))
    printf("             (%s: |u_t| = %.3g)\n", m->is_steady ? "steady" : "not steady yet",
           m->change);
  if (m->remakes) puts("             (a set-up for each solve, as coefficients depend on t)");
  if (m->note && m->note[0]) printf("note         %s\n", m->note);
  putchar('\n');
}

void kg_summary_print(const kedge_report *report, const char *problem, const char *reason,
                      const char *output)
{
  printf("%s: %lld element%s, %lld %s, order %d, %lld trace unknowns\n", kg_cli_shown(problem),
         (long long)report->elements, kg_cli_plural(report->elements), (long long)report->edges,
         report->dimension == 3 ? "faces" : "edges", report->order,
         (long long)report->trace_unknowns);
  printf("backend %s on %s (%s)\n\n", report->backend, report->device, reason);
  if (report->march)
    print_march(report->march);
  else
    print_stages(report);
  print_groups(report);
  print_regions(report);
  print_solver(report);
  print_balance(report);
  print_integrals(report);
  if (report->stabilization_length > 0)
    printf("tau          diffusion / L, L = %.6g\n", report->stabilization_length);
  print_matrices(report);
  print_memory(report);
  if (output) printf("output       %s\n", kg_cli_shown(output));
}
