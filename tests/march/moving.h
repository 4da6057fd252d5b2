/// @file
/// Problems that move, as tests of marches make them.
#pragma once
#include "backend.h"
#include "compare.h"
#include "march/march.h"
#include "support.h"

/// A march with its mesh and problem, in steps of one length.
typedef struct moving {
  kedge_context *ctx;
  kedge_mesh *mesh;
  kedge_problem *problem;
  kedge_march *march;
} moving;

/// How many threads a context has; 0, which it is at first: test_threads().
extern int moving_threads;

/// Begin a march of equal steps.
/// @param[in] settings  of the problem, with a mesh and [initial]; the list ends with zeros
/// @param[in] scheme    as of problem files
moving moving_of(const setting *settings, const char *scheme, double end, int steps);
/// Begin one of steps that adapt to a tolerance.
moving adapting_of(const setting *settings, double end, double tolerance);
void moving_free(moving *m);
kedge_marched marched_now(const moving *m);
/// Step to the end.
void march_on(const moving *m);
/// The report of the solution at the time that is reached.
kedge_report report_now(const moving *m);

/// Settings of the tables: a tensor, tau = 1, Dirichlet conditions, a source that is derived.
#define TABLE_OF(order_text, exact_text)                                                 \
  {"mesh", "generate", "square 3"}, {"space", "order", order_text},                      \
      {"space", "stabilization", "1"}, {"equation", "diffusion", "1, 0.2, 0.8"},         \
      {"exact", "u", exact_text}, {"initial", "u", exact_text},                          \
      {"boundary default", "type", "dirichlet"}, {"solver", "preconditioner", "jacobi"}, \
  {                                                                                      \
    "solver", "tolerance", "1e-13"                                                       \
  }
/// u = 1, and from a time on walls that are 0: a product of series, with terms of 1e-11 left out.
#define SUDDEN_OF_X(x, t)                                                                \
  "(sin(pi*" x ")*exp(-pi^2*(" t "))+sin(3*pi*" x ")/3*exp(-9*pi^2*(" t "))+sin(5*pi*" x \
  ")/5*"                                                                                 \
  "exp(-25*pi^2*(" t ")))"
#define SUDDEN(t, wall)                                                                       \
  {"mesh", "generate", "square 6"}, {"space", "order", "3"}, {"space", "stabilization", "1"}, \
      {"equation", "source", "0"},                                                            \
      {"exact", "u", "16/pi^2*" SUDDEN_OF_X("x", t) "*" SUDDEN_OF_X("y", t)},                 \
      {"boundary default", "type", "dirichlet"}, {"boundary default", "value", wall},         \
      {"initial", "u", "1"},                                                                  \
  {                                                                                           \
    "solver", "tolerance", "1e-13"                                                            \
  }
/// The two solutions of the tables of tests/march: of moving and of fixed boundary values.
#define MOVES "(x^2*y-y^3+x+1/2)*(sin(3*t)+1)+x*y*cos(t)"
#define FIXED "x*(1-x)*y*(1-y)*(sin(3*t)+1)+1+x"
