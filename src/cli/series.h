/// @file
/// Outputs of what moves: a file for each time, with numbers in their names, and ParaView's list.
#pragma once
#include <kedge/march.h>

typedef kedge_status kg_series_write(void *user, const char *path);

/// Zero-initialise: none.
typedef struct kg_series {
  const char *path;   ///< as it was asked for: plate.vtkhdf
  const char *list;   ///< plate.vtkhdf.series; NULL: one file is written, at `path`, and no list
  int64_t last;       ///< number of the last file
  int64_t n, room;    ///< files that were written
  char **names;       ///< [n] with the folder of `path`: plate.0001.vtkhdf
  const char **bare;  ///< [n] without it
  double *times;      ///< [n]
} kg_series;

/// The name of file number i of a series, from 1: plate.0001.vtkhdf. NULL: no memory.
char *kg_series_name(const char *path, int64_t i);
/// Whether numbers of any length, and the ending of the list, have room in a name.
bool kg_series_has_room(const char *path);
/// Write the file of a time, then the list anew. What fails leaves earlier files and their list.
/// @param[in] write  is called with the name of the file
kedge_status kg_series_add(kedge_context *ctx, kg_series *series, double t, kg_series_write *write,
                           void *user);
/// Go on behind files 1 to n, of these times, of which those that there are are listed.
kedge_status kg_series_resume(kedge_context *ctx, kg_series *series, int64_t n, const double *t);
/// The file that was written last; NULL: there is none.
const char *kg_series_last(const kg_series *series);
/// Print the line of a summary, if there is something.
/// @param[in] kind  "output"
void kg_series_print(const kg_series *series, const char *kind);
void kg_series_free(kg_series *series);
