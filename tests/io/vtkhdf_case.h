/// @file
/// A VTKHDF file of made-up fields: written, and compared with what should be in it.
#pragma once
#include <hdf5.h>

#include "cmocka_all.h"
#include "io/vtkhdf.h"

enum { ORDER = 3, NODES = 10 };

extern kedge_context *ctx;
extern char folder[];   ///< of this program alone
extern char path[128];  ///< of the file, in the folder

int set_up(void **state);
int tear_down(void **state);
/// The number of files in the folder, and the name of one (may be NULL).
int entries_of_folder(char name[256]);

/// Values that tell where they belong: dataset, cell, place in the cell.
double value_of(int dataset, int64_t cell, int64_t place);
kg_vtkhdf *begin_file(int64_t n_cells);
void write_chunk(kg_vtkhdf *file, int64_t first, int64_t count);
/// The whole file: chunks of 8 cells, the last one shorter, from the back to the front.
void write_file(int64_t n_cells);

/// Read a whole dataset after its type and shape [rows] or, components > 1, [rows][components] are
/// found to be right. The caller frees.
void *read_dataset(hid_t file, const char *name, hid_t file_type, hid_t memory_type, int64_t rows,
                   int components);
void assert_field(hid_t file, const char *name, int dataset, int64_t n_cells, int nodes,
                  int components);
/// begin, begin + step, ...
void assert_integers(hid_t file, const char *name, int64_t n, int64_t begin, int64_t step);
/// The file holds what write_file() writes.
void assert_file(int64_t n_cells);
