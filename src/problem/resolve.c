#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "expression/nearest.h"
#include "problem/hold.h"

typedef struct matching {
  kedge_context *ctx;
  const kedge_problem *problem;
  const kedge_mesh *mesh;
  const kg_boundary **of;  ///< [group]: its section, NULL: none
} matching;

static bool is_boundary_group(const kedge_mesh *mesh, const kg_group *group)
{
  return kg_is_edge_group(mesh, group) && group->count > 0;
}

/// The setting that stands for a section: one of the file rather than one of --set.
static const kg_setting *place_of(const kg_boundary *b)
{
  const kg_setting *const all[] = {b->type_at, b->value_at, b->coefficient_at};
  const kg_setting *first = NULL;
  for (int i = 0; i < 3; ++i) {
    if (all[i] && all[i]->origin == KG_FROM_FILE) return all[i];
    if (!first) first = all[i];
  }
  return first;
}

const kg_setting *kg_mesh_setting(const kedge_problem *problem)
{
  const kg_setting *const file = kg_settings_find(&problem->settings, "mesh", "file");
  return file ? file : kg_settings_find(&problem->settings, "mesh", "generate");
}

static const char *name_of_mesh(const matching *m)
{
  return m->mesh->source ? m->mesh->source : "the mesh";
}

/// Names of sections have no blanks around them, and those of a mesh may.
static bool is_called(const char *group, const char *name)
{
  const size_t n = strlen(name);
  group += strspn(group, " \t");
  return strncmp(group, name, n) == 0 && group[n + strspn(group + n, " \t")] == '\0';
}

int kg_group_named(int n_groups, const kg_group *groups, const char *name)
{
  for (int g = 0; g < n_groups; ++g)
    if (groups[g].count > 0 && strcmp(groups[g].name, name) == 0) return g;
  for (int g = 0; g < n_groups; ++g) {
    char number[16];
    snprintf(number, sizeof number, "%d", groups[g].tag);
    if (groups[g].count > 0 && strcmp(number, name) == 0) return g;
  }
  for (int g = 0; g < n_groups; ++g)
    if (groups[g].count > 0 && is_called(groups[g].name, name)) return g;
  return -1;
}

int kg_line_groups(const kedge_mesh *mesh)
{
  int n = 0;
  while (n < mesh->n_groups && kg_is_edge_group(mesh, &mesh->groups[n])) ++n;
  return n;
}

/// What a mesh has on its boundary, as a noun.
static const char *facet_of(const kedge_mesh *mesh)
{
  return kg_mesh_in_space(mesh) ? "face" : "edge";
}

/// A group of the mesh that takes no condition.
static kedge_status fail_group(const matching *m, const kg_boundary *b, const kg_group *group)
{
  const kedge_mesh *const mesh = m->mesh;
  const bool is_inside = kg_is_edge_group(mesh, group), in_space = kg_mesh_in_space(mesh);
  char what[200];
  if (is_inside)
    snprintf(what, sizeof what,
             "%s inside the domain, where there are no boundary conditions; take the section out, "
             "or, for a slit, have Gmsh's plugin Crack open the mesh there",
             in_space ? "faces" : "lines");
  else
    snprintf(what, sizeof what, "elements, not of boundary %ss", facet_of(mesh));
  return kg_problem_fail(m->ctx, m->problem, place_of(b),
                         "[boundary %s]: '%s' in %s is a group of %s", b->group, group->name,
                         name_of_mesh(m), what);
}

void kg_lost_groups(const kedge_mesh *mesh, int dimension, char text[KG_LOST_BYTES])
{
  const bool of_edges = dimension < mesh->dimension;
  const char *const name = mesh->lost[of_edges ? 0 : 1];
  text[0] = '\0';
  if (name)
    snprintf(text, KG_LOST_BYTES,
             "; the file names the group '%.80s', but no %s in it has a group, as Mesh.SaveAll = 1 "
             "leaves them out of format 2.2: export it with Mesh.SaveAll = 0, or in format 4.1",
             name,
             !of_edges                ? "element"
             : kg_mesh_in_space(mesh) ? "triangle"
                                      : "line");
}

