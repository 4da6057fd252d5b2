// A mesh from words.
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "mesh/generate.h"

enum { COUNT_MAX = 1000000000 };  // products of two stay inside int64_t

static const struct form {
  const char *name, *usage;
  int numbers;
  int64_t least[2];
  kg_pattern pattern;
  bool can_be_whole;  // with the word "quads"
  int squares;        // a square of the form's n n, or ring's n m; two elements each, or one
  kedge_status (*fill)(kedge_context *, const kg_form_args *, kg_raw_mesh *);
  void (*bend)(kedge_context *, const kg_form_args *, kg_raw_mesh *);  // NULL: it is straight
} forms[] = {
    {"square", "square N", 1, {1, 0}, KG_PATTERN_TRIANGLES, false, 1, kg_form_square, NULL},
    {"quads", "quads N", 1, {1, 0}, KG_PATTERN_WHOLE, false, 1, kg_form_square, NULL},
    {"mixed", "mixed N", 1, {1, 0}, KG_PATTERN_CHECKERBOARD, false, 1, kg_form_square, NULL},
    {"lshape", "lshape N [quads]", 1, {1, 0}, KG_PATTERN_TRIANGLES, true, 3, kg_form_lshape, NULL},
    {"ring",
     "ring N M [quads]",
     2,
     {1, 3},
     KG_PATTERN_TRIANGLES,
     true,
     1,
     kg_form_ring,
     kg_bend_ring},
    {"disk", "disk N", 1, {1, 0}, KG_PATTERN_TRIANGLES, false, 3, kg_form_disk, kg_bend_disk},
};
#define VALID_FORMS                                                                               \
  "valid are \"square N\", \"quads N\", \"mixed N\", \"lshape N [quads]\", \"ring N M [quads]\" " \
  "and \"disk N\", N from 1, M from 3"

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

/// Read the rest of a form's words from `text`, the part of `words` behind its name.
static kedge_status parse(kedge_context *ctx, const struct form *form, const char *words,
                          const char *text, kg_form_args *args)
{
  const char *word;
  int64_t numbers[2] = {0};
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
  *args = (kg_form_args){numbers[0], numbers[1], form->pattern};
  int length = next_word(&text, &word);
  if (form->can_be_whole && length == 5 && strncmp(word, "quads", 5) == 0) {
    args->pattern = KG_PATTERN_WHOLE;
    length = next_word(&text, &word);
  }
  KG_REQUIRE(ctx, length == 0, KEDGE_ERR_INPUT,
             "\"%.*s\" is too much in \"%.64s\": it is \"%s\"; " VALID_FORMS, length, word, words,
             form->usage);
  return KEDGE_OK;
}

/// Refuse what cannot be numbered, or what memory would not hold.
static kedge_status check_size(kedge_context *ctx, const struct form *form, const char *words,
                               const kg_form_args *args, int geometry)
{
  const bool whole = args->pattern == KG_PATTERN_WHOLE;
  const kg_cell *cell = args->pattern == KG_PATTERN_TRIANGLES ? &kg_triangle : &kg_quadrilateral;
  const int each = form->squares * (whole ? 1 : 2);
  const int64_t squares = args->n * (form->numbers == 2 ? args->m : args->n);
  KG_REQUIRE(ctx, squares <= KG_ELEMENTS_MAX / each, KEDGE_ERR_INPUT,
             "\"%.64s\" has more %ss than kedge can number (%d); use smaller numbers", words,
             args->pattern == KG_PATTERN_CHECKERBOARD ? "element" : cell->name, KG_ELEMENTS_MAX);
  return kg_mesh_check_memory(ctx, words, cell, geometry, squares * each, false);
}

kedge_status kg_mesh_generate(kedge_context *ctx, const char *words, int geometry, kedge_mesh **out)
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
  kg_form_args args;
  KG_TRY(parse(ctx, form, words, text, &args));
  const bool is_polygon = form->bend && geometry == 0;
  if (!form->bend || geometry == 0) geometry = 1;
  KG_TRY(check_size(ctx, form, words, &args, geometry));
  kg_raw_mesh raw = {0};
  kedge_status status = form->fill(ctx, &args, &raw);
  raw.is_polygon = is_polygon;
  if (status == KEDGE_OK && geometry > 1) {
    status = kg_raw_mesh_set_geometry(ctx, geometry, &raw);
    if (status == KEDGE_OK) form->bend(ctx, &args, &raw);
  }
  if (status == KEDGE_OK) status = kg_mesh_build(ctx, &raw, words, out);
  kg_raw_mesh_free(&raw);
  if (status == KEDGE_OK) (*out)->seconds = kg_seconds() - began;
  return status;
}

kedge_status kedge_mesh_generate(kedge_context *ctx, const char *words, kedge_mesh **out)
{
  return kg_mesh_generate(ctx, words, 1, out);
}
