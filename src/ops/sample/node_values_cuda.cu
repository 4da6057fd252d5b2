// node_values_cuda.cu: values of a field at nodes, in the caller's order (node_values.h).
// Map     thread = node of an element: neighbours write neighbours, and read the same modes
// Cost    of an element 8 (modes + nodes) + 4 bytes, 8 on meshes of both shapes
#include "device/cuda_each.cuh"
#include "ops/sample/node_values.h"

namespace
{
enum { THREADS = 256 };

__global__ void __launch_bounds__(THREADS)
    node_values_kernel(const __grid_constant__ kg_node_values_args a)
{
  const int64_t i = kg_thread_number(), e = i / a.n_nodes;
  if (e < a.n_elements) kg_node_value(&a, e, (int)(i - e * a.n_nodes));
}
}  // namespace

extern "C" kedge_status kg_node_values_cuda(kedge_context *ctx, const kg_node_values_args *a)
{
  return kg_launch_each<THREADS>(ctx, "values at nodes", a->n_elements * a->n_nodes,
                                 node_values_kernel, *a);
}
