/// @file
/// An irregular mesh of any number of triangles, as arrays that a test can look things up in.
#pragma once
#include "kedge/mesh.h"

enum { GRID_WALL = 7 };

/// The first n triangles of a distorted grid about as wide as high: vertices in random order,
/// triangles beginning at any corner, every fifth clockwise. Edges at the left and bottom have the
/// line tag GRID_WALL, the others none.
typedef struct test_grid {
  int n_vertices, n_triangles, n_lines;
  double *vertices;    ///< [vertex][2]
  int32_t *triangles;  ///< [triangle][3]
  int32_t *lines, *line_tags;
} test_grid;

void test_grid_create(test_grid *grid, int n_triangles);
void test_grid_destroy(test_grid *grid);
kedge_mesh *test_grid_mesh(const test_grid *grid, kedge_context *ctx);
/// The mesh alone.
kedge_mesh *test_irregular_mesh(kedge_context *ctx, int n_triangles);
/// The mesh of test_irregular_mesh(), `stretch` times as wide.
kedge_mesh *test_stretched_mesh(kedge_context *ctx, int n_triangles, double stretch);
/// A lattice of equal isosceles triangles, whose two sides of length 1 meet at `degrees`.
kedge_mesh *test_obtuse_mesh(kedge_context *ctx, int n_triangles, double degrees);

/// The unit square in n x n squares, every other one cut into two triangles, each side of it a
/// group.
kedge_mesh *test_checkerboard(kedge_context *ctx, int n);

/// Uniform in [-1, 1], the same sequence for the same seed.
double test_random(uint64_t *seed);
