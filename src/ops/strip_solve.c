#include "ops/strip_solve.h"

#include "core/context.h"

KG_OPERATOR_OF_NUMBERS(kg_strip_fill, kg_strip_fill_args, args->number)
KG_OPERATOR_OF_NUMBERS(kg_strip_condense, kg_strip_args, args->number)
KG_OPERATOR_OF_NUMBERS(kg_strip_expand, kg_strip_args, args->number)

/// Two blocks of K^e read and of W written an element, A_f^-1 read.
kg_cost kg_strip_fill_cost(kg_sizes size, const kg_trace_counts *count, kg_number local,
                           kg_number number)
{
  const double m = size.n_edge, elements = count->n_elements;
  const double from = (double)kg_number_bytes(local), real = (double)kg_number_bytes(number);
  return (kg_cost){
      .bytes = elements * (from * 2 * m * m + real * (2 * m * m + m * (m + 1) / 2) + 13.0),
      .flops = 4.0 * m * m * m * elements};
}

/// W read twice, A_f^-1 once an element; v and y read, v and y written; the sides of the edges and
/// corners of their elements in both.
kg_cost kg_strip_cost(kg_sizes size, const kg_trace_counts *count, kg_number number)
{
  const double m = size.n_edge, elements = count->n_elements, edges = count->n_free;
  const double real = (double)kg_number_bytes(number);
  return (kg_cost){.bytes = elements * (real * (4 * m * m + m * (m + 1) / 2) + 26.0) +
                            edges * (real * 4 * m + 2 * 8.0),
                   .flops = elements * (8 * m * m + 2 * m * m)};
}
