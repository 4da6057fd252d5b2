#include "solver/arrays.h"

#include "core/context.h"
#include "ops/cg_resident.h"
#include "ops/cg_vectors.h"
#include "ops/ell.h"
#include "ops/errors.h"
#include "ops/points.h"
#include "ops/trace_arrays.h"
#include "ops/trace_gather.h"

typedef struct lifetime {
  kedge_stage first, last;
} lifetime;

#define LIFETIME(name, begins, ends) {KEDGE_STAGE_##begins, KEDGE_STAGE_##ends},
static const lifetime lifetimes[KG_ARRAY_COUNT] = {KG_ARRAY_LIST(LIFETIME)};

kg_multigrid_shape kg_shape_multigrid(const kg_shape *s)
{
  return (kg_multigrid_shape){.size = s->size,
                              .count = s->count,
                              .n_vertices = (int32_t)s->n_vertices,
                              .smoother = s->choice.smoother,
                              .smoothing_steps = s->choice.steps,
                              .alignment = s->alignment,
                              .n_lines = s->n_lines,
                              .n_line_steps = s->n_line_steps,
                              .number = s->choice.cycles,
                              .local = kg_shape_local(s),
                              .diffusion = s->diffusion};
}

/// Bytes of the coarse solver; none without a cycle. Beside the K^e of higher orders there
/// is something to spare: of the quarter that multigrid adds to Jacobi at most, and with compact of
/// six tenths of that sum (tests/solver/test_places.c). Lines take their couplings of it.
static kg_coarse_bytes coarse_bytes(const kg_shape *s)
{
  if (s->choice.steps == 0) return (kg_coarse_bytes){0};
  int64_t spare = (s->choice.iterates == KG_SINGLE ? 20 : 40) * (int64_t)(s->size.order - 1);
  spare *= s->count.n_elements;
  if (kg_smoother_has_lines(s->choice.smoother))
    spare -= (int64_t)(kg_line_factor_count(s->size, s->n_lines, s->n_line_steps) * sizeof(float));
  return kg_amg.bytes(s->n_vertices, 2 * (int64_t)s->count.n_free, spare > 0 ? spare : 0);
}

static bool has_coarse_vectors(const kg_shape *s)
{
  return s->choice.steps > 0;
}

/// Bytes of the vector that is idle while the coarse system is solved, in which vectors below the
/// trace lie then: A p of conjugate gradients with mixed precision, the product of the cycle with a
/// reaction, else z where it is made again; 0 if none is idle. Without reaction there is room
/// behind reduced K^e in double precision.
static size_t unused_vector_bytes(const kg_shape *s)
{
  const size_t rows = (size_t)s->count.n_free * (size_t)s->size.n_edge;
  const kg_multigrid_shape shape = kg_shape_multigrid(s);
  if (s->choice.cycles != s->choice.iterates || s->choice.layout != KG_LAYOUT_REDUCED)
    return rows * kg_number_bytes(s->choice.iterates);
  return s->choice.iterates == KG_SINGLE && kg_multigrid_repeats(&shape) ? rows * sizeof(float) : 0;
}

bool kg_shape_lends_vector(const kg_shape *s)
{
  if (!has_coarse_vectors(s) || s->choice.apart) return false;
  const kg_multigrid_shape shape = kg_shape_multigrid(s);
  return kg_multigrid_vector_bytes(&shape, &kg_amg) <= unused_vector_bytes(s);
}

/// The halo of products, or the vector of the vertices that is not used beside it
/// (kg_multigrid_lend()).
static size_t halo_bytes(const kg_shape *s)
{
  const size_t halo = (size_t)s->count.n_shared * (size_t)s->size.n_edge;
  const size_t vertices = has_coarse_vectors(s) ? (size_t)s->n_vertices : 0;
  return (halo > vertices ? halo : vertices) * sizeof(double);
}

/// The coarse solver works after the other parts of multigrid, in the same memory.
static kedge_status multigrid_work(kedge_context *ctx, kg_shape *s)
{
  const kg_multigrid_shape shape = kg_shape_multigrid(s);
  KG_TRY(kg_multigrid_work_bytes(ctx, &shape, &s->multigrid_work_bytes));
  const size_t coarse = (size_t)coarse_bytes(s).work;
  if (coarse > s->multigrid_work_bytes) s->multigrid_work_bytes = coarse;
  return KEDGE_OK;
}

