// Fields at the points of probes. What a step costs is one kernel and one copy of some numbers,
// however many probes and fields are asked for: the first that is brings the fields of all that
// were asked for in the state before, and of others where they are few.
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
  free(p->element);
  free(p->row);
  free(p->value);
  *p = (kg_wave_probes){0};
}

/// Points that stay where they are, asked for or not: those of a probe that is read every other
/// step are not made anew each time.
enum { POINTS_KEPT = 1 << 14 };

static kg_wave_probe *find(kg_wave_probes *p, const kedge_probe *probe)
{
  for (int i = 0; i < p->n_probes; ++i)
    if (p->probe[i].number == probe->number) return &p->probe[i];
  return NULL;
}

/// Drop the points of probes that were not asked for in the state before: nobody says when a probe
/// has ended. @return whether there were any
static bool drop_idle(const kg_waves *w, kg_wave_probes *p)
{
  const size_t nodes = (size_t)w->nodal.n;
  const int n_probes = p->n_probes;
  p->n = p->n_probes = 0;
  for (int i = 0; i < n_probes; ++i) {
    const kg_wave_probe old = p->probe[i];
    if (!old.is_asked) continue;
    memmove(p->element + p->n, p->element + old.first, (size_t)old.n * sizeof *p->element);
    memmove(p->row + (size_t)p->n * nodes, p->row + (size_t)old.first * nodes,
            (size_t)old.n * nodes * sizeof *p->row);
    p->probe[p->n_probes++] = (kg_wave_probe){old.number, p->n, old.n, false};
    p->n += old.n;
  }
  return p->n_probes < n_probes;
}

static kedge_status upload(const kg_waves *w, kg_wave_probes *p)
{
  const size_t n = (size_t)p->n, fields = (size_t)w->law->n_fields, nodes = (size_t)w->nodal.n;
  const size_t doubles = n * (fields + nodes) * sizeof(double);
  kg_free(w->ctx, &p->there);
  KG_TRY(kg_alloc(w->ctx, doubles + n * sizeof *p->element, 1, &p->there));
  char *const to = p->there.data;
  KG_TRY(kg_copy_in(w->ctx, to + n * fields * sizeof(double), p->row, n * nodes * sizeof *p->row));
  return kg_copy_in(w->ctx, to + doubles, p->element, n * sizeof *p->element);
}

/// Add the points of a probe that lie inside.
static kedge_status append(const kg_waves *w, kg_wave_probes *p, const kedge_probe *probe)
{
  const size_t nodes = (size_t)w->nodal.n, d = (size_t)w->mesh->dimension;
  const size_t n = (size_t)(p->n + probe->n_inside);
  kg_wave_probes all = *p;
  all.element = NULL, all.row = NULL, all.value = NULL;
  kedge_status status = kg_host_alloc(w->ctx, n, sizeof *all.element, &all.element);
  if (status == KEDGE_OK) status = kg_host_alloc(w->ctx, n, nodes * sizeof *all.row, &all.row);
  if (status == KEDGE_OK)
    status = kg_host_alloc(w->ctx, n, (size_t)w->law->n_fields * sizeof *all.value, &all.value);
  if (status != KEDGE_OK) {
    free(all.element);
    free(all.row);
    free(all.value);
    return status;
  }
  if (p->n > 0) {
    memcpy(all.element, p->element, (size_t)p->n * sizeof *p->element);
    memcpy(all.row, p->row, (size_t)p->n * nodes * sizeof *p->row);
  }
  for (int64_t k = 0; k < probe->n_inside; ++k) {
    all.element[p->n + k] = probe->read[k];
    kg_waves_row(w, probe->at + d * (size_t)probe->inside[k], all.row + (size_t)(p->n + k) * nodes);
  }
  free(p->element);
  free(p->row);
  free(p->value);
  *p = all;
  p->probe[p->n_probes++] = (kg_wave_probe){probe->number, p->n, probe->n_inside, false};
  p->n = (int64_t)n;
  return KEDGE_OK;
}

/// Make the values of all points.
static kedge_status make(const kg_waves *w, kg_wave_probes *p)
{
  const size_t n = (size_t)p->n, fields = (size_t)w->law->n_fields;
  double *const value = p->there.data, *const row = value + n * fields;
  const kg_wave_points_args args = {
      w->args, p->n, (const int32_t *)(const void *)(row + n * (size_t)w->nodal.n), row, value};
  KG_TRY(kg_wave_points(w->ctx, &args));
  return kg_copy_out(w->ctx, p->value, value, n * fields * sizeof *value);
}

/// Have the values of the state of all probes, this one among them.
static kedge_status refresh(const kg_waves *w, kg_wave_probes *p, const kedge_probe *probe)
{
  bool changed = false;
  if (!p->is_current && p->n > POINTS_KEPT) changed = drop_idle(w, p);
  if (!find(p, probe)) {
    if (p->n_probes == KG_WAVE_PROBES_MAX) p->n = p->n_probes = 0;
    KG_TRY(append(w, p, probe));
    changed = true;
  }
  if (changed) KG_TRY(upload(w, p));
  KG_TRY(make(w, p));
  p->is_current = true;
  return KEDGE_OK;
}

kedge_status kg_waves_probe(kg_waves *w, const kedge_probe *probe, int field, double *values)
{
  kg_wave_probes *const p = &w->probes;
  if (!p->is_current || !find(p, probe)) {
    KG_TRY(kg_enter(w->ctx));
    const kedge_status status = refresh(w, p, probe);
    if (status != KEDGE_OK) {
      kg_wave_probes_free(w->ctx, p);
      return status;
    }
  }
  kg_wave_probe *const own = find(p, probe);
  own->is_asked = true;
  for (int64_t i = 0; i < probe->n; ++i) values[i] = NAN;
  for (int64_t k = 0; k < own->n; ++k) {
    const double value = p->value[(own->first + k) * w->law->n_fields + field];
    if (!isfinite(value)) return kg_waves_refuse(w, field);
    values[probe->inside[k]] = value;
  }
  return KEDGE_OK;
}
