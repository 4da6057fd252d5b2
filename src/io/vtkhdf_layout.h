/// @file
/// The HDF5 side of a VTKHDF file: groups, attributes, and the place of every dataset; numbers read
/// back.
///
/// HDF5 brings some 35 shared libraries, which take longer to load than a small solve to run. So
/// vtkhdf_layout.c, which alone calls it, is a module beside the library, and vtkhdf_load.c opens
/// that when a file is first written or read. Programs that are linked with kedge_internal have
/// vtkhdf_layout.c in the other's place.
#pragma once
#include "core/error.h"

typedef enum kg_item { KG_ITEM_F64, KG_ITEM_I64, KG_ITEM_I32, KG_ITEM_U8, KG_ITEM_COUNT } kg_item;

/// A contiguous dataset [rows] or, components > 1, [rows][components]; little-endian.
typedef struct kg_hdf5_dataset {
  char path[96];  ///< "VTKHDF/PointData/u"
  kg_item item;
  int64_t rows;
  int components;
  int64_t offset;  ///< out: of the first value, in bytes of the file
} kg_hdf5_dataset;

/// Why a call failed. The module cannot reach a context's sentence.
typedef struct kg_hdf5_reason {
  char text[480];
} kg_hdf5_reason;

/// What reading found.
typedef enum kg_hdf5_finding {
  KG_HDF5_FOUND,
  KG_HDF5_NOT_OURS,
  KG_HDF5_NOT_THERE,
  KG_HDF5_NO_ROOM,
  KG_HDF5_FAILED,
} kg_hdf5_finding;

/// The calls of the module; several threads may be in them.
typedef struct kg_hdf5 {
  /// Turn the file `path` into a complete VTKHDF file whose datasets have room but no values yet.
  /// @param[in]     cell_order  written for kedge itself
  /// @param[in,out] datasets    [n]
  bool (*lay_out)(const char *path, int cell_order, kg_hdf5_dataset *datasets, int n,
                  kg_hdf5_reason *why);
  /// Read an array as kedge_output_read() does.
  kg_hdf5_finding (*read)(const char *path, const char *name, int64_t *count, double *values,
                          kg_hdf5_reason *why);
} kg_hdf5;

/// Load HDF5, once in a process; it stays. Several threads may ask.
/// @return NULL  it cannot be loaded
const kg_hdf5 *kg_hdf5_open(kg_hdf5_reason *why);
