#include "io/vtkhdf_driver.h"

#if H5_VERSION_GE(1, 14, 0)

herr_t kg_hdf5_guard(hid_t access)
{
  (void)access;
  return 0;
}

#else

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct guarded {
  H5FD_t public;  ///< first: HDF5 hands this out
  int descriptor;
  haddr_t eoa, eof;  ///< the end of what HDF5 uses, and of the file
} guarded;

static H5FD_t *open_guarded(const char *name, unsigned flags, hid_t access, haddr_t most)
{
  (void)access, (void)most;
  struct stat info;
  guarded *const file = flags & H5F_ACC_RDWR ? NULL : calloc(1, sizeof *file);
  if (!file) return NULL;
  file->descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file->descriptor >= 0 && fstat(file->descriptor, &info) == 0 && S_ISREG(info.st_mode)) {
    file->eof = (haddr_t)info.st_size;
    return &file->public;
  }
  if (file->descriptor >= 0) close(file->descriptor);
  free(file);
  return NULL;
}

static herr_t close_guarded(H5FD_t *public)
{
  guarded *const file = (guarded *)public;
  const int result = close(file->descriptor);
  free(file);
  return result;
}

/// No buffer for metadata, which is why there is this driver.
static herr_t query(const H5FD_t *public, unsigned long *flags)
{
  (void)public;
  *flags = 0;
  return 0;
}

static haddr_t get_eoa(const H5FD_t *public, H5FD_mem_t type)
{
  (void)type;
  return ((const guarded *)public)->eoa;
}

static herr_t set_eoa(H5FD_t *public, H5FD_mem_t type, haddr_t address)
{
  (void)type;
  ((guarded *)public)->eoa = address;
  return 0;
}

static haddr_t get_eof(const H5FD_t *public, H5FD_mem_t type)
{
  (void)type;
  return ((const guarded *)public)->eof;
}

/// Whether bytes that HDF5 has read are no heap of names whose size, the second of its numbers, or
/// address, the fourth, lies beside the file: HDF5 adds to the size without a look.
static bool is_sound(const guarded *file, const void *bytes, size_t size)
{
  uint64_t heap[4];
  if (size < sizeof heap || memcmp(bytes, "HEAP", 4) != 0) return true;
  memcpy(heap, bytes, sizeof heap);
  return heap[1] <= file->eof && heap[3] <= file->eof - heap[1];
}

static herr_t read_guarded(H5FD_t *public, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t size, void *values)
{
  (void)transfer;
  const guarded *const file = (const guarded *)public;
  if (address > file->eof || size > file->eof - address) return -1;
  for (size_t read = 0; read < size;) {
    const ssize_t n =
        pread(file->descriptor, (char *)values + read, size - read, (off_t)(address + read));
    if (n <= 0) return -1;
    read += (size_t)n;
  }
  return type == H5FD_MEM_DRAW || is_sound(file, values, size) ? 0 : -1;
}

static herr_t write_nothing(H5FD_t *public, H5FD_mem_t type, hid_t transfer, haddr_t address,
                            size_t size, const void *values)
{
  (void)public, (void)type, (void)transfer, (void)address, (void)size, (void)values;
  return -1;
}

herr_t kg_hdf5_guard(hid_t access)
{
  static const H5FD_class_t driver = {.name = "kedge",
                                      .maxaddr = (haddr_t)INT64_MAX,
                                      .fc_degree = H5F_CLOSE_WEAK,
                                      .open = open_guarded,
                                      .close = close_guarded,
                                      .query = query,
                                      .get_eoa = get_eoa,
                                      .set_eoa = set_eoa,
                                      .get_eof = get_eof,
                                      .read = read_guarded,
                                      .write = write_nothing,
                                      .fl_map = H5FD_FLMAP_DEFAULT};
  static hid_t registered = H5I_INVALID_HID;  // the caller holds HDF5, which H5close() empties
  const bool there = H5Iis_valid(registered) > 0 && H5Iget_type(registered) == H5I_VFL;
  if (!there) registered = H5FDregister(&driver);
  return registered < 0 ? -1 : H5Pset_driver(access, registered, NULL);
}

#endif
