/// @file
/// The arrays of a solve in device memory. Each stage declares the arrays that it is the first to
/// use; the memory plan (device/plan.h) decides where they lie and how many bytes they need.
#pragma once
#include "linear/phases.h"
#include "ops/local/quadrature/field_sums.h"
#include "ops/numbers/region_sums.h"
#include "elliptic/iteration.h"
#include "equation/robin.h"
#include "equation/source.h"

/// What groups of the mesh say (elliptic/recover/numbers.c).
typedef struct kg_number_arrays {
  int32_t *list;                 ///< kg_grouped_at()
  kg_region_sums *records;       ///< [record]
  double *facets;                ///< [facet][1 + m]: kg_facet_flux()
  double *nodes[KG_CELL_KINDS];  ///< by shape: [node of order P][N], modes there
} kg_number_arrays;

/// Pointers to the arrays of a solve; NULL: this solve does not need the array. m is the number of
/// modes on an edge, N that in an element. Arrays of a chunk have lanes for the elements of some
/// groups, all others for the elements of all groups.
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
  /// With precision = compact: load vectors, F^e, K^e and sides of a chunk, computed again for each
  /// residual. Values of the source use the memory of K^e before K^e is computed.
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
  kg_number_arrays numbers;
} kg_arrays;

void kg_transfer_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
void kg_local_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
void kg_compact_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
void kg_recover_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
