/// @file
/// The points of a sampling rule that a source is used at: those of the quadrature, without the
/// corners behind them.
#pragma once
#include "ops/ops.h"

static inline int kg_rule_points(int order)
{
  return kg_point_rows(order) * kg_point_rows(order);
}

static inline kg_points kg_points_of_rule(kg_points points)
{
  points.n = points.rows * points.rows;
  return points;
}
