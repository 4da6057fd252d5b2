#include "ops/local/recover/postprocess.h"

#include "device/context.h"

KG_OPERATOR(kg_postprocess, kg_postprocess_args)

kg_cost kg_postprocess_cost(kg_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, S = size.n_star - 1, K = size.n_rotation;  // the mean is known
  const double A = (size.order + 1) * (size.order + 1) / 4, B = K - A;  // A rotations are diagonal
  const double solve = 10 * A + A * B * (B + 1) + 5 * A * B + B * B * B / 3 + 2 * B * B;
  const double products = 4 * N * K + 2 * S * N;  // T p, T^T y, the potential
  const double flops = solve + products + 14 * N + 3 * S;
  const double bytes = 8.0 * (3 * N + S + 2) + 3 * 4 + 8;
  return (kg_cost){.bytes = bytes * (double)n_elements, .flops = flops * (double)n_elements};
}
