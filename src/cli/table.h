/// @file
/// A table of numbers, as CSV, that grows row by row. Rows are written whole: a run that is killed
/// leaves those before.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Zero-initialise but for the path, and `every`.
typedef struct kg_table {
  const char *path;
  int64_t every;  ///< steps from one row to the next; 0: any
  bool is_open;
  int file;
  int n;         ///< columns
  int64_t rows;  ///< beside the names
  int64_t bytes;
} kg_table;

/// Begin the file anew with the names of its columns. Returns 0 or errno.
int kg_table_open(kg_table *table, int n, const char *const *names);
enum { KG_TABLE_OTHER = -1 };  ///< the file has other columns, or rows of another `every`

/// Go on behind the rows whose second column, the step, is at most `steps`; later ones are cut off.
/// Where there is no file it begins anew. Returns 0, errno or KG_TABLE_OTHER.
int kg_table_resume(kg_table *table, int n, const char *const *names, int64_t steps);
/// Add a row, or nothing. What is not finite is left empty. Returns 0 or errno.
int kg_table_add(kg_table *table, const double *values);
void kg_table_close(kg_table *table);
