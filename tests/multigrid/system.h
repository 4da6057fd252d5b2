/// @file
/// A trace system on an irregular mesh with its multigrid preconditioner, on the device of a
/// context, and what of it tests look at, in host memory.
#pragma once
#include "../ops/case.h"
#include "linear/cg.h"
#include "precondition/multigrid.h"
#include "precondition/precond.h"

typedef struct trace_system {
  op_case c;
  kedge_context *ctx;
  size_t n_rows, n_all;  ///< of free edges, of all
  kg_multigrid multigrid;
  kg_edge_lines lines;  ///< host: those of KEDGE_SMOOTHER_LINE
  kg_patches a;
  kg_cycle cycle;
  kg_cg cg;               ///< with that cycle
  const double *b;        ///< random: [n_rows]
  kg_plan plan;           ///< memory of both
  int n_pieces;           ///< of the case, that stay
  kg_local device_local;  ///< K^e of the operator
  double *local;          ///< host: [group][n (n+1) / 2][lane], packed
} trace_system;

typedef struct system_options {
  int n_elements, order;
  double stretch;  ///< of the irregular mesh; 0: it is not
  double angle;    ///< degrees, of the triangles of a lattice in its place; 0: it is not
  enum case_boundary boundary;
  kg_material material;
  kedge_smoother smoother;
  int smoothing_steps;
  bool packed;  ///< K^e of operator and multigrid, also without reaction, where they are reduced
  const kg_coarse_table *solver;
} system_options;

void system_create(trace_system *s, kedge_context *ctx, system_options options);
void system_destroy(trace_system *s);

/// The inverse blocks of the edges, packed, from the factors that KEDGE_SMOOTHER_EDGE keeps, to be
/// freed.
double *system_edge_blocks(trace_system *s);
/// The vertices of the free edges from the mesh alone, lower first: [edge][2], to be freed.
int32_t *system_edge_vertices(const trace_system *s);
/// Which vertices have a Dirichlet edge, to be freed.
bool *system_fixed_vertices(const trace_system *s);
/// Random values at the vertices, but zero at those, to be freed.
double *system_coarse_randoms(const trace_system *s, uint64_t seed);

/// Release the inputs and outputs that a test has made since.
void system_release(trace_system *s);

/// Device memory into fresh host memory, to be freed.
void *system_fetch(trace_system *s, const void *device, size_t bytes);

/// z = M r, of host vectors: r [n_rows], z [n_all].
void system_precondition(trace_system *s, const double *r, double *z);
/// z = B^-1 y of the smoother, with its vertex modes, of host vectors: both [n_rows].
void system_smooth(trace_system *s, const double *y, double *z);
/// y = A x, of host vectors: x [n_all], y [n_rows].
void system_multiply(trace_system *s, const double *x, double *y);

/// The largest quotient z . A x / x . A x of power steps of B^-1 A, where y = A x and z = B^-1 y.
double system_largest_of_steps(trace_system *s, int steps);

/// Entry (a, b) of a K^e, and the row of the trace vector of its entry a, from the mesh alone.
double system_local_entry(const trace_system *s, int32_t e, int a, int b);
int64_t system_trace_row(const trace_system *s, int32_t e, int a);
