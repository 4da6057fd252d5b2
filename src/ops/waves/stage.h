/// @file
/// A stage of a step of waves: of the nodal discontinuous Galerkin method for a system
///
///   Q u_t + damping = sum_k A_k du/dx_k
///
/// of an element, in the strong form with a numerical flux,
///
///   rhs      = Q^-1 (sum_a D_a A(g_a) u + sum_l |F_l| / (2 J) LIFT_l f_l) - damping
///   residual = before residual + step rhs
///   next     = u + after residual
///
/// where A(g) = sum_k g_k A_k, g_a = grad r_a, J = |det dx/dr|, and f_l is what the flux through
/// facet l differs by from the element's own, at the facet's nodes. `next` is another array than u,
/// of which neighbours still read.
///
/// A system is a header of functions (ops/waves/maxwell_tm.h is a model), which host code and
/// kernels are compiled with; what is here knows none. Elements lie in groups of
/// KG_WAVE_LANES; the last group is filled with elements that stay zero.
#pragma once
#include "basis/nodal.h"
#include "mesh/side.h"
#include "ops/ops.h"
#include "ops/real.h"
KEDGE_BEGIN_DECLS

enum {
  KG_WAVE_LANES = 8,  ///< elements of a group: a warp reads four nodes of them, one behind another
  KG_WAVE_FIELDS_MAX = 6,
  KG_WAVE_NUMBERS_MAX = 5,     ///< of the medium of an element
  KG_WAVE_PROPERTIES_MAX = 3,  ///< of a material, as problems give them
};

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
  const kg_real *u;  ///< [group][field][n][lane]
  kg_real *residual, *next;
} kg_wave_args;

/// A system of equations.
typedef struct kg_law {
  const char *name;  ///< in [equation] system
  int dimension, n_fields, n_numbers, n_properties;
  const char *fields[KG_WAVE_FIELDS_MAX];
  const char *properties[KG_WAVE_PROPERTIES_MAX];  ///< keys of [equation]
  bool may_be_zero[KG_WAVE_PROPERTIES_MAX];        ///< others are positive
  const char *boundaries[KG_WAVE_KINDS];  ///< types of [boundary NAME]; NULL: there is none
  /// A source: sign times it is beside the right-hand side of Q u_t of the first n_sources fields.
  const char *source;  ///< its key
  int n_sources;
  double source_sign;
  void (*medium)(const double *property, double *number);
  double (*speed)(const double *number);
  double (*damping)(const double *number);  ///< the largest rate
  /// The energy is half of the integral of sum_f weight_f u_f^2.
  void (*weights)(const double *number, double *weight);
  kedge_status (*stage)(kedge_context *ctx, const kg_wave_args *args);
} kg_law;

/// Where field f of a node is.
KG_INLINE int64_t kg_wave_place(const kg_wave_args *a, int32_t element, int f, int node)
{
  const int64_t group = element / KG_WAVE_LANES;
  return ((group * a->n_fields + f) * a->n + node) * KG_WAVE_LANES + element % KG_WAVE_LANES;
}
/// Numbers of a state.
static inline int64_t kg_wave_state(const kg_wave_args *a)
{
  return (int64_t)a->n_groups * a->n_fields * a->n * KG_WAVE_LANES;
}
kg_cost kg_wave_cost(const kg_wave_args *args);

KEDGE_END_DECLS
