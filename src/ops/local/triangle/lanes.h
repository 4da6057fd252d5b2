/// @file
/// Dense algebra of the host backend: as many elements at a time as a SIMD register has lanes.
///
/// A pack holds the same entry of these elements. A group of 32 elements is 4 to 16 packs wide.
/// Symmetric matrices are packed lower triangles of packs: entry (i, j), j <= i, at i (i+1) / 2 +
/// j.
#pragma once
#include "ops/local/triangle/element.h"
#include "ops/ops.h"

/// Vectors that are wider than a register go through memory after every operation.
#if defined(__AVX512F__)
enum { KG_PACK = 8 };
#elif defined(__AVX__)
enum { KG_PACK = 4 };
#else
enum { KG_PACK = 2 };
#endif
enum { KG_PACKS = KG_LANES / KG_PACK };
/// May alias: rows of arrays of double are read and written as packs.
typedef double kg_pack __attribute__((vector_size(KG_PACK * sizeof(double)), may_alias));

/// kg_element of the elements of a pack; the same members in the same order.
typedef struct kg_element_pack {
  kg_pack jacobian, mass, stiffness[3], tau[3], lift_r[3], lift_s[3], trace[6];
  kg_pack grad_r[2], grad_s[2], half_normal[3][2], tangent[2][2], turned[2][2];
  kg_pack turned_r[2], turned_s[2];
} kg_element_pack;

/// Geometry of pack `part` of a group.
void kg_lanes_elements(const kg_trace_arrays *arrays, const kg_materials *materials, int64_t group,
                       int part, kg_element_pack *out);

/// Elimination of the modes p of degree P, among which Z^-1 is c I (docs/math.md#by-hand), with
/// c = reaction J + (P + 1) sum_l tau_l: factors of what it leaves.
typedef struct kg_top_pack {
  kg_pack per_c;    ///< 1 / c
  kg_pack edge[3];  ///< of an edge with itself: tau_l - (P + 1) tau_l^2 / c
  kg_pack pair[3];  ///< of edges l and k, in place l + k - 1: -tau_l tau_k / c
} kg_top_pack;

void kg_lanes_top(int order, const kg_element_pack *e, kg_top_pack *top);
/// a = what is left of Z^-1 of the elements of a pack, packed K x K.
void kg_lanes_local_operator(const kg_reference *ref, const kg_element_pack *e,
                             const kg_top_pack *top, kg_pack *a);
/// f [N], of all modes, less in those of degree below P what the others leave there, and that
/// itself in terms of the trace: edge[n], (tau_l / c) F_pl^T f_p.
void kg_lanes_eliminate(const kg_reference *ref, const kg_element_pack *e, const kg_top_pack *top,
                        kg_pack *f, kg_pack *edge);

/// a = L in place; the diagonal holds 1 / L_ii.
void kg_lanes_cholesky(int n, kg_pack *a);
/// w = L^-1 w, w [n][cols].
void kg_lanes_forward(int n, int cols, const kg_pack *l, kg_pack *w);
/// x = L^-T x, one column.
void kg_lanes_backward(int n, const kg_pack *l, kg_pack *x);

/// Work on pack `part` of a group, with the scratch of a thread.
typedef void kg_lanes_body(const void *args, int64_t group, int part, kg_pack *scratch);
/// Do it for all packs of `n_groups` groups, each thread for a part of the groups.
/// @param[in] n_packs  of scratch that a thread needs
kedge_status kg_lanes_run(kedge_context *ctx, int32_t n_groups, size_t n_packs, kg_lanes_body *body,
                          const void *args);

/// The pack `part` of row `row` of an array [group][rows][lane].
static inline kg_pack *kg_lanes_row(double *array, int64_t group, int rows, int row, int part)
{
  return (kg_pack *)(array + (group * rows + row) * KG_LANES) + part;
}
static inline const kg_pack *kg_lanes_row_const(const double *array, int64_t group, int rows,
                                                int row, int part)
{
  return (const kg_pack *)(array + (group * rows + row) * KG_LANES) + part;
}
