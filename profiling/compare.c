// compare: the trace operator of kedge against other ways to keep it on a GPU, in one run on one
// GPU.
//
//   compare [--orders 1-9] [--mesh "square 1000" | FILE.msh] [--samples 21]
//           [--only block-ell,ell] [--no-check] > compare.json
//
// One JSON object a line: first the GPU and its roofs; then for each order every operator and
// variant: the time of an application ("measure":"apply") or of a whole iteration of conjugate
// gradients
// ("cg_iteration"), its floor by the form's cost formula, and the memory of a solve
// (profiling/METRICS.md). All are made from the same K^e, and each product is compared with the
// host's matrix-free one, of these K^e too (`operators` compares K^e). A form that does not fit
// beside K^e, or that the library refuses, gets a line with the reason.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "core/memory.h"
#include "footprint.h"
#include "formats.h"

/// Products agree to rounding, which grows with the entries of K^e (about N^2 terms each); an
/// operator that is further away is wrong.
static const double error_limit = 1e-11;

/// One order on the GPU, and what its results are held against.
typedef struct comparison {
  const bench_settings *settings;
  const bench_machine *machine;
  bench b;
  double *expected;                         ///< host's A x; NULL: not checked
  double apply_seconds, iteration_seconds;  ///< of kedge's own operator
  int failures;
} comparison;

/// What was measured, for one line.
typedef struct result {
  const char *measure, *operator_name, *variant;
  double seconds, error;
  format_size size;
  footprint_form form;
} result;

static void print_head(const comparison *c, const result *r)
{
  printf("{\"order\":%d,\"elements\":%d,\"samples\":%d", c->b.p.shape.size.order,
         c->b.p.mesh->n_elements, c->settings->samples);
  bench_print_text("measure", r->measure);
  bench_print_text("operator", r->operator_name);
  bench_print_text("variant", r->variant);
}

static void print_result(const comparison *c, const result *r, double reference_seconds)
{
  const double floor_seconds = bench_floor(&c->machine->roof, r->size.cost);
  const footprint memory =
      footprint_of(&c->b.p.shape, kg_forgets_constants(&c->b.p.equation.resolved), r->form,
                   r->size.matrix_bytes, (double)c->machine->free_bytes);
  print_head(c, r);
  bench_print_number("seconds", r->seconds);
  bench_print_number("bytes", r->size.cost.bytes);
  bench_print_number("flops", r->size.cost.flops);
  bench_print_number("floor_seconds", floor_seconds);
  bench_print_number("share_of_floor", floor_seconds / r->seconds);
  bench_print_number("speed", reference_seconds / r->seconds);
  bench_print_number("error_against_host", r->error);
  bench_print_number("matrix_bytes", r->size.matrix_bytes);
  bench_print_number("solve_bytes", memory.peak_bytes);
  bench_print_number("largest_elements", floor(memory.largest_elements));
  printf("}\n");
  fflush(stdout);
  fprintf(stderr,
          "P%-2d %-12s %-17s %-22s %10.3f us  %4.2f of its floor  speed %5.2f  error %.1e\n",
          c->b.p.shape.size.order, r->measure, r->operator_name, r->variant, 1e6 * r->seconds,
          floor_seconds / r->seconds, reference_seconds / r->seconds, r->error);
}

/// A form that could not be measured: its reason is the context's sentence.
static void print_skipped(const comparison *c, const result *r)
{
  const char *reason = kedge_context_error(c->machine->ctx);
  const footprint memory =
      footprint_of(&c->b.p.shape, kg_forgets_constants(&c->b.p.equation.resolved), r->form,
                   r->size.matrix_bytes, (double)c->machine->free_bytes);
  print_head(c, r);
  bench_print_text("skipped", reason);
  bench_print_number("matrix_bytes", r->size.matrix_bytes);
  bench_print_number("solve_bytes", memory.peak_bytes);
  bench_print_number("largest_elements", floor(memory.largest_elements));
  printf("}\n");
  fflush(stdout);
  fprintf(stderr, "P%-2d %-12s %-17s %-22s skipped: %s\n", c->b.p.shape.size.order, r->measure,
          r->operator_name, r->variant, reason);
}

/// Distance of b->y from the host's product. A wrong product has no time: it fails, and is counted.
static kedge_status check_product(comparison *c, double *error)
{
  kedge_context *ctx = c->machine->ctx;
  *error = NAN;
  if (c->expected == NULL) return KEDGE_OK;
  KG_TRY(bench_difference(ctx, c->b.y.data, c->expected, (size_t)c->b.vectors.n, error));
  if (*error <= error_limit) return KEDGE_OK;
  ++c->failures;
  return KG_FAIL(ctx, KEDGE_ERR_NUMERIC, "the product differs from the host's by %.1e", *error);
}

