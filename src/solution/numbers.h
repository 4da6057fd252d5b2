/// @file
/// What the groups of a mesh say of a solution: integrals, fluxes, extrema (kedge_group_values,
/// kedge_region_values).
#pragma once
#include "ops/numbers/region_sums.h"
#include "solution/solution.h"

/// A problem in which all is insulated but two groups with different constant values, and there is
/// neither source nor reaction.
typedef struct kg_conductor {
  bool there;
  int group;          ///< of the mesh: one of the two
  double difference;  ///< of its value and that of the other one
} kg_conductor;

/// The sums of a solve, in host memory.
typedef struct kg_group_sums {
  const kg_grouped *grouped;
  const kg_region_sums *records;  ///< [record], times the scale of the solution
  const double *facets;           ///< [facet][1 + m]: kg_facet_flux(), the flux times the scale
  kg_conductor conductor;
} kg_group_sums;

/// Fill in the numbers of a solution, and have its report point to them. Memory that it has is used
/// again.
kedge_status kg_numbers_make(kedge_solution *solution, const kg_group_sums *sums);
/// Take apart, in the numbers of a stage of a step in time, what is of u_t: reactions have
/// factor (mass, u) in them, sources factor (mass, base).
/// @param[in] of_u, of_base  [element] integrals of mass times these over elements, times `factor`
void kg_numbers_move(kedge_solution *solution, const double *of_u, const double *of_base);

void kg_numbers_free(kg_numbers *numbers);
