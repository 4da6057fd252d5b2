// Ways to cut kedge's stage on a GPU into blocks and threads.
#include <math.h>
#include <stdio.h>

#include "ops/waves/stage_kernel.h"
#include "waves.h"
#include "waves/waves.h"

#ifdef KEDGE_WITH_CUDA
enum {
  SUMS_MAX = 160,      ///< words of a thread
  STRAIGHT_MAX = 6,    ///< an order: above it they take long to compile
  THREADS_MAX = 1024,  ///< of a block
};

static kedge_status call_stage(void *user)
{
  return kg_waves_stage(user, 1, 1e-5, 0.0);  // short: the state stays what it is
}

/// Compile, load and time a tiling; one that the GPU has no memory for is left out.
static void measure(const bench_settings *settings, const bench_machine *m, kg_waves *waves,
                    kg_wave_tiling *t)
{
  kg_wave_args *const a = &waves->args;
  kg_wave_kernel *const own = a->kernel;
  const int block = a->block;
  double seconds;
  kg_wave_tiling_fit(waves->law, &waves->nodal, a->number, t);
  if (t->threads > THREADS_MAX) return;
  const kedge_status status =
      kg_wave_kernel_create(m->ctx, waves->law, &waves->nodal, a->number, t, &a->kernel);
  if (status == KEDGE_OK) {
    a->block = kg_wave_kernel_block(a->kernel);
    BENCH_TRY(m->ctx, bench_time(m->ctx, (bench_work){call_stage, NULL, waves}, settings->samples,
                                 &seconds));
    waves_print("tiling", m->mesh, waves->nodal.order);
    bench_print_text("precision", a->number == KG_SINGLE ? "single" : "double");
    bench_print_text("tables", t->straight ? "straight" : "loops");
    printf(",\"elements_of_block\":%d,\"places\":%d,\"threads\":%d,\"blocks\":%d", t->elements,
           t->straight ? 0 : t->places, t->threads, t->blocks);
    bench_print_number("seconds", seconds);
    bench_print_number("unknowns_per_second", (double)kg_wave_state(a) / seconds);
    printf("}\n");
    kg_wave_kernel_free(a->kernel);
  } else if (status != KEDGE_ERR_UNSUPPORTED) {
    BENCH_TRY(m->ctx, status);
  }
  a->kernel = own;
  a->block = block;
}

static void measure_all(const bench_settings *settings, const bench_machine *m, kg_waves *waves)
{
  const int fields = waves->law->n_fields;
  const int words = (int)(kg_number_bytes(waves->args.number) / sizeof(int32_t));
  const kg_wave_tiling own = kg_wave_tiling_of(waves->law, &waves->nodal, waves->args.number);
  for (int elements = KG_WAVE_LANES; elements <= KG_WAVE_BLOCK; elements *= 2) {
    kg_wave_tiling t = own;
    t.elements = elements;
    t.straight = true;
    if (waves->nodal.order <= STRAIGHT_MAX && elements > KG_WAVE_LANES)
      measure(settings, m, waves, &t);
    static const int places[] = {0, 5, 7, 10, 14, 20, 28};
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
      if (places[i] * fields * words > SUMS_MAX) continue;
      t.straight = false;
      t.places = places[i];
      measure(settings, m, waves, &t);
    }
  }
}

void waves_measure_tilings(const bench_settings *settings, const bench_machine *m, int order)
{
  kedge_problem *const problem = waves_problem(settings, m, order);
  kg_waves waves = {0};
  BENCH_TRY(m->ctx, kg_waves_create(m->ctx, m->mesh, problem, &waves));
  if (waves.args.kernel) measure_all(settings, m, &waves);
  kg_waves_free(&waves);
  kedge_problem_destroy(problem);
}
#else
void waves_measure_tilings(const bench_settings *settings, const bench_machine *m, int order)
{
  (void)settings, (void)m, (void)order;
}
#endif
