/// @file
/// The quadrature rules of a solve, in host memory and on the device: the points at which functions
/// are sampled and, for elements integrated by quadrature, tables of basis functions at points.
#pragma once
#include "equation/sampling.h"
#include "equation/shape.h"
#include "method/run.h"
#include "ops/form/form.h"
#include "ops/numbering/space.h"
KEDGE_BEGIN_DECLS

/// On the device; NULL: this solve does not have it.
typedef struct kg_rule_arrays {
  double *point_rule[KG_SAMPLE_KINDS], *point_basis[KG_SAMPLE_KINDS];  ///< kg_points_at()
  /// By shape: kg_cell_tables, of tetrahedra kg_tetrahedron_reference.
  double *cell_tables[KG_CELL_KINDS];
  double *cell_points[KG_SAMPLE_KINDS][KG_CELL_KINDS];  ///< likewise
  double *nodes;  ///< [batch][group][2][node][lane], of curved elements
} kg_rule_arrays;

/// It borrows all but the points.
typedef struct kg_rules {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  const kg_shape *shape;
  const kg_run *run;            ///< which has the costs of what is done at points
  const kg_elements *elements;  ///< [batch], known once arrays are there
  const kg_space_arrays *space;
  const kg_rule_arrays *arrays;
  kg_sampling sampling[KG_SAMPLE_KINDS];  ///< of straight triangles
  /// By shape, in host memory: where functions are sampled, and where coefficients have values.
  double *cell_points[KG_SAMPLE_KINDS][KG_CELL_KINDS];
  double *value_points[KG_CELL_KINDS];
} kg_rules;

void kg_rules_declare(kg_plan *plan, const kg_shape *shape, kg_rule_arrays *arrays);
/// Make the sampling points in host memory.
/// @param[in,out] rules  the borrowed pointers are set by the caller, who also calls
///                       kg_rules_free(), even after a failure
kedge_status kg_rules_make(kg_rules *rules);
void kg_rules_free(kg_rules *rules);
/// Bring points and tables to the device.
kedge_status kg_rules_put(const kg_rules *rules);

/// The cells of a batch by quadrature, once arrays are there; those of a batch of tetrahedra.
kg_cells kg_rules_cells(const kg_rules *rules, int batch);
kg_tetrahedra kg_rules_tetrahedra(const kg_rules *rules, int batch);
/// Return the points of straight triangles where functions of a kind are sampled: in device memory,
/// or (kg_rules_host_points()) in host memory. Sources are not sampled at corners.
kg_points kg_rules_points(const kg_rules *rules, kg_sample_kind kind);
kg_points kg_rules_host_points(const kg_rules *rules, kg_sample_kind kind);
/// Return the points where functions of a kind are sampled, in elements of a batch by quadrature:
/// in device memory, or (kg_rules_host_cell_points()) in host memory. For errors of the solution
/// the corners follow the points of the rule.
kg_cell_points kg_rules_cell_points(const kg_rules *rules, int batch, kg_sample_kind kind);
kg_cell_points kg_rules_host_cell_points(const kg_rules *rules, int batch, kg_sample_kind kind);
/// Return the points where varying coefficients are evaluated, in elements of a batch by
/// quadrature, in host memory: first the points in the element, then the points on its facets.
kg_cell_points kg_rules_value_points(const kg_rules *rules, int batch);
/// The points of any batch where the host samples functions of a kind.
kg_places kg_rules_places(const kg_rules *rules, int batch, kg_sample_kind kind);
/// Return the region of each element of a batch, from group `first` on, in device memory. NULL: no
/// function on the device depends on the region.
const int32_t *kg_rules_regions(const kg_rules *rules, int batch, int32_t first);

KEDGE_END_DECLS
