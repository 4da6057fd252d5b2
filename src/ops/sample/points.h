/// @file
/// The points of the sampling rule that a source is used at: those of the quadrature, without the
/// corners behind them.
#pragma once
#include "ops/ops.h"

static inline int kg_rule_points(int order)
{
  return kg_point_rows(order) * kg_point_rows(order);
}

/// The order that the rule is for.
static inline int kg_points_order(kg_points points)
{
  return points.rows - kg_point_rows(0);
}

static inline kg_points kg_points_of_rule(kg_points points)
{
  points.n = points.rows * points.rows;
  return points;
}
