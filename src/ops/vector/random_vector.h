/// @file
/// A vector without structure, always the same: what measures an operator begins with it.
#pragma once
#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_random_vector_args {
  int64_t n;
  double *x;  ///< [n], in [-1, 1)
} kg_random_vector_args;

KG_DECLARE_OPERATOR(kg_random_vector, kg_random_vector_args);

/// Number i of the sequence, from its index alone: the mixing function of SplitMix64.
KG_INLINE double kg_random_number(int64_t i)
{
  uint64_t z = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (double)((z ^ z >> 31) >> 11) * 0x1p-52 - 1.0;
}

KG_INLINE void kg_random_entry(const kg_random_vector_args *a, int64_t i)
{
  a->x[i] = kg_random_number(i);
}

KEDGE_END_DECLS
