/// @file
/// What a stage reads (ops/waves/stage.h), for host code, kernels and NVRTC, which has this file as
/// text behind the types that it needs.
#pragma once
#include "ops/ops.h"
#include "ops/real.h"

enum {
  KG_WAVE_LANES = 8,   ///< elements of a group
  KG_WAVE_BLOCK = 32,  ///< elements of a block of the fused kernel, at most
  KG_WAVE_FIELDS_MAX = 6,
  KG_WAVE_NUMBERS_MAX = 5,     ///< of the medium of an element
  KG_WAVE_PROPERTIES_MAX = 3,  ///< of a material, as problems give them
};

typedef struct kg_wave_kernel kg_wave_kernel;

/// What a facet on the boundary does. With what absorbs and what lets waves in the flux is that of
/// characteristics, whatever `upwind` is.
typedef enum kg_wave_side_kind {
  KG_WAVE_REFLECTS,
  KG_WAVE_RELEASES,
  KG_WAVE_ABSORBS,
  KG_WAVE_ENTERS,
  KG_WAVE_KINDS
} kg_wave_side_kind;

typedef struct kg_wave_side {
  int32_t kind;
  int32_t data;  ///< its place among the data; -1: they are 0
} kg_wave_side;

/// Numbers are of the type that `number` says, whatever the type of pointers is where it is read.
typedef struct kg_wave_args {
  kg_number number;
  int32_t n_groups;
  int n, n_facet, n_facets, dimension, n_fields, n_numbers;
  const kg_real *derivative, *lift;  ///< as of kg_nodal
  const int32_t *facet_node;
  const kg_real *gradient;  ///< [group][dimension][dimension][lane]: parts of g_0, then g_1, ...
  const kg_real *facet;     ///< [group][facet][dimension + 1][lane]: n outward, |F| / (2 J)
  const kg_real *medium;    ///< [group][number][lane]
  const int32_t *beyond;    ///< [group][facet][lane]: the side of the neighbour, or -1 - i
  const kg_wave_side *boundary;  ///< [i]
  const kg_real *data;           ///< [place][field][n_facet]: fields of the boundary
  double upwind;
  double before, step, after;
  const kg_real *u;   ///< [element][field][n]
  kg_real *residual;  ///< kg_wave_residual_place()
  kg_real *next;
  kg_wave_kernel *kernel;  ///< of stages on the GPU; NULL: the plain one
  int block;  ///< elements of a block of it, whose threads have the residual; 0: it lies as u
} kg_wave_args;

/// Where field f of a node is.
KG_INLINE int64_t kg_wave_place(const kg_wave_args *a, int32_t element, int f, int node)
{
  return ((int64_t)element * a->n_fields + f) * a->n + node;
}
/// Where the residual is: as u lies, or as the threads of stage_straight.cuh have it.
KG_INLINE int64_t kg_wave_residual_place(const kg_wave_args *a, int32_t element, int f, int node)
{
  if (a->block == 0) return kg_wave_place(a, element, f, node);
  const int lane = element % a->block;
  return (int64_t)(element - lane) * a->n_fields * a->n + (node * a->n_fields + f) * a->block +
         lane;
}
