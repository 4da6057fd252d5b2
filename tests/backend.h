/// @file
/// The backend that a test program registered with kedge_backend_test() is to use, and contexts of
/// it.
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "device/context.h"

/// The backend named by KEDGE_TEST_BACKEND; the host when the program is started by hand.
static inline kedge_backend test_backend(void)
{
  const char *name = getenv("KEDGE_TEST_BACKEND");
  if (name == NULL) return KEDGE_BACKEND_HOST;
  for (int i = 0; i < KEDGE_BACKEND_COUNT; ++i)
    if (strcmp(name, kedge_backend_name((kedge_backend)i)) == 0) return (kedge_backend)i;
  fprintf(stderr, "KEDGE_TEST_BACKEND names no backend: %s\n", name);
  exit(1);
}

/// Whether few cases have to do, as under compute-sanitizer, where a kernel takes a hundred times
/// as long: KEDGE_TEST_QUICK is set. Every kernel still runs, if not at every order.
static inline bool test_is_quick(void)
{
  const char *quick = getenv("KEDGE_TEST_QUICK");
  return quick && *quick;
}

/// Whether the code is that of the host, on memory of its own: a few sizes and orders show what is
/// copied and written, and the entry of the host shows the numbers.
static inline bool test_is_shadow(void)
{
  return test_backend() == KEDGE_BACKEND_SHADOW;
}

/// Threads of a context: on small problems most time goes into teams that meet for every loop,
/// which is enough where the host does it.
static inline int test_threads(void)
{
  return test_is_shadow() ? 1 : 2;
}

/// Whether kernels whose blocks go round have few of them, by KEDGE_BLOCKS: what needs a large mesh
/// elsewhere happens on a small one.
static inline bool test_has_few_blocks(void)
{
  const char *blocks = getenv("KEDGE_BLOCKS");
  return blocks && *blocks;
}

/// Call first in main(): leaves with 77 (skipped) when the backend cannot be had on this machine.
/// With KEDGE_REQUIRE_GPU set, a missing GPU is a failure.
static inline void test_skip_without_backend(void)
{
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = test_backend();
  kedge_context *ctx;
  if (kedge_context_create(&options, &ctx) != KEDGE_OK) {
    const char *required = getenv("KEDGE_REQUIRE_GPU");
    printf("backend %s: %s\n", kedge_backend_name(options.backend), kedge_context_error(NULL));
    exit(required && *required ? 1 : 77);
  }
  kedge_context_destroy(ctx);
}

/// Fail the test with the context's sentence unless the status is KEDGE_OK.
static inline void must(kedge_context *ctx, kedge_status status)
{
  if (status != KEDGE_OK) fail_msg("%s", kedge_context_error(ctx));
}

/// A context with so many threads, which are not bound, and which every loop takes.
static inline kedge_context *open_backend(kedge_backend backend, int threads)
{
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = backend;
  options.threads = threads;
  options.bind_threads = false;
  kedge_context *ctx = NULL;
  must(NULL, kedge_context_create(&options, &ctx));
  ctx->work_of_a_team = 0;
  return ctx;
}
