// What a problem says of waves on a mesh, as tables that stages read.
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "waves/waves.h"

enum { LANES = KG_WAVE_LANES };

/// Arrays of one settling.
typedef struct settling {
  kg_waves *w;
  const kg_boundary **boundary;     ///< [group of the mesh]
  const kg_coefficients **section;  ///< [group of the mesh]
  double *medium;                   ///< as of kg_wave_args
  kg_wave_side *side, *quiet;       ///< [boundary]; quiet: without data
  kg_wave_piece *piece;             ///< of the boundary, or elements
  int32_t *part, *place;            ///< [piece]
  kg_wave_part *parts;              ///< [group of the mesh]
  int32_t *element;                 ///< with a source
  double *factor;
} settling;

/// The part of a group: the first one that has the same functions, or a new one.
static int32_t part_of(settling *s, int *n_parts, int n,
                       const kg_function *const functions[KG_WAVE_FIELDS_MAX])
{
  int i = 0;
  while (i < *n_parts &&
         memcmp(s->parts[i].function, functions, (size_t)n * sizeof *functions) != 0)
    ++i;
  if (i < *n_parts) return i;
  s->parts[i] = (kg_wave_part){0};
  memcpy(s->parts[i].function, functions, (size_t)n * sizeof *functions);
  return (*n_parts)++;
}

/// Facets on the boundary, their kinds and functions. @param[out] data  what is to be made of them
static kedge_status list_boundary(settling *s, kg_wave_pieces *out, kg_wave_data *data)
{
  const kg_waves *const w = s->w;
  const kedge_mesh *const mesh = w->mesh;
  kg_wave_pieces pieces = {.piece = s->piece, .part = s->part, .parts = s->parts};
  int32_t *kind, *group_part;
  KG_TRY(kg_host_alloc(w->ctx, 2 * (size_t)mesh->n_groups, sizeof *kind, &kind));
  group_part = kind + mesh->n_groups;
  kedge_status status = KEDGE_OK;
  for (int g = 0; g < mesh->n_groups && status == KEDGE_OK; ++g) {
    const kg_function *functions[KG_WAVE_FIELDS_MAX];
    const kg_wave_values *values = NULL;
    group_part[g] = -1;
    if (s->boundary[g]) status = kg_waves_boundary(w, s->boundary[g], &kind[g], &values);
    if (!values || status != KEDGE_OK) continue;
    kg_waves_functions_of(w, values, functions);
    group_part[g] = part_of(s, &pieces.n_parts, w->law->n_fields, functions);
  }
  for (int32_t edge = 0; edge < mesh->n_edges && status == KEDGE_OK; ++edge) {
    const kg_side *const sides = mesh->edge_sides + 2 * (int64_t)edge;
    if (sides[1] != KG_NO_SIDE) continue;
    const int g = mesh->edge_group[edge];
    s->side[pieces.n].kind = kind[g];
    s->part[pieces.n] = group_part[g];
    s->piece[pieces.n++] =
        (kg_wave_piece){kg_side_element(sides[0]), (int32_t)kg_side_facet(sides[0])};
  }
  free(kind);
  *data = (kg_wave_data){
      .n = w->nodal.n_facet, .n_functions = w->law->n_fields, .what = "the field %s of a boundary"};
  memcpy(data->name, w->law->fields, sizeof w->law->fields);
  *out = pieces;
  return status;
}

static kedge_status put_boundary(settling *s)
{
  kg_waves *const w = s->w;
  kg_wave_pieces pieces;
  KG_TRY(list_boundary(s, &pieces, &w->given));
  KG_TRY(kg_wave_data_make(w, &pieces, &w->given, s->place));
  for (int32_t i = 0; i < pieces.n; ++i) {
    s->side[i].data = s->place[i];
    s->quiet[i] = (kg_wave_side){s->side[i].kind, -1};
  }
  w->args.data = w->given.values.data;
  return KEDGE_OK;
}

/// The functions of the source of a region: its own, else those of [equation].
/// @return whether there is one
static bool source_of(const settling *s, int group, const kg_function *functions[])
{
  const kg_coefficients *const all = &s->w->problem->equation,
                               *from = kg_waves_coefficients(s->w, s->section, group);
  const bool is_current = strcmp(s->w->law->source, "current") == 0;
  const bool own = (is_current ? from->current[0] : from->source).kind != KG_FUNCTION_NONE;
  bool any = false;
  if (!own) from = all;
  for (int k = 0; k < s->w->law->n_sources; ++k) {
    functions[k] = is_current ? &from->current[k] : &from->source;
    any = any || (functions[k]->kind != KG_FUNCTION_NONE &&
                  !(functions[k]->kind == KG_FUNCTION_CONSTANT && functions[k]->constant == 0.0));
  }
  return any;
}

