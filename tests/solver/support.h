/// @file
/// Solves through the public API, as tests make them.
#pragma once
#include "backend.h"
#include "kedge/kedge.h"

/// One key of a problem.
typedef struct setting {
  const char *section, *key, *value;
} setting;

#define SETTINGS(...) \
  (const setting[])   \
  {                   \
    __VA_ARGS__,      \
    {                 \
      0               \
    }                 \
  }

/// Settings of a problem with mixed conditions and coefficients that are not 1, on
/// test_irregular_mesh().
#define MIXED_CONDITIONS(order_text)                                                \
  {"space", "order", order_text}, {"equation", "diffusion", "0.8"},                 \
      {"equation", "reaction", "1.5"}, {"exact", "u", "sin(x)*cos(0.7*y)+0.1*x*y"}, \
      {"boundary 7", "type", "dirichlet"},                                          \
  {                                                                                 \
    "boundary default", "type", "neumann"                                           \
  }

/// A problem with these settings; the list ends with zeros.
kedge_problem *problem_of(kedge_context *ctx, const setting *settings);
kedge_solution *solve(kedge_context *ctx, const kedge_mesh *mesh, const setting *settings);
/// Asserts that a solver's solution, and one for the report alone, have this note.
void assert_noted_by_all(kedge_context *ctx, const kedge_mesh *mesh, const setting *settings,
                         const char *note);
enum { REPORTS = 64 };

/// Solve, every other time for the report alone; take it, forget the solution. Its note is good
/// until REPORTS more are taken.
kedge_report report_of(kedge_context *ctx, const kedge_mesh *mesh, const setting *settings);
/// The report of a solve on a mesh that is generated.
kedge_report report_on(kedge_context *ctx, const char *generate, const setting *settings);
/// The report of a solve on a mesh that is generated; the solve must converge.
kedge_report converged_on(kedge_context *ctx, const char *generate, const setting *settings);
/// n x n squares of two triangles each.
kedge_mesh *square_mesh(kedge_context *ctx, int n);
/// The sentence of a solve that must be refused with this status.
const char *refusal_of(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                       kedge_status expected);

/// A progress function that cancels at its call `most`, and its user.
typedef struct patience {
  int calls, most;
} patience;

bool be_patient(void *user, const kedge_progress *progress);

enum { FIELD_TRACE = KEDGE_FIELD_COUNT_PLANE, FIELDS };
/// Everything a solution holds: fields at nodes of their own order, then the trace.
typedef struct fields {
  size_t n[FIELDS];
  double *values[FIELDS];  ///< by kedge_field, the trace last
} fields;

fields fields_of(kedge_context *ctx, const kedge_solution *solution);
void fields_free(fields *f);
/// Largest relative distance of the fields (without the trace).
double fields_distance(const fields *a, const fields *b);
void assert_same_bits(const fields *a, const fields *b);
