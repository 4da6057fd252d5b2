// libFuzzer target: any bytes are either a mesh or refused with a sentence. A small mesh is then
// joined, refined, and moved with nodes of another order; all give a mesh or a sentence too.
#include <math.h>
#include <stdlib.h>

#include "device/context.h"
#include "expression/function.h"
#include "mesh/mesh.h"

enum { LARGEST = 65536, FEW_ELEMENTS = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct kedge_context *ctx, kedge_status status, const kedge_mesh *mesh)
{
  if (status == KEDGE_OK ? !mesh : mesh || !ctx->error[0]) abort();
}

static void bend(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i)
    value[i] = points->x[i] + 0.1 * points->y[i] * points->y[i];
}

static void keep(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = points->y[i];
}

static void change(struct kedge_context *ctx, const kedge_mesh *mesh, int geometry)
{
  const kg_function x = {.kind = KG_FUNCTION_CALLER, .function = bend};
  const kg_function y = {.kind = KG_FUNCTION_CALLER, .function = keep};
  kedge_mesh *fine = NULL, *moved = NULL, *joined = NULL;
  const double least = mesh->info.join_distance, size = mesh->info.box[2] - mesh->info.box[0];
  check(ctx, kedge_mesh_join(ctx, mesh, least > 0.0 ? least : fmax(0.01 * size, 1e-300), &joined),
        joined);
  kedge_mesh_destroy(joined);
  check(ctx, kedge_mesh_refine(ctx, mesh, 1, &fine), fine);
  check(ctx, kg_mesh_map(ctx, fine ? fine : mesh, geometry, &x, &y, &moved), moved);
  kedge_mesh_destroy(fine);
  kedge_mesh_destroy(moved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size > LARGEST) return -1;
  struct kedge_context ctx = {.threads = 1};
  kg_raw_mesh raw;
  kedge_mesh *mesh = NULL;
  kedge_status status = kg_gmsh_parse(&ctx, "fuzz.msh", data, size, &raw);
  if (status == KEDGE_OK) {
    status = kg_mesh_build(&ctx, &raw, "fuzz.msh", &mesh);
    kg_raw_mesh_free(&raw);
  }
  check(&ctx, status, mesh);
  if (mesh && mesh->n_elements <= FEW_ELEMENTS) change(&ctx, mesh, (int)(size % 6));
  kedge_mesh_destroy(mesh);
  return 0;
}
