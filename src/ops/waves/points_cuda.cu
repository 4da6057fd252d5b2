// points_cuda.cu: fields of a state of waves at points (points.h).
// Map     thread = a field at a point, a point of an element
// Cost    the nodes of the elements that hold points, which threads of an element share by caches
#include "device/cuda_each.cuh"
#include "ops/waves/points.h"

extern "C" kedge_status KG_REAL(kg_wave_points_cuda)(kedge_context *ctx,
                                                     const kg_wave_points_args *a)
{
  return kg_do_each<64, kg_wave_point>(ctx, "wave_points", a->n * a->state.n_fields, *a);
}

extern "C" kedge_status KG_REAL(kg_wave_nodes_cuda)(kedge_context *ctx, const kg_wave_nodes_args *a)
{
  return kg_do_each<128, kg_wave_node>(ctx, "wave_nodes", (int64_t)a->n_elements * a->n_points, *a);
}
