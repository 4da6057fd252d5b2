/// @file
/// The elements of points, and probes of points whose elements have been found.
#pragma once
#include "kedge/probe.h"

struct kedge_probe {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  int64_t number;  ///< of the probes of this process, from 1
  int64_t n, n_inside;
  double *x[3];      ///< [dimension][n]
  int64_t *inside;   ///< [n_inside]: points, in the order of their elements
  int32_t *read;     ///< [n_inside]: these elements
  int32_t *element;  ///< [n]: of the mesh; -1: outside
  double *at;        ///< [n][dimension]: in the element's reference shape
};

/// Find the elements that hold points, as kedge_probe_create() says, by one tree over the mesh.
/// @param[in]  x        [dimension][n]: coordinates
/// @param[out] element  [n] of the mesh; -1: the point is outside
/// @param[out] at       [n][dimension]: in the element's reference shape
kedge_status kg_points_find(kedge_context *ctx, const kedge_mesh *mesh, int64_t n,
                            const double *const *x, int32_t *element, double *at);
/// Make a probe of such points; arrays are copied.
/// @retval KEDGE_ERR_INPUT  all are outside
kedge_status kg_probe_make(kedge_context *ctx, const kedge_mesh *mesh, int64_t n,
                           const double *const *x, const int32_t *element, const double *at,
                           kedge_probe **out);
