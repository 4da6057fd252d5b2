/// @file
/// A problem of each test's own, made by calls. Include after cmocka.h.
#pragma once
#include <stdlib.h>

#include "problem/problem.h"

typedef struct fixture {
  kedge_context *ctx;
  kedge_problem *problem;
} fixture;

static inline int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  *state = f;
  const kedge_context_options options = {KEDGE_BACKEND_HOST, -1, 1, false};
  if (f == NULL || kedge_context_create(&options, &f->ctx) != KEDGE_OK) return -1;
  return kedge_problem_create(f->ctx, &f->problem) == KEDGE_OK ? 0 : -1;
}

static inline int tear_down(void **state)
{
  fixture *f = *state;
  kedge_problem_destroy(f->problem);
  kedge_context_destroy(f->ctx);
  free(f);
  return 0;
}

static inline void set(const fixture *f, const char *section, const char *key, const char *value)
{
  if (kedge_problem_set(f->problem, section, key, value) != KEDGE_OK)
    fail_msg("%s", kedge_context_error(f->ctx));
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
