/// @file
/// The trace system as compressed rows that several processes of one host share, and BoomerAMG's
/// way with it (program `boomeramg`). Process 0 makes the system; functions marked "together" are
/// called by all processes at the same time.
#pragma once
#include <mpi.h>

#include "bench.h"

/// Rows of an edge are neighbours, have the same columns, and those of a block of m too.
typedef struct shared_system {
  MPI_Win window;  ///< the memory of all that follows
  int order;
  int64_t rows, entries;
  int32_t *offset;  ///< [rows + 1]
  int32_t *column;  ///< [entries]
  double *value;    ///< [entries]
  double *b, *x;    ///< [rows]
} shared_system;

/// What process 0 makes it from.
typedef struct system_source {
  kg_ell_matrix ell;
  const double *b;
} system_source;

/// Together. `source` and `order` are process 0's.
void system_open(shared_system *s, const system_source *source, int order);
void system_close(shared_system *s);  ///< together
/// Rows of this process: first .. last - 1, whole edges.
void system_rows(const shared_system *s, int32_t *first, int32_t *last);
/// ||b - A x|| / ||b||. Together.
double system_residual(const shared_system *s);

/// Changes the unknowns from orthonormal modes along an edge to values at its m Gauss points: A and
/// b become C^T A C and C^T b, where C makes modes from values. Together.
void system_to_nodes(shared_system *s);
/// Modes of values at the Gauss points of every edge.
void system_modes_of(const shared_system *s, const double *values, double *modes);

/// End all processes.
_Noreturn void give_up(const char *doing, const char *why);
/// Wait for the others without using a core, as MPI_Barrier would. Together.
void wait_quietly(void);

/// A solve, or the fastest of several.
typedef struct boomeramg_result {
  double matrix_seconds;  ///< hypre's matrix and vectors from the rows
  double set_up_seconds;  ///< BoomerAMG's levels
  double solve_seconds;
  int64_t iterations;
  double relative_residual;    ///< of the system in its basis, recomputed
  double operator_complexity;  ///< entries of all levels / entries of the finest
  int levels;
  double bytes;  ///< matrix, levels and vectors, of all processes: what they have allocated for it
} boomeramg_result;

typedef struct boomeramg_way {
  const char *name;
  bool nodes;        ///< unknowns are values, not modes
  bool by_mode;      ///< unknown-based: levels and interpolation for each mode apart
  double threshold;  ///< of strong connections; hypre's default is 0.25
  int aggressive;    ///< levels coarsened aggressively
  bool by_edge;      ///< edges are coarsened, by the Frobenius norm of their blocks, not unknowns
  int coarsening;    ///< 0: hypre's default
  int smoother;      ///< 0: hypre's default
} boomeramg_way;

extern const boomeramg_way boomeramg_ways[];
extern const int boomeramg_way_count;

/// Conjugate gradients preconditioned by one V-cycle, x = 0 at the start. Together.
boomeramg_result boomeramg_solve(shared_system *s, const boomeramg_way *way, double tolerance,
                                 int most_iterations);
