/// @file
/// Vertex modes of the trace: what smoothing by edges is slow at from order 5 on. Errors are left
/// there that have a value at a vertex, on the ends of all its edges, and fall fast along them. A
/// block of one edge cannot see that its neighbours have it too; linear functions fall slowly.
///
/// The mode phi of a vertex with an unknown (ops/numbering/vertex_space.h) is, on each of its
/// edges, 1 at the vertex and 0 at the other end, without a mean, and else least in the sum of (2 k
/// + 1) c_k^2 over its modes, which the energy of the trace resembles. That is half the mean of all
/// Legendre polynomials P_k of odd k <= P and half the mean of those of even k, without k = 0:
///
///     c_k = 1 / (n_k sqrt(4 k + 2)),   n_k modes of the parity of k;  (-1)^k c_k at a lower vertex
///
/// Smoothing adds sum_v phi_v weight_v phi_v . (r - A z) to B^-1 (r - A z)
/// (ops/smooth/edge_smooth.h), as Jacobi's iteration does. Without mode 0 they do not see A P c of
/// a coarse c (ops/smooth/vertex_flux.h).
#pragma once
#include <float.h>

#include "ops/local/entry.h"
#include "ops/real.h"
#include "ops/numbering/trace_arrays.h"
#include "ops/numbering/vertex_space.h"
KEDGE_BEGIN_DECLS

/// The share of its own best step that a mode takes, because neighbours share edges. At even orders
/// half is more than a step bears on thin triangles, and costs iterations where the valence of
/// vertices alternates (docs/multigrid.md).
KG_INLINE double kg_vertex_mode_step(int order)
{
  return order % 2 == 0 ? 0.4 : 0.5;
}

/// Arrays in device memory.
typedef struct kg_vertex_modes {
  kg_vertex_space space;
  double *weight;  ///< [unknown]: kg_vertex_mode_step() / phi . A phi; 0 where it is fixed
  double *value;   ///< [unknown]: of kg_vertex_modes_restrict(); NULL: there are no modes
  double
      *part;  ///< work [free trace edge][2]: phi . (r - A z) on it, of its lower and higher vertex
  double shape[KEDGE_ORDER_MAX + 1];  ///< c_k
} kg_vertex_modes;

typedef struct kg_vertex_modes_args {
  kg_batch batch;
  kg_locals locals;
  kg_vertex_modes modes;  ///< weight is filled
  double *element;        ///< work: [group][3 or 4][lane], phi . K^e phi of the corners
  int32_t *fault;         ///< work, one word: the first unknown without a weight
} kg_vertex_modes_args;

/// c_0 to c_P, c_0 = 0.
void kg_vertex_mode_shape(int order, double *shape);

/// Two passes, one writer for every word: corners of elements, then vertices. Waits for the device.
/// @retval KEDGE_ERR_NUMERIC  an energy phi . A phi is not positive; the sentence says where
KG_DECLARE_OPERATOR(kg_vertex_modes_fill, kg_vertex_modes_args);
kg_cost kg_vertex_modes_cost(int m, const kg_trace_counts *count, int32_t n_vertices,
                             kg_number local);

/// c_i K^e_ij c_j of sides s and t, summed over modes i, j of even (0) and odd (1) numbers.
typedef struct kg_vertex_mode_sums {
  double of[2][2];
} kg_vertex_mode_sums;

KG_INLINE kg_vertex_mode_sums kg_vertex_mode_sum(const kg_vertex_modes_args *a, int32_t e, int s,
                                                 int t)
{
  const int m = a->batch.m;
  const kg_local_element element = kg_local_element_of(&a->locals, m, e);
  kg_vertex_mode_sums sum = {{{0.0, 0.0}, {0.0, 0.0}}};
  for (int i = 1; i < m; ++i)
    for (int j = 1; j < m; ++j)
      sum.of[i & 1][j & 1] +=
          a->modes.shape[i] * a->modes.shape[j] * kg_local_entry(&element, s, i, t, j);
  return sum;
}

