/// @file
/// Where an output file really goes.
#pragma once
#include "core/error.h"

/// Follow a symbolic link, so that a file written under a temporary name replaces what the link
/// points to and not the link.
/// @param[out] out      the path to write; the caller frees it
/// @param[out] special  it exists and is no regular file: a pipe, a terminal, /dev/null. To rename
///                      a file over it would destroy it.
/// @retval KEDGE_ERR_IO  it is a folder
kedge_status kg_target_resolve(kedge_context *ctx, const char *path, char **out, bool *special);
