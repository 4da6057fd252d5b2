/// @file
/// A function of the library that a test puts its own in front of. The linker is asked for it
/// (kedge_wraps() in CMakeLists.txt), and gives both names:
///
///     WRAP(kedge_status, kg_sync, kedge_context *ctx)
///     {
///       return fails() ? KEDGE_ERR_INTERNAL : REAL(kg_sync)(ctx);
///     }
#pragma once

#define REAL(name) __real_##name
#define WRAP(type, name, ...)      \
  type __real_##name(__VA_ARGS__); \
  type __wrap_##name(__VA_ARGS__); \
  type __wrap_##name(__VA_ARGS__)
