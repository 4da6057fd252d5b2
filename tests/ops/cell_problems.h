/// @file
/// Solutions, coefficients and meshes of the problems whose errors are known.
#pragma once
#include "cell_case.h"

/// Solutions: u, u_x, u_y, u_xx, u_xy, u_yy.
cell_function waves, waves_and_saddle, oblique, growing, linear;
/// Coefficients: kappa_xx, _xy, _yy, c, and d_x xx, d_x xy, d_y xy, d_y yy.
cell_function ones, skew, laplace, scalar, tensor, tensor_alone, turned;
/// Vertices in the unit square.
cell_place regular, trapezoids;
/// Maps of nodes.
cell_function wave, ring;
