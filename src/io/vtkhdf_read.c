#include "io/vtkhdf_read.h"

#include <errno.h>
#include <hdf5.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/vtkhdf_driver.h"

// The bytes that one byte of a compressed file stands for are 1032 at most (deflate).
#define DEFLATE_MOST 1032

/// A file that is read, and why it is refused.
typedef struct reading {
  hid_t file;
  int64_t bytes;  ///< size of the file
  kg_hdf5_reason *why;
} reading;

/// An open dataset, [rows] or [rows][components], whose numbers are all in the file.
typedef struct dataset {
  hid_t id;
  bool whole;  ///< its numbers are integers
  int64_t rows, n;
} dataset;

/// The numbers of points, cells and corners or nodes of cells.
typedef struct sizes {
  int64_t points, cells, ids;
} sizes;

/// Say what is wrong, in place of what HDF5 may have said.
__attribute__((format(printf, 2, 3))) static kg_hdf5_finding damaged(const reading *r,
                                                                     const char *format, ...)
{
  const int n = snprintf(r->why->text, sizeof r->why->text, "it is damaged: ");
  va_list args;
  va_start(args, format);
  vsnprintf(r->why->text + n, sizeof r->why->text - (size_t)n, format, args);
  va_end(args);
  return KG_HDF5_FAILED;
}

/// What an object is, from its header. A message of the header that is shared lies elsewhere: in
/// files of kedge none does, and versions of HDF5 before 1.14 die where nothing is there.
static kg_hdf5_finding look_at(const reading *r, const char *path, H5O_type_t *type)
{
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info;
  H5O_native_info_t native;
  const bool known =
      H5Oget_info_by_name3(r->file, path, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
      H5Oget_native_info_by_name(r->file, path, &native, H5O_NATIVE_INFO_HDR, H5P_DEFAULT) >= 0;
  const bool shares = known && native.hdr.mesg.shared != 0;
#else
  H5O_info_t info;
  const bool known =
      H5Oget_info_by_name2(r->file, path, &info, H5O_INFO_BASIC | H5O_INFO_HDR, H5P_DEFAULT) >= 0;
  const bool shares = known && info.hdr.mesg.shared != 0;
#endif
  if (!known) return KG_HDF5_FAILED;
  if (shares) return damaged(r, "the header of %s is not that of a file of kedge", path);
  *type = info.type;
  return KG_HDF5_FOUND;
}

/// Whether all groups on the way to an object are there, and it is.
static kg_hdf5_finding find(const reading *r, const char *path, H5O_type_t *type)
{
  char part[128];
  for (const char *end = path; end;) {
    end = strchr(end + 1, '/');
    snprintf(part, sizeof part, "%.*s", end ? (int)(end - path) : (int)strlen(path), path);
    const htri_t there = H5Lexists(r->file, part, H5P_DEFAULT);
    if (there <= 0) return there < 0 ? KG_HDF5_FAILED : KG_HDF5_NOT_THERE;
    const kg_hdf5_finding found = look_at(r, part, type);
    if (found != KG_HDF5_FOUND) return found;
    if (end && *type != H5O_TYPE_GROUP) return KG_HDF5_NOT_THERE;
  }
  return KG_HDF5_FOUND;
}

/// Bytes of a number that HDF5 converts as the processor does; 0: it is no number, or of a form
/// that no kedge writes.
static int64_t number_bytes(hid_t id, bool *whole)
{
  const hid_t integers[] = {H5T_STD_I8LE,  H5T_STD_U8LE,  H5T_STD_I16LE, H5T_STD_U16LE,
                            H5T_STD_I32LE, H5T_STD_U32LE, H5T_STD_I64LE, H5T_STD_U64LE};
  const hid_t type = H5Dget_type(id);
  *whole = false;
  for (size_t i = 0; i < sizeof integers / sizeof *integers; ++i)
    if (H5Tequal(type, integers[i]) > 0) *whole = true;
  const bool real = H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F64LE) > 0;
  const int64_t bytes = *whole || real ? (int64_t)H5Tget_size(type) : 0;
  H5Tclose(type);
  return bytes;
}

