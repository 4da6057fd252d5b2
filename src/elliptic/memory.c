#include "elliptic/memory.h"

#include "device/loop.h"
#include "core/memory.h"
#include "ops/sample/errors.h"
#include "solution/solution.h"

static int64_t mesh_bytes(const kg_shape *s)
{
  const int64_t vertex = 2 * sizeof(double) + sizeof(int32_t);              // coordinates, origin
  const int64_t side = 2 * sizeof(int32_t), element = 2 * sizeof(int32_t);  // vertex and edge of
                                                                            // each; region, origin
  const int64_t edge = (2 + 1) * sizeof(int32_t);                           // sides, group
  return vertex * s->n_vertices + side * s->count.n_sides + element * s->count.n_elements +
         edge * s->count.n_edges;
}

int64_t kg_prepared_bytes(const kg_shape *s)
{
  const int64_t numbers = kg_tensor_numbers(s->batch[0].size.dimension) + 1;
  const int64_t materials = s->n_materials * numbers * (int64_t)sizeof(double);
  const int64_t patch = (KG_SECTION_COUNT + 1) * sizeof(int32_t);  // sections, halo
  const int64_t layout = s->count.n_edges + patch * (s->count.n_patches + 1);
  const kg_grouped_count *const g = &s->grouped;
  const int64_t lists = (int64_t)sizeof(int32_t) *
                        ((int64_t)kg_grouped_numbers(g) + 2 * (int64_t)g->n_facets + g->n_records);
  const bool lines = s->choice.precond != KG_JACOBI && kg_smoother_has_lines(s->choice.smoother);
  return mesh_bytes(s) + layout + lists + materials +
         (lines ? kg_edge_lines_bytes(s->n_lines, s->n_line_steps) : 0);
}

int64_t kg_results_bytes(const kg_shape *s)
{
  static const struct {
    unsigned field;
    kg_rows rows;
  } of[] = {{KG_HOLDS_U, KG_ROWS_MODES},
            {KG_HOLDS_FLUX, KG_ROWS_FLUX},
            {KG_HOLDS_U_STAR, KG_ROWS_STAR},
            {KG_HOLDS_MEANS, KG_ROWS_MEANS}};
  const unsigned kept = s->choice.kept;
  size_t numbers = 0;
  for (size_t k = 0; k < sizeof of / sizeof *of; ++k)
    if (kept & of[k].field) numbers += kg_shape_numbers(s, of[k].rows, s->n_batches);
  if (kept & KG_HOLDS_INDICATOR) numbers += (size_t)s->count.n_groups * KG_LANES;
  if (kept & KG_HOLDS_TRACE) numbers += (size_t)s->count.n_edges * (size_t)s->m;
  return (int64_t)(numbers * sizeof(double));
}

/// What norms of u take: volumes too, unless the mass is a number.
static int64_t norm_bytes(const kg_shape *s, const kg_function *mass, bool is_affine)
{
  const int64_t work = (int64_t)kg_rounded(kg_norm_numbers(s) * sizeof(double));
  const bool is_number = mass->kind == KG_FUNCTION_CONSTANT;
  return work + (is_number ? 0 : kg_mass_bytes(s, &kg_function_one, is_affine));
}

int64_t kg_march_bytes(const kg_shape *s, const kg_equation *equation, bool is_affine,
                       int n_vectors)
{
  const kg_function *const mass = &equation->resolved.equation.mass;
  const bool measures = kg_time_measures(&equation->problem->time);
  const size_t vectors = (size_t)n_vectors * kg_shape_numbers(s, KG_ROWS_MODES, s->n_batches);
  const size_t trace = (size_t)s->count.n_edges * (size_t)s->m;
  return (int64_t)(kg_rounded(vectors * sizeof(double)) + kg_rounded(trace * sizeof(double))) +
         kg_mass_bytes(s, mass, is_affine) + (measures ? norm_bytes(s, mass, is_affine) : 0);
}

/// Values of functions of a chunk, n_values a triangle, when the host evaluates them.
static int64_t sampled_bytes(const kg_shape *s, int n_values)
{
  return (int64_t)n_values * KG_LANES * s->choice.recover_groups * (int64_t)sizeof(double);
}

/// Whether values of the source are on their way to the device.
static bool samples_source(kg_stage stage, const kg_choice *c)
{
  if (stage == KG_STAGE_TRACE_SOLVE) return c->residual == KG_REMADE_WITH_LOADS;
  if (stage == KG_STAGE_LOCAL_MATRICES) return c->residual == KG_REMADE;
  if (stage == KG_STAGE_TRANSFER) return c->residual == KG_PLAIN;
  return stage >= KG_STAGE_LOCAL_SOLVE && !c->loads_stay;
}

