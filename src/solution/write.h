/// @file
/// Parts that both writers of output files share.
#pragma once
#include "io/vtkhdf.h"
#include "solution/solution.h"

/// Write the file of a solution of which only means are kept (write_cells.c).
kedge_status kg_output_cells(const kedge_solution *solution, const char *path);

/// The cells of a file, which are in the caller's order.
/// @param[out] element           [cell]: its number in the mesh
/// @param[out] is_quadrilateral  [cell]; must stay until the file is created
kg_vtkhdf_cells kg_output_order(const kedge_mesh *mesh, int32_t *element, bool *is_quadrilateral);
