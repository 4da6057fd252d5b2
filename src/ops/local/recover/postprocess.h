/// @file
/// Post-processing: u* of order P + 1 with (diffusion grad u*, grad w) = (diffusion q, grad w) for
/// all w of order P + 1 and the mean of u (docs/math.md#post-processing). Its L2 distance to u is
/// the error indicator.
#pragma once
#include "ops/local/triangle/element.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_postprocess_args {
  kg_batch batch;
  kg_materials materials;         ///< the directions of diffusion alone are read
  int32_t first_group, n_groups;  ///< the chunk of this call
  const double *u;                ///< [group of the chunk][N][lane]
  const double *q;                ///< [group of the chunk][2 N][lane]
  double *u_star;                 ///< out: [group of the chunk][N*][lane]
  double *indicator;              ///< out: [group of the chunk][lane]: ||u* - u|| of the element
} kg_postprocess_args;

KG_DECLARE_OPERATOR(kg_postprocess, kg_postprocess_args);
kg_cost kg_postprocess_cost(kg_sizes size, int64_t n_elements);

KEDGE_END_DECLS
