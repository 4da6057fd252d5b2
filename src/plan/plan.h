/// @file
/// The memory of a solve before it, on a mesh that is there or on one that is only counted.
#pragma once
#include "elliptic/elliptic.h"

/// A generated mesh of so many elements is counted, not made, and a similar one of at most a
/// sixteenth of them made in its place.
enum { KG_COUNTED_ELEMENTS = 10000000, KG_COUNTED_PART = 16 };

/// What is planned.
typedef struct kg_plan_args {
  const kedge_mesh *mesh;  ///< NULL: that of the problem
  const kedge_problem *problem;
  bool repeats;          ///< the memory of a kedge_solver
  int march_vectors;     ///< that a march has beside; 0: there is none
  int64_t counted_from;  ///< elements: KG_COUNTED_ELEMENTS
  double march_step;     ///< of the march, as kedge_plan has them
  int64_t march_steps;
} kg_plan_args;

/// kedge_plan_make() or kedge_solver_plan(). Only the mesh may be NULL.
kedge_status kg_plan_make(kedge_context *ctx, const kg_plan_args *args, kedge_plan *plan);

/// A mesh of the problem to plan with.
typedef struct kg_plan_mesh {
  kedge_mesh *mesh;
  /// The problem's mesh is not there: this one is smaller, of the same form. `info` has the counts
  /// and `source` the name of the other one.
  bool is_smaller;
  int32_t n_elements[KG_BLOCKS_MAX];  ///< of the other one, [block of this one]
  int64_t rim, grown_rim;             ///< as of kg_trace_layout_grow()
} kg_plan_mesh;

/// Make the problem's mesh, or where it is generated and has `from` elements or more a smaller one.
/// Functions of the caller may ask for elements: with some the mesh is made.
/// @param[out] out  kedge_mesh_destroy() its mesh
/// @retval KEDGE_ERR_INPUT, KEDGE_ERR_IO, KEDGE_ERR_MEMORY  as of kedge_problem_mesh()
kedge_status kg_plan_mesh_make(kedge_context *ctx, const kedge_problem *problem, int64_t from,
                               kg_plan_mesh *out);
/// Whether host memory has room to make the mesh that a smaller one stands for.
/// @retval KEDGE_ERR_MEMORY  no
kedge_status kg_plan_mesh_check(kedge_context *ctx, const kg_plan_mesh *of);
/// Turn counts and shape of a prepared solve into those of the mesh that its own stands for.
kedge_status kg_plan_mesh_grow(const kg_plan_mesh *to, kg_elliptic *p);
