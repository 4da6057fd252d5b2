// Where the fields of a solution lie, and the way to the host.
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/fetch.h"
#include "ops/local/quadrature/elements.h"
#include "solution/solution.h"

size_t kg_held_rows(const kg_results *r, kg_held_field field)
{
  const int of[] = {[KG_HELD_U] = r->size.n_modes,
                    [KG_HELD_FLUX] = kg_cell_flux_rows(r->size.n_flux, r->keeps_gradient),
                    [KG_HELD_U_STAR] = r->size.n_star,
                    [KG_HELD_INDICATOR] = 1,
                    [KG_HELD_MEANS] = r->n_means};
  return (size_t)of[field];
}

/// Numbers of a field in the first n batches.
static size_t numbers_of(const kedge_solution *s, kg_held_field field, int n)
{
  size_t sum = 0;
  if (field == KG_HELD_TRACE) return n == s->n_batches ? (size_t)s->n_edges * (size_t)s->m : 0;
  for (const kg_results *r = s->batch; r < s->batch + n; ++r)
    sum += kg_held_rows(r, field) * KG_LANES * (size_t)r->n_groups;
  return sum;
}

/// Whether the block is host memory, which nothing needs to be brought from.
static bool is_here(const kedge_solution *s)
{
  return s->place == KG_ON_DEVICE && s->ctx->backend == KEDGE_BACKEND_HOST;
}

static double *in_block(const kedge_solution *s, kg_held_field field)
{
  return (double *)s->block.data + s->held[field].at;
}

/// Have kg_results point to a field that is in host memory.
static void point_to(kedge_solution *s, kg_held_field field)
{
  double *const host = s->held[field].host;
  for (int i = 0; i < s->n_batches; ++i) {
    kg_results *const r = &s->batch[i];
    double **const of[KG_HELD_FIELDS] = {&r->u, &r->flux, &r->u_star, &r->indicator, &r->constant};
    if (of[field]) *of[field] = host ? kg_solution_here(s, field, i) : NULL;
  }
}

void kg_solution_free_fields(kedge_solution *s)
{
  const bool here = is_here(s);
  for (kg_held_field f = 0; f < KG_HELD_FIELDS; ++f) {
    if (!here) free(s->held[f].host);
    s->held[f].numbers = 0;
    s->held[f].host = NULL;
    s->held[f].is_current = false;
    point_to(s, f);
  }
  if (s->block.data) kg_free(s->ctx, &s->block);
}

/// Have host memory for a field.
static kedge_status have_host(kedge_solution *s, kg_held_field field)
{
  kg_held *const h = &s->held[field];
  if (h->host) return KEDGE_OK;
  if (is_here(s))
    h->host = in_block(s, field);
  else
    KG_TRY(kg_host_alloc(s->ctx, numbers_of(s, field, s->n_batches), sizeof *h->host, &h->host));
  point_to(s, field);
  return KEDGE_OK;
}

kedge_status kg_solution_make_room(kedge_solution *s, unsigned fields)
{
  for (kg_held_field f = 0; f < KG_HELD_FIELDS; ++f)
    if (fields >> f & 1) KG_TRY(have_host(s, f));
  return KEDGE_OK;
}

/// Whether the memory that is there is for these fields.
static bool has_memory(const kedge_solution *s, unsigned fields)
{
  bool same = true;
  for (kg_held_field f = 0; f < KG_HELD_FIELDS; ++f)
    same = same && s->held[f].numbers == (fields >> f & 1 ? numbers_of(s, f, s->n_batches) : 0);
  return same;
}

