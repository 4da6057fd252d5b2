#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "mesh/mesh.h"
#include "mesh/parts.h"
#include "problem/nearest.h"
#include "problem/problem.h"

typedef struct matching {
  kedge_context *ctx;
  const kedge_problem *problem;
  const kedge_mesh *mesh;
  const kg_boundary **of;  ///< [group]: its section, NULL: none
} matching;

static bool is_boundary_group(const kg_group *group)
{
  return group->dimension == 1 && group->count > 0;
}

static kedge_status fail_at(const matching *m, const kg_boundary *b, const char *sentence)
{
  if (m->problem->path && b->line > 0)
    return KG_FAIL(m->ctx, KEDGE_ERR_INPUT, "%s:%d: %s", m->problem->path, b->line, sentence);
  return KG_FAIL(m->ctx, KEDGE_ERR_INPUT, "%s", sentence);
}

/// The boundary group of that name, else of that number; -1: none.
static int find_group(const kedge_mesh *mesh, const char *name)
{
  for (int g = 0; g < mesh->n_groups; ++g)
    if (is_boundary_group(&mesh->groups[g]) && strcmp(mesh->groups[g].name, name) == 0) return g;
  for (int g = 0; g < mesh->n_groups; ++g) {
    char number[16];
    snprintf(number, sizeof number, "%d", mesh->groups[g].tag);
    if (is_boundary_group(&mesh->groups[g]) && strcmp(number, name) == 0) return g;
  }
  return -1;
}

/// A name that is no boundary group: the nearest one, or all.
static kedge_status no_such_group(const matching *m, const kg_boundary *b)
{
  const kedge_mesh *mesh = m->mesh;
  const char *const source = mesh->source ? mesh->source : "the mesh";
  char list[400] = "", sentence[900];
  size_t length = 0;
  kg_nearest nearest = kg_nearest_to(b->group);
  for (int g = 0; g < mesh->n_groups; ++g) {
    const kg_group *group = &mesh->groups[g];
    if (!is_boundary_group(group)) {
      if (strcmp(group->name, b->group) != 0) continue;
      snprintf(sentence, sizeof sentence, "[boundary %s]: '%s' in %s is a group of %s", b->group,
               b->group, source,
               group->dimension == 2 ? "elements, not of boundary edges"
                                     : "lines of which none is on the boundary");
      return fail_at(m, b, sentence);
    }
    kg_nearest_offer(&nearest, group->name);
    char number[24];
    snprintf(number, sizeof number, " (%d)", group->tag);
    if (group->tag == 0 || strncmp(group->name, number + 2, strlen(group->name)) == 0)
      number[0] = '\0';  // without a number, or named by it
    if (length < sizeof list)
      length += (size_t)snprintf(list + length, sizeof list - length, "%s%s%s", length ? ", " : "",
                                 group->name, number);
  }
  char hint[200] = "";
  if (nearest.best)
    snprintf(hint, sizeof hint, "; did you mean '%s'?", nearest.best);
  else if (mesh->info.interior_lines > 0)
    snprintf(hint, sizeof hint, "; groups of lines inside the domain take no condition");
  snprintf(sentence, sizeof sentence, "[boundary %s]: %s has no boundary group '%s' among %s%s",
           b->group, source, b->group, list, hint);
  return fail_at(m, b, sentence);
}

static kedge_status match_named(matching *m, const kg_boundary *b)
{
  const int g = find_group(m->mesh, b->group);
  if (g < 0) return no_such_group(m, b);
  if (m->of[g] == NULL) {
    m->of[g] = b;
    return KEDGE_OK;
  }
  char sentence[700];
  snprintf(sentence, sizeof sentence,
           "[boundary %s] and [boundary %s] are the same group of the mesh; keep one of them",
           m->of[g]->group, b->group);
  return fail_at(m, b, sentence);
}

/// Sections by name or number first; then [boundary default] takes every group that is left.
static kedge_status match_groups(matching *m)
{
  const kedge_problem *p = m->problem;
  const kg_boundary *rest = NULL;
  for (int i = 0; i < p->n_boundaries; ++i) {
    const kg_boundary *b = &p->boundaries[i];
    if (strcmp(b->group, "default") == 0)
      rest = b;
    else
      KG_TRY(match_named(m, b));
  }
  for (int g = 0; g < m->mesh->n_groups; ++g) {
    const kg_group *group = &m->mesh->groups[g];
    if (!is_boundary_group(group) || m->of[g]) continue;
    const char *const plural = group->count == 1 ? "" : "s";
    m->of[g] = rest;
    if (rest) continue;
    if (group->tag == 0)
      return KG_FAIL(
          m->ctx, KEDGE_ERR_INPUT,
          "%lld boundary edge%s without a group have no condition; add [boundary default]",
          (long long)group->count, plural);
    return KG_FAIL(m->ctx, KEDGE_ERR_INPUT,
                   "boundary group '%s' (%lld edge%s) has no condition; add [boundary %s] or "
                   "[boundary default]",
                   group->name, (long long)group->count, plural, group->name);
  }
  return KEDGE_OK;
}

/// Types and values of the matched sections.
static kedge_status resolve_boundaries(const matching *m, kg_resolved *out)
{
  const kedge_problem *p = m->problem;
  for (int g = 0; g < m->mesh->n_groups; ++g) {
    const kg_boundary *b = m->of[g];
    if (b == NULL) continue;
    char sentence[500];
    snprintf(sentence, sizeof sentence, "[boundary %s] has no type; add dirichlet or neumann",
             b->group);
    if (!b->has_type) return fail_at(m, b, sentence);
    snprintf(
        sentence, sizeof sentence,
        "[boundary %s] has no value, and there is no [exact] u to derive it from; add value = ...",
        b->group);
    const bool given = b->value.kind != KG_FUNCTION_NONE;
    if (!given && p->exact_u.kind == KG_FUNCTION_NONE) return fail_at(m, b, sentence);
    out->boundaries[g].type = b->type;
    out->boundaries[g].value = given ? &b->value : NULL;
  }
  return KEDGE_OK;
}

