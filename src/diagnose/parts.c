// Findings about elements that touch, or lie on each other, and do not hang together.
#include <stdio.h>

#include "diagnose/predicates.h"

bool kg_finds_overlapping(kg_diagnosis *d)
{
  const kedge_mesh_info *const info = &d->mesh->info;
  const bool in_space = kg_mesh_in_space(d->mesh);
  const double at[3] = {info->overlapping_at[0], info->overlapping_at[1], info->overlapping_z};
  kg_say_point(d, "%.6g", at);
  kg_say_word(d, in_space ? "volume" : "area");
  return (double)d->mesh->info.overlapping_edges > d->threshold;
}

/// A slit whose banks are in groups with conditions of their own is meant; parts that touch, and
/// edges that [boundary default] takes, may not be.
static bool may_be_forgotten(const kg_diagnosis *d, const kg_touch *touch)
{
  const struct kg_resolved_boundary *const all = d->resolved->boundaries;
  return touch->apart || all[d->mesh->edge_group[touch->edge]].is_rest ||
         all[d->mesh->edge_group[touch->other]].is_rest;
}

bool kg_finds_unjoined(kg_diagnosis *d)
{
  const kedge_mesh *mesh = d->mesh;
  const kg_touch *first = NULL;
  int64_t n = 0;
  for (int64_t i = 0; i < mesh->n_touches; ++i) {
    if (!may_be_forgotten(d, &mesh->touches[i])) continue;
    if (n++ == 0) first = &mesh->touches[i];
  }
  if (n == 0) return false;
  kg_say_number(d, "%.0f", (double)n);
  kg_say_word(d, kg_mesh_in_space(mesh) ? "faces" : "edges");
  kg_say_point(d, "%.6g", first->at);
  snprintf(d->place, sizeof d->place,
           mesh->info.join_distance > 0.0 ? "[mesh] join = %.0e joins them"
                                          : "mesh both sides with common vertices (Coherence in "
                                            "Gmsh)",
           mesh->info.join_distance);
  kg_say_word(d, d->place);
  return (double)n > d->threshold;
}

bool kg_finds_nothing_joined(kg_diagnosis *d)
{
  kg_say_number(d, "%.3g", d->problem->join);
  return d->problem->join > d->threshold && d->mesh->info.joined_vertices == 0;
}
