/// @file
/// Threads that are tried before OpenMP starts them: it ends a process that cannot have one.
#pragma once
#include "core/error.h"

/// The threads of this thread's OpenMP team, which OpenMP keeps until a loop takes fewer: those
/// that a loop was last given.
extern _Thread_local int kg_team_threads;

/// Try as many threads as this thread's team lacks, and end them.
/// @return 0, or errno of the thread that cannot be made
int kg_team_try(int threads);

/// Have OpenMP start so many threads in all. As many as are missing were tried before, or are now.
/// @return 0, or errno of the thread that cannot be made
int kg_team_start(int threads);

/// As kg_team_start(), for loops; what has failed is not tried again.
bool kg_team_starts(int threads);

/// Whether a loop may take so many threads. It is fast where the team has as many.
static inline bool kg_team_has(int threads)
{
  return threads == kg_team_threads || kg_team_starts(threads);
}
