// Whose march a checkpoint is: its mesh and its settings, as a file has them, and whether a march
// that goes on has the same.
#include "march/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/text.h"
#include "device/backend.h"
#include "mesh/mesh.h"
#include "problem/problem.h"

enum { WORD = KG_CHECKPOINT_WORD };

uint64_t kg_checkpoint_sum_on(uint64_t sum, const void *data, size_t bytes)
{
  const char *const from = data;
  for (size_t i = 0; i < bytes; i += WORD) {
    uint64_t word = 0;
    memcpy(&word, from + i, bytes - i < WORD ? bytes - i : WORD);
    sum = (sum ^ word) * UINT64_C(0x100000001b3);
    sum ^= sum >> 32;
  }
  return sum;
}

uint64_t kg_checkpoint_sum(const void *data, size_t bytes)
{
  return kg_checkpoint_sum_on(UINT64_C(0xcbf29ce484222325), data, bytes);
}

uint64_t kg_checkpoint_mesh(const kedge_mesh *mesh)
{
  const int32_t counts[] = {mesh->dimension, mesh->n_vertices, mesh->n_elements, mesh->n_edges,
                            mesh->geometry,  mesh->n_blocks,   mesh->block[0].n, mesh->n_groups};
  const size_t n = (size_t)mesh->n_elements, sides = (size_t)kg_mesh_sides(mesh);
  uint64_t sum = kg_checkpoint_sum(counts, sizeof counts);
  sum = kg_checkpoint_sum_on(
      sum, mesh->vertices,
      (size_t)mesh->n_vertices * (size_t)mesh->dimension * sizeof *mesh->vertices);
  sum = kg_checkpoint_sum_on(sum, mesh->element_vertices, sides * sizeof *mesh->element_vertices);
  sum = kg_checkpoint_sum_on(sum, mesh->element_region, n * sizeof *mesh->element_region);
  sum =
      kg_checkpoint_sum_on(sum, mesh->edge_group, (size_t)mesh->n_edges * sizeof *mesh->edge_group);
  for (int32_t e = 0; mesh->nodes && e < mesh->n_elements; ++e) {
    const kg_cell *const cell = kg_block_of(mesh, e)->cell;
    sum = kg_checkpoint_sum_on(sum, kg_element_nodes(mesh, e),
                               2 * (size_t)cell->n_modes(mesh->geometry) * sizeof(double));
  }
  for (int g = 0; g < mesh->n_groups; ++g) {
    sum = kg_checkpoint_sum_on(sum, &mesh->groups[g].tag, sizeof mesh->groups[g].tag);
    sum = kg_checkpoint_sum_on(sum, mesh->groups[g].name, strlen(mesh->groups[g].name));
  }
  return sum;
}

// Settings as text: section, key, 's', 'a' (an array, whose value is a sum) or 'f' (a function, of
// which nothing more is known) and the value, each with a '\0' behind it.

static bool has_keys(const kg_settings *settings, const char *section)
{
  for (int i = 0; i < settings->n; ++i)
    if (settings->items[i].key[0] && strcmp(settings->items[i].section, section) == 0) return true;
  return false;
}

/// Whether a setting changes what is computed: the mesh is compared itself, and where results go to
/// may change. The entry without a key, which a [region NAME] of a file has, says something where
/// there is no other alone.
static bool counts(const kg_settings *settings, const kg_setting *s)
{
  if (!s->key[0]) return !has_keys(settings, s->section);
  if (strcmp(s->section, "output") == 0)
    return strcmp(s->key, "every") == 0 || strcmp(s->key, "at") == 0;
  return strcmp(s->section, "mesh") != 0 && !kg_section_group(s->section, "probe") &&
         !kg_section_group(s->section, "integral");
}

/// Whether a setting is one number an element, wherever these are.
static bool is_array(const kg_setting *s)
{
  return s->user && (s->function == kedge_by_element || s->function == kedge_by_element_device);
}

