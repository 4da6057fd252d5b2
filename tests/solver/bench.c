#include "bench.h"

void bench_set_up(bench *b)
{
  kedge_report report = KEDGE_REPORT_INIT;
  must(b->ctx, kedge_solver_create(b->ctx, b->mesh, b->problem, &b->solver));
  must(b->ctx, kedge_solver_report(b->solver, &report));
  b->n = (size_t)report.trace_unknowns;
  b->m = (size_t)report.order + 1;
}

void bench_free(bench *b)
{
  kedge_solver_destroy(b->solver);
  kedge_problem_destroy(b->problem);
  kedge_mesh_destroy(b->mesh);
  kedge_context_destroy(b->ctx);
}

int64_t solution_bytes(const bench *b)
{
  kedge_plan plan = KEDGE_PLAN_INIT;
  must(b->ctx, kedge_solver_plan(b->ctx, b->mesh, b->problem, &plan));
  return plan.solution_bytes;
}
