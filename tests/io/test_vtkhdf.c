// VTKHDF files: what is written is there, as VTK wants it, or nothing is there.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "io/vtkhdf.h"

static kedge_context *ctx;
static char folder[] = "/tmp/kedge_vtkhdf_XXXXXX";
static char path[128];

static int set_up(void **state)
{
  (void)state;
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = KEDGE_BACKEND_HOST;
  if (!mkdtemp(folder) || kedge_context_create(&options, &ctx) != KEDGE_OK) return -1;
  snprintf(path, sizeof path, "%s/field.vtkhdf", folder);
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  unlink(path);
  kedge_context_destroy(ctx);
  return rmdir(folder);  // fails, and the group with it, when a test left a file behind
}

static int entries_of_folder(char name[256])
{
  int n = 0;
  DIR *stream = opendir(folder);
  assert_non_null(stream);
  for (const struct dirent *entry; (entry = readdir(stream));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (name) snprintf(name, 256, "%s", entry->d_name);
    ++n;
  }
  closedir(stream);
  return n;
}

enum { ORDER = 3, NODES = 10 };

/// Values that tell where they belong: dataset, cell, place in the cell.
static double value_of(int dataset, int64_t cell, int64_t place)
{
  return 1e6 * dataset + (double)cell + 1e-3 * (double)place;
}

static void write_chunk(kg_vtkhdf *file, int64_t first, int64_t count)
{
  double values[3][NODES * 3 * 8], indicator[8];
  int32_t region[8];
  assert_true(count <= 8);
  for (int64_t c = 0; c < count; ++c) {
    for (int i = 0; i < NODES * 3; ++i)
      for (int d = 0; d < 2; ++d) values[d][c * NODES * 3 + i] = value_of(d, first + c, i);
    for (int i = 0; i < NODES; ++i) values[2][c * NODES + i] = value_of(2, first + c, i);
    indicator[c] = value_of(3, first + c, 0);
    region[c] = (int32_t)(-7 * (first + c));
  }
  assert_int_equal(kg_vtkhdf_write_points(file, first, count, values[0]), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_write(file, "q", first, count, values[1]), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_write(file, "u", first, count, values[2]), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_write(file, "error", first, count, indicator), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_write(file, "region", first, count, region), KEDGE_OK);
}

static kg_vtkhdf *begin_file(int64_t n_cells)
{
  kg_vtkhdf *file;
  assert_int_equal(kg_vtkhdf_create(ctx, path, ORDER, n_cells, &file), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_point_field(file, "q", 3), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_point_field(file, "u", 1), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_cell_field(file, "error", false), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_cell_field(file, "region", true), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_number(file, "relative_residual", 1.25e-13), KEDGE_OK);
  return file;
}

/// Chunks of 8 cells, the last one shorter, from the back to the front.
static void write_file(int64_t n_cells)
{
  kg_vtkhdf *file = begin_file(n_cells);
  for (int64_t first = (n_cells - 1) / 8 * 8; first >= 0; first -= 8)
    write_chunk(file, first, n_cells - first < 8 ? n_cells - first : 8);
  assert_int_equal(kg_vtkhdf_finish(file), KEDGE_OK);
}

