/// @file
/// The arrays of a solve in device memory. Every stage declares those that it begins with; places
/// and bytes are the plan's (device/plan.h).
#pragma once
#include "linear/phases.h"
#include "ops/local/quadrature/field_sums.h"
#include "elliptic/iteration.h"
#include "equation/robin.h"
#include "equation/source.h"

/// NULL: this solve does not have it. m modes an edge; N modes an element; lanes are those of all
/// groups, or of a chunk of them.
typedef struct kg_arrays {
  kg_space_arrays space;
  double *reference;  ///< kg_reference_at()
  kg_rule_arrays rules;
  kg_coefficient_arrays coefficients;
  kg_material_arrays materials;
  kg_source_arrays source;
  kg_robin_arrays robin;
  double *load;  ///< [group][N][lane]

  void *local;  ///< K^e of the trace solve (kg_shape_locals())
  /// With precision = compact: load vectors, F^e, K^e and sides of a chunk, which residuals make
  /// again. Values of the source lie where K^e will.
  double *chunk_load, *chunk_condensed, *chunk_coefficients;
  void *chunk_local;
  uint32_t *chunk_sides;
  double *condensed;         ///< F^e
  void *load_local;          ///< with `repeats`: K^e of a chunk, of which F^e alone is wanted
  double *b;                 ///< [free row]
  double *inverse_diagonal;  ///< [free row]: the Jacobi preconditioner

  kg_iteration iteration;

  double *u, *q, *u_star, *indicator;   ///< of a chunk: [group][mode][lane]
  double *constant;                     ///< of a chunk: means of u and q
  double *exact_values;                 ///< of a chunk: [group][function][point][lane]
  kg_error_sums *error_sums;            ///< [group]
  double *flux_sums;                    ///< [group]: where the flux is not one number times q
  double *field_points[KG_CELL_KINDS];  ///< by shape: kg_field_points()
  kg_field_sums *field_sums;            ///< [kg_field_pieces()]
} kg_arrays;

void kg_transfer_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
void kg_local_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
void kg_compact_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
void kg_recover_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
