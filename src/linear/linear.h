/// @file
/// The contracts of a solve: what multiplies, what preconditions, what iterates, what makes a
/// residual. Their functions launch work and wait for nothing, unless they say so; pointers stay
/// the same between calls, so that a backend may record what they launch (kg_repeat_run()). None of
/// them knows who calls it. The caller owns the structs, and all memory they point to.
#pragma once
#include "kedge/base.h"
#include "ops/ops.h"
#include "linear/phases.h"
#include "ops/pass.h"
KEDGE_BEGIN_DECLS

typedef struct kg_linear kg_linear;
typedef struct kg_linear_table {
  /// Make what apply() reads of the element matrices. Both NULL: it reads these.
  kedge_status (*setup)(kedge_context *ctx, const kg_linear *linear);
  kg_cost (*setup_cost)(const kg_linear *linear);
  /// y = A x. x has all rows of the trace, of which those of Dirichlet edges are read; y has the
  /// free rows.
  kedge_status (*apply)(kedge_context *ctx, const kg_linear *linear, const void *x, void *y,
                        const kg_pass *pass);
  kg_cost (*cost)(const kg_linear *linear);  ///< of one product
} kg_linear_table;

/// A, the operator on the trace. The first member of a struct that knows more of it
/// (linear/linears.h).
struct kg_linear {
  const kg_linear_table *table;
  kg_number number;
  int n_rhs;  ///< right-hand sides: 1, or KG_VECTORS, whose vectors are [row][n_rhs]
  bool symmetric;
  int64_t rows, all_rows;  ///< of free edges, of all edges
  int64_t n_elements;
  int64_t n_parts;  ///< of a sum x . A x
};

/// y = A x, in a range of profilers.
kedge_status kg_linear_apply(kedge_context *ctx, const kg_linear *linear, const void *x, void *y,
                             const kg_pass *pass);

typedef struct kg_precond kg_precond;
typedef struct kg_precond_table {
  const char *name;
  /// Declare what M has of its own. NULL: nothing.
  void (*declare)(kg_plan *plan, kg_precond *precond);
  /// An iteration begins with a residual whose r . r is rr, [n_rhs]: M may become another multiple
  /// of itself, so that single precision holds z. Conjugate gradients do not notice. NULL: M stays.
  kedge_status (*begin)(kedge_context *ctx, const kg_precond *precond, const double *rr);
  /// z = M r; the same M until the next begin(). z has all rows, those of Dirichlet edges are zero.
  /// A sum is r . z. NULL where M is pointwise.
  kedge_status (*apply)(kedge_context *ctx, const kg_precond *precond, const void *r, void *z,
                        const kg_pass *pass);
  /// With KG_VECTORS right-hand sides: the first part of an apply(), which goes on from it. NULL: M
  /// takes one.
  /// @param[in] advance  a step that r takes before it is read; NULL: there is none
  kedge_status (*start)(kedge_context *ctx, const kg_precond *precond, const void *r, void *z,
                        const kg_advance *advance);
  kg_cost (*cost)(const kg_precond *precond);  ///< of one application
} kg_precond_table;

/// M, about the inverse of A, up to rounding. The first member of a struct that knows more of it
/// (precondition/precond.h).
struct kg_precond {
  const kg_precond_table *table;
  const kg_linear *linear;  ///< A, of the number of z; r has that of the method
  bool symmetric;           ///< and positive definite
  bool pointwise;           ///< M is a diagonal, by which a method multiplies in its own passes
  const double *inverse;    ///< [free row]: that diagonal
  float *const *z;          ///< NULL, or where, after the commit, M has a z for the method
  const char *remedy;       ///< what to try where M is not positive definite: "take ..."

  // What M borrows of a method, which declares it and fills the pointers:
  unsigned product_phases;  ///< in which `product` is work, beside those of the method
  unsigned rests;           ///< in which z may be gone
  size_t room_bytes;        ///< of `room`, at least
  void *product;            ///< [free row], of the number of the method
  void *room;               ///< work of an application that follows no other one
  int32_t *exponent;        ///< [n_rhs]
};

