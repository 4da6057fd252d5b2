#include <limits.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cli/cli.h"

// libgomp reads its environment before main() and has no call for this. Its default are 300000
// turns, 5 to 15 ms. On 2 idle cores 1000 turns, 20 to 50 us, are as fast; beside 16 busy processes
// a solve of 0.04 s takes 0.9 s with 1000, 2.3 s with 10000, and 7.2 s with the default.
#define TURNS "1000"

void kg_cli_spin_briefly(char **argv)
{
  if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
  // Started as `ld.so kedge ...`, the program of this process is ld.so.
  if (getauxval(AT_BASE) == 0) return;
  char program[PATH_MAX];  // by its own path, so that ps and top call it kedge
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  if (length <= 0 || length == sizeof program) return;
  program[length] = '\0';
  if (setenv("GOMP_SPINCOUNT", TURNS, false) == 0) execv(program, argv);
  // It cannot be started again, which costs speed on a busy machine and nothing else.
}