kedge_status kg_shape_work(kedge_context *ctx, kg_shape *s)
{
  s->resident_bytes = s->choice.resident ? kg_cg_resident_bytes(ctx, s->size, &s->count) : 0;
  if (s->choice.precond != KG_JACOBI) KG_TRY(multigrid_work(ctx, s));
  return kg_ell_work_bytes(ctx, &s->count, &s->ell_work_bytes);
}

bool kg_array_lives(kg_array array, kedge_stage stage, const kg_shape *shape)
{
  const bool local_solves = stage >= KEDGE_STAGE_LOCAL_SOLVE;
  const bool loads = stage <= KEDGE_STAGE_LOCAL_MATRICES || local_solves;  // are used
  // Load vectors that are remade chunk by chunk are never all there before the local solves.
  const bool remakes = shape->choice.residual == KG_REMADE_WITH_LOADS;
  const kedge_operator kind = shape->choice.linear;
  if (stage < lifetimes[array].first || stage > lifetimes[array].last) return false;
  switch (array) {
    case KG_ARRAY_LOCAL:  // Once another form of the operator stands, packed K^e are gone.
      return kind == KEDGE_OPERATOR_MATRIX_FREE || stage <= KEDGE_STAGE_ASSEMBLY;
    case KG_ARRAY_EDGE_SIDES:
      return kind == KEDGE_OPERATOR_MATRIX_FREE_PLAIN || stage <= KEDGE_STAGE_LOCAL_MATRICES ||
             (shape->choice.precond != KG_JACOBI && stage == KEDGE_STAGE_ASSEMBLY) ||
             shape->choice.facet_sides_stay;
    case KG_ARRAY_SIDE_EDGE:
      return stage != KEDGE_STAGE_TRACE_SOLVE || shape->choice.sides_stay;
    case KG_ARRAY_LOAD:
      return shape->choice.loads_stay || (loads && (local_solves || !remakes));
    case KG_ARRAY_LOCAL_CHUNK:  // what assembles needs K^e of all elements
      return stage != KEDGE_STAGE_ASSEMBLY;
    case KG_ARRAY_SOURCE_VALUES:  // while load vectors are made, for the second time too
      return (stage == KEDGE_STAGE_TRANSFER && !remakes) ||
             (!shape->choice.loads_stay && local_solves);
    default:
      return true;
  }
}

/// Arrays of the operator by patches.
static size_t patch_bytes(kg_array array, const kg_shape *s)
{
  const size_t n_patches = (size_t)s->count.n_patches, n_halo = (size_t)s->count.n_halo;
  switch (array) {
    case KG_ARRAY_SIDE_CODES:
      return KG_LANES * (size_t)s->count.n_groups * sizeof(uint32_t);
    case KG_ARRAY_PATCH_EDGE:
    case KG_ARRAY_PATCH_HALO:
      return (n_patches + 1) * sizeof(int32_t);
    case KG_ARRAY_HALO_EDGE:
      return n_halo * sizeof(uint32_t);
    case KG_ARRAY_HALO:
      return halo_bytes(s);
    case KG_ARRAY_OPERATOR_PARTIAL:
      return n_patches * sizeof(double);
    case KG_ARRAY_CG_RESIDENT:
      return s->resident_bytes;
    default:
      return 0;
  }
}

static size_t plain_bytes(kg_array array, const kg_shape *s)
{
  const kg_local full = kg_shape_full_local(s);
  switch (array) {
    case KG_ARRAY_FULL_LOCAL:
      return kg_local_bytes(&full);
    case KG_ARRAY_OPERATOR_PARTIAL:
      return (size_t)kg_trace_gather_partials(s->size, &s->count) * sizeof(double);
    default:
      return 0;
  }
}

static size_t ell_bytes(kg_array array, const kg_shape *s)
{
  const kg_ell_matrix matrix = kg_ell_shape(s->size, &s->count);
  const size_t n_entries = (size_t)matrix.width * (size_t)matrix.stride;
  switch (array) {
    case KG_ARRAY_ELL_COLUMN:
      return n_entries * sizeof(int32_t);
    case KG_ARRAY_ELL_VALUE:
      return n_entries * sizeof(double);
    case KG_ARRAY_ELL_WORK:
      return s->ell_work_bytes;
    case KG_ARRAY_OPERATOR_PARTIAL:
      return KG_PIECES * sizeof(double);
    default:
      return 0;
  }
}

