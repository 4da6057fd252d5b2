/// @file
/// The memory that a solve needs, predicted from counts alone: the plan of its device arrays
/// (elliptic/declare.h), and the bytes of all else in host memory.
#pragma once
#include "elliptic/stages.h"
#include "elliptic/declare.h"
#include "equation/mass.h"
#include "ops/pass.h"

/// Bytes of memory that are needed, or free. If device memory is host memory, `device` is 0, and
/// `host` is the sum of both.
typedef struct kg_memory {
  int64_t device, host;
} kg_memory;

/// The mesh and the numbering of the trace: there before a solve allocates anything.
int64_t kg_prepared_bytes(const kg_shape *shape);
/// Declare all arrays of a solve and arrange them in one block of device memory.
/// @param[out] plan  needs no release unless the caller allocates the memory by kg_plan_commit()
void kg_memory_plan(const kg_shape *shape, kg_plan *plan, kg_arrays *arrays);
/// Device memory of what lives in a stage.
int64_t kg_stage_bytes(const kg_plan *plan, kg_stage stage);
/// Device memory of a whole solve.
int64_t kg_peak_bytes(const kg_shape *shape);
/// Return the bytes of host memory used in a stage, without memory from kg_alloc(): results,
/// boundary data, and values at points before they are copied to the device.
int64_t kg_host_stage_bytes(kg_stage stage, const kg_shape *shape);
int64_t kg_host_bytes(const kg_shape *shape);  ///< in the stage that holds most
/// Memory of the results.
int64_t kg_results_bytes(const kg_shape *shape);
/// Device memory that a march has beside that of its solver: vectors of u, a trace, the mass, and
/// what norms take, where it takes some: kg_time_measures().
int64_t kg_march_bytes(const kg_shape *shape, const kg_equation *equation, bool is_affine,
                       int n_vectors);
/// Numbers of the work of a norm of u: one a lane, and those of a sum.
static inline size_t kg_norm_numbers(const kg_shape *shape)
{
  return (size_t)shape->count.n_groups * KG_LANES + KG_PIECES + 1;
}
/// Return the number of groups in a chunk. Local solve and post-processing of a chunk may use as
/// much memory, on device and host together, as the trace solve does; but at least 16 MiB, which
/// keep a GPU busy, or a tenth of a small mesh, and at most 2 GiB. All chunks have one size.
/// @param[in] separate  device memory is not host memory. Then a chunk may be larger, up to 16 MiB,
///                      if the peak on the device stays the same, because the host waits for the
///                      device in each chunk. The host may then need more.
int32_t kg_chunk_groups(const kg_shape *shape, bool separate);
/// The bytes that a solve is going to allocate at its peak, of which `peak` on the device, and
/// those of a march beside.
kg_memory kg_memory_needed(const kedge_context *ctx, const kg_shape *shape, int64_t peak);

kg_memory kg_memory_free(kedge_context *ctx);
bool kg_memory_fits(kg_memory need, kg_memory available);
/// Make the plan by kg_memory_plan(), and return the memory needed. Load vectors stay in memory
/// (`loads_stay`) if there is enough; with precision = compact, which saves memory, they never do,
/// and in a march, where the state is added to them once, always.
kg_memory kg_memory_choose(const kedge_context *ctx, kg_shape *shape, kg_memory available,
                           kg_plan *plan, kg_arrays *arrays);
/// Fail if a solve needs more memory than is available.
/// @retval KEDGE_ERR_MEMORY  the error message gives both numbers and the setting to change first
kedge_status kg_memory_check(kedge_context *ctx, const kg_shape *shape, kg_memory need,
                             kg_memory available);
