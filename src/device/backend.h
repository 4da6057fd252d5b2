/// @file
/// Where data lives: one table of functions a backend, all required. "Device memory" is GPU memory
/// (cuda), a separate NaN-filled pool in host memory (shadow), host memory (host); solver code
/// copies explicitly, so that it is the same on all three. Work is done in the order of the calls;
/// kg_sync() waits for it. What kg_copy_in() reads may change when it returns, and what
/// kg_copy_out() writes is there then.
#pragma once
#include "core/error.h"
KEDGE_BEGIN_DECLS

/// Work that is done again and again with the same arguments, until it says itself that it is done.
/// Zero-initialise, but for `stop`; kg_repeat_free().
typedef struct kg_repeat {
  const int32_t *stop;  ///< in device memory: not 0 when the work is done; it then does nothing
  int calls;
  bool watches;     ///< the device looks at `stop` after each time; else the host has to
  void *recording;  ///< of the backend
} kg_repeat;
/// The work: launches operators, waits for nothing.
typedef kedge_status kg_repeat_body(void *user);

typedef struct kg_backend_table {
  kedge_status (*enter)(kedge_context *ctx);
  kedge_status (*alloc)(kedge_context *ctx, size_t bytes, void **out);  ///< holds anything
  void (*free)(kedge_context *ctx, void *memory, size_t bytes);
  kedge_status (*copy_in)(kedge_context *ctx, void *device, const void *host, size_t bytes);
  kedge_status (*copy_out)(kedge_context *ctx, void *host, const void *device, size_t bytes);
  kedge_status (*copy)(kedge_context *ctx, void *to, const void *from, size_t bytes);
  kedge_status (*zero)(kedge_context *ctx, void *device, size_t bytes);
  kedge_status (*sync)(kedge_context *ctx);  ///< waits and reports asynchronous failures
  kedge_status (*join)(kedge_context *ctx, const void *device);
  int64_t (*free_bytes)(kedge_context *ctx);
  kedge_status (*repeat)(kedge_context *ctx, kg_repeat *repeat, int times, kg_repeat_body *body,
                         void *user);
  void (*repeat_free)(kg_repeat *repeat);
  void (*close)(kedge_context *ctx);
} kg_backend_table;

/// A piece of device memory. Zero-initialise; kg_free() sets it back to zero.
typedef struct kg_buffer {
  void *data;
  size_t bytes;
} kg_buffer;

/// Sizes are rounded up to this many bytes, so that predictions are exact.
#define KG_ALIGNMENT 256
static inline size_t kg_rounded(size_t bytes)
{
  return (bytes + KG_ALIGNMENT - 1) / KG_ALIGNMENT * KG_ALIGNMENT;
}

/// Make the context's device that of the calling thread, which CUDA keeps for each thread. Public
/// functions that compute begin with it, and everything below counts on it: a context may be used
/// from one thread after another, and beside contexts of other devices.
kedge_status kg_enter(kedge_context *ctx);

kedge_status kg_alloc(kedge_context *ctx, size_t count, size_t size, kg_buffer *out);
void kg_free(kedge_context *ctx, kg_buffer *buffer);
/// Allocate and copy in.
kedge_status kg_upload(kedge_context *ctx, const void *host, size_t count, size_t size,
                       kg_buffer *out);
kedge_status kg_copy_in(kedge_context *ctx, void *device, const void *host, size_t bytes);
kedge_status kg_copy_out(kedge_context *ctx, void *host, const void *device, size_t bytes);
kedge_status kg_copy(kedge_context *ctx, void *to, const void *from, size_t bytes);
kedge_status kg_zero(kedge_context *ctx, void *device, size_t bytes);
kedge_status kg_sync(kedge_context *ctx);
/// Before memory of a caller is used: what the device's default stream has been given so far is
/// done before what follows here.
/// @retval KEDGE_ERR_ARG  it is no memory of this device
kedge_status kg_join(kedge_context *ctx, const void *device);
int64_t kg_free_bytes(kedge_context *ctx);
/// Run body(user) `times` times, or until `repeat->stop` is set. A GPU records it in the second
/// call, as a CUDA graph, and from then on replays the recording without calling body: arguments
/// must not change between calls. This function never waits for the device.
kedge_status kg_repeat_run(kedge_context *ctx, kg_repeat *repeat, int times, kg_repeat_body *body,
                           void *user);
void kg_repeat_free(kedge_context *ctx, kg_repeat *repeat);

extern const kg_backend_table kg_host_table, kg_shadow_table;
kedge_status kg_host_open(kedge_context *ctx, const kedge_context_options *options);
#ifdef KEDGE_WITH_CUDA
extern const kg_backend_table kg_cuda_table;
kedge_status kg_cuda_open(kedge_context *ctx, const kedge_context_options *options);
#define KG_IF_CUDA(function) function
#else
#define KG_IF_CUDA(function) NULL
#endif

KEDGE_END_DECLS
