/// @file
/// Numbers read from a file that may be damaged. What a dataset says of itself is compared with the
/// file and with other datasets before HDF5 reads or converts a number, and what is read is no more
/// than the file can hold. Part of the module of io/vtkhdf_layout.h, whose caller holds HDF5.
#pragma once
#include "io/vtkhdf_layout.h"

/// Read an array as kedge_output_read() does.
/// @param[out] why  where the file is damaged; failures of HDF5 have been put there by its caller
kg_hdf5_finding kg_hdf5_read(const char *path, const char *name, int64_t *count, double *values,
                             kg_hdf5_reason *why);