/// Whether the numbers of a dataset are where it says: all bytes in the file, or, where they are
/// compressed, in chunks no larger than it and no more than a file of this size can stand for.
static bool is_stored(const reading *r, hid_t id, int rank, const hsize_t *shape, int64_t bytes)
{
  const hid_t properties = H5Dget_create_plist(id);
  const H5D_layout_t layout = H5Pget_layout(properties);
  hsize_t chunk[2] = {0, 0};
  bool good = false;
  if (layout == H5D_CONTIGUOUS && H5Pget_external_count(properties) == 0) {
    const haddr_t offset = H5Dget_offset(id);
    good = offset <= (haddr_t)r->bytes && bytes <= r->bytes - (int64_t)offset &&
           H5Dget_storage_size(id) == (hsize_t)bytes;
  } else if (layout == H5D_COMPACT) {
    good = bytes <= r->bytes && H5Dget_storage_size(id) == (hsize_t)bytes;
  } else if (layout == H5D_CHUNKED) {
    good = rank > 0 && H5Pget_chunk(properties, 2, chunk) == rank && chunk[0] <= shape[0] &&
           chunk[1] <= shape[1];
  }
  H5Pclose(properties);
  return good;
}

/// Open a dataset and compare what it says of itself with the file.
/// @param[in] path  "VTKHDF/Points"
static kg_hdf5_finding open_dataset(const reading *r, const char *path, dataset *d)
{
  H5O_type_t type;
  kg_hdf5_finding found = find(r, path, &type);
  if (found != KG_HDF5_FOUND) return found;
  if (type != H5O_TYPE_DATASET) return KG_HDF5_NOT_THERE;
  *d = (dataset){.id = H5Dopen2(r->file, path, H5P_DEFAULT)};
  if (d->id < 0) return KG_HDF5_FAILED;
  const int64_t size = number_bytes(d->id, &d->whole);
  const hid_t space = H5Dget_space(d->id);
  const int rank = H5Sget_simple_extent_ndims(space);
  hsize_t shape[2] = {1, 1};
  const bool simple = rank >= 0 && rank <= 2 && H5Sget_simple_extent_type(space) != H5S_NULL &&
                      H5Sget_simple_extent_dims(space, shape, NULL) >= 0;
  H5Sclose(space);
  const int64_t most = r->bytes < INT64_MAX / DEFLATE_MOST ? DEFLATE_MOST * r->bytes : INT64_MAX;
  if (size == 0)
    found = KG_HDF5_NOT_THERE;
  else if (!simple || shape[0] > (hsize_t)(most / size) ||
           (shape[0] > 0 && shape[1] > (hsize_t)(most / size) / shape[0]) ||
           !is_stored(r, d->id, rank, shape, (int64_t)(shape[0] * shape[1]) * size))
    found = damaged(r, "the numbers of %s are not in it", path);
  d->rows = (int64_t)shape[0];
  d->n = (int64_t)(shape[0] * shape[1]);
  if (found != KG_HDF5_FOUND) H5Dclose(d->id);
  return found;
}

/// As open_dataset(), of one that every file has.
static kg_hdf5_finding open_own(const reading *r, const char *name, dataset *d)
{
  char path[64];
  snprintf(path, sizeof path, "VTKHDF/%s", name);
  const kg_hdf5_finding found = open_dataset(r, path, d);
  return found == KG_HDF5_NOT_THERE ? damaged(r, "it has no numbers %s", path) : found;
}

/// The rows of a dataset, and, components > 0, whether it has as many integers in each, or numbers.
static kg_hdf5_finding rows_of(const reading *r, const char *name, bool whole, int components,
                               int64_t *rows)
{
  dataset d;
  const kg_hdf5_finding found = open_own(r, name, &d);
  if (found != KG_HDF5_FOUND) return found;
  H5Dclose(d.id);
  if (d.whole != whole || d.n / components != d.rows || d.n % components != 0)
    return damaged(r, "VTKHDF/%s is not of %d %s a row", name, components,
                   whole ? "integers" : "real numbers");
  *rows = d.rows;
  return KG_HDF5_FOUND;
}

/// Compare one of the counts with what it counts.
static kg_hdf5_finding check_count(const reading *r, const char *name, int64_t expected)
{
  dataset d;
  int64_t count = -1;
  kg_hdf5_finding found = open_own(r, name, &d);
  if (found != KG_HDF5_FOUND) return found;
  const bool one = d.whole && d.n == 1;
  if (one && H5Dread(d.id, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &count) < 0)
    found = KG_HDF5_FAILED;
  H5Dclose(d.id);
  if (found == KG_HDF5_FOUND && (!one || count != expected))
    found = damaged(r, "VTKHDF/%s is not %lld", name, (long long)expected);
  return found;
}

