/// @file
/// In place of CUDA's header (cuda_runtime.h): asynchronous copies to shared memory, made at once
/// or when they are waited for (emulator.h).
#pragma once
#include "cuda_runtime.h"

inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes)
{
  emulated::copy_async(to, from, bytes);
}
inline void __pipeline_commit()
{
  emulated::commit_copies();
}
inline void __pipeline_wait_prior(size_t batches_left)
{
  emulated::wait_for_copies(batches_left);
}
