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
/// kernels are compiled with; what is here knows none. Q and the damping are diagonal, as the fused
/// kernels settle one field at a time, and compilers can evaluate law_along(). The state has the
/// numbers of an element one behind the other, tables of elements lie in groups of KG_WAVE_LANES;
/// the last groups are filled with elements that stay zero.
#pragma once
#include "basis/nodal.h"
#include "mesh/side.h"
#include "ops/ops.h"
#include "ops/waves/stage_args.h"
KEDGE_BEGIN_DECLS

/// A system of equations.
typedef struct kg_law {
  const char *text[2];  ///< of what stands in front of its header, and of that, for NVRTC
  const char *name;     ///< in [equation] system
  int dimension, n_fields, n_numbers, n_properties;
  const char *fields[KG_WAVE_FIELDS_MAX];
  const char *properties[KG_WAVE_PROPERTIES_MAX];  ///< keys of [equation]
  bool may_be_zero[KG_WAVE_PROPERTIES_MAX];        ///< others are positive
  const char *boundaries[KG_WAVE_KINDS];  ///< types of [boundary NAME]; NULL: there is none
  /// The fields whose data a boundary reads that reflects or releases: 1 << field of each. What
  /// absorbs reads none, what lets waves in all.
  unsigned reads[KG_WAVE_ABSORBS];
  const char *holds[KG_WAVE_ABSORBS];  ///< what such a boundary takes of them, in words
  /// A source: sign times it is beside the right-hand side of Q u_t of the first n_sources fields.
  const char *source;  ///< its key
  int n_sources;
  double source_sign;
  void (*medium)(const double *property, double *number);
  double (*speed)(const double *number);
  double (*damping)(const double *number);  ///< the largest rate
  /// A number proportional to the power that a wave with these data brings in through a facet.
  /// @param[in] normal  outward
  double (*enters)(const double *number, const double *normal, const double *data);
  /// The size of what a boundary holds, of these data.
  double (*takes)(int kind, const double *normal, const double *data);
  /// The energy is half of the integral of sum_f weight_f u_f^2.
  void (*weights)(const double *number, double *weight);
  kedge_status (*stage)(kedge_context *ctx, const kg_wave_args *args);
} kg_law;

/// Groups of the tables of so many elements: blocks of KG_WAVE_BLOCK are full.
static inline int32_t kg_wave_groups(int32_t n_elements)
{
  return (n_elements + KG_WAVE_BLOCK - 1) / KG_WAVE_BLOCK * (KG_WAVE_BLOCK / KG_WAVE_LANES);
}
/// Numbers of a state.
static inline int64_t kg_wave_state(const kg_wave_args *a)
{
  return (int64_t)a->n_groups * a->n_fields * a->n * KG_WAVE_LANES;
}
/// @param[in] n_elements  of the mesh: others fill the last groups
kg_cost kg_wave_cost(const kg_wave_args *args, int32_t n_elements);

KEDGE_END_DECLS
