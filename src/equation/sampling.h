/// @file
/// Evaluation of the user's functions at the points of elements by the host. equation/sampler.h
/// decides whether the host or the GPU evaluates.
#pragma once
#include "basis/cell_tables.h"
#include "ops/sample/sample_kernel.h"
#include "problem/problem.h"

/// A sampling rule: a product of Gauss rules, then the corners of the triangle with weight 0.
typedef struct kg_sampling {
  int n, rows;
  int order;
  double *r, *s, *weight;  ///< [n], one behind the other, as kg_points_at() expects them
  double *basis;           ///< [n][N*], and behind it the factors, as kg_points_at() expects them
} kg_sampling;

/// @param[in] rows  at most KG_POINT_ROWS_MAX; exact to degree 2 rows - 1
kedge_status kg_sampling_create(kedge_context *ctx, int order, int rows, kg_sampling *out);
void kg_sampling_free(kg_sampling *sampling);

/// The rule and its tables, in host memory.
kg_points kg_sampling_points(const kg_sampling *sampling);

/// Functions that are sampled together.
typedef struct kg_sample_set {
  int n;
  const kg_function *const *functions;
  const char *const *names;  ///< for the message about values that are not finite
  const char *place;         ///< begins the message: kg_setting_place()
  /// NULL, or for coefficients: the place is that of the setting of this key in the region.
  const kedge_problem *problem;
  const char *const *keys;
} kg_sample_set;

/// Points of the elements of a batch.
typedef struct kg_places {
  const kedge_mesh *mesh;
  int32_t first_element, n_elements;  ///< of the batch
  int n, n_rule;                      ///< points of an element, and those that are no corners
  const double *r, *s, *t;            ///< [point]; t in space alone
  /// [point][1 + dimension][corner] (kg_cell.map); NULL: of straight triangles
  const double *map;
} kg_places;

/// Points of the triangles of a mesh, which are its first elements.
kg_places kg_triangle_places(const kg_points *points, const kedge_mesh *mesh);
/// Points of elements by quadrature. @param[in] n_rule  the number of points that are no corners
kg_places kg_cell_places(const kg_cell_points *points, int n_rule, const kedge_mesh *mesh);

/// Evaluate functions at the points of groups [first, first + count) of a batch, on the host. At
/// corners only the values of the first function are used; the others need not be finite there.
/// @param[out] values  [group][function][point][lane], in host memory
/// @retval KEDGE_ERR_INPUT  a used value is not finite; the error message is about the first one
kedge_status kg_sample(kedge_context *ctx, kg_places places, int32_t first, int32_t count,
                       const kg_sample_set *set, double *values);
/// Where a point of an element is: x, y and z, which is 0 in the plane.
void kg_place_at(const kg_places *places, int32_t group, int q, int lane, double at[3]);
/// The element of a lane of a group; an empty lane repeats the last one.
int32_t kg_lane_element(const kg_places *places, int64_t group, int lane);
/// Evaluate a function again on the host, for the value at `index` of a chunk that begins with
/// group `first`, and fail with an error message if it is not finite.
kedge_status kg_sample_refuse(kedge_context *ctx, kg_places places, int32_t first,
                              const kg_sample_set *set, int64_t index);
