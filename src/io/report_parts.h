/// @file
/// Parts that reports of solves, of plans and of waves have in common.
#pragma once
#include "io/json.h"
#include "kedge/march.h"

/// @param[in] dimension  0: not known, and left out
void kg_report_mesh(kg_json *json, int dimension, int64_t elements, int64_t edges, int64_t vertices,
                    int64_t boundary_edges);
void kg_report_backend(kg_json *json, const char *name, const char *device);
/// Writes the steps; null where nothing marched.
void kg_report_march(kg_json *json, const kedge_marched *march);
/// Writes whether the output file was written; null where none was to be.
void kg_report_output(kg_json *json, const char *error);
void kg_report_stages(kg_json *json, int n, const kedge_stage_report *stages);
