/// @file
/// Meshes of every shape in three regions, and problems that differ in how their data are given.
#pragma once
#include "moved.h"

struct grid {
  enum cut cut;
  int geometry;
  moving *to;
};

enum { GRIDS = 4, N = 6 };
extern const struct grid grids[GRIDS];  ///< the last is curved

/// n x n squares; the regions 1, 2 and 3 are thirds from left to right.
kedge_mesh *mesh_of(kedge_context *ctx, const struct grid *g, int n);
kedge_solution *solve_problem(kedge_context *ctx, const kedge_mesh *mesh,
                              const kedge_problem *problem);
/// Solve both and compare all that they hold; with a tolerance of 0 the bits.
void assert_same(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *a,
                 const kedge_problem *b, double tolerance);
/// A solve that must be refused with these words.
void assert_refused(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                    kedge_status status, const char *words);
