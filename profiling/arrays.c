// arrays: what every array of a solve takes in device memory, and when it is there.
//
//   arrays PROBLEM.ini [SECTION.KEY=VALUE ...]
//
// A table: bytes a triangle, the place, and initials of the phases in which the array lives. Then
// what each phase holds at once, and all phases in one piece of memory (device/plan.h).
#include <stdio.h>
#include <stdlib.h>

#include "elliptic/stages.h"
#include "kedge/kedge.h"
#include "elliptic/memory.h"
#include "elliptic/elliptic.h"

static kedge_context *ctx;

static void must(kedge_status status)
{
  if (status == KEDGE_OK) return;
  fprintf(stderr, "arrays: %s\n", kedge_context_error(ctx));
  exit(1);
}

static const char *const names[KG_PHASE_COUNT] = {
    "transfer", "local",    "assembly", "space",   "Galerkin", "levels",
    "bound",    "residual", "round",    "down",    "restrict", "coarse",
    "correct",  "up",       "step",     "recover", "loads",    "condense"};

/// @param[in] n  triangles
static void print_array(const kg_plan_entry *e, double n)
{
  char phases[KG_PHASE_COUNT + 1] = {0};
  for (int i = 0; i < KG_PHASE_COUNT; ++i) phases[i] = e->phases & 1u << i ? names[i][0] : '.';
  printf("%-28s %10.1f %10.1f  %s\n", e->name, (double)e->bytes / n, (double)e->at / n, phases);
}

int main(int argc, char **argv)
{
  kedge_problem *problem;
  kedge_mesh *mesh;
  if (argc < 2) {
    fprintf(stderr, "arrays PROBLEM.ini [SECTION.KEY=VALUE ...]\n");
    return 2;
  }
  must(kedge_context_create(NULL, &ctx));
  must(kedge_problem_read(ctx, argv[1], (const char *const *)argv + 2, argc - 2, &problem));
  must(kedge_problem_mesh(problem, &mesh));
  kg_elliptic p = {.ctx = ctx, .mesh = mesh, .equation.problem = problem};
  must(kg_elliptic_prepare(&p));
  p.shape.choice.loads_stay = p.shape.choice.iterates != KG_SINGLE;
  const double n = (double)p.shape.count.n_elements;
  kg_memory_plan(&p.shape, &p.plan, &p.arrays);
  for (int i = 0; i < p.plan.n; ++i) print_array(&p.plan.entry[i], n);
  for (int i = 0; i < KG_PHASE_COUNT; ++i)
    printf("%-28s %10.1f\n", names[i], (double)kg_plan_live_bytes(&p.plan, 1u << i) / n);
  printf("%-28s %10.1f\n", "all, placed", (double)p.plan.bytes / n);
  kg_elliptic_free(&p);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(problem);
  kedge_context_destroy(ctx);
  return 0;
}
