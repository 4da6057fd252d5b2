/// @file
/// The mass of the equation, mass u_t - div(diffusion grad u) + reaction u = source, on the
/// elements of a solve: weights by which (mass u, phi) is added to load vectors, and the projection
/// of a function to the modes of u.
#pragma once
#include "equation/equation.h"
#include "equation/rules.h"
#include "ops/local/mass/mass.h"

/// Weights in device memory. Zero-initialise; kg_mass_free().
typedef struct kg_mass {
  kg_buffer weight;                    ///< of all batches, one behind the other
  kg_buffer value;                     ///< of the shapes that have points
  kg_mass_args batch[KG_BATCHES_MAX];  ///< of all groups, but for `factor`, `u` and `load`
} kg_mass;

/// Make the weights of a mass, anew in memory that is there if it is of the size.
/// @param[in] f          the mass of the equation, or another function
/// @param[in] is_affine  all quadrilaterals of the mesh are parallelograms
/// @retval KEDGE_ERR_INPUT  a value is not finite or not positive; the sentence says where
kedge_status kg_mass_make(const kg_rules *rules, const kg_equation *equation, const kg_function *f,
                          bool is_affine, kg_mass *mass);
void kg_mass_free(kedge_context *ctx, kg_mass *mass);
/// Bytes of device memory that it takes.
int64_t kg_mass_bytes(const kg_shape *shape, const kg_function *f, bool is_affine);

/// load += factor (mass u, phi), of all elements.
/// @param[in] u, load  [batch][group][N][lane]
kedge_status kg_mass_add_all(const kg_rules *rules, const kg_mass *mass, double factor,
                             const double *u, double *load);

/// The integral of mass u over each element. @param[out] to  [lane of all batches] of the device
kedge_status kg_mass_integrals(const kg_rules *rules, const kg_mass *mass, const double *u,
                               double *to);

/// The root of the integral of mass u^2 over each element. @param[out] to  likewise
kedge_status kg_mass_norms(const kg_rules *rules, const kg_mass *mass, const double *u, double *to);

/// Project a function to the modes of u, in L2.
/// @param[in]  name, place  for sentences: kg_sample_set
/// @param[out] u            [batch][group][N][lane] of host memory; 0 in empty lanes
/// @retval KEDGE_ERR_INPUT  a value is not finite
kedge_status kg_project(const kg_rules *rules, const kg_function *f, const char *name,
                        const char *place, double *u);
