#include "multigrid/coarse.h"

#ifdef KEDGE_WITH_HYPRE
#include "multigrid/coarse_hypre.h"
#endif

const kg_coarse_table *kg_coarse_table_of(kedge_coarse_solver kind)
{
  static const kg_coarse_table *const tables[KEDGE_COARSE_SOLVER_COUNT] = {
      [KEDGE_COARSE_SOLVER_AMG] = &kg_amg,
#ifdef KEDGE_WITH_HYPRE
      [KEDGE_COARSE_SOLVER_HYPRE] = &kg_hypre,
#endif
  };
  return tables[kind];
}
