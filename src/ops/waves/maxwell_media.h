/// @file
/// Media of Maxwell's equations, in the plane and in space, and the words of both. It stands in
/// front of the header of either (kg_law.text).
#pragma once
#include <math.h>

#include "ops/waves/stage.h"

enum { KG_LAW_NUMBERS = 5 };
enum { Z, Y, OVER_PERMITTIVITY, OVER_PERMEABILITY, DAMPING };

#define KG_LAW_OF_MAXWELL                                                                          \
  .n_properties = 3, .properties = {"permittivity", "permeability", "conductivity"},               \
  .may_be_zero = {false, false, true}, .boundaries = {"conductor", NULL, "absorbing", "incident"}, \
  .source = "current", .source_sign = -1.0

static inline void law_medium(const double *property, double *number)
{
  number[Z] = sqrt(property[1] / property[0]);
  number[Y] = sqrt(property[0] / property[1]);
  number[OVER_PERMITTIVITY] = 1.0 / property[0];
  number[OVER_PERMEABILITY] = 1.0 / property[1];
  number[DAMPING] = property[2] / property[0];
}

static inline double law_speed(const double *number)
{
  return sqrt(number[OVER_PERMITTIVITY] * number[OVER_PERMEABILITY]);
}

static inline double law_damping(const double *number)
{
  return number[DAMPING];
}
