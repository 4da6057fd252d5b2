// The executable: it says how libgomp's threads wait, then loads the command, a module beside
// libkedge. libgomp reads its environment as it is loaded and has no call for this, so nothing that
// is linked with it may be linked with this file.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

// Waiting threads turn on their cores, which on shared cores is time of the thread that they wait
// for. libgomp's default are 300000 turns, 5 to 15 ms. On 2 idle cores 1000 turns, 20 to 50 us, are
// as fast; beside 16 busy processes a solve of 0.04 s takes 0.9 s with 1000, 2.3 s with 10000, and
// 7.2 s with the default.
#define TURNS "1000"

static bool is_set(const char *name)
{
  const char *const value = getenv(name);
  return value && value[0];
}

/// Load the module by its bare name: the loader has its folder from the RPATH of this executable,
/// which it looks at even where a profiler or a sanitizer stands between. NULL: dlerror() says why.
static void *load_command(void)
{
  const bool unset = !is_set("OMP_WAIT_POLICY") && !is_set("GOMP_SPINCOUNT");
  if (unset) setenv("GOMP_SPINCOUNT", TURNS, true);
  void *const module = dlopen(KEDGE_COMMAND_MODULE, RTLD_NOW | RTLD_LOCAL);
  void *const run = module ? dlsym(module, "kg_cli_run") : NULL;
  if (unset) unsetenv("GOMP_SPINCOUNT");  // programs that are started from here decide themselves
  return run;
}

int main(int argc, char **argv)
{
  int (*run)(int, char **);
  void *const symbol = load_command();
  if (!symbol) {
    fprintf(stderr,
            "kedge: the command is in a file beside libkedge; loading them failed: %s; install "
            "kedge again, or the libraries that it needs\n",
            dlerror());
    return KG_EXIT_FAILED;
  }
  memcpy(&run, &symbol, sizeof symbol);
  return run(argc, argv);
}
