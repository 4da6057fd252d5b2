/// @file
/// The HDF5 side of a VTKHDF file: groups, attributes, and the place of every dataset.
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

size_t kg_item_size(kg_item item);  ///< bytes

/// Turn the file `path` into a complete VTKHDF file whose datasets have room but no values yet.
/// @param[in]     shown       the name that messages use
/// @param[in]     cell_order  written for kedge itself
/// @param[in,out] datasets    [n]
kedge_status kg_vtkhdf_lay_out(kedge_context *ctx, const char *path, const char *shown,
                               int cell_order, kg_hdf5_dataset *datasets, int n);
