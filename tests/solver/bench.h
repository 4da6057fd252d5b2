/// @file
/// A solver that a test works with.
#pragma once
#include "support.h"

/// A problem, its mesh, a solver of both, and what that counts.
typedef struct bench {
  kedge_context *ctx;
  kedge_mesh *mesh;
  kedge_problem *problem;
  kedge_solver *solver;
  size_t n, m;  ///< unknowns of the trace; modes of an edge
} bench;

/// Make the solver of a bench that has the rest.
void bench_set_up(bench *b);
void bench_free(bench *b);
/// Device memory that each solution of the solver takes.
int64_t solution_bytes(const bench *b);
