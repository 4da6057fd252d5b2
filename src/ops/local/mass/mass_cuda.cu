// mass_cuda.cu: load += factor (mass u, phi), integrals of mass u, norms of u.
// Layout  [group][mode or point][lane], lane fastest; phi [point][mode], the same for all threads.
// Map     a thread is an element: its sums are in local memory where it has points.
// Cost    reads u, weights and load, writes load.
#include "device/cuda_each.cuh"
#include "ops/local/mass/mass.h"

extern "C" kedge_status kg_mass_add_cuda(kedge_context *ctx, const kg_mass_args *a)
{
  return kg_do_each<128, kg_mass_element>(ctx, "mass", a->n_elements, *a);
}

extern "C" kedge_status kg_mass_integral_cuda(kedge_context *ctx, const kg_mass_args *a)
{
  return kg_do_each<128, kg_mass_element_integral>(ctx, "mass integral", a->n_elements, *a);
}

extern "C" kedge_status kg_mass_norm_cuda(kedge_context *ctx, const kg_mass_args *a)
{
  return kg_do_each<128, kg_mass_element_norm>(ctx, "mass norm", a->n_elements, *a);
}
