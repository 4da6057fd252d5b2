// Every allocation fails once, and every look at the memory that is free finds none: the call
// reports it, gives no object, and (under AddressSanitizer) leaks nothing. The library's
// allocations come here (wrap.h).
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "wrap.h"

static int64_t until_failure = INT64_MAX;

static bool fails(void)
{
  return until_failure-- == 0;
}

WRAP(kedge_status, kg_host_alloc, kedge_context *ctx, size_t count, size_t size, void *out)
{
  return REAL(kg_host_alloc)(ctx, fails() ? SIZE_MAX : count, size, out);
}

WRAP(kedge_status, kg_host_calloc, kedge_context *ctx, size_t count, size_t size, void *out)
{
  return REAL(kg_host_calloc)(ctx, fails() ? SIZE_MAX : count, size, out);
}

WRAP(void *, realloc, void *memory, size_t bytes)
{
  return fails() ? NULL : REAL(realloc)(memory, bytes);
}

static int looks_until_none = INT_MAX;

WRAP(int64_t, kg_memory_available, const char *root)
{
  return looks_until_none-- == 0 ? 0 : REAL(kg_memory_available)(root);
}

typedef kedge_status attempt(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out);

static kedge_status generate(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  (void)mesh;
  return kedge_mesh_generate(ctx, "ring 2 5", out);
}

static kedge_status generate_space(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  (void)mesh;
  return kedge_mesh_generate(ctx, "cube 2", out);
}

static kedge_status refine_space(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  kedge_mesh *coarse;
  *out = NULL;
  KG_TRY(generate_space(ctx, mesh, &coarse));
  const kedge_status status = kedge_mesh_refine(ctx, coarse, 1, out);
  kedge_mesh_destroy(coarse);
  return status;
}

/// Tetrahedra, of which triangles are faces.
static kedge_status read_space(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  (void)mesh;
  return build_from_text(ctx,
                         "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 7 \"wall\"\n"
                         "$EndPhysicalNames\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
                         "$EndNodes\n$Elements\n3\n1 2 2 7 1 1 2 3\n2 2 2 8 1 1 2 3\n"
                         "3 4 2 5 1 1 2 3 4\n$EndElements\n",
                         out);
}

static kedge_status create_space(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  (void)mesh;
  const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const int32_t corners[] = {0, 1, 2, 3}, tag = -3, region = -5;
  const char *const name = "side";
  kedge_space_arrays arrays = KEDGE_SPACE_ARRAYS_INIT;
  arrays.n_vertices = 4;
  arrays.vertices = vertices;
  arrays.n_tetrahedra = arrays.n_triangles = arrays.n_names = 1;
  arrays.tetrahedra = arrays.triangles = corners;
  arrays.regions = &region;
  arrays.triangle_tags = arrays.name_tags = &tag;
  arrays.names = &name;
  return kedge_mesh_create_space(ctx, &arrays, out);
}

static kedge_status refine(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  return kedge_mesh_refine(ctx, mesh, 2, out);
}

static kedge_status copy(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  return kedge_mesh_refine(ctx, mesh, 0, out);
}

static kedge_status read_entities(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  (void)mesh;
  return kedge_mesh_read(ctx, MESHES "inclusion41-parts.msh", out);
}

static kedge_status read_curved(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  (void)mesh;
  return kedge_mesh_read(ctx, KEDGE_SOURCE_DIR "/tests/mesh/data/quarter-serendipity3.msh", out);
}

static kedge_status write_curved(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  kedge_mesh *curved;
  *out = NULL;
  KG_TRY(read_curved(ctx, mesh, &curved));
  const kedge_status status = kedge_mesh_write(ctx, curved, "/dev/null/mesh.msh", false);
  kedge_mesh_destroy(curved);
  return status == KEDGE_ERR_IO ? KEDGE_OK : status;
}

static kedge_status refine_curved(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  kedge_mesh *coarse;
  *out = NULL;
  KG_TRY(read_curved(ctx, mesh, &coarse));
  const kedge_status status = kedge_mesh_refine(ctx, coarse, 1, out);
  kedge_mesh_destroy(coarse);
  return status;
}

