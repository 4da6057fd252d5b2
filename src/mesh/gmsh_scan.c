#include "mesh/gmsh_scan.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kedge_status kg_scan_open(kedge_context *ctx, const char *name, const void *data, size_t bytes,
                          kg_scan *out)
{
  const char *start = data;
  *out = (kg_scan){
      .ctx = ctx, .name = name, .start = start, .at = start, .end = start + bytes, .line = 1};
  out->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  KG_REQUIRE(ctx, out->c_locale, KEDGE_ERR_MEMORY, "%s: no memory for the C locale", name);
  return KEDGE_OK;
}

void kg_scan_close(kg_scan *s)
{
  if (s->c_locale) freelocale(s->c_locale);
  s->c_locale = (locale_t)0;
}

void kg_scan_fail(const kg_scan *s, const char *format, ...)
{
  char text[512];
  va_list args;
  va_start(args, format);
  // clang-tidy 14 loses va_start() when it checks several files in one run.
  vsnprintf(text, sizeof text, format, args);  // NOLINT(clang-analyzer-valist.Uninitialized)
  va_end(args);
  const char *unit = s->binary ? "byte" : "line";
  const int64_t place = s->binary ? s->at - s->start : s->line;
  KG_FAIL(s->ctx, KEDGE_ERR_INPUT, "%s, %s %lld: %s", s->name, unit, (long long)place, text);
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(kg_scan *s)
{
  while (s->at < s->end && is_blank(*s->at)) ++s->at;
}

void kg_text_skip_blank(kg_scan *s)
{
  for (;;) {
    skip_blanks(s);
    if (s->at == s->end || *s->at != '\n') return;
    ++s->at;
    ++s->line;
  }
}

void kg_text_rest(kg_scan *s, const char **text, size_t *length)
{
  skip_blanks(s);
  const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
  const char *stop = newline ? newline : s->end;
  *text = s->at;
  s->at = newline ? newline + 1 : s->end;
  s->line += newline != NULL;
  while (stop > *text && is_blank(stop[-1])) --stop;
  *length = (size_t)(stop - *text);
}

kedge_status kg_text_line_end(kg_scan *s)
{
  skip_blanks(s);
  if (s->at == s->end) return KEDGE_OK;
  if (*s->at != '\n') return KG_SCAN_FAIL(s, "the line goes on where it should end");
  ++s->at;
  ++s->line;
  if (!s->binary) kg_text_skip_blank(s);
  return KEDGE_OK;
}

/// Length of the word at the cursor.
static size_t word_length(const kg_scan *s)
{
  const char *p = s->at;
  while (p < s->end && !is_blank(*p) && *p != '\n') ++p;
  return (size_t)(p - s->at);
}

/// Say why no number could be read at the cursor.
static kedge_status no_number(const kg_scan *s, const char *kind)
{
  const size_t length = word_length(s);
  if (s->at == s->end)
    return KG_SCAN_FAIL(s, "the file ends where %s should be; it is truncated", kind);
  if (length == 0) return KG_SCAN_FAIL(s, "the line ends where %s should be", kind);
  for (size_t i = 0; i < length; ++i)
    if ((unsigned char)s->at[i] < ' ')
      return KG_SCAN_FAIL(s,
                          "bytes that are no text are where %s should be; if $MeshFormat marks a "
                          "binary file as text, by file type 0, export it again",
                          kind);
  return KG_SCAN_FAIL(s, "\"%.*s\" is not %s", length > 40 ? 40 : (int)length, s->at, kind);
}

static bool ends_word(const kg_scan *s, const char *p)
{
  return p == s->end || is_blank(*p) || *p == '\n';
}

kedge_status kg_text_int(kg_scan *s, int64_t *out)
{
  skip_blanks(s);
  const char *p = s->at;
  const bool negative = p < s->end && *p == '-';
  p += negative;
  const char *digits = p;
  int64_t value = 0;
  for (; p < s->end && *p >= '0' && *p <= '9'; ++p) {
    if (p - digits >= 18) return no_number(s, "an integer of at most 18 digits");
    value = 10 * value + (*p - '0');
  }
  if (p == digits || !ends_word(s, p)) return no_number(s, "an integer");
  *out = negative ? -value : value;
  s->at = p;
  return KEDGE_OK;
}

/// A decimal number taken apart: digits * 10^exponent.
typedef struct decimal {
  uint64_t digits;
  int exponent, n_digits;
  bool negative;
} decimal;

/// Take the word at the cursor apart; returns its end, or NULL where only strtod() knows.
static const char *read_decimal(const kg_scan *s, decimal *d)
{
  const char *p = s->at;
  *d = (decimal){0};
  if (p < s->end && (*p == '-' || *p == '+')) d->negative = *p++ == '-';
  bool any = false, point = false;
  for (; p < s->end; ++p) {
    if (*p == '.' && !point) {
      point = true;
      continue;
    }
    if (*p < '0' || *p > '9') break;
    any = true;
    d->digits = 10 * d->digits + (uint64_t)(*p - '0');
    d->n_digits += d->digits != 0;
    if (d->n_digits > 19) return NULL;  // beyond 64 bits
    d->exponent -= point;
  }
  if (!any) return NULL;
  if (p < s->end && (*p == 'e' || *p == 'E')) {
    ++p;
    const bool negative = p < s->end && *p == '-';
    if (p < s->end && (*p == '-' || *p == '+')) ++p;
    const char *digits = p;
    int exponent = 0;
    for (; p < s->end && *p >= '0' && *p <= '9' && p - digits < 4; ++p)
      exponent = 10 * exponent + (*p - '0');
    if (p == digits) return NULL;
    d->exponent += negative ? -exponent : exponent;
  }
  return ends_word(s, p) ? p : NULL;
}

/// Round digits * 10^exponent to double where that is certain. With a 64-bit significand both
/// operands are exact up to 10^27 and the result is within one unit of its last place; if moving it
/// by that much changes the double, the decision is strtod()'s.
static bool round_decimal(const decimal *d, double *out)
{
  static const long double powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                       1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                       1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
                                       1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
  const int largest = (int)(sizeof powers / sizeof *powers) - 1;
  if (LDBL_MANT_DIG < 64 || d->exponent < -largest || d->exponent > largest) return false;
  const long double digits = (long double)d->digits;
  const long double value =
      d->exponent < 0 ? digits / powers[-d->exponent] : digits * powers[d->exponent];
  const long double unit = value * 0x1p-63L;
  const double low = (double)(value - unit), high = (double)(value + unit);
  *out = d->negative ? -low : low;
  return low == high;
}

kedge_status kg_text_double(kg_scan *s, double *out)
{
  skip_blanks(s);
  decimal d;
  const char *p = read_decimal(s, &d);
  if (p && round_decimal(&d, out)) {
    s->at = p;
    return KEDGE_OK;
  }
  char word[128];  // the data has no '\0' at its end
  const size_t length = word_length(s);
  if (length == 0 || length >= sizeof word) return no_number(s, "a number");
  memcpy(word, s->at, length);
  word[length] = '\0';
  char *stop;
  *out = strtod_l(word, &stop, s->c_locale);
  if (stop != word + length) return no_number(s, "a number");
  s->at += length;
  return KEDGE_OK;
}

kedge_status kg_scan_bytes(kg_scan *s, size_t bytes, const char **out)
{
  if ((size_t)(s->end - s->at) < bytes)
    return KG_SCAN_FAIL(s, "the file ends where %zu more bytes should be; it is truncated", bytes);
  *out = s->at;
  s->at += bytes;
  return KEDGE_OK;
}

static kedge_status take(kg_scan *s, size_t bytes, void *out)
{
  const char *from;
  KG_TRY(kg_scan_bytes(s, bytes, &from));
  memcpy(out, from, bytes);
  return KEDGE_OK;
}

kedge_status kg_scan_int32(kg_scan *s, int32_t *out)
{
  if (s->binary) return take(s, sizeof *out, out);
  int64_t value;
  KG_TRY(kg_text_int(s, &value));
  if (value < -INT32_MAX || value > INT32_MAX)
    return KG_SCAN_FAIL(s, "%lld is too large for a tag or type", (long long)value);
  *out = (int32_t)value;
  return KEDGE_OK;
}

kedge_status kg_scan_int64(kg_scan *s, int64_t *out)
{
  return s->binary ? take(s, sizeof *out, out) : kg_text_int(s, out);
}

kedge_status kg_scan_double(kg_scan *s, double *out)
{
  return s->binary ? take(s, sizeof *out, out) : kg_text_double(s, out);
}

kedge_status kg_scan_skip(kg_scan *s, int64_t count, size_t binary_size)
{
  KG_TRY(kg_scan_plausible(s, count, s->binary ? binary_size : 2, "numbers"));
  if (s->binary) {
    s->at += (size_t)count * binary_size;
    return KEDGE_OK;
  }
  double ignored;
  for (int64_t i = 0; i < count; ++i) KG_TRY(kg_text_double(s, &ignored));
  return KEDGE_OK;
}

kedge_status kg_scan_record_end(kg_scan *s)
{
  return s->binary ? KEDGE_OK : kg_text_line_end(s);
}

kedge_status kg_scan_plausible(const kg_scan *s, int64_t count, size_t least, const char *things)
{
  const size_t left = (size_t)(s->end - s->at);
  const size_t line_end = !s->binary;  // which the last line of a text may lack
  if (count >= 0 && (uint64_t)count <= (left + line_end) / least) return KEDGE_OK;
  return KG_SCAN_FAIL(
      s, "%lld %s are announced, but %zu bytes are left; the file is damaged or truncated",
      (long long)count, things, left);
}
