// assembly: the ELL matrix by edges, as kedge and King 2014 make it, and by elements with atomic
// additions, of the same local matrices.
//
//   assembly [--mesh "square 80"] [--orders 1-9] [--samples 21] [--backend host|cuda] >
//   assembly.json
//
// One JSON object a line: the machine, then one for each order; the median seconds of one assembly.
// By edges contains sort, run lengths and scan, by elements clearing the matrix. The program ends
// with exit code 1 where the two matrices differ.
#include "assembly.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "ops/local/entry.h"

static kedge_status by_elements_host(kedge_context *ctx, const kg_ell_assemble_args *a)
{
  const kg_ell_matrix *matrix = &a->matrix;
  const int m = a->batch.m, n = 3 * m;
  const size_t entries = (size_t)matrix->stride * (size_t)matrix->width;
  memset(matrix->value, 0, entries * sizeof *matrix->value);
  memset(matrix->column, 0xff, entries * sizeof *matrix->column);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t e = 0; e < a->batch.count.n_elements; ++e) {
    const kg_local_element element = kg_local_element_of(&a->locals, m, e);
    for (int row = 0; row < n; ++row)
      for (int col = 0; col < n; ++col) {
        const int64_t at = assembly_place(&a->batch.arrays, matrix, m, e, row, col);
        if (at < 0) continue;
        const double value = kg_local_entry(&element, row / m, row % m, col / m, col % m);
        __atomic_store_n(matrix->column + at, assembly_column(&a->batch.arrays, m, e, col),
                         __ATOMIC_RELAXED);
#pragma omp atomic
        matrix->value[at] += value;
      }
  }
  return KEDGE_OK;
}

kedge_status assembly_by_elements(kedge_context *ctx, const kg_ell_assemble_args *args)
{
#ifdef KEDGE_WITH_CUDA
  if (ctx->backend == KEDGE_BACKEND_CUDA) return assembly_by_elements_cuda(ctx, args);
#endif
  return by_elements_host(ctx, args);
}

static kedge_status call_edges(void *user)
{
  const bench *b = user;
  return kg_ell_assemble(b->p.ctx, &b->assemble);
}

static kedge_status call_elements(void *user)
{
  const bench *b = user;
  return assembly_by_elements(b->p.ctx, &b->assemble);
}

/// The matrix in host memory: columns behind values; the caller frees it.
static double *copy_matrix(const bench *b, size_t entries)
{
  const kg_ell_matrix *matrix = &b->assemble.matrix;
  double *copy = malloc(entries * (sizeof *matrix->value + sizeof *matrix->column));
  if (!copy) bench_die(b->p.ctx, KEDGE_ERR_MEMORY);
  BENCH_TRY(b->p.ctx, kg_copy_out(b->p.ctx, copy, matrix->value, entries * sizeof *matrix->value));
  BENCH_TRY(b->p.ctx, kg_copy_out(b->p.ctx, copy + entries, matrix->column,
                                  entries * sizeof *matrix->column));
  BENCH_TRY(b->p.ctx, kg_sync(b->p.ctx));
  return copy;
}

static int run_order(const bench_settings *settings, const bench_machine *machine, int order)
{
  bench b;
  double edges, elements;
  bench_open(&b, machine->ctx, machine->mesh, order);
  BENCH_TRY(machine->ctx, kg_local_matrices(machine->ctx, &b.local_matrices));
  BENCH_TRY(machine->ctx, bench_add_ell(&b));
  const size_t entries = (size_t)b.assemble.matrix.stride * (size_t)b.assemble.matrix.width;
  BENCH_TRY(machine->ctx, bench_time(machine->ctx, (bench_work){call_edges, NULL, &b},
                                     settings->samples, &edges));
  double *expected = copy_matrix(&b, entries);
  BENCH_TRY(machine->ctx, bench_time(machine->ctx, (bench_work){call_elements, NULL, &b},
                                     settings->samples, &elements));
  double *found = copy_matrix(&b, entries);
  const bool same = memcmp(expected + entries, found + entries, entries * sizeof(int32_t)) == 0;
  size_t different = 0;
  for (size_t k = 0; k < entries; ++k) different += expected[k] != found[k];
  printf("{\"order\":%d,\"elements\":%d,\"samples\":%d", order, machine->mesh->n_elements,
         settings->samples);
  bench_print_number("by_edges_seconds", edges);
  bench_print_number("by_elements_seconds", elements);
  printf(",\"same_columns\":%s,\"different_values\":%zu}\n", same ? "true" : "false", different);
  fflush(stdout);
  free(expected);
  free(found);
  bench_close(&b);
  return !same || different > 0;
}

int main(int argc, char **argv)
{
  return bench_run(bench_parse(argc, argv, KEDGE_BACKEND_AUTO), run_order);
}
