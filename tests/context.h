/// @file
/// The context of a test program, on the backend that it is to use: setup and teardown of its
/// tests. No device memory may be left in it.
#pragma once
#include "backend.h"
#include "device/context.h"

static kedge_context *ctx;

static int open_context(void **state)
{
  (void)state;
  ctx = open_backend(test_backend(), test_threads());
  return 0;
}

static int close_context(void **state)
{
  (void)state;
  const int64_t left = ctx->bytes_in_use;
  kedge_context_destroy(ctx);
  if (left != 0) fprintf(stderr, "%lld bytes of device memory are left\n", (long long)left);
  return left == 0 ? 0 : -1;
}
