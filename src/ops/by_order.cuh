// by_order.cuh: host code that is compiled once for each order, chosen by the order of a call:
//
//   return kg_with_order(order, [&](auto p) { return launch<p()>(ctx, *a); });
#pragma once
#include <type_traits>
#include <utility>

#include "kedge/problem.h"

template <int P, class Function>
auto kg_at_order(const Function &function)
{
  return function(std::integral_constant<int, P>());
}

template <int FIRST, class Function, int... I>
auto kg_among_orders(int order, const Function &function, std::integer_sequence<int, I...>)
{
  static constexpr decltype(&kg_at_order<FIRST, Function>) at_order[] = {
      kg_at_order<FIRST + I, Function>...};
  return at_order[order - FIRST](function);
}

/// function(p) with p() = order, from FIRST to LAST.
template <int FIRST = KEDGE_ORDER_MIN, int LAST = KEDGE_ORDER_MAX, class Function>
auto kg_with_order(int order, const Function &function)
{
  return kg_among_orders<FIRST>(order, function,
                                std::make_integer_sequence<int, LAST - FIRST + 1>());
}
