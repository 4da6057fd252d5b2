/// @file
/// The fused stage of the GPU (stage_fused.cuh), which NVRTC compiles for a system, an order and a
/// type of numbers: its constants are those of kg_nodal and kg_sectors, which no header could have,
/// and a build compiles none of the 64 kernels that there are.
#pragma once
#include "basis/nodal.h"
#include "ops/waves/stage.h"
KEDGE_BEGIN_DECLS

/// How a kernel is made. `splits` and `copies_ahead` are false only where it is measured what they
/// bring.
typedef struct kg_wave_tiling {
  int elements;       ///< of a block: KG_WAVE_BLOCK, or a half, a quarter of that
  bool straight;      ///< tables in the instructions (stage_straight.cuh), not in loops
  bool holds;         ///< the residual is read ahead, into registers
  bool splits;        ///< into sectors, of tetrahedra
  bool copies_ahead;  ///< asynchronously, and the residual to the L2 cache
  int places;         ///< of a thread in loops
  int threads;        ///< of a block
  int blocks;         ///< of a multiprocessor, at least, for which registers are given out
  size_t shared;      ///< bytes of a block
} kg_wave_tiling;

kg_wave_tiling kg_wave_tiling_of(const kg_law *law, const kg_nodal *nodal, kg_number number);
/// Make a tiling whole that was changed: its places, where they are 0, and all behind them.
void kg_wave_tiling_fit(const kg_law *law, const kg_nodal *nodal, kg_number number,
                        kg_wave_tiling *tiling);

/// @param[out] source  freed with free()
kedge_status kg_wave_kernel_source(kedge_context *ctx, const kg_law *law, const kg_nodal *nodal,
                                   kg_number number, const kg_wave_tiling *tiling, char **source);

enum { KG_WAVE_KERNEL_TEXT = 640 };
/// The kernel of a context, compiled and loaded: `kernel` and `block` of args, whose `number` says
/// of what type. None where the plain kernel or the host's code has to serve: on other backends,
/// without NVRTC or where it refuses the kernel, and where a block would need more memory than the
/// GPU has.
/// @param[out] text  which one serves, and why: "compiled", "plain: ...", "host"
kedge_status kg_wave_kernel_find(kedge_context *ctx, const kg_law *law, const kg_nodal *nodal,
                                 kg_wave_args *args, char text[KG_WAVE_KERNEL_TEXT]);
/// @param[in] kernel  NULL is allowed
void kg_wave_kernel_drop(kg_wave_kernel *kernel);

/// Compile and load. In builds with CUDA, as what follows.
/// @retval KEDGE_ERR_UNSUPPORTED  NVRTC was not found, or does not know this GPU; or a block needs
///                                more shared memory than it has
kedge_status kg_wave_kernel_create(kedge_context *ctx, const kg_law *law, const kg_nodal *nodal,
                                   kg_number number, const kg_wave_tiling *tiling,
                                   kg_wave_kernel **out);
void kg_wave_kernel_free(kg_wave_kernel *kernel);        ///< NULL is allowed
int kg_wave_kernel_block(const kg_wave_kernel *kernel);  ///< kg_wave_args.block
/// A stage. @param[in] args  whose `block` is that of the kernel
kedge_status kg_wave_kernel_run(kedge_context *ctx, const kg_wave_kernel *kernel,
                                const kg_wave_args *args);

KEDGE_END_DECLS
