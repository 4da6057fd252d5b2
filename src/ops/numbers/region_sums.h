/// @file
/// Integrals over the elements of each region, and extrema of u at its nodes. Each record of a run
/// (space/group_sums.h) has one writer; who reads the records adds those of a region up in their
/// order.
#pragma once
#include "ops/form/form.h"
#include "ops/local/quadrature/geometry.h"
#include "ops/local/tetrahedron/point_sums.h"
#include "space/group_sums.h"
KEDGE_BEGIN_DECLS

/// Sums over elements. A scaled equation has scaled energies, sources and reactions.
typedef struct kg_region_sums {
  double area, u;       ///< volume in space; integral of u
  double energy;        ///< of q . sigma
  double jump;          ///< of tau (u - trace)^2 over the facets; 0: not wanted
  double source;        ///< of f
  double reaction;      ///< of the reaction times u
  double least, most;   ///< of u at its nodes
  int32_t least_at[2];  ///< element of the mesh, node; -1: of no element
  int32_t most_at[2];
} kg_region_sums;

typedef struct kg_region_sums_args {
  kg_elements elements;        ///< of the chunk
  kg_coefficient coefficient;  ///< of the chunk
  int32_t first_element;       ///< of the chunk, in the mesh
  int32_t first_group;         ///< of the chunk, counted through all batches
  int32_t first_run, n_runs;   ///< those that have groups of the chunk
  kg_region_runs runs;
  const double *nodes;  ///< [node of order P][N]: modes there
  int n_nodes;
  const double *load;   ///< [group][N][lane]: (f, phi_i)
  const double *u;      ///< [group][N][lane], as `flux`: what kg_form.recover() leaves
  const double *flux;   ///< likewise
  const double *trace;  ///< [trace facet][m]; NULL: jumps are not wanted
  kg_region_sums
      *sums;  ///< in and out: [record]; written where the chunk has the run's first group
} kg_region_sums_args;

KG_DECLARE_OPERATOR(kg_region_sums_add, kg_region_sums_args);
kg_cost kg_region_sums_cost(const kg_region_sums_args *args);

KG_INLINE kg_region_sums kg_no_region_sums(void)
{
  const kg_region_sums none = {0.0, 0.0,      0.0,       0.0,      0.0,
                               0.0, INFINITY, -INFINITY, {-1, -1}, {-1, -1}};
  return none;
}

/// Whether a place comes before another one in the mesh; that of no element comes last.
KG_INLINE bool kg_is_before(const int32_t a[2], const int32_t b[2])
{
  return a[0] >= 0 && (b[0] < 0 || a[0] < b[0]);
}

/// Add a part. Of equal extrema the one that comes first in the mesh is kept.
KG_INLINE void kg_region_sums_join(const kg_region_sums *part, kg_region_sums *sum)
{
  sum->area += part->area;
  sum->u += part->u;
  sum->energy += part->energy;
  sum->jump += part->jump;
  sum->source += part->source;
  sum->reaction += part->reaction;
  if (part->least < sum->least ||
      (part->least == sum->least && kg_is_before(part->least_at, sum->least_at))) {
    sum->least = part->least;
    for (int k = 0; k < 2; ++k) sum->least_at[k] = part->least_at[k];
  }
  if (part->most > sum->most ||
      (part->most == sum->most && kg_is_before(part->most_at, sum->most_at))) {
    sum->most = part->most;
    for (int k = 0; k < 2; ++k) sum->most_at[k] = part->most_at[k];
  }
}

/// Extrema of u at the nodes: some at a time, whose values stay in registers.
KG_INLINE void kg_region_extrema(const kg_region_sums_args *a, const double *u, int32_t element,
                                 kg_region_sums *e)
{
  enum { TOGETHER = 8 };
  const int N = a->elements.size.n_modes;
  for (int first = 0; first < a->n_nodes; first += TOGETHER) {
    double at[TOGETHER] = {0.0};
    for (int k = 0; k < N; ++k) {
      const double c = u[(int64_t)k * KG_LANES];
      for (int q = 0; q < TOGETHER; ++q)
        if (first + q < a->n_nodes) at[q] += a->nodes[(first + q) * N + k] * c;
    }
    for (int q = 0; q < TOGETHER; ++q) {
      if (first + q >= a->n_nodes) continue;
      if (at[q] < e->least) {
        e->least = at[q];
        e->least_at[0] = element, e->least_at[1] = first + q;
      }
      if (at[q] > e->most) {
        e->most = at[q];
        e->most_at[0] = element, e->most_at[1] = first + q;
      }
    }
  }
}

