// VTKHDF files: what is written is there, as VTK wants it.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kedge/solution.h"
#include "vtkhdf_case.h"

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
  assert_int_equal(
      kg_vtkhdf_create_shared(ctx, path, &(kg_vtkhdf_cells){.n = n_cells}, n_cells + 2, &file),
      KEDGE_OK);
  kg_vtkhdf_cell_field(file, "error", KG_ITEM_F64, 1);
  kg_vtkhdf_cell_field(file, "q", KG_ITEM_F64, 3);
  kg_vtkhdf_point_field(file, "height", 1);
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
  assert_int_equal(kg_vtkhdf_write_corners(file, half, rest, corners + 3 * half), KEDGE_OK);
  assert_int_equal(kg_vtkhdf_write_corners(file, 0, half, corners), KEDGE_OK);
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
  unlink(path);
  kg_vtkhdf *file = begin_fan(4);
  write_fan(file, 3);
  assert_int_equal(kg_vtkhdf_finish(file), KEDGE_ERR_INTERNAL);
  assert_non_null(strstr(kedge_context_error(ctx), "Points of "));
  assert_non_null(strstr(kedge_context_error(ctx), "was written for 5 of 6 points"));
  assert_int_equal(entries_of_folder(NULL), 0);
}

/// Which cells are quadrilaterals: by `pattern` all (0), or some.
static bool is_quadrilateral(int pattern, int64_t c)
{
  return pattern == 0 || c % (pattern + 1) == 1;
}

static int nodes_of(int pattern, int64_t c)
{
  return is_quadrilateral(pattern, c) ? (ORDER + 1) * (ORDER + 1) : NODES;
}

enum { MIXED = 1001, MIXED_CHUNK = 100 };

static kg_vtkhdf *begin_mixed(int pattern, int64_t n_points, bool shape[MIXED])
{
  kg_vtkhdf_cells cells = {.n = MIXED, .is_quadrilateral = shape};
  for (int c = 0; c < MIXED; ++c) {
    shape[c] = is_quadrilateral(pattern, c);
    cells.n_quadrilaterals += shape[c];
  }
  kg_vtkhdf *file;
  assert_int_equal(n_points > 0 ? kg_vtkhdf_create_shared(ctx, path, &cells, n_points, &file)
                                : kg_vtkhdf_create(ctx, path, ORDER, &cells, &file),
                   KEDGE_OK);
  return file;
}

/// Chunks from the back to the front.
static void write_mixed(int pattern)
{
  static double xyz[MIXED_CHUNK * 16 * 3], u[MIXED_CHUNK * 16];
  bool shape[MIXED];
  kg_vtkhdf *file = begin_mixed(pattern, 0, shape);
  kg_vtkhdf_point_field(file, "u", 1);
  kg_vtkhdf_cell_field(file, "error", KG_ITEM_F64, 1);
  for (int64_t first = MIXED - 1; first > -MIXED_CHUNK; first -= MIXED_CHUNK) {
    const int64_t begin = first < 0 ? 0 : first, end = first + MIXED_CHUNK;
    const int64_t count = (end < MIXED ? end : MIXED) - begin;
    double error[MIXED_CHUNK];
    int n = 0;
    for (int64_t c = begin; c < begin + count; ++c) {
      error[c - begin] = value_of(2, c, 0);
      for (int i = 0; i < nodes_of(pattern, c); ++i, ++n) {
        u[n] = value_of(1, c, i);
        for (int k = 0; k < 3; ++k) xyz[3 * n + k] = value_of(0, c, 3 * i + k);
      }
    }
    assert_int_equal(kg_vtkhdf_write_points(file, begin, count, xyz), KEDGE_OK);
    assert_int_equal(kg_vtkhdf_write(file, "u", begin, count, u), KEDGE_OK);
    assert_int_equal(kg_vtkhdf_write(file, "error", begin, count, error), KEDGE_OK);
  }
  assert_int_equal(kg_vtkhdf_finish(file), KEDGE_OK);
}

static void assert_types(hid_t file, int pattern, unsigned char triangle, unsigned char other)
{
  unsigned char *types =
      read_dataset(file, "VTKHDF/Types", H5T_STD_U8LE, H5T_NATIVE_UCHAR, MIXED, 1);
  for (int64_t c = 0; c < MIXED; ++c)
    assert_int_equal(types[c], is_quadrilateral(pattern, c) ? other : triangle);
  free(types);
}

