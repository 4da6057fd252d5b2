// element_values_cuda.cu: values at points from one number an element (element_values.h).
// Map     thread = value: neighbours write neighbours, and a point's lanes read 32 elements
// Cost    8 bytes a value, and of an element 12 beside
#include "device/cuda_each.cuh"
#include "ops/sample/element_values.h"

extern "C" kedge_status kg_element_values_cuda(kedge_context *ctx, const kg_element_values_args *a)
{
  return kg_do_each<256, kg_element_value>(ctx, "values of elements", kg_element_values_count(a),
                                           *a);
}
