#include "mesh/radix.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "device/loop.h"
#include "core/memory.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

static inline int digit(kg_pair pair, int shift)
{
  return (int)(pair.key >> shift) & (DIGITS - 1);
}

/// Turn counts[thread][digit] into the place of each thread's first pair of each digit.
static void places_from_counts(size_t (*counts)[DIGITS], int threads)
{
  size_t next = 0;
  for (int d = 0; d < DIGITS; ++d) {
    for (int t = 0; t < threads; ++t) {
      const size_t count = counts[t][d];
      counts[t][d] = next;
      next += count;
    }
  }
}

/// One stable pass: every thread counts, then moves, its own contiguous piece.
static void sort_by_digit(const kg_pair *from, kg_pair *to, size_t n, int shift, int threads,
                          size_t (*counts)[DIGITS])
{
#pragma omp parallel num_threads(threads)
  {
    const size_t t = (size_t)omp_get_thread_num(), team = (size_t)omp_get_num_threads();
    const size_t begin = n / team * t, end = t + 1 == team ? n : n / team * (t + 1);
    size_t place[DIGITS] = {0};
    for (size_t i = begin; i < end; ++i) ++place[digit(from[i], shift)];
    memcpy(counts[t], place, sizeof place);
#pragma omp barrier
#pragma omp single
    places_from_counts(counts, (int)team);
    memcpy(place, counts[t], sizeof place);
    for (size_t i = begin; i < end; ++i) to[place[digit(from[i], shift)]++] = from[i];
  }
}

kedge_status kg_radix_sort(kedge_context *ctx, kg_pair **pairs, size_t n, int bits)
{
  const int threads = kg_loop_threads(ctx, (int64_t)n, 1);
  kg_pair *other = NULL;
  size_t(*counts)[DIGITS] = NULL;
  kedge_status status = kg_host_alloc(ctx, n, sizeof *other, &other);
  if (status == KEDGE_OK) status = kg_host_calloc(ctx, (size_t)threads, sizeof *counts, &counts);
  if (status != KEDGE_OK) goto done;

  uint64_t differing = 0;  // a digit that is the same everywhere needs no pass
  for (size_t i = 1; i < n; ++i) differing |= (*pairs)[i].key ^ (*pairs)[0].key;
  for (int shift = 0; shift < bits; shift += DIGIT_BITS) {
    if (!(differing >> shift & (DIGITS - 1))) continue;
    sort_by_digit(*pairs, other, n, shift, threads, counts);
    kg_pair *sorted = other;
    other = *pairs;
    *pairs = sorted;
  }
done:
  free(other);
  free(counts);
  return status;
}
