// Files that were written by kedge and damaged since: each is refused with a sentence, and nothing
// is read that is not there.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kedge/solution.h"
#include "vtkhdf_case.h"

enum { CELLS = 3 };

static void assert_refused(const char *file, const char *name, const char *words)
{
  static double values[CELLS * NODES * 3];
  int64_t count = CELLS * NODES * 3;
  kedge_status status = kedge_output_read(ctx, file, name, &count, values);
  if (status == KEDGE_OK) fail_msg("%s was read", name);
  assert_true(status == KEDGE_ERR_IO || status == KEDGE_ERR_INPUT);
  if (!strstr(kedge_context_error(ctx), words))
    fail_msg("'%s' is not in '%s'", words, kedge_context_error(ctx));
}

static hid_t change(void)
{
  write_file(CELLS);
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(file >= 0);
  return file;
}

/// Write other values over those of a dataset.
static void overwrite(const char *name, hid_t type, const void *values)
{
  const hid_t file = change(), dataset = H5Dopen2(file, name, H5P_DEFAULT);
  assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(dataset);
  assert_true(H5Fclose(file) >= 0);
}

/// Put another dataset into the place of one, [rows] or, columns > 0, [rows][columns].
static void replace(const char *name, hid_t type, hsize_t rows, hsize_t columns, hid_t properties)
{
  const hid_t file = change(),
              space = H5Screate_simple(columns ? 2 : 1, (hsize_t[]){rows, columns}, NULL);
  const hid_t early = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_alloc_time(early, H5D_ALLOC_TIME_EARLY);
  if (properties == H5P_DEFAULT) properties = early;
  assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  assert_true(dataset >= 0);
  H5Pclose(early);
  H5Dclose(dataset);
  H5Sclose(space);
  assert_true(H5Fclose(file) >= 0);
}

static void cells_that_are_not_there_are_refused(void **state)
{
  (void)state;
  const int64_t back[CELLS + 1] = {0, 20, 10, 30}, late[CELLS + 1] = {10, 20, 30, 40};
  const unsigned char mixed[CELLS] = {69, 70, 69}, linear[CELLS] = {69, 5, 69}, none[CELLS] = {0};
  overwrite("VTKHDF/Offsets", H5T_NATIVE_INT64, back);
  assert_refused(path, "Offsets", "is damaged: VTKHDF/Offsets has 0 and 20 for cell 0, of type 69");
  assert_refused(path, "Types", "VTKHDF/Offsets has 0 and 20");
  overwrite("VTKHDF/Offsets", H5T_NATIVE_INT64, late);
  assert_refused(path, "Offsets", "VTKHDF/Offsets has 30 and 40 for cell 2, of type 69");
  overwrite("VTKHDF/Types", H5T_NATIVE_UCHAR, mixed);
  assert_refused(path, "Offsets", "VTKHDF/Offsets has 10 and 20 for cell 1, of type 70");
  overwrite("VTKHDF/Types", H5T_NATIVE_UCHAR, linear);
  assert_refused(path, "Types", "VTKHDF/Types has 5 for cell 1");
  overwrite("VTKHDF/Types", H5T_NATIVE_UCHAR, none);
  assert_refused(path, "Types", "VTKHDF/Types has 0 for cell 0");
  int64_t points[CELLS * NODES] = {0};
  points[7] = CELLS * NODES;
  overwrite("VTKHDF/Connectivity", H5T_NATIVE_INT64, points);
  assert_refused(path, "Connectivity", "VTKHDF/Connectivity has point 30, of 30");
}

static void counts_are_compared(void **state)
{
  (void)state;
  static const char *const counts[] = {"NumberOfPoints", "NumberOfCells",
                                       "NumberOfConnectivityIds"};
  const int64_t wrong[] = {INT64_MAX, -1, 31};
  for (int i = 0; i < 3; ++i) {
    char name[64], words[64];
    snprintf(name, sizeof name, "VTKHDF/%s", counts[i]);
    snprintf(words, sizeof words, "%s is not %d", name, i == 1 ? CELLS : CELLS * NODES);
    overwrite(name, H5T_NATIVE_INT64, &wrong[i]);
    assert_refused(path, "PointData/u", words);
  }
  replace("VTKHDF/Offsets", H5T_STD_I64LE, CELLS, 0, H5P_DEFAULT);
  assert_refused(path, "Points", "Offsets has 3 numbers, and 3 cells need one more");
  replace("VTKHDF/PointData/u", H5T_IEEE_F64LE, CELLS * NODES + 1, 0, H5P_DEFAULT);
  assert_refused(path, "PointData/u", "PointData/u has 31 rows, and there are 30 points");
  replace("VTKHDF/CellData/region", H5T_STD_I32LE, 1, 0, H5P_DEFAULT);
  assert_refused(path, "CellData/region", "CellData/region has 1 rows, and there are 3 cells");
  replace("VTKHDF/Points", H5T_IEEE_F64LE, CELLS * NODES, 2, H5P_DEFAULT);
  assert_refused(path, "Points", "Points is not of 3 real numbers a row");
}

