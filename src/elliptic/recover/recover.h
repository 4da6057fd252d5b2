/// @file
/// Checks of a solution: the local solve collects sums of fields and errors chunk by chunk, and
/// adds findings to the report at its end.
#pragma once
#include "elliptic/elliptic.h"

/// Whether the local solve makes nothing that is kept: sizes alone are wanted.
static inline bool kg_only_sizes(const kg_elliptic *p)
{
  return p->remainder.makes != KG_MAKES_SOLUTION;
}

/// Return a chunk of one group, which has its number among the groups of all batches.
kg_chunk kg_chunk_of(const kg_elliptic *p, int32_t group);
/// Bring the modes of a chunk to host memory, where kg_results points to them: copy them from the
/// device or, if the solution keeps no fields, compute them again.
kedge_status kg_chunk_bring(kg_elliptic *p, kg_chunk c);

/// The length of the table of kg_field_points() of a shape; 0 where the mesh has none of it.
size_t kg_fields_values(const kg_shape *s, int kind);
/// Copy the tables of the points at which fields are checked to the device.
kedge_status kg_fields_begin(kg_elliptic *p);
/// Add a chunk, whose u, flux and u* have been computed, to the sums of fields.
kedge_status kg_fields_add(kg_elliptic *p, const kg_chunk *c);
/// Join the sums of fields of all chunks and, if they are of a solution, add findings on them.
kedge_status kg_fields_judge(kg_elliptic *p);

/// Declare the arrays of numbers of groups of the mesh.
void kg_numbers_declare(kg_plan *plan, const kg_shape *shape, kg_number_arrays *arrays);
/// Bring what sums over groups of the mesh read to the device.
kedge_status kg_numbers_begin(kg_elliptic *p);
/// Add a chunk, whose u and flux have been computed, to the sums over groups of the mesh.
/// @param[in] load  [group of the chunk][N][lane]
kedge_status kg_numbers_add(kg_elliptic *p, const kg_chunk *c, const double *load);
/// Bring the sums to the host, and fill in the numbers of the solution.
kedge_status kg_numbers_judge(kg_elliptic *p);

/// Sums of the errors of each group by the rule of the solve; the flux is that of the user's units.
typedef struct kg_group_errors {
  kg_error_sums *sums;  ///< [group], as flux
  double *flux;
  double total[KG_NORMS];  ///< of u, q, u* and the flux: sums over all groups
} kg_group_errors;

/// Estimate how much the norms of errors change, relative to their size, if the quadrature rule has
/// twice as many points a direction (at most KG_GAUSS_MAX). On small meshes all groups are
/// integrated again, on others the groups with the largest errors of q and of the flux, and a few
/// others, whose change is taken for all the rest.
/// @param[out] moves  changes of the norms of u, q, u* and the flux; 0 where errors are rounding or
///                    not finite by the finer rule, and for a flux that is a number times q
kedge_status kg_norms_moves(kg_elliptic *p, const kg_group_errors *of, double moves[KG_NORMS]);

/// Sum the squared errors of all groups, write the norms into the report, and add findings on them.
/// @param[out] of  has arrays that the caller frees, also after a failure
kedge_status kg_errors_sum(kg_elliptic *p, kg_group_errors *of);
