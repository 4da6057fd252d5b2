/// @file
/// The contracts of a solve: what multiplies, what preconditions, what iterates, what makes a
/// residual. Their functions launch work and wait for nothing, unless they say so; pointers stay
/// the same between calls, so that a backend may record what they launch (kg_repeat_run()). None of
/// them knows who calls it. The caller owns the structs, and all memory they point to.
#pragma once
#include "kedge/base.h"
#include "ops/ops.h"
#include "ops/pass.h"
KEDGE_BEGIN_DECLS

typedef struct kg_linear kg_linear;
typedef struct kg_linear_table {
  /// Make what apply() reads of the element matrices.
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
  bool symmetric;
  int64_t rows, all_rows;  ///< of free edges, of all edges
  int64_t n_elements;
};

/// y = A x, in a range of profilers.
kedge_status kg_linear_apply(kedge_context *ctx, const kg_linear *linear, const void *x, void *y,
                             const kg_pass *pass);

typedef struct kg_precond kg_precond;
typedef struct kg_precond_table {
  const char *name;
  /// An iteration begins with a residual whose r . r is rr: M may become another multiple of
  /// itself, so that single precision holds z. Conjugate gradients do not notice. NULL: M stays.
  /// @param[in] n, rr  1, or KG_VECTORS: of as many vectors, each with its multiple
  kedge_status (*begin)(kedge_context *ctx, const kg_precond *precond, int n, const double *rr);
  /// z = M r; the same M until the next begin(). z has all rows, those of Dirichlet edges are zero.
  /// A sum is r . z. NULL where M is pointwise.
  kedge_status (*apply)(kedge_context *ctx, const kg_precond *precond, const void *r, void *z,
                        const kg_pass *pass);
  /// The first part of an apply() of many vectors, which goes on from it. NULL: it takes one.
  /// @param[in] advance  a step that r takes before it is read; NULL: there is none
  kedge_status (*start)(kedge_context *ctx, const kg_precond *precond, const void *r, void *z,
                        const kg_advance *advance);
  kg_cost (*cost)(const kg_precond *precond);  ///< of one application
} kg_precond_table;

/// M, about the inverse of A: symmetric and positive definite, up to rounding. The first member of
/// a struct that knows more of it (precondition/precond.h).
struct kg_precond {
  const kg_precond_table *table;
  kg_number number;       ///< of z; r has the number of the method
  bool pointwise;         ///< M is a diagonal, by which a method multiplies in its own passes
  const double *inverse;  ///< [free row]: that diagonal
  const char *remedy;     ///< what to try where M is not positive definite: "take ..."
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
  bool (*takes)(kedge_context *ctx, const kg_linear *linear, const kg_precond *precond);
  /// krylov->r is 2^exponent times the residual of x, whose r . r is rr: improve x until the rule
  /// ends it. Afterwards r is that of the recurrence, or spoilt where M is pointwise. Waits for the
  /// device.
  /// @retval KEDGE_ERR_NUMERIC  A or M is not positive definite, or holds NaN
  kedge_status (*iterate)(kedge_context *ctx, kg_krylov *krylov, double rr, const kg_rule *rule,
                          kg_iterated *result);
  kg_cost (*cost)(const kg_krylov *krylov);  ///< of an iteration's passes over vectors
  void (*free)(kedge_context *ctx, kg_krylov *krylov);
} kg_krylov_table;

/// An iteration. It improves an x in double precision, whatever the number of `linear`. The first
/// member of a struct that knows more of it (linear/cg.h).
struct kg_krylov {
  const kg_krylov_table *table;
  const kg_linear *linear;
  const kg_precond *precond;
  double *x;   ///< [row]
  void *r;     ///< [free row], of the number of `linear`, as the next two
  void *p;     ///< [row]: direction; work between iterations. Rows of Dirichlet edges are zero
  void *ap;    ///< [free row]: its product; work between iterations, r where M is pointwise
  void *z;     ///< [row], of the number of `precond`: M r. NULL where M is pointwise
  kg_sum sum;  ///< parts for any sum, and a total; work between iterations
  int32_t *exponent;  ///< in device memory, for who makes r; NULL: 0, as in double precision
};

/// A residual knows b, the right-hand side.
typedef struct kg_residual kg_residual;
struct kg_residual {
  /// r = b - A x in double precision, and r . r to *sum.total; x NULL: r = b, without what boundary
  /// values add to it.
  kedge_status (*make)(kedge_context *ctx, kg_residual *residual, const double *x, double *r,
                       kg_sum sum);
  kg_cost (*cost)(const kg_residual *residual);
};

KEDGE_END_DECLS