static kedge_status put_sum(kedge_context *ctx, const kg_setting *s, int64_t n, FILE *stream)
{
  const size_t bytes = (size_t)n * sizeof(double);
  const bool is_there = s->function == kedge_by_element_device;
  double *copy = NULL;
  KG_TRY(kg_host_alloc(ctx, is_there ? bytes : 0, 1, &copy));
  const kedge_status status = is_there ? kg_copy_out(ctx, copy, s->user, bytes) : KEDGE_OK;
  if (status == KEDGE_OK)
    fprintf(stream, "%016llx",
            (unsigned long long)kg_checkpoint_sum(is_there ? copy : s->user, bytes));
  free(copy);
  return status;
}

kedge_status kg_checkpoint_settings(kedge_context *ctx, const kg_settings *settings,
                                    int64_t n_elements, char **text, size_t *bytes)
{
  FILE *const stream = open_memstream(text, bytes);
  kedge_status status = KEDGE_OK;
  for (int i = 0; stream && status == KEDGE_OK && i < settings->n; ++i) {
    const kg_setting *const s = &settings->items[i];
    if (!counts(settings, s)) continue;
    fprintf(stream, "%s%c%s%c%c%s", s->section, 0, s->key, 0,
            is_array(s)   ? 'a'
            : s->function ? 'f'
                          : 's',
            s->value ? s->value : "");
    if (is_array(s)) status = put_sum(ctx, s, n_elements, stream);
    fputc(0, stream);
  }
  const kedge_status end = kg_text_end(ctx, stream, "the settings of a checkpoint", text);
  return status == KEDGE_OK ? end : status;
}

/// A setting of a checkpoint, or of the problem that is compared with it.
typedef struct entry {
  const char *section, *key;
  char kind;
  const char *value;
} entry;

/// Read the next entry of a text. @return false: it has ended
static bool next_entry(const char **at, const char *end, entry *out)
{
  const char *const p = *at;
  if (p >= end) return false;
  const char *const key = p + strlen(p) + 1;
  const char *const value = key < end ? key + strlen(key) + 1 : end;
  if (value >= end) return false;
  *out = (entry){p, key, value[0], value[0] ? value + 1 : value};
  *at = value + strlen(value) + 1;
  return true;
}

/// What is said of a value: "= 2", "is an array", "is a function", "is not set"; of a section
/// without keys "is empty", "is not".
static void describe(const entry *e, bool is_section, char text[80])
{
  char shown[60];
  if (is_section) {
    snprintf(text, 80, e ? "is empty" : "is not");
  } else if (!e) {
    snprintf(text, 80, "is not set");
  } else if (e->kind == 'a') {
    snprintf(text, 80, "is an array");
  } else if (e->kind == 'f') {
    snprintf(text, 80, "is a function");
  } else {
    kg_text_show(e->value, shown, sizeof shown);
    snprintf(text, 80, "= %s%s", shown, strlen(e->value) >= sizeof shown ? "..." : "");
  }
}

static kedge_status refuse(kedge_context *ctx, const char *path, const entry *there,
                           const entry *here)
{
  const entry *const one = there ? there : here;
  const bool is_section = !one->key[0];
  char a[80], b[80];
  describe(there, is_section, a);
  describe(here, is_section, b);
  if (there && here && there->kind == 'a' && here->kind == 'a') snprintf(b, sizeof b, "another");
  return KG_FAIL(ctx, KEDGE_ERR_INPUT,
                 "the checkpoint %s is of another problem: [%s] %s%s%s there, and %s here", path,
                 one->section, one->key, is_section ? "" : " ", a, b);
}

static bool find_entry(const char *text, const char *end, const entry *like, entry *out)
{
  while (next_entry(&text, end, out))
    if (strcmp(out->section, like->section) == 0 && strcmp(out->key, like->key) == 0) return true;
  return false;
}

/// Whether a setting may have another value where a march goes on: its end, and how many steps
/// there are to it, of which compare_end() knows more.
static bool may_move(const entry *e)
{
  return strcmp(e->section, "time") == 0 &&
         (strcmp(e->key, "end") == 0 || strcmp(e->key, "steps") == 0);
}

