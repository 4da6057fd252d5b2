/// @file
/// Problems of waves, as tests make them.
#pragma once
#include "backend.h"
#include "compare.h"
#include "support.h"

/// A march with its mesh and problem.
typedef struct waves {
  kedge_context *ctx;
  kedge_mesh *mesh;
  kedge_problem *problem;
  kedge_march *march;
} waves;

/// Begin a march. @param[in] settings  of the problem, with a mesh; the list ends with zeros
waves waves_of(const char *generate, const char *order, const setting *settings);
void waves_free(waves *w);
void waves_on(const waves *w);  ///< step to the end
double waves_error(const waves *w, const char *field);
double waves_energy(const waves *w);
int64_t waves_steps(const waves *w);

/// A number of a table, of six digits.
void assert_digits(double value, double expected);

/// The cavity of the tables, in the plane.
#define CAVITY                                                                     \
  {"equation", "system", "maxwell-tm"}, {"boundary default", "type", "conductor"}, \
      {"parameters", "k", "pi*sqrt(2)"}, {"initial", "Ez", "sin(pi*x)*sin(pi*y)"}, \
      {"exact", "Ez", "sin(pi*x)*sin(pi*y)*cos(k*t)"},                             \
      {"exact", "Hx", "-pi/k*sin(pi*x)*cos(pi*y)*sin(k*t)"},                       \
  {                                                                                \
    "exact", "Hy", "pi/k*cos(pi*x)*sin(pi*y)*sin(k*t)"                             \
  }
