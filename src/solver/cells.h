/// @file
/// Tables of the shape of elements that is not the triangle: those that local matrices read, and
/// the points where functions are sampled.
#pragma once
#include "solver/pipeline.h"
KEDGE_BEGIN_DECLS

/// Points of the sampling rule a direction: sources and exact solutions are no polynomials, and
/// with these what the rule adds is small beside the errors that it measures.
static inline int kg_cell_sample_rows(int order)
{
  return order + 6;
}

/// The shape of the mesh's elements that are no triangles; NULL: there are none.
const kg_cell *kg_shape_cell(const kg_shape *shape);
/// Points of an element where the source is sampled, and where the exact solution is: the most of
/// all shapes.
int kg_shape_source_points(const kg_shape *shape);
int kg_shape_exact_points(const kg_shape *shape);

void kg_cells_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
/// Make the points, in host memory, which the pipeline then owns.
kedge_status kg_cells_prepare(kg_pipeline *p);
/// Bring the tables and points to the device.
kedge_status kg_cells_put(kg_pipeline *p);
/// The cells of a batch, once arrays are allocated.
kg_cells kg_cells_of(const kg_pipeline *p, int batch);
/// The sampling points in host memory. @param[in] corners  those behind the rule are wanted too
kg_cell_points kg_cells_host_points(const kg_pipeline *p, bool corners);

/// Load vectors of groups [first, first + count) of a batch.
/// @param[in]  values  [group of these][point of the rule][lane]: the source
/// @param[out] load    [group of these][N][lane]
kedge_status kg_cells_loads(kg_pipeline *p, int batch, int32_t first, int32_t count,
                            const double *values, double *load);
/// Sums of errors of such groups, of whose solution and exact solution the pipeline has the chunk.
kedge_status kg_cells_errors(kg_pipeline *p, int batch, int32_t first, int32_t count);

KEDGE_END_DECLS
