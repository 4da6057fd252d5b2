// Whether a problem determines u in every part of the domain: without Dirichlet edges constants are
// solutions of the homogeneous problem, unless reaction or Robin coefficients exclude them by more
// than rounding does.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "problem/hold.h"

typedef struct judge {
  kedge_context *ctx;
  const kedge_problem *problem;
  const kedge_mesh *mesh;
  const kg_resolved *resolved;
  kg_holds holds;
} judge;

/// The share of the diffusion that holds the mean of u, as kg_hold has it.
static double share_of(const kg_part_hold *h, double held)
{
  return held == 0.0 ? 0.0 : held / h->diffusion;
}

/// Whether a share is nothing beside the rounding of K^e, at the least that it was in any
/// measurement (docs/math.md#little-reaction). A share that is no number is something.
static bool is_nothing(double share)
{
  return share < 8.0 * DBL_EPSILON;
}

static bool is_free(const kg_part_hold *h)
{
  return !h->fixed && is_nothing(share_of(h, h->reaction + h->added));
}

/// The setting to blame where all boundaries are neumann: a --set of a type, else the first
/// section's type.
static const kg_setting *place_of_types(const kedge_problem *p)
{
  for (int i = 0; i < p->n_boundaries; ++i)
    if (p->boundaries[i].type_at->origin == KG_FROM_OVERRIDE) return p->boundaries[i].type_at;
  return p->n_boundaries > 0 ? p->boundaries[0].type_at : NULL;
}

enum { REACTION_TEXT = 160 };

/// What reaction is: 0, or nothing beside rounding.
static void say_reaction(const judge *j, const kg_part_hold *h, char text[REACTION_TEXT])
{
  const double share = share_of(h, h->reaction + h->added);
  if (share == 0.0)
    snprintf(text, REACTION_TEXT, "reaction is 0");
  else
    snprintf(text, REACTION_TEXT, "%s * h^2 is only %.0e of the diffusion, less than its rounding",
             j->resolved->has_robin ? "(reaction + coefficient * boundary / area)" : "reaction",
             share);
}

/// The sentence for a domain of one part.
static kedge_status fail_whole(const judge *j)
{
  const kg_part_hold *h = j->holds.hold;
  char reaction[REACTION_TEXT];
  if (h->robin < 0.0)
    return kg_problem_fail(
        j->ctx, j->problem, place_of_types(j->problem),
        "robin coefficients are negative, boundaries are neumann but for them, and reaction is 0: "
        "the operator is not positive definite, and kedge cannot solve the problem; make one "
        "boundary dirichlet, or reaction or coefficients positive");
  say_reaction(j, h, reaction);
  return kg_problem_fail(
      j->ctx, j->problem, place_of_types(j->problem),
      "all boundaries are neumann%s and %s: the solution is determined only up to a "
      "constant; make one boundary dirichlet or reaction positive",
      !j->resolved->has_robin ? ""
      : h->added > 0.0        ? " or robin"
                              : " or robin without a positive coefficient",
      reaction);
}

/// Add a name to a list, unless there is no room.
static void add_name(char *list, size_t size, const char *name)
{
  const size_t length = strlen(list);
  if (length + strlen(name) + 8 > size) return;
  snprintf(list + length, size - length, "%s'%s'", length ? ", " : "", name);
}

static bool is_region(const kedge_mesh *mesh, int group, int32_t tag)
{
  return !kg_is_edge_group(mesh, &mesh->groups[group]) && mesh->groups[group].tag == tag;
}

/// Which groups of the mesh a part has elements or edges of. @param[out] has  [group]
static void find_groups(const judge *j, int32_t which, bool *has)
{
  const kedge_mesh *mesh = j->mesh;
  int region = 0;  // elements of a region often follow each other
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge)
    if (mesh->edge_group[edge] >= 0 &&
        j->holds.part[kg_side_element(mesh->edge_sides[2 * edge])] == which)
      has[mesh->edge_group[edge]] = true;
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const int32_t tag = mesh->element_region[e];
    if (j->holds.part[e] != which) continue;
    if (!is_region(mesh, region, tag))
      for (region = 0; !is_region(mesh, region, tag);) ++region;
    has[region] = true;
  }
}

