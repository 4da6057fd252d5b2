// How the fused stage is cut into blocks and threads.
#include <limits.h>

#include "basis/sectors.h"
#include "ops/waves/stage_kernel.h"

enum {
  SHARED = 227 << 10,   // of a multiprocessor, and of a block, from sm_90 on
  REGISTERS = 1 << 16,  // of a multiprocessor
  STRAIGHT_MAX = 4000,  // products of a thread, by words: more code does not stay in the caches
  // An H200 was fastest with these (the program `waves --only tilings` of profiling/): more sums of
  // a thread leave too few warps, and blocks of fewer elements read the tables of loops too often.
  SUMS_SINGLE = 48,
  SUMS_DOUBLE = 30,
  LOOPS_BLOCK = KG_WAVE_BLOCK / 2,
};

static int words_of(kg_number number)
{
  return (int)(kg_number_bytes(number) / sizeof(int32_t));
}

static size_t shared_bytes(const kg_law *law, const kg_nodal *nodal, kg_number number, int elements)
{
  const size_t columns = (size_t)(nodal->cell->n_facets * nodal->n_facet);
  const size_t fields = (size_t)law->n_fields, n = (size_t)nodal->n;
  return (size_t)elements * ((fields * n | 1) + (fields * columns | 1)) * kg_number_bytes(number);
}

/// Threads of parts of so many places, in whole warps.
static int threads_of(const int *size, const kg_wave_tiling *t, int places)
{
  int parts = 0;
  for (int s = 0; s < KG_SECTORS_MAX; ++s) parts += (size[s] + places - 1) / places;
  return (parts * t->elements + 31) / 32 * 32;
}

/// The places of a part with which threads work least: at these, and at what each reads of u.
static int choose_places(const int *size, const kg_wave_tiling *t, int most)
{
  enum { READS = 2 };  // in units of a place
  int best = 1, least = INT_MAX;
  for (int places = 1; places <= most; ++places) {
    const int work = threads_of(size, t, places) * (places + READS);
    if (work > least) continue;
    best = places;
    least = work;
  }
  return best;
}

/// Blocks of a multiprocessor, of threads with a field of an element each.
static int blocks_of(const kg_nodal *nodal, const kg_wave_tiling *t, int words)
{
  // What threads want beside their sums, and what is given out: to pairs of warps, in eights.
  const int needed = 24 + 16 * words + nodal->n * words * (t->holds ? 2 : 1);
  const int given = needed < 255 ? (needed + 7) / 8 * 8 : 256;
  const int by_registers = REGISTERS / ((t->threads + 63) / 64 * 64 * given);
  const int by_shared = (int)((SHARED + 1024) / (t->shared + 1024));
  const int blocks = by_shared < by_registers ? by_shared : by_registers;
  return blocks < 1 ? 1 : blocks > 32 ? 32 : blocks;
}

void kg_wave_tiling_fit(const kg_law *law, const kg_nodal *nodal, kg_number number,
                        kg_wave_tiling *t)
{
  const int words = words_of(number);
  const int most = (number == KG_SINGLE ? SUMS_SINGLE : SUMS_DOUBLE) / law->n_fields;
  int size[KG_SECTORS_MAX];
  kg_sector_sizes(nodal, t->splits ? KG_SECTORS_MAX : 1, size);
  t->shared = shared_bytes(law, nodal, number, t->elements);
  t->holds = t->holds && t->straight;
  if (t->places == 0) t->places = choose_places(size, t, most);
  t->threads = t->straight ? law->n_fields * t->elements : threads_of(size, t, t->places);
  // Loops want as many registers as they have sums, and some: compilers need no limit.
  t->blocks = t->straight ? blocks_of(nodal, t, words) : 1;
}

kg_wave_tiling kg_wave_tiling_of(const kg_law *law, const kg_nodal *nodal, kg_number number)
{
  const int words = words_of(number);
  const int columns = nodal->cell->n_facets * nodal->n_facet, sectors = law->dimension == 3 ? 4 : 1;
  const int products = nodal->n * (law->dimension * nodal->n + columns) / sectors;
  const bool straight = products * words <= STRAIGHT_MAX;
  kg_wave_tiling t = {.elements = straight ? KG_WAVE_BLOCK : LOOPS_BLOCK,
                      .straight = straight,
                      .holds = nodal->n * words <= 40,
                      .splits = sectors > 1,
                      .copies_ahead = true};
  // Two blocks at least, since one waits for memory where it begins and ends; loops end late.
  const int fewest = straight ? KG_WAVE_BLOCK / 2 : KG_WAVE_LANES, fit = straight ? 2 : 1;
  while (t.elements > fewest &&
         (size_t)fit * (shared_bytes(law, nodal, number, t.elements) + 1024) > SHARED + 1024)
    t.elements /= 2;
  kg_wave_tiling_fit(law, nodal, number, &t);
  return t;
}
