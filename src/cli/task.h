/// @file
/// What `kedge solve` owns while it works, of a steady problem (solve.c) or of one that moves
/// (march.h).
#pragma once
#include "cli/beside.h"
#include "cli/cli.h"
#include "cli/progress.h"

/// The objects of a solve.
typedef struct kg_cli_task {
  const kg_cli_problem *from;
  const char *output;  ///< NULL: none
  kedge_context *ctx;
  kedge_problem *problem;
  kedge_mesh *mesh;
  kg_cli_beside beside;
  int n_integrals;
  kedge_integral **integrals;           ///< [n_integrals]
  kedge_integral_value *values;         ///< [n_integrals]
  const kedge_integral_value **listed;  ///< [n_integrals]: values, for the report
  kg_progress_line *line;               ///< NULL: no progress is shown
} kg_cli_task;

/// Print the sentence of the last failure, in place of the progress. Returns an exit code.
int kg_cli_task_fail(const kg_cli_task *task, kedge_status status, bool reads_input);
/// Tell of a failure, unless one has been told of: what follows from it, or comes on top of it, is
/// not worth a second sentence.
void kg_cli_task_tell(const kg_cli_task *task, kedge_status status, int *code);
/// Leave a report of what has failed, and been told of. @param[in] known  all that is
void kg_cli_task_report_failure(const kg_cli_task *task, const kedge_report *known);
/// Evaluate the integrals.
kedge_status kg_cli_task_integrate(kg_cli_task *task, const kedge_solution *solution);

/// A solution, and what is known of how it came about.
typedef struct kg_cli_result {
  kedge_solution *solution;
  const kedge_marched *march;  ///< NULL: the problem is steady
  const char *output;          ///< the file with its fields, for the picture; NULL: none
  const char *not_converged;   ///< the sentence behind "not converged: "; NULL: it is the report's
  int code;                    ///< of the exit so far
} kg_cli_result;
/// Write tables of probes, the boundary, report and picture, and print the summary. Whatever fails,
/// there is a report, and one sentence. Returns an exit code.
int kg_cli_task_deliver(kg_cli_task *task, const kg_cli_result *result);
