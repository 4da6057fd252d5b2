/// @file
/// Pairs of edges that an element couples strongly, and what smoothing by edges lacks there. Where
/// elements are stretched, or a tensor or a curve does as much, they couple edges in chains: errors
/// that are constant along a chain leave each of its edges nearly at rest, and no linear function
/// has them all. Two edges of a chain that are solved for at once halve the number of its links.
///
/// Edges a and b of an element couple strongly where K^e_ab < 0 and K^e_ab^2 > KG_PAIR_STRONG A_aa
/// A_bb in modes 0. No edges of squares do, nor of squares cut in two. Pairs are chosen in rounds:
/// edges without one want their strongest neighbour, and who want each other are a pair, until
/// rounds find none. A hash decides where many couple alike. The result depends on the mesh and K^e
/// alone.
///
/// With C of K^e, D_a = A_a and D_b = A_b - C D_a^-1 C^T, whose factor takes the place of that of
/// A_b (ops/smooth/edge_blocks.h), the pair's part of B^-1 x is
///
///     y_b = D_b^-1 (x_b - C D_a^-1 x_a),   y_a = D_a^-1 (x_a - C^T y_b)
///
/// Smoothing by edges makes D^-1 x of all edges; kg_pair_smooth() adds what is missing, for
/// x = r - A z, corrected by rows of A P where a correction is given.
#pragma once
#include "ops/numbering/trace_arrays.h"
#include "ops/pass.h"
#include "ops/smooth/line_factor.h"
#include "ops/smooth/vertex_flux.h"
KEDGE_BEGIN_DECLS

enum { KG_PAIR_ROUNDS = 8 /* before a look */, KG_PAIR_MODES_MAX = KEDGE_ORDER_MAX + 1 };

#define KG_PAIR_STRONG 0.12  ///< links of a chain that is coupled to nothing else have 0.25

typedef struct kg_edge_pairs_args {
  kg_batch batch;
  kg_locals locals;
  kg_number number;  ///< of what works with the factors
  int32_t *pair;     ///< [free edge]: 1 + the other edge; 0: none
  int32_t *want;     ///< work [free edge + 1]: the same; 1 + the edge itself: for good; at the end
                     ///< whether a round has found a pair, or in the end whether there is one
  float *inverse;    ///< W of kg_edge_blocks(); those of second edges are replaced
  int32_t *fault;    ///< work, one word: the first edge without an inverse
} kg_edge_pairs_args;

/// Choose pairs and factor their blocks. Waits for the device.
/// @param[out] any  whether there is a pair
/// @retval KEDGE_ERR_NUMERIC  a D_b is not positive definite in double precision; the sentence says
///         where
kedge_status kg_edge_pairs(kedge_context *ctx, const kg_edge_pairs_args *args, bool *any);
kg_cost kg_edge_pairs_cost(const kg_trace_counts *count, kg_number local);

/// Steps of kg_edge_pairs(), each for all free edges.
typedef enum kg_pairs_step { KG_PAIRS_WANT, KG_PAIRS_MATCH, KG_PAIRS_FACTOR } kg_pairs_step;
kedge_status kg_edge_pairs_cuda(kedge_context *ctx, const kg_edge_pairs_args *args,
                                kg_pairs_step step);

typedef struct kg_pair_smooth_args {
  kg_sizes size;
  int32_t n_edges;                  ///< free edges
  kg_number number;                 ///< of the vectors
  const int32_t *pair;              ///< of kg_edge_pairs(), as the next one
  const float *inverse;             ///< W
  const kg_side *sides;             ///< [edge][2]
  kg_locals locals;                 ///< K^e, in any number
  const void *r, *product;          ///< [free trace edge][mode]; NULL: A z is zero
  kg_vertex_correction correction;  ///< of the product in passing, by rows; coarse is NULL: none
  void *z;                          ///< z += step (B^-1 - D^-1) x
  double step;
  bool many;  ///< all vectors are KG_VECTORS
} kg_pair_smooth_args;

/// Thread or loop = edge; the first edge of a pair does both.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_pair_smooth, kg_pair_smooth_args);
/// The cost without that of pairs, of which there are few.
kg_cost kg_pair_smooth_cost(const kg_trace_counts *count);

/// Entry (0, 0) of the block of an edge.
KG_INLINE double kg_pair_energy(const kg_edge_pairs_args *a, int32_t edge)
{
  const kg_side *sides = a->batch.arrays.edge_sides + 2 * (int64_t)edge;
  double sum = 0.0;
  for (int of = 0; of < 2; ++of) {
    if (sides[of] == KG_NO_SIDE) continue;
    const kg_local_element e =
        kg_local_element_of(&a->locals, a->batch.reference.size.n_edge, kg_side_element(sides[of]));
    sum += kg_local_entry(&e, kg_side_facet(sides[of]), 0, kg_side_facet(sides[of]), 0);
  }
  return sum;
}

