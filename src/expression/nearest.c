#include "expression/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 63 };

static int smaller(int a, int b)
{
  return a < b ? a : b;
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from a to b, ignoring
/// case.
static int edit_distance(const char *a, int na, const char *b, int nb)
{
  int rows[3][LONGEST + 1];
  int *before = rows[0], *last = rows[1], *now = rows[2];
  for (int j = 0; j <= nb; ++j) last[j] = before[j] = j;
  for (int i = 1; i <= na; ++i) {
    now[0] = i;
    for (int j = 1; j <= nb; ++j) {
      const int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
      now[j] = smaller(smaller(last[j], now[j - 1]) + 1, last[j - 1] + (ca != cb));
      const bool swapped = i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
                           cb == tolower((unsigned char)a[i - 2]);
      if (swapped) now[j] = smaller(now[j], before[j - 2] + 1);
    }
    int *const free_row = before;
    before = last;
    last = now;
    now = free_row;
  }
  return last[nb];
}

kg_nearest kg_nearest_to(const char *word)
{
  const int length = (int)strnlen(word, LONGEST + 1);
  return (kg_nearest){.word = word, .distance = 2 + (length > 5 ? (length - 3) / 3 : 0)};
}

void kg_nearest_offer(kg_nearest *nearest, const char *candidate)
{
  const int na = (int)strnlen(nearest->word, LONGEST + 1);
  const int nb = (int)strnlen(candidate, LONGEST + 1);
  if (na > LONGEST || nb > LONGEST || abs(na - nb) >= nearest->distance) return;
  const int distance = edit_distance(nearest->word, na, candidate, nb);
  // One edit turns any single letter into any other: that is no likeness.
  if (distance >= nearest->distance || distance >= (na > nb ? na : nb)) return;
  nearest->distance = distance;
  nearest->best = candidate;
}
