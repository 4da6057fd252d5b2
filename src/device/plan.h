/// @file
/// The device memory of a solve. Modules declare the arrays that they use, each with the phases in
/// which it holds something; the plan places all of them in one piece of memory, arrays that never
/// live together over each other. Declaring and placing without committing is the prediction.
#pragma once
#include "device/backend.h"
KEDGE_BEGIN_DECLS

/// Who has a plan numbers its phases, 31 at most. An iteration goes through some again and again,
/// so an array lives in a set of phases, a bit each: all from where it is written to where it is
/// read for the last time.
///
/// With one set-up for many solves there are phases that the set-up goes through once, and those of
/// each solve. Arrays that live in both are kept from one solve to the next, but for those with
/// KG_ANEW, which are work.
typedef struct kg_phases {
  unsigned once, each;
} kg_phases;
#define KG_ANEW (1u << 31)

enum { KG_PLAN_ARRAYS = 128 };  ///< most arrays of a plan

typedef struct kg_plan_entry {
  const char *name;
  size_t bytes, at;  ///< rounded up to KG_ALIGNMENT; from the beginning of the memory
  unsigned phases;
  void *pointer;  ///< the owner's, of any type: kg_plan_commit() fills it
} kg_plan_entry;

/// Zero-initialise, but for the first three; kg_plan_free().
typedef struct kg_plan {
  bool apart;   ///< no array shares memory: for programs that measure parts of a solve, and tests
  bool poison;  ///< kg_plan_enter() works; for memory that the host may touch
  const kg_phases *repeats;  ///< one set-up, many solves; NULL: one solve
  int n;
  kg_plan_entry entry[KG_PLAN_ARRAYS];
  size_t bytes;  ///< of all arrays, when they are placed
  kg_buffer memory;
  int now;          ///< the phase that runs; with `poison`, from the first kg_plan_enter() on
  unsigned *lives;  ///< [KG_ALIGNMENT bytes]: phases of the arrays that lie there; or NULL
} kg_plan;

/// Declare an array of count * size bytes. One without bytes has a NULL pointer.
/// @param[in]  phases   in which it lives
/// @param[out] pointer  a pointer of any type, NULL until kg_plan_commit(); it must not move before
///                      kg_plan_free()
void kg_plan_array(kg_plan *plan, const char *name, size_t count, size_t size, unsigned phases,
                   void *pointer);
/// Find places, which depend on nothing but what was declared.
/// @return the bytes of the whole
size_t kg_plan_place(kg_plan *plan);
/// Bytes of what lives in one of these phases, where that is most. The whole is no less, and more
/// where arrays conflict in pairs but never all at once.
size_t kg_plan_live_bytes(const kg_plan *plan, unsigned phases);
/// The memory of the array with this pointer, which is the plan's; zeros: it has none, or not yet.
kg_buffer kg_plan_buffer(const kg_plan *plan, const void *pointer);
/// Take the memory of a plan that is used no more, if it is enough for what was placed: its
/// pointers become NULL, and the commit allocates nothing.
/// @return whether arrays that live in all phases hold what they did there: all arrays of both
///         plans have the same places
bool kg_plan_take(kg_plan *plan, kg_plan *from);
/// Allocate the memory of the arrays that were placed, unless it was taken, and fill the pointers.
kedge_status kg_plan_commit(kedge_context *ctx, kg_plan *plan);
/// A phase begins. With `poison` what does not live in it, and what begins to, becomes NaN;
/// otherwise nothing happens, so that what calls it may be recorded (kg_repeat_run()).
/// @retval KEDGE_ERR_INTERNAL  in the phase before something was written that does not live in it
kedge_status kg_plan_enter(kedge_context *ctx, kg_plan *plan, int phase);
/// Pointers become NULL.
void kg_plan_free(kedge_context *ctx, kg_plan *plan);

KEDGE_END_DECLS