/// The middle of the first element of a part.
static void point_of(const kedge_mesh *mesh, const int32_t *part, int32_t which, double at[3])
{
  int32_t e = 0;
  while (part[e] != which) ++e;
  kg_element_middle(mesh, e, at);
}

/// The sentence for a part: where it lies, its groups, and what to do.
static kedge_status fail_part(const judge *j, int32_t which)
{
  const kedge_mesh *mesh = j->mesh;
  const kg_part_hold *h = &j->holds.hold[which];
  char regions[200] = "", boundaries[200] = "", reaction[REACTION_TEXT];
  long long elements = 0;
  bool *has;
  KG_TRY(kg_host_calloc(j->ctx, (size_t)mesh->n_groups, sizeof *has, &has));
  find_groups(j, which, has);
  for (int g = 0; g < mesh->n_groups; ++g)
    if (has[g])
      add_name(kg_is_edge_group(mesh, &mesh->groups[g]) ? boundaries : regions, sizeof regions,
               mesh->groups[g].name);
  free(has);
  for (int32_t e = 0; e < mesh->n_elements; ++e) elements += j->holds.part[e] == which;
  double at[3];
  char z[32] = "";
  point_of(mesh, j->holds.part, which, at);
  if (kg_mesh_in_space(mesh)) snprintf(z, sizeof z, ", %.6g", at[2]);
  say_reaction(j, h, reaction);
  return kg_problem_fail(
      j->ctx, j->problem, kg_mesh_setting(j->problem),
      "part %d of %lld of the mesh (%lld %s around (%.6g, %.6g%s), region %s, boundary %s) has "
      "only %s and %s: the solution there is determined only up to a constant; give it a dirichlet "
      "boundary or make reaction positive, or, if the parts should be joined, give them common "
      "%s",
      which + 1, (long long)mesh->info.parts, elements, kg_mesh_shapes(mesh, elements), at[0],
      at[1], z, regions, boundaries,
      !j->resolved->has_robin ? "neumann boundaries"
      : h->added > 0.0        ? "neumann and robin boundaries"
                              : "neumann boundaries and robin ones without a positive coefficient",
      reaction,
      kg_mesh_in_space(mesh) ? "faces (Coherence in Gmsh)"
                             : "edges ([mesh] join = DISTANCE, or Coherence in Gmsh)");
}

/// The part that is held least, of those that need reaction or Robin conditions.
static kg_hold least_hold(const judge *j)
{
  const kg_holds *all = &j->holds;
  kg_hold least = {.share = INFINITY, .part = -1};
  for (int32_t p = 0; p < all->n; ++p) {
    const kg_part_hold *h = &all->hold[p];
    const double share = h->fixed ? INFINITY : share_of(h, h->reaction + h->robin);
    if (!(share < least.share) || share < 0.0) continue;
    least = (kg_hold){.share = share, .part = all->n > 1 ? p : -1, .by_robin = h->added > 0.0};
  }
  if (least.part >= 0) point_of(j->mesh, all->part, least.part, least.at);
  return least;
}

kedge_status kg_problem_check_determined(kedge_context *ctx, const kedge_problem *problem,
                                         const kedge_mesh *mesh, kg_resolved *resolved)
{
  judge j = {.ctx = ctx, .problem = problem, .mesh = mesh, .resolved = resolved};
  bool fixed = false;
  for (int g = 0; g < mesh->n_groups; ++g)
    fixed = fixed || (kg_is_edge_group(mesh, &mesh->groups[g]) && mesh->groups[g].count > 0 &&
                      resolved->boundaries[g].type == KEDGE_BOUNDARY_DIRICHLET);
  resolved->hold = (kg_hold){.share = INFINITY, .part = -1};
  if (fixed && mesh->info.parts <= 1) return KEDGE_OK;
  KG_TRY(kg_holds_measure(ctx, problem, mesh, resolved, &j.holds));
  int32_t n_loose = 0, loose = 0;
  for (int32_t p = j.holds.n; p-- > 0;)
    if (is_free(&j.holds.hold[p])) ++n_loose, loose = p;
  kedge_status status = KEDGE_OK;
  if (n_loose == 0)
    resolved->hold = least_hold(&j);
  else
    status = n_loose == j.holds.n ? fail_whole(&j) : fail_part(&j, loose);
  kg_holds_free(&j.holds);
  return status;
}
