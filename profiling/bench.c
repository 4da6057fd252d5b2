#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/memory.h"
#include "ops/local/convert.h"
#include "ops/vector/round.h"

void bench_die(kedge_context *ctx, kedge_status status)
{
  fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, kedge_status_text(status),
          kedge_context_error(ctx));
  exit(1);
}

static kedge_mesh *open_mesh(kedge_context *ctx, const bench_settings *settings)
{
  const char *const words = settings->mesh;
  const size_t length = strlen(words);
  const bool file = length > 4 && strcmp(words + length - 4, ".msh") == 0;
  kedge_problem *problem;
  kedge_mesh *mesh;
  if (bench_halves_wanted(words)) {
    for (int i = 0; i < settings->n_sets; ++i)
      BENCH_TRY(ctx, strncmp(settings->sets[i], "mesh.", 5) != 0
                         ? KEDGE_OK
                         : KG_FAIL(ctx, KEDGE_ERR_INPUT, "\"%s\" takes no --set %s", words,
                                   settings->sets[i]));
    BENCH_TRY(ctx, bench_halves(ctx, words, &mesh));
    return mesh;
  }
  BENCH_TRY(ctx, kedge_problem_create(ctx, &problem));
  bench_set(ctx, problem, "mesh", file ? "file" : "generate", words);
  bench_apply_sets(ctx, problem, settings, true);
  BENCH_TRY(ctx, kedge_problem_mesh(problem, &mesh));
  kedge_problem_destroy(problem);
  return mesh;
}

void bench_machine_open(const bench_settings *settings, bench_machine *out)
{
  *out = (bench_machine){0};
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = settings->backend;
  BENCH_TRY(NULL, kedge_context_create(&options, &out->ctx));
  options.backend = KEDGE_BACKEND_HOST;
  BENCH_TRY(NULL, kedge_context_create(&options, &out->host_ctx));
  out->mesh = open_mesh(out->ctx, settings);
  out->free_bytes = kg_free_bytes(out->ctx);
  if (!settings->profile && !settings->no_roofs)
    BENCH_TRY(out->ctx, measure_roofs(out->ctx, &out->roof));
}

void bench_machine_close(bench_machine *machine)
{
  kedge_mesh_destroy(machine->mesh);
  kedge_context_destroy(machine->host_ctx);
  kedge_context_destroy(machine->ctx);
}

void bench_print_machine(const bench_settings *settings, const bench_machine *machine)
{
  const kedge_context *ctx = machine->ctx;
  printf("{\"kedge\":\"%s\",\"threads\":%d,\"elements\":%d", kedge_version(), ctx->threads,
         machine->mesh->n_elements);
  bench_print_text("backend", kedge_backend_name(ctx->backend));
  bench_print_text("device", ctx->device);
  bench_print_text("mesh", settings->mesh);
  bench_print_number("free_bytes", (double)machine->free_bytes);
  bench_print_number("read_bytes_per_second", machine->roof.read_bytes_per_second);
  bench_print_number("flops_per_second", machine->roof.flops_per_second);
  if (settings->no_roofs) return;
  fprintf(stderr, "%s: reads %.1f GB/s, %.0f GFlop/s\n", ctx->device,
          1e-9 * machine->roof.read_bytes_per_second, 1e-9 * machine->roof.flops_per_second);
}

double bench_random(uint64_t i)
{
  uint64_t h = (i + 1) * 0x9E3779B97F4A7C15u;
  h = (h ^ (h >> 31)) * 0xBF58476D1CE4E5B9u;
  return (double)((h ^ (h >> 29)) >> 11) / 9007199254740992.0 - 0.5;
}

static void fill_ell_arguments(bench *b)
{
  const kg_arrays *a = &b->p.arrays;
  kg_ell_matrix matrix = kg_ell_shape(b->p.shape.m, &b->p.shape.count);
  matrix.column = a->iteration.ell_column;
  matrix.value = a->iteration.ell_value;
  b->assemble = (kg_ell_assemble_args){b->p.space.batch, b->diagonal.locals, matrix,
                                       a->iteration.ell_work, b->p.shape.ell_work_bytes};
  b->ell = (kg_ell_apply_args){matrix, b->x.data, b->y.data};
}

