#include "problem/values.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/number.h"
#include "expression/expression_tree.h"
#include "expression/nearest.h"

kedge_status kg_value_integer(const kg_settings *settings, const kg_setting *s, int64_t least,
                              int64_t most, int64_t *out)
{
  char *end;
  errno = 0;
  const long long value = strtoll(s->value, &end, 10);
  const size_t n = kg_number_scan(s->value);  // 2.0 and 1e4 are whole numbers too
  const double real = n > 0 && s->value[n] == '\0' ? kg_number_value(s->value) : 0.5;
  if (real == floor(real) && real >= (double)least && real <= (double)most && real < 0x1p53) {
    *out = (int64_t)real;
    return KEDGE_OK;
  }
  if (*end == '\0' && errno == 0 && value >= least && value <= most) {
    *out = value;
    return KEDGE_OK;
  }
  const bool too_large = errno == ERANGE && value > 0;
  if (most == INT64_MAX && !too_large)
    return kg_setting_fail(settings, s,
                           "%s must be a whole number of at least %" PRId64 ", not '%s'", s->key,
                           least, s->value);
  return kg_setting_fail(settings, s,
                         "%s must be a whole number from %" PRId64 " to %" PRId64 ", not '%s'",
                         s->key, least, most, s->value);
}

kedge_status kg_value_word(const kg_settings *settings, const kg_setting *s,
                           const char *const *words, int n_words, int *out)
{
  char list[200] = "";
  size_t length = 0;
  kg_nearest nearest = kg_nearest_to(s->value);
  for (int i = 0; i < n_words; ++i) {
    *out = i;
    if (strcmp(s->value, words[i]) == 0) return KEDGE_OK;
    kg_nearest_offer(&nearest, words[i]);
    const char *const joint = i == 0 ? "" : i == n_words - 1 ? " or " : ", ";
    length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", joint, words[i]);
  }
  if (nearest.best)
    return kg_setting_fail(settings, s, "unknown %s '%s'; did you mean '%s'?", s->key, s->value,
                           nearest.best);
  return kg_setting_fail(settings, s, "unknown %s '%s'; it must be %s", s->key, s->value, list);
}

/// What sentences call an expression: `of` would read as a preposition.
static const char *called(const kg_setting *s)
{
  return strcmp(s->key, "of") == 0 ? "the integral" : s->key;
}

static kedge_status parse(const kg_constant *constants, int n_constants, const char *const *fields,
                          const kg_settings *settings, const kg_setting *s, kg_expression **out)
{
  kedge_context *const ctx = settings->ctx;
  kg_syntax_error error;
  const kedge_status status =
      kg_expression_parse_fields(ctx, s->value, constants, n_constants, fields, &error, out);
  if (status != KEDGE_ERR_INPUT) return status;
  if (error.what[0] == '\0')
    return kg_setting_fail(settings, s,
                           "%s is too long: it needs more than "
                           "%d terms and operations",
                           called(s), KG_EXPRESSION_NODES);
  int lines;
  const int column = kg_text_column(s->value, error.offset, &lines);
  kg_setting at = *s;
  at.line += lines;
  return kg_setting_fail(settings, &at, "column %d of %s: %s%s%s", column, called(s), error.what,
                         error.hint[0] ? ": " : "", error.hint);
}

kedge_status kg_value_constant(const kg_constant *constants, int n_constants,
                               const kg_settings *settings, const kg_setting *s, double *out)
{
  kg_expression *e;
  KG_TRY(parse(constants, n_constants, NULL, settings, s, &e));
  const bool constant = kg_expression_constant(e, out);
  kg_expression_free(e);
  if (!constant)
    return kg_setting_fail(settings, s,
                           "%s must be a constant, but it depends on x, y, t or region", s->key);
  if (!isfinite(*out)) return kg_setting_fail(settings, s, "%s has no finite value", s->key);
  return KEDGE_OK;
}

