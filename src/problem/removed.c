#include "problem/removed.h"

#include <stddef.h>
#include <string.h>

typedef struct removed {
  const char *section, *key;
  const char *value;  ///< NULL: the key is gone, whatever its value
  const char *instead;
} removed;

static const removed table[] = {
    {"solver", "coarse_solver", NULL,
     "multigrid always takes kedge's own levels; leave the line out"},
    {"solver", "start", NULL, "the iteration always starts from zero; leave the line out"},
};

const char *kg_removed_setting(const char *section, const char *key, const char *value)
{
  for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
    const removed *r = &table[i];
    if (strcmp(r->section, section) != 0 || strcmp(r->key, key) != 0) continue;
    if (!r->value || (value && strcmp(r->value, value) == 0)) return r->instead;
  }
  return NULL;
}
