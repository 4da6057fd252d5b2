/// @file
/// The context of a test program, on the backend that it is to use: setup and teardown of its tests.
#pragma once
#include "backend.h"
#include "case.h"

static kedge_context *ctx;

static int open_context(void **state)
{
  (void)state;
  ctx = case_context(test_backend(), 2);
  return 0;
}

static int close_context(void **state)
{
  (void)state;
  kedge_context_destroy(ctx);
  return 0;
}
