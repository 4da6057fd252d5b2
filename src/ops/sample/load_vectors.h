/// @file
/// Load vectors: f^e_i = scale (f, phi_i) by quadrature from point values of the source.
#pragma once
#include "basis/roughness.h"
#include "ops/local/triangle/element.h"
#include "ops/sample/points.h"
KEDGE_BEGIN_DECLS

typedef struct kg_load_vectors_args {
  kg_batch batch;
  kg_points points, host_points;  ///< kg_points_of_rule(); the latter in host memory
  int32_t first_group, n_groups;  ///< the chunk of this call
  double scale;
  const double *values;  ///< [group of the chunk][point][lane]: f
  double *load;          ///< out: [group of the chunk][N][lane]
  uint8_t *rough;        ///< out: [group of the chunk][lane]: kg_is_rough(); NULL: not asked
  double least;          ///< values that are less are rounding
} kg_load_vectors_args;

KG_DECLARE_OPERATOR(kg_load_vectors, kg_load_vectors_args);
kg_cost kg_load_vectors_cost(kg_sizes size, int64_t n_elements);

KEDGE_END_DECLS
