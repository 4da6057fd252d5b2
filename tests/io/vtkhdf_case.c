#include "vtkhdf_case.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

kedge_context *ctx;
char folder[] = "/tmp/kedge_vtkhdf_XXXXXX";
char path[128];

int set_up(void **state)
{
  (void)state;
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = KEDGE_BACKEND_HOST;
  if (!mkdtemp(folder) || kedge_context_create(&options, &ctx) != KEDGE_OK) return -1;
  snprintf(path, sizeof path, "%s/field.vtkhdf", folder);
  return 0;
}

int tear_down(void **state)
{
  (void)state;
  unlink(path);
  kedge_context_destroy(ctx);
  return rmdir(folder);  // fails, and the group with it, when a test left a file behind
}

int entries_of_folder(char name[256])
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

double value_of(int dataset, int64_t cell, int64_t place)
{
  return 1e6 * dataset + (double)cell + 1e-3 * (double)place;
}

void write_chunk(kg_vtkhdf *file, int64_t first, int64_t count)
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

kg_vtkhdf *begin_file(int64_t n_cells)
{
  kg_vtkhdf *file;
  assert_int_equal(kg_vtkhdf_create(ctx, path, ORDER, &(kg_vtkhdf_cells){.n = n_cells}, &file),
                   KEDGE_OK);
  kg_vtkhdf_point_field(file, "q", 3);
  kg_vtkhdf_point_field(file, "u", 1);
  kg_vtkhdf_cell_field(file, "error", KG_ITEM_F64, 1);
  kg_vtkhdf_cell_field(file, "region", KG_ITEM_I32, 1);
  kg_vtkhdf_number(file, "relative_residual", 1.25e-13);
  return file;
}

void write_file(int64_t n_cells)
{
  kg_vtkhdf *file = begin_file(n_cells);
  for (int64_t first = (n_cells - 1) / 8 * 8; first >= 0; first -= 8)
    write_chunk(file, first, n_cells - first < 8 ? n_cells - first : 8);
  assert_int_equal(kg_vtkhdf_finish(file), KEDGE_OK);
}

void *read_dataset(hid_t file, const char *name, hid_t file_type, hid_t memory_type, int64_t rows,
                   int components)
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

void assert_field(hid_t file, const char *name, int dataset, int64_t n_cells, int nodes,
                  int components)
{
  double *values =
      read_dataset(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, n_cells * nodes, components);
  const int64_t each = (int64_t)nodes * components;
  for (int64_t i = 0; i < n_cells * each; ++i)
    assert_true(values[i] == value_of(dataset, i / each, i % each));
  free(values);
}

void assert_integers(hid_t file, const char *name, int64_t n, int64_t begin, int64_t step)
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

void assert_file(int64_t n_cells)
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