/// A curved disk, with its order lowered by a map that moves nothing.
static kedge_status map_disk(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  kedge_mesh *disk;
  (void)mesh;
  *out = NULL;
  KG_TRY(kg_mesh_generate(ctx, "disk 1", 3, &disk));
  const kedge_status status = kg_mesh_map(ctx, disk, 2, NULL, NULL, out);
  kedge_mesh_destroy(disk);
  return status;
}

/// Sparse node tags, which are sorted.
static kedge_status read_sparse(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  (void)mesh;
  return build_from_text(ctx,
                         "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
                         "$Nodes\n3\n1 0 0 0\n9999999 1 0 0\n5 0 1 0\n$EndNodes\n"
                         "$Elements\n2\n1 1 1 4 1 5\n2 2 0 1 9999999 5\n$EndElements\n",
                         out);
}

static kedge_status create(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  (void)mesh;
  const double vertices[] = {0, 0, 1, 0, 0, 1};
  const int32_t triangle[] = {0, 1, 2}, tag = 3;
  const char *const name = "side";
  const kedge_mesh_arrays arrays = {.n_vertices = 3,
                                    .vertices = vertices,
                                    .n_triangles = 1,
                                    .triangles = triangle,
                                    .n_lines = 1,
                                    .lines = triangle,
                                    .line_tags = &tag,
                                    .n_names = 1,
                                    .name_tags = &tag,
                                    .names = &name};
  return kedge_mesh_create(ctx, &arrays, out);
}

/// Writes to where nothing can be written, so that success too leaves no file.
static kedge_status write_nowhere(kedge_context *ctx, const kedge_mesh *mesh, kedge_mesh **out)
{
  *out = NULL;
  const kedge_status status = kedge_mesh_write(ctx, mesh, "/dev/null/mesh.msh", false);
  return status == KEDGE_ERR_IO ? KEDGE_OK : status;
}

static void running_out_of_memory_anywhere_is_reported(void **state)
{
  kedge_context *ctx = *state;
  static attempt *const attempts[] = {generate,     refine,       copy,          read_entities,
                                      create,       read_sparse,  read_curved,   refine_curved,
                                      map_disk,     write_curved, write_nowhere, generate_space,
                                      refine_space, read_space,   create_space};
  kedge_mesh *mesh;
  assert_ok(ctx, kedge_mesh_generate(ctx, "lshape 1", &mesh));
  for (size_t i = 0; i < sizeof attempts / sizeof *attempts; ++i) {
    int64_t k = 0;
    for (;; ++k) {
      kedge_mesh *out;
      until_failure = k;
      const kedge_status status = attempts[i](ctx, mesh, &out);
      const bool failed = until_failure < 0;
      until_failure = INT64_MAX;
      if (!failed) {
        assert_ok(ctx, status);
        kedge_mesh_destroy(out);
        break;
      }
      assert_int_equal(status, KEDGE_ERR_MEMORY);
      assert_non_null(strstr(kedge_context_error(ctx), "no host memory"));
      assert_null(out);
    }
    assert_true(k > 4);
  }
  kedge_mesh_destroy(mesh);
}

/// An allocation that is too large succeeds, and the process is killed when it writes there.
static void a_mesh_that_memory_would_not_hold_is_refused_before_it_is_made(void **state)
{
  kedge_context *ctx = *state;
  static const struct {
    attempt *call;
    int looks;
  } cases[] = {{generate, 2},    {refine, 3},        {copy, 2},          {create, 1},
               {read_curved, 4}, {read_entities, 3}, {generate_space, 2}};
  kedge_mesh *mesh, *out;
  assert_ok(ctx, kedge_mesh_generate(ctx, "lshape 1", &mesh));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (int k = 0; k < cases[i].looks; ++k) {
      looks_until_none = k;
      assert_int_equal(cases[i].call(ctx, mesh, &out), KEDGE_ERR_MEMORY);
      assert_non_null(strstr(kedge_context_error(ctx), "and 0.00 GB are free"));
      assert_null(out);
    }
    looks_until_none = cases[i].looks;
    assert_ok(ctx, cases[i].call(ctx, mesh, &out));
    assert_int_equal(looks_until_none, 0);
    looks_until_none = INT_MAX;
    kedge_mesh_destroy(out);
  }
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_mesh_that_memory_would_not_hold_is_refused_before_it_is_made),
      cmocka_unit_test(running_out_of_memory_anywhere_is_reported),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
