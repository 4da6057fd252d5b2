#include "core/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/writable.h"

/// Temporary names of all files that are being written. Whoever takes a name out owns it: a name
/// that a signal handler took is never freed, since the handler may still be reading it.
enum { PENDING_MAX = 32 };
static _Atomic(char *) pending[PENDING_MAX];

/// Returns the slot, or -1 when there are too many: a signal then leaves that file behind.
static int remember(char *name)
{
  for (int i = 0; i < PENDING_MAX; ++i) {
    char *nothing = NULL;
    if (atomic_compare_exchange_strong(&pending[i], &nothing, name)) return i;
  }
  return -1;
}

void kedge_partial_files_remove(void)
{
  for (int i = 0; i < PENDING_MAX; ++i) {
    const char *const name = atomic_exchange(&pending[i], NULL);
    if (name) unlink(name);
  }
}

/// ".result.dat.4711.0.partial", unique to this target of this process. A file name that is too
/// long for this is replaced by "kedge".
static kedge_status temporary_name(kedge_context *ctx, const char *path, char **out)
{
  static atomic_uint count;
  const char *const slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const int folder = (int)(name - path);
  char tail[48];
  snprintf(tail, sizeof tail, "%ld.%u.partial", (long)getpid(), atomic_fetch_add(&count, 1));
  if (strlen(name) + strlen(tail) + 2 > NAME_MAX) name = "kedge";
  const size_t size = (size_t)folder + strlen(name) + strlen(tail) + 3;
  KG_TRY(kg_host_alloc(ctx, size, 1, out));
  snprintf(*out, size, "%.*s.%s.%s", folder, path, name, tail);
  return KEDGE_OK;
}

kedge_status kg_target_open(kedge_context *ctx, const char *path, const char *what, bool regular,
                            kg_target *out)
{
  kg_writable w = {.path = path, .what = what};
  *out = (kg_target){.ctx = ctx, .what = what, .slot = -1};
  KG_REQUIRE(ctx, kg_writable_find(&w, regular), KEDGE_ERR_IO, "%s", w.sentence);
  out->path = w.file;
  if (w.special) return KEDGE_OK;
  const kedge_status status = temporary_name(ctx, out->path, &out->temporary);
  if (status == KEDGE_OK)
    out->slot = remember(out->temporary);
  else
    kg_target_close(out);
  return status;
}

kedge_status kg_target_fail(const kg_target *target, const char *why)
{
  return KG_FAIL(target->ctx, KEDGE_ERR_IO, "cannot write the %s %s: %s", target->what,
                 target->path, why);
}

const char *kg_target_name(const kg_target *target)
{
  return target->temporary ? target->temporary : target->path;
}

kedge_status kg_target_reserve(const kg_target *target, int descriptor, int64_t bytes)
{
  int error = fallocate(descriptor, 0, 0, bytes) != 0 ? errno : 0;
  // Some file systems cannot reserve; the limits of a file's size are still asked for.
  if (error == EOPNOTSUPP || error == ENOSYS) error = ftruncate(descriptor, bytes) != 0 ? errno : 0;
  if (!error) return KEDGE_OK;
  char why[200];
  snprintf(why, sizeof why, "no room for its %lld bytes: %s", (long long)bytes, strerror(error));
  return kg_target_fail(target, why);
}

kedge_status kg_target_write(const kg_target *target, int descriptor, int64_t offset, int64_t bytes,
                             const void *values)
{
  for (const char *rest = values; bytes > 0;) {
    const ssize_t written = pwrite(descriptor, rest, (size_t)bytes, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return kg_target_fail(target, strerror(written < 0 ? errno : EIO));
    rest += written;
    bytes -= written;
    offset += written;
  }
  return KEDGE_OK;
}

kedge_status kg_target_commit(const kg_target *target)
{
  if (!target->temporary) return KEDGE_OK;
  struct stat before;
  const int descriptor = open(target->temporary, O_RDONLY | O_CLOEXEC);
  int error = descriptor < 0 ? errno : 0;
  if (!error && stat(target->path, &before) == 0)
    (void)!fchmod(descriptor, before.st_mode & 07777);  // who may read it stays, where that can be
  if (!error && !target->is_passing && fsync(descriptor) != 0) error = errno;
  if (descriptor >= 0) close(descriptor);
  if (!error && rename(target->temporary, target->path) != 0) error = errno;
  return error ? kg_target_fail(target, strerror(error)) : KEDGE_OK;
}

void kg_target_close(kg_target *target)
{
  if (target->temporary) {
    unlink(target->temporary);  // none is left after a commit
    char *mine = target->temporary;
    const bool taken =
        target->slot >= 0 && !atomic_compare_exchange_strong(&pending[target->slot], &mine, NULL);
    if (!taken) free(target->temporary);
  }
  free(target->path);
  *target = (kg_target){0};
}

/// Whether the last call has failed because `name` is a pipe that nobody reads.
static bool is_unread(const char *name)
{
  struct stat info;
  return errno == ENXIO && stat(name, &info) == 0 && S_ISFIFO(info.st_mode);
}

/// Returns 0 or errno; EPIPE for a pipe that nobody reads.
static int write_stream(const char *name, void (*put)(FILE *, void *), void *user)
{
  errno = 0;
  // At its end, as /dev/stdout may be a file with content: >> log.
  FILE *stream = kg_file_open(name, O_WRONLY | O_CREAT | O_APPEND, "ab");
  if (!stream) return is_unread(name) ? EPIPE : errno;
  put(stream, user);
  int error = fflush(stream) != 0 ? errno : 0;
  if (!error && ferror(stream)) error = EIO;
  if (fclose(stream) != 0 && !error) error = errno;
  return error;
}

static kedge_status stream(kedge_context *ctx, const char *path, const char *what, bool is_passing,
                           void (*put)(FILE *, void *), void *user)
{
  kg_target target;
  KG_TRY(kg_target_open(ctx, path, what, false, &target));
  target.is_passing = is_passing;
  const int error = write_stream(kg_target_name(&target), put, user);
  const char *const why = error == EPIPE ? "nobody reads this pipe" : strerror(error);
  const kedge_status status = error ? kg_target_fail(&target, why) : kg_target_commit(&target);
  kg_target_close(&target);
  return status;
}

kedge_status kg_target_stream(kedge_context *ctx, const char *path, const char *what,
                              void (*put)(FILE *, void *), void *user)
{
  return stream(ctx, path, what, false, put, user);
}

kedge_status kg_target_stream_passing(kedge_context *ctx, const char *path, const char *what,
                                      void (*put)(FILE *, void *), void *user)
{
  return stream(ctx, path, what, true, put, user);
}
