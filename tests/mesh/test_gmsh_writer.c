#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static char folder[] = "/tmp/kedge-mesh-XXXXXX";

static int open_folder(void **state)
{
  return mkdtemp(folder) && open_context(state) == 0 ? 0 : -1;
}

static int close_folder(void **state)
{
  rmdir(folder);
  return close_context(state);
}

static void in_folder(char path[256], const char *name)
{
  snprintf(path, 256, "%s/%s", folder, name);
}

/// Write, read back, remove.
static kedge_mesh *round_trip(kedge_context *ctx, const kedge_mesh *mesh, bool binary)
{
  char path[256];
  in_folder(path, "mesh.msh");
  kedge_mesh *again;
  assert_ok(ctx, kedge_mesh_write(ctx, mesh, path, binary));
  assert_ok(ctx, kedge_mesh_read(ctx, path, &again));
  assert_int_equal(unlink(path), 0);
  return again;
}

static void assert_survives(kedge_context *ctx, kedge_mesh *mesh)
{
  for (int binary = 0; binary < 2; ++binary) {
    kedge_mesh *again = round_trip(ctx, mesh, binary);
    assert_same_mesh(mesh, again);
    kedge_mesh_destroy(again);
  }
  kedge_mesh_destroy(mesh);
}

static void what_is_written_is_read_back_bit_for_bit(void **state)
{
  static const char *const files[] = {MESHES "inclusion41.msh", MESHES "plate.msh",
                                      MESHES "lshape.msh", MESHES "slit.msh"};
  static const char *const words[] = {"square 1", "square 9", "lshape 3", "ring 2 7"};
  kedge_mesh *mesh;
  for (size_t i = 0; i < 4; ++i) {
    assert_ok(*state, kedge_mesh_read(*state, files[i], &mesh));
    assert_survives(*state, mesh);
    assert_ok(*state, kedge_mesh_generate(*state, words[i], &mesh));
    assert_survives(*state, mesh);
  }
}

static void regions_in_any_order_keep_the_order_of_elements(void **state)
{
  enum { N = 7 };
  double vertices[2 * (2 * N + 1)];
  int32_t triangles[3 * N], regions[N];
  for (int32_t i = 0; i < 2 * N + 1; ++i) {
    vertices[2 * i] = i;
    vertices[2 * i + 1] = i % 2;
  }
  for (int32_t i = 0; i < N; ++i) {
    const int32_t v[3] = {2 * i, 2 * i + 2, 2 * i + 1};
    memcpy(triangles + 3 * i, v, sizeof v);
    regions[i] = i % 3;  // 0 is no physical group
  }
  const kedge_mesh_arrays arrays = {.n_vertices = 2 * N + 1,
                                    .vertices = vertices,
                                    .n_triangles = N,
                                    .triangles = triangles,
                                    .regions = regions};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  assert_survives(*state, mesh);
}

static void gaps_of_unused_vertices_are_closed(void **state)
{
  const double vertices[] = {9, 9, 0, 0, 8, 8, 1, 0, 0, 1};
  const kedge_mesh_arrays arrays = {
      .n_vertices = 5, .vertices = vertices, .n_triangles = 1, .triangles = (int32_t[]){1, 3, 4}};
  kedge_mesh *mesh;
  assert_ok(*state, kedge_mesh_create(*state, &arrays, &mesh));
  kedge_mesh *again = round_trip(*state, mesh, false);
  assert_int_equal(again->info.unused_vertices, 0);
  for (int i = 0; i < 3; ++i) assert_int_equal(again->vertex_origin[i], i);
  assert_memory_equal(mesh->vertices, again->vertices, 6 * sizeof(double));
  kedge_mesh_destroy(mesh);
  kedge_mesh_destroy(again);
}

static void a_file_that_cannot_be_written_is_refused_and_leaves_nothing(void **state)
{
  kedge_mesh *mesh;
  char path[256], sentence[512];
  assert_ok(*state, kedge_mesh_generate(*state, "square 2", &mesh));
  in_folder(path, "none/mesh.msh");
  snprintf(sentence, sizeof sentence,
           "cannot write the mesh %s: %s/none: No such file or directory", path, folder);
  assert_refused(*state, kedge_mesh_write(*state, mesh, path, false), KEDGE_ERR_IO, sentence);
  in_folder(path, "taken");
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(sentence, sizeof sentence, "cannot write the mesh %s: it is a folder", path);
  assert_refused(*state, kedge_mesh_write(*state, mesh, path, true), KEDGE_ERR_IO, sentence);
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(rmdir(folder), 0);  // empty: no temporary file is left
  assert_int_equal(mkdir(folder, 0700), 0);
  kedge_mesh_destroy(mesh);
}

static void links_are_followed_and_pipes_written_themselves(void **state)
{
  kedge_mesh *mesh;
  char path[256], link[256];
  struct stat info;
  assert_ok(*state, kedge_mesh_generate(*state, "square 2", &mesh));
  in_folder(path, "mesh.msh");
  in_folder(link, "link.msh");
  assert_ok(*state, kedge_mesh_write(*state, mesh, path, false));
  assert_int_equal(symlink("mesh.msh", link), 0);
  assert_ok(*state, kedge_mesh_write(*state, mesh, link, true));
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_int_equal(unlink(link), 0);
  assert_int_equal(unlink(path), 0);

  assert_int_equal(mkfifo(path, 0600), 0);
  const int reader = open(path, O_RDONLY | O_NONBLOCK);
  assert_true(reader >= 0);
  assert_ok(*state, kedge_mesh_write(*state, mesh, path, false));
  char text[4096] = "";
  assert_true(read(reader, text, sizeof text - 1) > 0);
  assert_memory_equal(text, "$MeshFormat", 11);
  assert_non_null(strstr(text, "$EndElements\n"));
  close(reader);
  assert_int_equal(lstat(path, &info), 0);
  assert_true(S_ISFIFO(info.st_mode));
  assert_int_equal(unlink(path), 0);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read_back_bit_for_bit),
      cmocka_unit_test(regions_in_any_order_keep_the_order_of_elements),
      cmocka_unit_test(gaps_of_unused_vertices_are_closed),
      cmocka_unit_test(a_file_that_cannot_be_written_is_refused_and_leaves_nothing),
      cmocka_unit_test(links_are_followed_and_pipes_written_themselves),
  };
  return cmocka_run_group_tests(tests, open_folder, close_folder);
}