static void fill_arguments(bench *b)
{
  const kg_arrays *a = &b->p.arrays;
  const kg_coefficient all = kg_materials_from(&b->p.equation, &b->p.shape, &a->materials, 0, 0);
  const kg_materials materials = all.constant;
  kg_local local = bench_local(b, KG_LAYOUT_PACKED, KG_DOUBLE);
  local.data = a->local;
  double *load = a->load;
  double *condensed = a->condensed, *partial = a->iteration.method.cg.product_part;
  b->local_matrices = (kg_local_matrices_args){b->p.space.batch, materials, load, local, condensed};
  b->right_hand_side =
      (kg_facet_loads_args){.batch = b->p.space.batch, .condensed = condensed, .b = a->b};
  b->diagonal =
      (kg_facet_diagonal_args){.batch = b->p.space.batch,
                               .locals = kg_locals_of(local, b->p.space.batch.arrays.side_edge),
                               .inverse = a->inverse_diagonal};
  b->apply = (kg_trace_apply_args){.batch = b->p.space.batch,
                                   .local = local,
                                   .x = b->x.data,
                                   .y = b->y.data,
                                   .halo = a->iteration.halo,
                                   .pass = {.sum.part = partial, .after_vectors = true}};
  b->local_solve =
      (kg_local_solve_args){b->p.space.batch, materials, 0,    b->p.shape.choice.recover_groups,
                            b->x.data,        load,      a->u, a->q};
  b->postprocess = (kg_postprocess_args){
      b->p.space.batch, materials,   0, b->p.shape.choice.recover_groups, a->u, a->q,
      a->u_star,        a->indicator};
  b->load_vectors = (kg_load_vectors_args){b->p.space.batch,
                                           kg_rules_points(&b->p.rules, KG_SAMPLE_LOADS),
                                           kg_rules_host_points(&b->p.rules, KG_SAMPLE_LOADS),
                                           0,
                                           b->p.shape.choice.recover_groups,
                                           b->p.equation.scale,
                                           a->source.values,
                                           load};
}

/// Vectors of the conjugate gradients that stay bounded however often they are updated.
static void fill_vectors(bench *b, const double *x)
{
  kedge_context *ctx = b->p.ctx;
  const size_t n = (size_t)b->vectors.n * sizeof(double);
  const kg_cg_vectors_args *const v = &b->vectors;
  void *const vectors[] = {v->x, v->z, v->p, v->ap};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i)
    BENCH_TRY(ctx, kg_copy_in(ctx, vectors[i], x, n));
  // Steps so short that nothing grows.
  const kg_cg_state state = {.p_ap = 1e30, .rz = 1.0, .rz_next = 0.5, .max_iterations = INT64_MAX};
  BENCH_TRY(ctx, kg_copy_in(ctx, b->vectors.state, &state, sizeof state));
}

void bench_set(kedge_context *ctx, kedge_problem *problem, const char *section, const char *key,
               const char *value)
{
  BENCH_TRY(ctx, kedge_problem_set(problem, section, key, value));
}

kedge_problem *bench_problem(kedge_context *ctx, int order)
{
  kedge_problem *problem;
  BENCH_TRY(ctx, kedge_problem_create(ctx, &problem));
  char text[16];
  snprintf(text, sizeof text, "%d", order);
  bench_set(ctx, problem, "space", "order", text);
  bench_set(ctx, problem, "equation", "reaction", "0");  // K^e can be reduced
  bench_set(ctx, problem, "solver", "preconditioner", "jacobi");
  bench_set(ctx, problem, "equation", "source", "sin(3*x)*y");
  bench_set(ctx, problem, "boundary default", "type", "dirichlet");
  bench_set(ctx, problem, "boundary default", "value", "0");
  return problem;
}

/// @param[in] whole  a chunk is all elements
static void open_bench(bench *b, kedge_context *ctx, const kedge_mesh *mesh, kedge_problem *problem,
                       bool whole)
{
  *b = (bench){.p = {.ctx = ctx, .mesh = mesh}, .problem = problem};
  b->p.equation.problem = b->problem;
  b->p.run.solution = &b->solution;
  const double began = kg_seconds();
  BENCH_TRY(ctx, kg_elliptic_prepare(&b->p));
  // K^e are packed, and the arrays of all stages are there at once.
  b->p.shape.choice.layout = KG_LAYOUT_PACKED;
  b->p.shape.choice.apart = true;
  if (whole) b->p.shape.choice.recover_groups = b->p.shape.count.n_groups;
  kg_memory_plan(&b->p.shape, &b->p.plan, &b->p.arrays);
  b->set_up_seconds = kg_seconds() - began;
  BENCH_TRY(ctx, kg_run_begin(&b->p.run, KG_STAGE_TRANSFER));
  BENCH_TRY(ctx, kg_run_end(&b->p.run, kg_stage_transfer(&b->p)));
  b->set_up_seconds += b->solution.report.stages[KG_STAGE_TRANSFER].seconds;
  const size_t n = (size_t)b->p.shape.count.n_edges * (size_t)b->p.shape.m;
  double *x;
  BENCH_TRY(ctx, kg_host_alloc(ctx, n, sizeof *x, &x));
  for (size_t i = 0; i < n; ++i) x[i] = bench_random(i);
  BENCH_TRY(ctx, kg_upload(ctx, x, n, sizeof *x, &b->x));
  BENCH_TRY(ctx, kg_alloc(ctx, n, sizeof *x, &b->y));
  BENCH_TRY(ctx, kg_alloc(ctx, KG_PIECES, sizeof(double), &b->ell_partial));
  b->vectors = b->p.arrays.iteration.method.cg.v;
  b->vectors.steps = NULL;
  fill_vectors(b, x);
  free(x);
}

