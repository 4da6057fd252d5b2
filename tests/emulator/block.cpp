// block.cpp: the threads of a block, one block after another, and where they meet.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "emulator.h"
#include "fiber.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace
{
using namespace emulated;

enum { WARP = 32, BARRIERS = 16, GUARD = 4096, SHARED_MAX = 228 << 10, PATIENCE = 10000 };
enum state { READY, AT_WARP, AT_BARRIER, ENDED };

struct lane {
  fiber run;
  state is;
  int barrier;           ///< AT_BARRIER: its number
  unsigned mask;         ///< AT_WARP: the lanes it waits for,
  meeting *what;         ///< and what they are to do
  exchange *mine;
};

struct block {
  std::vector<lane> lanes;
  int n;                  ///< threads
  int alive;              ///< that have not ended
  int current;
  bool moved;             ///< something has happened in this round
  bool spins;             ///< the thread that ran only looked whether it can go on
  int arrived[BARRIERS];
  bool any, any_before;   ///< of the barrier that is filling, and of the last one
  fiber scheduler;
  const std::function<void()> *kernel;
  const char *name;
};

block b;
alignas(1024) unsigned char shared[SHARED_MAX + GUARD];
std::mutex one_at_a_time;

void give_way()
{
  switch_to(&b.lanes[b.current].run, &b.scheduler);
}

void release_barrier(int number)
{
  for (int i = 0; i < b.n; ++i)
    if (b.lanes[i].is == AT_BARRIER && b.lanes[i].barrier == number) b.lanes[i].is = READY;
  b.arrived[number] = 0;
  if (number != 0) return;
  b.any_before = b.any;
  b.any = false;
}

void thread_of_block()
{
  (*b.kernel)();
  b.lanes[b.current].is = ENDED;
  --b.alive;
  if (b.arrived[0] > 0 && b.arrived[0] == b.alive) release_barrier(0);
  give_way();
  abort();  // nobody goes on with a thread that has ended
}

void run_lane(int i)
{
  if (b.lanes[i].is != READY) return;
  b.current = i;
  const unsigned t = (unsigned)i;
  threadIdx = uint3{t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)};
  b.spins = false;
  switch_to(&b.scheduler, &b.lanes[i].run);
  b.moved |= !b.spins;
}

[[noreturn]] void stuck()
{
  for (int i = 0; i < b.n; ++i)
    if (b.lanes[i].is != ENDED) {
      b.current = i;
      break;
    }
  fail("threads wait for others that never come: this one %s",
       b.lanes[b.current].is == AT_WARP ? "for lanes of its warp" : "at a barrier");
}

void run_block(size_t bytes)
{
  memset(shared, 0xff, bytes + GUARD);
  b.alive = b.n;
  memset(b.arrived, 0, sizeof b.arrived);
  for (int i = 0; i < b.n; ++i) {
    prepare(&b.lanes[i].run, thread_of_block);
    b.lanes[i].is = READY;
  }
  for (int idle = 0; b.alive > 0;) {
    b.moved = false;
    for (int k = 0; k < b.n; ++k) run_lane(backwards() ? b.n - 1 - k : k);
    idle = b.moved ? 0 : idle + 1;
    if (idle > PATIENCE) stuck();
    bool ready = false;
    for (int i = 0; i < b.n; ++i) ready |= b.lanes[i].is == READY;
    if (!ready && b.alive > 0) stuck();
  }
  end_copies();
  for (size_t i = bytes; i < bytes + GUARD; ++i)
    if (shared[i] != 0xff) fail("a thread wrote behind the %zu bytes of shared memory", bytes);
}
}  // namespace

bool emulated::backwards()
{
  return (blockIdx.x + blockIdx.y) % 2 != 0;
}

void *emulated::shared_memory()
{
  return shared;
}

void emulated::launch(const char *name, dim3 blocks, dim3 threads, size_t bytes,
                      const std::function<void()> &kernel)
{
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  blockIdx = threadIdx = uint3{0, 0, 0};
  blockDim = threads;
  gridDim = blocks;
  b.name = name;
  b.kernel = &kernel;
  b.n = (int)(threads.x * threads.y * threads.z);
  if (b.n < 1 || b.n > 1024 || bytes > SHARED_MAX || blocks.x < 1 || blocks.y < 1)
    fail("no GPU launches %u x %u blocks of %d threads with %zu bytes", blocks.x, blocks.y, b.n,
         bytes);
  if ((int)b.lanes.size() < b.n) b.lanes.resize((size_t)b.n);
  for (blockIdx.z = 0; blockIdx.z < blocks.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < blocks.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < blocks.x; ++blockIdx.x) run_block(bytes);
}

void emulated::barrier(int number, int threads)
{
  lane &mine = b.lanes[b.current];
  ++b.arrived[number];
  if (b.arrived[number] == (threads == 0 ? b.alive : threads)) {
    release_barrier(number);
    return;
  }
  mine.is = AT_BARRIER;
  mine.barrier = number;
  give_way();
}

bool emulated::barrier_any(bool value)
{
  b.any |= value;
  barrier(0, 0);
  return b.any_before;
}

void emulated::meet(unsigned mask, meeting *what, exchange *mine)
{
  const int first = b.current / WARP * WARP;
  lane &me = b.lanes[b.current];
  if (!(mask >> (b.current - first) & 1u)) fail("the thread is not in its own mask %08x", mask);
  me.mask = mask, me.what = what, me.mine = mine;
  me.is = AT_WARP;
  exchange *all[WARP] = {};
  for (int l = 0; l < WARP; ++l) {
    if (!(mask >> l & 1u)) continue;
    if (first + l >= b.n || b.lanes[first + l].is == ENDED)
      fail("lane %d of mask %08x has ended", l, mask);
    const lane &other = b.lanes[first + l];
    if (other.is != AT_WARP) {
      give_way();
      return;
    }
    if (other.mask != mask || other.what != what)
      fail("lanes of a warp meet at different operations (masks %08x and %08x)", mask, other.mask);
    all[l] = other.mine;
  }
  what(all, mask);
  for (int l = 0; l < WARP; ++l)
    if (mask >> l & 1u) b.lanes[first + l].is = READY;
}

void emulated::wait_a_little()
{
  b.spins = true;
  give_way();
}

void emulated::fail(const char *format, ...)
{
  const uint3 t = threadIdx, at = blockIdx;
  fprintf(stderr, "kernel %s, block (%u, %u), thread %d (%u, %u): ", b.name, at.x, at.y, b.current,
          t.x, t.y);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  abort();
}