static size_t operator_bytes(kg_array array, const kg_shape *s)
{
  static size_t (*const bytes[])(kg_array, const kg_shape *) = {
      [KEDGE_OPERATOR_MATRIX_FREE] = patch_bytes,
      [KEDGE_OPERATOR_MATRIX_FREE_PLAIN] = plain_bytes,
      [KEDGE_OPERATOR_ELL] = ell_bytes};
  return bytes[s->choice.linear](array, s);
}

static size_t connectivity_bytes(const kg_shape *s)
{
  size_t bytes;
  kg_connectivity_at(&s->count, NULL, &bytes);
  return bytes;
}

static size_t multigrid_bytes(kg_array array, const kg_shape *s)
{
  const kg_multigrid_shape shape = kg_shape_multigrid(s);
  if (s->choice.precond == KG_JACOBI) return 0;
  switch (array) {
    case KG_ARRAY_MULTIGRID_TRACE:
      return kg_multigrid_trace_bytes(&shape);
    case KG_ARRAY_MULTIGRID_SPACE:
      return kg_multigrid_space_bytes(&shape);
    case KG_ARRAY_MULTIGRID_COARSE:
      return (size_t)coarse_bytes(s).kept;
    case KG_ARRAY_MULTIGRID_VECTORS:
      return kg_shape_lends_vector(s) ? 0 : kg_multigrid_vector_bytes(&shape, &kg_amg);
    default:
      return s->multigrid_work_bytes;
  }
}

/// Bytes of K^e, load vectors, F^e and sides of a group of a chunk with precision = compact.
static size_t chunk_group_bytes(const kg_shape *s)
{
  const size_t numbers = (size_t)(kg_shape_local(s).rows + s->size.n_modes + s->size.n_trace);
  const size_t sides = s->choice.sides_stay ? 0 : 3;
  return KG_LANES * (numbers * sizeof(double) + sides * sizeof(uint32_t));
}

static size_t chunk_local_bytes(const kg_shape *s)
{
  return (size_t)kg_shape_local(s).rows * KG_LANES * (size_t)s->choice.residual_groups *
         sizeof(double);
}

/// Bytes of the chunk of precision = compact or of r and A p, which are made anew after it is used:
/// whichever is more.
static size_t chunk_bytes(const kg_shape *s)
{
  const size_t more = kg_compact_local_bytes(s) - chunk_local_bytes(s);  // for values of the source
  const size_t local = chunk_group_bytes(s) * (size_t)s->choice.residual_groups + more;
  const size_t vectors = 2 * kg_compact_vector_bytes(s);
  return local > vectors ? local : vectors;
}

/// Arrays that are other ones with precision = compact.
static size_t compact_bytes(kg_array array, const kg_shape *s)
{
  const kg_local kept = kg_shape_local(s);
  const size_t m = (size_t)s->size.n_edge;
  switch (array) {
    case KG_ARRAY_LOCAL:
      return kg_local_bytes(&kept);
    case KG_ARRAY_LOCAL_CHUNK:
      return chunk_bytes(s);
    case KG_ARRAY_DIRECTION:  // and z; in double precision a residual
      return 2 * kg_rounded((size_t)s->count.n_edges * m * sizeof(float));
    default:
      return 0;
  }
}

