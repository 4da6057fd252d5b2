// Findings about the fields of a solution, from sums of them: numbers that are not finite, and u or
// u* that misleads.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "basis/cell_tables.h"
#include "device/loop.h"
#include "diagnose/predicates.h"
#include "problem/located.h"

/// Two words: the middle of an element.
static void say_place(kg_diagnosis *d, int32_t element)
{
  double at[3];
  kg_element_middle(d->mesh, element, at);
  kg_say_place(d, "%.6g", at);
}

/// u itself is lost: an error.
bool kg_refuses_lost_u(kg_diagnosis *d)
{
  if (d->fields->bad_u < 0) return false;
  say_place(d, d->fields->bad_u);
  d->status = KG_FAIL(d->ctx, KEDGE_ERR_NUMERIC,
                      "u is not finite in the element at x = %s, y = %s: check the source, "
                      "coefficients and boundary values for overflow",
                      d->word[0], d->word[1]);
  return false;
}

/// A field beside u that the solver has found lost.
bool kg_finds_lost_field(kg_diagnosis *d)
{
  if (!d->lost.field) return false;
  kg_say_word(d, d->lost.field);
  say_place(d, d->lost.element);
  return true;
}

/// Points where q has values are asked in so many elements of a block: in that of the least
/// diffusion of each of as many ranges. It vanishes at single points, or along lines.
enum { ASKED = 1024, TOGETHER = 256 };

/// Points that are collected, to be evaluated together.
typedef struct batch {
  int n;
  double x[TOGETHER], y[TOGETHER], memory[KG_LOCATED * TOGETHER];
  kg_located at;
} batch;

/// The least entry of the diffusion on its diagonal, NaN where one is no number.
static double least_entry(double xx, double xy, double yy)
{
  return isnan(xx + xy + yy) ? NAN : fmin(xx, yy);
}

/// Keep the first point of a batch at which q is not finite, and empty the batch.
static bool finds_lost_gradient(const kg_diagnosis *d, batch *b)
{
  double value[4 * TOGETHER];
  const int n = b->n;
  const kedge_points points = kg_located_points(&b->at, d->mesh, (size_t)n, b->x, b->y);
  if (n > 0) kg_coefficients_evaluate(&d->resolved->equation, &points, value);
  b->n = 0;
  for (int i = 0; i < n; ++i) {
    const double s = d->scale, xx = value[i], xy = value[n + i], yy = value[2 * n + i];
    // As q is computed (kg_cell_gradient_of()).
    if (isfinite(1.0 / (s * xx * (s * yy) - s * xy * (s * xy)))) continue;
    d->gradient->found = true;
    d->gradient->at[0] = b->x[i];
    d->gradient->at[1] = b->y[i];
    d->gradient->diffusion = least_entry(xx, xy, yy);
    return true;
  }
  return false;
}

/// Add points of an element, where the map takes them as it does for output.
static void add_points(const kedge_mesh *mesh, const kg_cell_points *nodes, int begin, int end,
                       int32_t element, batch *b)
{
  const int32_t *const v = kg_element_vertices(mesh, element);
  const int V = nodes->n_nodes;
  for (int q = begin; q < end; ++q) {
    const double *const map = nodes->map + 3 * q * V;
    double at[2] = {0.0, 0.0};
    for (int l = 0; l < V; ++l)
      for (int k = 0; k < 2; ++k)
        at[k] += map[l] * (mesh->nodes ? kg_element_nodes(mesh, element)[2 * l + k]
                                       : mesh->vertices[2 * (int64_t)v[l] + k]);
    kg_locate(&b->at, (size_t)b->n, mesh, element, nodes->r[q], nodes->s[q]);
    b->x[b->n] = at[0];
    b->y[b->n++] = at[1];
  }
}

/// Ask all nodes of an element, with others.
static bool look_at_nodes(const kg_diagnosis *d, const kg_cell_points *nodes, int32_t element,
                          batch *b)
{
  for (int q = 0; q < nodes->n;) {
    const int left = nodes->n - q, n = left < TOGETHER - b->n ? left : TOGETHER - b->n;
    add_points(d->mesh, nodes, q, q + n, element, b);
    q += n;
    if (b->n == TOGETHER && finds_lost_gradient(d, b)) return true;
  }
  return false;
}

/// The element of a range that has the least diffusion in its middle, or a first one that has none
/// there.
static int32_t least_of(const kg_diagnosis *d, int32_t begin, int32_t end)
{
  double x[3 * TOGETHER], memory[KG_LOCATED * TOGETHER], value[4 * TOGETHER];
  const kg_located at = kg_located_in(memory, TOGETHER);
  double least = INFINITY;
  int32_t found = begin;
  for (int32_t first = begin; first < end; first += TOGETHER) {
    const int n = end - first < TOGETHER ? end - first : TOGETHER;
    for (int i = 0; i < n; ++i) kg_locate_middle(&at, (size_t)i, TOGETHER, d->mesh, first + i, x);
    const kedge_points points = kg_located_at(&at, d->mesh, (size_t)n, x, TOGETHER);
    kg_coefficients_evaluate(&d->resolved->equation, &points, value);
    for (int i = 0; i < n; ++i) {
      const double here = least_entry(value[i], value[n + i], value[2 * n + i]);
      if (here >= least) continue;
      found = first + i;
      if (isnan(here)) return found;
      least = here;
    }
  }
  return found;
}

