// by_order.cuh: host code that is compiled once for each order, or for each number of modes of a
// facet, and chosen by those of a call:
//
//   return kg_with_order(order, [&](auto p) { return launch<p()>(ctx, *a); });
//   return kg_with_modes(ctx, m, [&](auto m) { return launch<m()>(ctx, *a); });
#pragma once
#include <type_traits>

#include "core/error.h"
#include "kedge/problem.h"

/// function(p) with p() = order, from FIRST to LAST.
template <int FIRST = KEDGE_ORDER_MIN, int LAST = KEDGE_ORDER_MAX, class Function>
auto kg_with_order(int order, const Function &function)
{
  if constexpr (FIRST < LAST)
    if (order != FIRST) return kg_with_order<FIRST + 1, LAST>(order, function);
  return function(std::integral_constant<int, FIRST>());
}

enum { KG_MODES_MIN = KEDGE_ORDER_MIN + 1 };

/// The status of function(m) with m() = modes, from FIRST to LAST; others are refused.
template <int FIRST = KG_MODES_MIN, int LAST = KEDGE_ORDER_MAX + 1, class Function>
kedge_status kg_with_modes(kedge_context *ctx, int modes, const Function &function)
{
  if constexpr (FIRST <= LAST) {
    if (modes == FIRST) return function(std::integral_constant<int, FIRST>());
    return kg_with_modes<FIRST + 1, LAST>(ctx, modes, function);
  } else {
    return KG_FAIL(ctx, KEDGE_ERR_UNSUPPORTED,
                   "no kernel is built for %d modes on a facet: take a lower order", modes);
  }
}