static bool is_dirichlet(const matching *m, const kg_resolved *resolved, int group)
{
  return m->of[group] && resolved->boundaries[group].type == KEDGE_BOUNDARY_DIRICHLET;
}

/// The sentence for a part without a Dirichlet edge: where it lies, and what to do.
static kedge_status fail_part(const matching *m, const int32_t *part, int32_t which)
{
  const kedge_mesh *mesh = m->mesh;
  long long triangles = 0;
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int64_t side = 0; side < 3 * (int64_t)mesh->n_elements; ++side) {
    if (part[side / 3] != which) continue;
    triangles += side % 3 == 0;
    const double *at = mesh->vertices + 2 * (int64_t)mesh->element_vertices[side];
    for (int i = 0; i < 2; ++i) {
      low[i] = fmin(low[i], at[i]);
      high[i] = fmax(high[i], at[i]);
    }
  }
  return KG_FAIL(
      m->ctx, KEDGE_ERR_INPUT,
      "part %d of %lld of the mesh (x from %g to %g, y from %g to %g, %lld triangle%s) has only "
      "neumann boundaries and reaction is 0: the solution there is determined only up to a "
      "constant; give it a dirichlet boundary or make reaction positive, or, if the parts should "
      "be joined, give them common edges (Coherence in Gmsh)",
      which + 1, (long long)mesh->info.parts, low[0], high[0], low[1], high[1], triangles,
      triangles == 1 ? "" : "s");
}

/// Every part must have a Dirichlet edge.
static kedge_status check_parts(const matching *m, const kg_resolved *resolved)
{
  const kedge_mesh *mesh = m->mesh;
  int32_t *part, n_parts, free_part = 0;
  bool *is_fixed = NULL;
  KG_TRY(kg_mesh_parts(m->ctx, mesh, &part, &n_parts));
  kedge_status status = kg_host_calloc(m->ctx, (size_t)n_parts, sizeof *is_fixed, &is_fixed);
  if (status != KEDGE_OK) goto done;
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge) {
    const int32_t group = mesh->edge_group[edge];
    if (group >= 0 && is_dirichlet(m, resolved, group))
      is_fixed[part[mesh->edge_sides[2 * edge] / 3]] = true;
  }
  while (free_part < n_parts && is_fixed[free_part]) ++free_part;
  if (free_part < n_parts) status = fail_part(m, part, free_part);
done:
  free(is_fixed);
  free(part);
  return status;
}

/// Without reaction, constants are a solution of the homogeneous problem unless a Dirichlet
/// boundary excludes them.
static kedge_status check_determined(const matching *m, const kg_resolved *resolved)
{
  if (m->problem->reaction > 0) return KEDGE_OK;
  bool dirichlet = false;
  for (int g = 0; g < m->mesh->n_groups; ++g) dirichlet = dirichlet || is_dirichlet(m, resolved, g);
  KG_REQUIRE(
      m->ctx, dirichlet, KEDGE_ERR_INPUT,
      "all boundaries are neumann and reaction is 0: the solution is determined only up to a "
      "constant; make one boundary dirichlet or reaction positive");
  return m->mesh->info.parts > 1 ? check_parts(m, resolved) : KEDGE_OK;
}

static kedge_status resolve_source(kedge_context *ctx, const kedge_problem *p, kg_resolved *out)
{
  out->source = p->source;
  if (p->source.kind != KG_FUNCTION_NONE || p->exact_u.kind == KG_FUNCTION_NONE) return KEDGE_OK;
  KG_REQUIRE(ctx, p->exact_u.kind == KG_FUNCTION_EXPRESSION, KEDGE_ERR_INPUT,
             "the exact solution is a function of the caller, so no source can be derived from it; "
             "set the source too");
  KG_TRY(kg_expression_source(ctx, p->exact_u.expression, p->diffusion, p->reaction,
                              &out->source.expression));
  out->source.kind = KG_FUNCTION_EXPRESSION;
  out->owns_source = true;
  return KEDGE_OK;
}

kedge_status kg_problem_resolve(kedge_context *ctx, const kedge_problem *problem,
                                const kedge_mesh *mesh, kg_resolved *out)
{
  *out = (kg_resolved){0};
  KG_TRY(kg_problem_check_solver(ctx, problem));
  matching m = {.ctx = ctx, .problem = problem, .mesh = mesh};
  const size_t n = (size_t)mesh->n_groups;
  kedge_status status = kg_host_calloc(ctx, n, sizeof *m.of, &m.of);
  if (status == KEDGE_OK)
    status = kg_host_calloc(ctx, n, sizeof *out->boundaries, &out->boundaries);
  if (status == KEDGE_OK) status = match_groups(&m);
  if (status == KEDGE_OK) status = resolve_boundaries(&m, out);
  if (status == KEDGE_OK) status = check_determined(&m, out);
  if (status == KEDGE_OK) status = resolve_source(ctx, problem, out);
  free(m.of);
  if (status != KEDGE_OK) kg_resolved_free(out);
  return status;
}

void kg_resolved_free(kg_resolved *resolved)
{
  if (resolved->owns_source) kg_expression_free(resolved->source.expression);
  free(resolved->boundaries);
  *resolved = (kg_resolved){0};
}