/// A name that is no boundary group: the nearest one, or all.
static kedge_status no_such_group(const matching *m, const kg_boundary *b)
{
  const kedge_mesh *mesh = m->mesh;
  char list[400] = "", hint[KG_LOST_BYTES] = "";
  size_t length = 0;
  kg_nearest nearest = kg_nearest_to(b->group);
  for (int g = 0; g < mesh->n_groups; ++g) {
    const kg_group *group = &mesh->groups[g];
    char number[16], tag[24] = "";
    snprintf(number, sizeof number, "%d", group->tag);
    if (!is_boundary_group(mesh, group)) {
      const bool by_number = kg_is_edge_group(mesh, group) && strcmp(number, b->group) == 0;
      if (by_number || strcmp(group->name, b->group) == 0) return fail_group(m, b, group);
      continue;
    }
    kg_nearest_offer(&nearest, group->name);
    if (group->tag != 0 && strcmp(group->name, number) != 0)
      snprintf(tag, sizeof tag, " (%s)", number);
    if (length < sizeof list)
      length += (size_t)snprintf(list + length, sizeof list - length, "%s%s%s", length ? ", " : "",
                                 group->name, tag);
  }
  kg_lost_groups(mesh, mesh->dimension - 1, hint);
  if (hint[0])
    nearest.best = NULL;
  else if (nearest.best)
    snprintf(hint, sizeof hint, "; did you mean '%s'?", nearest.best);
  else if (strcmp(list, "default") == 0)
    snprintf(hint, sizeof hint,
             ": no boundary %s has a group; give the %s physical groups in Gmsh, or set "
             "[boundary default]",
             facet_of(mesh), kg_mesh_in_space(mesh) ? "surfaces" : "curves");
  return kg_problem_fail(m->ctx, m->problem, place_of(b),
                         "[boundary %s]: %s has no boundary group '%s' among %s%s", b->group,
                         name_of_mesh(m), b->group, list, hint);
}

/// Boundary edges of one line would have the conditions of two groups.
static kedge_status check_overlap(const matching *m, const kg_boundary *b)
{
  const kg_overlap *overlap = kg_overlap_named(m->mesh, m->mesh->dimension - 1, b->group);
  if (!overlap) return KEDGE_OK;
  const kg_group *first = m->mesh->groups;
  while (first->tag != overlap->first) ++first;
  char z[40] = "";
  const bool in_space = kg_mesh_in_space(m->mesh);
  if (in_space) snprintf(z, sizeof z, ", %.9g", overlap->at[2]);
  return kg_problem_fail(m->ctx, m->problem, place_of(b),
                         "[boundary %s]: a %s at (%.9g, %.9g%s) in %s is in the groups '%s' and "
                         "'%s' and cannot have two conditions; leave it in one of them",
                         b->group, in_space ? "triangle" : "line", overlap->at[0], overlap->at[1],
                         z, name_of_mesh(m), first->name, overlap->name ? overlap->name : b->group);
}

static kedge_status match_named(matching *m, const kg_boundary *b)
{
  KG_TRY(check_overlap(m, b));
  const int g = kg_group_named(kg_line_groups(m->mesh), m->mesh->groups, b->group);
  if (g < 0) return no_such_group(m, b);
  if (m->of[g] == NULL) {
    m->of[g] = b;
    return KEDGE_OK;
  }
  return kg_problem_fail(
      m->ctx, m->problem, place_of(b),
      "[boundary %s] and [boundary %s] are the same group of the mesh; keep one of them",
      m->of[g]->group, b->group);
}

/// A boundary group without a condition. Nobody expects one where vertices are there twice.
static kedge_status no_condition(const matching *m, const kg_group *group)
{
  const kedge_mesh *mesh = m->mesh;
  const char *const plural = group->count == 1 ? "" : "s";
  const bool in_space = kg_mesh_in_space(mesh);
  char hint[KG_LOST_BYTES] = "", place[80] = "", z[24] = "",
       join[48] = "Gmsh's Coherence Mesh does";
  for (int64_t i = 0; i < mesh->n_touches && place[0] == '\0'; ++i)
    if (&mesh->groups[mesh->edge_group[mesh->touches[i].edge]] == group) {
      const double *const at = mesh->touches[i].at;
      if (in_space) snprintf(z, sizeof z, ", %.6g", at[2]);
      snprintf(place, sizeof place, ", one at (%.6g, %.6g%s)", at[0], at[1], z);
    }
  if (mesh->info.join_distance > 0.0)
    snprintf(join, sizeof join, "[mesh] join = %.0e does", mesh->info.join_distance);
  if (group->tag == 0) kg_lost_groups(mesh, mesh->dimension - 1, hint);
  if (group->tag == 0 && mesh->info.partition > 0)
    snprintf(hint, sizeof hint,
             "; the file is part %d of a mesh that was split, whose cuts are among them: solve the "
             "whole mesh",
             mesh->info.partition);
  else if (group->coincident > 0)
    snprintf(hint, sizeof hint,
             "; %lld of them lie on other boundary %ss%s: where that is no slit, join the "
             "vertices that are there twice (%s)",
             (long long)group->coincident, facet_of(mesh), place, join);
  if (group->tag == 0)
    return kg_problem_fail(m->ctx, m->problem, kg_mesh_setting(m->problem),
                           "%lld boundary %s%s of %s without a group %s no condition; add "
                           "[boundary default]%s",
                           (long long)group->count, facet_of(mesh), plural, name_of_mesh(m),
                           group->count == 1 ? "has" : "have", hint);
  return kg_problem_fail(m->ctx, m->problem, kg_mesh_setting(m->problem),
                         "boundary group '%s' of %s (%lld %s%s) has no condition; add "
                         "[boundary %s] or [boundary default]%s",
                         group->name, name_of_mesh(m), (long long)group->count, facet_of(mesh),
                         plural, group->name, hint);
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
    if (!is_boundary_group(m->mesh, group) || m->of[g]) continue;
    if (rest == NULL) return no_condition(m, group);
    m->of[g] = rest;
  }
  return KEDGE_OK;
}