/// A rule says when an iteration ends, and has the function that hears of its progress.
typedef struct kg_rule {
  double target;           ///< r . r
  int64_t max_iterations;  ///< counted by the result, through all iterations of a solve
  /// After some iterations. Another status than KEDGE_OK ends the solve with it.
  kedge_status (*progress)(void *user, int64_t iterations, double rr);
  void *user;
  /// In place of a target, which is 0 then: r . z at the end over that at the beginning. It is
  /// looked at now and then, so that more is done. A stop by what rounding makes of sums is no
  /// failure. 0: there is a target.
  double part;
} kg_rule;

typedef struct kg_iterated {
  int64_t iterations;  ///< of this iteration and those before it: in and out
  double rr;           ///< r . r of the recurrence
  bool at_limit;       ///< max_iterations came before the target
  int64_t longest;     ///< steps of the longest iteration so far
  double energy;       ///< what that says of r . A^-1 r / r . r (kg_lanczos_energy())
} kg_iterated;

typedef struct kg_krylov kg_krylov;
typedef struct kg_krylov_table {
  /// Whether the method works with this operator and preconditioner, by their tables and properties
  /// alone.
  bool (*takes)(const kg_linear *linear, const kg_precond *precond);
  /// Declare what the method has, and the preconditioner. Neither moves from there on.
  void (*declare)(kg_plan *plan, kg_krylov *krylov);
  /// Once after the commit: what has been recorded needs these addresses.
  void (*bind)(kg_krylov *krylov);
  /// A residual has been made, whose r . r is rr, [n_rhs].
  /// @param[in] first  vectors may hold anything
  kedge_status (*take)(kedge_context *ctx, kg_krylov *krylov, const double *rr, bool first);
  /// Improve x until the rule ends it, from the residual that was taken, or the one that an
  /// iteration before has left. Afterwards the residual is that of the recurrence, or spoilt where
  /// M is pointwise. Waits for the device. All but M are [n_rhs]; of several right-hand sides those
  /// whose rr is not above their target stand still, and the function of the first rule hears of
  /// the one that is furthest from its target.
  /// @param[in] precond  that of the method, or another one with its properties
  /// @retval KEDGE_ERR_NUMERIC  A or M is not positive definite, or holds NaN
  kedge_status (*iterate)(kedge_context *ctx, kg_krylov *krylov, const kg_precond *precond,
                          const double *rr, const kg_rule *rule, kg_iterated *result);
  kg_cost (*cost)(const kg_krylov *krylov);  ///< of an iteration's passes over vectors
  void (*free)(kedge_context *ctx, kg_krylov *krylov);
} kg_krylov_table;

/// An iteration. It improves an x in double precision, whatever the number of `linear`. The first
/// member of a struct that knows more of it (linear/cg.h). Who makes it fills in the first four.
struct kg_krylov {
  const kg_krylov_table *table;
  const kg_linear *linear;
  kg_precond *precond;
  unsigned sum_phases;  ///< in which `sum` is work of others, beside those of a solve
  kg_plan *plan;        ///< whose phases are entered
  double *x;            ///< [row]
  double *residual;     ///< [free row]: where b - A x is made, before take()
  /// Work between iterations, of the number of `linear`: [row], whose rows of Dirichlet edges are
  /// zero, and [free row], where the residual may lie.
  void *work_all, *work;
  kg_sum sum;         ///< parts for any sum, and a total, [n_rhs]; work between iterations
  int32_t *exponent;  ///< in device memory: of what is kept in single precision; NULL: 0
};

/// A residual knows b, the right-hand side.
typedef struct kg_residual kg_residual;
struct kg_residual {
  /// r = b - A x in double precision, and r . r to sum.total; x NULL: r = b, without what boundary
  /// values add to it.
  kedge_status (*make)(kedge_context *ctx, kg_residual *residual, const double *x, double *r,
                       kg_sum sum);
  kg_cost (*cost)(const kg_residual *residual);
};

KEDGE_END_DECLS
