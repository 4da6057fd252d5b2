// A note where [exact] moves a boundary that stays 0, as it has no data of its own.
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "waves/waves.h"

enum { TIMES = 4, PIECES = 1024 };  ///< that are looked at; facets and elements, at most
/// Parts of the run, none a simple fraction, at which waves may be 0 everywhere.
static const double times[TIMES] = {0.0, 0.2137, 0.5591, 0.8713};
/// The least part of the largest value that is noted: polygons in place of curves make more, and
/// rounding makes less.
static const double LEAST = 1e-6;

/// A boundary without data, and the functions of [exact] that it would read.
typedef struct looks {
  const kg_waves *w;
  int32_t kind, n_facets, n_elements;
  const kg_function *read[KG_WAVE_FIELDS_MAX];
  kg_wave_piece *facet, *element;  ///< [PIECES]
  double *value;                   ///< [PIECES][field][node]
  double taken, field;  ///< the most that the boundary takes of them, and their largest value
} looks;

/// Find what a boundary without data would read of [exact].
/// @return false: it has data, [exact] has nothing for it, or has functions of the caller
static bool begin(looks *l, const kg_boundary *b)
{
  static const kg_function none = {.kind = KG_FUNCTION_NONE};
  const kg_waves *const w = l->w;
  const kg_wave_values *values;
  bool any = false;
  if (kg_waves_boundary(w, b, &l->kind, &values) != KEDGE_OK || values) return false;
  if (l->kind >= KG_WAVE_ABSORBS) return false;
  kg_waves_functions_of(w, &w->problem->wave.exact, l->read);
  for (int f = 0; f < w->law->n_fields; ++f) {
    if (!(w->law->reads[l->kind] >> f & 1)) l->read[f] = &none;
    if (kg_function_of_caller(l->read[f])) return false;  // which may count its calls
    any = any || l->read[f]->kind != KG_FUNCTION_NONE;
  }
  return any;
}

/// Facets of a boundary, and elements of the mesh, spread evenly.
static void list_pieces(looks *l, const kg_boundary *const *boundary, const kg_boundary *b)
{
  const kedge_mesh *const mesh = l->w->mesh;
  const int32_t apart = 1 + mesh->n_elements / PIECES;
  int32_t all = 0, n = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
      const kg_side *const sides = mesh->edge_sides + 2 * (int64_t)edge;
      if (sides[1] != KG_NO_SIDE || boundary[mesh->edge_group[edge]] != b) continue;
      if (pass == 0)
        ++all;
      else if (n++ % (1 + all / PIECES) == 0)
        l->facet[l->n_facets++] =
            (kg_wave_piece){kg_side_element(sides[0]), (int32_t)kg_side_facet(sides[0])};
    }
  for (int32_t e = 0; e < mesh->n_elements; e += apart)
    l->element[l->n_elements++] = (kg_wave_piece){e, -1};
}

/// Look at the time of the problem.
static kedge_status look(looks *l)
{
  const kg_waves *const w = l->w;
  const int fields = w->law->n_fields, m = w->nodal.n_facet;
  const kg_wave_data facets = {.n = m, .n_functions = fields};
  const kg_wave_data elements = {.n = w->nodal.n, .n_functions = fields};
  KG_TRY(kg_wave_data_evaluate(w, &facets, l->read, l->n_facets, l->facet, l->value));
  for (int32_t i = 0; i < l->n_facets; ++i) {
    double normal[3], data[KG_WAVE_FIELDS_MAX];
    kg_waves_normal(w, l->facet[i].element, l->facet[i].facet, normal);
    for (int j = 0; j < m; ++j) {
      for (int f = 0; f < fields; ++f) data[f] = l->value[(i * fields + f) * m + j];
      const double taken = w->law->takes(l->kind, normal, data);
      if (isfinite(taken)) l->taken = fmax(l->taken, taken);
    }
  }
  KG_TRY(kg_wave_data_evaluate(w, &elements, l->read, l->n_elements, l->element, l->value));
  for (int32_t i = 0; i < l->n_elements * fields * w->nodal.n; ++i)
    if (isfinite(l->value[i])) l->field = fmax(l->field, fabs(l->value[i]));
  return KEDGE_OK;
}

static void note(kg_waves *w, const looks *l, const kg_boundary *b)
{
  char list[40];
  kg_waves_list_fields(w->law, w->law->reads[l->kind], sizeof list, list);
  kg_waves_add_note(w,
                    "[exact] has %s up to %.2g on [boundary %.60s], where type = %s has 0: write "
                    "%s = ... there if it moves so",
                    w->law->holds[l->kind], l->taken, b->group, w->law->boundaries[l->kind], list);
}

static kedge_status look_at_boundary(kg_waves *w, const kg_boundary *const *boundary,
                                     const kg_boundary *b)
{
  const double now = w->problem->t;
  const size_t numbers = (size_t)(PIECES * w->law->n_fields * w->nodal.n);
  looks l = {.w = w};
  if (!begin(&l, b)) return KEDGE_OK;
  KG_TRY(kg_host_alloc(w->ctx, 2 * PIECES, sizeof *l.facet, &l.facet));
  l.element = l.facet + PIECES;
  kedge_status status = kg_host_alloc(w->ctx, numbers, sizeof *l.value, &l.value);
  if (status == KEDGE_OK) list_pieces(&l, boundary, b);
  for (int i = 0; i < TIMES && status == KEDGE_OK; ++i) {
    kg_problem_set_time(w->problem, times[i] * w->problem->time.end);
    status = look(&l);
  }
  kg_problem_set_time(w->problem, now);
  free(l.value);
  free(l.facet);
  if (status == KEDGE_OK && l.taken > LEAST * l.field) note(w, &l, b);
  return status;
}

kedge_status kg_waves_note_exact(kg_waves *w, const kg_boundary *const *boundary)
{
  for (int g = 0; g < w->mesh->n_groups; ++g) {
    int first = 0;  // of those with the same section
    while (first < g && boundary[first] != boundary[g]) ++first;
    if (boundary[g] && first == g) KG_TRY(look_at_boundary(w, boundary, boundary[g]));
  }
  return KEDGE_OK;
}