/// Elements with a source. @param[out] data  what is to be made of them
static kedge_status list_sources(settling *s, kg_wave_pieces *out, kg_wave_data *data)
{
  const kg_waves *const w = s->w;
  const kedge_mesh *const mesh = w->mesh;
  const kg_law *const law = w->law;
  kg_wave_pieces pieces = {.piece = s->piece, .part = s->part, .parts = s->parts};
  int32_t *group_part;
  KG_TRY(kg_host_alloc(w->ctx, (size_t)mesh->n_groups, sizeof *group_part, &group_part));
  for (int g = kg_line_groups(mesh); g < mesh->n_groups; ++g) {
    const kg_function *functions[KG_WAVE_FIELDS_MAX];
    group_part[g] =
        source_of(s, g, functions) ? part_of(s, &pieces.n_parts, law->n_sources, functions) : -1;
  }
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    s->part[pieces.n] = group_part[kg_waves_group(mesh, e)];
    if (s->part[pieces.n] >= 0) s->piece[pieces.n++] = (kg_wave_piece){e, -1};
  }
  free(group_part);
  *data = (kg_wave_data){.n = w->nodal.n, .n_functions = law->n_sources, .what = "%s"};
  for (int k = 0; k < law->n_sources; ++k)
    data->name[k] = law->n_sources > 1 ? kg_current_keys[k] : law->source;
  *out = pieces;
  return KEDGE_OK;
}

/// Sources, and what the media of their elements make of them.
static kedge_status put_sources(settling *s)
{
  kg_waves *const w = s->w;
  const kg_law *const law = w->law;
  kg_wave_pieces pieces;
  KG_TRY(list_sources(s, &pieces, &w->driven));
  if (pieces.n == 0) return KEDGE_OK;
  KG_TRY(kg_wave_data_make(w, &pieces, &w->driven, s->place));
  for (int32_t i = 0; i < pieces.n; ++i) {
    double weight[KG_WAVE_FIELDS_MAX];
    const int32_t e = s->element[i] = w->driven.piece[i].element;
    law->weights(w->number + (int64_t)e * law->n_numbers, weight);
    s->factor[i] = law->source_sign / weight[0];
  }
  w->source = (kg_wave_source_args){
      .n = pieces.n, .n_sources = law->n_sources, .data = w->driven.values.data};
  return KEDGE_OK;
}

enum { TABLES = 5 };

/// The tables of the device. @param[in,out] w  where they will be
static void list_tables(const settling *s, kg_waves *w, kg_wave_table list[TABLES])
{
  const size_t lanes = (size_t)w->args.n_groups * LANES, driven = (size_t)w->source.n;
  const kg_wave_table all[TABLES] = {
      {s->medium, lanes * (size_t)w->args.n_numbers, 0, &w->args.medium},
      {s->side, (size_t)w->mesh->n_boundary_edges, sizeof *s->side, &w->args.boundary},
      {s->quiet, (size_t)w->mesh->n_boundary_edges, sizeof *s->quiet, &w->quiet},
      {s->element, driven, sizeof *s->element, &w->source.element},
      {s->factor, driven, 0, &w->source.factor}};
  memcpy(list, all, sizeof all);
}

static kedge_status match(settling *s)
{
  kg_waves *const w = s->w;
  KG_TRY(kg_waves_fit(w));
  KG_TRY(kg_problem_match(w->ctx, w->problem, w->mesh, s->boundary));
  return kg_regions_match(w->ctx, w->problem, w->mesh, s->section);
}

static kedge_status make(settling *s)
{
  kg_waves *const w = s->w;
  kg_wave_table list[TABLES];
  KG_TRY(match(s));
  w->args.upwind = w->problem->wave.upwind;
  KG_TRY(kg_waves_media(w, s->section, s->medium));
  kg_waves_limit(w);
  KG_TRY(put_boundary(s));
  KG_TRY(put_sources(s));
  kg_waves_note_data(w, s->boundary);
  if (w->steps == 0) KG_TRY(kg_waves_note_exact(w, s->boundary));  // once, as it takes long
  list_tables(s, w, list);
  return kg_waves_upload(w, TABLES, list, &w->settled);
}

