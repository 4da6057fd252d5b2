#include "operations.h"

#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "ops/vector/cg_vectors.h"
#include "ops/local/recover/constant_modes.h"
#include "ops/vector/difference.h"
#include "ops/trace/facet_sum.h"
#include "ops/sample/errors.h"
#include "ops/sample/load_vectors.h"
#include "ops/local/triangle/local_matrices.h"
#include "ops/local/triangle/local_solve.h"
#include "ops/local/recover/postprocess.h"
#include "ops/trace/trace_apply.h"

static double *input(op_case *c, const op_data *in, op_array array)
{
  return case_input(c, in->array[array], op_count(c, array));
}

static double *output(op_case *c, op_array array)
{
  return case_output(c, op_count(c, array));
}

static void fetch(op_case *c, op_data *out, op_array array, const double *device)
{
  out->array[array] = case_fetch(c, device);
}

static int32_t chunk_end(const op_case *c, int32_t first)
{
  const int32_t n = c->layout.count.n_groups;
  return c->in_chunks && first == 0 && n > 1 ? n - 1 : n;
}

#define FOR_CHUNKS(c, first, end)                                                      \
  for (int32_t first = 0, end = chunk_end((c), 0); first < (c)->layout.count.n_groups; \
       first = end, end = chunk_end((c), first))

/// Words before group `first` of an array.
static size_t before(const op_case *c, op_array array, int32_t first)
{
  return (size_t)op_lane_rows(c, array) * KG_LANES * (size_t)first;
}

static void load_vectors(op_case *c, const op_data *in, op_data *out)
{
  const double *values = input(c, in, OP_SOURCE);
  double *load = output(c, OP_LOAD);
  FOR_CHUNKS(c, first, end)
  must(c->ctx, kg_load_vectors(
                   c->ctx, &(kg_load_vectors_args){.batch = c->batch,
                                                   .points = kg_points_of_rule(c->points),
                                                   .host_points = kg_sampling_points(&c->sampling),
                                                   .first_group = first,
                                                   .n_groups = end - first,
                                                   .scale = 1.0,
                                                   .values = values + before(c, OP_SOURCE, first),
                                                   .load = load + before(c, OP_LOAD, first)}));
  fetch(c, out, OP_LOAD, load);
}

static void local_matrices(op_case *c, const op_data *in, op_data *out)
{
  const kg_local_matrices_args args = {
      .batch = c->batch,
      .materials = kg_one_material(c->material),
      .load = input(c, in, OP_LOAD),
      .local = case_local(c, KG_LAYOUT_PACKED, KG_DOUBLE, output(c, OP_LOCAL)),
      .condensed = output(c, OP_CONDENSED)};
  must(c->ctx, kg_local_matrices(c->ctx, &args));
  fetch(c, out, OP_LOCAL, args.local.data);
  fetch(c, out, OP_CONDENSED, args.condensed);
}

size_t op_reduced_count(const op_case *c)
{
  const kg_local reduced = case_local(c, KG_LAYOUT_REDUCED, KG_DOUBLE, NULL);
  return kg_local_count(&reduced);
}

kg_local op_reduced(op_case *c, const op_data *data, double **condensed)
{
  const kg_local_matrices_args args = {
      .batch = c->batch,
      .materials = kg_one_material(c->material),
      .load = input(c, data, OP_LOAD),
      .local = case_local(c, KG_LAYOUT_REDUCED, KG_DOUBLE, case_output(c, op_reduced_count(c))),
      .condensed = output(c, OP_CONDENSED)};
  must(c->ctx, kg_local_matrices(c->ctx, &args));
  if (condensed) *condensed = args.condensed;
  return args.local;
}

static kg_local packed(op_case *c, const op_data *in)
{
  return case_local(c, KG_LAYOUT_PACKED, KG_DOUBLE, input(c, in, OP_LOCAL));
}

static void facet_loads(op_case *c, const op_data *in, op_data *out)
{
  const kg_facet_loads_args args = {
      .batch = c->batch, .condensed = input(c, in, OP_CONDENSED), .b = output(c, OP_RHS)};
  must(c->ctx, kg_facet_loads(c->ctx, &args));
  fetch(c, out, OP_RHS, args.b);
}

