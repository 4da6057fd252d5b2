#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "device/context.h"
#include "device/loop.h"
#include "core/memory.h"
#include "mesh/mesh.h"

enum { REGION = 1 };  // of every generated mesh, named "domain"

static kedge_status name_groups(kedge_context *ctx, kg_raw_mesh *raw, const char *const *names,
                                int n_names)
{
  for (int i = 0; i < n_names; ++i)
    KG_TRY(kg_raw_mesh_name(ctx, raw, 1, i + 1, names[i], strlen(names[i])));
  return kg_raw_mesh_name(ctx, raw, 2, REGION, "domain", strlen("domain"));
}

static void put_line(kg_raw_mesh *raw, int64_t a, int64_t b, int32_t tag)
{
  raw->lines[2 * raw->n_lines] = (int32_t)a;
  raw->lines[2 * raw->n_lines + 1] = (int32_t)b;
  raw->line_tags[raw->n_lines++] = tag;
}

/// Split quadrilateral k of corners ll, lr, ur, ul by the diagonal from ll to ur.
static void put_square(const kg_raw_mesh *raw, int64_t k, const int64_t corner[4])
{
  int32_t *v = raw->corners + 6 * k;
  const int32_t ll = (int32_t)corner[0], lr = (int32_t)corner[1], ur = (int32_t)corner[2],
                ul = (int32_t)corner[3];
  const int32_t both[6] = {ll, lr, ur, ll, ur, ul};
  memcpy(v, both, sizeof both);
  raw->regions[2 * k] = raw->regions[2 * k + 1] = REGION;
}

/// Put one element, the whole quadrilateral.
static void put_whole(const kg_raw_mesh *raw, int64_t k, const int64_t corner[4])
{
  for (int i = 0; i < 4; ++i) raw->corners[4 * k + i] = (int32_t)corner[i];
  raw->regions[k] = REGION;
}

/// The unit square of n x n squares, each put by a function.
static kedge_status squares(kedge_context *ctx, int64_t n, int width,
                            void (*put)(const kg_raw_mesh *, int64_t, const int64_t[4]),
                            kg_raw_mesh *raw)
{
  static const char *const names[] = {"left", "right", "bottom", "top"};
  const int64_t w = n + 1, n_elements = width == 3 ? 2 * n * n : n * n;  // vertex (i, j) is j w + i
  KG_TRY(kg_raw_mesh_alloc(ctx, w * w, n_elements, width, 4 * n, raw));
  raw->n_lines = 0;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements))
  for (int64_t j = 0; j <= n; ++j) {
    for (int64_t i = 0; i <= n; ++i) {
      raw->vertices[2 * (j * w + i)] = (double)i / (double)n;
      raw->vertices[2 * (j * w + i) + 1] = (double)j / (double)n;
    }
  }
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements))
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i)
      put(raw, j * n + i,
          (int64_t[]){j * w + i, j * w + i + 1, (j + 1) * w + i + 1, (j + 1) * w + i});
  for (int64_t i = 0; i < n; ++i) {
    put_line(raw, i * w, (i + 1) * w, 1);
    put_line(raw, i * w + n, (i + 1) * w + n, 2);
    put_line(raw, i, i + 1, 3);
    put_line(raw, n * w + i, n * w + i + 1, 4);
  }
  return name_groups(ctx, raw, names, 4);
}

static kedge_status square(kedge_context *ctx, const int64_t *numbers, kg_raw_mesh *raw)
{
  return squares(ctx, numbers[0], 3, put_square, raw);
}

static kedge_status quads(kedge_context *ctx, const int64_t *numbers, kg_raw_mesh *raw)
{
  return squares(ctx, numbers[0], 4, put_whole, raw);
}

/// Number of vertex (i, j) of the L, 0 <= i, j <= 2 n: rows below n have only their left half.
static int64_t lshape_vertex(int64_t n, int64_t i, int64_t j)
{
  return j < n ? j * (n + 1) + i : n * (n + 1) + (j - n) * (2 * n + 1) + i;
}

