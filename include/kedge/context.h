/// @file
/// A context: where the computation runs, its last error, its progress.
///
/// Threads wait for each other as OMP_WAIT_POLICY or GOMP_SPINCOUNT say when the process starts, by
/// libgomp's default turning on their cores for milliseconds. On cores that other programs share,
/// start yours with GOMP_SPINCOUNT=1000, as the command does for itself. Stacks of 256 KB are
/// enough, for these threads (OMP_STACKSIZE) and for the caller's.
///
/// One context serves one host thread at a time. Objects are destroyed before the context they were
/// made with. What a call makes through `out` is the caller's, NULL after failure. No call prints.
#pragma once
#include "kedge/base.h"
KEDGE_BEGIN_DECLS

typedef struct kedge_context kedge_context;

typedef enum kedge_backend {
  KEDGE_BACKEND_AUTO,    ///< the GPU when one is usable, else the host
  KEDGE_BACKEND_HOST,    ///< OpenMP threads and SIMD lanes
  KEDGE_BACKEND_SHADOW,  ///< host code on separate NaN-filled memory: finds forgotten copies in
                         ///< tests
  KEDGE_BACKEND_CUDA,    ///< an NVIDIA GPU
  KEDGE_BACKEND_COUNT
} kedge_backend;

/// A moment of a solve, handed to the progress function.
typedef struct kedge_progress {
  const char *stage;  ///< stage name as in the report ("trace_solve", ...)
  bool finished;      ///< the stage has ended and `seconds` is its time
  double seconds;     ///< since the stage began
  int64_t iteration;  ///< trace_solve only: iterations so far; 0 elsewhere and inside a residual
  double relative_residual;  ///< trace_solve only: ||r|| / ||r_0|| of the recurrence
  double tolerance;          ///< trace_solve only: where it will stop
} kedge_progress;

/// Called on the thread that called the library: as a stage begins and ends, after each chunk of a
/// stage that works by chunks, and in the trace solve after every few iterations.
/// @return whether to go on; false ends the solve, or the output before its file is begun, with
///         KEDGE_ERR_CANCELLED
typedef bool kedge_progress_function(void *user, const kedge_progress *progress);

/// How to create a context. Fill with KEDGE_CONTEXT_OPTIONS_INIT, then change what matters.
typedef struct kedge_context_options {
  kedge_backend backend;  ///< AUTO by default
  int device;         ///< CUDA device number, which rules out the host; -1: the first visible one
  int threads;        ///< host threads; 0 takes one a core of the allowed CPU set
  bool bind_threads;  ///< bind host threads to cores (hwloc) where there is one for each allowed
} kedge_context_options;
#define KEDGE_CONTEXT_OPTIONS_INIT  \
  {                                 \
    KEDGE_BACKEND_AUTO, -1, 0, true \
  }

/// The most host threads that a context takes: 4 for each logical CPU that is online.
KEDGE_API int kedge_threads_max(void);

/// Create a context.
/// @param[in]  options  NULL takes KEDGE_CONTEXT_OPTIONS_INIT
/// @retval KEDGE_ERR_UNSUPPORTED  the backend is not built in, or no usable GPU was found; the
///         sentence is in kedge_context_error(NULL)
/// @retval KEDGE_ERR_MEMORY  also where this process cannot have so many threads
KEDGE_API kedge_status kedge_context_create(const kedge_context_options *options,
                                            kedge_context **out);
KEDGE_API void kedge_context_destroy(kedge_context *ctx);  ///< NULL is allowed

/// The sentence of the last failure: what, where, what to do. Valid until the next call with this
/// context. NULL asks for the last failure of this thread that had no context.
KEDGE_API const char *kedge_context_error(const kedge_context *ctx);

KEDGE_API kedge_backend kedge_context_backend(const kedge_context *ctx);  ///< never AUTO
KEDGE_API const char *kedge_backend_name(
    kedge_backend backend);  ///< "host", "shadow", "cuda", "auto"
/// The device as words: "NVIDIA H200", or the CPU and its threads. Valid as long as the context.
KEDGE_API const char *kedge_context_device(const kedge_context *ctx);
/// Why AUTO chose this backend, one phrase.
KEDGE_API const char *kedge_context_reason(const kedge_context *ctx);

/// Remove the temporary files of every output that is being written, by any context; those writes
/// then fail or are lost. May be called from a signal handler, before the process ends.
KEDGE_API void kedge_partial_files_remove(void);

/// Install a progress function; NULL removes it. `user` is handed through and borrowed.
KEDGE_API void kedge_context_set_progress(kedge_context *ctx, kedge_progress_function *function,
                                          void *user);

/// Leave out moments that come less than `seconds` after the last one that the progress function
/// was told of: a function of a slow language takes longer than stages of small solves. 0, as at
/// first, leaves out none.
KEDGE_API void kedge_context_set_progress_interval(kedge_context *ctx, double seconds);

KEDGE_END_DECLS
