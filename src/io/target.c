#include "io/target.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

kedge_status kg_target_resolve(kedge_context *ctx, const char *path, char **out, bool *special)
{
  *out = NULL;
  *special = false;
  struct stat link, target;
  const bool exists = lstat(path, &link) == 0;
  const bool reachable = exists && stat(path, &target) == 0;
  KG_REQUIRE(ctx, !(reachable && S_ISDIR(target.st_mode)), KEDGE_ERR_IO,
             "cannot write %s: it is a folder", path);
  *special = reachable && !S_ISREG(target.st_mode);
  // A link that points nowhere is replaced itself.
  if (reachable && !*special && S_ISLNK(link.st_mode)) *out = realpath(path, NULL);
  if (!*out) *out = strdup(path);
  KG_REQUIRE(ctx, *out, KEDGE_ERR_MEMORY, "no host memory for the name %s", path);
  return KEDGE_OK;
}