/// Read a whole dataset after its type and shape [rows] or, components > 1, [rows][components] are
/// found to be right. The caller frees.
static void *read_dataset(hid_t file, const char *name, hid_t file_type, hid_t memory_type,
                          int64_t rows, int components)
{
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(dataset >= 0);
  const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  assert_true(H5Tequal(type, file_type) > 0);
  hsize_t shape[2] = {0, 1};
  assert_int_equal(H5Sget_simple_extent_ndims(space), components > 1 ? 2 : 1);
  H5Sget_simple_extent_dims(space, shape, NULL);
  assert_int_equal(shape[0], rows);
  assert_int_equal(shape[1], components);
  void *values = malloc((size_t)(rows * components) * H5Tget_size(memory_type));
  assert_non_null(values);
  assert_true(H5Dread(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(dataset);
  return values;
}

static void assert_field(hid_t file, const char *name, int dataset, int64_t n_cells, int nodes,
                         int components)
{
  double *values =
      read_dataset(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, n_cells * nodes, components);
  const int64_t each = (int64_t)nodes * components;
  for (int64_t i = 0; i < n_cells * each; ++i)
    assert_true(values[i] == value_of(dataset, i / each, i % each));
  free(values);
}

static void assert_integers(hid_t file, const char *name, int64_t n, int64_t begin, int64_t step)
{
  int64_t *values = read_dataset(file, name, H5T_STD_I64LE, H5T_NATIVE_INT64, n, 1);
  for (int64_t i = 0; i < n; ++i) assert_int_equal(values[i], begin + step * i);
  free(values);
}

static void assert_type_attribute(hid_t file)
{
  const hid_t root = H5Gopen2(file, "VTKHDF", H5P_DEFAULT);
  const hid_t attribute = H5Aopen(root, "Type", H5P_DEFAULT);
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  assert_int_equal(H5Tget_class(type), H5T_STRING);
  assert_int_equal(H5Tis_variable_str(type), 0);
  assert_int_equal(H5Tget_strpad(type), H5T_STR_NULLPAD);
  assert_int_equal(H5Tget_cset(type), H5T_CSET_ASCII);
  assert_int_equal(H5Sget_simple_extent_type(space), H5S_SCALAR);
  char text[32] = "";
  assert_int_equal(H5Tget_size(type), strlen("UnstructuredGrid"));
  assert_true(H5Aread(attribute, type, text) >= 0);
  assert_string_equal(text, "UnstructuredGrid");
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  H5Gclose(root);
}

static void assert_version_attribute(hid_t file)
{
  const hid_t attribute = H5Aopen_by_name(file, "VTKHDF", "Version", H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Aget_space(attribute);
  int64_t version[2] = {-1, -1};
  assert_int_equal(H5Sget_simple_extent_npoints(space), 2);
  assert_true(H5Aread(attribute, H5T_NATIVE_INT64, version) >= 0);
  assert_int_equal(version[0], 1);
  assert_int_equal(version[1], 0);
  H5Sclose(space);
  H5Aclose(attribute);
}

static void assert_file(int64_t n_cells)
{
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  assert_type_attribute(file);
  assert_version_attribute(file);
  assert_integers(file, "VTKHDF/NumberOfPoints", 1, n_cells * NODES, 0);
  assert_integers(file, "VTKHDF/NumberOfCells", 1, n_cells, 0);
  assert_integers(file, "VTKHDF/NumberOfConnectivityIds", 1, n_cells * NODES, 0);
  assert_integers(file, "VTKHDF/Connectivity", n_cells * NODES, 0, 1);
  assert_integers(file, "VTKHDF/Offsets", n_cells + 1, 0, NODES);
  assert_field(file, "VTKHDF/Points", 0, n_cells, NODES, 3);
  assert_field(file, "VTKHDF/PointData/q", 1, n_cells, NODES, 3);
  assert_field(file, "VTKHDF/PointData/u", 2, n_cells, NODES, 1);
  assert_field(file, "VTKHDF/CellData/error", 3, n_cells, 1, 1);
  unsigned char *types =
      read_dataset(file, "VTKHDF/Types", H5T_STD_U8LE, H5T_NATIVE_UCHAR, n_cells, 1);
  int32_t *regions =
      read_dataset(file, "VTKHDF/CellData/region", H5T_STD_I32LE, H5T_NATIVE_INT32, n_cells, 1);
  for (int64_t c = 0; c < n_cells; ++c) {
    assert_int_equal(types[c], 69);
    assert_int_equal(regions[c], -7 * c);
  }
  double *number = read_dataset(file, "VTKHDF/FieldData/relative_residual", H5T_IEEE_F64LE,
                                H5T_NATIVE_DOUBLE, 1, 1);
  assert_true(*number == 1.25e-13);
  free(number);
  free(regions);
  free(types);
  assert_true(H5Fclose(file) >= 0);
}

static void what_is_written_in_chunks_is_read_back(void **state)
{
  (void)state;
  const int64_t sizes[] = {1, 7, 8, 9, 1001};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    write_file(sizes[i]);
    assert_file(sizes[i]);
    assert_int_equal(entries_of_folder(NULL), 1);
  }
}

static void topology_longer_than_its_buffer_is_complete(void **state)
{
  (void)state;
  write_file(70001);
  assert_file(70001);
}

/// A fan of n cells around point 0, points and cells in chunks.
static kg_vtkhdf *begin_fan(int32_t n_cells)
{
  kg_vtkhdf *file;
  assert_int_equal(kg_vtkhdf_create_shared(ctx, path, n_cells, n_cells + 2, &file), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_cell_field(file, "error", false), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_cell_vector(file, "q"), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_point_field(file, "height", 1), KEDGE_OK);
  return file;
}

static void write_fan(kg_vtkhdf *file, int32_t n_cells)
{
  const size_t n = (size_t)n_cells + 2;
  double *values = malloc(3 * n * sizeof *values);
  int32_t *corners = malloc(3 * n * sizeof *corners);
  assert_true(values && corners);
  for (size_t i = 0; i < 3 * n; ++i) values[i] = value_of(0, (int64_t)i / 3, (int64_t)i % 3);
  for (int32_t c = 0; c < n_cells; ++c)
    for (int32_t l = 0; l < 3; ++l) corners[3 * c + l] = l == 0 ? 0 : c + l;
  const int64_t half = n_cells / 2, rest = n_cells - half, points = (int64_t)n - 1;
  assert_int_equal(kg_vtkhdf_write_points(file, 0, 1, values), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_write_points(file, 1, points, values + 3), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_write_triangles(file, half, rest, corners + 3 * half), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_write_triangles(file, 0, half, corners), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_write(file, "q", 0, n_cells, values), KEDGE_OK);
  for (size_t i = 0; i < n; ++i) values[i] = value_of(0, (int64_t)i, 0);
  assert_int_equal(kg_vtkhdf_write(file, "error", 0, n_cells, values), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_write(file, "height", 0, (int64_t)n, values), KEDGE_OK);
  free(values);
  free(corners);
}

static void assert_fan(int32_t n_cells)
{
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  assert_integers(file, "VTKHDF/NumberOfPoints", 1, n_cells + 2, 0);
  assert_integers(file, "VTKHDF/NumberOfCells", 1, n_cells, 0);
  assert_integers(file, "VTKHDF/NumberOfConnectivityIds", 1, 3 * (int64_t)n_cells, 0);
  assert_integers(file, "VTKHDF/Offsets", (int64_t)n_cells + 1, 0, 3);
  assert_field(file, "VTKHDF/Points", 0, n_cells + 2, 1, 3);
  assert_field(file, "VTKHDF/PointData/height", 0, n_cells + 2, 1, 1);
  assert_field(file, "VTKHDF/CellData/error", 0, n_cells, 1, 1);
  assert_field(file, "VTKHDF/CellData/q", 0, n_cells, 1, 3);
  int64_t *corners = read_dataset(file, "VTKHDF/Connectivity", H5T_STD_I64LE, H5T_NATIVE_INT64,
                                  3 * (int64_t)n_cells, 1);
  unsigned char *types =
      read_dataset(file, "VTKHDF/Types", H5T_STD_U8LE, H5T_NATIVE_UCHAR, n_cells, 1);
  for (int64_t c = 0; c < n_cells; ++c) {
    assert_int_equal(types[c], 5);
    for (int64_t l = 0; l < 3; ++l) assert_int_equal(corners[3 * c + l], l == 0 ? 0 : c + l);
  }
  free(types);
  free(corners);
  assert_true(H5Fclose(file) >= 0);
}

static void triangles_may_share_their_points(void **state)
{
  (void)state;
  const int32_t sizes[] = {1, 2, 9, 70001};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    kg_vtkhdf *file = begin_fan(sizes[i]);
    write_fan(file, sizes[i]);
    assert_int_equal(kg_vtkhdf_finish(file), KEDGE_OK);
    assert_fan(sizes[i]);
  }
}

static void shared_points_and_cells_are_counted_apart(void **state)
{
  (void)state;
  const double xyz[3 * 8] = {0};
  const int32_t corners[3 * 8] = {0};
  kg_vtkhdf *file;
  assert_int_equal(kg_vtkhdf_create_shared(ctx, "a.hdf", 1, 2, &file), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx),
                      "cannot write a.hdf: 1 cells of 2 points; at least one, of 3");
  unlink(path);
  file = begin_fan(4);
  assert_int_equal(kg_vtkhdf_write_points(file, 1, 6, xyz), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "6 points from point 1 on do not fit"));
  assert_int_equal(kg_vtkhdf_write_triangles(file, 0, 5, corners), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "5 cells from cell 0 on do not fit"));
  write_fan(file, 3);
  assert_int_equal(kg_vtkhdf_finish(file), KEDGE_ERR_INTERNAL);
  assert_non_null(strstr(kedge_context_error(ctx), "Points of "));
  assert_non_null(strstr(kedge_context_error(ctx), "was written for 5 of 6 points"));
  file = begin_file(4);
  assert_int_equal(kg_vtkhdf_write_triangles(file, 0, 4, corners), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "have points of their own"));
  kg_vtkhdf_abandon(file);
  assert_int_equal(entries_of_folder(NULL), 0);
}

