/// @file
/// Stable radix sort of (key, value) pairs; the result does not depend on the number of threads.
#pragma once
#include "core/error.h"

typedef struct kg_pair {
  uint64_t key;
  int64_t value;
} kg_pair;

/// Sort ascending by the lowest `bits` bits of the keys (a multiple of 8).
/// @param[in,out] pairs  from kg_host_alloc(); replaced by another such array of the same size
kedge_status kg_radix_sort(kedge_context *ctx, kg_pair **pairs, size_t n, int bits);
