#include "io/vtkhdf_layout.h"

#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "io/vtkhdf_read.h"

static const char *const groups[] = {"VTKHDF", "VTKHDF/PointData", "VTKHDF/CellData",
                                     "VTKHDF/FieldData", "kedge"};

static hid_t item_type(kg_item item)
{
  return item == KG_ITEM_F64   ? H5T_IEEE_F64LE
         : item == KG_ITEM_I64 ? H5T_STD_I64LE
         : item == KG_ITEM_I32 ? H5T_STD_I32LE
                               : H5T_STD_U8LE;
}

/// Walking from the call to its cause, the last record stays. HDF5 puts errno into its text:
/// "... errno = 28, error message = ...".
static herr_t read_record(unsigned n, const H5E_error2_t *record, void *data)
{
  (void)n;
  kg_hdf5_reason *why = data;
  if (!record->desc) return 0;
  const char *found = strstr(record->desc, "errno = ");
  const int error = found ? atoi(found + strlen("errno = ")) : 0;
  snprintf(why->text, sizeof why->text, "%s", error > 0 ? strerror(error) : record->desc);
  return 0;
}

/// HDF5 calls this instead of printing, while the failing call still holds its error stack.
static herr_t keep_reason(hid_t stack, void *data)
{
  kg_hdf5_reason *why = data;
  if (why->text[0]) return 0;
  snprintf(why->text, sizeof why->text, "unknown failure of HDF5");
  return H5Ewalk2(stack, H5E_WALK_DOWNWARD, read_record, why);
}

/// An attribute of one value or, n > 0, of n values.
static herr_t put_attribute(hid_t object, const char *name, hid_t type, hsize_t n,
                            const void *values)
{
  const hid_t space = n ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  herr_t result = attribute < 0 ? -1 : H5Awrite(attribute, type, values);
  if (attribute >= 0 && H5Aclose(attribute) < 0) result = -1;
  H5Sclose(space);
  return result;
}

/// VTK compares the text with its own: fixed length, no terminating NUL.
static herr_t put_text(hid_t object, const char *name, const char *text)
{
  const hid_t type = H5Tcopy(H5T_C_S1);
  herr_t result = H5Tset_size(type, strlen(text));
  if (result >= 0) result = H5Tset_strpad(type, H5T_STR_NULLPAD);
  if (result >= 0) result = put_attribute(object, name, type, 0, text);
  H5Tclose(type);
  return result;
}

/// Readers of VTKHDF look into /VTKHDF alone; /kedge is ours.
static herr_t put_groups(hid_t file, int cell_order)
{
  for (size_t i = 0; i < sizeof groups / sizeof *groups; ++i) {
    const hid_t group = H5Gcreate2(file, groups[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0 || H5Gclose(group) < 0) return -1;
  }
  const int64_t version[2] = {1, 0};
  const int32_t order = cell_order;
  const hid_t root = H5Gopen2(file, "VTKHDF", H5P_DEFAULT);
  const hid_t own = H5Gopen2(file, "kedge", H5P_DEFAULT);
  herr_t result = put_attribute(root, "Version", H5T_STD_I64LE, 2, version);
  if (result >= 0) result = put_text(root, "Type", "UnstructuredGrid");
  if (result >= 0) result = put_text(own, "version", KEDGE_VERSION);
  if (result >= 0) result = put_attribute(own, "cell_order", H5T_STD_I32LE, 0, &order);
  H5Gclose(own);
  H5Gclose(root);
  return result;
}

static herr_t put_dataset(hid_t file, kg_hdf5_dataset *d)
{
  const hsize_t shape[2] = {(hsize_t)d->rows, (hsize_t)d->components};
  const hid_t space = H5Screate_simple(d->components > 1 ? 2 : 1, shape, NULL);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  // A place in the file at once, and no fill values in it.
  H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  // No dates in the file: equal solutions give equal files.
  H5Pset_obj_track_times(properties, false);
  const hid_t dataset =
      H5Dcreate2(file, d->path, item_type(d->item), space, H5P_DEFAULT, properties, H5P_DEFAULT);
  H5Pclose(properties);
  H5Sclose(space);
  if (dataset < 0) return -1;
  const haddr_t offset = H5Dget_offset(dataset);
  d->offset = (int64_t)offset;
  return H5Dclose(dataset) < 0 || offset == HADDR_UNDEF ? -1 : 0;
}

static herr_t make_file(const char *path, int cell_order, kg_hdf5_dataset *datasets, int n)
{
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7)
  // Nobody else knows the temporary file, and some parallel file systems cannot lock.
  H5Pset_file_locking(access, false, true);
#endif
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  if (file < 0) return -1;
  herr_t result = put_groups(file, cell_order);
  for (int i = 0; i < n && result >= 0; ++i) result = put_dataset(file, &datasets[i]);
  if (result >= 0) result = H5Fflush(file, H5F_SCOPE_GLOBAL);
  // On a full disk closing fails too, and HDF5 crashes at exit on files that it could not close:
  // give the room back first.
  if (result < 0 && truncate(path, 0) != 0) result = -1;
  return H5Fclose(file) < 0 ? -1 : result;
}

// HDF5 is not always built thread-safe; other contexts may use it at the same time.
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/// What HDF5 is to be given back.
typedef struct hdf5_turn {
  H5E_auto2_t print;
  void *print_data;
} hdf5_turn;

/// @param[out] why  the first call that fails says it here
/// @return false: there is no memory for HDF5, nor a turn
static bool begin_turn(hdf5_turn *t, kg_hdf5_reason *why)
{
  snprintf(why->text, sizeof why->text, "no host memory for HDF5");
  if (!kg_has_reserve()) return false;
  pthread_mutex_lock(&one_at_a_time);
  why->text[0] = '\0';
  H5Eget_auto2(H5E_DEFAULT, &t->print, &t->print_data);
  H5Eset_auto2(H5E_DEFAULT, keep_reason, why);
  return true;
}

static void end_turn(const hdf5_turn *t, kg_hdf5_reason *why)
{
  H5Eset_auto2(H5E_DEFAULT, t->print, t->print_data);
  pthread_mutex_unlock(&one_at_a_time);
  if (!why->text[0]) snprintf(why->text, sizeof why->text, "HDF5 failed");
}

static bool lay_out(const char *path, int cell_order, kg_hdf5_dataset *datasets, int n,
                    kg_hdf5_reason *why)
{
  hdf5_turn turn;
  if (!begin_turn(&turn, why)) return false;
  const herr_t result = make_file(path, cell_order, datasets, n);
  end_turn(&turn, why);
  return result >= 0;
}

/// At the end of the process HDF5 would print that it cannot close what damaged files cost it.
static void end_in_silence(void)
{
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static kg_hdf5_finding read_numbers(const char *path, const char *name, int64_t *count,
                                    double *values, kg_hdf5_reason *why)
{
  hdf5_turn turn;
  if (!begin_turn(&turn, why)) return KG_HDF5_FAILED;
  const kg_hdf5_finding found = kg_hdf5_read(path, name, count, values, why);
  static bool silent;
  if (found == KG_HDF5_FAILED && !silent) silent = atexit(end_in_silence) == 0;
  end_turn(&turn, why);
  return found;
}

KEDGE_API const kg_hdf5 *kg_hdf5_open(kg_hdf5_reason *why)
{
  static const kg_hdf5 calls = {lay_out, read_numbers};
  (void)why;
  return &calls;
}