/// Refuse the first setting of one text that is missing in the other, or has another value there.
static kedge_status compare_settings(kedge_context *ctx, const char *path, const char *there,
                                     size_t n_there, const char *here, size_t n_here)
{
  const char *at = there, *const there_end = there + n_there, *const here_end = here + n_here;
  entry a, b;
  while (next_entry(&at, there_end, &a)) {
    const bool found = find_entry(here, here_end, &a, &b);
    if (!found || a.kind != b.kind || (strcmp(a.value, b.value) != 0 && !may_move(&a)))
      return refuse(ctx, path, &a, found ? &b : NULL);
  }
  for (at = here; next_entry(&at, here_end, &b);)
    if (!find_entry(there, there_end, &b, &a)) return refuse(ctx, path, NULL, &b);
  return KEDGE_OK;
}

/// Refuse steps of another length, of steps = N. @param[in] step  of the file
static kedge_status compare_steps(kedge_context *ctx, const kg_checkpoint *c,
                                  const kg_time_settings *t, double step)
{
  const double n = round(t->end / step);
  char advice[100];
  if (fabs(t->step - step) <= 1e-12 * step) return KEDGE_OK;
  if (n >= 1.0 && fabs(t->end / n - step) <= 1e-12 * step)
    snprintf(advice, sizeof advice, "give steps = %.0f so that a step is %.9g again", n, step);
  else
    snprintf(advice, sizeof advice, "give an end that is a multiple of %.9g", step);
  return KG_FAIL(ctx, KEDGE_ERR_INPUT,
                 "the checkpoint %s has steps of %.9g, and [time] steps = %lld to end = %.9g are "
                 "of %.9g: %s",
                 c->path, step, (long long)t->steps, t->end, t->step, advice);
}

/// Refuse an end that is past, and steps of another length. All other settings have been compared.
static kedge_status compare_end(kedge_context *ctx, const kg_checkpoint *c,
                                const kedge_problem *problem)
{
  const kg_time_settings *const t = &problem->time;
  const entry steps = {.section = "time", .key = "steps"};
  entry there;
  KG_REQUIRE(ctx, t->end == kg_checkpoint_end(c) || t->end > c->head.plan.t * (1.0 + 1e-12),
             KEDGE_ERR_INPUT,
             "the checkpoint %s has reached t = %.9g, and [time] end = %.9g: give a later end",
             c->path, c->head.plan.t, t->end);
  if (t->steps == 0 || !find_entry(c->text, c->text + c->head.text_bytes, &steps, &there))
    return KEDGE_OK;
  return compare_steps(ctx, c, t, kg_checkpoint_end(c) / kg_number_value(there.value));
}

static kedge_status compare_problem(kedge_context *ctx, const kg_checkpoint *c,
                                    const kedge_problem *problem)
{
  char *here = NULL;
  size_t n_here;
  kedge_status status =
      kg_checkpoint_settings(ctx, &problem->settings, c->head.n_elements, &here, &n_here);
  if (status == KEDGE_OK)
    status = compare_settings(ctx, c->path, c->text, (size_t)c->head.text_bytes, here, n_here);
  free(here);
  return status == KEDGE_OK ? compare_end(ctx, c, problem) : status;
}

static kedge_status compare_mesh(kedge_context *ctx, const kg_checkpoint *c, const kedge_mesh *mesh)
{
  const long long there = c->head.n_elements, here = mesh->n_elements;
  KG_REQUIRE(ctx, there == here, KEDGE_ERR_INPUT,
             "the checkpoint %s is of another mesh: it has %lld elements, and this one %lld",
             c->path, there, here);
  KG_REQUIRE(
      ctx, c->head.mesh == kg_checkpoint_mesh(mesh), KEDGE_ERR_INPUT,
      "the checkpoint %s is of another mesh, of as many elements with other places or groups",
      c->path);
  return KEDGE_OK;
}

kedge_status kg_checkpoint_compare(kedge_context *ctx, const kg_checkpoint *c,
                                   const kedge_mesh *mesh, const kedge_problem *problem)
{
  KG_TRY(compare_mesh(ctx, c, mesh));
  return compare_problem(ctx, c, problem);
}
