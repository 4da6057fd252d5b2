/// @file
/// Device memory of a context that is at work: read by any thread, also by one in which another
/// context computes.
#pragma once
#include "device/backend.h"
KEDGE_BEGIN_DECLS

/// Copy to host memory what no work that is going on writes. Unlike kg_copy_out() it may be called
/// by other threads, and by functions that a solve calls: it has a stream of its own, and leaves
/// the device of the thread as it was.
kedge_status kg_fetch(kedge_context *ctx, void *host, const void *device, size_t bytes);

enum { KG_NO_DEVICE = -1 };

/// kg_enter() for a while. @return for kg_leave(): the device that the thread had, if another one
int kg_visit(kedge_context *ctx);
void kg_leave(kedge_context *ctx, int before);

#ifdef KEDGE_WITH_CUDA
int kg_cuda_visit(kedge_context *ctx);
void kg_cuda_leave(int before);
#endif

KEDGE_END_DECLS
