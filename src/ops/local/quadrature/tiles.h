/// @file
/// Operators by quadrature on the tensor cores of a GPU, where an element's tiles fit its shared
/// memory; elsewhere those of quadrature_cuda.cu do the same.
#pragma once
#include "ops/local/quadrature/make.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"

bool kg_tiles_make_fits(kedge_context *ctx, const kg_cell_make_args *args);
kedge_status kg_tiles_make(kedge_context *ctx, const kg_cell_make_args *args);
bool kg_tiles_recover_fits(kedge_context *ctx, const kg_cell_recover_args *args);
kedge_status kg_tiles_recover(kedge_context *ctx, const kg_cell_recover_args *args);
bool kg_tiles_postprocess_fits(kedge_context *ctx, const kg_cell_postprocess_args *args);
kedge_status kg_tiles_postprocess(kedge_context *ctx, const kg_cell_postprocess_args *args);
