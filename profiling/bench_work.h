/// @file
/// What is timed, and shown to a profiler.
#pragma once
#include "kedge/base.h"
KEDGE_BEGIN_DECLS

typedef struct bench_work {
  kedge_status (*call)(void *user);
  kedge_status (*reset)(void *user);  ///< before every sample, not timed; may be NULL
  void *user;
} bench_work;

/// One call between cudaProfilerStart() and cudaProfilerStop(), its kernels preceded by
/// `profile_marker_kernel`.
kedge_status bench_profile_cuda(kedge_context *ctx, bench_work work);

KEDGE_END_DECLS