static void cells_of_both_shapes_lie_in_the_order_of_the_caller(void **state)
{
  (void)state;
  for (int pattern = 0; pattern < 4; ++pattern) {
    int64_t n = 0, *offsets;
    for (int64_t c = 0; c < MIXED; ++c) n += nodes_of(pattern, c);
    write_mixed(pattern);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_integers(file, "VTKHDF/NumberOfPoints", 1, n, 0);
    assert_integers(file, "VTKHDF/NumberOfConnectivityIds", 1, n, 0);
    assert_integers(file, "VTKHDF/Connectivity", n, 0, 1);
    assert_types(file, pattern, 69, 70);
    assert_field(file, "VTKHDF/CellData/error", 2, MIXED, 1, 1);
    offsets = read_dataset(file, "VTKHDF/Offsets", H5T_STD_I64LE, H5T_NATIVE_INT64, MIXED + 1, 1);
    double *xyz = read_dataset(file, "VTKHDF/Points", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, n, 3);
    double *u = read_dataset(file, "VTKHDF/PointData/u", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, n, 1);
    int64_t at = 0;
    for (int64_t c = 0; c < MIXED; ++c) {
      assert_int_equal(offsets[c], at);
      for (int i = 0; i < nodes_of(pattern, c); ++i, ++at) {
        assert_true(u[at] == value_of(1, c, i));
        for (int k = 0; k < 3; ++k) assert_true(xyz[3 * at + k] == value_of(0, c, 3 * i + k));
      }
    }
    assert_int_equal(offsets[MIXED], n);
    free(offsets);
    free(xyz);
    free(u);
    assert_true(H5Fclose(file) >= 0);
  }
}

static void quadrilaterals_share_points_too(void **state)
{
  (void)state;
  for (int pattern = 0; pattern < 2; ++pattern) {
    int32_t corners[4 * MIXED];
    bool shape[MIXED];
    const double xyz[3 * 4] = {0};
    int32_t n = 0;
    kg_vtkhdf *file = begin_mixed(pattern, 4, shape);
    assert_int_equal(kg_vtkhdf_write_points(file, 0, 4, xyz), KEDGE_OK);
    for (int c = 0; c < MIXED; ++c)
      for (int l = 0; l < (shape[c] ? 4 : 3); ++l, ++n) corners[n] = n;
    const int32_t half = shape[0] + shape[1] + 6;  // corners of two cells
    assert_int_equal(kg_vtkhdf_write_corners(file, 2, MIXED - 2, corners + half), KEDGE_OK);
    assert_int_equal(kg_vtkhdf_write_corners(file, 0, 2, corners), KEDGE_OK);
    assert_int_equal(kg_vtkhdf_finish(file), KEDGE_OK);
    const hid_t opened = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(opened >= 0);
    assert_integers(opened, "VTKHDF/NumberOfConnectivityIds", 1, n, 0);
    assert_integers(opened, "VTKHDF/Connectivity", n, 0, 1);
    assert_types(opened, pattern, 5, 9);
    assert_true(H5Fclose(opened) >= 0);
  }
}

static void assert_refused(const char *file, const char *name, kedge_status status,
                           const char *words)
{
  double value[2];
  int64_t count = 2;
  assert_int_equal(kedge_output_read(ctx, file, name, &count, value), status);
  if (!strstr(kedge_context_error(ctx), words))
    fail_msg("'%s' is not in '%s'", words, kedge_context_error(ctx));
}

static void arrays_are_read_by_name_or_refused_by_it(void **state)
{
  (void)state;
  enum { CELLS = 3 };
  int64_t count = 0;
  double values[CELLS * NODES * 3];
  assert_int_equal(kedge_output_ready(ctx), KEDGE_OK);
  write_file(CELLS);
  assert_int_equal(kedge_output_read(ctx, path, "PointData/q", &count, NULL), KEDGE_OK);
  assert_int_equal(count, CELLS * NODES * 3);
  assert_int_equal(kedge_output_read(ctx, path, "PointData/q", &count, values), KEDGE_OK);
  for (int i = 0; i < CELLS * NODES * 3; ++i)
    assert_true(values[i] == value_of(1, i / (NODES * 3), i % (NODES * 3)));
  count = CELLS;
  assert_int_equal(kedge_output_read(ctx, path, "CellData/region", &count, values), KEDGE_OK);
  assert_true(count == CELLS && values[2] == -14.0);
  count = 1;
  assert_int_equal(kedge_output_read(ctx, path, "FieldData/relative_residual", &count, values),
                   KEDGE_OK);
  assert_true(values[0] == 1.25e-13);
  assert_refused(path, "CellData/error", KEDGE_ERR_ARG, "has 3 numbers, and there is room for 2");
  assert_refused(path, "CellData/v", KEDGE_ERR_INPUT, "holds no numbers CellData/v");
  assert_refused(path, "Celldata/error", KEDGE_ERR_INPUT, "holds no numbers Celldata/error");
  assert_refused(path, "CellData", KEDGE_ERR_INPUT, "holds no numbers CellData");
  assert_refused("none.vtkhdf", "Points", KEDGE_ERR_IO, "cannot read none.vtkhdf: No such file");
  const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(H5Ldelete(file, "kedge", H5P_DEFAULT) >= 0 && H5Fclose(file) >= 0);
  assert_refused(path, "Points", KEDGE_ERR_INPUT, "is no output of kedge");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_in_chunks_is_read_back),
      cmocka_unit_test(topology_longer_than_its_buffer_is_complete),
      cmocka_unit_test(triangles_may_share_their_points),
      cmocka_unit_test(cells_of_both_shapes_lie_in_the_order_of_the_caller),
      cmocka_unit_test(quadrilaterals_share_points_too),
      cmocka_unit_test(shared_points_and_cells_are_counted_apart),
      cmocka_unit_test(arrays_are_read_by_name_or_refused_by_it),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
