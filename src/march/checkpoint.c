#include "march/checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/target.h"
#include "device/backend.h"
#include "mesh/mesh.h"
#include "problem/problem.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

static const char MAGIC[8] = {'k', 'e', 'd', 'g', 'e', '-', 'm', '\n'};
enum { VERSION = 2, WORD = KG_CHECKPOINT_WORD, RUN = 1 << 17 };

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
  double *run;  ///< [RUN]: of times, and of an array, which host memory need not hold
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
  w->sum = kg_checkpoint_sum_on(w->sum, data, bytes);
  return KEDGE_OK;
}

static kedge_status put_hits(const kedge_march *m, writing *w)
{
  for (int i = 0, n; i < m->n_hits; i += n) {
    n = m->n_hits - i < RUN / 2 ? m->n_hits - i : RUN / 2;
    for (int k = 0; k < n; ++k) {
      const kg_hit *const hit = &m->hits[i + k];
      w->run[2 * k] = hit->t;
      w->run[2 * k + 1] = hit->is_event + 2 * hit->is_output;
    }
    KG_TRY(put(w, w->run, 2 * (size_t)n * sizeof *w->run));
  }
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
  KG_TRY(put_hits(m, w));
  KG_TRY(put(w, w->text, (size_t)w->head.text_bytes));
  for (int i = 0; i < w->head.n_arrays; ++i) KG_TRY(put_array(m->ctx, w, &w->arrays[i]));
  w->head.sum = kg_checkpoint_sum_on(w->sum, (char *)&w->head + before, sizeof w->head - before);
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
  w->sum = kg_checkpoint_sum(NULL, 0);
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
                        .mesh = kg_checkpoint_mesh(m->mesh),
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
  kedge_status status = kg_checkpoint_settings(m->ctx, &m->problem->settings, m->mesh->n_elements,
                                               &w.text, &text_bytes);
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
  uint64_t sum = kg_checkpoint_sum(c->data + sizeof *h, bytes - sizeof *h);
  sum = kg_checkpoint_sum_on(sum, c->data + before, sizeof *h - before);
  if (sum != h->sum || !are_counts_good(h)) return refuse_damage(ctx, path);
  c->hits = (const double *)(c->data + sizeof *h);
  c->text = (const char *)(c->hits + 2 * h->n_hits);
  c->arrays = (const double *)(c->text + rounded((size_t)h->text_bytes));
  const bool is_text = h->text_bytes == 0 || c->text[h->text_bytes - 1] == '\0';
  return is_text && are_arrays_good(c) ? KEDGE_OK : refuse_damage(ctx, path);
}

kedge_status kg_checkpoint_read(kedge_context *ctx, const kedge_mesh *mesh,
                                const kedge_problem *problem, const char *path, kg_checkpoint *c)
{
  size_t bytes;
  *c = (kg_checkpoint){.path = path};
  KG_TRY(kg_file_read(ctx, path, &c->data, &bytes));
  KG_TRY(look(ctx, path, bytes, c));
  return kg_checkpoint_compare(ctx, c, mesh, problem);
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
  if (m->end != kg_checkpoint_end(c)) {
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
