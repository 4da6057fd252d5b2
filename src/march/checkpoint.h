/// @file
/// A march in a file: what its next steps read, with the identity of mesh and problem. It knows no
/// equation.
///
/// A file is numbers of 8 bytes, little-endian: a head (kg_checkpoint_head), the times that are hit
/// (each its time and its kinds), the settings of the problem as text, filled up with zeros, and
/// arrays, each behind its count. It is the same of host and GPU, as both cut a mesh alike.
#pragma once
#include "march/march.h"

typedef struct kg_checkpoint_head {
  char magic[8];
  int64_t version, bytes;  ///< of the file
  uint64_t sum;            ///< of all that follows
  uint64_t mesh;           ///< of places, elements and groups
  int64_t n_elements, n_hits, text_bytes, n_arrays;
  kg_march_plan plan;
  double step, seconds;  ///< of kedge_marched, as what follows
  int64_t steps, rejected, solves, iterations, set_ups, is_converged;
  double change;
  int64_t grown_step;
  double grown_t;
} kg_checkpoint_head;

/// A file that was read. Zero-initialise; kg_checkpoint_free().
typedef struct kg_checkpoint {
  const char *path;
  char *data;  ///< the file; the rest points into it
  kg_checkpoint_head head;
  const double *hits;    ///< [n_hits][2]
  const char *text;      ///< [text_bytes]
  const double *arrays;  ///< each behind its count
} kg_checkpoint;

/// Write a march, whole or not at all. @retval KEDGE_ERR_IO  the file cannot be written
kedge_status kg_checkpoint_write(const kedge_march *march, const char *path);
/// Read a file, and refuse one that is of another mesh or problem.
/// @retval KEDGE_ERR_IO     it cannot be read
/// @retval KEDGE_ERR_INPUT  it is no checkpoint, is damaged, of another version, mesh or problem
kedge_status kg_checkpoint_read(kedge_context *ctx, const kedge_mesh *mesh,
                                const kedge_problem *problem, const char *path, kg_checkpoint *out);
/// Give a march the plan and the times of a file. Its state has been made for plan.rate.
kedge_status kg_checkpoint_take_plan(const kg_checkpoint *from, kedge_march *march);
/// Give it the arrays.
kedge_status kg_checkpoint_take_state(const kg_checkpoint *from, kedge_march *march);
void kg_checkpoint_free(kg_checkpoint *checkpoint);