/// Time and check one product. y is cleared first: no other product can pass for this one.
static kedge_status measure_product(comparison *c, bench_work work, result *r)
{
  KG_TRY(kg_zero(c->machine->ctx, c->b.y.data, c->b.y.bytes));
  KG_TRY(bench_time(c->machine->ctx, work, c->settings->samples, &r->seconds));
  return check_product(c, &r->error);
}

static kedge_status call_matrix_free(void *user)
{
  const bench *b = user;
  return kg_trace_apply(b->p.ctx, &b->apply);
}

static kedge_status call_reduced(void *user)
{
  const bench *b = user;
  return kg_trace_apply(b->p.ctx, &b->apply_reduced[KG_DOUBLE]);
}

static kedge_status call_ell(void *user)
{
  const bench *b = user;
  return kg_ell_apply(b->p.ctx, &b->ell);
}

static kedge_status measure_iteration(comparison *c, kedge_operator kind, result *r)
{
  KG_TRY(bench_iteration(&c->b, kind, c->settings->samples, c->apply_seconds, &r->seconds));
  r->measure = "cg_iteration";
  r->error = NAN;
  r->size.cost = kg_cost_plus(r->size.cost, 1, kg_cg_vectors_cost(c->b.vectors.n));
  return KEDGE_OK;
}

/// Makes one call for a profiler in place of timing, under the name "operator/variant".
static kedge_status profile(const comparison *c, bench_work work, const result *r)
{
  char name[128];
  snprintf(name, sizeof name, "%s/%s", r->operator_name, r->variant);
  return bench_profile(c->machine->ctx, work, name);
}

/// A form that is measured beside the operators of a solve.
static void compare_product(comparison *c, bench_work work, result *r)
{
  if (c->settings->profile)
    BENCH_TRY(c->machine->ctx, profile(c, work, r));
  else if (measure_product(c, work, r) == KEDGE_OK)
    print_result(c, r, c->apply_seconds);
  else
    print_skipped(c, r);
}

/// One of the two operators a solve can take: a product, then an iteration.
static void compare_own(comparison *c, kedge_operator kind, result r)
{
  kedge_context *ctx = c->machine->ctx;
  const bool matrix_free = kind == KEDGE_OPERATOR_MATRIX_FREE;
  const bench_work work = {matrix_free ? call_matrix_free : call_ell, NULL, &c->b};
  if (c->settings->profile) {
    BENCH_TRY(ctx, profile(c, work, &r));
    return;
  }
  BENCH_TRY(ctx, measure_product(c, work, &r));
  if (matrix_free) c->apply_seconds = r.seconds;
  print_result(c, &r, c->apply_seconds);
  BENCH_TRY(ctx, measure_iteration(c, kind, &r));
  if (matrix_free) c->iteration_seconds = r.seconds;
  print_result(c, &r, c->iteration_seconds);
}

static void compare_matrix_free(comparison *c)
{
  const kg_shape *shape = &c->b.p.shape;
  const kg_locals locals = kg_locals_of(bench_local(&c->b, KG_LAYOUT_PACKED, KG_DOUBLE), NULL);
  const double bytes = (double)kg_local_bytes(locals.local);
  compare_own(c, KEDGE_OPERATOR_MATRIX_FREE,
              (result){.measure = "apply",
                       .operator_name = "matrix-free",
                       .variant = "packed K^e by patches",
                       .size = {bytes, kg_trace_product_cost(shape->m, &shape->count, &locals)},
                       .form = FOOTPRINT_MATRIX_FREE});
}

/// The form of a solve without reaction, as this one is.
static void compare_reduced(comparison *c)
{
  const kg_shape *shape = &c->b.p.shape;
  const kg_locals locals = kg_locals_of(bench_local(&c->b, KG_LAYOUT_REDUCED, KG_DOUBLE), NULL);
  const bench_work work = {call_reduced, NULL, &c->b};
  result r = {.measure = "apply",
              .operator_name = "matrix-free-reduced",
              .variant = "reduced K^e by patches",
              .size = {(double)kg_local_bytes(locals.local),
                       kg_trace_product_cost(shape->m, &shape->count, &locals)},
              .form = FOOTPRINT_MATRIX_FREE};
  if (!bench_wants(c->settings, r.operator_name)) return;
  if (bench_add_reduced(&c->b, KG_DOUBLE) != KEDGE_OK) {
    print_skipped(c, &r);
    return;
  }
  compare_product(c, work, &r);
  kg_free(c->machine->ctx, &c->b.reduced[KG_DOUBLE]);
}

