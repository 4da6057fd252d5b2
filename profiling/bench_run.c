// What main() of most measuring programs does.
#include <errno.h>
#include <stdio.h>

#include "bench.h"

int bench_run(bench_settings settings, int (*run_order)(const bench_settings *settings,
                                                        const bench_machine *machine, int order))
{
  bench_machine machine;
  bench_machine_open(&settings, &machine);
  bench_print_machine(&settings, &machine);
  printf("}\n");
  int wrong = 0;
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    if (settings.orders[order]) wrong += run_order(&settings, &machine, order);
  bench_machine_close(&machine);
  if (wrong)
    fprintf(stderr, "%s: %d results differ from kedge's\n", program_invocation_short_name, wrong);
  return wrong ? 1 : 0;
}
