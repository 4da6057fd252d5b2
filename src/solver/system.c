// The trace system A x = b of a set-up, for who solves it otherwise.
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/nvtx.h"
#include "device/context.h"
#include "ops/vector/first_bad.h"
#include "solver/data.h"
#include "solver/unknowns.h"
#include "solution/values.h"

static size_t rows_of(const kg_elliptic *p)
{
  return (size_t)p->shape.count.n_free * (size_t)p->shape.m;
}

/// A vector in the numbering of the trace.
static kedge_status alloc_rows(kedge_solver *solver, double **rows)
{
  *rows = NULL;
  KG_TRY(kg_unknowns_find(solver));
  return kg_host_alloc(solver->elliptic->ctx, rows_of(solver->elliptic), sizeof **rows, rows);
}

static void take_unknowns(const kedge_solver *solver, const double *unknowns, double *rows)
{
  const kg_unknowns_args args = kg_unknowns_taken(solver, false, unknowns, rows);
  kg_unknowns_move_host(solver->elliptic->ctx, &args);
}

static void give_unknowns(const kedge_solver *solver, const double *rows, double *unknowns)
{
  const kg_unknowns_args args = kg_unknowns_given(solver, false, rows, unknowns);
  kg_unknowns_move_host(solver->elliptic->ctx, &args);
}

kedge_status kg_solver_check_double(const kedge_solver *solver, const char *function)
{
  const kg_elliptic *const p = solver->elliptic;
  KG_TRY(kg_solver_check(solver, function));
  KG_REQUIRE(p->ctx, p->shape.choice.iterates == KG_DOUBLE, KEDGE_ERR_UNSUPPORTED,
             "%s: with precision = compact the solver has its operator in single precision alone: "
             "take precision = double or mixed",
             function);
  return KEDGE_OK;
}

/// y = A x of vectors in the numbering of the trace.
static kedge_status multiply(kg_elliptic *p, const double *x, double *y)
{
  const size_t bytes = rows_of(p) * sizeof *x;
  double *from;
  const double *to = NULL;
  if (bytes == 0) return KEDGE_OK;
  KG_TRY(kg_enter(p->ctx));
  kg_range_push("apply", p->mesh->n_elements, (int64_t)rows_of(p));
  kedge_status status = kg_trace_begin(p, &from);
  if (status == KEDGE_OK) status = kg_copy_in(p->ctx, from, x, bytes);
  if (status == KEDGE_OK) status = kg_trace_end(p, &to);
  if (status == KEDGE_OK) status = kg_copy_out(p->ctx, y, to, bytes);
  kg_range_pop();
  return status;
}

kedge_status kedge_solver_apply(kedge_solver *solver, const double *x, double *y)
{
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "kedge_solver_apply: the solver is NULL");
  kg_elliptic *const p = solver->elliptic;
  KG_REQUIRE(p->ctx, x && y, KEDGE_ERR_ARG, "kedge_solver_apply: a vector is NULL");
  KG_TRY(kg_solver_check_double(solver, "kedge_solver_apply"));
  double *rows;
  kedge_status status = alloc_rows(solver, &rows);
  if (status == KEDGE_OK) {
    take_unknowns(solver, x, rows);
    status = multiply(p, rows, rows);
  }
  if (status == KEDGE_OK) give_unknowns(solver, rows, y);
  free(rows);
  return status;
}

/// kedge_solver_apply() where x and y are in device memory.
static kedge_status apply_there(kedge_solver *solver, const double *x, double *y)
{
  kg_elliptic *const p = solver->elliptic;
  double *rows;
  const double *product;
  KG_TRY(kg_join(p->ctx, x));
  KG_TRY(kg_join(p->ctx, y));
  KG_TRY(kg_unknowns_upload(solver));
  KG_TRY(kg_trace_begin(p, &rows));
  kg_unknowns_args args = kg_unknowns_taken(solver, true, x, rows);
  KG_TRY(kg_unknowns_move(p->ctx, &args));
  KG_TRY(kg_trace_end(p, &product));
  args = kg_unknowns_given(solver, true, product, y);
  KG_TRY(kg_unknowns_move(p->ctx, &args));
  return kg_sync(p->ctx);
}

kedge_status kedge_solver_apply_device(kedge_solver *solver, const double *x, double *y)
{
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "kedge_solver_apply_device: the solver is NULL");
  kg_elliptic *const p = solver->elliptic;
  KG_TRY(kg_solver_check_double(solver, "kedge_solver_apply_device"));
  if (rows_of(p) == 0) return KEDGE_OK;
  KG_REQUIRE(p->ctx, x && y, KEDGE_ERR_ARG, "kedge_solver_apply_device: a vector is NULL");
  KG_TRY(kg_enter(p->ctx));
  kg_range_push("apply", p->mesh->n_elements, (int64_t)rows_of(p));
  const kedge_status status = apply_there(solver, x, y);
  kg_range_pop();
  return status;
}

