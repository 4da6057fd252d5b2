/// @file
/// Threads of the host loops on cores.
#pragma once
#include "core/error.h"

/// Decide the number of threads (0: one a core of the allowed set), bind them when asked, and fill
/// ctx->threads and ctx->device. Binding is left alone when OMP_PROC_BIND or OMP_PLACES is set: the user
/// has decided.
kedge_status kg_place_threads(kedge_context *ctx, int threads, bool bind);
