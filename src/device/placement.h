/// @file
/// Threads of the host loops on cores.
///
/// Where there is a thread for each core that the process is allowed (near the GPU, if there is
/// one), OpenMP's worker threads are bound, each to a core of its own; the calling thread never is,
/// since it belongs to the application. Fewer or more threads are left to the operating system, and
/// so are those of a second context while a first one of the process lives: two processes or
/// contexts then do not pile up on the same cores.
#pragma once
#include "core/error.h"

/// Decide the number of threads (0: OMP_NUM_THREADS, but at most kedge_threads_max(), or one a core
/// of the allowed set), bind them when asked, and fill ctx->threads and, without a GPU,
/// ctx->device. Nothing can fail once they are bound. Binding is left alone when OMP_PROC_BIND,
/// OMP_PLACES or GOMP_CPU_AFFINITY is set: the user has decided.
/// @param[in] gpu  CUDA device whose neighbouring cores are preferred; -1: none
kedge_status kg_place_threads(kedge_context *ctx, int threads, bool bind, int gpu);

/// Give the cores back and lift the binding of the worker threads; does nothing for a context that
/// bound none.
void kg_release_threads(kedge_context *ctx);
