// The time of a problem.
#include "problem/problem.h"

static void set_time(kg_coefficients *c, double t)
{
  for (int k = 0; k < KG_TENSOR_MAX; ++k) kg_function_set_time(&c->diffusion[k], t);
  kg_function_set_time(&c->reaction, t);
  kg_function_set_time(&c->source, t);
  kg_function_set_time(&c->mass, t);
}

void kg_problem_set_time(kedge_problem *p, double t)
{
  kg_function *const exact[] = {&p->exact_u, &p->exact_dx, &p->exact_dy, &p->exact_dz};
  p->t = t;
  set_time(&p->equation, t);
  for (int i = 0; i < p->n_regions; ++i) set_time(&p->regions[i], t);
  for (int i = 0; i < p->n_boundaries; ++i) {
    kg_function_set_time(&p->boundaries[i].value, t);
    kg_function_set_time(&p->boundaries[i].coefficient, t);
  }
  for (int k = 0; k < 4; ++k) kg_function_set_time(exact[k], t);
}

void kg_resolved_set_time(kg_resolved *resolved, double t)
{
  set_time(&resolved->equation, t);
  kg_function_set_time(&resolved->reaction, t);
}

double kg_coefficients_time(const kg_coefficients *c)
{
  return c->reaction.t;
}
