/// @file
/// Elements that are integrated by quadrature: tables of their shapes, the points where functions
/// are sampled, and values of coefficients there.
#pragma once
#include "ops/local/quadrature/loads.h"
#include "elliptic/elliptic.h"
KEDGE_BEGIN_DECLS

/// The most points of an element where the source is sampled, where the exact solution is, and
/// where coefficients have values; the first two of all shapes, the last of those by quadrature.
int kg_shape_source_points(const kg_shape *shape);
int kg_shape_exact_points(const kg_shape *shape);
int kg_shape_value_points(const kg_shape *shape);

void kg_cells_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
/// Make the points, in host memory, which the pipeline then owns.
kedge_status kg_cells_prepare(kg_elliptic *p);
void kg_cells_free(kg_elliptic *p);
/// Bring the tables and points to the device.
kedge_status kg_cells_put(kg_elliptic *p);
/// The cells of a batch, once arrays are there.
kg_cells kg_cells_of(const kg_elliptic *p, int batch);
/// The sampling points of a batch in host memory: those of errors with the corners behind them.
kg_cell_points kg_cells_host_points(const kg_elliptic *p, int batch, kg_sample_kind kind);
/// Find them in memory of the backend.
kg_cell_points kg_cells_device_points(const kg_elliptic *p, int batch, kg_sample_kind kind);

/// The coefficients of groups [first, first + count) of a batch: where they vary, their values are
/// made now.
/// @param[out] values  room for them, which `out` then points into: KG_CELL_FUNCTIONS times
///                     kg_shape_value_points() a lane
/// @retval KEDGE_ERR_INPUT  diffusion that is not positive definite, reaction that is negative: the
///         sentence says where
kedge_status kg_cells_coefficient(kg_elliptic *p, int batch, int32_t first, int32_t count,
                                  double *values, kg_coefficient *out);

/// Load vectors of groups [first, first + count) of a batch.
/// @param[in] to  values, [group of these][point of the rule][lane], and where results go: the
///                rest of it is not read
kedge_status kg_cells_loads(kg_elliptic *p, int batch, int32_t first, int32_t count,
                            const kg_cell_loads_args *to);
/// Sums of errors of such groups, of whose solution and exact solution the pipeline has the chunk.
kedge_status kg_cells_errors(kg_elliptic *p, int batch, int32_t first, int32_t count);

KEDGE_END_DECLS
