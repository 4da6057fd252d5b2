/// @file
/// Where the arrays of a solve lie (solver/arrays.h). Most have memory of their own. Without
/// reaction K^e are reduced, which leaves the end of the memory that packed ones would take free:
///
///     K^e, reduced   |##############|z|p|r|multigrid| |     trace solve
///
/// What lives in assembly and trace solve alone lies there, as far as there is room, each behind
/// those that live when it does: first what the trace solve holds, the most, largest before others.
#pragma once
#include "solver/arrays.h"

/// Bytes of all arrays that live in a stage, rounded as kg_alloc() does; shared ones count once.
int64_t kg_stage_bytes(kedge_stage stage, const kg_shape *shape);
int64_t kg_peak_bytes(const kg_shape *shape);
/// Whether an array lies in the memory of K^e.
bool kg_array_is_shared(kg_array array, const kg_shape *shape);

/// Make arrays that begin to live in a stage; release those that live no longer. `buffers` holds
/// KG_ARRAY_COUNT entries, all zero before the first stage.
kedge_status kg_arrays_enter(kedge_context *ctx, kedge_stage stage, const kg_shape *shape,
                             kg_buffer *buffers);
void kg_arrays_leave(kedge_context *ctx, kedge_stage stage, const kg_shape *shape,
                     kg_buffer *buffers);
void kg_arrays_free(kedge_context *ctx, kg_buffer *buffers);
