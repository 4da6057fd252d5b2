#include "precondition/amg/csr_make.h"

#include "device/loop.h"

kedge_status kg_csr_take(kedge_context *ctx, kg_arena *arena, kg_csr_form form, int32_t n_rows,
                         int64_t n_entries, kg_csr *m)
{
  KG_REQUIRE(ctx, n_entries <= INT32_MAX - UINT16_MAX, KEDGE_ERR_MEMORY,
             "a matrix of the multigrid has %lld entries, more than 32 bits number; "
             "use " KG_WITHOUT_MULTIGRID ", or a smaller mesh",
             (long long)n_entries);
  const size_t rows = (size_t)n_rows, entries = (size_t)n_entries;
  *m = (kg_csr){.n_rows = n_rows, .n_entries = (int32_t)n_entries};
  KG_TRY(kg_arena_take(ctx, arena, rows + 1, sizeof *m->row, &m->row));
  KG_TRY(kg_arena_take(ctx, arena, entries, sizeof *m->column, &m->column));
  if (form.wide)
    KG_TRY(kg_arena_take(ctx, arena, entries, sizeof *m->wide, &m->wide));
  else if (form.parts)
    KG_TRY(kg_arena_take(ctx, arena, entries, sizeof *m->part, &m->part));
  else
    KG_TRY(kg_arena_take(ctx, arena, entries, sizeof *m->value, &m->value));
  return form.square ? kg_arena_take(ctx, arena, rows, sizeof *m->diagonal, &m->diagonal)
                     : KEDGE_OK;
}

enum { LIST = 64 };

/// A part of a row: the columns that are `part` modulo `parts`, a power of two.
typedef struct row_list {
  int32_t parts, part;
  int n;  ///< of its columns; more than LIST: there is no room for all
  int32_t column[LIST];
  double value[LIST];
} row_list;

static void add(row_list *list, int32_t column, double value)
{
  if ((column & (list->parts - 1)) != list->part || list->n > LIST) return;
  for (int k = 0; k < list->n; ++k)
    if (list->column[k] == column) {
      list->value[k] += value;
      return;
    }
  if (list->n < LIST) {
    list->column[list->n] = column;
    list->value[list->n] = value;
  }
  ++list->n;
}

static void make_part(const kg_csr_make_args *a, int32_t i, double scale, row_list *list)
{
  list->n = 0;
  for (int32_t k = 0; k < kg_csr_addends(a, i); ++k) {
    const kg_csr_addend addend = kg_csr_addend_at(a, i, k, scale);
    for (int32_t e = addend.begin; e < addend.end; ++e)
      add(list, kg_csr_term_column(a, &addend, e), kg_csr_term_value(a, &addend, e));
  }
}

/// A row's own entry, which is apart from its list.
typedef struct row_rest {
  double own;      ///< the entry of its own column, and what rounding the others left
  int64_t own_at;  ///< its place; -1: it is a diagonal apart
} row_rest;

/// Append a part to row i from entry `to` on, or only count if `place` is NULL. Return the count.
static int32_t keep(const kg_csr_make_args *a, int32_t i, const row_list *list, const kg_csr *place,
                    int64_t to, row_rest *rest)
{
  const int32_t own = kg_csr_own_column(a, i);
  int32_t n = 0;
  for (int k = 0; k < list->n; ++k) {
    const int32_t j = list->column[k];
    const double value = list->value[k];
    if (j == own) rest->own += value;
    if (j == own && a->square) continue;
    const int64_t at = to + n++;
    if (!place) continue;
    place->column[at] = j;
    if (a->wide) {
      place->wide[at] = value;
    } else if (j == own) {
      rest->own_at = at;
    } else {
      rest->own += value - kg_csr_put(a, place, at, value);
    }
  }
  return n;
}

/// Make row i in `parts` parts. Return how many entries it has; -1: the parts are too few.
static int32_t make_row(const kg_csr_make_args *a, int32_t i, int32_t parts, const kg_csr *place,
                        int64_t begin)
{
  row_list list = {.parts = parts};
  row_rest rest = {0.0, -1};
  int32_t n = 0;
  const double scale = kg_csr_scale(a, i);
  for (list.part = 0; list.part < parts; ++list.part) {
    make_part(a, i, scale, &list);
    if (list.n > LIST) return -1;
    n += keep(a, i, &list, place, begin + n, &rest);
  }
  if (place && a->square) place->diagonal[i] = rest.own;
  if (place && rest.own_at >= 0) kg_csr_put(a, place, rest.own_at, rest.own);
  return n;
}

static int32_t make(const kg_csr_make_args *a, int32_t i, const kg_csr *place, int64_t begin)
{
  int32_t n = -1;
  for (int32_t parts = 1; n < 0; parts *= 2) n = make_row(a, i, parts, place, begin);
  return n;
}

static kedge_status count(kedge_context *ctx, const kg_csr_make_args *args, int32_t *length)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, args->a.n_rows, 256))
  for (int32_t i = 0; i < args->a.n_rows; ++i) length[i] = make(args, i, NULL, 0);
  return KEDGE_OK;
}

static kedge_status fill(kedge_context *ctx, const kg_csr_make_args *args, const int64_t *begin,
                         kg_csr place)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, args->a.n_rows, 256))
  for (int32_t i = 0; i <= args->a.n_rows; ++i) {
    place.row[i] = (int32_t)begin[i];
    if (i < args->a.n_rows) make(args, i, &place, begin[i]);
  }
  return KEDGE_OK;
}

kedge_status kg_csr_make(kedge_context *ctx, const kg_csr_make_args *args, const kg_scan_work *work,
                         kg_arena *arena, kg_csr *out)
{
  const int32_t n = args->a.n_rows;
  const kg_csr_form form = {args->square, args->wide, args->source == KG_CSR_PROLONGATION};
  int64_t total;
  KG_TRY(KG_IMPLEMENTATION(ctx, count, kg_csr_count_cuda)(ctx, args, work->length));
  KG_TRY(kg_scan(ctx, work, n, &total));
  KG_TRY(kg_csr_take(ctx, arena, form, n, total, out));
  return KG_IMPLEMENTATION(ctx, fill, kg_csr_fill_cuda)(ctx, args, work->begin, *out);
}
