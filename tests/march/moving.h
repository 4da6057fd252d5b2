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

/// Begin a march of equal steps.
/// @param[in] settings  of the problem, with a mesh and [initial]; the list ends with zeros
/// @param[in] scheme    as of problem files
moving moving_of(const setting *settings, const char *scheme, double end, int steps);
void moving_free(moving *m);
/// Step to the end.
void march_on(const moving *m);
/// The report of the solution at the time that is reached.
kedge_report report_now(const moving *m);

/// The two solutions of the tables of tests/march: of moving and of fixed boundary values.
#define MOVES "(x^2*y-y^3+x+1/2)*(sin(3*t)+1)+x*y*cos(t)"
#define FIXED "x*(1-x)*y*(1-y)*(sin(3*t)+1)+1+x"
