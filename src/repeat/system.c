// The trace system A x = b of a set-up, for who solves it otherwise.
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/nvtx.h"
#include "device/context.h"
#include "repeat/unknowns.h"
#include "solver/values.h"

static size_t rows_of(const kg_pipeline *p)
{
  return (size_t)p->layout.count.n_free * (size_t)p->shape.size.n_edge;
}

/// A vector in the numbering of the trace.
static kedge_status alloc_rows(kedge_solver *solver, double **rows)
{
  *rows = NULL;
  KG_TRY(kg_unknowns_find(solver));
  return kg_host_alloc(solver->pipeline->ctx, rows_of(solver->pipeline), sizeof **rows, rows);
}

static void take_unknowns(const kedge_solver *solver, const double *unknowns, double *rows)
{
  const kg_unknowns_args args = kg_unknowns_taken(solver, unknowns, rows);
  kg_unknowns_move_host(solver->pipeline->ctx, &args);
}

static void give_unknowns(const kedge_solver *solver, const double *rows, double *unknowns)
{
  const kg_unknowns_args args = kg_unknowns_given(solver, rows, unknowns);
  kg_unknowns_move_host(solver->pipeline->ctx, &args);
}

kedge_status kg_solver_check_double(const kedge_solver *solver, const char *function)
{
  const kg_pipeline *const p = solver->pipeline;
  KG_TRY(kg_solver_check(solver, function));
  KG_REQUIRE(p->ctx, p->shape.choice.iterates == KG_DOUBLE, KEDGE_ERR_UNSUPPORTED,
             "%s: with precision = compact the solver has its operator in single precision alone: "
             "take precision = double or mixed",
             function);
  return KEDGE_OK;
}

/// y = A x of vectors in the numbering of the trace.
static kedge_status multiply(kg_pipeline *p, const double *x, double *y)
{
  if (rows_of(p) == 0) return KEDGE_OK;
  KG_TRY(kg_enter(p->ctx));
  kg_range_push("apply", p->mesh->n_elements, (int64_t)rows_of(p));
  const kedge_status status = kg_trace_multiply(p, x, y);
  kg_range_pop();
  return status;
}

kedge_status kedge_solver_apply(kedge_solver *solver, const double *x, double *y)
{
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "kedge_solver_apply: the solver is NULL");
  kg_pipeline *const p = solver->pipeline;
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
  kg_pipeline *const p = solver->pipeline;
  double *rows;
  const double *product;
  KG_TRY(kg_join(p->ctx, x));
  KG_TRY(kg_join(p->ctx, y));
  KG_TRY(kg_unknowns_upload(solver));
  KG_TRY(kg_trace_begin(p, &rows));
  kg_unknowns_args args = kg_unknowns_taken(solver, x, rows);
  args.unknown = solver->device_unknowns.data;
  KG_TRY(kg_unknowns_move(p->ctx, &args));
  KG_TRY(kg_trace_end(p, &product));
  args = kg_unknowns_given(solver, product, y);
  args.unknown = solver->device_unknowns.data;
  KG_TRY(kg_unknowns_move(p->ctx, &args));
  return kg_sync(p->ctx);
}

kedge_status kedge_solver_apply_device(kedge_solver *solver, const double *x, double *y)
{
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "kedge_solver_apply_device: the solver is NULL");
  kg_pipeline *const p = solver->pipeline;
  KG_TRY(kg_solver_check_double(solver, "kedge_solver_apply_device"));
  if (rows_of(p) == 0) return KEDGE_OK;
  KG_REQUIRE(p->ctx, x && y, KEDGE_ERR_ARG, "kedge_solver_apply_device: a vector is NULL");
  KG_TRY(kg_enter(p->ctx));
  kg_range_push("apply", p->mesh->n_elements, (int64_t)rows_of(p));
  const kedge_status status = apply_there(solver, x, y);
  kg_range_pop();
  return status;
}

/// b, in the numbering of the trace, of data in place of the problem's. Its times are nobody's.
static kedge_status make_right_side(kedge_solver *solver, const kedge_data *data, double *rows)
{
  kg_pipeline *const p = solver->pipeline;
  kg_data replaced;
  kedge_solution *scratch;
  KG_TRY(kg_enter(p->ctx));
  KG_TRY(kg_host_calloc(p->ctx, 1, sizeof *scratch, &scratch));
  p->solution = scratch;
  kg_report_fill(p);
  kedge_status status = kg_data_put(p, "kedge_solver_rhs", data, &replaced);
  if (status == KEDGE_OK) status = kg_fields_check(p->ctx, p->mesh, &p->resolved, NULL);
  if (status == KEDGE_OK) status = kg_stage_run(p, KG_STAGE_TRANSFER, kg_stage_loads);
  if (status == KEDGE_OK) status = kg_stage_run(p, KG_STAGE_LOCAL_MATRICES, kg_stage_condense);
  if (status == KEDGE_OK) status = kg_stage_begin(p, KG_STAGE_TRACE_SOLVE);
  if (status == KEDGE_OK) status = kg_stage_end(p, kg_trace_right_side(p, rows));
  kg_source_close(&p->source);
  kg_data_restore(p, &replaced);
  free(scratch);
  p->solution = &solver->set_up;
  return status;
}

kedge_status kedge_solver_rhs(kedge_solver *solver, const kedge_data *data, double *b)
{
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "kedge_solver_rhs: the solver is NULL");
  kg_pipeline *const p = solver->pipeline;
  KG_REQUIRE(p->ctx, b, KEDGE_ERR_ARG, "kedge_solver_rhs: the vector is NULL");
  KG_TRY(kg_solver_check(solver, "kedge_solver_rhs"));
  double *rows;
  kedge_status status = alloc_rows(solver, &rows);
  if (status == KEDGE_OK && rows_of(p) > 0) status = make_right_side(solver, data, rows);
  if (status == KEDGE_OK) give_unknowns(solver, rows, b);
  free(rows);
  return status;
}

static kedge_status check_finite(kedge_context *ctx, const double *trace, size_t n)
{
  for (size_t i = 0; i < n; ++i)
    KG_REQUIRE(ctx, isfinite(trace[i]), KEDGE_ERR_INPUT,
               "kedge_solver_recover: unknown %zu of the trace is %g", i, trace[i]);
  return KEDGE_OK;
}

kedge_status kedge_solver_recover(kedge_solver *solver, const kedge_data *data, const double *trace,
                                  kedge_solution **solution)
{
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "kedge_solver_recover: the solver is NULL");
  kg_pipeline *const p = solver->pipeline;
  KG_REQUIRE(p->ctx, trace && solution, KEDGE_ERR_ARG,
             "kedge_solver_recover: the trace or solution is NULL");
  double *rows = NULL;
  kedge_status status = kg_solver_check(solver, "kedge_solver_recover");
  if (status == KEDGE_OK) status = check_finite(p->ctx, trace, rows_of(p));
  if (status == KEDGE_OK) status = alloc_rows(solver, &rows);
  if (status == KEDGE_OK) {
    take_unknowns(solver, trace, rows);
    status = kg_solver_run(solver, "kedge_solver_recover", data, rows, solution);
  } else {
    kedge_solution_destroy(*solution);
    *solution = NULL;
  }
  free(rows);
  return status;
}
