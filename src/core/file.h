/// @file
/// Files read whole.
#pragma once
#include <stdio.h>

#include "core/error.h"

/// Read a whole file, or a pipe until those who write have closed it; a device, a folder and a pipe
/// that nobody writes are refused, and so is a file that memory would not hold. The caller frees
/// *data. One '\0' follows the last byte.
kedge_status kg_file_read(kedge_context *ctx, const char *path, char **data, size_t *bytes);
/// Open a file without waiting for somebody at the other end of a pipe, who may never come. Returns
/// NULL and sets errno.
/// @param[in] flags  O_RDONLY, or O_WRONLY | O_CREAT | O_APPEND
/// @param[in] mode   the same for fdopen()
FILE *kg_file_open(const char *path, int flags, const char *mode);
/// Close a stream of open_memstream(), which may be NULL.
/// @param[in]     what  the text, for the sentence of a failure: "the source of a kernel"
/// @param[in,out] text  of the stream, for free(); NULL on failure
kedge_status kg_text_end(kedge_context *ctx, FILE *stream, const char *what, char **text);