/// t_l times the integral of (u - trace)^2 over facet l, where both are polynomials of order P.
/// @param[in] lift  <psi_i, phi_j> at lift[i * by_facet + j * by_mode]
KG_INLINE double kg_facet_jump(const kg_region_sums_args *a, int32_t e, int l, double tau,
                               const double *lift, int by_facet, int by_mode)
{
  const kg_elements *const elements = &a->elements;
  const uint32_t *const sides = kg_elements_sides(elements);
  const int N = elements->size.n_modes, m = elements->size.n_facet;
  const uint32_t side = sides[kg_cell_at(e, elements->size.n_facets, l)];
  const double *const lambda = a->trace + (int64_t)(side >> 1) * m;
  double sum = 0.0;
  for (int i = 0; i < m; ++i) {
    double jump = -kg_side_sign(side, i) * lambda[i];
    for (int j = 0; j < N; ++j)
      jump += lift[i * by_facet + j * by_mode] * a->u[kg_cell_at(e, N, j)];
    sum += jump * jump;
  }
  return tau * sum;
}

/// A straight triangle with constant coefficients: its modes are orthonormal, those of q are those
/// of u, and phi_0 is 1 / sqrt(2).
KG_INLINE void kg_triangle_sums(const kg_region_sums_args *a, int32_t e, kg_region_sums *sum)
{
  const kg_batch *const batch = &a->elements.batch;
  const double root = 1.41421356237309504880, *const kappa = kg_cell_constant_diffusion(
                                                  &a->coefficient.cells, e);
  const int N = batch->reference.size.n_modes, n = batch->reference.size.n_trace;
  const kg_element element =
      kg_element_at(&batch->arrays, e / KG_LANES, e % KG_LANES, &a->coefficient.constant);
  double energy = 0.0;
  for (int i = 0; i < N; ++i) {
    const double x = a->flux[kg_cell_at(e, 2 * N, i)], y = a->flux[kg_cell_at(e, 2 * N, N + i)];
    energy += kappa[0] * x * x + 2.0 * kappa[1] * x * y + kappa[2] * y * y;
  }
  sum->area = 2.0 * element.jacobian;
  sum->u = root * element.jacobian * a->u[kg_cell_at(e, N, 0)];
  sum->energy = element.jacobian * energy;
  sum->reaction = kg_cell_constant_reaction(&a->coefficient.cells, e) * sum->u;
  sum->source = root * a->load[kg_cell_at(e, N, 0)];
  for (int l = 0; a->trace && l < 3; ++l)
    sum->jump += kg_facet_jump(a, e, l, element.tau[l],
                               batch->reference.lift + l * batch->reference.size.n_edge, 1, n);
}

/// A straight tetrahedron likewise: phi_0 is sqrt(3 / 4).
KG_INLINE void kg_tetrahedron_sums(const kg_region_sums_args *a, int32_t e, kg_region_sums *sum)
{
  const kg_tetrahedra *const cells = &a->elements.tetrahedra;
  const kg_tetrahedron_reference *const ref = &cells->reference;
  const double root = 1.15470053837925152902;  // 1 / phi_0
  const int N = ref->size.n_modes, n = ref->size.n_trace;
  const double jacobian = kg_space_jacobian(cells, e);
  sum->area = 4.0 / 3.0 * jacobian;
  sum->u = root * jacobian * a->u[kg_cell_at(e, N, 0)];
  kg_tetrahedron_energy(cells, &a->coefficient.space, a->u, a->flux, e, jacobian, &sum->energy,
                        &sum->reaction);
  sum->source = root * a->load[kg_cell_at(e, N, 0)];
  if (!a->trace) return;
  kg_tetrahedron_factors factors;
  kg_tetrahedron_mean_factors(cells, &a->coefficient.space, e, &factors);
  for (int l = 0; l < 4; ++l)
    sum->jump += kg_facet_jump(a, e, l, factors.tau[l], ref->lift + l * ref->size.n_facet, 1, n);
}

