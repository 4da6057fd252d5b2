/// @file
/// The context of a test program, on the backend that it is to use: setup and teardown of its tests.
#pragma once
#include "backend.h"
#include "support.h"

static kedge_context *ctx;

static int open_context(void **state)
{
  (void)state;
  ctx = open_backend(test_backend(), 2);
  return 0;
}

static int close_context(void **state)
{
  (void)state;
  kedge_context_destroy(ctx);
  return 0;
}
