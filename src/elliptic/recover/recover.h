/// @file
/// What the local solve looks at while it makes the solution, and judges at its end.
#pragma once
#include "elliptic/elliptic.h"

/// Groups first .. first + n of a batch, as many as are handled at once, and their coefficients.
typedef struct kg_chunk {
  int batch;
  int32_t first, n;
  kg_coefficient coefficient;
} kg_chunk;

/// Whether the local solve makes nothing that is kept: sizes alone are wanted.
static inline bool kg_only_sizes(const kg_elliptic *p)
{
  return p->remainder.makes != KG_MAKES_SOLUTION;
}

/// The length of the table of kg_field_points() of a shape; 0 where the mesh has none of it.
size_t kg_fields_values(const kg_shape *s, int kind);
/// Bring the tables of the points where fields are looked at.
kedge_status kg_fields_begin(kg_elliptic *p);
/// Add a chunk, of which there are u, the flux and u*, to the sums of fields.
kedge_status kg_fields_add(kg_elliptic *p, const kg_chunk *c);
/// Join the sums of fields, and of a solution say what they tell.
kedge_status kg_fields_judge(kg_elliptic *p);

/// Join the sums of errors, of all groups, in the report, and say what they tell.
/// @param[out] of  free its arrays, also after a failure
kedge_status kg_errors_sum(kg_elliptic *p, kg_group_errors *of);
