/// @file
/// The memory a solve needs, from counts alone: the plan of its arrays (elliptic/declare.h) and
/// what else lies in host memory.
#pragma once
#include "elliptic/stages.h"
#include "elliptic/declare.h"

/// Memory that is needed, or free. Where device memory is host memory, `host` counts both and
/// `device` is 0.
typedef struct kg_memory {
  int64_t device, host;
} kg_memory;

/// The mesh and the numbering of the trace: there before a solve allocates anything.
int64_t kg_prepared_bytes(const kg_shape *shape);
/// Declare all arrays of a solve, and find their places.
/// @param[out] plan  kg_plan_commit() it, or forget it
void kg_memory_plan(const kg_shape *shape, kg_plan *plan, kg_arrays *arrays);
/// Device memory of what lives in a stage.
int64_t kg_stage_bytes(const kg_plan *plan, kg_stage stage);
/// Device memory of a whole solve.
int64_t kg_peak_bytes(const kg_shape *shape);
/// Host memory held in a stage, beside that of kg_alloc(): results, boundary data, point values on
/// their way to the device.
int64_t kg_host_stage_bytes(kg_stage stage, const kg_shape *shape);
int64_t kg_host_bytes(const kg_shape *shape);  ///< in the stage that holds most
/// Memory of the results.
int64_t kg_results_bytes(const kg_shape *shape);
/// Groups a chunk: as many as may be held without local solve and post-process holding more, on
/// device and host together, than the trace solve does; 16 MiB of them at least, which keep a GPU
/// busy, or a tenth of a small mesh, and 2 GiB at most. Chunks are of one size.
/// @param[in] separate  device memory is not host memory: then also as many as the device alone has
///                      room for, up to 16 MiB, as the host waits for the device in each chunk; no
///                      stage may hold more on the device for that, but the host may
int32_t kg_chunk_groups(const kg_shape *shape, bool separate);
/// The bytes that a solve is going to allocate at its peak, of which `peak` on the device.
kg_memory kg_memory_needed(const kedge_context *ctx, const kg_shape *shape, int64_t peak);

kg_memory kg_memory_free(kedge_context *ctx);
bool kg_memory_fits(kg_memory need, kg_memory available);
/// kg_memory_plan() with load vectors that stay (`loads_stay`) if that fits, but with
/// precision = compact, which is for memory. Returns what is needed.
kg_memory kg_memory_choose(const kedge_context *ctx, kg_shape *shape, kg_memory available,
                           kg_plan *plan, kg_arrays *arrays);
/// Refuse what does not fit; the sentence says what is needed and free, and what to change first.
/// @retval KEDGE_ERR_MEMORY  it does not fit
kedge_status kg_memory_check(kedge_context *ctx, const kg_shape *shape, kg_memory need,
                             kg_memory available);
