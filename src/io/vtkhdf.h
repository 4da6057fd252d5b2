/// @file
/// Writing VTKHDF 1.0 unstructured grids of Lagrange triangles, chunk by chunk of cells.
///
/// Every cell has its own points (fields are discontinuous). The file is written under a temporary
/// name beside the target, flushed, and renamed when it is complete.
#pragma once
#include "core/error.h"

typedef struct kg_vtkhdf kg_vtkhdf;

/// @param[in] order  of the Lagrange triangles, 1..10
kedge_status kg_vtkhdf_create(kedge_context *ctx, const char *path, int order, int64_t n_cells,
                              kg_vtkhdf **out);
/// Declare a field before writing to it. `components` is 1 or 3.
kedge_status kg_vtkhdf_point_field(kg_vtkhdf *file, const char *name, int components);
kedge_status kg_vtkhdf_cell_field(kg_vtkhdf *file, const char *name, bool integer);
/// Write the points of cells [first, first + count): xyz is [cell][node][3]; nodes in Gmsh = VTK order.
kedge_status kg_vtkhdf_write_points(kg_vtkhdf *file, int64_t first, int64_t count, const double *xyz);
/// Write values of a declared field of cells [first, first + count):
/// point fields [cell][node][component]; cell fields [cell] (double, or int32_t when integer).
kedge_status kg_vtkhdf_write(kg_vtkhdf *file, const char *name, int64_t first, int64_t count,
                             const void *values);
/// Write connectivity, offsets, types; flush to disk; rename to the final name; free `file`.
kedge_status kg_vtkhdf_finish(kg_vtkhdf *file);
/// Remove the temporary file and free; NULL is allowed.
void kg_vtkhdf_abandon(kg_vtkhdf *file);
