/// @file
/// A small mesh, its trace layout and everything an operator reads, on the device of a context; and
/// device memory that notices what is written beside it.
#pragma once
#include "backend.h"
#include "device/context.h"
#include "layout.h"
#include "ops/local/triangle/element.h"
#include "ops/local/local.h"
#include "ops/ops.h"
#include "equation/sampling.h"

enum case_boundary { CASE_NEUMANN, CASE_MIXED, CASE_DIRICHLET, CASE_BOUNDARIES };

enum { CASE_PIECES = 48 };

typedef struct op_case {
  kedge_context *ctx;
  kedge_mesh *mesh;
  test_layout layout;
  kg_sizes size;
  kg_material material;
  bool in_chunks;        ///< operators that can are called twice, the last group alone
  double *reference;     ///< host values behind batch.reference
  kg_sampling sampling;  ///< host
  kg_batch batch;        ///< device
  kg_points points;      ///< device
  int n_pieces, n_lasting;
  struct case_piece {
    kg_buffer buffer;
    size_t count;  ///< doubles between the guards, 0: without guards
  } pieces[CASE_PIECES];
} op_case;

/// @param[in] boundary  MIXED: the wall is Dirichlet
void case_create(op_case *c, kedge_context *ctx, int n_elements, int order,
                 enum case_boundary boundary, kg_material material);
/// Creates a case on a mesh that the case then owns (tests/grid.h).
void case_create_on(op_case *c, kedge_context *ctx, kedge_mesh *mesh, int order,
                    enum case_boundary boundary, kg_material material);
void case_destroy(op_case *c);

/// A GPU goes on as if a block had so many bytes of shared memory, others as they are.
/// @return what it had
int case_limit_shared(kedge_context *ctx, int bytes);

/// A copy in device memory, without guards.
void *case_upload(op_case *c, const void *host, size_t count, size_t size);
/// A copy of `values` in device memory, between guards.
double *case_input(op_case *c, const double *values, size_t count);
/// Device memory full of NaN, between guards.
double *case_output(op_case *c, size_t count);
/// What a case_input() or case_output() holds now, to be freed; its guards must be untouched.
double *case_fetch(op_case *c, const double *device);
/// Local matrices of all elements at `data`.
static inline kg_local case_local(const op_case *c, kg_layout layout, kg_number number, void *data)
{
  return kg_local_all(layout, number, c->size, &c->batch.count, data);
}
/// Release the inputs and outputs made since case_create().
void case_release(op_case *c);

/// Random numbers in [-1, 1], to be freed.
double *case_randoms(uint64_t seed, size_t count);