size_t kg_array_bytes(kg_array array, const kg_shape *s)
{
  const size_t compact = s->choice.iterates == KG_SINGLE ? compact_bytes(array, s) : 0;
  if (compact > 0) return compact;
  const bool multigrid = s->choice.precond != KG_JACOBI;
  const size_t lanes = (size_t)KG_LANES * (size_t)s->count.n_groups;  // elements, empty lanes too
  const size_t chunk = (size_t)KG_LANES * (size_t)s->choice.recover_groups;
  const size_t N = (size_t)s->size.n_modes, m = (size_t)s->size.n_edge;
  const size_t free_rows = (size_t)s->count.n_free * m, all_rows = (size_t)s->count.n_edges * m;
  const size_t n_points = (size_t)s->n_points, d = sizeof(double);
  switch (array) {
    case KG_ARRAY_CONNECTIVITY:
      return connectivity_bytes(s);
    case KG_ARRAY_VERTICES:
      return 2 * (size_t)s->n_vertices * d;
    case KG_ARRAY_VERTEX:
      return 3 * lanes * sizeof(int32_t);
    case KG_ARRAY_SIDE_EDGE:
      return 3 * lanes * sizeof(uint32_t);
    case KG_ARRAY_EDGE_SIDES:
      return 2 * (size_t)s->count.n_edges * sizeof(int32_t);
    case KG_ARRAY_REFERENCE:
      return kg_reference_count(s->size.order) * d;
    case KG_ARRAY_POINT_RULE:
      return 3 * n_points * d;
    case KG_ARRAY_POINT_BASIS:
      return kg_points_table(s->size, s->n_points) * d;
    case KG_ARRAY_LOAD:
      return N * lanes * d;
    case KG_ARRAY_SOURCE_VALUES:  // not at corners
      return (size_t)kg_rule_points(s->size.order) * chunk * d;
    case KG_ARRAY_LOCAL:
      return (size_t)s->size.n_packed * lanes * d;
    case KG_ARRAY_CONDENSED:
      return s->choice.residual == KG_REMADE_WITH_LOADS ? 0 : (size_t)s->size.n_trace * lanes * d;
    case KG_ARRAY_RIGHT_HAND_SIDE:
      return s->choice.residual == KG_REMADE_WITH_LOADS ? 0 : free_rows * d;
    case KG_ARRAY_PRODUCT:
      return s->choice.iterates == KG_SINGLE ? 0 : free_rows * d;
    case KG_ARRAY_INVERSE_DIAGONAL:
      return multigrid ? 0 : free_rows * d;
    case KG_ARRAY_PRECONDITIONED:  // multigrid multiplies it, as a vector of the whole trace
      return s->choice.cycles == KG_SINGLE ? 0 : (multigrid ? all_rows : free_rows) * d;
    case KG_ARRAY_RESIDUAL:
      return multigrid && s->choice.iterates != KG_SINGLE ? free_rows * d : 0;
    case KG_ARRAY_MULTIGRID_TRACE:
    case KG_ARRAY_MULTIGRID_SPACE:
    case KG_ARRAY_MULTIGRID_COARSE:
    case KG_ARRAY_MULTIGRID_VECTORS:
    case KG_ARRAY_MULTIGRID_WORK:
      return multigrid_bytes(array, s);
    case KG_ARRAY_TRACE:
    case KG_ARRAY_DIRECTION:
      return all_rows * d;
    case KG_ARRAY_VECTOR_PARTIAL:
      return 2 * KG_PIECES * d;
    case KG_ARRAY_CG_STATE:
      return sizeof(kg_cg_state) + sizeof(int32_t);  // and the exponent of a cycle
    case KG_ARRAY_U:
      return N * chunk * d;
    case KG_ARRAY_Q:
      return 2 * N * chunk * d;
    case KG_ARRAY_U_STAR:
      return (size_t)s->size.n_star * chunk * d;
    case KG_ARRAY_INDICATOR:
      return chunk * d;
    case KG_ARRAY_CONSTANT_MODES:
      return s->choice.wants_means ? 3 * chunk * d : 0;
    case KG_ARRAY_EXACT_VALUES:
      return s->choice.wants_errors ? 3 * n_points * chunk * d : 0;
    case KG_ARRAY_ERROR_SUMS:
      return s->choice.wants_errors ? (size_t)s->count.n_groups * sizeof(kg_error_sums) : 0;
    default:
      return operator_bytes(array, s);
  }
}

size_t kg_compact_vector_bytes(const kg_shape *shape)
{
  return kg_rounded((size_t)shape->count.n_free * (size_t)shape->size.n_edge * sizeof(float));
}

int32_t kg_compact_groups(const kg_shape *shape)
{
  const int64_t n = shape->count.n_patches, patch = shape->count.patch_groups;
  const int64_t bytes = patch * (int64_t)chunk_group_bytes(shape);  // of a patch
  const int64_t room = 2 * (int64_t)kg_compact_vector_bytes(shape) / bytes;
  const int64_t busy = ((int64_t)16 << 20) / bytes + 1, tenth = (n + 9) / 10;
  const int64_t least = busy < tenth ? busy : tenth, part = room > least ? room : least;
  return (int32_t)((part < n ? part : n) * patch);
}

size_t kg_compact_local_bytes(const kg_shape *shape)
{
  const size_t local = chunk_local_bytes(shape);
  const size_t values = (size_t)kg_rule_points(shape->size.order) * KG_LANES * sizeof(double);
  return local > values || shape->choice.residual != KG_REMADE_WITH_LOADS ? local : values;
}
