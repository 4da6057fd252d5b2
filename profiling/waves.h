/// @file
/// What the program `waves` is made of.
#pragma once
#include "bench.h"
KEDGE_BEGIN_DECLS

/// The problem of an order: what --set says.
kedge_problem *waves_problem(const bench_settings *settings, const bench_machine *machine,
                             int order);
/// The beginning of a line, without its closing brace.
void waves_print(const char *name, const kedge_mesh *mesh, int order);

/// A stage of kedge, and one in the kernels of wave_parts.h for every number of elements a block.
/// @return how many of them differ from kedge's
int waves_measure_parts(const bench_settings *settings, const bench_machine *machine, int order);

/// Stages of kedge's compiled kernel, cut into blocks and threads in all ways that may be fast.
void waves_measure_tilings(const bench_settings *settings, const bench_machine *machine, int order);

KEDGE_END_DECLS