/// phi . K^e phi on sides s and t, phi of their higher vertices, or with the sign -1 of the lower.
KG_INLINE double kg_vertex_mode_form(const kg_vertex_mode_sums *sum, double sign_s, double sign_t)
{
  return sum->of[0][0] + sign_s * sum->of[1][0] + sign_t * sum->of[0][1] +
         sign_s * sign_t * sum->of[1][1];
}

/// phi . K^e phi of the corners of an element: corner l is where side l begins.
KG_INLINE void kg_vertex_mode_corners(const kg_vertex_modes_args *a, int n, int32_t e)
{
  double corner[4] = {0.0, 0.0, 0.0, 0.0}, begin[4];  // signs of the vertices where sides begin
  for (int l = 0; l < n; ++l) {
    begin[l] = a->batch.arrays.side_edge[kg_facet_at(&a->batch.arrays, e, l)] & 1u ? 1.0 : -1.0;
    const kg_vertex_mode_sums sum = kg_vertex_mode_sum(a, e, l, l);
    corner[l] += kg_vertex_mode_form(&sum, begin[l], begin[l]);
    corner[kg_next_facet(n, l)] += kg_vertex_mode_form(&sum, -begin[l], -begin[l]);
  }
  for (int l = 0; l < n; ++l) {
    const int before = kg_facet_before(n, l);  // the side that ends here
    const kg_vertex_mode_sums sum = kg_vertex_mode_sum(a, e, l, before);
    corner[l] += 2.0 * kg_vertex_mode_form(&sum, begin[l], -begin[before]);
  }
  for (int l = 0; l < n; ++l) a->element[kg_facet_at(&a->batch.arrays, e, l)] = corner[l];
}

/// Fill in the element of a lane, if it has one.
KG_INLINE void kg_vertex_mode_element(const kg_vertex_modes_args *a, int32_t e)
{
  const kg_local *local = kg_local_of_lane(&a->locals, e);
  if (e - local->first_lane >= local->n_elements) return;
  if (kg_facets_of_lane(&a->batch.arrays, e) == 3)
    kg_vertex_mode_corners(a, 3, e);
  else
    kg_vertex_mode_corners(a, 4, e);
}

/// The weight of a vertex; each of its elements is met once, from the side that begins there.
/// @return false: its energy is not positive and finite
KG_INLINE bool kg_vertex_mode_weigh(const kg_vertex_modes_args *a, int32_t i)
{
  const kg_vertex_space *space = &a->modes.space;
  const kg_trace_arrays *arrays = &a->batch.arrays;
  double energy = 0.0;
  for (int32_t k = space->begin[i]; k < space->begin[i + 1]; ++k) {
    const int32_t edge = space->ends[k] >> 1, end = space->ends[k] & 1;
    for (int of = 0; of < 2; ++of) {
      const kg_side side = arrays->edge_sides[2 * (int64_t)edge + of];
      if (side != KG_NO_SIDE && kg_side_begins_at(arrays, side, end))
        energy += a->element[kg_side_at(arrays, side)];
    }
  }
  const bool is_fixed = kg_vertex_is_fixed(space, i);
  a->modes.weight[i] = is_fixed ? 0.0 : kg_vertex_mode_step(a->batch.m - 1) / energy;
  return is_fixed || (energy > 0.0 && energy <= DBL_MAX);
}

/// The modes of a trace edge of z += step sum_v phi_v value_v, of one of K vectors.
/// @param[in,out] z  the next mode is `stride` numbers on
KG_INLINE void kg_vertex_modes_add(const kg_vertex_modes *modes, int m, int32_t edge, double step,
                                   int K, int vector, kg_real *z, int stride)
{
  int32_t end[2];
  kg_edge_vertices(&modes->space.mesh, edge, end);
  const double low = step * modes->value[(int64_t)end[0] * K + vector];
  const double high = step * modes->value[(int64_t)end[1] * K + vector];
  const double odd = high - low, even = high + low;
  for (int k = 1; k < m; ++k) z[k * stride] += (kg_real)(modes->shape[k] * (k & 1 ? odd : even));
}

KEDGE_END_DECLS