static void inverse_diagonal(op_case *c, const op_data *in, op_data *out)
{
  const kg_facet_diagonal_args args = {
      .batch = c->batch,
      .locals = kg_locals_of(packed(c, in), c->batch.arrays.side_edge),
      .inverse = output(c, OP_INVERSE)};
  must(c->ctx, kg_facet_diagonal(c->ctx, &args));
  fetch(c, out, OP_INVERSE, args.inverse);
}

static void fetch_state(op_case *c, op_data *out, op_array array, const kg_cg_state *device)
{
  kg_cg_state s;
  must(c->ctx, kg_copy_out(c->ctx, &s, device, sizeof s));
  must(c->ctx, kg_sync(c->ctx));
  double *numbers = malloc(STATE_NUMBERS * sizeof *numbers);
  assert_non_null(numbers);
  numbers[STATE_P_AP] = s.p_ap;
  numbers[STATE_RZ] = s.rz;
  numbers[STATE_RZ_NEXT] = s.rz_next;
  numbers[STATE_RR] = s.rr;
  numbers[STATE_ITERATIONS] = (double)s.iterations;
  numbers[STATE_STEPS] = (double)s.steps;
  numbers[STATE_STOP] = s.stop;
  out->array[array] = numbers;
}

static void trace_apply(op_case *c, const op_data *in, op_data *out)
{
  const kg_trace_counts *n = &c->layout.count;
  kg_cg_state *state =
      case_upload(c, &(kg_cg_state){.stop = KG_CG_RUNNING}, 1, sizeof(kg_cg_state));
  const kg_trace_apply_args args = {
      .batch = c->batch,
      .local = packed(c, in),
      .x = input(c, in, OP_TRACE),
      .y = output(c, OP_PRODUCT),
      .halo = case_output(c, (size_t)n->n_shared * (size_t)c->size.n_edge),
      .pass = {.stop = &state->stop,
               .sum = {case_output(c, (size_t)n->n_patches), &state->p_ap, NULL}}};
  must(c->ctx, kg_trace_apply(c->ctx, &args));
  free(case_fetch(c, args.halo));
  free(case_fetch(c, args.pass.sum.part));
  fetch(c, out, OP_PRODUCT, args.y);
  fetch_state(c, out, OP_PRODUCT_STATE, state);
}

/// The product that leaves it to the update to add the halo.
static void trace_apply_open(op_case *c, const op_data *in, op_data *out)
{
  kg_open open;
  const kg_trace_apply_args args = {.batch = c->batch,
                                    .local = packed(c, in),
                                    .x = input(c, in, OP_TRACE),
                                    .y = output(c, OP_OPEN),
                                    .halo = output(c, OP_HALO),
                                    .pass.open = &open};
  must(c->ctx, kg_trace_apply(c->ctx, &args));
  fetch(c, out, OP_OPEN, args.y);
  fetch(c, out, OP_HALO, args.halo);
}

/// The residual, and the first direction.
static void cg_start(op_case *c, const op_data *in, op_data *out)
{
  kg_cg_state *state = case_upload(c, &(kg_cg_state){0}, 1, sizeof(kg_cg_state));
  double *r = input(c, in, OP_PRODUCT), *partial = case_output(c, 2 * KG_PIECES);
  must(c->ctx, kg_difference(c->ctx, &(kg_difference_args){.n = (int64_t)op_count(c, OP_RHS),
                                                           .b = input(c, in, OP_RHS),
                                                           .r = r,
                                                           .sum = {partial, &state->rr, NULL}}));
  const kg_cg_vectors_args args = {.n = (int64_t)op_count(c, OP_RHS),
                                   .inverse = input(c, in, OP_INVERSE),
                                   .r = r,
                                   .z = output(c, OP_Z),
                                   .p = input(c, in, OP_TRACE),
                                   .partial = partial,
                                   .state = state};
  must(c->ctx, kg_cg_begin(c->ctx, &args));
  free(case_fetch(c, args.partial));
  fetch(c, out, OP_Z, args.z);
  fetch(c, out, OP_P, args.p);
  fetch_state(c, out, OP_START_STATE, args.state);
}

