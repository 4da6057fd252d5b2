/// @file
/// Structs of the API whose first member is their size, so that they can grow at the end.
#pragma once
#include <string.h>

#include "core/error.h"

enum { KG_SIZED_MAX = 65536 };  ///< bytes; a larger size was never set

/// Fail unless the size that a caller's struct begins with is likely.
/// @param[in] how  the initializer that the caller should begin with, for the sentence:
///                 "KEDGE_REPORT_INIT"
static inline kedge_status kg_check_sized(kedge_context *ctx, const char *how, size_t size)
{
  KG_REQUIRE(ctx, size > sizeof size && size <= KG_SIZED_MAX, KEDGE_ERR_ARG,
             "the size at the beginning of a struct of results is %zu bytes: begin with %s", size,
             how);
  return KEDGE_OK;
}

/// Copy `from` as far as both sizes go; members of `to` behind that become 0. `to` keeps its size,
/// with which it begins, as does `from`.
static inline void kg_copy_sized(const void *from, void *to)
{
  size_t size, known;
  memcpy(&size, to, sizeof size);
  memcpy(&known, from, sizeof known);
  memset(to, 0, size);
  memcpy(to, from, size < known ? size : known);
  memcpy(to, &size, sizeof size);
}
