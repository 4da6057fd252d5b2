/// @file
/// The device memory of a solve. Modules declare the arrays that they use, each with the phases in
/// which it holds something; the plan places all of them in one piece of memory, arrays that never
/// live together over each other. Declaring and placing without committing is the prediction.
#pragma once
#include "device/backend.h"
KEDGE_BEGIN_DECLS

/// The parts of a solve. Those of an iteration are gone through again and again, so an array lives
/// in a set of phases: all from where it is written to where it is read for the last time.
typedef enum kg_phase {
  KG_PHASE_TRANSFER,  ///< mesh, tables and load vectors are brought to the device
  KG_PHASE_LOCAL,     ///< local matrices, right-hand side, inverse diagonal
  KG_PHASE_ASSEMBLY,  ///< other forms of the operator, the blocks of a smoother
  KG_PHASE_SPACE,     ///< the coarse space of multigrid
  KG_PHASE_GALERKIN,  ///< the matrix of the coarse space
  KG_PHASE_LEVELS,    ///< the solver of the coarse space
  KG_PHASE_BOUND,     ///< the largest eigenvalue of the smoother is measured
  KG_PHASE_RESIDUAL,  ///< b - A x is made
  KG_PHASE_ROUND,     ///< the residual is handed over to the iteration: both live
  KG_PHASE_DOWN,      ///< a cycle of multigrid: smoothing and its products
  KG_PHASE_RESTRICT,  ///< the residual goes to the coarse space
  KG_PHASE_COARSE,    ///< the coarse system is solved
  KG_PHASE_CORRECT,   ///< the coarse solution comes back
  KG_PHASE_UP,        ///< smoothing and its products
  KG_PHASE_STEP,      ///< the rest of an iteration: p, A p, x and r
  KG_PHASE_RECOVER,   ///< local solve and post-processing
  KG_PHASE_LOADS,     ///< the next solve of a set-up: boundary data and load vectors
  KG_PHASE_CONDENSE,  ///< its F^e and b
  KG_PHASE_COUNT
} kg_phase;

/// A phase as a set; from one phase to another one.
#define KG_IN(name)          (1u << KG_PHASE_##name)
#define KG_FROM(first, last) (2 * KG_IN(last) - KG_IN(first))
#define KG_IN_ITERATION      KG_FROM(DOWN, STEP)
#define KG_IN_SOLVE          KG_FROM(BOUND, STEP)
/// The phases that a set-up goes through once, and those of each of its solves. Arrays that live in
/// both are kept from one solve to the next, but for those with KG_ANEW, which are work.
#define KG_IN_SETUP KG_FROM(TRANSFER, LEVELS)
#define KG_IN_EACH  (KG_FROM(BOUND, RECOVER) | KG_IN(LOADS) | KG_IN(CONDENSE))
#define KG_ANEW     (1u << 31)

enum { KG_PLAN_ARRAYS = 128 };  ///< most arrays of a plan

typedef struct kg_plan_entry {
  const char *name;
  size_t bytes, at;  ///< rounded up to KG_ALIGNMENT; from the beginning of the memory
  unsigned phases;
  void *pointer;  ///< the owner's, of any type: kg_plan_commit() fills it
} kg_plan_entry;

/// Zero-initialise, but for `apart` and `poison`; kg_plan_free().
typedef struct kg_plan {
  bool apart;    ///< no array shares memory: for programs that measure parts of a solve, and tests
  bool repeats;  ///< one set-up, many solves
  bool poison;   ///< kg_plan_enter() works; for memory that the host may touch
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
kedge_status kg_plan_enter(kedge_context *ctx, kg_plan *plan, kg_phase phase);
/// Pointers become NULL.
void kg_plan_free(kedge_context *ctx, kg_plan *plan);

KEDGE_END_DECLS
