#include "core/link.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *kg_link_follow(const char *path)
{
  enum { LINKS_MAX = 40 };  // as many as Linux follows
  char link[PATH_MAX];
  char *at = strdup(path);
  for (int i = 0; at && i <= LINKS_MAX; ++i) {
    const ssize_t n = readlink(at, link, sizeof link - 1);
    if (n < 0) return at;
    link[n] = '\0';
    const char *const slash = link[0] == '/' ? NULL : strrchr(at, '/');
    const int folder = slash ? (int)(slash - at) + 1 : 0;
    char *next;
    if (asprintf(&next, "%.*s%s", folder, at, link) < 0) next = NULL;
    free(at);
    at = next;
  }
  if (at) errno = ELOOP;
  free(at);
  return NULL;
}
