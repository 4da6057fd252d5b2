// Coefficients of [equation] and of sections [region NAME] become functions on a mesh.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "expression/expression_tree.h"
#include "expression/nearest.h"
#include "mesh/mesh.h"
#include "problem/located.h"
#include "problem/problem.h"

enum { NUMBERS = 200 };  ///< bytes of the list of numbers of regions

typedef struct regions {
  kedge_context *ctx;
  const kedge_problem *problem;
  const kedge_mesh *mesh;
  kg_resolved *out;
  const kg_group *group;  ///< [n] regions of the mesh: groups of dimension 2, which stand last
  int n;
  const kg_coefficients **of;  ///< [n]: the section of each, NULL: none
} regions;

/// The length of a mesh's name without ", refined 2 times".
static int name_length(const kedge_mesh *mesh)
{
  const char *const end = strstr(mesh->source, ", refined ");
  return end ? (int)(end - mesh->source) : (int)strlen(mesh->source);
}

static kedge_status no_such_region(const regions *r, const kg_coefficients *c)
{
  const kedge_mesh *mesh = r->mesh;
  char list[400] = "", lost[KG_LOST_BYTES];
  size_t length = 0;
  kg_nearest nearest = kg_nearest_to(c->group);
  for (int t = 0; t < r->n; ++t) {
    kg_nearest_offer(&nearest, r->group[t].name);
    if (length < sizeof list)
      length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length ? ", " : "",
                                 r->group[t].name);
  }
  kg_lost_groups(mesh, mesh->dimension, lost);
  if (lost[0]) nearest.best = NULL;
  return kg_problem_fail(r->ctx, r->problem, c->at,
                         "[region %s]: %.*s has no region '%s'%s%s%s%s%s%s", c->group,
                         name_length(mesh), mesh->source, c->group,
                         length                   ? " among "
                         : kg_mesh_in_space(mesh) ? "; give its volumes physical groups in Gmsh"
                                                  : "; give its surfaces physical groups in Gmsh",
                         list, nearest.best ? "; did you mean '" : "",
                         nearest.best ? nearest.best : "", nearest.best ? "'?" : "", lost);
}

/// Elements would have the coefficients of two regions.
static kedge_status check_overlap(const regions *r, const kg_coefficients *c)
{
  const kg_overlap *overlap = kg_overlap_named(r->mesh, r->mesh->dimension, c->group);
  if (!overlap) return KEDGE_OK;
  int first = 0;
  while (first + 1 < r->n && r->group[first].tag != overlap->first) ++first;
  char z[40] = "";
  const bool in_space = kg_mesh_in_space(r->mesh);
  if (in_space) snprintf(z, sizeof z, ", %.9g", overlap->at[2]);
  return kg_problem_fail(r->ctx, r->problem, c->at,
                         "[region %s]: a %s at (%.9g, %.9g%s) in %.*s is in the groups '%s' and "
                         "'%s', of which the first counts; take it out of one of them, or the "
                         "section out",
                         c->group, in_space ? "volume" : "surface", overlap->at[0], overlap->at[1],
                         z, name_length(r->mesh), r->mesh->source, r->group[first].name,
                         overlap->name ? overlap->name : c->group);
}

/// Whether other regions have the name of a region, which are not one as groups of lines would be.
/// @param[out] numbers  of all of them: "3, 5"
static bool shares_name(const regions *r, const kg_group *region, char numbers[NUMBERS])
{
  int n = 0;
  size_t length = 0;
  for (const kg_group *g = r->group; g < r->group + r->n; ++g) {
    if (g->count == 0 || strcmp(g->name, region->name) != 0) continue;
    if (length < NUMBERS)
      length +=
          (size_t)snprintf(numbers + length, NUMBERS - length, "%s%d", n > 0 ? ", " : "", g->tag);
    ++n;
  }
  return n > 1;
}