int64_t kg_host_stage_bytes(kg_stage stage, const kg_shape *s)
{
  if (stage < KG_STAGE_TRANSFER || stage > KG_STAGE_POSTPROCESS) return 0;
  const int64_t n_boundary = s->count.n_edges - s->count.n_free + s->count.n_neumann;
  int64_t bytes = kg_results_bytes(s) + n_boundary * s->m * (int64_t)sizeof(double);
  if (stage == KG_STAGE_LOCAL_MATRICES) bytes += kg_robin_host_bytes(s);
  if (stage == KG_STAGE_TRANSFER && s->n_materials > 1)  // a table on its way to the device
    bytes += s->n_materials * (int64_t)sizeof(kg_material);
  if (samples_source(stage, &s->choice)) bytes += sampled_bytes(s, kg_shape_source_points(s));
  if (stage >= KG_STAGE_LOCAL_SOLVE)
    bytes += s->grouped.n_records * (int64_t)sizeof(kg_region_sums) +
             s->grouped.n_facets * (1 + s->m) * (int64_t)sizeof(double);
  if (stage >= KG_STAGE_LOCAL_SOLVE && s->choice.wants_errors)
    bytes += sampled_bytes(s, 3 * kg_shape_exact_points(s)) +
             s->count.n_groups * (int64_t)(sizeof(kg_error_sums) + sizeof(double));
  return bytes;
}

static void declare(const kg_shape *shape, kg_plan *plan, kg_arrays *arrays)
{
  *plan = (kg_plan){.apart = shape->choice.apart,
                    .repeats = shape->choice.repeats ? &kg_solve_phases : NULL};
  kg_transfer_declare(plan, shape, arrays);
  kg_local_declare(plan, shape, arrays);
  kg_compact_declare(plan, shape, arrays);
  kg_iteration_declare(plan, shape, 1, &arrays->iteration);
  kg_recover_declare(plan, shape, arrays);
}

void kg_memory_plan(const kg_shape *shape, kg_plan *plan, kg_arrays *arrays)
{
  declare(shape, plan, arrays);
  kg_plan_place(plan);
}

int64_t kg_peak_bytes(const kg_shape *shape)
{
  kg_plan plan;
  kg_arrays arrays;
  kg_memory_plan(shape, &plan, &arrays);
  return (int64_t)plan.bytes;
}

int64_t kg_stage_bytes(const kg_plan *plan, kg_stage stage)
{
  return (int64_t)kg_plan_live_bytes(plan, kg_elliptic_method.stage[stage].phases);
}

/// The arrays of a solve with chunks of so many groups, without places.
static kg_plan with_chunks(kg_shape s, int64_t groups)
{
  kg_plan plan;
  kg_arrays arrays;
  s.choice.recover_groups = (int32_t)groups;
  declare(&s, &plan, &arrays);
  return plan;
}

/// Return the bytes used in a stage if chunks have `groups` groups.
/// @param[in] host  true: host memory is counted too
static int64_t held(kg_shape s, kg_stage stage, int32_t groups, bool host)
{
  const kg_plan plan = with_chunks(s, groups);
  s.choice.recover_groups = groups;
  return kg_stage_bytes(&plan, stage) + (host ? kg_host_stage_bytes(stage, &s) : 0);
}

/// The most that is held on the device, given the groups of a chunk.
static size_t most_held(const kg_shape *s, int64_t groups)
{
  const kg_plan plan = with_chunks(*s, groups);
  return kg_plan_live_bytes(&plan, ~0u);
}

/// Return the number of groups for which local solve and post-processing have room in the memory of
/// the arrays that only the trace solve needs.
/// @param[in] least  bytes that may always be used, but at most a tenth of what all groups need
/// @param[in] most   bytes that may be used at most
static int64_t groups_in_room(const kg_shape *s, bool host, int64_t least, int64_t most)
{
  const int32_t n = s->count.n_groups;
  const int64_t rest = held(*s, KG_STAGE_LOCAL_SOLVE, 0, host);
  const int64_t all = held(*s, KG_STAGE_LOCAL_SOLVE, n, host) - rest, tenth = all / 10;
  int64_t room = held(*s, KG_STAGE_TRACE_SOLVE, 0, host) - rest;
  if (least > tenth) least = tenth;
  room = room < least ? least : room > most ? most : room;
  return room < all ? n * room / all : n;
}

