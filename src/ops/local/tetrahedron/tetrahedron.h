/// @file
/// Local matrices, local solve and post-processing of straight tetrahedra, whose coefficients are
/// constant in each or have values at points (varying.h): the method of triangles (docs/math.md) in
/// space. Formulas of Z^-1, R and S0 are at kg_tetrahedron_factors; no facet is ever reversed.
///
///   K^e = S0 - R^T Z R,   F^e = R^T Z f^e,   u = Z (f^e + R lambda)
///   (K grad u*, grad w) = (K q, grad w) for all w of order P + 1, and u* has the mean of u
#pragma once
#include "ops/local/tetrahedron/tetrahedra.h"
KEDGE_BEGIN_DECLS

typedef struct kg_tetrahedron_make_args {
  kg_tetrahedra cells;
  kg_space_materials materials;
  const double *load;  ///< [group][N][lane]: f^e = (f, phi_i)
  double *local;       ///< out: [group][row][lane], packed K^e; 0 in empty lanes
  double *condensed;   ///< out: [group][n][lane], F^e; 0 in empty lanes
} kg_tetrahedron_make_args;

KG_DECLARE_OPERATOR(kg_tetrahedron_make, kg_tetrahedron_make_args);
kg_cost kg_tetrahedron_make_cost(kg_cell_sizes size, int64_t n_elements);

typedef struct kg_tetrahedron_recover_args {
  kg_tetrahedra cells;
  kg_space_materials materials;
  const double *load;   ///< as above
  const double *trace;  ///< [trace facet][mode]
  double *u;            ///< out: [group][N][lane]; empty lanes are left alone
  double *flux;         ///< out: [group][3 N][lane]: q_x, q_y, q_z in the modes of u
} kg_tetrahedron_recover_args;

KG_DECLARE_OPERATOR(kg_tetrahedron_recover, kg_tetrahedron_recover_args);
kg_cost kg_tetrahedron_recover_cost(kg_cell_sizes size, int64_t n_elements);

typedef struct kg_tetrahedron_postprocess_args {
  kg_tetrahedra cells;
  kg_space_materials materials;
  const double *u, *flux;  ///< as above
  double *u_star;          ///< out: [group][N*][lane]; empty lanes are left alone
  double *indicator;       ///< out: [group][lane]: ||u* - u||
} kg_tetrahedron_postprocess_args;

KG_DECLARE_OPERATOR(kg_tetrahedron_postprocess, kg_tetrahedron_postprocess_args);
kg_cost kg_tetrahedron_postprocess_cost(kg_cell_sizes size, int64_t n_elements);

/// Means of an element: of u and q, and of sigma where coefficients vary; else that is K times the
/// mean of q.
KG_INLINE int kg_tetrahedron_means_count(bool varies)
{
  return varies ? 7 : 4;
}

typedef struct kg_tetrahedron_means_args {
  kg_tetrahedra cells;  ///< vertices and sides are not read
  kg_space_materials materials;
  const double *u, *flux;  ///< as above
  double *constant;        ///< out: [group][mean][lane]: coefficients of the constant mode; empty
                           ///< lanes are left alone
} kg_tetrahedron_means_args;

KG_DECLARE_OPERATOR(kg_tetrahedron_means, kg_tetrahedron_means_args);
kg_cost kg_tetrahedron_means_cost(int64_t n_elements);

KEDGE_END_DECLS