/// A name that means several regions, though not the number of one.
static kedge_status check_one(const regions *r, const kg_coefficients *c, const kg_group *region)
{
  char numbers[NUMBERS], number[16];
  snprintf(number, sizeof number, "%d", region->tag);
  const bool by_number = strcmp(c->group, number) == 0 && strcmp(c->group, region->name) != 0;
  if (by_number || !shares_name(r, region, numbers)) return KEDGE_OK;
  return kg_problem_fail(
      r->ctx, r->problem, c->at,
      "[region %s]: the regions %s of %.*s all have this name; take their numbers "
      "in its place",
      c->group, numbers, name_length(r->mesh), r->mesh->source);
}

static kedge_status no_section(const regions *r, const kg_group *region)
{
  char numbers[NUMBERS], number[16];
  snprintf(number, sizeof number, "%d", region->tag);
  const kg_setting *const at = r->problem->regions[0].at;
  return kg_problem_fail(r->ctx, r->problem, at,
                         "[%s] has %s, and region '%s' of %.*s has no section; add [region %s] or "
                         "[region default]",
                         at->section, at->key[0] ? at->key : "no key", region->name,
                         name_length(r->mesh), r->mesh->source,
                         shares_name(r, region, numbers) ? number : region->name);
}

static kedge_status match(regions *r)
{
  const kedge_problem *p = r->problem;
  const kg_coefficients *rest = p->n_regions == 0 ? &p->equation : NULL;
  for (int i = 0; i < p->n_regions; ++i) {
    const kg_coefficients *c = &p->regions[i];
    if (strcmp(c->group, "default") == 0) {
      rest = c;
      continue;
    }
    KG_TRY(check_overlap(r, c));
    const int found = kg_group_named(r->n, r->group, c->group);
    if (found < 0) return no_such_region(r, c);
    KG_TRY(check_one(r, c, &r->group[found]));
    const kg_coefficients **of = &r->of[found];
    if (*of)
      return kg_problem_fail(r->ctx, p, c->at,
                             "[region %s] and [region %s] are the same region of the mesh; keep "
                             "one of them",
                             (*of)->group, c->group);
    *of = c;
  }
  for (int t = 0; t < r->n; ++t) {
    if (r->of[t]) continue;
    if (!rest) return no_section(r, &r->group[t]);
    r->of[t] = rest;
  }
  return KEDGE_OK;
}

static const kg_function zero = {.kind = KG_FUNCTION_CONSTANT};

/// Entry k of a diffusion, which may be a number, as a tensor.
static const kg_function *entry(const kg_coefficients *c, int dimension, int k)
{
  if (c->n_diffusion > 1) return &c->diffusion[k];
  const bool on_diagonal = k == 0 || (dimension == 2 ? k == 2 : k == 3 || k == 5);
  return on_diagonal ? &c->diffusion[0] : &zero;
}

/// One coefficient of region t: function k of the numbers of diffusion, reaction, source, mass.
static const kg_function *coefficient(const regions *r, int t, int k)
{
  const kg_coefficients *const section = r->of[t], *const rest = &r->problem->equation;
  const int reaction = kg_tensor_numbers(r->mesh->dimension);
  if (k < reaction) return entry(section->n_diffusion > 0 ? section : rest, r->mesh->dimension, k);
  const kg_function *const own[] = {&section->reaction, &section->source, &section->mass};
  const kg_function *const common[] = {&rest->reaction, &rest->source, &rest->mass};
  const int i = k - reaction;
  return own[i]->kind != KG_FUNCTION_NONE ? own[i] : common[i];
}

/// Refuse the tensor of the other dimension.
static kedge_status check_tensor(const regions *r, const kg_coefficients *c, const char *section)
{
  static const char *const numbers[2] = {"three numbers, xx, xy, yy",
                                         "six numbers, xx, xy, xz, yy, yz, zz"};
  const int n = kg_tensor_numbers(r->mesh->dimension);
  const bool in_space = kg_mesh_in_space(r->mesh);
  if (c->n_diffusion <= 1 || c->n_diffusion == n) return KEDGE_OK;
  return kg_problem_fail(
      r->ctx, r->problem, kg_settings_find(&r->problem->settings, section, "diffusion"),
      "diffusion is a tensor of %s, and %.*s is a mesh of %s: write %s", numbers[!in_space],
      name_length(r->mesh), r->mesh->source, in_space ? "space" : "the plane", numbers[in_space]);
}