kedge_status kg_problem_match(kedge_context *ctx, const kedge_problem *problem,
                              const kedge_mesh *mesh, const kg_boundary **of)
{
  for (int g = 0; g < mesh->n_groups; ++g) of[g] = NULL;
  return match_groups(&(matching){ctx, problem, mesh, of});
}

/// A coefficient belongs to a Robin condition, and to no other.
static kedge_status check_coefficient(const matching *m, const kg_boundary *b)
{
  const bool given = b->coefficient.kind != KG_FUNCTION_NONE;
  if (given == (b->type == KEDGE_BOUNDARY_ROBIN)) return KEDGE_OK;
  return kg_problem_fail(m->ctx, m->problem, given ? b->coefficient_at : place_of(b),
                         given ? "[boundary %s] has a coefficient, which only type = robin takes; "
                                 "leave it out or change the type"
                               : "[boundary %s] is robin and has no coefficient; add coefficient = "
                                 "a of diffusion grad u . n + a u = value",
                         b->group);
}

/// Types and values of the matched sections.
static kedge_status resolve_boundaries(const matching *m, kg_resolved *out)
{
  const kedge_problem *p = m->problem;
  for (int g = 0; g < m->mesh->n_groups; ++g) {
    const kg_boundary *b = m->of[g];
    if (b == NULL) continue;
    if (b->type_at == NULL)
      return kg_problem_fail(m->ctx, p, place_of(b),
                             "[boundary %s] has no type; add dirichlet, neumann or robin",
                             b->group);
    KG_TRY(check_coefficient(m, b));
    const bool given = b->value.kind != KG_FUNCTION_NONE;
    if (!given && p->exact_u.kind == KG_FUNCTION_NONE)
      return kg_problem_fail(m->ctx, p, place_of(b),
                             "[boundary %s] has no value, and there is no [exact] u to derive it "
                             "from; add value = ...",
                             b->group);
    out->boundaries[g].type = b->type;
    out->boundaries[g].is_rest = strcmp(b->group, "default") == 0;
    out->boundaries[g].value = given ? &b->value : NULL;
    const bool robin = b->type == KEDGE_BOUNDARY_ROBIN;
    out->boundaries[g].coefficient = robin ? &b->coefficient : NULL;
    out->boundaries[g].coefficient_at = b->coefficient_at;
    out->has_robin = out->has_robin || robin;
    out->boundaries[g].at = given ? b->value_at : kg_settings_find(&p->settings, "exact", "u");
  }
  return KEDGE_OK;
}

static kedge_status resolve_source(kedge_context *ctx, const kedge_problem *p, int dimension,
                                   kg_resolved *out)
{
  kg_function *const source = &out->equation.source;
  if (source->kind != KG_FUNCTION_NONE || p->exact_u.kind == KG_FUNCTION_NONE) return KEDGE_OK;
  KG_REQUIRE(ctx, p->exact_u.kind == KG_FUNCTION_EXPRESSION, KEDGE_ERR_INPUT,
             "the exact solution is a function of the caller, so no source can be derived from it; "
             "set the source too");
  KG_REQUIRE(
      ctx, !kg_coefficients_of_caller(&out->equation), KEDGE_ERR_INPUT,
      "a coefficient is a function of the caller, so no source can be derived from the exact "
      "solution; set the source too");
  KG_TRY(kg_expression_source(ctx, p->exact_u.expression, dimension, out->equation.n_diffusion,
                              out->equation.diffusion,
                              p->shift == 0.0 ? &out->equation.reaction : &out->reaction,
                              &out->equation.mass, &source->expression));
  source->kind = KG_FUNCTION_EXPRESSION;
  source->t = p->t;
  out->derives_source = true;
  return KEDGE_OK;
}

/// Refuse a function that has z in it, on a mesh of the plane. @param[in] setting  that made it
static kedge_status check_z(const matching *m, const kg_function *f, const char *what,
                            const kg_setting *setting)
{
  if (!kg_function_uses_z(f)) return KEDGE_OK;
  return kg_problem_fail(m->ctx, m->problem, setting,
                         "%s names z, and %s is a mesh of the plane: write it in x and y", what,
                         name_of_mesh(m));
}

