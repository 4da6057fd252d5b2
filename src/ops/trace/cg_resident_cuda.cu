// cg_resident_cuda.cu: how many blocks and how much memory cg_resident.cuh takes, and its launch.
#include "ops/by_order.cuh"
#include "ops/trace/cg_resident.cuh"

namespace
{

// The fewest warps of a block: fewer elements a block make more blocks to wait for.
constexpr unsigned WARPS_MIN = 4;

/// How a problem is laid on the device; no blocks: it does not fit.
struct plan {
  unsigned blocks, warps;
  size_t shared;
  bool streams;
  size_t slot_bytes, message_bytes, stream_bytes;
};

template <int M>
plan plan_of(const kg_cuda_state *cuda, const kg_trace_counts &count)
{
  using shape = kg::resident_shape<M>;
  const unsigned all = (unsigned)(count.n_elements + kg::WARP_ELEMENTS - 1) / kg::WARP_ELEMENTS;
  const unsigned most = (unsigned)cuda->multiprocessors;
  const unsigned needed = (all + most - 1) / most;
  if (!cuda->cooperates) return {};
  plan p = {};
  p.warps = needed > WARPS_MIN ? needed : WARPS_MIN;
  if (p.warps > (unsigned)shape::warps) return {};
  p.shared = sizeof(double) * shape::outside * kg::WARP_SIDES * p.warps;
  p.streams = p.shared > (size_t)cuda->shared_limit;
  int streamed = 0;
  if (p.streams) {
    p.shared = sizeof(double) * shape::in_shared_max * kg::WARP_SIDES * p.warps;
    streamed = shape::outside - shape::in_shared_max;
    if (!shape::may_stream || p.shared > (size_t)cuda->shared_limit) return {};
  }
  p.blocks = (all + p.warps - 1) / p.warps;
  p.slot_bytes = 3 * p.blocks * sizeof(kg_cg_message);
  p.message_bytes = sizeof(kg_cg_message) * M * (size_t)(count.n_interior + count.n_shared);
  p.stream_bytes = sizeof(double) * streamed * 32 * p.warps * p.blocks;
  return p;
}

template <int M>
kedge_status launch(kedge_context *ctx, const kg_cg_resident_args &a)
{
  const plan p = plan_of<M>(kg_cuda(ctx), a.batch.count);
  void (*kernel)(kg_cg_resident_args, kg_cg_message *, kg_cg_message *, double *) =
      kg::cg_resident<M, false>;
  if constexpr (kg::resident_shape<M>::may_stream)
    if (p.streams) kernel = kg::cg_resident<M, true>;
  KG_TRY(kg_cuda_ask_for_shared(ctx, (const void *)kernel, (size_t)kg_cuda(ctx)->shared_limit,
                                "cg_resident"));
  char *work = (char *)a.work;
  kg_cg_message *slots = (kg_cg_message *)work;
  kg_cg_message *messages = (kg_cg_message *)(work + p.slot_bytes);
  double *stream = (double *)(work + p.slot_bytes + p.message_bytes);
  kg_cg_resident_args args = a;
  void *arguments[] = {&args, &slots, &messages, &stream};
  KG_TRY(kg_cuda_check(
      ctx,
      cudaLaunchCooperativeKernel((const void *)kernel, dim3(p.blocks), dim3(32 * (p.warps + 1)),
                                  arguments, p.shared, kg_cuda_stream(ctx)),
      "cg_resident"));
  return kg_cuda_launched(ctx, "cg_resident");
}

}  // namespace

extern "C" size_t kg_cg_resident_bytes_cuda(kedge_context *ctx, int m, const kg_trace_counts *count)
{
  plan p = {};
  const auto find = [&](auto modes) {
    p = plan_of<modes()>(kg_cuda(ctx), *count);
    return KEDGE_OK;
  };
  if (kg_with_modes(ctx, m, find) != KEDGE_OK) return 0;
  return p.slot_bytes + p.message_bytes + p.stream_bytes;
}

extern "C" kedge_status kg_cg_resident_cuda(kedge_context *ctx, const kg_cg_resident_args *a)
{
  return kg_with_modes(ctx, a->batch.m, [&](auto m) { return launch<m()>(ctx, *a); });
}
