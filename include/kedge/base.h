/// @file
/// Status codes and the macros every public header needs.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define KEDGE_BEGIN_DECLS extern "C" {
#define KEDGE_END_DECLS   }
#else
#define KEDGE_BEGIN_DECLS
#define KEDGE_END_DECLS
#endif

#define KEDGE_API __attribute__((visibility("default")))

#define KEDGE_VERSION_MAJOR 0
#define KEDGE_VERSION_MINOR 2
#define KEDGE_VERSION_PATCH 0
#define KEDGE_VERSION       "0.2.0"

#define KEDGE_ORDER_MIN 1   ///< lowest polynomial order of the element space
#define KEDGE_ORDER_MAX 12  ///< highest polynomial order of the element space

KEDGE_BEGIN_DECLS

/// One list gives the codes and their texts: X(name, text).
#define KEDGE_STATUS_LIST(X)                                             \
  X(KEDGE_OK, "success")                                                 \
  X(KEDGE_ERR_ARG, "invalid argument of a library call")                 \
  X(KEDGE_ERR_INPUT, "invalid mesh or problem")                          \
  X(KEDGE_ERR_IO, "file could not be read or written")                   \
  X(KEDGE_ERR_MEMORY, "not enough memory")                               \
  X(KEDGE_ERR_DEVICE, "the GPU or its driver reported an error")         \
  X(KEDGE_ERR_UNSUPPORTED, "not available in this build or on this GPU") \
  X(KEDGE_ERR_NUMERIC, "the computation broke down")                     \
  X(KEDGE_ERR_CANCELLED, "cancelled by the progress function")           \
  X(KEDGE_ERR_INTERNAL, "a defect of kedge itself")

#define KEDGE_STATUS_ENUMERATOR(name, text) name,
typedef enum kedge_status {
  KEDGE_STATUS_LIST(KEDGE_STATUS_ENUMERATOR) KEDGE_STATUS_COUNT
} kedge_status;
#undef KEDGE_STATUS_ENUMERATOR

/// Return the meaning of a status code, as a phrase without a full stop; never NULL.
KEDGE_API const char *kedge_status_text(kedge_status status);

/// Version of the library that is linked, "major.minor.patch".
KEDGE_API const char *kedge_version(void);

KEDGE_END_DECLS