static kedge_status check_coefficients_z(const matching *m, const kg_coefficients *c)
{
  const kg_settings *const settings = &m->problem->settings;
  char section[KG_PLACE_BYTES] = "equation";
  if (c->group) snprintf(section, sizeof section, "region %s", c->group);
  for (int k = 0; k < c->n_diffusion; ++k)
    KG_TRY(check_z(m, &c->diffusion[k], "diffusion",
                   kg_settings_find(settings, section, "diffusion")));
  KG_TRY(check_z(m, &c->reaction, "reaction", kg_settings_find(settings, section, "reaction")));
  KG_TRY(check_z(m, &c->mass, "mass", kg_settings_find(settings, section, "mass")));
  return check_z(m, &c->source, "source", kg_settings_find(settings, section, "source"));
}

/// Functions of the caller for an exact solution are u and as many derivatives as the mesh has
/// dimensions.
static kedge_status check_exact(const matching *m)
{
  const kedge_problem *const p = m->problem;
  const bool in_space = kg_mesh_in_space(m->mesh);
  if (!in_space)
    KG_TRY(check_z(m, &p->exact_u, "exact u", kg_settings_find(&p->settings, "exact", "u")));
  if (p->exact_u.kind != KG_FUNCTION_CALLER || in_space == (p->exact_dz.kind != KG_FUNCTION_NONE))
    return KEDGE_OK;
  return kg_problem_fail(m->ctx, p, kg_settings_find(&p->settings, "exact", "u"),
                         "the exact solution is a function with %s derivatives, and %s is a mesh "
                         "of %s: give u, %s",
                         in_space ? "two" : "three", name_of_mesh(m),
                         in_space ? "space" : "the plane",
                         in_space ? "du_dx, du_dy and du_dz" : "du_dx and du_dy");
}

kedge_status kg_problem_check_exact(kedge_context *ctx, const kedge_problem *problem,
                                    const kedge_mesh *mesh)
{
  return check_exact(&(matching){.ctx = ctx, .problem = problem, .mesh = mesh});
}

/// In the plane no function may have z in it.
static kedge_status check_plane(const matching *m)
{
  const kedge_problem *const p = m->problem;
  if (kg_mesh_in_space(m->mesh)) return KEDGE_OK;
  KG_TRY(check_coefficients_z(m, &p->equation));
  for (int i = 0; i < p->n_regions; ++i) KG_TRY(check_coefficients_z(m, &p->regions[i]));
  for (int i = 0; i < p->n_boundaries; ++i) {
    const kg_boundary *const b = &p->boundaries[i];
    KG_TRY(check_z(m, &b->value, "value", b->value_at));
    KG_TRY(check_z(m, &b->coefficient, "coefficient", b->coefficient_at));
  }
  return KEDGE_OK;
}

kedge_status kg_problem_resolve(kedge_context *ctx, const kedge_problem *problem,
                                const kedge_mesh *mesh, kg_resolved *out)
{
  *out = (kg_resolved){0};
  KG_TRY(kg_problem_check_solver(ctx, problem));
  KG_TRY(kg_problem_check_time(ctx, problem));
  matching m = {.ctx = ctx, .problem = problem, .mesh = mesh};
  const size_t n = (size_t)mesh->n_groups;
  kedge_status status = kg_host_calloc(ctx, n, sizeof *m.of, &m.of);
  if (status == KEDGE_OK)
    status = kg_host_calloc(ctx, n, sizeof *out->boundaries, &out->boundaries);
  if (status == KEDGE_OK) status = check_plane(&m);
  if (status == KEDGE_OK) status = check_exact(&m);
  if (status == KEDGE_OK) status = match_groups(&m);
  if (status == KEDGE_OK) status = resolve_boundaries(&m, out);
  if (status == KEDGE_OK) status = kg_coefficients_resolve(ctx, problem, mesh, out);
  if (status == KEDGE_OK) status = kg_problem_check_determined(ctx, problem, mesh, out);
  if (status == KEDGE_OK) status = resolve_source(ctx, problem, mesh->dimension, out);
  if (status == KEDGE_OK) status = kg_integrals_check(ctx, problem, mesh);
  free(m.of);
  if (status != KEDGE_OK) kg_resolved_free(out);
  return status;
}

void kg_resolved_free(kg_resolved *resolved)
{
  kg_coefficients_free(&resolved->equation);
  kg_function_free(&resolved->reaction);
  free(resolved->material);
  free(resolved->material_of);
  free(resolved->boundaries);
  *resolved = (kg_resolved){0};
}
