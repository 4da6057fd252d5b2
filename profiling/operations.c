// The operators of a bench: how each is called, what a call costs, where its result lies. Those
// that work by chunks go through all of them.
#include "operations.h"

static kedge_status make_local_matrices(bench *b, kg_local_matrices_args args)
{
  kg_trace_counts *n = &args.batch.count;
  if (b->one_chunk) {
    const int32_t elements = b->p.shape.choice.recover_groups * KG_LANES;
    n->n_groups = b->p.shape.choice.recover_groups;
    if (n->n_elements > elements) n->n_elements = elements;
    args.local = kg_local_part(&args.local, 0, elements);
  }
  return kg_local_matrices(b->p.ctx, &args);
}
static kedge_status call_local_matrices(bench *b)
{
  return make_local_matrices(b, b->local_matrices);
}
static kedge_status call_local_matrices_reduced(bench *b)
{
  KG_TRY(bench_allocate_reduced(b, KG_DOUBLE));
  return make_local_matrices(b, bench_local_reduced(b));
}
static kedge_status call_diagonal(bench *b)
{
  return kg_facet_diagonal(b->p.ctx, &b->diagonal);
}
static kedge_status call_apply(bench *b)
{
  return kg_trace_apply(b->p.ctx, &b->apply);
}
static kedge_status call_apply_single(bench *b)
{
  if (!b->single.data) KG_TRY(bench_add_single(b));
  return kg_trace_apply(b->p.ctx, &b->apply_single);
}
static kedge_status call_reduced(bench *b)
{
  if (!b->apply_reduced[KG_DOUBLE].local.data) KG_TRY(bench_add_reduced(b, KG_DOUBLE));
  return kg_trace_apply(b->p.ctx, &b->apply_reduced[KG_DOUBLE]);
}
static kedge_status call_reduced_single(bench *b)
{
  if (!b->apply_reduced[KG_SINGLE].local.data) KG_TRY(bench_add_reduced(b, KG_SINGLE));
  return kg_trace_apply(b->p.ctx, &b->apply_reduced[KG_SINGLE]);
}
static kedge_status call_many(bench *b, kg_local local)
{
  if (!b->many.data) KG_TRY(bench_add_many(b));
  b->apply_many.local = local;
  KG_REQUIRE(b->p.ctx, kg_trace_takes_many(b->p.ctx, &b->apply_many), KEDGE_ERR_UNSUPPORTED,
             "there is no product of many vectors at this order");
  return kg_trace_apply(b->p.ctx, &b->apply_many);
}
static kedge_status call_apply_many(bench *b)
{
  return call_many(b, b->apply.local);
}
static kedge_status call_reduced_many(bench *b)
{
  if (!b->apply_reduced[KG_DOUBLE].local.data) KG_TRY(bench_add_reduced(b, KG_DOUBLE));
  return call_many(b, b->apply_reduced[KG_DOUBLE].local);
}
static kedge_status call_smooth(bench *b)
{
  if (!b->many.data) KG_TRY(bench_add_many(b));
  return kg_edge_smooth(b->p.ctx, &b->smooth);
}
static kedge_status call_smooth_many(bench *b)
{
  if (!b->many.data) KG_TRY(bench_add_many(b));
  return kg_edge_smooth(b->p.ctx, &b->smooth_many);
}
static kedge_status call_assemble(bench *b)
{
  return kg_ell_assemble(b->p.ctx, &b->assemble);
}
static kedge_status call_ell(bench *b)
{
  return kg_ell_apply(b->p.ctx, &b->ell);
}
/// Chunk by chunk; the first comes last, so that its results stay.
static kedge_status for_chunks(bench *b, int32_t *first, int32_t *count,
                               kedge_status (*call)(bench *b))
{
  const int32_t chunk = b->p.shape.choice.recover_groups, n = b->p.shape.count.n_groups;
  for (*first = b->one_chunk ? 0 : (n - 1) / chunk * chunk; *first >= 0; *first -= chunk) {
    *count = n - *first < chunk ? n - *first : chunk;
    KG_TRY(call(b));
  }
  return KEDGE_OK;
}
/// Where the load vectors of the chunk lie.
static double *load_of_chunk(const bench *b)
{
  const size_t group = (size_t)b->p.shape.size.n_modes * KG_LANES;
  return (double *)b->p.arrays.load + group * (size_t)b->load_vectors.first_group;
}
static kedge_status one_load_vectors(bench *b)
{
  b->load_vectors.load = load_of_chunk(b);
  return kg_load_vectors(b->p.ctx, &b->load_vectors);
}
static kedge_status one_local_solve(bench *b)
{
  return kg_local_solve(b->p.ctx, &b->local_solve);
}
static kedge_status one_postprocess(bench *b)
{
  return kg_postprocess(b->p.ctx, &b->postprocess);
}
static kedge_status one_errors(bench *b)
{
  return kg_errors(b->p.ctx, &b->errors);
}
static kedge_status one_exact(bench *b)
{
  return bench_sample_errors(b, b->errors.first_group, b->errors.n_groups);
}
static kedge_status call_load_vectors(bench *b)
{
  return for_chunks(b, &b->load_vectors.first_group, &b->load_vectors.n_groups, one_load_vectors);
}
static kedge_status call_local_solve(bench *b)
{
  return for_chunks(b, &b->local_solve.first_group, &b->local_solve.n_groups, one_local_solve);
}
static kedge_status call_postprocess(bench *b)
{
  return for_chunks(b, &b->postprocess.first_group, &b->postprocess.n_groups, one_postprocess);
}
static kedge_status call_errors(bench *b)
{
  return for_chunks(b, &b->errors.first_group, &b->errors.n_groups, one_errors);
}
static kedge_status call_source(bench *b)
{
  return kg_sampler_loads(
      &b->source, 0, 0, b->one_chunk ? b->p.shape.choice.recover_groups : b->p.shape.count.n_groups,
      kg_plan_buffer(&b->p.plan, &b->p.arrays.source.values), b->p.arrays.load);
}
static kedge_status call_exact(bench *b)
{
  return for_chunks(b, &b->errors.first_group, &b->errors.n_groups, one_exact);
}
static kedge_status call_vectors(bench *b)
{
  KG_TRY(kg_cg_update(b->p.ctx, &b->vectors));
  return kg_cg_direction(b->p.ctx, &b->vectors);
}

