/// @file
/// The rules of a solve: the points at which its functions are sampled, and for elements that are
/// integrated by quadrature the tables of their shapes; in host memory, and on the device.
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
  double *cell_tables[KG_CELL_KINDS];                                  ///< by shape
  double *cell_points[KG_SAMPLE_KINDS][KG_CELL_KINDS];                 ///< likewise
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
/// Make the points in host memory.
/// @param[in,out] rules  has what it borrows; kg_rules_free() it, also after a failure
kedge_status kg_rules_make(kg_rules *rules);
void kg_rules_free(kg_rules *rules);
/// Bring points and tables to the device.
kedge_status kg_rules_put(const kg_rules *rules);

/// The cells of a batch by quadrature, once arrays are there.
kg_cells kg_rules_cells(const kg_rules *rules, int batch);
/// The points of straight triangles where functions of a kind are used, on the device or in host
/// memory: the source is not used at corners.
kg_points kg_rules_points(const kg_rules *rules, kg_sample_kind kind);
kg_points kg_rules_host_points(const kg_rules *rules, kg_sample_kind kind);
/// The points of a batch by quadrature where functions of a kind are sampled: for errors corners
/// follow those of the rule.
kg_cell_points kg_rules_cell_points(const kg_rules *rules, int batch, kg_sample_kind kind);
kg_cell_points kg_rules_host_cell_points(const kg_rules *rules, int batch, kg_sample_kind kind);
/// The points of a batch by quadrature where coefficients have values, in host memory: those of the
/// facets follow those of the rule.
kg_cell_points kg_rules_value_points(const kg_rules *rules, int batch);
/// The points of any batch where the host samples functions of a kind.
kg_places kg_rules_places(const kg_rules *rules, int batch, kg_sample_kind kind);
/// The regions of the elements of a batch from a group on, on the device; NULL: no function reads
/// them there.
const int32_t *kg_rules_regions(const kg_rules *rules, int batch, int32_t first);

KEDGE_END_DECLS