static void lshape_boundary(int64_t n, kg_raw_mesh *raw)
{
  const int64_t corners[7][2] = {{0, 0},         {n, 0},     {n, n}, {2 * n, n},
                                 {2 * n, 2 * n}, {0, 2 * n}, {0, 0}};
  for (int k = 0; k < 6; ++k) {
    const int64_t *from = corners[k], *to = corners[k + 1];
    const int64_t di = (to[0] > from[0]) - (to[0] < from[0]);
    const int64_t dj = (to[1] > from[1]) - (to[1] < from[1]);
    for (int64_t i = from[0], j = from[1]; i != to[0] || j != to[1]; i += di, j += dj)
      put_line(raw, lshape_vertex(n, i, j), lshape_vertex(n, i + di, j + dj), 1);
  }
}

static kedge_status lshape(kedge_context *ctx, const int64_t *numbers, kg_raw_mesh *raw)
{
  static const char *const names[] = {"boundary"};
  const int64_t n = numbers[0];
  KG_TRY(kg_raw_mesh_alloc(ctx, lshape_vertex(n, 2 * n, 2 * n) + 1, 6 * n * n, 3, 8 * n, raw));
  raw->n_lines = 0;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements))
  for (int64_t j = 0; j <= 2 * n; ++j) {
    for (int64_t i = 0; i <= (j < n ? n : 2 * n); ++i) {
      double *xy = raw->vertices + 2 * lshape_vertex(n, i, j);
      xy[0] = (double)(i - n) / (double)n;
      xy[1] = (double)(j - n) / (double)n;
    }
  }
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements))
  for (int64_t j = 0; j < 2 * n; ++j)
    for (int64_t i = 0; i < (j < n ? n : 2 * n); ++i)
      put_square(raw, (j < n ? j : 2 * j - n) * n + i,
                 (int64_t[]){lshape_vertex(n, i, j), lshape_vertex(n, i + 1, j),
                             lshape_vertex(n, i + 1, j + 1), lshape_vertex(n, i, j + 1)});
  lshape_boundary(n, raw);
  return name_groups(ctx, raw, names, 1);
}

static kedge_status ring(kedge_context *ctx, const int64_t *numbers, kg_raw_mesh *raw)
{
  static const char *const names[] = {"inner", "outer"};
  const int64_t n = numbers[0], m = numbers[1];  // vertex (layer i, sector j) is i m + j
  const double pi = acos(-1.0);
  KG_TRY(kg_raw_mesh_alloc(ctx, (n + 1) * m, 2 * n * m, 3, 2 * m, raw));
  raw->n_lines = 0;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements))
  for (int64_t i = 0; i <= n; ++i) {
    const double radius = 1 + (double)i / (double)n;
    for (int64_t j = 0; j < m; ++j) {
      const double angle = 2 * pi * (double)j / (double)m;
      raw->vertices[2 * (i * m + j)] = radius * cos(angle);
      raw->vertices[2 * (i * m + j) + 1] = radius * sin(angle);
    }
  }
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements))
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      const int64_t k = (j + 1) % m;
      put_square(raw, i * m + j,
                 (int64_t[]){i * m + j, (i + 1) * m + j, (i + 1) * m + k, i * m + k});
    }
  }
  for (int64_t j = 0; j < m; ++j) {
    put_line(raw, j, (j + 1) % m, 1);
    put_line(raw, n * m + j, n * m + (j + 1) % m, 2);
  }
  return name_groups(ctx, raw, names, 2);
}

enum { COUNT_MAX = 1000000000 };  // products of two stay inside int64_t

