// Functions at the nodes of pieces, on the host, by threads that take batches of them.
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/loop.h"
#include "waves/waves.h"

void kg_wave_piece_nodes(const kg_waves *w, const kg_wave_data *d, const kg_wave_piece *p,
                         double *place)
{
  for (int k = 0; k < w->mesh->dimension; ++k)
    for (int j = 0; j < d->n; ++j) {
      const int node = p->facet < 0 ? j : w->nodal.facet_node[p->facet * d->n + j];
      place[k * d->n + j] = w->nodal.at[k * w->nodal.n + node];
    }
}

enum { BATCH = (KG_WAVE_POINT + 1) * KG_WAVE_BATCH };  ///< numbers of a batch and its values

/// Evaluate pieces of a batch. @param[in] memory  [BATCH]
static void evaluate_batch(const kg_waves *w, const kg_wave_data *d,
                           const kg_function *const *functions, int32_t n,
                           const kg_wave_piece *piece, double *memory, double *values)
{
  double *const value = memory + KG_WAVE_POINT * KG_WAVE_BATCH;
  kg_wave_batch batch =
      kg_wave_batch_in(memory, (size_t)n * d->n, kg_waves_may_jump(d->n_functions, functions));
  for (int32_t i = 0; i < n; ++i) {
    double place[3 * KG_WAVE_POINTS], normal[3];
    const bool on_boundary = piece[i].facet >= 0;
    kg_wave_piece_nodes(w, d, &piece[i], place);
    if (on_boundary) kg_waves_normal(w, piece[i].element, piece[i].facet, normal);
    kg_wave_batch_add(w, piece[i].element, d->n, place, on_boundary ? normal : NULL, (size_t)d->n,
                      &batch);
  }
  for (int f = 0; f < d->n_functions; ++f) {
    kg_wave_batch_evaluate(w, functions[f], &batch, value);
    for (int32_t i = 0; i < n; ++i)
      memcpy(values + kg_wave_data_numbers(d, i) + f * d->n, value + i * d->n,
             (size_t)d->n * sizeof *value);
  }
}

/// Pieces of a batch: as many as there is room for, as each call of a function of the caller takes
/// long; else no more than leave all threads as many of them, as batches are what threads share.
static int32_t pieces_of_batch(const kg_wave_data *d, const kg_function *const *functions,
                               int32_t n, int threads)
{
  const int32_t room = KG_WAVE_BATCH / d->n;
  for (int f = 0; f < d->n_functions; ++f)
    if (kg_function_of_caller(functions[f])) return room;
  const int32_t rounds = (n - 1) / (room * threads) + 1;  // n - 1: 0 has one, too
  const int32_t batches = rounds * threads, even = (n + batches - 1) / batches;
  return even > 0 ? even : 1;
}

kedge_status kg_wave_data_evaluate(const kg_waves *w, const kg_wave_data *d,
                                   const kg_function *const *functions, int32_t n,
                                   const kg_wave_piece *piece, double *values)
{
  const int threads = kg_loop_threads(w->ctx, n, 10 * kg_wave_data_numbers(d, 1));
  const int32_t most = pieces_of_batch(d, functions, n, threads);
  double *memory;
  KG_TRY(kg_host_alloc(w->ctx, (size_t)threads * BATCH, sizeof *memory, &memory));
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int32_t i = 0; i < n; i += most)
    evaluate_batch(w, d, functions, n - i < most ? n - i : most, piece + i,
                   memory + (size_t)omp_get_thread_num() * BATCH,
                   values + kg_wave_data_numbers(d, i));
  free(memory);
  return KEDGE_OK;
}
