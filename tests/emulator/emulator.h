/// @file
/// CUDA kernels on the CPU. The .cu files are compiled as C++ with include/cuda_runtime.h in place
/// of CUDA's: a launch runs one block after another, the threads of a block as fibers, which give
/// way to each other only where lanes of a warp or threads of a block meet. What a GPU leaves
/// undefined ends the program with a sentence: lanes that meet at different operations, a shuffle
/// from a lane that is not there, a barrier that some never reach, writes behind the shared memory
/// or an array.
///
/// To bring out races and reads of what nobody wrote: fresh memory is NaN, threads run forwards in
/// even blocks and backwards in odd ones, and asynchronous copies are made at once in even blocks
/// and when they are waited for in odd ones.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector_types.h>

/// The thread that runs. (CUDA's names, which are no macros: its structs have members of these
/// names.)
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace emulated
{

/// Run a kernel: `kernel` is called by every thread. Returns when all have ended.
void launch(const char *name, dim3 blocks, dim3 threads, size_t shared,
            const std::function<void()> &kernel);

/// Do what a stream is asked for: at once, or whenever the recording runs that is being made.
void enqueue(std::function<void()> work);
bool is_recording();

/// The block's dynamic shared memory.
void *shared_memory();

/// True where threads run backwards and copies are made late.
bool backwards();

/// Meet at a barrier of the block; `threads` of 0 are all that have not ended.
void barrier(int number, int threads);
/// Meet all threads; returns whether any came with true.
bool barrier_any(bool value);

/// What a lane brings to a meeting of its warp, and takes away.
struct exchange {
  uint64_t in[2];
  int source;  ///< lane, of a shuffle
  double c[2];
};
/// Done once for all lanes of `mask` when they are there: lane[32].
using meeting = void(exchange *const *lane, unsigned mask);
void meet(unsigned mask, meeting *what, exchange *mine);

/// Copies to shared memory by a thread, in batches,
void copy_async(void *to, const void *from, size_t bytes);
void commit_copies();
void wait_for_copies(size_t batches_left);
/// and by the copy engine: the barrier changes its parity when a copy is there.
void bulk_copy(void *to, const void *from, unsigned bytes, uint64_t *barrier);
void bulk_wait(uint64_t *barrier, unsigned parity);
/// A block ends: copies by threads go with it, those of the copy engine must have been waited for.
void end_copies();

/// Let others run: for loops that wait for what another thread does.
void wait_a_little();

/// End the program with a sentence about the kernel, block and thread.
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace emulated
