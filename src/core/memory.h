/// @file
/// Host memory with overflow-checked sizes; a failure is a sentence, never an abort.
#pragma once
#include "core/error.h"
KEDGE_BEGIN_DECLS

/// Allocate count * size bytes, 64-byte aligned, contents undefined; free with free(). A count of 0
/// gives a valid pointer.
/// @param[out] out  address of the pointer that receives the memory; NULL on failure
kedge_status kg_host_alloc(kedge_context *ctx, size_t count, size_t size, void *out);
/// The same, filled with zeros.
kedge_status kg_host_calloc(kedge_context *ctx, size_t count, size_t size, void *out);

KEDGE_END_DECLS
