/// @file
/// Sections [probe NAME]: where the points are, and where their table goes.
#pragma once
#include "problem/settings.h"

enum { KG_PROBE_POINTS_MAX = 10000000 };  ///< of a line

/// Points are given in one of three ways. Owned; settings are borrowed.
typedef struct kg_probe {
  char *name;
  double *points;  ///< [n][dimension]: the points, or of a line its ends
  int dimension;   ///< numbers of a point: 2, in space 3
  int64_t n;       ///< of a line, those that are wanted
  char *file;      ///< CSV, with the folder of the problem file before it, unless it is absolute
  char *output;    ///< given, or NAME.csv
  int64_t every;   ///< steps of waves between two rows; 1 unless it is given
  const kg_setting *at;  ///< points, line or file; NULL: none of them is given
} kg_probe;

/// The probe of a section, made when it is new.
kedge_status kg_probe_of(kedge_problem *problem, const kg_settings *settings, const kg_setting *s,
                         kg_probe **out);
/// Read the value of points: "x y, x y", in space "x y z, x y z".
kedge_status kg_probe_read_points(const kg_settings *settings, const kg_setting *s, kg_probe *out);
/// Read the value of line: "x0 y0, x1 y1, n", in space with z0 and z1.
kedge_status kg_probe_read_line(const kg_settings *settings, const kg_setting *s, kg_probe *out);
/// Refuse two of points, line and file, and fields = cells, which has no values at points.
kedge_status kg_probes_check(const kg_settings *settings, const kedge_problem *problem);
/// Refuse sections of a file without points.
/// @param[in] places  settings, or the sections of the file
kedge_status kg_probes_check_file(const kedge_problem *problem, const kg_settings *places);
void kg_probe_free(kg_probe *probe);

/// The points of a probe that has some, from its file too.
/// @param[in]  dimension  of the mesh
/// @param[out] x  [dimension][n], NULL before the call; the caller frees each, after a failure too
/// @retval KEDGE_ERR_IO, KEDGE_ERR_INPUT  its file cannot be read, or is no table of points; the
///         points have another dimension
kedge_status kg_probe_points(kedge_context *ctx, const kg_probe *probe, int dimension, int64_t *n,
                             double **x);

/// Put the place of a probe's points before the sentence of a failure, whose status is kept.
kedge_status kg_probe_blame(kedge_context *ctx, const kedge_problem *problem, const kg_probe *probe,
                            kedge_status status);

/// Read points from the text of a CSV file.
/// @param[in]  name       of the file, for sentences
/// @param[in]  dimension  columns x, y and, where it is 3, z; others are passed over
/// @param[out] x          as above
/// @retval KEDGE_ERR_INPUT  it is no such text; the sentence begins with name and line
kedge_status kg_points_parse(kedge_context *ctx, const char *name, const char *text, int dimension,
                             int64_t *n, double **x);
