// recordings.cpp: CUDA graphs as lists of what is to be done, one of which may be a loop.
#include <cstdio>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

#include "emulator.h"

/// CUDA's own names for what its handles point to.
struct CUgraph_st {
  std::vector<std::function<void()>> work;
  std::vector<std::unique_ptr<CUgraph_st>> loops;  ///< bodies of loops, which belong to the graph
};
struct CUgraphExec_st {
  std::shared_ptr<CUgraph_st> graph;
};

namespace
{
struct condition {
  unsigned at_first, now;
};
std::vector<condition> conditions;  ///< by handle
thread_local CUgraph_st *recording;
std::vector<std::shared_ptr<CUgraph_st>> graphs;  ///< that have not been destroyed

CUgraph_st *new_graph()
{
  graphs.push_back(std::make_shared<CUgraph_st>());
  return graphs.back().get();
}

std::shared_ptr<CUgraph_st> shared_of(CUgraph_st *graph)
{
  for (const auto &g : graphs)
    if (g.get() == graph) return g;
  return nullptr;
}

void run(const CUgraph_st &graph)
{
  for (const auto &work : graph.work) work();
}
}  // namespace

void emulated::enqueue(std::function<void()> work)
{
  if (recording != nullptr)
    recording->work.push_back(std::move(work));
  else
    work();
}

bool emulated::is_recording()
{
  return recording != nullptr;
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value)
{
  conditions.at(handle).now = value;
}

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned)
{
  *graph = new_graph();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
  std::erase_if(graphs, [&](const auto &g) { return g.get() == graph; });
  return cudaSuccess;
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t,
                                             unsigned at_first, unsigned)
{
  *handle = conditions.size();
  conditions.push_back({at_first, at_first});
  return cudaSuccess;
}

static cudaError_t add_loop(cudaGraph_t graph, cudaGraphNodeParams *node)
{
  static cudaGraph_t body;  // until the next loop
  graph->loops.push_back(std::make_unique<CUgraph_st>());
  body = graph->loops.back().get();
  node->conditional.phGraph_out = &body;
  graph->work.push_back([again = node->conditional.handle, inside = body] {
    for (conditions[again].now = conditions[again].at_first; conditions[again].now != 0;) run(*inside);
  });
  return cudaSuccess;
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddNode(cudaGraphNode_t *, cudaGraph_t graph, const cudaGraphNode_t *,
                             const cudaGraphEdgeData *, size_t, cudaGraphNodeParams *node)
#else
cudaError_t cudaGraphAddNode(cudaGraphNode_t *, cudaGraph_t graph, const cudaGraphNode_t *, size_t,
                             cudaGraphNodeParams *node)
#endif
{
  return node->type == cudaGraphNodeTypeConditional ? add_loop(graph, node) : cudaErrorNotSupported;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode)
{
  recording = new_graph();
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t, cudaGraph_t graph, const cudaGraphNode_t *,
                                          const cudaGraphEdgeData *, size_t, cudaStreamCaptureMode)
{
  recording = graph;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
  *graph = recording;
  recording = nullptr;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long)
{
  *executable = new CUgraphExec_st{shared_of(graph)};
  return (*executable)->graph != nullptr ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
  delete executable;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t)
{
  run(*executable->graph);
  return cudaSuccess;
}

}  // extern "C"
