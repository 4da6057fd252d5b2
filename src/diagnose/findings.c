#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "diagnose/predicates.h"
#include "linear/system.h"

enum { KG_SENTENCE = 1024 };  // bytes

typedef struct finding {
  kg_topic topic;
  kg_predicate *holds;
  const char *sentence;  ///< of printf, for words; NULL: the predicate fails with a sentence
  double threshold;
  const char *source;  ///< where the threshold, or a case of the finding, is told or tested
} finding;

#define TOLERANCE "tests/solver/test_tolerance.c"
#define TENSORS   "docs/math.md#strong-tensors"
#define LOADS     "tests/solver/test_loads.c"
#define SOLVE     "tests/cli/check_solve.py"
#define PARTS     "tests/solver/test_parts.c"
#define MARCHES   "tests/cli/check_marches.py"

#define FIELDS "tests/solver/test_misleading.c"

#define KEPT "rounding keeps the true relative residual at %s (storing the solution alone makes %s)"

#define LITTLE_REACTION "all boundaries %sare %s * h^2 is only %s of the diffusion: "
#define SMALL_ERROR     "%s may be what %s"
#define OTHER           "errors are not those of this problem"

static const finding findings[] = {
    {KG_ABOUT_END, kg_finds_limit,
     "stopped after max_iterations = %s with a relative residual of %s; raise max_iterations or "
     "tolerance",
     0, TOLERANCE},
    {KG_ABOUT_END, kg_finds_rounding_reached,
     "converged to rounding: of the relative residual of %s, storing the solution in double "
     "precision makes %s, so that %s %s",
     0, "docs/multigrid.md#the-limit-of-double-precision"},
    {KG_ABOUT_END, kg_finds_no_solution, KEPT ", which is no solution", KG_SYSTEM_ROUNDING_MOST,
     TOLERANCE},
    {KG_ABOUT_END, kg_finds_out_of_reach,
     KEPT "; a tolerance of %s is not attainable %s for this problem; %sask for %s%s", 0,
     TOLERANCE},

    {KG_ABOUT_CAUSE, kg_finds_large_stabilization,
     "rounding grows with the stabilization, some %s times diffusion / h: choose one near "
     "diffusion / h",
     1, "docs/math.md#large-stabilization"},
    {KG_ABOUT_CAUSE, kg_finds_single_precision, "take precision = double", KG_SYSTEM_ROUNDING_MOST,
     "tests/solver/test_precisions.c"},
    {KG_ABOUT_CAUSE, kg_finds_undetermined,
     "u may be next to undetermined: give Dirichlet values, or a reaction that is not negligible "
     "beside the diffusion%s",
     KG_SYSTEM_ROUNDING_MOST, TOLERANCE},

    {KG_ABOUT_MESH, kg_finds_split,
     "the mesh file is part %s%s of a mesh that was split, and its cuts are boundaries here: solve "
     "the whole mesh",
     0, "tests/mesh/test_overlaps.c"},
    {KG_ABOUT_MESH, kg_finds_periodic_lines,
     "the mesh file identifies sides as periodic, and here they are boundaries with conditions of "
     "their own",
     0, "tests/mesh/test_overlaps.c"},
    {KG_ABOUT_MESH, kg_finds_polygon,
     "the boundary is a polygon in place of curves (geometry = 1): set [mesh] geometry to 2 or "
     "more",
     0, SOLVE},
    {KG_ABOUT_MESH, kg_finds_plane_faces,
     "the map bends the boundary, and faces of tetrahedra are plane: take a finer mesh before the "
     "map, as refine splits plane faces",
     0, SOLVE},
    {KG_ABOUT_MESH, kg_finds_flattened,
     "geometry = %s is below %s, the order of the curves of the mesh, and flattens them: leave it "
     "out",
     0, SOLVE},
    {KG_ABOUT_MESH, kg_finds_high_geometry,
     "the elements are curves of order %s, more than one above that of the space, %s: q and u* are "
     "poor there; take order = %s or more, or a smaller geometry",
     1, "docs/math.md#cells"},

    {KG_ABOUT_PARTS, kg_finds_overlapping,
     "elements lie on other elements, as at (%s, %s): %s counts twice there, and u is that of "
     "either; leave out what is there twice, or unite the shapes (BooleanFragments in Gmsh)",
     0, PARTS},
    {KG_ABOUT_PARTS, kg_finds_unjoined,
     "%s boundary %s lie on others and are not joined, as at (%s, %s): nothing passes there; %s", 0,
     PARTS},
    {KG_ABOUT_PARTS, kg_finds_nothing_joined,
     "join = %s joins no vertices: take it out, or a larger distance", 0, PARTS},

    {KG_ABOUT_UNUSED, kg_finds_unread_key,
     "%s of [equation] is used by no region: each has its own; take it out", 0, SOLVE},
    {KG_ABOUT_UNUSED, kg_finds_idle_quadrature,
     "[space] quadrature has no effect, as no local matrix is integrated: take it out; [equation] "
     "quadrature is that of the source and of boundary values",
     0, LOADS},
    {KG_ABOUT_UNUSED, kg_finds_unused_parameter,
     "no expression uses '%s' of [parameters]: take it out, or mend the name", 0, SOLVE},

    {KG_ABOUT_UNUSED, kg_finds_unused_inverse,
     "[space] inverse is used by no element: %s have formulas of their own; take it out", 0, SOLVE},

    {KG_ABOUT_MEAN, kg_finds_little_reaction,
     LITTLE_REACTION "rounding decides about the mean of u", 0.1, "docs/math.md#little-reaction"},
    {KG_ABOUT_MEAN, kg_finds_little_reaction,
     LITTLE_REACTION "rounding may change the mean of u by some %s of its size (digits left: %s)",
     1e-6, "docs/math.md#little-reaction"},

    {KG_ABOUT_INPUT, kg_refuses_lost_data, NULL, KG_SYSTEM_LEAST_RR, TOLERANCE},
    {KG_ABOUT_INPUT, kg_finds_no_data,
     "the right-hand side is 0: the problem has neither a source nor an exact solution, and "
     "boundary values are 0, and so is u",
     0, TOLERANCE},
    {KG_ABOUT_INPUT, kg_finds_zero,
     "the right-hand side is 0, or too small for its square to be more in double precision: u is "
     "0 but for boundary values",
     0, TOLERANCE},
    {KG_ABOUT_INPUT, kg_finds_negative_robin,
     "on boundary '%s' the robin coefficient is as small as %s: where it is negative the solution "
     "may not be the only one",
     0, "tests/solver/test_robin.c"},
    {KG_ABOUT_INPUT, kg_finds_large_robin,
     "on boundary '%s' the robin coefficient is up to %s times diffusion / h, and the residual is "
     "mostly that of its edges: compare with a smaller tolerance, or take dirichlet",
     1e-8, "tests/solver/test_robin.c"},
    {KG_ABOUT_INPUT, kg_finds_flat_triangles,
     "the mesh has an angle of %s degrees: with %s so flat u may be wrong however small the "
     "residual is; compare with a smaller tolerance",
     1e-3, TOLERANCE},
    {KG_ABOUT_INPUT, kg_finds_many_iterations,
     "%s iterations are many for multigrid: smoother = line may take less time", 150, SOLVE},

    {KG_ABOUT_TENSOR, kg_finds_strong_tensor,
     "the diffusion is a strong tensor turned against the elements: errors of q, which is "
     "diffusion^-1 sigma, may be some %s times those of a scalar; %s",
     KG_STRONG, TENSORS},
    {KG_ABOUT_TENSOR, kg_finds_turned_tensor,
     "the diffusion is a strong tensor, which elements do not follow: errors of q may be some %s "
     "times those of a scalar, of order %s until the mesh is much finer",
     KG_STRONG, TENSORS},
    {KG_ABOUT_TIME, kg_finds_jump_in_time,
     "%s compares t, and there are no events: a jump inside of a step leaves an error of order 1; "
     "give its times as events of [time]",
     0, MARCHES},
    {KG_ABOUT_LOADS, kg_finds_short_rule,
     "[equation] quadrature = %s has too few points for %s: more move the integral by some %s %% "
     "of that of its size, most of it near x = %s, y = %s: take more, or leave quadrature out",
     1e-3, LOADS},
    {KG_ABOUT_LOADS, kg_finds_rough_coefficient,
     "%s is too rough to integrate near x = %s, y = %s, and the source there is integrated as it "
     "is: refine there",
     0, LOADS},
    {KG_ABOUT_LOADS, kg_finds_untried_source,
     "the source is too rough to integrate in too many elements: some %s of them have no more than "
     "the usual points, and more move its integral by some %s %% of that of its size, most of it "
     "near x = %s, y = %s: refine, or make it smoother",
     1e-5, LOADS},
    {KG_ABOUT_LOADS, kg_finds_moving_source,
     "the source is too rough to integrate: more points move its integral by some %s %% of that of "
     "its size, most of it near x = %s, y = %s: refine there, or make it smoother",
     1e-3, LOADS},
    {KG_ABOUT_LOADS, kg_finds_moving_boundary,
     "boundary values are too rough to integrate: more points move their integral by some %s %% of "
     "that of their size, most of it near x = %s, y = %s: refine there, or make them smoother",
     1e-3, LOADS},

    {KG_ABOUT_EXACT, kg_finds_other_source,
     "the source that is given differs by %s from -div(diffusion grad u) + reaction u of "
     "[exact]: " OTHER,
     1e-7, SOLVE},
    {KG_ABOUT_EXACT, kg_finds_flux_jump,
     "diffusion grad u . n of [exact] jumps by %s between regions '%s' and '%s', and the source "
     "has no part on their edges: " OTHER,
     1e-7, SOLVE},
    {KG_ABOUT_EXACT, kg_finds_jump_of_exact, "%s of [exact] jumps near x = %s, y = %s%s: " OTHER,
     1e-6, SOLVE},
    {KG_ABOUT_EXACT, kg_finds_other_boundary,
     "on boundary '%s' the value that is given differs by %s from %s of [exact]: " OTHER, 1e-7,
     SOLVE},

    {KG_ABOUT_LOSS, kg_refuses_lost_u, NULL, 0, FIELDS},
    {KG_ABOUT_LOSS, kg_finds_lost_field,
     "%s is not finite in the element at x = %s, y = %s, though u is: numbers there leave double "
     "precision",
     0, FIELDS},
    {KG_ABOUT_LOSS, kg_finds_lost_gradient,
     "q = diffusion^-1 sigma is not finite at x = %s, y = %s, where diffusion is %s: take sigma "
     "there, or a diffusion that %s",
     0, FIELDS},

    {KG_ABOUT_FIELDS, kg_finds_poor_u,
     "u is off by some %s where u* runs from %s to %s, %s times what polynomials of order %s "
     "miss, and u* is not: the stabilization is small for so fine a solution; take u*, or %s%s",
     20, FIELDS},
    {KG_ABOUT_FIELDS, kg_finds_poor_star,
     "u* is between %s and %s where u and its boundary values are between %s and %s, most near x = "
     "%s, y = %s: a layer is thinner than elements; pictures and s(x, y) take u*: ask for u, or "
     "refine",
     0.125, FIELDS},

    {KG_ABOUT_ERROR, kg_finds_lost_error,
     "the error of %s is not finite in the element at x = %s, y = %s: squares leave double "
     "precision",
     0, FIELDS},
    {KG_ABOUT_ERROR, kg_finds_small_error, SMALL_ERROR, 2, "docs/cli.md#measuring-convergence"},
    {KG_ABOUT_ERROR, kg_finds_small_error_left, SMALL_ERROR, 1e3,
     "docs/cli.md#measuring-convergence"},

    {KG_ABOUT_NORMS, kg_finds_coarse_norms,
     "more points move the norm of the error of %s by %s %%: raise [exact] quadrature, or "
     "refine where the exact solution is not smooth",
     0.01, "tests/solver/test_norms.c"},

    {KG_ABOUT_LEFT, kg_finds_no_estimate,
     "the error that the iteration leaves may count, and could not be estimated: %s", 0,
     "tests/solver/test_remainder.c"},
    {KG_ABOUT_LEFT, kg_finds_left_by_tolerance,
     "the iteration leaves an error of %s: ask for tolerance = %s", KG_LEFT_MOST,
     "tests/solver/test_remainder.c"},
    {KG_ABOUT_LEFT, kg_finds_left_by_rounding,
     "the iteration leaves an error of %s: that is rounding, which no tolerance makes less",
     KG_LEFT_MOST, "tests/solver/test_remainder.c"},
};

