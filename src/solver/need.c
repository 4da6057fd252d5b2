#include "solver/need.h"

#include <math.h>
#include <stdio.h>

#include "core/context.h"
#include "core/memory.h"
#include "ops/advice.h"
#include "ops/errors.h"
#include "ops/points.h"

static int64_t mesh_bytes(const kg_shape *s)
{
  const int64_t vertex = 2 * sizeof(double) + sizeof(int32_t);  // coordinates, origin
  const int64_t element = (3 + 3 + 2) * sizeof(int32_t);        // vertices, sides, region, origin
  const int64_t edge = (2 + 1) * sizeof(int32_t);               // sides, group
  return vertex * s->n_vertices + element * s->count.n_elements + edge * s->count.n_edges;
}

/// The arrays of kg_trace_layout.
static int64_t layout_bytes(const kg_shape *s)
{
  const int64_t patch = (KG_SECTION_COUNT + 1) * sizeof(int32_t);  // sections, halo
  return s->count.n_edges + patch * (s->count.n_patches + 1);
}

static int64_t lines_bytes(const kg_shape *s)
{
  const int64_t corners = s->smoother == KEDGE_SMOOTHER_STRIP ? s->count.n_elements : 0;
  if (!kg_shape_has_multigrid(s) || !kg_smoother_has_lines(s->smoother)) return 0;
  return kg_edge_lines_bytes(s->n_lines, s->n_line_steps) + corners;
}

int64_t kg_prepared_bytes(const kg_shape *shape)
{
  return mesh_bytes(shape) + layout_bytes(shape) + lines_bytes(shape);
}

static int64_t results_bytes(const kg_shape *s)
{
  const int64_t lanes = (int64_t)s->count.n_groups * KG_LANES;
  if (s->cells_only) return lanes * 4 * (int64_t)sizeof(double);   // means of u, q; indicator
  const int64_t modes = 3 * s->size.n_modes + s->size.n_star + 1;  // u, q, u*, indicator
  return (lanes * modes + (int64_t)s->count.n_edges * s->size.n_edge) * (int64_t)sizeof(double);
}

/// Values of functions of a chunk, so many a triangle, when the host evaluates them.
static int64_t sampled_bytes(const kg_shape *s, int n_values)
{
  return (int64_t)n_values * KG_LANES * s->chunk_groups * (int64_t)sizeof(double);
}

int64_t kg_host_stage_bytes(kedge_stage stage, const kg_shape *s)
{
  if (stage < KEDGE_STAGE_TRANSFER || stage > KEDGE_STAGE_POSTPROCESS) return 0;
  const int64_t n_boundary = s->count.n_edges - s->count.n_free + s->count.n_neumann;
  int64_t bytes = results_bytes(s) + n_boundary * s->size.n_edge * (int64_t)sizeof(double);
  const bool remakes = stage == KEDGE_STAGE_TRACE_SOLVE && kg_shape_remakes_right_hand_side(s);
  if (kg_array_lives(KG_ARRAY_SOURCE_VALUES, stage, s) || remakes)
    bytes += sampled_bytes(s, kg_rule_points(s->size.order));
  if (stage >= KEDGE_STAGE_LOCAL_SOLVE && s->has_exact)
    bytes += sampled_bytes(s, 3 * s->n_points) + s->count.n_groups * (int64_t)sizeof(kg_error_sums);
  return bytes;
}

/// On device and host, with chunks of so many groups.
static int64_t held(kg_shape s, kedge_stage stage, int32_t groups)
{
  s.chunk_groups = groups;
  return kg_stage_bytes(stage, &s) + kg_host_stage_bytes(stage, &s);
}

static int64_t held_by_local_stages(kg_shape s, int32_t groups)
{
  const int64_t solve = held(s, KEDGE_STAGE_LOCAL_SOLVE, groups);
  const int64_t postprocess = held(s, KEDGE_STAGE_POSTPROCESS, groups);
  return solve > postprocess ? solve : postprocess;
}