/// Choose the elements of a block whose nodes are asked. @param[out] asked  [ASKED]
/// @return how many
static int choose(const kg_diagnosis *d, const kg_block *block, int32_t *asked)
{
  const int32_t stride = (block->n + ASKED - 1) / ASKED, n = (block->n + stride - 1) / stride;
#pragma omp parallel for num_threads(kg_loop_threads(d->ctx, block->n, 64))
  for (int32_t i = 0; i < n; ++i) {
    const int32_t begin = i * stride, end = block->n - begin < stride ? block->n : begin + stride;
    asked[i] =
        stride == 1 ? block->first + begin : least_of(d, block->first + begin, block->first + end);
  }
  return n;
}

/// The nodes of an order, of elements of a block.
static kedge_status look_at_block(const kg_diagnosis *d, const kg_block *block,
                                  const int32_t *asked, int n, int node_order)
{
  double *values;
  kg_cell_points nodes;
  batch b = {.n = 0};
  bool found = false;
  KG_TRY(kg_cell_nodes_create(d->ctx, block->cell, d->problem->order, d->mesh->geometry, node_order,
                              &values, &nodes));
  b.at = kg_located_in(b.memory, TOGETHER);
  for (int i = 0; i < n && !found; ++i) found = look_at_nodes(d, &nodes, asked[i], &b);
  if (!found) finds_lost_gradient(d, &b);
  free(values);
  return KEDGE_OK;
}

static kedge_status look_for_lost_gradient(const kg_diagnosis *d)
{
  int32_t asked[ASKED];
  KG_TRY(kg_coefficients_bring(&d->resolved->equation));
  for (int k = 0; k < d->mesh->n_blocks; ++k) {
    const kg_block *const block = &d->mesh->block[k];
    const int n = choose(d, block, asked);
    for (int more = 0; more < 2 && !d->gradient->found; ++more)
      KG_TRY(look_at_block(d, block, asked, n, d->problem->order + more));
  }
  d->gradient->known = true;
  return KEDGE_OK;
}

/// Diffusion that varies has a value at the nodes where q = diffusion^-1 sigma is computed for who
/// asks, and is used nowhere else.
bool kg_finds_lost_gradient(kg_diagnosis *d)
{
  const kg_lost_gradient *const g = d->gradient;
  if (!d->resolved->varies || d->keeps_means) return false;
  if (kg_mesh_in_space(d->mesh)) return false;  // q is kept there, and sigma is made of it
  if (!g->known) d->status = look_for_lost_gradient(d);
  if (d->status != KEDGE_OK || !g->found) return false;
  const bool none = isnan(g->diffusion);
  kg_say_place(d, "%.6g", g->at);
  kg_say_number(d, none ? "not a number" : "%.3g", g->diffusion);
  kg_say_word(d, none ? "has a value everywhere" : "stays away from 0");
  return true;
}

/// Norms of which squares leave double precision, or that a field is lost for.
bool kg_finds_lost_error(kg_diagnosis *d)
{
  const kedge_report *const r = d->report;
  const double norm[] = {r->u_l2, r->u_linf, r->q_l2, r->u_star_l2, r->sigma_l2};
  static const char *const names[] = {"u", "u", "q", "u*", "the flux"};
  int k = 0;
  while (k < 5 && isfinite(norm[k])) ++k;
  if (k == 5) return false;
  kg_say_word(d, names[k]);
  say_place(d, d->lost_error);
  return true;
}

/// On fewer elements modes of order P + 1 alone are next to nothing by chance, where a symmetric
/// solution has none; and on fewer than the second number everything is a layer.
enum { LEAST_FOR_MODES = 100, LEAST_FOR_RANGE = 8 };

/// Whether a difference is more than the iteration leaves of a u* between these values.
static bool is_more_than_noise(const kg_diagnosis *d, double difference)
{
  const double size = fmax(fabs(d->fields->star_least), fabs(d->fields->star_most));
  return difference > fmax(1e-4, 10.0 * d->report->relative_residual) * size;
}

/// Data that more than one part of so many is between points may make u* - u large themselves.
enum { PARTS_OF_LOADS = 100 };

static bool has_rough_loads(const kg_diagnosis *d)
{
  const kg_loads_left *const left = &d->loads_left;
  const double most = fmax(left->moved, fmax(left->source, left->boundary));
  return left->coefficient || PARTS_OF_LOADS * most > 1.0;
}

