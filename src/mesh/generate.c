// A mesh from words.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "mesh/generate.h"

enum { COUNT_MAX = 1000000000 };  // products of two stay inside int64_t

static const struct form {
  const char *name, *usage;
  int numbers;
  int64_t least[2];
  bool can_be_whole;  // with the word "quads"
  int squares;        // a square of the form's n n, or ring's n m; two elements each, or one.
                      // In space: a cube of n n n, six each
  kedge_status (*fill)(kedge_context *, const kg_form_args *, kg_raw_mesh *);
  void (*bend)(kedge_context *, const kg_form_args *, kg_raw_mesh *);  // NULL: it is straight
  kg_pattern pattern;
} forms[] = {
    {"square", "square N", 1, {1, 0}, false, 1, kg_form_square, NULL, KG_PATTERN_TRIANGLES},
    {"quads", "quads N", 1, {1, 0}, false, 1, kg_form_square, NULL, KG_PATTERN_WHOLE},
    {"mixed", "mixed N", 1, {1, 0}, false, 1, kg_form_square, NULL, KG_PATTERN_CHECKERBOARD},
    {"lshape", "lshape N [quads]", 1, {1, 0}, true, 3, kg_form_lshape},
    {"ring", "ring N M [quads]", 2, {1, 3}, true, 1, kg_form_ring, kg_bend_ring},
    {"disk", "disk N", 1, {1, 0}, false, 3, kg_form_disk, kg_bend_disk},
    {"cube", "cube N", 1, {1, 0}, false, 1, kg_form_cube, NULL, KG_PATTERN_TETRAHEDRA},
};
#define VALID_FORMS                                                                                \
  "valid are \"square N\", \"quads N\", \"mixed N\", \"lshape N [quads]\", \"ring N M [quads]\", " \
  "\"disk N\" and \"cube N\", N from 1, M from 3"

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

/// The form that words begin with; *text is moved behind its name.
static kedge_status name_form(kedge_context *ctx, const char **text, const struct form **form)
{
  const char *word;
  const int length = next_word(text, &word);
  *form = find_form(word, length);
  KG_REQUIRE(ctx, *form, KEDGE_ERR_INPUT, "cannot generate a mesh \"%.*s\"; " VALID_FORMS, length,
             word);
  return KEDGE_OK;
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

/// The squares or cubes that a form of such numbers consists of, but for its factor `squares`; of
/// too many cubes those of a layer, which are too many as well.
static int64_t squares_of(const struct form *form, const kg_form_args *args)
{
  const bool is_cube = args->pattern == KG_PATTERN_TETRAHEDRA;
  if (is_cube && args->n * args->n <= KG_ELEMENTS_MAX) return args->n * args->n * args->n;
  return args->n * (form->numbers == 2 ? args->m : args->n);
}

/// Elements a square: of the shape of more sides, where there are both, two at most.
static int most_each(const struct form *form, const kg_form_args *args)
{
  if (args->pattern == KG_PATTERN_TETRAHEDRA) return 6 * form->squares;
  return form->squares * (args->pattern == KG_PATTERN_WHOLE ? 1 : 2);
}

static const kg_cell *cell_of(const kg_form_args *args)
{
  if (args->pattern == KG_PATTERN_TETRAHEDRA) return &kg_tetrahedron;
  return args->pattern == KG_PATTERN_TRIANGLES ? &kg_triangle : &kg_quadrilateral;
}

/// Refuse what cannot be numbered.
static kedge_status check_number(kedge_context *ctx, const struct form *form, const char *words,
                                 const kg_form_args *args)
{
  KG_REQUIRE(ctx, squares_of(form, args) <= KG_ELEMENTS_MAX / most_each(form, args),
             KEDGE_ERR_INPUT,
             "\"%.64s\" has more %s than kedge can number (%d); use smaller numbers", words,
             args->pattern == KG_PATTERN_CHECKERBOARD ? "elements" : cell_of(args)->plural,
             KG_ELEMENTS_MAX);
  return KEDGE_OK;
}

/// Read words, and refuse those whose elements cannot be numbered.
static kedge_status read_words(kedge_context *ctx, const char *words, const struct form **form,
                               kg_form_args *args)
{
  const char *text = words;
  KG_TRY(name_form(ctx, &text, form));
  KG_TRY(parse(ctx, *form, words, text, args));
  return check_number(ctx, *form, words, args);
}

kedge_status kg_form_count(kedge_context *ctx, const char *words, kg_form_size *out)
{
  const struct form *form;
  kg_form_args args;
  KG_TRY(read_words(ctx, words, &form, &args));
  if (args.pattern == KG_PATTERN_TETRAHEDRA) {
    *out = (kg_form_size){3, {6 * squares_of(form, &args), 0}, args.n * args.n};
    return KEDGE_OK;
  }
  const int64_t squares = form->squares * squares_of(form, &args);
  const int64_t split = args.pattern == KG_PATTERN_WHOLE          ? 0
                        : args.pattern == KG_PATTERN_CHECKERBOARD ? squares / 2
                                                                  : squares;
  *out = (kg_form_size){2, {2 * split, squares - split}, form->numbers == 2 ? args.m : args.n};
  return KEDGE_OK;
}

static int64_t rounded_part(int64_t number, int64_t part, int64_t whole)
{
  return (int64_t)llround((double)number * (double)part / (double)whole);
}

/// Make numbers 1/2^times as large. Elements keep their shape, on which the order along the curve
/// depends, but where one number cannot become smaller.
static void make_smaller(const struct form *form, int times, kg_form_args *args)
{
  const bool swapped = form->numbers == 2 && args->m < args->n;
  int64_t *const less = swapped ? &args->m : &args->n, *const more = swapped ? &args->n : &args->m;
  const int64_t one = *less, product = *less * *more >> 2 * times, least = form->least[swapped];
  *less = rounded_part(one, 1, (int64_t)1 << times);
  if (*less < least) *less = least;
  *more = rounded_part(*more, *less, one);
  if (*more > 2 * product / *less) *more = 2 * product / *less;
}

kedge_status kg_form_smaller(kedge_context *ctx, const char *words, int times,
                             char smaller[KG_FORM_WORDS])
{
  const struct form *form;
  kg_form_args args;
  KG_TRY(read_words(ctx, words, &form, &args));
  const char *const end = form->can_be_whole && args.pattern == KG_PATTERN_WHOLE ? " quads" : "";
  make_smaller(form, times, &args);
  const int n = snprintf(smaller, KG_FORM_WORDS, "%s %lld", form->name, (long long)args.n);
  if (form->numbers == 2)
    snprintf(smaller + n, (size_t)(KG_FORM_WORDS - n), " %lld%s", (long long)args.m, end);
  else
    snprintf(smaller + n, (size_t)(KG_FORM_WORDS - n), "%s", end);
  return KEDGE_OK;
}

kedge_status kg_mesh_generate(kedge_context *ctx, const char *words, int geometry, kedge_mesh **out)
{
  const double began = kg_seconds();
  KG_REQUIRE(ctx, out, KEDGE_ERR_ARG, "kedge_mesh_generate: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && words, KEDGE_ERR_ARG, "kedge_mesh_generate: ctx or words is NULL");
  const struct form *form;
  kg_form_args args;
  KG_TRY(read_words(ctx, words, &form, &args));
  const bool is_polygon = form->bend && geometry == 0;
  if (!form->bend || geometry == 0) geometry = 1;
  KG_TRY(kg_mesh_check_memory(ctx, words, cell_of(&args), geometry,
                              squares_of(form, &args) * most_each(form, &args), false));
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
