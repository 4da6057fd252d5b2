/// @file
/// Robin conditions sigma . n + a u = g in local matrices of any shape: <a psi_i, psi_j> along a
/// facet, which may be curved, is added to K^e of the element that has it.
#pragma once
#include "ops/local/quadrature/coefficients.h"
#include "ops/local/quadrature/team.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cell_robin_args {
  kg_cell_sizes size;
  int32_t n_sides;
  const int32_t *side;        ///< [side]: element * KG_FACETS_MAX + facet, in any order, none twice
  int rows;                   ///< points of a facet, which run along the trace facet
  const double *psi;          ///< [row][m]: modes of the trace facet
  const double *coefficient;  ///< [side][row]: weight times ds/dt times a, t along the trace facet
  double *local;              ///< in and out: [group][row][lane], packed K^e
} kg_cell_robin_args;

KG_DECLARE_OPERATOR(kg_cell_robin, kg_cell_robin_args);
kg_cost kg_cell_robin_cost(kg_cell_sizes size, int rows, int64_t n_sides);

/// Side `side` of the list. No two write the same entry: each has the block of its facet.
KG_INLINE void kg_cell_robin_side(const void *arguments, int32_t side, kg_team team)
{
  const kg_cell_robin_args *args = (const kg_cell_robin_args *)arguments;
  const int32_t e = args->side[side] / KG_FACETS_MAX;
  const int m = args->size.n_facet, first = args->side[side] % KG_FACETS_MAX * m;
  const double *const a = args->coefficient + (int64_t)side * args->rows;
  for (int i = 0; i < m; ++i) KG_TEAM_EACH(team, j, 0, i + 1)
    {
      const int row = (first + i) * (first + i + 1) / 2 + first + j;
      double sum = 0.0;
      for (int q = 0; q < args->rows; ++q)
        sum += a[q] * args->psi[q * m + i] * args->psi[q * m + j];
      args->local[kg_cell_at(e, args->size.n_packed, row)] += sum;
    }
}

KEDGE_END_DECLS