static kg_cost cost_local_matrices(const bench *b)
{
  return kg_local_matrices_cost(b->p.shape.size, KG_LAYOUT_PACKED, b->p.mesh->n_elements);
}
static kg_cost cost_local_matrices_reduced(const bench *b)
{
  return kg_local_matrices_cost(b->p.shape.size, KG_LAYOUT_REDUCED, b->p.mesh->n_elements);
}
static kg_cost cost_diagonal(const bench *b)
{
  return kg_facet_sum_cost(b->p.shape.m, b->p.shape.count.n_free);
}
static kg_cost cost_product(const bench *b, kg_layout layout, kg_number number)
{
  const kg_locals locals = kg_locals_of(bench_local(b, layout, number), NULL);
  return kg_trace_product_cost(b->p.shape.m, &b->p.shape.count, &locals);
}
static kg_cost cost_apply(const bench *b)
{
  return cost_product(b, KG_LAYOUT_PACKED, KG_DOUBLE);
}
static kg_cost cost_apply_single(const bench *b)
{
  return cost_product(b, KG_LAYOUT_PACKED, KG_SINGLE);
}
static kg_cost cost_reduced(const bench *b)
{
  return cost_product(b, KG_LAYOUT_REDUCED, KG_DOUBLE);
}
static kg_cost cost_reduced_single(const bench *b)
{
  return cost_product(b, KG_LAYOUT_REDUCED, KG_SINGLE);
}
/// More vectors, which are all of a cost but `shared` bytes.
static kg_cost cost_of_many(kg_cost one, double shared)
{
  return (kg_cost){shared + KG_VECTORS * (one.bytes - shared), KG_VECTORS * one.flops};
}
static double local_bytes(const bench *b, kg_layout layout)
{
  return 8.0 * bench_local(b, layout, KG_DOUBLE).rows * b->p.mesh->n_elements;
}
static kg_cost cost_apply_many(const bench *b)
{
  return cost_of_many(cost_apply(b), local_bytes(b, KG_LAYOUT_PACKED));
}
static kg_cost cost_reduced_many(const bench *b)
{
  return cost_of_many(cost_reduced(b), local_bytes(b, KG_LAYOUT_REDUCED));
}
/// z is not read.
static kg_cost cost_smooth(const bench *b)
{
  const kg_trace_counts *n = &b->p.shape.count;
  kg_cost cost = kg_edge_smooth_cost(b->p.shape.m, n, KG_BLOCK_FACTOR, KG_DOUBLE);
  cost.bytes -= 8.0 * b->p.shape.m * n->n_free;
  return cost;
}
static kg_cost cost_smooth_many(const bench *b)
{
  const double m = b->p.shape.m;
  return cost_of_many(cost_smooth(b), 2.0 * m * (m + 1) * b->p.shape.count.n_free);
}
static kg_cost cost_assemble(const bench *b)
{
  return kg_ell_assemble_cost(b->p.shape.m, &b->p.shape.count);
}
static kg_cost cost_ell(const bench *b)
{
  return kg_ell_apply_cost(b->p.shape.m, &b->p.shape.count);
}
static kg_cost cost_vectors(const bench *b)
{
  return kg_cg_vectors_cost(b->vectors.n);
}
static kg_cost cost_local_solve(const bench *b)
{
  return kg_local_solve_cost(b->p.shape.size, b->p.mesh->n_elements);
}
static kg_cost cost_postprocess(const bench *b)
{
  return kg_postprocess_cost(b->p.shape.size, b->p.mesh->n_elements);
}
static kg_cost cost_load_vectors(const bench *b)
{
  return kg_load_vectors_cost(b->p.shape.size, b->p.mesh->n_elements);
}
static kg_cost cost_errors(const bench *b)
{
  return kg_errors_cost(b->p.shape.size, b->p.shape.fast_exact_rows, false, b->p.mesh->n_elements);
}

