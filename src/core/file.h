/// @file
/// Files read whole.
#pragma once
#include "core/error.h"

/// Read a whole file, or a pipe until those who write have closed it; a device, a folder and a pipe
/// that nobody writes are refused, and so is a file that memory would not hold. The caller frees
/// *data. One '\0' follows the last byte.
kedge_status kg_file_read(kedge_context *ctx, const char *path, char **data, size_t *bytes);
