#include "march/checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/target.h"
#include "core/text.h"
#include "device/backend.h"
#include "mesh/mesh.h"
#include "problem/problem.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

static const char MAGIC[8] = {'k', 'e', 'd', 'g', 'e', '-', 'm', '\n'};
enum { VERSION = 2, WORD = 8, RUN = 1 << 17 };

// Sums

/// FNV-1a of words, whose upper half comes down, as a word has more than a byte.
static uint64_t add_bytes(uint64_t sum, const void *data, size_t bytes)
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

static uint64_t sum_of(const void *data, size_t bytes)
{
  return add_bytes(UINT64_C(0xcbf29ce484222325), data, bytes);
}

/// All of a mesh that a march depends on, in the mesh's own numbering: how a file numbers its
/// elements is of no account.
static uint64_t sum_of_mesh(const kedge_mesh *mesh)
{
  const int32_t counts[] = {mesh->dimension, mesh->n_vertices, mesh->n_elements, mesh->n_edges,
                            mesh->geometry,  mesh->n_blocks,   mesh->block[0].n, mesh->n_groups};
  const size_t n = (size_t)mesh->n_elements, sides = (size_t)kg_mesh_sides(mesh);
  uint64_t sum = sum_of(counts, sizeof counts);
  sum = add_bytes(sum, mesh->vertices,
                  (size_t)mesh->n_vertices * (size_t)mesh->dimension * sizeof *mesh->vertices);
  sum = add_bytes(sum, mesh->element_vertices, sides * sizeof *mesh->element_vertices);
  sum = add_bytes(sum, mesh->element_region, n * sizeof *mesh->element_region);
  sum = add_bytes(sum, mesh->edge_group, (size_t)mesh->n_edges * sizeof *mesh->edge_group);
  for (int32_t e = 0; mesh->nodes && e < mesh->n_elements; ++e) {
    const kg_cell *const cell = kg_block_of(mesh, e)->cell;
    sum = add_bytes(sum, kg_element_nodes(mesh, e),
                    2 * (size_t)cell->n_modes(mesh->geometry) * sizeof(double));
  }
  for (int g = 0; g < mesh->n_groups; ++g) {
    sum = add_bytes(sum, &mesh->groups[g].tag, sizeof mesh->groups[g].tag);
    sum = add_bytes(sum, mesh->groups[g].name, strlen(mesh->groups[g].name));
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
    fprintf(stream, "%016llx", (unsigned long long)sum_of(is_there ? copy : s->user, bytes));
  free(copy);
  return status;
}

static kedge_status put_settings(kedge_context *ctx, const kg_settings *settings,
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

/// A setting of a file, or of a problem. A section of NULL: there is none.
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

// Writing

static size_t rounded(size_t bytes)
{
  return (bytes + WORD - 1) / WORD * WORD;
}

/// What a file is written from, and how far it is.
typedef struct writing {
  const kg_target *target;
  int file;
  int64_t at;    ///< bytes
  uint64_t sum;  ///< of those behind the head
  kg_checkpoint_head head;
  char *text;
  kg_march_array arrays[KG_MARCH_ARRAYS_MAX];
  double *run;  ///< [RUN]: of an array, which host memory need not hold
} writing;

static size_t file_bytes(const writing *w)
{
  size_t words = 2 * (size_t)w->head.n_hits;
  for (int i = 0; i < w->head.n_arrays; ++i) words += 1 + (size_t)w->arrays[i].n;
  return sizeof w->head + words * WORD + rounded((size_t)w->head.text_bytes);
}

/// Write what follows, which the file fills up with zeros to full words.
static kedge_status put(writing *w, const void *data, size_t bytes)
{
  KG_TRY(kg_target_write(w->target, w->file, w->at, (int64_t)bytes, data));
  w->at += (int64_t)rounded(bytes);
  w->sum = add_bytes(w->sum, data, bytes);
  return KEDGE_OK;
}

static kedge_status put_array(kedge_context *ctx, writing *w, const kg_march_array *a)
{
  const double count = (double)a->n;
  KG_TRY(put(w, &count, sizeof count));
  for (int64_t i = 0, n; i < a->n; i += n) {
    n = a->n - i < RUN ? a->n - i : RUN;
    KG_TRY(kg_copy_out(ctx, w->run, a->data + i, (size_t)n * sizeof *w->run));
    KG_TRY(put(w, w->run, (size_t)n * sizeof *w->run));
  }
  return KEDGE_OK;
}

/// The head is the last, as it has the sum, itself among what is summed but for what stands before.
static kedge_status put_all(const kedge_march *m, writing *w)
{
  const size_t before = offsetof(kg_checkpoint_head, mesh);
  KG_TRY(kg_target_reserve(w->target, w->file, w->head.bytes));
  for (int i = 0; i < m->n_hits; ++i) {
    const double hit[] = {m->hits[i].t, m->hits[i].is_event + 2 * m->hits[i].is_output};
    KG_TRY(put(w, hit, sizeof hit));
  }
  KG_TRY(put(w, w->text, (size_t)w->head.text_bytes));
  for (int i = 0; i < w->head.n_arrays; ++i) KG_TRY(put_array(m->ctx, w, &w->arrays[i]));
  w->head.sum = add_bytes(w->sum, (char *)&w->head + before, sizeof w->head - before);
  return kg_target_write(w->target, w->file, 0, sizeof w->head, &w->head);
}

static kedge_status put_file(const kedge_march *m, writing *w)
{
  w->file = open(kg_target_name(w->target), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (w->file < 0) return kg_target_fail(w->target, strerror(errno));
  kedge_status status = put_all(m, w);
  if (close(w->file) != 0 && status == KEDGE_OK)
    status = kg_target_fail(w->target, strerror(errno));
  return status == KEDGE_OK ? kg_target_commit(w->target) : status;
}

/// @param[in,out] w  text and arrays are known
static kedge_status write_file(const kedge_march *m, const char *path, writing *w)
{
  kg_target target;
  w->head.bytes = (int64_t)file_bytes(w);
  w->at = sizeof w->head;
  w->sum = sum_of(NULL, 0);
  w->target = &target;
  KG_TRY(kg_host_alloc(m->ctx, RUN, sizeof *w->run, &w->run));
  KG_TRY(kg_target_open(m->ctx, path, "checkpoint", true, &target));
  const kedge_status status = put_file(m, w);
  kg_target_close(&target);
  return status;
}

kedge_status kg_checkpoint_write(const kedge_march *m, const char *path)
{
  const kedge_marched *const r = &m->report;
  writing w = {.head = {.version = VERSION,
                        .mesh = sum_of_mesh(m->mesh),
                        .n_elements = m->mesh->n_elements,
                        .n_hits = m->n_hits,
                        .plan = m->plan,
                        .step = r->step,
                        .seconds = kg_seconds() - m->created,
                        .steps = r->steps,
                        .rejected = r->rejected,
                        .change = r->change,
                        .solves = r->solves,
                        .iterations = r->iterations,
                        .set_ups = r->set_ups,
                        .is_converged = r->converged,
                        .grown_step = r->grown_step,
                        .grown_t = r->grown_t}};
  memcpy(w.head.magic, MAGIC, sizeof MAGIC);
  w.head.n_arrays = m->method->arrays(m->state, w.arrays);
  size_t text_bytes = 0;
  KG_TRY(kg_enter(m->ctx));
  kedge_status status =
      put_settings(m->ctx, &m->problem->settings, m->mesh->n_elements, &w.text, &text_bytes);
  w.head.text_bytes = (int64_t)text_bytes;
  if (status == KEDGE_OK) status = write_file(m, path, &w);
  free(w.text);
  free(w.run);
  return status;
}

// Reading

static kedge_status refuse_damage(kedge_context *ctx, const char *path)
{
  return KG_FAIL(ctx, KEDGE_ERR_INPUT, "the checkpoint %s is damaged: begin anew", path);
}

/// Whether counts of a head, which may be anything, fit a file of that size.
static bool are_counts_good(const kg_checkpoint_head *h)
{
  const int64_t words = (h->bytes - (int64_t)sizeof *h) / WORD;
  return h->n_hits > 0 && h->n_hits <= words / 2 && h->text_bytes >= 0 &&
         h->text_bytes <= h->bytes && h->n_arrays >= 0 && h->n_arrays <= KG_MARCH_ARRAYS_MAX &&
         2 * h->n_hits + (int64_t)rounded((size_t)h->text_bytes) / WORD + h->n_arrays <= words;
}

/// Whether the arrays fill the file.
static bool are_arrays_good(const kg_checkpoint *c)
{
  const double *at = c->arrays, *const end = (const double *)(c->data + c->head.bytes);
  for (int64_t i = 0; i < c->head.n_arrays; ++i) {
    if (at >= end || !(*at >= 0.0) || !(*at <= (double)(end - at - 1))) return false;
    at += 1 + (int64_t)*at;
  }
  return at == end;
}

/// Look at a file that is in memory.
static kedge_status look(kedge_context *ctx, const char *path, size_t bytes, kg_checkpoint *c)
{
  kg_checkpoint_head *const h = &c->head;
  const size_t before = offsetof(kg_checkpoint_head, mesh);
  KG_REQUIRE(ctx, bytes >= sizeof MAGIC && memcmp(c->data, MAGIC, sizeof MAGIC) == 0,
             KEDGE_ERR_INPUT, "%s is no checkpoint of kedge", path);
  if (bytes < sizeof *h) return refuse_damage(ctx, path);
  memcpy(h, c->data, sizeof *h);
  KG_REQUIRE(ctx, h->version == VERSION, KEDGE_ERR_INPUT,
             "the checkpoint %s has version %lld of the format, and this kedge reads %d: resume it "
             "with the kedge that wrote it",
             path, (long long)h->version, VERSION);
  if (h->bytes != (int64_t)bytes || bytes % WORD != 0) return refuse_damage(ctx, path);
  uint64_t sum = sum_of(c->data + sizeof *h, bytes - sizeof *h);
  sum = add_bytes(sum, c->data + before, sizeof *h - before);
  if (sum != h->sum || !are_counts_good(h)) return refuse_damage(ctx, path);
  c->hits = (const double *)(c->data + sizeof *h);
  c->text = (const char *)(c->hits + 2 * h->n_hits);
  c->arrays = (const double *)(c->text + rounded((size_t)h->text_bytes));
  const bool is_text = h->text_bytes == 0 || c->text[h->text_bytes - 1] == '\0';
  return is_text && are_arrays_good(c) ? KEDGE_OK : refuse_damage(ctx, path);
}

/// The end that a file was written for: no time that is hit is behind it.
static double end_of(const kg_checkpoint *c)
{
  return c->hits[2 * (c->head.n_hits - 1)];
}

/// Refuse steps of another length, of steps = N, and an end that is past. All other settings have
/// been compared.
static kedge_status compare_end(kedge_context *ctx, const kg_checkpoint *c,
                                const kedge_problem *problem)
{
  const kg_time_settings *const t = &problem->time;
  const entry steps = {.section = "time", .key = "steps"};
  entry there;
  KG_REQUIRE(
      ctx, t->end == end_of(c) || t->end > c->head.plan.t * (1.0 + 1e-12), KEDGE_ERR_INPUT,
      "the checkpoint %s is of t = %.9g, which [time] end = %.9g is not behind: give a later "
      "end",
      c->path, c->head.plan.t, t->end);
  if (t->steps == 0 || !find_entry(c->text, c->text + c->head.text_bytes, &steps, &there))
    return KEDGE_OK;
  const double step = end_of(c) / kg_number_value(there.value);
  KG_REQUIRE(ctx, fabs(t->step - step) <= 1e-12 * step, KEDGE_ERR_INPUT,
             "the checkpoint %s has steps of %.9g, and [time] steps = %lld to end = %.9g are of "
             "%.9g: give end and steps by which they are as long",
             c->path, step, (long long)t->steps, t->end, t->step);
  return KEDGE_OK;
}

static kedge_status compare_problem(kedge_context *ctx, const kg_checkpoint *c,
                                    const kedge_problem *problem)
{
  char *here = NULL;
  size_t n_here;
  kedge_status status = put_settings(ctx, &problem->settings, c->head.n_elements, &here, &n_here);
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
      ctx, c->head.mesh == sum_of_mesh(mesh), KEDGE_ERR_INPUT,
      "the checkpoint %s is of another mesh, of as many elements with other places or groups",
      c->path);
  return KEDGE_OK;
}

kedge_status kg_checkpoint_read(kedge_context *ctx, const kedge_mesh *mesh,
                                const kedge_problem *problem, const char *path, kg_checkpoint *c)
{
  size_t bytes;
  *c = (kg_checkpoint){.path = path};
  KG_TRY(kg_file_read(ctx, path, &c->data, &bytes));
  KG_TRY(look(ctx, path, bytes, c));
  KG_TRY(compare_mesh(ctx, c, mesh));
  return compare_problem(ctx, c, problem);
}

void kg_checkpoint_free(kg_checkpoint *c)
{
  free(c->data);
  *c = (kg_checkpoint){0};
}

/// The times that are hit. The march has the plan of the file, and times of its own to its end.
static kedge_status take_hits(const kg_checkpoint *c, kedge_march *m)
{
  kg_hit *hits;
  KG_REQUIRE(m->ctx, c->head.n_hits <= INT32_MAX / 2, KEDGE_ERR_INPUT,
             "the checkpoint %s has too many times", c->path);
  const int n = (int)c->head.n_hits;
  KG_TRY(kg_host_alloc(m->ctx, (size_t)n, sizeof *hits, &hits));
  for (int i = 0; i < n; ++i) {
    const int kinds = (int)c->hits[2 * i + 1];
    hits[i] = (kg_hit){c->hits[2 * i], (kinds & 1) != 0, (kinds & 2) != 0};
  }
  if (m->end != end_of(c)) {
    const kedge_status status = kg_march_move_end(m, n, hits);
    free(hits);
    return status;
  }
  free(m->hits);
  m->hits = hits;
  m->n_hits = m->hits_room = n;
  while (m->n_past + 1 < n && hits[m->n_past].t <= m->plan.t) ++m->n_past;
  return KEDGE_OK;
}

kedge_status kg_checkpoint_take_plan(const kg_checkpoint *c, kedge_march *m)
{
  const kg_checkpoint_head *const h = &c->head;
  m->plan = h->plan;
  m->n_past = 0;
  m->created = kg_seconds() - h->seconds;
  kedge_marched *const r = &m->report;
  r->t = m->plan.t;
  r->step = h->step;
  r->seconds = h->seconds;
  r->steps = h->steps;
  r->rejected = h->rejected;
  r->change = h->change;
  r->is_steady = m->plan.is_steady;
  r->solves = h->solves;
  r->iterations = h->iterations;
  r->set_ups = h->set_ups;
  r->converged = h->is_converged;
  r->grown_step = h->grown_step;
  r->grown_t = h->grown_t;
  return take_hits(c, m);
}

kedge_status kg_checkpoint_take_state(const kg_checkpoint *c, kedge_march *m)
{
  kg_march_array arrays[KG_MARCH_ARRAYS_MAX];
  const int n = m->method->arrays(m->state, arrays);
  const double *at = c->arrays;
  if (c->head.n_arrays != n) return refuse_damage(m->ctx, c->path);
  for (int i = 0; i < n; at += 1 + arrays[i++].n) {
    if (*at != (double)arrays[i].n) return refuse_damage(m->ctx, c->path);
    KG_TRY(kg_copy_in(m->ctx, arrays[i].data, at + 1, (size_t)arrays[i].n * sizeof *at));
  }
  m->has_solution = m->report.steps > 0 && !m->plan.has_failed;
  if (m->has_solution) KG_TRY(m->method->resume(m->state, m->plan.data_t));
  return kg_sync(m->ctx);
}