static void numbers_of_other_forms_are_refused(void **state)
{
  (void)state;
  const hid_t text = H5Tcopy(H5T_C_S1), odd = H5Tcopy(H5T_IEEE_F64LE);
  assert_true(H5Tset_size(text, 8) >= 0 && H5Tset_fields(odd, 60, 50, 10, 0, 50) >= 0);
  replace("VTKHDF/Types", text, CELLS, 0, H5P_DEFAULT);
  assert_refused(path, "Types", "holds no numbers Types");
  assert_refused(path, "Offsets", "it has no numbers VTKHDF/Types");
  replace("VTKHDF/PointData/u", odd, CELLS * NODES, 0, H5P_DEFAULT);
  assert_refused(path, "PointData/u", "holds no numbers PointData/u");
  replace("VTKHDF/Offsets", H5T_IEEE_F64LE, CELLS + 1, 0, H5P_DEFAULT);
  assert_refused(path, "Offsets", "Offsets is not of 1 integers a row");
  H5Tclose(odd);
  H5Tclose(text);
}

static void numbers_that_are_not_in_the_file_are_refused(void **state)
{
  (void)state;
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  assert_true(H5Pset_chunk(properties, 1, (hsize_t[]){1000}) >= 0);
  replace("VTKHDF/FieldData/relative_residual", H5T_IEEE_F64LE, (hsize_t)1 << 60, 0, properties);
  assert_refused(path, "FieldData/relative_residual", "relative_residual are not in it");
  H5Pset_layout(properties, H5D_CONTIGUOUS);
  replace("VTKHDF/PointData/u", H5T_IEEE_F64LE, (hsize_t)1 << 50, 0, properties);
  assert_refused(path, "PointData/u", "the numbers of VTKHDF/PointData/u are not in it");
  assert_true(H5Pset_external(properties, "/etc/passwd", 0, 8 * CELLS * NODES) >= 0);
  replace("VTKHDF/PointData/u", H5T_IEEE_F64LE, CELLS * NODES, 0, properties);
  assert_refused(path, "PointData/u", "the numbers of VTKHDF/PointData/u are not in it");
  H5Pclose(properties);
  write_file(CELLS);
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(truncate(path, info.st_size / 2), 0);
  assert_refused(path, "Points", "cannot read ");
}

/// Chunks and filters, as of h5repack, are read like what kedge writes.
static void a_packed_file_is_read(void **state)
{
  (void)state;
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, 1, (hsize_t[]){CELLS * NODES});
  H5Pset_shuffle(properties);
  H5Pset_deflate(properties, 1);
  replace("VTKHDF/PointData/u", H5T_IEEE_F64LE, CELLS * NODES, 0, properties);
  H5Pclose(properties);
  double values[CELLS * NODES], read[CELLS * NODES];
  for (int i = 0; i < CELLS * NODES; ++i) values[i] = 0.5 * i;
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, "VTKHDF/PointData/u", H5P_DEFAULT);
  assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(dataset);
  assert_true(H5Fclose(file) >= 0);
  int64_t count = CELLS * NODES;
  assert_int_equal(kedge_output_read(ctx, path, "PointData/u", &count, read), KEDGE_OK);
  assert_memory_equal(values, read, sizeof values);
}

/// Files on which HDF5 1.10 dies: a message of a header that says it lies elsewhere, an address
/// beside the file, a heap of 2^64 - 1 bytes; and a shape that is larger than its largest.
static void files_on_which_hdf5_dies_are_refused(void **state)
{
  (void)state;
  static const char *const found[][3] = {
      {"shared_header", "Points", "is not that of a file of kedge"},
      {"tree_beside", "Points", "cannot read "},
      {"heap_size", "PointData/u", "cannot read "},
      {"other_shape", "FieldData/converged", "FieldData/converged are not in it"}};
  for (size_t i = 0; i < sizeof found / sizeof *found; ++i) {
    char file[PATH_MAX];
    snprintf(file, sizeof file, KEDGE_SOURCE_DIR "/tests/fuzz/corpus/output/%s", found[i][0]);
    assert_refused(file, found[i][1], found[i][2]);
  }
}

static void what_is_no_file_is_not_waited_for(void **state)
{
  (void)state;
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_refused(path, "Points", "it is no regular file");
  assert_refused("/dev/zero", "Points", "it is no regular file");
  assert_refused("/tmp", "Points", "it is no regular file");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_that_are_not_there_are_refused),
      cmocka_unit_test(counts_are_compared),
      cmocka_unit_test(numbers_of_other_forms_are_refused),
      cmocka_unit_test(numbers_that_are_not_in_the_file_are_refused),
      cmocka_unit_test(a_packed_file_is_read),
      cmocka_unit_test(files_on_which_hdf5_dies_are_refused),
      cmocka_unit_test(what_is_no_file_is_not_waited_for),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
