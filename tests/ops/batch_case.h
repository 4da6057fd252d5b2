/// @file
/// A trace of several batches on the device, with a random K^e and F^e of each element, and what
/// follows from them by the definition. Vectors of the host are [mesh edge][mode].
#pragma once
#include "case.h"
#include "space/trace_layout.h"

typedef struct batch_case {
  op_case memory;  ///< of which only the pieces of device memory are used
  const kedge_mesh *mesh;
  kg_trace_layout layout;
  int m;
  kg_batch batch;          ///< device
  kg_locals locals;        ///< device, a kg_local a batch
  double *condensed;       ///< device: F^e of all lanes
  int32_t *trace_of_edge;  ///< [mesh edge]
  double *local;           ///< [element][(4 m)^2]: K^e, symmetric, [row][column] in the first n^2
  double *load;            ///< [element][4 m]: F^e
} batch_case;

/// Groups of odd number have Neumann conditions.
/// @param[in] cut  elements that begin a batch
void batch_case_create(batch_case *c, kedge_context *ctx, const kedge_mesh *mesh, int m, int n_cuts,
                       const int32_t *cut);
void batch_case_destroy(batch_case *c);

size_t batch_case_unknowns(const batch_case *c);
bool batch_case_is_free(const batch_case *c, int32_t edge);
/// The two vertices of an edge, the lower first.
void batch_case_ends(const batch_case *c, int32_t edge, int32_t vertex[2]);
/// Entries of K^e of an element, and the unknown that a row of it is.
double batch_case_local(const batch_case *c, int32_t e, int row, int column);
int64_t batch_case_unknown(const batch_case *c, int32_t e, int row);
int batch_case_rows(const batch_case *c, int32_t e);

/// A trace vector of the host on the device, and one of the device (in the first free edges) on the
/// host, zero elsewhere, to be freed.
double *batch_case_put(batch_case *c, const double *values);
double *batch_case_get(batch_case *c, const double *device);
/// A, [unknown][unknown], of all edges, to be freed.
double *batch_case_dense(const batch_case *c);
/// A x of free edges, zero elsewhere, to be freed; and x . A x over all edges.
double *batch_case_product(const batch_case *c, const double *x, double *dot);

/// Checks a mesh with all numbers of modes of a facet that GPUs have products for.
void batch_case_with(kedge_context *ctx, const kedge_mesh *mesh, int n_cuts, const int32_t *cut,
                     void (*check)(batch_case *));
