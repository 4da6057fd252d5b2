#include <string.h>

#include "io/vtkhdf.h"
#include "kedge/solution.h"

kedge_status kg_output_open(kedge_context *ctx, const char *doing, const kg_hdf5 **out)
{
  kg_hdf5_reason why = {""};
  *out = kg_hdf5_open(&why);
  KG_REQUIRE(ctx, *out, KEDGE_ERR_UNSUPPORTED,
             "%s output files needs HDF5, by a file beside libkedge; loading them failed: %s; "
             "install kedge again, or HDF5's libraries",
             doing, why.text);
  return KEDGE_OK;
}

kedge_status kedge_output_ready(kedge_context *ctx)
{
  const kg_hdf5 *hdf5;
  return kg_output_open(ctx, "writing", &hdf5);
}

kedge_status kedge_output_read(kedge_context *ctx, const char *path, const char *name,
                               int64_t *count, double *values)
{
  KG_REQUIRE(ctx, path && name && count && *name && strlen(name) < 100, KEDGE_ERR_ARG,
             "kedge_output_read: path, name or count is NULL, or the name is none");
  const int64_t room = *count;
  const kg_hdf5 *hdf5;
  kg_hdf5_reason why;
  KG_TRY(kg_output_open(ctx, "reading", &hdf5));
  const kg_hdf5_finding found = hdf5->read(path, name, count, values, &why);
  KG_REQUIRE(ctx, found != KG_HDF5_FAILED, KEDGE_ERR_IO, "cannot read %s: %s", path, why.text);
  KG_REQUIRE(ctx, found != KG_HDF5_NOT_OURS, KEDGE_ERR_INPUT,
             "%s is no output of kedge: it has no groups VTKHDF and kedge", path);
  KG_REQUIRE(ctx, found != KG_HDF5_NOT_THERE, KEDGE_ERR_INPUT, "%s holds no numbers %s", path,
             name);
  KG_REQUIRE(ctx, found != KG_HDF5_NO_ROOM, KEDGE_ERR_ARG,
             "kedge_output_read: %s of %s has %lld numbers, and there is room for %lld", name, path,
             (long long)*count, (long long)room);
  return KEDGE_OK;
}
