// cuda_repeat.cu: work that repeats, as a CUDA graph. Where the driver has conditional nodes the
// graph is a loop: its last kernel looks at `stop`, and the host waits for nothing. Elsewhere it is
// one time of the work, and the host launches it again and again; that asks for nothing newer than
// the capture of a stream.
#include "device/cuda_launch.cuh"

namespace
{

__global__ void repeat_times_kernel(unsigned *left, unsigned times)
{
  *left = times;
}

__global__ void repeat_check_kernel(cudaGraphConditionalHandle again, unsigned *left,
                                    const int32_t *stop)
{
  cudaGraphSetConditional(again, --*left > 0 && *stop == 0);
}

/// Launch the work into a capture that has begun.
kedge_status end_capture(kedge_context *ctx, kg_repeat_body *body, void *user, cudaGraph_t *graph)
{
  kedge_status status = body(user);
  const cudaError_t error = cudaStreamEndCapture(kg_cuda_stream(ctx), graph);
  if (status == KEDGE_OK) return kg_cuda_check(ctx, error, "recording an iteration");
  cudaGetLastError();  // the end of a recording that failed is no news
  return status;
}

/// An empty loop in a graph. Its own kernel is loaded here: that cannot be recorded.
kedge_status add_loop(kedge_context *ctx, cudaGraph_t graph, cudaGraphConditionalHandle *again,
                      cudaGraph_t *body)
{
  cudaFuncAttributes loaded;
  KG_TRY(kg_cuda_check(ctx, cudaFuncGetAttributes(&loaded, repeat_check_kernel),
                       "loading the kernel of a loop"));
  KG_TRY(kg_cuda_check(
      ctx, cudaGraphConditionalHandleCreate(again, graph, 1, cudaGraphCondAssignDefault),
      "recording a loop"));
  cudaGraphNodeParams node = {};
  node.type = cudaGraphNodeTypeConditional;
  node.conditional.handle = *again;
  node.conditional.type = cudaGraphCondTypeWhile;
  node.conditional.size = 1;
  cudaGraphNode_t loop;
#if CUDART_VERSION >= 13000
  const cudaError_t error = cudaGraphAddNode(&loop, graph, nullptr, nullptr, 0, &node);
#else
  const cudaError_t error = cudaGraphAddNode(&loop, graph, nullptr, 0, &node);
#endif
  KG_TRY(kg_cuda_check(ctx, error, "recording a loop"));
  *body = node.conditional.phGraph_out[0];
  return KEDGE_OK;
}

/// The work and the look at `stop` after it.
struct watched_body {
  kedge_context *ctx;
  kg_repeat_body *body;
  void *user;
  cudaGraphConditionalHandle again;
  const int32_t *stop;
};

kedge_status run_watched(void *user)
{
  const watched_body *w = (const watched_body *)user;
  KG_TRY(w->body(w->user));
  return kg_launch(w->ctx, "repeat_check", 1, 1, 0, repeat_check_kernel, w->again,
                   kg_cuda(w->ctx)->counters + KG_COUNTER_REPEAT, w->stop);
}

/// The work in a loop; the graph is the caller's, also on failure.
kedge_status record_loop(kedge_context *ctx, const kg_repeat *repeat, kg_repeat_body *body,
                         void *user, cudaGraph_t *graph)
{
  KG_TRY(kg_cuda_check(ctx, cudaGraphCreate(graph, 0), "recording a loop"));
  watched_body watched = {ctx, body, user, 0, repeat->stop};
  cudaGraph_t inside;
  KG_TRY(add_loop(ctx, *graph, &watched.again, &inside));
  KG_TRY(kg_cuda_check(ctx,
                       cudaStreamBeginCaptureToGraph(kg_cuda_stream(ctx), inside, nullptr, nullptr,
                                                     0, cudaStreamCaptureModeThreadLocal),
                       "recording a loop"));
  return end_capture(ctx, run_watched, &watched, &inside);
}

/// The work once; the graph is the caller's, also on failure.
kedge_status record_once(kedge_context *ctx, kg_repeat_body *body, void *user, cudaGraph_t *graph)
{
  KG_TRY(kg_cuda_check(
      ctx, cudaStreamBeginCapture(kg_cuda_stream(ctx), cudaStreamCaptureModeThreadLocal),
      "recording an iteration"));
  return end_capture(ctx, body, user, graph);
}

kedge_status record(kedge_context *ctx, kg_repeat *repeat, kg_repeat_body *body, void *user)
{
  repeat->watches = kg_cuda(ctx)->loops;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  kedge_status status = repeat->watches ? record_loop(ctx, repeat, body, user, &graph)
                                        : record_once(ctx, body, user, &graph);
  if (status == KEDGE_OK)
    status =
        kg_cuda_check(ctx, cudaGraphInstantiate(&executable, graph, 0), "recording an iteration");
  if (graph) cudaGraphDestroy(graph);
  repeat->recording = executable;
  return status;
}

}  // namespace

/// The first call runs plainly: kernels are loaded on their first launch, which cannot be recorded.
/// Debug builds never record: they wait for every kernel.
extern "C" kedge_status kg_cuda_repeat(kedge_context *ctx, kg_repeat *repeat, int times,
                                       kg_repeat_body *body, void *user)
{
#ifndef NDEBUG
  const bool plain = true;
#else
  const bool plain = repeat->calls == 0;
#endif
  ++repeat->calls;
  if (plain) {
    for (int i = 0; i < times; ++i) KG_TRY(body(user));
    return KEDGE_OK;
  }
  const cudaStream_t stream = kg_cuda_stream(ctx);
  if (repeat->recording == nullptr) KG_TRY(record(ctx, repeat, body, user));
  if (repeat->watches)
    KG_TRY(kg_launch(ctx, "repeat_times", 1, 1, 0, repeat_times_kernel,
                     kg_cuda(ctx)->counters + KG_COUNTER_REPEAT, (unsigned)times));
  for (int i = 0; i < (repeat->watches ? 1 : times); ++i)
    KG_TRY(kg_cuda_check(ctx, cudaGraphLaunch((cudaGraphExec_t)repeat->recording, stream),
                         "launching a recorded iteration"));
  return KEDGE_OK;
}

extern "C" void kg_cuda_repeat_free(kg_repeat *repeat)
{
  if (repeat->recording) cudaGraphExecDestroy((cudaGraphExec_t)repeat->recording);
}

/// Any kernel says it: all are compiled alike.
extern "C" kedge_status kg_cuda_code_version(kedge_context *ctx, int *major)
{
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, repeat_times_kernel);
  cudaGetLastError();  // the next launch must not report this one
  KG_REQUIRE(ctx, error == cudaSuccess, KEDGE_ERR_UNSUPPORTED,
             "no code of this build runs on the GPU: %s; it is for CUDA architectures %s, which "
             "CMAKE_CUDA_ARCHITECTURES sets",
             cudaGetErrorString(error), KEDGE_CUDA_ARCHITECTURES);
  *major = attributes.ptxVersion / 10;
  KG_REQUIRE(ctx, *major >= 8, KEDGE_ERR_UNSUPPORTED,
             "this build has code for CUDA architectures %s, and kernels are for 80 and later; set "
             "CMAKE_CUDA_ARCHITECTURES",
             KEDGE_CUDA_ARCHITECTURES);
  return KEDGE_OK;
}