kedge_status kg_value_part(const kg_settings *settings, const kg_setting *s, size_t begin,
                           size_t end, kg_setting *part)
{
  const size_t length = strlen(s->value);
  *part = *s;
  part->whole = s->value;
  part->value = NULL;
  KG_TRY(kg_copy_text(settings->ctx, s->value, length, &part->value));
  for (size_t i = 0; i < length; ++i)
    if ((i < begin || i >= end) && part->value[i] != '\n') part->value[i] = ' ';
  if (part->value[strspn(part->value, " \n")] != '\0') return KEDGE_OK;
  free(part->value);
  part->value = NULL;
  return kg_setting_fail(settings, s, "%s has nothing between two commas", s->key);
}

kedge_status kg_value_constants(const kg_constant *constants, int n_constants,
                                const kg_settings *settings, const kg_setting *s, int *n,
                                double **out)
{
  *n = 0;
  KG_TRY(kg_host_alloc(settings->ctx, strlen(s->value) + 1, sizeof **out, out));
  kedge_status status = KEDGE_OK;
  for (const char *begin = s->value, *at = begin; status == KEDGE_OK; ++at) {
    int depth = 0;
    for (; *at && (*at != ',' || depth > 0); ++at) depth += (*at == '(') - (*at == ')');
    kg_setting part;
    status = kg_value_part(settings, s, (size_t)(begin - s->value), (size_t)(at - s->value), &part);
    if (status == KEDGE_OK)
      status = kg_value_constant(constants, n_constants, settings, &part, *out + *n);
    free(part.value);
    ++*n;
    begin = at + 1;
    if (!*at) break;
  }
  if (status == KEDGE_OK) return KEDGE_OK;
  free(*out);
  *out = NULL;
  *n = 0;
  return status;
}

kedge_status kg_value_expression(const kedge_problem *problem, const kg_settings *settings,
                                 const kg_setting *s, kg_expression **out)
{
  return kg_value_of_fields(problem, settings, s, NULL, out);
}

kedge_status kg_value_of_fields(const kedge_problem *problem, const kg_settings *settings,
                                const kg_setting *s, const char *const *fields, kg_expression **out)
{
  *out = NULL;
  KG_TRY(parse(problem->parameters, problem->n_parameters, fields, settings, s, out));
  double value;
  if (!kg_expression_constant(*out, &value) || isfinite(value)) return KEDGE_OK;
  kg_expression_free(*out);
  *out = NULL;
  return kg_setting_fail(settings, s, "%s has no finite value", s->key);
}

kedge_status kg_value_function(const kedge_problem *problem, const kg_settings *settings,
                               const kg_setting *s, kg_function *out)
{
  *out = (kg_function){
      .kind = KG_FUNCTION_CALLER, .function = s->function, .user = s->user, .t = problem->t};
  if (s->value == NULL) return KEDGE_OK;
  kg_expression *e;
  KG_TRY(kg_value_expression(problem, settings, s, &e));
  *out = (kg_function){.kind = KG_FUNCTION_CONSTANT, .t = problem->t};
  if (kg_expression_constant(e, &out->constant))
    kg_expression_free(e);
  else
    *out = (kg_function){.kind = KG_FUNCTION_EXPRESSION, .expression = e, .t = problem->t};
  return KEDGE_OK;
}

int kg_count_parts(const char *text, const char *comma[KG_LIST_MAX])
{
  int depth = 0, n = 0;
  for (const char *at = text; *at; ++at) {
    depth += (*at == '(') - (*at == ')');
    if (*at != ',' || depth > 0) continue;
    if (n < KG_LIST_MAX) comma[n] = at;
    ++n;
  }
  return n + 1;
}

bool kg_is_bracketed(const char *text)
{
  int depth = 0;
  for (const char *at = text; *at; ++at) {
    depth += (*at == '(') - (*at == ')');
    if (depth == 0) return false;
    if (*at == ',' && depth == 1) return text[0] == '(';
  }
  return false;
}

kedge_status kg_value_function_part(const kedge_problem *p, const kg_settings *settings,
                                    const kg_setting *s, const char *const *comma, int n, int k,
                                    kg_function *out)
{
  const size_t begin = k > 0 ? (size_t)(comma[k - 1] + 1 - s->value) : 0;
  const size_t end = k + 1 < n ? (size_t)(comma[k] - s->value) : strlen(s->value);
  kg_setting part;
  KG_TRY(kg_value_part(settings, s, begin, end, &part));
  const kedge_status status = kg_value_function(p, settings, &part, out);
  free(part.value);
  return status;
}
