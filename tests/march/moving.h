/// @file
/// Problems that move, as tests of marches make them.
#pragma once
#include "backend.h"
#include "compare.h"
#include "march/parabolic.h"
#include "support.h"

/// A march with its mesh and problem, in steps of one length.
typedef struct moving {
  kedge_context *ctx;
  kedge_mesh *mesh;
  kedge_problem *problem;
  kedge_march *march;
} moving;

/// Begin with u of [exact] at t = 0.
/// @param[in] settings  of the problem, which has a mesh; the list ends with zeros
/// @param[in] steps     of the whole march, which ends at `end`
moving moving_of(const setting *settings, const kg_tableau *scheme, double end, int steps);
/// Begin with a number, in other steps.
moving moving_from(const setting *settings, const kg_march_settings *march, double u);
void moving_free(moving *m);
/// Step to the end.
void march_on(const moving *m);
/// The report of the solution at the time that is reached.
kedge_report report_now(const moving *m);

/// The two solutions of the tables of tests/march: of moving and of fixed boundary values.
#define MOVES "(x^2*y-y^3+x+1/2)*(sin(3*t)+1)+x*y*cos(t)"
#define FIXED "x*(1-x)*y*(1-y)*(sin(3*t)+1)+1+x"
