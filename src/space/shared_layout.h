/// @file
/// A cut of a mesh that a solver and its solutions share: the last of them frees it.
#pragma once
#include <stdatomic.h>

#include "space/trace_layout.h"

typedef struct kg_shared_layout {
  atomic_int users;
  kg_trace_layout layout;
} kg_shared_layout;

/// Take over a layout, also after a failure.
/// @param[out] out  kg_layout_leave()
kedge_status kg_layout_share(kedge_context *ctx, kg_trace_layout *layout, kg_shared_layout **out);
/// Add a user. @return shared
kg_shared_layout *kg_layout_use(kg_shared_layout *shared);
/// Be no user any more, and forget it.
void kg_layout_leave(kg_shared_layout **shared);