/// An element by quadrature, by the rule of its local matrix.
KG_INLINE void kg_cell_sums(const kg_region_sums_args *a, int32_t e, kg_region_sums *sum)
{
  const kg_cells *const cells = &a->elements.cells;
  const kg_cell_tables *const t = &cells->tables;
  const kg_cell_material *const material = &a->coefficient.cells;
  const int N = t->size.n_modes, S = t->size.n_flux, n_star = t->points.size.n_star;
  const int rows = kg_cell_flux_rows(S, material->keeps_gradient);
  const double *const u = a->u + kg_cell_at(e, N, 0), *const s = a->flux + kg_cell_at(e, rows, 0);
  const kg_cell_diffusion diffusion = kg_cell_diffusion_of(t, material, e);
  double x[KG_NODES_MAX], y[KG_NODES_MAX];
  kg_cell_read_nodes(cells, e, x, y);
  for (int q = 0; q < t->points.n; ++q) {
    const kg_cell_place at =
        kg_cell_place_of(t->points.n_nodes, t->points.map + 3 * q * t->points.n_nodes, 1, x, y);
    const double w = t->points.weight[q] * at.jacobian;
    double value = 0.0, along[2] = {0.0, 0.0}, sigma[2], gradient[2], kappa[3];
    for (int i = 0; i < N; ++i) value += t->points.value[q * n_star + i] * u[(int64_t)i * KG_LANES];
    for (int i = 0; i < S; ++i)
      along[i >= S / 2] += t->points.flux[q * S + i] * s[(int64_t)i * KG_LANES];
    kg_cell_flux_of(&at, along[0], along[1], sigma);
    if (material->keeps_gradient) {
      along[0] = along[1] = 0.0;
      for (int i = 0; i < S; ++i)
        along[i >= S / 2] += t->points.flux[q * S + i] * s[(int64_t)(S + i) * KG_LANES];
      kg_cell_gradient_at(&at, along[0], along[1], gradient);
    } else {
      kg_cell_diffusion_at(&diffusion, q, kappa);
      kg_cell_gradient_of(kappa, sigma, gradient);
    }
    sum->area += w;
    sum->u += w * value;
    sum->energy += w * (sigma[0] * gradient[0] + sigma[1] * gradient[1]);
    if (material->reaction != 0.0)
      sum->reaction += w * kg_cell_reaction_at(t, material, e, q) * value;
  }
  sum->source = a->load[kg_cell_at(e, N, 0)] / t->points.value[0];
  for (int l = 0; a->trace && l < t->size.n_facets; ++l)
    sum->jump += kg_facet_jump(a, e, l, kg_cell_tau_alone(cells, material, e, l),
                               t->lift + l * t->size.n_facet * N, N, 1);
}

/// The shape and layout of the elements of a range, by which their sums are made.
typedef enum kg_summed {
  KG_SUMMED_TRIANGLES,
  KG_SUMMED_BY_QUADRATURE,
  KG_SUMMED_TETRAHEDRA,
} kg_summed;

KG_INLINE kg_summed kg_summed_as(const kg_elements *elements)
{
  if (elements->size.dimension == 3) return KG_SUMMED_TETRAHEDRA;
  return elements->by_quadrature ? KG_SUMMED_BY_QUADRATURE : KG_SUMMED_TRIANGLES;
}

/// The sums of an element of the chunk.
/// @param[in] as  kg_summed_as(), which a kernel may know while it is compiled
KG_INLINE kg_region_sums kg_element_sums(const kg_region_sums_args *a, int32_t e, kg_summed as)
{
  kg_region_sums sum = kg_no_region_sums();
  if (as == KG_SUMMED_BY_QUADRATURE)
    kg_cell_sums(a, e, &sum);
  else if (as == KG_SUMMED_TETRAHEDRA)
    kg_tetrahedron_sums(a, e, &sum);
  else
    kg_triangle_sums(a, e, &sum);
  kg_region_extrema(a, a->u + kg_cell_at(e, a->elements.size.n_modes, 0), a->first_element + e,
                    &sum);
  return sum;
}

/// The part of a run that lies in the chunk: groups from *begin to *end, counted through all
/// batches. @return whether it is the first part of the run
KG_INLINE bool kg_run_part(const kg_region_sums_args *a, int32_t run, int32_t *begin, int32_t *end)
{
  const int32_t last = a->first_group + kg_elements_groups(&a->elements);
  const int32_t first = a->runs.first[run];
  *begin = first > a->first_group ? first : a->first_group;
  *end = a->runs.first[run + 1] < last ? a->runs.first[run + 1] : last;
  return first >= a->first_group;
}

/// Whether an element of the chunk, a lane of a group, belongs to a record of a run.
KG_INLINE bool kg_is_of_record(const kg_region_sums_args *a, int32_t run, int32_t record,
                               int32_t group, int lane)
{
  const int32_t e = (group - a->first_group) * KG_LANES + lane, mixed = a->runs.mixed[run];
  if (e >= a->elements.n_elements) return false;
  return mixed < 0 || a->runs.slot[mixed + lane] == record - a->runs.record[run];
}

KEDGE_END_DECLS
