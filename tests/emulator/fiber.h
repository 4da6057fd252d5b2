/// @file
/// Threads of a block as fibers: each has a stack of its own, and runs until it gives way.
#pragma once

namespace emulated
{

/// A stack and where its computation stopped.
struct fiber {
  void *stack;  ///< NULL: none yet
  void *at;     ///< stack pointer, while it does not run
};

/// Start `entry` on the fiber at the next switch_to(); entry must never return.
void prepare(fiber *f, void (*entry)());
/// Stop at `from`, go on at `to`.
void switch_to(fiber *from, fiber *to);

}  // namespace emulated
