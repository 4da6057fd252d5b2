/// @file
/// Subnormal numbers, with which an operation may take a hundred times as long, as 0: a mode of a
/// thread, where its processor has one.
#pragma once
#include <stdint.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

/// Begin the mode. @return what kg_subnormals_end() takes
static inline uint64_t kg_subnormals_begin(void)
{
#if defined(__SSE2__)
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(mode | 0x8040);  // results, and operands
  return mode;
#elif defined(__aarch64__)
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  __asm__ volatile("msr fpcr, %0" : : "r"(mode | 1 << 24) : "memory");
  return mode;
#else
  return 0;
#endif
}

/// Give the thread the mode back that it had.
static inline void kg_subnormals_end(uint64_t mode)
{
#if defined(__SSE2__)
  _mm_setcsr((unsigned)mode);
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory");
#else
  (void)mode;
#endif
}
