/// @file
/// Writing VTKHDF 1.0 unstructured grids of triangles and quadrilaterals, of tetrahedra or of
/// lines, chunk by chunk: Lagrange cells that have points of their own (fields are discontinuous),
/// or linear ones that share their points. The file is written under a temporary name beside the
/// target, flushed, and renamed when it is complete.
///
/// HDF5 only lays the file out (vtkhdf_layout.h): datasets are contiguous, so their values are then
/// written in place, without HDF5. A full disk is noticed before the first value is written, and no
/// failure finds HDF5 with an open file, which it cannot close and then crashes on at exit.
/// Compression would write 10 to 20 times slower and save a quarter (docs/output.md has the
/// figures).
#pragma once
#include "core/error.h"
#include "io/vtkhdf_layout.h"

#define KG_VTKHDF_ORDER_MAX 10  ///< of Lagrange cells that VTK evaluates

typedef struct kg_vtkhdf kg_vtkhdf;

/// Load the calls of HDF5, or say that they cannot be loaded.
/// @param[in] doing  "reading" or "writing", for the sentence
kedge_status kg_output_open(kedge_context *ctx, const char *doing, const kg_hdf5 **out);

/// The cells of a file: triangles and n_quadrilaterals others; or tetrahedra; or lines.
typedef struct kg_vtkhdf_cells {
  int64_t n, n_quadrilaterals;
  /// [cell]; read where there are cells of both shapes, while the file is created
  const bool *is_quadrilateral;
  bool lines;  ///< all cells are curves with points of their own: both ends, then those between
  bool tetrahedra;  ///< all cells are tetrahedra
} kg_vtkhdf_cells;

/// @param[in] order  of the Lagrange cells, 1..KG_VTKHDF_ORDER_MAX
kedge_status kg_vtkhdf_create(kedge_context *ctx, const char *path, int order,
                              const kg_vtkhdf_cells *cells, kg_vtkhdf **out);

/// Linear cells that share their points: points are written by kg_vtkhdf_write_points(), which
/// counts points then, cells by kg_vtkhdf_write_corners().
kedge_status kg_vtkhdf_create_shared(kedge_context *ctx, const char *path,
                                     const kg_vtkhdf_cells *cells, int64_t n_points,
                                     kg_vtkhdf **out);

// Declarations; all of them come before the first write, of names that differ, without '/' and '.'.

/// `components` is 1 or 3.
void kg_vtkhdf_point_field(kg_vtkhdf *file, const char *name, int components);
void kg_vtkhdf_cell_field(kg_vtkhdf *file, const char *name, kg_item item, int components);
/// One number about the whole file (VTK's field data): "converged", "relative_residual", ...
void kg_vtkhdf_number(kg_vtkhdf *file, const char *name, double value);

/// Write the points of cells [first, first + count): xyz is [cell][node][3], nodes in VTK's order
/// (kg_cell.nodes); or shared points [first, first + count): [point][3].
kedge_status kg_vtkhdf_write_points(kg_vtkhdf *file, int64_t first, int64_t count,
                                    const double *xyz);
/// Write which of the shared points are the corners of cells [first, first + count),
/// counterclockwise.
/// @param[in] points  [cell][corner]
kedge_status kg_vtkhdf_write_corners(kg_vtkhdf *file, int64_t first, int64_t count,
                                     const int32_t *points);
/// Write values of a declared field of cells [first, first + count): point fields
/// [cell][node][component], for shared points [point][component] of points; cell fields
/// [cell][component] of their item.
kedge_status kg_vtkhdf_write(kg_vtkhdf *file, const char *name, int64_t first, int64_t count,
                             const void *values);
/// Write the rest of the topology; flush to disk; rename to the final name; free `file` (on
/// failure too, and then the temporary file is removed).
/// @retval KEDGE_ERR_INTERNAL  the points or a field were not written for every cell
kedge_status kg_vtkhdf_finish(kg_vtkhdf *file);
/// Remove the temporary file and free; NULL is allowed. After a failure of any call but finish.
void kg_vtkhdf_abandon(kg_vtkhdf *file);
