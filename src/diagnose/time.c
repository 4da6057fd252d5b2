// Findings about data that move.
#include <stdio.h>

#include "diagnose/predicates.h"
#include "problem/time.h"

/// Say the key of data that jump. @return whether they do
static bool say_jump(kg_diagnosis *d, const char *word, const char *group, const char *key,
                     const kg_function *f)
{
  if (!kg_function_jumps_in_time(f)) return false;
  snprintf(d->list, sizeof d->list, group ? "[%s %s] %s" : "[%s%s] %s", word, group ? group : "",
           key);
  kg_say_word(d, d->list);
  return true;
}

static bool say_jump_of(kg_diagnosis *d, const kg_coefficients *c)
{
  const char *const word = c->group ? "region" : "equation";
  for (int k = 0; k < c->n_diffusion; ++k)
    if (say_jump(d, word, c->group, "diffusion", &c->diffusion[k])) return true;
  return say_jump(d, word, c->group, "reaction", &c->reaction) ||
         say_jump(d, word, c->group, "source", &c->source) ||
         say_jump(d, word, c->group, "mass", &c->mass);
}

/// Data jump at times that steps do not know.
bool kg_finds_jump_in_time(kg_diagnosis *d)
{
  const kedge_problem *const p = d->problem;
  if (!p->time.is_set || p->time.n_events > 0) return false;
  if (say_jump_of(d, &p->equation)) return true;
  for (int i = 0; i < p->n_regions; ++i)
    if (say_jump_of(d, &p->regions[i])) return true;
  for (int i = 0; i < p->n_boundaries; ++i) {
    const kg_boundary *const b = &p->boundaries[i];
    if (say_jump(d, "boundary", b->group, "value", &b->value)) return true;
    if (say_jump(d, "boundary", b->group, "coefficient", &b->coefficient)) return true;
  }
  return say_jump(d, "exact", NULL, "u", &p->exact_u);
}