static kg_cg_vectors_args update_args(op_case *c, const op_data *in, op_array product)
{
  const kg_cg_state state = {.p_ap = in->array[OP_PRODUCT_STATE][STATE_P_AP],
                             .rz = in->array[OP_START_STATE][STATE_RZ],
                             .iterations = 6,
                             .steps = 6,
                             .max_iterations = 100};
  return (kg_cg_vectors_args){.n = (int64_t)op_count(c, OP_RHS),
                              .inverse = input(c, in, OP_INVERSE),
                              .z = input(c, in, OP_Z),
                              .ap = input(c, in, product),
                              .partial = case_output(c, 2 * KG_PIECES),
                              .state = case_upload(c, &state, 1, sizeof(kg_cg_state))};
}

static void cg_update(op_case *c, const op_data *in, op_data *out)
{
  const kg_cg_vectors_args args = update_args(c, in, OP_PRODUCT);
  must(c->ctx, kg_cg_update(c->ctx, &args));
  free(case_fetch(c, args.partial));
  fetch(c, out, OP_Z_NEXT, args.z);
  fetch_state(c, out, OP_UPDATE_STATE, args.state);
}

/// The update of conjugate gradients when the halo is still to be added.
static void cg_update_open(op_case *c, const op_data *in, op_data *out)
{
  const int64_t m = c->size.n_edge;
  kg_cg_vectors_args args = update_args(c, in, OP_OPEN);
  args.open = (kg_open){.first = c->layout.count.n_interior * m,
                        .n = c->layout.count.n_shared * m,
                        .halo = input(c, in, OP_HALO)};
  must(c->ctx, kg_cg_update(c->ctx, &args));
  fetch(c, out, OP_Z_OPEN, args.z);
  fetch_state(c, out, OP_OPEN_STATE, args.state);
}

static void cg_direction(op_case *c, const op_data *in, op_data *out)
{
  const double *s = in->array[OP_UPDATE_STATE];
  const kg_cg_state state = {.p_ap = s[STATE_P_AP],
                             .rz = s[STATE_RZ],
                             .rz_next = s[STATE_RZ_NEXT],
                             .rr = s[STATE_RR],
                             .iterations = (int64_t)s[STATE_ITERATIONS],
                             .steps = (int64_t)s[STATE_STEPS]};
  const kg_cg_vectors_args args = {.n = (int64_t)op_count(c, OP_RHS),
                                   .x = input(c, in, OP_TRACE),
                                   .z = input(c, in, OP_Z_NEXT),
                                   .p = input(c, in, OP_P),
                                   .state = case_upload(c, &state, 1, sizeof(kg_cg_state))};
  must(c->ctx, kg_cg_direction(c->ctx, &args));
  fetch(c, out, OP_X_NEXT, args.x);
  fetch(c, out, OP_P_NEXT, args.p);
  fetch_state(c, out, OP_DIRECTION_STATE, args.state);
}

static void local_solve(op_case *c, const op_data *in, op_data *out)
{
  const double *trace = input(c, in, OP_TRACE), *load = input(c, in, OP_LOAD);
  double *u = output(c, OP_U), *q = output(c, OP_Q);
  FOR_CHUNKS(c, first, end)
  must(c->ctx,
       kg_local_solve(c->ctx, &(kg_local_solve_args){.batch = c->batch,
                                                     .materials = kg_one_material(c->material),
                                                     .first_group = first,
                                                     .n_groups = end - first,
                                                     .trace = trace,
                                                     .load = load,
                                                     .u = u + before(c, OP_U, first),
                                                     .q = q + before(c, OP_Q, first)}));
  fetch(c, out, OP_U, u);
  fetch(c, out, OP_Q, q);
}

static void postprocess(op_case *c, const op_data *in, op_data *out)
{
  const double *u = input(c, in, OP_U), *q = input(c, in, OP_Q);
  double *star = output(c, OP_U_STAR), *indicator = output(c, OP_INDICATOR);
  FOR_CHUNKS(c, first, end)
  must(c->ctx,
       kg_postprocess(c->ctx, &(kg_postprocess_args){
                                  .batch = c->batch,
                                  .materials = kg_one_material(c->material),
                                  .first_group = first,
                                  .n_groups = end - first,
                                  .u = u + before(c, OP_U, first),
                                  .q = q + before(c, OP_Q, first),
                                  .u_star = star + before(c, OP_U_STAR, first),
                                  .indicator = indicator + before(c, OP_INDICATOR, first)}));
  fetch(c, out, OP_U_STAR, star);
  fetch(c, out, OP_INDICATOR, indicator);
}