// The chunk size is chosen as if load vectors were computed again after the trace solve, and as if
// the kernel for small problems needed no memory: both are decided later.
int32_t kg_chunk_groups(const kg_shape *shape, bool separate)
{
  const int64_t busy = (int64_t)16 << 20, most = (int64_t)2 << 30;
  const int64_t n = shape->count.n_groups;
  kg_shape s = *shape;
  s.choice.loads_stay = false;
  if (s.choice.resident && s.forgets_constants) s.choice.layout = KG_LAYOUT_REDUCED;
  s.choice.resident = false;
  s.resident_bytes = 0;
  int64_t groups = groups_in_room(&s, true, busy, most);
  if (separate) {
    const int64_t more = groups_in_room(&s, false, 0, busy);
    if (more > groups && most_held(&s, more) <= most_held(&s, groups)) groups = more;
  }
  const int64_t chunks = groups > 0 ? (n + groups - 1) / groups : n;
  return (int32_t)((n + chunks - 1) / chunks);
}

int64_t kg_host_bytes(const kg_shape *shape)
{
  int64_t most = 0;
  for (kg_stage stage = 0; stage < KG_STAGE_COUNT; ++stage) {
    const int64_t bytes = kg_host_stage_bytes(stage, shape);
    if (bytes > most) most = bytes;
  }
  return most;
}

kg_memory kg_memory_needed(const kedge_context *ctx, const kg_shape *shape, int64_t peak)
{
  const int64_t device = peak + shape->march_bytes, host = kg_host_bytes(shape);
  const int64_t scratch = (int64_t)ctx->threads * KG_LOOP_SCRATCH;
  return ctx->backend == KEDGE_BACKEND_CUDA ? (kg_memory){device, host}
                                            : (kg_memory){0, device + host + scratch};
}

kg_memory kg_memory_free(kedge_context *ctx)
{
  if (ctx->backend != KEDGE_BACKEND_CUDA) return (kg_memory){.host = kg_free_bytes(ctx)};
  return (kg_memory){.device = kg_free_bytes(ctx), .host = kg_memory_available("")};
}

bool kg_memory_fits(kg_memory need, kg_memory available)
{
  return need.device <= available.device && need.host <= available.host;
}

kg_memory kg_memory_choose(const kedge_context *ctx, kg_shape *shape, kg_memory available,
                           kg_plan *plan, kg_arrays *arrays)
{
  shape->choice.loads_stay = shape->choice.iterates != KG_SINGLE;
  kg_memory_plan(shape, plan, arrays);
  const kg_memory need = kg_memory_needed(ctx, shape, (int64_t)plan->bytes);
  const bool may_go = shape->choice.loads_stay && !shape->choice.marches;
  if (!may_go || kg_memory_fits(need, available)) return need;
  shape->choice.loads_stay = false;
  kg_memory_plan(shape, plan, arrays);
  return kg_memory_needed(ctx, shape, (int64_t)plan->bytes);
}

/// The setting to change first where memory is short; "" where there is none.
static const char *leaner_setting(const kg_shape *s)
{
  if (s->choice.linear != KEDGE_OPERATOR_MATRIX_FREE) return "operator = matrix-free, ";
  const bool has_compact = !kg_lanes_in_space(&s->count.lanes) && s->n_robin == 0;
  const bool asks = s->choice.precond == KG_CYCLE && s->choice.iterates != KG_SINGLE;
  return has_compact && asks ? "precision = compact, " : "";
}

static kedge_status refuse(kedge_context *ctx, const kg_shape *s, const char *where, int64_t need,
                           int64_t there)
{
  return KG_FAIL(ctx, KEDGE_ERR_MEMORY,
                 "this solve needs %.2f GB of memory on %s (%lld elements, order %d, operator %s) "
                 "and %.2f GB are free; see `kedge plan`, and take %sfewer elements or a lower "
                 "order",
                 1e-9 * (double)need, where, (long long)s->count.n_elements, s->size.order,
                 kedge_operator_name(s->choice.linear), 1e-9 * (double)there, leaner_setting(s));
}

kedge_status kg_memory_check(kedge_context *ctx, const kg_shape *shape, kg_memory need,
                             kg_memory available)
{
  if (need.device > available.device)
    return refuse(ctx, shape, ctx->device, need.device, available.device);
  if (need.host <= available.host) return KEDGE_OK;
  const bool separate = ctx->backend == KEDGE_BACKEND_CUDA;
  return refuse(ctx, shape, separate ? "the host, for its results," : ctx->device, need.host,
                available.host);
}
