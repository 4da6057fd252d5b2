// libFuzzer target: any bytes are either a mesh or refused with a sentence.
#include <stdlib.h>

#include "device/context.h"
#include "mesh/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size > 65536) return -1;
  struct kedge_context ctx = {.threads = 1};
  kg_raw_mesh raw;
  kedge_mesh *mesh = NULL;
  kedge_status status = kg_gmsh_parse(&ctx, "fuzz.msh", data, size, &raw);
  if (status == KEDGE_OK) {
    status = kg_mesh_build(&ctx, &raw, "fuzz.msh", &mesh);
    kg_raw_mesh_free(&raw);
  }
  if (status == KEDGE_OK ? !mesh : mesh || !ctx.error[0]) abort();
  kedge_mesh_destroy(mesh);
  return 0;
}