/// z = M r of unknowns; on the device all of it, also of vectors in host memory.
static kedge_status precondition(kedge_solver *solver, bool there, const double *r, double *z)
{
  kg_elliptic *const p = solver->elliptic;
  const size_t bytes = rows_of(p) * sizeof *r;
  double *rows, *spare;
  if (there) KG_TRY(kg_join(p->ctx, r));
  if (there) KG_TRY(kg_join(p->ctx, z));
  KG_TRY(kg_unknowns_upload(solver));
  KG_TRY(kg_trace_residual(p, &rows, &spare));
  if (!there) KG_TRY(kg_copy_in(p->ctx, spare, r, bytes));
  kg_unknowns_args args = kg_unknowns_taken(solver, true, there ? r : spare, rows);
  KG_TRY(kg_unknowns_move(p->ctx, &args));
  args = kg_unknowns_given(solver, true, NULL, there ? z : spare);
  args.factor = p->equation.scale;  // the scaled A is larger, and its inverse smaller
  KG_TRY(kg_trace_precondition(p, &args));
  KG_TRY(kg_unknowns_move(p->ctx, &args));
  return there ? kg_sync(p->ctx) : kg_copy_out(p->ctx, z, spare, bytes);
}

/// Check the arguments of a call of `function`, and precondition.
static kedge_status check_and_precondition(kedge_solver *solver, const char *function, bool there,
                                           const double *r, double *z)
{
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "%s: the solver is NULL", function);
  const kg_elliptic *const p = solver->elliptic;
  KG_TRY(kg_solver_check_double(solver, function));
  if (rows_of(p) == 0) return KEDGE_OK;
  KG_REQUIRE(p->ctx, r && z, KEDGE_ERR_ARG, "%s: a vector is NULL", function);
  KG_TRY(kg_enter(p->ctx));
  kg_range_push("precondition", p->mesh->n_elements, (int64_t)rows_of(p));
  const kedge_status status = precondition(solver, there, r, z);
  kg_range_pop();
  return status;
}

kedge_status kedge_solver_precondition(kedge_solver *solver, const double *r, double *z)
{
  return check_and_precondition(solver, "kedge_solver_precondition", false, r, z);
}

kedge_status kedge_solver_precondition_device(kedge_solver *solver, const double *r, double *z)
{
  return check_and_precondition(solver, "kedge_solver_precondition_device", true, r, z);
}

/// Compute the right-hand side b of the trace system for given data. b is in device memory, in the
/// order of the trace. The times of the stages are discarded.
static kedge_status make_right_side(kedge_solver *solver, const char *function,
                                    const kedge_data *data, const double **b)
{
  kg_elliptic *const p = solver->elliptic;
  kg_data_made made;
  kedge_solution *scratch;
  KG_TRY(kg_enter(p->ctx));
  KG_TRY(kg_host_calloc(p->ctx, 1, sizeof *scratch, &scratch));
  p->run.solution = scratch;
  kg_report_fill(p);
  kedge_status status = kg_data_make(solver, function, data, &made);
  if (status == KEDGE_OK) status = kg_fields_check(p->ctx, p->mesh, made.data.resolved, NULL);
  p->data = made.data;
  if (status == KEDGE_OK) status = kg_elliptic_stage(p, KG_STAGE_TRANSFER, kg_stage_loads);
  if (status == KEDGE_OK) status = kg_elliptic_stage(p, KG_STAGE_LOCAL_MATRICES, kg_stage_condense);
  if (status == KEDGE_OK) status = kg_run_begin(&p->run, KG_STAGE_TRACE_SOLVE);
  if (status == KEDGE_OK) status = kg_run_end(&p->run, kg_trace_right_side(p, b));
  p->data = kg_elliptic_data(p);
  kg_source_close(&p->source);
  kg_data_free(&made);
  free(scratch);
  p->run.solution = &solver->set_up;
  return status;
}

kedge_status kedge_solver_rhs(kedge_solver *solver, const kedge_data *data, double *b)
{
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "kedge_solver_rhs: the solver is NULL");
  kg_elliptic *const p = solver->elliptic;
  KG_REQUIRE(p->ctx, b, KEDGE_ERR_ARG, "kedge_solver_rhs: the vector is NULL");
  KG_TRY(kg_solver_check(solver, "kedge_solver_rhs"));
  if (rows_of(p) == 0) return KEDGE_OK;
  double *rows;
  const double *made;
  kedge_status status = alloc_rows(solver, &rows);
  if (status == KEDGE_OK) status = make_right_side(solver, "kedge_solver_rhs", data, &made);
  if (status == KEDGE_OK) status = kg_copy_out(p->ctx, rows, made, rows_of(p) * sizeof *rows);
  if (status == KEDGE_OK) give_unknowns(solver, rows, b);
  free(rows);
  return status;
}