static kg_hdf5_finding find_sizes(const reading *r, sizes *s)
{
  int64_t offsets = 0;
  kg_hdf5_finding found = rows_of(r, "Points", false, 3, &s->points);
  if (found == KG_HDF5_FOUND) found = rows_of(r, "Types", true, 1, &s->cells);
  if (found == KG_HDF5_FOUND) found = rows_of(r, "Connectivity", true, 1, &s->ids);
  if (found == KG_HDF5_FOUND) found = rows_of(r, "Offsets", true, 1, &offsets);
  if (found == KG_HDF5_FOUND) found = check_count(r, "NumberOfPoints", s->points);
  if (found == KG_HDF5_FOUND) found = check_count(r, "NumberOfCells", s->cells);
  if (found == KG_HDF5_FOUND) found = check_count(r, "NumberOfConnectivityIds", s->ids);
  if (found != KG_HDF5_FOUND) return found;
  if (s->cells == 0) return damaged(r, "it has no cells");
  if (offsets != s->cells + 1)
    return damaged(r, "VTKHDF/Offsets has %lld numbers, and %lld cells need one more than cells",
                   (long long)offsets, (long long)s->cells);
  return KG_HDF5_FOUND;
}

/// Compare the rows of an array that is asked for with what they belong to.
static kg_hdf5_finding check_rows(const reading *r, const char *name, const dataset *d,
                                  const sizes *s)
{
  const bool of_points = strncmp(name, "PointData/", 10) == 0;
  const bool of_cells = strncmp(name, "CellData/", 9) == 0;
  const int64_t expected = of_points ? s->points : s->cells;
  if ((of_points || of_cells) && d->rows != expected)
    return damaged(r, "VTKHDF/%s has %lld rows, and there are %lld %s", name, (long long)d->rows,
                   (long long)expected, of_points ? "points" : "cells");
  return d->n > 0 ? KG_HDF5_FOUND : damaged(r, "VTKHDF/%s is empty", name);
}

/// Nodes of a cell by its VTK type and the order of Lagrange cells; 0: kedge writes none of it.
static int64_t nodes_of(int type, int order)
{
  return type == 5                 ? 3
         : type == 9 || type == 10 ? 4
         : type == 68 && order > 0 ? order + 1
         : type == 69 && order > 0 ? (order + 1) * (order + 2) / 2
         : type == 70 && order > 0 ? (order + 1) * (order + 1)
         : type == 71 && order > 0 ? (order + 1) * (order + 2) * (order + 3) / 6
                                   : 0;
}

/// Lagrange cells: of lines, and those of elements.
static bool is_lagrange(int type)
{
  return type >= 68 && type <= 71;
}

/// The dimension of a cell: all cells of a file have one.
static int dimension_of(int type)
{
  return type == 68 ? 1 : type == 10 || type == 71 ? 3 : 2;
}

/// Whether every cell has the nodes of its type, and all of them are there.
static kg_hdf5_finding compare_cells(const reading *r, const sizes *s, const uint8_t *type,
                                     const int64_t *offset)
{
  enum { ORDER_MAX = 10 };
  const bool lagrange = is_lagrange(type[0]);
  int order = lagrange ? 1 : 0;
  const uint64_t first = (uint64_t)offset[1] - (uint64_t)offset[0];
  while (lagrange && order < ORDER_MAX && (uint64_t)nodes_of(type[0], order) != first) ++order;
  for (int64_t c = 0; c < s->cells; ++c) {
    const int64_t nodes = nodes_of(type[c], order);
    if (nodes == 0 || is_lagrange(type[c]) != lagrange ||
        dimension_of(type[c]) != dimension_of(type[0]))
      return damaged(r,
                     "VTKHDF/Types has %d for cell %lld, which is no type of kedge or not one of "
                     "the cells before",
                     type[c], (long long)c);
    if (offset[c] < 0 || offset[c] > s->ids - nodes || offset[c + 1] != offset[c] + nodes)
      return damaged(r, "VTKHDF/Offsets has %lld and %lld for cell %lld, of type %d",
                     (long long)offset[c], (long long)offset[c + 1], (long long)c, type[c]);
  }
  if (offset[0] != 0 || offset[s->cells] != s->ids || (lagrange && s->ids != s->points))
    return damaged(r, "VTKHDF/Offsets, Connectivity and Points differ in what they count");
  return KG_HDF5_FOUND;
}

