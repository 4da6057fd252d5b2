#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "device/context.h"

static _Thread_local char orphan_error[sizeof((struct kedge_context){0}.error)];

kedge_status kg_fail(kedge_context *ctx, kedge_status code, const char *file, int line,
                     const char *format, ...)
{
  char *text = ctx ? ctx->error : orphan_error;
  const size_t size = sizeof orphan_error;
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(text, size, format, args);
  va_end(args);
  if (code == KEDGE_ERR_INTERNAL && n >= 0 && (size_t)n < size)
    snprintf(text + n, size - (size_t)n, " (%s:%d; please report this)", file, line);
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
