/// @file
/// What a person reads at the end of a solve.
#pragma once
#include <kedge/kedge.h>

/// Print to stdout.
/// @param[in] reason  why this backend
/// @param[in] output  the file that was written, NULL: none
void kg_summary_print(const kedge_report *report, const char *problem, const char *reason,
                      const char *output);
