/// @file
/// Problems whose solver makes solves with other data, and those solves on their own.
#pragma once
#include "bench.h"

enum { DATA = 3, SAMPLES = 17 };

/// A problem that many solves share, and the mesh it is on.
typedef struct sample {
  const char *generate;
  setting settings[12];
} sample;
extern const sample samples[SAMPLES];

/// Source and value on the top, which differ from solve to solve.
extern const char *const sources[DATA], *const tops[DATA];

bench bench_of(const sample *s);
/// Solve with data k on its own, and by the solver.
kedge_solution *solve_fresh(kedge_context *ctx, const kedge_mesh *mesh, const sample *s, int k);
void solve_again(kedge_context *ctx, kedge_solver *solver, int k, kedge_solution **solution);
/// Asserts the same reports and bits.
void assert_same_solve(kedge_context *ctx, const kedge_solution *a, const kedge_solution *b);
/// Asserts that a solve fails, with words of the sentence.
void refuse(const bench *b, const kedge_data *data, kedge_status status, const char *words);