/// @param[out] s  kg_solution_free_fields(), also after a failure
static kedge_status allocate(kedge_solution *s, unsigned fields, kg_place place, int64_t reserve)
{
  size_t all = 0;
  for (kg_held_field f = 0; f < KG_HELD_FIELDS; ++f) {
    s->held[f].at = all;
    s->held[f].numbers = fields >> f & 1 ? numbers_of(s, f, s->n_batches) : 0;
    all += s->held[f].numbers;
  }
  const int64_t bytes = (int64_t)kg_rounded(all * sizeof(double));
  s->place = KG_ON_HOST;
  if (all == 0) return KEDGE_OK;
  if (place == KG_ON_DEVICE && bytes <= kg_free_bytes(s->ctx) - reserve) {
    if (kg_alloc(s->ctx, all, sizeof(double), &s->block) == KEDGE_OK) s->place = KG_ON_DEVICE;
    if (s->place == KG_ON_HOST) s->ctx->error[0] = '\0';  // there is room on the host
  }
  return s->place == KG_ON_HOST || is_here(s) ? kg_solution_make_room(s, fields) : KEDGE_OK;
}

/// Take other memory, in which the trace is what it was: a solve may start from it.
static kedge_status take_other(kedge_solution *s, unsigned fields, kg_place place, int64_t reserve)
{
  const kg_held before = s->held[KG_HELD_TRACE];
  const size_t bytes = before.numbers * sizeof(double);
  double *trace;
  KG_TRY(kg_host_alloc(s->ctx, before.numbers, sizeof *trace, &trace));
  kedge_status status = KEDGE_OK;
  if (bytes > 0 && s->place == KG_ON_DEVICE)
    status = kg_fetch(s->ctx, trace, in_block(s, KG_HELD_TRACE), bytes);
  else if (bytes > 0)
    memcpy(trace, before.host, bytes);
  kg_solution_free_fields(s);
  if (status == KEDGE_OK) status = allocate(s, fields, place, reserve);
  if (status == KEDGE_OK && s->held[KG_HELD_TRACE].numbers == before.numbers && bytes > 0) {
    if (s->place == KG_ON_DEVICE)
      status = kg_copy_in(s->ctx, in_block(s, KG_HELD_TRACE), trace, bytes);
    else
      memcpy(s->held[KG_HELD_TRACE].host, trace, bytes);
  }
  free(trace);
  if (status != KEDGE_OK) kg_solution_free_fields(s);
  return status;
}

kedge_status kg_solution_allocate(kedge_solution *s, unsigned fields, kg_place place,
                                  int64_t reserve)
{
  if (!has_memory(s, fields)) KG_TRY(take_other(s, fields, place, reserve));
  for (kg_held_field f = 0; f < KG_HELD_FIELDS; ++f) point_to(s, f);
  kg_solution_change(s);
  return KEDGE_OK;
}

void kg_solution_change(kedge_solution *s)
{
  for (kg_held_field f = 0; f < KG_HELD_FIELDS; ++f)
    s->held[f].is_current = kg_holds(s, f) && (s->place == KG_ON_HOST || is_here(s));
}

size_t kg_solution_begin(const kedge_solution *s, kg_held_field field, int batch)
{
  return numbers_of(s, field, batch);
}

double *kg_solution_there(const kedge_solution *s, kg_held_field field, int batch)
{
  if (s->place == KG_ON_HOST || !kg_holds(s, field)) return NULL;
  return in_block(s, field) + numbers_of(s, field, batch);
}

double *kg_solution_here(const kedge_solution *s, kg_held_field field, int batch)
{
  return s->held[field].host + numbers_of(s, field, batch);
}

static kedge_status bring(kedge_solution *s, kg_held_field field)
{
  kg_held *const h = &s->held[field];
  KG_TRY(have_host(s, field));
  KG_TRY(kg_fetch(s->ctx, h->host, in_block(s, field), h->numbers * sizeof *h->host));
  h->is_current = true;
  return KEDGE_OK;
}

kedge_status kg_solution_bring(const kedge_solution *solution, unsigned fields)
{
  kedge_solution *const s = (kedge_solution *)solution;  // what it is stays the same
  kedge_status status = KEDGE_OK;
  for (kg_held_field f = 0; status == KEDGE_OK && f < KG_HELD_FIELDS; ++f) {
    if (!(fields >> f & 1) || !kg_holds(s, f) || s->held[f].is_current) continue;
    pthread_mutex_lock(&s->is_brought);
    if (!s->held[f].is_current) status = bring(s, f);
    pthread_mutex_unlock(&s->is_brought);
  }
  return status;
}
