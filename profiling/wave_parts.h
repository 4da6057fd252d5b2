/// @file
/// A stage of Maxwell's equations in vacuum between conductors as Kloeckner, Warburton, Bridge &
/// Hesthaven, J. Comput. Phys. 228 (2009) 7863 make it, in kernels one behind another and in single
/// precision, for the stage of kedge (ops/waves/stage.h), which is one kernel, to stand beside.
///
///   gather         flux = |F_l| / (2 J) f at the nodes of all facets
///   lift           rhs = LIFT flux
///   differentiate  rhs += sum_a A(g_a) D_a u
///   update         residual = before residual + step rhs,   u += after residual
///   one            all of them without flux and rhs in memory: next, residual from u
///
/// Their one tuned number is the elements of a block.
#pragma once
#include "basis/nodal.h"
#include "device/backend.h"
#include "mesh/mesh.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef enum wave_part {
  WAVE_GATHER,
  WAVE_LIFT,
  WAVE_DIFFERENTIATE,
  WAVE_UPDATE,
  WAVE_ONE,
  WAVE_PARTS
} wave_part;

enum { WAVE_FIELDS = 6, WAVE_THREADS_MAX = 512 };  ///< E, then H

/// What the kernels read.
typedef struct wave_parts_args {
  int32_t n_elements;
  int order, n, columns;      ///< nodes of an element, and of all its facets
  const float *derivative;    ///< [a][j][i]: transposed, for threads i beside each other
  const float *lift;          ///< [column][i]
  const int32_t *facet_node;  ///< [column]
  const float *gradient;      ///< [element][a][axis]: g_a
  const float *facet;         ///< [element][facet][4]: n outward, |F| / (2 J)
  const int32_t *beyond;      ///< [element][facet]: the side of the neighbour, -1: a conductor
  float before, step, after;
  float *u, *next, *residual, *rhs;  ///< [field][element][n]
  float *flux;                       ///< [field][element][columns]
} wave_parts_args;

typedef struct wave_parts {
  kedge_context *ctx;
  wave_parts_args args;
  kg_buffer tables[6], state;
} wave_parts;

/// @param[in]  nodal  of tetrahedra
/// @param[out] out    all fields are 0; wave_parts_close()
kedge_status wave_parts_open(kedge_context *ctx, const kedge_mesh *mesh, const kg_nodal *nodal,
                             wave_parts *out);
void wave_parts_close(wave_parts *parts);

/// Whether a block can have so many elements.
bool wave_part_fits(const wave_parts_args *args, wave_part part, int elements);
kedge_status wave_part_run(kedge_context *ctx, const wave_parts_args *args, wave_part part,
                           int elements);
kedge_status wave_part_run_cuda(kedge_context *ctx, const wave_parts_args *args, wave_part part,
                                int elements);
/// Each number that is not of a table counts once.
kg_cost wave_part_cost(const wave_parts_args *args, wave_part part);

/// Bytes of a block that differentiates, lifts, or does all at once.
static inline size_t wave_part_shared(const wave_parts_args *a, wave_part part, int elements)
{
  const size_t u = part == WAVE_DIFFERENTIATE || part == WAVE_ONE ? (size_t)a->n : 0;
  const size_t flux = part == WAVE_LIFT || part == WAVE_ONE ? (size_t)a->columns : 0;
  return WAVE_FIELDS * (u + flux) * (size_t)elements * sizeof(float);
}

KG_INLINE int64_t wave_place(const wave_parts_args *a, int field, int32_t element, int node)
{
  return ((int64_t)field * a->n_elements + element) * a->n + node;
}

KG_INLINE void wave_cross(const float *a, const float *b, float *c)
{
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

/// |F| / (2 J) f at a node of a facet: f_E = (-n x [H] + n x (n x [E])) / 2, f_H likewise.
KG_INLINE void wave_flux(const wave_parts_args *a, int32_t element, int column, float *f)
{
  const int n_facet = a->columns / 4, l = column / n_facet, node = a->facet_node[column];
  const float *const facet = a->facet + ((int64_t)element * 4 + l) * 4;
  const int32_t beyond = a->beyond[(int64_t)element * 4 + l];
  float jump[WAVE_FIELDS], e[3], h[3], ne = 0.0f, nh = 0.0f;
  for (int i = 0; i < WAVE_FIELDS; ++i) {
    const float own = a->u[wave_place(a, i, element, node)];
    if (beyond < 0) {
      jump[i] = i < 3 ? 2.0f * own : 0.0f;
    } else {
      const int there = a->facet_node[kg_side_facet((kg_side)beyond) * n_facet + column % n_facet];
      jump[i] = own - a->u[wave_place(a, i, kg_side_element((kg_side)beyond), there)];
    }
  }
  wave_cross(facet, jump, e);
  wave_cross(facet, jump + 3, h);
  for (int k = 0; k < 3; ++k) {
    ne += facet[k] * jump[k];
    nh += facet[k] * jump[3 + k];
  }
  for (int k = 0; k < 3; ++k) {
    f[k] = 0.5f * facet[3] * (facet[k] * ne - jump[k] - h[k]);
    f[3 + k] = 0.5f * facet[3] * (facet[k] * nh - jump[3 + k] + e[k]);
  }
}

/// rhs += A(g_a) slope of one a.
KG_INLINE void wave_along(const float *g, const float *slope, float *rhs)
{
  float e[3], h[3];
  wave_cross(g, slope + 3, e);
  wave_cross(slope, g, h);
  for (int k = 0; k < 3; ++k) {
    rhs[k] += e[k];
    rhs[3 + k] += h[k];
  }
}

/// The end of a stage of one number.
KG_INLINE void wave_end(const wave_parts_args *a, int64_t at, float rhs, float *next)
{
  const float before = a->before == 0.0f ? 0.0f : a->before * a->residual[at];
  const float residual = before + a->step * rhs;
  a->residual[at] = residual;
  next[at] = a->u[at] + a->after * residual;
}

KEDGE_END_DECLS
