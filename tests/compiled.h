/// @file
/// Text compiled by the host's C compiler and loaded, while a test runs.
#pragma once
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmocka_all.h"

/// The words of CUDA mean nothing, but for the one block and thread that runs.
static const char compiled_prelude[] =
    "#include <math.h>\n"
    "#define __device__\n"
    "#define __constant__ static const\n"
    "#define __global__\n"
    "#define __launch_bounds__(threads)\n"
    "struct { unsigned x; } threadIdx, blockIdx;\n"
    "static void atomicMin(unsigned long long *to, unsigned long long value)\n"
    "{\n"
    "  if (value < *to) *to = value;\n"
    "}\n";

/// To be closed with dlclose(). Without optimisation, fused multiply-adds and built-in functions:
/// every operation is the machine's, every function the library's.
static inline void *compiled(const char *text)
{
  char folder[] = "/tmp/kedge-test-XXXXXX", source[64], library[64], command[512];
  assert_non_null(mkdtemp(folder));
  snprintf(source, sizeof source, "%s/text.c", folder);
  snprintf(library, sizeof library, "%s/text.so", folder);
  snprintf(command, sizeof command,
           "\"%s\" -w -O0 -ffp-contract=off -fno-builtin -fPIC -shared -o %s %s -lm",
           KEDGE_C_COMPILER, library, source);
  FILE *out = fopen(source, "w");
  assert_non_null(out);
  assert_true(fprintf(out, "%s\n%s", compiled_prelude, text) > 0);
  assert_int_equal(fclose(out), 0);
  if (system(command) != 0) fail_msg("%s: the text is not C: %s", command, text);
  void *const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail_msg("%s", dlerror());
  remove(source);
  remove(library);
  rmdir(folder);
  return handle;
}