/// False: the ELL matrix does not fit beside K^e, and what is made from it is skipped too.
static bool compare_ell(comparison *c)
{
  const kg_shape *shape = &c->b.p.shape;
  const kg_ell_matrix matrix = kg_ell_shape(shape->m, &shape->count);
  const double bytes = (double)matrix.width * (double)matrix.stride *
                       (double)(sizeof *matrix.column + sizeof *matrix.value);
  const result r = {.measure = "apply",
                    .operator_name = "ell",
                    .variant = "King 2014",
                    .size = {bytes, kg_ell_apply_cost(shape->m, &shape->count)},
                    .form = FOOTPRINT_ELL};
  kedge_status status = bench_add_ell(&c->b);
  if (status == KEDGE_OK) status = kg_ell_assemble(c->machine->ctx, &c->b.assemble);
  if (status != KEDGE_OK) {
    print_skipped(c, &r);
    return false;
  }
  if (bench_wants(c->settings, r.operator_name)) compare_own(c, KEDGE_OPERATOR_ELL, r);
  return true;
}

/// One variant's call.
typedef struct variant_call {
  kedge_context *ctx;
  const format_variant *variant;
  const format_matrix *matrix;
} variant_call;

static kedge_status call_variant(void *user)
{
  const variant_call *v = user;
  return v->variant->apply(v->ctx, v->matrix);
}

/// Build, measure, free: one form at a time lies beside K^e and ELL.
static void compare_variant(comparison *c, const format_variant *variant)
{
  kedge_context *ctx = c->machine->ctx;
  const kg_shape *shape = &c->b.p.shape;
  const format_source source = {c->b.p.space.batch, c->b.apply.local,
                                variant->assembled ? c->b.ell.matrix : (kg_ell_matrix){0},
                                c->b.x.data, c->b.y.data};
  result r = {.measure = "apply",
              .operator_name = variant->operator_name,
              .variant = variant->variant,
              .size = variant->size(shape->size, &shape->count),
              .form = variant->assembled ? FOOTPRINT_ASSEMBLED : FOOTPRINT_PLAIN};
  format_matrix matrix;
  if (format_build(ctx, variant, &source, &matrix) != KEDGE_OK) {
    print_skipped(c, &r);
    return;
  }
  const bench_work work = {call_variant, NULL, &(variant_call){ctx, variant, &matrix}};
  compare_product(c, work, &r);
  format_free(ctx, &matrix);
}

/// K^e and the diagonal on the GPU; the same product on the host, kept in `expected`.
static void prepare(comparison *c, int order)
{
  kedge_context *ctx = c->machine->ctx, *host_ctx = c->machine->host_ctx;
  bench_open(&c->b, ctx, c->machine->mesh, order);
  BENCH_TRY(ctx, kg_local_matrices(ctx, &c->b.local_matrices));
  BENCH_TRY(ctx, kg_facet_diagonal(ctx, &c->b.diagonal));
  BENCH_TRY(ctx, kg_sync(ctx));
  if (!c->settings->check) return;
  bench host;
  bench_open(&host, host_ctx, c->machine->mesh, order);
  BENCH_TRY(ctx, bench_take_local(&host, &c->b));
  BENCH_TRY(host_ctx, kg_trace_apply(host_ctx, &host.apply));
  const size_t n = (size_t)host.vectors.n;
  BENCH_TRY(host_ctx, kg_host_alloc(host_ctx, n, sizeof(double), &c->expected));
  BENCH_TRY(host_ctx, kg_copy_out(host_ctx, c->expected, host.y.data, n * sizeof(double)));
  bench_close(&host);
}

/// Returns the number of products that were wrong.
static int compare_order(const bench_settings *settings, const bench_machine *machine, int order)
{
  comparison c = {.settings = settings, .machine = machine};
  prepare(&c, order);
  compare_matrix_free(&c);
  compare_reduced(&c);
  bool has_ell = false;
  for (int pass = 0; pass < 2; ++pass) {  // forms without ELL first: it takes the most room
    if (pass == 1) has_ell = compare_ell(&c);
    for (int i = 0; i < format_variant_count; ++i)
      if (format_variants[i].assembled == (pass == 1) && (pass == 0 || has_ell) &&
          bench_wants(settings, format_variants[i].operator_name))
        compare_variant(&c, &format_variants[i]);
  }
  free(c.expected);
  bench_close(&c.b);
  return c.failures;
}

int main(int argc, char **argv)
{
  const bench_settings settings = bench_parse(argc, argv, KEDGE_BACKEND_CUDA);
  bench_machine machine;
  bench_machine_open(&settings, &machine);
  bench_print_machine(&settings, &machine);
  bench_print_number("cusparse", format_cusparse_version());
  printf("}\n");
  int failures = 0;
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    if (settings.orders[order]) failures += compare_order(&settings, &machine, order);
  bench_machine_close(&machine);
  if (failures) fprintf(stderr, "compare: %d products differ from the host's\n", failures);
  return failures ? 1 : 0;
}
