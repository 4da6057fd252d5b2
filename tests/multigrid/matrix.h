/// @file
/// Matrices of linear finite elements on the host, as the multigrid is given them; and what tests
/// do with them.
#pragma once
#include "backend.h"
#include "precondition/amg/coarse.h"
#include "precondition/amg/csr_make.h"

/// Rows compressed, the diagonal first.
typedef struct fe_matrix {
  int32_t n, n_entries;
  int32_t *row, *column;
  double *value;
} fe_matrix;

/// Squares of a grid, each cut in two; -div grad u + reaction u on a domain of width 1.
typedef struct fe_grid {
  int nx, ny;
  double height;  ///< of the domain
  double jitter;  ///< vertices are moved by up to half of this part of a square
  double reaction;
  bool neumann;  ///< no Dirichlet vertices; else all around
} fe_grid;

void fe_grid_matrix(fe_grid grid, fe_matrix *out);
/// The matrix of linear elements on a mesh of tests/grid.h, vertices in random order; Dirichlet
/// vertices at the left and bottom.
void fe_irregular_matrix(int n_triangles, fe_matrix *out);
/// The matrix of linear elements on a mesh, a row a vertex and none of them Dirichlet.
void fe_mesh_matrix(const kedge_mesh *mesh, double reaction, fe_matrix *out);
void fe_matrix_free(fe_matrix *m);

/// Entries beside the diagonal as device memory has them, in single precision; the diagonal takes
/// what they lose, so that rows keep their sums.
void fe_matrix_round(fe_matrix *m);

/// A copy in device memory.
typedef struct device_matrix {
  kg_csr csr;
  kg_buffer row, column, value, diagonal;
} device_matrix;
/// A square matrix with its diagonal apart, rounded as fe_matrix_round() does.
void device_matrix_create(kedge_context *ctx, const fe_matrix *m, device_matrix *out);
/// Another matrix, as it is: entries in single precision, double or in parts of one.
void device_matrix_plain(kedge_context *ctx, const fe_matrix *m, kg_csr_form form,
                         device_matrix *out);
void device_matrix_destroy(kedge_context *ctx, device_matrix *m);
/// What a matrix in device memory holds; diagonals are first.
void fe_matrix_fetch(kedge_context *ctx, const kg_csr *csr, fe_matrix *out);

/// y = A x.
void fe_multiply(const fe_matrix *m, const double *x, double *y);
/// [row][column], to be freed.
double *fe_dense(const fe_matrix *m, int32_t n_columns);

/// Zeros, and random numbers in [-1, 1]; to be freed.
void *get(size_t count, size_t size);
double *randoms(uint64_t seed, int32_t n);

/// x = M b with vectors of the host.
void solve_on_device(kedge_context *ctx, const kg_coarse_table *solver, kg_coarse *coarse,
                     int32_t n, const double *b, double *x);
/// Solves a system well on the device, by several cycles.
void solve_well_on_device(kedge_context *ctx, const kg_coarse_table *solver, kg_coarse *coarse,
                          int32_t n, const double *b, double *x);
/// Iterations of conjugate gradients from zero to 1e-10 with a random right-hand side; at most 100.
int coarse_iterations(kedge_context *ctx, const kg_coarse_table *solver, const fe_matrix *m);