void kg_say_word(kg_diagnosis *d, const char *word)
{
  d->word[d->n_words++] = word;
}

void kg_say_number(kg_diagnosis *d, const char *format, double number)
{
  char *text = d->text[d->n_words];
  snprintf(text, sizeof d->text[0], format, number);
  kg_say_word(d, text);
}

/// @param[in] z  what stands before z
static void say_coordinates(kg_diagnosis *d, const char *format, const char *z, const double *at)
{
  kg_say_number(d, format, at[0]);
  char *const text = d->text[d->n_words];
  const size_t room = sizeof d->text[0];
  kg_say_number(d, format, at[1]);
  if (!kg_mesh_in_space(d->mesh)) return;
  size_t n = strlen(text);
  n += (size_t)snprintf(text + n, room - n, "%s", z);
  snprintf(text + n, room - n, format, at[2]);
}

void kg_say_place(kg_diagnosis *d, const char *format, const double *at)
{
  say_coordinates(d, format, ", z = ", at);
}

void kg_say_point(kg_diagnosis *d, const char *format, const double *at)
{
  say_coordinates(d, format, ", ", at);
}

static void add(const kg_diagnosis *d, const char *sentence)
{
  const size_t before = strlen(d->note), length = before > 0 ? before + 2 : 0;
  const char *const *w = d->word;
  if (length >= d->room) return;
  if (before > 0) memcpy(d->note + before, "; ", 3);
  char text[KG_SENTENCE];
  // A sentence takes as many words as it has places for.
  snprintf(text, sizeof text, sentence, w[0], w[1], w[2], w[3], w[4], w[5], w[6]);
  kg_text_show(text, d->note + length, d->room - length);
}

kedge_status kg_diagnose(kg_diagnosis *d, kg_topic topic)
{
  for (const finding *f = findings; f < findings + sizeof findings / sizeof *findings; ++f) {
    if (f->topic != topic) continue;
    d->threshold = f->threshold;
    d->status = KEDGE_OK;
    d->n_words = 0;
    if (f->holds(d)) {
      add(d, f->sentence);
      return KEDGE_OK;
    }
    KG_TRY(d->status);
  }
  return KEDGE_OK;
}
