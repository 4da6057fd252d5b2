// A loop in a CUDA graph, without anything of kedge: work of which a while node counts the times is
// done so often, as it is by graphs that the host launches one after another. compute-sanitizer
// breaks the first and not the second (docs/testing.md).
//
//   test_graph_loop [loop | plain]   by default both
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{
constexpr unsigned TIMES = 40, ROUNDS = 20;

/// What the loop counts, in device memory.
struct counts {
  unsigned done, left;
};

void must(cudaError_t error, const char *what)
{
  if (error == cudaSuccess) return;
  printf("%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

__global__ void work_kernel(counts *c)
{
  ++c->done;
}

__global__ void begin_kernel(counts *c)
{
  c->left = TIMES;
}

__global__ void look_kernel(counts *c, cudaGraphConditionalHandle again)
{
  cudaGraphSetConditional(again, --c->left > 0);
}

cudaGraphExec_t make_graph(cudaStream_t stream, counts *c, bool loop)
{
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  must(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
  cudaGraph_t into = graph;
  cudaGraphConditionalHandle again = 0;
  if (loop) {
    must(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault), "handle");
    cudaGraphNodeParams node = {};
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = again;
    node.conditional.type = cudaGraphCondTypeWhile;
    node.conditional.size = 1;
    cudaGraphNode_t added;
#if CUDART_VERSION >= 13000
    must(cudaGraphAddNode(&added, graph, nullptr, nullptr, 0, &node), "cudaGraphAddNode");
#else
    must(cudaGraphAddNode(&added, graph, nullptr, 0, &node), "cudaGraphAddNode");
#endif
    into = node.conditional.phGraph_out[0];
  }
  must(cudaStreamBeginCaptureToGraph(stream, into, nullptr, nullptr, 0,
                                     cudaStreamCaptureModeThreadLocal),
       "cudaStreamBeginCaptureToGraph");
  work_kernel<<<1, 1, 0, stream>>>(c);
  if (loop) look_kernel<<<1, 1, 0, stream>>>(c, again);
  must(cudaStreamEndCapture(stream, &into), "cudaStreamEndCapture");
  must(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  must(cudaGraphDestroy(graph), "cudaGraphDestroy");
  return executable;
}

bool does_it_so_often(bool loop)
{
  cudaStream_t stream;
  counts *c, found;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  must(cudaMalloc(&c, sizeof *c), "cudaMalloc");
  must(cudaMemset(c, 0, sizeof *c), "cudaMemset");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  work_kernel<<<1, 1, 0, stream>>>(c);  // loaded before it is recorded
  must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const cudaGraphExec_t graph = make_graph(stream, c, loop);
  for (unsigned round = 0; round < ROUNDS; ++round) {
    begin_kernel<<<1, 1, 0, stream>>>(c);
    for (unsigned i = 0; i < (loop ? 1 : TIMES); ++i)
      must(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  must(cudaMemcpy(&found, c, sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
  printf("%s: %u of %u times\n", loop ? "loop" : "plain", found.done, 1 + ROUNDS * TIMES);
  cudaGraphExecDestroy(graph);
  cudaFree(c);
  cudaStreamDestroy(stream);
  return found.done == 1 + ROUNDS * TIMES;
}
}  // namespace

int main(int argc, char **argv)
{
  int driver = 0, devices = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver < 12040 ||
      cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    const char *required = getenv("KEDGE_REQUIRE_GPU");
    printf("no GPU, or no driver of CUDA 12.4 or later\n");
    return required && *required ? 1 : 77;
  }
  const char *form = argc > 1 ? argv[1] : "";
  bool good = true;
  if (strcmp(form, "loop") != 0) good = does_it_so_often(false);
  if (strcmp(form, "plain") != 0) good = does_it_so_often(true) && good;
  return good ? 0 : 1;
}
