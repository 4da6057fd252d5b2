// Whether [exact] gives a boundary other data than 0. Where it does not, the boundary needs none.
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "waves/waves.h"

enum {
  TIMES = 4,
  RUN = 1024,  ///< facets that are looked at together
  SOME = 64    ///< of these, whose elements say how large fields are
};
/// Parts of the run, none a simple fraction, at which waves may be 0 everywhere.
static const double times[TIMES] = {0.0, 0.2137, 0.5591, 0.8713};
static const double ROUNDING = 1e-12;  ///< of the largest field, at most

typedef struct looks {
  const kg_waves *w;
  int group;
  int32_t kind;
  kg_wave_piece *piece;  ///< [RUN]
  double *value;         ///< [RUN][field][node]
  double data;   ///< the most that the boundary takes of fields; infinite where they are bad
  double field;  ///< the largest field in elements at the boundary
} looks;

/// Look at the nodes of n facets, and of some of their elements.
static kedge_status look(looks *l, int32_t n)
{
  const kg_waves *const w = l->w;
  const int fields = w->law->n_fields, m = w->nodal.n_facet;
  const kg_wave_data facets = {.n = m, .n_functions = fields};
  const kg_wave_data elements = {.n = w->nodal.n, .n_functions = fields};
  static const kg_function none = {.kind = KG_FUNCTION_NONE};
  const kg_function *all[KG_WAVE_FIELDS_MAX], *read[KG_WAVE_FIELDS_MAX];
  const int32_t some = n < SOME ? n : SOME;
  kg_waves_functions_of(w, &w->problem->wave.exact, all);
  for (int f = 0; f < fields; ++f) read[f] = w->law->reads[l->kind] >> f & 1 ? all[f] : &none;
  KG_TRY(kg_wave_data_evaluate(w, &facets, read, n, l->piece, l->value));
  for (int32_t i = 0; i < n; ++i) {
    double normal[3], data[KG_WAVE_FIELDS_MAX];
    kg_waves_normal(w, l->piece[i].element, l->piece[i].facet, normal);
    for (int j = 0; j < m; ++j) {
      for (int f = 0; f < fields; ++f) data[f] = l->value[(i * fields + f) * m + j];
      const double taken = w->law->takes(l->kind, normal, data);
      l->data = fmax(l->data, isfinite(taken) ? taken : INFINITY);
    }
    l->piece[i].facet = -1;
  }
  KG_TRY(kg_wave_data_evaluate(w, &elements, all, some, l->piece, l->value));
  for (int32_t i = 0; i < some * fields * w->nodal.n; ++i)
    if (isfinite(l->value[i])) l->field = fmax(l->field, fabs(l->value[i]));
  return KEDGE_OK;
}

static kedge_status look_at_all(looks *l)
{
  const kedge_mesh *const mesh = l->w->mesh;
  int32_t n = 0;
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
    const kg_side *const sides = mesh->edge_sides + 2 * (int64_t)edge;
    if (sides[1] == KG_NO_SIDE && mesh->edge_group[edge] == l->group)
      l->piece[n++] = (kg_wave_piece){kg_side_element(sides[0]), (int32_t)kg_side_facet(sides[0])};
    if (n < RUN) continue;
    KG_TRY(look(l, n));
    n = 0;
  }
  return look(l, n);
}

kedge_status kg_waves_exact_drives(const kg_waves *w, int group, int32_t kind, bool *drives)
{
  const double now = w->problem->t;
  looks l = {.w = w, .group = group, .kind = kind};
  kedge_status status = kg_host_alloc(w->ctx, RUN, sizeof *l.piece, &l.piece);
  if (status == KEDGE_OK)
    status = kg_host_alloc(w->ctx, (size_t)(RUN * w->law->n_fields * w->nodal.n), sizeof *l.value,
                           &l.value);
  for (int i = 0; i < TIMES && status == KEDGE_OK && l.data <= ROUNDING * l.field; ++i) {
    kg_problem_set_time(w->problem, times[i] * w->problem->time.end);
    status = look_at_all(&l);
  }
  kg_problem_set_time(w->problem, now);
  *drives = l.data > ROUNDING * l.field;
  free(l.value);
  free(l.piece);
  return status;
}
