/// @file
/// Smoothed aggregation: the inside of kg_amg.
///
/// Every level is smoothed by Chebyshev's iteration on D^-1 A, before and after the coarser level's
/// correction, with the same polynomial, so that the cycle is symmetric. Next comes P^T A P.
/// Levels end where a matrix is small enough for its inverse, or no row has a strong connection:
/// there smoothing is a solver. Where kedge refined the mesh, the meshes before it are the first
/// levels (precondition/amg/midpoints.h), without aggregates. Of the levels with aggregates the
/// finer ones have their coarse systems solved by two cycles, so that convergence does not depend
/// on how many levels there are; further down that would cost a GPU more in launches than it gains.
/// Small matrices, that have a level or two, are solved by two cycles themselves. A system is
/// solved well by conjugate gradients with several cycles.
#pragma once
#include "ops/pass.h"
#include "precondition/amg/arena.h"
#include "precondition/amg/coarse.h"
#include "precondition/amg/midpoints.h"
KEDGE_BEGIN_DECLS

enum {
  KG_AMG_LEVELS = 24,  ///< most levels
  KG_AMG_DEGREE = 2,   ///< steps of smoothing each way
  /// most rows of a level whose coarse system is solved by one cycle, but for the first
  KG_AMG_ONCE = 100000,
  /// the same where opposite corners have entries: levels shrink less, by 5.6 instead of 7
  KG_AMG_ONCE_CORNERS = 200000,
  KG_AMG_SMALL = 1024,  ///< most rows of a first matrix that is solved by two cycles
  /// most rows of a matrix that is inverted, where there is memory for that, and rows of one that
  /// always is
  KG_AMG_DIRECT = 1024,
  KG_AMG_DIRECT_LEAST = 64,
  KG_AMG_SUMS = 3 + KG_PIECES,  ///< r . z of a step and the one before, p . A p, parts of a sum
};

typedef struct kg_amg_level {
  kg_csr matrix;
  kg_csr prolong;          ///< from the next level
  kg_csr restriction;      ///< its transpose
  kg_midpoints midpoints;  ///< instead of both, where the next level is a coarser mesh
  double *iterate;         ///< [row] every other iterate; not of `dense`
  double *b, *x;           ///< [row] right-hand side and result, but for the first level
  double momentum[KG_AMG_DEGREE], weight[KG_AMG_DEGREE];
} kg_amg_level;

struct kg_coarse {
  int n_levels;
  int n_refined;      ///< levels whose next is a coarser mesh
  bool has_corners;   ///< of kg_coarse_memory
  bool many;          ///< vectors are KG_VECTORS, whose rows lie side by side
  double eigenvalue;  ///< of D^-1 A on refined levels: none is larger
  int n_twice;        ///< levels with aggregates whose coarse system is solved by two cycles
  int n_cycles;       ///< cycles that solve a system well
  double *sums;       ///< [KG_AMG_SUMS][vector]
  bool direct;        ///< the last level is solved by `dense`
  double *dense;      ///< [kg_dense_entries()]: inverse of the last level
  kg_arena arena;     ///< holds everything but the first matrix
  kg_arena vectors;   ///< holds iterates and right-hand sides
  kg_amg_level level[KG_AMG_LEVELS];
};

kedge_status kg_amg_create(kedge_context *ctx, const kg_csr *matrix, kg_coarse_memory memory,
                           kg_coarse **out);
kedge_status kg_amg_lend(kedge_context *ctx, kg_coarse *coarse, void *vectors, size_t bytes);
kedge_status kg_amg_of_many(kedge_context *ctx, const kg_coarse *coarse, kg_coarse **out);
void kg_amg_destroy(kedge_context *ctx, kg_coarse *coarse);

KEDGE_END_DECLS
