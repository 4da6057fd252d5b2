/// @file
/// Text compiled by the host's compiler and loaded, while a test runs.
#pragma once
#include <dlfcn.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_all.h"

/// The words of CUDA mean nothing, but for the one block and thread that runs.
static const char compiled_prelude[] =
    "#define _GNU_SOURCE\n"
    "#include <math.h>\n"
    "#define __device__\n"
    "#define __constant__ static const\n"
    "#define __global__\n"
    "#define __launch_bounds__(...)\n"
    "struct place { unsigned x; } threadIdx, blockIdx;\n"
    "static void atomicMin(unsigned long long *to, unsigned long long value)\n"
    "{\n"
    "  if (value < *to) *to = value;\n"
    "}\n"
    "union bits { double number; long long word; int half[2]; };\n"
    "static int __double2loint(double a) { union bits b = {a}; return b.half[0]; }\n"
    "static int __double2hiint(double a) { union bits b = {a}; return b.half[1]; }\n"
    "static double __hiloint2double(int high, int low)\n"
    "{\n"
    "  union bits b;\n"
    "  b.half[0] = low, b.half[1] = high;\n"
    "  return b.number;\n"
    "}\n"
    "static long long __double_as_longlong(double a) { union bits b = {a}; return b.word; }\n"
    "static double __longlong_as_double(long long a)\n"
    "{\n"
    "  union bits b;\n"
    "  b.word = a;\n"
    "  return b.number;\n"
    "}\n";

/// What compiled text sees in C++; threads of a warp know nothing of each other.
static const char compiled_prelude_cxx[] =
    "#include <algorithm>\n"
    "#include <cmath>\n"
    "using std::isfinite;\n"
    "using std::max;\n"
    "#define __forceinline__ inline\n"
    "#define __shared__ static\n"
    "struct double2 { double x, y; };\n"
    "void __syncthreads();\n"
    "void __syncwarp();\n"
    "template <class T> T __shfl_sync(unsigned, T, int);\n"
    "template <class T> T __shfl_xor_sync(unsigned, T, int);\n";

/// Whether the compiler takes C++ too.
static inline bool compiles_cxx(void)
{
  return system("\"" KEDGE_C_COMPILER "\" -x c++ -fsyntax-only /dev/null 2>/dev/null") == 0;
}

/// The library of a text in "c" or "c++", to be closed with dlclose(). Without optimisation, fused
/// multiply-adds and built-in functions: every operation is the machine's, every function the
/// library's.
static inline void *compiled_as(const char *language, const char *text)
{
  char folder[] = "/tmp/kedge-test-XXXXXX", source[64], library[64], command[512];
  assert_non_null(mkdtemp(folder));
  snprintf(source, sizeof source, "%s/text", folder);
  snprintf(library, sizeof library, "%s/text.so", folder);
  snprintf(command, sizeof command,
           "\"%s\" -x %s -w -O0 -ffp-contract=off -fno-builtin -fPIC -shared -o %s %s -lm",
           KEDGE_C_COMPILER, language, library, source);
  FILE *out = fopen(source, "w");
  assert_non_null(out);
  assert_true(fprintf(out, "%s\n%s\n%s", compiled_prelude,
                      strcmp(language, "c++") == 0 ? compiled_prelude_cxx : "", text) > 0);
  assert_int_equal(fclose(out), 0);
  if (system(command) != 0) fail_msg("%s: the text is refused: %s", command, text);
  void *const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail_msg("%s", dlerror());
  remove(source);
  remove(library);
  rmdir(folder);
  return handle;
}

static inline void *compiled(const char *text)
{
  return compiled_as("c", text);
}