void bench_open_any(bench *b, kedge_context *ctx, const kedge_mesh *mesh, kedge_problem *problem)
{
  open_bench(b, ctx, mesh, problem, true);
}

void bench_open(bench *b, kedge_context *ctx, const kedge_mesh *mesh, int order)
{
  open_bench(b, ctx, mesh, bench_problem(ctx, order), false);
  if (kg_shape_has_quadrature(&b->p.shape))
    BENCH_TRY(ctx, KG_FAIL(ctx, KEDGE_ERR_UNSUPPORTED,
                           "this program measures straight triangles alone; for other meshes there "
                           "is the program `elements`"));
  fill_arguments(b);
}

kedge_status bench_add_ell(bench *b)
{
  const kg_ell_matrix matrix = kg_ell_shape(b->p.shape.m, &b->p.shape.count);
  const size_t n = (size_t)matrix.width * (size_t)matrix.stride;
  kg_arrays *a = &b->p.arrays;
  kg_plan_array(&b->ell_plan, "ELL columns", n, sizeof *a->iteration.ell_column, 1,
                &a->iteration.ell_column);
  kg_plan_array(&b->ell_plan, "ELL values", n, sizeof *a->iteration.ell_value, 1,
                &a->iteration.ell_value);
  kg_plan_array(&b->ell_plan, "ELL work", b->p.shape.ell_work_bytes, 1, 1, &a->iteration.ell_work);
  kg_plan_place(&b->ell_plan);
  KG_TRY(kg_plan_commit(b->p.ctx, &b->ell_plan));
  fill_ell_arguments(b);
  return KEDGE_OK;
}

kedge_status bench_add_single(bench *b)
{
  const kg_trace_counts *n = &b->p.shape.count;
  const size_t m = (size_t)b->p.shape.m, all = (size_t)n->n_edges * m;
  const size_t local = kg_local_count(&b->apply.local);
  // Pieces begin at multiples of 32 bytes.
  const size_t x = (all + 7) / 8 * 8, y = ((size_t)n->n_free * m + 7) / 8 * 8;
  KG_TRY(kg_alloc(b->p.ctx, local + x + y + (size_t)n->n_shared * m, sizeof(float), &b->single));
  float *at = b->single.data;
  b->apply_single = b->apply;
  b->apply_single.local = bench_local(b, KG_LAYOUT_PACKED, KG_SINGLE);
  b->apply_single.local.data = at;
  b->apply_single.x = at + local;
  b->apply_single.y = at + local + x;
  b->apply_single.halo = at + local + x + y;
  KG_TRY(kg_local_convert(
      b->p.ctx, &(kg_local_convert_args){
                    .m = b->p.shape.m, .from = b->apply.local, .to = b->apply_single.local}));
  return kg_round(b->p.ctx,
                  &(kg_round_args){.n = (int64_t)all, .from = b->apply.x, .to = at + local});
}

static kg_local reduced_local(const bench *b, kg_number number)
{
  kg_local local = bench_local(b, KG_LAYOUT_REDUCED, number);
  local.data = b->reduced[number].data;
  return local;
}

kedge_status bench_allocate_reduced(bench *b, kg_number number)
{
  const kg_local local = reduced_local(b, number);
  if (local.data) return KEDGE_OK;
  return kg_alloc(b->p.ctx, kg_local_count(&local), kg_number_bytes(number), &b->reduced[number]);
}

kg_local_matrices_args bench_local_reduced(const bench *b)
{
  kg_local_matrices_args args = b->local_matrices;
  args.local = reduced_local(b, KG_DOUBLE);
  return args;
}

kedge_status bench_add_reduced(bench *b, kg_number number)
{
  kg_trace_apply_args *const apply = &b->apply_reduced[number];
  if (number == KG_SINGLE && !b->single.data) KG_TRY(bench_add_single(b));
  *apply = number == KG_SINGLE ? b->apply_single : b->apply;
  KG_TRY(bench_allocate_reduced(b, number));
  apply->local = reduced_local(b, number);
  if (number == KG_SINGLE && !b->apply_reduced[KG_DOUBLE].local.data)
    KG_TRY(bench_add_reduced(b, KG_DOUBLE));
  if (number == KG_SINGLE)
    return kg_local_convert(b->p.ctx, &(kg_local_convert_args){.m = b->p.shape.m,
                                                               .from = reduced_local(b, KG_DOUBLE),
                                                               .to = reduced_local(b, KG_SINGLE)});
  const kg_local_matrices_args args = bench_local_reduced(b);
  return kg_local_matrices(b->p.ctx, &args);
}

