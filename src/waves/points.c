// Functions at points of elements, where those of nodes on an interface are pulled to the element's
// own side of it.
#include <math.h>
#include <stdio.h>

#include "waves/waves.h"

void kg_waves_coordinates(const kg_waves *w, int32_t element, int n, const double *place,
                          size_t stride, double *x, size_t x_stride)
{
  const kedge_mesh *const mesh = w->mesh;
  const int d = mesh->dimension;
  const int32_t *const v = kg_element_vertices(mesh, element);
  for (int k = 0; k < d; ++k) {
    const double *const vertices = mesh->vertices + k;
    const double first = vertices[(int64_t)d * v[0]];
    for (int i = 0; i < n; ++i) {
      double sum = first;
      for (int a = 0; a < d; ++a)
        sum += 0.5 * (1.0 + place[(size_t)a * stride + (size_t)i]) *
               (vertices[(int64_t)d * v[a + 1]] - first);
      x[(size_t)k * x_stride + (size_t)i] = sum;
    }
  }
}

void kg_waves_pull_in(const kg_waves *w, int32_t element, int n, const double *x, size_t stride,
                      double *pulled)
{
  const double part = fmin(w->pull / kg_waves_radius(w, element), 1e-6);
  for (int k = 0; k < w->mesh->dimension; ++k) {
    const double *const from = x + (size_t)k * stride;
    double middle = 0.0;
    for (int i = 0; i < n; ++i) middle += from[i] / n;
    for (int i = 0; i < n; ++i)
      pulled[(size_t)k * stride + (size_t)i] = from[i] + part * (middle - from[i]);
  }
}

bool kg_waves_may_jump(int n_functions, const kg_function *const *functions)
{
  bool any = false;
  for (int f = 0; f < n_functions; ++f) any = any || kg_function_may_jump(functions[f]);
  return any;
}

kg_wave_batch kg_wave_batch_in(double *memory, size_t room, bool may_jump)
{
  return (kg_wave_batch){.room = room,
                         .may_jump = may_jump,
                         .x = memory,
                         .normal = memory + 6 * room,
                         .located = memory + 12 * room,
                         .value = memory + (12 + 2 * KG_LOCATED) * room};
}

/// @param[in] first  where they come in the batch
static void add(const kg_waves *w, int32_t element, int n, const double *place,
                const double *normal, size_t stride, size_t first, const kg_wave_batch *b)
{
  const int d = w->mesh->dimension;
  const kg_located at = kg_located_in(b->located, 2 * b->room);
  kg_waves_coordinates(w, element, n, place, stride, b->x + first, 2 * b->room);
  for (int i = 0; i < n; ++i) {
    double here[3] = {0.0};
    for (int k = 0; k < d; ++k) here[k] = place[(size_t)k * stride + (size_t)i];
    kg_locate_at(&at, first + (size_t)i, w->mesh, element, here);
    for (int k = 0; normal && k < d; ++k)
      b->normal[(size_t)k * 2 * b->room + first + (size_t)i] = normal[k];
  }
}

void kg_wave_batch_add(const kg_waves *w, int32_t element, int n, const double *place,
                       const double *normal, size_t stride, kg_wave_batch *b)
{
  add(w, element, n, place, normal, stride, b->n, b);
  if (b->may_jump) {
    double *const pulled = b->x + b->room + b->n;
    add(w, element, n, place, normal, stride, b->room + b->n, b);
    kg_waves_pull_in(w, element, n, pulled, 2 * b->room, pulled);
  }
  b->on_boundary = normal != NULL;
  b->n += (size_t)n;
}

/// Evaluate at some points of the batch.
static void evaluate_at(const kg_waves *w, const kg_function *function, const kg_wave_batch *b,
                        size_t first, size_t n, double *value)
{
  const size_t stride = 2 * b->room;
  const kg_located all = kg_located_in(b->located, stride);
  const kg_located at = {all.region + first, all.r + first,       all.s + first,
                         all.third + first,  all.element + first, all.place + first};
  kedge_points points = kg_located_at(&at, w->mesh, n, b->x + first, stride);
  if (b->on_boundary) {
    points.normal_x = b->normal + first;
    points.normal_y = b->normal + stride + first;
    if (w->mesh->dimension == 3) points.normal_z = b->normal + 2 * stride + first;
  }
  kg_function_evaluate(function, &points, value);
}

void kg_wave_batch_evaluate(const kg_waves *w, const kg_function *function, const kg_wave_batch *b,
                            double *value)
{
  static const double SMOOTH = 1e-7;
  const size_t n = b->room;
  const double *const pulled = b->value + n;
  double most = 0.0;
  if (!kg_function_may_jump(function)) {
    evaluate_at(w, function, b, 0, n, value);
  } else if (!kg_function_of_caller(function)) {
    evaluate_at(w, function, b, n, n, value);
  } else {
    // Nobody knows of functions of the caller: changes too large for so small a way are jumps.
    evaluate_at(w, function, b, 0, 2 * n, b->value);
    for (size_t i = 0; i < 2 * n; ++i) most = fmax(most, fabs(b->value[i]));
    for (size_t i = 0; i < n; ++i)
      value[i] = fabs(pulled[i] - b->value[i]) > SMOOTH * most ? pulled[i] : b->value[i];
  }
}

void kg_waves_functions_of(const kg_waves *w, const kg_wave_values *values,
                           const kg_function *functions[KG_WAVE_FIELDS_MAX])
{
  for (int f = 0; f < w->law->n_fields; ++f)
    functions[f] = &values->of[kg_word_among(kg_wave_fields, KG_WAVE_FIELDS, w->law->fields[f])];
}

void kg_waves_evaluate(const kg_waves *w, const kg_wave_values *values, int32_t element, int n,
                       const double *place, const double *normal, size_t stride, double *value)
{
  const kg_function *functions[KG_WAVE_FIELDS_MAX];
  double memory[KG_WAVE_POINT * KG_WAVE_POINTS];
  kg_waves_functions_of(w, values, functions);
  kg_wave_batch batch =
      kg_wave_batch_in(memory, (size_t)n, kg_waves_may_jump(w->law->n_fields, functions));
  kg_wave_batch_add(w, element, n, place, normal, stride, &batch);
  for (int f = 0; f < w->law->n_fields; ++f)
    kg_wave_batch_evaluate(w, functions[f], &batch, value + (size_t)f * stride);
}

void kg_waves_place(const kg_waves *w, int32_t element, int node, char text[KG_PLACE_TEXT])
{
  const kg_nodal *const nodal = &w->nodal;
  double x[3];
  int n = 0;
  kg_waves_coordinates(w, element, 1, nodal->at + node, (size_t)nodal->n, x, 1);
  for (int k = 0; k < w->mesh->dimension; ++k)
    n += snprintf(text + n, (size_t)(KG_PLACE_TEXT - n), "%s%c = %.6g", k ? ", " : "", "xyz"[k],
                  x[k]);
}