// As if load vectors were made again, and the kernel for small problems took nothing: both are
// decided later.
int32_t kg_chunk_groups(const kg_shape *shape)
{
  const int64_t busy = (int64_t)16 << 20, most = (int64_t)2 << 30;
  const int64_t n = shape->count.n_groups;
  kg_shape s = *shape;
  s.keeps_load = false;
  s.resident_bytes = 0;
  const int64_t rest = held_by_local_stages(s, 0), all = held_by_local_stages(s, (int32_t)n) - rest;
  int64_t room = held(s, KEDGE_STAGE_TRACE_SOLVE, 0) - rest;
  const int64_t tenth = all / 10, least = busy < tenth ? busy : tenth;
  room = room < least ? least : room > most ? most : room;
  const int64_t most_groups = room < all ? n * room / all : n;
  const int64_t chunks = most_groups > 0 ? (n + most_groups - 1) / most_groups : n;
  return (int32_t)((n + chunks - 1) / chunks);
}

kg_memory kg_memory_needed(const kedge_context *ctx, const kg_shape *shape)
{
  const bool separate = ctx->backend == KEDGE_BACKEND_CUDA;
  kg_memory need = {.device = separate ? kg_peak_bytes(shape) : 0};
  for (kedge_stage stage = 0; stage < KEDGE_STAGE_COUNT; ++stage) {
    const int64_t device = separate ? 0 : kg_stage_bytes(stage, shape);
    const int64_t host = device + kg_host_stage_bytes(stage, shape);
    if (host > need.host) need.host = host;
  }
  return need;
}

kg_memory kg_memory_free(kedge_context *ctx)
{
  if (ctx->backend != KEDGE_BACKEND_CUDA) return (kg_memory){.host = kg_free_bytes(ctx)};
  return (kg_memory){.device = kg_free_bytes(ctx), .host = kg_memory_available("")};
}

bool kg_memory_fits(const kedge_context *ctx, const kg_shape *shape, kg_memory available)
{
  const kg_memory need = kg_memory_needed(ctx, shape);
  return need.device <= available.device && need.host <= available.host;
}

void kg_memory_choose(const kedge_context *ctx, kg_shape *shape, kg_memory available)
{
  shape->keeps_load = !kg_shape_is_compact(shape);
  if (shape->keeps_load) shape->keeps_load = kg_memory_fits(ctx, shape, available);
}

/// Whether the solve fits with other settings, and with as little as they can do with. Mesh and
/// numbering, and lines of this solve, are there already.
static bool fits_with(kedge_context *ctx, const kg_shape *s, kg_shape other, kg_memory available)
{
  available.host -= kg_prepared_bytes(&other) - kg_prepared_bytes(s);
  other.keeps_load = false;
  other.chunk_groups = kg_chunk_groups(&other);
  return kg_shape_work(ctx, &other) == KEDGE_OK && kg_memory_fits(ctx, &other, available);
}

/// A setting in place of one of `from` with which the solve fits, the one that costs least time; ""
/// when none is known.
static const char *find_setting(kedge_context *ctx, const kg_shape *s, const kg_shape *from,
                                kg_memory available)
{
  kg_shape other = *from;
  if (from->operator_kind != KEDGE_OPERATOR_MATRIX_FREE) {
    other.operator_kind = KEDGE_OPERATOR_MATRIX_FREE;
    return fits_with(ctx, s, other, available) ? "operator = matrix-free" : "";
  }
  if (!kg_shape_has_multigrid(from)) return "";
  other.precision = KEDGE_PRECISION_DOUBLE;
  if (kg_shape_is_mixed(from) && fits_with(ctx, s, other, available)) return "precision = double";
  other.precision = KEDGE_PRECISION_COMPACT;
  if (from->preconditioner == KEDGE_PRECONDITIONER_MULTIGRID && fits_with(ctx, s, other, available))
    return "precision = compact";
  other.precision = KEDGE_PRECISION_DOUBLE;
  other.preconditioner = KEDGE_PRECONDITIONER_JACOBI;
  return fits_with(ctx, s, other, available) ? KG_WITHOUT_MULTIGRID : "";
}

