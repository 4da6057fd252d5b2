/// @file
/// Aggregates are groups of a matrix's rows; each becomes a row of the coarser matrix.
///
/// i and j are strongly connected if a_ij < -theta sqrt(a_ii a_jj) and, where `share` is not 0,
/// -a_ij is more than this share of the largest in row i or in row j. (A stretched quadrilateral
/// couples its opposite corners as strongly, beside the diagonal, as a square does: a quarter of
/// the one strong coupling that it has, which aggregates across it would spoil.) The roots of
/// aggregates are a maximal set of rows of which no two are within two strong connections of each
/// other: round by round, a row that has the highest key within that distance becomes a root, and
/// no other row there can. A root's strong neighbours join its aggregate, other rows that of a
/// neighbour, each by its strongest connection. Rows without strong connections, which smoothing
/// alone solves, are in no aggregate. Keys are a hash of the row's number, which decides ties: the
/// result depends on the matrix alone. (Bell, Dalton, Olson, SIAM J. Sci. Comput. 34, 2012.)
#pragma once
#include "precondition/amg/csr.h"
#include "precondition/amg/scan.h"
KEDGE_BEGIN_DECLS

typedef struct kg_aggregate_args {
  kg_csr matrix;
  double threshold;          ///< theta^2
  double share;              ///< see above
  int32_t *strong;           ///< [entry]: its column; the row for weak ones
  int32_t *aggregate;        ///< [row]: -1: in none
  uint64_t *key, *key_near;  ///< work: [row]
  kg_scan_work work;
  int32_t *undecided;  ///< work: [1]
} kg_aggregate_args;

/// @param[out] n_aggregates  on the host
kedge_status kg_aggregate(kedge_context *ctx, const kg_aggregate_args *args, int32_t *n_aggregates);

/// The two highest bits of a key: what the row is.
#define KG_KEY_MEMBER    ((uint64_t)0 << 62)
#define KG_KEY_UNDECIDED ((uint64_t)1 << 62)
#define KG_KEY_ROOT      ((uint64_t)2 << 62)
#define KG_KEY_STATE     ((uint64_t)3 << 62)

/// 30 bits of a hash, then the number.
KG_INLINE uint64_t kg_key_of(int32_t i)
{
  uint32_t h = (uint32_t)i + 0x9e3779b9u;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  h ^= h >> 16;
  return (uint64_t)(h >> 2) << 32 | (uint32_t)i;
}

/// The largest -a_ij of a row.
KG_INLINE double kg_aggregate_strongest(const kg_csr *m, int32_t i)
{
  double strongest = 0.0;
  for (int32_t e = m->row[i]; e < m->row[i + 1]; ++e) {
    const double v = -(double)m->value[e];
    strongest = v > strongest ? v : strongest;
  }
  return strongest;
}

/// Whether -a_ij is more than the share of the largest in one of both rows.
KG_INLINE bool kg_aggregate_has_share(const kg_aggregate_args *a, double v, double strongest,
                                      int32_t j)
{
  if (a->share == 0.0 || -v > a->share * strongest) return true;
  return -v > a->share * kg_aggregate_strongest(&a->matrix, j);
}

/// Strong connections of a row, and its first key.
KG_INLINE void kg_aggregate_begin(const kg_aggregate_args *a, int32_t i)
{
  const kg_csr *m = &a->matrix;
  const int32_t begin = m->row[i], end = m->row[i + 1];
  const double strongest = a->share > 0.0 ? kg_aggregate_strongest(m, i) : 0.0;
  bool connected = false;
  for (int32_t e = begin; e < end; ++e) {
    const int32_t j = m->column[e];
    const double v = (double)m->value[e];
    const double bound = a->threshold * (m->diagonal[i] * m->diagonal[j]);
    const bool strong = v < 0.0 && v * v > bound && kg_aggregate_has_share(a, v, strongest, j);
    a->strong[e] = strong ? j : i;
    connected = connected || strong;
  }
  a->key[i] = kg_key_of(i) | (connected ? KG_KEY_UNDECIDED : KG_KEY_MEMBER);
}