static void a_link_is_followed(void **state)
{
  (void)state;
  char link_name[160];
  snprintf(link_name, sizeof link_name, "%s/link.vtkhdf", folder);
  write_file(3);
  assert_int_equal(symlink(path, link_name), 0);
  char plain[sizeof path];
  memcpy(plain, path, sizeof plain);
  snprintf(path, sizeof path, "%s/link.vtkhdf", folder);
  write_file(5);
  struct stat info;
  assert_int_equal(lstat(path, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  unlink(path);
  memcpy(path, plain, sizeof path);
  assert_file(5);
}

static void assert_refused(const char *where, const char *sentence)
{
  kg_vtkhdf *file = (kg_vtkhdf *)&where;
  assert_int_equal(kg_vtkhdf_create(ctx, where, 2, 4, &file), KEDGE_ERR_IO);
  assert_null(file);
  assert_string_equal(kedge_context_error(ctx), sentence);
}

static void places_that_cannot_be_written_are_refused_at_once(void **state)
{
  (void)state;
  assert_refused("/nonexistent/a.vtkhdf",
                 "cannot write /nonexistent/a.vtkhdf: No such file or directory");
  assert_refused("/dev/null", "cannot write /dev/null: it must be a regular file");
  assert_refused("/tmp", "cannot write /tmp: it is a folder");
}

static void a_read_only_folder_is_refused(void **state)
{
  (void)state;
  if (geteuid() == 0) skip();  // root may write everywhere
  assert_int_equal(chmod(folder, 0500), 0);
  char sentence[256];
  snprintf(sentence, sizeof sentence, "cannot write %s: Permission denied", path);
  assert_refused(path, sentence);
  assert_int_equal(chmod(folder, 0700), 0);
}

static void wrong_calls_are_refused(void **state)
{
  (void)state;
  kg_vtkhdf *file;
  assert_int_equal(kg_vtkhdf_create(ctx, "a.hdf", 11, 4, &file), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx),
                      "cannot write a.hdf: 4 cells of order 11; at least one, of order 1 to 10");
  assert_int_equal(kg_vtkhdf_create(ctx, "a.hdf", 2, 0, &file), KEDGE_ERR_ARG);

  file = begin_file(4);
  assert_int_equal(kg_vtkhdf_point_field(file, "v", 2), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "has 2 components; 1 or 3 are possible"));
  assert_int_equal(kg_vtkhdf_cell_field(file, "a.b", false), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "\"a.b\" cannot name a field"));
  assert_int_equal(kg_vtkhdf_point_field(file, "u", 1), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "has a field u already"));
  const double values[4 * NODES] = {0};
  assert_int_equal(kg_vtkhdf_write(file, "w", 0, 4, values), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "has no field w; declare it first"));
  assert_int_equal(kg_vtkhdf_write(file, "u", 1, 4, values), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "4 cells from cell 1 on do not fit"));
  assert_int_equal(kg_vtkhdf_write(file, "u", 0, 4, values), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_point_field(file, "late", 1), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "comes too late"));
  kg_vtkhdf_abandon(file);
}