/// Evaluating is not in them.
static kg_cost cost_source(const bench *b)
{
  return kg_sample_cost(KG_SAMPLE_LOADS, b->p.shape.size, 0, false, 0.0, b->p.mesh->n_elements);
}
static kg_cost cost_exact(const bench *b)
{
  return kg_sample_cost(KG_SAMPLE_ERRORS, b->p.shape.size, b->p.shape.fast_exact_rows, false, 0.0,
                        b->p.mesh->n_elements);
}

static size_t count_local(const bench *b)
{
  return (size_t)b->p.shape.size.n_packed * KG_LANES * (size_t)b->p.shape.choice.recover_groups;
}
static size_t count_local_reduced(const bench *b)
{
  return (size_t)bench_local(b, KG_LAYOUT_REDUCED, KG_DOUBLE).rows * KG_LANES *
         (size_t)b->p.shape.choice.recover_groups;
}
static size_t count_rows(const bench *b)
{
  return (size_t)b->vectors.n;
}
static size_t count_u(const bench *b)
{
  return (size_t)b->p.shape.size.n_modes * kg_shape_chunk_lanes(&b->p.shape);
}
static size_t count_star(const bench *b)
{
  return (size_t)b->p.shape.size.n_star * kg_shape_chunk_lanes(&b->p.shape);
}
/// Numbers of the load vectors that are compared: those of the first chunk.
static size_t count_load(const bench *b)
{
  return (size_t)b->p.shape.size.n_modes * KG_LANES * (size_t)b->p.shape.choice.recover_groups;
}
static size_t count_sums(const bench *b)
{
  return sizeof(kg_error_sums) / sizeof(double) * (size_t)b->p.shape.choice.recover_groups;
}
static size_t count_none(const bench *b)
{
  return (void)b, 0;
}

#define IN(array) offsetof(kg_arrays, array)

const operation operations[OPERATIONS] = {
    {"load_vectors", call_load_vectors, cost_load_vectors, IN(load), count_load},
    {"local_matrices", call_local_matrices, cost_local_matrices, IN(local), count_local,
     .makes_local = true},
    {"local_matrices_reduced", call_local_matrices_reduced, cost_local_matrices_reduced, IN(local),
     count_local_reduced, .reduced = true, .alone = true},
    {"edge_sum", call_diagonal, cost_diagonal, IN(inverse_diagonal), count_rows},
    {"trace_apply", call_apply, cost_apply, OPERATION_Y, count_rows},
    {"trace_apply_single", call_apply_single, cost_apply_single, OPERATION_Y, count_none,
     .alone = true},
    {"trace_apply_reduced", call_reduced, cost_reduced, OPERATION_Y, count_rows, .alone = true},
    {"trace_apply_reduced_single", call_reduced_single, cost_reduced_single, OPERATION_Y,
     count_none, .alone = true},
    {"trace_apply_4", call_apply_many, cost_apply_many, OPERATION_Y, count_none, .alone = true,
     .many = true},
    {"trace_apply_reduced_4", call_reduced_many, cost_reduced_many, OPERATION_Y, count_none,
     .alone = true, .many = true},
    {"edge_smooth", call_smooth, cost_smooth, OPERATION_Y, count_none, .alone = true},
    {"edge_smooth_4", call_smooth_many, cost_smooth_many, OPERATION_Y, count_none, .alone = true,
     .many = true},
    {"ell_assemble", call_assemble, cost_assemble, OPERATION_Y, count_none, .ell = true},
    {"ell_apply", call_ell, cost_ell, OPERATION_Y, count_rows, .ell = true},
    {"cg_vectors", call_vectors, cost_vectors, OPERATION_Y, count_none},
    {"local_solve", call_local_solve, cost_local_solve, IN(u), count_u},
    {"postprocess", call_postprocess, cost_postprocess, IN(u_star), count_star},
    {"errors", call_errors, cost_errors, IN(error_sums), count_sums},
    {"load_vectors_of_formula", call_source, cost_source, IN(load), count_load, .formula = true},
    {"errors_of_formula", call_exact, cost_exact, IN(error_sums), count_sums, .formula = true},
};
