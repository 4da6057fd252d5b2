/// @file
/// A march of the command: its loop, signals, checkpoint, files and progress (march.c) know no
/// equation. What is made of a step is the affair of a method: steps in time of the elliptic
/// problem (parabolic.c), and waves (waves.c).
#pragma once
#include "cli/march_line.h"
#include "cli/notes.h"
#include "cli/task.h"

typedef struct kg_cli_march kg_cli_march;

/// What is made of a step: nothing, a look that leaves no file, rows of tables, or files too.
typedef enum kg_cli_look { KG_CLI_PASSES, KG_CLI_LOOKS, KG_CLI_LISTS, KG_CLI_WRITES } kg_cli_look;

/// Functions that return an int return an exit code, and have told what fails.
typedef struct kg_cli_march_method {
  /// The march begins, or goes on from a checkpoint.
  int (*begin)(kg_cli_march *march);
  /// What is made of the step that is reached, which is no output.
  kg_cli_look (*wanted)(const kg_cli_march *march);
  /// Look at a step, and add rows.
  int (*look)(kg_cli_march *march, kg_cli_look how);
  /// Write fields, or the boundary, of the step that was looked at; `user` is the march.
  kg_series_write *write, *write_boundary;
  /// Report, picture and summary. @param[in] code  of the exit so far
  int (*deliver)(kg_cli_march *march, int code);
  void (*end)(kg_cli_march *march);
  bool lists_steps;  ///< the table has a row for each step, not for outputs alone
} kg_cli_march_method;

struct kg_cli_march {
  kg_cli_task *task;
  const kg_cli_march_method *method;
  void *own;  ///< of the method
  kedge_march *march;
  kedge_marched marched;
  bool had_converged;  ///< before the last step
  kg_march_line line;
  kg_notes notes;
  double *values;   ///< [steps.n] a row of the table of steps, once it is open
  int64_t resumed;  ///< steps of the checkpoint that the run goes on from; 0: it begins
  bool is_lost;     ///< a step, or a look at it, has failed: there is a report to deliver alone
  char failure[KG_CLI_SAID];  ///< the sentence of that, which is why the output is not whole
  double saved_at;            ///< kg_seconds() of the last checkpoint, or of the beginning
};

/// March through a problem with [time], once mesh, probes and integrals are made. Returns an exit
/// code.
int kg_cli_march_run(kg_cli_task *task, const kg_cli_march_method *method);

// For methods.

/// Tell that a step, or a look at it, has failed, and keep the sentence as a note.
int kg_cli_march_fail(kg_cli_march *march, kedge_status status);

/// Begin a table, or go on with one behind the checkpoint. @param[in] names  [n] of columns
int kg_cli_march_open(const kg_cli_march *march, kg_table *table, int n, const char *const *names);
/// Add a row to an open table.
int kg_cli_march_add(const kg_cli_march *march, kg_table *table, const double *values);

extern const kg_cli_march_method kg_cli_march_parabolic, kg_cli_march_waves;
