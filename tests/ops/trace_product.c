#include "trace_product.h"

#include <stdlib.h>

#include "compare.h"
#include "ops/local/convert.h"
#include "ops/vector/round.h"

/// Device memory for numbers, full of NaN, between guards.
static void *output(op_case *c, kg_number number, size_t count)
{
  return case_output(c, number == KG_SINGLE ? (count + 1) / 2 : count);
}

/// Numbers in device memory, in single precision.
static void *rounded(op_case *c, const double *from, size_t count)
{
  void *to = output(c, KG_SINGLE, count);
  must(c->ctx, kg_round(c->ctx, &(kg_round_args){.n = (int64_t)count, .from = from, .to = to}));
  return to;
}

static void *input(op_case *c, kg_number number, const double *values, size_t count)
{
  double *from = case_input(c, values, count);
  return number == KG_DOUBLE ? from : rounded(c, from, count);
}

kg_local local_in_form(op_case *c, const op_data *data, local_form form)
{
  kg_local to = case_local(c, form.layout, form.number, NULL);
  const bool reduced = form.layout == KG_LAYOUT_REDUCED;
  const kg_local from =
      reduced ? op_reduced(c, data, NULL)
              : case_local(c, KG_LAYOUT_PACKED, KG_DOUBLE,
                           case_input(c, data->array[OP_LOCAL], op_count(c, OP_LOCAL)));
  if (form.layout == from.layout && form.number == KG_DOUBLE) return from;
  to.data = output(c, form.number, kg_local_count(&to));
  must(c->ctx, kg_local_convert(
                   c->ctx, &(kg_local_convert_args){.m = c->size.n_edge, .from = from, .to = to}));
  return to;
}

static double value_at(const void *values, kg_number number, size_t i)
{
  return number == KG_SINGLE ? ((const float *)values)[i] : ((const double *)values)[i];
}

/// The sum that the second pass of the product makes, with its rounding.
static void add_halo(void *y, kg_number number, size_t first, const void *halo, size_t n)
{
  for (size_t i = 0; i < n; ++i)
    if (number == KG_SINGLE)
      ((float *)y)[first + i] += ((const float *)halo)[i];
    else
      ((double *)y)[first + i] += ((const double *)halo)[i];
}

/// The product, by a GPU as if it had 48 KiB of shared memory for a block.
static void multiply_unstreamed(kedge_context *ctx, const kg_trace_apply_args *args)
{
  const int had = case_limit_shared(ctx, 48 << 10);
  const kedge_status status = kg_trace_apply(ctx, args);
  case_limit_shared(ctx, had);
  must(ctx, status);
}

trace_product multiply_in_form(op_case *c, const op_data *data, local_form form, bool open)
{
  const kg_trace_counts *n = &c->layout.count;
  const size_t rows = op_count(c, OP_PRODUCT), n_halo = op_count(c, OP_HALO);
  kg_open rows_left;
  const kg_trace_apply_args args = {
      .batch = c->batch,
      .local = local_in_form(c, data, form),
      .x = input(c, form.number, data->array[OP_TRACE], op_count(c, OP_TRACE)),
      .y = output(c, form.number, rows),
      .halo = output(c, form.number, n_halo),
      .pass = {.sum = {.part = case_output(c, (size_t)n->n_patches), .total = case_output(c, 1)},
               .open = open ? &rows_left : NULL}};
  if (form.unstreamed)
    multiply_unstreamed(c->ctx, &args);
  else
    must(c->ctx, kg_trace_apply(c->ctx, &args));
  double *dot = case_fetch(c, args.pass.sum.total);
  free(case_fetch(c, args.pass.sum.part));
  trace_product out = {
      .y = case_fetch(c, args.y), .values = malloc((rows + 1) * sizeof *out.values), .dot = *dot};
  free(dot);
  assert_non_null(out.values);
  double *halo = case_fetch(c, args.halo);
  const size_t inside = (size_t)n->n_interior * (size_t)c->size.n_edge;
  if (open) {
    assert_true(rows_left.first == (int64_t)inside && rows_left.n == (int64_t)n_halo);
    assert_ptr_equal(rows_left.halo, args.halo);
    add_halo(out.y, form.number, inside, halo, n_halo);
  }
  for (size_t i = 0; i < rows; ++i) out.values[i] = value_at(out.y, form.number, i);
  free(halo);
  case_release(c);
  return out;
}

void trace_product_free(trace_product *product)
{
  free(product->y);
  free(product->values);
}

void check_form(op_case *c, const op_data *data, local_form form, double bound)
{
  const size_t n = op_count(c, OP_PRODUCT), bytes = n * kg_number_bytes(form.number);
  trace_product closed = multiply_in_form(c, data, form, false);
  trace_product again = multiply_in_form(c, data, form, false);
  trace_product open = multiply_in_form(c, data, form, true);
  assert_memory_equal(closed.y, again.y, bytes);
  assert_memory_equal(closed.y, open.y, bytes);
  assert_memory_equal(&closed.dot, &again.dot, sizeof closed.dot);
  assert_close(n, closed.values, data->array[OP_PRODUCT], bound);
  assert_close(1, &closed.dot, &data->array[OP_PRODUCT_STATE][STATE_P_AP], bound);
  trace_product_free(&closed);
  trace_product_free(&again);
  trace_product_free(&open);
}

double rounding_of(kg_number number, double terms)
{
  return rounding(terms) * (number == KG_SINGLE ? FLT_EPSILON / DBL_EPSILON : 1.0);
}

void with_awkward_sizes(kedge_context *ctx, kg_material material, int first, int step,
                        op_check *check)
{
  const int sizes[] = {1, 257, 2, 31, 33, 127, 129, 255, 1000};
  const size_t n = test_is_quick() ? 2 : sizeof sizes / sizeof *sizes;
  for (size_t i = 0; i < n; ++i)
    for (int boundary = 0; boundary < CASE_BOUNDARIES; ++boundary)
      for (int order = first; order <= 4; order += step)
        op_with(ctx, sizes[i], order, (enum case_boundary)boundary, material, check);
}
