#include "linear/krylovs.h"

/// Methods, the quickest first.
static const kg_krylov_table *const methods[] = {&kg_cg_one_kernel, &kg_cg_loop, NULL};

const kg_krylov_table *kg_krylov_for(const kg_linear *linear, const kg_precond *precond)
{
  const kg_krylov_table *const *table = methods;
  while (*table && !(*table)->takes(linear, precond)) ++table;
  return *table;
}
