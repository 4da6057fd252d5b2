/// @file
/// "Did you mean": the valid word nearest to a wrong one.
#pragma once

typedef struct kg_nearest {
  const char *word;
  const char *best;  ///< NULL while nothing offered is near enough
  int distance;
} kg_nearest;

/// Words further away than a third of the length (at least one edit) are not suggested.
kg_nearest kg_nearest_to(const char *word);
void kg_nearest_offer(kg_nearest *nearest, const char *candidate);
