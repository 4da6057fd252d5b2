/// @file
/// What the local solve looks at while it makes the solution, and judges at its end.
#pragma once
#include "elliptic/elliptic.h"

/// Whether the local solve makes nothing that is kept: sizes alone are wanted.
static inline bool kg_only_sizes(const kg_elliptic *p)
{
  return p->remainder.makes != KG_MAKES_SOLUTION;
}

/// A group, of all batches, as a chunk.
kg_chunk kg_chunk_of(const kg_elliptic *p, int32_t group);
/// Have the modes of a chunk where kg_results has them in host memory: they are brought, or made
/// again where nothing is kept.
kedge_status kg_chunk_bring(kg_elliptic *p, kg_chunk c);

/// The length of the table of kg_field_points() of a shape; 0 where the mesh has none of it.
size_t kg_fields_values(const kg_shape *s, int kind);
/// Bring the tables of the points where fields are looked at.
kedge_status kg_fields_begin(kg_elliptic *p);
/// Add a chunk, of which there are u, the flux and u*, to the sums of fields.
kedge_status kg_fields_add(kg_elliptic *p, const kg_chunk *c);
/// Join the sums of fields, and of a solution say what they tell.
kedge_status kg_fields_judge(kg_elliptic *p);

/// Sums of the errors of each group by the rule of the solve; the flux is that of the user's units.
typedef struct kg_group_errors {
  kg_error_sums *sums;  ///< [group], as flux
  double *flux;
  double total[KG_NORMS];  ///< of u, q, u* and the flux: sums over all groups
} kg_group_errors;

/// How much norms of errors move with more points a direction, twice as many or KG_GAUSS_MAX, as
/// parts of the norms. All elements of small meshes are asked; else those of the groups with the
/// largest errors of q and of the flux, and a few others, which speak for the rest.
/// @param[out] moves of u, q, u* and the flux; 0 where errors are rounding or, with the finer rule,
///                    not finite, and of the flux where it is a number times q
kedge_status kg_norms_moves(kg_elliptic *p, const kg_group_errors *of, double moves[KG_NORMS]);

/// Join the sums of errors, of all groups, in the report, and say what they tell.
/// @param[out] of  free its arrays, also after a failure
kedge_status kg_errors_sum(kg_elliptic *p, kg_group_errors *of);
