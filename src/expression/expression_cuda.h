/// @file
/// Functions of the plane and of space as CUDA C, in text that a C compiler takes too.
#pragma once
#include "expression/function.h"

enum { KG_EMITTED_MAX = 1000 };  ///< most operations; compiling so many takes up to 20 s

/// Write
///   static __device__ void evaluate(double x, double y, double z, double region, double t,
///                                   double *value)
/// which sets value[f] = functions[f](x, y, z, region, t), and the helper it calls. Equal parts of
/// all functions are computed once, each in a local of its own. Operations are those of the host's
/// register code, one rounding each: compiled without fused multiply-adds, arithmetic has the same
/// bits. Of 2 pi x the sine is circle_of_pi(2 x).sine. Where there is a sine, value[0] is NaN if an
/// argument of any was too large for it (ops/sample/circle.cuh): every value is looked at together
/// with the first.
/// @param[out] text  freed with free(); NULL on failure
/// @retval KEDGE_ERR_UNSUPPORTED  one is the caller's function, or they are too long together
kedge_status kg_functions_emit(kedge_context *ctx, int n_functions,
                               const kg_function *const *functions, char **text);
