#include "problem/removed.h"

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
    {"solver", "smoother", "strip",
     "write smoother = line and smoothing_steps = 4, which need the same iterations and less time"},
    {"solver", "smoother", "element",
     "write smoother = edge, or smoother = line on stretched triangles"},
};

kedge_status kg_removed_check(const kg_settings *settings, const kg_setting *s)
{
  for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
    const removed *r = &table[i];
    if (strcmp(r->section, s->section) != 0 || strcmp(r->key, s->key) != 0) continue;
    if (!r->value)
      return kg_setting_fail(settings, s, 0, "%s in [%s] is gone: %s", r->key, r->section,
                             r->instead);
    if (s->value && strcmp(r->value, s->value) == 0)
      return kg_setting_fail(settings, s, 0, "%s = %s is gone: %s", r->key, r->value, r->instead);
  }
  return KEDGE_OK;
}
