// Integrals meet a mesh.
#include <stdio.h>
#include <string.h>

#include "expression/expression_tree.h"
#include "expression/nearest.h"
#include "problem/problem.h"

const char *const kg_integral_names[] = {"u",        "qx",   "qy",      "u_star",   "sigma_x",
                                         "sigma_y",  "qz",   "sigma_z", "normal_x", "normal_y",
                                         "normal_z", "flux", "trace",   NULL};

enum { WHO_BYTES = 120 };

typedef struct finding {
  kedge_context *ctx;
  const kedge_problem *problem;
  const kg_wanted_integral *integral;
  const kedge_mesh *mesh;
  char who[WHO_BYTES];  ///< as a sentence about it begins: "[integral heat]: "
} finding;

static kedge_status fail(const finding *f, const kg_setting *at, const char *sentence)
{
  if (f->problem) return kg_problem_fail(f->ctx, f->problem, at, "%s%s", f->who, sentence);
  return KG_FAIL(f->ctx, KEDGE_ERR_INPUT, "%s%s", f->who, sentence);
}

/// How a name means a group: as its name, as its number, or as its name but for blanks around it.
typedef enum meaning { BY_NAME, BY_NUMBER, BY_TRIMMED_NAME, MEANINGS } meaning;

static bool is_meant(const kg_group *group, const char *name, meaning how)
{
  if (group->count == 0 && group->n_inner == 0) return false;
  if (how == BY_NAME) return strcmp(group->name, name) == 0;
  if (how == BY_NUMBER) {
    char number[16];
    snprintf(number, sizeof number, "%d", group->tag);
    return strcmp(number, name) == 0;
  }
  const size_t n = strlen(name);
  const char *const begin = group->name + strspn(group->name, " \t");
  return strncmp(begin, name, n) == 0 && begin[n + strspn(begin + n, " \t")] == '\0';
}

static kedge_status no_such_group(const finding *f, const char *name)
{
  const kedge_mesh *const mesh = f->mesh;
  char list[300] = "", sentence[600];
  size_t length = 0;
  kg_nearest nearest = kg_nearest_to(name);
  kg_nearest_offer(&nearest, "all");
  for (const kg_group *g = mesh->groups; g < mesh->groups + mesh->n_groups; ++g) {
    if (g->count == 0 && g->n_inner == 0) continue;
    kg_nearest_offer(&nearest, g->name);
    if (length < sizeof list)
      length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length ? ", " : "",
                                 g->name);
  }
  const bool near = nearest.best != NULL;
  snprintf(sentence, sizeof sentence, "%.100s has no group or region '%.80s' among %s%s%.80s%s",
           mesh->source ? mesh->source : "the mesh", name, list, near ? "; did you mean '" : "",
           near ? nearest.best : "", near ? "'?" : "");
  return fail(f, f->integral->on_at, sentence);
}

/// What groups that are no regions have.
static const char *facets_of(const kedge_mesh *mesh)
{
  return kg_mesh_in_space(mesh) ? "faces" : "lines";
}

static kedge_status find_group(const finding *f, const char *name, int *out)
{
  for (meaning how = BY_NAME; how < MEANINGS; ++how) {
    *out = -1;
    for (int g = 0; g < f->mesh->n_groups; ++g) {
      if (!is_meant(&f->mesh->groups[g], name, how)) continue;
      if (*out < 0) {
        *out = g;
        continue;
      }
      const bool alike = f->mesh->groups[g].dimension == f->mesh->groups[*out].dimension;
      char sentence[300];
      snprintf(sentence, sizeof sentence,
               alike ? "'%.80s' is the name of several regions of the mesh; give the number of one"
                     : "'%.80s' is a group of %s of the mesh and also a region; give one of them "
                       "another name",
               name, facets_of(f->mesh));
      return fail(f, f->integral->on_at, sentence);
    }
    if (*out >= 0) return KEDGE_OK;
  }
  return no_such_group(f, name);
}

/// The first of a set of names.
static const char *first_of(unsigned names)
{
  int k = 0;
  while (!(names >> k & 1)) ++k;
  return kg_integral_names[k];
}

static kedge_status check_names(const finding *f, const kg_integral_place *at, unsigned names)
{
  char sentence[400];
  const kg_group *const group = at->group < 0 ? NULL : &f->mesh->groups[at->group];
  const char *const facets = facets_of(f->mesh);
  if (names & KG_NAMES_OF_SPACE && !kg_mesh_in_space(f->mesh)) {
    snprintf(sentence, sizeof sentence, "it names %s, and the mesh is one of the plane",
             first_of(names & KG_NAMES_OF_SPACE));
    return fail(f, f->integral->of_at, sentence);
  }
  if ((group && kg_is_edge_group(f->mesh, group)) || !(names & KG_NAMES_OF_LINES)) return KEDGE_OK;
  snprintf(sentence, sizeof sentence,
           "%s has a value on %s alone, and '%.80s' is %s; take a group of %s with on",
           first_of(names & KG_NAMES_OF_LINES), facets, group ? group->name : "all",
           group ? "a region" : "the whole domain", facets);
  return fail(f, f->integral->of_at, sentence);
}

kedge_status kg_integral_find(kedge_context *ctx, const kedge_problem *problem,
                              const kg_wanted_integral *integral, const kedge_mesh *mesh,
                              kg_integral_place *out)
{
  finding f = {.ctx = ctx, .problem = problem, .integral = integral, .mesh = mesh};
  if (integral->name)
    snprintf(f.who, sizeof f.who, "[integral %.80s]: ", integral->name);
  else
    snprintf(f.who, sizeof f.who, "%s: ", integral->who ? integral->who : "the integral");
  *out = (kg_integral_place){.group = -1};
  if (problem && integral->name && !integral->of)
    return fail(&f, integral->on_at, "there is no expression; add of = u, for example");
  if (integral->on) KG_TRY(find_group(&f, integral->on, &out->group));
  const kg_group *const group = out->group < 0 ? NULL : &mesh->groups[out->group];
  out->inside = group && kg_is_edge_group(mesh, group) && group->count == 0;
  if (integral->of && kg_expression_uses(integral->of, KG_OP_Z) && !kg_mesh_in_space(mesh))
    return fail(&f, integral->of_at, "it names z, and the mesh is one of the plane");
  return check_names(&f, out, integral->of ? kg_expression_fields(integral->of) : 0);
}

kedge_status kg_integrals_check(kedge_context *ctx, const kedge_problem *problem,
                                const kedge_mesh *mesh)
{
  kg_integral_place ignored;
  if (problem->n_integrals > 0 && problem->cells_only)
    return kg_problem_fail(ctx, problem, kg_settings_find(&problem->settings, "output", "fields"),
                           "fields = cells keeps means over elements alone, of which [integral %s] "
                           "cannot be made; write fields = full",
                           problem->integrals[0].name);
  for (int i = 0; i < problem->n_integrals; ++i)
    KG_TRY(kg_integral_find(ctx, problem, &problem->integrals[i], mesh, &ignored));
  return KEDGE_OK;
}
