/// @file
/// Robin conditions in the local matrices of a solve.
#pragma once
#include "solver/pipeline.h"

void kg_robin_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
/// Bytes of host memory that kg_robin_add() takes.
int64_t kg_robin_host_bytes(const kg_shape *shape);
/// Add the Robin conditions to packed K^e, which are made; and tell the least coefficient.
/// @retval KEDGE_ERR_INPUT  a coefficient is not finite
kedge_status kg_robin_add(kg_pipeline *p);
