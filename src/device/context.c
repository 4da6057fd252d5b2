#include "device/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/memory.h"
#include "device/cuda_nvrtc.h"
#include "device/loop.h"
#include "device/placement.h"

static const char *const names[KEDGE_BACKEND_COUNT] = {
    [KEDGE_BACKEND_AUTO] = "auto",
    [KEDGE_BACKEND_HOST] = "host",
    [KEDGE_BACKEND_SHADOW] = "shadow",
    [KEDGE_BACKEND_CUDA] = "cuda",
};

const char *kedge_backend_name(kedge_backend backend)
{
  return (unsigned)backend < KEDGE_BACKEND_COUNT ? names[backend] : "unknown";
}

static kedge_status open_host(kedge_context *ctx, const kedge_context_options *options,
                              kedge_backend backend)
{
  ctx->backend = backend;
  ctx->table = backend == KEDGE_BACKEND_SHADOW ? &kg_shadow_table : &kg_host_table;
  return kg_host_open(ctx, options);
}

static kedge_status open_cuda(kedge_context *ctx, const kedge_context_options *options)
{
#ifdef KEDGE_WITH_CUDA
  ctx->backend = KEDGE_BACKEND_CUDA;
  ctx->table = &kg_cuda_table;
  KG_TRY(kg_cuda_open(ctx, options));
  // Host loops (set-up, boundary data) run beside the GPU; placing threads costs milliseconds, so
  // only once there is a GPU.
  const kedge_status status = kg_host_open(ctx, options);
  if (status != KEDGE_OK) ctx->table->close(ctx);
  return status;
#else
  (void)options;
  return KG_FAIL(
      ctx, KEDGE_ERR_UNSUPPORTED,
      "this kedge was built without CUDA; where nvcc is, `./dev build` makes one with CUDA "
      "(cmake --preset cuda-release)");
#endif
}

/// AUTO: the GPU if it opens; otherwise the host, with the reason kept. Who names a device wants a
/// GPU, and a wrong environment is an error.
static kedge_status open_any(kedge_context *ctx, const kedge_context_options *options)
{
  const kedge_status status = open_cuda(ctx, options);
  if (status == KEDGE_OK) {
    snprintf(ctx->reason, sizeof ctx->reason, "a usable GPU was found");
    return KEDGE_OK;
  }
  if (status == KEDGE_ERR_INPUT) return status;
  char why[sizeof ctx->reason];
  snprintf(why, sizeof why, "%.*s", (int)sizeof why - 1, ctx->error);
  if (options->device >= 0)
    return KG_FAIL(ctx, status, "CUDA device %d was asked for and cannot be used: %s",
                   options->device, why);
  ctx->error[0] = '\0';
  KG_TRY(open_host(ctx, options, KEDGE_BACKEND_HOST));
#ifdef KEDGE_WITH_CUDA
  snprintf(ctx->reason, sizeof ctx->reason, "%s", why);
#else  // what to do about that is told to who asks for a GPU
  snprintf(ctx->reason, sizeof ctx->reason, "built without CUDA");
#endif
  return KEDGE_OK;
}

int kedge_threads_max(void)
{
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  return cpus > 1 ? 4 * (int)cpus : 4;
}

kedge_status kedge_context_create(const kedge_context_options *options, kedge_context **out)
{
  static const kedge_context_options defaults = KEDGE_CONTEXT_OPTIONS_INIT;
  KG_REQUIRE(NULL, out != NULL, KEDGE_ERR_ARG, "kedge_context_create: out is NULL");
  *out = NULL;
  if (options == NULL) options = &defaults;
  KG_REQUIRE(NULL, (unsigned)options->backend < KEDGE_BACKEND_COUNT && options->threads >= 0,
             KEDGE_ERR_ARG, "kedge_context_create: unknown backend or negative thread count");
  KG_REQUIRE(NULL, options->threads <= kedge_threads_max(), KEDGE_ERR_ARG,
             "%d threads are more than the %d that kedge starts on this machine: 4 for each "
             "logical CPU",
             options->threads, kedge_threads_max());
  const bool on_host =
      options->backend == KEDGE_BACKEND_HOST || options->backend == KEDGE_BACKEND_SHADOW;
  KG_REQUIRE(NULL, !on_host || options->device < 0, KEDGE_ERR_ARG,
             "CUDA device %d was asked for, and the backend %s: leave one of them out",
             options->device, kedge_backend_name(options->backend));
  kedge_context *ctx;
  KG_TRY(kg_host_calloc(NULL, 1, sizeof *ctx, &ctx));

  kedge_status status;
  ctx->work_of_a_team = KG_WORK_OF_A_TEAM;
  snprintf(ctx->reason, sizeof ctx->reason, "asked for");
  if (options->backend == KEDGE_BACKEND_AUTO)
    status = open_any(ctx, options);
  else if (options->backend == KEDGE_BACKEND_CUDA)
    status = open_cuda(ctx, options);
  else
    status = open_host(ctx, options, options->backend);
  if (status != KEDGE_OK) {
    status = KG_FAIL(NULL, status, "%s", ctx->error);
    free(ctx);
    return status;
  }
  *out = ctx;
  return KEDGE_OK;
}

void kedge_context_destroy(kedge_context *ctx)
{
  static void (*const free_images)(struct kg_images *) = KG_IF_CUDA(kg_images_free);
  if (ctx == NULL) return;
  if (ctx->images) free_images(ctx->images);
  ctx->table->close(ctx);
  kg_release_threads(ctx);
  free(ctx->scratch);
  for (int order = 0; order <= KEDGE_ORDER_MAX; ++order) free(ctx->reference[order]);
  free(ctx);
}

kedge_backend kedge_context_backend(const kedge_context *ctx)
{
  return ctx->backend;
}

const char *kedge_context_device(const kedge_context *ctx)
{
  return ctx->device;
}

const char *kedge_context_reason(const kedge_context *ctx)
{
  return ctx->reason;
}

void kedge_context_set_progress(kedge_context *ctx, kedge_progress_function *function, void *user)
{
  ctx->progress = function;
  ctx->progress_user = user;
}

void kedge_context_set_progress_interval(kedge_context *ctx, double seconds)
{
  ctx->progress_interval = seconds;
}

/// Whether the progress function is to be told of this moment.
static bool is_told(kedge_context *ctx)
{
  if (!ctx->progress || !(ctx->progress_interval > 0.0)) return ctx->progress;
  const double now = kg_seconds();
  if (now - ctx->progress_told < ctx->progress_interval) return false;
  ctx->progress_told = now;
  return true;
}

kedge_status kg_progress(kedge_context *ctx, const kedge_progress *progress)
{
  KG_REQUIRE(ctx, !is_told(ctx) || ctx->progress(ctx->progress_user, progress), KEDGE_ERR_CANCELLED,
             "cancelled by the progress function in the stage %s", progress->stage);
  return KEDGE_OK;
}
