/// @file
/// Values of functions at points of cells, in device memory: what the two ways to make them on a
/// GPU (evaluate.h, cell_kernel.h) are given.
#pragma once
#include "basis/cell_tables.h"
#include "space/side_code.h"

typedef struct kg_cell_values_args {
  int dimension;  ///< 2 or 3
  // A range of whole groups of elements, as in kg_cells (ops/local/quadrature/elements.h); straight
  // ones in space, as in kg_tetrahedra.
  int32_t n_elements;
  const double *vertices;
  const int32_t *vertex;
  const double *nodes;
  kg_cell_points points;  ///< of which the map is read
  int n_used;             ///< points at which all functions are used; behind them only the first is
  bool elliptic;  ///< functions are of the plane, diffusion xx, xy, yy and, if there are four,
                  ///< reaction
  double scale;   ///< factor of the values, a power of two
  const int32_t *region;  ///< [element of the range]; read where a function reads it
  double t;               ///< the time of a compiled kernel; code has its own
  double *values;         ///< out: [group of the range][function][point][lane]
} kg_cell_values_args;

static inline int32_t kg_cell_values_groups(const kg_cell_values_args *args)
{
  return (args->n_elements + KG_LANES - 1) / KG_LANES;
}

// Both ways report the smallest index of `values` that is used and not finite, or -1. Where the
// functions are coefficients, diffusion that is not positive definite and a negative reaction are
// as bad: the index is that of the first function at the point.