static kedge_status check_tensors(const regions *r)
{
  const kedge_problem *const p = r->problem;
  KG_TRY(check_tensor(r, &p->equation, "equation"));
  for (int i = 0; i < p->n_regions; ++i)
    KG_TRY(check_tensor(r, &p->regions[i], p->regions[i].at ? p->regions[i].at->section : ""));
  return KEDGE_OK;
}

kedge_status kg_coefficients_copy(kedge_context *ctx, const kg_coefficients *from,
                                  kg_coefficients *to)
{
  *to = (kg_coefficients){.dimension = from->dimension, .n_diffusion = from->n_diffusion};
  kedge_status status = kg_function_copy(ctx, &from->reaction, &to->reaction);
  for (int k = 0; status == KEDGE_OK && k < from->n_diffusion; ++k)
    status = kg_function_copy(ctx, &from->diffusion[k], &to->diffusion[k]);
  if (status != KEDGE_OK) kg_coefficients_free(to);
  return status;
}

static bool is_one(const regions *r, int k)
{
  for (int t = 1; t < r->n; ++t)
    if (coefficient(r, t, k) != coefficient(r, 0, k)) return false;
  return true;
}

/// region == tag ? its function : the next, and so on.
static kedge_status merge_roots(const regions *r, int k, kg_expression_builder *b, int32_t *root)
{
  for (int t = r->n - 1; t >= 0; --t) {
    int32_t here;
    KG_TRY(kg_function_import(b, coefficient(r, t, k), &here));
    if (t == r->n - 1) {
      *root = here;
      continue;
    }
    const int32_t region = kg_build(b, KG_OP_REGION, 0, 0, 0);
    const int32_t is_here =
        kg_build(b, KG_OP_EQUAL, region, kg_build_constant(b, r->group[t].tag), 0);
    *root = kg_build(b, KG_OP_CHOOSE, is_here, here, *root);
  }
  return KEDGE_OK;
}

/// A function of the caller has no tree.
static bool has_caller(const regions *r, int k)
{
  bool any = false;
  for (int t = 0; t < r->n; ++t) any = any || kg_function_of_caller(coefficient(r, t, k));
  return any;
}

static kedge_status list(const regions *r, int k, kg_function *out)
{
  *out = (kg_function){.kind = KG_FUNCTION_REGIONS};
  KG_TRY(kg_host_calloc(r->ctx, (size_t)r->n, sizeof *out->regions, &out->regions));
  for (; out->n_regions < r->n; ++out->n_regions) {
    const int t = out->n_regions;
    out->regions[t].tag = r->group[t].tag;
    KG_TRY(kg_function_copy(r->ctx, coefficient(r, t, k), &out->regions[t].function));
  }
  return KEDGE_OK;
}

/// A coefficient of all regions as one function.
static kedge_status merge(const regions *r, int k, kg_function *out)
{
  if (is_one(r, k)) return kg_function_copy(r->ctx, coefficient(r, 0, k), out);
  if (has_caller(r, k)) return list(r, k, out);
  kg_expression_builder b;
  int32_t root = 0;
  kg_expression *e = NULL;
  kedge_status status = kg_builder_open(r->ctx, &b);
  if (status == KEDGE_OK) status = merge_roots(r, k, &b, &root);
  if (status == KEDGE_OK) status = kg_builder_finish(&b, root, "a coefficient of all regions", &e);
  kg_builder_close(&b);
  if (status == KEDGE_OK) *out = (kg_function){.kind = KG_FUNCTION_EXPRESSION, .expression = e};
  return status;
}

/// The reaction of a stage of a step in time.
static kedge_status shift(const regions *r)
{
  kg_coefficients *const c = &r->out->equation;
  kg_function sum;
  if (r->problem->shift == 0.0) return KEDGE_OK;
  KG_TRY(kg_function_plus(r->ctx, &c->reaction, r->problem->shift, &c->mass, &sum));
  r->out->reaction = c->reaction;
  c->reaction = sum;
  return KEDGE_OK;
}

