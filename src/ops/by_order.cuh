// by_order.cuh: host code that is compiled once for each order, chosen by the order of a call:
//
//   return kg_with_order(order, [&](auto p) { return launch<p()>(ctx, *a); });
#pragma once
#include <type_traits>

#include "kedge/problem.h"

/// function(p) with p() = order, from FIRST to LAST.
template <int FIRST = KEDGE_ORDER_MIN, int LAST = KEDGE_ORDER_MAX, class Function>
auto kg_with_order(int order, const Function &function)
{
  if constexpr (FIRST < LAST)
    if (order != FIRST) return kg_with_order<FIRST + 1, LAST>(order, function);
  return function(std::integral_constant<int, FIRST>());
}
