/// @file
/// Functions shared by the two writers of output files: one writes the values of fields at nodes,
/// the other one means over elements.
#pragma once
#include "io/vtkhdf.h"
#include "solution/solution.h"

/// Write the file of a solution of which only means are kept (write_cells.c).
kedge_status kg_output_cells(const kedge_solution *solution, const char *path);

/// Make the list of cells of an output file. Cells are in the caller's order of elements.
/// @param[out] element           [cell]: the element's number in the mesh
/// @param[out] is_quadrilateral  [cell]; the array must exist until the file is created
kg_vtkhdf_cells kg_output_order(const kedge_mesh *mesh, int32_t *element, bool *is_quadrilateral);
