#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/number.h"

kedge_status kg_host_alloc(kedge_context *ctx, size_t count, size_t size, void *out)
{
  void *memory = NULL;
  size_t bytes;
  const bool overflow = __builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 64;
  if (!overflow) memory = aligned_alloc(64, (bytes + 64) / 64 * 64);  // never 0 bytes
  memcpy(out, &memory, sizeof memory);  // `out` may be the address of any object pointer
  char text[16];
  KG_REQUIRE(ctx, memory != NULL, KEDGE_ERR_MEMORY,
             "no host memory for %s; use a smaller mesh or order",
             kg_bytes_text((double)count * (double)size, text));
  return KEDGE_OK;
}

kedge_status kg_host_calloc(kedge_context *ctx, size_t count, size_t size, void *out)
{
  KG_TRY(kg_host_alloc(ctx, count, size, out));
  void *memory;
  memcpy(&memory, out, sizeof memory);
  memset(memory, 0, count * size);
  return KEDGE_OK;
}

kedge_status kg_copy_text(kedge_context *ctx, const char *text, size_t length, void *out)
{
  KG_TRY(kg_host_alloc(ctx, length + 1, 1, out));
  char *copy;
  memcpy(&copy, out, sizeof copy);
  memcpy(copy, text, length);
  copy[length] = '\0';
  return KEDGE_OK;
}

/// The number behind the first line of folder/name that begins with `key`; -1: there is none. A
/// file that is just a number has the key "".
static int64_t read_number(const char *folder, const char *name, const char *key)
{
  char path[2048], line[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *stream = fopen(path, "r");
  if (!stream) return -1;
  long long value = -1;
  while (value < 0 && fgets(line, sizeof line, stream))
    if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%lld", &value) != 1)
      value = -1;
  fclose(stream);
  return value;
}

static int64_t lesser(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/// The files of the memory controller in a folder of one version of control groups.
typedef struct cgroup_files {
  const char *mount, *limit, *used, *cache_key;
} cgroup_files;

static const cgroup_files version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                       "memory.usage_in_bytes", "total_inactive_file "};
static const cgroup_files version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                       "inactive_file "};

/// The bytes that one control group leaves; INT64_MAX when it sets no limit ("max" in version 2).
static int64_t left_in_group(const cgroup_files *files, const char *folder)
{
  const int64_t limit = read_number(folder, files->limit, "");
  const int64_t used = read_number(folder, files->used, "");
  if (limit < 0 || used < 0) return INT64_MAX;
  const int64_t cache = read_number(folder, "memory.stat", files->cache_key);
  const int64_t left = limit - used + (cache > 0 ? cache : 0);
  return left > 0 ? left : 0;
}

/// The least of a group and the groups it is in. Of a path that names a folder outside of a
/// container, only the mount itself is there.
static int64_t left_in_groups(const char *root, const cgroup_files *files, const char *path)
{
  char folder[1024];
  snprintf(folder, sizeof folder, "%s%s%s", root, files->mount, path);
  const size_t top = strlen(root) + strlen(files->mount);
  int64_t least = INT64_MAX;
  for (;;) {
    least = lesser(least, left_in_group(files, folder));
    char *slash = strrchr(folder, '/');
    if (!slash || slash < folder + top) return least;
    *slash = '\0';
  }
}

/// Whether a comma-separated list of controllers has "memory".
static bool has_memory(const char *list, size_t length)
{
  static const char name[] = "memory";
  const char *at = list, *end = list + length;
  while (at < end) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    const size_t n = (size_t)((comma ? comma : end) - at);
    if (n == sizeof name - 1 && memcmp(at, name, n) == 0) return true;
    at += n + 1;
  }
  return false;
}

/// A line of /proc/self/cgroup is number:controllers:path, without controllers for version 2.
static int64_t left_in_line(const char *root, char *line)
{
  line[strcspn(line, "\n")] = '\0';
  char *controllers = strchr(line, ':');
  char *path = controllers ? strchr(controllers + 1, ':') : NULL;
  if (!path) return INT64_MAX;
  const size_t length = (size_t)(path - controllers - 1);
  if (length == 0) return left_in_groups(root, &version_2, path + 1);
  return has_memory(controllers + 1, length) ? left_in_groups(root, &version_1, path + 1)
                                             : INT64_MAX;
}

/// The bytes that a limit of this process leaves; INT64_MAX without a limit.
/// @param[in] used  the row of /proc/self/status that counts against the limit
static int64_t left_of_limit(const char *root, int resource, const char *used)
{
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
  const int64_t kib = read_number(root, "proc/self/status", used);
  const int64_t left = (int64_t)limit.rlim_cur - (kib > 0 ? 1024 * kib : 0);
  return left > 0 ? left : 0;
}

int64_t kg_memory_available(const char *root)
{
  char path[1024], line[1024];
  const int64_t kib = read_number(root, "proc/meminfo", "MemAvailable:");
  int64_t least =
      kib >= 0 ? kib * 1024 : (int64_t)sysconf(_SC_AVPHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  FILE *groups = fopen(path, "r");
  while (groups && fgets(line, sizeof line, groups))
    least = lesser(least, left_in_line(root, line));
  if (groups) fclose(groups);
  least = lesser(least, left_of_limit(root, RLIMIT_AS, "VmSize:"));
  return lesser(least, left_of_limit(root, RLIMIT_DATA, "VmData:"));
}