static const struct form {
  const char *name, *usage;
  int numbers;
  int64_t least[2];
  const kg_cell *cell;
  int elements;  // a square of the form's n n, or ring's n m
  kedge_status (*fill)(kedge_context *, const int64_t *numbers, kg_raw_mesh *);
} forms[] = {
    {"square", "square N", 1, {1, 0}, &kg_triangle, 2, square},
    {"quads", "quads N", 1, {1, 0}, &kg_quadrilateral, 1, quads},
    {"lshape", "lshape N", 1, {1, 0}, &kg_triangle, 6, lshape},
    {"ring", "ring N M", 2, {1, 3}, &kg_triangle, 2, ring},
};
#define VALID_FORMS \
  "valid are \"square N\", \"quads N\", \"lshape N\" and \"ring N M\", N from 1, M from 3"

/// The next word of *text, moved past it; returns its length, 0 at the end.
static int next_word(const char **text, const char **word)
{
  *text += strspn(*text, " \t");
  *word = *text;
  const size_t length = strcspn(*text, " \t");
  *text += length;
  return length > 64 ? 64 : (int)length;
}

static const struct form *find_form(const char *word, int length)
{
  for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
    if ((int)strlen(forms[i].name) == length && strncmp(word, forms[i].name, (size_t)length) == 0)
      return &forms[i];
  return NULL;
}

/// Read the numbers of a form from `text`, the part of `words` behind its name.
static kedge_status parse_numbers(kedge_context *ctx, const struct form *form, const char *words,
                                  const char *text, int64_t numbers[2])
{
  const char *word;
  for (int i = 0; i < form->numbers; ++i) {
    const int length = next_word(&text, &word);
    KG_REQUIRE(ctx, length > 0, KEDGE_ERR_INPUT,
               "\"%.64s\" lacks a number: it is \"%s\"; " VALID_FORMS, words, form->usage);
    char *end;
    numbers[i] = strtoll(word, &end, 10);
    KG_REQUIRE(ctx, end == word + length && numbers[i] >= form->least[i] && numbers[i] <= COUNT_MAX,
               KEDGE_ERR_INPUT,
               "\"%.*s\" in \"%.64s\" is not a number from %lld to %d; " VALID_FORMS, length, word,
               words, (long long)form->least[i], COUNT_MAX);
  }
  const int length = next_word(&text, &word);
  KG_REQUIRE(ctx, length == 0, KEDGE_ERR_INPUT,
             "\"%.*s\" is too much in \"%.64s\": it is \"%s\"; " VALID_FORMS, length, word, words,
             form->usage);
  return KEDGE_OK;
}

kedge_status kedge_mesh_generate(kedge_context *ctx, const char *words, kedge_mesh **out)
{
  const double began = kg_seconds();
  KG_REQUIRE(ctx, out, KEDGE_ERR_ARG, "kedge_mesh_generate: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && words, KEDGE_ERR_ARG, "kedge_mesh_generate: ctx or words is NULL");
  const char *text = words, *word;
  const int length = next_word(&text, &word);
  const struct form *form = find_form(word, length);
  KG_REQUIRE(ctx, form, KEDGE_ERR_INPUT, "cannot generate a mesh \"%.*s\"; " VALID_FORMS, length,
             word);
  int64_t numbers[2] = {0};
  KG_TRY(parse_numbers(ctx, form, words, text, numbers));
  const int64_t squares = numbers[0] * numbers[form->numbers - 1];
  KG_REQUIRE(ctx, squares <= KG_ELEMENTS_MAX / form->elements, KEDGE_ERR_INPUT,
             "\"%.64s\" has more %ss than kedge can number (%d); use smaller numbers", words,
             form->cell->name, KG_ELEMENTS_MAX);
  KG_TRY(kg_mesh_check_memory(ctx, words, form->cell, 1, squares * form->elements, false));
  kg_raw_mesh raw = {0};
  kedge_status status = form->fill(ctx, numbers, &raw);
  if (status == KEDGE_OK) status = kg_mesh_build(ctx, &raw, words, out);
  kg_raw_mesh_free(&raw);
  if (status == KEDGE_OK) (*out)->seconds = kg_seconds() - began;
  return status;
}
