/// @file
/// The elements, or facets, whose integrals move with more points, and these integrals.
///
/// A cut is tried where values are rough. An integral that moves, beside its size and the sizes
/// that those grow to from neighbour to neighbour, is made by parts, and kept if it moves beside
/// the mean. A peak may lie between the points of a neighbour: where an integral turns out to be
/// twice what was seen, or more, its neighbours are cut too, and theirs. What comes out depends on
/// the values alone: not on threads or on the order of what is given.
#pragma once
#include "device/context.h"
#include "integrals/adaptive.h"
#include "mesh/mesh.h"

enum {
  KG_TRIED_MOST = 1 << 16,    ///< elements that are tried: the roughest
  KG_CUTS_MOST = 1 << 9,      ///< of one of them
  KG_CUTS_MOST_ALL = 1 << 16  ///< of all of them, but that each has KG_CUTS_LEAST
};
enum {
  KG_CUTS_LEAST = 16,
  KG_LEVELS_BEFORE = 3  ///< of a neighbour: a peak of a 30th of it at its end has a point then
};

/// What an integral has to move by, beside its size, to be made by parts: less than that is nothing
/// beside what a solution of the order leaves of data that are smooth.
static inline double kg_least_move(int order)
{
  return order == 1 ? 1e-4 : order == 2 ? 1e-5 : KG_INTEGRAL_TOLERANCE;
}

typedef struct kg_refining {
  kg_integrand integrand;
  int32_t n_items;
  double least;  ///< kg_least_move()
  double whole;  ///< the sum of the sizes of all items, as points see them
  bool judges;   ///< nothing is integrated by parts: what the rough ones move is left
  /// What a part costs beside one of an element of the plane: the bounds above are of as many less.
  /// 0: as much
  int cost;
  const void *user;
  /// @param[out] to  the neighbours of an item @return how many there are
  int (*neighbours)(const void *user, int32_t item, int32_t to[KG_FACETS_MAX]);
} kg_refining;

/// What was integrated by parts. Of zeros: nothing.
typedef struct kg_refined {
  int32_t n;
  int32_t *item;    ///< [n], ascending
  double *sums;     ///< [n][integrals]
  double size;      ///< their sum
  double moved;     ///< the sum of what parts change
  double left;      ///< the sum of what is left where a bound was reached, or of what was not tried
  int64_t untried;  ///< about how many move and were not integrated by parts
  int32_t worst;    ///< the item of which most is left
  double worst_left;
} kg_refined;

/// @param[in,out] n, rough  the items of rough values, ascending; where they are more than
///                          KG_TRIED_MOST, the roughest are put first
kedge_status kg_refine(kedge_context *ctx, const kg_refining *of, int32_t n, int32_t *rough,
                       kg_refined *out);
void kg_refined_free(kg_refined *refined);
/// The first of them that is not before an item.
int32_t kg_refined_from(const kg_refined *refined, int32_t item);
