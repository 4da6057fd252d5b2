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
  if (report->converged && report->solver_note[0]) printf("note         %s\n", report->solver_note);
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
    printf("%-12s %s = %.10g\n", i == 0 ? "integrals" : "", kg_cli_shown(report->integrals[i].name),
           report->integrals[i].value);
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

void kg_summary_print(const kedge_report *report, const char *problem, const char *reason,
                      const char *output)
{
  printf("%s: %lld element%s, %lld edges, order %d, %lld trace unknowns\n", kg_cli_shown(problem),
         (long long)report->elements, kg_cli_plural(report->elements), (long long)report->edges,
         report->order, (long long)report->trace_unknowns);
  printf("backend %s on %s (%s)\n\n", report->backend, report->device, reason);
  print_stages(report);
  print_solver(report);
  print_integrals(report);
  if (report->stabilization_length > 0)
    printf("tau          diffusion / L, L = %.6g\n", report->stabilization_length);
  print_matrices(report);
  print_memory(report);
  if (output) printf("output       %s\n", kg_cli_shown(output));
}
