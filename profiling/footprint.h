/// @file
/// Device memory of a whole solve with any form of the trace operator, from the plan of its arrays
/// (device/plan.h).
#pragma once
#include "equation/shape.h"

typedef enum footprint_form {
  FOOTPRINT_MATRIX_FREE,  ///< packed K^e
  FOOTPRINT_PLAIN,        ///< full K^e
  FOOTPRINT_ELL,
  FOOTPRINT_ASSEMBLED  ///< another matrix in place of ELL, assembled from K^e with as much work
                       ///< memory
} footprint_form;

typedef struct footprint {
  double peak_bytes;        ///< of this mesh
  double largest_elements;  ///< that fit with as many bytes an element as this mesh needs
} footprint;

/// @param[in] reduces       a solve has REDUCED K^e
/// @param[in] matrix_bytes  what the form keeps; not used by those that solves have themselves
footprint footprint_of(const kg_shape *shape, bool reduces, footprint_form form,
                       double matrix_bytes, double free_bytes);
