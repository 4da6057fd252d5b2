/// @file
/// Host memory with overflow-checked sizes; a failure is a sentence, never an abort. And how much
/// there is.
#pragma once
#include <stdlib.h>

#include "core/error.h"
KEDGE_BEGIN_DECLS

/// Allocate count * size bytes, 64-byte aligned, contents undefined; free with free(). A count of 0
/// gives a valid pointer.
/// @param[out] out  address of the pointer that receives the memory; NULL on failure
kedge_status kg_host_alloc(kedge_context *ctx, size_t count, size_t size, void *out);
/// Allocates host memory that is filled with zeros.
kedge_status kg_host_calloc(kedge_context *ctx, size_t count, size_t size, void *out);
/// Copies the first `length` bytes of a text; '\0' follows them.
/// @param[out] out  address of the pointer to the copy, as above
kedge_status kg_copy_text(kedge_context *ctx, const char *text, size_t length, void *out);

/// Bytes this process can still allocate without swapping: the least of MemAvailable and of what is
/// left of the memory limits of its control groups (versions 1 and 2), page cache that can be
/// dropped not counted as used, and of its own (ulimit -v, ulimit -d).
/// @param[in] root  put before /proc and /sys: "" for this machine, a folder in tests
int64_t kg_memory_available(const char *root);

/// Memory that HDF5 or hwloc is to find before it is called, more than a file or a machine takes:
/// without memory they die in places.
enum { KG_RESERVE = 4 << 20 };

/// Whether KG_RESERVE bytes can be had.
static inline bool kg_has_reserve(void)
{
  void *const volatile reserve = malloc(KG_RESERVE);  // volatile: no compiler leaves it out
  const bool there = reserve != NULL;
  free(reserve);
  return there;
}

KEDGE_END_DECLS
