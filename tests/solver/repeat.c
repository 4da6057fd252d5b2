#include "repeat.h"

#include "backend.h"
#include "compare.h"
#include "grid.h"

static fields solved(kedge_context *ctx, const setting *settings)
{
  kedge_mesh *mesh = test_irregular_mesh(ctx, 1000);
  kedge_solution *solution = solve(ctx, mesh, settings);
  const fields f = fields_of(ctx, solution);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  return f;
}

void assert_repeatable(kedge_context *ctx, const setting *settings)
{
  fields first = solved(ctx, settings);
  const int threads[] = {2, 1, 3};
  for (size_t i = 0; i < sizeof threads / sizeof *threads; ++i) {
    kedge_context *other = open_backend(test_backend(), threads[i]);
    fields again = solved(other, settings);
    assert_same_bits(&first, &again);
    fields_free(&again);
    kedge_context_destroy(other);
  }
  fields_free(&first);
}
