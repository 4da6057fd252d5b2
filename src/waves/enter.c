// Whether the data of incident boundaries bring waves in, which those of a wrong sign do not.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "waves/waves.h"

enum { TIMES = 16, FACETS = 4096 };  ///< that are looked at, at most
/// Data are taken for those of a wave that leaves where they bring in less than this part of what
/// the same data with the other sign would.
static const double LEAST = 0.01;

/// A boundary that lets waves in by data of its own. @return NULL: it does not
static const kg_wave_values *data_of(const kg_waves *w, const kg_boundary *b)
{
  int32_t kind;
  const kg_wave_values *values;
  if (!b || kg_waves_boundary(w, b, &kind, &values) != KEDGE_OK) return NULL;
  return kind == KG_WAVE_ENTERS && values == &b->wave ? values : NULL;
}

/// Add what data bring through a facet, and what the same data would with the other normal.
static void add_facet(const kg_waves *w, const kg_wave_values *values, int32_t element, int facet,
                      double *in, double *out)
{
  const double *const number = w->number + (int64_t)element * w->law->n_numbers;
  const int node = w->nodal.facet_node[facet * w->nodal.n_facet + w->nodal.n_facet / 2];
  double place[3], normal[3], back[3], data[KG_WAVE_FIELDS_MAX];
  for (int k = 0; k < w->mesh->dimension; ++k) place[k] = w->nodal.at[k * w->nodal.n + node];
  kg_waves_normal(w, element, facet, normal);
  kg_waves_evaluate(w, values, element, 1, place, normal, 1, data);
  for (int k = 0; k < w->mesh->dimension; ++k) back[k] = -normal[k];
  const double enters = w->law->enters(number, normal, data);
  const double leaves = w->law->enters(number, back, data);
  if (!isfinite(enters) || !isfinite(leaves)) return;
  *in += enters;
  *out += leaves;
}

/// Sums over facets and times until the end.
static void add_up(const kg_waves *w, const kg_boundary *const *boundary, double *in, double *out)
{
  const kedge_mesh *const mesh = w->mesh;
  const double t = w->problem->t;
  const int32_t stride = 1 + mesh->n_boundary_edges / FACETS;
  for (int i = 0; i < TIMES; ++i) {
    int32_t n = 0;
    kg_problem_set_time(w->problem, w->problem->time.end * (i + 0.5) / TIMES);
    for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
      const kg_side *const sides = mesh->edge_sides + 2 * (int64_t)edge;
      if (sides[1] != KG_NO_SIDE || n++ % stride != 0) continue;
      const kg_wave_values *const values = data_of(w, boundary[mesh->edge_group[edge]]);
      if (values)
        add_facet(w, values, kg_side_element(sides[0]), (int)kg_side_facet(sides[0]), in, out);
    }
  }
  kg_problem_set_time(w->problem, t);
}

/// Whether a field is of one kind with the first: E, or p.
static bool is_first_kind(const kg_law *law, int f)
{
  return law->fields[f][0] == law->fields[0][0];
}

/// Note a boundary whose data have one kind of fields alone.
static bool note_half(kg_waves *w, const kg_boundary *b, const kg_wave_values *values)
{
  const kg_function *functions[KG_WAVE_FIELDS_MAX];
  bool has[2] = {false, false};
  unsigned kinds[2] = {0, 0};  // the fields of each
  char list[40];
  kg_waves_functions_of(w, values, functions);
  for (int f = 0; f < w->law->n_fields; ++f) {
    kinds[is_first_kind(w->law, f)] |= 1U << f;
    if (functions[f]->kind != KG_FUNCTION_NONE) has[is_first_kind(w->law, f)] = true;
  }
  if (has[0] && has[1]) return false;
  kg_waves_list_fields(w->law, kinds[!has[1]], sizeof list, list);
  snprintf(w->note, sizeof w->note,
           "half of the wave of [boundary %.60s] comes in, as its data have no %s: give all fields "
           "of the wave (docs/waves.md)",
           b->group, list);
  return true;
}

static void note_data(kg_waves *w, const kg_boundary *const *boundary)
{
  const kg_boundary *one = NULL;
  double in = 0.0, out = 0.0;
  w->note[0] = '\0';
  for (int g = 0; g < w->mesh->n_groups; ++g) {
    const kg_wave_values *const values = data_of(w, boundary[g]);
    if (!values) continue;
    if (note_half(w, boundary[g], values)) return;
    for (int i = 0; i < KG_WAVE_FIELDS; ++i)
      if (kg_function_of_caller(&values->of[i])) return;  // which may count its calls
    one = boundary[g];
  }
  if (!one) return;
  add_up(w, boundary, &in, &out);
  if (!(in < LEAST * out)) return;
  snprintf(
      w->note, sizeof w->note,
      "the data of [boundary %.60s] bring in next to nothing, as they are those of a wave that "
      "leaves: check the signs of its fields (docs/waves.md)",
      one->group);
}

void kg_waves_note_step(const kg_waves *w, size_t room, char *text)
{
  text[0] = '\0';
  if (w->undamped > 10.0 * w->longest)
    snprintf(text, room,
             "conductivity, not speed, sets the step, and makes it %.3g times shorter: for metals "
             "take type = conductor (docs/waves.md)",
             w->undamped / w->longest);
}

void kg_waves_note_data(kg_waves *w, const kg_boundary *const *boundary)
{
  char step[160];
  note_data(w, boundary);
  if (w->mesh->flattened > 1)
    kg_waves_add_note(
        w,
        "geometry = 1 makes polygons of the curves of the mesh, of order %d, whose error is of "
        "second order in h",
        w->mesh->flattened);
  kg_waves_note_step(w, sizeof step, step);
  if (step[0]) kg_waves_add_note(w, "%s", step);
}

void kg_waves_add_note(kg_waves *w, const char *format, ...)
{
  const size_t before = strlen(w->note), most = sizeof w->note - 1;
  va_list list;
  if (before > 0) snprintf(w->note + before, sizeof w->note - before, "; ");
  const size_t n = before == 0 ? 0 : before + 2 < most ? before + 2 : most;
  va_start(list, format);
  vsnprintf(w->note + n, sizeof w->note - n, format, list);
  va_end(list);
}
