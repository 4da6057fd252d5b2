/// @file
/// Threads of the host loops on cores.
///
/// OpenMP's worker threads are bound, each to a core of its own; the calling thread never is, since
/// it belongs to the application. One context of the process at a time holds the cores: while it
/// lives, others leave their threads to the operating system, so that two of them never pile up on
/// the same cores.
#pragma once
#include "core/error.h"

/// Decide the number of threads (0: OMP_NUM_THREADS, or one a core of the allowed set), bind them
/// when asked, and fill ctx->threads and ctx->device. Binding is left alone when OMP_PROC_BIND,
/// OMP_PLACES or GOMP_CPU_AFFINITY is set: the user has decided.
/// @param[in] gpu  CUDA device whose neighbouring cores are preferred; -1: none
kedge_status kg_place_threads(kedge_context *ctx, int threads, bool bind, int gpu);

/// Give the cores back and lift the binding of the worker threads; does nothing for a context that
/// bound none.
void kg_release_threads(kedge_context *ctx);