static kedge_status merge_all(const regions *r)
{
  kg_coefficients *const c = &r->out->equation;
  bool is_tensor = false;
  for (int t = 0; t < r->n; ++t) {
    const bool own = r->of[t]->n_diffusion > 0;
    is_tensor = is_tensor || (own ? r->of[t] : &r->problem->equation)->n_diffusion > 1;
  }
  const int numbers = kg_tensor_numbers(r->mesh->dimension);
  c->dimension = r->mesh->dimension;
  c->n_diffusion = is_tensor ? numbers : 1;
  for (int k = 0; k < c->n_diffusion; ++k) KG_TRY(merge(r, k, &c->diffusion[k]));
  KG_TRY(merge(r, numbers, &c->reaction));
  KG_TRY(merge(r, numbers + 1, &c->source));
  for (int k = 0; k < KG_TENSOR_MAX; ++k)
    KG_TRY(kg_function_take_device(r->ctx, r->mesh->n_elements, &c->diffusion[k]));
  KG_TRY(kg_function_take_device(r->ctx, r->mesh->n_elements, &c->reaction));
  KG_TRY(kg_function_take_device(r->ctx, r->mesh->n_elements, &c->source));
  KG_TRY(merge(r, numbers + 2, &c->mass));
  KG_TRY(kg_function_take_device(r->ctx, r->mesh->n_elements, &c->mass));
  KG_TRY(shift(r));
  kg_resolved_set_time(r->out, r->problem->t);
  for (int k = 0; k <= c->n_diffusion; ++k) {
    const kg_function *const f = k < c->n_diffusion ? &c->diffusion[k] : &c->reaction;
    r->out->varies = r->out->varies || kg_function_varies(f);
    r->out->by_element = r->out->by_element || kg_function_by_element(f);
  }
  return KEDGE_OK;
}

const kg_function *kg_coefficient_number(const kg_coefficients *c, int k)
{
  return k < kg_tensor_numbers(c->dimension) ? entry(c, c->dimension, k) : &c->reaction;
}

bool kg_coefficients_of_caller(const kg_coefficients *c)
{
  bool any = kg_function_of_caller(&c->reaction);
  for (int k = 0; k < c->n_diffusion; ++k) any = any || kg_function_of_caller(&c->diffusion[k]);
  return any;
}

bool kg_has_no_reaction(const kg_resolved *resolved)
{
  const kg_function *f = &resolved->equation.reaction;
  if (f->kind == KG_FUNCTION_NONE || f->kind == KG_FUNCTION_CONSTANT) return f->constant == 0.0;
  if (resolved->by_device) return resolved->summary.most[1] == 0.0;
  bool none = !resolved->varies;
  const int reaction = kg_tensor_numbers(resolved->equation.dimension);
  for (int m = 0; none && m < resolved->n_materials; ++m)
    none = kg_material_of(resolved, m)[reaction] == 0.0;
  return none;
}

kedge_status kg_coefficients_bring(const kg_coefficients *c)
{
  for (int k = 0; k < c->n_diffusion; ++k) KG_TRY(kg_function_bring(&c->diffusion[k]));
  return kg_function_bring(&c->reaction);
}

void kg_coefficients_evaluate(const kg_coefficients *c, const kedge_points *points, double *value)
{
  const size_t n = points->n;
  const int numbers = kg_tensor_numbers(c->dimension);
  for (int k = 0; k < c->n_diffusion; ++k)
    kg_function_evaluate(&c->diffusion[k], points, value + (size_t)k * n);
  for (int k = c->n_diffusion; k < numbers; ++k) {
    if (entry(c, c->dimension, k) == &zero)
      memset(value + (size_t)k * n, 0, n * sizeof *value);
    else
      memcpy(value + (size_t)k * n, value, n * sizeof *value);
  }
  kg_function_evaluate(&c->reaction, points, value + (size_t)numbers * n);
}

/// The section of a region of the mesh.
static const kg_coefficients *section_of(const kedge_problem *p, const kg_group *region,
                                         const kedge_mesh *mesh)
{
  const kg_coefficients *rest = &p->equation;
  const int lines = kg_line_groups(mesh);
  const kg_group *const first = mesh->groups + lines;
  for (int i = 0; i < p->n_regions; ++i) {
    const kg_coefficients *c = &p->regions[i];
    if (strcmp(c->group, "default") == 0)
      rest = c;
    else if (first + kg_group_named(mesh->n_groups - lines, first, c->group) == region)
      return c;
  }
  return rest;
}