static void errors(op_case *c, const op_data *in, op_data *out)
{
  const double *u = input(c, in, OP_U), *q = input(c, in, OP_Q), *star = input(c, in, OP_U_STAR);
  const double *exact = input(c, in, OP_EXACT);
  double *sums = output(c, OP_ERRORS);
  FOR_CHUNKS(c, first, end)
  must(c->ctx, kg_errors(c->ctx, &(kg_errors_args){.batch = c->batch,
                                                   .points = c->points,
                                                   .first_group = first,
                                                   .n_groups = end - first,
                                                   .u = u + before(c, OP_U, first),
                                                   .q = q + before(c, OP_Q, first),
                                                   .u_star = star + before(c, OP_U_STAR, first),
                                                   .exact = exact + before(c, OP_EXACT, first),
                                                   .by_group = (kg_error_sums *)sums}));
  fetch(c, out, OP_ERRORS, sums);
}

static void constant_modes(op_case *c, const op_data *in, op_data *out)
{
  const double *u = input(c, in, OP_U), *q = input(c, in, OP_Q);
  double *constant = output(c, OP_CONSTANT);
  FOR_CHUNKS(c, first, end)
  must(c->ctx,
       kg_constant_modes(c->ctx, &(kg_constant_modes_args){
                                     .size = c->size,
                                     .n_groups = end - first,
                                     .u = u + before(c, OP_U, first),
                                     .q = q + before(c, OP_Q, first),
                                     .constant = constant + before(c, OP_CONSTANT, first)}));
  fetch(c, out, OP_CONSTANT, constant);
}

const op_operation op_operations[OPERATIONS] = {
    {"load_vectors", load_vectors, {OP_LOAD}, 1},
    {"local_matrices", local_matrices, {OP_LOCAL, OP_CONDENSED}, 2},
    {"facet_loads", facet_loads, {OP_RHS}, 1},
    {"facet_diagonal", inverse_diagonal, {OP_INVERSE}, 1},
    {"trace_apply", trace_apply, {OP_PRODUCT, OP_PRODUCT_STATE}, 2},
    {"trace_apply with open rows", trace_apply_open, {OP_OPEN, OP_HALO}, 2},
    {"cg_start", cg_start, {OP_Z, OP_P, OP_START_STATE}, 3},
    {"cg_update", cg_update, {OP_Z_NEXT, OP_UPDATE_STATE}, 2},
    {"cg_update with open rows", cg_update_open, {OP_Z_OPEN, OP_OPEN_STATE}, 2},
    {"cg_direction", cg_direction, {OP_X_NEXT, OP_P_NEXT, OP_DIRECTION_STATE}, 3},
    {"local_solve", local_solve, {OP_U, OP_Q}, 2},
    {"postprocess", postprocess, {OP_U_STAR, OP_INDICATOR}, 2},
    {"errors", errors, {OP_ERRORS}, 1},
    {"constant_modes", constant_modes, {OP_CONSTANT}, 1},
};

void op_run_first(op_case *c, int count, op_data *data)
{
  op_inputs(c, data);
  for (int i = 0; i < count; ++i) {
    op_operations[i].run(c, data, data);
    case_release(c);
  }
}

void op_run_all(op_case *c, op_data *data)
{
  op_run_first(c, OPERATIONS, data);
}

void op_with(kedge_context *ctx, int n_elements, int order, enum case_boundary boundary,
             kg_material material, op_check *check)
{
  op_case c;
  op_data data;
  case_create(&c, ctx, n_elements, order, boundary, material);
  op_run_all(&c, &data);
  check(&c, &data);
  op_free(&data);
  case_destroy(&c);
}

void op_with_every_order(kedge_context *ctx, kg_material material, op_check *check)
{
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    op_with(ctx, 150, order, (enum case_boundary)(order % CASE_BOUNDARIES), material, check);
}