/// The highest of the row's key and those of its strong neighbours.
KG_INLINE uint64_t kg_highest_key(const kg_aggregate_args *a, const uint64_t *key, int32_t i)
{
  uint64_t highest = key[i];
  for (int32_t e = a->matrix.row[i]; e < a->matrix.row[i + 1]; ++e) {
    const uint64_t other = key[a->strong[e]];
    highest = other > highest ? other : highest;
  }
  return highest;
}

KG_INLINE void kg_aggregate_look(const kg_aggregate_args *a, int32_t i)
{
  a->key_near[i] = kg_highest_key(a, a->key, i);
}

/// Decide on a row, given the highest keys next to its neighbours; false: it stays undecided.
KG_INLINE bool kg_aggregate_decide(const kg_aggregate_args *a, int32_t i)
{
  const uint64_t key = a->key[i];
  if ((key & KG_KEY_STATE) != KG_KEY_UNDECIDED) return true;
  const uint64_t highest = kg_highest_key(a, a->key_near, i);
  const uint64_t number = key & ~KG_KEY_STATE;
  if (highest == key)
    a->key[i] = number | KG_KEY_ROOT;
  else if ((highest & KG_KEY_STATE) == KG_KEY_ROOT)
    a->key[i] = number | KG_KEY_MEMBER;
  else
    return false;
  return true;
}

KG_INLINE bool kg_is_root(const kg_aggregate_args *a, int32_t i)
{
  return (a->key[i] & KG_KEY_STATE) == KG_KEY_ROOT;
}

KG_INLINE void kg_aggregate_count_root(const kg_aggregate_args *a, int32_t i)
{
  a->work.length[i] = kg_is_root(a, i);
}

/// The row to which a row has its strongest connection among roots, or among those that have an
/// aggregate in `length`; -1: none.
KG_INLINE int32_t kg_aggregate_nearest(const kg_aggregate_args *a, bool roots, int32_t i)
{
  int32_t found = -1;
  double strongest = 0.0;
  for (int32_t e = a->matrix.row[i]; e < a->matrix.row[i + 1]; ++e) {
    const int32_t j = a->strong[e];
    const double value = (double)a->matrix.value[e];
    const bool candidate = roots ? kg_is_root(a, j) : a->work.length[j] >= 0;
    if (j != i && candidate && value < strongest) {
      strongest = value;
      found = j;
    }
  }
  return found;
}

/// Roots have their numbers: `length` takes the aggregates of roots and their neighbours.
KG_INLINE void kg_aggregate_join_roots(const kg_aggregate_args *a, int32_t i)
{
  const int32_t root = kg_is_root(a, i) ? i : kg_aggregate_nearest(a, true, i);
  a->work.length[i] = root < 0 ? -1 : (int32_t)a->work.begin[root];
}

/// Write the aggregate of a row: its own in `length`, else that of the neighbour with which it has
/// the strongest connection among those that have one.
KG_INLINE void kg_aggregate_join_members(const kg_aggregate_args *a, int32_t i)
{
  const int32_t near = a->work.length[i] >= 0 ? i : kg_aggregate_nearest(a, false, i);
  a->aggregate[i] = near < 0 ? -1 : a->work.length[near];
}

/// Keys and strong connections; a round, after which *undecided is not 0 if another one is needed;
/// length = 1 for roots; aggregates, given begin.
kedge_status kg_aggregate_begin_cuda(kedge_context *ctx, const kg_aggregate_args *args);
kedge_status kg_aggregate_round_cuda(kedge_context *ctx, const kg_aggregate_args *args);
kedge_status kg_aggregate_roots_cuda(kedge_context *ctx, const kg_aggregate_args *args);
kedge_status kg_aggregate_join_cuda(kedge_context *ctx, const kg_aggregate_args *args);

KEDGE_END_DECLS
