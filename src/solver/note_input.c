// What a solve that went well may hide: a right-hand side that was forgotten; a mean of u that has
// few digits; triangles so flat that the residual says little; a smoother that does not suit the
// mesh. And what it must not: a right-hand side that is lost, as its square is 0.
#include <float.h>
#include <math.h>

#include "core/context.h"
#include "linear/system.h"
#include "solver/pipeline.h"

static size_t count_boundary_values(const kg_pipeline *p)
{
  const kg_trace_counts *n = &p->layout.count;
  return (size_t)(n->n_edges - n->n_free + n->n_neumann) * (size_t)p->shape.size.n_edge;
}

/// Neither a source nor boundary values other than 0.
static bool has_no_data(const kg_pipeline *p)
{
  const size_t values = count_boundary_values(p);
  for (size_t i = 0; i < values; ++i)
    if (p->boundary[i] != 0.0) return false;
  return p->resolved.source.kind == KG_FUNCTION_NONE;
}

/// The largest |f| at the centres of elements, as soon as it is more than `enough`.
static double largest_source(const kg_pipeline *p, double enough)
{
  enum { CHUNK = 256 };
  const kg_function *f = &p->resolved.source;
  const kedge_mesh *mesh = p->mesh;
  double largest = 0.0;
  if (f->kind == KG_FUNCTION_NONE) return 0.0;
  if (f->kind == KG_FUNCTION_CONSTANT) return fabs(f->constant);
  for (int32_t e = 0; e < mesh->n_elements && largest <= enough;) {
    double x[CHUNK], y[CHUNK], value[CHUNK];
    int n = 0;
    for (; n < CHUNK && e < mesh->n_elements; ++n, ++e) {
      const int32_t *v = kg_element_vertices(mesh, e);
      const double *a = mesh->vertices + 2 * (size_t)v[0], *b = mesh->vertices + 2 * (size_t)v[1];
      const double *c = mesh->vertices + 2 * (size_t)v[2];
      x[n] = (a[0] + b[0] + c[0]) / 3.0;
      y[n] = (a[1] + b[1] + c[1]) / 3.0;
    }
    kg_function_evaluate(f, &(kedge_points){.n = (size_t)n, .x = x, .y = y}, value);
    for (int i = 0; i < n; ++i) largest = fmax(largest, fabs(value[i]));
  }
  return largest;
}

/// The size of the data where they are not 0, but so small that the square of the first residual
/// is 0; else 0. A source makes a residual of h^2 its size. Larger data may belong to
/// triangles without free edges.
static double size_of_lost_data(const kg_pipeline *p)
{
  const double least = sqrt(KG_SYSTEM_LEAST_RR), part = p->scale * kg_mean_square(p->mesh);
  double largest = part * largest_source(p, least / part);
  const size_t values = count_boundary_values(p);
  for (size_t i = 0; i < values; ++i) largest = fmax(largest, fabs(p->boundary[i]));
  return largest < least ? largest : 0.0;
}

/// What is left of the digits of the mean of u, beside the unit of rounding: with Neumann
/// conditions alone reaction has to hold it against entries of K^e that are 1 over this times as
/// large (docs/math.md#little-reaction).
static double part_of_reaction(const kg_pipeline *p)
{
  return p->material.reaction * kg_mean_square(p->mesh) / p->material.diffusion;
}

/// The part of the mean of u that rounding may change: some thousands of units over what is left,
/// on stretched triangles some ten thousands (docs/math.md#little-reaction).
static double rounding_of_mean(const kg_pipeline *p)
{
  return (p->mesh->info.min_angle < KG_LINE_ANGLE ? 25000.0 : 2000.0) * DBL_EPSILON /
         part_of_reaction(p);
}

/// Degrees: triangles 1e5 times as long as wide. Conditions are the square of that, beside which a
/// residual of 1e-10 leaves nothing of u that is sure.
#define FLAT_ANGLE 1e-3

enum { MANY = 150 };  ///< iterations, from which lines may take less time than other smoothers

/// Whether multigrid took many iterations without lines.
static bool lacks_lines(const kg_pipeline *p)
{
  const kg_shape *s = &p->shape;
  const bool cycles = s->choice.precond != KG_JACOBI && s->choice.steps > 0;
  return cycles && !kg_smoother_has_lines(s->choice.smoother) &&
         p->solution->report.iterations >= MANY;
}

kedge_status kg_note_input(const kg_pipeline *p, double start_residual)
{
  kedge_solution *s = p->solution;
  const kg_trace_counts *n = &p->layout.count;
  const bool all_neumann = n->n_free == n->n_edges;
  const double of_mean = all_neumann ? rounding_of_mean(p) : 0.0;
  const double lost = start_residual == 0.0 && n->n_free > 0 ? size_of_lost_data(p) : 0.0;
  KG_REQUIRE(p->ctx, lost == 0.0, KEDGE_ERR_NUMERIC, KG_SYSTEM_TOO_SMALL, lost);
  if (start_residual == 0.0 && n->n_free > 0 && has_no_data(p))
    kg_note_add(s,
                "the right-hand side is 0: the problem has neither a source nor an exact solution, "
                "and boundary values are 0, and so is u");
  else if (start_residual == 0.0 && n->n_free > 0)
    kg_note_add(s,
                "the right-hand side is 0, or too small for its square to be more in double "
                "precision: u is 0 but for boundary values");
  else if (of_mean > 0.1)
    kg_note_add(s,
                "all boundaries are neumann and reaction * h^2 is only %.0e of the diffusion: "
                "rounding decides about the mean of u",
                part_of_reaction(p));
  else if (of_mean > 1e-6)
    kg_note_add(s,
                "all boundaries are neumann and reaction * h^2 is only %.0e of the diffusion: "
                "rounding may change the mean of u by some %.0e of its size",
                part_of_reaction(p), of_mean);
  else if (p->mesh->info.min_angle < FLAT_ANGLE)
    kg_note_add(
        s,
        "the mesh has an angle of %.0e degrees: with triangles so flat u may be wrong however "
        "small the residual is; compare with a smaller tolerance",
        p->mesh->info.min_angle);
  else if (lacks_lines(p))
    kg_note_add(s, "%lld iterations are many for multigrid: smoother = line may take less time",
                (long long)s->report.iterations);
  return KEDGE_OK;
}