static const kg_group *region_of(const kedge_mesh *mesh, int32_t tag)
{
  const kg_group *region = mesh->groups;
  while (kg_is_edge_group(mesh, region) || region->tag != tag) ++region;
  return region;
}

const kg_setting *kg_coefficient_setting(const kedge_problem *problem, const kedge_mesh *mesh,
                                         int32_t region, const char *key, const char **name)
{
  const kg_group *const group = region_of(mesh, region);
  const kg_coefficients *const section = section_of(problem, group, mesh);
  const kg_setting *at = NULL;
  *name = problem->n_regions > 0 ? group->name : NULL;
  if (section->at) at = kg_settings_find(&problem->settings, section->at->section, key);
  return at ? at : kg_settings_find(&problem->settings, "equation", key);
}

kedge_status kg_mass_refuse(kedge_context *ctx, const kedge_problem *problem,
                            const kedge_mesh *mesh, int32_t region, const kg_spot *spot,
                            double value)
{
  const char *name;
  const kg_setting *const setting = kg_coefficient_setting(problem, mesh, region, "mass", &name);
  char place[100] = "not", inside[40] = "", z[24] = "";
  if (spot && mesh->dimension == 3) snprintf(z, sizeof z, ", z = %.6g", spot->at[2]);
  if (spot) {
    snprintf(place, sizeof place, "and at x = %.6g, y = %.6g%s it is", spot->at[0], spot->at[1], z);
    snprintf(inside, sizeof inside, ", in element %d (from 0)",
             mesh->element_origin[spot->element]);
  }
  return kg_problem_fail(ctx, problem, setting, "mass%s%s%s must be positive, %s %g%s",
                         name ? " in region '" : "", name ? name : "", name ? "'" : "", place,
                         isnan(value) ? NAN : value, inside);
}

/// The mass at a point, or in all of a region.
static double mass_at(const kedge_problem *p, const kedge_mesh *mesh, int32_t region,
                      const kg_spot *spot)
{
  static const double corner[3] = {-1.0, -1.0, -1.0}, origin[3] = {0.0};
  const kg_coefficients *const section = section_of(p, region_of(mesh, region), mesh);
  const kg_function *const own = &section->mass;
  const kg_function *const f = own->kind != KG_FUNCTION_NONE ? own : &p->equation.mass;
  const double *const at = spot ? spot->at : origin, tag = region;
  double memory[KG_LOCATED], value;
  const kg_located located = kg_located_in(memory, 1);
  kg_locate_at(&located, 0, mesh, spot ? spot->element : 0, corner);
  kedge_points point = kg_located_points(&located, mesh, 1, &at[0], &at[1]);
  point.region = &tag;
  if (kg_mesh_in_space(mesh)) point.z = &at[2];
  kg_function_evaluate(f, &point, &value);
  return value;
}

