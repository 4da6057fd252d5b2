/// @file
/// Levels of a mesh that was refined (kg_mesh_levels): its vertices are those of the coarser mesh
/// and the midpoints of their edges. Linear functions of the coarser mesh are P c, which is c where
/// a vertex is one of both meshes and the mean of the ends of its edge at a midpoint.
///
/// P^T A P of linear finite elements needs no product. The four parts of a triangle are like it, so
/// A has at (a, m), m the midpoint of a and b, what the coarser matrix has of diffusion at (a, b):
/// its row of a vertex is the vertex's row here, with the edge's other end instead of the midpoint.
/// The vertex's row here has a quarter of a reaction; three times the row's sum is added on the
/// diagonal. Vertices with a Dirichlet edge have empty rows on all levels
/// (ops/smooth/vertex_matrix.h). No other vertex of the coarser mesh is next to one here, and so
/// its row's sum is all of it.
#pragma once
#include "ops/pass.h"
#include "precondition/amg/csr_make.h"
KEDGE_BEGIN_DECLS

/// How the vertices of a level make those of the next.
typedef struct kg_midpoints {
  int32_t n_next;       ///< rows of the next matrix; 0: the level has no midpoints
  const int32_t *fine;  ///< [next row]: its vertex's row here
  const int32_t *ends;  ///< [row][2]: next rows, the same twice for their vertices;
                        ///< -1: Dirichlet midpoint
} kg_midpoints;

typedef struct kg_midpoints_make_args {
  kg_csr a;
  int32_t n_next;
  const int32_t *fine;
  int32_t *ends;
  int32_t *number;  ///< work: [row]
  kg_scan_work work;
} kg_midpoints_make_args;

/// The next matrix, and `ends`. @param[in] arena  takes the matrix
kedge_status kg_midpoints_make(kedge_context *ctx, const kg_midpoints_make_args *args,
                               kg_arena *arena, kg_csr *next);

typedef struct kg_midpoints_apply_args {
  kg_csr a;  ///< of the finer level
  kg_midpoints midpoints;
  const double *x;
  double *y;
  const double *diagonal;  ///< restrict: of the next matrix
  double *z;               ///< restrict: weight * y / diagonal; NULL: not wanted
  double weight;
  bool many;  ///< of KG_VECTORS vectors: [row][vector]
} kg_midpoints_apply_args;

/// y = P^T x, z = weight D^-1 y: to the coarser level, and its first step
KG_DECLARE_OPERATOR(kg_midpoints_restrict, kg_midpoints_apply_args);
/// y += P x: from the coarser level
KG_DECLARE_OPERATOR(kg_midpoints_prolong, kg_midpoints_apply_args);

/// number[row] = 1 + the next row of its vertex, where it has one; zero before.
KG_INLINE void kg_midpoints_number(const kg_midpoints_make_args *m, int32_t i)
{
  const int32_t at = m->fine[i];
  m->number[at] = i + 1;
  m->work.length[i] = m->a.row[at + 1] - m->a.row[at];
}

/// The ends of midpoint i: the two vertices next to it that belong to the coarser mesh.
KG_INLINE void kg_midpoints_ends(const kg_midpoints_make_args *m, int32_t i)
{
  int32_t first = m->number[i] - 1, second = first;
  for (int32_t e = m->a.row[i]; second < 0 && e < m->a.row[i + 1]; ++e) {
    const int32_t next = m->number[m->a.column[e]] - 1;
    if (first < 0)
      first = next;
    else
      second = next;
  }
  m->ends[2 * (int64_t)i] = first;
  m->ends[2 * (int64_t)i + 1] = second;
}

/// Row i of the next matrix.
KG_INLINE void kg_midpoints_row(const kg_midpoints_make_args *m, int32_t i, const int64_t *begin,
                                const kg_csr *place)
{
  const kg_csr *a = &m->a;
  const int32_t at = m->fine[i], first = a->row[at], n = a->row[at + 1] - first;
  double sum = a->diagonal[at];
  for (int32_t k = 0; k < n; ++k) {
    const int32_t *ends = m->ends + 2 * (int64_t)a->column[first + k];
    const int32_t other = ends[0] == i ? ends[1] : ends[0];
    const int32_t there = m->fine[other];
    const float value = a->value[first + k];
    place->column[begin[i] + k] = other;
    place->value[begin[i] + k] = a->row[there] == a->row[there + 1] ? 0.0f : value;
    sum += (double)value;
  }
  place->row[i] = (int32_t)begin[i];
  place->diagonal[i] = a->diagonal[at] + (n > 0 ? 3.0 * sum : 0.0);
}

/// The next row i of one of K vectors.
KG_INLINE void kg_midpoints_restrict_of(const kg_midpoints_apply_args *a, int32_t i, int K, int v)
{
  const int32_t at = a->midpoints.fine[i];
  const double *x = a->x + v;
  double sum = 0.0;
  for (int32_t e = a->a.row[at]; e < a->a.row[at + 1]; ++e) sum += x[(int64_t)a->a.column[e] * K];
  sum = x[(int64_t)at * K] + 0.5 * sum;
  a->y[(int64_t)i * K + v] = sum;
  if (a->z) a->z[(int64_t)i * K + v] = a->weight * sum / a->diagonal[i];
}
KG_INLINE void kg_midpoints_restrict_row(const kg_midpoints_apply_args *a, int32_t i)
{
  kg_midpoints_restrict_of(a, i, 1, 0);
}
/// @param[in] i  row, and which of its vectors
KG_INLINE void kg_midpoints_restrict_many(const kg_midpoints_apply_args *a, int64_t i)
{
  kg_midpoints_restrict_of(a, (int32_t)(i / KG_VECTORS), KG_VECTORS, (int)(i % KG_VECTORS));
}

KG_INLINE void kg_midpoints_prolong_of(const kg_midpoints_apply_args *a, int32_t i, int K, int v)
{
  const int32_t *ends = a->midpoints.ends + 2 * (int64_t)i;
  const double *x = a->x + v;
  if (ends[0] >= 0)
    a->y[(int64_t)i * K + v] += 0.5 * (x[(int64_t)ends[0] * K] + x[(int64_t)ends[1] * K]);
}
KG_INLINE void kg_midpoints_prolong_row(const kg_midpoints_apply_args *a, int32_t i)
{
  kg_midpoints_prolong_of(a, i, 1, 0);
}
KG_INLINE void kg_midpoints_prolong_many(const kg_midpoints_apply_args *a, int64_t i)
{
  kg_midpoints_prolong_of(a, (int32_t)(i / KG_VECTORS), KG_VECTORS, (int)(i % KG_VECTORS));
}

kedge_status kg_midpoints_ends_cuda(kedge_context *ctx, const kg_midpoints_make_args *args);
kedge_status kg_midpoints_fill_cuda(kedge_context *ctx, const kg_midpoints_make_args *args,
                                    const kg_csr *place);

KEDGE_END_DECLS