/// The highest comes first of pairs that couple alike.
KG_INLINE uint32_t kg_pair_tie(int32_t i, int32_t j)
{
  const uint32_t low = (uint32_t)(i < j ? i : j), high = (uint32_t)(i < j ? j : i);
  uint32_t h = low * 0x9e3779b9u ^ (high * 0x85ebca6bu + 0x7f4a7c15u);
  h = (h ^ h >> 16) * 0xc2b2ae35u;
  return (h ^ h >> 13) | 1u;
}

/// The strong neighbour that an edge without a pair wants, if there is one.
KG_INLINE void kg_pair_want(const kg_edge_pairs_args *a, int32_t edge)
{
  const kg_trace_arrays *arrays = &a->batch.arrays;
  int32_t best = edge;
  uint64_t key = 0;
  const bool is_free = a->pair[edge] == 0 && a->want[edge] != edge + 1;
  const double energy = is_free ? kg_pair_energy(a, edge) : 0.0;
  for (int of = 0; is_free && of < 2; ++of) {
    const kg_side side = arrays->edge_sides[2 * (int64_t)edge + of];
    if (side == KG_NO_SIDE) continue;
    const int32_t e = kg_side_element(side);
    const int n = kg_facets_of_lane(arrays, e), l = kg_side_facet(side);
    const kg_local_element element =
        kg_local_element_of(&a->locals, a->batch.reference.size.n_edge, e);
    for (int k = 0; k < n; ++k) {
      const int32_t other = (int32_t)(arrays->side_edge[kg_facet_at(arrays, e, k)] >> 1);
      if (k == l || other >= a->batch.count.n_free || a->pair[other] > 0) continue;
      const double c = kg_local_entry(&element, l, 0, k, 0);
      const double share = c * c / (energy * kg_pair_energy(a, other));
      if (!(share > KG_PAIR_STRONG) || c > 0.0) continue;
      const uint64_t of_pair = (uint64_t)(share * 0x1p31) << 32 | kg_pair_tie(edge, other);
      if (of_pair <= key) continue;
      best = other;
      key = of_pair;
    }
  }
  a->want[edge] = best + 1;
}

KG_INLINE void kg_pair_match(const kg_edge_pairs_args *a, int32_t edge)
{
  const int32_t other = a->want[edge] - 1;
  if (a->pair[edge] > 0 || other == edge || a->want[other] != edge + 1) return;
  a->pair[edge] = other + 1;
  a->want[a->batch.count.n_free] = 1;
}

/// C of a pair: row i of the second edge b, column j of the first a.
typedef struct kg_pair_coupling {
  kg_local_element element;
  int of_a, of_b;  ///< facets
} kg_pair_coupling;

KG_INLINE kg_pair_coupling kg_pair_coupling_of(const kg_locals *locals, const kg_side *sides, int m,
                                               int32_t a, int32_t b)
{
  kg_side side[2];
  kg_line_sides(sides + 2 * (int64_t)a, sides + 2 * (int64_t)b, side);
  const kg_pair_coupling c = {kg_local_element_of(locals, m, kg_side_element(side[1])),
                              kg_side_facet(side[0]), kg_side_facet(side[1])};
  return c;
}

KG_INLINE double kg_pair_entry(const kg_pair_coupling *c, int i, int j)
{
  return kg_local_entry(&c->element, c->of_b, i, c->of_a, j);
}

/// W of D_b in place of that of A_b, where an edge is the second of a pair, which is then said at
/// the end of `want`; false: there is no W.
KG_INLINE bool kg_pair_factor(const kg_edge_pairs_args *args, int32_t b)
{
  enum { MAX = KG_PAIR_MODES_MAX };
  const int m = args->batch.reference.size.n_edge;
  const int32_t a = args->pair[b] - 1;
  if (a < 0 || a > b) return true;
  args->want[args->batch.count.n_free] = 1;
  const kg_side *sides = args->batch.arrays.edge_sides;
  const kg_pair_coupling c = kg_pair_coupling_of(&args->locals, sides, m, a, b);
  double w[MAX * (MAX + 1) / 2] = {0.0}, d[MAX * (MAX + 1) / 2] = {0.0}, g[MAX][MAX];
  kg_edge_block_of(&args->locals, m, sides + 2 * (int64_t)a, w);
  kg_edge_block_of(&args->locals, m, sides + 2 * (int64_t)b, d);
  if (!kg_inverse_factor(m, w)) return false;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) {
      g[i][j] = 0.0;
      for (int k = 0; k <= j; ++k) g[i][j] += kg_pair_entry(&c, i, k) * w[kg_packed_entry(j, k)];
    }
    for (int j = 0; j <= i; ++j)
      for (int k = 0; k < m; ++k) d[kg_packed_entry(i, j)] -= g[i][k] * g[j][k];
  }
  const bool good = kg_edge_block_invert(m, args->number, d);
  float *to = args->inverse + kg_edge_block_at(m, b);
  for (int k = 0; k < m * (m + 1) / 2; ++k) to[k * KG_LANES] = (float)d[k];
  return good;
}

KEDGE_END_DECLS
