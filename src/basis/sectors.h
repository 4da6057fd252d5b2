/// @file
/// Nodes of a tetrahedron are symmetric under exchange of its vertices 0 and 1, and of 2 and 3.
/// Sums and differences of the values at the nodes of an orbit, by the sign that each exchange
/// gives them, are parts of four sectors, and
///
///   sum_a D_a w_a = sum_b E_b (sum_a combine_ba w_a)
///
/// where E_b, derivatives along the edges 01 and 23 and from the middle of one to that of the
/// other, and LIFT take each sector to one sector: a quarter of the products. A triangle has one
/// sector, of which every node is an orbit, and E_b = D_b.
///
/// An exchange is a bit: member g of an orbit is its first node after the exchanges g, and has the
/// sign (-1)^(bits of g and s) in sector s. Where an exchange leaves the first node where it is,
/// members repeat, and sectors whose sign it changes have no part of the orbit.
#pragma once
#include "basis/nodal.h"
KEDGE_BEGIN_DECLS

enum { KG_SECTORS_MAX = 4 };

/// All of one piece of memory.
typedef struct kg_sectors {
  int n;                              ///< sectors: 4 or 1
  int n_orbits, n_columns;            ///< orbits of nodes, and of nodes of facets
  int32_t (*orbit)[KG_SECTORS_MAX];   ///< [n_orbits][member]: nodes
  int32_t (*column)[KG_SECTORS_MAX];  ///< [n_columns][member]: facet n_facet + node of the facet
  int32_t (*row)[KG_SECTORS_MAX];     ///< [n_orbits][sector]: its place among all; -1: it has none
  int32_t begin[KG_SECTORS_MAX + 1];  ///< of the places of each sector; the last is kg_nodal.n
  int shift[3];                       ///< E_b takes sector s to s ^ shift[b]
  double combine[3][3];
  /// What E_b makes of the sum over an orbit of sign times value: added to each place of the sector
  /// s ^ shift[b]. The value at member g is the sum of (sign times place) over sectors.
  double *derivative;  ///< [n_orbits][b][place]; a place is reached from one sector
  double *lift;        ///< [n_columns][place]
} kg_sectors;

/// @param[in]  n    KG_SECTORS_MAX, of tetrahedra alone, or 1: every node is an orbit
/// @param[out] out  kg_sectors_free()
kedge_status kg_sectors_create(kedge_context *ctx, const kg_nodal *nodal, int n, kg_sectors *out);
void kg_sectors_free(kg_sectors *sectors);
/// How many places each of n sectors has, which takes no time. @param[in] n  as above
void kg_sector_sizes(const kg_nodal *nodal, int n, int size[KG_SECTORS_MAX]);
/// Whether a sector has a part of an orbit. @param[in] member  [KG_SECTORS_MAX]
bool kg_sector_has_part(const int32_t *member, int sector);

static inline int kg_sector_sign(int sector, int member)
{
  const int both = sector & member;
  return (both ^ both >> 1) & 1 ? -1 : 1;
}

KEDGE_END_DECLS