static kg_edge_smooth_args smooth_args(const bench *b, void *r, void *product, void *z)
{
  return (kg_edge_smooth_args){.m = b->p.shape.m,
                               .n_edges = b->p.shape.count.n_free,
                               .inverse = b->edge_blocks,
                               .form = KG_BLOCK_FACTOR,
                               .r = r,
                               .product = product,
                               .again = true,  // z stays bounded however often it is made
                               .z = z,
                               .step = 0.1};
}

kedge_status bench_add_many(bench *b)
{
  const kg_trace_counts *n = &b->p.shape.count;
  const size_t m = (size_t)b->p.shape.m, K = KG_VECTORS;
  const size_t all = K * (size_t)n->n_edges * m, groups = (size_t)n->n_free / KG_LANES + 1;
  const size_t blocks = groups * KG_LANES * m * (m + 1) / 2;
  const size_t halo = K * (size_t)n->n_shared * m;
  KG_TRY(
      kg_alloc(b->p.ctx, 3 * all + (halo + 3) / 4 * 4 + blocks / 2 + 1, sizeof(double), &b->many));
  double *const at = b->many.data, *const y = at + all, *const z = y + all;
  for (size_t i = 0; i < 3 * K; ++i)  // any numbers: whole copies of x one behind the other
    KG_TRY(kg_copy(b->p.ctx, at + i * (all / K), b->x.data, all / K * sizeof *at));
  b->apply_many = b->apply;
  b->apply_many.x = at;
  b->apply_many.y = y;
  b->apply_many.halo = z + all;
  b->apply_many.pass.many = true;
  b->edge_blocks = z + all + (halo + 3) / 4 * 4;
  b->smooth = smooth_args(b, b->x.data, b->vectors.ap, b->y.data);
  b->smooth_many = smooth_args(b, at, y, z);
  b->smooth_many.many = true;
  return kg_edge_blocks(b->p.ctx, &(kg_edge_blocks_args){.batch = b->p.space.batch,
                                                         .locals = b->diagonal.locals,
                                                         .form = KG_BLOCK_FACTOR,
                                                         .inverse = b->edge_blocks,
                                                         .fault = (int32_t *)b->ell_partial.data});
}

kedge_status bench_take_local(bench *host, const bench *device)
{
  const kg_buffer from = kg_plan_buffer(&device->p.plan, &device->p.arrays.local);
  KG_TRY(kg_copy_out(device->p.ctx, host->p.arrays.local, from.data, from.bytes));
  return kg_sync(device->p.ctx);
}

void bench_close(bench *b)
{
  for (int i = 0; i < KG_NUMBERS; ++i) kg_free(b->p.ctx, &b->reduced[i]);
  kg_sampler_close(&b->source);
  kg_sampler_close(&b->exact_solution);
  kg_free(b->p.ctx, &b->exact);
  kg_free(b->p.ctx, &b->exact_values);
  kg_free(b->p.ctx, &b->error_sums);
  kg_plan_free(b->p.ctx, &b->ell_plan);
  kg_free(b->p.ctx, &b->single);
  kg_free(b->p.ctx, &b->many);
  kg_free(b->p.ctx, &b->x);
  kg_free(b->p.ctx, &b->y);
  kg_free(b->p.ctx, &b->ell_partial);
  kg_elliptic_free(&b->p);
  kedge_problem_destroy(b->problem);
}

kedge_status bench_difference(kedge_context *ctx, const double *values, const double *expected,
                              size_t n, double *difference)
{
  double *copy, sum = 0.0, norm = 0.0;
  KG_TRY(kg_host_alloc(ctx, n, sizeof *copy, &copy));
  kedge_status status = kg_copy_out(ctx, copy, values, n * sizeof *copy);
  if (status == KEDGE_OK) status = kg_sync(ctx);
  for (size_t i = 0; status == KEDGE_OK && i < n; ++i) {
    sum += (copy[i] - expected[i]) * (copy[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  free(copy);
  *difference = sqrt(sum / norm);
  return status;
}

double bench_floor(const roofs *roof, kg_cost cost)
{
  return fmax(cost.bytes / roof->read_bytes_per_second, cost.flops / roof->flops_per_second);
}

void bench_print_number(const char *name, double value)
{
  if (isfinite(value))
    printf(",\"%s\":%.9g", name, value);
  else
    printf(",\"%s\":null", name);
}

void bench_print_text(const char *name, const char *text)
{
  printf(",\"%s\":\"", name);
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') putchar('\\');
    if ((unsigned char)*text >= 0x20) putchar(*text);
  }
  putchar('"');
}
