/// @file
/// A march in a file: what its next steps read, with the identity of mesh and problem. It knows no
/// equation.
///
/// A file is numbers of 8 bytes, little-endian: a head (kg_checkpoint_head), the times that are hit
/// (each its time and its kinds), the settings of the problem as text, filled up with zeros, and
/// arrays, each behind its count. It is the same of host and GPU, as both cut a mesh alike.
#pragma once
#include "march/march.h"
#include "problem/settings.h"

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

// What checkpoint.c needs of identity.c, which compares a file's mesh and problem with others.

enum { KG_CHECKPOINT_WORD = 8 };  ///< bytes
/// FNV-1a of words, whose upper half comes down, as a word has more than a byte.
uint64_t kg_checkpoint_sum(const void *data, size_t bytes);
/// Go on with the sum of what stands before. What is no whole word is filled up with zeros.
uint64_t kg_checkpoint_sum_on(uint64_t sum, const void *data, size_t bytes);
/// The sum of all of a mesh that a march depends on, in the mesh's own numbering: how a file
/// numbers its elements is of no account.
uint64_t kg_checkpoint_mesh(const kedge_mesh *mesh);
/// Settings as text, of those that change what is computed.
/// @param[in,out] text  NULL; then [bytes], for free(), also after a failure
kedge_status kg_checkpoint_settings(kedge_context *ctx, const kg_settings *settings,
                                    int64_t n_elements, char **text, size_t *bytes);
/// Refuse a file of another mesh or problem. @retval KEDGE_ERR_INPUT
kedge_status kg_checkpoint_compare(kedge_context *ctx, const kg_checkpoint *checkpoint,
                                   const kedge_mesh *mesh, const kedge_problem *problem);
/// The end that a file was written for: no time that is hit is behind it.
static inline double kg_checkpoint_end(const kg_checkpoint *c)
{
  return c->hits[2 * (c->head.n_hits - 1)];
}
