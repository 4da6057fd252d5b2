#include "ops/trace/trace_sides.h"

#include "device/backend.h"
#include "device/context.h"

KG_OPERATOR(kg_trace_sides, kg_trace_sides_args)

/// An element: codes and vertices read, sides written. A halo entry: its edge.
kg_cost kg_trace_sides_cost(const kg_trace_counts *count)
{
  return (kg_cost){.bytes = 28.0 * count->n_elements + 4.0 * count->n_halo};
}
