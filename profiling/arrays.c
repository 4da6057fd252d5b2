// arrays: what every array of a solve takes in device memory, and when it is there.
//
//   arrays PROBLEM.ini [SECTION.KEY=VALUE ...]
//
// A table: bytes a triangle; the first and the last stage of the array; "in K^e" where it lies in
// memory that reduced K^e leave (solver/places.h). Then what each stage holds at once.
#include <stdio.h>
#include <stdlib.h>

#include "kedge/kedge.h"
#include "solver/need.h"
#include "solver/pipeline.h"
#include "solver/places.h"

#define NAME(name, first, last) #name,
static const char *const names[] = {KG_ARRAY_LIST(NAME)};

static kedge_context *ctx;

static void must(kedge_status status)
{
  if (status == KEDGE_OK) return;
  fprintf(stderr, "arrays: %s\n", kedge_context_error(ctx));
  exit(1);
}

static void print_array(const kg_shape *shape, kg_array array, double n)
{
  const double bytes = (double)kg_array_bytes(array, shape) / n;
  kedge_stage first = KEDGE_STAGE_COUNT, last = 0;
  for (kedge_stage stage = 0; stage < KEDGE_STAGE_COUNT; ++stage)
    if (kg_array_lives(array, stage, shape)) {
      if (first == KEDGE_STAGE_COUNT) first = stage;
      last = stage;
    }
  if (bytes < 0.05 || first == KEDGE_STAGE_COUNT) return;
  printf("%-18s %8.1f  %-15s %-15s%s\n", names[array], bytes, kedge_stage_name(first),
         kedge_stage_name(last), kg_array_is_shared(array, shape) ? "in K^e" : "");
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
  kg_pipeline p = {.ctx = ctx, .mesh = mesh, .problem = problem};
  must(kg_pipeline_prepare(&p));
  p.shape.choice.loads_stay = p.shape.choice.iterates != KG_SINGLE;
  const double n = (double)p.shape.count.n_elements;
  for (kg_array array = 0; array < KG_ARRAY_COUNT; ++array) print_array(&p.shape, array, n);
  for (kedge_stage stage = 0; stage < KEDGE_STAGE_COUNT; ++stage)
    printf("%-18s %8.1f\n", kedge_stage_name(stage), (double)kg_stage_bytes(stage, &p.shape) / n);
  kg_pipeline_free(&p);
  kedge_mesh_destroy(mesh);
  kedge_problem_destroy(problem);
  kedge_context_destroy(ctx);
  return 0;
}
