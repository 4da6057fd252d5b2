#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device/context.h"
#include "core/text.h"

static _Thread_local char orphan_error[sizeof((struct kedge_context){0}.error)];

/// Leave out the beginning of a character at the end of a text that was cut.
static void end_in_character(char *text, size_t length)
{
  size_t at = length;
  while (at > 0 && length - at < 3 && ((unsigned char)text[at - 1] & 0xC0) == 0x80) --at;
  if (at > 0 && (unsigned char)text[at - 1] >= 0xC0 && kg_utf8_length(text + at - 1) == 0)
    text[at - 1] = '\0';
}

kedge_status kg_fail(kedge_context *ctx, kedge_status code, const char *file, int line,
                     const char *format, ...)
{
  char *text = ctx ? ctx->error : orphan_error, sentence[sizeof orphan_error];
  const size_t size = sizeof orphan_error;
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(sentence, size, format, args);
  va_end(args);
  if (n >= (int)size) end_in_character(sentence, size - 1);
  kg_text_show(n < 0 ? "" : sentence, text, size);
  const size_t length = strlen(text);
  if (code == KEDGE_ERR_INTERNAL && length > 0)
    snprintf(text + length, size - length, " (%s:%d; please report this)", file, line);
  return code;
}

const char *kedge_context_error(const kedge_context *ctx)
{
  return ctx ? ctx->error : orphan_error;
}

#define TEXT(name, text) [name] = text,
static const char *const texts[KEDGE_STATUS_COUNT] = {KEDGE_STATUS_LIST(TEXT)};

const char *kedge_status_text(kedge_status status)
{
  const bool known = (unsigned)status < KEDGE_STATUS_COUNT;
  return known ? texts[status] : "unknown status code";
}

const char *kedge_version(void)
{
  return KEDGE_VERSION;
}
