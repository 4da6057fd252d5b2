/// @file
/// Files written whole: a temporary name in the same folder, flushed, then renamed.
#pragma once
#include <stdio.h>
#include "core/error.h"

/// Name of the temporary file that stands in for `path` until it is complete: same folder, hidden,
/// unique to this process. The caller frees it.
kedge_status kg_temporary_name(kedge_context *ctx, const char *path, char **out);
/// fsync and rename `temporary` to `path`.
kedge_status kg_file_commit(kedge_context *ctx, const char *temporary, const char *path);
/// Read a whole file; the caller frees *data. One '\0' follows the last byte.
kedge_status kg_file_read(kedge_context *ctx, const char *path, char **data, size_t *bytes);
