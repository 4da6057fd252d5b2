#include "device/placement.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "device/team.h"
#include "device/topology.h"

/// The context that holds the cores.
static _Atomic(kedge_context *) holder;

static bool is_set(const char *variable)
{
  const char *value = getenv(variable);
  return value && *value;
}

static bool user_binds_threads(void)
{
  return is_set("OMP_PROC_BIND") || is_set("OMP_PLACES") || is_set("GOMP_CPU_AFFINITY");
}

/// Bind worker i to the i-th CPU of `cpus`. The calling thread (0) stays free and finds the one
/// core that is left.
static void bind_workers(hwloc_topology_t topology, hwloc_const_bitmap_t cpus, int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int cpu = hwloc_bitmap_first(cpus);
    for (int i = 0; i < omp_get_thread_num(); ++i) cpu = hwloc_bitmap_next(cpus, cpu);
    hwloc_bitmap_t one = omp_get_thread_num() > 0 ? hwloc_bitmap_alloc() : NULL;
    if (one && cpu >= 0) {
      hwloc_bitmap_only(one, (unsigned)cpu);
      hwloc_set_cpubind(topology, one, HWLOC_CPUBIND_THREAD);  // a refusal costs speed only
    }
    hwloc_bitmap_free(one);
  }
}

static void free_workers(hwloc_topology_t topology, int threads)
{
  hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(topology);
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() > 0) hwloc_set_cpubind(topology, allowed, HWLOC_CPUBIND_THREAD);
}

/// Become the holder, if there is none.
static bool take_cores(kedge_context *ctx)
{
  kedge_context *nobody = NULL;
  return atomic_compare_exchange_strong(&holder, &nobody, ctx);
}

/// The threads that OMP_NUM_THREADS or the program has set, kedge_threads_max() at most: OpenMP
/// ends a process that cannot start as many as it is told.
static int openmp_threads(void)
{
  const int wanted = omp_get_max_threads(), most = kedge_threads_max();
  return wanted < most ? wanted : most;
}

kedge_status kg_place_threads(kedge_context *ctx, int threads, bool bind, int gpu)
{
  hwloc_topology_t topology;
  KG_REQUIRE(ctx, kg_topology_load(&topology) == 0, KEDGE_ERR_MEMORY,
             "hwloc cannot read the topology of this machine");
  hwloc_bitmap_t near = hwloc_bitmap_alloc();
  const bool known = near && gpu >= 0 && kg_topology_gpu_cpuset(topology, gpu, near) == 0;
  hwloc_bitmap_t cpus = kg_topology_place(topology, known ? near : NULL);
  const int cores = cpus ? hwloc_bitmap_weight(cpus) : 0;
  if (threads == 0) threads = is_set("OMP_NUM_THREADS") ? openmp_threads() : cores;
  ctx->threads = threads > 0 ? threads : 1;

  if (gpu < 0) {
    char cpu[128];
    kg_topology_cpu_name(topology, cpu, sizeof cpu);
    snprintf(ctx->device, sizeof ctx->device, "%s, %d thread%s", cpu, ctx->threads,
             ctx->threads == 1 ? "" : "s");
  }
  // Fewer threads than cores leave room for another process, whose threads must not be bound to the
  // same cores; more have to share. The operating system does both better.
  const bool may_bind = hwloc_topology_is_thissystem(topology) && !user_binds_threads();
  const bool binds = bind && may_bind && ctx->threads > 1 && ctx->threads == cores;
  const int error = (binds ? kg_team_start : kg_team_try)(ctx->threads);
  if (!error && binds && take_cores(ctx)) bind_workers(topology, cpus, ctx->threads);

  hwloc_bitmap_free(cpus);
  hwloc_bitmap_free(near);
  hwloc_topology_destroy(topology);
  KG_REQUIRE(ctx, !error, KEDGE_ERR_MEMORY,
             "%d threads cannot be started: %s; take fewer, or raise the limits of this process "
             "(ulimit -u, -v)",
             ctx->threads, strerror(error));
  return KEDGE_OK;
}

void kg_release_threads(kedge_context *ctx)
{
  if (atomic_load(&holder) != ctx) return;
  hwloc_topology_t topology;
  if (kg_team_has(ctx->threads) && kg_topology_load(&topology) == 0) {
    free_workers(topology, ctx->threads);
    hwloc_topology_destroy(topology);
  }
  atomic_store(&holder, NULL);
}
