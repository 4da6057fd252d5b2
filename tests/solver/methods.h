/// @file
/// Every way to solve for the trace: preconditioners, smoothers, precisions. What a solve finds
/// does not depend on it. Of the product with the orders, where all of it would take long, a test
/// takes every third method, others at the next order:
///     for (const method *m = methods + order % 3; m < methods + METHODS; m += 3)
#pragma once

typedef struct method {
  const char *preconditioner, *smoother, *precision;
} method;

enum { METHODS = 8 };
static const method methods[METHODS] = {
    {"jacobi", "auto", "double"},     {"block-jacobi", "edge", "double"},
    {"multigrid", "edge", "double"},  {"multigrid", "line", "double"},
    {"multigrid", "edge", "mixed"},   {"multigrid", "line", "mixed"},
    {"multigrid", "edge", "compact"}, {"multigrid", "line", "compact"},
};

/// The settings of a method, for SETTINGS().
#define METHOD(m)                                                                           \
  {"solver", "preconditioner", (m)->preconditioner}, {"solver", "smoother", (m)->smoother}, \
  {                                                                                         \
    "solver", "precision", (m)->precision                                                   \
  }

/// What a message says of it.
#define METHOD_FORMAT   "%s %s %s"
#define METHOD_WORDS(m) (m)->preconditioner, (m)->smoother, (m)->precision
