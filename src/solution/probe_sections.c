// Probes of problem files.
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "problem/problem.h"
#include "solution/find_points.h"

/// Points of sections, one behind the other, and their elements.
typedef struct sections {
  int first, count;
  int64_t *end;  ///< [count]: of the points of each
  double *x[3], *at;
  int32_t *element;
} sections;

static void sections_free(sections *s)
{
  free(s->end);
  for (int d = 0; d < 3; ++d) free(s->x[d]);
  free(s->at);
  free(s->element);
}

/// Append the points of a section to those before it.
static kedge_status append(kedge_context *ctx, const kg_probe *p, int dimension, int64_t before,
                           sections *s, int64_t *end)
{
  int64_t n;
  double *from[3] = {NULL, NULL, NULL};
  kedge_status status = kg_probe_points(ctx, p, dimension, &n, from);
  for (int d = 0; d < dimension && status == KEDGE_OK; ++d) {
    double *all;
    status = kg_host_alloc(ctx, (size_t)(before + n), sizeof *all, &all);
    if (status != KEDGE_OK) break;
    if (before > 0) memcpy(all, s->x[d], (size_t)before * sizeof *all);
    memcpy(all + before, from[d], (size_t)n * sizeof *all);
    free(s->x[d]);
    s->x[d] = all;
  }
  for (int d = 0; d < 3; ++d) free(from[d]);
  *end = before + n;
  return status;
}

static kedge_status read_points(kedge_context *ctx, const kedge_problem *problem, int dimension,
                                sections *s)
{
  int64_t n = 0;
  KG_TRY(kg_host_alloc(ctx, (size_t)s->count, sizeof *s->end, &s->end));
  for (int i = 0; i < s->count; ++i) {
    const kg_probe *const p = &problem->probes[s->first + i];
    KG_REQUIRE(ctx, p->at, KEDGE_ERR_INPUT, "[probe %s] has no points; set points, line or file",
               p->name);
    const kedge_status status = append(ctx, p, dimension, n, s, &s->end[i]);
    if (status != KEDGE_OK) return kg_probe_blame(ctx, problem, p, status);
    n = s->end[i];
  }
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *s->element, &s->element));
  return kg_host_alloc(ctx, (size_t)n, (size_t)dimension * sizeof *s->at, &s->at);
}

/// @param[in,out] out  [count], NULL
static kedge_status make(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                         sections *s, kedge_probe **out)
{
  if (s->count == 0) return KEDGE_OK;
  KG_TRY(read_points(ctx, problem, mesh->dimension, s));
  const double *x[] = {s->x[0], s->x[1], s->x[2]};
  KG_TRY(kg_points_find(ctx, mesh, s->end[s->count - 1], x, s->element, s->at));
  for (int i = 0; i < s->count; ++i) {
    const int64_t first = i > 0 ? s->end[i - 1] : 0;
    for (int d = 0; d < mesh->dimension; ++d) x[d] = s->x[d] + first;
    const kedge_status status = kg_probe_make(ctx, mesh, s->end[i] - first, x, s->element + first,
                                              s->at + mesh->dimension * first, &out[i]);
    if (status != KEDGE_OK)
      return kg_probe_blame(ctx, problem, &problem->probes[s->first + i], status);
  }
  return KEDGE_OK;
}

/// Make the probes of some sections, or none.
static kedge_status make_all(kedge_context *ctx, const kedge_mesh *mesh,
                             const kedge_problem *problem, sections s, kedge_probe **out)
{
  const kedge_status status = make(ctx, mesh, problem, &s, out);
  for (int i = 0; i < s.count && status != KEDGE_OK; ++i) {
    kedge_probe_destroy(out[i]);
    out[i] = NULL;
  }
  sections_free(&s);
  return status;
}

kedge_status kedge_problem_probe_create(kedge_context *ctx, const kedge_mesh *mesh,
                                        const kedge_problem *problem, int index, kedge_probe **out)
{
  KG_REQUIRE(ctx, out, KEDGE_ERR_ARG, "kedge_problem_probe_create: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh && problem, KEDGE_ERR_ARG,
             "kedge_problem_probe_create: context, mesh or problem is NULL");
  KG_REQUIRE(ctx, index >= 0 && index < problem->n_probes, KEDGE_ERR_ARG,
             "kedge_problem_probe_create: index is %d and there are %d probes", index,
             problem->n_probes);
  return make_all(ctx, mesh, problem, (sections){.first = index, .count = 1}, out);
}

kedge_status kedge_problem_probes_create(kedge_context *ctx, const kedge_mesh *mesh,
                                         const kedge_problem *problem, kedge_probe **out)
{
  KG_REQUIRE(ctx, ctx && mesh && problem, KEDGE_ERR_ARG,
             "kedge_problem_probes_create: context, mesh or problem is NULL");
  KG_REQUIRE(ctx, out || problem->n_probes == 0, KEDGE_ERR_ARG,
             "kedge_problem_probes_create: out is NULL");
  for (int i = 0; i < problem->n_probes; ++i) out[i] = NULL;
  return make_all(ctx, mesh, problem, (sections){.count = problem->n_probes}, out);
}