static void an_incomplete_file_is_not_published(void **state)
{
  (void)state;
  unlink(path);
  kg_vtkhdf *file = begin_file(9);
  write_chunk(file, 0, 8);
  assert_int_equal(kg_vtkhdf_finish(file), KEDGE_ERR_INTERNAL);
  assert_non_null(strstr(kedge_context_error(ctx), "was written for 8 of 9 cells"));
  assert_int_equal(entries_of_folder(NULL), 0);
}

static void an_abandoned_file_leaves_nothing(void **state)
{
  (void)state;
  unlink(path);
  kg_vtkhdf *file = begin_file(8);
  write_chunk(file, 0, 8);
  assert_int_equal(entries_of_folder(NULL), 1);
  kg_vtkhdf_abandon(file);
  kg_vtkhdf_abandon(NULL);
  assert_int_equal(entries_of_folder(NULL), 0);
}

/// A limit of the file size stands in for a full disk. Its own process, which also shows that HDF5
/// leaves it in peace at exit.
static void a_full_disk_is_a_sentence_and_leaves_nothing(void **state)
{
  (void)state;
  unlink(path);
  for (rlim_t limit = 0; limit < 400000; limit = 2 * limit + 1000) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      signal(SIGXFSZ, SIG_IGN);
      setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit});
      kg_vtkhdf *file = NULL;
      static double points[1000 * NODES * 3];
      kedge_status status = kg_vtkhdf_create(ctx, path, ORDER, 1000, &file);
      if (status == KEDGE_OK) status = kg_vtkhdf_write_points(file, 0, 1000, points);
      kg_vtkhdf_abandon(file);
      const char *sentence = kedge_context_error(ctx);
      const bool right = status == KEDGE_ERR_IO && strstr(sentence, "cannot write") &&
                         strstr(sentence, "no room for its") && strstr(sentence, "File too large");
      exit(right ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    assert_int_equal(entries_of_folder(NULL), 0);
  }
}

