/// @file
/// What golden.c and solver.c share. Both use the public API alone.
#pragma once
#include "kedge/kedge.h"

/// Print the reason and end the program.
void fail(const char *what, const char *why);
/// Fail with the sentence of the context.
void must(kedge_status status, const char *what);
void *room_for(size_t count, size_t size);
/// Set "section.key = value".
void set(kedge_problem *problem, const char *name, const char *line);
/// Print root mean square and hash of an array, "problem norm.WHAT value", and free it.
void print_array(const char *problem, const char *what, double *values, size_t count);
/// Print how the iteration ended, errors, fields and trace; the names of quantities that are not
/// norms or hashes begin with `part`, those of arrays have it behind "norm.".
void print_solution(const char *problem, const char *part, const kedge_solution *solution);

/// How a kedge_solver is to solve: all that it can, or with other data and after an update.
typedef enum golden_ways { GOLDEN_NONE, GOLDEN_FEW, GOLDEN_ALL } golden_ways;

/// Solve many times with one kedge_solver, and print all that comes out; the problem is changed.
/// @param[in] on_device  arrays of the device are memory of a GPU
void solve_with_solver(kedge_context *ctx, const char *name, const kedge_mesh *mesh,
                       kedge_problem *problem, golden_ways ways, bool on_device);
/// Print the bytes that plans say: of kedge_solve() and of a kedge_solver.
void print_plans(kedge_context *ctx, const char *name, const kedge_mesh *mesh,
                 const kedge_problem *problem);