static kg_hdf5_finding read_whole(const reading *r, const char *name, hid_t type, void *values)
{
  dataset d;
  const kg_hdf5_finding found = open_own(r, name, &d);
  if (found != KG_HDF5_FOUND) return found;
  const herr_t result = H5Dread(d.id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(d.id);
  return result < 0 ? KG_HDF5_FAILED : KG_HDF5_FOUND;
}

static kg_hdf5_finding check_cells(const reading *r, const sizes *s)
{
  uint8_t *const type = malloc((size_t)s->cells);
  int64_t *const offset = malloc(((size_t)s->cells + 1) * sizeof *offset);
  kg_hdf5_finding found = KG_HDF5_FAILED;
  if (!type || !offset)
    snprintf(r->why->text, sizeof r->why->text, "no host memory for its cells");
  else
    found = read_whole(r, "Types", H5T_NATIVE_UINT8, type);
  if (found == KG_HDF5_FOUND) found = read_whole(r, "Offsets", H5T_NATIVE_INT64, offset);
  if (found == KG_HDF5_FOUND) found = compare_cells(r, s, type, offset);
  free(offset);
  free(type);
  return found;
}

static kg_hdf5_finding check_points(const reading *r, const sizes *s, const double *point)
{
  for (int64_t i = 0; i < s->ids; ++i)
    if (!(point[i] >= 0 && point[i] < (double)s->points))
      return damaged(r, "VTKHDF/Connectivity has point %.0f, of %lld", point[i],
                     (long long)s->points);
  return KG_HDF5_FOUND;
}

static kg_hdf5_finding read_numbers(const reading *r, const char *name, const dataset *d,
                                    int64_t *count, double *values)
{
  sizes s = {0};
  kg_hdf5_finding found = find_sizes(r, &s);
  if (found == KG_HDF5_FOUND) found = check_rows(r, name, d, &s);
  if (found != KG_HDF5_FOUND) return found;
  const bool fits = !values || d->n <= *count;
  *count = d->n;
  if (!fits) return KG_HDF5_NO_ROOM;
  if (!values) return KG_HDF5_FOUND;
  const bool of_cells = strcmp(name, "Types") == 0 || strcmp(name, "Offsets") == 0 ||
                        strcmp(name, "Connectivity") == 0;
  if (of_cells) found = check_cells(r, &s);
  if (found != KG_HDF5_FOUND) return found;
  if (H5Dread(d->id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
    return KG_HDF5_FAILED;
  return strcmp(name, "Connectivity") == 0 ? check_points(r, &s, values) : KG_HDF5_FOUND;
}

static hid_t open_file(const char *path)
{
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access, false, true);
#endif
  hid_t file = kg_hdf5_guard(access) < 0 ? -1 : H5Fopen(path, H5F_ACC_RDONLY, access);
#if H5_VERSION_GE(1, 14, 0)
  // A file that this process has open already, as by h5py, opens with its own way of locking alone.
  if (file < 0) file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
#endif
  H5Pclose(access);
  return file;
}

static kg_hdf5_finding read_array(const reading *r, const char *name, int64_t *count,
                                  double *values)
{
  char inside[120];
  snprintf(inside, sizeof inside, "VTKHDF/%s", name);
  H5O_type_t type;
  kg_hdf5_finding found = find(r, "kedge", &type);
  if (found == KG_HDF5_FOUND) found = find(r, "VTKHDF", &type);
  if (found == KG_HDF5_NOT_THERE) return KG_HDF5_NOT_OURS;
  dataset d;
  if (found == KG_HDF5_FOUND) found = open_dataset(r, inside, &d);
  if (found != KG_HDF5_FOUND) return found;
  found = read_numbers(r, name, &d, count, values);
  H5Dclose(d.id);
  return found;
}

kg_hdf5_finding kg_hdf5_read(const char *path, const char *name, int64_t *count, double *values,
                             kg_hdf5_reason *why)
{
  struct stat info;
  const bool there = stat(path, &info) == 0;
  if (!there || !S_ISREG(info.st_mode)) {  // a pipe would be waited for
    const char *const text = there ? "it is no regular file" : strerror(errno);
    snprintf(why->text, sizeof why->text, "%s", text);
    return KG_HDF5_FAILED;
  }
  const reading r = {open_file(path), (int64_t)info.st_size, why};
  if (r.file < 0) return KG_HDF5_FAILED;
  const kg_hdf5_finding found = read_array(&r, name, count, values);
  H5Fclose(r.file);
  return found;
}
