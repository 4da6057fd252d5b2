// Findings about tensors and the mass matrix of the flux (docs/math.md#strong-tensors).
#include <math.h>

#include "diagnose/predicates.h"

/// A choice of the matrix that no element has.
bool kg_finds_unused_inverse(kg_diagnosis *d)
{
  const kedge_report *const r = d->report;
  const bool has = r->triangle_inverse[0] != '\0' || r->quadrilateral_inverse[0] != '\0';
  kg_say_word(d, kg_mesh_in_space(d->mesh) ? "tetrahedra"
                                           : "straight triangles with constant coefficients");
  return d->problem->inverse != KG_INVERSE_AUTO && !has;
}

/// A tensor so strong that q = diffusion^-1 sigma shows the errors of sigma many times, on elements
/// whose q is that: somebody asked for it, or the weak gradient is no better there.
bool kg_finds_strong_tensor(kg_diagnosis *d)
{
  double most = 0.0;
  for (int i = 0; i < KG_CELL_KINDS; ++i)
    if (!d->keeps_gradient[i]) most = fmax(most, d->strength[i].most);
  kg_say_number(d, "%.0e", most);
  kg_say_word(d, d->problem->inverse == KG_INVERSE_AUTO ? "refine, or mesh along its axes"
                                                        : "leave inverse out");
  return most > d->threshold;
}

/// What is left where q is the weak gradient.
bool kg_finds_turned_tensor(kg_diagnosis *d)
{
  double left = 0.0;
  for (int i = 0; i < KG_CELL_KINDS; ++i)
    if (d->keeps_gradient[i]) left = fmax(left, d->strength[i].left);
  kg_say_number(d, "%.0f", left);
  kg_say_number(d, "%.0f", d->problem->order);
  return left > d->threshold;
}
