/// @file
/// What a solve writes beside output and report: tables of probes, the boundary, a picture, and of
/// what moves a table of steps and lists of outputs.
#pragma once
#include "cli/cli.h"
#include "cli/series.h"
#include "cli/table.h"

/// A file of that kind.
typedef struct kg_cli_beside_file {
  const char *path;
  char what[80];       ///< for sentences: "probe axis"
  char place[400];     ///< kedge_problem_place()
  char *file;          ///< that the path leads to, owned
  const char *points;  ///< of a probe, the file with its points; NULL: none
  kedge_probe *probe;  ///< owned; NULL: it is none, or not made yet
  bool written;
} kg_cli_beside_file;

/// Zero-initialised: nothing.
typedef struct kg_cli_beside {
  int n_probes, n;                         ///< of files
  kg_cli_beside_file *files;               ///< [n]: probes, then those that there are of the others
  kg_cli_beside_file *boundary, *picture;  ///< NULL: none, as
  kg_cli_beside_file *checkpoint;          ///< this, of a problem that moves
  bool moves;                              ///< the problem has [time]
  // What only such a problem has; NULL: it has none.
  kg_cli_beside_file *table;                 ///< plate.csv
  kg_cli_beside_file *list, *boundary_list;  ///< plate.vtkhdf.series: there are outputs at times
  char *names[3];                            ///< of these three
  kg_series outputs, boundaries;             ///< that were written
  kg_table steps;                            ///< likewise
} kg_cli_beside;

/// List the files, and refuse with a sentence, before the work, what could not be written after it,
/// two outputs in one file, and files of points that hold none. Output and report have been looked
/// at.
/// @param[in]  output   NULL: none
/// @param[in]  picture  NULL: none
/// @param[out] beside   kg_cli_beside_free(), after a failure too
/// @return an exit code
int kg_cli_beside_check(const kedge_context *ctx, const kg_cli_problem *from,
                        const kedge_problem *problem, const char *output, const char *picture,
                        kg_cli_beside *beside);
void kg_cli_beside_free(kg_cli_beside *beside);
/// Whether a solve must keep its fields.
static inline bool kg_cli_beside_needs_fields(const kg_cli_beside *beside)
{
  return beside->n_probes > 0 || beside->picture;
}
/// Make the probes, whose points are found before the solve. @return status of the first that fails
kedge_status kg_cli_beside_open(kedge_context *ctx, const kedge_mesh *mesh,
                                const kedge_problem *problem, kg_cli_beside *beside);
/// Write tables of probes, and the boundary unless the problem moves; those behind one that fails
/// are left out.
kedge_status kg_cli_beside_write(kg_cli_beside *beside, kedge_solution *solution);
/// Draw the picture from the output that was written, or from one of its own. Prints the sentence
/// of a failure.
/// @param[in] output  NULL: none was written
/// @param[in] write   makes one
/// @return an exit code
int kg_cli_beside_draw(kedge_context *ctx, kg_cli_beside *beside, const char *output,
                       kg_series_write *write, void *user);
/// The lines of the summary. @param[in] probe_note  as of a report; NULL: there is none
void kg_cli_beside_print(const kg_cli_beside *beside, const char *probe_note);

// Pictures, by the Python package (picture.c).

/// Whether python3 has what a picture takes; else print a sentence.
bool kg_cli_picture_ready(void);
/// Draw u* of an output file, or of waves E or p. Prints the sentence of a failure.
/// @param[in] descriptor  of the output file, open to be read
bool kg_cli_picture_draw(int descriptor, const char *picture);
