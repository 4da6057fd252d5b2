// Findings about faults that a solve that went well may hide: a right-hand side that was forgotten;
// a mean of u that has few digits; triangles so flat that the residual says little; a smoother that
// does not suit the mesh. One is an error: a right-hand side that is lost, as its square is 0.
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "diagnose/predicates.h"
#include "linear/system.h"
#include "problem/keys.h"
#include "problem/located.h"

/// A file of those into which a mesh was split.
bool kg_finds_split(kg_diagnosis *d)
{
  const kedge_mesh_info *const info = &d->mesh->info;
  kg_say_number(d, "%.0f", info->partition);
  kg_say_number(d, info->partitions > 0 ? " of %.0f" : "", info->partitions);
  return info->partition > 0;
}

/// Curves that a file identifies with others.
bool kg_finds_periodic_lines(kg_diagnosis *d)
{
  return (double)d->mesh->info.periodic_lines > d->threshold;
}

/// Straight elements that nobody asked for, of a disk or a ring, or where a map bends the boundary.
bool kg_finds_polygon(kg_diagnosis *d)
{
  return d->mesh->is_polygon && !kg_mesh_in_space(d->mesh);
}

/// The boundary is bent by a map in space, where faces stay plane.
bool kg_finds_plane_faces(kg_diagnosis *d)
{
  return d->mesh->is_polygon && kg_mesh_in_space(d->mesh);
}

/// Curves of a file made of lower order.
bool kg_finds_flattened(kg_diagnosis *d)
{
  kg_say_number(d, "%.0f", d->mesh->geometry);
  kg_say_number(d, "%.0f", d->mesh->flattened);
  return d->mesh->flattened > 0;
}

/// Maps of more than one order above that of u.
bool kg_finds_high_geometry(kg_diagnosis *d)
{
  const int order = d->problem->order, geometry = d->mesh->geometry;
  kg_say_number(d, "%.0f", geometry);
  kg_say_number(d, "%.0f", order);
  kg_say_number(d, "%.0f", geometry - d->threshold);
  return geometry - order > d->threshold;
}

/// The iteration had nothing to do, though there are unknowns.
bool kg_finds_zero(kg_diagnosis *d)
{
  return d->report->converged && d->report->start_residual == 0.0 && d->layout->count.n_free > 0;
}

/// Neither a source nor boundary values other than 0.
bool kg_finds_no_data(kg_diagnosis *d)
{
  if (!kg_finds_zero(d)) return false;
  for (size_t i = 0; i < d->n_boundary; ++i)
    if (d->boundary[i] != 0.0) return false;
  return d->resolved->equation.source.kind == KG_FUNCTION_NONE;
}

/// The largest |f| at the centres of elements, as soon as it is more than `enough`.
static double largest_source(const kg_diagnosis *d, double enough)
{
  enum { CHUNK = 256 };
  const kg_function *f = &d->resolved->equation.source;
  const kedge_mesh *mesh = d->mesh;
  double largest = 0.0;
  if (f->kind == KG_FUNCTION_NONE) return 0.0;
  if (f->kind == KG_FUNCTION_CONSTANT) return fabs(f->constant);
  for (int32_t e = 0; e < mesh->n_elements && largest <= enough;) {
    double x[3 * CHUNK], memory[KG_LOCATED * CHUNK], value[CHUNK];
    const kg_located at = kg_located_in(memory, CHUNK);
    int n = 0;
    for (; n < CHUNK && e < mesh->n_elements; ++n, ++e)
      kg_locate_middle(&at, (size_t)n, CHUNK, mesh, e, x);
    const kedge_points points = kg_located_at(&at, mesh, (size_t)n, x, CHUNK);
    kg_function_evaluate(f, &points, value);
    for (int i = 0; i < n; ++i) largest = fmax(largest, fabs(value[i]));
  }
  return largest;
}

/// Data that are not 0, but so small that the square of the first residual is 0. A source makes a
/// residual of h^2 its size. Larger data may belong to triangles without free edges.
bool kg_refuses_lost_data(kg_diagnosis *d)
{
  if (!kg_finds_zero(d)) return false;
  const double least = sqrt(d->threshold), part = d->scale * d->square;
  d->status = kg_function_bring(&d->resolved->equation.source);
  if (d->status != KEDGE_OK) return false;
  double largest = part * largest_source(d, least / part);
  for (size_t i = 0; i < d->n_boundary; ++i) largest = fmax(largest, fabs(d->boundary[i]));
  if (largest < least && largest != 0.0)
    d->status = KG_FAIL(d->ctx, KEDGE_ERR_NUMERIC, KG_SYSTEM_TOO_SMALL, largest);
  return false;
}

static void say_part(kg_diagnosis *d, const double *at)
{
  char z[24] = "";
  if (kg_mesh_in_space(d->mesh)) snprintf(z, sizeof z, ", %.6g", at[2]);
  snprintf(d->place, sizeof d->place, "of the part around (%.6g, %.6g%s) ", at[0], at[1], z);
}