enum { ADVICE = 128 };

/// What goes behind "choose a smaller mesh or order".
static void advise(kedge_context *ctx, const kg_shape *s, kg_memory available, char words[ADVICE])
{
  const char *const setting = find_setting(ctx, s, s, available);
  snprintf(words, ADVICE, "%s%s", *setting ? ", or " : "", setting);
}

static kedge_status refuse(kedge_context *ctx, const kg_shape *s, const char *where, int64_t need,
                           int64_t there, const char *advice)
{
  return KG_FAIL(ctx, KEDGE_ERR_MEMORY,
                 "this solve needs %.2f GB of memory on %s (%lld elements, order %d, operator %s) "
                 "and %.2f GB are free; see `kedge plan`, or choose a smaller mesh or order%s",
                 1e-9 * (double)need, where, (long long)s->count.n_elements, s->size.order,
                 kedge_operator_name(s->operator_kind), 1e-9 * (double)there, advice);
}

kedge_status kg_memory_check(kedge_context *ctx, const kg_shape *shape, kg_memory available)
{
  const kg_memory need = kg_memory_needed(ctx, shape);
  if (kg_memory_fits(ctx, shape, available)) return KEDGE_OK;
  char advice[ADVICE];
  advise(ctx, shape, available, advice);
  if (need.device > available.device)
    return refuse(ctx, shape, ctx->device, need.device, available.device, advice);
  const bool separate = ctx->backend == KEDGE_BACKEND_CUDA;
  return refuse(ctx, shape, separate ? "the host, for its results," : ctx->device, need.host,
                available.host, advice);
}

/// Outlines of patches, in outlines of a full one: an outline grows with the square root of the
/// elements inside, and the last patch may be smaller.
static double count_outlines(const kg_trace_counts *n, int32_t n_elements)
{
  const int32_t patch = n->patch_groups * KG_LANES;
  const int32_t full = n_elements / patch;
  return full + sqrt((double)(n_elements % patch) / patch);
}

/// Every edge has two sides but those of the boundary, which has B edges: 3 elements = 2 edges - B.
/// B grows with the square root of the elements; vertices less edges plus elements stay what they
/// are.
kg_shape kg_shape_scaled(const kg_shape *shape, int32_t n_elements)
{
  const kg_trace_counts *from = &shape->count;
  const double factor = (double)n_elements / from->n_elements, root = sqrt(factor);
  const double boundary = 2.0 * from->n_edges - 3.0 * from->n_elements;
  const double outline = (2.0 * from->n_shared + boundary) / count_outlines(from, from->n_elements);
  const int64_t euler = shape->n_vertices - from->n_edges + from->n_elements;

  kg_shape s = *shape;
  kg_trace_counts *n = &s.count;
  const int32_t n_boundary = (int32_t)ceil(boundary * root);
  const int32_t n_dirichlet = (int32_t)lround((from->n_edges - from->n_free) * root);
  n->n_elements = n_elements;
  n->n_groups = (n_elements + KG_LANES - 1) / KG_LANES;
  n->n_patches = (n->n_groups + n->patch_groups - 1) / n->patch_groups;
  n->n_edges = (int32_t)((3 * (int64_t)n_elements + n_boundary + 1) / 2);
  n->n_free = n->n_edges - n_dirichlet;
  n->n_neumann = n_boundary - n_dirichlet;
  const double around = outline * count_outlines(from, n_elements);
  n->n_shared = around > n_boundary ? (int32_t)lround(0.5 * (around - n_boundary)) : 0;
  n->n_interior = n->n_edges - n_boundary - n->n_shared;
  n->n_halo = 2 * n->n_shared + n_boundary;
  s.n_vertices = n->n_edges - (int64_t)n_elements + euler;
  s.n_lines = (int32_t)ceil(shape->n_lines * factor);
  s.n_line_steps = (int32_t)ceil(shape->n_line_steps * factor);
  s.chunk_groups = kg_chunk_groups(&s);
  return s;
}
