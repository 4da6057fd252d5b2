// Fields at the points of probes. What a step costs is one kernel and one copy of some numbers,
// however many probes and fields are asked for: the first that is brings the fields of all that
// were asked for in the states before. A probe that is new comes alone.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "ops/waves/points.h"
#include "waves/waves.h"

void kg_wave_probes_free(kedge_context *ctx, kg_wave_probes *p)
{
  kg_free(ctx, &p->there);
  free(p->probe);
  free(p->element);
  free(p->row);
  free(p->value);
  *p = (kg_wave_probes){0};
}

/// Nobody says when a probe has ended. One that is not asked for stays for so many states, so that
/// one that is read now and then is not made anew each time, while there are no more points than
/// that.
enum { STATES_KEPT = 64, POINTS_KEPT = 1 << 14 };

/// Probes are asked for in one order in all states: the search begins where the last one ended.
static kg_wave_probe *find(kg_wave_probes *p, const kedge_probe *probe)
{
  for (int k = 0; k < p->n_probes; ++k) {
    const int i = (p->last + k) % p->n_probes;
    if (p->probe[i].number != probe->number) continue;
    p->last = i;
    return &p->probe[i];
  }
  return NULL;
}

static void drop_idle(const kg_waves *w, kg_wave_probes *p)
{
  const size_t nodes = (size_t)w->nodal.n;
  const int64_t since = p->state - (p->n > POINTS_KEPT ? 0 : STATES_KEPT);
  const int n_probes = p->n_probes;
  p->n = p->n_probes = 0;
  for (int i = 0; i < n_probes; ++i) {
    const kg_wave_probe old = p->probe[i];
    if (old.asked < since) continue;
    if (old.first > p->n) {
      memmove(p->element + p->n, p->element + old.first, (size_t)old.n * sizeof *p->element);
      memmove(p->row + (size_t)p->n * nodes, p->row + (size_t)old.first * nodes,
              (size_t)old.n * nodes * sizeof *p->row);
    }
    p->probe[p->n_probes++] = (kg_wave_probe){old.number, p->n, old.n, old.asked};
    p->n += old.n;
  }
  if (p->n_probes < n_probes) p->is_there = false;
  if (p->last >= p->n_probes) p->last = 0;
}

/// Copy the tables of points from `first` on to the device.
static kedge_status upload(const kg_waves *w, const kg_wave_probes *p, int64_t first,
                           kg_buffer *there)
{
  const size_t n = (size_t)(p->n - first), nodes = (size_t)w->nodal.n;
  const size_t values = n * (size_t)w->law->n_fields * sizeof(double);
  const size_t rows = n * nodes * sizeof(double);
  kg_free(w->ctx, there);
  KG_TRY(kg_alloc(w->ctx, values + rows + n * sizeof *p->element, 1, there));
  char *const to = there->data;
  KG_TRY(kg_copy_in(w->ctx, to + values, p->row + (size_t)first * nodes, rows));
  return kg_copy_in(w->ctx, to + values + rows, p->element + first, n * sizeof *p->element);
}

/// Make their values.
static kedge_status make(const kg_waves *w, const kg_wave_probes *p, int64_t first,
                         const kg_buffer *there)
{
  const size_t n = (size_t)(p->n - first), fields = (size_t)w->law->n_fields;
  double *const value = there->data, *const row = value + n * fields;
  const kg_wave_points_args args = {w->args, (int64_t)n,
                                    (const int32_t *)(const void *)(row + n * (size_t)w->nodal.n),
                                    row, value};
  KG_TRY(kg_wave_points(w->ctx, &args));
  return kg_copy_out(w->ctx, p->value + (size_t)first * fields, value, n * fields * sizeof *value);
}

/// Have values of this state of the probes that are kept.
static kedge_status refresh(const kg_waves *w, kg_wave_probes *p)
{
  drop_idle(w, p);
  ++p->state;
  p->is_current = true;
  if (p->n == 0) return KEDGE_OK;
  if (!p->is_there) KG_TRY(upload(w, p, 0, &p->there));
  p->is_there = true;
  return make(w, p, 0, &p->there);
}

/// Give an array of n entries room for more. @param[in,out] array  address of the pointer to it
static kedge_status grow(const kg_waves *w, size_t size, int64_t n, int64_t room, void *array)
{
  void *old, *more;
  memcpy(&old, array, sizeof old);
  KG_TRY(kg_host_alloc(w->ctx, (size_t)room, size, &more));
  if (n > 0) memcpy(more, old, (size_t)n * size);
  free(old);
  memcpy(array, &more, sizeof more);
  return KEDGE_OK;
}

/// Have room for another probe.
static kedge_status reserve(const kg_waves *w, kg_wave_probes *p, const kedge_probe *probe)
{
  const int64_t points = p->n + probe->n_inside;
  if (p->n_probes == p->probes_room) {
    p->probes_room = 2 * p->probes_room + 8;
    KG_TRY(grow(w, sizeof *p->probe, p->n_probes, p->probes_room, &p->probe));
  }
  if (points <= p->room) return KEDGE_OK;
  p->room = points + p->n;
  KG_TRY(grow(w, sizeof *p->element, p->n, p->room, &p->element));
  KG_TRY(grow(w, (size_t)w->nodal.n * sizeof *p->row, p->n, p->room, &p->row));
  return grow(w, (size_t)w->law->n_fields * sizeof *p->value, p->n, p->room, &p->value);
}

/// Add the points of a probe that lie inside, with their values.
static kedge_status append(const kg_waves *w, kg_wave_probes *p, const kedge_probe *probe)
{
  const size_t nodes = (size_t)w->nodal.n, d = (size_t)w->mesh->dimension;
  const int64_t first = p->n;
  kg_buffer there = {0};
  KG_TRY(reserve(w, p, probe));
  for (int64_t k = 0; k < probe->n_inside; ++k) {
    p->element[first + k] = probe->read[k];
    kg_waves_row(w, probe->at + d * (size_t)probe->inside[k], p->row + (size_t)(first + k) * nodes);
  }
  p->last = p->n_probes;
  p->probe[p->n_probes++] = (kg_wave_probe){probe->number, first, probe->n_inside, p->state};
  p->n += probe->n_inside;
  p->is_there = false;
  if (probe->n_inside == 0) return KEDGE_OK;
  kedge_status status = upload(w, p, first, &there);
  if (status == KEDGE_OK) status = make(w, p, first, &there);
  kg_free(w->ctx, &there);
  return status;
}

/// Have values of this state, of this probe among others.
static kedge_status bring(const kg_waves *w, kg_wave_probes *p, const kedge_probe *probe)
{
  KG_TRY(kg_enter(w->ctx));
  if (!p->is_current) KG_TRY(refresh(w, p));
  return find(p, probe) ? KEDGE_OK : append(w, p, probe);
}

kedge_status kg_waves_probe(kg_waves *w, const kedge_probe *probe, int field, double *values)
{
  kg_wave_probes *const p = &w->probes;
  if (!p->is_current || !find(p, probe)) {
    const kedge_status status = bring(w, p, probe);
    if (status != KEDGE_OK) {
      kg_wave_probes_free(w->ctx, p);
      return status;
    }
  }
  kg_wave_probe *const own = find(p, probe);
  own->asked = p->state;
  for (int64_t i = 0; i < probe->n; ++i) values[i] = NAN;
  for (int64_t k = 0; k < own->n; ++k) {
    const double value = p->value[(own->first + k) * w->law->n_fields + field];
    if (!isfinite(value)) return kg_waves_refuse(w, field);
    values[probe->inside[k]] = value;
  }
  return KEDGE_OK;
}
