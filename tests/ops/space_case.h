/// @file
/// Tetrahedra as the form reads them, on the device of a context, and single ones with tensors on
/// the host.
#pragma once
#include "case.h"
#include "ops/form/form.h"
#include "ops/local/tetrahedron/element.h"
#include "space_element.h"

enum { MATERIALS = 5, OUTPUTS = 7 };
enum { LOCAL, CONDENSED, U, FLUX, U_STAR, INDICATOR, MEANS };

/// Elements with vertices of their own, on the device of a context.
typedef struct space_case {
  op_case memory;  ///< of which only the pieces of device memory are used
  kg_cell_sizes size;
  int n_elements, n_groups, n_facets;
  double (*x)[4][3];
  int32_t *index;   ///< [lane]: materials
  uint32_t *facet;  ///< [element][4]
  kg_elements elements;
  kg_coefficient coefficient;
  double *load, *trace;  ///< on the host: [element][N], [facet][m]
} space_case;

/// The materials of a case, of which element e has number e % MATERIALS.
extern const kg_space_material space_materials[MATERIALS];

/// The element of a right corner, in other places, with random vertices, turned inside out if odd,
/// and of each four the last two with a hundredth of their height.
void space_case_put_element(int e, double x[4][3]);
void space_case_create(space_case *r, kedge_context *ctx, int order, int n_elements);
void space_case_destroy(space_case *r);
/// Element e by the book.
space_element space_case_book(const space_case *r, int e);
/// [group][rows][lane] of [element][rows], NaN in empty lanes, to be freed.
double *space_case_lanes(const space_case *r, int rows, const double *by_element);
void space_case_rows(kg_cell_sizes z, int rows[OUTPUTS]);
/// All that the form makes of a range of elements of `r` and of the arrays of that range, `out`
/// [group][rows][lane], to be freed.
void space_case_run(space_case *r, const kg_elements *elements, const kg_coefficient *coefficient,
                    const double *load, double *out[OUTPUTS]);
void space_case_run_all(space_case *r, double *out[OUTPUTS]);
void space_case_free(double *out[OUTPUTS]);
/// [rows] of element e, to be freed.
double *space_case_element(const double *by_lanes, int e, int rows);

/// One element with a tensor and a stabilization of its own on each facet, on the host.
typedef struct space_tensor {
  space_element book;
  kg_tetrahedron_factors factors;
  double *reference, *scratch;
  kg_tetrahedron_reference ref;
  kg_team team;
} space_tensor;

/// @param[in] e  of space_case_put_element(); nothing reacts in the first
void space_tensor_create(space_tensor *t, kedge_context *ctx, int order, int e);
void space_tensor_destroy(space_tensor *t);
/// Memory of one lane, [rows][KG_LANES], with such values or zeros, to be freed.
double *space_lane(int rows, const double *values);