/// A writer that is killed in the middle; returns when it is dead.
static void kill_a_writer_in_the_middle(void)
{
  int ready[2] = {-1, -1};
  assert_int_equal(pipe(ready), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    kg_vtkhdf *file = begin_file(16);
    write_chunk(file, 0, 8);
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char byte;
  assert_int_equal(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(ready[0]);
  close(ready[1]);
}

static void a_killed_writer_leaves_no_file_that_looks_complete(void **state)
{
  (void)state;
  unlink(path);
  kill_a_writer_in_the_middle();
  assert_int_not_equal(access(path, F_OK), 0);
  char name[256] = "", left[400];
  assert_int_equal(entries_of_folder(name), 1);
  assert_int_equal(name[0], '.');
  const char *extension = strrchr(name, '.');
  assert_string_not_equal(extension, ".vtkhdf");
  assert_string_not_equal(extension, ".hdf");
  snprintf(left, sizeof left, "%s/%s", folder, name);
  assert_int_equal(unlink(left), 0);
}

static void a_killed_writer_leaves_the_older_file_alone(void **state)
{
  (void)state;
  write_file(5);
  kill_a_writer_in_the_middle();
  assert_file(5);
  char left[400];
  DIR *stream = opendir(folder);
  assert_non_null(stream);
  for (const struct dirent *entry; (entry = readdir(stream));)
    if (strstr(entry->d_name, ".partial")) {
      snprintf(left, sizeof left, "%s/%s", folder, entry->d_name);
      unlink(left);
    }
  closedir(stream);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_in_chunks_is_read_back),
      cmocka_unit_test(topology_longer_than_its_buffer_is_complete),
      cmocka_unit_test(triangles_may_share_their_points),
      cmocka_unit_test(shared_points_and_cells_are_counted_apart),
      cmocka_unit_test(a_link_is_followed),
      cmocka_unit_test(places_that_cannot_be_written_are_refused_at_once),
      cmocka_unit_test(a_read_only_folder_is_refused),
      cmocka_unit_test(wrong_calls_are_refused),
      cmocka_unit_test(an_incomplete_file_is_not_published),
      cmocka_unit_test(an_abandoned_file_leaves_nothing),
      cmocka_unit_test(a_full_disk_is_a_sentence_and_leaves_nothing),
      cmocka_unit_test(a_killed_writer_leaves_no_file_that_looks_complete),
      cmocka_unit_test(a_killed_writer_leaves_the_older_file_alone),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
