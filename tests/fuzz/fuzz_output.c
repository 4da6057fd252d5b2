// Any bytes as an output file: every array is read or refused with a sentence, and who takes those
// that are read by what they say stays within them. Bytes are changed in place, as text of HDF5
// that moves is no file any more. HDF5 itself is the installed one, not compiled for this: a fault
// in it that touches no memory of ours may go unseen, and a crash in it fails here like one of
// kedge's. It loses memory over damaged files, so that leaks are not looked for; handles are.
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/context.h"
#include "kedge/solution.h"

enum { LARGEST = 1 << 16 };

static const char *const names[] = {
    "Points",          "Connectivity",        "Offsets",        "Types",
    "PointData/u",     "PointData/q",         "CellData/u",     "CellData/region",
    "FieldData/order", "FieldData/converged", "NumberOfPoints", "NumberOfCells"};
enum { POINTS, CONNECTIVITY, OFFSETS, TYPES, POINT_U, CELL_U = 6, N_ARRAYS = 12 };

typedef struct array {
  double *values;  ///< NULL: it was refused
  int64_t n;
} array;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
int LLVMFuzzerInitialize(int *argc, char ***argv);
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
  return "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=512";
}

/// HDF5 asks for as much memory as a damaged file says, before it reads: that is no fault here.
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  static char limit[] = "-malloc_limit_mb=-1", *arguments[32];
  if (*argc > 30) return 0;
  memcpy(arguments, *argv, (size_t)*argc * sizeof *arguments);
  arguments[(*argc)++] = limit;
  *argv = arguments;
  return 0;
}

/// A few bytes, or one number of eight, become others.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
  static const uint64_t words[] = {0,          1,          0x80,      0x7fffffffffffffff,
                                   UINT64_MAX, 1ull << 60, 1ull << 32};
  (void)most;
  srand(seed);
  for (int n = 1 + rand() % 4; size >= 16 && n > 0; --n) {
    const size_t at = (size_t)rand() % (size - 8), kind = (size_t)rand() % 4;
    const uint64_t word = kind == 2   ? words[(size_t)rand() % (sizeof words / sizeof *words)]
                          : kind == 3 ? (uint64_t)rand() % (2 * size)
                                      : 0;
    if (kind == 0) data[at] = (uint8_t)rand();
    if (kind == 1) data[at] ^= (uint8_t)(1u << rand() % 8);
    if (kind > 1) memcpy(data + at / 8 * 8, &word, sizeof word);
  }
  return size;
}

static void check_sentence(struct kedge_context *ctx, kedge_status status)
{
  if ((status != KEDGE_ERR_IO && status != KEDGE_ERR_INPUT) || !ctx->error[0]) abort();
  ctx->error[0] = '\0';
}

/// Read an array into memory of its length. Opening a file takes HDF5 a millisecond, so that most
/// are read at once, and few are counted before.
static void read_array(struct kedge_context *ctx, const char *path, const char *name, array *a)
{
  enum { ROOM = 1 << 14 };
  static double room[ROOM];
  a->n = ROOM;
  kedge_status status = kedge_output_read(ctx, path, name, &a->n, room);
  const bool fits = status != KEDGE_ERR_ARG;
  if (status != KEDGE_OK && fits) {
    check_sentence(ctx, status);
    return;
  }
  if (a->n <= 0 || (fits && a->n > ROOM)) abort();
  a->values = malloc((size_t)a->n * sizeof *a->values);
  if (!a->values) return;
  if (fits) memcpy(a->values, room, (size_t)a->n * sizeof *a->values);
  if (!fits) status = kedge_output_read(ctx, path, name, &a->n, a->values);
  if (status == KEDGE_OK) return;
  free(a->values);
  a->values = NULL;
  check_sentence(ctx, status);
}

/// Take nodes and fields cell by cell.
static double use(const array *a)
{
  double sum = 0;
  if (!a[OFFSETS].values || !a[TYPES].values || !a[POINTS].values || !a[CONNECTIVITY].values)
    return sum;
  for (int64_t c = 0; c < a[TYPES].n; ++c) {
    if (a[CELL_U].values) sum += a[CELL_U].values[c];
    const int64_t first = (int64_t)a[OFFSETS].values[c], end = (int64_t)a[OFFSETS].values[c + 1];
    for (int64_t i = first; i < end; ++i) {
      const int64_t point = (int64_t)a[CONNECTIVITY].values[i];
      sum += a[POINTS].values[3 * point + 2];
      if (a[POINT_U].values) sum += a[POINT_U].values[point];
      if (a[TYPES].values[0] > 9 && a[POINT_U].values) sum += a[POINT_U].values[i];
    }
  }
  return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static int file = -1;
  static char path[40];
  if (file < 0) file = memfd_create("fuzz", 0);
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (size > LARGEST) return -1;
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size) abort();
  struct kedge_context ctx = {.threads = 1};
  array arrays[N_ARRAYS] = {{0}};
  unsigned sum = 0;  // of all bytes: which arrays are read beside the four of the cells
  for (size_t i = 0; i < size; ++i) sum += data[i];
  for (unsigned i = 0; i < N_ARRAYS; ++i)
    if (i < POINT_U || i == POINT_U + sum % 8) read_array(&ctx, path, names[i], &arrays[i]);
  static volatile double result;
  result = use(arrays);
  for (int i = 0; i < N_ARRAYS; ++i) free(arrays[i].values);
  if (H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) != 0) abort();
  return 0;
}
