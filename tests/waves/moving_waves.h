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

/// A problem in double precision, unless its settings name another one.
kedge_problem *waves_problem(kedge_context *ctx, const setting *settings);
/// Begin a march. @param[in] settings  of the problem, which ends with zeros
waves waves_of(const char *generate, const char *order, const setting *settings);
waves waves_with(const setting *settings);    ///< likewise, with mesh and order among them
waves waves_before(const setting *settings);  ///< the problem alone
void waves_begin(waves *w);                   ///< its mesh and march
void waves_free(waves *w);
void waves_on(const waves *w);  ///< step to the end
double waves_error(const waves *w, const char *field);
/// The error of all fields together at the end of a march that is made for it.
double waves_error_of(const char *generate, const char *order, const setting *settings);
double waves_energy(const waves *w);
int64_t waves_steps(const waves *w);

/// A number of a table, of six digits.
void assert_digits(double value, double expected);

/// Steps of a march without end whose energy never exceeds its first value but by rounding.
/// @param[in] mesh   what is generated, and its map
/// @param[in] steps  a multiple of 20
void assert_stable(const char *const *mesh, int order, int steps, const setting *settings);

/// States that are not smooth, of automatic steps, without end.
#define ROUGH(system, wall, upwind)                                                                \
  {"equation", "system", system}, {"boundary default", "type", wall}, {"space", "upwind", upwind}, \
  {                                                                                                \
    "time", "end", "1e4"                                                                           \
  }
#define ROUGH_FIELDS                        \
  {"initial", "Ez", "sin(40*x)*cos(39*y)"}, \
  {                                         \
    "initial", "Hx", "cos(41*x*y)"          \
  }

/// The cavity of the tables, in the plane.
#define CAVITY                                                                     \
  {"equation", "system", "maxwell-tm"}, {"boundary default", "type", "conductor"}, \
      {"parameters", "k", "pi*sqrt(2)"}, {"initial", "Ez", "sin(pi*x)*sin(pi*y)"}, \
      {"exact", "Ez", "sin(pi*x)*sin(pi*y)*cos(k*t)"},                             \
      {"exact", "Hx", "-pi/k*sin(pi*x)*cos(pi*y)*sin(k*t)"},                       \
  {                                                                                \
    "exact", "Hy", "pi/k*cos(pi*x)*sin(pi*y)*sin(k*t)"                             \
  }

/// A wave of the cube between conductors.
#define CUBE(cosine, sine)                                                             \
  {"equation", "system", "maxwell"}, {"boundary default", "type", "conductor"},        \
      {"exact", "Ex", "2*cos(pi*x)*sin(pi*y)*sin(pi*z)*" cosine},                      \
      {"exact", "Ey", "-sin(pi*x)*cos(pi*y)*sin(pi*z)*" cosine},                       \
      {"exact", "Ez", "-sin(pi*x)*sin(pi*y)*cos(pi*z)*" cosine}, {"exact", "Hx", "0"}, \
      {"exact", "Hy", "-3*pi*cos(pi*x)*sin(pi*y)*cos(pi*z)*" sine},                    \
  {                                                                                    \
    "exact", "Hz", "3*pi*cos(pi*x)*cos(pi*y)*sin(pi*z)*" sine                          \
  }
#define CAVITY_OF_CUBE {"parameters", "w", "pi*sqrt(3)"}, CUBE("cos(w*t)", "sin(w*t)/w")
#define TO_ONE         \
  {                    \
    "time", "end", "1" \
  }

/// A row of a table of errors.
typedef struct row {
  const char *order, *mesh;
  double error;
  int steps;  ///< 0: not given
} row;

/// Assert errors of all fields, and steps, at the end.
void assert_table(const setting *settings, int n, const row *table);
#define ASSERT_TABLE(settings, table) \
  assert_table(settings, (int)(sizeof(table) / sizeof *(table)), table)