kedge_status kg_coefficients_refuse(kedge_context *ctx, const kedge_problem *problem,
                                    const kedge_mesh *mesh, int32_t region, const kg_spot *spot,
                                    const double *value)
{
  const int dimension = mesh->dimension, numbers = kg_tensor_numbers(dimension);
  double without_reaction[KG_COEFFICIENTS_MAX] = {0.0};
  memcpy(without_reaction, value, (size_t)numbers * sizeof *value);
  const bool reaction = kg_is_elliptic(dimension, without_reaction);  // then that is what is wrong
  if (reaction && problem->shift > 0.0) {                             // and the mass is part of it
    const double mass = mass_at(problem, mesh, region, spot);
    if (mass <= 0.0) return kg_mass_refuse(ctx, problem, mesh, region, spot, mass);
  }
  const kg_group *const group = region_of(mesh, region);
  const kg_coefficients *section = section_of(problem, group, mesh);
  if (section->n_diffusion == 0) section = &problem->equation;
  const bool tensor = !reaction && section->n_diffusion > 1;
  const double bad = reaction ? value[numbers] : kg_least_eigenvalue(dimension, value);
  const char *const key = reaction ? "reaction" : "diffusion", *name, *found;
  const kg_setting *const setting = kg_coefficient_setting(problem, mesh, region, key, &name);
  if (!spot) name = group->name;
  char place[80] = "", inside[40] = "", z[24] = "";
  if (spot) {
    if (dimension == 3) snprintf(z, sizeof z, ", z = %.6g", spot->at[2]);
    snprintf(place, sizeof place, "at x = %.6g, y = %.6g%s ", spot->at[0], spot->at[1], z);
    snprintf(inside, sizeof inside, ", in element %d (from 0)",
             mesh->element_origin[spot->element]);
  }
  found = tensor ? "and its least eigenvalue is" : "not";
  if (spot) found = tensor ? "its least eigenvalue is" : "it is";
  return kg_problem_fail(ctx, problem, setting, "%s%s%s%s must be %s, %s%s%s %g%s", key,
                         name ? " in region '" : "", name ? name : "", name ? "'" : "",
                         reaction ? "zero or positive"
                         : tensor ? "positive definite"
                                  : "positive",
                         spot ? "and " : "", place, found, isnan(bad) ? NAN : bad, inside);
}

/// Whether every region has a coefficient of its own.
static bool all_have(const regions *r, int k)
{
  bool all = true;
  for (int t = 0; t < r->n; ++t) {
    const kg_coefficients *const c = r->of[t];
    const bool own = k == 0   ? c->n_diffusion > 0
                     : k == 1 ? c->reaction.kind != KG_FUNCTION_NONE
                     : k == 2 ? c->source.kind != KG_FUNCTION_NONE
                              : c->mass.kind != KG_FUNCTION_NONE;
    all = all && own && c != &r->problem->equation;
  }
  return all;
}

static const char *find_unread(const regions *r)
{
  static const char *const keys[] = {"diffusion", "reaction", "source", "mass"};
  for (int k = 0; k < 4; ++k)
    if (kg_settings_find(&r->problem->settings, "equation", keys[k]) && all_have(r, k))
      return keys[k];
  return NULL;
}

kedge_status kg_regions_match(kedge_context *ctx, const kedge_problem *problem,
                              const kedge_mesh *mesh, const kg_coefficients **of)
{
  const int first = kg_line_groups(mesh), n = mesh->n_groups - first;
  for (int g = 0; g < mesh->n_groups; ++g) of[g] = NULL;
  return match(&(regions){ctx, problem, mesh, NULL, mesh->groups + first, n, of + first});
}

kedge_status kg_coefficients_resolve(kedge_context *ctx, const kedge_problem *problem,
                                     const kedge_mesh *mesh, kg_resolved *out)
{
  const int first = kg_line_groups(mesh), n = mesh->n_groups - first;
  regions r = {ctx, problem, mesh, out, mesh->groups + first, n, NULL};
  kedge_status status = kg_host_calloc(ctx, (size_t)n, sizeof *r.of, &r.of);
  if (status == KEDGE_OK) status = check_tensors(&r);
  if (status == KEDGE_OK) status = match(&r);
  if (status == KEDGE_OK) status = merge_all(&r);
  if (status == KEDGE_OK) out->unread = find_unread(&r);
  if (status == KEDGE_OK && !out->varies) status = kg_materials_make(ctx, problem, mesh, out);
  // The host has fluxes of an exact solution.
  if (status == KEDGE_OK && (out->varies || problem->exact_u.kind != KG_FUNCTION_NONE))
    status = kg_coefficients_bring(&out->equation);
  free(r.of);
  return status;
}

void kg_coefficients_free(kg_coefficients *c)
{
  free(c->group);
  for (int k = 0; k < KG_TENSOR_MAX; ++k) kg_function_free(&c->diffusion[k]);
  kg_function_free(&c->reaction);
  kg_function_free(&c->source);
  kg_function_free(&c->mass);
  for (int k = 0; k < KG_WAVE_PROPERTIES; ++k) kg_function_free(&c->property[k]);
  for (int k = 0; k < KG_CURRENTS; ++k) kg_function_free(&c->current[k]);
  *c = (kg_coefficients){0};
}