/// Without Dirichlet edges reaction, or Robin conditions, have to hold the mean of u against
/// entries of K^e that are 1 over the share as large. Rounding may change some thousands of units
/// over that, on stretched triangles some ten thousands (docs/math.md#little-reaction).
bool kg_finds_little_reaction(kg_diagnosis *d)
{
  const kg_hold *hold = &d->resolved->hold;
  const double change = (d->is_stretched ? 25000.0 : 2000.0) * DBL_EPSILON / hold->share;
  char *const place = d->place;
  place[0] = '\0';
  if (hold->part >= 0) say_part(d, hold->at);
  kg_say_word(d, place);
  kg_say_word(d, !hold->by_robin ? "neumann and reaction"
                 : kg_mesh_in_space(d->mesh)
                     ? "neumann or robin and (reaction + coefficient * boundary / volume)"
                     : "neumann or robin and (reaction + coefficient * boundary / area)");
  kg_say_number(d, "%.0e", hold->share);
  kg_say_number(d, "%.0e", change);
  kg_say_number(d, "%.0f", floor(-log10(change)));
  return d->report->converged && change > d->threshold;
}

/// A condition that brings in what it should take away.
bool kg_finds_negative_robin(kg_diagnosis *d)
{
  if (!(d->robin.least < d->threshold)) return false;
  kg_say_word(d, d->mesh->groups[d->robin.least_group].name);
  kg_say_number(d, "%.3g", d->robin.least);
  return true;
}

/// Rows of edges whose coefficient is large beside diffusion / h are as much larger in the
/// residual, which then says as much less about the other rows.
bool kg_finds_large_robin(kg_diagnosis *d)
{
  const double h = sqrt(d->square), ratio = d->scale * d->robin.most * h / d->material.diffusion;
  if (!(ratio * d->report->relative_residual > d->threshold)) return false;
  kg_say_word(d, d->mesh->groups[d->robin.most_group].name);
  kg_say_number(d, "%.0e", ratio);
  return d->report->converged;
}

static bool moves(kg_diagnosis *d, double part, const double *at)
{
  kg_say_number(d, "%.2g", 100.0 * part);
  kg_say_place(d, "%.4g", at);
  return part > d->threshold;
}

/// A rule that the problem asks for has too few points.
bool kg_finds_short_rule(kg_diagnosis *d)
{
  const kg_loads_left *const left = &d->loads_left;
  const bool source = left->source >= left->boundary;
  if (d->problem->load_quadrature == 0) return false;
  kg_say_number(d, "%.0f", (double)d->problem->load_quadrature);
  kg_say_word(d, source ? "the source" : "boundary values");
  return source ? moves(d, left->source, left->source_at)
                : moves(d, left->boundary, left->boundary_at);
}

/// A coefficient that is as rough as the source.
bool kg_finds_rough_coefficient(kg_diagnosis *d)
{
  if (!d->loads_left.coefficient) return false;
  kg_say_word(d, d->loads_left.coefficient);
  kg_say_place(d, "%.4g", d->loads_left.coefficient_at);
  return true;
}

/// A source that is not integrated to the end.
bool kg_finds_moving_source(kg_diagnosis *d)
{
  return moves(d, d->loads_left.source, d->loads_left.source_at);
}

/// A source that is rough in more elements than are integrated by parts.
bool kg_finds_untried_source(kg_diagnosis *d)
{
  if (d->loads_left.untried == 0) return false;
  kg_say_number(d, "%.2g", (double)d->loads_left.untried);
  return moves(d, d->loads_left.source, d->loads_left.source_at);
}

/// Boundary values likewise.
bool kg_finds_moving_boundary(kg_diagnosis *d)
{
  return moves(d, d->loads_left.boundary, d->loads_left.boundary_at);
}

/// A coefficient of [equation] for which every region has one of its own.
bool kg_finds_unread_key(kg_diagnosis *d)
{
  kg_say_word(d, d->resolved->unread);
  return d->resolved->unread != NULL;
}

/// Points for integrals of local matrices that are made without them.
bool kg_finds_idle_quadrature(kg_diagnosis *d)
{
  return d->problem->quadrature > 0 && !d->integrates;
}

/// A parameter that no expression has. Those of data come with each solve.
bool kg_finds_unused_parameter(kg_diagnosis *d)
{
  const char *const name = d->takes_data ? NULL : kg_settings_unused(&d->problem->settings);
  kg_say_word(d, name);
  return name != NULL;
}

/// Elements 1e5 times as long as wide. Conditions are the square of that, beside which a residual
/// of 1e-10 leaves nothing of u that is sure.
bool kg_finds_flat_triangles(kg_diagnosis *d)
{
  const double angle = d->mesh->info.min_angle;
  kg_say_number(d, "%.0e", angle);
  kg_say_word(d, kg_mesh_in_space(d->mesh) ? "tetrahedra" : "triangles");
  return d->report->converged && angle < d->threshold;
}

/// Iterations are so many that smoother = line may take less time, where elements are so long that
/// it follows them; tensors that are turned against elements it does not.
bool kg_finds_many_iterations(kg_diagnosis *d)
{
  const kedge_report *r = d->report;
  kg_say_number(d, "%.0f", (double)r->iterations);
  return r->converged && d->is_stretched && d->has_plain_cycle &&
         (double)r->iterations >= d->threshold;
}