kedge_status kedge_solver_rhs_device(kedge_solver *solver, const kedge_data *data, double *b)
{
  static const char *const function = "kedge_solver_rhs_device";
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "%s: the solver is NULL", function);
  kg_elliptic *const p = solver->elliptic;
  KG_TRY(kg_solver_check(solver, function));
  if (rows_of(p) == 0) return KEDGE_OK;
  KG_REQUIRE(p->ctx, b, KEDGE_ERR_ARG, "%s: the vector is NULL", function);
  const double *made;
  KG_TRY(kg_enter(p->ctx));
  KG_TRY(kg_join(p->ctx, b));
  KG_TRY(kg_unknowns_upload(solver));
  KG_TRY(make_right_side(solver, function, data, &made));
  kg_unknowns_args args = kg_unknowns_given(solver, true, made, b);
  KG_TRY(kg_unknowns_move(p->ctx, &args));
  return kg_sync(p->ctx);
}

static kedge_status refuse_unknown(kedge_context *ctx, const char *function, size_t i, double value)
{
  return KG_FAIL(ctx, KEDGE_ERR_INPUT, "%s: unknown %zu of the trace is %g", function, i,
                 isnan(value) ? NAN : value);
}

/// Recover from a trace that was taken, or where that failed leave no solution.
static kedge_status recover(kedge_solver *solver, const char *function, const kedge_data *data,
                            kedge_status taken, const kg_taken_trace *trace,
                            kedge_solution **solution)
{
  if (taken == KEDGE_OK) return kg_solver_run(solver, function, data, trace, solution);
  kedge_solution_destroy(*solution);
  *solution = NULL;
  return taken;
}

kedge_status kedge_solver_recover(kedge_solver *solver, const kedge_data *data, const double *trace,
                                  kedge_solution **solution)
{
  static const char *const function = "kedge_solver_recover";
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "%s: the solver is NULL", function);
  kg_elliptic *const p = solver->elliptic;
  KG_REQUIRE(p->ctx, trace && solution, KEDGE_ERR_ARG, "%s: the trace or solution is NULL",
             function);
  double *rows = NULL;
  kedge_status status = kg_solver_check(solver, function);
  for (size_t i = 0; status == KEDGE_OK && i < rows_of(p); ++i)
    if (!isfinite(trace[i])) status = refuse_unknown(p->ctx, function, i, trace[i]);
  if (status == KEDGE_OK) status = alloc_rows(solver, &rows);
  if (status == KEDGE_OK) take_unknowns(solver, trace, rows);
  status = recover(solver, function, data, status, &(kg_taken_trace){.rows = rows}, solution);
  free(rows);
  return status;
}

/// Look at a trace in device memory, and take it.
static kedge_status take_there(kedge_solver *solver, const char *function, const double *trace,
                               kg_unknowns_args *there)
{
  kg_elliptic *const p = solver->elliptic;
  int64_t bad;
  double value;
  const kg_first_bad_args args = {(int64_t)rows_of(p), trace, &bad};
  KG_TRY(kg_solver_check(solver, function));
  KG_TRY(kg_enter(p->ctx));
  KG_TRY(kg_join(p->ctx, trace));
  KG_TRY(kg_first_bad(p->ctx, &args));
  if (bad >= 0) {
    KG_TRY(kg_copy_out(p->ctx, &value, trace + bad, sizeof value));
    return refuse_unknown(p->ctx, function, (size_t)bad, value);
  }
  KG_TRY(kg_unknowns_upload(solver));
  *there = kg_unknowns_taken(solver, true, trace, NULL);
  return KEDGE_OK;
}

kedge_status kedge_solver_recover_device(kedge_solver *solver, const kedge_data *data,
                                         const double *trace, kedge_solution **solution)
{
  static const char *const function = "kedge_solver_recover_device";
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "%s: the solver is NULL", function);
  kg_elliptic *const p = solver->elliptic;
  KG_REQUIRE(p->ctx, trace && solution, KEDGE_ERR_ARG, "%s: the trace or solution is NULL",
             function);
  kg_taken_trace taken = {NULL};
  const kedge_status status = take_there(solver, function, trace, &taken.there);
  return recover(solver, function, data, status, &taken, solution);
}
