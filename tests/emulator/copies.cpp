// copies.cpp: copies that a kernel starts and waits for later.
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "include/cuda_pipeline.h"

namespace
{
struct copy {
  void *to;
  const void *from;
  size_t bytes;
};

/// By thread of the block: batches, of which the last is not committed yet.
std::map<unsigned, std::vector<std::vector<copy>>> on_their_way;
/// By barrier of the copy engine.
std::map<uint64_t *, std::vector<copy>> engine;

unsigned thread_number()
{
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

std::vector<std::vector<copy>> &batches()
{
  auto &mine = on_their_way[thread_number()];
  if (mine.empty()) mine.resize(1);
  return mine;
}

void make(const copy &c)
{
  memcpy(c.to, c.from, c.bytes);
}
}  // namespace

void emulated::copy_async(void *to, const void *from, size_t bytes)
{
  if (((uintptr_t)to | (uintptr_t)from) % bytes != 0) fail("a copy of %zu bytes is not aligned", bytes);
  const copy c = {to, from, bytes};
  if (backwards())
    batches().back().push_back(c);
  else
    make(c);
}

void emulated::commit_copies()
{
  batches().emplace_back();
}

void emulated::wait_for_copies(size_t batches_left)
{
  auto &mine = batches();
  while (mine.size() > batches_left + 1) {
    for (const copy &c : mine.front()) make(c);
    mine.erase(mine.begin());
  }
}

void emulated::bulk_copy(void *to, const void *from, unsigned bytes, uint64_t *barrier)
{
  if (((uintptr_t)to | (uintptr_t)from | bytes) % 16 != 0)
    fail("a bulk copy of %u bytes is not aligned", bytes);
  if (!engine[barrier].empty()) fail("a bulk copy goes to a slot that is not empty yet");
  engine[barrier].push_back({to, from, bytes});
  if (!backwards()) make(engine[barrier].back());
}

/// The barrier holds the parity of the phase that is under way.
void emulated::bulk_wait(uint64_t *barrier, unsigned parity)
{
  while ((*barrier & 1u) == parity) {
    auto &copies = engine[barrier];
    if (copies.empty()) {
      wait_a_little();
      continue;
    }
    if (backwards()) make(copies.back());
    copies.clear();
    *barrier ^= 1u;
  }
}

void emulated::end_copies()
{
  on_their_way.clear();
  for (const auto &[barrier, copies] : engine)
    if (!copies.empty()) fail("the block ends while the copy engine writes to its memory");
  engine.clear();
}