/// u* - u is large, and most of it in modes that u has too: u is as much farther from the solution
/// than polynomials of its order are. With a stabilization that is small for the scale of the
/// solution u loses that, and u*, made from q, does not (docs/math.md#units). It is said where u is
/// off by a twentieth of half the range of u* at twenty times, by a hundredth at a hundred. With
/// three periods across the domain it comes to fifteen times, and finer elements mend both. Data
/// with peaks between points make u* - u large for other reasons.
bool kg_finds_poor_u(kg_diagnosis *d)
{
  const kg_field_sums *const f = d->fields;
  const double off = sqrt(f->shared / d->mesh->info.area), times = sqrt(f->shared / f->rest);
  const double part = off / (0.5 * (f->star_most - f->star_least));
  const double length = d->report->stabilization_length;
  if (d->keeps_means || f->n < LEAST_FOR_MODES || has_rough_loads(d)) return false;
  kg_say_number(d, "%.3g", off);
  kg_say_number(d, "%.5g", f->star_least);
  kg_say_number(d, "%.5g", f->star_most);
  kg_say_number(d, "%.0f", times);
  kg_say_number(d, "%.0f", (double)d->problem->order);
  if (length > 0.0) {
    kg_say_word(d, "a smaller [space] length, as ");
    kg_say_number(d, "%.2g", 2.0 * length / times);
  } else {
    kg_say_word(d, "a larger stabilization");
    kg_say_word(d, "");
  }
  return times > d->threshold && part > 0.01 && part * times > 1.0 && is_more_than_noise(d, off);
}

/// Least and most of the Dirichlet values at the corners of faces.
static void dirichlet_range_in_space(const kg_diagnosis *d, double *least, double *most)
{
  const int m = kg_triangle.n_modes(d->problem->order);
  const size_t first = (size_t)d->layout->count.n_neumann * (size_t)m;
  long double psi[3][KG_SPACE_FACET_MAX];
  for (int l = 0; l < 3; ++l) {
    const long double at[2] = {kg_triangle.corner[l][0], kg_triangle.corner[l][1]};
    kg_triangle.modes(d->problem->order, at, psi[l], NULL);
  }
  for (size_t i = first; d->boundary && i + (size_t)m <= d->n_boundary; i += (size_t)m)
    for (int l = 0; l < 3; ++l) {
      double value = 0.0;
      for (int k = 0; k < m; ++k) value += (double)psi[l][k] * d->boundary[i + (size_t)k];
      *least = fmin(*least, value);
      *most = fmax(*most, value);
    }
}

/// Least and most of the Dirichlet values at the ends of facets.
static void dirichlet_range(const kg_diagnosis *d, double *least, double *most)
{
  if (kg_mesh_in_space(d->mesh)) {
    dirichlet_range_in_space(d, least, most);
    return;
  }
  const int m = d->problem->order + 1;
  const size_t first = (size_t)d->layout->count.n_neumann * (size_t)m;
  double end[KEDGE_ORDER_MAX + 1];
  for (int k = 0; k < m; ++k) end[k] = sqrt(k + 0.5);
  for (size_t i = first; d->boundary && i + (size_t)m <= d->n_boundary; i += (size_t)m) {
    double sum[2] = {0.0, 0.0};
    for (int k = 0; k < m; ++k) {
      const double value = end[k] * d->boundary[i + (size_t)k];
      sum[0] += value;
      sum[1] += k % 2 ? -value : value;
    }
    *least = fmin(*least, fmin(sum[0], sum[1]));
    *most = fmax(*most, fmax(sum[0], sum[1]));
  }
}

/// The root of diffusion / reaction is less than half the distance of points that tell modes apart.
static bool has_thin_layers(const kg_diagnosis *d)
{
  const double m = d->problem->order + 1;
  return d->material.reaction * d->square > 4.0 * m * m * d->material.diffusion;
}

/// u* leaves the range of u and of the Dirichlet values: it bends where u, or the trace, jumps over
/// an element that is wider than a layer. Where the numbers of the equation say nothing of layers,
/// as those of the most diffusion need not, it has to leave it four times as far: coarse meshes see
/// half of that.
bool kg_finds_poor_star(kg_diagnosis *d)
{
  const kg_field_sums *const f = d->fields;
  double least = f->u_least, most = f->u_most;
  if (d->keeps_means || f->n < LEAST_FOR_RANGE) return false;
  dirichlet_range(d, &least, &most);
  const double below = least - f->star_least, above = f->star_most - most;
  const double over = fmax(below, above);
  kg_say_number(d, "%.5g", f->star_least);
  kg_say_number(d, "%.5g", f->star_most);
  kg_say_number(d, "%.5g", least);
  kg_say_number(d, "%.5g", most);
  say_place(d, below > above ? f->least_at : f->most_at);
  const double part = has_thin_layers(d) ? d->threshold : 4.0 * d->threshold;
  return over > part * (most - least) && is_more_than_noise(d, over);
}
