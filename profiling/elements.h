/// @file
/// The elements of a mesh as their operators take them, batch by batch, for the program `elements`.
#pragma once
#include "bench.h"

/// All elements of one shape, and where their results lie.
typedef struct elements_batch {
  const kg_elements *elements;
  kg_coefficient coefficient;  ///< with its values at all points, where it varies
  const double *load;
  kg_local local;
  double *condensed, *u, *flux, *u_star, *indicator;
} elements_batch;

/// A bench and its batches. Nothing is sampled after elements_open().
typedef struct elements_bench {
  bench b;
  int n_batches;
  elements_batch batch[KG_BATCHES_MAX];
} elements_bench;

/// @param[in] problem  the bench owns it from there on
void elements_open(elements_bench *e, kedge_context *ctx, const kedge_mesh *mesh,
                   kedge_problem *problem);
void elements_close(elements_bench *e);

/// Local matrices, trace operator, local solve and post-process of all elements: functions of a
/// bench_work whose data is an elements_bench.
kedge_status elements_make(void *user);
kedge_status elements_apply(void *user);
kedge_status elements_recover(void *user);
kedge_status elements_postprocess(void *user);
/// The inverse diagonal, for conjugate gradients.
kedge_status elements_diagonal(elements_bench *e);

kg_cost elements_make_cost(const elements_bench *e);
kg_cost elements_apply_cost(const elements_bench *e);
kg_cost elements_recover_cost(const elements_bench *e);
kg_cost elements_postprocess_cost(const elements_bench *e);

/// Operations of the local matrices by plain counts, in which nothing of a table is zero
/// (profiling/METRICS.md#generaljson); of the fast kernels those of their cost formula.
double elements_make_flops(const elements_bench *e);
/// How the batches are made: "fast", "adjusted", "exact", two of them with a plus between.
void elements_ways(const elements_bench *e, char text[32]);
