/// @file
/// How failures travel: a status code returned, one sentence kept in the context.
#pragma once
#include "kedge/context.h"
KEDGE_BEGIN_DECLS

/// Format the sentence into the context (NULL: into this thread's own) and return `code`. Long
/// sentences are cut, and what steers terminals in them is escaped (core/text.h). `file` and `line`
/// of the source are appended for KEDGE_ERR_INTERNAL only.
kedge_status kg_fail(kedge_context *ctx, kedge_status code, const char *file, int line,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));

#define KG_FAIL(ctx, code, ...) kg_fail((ctx), (code), __FILE__, __LINE__, __VA_ARGS__)
#define KG_REQUIRE(ctx, cond, code, ...)                     \
  do {                                                       \
    if (!(cond)) return KG_FAIL((ctx), (code), __VA_ARGS__); \
  } while (0)
#define KG_TRY(expr)                 \
  do {                               \
    const kedge_status st_ = (expr); \
    if (st_ != KEDGE_OK) return st_; \
  } while (0)

KEDGE_END_DECLS
