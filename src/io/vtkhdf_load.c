#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/vtkhdf_layout.h"

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static const kg_hdf5 *opened;  ///< NULL: not yet; an attempt that failed is made again

/// Find the module: it lies beside this library, behind links. dlopen() knows $ORIGIN itself, but
/// where a profiler or a sanitizer stands between, that is theirs.
static bool find_module(char *path, size_t size)
{
  Dl_info library;
  void *map;
  char folder[PATH_MAX];  // absolute since the library was loaded, if the name may not be
  if (!dladdr1(&opened, &library, &map, RTLD_DL_LINKMAP)) return false;
  if (dlinfo(map, RTLD_DI_ORIGIN, folder) != 0) return false;
  const char *const slash = strrchr(library.dli_fname, '/');
  snprintf(path, size, "%s/%s", folder, slash ? slash + 1 : library.dli_fname);
  char *const real = realpath(path, NULL);
  if (!real) return false;
  snprintf(path, size, "%.*s/%s", (int)(strrchr(real, '/') - real), real, KEDGE_HDF5_MODULE);
  free(real);
  return true;
}

static const kg_hdf5 *open_module(kg_hdf5_reason *why)
{
  char path[2 * PATH_MAX];
  const kg_hdf5 *(*open)(kg_hdf5_reason *) = NULL;
  // The loader looks for a bare name in its own folders.
  void *const module =
      dlopen(find_module(path, sizeof path) ? path : KEDGE_HDF5_MODULE, RTLD_NOW | RTLD_LOCAL);
  void *const symbol = module ? dlsym(module, "kg_hdf5_open") : NULL;
  if (symbol) {
    memcpy(&open, &symbol, sizeof symbol);
    return open(why);
  }
  const char *const error = dlerror();
  snprintf(why->text, sizeof why->text, "%s", error ? error : KEDGE_HDF5_MODULE);
  if (module) dlclose(module);
  return NULL;
}

const kg_hdf5 *kg_hdf5_open(kg_hdf5_reason *why)
{
  pthread_mutex_lock(&one_at_a_time);
  if (!opened) opened = open_module(why);
  const kg_hdf5 *const hdf5 = opened;
  pthread_mutex_unlock(&one_at_a_time);
  return hdf5;
}
