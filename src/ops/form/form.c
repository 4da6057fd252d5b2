#include "ops/form/form.h"

kg_elements kg_elements_part(const kg_elements *elements, int32_t first_group, int32_t n_groups)
{
  const int32_t left = elements->n_elements - first_group * KG_LANES, all = n_groups * KG_LANES;
  kg_elements part = *elements;
  part.n_elements = left < all ? left : all;
  if (elements->cell == &kg_tetrahedron) {
    part.tetrahedra = kg_tetrahedra_part(&elements->tetrahedra, first_group, n_groups);
    return part;
  }
  if (elements->by_quadrature) {
    part.cells = kg_cells_part(&elements->cells, first_group, n_groups);
    return part;
  }
  const size_t lanes = (size_t)first_group * KG_LANES;
  kg_trace_arrays *const arrays = &part.batch.arrays;
  part.batch.count.n_elements = part.n_elements;
  part.batch.count.n_groups = kg_elements_groups(&part);
  arrays->vertex += 3 * lanes;
  if (arrays->side_edge) arrays->side_edge += 3 * lanes;
  arrays->side_codes = NULL;  // those of patches, which a range need not have whole
  return part;
}
