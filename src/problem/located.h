/// @file
/// Points of elements as functions of the caller see them: which element, and where in it.
#pragma once
#include "kedge/problem.h"
#include "mesh/mesh.h"

/// What points have besides x, y and z, [n] each.
typedef struct kg_located {
  double *region, *r, *s, *third;
  int32_t *element, *place;
} kg_located;

enum { KG_LOCATED = 5 };  ///< doubles that the arrays take for a point

/// @param[in] memory  [KG_LOCATED * n]
static inline kg_located kg_located_in(double *memory, size_t n)
{
  int32_t *const numbers = (int32_t *)(memory + 4 * n);
  return (kg_located){memory, memory + n, memory + 2 * n, memory + 3 * n, numbers, numbers + n};
}

/// Point i is (r, s) of an element.
static inline void kg_locate(const kg_located *to, size_t i, const kedge_mesh *mesh,
                             int32_t element, double r, double s)
{
  to->region[i] = mesh->element_region[element];
  to->r[i] = r;
  to->s[i] = s;
  to->element[i] = mesh->element_origin[element];
  to->place[i] = element;
}

/// Point i is `at` in the reference shape of an element, as many coordinates as the shape has.
static inline void kg_locate_at(const kg_located *to, size_t i, const kedge_mesh *mesh,
                                int32_t element, const double *at)
{
  kg_locate(to, i, mesh, element, at[0], at[1]);
  if (kg_mesh_in_space(mesh)) to->third[i] = at[2];
}

/// Point i of n is that of kg_element_middle(); on curves it is near (r, s).
/// @param[out] x  [dimension][n]
static inline void kg_locate_middle(const kg_located *to, size_t i, size_t n,
                                    const kedge_mesh *mesh, int32_t element, double *x)
{
  const kg_cell *const cell = kg_block_of(mesh, element)->cell;
  const double part = cell == &kg_tetrahedron ? -0.5 : cell == &kg_triangle ? -1.0 / 3.0 : 0.0;
  const double at[3] = {part, part, part};
  double middle[3];
  kg_element_middle(mesh, element, middle);
  for (int k = 0; k < mesh->dimension; ++k) x[(size_t)k * n + i] = middle[k];
  kg_locate_at(to, i, mesh, element, at);
}

/// Point i is t of a side, as for kg_side_point().
static inline void kg_locate_side(const kg_located *to, size_t i, const kedge_mesh *mesh,
                                  kg_side side, double t)
{
  const int32_t element = kg_side_element(side);
  long double at[2], along[2];
  kg_cell_facet_point(kg_block_of(mesh, element)->cell, kg_side_facet(side), t, at, along);
  kg_locate(to, i, mesh, element, (double)at[0], (double)at[1]);
}

/// The points. Normals are NULL.
static inline kedge_points kg_located_points(const kg_located *at, const kedge_mesh *mesh, size_t n,
                                             const double *x, const double *y)
{
  return (kedge_points){.n = n,
                        .x = x,
                        .y = y,
                        .region = at->region,
                        .mesh = mesh,
                        .element = at->element,
                        .place = at->place,
                        .r = at->r,
                        .s = at->s,
                        .third = kg_mesh_in_space(mesh) ? at->third : NULL};
}
/// Points of which all coordinates are in one array. @param[in] x  [dimension][stride]
static inline kedge_points kg_located_at(const kg_located *at, const kedge_mesh *mesh, size_t n,
                                         const double *x, size_t stride)
{
  kedge_points points = kg_located_points(at, mesh, n, x, x + stride);
  if (kg_mesh_in_space(mesh)) points.z = x + 2 * stride;
  return points;
}