/// Count what make() takes of the device.
static kedge_status count(settling *s, int64_t *bytes)
{
  kg_waves counted = *s->w;
  kg_wave_pieces pieces;
  kg_wave_table list[TABLES];
  kg_wave_data data;
  KG_TRY(match(s));
  KG_TRY(list_boundary(s, &pieces, &data));
  KG_TRY(kg_wave_data_bytes(s->w, &pieces, &data, bytes));
  KG_TRY(list_sources(s, &pieces, &data));
  if (pieces.n > 0) {
    int64_t driven;
    KG_TRY(kg_wave_data_bytes(s->w, &pieces, &data, &driven));
    *bytes += driven;
  }
  counted.source.n = pieces.n;
  list_tables(s, &counted, list);
  *bytes += kg_waves_table_bytes(s->w, TABLES, list);
  return KEDGE_OK;
}

/// Find the longest step alone.
static kedge_status measure(settling *s)
{
  KG_TRY(match(s));
  KG_TRY(kg_waves_media(s->w, s->section, s->medium));
  kg_waves_limit(s->w);
  return KEDGE_OK;
}

/// @param[out] bytes  NULL: it is not counted, and `task` is done; else it is only counted
static kedge_status settle(kg_waves *w, kedge_status (*task)(settling *), int64_t *bytes)
{
  const kedge_mesh *const mesh = w->mesh;
  const size_t boundary = (size_t)mesh->n_boundary_edges, elements = (size_t)mesh->n_elements;
  const size_t numbers = (size_t)w->law->n_numbers, n_groups = (size_t)mesh->n_groups;
  const size_t lanes = (size_t)w->args.n_groups * LANES;
  const size_t pieces = boundary > elements ? boundary : elements;
  settling s = {.w = w};
  const struct {
    size_t n, size;
    void *to;
  } arrays[] = {{n_groups, sizeof *s.boundary, &s.boundary},
                {n_groups, sizeof *s.section, &s.section},
                {boundary, sizeof *s.side, &s.side},
                {pieces, sizeof *s.piece, &s.piece},
                {pieces, sizeof *s.part, &s.part},
                {n_groups, sizeof *s.parts, &s.parts},
                // Only to make it:
                {pieces, sizeof *s.place, &s.place},
                {boundary, sizeof *s.quiet, &s.quiet},
                {lanes * numbers, sizeof *s.medium, &s.medium},
                {elements, sizeof *s.element, &s.element},
                {elements, sizeof *s.factor, &s.factor},
                {elements * numbers, sizeof *w->number, &w->number}};
  const int n = bytes ? 6 : (int)(sizeof arrays / sizeof *arrays);
  kedge_status status = KEDGE_OK;
  for (int i = 0; i < n && status == KEDGE_OK; ++i)
    status = kg_host_calloc(w->ctx, arrays[i].n, arrays[i].size, arrays[i].to);
  if (status == KEDGE_OK) status = bytes ? count(&s, bytes) : task(&s);
  free(s.factor);
  free(s.element);
  free(s.parts);
  free(s.place);
  free(s.part);
  free(s.piece);
  free(s.side);
  free(s.quiet);
  free(s.medium);
  free(s.section);
  free(s.boundary);
  return status;
}

kedge_status kg_waves_settle(kg_waves *w)
{
  return settle(w, make, NULL);
}

kedge_status kg_waves_settled_bytes(const kg_waves *w, int64_t *bytes)
{
  kg_waves counted = *w;
  return settle(&counted, NULL, bytes);
}

kedge_status kg_waves_find_longest(const kg_waves *w, kg_waves_memory *memory)
{
  kg_waves measured = *w;
  const kedge_status status = settle(&measured, measure, NULL);
  if (status == KEDGE_OK) {
    memory->longest = measured.longest;
    kg_waves_note_step(&measured, sizeof memory->note, memory->note);
  }
  free(measured.number);
  return status;
}

void kg_waves_forget(kg_waves *w)
{
  w->problem = NULL;
  w->longest = 0.0;
  w->number = NULL;
  w->given = w->driven = (kg_wave_data){0};
  w->settled = (kg_buffer){0};
  w->source = (kg_wave_source_args){0};
}

void kg_waves_unsettle(kg_waves *w)
{
  kg_free(w->ctx, &w->settled);
  kg_wave_data_free(w->ctx, &w->given);
  kg_wave_data_free(w->ctx, &w->driven);
  free(w->number);
  kedge_problem_destroy(w->problem);
  kg_waves_forget(w);
}
